"""A stand-in for the grader, so that tests of what is around it take no time."""

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from attncourse.exercises.compare import Verdict
from attncourse_grader.cli import main
from attncourse_grader.grade import grading
from attncourse_grader.grade.by_hand import answers_by_hand
from attncourse_grader.grade.compose import Template
from attncourse_grader.grade.grading import Grade, TaskGrade
from attncourse_grader.hand_in.submission import read_submission
from attncourse_grader.isolate import forking
from attncourse_grader.workers import grade_one, local_results

SOLUTIONS = Path(__file__).resolve().parents[2] / "solutions"


def stand_in(path, *, solutions, secret="", seconds=0):
    """Give points for each task whose answer holds the word ``right``."""
    found = read_submission(path)
    tasks = []
    for task in found.exercise.tasks:
        text = "\n".join(statement.text for statement in found.answer(task))
        kind = "" if "right" in text else "values"
        says = (f"The grader saw {text[:60]!r}.",) if kind else ()
        verdicts = [Verdict(p, not kind, kind, says) for p in task.probes]
        tasks.append(TaskGrade(found.exercise.label(task), task, verdicts))
    by_hand = answers_by_hand(Template(found.exercise, solutions), found)
    return Grade(found.exercise, tasks, found.notes, by_hand, found)


@pytest.fixture
def calls(monkeypatch):
    """Grade with the stand-in; return the list of what it was called with."""
    made = []

    def grade_file(path, **options):
        made.append((Path(path), options))
        return stand_in(path, **options)

    monkeypatch.setattr("attncourse_grader.grade.grading.grade_file", grade_file)
    batch = "attncourse_grader.batch"
    monkeypatch.setattr(f"{batch}.layers_missing", lambda: [])

    def one_at_a_time(jobs, at, *more):
        # In Python 3.11.7 ast.parse in two threads may fail; the grader itself forks.
        return local_results(jobs, 1, *more)

    monkeypatch.setattr(f"{batch}.local_results", one_at_a_time)
    # In this process, where the stand-in is.
    monkeypatch.setattr(f"{batch}.grade_course.__kwdefaults__", {"grade": grade_one})
    return made


ANSWERS = {
    "scores": "def attention_scores(query, key):\n    return '{scores}'",
    "attention": "def attention(query, key, value):\n    return '{attention}'",
}


@pytest.fixture
def notebook():
    """Return a function that writes a notebook of exercise 1 with given answers."""

    def write(path, scores="right", attention="wrong", metadata=None, extra=""):
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        words = {"scores": scores, "attention": attention}
        cells = [text.format(**words) for text in ANSWERS.values()]
        cells += [extra] if extra else []
        made = new_notebook(cells=[new_code_cell(text) for text in cells])
        for cell, place in zip(made.cells, range(9), strict=False):
            cell.id = f"cell-{place}"  # the same notebook is the same file
        made.metadata.update(metadata or {})
        nbformat.write(made, path)
        return path

    return write


@pytest.fixture
def solutions():
    """Return the folder of the course's own solutions."""
    return SOLUTIONS


@pytest.fixture
def hand_in(tmp_path):
    """Return a function that writes a notebook of some cells, of code where texts."""

    def write(*cells, metadata=None, name="ada.ipynb"):
        cells = [new_code_cell(c) if isinstance(c, str) else c for c in cells]
        path = tmp_path / name
        nbformat.write(new_notebook(cells=cells, metadata=metadata or {}), path)
        return path

    return write


@pytest.fixture
def grade(tmp_path, solutions, calls):
    """Return a function that grades what lies in tmp_path/in into tmp_path/grades."""

    def run(*more, places=(tmp_path / "in",)):
        calls.clear()
        words = ["grade", *map(str, places), "--solutions", str(solutions)]
        return main([*words, "--out", str(tmp_path / "grades"), *more])

    return run


@pytest.fixture(scope="session")
def forker():
    """Take the forking process down with the tests, with all that it forked."""
    yield
    forking.forker().close()


@pytest.fixture
def no_rule(monkeypatch):
    """Let isolation alone decide, without the rule that reads the source."""
    monkeypatch.setattr(grading, "forbidden_uses", lambda source, names: [])
