"""Exercise 4, fifth part: the slopes of ALiBi."""

from __future__ import annotations

import math

import numpy as np
import torch

from attncourse.exercises.relative.distances import size
from attncourse.exercises.seen import near
from attncourse.exercises.task import Check, Mistake

READ = "chapters/04_positional_encoding#alibi-a-slope-for-each-head"


def _heads(generator):
    return {"num_heads": 2 ** size(generator, 2, 4)}


def right_slopes(num_heads, first=1, rate=None):
    """Return what is seen of the slopes, 256 times as large."""
    rate = 8 / num_heads if rate is None else rate
    heads = torch.arange(first, num_heads + first)
    return {"256 × slopes": 256 * 2.0 ** (-rate * heads)}


def _powers(base):
    """Return slopes that are powers of another number than 2."""
    return lambda num_heads: {
        "256 × slopes": 256 * base ** (-8 / num_heads * torch.arange(1, num_heads + 1))
    }


def _heads_off_by_one(seen, expected, inputs):
    found, n = seen["256 × slopes"].values, inputs["num_heads"]
    ways = (right_slopes(n, rate=8 / (n + more)) for more in (1, -1))
    return any(near(found, way["256 × slopes"].numpy()) for way in ways)


def _rounded(seen, expected, inputs):
    exact = expected["256 × slopes"].values
    ways = (2.0 ** way(np.log2(exact / 256)) for way in (np.floor, np.ceil, np.trunc))
    found = seen["256 × slopes"].values
    return any(near(found, 256 * way) for way in ways)


def _evenly_spaced(seen, expected, inputs):
    steps = np.diff(seen["256 × slopes"].values)
    return near(steps / 2, steps[0] / 2) and not near(steps[0], 0)


def _even_exponents(seen, expected, inputs):
    """Say whether the slopes fall by one factor from head to head."""
    slopes = seen["256 × slopes"].values / 256
    steps = np.diff(np.log2(slopes[slopes > 1 / 256]))  # of smaller ones digits lack
    return len(steps) > 1 and near(steps, steps[0], digits=1) and slopes[0] < 1


SLOPES = Check(
    "the slopes fall from head to head, down to 1/256",
    1,
    inputs=_heads,
    ask=lambda slopes, _, num_heads: {"256 × slopes": 256 * slopes(num_heads)},
    expected=right_slopes,
    mistakes=(
        Mistake(
            "heads counted from 0",
            "The first head has a slope of 1: the heads are counted from 0. "
            "The formula counts from 1 to n.",
            wrong=lambda num_heads: right_slopes(num_heads, first=0),
            read=READ,
        ),
        Mistake(
            "slopes independent of the number of heads",
            "Each slope is half of the one before, whatever the number of "
            "heads is. The last one should always be 1/256.",
            wrong=lambda num_heads: right_slopes(num_heads, rate=1),
            read=READ,
        ),
        Mistake(
            "powers of another number",
            "The exponents are right, and the slopes are powers of e, and not of 2.",
            wrong=_powers(math.e),
            read=READ,
        ),
        Mistake(
            "divided by another number of heads",
            "The exponents are divided by one more, or one less, than the "
            "number of heads, so the last slope is not 1/256.",
            when=_heads_off_by_one,
            read=READ,
        ),
        Mistake(
            "exponents rounded",
            "The exponents are whole numbers, and some heads share a slope. "
            "With 16 heads the exponents are halves: `//` and integers round "
            "them.",
            when=_rounded,
            read=READ,
        ),
        Mistake(
            "one slope for all heads",
            "All heads have the same slope, and see equally far. With slopes "
            "of their own, one head can look near and another far.",
            when=lambda seen, expected, inputs: (
                seen["256 × slopes"].values.std() < 1e-6
            ),
            read=READ,
        ),
        Mistake(
            "slopes in the opposite order",
            "The right slopes in the opposite order: the first head should be "
            "the steepest.",
            wrong=lambda num_heads: {
                "256 × slopes": right_slopes(num_heads)["256 × slopes"].flip(0)
            },
            read=READ,
        ),
        Mistake(
            "slopes growing",
            "The slopes are larger than 1: the sign of the exponent is lost.",
            wrong=lambda num_heads: right_slopes(num_heads, rate=-8 / num_heads),
            read=READ,
        ),
        Mistake(
            "slopes on a straight line",
            "The slopes fall by the same *amount* from head to head. They "
            "should fall by the same factor, so that some heads see far.",
            when=_evenly_spaced,
            read=READ,
        ),
        Mistake(
            "slopes negative",
            "The slopes are negative. The sign belongs to the bias.",
            wrong=lambda num_heads: {
                "256 × slopes": -right_slopes(num_heads)["256 × slopes"]
            },
            read=READ,
        ),
        Mistake(
            "slopes falling at another pace",
            "The slopes fall by the same factor from head to head, but by "
            "another one than they should: the exponents are not the "
            "multiples of 8 / n. Check the first and the last: 8 / n and 8.",
            when=_even_exponents,
            read=READ,
        ),
    ),
)
