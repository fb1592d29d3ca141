"""The last check of task 5.3: the mask of the pattern between tokens."""

from functools import partial

import torch

from attncourse.exercises.efficient.block_faults import block_mistakes
from attncourse.exercises.efficient.block_views import (
    PAIRS,
    SPARSE_SECTION,
    between_blocks,
    pattern,
    token_mask,
)
from attncourse.exercises.efficient.oracle import size
from attncourse.exercises.task import Check, Mistake


def _mask_sizes(generator):
    block_size = size(generator, 2, 3)
    blocks = size(generator, 5, 6)
    return {
        "tokens": block_size * blocks - size(generator, 1, block_size - 1),
        "block_size": block_size,
        "window": 1,
        "stride": min(3, 2 * size(generator, 0, 2)),
        "num_global": 1,
    }


def _mask_shown(mask):
    """Return what is looked at of a mask: its entries, and those of pairs of blocks."""

    def ask(tokens, block_size, **rule):
        found = mask(tokens=tokens, block_size=block_size, **rule)
        fits = torch.is_tensor(found) and found.shape == (tokens, tokens)
        pairs = between_blocks(found, block_size, mean=True) if fits else found
        return {"mask": found, PAIRS: pairs}

    return ask


def _half_global_mask(tokens, block_size, num_global, **rule):
    mask = token_mask(tokens, block_size, num_global=0, **rule)
    return mask | (torch.arange(tokens) < num_global * block_size)


def _of_whole_blocks(tokens, block_size, window, stride, num_global):
    tokens = tokens // block_size * block_size
    return token_mask(tokens, block_size, window, stride, num_global)


def _interleaved(tokens, block_size, rows=True, columns=True, **rule):
    """Return the mask with blocks repeated one beside the other along some axes."""
    mask = pattern(-(-tokens // block_size), **rule)
    for axis, wrong in enumerate((rows, columns)):
        if wrong:
            mask = torch.cat([mask] * block_size, dim=axis)
        else:
            mask = mask.repeat_interleave(block_size, axis)
    return mask[:tokens, :tokens]


def _of_tokens(tokens, block_size, window, stride, num_global, unit=None):
    unit = unit or block_size
    return pattern(tokens, window * unit, stride * unit, num_global * unit)


def _uncut(tokens, block_size, window, stride, num_global):
    tokens = -(-tokens // block_size) * block_size
    return token_mask(tokens, block_size, window, stride, num_global)


MASK_CHECK = Check(
    "the mask between tokens, the last block cut to fit",
    0.5,
    inputs=_mask_sizes,
    ask=lambda seen_blocks, mask, **sizes: _mask_shown(mask)(**sizes),
    expected=_mask_shown(token_mask),
    mistakes=(
        Mistake(
            "last tokens lost",
            "The mask is smaller than (tokens, tokens): the last block, which "
            "is not full, is missing.",
            wrong=_mask_shown(_of_whole_blocks),
        ),
        Mistake(
            "last block not cut",
            "The mask is larger than (tokens, tokens): the last block is not "
            "full, and its missing tokens have rows and columns all the same.",
            wrong=_mask_shown(_uncut),
        ),
        Mistake(
            "global blocks do not see",
            "All tokens see the global blocks, but the tokens of these blocks "
            "do not see all.",
            wrong=_mask_shown(_half_global_mask),
            read=SPARSE_SECTION,
        ),
        Mistake(
            "global blocks are not seen",
            "The tokens of the global blocks see all, but not all tokens see them.",
            wrong=_mask_shown(lambda **rule: _half_global_mask(**rule).T),
            read=SPARSE_SECTION,
        ),
        Mistake(
            "mask between blocks",
            "The mask has one entry for each pair of blocks. It should have "
            "one for each pair of tokens.",
            wrong=_mask_shown(
                lambda tokens, block_size, **rule: pattern(
                    -(-tokens // block_size), **rule
                )
            ),
        ),
        Mistake(
            "rows and columns of blocks interleaved",
            "The blocks are repeated as a whole, one beside the other, and not "
            "stretched: token 1 belongs to block 0, not to block 1.",
            wrong=_mask_shown(_interleaved),
        ),
        Mistake(
            "rows and columns of blocks interleaved",
            "Along one of its two axes the blocks are repeated as a whole, one "
            "beside the other, and not stretched.",
            wrong=_mask_shown(partial(_interleaved, rows=False)),
        ),
        Mistake(
            "rows and columns of blocks interleaved",
            "Along one of its two axes the blocks are repeated as a whole, one "
            "beside the other, and not stretched.",
            wrong=_mask_shown(partial(_interleaved, columns=False)),
        ),
        Mistake(
            "rule of blocks asked of tokens",
            "The rule is applied to tokens, with window, stride and global "
            "blocks in tokens. It speaks of blocks: first the mask between "
            "blocks, then each entry becomes a square.",
            wrong=_mask_shown(partial(_of_tokens, unit=1)),
            read=SPARSE_SECTION,
        ),
        Mistake(
            "rule of blocks asked of tokens",
            "The rule is applied to tokens, with window, stride and global "
            "blocks multiplied by the size of a block. A window of one block "
            "begins where that block does, whichever token looks.",
            wrong=_mask_shown(_of_tokens),
            read=SPARSE_SECTION,
        ),
        Mistake(
            "causal in place of two-sided",
            "Nothing is True above the diagonal: no token sees a later one. This "
            "pattern looks to both sides.",
            wrong=_mask_shown(lambda **rule: token_mask(**rule).tril()),
            read=SPARSE_SECTION,
        ),
        *block_mistakes(PAIRS),
    ),
)
