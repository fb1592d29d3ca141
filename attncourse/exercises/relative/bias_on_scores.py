"""Exercise 4, third part: the bias itself, without a mask."""

from __future__ import annotations

import math

import torch

from attncourse.exercises.relative.distances import T5, size
from attncourse.exercises.task import Check, Mistake

COLUMNS = "chapters/02_attention_types#seven-lines-and-two-faults-in-circulation"
SCALE = "chapters/02_attention_types#why-divide-by-d-k"


def draw_vectors(generator):
    """Draw vectors and a bias; as many heads as texts, so that axes can be mixed up."""
    queries, width = size(generator, 2, 3), size(generator, 3, 5)
    keys = queries + 1
    return {
        "query": 2 * torch.randn(2, 2, queries, width, generator=generator),
        "key": torch.randn(2, 2, keys, width, generator=generator),
        "value": torch.randn(2, 2, keys, 2, generator=generator),
        "bias": 2 * torch.randn(2, queries, keys, generator=generator),
    }


def attention(query, key, value, bias=0, mask=None):
    """Return output and weights of attention with a bias: the reference.

    Parameters
    ----------
    query, key, value : torch.Tensor
        ``(..., tokens, width)``.
    bias : torch.Tensor or 0
        Added to the scaled scores.
    mask : torch.Tensor of bool, optional
        True = may attend.
    """
    return read_values(scaled_scores(query, key) + bias, value, mask)


def scaled_scores(query, key):
    """Return the dot products, divided by the root of the width."""
    return query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])


def read_values(scores, value, mask=None, axis=-1):
    """Return weights and output of attention, from scores."""
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = scores.softmax(dim=axis)
    return {"weights": weights, "output": weights @ value}


def _ask_attention(answer, query, key, value, bias):
    result = answer(query, key, value, bias)
    if torch.is_tensor(result):
        return "one result"
    output, weights = result
    return {"weights": weights, "output": output}


def _factors_after(query, key, value, bias):
    weights = scaled_scores(query, key).softmax(dim=-1) * bias.exp()
    return {"weights": weights, "output": weights @ value}


def _after_softmax(query, key, value, bias):
    weights = attention(query, key, value)["weights"] + bias
    return {"weights": weights, "output": weights @ value}


def _other_bias(change):
    return lambda query, key, value, bias: attention(query, key, value, change(bias))


def _other_scale(scale):
    """Return the attention whose products are divided by another number."""

    def wrong(query, key, value, bias):
        scores = query @ key.transpose(-2, -1) / scale(query, key)
        return read_values(scores + bias, value)

    return wrong


OTHER_BIASES = (
    (
        "one row of the bias for all queries",
        "All queries get the bias of one of them. Each query has a row of its own.",
        lambda bias: bias[:, :1],
    ),
    (
        "one row of the bias for all queries",
        "All queries get the bias of the last of them. Each has a row of its own.",
        lambda bias: bias[:, -1:],
    ),
    (
        "one row of the bias for all queries",
        "All queries get the mean of the biases of all queries.",
        lambda bias: bias.mean(dim=1, keepdim=True),
    ),
    (
        "bias without effect",
        "All keys of a query get the same bias, so it cancels in the softmax.",
        lambda bias: bias.sum(dim=-1, keepdim=True),
    ),
    (
        "exponential of the bias",
        "The exponential of the bias is added. The softmax takes it already: the bias "
        "itself belongs to the scores.",
        torch.exp,
    ),
    (
        "sign of the bias lost",
        "The size of the bias is added, without its sign.",
        torch.abs,
    ),
    (
        "bias cut off at 0",
        "Negative numbers of the bias have no effect. They make a key less attractive.",
        lambda bias: bias.clamp(min=0),
    ),
    (
        "bias cut off at 0",
        "Positive numbers of the bias have no effect. They make a key more attractive.",
        lambda bias: bias.clamp(max=0),
    ),
    (
        "heads exchanged",
        "The biases of the heads have changed places.",
        lambda bias: bias.flip(0),
    ),
    (
        "softmax of the bias",
        "A softmax of the bias is added. There is one softmax, after the sum.",
        lambda bias: bias.softmax(-1),
    ),
    ("half of the bias", "Half of the bias is added.", lambda bias: bias / 2),
)


OTHER_SCALES = (
    ("the root of the number of keys", lambda q, k: k.shape[-2] ** 0.5),
    ("the root of the number of queries", lambda q, k: q.shape[-2] ** 0.5),
    ("the root of the number of heads", lambda q, k: q.shape[-3] ** 0.5),
    ("the number of keys", lambda q, k: k.shape[-2]),
    ("the width, and not by its root", lambda q, k: q.shape[-1]),
    (
        "the root of the width of all heads together",
        lambda q, k: (q.shape[-1] * q.shape[-3]) ** 0.5,
    ),
)


ON_SCORES = Check(
    "each head's bias is added to its scaled scores, before the softmax",
    1,
    inputs=draw_vectors,
    ask=_ask_attention,
    expected=attention,
    pure=True,
    mistakes=(
        Mistake(
            "bias ignored",
            "The weights are those without a bias.",
            wrong=lambda query, key, value, bias: attention(query, key, value),
            read=T5,
        ),
        Mistake(
            "bias after the softmax",
            "The bias is added to the weights, and the rows no longer sum to "
            "1. It belongs to the scores.",
            wrong=_after_softmax,
            read=T5,
        ),
        Mistake(
            "bias added twice",
            "The bias counts twice. It is added once to each score.",
            wrong=lambda query, key, value, bias: attention(
                query, key, value, 2 * bias
            ),
            read=T5,
        ),
        Mistake(
            "bias divided by the root of d_k",
            "The bias is divided by the root of d_k together with the dot "
            "products. It is a number of its own: only the products need "
            "scaling.",
            wrong=lambda query, key, value, bias: attention(
                query, key, value, bias / math.sqrt(query.shape[-1])
            ),
            read=T5,
        ),
        Mistake(
            "no scaling",
            "The dot products are not divided by the root of d_k before the "
            "bias is added.",
            wrong=lambda query, key, value, bias: read_values(
                query @ key.transpose(-2, -1) + bias, value
            ),
            read=SCALE,
        ),
        Mistake(
            "bias multiplied",
            "The scores are multiplied by the bias instead of shifted by it.",
            wrong=lambda query, key, value, bias: read_values(
                scaled_scores(query, key) * bias, value
            ),
            read=T5,
        ),
        Mistake(
            "bias subtracted",
            "The bias is subtracted. A positive number should make a key more "
            "attractive.",
            wrong=lambda query, key, value, bias: attention(query, key, value, -bias),
            read=T5,
        ),
        Mistake(
            "texts and heads mixed up",
            "Each text has its own bias, the same for all its heads. The bias "
            "has one matrix for each head, the same for all texts. With as "
            "many texts as heads, as here, no error tells.",
            wrong=lambda query, key, value, bias: attention(
                query, key, value, bias[:, None]
            ),
            read=T5,
        ),
        Mistake(
            "one bias for all heads",
            "All heads get the bias of one of them.",
            wrong=lambda query, key, value, bias: attention(query, key, value, bias[0]),
            read=T5,
        ),
        Mistake(
            "one bias for all heads",
            "All heads get the mean of the biases of all heads.",
            wrong=lambda query, key, value, bias: attention(
                query, key, value, bias.mean(dim=0)
            ),
            read=T5,
        ),
        Mistake(
            "shapes that do not line up",
            "Two shapes do not line up. The bias is (heads, queries, keys), as "
            "the scores of one text are: it is added as it is.",
            when=lambda seen, expected, inputs: (
                "must match the size" in seen["result"].text
            ),
            read=T5,
        ),
        Mistake(
            "only one result",
            "One tensor is returned. Two are asked for: the output and the "
            "weights, in this order.",
            when=lambda seen, expected, inputs: seen["result"].text == "one result",
        ),
        Mistake(
            "scaled by the width of the values",
            "The scores are divided by the root of the width of the *values*. "
            "What is added up in a score are products of queries and keys.",
            wrong=lambda query, key, value, bias: read_values(
                query @ key.transpose(-2, -1) / value.shape[-1] ** 0.5 + bias,
                value,
            ),
            read=T5,
        ),
        Mistake(
            "weights multiplied, not shared out",
            "The weights are multiplied by the exponential of the bias, and "
            "the rows no longer sum to 1. Before the softmax a sum does it.",
            wrong=_factors_after,
            read=T5,
        ),
        *(
            Mistake(name, says, wrong=_other_bias(change), read=T5)
            for name, says, change in OTHER_BIASES
        ),
        *(
            Mistake(
                "wrong scale",
                f"The dot products are divided by {by}. They should be divided "
                "by the root of d_k, the width of a query.",
                wrong=_other_scale(scale),
                read=SCALE,
            )
            for by, scale in OTHER_SCALES
        ),
        Mistake(
            "softmax over the queries",
            "The columns of the weights sum to 1, the rows do not: the softmax "
            "runs over the queries.",
            wrong=lambda query, key, value, bias: read_values(
                scaled_scores(query, key) + bias, value, axis=-2
            ),
            read=COLUMNS,
        ),
        Mistake(
            "weights and output exchanged",
            "The function returns the weights first. First comes the output.",
            when=lambda seen, expected, inputs: (
                seen["weights"].shape == expected["output"].shape
                and seen["output"].shape == expected["weights"].shape
            ),
        ),
    ),
)
