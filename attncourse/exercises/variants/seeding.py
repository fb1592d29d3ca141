"""Which seed gave the weights that the models of an experiment start from."""

from __future__ import annotations

import torch


def first_weight():
    """Draw the first weight of a model."""
    return float(torch.randint(10**6, ()))  # whole: rounding leaves it as it is


def weight_of(seed):
    """Return the first weight that a seed gives."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return first_weight()


def moved_by_variant(seen, inputs):
    """Say whether the place of the variant, or a multiple of it, is added to a seed."""
    ours, count = seen["first weights"].values, len(inputs["names"])
    return any(
        ours.tolist()
        == [
            weight_of(seed + step * (place + first))
            for place in range(count)
            for seed in inputs["seeds"]
        ]
        for step in (1, 10, 100, 1000)
        for first in (0, 1)
    )


def seeded_late(seen, expected):
    """Say whether each model starts from what the seed before its own gives."""
    ours, wanted = (part["first weights"].values for part in (seen, expected))
    known = (ours[:, None] == wanted[None]).any(axis=1)
    return known.sum() == len(ours) - 1 and bool((ours != wanted).any())


def seeds_counted(seen, inputs):
    """Say whether the seeds are 0, 1, 2, ... and not those of the list."""
    ours = seen["first weights"].values
    with torch.random.fork_rng(devices=[]):
        row = [torch.manual_seed(i) and first_weight() for i in range(len(ours))]
    wanted = row[: len(inputs["seeds"])] * len(inputs["names"])
    return ours.shape == (len(wanted),) and bool((ours == wanted).all())


def unseeded(seen, expected):
    """Say whether no model starts from what its seed gives."""
    ours, wanted = (part["first weights"].values for part in (seen, expected))
    return bool((ours[:, None] != wanted[None]).all())


def differ_within_seeds(seen):
    """Say whether variants of one seed start from different weights."""
    table = seen["first weights"].values.reshape(seen["first weights"].shape)
    return bool((table != table[:1]).any())
