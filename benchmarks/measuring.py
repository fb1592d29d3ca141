"""What the benchmarks share: turns, ratios within a round, and where results go."""

import os
import statistics
import time

import torch

from attncourse.recorded.writing import provenance, save

LEAST_SECONDS = 0.05  # shorter calls are repeated within a round


def seconds(call):
    """Return the shortest time of one call, repeated to fill LEAST_SECONDS."""
    best, spent = float("inf"), 0.0
    while spent < LEAST_SECONDS:
        start = time.perf_counter()
        call()
        elapsed = time.perf_counter() - start
        best, spent = min(best, elapsed), spent + elapsed
    return best


def spread(values):
    """Return median and range."""
    return {"median": statistics.median(values), "range": [min(values), max(values)]}


def side_by_side(candidates, *, rounds, warm_up=True):
    """Return the seconds of each candidate in each round, taken one after the other."""
    if warm_up:
        for call in candidates.values():
            call()
    return [
        {name: seconds(call) for name, call in candidates.items()}
        for _ in range(rounds)
    ]


def ratio(runs, one, other):
    """Return median and range, over the rounds, of the time of one over another's."""
    return spread([run[one] / run[other] for run in runs])


def record(name, results):
    """Write results where the package keeps them, with how they were made."""
    made = provenance(
        packages=("torch", "numpy"),
        cores=os.cpu_count(),
        threads=torch.get_num_threads(),
        load_at_end=round(os.getloadavg()[0], 1),
    )
    save(name, {"made": made, **results})


def text_of(values, unit="×"):
    """Return a median and its range as text."""
    low, high = values["range"]
    return f"{values['median']:7.2f}{unit} ({low:.2f} to {high:.2f})"
