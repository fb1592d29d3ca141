"""Task 5.2: local attention that computes its band only."""

from functools import partial

import torch

from attncourse.exercises.efficient.local_mistakes import (
    CAUSAL_MISTAKES,
    TWO_SIDED_MISTAKES,
    one_long_sequence,
    other_blocks_detached,
    right,
)
from attncourse.exercises.efficient.memory import MEMORY_MISTAKES, counted, within
from attncourse.exercises.efficient.oracle import (
    FAULTS,
    attend,
    size,
    slopes,
    tensors,
    window_mask,
)
from attncourse.exercises.efficient.views import shown
from attncourse.exercises.task import Check, Mistake, Task


def _whole_blocks(generator):
    window = size(generator, 2, 3)
    tokens = window * size(generator, 2, 3)
    return tensors(generator, 1, 1, tokens) | {"window": window}


def _any_length(generator):
    # a last block that is not full; now and then a window beyond the sequence
    window = size(generator, 2, 4)
    tokens = window * size(generator, 0, 2) + size(generator, 1, window - 1)
    return tensors(generator, 1, 1, min(max(tokens, 3), 9)) | {"window": window}


def _leading(generator):
    window = 2
    return tensors(generator, 2, 2, 4, width=2, width_of_values=1) | {"window": window}


def _on_all_axes(answer):
    """Call an answer with two, three and five axes."""

    def ask(query, key, value, window):
        cut = {"two axes": (0, 0), "three axes": (0,), "five axes": (None,)}
        return {
            name: answer(query[at], key[at], value[at], window)
            for name, at in cut.items()
        }

    return ask


def _scaled_by_values(query, key, value, window):
    mask = window_mask(query.shape[-2], window, True)
    return attend(query, key, value, mask, value.shape[-1] ** -0.5)


def _with_upstream(generator):
    inputs = _any_length(generator)
    shape = inputs["value"].shape
    return inputs | {"upstream": torch.randn(shape, generator=generator)}


def _gradients(answer):
    def ask(query, key, value, window, upstream):
        parts = [x.clone().requires_grad_() for x in (query, key, value)]
        return slopes(answer(*parts, window), *parts, upstream)

    return ask


def _is_zero(*names):
    return lambda seen, expected, inputs: all(
        not seen[name].values.any() for name in names
    )


def _not_finite(seen, expected, inputs):
    return any(not part.values.sum() < float("inf") for part in seen.values())


def _large_sizes(generator):
    return {
        "tokens": 16 * size(generator, 22, 28),
        "window": 16,
        "heads": 2,
        "width": 16,
    }


def _memory(causal):
    """Return the `ask` of a memory check."""

    def ask(attention, tokens, window, heads, width):
        generator = torch.Generator().manual_seed(tokens)
        short, long = (
            tensors(generator, 1, heads, n, width=width) for n in (tokens, 2 * tokens)
        )
        options = {"window": window, "causal": causal}
        return counted(
            partial(attention, **short, **options),
            partial(attention, **long, **options),
            limit=6 * heads * 2 * tokens * max(window, width),
            expected=right(**short, **options),
        )

    return ask


LOCAL = Task(
    name="local",
    title="Local attention that saves memory",
    names=("window_attention",),
    difficulty="hard",
    minutes=45,
    checks=(
        Check(
            "causal, whole blocks: equals full attention with the mask",
            1,
            inputs=_whole_blocks,
            ask=lambda attention, **inputs: shown(partial(attention, causal=True))(
                **inputs
            ),
            expected=shown(right),
            mistakes=CAUSAL_MISTAKES,
            pure=True,
        ),
        Check(
            "causal, any number of tokens, also fewer than the window",
            0.5,
            inputs=_any_length,
            ask=lambda attention, **inputs: shown(partial(attention, causal=True))(
                **inputs
            ),
            expected=shown(right),
            mistakes=CAUSAL_MISTAKES,
        ),
        Check(
            "two-sided: equals full attention with the mask",
            0.5,
            inputs=_any_length,
            ask=lambda attention, **inputs: shown(attention)(**inputs),
            expected=shown(partial(right, causal=False)),
            mistakes=TWO_SIDED_MISTAKES,
        ),
        Check(
            "any leading axes, each sequence by itself; values of another width",
            0.5,
            inputs=_leading,
            ask=lambda attention, **inputs: _on_all_axes(
                partial(attention, causal=True)
            )(**inputs),
            expected=_on_all_axes(right),
            mistakes=(
                Mistake(
                    "sequences run into one another",
                    "The first block of a head, or of a sequence of the batch, sees "
                    "the last block of the one before. All sequences have become one.",
                    wrong=_on_all_axes(one_long_sequence),
                ),
                Mistake(
                    "scaled by the width of the values",
                    "The scores are divided by the root of the width of the *values*. "
                    "What is added up in a score are products of queries and keys.",
                    wrong=_on_all_axes(_scaled_by_values),
                    read="chapters/02_attention_types#why-divide-by-d-k",
                ),
                Mistake(
                    "number of axes fixed",
                    "The answer takes one number of axes only. It should work with "
                    "(tokens, d), (heads, tokens, d) and so on: count axes from the "
                    "end, with -1 and -2.",
                    when=lambda seen, expected, inputs: (
                        "unpack" in seen["result"].text
                        or "Dimension out of range" in seen["result"].text
                        or "dimensions" in seen["result"].text
                    ),
                ),
            ),
        ),
        Check(
            "the gradients of query, key and value are right as well",
            0.5,
            gradients=True,
            inputs=_with_upstream,
            ask=lambda attention, **inputs: _gradients(partial(attention, causal=True))(
                **inputs
            ),
            expected=_gradients(right),
            mistakes=(
                Mistake(
                    "no gradient at all",
                    "The output does not depend on the inputs as far as PyTorch knows. "
                    "Look for no_grad, detach, .data or a conversion to NumPy.",
                    when=_is_zero("of query", "of key", "of value"),
                ),
                Mistake(
                    "gradient cut off between blocks",
                    "Keys and values learn from the queries of their own block only. "
                    "The copy of them that the next block sees is detached.",
                    wrong=_gradients(other_blocks_detached),
                ),
                Mistake(
                    "gradient cut off",
                    "The output is right, but keys or values get no gradient at all.",
                    when=lambda *case: (
                        _is_zero("of key")(*case) or _is_zero("of value")(*case)
                    ),
                ),
                Mistake(
                    "gradient is not a number",
                    "The output is right, and the gradient is NaN. Some row of scores "
                    "is all minus infinity: a query that only fills up a block sees no "
                    "key. Cutting its output off does not cut off its gradient: 0 · "
                    "NaN is NaN.",
                    when=_not_finite,
                    read=FAULTS,
                ),
            ),
        ),
        *(
            Check(
                f"{name}: memory grows with n · window",
                1.5,
                inputs=_large_sizes,
                ask=_memory(causal),
                expected=lambda **sizes: within(),
                mistakes=MEMORY_MISTAKES,
                once=True,
            )
            for name, causal in (("causal", True), ("two-sided", False))
        ),
    ),
)
