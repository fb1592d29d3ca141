"""Task 1.3: scores, weights and a weighted sum."""

from __future__ import annotations

import torch

from attncourse.exercises.from_scratch.common import (
    HEADS,
    NOT_TWO,
    ONE_RESULT,
    SCALE,
    SUM,
    attended,
    draw_sizes,
    draw_tensors,
    failed,
    parts_of,
    products,
    right,
    scaled,
    softmax,
)
from attncourse.exercises.from_scratch.dropout import WITH_DROPOUT
from attncourse.exercises.from_scratch.flow import GRADIENTS
from attncourse.exercises.task import Check, Mistake, Task


def _with_heads(generator):
    queries, keys, d_k = draw_sizes(generator, (3, 4), (2, 3), (2, 3))
    return {
        "query": 1.5 * torch.randn(2, 2, queries, d_k, generator=generator),
        "key": 1.5 * torch.randn(2, 2, keys, d_k, generator=generator),
        "value": 1.5 * torch.randn(2, 2, keys, 2, generator=generator),
    }


def _weighed(weigh):
    return lambda query, key, value: attended(weigh(query, key), value)


def _by_relu(query, key):
    scores = torch.relu(scaled(query, key))
    return scores / (scores.sum(-1, keepdim=True) + 1e-9)


def _of_the_largest(weights, value):
    best = (weights == weights.amax(dim=-1, keepdim=True)).to(value.dtype)
    return best @ value


def _largest_product(weights, value):
    return (weights[..., None] * value[..., None, :, :]).amax(dim=-2)


def _plain_mean(weights, value):
    return torch.full_like(weights, 1 / weights.shape[-1]) @ value


VALUES = Check(
    "the output of each query is the sum of the values, weighted by its weights",
    1,
    inputs=draw_tensors,
    ask=lambda attention, **inputs: parts_of(attention(**inputs)),
    expected=right,
    pure=True,
    mistakes=(
        NOT_TWO,
        ONE_RESULT,
        Mistake(
            "output and weights exchanged",
            "The weights are returned first. The output comes first, the weights "
            "second.",
            wrong=lambda query, key, value: {
                "output": right(query, key, value)["weights"],
                "weights": right(query, key, value)["output"],
            },
        ),
        Mistake(
            "scores for weights",
            "The output is right, but what is returned as weights are the scores: "
            "they do not sum to 1.",
            wrong=lambda query, key, value: {
                **right(query, key, value),
                "weights": scaled(query, key),
            },
            read=SUM,
        ),
        Mistake(
            "scaled by the width of the values",
            "The scores are divided by the root of the width of the *values*. A score "
            "is a sum over the features of query and key.",
            wrong=lambda query, key, value: attended(
                softmax(products(query, key) / value.shape[-1] ** 0.5), value
            ),
            read=SCALE,
        ),
        *(
            Mistake(
                "no weighted sum",
                f"The weights are right, but the output is {what}. It is the sum of "
                "all values, each multiplied by its weight.",
                wrong=lambda query, key, value, combine=combine: {
                    **right(query, key, value),
                    "output": combine(right(query, key, value)["weights"], value),
                },
                read=SUM,
            )
            for what, combine in (
                ("the value of the key with the largest weight", _of_the_largest),
                ("the sum without the last key", lambda w, v: w[..., :-1] @ v[:, :-1]),
                ("the sum without the first key", lambda w, v: w[..., 1:] @ v[:, 1:]),
                ("the largest of the weighted values", _largest_product),
                ("the plain mean of the values", _plain_mean),
                ("a sum with each value one place late", lambda w, v: w @ v.roll(1, 1)),
                (
                    "a sum with each value one place early",
                    lambda w, v: w @ v.roll(-1, 1),
                ),
                ("made with the squares of the weights", lambda w, v: w**2 @ v),
                ("a sum with the values in reverse", lambda w, v: w @ v.flip(1)),
            )
        ),
        Mistake(
            "keys for values",
            "The keys are summed, not the values. A key says how a token is found; "
            "what it hands over is its value.",
            wrong=lambda query, key, value: right(query, key, key),
            read=SUM,
        ),
        Mistake(
            "no scaling",
            "The scores are not divided by the root of d_k.",
            wrong=_weighed(lambda query, key: softmax(products(query, key))),
            read=SCALE,
        ),
        Mistake(
            "scaled twice",
            "The scores are divided by the root of d_k twice. `attention_scores` "
            "divides already.",
            wrong=_weighed(
                lambda query, key: softmax(scaled(query, key) / key.shape[-1] ** 0.5)
            ),
            read=SCALE,
        ),
        Mistake(
            "scaling after the softmax",
            "The division by the root of d_k comes after the softmax. The scores were "
            "still too large for it, and the rows no longer sum to 1.",
            wrong=_weighed(
                lambda query, key: softmax(products(query, key)) / key.shape[-1] ** 0.5
            ),
            read=SCALE,
        ),
        Mistake(
            "softmax over the queries",
            "The columns of the weights sum to 1, and the rows do not: the softmax "
            "runs over the queries.",
            wrong=_weighed(lambda query, key: torch.softmax(scaled(query, key), -2)),
            read=SUM,
        ),
        Mistake(
            "no softmax",
            "The values are summed with the scores. Weights are positive and sum to 1.",
            wrong=_weighed(scaled),
            read=SUM,
        ),
        Mistake(
            "averaged over the keys",
            "The weighted sum is divided by the number of keys. The weights sum to 1: "
            "the sum is a mean already.",
            wrong=lambda query, key, value: {
                **right(query, key, value),
                "output": right(query, key, value)["output"] / key.shape[-2],
            },
            read=SUM,
        ),
        Mistake(
            "relu for the exponential",
            "Negative scores get no weight at all: a relu stands where the exponential "
            "should be. A low score makes a small weight, and no score makes none.",
            wrong=_weighed(_by_relu),
            read=SUM,
        ),
        Mistake(
            "output of the queries' width",
            "The output has room for vectors as wide as a query. What is summed are "
            "values, and these may have another width.",
            when=lambda seen, expected, inputs: failed(seen, "expanded size"),
            read=SUM,
        ),
        Mistake(
            "softmax twice",
            "The weights have been through the softmax twice, which makes them nearly "
            "even.",
            wrong=_weighed(lambda query, key: softmax(softmax(scaled(query, key)))),
            read=SUM,
        ),
    ),
)


def _heads_and_queries_exchanged(query, key, value):
    parts = right(query, key, value)
    return {**parts, "output": parts["output"].transpose(1, 2)}


def _heads_scrambled(query, key, value):
    parts = right(query, key, value)
    output = parts["output"].transpose(1, 2).reshape(parts["output"].shape)
    return {**parts, "output": output}


def _heads_added(query, key, value):
    parts = right(query, key, value)
    return {**parts, "output": parts["output"].sum(dim=1)}


LEADING_AXES = Check(
    "it works with heads as well",
    0.5,
    inputs=_with_heads,
    ask=lambda attention, **inputs: parts_of(attention(**inputs)),
    expected=right,
    mistakes=(
        Mistake(
            "heads and queries exchanged",
            "In the output, the axis of the heads and the axis of the queries have "
            "changed places.",
            wrong=_heads_and_queries_exchanged,
            read=HEADS,
        ),
        Mistake(
            "heads mixed by a reshape",
            "The output has the right shape, but its numbers stand in wrong places: "
            "some were moved from one head to another. A reshape does not exchange "
            "axes; it reads the numbers on in the order in which they lie.",
            wrong=_heads_scrambled,
            read=HEADS,
        ),
        Mistake(
            "heads added up",
            "The outputs of the heads are added up. Each head keeps its own.",
            wrong=_heads_added,
            read=HEADS,
        ),
        Mistake(
            "built for three axes",
            "The answer works for (batch, tokens, features) and raises an error with "
            "heads. Does it count axes from the front, or name them all?",
            when=lambda seen, expected, inputs: failed(seen),
            read=HEADS,
        ),
    ),
)

ATTENTION = Task(
    name="attention",
    title="Attention",
    names=("attention",),
    difficulty="easy",
    minutes=10,
    needs=("scores", "weights"),
    checks=(VALUES, LEADING_AXES, WITH_DROPOUT, GRADIENTS),
)
