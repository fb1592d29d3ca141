"""Task 2.8: whether the model needs a head."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from attncourse.exercises.patterns.cut_mistakes import CUT, INSIDE, NEED
from attncourse.exercises.patterns.cuts import unchanged, without
from attncourse.exercises.patterns.models import decoder_only, draw
from attncourse.exercises.task import Check, Mistake, Task


def next_loss(model, tokens):
    """Return the loss of guessing each next token."""
    logits = model(tokens[:, :-1]).flatten(0, 1)
    return F.cross_entropy(logits, tokens[:, 1:].flatten())


def _inputs(generator):
    layers, heads = (2, 3) if draw(generator, 0, 1) else (3, 2)
    return {
        "seed": draw(generator, 0, 999),
        "layers": layers,
        "heads": heads,
        "tokens": torch.randint(5, (2, 4), generator=generator),
        "layer": draw(generator, 0, 1),
        "head": draw(generator, 0, 1),
    }


def _different_places(generator):
    drawn = _inputs(generator)
    drawn["head"] = 1 - drawn["layer"]
    return drawn


def _inside(ablated, rise, seed, layers, heads, tokens, layer, head):
    model = decoder_only(seed, layers, heads)
    with ablated(model, layer, head):
        logits = model(tokens)
        weight = model.layers[layer].attention.value_proj.weight
        others = torch.arange(heads).repeat_interleave(len(weight) // heads) != head
        slopes = _slopes(logits, weight)[others]
        with torch.no_grad():  # do the other heads matter?
            weight[others] *= 2
            changed = not torch.equal(model(tokens), logits)
            weight[others] /= 2
    return CUT if changed and not slopes.any() else logits.detach()


def _slopes(logits, weight):
    """Return the gradient of a weight, or zeros if none comes back."""
    if not logits.requires_grad:
        return torch.zeros_like(weight)
    total = logits.square().sum()
    found = torch.autograd.grad(total, weight, allow_unused=True)[0]
    return torch.zeros_like(weight) if found is None else found


def _hooks(model):
    return sum(
        len(module._forward_hooks) + len(module._forward_pre_hooks)
        for module in model.modules()
    )


class _Interruption(Exception):
    """What ends the block in a check."""


@torch.no_grad()
def _afterwards(ablated, rise, seed, layers, heads, tokens, layer, head):
    seen = {}
    for ending in ("after the block", "after an error in the block"):
        model = decoder_only(seed, layers, heads).train()
        state = {k: v.clone() for k, v in model.state_dict().items()}
        before = model(tokens)  # it has no dropout
        try:
            with ablated(model, layer, head):
                if ending == "after an error in the block":
                    raise _Interruption
        except _Interruption:
            pass
        seen[f"same logits {ending}"] = torch.equal(model(tokens), before)
        seen[f"hooks left {ending}"] = _hooks(model)
        now = model.state_dict()
        seen[f"same parameters {ending}"] = now.keys() == state.keys() and all(
            torch.equal(now[key], state[key]) for key in state
        )
        seen[f"same mode {ending}"] = all(m.training for m in model.modules())
    return seen


def _untouched(**inputs):
    seen = {}
    for ending in ("after the block", "after an error in the block"):
        seen[f"same logits {ending}"] = True
        seen[f"hooks left {ending}"] = 0
        seen[f"same parameters {ending}"] = True
        seen[f"same mode {ending}"] = True
    return seen


def _spoilt(*parts):
    """Return a `when`: one of the parts is not as it was, after a block without error.

    Parameters
    ----------
    *parts : str
        How the parts' names begin.
    """

    def when(seen, expected, inputs):
        return any(
            seen[f"{part} after the block"].values[0]
            != expected[f"{part} after the block"].values[0]
            for part in parts
        )

    return when


def _spoilt_by_error(seen, expected, inputs):
    plain = [k for k in expected if k.endswith("after the block")]
    return all(seen[k].values[0] == expected[k].values[0] for k in plain)


def _loss(logits, tokens):
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())


def _rise(ablated, rise, seed, layers, heads, tokens, layer, head):
    model = decoder_only(seed, layers, heads)
    found = rise(model, tokens, layer, head, next_loss)
    return {
        "rise": float(torch.as_tensor(found).detach()),
        "hooks left": _hooks(model),
    }


def _losses(tokens, **inputs):
    with_head = _loss(unchanged(tokens=tokens, **inputs), tokens)
    return with_head, _loss(without(tokens=tokens, **inputs), tokens)


def _of_losses(combine):
    return lambda **inputs: {
        "rise": float(combine(*_losses(**inputs))),
        "hooks left": 0,
    }


def _clear_rise(generator):
    """Draw until the head matters, so that no mistake hides in a rise near zero."""
    sign = 1 - 2 * draw(generator, 0, 1)
    while True:
        drawn = _different_places(generator)
        before, after = _losses(**drawn)
        if sign * (after - before) > 0.1:
            return drawn


ABLATION = Task(
    name="ablation",
    title="Does the model need this head?",
    names=("ablated", "rise"),
    difficulty="hard",
    minutes=25,
    checks=(
        Check(
            "inside the block this head adds nothing, and all others work as before",
            1,
            gradients=True,
            inputs=_different_places,
            ask=_inside,
            expected=without,
            mistakes=INSIDE,
        ),
        Check(
            "after the block the model is as it was, even if the block ends in an "
            "error",
            1,
            inputs=_different_places,
            ask=_afterwards,
            expected=_untouched,
            mistakes=(
                Mistake(
                    "hook left behind",
                    "After the block a hook is still on the model. All that is "
                    "measured from then on is measured without the head, and the next "
                    "ablation comes on top.",
                    when=_spoilt("hooks left"),
                    read=NEED,
                ),
                Mistake(
                    "parameters changed for good",
                    "After the block the model has other parameters than before. "
                    "What was overwritten has to be kept and put back.",
                    when=_spoilt("same parameters"),
                    read=NEED,
                ),
                Mistake(
                    "mode not put back",
                    "The model went in in training mode and comes out in evaluation "
                    "mode. To switch a head off, the mode need not change.",
                    when=_spoilt("same mode"),
                    read="chapters/03_multi_head#the-layer-you-would-use",
                ),
                Mistake(
                    "still ablated afterwards",
                    "After the block the model still gives the logits without the "
                    "head.",
                    when=_spoilt("same logits"),
                    read=NEED,
                ),
                Mistake(
                    "not undone after an error",
                    "All is well as long as nothing goes wrong in the block. If it "
                    "ends in an error, or is interrupted, the model stays changed. "
                    "Python has a statement for what must happen in any case.",
                    when=_spoilt_by_error,
                    read=NEED,
                ),
            ),
        ),
        Check(
            "`rise`: by how much the loss rises when the head is off",
            1,
            inputs=_clear_rise,
            ask=_rise,
            expected=_of_losses(lambda before, after: after - before),
            mistakes=(
                Mistake(
                    "a size without a sign",
                    "The sign is missing. There are heads without which a model does "
                    "*better*; for these the rise is negative.",
                    wrong=_of_losses(lambda before, after: abs(after - before)),
                    read=NEED,
                ),
                Mistake(
                    "sign reversed",
                    "The sign is reversed: a head that the model needs should get a "
                    "positive number.",
                    wrong=_of_losses(lambda before, after: before - after),
                    read=NEED,
                ),
                Mistake(
                    "the loss, not its rise",
                    "This is the loss without the head. Without the loss *with* it, "
                    "nobody can say whether that is much.",
                    wrong=_of_losses(lambda before, after: after),
                    read=NEED,
                ),
                Mistake(
                    "a ratio",
                    "This is the ratio of the two losses. Asked for is the "
                    "difference, in nats.",
                    wrong=_of_losses(lambda before, after: after / before),
                    read=NEED,
                ),
                Mistake(
                    "a share of the loss",
                    "The rise has been divided by a loss. Asked for is the rise "
                    "itself, in nats.",
                    wrong=_of_losses(lambda before, after: (after - before) / before),
                    read=NEED,
                ),
                Mistake(
                    "a share of the loss",
                    "The rise has been divided by a loss. Asked for is the rise "
                    "itself, in nats.",
                    wrong=_of_losses(lambda before, after: (after - before) / after),
                    read=NEED,
                ),
                Mistake(
                    "the loss of the whole model",
                    "This is the loss *with* the head. By how much does it rise "
                    "without?",
                    wrong=_of_losses(lambda before, after: before),
                    read=NEED,
                ),
                Mistake(
                    "logarithms of the losses",
                    "The difference of the logarithms has been taken. The losses are "
                    "in nats already.",
                    wrong=_of_losses(lambda before, after: (after / before).log()),
                    read=NEED,
                ),
                Mistake(
                    "always zero",
                    "The rise is zero whatever the head: both losses have been "
                    "measured in the same state of the model.",
                    wrong=_of_losses(lambda before, after: 0.0),
                    read=NEED,
                ),
            ),
        ),
    ),
)
