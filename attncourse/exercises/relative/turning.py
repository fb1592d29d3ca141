"""Exercise 4, sixth part: what comes out of a turn."""

from __future__ import annotations

import math

import torch

from attncourse.exercises.relative.distances import size
from attncourse.exercises.task import Check, Mistake

READ = "chapters/04_positional_encoding#rotary-turn-then-compare"


def _vectors(generator):
    heads, tokens, width = (size(generator, *ends) for ends in ((1, 2), (3, 4), (2, 3)))
    return {"x": torch.randn(1, heads, tokens, 2 * width, generator=generator)}


def _turned(x, first=0, base=10000.0, unit=1.0, rates=None):
    """Return x with each pair turned by a position times a rate: the reference."""
    tokens, width = x.shape[-2:]
    pairs = torch.arange(width // 2, dtype=torch.float64)
    rates = base ** (-2 * pairs / width) if rates is None else rates(pairs, width)
    angles = unit * (first + torch.arange(tokens).double())[:, None] * rates
    complex_pairs = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)))
    turned = complex_pairs * torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(turned).flatten(-2).float()


def _exchanged(x):
    """Turn by 90 degrees less the angle: cosine and sine have changed places."""
    turned = _turned(x, unit=-1.0).double().unflatten(-1, (-1, 2))
    return torch.stack([-turned[..., 1], turned[..., 0]], -1).flatten(-2).float()


def _halves(x, **changes):
    """Turn feature i with feature i + d/2, the other convention."""
    interleaved = x.unflatten(-1, (2, -1)).transpose(-2, -1).flatten(-2)
    turned = _turned(interleaved.contiguous(), **changes)
    return turned.unflatten(-1, (-1, 2)).transpose(-2, -1).flatten(-2)


def _swapped(x):
    """Exchange the two features of each pair."""
    return x.unflatten(-1, (-1, 2)).flip(-1).flatten(-2)


def _overwritten(x):
    """Turn in place: the second feature of a pair sees the first one turned."""
    sin, cos = _sinusoids(x).unflatten(-1, (-1, 2)).unbind(-1)
    first, second = x.unflatten(-1, (-1, 2)).unbind(-1)
    first = first * cos - second * sin
    second = first * sin + second * cos
    return torch.stack([first, second], dim=-1).flatten(-2)


def _sinusoids(x):
    """Return what the sinusoidal encoding would add."""
    return _turned(torch.tensor([0.0, 1.0]).repeat(x.shape[-1] // 2).expand_as(x)) * (
        torch.tensor([-1.0, 1.0]).repeat(x.shape[-1] // 2)
    )


def _pairs_change(seen, expected, inputs):
    """Say whether some pair of features has another length than it should."""
    lengths = [
        (parts["result"].values.reshape(-1, 2) ** 2).sum(axis=1)
        for parts in (seen, expected)
    ]
    return abs(lengths[0] - lengths[1]).max() > 0.1


def _pairs_keep_length(seen, expected, inputs):
    """Say whether the pairs are turned, if by other angles."""
    if any(part.text.startswith("changed") for part in seen.values()):
        return False
    shapes = seen["result"].shape == expected["result"].shape
    return shapes and not _pairs_change(seen, expected, inputs)


def _same_angle(pairs, width):
    return torch.ones_like(pairs)


TURNING = Check(
    "features 0 and 1, 2 and 3, ... turn together, each pair at its own rate",
    1,
    inputs=_vectors,
    ask=lambda rotate, x: rotate(x),
    expected=_turned,
    tolerance=1e-3,
    pure=True,
    mistakes=(
        Mistake(
            "built for one number of axes",
            "The answer names all axes of `x`, and other numbers of axes are "
            "errors. Tokens and features are the last two, whatever stands "
            "in front.",
            when=lambda seen, expected, inputs: (
                "values to unpack" in seen["result"].text
            ),
            read=READ,
        ),
        Mistake(
            "pairs of halves",
            "Feature i is paired with feature i + d/2. Much code does so, and "
            "it works as well; but it is the other convention, and weights "
            "trained with one do not fit the other. Here features 0 and 1 are "
            "a pair, 2 and 3 the next.",
            wrong=_halves,
            read=READ,
        ),
        Mistake(
            "turned the other way",
            "The pairs turn clockwise: the signs of the sines are the wrong "
            "way round. Scores would still depend on the distance, but "
            "the result is not that of the formula.",
            wrong=lambda x: _turned(x, unit=-1.0),
            read=READ,
        ),
        Mistake(
            "angles in degrees",
            "The pairs turn by degrees instead of radians: some sixty times "
            "too slowly.",
            wrong=lambda x: _turned(x, unit=math.pi / 180),
            read=READ,
        ),
        Mistake(
            "angles in whole turns",
            "The angles are 2π times too large: position times rate is the "
            "angle in radians already.",
            wrong=lambda x: _turned(x, unit=2 * math.pi),
            read=READ,
        ),
        Mistake(
            "cosine and sine exchanged",
            "Cosine and sine have changed places: a turn by 0 should leave the "
            "first token as it is.",
            wrong=_exchanged,
            read=READ,
        ),
        Mistake(
            "positions counted from 1",
            "The first token is turned already. Its position is 0, and a turn "
            "by 0 leaves it as it is.",
            wrong=lambda x: _turned(x, first=1),
            read=READ,
        ),
        Mistake(
            "all pairs at one rate",
            "All pairs turn by the same angle. The rate falls from pair to pair.",
            wrong=lambda x: _turned(x, rates=_same_angle),
            read=READ,
        ),
        *(
            Mistake(
                "rates fall at the wrong pace",
                "The first pair turns at the right rate, the others do not. "
                "Pair i begins at feature 2i: is the exponent counted in pairs "
                "or in features, and divided by d?",
                wrong=lambda x, pace=pace: _turned(
                    x, rates=lambda i, d: 10000.0 ** (-pace(i, d))
                ),
                read=READ,
            )
            for pace in (
                lambda i, d: i / d,
                lambda i, d: 4 * i / d,
                lambda i, d: i / (d // 2 - 1),
                lambda i, d: i,
                lambda i, d: 2 * i,
            )
        ),
        Mistake(
            "rates growing",
            "The second pair turns faster than the first: the sign of the "
            "exponent is lost.",
            wrong=lambda x: _turned(x, rates=lambda i, d: 10000.0 ** (2 * i / d)),
            read=READ,
        ),
        Mistake(
            "wrong base",
            "The first pair turns at the right rate, the others too fast: the "
            "base is not 10000.",
            wrong=lambda x: _turned(x, base=1000.0),
            read=READ,
        ),
        Mistake(
            "half of a pair overwritten",
            "The second feature of a pair is made from the first one *after* "
            "it was turned. Keep both old values until both new ones are "
            "made.",
            wrong=_overwritten,
            read=READ,
        ),
        Mistake(
            "features of a pair torn apart",
            "The numbers are right but lie in the wrong places: all first "
            "features of the pairs come before all second ones. Each pair has "
            "to go back to where it came from.",
            wrong=lambda x: (
                _turned(x).unflatten(-1, (-1, 2)).transpose(-2, -1).flatten(-2)
            ),
            read=READ,
        ),
        Mistake(
            "position added instead of turned",
            "Sines and cosines are added to the features, as the sinusoidal "
            "encoding does. Here each pair is turned.",
            wrong=lambda x: x + _sinusoids(x),
            read=READ,
        ),
        Mistake(
            "turned along the heads",
            "All tokens of a head are turned alike: the positions run along "
            "the wrong axis. Tokens are on the second axis from the end.",
            wrong=lambda x: _turned(x.transpose(0, 1)).transpose(0, 1),
            read=READ,
        ),
        Mistake(
            "features of a pair exchanged",
            "The first feature of each pair is taken for the second: the pair "
            "lies the wrong way round when it is turned, and it may come back "
            "so too.",
            wrong=lambda x: _swapped(_turned(_swapped(x))),
            read=READ,
        ),
        Mistake(
            "features of a pair exchanged",
            "The first feature of each pair is taken for the second: features "
            "0, 2, 4, … are the first ones.",
            wrong=lambda x: _turned(_swapped(x)),
            read=READ,
        ),
        Mistake(
            "features of a pair exchanged",
            "The two features of each pair come back in each other's place.",
            wrong=lambda x: _swapped(_turned(x)),
            read=READ,
        ),
        Mistake(
            "nothing is turned",
            "The result is `x` as it was: all tokens are turned by 0, or the "
            "turned features are not returned. Do the positions count the "
            "tokens, the last axis but one?",
            wrong=lambda x: x,
            read=READ,
        ),
        Mistake(
            "other angles",
            "Each pair keeps its length, so it is turned, but by other angles: "
            "position times rate, with the rate base^(−2i / d) of pair i.",
            when=_pairs_keep_length,
            read=READ,
        ),
        Mistake(
            "lengths change",
            "A pair that is turned keeps its length; here pairs grow or "
            "shrink. Is it a rotation: cosine, minus sine, sine, cosine, of "
            "one angle?",
            when=_pairs_change,
            read=READ,
        ),
    ),
)
