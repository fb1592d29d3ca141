"""Mistakes of an instructor's that have to be said: none may change a grade unseen."""

import json
import shutil

import pytest

from attncourse_grader.grade import grading
from grader.tests.conftest import FIRST

CANVAS = "Student,ID,SIS Login ID,Section\n"
CANVAS += '"Adler, Ada",7,ada,A\n"Byte, Bob",8,bob,A\n'
LATE = ["--deadline", "2026-12-01", "--penalty", "5%/day"]


def test_a_time_is_of_whom_all_columns_name_and_the_class_list_is_kept(course):
    course.hand_in("ada")
    listed = course.students("name,email\nAda Adler,ada@x\nMal,mal@x\n")
    table = course.times("name,email,exercise,time\nAda Adler,mal@x,1,2026-12-03\n")
    course.grade(*LATE, *table, *listed, fault="nobody is known as 'Ada Adler'")
    with course.book() as book:
        book.db.execute("UPDATE runs SET started = 0")
    course.grade()  # nor is this another course, if no name of a file is known
    assert course.standing("Ada Adler").handin["run"] == 2


def test_an_undone_run_says_what_it_was_given(course):
    course.hand_in()
    table = course.times("student,exercise,time\nada,1,2026-12-03\n")
    course.grade(*LATE, *table, *course.students("name\nada\n"))
    course.grade()
    course.run("undo", 1)
    assert "undone with its class list, deadlines, penalty, times" in course.printed
    course.run("undo", 2)
    assert course.printed.count("undone with") == 1


@pytest.mark.parametrize("number", [101, 102])
def test_a_hand_in_that_canvas_lists_and_that_did_not_come_is_named(number, course):
    for who, file in (("adlerada_7", 100), ("bytebob_8", 101))[: 103 - number]:
        course.hand_in(f"{who}_{file}_x", extra=who)
    rows = [
        {"user_id": who, "submitted_at": "2026-11-03T00:00:00Z", "attachments": files}
        for who, files in ((7, [{"id": 100}]), (8, [{"id": number}]))
    ]
    times = course.write("c.json", json.dumps(rows))
    words = [*course.students(CANVAS), "--times", f"1={times}"]
    assert course.grade(*words) == int(number == 102)
    says = f"--times: of Bob Byte, Canvas's list for {FIRST} has other files"
    assert (says in course.said) == (number == 102)


def test_files_of_another_version_are_counted(course):
    path = course.hand_in()
    notebook = json.loads(path.read_text())
    notebook["metadata"]["attncourse"] = {"exercise": FIRST, "version": "0"}
    path.write_text(json.dumps(notebook))
    assert course.grade() == 0
    assert (
        f"{FIRST}: files of another version of the exercise than the one in use: 1."
        in course.said
    )


def test_a_solution_that_changes_during_a_run_has_all_graded_again(
    course, monkeypatch, tmp_path
):
    course.solutions = shutil.copytree(course.solutions, tmp_path / "solutions")
    path, grade_file = course.solutions / f"{FIRST}.ipynb", grading.grade_file

    def change_and_grade(*places, **options):
        path.write_text(path.read_text().replace("import torch", "import math, torch"))
        return grade_file(*places, **options)

    course.hand_in()
    monkeypatch.setattr(grading, "grade_file", change_and_grade)
    course.grade()
    monkeypatch.setattr(grading, "grade_file", grade_file)
    course.grade()
    assert "1 graded" in course.said
    course.grade()
    assert "0 graded, 1 as before" in course.said


def test_it_is_said_that_a_change_is_of_somebody_who_has_left(course):
    course.hand_in_each("ada", "bob")
    course.grade(*course.students("name\nada\nbob\n"))
    course.grade(*course.students("name\nbob\n"))
    for words in (
        ("adjust", "ada", 1, "+1", "--reason", "x"),
        ("extend", "ada", 1, "none"),
    ):
        course.run(*words)
        assert (
            "ada is no longer on the class list, and is in no table." in course.printed
        )
    course.run("adjust", "bob", 1, "+1", "--reason", "x")
    assert "no longer" not in course.printed


@pytest.mark.parametrize("before", [True, False])
def test_it_is_said_that_points_by_hand_count_for_a_new_file(before, course):
    course.hand_in()
    course.grade(*course.students("name\nada\nbob\n"))
    course.run("adjust", "ada" if before else "bob", 1, "+1", "--reason", "x")
    for count in (before, 0):
        for name in ("ada", "bob"):
            course.hand_in(name, extra="new")
        course.grade()
        says = f"given for an earlier file, count for a new one, too: of ada, {FIRST}."
        assert (says in course.said) == count
        assert course.said.count("given for an earlier file") == count


@pytest.mark.parametrize("later", [True, False])
@pytest.mark.parametrize("day", [1, 2])
def test_it_is_said_that_a_new_file_has_the_time_of_the_former(day, later, course):
    for extra, when in (("", 1), ("new", day)):
        course.hand_in(extra=extra)
        if later:
            course.grade()
        row = f"ada,1,2026-12-0{when}T10:00\n"
        course.grade(*course.times(f"student,exercise,time\n{row}"))
    says = f"New files of ada, {FIRST} have the time that a table gave for earlier"
    assert (says in course.said) == (day == 1)


def test_what_a_run_that_was_cut_off_has_not_said_the_next_one_says(course):
    for scores in ("wrong", "right", "wrong"):
        course.hand_in(scores=scores)
        course.grade()
    with course.book() as book:
        book.db.execute("UPDATE runs SET ended = NULL WHERE run = 3")
    course.grade()
    assert "count again (`attncourse undo 3`, `attncourse undo 4` takes" in course.said
    assert "Changed for the worse (1)" in course.said
