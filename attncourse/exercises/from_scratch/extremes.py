"""Task 1.5, the checks of empty rows and of half precision."""

from __future__ import annotations

import numpy as np
import torch

from attncourse.exercises.from_scratch.common import (
    draw_sizes,
    failed,
    gradients_of,
    parts_of,
    scaled,
    softmax,
)
from attncourse.exercises.seen import near
from attncourse.exercises.task import Check, Mistake
from attncourse.layers.core import scaled_dot_product_attention as reference

MULTIPLIED = "chapters/05_masking#case-2-the-keys-that-were-multiplied-away"
EMPTY = "chapters/05_masking#case-3-the-row-with-no-evidence"
HALF = "chapters/05_masking#case-4-the-number-that-did-not-fit"


def draw(generator, *shape):
    """Draw a tensor of numbers a little larger than 1."""
    return 1.5 * torch.randn(*shape, generator=generator)


def ask_masked(masked_attention, query, key, value, mask):
    """Return the parts of an answer to the task."""
    return parts_of(masked_attention(query, key, value, mask))


def _one_empty_row(generator):
    tokens, d_k = draw_sizes(generator, (3, 3), (2, 3))
    mask = torch.ones(tokens, tokens, dtype=torch.bool).tril()
    mask[draw_sizes(generator, (0, tokens - 1))[0]] = False
    return {
        "query": draw(generator, tokens, d_k),
        "key": draw(generator, tokens, d_k),
        "value": draw(generator, tokens, 2),
        "mask": mask,
    }


def _with_gradients(masked_attention, query, key, value, mask):
    leaves = {"query": query, "key": key, "value": value}
    leaves = {name: leaf.clone().requires_grad_() for name, leaf in leaves.items()}
    parts = ask_masked(masked_attention, **leaves, mask=mask)
    upstream = torch.arange(1.0, 1 + parts["output"].numel()) - 4
    upstream = upstream.reshape(parts["output"].shape)
    return {**parts, **gradients_of(parts["output"], upstream, **leaves)}


def _empty(inputs):
    return ~inputs["mask"].any(dim=-1).numpy()


def _rows(seen, name):
    return seen[name].values.reshape(seen[name].shape)


def _finite(seen, name):
    return np.isfinite(seen[name].values).all()


def _empty_weights_are(test):
    def when(seen, expected, inputs):
        weights = _rows(seen, "weights")[_empty(inputs)]
        return bool(test(weights, softmax(scaled(inputs["query"], inputs["key"]))))

    return when


EMPTY_ROWS = Check(
    "a query with nothing to attend to gets zeros, and every gradient stays finite",
    1,
    gradients=True,
    inputs=_one_empty_row,
    ask=_with_gradients,
    pure=True,
    expected=lambda **inputs: _with_gradients(reference, **inputs),
    mistakes=(
        Mistake(
            "NaN for masked rows",
            "A row in which all keys are hidden has become NaN: a softmax over nothing "
            "but -inf is 0 divided by 0. Such rows need a decision of their own.",
            when=lambda seen, expected, inputs: not _finite(seen, "weights"),
            read=EMPTY,
        ),
        Mistake(
            "hidden keys share the weight",
            "The query that may attend to nothing attends to every key equally. A "
            "large negative number hides a key only beside a visible one: if all "
            "scores are equally low, their weights are equal.",
            when=_empty_weights_are(lambda w, plain: near(w, 1 / w.shape[-1])),
            read=EMPTY,
        ),
        Mistake(
            "empty rows without a mask",
            "The query that may attend to nothing attends as if there were no mask.",
            when=lambda seen, expected, inputs: near(
                _rows(seen, "weights")[_empty(inputs)],
                softmax(scaled(inputs["query"], inputs["key"])).numpy()[_empty(inputs)],
            ),
            read=EMPTY,
        ),
        Mistake(
            "hidden keys share the weight",
            "The query that may attend to nothing has weights that sum to 1. It should "
            "read nothing at all.",
            when=_empty_weights_are(lambda w, plain: near(w.sum(-1) / 3, 1 / 3)),
            read=EMPTY,
        ),
        Mistake(
            "one empty row empties all",
            "One query may attend to nothing, and now all queries get zeros. The "
            "decision has to be made for each row by itself.",
            when=lambda seen, expected, inputs: not seen["weights"].values.any(),
            read=EMPTY,
        ),
        Mistake(
            "NaN in the gradient",
            "Output and weights are right, but a gradient is NaN. Replacing a NaN "
            "after the softmax cleans the way forward only; on the way back, NaN times "
            "0 is NaN. So it must not come into being.",
            when=lambda seen, expected, inputs: (
                not all(_finite(seen, name) for name in expected)
            ),
            read=EMPTY,
        ),
        Mistake(
            "zero weights, but an output",
            "The weights of the query that may attend to nothing are zero, but its "
            "output is not: the two were not made from the same weights.",
            when=lambda seen, expected, inputs: (
                np.abs(_rows(seen, "output")[_empty(inputs)]).max() > 1e-3
            ),
            read=EMPTY,
        ),
    ),
)


def _half(generator):
    queries, visible, hidden = draw_sizes(generator, (2, 3), (2, 3), (1, 2))
    keys = visible + hidden
    order = torch.randperm(keys, generator=generator)
    mask = (torch.arange(keys) < visible)[order]
    # All visible scores are equal and low, all hidden ones are high: the right weights
    # are the same in any precision.
    key = torch.where(mask, -800.0, 20.0)[:, None].expand(keys, 4)
    value = torch.randint(-2, 3, (keys, 2), generator=generator)
    return {
        "query": torch.full((queries, 4), 8.0).half(),
        "key": key.clone().half(),
        "value": value.half(),
        "mask": mask[None],
    }


def _in_half(masked_attention, **inputs):
    parts = ask_masked(masked_attention, **inputs)
    kept = all(part.dtype == torch.float16 for part in parts.values())
    return {**parts, "result is in half precision": kept}


def _hidden_weight(seen, expected, inputs):
    weights = _rows(seen, "weights")
    return weights[:, ~inputs["mask"][0].numpy()].max() > 1e-3


def _visible_weight_lost(seen, expected, inputs):
    weights = _rows(seen, "weights")
    return not np.allclose(weights.sum(-1), 1, atol=1e-2)


HALF_PRECISION = Check(
    "the mask also holds in half precision, and against large hidden scores",
    1,
    inputs=_half,
    ask=_in_half,
    expected=lambda **inputs: _in_half(
        lambda *tensors: tuple(
            part.half()
            for part in reference(*(t.float() for t in tensors[:3]), tensors[3])
        ),
        **inputs,
    ),
    tolerance=2e-3,
    mistakes=(
        Mistake(
            "-1e9 in half precision",
            "The number that stands for minus infinity does not fit into half "
            "precision: the largest there is 65504.",
            when=lambda seen, expected, inputs: failed(
                seen, "overflow", "out of range"
            ),
            read=HALF,
        ),
        Mistake(
            "precisions mixed",
            "On the way, half precision turns into single precision, and the two do "
            "not mix. A mask of numbers, or a tensor made for the scale, has a "
            "precision of its own.",
            when=lambda seen, expected, inputs: (
                failed(seen, "dtype", "Half")
                or not seen["result is in half precision"].values
            ),
            read=HALF,
        ),
        Mistake(
            "low, but not low enough",
            "Here the hidden keys win. They were given a low score, and the visible "
            "ones happen to be lower still. Only one number is below every score.",
            when=_hidden_weight,
            read=HALF,
        ),
        Mistake(
            "masked after the softmax",
            "Nothing is left of the visible weights. The hidden scores, or what was "
            "put in their place, are so far above the visible ones that the softmax "
            "rounded these to 0, before the mask came.",
            when=_visible_weight_lost,
            read=MULTIPLIED,
        ),
    ),
)
