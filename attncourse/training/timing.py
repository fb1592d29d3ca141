"""What a computation costs: its time beside another's, and its chain of waits."""

import statistics
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from attncourse import _checks

MIN_TIME = 0.01  # seconds that one measurement lasts at least


class Timing(NamedTuple):
    """Seconds for one call: the median of the repeats, the lowest and the highest."""

    median: float
    low: float
    high: float


def time_side_by_side(
    candidates: Mapping[str, Callable[[], object]],
    *,
    repeats: int = 5,
    clock: Callable[[], float] = time.process_time,
) -> dict[str, Timing]:
    """Time several functions in turns, so that all meet the same machine.

    Each candidate is called once to warm up. Then every repeat times each of them
    once, one after the other: what slows the machine for a while slows them all. A
    short function is called often enough to fill a hundredth of a second.

    Parameters
    ----------
    candidates : dict of str to callable
        Functions without arguments. On a GPU, a function has to end with
        ``torch.cuda.synchronize()`` and the clock has to be ``time.perf_counter``.
    repeats : int, default 5
        Number of times each candidate is measured.
    clock : callable, default time.process_time
        Returns seconds. Processor time, the default, leaves out what other programs
        take, and adds up over threads.

    Returns
    -------
    dict of str to Timing
        Seconds for one call: median, lowest and highest of the repeats.

    Raises
    ------
    TypeError, ValueError
        If there are no candidates, one cannot be called, or a number is out of range.
    """
    repeats = _checks.positive_int("repeats", repeats)
    if not candidates:
        raise ValueError("candidates must name at least one function, but it is empty.")
    for name, function in candidates.items():
        if not callable(function):
            raise TypeError(
                f"candidates[{name!r}] must be a function without arguments, but got "
                f"{type(function).__name__}. Wrap the call: lambda: layer(x)."
            )
    for function in candidates.values():
        function()
    seconds = {name: [] for name in candidates}
    for _ in range(repeats):
        for name, function in candidates.items():
            seconds[name].append(_seconds_per_call(function, clock))
    return {
        name: Timing(statistics.median(taken), min(taken), max(taken))
        for name, taken in seconds.items()
    }


def _seconds_per_call(function, clock):
    calls, start = 0, clock()
    while True:
        function()
        calls += 1
        elapsed = clock() - start
        if elapsed >= MIN_TIME:
            return elapsed / calls


def count_operations_between(output: Tensor, source: Tensor) -> tuple[int, int]:
    """Count the operations on the shortest and on the longest way between tensors.

    The ways are read from the graph that PyTorch records for the backward pass. The
    shortest is the path that a signal, or its gradient, has to travel. The longest is
    the number of operations that wait for one another: no amount of parallel hardware
    makes it shorter.

    Parameters
    ----------
    output : torch.Tensor
        Computed from `source`.
    source : torch.Tensor
        Requires a gradient.

    Returns
    -------
    shortest, longest : int
        Operations from `source` to `output`.

    Raises
    ------
    ValueError
        If `source` requires no gradient, or `output` does not depend on it.
    """
    if not source.requires_grad:
        raise ValueError(
            "source must require a gradient, or PyTorch records nothing about it. "
            "Call source.requires_grad_() before the computation."
        )
    start = torch.autograd.graph.get_gradient_edge(source).node
    shortest, longest = {start: 0}, {start: 0}
    for node in _sources_first(output.grad_fn):
        before = [above for above, _ in node.next_functions if above in shortest]
        if node is not start and before:
            shortest[node] = 1 + min(shortest[above] for above in before)
            longest[node] = 1 + max(longest[above] for above in before)
    if output.grad_fn not in shortest:
        raise ValueError(
            "output must be computed from source, but no recorded operation leads "
            "from one to the other. Look for detach() or torch.no_grad()."
        )
    return shortest[output.grad_fn], longest[output.grad_fn]


def _sources_first(last):
    """Return the nodes of a graph, each after all that it depends on."""
    order, seen, stack = [], set(), [(last, False)]
    while stack:  # no recursion: a recurrent network may be thousands of steps deep
        node, finished = stack.pop()
        if finished:
            order.append(node)
        elif node is not None and node not in seen:
            seen.add(node)
            stack.append((node, True))
            stack.extend((above, False) for above, _ in node.next_functions)
    return order
