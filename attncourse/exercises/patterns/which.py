"""Task 2.7: which head does what."""

from __future__ import annotations

from functools import partial

import torch

from attncourse.exercises.patterns.models import draw
from attncourse.exercises.patterns.shares import SCORE
from attncourse.exercises.task import Check, Mistake, Task

# Numbers that have an exact middle with 1.
ALIKE = {"previous": 0.125, "first": 0.1875, "induction": 0.3125}


def _scores(generator, above):
    """Draw scores whose highest lies so far above the half way; None: below alike."""
    layers, heads = draw(generator, 2, 3), draw(generator, 4, 5)
    scores = {}
    for (name, alike), far in zip(ALIKE.items(), above, strict=True):
        table = alike * torch.rand(layers, heads, generator=generator)
        layer, head = draw(generator, 0, layers - 1), draw(generator, 0, heads - 1)
        if far is not None:
            table[layer, head] = (1 + alike) / 2 + far
        scores[name] = table
    return {"scores": scores, "alike": dict(ALIKE)}


def _all_stand_out(generator):
    return _scores(generator, (0.03, 0.3, 0.0))  # the last just reaches it


def _one_stands_out(generator):
    above = (0.2, -0.08, None)
    order = torch.randperm(3, generator=generator).tolist()
    return _scores(generator, [above[i] for i in order])


def places(scores, alike):
    """Return the head with the highest score, or None if that is not high enough."""
    found = {}
    for name, table in scores.items():
        layer, head = divmod(int(table.argmax()), table.shape[1])
        enough = float(table[layer, head]) >= (1 + alike[name]) / 2
        found[name] = (layer, head) if enough else None
    return found


def _text(found):
    if found is None:
        return None
    if not isinstance(found, dict):
        raise TypeError(f"a dict was asked for, not a {type(found).__name__}")
    return {
        name: (
            "None"
            if place is None
            else " ".join(
                str(int(number)) for number in torch.as_tensor(place).view(-1)
            )
        )
        for name, place in found.items()
    }


def _chosen(choose):
    """Return a `wrong`: another place is judged, or named where one stands out."""

    def named(scores, alike, *, judged):
        found = {}
        for name, table in scores.items():
            layer, head = place = choose(table)
            inside = layer < table.shape[0] and head < table.shape[1]
            best = table[layer, head] if judged and inside else table.max()
            found[name] = place if float(best) >= (1 + alike[name]) / 2 else None
        return _text(found)

    return [partial(named, judged=judged) for judged in (False, True)]


def _flat(table):
    return int(table.argmax())


# Another place than that of the highest score: a name, what it is, and how.
CHOICES = (
    (
        "the smallest score",
        "The *smallest* scores have been looked up.",
        lambda table: divmod(int(table.argmin()), table.shape[1]),
    ),
    (
        "head before layer",
        "Layer and head are exchanged: asked for is (layer, head), the order of the "
        "axes.",
        lambda table: divmod(_flat(table), table.shape[1])[::-1],
    ),
    (
        "taken apart by the number of layers",
        "The flat index has been taken apart with the number of layers. A row of the "
        "table is one layer: how many numbers are in a row?",
        lambda table: divmod(_flat(table), table.shape[0]),
    ),
    (
        "taken apart by the number of layers",
        "The flat index has been taken apart with the number of layers. A row of the "
        "table is one layer: how many numbers are in a row?",
        lambda table: (
            _flat(table) // table.shape[0] % table.shape[0],
            _flat(table) % table.shape[0],
        ),
    ),
    (
        "places counted from 1",
        "Layers or heads have been counted from 1. Here they are counted from 0.",
        lambda table: tuple(n + 1 for n in divmod(_flat(table), table.shape[1])),
    ),
    (
        "one layer only",
        "Only the first layer has been looked through. Any layer may have the highest "
        "score.",
        lambda table: (0, int(table[0].argmax())),
    ),
    (
        "one layer only",
        "Only the last layer has been looked through. Any layer may have the highest "
        "score.",
        lambda table: (len(table) - 1, int(table[-1].argmax())),
    ),
    (
        "averaged before the choice",
        "Layers or heads have been averaged before the highest score was looked for. "
        "One head that stands out among others that do not is lost in such a mean.",
        lambda table: (
            int(table.mean(dim=1).argmax()),
            int(table.mean(dim=0).argmax()),
        ),
    ),
)


def _means_judged(over, then):
    """Judge the mean over the layers or over the heads, and name a place by it."""

    def wrong(scores, alike):
        found = {}
        for name, table in scores.items():
            means = table.mean(dim=over)
            best = int(means.argmax())
            stands_out = float(means[best]) >= (1 + alike[name]) / 2
            found[name] = then(table, best) if stands_out else None
        return _text(found)

    return wrong


AVERAGED = tuple(
    Mistake(
        "averaged before the choice",
        "Layers or heads have been averaged before the highest score was looked for. "
        "One head that stands out among others that do not is lost in such a mean.",
        wrong=wrong,
        read=SCORE,
    )
    for wrong in (
        _means_judged(0, lambda table, head: (int(table[:, head].argmax()), head)),
        _means_judged(1, lambda table, layer: (layer, int(table[layer].argmax()))),
    )
)
OTHER_PLACES = (
    Mistake(
        "no head at all",
        "No head is named, although one does come halfway from `alike` to 1. Is it "
        "the *highest* score of all layers and heads that is compared, and with the "
        "middle between `alike` and 1?",
        wrong=lambda scores, alike: dict.fromkeys(scores, "None"),
        read=SCORE,
    ),
)
OTHER_PLACES += tuple(
    Mistake(name, says, wrong=wrong, read=SCORE)
    for name, says, choose in CHOICES
    for wrong in _chosen(choose)
)


def _judged(enough):
    def wrong(scores, alike):
        found = {}
        for name, table in scores.items():
            place = divmod(int(table.argmax()), table.shape[1])
            found[name] = place if enough(float(table.max()), alike[name]) else None
        return _text(found)

    return wrong


WHICH = Task(
    name="which",
    title="Which head is it?",
    names=("find_heads",),
    difficulty="easy",
    minutes=10,
    checks=(
        Check(
            "the place of the highest score is given as (layer, head)",
            0.5,
            inputs=_all_stand_out,
            ask=lambda find_heads, scores, alike: _text(find_heads(scores, alike)),
            expected=lambda scores, alike: _text(places(scores, alike)),
            mistakes=(
                Mistake(
                    "half of the whole scale",
                    "A head has been left out that comes halfway from `alike` to 1. "
                    "It has been asked to lie half of the *whole* scale above `alike`.",
                    wrong=_judged(lambda best, alike: best >= alike + 0.5),
                    read=SCORE,
                ),
                Mistake(
                    "halfway is not enough",
                    "A head that comes exactly halfway from `alike` to 1 is left out. "
                    "*At least* halfway is asked for.",
                    wrong=_judged(lambda best, alike: best > (1 + alike) / 2),
                    read=SCORE,
                ),
                *OTHER_PLACES,
                *AVERAGED,
                Mistake(
                    "a flat index",
                    "`argmax` without an axis counts through all numbers, row after "
                    "row. That one number has yet to be taken apart into layer and "
                    "head.",
                    wrong=lambda scores, alike: _text(
                        {name: _flat(table) for name, table in scores.items()}
                    ),
                    read=SCORE,
                ),
            ),
        ),
        Check(
            "None where no head comes at least halfway from `alike` to 1",
            0.5,
            inputs=_one_stands_out,
            ask=lambda find_heads, scores, alike: _text(find_heads(scores, alike)),
            expected=lambda scores, alike: _text(places(scores, alike)),
            mistakes=(
                Mistake(
                    "always some head",
                    "Some head always has the highest score, even where none does "
                    "anything of the kind. Such a score says nothing.",
                    wrong=lambda scores, alike: _text(
                        places(scores, dict.fromkeys(alike, -1))
                    ),
                    read=SCORE,
                ),
                Mistake(
                    "one half for all",
                    "The scores have been compared with a fixed number. A head that "
                    "looks everywhere alike already gets `alike`, which differs from "
                    "score to score.",
                    wrong=lambda scores, alike: _text(
                        places(scores, dict.fromkeys(alike, 0))
                    ),
                    read=SCORE,
                ),
                Mistake(
                    "higher than a head that looks everywhere",
                    "A head has been named whose score is above `alike`, but does not "
                    "come halfway from there to 1. A little above is what chance gives "
                    "among many heads.",
                    wrong=lambda scores, alike: _text(
                        places(scores, {n: 2 * a - 1 for n, a in alike.items()})
                    ),
                    read=SCORE,
                ),
                *OTHER_PLACES,
                *AVERAGED,
            ),
        ),
    ),
)
