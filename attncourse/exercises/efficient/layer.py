"""The layer of task 5.7: which tokens it depends on, and what it carries past."""

from functools import partial

import torch
from torch import nn

from attncourse.exercises.efficient.oracle import (
    CHAPTER,
    attend,
    size,
    window_mask,
)
from attncourse.exercises.seen import near
from attncourse.exercises.task import Check, Mistake

REACH = f"{CHAPTER}#how-far-can-a-stack-of-windows-see"


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


RESIDUAL = "what is left when all maps give 0"
OWN_HEADS = "features of a query that a feature of its head depends on"


def _rest(layer):
    """Say what is left of a token if all that a layer has learned gives 0.

    With a residual connection it is the token itself. A layer that norms what it
    returns has one as well, before the norm.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(2)
        model, x = layer(8, 2, 3).eval(), torch.randn(1, 5, 8)
    with torch.no_grad():
        full = model(x)
        for module in model.modules():
            for parameter in module.parameters(recurse=False):
                if not isinstance(module, nn.LayerNorm):
                    nn.init.zeros_(parameter)
        left = model(x)
    if near(left, x):
        return "the input"
    if near(left, 0 * x):
        return "nothing"
    if near(left, nn.functional.layer_norm(x, (8,))):
        normed_last = near(full, nn.functional.layer_norm(full, (8,)))
        return "the input" if normed_last else "the normed input"
    factor = (left * x).sum() / (x * x).sum()
    return "a multiple of the input" if near(left, factor * x) else "something else"


def _width_of_heads(layer):
    """Return how many features of the queries one feature before `out` depends on.

    It is the width of a head. It is found through the maps that the constructor makes,
    and taken for right where there are none of these names.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        model, x = layer(8, 2, 3).eval(), torch.randn(1, 5, 8)
    maps, out = (getattr(model, name, None) for name in ("maps", "out"))
    if not (isinstance(maps, nn.Linear) and isinstance(out, nn.Linear)):
        return 4
    joined = []
    out.register_forward_hook(lambda module, inputs, output: joined.extend(inputs))
    model(x)
    if joined and joined[0].requires_grad:
        joined[0][..., 0].sum().backward()
    if maps.weight.grad is None:
        return 0
    rows = maps.weight.grad.abs().sum(dim=1) > 1e-9
    return (int(rows.sum()) - 1) // 2  # of queries and of keys, and one of the values


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
        RESIDUAL: _rest(layer),
        OWN_HEADS: _width_of_heads(layer),
    }


def _seen_from_the_fourth_last(layers, window, tokens):
    back = tokens - 4 - torch.arange(tokens)
    return {
        "all that is made is used": True,
        "tokens that matter": (back >= 0) & (back <= layers * (window - 1)),
        RESIDUAL: "the input",
        OWN_HEADS: 4,
    }


def _faulty(**fault):
    return lambda **sizes: _influence(partial(_Layer, **fault), **sizes)


def _as_expected(seen, expected):
    """Say whether the tokens that matter are the right ones."""
    parts = (part["tokens that matter"].values.tolist() for part in (seen, expected))
    return next(parts) == next(parts)


def _leaves(left):
    return lambda seen, expected, inputs: (
        seen[RESIDUAL].text == left and _as_expected(seen, expected)
    )


LEFT = (
    (
        "nothing",
        "no residual connection",
        "The input is not added to what the maps make: without them nothing of it is "
        "left. What attention finds is news *for* a token, not a replacement of it. "
        "Add it at the very end, after `out`.",
    ),
    (
        "the normed input",
        "the normed input added",
        "What is added is the *normed* input. The residual connection carries the "
        "input past everything, as it came.",
    ),
    (
        "a multiple of the input",
        "the input added with a factor",
        "The input is added more than once, or with a factor: `x +`, once.",
    ),
    (
        "something else",
        "something else than the input added",
        "Where all maps give 0, the output should be the input as it came. Here "
        "something has been done to it on the way past the layer.",
    ),
)


STACK = Check(
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
        *(
            Mistake(name, says, when=_leaves(left), read="chapters/03_multi_head")
            for left, name, says in LEFT
        ),
        Mistake(
            "two-sided in place of causal",
            "The output depends on tokens that come later. The layer should be causal.",
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
            "The output depends on every token before it: the window has no effect.",
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
            "no gradient reaches the scores",
            "Queries and keys get no gradient: which tokens a token looks at is never "
            "learned. Look for detach, no_grad, .data, or weights that are not used.",
            when=lambda seen, expected, inputs: (
                seen[OWN_HEADS].values[0] == 0 and _as_expected(seen, expected)
            ),
            read="chapters/03_multi_head",
        ),
        Mistake(
            "another number of heads",
            "The heads have another width than width / heads. In the cut of the last "
            "axis the number of heads comes first: (heads, width of a head).",
            when=lambda seen, expected, inputs: (
                seen[OWN_HEADS].values[0] != expected[OWN_HEADS].values[0]
                and _as_expected(seen, expected)
            ),
            read="chapters/03_multi_head",
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
)
