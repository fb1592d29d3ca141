"""Exercise 1: attention from scratch."""

from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from attncourse.data.symbols import copy_batch
from attncourse.exercises.drawing import numbers, one_of, sizes, whole
from attncourse.exercises.forbidden import FUSED
from attncourse.exercises.probe import Exercise, Probe, Task, nth
from attncourse.exercises.run import backward, gradients, leaf

BOTH = ("output", "weights")
_of_both = partial(Probe, names=BOTH)
_differentiated = partial(backward, names=BOTH)


def _attention(g, *leading, width=None, scale=1):
    """Draw query, key and value; the queries are multiplied by `scale`."""
    queries, keys, d_k, d_v = sizes(g, 4)
    return {
        "query": scale * numbers(g, *leading, queries, width or d_k),
        "key": numbers(g, *leading, keys, width or d_k),
        "value": numbers(g, *leading, keys, d_v),
    }


# 1.1
def _vectors(g, *leading, width=None):
    inputs = _attention(g, *leading, width=width)
    return {name: inputs[name] for name in ("query", "key")}


SCORES = (
    Probe(
        "vectors of width 1: one score for each query and key, their product",
        "There are no leading axes. The width is 1, so the scaling changes nothing.",
        lambda g: _vectors(g, width=1),
    ),
    Probe(
        "wider vectors: their dot product, divided by the root of the width",
        "The width is greater than 1.",
        _vectors,
        why="Right for the width 1, and not here.",
    ),
    Probe(
        "leading axes, such as batch and heads, are kept apart",
        "There are two leading axes, of sizes 1 and 3.",
        lambda g: _vectors(g, 1, 3),
    ),
)


# 1.2
def _large_scores(g):
    """Draw scores about 1000 or -1000, but for one key with the score 0."""
    inputs = _attention(g, width=1)
    inputs["query"][:2] = torch.tensor([[50.0], [-50.0]])
    inputs["key"] = 20 + inputs["key"] / 50
    inputs["key"][whole(g, 0, 1)] = 0
    return inputs


def _dropped(g):
    query, key = numbers(g, 2, 9, 4), numbers(g, 2, 11, 4)
    value = torch.eye(11).repeat(2, 1, 2)  # (batch, keys, 2 * keys): all weights twice
    rate = one_of(g, 0.25, 0.4, 0.75)
    return {"query": query, "key": key, "value": value, "dropout": rate}


def _off_rate(values, inputs):
    """Return how far the share of zeros is from the rate, or 1 if dropout is wrong."""
    once, twice = np.split(values["output"], 2, axis=-1)
    zero, rescaled = once == 0, values["weights"] / (1 - inputs["dropout"])
    right = (once == twice) & (zero | np.isclose(once, rescaled, rtol=1e-3))
    single = all(np.diff(zero, axis=axis).any() for axis in range(3))
    return abs(zero.mean() - inputs["dropout"]) if single and right.all() else 1


ATTENTION = (
    Probe(
        "the weights are the softmax of the scaled scores, for each batch and head",
        "There are two leading axes; d_v is not d_k. Gradients are compared as well.",
        lambda g: _attention(g, 2, 3),
        _differentiated,
        read="chapters/02_attention_types#self-attention-in-pytorch",
    ),
    _of_both(
        "large scores of either sign neither overflow nor vanish",
        "The scores of one query are about 1000, those of another about -1000; one key "
        "has the score 0.",
        _large_scores,
        why="Only differences within a row should count.",
        tolerance=1e-3,
        read="chapters/02_attention_types#softmax",
    ),
    _of_both(
        "dropout sets single weights to 0 and divides the others by 1 - dropout; the "
        "weights that are returned are those before it",
        "The values are two identity matrices side by side, so the output shows the "
        "weights after dropout, twice. Measured is how far the share of zeros is from "
        "`dropout`; it is 1 if they are not these weights, dropped one by one.",
        _dropped,
        why="Dropout has to act on the weights, after the softmax and before the "
        "product with the values, on each weight by itself. Those that remain are "
        "divided by 1 - dropout.",
        measure=_off_rate,
        between=(0, 0.2),
        compared=("weights",),
    ),
)


# 1.3
def _ids(g):
    """Draw ids that end in padding; the first sequence has none."""
    batch, tokens = sizes(g, 2, 3)
    ids = whole(g, 1, 9, batch, tokens)
    for row in range(1, batch):
        ids[row, tokens - whole(g, 1, tokens - 1) :] = 0
    return {"ids": ids}


def _padding_anywhere(g):
    ids, pad = whole(g, 0, 9, 3, 7), one_of(g, 0, 5)
    ids[:, ::3], ids[1] = pad, pad
    return {"ids": ids, "pad": pad} if pad else {"ids": ids}


MASKS = (
    Probe(
        "causal_mask: a token may attend to itself and to the past",
        "Row i should be True up to and including column i, and False after that.",
        lambda g: {"tokens": whole(g, 3, 7)},
    ),
    Probe(
        "padding_mask: True for tokens, False for the padding at the end",
        "The padding id is 0.",
        _ids,
        nth(1),
    ),
    Probe(
        "padding_mask: wherever the padding stands, and whatever its id",
        "Padding may stand anywhere. Its id is 0, or 5 where `pad` is given.",
        _padding_anywhere,
        nth(1),
        why="With padding at the end alone, and the id 0, it is right.",
    ),
    Probe(
        "decoder_mask: neither the future nor padding",
        "Padding may stand anywhere. Its id is 0, or 5 where `pad` is given.",
        _padding_anywhere,
        nth(2),
        why="Padding is hidden as a key; rows of padded queries follow the same rule.",
        read="chapters/05_masking#combining-causal-and-padding-masks",
    ),
)


# 1.4
def _visible(g, *shape):
    """Draw a mask in which each query sees at least one key and misses one."""
    rank = torch.rand(*shape, generator=g).argsort(-1)
    return rank < whole(g, 1, shape[-1] - 1, *shape[:-1], 1)


def _masked(g, scale=1):
    inputs = _attention(g, scale=scale)
    return inputs | {"mask": _visible(g, len(inputs["query"]), len(inputs["key"]))}


def _broadcast(g):
    """Draw a mask (keys,) or (batch, 1, 1, keys)."""
    leading, inputs = one_of(g, (), (2, 1, 1)), _attention(g, 2, 3)
    return inputs | {"mask": _visible(g, *leading, inputs["key"].shape[-2])}


def _empty_row(g):
    inputs = _masked(g)
    inputs["mask"][whole(g, 0, len(inputs["mask"]) - 1)] = False
    return inputs


def _extreme_scores(g):
    """Draw scores that are huge where hidden and very low where visible."""
    root, dtype = one_of(g, (1e5, torch.float32), (173.0, torch.float16))
    mask, value = _visible(g, 1, 5), numbers(g, 5, 2)
    query, key = torch.full((1, 1), root), torch.where(mask.T, -root, root)
    inputs = {"query": query, "key": key, "value": value}
    return {name: x.to(dtype) for name, x in inputs.items()} | {"mask": mask}


MASKED = (
    _of_both(
        "without a mask nothing is hidden",
        "`mask` is not given.",
        lambda g: _attention(g, 2),
        weight=0,
    ),
    _of_both(
        "a hidden key has weight 0, and the visible ones share all of it",
        "The queries are 0, so all visible keys should get the same weight.",
        lambda g: _masked(g, scale=0),
        why="The weight of each of n visible keys should be 1 / n.",
        read="chapters/05_masking#case-2-masking-by-multiplication",
    ),
    _of_both(
        "visible keys share by their scores, and the mask broadcasts",
        "The mask has fewer axes than the scores, or axes of size 1.",
        _broadcast,
        why="With equal scores, and a mask of (queries, keys), it is right.",
    ),
    Probe(
        "a query that sees nothing has zero weights, zero output and finite gradients",
        "The mask hides all keys from one query.",
        _empty_row,
        _differentiated,
        read="chapters/05_masking#case-3-fully-masked-rows",
    ),
    _of_both(
        "huge hidden and very low visible scores, in half precision too",
        "The scores are about -10^10 and 10^10, or in float16 -30000 and 30000.",
        _extreme_scores,
        why="A hidden key has weight, or a visible one too little. Set hidden "
        "scores to minus infinity before the softmax: a visible one may be very low.",
        exact_type=True,
        tolerance=2e-3,
    ),
)


# 1.5
def _heads(g, heads=None):
    """Draw x and the matrices; with one head, the last of these is the identity."""
    count = heads or whole(g, 2, 4)
    width = 4 if count == 1 else 3 * count
    inputs = {"x": numbers(g, 2, 5, width, most=1)}
    for name in ("w_query", "w_key", "w_value", "w_output"):
        inputs[name] = numbers(g, width, width, most=0.5)
    if count == 1:
        inputs["w_output"] = torch.eye(width)
    return inputs | {"num_heads": count}


def _heads_masked(g):
    inputs = _heads(g)
    shape = one_of(g, (5, 5), (2, 1, 1, 5), (inputs["num_heads"], 1, 5))
    return inputs | {"mask": _visible(g, *shape)}


HEADS = (
    _of_both(
        "each projection has its own matrix: x @ w_query, and so on",
        "There is one head, and `w_output` is the identity.",
        lambda g: _heads(g, 1),
    ),
    Probe(
        "each head has its own weights, from its own columns",
        "There are several heads. Only the weights are compared.",
        _heads,
        lambda answer, **inputs: {"weights": answer(*inputs.values())[1]},
        why="A head should use a block of neighbouring columns of query and key, and "
        "divide by the root of the block's width.",
        read="chapters/03_multi_head#multi-head-attention-in-numpy",
    ),
    _of_both(
        "the heads' outputs are joined in their order, then projected",
        "There are several heads, and no matrix is the identity.",
        _heads,
        why="The weights are right, and the output is not.",
    ),
    _of_both(
        "a mask with fewer axes serves all heads, one with heads its own head",
        "The mask is (tokens, tokens), (batch, 1, 1, tokens) or (heads, 1, tokens), "
        "whose first axis is not the batch.",
        _heads_masked,
    ),
)


# 1.6
def _weights_and_upstream(g, *shape):
    return {"weights": numbers(g, *shape).softmax(-1), "upstream": numbers(g, *shape)}


def _upstream(g, *leading):
    inputs = _attention(g, *leading)
    shape = (*inputs["query"].shape[:-1], inputs["value"].shape[-1])
    return inputs | {"upstream": numbers(g, *shape)}


def _by_hand(softmax_gradient, attention_gradients, **inputs):
    with torch.inference_mode():  # so without autograd
        query, key, value = attention_gradients(*inputs.values())
    found = {"value": value, "query": query, "key": key}
    return {f"the gradient of {name}": x for name, x in found.items()}


GRADIENT = (
    Probe(
        "softmax_gradient: each score changes all weights of its row",
        "There are no leading axes, or two.",
        lambda g: _weights_and_upstream(g, *sizes(g, 2 + 2 * whole(g, 0, 1))),
        why="It is not the sum of upstream_k · w_k · ([j = k] - w_j) over the row's k.",
    ),
    Probe(
        "attention_gradients: the gradients of value, query and key",
        "There are no leading axes.",
        _upstream,
        _by_hand,
    ),
    Probe(
        "attention_gradients: leading axes are kept apart",
        "There are two leading axes.",
        lambda g: _upstream(g, 2, 3),
        _by_hand,
    ),
)


# 1.7
def _logits(g, least=0):
    ids = whole(g, 1, 9, 3, 4) * whole(g, least, 1, 3, 4)
    return {"logits": numbers(g, 3, 4, 10), "ids": ids}


def _loss(model_class, copy_loss, logits, ids):
    """Return the loss of a stand-in for a model, and its gradient."""
    logits, model = leaf(logits), nn.Module()
    model.forward = lambda ids: (logits, torch.full((3, 4, 4), 0.25))
    loss = copy_loss(model, ids)
    return {"loss": loss, **gradients(loss, logits=logits)}


def _randomised(model_class, copy_loss, ids):
    """Return what a model in evaluation mode returns, its parameters drawn."""
    model, generator = model_class(9, 14), torch.Generator().manual_seed(0)
    for parameter in model.parameters():
        parameter.data = 0.4 * torch.randn(parameter.shape, generator=generator)
    logits, weights = model.eval()(ids)
    if logits.shape != (wanted := (*ids.shape, 10)):
        raise ValueError(f"the logits should be {wanted}; they are {logits.shape}")
    one = torch.arange(14)[None] % 9 + 1
    moved = model(one)[0] - model(one.where(one > 1, 5))[0]  # at positions 0 and 9
    if moved[:, 1:9].abs().max() < 1e-3:
        raise ValueError("no position's logits depend on another position's symbol")
    return {"logits": logits, "weights": weights}


def _off_tokens(values, inputs):
    """Return how far the weight on tokens, without padding, is from 1, at most."""
    on_tokens = values["weights"] * (inputs["ids"].numpy() != 0)[:, None]
    return abs(on_tokens.sum(-1) - 1).max()


def _exchanged_symbol(g):
    """Draw a sequence, and the same one with one symbol exchanged."""
    ids, place = whole(g, 1, 9, 1, 14).repeat(2, 1), whole(g, 0, 13)
    ids[1, place] = ids[0, place] % 9 + 1
    return {"ids": ids}


def _query_moves(values, inputs):
    """Return how much the weights of the other keys change relative to each other."""
    one, two = np.maximum(values["weights"], 1e-9)
    place = (inputs["ids"][0] != inputs["ids"][1]).numpy()
    hidden = (np.minimum(one, two) == 1e-9) | place
    return np.ma.ptp(np.ma.masked_where(hidden, np.log(two / one)), axis=1).max()


def _trained_copies(model_class, copy_loss, ids):
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


COPYING = (
    Probe(
        "copy_loss: the mean cross-entropy of the tokens",
        "The model is a stand-in that returns these logits. Nothing is padding.",
        lambda g: _logits(g, least=1),
        _loss,
        why="It is not the mean of -log softmax(logits)[id], or its gradient.",
    ),
    Probe(
        "copy_loss: padding does not count, and all tokens of the batch count alike",
        "The model is a stand-in. Sequences have different numbers of tokens.",
        _logits,
        _loss,
        why="Without padding it is right.",
    ),
    Probe(
        "CopyModel: padding is hidden as a key, and weights sum to 1",
        "Measured is how far a row's weight on tokens, without padding, is from 1.",
        _ids,
        _randomised,
        why="A padded key has weight, or a row, also of padding, does not sum to 1.",
        measure=_off_tokens,
        between=(0, 1e-4),
    ),
    Probe(
        "CopyModel: the query is made from the position alone",
        "One symbol is exchanged. Its key changes; the logarithms of the other keys' "
        "weights should keep their differences. Their largest change is measured.",
        _exchanged_symbol,
        _randomised,
        measure=_query_moves,
        between=(0, 1e-3),
    ),
    Probe(
        "CopyModel: logits, not probabilities",
        "Measured is the largest distance of a position's sum of logits from 1.",
        _ids,
        _randomised,
        why="They sum to 1 at every position, as probabilities do.",
        measure=lambda values, inputs: abs(values["logits"].sum(-1) - 1).max(),
        between=(1e-3, np.inf),
    ),
    Probe(
        "CopyModel: the output is made from what attention returns alone",
        "Each sequence is one symbol and padding, so all positions have all of their "
        "weight on the first, and attention returns the same vector for all. Measured "
        "is the largest difference between logits at two positions.",
        lambda g: {"ids": F.pad(whole(g, 1, 9, 3, 1), (0, whole(g, 2, 5)))},
        _randomised,
        why="The position, or a symbol, reaches the logits in another way, too.",
        measure=lambda values, inputs: np.ptp(values["logits"], axis=1).max(),
        between=(0, 1e-4),
    ),
    Probe(
        "CopyModel: trained, it copies sequences that it has not seen",
        "The model is trained for 250 steps (AdamW, learning rate 0.01). Measured is "
        "the share of right symbols in sequences that it has not seen.",
        lambda g: {"ids": whole(g, 1, 9, 60, 6)},
        _trained_copies,
        measure=lambda got, ids: (got["prediction"] == ids["ids"].numpy()).mean(),
        between=(0.98, 1),  # the model answer: 1.000 in each of 10 seeds
        slow=True,
    ),
)

THREE_MASKS = ("causal_mask", "padding_mask", "decoder_mask")
BY_HAND = ("softmax_gradient", "attention_gradients")
NO_AUTOGRAD = ("torch.autograd", "torch.func", "torch.jit", ".backward", ".grad_fn")
EXERCISE = Exercise(
    "1_attention_from_scratch",
    "Attention from scratch",
    (
        Task("scores", "Scores", ("attention_scores",), 2, SCORES),
        Task("attention", "Attention", ("attention",), 2, ATTENTION),
        Task("masks", "Masks", THREE_MASKS, 3, MASKS),
        Task("masked", "Attention with a mask", ("masked_attention",), 4, MASKED),
        Task("multi_head", "Multi-head attention", ("multi_head_attention",), 3, HEADS),
        Task("gradient", "Gradients by hand", BY_HAND, 3, GRADIENT, NO_AUTOGRAD),
        Task("copying", "A model that copies", ("CopyModel", "copy_loss"), 3, COPYING),
    ),
    forbidden=(
        *FUSED,
        "torch.nn.Transformer*",
        *(f"attncourse.{part}" for part in ("layers", "models", "by_hand", "widgets")),
    ),
)
