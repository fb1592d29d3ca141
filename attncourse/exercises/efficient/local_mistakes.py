"""What goes wrong in task 5.2, and the wrong answers that show it."""

from functools import partial

import torch

from attncourse.exercises.efficient.oracle import (
    BLOCKS,
    FAULTS,
    WINDOW,
    attend,
    distance,
    on_padding,
    window_mask,
)
from attncourse.exercises.efficient.roles import as_shown, in_other_roles
from attncourse.exercises.efficient.views import ALIKE, shown
from attncourse.exercises.efficient.window_views import view_mistakes
from attncourse.exercises.task import Mistake


def right(query, key, value, window, causal=True):
    """Return local attention, from the full matrix of scores."""
    return attend(query, key, value, window_mask(query.shape[-2], window, causal))


def masked(mask_of, scale_of=lambda d, n, w: d**-0.5):
    """Return an answer with another mask, a function of distance and window.

    `scale_of` takes the width, the number of tokens and the window.
    """

    def answer(query, key, value, window):
        tokens, width = query.shape[-2:]
        mask = mask_of(distance(tokens), window)
        return attend(query, key, value, mask, scale_of(width, tokens, window))

    return answer


def _near(causal):
    def mask_of(behind, window):
        if causal:
            return (behind >= 0) & (behind < window)
        return behind.abs() <= window

    return mask_of


def _blocks_of(behind, window):
    block = torch.arange(len(behind)) // window
    return block[:, None] - block


def _last_block_lost(causal, *, zeros):
    def answer(query, key, value, window):
        whole = query.shape[-2] // window * window
        parts = (x[..., :whole, :] for x in (query, key, value))
        output = right(*parts, window, causal)
        if not zeros:
            return output
        return torch.nn.functional.pad(output, (0, 0, 0, query.shape[-2] - whole))

    return answer


def _padding_seen(causal, *, filled):
    """Return an answer that sees all zeros in its window, or those of the blocks."""

    def answer(query, key, value, window):
        tokens = query.shape[-2]
        size = min(window, tokens)
        before, after = window, window
        if filled:
            before, after = size, size + (-tokens) % size
        mask_of = _near(causal)
        return on_padding(
            query, key, value, lambda d: mask_of(d, window), before, after
        )

    return answer


def one_long_sequence(query, key, value, window):
    """Return causal local attention of all sequences laid end to end."""
    flat = (x.reshape(-1, x.shape[-1]) for x in (query, key, value))
    return right(*flat, window).reshape(value.shape)


def other_blocks_detached(query, key, value, window):
    """Attend, with a copy of the keys of other blocks that no gradient passes."""
    tokens, width = query.shape[-2:]
    block = torch.arange(tokens) // window
    own = (block[:, None] == block)[..., None]
    keys, values = (
        torch.where(own, x[..., None, :, :], x.detach()[..., None, :, :])
        for x in (key, value)
    )  # (..., queries, keys, d)
    scores = (query[..., None, :] * keys).sum(-1) * width**-0.5
    mask = window_mask(tokens, window, True)
    weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)
    return (weights[..., None] * values).sum(-2)


NO_SCALING = (
    "The scores are not divided by the root of d_k. Local attention is masked "
    "attention, the scale included."
)


def _wrong_scales(near):
    """Return a mistake for each other number by which scores may be divided."""
    scales = {
        "by half of the root of d_k": lambda d, n, w: 2 * d**-0.5,
        "by twice the root of d_k": lambda d, n, w: 0.5 * d**-0.5,
        "and not divided, by the root of d_k": lambda d, n, w: d**0.5,
        "by the root of the number of tokens": lambda d, n, w: n**-0.5,
        "by the number of tokens": lambda d, n, w: 1 / n,
        "by the root of the window": lambda d, n, w: w**-0.5,
        "by the window": lambda d, n, w: 1 / w,
    }
    return tuple(
        Mistake(
            "wrong scale",
            "The right keys are seen, but the scores are "
            f"{'multiplied' if 'not divided' in by else 'divided'} {by}. They should "
            "be divided by the root of d_k, once.",
            wrong=shown(masked(near, scale)),
            read="chapters/02_attention_types#why-divide-by-d-k",
        )
        for by, scale in scales.items()
    )


def _shared_mistakes(causal):
    """Return the mistakes about scale, roles and blocks, for either kind of window."""
    near = _near(causal)
    same = "in its own block"
    return (
        Mistake(
            "no scaling", NO_SCALING, wrong=shown(masked(near, lambda d, n, w: 1.0))
        ),
        Mistake(
            "wrong scale",
            "The scores are divided by d_k, once too often: divide by its root, once. "
            "Does the function that you call scale them once more?",
            wrong=shown(masked(near, lambda d, n, w: 1 / d)),
        ),
        Mistake(
            "scores make no difference",
            "This is the plain mean of the values that are seen: the scores of queries "
            "and keys have no effect. Are weights made of them, and used?",
            wrong=shown(masked(near, lambda d, n, w: 0.0)),
        ),
        *_wrong_scales(near),
        *as_shown(in_other_roles(partial(right, causal=causal)), shown),
        Mistake(
            "only the own block",
            f"A query sees only the keys {same}. The first query of a block has its "
            "nearest neighbours in another one.",
            wrong=shown(masked(lambda b, w: near(b, w) & (_blocks_of(b, w) == 0))),
            read=BLOCKS,
        ),
        *(
            Mistake(
                "padding is attended to",
                "The zeros that fill up the blocks take part in the softmax. A score "
                "of 0 is not absence: e⁰ = 1. The queries near the edge lose weight.",
                wrong=shown(_padding_seen(causal, filled=filled)),
                read=FAULTS,
            )
            for filled in (False, True)
        ),
        Mistake(
            "last tokens lost",
            "The output is shorter than the input: the tokens of the last block, which "
            "is not full, are missing.",
            wrong=shown(_last_block_lost(causal, zeros=False)),
            read=BLOCKS,
        ),
        Mistake(
            "last tokens lost",
            "The last tokens, those of a block that is not full, get zeros.",
            wrong=shown(_last_block_lost(causal, zeros=True)),
            read=BLOCKS,
        ),
    )


CAUSAL_MISTAKES = (
    Mistake(
        "one key too many",
        "Each query sees one key more than the window. Its own key counts as one.",
        wrong=shown(masked(lambda b, w: (b >= 0) & (b <= w))),
        read=FAULTS,
    ),
    Mistake(
        "one key too few",
        "Each query sees one key less than the window.",
        wrong=shown(masked(lambda b, w: (b >= 0) & (b < w - 1))),
        read=FAULTS,
    ),
    Mistake(
        "two-sided in place of causal",
        "The window reaches to both sides, so queries see keys that come after them.",
        wrong=shown(masked(lambda b, w: b.abs() <= w)),
        read=WINDOW,
    ),
    Mistake(
        "two-sided in place of causal",
        "The window reaches to both sides, so queries see keys that come after them.",
        wrong=shown(masked(lambda b, w: b.abs() < w)),
        read=WINDOW,
    ),
    Mistake(
        "no mask within the blocks",
        "Every query sees all keys of its block and of the one before. The rectangle "
        "holds more than the band: some keys are too old, and some come later.",
        wrong=shown(
            masked(lambda b, w: (_blocks_of(b, w) >= 0) & (_blocks_of(b, w) <= 1))
        ),
        read=BLOCKS,
    ),
    Mistake(
        "too old keys are seen",
        "Every query sees all keys of the block before its own. Most of them are "
        "within its window, but not all.",
        wrong=shown(masked(lambda b, w: (b >= 0) & (_blocks_of(b, w) <= 1))),
        read=BLOCKS,
    ),
    Mistake(
        "no window",
        "Every query sees all keys before it: this is full causal attention.",
        wrong=shown(masked(lambda b, w: b >= 0)),
        read=WINDOW,
    ),
    *_shared_mistakes(True),
    *view_mistakes(ALIKE, True),
)

TWO_SIDED_MISTAKES = (
    Mistake(
        "causal in place of two-sided",
        "No query sees a later key. Two-sided, it sees as far ahead as back.",
        wrong=shown(masked(lambda b, w: (b >= 0) & (b < w))),
        read=WINDOW,
    ),
    Mistake(
        "causal in place of two-sided",
        "No query sees a later key. Two-sided, it sees as far ahead as back.",
        wrong=shown(masked(lambda b, w: (b >= 0) & (b <= w))),
        read=WINDOW,
    ),
    Mistake(
        "distance too short by one",
        "The farthest key that a query sees is window − 1 away. Two-sided, the "
        "distance `window` itself is included.",
        wrong=shown(masked(lambda b, w: b.abs() < w)),
        read=FAULTS,
    ),
    Mistake(
        "later block missing",
        "Later keys are seen only where they lie in the query's own block. The last "
        "query of a block has its later neighbours in the next one.",
        wrong=shown(masked(lambda b, w: (b.abs() <= w) & (_blocks_of(b, w) >= 0))),
        read=BLOCKS,
    ),
    *_shared_mistakes(False),
    *view_mistakes(ALIKE, False),
)
