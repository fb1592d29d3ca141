"""Exercise 4, eighth part: the loss at each position, and at each length."""

from __future__ import annotations

import torch

from attncourse.exercises.relative.by_position import (
    BY_POSITION,
    LENGTHS_READ,
    SYMBOLS,
    KnownModel,
    draw_logits,
    loss_of_positions,
)
from attncourse.exercises.relative.distances import size
from attncourse.exercises.task import Check, Mistake, Task


def _two_tests(generator):
    short, last = size(generator, 5, 6), size(generator, 2, 3)
    lengths = short, short + size(generator, 2, 4)
    texts = (torch.randint(1, SYMBOLS, (2, n), generator=generator) for n in lengths)
    return {
        **dict(zip(("short_texts", "long_texts"), texts, strict=True)),
        "last": last,
        "logits": draw_logits(generator),
    }


def _ask_lengths(_, loss_at_lengths, short_texts, long_texts, last, logits):
    model = KnownModel(logits)
    tests = {texts.shape[1]: texts for texts in (short_texts, long_texts)}
    found = loss_at_lengths(model, tests, last)
    if not isinstance(found, dict):
        return {"type": type(found).__name__}
    return dict(zip(NAMES, (float(found[length]) for length in tests), strict=True))


NAMES = "loss of the short texts", "loss of the long texts"


def _at_lengths(short_texts, long_texts, last, logits, summary=None, cut=None):
    """Return the mean loss over the last positions, or another summary of it."""
    found = []
    for texts in (short_texts, long_texts):
        texts = texts if cut is None else cut(texts, last)
        loss = loss_of_positions(texts, logits)["loss"]
        found.append(loss[-last:].mean() if summary is None else summary(loss, last))
    return dict(zip(NAMES, found, strict=True))


def _summary(summary):
    return lambda **inputs: _at_lengths(**inputs, summary=summary)


OTHER_ENDS = (
    (
        "the last prediction left out",
        "The last prediction of each text is left out of the mean. It is the one that "
        "has most in front of it.",
        lambda loss, last: loss[-last:-1].mean(),
    ),
    (
        "the last prediction left out",
        "As many predictions as asked for, but the last of the text is not among them.",
        lambda loss, last: loss[-last - 1 : -1].mean(),
    ),
    (
        "another number of predictions",
        "One prediction more than `last` is averaged.",
        lambda loss, last: loss[-last - 1 :].mean(),
    ),
    (
        "another number of predictions",
        "One prediction less than `last` is averaged.",
        lambda loss, last: loss[-last + 1 :].mean(),
    ),
    (
        "the first ones left out",
        "The first `last` predictions are left out, and all others averaged. The last "
        "ones are asked for, and as many at each length.",
        lambda loss, last: loss[last:].mean(),
    ),
    (
        "one position only",
        "The loss is that of one position. The mean over the `last` last is asked for.",
        lambda loss, last: loss[-last],
    ),
    (
        "divided by another number",
        "The losses of the last positions are added up and divided by the number of "
        "texts. The sum is over positions.",
        lambda loss, last: loss[-last:].sum() / 2,
    ),
    (
        "divided by another number",
        "The losses of the last positions are added up and divided by the length of "
        "the text. The sum is over `last` positions.",
        lambda loss, last: loss[-last:].sum() / len(loss),
    ),
    (
        "divided by another number",
        "The losses of the last positions are added up and divided by the length of "
        "the text. The sum is over `last` positions.",
        lambda loss, last: loss[-last:].sum() / (len(loss) + 1),
    ),
    (
        "perplexity in place of the loss",
        "This is the exponential of the loss, the perplexity. The loss itself is asked "
        "for, in nats.",
        lambda loss, last: loss[-last:].mean().exp(),
    ),
    (
        "largest in place of the mean",
        "This is the largest loss of the last positions. Their mean is asked for.",
        lambda loss, last: loss[-last:].max(),
    ),
    (
        "median in place of the mean",
        "This is the median over the last positions. Their mean is asked for.",
        lambda loss, last: loss[-last:].median(),
    ),
)


EVALUATION = Task(
    name="evaluation",
    title="The loss at each position",
    names=("loss_by_position", "loss_at_lengths"),
    difficulty="medium",
    minutes=15,
    checks=(
        BY_POSITION,
        Check(
            "long texts are read whole, and judged on their last predictions",
            1,
            inputs=_two_tests,
            ask=_ask_lengths,
            expected=_at_lengths,
            mistakes=(
                Mistake(
                    "only the first positions",
                    "The loss is that of the *first* predictions of each text. There "
                    "a model stands where it stood in training, however long the text "
                    "is.",
                    wrong=_summary(lambda loss, last: loss[:last].mean()),
                    read=LENGTHS_READ,
                ),
                Mistake(
                    "mean over all positions",
                    "The loss is the mean over all predictions of a text. The early "
                    "ones are as in training, and hide what happens at the end.",
                    wrong=_summary(lambda loss, last: loss.mean()),
                    read=LENGTHS_READ,
                ),
                Mistake(
                    "texts cut before they are read",
                    "The end of each text is cut off and read alone. The model then "
                    "meets no long text at all: its positions start again at 0.",
                    wrong=lambda **inputs: _at_lengths(
                        **inputs, cut=lambda texts, last: texts[:, -last - 1 :]
                    ),
                    read=LENGTHS_READ,
                ),
                Mistake(
                    "one position only",
                    "The loss is that of the last prediction alone: few tokens, and a "
                    "noisy number.",
                    wrong=_summary(lambda loss, last: loss[-1]),
                    read=LENGTHS_READ,
                ),
                Mistake(
                    "sum instead of mean",
                    "The losses are added up. The mean is asked for.",
                    wrong=_summary(lambda loss, last: loss[-last:].sum()),
                    read=LENGTHS_READ,
                ),
                *(
                    Mistake(name, says, wrong=_summary(summary), read=LENGTHS_READ)
                    for name, says, summary in OTHER_ENDS
                ),
                Mistake(
                    "not a dictionary",
                    "The result should be a dictionary: the loss for each length.",
                    when=lambda seen, expected, inputs: "type" in seen,
                ),
            ),
        ),
    ),
)
