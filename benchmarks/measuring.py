"""What the benchmarks share: turns, ratios within a round, and where results go."""

import argparse
import ctypes
import os
import statistics
import time

import torch

from attncourse.recorded.writing import provenance, save

LEAST_SECONDS = 0.05  # shorter calls are repeated within a round
M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4  # glibc's names for what `mallopt` sets


def keep_freed_memory():
    """Let freed memory stay with this process, where its C library can; say if it does.

    By default glibc gives large blocks back as soon as they are free, so that each call
    pays anew for pages of zeros: above 32 MB a result costs more than its computation.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # macOS, Windows, musl
        return False
    return bool(mallopt(M_MMAP_MAX, 0) and mallopt(M_TRIM_THRESHOLD, 2**31 - 1))


def seconds(call, least_calls=1):
    """Return the shortest time of one call, repeated to fill LEAST_SECONDS."""
    times = []
    while len(times) < least_calls or sum(times) < LEAST_SECONDS:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def spread(values):
    """Return median and range."""
    return {"median": statistics.median(values), "range": [min(values), max(values)]}


def side_by_side(candidates, rounds, *, least_calls=1, warm_up=True):
    """Return the seconds of each candidate in each round, taken one after the other."""
    if warm_up:
        for call in candidates.values():
            call()
    return [
        {name: seconds(call, least_calls) for name, call in candidates.items()}
        for _ in range(rounds)
    ]


def ratio(runs, one, other):
    """Return median and range, over the rounds, of the time of one over another's."""
    return spread([run[one] / run[other] for run in runs])


def options_of(description):
    """Parse ``--rounds`` and ``--record``, which is None where nothing is kept."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument(
        "--record",
        nargs="?",
        const="",
        metavar="MACHINE",
        help="keep the figures; with a name, beside those of the usual machine",
    )
    return parser.parse_args()


def record(name, machine, results, **settings):
    """Write results where the package keeps them, with how they were made.

    Those of the usual machine, "", are kept under the name alone; None keeps nothing.
    """
    if machine is None:
        return
    made = provenance(
        packages=("torch", "numpy"),
        cores=os.cpu_count(),
        threads=torch.get_num_threads(),
        load_at_end=round(os.getloadavg()[0], 1),
        **settings,
    )
    save(f"{name}_{machine}" if machine else name, {"made": made, **results})


def text_of(values, unit="×"):
    """Return a median and its range as text."""
    low, high = values["range"]
    return f"{values['median']:7.2f}{unit} ({low:.2f} to {high:.2f})"
