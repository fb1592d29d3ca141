"""Memory by exact counts: the check that tasks 5.2 and 5.4 share."""

import torch

from attncourse.exercises.efficient.oracle import BLOCKS, NO_SAVING
from attncourse.exercises.task import Mistake

LARGEST = "largest tensor, in units of the limit, rounded up"
GROWTH = "growth of all numbers made when the tokens double"
ABOUT = "output is about right"


def counted(short, long, limit, expected):
    """Return what a memory check compares, from calls at a length and at its double.

    Parameters
    ----------
    short, long : callable
        Without arguments; return the output.
    limit : int
        Numbers that the largest tensor of the long call may hold.
    expected : torch.Tensor
        The right output of the short call.

    Returns
    -------
    dict
        The largest tensor in units of `limit`, rounded up; the growth of all that is
        made, rounded; whether the output is roughly right.
    """
    from attncourse.training.memory import count_elements

    output = short()
    once, twice = count_elements(short), count_elements(long)
    return {
        LARGEST: -(-twice.largest // limit),
        GROWTH: round(twice.made / max(once.made, 1)),
        ABOUT: _resembles(output, expected),
    }


def within():
    """Return what `counted` returns for an answer that keeps within the limit."""
    return {LARGEST: 1, GROWTH: 2, ABOUT: True}


def _resembles(output, expected):
    """Say whether an output is roughly the one expected: not zeros, not noise."""
    if not torch.is_tensor(output) or output.shape != expected.shape:
        return False
    pair = torch.stack([output.detach().flatten(), expected.flatten()])
    return bool(torch.corrcoef(pair.double())[0, 1] > 0.5)


def _when(test):
    """Return a `when` that tests (largest, growth, about right)."""

    def when(seen, expected, inputs):
        return test(*(seen[what].values[0] for what in (LARGEST, GROWTH, ABOUT)))

    return when


MEMORY_MISTAKES = (
    Mistake(
        "not local attention",
        "What this check counts is not local attention: the output has nothing to do "
        "with it. Memory is counted once the output is roughly right.",
        when=_when(lambda largest, growth, about: not about),
    ),
    Mistake(
        "n × n numbers are made",
        "A tensor of n × n numbers is made: scores, weights or a mask. When the tokens "
        "double, the numbers grow four times, whatever the window. The result is "
        "right, and nothing is saved.",
        when=_when(lambda largest, growth, about: growth > 2 and largest > 1),
        read=NO_SAVING,
    ),
    Mistake(
        "all scores are computed, in pieces",
        "No single tensor is too large, but together they hold n × n numbers: each "
        "piece compares its queries with all keys and then hides most of them.",
        when=_when(lambda largest, growth, about: growth > 2),
        read=NO_SAVING,
    ),
    Mistake(
        "a copy of the keys for every query",
        "The numbers grow with n, but a tensor of n · window · d_k numbers is made: "
        "every query gets its own copy of its keys. Neighbouring queries see almost "
        "the same keys. Let many of them share one copy.",
        when=_when(lambda largest, growth, about: largest > 1),
        read=BLOCKS,
    ),
)
