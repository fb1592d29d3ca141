"""Write down what stands in the gradebook: pages, tables, the page about the class."""

from __future__ import annotations

from pathlib import Path

from attncourse_grader.grade.report import json_of_record, page_of_record
from attncourse_grader.records.class_page import class_page
from attncourse_grader.records.effective import effective_grades, record_of_effective
from attncourse_grader.records.exports import plain_table, write
from attncourse_grader.safe_text import number, one_line

FEEDBACK = "feedback"


def write_outputs(book, out: Path) -> list[str]:
    """Write everything that follows from the gradebook.

    Files that say the same already are left alone.
    """
    found = effective_grades(book)
    students = book.students()
    problems: list[str] = []
    for effective in found:
        record = record_of_effective(book, effective)
        if record is None:
            if effective.handin:
                problems.append(
                    f"{effective.student}, {effective.exercise}: what the gradebook "
                    "holds about it is damaged; the points are "
                    f"{number(effective.points)}. --again grades it anew."
                )
            continue
        stem = page_stem(students[effective.student], effective)
        total = {"total": effective.total, "standing": list(effective.sentences())}
        _try(
            out / FEEDBACK / f"{stem}.html",
            page_of_record(record, effective.sentences()),
            problems,
        )
        _try(
            out / FEEDBACK / f"{stem}.json",
            json_of_record({**record, **total}),
            problems,
        )
    _try(out / "grades.csv", plain_table(book, found), problems)
    _try(out / "class.html", class_page(book, found), problems)
    return problems


def page_stem(student, effective) -> str:
    """Return the name of a student's page about an exercise, without its ending."""
    return f"{student['page']}-{effective.exercise.partition('_')[0]}"


def _try(path: Path, text: str, problems: list[str]) -> None:
    try:
        write(path, text)
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        problems.append(
            f"{one_line(path)} cannot be written ({reason}). The grade is in the "
            "gradebook; the next run writes the file."
        )
