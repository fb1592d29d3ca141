"""Task 1.1: a score for each query and key."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch

from attncourse.exercises.from_scratch.common import (
    HEADS,
    SCALE,
    draw_sizes,
    failed,
    products,
    scaled,
    softmax,
)
from attncourse.exercises.seen import near
from attncourse.exercises.task import Check, Mistake, Task

PRODUCT = "chapters/02_attention_types#a-question-is-a-dot-product"


def _one_axis(generator):
    queries, more, width = draw_sizes(generator, (2, 3), (1, 2), (2, 6))
    keys = queries + more  # another number, so that swapped axes cannot pass
    query = 1.5 * torch.randn(2, queries, width, generator=generator)
    key = 1.5 * torch.randn(2, keys, width, generator=generator)
    return {"query": query, "key": key}


def _two_axes(generator):
    heads, queries, keys, width = draw_sizes(generator, (2, 3), (2, 3), (4, 5), (2, 3))
    query = 1.5 * torch.randn(2, heads, queries, width, generator=generator)
    key = 1.5 * torch.randn(2, heads, keys, width, generator=generator)
    return {"query": query, "key": key}


def _with_and_without_axes(scores, query, key):
    one_query, one_key = query[0, 0].clone(), key[0, 0].clone()
    return {
        "scores with heads": scores(query, key),
        "scores without a batch": scores(one_query, one_key),
    }


def _scaled_by_all_heads(query, key):
    heads = query.shape[1]
    return {
        "scores with heads": scaled(query, key) / heads**0.5,
        "scores without a batch": scaled(query[0, 0], key[0, 0]),
    }


def _scaled_by_root_of(size):
    return lambda query, key: products(query, key) / size(query, key) ** 0.5


def _cosines(query, key):
    return products(*(x / x.norm(dim=-1, keepdim=True) for x in (query, key)))


def _of_one_feature(query, key, place, scale):
    found = query[..., place, None] * key[..., None, :, place]
    return found / query.shape[-1] ** 0.5 if scale else found


def _by_reshape(query, key):
    turned = key.reshape(*key.shape[:-2], key.shape[-1], key.shape[-2])
    return query @ turned / query.shape[-1] ** 0.5


def _distances(seen, expected, inputs):
    found = np.abs(seen["result"].values)
    away = torch.cdist(inputs["query"], inputs["key"]).numpy().ravel()
    ways = (away, away**2, away / inputs["key"].shape[-1] ** 0.5)
    return any(near(found, way) for way in ways)


def _a_multiple(seen, expected, inputs):
    ours, wanted = seen["result"].values, expected["result"].values
    ratio = ours @ wanted / (wanted @ wanted)
    return near(ours, ratio * wanted) and not near(ratio, 1)


VALUES = Check(
    "there is one score for each query and key: their dot product, divided by the "
    "root of d_k",
    1,
    inputs=_one_axis,
    ask=lambda scores, query, key: scores(query, key),
    expected=scaled,
    pure=True,
    mistakes=(
        Mistake(
            "no scaling",
            "These are the plain dot products. Their spread grows with the width of "
            "the vectors, and a softmax of large numbers settles on one key.",
            wrong=products,
            read=SCALE,
        ),
        Mistake(
            "divided by d_k",
            "The scores are divided by d_k itself. A sum of d_k random products has a "
            "variance of d_k. Its spread is something smaller.",
            wrong=lambda query, key: products(query, key) / query.shape[-1],
            read=SCALE,
        ),
        Mistake(
            "multiplied by the scale",
            "The scores are multiplied by the root of d_k. They were too large "
            "before, and this makes them larger.",
            wrong=lambda query, key: products(query, key) * query.shape[-1] ** 0.5,
            read=SCALE,
        ),
        Mistake(
            "scaled by the number of tokens",
            "The scores are divided by the root of a number of tokens. A score is a "
            "sum over features: more tokens make more scores, not larger ones.",
            wrong=_scaled_by_root_of(lambda query, key: query.shape[-2]),
            read=SCALE,
        ),
        Mistake(
            "scaled by the number of tokens",
            "The scores are divided by the root of the number of keys. A score is a "
            "sum over features: more keys make more scores, not larger ones.",
            wrong=_scaled_by_root_of(lambda query, key: key.shape[-2]),
            read=SCALE,
        ),
        Mistake(
            "queries and keys exchanged",
            "There is one row for each key. In the course a row belongs to the token "
            "that asks: rows are queries, columns are keys.",
            wrong=lambda query, key: scaled(key, query),
            read=PRODUCT,
        ),
        Mistake(
            "queries and keys exchanged",
            "There is one row for each key, and the scores are not scaled. Rows are "
            "queries, columns are keys.",
            wrong=lambda query, key: products(key, query),
            read=PRODUCT,
        ),
        Mistake(
            "softmax included",
            "The rows sum to 1: a softmax has turned the scores into weights already. "
            "That is the next task; scores may be negative, and of any size.",
            wrong=lambda query, key: softmax(scaled(query, key)),
            read=PRODUCT,
        ),
        Mistake(
            "lengths divided out",
            "These are cosines: the lengths of the vectors are divided out. In "
            "attention a longer key has a larger score.",
            wrong=_cosines,
            read=SCALE,
        ),
        Mistake(
            "lengths divided out",
            "These are cosines, scaled besides: the lengths of the vectors are divided "
            "out first. In attention a longer key has a larger score.",
            wrong=lambda query, key: _cosines(query, key) / query.shape[-1] ** 0.5,
            read=SCALE,
        ),
        *(
            Mistake(
                "only a part of the features",
                f"Only the {part} feature of each vector is compared. A dot product "
                "adds up the products of *all* features.",
                wrong=partial(_of_one_feature, place=place, scale=scale),
                read=PRODUCT,
            )
            for part, place in (("first", 0), ("last", -1))
            for scale in (True, False)
        ),
        Mistake(
            "reshape for transpose",
            "The keys were brought into shape by a reshape. It does not exchange axes; "
            "it reads the numbers on in the order in which they lie, so that a column "
            "holds numbers of several keys.",
            wrong=lambda query, key: _by_reshape(query, key),
            read=HEADS,
        ),
        Mistake(
            "distances for products",
            "These are distances: the smaller, the more alike. A score is a dot "
            "product: the larger, the more alike.",
            when=_distances,
            read=PRODUCT,
        ),
        Mistake(
            "scaled by another number",
            "The scores are a multiple of the right ones: the products are right and "
            "the scale is not. It has to follow from the width of these vectors.",
            when=_a_multiple,
            read=SCALE,
        ),
        Mistake(
            "all axes reversed",
            "`.T` turns the order of *all* axes round, the batch too. Here only two of "
            "them change places.",
            when=lambda seen, expected, inputs: failed(seen, "size of tensor", "bmm"),
            read=HEADS,
        ),
    ),
)

LEADING_AXES = Check(
    "it works with heads as well, and without a batch",
    1,
    inputs=_two_axes,
    ask=_with_and_without_axes,
    expected=lambda query, key: _with_and_without_axes(scaled, query, key),
    mistakes=(
        Mistake(
            "scaled by the root of d_model",
            "With heads, the scores are divided by the root of d_model, the width of "
            "all heads together. A score sums over the features of one head only.",
            wrong=_scaled_by_all_heads,
            read=SCALE,
        ),
        Mistake(
            "built for three axes",
            "The answer works for (batch, tokens, d_k) and raises an error with more "
            "axes or with fewer. Does it count axes from the front, or name them all?",
            when=lambda seen, expected, inputs: failed(seen),
            read=HEADS,
        ),
    ),
)

SCORES = Task(
    name="scores",
    title="Scores",
    names=("attention_scores",),
    difficulty="easy",
    minutes=5,
    checks=(VALUES, LEADING_AXES),
)
