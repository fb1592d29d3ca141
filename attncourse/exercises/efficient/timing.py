"""Task 5.6: a fair stopwatch, tried on a machine whose clock is made up."""

from attncourse.exercises.efficient.oracle import CHAPTER, size
from attncourse.exercises.seen import near
from attncourse.exercises.task import Check, Mistake, Task

STOPWATCH = f"{CHAPTER}#a-fault-the-stopwatch-that-was-pressed-once"
PAYS = f"{CHAPTER}#from-which-length-does-it-pay"


class Machine:
    """Jobs that take made-up time, and the clock that shows it.

    Parameters
    ----------
    seconds : dict of str to float
        What a call of each job takes.
    first : float
        What the first call of each takes besides.
    jitter : sequence of float
        By this the calls of a job are longer, in turn.
    slow_from : sequence of int
        At each of these calls, of all together, everything becomes five times slower.
    """

    def __init__(self, seconds, *, first=0.0, jitter=(1.0,), slow_from=()):
        self.now, self.calls = 1000.0, 0
        self.first, self.jitter, self.slow_from = first, jitter, slow_from
        self.jobs = {name: self._job(cost) for name, cost in seconds.items()}

    def clock(self):
        """Return the time in seconds."""
        return self.now

    def _job(self, cost):
        calls = 0

        def run():
            nonlocal calls
            slow = 5 ** sum(self.calls >= call for call in self.slow_from)
            taken = cost * self.jitter[calls % len(self.jitter)] * slow
            self.now += taken + (0 if calls else self.first)
            calls, self.calls = calls + 1, self.calls + 1

        return run


def _costs(generator, low=1, high=4):
    return {
        name: float(size(generator, low, high) * step)
        for name, step in (("full", 2), ("local", 1), ("sparse", 3))
    }


def _warm_inputs(generator):
    return {"seconds": _costs(generator), "first_call_takes_more": 50.0}


def _warm(time_in_turns, crossover, seconds, first_call_takes_more):
    machine = Machine(seconds, first=first_call_takes_more)
    return dict(time_in_turns(machine.jobs, repeats=1, clock=machine.clock))


def _jitter_inputs(generator):
    high = 20.0 + size(generator, 0, 10)
    return {"seconds": _costs(generator), "jitter": [3.0, 1.0, 1.5, high, 1.2]}


def _jitter(time_in_turns, crossover, seconds, jitter):
    machine = Machine(seconds, jitter=jitter)
    return dict(time_in_turns(machine.jobs, repeats=5, clock=machine.clock))


def _of_jitter(pick):
    return lambda seconds, jitter: {
        name: cost * pick(sorted(jitter)) for name, cost in seconds.items()
    }


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


def _race_inputs(generator):
    lengths = [128, 256, 512, 1024, 2048]
    theirs = [float(size(generator, 3, 5) * 2**i) for i in range(5)]
    ahead_from = min(5, size(generator, 2, 7))  # 5: never for good
    ours = [t * (0.5 if i >= ahead_from else 1.5) for i, t in enumerate(theirs)]
    ours[ahead_from - 1] = theirs[ahead_from - 1]  # just as fast is not faster
    ours[size(generator, 0, ahead_from - 2)] *= 0.5  # ahead by chance, once
    return {"lengths": lengths, "ours": ours, "theirs": theirs}


def first_ahead_for_good(lengths, ours, theirs):
    """Return the length from which on ours is faster, or None."""
    found = None
    for n, a, b in zip(
        reversed(lengths), reversed(ours), reversed(theirs), strict=True
    ):
        if a >= b:
            break
        found = n
    return found


def _first_ahead(lengths, ours, theirs):
    return next(
        (n for n, a, b in zip(lengths, ours, theirs, strict=True) if a < b), None
    )


def _place(lengths, ours, theirs):
    found = first_ahead_for_good(lengths, ours, theirs)
    return None if found is None else lengths.index(found)


def _one_early(lengths, ours, theirs):
    found = first_ahead_for_good(lengths, ours, theirs)
    return None if found is None else lengths[lengths.index(found) - 1]


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
            expected=lambda seconds, first_call_takes_more: seconds,
            mistakes=(
                Mistake(
                    "another clock",
                    "The times are not those of the clock that was given. On a GPU, or "
                    "for a test, it matters which clock is read.",
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
            expected=_of_jitter(lambda times: times[2]),
            mistakes=(
                Mistake(
                    "mean in place of the median",
                    "This is the mean. One call that met a busy machine moves it far; "
                    "the median hardly notices.",
                    wrong=_of_jitter(lambda times: sum(times) / 5),
                    read=STOPWATCH,
                ),
                Mistake(
                    "the sum of the repeats",
                    "The times of all repeats are added up.",
                    wrong=_of_jitter(sum),
                ),
                Mistake(
                    "the shortest in place of the median",
                    "This is the shortest time. It is a sound measure of something "
                    "else: here the median is asked for.",
                    wrong=_of_jitter(lambda times: times[0]),
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
        Check(
            "the crossover: the length from which on ours is always the faster",
            0.5,
            inputs=_race_inputs,
            ask=lambda time_in_turns, crossover, **race: crossover(**race),
            expected=first_ahead_for_good,
            mistakes=(
                Mistake(
                    "the first time ahead",
                    "This is the first length at which ours is faster. At a longer one "
                    "it is slower again: the first was luck.",
                    wrong=_first_ahead,
                    read=PAYS,
                ),
                Mistake(
                    "the place in place of the length",
                    "This is the place in the list. The number of tokens is asked for.",
                    wrong=_place,
                ),
                Mistake(
                    "ours and theirs exchanged",
                    "The smaller time is the faster one.",
                    wrong=lambda lengths, ours, theirs: first_ahead_for_good(
                        lengths, theirs, ours
                    ),
                ),
                Mistake(
                    "the first time ahead",
                    "The smaller time is the faster one, and one win is not enough.",
                    wrong=lambda lengths, ours, theirs: _first_ahead(
                        lengths, theirs, ours
                    ),
                ),
                Mistake(
                    "one length too early",
                    "At the length that is returned ours is not the faster one yet.",
                    wrong=_one_early,
                ),
                Mistake(
                    "no answer where there is no crossover",
                    "Where ours is not the faster one at the end, there is no "
                    "crossover, and None should come back.",
                    when=lambda seen, expected, inputs: (
                        expected["result"].kind == "nothing"
                    ),
                    read=PAYS,
                ),
            ),
        ),
    ),
)
