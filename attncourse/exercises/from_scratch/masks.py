"""Task 1.4: who may see what."""

from __future__ import annotations

import torch

from attncourse.exercises.from_scratch.common import draw_sizes, failed
from attncourse.exercises.task import Check, Mistake, Task

CONVENTION = "chapters/05_masking#what-does-a-mask-do"
ADDITIVE = "chapters/05_masking#case-1-the-mask-that-hid-the-wrong-half"
PADDING = "chapters/05_masking#case-6-the-sentence-that-changed-in-company"
BOTH = "chapters/05_masking#both-masks-at-once"


def causal(tokens):
    """Return the causal mask: the reference."""
    return torch.ones(tokens, tokens, dtype=torch.bool).tril()


def padding(ids, pad):
    """Return the padding mask: the reference."""
    return (ids != pad)[:, None, None, :]


def both(ids, pad):
    """Return the mask of a decoder: the reference."""
    return padding(ids, pad) & causal(ids.shape[1])


def _draw_ids(generator):
    tokens, pad = draw_sizes(generator, (4, 5), (1, 2))
    ids = torch.randint(3, 9, (2, tokens), generator=generator)
    (short,) = draw_sizes(generator, (2, tokens - 1))
    ids[0, short:] = pad
    return {"ids": ids, "pad": pad}


def _numbers_of(mask):
    """Return the mistakes of returning numbers where booleans are asked for."""
    return (
        Mistake(
            "zeros and ones",
            "The mask holds numbers, 1 for may attend. A boolean mask cannot be added "
            "or multiplied by mistake, and `&` and `~` work on it. What is its dtype?",
            wrong=lambda **inputs: mask(**inputs).float(),
            read=CONVENTION,
        ),
        Mistake(
            "zeros and ones",
            "The mask holds whole numbers, 1 for may attend. It should be boolean: `~` "
            "of a 1 is -2, and an index of ones picks row 1 over and over.",
            wrong=lambda **inputs: mask(**inputs).long(),
            read=CONVENTION,
        ),
        Mistake(
            "additive mask",
            "This mask holds 0 where one may attend and -inf where not, to be added "
            "to the scores. In this course masks are boolean.",
            wrong=lambda **inputs: torch.zeros(mask(**inputs).shape).masked_fill(
                ~mask(**inputs), -torch.inf
            ),
            read=ADDITIVE,
        ),
        Mistake(
            "inverted mask",
            "The mask is the opposite of what is asked for: True stands where "
            "attending is forbidden. Count the True entries of each row.",
            wrong=lambda **inputs: ~mask(**inputs),
            read=CONVENTION,
        ),
    )


CAUSAL = Check(
    "causal_mask: a token may attend to itself and to the past",
    1,
    inputs=lambda generator: {"tokens": draw_sizes(generator, (3, 6))[0]},
    ask=lambda causal_mask, padding_mask, decoder_mask, tokens: causal_mask(tokens),
    expected=causal,
    mistakes=(
        *_numbers_of(causal),
        *(
            Mistake(
                "the triangle from the other end",
                "The triangle begins at the wrong end: rows or columns stand in "
                "reverse order. The first row belongs to the first token, and its "
                "first entry too.",
                wrong=lambda tokens, axis=axis: causal(tokens).flip(axis),
                read=CONVENTION,
            )
            for axis in (0, 1)
        ),
        Mistake(
            "off by one: not itself",
            "No token may attend to itself, and the first one to nothing at all. "
            "The number of True entries in the rows should go from 1 to n.",
            wrong=lambda tokens: causal(tokens).tril(-1),
            read=CONVENTION,
        ),
        Mistake(
            "off by one: the next token too",
            "Each token also sees the next one. A model that has to predict it can "
            "read the answer.",
            wrong=lambda tokens: torch.ones(tokens, tokens).tril(1).bool(),
            read="chapters/05_masking#case-5-the-impossible-loss",
        ),
        Mistake(
            "nothing hidden",
            "Every entry is True: every token sees every other, the future included. "
            "The first row should have one True, the last one all.",
            wrong=lambda tokens: torch.ones(tokens, tokens, dtype=torch.bool),
            read=CONVENTION,
        ),
        Mistake(
            "future and past exchanged",
            "Each token sees itself and the future. Rows are queries: the first row, "
            "which has no past, should have one True.",
            wrong=lambda tokens: causal(tokens).T,
            read=CONVENTION,
        ),
    ),
)


def _of_lengths(more):
    """Return the mask of sentences that are some tokens longer than they are."""

    def mask(ids, pad):
        lengths = (ids != pad).sum(dim=1, keepdim=True) + more
        return (torch.arange(ids.shape[1]) < lengths)[:, None, None]

    return mask


def _of_padding(change):
    return lambda ids, pad: change(padding(ids, pad))


PADDED = Check(
    "padding_mask: no token may attend to the padding",
    1,
    inputs=_draw_ids,
    ask=lambda causal_mask, padding_mask, decoder_mask, ids, pad: padding_mask(
        ids, pad
    ),
    expected=padding,
    pure=True,
    mistakes=(
        *_numbers_of(padding),
        Mistake(
            "no axes for heads and queries",
            "The mask is (batch, tokens). Added to scores (batch, heads, queries, "
            "keys), its first axis would be taken for the queries: axes are lined up "
            "from the end.",
            wrong=_of_padding(lambda mask: mask[:, 0, 0]),
            read=PADDING,
        ),
        Mistake(
            "no axes for heads and queries",
            "The mask has three axes. The scores have four, (batch, heads, queries, "
            "keys), and axes are lined up from the end.",
            wrong=_of_padding(lambda mask: mask[:, 0]),
            read=PADDING,
        ),
        Mistake(
            "queries hidden instead of keys",
            "The tokens stand on the axis of the queries. What has to be hidden is the "
            "padding as a *key*, from every query.",
            wrong=_of_padding(lambda mask: mask.transpose(-2, -1)),
            read=PADDING,
        ),
        Mistake(
            "the last token hidden",
            "The last token of each sentence is hidden with the padding. A sentence of "
            "n tokens has the places 0 to n − 1.",
            wrong=_of_lengths(-1),
            read=PADDING,
        ),
        Mistake(
            "the first padding visible",
            "Behind each sentence one place of padding is visible. A sentence of n "
            "tokens has the places 0 to n − 1.",
            wrong=_of_lengths(1),
            read=PADDING,
        ),
        Mistake(
            "pad is ignored",
            "The padding is not hidden. Is its id taken for 0, whatever `pad` says?",
            wrong=lambda ids, pad: padding(ids, 0),
            read=PADDING,
        ),
    ),
)

COMBINED = Check(
    "decoder_mask: neither the future nor the padding",
    1,
    inputs=_draw_ids,
    ask=lambda causal_mask, padding_mask, decoder_mask, ids, pad: decoder_mask(
        ids, pad
    ),
    expected=both,
    mistakes=(
        *_numbers_of(both),
        Mistake(
            "or for and",
            "A key is visible if one of the masks allows it, so each mask lets "
            "through what the other hides. (`+` of booleans is an *or* as well.)",
            wrong=lambda ids, pad: padding(ids, pad) | causal(ids.shape[1]),
            read=BOTH,
        ),
        Mistake(
            "one or the other, not both",
            "A key is visible if exactly one of the masks allows it: `^` and `!=` are "
            "an *either or*. What both allow is hidden here.",
            wrong=lambda ids, pad: padding(ids, pad) ^ causal(ids.shape[1]),
            read=BOTH,
        ),
        *(
            Mistake(
                "one of the two inverted",
                f"The {which} mask takes part with True and False exchanged; the other "
                "one is right. In both, True means: may attend.",
                wrong=wrong,
                read=BOTH,
            )
            for which, wrong in (
                ("causal", lambda ids, pad: padding(ids, pad) & ~causal(ids.shape[1])),
                ("padding", lambda ids, pad: ~padding(ids, pad) & causal(ids.shape[1])),
            )
        ),
        Mistake(
            "the future for the past",
            "The past is hidden, and the future visible. The padding is hidden as it "
            "should be.",
            wrong=lambda ids, pad: padding(ids, pad) & causal(ids.shape[1]).T,
            read=BOTH,
        ),
        Mistake(
            "padding only",
            "The padding is hidden, but the future is not.",
            wrong=lambda ids, pad: padding(ids, pad).expand(both(ids, pad).shape),
            read=BOTH,
        ),
        Mistake(
            "padding only",
            "Only the padding is hidden: this is the padding mask. The future is "
            "visible.",
            wrong=padding,
            read=BOTH,
        ),
        Mistake(
            "causal only",
            "The future is hidden, but the padding is not.",
            wrong=lambda ids, pad: causal(ids.shape[1]).expand(both(ids, pad).shape),
            read=BOTH,
        ),
        Mistake(
            "causal only",
            "Only the future is hidden: this is the causal mask. Each sentence of the "
            "batch has padding of its own.",
            wrong=lambda ids, pad: causal(ids.shape[1]),
            read=BOTH,
        ),
        Mistake(
            "the padding of one sentence for all",
            "One sentence is hidden in the same way as another. Each sentence of the "
            "batch has padding of its own, and the result one mask for each.",
            wrong=lambda ids, pad: both(ids[:1], pad),
            read=BOTH,
        ),
        Mistake(
            "sizes that do not line up",
            "The two masks do not fit together. The causal mask has a row for each "
            "*token* of a sentence, not for each sentence. What is the last number of "
            "`ids.shape`?",
            when=lambda seen, expected, inputs: failed(seen, "must match"),
            read=BOTH,
        ),
        Mistake(
            "queries hidden as well",
            "The rows of the padding are hidden too. A mask says which keys may be "
            "read; what becomes of the padding's own outputs is settled by the loss.",
            wrong=lambda ids, pad: both(ids, pad) & padding(ids, pad).transpose(-2, -1),
            read=BOTH,
        ),
    ),
)

MASKS = Task(
    name="masks",
    title="Masks",
    names=("causal_mask", "padding_mask", "decoder_mask"),
    difficulty="easy",
    minutes=10,
    checks=(CAUSAL, PADDED, COMBINED),
)
