"""Task attend: from scores to a context, without the padding."""

from __future__ import annotations

from functools import partial

import torch

from attncourse.exercises.seen import near
from attncourse.exercises.task import Check, Mistake, Task
from attncourse.exercises.variants.contexts import (
    after,
    exchanged,
    inverted,
    padding_zeroed,
    plus_mask,
    read,
    read_from,
    right,
    times_mask,
    unmasked,
)
from attncourse.exercises.variants.formulas import product
from attncourse.exercises.variants.learning import LEARNS, PADDING, SOFTMAX, Product


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


def _scaled_again(memory, states, mask, power):
    return right(memory, states, mask, factor=memory.shape[-1] ** power)


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
            expected=right,
            pure=True,
            mistakes=(
                Mistake(
                    "softmax over the queries",
                    "The columns of the weights sum to 1, not the rows. A state shares "
                    "out its attention among the words of the source: the softmax runs "
                    "along a row.",
                    wrong=lambda **given: unmasked(**given, axis=1),
                    read=SOFTMAX,
                ),
                Mistake(
                    "softmax over the batch",
                    "The weights of different sentences sum to 1. Over which axis does "
                    "the softmax run?",
                    wrong=lambda **given: unmasked(**given, axis=0),
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
                    wrong=lambda memory, states, mask: read(
                        product(states, memory), memory
                    ),
                    read=SOFTMAX,
                ),
                Mistake(
                    "weights and context exchanged",
                    "The weights come first and the context second. The translator "
                    "expects the context first.",
                    wrong=exchanged,
                    read=SOFTMAX,
                ),
                Mistake(
                    "the winner takes all",
                    "Each state reads one word only, the one with the highest score. "
                    "A softmax shares out, and lets gradients flow to all scores.",
                    wrong=lambda memory, states, mask: read(
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
                        "weights": right(memory, states, mask)["weights"],
                        "context": memory.mean(dim=1, keepdim=True).expand_as(states),
                    },
                    read=SOFTMAX,
                ),
                *(
                    Mistake(
                        "scaled once more",
                        f"The scores have been {how} before the softmax. The score "
                        "module has made them as they should be: this module works "
                        "with any score.",
                        wrong=partial(_scaled_again, power=power),
                        read=SOFTMAX,
                    )
                    for how, power in (
                        ("divided by the root of the width", -0.5),
                        ("divided by the width", -1),
                        ("multiplied by the root of the width", 0.5),
                    )
                ),
                *(
                    Mistake(
                        "another memory read",
                        f"The weights are right, but the memory is read {how}.",
                        wrong=read_from(change),
                        read=SOFTMAX,
                    )
                    for how, change in (
                        ("in reverse", lambda memory: memory.flip(1)),
                        ("one place too early", lambda memory: memory.roll(1, 1)),
                        ("one place too late", lambda memory: memory.roll(-1, 1)),
                        ("from the other sentences", lambda memory: memory.roll(1, 0)),
                        ("through a tanh", torch.tanh),
                        (
                            "divided by the number of words: weights that sum to 1 "
                            "make a mean already",
                            lambda memory: memory / memory.shape[1],
                        ),
                    )
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
                    "everything hidden",
                    "The weights are no numbers. Is hidden what is True, which here is "
                    "everything? Where there is a word, the mask is True. Or is minus "
                    "infinity multiplied by the mask? Times 0 it is NaN, and not 0.",
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
            expected=right,
            pure=True,
            mistakes=(
                Mistake(
                    "no mask",
                    "Padding gets weight, as if it were a word. The translation of a "
                    "short sentence then depends on how long the others of its batch "
                    "are.",
                    wrong=unmasked,
                    read=PADDING,
                ),
                Mistake(
                    "inverted mask",
                    "All the weight lies on the padding. Where there is a word, the "
                    "mask is True.",
                    wrong=inverted,
                    read=PADDING,
                ),
                Mistake(
                    "one sentence's mask for all",
                    "Every sentence gets the mask of the first. Sentences differ in "
                    "length, and each has a row of the mask.",
                    wrong=lambda memory, states, mask: right(
                        memory, states, mask[:1].expand_as(mask)
                    ),
                    read=PADDING,
                ),
                Mistake(
                    "the memory cleared, nothing hidden",
                    "The memory of the padding has been set to zero, and its scores "
                    "with it. Zero is a score like any other: the padding still gets a "
                    "share, and the words share less than 1.",
                    wrong=padding_zeroed,
                    read=PADDING,
                ),
                Mistake(
                    "mask after softmax",
                    "Padding has no weight, but the words share less than 1: what the "
                    "padding had got is lost. Hide the padding before shares are made.",
                    wrong=after,
                    read=PADDING,
                ),
                Mistake(
                    "zero hides nothing",
                    "The scores of the padding are set to zero. Zero is a score like "
                    "any other, and larger than every negative one.",
                    wrong=times_mask,
                    read=PADDING,
                ),
                Mistake(
                    "mask added",
                    "True and False are added to the scores as 1 and 0. That lowers "
                    "the padding by 1 and hides nothing.",
                    wrong=plus_mask,
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
        LEARNS,
    ),
)


def _columns_sum_to_one(seen):
    weights = seen["weights"].values.reshape(seen["weights"].shape)
    return near(weights.sum(axis=1), 1, digits=1)
