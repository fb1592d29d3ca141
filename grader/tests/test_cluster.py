"""Grading on a cluster: the same grades, and a lost worker loses nothing."""

import functools
import os
import signal
import threading
import time

import pytest

from attncourse_grader import cluster
from attncourse_grader.batch import BOOK, grade_course
from attncourse_grader.cli import build_parser, main
from attncourse_grader.exercises import exercise_of
from attncourse_grader.hand_in.submission import Refused
from attncourse_grader.records.effective import effective_grades
from attncourse_grader.records.gradebook import Gradebook
from grader.tests.defining import RIGHT

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
        record = {"exercise": "1_attention_from_scratch"}
        record |= {"title": "Exercise 1", "points": 7.0, "of": 20.0, "notes": []}
        record["tasks"] = []
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


@pytest.fixture
def course(tmp_path, solutions, scheduler):
    address = scheduler.scheduler_address
    return functools.partial(options, tmp_path / "grades", solutions, address)


def options(out, solutions, scheduler, place):
    words = [place, "--out", out, "--solutions", solutions, "--scheduler", scheduler]
    return build_parser().parse_args(["grade", *map(str, words)])


def students_in(out):
    with Gradebook(out / BOOK, must_exist=True) as book:
        return {s.student: s.points for s in effective_grades(book)}


def when_some_are_kept(out, do):
    """Call `do` in a thread as soon as two grades are in the gradebook."""

    def watch():
        for _ in range(600):
            time.sleep(0.1)
            if (out / BOOK).is_file() and len(students_in(out)) > 1:
                return do()

    thread = threading.Thread(target=watch)
    thread.start()
    return thread


def workers_of(scheduler):
    return [w.process.pid for w in scheduler.workers.values() if w.process]


def test_workers_grade_as_this_machine_does(
    tmp_path, notebook, course, solutions, calls
):
    """The real grader, on a worker: one notebook with two answers."""
    path = notebook(tmp_path / "in" / "ada.ipynb", extra=RIGHT)
    assert grade_course(course(path)) == 0
    assert calls == []  # not in this process
    points = exercise_of("1_attention_from_scratch").task("scores").points
    assert students_in(tmp_path / "grades") == {"ada": points}


def test_no_scheduler_is_a_sentence(tmp_path, notebook, solutions, capsys, monkeypatch):
    monkeypatch.setattr(cluster, "CONNECTING", 1)
    notebook(tmp_path / "ada.ipynb")
    words = [str(tmp_path / "ada.ipynb"), "--solutions", str(solutions)]
    status = main(["grade", *words, "--scheduler", "tcp://127.0.0.1:9"])
    assert status == 1
    assert "no scheduler answers" in capsys.readouterr().err.lower()


def test_workers_with_another_version_are_named(
    tmp_path, notebook, course, monkeypatch
):
    notebook(tmp_path / "ada.ipynb")
    monkeypatch.setattr(cluster, "version_here", os.getpid)  # differs by process
    with pytest.raises(Refused, match="another version"):
        grade_course(course(tmp_path / "ada.ipynb"), grade=grader())


def test_two_lost_workers_lose_nothing(
    tmp_path, notebook, scheduler, course, monkeypatch
):
    monkeypatch.setattr(scheduler.scheduler, "allowed_failures", 3)
    names = [f"s{place:02}" for place in range(12)]
    for name in names:
        notebook(tmp_path / "in" / f"{name}.ipynb", scores=name)
    killed = []

    def kill_two():
        for pid in workers_of(scheduler):
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

    thread = when_some_are_kept(tmp_path / "grades", kill_two)
    status = grade_course(course(tmp_path / "in"), grade=grader(pause=0.4))
    thread.join()
    assert status == 0
    assert len(killed) == 2
    assert students_in(tmp_path / "grades") == dict.fromkeys(names, 7)


def test_a_notebook_that_ends_workers_costs_itself_only(
    tmp_path, notebook, course, capsys
):
    for name in ("ada", "grace", "mallory"):
        notebook(tmp_path / "in" / f"{name}.ipynb", scores=name)
    status = grade_course(course(tmp_path / "in"), grade=grader(deadly="mallory"))
    assert status == 1
    assert students_in(tmp_path / "grades") == {"ada": 7, "grace": 7}
    said = capsys.readouterr().err
    assert "mallory.ipynb: not graded. it has ended workers" in said.lower()
    assert grade_course(course(tmp_path / "in"), grade=grader()) == 0
    assert students_in(tmp_path / "grades")["mallory"] == 7


def test_a_cluster_that_goes_away_is_a_sentence_and_grades_are_kept(
    tmp_path, notebook, solutions, monkeypatch
):
    monkeypatch.setattr(cluster, "PATIENCE", 3)
    for place in range(6):
        notebook(tmp_path / "in" / f"s{place}.ipynb", scores=str(place))
    with local_cluster(1) as local:
        out, address = tmp_path / "grades", local.scheduler_address
        thread = when_some_are_kept(tmp_path / "grades", lambda: local.scale(0))
        with pytest.raises(Refused, match="no worker left"):
            asked = options(out, solutions, address, tmp_path / "in")
            grade_course(asked, grade=grader(pause=0.5))
        thread.join()
    assert 0 < len(students_in(tmp_path / "grades")) < 6
    here = options(out, solutions, "", tmp_path / "in")
    assert grade_course(here, grade=grader()) == 0
    assert len(students_in(tmp_path / "grades")) == 6
