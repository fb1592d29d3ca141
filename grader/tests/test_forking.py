"""Processes for students' code: what they answer, and that they end in time."""

import json
import operator
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from unittest.mock import Mock

import psutil
import pytest

from attncourse_grader import cache, workers
from attncourse_grader.exercises import exercise_of
from attncourse_grader.grade import comparing, grading
from attncourse_grader.isolate import forking, sandbox, student
from attncourse_grader.isolate.channel import send
from attncourse_grader.isolate.student import Killed, ProcessEnded, Student
from grader.tests.conftest import ATTENTION, RIGHT, SOLUTIONS


def compare(answers, checked=("scores",), limits=(20, 20), how=comparing.compare):
    """Return what nbval says of answers to exercise 1, by task."""
    answers = {task: answers.get(task, "") for task in ("scores", "attention", "masks")}
    solutions, name = str(SOLUTIONS), "1_attention_from_scratch"
    arguments = (solutions, name, answers, list(checked), "word", 100, limits)
    return forking.call(how, *arguments, seconds=600)


def test_errors_of_cells_and_of_calls_are_told_apart():
    found = compare({"scores": "1 / 0", "attention": "def attention(q, k, v): 1 / 0"})
    assert found["scores"]["error"] == "ZeroDivisionError: division by zero"
    found = compare({"scores": "def attention_scores(q, k): 1 / 0"})
    assert found["scores"]["error"] == ""
    assert found["scores"]["cases"]["0"][0][2]["error"].startswith("ZeroDivisionError")


def test_a_process_that_ends_costs_a_probe_and_the_rest_gets_a_fresh_one():
    ends = "if key.shape[-1] == 1: import os; os._exit(3)"
    found = compare({"scores": RIGHT.replace(":\n", f":\n    {ends}\n")})["scores"]
    assert found["failing"] == [0]
    assert found["cases"] == {}
    never = RIGHT.replace(":\n", ":\n    while key.shape[-1] == 1: pass\n")
    found = compare({"scores": never}, limits=(1, 1))["scores"]
    assert found["failing"] == [0]


def test_a_process_that_somebody_else_has_killed_costs_no_points():
    def kill():
        answers = []
        while not answers:
            time.sleep(0.1)
            found = psutil.Process(forking.forker().process.pid).children(True)
            with suppress(psutil.Error, OSError):
                for each in found:  # the outer ones wait for those with answers
                    first = Path(f"/proc/{each.pid}/oom_score_adj").read_text()
                    sleeps = time.time() - each.create_time() > 3
                    if first == "1000\n" and sleeps and not each.children():
                        answers.append(each)
        answers[0].kill()

    slow = "import time\ntime.sleep(15)\n"
    with ThreadPoolExecutor(1) as pool:
        killing = pool.submit(kill)
        with pytest.raises(RuntimeError, match=r"Killed: .* Grade it again"):
            compare({"scores": slow + RIGHT})
        killing.result()
    assert workers.failure(Killed("Again."))["failed"] == "Again."


def test_what_a_called_function_raises_is_said_a_lack_of_memory_too():
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        forking.call(operator.truediv, 1, 0, seconds=20)
    with pytest.raises(RuntimeError, match="MemoryError"):
        forking.call(operator.mul, [0], 1 << 30, seconds=20)


@pytest.mark.parametrize(
    ("replies", "pause", "error"),
    [(False, 20, ProcessEnded), (True, 20, ProcessEnded), (False, -1, Killed)],
)
def test_what_does_not_read_or_replies_at_length_ends_but_after_a_pause_nothing_is_said(
    replies, pause, error, monkeypatch
):
    monkeypatch.setattr(student, "LONGEST_REPLY", 99)
    monkeypatch.setattr(student, "PAUSE", pause)  # one of -1 s is always over
    (talk, talks), (end, ends) = socket.socketpair(), socket.socketpair()
    ends.sendall(json.dumps(dict.fromkeys(sandbox.LAYERS, "")).encode())
    ends.shutdown(socket.SHUT_WR)
    with talk, talks, end, ends:
        if replies:
            send(talks, {"id": 1, "error": "", "came": ["x" * 99]})
        code, seconds = ("", 20) if replies else ("#" * 10**7, 0.1)
        with pytest.raises(error):
            Student(lambda: (talk, end)).run(code, seconds=seconds)


def test_when_the_instructors_process_is_killed_all_that_it_forked_ends(hand_in):
    path = hand_in("def attention_scores(q, k):\n    while True: pass")
    code = "from pathlib import Path\n"
    code += "from attncourse_grader.grade.grading import grade_file\n"
    code += f"grade_file(Path({str(path)!r}), solutions=Path({str(SOLUTIONS)!r}))"
    process = subprocess.Popen([sys.executable, "-c", code])
    everything, deadline = [], time.monotonic() + 120
    while time.monotonic() < deadline:
        with suppress(psutil.NoSuchProcess):  # one has ended since it was listed
            everything = psutil.Process(process.pid).children(recursive=True)
            loops = any(p.cpu_times().user > 2 for p in everything)
            if loops and len(everything) >= 7:
                break
        time.sleep(0.2)
    assert len(everything) >= 7, "those that fork, those for the notebook, the loop"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    _, alive = psutil.wait_procs(everything, timeout=20)
    alive = [p for p in alive if p.is_running()]
    assert not [p for p in alive if p.status() != psutil.STATUS_ZOMBIE]


def test_two_threads_share_one_forker_and_leave_no_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    writes = "import pathlib\nLEFT = pathlib.Path('left').write_text('x')\n"
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(compare, [{"scores": writes + RIGHT}] * 4))
    assert all(tasks["scores"]["passed"] for tasks in found)
    assert forking.forker().process.poll() is None
    assert list(tmp_path.iterdir()) == []


def test_what_is_kept_does_not_grow_with_the_number_of_submissions():
    for number in range(3 * cache.MOST):
        cache.put(f"of student {number}", number)
    assert len(cache._kept) == cache.MOST
    assert cache.get("of student 0") is None
    assert cache.get(f"of student {number}") == number
    # What a fork has worked out the next one finds.
    forking.call(cache.put, "a key of this test", [1, 2], seconds=20)
    deadline, found = time.monotonic() + 20, None
    while found is None and time.monotonic() < deadline:
        found = forking.call(cache.get, "a key of this test", seconds=20)
    assert found == [1, 2]


def test_a_killed_forking_process_is_started_again_and_needs_linux(
    monkeypatch, tmp_path
):
    (tmp_path / "json.py").write_text("1 / 0")  # somebody's who hands in, not a module
    # A file `matplotlibrc` would be obeyed there, too.
    monkeypatch.chdir(tmp_path)
    assert forking.layers.__wrapped__()["limits"] == ""
    os.kill(forking.forker().process.pid, signal.SIGKILL)
    assert forking.call(operator.add, 2, 3, seconds=20) == 5
    assert forking.call(os.getcwd, seconds=20) != str(tmp_path)
    monkeypatch.setattr(forking.sandbox, "linux", False)
    with pytest.raises(OSError, match="WSL"):
        forking.Forker()


def with_no_memory_for_scores(*arguments):
    """Do in a fork what `compare` does, without memory for values of the first task."""
    of_scores = exercise_of("1_attention_from_scratch").task("scores").probes
    comparing.try_solution(*arguments[:2], "word")
    real = comparing.holds

    def holds(probe, case):
        return real(probe, case) if probe not in of_scores else [0] * (1 << 30)

    comparing.holds = holds
    return comparing.compare(*arguments)


def test_what_takes_too_much_memory_to_be_compared_costs_its_task_alone(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(SOLUTIONS.parent))  # for this module
    forking.forker().close()  # another one starts with it
    answers = {"scores": RIGHT, "attention": ATTENTION}
    checked = tuple(answers)
    found = compare(answers, checked, how=with_no_memory_for_scores)
    assert [found[task]["passed"] for task in checked] == [False, True]
    exercise = exercise_of("1_attention_from_scratch")
    judged = grading.verdicts_of(exercise, exercise.task("scores"), found["scores"])
    assert {verdict.kind for verdict in judged} <= {"did not finish", "not run"}
    wrong = compare({"scores": RIGHT.replace("** 0.5", "")})["scores"]
    for name in ("judge", "name_slip"):
        monkeypatch.setattr(grading.judging, name, Mock(side_effect=MemoryError))
    judged = grading.verdicts_of(exercise, exercise.task("scores"), wrong)
    assert [v.holds for v in judged] == [k not in wrong["failing"] for k in range(3)]
