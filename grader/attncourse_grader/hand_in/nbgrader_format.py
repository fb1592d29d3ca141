"""Exercises as assignments of nbgrader, for those who grade with it.

nbgrader runs answers and checks in one process, so an answer that means to can reach
its own check; `attncourse grade` is built so that it cannot.
"""

import contextlib
import copy
import io
from pathlib import Path

from attncourse_grader.exercises import exercise_of
from attncourse_grader.hand_in.release import MODEL_ANSWER, exercise_from, release

SCHEMA = 3  # of nbgrader's metadata of cells
TEST = Path(__file__).with_name("nbgrader_test.txt").read_text("utf8").rstrip()


def assignment_from(notebook, name: str):
    """Make the notebook of a solution nbgrader's source of it, and return it."""
    from nbformat.v4 import new_code_cell

    exercise_from(copy.deepcopy(notebook), name)  # whose faults are those of this, too
    exercise = exercise_of(name)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook.metadata["kernelspec"] = kernel
    cells, questions = [], 0
    for cell in notebook.cells:
        cells.append(cell)
        mark = cell.metadata.get("attncourse", {})
        if answer := mark.get("answer"):  # `manual` is what somebody marks by hand
            _mark(cell, f"answer-{answer}", solution=True, points=mark.get("manual"))
        elif MODEL_ANSWER.search(cell.source):  # read, and given no points
            questions += 1
            _mark(cell, f"question-{questions}", solution=True, points=0)
        elif checked := mark.get("check"):
            _mark(cell, f"check-{checked}")
            task = exercise.task(checked)
            facts = {"points": task.points, "notebook": name, "task": task.name}
            test = new_code_cell(TEST.format(**facts, names=", ".join(task.answers)))
            test.id = f"{cell.id}-test"
            test.metadata["tags"] = ["hide-cell"]
            _mark(test, f"test-{task.name}", points=task.points)
            cells.append(test)
    notebook.cells = cells
    return notebook


def _mark(cell, grade_id: str, *, solution: bool = False, points=None) -> None:
    mark = {"grade": points is not None, "grade_id": grade_id, "locked": not solution}
    mark |= {"schema_version": SCHEMA, "solution": solution, "task": False}
    mark |= {"points": points} if points is not None else {}
    cell.metadata["nbgrader"] = mark


def export_for_nbgrader(solution: Path, folder: Path) -> Path:
    """Write the source of one assignment into a course folder of nbgrader."""
    return release(solution, folder / "source" / solution.stem, assignment_from)


def points_for(notebook: str, task: str, *answers) -> float:
    """Return the points of an answer, and print what is wrong with it."""
    from attncourse.exercises.compare import points
    from attncourse.exercises.notebook import verdicts_on

    exercise = exercise_of(notebook)
    with contextlib.redirect_stderr(io.StringIO()):  # it would cost all points
        verdicts = verdicts_on(exercise, exercise.task(task), answers)
    for verdict in verdicts:
        print(*verdict.sentences, end="\n" * (not verdict.holds))
    return points(exercise.task(task), verdicts)
