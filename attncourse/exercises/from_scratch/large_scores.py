"""Task 1.2, the check of large scores."""

from __future__ import annotations

import numpy as np
import torch

from attncourse.exercises.from_scratch.common import draw_sizes, failed
from attncourse.exercises.seen import near
from attncourse.exercises.task import Check, Mistake

SOFTMAX = "chapters/02_attention_types#a-question-is-a-dot-product"


def _large_scores(generator):
    queries, keys = draw_sizes(generator, (2, 4), (3, 4))
    scores = torch.randn(queries, keys, generator=generator)
    offsets = 1000.0 * (torch.arange(queries) - 1)[:, None]
    spread = 400 * torch.randperm(keys, generator=generator).float()
    return {"scores": scores + offsets, "far_apart": spread[None]}


def _both(weights, scores, far_apart):
    return {
        "weights": weights(scores),
        "weights of scores far apart": weights(far_apart),
    }


def _not_finite(seen, expected, inputs):
    return any(not np.isfinite(part.values).all() for part in seen.values())


def _a_row_without_weight(seen, expected, inputs):
    rows = seen["weights"].values.reshape(seen["weights"].shape)
    sums = rows.sum(-1)
    return sums.min() < 0.5 and any(near(s, 1, digits=1) for s in sums)


def _undecided(seen, expected, inputs):
    highest = np.sort(seen["weights of scores far apart"].values)
    return near(highest[-1], highest[-2])


LARGE = Check(
    "large scores do not overflow, and no axis is counted from the front",
    1,
    inputs=_large_scores,
    ask=_both,
    expected=lambda scores, far_apart: _both(
        lambda x: torch.softmax(x, dim=-1), scores, far_apart
    ),
    mistakes=(
        Mistake(
            "one maximum for all rows",
            "Some rows are not numbers: one number is taken away from the whole "
            "tensor. A row far below it is left with exponentials that are all 0, and "
            "0/0 is not a number.",
            when=lambda seen, expected, inputs: (
                _not_finite(seen, expected, inputs)
                and np.isfinite(seen["weights of scores far apart"].values).all()
            ),
            read=SOFTMAX,
        ),
        Mistake(
            "exponentials overflow",
            "There are entries that are not numbers. A float32 holds no exponential of "
            "a score above 88. What can be taken from all scores of a row without "
            "changing their weights?",
            when=_not_finite,
            read=SOFTMAX,
        ),
        Mistake(
            "one maximum for all rows",
            "The weights of some rows do not sum to 1: one number is taken away from "
            "the whole tensor. A row far below it is left with exponentials that are "
            "all 0.",
            when=_a_row_without_weight,
            read=SOFTMAX,
        ),
        Mistake(
            "scores are cut off",
            "Scores that differ by hundreds get equal weights. Cutting large scores "
            "off avoids the overflow, but it changes the answer.",
            when=_undecided,
            read=SOFTMAX,
        ),
        Mistake(
            "axis counted from the front",
            "The answer is right with heads and raises an error for a plain matrix of "
            "scores. The keys are always the last axis, wherever that is.",
            when=lambda seen, expected, inputs: failed(seen, "out of range"),
            read=SOFTMAX,
        ),
    ),
)
