"""Factors that are sizes of what was put in."""

from __future__ import annotations

import numpy as np

from attncourse.exercises.seen import near


def factor_by_size(what, pairs, inputs):
    """Name a factor that is, for each input, a size of this input or its root.

    Parameters
    ----------
    what : str
        What the numbers are, as a sentence begins with it.
    pairs : list of (numpy.ndarray, numpy.ndarray)
        For each failing input what came and what was expected.
    inputs : list of dict
        What was put in, in the same order.
    """
    factors = []
    for a, b in pairs:
        size = b.ravel() @ b.ravel()
        factor = a.ravel() @ b.ravel() / size if size else 0
        if a.size < 2 or factor <= 0 or not near(a, factor * b):
            return None
        factors.append(factor)
    sizes = [_sizes(given) for given in inputs]
    if len(set(np.round(factors, 2))) < 2 or not sizes:
        return None
    powers = {
        1: "",
        -1: "1 divided by ",
        0.5: "the root of ",
        -0.5: "1 by the root of ",
    }
    for label in sizes[0]:
        if not all(given.get(label, 0) > 0 for given in sizes):
            continue
        for power, words in powers.items():
            if np.allclose(factors, [g[label] ** power for g in sizes], rtol=0.04):
                return (
                    "a factor that is a size",
                    f"{what} is too large or too small by a factor, and the factor is "
                    f"{words}{label}.",
                )
    return None


def _sizes(given: dict) -> dict[str, float]:
    """Return the whole numbers among the inputs, and the sizes of their axes."""
    found = {}
    for name, value in given.items():
        if isinstance(value, int) and not isinstance(value, bool):
            found[f"`{name}`"] = value
        for axis, size in enumerate(getattr(value, "shape", ())):
            found[f"the size of axis {axis} of `{name}`"] = size
    return found
