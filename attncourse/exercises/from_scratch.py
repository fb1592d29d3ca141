"""Exercise 1: attention from scratch, without any attention function of PyTorch."""

from __future__ import annotations

import torch

from attncourse.exercises.task import Check, Exercise, Mistake, Task

FORBIDDEN = {
    name: (
        f"The answer uses `{name}`. In this exercise attention is written by hand: "
        "use matrix products, softmax and masks only."
    )
    for name in (
        "scaled_dot_product_attention",
        "multi_head_attention_forward",
        "MultiheadAttention",
        "masked_softmax",
        "attncourse",
    )
}


def _query_and_key(generator):
    queries, keys, width = (
        torch.randint(low, low + 2, (), generator=generator).item() for low in (2, 5, 3)
    )
    batch = 2
    query = 2 * torch.randn(batch, queries, width, generator=generator)
    key = torch.randn(batch, keys, width, generator=generator)
    return {"query": query, "key": key}


def _products(query, key):
    return query @ key.transpose(-2, -1)


SCORES = Task(
    name="scores",
    title="Scores",
    names=("attention_scores",),
    difficulty="easy",
    minutes=5,
    checks=(
        Check(
            "there is one score for each query and key, divided by the root of d_k",
            2,
            inputs=_query_and_key,
            ask=lambda scores, query, key: scores(query, key),
            expected=lambda query, key: (
                _products(query, key) / math.sqrt(key.shape[-1])
            ),
            pure=True,
            mistakes=(
                Mistake(
                    "no scaling",
                    "These are the plain dot products. Their spread grows with the "
                    "width of the vectors, and the softmax saturates: scale them.",
                    wrong=_products,
                    read="chapters/02_attention_types",
                ),
                Mistake(
                    "divided by d_k",
                    "The scores are divided by d_k itself. The spread of a sum of d_k "
                    "products grows with the root of d_k.",
                    wrong=lambda query, key: _products(query, key) / key.shape[-1],
                    read="chapters/02_attention_types",
                ),
            ),
        ),
    ),
)

EXERCISE = Exercise(
    "1_attention_from_scratch", "Attention from scratch", (SCORES,), FORBIDDEN
)
check, probe, report = EXERCISE.check, EXERCISE.probe, EXERCISE.report
