"""Task 1.5: attention with a mask."""

from __future__ import annotations

import torch

from attncourse.exercises.from_scratch.common import (
    NOT_TWO,
    ONE_RESULT,
    attended,
    draw_sizes,
    failed,
    parts_of,
    scaled,
    softmax,
)
from attncourse.exercises.from_scratch.extremes import (
    EMPTY_ROWS,
    HALF_PRECISION,
    MULTIPLIED,
    ask_masked,
    draw,
)
from attncourse.exercises.from_scratch.masks import CONVENTION
from attncourse.exercises.task import Check, Mistake, Task
from attncourse.layers.core import scaled_dot_product_attention as reference

AXES = "chapters/05_masking#case-6-the-sentence-that-changed-in-company"


def _one_sequence(generator):
    tokens, d_k = draw_sizes(generator, (3, 4), (2, 3))
    mask = torch.rand(tokens, tokens, generator=generator) < 0.4
    mask |= torch.eye(tokens, dtype=torch.bool)
    mask[0, 1:], mask[1] = False, True  # one row sees itself only, one sees all
    return {
        "query": draw(generator, tokens, d_k),
        "key": draw(generator, tokens, d_k),
        "value": draw(generator, tokens, 2),
        "mask": mask,
    }


def _right(query, key, value, mask):
    return parts_of(reference(query, key, value, mask))


def _weighed(weigh):
    def wrong(query, key, value, mask):
        return attended(weigh(scaled(query, key), mask), value)

    return wrong


HIDES = Check(
    "a hidden key gets no weight, and the visible ones share it all",
    1,
    inputs=_one_sequence,
    ask=ask_masked,
    expected=_right,
    pure=True,
    mistakes=(
        NOT_TWO,
        ONE_RESULT,
        Mistake(
            "mask ignored",
            "These are the weights without a mask: hidden keys are read.",
            wrong=_weighed(lambda s, mask: softmax(s)),
            read=CONVENTION,
        ),
        Mistake(
            "inverted mask",
            "Weight is where the mask says False. In this course, and in PyTorch's "
            "scaled dot-product attention, True means: may attend.",
            wrong=_weighed(lambda s, mask: softmax(s.masked_fill(mask, -torch.inf))),
            read=CONVENTION,
        ),
        Mistake(
            "inverted mask",
            "Weight is where the mask says False. True means: may attend.",
            wrong=_weighed(lambda s, mask: softmax(s.masked_fill(mask, -1e9))),
            read=CONVENTION,
        ),
        Mistake(
            "mask after the softmax",
            "Hidden weights are 0, but the rows no longer sum to 1: the hidden keys "
            "took part in the softmax. Each visible weight still tells how large the "
            "hidden scores were.",
            wrong=_weighed(lambda s, mask: softmax(s) * mask),
            read=MULTIPLIED,
        ),
        Mistake(
            "mask by multiplication",
            "The scores of hidden keys are 0 before the softmax. A score of 0 is no "
            "absence: e⁰ = 1, so hidden keys keep weight.",
            wrong=_weighed(lambda s, mask: softmax(s * mask)),
            read=MULTIPLIED,
        ),
        Mistake(
            "boolean mask added",
            "The mask is added to the scores, and a True counts as 1. Only an "
            "additive mask, of 0 and -inf, is made for adding.",
            wrong=_weighed(lambda s, mask: softmax(s + mask)),
            read="chapters/05_masking#case-1-the-mask-that-hid-the-wrong-half",
        ),
        Mistake(
            "mask on the other side",
            "The mask is applied with its rows as keys. Rows are queries, columns are "
            "keys.",
            wrong=_weighed(lambda s, mask: softmax(s.masked_fill(~mask.T, -torch.inf))),
            read=CONVENTION,
        ),
        Mistake(
            "output without the mask",
            "The weights are right, but the output is that of attention without a "
            "mask: hidden values are in it.",
            wrong=lambda query, key, value, mask: {
                "output": softmax(scaled(query, key)) @ value,
                "weights": _right(query, key, value, mask)["weights"],
            },
            read=CONVENTION,
        ),
        Mistake(
            "hidden scores stay in the game",
            "Hidden keys keep some weight, if less than before: their scores were "
            "lowered by too little.",
            when=lambda seen, expected, inputs: (
                seen["weights"].values[~inputs["mask"].flatten().numpy()].max() > 0
            ),
            read=MULTIPLIED,
        ),
    ),
)


def _batch_and_heads(generator):
    keys, d_k = draw_sizes(generator, (3, 5), (2, 3))
    mask = torch.ones(2, 1, 1, keys, dtype=torch.bool)
    mask[1, ..., draw_sizes(generator, (1, keys - 1))[0] :] = False
    return {
        "query": draw(generator, 2, 2, 2, d_k),
        "key": draw(generator, 2, 2, keys, d_k),
        "value": draw(generator, 2, 2, keys, 1),
        "mask": mask,
    }


def _with_and_without_mask(masked_attention, query, key, value, mask):
    alone = query[0, 0].clone(), key[0, 0].clone(), value[0, 0].clone()
    return {
        "weights": masked_attention(query, key, value, mask)[1],
        "weights without a mask": masked_attention(*alone)[1],
    }


def _mask_as(change):
    def wrong(query, key, value, mask):
        return _with_and_without_mask(
            lambda q, k, v, m=None: reference(
                q, k, v, None if m is None else change(m)
            ),
            query,
            key,
            value,
            mask,
        )

    return wrong


BROADCASTS = Check(
    "a padding mask serves all heads and queries of its sentence; no mask, no hiding",
    1,
    inputs=_batch_and_heads,
    ask=_with_and_without_mask,
    pure=True,
    expected=_mask_as(lambda mask: mask),
    mistakes=(
        Mistake(
            "batch and heads mixed",
            "The mask of sentence 1 hides keys from *head* 1 of every sentence. An "
            "axis of the mask was dropped, and the rest lined up from the end.",
            wrong=_mask_as(lambda mask: mask[:, 0]),
            read=AXES,
        ),
        Mistake(
            "batch and queries mixed",
            "The mask of sentence 1 hides keys from *query* 1 of every sentence. Axes "
            "of the mask were dropped, and the rest lined up from the end.",
            wrong=_mask_as(lambda mask: mask[:, 0, 0]),
            read=AXES,
        ),
        Mistake(
            "mask after the softmax",
            "Hidden weights are 0, but the rows no longer sum to 1: the hidden keys "
            "took part in the softmax. Which rows have nothing to see is asked along "
            "the *keys*.",
            wrong=lambda query, key, value, mask: {
                "weights": softmax(scaled(query, key)) * mask,
                "weights without a mask": softmax(scaled(query, key))[0, 0],
            },
            read=MULTIPLIED,
        ),
        Mistake(
            "one sentence's mask for all",
            "Every sentence gets the mask of the first.",
            wrong=_mask_as(lambda mask: mask[:1]),
            read=AXES,
        ),
        Mistake(
            "a mask is needed",
            "Without a mask the answer raises an error. `mask=None` means that every "
            "key is visible.",
            when=lambda seen, expected, inputs: failed(seen, "NoneType"),
        ),
        Mistake(
            "the mask does not broadcast",
            "With batch and heads the answer raises an error. The mask is (batch, 1, "
            "1, keys): it should be used as it is, whatever axes the scores have.",
            when=lambda seen, expected, inputs: failed(seen),
            read=AXES,
        ),
    ),
)


MASKED = Task(
    name="masked",
    title="Attention with a mask",
    names=("masked_attention",),
    difficulty="medium",
    minutes=20,
    needs=("scores", "weights"),
    checks=(HIDES, BROADCASTS, EMPTY_ROWS, HALF_PRECISION),
)
