"""What happens to grades when files are damaged, are gone, or a run is killed."""

import os
import random
import signal
import threading
import time

import pytest
from tqdm import tqdm

from attncourse_grader.batch import BOOK


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_killed_at_many_moments_every_grade_is_there_once(course, monkeypatch):
    # The lock of the bars is one that forks share: whoever is killed with it keeps it.
    monkeypatch.setattr(tqdm, "_lock", threading.RLock(), raising=False)
    monkeypatch.setattr(tqdm, "monitor_interval", 0)
    for place in range(12):
        scores = "right" if place % 2 else "wrong"
        course.hand_in(f"s{place:02}", scores=scores, extra=f"#{place}")
    course.grade()  # imports all
    for path in course.grades.glob("gradebook*"):
        path.unlink()
    rng = random.Random(7)
    for _ in range(20):
        child = os.fork()
        if not child:
            try:
                course.grade()
            finally:
                os._exit(0)
        time.sleep(rng.uniform(0.01, 0.15))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert course.grade() == 0
    query = "SELECT DISTINCT student, points FROM seen "
    query += "JOIN results USING (result) ORDER BY 1"
    expected = [(f"s{place:02}", 2.0 * (place % 2)) for place in range(12)]
    with course.book() as book:
        assert list(map(tuple, book.rows(query))) == expected
        assert book.rows("PRAGMA integrity_check")[0][0] == "ok"
    assert len(course.rows()) == 13


@pytest.mark.parametrize("state", ["gone", "empty"])
def test_a_gradebook_that_has_vanished_is_not_begun_anew(graded, state):
    graded.grade()
    book = graded.grades / BOOK
    copy = book.with_suffix(".backup.sqlite")
    kept = copy.read_bytes()
    book.unlink() if state == "gone" else book.write_bytes(b"")
    (journal := book.with_name(f"{BOOK}-journal")).write_bytes(b"x")
    graded.grade(fault="is gone or empty, but its copy is there")
    assert "To begin anew, remove the copy" in graded.said
    assert (copy.read_bytes(), journal.exists()) == (kept, False)
    copy.unlink()
    assert graded.run("export") == 1  # only grading begins a gradebook
    assert "there is no gradebook" in graded.said.lower()
    assert not book.exists() or book.read_bytes() == b""
    assert graded.grade() == 0


def test_what_stands_where_files_have_to_go_is_named_and_pages_wait(course):
    course.hand_in()
    page = course.grades / "feedback" / "ada-1.html"
    page.mkdir(parents=True)
    course.grade(fault=f"{page.name} cannot be written (is a directory)")
    page.rmdir()
    assert course.grade() == 0
    assert course.graded == []
    assert page.is_file()
    copy = course.grades / "gradebook.backup.sqlite"
    copy.unlink()
    copy.mkdir()
    course.grade(fault=f"{copy.name} cannot be read or written (is a directory)")


def test_a_damaged_gradebook_is_named_and_does_not_replace_its_copy(course):
    course.hand_in(extra="#" * 9000)
    course.grade()
    course.grade()
    book = course.grades / BOOK
    copy = book.with_suffix(".backup.sqlite")
    whole, kept = book.read_bytes(), copy.read_bytes()
    damaged = [b"not a database" * 1000]
    for start in range(4096, len(whole), 4096):  # one page of it
        damaged.append(whole[:start] + b"\xa7" * 4096 + whole[start + 4096 :])
    for content in damaged:
        book.write_bytes(content)
        course.grade(fault=f"It is damaged. Put the copy beside it, {copy.name}")
        assert copy.read_bytes() == kept
    book.write_bytes(kept)
    assert course.grade() == 0
    assert course.standing().points == 2


def test_a_damaged_record_is_a_sentence_and_the_points_stay(graded):
    graded.hand_in("grace", extra="#")
    graded.grade()
    with graded.book() as book:
        book.db.execute("UPDATE results SET record = '{' WHERE result = 1")
    graded.grade(fault="what the gradebook holds about it is damaged")
    assert graded.standing("ada").points == graded.standing("grace").points == 2


def test_what_lies_in_the_place_for_unpacking_or_copying_is_no_obstacle(graded):
    keep = graded.hand_in("keep", place="elsewhere")
    scratch = graded.grades / ".unpacked"
    for put in (scratch.touch, scratch.mkdir, lambda: scratch.symlink_to(keep.parent)):
        put()
        assert graded.grade() == 0
        assert not scratch.exists()
    assert keep.is_file()
    # That a killed command left half made.
    names = (f"gradebook.backup.sqlite.{pid}.part" for pid in (os.getpid(), 1))
    killed, others = (graded.grades / name for name in names)
    for path in (killed, others):
        path.write_bytes(b"half" * 3000)
    assert graded.run("adjust", "ada", 1, "+1", "--reason", "late bus") == 0
    assert (killed.exists(), others.exists()) == (False, True)  # who still writes it
