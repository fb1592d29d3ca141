"""Grading on a cluster: the same grades, and a lost worker loses nothing."""

import os
import signal
import threading
import time
from types import SimpleNamespace

import pytest

from attncourse_grader import cluster
from attncourse_grader.batch import BOOK, grade_course
from attncourse_grader.cli import build_parser
from attncourse_grader.exercises import exercise_of
from attncourse_grader.hand_in.submission import Refused
from attncourse_grader.records.effective import effective_grades
from grader.tests.conftest import RIGHT

dask = pytest.importorskip("dask", reason="the extra `cluster`")
# Workers are forks of a process that has imported Dask, so that one is back at once.
dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
distributed = pytest.importorskip("distributed", reason="the extra `cluster`")
pytestmark = pytest.mark.filterwarnings("ignore")  # those of Dask are not ours


def grader(pause=0.0, deadly=""):
    """Return a grader for the workers: by value, since they cannot import a test."""

    def grade(path, solutions, secret, seconds):
        import os
        import time

        time.sleep(pause)
        if deadly and deadly in path.read_text():
            os._exit(1)  # the worker dies as it would of a lack of memory
        record = {"exercise": "1_attention_from_scratch", "title": "Exercise 1"}
        record |= {"points": 7.0, "of": 20.0, "tasks": []}
        record["notes"] = [f"{len(list(solutions.iterdir()))} solutions"]
        return {"record": record, "answers": {}}

    return grade


def local_cluster(workers):
    options = {"dashboard_address": None, "silence_logs": 50}
    return distributed.LocalCluster(workers, threads_per_worker=1, **options)


@pytest.fixture(scope="module")
def scheduler():
    settings = {
        "distributed.scheduler.allowed-failures": 1,
        "distributed.worker.daemon": False,
        "distributed.admin.tick.limit": "60s",
    }
    with dask.config.set(settings), local_cluster(2) as local:
        yield local


def asked(course, scheduler):
    """Return the words of the command, read as it reads them."""
    words = ["grade", course.folder / "in", "--out", course.grades]
    words += ["--solutions", course.solutions, "--scheduler", scheduler]
    return build_parser().parse_args(list(map(str, words)))


@pytest.fixture
def grade(real_course, scheduler):
    def graded(**options):
        return grade_course(asked(real_course, scheduler.scheduler_address), **options)

    return graded


def points_in(course):
    with course.book() as book:
        return {s.student: s.points for s in effective_grades(book)}


def when_some_are_kept(course, do):
    """Call `do` in a thread as soon as two grades are in the gradebook."""

    def watch():
        for _ in range(600):
            time.sleep(0.1)
            if (course.grades / BOOK).is_file() and len(points_in(course)) > 1:
                return do()

    thread = threading.Thread(target=watch)
    thread.start()
    return thread


def test_workers_grade_with_the_real_grader_as_this_machine_does(
    course, grade, monkeypatch
):
    course.hand_in(extra=RIGHT)
    monkeypatch.setattr(cluster, "layers_missing", lambda: ["No walls."])
    assert grade() == 0
    assert "On a worker: No walls." in course.capsys.readouterr().err
    assert course.graded == []  # not in this process
    points = exercise_of("1_attention_from_scratch").task("scores").points
    assert points_in(course) == {"ada": points}


def test_no_scheduler_is_a_sentence(real_course, monkeypatch):
    monkeypatch.setattr(cluster, "CONNECTING", 1)
    real_course.hand_in()
    real_course.grade("--scheduler", "tcp://127.0.0.1:9", fault="No scheduler answers")


def test_workers_with_another_version_are_named(real_course, grade, monkeypatch):
    real_course.hand_in()
    own, python = cluster.version_here(), SimpleNamespace(version_info=(3, 99))
    # As of other files of the grader, another torch, another Python.
    for name, other in (("hash_of", str), ("version", str), ("sys", python)):
        with monkeypatch.context() as patch:
            patch.setattr(cluster, name, other)
            assert cluster.version_here.__wrapped__() != own
            assert cluster.version_here() == own  # it goes on with what it has imported
    monkeypatch.setattr(cluster, "version_here", os.getpid)  # differs by process
    with pytest.raises(Refused, match="another version"):
        grade(grade=grader())
    late = cluster.grade_content(grader(), b"", "x", {}, "of another process")
    assert "another version" in late["failed"]  # of a worker that has come later


def test_two_lost_workers_lose_nothing(real_course, scheduler, grade, monkeypatch):
    monkeypatch.setattr(scheduler.scheduler, "allowed_failures", 3)
    names = [f"s{place:02}" for place in range(12)]
    real_course.hand_in_each(*names)
    killed = []

    def kill_two():
        workers = scheduler.workers.values()
        for pid in [w.process.pid for w in workers if w.process]:
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

    thread = when_some_are_kept(real_course, kill_two)
    status = grade(grade=grader(pause=0.4))
    thread.join()
    assert status == 0
    assert len(killed) == 2
    assert points_in(real_course) == dict.fromkeys(names, 7)


def test_a_notebook_that_ends_workers_costs_itself_only(real_course, grade):
    real_course.hand_in_each("ada", "grace", "mallory")
    assert grade(grade=grader(deadly="mallory")) == 1
    assert points_in(real_course).items() <= {"ada": 7, "grace": 7}.items()  # or lost
    said = real_course.capsys.readouterr().err
    assert "mallory.ipynb: not graded. it has ended workers" in said.lower()
    assert grade(grade=grader()) == 0
    assert points_in(real_course) == dict.fromkeys(["ada", "grace", "mallory"], 7)


def test_where_a_cluster_goes_away_grades_are_kept(real_course, monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 3)
    real_course.hand_in_each(*"abcdef")
    with local_cluster(1) as local:
        words = asked(real_course, local.scheduler_address)
        thread = when_some_are_kept(real_course, lambda: local.scale(0))
        with pytest.raises(Refused, match="no worker left"):
            grade_course(words, grade=grader(pause=0.5))
        thread.join()
    assert 0 < len(points_in(real_course)) < 6
    assert grade_course(asked(real_course, ""), grade=grader()) == 0
    assert len(points_in(real_course)) == 6
