"""Exercise 4, ninth part: how a model is trained and tested."""

from __future__ import annotations

import math

import torch

from attncourse.exercises.relative.by_position import LENGTHS_READ
from attncourse.exercises.relative.distances import size
from attncourse.exercises.relative.language import VOCABULARY
from attncourse.exercises.relative.learning import RIGHT, TOLD, told
from attncourse.exercises.relative.watched import WatchedModel, moved_as_asked
from attncourse.exercises.task import Check, Mistake

SIX_MODELS = "chapters/04_positional_encoding#six-models-three-seeds"


LONG_RUN = 300  # steps, as in the notebook


def _some_steps(generator):
    """Draw a short run, or now and then a long one, whose steps use many seeds."""
    trained = size(generator, 9, 12)
    few = size(generator, 14, 16)  # more than a length: seeds may collide
    return {
        "steps": few if size(generator, 0, 2) else LONG_RUN,
        "trained": trained,
        "lengths": [trained, 2 * trained, 4 * trained + 1],
    }


def _random_texts(batch, length, seed):
    """Draw texts of which those of one seed begin alike, whatever their length."""
    generator = torch.Generator().manual_seed(int(seed))
    shape = batch, max(length, 64)
    return torch.randint(1, VOCABULARY, shape, generator=generator)[:, :length]


def _ask_protocol(train_and_test, _, steps, trained, lengths):
    model, drawn = WatchedModel(), []

    def draw(batch, length, seed):
        texts = _random_texts(batch, length, seed)
        drawn.append(texts)
        return texts

    found = train_and_test(model, draw, steps, lengths, trained)
    learned = [note for note in model.shown if note["learned"]]
    tested = [note for note in model.shown if not note["learned"]]
    longest = max((note["tokens"].shape[1] for note in learned), default=0)
    texts = [_texts(notes, trained) for notes in (learned, tested)]
    return {
        "longest text learned from": trained if longest == trained - 1 else longest,
        LONGEST_DRAWN: _longest_drawn(drawn, learned) or trained,
        "steps": len(learned),
        "different batches": len({str(n["tokens"].tolist()) for n in learned}),
        "test texts that were learned from": len(texts[0] & texts[1]),
        "tested in training mode": any(note["training"] for note in tested),
        "texts learned from": sum(_texts_by_length(learned).values()),
        "texts of each test": min(_texts_by_length(tested).values(), default=0),
        LEARNING_RATE: moved_as_asked(model, steps),
        "losses": torch.tensor([float(found[length]) for length in lengths]),
        **told(learned, trained),
    }


LEARNING_RATE = "weights move at the learning rate"
LONGEST_DRAWN = "tokens of the texts drawn to learn from"


def _longest_drawn(drawn, learned):
    """Return the length of the longest drawn batch that begins as one learned from."""
    starts = {(len(n["tokens"]), *n["tokens"][0, :8].tolist()) for n in learned}
    lengths = [t.shape[1] for t in drawn if (len(t), *t[0, :8].tolist()) in starts]
    return max(lengths, default=0)


def _texts_by_length(notes):
    """Return the number of different texts of each length."""
    found = {}
    for note in notes:
        texts = found.setdefault(note["tokens"].shape[1], set())
        texts |= {tuple(text) for text in note["tokens"].tolist()}
    return {length: len(texts) for length, texts in found.items()}


def _texts(notes, trained):
    """Return how the texts begin: as many tokens as a model in training reads.

    A test at another length is compared as well. A longer text of the same seed may
    begin with the shorter one.
    """
    return {
        tuple(text[: trained - 1]) for note in notes for text in note["tokens"].tolist()
    }


def _protocol(steps, trained, lengths, over=None):
    """Return what a right run shows; `over` says which positions its losses mean."""
    losses = [math.log(18 + math.exp(0.25 * p)) for p in range(max(lengths) - 1)]
    over = over or (lambda length: slice(length - trained, length - 1))
    means = [torch.tensor(losses[over(length)]).mean() for length in lengths]
    return {
        "longest text learned from": trained,
        LONGEST_DRAWN: trained,
        "steps": steps,
        "different batches": steps,
        "test texts that were learned from": 0,
        "tested in training mode": False,
        "texts learned from": 32 * steps,
        "texts of each test": 64,
        LEARNING_RATE: True,
        "losses": torch.stack(means),
        **RIGHT,
    }


def _number(seen, name):
    return seen[name].values[0]


PROTOCOL = Check(
    "short texts train the model, and new texts of every length test it",
    1,
    gradients=True,
    inputs=_some_steps,
    ask=_ask_protocol,
    expected=_protocol,
    mistakes=(
        Mistake(
            "texts without their tuple",
            "`batch_of` returns the texts themselves, and `train` hands each "
            "text to `loss_of` as an argument of its own. A tuple of one is "
            "asked for.",
            when=lambda seen, expected, inputs: (
                "positional arguments but" in str(seen.get("result"))
            ),
        ),
        Mistake(
            "trained on the test length",
            "The model learns from texts longer than the trained length. What "
            "it does at lengths that it has never met can no longer be seen.",
            when=lambda seen, expected, inputs: (
                _number(seen, "longest text learned from") > inputs["trained"]
            ),
            read=LENGTHS_READ,
        ),
        Mistake(
            "nothing learned",
            "No step of training was seen: no gradient came back to the model.",
            when=lambda seen, expected, inputs: _number(seen, "steps") == 0,
            read=SIX_MODELS,
        ),
        Mistake(
            "shorter texts than asked for",
            "The model learns from texts shorter than the trained length.",
            when=lambda seen, expected, inputs: (
                _number(seen, "longest text learned from") < inputs["trained"]
            ),
            read=SIX_MODELS,
        ),
        Mistake(
            "another number of steps",
            "The number of training steps is not the one asked for.",
            when=lambda seen, expected, inputs: (
                _number(seen, "steps") != inputs["steps"]
            ),
        ),
        Mistake(
            "tested on texts of the training",
            "Texts of a test were learned from before, whole or as the beginning of "
            "longer ones. A seed that a step has used, in a run of hundreds of steps "
            "too, draws for no test, of whatever length.",
            when=lambda seen, expected, inputs: (
                _number(seen, "test texts that were learned from") > 0
            ),
            read=LENGTHS_READ,
        ),
        *(
            Mistake(
                name,
                says,
                when=lambda seen, expected, inputs, most=most: (
                    _number(seen, "different batches") < min(most, inputs["steps"])
                ),
                read=SIX_MODELS,
            )
            for most, name, says in (
                (
                    2,
                    "one batch over and over",
                    "Every step learns from the same texts. The model will know them "
                    "by heart, and not the rules behind them.",
                ),
                (
                    math.inf,
                    "batches that come again",
                    "Steps learn from texts that other steps have learned from: seeds "
                    "are used again. Each step has a number that no other has.",
                ),
            )
        ),
        Mistake(
            "another number of texts",
            "A step learns from 32 texts, and a test has 64 of each length. "
            "Here the numbers are others.",
            when=lambda seen, expected, inputs: (
                any(
                    _number(seen, name) != _number(expected, name)
                    for name in ("texts learned from", "texts of each test")
                )
                and _number(seen, "test texts that were learned from") == 0
            ),
        ),
        Mistake(
            "texts of another length drawn",
            "The texts that the model learns from are drawn longer, or "
            "shorter, than `trained` tokens. The prediction of the next token "
            "takes one of these away; it need not be added.",
            when=lambda seen, expected, inputs: (
                _number(seen, "steps") > 0
                and _number(seen, "longest text learned from") == inputs["trained"]
                and _number(seen, LONGEST_DRAWN) != inputs["trained"]
            ),
            read=LENGTHS_READ,
        ),
        *TOLD,
        Mistake(
            "another learning rate",
            "The weights move by more, or by less, in a step than the learning rate of "
            "0.005 would have them. Schemes are compared after the same training.",
            when=lambda seen, expected, inputs: (
                _number(seen, "steps") == inputs["steps"]
                and not _number(seen, LEARNING_RATE)
            ),
            read=SIX_MODELS,
        ),
        Mistake(
            "tested in training mode",
            "The model is in training mode when it is tested.",
            when=lambda seen, expected, inputs: (
                _number(seen, "tested in training mode") == 1
            ),
            read=LENGTHS_READ,
        ),
        Mistake(
            "only the first positions",
            "The loss at each length is that of the first predictions, where "
            "the model stands as in training.",
            wrong=lambda trained, **inputs: _protocol(
                trained=trained, **inputs, over=lambda n: slice(trained - 1)
            ),
            read=LENGTHS_READ,
        ),
        Mistake(
            "mean over all positions",
            "The loss at each length is the mean over all predictions. The "
            "early ones are as in training, and hide what happens at the end.",
            wrong=lambda **inputs: _protocol(**inputs, over=lambda n: slice(n - 1)),
            read=LENGTHS_READ,
        ),
        *(
            Mistake(
                "another number of predictions",
                "The loss at each length is the mean of another number of "
                "predictions. A text of the trained length has one prediction "
                "less than it has tokens; as many are judged at each length.",
                wrong=lambda trained, count=count, **inputs: _protocol(
                    trained=trained,
                    **inputs,
                    over=lambda n: slice(max(0, n - 1 - count(trained)), n - 1),
                ),
                read=LENGTHS_READ,
            )
            for count in (lambda n: n, lambda n: n - 2, lambda n: 31)
        ),
    ),
)
