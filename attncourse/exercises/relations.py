"""Find a simple relation between what came and what was expected, for any task.

A relation is named only if it holds on every input that failed. When in doubt this is
silent: a sentence less is better than one that is false.
"""

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
    if not pairs:
        return ""
    it = "What came" if name == "result" else f"`{name}`"
    if pairs[0][0].dtype == bool:
        return _of_booleans(pairs, it)
    if not all(np.isfinite(w).all() and np.isfinite(c).all() for w, c, _ in pairs):
        return ""
    if all(_constant(w) or w.size < 3 for w, _, _ in pairs):
        return ""
    for find in (_constants, _factor, _swapped, _sums, _scaled):
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
    return _swapped(pairs, it) or _one_way(pairs, it)


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
        if (
            len(pairs) < 2
            or abs(factor) < 1e-6
            or not np.allclose(came, factor * wanted, **CLOSE)
        ):
            return ""
        factors.append(factor)
    if np.allclose(factors, -1, rtol=1e-4):
        return f"{it} has the opposite sign throughout."
    return f"{it} is the expected value {_multiplied(factors, pairs)}."


def _multiplied(factors, pairs) -> str:
    if by_size := _size_behind(factors, [inputs for _, _, inputs in pairs]):
        return by_size
    throughout = len(factors) > 1 and np.allclose(factors, factors[0], rtol=1e-3)
    where = "throughout" if throughout else "here, with another factor for other inputs"
    return f"multiplied by {factors[0]:.4g} {where}"


def _size_behind(factors, all_inputs) -> str:
    """Say which size of an input a factor comes from, if exactly one explains it."""
    found = {}
    for name in all_inputs[0]:
        shapes = [getattr(inputs.get(name), "shape", ()) for inputs in all_inputs]
        for axis in range(-min(map(len, shapes)), 0):
            sizes = np.array([shape[axis] for shape in shapes], float)
            for power, words in POWERS.items():
                if np.ptp(sizes) and np.allclose(factors, sizes**power, 1e-3):
                    found[words, tuple(sizes)] = axis, name
    if len(found) != 1:
        return ""
    (((words, _), (axis, name)),) = found.items()
    where = {-1: "the last axis", -2: "the last axis but one"}.get(axis, f"axis {axis}")
    return words.format(f"the size of {where} of `{name}`")


def _swapped(pairs, it) -> str:
    axes = _exchanged([(wanted, came) for wanted, came, _ in pairs])
    return "{} has the axes {} and {} exchanged.".format(it, *axes) if axes else ""


def _scaled(pairs, it) -> str:
    """Say by which factor scores are wrong, of which rows are the softmax."""
    factors = []
    for wanted, came, _ in pairs:
        if not (_sums_to_one(wanted) and ((came > 0) == (wanted > 0)).all()):
            return ""
        logs = [_centred_logs(x) for x in (wanted, came)]
        if not (squares := np.square(logs[0]).sum()):
            return ""
        factors.append(float((logs[0] * logs[1]).sum() / squares))
        if not np.allclose(logs[1], factors[-1] * logs[0], atol=2e-3, rtol=2e-3):
            return ""
    it = it.replace("What came", "the softmax")
    return f"The scores behind {it} are the right ones {_multiplied(factors, pairs)}."


def _centred_logs(weights):
    logs = np.log(weights, where=weights > 0, out=np.zeros(weights.shape))
    count = (weights > 0).sum(-1, keepdims=True)
    return np.where(weights > 0, logs - logs.sum(-1, keepdims=True) / count, 0)


def _sums_to_one(weights) -> bool:
    return weights.ndim > 1 and (weights >= 0).all() and _ones(weights.sum(-1))


def _ones(sums) -> bool:
    return bool(np.allclose(sums, 1, atol=1e-4))


def _sums(pairs, it) -> str:
    """Say that rows do not sum to 1; rows of 0 may be among those that are right."""
    found = []
    for wanted, came, _ in pairs:
        sums, real = came.sum(-1), wanted.any(-1) if wanted.ndim > 1 else None
        if real is None or not _sums_to_one(wanted[real]) or _ones(sums[real]):
            return ""
        others = (came.sum(axis) for axis in range(came.ndim - 1))
        found.append([*map(_ones, others), _ones(came.sum())])
    if len({len(each) for each in found}) == 1:
        *axes, everywhere = np.all(found, axis=0)
        if any(axes):
            axis = axes.index(True)
            return f"{it} sums to 1 along axis {axis}, not along the last axis."
        if everywhere:
            return f"{it} sums to 1 over all its elements, not along the last axis."
    return f"{it} does not sum to 1 along the last axis."
