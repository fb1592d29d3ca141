"""Exercises as assignments of nbgrader: its own validation accepts them."""

import nbformat
import pytest

from attncourse_grader.cli import main
from attncourse_grader.exercises import exercise_of, modules
from attncourse_grader.hand_in.nbgrader_format import assignment_from
from attncourse_grader.hand_in.submission import read_notebook

NAMES = list(modules())


@pytest.fixture(params=NAMES)
def assignment(request, solutions):
    notebook = read_notebook(solutions / f"{request.param}.ipynb")
    return request.param, assignment_from(notebook, request.param)


def test_every_check_is_a_graded_cell_and_every_answer_a_solution(assignment):
    name, notebook = assignment
    exercise = exercise_of(name)
    marks = [(c, m) for c in notebook.cells if (m := c.metadata.get("nbgrader"))]
    ids = [mark["grade_id"] for _, mark in marks]
    assert len(set(ids)) == len(ids)
    graded = [m for c, m in marks if m["grade"] and c.cell_type == "code"]
    assert [m["points"] for m in graded] == [task.points for task in exercise.tasks]
    answers = [m["grade_id"] for c, m in marks if m["solution"] and not m["grade"]]
    assert answers == [f"answer-{task.name}" for task in exercise.tasks]
    nbformat.validate(notebook)


def test_nbgrader_accepts_them(assignment):
    pytest.importorskip("nbgrader", reason="nbgrader is not installed")
    from nbgrader.nbgraderformat import MetadataValidator

    MetadataValidator().validate_nb(assignment[1])


def test_what_the_command_writes_tells_right_from_wrong(tmp_path, solutions, capsys):
    words = ["release", "1", "--format", "nbgrader", "--out", str(tmp_path)]
    assert main([*words, "--solutions", str(solutions)]) == 0
    path = tmp_path / "source" / NAMES[0] / f"{NAMES[0]}.ipynb"
    cells = nbformat.read(path, as_version=4).cells
    (test,) = [cell.source for cell in cells if "'scores', " in cell.source]
    given, _, value = test.removesuffix("\n### END HIDDEN TESTS").rpartition("\n")

    space = {}
    exec("def right(q, k): return q @ k.mT / k.shape[-1] ** 0.5", space)
    exec("def wrong(q, k): return q @ k.mT", space)
    exec(given, space)
    points = exercise_of(NAMES[0]).task("scores").points
    assert eval(value, space | {"attention_scores": space["right"]}) == points
    assert "divided by the root" not in capsys.readouterr().out
    assert 0 <= eval(value, space | {"attention_scores": space["wrong"]}) < points
    assert "divided by the root" in capsys.readouterr().out
