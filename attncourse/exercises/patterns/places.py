"""Task 2.4: heads that look at a place."""

from __future__ import annotations

import torch

from attncourse.exercises.patterns.shares import (
    SCORE,
    TRAINED,
    ask_one,
    both,
    draw_batch,
    draw_padded_batch,
    heads_averaged,
    of_another_mean,
    one_each_sequence,
    padding_mistakes,
    pooled,
)
from attncourse.exercises.task import Check, Mistake, Task


def back(weights, tokens):
    """Return the weight of each query, but the first, on the token before it."""
    return weights.diagonal(-1, dim1=1, dim2=2)


def first(weights, tokens):
    """Return the weight of each query, but the first, on the first token."""
    return weights[:, 1:, 0]


PLACE = Task(
    name="place",
    title="Heads that look at a place",
    names=("looks_back", "looks_first"),
    difficulty="easy",
    minutes=10,
    checks=(
        Check(
            "`looks_back`: the share of attention on the token just before",
            0.5,
            inputs=draw_batch,
            ask=ask_one(0),
            expected=pooled(back),
            pure=True,
            mistakes=(
                *of_another_mean(back),
                Mistake(
                    "rows and columns exchanged",
                    "This is the share on the token just *after*. The query's place "
                    "is the row and the key's the column.",
                    wrong=pooled(lambda w, t: w.diagonal(1, dim1=1, dim2=2)),
                    read=TRAINED,
                ),
                Mistake(
                    "the token itself",
                    "This is the share of attention that each token gives to itself.",
                    wrong=pooled(lambda w, t: w.diagonal(dim1=1, dim2=2)),
                    read=SCORE,
                ),
                Mistake(
                    "the first row counted",
                    "The first query has been counted with a share of zero. There is "
                    "no token before it, so even a perfect head could not reach 1.",
                    wrong=pooled(
                        lambda w, t: torch.cat(
                            [torch.zeros_like(w[:, :1, 0]), back(w, t)], dim=1
                        )
                    ),
                    read=SCORE,
                ),
                Mistake(
                    "the last key for the first query",
                    "The first query has been counted, and for it the *last* key: "
                    "index -1 counts from the end.",
                    wrong=pooled(
                        lambda w, t: torch.cat([w[:, :1, -1], back(w, t)], dim=1)
                    ),
                    read=SCORE,
                ),
                heads_averaged(back),
                one_each_sequence(back),
            ),
        ),
        Check(
            "`looks_first`: the share of attention on the first token",
            0.5,
            inputs=draw_batch,
            ask=ask_one(1),
            expected=pooled(first),
            pure=True,
            mistakes=(
                *of_another_mean(first),
                Mistake(
                    "rows and columns exchanged",
                    "This is how much the first query gives to the others. Asked for "
                    "is how much the others give to the first key.",
                    wrong=pooled(lambda w, t: w[:, 0, 1:]),
                    read=TRAINED,
                ),
                Mistake(
                    "the first row counted",
                    "The first query has been counted too. In a causal model it can "
                    "look nowhere else, which lifts the score of every head.",
                    wrong=pooled(lambda w, t: w[:, :, 0]),
                    read=SCORE,
                ),
                heads_averaged(first),
                one_each_sequence(first),
            ),
        ),
        Check(
            "both leave padding out, and every query of the batch weighs the same",
            1,
            inputs=draw_padded_batch,
            ask=lambda one, other, weights, tokens: {
                "looks_back": one(weights, tokens),
                "looks_first": other(weights, tokens),
            },
            expected=both(pooled(back), pooled(first), ("looks_back", "looks_first")),
            mistakes=padding_mistakes(back, first, ("looks_back", "looks_first")),
        ),
    ),
)
