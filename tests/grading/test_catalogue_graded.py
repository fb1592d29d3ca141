"""nbval takes the same points from wrong answers as the check in the notebook does."""

import importlib.util
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from attncourse.exercises import MODULES, exercise_of
from attncourse.grading.grade import grade_file
from attncourse.grading.source import statements_of

ROOT = Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location(
    "catalogue", ROOT / "tests" / "exercises" / "test_catalogue.py"
)
catalogue = importlib.util.module_from_spec(spec)
spec.loader.exec_module(catalogue)


def one_wrong_answer_to_each_task(notebook):
    """Return the first wrong answer to each task that is quick to check."""
    found = {}
    for answer in catalogue.answers_of(notebook).WRONG:
        checks = exercise_of(notebook).task(answer.task).checks
        if not any(check.once for check in checks):
            found.setdefault(answer.task, answer)
    return found


def own_code(notebook, answer):
    """Return the code of an answer without the references that it stands on."""
    tasks = exercise_of(notebook).tasks
    others = {name for t in tasks if t.name != answer.task for name in t.names}
    found = statements_of(catalogue.code_of(notebook, answer), 1)
    return "\n\n".join(s.text for s in found if not s.binds & others)


@pytest.mark.parametrize("notebook", list(MODULES)[:1])
def test_a_submission_that_is_wrong_everywhere_is_graded_task_by_task(
    notebook, tmp_path
):
    wrong = one_wrong_answer_to_each_task(notebook)
    cells = [new_code_cell(own_code(notebook, a)) for a in wrong.values()]
    path = tmp_path / "wrong.ipynb"
    nbformat.write(new_notebook(cells=cells), path)
    grade = grade_file(path, solutions=ROOT / "solutions")
    for task in grade.tasks:
        if task.task.name not in wrong:
            continue
        answer = wrong[task.task.name]
        lost = tuple(i for i, v in enumerate(task.verdicts) if not v.holds)
        assert lost == tuple(answer.loses), (task.task.name, answer.name)
        assert task.verdicts[lost[0]].mistake == answer.named
