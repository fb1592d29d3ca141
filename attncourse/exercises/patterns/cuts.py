"""Ways to switch off a head: the right one, and those that switch off something else.

Each takes the inputs of a check and returns the logits of its model.
"""

from __future__ import annotations

import torch

from attncourse.exercises.patterns.models import decoder_only
from attncourse.exercises.seen import describe, same


@torch.no_grad()
def without(seed, layers, heads, tokens, layer, head):
    """Return the logits without one head, by the model's own switch."""
    return without_several(seed, layers, heads, tokens, [(layer, head)])


def without_several(seed, layers, heads, tokens, off):
    """Return the logits without several heads."""
    model = decoder_only(seed, layers, heads)
    active = torch.ones(layers, heads, dtype=torch.bool)
    for layer, head in off:
        active[layer, head] = False
    with torch.no_grad():
        return model(tokens, active_heads=active)


def whole_layer(seed, layers, heads, tokens, layer, head):
    """Switch off every head of the layer."""
    off = [(layer, h) for h in range(heads)]
    return without_several(seed, layers, heads, tokens, off)


def every_layer(seed, layers, heads, tokens, layer, head):
    """Switch off the head of this number in every layer."""
    off = [(each, head) for each in range(layers)]
    return without_several(seed, layers, heads, tokens, off)


def only_this(seed, layers, heads, tokens, layer, head):
    """Switch off all heads of the layer but this one."""
    off = [(layer, h) for h in range(heads) if h != head]
    return without_several(seed, layers, heads, tokens, off)


def swapped(seed, layers, heads, tokens, layer, head):
    """Exchange layer and head."""
    return without_several(seed, layers, heads, tokens, [(head, layer)])


def changed_by(change):
    """Return logits where the layer's attention output is changed by a hook."""

    def wrong(seed, layers, heads, tokens, layer, head):
        model = decoder_only(seed, layers, heads)
        attention = model.layers[layer].attention
        own = slice(4 * head, 4 * head + 4)
        with torch.no_grad():
            change(attention, own, heads, head)
            return model(tokens)

    return wrong


def one_of(candidates):
    """Return a `when`: the numbers that heads hand over have been changed like this.

    Parameters
    ----------
    candidates : callable
        ``candidates(own, width)`` yields functions of these numbers, side by side, and
        of the slice that is the head's own; they return the changed numbers.
    """

    def when(seen, expected, inputs):
        heads, head = inputs["heads"], inputs["head"]
        for change in candidates(slice(4 * head, 4 * head + 4), 4 * heads):
            logits = changed_by(_handed_over(change))(**inputs)
            if same(seen["result"], describe(logits), tolerance=6e-3):
                return True
        return False

    return when


def _handed_over(change):
    def hook(attention, own, heads, head):
        attention.output_proj.register_forward_pre_hook(
            lambda module, inputs: (change(inputs[0], own),)
        )

    return hook


def mixed_output(attention, own, heads, head):
    """Clear numbers behind the output projection."""

    def zero(_, inputs, output):
        read = output[0].clone()
        read[..., own] = 0
        return read, output[1]

    attention.register_forward_hook(zero)


def interleaved(attention, own, heads, head):
    """Clear every so-manieth column of the output projection."""
    attention.output_proj.weight[:, head::heads] = 0


def rows_for_columns(attention, own, heads, head):
    """Clear rows of the output projection."""
    attention.output_proj.weight[own] = 0


def value_bias_left(attention, own, heads, head):
    """Clear the matrix of the values, but not its bias."""
    attention.value_proj.weight[own] = 0


def queries_zeroed(attention, own, heads, head):
    """Let the head look everywhere alike."""
    attention.query_proj.weight[own] = 0
    attention.query_proj.bias[own] = 0


def query_weight_zeroed(attention, own, heads, head):
    """Clear the matrix of the queries."""
    attention.query_proj.weight[own] = 0


def unchanged(seed, layers, heads, tokens, layer, head):
    """Return the logits of the whole model."""
    return without_several(seed, layers, heads, tokens, [])
