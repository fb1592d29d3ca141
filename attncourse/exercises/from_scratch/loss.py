"""Task 1.7, the check of the loss."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from attncourse.exercises.from_scratch.common import draw_sizes, failed
from attncourse.exercises.task import Check, Mistake

PADDING = "chapters/05_masking#case-6-the-sentence-that-changed-in-company"


def _scores_and_ids(generator):
    tokens, symbols = draw_sizes(generator, (3, 4), (4, 6))
    ids = torch.randint(1, symbols + 1, (2, tokens), generator=generator)
    ids[1, 2:] = 0
    log_odds = 2 * torch.randn(2, tokens, symbols + 1, generator=generator)
    return {"log_odds": log_odds, "ids": ids}


def loss_of(log_odds, ids):
    """Return the mean cross-entropy without the padding: the reference."""
    return F.cross_entropy(log_odds.flatten(0, 1), ids.flatten(), ignore_index=0)


def _ask_loss(CopyModel, copy_loss, log_odds, ids):
    weights = torch.eye(ids.shape[1]).expand(len(ids), -1, -1)
    with torch.enable_grad():
        log_odds = log_odds.clone().requires_grad_()
        loss = copy_loss(lambda ids: (log_odds, weights), ids)
    return loss if getattr(loss, "requires_grad", True) else "no gradient"


def _probability(log_odds, ids):
    return log_odds.softmax(-1).gather(-1, ids[..., None])[..., 0]


def _shifted(log_odds, ids):
    return loss_of(log_odds[:, :-1], ids[:, 1:])


def _squared_error(log_odds, ids):
    wanted = F.one_hot(ids, log_odds.shape[-1]).float()
    return F.mse_loss(log_odds.softmax(-1)[ids != 0], wanted[ids != 0])


LOSS = Check(
    "copy_loss: the cross-entropy of the symbols, averaged over all but the padding",
    0.5,
    inputs=_scores_and_ids,
    ask=_ask_loss,
    expected=loss_of,
    mistakes=(
        Mistake(
            "padding in the loss",
            "The padding counts as a symbol to be copied. The model is praised for "
            "what nobody asks, and the average is that of another set.",
            wrong=lambda log_odds, ids: F.cross_entropy(
                log_odds.flatten(0, 1), ids.flatten()
            ),
            read=PADDING,
        ),
        Mistake(
            "no gradient",
            "The loss is a number without a gradient, from which nothing can be "
            "learned. `.item()`, `.detach()`, NumPy and `torch.tensor(...)` cut the "
            "path back to the model.",
            when=lambda seen, expected, inputs: seen["result"].text == "no gradient",
        ),
        Mistake(
            "no logarithm",
            "The average of the probabilities is taken, not of their logarithms.",
            wrong=lambda log_odds, ids: -_probability(log_odds, ids)[ids != 0].mean(),
        ),
        Mistake(
            "log-odds for logarithms of probabilities",
            "The log-odds are taken for logarithms of probabilities. They become these "
            "by a log-softmax, which `F.nll_loss` does not make and `F.cross_entropy` "
            "does.",
            wrong=lambda log_odds, ids: F.nll_loss(
                log_odds.flatten(0, 1), ids.flatten(), ignore_index=0
            ),
        ),
        Mistake(
            "squared error",
            "This is the mean squared error of the probabilities. Asked for is the "
            "cross-entropy: minus the logarithm of the right symbol's probability.",
            wrong=_squared_error,
        ),
        Mistake(
            "sum of each sequence",
            "The losses of each sequence are added up, and the sums averaged over the "
            "sequences. Asked for is the average over the *tokens*.",
            wrong=lambda log_odds, ids: (
                loss_of(log_odds, ids) * (ids != 0).sum() / len(ids)
            ),
        ),
        Mistake(
            "mean of means",
            "Each sequence is averaged first, then the sequences. A token of a short "
            "sequence then counts more than one of a long sequence.",
            wrong=lambda log_odds, ids: torch.stack(
                [
                    loss_of(one[None], own[None])
                    for one, own in zip(log_odds, ids, strict=True)
                ]
            ).mean(),
        ),
        Mistake(
            "softmax before the cross-entropy",
            "The log-odds go through a softmax before the cross-entropy, which has one "
            "of its own. The loss then hardly moves.",
            wrong=lambda log_odds, ids: loss_of(log_odds.softmax(-1), ids),
        ),
        Mistake(
            "shifted by one",
            "Each place is asked for the *next* symbol, as in a language model. Here "
            "it is asked for its own.",
            wrong=_shifted,
        ),
        Mistake(
            "sum instead of average",
            "The losses of the tokens are added up. A batch with more tokens would "
            "take larger steps.",
            wrong=lambda log_odds, ids: F.cross_entropy(
                log_odds.flatten(0, 1), ids.flatten(), ignore_index=0, reduction="sum"
            ),
        ),
        Mistake(
            "axes exchanged by a reshape",
            "The axes of the log-odds were brought into order by a reshape. It does "
            "not exchange axes, it reads the numbers on in the order in which they "
            "lie: log-odds of one token end up with another.",
            wrong=lambda log_odds, ids: F.cross_entropy(
                log_odds.reshape(len(ids), -1, ids.shape[1]), ids, ignore_index=0
            ),
        ),
        Mistake(
            "axes of the cross-entropy",
            "The answer raises an error. `F.cross_entropy` takes (tokens, classes) and "
            "(tokens,), or the classes as the second axis of several.",
            when=lambda seen, expected, inputs: failed(
                seen, "target", "batch_size", "tuple"
            ),
        ),
        Mistake(
            "padding divided away",
            "The losses of the padding are set to 0, and the average still counts "
            "them.",
            wrong=lambda log_odds, ids: F.cross_entropy(
                log_odds.flatten(0, 1),
                ids.flatten(),
                ignore_index=0,
                reduction="none",
            ).mean(),
        ),
    ),
)
