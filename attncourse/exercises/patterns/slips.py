"""What can go wrong in a score of heads: one decision of it, or two at once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import combinations

import torch

from attncourse.exercises.patterns.shares import PADDING, SCORE, TRAINED, some_are
from attncourse.exercises.task import Mistake


@dataclass(frozen=True)
class Slip:
    """One decision of a score taken in another way.

    Attributes
    ----------
    name, says, read : str
        As of a `Mistake`.
    change : dict
        The fields of the `Score`, as they then are.
    """

    name: str
    says: str
    change: dict = field(default_factory=dict)
    read: str = SCORE


def slipped(score, slips):
    """Return the mistakes that one slip makes, and those that two make together."""
    return tuple(
        Mistake(name, says, wrong=replace(score, **change), read=read)
        for name, says, change, read in _one_or_two(slips)
    )


def slipped_in_both(one, other, names, slips):
    """Return the mistakes for an answer of two scores, of which one or both slip."""
    return tuple(
        Mistake(
            name,
            says,
            when=some_are((replace(one, **change), replace(other, **change)), names),
            read=read,
        )
        for name, says, change, read in _one_or_two(slips)
    )


def _one_or_two(slips):
    for slip in slips:
        yield slip.name, slip.says, slip.change, slip.read
    for one, other in combinations(slips, 2):
        if not one.change.keys() & other.change.keys():
            yield (
                f"{one.name}; {other.name}",
                f"Two mistakes come together here. {one.says} Besides: {other.says}",
                one.change | other.change,
                one.read,
            )


def _mean_of_keys(weights, table):
    return (weights * table).sum(dim=2) / table.sum(dim=1).clamp(min=1)


def _largest_of_keys(weights, table):
    return (weights * table).amax(dim=2)


def _hits(weights, table):
    best = weights.argmax(dim=2, keepdim=True)
    return table.expand_as(weights).gather(2, best)[..., 0].float()


def _over_half(weights, table):
    return ((weights * table).sum(dim=2) > 0.5).float()


def _last_of_keys(weights, table):
    return (weights * (table & (table.flip(1).cumsum(1).flip(1) == 1))).sum(dim=2)


def _first_of_keys(weights, table):
    return (weights * (table & (table.cumsum(1) == 1))).sum(dim=2)


SEVERAL_KEYS = (
    Slip(
        "the last copy only",
        "Only the last of the wanted keys has been counted. Asked for is the weight on "
        "all of them together.",
        {"within": _last_of_keys},
    ),
    Slip(
        "the first copy only",
        "Only the first of the wanted keys has been counted. Asked for is the weight "
        "on all of them together.",
        {"within": _first_of_keys},
    ),
    Slip(
        "a mean over the keys",
        "Where a query has several wanted keys, their weights have been averaged. "
        "Asked for is what they get all together: their sum.",
        {"within": _mean_of_keys},
    ),
    Slip(
        "the largest of the keys",
        "Where a query has several wanted keys, only the largest of their weights has "
        "been counted. Asked for is what they get all together: their sum.",
        {"within": _largest_of_keys},
    ),
)
NO_WEIGHT = (
    Slip(
        "hits instead of weight",
        "Counted are the queries whose *largest* weight lies there. Asked for is the "
        "weight itself: a head that gives 0.6 is not the same as one that gives 1.",
        {"within": _hits},
    ),
    Slip(
        "half of the weight for a hit",
        "Counted are the queries that put more than half of their weight there. Asked "
        "for is the mean of the weight itself.",
        {"within": _over_half},
    ),
)


def _each_alike(shares, tables, tokens):
    return torch.stack([s.mean(dim=1) for s in shares]).mean(dim=0)


def _divided_by(count):
    return lambda shares, tables, tokens: (
        torch.cat(shares, dim=1).sum(dim=1) / count(tables, tokens)
    )


def _of_all(combine):
    return lambda shares, tables, tokens: combine(torch.cat(shares, dim=1))


def _another_mean(what, combine):
    return Slip(
        "no mean",
        f"This is the {what} over the queries. Asked for is their mean.",
        {"average": _of_all(combine)},
    )


def _another_number(what, count):
    return Slip(
        "divided by another number",
        f"The sum of the shares is right, but it has been divided by {what}. Divide by "
        "the number of queries that were added up.",
        {"average": _divided_by(count)},
    )


AVERAGES = (
    Slip(
        "every sequence weighs the same",
        "First each sequence has been averaged and then the sequences. Asked for is "
        "the average over all queries of the batch together; some sequences have more "
        "queries that count than others.",
        {"average": _each_alike},
    ),
    _another_mean("sum", lambda found: found.sum(dim=1)),
    _another_mean("maximum", lambda found: found.amax(dim=1)),
    _another_mean("minimum", lambda found: found.amin(dim=1)),
    _another_mean("median", lambda found: found.median(dim=1).values),
    _another_number("the number of all tokens", lambda k, t: (t != 0).sum()),
    _another_number("the number of all places of the batch", lambda k, t: t.numel()),
    _another_number(
        "the number of all places but the first of each sequence, padding included",
        lambda k, t: t[:, 1:].numel(),
    ),
    _another_number("the number of sequences", lambda k, t: len(t)),
    _another_number("the length of a sequence", lambda k, t: t.shape[1]),
    _another_number(
        "the number of wanted keys", lambda tables, t: sum(k.sum() for k in tables)
    ),
    Slip(
        "heads averaged away",
        "There is one number for all heads together. The question is which head does "
        "it: there should be one number for each.",
        {"average": _of_all(lambda found: found.mean())},
    ),
    Slip(
        "one number for each sequence",
        "There is one number for each sequence and head. A head is judged by all "
        "sequences together.",
        {"average": lambda shares, *_: torch.stack([s.mean(dim=1) for s in shares])},
    ),
)
ROWS = (
    Slip(
        "the last query only",
        "Only the last query of each sequence has been counted. Asked for is the mean "
        "over all of its queries.",
        {"among": lambda real, at: at == at[real].max()},
    ),
    Slip(
        "the last query left out",
        "The last query of each sequence has been left out. It has asked like all "
        "others.",
        {"among": lambda real, at: at < at[real].max()},
    ),
    Slip(
        "the second query left out",
        "The second query of each sequence has been left out, as if the count began "
        "with the third.",
        {"among": lambda real, at: at > 1},
    ),
    Slip(
        "padding found one place late",
        "Where a sequence is padded, its first row of padding has been counted too: "
        "the places that say which queries are tokens have been moved by one.",
        {
            "counted": lambda table, real, at: (at > 0) & real.roll(1),
            "among": lambda real, at: torch.ones_like(real),
        },
        PADDING,
    ),
)
MAPS = (
    Slip(
        "rows and columns exchanged",
        "Rows and columns have been exchanged: this is what the *keys* get from these "
        "queries, read the other way round. The query's place is the row and the "
        "key's the column.",
        {"read": lambda weights: weights.transpose(-2, -1)},
        TRAINED,
    ),
    Slip(
        "batch averaged first",
        "The maps of the batch have been averaged before the tokens were compared. "
        "Sequences differ in length and in their tokens, so such a mean belongs to "
        "none of them.",
        {"read": lambda weights: weights.mean(dim=0).expand_as(weights)},
    ),
    Slip(
        "a softmax of the weights",
        "The weights have been through a softmax once more. They are shares already.",
        {"read": lambda weights: weights.softmax(dim=-1)},
    ),
    Slip(
        "squared weights",
        "The weights have been squared. Asked for is the weight itself.",
        {"read": torch.square},
    ),
)
PADDED = Slip(
    "padding counted",
    "Padding has been counted as if it were tokens. A padded place asks nothing and is "
    "no copy of anything; counted as a query it pulls the average down, the more the "
    "shorter the sequence.",
    {"padding": True},
    PADDING,
)
EVERYWHERE = (*NO_WEIGHT, *AVERAGES, *ROWS, *MAPS)
