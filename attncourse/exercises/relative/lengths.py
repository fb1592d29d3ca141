"""Exercise 4, ninth part: trained on short texts, tested on long ones."""

from __future__ import annotations

import torch

from attncourse.exercises.relative.by_position import LENGTHS_READ
from attncourse.exercises.relative.distances import size
from attncourse.exercises.relative.protocol import PROTOCOL
from attncourse.exercises.task import Check, Mistake, Task

RISES = {
    "level": (0.0, 0.02, 0.05),
    "rising": (0.0, 0.3, 0.8),
    "rising and falling": (0.0, 0.5, 0.1),
    "falling": (0.0, -0.1, -0.3),
    "bad from the start": (0.9, 0.95, 1.0),
    "just too much": (0.1, 0.2, 0.33),
    "too much at once": (0.0, 0.21, 0.25),
    "rising by more": (0.0, 0.3, 0.38),
    "rising by much": (0.0, 0.4, 0.45),
    "rising a little": (0.0, 0.05, 0.15),
}


def _results(generator):
    return {
        "start": 1.5 + torch.rand((), generator=generator).item(),
        "lengths": [n * size(generator, 4, 9) for n in (1, 10, 100)],
    }


EXACT = "holds: exactly the margin above"
WIDER = "holds: less than a wider margin above"


def _ask_holds(_, holds, start, lengths):
    losses = {
        scheme: {
            n: start + rise for n, rise in [*zip(lengths, rises, strict=True)][::-1]
        }
        for scheme, rises in RISES.items()
    }
    found = set(holds(losses))
    seen = {f"holds: {scheme}": scheme in found for scheme in RISES}
    exact = {n: 1.5 + 0.25 * (n > min(lengths)) for n in lengths}  # without rounding
    less = {n: loss + 0.125 * (n > min(lengths)) for n, loss in exact.items()}
    return seen | {
        EXACT: "one" in set(holds({"one": exact}, 0.25)),
        WIDER: "one" in set(holds({"one": less}, 0.5)),
    }


def _those(rule):
    return lambda start, lengths: (
        {f"holds: {scheme}": bool(rule(rises)) for scheme, rises in RISES.items()}
        | {EXACT: bool(rule((0.0, 0.2, 0.2))), WIDER: bool(rule((0.0, 0.15, 0.15)))}
    )


def _only(*parts):
    """Return a `when`: these parts are wrong, and no others."""
    return lambda seen, expected, inputs: (
        {k for k in expected if seen[k].values[0] != expected[k].values[0]}
        == set(parts)
    )


LENGTHS = Task(
    name="lengths",
    title="Train short, test long",
    names=("train_and_test", "holds"),
    needs=("evaluation",),
    difficulty="medium",
    minutes=15,
    checks=(
        PROTOCOL,
        Check(
            "a scheme holds if no longer text is much worse than its own short ones",
            1,
            inputs=_results,
            ask=_ask_holds,
            expected=_those(lambda rise: max(rise) - rise[0] <= 0.2),
            mistakes=(
                Mistake(
                    "exactly the margin is too much",
                    "A loss that is exactly the margin higher does not hold here. Too "
                    "much is only what is *more* than the margin above.",
                    when=_only(EXACT),
                    read=LENGTHS_READ,
                ),
                Mistake(
                    "margin written in",
                    "Called with another `margin`, the function still compares with "
                    "0.2. The margin is an argument.",
                    when=_only(EXACT, WIDER),
                    read=LENGTHS_READ,
                ),
                Mistake(
                    "a length written in",
                    "The answer looks for a length that is not there: it is written "
                    "into the code. The shortest length is the smallest key of each "
                    "dictionary.",
                    when=lambda seen, expected, inputs: (
                        seen["result"].kind == "error"
                        and "KeyError" in seen["result"].text
                    ),
                    read=LENGTHS_READ,
                ),
                *(
                    Mistake(
                        "longest text only",
                        "Only the longest length is looked at. A scheme that fails in "
                        "between does not hold.",
                        wrong=_those(rule),
                        read=LENGTHS_READ,
                    )
                    for rule in (
                        lambda rise: rise[-1] - rise[0] <= 0.2,
                        lambda rise: rise[-1] - rise[0] < 0.2,
                    )
                ),
                Mistake(
                    "compared with the longest, or with the first",
                    "The losses are compared with that of the longest length, or of "
                    "the one that stands first. A dictionary is in the order in which "
                    "it was filled: look for the *shortest* length.",
                    wrong=_those(lambda rise: max(rise) - rise[-1] <= 0.2),
                    read=LENGTHS_READ,
                ),
                Mistake(
                    "the loss for its rise",
                    "No scheme holds here: the loss itself is compared with the "
                    "margin, and not by how much it has risen.",
                    wrong=_those(lambda rise: False),
                    read=LENGTHS_READ,
                ),
                Mistake(
                    "compared with the best scheme",
                    "Each scheme is compared with the best one at the short length. It "
                    "should be compared with itself: one that is poor everywhere may "
                    "still hold.",
                    wrong=_those(lambda rise: max(rise) <= 0.2),
                    read=LENGTHS_READ,
                ),
                Mistake(
                    "better counts as worse",
                    "A scheme whose loss *falls* with the length is said not to hold.",
                    wrong=_those(
                        lambda rise: max(abs(r - rise[0]) for r in rise) <= 0.2
                    ),
                    read=LENGTHS_READ,
                ),
                *(
                    Mistake(
                        "another margin",
                        f"The margin is taken {word}. A loss may be `margin` above "
                        "that at the shortest length, and no more.",
                        wrong=_those(
                            lambda rise, factor=factor: (
                                max(rise) - rise[0] <= 0.2 * factor
                            )
                        ),
                        read=LENGTHS_READ,
                    )
                    for factor, word in ((2, "twice"), (0.5, "by half"))
                ),
                Mistake(
                    "a share for a difference",
                    "The margin is taken as a share of the loss at the shortest "
                    "length. It is a number of nats: a difference of two losses.",
                    wrong=lambda start, lengths: (
                        {
                            f"holds: {scheme}": start + max(rises)
                            <= 1.2 * (start + rises[0])
                            for scheme, rises in RISES.items()
                        }
                        | {EXACT: True, WIDER: True}
                    ),
                    read=LENGTHS_READ,
                ),
                Mistake(
                    "step by step",
                    "Each length is compared with the one before it. A loss that "
                    "rises a little at every step is high in the end.",
                    wrong=_those(
                        lambda rise: max(rise[1] - rise[0], rise[2] - rise[1]) <= 0.2
                    ),
                    read=LENGTHS_READ,
                ),
                Mistake(
                    "those that do not hold",
                    "The schemes that do not hold are returned instead of those that "
                    "do.",
                    wrong=_those(lambda rise: max(rise) - rise[0] > 0.2),
                ),
            ),
        ),
    ),
)
