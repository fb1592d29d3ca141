"""Exercise 4, fourth part: a learned table of distances."""

from __future__ import annotations

import torch

from attncourse.exercises.relative.look_up import (
    LOOK_UP,
    SIX_MODELS,
    draw_table,
    learned_bias,
)
from attncourse.exercises.task import Check, Mistake, Task


def _ask_learning(LearnedBias, queries, keys, offset, max_distance, scale, table):
    module = LearnedBias(table.shape[1], table.shape[0], max_distance, scale)
    bias = module(queries, keys, offset)
    start = float(bias.detach().abs().max())
    (bias * _upstream(bias)).sum().backward()
    (gradient,) = (parameter.grad for parameter in module.parameters())
    if gradient.shape != table.shape:
        gradient = gradient.T
    return {"largest number at the start": start, "gradient": gradient}


def _upstream(bias):
    """Return numbers that stand for the gradient that comes from the attention."""
    return torch.linspace(-1, 1, bias.numel()).reshape(bias.shape)


def _learning(table, **inputs):
    table = torch.zeros_like(table).requires_grad_()
    bias = learned_bias(table=table, **inputs)["bias"]
    (bias * _upstream(bias)).sum().backward()
    return {"largest number at the start": 0.0, "gradient": table.grad}


TABLE = Task(
    name="table",
    title="A learned table of distances",
    names=("LearnedBias",),
    needs=("distances", "buckets"),
    difficulty="medium",
    minutes=10,
    checks=(
        LOOK_UP,
        Check(
            "the table starts at zero and every use of a number reaches its gradient",
            1,
            gradients=True,
            inputs=draw_table,
            ask=_ask_learning,
            expected=_learning,
            mistakes=(
                Mistake(
                    "random start",
                    "The table starts with random numbers. At zero the layer begins "
                    "without an opinion on positions.",
                    when=lambda seen, expected, inputs: (
                        seen["largest number at the start"].values[0] > 0
                    ),
                    read=SIX_MODELS,
                ),
                Mistake(
                    "gradient cut off",
                    "No gradient reaches the table: it would never learn. Something "
                    "takes its numbers out of the computation, such as `.data`, "
                    "`.detach()`, `.item()` or `torch.tensor(...)`.",
                    when=lambda seen, expected, inputs: (
                        "RuntimeError" in seen["result"].text
                        and "grad" in seen["result"].text
                    ),
                ),
                Mistake(
                    "scale forgotten",
                    "The gradient lacks the factor `scale`.",
                    wrong=lambda scale, **inputs: _learning(scale=1.0, **inputs),
                    read=SIX_MODELS,
                ),
            ),
        ),
    ),
)
