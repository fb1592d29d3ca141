"""Task 1.6, the check of the softmax's gradient."""

from __future__ import annotations

import torch

from attncourse.exercises.from_scratch.common import draw_sizes, failed, softmax
from attncourse.exercises.task import Check, Mistake

SOFTMAX = "chapters/02_attention_types#why-divide-by-d-k"


def mean_of(weights, upstream):
    """Return the weighted mean of each row of upstream."""
    return (weights * upstream).sum(dim=-1, keepdim=True)


def _weights_and_upstream(generator):
    queries, keys = draw_sizes(generator, (2, 3), (3, 4))
    scores = 1.5 * torch.randn(2, queries, keys, generator=generator)
    upstream = 5 * torch.randn(2, queries, keys, generator=generator)
    return {"weights": softmax(scores), "upstream": upstream}


def softmax_vjp(weights, upstream):
    """Return the gradient of the scores, as autograd finds it: the reference."""
    scores = weights.log().requires_grad_()
    with torch.enable_grad():
        return torch.autograd.grad(softmax(scores), scores, upstream)[0]


def _ask_softmax(softmax_gradient, attention_gradients, weights, upstream):
    with torch.no_grad():
        return softmax_gradient(weights, upstream)


SOFTMAX_GRADIENT = Check(
    "softmax_gradient: what a change of the weights means for the scores",
    1,
    inputs=_weights_and_upstream,
    ask=_ask_softmax,
    expected=softmax_vjp,
    pure=True,
    mistakes=(
        Mistake(
            "weights times upstream",
            "This is weights times upstream. It would do if a score changed its own "
            "weight only, in proportion. But the weights of a row sum to 1: if one "
            "grows, the others shrink.",
            wrong=lambda weights, upstream: weights * upstream,
            read=SOFTMAX,
        ),
        Mistake(
            "diagonal only",
            "w (1 − w) is how a weight changes with its *own* score. Each score also "
            "changes the weights of all other keys of its row.",
            wrong=lambda weights, upstream: weights * (1 - weights) * upstream,
            read=SOFTMAX,
        ),
        Mistake(
            "off-diagonal only",
            "Each score's effect on its own weight is counted as −w², like its effect "
            "on the others. On the diagonal, a w has to be added.",
            wrong=lambda weights, upstream: -weights * mean_of(weights, upstream),
            read=SOFTMAX,
        ),
        Mistake(
            "plain sum",
            "What is taken from upstream is its plain sum over the keys. Keys with "
            "more weight have to count more.",
            wrong=lambda weights, upstream: (
                weights * (upstream - upstream.sum(-1, keepdim=True))
            ),
            read=SOFTMAX,
        ),
        Mistake(
            "mean for sum",
            "What is taken from upstream is divided by the number of keys once more. "
            "The weights sum to 1: their sum is a mean already.",
            wrong=lambda weights, upstream: (
                weights * (upstream - mean_of(weights, upstream) / weights.shape[-1])
            ),
            read=SOFTMAX,
        ),
        Mistake(
            "the largest for the mean",
            "What is taken from upstream is the largest number of the row. It is a "
            "mean that has to be taken, in which keys with more weight count more.",
            wrong=lambda weights, upstream: (
                weights * (upstream - upstream.amax(-1, keepdim=True))
            ),
            read=SOFTMAX,
        ),
        Mistake(
            "one factor for two terms",
            "The weights multiply upstream, but not the mean that is taken from it. "
            "Both terms have the weight of the key as a factor.",
            wrong=lambda weights, upstream: (
                weights * upstream - mean_of(weights, upstream)
            ),
            read=SOFTMAX,
        ),
        Mistake(
            "plain mean",
            "What is taken from upstream is its plain mean over the keys. Keys with "
            "more weight have to count more.",
            wrong=lambda weights, upstream: (
                weights * (upstream - upstream.mean(-1, keepdim=True))
            ),
            read=SOFTMAX,
        ),
        Mistake(
            "sum over the queries",
            "The sum runs over the queries. Each row has its own softmax, so nothing "
            "passes from one row to another.",
            wrong=lambda weights, upstream: (
                weights * (upstream - (weights * upstream).sum(-2, keepdim=True))
            ),
            read=SOFTMAX,
        ),
        Mistake(
            "sum over everything",
            "The sum runs over the whole tensor. Each row has its own softmax, so "
            "nothing passes from one row to another.",
            wrong=lambda weights, upstream: (
                weights * (upstream - (weights * upstream).sum())
            ),
            read=SOFTMAX,
        ),
        Mistake(
            "last factor forgotten",
            "The weighted mean is taken from upstream, and then a factor is missing: "
            "a key without weight should get no gradient.",
            wrong=lambda weights, upstream: upstream - mean_of(weights, upstream),
            read=SOFTMAX,
        ),
        Mistake(
            "wrong sign",
            "The sign is the wrong way round: a larger upstream should raise a score.",
            wrong=lambda weights, upstream: -softmax_vjp(weights, upstream),
            read=SOFTMAX,
        ),
        Mistake(
            "softmax of the weights",
            "The weights are put through a softmax again. The argument is what came "
            "out of it.",
            wrong=lambda weights, upstream: softmax_vjp(softmax(weights), upstream),
            read=SOFTMAX,
        ),
        Mistake(
            "the axis of the sum is lost",
            "The sum over the keys has one axis fewer than the weights, so the two do "
            "not line up. Sums can be told to keep their axis.",
            when=lambda seen, expected, inputs: failed(seen, "must match"),
        ),
    ),
)
