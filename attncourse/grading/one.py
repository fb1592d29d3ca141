"""Grade one file and return plain data, whatever happens."""

from __future__ import annotations

from pathlib import Path

from attncourse.grading.safe_text import one_line
from attncourse.grading.submission import Refused


def grade_one(path: Path, solutions: Path, secret: str, student: str) -> dict:
    """Grade one notebook.

    Parameters
    ----------
    path : Path
        The notebook.
    solutions : Path
        The folder of the instructor's notebooks.
    secret : str
        What hidden inputs are drawn from.
    student : str
        Who handed it in.

    Returns
    -------
    dict
        ``record``, ``text``, ``answers`` and ``variant`` of a grade; or ``refused``:
        why the file cannot be graded; or ``failed``: what went wrong in the grader.
    """
    from attncourse.grading import grade as grading
    from attncourse.grading.likeness import fingerprints
    from attncourse.grading.report import record_of, text_of_grade

    try:
        grade = grading.grade_file(
            path, solutions=solutions, secret=secret, student=student
        )
        record, text = record_of(grade), text_of_grade(grade)
    except Refused as refused:
        return {"refused": one_line(refused, 400)}
    except Exception as error:  # a fault of ours must not cost the others their grades
        said = one_line(f"{type(error).__name__}: {error}", 200)
        return {"failed": f"The grader failed on this file ({said}). Report it."}
    answers, variant = fingerprints(path, grade.exercise)
    return {"record": record, "text": text, "answers": answers, "variant": variant}
