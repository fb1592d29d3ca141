"""Memory by exact counts: the check that tasks 5.2 and 5.4 share."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from attncourse.exercises.efficient.oracle import BLOCKS, NO_SAVING
from attncourse.exercises.task import Mistake

LARGEST = "largest tensor, in units of the limit, rounded up"
GROWTH = "growth of all numbers made when the tokens double"
ABOUT = "output is about right"


class _Unaccounted(TorchDispatchMode):
    """Counts what operations are handed that was neither given to a job nor made in it.

    A mask that is kept from an earlier call is such a tensor, and so is one that was
    made where nothing is counted.
    """

    def __init__(self, given):
        super().__init__()
        self.made = self.largest = 0
        self.known = {}  # the storages are kept, so that no address is used again
        self.know(given)
        self.given = list(self.known.values())

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        self.meet((args, kwargs or {}))
        result = operation(*args, **(kwargs or {}))
        self.know(result)
        return result

    def know(self, tree):
        """Take the tensors of `tree` for accounted for."""
        for tensor in _tensors(tree):
            storage = tensor.untyped_storage()
            self.known[storage.data_ptr()] = storage

    def accounts_for(self, address):
        """Say whether memory was made in the job, or is a part of what was given."""
        return address in self.known or any(
            0 <= address - given.data_ptr() < given.nbytes() for given in self.given
        )

    def meet(self, tree):
        """Count the tensors of `tree` that are not accounted for."""
        for tensor in _tensors(tree):
            storage = tensor.untyped_storage()
            if not self.accounts_for(storage.data_ptr()):
                size = storage.nbytes() // tensor.element_size()
                self.made, self.largest = self.made + size, max(self.largest, size)
                self.know(tensor)


def _tensors(tree):
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def _count(job):
    """Return the numbers that a job makes or takes from elsewhere, and the largest."""
    from attncourse.training.memory import count_elements

    with _Unaccounted(job.keywords) as unaccounted:
        made = count_elements(lambda: unaccounted.meet(job()))
    largest = max(made.largest, unaccounted.largest)
    return made.made + unaccounted.made, largest


def counted(short, long, limit, expected):
    """Return what a memory check compares, from calls at a length and at its double.

    Parameters
    ----------
    short, long : functools.partial
        Without arguments; return the output. Their keywords are the inputs.
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
    output = short()
    (once, _), (twice, largest) = _count(short), _count(long)
    return {
        LARGEST: -(-largest // limit),
        GROWTH: round(twice / max(once, 1)),
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
