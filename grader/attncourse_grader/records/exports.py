"""Tables of grades as CSV: a plain one, and one with tasks; exports of all forms."""

from __future__ import annotations

import os
from pathlib import Path

from attncourse_grader.grade.report import cell
from attncourse_grader.records.effective import (
    EffectiveGrade,
    effective_grades,
    exercises_in,
    record_of_effective,
    refusals,
)
from attncourse_grader.records.lms import (
    by_student,
    canvas_table,
    csv_text,
    moodle_feedback,
    moodle_gradebook,
    moodle_worksheet,
    points_text,
)
from attncourse_grader.safe_text import number


def export(book, form: str, out: Path, columns: dict[str, str] | None = None):
    """Write the tables of one form."""
    found = effective_grades(book)
    columns = columns or {}
    if form in ("plain", "tasks"):
        text = (plain_table if form == "plain" else tasks_table)(book, found)
        path = out / ("grades.csv" if form == "plain" else "tasks.csv")
        write(path, text)
        return [path], []
    if form == "canvas":
        text, missing = canvas_table(book, found, columns)
        write(out / "canvas.csv", text)
        return [out / "canvas.csv"], missing
    paths, missing = [], []
    for exercise in exercises_in(found):
        place = exercise.partition("_")[0]
        text, absent = moodle_worksheet(book, found, exercise)
        missing += absent
        if text:
            write(out / f"moodle-{place}.csv", text)
            paths.append(out / f"moodle-{place}.csv")
            pages = out / f"moodle-{place}-feedback.zip"
            moodle_feedback(book, found, exercise, pages)
            paths.append(pages)
    write(out / "moodle-gradebook.csv", moodle_gradebook(book, found, columns))
    return [*paths, out / "moodle-gradebook.csv"], missing


def plain_table(book, found: list[EffectiveGrade]) -> str:
    """Return one row a student, with what stands in the end for each exercise."""
    exercises, table = exercises_in(found), by_student(found)
    of = sum({effective.exercise: effective.of for effective in found}.values())
    remarks: dict[str, list[str]] = {}
    for refused in refusals(book):
        says = f"{refused['source']}: {refused['refused']}"
        remarks.setdefault(refused["student"], []).append(says)
    rows = [["student", "id", "email", "section", *exercises, "total", "of", "remark"]]
    for name, student in book.students().items():
        own = table.get(name, {})
        totals = [own[e].total if e in own else None for e in exercises]
        known = [t for t in totals if t is not None]
        for effective in own.values():
            if effective.late > 0:
                text = f"{effective.exercise}: {effective.sentences()[0]}"
                remarks.setdefault(name, []).append(text)
        rows.append(
            [
                *(cell(student[c]) for c in ("student", "id", "email", "section")),
                *map(points_text, totals),
                points_text(sum(known) if known else None),
                number(of),
                cell(" ".join(remarks.get(name, []))),
            ]
        )
    return csv_text(rows)


def tasks_table(book, found: list[EffectiveGrade]) -> str:
    """Return one row for each student and exercise, with the points of its tasks."""
    records = {id(s): record_of_effective(book, s) for s in found}
    labels = sorted({t["task"] for r in records.values() if r for t in r["tasks"]})
    head = ["student", "exercise", "points", "of", "late", "penalty", "by hand"]
    rows = [[*head, "total", *labels]]
    for effective in found:
        record = records[id(effective)] or {"tasks": []}
        points = {t["task"]: number(t["points"]) for t in record["tasks"]}
        rows.append(
            [
                cell(effective.student),
                effective.exercise,
                points_text(effective.points),
                number(effective.of),
                f"{effective.late / 3600:.1f} h" if effective.late else "",
                number(effective.penalty) if effective.penalty else "",
                number(sum(p for p, _ in effective.adjustments))
                if effective.adjustments
                else "",
                points_text(effective.total),
                *(points.get(label, "") for label in labels),
            ]
        )
    return csv_text(rows)


def write(path: Path, text: str) -> None:
    """Write a file so that it is there as a whole or not at all."""
    data = text.encode("utf8", "replace")
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_bytes(data)
    os.replace(part, path)
