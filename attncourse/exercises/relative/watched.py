"""Exercise 4, ninth part: a model that shows how it is trained and tested."""

from __future__ import annotations

import math
from functools import cache

import torch
from torch import nn

from attncourse.exercises.relative.language import VOCABULARY
from attncourse.training import train

RATE = 5e-3


class _Pull(torch.autograd.Function):
    """Zero, with the gradient one for each step, so that Adam moves by its rate."""

    @staticmethod
    def forward(ctx, weight):
        return torch.zeros_like(weight)

    @staticmethod
    def backward(ctx, gradient):
        return torch.ones_like(gradient)


class WatchedModel(nn.Module):
    """A model that learns nothing, has a known loss, and notes what it is shown."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1))
        self.shown = []

    def forward(self, tokens):
        """Return logits under which a token at position p costs ln(18 + exp(p/4))."""
        note = {"tokens": tokens.detach().cpu(), "learned": False}
        note["training"] = self.training
        self.shown.append(note)
        logits = torch.zeros(*tokens.shape, VOCABULARY, device=tokens.device)
        logits[..., 0] = 0.25 * torch.arange(tokens.shape[1])
        logits = logits + _Pull.apply(self.weight)
        if logits.requires_grad:
            note["logits"] = logits.detach().cpu()
            logits.register_hook(lambda gradient: _note(note, gradient))
        return logits


def _note(note, gradient):
    note["gradient"] = note.get("gradient", 0) + gradient.detach().cpu()
    note["learned"] = True


def moved_as_asked(watched, steps):
    """Say whether a watched model was trained at the learning rate asked for.

    It may rise and fall, as in the course's `train`, or stay as it is, as in a loop of
    one's own.
    """
    way = -watched.weight.item()
    ways = _way_of_the_course(steps), RATE * steps
    return any(math.isclose(way, asked, rel_tol=0.01) for asked in ways)


@cache
def _way_of_the_course(steps):
    """Return how far the weight of a watched model moves in the course's `train`."""
    model = WatchedModel()
    train(
        model,
        lambda step: (torch.ones(1, 2, dtype=torch.long),),
        lambda model, tokens: model(tokens).sum(),
        steps=steps,
        learning_rate=RATE,
        progress=False,
    )
    return -model.weight.item()
