"""Exercises are in step with solutions, run untouched, and fit nbgrader."""

import re
import shutil
from pathlib import Path

import nbformat
import pytest
from jupyter_client import KernelManager
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_markdown_cell

from attncourse_grader.cli import main
from attncourse_grader.exercises import exercise_of, modules
from attncourse_grader.hand_in import release
from attncourse_grader.hand_in.nbgrader_format import assignment_from
from attncourse_grader.hand_in.submission import Refused, read_notebook
from attncourse_grader.safe_text import number
from grader.tests.conftest import NAMES

ROOT = Path(__file__).resolve().parents[2]
# An instructor may keep the solutions of exercises of their own elsewhere.
NOTEBOOKS = [n for n in modules() if (ROOT / "solutions" / f"{n}.ipynb").is_file()]
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
@pytest.mark.parametrize(("kind", "name", "source", "says"), NAMES["gives_away"])
def test_what_would_give_a_solution_away_is_refused(kind, name, source, says, make):
    notebook, mark = solution(NOTEBOOKS[0]), {"answer": name} if name else {}
    new = new_code_cell if kind == "code" else new_markdown_cell
    notebook.cells.append(new(source, metadata={"attncourse": mark}))
    if "attachment" in source:
        notebook.cells[-1].attachments = {"x": {"image/png": "YQ=="}}
    with pytest.raises(ValueError, match=says):
        make(notebook, NOTEBOOKS[0])


def test_each_solution_has_an_exercise_and_no_exercise_is_left_over():
    for folder, names in (("solutions", NOTEBOOKS), ("exercises", list(modules()))):
        assert sorted(p.stem for p in (ROOT / folder).glob("*.ipynb")) == names


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_exercises_are_in_step_with_solutions_and_tasks_and_hold_no_solution(name):
    path = ROOT / "exercises" / f"{name}.ipynb"
    notebook = release.exercise_from(solution(name), name)
    made = release.text_of(notebook)
    assert path.read_text(encoding="utf8") == made, "run `make exercises`"
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(not cell.outputs for cell in code)
    exercise = exercise_of(name)
    text = "\n".join(cell.source for cell in solution(name).cells)
    for task in exercise.tasks:
        assert f"## Task {exercise.label(task)}: {task.title}\n" in text
        assert re.search(rf"^\*{number(task.points)} points? · ", text, re.M)
    if int(name.partition("_")[0]) <= 6:  # and not of an instructor's own
        assert text.count("<summary>") >= 3 * len(exercise.tasks)
        assert "BEGIN SOLUTION --" in text or "counts towards no grade" in text


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """Start one kernel for all exercises: what they import takes longest."""
    manager = KernelManager()
    manager.start_kernel(cwd=tmp_path_factory.mktemp("exercises"))
    yield manager
    manager.shutdown_kernel(now=True)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_an_untouched_exercise_runs_to_its_end_and_says_not_done_yet(name, kernel):
    notebook = release.exercise_from(solution(name), name)
    notebook.cells.insert(0, new_code_cell("%reset -f"))
    runner = NotebookClient(notebook, timeout=300, km=kernel)
    runner.execute()
    runner.kc.stop_channels()
    for task, cell in cells_of(notebook, "check").items():
        printed = "".join(o.get("text", "") for o in cell.outputs)
        assert "Not done yet" in printed, f"the check of {task} says: {printed}"


def test_an_exercise_never_takes_the_place_of_its_solution(tmp_path):
    path = shutil.copy(ROOT / "solutions" / f"{NOTEBOOKS[0]}.ipynb", tmp_path)
    before = Path(path).read_bytes()
    with pytest.raises(Refused, match="the solution itself"):
        release.release(Path(path), tmp_path / ".." / tmp_path.name)
    assert Path(path).read_bytes() == before


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_for_nbgrader_every_check_is_graded_and_every_answer_a_solution(name):
    notebook, exercise = assignment_from(solution(name), name), exercise_of(name)
    marks = [(c, m) for c in notebook.cells if (m := c.metadata.get("nbgrader"))]
    ids = [mark["grade_id"] for _, mark in marks]
    assert len(set(ids)) == len(ids)
    points = [m["points"] for _, m in marks if m["grade_id"].startswith("test-")]
    assert points == [task.points for task in exercise.tasks]
    answers = {m["grade_id"] for _, m in marks if m["solution"]}
    assert answers >= {f"answer-{task.name}" for task in exercise.tasks}
    nbformat.validate(notebook)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_nbgrader_itself_accepts_its_format(name):
    format_ = pytest.importorskip("nbgrader.nbgraderformat", reason="not installed")
    format_.MetadataValidator().validate_nb(assignment_from(solution(name), name))


def test_what_is_written_for_nbgrader_tells_right_from_wrong(
    tmp_path, solutions, capsys
):
    words = ["release", "1", "--format", "nbgrader", "--out", str(tmp_path)]
    assert main([*words, "--solutions", str(solutions)]) == 0
    path = tmp_path / "source" / NOTEBOOKS[0] / f"{NOTEBOOKS[0]}.ipynb"
    cells = nbformat.read(path, as_version=4).cells
    (test,) = [cell.source for cell in cells if "'scores', " in cell.source]
    given, _, value = test.removesuffix("\n### END HIDDEN TESTS").rpartition("\n")

    space = {}
    exec("def right(q, k): return q @ k.mT / k.shape[-1] ** 0.5", space)
    exec("def wrong(q, k): return q @ k.mT", space)
    exec(given, space)
    points = exercise_of(NOTEBOOKS[0]).task("scores").points
    assert eval(value, space | {"attention_scores": space["right"]}) == points
    assert "divided by the root" not in capsys.readouterr().out
    assert 0 <= eval(value, space | {"attention_scores": space["wrong"]}) < points
    assert "divided by the root" in capsys.readouterr().out
