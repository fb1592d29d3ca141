"""Exercise 4, second part: distances that share a row of a table."""

from __future__ import annotations

import torch

from attncourse.exercises.relative.causal_buckets import (
    CAUSAL_BUCKETS,
    of_the_past,
    regions,
    some_distances,
)
from attncourse.exercises.relative.clipping import CLIPPING
from attncourse.exercises.relative.distances import T5, size
from attncourse.exercises.task import Check, Mistake, Task
from attncourse.layers.relative import t5_buckets


def _two_way(generator):
    exact = size(generator, 2, 3)
    max_distance = exact * size(generator, 4, 6)
    left, right = (some_distances(generator, 6, exact, max_distance) for _ in range(2))
    return {
        "distances": torch.tensor([-d for d in left] + right).reshape(1, 3, 4),
        "num_buckets": 4 * exact,
        "max_distance": max_distance,
    }


def _both(distances, num_buckets, max_distance):
    return t5_buckets(distances, num_buckets, max_distance, bidirectional=True)


BUCKETS = Task(
    name="buckets",
    title="Distances that share a row",
    names=("clipped_rows", "buckets"),
    difficulty="medium",
    minutes=15,
    checks=(
        CLIPPING,
        CAUSAL_BUCKETS,
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
                    wrong=lambda distances, **rest: of_the_past(
                        -distances.abs(), **rest
                    ),
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
                        of_the_past(-distances.abs(), num_buckets, max_distance)
                        + (distances > 0) * num_buckets
                    ),
                    read=T5,
                ),
                Mistake(
                    "buckets not shared between the sides",
                    "Each side is sorted into all buckets, and then those to the right "
                    "are moved up by half: the two sides overlap. Each side has half.",
                    wrong=lambda distances, num_buckets, max_distance: (
                        of_the_past(-distances.abs(), num_buckets, max_distance)
                        + (distances > 0) * (num_buckets // 2)
                    ),
                    read=T5,
                ),
                Mistake(
                    "causal where two sides are asked for",
                    "All keys to the right are in bucket 0, as in a causal model, "
                    "although `causal` is False.",
                    wrong=of_the_past,
                    read=T5,
                ),
                *regions(2),
            ),
        ),
    ),
)
