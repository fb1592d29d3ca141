"""What counts: of all that the gradebook knows, one line for each student and exercise.

Of several files for one exercise, the one that the latest run saw counts; of those of
one run, the one that was changed last. What was graded before stays in the history.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from attncourse_grader.exercises import modules
from attncourse_grader.records.late import LONGEST, in_words, read_penalty
from attncourse_grader.safe_text import number


@dataclass(frozen=True)
class EffectiveGrade:
    """Where a student stands in one exercise."""

    student: str  # who, and the notebook of the exercise
    exercise: str  # who, and the notebook of the exercise
    points: float | None  # what the grader gave, None if there is nothing to grade
    of: float  # what the exercise has
    late: float = 0.0  # seconds after the deadline, 0 if in time
    penalty: float = 0.0  # what lateness takes off
    # Changes by hand: points and reason.
    adjustments: tuple[tuple[float, str], ...] = ()
    # The file that counts: ``source``, ``time``, ``key``, ``content``, and so
    # on.
    handin: dict | None = None
    others: int = 0  # further files for the same exercise, which do not count

    @property
    def total(self) -> float | None:
        """The points in the end, never below 0; None where there is nothing."""
        if self.points is None and not self.adjustments:
            return None
        graded = max(0.0, (self.points or 0.0) - self.penalty)
        by_hand = sum(points for points, _ in self.adjustments)
        return round(max(0.0, graded + by_hand), 4)

    def sentences(self) -> tuple[str, ...]:
        """Return what a student should know beside the points of the tasks."""
        found = []
        if self.late > 0:
            said = f"Handed in {in_words(self.late)} after the deadline"
            unit = "point" if self.penalty == 1 else "points"
            cost = f": {number(self.penalty)} {unit} less." if self.penalty else "."
            found.append(said + cost)
        for points, reason in self.adjustments:
            unit = "point" if abs(points) == 1 else "points"
            end = "" if reason.endswith((".", "!", "?")) else "."
            found.append(f"Changed by hand: {points:+g} {unit}. {reason}{end}")
        if self.penalty or self.adjustments:
            found.append(f"In the end: {number(self.total)} of {number(self.of)}.")
        return tuple(found)


LATEST = """
SELECT handins.*, results.exercise, results.points, results.of FROM handins
JOIN results ON results.key = handins.key
ORDER BY student, results.exercise, last_run, time, source
"""


def effective_grades(book) -> list[EffectiveGrade]:
    """Return where everybody stands, by student and exercise."""
    counting, others = {}, {}
    for row in book.rows(LATEST):
        place = row["student"], row["exercise"]
        others[place] = others.get(place, -1) + 1
        counting[place] = dict(row)
    changes: dict = {}
    for row in book.rows("SELECT * FROM adjustments ORDER BY adjustment"):
        place = row["student"], row["exercise"]
        changes.setdefault(place, []).append((row["points"], row["reason"]))
    rules = Lateness(book)
    names = list(book.students())
    found = []
    for place in sorted(
        counting.keys() | changes.keys(), key=lambda p: (names.index(p[0]), p[1])
    ):
        handin = counting.get(place)
        late = rules.of(handin) if handin else 0.0
        of = handin["of"] if handin else points_of(place[1])
        found.append(
            EffectiveGrade(
                *place,
                points=handin["points"] if handin else None,
                of=of,
                late=late,
                penalty=rules.penalty.points(late, of) if rules.penalty else 0.0,
                adjustments=tuple(changes.get(place, ())),
                handin=handin,
                others=others.get(place, 0),
            )
        )
    return found


class Lateness:
    """How late hand-ins are: by the instructor's table, else by the file's time."""

    def __init__(self, book):
        self.deadlines = book.setting("deadlines", {})
        penalty = book.setting("penalty", "")
        self.penalty = read_penalty(penalty) if penalty else None
        rows = book.rows("SELECT * FROM lateness")
        self.said = {(r["student"], r["exercise"]): r["seconds"] for r in rows}

    def of(self, handin: dict) -> float:
        """Return how many seconds late a hand-in is, 0 if in time."""
        student, exercise = handin["student"], handin["exercise"]
        said = self.said.get((student, exercise), self.said.get((student, "")))
        if said is not None and said < LONGEST:
            return max(0.0, said)
        deadline = self.deadlines.get(exercise)
        if deadline is None:
            return 0.0
        return max(0.0, (handin["time"] if said is None else said) - deadline)


def points_of(exercise: str) -> float:
    """Return the points that an exercise has."""
    from attncourse_grader.exercises import exercise_of

    return exercise_of(exercise).points


def record_of_effective(book, effective: EffectiveGrade) -> dict | None:
    """Return the record of the grade that counts, with the student's own name."""
    if effective.handin is None:
        return None
    (row,) = book.rows(
        "SELECT record FROM results WHERE key = ?", effective.handin["key"]
    )
    return {**json.loads(row["record"]), "student": effective.student}


def refusals(book) -> list[dict]:
    """Return the files that could not be graded and that nothing has replaced."""
    rows = book.rows(
        "SELECT student, source, refused FROM handins AS one WHERE key IS NULL AND "
        "last_run = (SELECT MAX(last_run) FROM handins WHERE student = one.student) "
        "ORDER BY student, source"
    )
    return [dict(row) for row in rows]


def exercises_in(found: list[EffectiveGrade]) -> list[str]:
    """Return the exercises that occur, in the order of the course."""
    present = {effective.exercise for effective in found}
    return [name for name in modules() if name in present]
