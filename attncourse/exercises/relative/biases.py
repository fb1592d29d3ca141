"""Exercise 4, third part: a bias that is added to the scores."""

from __future__ import annotations

import math

import torch

from attncourse.exercises.relative.distances import T5, size
from attncourse.exercises.seen import near
from attncourse.exercises.task import Check, Mistake, Task
from attncourse.layers.relative import relative_positions

COLUMNS = "chapters/02_attention_types#seven-lines-and-two-faults-in-circulation"
SCALE = "chapters/02_attention_types#why-divide-by-d-k"
MULTIPLIED = "chapters/05_masking#case-2-the-keys-that-were-multiplied-away"
MASK = "chapters/05_masking#what-does-a-mask-do"
WRONG_HALF = "chapters/05_masking#case-1-the-mask-that-hid-the-wrong-half"


def _vectors(generator):
    """Draw vectors and a bias; as many heads as texts, so that axes can be mixed up."""
    queries, width = size(generator, 2, 3), size(generator, 3, 5)
    keys = queries + 1
    return {
        "query": 2 * torch.randn(2, 2, queries, width, generator=generator),
        "key": torch.randn(2, 2, keys, width, generator=generator),
        "value": torch.randn(2, 2, keys, 2, generator=generator),
        "bias": 2 * torch.randn(2, queries, keys, generator=generator),
    }


def _vectors_and_mask(generator):
    inputs = _vectors(generator)
    mask = relative_positions(*inputs["bias"].shape[1:], query_offset=1) <= 0
    mask[:, 0] = False  # hidden from all
    return {**inputs, "mask": mask}


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
    return _read(_scaled(query, key) + bias, value, mask)


def _scaled(query, key):
    return query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])


def _read(scores, value, mask=None, axis=-1):
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
    weights = _scaled(query, key).softmax(dim=-1) * bias.exp()
    return {"weights": weights, "output": weights @ value}


def _some_hidden_weight(seen, inputs):
    rows = (part.values.reshape(part.shape) for part in seen.values() if part.shape)
    hidden = [table[..., ~inputs["mask"].numpy()].max() for table in rows]
    sums = [
        part.values.reshape(part.shape).sum(-1) for part in seen.values() if part.shape
    ]
    return (
        max(hidden) < 0.2
        and max(hidden) > 0
        and all(near(s, 1, digits=1) for s in sums)
    )


def _ask_masked(answer, query, key, value, bias, mask):
    both = answer(query, key, value, bias, mask)[1]
    alone = answer(query, key, value, None, mask)[1]
    return {"weights": both, "weights without a bias": alone}


def _masked(query, key, value, bias, mask):
    return _two_weights(
        attention(query, key, value, bias, mask),
        attention(query, key, value, 0, mask),
    )


def _two_weights(both, alone):
    return {"weights": both["weights"], "weights without a bias": alone["weights"]}


def _after_softmax(query, key, value, bias):
    weights = attention(query, key, value)["weights"] + bias
    return {"weights": weights, "output": weights @ value}


def _multiplied_mask(query, key, value, bias, mask):
    return _two_weights(
        _read((_scaled(query, key) + bias) * mask, value),
        _read(_scaled(query, key) * mask, value),
    )


def _mask_after(query, key, value, bias, mask):
    one, two = (attention(query, key, value, b) for b in (bias, 0))
    return {
        "weights": one["weights"] * mask,
        "weights without a bias": two["weights"] * mask,
    }


def _other_bias(change):
    return lambda query, key, value, bias: attention(query, key, value, change(bias))


def _other_scale(scale):
    """Return the attention whose products are divided by another number."""

    def wrong(query, key, value, bias):
        scores = query @ key.transpose(-2, -1) / scale(query, key)
        return _read(scores + bias, value)

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


def _weights_of(seen):
    return {k: p.values.reshape(p.shape) for k, p in seen.items() if p.shape}


def _weights_show(test):
    """Return a `when`: in every wrong part ``test(weights, right, hidden)`` is true."""

    def when(seen, expected, inputs):
        hidden = ~inputs["mask"].numpy()
        ours, right = _weights_of(seen), _weights_of(expected)
        wrong = [k for k in right if not near(ours[k], right[k])]
        return bool(wrong) and all(test(ours[k], right[k], hidden) for k in wrong)

    return when


MASKED_OTHERWISE = (
    (
        "rows of zeros, or no numbers",
        "Some rows of the weights have no numbers, or only zeros. A row that is hidden "
        "as a whole has nothing to share out: is the mask the right way round?",
        lambda w, right, hidden: not (w.sum(-1) > 0.01).all(),
    ),
    (
        "rows that do not sum to 1",
        "The rows of the weights do not sum to 1. What is hidden has to be hidden "
        "*before* the softmax, which then shares out all of the weight.",
        lambda w, right, hidden: abs(w.sum(-1) - 1).max() > 0.03,
    ),
    (
        "hidden keys are seen",
        "Keys that the mask hides get a weight. Their scores have to be -inf before "
        "the softmax: 0, or a product with 0, is an ordinary score.",
        lambda w, right, hidden: w[..., hidden].max() > 0.004,
    ),
    (
        "visible keys are hidden",
        "Keys that the mask shows get no weight. Each query has its own row of the "
        "mask, and True means: may attend.",
        lambda w, right, hidden: (
            w[..., ~hidden].min() < 0.004 <= right[..., ~hidden].min()
        ),
    ),
    (
        "right keys, other scores",
        "The right keys are hidden, and the weights of the others are wrong. With a "
        "mask, bias and scale should be as without one.",
        lambda w, right, hidden: True,
    ),
)


BIAS = Task(
    name="bias",
    title="A bias on the scores",
    names=("biased_attention",),
    difficulty="easy",
    minutes=10,
    checks=(
        Check(
            "each head's bias is added to its scaled scores, before the softmax",
            1,
            inputs=_vectors,
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
                    wrong=lambda query, key, value, bias: _read(
                        query @ key.transpose(-2, -1) + bias, value
                    ),
                    read=SCALE,
                ),
                Mistake(
                    "bias multiplied",
                    "The scores are multiplied by the bias instead of shifted by it.",
                    wrong=lambda query, key, value, bias: _read(
                        _scaled(query, key) * bias, value
                    ),
                    read=T5,
                ),
                Mistake(
                    "bias subtracted",
                    "The bias is subtracted. A positive number should make a key more "
                    "attractive.",
                    wrong=lambda query, key, value, bias: attention(
                        query, key, value, -bias
                    ),
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
                    wrong=lambda query, key, value, bias: attention(
                        query, key, value, bias[0]
                    ),
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
                    when=lambda seen, expected, inputs: (
                        seen["result"].text == "one result"
                    ),
                ),
                Mistake(
                    "scaled by the width of the values",
                    "The scores are divided by the root of the width of the *values*. "
                    "What is added up in a score are products of queries and keys.",
                    wrong=lambda query, key, value, bias: _read(
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
                    wrong=lambda query, key, value, bias: _read(
                        _scaled(query, key) + bias, value, axis=-2
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
        ),
        Check(
            "a mask hides its keys, with a bias and without",
            1,
            inputs=_vectors_and_mask,
            ask=_ask_masked,
            expected=_masked,
            pure=True,
            mistakes=(
                Mistake(
                    "mask lost where there is a bias",
                    "Without a bias the mask is obeyed. With one, hidden keys are "
                    "seen: the masked scores are not the ones that the bias is added "
                    "to.",
                    wrong=lambda query, key, value, bias, mask: _two_weights(
                        attention(query, key, value, bias),
                        attention(query, key, value, 0, mask),
                    ),
                    read=MASK,
                ),
                *(
                    Mistake(
                        "one row of the mask for all queries",
                        "All queries see the same keys: those that some query, or "
                        "every query, may see. Each query has its own row of the mask.",
                        wrong=lambda mask, row=row, **inputs: _masked(
                            **inputs, mask=row(mask).expand_as(mask)
                        ),
                        read=MASK,
                    )
                    for row in (
                        lambda mask: mask.any(0),
                        lambda mask: mask.all(0),
                        lambda mask: mask[-1],
                        lambda mask: mask[0],
                    )
                ),
                Mistake(
                    "mask lost where there is no bias",
                    "With a bias the mask is obeyed. Without one, hidden keys are "
                    "seen: does the `if` for the mask stand inside that for the bias?",
                    wrong=lambda query, key, value, bias, mask: _two_weights(
                        attention(query, key, value, bias, mask),
                        attention(query, key, value),
                    ),
                    read=MASK,
                ),
                Mistake(
                    "bias lost where there is a mask",
                    "The weights are those of the mask alone: with a mask, the bias "
                    "does nothing.",
                    wrong=lambda query, key, value, bias, mask: _two_weights(
                        attention(query, key, value, 0, mask),
                        attention(query, key, value, 0, mask),
                    ),
                    read=T5,
                ),
                Mistake(
                    "mask ignored",
                    "Hidden keys get a weight: the mask has no effect.",
                    wrong=lambda query, key, value, bias, mask: _two_weights(
                        attention(query, key, value, bias),
                        attention(query, key, value),
                    ),
                    read=MASK,
                ),
                Mistake(
                    "mask inverted",
                    "The keys that may be seen are hidden, and the others seen. True "
                    "means: may attend.",
                    wrong=lambda query, key, value, bias, mask: _two_weights(
                        attention(query, key, value, bias, ~mask),
                        attention(query, key, value, 0, ~mask),
                    ),
                    read=WRONG_HALF,
                ),
                Mistake(
                    "low, but not hidden",
                    "Hidden keys keep some weight: their scores were lowered by a "
                    "number, and the bias may raise them again. Only -inf hides.",
                    when=lambda seen, expected, inputs: _some_hidden_weight(
                        seen, inputs
                    ),
                    read=MULTIPLIED,
                ),
                Mistake(
                    "mask by multiplication",
                    "Hidden scores are multiplied by 0. A score of 0 is an ordinary "
                    "score, and its key gets a weight.",
                    wrong=_multiplied_mask,
                    read=MULTIPLIED,
                ),
                Mistake(
                    "mask after the softmax",
                    "Hidden weights are set to 0 after the softmax, and the rows no "
                    "longer sum to 1.",
                    wrong=_mask_after,
                    read=MASK,
                ),
                Mistake(
                    "boolean mask added as a number",
                    "The mask is added to the scores as 0 and 1. A visible key gains "
                    "a little, a hidden one is not hidden.",
                    wrong=lambda query, key, value, bias, mask: _two_weights(
                        attention(query, key, value, bias + mask.float()),
                        attention(query, key, value, mask.float()),
                    ),
                    read=MASK,
                ),
                Mistake(
                    "a missing bias is an error",
                    "The call without a bias fails. `bias=None` means that nothing is "
                    "added.",
                    when=lambda seen, expected, inputs: (
                        seen["result"].kind == "error"
                        and "NoneType" in seen["result"].text
                    ),
                ),
                *(
                    Mistake(name, says, when=_weights_show(test), read=MASK)
                    for name, says, test in MASKED_OTHERWISE
                ),
            ),
        ),
    ),
)
