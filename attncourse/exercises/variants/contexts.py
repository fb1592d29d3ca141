"""What attention makes of a memory: rightly, and with a mistake."""

from __future__ import annotations

import torch

from attncourse.exercises.variants.formulas import product


def read(weights, memory):
    """Return weights, and the context that they make of the memory."""
    return {"weights": weights, "context": weights @ memory}


def right(memory, states, mask, factor=1.0):
    """Return what is right, or what scores times a factor make."""
    scores = factor * product(states, memory)
    scores = scores.masked_fill(~mask[:, None], -torch.inf)
    return read(scores.softmax(dim=-1), memory)


def padding_zeroed(memory, states, mask):
    """Set the memory of the padding to zero, and hide nothing."""
    return unmasked(memory * mask[:, :, None], states, mask)


def read_from(change):
    """Return the right weights with a context of another memory."""

    def wrong(memory, states, mask):
        weights = right(memory, states, mask)["weights"]
        return {"weights": weights, "context": weights @ change(memory)}

    return wrong


def unmasked(memory, states, mask, axis=-1):
    """Leave the mask out."""
    return read(product(states, memory).softmax(dim=axis), memory)


def inverted(memory, states, mask):
    """Hide what should be seen."""
    return right(memory, states, ~mask)


def after(memory, states, mask):
    """Hide the padding after the softmax."""
    weights = product(states, memory).softmax(dim=-1)
    return read(weights * mask[:, None], memory)


def times_mask(memory, states, mask):
    """Multiply the scores by the mask."""
    scores = product(states, memory) * mask[:, None]
    return read(scores.softmax(dim=-1), memory)


def plus_mask(memory, states, mask):
    """Add the mask to the scores."""
    scores = product(states, memory) + mask[:, None]
    return read(scores.softmax(dim=-1), memory)


def exchanged(memory, states, mask):
    """Exchange weights and context."""
    found = right(memory, states, mask)
    return {"weights": found["context"], "context": found["weights"]}
