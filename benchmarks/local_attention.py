"""Local attention against full attention: time, memory, and how much room is left.

Every figure is a ratio of two times taken one after the other in the same round of the
same process; rounds are repeated, and the table gives their median and range. In a
round each call is made CALLS times and the shortest counts, so that none pays for what
the one before it left in the caches. While time is measured, freed memory stays with
the process, as it does for smaller tensors.
Peak memory, on Linux, is that of fresh processes with the usual settings.
Run ``python benchmarks/local_attention.py --help``.
"""

import multiprocessing
from functools import partial
from itertools import product
from pathlib import Path

import torch
import torch.nn.functional as F
from measuring import (
    keep_freed_memory,
    options_of,
    ratio,
    record,
    side_by_side,
    spread,
    text_of,
)

from attncourse.layers.core import scaled_dot_product_attention
from attncourse.layers.local import local_attention, local_attention_in_blocks

HEADS, D_HEAD, WINDOWS = 8, 64, (64, 128)
LENGTHS = (512, 1024, 2048, 4096, 8192, 16384)
MEMORY_LENGTHS = (2048, 4096, 8192)
NAIVE_UP_TO = 4096  # tokens: beyond it memory grows to gigabytes
CALLS = 3  # of each contender in a round
MATMUL = 1024  # size of the square product that measures the rate of the machine


def band_mask(tokens, window):
    """Return the causal mask with `window` keys for each query, (tokens, tokens)."""
    mask = torch.ones(tokens, tokens, dtype=torch.bool).tril_()
    return mask.logical_and_(torch.ones_like(mask).triu_(1 - window))


def full(query, key, value, window):
    """Fused full causal attention; it has no window."""
    return F.scaled_dot_product_attention(query, key, value, is_causal=True)


def masked(query, key, value, window):
    """Fused full attention with the band as its mask."""
    mask = band_mask(query.shape[-2], window)
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask)


def naive(query, key, value, window):
    """Full attention written out, with the band as its mask."""
    mask = band_mask(query.shape[-2], window)
    return scaled_dot_product_attention(query, key, value, mask)[0]


def band(query, key, value, window):
    """`local_attention`."""
    return local_attention(query, key, value, window=window, causal=True)


def blocks(query, key, value, window):
    """`local_attention_in_blocks`."""
    return local_attention_in_blocks(query, key, value, window=window, causal=True)


VARIANTS = {f.__name__: f for f in (full, masked, naive, band, blocks)}


def make_inputs(tokens, backward):
    """Return query, key and value, (1, HEADS, tokens, D_HEAD), float32."""
    generator = torch.Generator().manual_seed(0)
    shape = (1, HEADS, tokens, D_HEAD)
    inputs = [torch.randn(shape, generator=generator) for _ in range(3)]
    return [t.requires_grad_(backward) for t in inputs]


def call(variant, inputs, window):
    """Call a variant, and run it backward if the inputs ask for gradients."""
    output = variant(*inputs, window)
    if inputs[0].requires_grad:
        torch.autograd.grad(output, inputs, torch.ones_like(output))


def floating_point_operations(tokens, window, backward):
    """Return what the products inside the band need, without any recomputation.

    Forward has two products, queries by keys and weights by values, of 2 · D_HEAD
    operations per pair of query and key; backward has four.
    """
    seen = min(window, tokens)
    pairs = tokens * seen - seen * (seen - 1) // 2
    return (6 if backward else 2) * 2 * D_HEAD * pairs * HEADS


def measure_time(tokens, backward, rounds, windows=WINDOWS):
    """Return one record for each window."""
    square, inputs = torch.ones(MATMUL, MATMUL), make_inputs(tokens, backward)
    calls = {"matmul": lambda: square @ square, "full": partial(call, full, inputs, 0)}
    for window, variant in product(windows, (band, blocks)):
        name = f"{variant.__name__} {window}"
        calls[name] = partial(call, variant, inputs, window)
    runs = side_by_side(calls, rounds, least_calls=CALLS)
    records = []
    for window in windows:
        work = floating_point_operations(tokens, window, backward)
        record = {"tokens": tokens, "window": window, "backward": backward}
        for name in ("band", "blocks"):
            own = f"{name} {window}"
            floor = [run[own] / run["matmul"] * 2 * MATMUL**3 / work for run in runs]
            faster, floor = ratio(runs, "full", own), spread(floor)
            record[name] = {"faster_than_full": faster, "times_the_floor": floor}
            setting = f"n = {tokens:5}  w = {window:3}  backward: {backward!s:5}  "
            found = f"{text_of(faster)}, of the floor {text_of(floor)}"
            print(f"{setting}{name:6}  faster than full {found}", flush=True)
        records.append(record)
    return records


def resident(field):
    """Return a field of this process's memory in bytes: VmRSS, now, or VmHWM, peak."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"/proc/self/status has no field {field}.")


def peak(name, tokens, backward):
    """Return the bytes above the inputs that one call needs at its peak."""
    measured = partial(call, VARIANTS[name], window=WINDOWS[0])
    measured(make_inputs(256, backward))  # libraries and threads are loaded
    inputs = make_inputs(tokens, backward)
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    before = resident("VmRSS")
    measured(inputs)
    return resident("VmHWM") - before


def measure_memory():
    """Return the peak of each variant, each in a process of its own."""
    records = []
    fresh = multiprocessing.get_context("spawn")
    for tokens, name, backward in product(MEMORY_LENGTHS, VARIANTS, (False, True)):
        if name == "naive" and tokens > NAIVE_UP_TO:
            continue
        with fresh.Pool(1) as process:
            found = process.apply(peak, (name, tokens, backward))
        record = {"tokens": tokens, "window": WINDOWS[0], "backward": backward}
        records.append(record | {"variant": name, "bytes": found})
        size = f"{found / 2**20:8.1f} MB"
        print(f"n = {tokens:5}  backward: {backward!s:5}  {name:7} {size}", flush=True)
    return records


def main():
    """Measure, print the tables, and keep the figures as JSON if asked to."""
    options = options_of(__doc__)
    result = {"heads": HEADS, "d_head": D_HEAD, "time": [], "memory": []}
    if Path("/proc/self/clear_refs").exists():
        print("Peak memory above the inputs, a fresh process each")
        result["memory"] = measure_memory()
    freed = "kept" if keep_freed_memory() else "returned"
    print("\nTime: median of the rounds (smallest to largest)")
    for backward, tokens in product((False, True), LENGTHS):
        result["time"] += measure_time(tokens, backward, options.rounds)
    record("benchmark_local", options.record, result, freed_memory=freed)


if __name__ == "__main__":
    main()
