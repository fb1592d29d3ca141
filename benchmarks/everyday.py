"""The everyday path against PyTorch's own modules, the cache, and the start-up.

Every figure is a ratio of two times taken one after the other in the same round of the
same process; rounds are repeated, and the table gives their median and range.
Everything runs on one thread. Run ``python benchmarks/everyday.py --help``.
"""

import subprocess
import sys
import warnings

import torch
from measuring import options_of, ratio, record, side_by_side, spread, text_of
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


def multi_head(rounds):
    """Time multi-head attention against PyTorch's, and against its projections."""
    torch.manual_seed(0)
    x = torch.randn(BATCH, TOKENS, WIDTH).requires_grad_()  # as inside a network
    ours = MultiHeadAttention(WIDTH, HEADS)
    theirs = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
    maps = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(4))

    def projections():
        return maps[3](maps[0](x) + maps[1](x) + maps[2](x))

    def heads():
        return [part(x).unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in maps[:3]]

    def merged(outputs):
        return maps[3](outputs.transpose(1, 2).flatten(-2))

    def projections_and_kernel():
        return merged(nn.functional.scaled_dot_product_attention(*heads()))

    def written_out():
        """Attend as it is usually taught: the formula, line by line."""
        query, key, value = heads()
        scores = query @ key.transpose(-2, -1) / (WIDTH // HEADS) ** 0.5
        return merged(torch.softmax(scores, dim=-1) @ value)

    def peer(**options):
        return gradients_of(theirs, x, lambda: theirs(x, x, x, **options)[0])

    def own(**options):
        return gradients_of(ours, x, lambda: ours(x, x, x, **options)[0])

    written = gradients_of(maps, x, written_out)
    kernel = gradients_of(maps, x, projections_and_kernel)
    setting = f"({BATCH}, {TOKENS}, {WIDTH}), {HEADS} heads, forward and backward"
    peers = {
        "nn.MultiheadAttention": (peer(need_weights=False), 0.95),
        "its four projections alone": (gradients_of(maps, x, projections), 1.2),
        "projections and PyTorch's kernel": (kernel, 1.0),
        "a naive implementation": (written, 1.0),
    }
    what, call = "multi-head attention without weights", own(need_weights=False)
    rows = compare(what, call, peers, setting, rounds)
    theirs_with_weights = peer(need_weights=True, average_attn_weights=False)
    peers = {
        "nn.MultiheadAttention, all heads": (theirs_with_weights, 1.0),
        "a naive implementation": (written, 1.0),
    }
    what, call = "multi-head attention with weights", own(need_weights=True)
    return rows + compare(what, call, peers, setting, rounds)


def compare(what, ours, peers, setting, rounds, warm_up=True):
    """Return one row of the table for each peer, {name: (call, ratio wanted)}."""
    calls = {name: call for name, (call, _) in peers.items()}
    runs = side_by_side({what: ours} | calls, rounds, warm_up=warm_up)
    rows = []
    for name, (_, wanted) in peers.items():
        row = {"what": what, "against": name, "ratio": ratio(runs, what, name)}
        rows.append(row | {"setting": setting, "at_most": wanted})
    return rows


@torch.no_grad()
def decoding(rounds, tokens=200):
    """Time greedy decoding with the cache against running the decoder anew.

    The model is an encoder–decoder of the size of the paper, with random weights.
    """
    torch.manual_seed(0)
    model = TranslationTransformer(1000, 1000, 512, 8, 6, 6, 2048).eval()
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

    peers = {"running encoder and decoder for each token": (anew, 0.1)}
    setting = f"{tokens} tokens, width 512, 6 + 6 layers, 4 sentences"
    what = "greedy decoding with the cache"
    return compare(what, with_cache, peers, setting, min(rounds, 2), warm_up=False)


class Peer(nn.Module):
    """`nn.Transformer` with embeddings and an output map, as a translator has."""

    def __init__(self, words, d_model, nhead, layers, feedforward):
        super().__init__()
        self.source = nn.Embedding(words, d_model, 0)
        self.target = nn.Embedding(words, d_model, 0)
        sizes = d_model, nhead, layers, layers, feedforward
        self.body = nn.Transformer(*sizes, 0.0, batch_first=True, norm_first=True)
        self.output = nn.Linear(d_model, words)

    def forward(self, source, target):
        causal = nn.Transformer.generate_square_subsequent_mask(target.shape[1]).isinf()
        padding = source == 0
        masks = {"src_key_padding_mask": padding, "memory_key_padding_mask": padding}
        masks |= {"tgt_mask": causal, "tgt_is_causal": True}
        x = self.body(self.source(source), self.target(target), **masks)
        return self.output(x)


def training_step(rounds):
    """Time a training step of our translator against one of `nn.Transformer`."""
    words = 1000
    torch.manual_seed(0)
    ours = TranslationTransformer(words, words, 128, 4, 2, 2, 256)
    theirs = Peer(words, 128, 4, 2, 256)
    generator = torch.Generator().manual_seed(0)
    source = torch.randint(3, words, (64, 24), generator=generator)
    source[::2, 16:] = 0  # half of the sentences are shorter
    target = torch.randint(3, words, (64, 24), generator=generator)

    def step(model):
        optimiser = torch.optim.Adam(model.parameters(), 1e-4)

        def call():
            optimiser.zero_grad(set_to_none=True)
            logits = model(source, target).flatten(0, 1)
            nn.functional.cross_entropy(logits, target.flatten()).backward()
            optimiser.step()

        return call

    peers = {"nn.Transformer of the same size": (step(theirs), 1.0)}
    setting = "64 sentences of 24 tokens, width 128, 4 heads, 2 + 2 layers"
    what = "training step of TranslationTransformer"
    return compare(what, step(ours), peers, setting, rounds)


def start_up(rounds):
    """Time the start of the package and of the command beside that of Python alone."""

    def run(*arguments):
        command = [sys.executable, *arguments]
        return lambda: subprocess.run(command, check=True, capture_output=True)

    package = run("-c", "import attncourse")
    command = run("-m", "attncourse.cli", "--help")
    starts = {"python": run("-c", "pass"), "package": package, "command": command}
    runs = side_by_side(starts, rounds)
    return {
        name: spread([1e3 * (run[name] - run["python"]) for run in runs])
        for name in ("package", "command")
    }


def main():
    """Measure, print the table, and keep the figures if asked to."""
    options = options_of(__doc__)
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", message="enable_nested_tensor")
    parts, rows = (multi_head, training_step, decoding), []
    for measure in tqdm(parts, desc="everyday", unit="part"):
        rows += measure(options.rounds)
    print("\nTime over the time of the other: median of the rounds (lowest to highest)")
    for found in rows:
        print(f"{found['what']} / {found['against']}")
        print(f"    {text_of(found['ratio'])}, wanted at most {found['at_most']}×")
    added = start_up(options.rounds)
    print("\nMilliseconds more than an empty Python")
    print(f"    import attncourse   {text_of(added['package'], ' ms')}")
    print(f"    attncourse --help   {text_of(added['command'], ' ms')}")
    results = {"times": rows, "start_up_ms": added}
    record("benchmark_everyday", options.record, results)


if __name__ == "__main__":
    main()
