"""How late a hand-in is, and what that costs."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from attncourse_grader.hand_in.submission import Refused
from attncourse_grader.safe_text import number

SECONDS = {"hour": 3600, "day": 86400, "week": 604800}
PENALTY = re.compile(r"(\d+(?:\.\d+)?)(%?)(?:/(hour|day|week))?")
MARKED = 1.0  # seconds: what is marked as late without a time is at least late


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


def lateness(handin, due: float | None) -> float | None:
    """Return how many seconds late a hand-in is, None if that is not known.

    `due` is the deadline of the exercise; one of the student's own comes before it.
    """
    extended, time = handin["until"], handin["handed_in"]
    due = due if extended is None else extended
    if time is not None:
        return max(0.0, time - due) if due is not None else 0.0
    if handin["marked_late"] and extended is None:
        return MARKED
    return None if due is not None else 0.0


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
