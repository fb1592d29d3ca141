"""Task 1.7, the check of the untrained model."""

from __future__ import annotations

import numpy as np
import torch

from attncourse.exercises.from_scratch.common import draw_sizes
from attncourse.exercises.from_scratch.loss import PADDING
from attncourse.exercises.task import Check, Mistake

POSITIONS = "chapters/02_attention_types#does-chased-look-at-cat-and-mouse"
MAPS = "chapters/02_attention_types#three-maps-ask-be-found-hand-over"
SYMBOLS, LONGEST = 10, 8


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
        "a key knows its symbol": bool((moved_weights - weights).abs().max() > 1e-6),
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
        "a key knows its symbol": True,
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
            "keys without symbols",
            "The weights are the same whatever the symbols are: keys are made from "
            "positions alone. Asked for are keys that know both; the model is to find "
            "out by itself that the position is enough.",
            when=fact("a key knows its symbol", False),
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
