"""What happens to grades when files are damaged, are gone, or a run is killed."""

import os
import sqlite3
import subprocess
import sys

import pytest

from attncourse_grader.batch import BOOK
from attncourse_grader.cli import main

KILLED = """
import os, random, signal, sys, threading, time
from tqdm import tqdm
sys.path.insert(0, sys.argv[4])
from conftest import stand_in
from attncourse_grader import batch
from attncourse_grader.cli import build_parser
from attncourse_grader.records.similarity import fingerprints
from attncourse_grader.grade.report import record_of

def grade(path, solutions, secret, seconds):
    time.sleep(0.01)
    found = stand_in(path, solutions=solutions)
    return {"record": record_of(found), "answers": {}}

# The lock of the bars is one that forks share: whoever is killed with it keeps it.
tqdm.set_lock(threading.RLock())
tqdm.monitor_interval = 0
batch.layers_missing = lambda: []
words = [sys.argv[1], "--solutions", sys.argv[2], "--out", sys.argv[3]]
course = build_parser().parse_args(["grade", *words])
batch.grade_course(course, grade=grade)  # imports all
book = course.out / batch.BOOK
for path in course.out.glob("gradebook*"):
    path.unlink()
rng = random.Random(7)
for moment in range(20):
    child = os.fork()
    if not child:
        try:
            batch.grade_course(course, grade=grade)
        finally:
            os._exit(0)
    time.sleep(rng.uniform(0.01, 0.15))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
sys.exit(batch.grade_course(course, grade=grade))
"""


def test_killed_at_many_moments_every_grade_is_there_once_and_right(
    tmp_path, notebook, solutions
):
    for place in range(12):
        scores = "right" if place % 2 else "wrong"
        notebook(
            tmp_path / "in" / f"s{place:02}.ipynb", scores=scores, extra=f"#{place}"
        )
    out = tmp_path / "grades"
    places = [tmp_path / "in", solutions, out, os.path.dirname(__file__)]
    command = [sys.executable, "-c", KILLED, *map(str, places)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    book = sqlite3.connect(out / BOOK)
    query = "SELECT DISTINCT student, points FROM seen "
    query += "JOIN results USING (result) ORDER BY 1"
    expected = [(f"s{place:02}", 2.0 * (place % 2)) for place in range(12)]
    assert book.execute(query).fetchall() == expected
    assert book.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    book.close()
    assert len((out / "grades.csv").read_text().splitlines()) == 13


@pytest.mark.parametrize("state", ["gone", "empty"])
def test_a_gradebook_that_has_vanished_is_not_begun_anew(
    tmp_path, notebook, grade, capsys, state
):
    notebook(tmp_path / "in" / "ada.ipynb")
    grade()
    grade()
    book = tmp_path / "grades" / BOOK
    copy = book.with_suffix(".backup.sqlite")
    kept = copy.read_bytes()
    book.unlink() if state == "gone" else book.write_bytes(b"")
    assert grade() == 1
    said = capsys.readouterr().err
    assert "is gone or empty, but its copy is there" in said
    assert "To begin anew, remove the copy" in said
    assert copy.read_bytes() == kept
    copy.unlink()
    assert grade() == 0


def test_what_stands_where_files_have_to_go_is_named(tmp_path, notebook, grade, capsys):
    notebook(tmp_path / "in" / "ada.ipynb")
    grade()
    (tmp_path / "grades" / "gradebook.backup.sqlite").mkdir()
    assert grade() == 1
    said = capsys.readouterr().err
    assert "gradebook.backup.sqlite cannot be read or written (is a directory)" in said
    (tmp_path / "grades" / "filled-a.csv").mkdir()
    (tmp_path / "a.csv").write_text("Student,ID,Sheet 1 (7)\nAda,1,\n")
    words = ["export", str(tmp_path / "a.csv"), "--grades", str(tmp_path / "grades")]
    assert main(words) == 1
    assert "filled-a.csv cannot be read or written" in capsys.readouterr().err


def test_a_gradebook_with_a_damaged_page_does_not_replace_its_copy(
    tmp_path, notebook, grade, capsys
):
    notebook(tmp_path / "in" / "ada.ipynb", extra="#" * 9000)
    grade()
    grade()
    book = tmp_path / "grades" / BOOK
    copy = book.with_suffix(".backup.sqlite")
    whole, kept = book.read_bytes(), copy.read_bytes()
    for page in range(1, len(whole) // 4096):
        start = page * 4096
        book.write_bytes(whole[:start] + b"\xa7" * 4096 + whole[start + 4096 :])
        assert grade() == 1
        assert "It is damaged. Put the copy" in capsys.readouterr().err
        assert copy.read_bytes() == kept


@pytest.mark.parametrize("kind", ["a file", "a link"])
def test_the_place_for_unpacking_is_cleared(tmp_path, notebook, grade, kind):
    notebook(tmp_path / "in" / "ada.ipynb")
    grade()
    scratch, elsewhere = tmp_path / "grades" / ".unpacked", tmp_path / "elsewhere"
    notebook(elsewhere / "keep.ipynb")
    scratch.write_text("x") if kind == "a file" else scratch.symlink_to(elsewhere)
    assert grade() == 0
    assert not scratch.exists()
    assert (elsewhere / "keep.ipynb").is_file()


def test_only_grading_begins_a_gradebook(tmp_path, notebook, grade, capsys):
    notebook(tmp_path / "in" / "ada.ipynb")
    grade()
    book = tmp_path / "grades" / "gradebook.sqlite"
    book.write_bytes(b"")
    assert main(["export", "--grades", str(tmp_path / "grades")]) == 1
    assert "there is no gradebook" in capsys.readouterr().err.lower()
    assert book.read_bytes() == b""
