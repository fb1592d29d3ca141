"""What can be wrong with extracted weights, whichever model they come from."""

from __future__ import annotations

import torch

from attncourse.exercises.task import Mistake

SHAPES = "chapters/03_multi_head#the-same-in-pytorch-shape-by-shape"
DROPOUT = "chapters/03_multi_head#the-layer-you-would-use"
PADDING = "chapters/06_seq2seq#fault-4-padding-that-is-read"


def _cut_as_batch_first(weights):
    layers, batch = weights.shape[:2]
    return weights.flatten(0, 1).unflatten(0, (batch, layers)).transpose(0, 1)


def _cut_as_layers_first(weights):
    return weights.transpose(0, 1).reshape(weights.shape)


def layout_mistakes(reference):
    """Return what can be wrong with the axes of (layers, batch, heads, ...).

    Parameters
    ----------
    reference : callable
        ``reference(**inputs)`` returns the right weights.
    """

    def spoilt(spoil):
        return lambda **inputs: spoil(reference(**inputs))

    return (
        Mistake(
            "heads and layers swapped",
            "The first axis counts heads and the third one layers. Whoever asks for "
            "layer 0, head 1 gets layer 1, head 0: the axes should be (layers, batch, "
            "heads, queries, keys).",
            wrong=spoilt(lambda w: w.transpose(0, 2)),
            read=SHAPES,
        ),
        Mistake(
            "batch before layers",
            "The first axis counts the sentences of the batch and the second one the "
            "layers: the axes should be (layers, batch, heads, queries, keys).",
            wrong=spoilt(lambda w: w.transpose(0, 1)),
            read=SHAPES,
        ),
        Mistake(
            "layers stacked behind the batch",
            "The layers are the third axis: the axes should be (layers, batch, heads, "
            "queries, keys).",
            wrong=spoilt(lambda w: w.permute(1, 2, 0, 3, 4)),
            read=SHAPES,
        ),
        *(
            Mistake(
                "batch and layers mixed",
                "The shape is right, but the maps are in wrong places: some that are "
                "said to belong to one layer or sentence belong to another. `reshape` "
                "and `view` cut the numbers up anew; they do not move axes.",
                wrong=spoilt(mix),
                read=SHAPES,
            )
            for mix in (_cut_as_batch_first, _cut_as_layers_first)
        ),
        Mistake(
            "maps transposed",
            "Each map is transposed: a row belongs to a key and a column to a query. "
            "In a row, which should say where one query looks, the weights sum to 1.",
            wrong=spoilt(lambda w: w.transpose(-2, -1)),
            read=SHAPES,
        ),
        Mistake(
            "heads averaged away",
            "There is one map for each layer: the mean over the heads. Heads do "
            "different things, and their mean is the map of none of them.",
            wrong=spoilt(lambda w: w.mean(dim=2)),
            read="chapters/03_multi_head#why-is-one-head-not-enough",
        ),
        Mistake(
            "one layer only",
            "There are the weights of the last layer and of no other.",
            wrong=spoilt(lambda w: w[-1]),
            read=SHAPES,
        ),
        Mistake(
            "one sentence only",
            "There are the weights of the first sentence of the batch and of no other.",
            wrong=spoilt(lambda w: w[:, 0]),
            read=SHAPES,
        ),
        Mistake(
            "layers joined into the batch",
            "The layers have been joined along the axis of the batch. They need an "
            "axis of their own, in front.",
            wrong=spoilt(lambda w: w.flatten(0, 1)),
            read=SHAPES,
        ),
    )


def flags(weights_of, model):
    """Return what a call did to a model, and what came out: the weights' state."""
    model.train()
    first, second = weights_of(model), weights_of(model)
    training_after = model.training
    model.eval()
    weights_of(model)
    return {
        "two calls agree": torch.equal(first.detach(), second.detach()),
        "gradient attached": first.requires_grad,
        "still in training mode": training_after,
        "still in evaluation mode": not model.training,
    }


FLAGS = {
    "two calls agree": True,
    "gradient attached": False,
    "still in training mode": True,
    "still in evaluation mode": True,
}
STATE_MISTAKES = (
    Mistake(
        "dropout is on",
        "Two calls with the same input give different weights: the model came in "
        "training mode, and dropout was at work while it read. Holes in such maps are "
        "made by dropout; the model that is used later does not have them.",
        when=lambda seen, expected, inputs: not seen["two calls agree"].values[0],
        read=DROPOUT,
    ),
    Mistake(
        "gradient attached",
        "The weights still hang on the graph for gradients. That keeps every "
        "intermediate result of the model in memory, and NumPy refuses such a tensor.",
        when=lambda seen, expected, inputs: bool(seen["gradient attached"].values[0]),
        read="chapters/03_multi_head#does-the-model-need-these-heads",
    ),
    Mistake(
        "mode not put back",
        "The model comes back in another mode than it went in. Whoever goes on "
        "training it trains without dropout from then on, or measures with it.",
        when=lambda seen, expected, inputs: (
            not seen["still in training mode"].values[0]
            or not seen["still in evaluation mode"].values[0]
        ),
        read=DROPOUT,
    ),
)


def batch_first(weights, batch):
    """Move the axis of the batch to the front, wherever an answer has put it."""
    if weights.dim() < 3:
        raise ValueError(f"no maps in a result of shape {tuple(weights.shape)}")
    places = [a for a in range(weights.dim() - 2) if weights.shape[a] == batch]
    if not places:
        shape = tuple(weights.shape)
        raise ValueError(f"no axis of {batch} sentences in the shape {shape}")
    return weights.movedim(places[0], 0)


def totals(weights, batch):
    """Return all weight that each sentence's tokens give, whatever the layout."""
    return batch_first(weights, batch).flatten(1).sum(dim=1)
