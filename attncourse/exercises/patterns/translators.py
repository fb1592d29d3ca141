"""Task 2.1: the weights of a translator."""

from __future__ import annotations

import torch

from attncourse.exercises.patterns.layout import (
    FLAGS,
    PADDING,
    SHAPES,
    STATE_MISTAKES,
    flags,
    layout_mistakes,
    totals,
)
from attncourse.exercises.patterns.models import draw, draw_ids, translator
from attncourse.exercises.task import Check, Mistake, Task

KINDS = ("encoder", "decoder", "cross")
SIZES = ((3, 2), (1, 3), (2, 3), (2, 2))  # layers, heads; few enough to show


def _read(seed, layers, heads, source, target, kind):
    """Return the course's own answer, padding included."""
    model = translator(seed, layers, heads)
    with torch.no_grad():
        return torch.stack(model(source, target, need_weights=True)[1][kind])


def _rows(source, target, kind):
    return (source if kind == "encoder" else target) != 0


def _ask(weights_of, seed, layers, heads, source, target, kind):
    return weights_of(translator(seed, layers, heads), source, target, kind)


def _sentences(generator):
    layers, heads = SIZES[draw(generator, 0, 3)]
    kind = KINDS[draw(generator, 0, 2)]
    return {
        "seed": draw(generator, 0, 999),
        "layers": layers,
        "heads": heads,
        "source": draw_ids(generator, 2, 2 if kind == "encoder" else 3),
        "target": draw_ids(generator, 2, 3 if kind == "encoder" else 2),
        "kind": kind,
    }


def _padded_sentences(generator):
    return {
        "seed": draw(generator, 0, 999),
        "layers": 2,
        "heads": draw(generator, 4, 5),
        "source": draw_ids(generator, 3, 4, lengths=(2, 4, 3)),
        "target": draw_ids(generator, 3, 6, lengths=(6, 3, 4)),
        "kind": KINDS[draw(generator, 0, 2)],
    }


def _padded_expected(seed, layers, heads, source, target, kind):
    return layers * heads * _rows(source, target, kind).sum(dim=1).float()


WRONG_SIDE = Mistake(
    "padding of the wrong side",
    "The places of padding do not fit the rows. The rows of the "
    "encoder are source tokens; those of the decoder and of "
    "cross-attention are target tokens.",
    when=lambda seen, expected, inputs: (
        seen["result"].kind == "error"
        and any(
            words in seen["result"].text
            for words in ("size of tensor", "shape", "broadcast")
        )
    ),
    read="chapters/06_seq2seq#where-does-the-translator-look",
)

TRANSLATOR = Task(
    name="translator",
    title="The weights of a translator",
    names=("translator_weights",),
    difficulty="easy",
    minutes=10,
    checks=(
        Check(
            "there is one map for each layer, sentence and head, queries in rows",
            1,
            inputs=_sentences,
            ask=_ask,
            expected=_read,
            mistakes=(
                Mistake(
                    "no axis for a single layer",
                    "Where the model has one layer, the axis of the layers is gone. "
                    "`squeeze` drops an axis of size 1, whatever it stands for; the "
                    "result should have five axes for every model.",
                    when=lambda seen, expected, inputs: (
                        inputs["layers"] == 1
                        and seen["result"].shape == expected["result"].shape[1:]
                    ),
                    read=SHAPES,
                ),
                *layout_mistakes(_read),
                WRONG_SIDE,
                Mistake(
                    "always the same attention",
                    "The result does not depend on `kind`: the encoder's weights come "
                    "back whatever was asked for.",
                    wrong=lambda kind, **rest: _read(kind="encoder", **rest),
                    read="chapters/06_seq2seq#which-heads-align",
                ),
            ),
        ),
        Check(
            "the model runs in evaluation mode, without gradients, and gets back the "
            "mode that it came in",
            0.5,
            inputs=_sentences,
            ask=lambda weights_of, seed, layers, heads, source, target, kind: flags(
                lambda model: weights_of(model, source, target, kind),
                translator(seed, layers, heads),
            ),
            expected=lambda **inputs: FLAGS,
            mistakes=STATE_MISTAKES,
        ),
        Check(
            "padding asks nothing: its rows are zero, and all others sum to 1",
            0.5,
            inputs=_padded_sentences,
            ask=lambda weights_of, **inputs: totals(_ask(weights_of, **inputs), 3),
            expected=_padded_expected,
            mistakes=(
                Mistake(
                    "sentences with padding emptied",
                    "A sentence that has any padding has lost all of its rows. Only "
                    "the rows of the padded places are to be zero.",
                    when=lambda seen, expected, inputs: bool(
                        (
                            (seen["result"].values == 0)
                            == (
                                expected["result"].values
                                < expected["result"].values.max()
                            )
                        ).all()
                    ),
                    read=PADDING,
                ),
                Mistake(
                    "rows of padding kept",
                    "The rows of padded places are still there. Here is all the weight "
                    "of each sentence: layers x heads x *tokens* in a right result, as "
                    "each row sums to 1. An average over such rows mixes in queries "
                    "that nobody asked.",
                    wrong=lambda **inputs: totals(_read(**inputs), 3),
                    read=PADDING,
                ),
                WRONG_SIDE,
            ),
        ),
    ),
)
