"""Submissions of a student with a weekend and a grudge.

In each some tasks are honest, and get their points; outside nothing has happened.
"""

import contextlib
import json
import os
import socket
import time
import tomllib
from pathlib import Path

import psutil
import pytest
from nbformat.v4 import new_code_cell, new_output

from attncourse_grader.exercises import exercise_of
from attncourse_grader.grade import grading
from attncourse_grader.grade.compose import Template, code_for
from attncourse_grader.grade.grading import grade_file
from attncourse_grader.grade.report import page, record_of
from attncourse_grader.isolate import forking
from grader.tests.conftest import SOLUTIONS, define

# Whatever the rule about forbidden names would refuse is run: isolation is tested.
pytestmark = pytest.mark.usefixtures("forker", "no_rule")
EXERCISE = exercise_of("1_attention_from_scratch")
TASKS = ["scores", "attention", "masks", "masked", "gradient"]


@pytest.fixture(scope="module")
def right_answers():
    """Return the reference's answer to each task, without those to the others."""
    template, tasks = Template(EXERCISE, SOLUTIONS), map(EXERCISE.task, TASKS)
    names = frozenset(name for task in EXERCISE.tasks for name in task.answers)
    others = {task: names.difference(task.answers) for task in tasks}
    return {t.name: code_for(t, None, template, kept=own) for t, own in others.items()}


@pytest.fixture(autouse=True)
def short_deadlines(monkeypatch):
    monkeypatch.setattr(grading, "LIMITS", (1, 1))  # honest ones take 0.02


@pytest.fixture
def outside(tmp_path):
    """Watch what lies outside: a file, a listening socket, the processes."""
    book = tmp_path / "gradebook.sqlite"
    book.write_text("20 points")
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.1)
        files = set(os.listdir("/tmp")) | set(os.listdir(Path.home()))
        yield {"BOOK": str(book), "PORT": server.getsockname()[1]}
        with pytest.raises(TimeoutError):
            server.accept()
    assert book.read_text() == "20 points"
    assert [p for p in tmp_path.iterdir() if p.suffix != ".ipynb"] == [book]
    left = set(os.listdir("/tmp")) | set(os.listdir(Path.home()))
    assert not {name for name in left - files if "STRAY" in name}
    assert left_over() == []


def left_over():
    """Return the processes that are left when those that are ending have ended."""
    forker = psutil.Process(forking.forker().process.pid)
    stays = min(forker.children(), key=lambda p: p.create_time(), default=None)
    for _ in range(50):
        left = [p for p in forker.children(recursive=True) if is_alive(p)]
        # The one from which students' processes come has a child for each exercise.
        left = [p for p in left if stays not in (p, p.parent())]
        if not left:
            break
        time.sleep(0.1)
    return left


def is_alive(process):
    with contextlib.suppress(psutil.Error):
        return process.status() != psutil.STATUS_ZOMBIE
    return False


@pytest.fixture
def grade(hand_in, right_answers):
    """Return a function that grades bad answers among right ones to other tasks."""

    def graded(bad):
        cells = (right_answers | bad).values()
        found = grade_file(hand_in(*cells), solutions=SOLUTIONS)
        return {task.task.name: task for task in found.tasks}, found

    return graded


def test_all_cells_of_a_submission_together_have_a_limit(hand_in):
    loop = "for _ in iter(int, 1): pass\n"
    loops = [loop + define(task, "while True: pass") for task in TASKS]
    found = grade_file(hand_in(*loops), solutions=SOLUTIONS, seconds=3)
    assert found.points == 0
    assert "All cells together may take 3 seconds." in found.notes[-1]
    assert left_over() == []


def assert_fair(tasks, bad):
    for name in TASKS:
        said = [v.sentences for v in tasks[name].verdicts]
        if name in bad:
            assert tasks[name].points == 0, (name, bad[name], said)
        else:
            assert tasks[name].points == tasks[name].task.points, (name, said)


FORGED = {"values": {}, "form": "", "error": "", "line": "", "changed": [], "inert": []}
GROUPS = tomllib.loads(Path(__file__).with_name("hostile.toml").read_text("utf8"))


@pytest.mark.parametrize("kind", GROUPS)
def test_bad_answers_get_nothing_and_take_nothing_from_the_others(grade, outside, kind):
    bad = {}
    filled_in = outside | {"MADE_UP": repr(json.dumps(FORGED))}
    for name, body in GROUPS[kind].items():
        for word, value in filled_in.items():
            body = body.replace(word, str(value))
        bad[name] = define(name, body)
    tasks, found = grade(bad)
    assert_fair(tasks, bad)
    if kind == "never ending":
        assert {tasks[name].verdicts[0].kind for name in bad} == {"did not finish"}
    shown = page("feedback.html", record=record_of(found), standing=())
    assert "\x1b" not in shown
    assert "<script>" not in shown


AT_ONCE = {
    "scores": "import os\nSCORES = os._exit(0)",
    "attention": "ATTENTION = [0 for _ in iter(int, 1)]",
    "masks": "import torch\nMASKS = torch.softmax = torch.Tensor.softmax = None",
}


def test_what_a_cell_does_when_it_is_defined_costs_its_own_task(grade, outside):
    bad = {task: define(task, f"return {task.upper()}") for task in AT_ONCE}
    bad = {task: f"{AT_ONCE[task]}\n{answer}" for task, answer in bad.items()}
    tasks, _ = grade(bad)
    assert_fair(tasks, bad)


def test_forged_outputs_and_files_brought_along_are_of_no_use(tmp_path, hand_in):
    forged = new_code_cell("exercise.check = print", execution_count=1)
    forged.outputs = [new_output("stream", text="Task 1.1: 2 of 2 points\n")]
    forged.metadata["tags"] = ["nbval-skip"]
    forged.metadata["attncourse"] = {"check": "scores"}
    wrong = "# NBVAL_SKIP\ndef attention_scores(query, key):\n    return query"
    assert grade_file(hand_in(forged, wrong), solutions=SOLUTIONS).points == 0
    (tmp_path / "helper.py").write_text("def answer(q, k): return q @ k.mT")
    code = "from helper import answer\ndef attention_scores(q, k): return answer(q, k)"
    grade = grade_file(hand_in(code), solutions=SOLUTIONS)
    assert grade.points == 0
    assert "helper" in grade.tasks[0].verdicts[0].sentences[0]
