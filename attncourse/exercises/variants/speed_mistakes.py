"""How a comparison of times goes wrong, on a machine whose clock is made up."""

from __future__ import annotations

import statistics

from attncourse.exercises.seen import near
from attncourse.exercises.task import Mistake
from attncourse.exercises.variants.machine import CALLS, Machine, compare

RACE = "chapters/02_attention_types#how-long-does-it-take"


def expected(costs, rounds, busy, breaks=None, **options):
    """Return what `compare` finds on the machine of a check, rightly or not."""
    return compare(Machine(costs, busy, breaks, rounds), rounds, **options)


def _wrong(name, says, **options):
    return Mistake(
        name, says, wrong=lambda **given: expected(**given, **options), read=RACE
    )


def _quartile(place, method):
    return lambda ratios: statistics.quantiles(ratios, n=4, method=method)[place]


def _off_the_mean(sign):
    return lambda ratios: statistics.fmean(ratios) + sign * statistics.stdev(ratios)


MISTAKES = (
    Mistake(
        "another order of the three numbers",
        "The three numbers are right and stand in another order. Asked for are the "
        "median, then the lowest, then the highest.",
        when=lambda seen, expected, inputs: (
            all(
                near(sorted(seen[name].values), sorted(expected[name].values))
                for name in expected
            )
            and not all(
                near(seen[name].values, expected[name].values) for name in expected
            )
        ),
        read=RACE,
    ),
    _wrong(
        "first call counted",
        "The first call of each function is counted. It is slower than all others, "
        "since caches are filled and memory is fetched: call each once before.",
        warm_up=0,
    ),
    _wrong(
        "seconds, not ratios",
        "These are seconds. They say as much about the machine as about the functions: "
        "divide by the seconds of the first function in the same round.",
        ratio=False,
    ),
    _wrong(
        "ratio turned round",
        "The ratios are turned round: they say how many times faster, and should say "
        "how many times as long.",
        inverted=True,
    ),
    _wrong(
        "clock not restarted",
        "The clock is started once, and each measure holds all calls before it too.",
        restart=False,
    ),
    _wrong(
        "mean for median",
        "The middle is the mean of the ratios. One round in which something else ran "
        "on the machine drags it along; it hardly moves the median.",
        middle=statistics.fmean,
    ),
    _wrong(
        "lowest for median",
        "The first number is the lowest ratio. The luckiest round is not a typical "
        "one.",
        middle=min,
    ),
    _wrong(
        "one after the other",
        "All rounds of one function come before those of the next, and the times are "
        "divided by the median of the first. Here the machine gets slower meanwhile, "
        "and the later functions pay for it. Take turns.",
        turns=False,
        of_middle=True,
    ),
    _wrong(
        "not divided round by round",
        "Times of all rounds are divided by the mean time of the first function. A "
        "round in which the machine was busy then counts against the function, "
        "although it slowed the first one too.",
        of_mean=True,
    ),
    _wrong(
        "divided by the function before it",
        "The seconds of a function are divided by those of the function before it in "
        "the round. Asked for is the ratio to the first one, for all of them.",
        of_previous=True,
    ),
    _wrong(
        "not divided round by round",
        "Times of all rounds are divided by the median of the first function. A round "
        "in which the machine was busy then counts against the function, although it "
        "slowed the first one too.",
        of_middle=True,
    ),
    _wrong(
        "called too often",
        "Each function is called twice in every round, once unmeasured. Asked for is "
        "one call to warm up, before the first round.",
        warm_up=0,
        idle=1,
    ),
    _wrong(
        "called too often",
        "Each function is called twice in every round, once unmeasured, although all "
        "have been called once before the first round.",
        idle=1,
    ),
    Mistake(
        "another clock",
        "The time has been read from another clock. `clock` is an argument: "
        "`clock()` returns seconds.",
        when=lambda seen, expected, inputs: "clock was not read" in str(seen),
        read=RACE,
    ),
    _wrong(
        "one after the other",
        "All rounds of one function come before those of the next. Here the machine "
        "gets slower meanwhile, and the later functions pay for it. Take turns.",
        turns=False,
    ),
)

BASES = tuple(
    _wrong(
        "divided by another function",
        f"The seconds of a round are divided by {what}. Asked for is the ratio to the "
        "first function, whichever is the fastest.",
        base=base,
    )
    for what, base in (
        ("those of the *last* function", lambda seconds: seconds[-1]),
        ("the smallest of the round", min),
        ("the largest of the round", max),
        ("their mean", statistics.fmean),
        ("their sum", sum),
    )
)
MIDDLES = tuple(
    _wrong(
        "another middle",
        f"The first number is {what}. Asked for is the median: half of the ratios lie "
        "below it.",
        middle=middle,
    )
    for what, middle in (
        ("halfway between the lowest and the highest", lambda r: (min(r) + max(r)) / 2),
        ("the highest ratio", max),
        ("the geometric mean", statistics.geometric_mean),
        ("the ratio of the last round", lambda r: r[-1]),
        ("the ratio of the first round", lambda r: r[0]),
        ("the lower of the two middle ratios", statistics.median_low),
        ("the higher of the two middle ratios", statistics.median_high),
        ("the middle ratio of the list as it came", lambda r: r[len(r) // 2]),
    )
)
ENDS = tuple(
    _wrong(
        "other bounds",
        f"The second and the third number are {what}. Asked for are the lowest and the "
        "highest ratio, whatever made them so.",
        ends=ends,
    )
    for what, ends in (
        (
            "the second lowest and the second highest ratio",
            (lambda r: sorted(r)[1], lambda r: sorted(r)[-2]),
        ),
        ("quartiles", tuple(_quartile(i, "exclusive") for i in (0, 2))),
        ("quartiles", tuple(_quartile(i, "inclusive") for i in (0, 2))),
        (
            "one standard deviation below and above the mean",
            tuple(_off_the_mean(sign) for sign in (-1, 1)),
        ),
        (
            "the lowest and the highest ratio of all rounds but the first",
            (lambda r: min(r[1:]), lambda r: max(r[1:])),
        ),
        (
            "the lowest and the highest ratio of all rounds but the last",
            (lambda r: min(r[:-1]), lambda r: max(r[:-1])),
        ),
    )
)
MISTAKES += (
    *BASES,
    *MIDDLES,
    *ENDS,
    Mistake(
        "a call too few",
        "A function has been called no more often than there are rounds. Asked for is "
        "one call that is not measured, and then one in each round.",
        when=lambda seen, expected, inputs: not seen[CALLS].values[0],
        read=RACE,
    ),
)
