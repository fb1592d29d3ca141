"""Task 1.7, the checks of the loss and of the untrained model."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from attncourse.exercises.from_scratch.common import draw_sizes, failed
from attncourse.exercises.task import Check, Mistake

PADDING = "chapters/05_masking#case-6-the-sentence-that-changed-in-company"
POSITIONS = "chapters/02_attention_types#does-chased-look-at-cat-and-mouse"
MAPS = "chapters/02_attention_types#three-maps-ask-be-found-hand-over"
SYMBOLS, LONGEST = 10, 8


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


def made(CopyModel, seed=0):
    """Make a model, from its own seed; the random state outside stays as it is."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return CopyModel(SYMBOLS, LONGEST).eval()


def _ids(generator):
    tokens, short = draw_sizes(generator, (6, LONGEST), (4, 5))
    ids = torch.randperm(SYMBOLS, generator=generator)[:tokens][None] + 1
    ids[:, short:] = 0
    return {"ids": ids}


PLACE = 2  # whose symbol is changed


def _facts(CopyModel, copy_loss, ids):
    """Question an untrained model: which change moves what."""
    model, real = made(CopyModel), int((ids != 0).sum())
    changed = _with_another_symbol(ids)
    alike = torch.where(ids != 0, 3, 0)
    with torch.no_grad():
        log_odds, weights = model(ids)
        facts = {
            "shape of the log-odds": torch.tensor(log_odds.shape),
            "shape of the weights": torch.tensor(weights.shape),
        }
        if not _matching_shapes(facts, ids):
            return facts
        moved_weights = model(changed)[1]
        rows = model(alike)[1][0, :real, :real]
    # A query that knows its own symbol also changes what it thinks of the others.
    before, after = (w[0, PLACE, :PLACE] for w in (weights, moved_weights))
    shares = before / before.sum() - after / after.sum()
    ways = torch.tensor([_own_to_others(made(CopyModel, s), ids) for s in range(9)])
    sums = weights[0, :real].sum(-1)
    return {
        **facts,
        "rows of weights sum to 1": bool((sums - 1).abs().max() < 1e-4),
        "weight on padding": bool((weights[0, :real, real:] > 0).any()),
        "a symbol moves the outputs of other places": bool(ways.isfinite().all()),
        "something goes round the attention": bool(ways.median() > 2.5),
        "log-odds are probabilities": bool(
            (log_odds[0, :real].sum(-1) - 1).abs().max() < 1e-4
            and (log_odds >= 0).all()
        ),
        "places look differently": bool((rows - rows[:1]).abs().max() > 1e-5),
        "a query knows its symbol": bool(shares.abs().max() > 1e-5),
    }


def _with_another_symbol(ids):
    changed = ids.clone()
    changed[0, PLACE] = changed[0, PLACE] % SYMBOLS + 1
    return changed


def _own_to_others(model, ids):
    """Return how far a changed symbol moves its own output, compared with others.

    Both are measured by the weight with which they look at the changed place. If all
    goes through the weights, the two are about equal.
    """
    with torch.no_grad():
        (before, weights), (after, _) = model(ids), model(_with_another_symbol(ids))
    real = ids[0] != 0
    moved = (before - after)[0].norm(dim=-1)[real]
    looks = weights[0, :, PLACE][real]
    others = (looks > 0) & (torch.arange(len(looks)) != PLACE)
    of_others = (moved / looks)[others].mean()
    if not of_others > 1e-5:
        return torch.inf
    return float((moved / looks)[PLACE] / of_others)


def _matching_shapes(facts, ids):
    return all(torch.equal(facts[name], shape) for name, shape in _shapes(ids).items())


def _shapes(ids):
    tokens = ids.shape[1]
    return {
        "shape of the log-odds": torch.tensor([1, tokens, SYMBOLS + 1]),
        "shape of the weights": torch.tensor([1, tokens, tokens]),
    }


def fact(name, value):
    """Say that a fact has a value."""
    return lambda seen, expected, inputs: bool(seen[name].values.all()) is value


def _other_shape(name):
    return lambda seen, expected, inputs: (
        not np.array_equal(seen[name].values, expected[name].values)
    )


STRUCTURE = Check(
    "CopyModel: a place asks by its position; all it gets comes through the weights",
    0.5,
    inputs=_ids,
    ask=_facts,
    expected=lambda ids: {
        **_shapes(ids),
        "rows of weights sum to 1": True,
        "weight on padding": False,
        "a symbol moves the outputs of other places": True,
        "something goes round the attention": False,
        "log-odds are probabilities": False,
        "places look differently": True,
        "a query knows its symbol": False,
    },
    mistakes=(
        Mistake(
            "one axis too many or too few",
            "The weights have another shape than (batch, tokens, tokens). Is there an "
            "axis for heads that is not needed here?",
            when=_other_shape("shape of the weights"),
        ),
        Mistake(
            "log-odds of another shape",
            "The log-odds have another shape than (batch, tokens, num_symbols + 1): "
            "one number for each id, the padding's 0 included.",
            when=_other_shape("shape of the log-odds"),
        ),
        Mistake(
            "probabilities for log-odds",
            "What is returned has been through a softmax: positive, and 1 in sum. The "
            "cross-entropy has a softmax of its own; after two of them the model can "
            "hardly learn to be sure.",
            when=fact("log-odds are probabilities", True),
        ),
        Mistake(
            "attention to padding",
            "Real tokens give weight to padding. A sentence then depends on how long "
            "the others of its batch are.",
            when=fact("weight on padding", True),
            read=PADDING,
        ),
        Mistake(
            "no attention on the way",
            "Changing a symbol moves no other place's output. So the outputs do not "
            "come through the attention: before training, attention is spread over "
            "all places.",
            when=fact("a symbol moves the outputs of other places", False),
            read=MAPS,
        ),
        Mistake(
            "no positions",
            "In a sequence of equal symbols, all places have the same weights. Either "
            "the queries do not know where they ask from, or the keys do not say "
            "where they stand.",
            when=fact("places look differently", False),
            read=POSITIONS,
        ),
        Mistake(
            "the query knows its symbol",
            "The query of a place depends on the symbol that stands there. A token "
            "that knows its symbol can ask for equal ones anywhere, and need not find "
            "its place. Let it ask by its position alone.",
            when=fact("a query knows its symbol", True),
            read=MAPS,
        ),
        Mistake(
            "a way round the attention",
            "A changed symbol moves the output of its own place far more than the "
            "weights explain. So it reaches that output by another way, round the "
            "attention.",
            when=fact("something goes round the attention", True),
            read=MAPS,
        ),
    ),
)
