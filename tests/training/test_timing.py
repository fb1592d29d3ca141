"""Costs: timing in turns, and the operations between two tensors."""

import pytest
import torch

from attncourse.training.timing import count_operations_between, time_side_by_side


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


def test_the_time_of_one_call_is_reported():
    clock = Clock()
    jobs = {"short": clock.work(0.25), "long": clock.work(2.0)}
    times = time_side_by_side(jobs, repeats=3, min_time=1.0, clock=clock)
    assert list(times) == ["short", "long"]
    assert times["short"] == (0.25, 0.25, 0.25)
    assert times["long"].median == 2.0


def test_candidates_take_turns():
    clock, calls = Clock(), []
    jobs = {name: clock.work(1.0, calls, name) for name in "ab"}
    time_side_by_side(jobs, repeats=3, min_time=1.0, clock=clock)
    assert "".join(calls) == "ab" + "ababab"  # the warm-up, then the repeats


def test_a_short_function_is_repeated_until_the_measurement_is_long_enough():
    clock, calls = Clock(), []
    jobs = {"a": clock.work(0.25, calls, "a")}
    time_side_by_side(jobs, repeats=1, min_time=1.0, clock=clock)
    assert len(calls) == 1 + 4


def test_the_median_ignores_one_slow_repeat_and_the_band_shows_it():
    clock = Clock()
    durations = iter([1.0, 1.0, 9.0, 1.0])  # the first is the warm-up

    def function():
        clock.now += next(durations)

    timing = time_side_by_side({"a": function}, repeats=3, min_time=0, clock=clock)["a"]
    assert timing == (1.0, 1.0, 9.0)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (({},), ValueError, "at least one function"),
        (({"a": 3},), TypeError, "Wrap the call"),
        (({"a": int}, 0), ValueError, "repeats must be at least 1"),
        (({"a": int}, 1, -1.0), ValueError, "min_time must be 0 or more"),
    ],
)
def test_bad_arguments_are_named(arguments, error, message):
    names = ("candidates", "repeats", "min_time")
    with pytest.raises(error, match=message):
        given = dict(zip(names, arguments, strict=False))
        time_side_by_side(given.pop("candidates"), **given)


def test_a_chain_has_one_way():
    source = torch.ones(3, requires_grad=True)
    assert count_operations_between(source.exp().sin().sum(), source) == (3, 3)


def test_a_short_cut_makes_the_shortest_way_shorter():
    source = torch.ones(3, requires_grad=True)
    assert count_operations_between(source.exp().sin().cos() + source, source) == (1, 4)


def test_a_result_that_is_used_twice_is_counted_once_on_a_way():
    source = torch.ones(3, requires_grad=True)
    shared = source.exp()
    assert count_operations_between(shared * shared, source) == (2, 2)


def test_a_deep_graph_is_no_problem():
    state = source = torch.ones(2, requires_grad=True)
    for _ in range(5000):
        state = state.sin()
    assert count_operations_between(state, source) == (5000, 5000)


def test_the_source_may_be_the_result_of_a_computation():
    start = torch.ones(3, requires_grad=True)
    middle = start.exp()
    assert count_operations_between(middle.sin().cos(), middle) == (2, 2)


def test_a_source_without_gradient_is_named():
    with pytest.raises(ValueError, match="requires_grad_"):
        count_operations_between(torch.ones(2).exp(), torch.ones(2))


def test_an_output_that_does_not_depend_on_the_source_is_named():
    source = torch.ones(2, requires_grad=True)
    other = torch.ones(2, requires_grad=True)
    for output in (other.exp(), torch.ones(2)):
        with pytest.raises(ValueError, match="must be computed from source"):
            count_operations_between(output, source)
