"""Exercise 1: attention from scratch."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from attncourse.exercises.probe import Exercise, Probe, Task, numbers, sizes, whole
from attncourse.exercises.run import gradients, leaf

TYPES = "chapters/02_attention_types"
MASKING = "chapters/05_masking"
MULTI_HEAD = "chapters/03_multi_head"


# 1.1 ---------------------------------------------------------------------------------


def _vectors(g, *leading, width=None):
    queries, keys, d_k = sizes(g, 3)
    d_k = d_k if width is None else width
    query = numbers(g, *leading, queries, d_k)
    return {"query": query, "key": numbers(g, *leading, keys, d_k)}


SCORES = (
    Probe(
        claim="there is one score for each query and key: their dot product",
        given="The vectors have width 1, so the scaling changes nothing.",
        why="The score of query i with key j is not the product of the two.",
        draw=lambda g: _vectors(g, width=1),
    ),
    Probe(
        claim="the scores are divided by the root of the width",
        given="The vectors are wider than 1.",
        why="The scores are right for vectors of width 1, and not for wider ones: "
        "they should be dot products, divided by the root of d_k.",
        draw=_vectors,
    ),
    Probe(
        claim="leading axes, such as batch and heads, are kept apart",
        given="There are two leading axes.",
        why="The scores are right for one matrix of queries and keys. With leading "
        "axes they are not those of each matrix on its own.",
        draw=lambda g: _vectors(g, *sizes(g, 2)),
    ),
    Probe(
        claim="one query and one key are enough",
        given="Every axis but the last has size 1.",
        why="The score is not the scaled dot product.",
        draw=lambda g: {"query": numbers(g, 1, 1, 3), "key": numbers(g, 1, 1, 3)},
    ),
)


# 1.2 ---------------------------------------------------------------------------------


def _large_scores(g):
    scores = numbers(g, 4, 5) + torch.tensor([1000.0, -1000.0, 0.0, 300.0])[:, None]
    scores[2, whole(g, 0, 4)] = 1000.0
    return {"scores": scores}


def _weights_backward(answer, scores):
    scores = leaf(scores)
    return gradients(answer(scores), scores=scores)


WEIGHTS = (
    Probe(
        claim="the weights of each query are the softmax of its scores",
        given="There is one matrix of scores, with more keys than queries or fewer.",
        why="The weight of a key is not e to its score, divided by the sum of these "
        "over all keys of the same query.",
        draw=lambda g: {"scores": numbers(g, *sizes(g, 2))},
    ),
    Probe(
        claim="leading axes are kept apart",
        given="There are one or two leading axes: a batch, or a batch and heads.",
        why="The weights are right for one matrix of scores, and not for several.",
        draw=lambda g: {"scores": numbers(g, *sizes(g, 3), *sizes(g, whole(g, 0, 1)))},
    ),
    Probe(
        claim="large scores of either sign neither overflow nor vanish",
        given="One row of scores lies near 1000, another near -1000, and one has a "
        "single score of 1000.",
        why="The weights are right for small scores, and not for these. They depend "
        "only on the differences between the scores of a row.",
        draw=_large_scores,
    ),
    Probe(
        claim="gradients flow back to the scores",
        given="A weighted sum of the weights is differentiated.",
        why="The weights are right, but not the gradient of the scores.",
        draw=lambda g: {"scores": numbers(g, 3, 4)},
        call=_weights_backward,
    ),
)


# 1.3 ---------------------------------------------------------------------------------


def _attention(g, *leading):
    queries, keys, d_k, d_v = sizes(g, 4)
    return {
        "query": numbers(g, *leading, queries, d_k),
        "key": numbers(g, *leading, keys, d_k),
        "value": numbers(g, *leading, keys, d_v),
    }


def _identity_values(g):
    inputs = _attention(g)
    return inputs | {"value": torch.eye(inputs["key"].shape[0])}


def _equal_scores(g):
    inputs = _attention(g)
    return inputs | {"query": torch.zeros_like(inputs["query"])}


def _attention_backward(answer, query, key, value, **mask):
    leaves = {"query": leaf(query), "key": leaf(key), "value": leaf(value)}
    output, _ = answer(*leaves.values(), *mask.values())
    return gradients(output, **leaves)


def _only_weights(answer, **inputs):
    _, weights = answer(*inputs.values())
    return {"weights": weights}


def _dropped(g):
    query, key = numbers(g, 2, 9, 4), numbers(g, 2, 11, 4)
    value = torch.eye(11).repeat(2, 1, 2)  # (batch, keys, 2 * keys): all weights twice
    rate = [0.25, 0.4, 0.75][whole(g, 0, 2)]
    return {"query": query, "key": key, "value": value, "dropout": rate}


def _share_dropped_right(values, inputs):
    """Return the share of weights on the way to the values that are as they should."""
    once, twice = np.split(values["output"], 2, axis=-1)
    rate, zero = inputs["dropout"], once == 0
    kept = np.isclose(once, values["weights"] / (1 - rate), rtol=1e-3)
    singly = (zero[0] != zero[1]).any() and (zero.any(-1) != zero.all(-1)).any()
    near = abs(zero.mean() - rate) < 0.2
    return ((zero | kept) & (once == twice)).mean() * singly * near


ATTENTION = (
    Probe(
        claim="with equal scores the output is the mean of the values",
        given="The queries are 0, so all scores are equal.",
        why="All weights should be equal, and the output of each query the mean of "
        "the values.",
        draw=_equal_scores,
        names=("output", "weights"),
        read=f"{TYPES}#a-question-is-a-dot-product",
    ),
    Probe(
        claim="the weights are the softmax of the scaled scores",
        given="The values form the identity matrix, so the output equals the weights.",
        why="With equal scores all is right, but not with these queries and keys.",
        draw=_identity_values,
        names=("output", "weights"),
    ),
    Probe(
        claim="it works with a batch and heads, and with values of any width",
        given="There are two leading axes, and the values have a width of their own.",
        why="The result is not that of each batch element and head on its own.",
        draw=lambda g: _attention(g, 2, 3),
        names=("output", "weights"),
    ),
    Probe(
        claim="dropout acts on the way to the values, not on the returned weights",
        given="`dropout` is larger than 0. Only the returned weights are compared.",
        why="The returned weights are not those before dropout.",
        draw=_dropped,
        call=_only_weights,
    ),
    Probe(
        claim="dropout sets weights to 0 and divides the others by 1 - dropout",
        given="The values are two identity matrices side by side, so the output shows "
        "the weights that reach the values, twice. The share is measured that are 0, "
        "or the returned weight divided by 1 - `dropout`, alike both times. It is set "
        "to 0 if about the wrong number are dropped, or only whole rows, or the same "
        "ones in each batch element.",
        why="Not every weight is dropped by itself, with this probability.",
        draw=_dropped,
        names=("output", "weights"),
        measure=_share_dropped_right,
        between=(1, 1),
    ),
    Probe(
        claim="gradients flow back to query, key and value",
        given="A weighted sum of the output is differentiated.",
        why="The output is right, but not its gradients.",
        draw=_attention,
        call=_attention_backward,
    ),
)


# 1.4 ---------------------------------------------------------------------------------


def _padded(g, pad=0, low=1):
    """Draw ids that end in padding; the first sequence has none."""
    batch, tokens = sizes(g, 2, 3, 7)
    ids = whole(g, low, 9, batch, tokens)
    ids[ids == pad] = pad + 1
    for row in range(1, batch):
        ids[row, tokens - whole(g, 1, tokens - 1) :] = pad
    return ids


def _padding_anywhere(g):
    ids = _padded(g)
    ids[:, 0], ids[0, 2] = 0, 0
    ids[-1] = 0
    return {"ids": ids}


MASKS = (
    Probe(
        claim="causal_mask: a token may attend to itself and to the past",
        given="`causal_mask` is called with a number of tokens.",
        why="Row i should be True up to column i, with it, and False after that.",
        draw=lambda g: {"tokens": whole(g, 3, 7)},
        call=lambda causal, padding, decoder, tokens: causal(tokens),
        read=f"{MASKING}#what-does-a-mask-do",
    ),
    Probe(
        claim="padding_mask: True where the id is not 0",
        given="`padding_mask` is called with ids that are padded at the end.",
        why="A key should be True if its id is not the padding id, 0.",
        draw=lambda g: {"ids": _padded(g)},
        call=lambda causal, padding, decoder, ids: padding(ids),
    ),
    Probe(
        claim="padding_mask: the padding id is a parameter",
        given="The padding id is 5; other ids are smaller or larger.",
        why="Right for the padding id 0, and not for another one.",
        draw=lambda g: {"ids": _padded(g, 5), "pad": 5},
        call=lambda causal, padding, decoder, ids, pad: padding(ids, pad),
        as_ifs={"the padding id is 0": lambda ids, pad: {"pad": 0}},
    ),
    Probe(
        claim="padding_mask: padding is found wherever it stands",
        given="Padding stands at the beginning and in the middle, too, and one "
        "sequence has nothing else.",
        why="Right where the padding stands at the end, and not elsewhere.",
        draw=_padding_anywhere,
        call=lambda causal, padding, decoder, ids: padding(ids),
        weight=0.5,
    ),
    Probe(
        claim="decoder_mask: neither the future nor padding",
        given="`decoder_mask` is called with ids that are padded at the end.",
        why="A key should be True if it is neither after the query nor padding.",
        draw=lambda g: {"ids": _padded(g)},
        call=lambda causal, padding, decoder, ids: decoder(ids),
        read=f"{MASKING}#both-masks-at-once",
    ),
    Probe(
        claim="decoder_mask: the padding id is a parameter",
        given="The padding id is 5; other ids are smaller or larger.",
        why="Right for the padding id 0, and not for another one.",
        draw=lambda g: {"ids": _padded(g, 5), "pad": 5},
        call=lambda causal, padding, decoder, ids, pad: decoder(ids, pad),
        as_ifs={"the padding id is 0": lambda ids, pad: {"pad": 0}},
    ),
    Probe(
        claim="one sequence of one token",
        given="Every axis has size 1. The token is padding in one call and a word "
        "in the other.",
        why="With a single token the masks are not right.",
        draw=lambda g: {"first": torch.tensor([[0]]), "second": torch.tensor([[3]])},
        call=lambda causal, padding, decoder, first, second: {
            "causal_mask": causal(1),
            "padding_mask": padding(first),
            "decoder_mask": decoder(second),
        },
        weight=0,
    ),
)


# 1.5 ---------------------------------------------------------------------------------


def _visible(g, *shape):
    """Draw a mask in which each query sees at least one key and misses one."""
    mask = torch.rand(*shape, generator=g) < 0.5
    ones = torch.arange(mask.numel() // shape[-1]).reshape(*shape[:-1], 1)
    mask.scatter_(-1, ones % shape[-1], True)
    return mask.scatter_(-1, (ones + 1) % shape[-1], False)


def _masked(g, *leading):
    inputs = _attention(g, *leading)
    shape = inputs["query"].shape[-2], inputs["key"].shape[-2]
    return inputs | {"mask": _visible(g, *shape)}


def _equal_scores_masked(g):
    inputs = _masked(g)
    return inputs | {"query": torch.zeros_like(inputs["query"])}


def _padding_for_heads(g):
    inputs = _attention(g, 2, 3)
    return inputs | {"mask": _visible(g, 2, 1, 1, inputs["key"].shape[-2])}


def _few_axes(g):
    inputs = _attention(g, 2, 3)
    return inputs | {"mask": _visible(g, inputs["key"].shape[-2])}


def _extreme_scores(g, size=1e10, dtype=torch.float32):
    """Draw scores that are huge where hidden and very low where visible."""
    keys = whole(g, 3, 6)
    mask = _visible(g, 1, keys)
    key = torch.where(mask[0], -1.0, 1.0)[:, None] * size**0.5
    key = key - torch.arange(keys)[:, None] * size**0.5 * 1e-8
    inputs = {"query": torch.full((1, 1), size**0.5), "key": key}
    inputs["value"] = numbers(g, keys, 2)
    return {name: x.to(dtype) for name, x in inputs.items()} | {"mask": mask}


def _empty_row(g):
    inputs = _masked(g)
    inputs["mask"][whole(g, 0, len(inputs["mask"]) - 1)] = False
    return inputs


BOTH = ("output", "weights")
MASKED = (
    Probe(
        claim="without a mask nothing is hidden",
        given="`mask` is not given.",
        why="The result is not that of attention without a mask.",
        draw=lambda g: _attention(g, 2),
        names=BOTH,
        weight=0,
    ),
    Probe(
        claim="a hidden key has weight 0, and the visible ones share all of it",
        given="The queries are 0, so all visible keys should get the same weight.",
        why="The weights of a query are not 1 divided by the number of its visible "
        "keys, and 0 for the hidden ones.",
        draw=_equal_scores_masked,
        names=BOTH,
        as_ifs={
            "True and False are exchanged in the mask": lambda mask, **_: {
                "mask": ~mask
            },
            "nothing is hidden": lambda mask, **_: {"mask": mask | True},
        },
        read=f"{MASKING}#case-2-the-keys-that-were-multiplied-away",
    ),
    Probe(
        claim="the visible keys share the weight by their scores",
        given="The mask hides some keys from each query.",
        why="With equal scores the weights are right, and not with these: they "
        "should be a softmax over the visible keys alone.",
        draw=_masked,
        names=BOTH,
    ),
    Probe(
        claim="a mask with axes of size 1 serves all heads and queries",
        given="The mask is (batch, 1, 1, keys), the scores (batch, heads, queries, "
        "keys).",
        why="The result is not that of this mask for every head and query.",
        draw=_padding_for_heads,
        names=BOTH,
    ),
    Probe(
        claim="a mask may have fewer axes than the scores",
        given="The mask is (keys,), the scores (batch, heads, queries, keys).",
        why="The result is not that of this mask for every query.",
        draw=_few_axes,
        names=BOTH,
    ),
    Probe(
        claim="hidden scores may be huge, and visible ones very low",
        given="The scores of hidden keys are about 10^10, those of visible keys "
        "about -10^10.",
        why="The weights should be a softmax over the visible keys alone.",
        draw=_extreme_scores,
        names=BOTH,
        weight=0.5,
    ),
    Probe(
        claim="a query that sees nothing has zero weights and zero output",
        given="The mask hides all keys from one query.",
        why="The weights and the output of that query should be 0.",
        draw=_empty_row,
        names=BOTH,
        read=f"{MASKING}#case-3-the-row-with-no-evidence",
    ),
    Probe(
        claim="gradients are right and finite, also where a query sees nothing",
        given="The mask hides all keys from one query. A weighted sum of the output "
        "is differentiated.",
        why="The output is right, but not its gradients.",
        draw=_empty_row,
        call=_attention_backward,
    ),
    Probe(
        claim="it works in half precision, with large scores",
        given="All inputs have the type float16, and the scores go up to 30000.",
        why="Right in single precision, but not here.",
        draw=lambda g: _extreme_scores(g, 3e4, torch.float16),
        names=BOTH,
        exact_type=True,
        tolerance=2e-3,
        weight=0.5,
    ),
)


# 1.6 ---------------------------------------------------------------------------------


def _heads(g, heads=None, *, batch=2, output="identity"):
    heads = whole(g, 2, 4) if heads is None else heads
    width = heads * (3 if heads > 1 else 4)
    names = ("w_query", "w_key", "w_value")
    inputs = {"x": numbers(g, batch, 5, width, most=1)}
    inputs |= {name: numbers(g, width, width, most=0.5) for name in names}
    drawn = numbers(g, width, width, most=0.5)
    inputs["w_output"] = torch.eye(width) if output == "identity" else drawn
    return inputs | {"num_heads": heads}


def _no_projections(g):
    inputs = _heads(g, 1)
    names = ("w_query", "w_key", "w_value")
    return inputs | {name: torch.eye(4) for name in names}


def _heads_backward(answer, x, num_heads, **matrices):
    leaves = {"x": leaf(x), **{name: leaf(w) for name, w in matrices.items()}}
    output, _ = answer(*leaves.values(), num_heads)
    return gradients(output, **leaves)


def _heads_masked(g, *shape):
    return _heads(g, output="drawn") | {"mask": _visible(g, *shape)}


HEADS = (
    Probe(
        claim="one head without projections is attention of x with itself",
        given="There is one head, and the four matrices are the identity.",
        why="The result is not that of scaled dot-product attention with x as "
        "query, key and value.",
        draw=_no_projections,
        names=BOTH,
    ),
    Probe(
        claim="each of the three projections has its own matrix",
        given="There is one head, and `w_output` is the identity.",
        why="Right with identity matrices, and not with others: query, key and "
        "value should be `x @ w_query`, `x @ w_key` and `x @ w_value`.",
        draw=lambda g: _heads(g, 1),
        names=BOTH,
        as_ifs={
            "w_query and w_key are exchanged": lambda w_query, w_key, **_: {
                "w_query": w_key,
                "w_key": w_query,
            },
            "the matrices are transposed": lambda w_query, w_key, w_value, **_: {
                "w_query": w_query.T,
                "w_key": w_key.T,
                "w_value": w_value.T,
            },
        },
    ),
    Probe(
        claim="each head has its own weights, from its own columns",
        given="There are several heads. Only the weights are compared.",
        why="Right for one head. With several, the weights of head h should come "
        "from its own columns of query and key, one block of `d_model / num_heads` "
        "after the other, with the scores divided by the root of that width.",
        draw=_heads,
        call=_only_weights,
        read=f"{MULTI_HEAD}#split-attend-join-project",
    ),
    Probe(
        claim="the heads' outputs stand side by side, in their order",
        given="`w_output` is the identity, so the output is the concatenation of "
        "the heads.",
        why="The weights are right, and the output is not.",
        draw=_heads,
        names=BOTH,
    ),
    Probe(
        claim="the output projection comes last",
        given="`w_output` is not the identity.",
        why="Right as long as `w_output` is the identity.",
        draw=lambda g: _heads(g, output="drawn"),
        names=BOTH,
        as_ifs={
            "w_output is the identity": lambda w_output, **_: {
                "w_output": torch.eye(len(w_output))
            },
            "w_output is transposed": lambda w_output, **_: {"w_output": w_output.T},
        },
    ),
    Probe(
        claim="a mask (queries, keys) serves all batch elements and heads",
        given="The mask hides some keys from each query.",
        why="Right without a mask, and not with one.",
        draw=lambda g: _heads_masked(g, 5, 5),
        names=BOTH,
        as_ifs={"there is no mask": lambda **_: {"mask": None}},
    ),
    Probe(
        claim="a mask (batch, 1, 1, keys) serves all heads and queries",
        given="The mask has axes of size 1 for heads and queries.",
        why="Right with a mask of two axes, and not with this one.",
        draw=lambda g: _heads_masked(g, 2, 1, 1, 5),
        names=BOTH,
    ),
    Probe(
        claim="gradients flow back to x and to all four matrices",
        given="A weighted sum of the output is differentiated.",
        why="The output is right, but not its gradients.",
        draw=lambda g: _heads(g, output="drawn"),
        call=_heads_backward,
    ),
)


# 1.7 ---------------------------------------------------------------------------------


def _weights_and_upstream(g, *leading):
    shape = (*leading, *sizes(g, 2))
    return {"weights": numbers(g, *shape).softmax(-1), "upstream": numbers(g, *shape)}


def _upstream(g, *leading, width=None):
    inputs = _attention(g, *leading)
    if width is not None:
        inputs |= {name: inputs[name][..., :width] for name in ("query", "key")}
    shape = (*inputs["query"].shape[:-1], inputs["value"].shape[-1])
    return inputs | {"upstream": numbers(g, *shape)}


def _by_hand(*wanted):
    """Return a call that looks at some of the three gradients, without autograd."""

    def call(softmax_gradient, attention_gradients, **inputs):
        with torch.inference_mode():
            query, key, value = attention_gradients(*inputs.values())
        found = {"query": query, "key": key, "value": value}
        return {f"the gradient of {name}": found[name] for name in wanted}

    return call


def _softmax_by_hand(softmax_gradient, attention_gradients, weights, upstream):
    with torch.inference_mode():
        return softmax_gradient(weights, upstream)


BY_HAND = ("softmax_gradient", "attention_gradients")
NO_AUTOGRAD = ("torch.autograd", "torch.func", ".backward")
GRADIENT = (
    Probe(
        claim="softmax_gradient: from the weights back to the scores",
        given="There is one matrix of weights.",
        why="What is returned is not the gradient of the scores.",
        draw=_weights_and_upstream,
        call=_softmax_by_hand,
    ),
    Probe(
        claim="softmax_gradient: leading axes are kept apart",
        given="There are two leading axes.",
        why="Right for one matrix of weights, and not for several.",
        draw=lambda g: _weights_and_upstream(g, 2, 3),
        call=_softmax_by_hand,
    ),
    Probe(
        claim="attention_gradients: the gradient of the value",
        given="Only the gradient of the value is compared.",
        why="It is not the gradient of the value.",
        draw=_upstream,
        call=_by_hand("value"),
    ),
    Probe(
        claim="attention_gradients: the gradients of query and key",
        given="Query and key have width 1, so the scaling changes nothing.",
        why="The gradient of the value is right, and these are not.",
        draw=lambda g: _upstream(g, width=1),
        call=_by_hand("query", "key"),
    ),
    Probe(
        claim="attention_gradients: the scaling, on the way back",
        given="Query and key are wider than 1.",
        why="Right for the width 1, and not for larger ones.",
        draw=_upstream,
        call=_by_hand("query", "key"),
    ),
    Probe(
        claim="attention_gradients: leading axes are kept apart",
        given="There are two leading axes.",
        why="Right without leading axes, and not with them.",
        draw=lambda g: _upstream(g, 2, 3),
        call=_by_hand("query", "key", "value"),
    ),
)


# 1.8 ---------------------------------------------------------------------------------


class FixedLogits(nn.Module):
    """A stand-in for a model, which returns the logits that it was given."""

    def __init__(self, logits):
        super().__init__()
        self.logits = logits

    def forward(self, ids):
        """Return the logits, and weights that are all alike."""
        batch, tokens = ids.shape
        return self.logits, torch.full((batch, tokens, tokens), 1 / tokens)


def _loss_inputs(g, padded):
    ids = _padded(g) if padded else whole(g, 1, 9, 3, 4)
    return {"logits": numbers(g, *ids.shape, 10), "ids": ids}


def _loss_of_fixed(model_class, copy_loss, logits, ids):
    logits = leaf(logits)
    loss = copy_loss(FixedLogits(logits), ids)
    return {"loss": loss, **gradients(loss, logits=logits)}


def _randomised(model_class):
    """Return a model with random numbers for all its parameters, in evaluation mode."""
    model = model_class(9, 8)
    generator = torch.Generator().manual_seed(0)
    for parameter in model.parameters():
        drawn = torch.randn(parameter.shape, generator=generator)
        parameter.data = 0.4 * drawn
    return model.eval()


def _two_sequences(g):
    """Draw a sequence, and the same one with one symbol exchanged."""
    first = whole(g, 1, 9, 1, 6)
    place = whole(g, 0, 5)
    second = first.clone()
    second[0, place] = first[0, place] % 9 + 1
    return {"first": first, "second": second, "place": place}


def _two_weights(model_class, copy_loss, first, second, place):
    model = _randomised(model_class)
    return {"first": model(first)[1], "second": model(second)[1]}


def _query_moves(values, inputs):
    """Return how much the weights of the other keys change relative to each other."""
    one, two = (values[n][0] for n in ("first", "second"))
    seen = (one > 1e-9) & (two > 1e-9) & (np.arange(6) != inputs["place"])
    change = np.where(seen, np.log(two + ~seen) - np.log(one + ~seen), np.nan)
    return np.nanmax(np.nanmax(change, axis=1) - np.nanmin(change, axis=1))


def _key_moves(values, inputs):
    """Return how much the weight of the exchanged symbol changes, at most."""
    return abs(values["second"] - values["first"])[..., inputs["place"]].max()


def _row_sums(values, inputs):
    """Return how far rows are from 1, and padding from 0, at most."""
    weights, padding = values["weights"], inputs["ids"].numpy() == 0
    off = abs(weights.sum(-1) - 1).max()
    return max(off, (weights * padding[:, None]).max(), -weights.min())


def _one_symbol(model_class, copy_loss, ids):
    return {"logits": _randomised(model_class)(ids)[0]}


def _trained_copies(model_class, copy_loss, ids):
    from attncourse.data.symbols import copy_batch

    torch.manual_seed(0)
    model = model_class(9, 8)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for step in range(250):
        batch = copy_batch(64, 2, 8, num_symbols=9, seed=step)[0]
        logits = model(batch)[0].flatten(0, 1)
        loss = F.cross_entropy(logits, batch.flatten(), ignore_index=0)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return {"prediction": model.eval()(ids)[0].argmax(-1)}


def _share_copied(values, inputs):
    ids = inputs["ids"].numpy()
    return (values["prediction"] == ids)[ids != 0].mean()


COPYING = (
    Probe(
        claim="copy_loss: the mean cross-entropy between logits and ids",
        given="The model is a stand-in that returns the logits shown. No id is "
        "padding.",
        why="The loss is not the mean over all tokens of -log softmax(logits)[id].",
        draw=lambda g: _loss_inputs(g, padded=False),
        call=_loss_of_fixed,
    ),
    Probe(
        claim="copy_loss: padding counts neither in the sum nor in the number",
        given="The model is a stand-in, and some ids are padding.",
        why="Right without padding. With it, the loss should be the mean over all "
        "tokens of the batch that are not padding.",
        draw=lambda g: _loss_inputs(g, padded=True),
        call=_loss_of_fixed,
    ),
    Probe(
        claim="CopyModel: weights that sum to 1, and none for padding",
        given="The model's parameters are random numbers. The largest deviation is "
        "measured: of the sum of a row from 1, and of the weight of padding from 0.",
        why="The rows do not sum to 1, or padding has weight.",
        draw=lambda g: {"ids": _padded(g)},
        call=lambda cls, loss, ids: {"weights": _randomised(cls)(ids)[1]},
        measure=_row_sums,
        between=(0, 1e-4),
    ),
    Probe(
        claim="CopyModel: the query is made from the position alone",
        given="The symbol at one position is exchanged for another. Its key changes; "
        "among the other keys, the logarithms of the weights should keep their "
        "differences in every row. Their largest change is measured.",
        why="The differences change, so a query depends on more than its position.",
        draw=_two_sequences,
        call=_two_weights,
        measure=_query_moves,
        between=(0, 1e-3),
    ),
    Probe(
        claim="CopyModel: the key depends on the symbol",
        given="The symbol at one position is exchanged for another. The change of its "
        "weights is measured.",
        why="Its weights stay the same, so the key does not depend on the symbol.",
        draw=_two_sequences,
        call=_two_weights,
        measure=_key_moves,
        between=(1e-5, 1),
        weight=0.5,
    ),
    Probe(
        claim="CopyModel: logits, not probabilities",
        given="The largest distance is measured of the sum of a position's logits "
        "from 1.",
        why="They sum to 1 at every position, as probabilities do.",
        draw=lambda g: {"ids": _padded(g)},
        call=_one_symbol,
        measure=lambda values, inputs: abs(values["logits"].sum(-1) - 1).max(),
        between=(1e-3, np.inf),
        weight=0.5,
    ),
    Probe(
        claim="CopyModel: the output is made from what attention returns alone",
        given="Each sequence is one symbol followed by padding. So every position, "
        "padding included, has all of its weight on the first, and attention "
        "returns the same vector for all of them.",
        why="The logits differ from position to position, so something other than "
        "the attention's output reaches them.",
        draw=lambda g: {"ids": F.pad(whole(g, 1, 9, 3, 1), (0, whole(g, 2, 5)))},
        call=_one_symbol,
        measure=lambda values, inputs: np.ptp(values["logits"], axis=1).max(),
        between=(0, 1e-4),
    ),
    Probe(
        claim="CopyModel: trained, it copies sequences that it has not seen",
        given="The model is trained for 250 steps on sequences of 2 to 8 symbols "
        "(AdamW, learning rate 0.01). The share of right symbols is measured on "
        "sequences that it has not seen.",
        why="It has not learned to copy.",
        draw=lambda g: {"ids": F.pad(whole(g, 1, 9, 60, 6), (0, 2))},
        call=_trained_copies,
        measure=_share_copied,
        between=(0.98, 1),  # the model answer: 1.000 in each of 10 seeds
        slow=True,
    ),
)


EXERCISE = Exercise(
    "1_attention_from_scratch",
    "Attention from scratch",
    (
        Task("scores", "Scores", ("attention_scores",), 1, SCORES),
        Task("weights", "Weights", ("attention_weights",), 2, WEIGHTS),
        Task("attention", "Attention", ("attention",), 2, ATTENTION),
        Task(
            "masks", "Masks", ("causal_mask", "padding_mask", "decoder_mask"), 3, MASKS
        ),
        Task("masked", "Attention with a mask", ("masked_attention",), 3, MASKED),
        Task("multi_head", "Multi-head attention", ("multi_head_attention",), 3, HEADS),
        Task("gradient", "Gradients by hand", BY_HAND, 3, GRADIENT, NO_AUTOGRAD),
        Task("copying", "A model that copies", ("CopyModel", "copy_loss"), 3, COPYING),
    ),
    forbidden=(
        "torch.nn.functional.scaled_dot_product_attention",
        "torch.nn.functional.multi_head_attention_forward",
        "torch.nn.MultiheadAttention",
        "torch.nn.Transformer*",
        "torch.nn.attention",
        "attncourse.layers",
        "attncourse.models",
        "attncourse.by_hand",
    ),
)
