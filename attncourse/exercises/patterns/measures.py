"""Task 2.9: how far a head looks, and how widely."""

from __future__ import annotations

import math

import torch

from attncourse.exercises.patterns.extents import (
    by_squares,
    distances,
    each_input_alike,
    each_sentence_alike,
    entropies,
    mean_steps,
    ratio_of_sums,
    to_the_largest,
)
from attncourse.exercises.patterns.measure_mistakes import (
    OF_STEPS,
    OF_WIDTHS,
    ORDERS,
)
from attncourse.exercises.patterns.models import draw, draw_ids
from attncourse.exercises.patterns.shares import (
    PADDING,
    SCORE,
    some_are,
)
from attncourse.exercises.task import Check, Mistake, Task


def _weights(generator, heads, visible):
    batch, queries, keys = visible.shape
    scores = 2 * torch.randn(batch, heads, queries, keys, generator=generator)
    scores = scores.masked_fill(~visible[:, None], -torch.inf)
    return torch.nan_to_num(scores.softmax(-1))


def _reach_inputs(generator):
    heads, queries = draw(generator, 2, 3), draw(generator, 3, 4)
    everything = torch.ones(2, queries, queries + 2, dtype=torch.bool)
    return {
        "weights": _weights(generator, heads, everything),
        "tokens": draw_ids(generator, 2, queries),
    }


def _spread_inputs(generator):
    heads, n = draw(generator, 2, 3), draw(generator, 3, 5)
    visible = torch.ones(2, n, n, dtype=torch.bool).tril()
    return {"weights": _weights(generator, heads, visible), "visible": visible}


def _padded(generator):
    heads = draw(generator, 2, 3)
    tokens = draw_ids(generator, 3, 6, lengths=(2, 6, 4))
    real = tokens != 0
    visible = real[:, None] & real[:, :, None]
    if draw(generator, 0, 1):
        visible = visible & torch.ones(6, 6, dtype=torch.bool).tril()
    weights = _weights(generator, heads, visible)
    return {"weights": weights, "tokens": tokens, "visible": visible}


NAMES = ("reach", "spread")


def _both(reach, spread):
    return lambda weights, tokens, visible: {
        "reach": reach(weights, tokens),
        "spread": spread(weights, visible),
    }


def _some_are(reach, spread):
    return some_are(
        (
            lambda weights, tokens, visible: reach(weights, tokens),
            lambda weights, tokens, visible: spread(weights, visible),
        ),
        NAMES,
    )


MEASURES = Task(
    name="measures",
    title="Near or far, narrow or wide",
    names=("reach", "spread"),
    minutes=15,
    checks=(
        Check(
            "`reach`: the mean distance in tokens between a query and what it looks at",
            0.5,
            inputs=_reach_inputs,
            ask=lambda reach, spread, weights, tokens: reach(weights, tokens),
            expected=distances,
            pure=True,
            mistakes=(
                *OF_STEPS,
                Mistake(
                    "only the largest weight counted",
                    "This is the distance to the key with the largest weight. Asked "
                    "for is the mean over all keys, each with its weight.",
                    wrong=to_the_largest,
                    read=SCORE,
                ),
                Mistake(
                    "as many keys as queries taken for granted",
                    "The answer fails where there are more keys than queries, as in "
                    "cross-attention.",
                    when=lambda seen, expected, inputs: (
                        "size of tensor" in seen["result"].text
                        or "broadcast" in seen["result"].text
                        or "must match" in seen["result"].text
                    ),
                    read=ORDERS,
                ),
                Mistake(
                    "heads averaged away",
                    "There is one number for all heads together. Heads differ in how "
                    "far they look: there should be one number for each.",
                    wrong=lambda weights, tokens: distances(weights, tokens).mean(),
                    read=SCORE,
                ),
            ),
        ),
        Check(
            "`spread`: the entropy as a share of the largest that is possible",
            0.5,
            inputs=_spread_inputs,
            ask=lambda reach, spread, weights, visible: spread(weights, visible),
            expected=entropies,
            mistakes=(
                Mistake(
                    "bits over nats",
                    "The entropy is in bits and is divided by a largest one in nats. "
                    "Both need the same logarithm.",
                    wrong=lambda **inputs: entropies(**inputs) / math.log(2),
                    read=SCORE,
                ),
                Mistake(
                    "narrow for wide",
                    "This is 1 minus the measure: 0 should stand for one key, and 1 "
                    "for all keys alike.",
                    wrong=lambda **inputs: 1 - entropies(**inputs),
                    read=SCORE,
                ),
                Mistake(
                    "no entropy",
                    "This is 1 minus the sum of the squared weights, another measure "
                    "of how widely a head looks. Asked for is the entropy.",
                    wrong=by_squares,
                    read=SCORE,
                ),
                *OF_WIDTHS,
                Mistake(
                    "a ratio of sums",
                    "The entropies have been added up, and then divided by the sum of "
                    "the largest ones. Queries with many keys then weigh more than "
                    "others. Asked for is the mean of the shares.",
                    wrong=ratio_of_sums,
                    read=SCORE,
                ),
                Mistake(
                    "queries that see one key counted",
                    "Queries that see a single key have been counted with a spread of "
                    "zero. They have no choice, so they say nothing about the head.",
                    wrong=lambda weights, visible: entropies(weights, visible, True, 1),
                    read=SCORE,
                ),
                Mistake(
                    "zero times the logarithm of zero",
                    "There are entries that are not numbers. A weight of zero adds "
                    "nothing to an entropy, but 0 * log(0) is not a number; and a "
                    "query that sees a single key divides by log(1), which is zero.",
                    when=lambda seen, expected, inputs: (
                        seen["result"].kind == "float"
                        and bool((seen["result"].values != seen["result"].values).any())
                    ),
                    read=SCORE,
                ),
            ),
        ),
        Check(
            "both leave padding out, and every query of the batch weighs the same",
            1,
            inputs=_padded,
            ask=lambda reach, spread, weights, tokens, visible: {
                "reach": reach(weights, tokens),
                "spread": spread(weights, visible),
            },
            expected=_both(distances, entropies),
            mistakes=(
                Mistake(
                    "padding counted",
                    "Queries that are padding have been counted, with a zero.",
                    when=_some_are(
                        lambda weights, tokens: mean_steps(
                            weights, tokens, lambda s: s.abs(), counted="all"
                        ),
                        lambda weights, visible: entropies(weights, visible, True, 0),
                    ),
                    read=PADDING,
                ),
                Mistake(
                    "every sequence weighs the same",
                    "First each sequence has been averaged and then the sequences. "
                    "Asked for is the average over all queries of the batch together.",
                    when=_some_are(each_sentence_alike, each_input_alike),
                    read=SCORE,
                ),
            ),
        ),
    ),
)
