"""Tables of grades in the column forms that Moodle and Canvas import."""

from __future__ import annotations

import csv
import io
import zipfile
from pathlib import Path

from attncourse_grader.grade.report import cell, page_of_record
from attncourse_grader.records.effective import (
    EffectiveGrade,
    exercises_in,
    points_of,
    record_of_effective,
)
from attncourse_grader.safe_text import number, one_line


def csv_text(rows) -> str:
    """Return rows as CSV."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def points_text(value: float | None) -> str:
    """Return points as text, "" where there are none."""
    return "" if value is None else number(value)


def by_student(found: list[EffectiveGrade]) -> dict[str, dict[str, EffectiveGrade]]:
    """Return {student: {exercise: EffectiveGrade}}."""
    table: dict = {}
    for effective in found:
        table.setdefault(effective.student, {})[effective.exercise] = effective
    return table


def title_of(exercise: str, columns: dict[str, str]) -> str:
    """Return the heading of an exercise's column."""
    from attncourse_grader.exercises import exercise_of

    own = exercise_of(exercise)
    return columns.get(exercise) or f"Exercise {own.number}: {own.title}"


def canvas_table(book, found, columns) -> tuple[str, list[str]]:
    """Return the table that the gradebook of Canvas imports."""
    exercises, table = exercises_in(found), by_student(found)
    head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    possible = [number(points_of(e)) for e in exercises]
    rows = [
        [*head, *(cell(title_of(e, columns)) for e in exercises)],
        ["    Points Possible", "", "", "", "", *possible],
    ]
    missing = []
    for name, student in book.students().items():
        if name not in table:
            continue
        if not (student["canvas"] or student["id"] or student["user"]):
            missing.append(name)
            continue
        own = table[name]
        who = ("name", "canvas", "id", "user", "section")
        totals = [own[e].total if e in own else None for e in exercises]
        rows.append([*(cell(student[c]) for c in who), *map(points_text, totals)])
    says = (
        f"Left out, since Canvas needs an ID: {', '.join(missing)}. Give a class list "
        "exported from the gradebook of Canvas with --students when grading."
    )
    return csv_text(rows), [says] if missing else []


def moodle_worksheet(book, found, exercise: str) -> tuple[str, list[str]]:
    """Return the grading worksheet of one assignment in Moodle, "" without rows."""
    students = book.students()
    head = ["Identifier", "Full name", "Email address", "Status", "Grade"]
    head += ["Maximum Grade", "Grade can be changed", "Last modified (grade)"]
    rows, missing = [[*head, "Feedback comments"]], []
    for effective in (s for s in found if s.exercise == exercise):
        student = students[effective.student]
        participant = moodle_number(student, effective)
        if not participant:
            missing.append(effective.student)
            continue
        rows.append(
            [
                f"Participant {participant}",
                cell(student["name"] or effective.student),
                cell(student["email"]),
                "Submitted for grading" if effective.handin else "No submission",
                points_text(effective.total),
                number(effective.of),
                "Yes",
                "-",
                cell(" ".join(effective.sentences())),
            ]
        )
    says = (
        f"{exercise}: not in the worksheet, since their number in Moodle is not known: "
        f"{', '.join(missing)}. moodle-gradebook.csv has them."
    )
    return (csv_text(rows) if len(rows) > 1 else ""), [says] if missing else []


def moodle_number(student, effective: EffectiveGrade) -> str:
    """Return the number of a submission in Moodle, "" if none is known."""
    own = effective.handin["moodle"] if effective.handin else ""
    return own or student["moodle"]


def moodle_feedback(book, found, exercise: str, path: Path) -> None:
    """Write the zip file of feedback pages that an assignment in Moodle takes."""
    students = book.students()
    part = path.with_name(path.name + ".part")
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
        for effective in (s for s in found if s.exercise == exercise and s.handin):
            student = students[effective.student]
            if participant := moodle_number(student, effective):
                name = one_line(student["name"] or effective.student)
                name = "".join(" " if c in '_/\\:*?"<>|' else c for c in name)
                record = record_of_effective(book, effective)
                archive.writestr(
                    f"{name}_{participant}_assignfeedback_file_/feedback.html",
                    page_of_record(record, effective.sentences()),
                )
    part.replace(path)


def moodle_gradebook(book, found, columns) -> str:
    """Return the table that the gradebook of Moodle imports: all exercises."""
    exercises, table = exercises_in(found), by_student(found)
    head = ["Full name", "Username", "ID number", "Email address"]
    rows = [[*head, *(cell(title_of(e, columns)) for e in exercises)]]
    for name, student in book.students().items():
        own = table.get(name, {})
        totals = [own[e].total if e in own else None for e in exercises]
        who = (student["name"] or name, student["user"], student["id"])
        rows.append(
            [*map(cell, who), cell(student["email"]), *map(points_text, totals)]
        )
    return csv_text(rows)
