"""Task 2.8: what may be switched off in place of one head."""

from __future__ import annotations

from attncourse.exercises.patterns.cuts import (
    changed_by,
    every_layer,
    interleaved,
    mixed_output,
    one_of,
    only_this,
    queries_zeroed,
    query_weight_zeroed,
    rows_for_columns,
    swapped,
    unchanged,
    value_bias_left,
    whole_layer,
)
from attncourse.exercises.task import Mistake

CUT = "no gradient reaches the other heads"
NEED = "chapters/03_multi_head#does-the-model-need-these-heads"
SPLIT = "chapters/03_multi_head#split-attend-join-project"
EXPLAIN = "chapters/09_attention_today#is-attention-explanation"


def _cleared(slices):
    """Clear one of the slices that ``slices(own, width)`` yields."""

    def candidates(own, width):
        for start, stop in slices(own, width):
            yield lambda x, own, start=start, stop=stop: _set(x, slice(start, stop), 0)

    return one_of(candidates)


def _set(x, part, value):
    x = x.clone()
    x[..., part] = value
    return x


def _in_part(rows):
    """Clear the head in some sentences or at some places only."""

    def change(x, own):
        x = x.clone()
        x[(*rows, own)] = 0
        return x

    return change


def _parts_of_the_head(own, width):
    for start in range(own.start, own.stop):
        for stop in range(start + 1, own.stop + 1):
            if (start, stop) != (own.start, own.stop):
                yield start, stop


def _other_heads(own, width):
    size = own.stop - own.start
    for start in range(0, width, size):
        if start != own.start:
            yield start, start + size


def _more_than_the_head(own, width):
    for start in range(own.start + 1):
        for stop in range(own.stop, width + 1):
            if (start, stop) != (own.start, own.stop):
                yield start, stop


def _beside_the_head(own, width):
    for start in range(width):
        for stop in range(start + 1, width + 1):
            yield start, stop


def _enlarged(own, width):
    heads = width // (own.stop - own.start)
    for factor in (2, heads, heads / (heads - 1), 0.5):
        yield lambda x, own, factor=factor: factor * _set(x, own, 0)


def _replaced(own, width):
    yield lambda x, own: _set(x, own, 1)
    yield lambda x, own: _set(x, own, x[..., own].mean(dim=-1, keepdim=True))
    yield lambda x, own: _set(x, own, x[..., own].mean(dim=1, keepdim=True))
    yield lambda x, own: _set(x, own, x[..., own].mean(dim=(0, 1), keepdim=True))
    yield lambda x, own: _set(x, own, x[..., own].mean())
    yield lambda x, own: _set(x, own, -x[..., own])
    yield lambda x, own: _set(x, own, x[..., own] / 2)


def _somewhere(own, width):
    every = slice(None)
    for place in (0, -1):
        yield _in_part((place, every))  # a sentence
        yield _in_part((every, place))  # a place
    yield _in_part((every, slice(1, None)))
    yield _in_part((every, slice(None, -1)))


def _tokens_cut(own, width):
    yield lambda x, own: _in_part((slice(None), own))(x, slice(None))
    yield lambda x, own: _in_part((own,))(x, slice(None))


INSIDE = (
    Mistake(
        "not a context manager",
        "`with ablated(...)` does not work on what `ablated` returns. A "
        "generator function becomes a context manager by a decorator from "
        "contextlib; a class by two methods.",
        when=lambda seen, expected, inputs: (
            "context manager" in seen["result"].text
            or "__enter__" in seen["result"].text
        ),
        read=NEED,
    ),
    Mistake(
        "gradients cut off",
        "The logits are right, but inside the block no gradient comes back "
        "through the other heads of the layer. They should work as before, "
        "in training too: `.detach()`, `.data` and `torch.no_grad()` cut.",
        when=lambda seen, expected, inputs: seen["result"].text == CUT,
        read=NEED,
    ),
    Mistake(
        "the whole layer switched off",
        "All heads of the layer are off. What the others do goes missing "
        "too, so a loss says nothing about this one.",
        wrong=whole_layer,
        read=NEED,
    ),
    Mistake(
        "layer and head exchanged",
        "Another head is off: layer and head have been exchanged.",
        wrong=swapped,
        read=NEED,
    ),
    Mistake(
        "the head switched off in every layer",
        "The head with this number is off in every layer. Heads of "
        "different layers have nothing in common but the number.",
        wrong=every_layer,
        read=NEED,
    ),
    Mistake(
        "all heads but this one",
        "This head works and the others of the layer are off: the "
        "selection is the wrong way round.",
        wrong=only_this,
        read=NEED,
    ),
    Mistake(
        "cut after the output projection",
        "The cut comes after the output projection. There the heads are "
        "mixed already, and every number holds something of each of them. "
        "Where are they still side by side?",
        wrong=changed_by(mixed_output),
        read=SPLIT,
    ),
    Mistake(
        "rows of the output projection",
        "The rows of the output projection's matrix have been cleared. "
        "Its rows belong to the outputs, where the heads are mixed. What "
        "reads a head?",
        wrong=changed_by(rows_for_columns),
        read=SPLIT,
    ),
    Mistake(
        "numbers of every head",
        "Every so-manieth number has been cleared. The numbers of one "
        "head lie side by side, so this takes some from each head.",
        wrong=changed_by(interleaved),
        read=SPLIT,
    ),
    Mistake(
        "the bias of the values left",
        "The matrix of the values has been cleared for this head, but not "
        "its bias. The head still adds the same vector at every place.",
        wrong=changed_by(value_bias_left),
        read=SPLIT,
    ),
    Mistake(
        "weights made uniform, output kept",
        "The head now looks everywhere alike, but what it reads there is "
        "still added. That asks another question: whether the *pattern* "
        "matters, and not whether the head does.",
        wrong=changed_by(queries_zeroed),
        read=EXPLAIN,
    ),
    Mistake(
        "queries cleared, output kept",
        "The queries of the head have lost their matrix, so it looks "
        "elsewhere; but what it reads is still added.",
        wrong=changed_by(query_weight_zeroed),
        read=EXPLAIN,
    ),
    Mistake(
        "nothing happens",
        "Inside the block the logits are those of the whole model: "
        "nothing is switched off.",
        wrong=unchanged,
        read=NEED,
    ),
    Mistake(
        "another axis cut",
        "Whole tokens, or whole sentences, have been cleared: the slice of the head "
        "stands on their axis. The numbers of the heads are on the last one.",
        when=one_of(_tokens_cut),
        read=SPLIT,
    ),
    Mistake(
        "a part of the head left",
        "Only some of the head's numbers are cleared: the slice begins too late or "
        "ends too early. The rest of the head is still added. A slice ends *before* "
        "its second number.",
        when=_cleared(_parts_of_the_head),
        read=SPLIT,
    ),
    Mistake(
        "another head switched off",
        "Another head of this layer is off. Head 0 comes first, and each head has as "
        "many numbers as the next.",
        when=_cleared(_other_heads),
        read=SPLIT,
    ),
    Mistake(
        "more than one head switched off",
        "The slice that is cleared holds this head and more: numbers of its neighbours "
        "too. Where does a head begin, and where does the next one?",
        when=_cleared(_more_than_the_head),
        read=SPLIT,
    ),
    Mistake(
        "numbers of two heads",
        "The numbers that are cleared are not those of this head: they begin or end "
        "inside another one. Where does a head begin, and where does the next one?",
        when=_cleared(_beside_the_head),
        read=SPLIT,
    ),
    Mistake(
        "the other heads changed too",
        "The head is off, but what the others add has been multiplied by a number. "
        "They should work as before.",
        when=one_of(_enlarged),
        read=NEED,
    ),
    Mistake(
        "another value in place of nothing",
        "The head's numbers have been replaced, but not by zero: it still adds "
        "something.",
        when=one_of(_replaced),
        read=NEED,
    ),
    Mistake(
        "switched off in some places only",
        "The head is off in one sentence of the batch or at some of its places, and "
        "works in the others.",
        when=one_of(_somewhere),
        read=NEED,
    ),
)
