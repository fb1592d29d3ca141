"""A gradebook loses nothing: changes, lateness, kills, full disks, two at once."""

import hashlib
import itertools
import os
import re
import shutil
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest

from attncourse_grader import batch, plan
from attncourse_grader.batch import BOOK
from attncourse_grader.grade import grading
from attncourse_grader.hand_in.class_list import Student
from attncourse_grader.hand_in.collect import Found
from attncourse_grader.hand_in.submission import Refused, SolutionBroken
from attncourse_grader.hand_in.times import read_time
from attncourse_grader.records.database import SCHEMA, SCHEMA_VERSION, only_run
from attncourse_grader.records.effective import effective_grades
from attncourse_grader.records.gradebook import Gradebook
from attncourse_grader.records.late import in_words, penalty_for
from grader.tests.conftest import FIRST, NAMES, stand_in

LATE = "--deadline", "2026-12-01", "--penalty", "5%/day"
HEAD = "student,exercise,handed_in\n"
SHEET = "Identifier,Full name,Last modified (submission)\n"


def test_a_second_run_grades_only_what_changed_and_keeps_what_was(course):
    course.hand_in("ada")
    course.hand_in("grace", scores="wrong")
    for count in (2, 0):
        assert course.grade() == 0
        assert len(course.graded) == count
    course.hand_in("grace", scores="right now")
    assert course.grade() == 0
    assert [path.name for path, _ in course.graded] == ["grace.ipynb"]
    assert course.standing("grace").points == 2
    assert course.run("history", "GRACE") == 0
    assert re.findall(r"(\d) points", course.printed) == ["0", "0", "2"]
    assert course.grade("--again") == 0
    assert len(course.graded) == 2


def test_the_same_file_of_two_students_is_graded_once_and_counts_twice(course):
    for name, extra in (("ada", ""), ("grace", ""), ("cyd", "1")):
        course.hand_in(name, extra=extra)
    assert course.grade("--alike") == 0
    assert "One and the same file came from ada, grace." in course.said
    assert len(course.graded) == 2
    assert course.standing("ada").points == course.standing("grace").points == 2
    page = course.text("feedback/grace-1.html")
    assert "grace" in page
    assert "ada" not in page
    assert "The same file: ada, grace." in course.text("class.html")
    course.hand_in("ada", attention="right")
    course.grade()
    assert "came as" not in course.said  # that two hand in the same is no mistake


def test_of_several_files_without_a_time_the_one_with_most_points_counts(course):
    new = course.hand_in("ada/a", scores="wrong")
    old = course.hand_in("ada/b", scores="right")
    os.utime(old, (1e9, 1e9))
    assert course.grade() == 0
    assert f"ada, {FIRST}: 2 files. in/ada/b.ipynb counts" in course.said
    assert course.standing().points == 2
    old.unlink()
    course.notebook(new, scores="else")
    course.grade()
    assert course.standing().points == 0  # what was handed in since
    course.hand_in("ada/a", attention="right")
    course.grade()
    course.hand_in("ada/c", extra="newer")
    course.hand_in("ada/d", scores="blank")  # as a clone has it
    course.grade(*course.times(f"{HEAD}ada,1,2026-12-01\n"))
    assert course.standing().points == 2


def test_what_comes_twice_counts_from_when_it_came_first_and_the_last_of_canvas(course):
    for day in (1, 3):
        course.hand_in(f"ada+1+2026-12-0{day} 10:00:00 UTC+x/x", attention="right")
    for name in ("bob+1+2026-12-03 10:00:00 UTC+x/x", "bob/of unknown time"):
        course.hand_in(name, attention="right")
    course.hand_in("grace_7_1000_x", scores="right")
    course.hand_in("grace_7_999_x", scores="right", attention="right", extra="x")
    course.grade("--deadline", "2026-12-02T00:00Z", "--penalty", "10%/day")
    assert course.standing().total == 4
    assert course.standing("bob").total == 0
    assert course.standing("grace").points == 2


def test_lateness_costs_what_the_penalty_says_and_times_are_read():
    for text, late, points in NAMES["lateness"]:
        assert penalty_for(text, late, 20) == points
    assert read_time("2026-12-01T23:59Z") == 1796169540
    us = read_time("Tuesday, December 1, 2026, 11:59 PM")
    assert us == read_time("2026-12-01T23:59")
    for day in ("2026-12-01", "20261201", "2026-W49-2"):
        assert read_time(day) == read_time("2026-12-01T23:59:59")
    assert in_words(90000) == "1 day 1 hour"
    assert in_words(61) == "2 minutes"


def test_lateness_is_of_the_table_and_a_time_of_nobody_is_named(course):
    course.hand_in(attention="right")
    times = course.times(f"{HEAD}ADA,1,\nADA,1,2026-12-02T01:00\nADA,1,-\n")
    course.grade("--deadline", "1=2026-12-01T23:00", "--penalty", "5%/day", *times)
    found = course.standing()
    assert (found.points, found.late, found.penalty, found.total) == (4, 7141, 1, 3)
    page = course.text("feedback/ada-1.html")
    assert "Handed in 2 hours after the deadline: 1 point less." in page
    for options, total in NAMES["penalties"]:
        course.grade(*options.split())
        assert course.standing().total == total
    text = "student;exercise;time\nADA;1;2026-12-02T12:00\nzoe;1;2026-12-03\n"
    late = ["--deadline", "2026-12-01", "--penalty", "2/day"]
    course.grade(*late, *course.times(text), fault="nobody is known as 'zoe'")
    assert course.standing().penalty == 2


def test_a_file_has_no_time_and_a_run_says_what_lateness_comes_to(course):
    os.utime(course.hand_in(attention="right"), (2e9, 2e9))
    late = ["--deadline", "2020-01-01", "--penalty", "50%"]
    for options, penalty in ((late[:2], "no penalty"), (late, "50%")):
        course.grade(*options)
        assert course.standing().total == 4
        said = "; 0 of 1 late, 1 of unknown time (give --times), 0 points less."
        assert penalty + said in course.said
    # Where nothing was handed in, no time is missing.
    assert course.run("adjust", "ada", 2, "+1", "--reason", "oral") == 0
    course.grade(*late)
    assert "0 of 1 late, 1 of unknown time" in course.said
    course.hand_in_each("bob", "cyd")
    rows = "ada,1,2026-12-01T23:59:59.400Z\nbob,1,2026-12-03T10:00Z\n"
    rows += "cyd,1,2026-12-02T00:00Z\n"
    # A deadline to the minute lasts to the end of that minute.
    late = ["--deadline", "1=2026-12-01T23:59Z", "--penalty", "5%/day"]
    course.grade(*course.times(f"{HEAD}{rows}"), *late)
    due = time.strftime("%Y-%m-%d %H:%M %Z", time.localtime(1796169599))
    said = f"Exercise 1: due {due}, 5%/day; 2 of 3 late, 3 points less."
    assert said in course.said
    course.grade("--deadline", "1=none")
    assert "1: no deadline, 5%/day; 0 of 3 late, 0 points less." in course.said


def test_one_student_has_more_time_and_only_that_one(course):
    course.hand_in_each("ada", "grace", attention="right")
    times = "student,exercise,submitted\nada,1,2026-12-03\ngrace,1,2026-12-03\n"
    course.grade(*course.times(times), *LATE)
    assert course.standing("ada").total == course.standing("grace").total == 2
    assert course.run("extend", "ada", 1, "2026-12-02", "--reason", "ill") == 0
    assert re.search("1 point less.*\n.*: due 2026-12-02 23:59 for", course.printed)
    assert course.standing("ada").total == 3
    assert course.standing("grace").total == 2
    assert course.run("history", "ada") == 0
    said = "until 2026-12-02 23:59  1_attention_from_scratch, extended. ill\n"
    assert said in course.printed
    for deadline in ("2026-12-04", "none"):  # later for all, and for nobody
        course.grade("--deadline", deadline)
        assert course.standing().total == 4
    assert course.run("extend", "ada", 1, "2026-12-02") == 0
    assert (
        "no deadline for all, so that 2026-12-02 23:59 has no effect" in course.printed
    )
    course.grade("--deadline", "2026-12-01")
    for until, says in (("2025-12-02", "has no effect."), ("none", "due as for all.")):
        assert course.run("extend", "ada", 1, until) == 0
        assert says in course.printed
        assert course.standing().total == 2
    assert course.run("history", "ada") == 0
    assert "extended" not in course.printed


@pytest.mark.parametrize(("first", "total"), [("wrong", 2), ("right", 4)])
def test_a_number_of_moodle_has_the_time_of_its_own_table(first, total, course):
    words = [*course.students("name\nAda\n"), "--penalty", "5%/day"]
    for place, day, attention in (("1", 1, first), ("2", 3, "right")):
        name = f"Ada_7{place}_assignsubmission_file/x"
        course.hand_in(name, place, attention=attention)
        row = f'Participant 7{place},Ada,"Tuesday, {day} December 2026, 10:00"'
        table = course.write(f"{place}.csv", f"{SHEET}{row}\n")
        words += ["--times", f"{place}={table}"]
    for places in ("1", "12")[total == 4 :]:  # what came twice, in one run
        course.grade(*words, "--deadline", "1=2026-12-01", places=places, trust=True)
        assert course.standing("Ada").total == total


@pytest.mark.parametrize("days", [(1, 3), (3, 1)])
def test_of_two_worksheets_the_later_time_counts(days, course):
    course.hand_in("Ada_71_assignsubmission_file/x", attention="right")
    words = [*LATE, *course.students("name\nAda\n")]
    for day in days:
        row = f'Participant 71,Ada,"Tuesday, {day} December 2026, 10:00"'
        words += ["--times", f"1={course.write(f'{day}.csv', f'{SHEET}{row}')}"]
    course.grade(*words, trust=True)
    assert course.standing("Ada").total == 2


@pytest.mark.parametrize(("form", "theirs", "mailed", "total"), NAMES["mailed"])
def test_a_mailed_file_beside_that_of_a_platform_has_its_own_time(
    form, theirs, mailed, total, course
):
    files, people = "Ada_71_assignsubmission_file/x", "name,email\nAda,a@x\nBob,b@x\n"
    sheet = course.write("w.csv", f"{SHEET}Participant 71,Ada,2026-12-0{theirs}\n,,\n")
    if form == "canvas":
        files, people = "ada_71_501_x", "name,canvas_id\nAda,71\nBob,72\n"
        facts = f'"user_id": 71, "submitted_at": "2026-12-0{theirs}T10:00Z"'
        text = f'[{{{facts}, "attachments": [{{"id": 501}}]}}]'
        sheet = course.write("c.json", text)
    if form != "pdf":  # which is no notebook
        course.hand_in(files)
    course.hand_in("Ada", attention="wrong" if form == "same" else "right")
    own = course.times(f"{HEAD}Ada,1,2026-12-0{mailed}\n") if mailed else []
    words = *course.students(people), "--times", f"1={sheet}", *own
    assert course.grade(*words, *LATE, trust=True) == 0
    assert course.standing("Ada").total == total
    assert "Participant" not in course.said  # of the line without anything


@pytest.mark.parametrize("name", ["bob.ipynb", "ada.zip"])
def test_a_table_tells_times_of_files_in_the_same_run_alone(name, course):
    course.hand_in(attention="right")
    course.grade(*LATE)
    (course.folder / "broken").mkdir()
    course.write(f"broken/{name}", "{")
    table = course.times(f"{HEAD}ada,1,2026-12-03\n")
    for place, total in (("broken", 4), ("in", 2)):
        course.grade(*table, places=[place])
        assert course.standing().total == total


def test_a_mark_of_canvas_costs_the_least(course):
    course.hand_in("ada_LATE_7_100_x", attention="right")
    course.hand_in("grace_8_100_LATE_x", attention="right", extra="x")
    course.hand_in("grace_LATE_8_101_x", attention="right", extra="x")  # the same
    course.grade("--penalty", "5%/day")
    assert (course.standing("ada").penalty, course.standing("grace").penalty) == (1, 0)
    assert "1 marked so by Canvas (give --times), 1 point less" in course.said
    rows = '[{"user_id": 7, "submitted_at": "2026-12-03T00:00:00Z", "late": true}, '
    times = course.write("c.json", rows + '{"user_id": 8, "submitted_at": null}]')
    course.grade("--times", f"1={times}", "--deadline", "2026-12-01T00:00Z")
    assert course.standing().penalty == 2
    for number, status in ((100, 0), (99, 1)):
        listed = f'"attachments": [{{"id": {number}}}]'
        times.write_text(f"{rows}]".replace('"late": true}, ', f"{listed}}}"))
        assert course.grade("--times", f"1={times}", "--penalty", "none") == status
    assert "of ada, Canvas's list for 1_attention_from_scratch has other" in course.said


def test_a_run_is_undone_and_comes_back(course):
    course.hand_in(attention="right")
    course.grade("--penalty", "50%", "--deadline", "2026-12-01")
    course.hand_in(scores="wrong")
    course.write("in/notes.txt", "")
    course.grade(*course.times(f"{HEAD}ada,1,2026-12-02\n"))
    assert course.standing().total == 0
    assert "notes.txt" in course.text("class.html")
    assert course.run("undo", 2) == 0
    assert "notes.txt" not in course.text("class.html")
    assert "1 files, 1 graded, undone" in course.printed
    assert course.standing().total == 4
    assert "4 of 20" in course.text("feedback/ada-1.html")
    assert course.run("undo", 2, "--back") == 0
    assert course.standing().total == 0
    course.grade()  # which finds the same
    course.run("undo", 2)
    assert course.standing().total == 4
    course.run("undo", 2, "--back")
    course.run("history", "ada")
    assert "graded in run 2, exercise as of" in course.printed
    assert course.run("undo", 9) == 1


def test_undoing_a_run_leaves_the_others_what_they_were_given(course):
    course.hand_in(attention="right")
    listed = course.students("name,github\nada,n/a\neve,n/a\n")  # no login at all
    same = [*listed, "--penalty", "5%/day"]
    course.grade(*same, "--deadline", "1=2026-12-01", "--deadline", "2=2026-12-01")
    assert course.grade(*same, "--deadline", "1=2026-12-01") == 0
    assert course.run("undo", 1) == 0
    with course.book() as book:
        assert book.setting("penalty") == "5%/day"
        assert len(book.setting("listed")) == 2
        assert list(book.setting("deadlines")) == [FIRST]


def test_what_cannot_be_graded_now_keeps_the_grade_it_had(graded, monkeypatch):
    graded.hand_in("grace", scores="else")
    works = grading.grade_file
    for kind in (SolutionBroken, Refused, ZeroDivisionError):
        monkeypatch.setattr(grading, "grade_file", Mock(side_effect=kind("no")))
        assert graded.grade("--again") == 1
        said = graded.said
        words = "the instructor's notebook, as grading in/ada.ipynb has shown"
        assert said.count(words) == (kind is SolutionBroken)
        assert said.count("not graded. ") == 2 * (kind is not SolutionBroken)
        assert graded.standing().points == 2
    assert "ada.ipynb: not graded. The grader failed on this file (ZeroDivision" in said
    monkeypatch.setattr(grading, "grade_file", works)
    assert graded.grade() == 0  # it was not given up
    assert graded.standing("grace").points == 0
    ada = graded.hand_in()
    ada.write_text("{")
    graded.grade(fault="The file cannot be read as")
    assert "ada.ipynb" in graded.text("grades.csv")
    ada.unlink()
    graded.grade()
    assert graded.standing().points == 2


@pytest.mark.parametrize(("file", "student"), NAMES["followed"])
def test_what_was_given_by_hand_follows_to_the_class_list(file, student, course):
    course.hand_in(file)
    course.grade(trust=True)
    assert course.run("adjust", student, 1, "+1", "--reason", "oral") == 0
    table = course.students("name,username,email\nAda Lovelace,al1,ada@x.org\nEve,,\n")
    assert course.grade(*table, trust=True) == 0
    assert sorted(course.points()) == ["", "3"]


def test_a_login_of_an_account_is_no_name_when_a_class_list_comes(course):
    for login, place in (("ada_lovelace", "in"), ("eve", "in"), ("eve", "later")):
        course.hand_in(f"{login}+1+2026-12-01 10:00:00 UTC/x", place, extra=login)
    course.grade()
    people = course.students("name,email\nAda Lovelace,al@x.org\nEve,eve@x.org\n")
    course.grade(*people, places=["later"])
    assert course.points() == ["", "2"]


def test_what_came_under_two_names_of_one_student_is_hers(course):
    for name in ("al1", "Ada Lovelace"):
        course.hand_in(name, place=name, attention=name)
        course.grade(places=[name])
        course.run("extend", name, 2, "2026-12-02")
    assert course.run("adjust", "al1", 1, "+1", "--reason", "oral") == 0
    table = course.students("name,username\nAda Lovelace,al1\nEve,\n")
    for _ in range(2):
        course.grade(*table, places=["Ada Lovelace"])
        assert "No longer" not in course.said
    assert course.points() == ["3", ""]
    assert course.run("history", "al1") == 0
    assert "al1/al1.ipynb" in course.printed
    wrong = course.students("name,username\nAda Lovelace,\nEve,al1\n")
    course.grade(*wrong, places=["Ada Lovelace"])
    assert course.standing("Eve").total == 3
    for run in (3, 4, 5):
        course.run("undo", run)
    assert course.standing("al1").total == 3
    assert course.standing("Ada Lovelace").total == 2


def test_who_has_had_two_names_in_canvas_keeps_the_grades_of_both(course):
    for week, name in (("1", "birdada"), ("2", "foxada")):
        course.hand_in(f"{name}_12_1_x", place=week)
        course.hand_in("libo_13_2_x", place=week)
        course.grade(places=[week])
        assert course.run("adjust", name, 1, "+1", "--reason", "oral") == 0
    listed = course.students("name,canvas_id\nAda Fox,12\nBo Li,13\n")
    course.grade(*listed, places=["2"])
    assert course.points() == ["4", "2"]


def test_numbers_that_two_had_exchanged_are_a_question(course):
    course.hand_in_each("1", "3", "4", attention="right")
    course.hand_in("2", attention="wrong")
    for numbers, asked in (("12", 0), ("21", 2), ("21", 2), ("12", 0)):
        for run in (2, 3) if course.grades.exists() and not asked else ():
            course.run("undo", run)
        rows = "name,id\nAda,{}\nGrace,{}\nEmmy,3\nJoan,4\n".format(*numbers)
        assert course.grade(*course.students(rows)) == bool(asked)
        assert course.said.count("is now that of") == asked
        assert course.standing("Ada").points == 4
        assert course.standing("Grace").points == 2


def test_who_takes_a_name_that_is_spelled_otherwise_now_takes_no_grade(course):
    course.hand_in_each("Ada", "Emmy", "Joan", "Mal")
    others = "Emmy,e@x.org\nJoan,j@x.org\n"
    course.grade(*course.students(f"name,email\nAda,a@x.org\nMal,m@x.org\n{others}"))
    now = f"name,email\nAda Maria,a@x.org\nAda,m@x.org\n{others}"
    course.grade(
        *course.students(now), places=["in/Emmy.ipynb"], fault="is now that of"
    )
    found = {row[0]: row[4] for row in course.rows()[1:]}
    assert found == {"Ada Maria": "", "Ada (m@x.org)": "", "Emmy": "2", "Joan": "2"}
    course.run("history", "Ada")
    assert "in/Ada.ipynb" in course.printed


def test_who_is_not_on_a_class_list_is_kept_and_a_wrong_list_is_undone(course):
    course.hand_in_each("Ada", "Grace", "Joan", "E-ve")  # whose letters are also Eve's
    course.grade()
    right = course.text("grades.csv")
    course.grade(*course.students("name,email\nAda,other@x.org\nEve,eve@x.org\n"))
    assert "left out of tables: E-ve, Grace, Joan" in course.said
    table = course.text("grades.csv")
    assert "other@x.org" in table
    assert '"Eve","","eve@x.org","",""' in table
    assert "Grace" not in table
    assert course.standing("Grace").points == 2
    pages = course.grades / "feedback"
    assert [page.name for page in pages.iterdir()] == ["Ada-1.html"]
    assert course.run("undo", 2) == 0
    assert course.text("grades.csv") == right
    assert len(list(pages.iterdir())) == 4
    assert course.run("undo", 2, "--back") == 0
    assert "gone: 3. E-ve, " in course.printed  # who is not on the list
    assert "eve@x.org" in course.text("grades.csv")
    course.grade(*course.students("name\nGrace\nJoan\n"))
    assert "left out of tables: Ada, E-ve" in course.said
    assert "Ada" not in course.text("grades.csv")
    assert course.standing("Ada").points == 2


@pytest.mark.parametrize(("now", "listed", "days", "refused"), NAMES["another_year"])
def test_a_gradebook_of_another_year_is_refused(now, listed, days, refused, course):
    course.hand_in_each("Ada", "Grace", "Joan")
    course.grade()
    (course.folder / "in").rename(course.folder / "old")
    with course.book() as book:
        book.db.execute(f"UPDATE runs SET started = started - {days} * 86400")
    course.hand_in_each(*now, attention="again")
    options = course.students("\n".join(["name", *now])) if listed else []
    course.grade("--deadline", "2026-12-01", *options)
    assert ("Is it of another course or another year?" in course.said) == refused
    with course.book() as book:
        assert (not book.setting("deadlines")) == refused
        assert ("Jo" in book.students()) == (not refused and "Jo" in now)


def test_a_namesake_who_comes_or_leaves_changes_nobodys_grades(course):
    ada, other = "Ada,ada@x.org\n", "Ada,other@x.org\n"
    course.hand_in("ada@x.org")
    for rows in (ada, ada + other, other + ada, ada):
        course.grade(*course.students(f"name,email\n{rows}"))
        assert course.standing("Ada").points == 2
    assert '"Ada","","ada@x.org","","2"' in course.text("grades.csv")
    wrong = course.students(f"name,email\n{ada}Eve,ada@x.org\n")  # one of the two is
    assert course.grade(*wrong) == 1


@pytest.mark.parametrize(("rows", "again", "says"), NAMES["listed_again"])
def test_the_same_student_keeps_all_on_the_next_list(rows, again, says, course):
    course.hand_in_each("1", "3")
    course.grade(*course.students(f"name,id,email,group\n{rows}\nBob,3,b@x.org,"))
    course.run("adjust", "1", 1, "+1", "--reason", "oral")
    again = course.students(f"name,id,email,group\n{again}\nBob,3,b@x.org,")
    assert course.grade(*again, places=["in/3.ipynb"], fault=says) == bool(says)
    assert {row[1]: row[4] for row in course.rows()}["1"] == "3"


def test_a_newcomer_who_is_called_like_who_left_takes_no_grade(course):
    course.hand_in("a@x")
    head, mo = "name,username,email\n", "Mo,mo,m@x\n"
    for rows in ("Ada,,a@x\n", "Ada,new,b@x\n", "Ada,new,\n"):
        course.grade(*course.students(f"{head}{mo}{rows}"))
    assert course.points() == ["", ""]


def test_who_takes_a_name_that_tells_namesakes_apart_takes_no_grade(course):
    course.hand_in("a1")
    for last in ("Mal", "Ada (a1)"):
        course.grade(*course.students(f"name,id\nAda,a1\nAda,b2\n{last},m3\n"))
    assert [row[0] for row in course.rows()[1:]] == ["Ada (a1)", "Ada (b2)", "Mal"]
    assert course.points() == ["2", "", ""]


def test_a_namesake_keeps_her_grades_whatever_the_two_are_called_later(course):
    course.hand_in("a@x.org")
    course.hand_in("b@x.org", place="later")
    names = ("Ada", "Ada"), ("Ada", "Ada (a@x.org)"), ("Ada", "Mal"), ("Eve", "Mal")
    for place, (ada, mal) in zip(["in", *["later"] * 3], names, strict=True):
        people = f"name,email\n{ada},a@x.org\n{mal},m@x.org\nBob,b@x.org\n"
        course.grade(*course.students(people), places=[place])
        points = {row[2]: row[4] for row in course.rows()[1:]}
        assert (points["a@x.org"], points["m@x.org"]) == ("2", "")


@pytest.mark.parametrize(("now", "kept"), NAMES["made_up"])
def test_a_name_that_is_made_to_tell_people_apart_is_nobodys(now, kept, course):
    course.hand_in_each("1", "2", "3")
    course.grade(*course.students("name,id\nAda,1\nAda (9),2\nMo,3\n"))
    listed = course.students(f"name,id\n{now}Mo,3\n")
    course.grade(*listed, places=["in/3.ipynb"], fault="is taken for 'Ada ")
    points = {row[1]: row[4] for row in course.rows()[1:]}
    assert points.pop("3") == "2"
    assert points.pop("2", "gone") == kept
    assert set(points.values()) == {""}


def test_points_are_changed_by_hand_with_a_reason(graded):
    assert graded.run("adjust", "ada", 1, "+2", "--reason", "oral <b>") == 0
    assert graded.run("adjust", "ada", 1, "-0.5", "--reason", "typo") == 0
    assert graded.standing().total == 3.5
    page = graded.text("feedback/ada-1.html")
    assert "Changed by hand: +2 points. oral &lt;b&gt;" in page
    graded.run("undo", 1)
    graded.grade()
    assert "given for an earlier file" not in graded.said  # it is the same
    graded.grade("--again")
    assert graded.standing().total == 3.5
    for words, said in [
        (["adda", "1", "+1"], "Did you mean 'ada'"),
        (["ada", "1", "nan"], "no number of points"),
    ]:
        graded.run("adjust", *words, "--reason", "why", fault=said)


def test_a_name_that_is_anothers_login_is_a_question(course):
    people = "name,username,email\nAda Adler,ada,a@x\nada,mal,\na@x,m,\nMax,m1,\n"
    course.hand_in_each("ada", "mal", attention="right")
    for more in ("", "Max,m2,\n"):
        course.grade(*course.students(people + more))
    assert course.run("extend", "a@x", 1, "2026-12-01") == 0  # nobody else's address
    course.run("extend", "ada", 1, "2026-12-01", fault="mean 'Ada Adler' or 'ada'")
    asked = "mean 'Max' or 'Max (m2)'? Give a number, login or address."
    course.run("adjust", "Max", 1, "+1", "--reason", "oral", fault=asked)


def test_who_changes_something_waits_for_the_pages(graded, monkeypatch):
    other = sqlite3.connect(graded.grades / BOOK, timeout=0)

    def written(book, out):
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
        return []

    monkeypatch.setattr(batch, "write_outputs", written)
    assert graded.grade() == 0
    other.close()


def test_two_runs_at_once_the_second_says_so(graded):
    graded.hand_in("grace", scores="else")
    with only_run(graded.grades):
        graded.grade(fault="Another run is grading")
        graded.run("undo", 1, fault="Another run is grading")
    assert graded.grade() == 0


def test_two_commands_may_open_a_new_gradebook_at_once(tmp_path):
    def opened(place):
        with Gradebook(tmp_path / BOOK) as book:
            return len(book.students())

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(opened, range(16))) == [0] * 16


def test_a_full_disk_is_a_sentence_and_what_was_graded_is_kept(course, monkeypatch):
    for place in range(9):
        noise = f"NOISE = {os.urandom(3000).hex()!r}"
        course.hand_in(f"s{place}", scores=f"{place}", extra=noise)
    connect = sqlite3.connect

    def small(path, **options):
        found = connect(path, **options)
        if str(path).endswith(BOOK):
            found.execute("PRAGMA max_page_count = 34")
        return found

    monkeypatch.setattr(sqlite3, "connect", small)
    course.grade("--jobs", "1", fault="is full")
    monkeypatch.setattr(sqlite3, "connect", connect)
    with course.book() as book:
        kept = len(book.rows("SELECT * FROM seen"))
    assert 0 < kept < 9
    assert course.grade() == 0
    assert len(course.graded) in (9 - kept, 8 - kept)  # it may fill between two writes


def test_an_interrupted_run_goes_on_where_it_was(course, monkeypatch):
    course.hand_in_each("ada", "grace", "joan", scores="wrong")
    keep, kept = batch._Run._keep, []

    def interrupted(self, job, outcome):
        if kept:
            with course.book() as book:  # what was printed was kept first
                kept.extend(row["student"] for row in book.rows("SELECT * FROM seen"))
            raise KeyboardInterrupt
        kept.append(job)
        return keep(self, job, outcome)

    monkeypatch.setattr(batch._Run, "_keep", interrupted)
    assert course.grade("--jobs", "1") == 130
    assert kept[1:] == ["ada"]
    assert "0 of 20 points" in course.printed
    assert "`grade` goes on from there" in course.said
    assert not (course.grades / ".unpacked").exists()
    monkeypatch.setattr(batch._Run, "_keep", keep)
    assert course.grade() == 0
    assert "2 graded, 1 as before" in course.said
    assert course.points() == ["0", "0", "0"]


def test_every_change_of_the_schema_counts_up_its_version():
    """If this fails: write a migration, raise SCHEMA_VERSION, then this number."""
    digest = hashlib.sha256(SCHEMA.encode()).hexdigest()[:8]
    assert (SCHEMA_VERSION, digest) == (5, "f07f3896")


def test_pages_of_two_students_never_share_a_file(course):
    names = ["a b", "a_b", "A_B", "a?b"]
    for place, name in enumerate(names):
        course.hand_in(f"{name}/x", scores=f"right {place}")
    assert course.grade() == 0
    pages = list((course.grades / "feedback").glob("*.html"))
    assert len({page.name.lower() for page in pages}) == 4
    found = [re.search("<p>(.+?): <strong>", page.read_text())[1] for page in pages]
    assert sorted(found) == sorted(names)


def test_it_is_said_whose_points_changed_and_why(course):
    course.hand_in(attention="right")
    course.grade(*LATE, *course.times(f"{HEAD}ada,1,2026-12-02\n"))
    course.hand_in("grace")
    assert "Changed" not in course.said
    course.grade("--deadline", "2026-12-15")
    assert f"Changed without new content (1): ada, {FIRST}: 3, now 4.\n" in course.said
    course.hand_in(scores="wrong")
    course.grade()
    assert f"Changed for the worse (1): ada, {FIRST}: 4, now 0.\n" in course.said
    days = ("2026-12-18", "2026-12-17", "2026-12-18")  # the later line holds
    course.grade(*course.times(HEAD + "".join(f"ada,1,{day}\n" for day in days)))
    assert course.standing().late == 3 * 86400
    course.grade(*course.times(f"{HEAD}ada,1,2026-12-20\n"))
    assert course.said.count(f"of ada, {FIRST} are known to be earlier") == 1


@pytest.mark.parametrize("known", ["runs", "times", "numbers"])
def test_it_is_said_that_older_files_count_again(known, course):
    weeks, said = [400] * (known == "runs") + [500, 400, 400], ""
    for week in weeks:
        name = f"ada_7_{week}_x" if known == "numbers" else "ada"
        course.hand_in(name, f"1/{week}", attention=f"{week}")
        words = course.times(f"{HEAD}ada,1,2026-11-{week // 20}\n")
        course.grade(*words[: 2 * (known == "times")], places=[f"1/{week}"])
        said += course.said
    again = f"count again (`attncourse undo {len(weeks) - 1}` takes that back): of ada."
    assert said.count(again) == 1
    for run in (len(weeks), len(weeks) - 1):
        assert course.run("undo", run) == 0
    assert course.standing().handin["source"].startswith("500/")


@pytest.mark.parametrize(("now", "says", "points"), NAMES["who_left"])
def test_nobody_takes_the_grades_of_who_left(now, says, points, course):
    path = course.hand_in("Ada")
    course.hand_in("Mo", extra="Mo")
    people = "Ada,1,ada@x.org\nAlan,2,alan@x.org\nMo,3,\n"
    course.grade(*course.students(f"name,id,email\n{people}"))
    for name, more in (("Ada", "-1"), ("Alan", "+2")):
        assert course.run("adjust", name, 1, more, "--reason", "why") == 0
    path.unlink()
    table = course.students(f"name,id,email\n{now}Mo,3,\n")
    course.grade(*table, fault=says)
    found = {row[0]: row[4] for row in course.rows()[1:] if row[0] != "Mo"}
    assert found == {name: points[name] for name in found}
    course.grade(*table)
    assert "is taken for" not in course.said


def test_what_counts_takes_no_more_than_twice_as_long_after_twice_as_many_runs(graded):
    def steps(runs):
        """Grade in so many runs what has changed; count the steps of the database."""
        with graded.book() as book, book.together():
            for student, result in itertools.product("abcdefghij", range(runs)):
                book.add_student(Student(student))
                book.run = 1
                facts = {"exercise": FIRST, "points": 1, "of": 2, "tasks": []}
                found = f"{student}{result}", "", f"{student}{result}", facts, []
                number = book.add_result(*found)
                book.run = book._insert("runs", run=result + 2, started=0, secret="")
                file = Found(Path(), "", student)
                book.add_handin(student, file, None, found[0], number, {})
                book.keep("times", student, FIRST, run=book.run, handed_in=result)
            counted = Mock(return_value=0)
            book.db.set_progress_handler(counted, 100)
            assert len(effective_grades(book)) == 11
        return counted.call_count

    first, second = steps(40), steps(80)
    assert second < 2.5 * first, (first, second)


def test_whatever_changes_the_gradebook_copies_it_first_and_a_newer_one_stays(graded):
    copy = graded.grades / "gradebook.backup.sqlite"
    for words in (["adjust", "ada", 1, "+1", "--reason", "x"], ["undo", 1], ["undo"]):
        assert graded.run(*words) == 0
        with Gradebook(copy) as before:
            total = effective_grades(before)[0].total
        assert total == (2 if words[0] == "adjust" else 3)
    with graded.book() as book:
        book.db.execute("PRAGMA user_version = 99")
    graded.grade(fault="another version")


def test_an_exercise_with_another_name_or_several_versions_is_named_once(course):
    course.hand_in_each("ada", "zoe")
    course.grade()
    with course.book() as book:
        book.db.execute("UPDATE results SET exercise = '1_old'")
        book.db.execute("UPDATE results SET of = of + 4 WHERE result = 1")
    for count in (1, 0):
        course.grade(places=["in/ada.ipynb"] if count else ["in"])
        assert len(course.graded) == 1
        assert course.said.count("left out of totals: 1_old. If one has") == count
    with course.book() as book:
        book.db.execute("UPDATE results SET of = 24, version = 'new' WHERE result = 3")
    course.grade()
    said = "2 versions of the exercise or its solution, with maxima"
    assert course.said.count(said) == 1


def test_who_has_points_by_hand_alone_has_the_maximum_of_what_counts(graded):
    graded.grade(*graded.students("name\nada\neve\n"))
    graded.hand_in(scores="new")
    graded.grade()
    with graded.book() as book:
        book.db.execute("UPDATE results SET of = 24 WHERE result = 2")
    graded.run("adjust", "eve", 1, "+3", "--reason", "oral")
    assert graded.standing("eve").of == 24
    graded.run("undo", 3)
    assert graded.standing("eve").of == 20


@pytest.mark.parametrize("listed", [True, False])
def test_points_by_hand_stay_when_moodle_shows_a_hidden_name(listed, course):
    hidden = "Participant_111_assignsubmission_file"
    path = course.hand_in(f"{hidden}/x").parent
    course.grade()
    course.run("adjust", "Participant 111", 1, "-1", "--reason", "copied")
    path.rename(path.with_name(hidden.replace("Participant", "Ada Adler")))
    people = course.students("name\nAda Adler\n") if listed else []
    for _ in range(2):
        assert course.grade(*people, trust=True) == 0
        assert (course.points(), len(course.rows())) == (["1"], 2)
    course.run("undo", 2)
    course.run("undo", 3)
    assert course.standing("Participant 111").total == 1


@pytest.mark.parametrize(("files", "lists", "undone"), NAMES["as_anothers"])
def test_it_is_said_that_a_file_has_come_as_anothers(files, lists, undone, course):
    for file, listed in zip(files, lists, strict=True):
        path = course.hand_in(file, attention="right")
        course.hand_in("blue/y")
        people = f"name,group\n{listed}\ncyd,blue\n"
        course.grade(*course.students(people) if listed else [])
        path.unlink()
    assert f"A file of ada, {FIRST} came as one of bob now." in course.said
    new = "Changed without new content (1): ada" not in course.said  # but cyd's
    assert new == (undone == 1)
    assert f"with `attncourse undo {undone}`, and grade again" in course.said


@pytest.mark.parametrize(("own", "total"), [("2026-12-01", 4), ("2026-12-09", 2)])
@pytest.mark.parametrize("later", [True, False])
def test_ones_own_table_counts_where_it_is_earlier(later, own, total, course):
    row = 'Participant 71,Ada,"Thursday, 3 December 2026, 10:00"\n'
    course.hand_in("Ada_71_assignsubmission_file/x", attention="right")
    sheet = "--times", f"1={course.write('w.csv', SHEET + row)}"
    table = course.times(f"student,exercise,time\nAda,1,{own}\n")
    course.grade(*sheet, *LATE, *(() if later else table), trust=True)
    course.grade(*table, trust=True)
    assert course.standing("Ada").total == total


def test_what_the_limit_cost_is_graded_again_with_another(course, monkeypatch):
    def spent(path, *, seconds, **options):
        course.graded.append(seconds)
        return replace(stand_in(path, **options), spent=seconds < 600)

    monkeypatch.setattr("attncourse_grader.grade.grading.grade_file", spent)
    course.hand_in()
    for limit, graded in ((3, [3]), (3, []), (700, [700]), (800, []), (3, [])):
        course.grade("--limit", limit)
        assert course.graded == graded
        said = f"may take {limit} seconds (--limit)"
        assert (said in course.said and "of ada." in course.said) == (graded == [3])


def test_all_that_checks_share_is_part_of_a_version(tmp_path, monkeypatch):
    copy = tmp_path / "exercises"
    shutil.copytree(plan.folder(), copy)
    shutil.copytree(copy, copy / ".copy")
    monkeypatch.setattr(plan, "folder", lambda: copy)
    before = plan.hash_of_checks(["build_it"])
    for name, same in (
        ("drawing.py", False),
        (".copy/drawing.py", True),
        ("attention_variants.py", True),
        ("expected/6_build_it.json.xz", False),
        ("expected/1_attention_from_scratch.json.xz", True),
    ):
        (copy / name).write_text("")
        assert (plan.hash_of_checks(["build_it"]) == before) == same
        before = plan.hash_of_checks(["build_it"])
