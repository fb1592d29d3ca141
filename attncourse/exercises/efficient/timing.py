"""Task 5.6: a fair stopwatch, tried on a machine whose clock is made up."""

import itertools
import statistics

from attncourse.exercises.efficient.crossover import CROSSOVER
from attncourse.exercises.efficient.machine import Machine
from attncourse.exercises.efficient.oracle import CHAPTER, size
from attncourse.exercises.efficient.summaries import SUMMARIES
from attncourse.exercises.seen import near
from attncourse.exercises.task import Check, Mistake, Task

STOPWATCH = f"{CHAPTER}#a-fault-the-stopwatch-that-was-pressed-once"


def _costs(generator, low=1, high=4):
    return {
        name: float(size(generator, low, high) * step)
        for name, step in (("full", 2), ("local", 1), ("sparse", 3))
    }


def _warm_inputs(generator):
    seconds = {name: cost + 0.0043 for name, cost in _costs(generator).items()}
    return {"seconds": seconds, "first_call_takes_more": 50.0}


def _warm(time_in_turns, crossover, seconds, first_call_takes_more):
    machine = Machine(seconds, first=first_call_takes_more)
    return dict(time_in_turns(machine.jobs, repeats=1, clock=machine.clock))


def _jitter_inputs(generator):
    high = 20.0 + size(generator, 0, 10)
    # The call in the middle, the first and the last have no time that stands out.
    jitter = [2.5, 3.0, 1.0, high, 1.1, 1.3, 2.0]
    return {"seconds": _costs(generator), "jitter": jitter}


def _jitter(time_in_turns, crossover, seconds, jitter):
    machine = Machine(seconds, jitter=jitter)
    repeats = len(jitter)
    return dict(time_in_turns(machine.jobs, repeats=repeats, clock=machine.clock))


def _of_calls(pick, more=0):
    """Return what `_jitter` sees if `pick` makes one number of the measured calls.

    So many `more` are measured than should be.
    """

    def wrong(seconds, jitter):
        calls = range(1, len(jitter) + 1 + more)
        factors = [jitter[call % len(jitter)] for call in calls]
        return {name: cost * pick(factors) for name, cost in seconds.items()}

    return wrong


def _drift_inputs(generator):
    base = float(size(generator, 1, 3))
    times = {"full": size(generator, 3, 6), "sparse": size(generator, 2, 5)}
    return {"seconds": {"local": base} | {k: base * n for k, n in times.items()}}


def _drift(time_in_turns, crossover, seconds):
    # after the round that warms up and one of the five, and again two rounds later
    machine = Machine(seconds, slow_from=(2 * len(seconds), 4 * len(seconds)))
    found = time_in_turns(machine.jobs, repeats=5, clock=machine.clock)
    return _ratios(found)


def _ratios(seconds):
    return {
        f"{name} / local, rounded": round(seconds[name] / seconds["local"])
        for name in ("full", "sparse")
    }


def _so_far(seconds, first_call_takes_more):
    """Return the times if the clock is read once, before all jobs of a round."""
    return dict(zip(seconds, itertools.accumulate(seconds.values()), strict=True))


TIMING = Task(
    name="timing",
    title="A fair stopwatch",
    names=("time_in_turns", "crossover"),
    difficulty="medium",
    minutes=20,
    checks=(
        Check(
            "seconds by the given clock, after a call to warm up",
            0.5,
            inputs=_warm_inputs,
            ask=_warm,
            tolerance=1e-5,
            digits=4,
            expected=lambda seconds, first_call_takes_more: seconds,
            mistakes=(
                Mistake(
                    "clock read once for a round",
                    "The time of a job holds that of the jobs before it: the clock is "
                    "read once, before all of them. Read it before *each* job.",
                    wrong=_so_far,
                    read=STOPWATCH,
                ),
                Mistake(
                    "whole rounds",
                    "All jobs have the same time, that of the whole round. Read the "
                    "clock before and after *each* job.",
                    wrong=lambda seconds, first_call_takes_more: dict.fromkeys(
                        seconds, sum(seconds.values())
                    ),
                    read=STOPWATCH,
                ),
                *(
                    Mistake(
                        "rounded",
                        f"The seconds are rounded to {digits} decimals. Of a job that "
                        "takes microseconds nothing is left.",
                        wrong=lambda seconds, first_call_takes_more, digits=digits: {
                            name: round(cost, digits) for name, cost in seconds.items()
                        },
                    )
                    for digits in (0, 1, 2, 3)
                ),
                Mistake(
                    "another clock",
                    "Next to no time passes between the two readings. Is it the clock "
                    "that was given which is read, and is the job called *between* "
                    "the readings?",
                    when=lambda seen, expected, inputs: all(
                        part.kind == "float" and 0 <= part.values[0] < 0.1
                        for part in seen.values()
                    ),
                    read=STOPWATCH,
                ),
                Mistake(
                    "no warm-up",
                    "The first call is measured. It loads, allocates and compiles, and "
                    "says little about the calls after it.",
                    wrong=lambda seconds, first_call_takes_more: {
                        name: cost + first_call_takes_more
                        for name, cost in seconds.items()
                    },
                    read=STOPWATCH,
                ),
                Mistake(
                    "no warm-up",
                    "The first call is measured with the others, as one of them. It "
                    "should be a call besides them, which is not measured.",
                    wrong=lambda seconds, first_call_takes_more: {
                        name: cost + first_call_takes_more / 2
                        for name, cost in seconds.items()
                    },
                    read=STOPWATCH,
                ),
                Mistake(
                    "milliseconds",
                    "The times are a thousand times too large: seconds are asked for.",
                    wrong=lambda seconds, first_call_takes_more: {
                        name: 1000 * cost for name, cost in seconds.items()
                    },
                ),
                Mistake(
                    "time of day",
                    "These are readings of the clock, not differences between two.",
                    when=lambda seen, expected, inputs: all(
                        part.values[0] > 1000 for part in seen.values()
                    ),
                ),
                Mistake(
                    "only the first job is warmed up",
                    "One job is warmed up; the first call of the others is measured.",
                    when=lambda seen, expected, inputs: any(
                        seen[name].values[0]
                        > expected[name].values[0] + inputs["first_call_takes_more"] / 2
                        for name in expected
                    ),
                    read=STOPWATCH,
                ),
            ),
        ),
        Check(
            "the median of the repeats",
            0.5,
            inputs=_jitter_inputs,
            ask=_jitter,
            expected=_of_calls(statistics.median),
            mistakes=(
                *(
                    Mistake(name, says, wrong=_of_calls(pick), read=STOPWATCH)
                    for name, says, pick in SUMMARIES
                ),
                *(
                    Mistake(
                        "another number of repeats",
                        f"Each job is measured once {word} than `repeats` says. The "
                        "call that warms up comes besides these.",
                        wrong=_of_calls(statistics.median, more),
                        read=STOPWATCH,
                    )
                    for more, word in ((1, "more"), (-1, "less"))
                ),
                Mistake(
                    "another number of repeats",
                    "Each job is measured five times, whatever `repeats` says.",
                    wrong=_of_calls(statistics.median, -2),
                    read=STOPWATCH,
                ),
                Mistake(
                    "one call only",
                    "Each job seems to be measured once, or its last time is kept.",
                    when=lambda seen, expected, inputs: all(
                        any(
                            near(seen[name].values[0], cost * factor)
                            for factor in inputs["jitter"]
                        )
                        for name, cost in inputs["seconds"].items()
                    ),
                    read=STOPWATCH,
                ),
            ),
        ),
        Check(
            "jobs take turns, so that all meet the same machine",
            0.5,
            inputs=_drift_inputs,
            ask=_drift,
            expected=_ratios,
            mistakes=(
                Mistake(
                    "one job after the other",
                    "The machine became slower on the way, and the ratios are wrong: "
                    "one job was measured before, another after. All repeats of one "
                    "job come first, then all of the next.",
                    when=lambda seen, expected, inputs: any(
                        seen[name].values[0] > 2 * expected[name].values[0]
                        for name in expected
                    ),
                    read=STOPWATCH,
                ),
            ),
        ),
        CROSSOVER,
    ),
)
