"""Scores of heads over the sequences of a batch, and how they go wrong."""

from __future__ import annotations

import torch

from attncourse.exercises.patterns.models import draw, draw_ids, draw_weights
from attncourse.exercises.seen import describe, same
from attncourse.exercises.task import Mistake

SCORE = "chapters/03_multi_head#a-score-for-each-head"
TRAINED = "chapters/03_multi_head#what-do-the-heads-of-a-trained-model-do"
PADDING = "chapters/06_seq2seq#fault-4-padding-that-is-read"

# Each of the functions `shares` below takes the weights (heads, n, n) and the tokens
# (n,) of one sequence without padding, and returns the shares of the queries that
# count, (heads, queries).


def pooled(shares):
    """Average the shares of all queries of the batch, of tokens only."""

    def score(weights, tokens):
        return torch.cat(of_each(shares, weights, tokens), dim=1).mean(dim=1)

    return score


def of_each(shares, weights, tokens):
    """Return the shares of each sequence, cut to its length."""
    lengths = (tokens != 0).sum(dim=1).tolist()
    return [
        shares(w[:, :n, :n], t[:n])
        for w, t, n in zip(weights, tokens, lengths, strict=True)
    ]


def with_padding(shares):
    """Average as if padding were tokens: a mistake."""
    return lambda weights, tokens: torch.cat(
        [shares(w, t) for w, t in zip(weights, tokens, strict=True)], dim=1
    ).mean(dim=1)


def each_sequence_alike(shares):
    """Average the averages of the sequences: a mistake where lengths differ."""
    return lambda weights, tokens: torch.stack(
        [s.mean(dim=1) for s in of_each(shares, weights, tokens)]
    ).mean(dim=0)


def batch_averaged(shares):
    """Average the maps of the batch first: a mistake."""
    return lambda weights, tokens: torch.cat(
        [shares(weights.mean(dim=0), t) for t in tokens], dim=1
    ).mean(dim=1)


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


def some_are(wrong, names):
    """Return a `when`: at least one score is the wrong one, and the others are right.

    Parameters
    ----------
    wrong : sequence of callable
        ``wrong(weights, tokens)`` of each score.
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


def padding_mistakes(one, other, names):
    """Return what goes wrong where sequences have different lengths."""
    return (
        Mistake(
            "padding counted",
            "Padding has been counted as if it were tokens. A padded place asks "
            "nothing and is no copy of anything; counted as a query it pulls the "
            "average down, the more the shorter the sequence.",
            when=some_are((with_padding(one), with_padding(other)), names),
            read=PADDING,
        ),
        Mistake(
            "every sequence weighs the same",
            "First each sequence has been averaged and then the sequences. So a query "
            "of a short sequence weighs more than one of a long sequence. Asked for is "
            "the average over all queries of the batch together.",
            when=some_are(
                (each_sequence_alike(one), each_sequence_alike(other)), names
            ),
            read=SCORE,
        ),
    )


def ask_one(place):
    """Return an `ask` that calls one of two answers."""
    return lambda *answers, weights, tokens: answers[place](weights, tokens)


def heads_averaged(shares):
    """Return the mistake of averaging over the heads."""
    return Mistake(
        "heads averaged away",
        "There is one number for all heads together. The question is which head does "
        "it: there should be one number for each.",
        wrong=lambda weights, tokens: pooled(shares)(weights, tokens).mean(),
        read=SCORE,
    )


def one_each_sequence(shares):
    """Return the mistake of keeping the axis of the batch."""
    return Mistake(
        "one number for each sequence",
        "There is one number for each sequence and head. A head is judged by all "
        "sequences together.",
        wrong=lambda weights, tokens: torch.stack(
            [s.mean(dim=1) for s in of_each(shares, weights, tokens)]
        ),
        read=SCORE,
    )


def of_another_mean(shares):
    """Return the mistakes of a sum, a maximum and a median in place of the mean."""

    def of_all(combine):
        return lambda weights, tokens: combine(
            torch.cat(of_each(shares, weights, tokens), dim=1)
        )

    return tuple(
        Mistake(
            "no mean",
            f"This is the {what} over the queries. Asked for is their mean.",
            wrong=of_all(combine),
            read=SCORE,
        )
        for what, combine in (
            ("sum", lambda found: found.sum(dim=1)),
            ("maximum", lambda found: found.amax(dim=1)),
            ("median", lambda found: found.median(dim=1).values),
        )
    )
