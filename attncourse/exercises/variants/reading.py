"""Task attend: from scores to a context, without the padding."""

from __future__ import annotations

import torch
from torch import nn

from attncourse.exercises.judge import once
from attncourse.exercises.seen import near
from attncourse.exercises.task import Check, Mistake, Task
from attncourse.exercises.variants.formulas import product
from attncourse.exercises.variants.translator import Translator, fit, small_corpus
from attncourse.training.metrics import bleu
from attncourse.training.translation import translate

SOFTMAX = "chapters/02_attention_types#attention-between-two-sequences"
PADDING = "chapters/02_attention_types#three-faults-of-the-usual-code"
WIDTH, STEPS, ENOUGH = 48, 250, 80


class Product(nn.Module):
    """A score that is given: dot products, times a number that can be learnt."""

    def __init__(self):
        super().__init__()
        self.factor = nn.Parameter(torch.ones(()))

    def forward(self, query, key):
        """Return (batch, queries, keys) scores."""
        return self.factor * product(query, key)


def _states(generator):
    width, keys = (
        torch.randint(low, low + 2, (), generator=generator).item() for low in (2, 4)
    )
    return {
        "memory": torch.randn(2, keys, width, generator=generator),
        "states": torch.randn(2, 3, width, generator=generator),
        "mask": torch.ones(2, keys, dtype=torch.bool),
    }


def _padded_states(generator):
    drawn = _states(generator)
    keys = drawn["mask"].shape[1]
    lengths = torch.tensor([[keys - 2], [keys - 1]])
    return {**drawn, "mask": torch.arange(keys)[None] < lengths}


def _ask(Attention, memory, states, mask):
    result = Attention(Product())(memory, states, mask)
    if torch.is_tensor(result):
        return "one result"
    context, weights = result
    return {"weights": weights, "context": context}


def _read(weights, memory):
    return {"weights": weights, "context": weights @ memory}


def _right(memory, states, mask):
    scores = product(states, memory).masked_fill(~mask[:, None], -torch.inf)
    return _read(scores.softmax(dim=-1), memory)


def _unmasked(memory, states, mask, axis=-1):
    return _read(product(states, memory).softmax(dim=axis), memory)


def _inverted(memory, states, mask):
    return _right(memory, states, ~mask)


def _after(memory, states, mask):
    weights = product(states, memory).softmax(dim=-1)
    return _read(weights * mask[:, None], memory)


def _times_mask(memory, states, mask):
    scores = product(states, memory) * mask[:, None]
    return _read(scores.softmax(dim=-1), memory)


def _plus_mask(memory, states, mask):
    scores = product(states, memory) + mask[:, None]
    return _read(scores.softmax(dim=-1), memory)


def _exchanged(memory, states, mask):
    right = _right(memory, states, mask)
    return {"weights": right["context"], "context": right["weights"]}


def _learns(Attention):
    """Train a translator with the answer; say what it learnt."""
    torch.manual_seed(0)
    attention = Attention(Product())
    memory, states = torch.randn(2, 5, 3), torch.randn(2, 4, 3)
    mask = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    context = attention(memory, states, mask)[0]
    right = _right(memory, states, mask)
    if not torch.allclose(context.float(), right["context"], atol=1e-4):
        return {"the gradient reaches the score": True, "it translates": False}
    found = {"the gradient reaches the score": False, "it translates": False}
    if context.requires_grad:
        context.square().sum().backward()
        gradient = attention.score.factor.grad
        found["the gradient reaches the score"] = bool(
            gradient is not None and gradient.abs() > 0
        )
    if found["the gradient reaches the score"]:
        found["it translates"] = once(_quality, Attention) >= ENOUGH
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
    return seen["the gradient reaches the score"].values[0] == 0


def _not_trained(seen, expected, inputs):
    return seen["it translates"].values[0] == 0


ATTEND = Task(
    name="attend",
    title="From scores to a context",
    names=("Attention",),
    difficulty="medium",
    minutes=15,
    checks=(
        Check(
            "every state gets a weighted mean of the memory",
            1,
            inputs=_states,
            ask=_ask,
            expected=_right,
            pure=True,
            mistakes=(
                Mistake(
                    "softmax over the queries",
                    "The columns of the weights sum to 1, not the rows. A state shares "
                    "out its attention among the words of the source: the softmax runs "
                    "along a row.",
                    wrong=lambda **given: _unmasked(**given, axis=1),
                    read=SOFTMAX,
                ),
                Mistake(
                    "softmax over the batch",
                    "The weights of different sentences sum to 1. Over which axis does "
                    "the softmax run?",
                    wrong=lambda **given: _unmasked(**given, axis=0),
                    read=SOFTMAX,
                ),
                Mistake(
                    "only one result",
                    "One tensor is returned. Two are asked for: the context and the "
                    "weights, in this order.",
                    when=lambda seen, expected, inputs: (
                        seen["result"].text == "one result"
                    ),
                ),
                Mistake(
                    "the states are summed",
                    "The context has a row for each word of the *source*. A state "
                    "asks, and it reads the memory: one context for each state.",
                    when=lambda seen, expected, inputs: (
                        seen["context"].shape == inputs["memory"].shape
                        and seen["weights"].shape == expected["weights"].shape
                    ),
                    read=SOFTMAX,
                ),
                Mistake(
                    "no softmax",
                    "The rows do not sum to 1: these are the scores themselves.",
                    wrong=lambda memory, states, mask: _read(
                        product(states, memory), memory
                    ),
                    read=SOFTMAX,
                ),
                Mistake(
                    "weights and context exchanged",
                    "The weights come first and the context second. The translator "
                    "expects the context first.",
                    wrong=_exchanged,
                    read=SOFTMAX,
                ),
                Mistake(
                    "the winner takes all",
                    "Each state reads one word only, the one with the highest score. "
                    "A softmax shares out, and lets gradients flow to all scores.",
                    wrong=lambda memory, states, mask: _read(
                        (
                            product(states, memory)
                            == product(states, memory).amax(-1, keepdim=True)
                        ).float(),
                        memory,
                    ),
                    read=SOFTMAX,
                ),
                Mistake(
                    "sum for mean",
                    "The context does not change with the weights: the memory is added "
                    "up evenly.",
                    wrong=lambda memory, states, mask: {
                        "weights": _right(memory, states, mask)["weights"],
                        "context": memory.mean(dim=1, keepdim=True).expand_as(states),
                    },
                    read=SOFTMAX,
                ),
                Mistake(
                    "shapes that do not line up",
                    "Two shapes do not line up. The scores should be (batch, target, "
                    "source): the states ask, so the score module takes them first and "
                    "the memory second. And a mask of (batch, source) needs an axis "
                    "for the target words before it fits.",
                    when=lambda seen, expected, inputs: (
                        seen["result"].kind == "error"
                        and any(
                            words in seen["result"].text
                            for words in ("must match", "broadcast", "bmm", "batch2")
                        )
                    ),
                    read=SOFTMAX,
                ),
                Mistake(
                    "inverted mask",
                    "Where there is a word, the mask is True. This answer hides what "
                    "is True; here that is everything.",
                    when=lambda seen, expected, inputs: bool(
                        (seen["weights"].values != seen["weights"].values).all()
                    ),
                    read=PADDING,
                ),
            ),
        ),
        Check(
            "padding gets no weight, and the words share all of it",
            1,
            inputs=_padded_states,
            ask=_ask,
            expected=_right,
            pure=True,
            mistakes=(
                Mistake(
                    "no mask",
                    "Padding gets weight, as if it were a word. The translation of a "
                    "short sentence then depends on how long the others of its batch "
                    "are.",
                    wrong=_unmasked,
                    read=PADDING,
                ),
                Mistake(
                    "inverted mask",
                    "All the weight lies on the padding. Where there is a word, the "
                    "mask is True.",
                    wrong=_inverted,
                    read=PADDING,
                ),
                Mistake(
                    "one sentence's mask for all",
                    "Every sentence gets the mask of the first. Sentences differ in "
                    "length, and each has a row of the mask.",
                    wrong=lambda memory, states, mask: _right(
                        memory, states, mask[:1].expand_as(mask)
                    ),
                    read=PADDING,
                ),
                Mistake(
                    "mask after softmax",
                    "Padding has no weight, but the words share less than 1: what the "
                    "padding had got is lost. Hide the padding before shares are made.",
                    wrong=_after,
                    read=PADDING,
                ),
                Mistake(
                    "zero hides nothing",
                    "The scores of the padding are set to zero. Zero is a score like "
                    "any other, and larger than every negative one.",
                    wrong=_times_mask,
                    read=PADDING,
                ),
                Mistake(
                    "mask added",
                    "True and False are added to the scores as 1 and 0. That lowers "
                    "the padding by 1 and hides nothing.",
                    wrong=_plus_mask,
                    read=PADDING,
                ),
                Mistake(
                    "softmax over the queries",
                    "The columns of the weights sum to 1, not the rows.",
                    when=lambda seen, expected, inputs: _columns_sum_to_one(seen),
                    read=SOFTMAX,
                ),
                Mistake(
                    "only the context is masked",
                    "The context is right, but the weights that are returned still lie "
                    "on the padding. A picture of them would show what was not read.",
                    when=lambda seen, expected, inputs: near(
                        seen["context"].values, expected["context"].values
                    ),
                    read=PADDING,
                ),
            ),
        ),
        Check(
            f"a translator that uses it learns: BLEU of at least {ENOUGH}",
            1,
            ask=_learns,
            expected=lambda: {
                "the gradient reaches the score": True,
                "it translates": True,
            },
            mistakes=(
                Mistake(
                    "no gradient",
                    "No gradient reaches the score, so it cannot learn. Does the code "
                    "use detach, no_grad, .data or a detour through NumPy?",
                    when=_stopped,
                    read=SOFTMAX,
                ),
                Mistake(
                    "kept from another call",
                    "The second call goes on with what the first has computed. Weights "
                    "belong to the states of this call: nothing may be kept.",
                    when=lambda seen, expected, inputs: (
                        "second time" in seen["result"].text
                    ),
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
        ),
    ),
)


def _columns_sum_to_one(seen):
    weights = seen["weights"].values.reshape(seen["weights"].shape)
    return near(weights.sum(axis=1), 1, digits=1)
