"""Task interval: intervals, and conclusions that they carry."""

from __future__ import annotations

import math
import statistics
from functools import partial

from attncourse.exercises.task import Check, Mistake, Task
from attncourse.exercises.variants.runs import paired, runs_of_one
from attncourse.exercises.variants.verdicts import (
    DIFFERENCES,
    LENGTH,
    OPEN,
    by_mean_outside,
    by_mean_outside_first,
    by_means,
    by_most,
    by_overlap,
    by_wins,
    decide,
    divided_by,
    each_pair,
    interval,
    is_centred,
    is_reach,
    moved,
)

NORMAL = 1.96


def _parts(mean_and_interval, verdict, values):
    mean, low, high = mean_and_interval(values)
    return {"mean": mean, "low": low, "high": high}


def _wrong(name, says, **options):
    return Mistake(
        name, says, wrong=lambda values: interval(values, **options), read=LENGTH
    )


def _verdicts(mean_and_interval, verdict, first, second):
    return [verdict(a, b) for a, b in zip(first, second, strict=True)]


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
            inputs=runs_of_one,
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
                    when=lambda seen, expected, inputs: is_reach(seen, expected),
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
                *(
                    Mistake(
                        "another root",
                        f"The deviation has been divided by {what}. The mean of n runs "
                        "scatters less than one run by the root of n.",
                        wrong=partial(divided_by, divisor=divisor),
                        read=LENGTH,
                    )
                    for what, divisor in (
                        ("the root of n − 1", lambda n: math.sqrt(n - 1)),
                        ("n itself", lambda n: n),
                        ("n − 1", lambda n: n - 1),
                    )
                ),
                _wrong(
                    "half of the interval",
                    "The interval is half as wide as it should be: the factor reaches "
                    "to *either* side of the mean.",
                    spread=lambda values: statistics.stdev(values) / 2,
                ),
                _wrong(
                    "variance for deviation",
                    "The variance stands where the deviation should, its root.",
                    spread=statistics.variance,
                ),
                Mistake(
                    "the interval round another middle",
                    "The interval is as wide as it should be, but it lies round "
                    "another number than the mean: round the median, or round the mean "
                    "of some of the runs.",
                    when=moved,
                    read=LENGTH,
                ),
                Mistake(
                    "interval of another width",
                    "The mean is right and lies in the middle of the interval, but the "
                    "interval has another width. There are three places to look: the "
                    "deviation, the root, and the factor.",
                    when=lambda seen, expected, inputs: is_centred(seen, expected),
                    read=LENGTH,
                ),
            ),
        ),
        Check(
            "a verdict is given where the differences, seed by seed, allow it",
            1,
            inputs=paired,
            tensors=False,
            ask=_verdicts,
            expected=each_pair(decide),
            pure=True,
            mistakes=(
                Mistake(
                    "the larger mean wins",
                    "The larger mean always wins. It will be larger by chance alone in "
                    "half of all comparisons: a verdict needs a difference that the "
                    "scatter of the runs cannot explain.",
                    wrong=each_pair(by_means),
                    read=LENGTH,
                ),
                Mistake(
                    "intervals that overlap",
                    "The two intervals are compared. Both variants ran with the same "
                    "seeds, and a seed that is bad for one is bad for the other. What "
                    "the seeds have in common cancels in the difference of each seed.",
                    wrong=each_pair(by_overlap),
                    read=LENGTH,
                ),
                *DIFFERENCES,
                Mistake(
                    "runs sorted",
                    "The runs have been put in order of size before they were "
                    "subtracted. A difference is then one of two seeds, and what the "
                    "seeds have in common does not cancel.",
                    wrong=each_pair(lambda a, b: decide(sorted(a), sorted(b))),
                    read=LENGTH,
                ),
                Mistake(
                    "wins counted",
                    "Who is ahead with more of the seeds wins. That does not ask by "
                    "how much: if the differences scatter widely, their mean is not "
                    "known.",
                    wrong=each_pair(by_most),
                    read=LENGTH,
                ),
                *(
                    Mistake(
                        "a run beyond the other interval",
                        "The mean of one variant is compared with the interval of the "
                        "other. Both were measured with the same seeds: what these "
                        "have in common cancels in the difference of each seed.",
                        wrong=each_pair(rule),
                        read=LENGTH,
                    )
                    for rule in (by_mean_outside, by_mean_outside_first)
                ),
                Mistake(
                    "wins counted",
                    "Who is ahead with every seed wins. That does not ask by how much: "
                    "if the differences scatter widely, their mean is not known.",
                    wrong=each_pair(by_wins),
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
                    wrong=each_pair(lambda a, b: -decide(a, b)),
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
                *OPEN,
            ),
        ),
    ),
)
