"""Task 1.3, the check of gradients."""

from __future__ import annotations

import torch

from attncourse.exercises.from_scratch.common import draw_tensors, gradients_of, right
from attncourse.exercises.seen import near
from attncourse.exercises.task import Check, Mistake


def draw_double(generator):
    """Draw query, key and value in double precision, and a gradient from above."""
    inputs = {name: x.double() for name, x in draw_tensors(generator).items()}
    shape = (*inputs["query"].shape[:-1], inputs["value"].shape[-1])
    return {**inputs, "upstream": torch.randn(shape, generator=generator).double()}


def gradients_through(attention, query, key, value, upstream):
    """Return what automatic differentiation finds for an attention."""
    leaves = {"query": query, "key": key, "value": value}
    leaves = {name: leaf.clone().requires_grad_() for name, leaf in leaves.items()}
    output, _ = attention(*leaves.values())
    return gradients_of(output, upstream, **leaves)


def _zero(*names):
    """Say that these gradients are zero, and the others as expected."""
    names = {f"gradient of {name}" for name in names}

    def when(seen, expected, inputs):
        return all(
            near(seen[k].values, 0 if k in names else expected[k].values)
            for k in expected
        )

    return when


CUT = (
    "`.detach()`, `.data`, `.item()`, NumPy and `torch.tensor(...)` all cut the path "
    "on which gradients travel back."
)

GRADIENTS = Check(
    "the gradients of query, key and value are right",
    1,
    gradients=True,
    inputs=draw_double,
    ask=gradients_through,
    expected=lambda **inputs: gradients_through(
        lambda *tensors: tuple(right(*tensors).values()), **inputs
    ),
    mistakes=(
        Mistake(
            "no gradient at all",
            f"No gradient comes back from the output. {CUT}",
            when=_zero("query", "key", "value"),
        ),
        Mistake(
            "weights cut off from the gradient",
            "The gradient reaches the values, but not query and key. So the weights "
            f"are used and can never be learned. {CUT}",
            when=_zero("query", "key"),
        ),
        Mistake(
            "values cut off from the gradient",
            f"The gradient reaches query and key, but not the values. {CUT}",
            when=_zero("value"),
        ),
        Mistake(
            "query cut off from the gradient",
            f"The gradient reaches key and value, but not the query. {CUT}",
            when=_zero("query"),
        ),
        Mistake(
            "keys cut off from the gradient",
            f"The gradient reaches query and value, but not the keys. {CUT}",
            when=_zero("key"),
        ),
    ),
)
