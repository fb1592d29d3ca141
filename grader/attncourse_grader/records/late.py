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


class Lateness:
    """How late hand-ins are, by what is known about when they were handed in.

    That is what tables have said, times in names that a platform has made, and marks of
    lateness. Deadlines, extensions and the penalty are applied to it whenever grades
    are worked out, so that a change of them gives the grades that would have been.
    """

    def __init__(self, book):
        self.deadlines = book.setting("deadlines", {})
        penalty = book.setting("penalty", "")
        self.penalty = read_penalty(penalty) if penalty else None
        rows = book.rows("SELECT * FROM extensions WHERE until IS NOT NULL")
        self.extended = {(r["student"], r["exercise"]): r["until"] for r in rows}
        self.said: dict = {}
        rows = "SELECT * FROM times JOIN runs USING (run) WHERE NOT undone ORDER BY run"
        for row in book.rows(rows):
            key = row["student"], row["exercise"]
            self.said.setdefault(key, []).append(row)

    def due(self, student: str, exercise: str) -> float | None:
        """Return the deadline of one student."""
        own = self.extended.get((student, exercise))
        return self.deadlines.get(exercise) if own is None else own

    def handed_in(self, handin: dict) -> float | None:
        """Return when something was handed in, None where nothing tells.

        A file may be seen again and again. The earliest time counts that was told since
        it was seen first.
        """
        places = [(handin["student"], e) for e in ("", handin["exercise"])]
        rows = [row for place in places for row in self.said.get(place, ())]
        times = [r["handed_in"] for r in rows if r["run"] >= handin["first_run"]]
        return min((t for t in (*times, handin["time"]) if t is not None), default=None)

    def of(self, handin: dict) -> float | None:
        """Return how many seconds late a hand-in is, None if that is not known."""
        student, exercise = handin["student"], handin["exercise"]
        due, time = self.due(student, exercise), self.handed_in(handin)
        if time is not None:
            return max(0.0, time - due) if due is not None else 0.0
        if handin["marked_late"] and (student, exercise) not in self.extended:
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
