"""In which places an array is wrong: a row, a column, one side of the diagonal."""

from __future__ import annotations

import numpy as np

from attncourse.exercises.seen import near


def _rows(shape, rows):
    found = np.zeros(shape, dtype=bool)
    found[..., rows, :] = True
    return found


def _columns(shape, columns):
    found = np.zeros(shape, dtype=bool)
    found[..., columns] = True
    return found


def _first_axis(shape, part):
    found = np.zeros(shape, dtype=bool)
    found[part] = True
    return found


def _band(condition):
    def places(shape):
        i, j = np.indices(shape[-2:])
        return np.broadcast_to(condition(i, j), shape)

    return places


# Smaller sets come first: (in words, axes that are needed, the places).
PLACES = (
    ("on the diagonal", 2, _band(lambda i, j: i == j)),
    ("in the first row", 2, lambda s: _rows(s, slice(0, 1))),
    ("in the last row", 2, lambda s: _rows(s, slice(-1, None))),
    ("in the first column", 2, lambda s: _columns(s, slice(0, 1))),
    ("in the last column", 2, lambda s: _columns(s, slice(-1, None))),
    ("in the first place", 1, lambda s: _columns(s, slice(0, 1))),
    ("in the last place", 1, lambda s: _columns(s, slice(-1, None))),
    ("in the first matrix", 3, lambda s: _first_axis(s, slice(0, 1))),
    ("in the last matrix", 3, lambda s: _first_axis(s, slice(-1, None))),
    ("above the diagonal", 2, _band(lambda i, j: j > i)),
    ("below the diagonal", 2, _band(lambda i, j: j < i)),
)


def where_wrong(what: str, pairs) -> tuple[str, str] | None:
    """Return a name and a sentence that says where, or None if all over the place.

    Parameters
    ----------
    what : str
        What the numbers are, as a sentence begins with it.
    pairs : list of (numpy.ndarray, numpy.ndarray)
        For each failing input what came and what was expected.
    """
    if any(a.shape[-1] < 2 for a, _ in pairs):
        return None
    if found := _zero_corner(what, pairs):
        return found
    wrong = [~np.isclose(a, b, rtol=1e-3, atol=6e-3) for a, b in pairs]
    for only in (True, False):  # wrong there and nowhere else, or right there only
        for words, axes, places in PLACES:
            if any(w.ndim < axes or (axes == 1) != (w.ndim == 1) for w in wrong):
                continue
            there = [places(w.shape) for w in wrong]
            if _confined(wrong, there if only else [~t for t in there], pairs):
                what_there = "wrong" if only else "right"
                return (
                    f"{what_there} {words} only",
                    f"{what} is {what_there} {words}, and "
                    f"{'right' if only else 'wrong'} elsewhere.",
                )
    return None


def _confined(wrong, there, pairs) -> bool:
    """Say whether all that is wrong lies there, and what is right is not just zeros."""
    return all(
        w.any() and not w[~t].any() and (~t).any()
        for w, t in zip(wrong, there, strict=True)
    ) and not all(near(b[~t], 0) for (_, b), t in zip(pairs, there, strict=True))


def _zero_corner(what, pairs):
    """Say that one side of the diagonal is empty that should not be."""
    if any(a.ndim < 2 or min(a.shape[-2:]) < 2 for a, _ in pairs):
        return None
    there = [_band(lambda i, j: j > i)(a.shape) for a, _ in pairs]
    if all(
        near(a[t], 0) and not near(b[t], 0) and not near(a[~t], 0)
        for (a, b), t in zip(pairs, there, strict=True)
    ):
        return (
            "nothing above the diagonal",
            f"{what} is 0 everywhere above the diagonal, where other numbers are "
            "expected. Does a causal mask take part?",
        )
    return None


def of_booleans(what: str, pairs) -> tuple[str, str] | None:
    """Return a name and a sentence on True and False in the wrong places.

    Parameters
    ----------
    what : str
        What they are, as a sentence begins with it.
    pairs : list of (numpy.ndarray, numpy.ndarray)
        For each failing input what came and what was expected.
    """
    pairs = [(a.astype(bool), b.astype(bool)) for a, b in pairs]
    if all((a == ~b).all() for a, b in pairs):
        return "True for False", f"{what} is True where it should be False, and back."
    if all(
        a.ndim > 1
        and a.shape == b.swapaxes(-1, -2).shape
        and (a == b.swapaxes(-1, -2)).all()
        for a, b in pairs
    ):
        return "turned round", f"{what} has rows and columns exchanged."
    extra = any((a & ~b).any() for a, b in pairs)
    lost = any((b & ~a).any() for a, b in pairs)
    place = where_wrong(what, [(a * 1.0, b * 1.0) for a, b in pairs])
    where = f" {place[1]}" if place else ""
    ours, right = pairs[0]
    if extra and not lost:
        at = _first_place(ours & ~right)
        name, says = "True too often", f"True where it should be False, as at {at},"
    elif lost and not extra:
        at = _first_place(right & ~ours)
        name, says = "True too seldom", f"False where it should be True, as at {at},"
    elif place:
        return place
    else:
        name = "True and False in the wrong places"
        extra, lost = _first_place(ours & ~right), _first_place(right & ~ours)
        return (
            name,
            f"{what} is True where it should be False, as at {extra}, and False where "
            f"it should be True, as at {lost}. Are the two conditions joined in the "
            "right way, and is each of them the right way round?",
        )
    return name, f"{what} is {says} and never the other way round.{where}"


def _first_place(where) -> str:
    found = np.argwhere(where)
    return f"[{', '.join(map(str, found[0]))}]" if len(found) else "another input"
