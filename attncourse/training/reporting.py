"""Print a measurement with its interval and the runs that it comes from.

The page of results is made from what these lines say, so they have one form: four
columns, and a last line that says whether the claim holds.
"""

import math
import re

import numpy as np

GAP = "   "  # between columns; a label has no run of spaces in it
COLUMNS = ("what", "figure", "interval", "from")
NORMAL = 1.959964  # 95 % of a normal distribution lie within so many deviations


def report(measures, *, holds, form="{:.2f}", over="seeds"):
    """Print each measure with its interval, and whether the claim holds.

    Parameters
    ----------
    measures : dict of str to array_like
        Each name with its values: one for each seed or repeat; or one for each case of
        a single run, which are True or False where cases are right or wrong; or, over
        "nothing", one number that no chance has a part in.
    holds : bool
        Whether the claim that is tested holds, computed from the same values.
    form : str, default "{:.2f}"
        How to write a value, with its unit: ``"{:.1%}"``, ``"{:.2f} nats"``.
    over : {"seeds", "repeats", "cases", "nothing"}
        What the values differ in. Over seeds and repeats the interval runs from the
        lowest to the highest. Over cases it holds the mean with a confidence of 95 %:
        Wilson's for shares, the normal one for other means.

    Raises
    ------
    ValueError
        If `over` is unknown, a name has two spaces in a row, or there are fewer than
        two values to make an interval of.

    References
    ----------
    Wilson (1927), "Probable inference, the law of succession, and statistical
    inference".
    """
    if over not in _INTERVALS:
        raise ValueError(f"over must be one of {', '.join(_INTERVALS)}, got {over!r}.")
    rows = []
    for name, values in measures.items():
        if "  " in name:
            raise ValueError(f"{name!r} has two spaces in a row, which part columns.")
        values = _one_row(name, values)
        if (len(values) == 1) != (over == "nothing"):
            raise ValueError(
                f"{name!r} has {len(values)} value(s). An interval needs two or more; "
                'one number that no chance has a part in needs over="nothing".'
            )
        middle = values[0] if over == "nothing" else values.mean()
        interval, origin = _INTERVALS[over](values, form)
        rows.append((name, form.format(middle.item()), interval, origin))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        print(GAP.join(cells).rstrip())
    print("the claim holds:", bool(holds))


def read_report(text):
    """Take apart what `report` has printed.

    Parameters
    ----------
    text : str

    Returns
    -------
    rows : list of tuple
        (what, figure, interval, from), as printed.
    holds : bool

    Raises
    ------
    ValueError
        If the text has another form.
    """
    *lines, last = text.rstrip().splitlines() or [""]
    verdict = last.removeprefix("the claim holds: ")
    rows = [
        tuple(cell.strip() for cell in line.split(GAP) if cell.strip())
        for line in lines
    ]
    if not rows or verdict not in ("True", "False"):
        raise ValueError(f"no report ends like this: {last!r}. Print it with report.")
    for row in rows:
        if len(row) != len(COLUMNS):
            raise ValueError(
                f"a line of a report has {len(COLUMNS)} columns, but {row} has "
                f"{len(row)}."
            )
    return rows, verdict == "True"


def wilson(right, cases):
    """Return the 95 % interval of a share, by Wilson's formula.

    Parameters
    ----------
    right, cases : int

    Returns
    -------
    tuple of float
        The lower and the upper bound, within 0 and 1.
    """
    share, square = right / cases, NORMAL**2
    middle = share + square / (2 * cases)
    reach = NORMAL * math.sqrt(share * (1 - share) / cases + square / (4 * cases**2))
    low, high = ((middle + side * reach) / (1 + square / cases) for side in (-1, 1))
    return max(0.0, low), min(1.0, high)


def cases(share, n):
    """Return n cases of which a share is right, for a report over cases.

    Parameters
    ----------
    share : float
        The share that was measured, 0 to 1.
    n : int
        The number of cases that it was measured on.

    Returns
    -------
    numpy.ndarray
        Shape (n,), boolean. Only the number that is right has a meaning, not which.

    Raises
    ------
    ValueError
        If no number of n cases makes that share.
    """
    right = round(share * n)
    if not (0 <= right <= n and abs(right - share * n) < 0.01):
        raise ValueError(f"a share of {share} cannot come from {n} cases.")
    return np.arange(n) < right


def _one_row(name, values):
    if hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    values = np.atleast_1d(np.asarray(values))
    if values.ndim != 1 or not len(values):
        raise ValueError(
            f"{name!r} must have one row of values, but its shape is {values.shape}."
        )
    return values


def _from_to(low, high, form):
    """Write an interval with its unit once."""
    before, number, after = re.fullmatch(r"([^{]*)(\{.*\})([^}]*)", form).groups()
    return f"{before}{number.format(low)} to {number.format(high)}{after}"


def _over_seeds(values, form):
    interval = _from_to(values.min().item(), values.max().item(), form)
    return interval, f"{len(values)} seeds"


def _over_repeats(values, form):
    interval, _ = _over_seeds(values, form)
    return interval, f"{len(values)} repeats"


def _over_cases(values, form):
    if values.dtype == bool:
        low, high = wilson(int(values.sum()), len(values))
    else:
        reach = NORMAL * values.std(ddof=1).item() / math.sqrt(len(values))
        low, high = values.mean().item() - reach, values.mean().item() + reach
    return _from_to(low, high, form), f"1 seed, {len(values)} cases"


def _over_nothing(values, form):
    return "exact", "no seed"


_INTERVALS = {
    "seeds": _over_seeds,
    "repeats": _over_repeats,
    "cases": _over_cases,
    "nothing": _over_nothing,
}
