"""The command ``attncourse``: make exercises, grade what was handed in."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="attncourse", description="Tools of the course on attention."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    grade = commands.add_parser("grade", help="grade notebooks that were handed in")
    grade.add_argument("files", nargs="+", type=Path, metavar="FILE")
    grade.add_argument(
        "--out",
        type=Path,
        help="folder for a page and JSON per student, and grades.csv",
    )
    _add_solutions(grade)
    grade.add_argument(
        "--secret",
        default="",
        help="what the hidden inputs are drawn from; the same secret, the same inputs",
    )
    grade.add_argument("--jobs", type=int, default=1, help="notebooks at a time")
    grade.set_defaults(run=run_grade)

    release = commands.add_parser("release", help="make exercises from solutions")
    release.add_argument("names", nargs="*", metavar="EXERCISE", help="default: all")
    release.add_argument("--out", type=Path, default=Path("exercises"))
    _add_solutions(release)
    release.set_defaults(run=run_release)
    return parser


def _add_solutions(parser) -> None:
    parser.add_argument(
        "--solutions",
        type=Path,
        default=Path("solutions"),
        help="folder of the instructor's notebooks (default: solutions)",
    )


def run_release(arguments) -> int:
    """Make the exercises and say which."""
    from attncourse.exercises import MODULES
    from attncourse.grading.release import release
    from attncourse.grading.submission import Refused

    names = [Path(name).stem for name in arguments.names] or list(MODULES)
    for name in names:
        try:
            print(release(arguments.solutions / f"{name}.ipynb", arguments.out))
        except Refused as refused:
            print(refused, file=sys.stderr)
            return 1
    return 0


def run_grade(arguments) -> int:
    """Grade the files, print each report, and write them down where asked."""
    from attncourse.grading.batch import grade_files

    return grade_files(
        arguments.files,
        solutions=arguments.solutions,
        out=arguments.out,
        secret=arguments.secret,
        jobs=arguments.jobs,
    )


def main(arguments: list[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    arguments : list of str, optional
        The words after the command's name; by default those of the process.

    Returns
    -------
    int
        The exit status: 0 if everything was done, 1 if a file was refused.
    """
    parsed = build_parser().parse_args(arguments)
    return parsed.run(parsed)


if __name__ == "__main__":
    sys.exit(main())
