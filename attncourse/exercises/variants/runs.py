"""Measures of variants that ran with the same seeds."""

from __future__ import annotations

import torch


def runs_of_one(generator):
    """Draw the runs of one variant."""
    count = torch.randint(3, 7, (), generator=generator).item()
    values = 95 + 2 * torch.randn(count, generator=generator)
    return {"values": [round(v, 2) for v in values.tolist()]}


def paired(generator):
    """Draw runs of two variants: better, worse, open (thrice), in an order drawn.

    Seeds move both variants together, so that their intervals overlap although their
    differences are clear.
    """
    count = torch.randint(4, 7, (), generator=generator).item()
    first, second = [], []
    order = torch.randperm(5, generator=generator).tolist()
    for kind in order:
        seed = 2 * torch.randn(count, generator=generator)
        seed = seed - seed.mean() + torch.linspace(-2, 2, count)
        noise = 0.1 * torch.rand(count, generator=generator)
        swing = torch.linspace(-1.5, 2.5, count)[
            torch.randperm(count, generator=generator)
        ]
        # Open, but clear once both are sorted: other seeds stand side by side then.
        moved = seed.roll(count // 2) - seed + 0.5
        # Ahead with every seed, but by how much is anybody's guess: open as well.
        uneven = 0.05 + noise
        uneven[-1] += 4
        difference = (0.8 + noise, -0.8 - noise, swing, moved, uneven)[kind]
        base = seed + (-95 if kind in (0, 3) else 95)
        first.append(_two_places(base + difference))
        second.append(_two_places(base))
    return {"first": first, "second": second}


def _two_places(values):
    return [round(v, 2) for v in values.tolist()]
