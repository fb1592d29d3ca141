"""The interval of a mean, and verdicts on two variants: right ones and others."""

from __future__ import annotations

import math
import statistics

import numpy as np

from attncourse.exercises.seen import near
from attncourse.exercises.task import Mistake

LENGTH = "chapters/06_seq2seq#does-it-get-worse-with-length"

# 97.5 % of Student's distribution lie below this, by degrees of freedom.
T975 = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306}


def interval(values, *, spread=statistics.stdev, root=True, factor=None, less=1):
    """Return mean and bounds of the 95 % interval, or of one with a mistake in it."""
    count, mean = len(values), statistics.fmean(values)
    factor = T975[count - less] if factor is None else factor
    reach = factor * spread(values) / (math.sqrt(count) if root else 1)
    return {"mean": mean, "low": mean - reach, "high": mean + reach}


def decide(first, second):
    """Return 1 or -1 where the interval of the paired differences leaves out 0."""
    differences = [a - b for a, b in zip(first, second, strict=True)]
    found = interval(differences)
    return int(found["low"] > 0) - int(found["high"] < 0)


def each_pair(rule):
    """Return a function that judges each pair of runs by a rule."""

    def decided(first, second):
        return [rule(a, b) for a, b in zip(first, second, strict=True)]

    return decided


def by_means(first, second):
    """Let the larger mean win."""
    return 1 if statistics.fmean(first) > statistics.fmean(second) else -1


def by_wins(first, second):
    """Let win who is ahead with every seed."""
    wins = [a > b for a, b in zip(first, second, strict=True)]
    return 1 if all(wins) else 0 if any(wins) else -1


def by_most(first, second):
    """Let win who is ahead with more of the seeds."""
    wins = [(a > b) - (a < b) for a, b in zip(first, second, strict=True)]
    return (sum(wins) > 0) - (sum(wins) < 0)


def by_mean_outside(first, second):
    """Compare the first mean with the second interval."""
    mean, other = statistics.fmean(first), interval(second)
    return int(mean > other["high"]) - int(mean < other["low"])


def by_mean_outside_first(first, second):
    """Compare the second mean with the first interval."""
    return -by_mean_outside(second, first)


def by_ratios(first, second):
    """Take ratios for differences."""
    return decide([a / b for a, b in zip(first, second, strict=True)], [1] * len(first))


def by_sizes(first, second):
    """Take differences without their sign."""
    sizes = [abs(a - b) for a, b in zip(first, second, strict=True)]
    return decide(sizes, [0] * len(sizes))


def by_all_pairs(first, second):
    """Compare each run with each of the other variant, as far as the table goes."""
    found = [a - b for a in first for b in second][: max(T975)]
    return decide(found, [0] * len(found))


def by_overlap(first, second):
    """Compare the two intervals."""
    one, other = interval(first), interval(second)
    return int(one["low"] > other["high"]) - int(one["high"] < other["low"])


def divided_by(values, divisor):
    """Return the interval with the deviation divided by ``divisor(n)``."""
    spread = lambda runs: statistics.stdev(runs) / divisor(len(runs))  # noqa: E731
    return interval(values, spread=spread, root=False)


def moved(seen, expected, inputs):
    """Say whether the interval has the right width and lies elsewhere."""
    ours, right = (
        np.array([part[name].values[0] for name in ("low", "high")])
        for part in (seen, expected)
    )
    return abs(np.ptp(ours) - np.ptp(right)) < 0.02 and not near(ours, right)


def is_centred(seen, expected):
    """Say whether the interval lies round the right mean."""
    mean, low, high = (seen[part].values[0] for part in ("mean", "low", "high"))
    right = near(mean, expected["mean"].values[0])
    return right and low < high and near((low + high) / 2, mean)


def is_reach(seen, expected):
    """Say whether the bounds are distances from the mean."""
    low, high = seen["low"].values[0], seen["high"].values[0]
    reach = expected["high"].values[0] - expected["mean"].values[0]
    return near(abs(low), reach) and near(high, reach)


DIFFERENCES = tuple(
    Mistake(name, says, wrong=each_pair(rule), read=LENGTH)
    for name, says, rule in (
        (
            "ratios for differences",
            "The values are divided by each other. Where they are negative a ratio "
            "turns the order round: take differences.",
            by_ratios,
        ),
        (
            "the sign of the differences lost",
            "The differences have lost their sign. Whoever is ahead, they are positive "
            "then, and the second can never be the larger.",
            by_sizes,
        ),
        (
            "differences of all pairs",
            "Each run of the first is compared with each of the second. Only runs of "
            "one seed have the seed in common, which then cancels.",
            by_all_pairs,
        ),
    )
)


def _without(*lost):
    """Return a `when`: some verdicts are 0 instead, and the others are right."""

    def when(seen, expected, inputs):
        ours, right = seen["result"].values, expected["result"].values
        return bool((ours == np.where(np.isin(right, lost), 0, right)).all())

    return when


OPEN = (
    *(
        Mistake(
            f"never for the {which}",
            f"The verdict is never {side}. Where the runs tell that the {which} is the "
            "larger, it has to be.",
            when=_without(side),
            read=LENGTH,
        )
        for side, which in ((1, "first"), (-1, "second"))
    ),
    Mistake(
        "open too often",
        "The verdict is 0 for pairs whose interval of the differences does not hold 0. "
        "There the runs do tell: nothing more has to be shown.",
        when=lambda seen, expected, inputs: all(
            ours in (0, right)
            for ours, right in zip(
                seen["result"].values, expected["result"].values, strict=True
            )
        ),
        read=LENGTH,
    ),
)
