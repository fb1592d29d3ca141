"""Exercise 4, first part: distances, the matrix that all schemes start from."""

from __future__ import annotations

import torch

from attncourse.exercises.task import Check, Mistake, Task
from attncourse.layers.relative import relative_positions

DISTANCE = "chapters/04_positional_encoding#distances-instead-of-places"
SHAW = "chapters/04_positional_encoding#shaw-a-vector-for-each-distance"
T5 = "chapters/04_positional_encoding#t5-a-number-for-each-bucket-of-distances"


def size(generator, low, high):
    """Draw a whole number from `low` to `high`.

    Parameters
    ----------
    generator : torch.Generator
        Draws it.
    low, high : int
        The smallest and the largest.
    """
    return torch.randint(low, high + 1, (), generator=generator).item()


def _square(generator):
    n = size(generator, 3, 4)
    return {"queries": n, "keys": n}


def _with_offset(generator):
    queries = size(generator, 2, 3)
    # Not keys − queries: where the queries stand is said, and not to be guessed.
    offset = size(generator, 3, 5)
    return {"queries": queries, "keys": queries + offset + 2, "offset": offset}


def _distances(queries, keys, offset=0):
    return relative_positions(queries, keys, query_offset=offset)


SIGN = Mistake(
    "wrong sign",
    "The signs are the wrong way round: a key to the left of its query, in its past, "
    "should have a negative distance.",
    wrong=lambda **sizes: -_distances(**sizes),
    read=DISTANCE,
)
NO_SIGN = Mistake(
    "sign lost",
    "All distances are positive: left and right of the query look alike. The sign says "
    "on which side a key stands.",
    wrong=lambda **sizes: _distances(**sizes).abs(),
    read=DISTANCE,
)

DISTANCES = Task(
    name="distances",
    title="The matrix of distances",
    names=("relative_distances",),
    difficulty="easy",
    minutes=5,
    checks=(
        Check(
            "as many queries as keys: zero on the diagonal, negative in the past",
            0.5,
            inputs=_square,
            ask=lambda answer, queries, keys: answer(queries, keys),
            expected=_distances,
            mistakes=(
                SIGN,
                NO_SIGN,
                Mistake(
                    "queries and keys counted from different numbers",
                    "A token has a distance of 1 to itself. The positions of queries "
                    "and keys are counted from different numbers: one of the two "
                    "starts at 1.",
                    when=lambda seen, expected, inputs: (
                        abs(seen["result"].values - expected["result"].values).tolist()
                        == [1.0] * len(expected["result"].values)
                    ),
                    read=DISTANCE,
                ),
                Mistake(
                    "future cut off",
                    "Keys to the right of the query have distance 0. Which keys may be "
                    "seen is for the mask to say; here each key has its distance.",
                    wrong=lambda **sizes: _distances(**sizes).clamp(max=0),
                    read=DISTANCE,
                ),
            ),
        ),
        Check(
            "the first query may stand at any position, and sizes may differ",
            0.5,
            inputs=_with_offset,
            ask=lambda answer, queries, keys, offset: answer(queries, keys, offset),
            expected=_distances,
            mistakes=(
                SIGN,
                NO_SIGN,
                Mistake(
                    "offset ignored",
                    "The first query is taken to stand at position 0. With an offset "
                    "of m it stands at position m: m tokens were read before it.",
                    wrong=lambda queries, keys, offset: _distances(queries, keys),
                    read=DISTANCE,
                ),
                *(
                    Mistake(
                        "offset counted in another way",
                        f"The queries stand {where}. The first of them stands at the "
                        "offset, once, whatever the numbers of tokens are.",
                        wrong=lambda queries, keys, offset, at=at: _distances(
                            queries, keys, at(queries, keys, offset)
                        ),
                        read=DISTANCE,
                    )
                    for where, at in (
                        ("twice as far on as they should", lambda q, k, m: 2 * m),
                        (
                            "at the end of the keys, whatever the offset is",
                            lambda q, k, m: k - q,
                        ),
                        ("one place too late", lambda q, k, m: m + 1),
                        ("one place too early", lambda q, k, m: m - 1),
                    )
                ),
                Mistake(
                    "offset multiplied",
                    "The positions of the queries are multiplied by the offset. It is "
                    "added to them: where the first stands, and then one by one.",
                    wrong=lambda queries, keys, offset: (
                        torch.arange(keys) - offset * torch.arange(queries)[:, None]
                    ),
                    read=DISTANCE,
                ),
                Mistake(
                    "offset with the wrong sign",
                    "The offset moves the distances the wrong way. It belongs to the "
                    "queries: the larger it is, the further back the keys lie.",
                    wrong=lambda queries, keys, offset: (
                        _distances(queries, keys) + offset
                    ),
                    read=DISTANCE,
                ),
                Mistake(
                    "queries and keys exchanged",
                    "The matrix lies on its side. Rows are queries, columns are keys, "
                    "as in the scores to which it will be added.",
                    when=lambda seen, expected, inputs: (
                        seen["result"].shape == expected["result"].shape[::-1]
                    ),
                    read=DISTANCE,
                ),
                Mistake(
                    "queries and keys counted from different numbers",
                    "All distances are too large, or too small, by 1: queries and keys "
                    "are counted from different numbers.",
                    when=lambda seen, expected, inputs: (
                        abs(seen["result"].values - expected["result"].values).tolist()
                        == [1.0] * len(expected["result"].values)
                    ),
                    read=DISTANCE,
                ),
            ),
        ),
    ),
)
