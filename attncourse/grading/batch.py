"""Grade many files: one broken file costs the others nothing."""

from __future__ import annotations

import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from attncourse.grading.grade import DEFAULT_SECRET, grade_file
from attncourse.grading.report import (
    json_of_grade,
    page_of_grade,
    record_of,
    table_of,
    text_of_grade,
)
from attncourse.grading.submission import Refused


def grade_files(files, *, solutions, out=None, secret="", jobs=1) -> int:
    """Grade notebooks, print the reports and write them down.

    Parameters
    ----------
    files : list of Path
        The notebooks.
    solutions : Path
        The folder of the instructor's notebooks.
    out : Path, optional
        Where the pages, the JSON files and ``grades.csv`` go. Each is written as
        soon as its grade is known.
    secret : str
        What hidden inputs are drawn from.
    jobs : int
        Notebooks that are graded at a time.

    Returns
    -------
    int
        0 if every file was graded, 1 if one was refused.
    """
    from tqdm import tqdm

    records, refused = [], 0
    names = students_of(files)
    with ThreadPoolExecutor(max(1, jobs)) as pool:
        work = {
            pool.submit(_grade, path, solutions, secret, name): (path, name)
            for path, name in zip(files, names, strict=True)
        }
        progress = tqdm(
            as_completed(work), total=len(work), unit="notebook", file=sys.stderr
        )
        for done in progress:
            path, name = work[done]
            grade, problem = done.result()
            if grade is None:
                refused += 1
                progress.write(f"{path}: not graded. {problem}", file=sys.stderr)
                records.append({"student": name, "refused": problem})
            else:
                progress.write(f"{path}\n{text_of_grade(grade)}\n", file=sys.stdout)
                records.append(record_of(grade))
                if out is not None:
                    stem = f"{file_name(name)}-{grade.exercise.number}"
                    write(out / f"{stem}.html", page_of_grade(grade))
                    write(out / f"{stem}.json", json_of_grade(grade))
            if out is not None:
                write(out / "grades.csv", table_of(records))
    return 1 if refused else 0


def _grade(path, solutions, secret, name):
    try:
        return (
            grade_file(
                path,
                solutions=solutions,
                secret=secret or DEFAULT_SECRET,
                student=name,
            ),
            "",
        )
    except Refused as refused:
        return None, str(refused)
    except Exception as error:  # a fault of ours must not cost the others their grades
        kind = type(error).__name__
        return None, f"The grader failed on this file ({kind}: {error}). Report it."


def students_of(files: list[Path]) -> list[str]:
    """Return a name for each file: its own, with the folder's where names repeat."""
    stems = [path.stem for path in files]
    return [
        f"{path.parent.name}/{path.stem}" if stems.count(path.stem) > 1 else path.stem
        for path in files
    ]


def file_name(student: str) -> str:
    """Return a student's name as a name that every file system takes."""
    return re.sub(r"[^\w.-]+", "_", student).strip("._") or "unnamed"


def write(path: Path, text: str) -> None:
    """Write a file so that it is there as a whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf8")
    os.replace(part, path)
