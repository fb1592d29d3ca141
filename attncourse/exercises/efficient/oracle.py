"""Slow answers to exercise 5, right and wrong, for its checks to compare with."""

import math

import torch

CHAPTER = "chapters/08_efficient_attention"
WINDOW = f"{CHAPTER}#what-if-a-token-sees-only-its-neighbours"
FAULTS = f"{CHAPTER}#three-faults-at-the-edges"
BLOCKS = f"{CHAPTER}#how-is-only-the-band-computed"
NO_SAVING = f"{CHAPTER}#a-fault-the-window-that-saves-nothing"


def size(generator, low, high):
    """Draw a whole number from `low` to `high`, both included."""
    return torch.randint(low, high + 1, (), generator=generator).item()


def tensors(generator, *shape, width=2, width_of_values=None):
    """Draw query, key and value, ``(*shape, width)``, with scores that differ."""
    draw = [torch.randn(*shape, width, generator=generator) for _ in range(2)]
    wide = width_of_values or width
    return {
        "query": 1.5 * draw[0],
        "key": draw[1],
        "value": 2 * torch.randn(*shape, wide, generator=generator),
    }


def distance(tokens):
    """Return position of the query − position of the key, (tokens, tokens)."""
    place = torch.arange(tokens)
    return place[:, None] - place


def band(tokens, back, ahead=0):
    """Return the mask of the keys at most `back` behind and `ahead` before a query."""
    behind = distance(tokens)
    return (behind <= back) & (behind >= -ahead)


def window_mask(tokens, window, causal):
    """Return the mask of local attention, (tokens, tokens)."""
    return band(tokens, window - 1 if causal else window, 0 if causal else window)


def attend(query, key, value, mask, scale=None):
    """Return attention with a mask, written out, in double precision."""
    query, key, value = (x.double() for x in (query, key, value))
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    scores = (scale * query @ key.mT).masked_fill(~mask, -math.inf)
    return (scores.softmax(-1) @ value).float()


def on_padding(query, key, value, mask_of, before, after):
    """Return `attend` where zeros around the keys take part.

    `mask_of` takes query − key and returns the mask.
    """
    tokens = query.shape[-2]
    i, j = torch.arange(tokens)[:, None], torch.arange(-before, tokens + after)
    pad = torch.nn.functional.pad
    key, value = (pad(x, (0, 0, before, after)) for x in (key, value))
    return attend(query, key, value, mask_of(i - j))


def slopes(output, query, key, value, upstream):
    """Return the gradients of ``sum(output · upstream)``; zeros where there is none."""
    inputs = {"of query": query, "of key": key, "of value": value}
    if not output.requires_grad:
        return {name: torch.zeros_like(x) for name, x in inputs.items()}
    found = torch.autograd.grad(
        (output * upstream).sum(), inputs.values(), allow_unused=True
    )
    return {
        name: torch.zeros_like(x) if grad is None else grad
        for (name, x), grad in zip(inputs.items(), found, strict=True)
    }
