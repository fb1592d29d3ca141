"""Costs: timing in turns, and the operations between two tensors."""

import pytest
import torch

from attncourse.training import timing as timing_module
from attncourse.training.timing import count_operations_between, time_side_by_side
from tests.refusing import refuses

SOURCE, OTHER = (torch.ones(2, requires_grad=True) for _ in range(2))


@pytest.fixture(autouse=True)
def a_second_for_each_measurement(monkeypatch):
    monkeypatch.setattr(timing_module, "MIN_TIME", 1.0)


class Clock:
    """A clock that moves only when it is told to."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def work(self, seconds, calls=None, name=None):
        def function():
            self.now += seconds
            if calls is not None:
                calls.append(name)

        return function


def test_the_time_of_one_call_is_reported_and_short_functions_are_repeated():
    clock, calls = Clock(), []
    jobs = {"short": clock.work(0.25, calls, "s"), "long": clock.work(2.0, calls, "l")}
    times = time_side_by_side(jobs, repeats=3, clock=clock)
    assert list(times) == ["short", "long"]
    assert times["short"] == (0.25, 0.25, 0.25)
    assert times["long"].median == 2.0
    assert "".join(calls) == "sl" + 3 * "ssssl"


def test_candidates_take_turns():
    clock, calls = Clock(), []
    jobs = {name: clock.work(1.0, calls, name) for name in "ab"}
    time_side_by_side(jobs, repeats=3, clock=clock)
    assert "".join(calls) == "ab" + "ababab"  # the warm-up, then the repeats


def test_the_median_ignores_one_slow_repeat_and_the_band_shows_it():
    clock = Clock()
    durations = iter([1.0, 1.0, 9.0, 1.0])  # the first is the warm-up

    def function():
        clock.now += next(durations)

    timing = time_side_by_side({"a": function}, repeats=3, clock=clock)["a"]
    assert timing == (1.0, 1.0, 9.0)


test_bad_arguments_are_named = refuses(
    (lambda: time_side_by_side({}), "at least one function"),
    (lambda: time_side_by_side({"a": 3}), TypeError, "Wrap the call"),
    (lambda: time_side_by_side({"a": int}, repeats=0), "repeats must be at least 1"),
)


def deep(state):
    for _ in range(5000):
        state = state.sin()
    return state


@pytest.mark.parametrize(
    ("output", "shortest", "longest"),
    [
        (lambda x: x.exp().sin().sum(), 3, 3),
        (lambda x: x.exp().sin().cos() + x, 1, 4),
        (lambda x: (y := x.exp()) * y, 2, 2),  # used twice, counted once on a way
        (deep, 5000, 5000),
    ],
)
def test_the_shortest_and_the_longest_way_are_counted(output, shortest, longest):
    start = torch.ones(3, requires_grad=True)
    for source in (start, start.exp()):  # or the result of a computation
        found = count_operations_between(output(source), source)
        assert found == (shortest, longest)


test_a_source_that_does_not_lead_to_the_output_is_named = refuses(
    ((torch.ones(2).exp(), torch.ones(2)), "requires_grad_"),
    ((SOURCE.exp(), OTHER), "must be computed from source"),
    ((torch.ones(2), OTHER), "must be computed from source"),
    run=lambda tensors: count_operations_between(*tensors),
)
