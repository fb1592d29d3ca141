"""A small model that has to look back: what task 5.7 trains."""

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

DISTANCES = (2, 6, 12)  # the model has to say which symbols stood so far back
SYMBOLS, TOKENS, WIDTH, HEADS = 8, 24, 48, 6


def make_reader(layer, window, layers):
    """Return a model that names the symbols that stood `DISTANCES` places ago.

    Parameters
    ----------
    layer : callable
        ``layer(width, heads, window)`` returns a module, (batch, tokens, width) to the
        same.
    window : int
        In tokens, the own one included.
    layers : int
        How many.

    Returns
    -------
    torch.nn.Module
        From symbols, ``(batch, tokens)``, to logits, ``(batch, tokens, distances,
        symbols)``.
    """
    from attncourse.layers.positions import SinusoidalPositionalEncoding

    return nn.Sequential(
        nn.Embedding(SYMBOLS, WIDTH),
        SinusoidalPositionalEncoding(WIDTH, max_len=TOKENS),
        *(layer(WIDTH, HEADS, window) for _ in range(layers)),
        nn.LayerNorm(WIDTH),
        nn.Linear(WIDTH, len(DISTANCES) * SYMBOLS),
        nn.Unflatten(-1, (len(DISTANCES), SYMBOLS)),
    )


def train_reader(layer, window, layers=1, *, seed=0, steps=400, progress=False):
    """Train a reader and return its share of right answers at each distance.

    Parameters
    ----------
    layer, window, layers
        As in `make_reader`.
    seed : int
        Of the initial weights and of the symbols.
    steps : int
        Of training.
    progress : bool
        Whether to show a progress bar.

    Returns
    -------
    dict of int to float
        By distance; guessing gets 1 / 8.
    """
    from attncourse.training import train

    generator = torch.Generator().manual_seed(seed)
    draw = partial(torch.randint, SYMBOLS, generator=generator)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = make_reader(layer, window, layers)
        train(
            model,
            lambda step: (draw((32, TOKENS)),),
            _loss,
            steps=steps,
            learning_rate=1e-2,
            device="cpu",  # a model as small as this one only waits for a GPU
            progress=progress,
            description=f"{layers} × window {window}",
        )
    with torch.no_grad():
        logits, answers = _question(model, draw((100, TOKENS)))
    right = (logits.argmax(-1) == answers).float().mean((0, 1))
    return dict(zip(DISTANCES, right.tolist(), strict=True))


def _question(model, symbols):
    """Return logits and answers, for the places that have an answer."""
    first = max(DISTANCES)
    back = [symbols[:, first - d : symbols.shape[1] - d] for d in DISTANCES]
    return model(symbols)[:, first:], torch.stack(back, dim=-1)


def _loss(model, symbols):
    logits, answers = _question(model, symbols)
    return F.cross_entropy(logits.flatten(0, 2), answers.flatten())
