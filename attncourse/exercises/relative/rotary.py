"""Exercise 4, sixth part: queries and keys that are turned."""

from __future__ import annotations

import torch

from attncourse.exercises.relative.distances import size
from attncourse.exercises.relative.turning import READ, TURNING
from attncourse.exercises.task import Check, Mistake, Task

LENGTHS = "length of the turned query, in lengths of the query"
TOGETHER = "tokens turn at their positions, alone and among others"
SCORES = "scores at 3 distances from 3 starts, less those from start 0"


def _two_vectors(generator):
    start = size(generator, 5, 90)
    return {
        "query": torch.randn(1, 4, generator=generator),
        "key": torch.randn(1, 4, generator=generator),
        "starts": [0, start, start + 400],
        "base": float(size(generator, 20, 200)),
    }


def _ask_distance(rotate, query, key, starts, base):
    """Return facts that hold in both conventions of pairs, and in both directions."""
    scores, lengths = [], []
    for start in starts:
        turned = rotate(query, torch.tensor([start]), base)
        lengths.append(turned.norm() / query.norm())
        for distance in (0, 2, 5):
            other = rotate(key, torch.tensor([start + distance]), base)
            scores.append((turned * other).sum())
    scores = torch.stack(scores).reshape(len(starts), 3)
    usual = rotate(query, torch.tensor([7]), 10000.0)
    both, places = torch.cat([query, key]), torch.tensor([starts[1], 2])
    alone = [
        rotate(x, p, base) for x, p in zip(both.split(1), places.split(1), strict=True)
    ]
    return {
        LENGTHS: torch.stack(lengths),
        SCORES: scores - scores[0],
        TOGETHER: bool(
            (rotate(both, places, base) - torch.cat(alone)).abs().max() < 2e-3
        ),
        "other scores at other distances": bool((scores - scores[:, :1]).any()),
        "another turn with another base": bool(
            (usual - rotate(query, torch.tensor([7]), base)).any()
        ),
    }


def _kept(query, key, starts, base):
    return {
        LENGTHS: torch.ones(3),
        SCORES: torch.zeros(3, 3),
        TOGETHER: True,
        "other scores at other distances": True,
        "another turn with another base": True,
    }


def _far_away(generator):
    return {
        "x": torch.randn(3, 8, generator=generator).half(),
        "positions": torch.randint(3000, 9000, (3,), generator=generator),
    }


def _ask_half(rotate, x, positions):
    turned = rotate(x, positions)
    exact = rotate(x.double(), positions)  # in any convention
    return {
        "every error below 0.02": bool((turned - exact).abs().max() < 0.02),
        "precision": str(turned.dtype).removeprefix("torch."),
    }


ROTARY = Task(
    name="rotary",
    title="Rotary: turn, then compare",
    names=("rotate",),
    difficulty="medium",
    minutes=20,
    checks=(
        TURNING,
        Check(
            "a score depends on the distance alone, at any place, and lengths are kept",
            1,
            inputs=_two_vectors,
            ask=_ask_distance,
            expected=_kept,
            tolerance=2e-3,
            mistakes=(
                Mistake(
                    "lengths change",
                    "A vector that is turned keeps its length; here it grows or "
                    "shrinks. Is it a rotation: cosine, minus sine, sine, cosine, of "
                    "one angle?",
                    when=lambda seen, expected, inputs: (
                        abs(seen[LENGTHS].values - 1).max() > 2e-3
                    ),
                    read=READ,
                ),
                Mistake(
                    "positions ignored",
                    "The positions that are given have no effect: every token is taken "
                    "to stand at its place in the tensor. A query that comes alone, "
                    "after others, would be turned as if it were the first.",
                    when=lambda seen, expected, inputs: (
                        not seen["other scores at other distances"].values[0]
                    ),
                    read=READ,
                ),
                Mistake(
                    "scores depend on the place",
                    "The same query and key, at the same distance, get different "
                    "scores at different places.",
                    when=lambda seen, expected, inputs: (
                        abs(seen[SCORES].values).max() > 2e-3
                    ),
                    read=READ,
                ),
                Mistake(
                    "positions counted on from the first",
                    "Only the first of the given positions is used, and the tokens "
                    "after it are taken for its neighbours. Each token has its own "
                    "position, in whatever order.",
                    when=lambda seen, expected, inputs: not seen[TOGETHER].values[0],
                    read=READ,
                ),
                Mistake(
                    "base ignored",
                    "The base that is given has no effect.",
                    when=lambda seen, expected, inputs: (
                        not seen["another turn with another base"].values[0]
                    ),
                    read=READ,
                ),
            ),
        ),
        Check(
            "half precision comes out as it came in, and far positions stay exact",
            1,
            inputs=_far_away,
            ask=_ask_half,
            expected=lambda x, positions: {
                "every error below 0.02": True,
                "precision": "float16",
            },
            mistakes=(
                Mistake(
                    "angles in half precision",
                    "At positions of some thousands the result is far off. Half "
                    "precision holds whole numbers up to 2048 only, and angles worse: "
                    "in which precision are positions and angles computed?",
                    when=lambda seen, expected, inputs: (
                        seen["every error below 0.02"].values[0] == 0
                    ),
                    read=READ,
                ),
                Mistake(
                    "another precision comes out",
                    "What came in as float16 comes out in another precision, and the "
                    "next product with a value in float16 fails.",
                    when=lambda seen, expected, inputs: (
                        seen["precision"].text != "float16"
                    ),
                    read=READ,
                ),
            ),
        ),
    ),
)
