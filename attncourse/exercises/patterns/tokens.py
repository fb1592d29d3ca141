"""Task 2.5: heads that look for a token."""

from __future__ import annotations

import torch

from attncourse.exercises.patterns.shares import (
    SCORE,
    TRAINED,
    ask_one,
    batch_averaged,
    both,
    draw_batch,
    draw_padded_batch,
    each_sequence_alike,
    heads_averaged,
    padding_mistakes,
    pooled,
)
from attncourse.exercises.task import Check, Mistake, Task


def of_pairs(wanted, *, all_queries=False):
    """Sum over the keys that are wanted, for queries that have one."""

    def shares(weights, tokens):
        """Return the share of each counted query, (layers or heads, queries)."""
        keys = wanted(tokens, torch.arange(len(tokens)))
        counted = torch.ones_like(keys[:, 0]) if all_queries else keys.any(dim=1)
        return (weights * keys).sum(dim=2)[:, counted]

    return shares


def equal(tokens):
    """Say for each query and key whether their tokens are equal."""
    return tokens[:, None] == tokens[None]


def copies(tokens, at):
    """Mark the earlier copies of each query's token."""
    return equal(tokens) & (at[None] < at[:, None])


def followers(tokens, at):
    """Mark what followed earlier copies of each query's token."""
    follows = torch.zeros(len(at), len(at), dtype=torch.bool)
    follows[:, 1:] = equal(tokens)[:, :-1]
    return follows & (at[None] <= at[:, None])


def predecessors(tokens, at):
    """Mark what came before earlier copies of each query's token."""
    precedes = torch.zeros(len(at), len(at), dtype=torch.bool)
    precedes[:, :-1] = copies(tokens, at)[:, 1:]
    return precedes


def only_last(wanted):
    """Keep the last of the wanted keys of each query."""

    def last(tokens, at):
        keys = wanted(tokens, at)
        return keys & ~(keys.flip(1).cumsum(1).flip(1) > 1)

    return last


same = of_pairs(copies)
after = of_pairs(followers)


TOKEN = Task(
    name="token",
    title="Heads that look for a token",
    names=("looks_same", "looks_after"),
    minutes=20,
    checks=(
        Check(
            "`looks_same`: the share on earlier copies of the query's token",
            0.5,
            inputs=draw_batch,
            ask=ask_one(0),
            expected=pooled(same),
            pure=True,
            mistakes=(
                Mistake(
                    "the token itself counted",
                    "The query itself has been counted as a copy of itself. Every "
                    "head that looks at its own place would pass for one that finds "
                    "copies.",
                    wrong=pooled(
                        of_pairs(lambda t, at: equal(t) & (at[None] <= at[:, None]))
                    ),
                    read=SCORE,
                ),
                Mistake(
                    "the last copy only",
                    "Only the last of the earlier copies has been counted. Asked for "
                    "is the weight on all of them together.",
                    wrong=pooled(of_pairs(only_last(copies))),
                    read=SCORE,
                ),
                Mistake(
                    "later copies counted",
                    "Later copies have been counted too. Asked for are earlier ones: "
                    "in a causal model the later ones cannot be seen.",
                    wrong=pooled(
                        of_pairs(lambda t, at: equal(t) & (at[None] != at[:, None]))
                    ),
                    read=SCORE,
                ),
                Mistake(
                    "all copies counted, itself included",
                    "Every equal token has been counted, the query itself and later "
                    "ones included. Asked for are earlier copies.",
                    wrong=pooled(of_pairs(lambda t, at: equal(t))),
                    read=SCORE,
                ),
                Mistake(
                    "rows and columns exchanged",
                    "Counted are the keys that come *after* the query. The query's "
                    "place is the row and the key's the column.",
                    wrong=pooled(
                        of_pairs(lambda t, at: equal(t) & (at[None] > at[:, None]))
                    ),
                    read=TRAINED,
                ),
                Mistake(
                    "queries without a copy counted",
                    "Queries whose token has not occurred before have been counted, "
                    "with a share of zero. They had nothing to find. The score then "
                    "says more about the text than about the head.",
                    wrong=pooled(of_pairs(copies, all_queries=True)),
                    read=SCORE,
                ),
                Mistake(
                    "batch averaged first",
                    "The maps of the batch have been averaged before the tokens were "
                    "compared. Sequences repeat in different places, so such a mean "
                    "belongs to none of them.",
                    wrong=batch_averaged(same),
                    read=SCORE,
                ),
                Mistake(
                    "every sequence weighs the same",
                    "First each sequence has been averaged and then the sequences. "
                    "Asked for is the average over all queries of the batch together; "
                    "some sequences have more queries that count than others.",
                    wrong=each_sequence_alike(same),
                    read=SCORE,
                ),
                heads_averaged(same),
            ),
        ),
        Check(
            "`looks_after`: the share on what followed the query's token before",
            0.5,
            inputs=draw_batch,
            ask=ask_one(1),
            expected=pooled(after),
            pure=True,
            mistakes=(
                Mistake(
                    "the copy, not what followed it",
                    "This is the share on the earlier copies themselves: off by one. "
                    "An induction head looks at what came *next* after them.",
                    wrong=pooled(same),
                    read=TRAINED,
                ),
                Mistake(
                    "the token before the copy",
                    "This is the share on the token *before* each earlier copy: off "
                    "by one in the wrong direction.",
                    wrong=pooled(of_pairs(predecessors)),
                    read=TRAINED,
                ),
                Mistake(
                    "the last copy only",
                    "Only what followed the last of the earlier copies has been "
                    "counted. Asked for is the weight on all of them together.",
                    wrong=pooled(of_pairs(only_last(followers))),
                    read=SCORE,
                ),
                Mistake(
                    "the query's own place left out",
                    "Where a token occurs twice in a row, what followed the first is "
                    "the second: the query's own place. It has been left out.",
                    wrong=pooled(
                        of_pairs(
                            lambda t, at: followers(t, at) & (at[None] < at[:, None])
                        )
                    ),
                    read=SCORE,
                ),
                Mistake(
                    "later keys counted",
                    "Keys after the query have been counted too. What follows a later "
                    "copy cannot be known yet.",
                    wrong=pooled(
                        of_pairs(
                            lambda t, at: torch.roll(equal(t), 1, 1) & (at[None] > 0)
                        )
                    ),
                    read=SCORE,
                ),
                Mistake(
                    "rolled around the end",
                    "The first key has been counted as what follows the last one: "
                    "`roll` puts what leaves at the end back in at the front.",
                    wrong=pooled(
                        of_pairs(
                            lambda t, at: (
                                torch.roll(equal(t), 1, 1) & (at[None] <= at[:, None])
                            )
                        )
                    ),
                    read=SCORE,
                ),
                Mistake(
                    "queries without a copy counted",
                    "Queries whose token has not occurred before have been counted, "
                    "with a share of zero. They had nothing to find.",
                    wrong=pooled(of_pairs(followers, all_queries=True)),
                    read=SCORE,
                ),
                Mistake(
                    "batch averaged first",
                    "The maps of the batch have been averaged before the tokens were "
                    "compared. Sequences repeat in different places, so such a mean "
                    "belongs to none of them.",
                    wrong=batch_averaged(after),
                    read=SCORE,
                ),
                Mistake(
                    "every sequence weighs the same",
                    "First each sequence has been averaged and then the sequences. "
                    "Asked for is the average over all queries of the batch together; "
                    "some sequences have more queries that count than others.",
                    wrong=each_sequence_alike(after),
                    read=SCORE,
                ),
                heads_averaged(after),
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
            expected=both(pooled(same), pooled(after), ("looks_same", "looks_after")),
            mistakes=padding_mistakes(same, after, ("looks_same", "looks_after")),
        ),
    ),
)
