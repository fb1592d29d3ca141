"""Exercise 4, second part: buckets of a causal model."""

from __future__ import annotations

import math

import torch

from attncourse.exercises.relative.clipping import all_in
from attncourse.exercises.relative.distances import T5, size
from attncourse.exercises.task import Check, Mistake
from attncourse.layers.relative import t5_buckets


def _one_way(generator):
    exact = size(generator, 3, 4)
    max_distance = exact * size(generator, 5, 8)
    past = some_distances(generator, 14, exact, max_distance)
    return {
        "distances": torch.tensor([*(-d for d in past), 1, exact + 1]).reshape(4, 4),
        "num_buckets": 2 * exact,
        "max_distance": max_distance,
    }


def some_distances(generator, count, exact, max_distance):
    """Draw distances, near, middle and far, that no rounding of logarithms moves."""
    middle = [
        d
        for d in range(exact + 1, max_distance)
        if abs((place := _place(d, exact, max_distance)) - round(place)) > 1e-3
    ]
    order = torch.randperm(len(middle), generator=generator)
    middle = [middle[i] for i in order[: count - exact - 2]]
    return [*range(exact + 1), *sorted(middle), max_distance + size(generator, 1, 9)]


def _place(distance, exact, max_distance):
    return exact * math.log(distance / exact) / math.log(max_distance / exact)


def of_the_past(distances, num_buckets, max_distance):
    """Return the buckets of a causal model."""
    return t5_buckets(distances, num_buckets, max_distance, bidirectional=False)


def _by_formula(distances, num_buckets, max_distance, far=None, last=True, more=0):
    """Return causal buckets with another rule for the far ones, or `more` near ones."""
    exact = num_buckets // 2 + more
    past = (-distances).clamp(min=0)
    ratio = past.clamp(min=1).double() / exact
    place = ratio.log() / math.log(max_distance / exact) * (num_buckets - exact)
    if far is not None:
        place = far(ratio.log(), exact, max_distance)
    bucket = torch.where(past < exact, past, exact + place.floor().long())
    return bucket.clamp(max=num_buckets - 1) if last else bucket


def _near_by_logarithm(distances, num_buckets, max_distance):
    exact = num_buckets // 2
    past = (-distances).clamp(min=0)
    share = (past.clamp(min=1) / exact).log() / math.log(max_distance / exact)
    far = (exact + (share * exact).floor().long()).clamp(max=num_buckets - 1)
    return torch.where(past > exact, past, far)


def regions(sides):
    """Return mistakes that say which distances are wrong, of causal or all buckets."""

    def exact(inputs):
        return inputs["num_buckets"] // 2 // sides

    return tuple(
        Mistake(name, says, when=all_in(region), read=T5)
        for name, says, region in (
            (
                "own distance wrong",
                "Only distance 0 has another bucket. A token itself is in bucket 0.",
                lambda d, n, inputs: d == 0,
            ),
            (
                "keys to the right wrong",
                "Only keys to the right have other buckets. Causal, all of them share "
                "bucket 0; with two sides they take the upper half of the table.",
                lambda d, n, inputs: d > 0,
            ),
            (
                "distances beyond the end wrong",
                "Only distances beyond `max_distance` have other buckets. All of them "
                "share the last one of their side.",
                lambda d, n, inputs: abs(d) > inputs["max_distance"],
            ),
            (
                "far buckets wrong",
                "The near distances, which have a bucket each, are right. The far ones "
                "are grouped otherwise than in the formula: by the logarithm of d / e, "
                "as a share of that of max_distance / e, rounded down.",
                lambda d, n, inputs: abs(d) >= exact(inputs),
            ),
            (
                "near buckets wrong",
                "The far distances are right. The near ones, fewer than e, should have "
                "a bucket each, with the number of the distance.",
                lambda d, n, inputs: abs(d) < exact(inputs),
            ),
        )
    )


FAR_OTHERWISE = (
    (
        "far buckets of equal width",
        "All far buckets hold as many distances: they are shared out evenly, without a "
        "logarithm. The further away, the more distances share a bucket.",
        lambda log, exact, most: (log.exp() - 1) * exact / (most - exact) * exact,
    ),
    (
        "logarithm of one more",
        "The logarithm is taken of 1 + d / e. At d = e it should be 0, so that the far "
        "buckets begin where the near ones end.",
        lambda log, exact, most: log.exp().log1p() / math.log1p(most / exact) * exact,
    ),
    (
        "logarithm of a difference",
        "The logarithm of max_distance − e is taken. It is that of max_distance / e.",
        lambda log, exact, most: log / math.log(most - exact) * exact,
    ),
    (
        "root in place of the logarithm",
        "The far buckets grow as a root does. It is a logarithm that is asked for.",
        lambda log, exact, most: (log.exp() / (most / exact)).sqrt() * exact,
    ),
    (
        "root in place of the logarithm",
        "The far buckets grow as the root of d − e does. It is a logarithm that is "
        "asked for.",
        lambda log, exact, most: (
            ((log.exp() - 1).clamp(min=0) * exact / (most - exact)).sqrt() * exact
        ),
    ),
)


CAUSAL_BUCKETS = Check(
    "causal buckets: near distances alone, far ones in growing groups",
    1,
    inputs=_one_way,
    ask=lambda _, answer, **inputs: answer(**inputs),
    expected=of_the_past,
    mistakes=(
        Mistake(
            "wrong sign",
            "The keys to the right are told apart, and those in the past share "
            "bucket 0. In a causal model it is the other way round.",
            wrong=lambda distances, **rest: of_the_past(-distances, **rest),
            read=T5,
        ),
        Mistake(
            "sign lost",
            "Keys to the right are sorted like keys to the left. In a causal "
            "model they all go to bucket 0; a mask hides them anyway.",
            wrong=lambda distances, **rest: of_the_past(-distances.abs(), **rest),
            read=T5,
        ),
        *(
            Mistake(
                "buckets counted from 1",
                "Buckets are too large by 1: a token's own distance, 0, does "
                "not go to bucket 0, and the last bucket lies outside the "
                "table or is shared by too many.",
                wrong=lambda distances, num_buckets, max_distance, top=top: (
                    of_the_past(distances, num_buckets, max_distance) + 1
                ).clamp(max=num_buckets + top),
                read=T5,
            )
            for top in (0, -1)
        ),
        Mistake(
            "no last bucket",
            "Distances beyond `max_distance` get buckets that the table does "
            "not have. All of them share the last one.",
            wrong=lambda **inputs: _by_formula(**inputs, last=False),
            read=T5,
        ),
        Mistake(
            "no logarithm",
            "Each distance has its own bucket until the buckets run out. Only "
            "the first half is shared out like this; in the second half a "
            "bucket holds the more distances, the further away they are.",
            wrong=lambda distances, num_buckets, max_distance: (-distances).clamp(
                0, num_buckets - 1
            ),
            read=T5,
        ),
        *(
            Mistake(
                "logarithm in the wrong unit",
                "The far buckets do not end at `max_distance`. Measure the "
                "logarithm of d / e as a share of that of max_distance / e, "
                "where e is the number of near buckets.",
                wrong=lambda rule=rule, **inputs: _by_formula(**inputs, far=rule),
                read=T5,
            )
            for rule in (
                lambda log, exact, most: log * exact,
                lambda log, exact, most: log,
                lambda log, exact, most: log / math.log(most) * exact,
                lambda log, exact, most: (
                    (log + math.log(exact)) / math.log(most) * exact
                ),
            )
        ),
        Mistake(
            "rounded the wrong way",
            "Far distances reach the next bucket too early: the logarithm is "
            "rounded, rounded up, or of another base than the one that it is "
            "divided by. A bucket begins where its number is reached.",
            wrong=lambda **inputs: _by_formula(
                **inputs,
                far=lambda log, exact, most: (
                    log / math.log(most / exact) * exact
                ).round(),
            ),
            read=T5,
        ),
        Mistake(
            "rounded the wrong way",
            "Far distances reach the next bucket too early: the logarithm is "
            "rounded up. A bucket begins where its number is reached.",
            wrong=lambda **inputs: _by_formula(
                **inputs,
                far=lambda log, exact, most: (
                    log / math.log(most / exact) * exact
                ).ceil(),
            ),
            read=T5,
        ),
        Mistake(
            "half of the buckets unused",
            "Only half of the buckets are in use. The other half is for keys "
            "to the right, and a causal model has none.",
            wrong=lambda distances, num_buckets, max_distance: of_the_past(
                distances, num_buckets // 2, max_distance
            ),
            read=T5,
        ),
        *(
            Mistake(
                name,
                says,
                wrong=lambda far=far, **inputs: _by_formula(**inputs, far=far),
                read=T5,
            )
            for name, says, far in FAR_OTHERWISE
        ),
        *(
            Mistake(
                "another number of near buckets",
                f"There are too {'many' if more > 0 else 'few'} near buckets. "
                "Half of the buckets, num_buckets // 2, are for near ones.",
                wrong=lambda more=more, **inputs: _by_formula(**inputs, more=more),
                read=T5,
            )
            for more, word in (
                (1, "many"),
                (2, "many"),
                (-1, "few"),
                (-2, "few"),
            )
        ),
        Mistake(
            "near and far exchanged",
            "Near distances are sorted by the logarithm, and far ones have a "
            "bucket each. It is the other way round.",
            wrong=_near_by_logarithm,
            read=T5,
        ),
        *regions(1),
    ),
)
