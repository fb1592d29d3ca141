"""Local attention on a GPU, against FlexAttention and full fused attention.

Every figure is a ratio of two times taken one after the other in the same round of the
same process, in bfloat16, forward and backward. As in training, calls are queued: one
waits for the GPU after ten. FlexAttention computes the same band by a compiled kernel.
Without a GPU this says so and ends.
Run ``python benchmarks/on_gpu.py --help``.
"""

from functools import partial
from itertools import product

import torch
import torch.nn.functional as F
from measuring import options_of, ratio, record, side_by_side, text_of
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from tqdm.auto import tqdm

from attncourse.layers.local import local_attention

WINDOW = 512
SIZES = [(8, 64), (32, 128)]  # heads, d_head: a small model; LLaMA 7B
QUEUED = 10
LENGTHS = [4096, 8192, 16384, 32768]
BACK_ENDS = {
    "flash": SDPBackend.FLASH_ATTENTION,
    "memory-efficient": SDPBackend.EFFICIENT_ATTENTION,
    "cuDNN": SDPBackend.CUDNN_ATTENTION,
}


def local(query, key, value):
    """Local attention of the course."""
    return local_attention(query, key, value, window=WINDOW, causal=True)


def by_flex(tokens):
    """Return local attention by FlexAttention, compiled for one length."""

    def near(batch, head, i, j):
        return (j <= i) & (i - j < WINDOW)

    mask = create_block_mask(near, None, None, tokens, tokens, device="cuda")
    return partial(torch.compile(flex_attention, fullgraph=True), block_mask=mask)


def fused(query, key, value, back_end=None):
    """Full causal attention by the back end that PyTorch chooses, or by one."""
    full = partial(F.scaled_dot_product_attention, query, key, value, is_causal=True)
    if back_end is None:
        return full()
    with sdpa_kernel(back_end):
        return full()


def steps_of(function, inputs):
    """Return a call that runs forward and backward QUEUED times, and then waits."""
    upstream = torch.ones_like(inputs[2])

    def steps():
        for _ in range(QUEUED):
            torch.autograd.grad(function(*inputs), inputs, upstream)
        torch.cuda.synchronize()

    return steps


def measure(size, tokens, rounds):
    """Return one row: how many times faster local attention is than each other way."""
    generator = torch.Generator().manual_seed(0)
    heads, d_head = size
    shape = (3, 1, heads, tokens, d_head)
    drawn = torch.randn(shape, generator=generator).to("cuda", torch.bfloat16)
    inputs = [x.clone().requires_grad_() for x in drawn]
    ways = {"local": local, "FlexAttention": by_flex(tokens), "fused": fused}
    ways |= {name: partial(fused, back_end=end) for name, end in BACK_ENDS.items()}
    steps = {name: steps_of(way, inputs) for name, way in ways.items()}
    for name in BACK_ENDS:
        try:
            steps[name]()
        except RuntimeError:  # not every GPU has every back end
            del steps[name]
    runs = side_by_side(steps, rounds)
    faster = {name: ratio(runs, name, "local") for name in steps if name != "local"}
    return {"heads": heads, "d_head": d_head, "tokens": tokens, "faster_than": faster}


def main():
    """Measure, print the table, and keep the figures if asked to."""
    options = options_of(__doc__)
    if not torch.cuda.is_available():
        print("There is no GPU here: nothing was measured on one.")
        return
    cases = tqdm([*product(SIZES, LENGTHS)], desc="on the GPU")
    rows = [measure(*case, options.rounds) for case in cases]
    print(f"\nTime over that of local attention, window {WINDOW}, forward + backward")
    for row in rows:
        for name, found in row["faster_than"].items():
            case = f"{row['heads']:2} heads of {row['d_head']:3}, n = {row['tokens']:5}"
            print(f"{case}  {name:16} {text_of(found)}")
    gpu = torch.cuda.get_device_name()
    results = {"gpu": gpu, "window": WINDOW, "times": rows}
    record("benchmark_gpu", options.record, results)


if __name__ == "__main__":
    main()
