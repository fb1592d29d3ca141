"""Task interval: intervals, and conclusions that they carry."""

from __future__ import annotations

import math
import statistics

import torch

from attncourse.exercises.seen import near
from attncourse.exercises.task import Check, Mistake, Task

LENGTH = "chapters/06_seq2seq#does-it-get-worse-with-length"
# 97.5 % of Student's distribution lie below this, by degrees of freedom.
T975 = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306}
NORMAL = 1.96


def interval(values, *, spread=statistics.stdev, root=True, factor=None, less=1):
    """Return mean and bounds of the 95 % interval, or of one with a mistake in it."""
    count, mean = len(values), statistics.fmean(values)
    factor = T975[count - less] if factor is None else factor
    reach = factor * spread(values) / (math.sqrt(count) if root else 1)
    return {"mean": mean, "low": mean - reach, "high": mean + reach}


def _values(generator):
    count = torch.randint(3, 7, (), generator=generator).item()
    values = 95 + 2 * torch.randn(count, generator=generator)
    return {"values": [round(v, 2) for v in values.tolist()]}


def _parts(mean_and_interval, verdict, values):
    mean, low, high = mean_and_interval(values)
    return {"mean": mean, "low": low, "high": high}


def _wrong(name, says, **options):
    return Mistake(
        name, says, wrong=lambda values: interval(values, **options), read=LENGTH
    )


def _paired(generator):
    """Draw runs of two variants: better, worse, open (thrice), in an order drawn.

    Seeds move both variants together, so that their intervals overlap although their
    differences are clear.
    """
    count = torch.randint(4, 7, (), generator=generator).item()
    first, second = [], []
    order = torch.randperm(5, generator=generator).tolist()
    for kind in order:
        seed = 2 * torch.randn(count, generator=generator)
        seed = seed - seed.mean() + torch.linspace(-2, 2, count)
        noise = 0.1 * torch.rand(count, generator=generator)
        swing = torch.linspace(-1.5, 2.5, count)[
            torch.randperm(count, generator=generator)
        ]
        # Open, but clear once both are sorted: other seeds stand side by side then.
        moved = seed.roll(count // 2) - seed + 0.5
        # Ahead with every seed, but by how much is anybody's guess: open as well.
        uneven = 0.05 + noise
        uneven[-1] += 4
        difference = (0.8 + noise, -0.8 - noise, swing, moved, uneven)[kind]
        base = seed + (-95 if kind in (0, 3) else 95)
        first.append(_two_places(base + difference))
        second.append(_two_places(base))
    return {"first": first, "second": second}


def _two_places(values):
    return [round(v, 2) for v in values.tolist()]


def _verdicts(mean_and_interval, verdict, first, second):
    return [verdict(a, b) for a, b in zip(first, second, strict=True)]


def decide(first, second):
    """Return 1 or -1 where the interval of the paired differences leaves out 0."""
    differences = [a - b for a, b in zip(first, second, strict=True)]
    found = interval(differences)
    return int(found["low"] > 0) - int(found["high"] < 0)


def _each(rule):
    def decided(first, second):
        return [rule(a, b) for a, b in zip(first, second, strict=True)]

    return decided


def _by_means(first, second):
    return 1 if statistics.fmean(first) > statistics.fmean(second) else -1


def _by_wins(first, second):
    wins = [a > b for a, b in zip(first, second, strict=True)]
    return 1 if all(wins) else 0 if any(wins) else -1


def _by_ratios(first, second):
    return decide([a / b for a, b in zip(first, second, strict=True)], [1] * len(first))


def _by_overlap(first, second):
    one, other = interval(first), interval(second)
    return int(one["low"] > other["high"]) - int(one["high"] < other["low"])


INTERVAL = Task(
    name="interval",
    title="Intervals and a verdict",
    names=("mean_and_interval", "verdict"),
    difficulty="medium",
    minutes=15,
    checks=(
        Check(
            "the interval of a mean of few runs has 95 % confidence",
            1,
            inputs=_values,
            tensors=False,
            ask=_parts,
            expected=interval,
            pure=True,
            mistakes=(
                _wrong(
                    "population deviation",
                    "The standard deviation divides by the number of runs. The mean "
                    "was estimated from the same runs, which uses up one of them. With "
                    "three runs the interval comes out a fifth too narrow.",
                    spread=statistics.pstdev,
                ),
                _wrong(
                    "standard deviation for standard error",
                    "The interval is that of a single run. The mean of n runs is more "
                    "certain than one run, by the root of n.",
                    root=False,
                ),
                _wrong(
                    "normal for Student",
                    "The factor is 1.96, that of the normal distribution. It holds "
                    "when the deviation is known; here it is estimated from a handful "
                    "of runs, and the factor for three runs is more than twice that.",
                    factor=NORMAL,
                ),
                _wrong(
                    "degrees of freedom",
                    "The factor is that for one run more. The degrees of freedom are "
                    "fewer than the runs, since the mean was estimated too.",
                    less=0,
                ),
                _wrong(
                    "no factor",
                    "The interval reaches one standard error to each side. That covers "
                    "about two means out of three for many runs, and fewer for few.",
                    factor=1,
                ),
                _wrong(
                    "two for Student",
                    "The factor is 2, a rule of thumb for many runs. For a handful of "
                    "runs it is too small.",
                    factor=2,
                ),
                Mistake(
                    "lowest and highest",
                    "These are the lowest and the highest run. That range grows with "
                    "more runs, while what is known of the mean gets more certain.",
                    wrong=lambda values: {
                        "mean": statistics.fmean(values),
                        "low": min(values),
                        "high": max(values),
                    },
                    read=LENGTH,
                ),
                Mistake(
                    "median for mean",
                    "The middle of the result is the median of the runs. The interval "
                    "is one for their mean.",
                    wrong=lambda values: {
                        **interval(values),
                        "mean": statistics.median(values),
                    },
                    read=LENGTH,
                ),
                Mistake(
                    "bounds exchanged",
                    "The high bound comes before the low one.",
                    wrong=lambda values: {
                        "mean": statistics.fmean(values),
                        "low": interval(values)["high"],
                        "high": interval(values)["low"],
                    },
                    read=LENGTH,
                ),
                Mistake(
                    "reach for bounds",
                    "The result should be the mean and the two bounds themselves, not "
                    "the distance between them and the mean.",
                    when=lambda seen, expected, inputs: _is_reach(seen, expected),
                    read=LENGTH,
                ),
                Mistake(
                    "not three numbers",
                    "Three numbers are asked for: the mean, the low and the high bound "
                    "of its interval.",
                    when=lambda seen, expected, inputs: any(
                        word in part.text
                        for part in seen.values()
                        for word in ("unpack", "not iterable")
                    ),
                    read=LENGTH,
                ),
                Mistake(
                    "interval of another width",
                    "The mean is right and lies in the middle of the interval, but the "
                    "interval has another width. There are three places to look: the "
                    "deviation, the root, and the factor.",
                    when=lambda seen, expected, inputs: _is_centred(seen, expected),
                    read=LENGTH,
                ),
            ),
        ),
        Check(
            "a verdict is given where the differences, seed by seed, allow it",
            1,
            inputs=_paired,
            tensors=False,
            ask=_verdicts,
            expected=_each(decide),
            pure=True,
            mistakes=(
                Mistake(
                    "the larger mean wins",
                    "The larger mean always wins. It will be larger by chance alone in "
                    "half of all comparisons: a verdict needs a difference that the "
                    "scatter of the runs cannot explain.",
                    wrong=_each(_by_means),
                    read=LENGTH,
                ),
                Mistake(
                    "intervals that overlap",
                    "The two intervals are compared. Both variants ran with the same "
                    "seeds, and a seed that is bad for one is bad for the other. What "
                    "the seeds have in common cancels in the difference of each seed.",
                    wrong=_each(_by_overlap),
                    read=LENGTH,
                ),
                Mistake(
                    "ratios for differences",
                    "The values are divided by each other. Where they are negative a "
                    "ratio turns the order round: take differences.",
                    wrong=_each(_by_ratios),
                    read=LENGTH,
                ),
                Mistake(
                    "runs sorted",
                    "The runs have been put in order of size before they were "
                    "subtracted. A difference is then one of two seeds, and what the "
                    "seeds have in common does not cancel.",
                    wrong=_each(lambda a, b: decide(sorted(a), sorted(b))),
                    read=LENGTH,
                ),
                Mistake(
                    "wins counted",
                    "Who is ahead with every seed wins. That does not ask by how much: "
                    "if the differences scatter widely, their mean is not known.",
                    wrong=_each(_by_wins),
                    read=LENGTH,
                ),
                Mistake(
                    "yes or no",
                    "A verdict has three values: 1, -1 and 0. True and False cannot "
                    "say which of the two is the larger.",
                    when=lambda seen, expected, inputs: seen["result"].kind == "bool",
                    read=LENGTH,
                ),
                Mistake(
                    "sign turned round",
                    "The verdicts are turned round: 1 is for the first, -1 for the "
                    "second.",
                    wrong=_each(lambda a, b: -decide(a, b)),
                    read=LENGTH,
                ),
                Mistake(
                    "never open",
                    "There is a verdict for every pair, even where the interval of the "
                    "differences holds 0. Then the runs do not tell.",
                    when=lambda seen, expected, inputs: bool(
                        (seen["result"].values != 0).all()
                    ),
                    read=LENGTH,
                ),
            ),
        ),
    ),
)


def _is_centred(seen, expected):
    mean, low, high = (seen[part].values[0] for part in ("mean", "low", "high"))
    right = near(mean, expected["mean"].values[0])
    return right and low < high and near((low + high) / 2, mean)


def _is_reach(seen, expected):
    low, high = seen["low"].values[0], seen["high"].values[0]
    reach = expected["high"].values[0] - expected["mean"].values[0]
    return near(abs(low), reach) and near(high, reach)
