"""What the commands do, once their words are understood."""

from __future__ import annotations

import datetime
import os
import sys
from pathlib import Path

from attncourse_grader.batch import BOOK, Course, grade_course
from attncourse_grader.exercises import modules
from attncourse_grader.hand_in.submission import Refused, version_of
from attncourse_grader.records.effective import effective_grades
from attncourse_grader.records.gradebook import Gradebook
from attncourse_grader.records.late import exercise_named
from attncourse_grader.records.outputs import write_outputs
from attncourse_grader.safe_text import file_name, number, one_line


def secret_in(arguments) -> str:
    """Return the secret: of the command, else of the environment."""
    return arguments.secret or os.environ.get("ATTNCOURSE_SECRET", "")


def run_grade(arguments) -> int:
    """Grade what was handed in."""
    from attncourse_grader.workers import cores

    course = Course(
        solutions=arguments.solutions,
        out=arguments.out,
        secret=secret_in(arguments),
        jobs=arguments.jobs or cores(),
        students=arguments.students,
        deadlines=tuple(arguments.deadline),
        penalty=arguments.penalty,
        late=arguments.late,
        scheduler=arguments.scheduler,
        again=arguments.again,
        seconds=arguments.limit,
    )
    if not 1 <= course.seconds <= 86_400:
        raise Refused("--limit takes seconds, from 1 to those of a day.")
    if course.out is None and (course.deadlines or course.penalty or course.late):
        raise Refused("lateness is kept in a gradebook. Give its folder with --out.")
    return grade_course(arguments.submissions, course)


def run_release(arguments) -> int:
    """Make the exercises, say which, and note the secret's fingerprint."""
    from attncourse_grader.exercises import exercise_of
    from attncourse_grader.hand_in.class_list import read_class_list
    from attncourse_grader.hand_in.manifest import mark_of, write_manifest
    from attncourse_grader.hand_in.release import release

    names = [exercise_named(name) for name in arguments.names] or list(modules())
    secret = secret_in(arguments)
    variants = arguments.variant_per_student
    if arguments.format == "nbgrader":
        from attncourse_grader.hand_in.nbgrader_format import export_for_nbgrader

        if variants:
            raise Refused("nbgrader hands everybody the same notebooks: no variants.")
        folder = arguments.out or Path("nbgrader")
        for name in names:
            path = arguments.solutions / f"{name}.ipynb"
            print(export_for_nbgrader(path, folder, secret))
        return 0
    out = arguments.out or Path("exercises")
    copies = [(out, "")]
    if variants:
        if not secret:
            raise Refused(
                "a variant for each student needs a secret. Give one with --secret."
            )
        students = [s.student for s in read_class_list(variants).students]
        folders = [file_name(student) for student in students]
        if len({folder.lower() for folder in folders}) < len(folders):
            raise Refused(
                f"two students of {variants.name} would share a folder. Give the class "
                "list a column of ids and none of names."
            )
        copies = [
            (out / folder, mark_of(secret, student))
            for student, folder in zip(students, folders, strict=True)
        ]
    for folder, mark in copies:
        for name in names:
            path = release(arguments.solutions / f"{name}.ipynb", folder, mark)
            if not variants:
                print(path)
    if variants:
        print(f"{len(names)} exercises for each of {len(copies)} students.")
    if secret:
        versions = {name: version_of(exercise_of(name)) for name in names}
        print(write_manifest(arguments.solutions, secret, versions, bool(variants)))
    return 0


def run_adjust(arguments) -> int:
    """Keep a change by hand and write the pages anew."""
    try:
        points = float(arguments.points.replace(",", "."))
    except ValueError:
        points = float("nan")
    if not abs(points) <= 1000:
        raise Refused(
            f"{arguments.points!r} is no number of points. Write it like +2 or -1.5."
        )
    if not arguments.reason.strip():
        raise Refused("a change by hand needs a reason, which the student reads.")
    exercise = exercise_named(arguments.exercise)
    with Gradebook(arguments.grades / BOOK, must_exist=True) as book:
        student = book.student_named(arguments.student)
        book.adjust(student, exercise, points, arguments.reason)
        for says in write_outputs(book, arguments.grades):
            print(says, file=sys.stderr)
        for effective in effective_grades(book):
            if (effective.student, effective.exercise) == (student, exercise):
                print(f"{student}, {exercise}: {' '.join(effective.sentences())}")
    return 0


def run_export(arguments) -> int:
    """Write the tables of one form, and all that follows from the gradebook."""
    from attncourse_grader.records.exports import export

    columns = {}
    for text in arguments.column:
        which, sign, heading = text.partition("=")
        if not sign:
            raise Refused(
                f"{text!r} is not understood. Write it like 1='Sheet 1 (42)'."
            )
        columns[exercise_named(which)] = heading
    with Gradebook(arguments.grades / BOOK, must_exist=True) as book:
        missing = write_outputs(book, arguments.grades)
        paths, absent = export(
            book, arguments.form, arguments.out or arguments.grades, columns
        )
    for says in [*missing, *absent]:
        print(says, file=sys.stderr)
    for path in paths:
        print(path)
    return 1 if missing else 0


def run_history(arguments) -> int:
    """Print all that the gradebook knows about a student."""
    with Gradebook(arguments.grades / BOOK, must_exist=True) as book:
        student = book.student_named(arguments.student)
        print(student)
        for effective in effective_grades(book):
            if effective.student == student:
                total = number(effective.total or 0)
                print(
                    f"  {effective.exercise}: {total} of {number(effective.of)}. "
                    f"{' '.join(effective.sentences())}".rstrip()
                )
        rows = book.rows(
            "SELECT handins.*, results.points, results.exercise, results.graded "
            "FROM handins LEFT JOIN results ON results.key = handins.key "
            "WHERE student = ? ORDER BY first_run, time",
            student,
        )
        for row in rows:
            said = f"not graded: {row['refused']}"
            if row["points"] is not None:
                said = f"{row['exercise']}, {number(row['points'])} points, "
                said += f"graded {_day(row['graded'])}"
            print(f"  {_day(row['time'])}  {one_line(row['source'], 300)}  {said}")
        rows = book.rows(
            "SELECT * FROM adjustments WHERE student = ? ORDER BY made", student
        )
        for row in rows:
            print(
                f"  {_day(row['made'])}  by hand: {row['exercise']} "
                f"{row['points']:+g}. {row['reason']}"
            )
    return 0


def _day(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")


def run_doctor(arguments) -> int:
    """Say what is missing on this machine."""
    from attncourse_grader.doctor import examine, text_of

    found = examine(Path(arguments.grades))
    print(text_of(found))
    return 1 if any(f.state == "missing" for f in found) else 0
