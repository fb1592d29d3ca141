"""Print a claim, what was measured and the verdict, in a form that can be read back.

The rows of evidence in the chapters and on the page of results are made from what
`evidence` prints.
"""

import math
import re
import textwrap
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from attncourse import _checks

GAP = "   "  # between columns; a label has no run of spaces in it
LABEL = "{:10}"  # the column of labels
INDENT = len(LABEL.format(""))
OVER = ("seeds", "repeats", "cases", "nothing")
WIDTH = 88  # of a line, characters
ROW = re.compile(r"(.+?)\s{3,}(.+?)\s{3,}\((?:(.*?), )??(\d+ [^,]+(?:, .+)?|exact)\)")
NORMAL = 1.959964  # 95% of a normal distribution lie within so many deviations


class Evidence(NamedTuple):
    """A claim and what was measured, as printed by `evidence` and read from there."""

    claim: str
    source: str
    measured: list  # of (name, value, interval, origin), all str
    baseline: list  # of the same
    claimed: str
    verdict: str


def evidence(
    claim, source, measured, *, claimed, baseline=None, form="{:.2f}", over="seeds"
):
    """Print a claim, what was measured, what was claimed beforehand, and the verdict.

    The verdict compares each measured interval with the claimed range: "held" if all
    intervals lie within it, "did not hold" if one lies outside it, else "not settled".

    Parameters
    ----------
    claim : str
        A sentence, without its full stop.
    source : str
        Who claims it: "Bahdanau et al., 2015" as the bibliography has it (several are
        joined by "; "), "ours", or "often said".
    measured : dict of str to array_like
        Usually one name with its values: one for each seed or repeat; or one for each
        case of a single run, True or False where cases are right or wrong; or, over
        "nothing", one number that involves no randomness.
    claimed : tuple of float or None
        The lowest and the highest value that the claim allows, chosen before the run;
        None leaves a side open.
    baseline : dict of str to array_like, optional
        What to compare with, in the same form. A single number, such as a chance level,
        is taken as exact.
    form : str, default "{:.2f}"
        How to write a value, with its unit: ``"{:.1%}"``, ``"{:.2f} nats"``.
    over : {"seeds", "repeats", "cases", "nothing"}
        What the values differ in. Over seeds and repeats the interval runs from the
        lowest to the highest. Over cases it is a 95% confidence interval of the mean:
        `wilson` for proportions (values of type bool), `bootstrap` for other means.

    Raises
    ------
    ValueError
        If `over` is unknown, `claimed` is empty, a name has two spaces in a row, or
        there are too few values for an interval.
    """
    low, high = (
        bound if bound is not None else side * math.inf
        for bound, side in zip(claimed, (-1, 1), strict=True)
    )
    if low > high or tuple(claimed) == (None, None):
        raise ValueError(f"claimed must be (lowest, highest), but it is {claimed}.")
    rows = [("measured", n, *_measure(n, v, over, form)) for n, v in measured.items()]
    intervals = [row[-1] for row in rows]
    for name, values in (baseline or {}).items():
        kind = "nothing" if np.ndim(values) == 0 else over
        rows.append(("baseline", name, *_measure(name, values, kind, form)))
    text = f"{claim} ({source})"
    lines = textwrap.wrap(text, WIDTH - INDENT, break_on_hyphens=False)
    print(LABEL.format("claim") + f"\n{LABEL.format('')}".join(lines))
    widths = [max(len(row[i]) for row in rows) for i in (1, 2)]
    for i, (label, name, value, spread, _) in enumerate(rows):
        label = "" if i and label == rows[i - 1][0] else label
        print(
            f"{LABEL.format(label)}{name:{widths[0]}}{GAP}{value:{widths[1]}}{GAP}"
            f"({spread})"
        )
    print(LABEL.format("claimed") + _range(claimed, form))
    print(LABEL.format("verdict") + _verdict(intervals, low, high))


def read_evidence(text):
    """Take apart what `evidence` has printed.

    Parameters
    ----------
    text : str

    Returns
    -------
    Evidence

    Raises
    ------
    ValueError
        If the text has another form.
    """
    found, label = {}, ""
    for line in text.rstrip().splitlines():
        label = line[:INDENT].strip() or label
        found.setdefault(label, []).append(line[INDENT:].strip())
    try:
        claim, source = re.fullmatch(
            r"(.+) \((.+?)\)", " ".join(found.pop("claim"))
        ).groups()
        return Evidence(
            claim,
            source,
            *(
                [ROW.fullmatch(row).groups() for row in found.pop(part, [])]
                for part in ("measured", "baseline")
            ),
            *(found.pop(part)[0] for part in ("claimed", "verdict")),
        )
    except (KeyError, AttributeError):
        raise ValueError(
            f"this is not what evidence(...) prints: {text!r}. The cell must print "
            "nothing else."
        ) from None


def wilson(right, cases):
    """Return the 95% interval of a share, by Wilson's formula.

    Parameters
    ----------
    right, cases : int

    Returns
    -------
    tuple of float
        The lower and the upper bound, within 0 and 1.

    References
    ----------
    Wilson (1927), "Probable inference, the law of succession, and statistical
    inference".
    """
    share, square = right / cases, NORMAL**2
    middle = share + square / (2 * cases)
    reach = NORMAL * math.sqrt(share * (1 - share) / cases + square / (4 * cases**2))
    low, high = ((middle + side * reach) / (1 + square / cases) for side in (-1, 1))
    return max(0.0, low), min(1.0, high)


def bootstrap(values, resamples=10_000):
    """Return the 95% interval of a mean, by the expanded percentile bootstrap.

    The values may be skewed, as losses are: no bound lies outside their range. The
    percentiles lie further out than 2.5 and 97.5, by as much as Student's t exceeds
    the normal quantile, because the plain ones are too narrow for few values. If all
    values are equal, so are the bounds.

    Parameters
    ----------
    values : numpy.ndarray
        Shape (n,), n at least 2.
    resamples : int, default 10,000
        Drawn with a fixed seed.

    Returns
    -------
    tuple of float
        The lower and the upper bound.

    References
    ----------
    Hesterberg (2015), "What teachers should know about the bootstrap", for the expanded
    percentiles; Abramowitz and Stegun (1964), 26.7.5, for Student's t.
    """
    n = len(values)
    rng = np.random.default_rng(0)
    means = [rng.choice(values, n).mean() for _ in range(resamples)]
    student = NORMAL + (NORMAL**3 + NORMAL) / (4 * (n - 1))
    tail = NormalDist().cdf(-student * math.sqrt(n / (n - 1)))
    low, high = np.quantile(means, (tail, 1 - tail)).tolist()
    return low, high


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


def _measure(name, values, over, form):
    """Return (value, spread and origin, interval), the first two as text."""
    _checks.one_of("over", over, OVER)
    if "  " in name:
        raise ValueError(f"{name!r} has two spaces in a row, which separate columns.")
    values = _one_row(name, values)
    if (len(values) == 1) != (over == "nothing"):
        raise ValueError(
            f"{name!r} has {len(values)} value(s). An interval needs two or more; one "
            'number that involves no randomness needs over="nothing".'
        )
    if over == "nothing":
        return form.format(values[0].item()), "exact", (values[0], values[0])
    low, high = _bounds(values, over)
    origin = {"cases": f"1 seed, {len(values)} cases"}.get(
        over, f"{len(values)} {over}"
    )
    spread = f"{_from_to(low, high, form)}, {origin}"
    return form.format(values.mean().item()), spread, (low, high)


def _bounds(values, over):
    if over != "cases":
        return values.min().item(), values.max().item()
    if values.dtype == bool:
        return wilson(int(values.sum()), len(values))
    return bootstrap(values)


def _range(claimed, form):
    low, high = (None if b is None else form.format(b) for b in claimed)
    if low is None or high is None:
        text = f"at most {high}" if low is None else f"at least {low}"
    else:
        text = f"exactly {low}" if low == high else _from_to(*claimed, form)
    return re.sub(r"(\.\d*?)0+(?=\D|$)", lambda zeros: zeros[1].rstrip("."), text)


def _verdict(intervals, low, high):
    if all(low <= first and last <= high for first, last in intervals):
        return "held"
    if any(last < low or high < first for first, last in intervals):
        return "did not hold"
    return "not settled"


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
