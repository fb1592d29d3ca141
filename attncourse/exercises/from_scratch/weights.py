"""Task 1.2: from scores to weights."""

from __future__ import annotations

import numpy as np
import torch

from attncourse.exercises.from_scratch.common import draw_sizes, failed
from attncourse.exercises.from_scratch.large_scores import LARGE, SOFTMAX
from attncourse.exercises.seen import near
from attncourse.exercises.task import Check, Mistake, Task

LN2 = 0.6931471805599453
ROWS = "chapters/02_attention_types#three-maps-ask-be-found-hand-over"


def _scores(generator):
    queries, more = draw_sizes(generator, (2, 3), (1, 2))
    size = (1, 2, queries, queries + more)
    return {"scores": 1.5 * torch.randn(size, generator=generator)}


def _over_all(scores):
    return torch.softmax(scores.flatten(), dim=0).reshape(scores.shape)


def _divided_by_the_largest(seen, expected, inputs):
    scores, found = inputs["scores"], seen["result"].values
    tops = scores.max(), scores.amax(-1, keepdim=True), scores.abs().max()
    ways = (torch.softmax(scores / top, dim=-1).flatten() for top in tops)
    return any(near(found, way) for way in ways)


def _something_added(seen, expected, inputs):
    """Say whether one and the same number was added to the sum of every row."""
    right, found = (part["result"].values for part in (expected, seen))
    scores = inputs["scores"]
    share = found.reshape(-1, scores.shape[-1]).sum(axis=-1)
    if np.abs(found - np.repeat(share, scores.shape[-1]) * right).max() > 0.012:
        return False
    for top in (0 * scores[..., :1], scores.amax(-1, keepdim=True), scores.max()):
        sums = (scores - top).exp().sum(-1).numpy().ravel()
        added = np.median(sums / share - sums)
        alike = np.abs(sums / (sums + added) - share).max() < 0.02
        if alike and added > 0 and np.ptp(share) > 0.03:
            return True
    return False


# What is done to the scores before the softmax: a name, in words, and how.
BENT = (
    ("a tanh", torch.tanh),
    ("a relu", torch.relu),
    ("a sigmoid", torch.sigmoid),
    ("their size without a sign", torch.abs),
    ("their squares", torch.square),
    ("whole numbers, rounded", torch.round),
    (
        "the scores less the largest of each *column*: only what is taken from a whole "
        "row cancels",
        lambda scores: scores - scores.amax(dim=-2, keepdim=True),
    ),
    (
        "the scores less the mean of each *column*: only what is taken from a whole "
        "row cancels",
        lambda scores: scores - scores.mean(dim=-2, keepdim=True),
    ),
)

VALUES = Check(
    "the weights of each query are positive and sum to 1 over the keys",
    1,
    inputs=_scores,
    ask=lambda weights, scores: weights(scores),
    expected=lambda scores: torch.softmax(scores, dim=-1),
    pure=True,
    mistakes=(
        Mistake(
            "softmax over the queries",
            "Your rows do not sum to 1, but your columns do: the softmax runs over the "
            "queries. Each query has to share out its own attention.",
            wrong=lambda scores: torch.softmax(scores, dim=-2),
            read=ROWS,
        ),
        Mistake(
            "softmax over the heads",
            "Your rows do not sum to 1, but the same entry summed over the heads does. "
            "Heads do not share attention: each has its own row for each query. "
            "(In a tensor with heads, axis 1 is the heads.)",
            wrong=lambda scores: torch.softmax(scores, dim=1),
            read=ROWS,
        ),
        Mistake(
            "softmax over the batch",
            "The softmax runs over the first axis, the batch: sequences compete with "
            "each other. With one sequence every weight is 1.",
            wrong=lambda scores: torch.softmax(scores, dim=0),
            read=ROWS,
        ),
        Mistake(
            "softmax over everything",
            "All weights together sum to 1. Each query has one unit of attention of "
            "its own, so each row should sum to 1.",
            wrong=_over_all,
            read=ROWS,
        ),
        Mistake(
            "softmax over queries and keys",
            "All weights of one head together sum to 1: the sum runs over the queries "
            "too. Each query has one unit of attention of its own.",
            wrong=lambda scores: (s := scores.exp()) / s.sum((-2, -1), keepdim=True),
            read=ROWS,
        ),
        *(
            Mistake(
                "scores changed before the softmax",
                f"What goes through the softmax is not the scores but {what}. It takes "
                "the scores as they are, of any sign and size.",
                wrong=lambda scores, bend=bend: torch.softmax(bend(scores), dim=-1),
                read=SOFTMAX,
            )
            for what, bend in BENT
        ),
        Mistake(
            "a number added to the sum",
            "Each row falls short of 1, as if a number had been added to the sum "
            "below the line. That sum is never 0: nothing has to be added.",
            when=_something_added,
            read=SOFTMAX,
        ),
        Mistake(
            "no exponentials",
            "The rows sum to 1, but the scores were divided by their sum as they are. "
            "Negative scores then give negative weights.",
            wrong=lambda scores: scores / scores.sum(dim=-1, keepdim=True),
            read=SOFTMAX,
        ),
        Mistake(
            "not divided by the sum",
            "These are the exponentials. They are positive, but they do not sum to 1.",
            wrong=lambda scores: scores.exp(),
            read=SOFTMAX,
        ),
        Mistake(
            "not divided by the sum",
            "These are exponentials, the largest of each row being 1. They do not sum "
            "to 1 yet.",
            wrong=lambda scores: (scores - scores.amax(-1, keepdim=True)).exp(),
            read=SOFTMAX,
        ),
        *(
            Mistake(
                "the exponential of the sum",
                "Each row is divided by the exponential of the sum of its scores. "
                "Below the line stands the sum of the exponentials, which is another "
                "number.",
                wrong=lambda scores, top=top: (
                    (scores - top(scores)).exp()
                    / (scores - top(scores)).sum(-1, keepdim=True).exp()
                ),
                read=SOFTMAX,
            )
            for top in (lambda s: 0, lambda s: s.amax(-1, keepdim=True))
        ),
        Mistake(
            "divided by the largest score",
            "The rows sum to 1, but the scores were made smaller by a *factor* first. "
            "Weights depend on differences of scores, and a factor changes these.",
            when=_divided_by_the_largest,
            read=SOFTMAX,
        ),
        Mistake(
            "logarithms of the weights",
            "The numbers are negative: these are the logarithms of the weights.",
            wrong=lambda scores: torch.log_softmax(scores, dim=-1),
            read=SOFTMAX,
        ),
        Mistake(
            "scaled again",
            "The scores are divided by the root of the number of keys first. They are "
            "scaled already, and more keys make no larger scores.",
            wrong=lambda scores: torch.softmax(scores / scores.shape[-1] ** 0.5, -1),
            read=SOFTMAX,
        ),
        Mistake(
            "the winner takes all",
            "The key with the highest score gets all the weight. A softmax is soft: "
            "every key gets a share, and gradients can flow.",
            wrong=lambda scores: (scores == scores.amax(dim=-1, keepdim=True)).to(
                scores.dtype
            ),
            read=SOFTMAX,
        ),
        Mistake(
            "another base",
            "These are powers of 2, shared out. The formula has powers of e.",
            wrong=lambda scores: torch.softmax(scores * LN2, dim=-1),
            read=SOFTMAX,
        ),
        Mistake(
            "squares for exponentials",
            "The scores are squared and shared out. A large negative score then gets "
            "as much weight as a large positive one.",
            wrong=lambda scores: (
                scores.square() / scores.square().sum(dim=-1, keepdim=True)
            ),
            read=SOFTMAX,
        ),
        Mistake(
            "divided by the length",
            "Each row is divided by the root of the sum of its squares, so its "
            "*squares* sum to 1. What has to sum to 1 are the weights.",
            wrong=lambda scores: torch.nn.functional.normalize(scores.exp(), dim=-1),
            read=SOFTMAX,
        ),
        Mistake(
            "sigmoid",
            "Each weight depends on its own score only, so the keys do not compete, "
            "and the rows do not sum to 1.",
            wrong=lambda scores: scores.sigmoid(),
            read=SOFTMAX,
        ),
        Mistake(
            "the axis of the sum is lost",
            "The sums (or the maxima) of the rows have one axis fewer than the scores, "
            "so the two do not line up. Sums can be told to keep their axis.",
            when=lambda seen, expected, inputs: failed(seen, "must match"),
            read=SOFTMAX,
        ),
    ),
)


WEIGHTS = Task(
    name="weights",
    title="Weights",
    names=("attention_weights",),
    difficulty="easy",
    minutes=5,
    checks=(VALUES, LARGE),
)
