"""A clock and functions on which a measure of time can be rehearsed."""

from __future__ import annotations

import statistics

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
    period : int, optional
        After so many calls the breaks come again, so that any rounds in a row have all
        of them, however many calls have warmed up.
    """

    def __init__(self, costs, busy, breaks=None, period=None):
        self.costs, self.busy, self.breaks = costs, busy, breaks or {}
        self.period = period
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
            call = self.called[name]
            if call and self.period:
                call = 1 + (call - 1) % self.period
            extra = self.breaks.get((name, call), 0)
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
    of_mean=False,
    of_previous=False,
    idle=0,
    base=None,
    ends=(min, max),
):
    """Measure as it should be done, or with a mistake.

    Parameters
    ----------
    machine : Machine
        Whose functions are measured, with its clock.
    rounds : int
        How many rounds.
    warm_up, turns, middle, inverted, ratio, restart
        What is done otherwise: calls before the rounds, turns of the functions, the
        middle of the ratios, ratios turned round, seconds in place of ratios, a clock
        that is started once.
    of_middle, of_mean, of_previous
        Ratios to the middle or to the mean of all rounds of the first function, or to
        the function before it.
    idle, base, ends
        Idle calls before each measure, what of a round's seconds divides them, and the
        bounds.
    """
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
    by = first if base is None else [base(r) for r in zip(*taken.values(), strict=True)]
    found = {}
    for name, seconds in taken.items():
        values = list(seconds)
        if ratio:
            pairs = zip(seconds, by, strict=True)
            values = [b / a if inverted else a / b for a, b in pairs]
        if of_middle:
            values = [second / middle(first) for second in seconds]
        if of_mean:
            values = [second / statistics.fmean(first) for second in seconds]
        if of_previous:
            by = seconds
        found[name] = [middle(values), *(end(values) for end in ends)]
    return found | calls_of(machine, rounds)


def calls_of(machine, rounds):
    """Say whether every function was called once more than there are rounds."""
    return {CALLS: min(machine.called.values()) > rounds}
