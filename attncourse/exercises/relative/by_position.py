"""Exercise 4, eighth part: the loss at each position."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import nn

from attncourse.exercises.relative.distances import size
from attncourse.exercises.task import Check, Mistake

LENGTHS_READ = "chapters/04_positional_encoding#what-happens-beyond-the-trained-length"
PADDING = "chapters/05_masking#case-6-the-sentence-that-changed-in-company"
FUTURE = "chapters/05_masking#case-5-the-impossible-loss"


SYMBOLS = 5  # of which 0 is padding


class KnownModel(nn.Module):
    """A language model whose logits are known: they grow with the position.

    Parameters
    ----------
    logits : torch.Tensor
        ``(symbols, symbols)``; row s is what follows symbol s at the first position.
    """

    def __init__(self, logits):
        super().__init__()
        self.logits = nn.Parameter(logits.clone())
        self.dropout = nn.Dropout(0.5)
        self.read_in_training = False

    def forward(self, tokens):
        """Return the logits of each next token."""
        self.read_in_training |= self.training
        growth = 1 + 0.25 * torch.arange(tokens.shape[1])[:, None]
        return self.dropout(self.logits[tokens] * growth)


def _padded(generator):
    texts, longest = size(generator, 2, 3), size(generator, 4, 5)
    tokens = torch.randint(1, SYMBOLS, (texts, longest), generator=generator)
    for text in range(1, texts):
        tokens[text, size(generator, 2, longest - 1) :] = 0
    return {"tokens": tokens, "logits": draw_logits(generator)}


def draw_logits(generator):
    """Draw the logits of a `KnownModel`."""
    return torch.randn(SYMBOLS, SYMBOLS, generator=generator)


def _ask_positions(loss_by_position, _, tokens, logits):
    model = KnownModel(logits).train()
    loss = loss_by_position(model, tokens)
    return {
        "loss": loss,
        "read in training mode": model.read_in_training,
        "gradients recorded": getattr(loss, "requires_grad", False),
    }


def _losses(tokens, logits, inputs=slice(-1), targets=slice(1, None), soft=False):
    """Return the loss of every token, and which of them count."""
    scores = KnownModel(logits).eval()(tokens).detach()[:, inputs]
    if soft:
        scores = scores.softmax(dim=-1)
    wanted = tokens[:, targets]
    loss = F.cross_entropy(scores.transpose(1, 2), wanted, reduction="none")
    return loss, (wanted != 0).float()


def _found(loss):
    return {"loss": loss, "read in training mode": False, "gradients recorded": False}


def loss_of_positions(tokens, logits, **changes):
    """Return what is seen of a right loss by position, or of one with changes."""
    loss, counted = _losses(tokens, logits, **changes)
    return _found((loss * counted).sum(dim=0) / counted.sum(dim=0))


def _with_padding(tokens, logits):
    return _found(_losses(tokens, logits)[0].mean(dim=0))


def _divided_by_all(tokens, logits):
    loss, counted = _losses(tokens, logits)
    return _found((loss * counted).mean(dim=0))


def _wrong_guesses(tokens, logits):
    best = KnownModel(logits).eval()(tokens)[:, :-1].argmax(dim=-1)
    counted = (tokens[:, 1:] != 0).float()
    return _found(((best != tokens[:, 1:]) * counted).sum(dim=0) / counted.sum(dim=0))


def _mixed_axes(tokens, logits):
    """Read (batch, tokens, symbols) as (batch, symbols, tokens) without a transpose."""
    scores = KnownModel(logits).eval()(tokens).detach()[:, :-1]
    scores = scores.reshape(len(tokens), SYMBOLS, -1)
    loss = F.cross_entropy(scores, tokens[:, 1:], reduction="none")
    counted = (tokens[:, 1:] != 0).float()
    return _found((loss * counted).sum(dim=0) / counted.sum(dim=0))


def _divided_by_inputs(tokens, logits):
    """Divide by the number of texts that have a token before the target."""
    loss, counted = _losses(tokens, logits)
    return _found((loss * counted).sum(dim=0) / (tokens[:, :-1] != 0).sum(dim=0))


def _counted_by_inputs(tokens, logits):
    """Leave out what is predicted *from* padding, and not what is padding."""
    loss, _ = _losses(tokens, logits)
    counted = (tokens[:, :-1] != 0).float()
    return _found((loss * counted).sum(dim=0) / counted.sum(dim=0))


def _over_texts(summary):
    """Return an answer with another summary of the losses of the texts."""

    def wrong(tokens, logits):
        loss, counted = _losses(tokens, logits)
        return _found(summary(loss * counted))

    return wrong


BY_POSITION = Check(
    "each position has the mean loss of the tokens that are predicted there",
    1,
    inputs=_padded,
    ask=_ask_positions,
    expected=loss_of_positions,
    mistakes=(
        Mistake(
            "gradients recorded",
            "The loss carries the record of all that was computed, for a "
            "gradient that nobody asks for. Long texts then take far more "
            "memory. Read the model without gradients.",
            when=lambda seen, expected, inputs: bool(
                seen["gradients recorded"].values.all()
            ),
        ),
        Mistake(
            "bits for nats",
            "The losses are in bits: divided by the logarithm of 2. The "
            "cross-entropy of PyTorch, and this exercise, count in nats.",
            wrong=lambda **inputs: _found(
                loss_of_positions(**inputs)["loss"] / math.log(2)
            ),
        ),
        Mistake(
            "wrong guesses counted",
            "This is the share of wrong guesses. The loss also asks how sure "
            "the model was: it is the cross-entropy.",
            wrong=_wrong_guesses,
        ),
        Mistake(
            "model in training mode",
            "The model is read in training mode: its dropout is at work, and "
            "each call gives another loss.",
            when=lambda seen, expected, inputs: (
                seen["read in training mode"].values[0] == 1
            ),
            read=LENGTHS_READ,
        ),
        Mistake(
            "targets not shifted",
            "Each logit is compared with the token that the model has just "
            "read. It is a guess at the token after that.",
            wrong=lambda **inputs: loss_of_positions(**inputs, targets=slice(-1)),
            read=FUTURE,
        ),
        Mistake(
            "targets shifted the wrong way",
            "Each logit is compared with the token *before* the one that the "
            "model has just read.",
            wrong=lambda **inputs: loss_of_positions(
                **inputs, inputs=slice(1, None), targets=slice(-1)
            ),
            read=FUTURE,
        ),
        Mistake(
            "padding counted as a target",
            "Padding is treated as a token to predict. No text goes on there: "
            "these positions say nothing about the model.",
            wrong=_with_padding,
            read=PADDING,
        ),
        Mistake(
            "divided by all texts",
            "Padding adds no loss, but it is still counted: where texts have "
            "ended, the sum is divided by too large a number, and the loss "
            "looks too small.",
            wrong=_divided_by_all,
            read=PADDING,
        ),
        Mistake(
            "divided by the number of inputs",
            "The sum is divided by the number of texts that have a token at the place "
            "*before* the target. Where a text has just ended, this is one text more "
            "than has a target.",
            wrong=_divided_by_inputs,
            read=PADDING,
        ),
        Mistake(
            "padding judged by the input",
            "Left out is what follows padding. What is to be left out is "
            "padding as a *target*: the first padding of a text still counts, "
            "and follows a real token.",
            wrong=_counted_by_inputs,
            read=PADDING,
        ),
        *(
            Mistake(
                "another summary of the texts",
                f"This is the {name} of the texts at each position, padding "
                "among them. The mean over the real targets is asked for.",
                wrong=_over_texts(summary),
                read=LENGTHS_READ,
            )
            for name, summary in (
                ("median", lambda loss: loss.median(dim=0).values),
                ("largest loss", lambda loss: loss.max(dim=0).values),
                ("sum", lambda loss: loss.sum(dim=0)),
                ("first loss", lambda loss: loss[0]),
            )
        ),
        Mistake(
            "logits of the next place",
            "The logits are those of one place later, made after the target "
            "itself was read. The guess at a token is made at the place "
            "*before* it.",
            wrong=lambda **inputs: loss_of_positions(**inputs, inputs=slice(1, None)),
            read=FUTURE,
        ),
        Mistake(
            "probabilities instead of logits",
            "The logits go through a softmax twice: `cross_entropy` has its own.",
            wrong=lambda **inputs: loss_of_positions(**inputs, soft=True),
            read=LENGTHS_READ,
        ),
        Mistake(
            "axes mixed up",
            "The logits are reshaped where two axes should change places: "
            "numbers of different tokens get mixed.",
            wrong=_mixed_axes,
            read=LENGTHS_READ,
        ),
        Mistake(
            "sign of the loss lost",
            "The loss is negative: it is minus the logarithm of a probability.",
            wrong=lambda **inputs: _found(-loss_of_positions(**inputs)["loss"]),
            read=LENGTHS_READ,
        ),
        Mistake(
            "one number for all positions",
            "The result is one number. There should be one for each position, "
            "or nothing can be seen of the length.",
            when=lambda seen, expected, inputs: seen["loss"].shape == (),
            read=LENGTHS_READ,
        ),
        Mistake(
            "mean over the positions",
            "There is one number for each text: the mean runs over the "
            "positions. It should run over the texts.",
            when=lambda seen, expected, inputs: (
                seen["loss"].shape == inputs["tokens"].shape[:1]
            ),
            read=LENGTHS_READ,
        ),
        Mistake(
            "one position too many",
            "There is a loss for each token. A text of n tokens has n − 1 that "
            "are predicted: the first one follows nothing.",
            when=lambda seen, expected, inputs: (
                seen["loss"].shape == inputs["tokens"].shape[1:]
            ),
            read=LENGTHS_READ,
        ),
    ),
)
