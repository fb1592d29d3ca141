"""The command ``attncourse``: hand out exercises, grade, adjust, export."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from attncourse_grader import commands
from attncourse_grader.hand_in.submission import Refused
from attncourse_grader.isolate.forking import TOTAL_SECONDS
from attncourse_grader.safe_text import one_line, reason
from attncourse_grader.workers import cores

FAULTS, INTERRUPTED = 1, 130
LATE = "what lateness costs: 10%%/day, 1/hour, 20%%, none"
SOLUTIONS = "folder of the instructor's notebooks (default: %(default)s)"
GRADES = "folder that was given to grade with --out (default: %(default)s)"
FOR_GRADING = ("--secret", "--penalty", "--solutions")
FOR_ONE = ("student", "exercise", "--grades")
MANY = {"action": "append", "default": []}


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line; `commands` has a function for each."""
    parser = argparse.ArgumentParser(
        prog="attncourse", description="Tools of the course on attention."
    )
    found = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    word = os.environ.get("ATTNCOURSE_SECRET", "")
    says = "what hidden inputs are generated from; the same word, the same inputs "
    says += "(default: the environment variable ATTNCOURSE_SECRET)"
    options = {
        "student": {},
        "exercise": {"metavar": "EXERCISE", "help": "number or name"},
        "--secret": {"default": word, "metavar": "WORD", "help": says},
        "--penalty": {"default": "", "help": LATE},
        "--solutions": {"type": Path, "default": "solutions", "help": SOLUTIONS},
        "--grades": {"type": Path, "default": "grades", "help": GRADES},
    }

    def command(name: str, says: str, *shared: str):
        """Begin a command, with those options that others have, too."""
        add = found.add_parser(name, help=says).add_argument
        for option in shared:
            add(option, **options[option])
        return add

    add = command("grade", "grade notebooks that were handed in", *FOR_GRADING)
    says = "notebooks, folders, and zip files of Moodle or Canvas"
    add("submissions", nargs="+", type=Path, metavar="SUBMISSIONS", help=says)
    add("--out", type=Path, default="grades", help="folder of the gradebook and pages")
    add("--jobs", type=int, default=cores(), help="notebooks at a time (%(default)s)")
    add("--students", type=Path, metavar="CSV", help="the class list")
    says = "2026-12-01T23:59 or none; with 1= before it, of exercise 1; may be repeated"
    add("--deadline", **MANY, metavar="[N=]TIME", help=says)
    says = "when things were handed in: Moodle's grading worksheet of exercise N, "
    says += "Canvas's submissions (JSON), or a CSV; may be repeated"
    add("--times", **MANY, metavar="[N=]FILE", help=says)
    add("--scheduler", default="", metavar="ADDRESS", help="of a Dask cluster")
    says = "what the cells of one submission may take together (%(default)s)"
    add("--limit", type=int, default=TOTAL_SECONDS, metavar="SECONDS", help=says)
    says = "grade even where a submission could touch the grades of others"
    add("--unsafe", action="store_true", help=says)
    add("--alike", action="store_true", help="look for answers that are alike, too")
    add("--again", action="store_true", help="grade what was graded before, too")

    add = command("gradescope", "make an autograder for it", "exercise", *FOR_GRADING)
    add("--out", type=Path, default="", help="folder for the zip file")
    kinds = ("visible", "after_due_date", "after_published", "hidden")
    says = "when students see the tasks (default: %(default)s)"
    add("--visibility", default=kinds[0], choices=kinds, help=says)
    says = "a package index with PyTorch's CPU builds, which are much smaller"
    index = os.environ.get("PIP_EXTRA_INDEX_URL", "")
    add("--index", default=index, metavar="ADDRESS", help=says)

    add = command("release", "make exercises from solutions", "--solutions")
    add("names", nargs="*", metavar="EXERCISE", help="number or name (default: all)")
    add("--out", type=Path, help="default: exercises; for nbgrader: nbgrader")
    add("--format", choices=("attncourse", "nbgrader"), default="attncourse")

    add = command("adjust", "change points by hand", *FOR_ONE)
    add("points", help="+2 or -1.5")
    add("--reason", required=True, help="why; the student reads it")
    add = command("extend", "give one student another deadline", *FOR_ONE)
    add("until", metavar="TIME", help="2026-12-05T23:59, or none to take it back")
    add("--reason", default="", help="why; the history shows it")

    add = command("mark", "mark answers in a browser", "--grades")
    add("--anonymous", action="store_true", help="show no names, in another order")
    add = command("undo", "list runs of grade, undo one", "--grades")
    add("which", nargs="?", type=int, metavar="RUN", help="number (default: list runs)")
    add("--back", action="store_true", help="let the run count again")
    add = command("export", "write tables of grades", "--grades")
    says = "tables downloaded just now, to fill: Canvas's gradebook, or with N= before "
    says += "it Moodle's grading worksheet of exercise N"
    add("tables", nargs="*", metavar="[N=]CSV", help=says)
    says = "the column of exercise N in Canvas; may be repeated"
    add("--column", **MANY, metavar="N=HEADING", help=says)
    command("history", "what is known about a student", "student", "--grades")
    command("doctor", "what is missing on this machine", "--grades")
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    parsed = build_parser().parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):  # a name may need letters that it has not
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        return getattr(commands, f"run_{parsed.command}")(parsed)
    except KeyboardInterrupt:
        said = "Interrupted. What was graded is kept; the same command goes on."
        print(said, file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # whoever read the output has gone, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except Refused as sentence:
        text = one_line(sentence, 1000)
        begins = text.split()[0].isalpha()  # with a word, not with the name of a file
        print(text[0].upper() + text[1:] if begins else text, file=sys.stderr)
    except OSError as error:
        place = one_line(error.filename2 or error.filename or "A file", 300)
        said = f"{place} cannot be read or written ({reason(error)}). What was graded"
        print(f"{said} is kept; the same command goes on.", file=sys.stderr)
    except Exception as error:
        if os.environ.get("ATTNCOURSE_TRACEBACK"):
            raise
        said = one_line(f"{type(error).__name__}: {error}", 300)
        said = f"The command failed ({said}). What was graded is kept. Report it, with "
        said += "what ATTNCOURSE_TRACEBACK=1 before the command shows."
        print(said, file=sys.stderr)
    return FAULTS


if __name__ == "__main__":
    sys.exit(main())
