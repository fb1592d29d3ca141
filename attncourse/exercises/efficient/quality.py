"""Task 5.7: what a window does to a model whose task needs a certain reach."""

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from attncourse.exercises.efficient.oracle import (
    CHAPTER,
    attend,
    size,
    window_mask,
)
from attncourse.exercises.task import Check, Mistake, Task

__all__ = ["DISTANCES", "train_reader"]

REACH = f"{CHAPTER}#how-far-can-a-stack-of-windows-see"
QUALITY_SECTION = f"{CHAPTER}#what-does-the-window-do-to-quality"
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


class _Layer(nn.Module):
    """The layer that is asked for, or one with a fault."""

    def __init__(self, width, heads, window, mask_of=None, split=None, join=None):
        super().__init__()
        self.maps, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.heads, self.window = heads, window
        self.mask_of = mask_of or (lambda n, w: window_mask(n, w, True))
        self.split, self.join = split or _split, join or _join

    def forward(self, x):
        parts = (self.split(t, self.heads) for t in self.maps(x).chunk(3, dim=-1))
        mixed = attend(*parts, self.mask_of(x.shape[1], self.window))
        return x + self.out(self.join(mixed))


def _split(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def _join(x):
    return x.transpose(1, 2).flatten(-2)


def _bad_split(x, heads):
    batch, tokens, width = x.shape
    return x.reshape(batch, heads, tokens, width // heads)


def _bad_join(x):
    batch, heads, tokens, d_head = x.shape
    return x.reshape(batch, tokens, heads * d_head)


def _stack(generator):
    layers, window = size(generator, 1, 2), size(generator, 2, 4)
    return {"layers": layers, "window": window, "tokens": size(generator, 12, 14)}


def _influence(layer, layers, window, tokens):
    """Say which of the tokens the output at the fourth last place depends on."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = nn.Sequential(*(layer(8, 2, window) for _ in range(layers)))
        x = torch.randn(1, tokens, 8, requires_grad=True)
    model.eval()
    output = model(x)
    if output.shape != x.shape:
        return {"shape of the output": torch.tensor(output.shape)}
    (output[0, -4] * torch.linspace(1, 2, 8) ** 2).sum().backward()
    slopes = [parameter.grad for parameter in model.parameters()]
    return {
        "all that is made is used": all(s is not None and s.any() for s in slopes),
        "tokens that matter": (x.grad[0] != 0).any(-1),
        "the input is part of the output": _own_share(layer) > 0.4,
    }


def _own_share(layer):
    """Return how far the features of a lone token move with its own input.

    With a residual connection about 1; without one about 0, before any training.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        lone, token = layer(8, 2, 3).eval(), torch.randn(1, 1, 8)
    slopes = torch.autograd.functional.jacobian(lone, token).reshape(8, 8)
    return slopes.diagonal().mean().item()


def _seen_from_the_fourth_last(layers, window, tokens):
    back = tokens - 4 - torch.arange(tokens)
    return {
        "all that is made is used": True,
        "tokens that matter": (back >= 0) & (back <= layers * (window - 1)),
        "the input is part of the output": True,
    }


def _faulty(**fault):
    return lambda **sizes: _influence(partial(_Layer, **fault), **sizes)


def _answers(reach, layer):
    found = train_reader(layer, window=7, layers=1, steps=220)
    return {f"right at distance {d}": share > 0.5 for d, share in found.items()}


QUALITY = Task(
    name="quality",
    title="What the window does to a model",
    names=("reach", "LocalLayer"),
    difficulty="medium",
    minutes=20,
    needs=("local",),
    checks=(
        Check(
            "the reach of a stack of layers",
            0.5,
            inputs=lambda generator: {
                "layers": size(generator, 2, 6),
                "window": size(generator, 3, 9),
            },
            ask=lambda reach, layer, layers, window: reach(layers, window),
            expected=lambda layers, window: layers * (window - 1),
            mistakes=(
                Mistake(
                    "own key counted as a step",
                    "A window of w, the own key included, reaches w − 1 back, and each "
                    "layer starts from where the one before has ended.",
                    wrong=lambda layers, window: layers * window,
                    read=REACH,
                ),
                Mistake(
                    "one layer only",
                    "This is the reach of one layer. The next layer reads vectors that "
                    "have already read.",
                    when=lambda seen, expected, inputs: (
                        seen["result"].values[0]
                        in (inputs["window"], inputs["window"] - 1)
                    ),
                    read=REACH,
                ),
                Mistake(
                    "reaches multiplied",
                    "The reaches of the layers are multiplied. They add up.",
                    when=lambda seen, expected, inputs: (
                        seen["result"].values[0]
                        in (
                            inputs["window"] ** inputs["layers"],
                            (inputs["window"] - 1) ** inputs["layers"],
                        )
                    ),
                    read=REACH,
                ),
                Mistake(
                    "own place counted",
                    "This counts the tokens that are seen, the own one included. The "
                    "reach is the distance to the farthest of them.",
                    wrong=lambda layers, window: layers * (window - 1) + 1,
                    read=REACH,
                ),
            ),
        ),
        Check(
            "a stack of your layers depends on the tokens within its reach, no others",
            0.5,
            gradients=True,
            inputs=_stack,
            ask=lambda reach, layer, **sizes: _influence(layer, **sizes),
            expected=_seen_from_the_fourth_last,
            mistakes=(
                Mistake(
                    "a layer that is never used",
                    "Something that the constructor makes is never used: no gradient "
                    "reaches it, so it learns nothing. Go through `norm`, `maps` and "
                    "`out`: where does each of them act?",
                    when=lambda seen, expected, inputs: (
                        not seen["all that is made is used"].values.all()
                        and seen["tokens that matter"].values.tolist()
                        == expected["tokens that matter"].values.tolist()
                    ),
                    read="chapters/03_multi_head",
                ),
                Mistake(
                    "no residual connection",
                    "A token's output hardly follows its own input: the input is not "
                    "added. What attention finds is news *for* a token, not a "
                    "replacement of it.",
                    when=lambda seen, expected, inputs: (
                        not seen["the input is part of the output"].values.all()
                        and seen["tokens that matter"].values.tolist()
                        == expected["tokens that matter"].values.tolist()
                    ),
                    read="chapters/03_multi_head",
                ),
                Mistake(
                    "two-sided in place of causal",
                    "The output depends on tokens that come later. The layer should be "
                    "causal.",
                    wrong=_faulty(mask_of=lambda n, w: window_mask(n, w, False)),
                    read=REACH,
                ),
                Mistake(
                    "window larger by one",
                    "The layer sees one token more than its window.",
                    wrong=_faulty(mask_of=lambda n, w: window_mask(n, w + 1, True)),
                    read=REACH,
                ),
                Mistake(
                    "window smaller by one",
                    "The layer sees one token less than its window.",
                    wrong=_faulty(mask_of=lambda n, w: window_mask(n, w - 1, True)),
                    read=REACH,
                ),
                Mistake(
                    "no window",
                    "The output depends on every token before it: the window has no "
                    "effect.",
                    wrong=_faulty(mask_of=lambda n, w: window_mask(n, n, True)),
                    read=REACH,
                ),
                *(
                    Mistake(
                        "heads cut across the tokens",
                        "The dependence makes no sense as a window. Do the heads split "
                        "the features, or have tokens become heads? Changing a shape "
                        "is not the same as exchanging axes.",
                        wrong=_faulty(**fault),
                        read="chapters/03_multi_head",
                    )
                    for fault in (
                        {"split": _bad_split, "join": _bad_join},
                        {"split": _bad_split},
                        {"join": _bad_join},
                    )
                ),
                Mistake(
                    "nothing but the own token",
                    "The output depends on its own token only. Does what attention "
                    "returns reach the output?",
                    when=lambda seen, expected, inputs: (
                        seen["tokens that matter"].values.sum() == 1
                    ),
                ),
            ),
        ),
        Check(
            "one layer of window 7 learns the distances 2 and 6, and cannot learn 12",
            1,
            ask=_answers,
            expected=lambda: {f"right at distance {d}": d <= 6 for d in DISTANCES},
            mistakes=(
                Mistake(
                    "nothing is learned",
                    "The model guesses at every distance. Does what attention returns "
                    "reach the output, and does the gradient reach the weights?",
                    when=lambda seen, expected, inputs: all(
                        part.kind == "bool" and not part.values.any()
                        for part in seen.values()
                    ),
                    read=QUALITY_SECTION,
                ),
                Mistake(
                    "sees beyond its window",
                    "The model answers at distance 12, which one layer of window 7 "
                    "cannot see.",
                    when=lambda seen, expected, inputs: bool(
                        seen["right at distance 12"].values[0]
                    ),
                    read=QUALITY_SECTION,
                ),
                Mistake(
                    "does not see its whole window",
                    "The model answers near questions only. Distance 6 is the oldest "
                    "key of a window of 7.",
                    when=lambda seen, expected, inputs: bool(
                        seen["right at distance 2"].values[0]
                    ),
                    read=QUALITY_SECTION,
                ),
            ),
            once=True,
        ),
    ),
)
