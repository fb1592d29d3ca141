"""What an answer returned, in a form that can be compared, printed and read back.

A grader has to judge values that came out of a process which it does not trust. So a
value is reduced to a `Seen`: its kind, its shape and some of its numbers. It travels as
one line of text, and whoever reads the line gets no object of the other process.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np
import torch

MOST_VALUES = 96  # of a large array, evenly spaced ones are compared
FINE = 4  # decimals of numbers that would be rounded to 0 with fewer
# With these numbers a sum is made of an array, rounded to hundredths. It is as large as
# one of its numbers 40 times over, so it shows what is lost in half precision.
MIXTURE = 40 * np.cos(np.arange(1, MOST_VALUES + 1) ** 2)
LONGEST_TEXT = 200  # characters of a message that is kept


@dataclass(frozen=True)
class Seen:
    """A value that was returned, or how the call ended.

    Attributes
    ----------
    kind : str
        ``"float"``, ``"int"`` and ``"bool"`` for arrays and numbers, ``"text"``,
        ``"nothing"`` for None, ``"error"`` for an exception, ``"other"`` for the rest.
    shape : tuple of int
        The shape; ``()`` for a number.
    values : numpy.ndarray
        Up to `MOST_VALUES` of the numbers, float64, in the order of memory.
    text : str
        The text; of an error its type and message; of other things their type.
    where : str
        Of an error, the line of the notebook that raised it, where it is known.
    mixed : float, optional
        The `mixture` of the numbers, if these have been rounded since.
    """

    kind: str
    shape: tuple[int, ...] = ()
    values: np.ndarray = field(default_factory=lambda: np.zeros(0), compare=False)
    text: str = ""
    where: str = field(default="", compare=False)
    mixed: float | None = field(default=None, compare=False)


def describe(value, *, tensors: bool = False) -> Seen:
    """Return what is seen of `value`; if only tensors will do, of others their type."""
    if value is None:
        return Seen("nothing")
    if isinstance(value, Seen):
        return value
    if isinstance(value, str):
        return Seen("text", text=_one_line(value))
    if isinstance(value, BaseException):
        return Seen("error", text=_one_line(f"{type(value).__name__}: {value}"))
    if isinstance(value, torch.Tensor):  # whatever its device and precision
        value = value.detach().cpu()
        value = (value.float() if value.is_floating_point() else value).numpy()
    elif tensors and not isinstance(value, bool | int | float | np.generic):
        return Seen("other", text=type(value).__name__)
    try:
        array = np.asarray(value)
    except Exception:
        return Seen("other", text=type(value).__name__)
    kinds = {"b": "bool", "i": "int", "u": "int", "f": "float"}
    if array.dtype.kind not in kinds:
        return Seen("other", text=type(value).__name__)
    flat = array.reshape(-1)
    if flat.size > MOST_VALUES:
        flat = flat[np.linspace(0, flat.size - 1, MOST_VALUES).astype(int)]
    return Seen(kinds[array.dtype.kind], array.shape, flat.astype(np.float64))


def _one_line(text: str) -> str:
    return " ".join(str(text).split())[:LONGEST_TEXT]


def same(one: Seen, other: Seen, *, tolerance: float, rounding: float = 0) -> bool:
    """Say whether two things seen are equal, numbers to within `tolerance`.

    Parameters
    ----------
    one, other : Seen
        The two.
    tolerance : float
        Absolute and relative.
    rounding : float
        How far, at most, rounding has moved the numbers of one of them.
    """
    if one.kind == other.kind == "error":  # which error it is, not how it is put
        return one.text.split(":")[0] == other.text.split(":")[0]
    if one.kind != other.kind or one.shape != other.shape:
        return False
    if one.values.size:
        return one.values.size == other.values.size and np.allclose(
            one.values,
            other.values,
            rtol=tolerance,
            atol=max(tolerance, rounding),
            equal_nan=True,
        )
    return one.text == other.text


def near(one, other, *, digits: int = 2) -> bool:
    """Say whether numbers are equal as far as those show that a grader has seen.

    Parameters
    ----------
    one, other : array_like or number
        The two, of which one may have been rounded.
    digits : int
        To how many decimals.
    """
    return np.allclose(one, other, rtol=1e-3, atol=0.6 * 10.0**-digits)


def mixture(seen: Seen) -> float:
    """Return one number in which an error of any of the numbers shows."""
    if seen.mixed is not None:
        return seen.mixed
    values = np.where(np.isfinite(seen.values), seen.values, 0)
    if not values.size:
        return 0.0
    shares = MIXTURE[: values.size] / np.linalg.norm(MIXTURE[: values.size] / 40)
    return float(shares @ values / max(1, np.sqrt(np.mean(values**2))))


def line_of(name: str, seen: Seen, *, digits: int, mixed: bool = False) -> str:
    """Return `seen` as one line, its numbers rounded to `digits` decimals.

    Parameters
    ----------
    name : str
        What the part is called.
    seen : Seen
        The part.
    digits : int
        Decimals. Numbers that would become 0 get more.
    mixed : bool
        Whether the mixture of the numbers ends the line.
    """
    if seen.kind in ("float", "int", "bool"):
        numbers = " ".join(_rounded(v, seen.kind, digits) for v in seen.values)
        shape = "x".join(map(str, seen.shape)) or "number"
        line = f"{name} | {seen.kind} | {shape} | {numbers}"
        if mixed and seen.kind == "float":
            line += f" | {_rounded(mixture(seen), 'float', 2)}"
        return line
    return f"{name} | {seen.kind} | {seen.text}"


def _rounded(value: float, kind: str, digits: int) -> str:
    if kind != "float":
        return str(int(value))
    if not np.isfinite(value):
        return str(value)
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        text = f"{value:.{max(digits, FINE)}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def read_line(line: str) -> tuple[str, Seen] | None:
    """Return name and `Seen` of a line of `line_of`, or None for any other line."""
    parts = line.split(" | ", 4)
    try:
        if len(parts) >= 4 and parts[1] in ("float", "int", "bool"):
            shape = () if parts[2] == "number" else tuple(map(int, parts[2].split("x")))
            numbers = np.array(parts[3].split()[:MOST_VALUES], dtype=np.float64)
            mixed = float(parts[4]) if len(parts) == 5 else None
            return parts[0], Seen(parts[1], shape, numbers, mixed=mixed)
    except (ValueError, OverflowError):
        return None
    if len(parts) >= 3 and re.fullmatch("nothing|text|error|other", parts[1]):
        return parts[0], Seen(parts[1], text=_one_line(" | ".join(parts[2:])))
    return None


def near_an_edge(
    seen: Seen, *, digits: int, margin: float, mixed: bool = False
) -> bool:
    """Say whether a number of `seen` is so near the edge that rounding is a toss."""
    if seen.kind != "float":
        return False
    finite = seen.values[np.isfinite(seen.values)]
    small = finite[(np.abs(finite) < 0.5 * 10.0**-digits) & (finite != 0)]
    return (
        _near_half(finite * 10.0**digits, margin * 10.0**digits)
        or _near_half(small * 10.0**FINE, margin / 10 * 10.0**FINE)
        or (mixed and _near_half(np.array([mixture(seen) * 100]), 40 * margin * 100))
    )


def _near_half(places, margin: float) -> bool:
    return bool((np.abs(places - np.floor(places) - 0.5) < margin).any())
