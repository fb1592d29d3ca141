"""Task 2.4: heads that look at a place."""

from __future__ import annotations

from attncourse.exercises.patterns.shares import (
    Score,
    ask_one,
    both,
    draw_batch,
    draw_padded_batch,
)
from attncourse.exercises.patterns.slips import (
    EVERYWHERE,
    PADDED,
    Slip,
    slipped,
    slipped_in_both,
)
from attncourse.exercises.task import Check, Task


def _step(step):
    return lambda tokens, at: at[None] == at[:, None] + step


def _column(of):
    return lambda tokens, at: (at[None] == of(at)).expand(len(at), -1)


def after_the_first(table, real, at):
    """Count all queries but the first."""
    return real & (at > 0)


def _all(table, real, at):
    return real


BACK = Score(_step(-1))
FIRST = Score(_column(lambda at: 0), counted=after_the_first)

OTHER_KEYS = (
    Slip(
        "the token itself",
        "This is the share of attention that each token gives to itself.",
        {"keys": _step(0)},
    ),
    Slip(
        "the token two before",
        "This is the share on the token *two* places before, one farther than asked.",
        {"keys": _step(-2)},
    ),
    Slip(
        "the last key",
        "This is the share on the *last* key. Columns are counted from 0.",
        {"keys": _column(lambda at: at[-1])},
    ),
    Slip(
        "the second key",
        "This is the share on the second key, the column 1. Columns are counted from "
        "0.",
        {"keys": _column(lambda at: 1)},
    ),
)
INSTEAD_OF_BACK = (
    Slip(
        "rows and columns exchanged",
        "This is the share on the token just *after*. The query's place is the row and "
        "the key's the column.",
        {"keys": _step(1)},
    ),
    Slip(
        "the first row counted",
        "The first query has been counted with a share of zero. There is no token "
        "before it, so even a perfect head could not reach 1.",
        {"counted": _all},
    ),
    Slip(
        "the last key for the first query",
        "The first query has been counted, and for it the *last* key: index -1 counts "
        "from the end.",
        {
            "keys": lambda tokens, at: at[None] == (at[:, None] - 1) % len(at),
            "counted": _all,
        },
    ),
    *OTHER_KEYS,
    Slip(
        "all earlier tokens",
        "This is the share on *all* tokens before the query together. Asked for is the "
        "one just before it.",
        {"keys": lambda tokens, at: at[None] < at[:, None]},
    ),
    Slip(
        "the first token",
        "This is the share on the *first* token. Asked for is the one just before.",
        {"keys": FIRST.keys, "counted": after_the_first},
    ),
)
INSTEAD_OF_FIRST = (
    Slip(
        "the first row counted",
        "The first query has been counted too. In a causal model it can look nowhere "
        "else, which lifts the score of every head.",
        {"counted": _all},
    ),
    *OTHER_KEYS,
    Slip(
        "the token just before",
        "This is the share on the token just *before* the query. Asked for is the "
        "first one.",
        {"keys": BACK.keys},
    ),
)
NAMES = ("looks_back", "looks_first")

PLACE = Task(
    name="place",
    title="Heads that look at a place",
    names=NAMES,
    difficulty="easy",
    minutes=10,
    checks=(
        Check(
            "`looks_back`: the share of attention on the token just before",
            0.5,
            inputs=draw_batch,
            ask=ask_one(0),
            expected=BACK,
            pure=True,
            mistakes=slipped(BACK, (*INSTEAD_OF_BACK, *EVERYWHERE)),
        ),
        Check(
            "`looks_first`: the share of attention on the first token",
            0.5,
            inputs=draw_batch,
            ask=ask_one(1),
            expected=FIRST,
            pure=True,
            mistakes=slipped(FIRST, (*INSTEAD_OF_FIRST, *EVERYWHERE)),
        ),
        Check(
            "both leave padding out, and every query of the batch weighs the same",
            1,
            inputs=draw_padded_batch,
            ask=lambda one, other, weights, tokens: {
                "looks_back": one(weights, tokens),
                "looks_first": other(weights, tokens),
            },
            expected=both(BACK, FIRST, NAMES),
            mistakes=slipped_in_both(BACK, FIRST, NAMES, (PADDED, *EVERYWHERE)),
        ),
    ),
)
