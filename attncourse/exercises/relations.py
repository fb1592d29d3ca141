"""Find a simple relation between what came and what was expected, for any task.

A relation is named only if it holds on every input that failed. When in doubt this is
silent: a sentence less is better than one that is false.
"""

from __future__ import annotations

import numpy as np

CLOSE = {"atol": 2e-5, "rtol": 1e-4}
POWERS = {  # of a size that a factor may be
    1: "multiplied by {}",
    -1: "divided by {}",
    0.5: "multiplied by the square root of {}",
    -0.5: "divided by the square root of {}",
}


def relation(cases, name: str) -> str:
    """Return a sentence on how one returned value relates to the expected one, or "".

    `cases` are the inputs that failed, with what was expected and came, in one form.
    """
    pairs = []
    for case in cases:
        wanted, came = case.expected.values[name].data, case.came.values[name].data
        if wanted is None or came is None or wanted.shape != came.shape:
            return ""
        if not np.allclose(wanted.astype(float), came.astype(float), **CLOSE):
            pairs.append((wanted, came, case.inputs))
    pairs = [(w, c, inputs) for w, c, inputs in pairs if w.size]
    if not pairs:
        return ""
    it = "What came" if name == "result" else f"`{name}`"
    if pairs[0][0].dtype == bool:
        return _of_booleans(pairs, it)
    if not all(np.isfinite(w).all() and np.isfinite(c).all() for w, c, _ in pairs):
        return ""
    if all(_constant(w) or w.size < 3 for w, _, _ in pairs):
        return ""
    for find in (_constants, _factor, _offset, _moved, _sums, _slice):
        if said := find(pairs, it):
            return said
    return ""


def swapped_axes(cases, name: str) -> str:
    """Return a sentence if the values are right but stand with two axes exchanged."""
    pairs = [(c.expected.values[name].data, c.came.values[name].data) for c in cases]
    if any(w is None or c is None or w.shape == c.shape for w, c in pairs):
        return ""
    if axes := _exchanged(pairs):
        i, j = axes
        return f"These are the expected numbers, with the axes {i} and {j} exchanged."
    return ""


def _exchanged(pairs) -> tuple[int, int] | None:
    """Return the two axes that are exchanged in all pairs of wanted and came."""
    axes = {array.ndim for pair in pairs for array in pair}
    for i in range(max(axes) if len(axes) == 1 else 0):
        for j in range(i):
            swapped = [(np.swapaxes(wanted, i, j), came) for wanted, came in pairs]
            if all(w.shape == c.shape and _same(w, c) for w, c in swapped):
                return j, i
    return None


def _same(one, other) -> bool:
    return np.allclose(one.astype(float), other.astype(float), **CLOSE)


def _constant(data) -> bool:
    return data.size == 0 or bool(np.all(data == data.flat[0]))


def _of_booleans(pairs, it) -> str:
    if any(_constant(wanted) for wanted, _, _ in pairs):
        return ""
    if all(np.array_equal(came, ~wanted) for wanted, came, _ in pairs):
        return f"{it} has True and False exchanged."
    for word, value in (("True", True), ("False", False)):
        if all((came == value).all() for _, came, _ in pairs):
            return f"{it} is {word} everywhere."
    return _moved(pairs, it) or _one_way(pairs, it) or _slice(pairs, it)


def _one_way(pairs, it) -> str:
    if all((came >= wanted).all() for wanted, came, _ in pairs):
        return f"{it} is True in all the right places, and in others too."
    if all((came <= wanted).all() for wanted, came, _ in pairs):
        return f"{it} is False in all the right places, and in others too."
    return ""


def _constants(pairs, it) -> str:
    if all((came == 0).all() for _, came, _ in pairs):
        return f"{it} is 0 everywhere."
    if all(_constant(c) and not _constant(w) for w, c, _ in pairs):
        return f"{it} has the same number everywhere." if pairs[0][1].size > 1 else ""
    return ""


def _factor(pairs, it) -> str:
    factors = []
    for wanted, came, _ in pairs:
        if _constant(wanted) or abs(wanted).max() < 1e-6:
            return ""
        factor = float((wanted * came).sum() / np.square(wanted).sum())
        if abs(factor) < 1e-6 or not np.allclose(came, factor * wanted, **CLOSE):
            return ""
        factors.append(factor)
    if np.allclose(factors, -1, rtol=1e-4):
        return f"{it} has the opposite sign throughout."
    by_size = _size_behind(factors, [inputs for _, _, inputs in pairs])
    if by_size:
        return f"{it} is the expected value {by_size}."
    if len(factors) > 1 and np.allclose(factors, factors[0], rtol=1e-3):
        return f"{it} is {factors[0]:.4g} times the expected value throughout."
    return ""


def _size_behind(factors, all_inputs) -> str:
    """Say which size of an input a factor comes from, if exactly one explains it."""
    found = {}
    for name, thing in all_inputs[0].items():
        for axis in range(-len(getattr(thing, "shape", ())), 0):
            sizes = np.array([inputs[name].shape[axis] for inputs in all_inputs], float)
            for power, words in POWERS.items():
                if np.ptp(sizes) and np.allclose(factors, sizes**power, 1e-3):
                    found[words, tuple(sizes)] = axis, name
    if len(found) != 1:
        return ""
    (((words, _), (axis, name)),) = found.items()
    where = {-1: "the last axis", -2: "the last axis but one"}.get(axis, f"axis {axis}")
    return words.format(f"the size of {where} of `{name}`")


def _offset(pairs, it) -> str:
    offsets = [float((c - w).mean()) for w, c, _ in pairs]
    same = all(
        w.size > 2 and not _constant(w) and np.allclose(c - w, o, atol=1e-5)
        for (w, c, _), o in zip(pairs, offsets, strict=True)
    )
    if same and len(pairs) > 1 and np.allclose(offsets, offsets[0], rtol=1e-3):
        more = "more" if offsets[0] > 0 else "less"
        return f"{it} is {abs(offsets[0]):.4g} {more} than expected throughout."
    return ""


def _moved(pairs, it) -> str:
    least = min(wanted.ndim for wanted, _, _ in pairs)
    if least != max(wanted.ndim for wanted, _, _ in pairs):
        return ""
    if axes := _exchanged([(w, c) for w, c, _ in pairs]):
        return "{} has the axes {} and {} exchanged.".format(it, *axes)
    for axis in range(least):
        if any(w.shape[axis] < 3 for w, _, _ in pairs):
            continue
        along = f"along {_axis(axis, least)}"
        if all(_same(np.flip(w, axis), c) for w, c, _ in pairs):
            return f"{it} is reversed {along}."
        for step, words in ((1, "later"), (-1, "earlier")):
            if all(_shifted(w, c, axis, step) for w, c, _ in pairs):
                return f"{it} is shifted {along}: each element stands one {words}."
    return ""


def _shifted(wanted, came, axis, step) -> bool:
    wanted, came = np.moveaxis(wanted, axis, 0), np.moveaxis(came, axis, 0)
    if step > 0:
        wanted, came = wanted[:-1], came[1:]
    else:
        wanted, came = wanted[1:], came[:-1]
    varied = not _constant(wanted) and not _same(wanted[:-1], wanted[1:])
    return varied and _same(wanted, came)


def _axis(axis: int, axes: int) -> str:
    return "the last axis" if axis == axes - 1 else f"axis {axis}"


def _sums(pairs, it) -> str:
    if any(w.ndim < 2 or w.shape[-1] < 2 for w, _, _ in pairs):
        return ""
    if not all(
        (w >= 0).all() and np.allclose(w.sum(-1), 1, atol=1e-4) for w, _, _ in pairs
    ):
        return ""
    axes = min(w.ndim for w, _, _ in pairs)
    if any(np.allclose(c.sum(-1), 1, atol=1e-3) for _, c, _ in pairs):
        return ""
    for axis in range(axes - 1):
        if all(np.allclose(c.sum(axis), 1, atol=1e-4) for _, c, _ in pairs):
            return f"{it} sums to 1 along axis {axis}, not along the last axis."
    if all(np.allclose(c.sum(), 1, atol=1e-4) for _, c, _ in pairs):
        return f"{it} sums to 1 over all its elements, not along the last axis."
    return f"{it} does not sum to 1 along the last axis."


def _slice(pairs, it) -> str:
    """Say that all differences lie in one slice, if they lie there on every input."""
    if len(pairs) < 2 or len({w.ndim for w, _, _ in pairs}) > 1:
        return ""
    axes = pairs[0][0].ndim
    unlike = [~np.isclose(w.astype(float), c, **CLOSE) for w, c, _ in pairs]
    for axis in range(axes):
        if any(u.shape[axis] < 3 for u in unlike):
            continue
        for place, word in ((0, "first"), (-1, "last")):
            if all(_only_in(u, axis, place) for u in unlike):
                where = f"element{_along(axis, axes)}"
                return f"Only the {word} {where} of {_lower(it)} is wrong."
            if all(_only_in(u, axis, place, but=True) for u in unlike):
                return (
                    f"Only the {word} element{_along(axis, axes)} of {_lower(it)} "
                    "is right."
                )
    if axes >= 2 and all(u.shape[-1] > 2 and u.shape[-2] > 2 for u in unlike):
        for words, part in (
            ("on the diagonal", lambda u: u & ~np.eye(*u.shape[-2:], dtype=bool)),
            ("above the diagonal", lambda u: np.tril(u)),
            ("below the diagonal", lambda u: np.triu(u)),
        ):
            if all(not part(u).any() for u in unlike):
                return f"{it} is wrong only {words} of its last two axes."
    return ""


def _lower(it: str) -> str:
    return "what came" if it == "What came" else it


def _along(axis: int, axes: int) -> str:
    return f" along {_axis(axis, axes)}" if axes > 1 else ""


def _only_in(unlike, axis, place, *, but=False) -> bool:
    moved = np.moveaxis(unlike, axis, 0)
    inside = moved[place]
    outside = moved[1:] if place == 0 else moved[:-1]
    if but:
        inside, outside = outside, inside
    return bool(inside.any()) and not outside.any() and (not but or inside.all())
