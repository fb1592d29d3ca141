"""Task 5.4: attention that computes the blocks of a sparse pattern only."""

from functools import partial

import torch

from attncourse.exercises.efficient.memory import (
    MEMORY_MISTAKES,
    counted,
    within,
)
from attncourse.exercises.efficient.oracle import (
    CHAPTER,
    attend,
    size,
    slopes,
    tensors,
)
from attncourse.exercises.efficient.pattern import SPARSE_SECTION, token_mask
from attncourse.exercises.task import Check, Mistake, Task

AVERAGED = f"{CHAPTER}#how-can-a-softmax-not-see-its-row"


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


def _right(query, key, value, **rule):
    return attend(query, key, value, token_mask(query.shape[-2], **rule))


def _scaled(power):
    def answer(query, key, value, **rule):
        mask = token_mask(query.shape[-2], **rule)
        return attend(query, key, value, mask, query.shape[-1] ** power)

    return answer


def _with_rule(change):
    """Return an answer to another pattern, given by ``change(rule)``."""
    return lambda query, key, value, **rule: _right(
        query, key, value, **(rule | change(rule))
    )


def _half_global(*, seen):
    """Return an answer whose global blocks are only seen, or only see."""

    def answer(query, key, value, **rule):
        tokens = query.shape[-2]
        mask = token_mask(tokens, **rule)
        plain = token_mask(tokens, **(rule | {"num_global": 0}))
        first = torch.arange(tokens) < rule["num_global"] * rule["block_size"]
        first = first[:, None] if seen else first
        return attend(query, key, value, torch.where(first, plain, mask))

    return answer


def _blocks_averaged(query, key, value, **rule):
    tokens, size = query.shape[-2], rule["block_size"]
    mask = token_mask(tokens, **rule)
    block = torch.arange(tokens) // size
    total, count = 0, 0
    for number in range(int(block[-1]) + 1):
        chosen = mask & (block == number)
        part = attend(query, key, value, chosen)  # NaN where the block is not seen
        total = total + part.nan_to_num(0.0)
        count = count + chosen.any(-1, keepdim=True)
    return total / count


def _padding_seen(query, key, value, **rule):
    size, tokens = rule["block_size"], query.shape[-2]
    whole = -(-tokens // size) * size
    pad = torch.nn.functional.pad
    parts = (pad(x, (0, 0, 0, whole - tokens)) for x in (query, key, value))
    return _right(*parts, **rule)[..., :tokens, :]


def _last_block_lost(query, key, value, **rule):
    whole = query.shape[-2] // rule["block_size"] * rule["block_size"]
    return _right(*(x[..., :whole, :] for x in (query, key, value)), **rule)


def _last_token_repeated(query, key, value, **rule):
    size, tokens = rule["block_size"], query.shape[-2]
    whole = -(-tokens // size) * size
    places = torch.arange(whole).clamp(max=tokens - 1)
    parts = (x[..., places, :] for x in (query, key, value))
    return _right(*parts, **rule)[..., :tokens, :]


def _masked_afterwards(query, key, value, **rule):
    weights = (query @ key.mT / query.shape[-1] ** 0.5).softmax(dim=-1)
    return (weights * token_mask(query.shape[-2], **rule)) @ value


def _scaled_by_keys(query, key, value, **rule):
    mask = token_mask(query.shape[-2], **rule)
    counts = mask.sum(dim=-1, keepdim=True)
    return attend(query / counts**0.5, key, value, mask, 1.0)


def _queries_only(query, key, value, **rule):
    """Return an answer in which nobody sees the keys of the last block, not full."""
    tokens = query.shape[-2]
    whole = tokens // rule["block_size"] * rule["block_size"]
    mask = token_mask(tokens, **rule) & (torch.arange(tokens) < whole)
    return attend(query, key, value, mask)


MISTAKES = (
    Mistake(
        "keys for values",
        "The keys are summed, not the values. A key says how a token is "
        "found; what it hands over is its value.",
        wrong=lambda query, key, value, **rule: _right(query, key, key, **rule),
    ),
    Mistake(
        "scaled by the number of keys",
        "The scores are divided by the root of the number of keys that a "
        "block sees. A score is a sum over features: more keys make more "
        "scores, not larger ones.",
        wrong=_scaled_by_keys,
    ),
    Mistake(
        "no scaling",
        "The scores are not divided by the root of d_k. Sparse attention is masked "
        "attention, the scale included.",
        wrong=_scaled(0),
    ),
    Mistake(
        "wrong scale",
        "The scores are divided by d_k, once too often: divide by its root, once.",
        wrong=_scaled(-1),
    ),
    Mistake(
        "softmax of each block by itself",
        "Each block of keys has a softmax of its own, and the outputs are averaged. A "
        "block of poor scores then has the same say as a block of good ones.",
        wrong=_blocks_averaged,
        read=AVERAGED,
    ),
    Mistake(
        "softmax of each block by itself",
        "Each block of keys has a softmax of its own, and the outputs are added up. "
        "The weights of a query then sum to the number of its blocks, not to 1.",
        wrong=lambda query, key, value, **rule: (
            _blocks_averaged(query, key, value, **rule)
            * _blocks_seen(query.shape[-2], **rule)
        ),
        read=AVERAGED,
    ),
    Mistake(
        "global blocks do not see",
        "The global blocks are seen by all, but see only a few blocks themselves.",
        wrong=_half_global(seen=True),
        read=SPARSE_SECTION,
    ),
    Mistake(
        "global blocks are not seen",
        "The global blocks see all, but not every block sees them.",
        wrong=_half_global(seen=False),
        read=SPARSE_SECTION,
    ),
    Mistake(
        "no global blocks",
        "The global blocks are like any other block.",
        wrong=_with_rule(lambda rule: {"num_global": 0}),
        read=SPARSE_SECTION,
    ),
    Mistake(
        "no strides",
        "The blocks of the stride are not seen.",
        wrong=_with_rule(lambda rule: {"stride": 0}),
        read=SPARSE_SECTION,
    ),
    Mistake(
        "padding is attended to",
        "The zeros that fill up the last block take part in the softmax. A score of 0 "
        "is not absence: e⁰ = 1.",
        wrong=_padding_seen,
        read=f"{CHAPTER}#three-faults-at-the-edges",
    ),
    Mistake(
        "last token read again",
        "The last block is filled up with copies of the last token, and queries that "
        "see the block read it several times. Positions that do not exist are no keys.",
        wrong=_last_token_repeated,
        read=f"{CHAPTER}#three-faults-at-the-edges",
    ),
    Mistake(
        "last block taken for full",
        "The last block is not full. It asks for positions that do not exist.",
        when=lambda seen, expected, inputs: any(
            "IndexError" in part.text for part in seen.values()
        ),
        read=f"{CHAPTER}#three-faults-at-the-edges",
    ),
    Mistake(
        "masked after the softmax",
        "The softmax runs over all keys, and what is not seen is set to 0 after it. "
        "The weights of a query no longer sum to 1.",
        wrong=_masked_afterwards,
        read="chapters/05_masking#case-2-the-keys-that-were-multiplied-away",
    ),
    Mistake(
        "last tokens lost",
        "The output is shorter than the input: the tokens of the last block, which is "
        "not full, are missing.",
        wrong=_last_block_lost,
    ),
    Mistake(
        "last keys lost",
        "Nobody sees the keys of the last block, which is not full.",
        wrong=_queries_only,
    ),
)


def _blocks_seen(tokens, **rule):
    mask = token_mask(tokens, **rule)[:, :: rule["block_size"]]
    return mask.sum(-1, keepdim=True)


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
    return _right(*flat, **rule).reshape(value.shape)


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
        expected=_right(**short, **rule),
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
            ask=lambda attention, **inputs: attention(**inputs),
            expected=_right,
            mistakes=MISTAKES,
            pure=True,
        ),
        Check(
            "any number of tokens, the last block not full",
            0.5,
            inputs=_inputs(1, 1, cut=True),
            ask=lambda attention, **inputs: attention(**inputs),
            expected=_right,
            mistakes=MISTAKES,
        ),
        Check(
            "with leading axes, each sequence by itself; the gradients are right",
            1,
            gradients=True,
            inputs=_with_upstream,
            ask=lambda attention, **inputs: _gradients(attention)(**inputs),
            expected=_gradients(_right),
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
