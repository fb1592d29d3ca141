"""Task 2.5: heads that look for a token."""

from __future__ import annotations

import torch

from attncourse.exercises.patterns.shares import (
    TRAINED,
    Score,
    ask_one,
    both,
    draw_batch,
    draw_padded_batch,
)
from attncourse.exercises.patterns.slips import (
    EVERYWHERE,
    PADDED,
    SEVERAL_KEYS,
    Slip,
    slipped,
    slipped_in_both,
)
from attncourse.exercises.task import Check, Task


def equal(tokens, steps=0):
    """Say of each query and key whether the token `steps` before the key is equal."""
    n = len(tokens)
    found = torch.zeros(n, n, dtype=torch.bool)
    to, of = slice(max(steps, 0), n + min(steps, 0)), slice(max(-steps, 0), n - steps)
    found[:, to] = (tokens[:, None] == tokens[None])[:, of]
    return found


# Which keys, seen from the query: in words, and how.
REACHES = (
    ("before the query", lambda at: at[None] < at[:, None]),
    ("up to the query itself", lambda at: at[None] <= at[:, None]),
    ("everywhere but at the query", lambda at: at[None] != at[:, None]),
    ("everywhere", lambda at: at[None] >= 0),
    ("after the query", lambda at: at[None] > at[:, None]),
)
# What they hold, by the steps from a token that is equal to the query's.
HOLD = (
    (0, "tokens equal to the query's"),
    (1, "what *follows* a token equal to the query's"),
    (-1, "what comes just *before* a token equal to the query's"),
    (2, "what comes *two* places after a token equal to the query's"),
    (-2, "what comes *two* places before a token equal to the query's"),
)


def _related(steps, reach):
    return lambda tokens, at: equal(tokens, steps) & reach(at)


SAME = Score(_related(0, REACHES[0][1]))
AFTER = Score(_related(1, REACHES[1][1]))

_OTHER_KEYS = tuple(
    Slip(
        "other keys",
        f"Counted are other keys than those asked for: {what}, {where}.",
        {"keys": _related(steps, reach)},
        TRAINED,
    )
    for steps, what in HOLD
    for where, reach in REACHES
)


def _all(table, real, at):
    return real


def _rolled(tokens, at):
    return equal(tokens).roll(1, 1) & (at[None] <= at[:, None])


def _before_copies(tokens, at):
    """Mark what came before earlier copies of each query's token."""
    return equal(tokens, -1) & (at[None] + 1 < at[:, None])


WITHOUT_A_COPY = Slip(
    "queries without a copy counted",
    "Queries whose token has not occurred before have been counted, with a share of "
    "zero. They had nothing to find. The score then says more about the text than "
    "about the head.",
    {"counted": _all},
)


def _with_any_copy(steps):
    """Count the queries whose token stands at another place too, later ones included.

    The table marks what stands some `steps` after an earlier copy: in its columns the
    queries are found that have a later one.
    """

    def counted(table, real, at):
        later = table.any(dim=0).roll(-steps)
        if steps:
            later[-steps:] = False
        return (table.any(dim=1) | later) & real

    return counted


def _later_copies(steps):
    return Slip(
        "queries with only a later copy counted",
        "Queries whose token comes again later, but has not occurred before, have been "
        "counted with a share of zero. They had nothing to find yet.",
        {"counted": _with_any_copy(steps)},
    )


INSTEAD_OF_SAME = (
    Slip(
        "the token itself counted",
        "The query itself has been counted as a copy of itself. Every head that looks "
        "at its own place would pass for one that finds copies.",
        {"keys": _related(0, REACHES[1][1])},
    ),
    Slip(
        "later copies counted",
        "Later copies have been counted too. Asked for are earlier ones: in a causal "
        "model the later ones cannot be seen.",
        {"keys": _related(0, REACHES[2][1])},
    ),
    Slip(
        "all copies counted, itself included",
        "Every equal token has been counted, the query itself and later ones included. "
        "Asked for are earlier copies.",
        {"keys": _related(0, REACHES[3][1])},
    ),
    Slip(
        "rows and columns exchanged",
        "Counted are the keys that come *after* the query. The query's place is the "
        "row and the key's the column.",
        {"keys": _related(0, REACHES[4][1])},
        TRAINED,
    ),
    Slip(
        "the neighbour only",
        "Only the token just before the query has been compared with it. A copy may "
        "stand anywhere before.",
        {"keys": lambda t, at: equal(t) & (at[None] == at[:, None] - 1)},
    ),
    WITHOUT_A_COPY,
    *_OTHER_KEYS,
)
INSTEAD_OF_AFTER = (
    Slip(
        "the copy, not what followed it",
        "This is the share on the earlier copies themselves: off by one. An induction "
        "head looks at what came *next* after them.",
        {"keys": SAME.keys},
        TRAINED,
    ),
    Slip(
        "the token before the copy",
        "This is the share on the token *before* each earlier copy: off by one in the "
        "wrong direction.",
        {"keys": _before_copies},
        TRAINED,
    ),
    Slip(
        "the token before the copy",
        "This is the share on the token *before* each copy, the query included as a "
        "copy of itself: off by one in the wrong direction.",
        {"keys": _related(-1, REACHES[1][1])},
        TRAINED,
    ),
    Slip(
        "the query's own place left out",
        "Where a token occurs twice in a row, what followed the first is the second: "
        "the query's own place. It has been left out.",
        {"keys": _related(1, REACHES[0][1])},
    ),
    Slip(
        "later keys counted",
        "Keys after the query have been counted too. What follows a later copy cannot "
        "be known yet.",
        {"keys": _related(1, REACHES[3][1])},
    ),
    Slip(
        "rolled around the end",
        "The first key has been counted as what follows the last one: `roll` puts what "
        "leaves at the end back in at the front.",
        {"keys": _rolled},
    ),
    WITHOUT_A_COPY,
    *_OTHER_KEYS,
)
NAMES = ("looks_same", "looks_after")

TOKEN = Task(
    name="token",
    title="Heads that look for a token",
    names=NAMES,
    minutes=20,
    checks=(
        Check(
            "`looks_same`: the share on earlier copies of the query's token",
            0.5,
            inputs=draw_batch,
            ask=ask_one(0),
            expected=SAME,
            pure=True,
            mistakes=slipped(
                SAME, (_later_copies(0), *INSTEAD_OF_SAME, *SEVERAL_KEYS, *EVERYWHERE)
            ),
        ),
        Check(
            "`looks_after`: the share on what followed the query's token before",
            0.5,
            inputs=draw_batch,
            ask=ask_one(1),
            expected=AFTER,
            pure=True,
            mistakes=slipped(
                AFTER, (_later_copies(1), *INSTEAD_OF_AFTER, *SEVERAL_KEYS, *EVERYWHERE)
            ),
        ),
        Check(
            "both leave padding out, and every query of the batch weighs the same",
            1,
            inputs=draw_padded_batch,
            ask=lambda one, other, weights, tokens: {
                "looks_same": one(weights, tokens),
                "looks_after": other(weights, tokens),
            },
            expected=both(SAME, AFTER, NAMES),
            mistakes=slipped_in_both(
                SAME,
                AFTER,
                NAMES,
                (PADDED, WITHOUT_A_COPY, *SEVERAL_KEYS, *EVERYWHERE),
            ),
        ),
    ),
)
