"""A gradebook loses nothing: changes, lateness, kills, full disks, two at once."""

import os
import re
import signal
import sqlite3
import subprocess
import sys

import pytest

from attncourse_grader.batch import BOOK
from attncourse_grader.cli import main
from attncourse_grader.grade import grading
from attncourse_grader.hand_in.submission import Refused, SolutionBroken
from attncourse_grader.hand_in.times import read_time
from attncourse_grader.records.effective import effective_grades
from attncourse_grader.records.gradebook import Gradebook
from attncourse_grader.records.late import in_words, penalty_for

FIRST = "1_attention_from_scratch"


def standing(tmp_path, student="ada"):
    with Gradebook(tmp_path / "grades" / BOOK, must_exist=True) as book:
        (found,) = [s for s in effective_grades(book) if s.student == student]
    return found


def test_a_second_run_grades_only_what_changed(tmp_path, notebook, grade, calls):
    notebook(tmp_path / "in" / "ada.ipynb")
    notebook(tmp_path / "in" / "grace.ipynb", scores="wrong")
    assert grade() == 0
    assert len(calls) == 2
    assert grade() == 0
    assert len(calls) == 0
    notebook(tmp_path / "in" / "grace.ipynb", scores="right now")
    assert grade() == 0
    assert [path.name for path, _ in calls] == ["grace.ipynb"]
    assert standing(tmp_path, "grace").points == 2
    assert grade("--again") == 0
    assert len(calls) == 2


def test_what_was_graded_before_stays_in_the_history(tmp_path, notebook, grade, capsys):
    notebook(tmp_path / "in" / "ada.ipynb", scores="wrong")
    grade()
    notebook(tmp_path / "in" / "ada.ipynb", scores="right")
    grade()
    capsys.readouterr()
    assert main(["history", "ADA", "--grades", str(tmp_path / "grades")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum("0 points" in line for line in lines) == 1
    assert sum("2 points" in line for line in lines) == 1


def test_a_changed_solution_or_secret_is_graded_anew_and_the_old_grade_kept(
    tmp_path, notebook, grade, calls, monkeypatch
):
    notebook(tmp_path / "in" / "ada.ipynb")
    grade("--secret", "one")
    grade("--secret", "two")
    assert len(calls) == 1
    assert calls[0][1]["secret"] == "two"
    grade("--secret", "one")  # its grades are still there
    assert calls == []
    monkeypatch.setattr("attncourse_grader.plan.hash_of", lambda path: f"new {path}")
    grade("--secret", "one")
    assert len(calls) == 1


def test_the_same_file_of_two_students_is_graded_once_and_counts_twice(
    tmp_path, notebook, grade, calls
):
    for name in ("ada", "grace"):
        notebook(tmp_path / "in" / f"{name}.ipynb")
    assert grade("--alike") == 0
    assert len(calls) == 1
    assert standing(tmp_path, "ada").points == standing(tmp_path, "grace").points == 2
    page = (tmp_path / "grades" / "feedback" / "grace-1.html").read_text()
    assert "grace" in page
    assert "ada" not in page
    assert "The same file: ada, grace." in (tmp_path / "grades/class.html").read_text()


def test_of_several_files_without_a_time_the_one_with_most_points_counts(
    tmp_path, notebook, grade, capsys
):
    new = notebook(tmp_path / "in" / "ada" / "a.ipynb", scores="wrong")
    old = notebook(tmp_path / "in" / "ada" / "b.ipynb", scores="right")
    os.utime(old, (1e9, 1e9))
    assert grade() == 0
    assert f"ada, {FIRST}: 2 files. in/ada/b.ipynb counts" in capsys.readouterr().err
    assert standing(tmp_path).points == 2
    old.unlink()
    notebook(new, scores="else")
    grade()
    assert standing(tmp_path).points == 0  # what was handed in since


def test_what_comes_twice_counts_from_when_it_came_first(tmp_path, notebook, grade):
    for day in (1, 3):
        folder = f"ada+1+2026-12-0{day} 10:00:00 UTC+x"
        notebook(tmp_path / "in" / folder / "x.ipynb", attention="right")
    grade("--deadline", "2026-12-02T00:00Z", "--penalty", "10%/day")
    assert standing(tmp_path).total == 4


def test_it_is_said_that_older_files_count_again(tmp_path, notebook, grade, capsys):
    weeks = [tmp_path / name for name in ("first", "second")]
    for week in weeks:
        notebook(week / "ada.ipynb", attention=week.name)
    for week in (*weeks, weeks[0], weeks[0]):
        grade(places=[week])
    said = capsys.readouterr().err
    assert said.count("count again (`attncourse undo 3` takes that back): of ada.") == 1
    assert main(["undo", "4", "--grades", str(tmp_path / "grades")]) == 0
    assert main(["undo", "3", "--grades", str(tmp_path / "grades")]) == 0
    assert standing(tmp_path).handin["source"] == "second/ada.ipynb"


def test_an_exercise_that_is_renamed_is_graded_once(tmp_path, notebook, grade, calls):
    notebook(tmp_path / "in" / "ada.ipynb")
    grade()
    with Gradebook(tmp_path / "grades" / BOOK) as book:
        book.db.execute("UPDATE results SET exercise = '1_old'")
    for count in (1, 0):
        grade()
        assert len(calls) == count


def test_of_several_files_of_canvas_the_last_one_counts(tmp_path, notebook, grade):
    notebook(tmp_path / "in" / "ada_7_1000_x.ipynb", scores="right")
    notebook(tmp_path / "in" / "ada_7_999_x.ipynb", scores="right", attention="right")
    grade()
    assert standing(tmp_path).points == 2


def test_a_file_that_is_gone_keeps_its_grade(tmp_path, notebook, grade):
    notebook(tmp_path / "in" / "ada.ipynb")
    grade()
    (tmp_path / "in" / "ada.ipynb").unlink()
    notebook(tmp_path / "in" / "grace.ipynb", attention="right")
    grade()
    assert standing(tmp_path).points == 2


def test_a_file_that_became_unreadable_does_not_take_the_grade_away(
    tmp_path, notebook, grade, capsys
):
    path = notebook(tmp_path / "in" / "ada.ipynb")
    grade()
    path.write_text("{")
    assert grade() == 1
    assert "cannot be read as a notebook" in capsys.readouterr().err
    assert standing(tmp_path).points == 2
    table = (tmp_path / "grades" / "grades.csv").read_text()
    assert "ada.ipynb" in table


@pytest.mark.parametrize(
    ("text", "late", "points"),
    [
        ("10%/day", 1, 2),
        ("10%/day", 86400, 2),
        ("10%/day", 86401, 4),
        ("10%/day", 0, 0),
        ("10%/day", -5, 0),
        ("20%", -5, 0),
        ("none", 86400, 0),
        ("10 % / day", 86400 * 50, 20),
        ("1/hour", 3601, 2),
        ("20%", 10**6, 4),
        ("0.5/week", 1, 0.5),
    ],
)
def test_what_lateness_costs(text, late, points):
    assert penalty_for(text, late, 20) == points


@pytest.mark.parametrize("text", ["10%/month", "ten", "-1/day"])
def test_penalties_that_mean_nothing_are_refused(text):
    with pytest.raises(Refused, match="10%/day"):
        penalty_for(text)


def test_times_are_read_and_lengths_are_said():
    assert read_time("2026-12-01T23:59Z") == 1796169540
    for day in ("2026-12-01", "20261201", "2026-W49-2"):
        assert read_time(day) == read_time("2026-12-01T23:59:59")
    with pytest.raises(Refused, match="2026-12-01T23:59"):
        read_time("tomorrow")
    assert in_words(90000) == "1 day 1 hour"
    assert in_words(61) == "2 minutes"


@pytest.fixture
def came(tmp_path):
    """Return a function that writes when, or how late, students handed in."""

    def write(text):
        (tmp_path / "times.csv").write_text(text)
        return ["--times", str(tmp_path / "times.csv")]

    return write


def test_lateness_is_of_the_table_and_the_deadline(tmp_path, notebook, grade, came):
    notebook(tmp_path / "in" / "ada.ipynb", attention="right")
    times = came("student,exercise,handed_in\nADA,1,2026-12-02T01:00\n")
    grade("--deadline", "1=2026-12-01T23:00", "--penalty", "5%/day", *times)
    found = standing(tmp_path)
    assert (found.points, found.late, found.penalty, found.total) == (4, 7200, 1, 3)
    page = (tmp_path / "grades" / "feedback" / "ada-1.html").read_text()
    assert "Handed in 2 hours after the deadline: 1 point less." in page
    grade()  # deadline, penalty and times stay in force
    assert standing(tmp_path).total == 3
    grade("--deadline", "2026-12-03", "--deadline", "2=2020-01-01")
    assert standing(tmp_path).total == 4
    grade("--deadline", "2020-01-01")
    assert standing(tmp_path).total == 0
    grade("--deadline", "none")
    assert standing(tmp_path).total == 4
    grade("--deadline", "2020-01-01", "--penalty", "none")
    assert standing(tmp_path).total == 4


def test_a_file_has_no_time_of_handing_in(tmp_path, notebook, grade, capsys):
    path = notebook(tmp_path / "in" / "ada.ipynb", attention="right")
    os.utime(path, (2e9, 2e9))
    options = ["--deadline", "2020-01-01", "--penalty", "50%"]
    grade(*options)
    assert standing(tmp_path).total == 4
    assert "When 1 of 1 were handed in is not known" in capsys.readouterr().err
    # Where nothing was handed in, no time is missing.
    words = ["ada", "2", "+1", "--reason", "oral", "--grades", f"{tmp_path}/grades"]
    assert main(["adjust", *words]) == 0
    grade(*options)
    assert "When 1 of 2 were handed in is not known" in capsys.readouterr().err


def test_one_student_has_more_time_and_only_that_one(
    tmp_path, notebook, grade, came, capsys
):
    for name in ("ada", "grace"):
        notebook(tmp_path / "in" / f"{name}.ipynb", attention="right", extra=name)
    times = came("student,exercise,submitted\nada,1,2026-12-03\ngrace,1,2026-12-03\n")
    grade(*times, "--deadline", "2026-12-01", "--penalty", "5%/day")
    assert standing(tmp_path).total == standing(tmp_path, "grace").total == 2
    grades = ["--grades", str(tmp_path / "grades")]
    assert main(["extend", "ada", "1", "2026-12-02", "--reason", "ill", *grades]) == 0
    assert "1 point less" in capsys.readouterr().out
    assert standing(tmp_path).total == 3
    assert standing(tmp_path, "grace").total == 2
    assert main(["history", "ada", *grades]) == 0
    said = "until 2026-12-02 23:59  1_attention_from_scratch, extended. ill\n"
    assert said in capsys.readouterr().out
    for deadline in ("2026-12-04", "none"):  # later for all, and for nobody
        grade("--deadline", deadline)
        assert standing(tmp_path).total == 4
    grade("--deadline", "2026-12-01")
    assert main(["extend", "ada", "1", "none", *grades]) == 0
    assert standing(tmp_path).total == 2
    assert main(["history", "ada", *grades]) == 0
    assert "extended" not in capsys.readouterr().out


def test_a_number_of_moodle_has_the_time_of_its_own_table(tmp_path, notebook, grade):
    (tmp_path / "class.csv").write_text("name\nAda\n")
    head = "Identifier,Full name,Last modified (submission)\n"
    words = ["--students", str(tmp_path / "class.csv"), "--penalty", "5%/day"]
    places = []
    for place, day, attention, total in ((1, 1, "wrong", 2), (2, 3, "right", 2)):
        places.append(tmp_path / str(place))
        folder = places[-1] / f"Ada_7{place}_assignsubmission_file"
        notebook(folder / "x.ipynb", attention=attention)
        table, when = tmp_path / f"{place}.csv", f"Tuesday, {day} December 2026, 10:00"
        table.write_text(f'{head}Participant 7{place},Ada,"{when}"\n')
        words += ["--times", f"{place}={table}"]
        grade(*words, "--deadline", "1=2026-12-01", places=places)
        assert standing(tmp_path, "Ada").total == total


def test_a_time_of_nobody_is_named_and_the_others_count(
    tmp_path, notebook, grade, came, capsys
):
    notebook(tmp_path / "in" / "ada.ipynb", attention="right")
    times = came("student;exercise;time\nADA;1;2026-12-02T12:00\nnobody;1;2026-12-03\n")
    late = ["--deadline", "2026-12-01", "--penalty", "2/day"]
    assert grade(*late, *times) == 1
    assert "nobody is known as 'nobody'" in capsys.readouterr().err
    assert standing(tmp_path).penalty == 2


def test_a_mark_of_canvas_costs_the_least(tmp_path, notebook, grade, capsys):
    notebook(tmp_path / "in" / "ada_LATE_7_100_x.ipynb", attention="right")
    notebook(tmp_path / "in" / "grace_8_100_LATE_x.ipynb", attention="right", extra="x")
    grade("--penalty", "5%/day")
    assert (standing(tmp_path).penalty, standing(tmp_path, "grace").penalty) == (1, 0)
    assert "not said by how much" in capsys.readouterr().err
    (tmp_path / "c.json").write_text(
        '[{"user_id": 7, "submitted_at": "2026-12-03T00:00:00Z", "late": true},'
        ' {"user_id": 8, "submitted_at": null}]'
    )
    times = ["--times", f"1={tmp_path / 'c.json'}", "--deadline", "2026-12-01T00:00Z"]
    grade(*times)
    assert standing(tmp_path).penalty == 2


def test_a_run_is_undone_and_comes_back(tmp_path, notebook, grade, came, capsys):
    path = notebook(tmp_path / "in" / "ada.ipynb", attention="right")
    grade("--penalty", "50%", "--deadline", "2026-12-01")
    notebook(path, scores="wrong")
    times = came("student,exercise,handed_in\nada,1,2026-12-02\n")
    grade(*times)
    assert standing(tmp_path).total == 0
    grades = ["--grades", str(tmp_path / "grades")]
    assert main(["undo", "2", *grades]) == 0
    assert "1 files, 1 graded, undone" in capsys.readouterr().out
    assert standing(tmp_path).total == 4
    assert "4 of 20" in (tmp_path / "grades/feedback/ada-1.html").read_text()
    assert main(["undo", "2", "--back", *grades]) == 0
    assert standing(tmp_path).total == 0
    grade()  # which finds the same
    main(["undo", "2", *grades])
    assert standing(tmp_path).total == 4
    main(["undo", "2", "--back", *grades])
    capsys.readouterr()
    main(["history", "ada", *grades])
    assert "graded in run 2, exercise as of" in capsys.readouterr().out
    assert main(["undo", "9", *grades]) == 1


def test_undoing_a_run_leaves_the_others_what_they_were_given(
    tmp_path, notebook, grade
):
    notebook(tmp_path / "in" / "ada.ipynb", attention="right")
    (tmp_path / "class.csv").write_text("name\nada\n")
    same = ["--students", str(tmp_path / "class.csv"), "--penalty", "5%/day"]
    grade(*same, "--deadline", "1=2026-12-01", "--deadline", "2=2026-12-01")
    grade(*same, "--deadline", "1=2026-12-01")
    assert main(["undo", "1", "--grades", str(tmp_path / "grades")]) == 0
    with Gradebook(tmp_path / "grades" / BOOK) as book:
        assert book.setting("penalty") == "5%/day"
        assert len(book.setting("listed")) == 1
        assert list(book.setting("deadlines")) == [FIRST]


def test_what_cannot_be_graded_now_keeps_the_grade_it_had(
    tmp_path, notebook, grade, capsys, monkeypatch
):
    notebook(tmp_path / "in" / "ada.ipynb")
    grade()
    notebook(tmp_path / "in" / "grace.ipynb", scores="else")
    for kind in (SolutionBroken, Refused, ZeroDivisionError):

        def fails(*_, kind=kind, **__):
            raise kind("no")

        monkeypatch.setattr(grading, "grade_file", fails)
        assert grade("--again") == 1
        said = capsys.readouterr().err
        assert said.count("This is the instructor's") == (kind is SolutionBroken)
        assert said.count("not graded. ") == 2 * (kind is not SolutionBroken)
        assert standing(tmp_path).points == 2


def test_a_damaged_record_is_a_sentence_and_the_points_stay(
    tmp_path, notebook, grade, capsys
):
    for name in ("ada", "grace"):
        notebook(tmp_path / "in" / f"{name}.ipynb", extra=name)
    grade()
    book = sqlite3.connect(tmp_path / "grades" / BOOK)
    book.execute("UPDATE results SET record = '{' WHERE result = 1")
    book.commit()
    book.close()
    assert grade() == 1
    assert "what the gradebook holds about it is damaged" in capsys.readouterr().err
    assert standing(tmp_path).points == standing(tmp_path, "grace").points == 2


def test_who_left_the_class_list_is_left_out_of_tables_and_kept(
    tmp_path, notebook, grade, capsys
):
    for name in ("ada", "grace"):
        notebook(tmp_path / "in" / f"{name}.ipynb", extra=name)
    table = tmp_path / "class.csv"
    table.write_text("student\nada\ngrace\n")
    assert grade("--students", str(table)) == 0
    table.write_text("student\nada\n")
    grade("--students", str(table))
    assert "left out of tables: grace" in capsys.readouterr().err
    assert "grace" not in (tmp_path / "grades" / "grades.csv").read_text()
    assert standing(tmp_path, "grace").points == 2


@pytest.mark.parametrize(
    ("file", "student"),
    [
        ("al1", "al1"),
        ("ada@x.org", "ada@x.org"),
        ("lovelaceada_12_345_x", "lovelaceada"),
        ("Lovelace Ada_7_assignsubmission_file_x", "Lovelace Ada"),
    ],
)
def test_what_was_given_by_hand_follows_to_the_class_list(
    file, student, tmp_path, notebook, grade
):
    notebook(tmp_path / "in" / f"{file}.ipynb")
    grade()
    words = ["--reason", "oral", "--grades", str(tmp_path / "grades")]
    assert main(["adjust", student, "1", "+1", *words]) == 0
    table = tmp_path / "class.csv"
    table.write_text("name,username,email\nAda Lovelace,al1,ada@x.org\nEve,,\n")
    assert grade("--students", str(table)) == 0
    rows = (tmp_path / "grades" / "grades.csv").read_text().splitlines()
    assert sorted(row.split(",")[4] for row in rows[1:]) == ['""', '"3"']


def test_what_came_under_two_names_of_one_student_is_hers(
    tmp_path, notebook, grade, capsys
):
    grades = ["--grades", str(tmp_path / "grades")]
    for name in ("al1", "Ada Lovelace"):
        notebook(tmp_path / name / f"{name}.ipynb", attention=name)
        grade(places=[tmp_path / name])
        main(["extend", name, "2", "2026-12-02", *grades])
    assert main(["adjust", "al1", "1", "+1", "--reason", "oral", *grades]) == 0
    table = tmp_path / "class.csv"
    table.write_text("name,username\nAda Lovelace,al1\nEve,\n")
    capsys.readouterr()
    for _ in range(2):
        grade("--students", str(table), places=[tmp_path / "Ada Lovelace"])
    assert "No longer" not in capsys.readouterr().err
    rows = (tmp_path / "grades" / "grades.csv").read_text().splitlines()
    assert [row.split(",")[4] for row in rows[1:]] == ['"3"', '""']
    assert main(["history", "al1", *grades]) == 0
    assert "al1/al1.ipynb" in capsys.readouterr().out
    table.write_text("name,username\nAda Lovelace,\nEve,al1\n")  # which was wrong
    grade("--students", str(table), places=[tmp_path / "Ada Lovelace"])
    assert standing(tmp_path, "Eve").total == 3
    for run in ("3", "4", "5"):
        main(["undo", run, *grades])
    assert standing(tmp_path, "al1").total == 3
    assert standing(tmp_path, "Ada Lovelace").total == 2


def test_numbers_that_two_had_exchanged_are_a_question(
    tmp_path, notebook, grade, capsys
):
    table = tmp_path / "class.csv"
    for name, points in (("1", "right"), ("2", "wrong")):
        notebook(tmp_path / "in" / f"{name}.ipynb", attention=points)
    for numbers, asked in (("21", 0), ("12", 2), ("12", 0)):
        table.write_text("name,id\nAda,{}\nGrace,{}\n".format(*numbers))
        assert grade("--students", str(table)) == bool(asked)
        assert capsys.readouterr().err.count("is now that of") == asked
    for _ in range(2):
        assert standing(tmp_path, "Ada").points == 4
        assert standing(tmp_path, "Grace").points == 2
        main(["undo", "1", "--grades", str(tmp_path / "grades")])
        grade("--students", str(table))


def test_a_run_with_a_wrong_class_list_is_undone(tmp_path, notebook, grade):
    for name in ("Ada", "Grace", "Joan"):
        notebook(tmp_path / "in" / f"{name}.ipynb", extra=name)
    grade()
    grades, table = tmp_path / "grades" / "grades.csv", tmp_path / "class.csv"
    right = grades.read_text()
    table.write_text("name,email\nAda,other@x.org\nEve,eve@x.org\n")
    grade("--students", str(table))
    assert "other@x.org" in grades.read_text()
    pages = tmp_path / "grades" / "feedback"
    assert [page.name for page in pages.iterdir()] == ["Ada-1.html"]
    undo = ["undo", "2", "--grades", str(tmp_path / "grades")]
    assert main(undo) == 0
    assert grades.read_text() == right
    assert len(list(pages.iterdir())) == 3
    assert main([*undo, "--back"]) == 0
    assert "eve@x.org" in grades.read_text()


@pytest.mark.parametrize(
    ("now", "listed", "days", "refused"),
    [
        (("Eve", "Mo", "Jo"), True, 0, True),
        (("Eve", "Mo", "Jo"), False, 0, False),  # others hand in
        (("Eve", "Mo", "Jo"), False, 100, True),
        (("Ada", "Eve", "Mo", "Jo"), True, 100, True),  # who takes the course again
        (("Ada", "Eve", "Mo", "Jo"), True, 10, False),  # and others have left
        (("Ada", "Grace", "Jo"), True, 100, False),
        (("Ada",), False, 100, False),
    ],
)
def test_a_gradebook_of_another_year_is_not_mixed_with_this_one(
    now, listed, days, refused, tmp_path, notebook, grade, capsys
):
    for name in ("Ada", "Grace", "Joan"):
        notebook(tmp_path / "in" / f"{name}.ipynb", extra=name)
    grade()
    (tmp_path / "in").rename(tmp_path / "old")
    with Gradebook(tmp_path / "grades" / BOOK) as book:
        book.db.execute(f"UPDATE runs SET started = started - {days} * 86400")
    for name in now:
        notebook(tmp_path / "in" / f"{name}.ipynb", extra=f"{name} again")
    (tmp_path / "class.csv").write_text("\n".join(["name", *now]))
    options = ["--students", str(tmp_path / "class.csv")] if listed else []
    grade("--deadline", "2026-12-01", *options)
    said = capsys.readouterr().err
    assert ("Is it of another course or another year?" in said) == refused
    with Gradebook(tmp_path / "grades" / BOOK) as book:
        assert (not book.setting("deadlines")) == refused
        assert ("Jo" in book.students()) == (not refused and "Jo" in now)


def test_a_namesake_who_comes_or_leaves_changes_nobodys_grades(
    tmp_path, notebook, grade
):
    table = tmp_path / "class.csv"
    ada, other = "Ada,ada@x.org\n", "Ada,other@x.org\n"
    notebook(tmp_path / "in" / "ada@x.org.ipynb")
    for rows in (ada, ada + other, other + ada, ada):
        table.write_text(f"name,email\n{rows}")
        grade("--students", str(table))
        assert standing(tmp_path, "Ada").points == 2
    book = tmp_path / "grades" / "grades.csv"
    assert '"Ada","","ada@x.org","","2"' in book.read_text()
    table.write_text(f"name,email\n{ada}Eve,ada@x.org\n")  # one of them is wrong
    assert grade("--students", str(table)) == 1


def test_points_are_changed_by_hand_with_a_reason(tmp_path, notebook, grade, capsys):
    notebook(tmp_path / "in" / "ada.ipynb")
    grade()
    grades = ["--grades", str(tmp_path / "grades")]
    assert main(["adjust", "ada", "1", "+2", "--reason", "oral <b>", *grades]) == 0
    assert main(["adjust", "ada", "1", "-0.5", "--reason", "typo", *grades]) == 0
    found = standing(tmp_path)
    assert found.total == 3.5
    page = (tmp_path / "grades" / "feedback" / "ada-1.html").read_text()
    assert "Changed by hand: +2 points. oral &lt;b&gt;" in page
    grade()
    grade("--again")
    assert standing(tmp_path).total == 3.5
    for words, said in [
        (["adda", "1", "+1"], "Did you mean 'ada'"),
        (["ada", "9", "+1"], "no exercise '9'"),
        (["ada", "1", "many"], "no number of points"),
        (["ada", "1", "nan"], "no number of points"),
    ]:
        assert main(["adjust", *words, "--reason", "why", *grades]) == 1
        assert said in capsys.readouterr().err


def test_unknown_students_are_named_and_the_rest_is_graded(
    tmp_path, notebook, grade, calls, capsys
):
    notebook(tmp_path / "in" / "Lovelace, Ada" / "x.ipynb")
    notebook(tmp_path / "in" / "mallory.ipynb", scores="else")
    table = tmp_path / "class.csv"
    table.write_text("id,first_name,last_name,email,lms_user_id\nal1,Ada,Lovelace,,\n")
    assert grade("--students", str(table)) == 1
    assert len(calls) == 1
    assert "'mallory' is not on the class list" in capsys.readouterr().err
    assert standing(tmp_path, "al1").points == 2
    table.write_text("student\nmallory\nAda Lovelace\n")
    assert grade("--students", str(table)) == 0


def test_two_runs_at_once_the_second_says_so(tmp_path, notebook, grade, capsys):
    notebook(tmp_path / "in" / "ada.ipynb")
    grade()
    code = (
        "import sys, time\nfrom pathlib import Path\n"
        "from attncourse_grader.records.database import only_run\n"
        f"with only_run(Path({str(tmp_path / 'grades')!r})):\n"
        "    print('held', flush=True)\n    time.sleep(60)"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout.readline() == "held\n"
        notebook(tmp_path / "in" / "grace.ipynb", scores="else")
        assert grade() == 1
        assert "another run is grading" in capsys.readouterr().err.lower()
    finally:
        holder.kill()
        holder.communicate()
    assert grade() == 0  # the lock went with the process


def test_two_commands_may_open_a_new_gradebook_at_once(tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    def opened(place):
        with Gradebook(tmp_path / BOOK) as book:
            return len(book.students())

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(opened, range(16))) == [0] * 16


def test_a_full_disk_is_a_sentence_and_what_was_graded_is_kept(
    tmp_path, notebook, grade, calls, capsys, monkeypatch
):
    for place in range(9):
        extra = f"NOISE = {os.urandom(3000).hex()!r}"
        notebook(tmp_path / "in" / f"s{place}.ipynb", scores=f"{place}", extra=extra)
    connect = sqlite3.connect

    def small(path, **options):
        found = connect(path, **options)
        if str(path).endswith(BOOK):
            found.execute("PRAGMA max_page_count = 34")
        return found

    monkeypatch.setattr(sqlite3, "connect", small)
    assert grade("--jobs", "1") == 1
    error = capsys.readouterr().err
    assert "is full" in error
    assert "Traceback" not in error
    monkeypatch.setattr(sqlite3, "connect", connect)
    with Gradebook(tmp_path / "grades" / BOOK) as book:
        kept = len(book.rows("SELECT * FROM seen"))
    assert 0 < kept < 9
    assert grade() == 0
    assert len(calls) in (9 - kept, 8 - kept)  # the disk may fill between two writes


def test_pages_that_cannot_be_written_are_named_and_written_by_the_next_run(
    tmp_path, notebook, grade, calls, capsys, monkeypatch
):
    notebook(tmp_path / "in" / "ada.ipynb")
    replace = os.replace

    def full(one, other):
        if str(other).endswith(".html"):
            raise OSError(28, "No space left on device")
        return replace(one, other)

    monkeypatch.setattr("attncourse_grader.records.exports.os.replace", full)
    assert grade() == 1
    assert "no space left on device" in capsys.readouterr().err
    monkeypatch.setattr("attncourse_grader.records.exports.os.replace", replace)
    assert grade() == 0
    assert calls == []
    assert (tmp_path / "grades" / "feedback" / "ada-1.html").is_file()


def test_a_damaged_gradebook_is_a_sentence_and_its_copy_is_there(
    tmp_path, notebook, grade, capsys
):
    notebook(tmp_path / "in" / "ada.ipynb")
    grade()
    grade()
    book = tmp_path / "grades" / BOOK
    whole = book.read_bytes()
    book.write_bytes(b"not a database" * 1000)
    assert grade() == 1
    assert "gradebook.backup.sqlite" in capsys.readouterr().err
    copy = book.with_suffix(".backup.sqlite")
    book.write_bytes(copy.read_bytes())
    assert grade() == 0
    assert standing(tmp_path).points == 2
    assert len(whole) > 0


def test_a_newer_gradebook_is_not_touched(tmp_path, notebook, grade, capsys):
    notebook(tmp_path / "in" / "ada.ipynb")
    grade()
    book = sqlite3.connect(tmp_path / "grades" / BOOK)
    book.execute("PRAGMA user_version = 99")
    book.close()
    assert grade() == 1
    assert "another version" in capsys.readouterr().err


def test_an_interrupt_keeps_what_was_graded(
    tmp_path, notebook, grade, capsys, monkeypatch
):
    for name in ("ada", "grace", "joan"):
        notebook(tmp_path / "in" / f"{name}.ipynb", scores=name)
    import attncourse_grader.batch as batch

    keep, kept = batch._Run._keep, []

    def interrupted(self, job, outcome):
        if kept:
            raise KeyboardInterrupt
        kept.append(job)
        return keep(self, job, outcome)

    monkeypatch.setattr(batch._Run, "_keep", interrupted)
    assert grade("--jobs", "1") == 130
    assert "the same command goes on" in capsys.readouterr().err
    monkeypatch.setattr(batch._Run, "_keep", keep)
    assert grade() == 0
    for name in ("ada", "grace", "joan"):
        assert standing(tmp_path, name).points == 0


SLOW = """
import sys, time
from attncourse_grader import batch, cli

def slow(*_, **__):
    time.sleep(0.15)
    record = {"exercise": "1_attention_from_scratch", "title": "Exercise 1",
              "points": 7.0, "of": 20.0, "notes": [], "tasks": []}
    return {"record": record, "answers": {}}

batch.grade_course.__kwdefaults__ = {"grade": slow}
sys.exit(cli.main(sys.argv[1:]))
"""


def test_a_run_that_is_killed_goes_on_where_it_was(tmp_path, notebook, solutions):
    for place in range(12):
        notebook(tmp_path / "in" / f"s{place:02}.ipynb", scores=str(place))
    out = tmp_path / "grades"
    words = ["grade", tmp_path / "in", "--solutions", solutions, "--out", out]
    command = [sys.executable, "-c", SLOW, *map(str, words), "--jobs", "1", "--unsafe"]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    printed = [run.stdout.readline() for _ in range(4)]
    run.send_signal(signal.SIGKILL)
    run.communicate()
    assert all("7 of 20 points" in line for line in printed)
    with Gradebook(out / BOOK, must_exist=True) as book:
        kept = len(book.rows("SELECT * FROM results"))
    assert 4 <= kept < 12  # what was printed was kept first
    again = subprocess.run(command, capture_output=True, text=True)
    assert again.returncode == 0
    assert f"{12 - kept} graded, {kept} as before" in again.stderr
    assert len((out / "grades.csv").read_text().splitlines()) == 13
    assert not (out / ".unpacked").exists()


def test_every_change_of_the_schema_counts_up_its_version():
    """If this fails: write a migration, raise SCHEMA_VERSION, then this number."""
    import hashlib

    from attncourse_grader.records.database import SCHEMA, SCHEMA_VERSION

    digest = hashlib.sha256(SCHEMA.encode()).hexdigest()[:8]
    assert (SCHEMA_VERSION, digest) == (5, "f07f3896")


def test_pages_of_two_students_never_share_a_file(tmp_path, notebook, grade):
    names = ["a b", "a_b", "A_B", "a?b"]
    for place, name in enumerate(names):
        notebook(tmp_path / "in" / name / "x.ipynb", scores=f"right {place}")
    assert grade() == 0
    pages = list((tmp_path / "grades" / "feedback").glob("*.html"))
    assert len({page.name.lower() for page in pages}) == 4
    found = [re.search("<p>(.+?): <strong>", page.read_text())[1] for page in pages]
    assert sorted(found) == sorted(names)


def test_it_is_said_whose_points_changed_and_why(
    tmp_path, notebook, grade, came, capsys
):
    notebook(tmp_path / "in" / "ada.ipynb", attention="right")
    times = came("student,exercise,handed_in\nada,1,2026-12-02\n")
    grade("--deadline", "1=2026-12-01", "--penalty", "5%/day", *times)
    notebook(tmp_path / "in" / "grace.ipynb")
    assert "Changed" not in capsys.readouterr().err
    grade("--deadline", "2026-12-15")
    said = capsys.readouterr().err
    assert f"Changed without a new file (1): ada, {FIRST}: 3, now 4.\n" in said
    notebook(tmp_path / "in" / "ada.ipynb", scores="wrong")
    grade()
    said = capsys.readouterr().err
    assert f"Changed for the worse (1): ada, {FIRST}: 4, now 0.\n" in said
    days = ("2026-12-18", "2026-12-17") * 2  # of two lines the later one holds
    lines = "".join(f"ada,1,{day}\n" for day in days[:3])
    grade(*came(f"student,exercise,handed_in\n{lines}"))
    assert standing(tmp_path).late == 3 * 86400
    grade(*came("student,exercise,handed_in\nada,1,2026-12-20\n"))
    said = capsys.readouterr().err
    assert said.count(f"of ada, {FIRST} are known to be earlier") == 1


@pytest.mark.parametrize("known", ["times", "numbers"])
def test_an_older_file_that_comes_later_is_named(
    known, tmp_path, notebook, grade, came, capsys
):
    for place, day in ((502, 20), (402, 10)):
        name = f"ada_7_{place}_x" if known == "numbers" else "ada"
        notebook(tmp_path / "1" / f"{day}" / f"{name}.ipynb", attention=f"{place}")
        words = came(f"student,exercise,handed_in\nada,1,2026-11-{day}\n")
        grade(*words[: 2 * (known == "times")], places=[tmp_path / "1" / f"{day}"])
    said = capsys.readouterr().err
    assert said.count("Older files count again (`attncourse undo 2` takes") == 1


@pytest.mark.parametrize(
    ("now", "says", "points"),
    [
        ("Zoe,1,\n", "'Zoe' on the class list is", {"Ada": "1", "Alan": ""}),
        ("Zoe,1,z@x.org\n", "is now that of 'Zoe'", {"Zoe": "", "Alan": ""}),
        ("Alan,2,ada@x.org\n", "is now that of 'Alan'", {"Alan": "2"}),
        ("Alan,1,\n", "is now that of 'Alan'", {"Alan (1)": ""}),
        ("Ada,9,a9@x.org\n", "is taken for 'Ada (9)'", {"Ada (9)": ""}),
    ],
)
def test_nobody_takes_the_grades_of_who_left(
    now, says, points, tmp_path, notebook, grade, capsys
):
    table, grades = tmp_path / "class.csv", tmp_path / "grades"
    notebook(tmp_path / "in" / "Ada.ipynb")
    notebook(tmp_path / "in" / "Mo.ipynb", extra="Mo")
    people = "Ada,1,ada@x.org\nAlan,2,alan@x.org\nMo,3,\n"
    table.write_text(f"name,id,email\n{people}")
    grade("--students", str(table))
    for name, more in (("Ada", "-1"), ("Alan", "+2")):
        words = [name, "1", more, "--reason", "why", "--grades", str(grades)]
        assert main(["adjust", *words]) == 0
    (tmp_path / "in" / "Ada.ipynb").unlink()
    table.write_text(f"name,id,email\n{now}Mo,3,\n")
    assert grade("--students", str(table)) == 1
    assert says in capsys.readouterr().err
    rows = (grades / "grades.csv").read_text().replace('"', "").splitlines()[1:]
    found = {row.split(",")[0]: row.split(",")[4] for row in rows}
    found.pop("Mo")
    assert found == {name: points[name] for name in found}
    grade("--students", str(table))
    assert "is taken for" not in capsys.readouterr().err
