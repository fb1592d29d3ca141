"""Exercises as assignments of nbgrader: its own validation accepts them."""

import nbformat
import pytest
from attncourse_grader.cli import main
from attncourse_grader.hand_in.nbgrader_format import (
    assignment_from,
    faults_of,
    require,
)
from attncourse_grader.hand_in.submission import read_notebook

from attncourse.exercises import MODULES, exercise_of

NAMES = list(MODULES)


@pytest.fixture(params=NAMES)
def assignment(request, solutions):
    path = solutions / f"{request.param}.ipynb"
    return request.param, assignment_from(read_notebook(path), request.param)


def marks_of(notebook):
    marked = [cell for cell in notebook.cells if "nbgrader" in cell.metadata]
    return [(cell, cell.metadata["nbgrader"]) for cell in marked]


def test_every_check_is_a_graded_cell_and_every_answer_a_solution(assignment):
    name, notebook = assignment
    exercise = exercise_of(name)
    assert faults_of(notebook) == []
    marks = marks_of(notebook)
    graded = [m for c, m in marks if m["grade"] and c.cell_type == "code"]
    assert len(graded) == sum(len(task.checks) for task in exercise.tasks)
    assert sum(m["points"] for m in graded) == exercise.points
    answers = [m["grade_id"] for c, m in marks if m["solution"] and not m["grade"]]
    assert answers == [f"answer-{task.name}" for task in exercise.tasks]
    nbformat.validate(notebook)


def test_nbgrader_accepts_them(assignment):
    pytest.importorskip("nbgrader", reason="nbgrader is not installed")
    from nbgrader.nbgraderformat import MetadataValidator

    MetadataValidator().validate_nb(assignment[1])


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ({"grade_id": "a b"}, "bad or not its own"),
        ({"grade_id": "check-scores"}, "bad or not its own"),
        ({"points": -1}, "points belong"),
        ({"schema_version": 2}, "another schema"),
        ({"locked": "yes"}, "no boolean"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_what_nbgrader_would_not_accept_is_noticed(damage, said, solutions):
    name = NAMES[0]
    notebook = assignment_from(read_notebook(solutions / f"{name}.ipynb"), name)
    tests = [m for _, m in marks_of(notebook) if m["grade_id"].startswith("test-")]
    tests[0].update(damage)
    (fault,) = faults_of(notebook)
    assert said in fault


def test_a_right_answer_passes_and_a_wrong_one_raises_with_its_mistake():
    def right(query, key):
        return query @ key.mT / key.shape[-1] ** 0.5

    def wrong(query, key):
        return query @ key.mT

    for place in range(len(exercise_of(NAMES[0]).task("scores").checks)):
        require(NAMES[0], "scores", place, [0, 1, 50], right)
    with pytest.raises(AssertionError, match="dot products"):
        for place in range(len(exercise_of(NAMES[0]).task("scores").checks)):
            require(NAMES[0], "scores", place, [0, 1, 50], wrong)


def test_the_command_writes_a_course_folder(tmp_path, solutions, capsys):
    words = ["release", "1", "--format", "nbgrader", "--out", str(tmp_path)]
    words += ["--solutions", str(solutions)]
    assert main([*words, "--secret", "word"]) == 0
    path = tmp_path / "source" / NAMES[0] / f"{NAMES[0]}.ipynb"
    text = path.read_text()
    assert "BEGIN HIDDEN TESTS" in text
    assert not (solutions / "release.json").exists()
    assert main([*words, "--variant-per-student", "x.csv"]) == 1
    assert "no variants" in capsys.readouterr().err
