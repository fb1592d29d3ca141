"""Local attention against full attention: time, memory, and how much room is left.

Every figure is a ratio of two times taken one after the other in the same round of the
same process; rounds are repeated, and the table gives their median and range. In a
round each call is made CALLS times and the shortest counts, so that none pays for what
the one before it left in the caches. While time is measured, freed memory stays with
the process, as it does for smaller tensors.
Peak memory is that of fresh processes with the usual settings.
Run ``python benchmarks/local_attention.py --help``.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from measuring import add_record_option, keep_freed_memory, seconds, spread
from measuring import record as keep

from attncourse.layers.core import scaled_dot_product_attention
from attncourse.layers.local import local_attention, local_attention_in_blocks

HEADS, D_HEAD, WINDOW = 8, 64, 64
LENGTHS = [512, 1024, 2048, 4096, 8192, 16384]
MEMORY_LENGTHS = [2048, 4096, 8192]
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


def make_inputs(tokens, requires_grad=False):
    """Return query, key and value, (1, HEADS, tokens, D_HEAD), float32."""
    generator = torch.Generator().manual_seed(0)
    shape = (1, HEADS, tokens, D_HEAD)
    inputs = [torch.randn(shape, generator=generator) for _ in range(3)]
    return [t.requires_grad_(requires_grad) for t in inputs]


def floating_point_operations(tokens, window, backward):
    """Return what the products inside the band need, without any recomputation.

    Forward has two products, queries by keys and weights by values, of 2 · D_HEAD
    operations per pair of query and key; backward has four.
    """
    seen = min(window, tokens)
    pairs = tokens * seen - seen * (seen - 1) // 2
    return (6 if backward else 2) * 2 * D_HEAD * pairs * HEADS


def time_round(tokens, windows, backward):
    """Return the seconds of each contender, measured one after the other."""
    inputs = make_inputs(tokens, requires_grad=backward)
    upstream = torch.ones_like(inputs[0])

    def call(variant, window):
        if not backward:
            return lambda: variant(*inputs, window)
        return lambda: torch.autograd.grad(variant(*inputs, window), inputs, upstream)

    square = torch.ones(MATMUL, MATMUL)
    calls = {"matmul": lambda: square @ square, "full": call(full, 0)}
    for window in windows:
        calls[f"band {window}"] = call(band, window)
        calls[f"blocks {window}"] = call(blocks, window)
    return {name: seconds(run, CALLS) for name, run in calls.items()}


def measure_time(lengths, windows, rounds, backward):
    """Return one record for each length and window."""
    records = []
    for tokens in lengths:
        time_round(min(tokens, 2048), windows, backward)  # warm up
        runs = [time_round(tokens, windows, backward) for _ in range(rounds)]
        for window in windows:
            work = floating_point_operations(tokens, window, backward)
            floors = [run["matmul"] * work / (2 * MATMUL**3) for run in runs]
            record = {"tokens": tokens, "window": window, "backward": backward}
            for name in ("band", "blocks"):
                times = [run[f"{name} {window}"] for run in runs]
                pairs = list(zip(runs, times, floors, strict=True))
                record[name] = {
                    "milliseconds": spread([1e3 * t for t in times]),
                    "faster_than_full": spread(
                        [run["full"] / t for run, t, _ in pairs]
                    ),
                    "times_the_floor": spread([t / floor for _, t, floor in pairs]),
                }
            record["full_milliseconds"] = spread([1e3 * run["full"] for run in runs])
            records.append(record)
            show_time(record)
    return records


def show_time(record):
    """Print one line of the table of times."""

    def text(values, unit):
        low, high = values["range"]
        return f"{values['median']:6.1f}{unit} ({low:5.1f} to {high:5.1f})"

    kind = "forward + backward" if record["backward"] else "forward"
    own = record["band"]
    print(
        f"{kind:18} n = {record['tokens']:5}  w = {record['window']:3}  "
        f"{own['milliseconds']['median']:7.1f} ms  "
        f"faster than full {text(own['faster_than_full'], '×')}  "
        f"of the floor {text(own['times_the_floor'], '×')}  in blocks: faster "
        f"{text(record['blocks']['faster_than_full'], '×')}",
        flush=True,
    )


def resident(field):
    """Return a field of this process's memory in bytes: VmRSS, now, or VmHWM, peak."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"/proc/self/status has no field {field}.")


def peak_of_this_process(name, tokens, window, backward):
    """Return the bytes above the inputs that one call needs at its peak."""
    variant = VARIANTS[name]

    def call(inputs):
        output = variant(*inputs, window)
        if backward:
            return torch.autograd.grad(output, inputs, torch.ones_like(output))
        return output

    call(make_inputs(256, backward))  # libraries and threads are loaded
    inputs = make_inputs(tokens, backward)
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    before = resident("VmRSS")
    result = call(inputs)
    del result
    return resident("VmHWM") - before


def measure_memory(lengths, window, threads, naive_up_to):
    """Return the peak of each variant, each in a process of its own."""
    if not Path("/proc/self/clear_refs").exists():
        print("Peak memory is measured on Linux only.")
        return []
    records = []
    for tokens in lengths:
        for name in VARIANTS:
            for backward in (False, True):
                if name == "naive" and tokens > naive_up_to:
                    continue
                job = [name, str(tokens), str(window), str(int(backward)), str(threads)]
                run = subprocess.run(
                    [sys.executable, __file__, "--peak", *job],
                    check=True,
                    capture_output=True,
                    text=True,
                )
                record = {"tokens": tokens, "window": window, "backward": backward}
                record |= {"variant": name, "bytes": int(run.stdout)}
                records.append(record)
                kind = "forward + backward" if backward else "forward"
                size = record["bytes"] / 2**20
                print(f"{kind:18} n = {tokens:5}  {name:7} {size:8.1f} MB", flush=True)
    return records


def main():
    """Measure, print the tables, and keep the figures as JSON if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lengths", type=int, nargs="+", default=LENGTHS)
    parser.add_argument("--windows", type=int, nargs="+", default=[WINDOW, 2 * WINDOW])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--memory", type=int, nargs="*", default=MEMORY_LENGTHS)
    parser.add_argument("--naive-up-to", type=int, default=4096, help="tokens")
    add_record_option(parser)
    parser.add_argument("--peak", nargs=5, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.peak:
        name, tokens, window, backward, threads = args.peak
        torch.set_num_threads(int(threads))
        print(peak_of_this_process(name, int(tokens), int(window), backward == "1"))
        return
    torch.set_num_threads(args.threads)
    kept = keep_freed_memory()
    result = {"heads": HEADS, "d_head": D_HEAD, "time": []}
    print("Time: median of the rounds (smallest to largest)")
    for backward in (False, True):
        result["time"] += measure_time(
            args.lengths, args.windows, args.rounds, backward
        )
    print("\nPeak memory above the inputs, a fresh process each")
    result["memory"] = measure_memory(
        args.memory, args.windows[0], args.threads, args.naive_up_to
    )
    if args.record is not None:
        freed = "kept" if kept else "returned"
        keep("benchmark_local", args.record, result, freed_memory=freed)


if __name__ == "__main__":
    main()
