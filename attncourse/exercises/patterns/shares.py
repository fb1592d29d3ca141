"""Scores of heads over the sequences of a batch: where a head puts its weight."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch

from attncourse.exercises.patterns.models import draw, draw_ids, draw_weights
from attncourse.exercises.seen import describe, same

SCORE = "chapters/03_multi_head#a-score-for-each-head"
TRAINED = "chapters/03_multi_head#what-do-the-heads-of-a-trained-model-do"
PADDING = "chapters/06_seq2seq#fault-4-padding-that-is-read"


def with_a_key(table, real, at):
    """Count the queries that have a wanted key."""
    return table.any(dim=1)


def summed(weights, table):
    """Add up the weights on the wanted keys, (heads, queries)."""
    return (weights * table).sum(dim=2)


def over_all(shares, tables, tokens):
    """Average the shares of all queries of the batch together."""
    return torch.cat(shares, dim=1).mean(dim=1)


@dataclass(frozen=True)
class Score:
    """A score of heads, taken apart into the decisions that can go wrong.

    Attributes
    ----------
    keys : callable
        ``keys(tokens, at)`` marks the wanted keys of each query of a sequence.
    counted : callable
        ``counted(table, real, at)`` marks the queries that count.
    among : callable
        ``among(real, at)`` marks the queries among which these are.
    within : callable
        ``within(weights, table)`` makes one share for each head and query.
    average : callable
        ``average(shares, tables, tokens)`` makes one number for each head.
    read : callable
        What is done to the weights first.
    padding : bool
        Whether padding is treated as tokens.
    """

    keys: Callable
    counted: Callable = field(default_factory=lambda: with_a_key)
    among: Callable = lambda real, at: real
    within: Callable = field(default_factory=lambda: summed)
    average: Callable = field(default_factory=lambda: over_all)
    read: Callable = lambda weights: weights
    padding: bool = False

    def __call__(self, weights, tokens):
        """Return the score of each head."""
        shares, tables = [], []
        at = torch.arange(tokens.shape[1])
        for w, row in zip(self.read(weights), tokens, strict=True):
            real = torch.ones_like(row, dtype=torch.bool) if self.padding else row != 0
            table = self.keys(row, at) & real[:, None] & real[None]
            rows = self.counted(table, real, at) & self.among(real, at)
            shares.append(self.within(w, table)[:, rows])
            tables.append(table)
        return self.average(shares, tables, tokens)


def draw_batch(generator):
    """Draw weights and tokens without padding."""
    batch, n, heads = (draw(generator, *bounds) for bounds in ((2, 3), (4, 6), (2, 3)))
    tokens = draw_ids(generator, batch, n, highest=5)
    return {
        "weights": draw_weights(generator, heads, tokens != 0),
        "tokens": tokens,
    }


def draw_padded_batch(generator):
    """Draw weights and tokens of sequences of three lengths."""
    heads, longest = draw(generator, 2, 3), draw(generator, 6, 8)
    tokens = draw_ids(generator, 3, longest, lengths=(4, longest, 5), highest=5)
    return {
        "weights": draw_weights(generator, heads, tokens != 0),
        "tokens": tokens,
    }


def both(one, other, names):
    """Return a function that returns two scores under their names."""
    return lambda weights, tokens: {
        names[0]: one(weights, tokens),
        names[1]: other(weights, tokens),
    }


def ask_one(place):
    """Return an `ask` that calls one of two answers."""
    return lambda *answers, weights, tokens: answers[place](weights, tokens)


def some_are(wrong, names):
    """Return a `when`: at least one score is the wrong one, and the others are right.

    Parameters
    ----------
    wrong : sequence of callable
        ``wrong(**inputs)`` of each score.
    names : sequence of str
        The parts of the answer, in the same order.
    """

    def when(seen, expected, inputs):
        found = []
        for function, name in zip(wrong, names, strict=True):
            if not same(seen[name], expected[name], tolerance=6e-3):
                spoilt = describe(function(**inputs))
                found.append(same(seen[name], spoilt, tolerance=0.01))
        return bool(found) and all(found)

    return when
