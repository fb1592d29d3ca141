"""Task 1.7: a layer of attention that copies."""

from __future__ import annotations

import torch

from attncourse.data.symbols import copy_batch
from attncourse.exercises.from_scratch.loss import LOSS, PADDING, loss_of
from attncourse.exercises.from_scratch.structure import (
    LONGEST,
    MAPS,
    STRUCTURE,
    SYMBOLS,
    fact,
    made,
)
from attncourse.exercises.judge import once
from attncourse.exercises.task import Check, Mistake, Task
from attncourse.training import train


def _draw(step):
    return copy_batch(32, 2, LONGEST, SYMBOLS, seed=step)[:1]


def _reference_loss(model, ids):
    return loss_of(model(ids)[0], ids)


def _trained(CopyModel):
    model = made(CopyModel, seed=1)
    with torch.random.fork_rng(devices=[]):
        train(
            model,
            _draw,
            _reference_loss,
            steps=250,
            learning_rate=1e-2,
            device="cpu",
            progress=False,
        )
    ids = copy_batch(300, 2, LONGEST, SYMBOLS, seed=10**6)[0]  # seen in no step
    with torch.no_grad():
        together = model(ids)
        alone = _one_by_one(model, ids)
    agree = all(
        torch.allclose(a[ids != 0], b[ids != 0], atol=1e-3)
        for a, b in zip(alone, together, strict=True)
    )
    return ids, *alone, agree


def _one_by_one(model, ids):
    """Ask for each sequence alone, as the untrained model was asked."""
    found = [model(row[None]) for row in ids]
    return [torch.cat(parts) for parts in zip(*found, strict=True)]


def _copied(CopyModel, copy_loss):
    ids, log_odds, _, agree = once(_trained, CopyModel)
    share = (log_odds.argmax(-1) == ids)[ids != 0].double().mean()
    return {
        "a sequence is copied alike alone and in a large batch": agree,
        "at least 99.5 % of the tokens are right": bool(share >= 0.995),
        "at least half of the tokens are right": bool(share >= 0.5),
    }


COPIES = Check(
    "after 250 steps it copies at least 99.5 % of the tokens of unseen sequences",
    1,
    ask=_copied,
    expected=lambda: {
        "a sequence is copied alike alone and in a large batch": True,
        "at least 99.5 % of the tokens are right": True,
        "at least half of the tokens are right": True,
    },
    once=True,
    mistakes=(
        Mistake(
            "another answer in company",
            "The same sequence gets other log-odds or weights when it comes alone than "
            "in a batch of many. A sequence has nothing to do with the others of its "
            "batch.",
            when=fact("a sequence is copied alike alone and in a large batch", False),
            read=PADDING,
        ),
        Mistake(
            "does not learn to copy",
            "Fewer than half of the tokens are right. Follow one symbol through the "
            "model: from its embedding to the values, by way of the weights to the "
            "output. Where does it get lost? And how does a place say which one it "
            "wants?",
            when=fact("at least half of the tokens are right", False),
            read=MAPS,
        ),
        Mistake(
            "copies with errors",
            "Most tokens are right, but fewer than 99.5 %. The model blurs something: "
            "which place is asked for, or which symbol is found there. Have both "
            "enough room?",
            when=fact("at least 99.5 % of the tokens are right", False),
            read=MAPS,
        ),
    ),
)


def _diagonal(CopyModel, copy_loss):
    ids, _, weights, _ = once(_trained, CopyModel)
    diagonal = weights.diagonal(dim1=-2, dim2=-1)[ids != 0].mean()
    highest = weights.argmax(-1) == torch.arange(ids.shape[1])
    off_by = (weights.argmax(-1) - torch.arange(ids.shape[1]))[ids != 0].double()
    return {
        "the diagonal has at least half of the weight": bool(diagonal >= 0.5),
        "a place looks at itself most, in 99 % of the cases": bool(
            highest[ids != 0].double().mean() >= 0.99
        ),
        "most places look elsewhere": bool((off_by != 0).double().mean() > 0.5),
    }


DIAGONAL = Check(
    "its attention lies on the diagonal: each place looks where its symbol stands",
    1,
    ask=_diagonal,
    expected=lambda: {
        "the diagonal has at least half of the weight": True,
        "a place looks at itself most, in 99 % of the cases": True,
        "most places look elsewhere": False,
    },
    once=True,
    mistakes=(
        Mistake(
            "copies without attention",
            "Most places look elsewhere than at their symbol. If the copies are right "
            "all the same, the symbol reaches the output by another way than through "
            "the weights: over a connection that goes round the attention, or as part "
            "of the query.",
            when=fact("most places look elsewhere", True),
            read=MAPS,
        ),
        Mistake(
            "attention beside the diagonal",
            "Much of the attention lies beside the diagonal. Either the symbol is "
            "found in other places too, or neighbouring places cannot be told apart.",
            when=lambda seen, expected, inputs: len(seen) == len(expected),
            read=MAPS,
        ),
    ),
)

COPYING = Task(
    name="copying",
    title="A model that copies",
    names=("CopyModel", "copy_loss"),
    difficulty="hard",
    minutes=30,
    needs=("masks", "masked"),
    checks=(LOSS, STRUCTURE, COPIES, DIAGONAL),
)
