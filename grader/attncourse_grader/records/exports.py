"""Write down what stands in the gradebook: tables of all forms, and the pages."""

from collections import defaultdict
from pathlib import Path

from attncourse_grader.exercises import counts, modules
from attncourse_grader.grade.report import page
from attncourse_grader.hand_in.tables import cell, csv_text
from attncourse_grader.records import effective
from attncourse_grader.records.class_page import class_page
from attncourse_grader.records.database import in_place_of
from attncourse_grader.records.lms import CanvasTable, Worksheet, moodle_feedback
from attncourse_grader.safe_text import number, one_line, reason
from attncourse_grader.sentences import SAYS


def write_outputs(book, out: Path) -> list[str]:
    """Write everything that follows from the gradebook; return what went wrong."""
    students, problems, pages = book.students(), [], set()
    found = effective.grades_of_class(book)
    graded = [(grade, effective.record_for(book, grade)) for grade in found]

    def keep(path: Path, text: str) -> None:
        try:
            write(path, text)
        except OSError as error:
            problems.append(SAYS["unwritten"].format(one_line(path), reason(error)))

    for name, make in {**TABLES, "class.html": class_page}.items():
        keep(out / name, make(book, graded))
    for grade, record in (one for one in graded if one[0].exercise in modules()):
        name, place = students[grade.student]["page"], grade.exercise.partition("_")[0]
        path = out / "feedback" / f"{name}-{place}.html"
        pages |= {path} if grade.handin else set()  # points by hand alone have none
        if record is not None:
            keep(path, page("feedback.html", record=record, standing=grade.sentences()))
        elif grade.handin is not None:
            problems.append(SAYS["damaged"].format(grade.student, grade.exercise))
    # Pages of what counts no longer, or of those who have left.
    ours = {student["page"] for student in students.values()}
    for path in (out / "feedback").glob("*-*.html"):
        if path not in pages and path.stem.rpartition("-")[0] in ours:
            path.unlink()
    return problems


def place_of(out: Path, exercise: str, name: str) -> Path:
    """Return where a platform's table is written once it is filled."""
    parts = "filled", exercise.partition("_")[0], Path(name).stem
    return out / f"{'-'.join(filter(None, parts))}.csv"


def fill(book, out: Path, exercise: str, name: str, columns: dict[str, str]):
    """Fill a platform's table; return the paths written, and what should be known."""
    found, paths = effective.grades_of_class(book), [place_of(out, exercise, name)]
    table = (Worksheet if exercise else CanvasTable)(Path(name), book, exercise)
    query = "SELECT DISTINCT student FROM standing_now JOIN withdrawn USING (student)"
    left = {row["student"] for row in book.rows(query)}.intersection(table.whose())
    said = table.named({"withdrawn": left})
    if exercise:
        said += table.fill({s.student: s for s in found if s.exercise == exercise})
        stem = paths[0].stem.replace("filled", "moodle", 1)
        paths.append(out / f"{stem}-feedback.zip")
        moodle_feedback(book, table.filled, paths[1])
    else:
        said += table.fill(found, columns)
    write(paths[0], csv_text([table.head, *table.rows]))
    return paths, said


def plain_table(book, graded) -> str:
    """Return one row a student, with what stands in the end for each exercise."""
    counted = [grade for grade, _ in graded if counts(grade.exercise)]
    table = {(grade.student, grade.exercise): grade for grade in counted}
    exercises, remarks = effective.exercises_in(table.values()), defaultdict(list)
    most = {grade.exercise: grade.of for grade in table.values()}
    for name, says in book.rows("SELECT student, says FROM refusals"):
        remarks[name].append(says)
    rows = [["student", "id", "email", "section", *exercises, "total", "of", "remark"]]
    for name, student in book.students().items():
        if student["gone"]:
            continue
        own = [table.get((name, exercise)) for exercise in exercises]
        totals = [grade.total if grade else None for grade in own]
        known = [total for total in totals if total is not None]
        late = [grade for grade in own if grade and grade.late]
        remarks[name] += [f"{g.exercise}: {g.sentences()[0]}" for g in late]
        of = sum((most | {g.exercise: g.of for g in own if g}).values())
        row = [cell(student[c]) for c in ("student", "id", "email", "section")]
        row += map(number, (*totals, sum(known) if known else None, of))
        rows.append([*row, cell(" ".join(remarks[name]))])
    return csv_text(rows)


def tasks_table(book, graded) -> str:
    """Return one row for each student and exercise, with the points of its tasks."""
    records = [record for _, record in graded if record]
    labels = sorted({task["task"] for record in records for task in record["tasks"]})
    head = ["student", "exercise", "points", "marked", "of", "late", "penalty"]
    rows = [[*head, "by hand", "total", *labels, "comments"]]
    for grade, record in graded:
        tasks = record["tasks"] if record else []
        points = {t["task"]: number(t["points"]) for t in tasks}
        marked = grade.marked if grade.marks else None
        by_hand = sum(p for p, _ in grade.adjustments) if grade.adjustments else None
        row = [cell(grade.student), grade.exercise]
        row += map(number, (grade.points, marked, grade.of))
        row.append(f"{grade.late / 3600:.1f} h" if grade.late else "")
        row += map(number, (grade.penalty or None, by_hand, grade.total))
        row += [points.get(label, "") for label in labels]
        rows.append([*row, cell(" ".join(mark.comment for mark in grade.marks))])
    return csv_text(rows)


TABLES = {"grades.csv": plain_table, "tasks.csv": tasks_table}


def write(path: Path, text: str) -> None:
    """Write a file as a whole or not at all; leave one that says the same already."""
    data = text.encode("utf8", "replace")
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with in_place_of(path) as part:
        part.write_bytes(data)
