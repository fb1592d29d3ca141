"""Deadlines and what lateness costs."""

from __future__ import annotations

import contextlib
import datetime
import math
import re
from dataclasses import dataclass
from pathlib import Path

from attncourse_grader.exercises import modules
from attncourse_grader.hand_in.submission import Refused
from attncourse_grader.safe_text import number

SECONDS = {"hour": 3600, "day": 86400, "week": 604800}
PENALTY = re.compile(r"(\d+(?:\.\d+)?)(%?)(?:/(hour|day|week))?")
LONGEST = 10**8  # seconds late, three years; larger numbers are points in time
UNITS = {"days": 86400, "hours": 3600, "minutes": 60, "seconds": 1}


@dataclass(frozen=True)
class Penalty:
    """What being late costs: ``10%/day``, ``1/hour``, or ``20%`` once."""

    amount: float  # points, or percent of the points that the exercise has
    percent: bool  # whether the amount is percent
    unit: str  # "hour", "day" or "week": each one that has begun counts. "" for once

    def points(self, late: float, of: float) -> float:
        """Return the points that are taken off."""
        if late <= 0:
            return 0.0
        times = math.ceil(late / SECONDS[self.unit]) if self.unit else 1
        each = of * self.amount / 100 if self.percent else self.amount
        return round(min(of, times * each), 4)


def read_penalty(text: str) -> Penalty:
    """Return the penalty that a text such as ``10%/day`` means."""
    match = PENALTY.fullmatch(text.replace(" ", "").replace("per", "/"))
    if not match:
        raise Refused(
            f"the penalty {text!r} is not understood. Write it like 10%/day, 1/hour "
            "(points) or 20% (once)."
        )
    return Penalty(float(match[1]), match[2] == "%", match[3] or "")


def read_time(text: str) -> float:
    """Return a time, written as ``2026-12-01T23:59``, in seconds since 1970."""
    text = text.strip().replace("Z", "+00:00")
    try:
        if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
            text += "T23:59:59"
        return datetime.datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError):
        raise Refused(
            f"the time {text!r} is not understood. Write it like 2026-12-01T23:59."
        ) from None


def read_deadlines(texts) -> dict[str, float]:
    """Return the deadline of each exercise."""
    found = {}
    for text in texts:
        which, sign, when = text.rpartition("=")
        names = [exercise_named(which)] if sign else list(modules())
        for name in names:
            if sign or name not in found:
                found[name] = read_time(when)
    return found


def exercise_named(text: str) -> str:
    """Return the notebook of an exercise given by number, name or file."""
    bare = Path(text.strip()).name.removesuffix(".ipynb").lower()
    for notebook, module in modules().items():
        number, _, title = notebook.partition("_")
        if bare in (number, notebook, title, module):
            return notebook
    raise Refused(
        f"there is no exercise {text!r}. The exercises are: {', '.join(modules())}."
    )


def read_late(path: Path) -> list[tuple[str, str, float]]:
    """Read how late submissions were from a table."""
    from attncourse_grader.hand_in.class_list import read_table

    found = []
    for place, row in enumerate(read_table(path), start=2):
        student = row.get("student") or row.get("name") or row.get("id") or ""
        if not student:
            raise Refused(f"{path.name}, line {place}: no column says which student.")
        which = row.get("exercise") or row.get("assignment") or ""
        found.append(
            (student, exercise_named(which) if which else "", _late(path, place, row))
        )
    return found


def _late(path: Path, place: int, row: dict[str, str]) -> float:
    for column in ("handed_in", "submitted", "timestamp", "time"):
        if row.get(column):
            return read_time(row[column])
    for unit, seconds in UNITS.items():
        for column in (unit, f"{unit}_late", f"{unit} late"):
            if row.get(column):
                late = math.nan
                with contextlib.suppress(ValueError):
                    late = float(row[column].replace(",", ".")) * seconds
                if abs(late) < LONGEST:
                    return late
                raise Refused(
                    f"{path.name}, line {place}: {row[column]!r} is no number of "
                    f"{unit} that one can be late."
                )
    raise Refused(
        f"{path.name}, line {place}: no column says how late. Name it days, hours or "
        "handed_in."
    )


def in_words(seconds: float) -> str:
    """Return a length of time in words: "1 day 2 hours"."""
    minutes = math.ceil(seconds / 60)
    parts = [
        (minutes // 1440, "day"),
        (minutes // 60 % 24, "hour"),
        (minutes % 60, "minute"),
    ]
    words = [f"{number(n)} {unit}{'s' * (n != 1)}" for n, unit in parts if n]
    return " ".join(words[:2]) or "less than a minute"
