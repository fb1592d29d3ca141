"""What counts: of all that the gradebook knows, one line for each student and exercise.

Which file counts is said in `views.sql`. What a run that was undone has found does not
count. All stays in the history.
"""

import json
import sqlite3
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from attncourse_grader.exercises import exercise_of, modules
from attncourse_grader.records.late import MARKED, in_words, lateness, penalty_for
from attncourse_grader.safe_text import number


@dataclass(frozen=True)
class Mark:
    """What somebody gave for an answer, or is still to give."""

    task: str  # the name of the task
    of: float  # points that can be given
    answer: str  # the hash of the answer, "" where nothing was written
    points: float | None  # None if it is not marked yet
    comment: str = ""
    # What an earlier answer was given, until somebody confirms it: points and comment.
    proposal: tuple[float, str] | None = None

    def sentence(self) -> str:
        """Return what the student should know."""
        if self.points is None:
            return f"Not marked by hand yet: {number(self.of)} points."
        said = self.comment if self.answer else "Nothing was written."
        points = f"{number(self.points)} of {number(self.of)} points"
        return f"Marked by hand: {points}. {said}".strip()


@dataclass(frozen=True)
class EffectiveGrade:
    """Where a student stands in one exercise."""

    student: str  # who
    exercise: str  # the name of the exercise's notebook
    points: float | None  # what the grader gave, None if there is nothing to grade
    of: float  # what the exercise has
    # Seconds after the deadline, 0 if in time, None if that is not known.
    late: float | None = 0.0
    penalty: float = 0.0  # what lateness takes off
    # Changes by hand: points and reason.
    adjustments: tuple[tuple[float, str], ...] = ()
    # The file that counts: ``source``, ``content``, ``result`` and so on.
    handin: sqlite3.Row | None = None
    marks: tuple[Mark, ...] = ()  # of answers that somebody reads

    @property
    def waiting(self) -> int:
        """How many answers are not marked yet."""
        return sum(mark.points is None for mark in self.marks)

    @property
    def marked(self) -> float:
        """The points that were given by hand."""
        return sum(mark.points or 0.0 for mark in self.marks)

    @property
    def total(self) -> float | None:
        """The points in the end, never below 0; None where there is nothing."""
        if self.points is None and not self.adjustments:
            return None
        graded = max(0.0, (self.points or 0.0) + self.marked - self.penalty)
        by_hand = sum(points for points, _ in self.adjustments)
        return round(max(0.0, graded + by_hand), 4)

    def sentences(self) -> tuple[str, ...]:
        """Return what a student should know beside the points of the tasks."""
        found = []
        if self.late:
            how = "" if self.late == MARKED else f" {in_words(self.late)}"
            less = f": {_points(self.penalty)} less" if self.penalty else ""
            found.append(f"Handed in{how} after the deadline{less}.")
        for points, reason in self.adjustments:
            end = "" if reason.endswith((".", "!", "?")) else "."
            found.append(f"Changed by hand: {_points(points, '+g')}. {reason}{end}")
        if self.waiting:
            found.append(f"Answers that are not marked yet: {self.waiting}.")
        if self.penalty or self.adjustments:
            found.append(f"In the end: {number(self.total)} of {number(self.of)}.")
        return tuple(found)

    def remarks(self) -> tuple[str, ...]:
        """Return these sentences with those on what was marked by hand."""
        read = [m for m in self.marks if m.points is not None and m.answer]
        return (*(f"{m.task}: {m.sentence()}" for m in read), *self.sentences())


def _points(points: float, form: str = "g") -> str:
    return f"{points:{form}} point{'s' * (abs(points) != 1)}"


def costs(book, found: list[EffectiveGrade]) -> Iterator[str]:
    """Yield what deadline and penalty come to in each exercise this run has seen."""
    penalty, seen = book.setting("penalty", ""), defaultdict(list)
    for grade in found:
        if grade.handin and grade.handin["run"] == book.run:
            seen[grade.exercise].append(grade)
    for exercise, own in seen.items():
        due, late = own[0].handin["deadline"], [grade.late for grade in own]
        until = "no deadline"
        if due is not None:
            until = time.strftime("due %Y-%m-%d %H:%M %Z", time.localtime(due))
        count = f"{sum(map(bool, late))} of {len(late)} late, "
        says = f"Exercise {exercise.partition('_')[0]}: {until}, "
        says += f"{penalty or 'no penalty'}; {count}"
        for what, sign in (("of unknown time", None), ("marked so by Canvas", MARKED)):
            if sign in late:
                says += f"{late.count(sign)} {what} (give --times), "
        if penalty or due is not None:
            yield f"{says}{_points(sum(grade.penalty for grade in own))} less."


def effective_grades(book) -> list[EffectiveGrade]:
    """Return where everybody stands, by student and exercise."""
    penalty = book.setting("penalty", "")
    found, changes, marks = [], defaultdict(list), defaultdict(list)
    book.rows("DROP TABLE IF EXISTS standing_now")
    book.rows("CREATE TEMP TABLE standing_now AS SELECT * FROM standing")
    for row in book.rows("SELECT * FROM adjustments ORDER BY adjustment"):
        place = row["student"], row["exercise"]
        changes[place].append((row["points"], row["reason"]))
    for row in book.rows("SELECT * FROM answers"):
        facts = row["task"], row["of"], row["answer"], row["points"], row["comment"]
        last = (row["proposed"], row["says"]) if row["proposed"] is not None else None
        marks[row["student"], row["exercise"]].append(Mark(*facts, last))
    for row in book.rows("SELECT * FROM standing_now"):
        place = row["student"], row["exercise"]
        late = lateness(row) if row["result"] else 0.0
        of = row["of"]
        if of is None:  # nobody has handed it in
            of = exercise_of(place[1]).points if place[1] in modules() else 0.0
        found.append(
            EffectiveGrade(
                *place,
                points=row["points"],
                of=of,
                late=late,
                penalty=penalty_for(penalty, late or 0.0, of),
                adjustments=tuple(changes[place]),
                handin=row if row["result"] else None,
                marks=tuple(marks[place]),
            )
        )
    return found


def record_for(book, effective: EffectiveGrade) -> dict | None:
    """Return the record of what counts, with name and marks; None if unreadable."""
    if effective.handin is None:
        return None
    query = "SELECT record FROM results WHERE result = ?"
    (row,) = book.rows(query, effective.handin["result"])
    try:
        record = json.loads(row["record"])
        tasks = {task["name"]: task for task in record["tasks"]}
        for mark in effective.marks:
            task = tasks[mark.task]
            task["points"] += mark.points or 0
            task["notes"].append(mark.sentence())
            task["waiting"] = mark.points is None
        points = record["points"] + effective.marked
        return record | {"student": effective.student, "points": points}
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def exercises_in(found: Iterable[EffectiveGrade]) -> list[str]:
    """Return the exercises that occur, in the order of the course."""
    names = {effective.exercise for effective in found}
    return sorted(names, key=lambda name: (int(name.partition("_")[0]), name))


def grades_of_class(book) -> list[EffectiveGrade]:
    """Return where those stand who are not withdrawn."""
    gone = {row["student"] for row in book.rows("SELECT student FROM withdrawn")}
    return [grade for grade in effective_grades(book) if grade.student not in gone]
