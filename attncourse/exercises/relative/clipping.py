"""Exercise 4, second part: distances that are clipped."""

from __future__ import annotations

from attncourse.exercises.relative.distances import SHAW, size
from attncourse.exercises.task import Check, Mistake
from attncourse.layers.relative import relative_positions


def _to_clip(generator):
    queries, keys, reach = (size(generator, *ends) for ends in ((3, 4), (4, 5), (1, 7)))
    return {"distances": relative_positions(queries, keys), "reach": reach}


def _clip(distances, reach):
    return distances.clamp(-reach, reach) + reach


def all_in(region):
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


CLIPPED = tuple(
    Mistake(name, says, when=all_in(region), read=SHAW)
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


CLIPPING = Check(
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
            wrong=lambda distances, reach: (distances + reach) % (2 * reach + 1),
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
)
