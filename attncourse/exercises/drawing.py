"""Draw the inputs of probes: the same on every machine."""

import torch


def numbers(generator: torch.Generator, *shape: int, most: float = 2.0) -> torch.Tensor:
    """Draw float32 numbers between -most and most, none of them 0.

    They are multiples of ``most / 256``: with 2 and less, exact in half precision.
    """
    drawn = torch.randint(1, 257, shape, generator=generator)
    signs = 2 * torch.randint(0, 2, shape, generator=generator) - 1
    return (drawn * signs).float() * (most / 256)


def whole(generator: torch.Generator, low: int, high: int, *shape: int):
    """Draw a whole number from `low` to `high`, both included, or an int64 tensor."""
    drawn = torch.randint(low, high + 1, shape or (1,), generator=generator)
    return drawn if shape else int(drawn)


def one_of(generator: torch.Generator, *options):
    """Return an option; the notebook's three seeds take them in turn."""
    return options[generator.initial_seed() % len(options)]


def sizes(generator: torch.Generator, count: int, low: int = 2, high: int = 7):
    """Draw `count` sizes that all differ, so that no axes can be confused."""
    return (torch.randperm(high - low + 1, generator=generator)[:count] + low).tolist()
