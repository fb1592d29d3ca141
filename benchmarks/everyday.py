"""The everyday path against PyTorch's own modules, the cache, and the start-up.

Every figure is a ratio of two times taken one after the other in the same round of the
same process; rounds are repeated, and the table gives their median and range.
Run ``python benchmarks/everyday.py --help``.
"""

import argparse
import subprocess
import sys
import warnings

import torch
from measuring import add_record_option, ratio, record, side_by_side, text_of
from torch import nn
from tqdm.auto import tqdm

from attncourse import MultiHeadAttention, TranslationTransformer

BATCH, TOKENS, WIDTH, HEADS = 16, 128, 512, 8


def gradients_of(module, x, call):
    """Return a function that runs `call` forward, and backward to input and weights."""
    wanted = [x, *module.parameters()]

    def step():
        torch.autograd.grad(call().sum(), wanted)

    return step


class WrittenOut(nn.Module):
    """Multi-head attention as it is usually taught: the formula, line by line."""

    def __init__(self, width, heads):
        super().__init__()
        self.maps = nn.ModuleList(nn.Linear(width, width) for _ in range(4))
        self.heads, self.root = heads, (width // heads) ** 0.5

    def forward(self, x):
        """Return the output and the weights."""
        query, key, value = (
            part(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for part in self.maps[:3]
        )
        weights = torch.softmax(query @ key.transpose(-2, -1) / self.root, dim=-1)
        return self.maps[3]((weights @ value).transpose(1, 2).flatten(-2)), weights


def multi_head(rounds):
    """Time multi-head attention against PyTorch's, and against its projections."""
    torch.manual_seed(0)
    x = torch.randn(BATCH, TOKENS, WIDTH).requires_grad_()  # as inside a network
    ours = MultiHeadAttention(WIDTH, HEADS)
    theirs = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
    written_out = WrittenOut(WIDTH, HEADS)
    maps = written_out.maps

    def projections():
        return maps[3](maps[0](x) + maps[1](x) + maps[2](x))

    def projections_and_kernel():
        heads = (
            part(x).unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in maps[:3]
        )
        heads = nn.functional.scaled_dot_product_attention(*heads)
        return maps[3](heads.transpose(1, 2).flatten(2))

    def peer(**options):
        return gradients_of(theirs, x, lambda: theirs(x, x, x, **options)[0])

    def own(**options):
        return gradients_of(ours, x, lambda: ours(x, x, x, **options)[0])

    runs = side_by_side(
        {
            "ours": own(need_weights=False),
            "theirs": peer(need_weights=False),
            "projections": gradients_of(maps, x, projections),
            "kernel too": gradients_of(maps, x, projections_and_kernel),
            "written out": gradients_of(written_out, x, lambda: written_out(x)[0]),
            "ours, weights": own(need_weights=True),
            "theirs, weights": peer(need_weights=True, average_attn_weights=False),
        },
        rounds=rounds,
    )
    shape = f"({BATCH}, {TOKENS}, {WIDTH}), {HEADS} heads, forward and backward"
    return [
        row("multi-head attention without weights", "nn.MultiheadAttention",
            ratio(runs, "ours", "theirs"), 0.95, shape),
        row("multi-head attention without weights", "its four projections alone",
            ratio(runs, "ours", "projections"), 1.2, shape),
        row("multi-head attention without weights", "projections and PyTorch's kernel",
            ratio(runs, "ours", "kernel too"), 1.0, shape),
        row("multi-head attention without weights", "the formula written out",
            ratio(runs, "ours", "written out"), 1.0, shape),
        row("multi-head attention with weights", "nn.MultiheadAttention, all heads",
            ratio(runs, "ours, weights", "theirs, weights"), 1.0, shape),
        row("multi-head attention with weights", "the formula written out",
            ratio(runs, "ours, weights", "written out"), 1.0, shape),
    ]  # fmt: skip


def row(what, against, values, wanted, setting):
    """Return one row of the table: a ratio of times, and what was asked of it."""
    found = {"what": what, "against": against, "ratio": values, "setting": setting}
    return {**found, "at_most": wanted}


def large_translator():
    """Return an encoder–decoder of the size of the paper, with random weights."""
    torch.manual_seed(0)
    return TranslationTransformer(1000, 1000, 512, 8, 6, 6, 2048).eval()


@torch.no_grad()
def decoding(rounds, tokens=200):
    """Time greedy decoding with the cache against running the decoder anew."""
    model = large_translator()
    source = torch.randint(3, 1000, (4, 20), generator=torch.Generator().manual_seed(0))

    def with_cache():
        state, token = model.start(source), torch.full((4,), model.bos_idx)
        for _ in range(tokens):
            logits, state = model.step(token, state)
            token = logits[:, 3:].argmax(-1) + 3  # no end: all run to the same length

    def anew():
        target = torch.full((4, 1), 3)
        for _ in range(tokens):
            logits = model(source, target)
            target = torch.cat([target, logits[:, -1:, 3:].argmax(-1) + 3], dim=1)

    candidates = {"cache": with_cache, "anew": anew}
    runs = side_by_side(candidates, rounds=rounds, warm_up=False)
    setting = f"{tokens} tokens, width 512, 6 + 6 layers, 4 sentences"
    name = "greedy decoding with the cache"
    return [row(name, "running encoder and decoder for each token",
                ratio(runs, "cache", "anew"), 0.1, setting)]  # fmt: skip


class Peer(nn.Module):
    """`nn.Transformer` with embeddings and an output map, as a translator has."""

    def __init__(self, words, d_model, nhead, layers, feedforward):
        super().__init__()
        self.source = nn.Embedding(words, d_model, 0)
        self.target = nn.Embedding(words, d_model, 0)
        self.body = nn.Transformer(
            d_model, nhead, layers, layers, feedforward, 0.0,
            batch_first=True, norm_first=True,
        )  # fmt: skip
        self.output = nn.Linear(d_model, words)

    def forward(self, source, target):
        causal = nn.Transformer.generate_square_subsequent_mask(target.shape[1]).isinf()
        padding = source == 0
        x = self.body(
            self.source(source), self.target(target), tgt_mask=causal,
            tgt_is_causal=True, src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
        )  # fmt: skip
        return self.output(x)


def training_step(rounds):
    """Time a training step of our translator against one of `nn.Transformer`."""
    words, width, heads, layers, feedforward = 1000, 128, 4, 2, 256
    torch.manual_seed(0)
    ours = TranslationTransformer(
        words, words, width, heads, layers, layers, feedforward
    )
    theirs = Peer(words, width, heads, layers, feedforward)
    generator = torch.Generator().manual_seed(0)
    source = torch.randint(3, words, (64, 24), generator=generator)
    source[::2, 16:] = 0  # half of the sentences are shorter
    target = torch.randint(3, words, (64, 24), generator=generator)

    def step(model):
        optimiser = torch.optim.Adam(model.parameters(), 1e-4)

        def call():
            optimiser.zero_grad(set_to_none=True)
            logits = model(source, target)
            nn.functional.cross_entropy(
                logits.flatten(0, 1), target.flatten()
            ).backward()
            optimiser.step()

        return call

    runs = side_by_side({"ours": step(ours), "theirs": step(theirs)}, rounds=rounds)
    setting = "64 sentences of 24 tokens, width 128, 4 heads, 2 + 2 layers"
    name = "training step of TranslationTransformer"
    return [row(name, "nn.Transformer of the same size",
                ratio(runs, "ours", "theirs"), 1.0, setting)]  # fmt: skip


def start_up(rounds):
    """Time the start of the package and of the command beside that of Python alone."""

    def run(*arguments):
        command = [sys.executable, *arguments]
        return lambda: subprocess.run(command, check=True, capture_output=True)

    runs = side_by_side(
        {
            "python": run("-c", "pass"),
            "package": run("-c", "import attncourse"),
            "command": run("-m", "attncourse.cli", "--help"),
        },
        rounds=rounds,
    )
    added = {
        name: sorted(1e3 * (r[name] - r["python"]) for r in runs)
        for name in ("package", "command")
    }
    return {
        name: {"median": v[len(v) // 2], "range": [v[0], v[-1]]}
        for name, v in added.items()
    }


def main():
    """Measure, print the table, and keep the figures if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    add_record_option(parser)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    warnings.filterwarnings("ignore", message="enable_nested_tensor")
    parts = {
        multi_head: args.rounds,
        training_step: args.rounds,
        decoding: min(args.rounds, 2),  # minutes each
    }
    rows = []
    for measure, rounds in tqdm(parts.items(), desc="everyday", unit="part"):
        rows += measure(rounds)
    print("\nTime over the time of the other: median of the rounds (lowest to highest)")
    for found in rows:
        print(f"{found['what']} / {found['against']}")
        print(f"    {text_of(found['ratio'])}, wanted at most {found['at_most']}×")
    added = start_up(args.rounds)
    print("\nMilliseconds more than an empty Python")
    print(f"    import attncourse   {text_of(added['package'], ' ms')}")
    print(f"    attncourse --help   {text_of(added['command'], ' ms')}")
    if args.record is not None:
        results = {"times": rows, "start_up_ms": added}
        record("benchmark_everyday", args.record, results)


if __name__ == "__main__":
    main()
