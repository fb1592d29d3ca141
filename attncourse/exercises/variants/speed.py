"""Task speed: time as a ratio, measured side by side."""

from __future__ import annotations

import statistics

import torch

from attncourse.exercises.seen import near
from attncourse.exercises.task import Check, Mistake, Task

RACE = "chapters/02_attention_types#how-long-does-it-take"
CALLS = "each function is called once, and then in every round"
FIRST_CALL = 9.0  # seconds more, for the second function twice, for the third ...


class Machine:
    """A clock and functions that take the time they are told, to rehearse a measure.

    Parameters
    ----------
    costs : dict of str to float
        Seconds that a call takes on a quiet machine.
    busy : list of float
        By what factor the machine is slower, in each round; a round begins with the
        first function. The first entry is for the warm-up.
    breaks : dict of (str, int) to float
        Seconds more for one call: name of the function, and which of its calls.
    """

    def __init__(self, costs, busy, breaks=None):
        self.costs, self.busy, self.breaks = costs, busy, breaks or {}
        self.now, self.round = 100.0, -1
        self.called = dict.fromkeys(costs, 0)
        self.was_read = False

    def clock(self):
        """Return the time in seconds."""
        self.was_read = True
        return self.now

    def steps(self):
        """Return the functions by name."""
        return {name: self._step(name) for name in self.costs}

    def _step(self, name):
        def step():
            if name == next(iter(self.costs)):
                self.round += 1
            place = min(max(self.round, 0), len(self.busy) - 1)
            extra = self.breaks.get((name, self.called[name]), 0)
            if not self.called[name]:
                extra += FIRST_CALL * (1 + list(self.costs).index(name))
            self.called[name] += 1
            self.now += self.costs[name] * self.busy[place] + extra

        return step


def compare(
    machine,
    rounds,
    *,
    warm_up=1,
    turns=True,
    middle=statistics.median,
    inverted=False,
    ratio=True,
    restart=True,
    of_middle=False,
    idle=0,
):
    """Measure as it should be done, or with a mistake."""
    steps, clock = machine.steps(), machine.clock
    for step in steps.values():
        for _ in range(warm_up):
            step()
    taken = {name: [] for name in steps}
    order = [name for _ in range(rounds) for name in steps]
    if not turns:
        order = [name for name in steps for _ in range(rounds)]
    begin = clock()
    for name in order:
        for _ in range(idle):
            steps[name]()
        if restart:
            begin = clock()
        steps[name]()
        taken[name].append(clock() - begin)
    first = taken[next(iter(steps))]
    found = {}
    for name, seconds in taken.items():
        values = list(seconds)
        if ratio:
            pairs = zip(seconds, first, strict=True)
            values = [b / a if inverted else a / b for a, b in pairs]
        if of_middle:
            values = [second / middle(first) for second in seconds]
        found[name] = [middle(values), min(values), max(values)]
    return found | _calls(machine, rounds)


def _costs(generator):
    drawn = (0.5 + 3 * torch.rand(3, generator=generator)).tolist()
    names = ("dot", "additive", "concat")
    costs = {name: round(cost, 2) for name, cost in zip(names, drawn, strict=True)}
    return {
        "costs": costs,
        "rounds": torch.randint(4, 7, (), generator=generator).item(),
    }


def _quiet(generator):
    drawn = _costs(generator)
    return {**drawn, "busy": [1.0] * (drawn["rounds"] + 1)}


def _busy(generator):
    drawn = _costs(generator)
    factors = 1 + 4 * torch.rand(drawn["rounds"], generator=generator)
    factors = [1.0, *sorted(round(f, 2) for f in factors.tolist())]
    return {**drawn, "busy": factors}


def _interrupted(generator):
    drawn = _quiet(generator)
    rounds = drawn["rounds"]
    place = torch.randint(2, rounds + 1, (), generator=generator).item()
    other = place + 1 if place < rounds else 2
    return {
        **drawn,
        "rounds": rounds + 1 - rounds % 2,
        # One of the first function makes ratios smaller, one of another larger.
        "breaks": {("concat", place): 20.0, ("dot", other): 20.0},
    }


def _ask(compare_speed, costs, rounds, busy, breaks=None):
    machine = Machine(costs, busy, breaks)
    found = compare_speed(machine.steps(), rounds, machine.clock)
    if not machine.was_read:
        raise ValueError("the clock was not read")
    return {name: list(found[name]) for name in costs} | _calls(machine, rounds)


def _calls(machine, rounds):
    return {CALLS: min(machine.called.values()) > rounds}


def _expected(costs, rounds, busy, breaks=None, **options):
    return compare(Machine(costs, busy, breaks), rounds, **options)


def _wrong(name, says, **options):
    return Mistake(
        name, says, wrong=lambda **given: _expected(**given, **options), read=RACE
    )


MISTAKES = (
    Mistake(
        "another order of the three numbers",
        "The three numbers are right and stand in another order. Asked for are the "
        "median, then the lowest, then the highest.",
        when=lambda seen, expected, inputs: all(
            near(sorted(seen[name].values), sorted(expected[name].values))
            for name in expected
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

SPEED = Task(
    name="speed",
    title="How long does a step take?",
    names=("compare_speed",),
    difficulty="medium",
    minutes=10,
    checks=(
        Check(
            "ratios to the first function, without the first call",
            0.5,
            inputs=_quiet,
            tensors=False,
            ask=_ask,
            expected=_expected,
            mistakes=MISTAKES,
            digits=3,
        ),
        Check(
            "a machine that gets slower does not change the ratios",
            1,
            inputs=_busy,
            tensors=False,
            ask=_ask,
            expected=_expected,
            mistakes=MISTAKES,
            digits=3,
        ),
        Check(
            "single interruptions do not change the middle",
            0.5,
            inputs=_interrupted,
            tensors=False,
            ask=_ask,
            expected=_expected,
            mistakes=MISTAKES,
            digits=3,
        ),
    ),
)
