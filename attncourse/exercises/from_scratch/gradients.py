"""Task 1.6: the gradient in closed form."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import torch

from attncourse.exercises.from_scratch.common import (
    failed,
    products,
    right,
    scaled,
    softmax,
)
from attncourse.exercises.from_scratch.flow import draw_double, gradients_through
from attncourse.exercises.from_scratch.softmax_gradient import (
    SOFTMAX,
    SOFTMAX_GRADIENT,
    mean_of,
)
from attncourse.exercises.seen import near
from attncourse.exercises.task import Check, Mistake, Task

ATTENTION = "chapters/02_attention_types#three-maps-ask-be-found-hand-over"


def _named(result):
    if isinstance(result, tuple | list) and len(result) == 3:
        names = ("gradient of query", "gradient of key", "gradient of value")
        return dict(zip(names, result, strict=True))
    return result


def _ask_attention(softmax_gradient, attention_gradients, **inputs):
    with torch.no_grad():
        return _named(attention_gradients(**inputs))


def _by_hand(query, key, value, upstream, *, soft=None, scale=None, forth=scaled):
    """Return the three gradients, with a part replaced."""
    weights = softmax(forth(query, key))
    above = upstream @ value.transpose(-2, -1)
    scores = weights * (above - mean_of(weights, above))
    scores = scores if soft is None else soft(weights, above)
    scores = scores / (query.shape[-1] ** 0.5 if scale is None else scale(query))
    return _named(
        (
            scores @ key,
            scores.transpose(-2, -1) @ query,
            weights.transpose(-2, -1) @ upstream,
        )
    )


def _by_width(query, key):
    return products(query, key) / query.shape[-1]


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


def _with_above(query, key, value, upstream, above):
    """Return the gradients with another gradient of the weights."""
    weights = softmax(scaled(query, key))
    changed = above(upstream, weights @ value, value)
    return _by_hand(
        query,
        key,
        value,
        upstream,
        soft=lambda w, _: w * (changed - mean_of(w, changed)),
    )


def _cut_anew(x):
    return x.reshape(*x.shape[:-2], x.shape[-1], x.shape[-2])


def _parts_are(**made):
    """Return a `when`: these gradients are made like this, and the others are right."""

    def when(seen, expected, inputs):
        p = SimpleNamespace(**inputs)
        p.weights = softmax(scaled(p.query, p.key))
        above = p.upstream @ p.value.mT
        p.scores = (
            p.weights * (above - mean_of(p.weights, above)) * p.key.shape[-1] ** -0.5
        )
        wanted = {name: part.values for name, part in expected.items()}
        wanted |= {f"gradient of {of}": f(p).numpy().ravel() for of, f in made.items()}
        return all(near(seen[name].values, wanted[name]) for name in wanted)

    return when


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
        *(
            Mistake(
                "another scale on the way forward",
                f"The weights are made from scores that are {how}. These are not the "
                "weights of the forward pass: there, scores are divided by the root "
                "of d_k.",
                wrong=partial(_by_hand, scale=scale, forth=forth),
                read=SOFTMAX,
            )
            for how, forth, scales in (
                ("not divided", products, (None, lambda query: 1)),
                ("divided by d_k", _by_width, (None, lambda query: query.shape[-1])),
            )
            for scale in scales
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
        *(
            Mistake(
                f"another gradient of the {of}",
                f"The gradient of the {of} is made in another way: {how}. What comes "
                "back through a matrix product is a product too, with the *other* "
                "factor of the forward pass.",
                when=_parts_are(**{of: made}),
                read=ATTENTION,
            )
            for of, how, made in (
                (
                    "key",
                    "the gradient of the query stands where the query should",
                    lambda p: p.scores.mT @ (p.scores @ p.key),
                ),
                (
                    "key",
                    "a reshape stands where axes should be exchanged",
                    lambda p: _cut_anew(p.scores) @ p.query,
                ),
                (
                    "query",
                    "the query stands where the key should",
                    lambda p: p.scores @ p.scores.mT @ p.query,
                ),
                (
                    "query",
                    "a reshape stands where axes should be exchanged",
                    lambda p: p.scores @ _cut_anew(p.key.mT),
                ),
                (
                    "value",
                    "a reshape stands where axes should be exchanged",
                    lambda p: _cut_anew(p.weights) @ p.upstream,
                ),
                (
                    "value",
                    "the output stands where its gradient should",
                    lambda p: p.weights.mT @ (p.weights @ p.value),
                ),
                (
                    "value",
                    "the gradient of the scores stands where the weights should",
                    lambda p: p.scores.mT @ p.upstream,
                ),
            )
        ),
        *(
            Mistake(
                "another gradient of the weights",
                f"The gradient of the weights is made with {what}. The output is the "
                "product of weights and values: what comes back to the weights is made "
                "from upstream and the values alone.",
                wrong=partial(_with_above, above=above),
                read=ATTENTION,
            )
            for what, above in (
                ("the output as a factor", lambda up, out, v: (up * out) @ v.mT),
                ("the output in place of upstream", lambda up, out, v: out @ v.mT),
                ("upstream added to the output", lambda up, out, v: (up + out) @ v.mT),
            )
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
