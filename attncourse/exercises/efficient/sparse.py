"""Task 5.4: attention that computes the blocks of a sparse pattern only."""

from functools import partial

import torch

from attncourse.exercises.efficient.block_views import shown
from attncourse.exercises.efficient.memory import (
    MEMORY_MISTAKES,
    counted,
    within,
)
from attncourse.exercises.efficient.oracle import (
    size,
    slopes,
    tensors,
)
from attncourse.exercises.efficient.sparse_mistakes import MISTAKES, right
from attncourse.exercises.task import Check, Mistake, Task


def _inputs(*shape, cut, blocks=6):
    """Return a function that draws tensors and a pattern; `cut`: with a part block."""

    def draw(generator):
        block = size(generator, 2, 3) if blocks > 5 else 2
        tokens = block * blocks
        if cut:
            tokens -= size(generator, 1, block - 1)
        return tensors(generator, *shape, tokens) | {
            "block_size": block,
            "window": size(generator, 0, 1),
            "stride": 3,
            "num_global": 1,
        }

    return draw


def _with_upstream(generator):
    inputs = _inputs(2, cut=True, blocks=5)(generator)
    shape = inputs["value"].shape
    return inputs | {"upstream": torch.randn(shape, generator=generator)}


def _gradients(answer):
    def ask(query, key, value, upstream, **rule):
        parts = [x.clone().requires_grad_() for x in (query, key, value)]
        return slopes(answer(*parts, **rule), *parts, upstream)

    return ask


def _one_long_sequence(query, key, value, **rule):
    flat = (x.reshape(-1, x.shape[-1]) for x in (query, key, value))
    return right(*flat, **rule).reshape(value.shape)


def _large_sizes(generator):
    return {"tokens": 8 * size(generator, 45, 55), "block_size": 8, "window": 1}


def _memory(attention, tokens, block_size, window):
    generator = torch.Generator().manual_seed(tokens)
    short, long = (tensors(generator, 2, n, width=8) for n in (tokens, 2 * tokens))
    rule = {"block_size": block_size, "window": window, "stride": 0, "num_global": 1}
    return counted(
        partial(attention, **short, **rule),
        partial(attention, **long, **rule),
        limit=3 * 2 * 2 * tokens * block_size * (2 * window + 2),
        expected=right(**short, **rule),
    )


SPARSE = Task(
    name="sparse",
    title="Attention in a sparse pattern",
    names=("sparse_attention",),
    difficulty="hard",
    minutes=35,
    needs=("pattern",),
    checks=(
        Check(
            "whole blocks: equals full attention with the mask of the pattern",
            0.5,
            inputs=_inputs(cut=False),
            ask=lambda attention, **inputs: shown(attention)(**inputs),
            expected=shown(right),
            mistakes=MISTAKES,
            pure=True,
        ),
        Check(
            "any number of tokens, the last block not full",
            0.5,
            inputs=_inputs(1, 1, cut=True),
            ask=lambda attention, **inputs: shown(attention)(**inputs),
            expected=shown(right),
            mistakes=MISTAKES,
        ),
        Check(
            "with leading axes, each sequence by itself; the gradients are right",
            1,
            gradients=True,
            inputs=_with_upstream,
            ask=lambda attention, **inputs: _gradients(attention)(**inputs),
            expected=_gradients(right),
            mistakes=(
                Mistake(
                    "no gradient at all",
                    "The output does not depend on the inputs as far as PyTorch knows. "
                    "Look for no_grad, detach, .data or a conversion to NumPy.",
                    when=lambda seen, expected, inputs: all(
                        part.kind == "float" and not part.values.any()
                        for part in seen.values()
                    ),
                ),
                Mistake(
                    "gradient cut off",
                    "Queries, keys or values get no gradient, and others do. Look for "
                    "detach, .data or a list of numbers on the way.",
                    when=lambda seen, expected, inputs: any(
                        part.kind == "float" and not part.values.any()
                        for part in seen.values()
                    ),
                ),
                Mistake(
                    "sequences run into one another",
                    "The sequences of the leading axes are laid end to end, and see "
                    "one another.",
                    wrong=_gradients(_one_long_sequence),
                ),
                Mistake(
                    "gradient is not a number",
                    "The gradient is NaN. Some row of scores is all minus infinity: a "
                    "query that only fills up a block sees no key.",
                    when=lambda seen, expected, inputs: any(
                        not part.values.sum() < float("inf") for part in seen.values()
                    ),
                ),
            ),
        ),
        Check(
            "memory grows with n, not with n²",
            2,
            inputs=_large_sizes,
            ask=_memory,
            expected=lambda **sizes: within(),
            mistakes=MEMORY_MISTAKES,
            once=True,
        ),
    ),
)
