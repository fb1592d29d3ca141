"""Task attend, the check that a translator learns with the answer."""

from __future__ import annotations

import torch
from torch import nn

from attncourse.exercises.judge import once
from attncourse.exercises.task import Check, Mistake
from attncourse.exercises.variants.contexts import right
from attncourse.exercises.variants.formulas import product
from attncourse.exercises.variants.translator import Translator, fit, small_corpus
from attncourse.training.metrics import bleu
from attncourse.training.translation import translate

SOFTMAX = "chapters/02_attention_types#attention-between-two-sequences"
PADDING = "chapters/02_attention_types#three-faults-of-the-usual-code"
WIDTH, STEPS, ENOUGH = 48, 250, 80


SCORE = "the gradient reaches the score"
WORDS = "memory and states have the right gradients"
TRANSLATES = "it translates"


class Product(nn.Module):
    """A score that is given: dot products, times a number that can be learnt."""

    def __init__(self):
        super().__init__()
        self.factor = nn.Parameter(torch.ones(()))

    def forward(self, query, key):
        """Return (batch, queries, keys) scores."""
        return self.factor * product(query, key)


def _learns(Attention):
    """Train a translator with the answer; say what it learnt."""
    torch.manual_seed(0)
    attention = Attention(Product())
    memory, states = (
        torch.randn(2, tokens, 3, requires_grad=True) for tokens in (5, 4)
    )
    mask = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    context = attention(memory, states, mask)[0]
    expected = right(memory, states, mask)["context"]
    if not torch.allclose(context.float(), expected, atol=1e-4):
        return {SCORE: True, WORDS: True, TRANSLATES: False}
    found = {SCORE: False, WORDS: False, TRANSLATES: False}
    if context.requires_grad:
        context.square().sum().backward()
        gradient = attention.score.factor.grad
        found[SCORE] = bool(gradient is not None and gradient.abs() > 0)
        found[WORDS] = all(
            x.grad is not None and torch.allclose(x.grad, slope, atol=1e-4)
            for x, slope in zip(
                (memory, states),
                torch.autograd.grad(expected.square().sum(), (memory, states)),
                strict=True,
            )
        )
    if found[SCORE] and found[WORDS]:
        found[TRANSLATES] = once(_quality, Attention) >= ENOUGH
    return found


def _quality(Attention):
    """Return the BLEU of a small translator that uses the answer."""
    corpus = small_corpus(words=60, max_len=8)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        sizes = len(corpus.source), len(corpus.target)
        model = Translator(*sizes, WIDTH, lambda: Attention(Product()))
        options = {"seed": 0, "steps": STEPS, "device": "cpu", "progress": False}
        fit(model, corpus.train, corpus, **options)
    words = corpus.source, corpus.target
    written = translate(model, [pair.source for pair in corpus.test], *words)
    return bleu(written, [list(pair.target) for pair in corpus.test])[0]


def _stopped(seen, expected, inputs):
    return seen[SCORE].values[0] == 0


def _cut_off(seen, expected, inputs):
    return seen[SCORE].values[0] == 1 and seen[WORDS].values[0] == 0


def _not_trained(seen, expected, inputs):
    return seen[TRANSLATES].values[0] == 0


LEARNS = Check(
    f"a translator that uses it learns: BLEU of at least {ENOUGH}",
    1,
    ask=_learns,
    expected=lambda: {SCORE: True, WORDS: True, TRANSLATES: True},
    mistakes=(
        Mistake(
            "no gradient",
            "No gradient reaches the score, so it cannot learn. Does the code "
            "use detach, no_grad, .data or a detour through NumPy?",
            when=_stopped,
            read=SOFTMAX,
        ),
        Mistake(
            "memory or states cut off",
            "The context is right and the score can learn, but memory or states get "
            "another gradient than theirs: one of the ways on which they are used is "
            "cut off. What encoder and decoder should learn does not arrive.",
            when=_cut_off,
            read=SOFTMAX,
        ),
        Mistake(
            "kept from another call",
            "The second call goes on with what the first has computed. Weights "
            "belong to the states of this call: nothing may be kept.",
            when=lambda seen, expected, inputs: "second time" in seen["result"].text,
        ),
        Mistake(
            "not trained",
            "A translator is trained with this module once the context is "
            "right, with padding too: see the checks above.",
            when=_not_trained,
            read=PADDING,
        ),
    ),
    once=True,
)
