"""Task 1.6: the gradient in closed form."""

from __future__ import annotations

import torch

from attncourse.exercises.from_scratch.common import (
    draw_sizes,
    failed,
    right,
    scaled,
    softmax,
)
from attncourse.exercises.from_scratch.flow import draw_double, gradients_through
from attncourse.exercises.seen import near
from attncourse.exercises.task import Check, Mistake, Task

SOFTMAX = "chapters/02_attention_types#why-divide-by-d-k"
ATTENTION = "chapters/02_attention_types#three-maps-ask-be-found-hand-over"


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
            wrong=lambda weights, upstream: -weights * _mean(weights, upstream),
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
                weights * (upstream - _mean(weights, upstream) / weights.shape[-1])
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
            wrong=lambda weights, upstream: upstream - _mean(weights, upstream),
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


def _mean(weights, upstream):
    return (weights * upstream).sum(dim=-1, keepdim=True)


def _named(result):
    if isinstance(result, tuple | list) and len(result) == 3:
        names = ("gradient of query", "gradient of key", "gradient of value")
        return dict(zip(names, result, strict=True))
    return result


def _ask_attention(softmax_gradient, attention_gradients, **inputs):
    with torch.no_grad():
        return _named(attention_gradients(**inputs))


def _by_hand(query, key, value, upstream, *, soft=None, scale=None):
    """Return the three gradients, with a part replaced."""
    weights = softmax(scaled(query, key))
    above = upstream @ value.transpose(-2, -1)
    scores = weights * (above - _mean(weights, above))
    scores = scores if soft is None else soft(weights, above)
    scores = scores / (query.shape[-1] ** 0.5 if scale is None else scale(query))
    return _named(
        (
            scores @ key,
            scores.transpose(-2, -1) @ query,
            weights.transpose(-2, -1) @ upstream,
        )
    )


def _one_not_scaled(seen, expected, inputs):
    root = inputs["query"].shape[-1] ** 0.5
    parts = [f"gradient of {name}" for name in ("query", "key")]
    ways = [
        [near(seen[p].values, factor * expected[p].values) for factor in (1, root)]
        for p in parts
    ]
    return ways in ([[True, False], [False, True]], [[False, True], [True, False]])


def _of_scores(seen, expected, inputs):
    scores = scaled(inputs["query"], inputs["key"])
    of_value = (scores.transpose(-2, -1) @ inputs["upstream"]).numpy()
    return near(seen["gradient of value"].values, of_value.ravel())


def _order(*places):
    def wrong(**inputs):
        found = list(_by_hand(**inputs).values())
        return _named([found[place] for place in places])

    return wrong


ATTENTION_GRADIENTS = Check(
    "attention_gradients: what a change of the output means for query, key and value",
    2,
    inputs=draw_double,
    ask=_ask_attention,
    expected=lambda **inputs: gradients_through(
        lambda *tensors: tuple(right(*tensors).values()), **inputs
    ),
    mistakes=(
        Mistake(
            "no scaling in the gradient",
            "The gradients of query and key are too large by the root of d_k. The "
            "scores were divided on the way forward; on the way back the same factor "
            "comes in.",
            wrong=lambda **inputs: _by_hand(**inputs, scale=lambda query: 1),
            read=SOFTMAX,
        ),
        Mistake(
            "scaled on one side only",
            "One of the gradients of query and key is right, and the other is too "
            "large by the root of d_k. The scores were divided; both come from the "
            "gradient of the scores.",
            when=_one_not_scaled,
            read=SOFTMAX,
        ),
        Mistake(
            "scores for weights",
            "Where the weights should stand, the scores do: the way forward has to be "
            "gone again up to the softmax, and through it.",
            when=_of_scores,
            read=ATTENTION,
        ),
        Mistake(
            "scaled twice",
            "The gradients of query and key are divided by the root of d_k twice.",
            wrong=lambda **inputs: _by_hand(
                **inputs, scale=lambda query: query.shape[-1]
            ),
            read=SOFTMAX,
        ),
        Mistake(
            "softmax left out",
            "The gradient of the weights is used as the gradient of the scores. "
            "Between the two there is a softmax.",
            wrong=lambda **inputs: _by_hand(**inputs, soft=lambda w, above: above),
            read=ATTENTION,
        ),
        Mistake(
            "weights times upstream",
            "Between weights and scores, only the product with the weights is taken. "
            "That is not the gradient of a softmax.",
            wrong=lambda **inputs: _by_hand(**inputs, soft=lambda w, above: w * above),
            read=ATTENTION,
        ),
        Mistake(
            "order of the results",
            "The gradients are right, but in another order. Query, key, value is "
            "asked for.",
            wrong=_order(2, 1, 0),
        ),
        Mistake(
            "order of the results",
            "The gradients are right, but in another order. Query, key, value is "
            "asked for.",
            wrong=_order(2, 0, 1),
        ),
        Mistake(
            "order of the results",
            "The gradients of query and key have changed places.",
            wrong=_order(1, 0, 2),
        ),
        Mistake(
            "weights not turned round",
            "The shapes do not fit together. A value that many queries read collects "
            "from all of them: on the way back, the matrix product runs over the "
            "queries, not over the keys.",
            when=lambda seen, expected, inputs: failed(
                seen, "mat1", "size", "Expected"
            ),
        ),
    ),
)

GRADIENT = Task(
    name="gradient",
    title="Gradients by hand",
    names=("softmax_gradient", "attention_gradients"),
    difficulty="hard",
    minutes=25,
    needs=("scores", "weights"),
    checks=(SOFTMAX_GRADIENT, ATTENTION_GRADIENTS),
)
