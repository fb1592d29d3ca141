"""What the commands do, once their words are understood."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from attncourse_grader.batch import BOOK, grade_course
from attncourse_grader.exercises import modules
from attncourse_grader.gradescope import build
from attncourse_grader.hand_in.nbgrader_format import export_for_nbgrader
from attncourse_grader.hand_in.release import DEFAULT_SECRET, release
from attncourse_grader.hand_in.submission import Refused
from attncourse_grader.hand_in.times import exercise_named, numbered, read_deadline
from attncourse_grader.isolate.sandbox import UNSAFE
from attncourse_grader.records.database import back_up, only_run
from attncourse_grader.records.effective import effective_grades, grades_of_class
from attncourse_grader.records.exports import TABLES, fill, place_of, write_outputs
from attncourse_grader.records.gradebook import Gradebook
from attncourse_grader.records.late import penalty_for
from attncourse_grader.safe_text import number


def find_book() -> None:
    """Let links in feedback lead to the site of the clone in this folder, if known."""
    here = "-c", "safe.bareRepository=explicit"  # not what others have put there
    asked = ["git", *here, "config", "--get", "remote.origin.url"]
    try:
        done = subprocess.run(asked, capture_output=True, text=True, timeout=5)
    except (OSError, subprocess.SubprocessError):
        return
    match = re.search(r"github\.com[:/]([\w.-]+)/([\w.-]+?)(\.git)?\s*$", done.stdout)
    if match:
        book = f"https://{match[1].lower()}.github.io/{match[2]}/"
        os.environ.setdefault("ATTNCOURSE_BOOK", book)


def run_grade(arguments) -> int:
    """Grade what was handed in."""
    find_book()
    if arguments.unsafe:
        os.environ[UNSAFE] = "1"
    if not 1 <= arguments.limit <= 86_400:
        raise Refused("--limit takes seconds, from 1 to those of a day.")
    return grade_course(arguments)


def run_gradescope(arguments) -> int:
    """Write the zip file of an autograder for Gradescope."""
    penalty_for(arguments.penalty)
    find_book()
    settings = {
        "book": os.environ.get("ATTNCOURSE_BOOK", ""),
        "exercise": exercise_named(arguments.exercise),
        "secret": arguments.secret or DEFAULT_SECRET,
        "penalty": arguments.penalty,
        "visibility": arguments.visibility,
    }
    print(build(arguments.solutions, arguments.out, arguments.index, settings))
    return 0


def run_release(arguments) -> int:
    """Make the exercises, and say which."""
    names = [exercise_named(name) for name in arguments.names] or list(modules())
    out = arguments.out or Path(arguments.format.replace("attncourse", "exercises"))
    make = export_for_nbgrader if arguments.format == "nbgrader" else release
    for name in names:
        print(make(arguments.solutions / f"{name}.ipynb", out))
    return 0


def run_adjust(arguments) -> int:
    """Keep a change by hand and write the pages anew."""
    text = arguments.points.replace(",", ".")
    if not re.fullmatch(r"[+-]?\d{1,3}(\.\d+)?", text):
        raise Refused(f"{text!r} is no number of points. Write it like +2 or -1.5.")
    if not arguments.reason.strip():
        raise Refused("a change by hand needs a reason, which the student reads.")
    return _change(arguments, "adjustments", points=float(text), made=time.time())


def run_extend(arguments) -> int:
    """Keep one student's own deadline and write the pages anew."""
    return _change(arguments, "extensions", until=read_deadline(arguments.until))


def _change(arguments, table: str, **facts) -> int:
    """Make a change for one student, and say what it comes to."""
    exercise = exercise_named(arguments.exercise)
    back_up(arguments.grades / BOOK)
    with Gradebook(arguments.grades / BOOK, must_exist=True) as book:
        student = book.student_named(arguments.student)
        book.keep(table, student, exercise, reason=arguments.reason, **facts)
        _write(book, arguments)
        for found in effective_grades(book):
            if (found.student, found.exercise) == (student, exercise):
                total = f"{number(found.total)} of {number(found.of)} points."
                print(f"{student}, {exercise}:", " ".join(found.sentences()) or total)
        query = "SELECT says FROM own_deadlines WHERE student = ? AND exercise = ?"
        for row in book.rows(query, student, exercise):
            print(row["says"])
    return 0


def run_mark(arguments) -> int:
    """Show what is to be marked on a page of this machine, until it is interrupted."""
    from attncourse_grader.records.marking import MarkingServer

    path, anonymous = arguments.grades / BOOK, arguments.anonymous
    for ends in {signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)}:
        if signal.getsignal(ends) is signal.SIG_DFL:  # and not that of nohup
            signal.signal(ends, signal.default_int_handler)
    back_up(path)
    with Gradebook(path, must_exist=True):
        server = MarkingServer(path, anonymous=anonymous)
    with server, contextlib.suppress(KeyboardInterrupt):
        print(f"Open {server.address}", "End with Ctrl-C.", sep="\n", flush=True)
        server.serve_forever()
    modules.cache_clear()  # there may be others, and another file, by now
    with Gradebook(path, must_exist=True) as book:
        missing = _write(book, arguments)
        waiting = sum(grade.waiting for grade in grades_of_class(book))
        print(f"\nThe pages are written. {waiting} answers are not marked yet.")
    return 1 if missing else 0


def run_undo(arguments) -> int:
    """Undo a run, or take that back; without a number, list the runs."""
    with Gradebook(arguments.grades / BOOK, must_exist=True) as book:
        if arguments.which is not None:
            with only_run(arguments.grades):
                back_up(arguments.grades / BOOK)
                before = _totals(book)
                book.undo(arguments.which, undone=not arguments.back)
            other = {grade[:2] for grade in before ^ _totals(book)}
            names = (f"{student}, {exercise}." for student, exercise in sorted(other))
            print(f"Grades that have changed, come or gone: {len(other)}.", *names)
            _write(book, arguments)
        for row in book.rows("SELECT says FROM all_runs"):
            print(row["says"])
    return 0


def _totals(book) -> set[tuple]:
    return {(g.student, g.exercise, g.total) for g in grades_of_class(book)}


def run_export(arguments) -> int:
    """Write all that follows from the gradebook, and fill tables of platforms."""
    columns = dict(map(numbered, arguments.column))
    tables, out = [numbered(text) for text in arguments.tables], arguments.grades
    several = len(columns) < len(arguments.column)
    if "" in columns or several or (columns and "" not in dict(tables)):
        says = "--column is written like 1='Sheet 1 (42)', once for each exercise, and"
        raise Refused(f"{says} goes with Canvas's gradebook.")
    if len({place_of(out, *table) for table in tables}) < len(tables):
        raise Refused("two tables have one name. Rename one, or fill it by itself.")
    with Gradebook(arguments.grades / BOOK, must_exist=True) as book:
        missing = _write(book, arguments)
        unready = [row["says"] for row in book.rows("SELECT says FROM unready")]
        print(*unready, sep="\n", end="\n" * bool(unready), file=sys.stderr)
        print(*(out / name for name in TABLES), sep="\n")
        for table in tables:
            paths, said = fill(book, out, *table, columns)
            print(*paths, sep="\n")
            print(*said, sep="\n", end="\n" * bool(said), file=sys.stderr)
    return 1 if missing else 0


def _write(book, arguments) -> list[str]:
    """Write all that follows from the gradebook; say and return what went wrong."""
    missing = write_outputs(book, arguments.grades)
    for says in missing:
        print(says, file=sys.stderr)
    return missing


def run_history(arguments) -> int:
    """Print all that the gradebook knows about a student."""
    with Gradebook(arguments.grades / BOOK, must_exist=True) as book:
        student = book.student_named(arguments.student)
        print(student)
        for found in effective_grades(book):
            if found.student == student:
                points = f"{number(found.total or 0)} of {number(found.of)}."
                print(" ", f"{found.exercise}:", points, *found.sentences())
        for row in book.rows("SELECT says FROM history WHERE student = ?", student):
            print(f"  {row['says']}")
    return 0


def run_doctor(arguments) -> int:
    """Say what is missing on this machine."""
    from attncourse_grader.doctor import MISSING, examine, text_of

    found = examine(Path(arguments.grades))
    print(text_of(found))
    return 1 if any(state == MISSING for state, _ in found.values()) else 0
