"""Exercise 4, second part: distances that share a row of a table."""

from __future__ import annotations

import math

import torch

from attncourse.exercises.relative.distances import SHAW, T5, size
from attncourse.exercises.task import Check, Mistake, Task
from attncourse.layers.relative import relative_positions, t5_buckets


def _to_clip(generator):
    queries, keys, reach = (size(generator, *ends) for ends in ((3, 4), (4, 5), (1, 7)))
    return {"distances": relative_positions(queries, keys), "reach": reach}


def _clip(distances, reach):
    return distances.clamp(-reach, reach) + reach


def _one_way(generator):
    exact = size(generator, 3, 4)
    max_distance = exact * size(generator, 5, 8)
    past = _some_distances(generator, 14, exact, max_distance)
    return {
        "distances": torch.tensor([*(-d for d in past), 1, exact + 1]).reshape(4, 4),
        "num_buckets": 2 * exact,
        "max_distance": max_distance,
    }


def _two_way(generator):
    exact = size(generator, 2, 3)
    max_distance = exact * size(generator, 4, 6)
    left, right = (_some_distances(generator, 6, exact, max_distance) for _ in range(2))
    return {
        "distances": torch.tensor([-d for d in left] + right).reshape(1, 3, 4),
        "num_buckets": 4 * exact,
        "max_distance": max_distance,
    }


def _some_distances(generator, count, exact, max_distance):
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


def _causal(distances, num_buckets, max_distance):
    return t5_buckets(distances, num_buckets, max_distance, bidirectional=False)


def _both(distances, num_buckets, max_distance):
    return t5_buckets(distances, num_buckets, max_distance, bidirectional=True)


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


def _where(region):
    """Return a `when`: all that is wrong, and something is, lies in a region.

    `region` takes the distances, the reach if there is one, and all inputs.
    """

    def when(seen, expected, inputs):
        if seen["result"].shape != expected["result"].shape:
            return False
        wrong = seen["result"].values != expected["result"].values
        distances = inputs["distances"].flatten().numpy()
        inside = region(distances, inputs.get("reach"), inputs)
        return bool(wrong.any() and not wrong[~inside].any())

    return when


def _regions(sides):
    """Return mistakes that say which distances are wrong, of causal or all buckets."""

    def exact(inputs):
        return inputs["num_buckets"] // 2 // sides

    return tuple(
        Mistake(name, says, when=_where(region), read=T5)
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


CLIPPED = tuple(
    Mistake(name, says, when=_where(region), read=SHAW)
    for name, says, region in (
        (
            "right end at another row",
            "Only distances beyond the reach to the right have another row. They share "
            "the last row of the table, the number 2 · reach.",
            lambda d, reach, inputs: d > reach,
        ),
        (
            "right end at another row",
            "Only distances at the right end of the reach, or beyond it, have another "
            "row. They share the last row of the table, the number 2 · reach.",
            lambda d, reach, inputs: d >= reach,
        ),
        (
            "left end at another row",
            "Only distances at the left end of the reach, or beyond it, have another "
            "row. They share row 0.",
            lambda d, reach, inputs: d <= -reach,
        ),
        (
            "ends at other rows",
            "Only distances at the ends of the reach, or beyond them, have other rows. "
            "They share row 0 on the left and row 2 · reach on the right.",
            lambda d, reach, inputs: abs(d) >= reach,
        ),
        (
            "one side of the rows wrong",
            "Keys on one side of the query have the right rows, those on the other "
            "side have not. Both sides are shifted by the same number, the reach.",
            lambda d, reach, inputs: d > 0,
        ),
        (
            "one side of the rows wrong",
            "Keys on one side of the query have the right rows, those on the other "
            "side have not. Both sides are shifted by the same number, the reach.",
            lambda d, reach, inputs: d < 0,
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
)


BUCKETS = Task(
    name="buckets",
    title="Distances that share a row",
    names=("clipped_rows", "buckets"),
    difficulty="medium",
    minutes=15,
    checks=(
        Check(
            "clipped distances are rows from 0 to twice the reach",
            0.5,
            inputs=_to_clip,
            ask=lambda rows, _, distances, reach: rows(distances, reach),
            expected=_clip,
            pure=True,
            mistakes=(
                Mistake(
                    "clipped on one side only",
                    "Distances are clipped on one side of the query only. Those on "
                    "the other side go past the end of the table as well.",
                    wrong=lambda distances, reach: distances.clamp(max=reach) + reach,
                    read=SHAW,
                ),
                Mistake(
                    "clipped on one side only",
                    "Distances are clipped on one side of the query only. Those on "
                    "the other side go past the end of the table as well.",
                    wrong=lambda distances, reach: distances.clamp(min=-reach) + reach,
                    read=SHAW,
                ),
                Mistake(
                    "counted round the end",
                    "Distances beyond the reach begin anew at the other end of the "
                    "table, so that far left and far right share rows.",
                    wrong=lambda distances, reach: (
                        (distances + reach) % (2 * reach + 1)
                    ),
                    read=SHAW,
                ),
                Mistake(
                    "not clipped",
                    "Distances beyond the reach have rows of their own, and some are "
                    "negative or too large for the table. All that are further away "
                    "share the outermost row of their side.",
                    wrong=lambda distances, reach: distances + reach,
                    read=SHAW,
                ),
                Mistake(
                    "rows below zero",
                    "Some rows are negative. A negative index does not fail: it counts "
                    "from the end of the table and picks the wrong vector.",
                    wrong=lambda distances, reach: distances.clamp(-reach, reach),
                    read=SHAW,
                ),
                Mistake(
                    "left and right share a row",
                    "Keys at the same distance to the left and to the right get the "
                    "same row. The table has a row for each side.",
                    wrong=lambda distances, reach: distances.abs().clamp(max=reach),
                    read=SHAW,
                ),
                Mistake(
                    "one row too many",
                    "The rows start at 1, and the last one lies outside a table of "
                    "twice the reach and one.",
                    wrong=lambda distances, reach: _clip(distances, reach) + 1,
                    read=SHAW,
                ),
                Mistake(
                    "clipped after the shift",
                    "The distances are first shifted and then clipped at the wrong "
                    "ends: count how many rows are in use.",
                    wrong=lambda distances, reach: (distances + reach).clamp(0, reach),
                    read=SHAW,
                ),
                *CLIPPED,
            ),
        ),
        Check(
            "causal buckets: near distances alone, far ones in growing groups",
            1,
            inputs=_one_way,
            ask=lambda _, answer, **inputs: answer(**inputs),
            expected=_causal,
            mistakes=(
                Mistake(
                    "wrong sign",
                    "The keys to the right are told apart, and those in the past share "
                    "bucket 0. In a causal model it is the other way round.",
                    wrong=lambda distances, **rest: _causal(-distances, **rest),
                    read=T5,
                ),
                Mistake(
                    "sign lost",
                    "Keys to the right are sorted like keys to the left. In a causal "
                    "model they all go to bucket 0; a mask hides them anyway.",
                    wrong=lambda distances, **rest: _causal(-distances.abs(), **rest),
                    read=T5,
                ),
                *(
                    Mistake(
                        "buckets counted from 1",
                        "Buckets are too large by 1: a token's own distance, 0, does "
                        "not go to bucket 0, and the last bucket lies outside the "
                        "table or is shared by too many.",
                        wrong=lambda distances, num_buckets, max_distance, top=top: (
                            _causal(distances, num_buckets, max_distance) + 1
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
                    wrong=lambda distances, num_buckets, max_distance: (
                        -distances
                    ).clamp(0, num_buckets - 1),
                    read=T5,
                ),
                *(
                    Mistake(
                        "logarithm in the wrong unit",
                        "The far buckets do not end at `max_distance`. Measure the "
                        "logarithm of d / e as a share of that of max_distance / e, "
                        "where e is the number of near buckets.",
                        wrong=lambda rule=rule, **inputs: _by_formula(
                            **inputs, far=rule
                        ),
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
                    wrong=lambda distances, num_buckets, max_distance: _causal(
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
                        wrong=lambda more=more, **inputs: _by_formula(
                            **inputs, more=more
                        ),
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
                *_regions(1),
            ),
        ),
        Check(
            "two-sided buckets: the upper half is for keys to the right",
            0.5,
            inputs=_two_way,
            ask=lambda _, answer, **inputs: answer(**inputs, causal=False),
            expected=_both,
            mistakes=(
                Mistake(
                    "left and right share a bucket",
                    "Keys at the same distance to the left and to the right are in the "
                    "same bucket.",
                    wrong=lambda distances, **rest: _both(-distances.abs(), **rest),
                    read=T5,
                ),
                Mistake(
                    "left and right share a bucket",
                    "Keys at the same distance to the left and to the right are in the "
                    "same bucket, and each side takes all buckets.",
                    wrong=lambda distances, **rest: _causal(-distances.abs(), **rest),
                    read=T5,
                ),
                Mistake(
                    "halves exchanged",
                    "The upper half holds the keys to the left. It is for those to the "
                    "right.",
                    wrong=lambda distances, **rest: _both(-distances, **rest),
                    read=T5,
                ),
                Mistake(
                    "own position on the right",
                    "Distance 0 is counted among the keys to the right, and goes to "
                    "the upper half. It belongs to bucket 0.",
                    wrong=lambda distances, num_buckets, max_distance: (
                        _both(distances, num_buckets, max_distance)
                        + (distances == 0) * (num_buckets // 2)
                    ),
                    read=T5,
                ),
                Mistake(
                    "buckets not shared between the sides",
                    "Each side is sorted into all buckets, so those to the right leave "
                    "the table. Each side has half of them.",
                    wrong=lambda distances, num_buckets, max_distance: (
                        _causal(-distances.abs(), num_buckets, max_distance)
                        + (distances > 0) * num_buckets
                    ),
                    read=T5,
                ),
                Mistake(
                    "buckets not shared between the sides",
                    "Each side is sorted into all buckets, and then those to the right "
                    "are moved up by half: the two sides overlap. Each side has half.",
                    wrong=lambda distances, num_buckets, max_distance: (
                        _causal(-distances.abs(), num_buckets, max_distance)
                        + (distances > 0) * (num_buckets // 2)
                    ),
                    read=T5,
                ),
                Mistake(
                    "causal where two sides are asked for",
                    "All keys to the right are in bucket 0, as in a causal model, "
                    "although `causal` is False.",
                    wrong=_causal,
                    read=T5,
                ),
                *_regions(2),
            ),
        ),
    ),
)
