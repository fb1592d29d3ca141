"""Task 2.7: which head does what."""

from __future__ import annotations

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
    return _scores(generator, (0.2, 0.3, 0.0))  # the last just reaches it


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


def _spoilt(spoil):
    def wrong(scores, alike):
        found = places(scores, alike)
        return _text({n: p and spoil(p, scores[n]) for n, p in found.items()})

    return wrong


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
                    "halfway is not enough",
                    "A head that comes exactly halfway from `alike` to 1 is left out. "
                    "*At least* halfway is asked for.",
                    wrong=_judged(lambda best, alike: best > (1 + alike) / 2),
                    read=SCORE,
                ),
                Mistake(
                    "the smallest score",
                    "These are the places of the *smallest* scores.",
                    wrong=lambda scores, alike: _text(
                        {
                            name: divmod(int(table.argmin()), table.shape[1])
                            for name, table in scores.items()
                        }
                    ),
                    read=SCORE,
                ),
                Mistake(
                    "head before layer",
                    "Layer and head are exchanged: asked for is (layer, head), the "
                    "order of the axes.",
                    wrong=_spoilt(lambda place, table: place[::-1]),
                    read=SCORE,
                ),
                Mistake(
                    "a flat index",
                    "`argmax` without an axis counts through all numbers, row after "
                    "row. That one number has yet to be taken apart into layer and "
                    "head.",
                    wrong=_spoilt(
                        lambda place, table: [place[0] * table.shape[1] + place[1]]
                    ),
                    read=SCORE,
                ),
                Mistake(
                    "taken apart by the number of layers",
                    "The flat index has been taken apart with the number of layers. "
                    "A row of the table is one layer: how many numbers are in a row?",
                    wrong=_spoilt(
                        lambda place, table: divmod(
                            place[0] * table.shape[1] + place[1], table.shape[0]
                        )
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
            ),
        ),
    ),
)
