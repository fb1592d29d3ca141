"""How the numbers that came relate to those that were expected.

Each rule looks at all failing inputs together, as pairs of arrays of one shape: ours
and the right one. What explains all of them says what the answer does, in any task.
"""

from __future__ import annotations

import numpy as np

from attncourse.exercises.places import where_wrong
from attncourse.exercises.seen import near
from attncourse.exercises.sizes import factor_by_size

# What may have been done to each number: a name, what it makes, and how.
DONE = (
    ("sign turned round", "the right numbers with the other sign", np.negative),
    ("what is missing from 1", "1 minus what was expected", lambda x: 1 - x),
    ("the sign lost", "the right numbers, all of them positive", np.abs),
    ("cut off at 0", "0 where a negative number is right", lambda x: np.maximum(x, 0)),
    ("squared", "the squares of the right numbers", np.square),
    ("a root taken", "the roots of the right numbers", lambda x: np.sqrt(abs(x))),
    ("an exponential too many", "the exponentials of the right numbers", np.exp),
    (
        "a logarithm too many",
        "the logarithms of the right numbers",
        lambda x: np.log(np.maximum(x, 1e-30)),
    ),
    ("a tanh too many", "the tanh of the right numbers", np.tanh),
    (
        "a sigmoid too many",
        "the sigmoid of the right numbers",
        lambda x: 1 / (1 + np.exp(-x)),
    ),
    ("one divided by it", "1 divided by what was expected", lambda x: 1 / x),
    ("rounded", "the right numbers rounded to whole ones", np.round),
    ("rounded", "the right numbers rounded down", np.floor),
    ("rounded", "the right numbers, rounded", lambda x: np.round(x, 1)),
)


def relation_of(what: str, pairs, inputs=()) -> tuple[str, str] | None:
    """Return the name of a mistake and a sentence, or None if nothing is seen.

    Parameters
    ----------
    what : str
        What the numbers are, as a sentence begins with it: "The result".
    pairs : list of (numpy.ndarray, numpy.ndarray)
        For each failing input what came and what was expected.
    inputs : list of dict
        What was put in, in the same order.
    """
    ours, right = (
        np.concatenate([p.ravel() for p in side]) for side in zip(*pairs, strict=True)
    )
    if not np.isfinite([ours, right]).all() or near(ours, right):
        return None
    if np.abs(ours - right).max() < 0.006 * np.abs(right).max():
        return None  # a digit is wrong, and no relation tells
    for rule in (_of_an_input, _alike, _of_all, _along, _sharper, _of_rows, _row_sums):
        with np.errstate(all="ignore"):
            found = rule(what, pairs, inputs, ours, right)
        if found:
            return found
    return where_wrong(what, pairs)


def _tells(right) -> bool:
    """Say whether the numbers are many and different enough to be recognised."""
    spread = np.ptp(right) if right.size > 2 else 0
    return spread >= max(0.05 * np.abs(right).max(initial=0), 0.05)


def _of_all(what, pairs, inputs, ours, right):
    """Name what has been done to every number in the same way."""
    if not _tells(right):
        return None
    factor = ours @ right / (right @ right)
    for name, made, function in DONE:
        wanted = function(right)
        if near(ours, wanted) and not near(wanted, right):
            return name, f"{what} has {made}."
    if near(ours, factor * right) and not near(ours, 0) and not near(factor, 1):
        return (
            "a multiple",
            f"{what} is {factor:.3g} times what was expected, every number of it. A "
            "factor is missing, or is there once too often.",
        )
    if found := factor_by_size(what, pairs, inputs):
        return found
    offset = np.mean(ours - right)
    if near(ours, right + offset) and not near(offset, 0):
        size, side = f"{abs(offset):.3g}", "more" if offset > 0 else "less"
        return (
            "a number added to all",
            f"{what} is {size} {side} than expected, every number of it. Is something "
            "counted that should not be, or does a count begin at another number?",
        )
    if np.ptp(ours) > 0.05 and near(ours, np.clip(right, ours.min(), ours.max())):
        low, high = (f"{x:.3g}" for x in (ours.min(), ours.max()))
        return (
            "cut off",
            f"{what} is right between {low} and {high}; what should lie beyond has "
            "been cut off there.",
        )
    if all(near(np.sort(a.ravel()), np.sort(b.ravel())) for a, b in pairs):
        return _elsewhere(what, pairs)
    return None


def _along(what, pairs, inputs, ours, right):
    """Name what has been done along the last axis, or a step to one side."""
    if not _tells(right) or any(a.shape[-1] < 3 for a, _ in pairs):
        return None
    for name, made, function in (
        ("a softmax too many", "a softmax of the right numbers", _softmax),
        ("running sums", "running sums of the right numbers", lambda x: x.cumsum(-1)),
        (
            "running means",
            "running means of the right numbers",
            lambda x: x.cumsum(-1) / np.arange(1, x.shape[-1] + 1),
        ),
    ):
        if all(near(a, function(b)) for a, b in pairs):
            return name, f"{what} has {made}, along the last axis."
    for words, mine, its in (
        ("one place too late", slice(1, None), slice(None, -1)),
        ("one place too early", slice(None, -1), slice(1, None)),
    ):
        if all(near(a[..., mine], b[..., its]) for a, b in pairs):
            return (
                f"numbers {words}",
                f"{what} has the right numbers, but each of them stands {words} along "
                "the last axis.",
            )
    return None


def _softmax(x):
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def _are_shares(x) -> bool:
    return x.ndim > 1 and x.min() > -6e-3 and near(x.sum(-1), 1, digits=1)


def _sharper(what, pairs, inputs, ours, right):
    """Say that weights are those of scores with another factor."""
    if not all(_are_shares(a) and _are_shares(b) for a, b in pairs):
        return None
    turned = [1 / np.maximum(b, 1e-9) for _, b in pairs]
    turned = [t / t.sum(-1, keepdims=True) for t in turned]
    if all(near(a, t) for (a, _), t in zip(pairs, turned, strict=True)):
        return (
            "the smallest score has the largest weight",
            f"{what} has the largest weight where the score is smallest: the sign of "
            "the scores has been turned round before the softmax.",
        )
    for factor in np.geomspace(0.05, 20, 400):
        powers = [np.maximum(b, 0) ** factor for _, b in pairs]
        wanted = [p / p.sum(-1, keepdims=True) for p in powers]
        if all(near(a, w) for (a, _), w in zip(pairs, wanted, strict=True)):
            much = f"{factor if factor > 1 else 1 / factor:.2g}"
            how, done = ("sharp", "multiplied") if factor > 1 else ("even", "divided")
            return (
                f"weights too {how}",
                f"{what} has weights that are too {how}, as if their scores had been "
                f"{done} by {much} before the softmax. Is the scale another one, "
                "missing, or there twice?",
            )
    return None


def _elsewhere(what, pairs):
    ways = (
        ("turned round", "rows and columns exchanged", lambda x: x.swapaxes(-1, -2)),
        ("in reverse order", "the last axis in reverse order", lambda x: x[..., ::-1]),
        ("in reverse order", "its rows in reverse order", lambda x: x[..., ::-1, :]),
    )
    for name, words, way in ways:
        if all(a.ndim > 1 and _same(a, way(b)) for a, b in pairs):
            return name, f"{what} has the right numbers, with {words}."
    return (
        "numbers in other places",
        f"{what} has the right numbers, but some of them stand in other places. "
        "Have axes been exchanged, or brought into shape by a reshape?",
    )


def _same(one, other) -> bool:
    return one.shape == other.shape and near(one, other)


def _of_rows(what, pairs, inputs, ours, right):
    """Name what has been done to each row, or each column, with a number of its own."""
    if not _tells(right) or any(a.ndim < 2 for a, _ in pairs):
        return None
    for axis, line in ((-1, "row"), (-2, "column")):
        if any(a.shape[axis] < 3 and a.size < 12 for a, _ in pairs):
            continue
        if all(np.ptp(a - b, axis).max() < 0.012 for a, b in pairs):
            return (
                f"a number added to each {line}",
                f"In {what[0].lower()}{what[1:]} each {line} is right but for one "
                f"number that has been added to, or taken from, all of the {line}.",
            )
        if all(_multiples(a, b, axis) for a, b in pairs):
            return (
                f"each {line} a multiple",
                f"In {what[0].lower()}{what[1:]} each {line} is a multiple of the "
                f"right one, by a factor of its own. Along which axis is divided, "
                "and by what?",
            )
    return None


def _multiples(ours, right, axis) -> bool:
    size = (right * right).sum(axis, keepdims=True)
    factor = (ours * right).sum(axis, keepdims=True) / np.where(size == 0, 1, size)
    return near(ours, factor * right) and not near(factor, 0)


def _row_sums(what, pairs, inputs, ours, right):
    """Say that rows which should sum to 1 do not."""
    if any(b.ndim < 2 or b.min() < -1e-3 for _, b in pairs):
        return None
    sums = [b.sum(-1) for _, b in pairs]
    if not all(near(s[s > 0.5], 1, digits=1) and (s > 0.5).any() for s in sums):
        return None
    for a, b in pairs:
        rows = a.sum(-1)[b.sum(-1) > 0.5]
        odd = rows[~np.isclose(rows, 1, atol=0.03)]
        if odd.size:
            return (
                "rows that do not sum to 1",
                f"The rows of {what[0].lower()}{what[1:]} should sum to 1; one of "
                f"them sums to {odd.flat[0]:.2f}.",
            )
    return None


def _alike(what, pairs, inputs, ours, right):
    """Say that numbers which should differ are all alike."""
    if near(ours, 0) and not near(right, 0):
        return "zero everywhere", f"{what} is 0 everywhere."
    if any(a.ndim < 2 for a, _ in pairs):
        return None
    for axis, which in ((-2, "rows"), (-1, "columns"), (0, "matrices")):
        many = [(a, b) for a, b in pairs if a.shape[axis] > 1]
        if axis == 0 and any(a.ndim < 3 for a, _ in pairs):
            continue
        flat = [[near(np.ptp(x, axis), 0) for x in pair] for pair in many]
        if many and all(a for a, _ in flat) and not all(b for _, b in flat):
            return (
                f"{which} that are all alike",
                f"In {what[0].lower()}{what[1:]} all {which} are alike, and they "
                "should differ. Is an axis summed over, or only one place read?",
            )
    return None


def _of_an_input(what, pairs, inputs, ours, right):
    """Say that an input comes back as it was, or has been added."""
    if not _tells(right):
        return None
    for name in inputs[0] if inputs else ():
        given = [_array(one.get(name)) for one in inputs]
        if not all(
            g is not None and g.shape == a.shape
            for g, (a, _) in zip(given, pairs, strict=True)
        ):
            continue
        together = np.concatenate([g.ravel() for g in given])
        if near(ours, together):
            return "an input comes back", f"{what} is `{name}`, as it was put in."
        for sign, word in ((1, "added to"), (-1, "taken from")):
            if near(ours, right + sign * together) and not near(together, 0):
                return (
                    f"an input {word} the result",
                    f"{what} would be right, had `{name}` not been {word} it.",
                )
    return None


def _array(value):
    try:
        return np.asarray(value.detach(), dtype=np.float64)
    except (AttributeError, TypeError, RuntimeError):
        return None
