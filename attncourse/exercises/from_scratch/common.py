"""What the checks of this exercise share: sizes, references, and gradients."""

from __future__ import annotations

import torch

from attncourse.exercises.task import Mistake

SCALE = "chapters/02_attention_types#why-divide-by-d-k"
SUM = "chapters/02_attention_types#three-maps-ask-be-found-hand-over"
HEADS = "chapters/03_multi_head#the-same-in-pytorch-shape-by-shape"


def draw_sizes(generator, *bounds):
    """Draw a whole number between each pair of bounds, both included."""
    return [
        torch.randint(low, high + 1, (), generator=generator).item()
        for low, high in bounds
    ]


def failed(seen, *words):
    """Say whether the call ended in an error, with one of some words in its text."""
    first = next(iter(seen.values()))
    return (
        first.kind == "error"
        and not first.text.startswith("NotImplementedError")
        and (not words or any(word in first.text for word in words))
    )


def products(query, key):
    """Return the plain dot products."""
    return query @ key.transpose(-2, -1)


def scaled(query, key):
    """Return the scaled scores: the reference."""
    return products(query, key) / query.shape[-1] ** 0.5


def parts_of(result):
    """Return output and weights as a dict, or what was returned instead."""
    if isinstance(result, tuple | list) and len(result) == 2:
        return {"output": result[0], "weights": result[1]}
    if torch.is_tensor(result):
        return {"output": result}
    return (
        f"{len(result)} results" if isinstance(result, tuple | list | dict) else result
    )


def attended(weights, value):
    """Return the parts of an attention with these weights."""
    return {"output": weights @ value, "weights": weights}


def softmax(scores):
    """Return the softmax over the keys."""
    return torch.softmax(scores, dim=-1)


def right(query, key, value):
    """Return output and weights: the reference."""
    return attended(softmax(scaled(query, key)), value)


def gradients_of(output, direction, **leaves):
    """Return how a weighted sum of the output changes with each of the leaves."""
    if not output.requires_grad:
        found = [None] * len(leaves)
    else:
        total = (output * direction).sum()
        found = torch.autograd.grad(total, list(leaves.values()), allow_unused=True)
    return {
        f"gradient of {name}": torch.zeros_like(leaf) if g is None else g
        for (name, leaf), g in zip(leaves.items(), found, strict=True)
    }


def draw_tensors(generator):
    """Draw query, key and value of two sequences."""
    queries, more, d_k = draw_sizes(generator, (2, 3), (1, 2), (2, 3))
    keys = queries + more  # another number, so that swapped axes cannot pass
    return {
        "query": 1.5 * torch.randn(2, queries, d_k, generator=generator),
        "key": 1.5 * torch.randn(2, keys, d_k, generator=generator),
        "value": 1.5 * torch.randn(2, keys, d_k + 1, generator=generator),
    }


NOT_TWO = Mistake(
    "not two results",
    "Two results are asked for, the output and the weights, in this order: "
    "`return output, weights`. This is something else.",
    when=lambda seen, expected, inputs: seen["result"].text.endswith(" results"),
)
ONE_RESULT = Mistake(
    "only one result",
    "One tensor is returned. Two are asked for: the output and the weights, in this "
    "order.",
    when=lambda seen, expected, inputs: (
        set(seen) - {"the inputs after the call"} == {"output"}
    ),
)
