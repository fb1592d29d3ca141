"""Exercises are made from solutions, are in step with them, and run untouched."""

import json
import shutil
from pathlib import Path

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_markdown_cell

from attncourse_grader.exercises import exercise_of, modules
from attncourse_grader.hand_in import release
from attncourse_grader.hand_in.nbgrader_format import assignment_from
from attncourse_grader.hand_in.submission import Refused, read_notebook
from attncourse_grader.safe_text import number

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = list(modules())
# An exercise of an instructor's own may have other points, and no hints.
OF_THE_COURSE = [name for name in NOTEBOOKS if int(name.partition("_")[0]) <= 6]
BEGIN, END = release.BEGIN, release.END


def solution(name):
    return read_notebook(ROOT / "solutions" / f"{name}.ipynb")


def cells_of(notebook, mark):
    found = {}
    for cell in notebook.cells:
        if name := cell.metadata.get("attncourse", {}).get(mark):
            assert name not in found, f"two {mark} cells for {name}"
            found[name] = cell
    return found


def test_a_stub_raises_where_the_solution_was_between_markers_in_pairs():
    head = 'def f(x):\n    """Say what."""\n    '
    source = f"{head}{BEGIN}\n    return x\n    {END}\n"
    stub = f'{head}raise NotImplementedError("Task 1.2")'
    assert release.stub_of(source, "1.2") == stub
    assert release.solution_of(source) == f"{head}return x"
    for source in (f"x = 1\n{END}", f"{BEGIN}\n" * 2):
        with pytest.raises(ValueError, match="in pairs"):
            release.stub_of(source, "1.1")


@pytest.mark.parametrize("make", [release.exercise_from, assignment_from])
@pytest.mark.parametrize(
    ("kind", "mark", "source", "says"),
    [
        ("code", {"answer": "scores"}, "### Begin solution\nx = 1", "Begin solution"),
        ("code", {"answer": "scores"}, "x = 1", "no solution to take out"),
        ("code", {"answer": "scores"}, f"{BEGIN}\nx = 1", "in pairs"),
        ("code", {}, f"{BEGIN}\nx = 1\n{END}", "BEGIN SOLUTION"),
        ("markdown", {"answer": "why"}, "Because.", "no solution to take out"),
        ("markdown", {}, "<!-- BEGIN SOLUTION -->\nWell.", "BEGIN SOLUTION"),
        ("markdown", {}, "<!--  end_solution -->", "end_solution"),
    ],
)
def test_what_would_give_a_solution_away_is_refused(kind, mark, source, says, make):
    notebook = solution(NOTEBOOKS[0])
    new = new_code_cell if kind == "code" else new_markdown_cell
    notebook.cells.append(new(source, metadata={"attncourse": mark}))
    with pytest.raises(ValueError, match=says):
        make(notebook, NOTEBOOKS[0])


def test_each_solution_has_an_exercise_and_no_exercise_is_left_over():
    for folder in ("solutions", "exercises"):
        assert sorted(p.stem for p in (ROOT / folder).glob("*.ipynb")) == NOTEBOOKS


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_exercises_are_in_step_and_hold_no_solution_and_no_output(name):
    path = ROOT / "exercises" / f"{name}.ipynb"
    notebook = release.exercise_from(solution(name), name)
    made = release.text_of(notebook)
    assert path.read_text(encoding="utf8") == made, "run `make exercises`"
    text = json.dumps(notebook)
    assert not any(leak in text for leak in ("BEGIN SOLUTION", "END SOLUTION"))
    for answer in cells_of(notebook, "answer").values():
        assert "raise NotImplementedError" in answer.source
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(not cell.outputs for cell in code)


@pytest.mark.parametrize("name", OF_THE_COURSE)
def test_an_exercise_has_20_points_and_a_task_answer_check_and_three_hints(name):
    exercise, notebook = exercise_of(name), solution(name)
    assert exercise.points == 20
    tasks = [task.name for task in exercise.tasks]
    assert list(cells_of(notebook, "answer")) == tasks
    assert list(cells_of(notebook, "check")) == tasks
    text = "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    assert text.count("<summary>") >= 3 * len(tasks)
    question = "BEGIN SOLUTION" in text or "counts towards no grade" in text
    assert question, "the open question has no model answer"


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_headings_say_what_the_tasks_say(name):
    exercise = exercise_of(name)
    text = "\n".join(c.source for c in solution(name).cells)
    for task in exercise.tasks:
        assert f"## Task {exercise.label(task)}: {task.title}\n" in text
        unit = "point" if task.points == 1 else "points"
        assert f"*{number(task.points)} {unit} · " in text


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_an_untouched_exercise_runs_to_its_end_and_says_not_done_yet(name, tmp_path):
    notebook = release.exercise_from(solution(name), name)
    place = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=300, resources=place).execute()
    for task, cell in cells_of(notebook, "check").items():
        printed = "".join(o.get("text", "") for o in cell.outputs)
        assert "Not done yet." in printed, f"the check of {task} says: {printed}"


def test_an_exercise_never_takes_the_place_of_its_solution(tmp_path):
    path = shutil.copy(ROOT / "solutions" / f"{NOTEBOOKS[0]}.ipynb", tmp_path)
    before = Path(path).read_bytes()
    with pytest.raises(Refused, match="the solution itself"):
        release.release(Path(path), tmp_path / ".." / tmp_path.name)
    assert Path(path).read_bytes() == before
