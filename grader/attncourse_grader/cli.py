"""The command ``attncourse``: hand out exercises, grade, adjust, export."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from attncourse_grader.isolate.forking import TOTAL_SECONDS
from attncourse_grader.workers import cores

FAULTS, INTERRUPTED = 1, 130
GRADES = Path("grades")


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="attncourse", description="Tools of the course on attention."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _grade(commands.add_parser("grade", help="grade notebooks that were handed in"))
    _gradescope(commands.add_parser("gradescope", help="make an autograder for it"))
    _release(commands.add_parser("release", help="make exercises from solutions"))
    _adjust(commands.add_parser("adjust", help="change points by hand"))
    _extend(commands.add_parser("extend", help="give one student another deadline"))
    _undo(commands.add_parser("undo", help="list runs of grade, undo one"))
    _export(commands.add_parser("export", help="write tables of grades"))
    _history(commands.add_parser("history", help="what is known about a student"))
    _doctor(commands.add_parser("doctor", help="what is missing on this machine"))
    return parser


def _grade(parser) -> None:
    add = parser.add_argument
    add(
        "submissions",
        nargs="+",
        type=Path,
        metavar="SUBMISSIONS",
        help="notebooks, folders, and zip files of Moodle or Canvas",
    )
    add("--out", type=Path, metavar="GRADES", help="folder of the gradebook and pages")
    _add_solutions(parser)
    _add_secret(parser)
    add("--jobs", type=int, default=cores(), help="notebooks at a time (all cores)")
    add("--students", type=Path, metavar="CSV", help="the class list")
    add(
        "--deadline",
        action="append",
        default=[],
        metavar="[N=]TIME",
        help="2026-12-01T23:59 or none; with 1= before it, of exercise 1; may be "
        "repeated",
    )
    add(
        "--penalty",
        default="",
        help="what lateness costs: 10%%/day, 1/hour, 20%%, none",
    )
    add(
        "--times",
        action="append",
        default=[],
        metavar="[N=]FILE",
        help="when things were handed in: Moodle's grading worksheet of exercise N, "
        "Canvas's submissions (JSON), or a CSV; may be repeated",
    )
    add("--scheduler", default="", metavar="ADDRESS", help="of a Dask cluster")
    add(
        "--limit",
        type=int,
        default=TOTAL_SECONDS,
        metavar="SECONDS",
        help="what the cells of one submission may take together (%(default)s)",
    )
    add("--alike", action="store_true", help="look for answers that are alike, too")
    add("--again", action="store_true", help="grade what was graded before, too")
    parser.set_defaults(run="run_grade")


def _gradescope(parser) -> None:
    add = parser.add_argument
    add("exercise", help="number or name")
    add("--out", type=Path, default=Path(), help="folder for the zip file")
    _add_solutions(parser)
    _add_secret(parser)
    add("--penalty", default="", help="what lateness costs: 10%%/day, 1/hour, 20%%")
    add("--minutes", type=int, default=10, help="Gradescope's limit (default: 10)")
    add(
        "--visibility",
        default="visible",
        choices=("visible", "after_due_date", "after_published", "hidden"),
        help="when students see the tasks (default: visible)",
    )
    add(
        "--index",
        default=os.environ.get("PIP_EXTRA_INDEX_URL", ""),
        metavar="ADDRESS",
        help="a package index with PyTorch's CPU builds, which are much smaller",
    )
    parser.set_defaults(run="run_gradescope")


def _release(parser) -> None:
    add = parser.add_argument
    add("names", nargs="*", metavar="EXERCISE", help="number or name (default: all)")
    add("--out", type=Path, help="default: exercises; for nbgrader: nbgrader")
    _add_solutions(parser)
    _add_secret(parser)
    add(
        "--variant-per-student",
        type=Path,
        metavar="CSV",
        help="class list: a folder for each student, hidden inputs of their own",
    )
    add("--format", choices=("attncourse", "nbgrader"), default="attncourse")
    parser.set_defaults(run="run_release")


def _adjust(parser) -> None:
    add = parser.add_argument
    add("student")
    add("exercise", help="number or name")
    add("points", help="+2 or -1.5")
    add("--reason", required=True, help="why; the student reads it")
    _add_grades(parser)
    parser.set_defaults(run="run_adjust")


def _extend(parser) -> None:
    add = parser.add_argument
    add("student")
    add("exercise", help="number or name")
    add("until", metavar="TIME", help="2026-12-05T23:59, or none to take it back")
    add("--reason", default="", help="why; for your own records")
    _add_grades(parser)
    parser.set_defaults(run="run_extend")


def _undo(parser) -> None:
    add = parser.add_argument
    add("which", nargs="?", type=int, metavar="RUN", help="number (default: list runs)")
    add("--back", action="store_true", help="let the run count again")
    _add_grades(parser)
    parser.set_defaults(run="run_undo")


def _export(parser) -> None:
    add = parser.add_argument
    add("--form", choices=("plain", "tasks", "moodle", "canvas"), default="plain")
    add("--out", type=Path, help="folder for the tables (default: that of the grades)")
    add(
        "--into",
        action="append",
        default=[],
        metavar="[N=]CSV",
        help="a table downloaded just now, to fill: Canvas's gradebook, or Moodle's "
        "grading worksheet of exercise N; may be repeated",
    )
    add(
        "--column",
        action="append",
        default=[],
        metavar="N=HEADING",
        help="the column of exercise N in Canvas; may be repeated",
    )
    _add_grades(parser)
    parser.set_defaults(run="run_export")


def _history(parser) -> None:
    parser.add_argument("student")
    _add_grades(parser)
    parser.set_defaults(run="run_history")


def _doctor(parser) -> None:
    _add_grades(parser)
    parser.set_defaults(run="run_doctor")


def _add_grades(parser) -> None:
    parser.add_argument(
        "--grades",
        type=Path,
        default=GRADES,
        help="folder that was given to grade with --out (default: grades)",
    )


def _add_solutions(parser) -> None:
    parser.add_argument(
        "--solutions",
        type=Path,
        default=Path("solutions"),
        help="folder of the instructor's notebooks (default: solutions)",
    )


def _add_secret(parser) -> None:
    parser.add_argument(
        "--secret",
        default=os.environ.get("ATTNCOURSE_SECRET", ""),
        metavar="WORD",
        help="what hidden inputs are drawn from; the same word, the same inputs "
        "(default: the environment variable ATTNCOURSE_SECRET)",
    )


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    parsed = build_parser().parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):  # a name may need letters that it has not
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        return _run(parsed)
    except KeyboardInterrupt:
        said = "Interrupted. What was graded is kept; the same command goes on."
        print(said, file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # whoever read the output has gone, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAULTS


def _run(parsed) -> int:
    from attncourse_grader import commands
    from attncourse_grader.hand_in.submission import Refused
    from attncourse_grader.records.database import Stopped
    from attncourse_grader.safe_text import one_line

    try:
        return getattr(commands, parsed.run)(parsed)
    except (Refused, Stopped) as sentence:
        text = one_line(sentence, 1000)
        print(text[:1].upper() + text[1:], file=sys.stderr)
    except (KeyboardInterrupt, BrokenPipeError):
        raise
    except Exception as error:
        if os.environ.get("ATTNCOURSE_TRACEBACK"):
            raise
        said = one_line(f"{type(error).__name__}: {error}", 300)
        print(
            f"The command failed ({said}). What was graded is kept. Report it, with "
            "what ATTNCOURSE_TRACEBACK=1 before the command shows.",
            file=sys.stderr,
        )
    return FAULTS


if __name__ == "__main__":
    sys.exit(main())
