"""Task 2.9: other measures than those asked for."""

from __future__ import annotations

import math
from functools import partial

import torch

from attncourse.exercises.patterns.extents import (
    by_the_largest,
    entropies,
    entropy,
    mean_steps,
    weighted,
)
from attncourse.exercises.patterns.shares import SCORE
from attncourse.exercises.task import Mistake

ORDERS = "chapters/06_seq2seq#what-do-other-word-orders-look-like"
ALL_KEYS = (
    "Each row has been divided by the same number, the logarithm of all keys. A query "
    "that sees three keys can spread over three at most."
)
SIGNED = (
    "Steps to the left and to the right cancel out: the distances have kept their sign"
    "{}. A head that looks three back and three ahead has a reach of three, and not "
    "of zero."
)


def _reached(name, says, of, within=weighted):
    return Mistake(
        name,
        says,
        wrong=partial(mean_steps, of=of, within=within),
        read=SCORE,
    )


def _from_the_end(weights, tokens):
    more = weights.shape[-1] - weights.shape[-2]
    return mean_steps(weights, tokens, lambda steps: (steps - more).abs())


OF_STEPS = (
    _reached("distances with a sign", SIGNED.format(""), lambda steps: steps),
    _reached("distances with a sign", SIGNED.format(""), lambda steps: -steps),
    _reached(
        "distances with a sign",
        SIGNED.format(" until the weights were added up"),
        lambda steps: steps,
        lambda weights, steps: weighted(weights, steps).abs(),
    ),
    Mistake(
        "distances with a sign",
        SIGNED.format(" until the mean was taken"),
        wrong=lambda weights, tokens: mean_steps(
            weights, tokens, lambda steps: steps
        ).abs(),
        read=SCORE,
    ),
    _reached(
        "squared distances",
        "The distances have been squared. Asked for is a number of tokens.",
        lambda steps: steps**2,
    ),
    _reached(
        "squared distances",
        "This is the root of the mean *squared* distance, in which far keys count for "
        "more. Asked for is the plain mean.",
        lambda steps: steps**2,
        lambda weights, steps: weighted(weights, steps).sqrt(),
    ),
    _reached(
        "distances counted from 1",
        "Every distance is one token too large: a query is 0 tokens away from itself.",
        lambda steps: steps.abs() + 1,
    ),
    _reached(
        "keys on one side only",
        "Only keys *before* the query count. Asked for is the distance to either side.",
        lambda steps: (-steps).clamp(min=0),
    ),
    _reached(
        "keys on one side only",
        "Only keys *after* the query count. Asked for is the distance to either side.",
        lambda steps: steps.clamp(min=0),
    ),
    _reached(
        "the weights play no part",
        "This is the mean distance to all keys, whatever their weight. The head has no "
        "part in it.",
        lambda steps: steps.abs(),
        lambda weights, steps: steps.mean().expand(len(weights)),
    ),
    _reached(
        "divided by the number of keys",
        "The sum over a row has been divided by the number of keys. The weights sum to "
        "1 already, so the sum of weight times distance *is* the mean.",
        lambda steps: steps.abs(),
        lambda weights, steps: (weights * steps).mean(dim=-1),
    ),
    Mistake(
        "counted from the end",
        "Where there are more keys than queries, the last query has been put at the "
        "last key. Queries and keys are both counted from 0.",
        wrong=_from_the_end,
        read=ORDERS,
    ),
)


def _with_a_small_number(weights, count, small):
    return -(weights * (weights + small).log()).sum(dim=-1)


def _spreads(name, says, **how):
    return tuple(
        Mistake(name, says, wrong=partial(entropies, smallest=n, **how), read=SCORE)
        for n in (2, 1)
    )


def _log_of(keys):
    return {
        "divide": False,
        "width": lambda weights, count: (
            entropy(weights, count) / torch.tensor(float(keys(count))).log()
        ),
    }


OF_WIDTHS = (
    *_spreads(
        "not a share",
        "This is the entropy itself, in nats. It grows with the number of keys, so "
        "short and long inputs cannot be compared by it.",
        divide=False,
    ),
    *_spreads(
        "not a share",
        "This is the entropy itself, in bits. It grows with the number of keys, so "
        "short and long inputs cannot be compared by it.",
        divide=False,
        width=lambda weights, count: entropy(weights, count) / math.log(2),
    ),
    Mistake(
        "divided by the logarithm of all keys",
        ALL_KEYS,
        wrong=lambda weights, visible: entropies(
            weights, visible, by=visible.shape[-1]
        ),
        read=SCORE,
    ),
    Mistake(
        "divided by the logarithm of all keys",
        ALL_KEYS,
        wrong=lambda weights, visible: entropies(
            weights, visible, True, 1, by=visible.shape[-1]
        ),
        read=SCORE,
    ),
    *_spreads(
        "the logarithm of another number",
        "The entropy has been divided by the logarithm of a number that is 1 too "
        "small. If m keys are visible, m keys can share the weight.",
        **_log_of(lambda count: max(count - 1, 2)),
    ),
    *_spreads(
        "the logarithm of another number",
        "The entropy has been divided by the logarithm of a number that is 1 too "
        "large. If m keys are visible, m keys can share the weight.",
        **_log_of(lambda count: count + 1),
    ),
    *_spreads(
        "divided by the number of keys",
        "The entropy has been divided by the number of the visible keys. The largest "
        "entropy that they allow is its logarithm.",
        divide=False,
        width=lambda weights, count: entropy(weights, count) / count,
    ),
    Mistake(
        "a share of the largest entropy found",
        "The entropies have been divided by the largest one of these inputs. Asked for "
        "is the largest that the query *could* have, which follows from the number of "
        "its keys; other inputs do not change it.",
        wrong=by_the_largest,
        read=SCORE,
    ),
    *_spreads(
        "a number of keys",
        "The exponential of the entropy has been taken, a number of keys. Asked for "
        "is the entropy as a share of the largest one.",
        divide=False,
        width=lambda weights, count: entropy(weights, count).exp() / count,
    ),
    *_spreads(
        "the largest weight",
        "This is 1 minus the largest weight. It says how much lies on *one* key, and "
        "nothing of how the others share the rest.",
        divide=False,
        width=lambda weights, count: 1 - weights.amax(dim=-1),
    ),
    *(
        mistake
        for small in (0.1, 0.01, 0.001)
        for mistake in _spreads(
            "a small number inside the logarithm",
            "A small number has been added inside the logarithm, and it is not small "
            "enough: it shows in the result. There is a function that knows what "
            "0 times the logarithm of 0 is.",
            width=partial(_with_a_small_number, small=small),
        )
    ),
)
