"""What goes wrong in task 5.4, and the wrong answers that show it."""

import torch

from attncourse.exercises.efficient.block_faults import block_mistakes
from attncourse.exercises.efficient.block_views import (
    BETWEEN,
    EDGES_SECTION,
    SPARSE_SECTION,
    shown,
    token_mask,
)
from attncourse.exercises.efficient.oracle import CHAPTER, attend
from attncourse.exercises.efficient.roles import as_shown, in_other_roles
from attncourse.exercises.efficient.sparse_keys import OTHER_KEYS
from attncourse.exercises.task import Mistake

AVERAGED = f"{CHAPTER}#how-can-a-softmax-not-see-its-row"


def right(query, key, value, **rule):
    """Return sparse attention, from the full matrix of scores."""
    return attend(query, key, value, token_mask(query.shape[-2], **rule))


def _scaled(power):
    def answer(query, key, value, **rule):
        mask = token_mask(query.shape[-2], **rule)
        return attend(query, key, value, mask, query.shape[-1] ** power)

    return answer


def _with_rule(change):
    """Return an answer to another pattern, given by ``change(rule)``."""
    return lambda query, key, value, **rule: right(
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
    return right(*parts, **rule)[..., :tokens, :]


def _last_block_lost(query, key, value, **rule):
    whole = query.shape[-2] // rule["block_size"] * rule["block_size"]
    return right(*(x[..., :whole, :] for x in (query, key, value)), **rule)


def _last_token_repeated(query, key, value, **rule):
    size, tokens = rule["block_size"], query.shape[-2]
    whole = -(-tokens // size) * size
    places = torch.arange(whole).clamp(max=tokens - 1)
    parts = (x[..., places, :] for x in (query, key, value))
    return right(*parts, **rule)[..., :tokens, :]


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


def _blocks_seen(tokens, **rule):
    mask = token_mask(tokens, **rule)[:, :: rule["block_size"]]
    return mask.sum(-1, keepdim=True)


def _scaled_by_blocks(query, key, value, **rule):
    mask = token_mask(query.shape[-2], **rule)
    counts = _blocks_seen(query.shape[-2], **rule)
    return attend(query / counts, key, value, mask)


_MISTAKES = (
    Mistake(
        "scaled by the number of keys",
        "The scores are divided by the root of the number of keys that a "
        "block sees. A score is a sum over features: more keys make more "
        "scores, not larger ones.",
        wrong=_scaled_by_keys,
    ),
    Mistake(
        "scaled by the number of blocks",
        "The scores are divided by the number of blocks that are seen as well. How "
        "many keys there are is for the softmax to see to.",
        wrong=_scaled_by_blocks,
    ),
    Mistake(
        "no scaling",
        "The scores are not divided by the root of d_k. Sparse attention is masked "
        "attention, the scale included.",
        wrong=_scaled(0),
    ),
    Mistake(
        "scores make no difference",
        "This is the plain mean of the values that are seen: the scores of queries and "
        "keys have no effect. Are weights made of them, and used?",
        wrong=lambda query, key, value, **rule: right(0 * query, key, value, **rule),
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
        read=EDGES_SECTION,
    ),
    Mistake(
        "last token read again",
        "The last block is filled up with copies of the last token, and queries that "
        "see the block read it several times. Positions that do not exist are no keys.",
        wrong=_last_token_repeated,
        read=EDGES_SECTION,
    ),
    Mistake(
        "last block taken for full",
        "The last block is not full. It asks for positions that do not exist.",
        when=lambda seen, expected, inputs: any(
            "IndexError" in part.text for part in seen.values()
        ),
        read=EDGES_SECTION,
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

MISTAKES = (
    *as_shown((*_MISTAKES, *in_other_roles(right), *OTHER_KEYS), shown),
    *block_mistakes(BETWEEN),
)
