"""Exercises as assignments of nbgrader: its own validation accepts them."""

import nbformat
import pytest

from attncourse_grader.cli import main
from attncourse_grader.exercises import exercise_of, modules
from attncourse_grader.hand_in.nbgrader_format import assignment_from, faults_of
from attncourse_grader.hand_in.submission import read_notebook

NAMES = list(modules())


def assignment_of(name, solutions):
    notebook = read_notebook(solutions / f"{name}.ipynb")
    tasks = exercise_of(name).tasks
    places = [(task.name, n) for task in tasks for n in range(len(task.probes))]
    return assignment_from(notebook, name, {place: {} for place in places})


@pytest.fixture(params=NAMES)
def assignment(request, solutions):
    return request.param, assignment_of(request.param, solutions)


def marks_of(notebook):
    marked = [cell for cell in notebook.cells if "nbgrader" in cell.metadata]
    return [(cell, cell.metadata["nbgrader"]) for cell in marked]


def test_every_check_is_a_graded_cell_and_every_answer_a_solution(assignment):
    name, notebook = assignment
    exercise = exercise_of(name)
    assert faults_of(notebook) == []
    marks = marks_of(notebook)
    graded = [m for c, m in marks if m["grade"] and c.cell_type == "code"]
    probes = [probe for task in exercise.tasks for probe in task.probes]
    assert len(graded) == sum(probe.weight > 0 for probe in probes)
    assert sum(m["points"] for m in graded) == pytest.approx(exercise.points)
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
    notebook = assignment_of(name, solutions)
    tests = [m for _, m in marks_of(notebook) if m["grade_id"].startswith("test-")]
    tests[0].update(damage)
    (fault,) = faults_of(notebook)
    assert said in fault


def test_the_command_writes_a_course_folder_whose_tests_tell_right_from_wrong(
    tmp_path, solutions, capsys
):
    words = ["release", "1", "--format", "nbgrader", "--out", str(tmp_path)]
    words += ["--solutions", str(solutions)]
    assert main([*words, "--secret", "word"]) == 0
    path = tmp_path / "source" / NAMES[0] / f"{NAMES[0]}.ipynb"
    assert not (solutions / "release.json").exists()
    tests = [
        cell.source
        for cell in nbformat.read(path, as_version=4).cells
        if "nbgrader_format import require" in cell.source and "'scores'" in cell.source
    ]

    space = {}
    exec("def right(q, k): return q @ k.mT / k.shape[-1] ** 0.5", space)
    exec("def wrong(q, k): return q @ k.mT", space)
    for test in tests:
        exec(test, {"attention_scores": space["right"]})
    with pytest.raises(AssertionError, match="root of d_k"):
        for test in tests:
            exec(test, {"attention_scores": space["wrong"]})
    assert main([*words, "--variant-per-student", "x.csv"]) == 1
    assert "no variants" in capsys.readouterr().err
