"""Exercise 4, ninth part: what the model is told to predict in training."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from attncourse.exercises.relative.by_position import FUTURE, LENGTHS_READ
from attncourse.exercises.task import Mistake

SHARE = "share of the predictions that are learned from"
NEXT = "learned is the token that comes next"
MEAN = "learned by the mean of their losses"
RIGHT = {SHARE: 1.0, NEXT: True, MEAN: True}


def told(learned, trained):
    """Return what the gradients of the logits say about the loss of the training.

    Parameters
    ----------
    learned : list of dict
        The notes of a `WatchedModel` about the texts that it has learned from.
    trained : int
        Tokens of a text. A model may read them all, or all but the last.
    """
    found = [_told(note, trained) for note in learned] or [RIGHT.values()]
    shares, to_next, means = zip(*found, strict=True)
    return {SHARE: min(shares), NEXT: all(to_next), MEAN: all(means)}


def _told(note, trained):
    tokens, gradient = note["tokens"], note["gradient"]
    length = tokens.shape[1]
    predicted = length if length == trained - 1 else length - 1
    share = (gradient != 0).any(-1)[:, :predicted].float().mean().item()
    # Of the last token that is read, the next one is not seen here.
    known, targets = gradient[:, : length - 1], tokens[:, 1:]
    moved = (known != 0).any(-1)
    to_next = bool((known.argmin(-1) == targets)[moved].all())
    slope = note["logits"].softmax(-1)[:, : length - 1] - F.one_hot(
        targets, gradient.shape[-1]
    )
    mean = slope / (len(tokens) * predicted)
    return share, to_next, torch.allclose(known, mean, rtol=1e-3, atol=1e-7)


def _says(test):
    """Return a `when` that tests (share, to the next token, mean) of a training."""

    def when(seen, expected, inputs):
        if seen["steps"].values[0] == 0:
            return False
        return test(*(seen[part].values[0] for part in RIGHT))

    return when


TOLD = (
    Mistake(
        "another token learned",
        "In training the model is told to predict another token than the one that "
        "comes next. A guess made where a token was read is a guess at the *next* one.",
        when=_says(lambda share, to_next, mean: not to_next),
        read=FUTURE,
    ),
    Mistake(
        "a part of the predictions learned from",
        "In training only a part of the predictions has a loss: some texts, or some "
        "positions, teach the model nothing. Every token but the first is a target.",
        when=_says(lambda share, to_next, mean: share < 1),
        read=LENGTHS_READ,
    ),
    Mistake(
        "another loss in training",
        "The loss of the training is not the mean loss of all predictions: their "
        "gradients are other ones. Are they added up, weighted, or do probabilities go "
        "where `cross_entropy` wants logits?",
        when=_says(lambda share, to_next, mean: not mean),
        read=LENGTHS_READ,
    ),
)
