"""What a smaller cache costs in quality, and the learning rate of linear attention.

    python experiments/efficient.py              all of it, seeds 0 to 2
    python experiments/efficient.py --seeds 0    one seed only

- "cache": language models over the bytes of Jane Austen's novels, alike but for their
  attention: multi-head, grouped-query, multi-query, latent, and none. The feed-forward
  networks are widened until all have as many parameters. Measured in bits per byte of
  the test part.
- "recall": the models of the section on linear attention, at several learning rates;
  the share of answers that are right, by number of pairs.

The results are written to attncourse/recorded/efficient.json after each run; runs that
are there already are kept, unless --again is given.
"""

import math
from functools import cache, partial

import torch
import torch.nn.functional as F
from recording import Recorder, fit, next_loss, parser_of, size_of
from torch import nn

from attncourse import MultiHeadAttention, create_causal_mask, seed_everything
from attncourse.data.novels import load_novels, split_texts
from attncourse.data.symbols import associative_recall_batch
from attncourse.layers.core import fused_attention
from attncourse.layers.latent import LatentAttention
from attncourse.layers.linear import linear_attention

WIDTH, HEADS, LAYERS, CONTEXT = 96, 6, 2, 64
STEPS, BATCH, RATE = 600, 8, 3e-3
KEYS, VALUES, PAIRS = 128, 16, (4, 8, 16, 32, 64, 128)
RECALL_RATES = (0.01, 0.03, 0.1, 0.3)

shared = partial(MultiHeadAttention, WIDTH, HEADS, bias=False, rotary=True)
latent = partial(LatentAttention, WIDTH, HEADS, rotary_dim=8)
ATTENTION = {
    "multi-head": shared,
    "grouped-query": partial(shared, num_kv_heads=2),
    "multi-query": partial(shared, num_kv_heads=1),
    "latent, 64": partial(latent, latent_dim=56),
    "latent, 32": partial(latent, latent_dim=24),
    "none": nn.Identity,
}
CONTESTANTS = {  # of the recall, with the widths of queries and keys
    "softmax, width 16": (fused_attention, 16),
    "linear, width 16": (linear_attention, 16),
    "linear, width 64": (linear_attention, 64),
}


class Block(nn.Module):
    """Attention of one kind and a feed-forward network, each added to its input."""

    def __init__(self, name, feedforward_dim):
        super().__init__()
        self.norm, self.attention = nn.RMSNorm(WIDTH), ATTENTION[name]()
        self.feedforward = nn.Sequential(
            nn.RMSNorm(WIDTH),
            nn.Linear(WIDTH, feedforward_dim, bias=False),
            nn.GELU(),
            nn.Linear(feedforward_dim, WIDTH, bias=False),
        )

    def forward(self, x, mask):
        """Return `x` and what the two parts add to it."""
        y = self.norm(x)
        if isinstance(self.attention, MultiHeadAttention):
            x = x + self.attention(y, y, y, mask, need_weights=False)[0]
        elif isinstance(self.attention, LatentAttention):
            x = x + self.attention(y, mask)[0]
        return x + self.feedforward(x)


class Bytes(nn.Module):
    """A language model over bytes."""

    def __init__(self, name, feedforward_dim):
        super().__init__()
        self.embedding = nn.Embedding(256, WIDTH)
        nn.init.normal_(self.embedding.weight, std=0.08)
        self.blocks = nn.ModuleList(Block(name, feedforward_dim) for _ in range(LAYERS))
        self.norm = nn.RMSNorm(WIDTH)

    def forward(self, ids):
        """Return the logits of each next byte."""
        x, mask = self.embedding(ids), create_causal_mask(ids.shape[1])
        for block in self.blocks:
            x = block(x, mask)
        return self.norm(x) @ self.embedding.weight.T


def model_of(name):
    """Return a model with as many parameters as the one with multi-head attention."""
    wanted = size_of(Bytes("multi-head", 4 * WIDTH))
    missing = wanted - size_of(Bytes(name, 0))
    return Bytes(name, round(missing / (2 * WIDTH * LAYERS)))


def cached(model):
    """Return the elements that one layer keeps of each token, counted."""
    attention, x = model.blocks[0].attention, torch.zeros(1, 7, WIDTH)
    if isinstance(attention, MultiHeadAttention):
        return sum(kept.numel() for kept in attention.project(x, x)) // 7
    return attention.project(x).numel() // 7


@cache
def text():
    """Return the bytes of the novels: training, test."""
    parts = split_texts(load_novels())
    return [
        torch.frombuffer(bytearray(part.encode()), dtype=torch.uint8).long()
        for part in (parts.train, parts.test)
    ]


def bits_per_byte(attention, seed):
    """Train one model and return what was measured."""
    train_ids, test_ids = text()
    generator = torch.Generator().manual_seed(seed)

    def batch_of(step):
        starts = torch.randint(len(train_ids) - CONTEXT, (BATCH,), generator=generator)
        return (torch.stack([train_ids[i : i + CONTEXT + 1] for i in starts]),)

    seed_everything(seed)
    model = model_of(attention)
    fit(model, batch_of, next_loss, steps=STEPS, learning_rate=RATE)
    windows = test_ids[: 400 * (CONTEXT + 1)].view(400, -1)
    with torch.no_grad():
        loss = sum(next_loss(model, part).item() for part in windows.split(50)) / 8
    return {
        "parameters": size_of(model),
        "cached": 0 if attention == "none" else cached(model),
        "bits_per_byte": round(loss / math.log(2), 4),
    }


class Recall(nn.Module):
    """Look up the value of a key among pairs: one attention, and no more."""

    def __init__(self, attend, width):
        super().__init__()
        self.attend, symbols = attend, KEYS + VALUES + 1
        self.query, self.key = (nn.Embedding(symbols, width) for _ in "qk")
        self.value, self.out = nn.Embedding(symbols, 32), nn.Linear(32, symbols)

    def forward(self, row):
        """Return the logits of the answer; `row` is k1 v1 k2 v2 … kn vn q."""
        key, value = self.key(row[:, :-1:2]), self.value(row[:, 1::2])
        return self.out(self.attend(self.query(row[:, -1:]), key, value)[:, 0])


def recalled(name, rate, seed):
    """Train on all numbers of pairs; return the part that is right for each."""
    draw = partial(associative_recall_batch, num_keys=KEYS, num_values=VALUES)
    seed_everything(seed)
    model = Recall(*CONTESTANTS[name])
    fit(
        model,
        lambda step: draw(64, PAIRS[step % 6], seed=1000 * seed + step)[:2],
        lambda model, row, answer: F.cross_entropy(model(row), answer),
        steps=600,
        learning_rate=rate,
    )
    shares = []
    for pairs in PAIRS:
        row, answer, _ = draw(400, pairs, seed=1_000_000)
        shares.append((model(row).argmax(-1) == answer).float().mean().item())
    return {"right": [round(share, 4) for share in shares]}


def main():
    """Measure what is not recorded yet, and save after each row."""
    options = parser_of(__doc__).parse_args()
    settings = {"steps": STEPS, "batch": BATCH, "learning_rate": RATE}
    settings |= {"context": CONTEXT, "width": WIDTH, "heads": HEADS, "layers": LAYERS}
    rows = Recorder("efficient", options, fields={"pairs": PAIRS}, **settings)
    seeds = options.seeds
    rows.rows("recall", recalled, name=CONTESTANTS, rate=RECALL_RATES, seed=seeds)
    rows.rows("cache", bits_per_byte, attention=ATTENTION, seed=seeds)


if __name__ == "__main__":
    main()
