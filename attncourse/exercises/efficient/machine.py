"""A machine whose clock is made up, for task 5.6."""


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
