"""Exercises as assignments of nbgrader, for those who grade with it.

nbgrader runs answers and checks in one process, so an answer that means to can reach
its own check; `attncourse grade` is built so that it cannot.
"""

from __future__ import annotations

import copy
import re
from pathlib import Path

from attncourse_grader.exercises import exercise_of
from attncourse_grader.hand_in.release import MODEL_ANSWER, text_of
from attncourse_grader.hand_in.submission import Refused, read_notebook

SCHEMA = 3  # of nbgrader's metadata of cells
KEYS = {"grade", "grade_id", "locked", "points", "schema_version", "solution", "task"}
GRADE_ID = re.compile(r"[A-Za-z0-9_-]+")
TEST = """\
# Graded, {points:g} of {of:g} points: {claim}
### BEGIN HIDDEN TESTS
from attncourse_grader.hand_in.nbgrader_format import require

require({notebook!r}, {task!r}, {place}, {seeds}, {names})
### END HIDDEN TESTS"""


def assignment_from(solution, name: str, secret: str = ""):
    """Return the source notebook of an assignment of nbgrader.

    Parameters
    ----------
    solution : nbformat.NotebookNode
        The instructor's notebook; it is not changed.
    name : str
        The name of the notebook, without its ending.
    secret : str
        What hidden inputs are drawn from; without it there are none.
    """
    from nbformat.v4 import new_code_cell

    exercise = exercise_of(name)
    notebook = copy.deepcopy(solution)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook.metadata["kernelspec"] = kernel
    cells, questions = [], 0
    for cell in notebook.cells:
        cells.append(cell)
        mark = cell.metadata.get("attncourse", {})
        if cell.cell_type == "markdown":
            if MODEL_ANSWER.search(cell.source):  # read, and given no points
                questions += 1
                _mark(cell, f"question-{questions}", solution=True, points=0)
            continue
        cell.outputs, cell.execution_count = [], None
        if task := mark.get("answer"):
            _mark(cell, f"answer-{task}", solution=True)
        elif name_of_task := mark.get("check"):
            _mark(cell, f"check-{name_of_task}")
            task = exercise.task(name_of_task)
            for place, check in enumerate(task.checks):
                source = TEST.format(
                    points=check.points,
                    of=task.points,
                    claim=check.claim,
                    notebook=name,
                    task=task.name,
                    place=place,
                    seeds=_seeds(check, task, secret),
                    names=", ".join(task.names),
                )
                test = new_code_cell(source)
                test.id = f"{cell.id}-{place}"
                test.metadata["tags"] = ["hide-cell"]
                _mark(test, f"test-{task.name}-{place}", points=check.points)
                cells.append(test)
    notebook.cells = cells
    return notebook


def _mark(cell, grade_id: str, *, solution: bool = False, points=None) -> None:
    cell.metadata["nbgrader"] = {
        "grade": points is not None,
        "grade_id": grade_id,
        "locked": not solution,
        "schema_version": SCHEMA,
        "solution": solution,
        "task": False,
    }
    if points is not None:
        cell.metadata["nbgrader"]["points"] = points


def _seeds(check, task, secret: str) -> list[int]:
    from attncourse_grader.grade.compose import seeds_of

    return seeds_of(check, task, secret) if secret else list(check.seeds)


def faults_of(notebook) -> list[str]:
    """Return what nbgrader would not accept in the metadata of a notebook's cells.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
        The notebook.
    """
    found, ids = [], set()
    for place, cell in enumerate(notebook.cells, start=1):
        mark = cell.metadata.get("nbgrader")
        if mark is None:
            if "BEGIN SOLUTION" in cell.source or "BEGIN HIDDEN" in cell.source:
                found.append(f"cell {place} has a region and no mark")
            continue
        if unknown := mark.keys() - KEYS:
            found.append(f"cell {place} has {sorted(unknown)}")
        if mark.get("schema_version") != SCHEMA:
            found.append(f"cell {place} is of another schema")
        for key in ("grade", "locked", "solution", "task"):
            if not isinstance(mark.get(key), bool):
                found.append(f"cell {place}: {key} is no boolean")
        grade_id = mark.get("grade_id", "")
        if not GRADE_ID.fullmatch(grade_id) or grade_id in ids:
            found.append(f"cell {place}: the id {grade_id!r} is bad or not its own")
        ids.add(grade_id)
        if mark["grade"] != ("points" in mark) or mark.get("points", 0) < 0:
            found.append(f"cell {place}: points belong to graded cells")
        if cell.cell_type == "markdown" and mark["grade"] != mark["solution"]:
            found.append(f"cell {place}: text is graded where it is a solution")
    return found


def export_for_nbgrader(solution: Path, folder: Path, secret: str = "") -> Path:
    """Write the source of one assignment into a course folder of nbgrader.

    Parameters
    ----------
    solution : Path
        A notebook of ``solutions/``.
    folder : Path
        The course folder; the notebook goes to ``source/NAME/NAME.ipynb`` in it.
    secret : str
        What hidden inputs are drawn from; without it there are none.
    """
    name = solution.stem
    notebook = assignment_from(read_notebook(solution), name, secret)
    if faults := faults_of(notebook):
        raise Refused(f"{solution.name} does not fit nbgrader: {'; '.join(faults)}.")
    path = folder / "source" / name / solution.name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text_of(notebook), encoding="utf8")
    except OSError as error:
        raise Refused(f"{path} cannot be written ({error.strerror}).") from None
    return path


def require(notebook: str, task: str, place: int, seeds: list[int], *answers) -> None:
    """Raise if an answer does not pass a check: what nbgrader runs.

    Parameters
    ----------
    notebook : str
        The name of the exercise's notebook.
    task : str
        The name of the task.
    place : int
        Which of its checks.
    seeds : list of int
        Seeds of the inputs.
    *answers
        The functions or classes that the task asks for.
    """
    from attncourse.exercises.judge import cases_of, forbidden, judge

    exercise = exercise_of(notebook)
    check = exercise.task(task).checks[place]
    if mistake := forbidden(exercise, answers):
        raise AssertionError(mistake.says)
    verdict = judge(check, cases_of(check, answers, seeds))
    if not verdict.holds:
        raise AssertionError(verdict.says)
