"""A small model that has to look back: what the notebook of exercise 5 trains."""

import torch
import torch.nn.functional as F
from torch import nn

DISTANCES = (2, 6, 12)  # the model has to name the symbols that stood so far back
SYMBOLS, TOKENS, WIDTH, HEADS = 8, 24, 48, 6


def draw_symbols(batch, *, seed):
    """Return random symbols, int64, (batch, tokens)."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(SYMBOLS, (batch, TOKENS), generator=generator)


class WindowLayer(nn.Module):
    """Multi-head attention in a causal window, with a residual connection.

    `attention` is called as ``attention(query, key, value, window, causal=True)``, from
    and to ``(batch, heads, tokens, d_head)``.
    """

    def __init__(self, attention, window):
        super().__init__()
        self.attention, self.window = attention, window
        self.norm = nn.LayerNorm(WIDTH)
        self.projections = nn.Linear(WIDTH, 3 * WIDTH)
        self.output = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        """Return the layer's output, (batch, tokens, width) as `x`."""
        parts = self.projections(self.norm(x)).chunk(3, dim=-1)
        heads = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in parts)
        mixed = self.attention(*heads, self.window, causal=True)
        return x + self.output(mixed.transpose(1, 2).flatten(-2))


def make_recall_model(attention, window, layers):
    """Return a model that names the symbols that stood `DISTANCES` positions back.

    From symbols, ``(batch, tokens)``, it makes logits, ``(batch, tokens, distances,
    symbols)``, with as many `WindowLayer` as `layers` says.
    """
    from attncourse.layers.positions import SinusoidalPositionalEncoding

    return nn.Sequential(
        nn.Embedding(SYMBOLS, WIDTH),
        SinusoidalPositionalEncoding(WIDTH, max_len=TOKENS),
        *(WindowLayer(attention, window) for _ in range(layers)),
        nn.LayerNorm(WIDTH),
        nn.Linear(WIDTH, len(DISTANCES) * SYMBOLS),
        nn.Unflatten(-1, (len(DISTANCES), SYMBOLS)),
    )


def train_recall_model(
    attention, window, layers=1, *, seed=0, steps=400, progress=False
):
    """Train a recall model on random symbols; return it in evaluation mode on the CPU.

    `attention`, `window` and `layers` are those of `make_recall_model`; `seed` is that
    of the initial weights and of the symbols.
    """
    from attncourse.training import train

    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = make_recall_model(attention, window, layers)
        train(
            model,
            lambda step: (torch.randint(SYMBOLS, (32, TOKENS), generator=generator),),
            _loss,
            steps=steps,
            learning_rate=1e-2,
            device="cpu",  # for a model as small as this one a GPU is no faster
            progress=progress,
            description=f"{layers} × window {window}",
        )
    return model.eval()


def _loss(model, symbols):
    logits, losses = model(symbols), []
    for k, distance in enumerate(DISTANCES):
        asked = symbols[:, : TOKENS - distance]
        losses.append(F.cross_entropy(logits[:, distance:, k].mT, asked))
    return sum(losses)
