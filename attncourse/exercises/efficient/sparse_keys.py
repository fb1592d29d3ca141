"""Wrong answers to task 5.4 in which queries see other keys than they should."""

import torch

from attncourse.exercises.efficient.block_views import (
    SPARSE_SECTION,
    pattern,
    token_mask,
)
from attncourse.exercises.efficient.oracle import attend
from attncourse.exercises.task import Mistake


def _masked(change):
    """Return an answer with another mask, ``change(mask, block, **rule)``.

    `block` is the block of each token.
    """

    def answer(query, key, value, **rule):
        tokens = query.shape[-2]
        block = torch.arange(tokens) // rule["block_size"]
        return attend(
            query, key, value, change(token_mask(tokens, **rule), block, **rule)
        )

    return answer


def _numbers_as_positions(mask, block, block_size, **rule):
    blocks = int(block[-1]) + 1
    between = pattern(blocks, **rule)[block]
    return torch.nn.functional.pad(between, (0, len(mask) - blocks))


def _one_of_each(mask, block, **rule):
    """Return the mask of the first token of each block that is seen."""
    return mask & (block.diff(prepend=torch.tensor([-1])) == 1)


def _causal_on_gathered(mask, block, **rule):
    within = torch.arange(len(mask)) % rule["block_size"]
    return mask & (mask.cumsum(-1) - 1 <= within[:, None])


def _first_seen(mask, block, **rule):
    first = mask.int().argmax(-1)
    return block == block[first][:, None]


OTHER_KEYS = tuple(
    Mistake(name, says, wrong=_masked(change), read=SPARSE_SECTION)
    for name, says, change in (
        (
            "causal in place of two-sided",
            "No query sees a later key. This pattern looks to both sides.",
            lambda mask, block, **rule: mask.tril(),
        ),
        (
            "causal within a block",
            "Within its own block a query sees no later key. A block that is seen is "
            "seen whole, the own one too.",
            lambda mask, block, **rule: (
                mask & ((block != block[:, None]) | torch.ones_like(mask).tril())
            ),
        ),
        (
            "causal in place of two-sided",
            "A causal mask lies on the keys that were gathered: the first query sees "
            "the first of them only. This pattern hides no key of a block that is "
            "seen.",
            _causal_on_gathered,
        ),
        (
            "own block left out",
            "No query sees the keys of its own block. A window of 0 is the block "
            "itself.",
            lambda mask, block, **rule: mask & (block != block[:, None]),
        ),
        (
            "only the own block",
            "Each query sees the keys of its own block, and no others.",
            lambda mask, block, **rule: block == block[:, None],
        ),
        (
            "only the first block of the list",
            "Each block sees only the first of the blocks that it should. All keys of "
            "all blocks in the list go into one softmax.",
            _first_seen,
        ),
        (
            "numbers of blocks as positions",
            "The numbers of the blocks are used as positions of tokens. Block b holds "
            "the positions from b · block_size on.",
            _numbers_as_positions,
        ),
        (
            "one key of each block",
            "Of each block only the first key is seen. A block holds `block_size` "
            "positions.",
            _one_of_each,
        ),
    )
)
