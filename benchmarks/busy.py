"""Local attention against full attention on a quiet machine, and on a busy one.

As in ``local_attention.py``, first with nothing beside it that computes, then beside
OTHERS processes that do nothing else, both in one run.
Run ``python benchmarks/busy.py --help``.
"""

import multiprocessing
from itertools import product

import torch
from local_attention import MATMUL, measure_time
from measuring import keep_freed_memory, options_of, record

LENGTHS, WINDOWS, OTHERS = (2048, 4096), (64, 128, 256), 4


def compute():
    """Compute until the process is ended."""
    torch.set_num_threads(1)
    square = torch.ones(MATMUL, MATMUL)
    while True:
        square @ square


def measure(rounds):
    """Return the records of all lengths and windows, forward and with backward."""
    return [
        row
        for tokens, backward in product(LENGTHS, (False, True))
        for row in measure_time(tokens, backward, rounds, WINDOWS)
    ]


def main():
    """Measure, print the figures, and keep them if asked to."""
    options = options_of(__doc__)
    keep_freed_memory()
    print("Nothing beside it")
    results = {"others": OTHERS, "quiet": measure(options.rounds)}
    fresh = multiprocessing.get_context("spawn")
    others = [fresh.Process(target=compute, daemon=True) for _ in range(OTHERS)]
    for other in others:
        other.start()
    print(f"\nBeside {OTHERS} processes that compute")
    results["busy"] = measure(options.rounds)
    for other in others:
        other.terminate()
    record("benchmark_busy", options.record, results)


if __name__ == "__main__":
    main()
