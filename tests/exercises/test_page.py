"""The page for instructors on how a check works shows a task that works so."""

import re
import tomllib
from dataclasses import replace

import nbformat
import pytest

from attncourse.exercises import recorded
from attncourse.exercises.notebook import text_of_task, verdicts_on
from tools import new_exercise, record_expected
from tools.record_expected import ROOT, Recording, Solution

PAGE = (ROOT / "book" / "checks.md").read_text(encoding="utf8")
IMPORT = "import torch"


def block(kind, words):
    found = re.findall(rf"^```{kind}\n(.*?)^```", PAGE, re.M | re.S)
    return next(text for text in found if words in text)


@pytest.fixture
def example(tmp_path, monkeypatch):
    """Return the exercise of the page and the path of its notebook."""
    space = {}
    exec(block("python", "EXERCISE"), space)
    cells = [("", IMPORT), ("tempered", block("python", "BEGIN SOLUTION"))]
    notebook = nbformat.v4.new_notebook()
    for task, source in cells:
        mark = {"attncourse": {"answer": task}} if task else {}
        cell = nbformat.v4.new_code_cell(source, metadata=mark)
        notebook.cells.append(cell)
    path = tmp_path / "7_temperature.ipynb"
    nbformat.write(notebook, path)
    (tmp_path / "slips").mkdir()
    slips = tmp_path / "slips" / "7_temperature.toml"
    slips.write_text(block("toml", "tempered"), encoding="utf8")
    monkeypatch.setattr(record_expected, "SOLUTIONS", tmp_path)
    monkeypatch.setattr(record_expected, "exercise_of", lambda _: space["EXERCISE"])
    monkeypatch.setattr(recorded, "FOLDER", tmp_path)
    return space["EXERCISE"], path


def test_a_function_that_two_tasks_ask_for_and_a_long_text_are_named(
    example, monkeypatch
):
    exercise, path = example
    (task,) = exercise.tasks
    text = lambda answer, **given: f"{answer(**given).max()}" * 99
    long = replace(task.probes[-1], call=text)
    for tasks, says in (
        [(task, replace(task, name="other")), "two tasks ask for 'tempered_softmax'"],
        [(replace(task, probes=(long,)),), "returns what cannot be compared"],
    ):
        own = replace(exercise, tasks=tasks)
        monkeypatch.setattr(record_expected, "exercise_of", lambda _, own=own: own)
        making = Recording(path)
        making.run()
        assert {says in fault for fault in making.faults} == {True}


def test_the_task_of_the_page_works_and_says_what_the_page_shows(example):
    exercise, path = example
    making = Recording(path)
    tasks = making.run()
    assert making.faults == []
    recorded.write(path.stem, tasks)
    solution, task = Solution(path), exercise.tasks[0]
    for old, new, says in tomllib.loads(block("toml", "tempered"))["tempered"]:
        space = solution.namespace({"tempered": solution.edited("tempered", old, new)})
        verdicts = verdicts_on(exercise, task, [space["tempered_softmax"]], space)
        text = text_of_task("7.1", task, verdicts)
        assert says in " ".join(text.split())
        if "*" in new:
            assert text.startswith(block("text", "Task 7.1").rstrip())
    assert len(block("python", "EXERCISE").splitlines()) <= 100


@pytest.mark.parametrize("name", ["07_mine", "7_provided"])
def test_a_name_that_a_folder_has_or_with_a_0_is_refused(name, tmp_path, monkeypatch):
    (tmp_path / "attncourse" / "exercises" / "provided").mkdir(parents=True)
    monkeypatch.setattr(new_exercise, "ROOT", tmp_path)
    with pytest.raises(SystemExit, match=r"small letters|is there already"):
        new_exercise.begin(name)
