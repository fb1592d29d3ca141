"""Task 2.2: the weights of any Hugging Face model."""

from __future__ import annotations

import torch

from attncourse.exercises.patterns.layout import (
    FLAGS,
    PADDING,
    STATE_MISTAKES,
    batch_first,
    flags,
    layout_mistakes,
    totals,
)
from attncourse.exercises.patterns.models import (
    NO_TRANSFORMERS,
    draw,
    draw_ids,
    hugging_face,
    weights_by_hand,
)
from attncourse.exercises.task import Check, Mistake, Task


def _missing(seen, expected, inputs):
    return NO_TRANSFORMERS[:60] in next(iter(seen.values())).text


MISSING = Mistake("transformers is missing", NO_TRANSFORMERS, when=_missing)


def _by_hand(model, seed, layers, heads, ids, mask, implementation=None):
    try:
        return weights_by_hand(hugging_face(model, seed, layers, heads), ids, mask)
    except ModuleNotFoundError:
        return "the package transformers"


def _ask_model(weights_of, model, seed, layers, heads, ids, mask, implementation=None):
    made = hugging_face(model, seed, layers, heads, implementation)
    return weights_of(made, ids, mask)


def _inputs_of(model, implementation):
    def inputs(generator):
        layers, heads = ((2, 2), (2, 3), (3, 2))[draw(generator, 0, 2)]
        size = 3 if layers == heads else 2  # all weights can be shown
        drawn = {
            "model": model,
            "seed": draw(generator, 0, 999),
            "layers": layers,
            "heads": heads,
            "ids": draw_ids(generator, 2, size),
            "mask": torch.ones(2, size, dtype=torch.int64),
        }
        return {**drawn, "implementation": implementation} if implementation else drawn

    return inputs


def _padded_inputs(generator):
    ids = torch.randint(7, (3, 5), generator=generator)
    ids[1, 2], ids[0, -1] = 0, 3  # any id may stand for a token, or for padding
    return {
        "model": ("bert", "gpt2")[draw(generator, 0, 1)],
        "seed": draw(generator, 0, 999),
        "layers": 2,
        "heads": 4,
        "ids": ids,
        "mask": (torch.arange(5) < torch.tensor([[2], [5], [4]])).long(),
        "implementation": "eager",
    }


def _between_tokens(weights, mask):
    """Return the weight between tokens and all weight, for each sentence."""
    front = batch_first(weights, len(mask))
    seen = mask.view(len(mask), *[1] * (front.dim() - 2), -1)
    return {
        "from tokens to tokens": totals(front * seen * seen.transpose(-2, -1), 3),
        "in all": totals(front, 3),
    }


def _padded_answer(weights_of, mask, **inputs):
    return _between_tokens(_ask_model(weights_of, mask=mask, **inputs), mask)


def _padded_by_hand(mask, layers, heads, **rest):
    found = _by_hand(mask=mask, layers=layers, heads=heads, **rest)
    if isinstance(found, str):
        return found
    return _between_tokens(found, mask)


def _mask_forgotten(mask, **inputs):
    weights = _by_hand(mask=torch.ones_like(mask), **inputs)
    return _between_tokens(weights, mask)


def _mask_forgotten_rows_zeroed(mask, **inputs):
    weights = _by_hand(mask=torch.ones_like(mask), **inputs)
    return _between_tokens(weights * mask[None, :, None, :, None], mask)


def _mask_forgotten_all_zeroed(mask, **inputs):
    weights = _by_hand(mask=torch.ones_like(mask), **inputs)
    both = mask[:, None, :, None] * mask[:, None, None, :]
    return _between_tokens(weights * both, mask)


@torch.no_grad()
def _mask_as_types(model, seed, layers, heads, ids, mask, implementation=None):
    made = hugging_face(model, seed, layers, heads, "eager")
    found = made(input_ids=ids, token_type_ids=mask, output_attentions=True)
    return torch.stack(found.attentions) * mask[None, :, None, :, None]


def _padding_by_ids(seen, expected, inputs):
    rows = (inputs["ids"] != 0).sum(dim=1)  # each row that is kept sums to 1
    total = (inputs["layers"] * inputs["heads"] * rows).numpy()
    return abs(seen["in all"].values - total).max() < 0.02


def _rows_kept(seen, expected, inputs):
    tokens, total = seen["from tokens to tokens"].values, seen["in all"].values
    right = expected["from tokens to tokens"].values
    return abs(tokens - right).max() < 0.02 and total.sum() > right.sum() + 0.5


AS_TYPES = Mistake(
    "the mask given as something else",
    "The mask has reached the model as `token_type_ids`, which say to which of two "
    "texts a token belongs. Name the argument when you call the model.",
    wrong=_mask_as_types,
    read=PADDING,
)
NO_WEIGHTS = Mistake(
    "an implementation that makes no weights",
    "The model handed out no weights. Its attention runs on a fused kernel, which "
    "never writes them down. Transformers has an implementation that does, and a "
    "model can be told to use it.",
    when=lambda seen, expected, inputs: (
        (
            seen["result"].kind in ("nothing", "error")
            and any(
                words in seen["result"].text
                for words in ("non-empty", "NoneType", "at least one", "out of range")
            )
        )
        or seen["result"].shape == (0,)
    ),
    read="chapters/03_multi_head#and-in-language-models",
)
HIDDEN_STATES = Mistake(
    "another output of the model",
    "These are no attention maps: the last two axes should count tokens twice, "
    "queries and keys. The model has other outputs too, such as the hidden states.",
    when=lambda seen, expected, inputs: (
        "size of tensor" in seen["result"].text
        or (
            seen["result"].kind == "float"
            and seen["result"].shape[-2:] != expected["result"].shape[-2:]
        )
    ),
    read="chapters/03_multi_head#and-in-language-models",
)


def _flags_of(weights_of, model, seed, layers, heads, ids, mask, implementation):
    made = hugging_face(model, seed, layers, heads, implementation)
    return flags(lambda given: weights_of(given, ids, mask), made)


HUGGING_FACE = Task(
    name="hugging_face",
    title="The weights of any Hugging Face model",
    names=("hugging_face_weights",),
    minutes=15,
    checks=(
        Check(
            "an encoder (a small random BERT): one map for each layer, sentence, head",
            1,
            inputs=_inputs_of("bert", "eager"),
            ask=_ask_model,
            expected=_by_hand,
            mistakes=(
                MISSING,
                *layout_mistakes(_by_hand),
                AS_TYPES,
                NO_WEIGHTS,
                HIDDEN_STATES,
            ),
        ),
        Check(
            "a decoder (a small random GPT-2) which was made without asking for an "
            "implementation that makes weights",
            1,
            inputs=_inputs_of("gpt2", None),
            ask=_ask_model,
            expected=_by_hand,
            mistakes=(
                MISSING,
                *layout_mistakes(_by_hand),
                AS_TYPES,
                NO_WEIGHTS,
                HIDDEN_STATES,
            ),
        ),
        Check(
            "no weight goes to padding, and the rows of padding are zero",
            0.5,
            inputs=_padded_inputs,
            ask=_padded_answer,
            expected=_padded_by_hand,
            mistakes=(
                MISSING,
                Mistake(
                    "padding attended to",
                    "Tokens give weight to padded places. The model cannot know which "
                    "ids are padding unless it is told.",
                    wrong=_mask_forgotten,
                    read=PADDING,
                ),
                Mistake(
                    "padding attended to, its rows zeroed",
                    "The rows of padding are zero, but tokens still give weight to "
                    "padded places: the model read them. Zeroing after the fact does "
                    "not undo that.",
                    wrong=_mask_forgotten_rows_zeroed,
                    read=PADDING,
                ),
                Mistake(
                    "padding attended to, all of it zeroed",
                    "Rows and columns of padding are zero, but the model has read the "
                    "padding: what is left of a row no longer sums to 1. The model "
                    "has to be told which places are padding.",
                    wrong=_mask_forgotten_all_zeroed,
                    read=PADDING,
                ),
                Mistake(
                    "padding told by the ids",
                    "Rows are zero where the *id* is 0. Which places are padding is "
                    "said by the mask: every model has an id of its own for padding, "
                    "and an id of 0 may be a token.",
                    when=_padding_by_ids,
                    read=PADDING,
                ),
                Mistake(
                    "rows of padding kept",
                    "Tokens do not look at padding, as it should be. But the rows of "
                    "padded places are still there: the weight in all is more than "
                    "the weight that tokens give.",
                    when=_rows_kept,
                    read=PADDING,
                ),
            ),
        ),
        Check(
            "the model runs in evaluation mode, without gradients, and gets back the "
            "mode that it came in",
            0.5,
            inputs=_inputs_of("bert", "eager"),
            ask=_flags_of,
            expected=lambda **inputs: (
                FLAGS if not isinstance(_by_hand(**inputs), str) else "transformers"
            ),
            mistakes=(MISSING, *STATE_MISTAKES),
        ),
    ),
)
