"""Tables and pages to hand back: what Moodle and Canvas import, and what is safe."""

import re
import shutil
import zipfile
from pathlib import Path

import pytest

from attncourse_grader.exercises import counts, exercise_of, modules
from attncourse_grader.hand_in.class_list import read_class_list
from attncourse_grader.hand_in.collect import Found
from attncourse_grader.hand_in.submission import Refused
from attncourse_grader.hand_in.tables import cell, heading, read_rows
from attncourse_grader.records.lms import FILLED
from grader.tests.conftest import FIRST, NAMES

PLATFORMS = Path(__file__).parent / "platforms"
SHEET, BLIND = (f"1={PLATFORMS / f'moodle-{name}.csv'}" for name in ("en", "blind"))
CANVAS_LIST = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Sheet 1 (99)\n"
    "    Points Possible,,,,,20\n"
    '"Lovelace, Ada",12,S12,al,A,\n"Hopper, Grace",13,S13,gh,B,\n'
)


def test_the_plain_table_has_a_row_for_every_student_and_another_all_tasks(course):
    course.hand_in("Ada Lovelace")
    course.hand_in("=cmd").write_text("{")
    course.grade(*course.students("name\n=cmd\nAda Lovelace\nGrace Hopper\n"))
    head, *rows = course.rows("grades.csv")
    assert head[:4] == ["student", "id", "email", "section"]
    assert head[4] == "1_attention_from_scratch"
    assert [row[0] for row in rows] == ["'=cmd", "Ada Lovelace", "Grace Hopper"]
    assert [row[4] for row in rows] == ["", "2", ""]
    assert "cannot be read" in rows[0][-1]
    head, *rows = course.rows("tasks.csv")
    (ada,) = [dict(zip(head, row, strict=True)) for row in rows if row[0][:3] == "Ada"]
    assert (ada["points"], ada["1.1"], ada["1.2"]) == ("2", "2", "0")


def test_an_exercise_for_practice_has_feedback_and_no_grade(graded, monkeypatch):
    practice = [name for name in modules() if not counts(name)]
    assert practice == [n for n in modules() if exercise_of(n).practice]
    monkeypatch.setattr("attncourse_grader.exercises.folder", lambda: graded.folder)
    for text, counted in (("  # practice=True", True), ("x, practice = True)", False)):
        graded.write("build_it.py", text)
        assert counts(practice[0]) == counted
    for name in "ab":
        graded.write(f"{name}.py", f'Exercise("7_{name}"')
    with pytest.raises(Refused, match="are both exercise 7"):
        modules.__wrapped__()
    monkeypatch.undo()
    before = graded.rows()
    file = f"{practice[0]}.ipynb"
    shutil.copy(graded.solutions / file, graded.folder / "in" / f"ada_{file}")
    graded.grade(*graded.students("name,username\nada,al\n"))
    assert graded.rows() == before
    assert (graded.grades / "feedback/ada-6.html").is_file()
    table = graded.write("canvas.csv", CANVAS_LIST)
    assert graded.run("export", table) == 0
    assert [row[5] for row in graded.rows("filled-canvas.csv")][2:] == ["2", ""]


def filled(course, name):
    """Return the rows of a table as it came, and filled."""
    (path,) = course.grades.glob(f"filled-*{name}.csv")
    return [list(read_rows(path)) for path in (PLATFORMS / f"{name}.csv", path)]


def as_moodle(course, *names):
    for place, name in enumerate(names):
        path = f"{name}_assignsubmission_file/x"
        course.hand_in(path, attention=f"right{place}", scores="right")


@pytest.mark.parametrize(("name", "box"), [("en", 1), ("de", 1), ("fr", 0)])
def test_moodles_worksheet_tells_times_and_takes_grades(name, box, course):
    as_moodle(course, "Ada Lovelace_101", "Grace Hopper_102")
    sheet = f"1={PLATFORMS / f'moodle-{name}.csv'}"
    table = "name,email\nAda Lovelace,ada@uni.example\n"
    table += "Grace Hopper,grace@uni.example\nMal,mallory@uni.example\n"
    late = ["--deadline", "2026-12-01T23:00", "--penalty", "5%/day"]
    assert course.grade("--times", sheet, *late, *course.students(table)) == 0
    assert "is known" not in course.said
    assert course.run("export", sheet) == 0
    assert ("Allow updating records" in course.said) == bool(box)
    before, after = filled(course, f"moodle-{name}")
    titles = {heading(title): k for k, title in enumerate(before[0])}
    grade, comment = titles["grade"], titles["comments"]
    assert [row[grade] for row in after[1:3]] == ["4", "3"]
    assert after[1][comment] == before[1][comment] == ""
    assert after[2][comment].startswith(before[2][comment])
    assert "2 hours after the deadline: 1 point less" in after[2][comment]
    for old, new in zip(before, after, strict=True):
        for place, (one, other) in enumerate(zip(old, new, strict=True)):
            if place not in (grade, comment):
                assert other.replace("'=", "=") == one
    assert after[3:] == [[t.replace("=H", "'=H") for t in r] for r in before[3:]]
    pages = course.grades / f"moodle-1-moodle-{name}-feedback.zip"
    with zipfile.ZipFile(pages) as archive:
        pages = sorted(archive.namelist())
    # What is uploaded and filled again says what holds then, also in a paragraph.
    text = course.text(f"filled-1-moodle-{name}.csv")
    text = text.replace("Handed in", "a-z 1: Marked by hand: 2 of 4.\n<p>Handed in")
    again = course.write("again.csv", text)
    course.grade("--deadline", "none")
    course.run("export", f"1={again}")
    assert re.sub(FILLED, "", "<p>a</p><p>Changed by hand: 1</p>b") == "<p>a</p>b"
    comments = [row[comment].rstrip("\n") for row in before[:3]]
    after = course.rows("filled-1-again.csv")
    assert [row[comment] for row in after[:3]] == comments
    names = ("Ada Lovelace_101", "Grace Hopper_102")
    assert pages == [f"{name}_assignfeedback_file_/feedback.html" for name in names]


@pytest.mark.parametrize("row", ["101,Ada Lovelace", "102,Ada Lovelace", "102,Mal M"])
def test_numbers_of_moodle_tell_who_took_a_name(row, course):
    as_moodle(course, "Ada Lovelace_101")
    course.hand_in("Lovelace Ada_102_assignsubmission_file/x")
    head = "Identifier,Full name,Grade,Maximum Grade,Last modified (grade),"
    head += "Feedback comments,Last modified (submission)"
    cells = f'Participant {row},,20.00,-,,"Thursday, 26 November 2026, 4:00 AM"'
    times = course.write("1.csv", f"{head}\n{cells}\n")
    course.grade("--times", f"1={times}", trust=True)
    assert course.points() == ["4", "2"]
    # A list that comes later may not make one of two people.
    table = "name,email\nAda Lovelace,ada@x.org\nMal Mallory,mal@x.org\n"
    course.hand_in("Bea", place="more")
    listed = course.students(table + "Bea,\n")
    course.grade(*listed, places=["more"], fault="may be several people")
    assert course.points()[0] == "4"
    course.run("export", f"1={times}")
    assert (',"4",' in course.text("filled-1-1.csv")) == row.startswith("101")


@pytest.mark.parametrize("listed", ["", "name,email\nAda Lovelace,ada@x.org\n"])
def test_hidden_names_go_back_as_they_came(listed, course):
    as_moodle(course, "Participant_101", "Participant_102")
    students = course.students(listed) * bool(listed)
    for _ in range(2):
        assert course.grade("--times", BLIND, *students) == 0
        assert "No longer" not in course.said
    course.run("history", "Participant 103", fault="no one student")  # nothing came
    course.run("export", BLIND)
    before, after = filled(course, "moodle-blind")
    assert [row[0] for row in after] == [row[0] for row in before]
    assert [row[2] for row in after[1:]] == ["4", "4", "", ""]


def test_a_group_of_moodle_is_all_its_members_and_its_number_is_no_participants(course):
    as_moodle(course, "Red_11", "Blue_12", "Default group")  # Blue is one student
    text = (PLATFORMS / "moodle-en.csv").read_text("utf-8-sig")
    when = '"Tuesday, 1 December 2026, 10:30 PM"'
    rows = text.replace("Yes,-,-", f"Yes,{when},-").splitlines()
    groups = zip(rows, ("Group", "Red", "Blue", "Red", "Default group"), strict=True)
    sheet = f"1={course.write('w.csv', chr(10).join(map(','.join, groups)))}"
    people = "Ada Lovelace,ada@uni.example\nEve,eve@uni.example\n"
    people += "Grace Hopper,grace@uni.example\nMal,mallory@uni.example\n"
    options = course.students(f"name,email\n{people}")
    course.grade(
        *options, "--times", sheet, fault="only a name, such as 'Default group'"
    )
    assert course.run("export", sheet) == 0
    rows = course.rows("filled-1-w.csv")[1:]
    assert [row[4] for row in rows] == ["4", "4", "4", ""]
    assert course.points() == ["4", "4", "4", ""]


HEAD = "Identifier,Full name,Email address,Last modified (submission)\n"
TABLES, OF = NAMES["tables"], "assignsubmission_file"
PEOPLE, TEAMS = TABLES["people"], TABLES["teams"]


@pytest.mark.parametrize(("name", "listed", "rows", "says"), NAMES["taken"])
def test_who_takes_a_name_changes_nobody_elses_grade(name, listed, rows, says, course):
    name, rows = name.format(of=OF), TABLES.get(rows, "")
    options = course.students(TABLES[listed]) if listed else []
    course.hand_in("Ada Adler", place="before", attention="right")
    course.grade(*options, places=["before"], trust=True)
    course.hand_in(name, scores="no", attention=name)
    options += ["--times", f"1={course.write('rows.csv', rows)}"] if rows else []
    assert course.grade(*options, fault=says) == bool(says)
    assert course.standing("Ada Adler").points == 4
    assert sorted(filter(None, course.points())) == ["0", "4"][bool(says) :]


def test_who_is_called_like_a_group_is_not_the_group(course):
    options = course.students(PEOPLE)
    course.hand_in("Ada Adler", place="before", attention="right")
    course.grade(*options, places=["before"])
    course.hand_in(f"Red_64_{OF}/x", scores="no")
    rows = course.write("rows.csv", TEAMS.replace("mal@x,-,Red", "mal@x,-,Blue"))
    course.grade(*options, "--times", f"2={rows}", fault="no worksheet of its exercise")
    assert course.standing("Ada Adler").points == 4


def test_a_group_has_one_number_and_may_be_newer_than_its_worksheet(course):
    rows = course.write("rows.csv", TEAMS.replace("mal@x,-,Red", "mal@x,-,Blue"))
    options = [*course.students(PEOPLE), "--times", f"1={rows}"]
    course.hand_in(f"Red_64_{OF}/x", place="before", attention="right")
    older = course.write("older.csv", rows.read_text().replace("2026-12-01T10:00", "-"))
    words = [*course.students(PEOPLE), "--times", f"1={older}"]
    course.grade(*words, places=["before"], fault="only a name, such as 'Red'")
    course.grade(*options, places=["before"])
    course.hand_in(f"Red_65_{OF}/x", scores="no")
    course.grade(*options, fault="Ada Adler came under another number of Moodle's")
    course.grade(*options, places=["in", "before"], fault="two here have the name")
    assert course.standing("Ada Adler").points == 4


def test_who_is_first_under_a_name_keeps_it_and_of_two_at_once_neither_is(course):
    course.hand_in("byte_914_5014_x", place="one", scores="no")
    course.hand_in_each("byte_912_5012_x", "byte_914_5014_x")
    course.grade(fault="two here have the name 'byte'")
    course.hand_in("byte", place="mailed", attention="right")
    course.grade(places=["mailed"])
    course.grade(places=["one"], fault="two here have the name 'byte'")
    assert course.points() == ["4"]
    for run in (1, 2, 3):
        course.run("undo", run)
    assert course.grade(places=["one"]) == 0


def test_what_moodle_would_misread_is_refused_and_what_it_skips_is_named(course):
    as_moodle(course, "Ada Lovelace_101", "Grace Hopper_102")
    course.grade(trust=True)
    text = (PLATFORMS / "moodle-en.csv").read_text("utf-8-sig")
    for old, new, says in NAMES["misread"]:
        sheet = course.write("sheet.csv", text.replace(old, new))
        course.run("export", f"1={sheet}", fault=says)
    course.run("adjust", "Ada Lovelace", "1", "+30", "--reason", "a bonus")
    course.run("adjust", "Grace Hopper", "1", "-30", "--reason", "i<j")
    # After this sign Moodle takes the quote that ends a cell for part of it.
    ends = text.replace("Ada Lovelace", "Ada Lovelace\\")
    course.run("export", f"1={course.write('moodle-en.csv', ends)}")
    written = course.text("filled-1-moodle-en.csv")
    assert '\\"' not in written and "i&lt;j" in written
    course.run("export", SHEET)
    assert "which Moodle skips, and so left as they were: Ada Lovelace" in course.said
    said = "may not take a grade of 0. See to these after the upload: Grace"
    assert said in course.said


CANVAS = ["lovelaceada_12_345_x", "hoppergrace_LATE_13_346_x", "noetheremmy_14_347_x"]


@pytest.mark.parametrize("name", ["canvas", "canvas-split"])
def test_canvas_gets_grades_in_columns_that_it_knows(name, course):
    course.hand_in_each(*CANVAS, attention="right")
    table, times = PLATFORMS / f"{name}.csv", PLATFORMS / "canvas-submissions.json"
    options = ["--deadline", "2026-12-01T23:00Z", "--penalty", "5%/day"]
    options += ["--students", table, "--times", f"1={times}"]
    assert course.grade(*options) == (name == "canvas-split")  # which has no Emmy
    column = ["--column", "1=Sheet one (901)"] if "split" in name else []
    assert course.run("export", table, *column) == 0
    assert "it takes off again from what you upload" in course.said
    assert "another score was there, and is replaced: Grace Hopper." in course.said
    assert ("(901)' is filled with the grades of 1_" in course.said) == (not column)
    before, after = filled(course, name)
    assert set(after[0]) <= set(before[0])
    assert not any("Score" in title or "Essay" in title for title in after[0])
    grades = {row[after[0].index("ID")]: row[-1] for row in after[1:] if row[1]}
    expected = {"12": "4", "13": "2", "14": "EX", "15": "3.00", "99": ""}
    assert expected | grades == expected
    (possible,) = [row for row in after if row[0] == "    Points Possible"]
    kept = [before[0].index(title) for title in after[0]]
    assert possible in [[row[k] for k in kept] for row in before]


def test_each_exercise_fills_one_column(graded):
    file = "2_attention_patterns.ipynb"
    shutil.copy(graded.solutions / file, graded.folder / "in" / f"ada_{file}")
    graded.grade(*graded.students("name,username\nada,al\n"))
    with graded.book() as book:
        book.db.execute("UPDATE results SET points = 0, of = 20 WHERE exercise > '2'")
    head, points, row, _ = CANVAS_LIST.split("\n", 3)
    for second, columns, fault, grades in NAMES["columns"]:
        text = f"{head},{second}\n{points},20\n{row},\n"
        options = [word for column in columns for word in ("--column", column)]
        status = graded.run("export", graded.write("c.csv", text), *options)
        assert (status, fault in graded.said) == (not grades, True)
        assert not grades or grades == graded.rows("filled-c.csv")[-1][-2:]


def test_no_table_takes_the_place_of_another_and_each_has_its_pages(graded):
    (graded.folder / "b").mkdir()
    text = f"{HEAD.strip()},Grade,Maximum Grade,Last modified (grade)\n"
    names = "a.csv", "b.csv", "b/a.csv"
    first, second, same = (graded.write(name, text) for name in names)
    refused = graded.write("c.csv", text.replace("Maximum Grade", "Scale"))
    graded.run("export", f"1={first}", f"1={refused}", fault="graded with a scale")
    assert "filled-1-a.csv" in graded.printed  # it is there
    graded.run("export", f"1={first}", f"1={same}", fault="wo tables have one name")
    assert graded.run("export", f"1={first}", f"1={second}") == 0
    for name in "ab":
        assert (graded.grades / f"moodle-1-{name}-feedback.zip").is_file()


def test_an_export_says_what_should_come_before_it(course):
    as_moodle(course, "Ada Lovelace_101", "Grace Hopper_102")
    listed = "name\nAda Lovelace\nGrace Hopper\n"
    older = course.write("older.csv", f"{HEAD}Participant 102,Grace Hopper,,-\n")
    words = "--times", f"1={older}", *course.students(listed)
    course.grade(*words, fault="has no hand-in of Grace Hopper, whose", trust=True)
    course.grade("--times", SHEET, *course.students(listed), trust=True)
    assert course.run("export", SHEET) == 0
    for says in ("handed in later", "no longer on", "not come to its end"):
        assert says not in course.said
    assert "handed in there, and not graded here: Ada Lovelace." in course.said
    text = (PLATFORMS / "moodle-en.csv").read_text("utf-8-sig")
    later = text.replace("1 December 2026, 10:30 PM", "1 December 2026, 11:30 PM")
    course.grade(*course.students("name\nAda Lovelace\nMo\n"), trust=True)
    with course.book() as book:
        book.db.execute("UPDATE runs SET ended = NULL")
    course.run("export", f"1={course.write('later.csv', later)}")
    assert "handed in later there than what was graded" in course.said
    assert "no longer on the class list, and so left as they were: Grace" in course.said
    assert "The last run has not come to its end" in course.said
    course.grade()
    assert "The run before did not come to its end." in course.said


def test_a_column_that_canvas_does_not_know_is_a_question(course):
    course.hand_in("lovelaceada_12_345_x")
    course.grade("--students", PLATFORMS / "canvas.csv")
    for heading_ in ("Sheet 1", "1. Quiz (99)", "Essay", "Final Score (read only)"):
        column = ["--column", f"1={heading_}"]
        assert course.run("export", PLATFORMS / "canvas.csv", *column) == 1
        assert "which column is exercise 1?" in course.said
    for column in (["Sheet"], ["1=Sheet 1 (99)"], ["1=A (1)", "--column", "1=B (2)"]):
        table = [PLATFORMS / "canvas.csv"] * (len(column) > 1)
        fault = "once for each exercise, and goes with Canvas's gradebook"
        course.run("export", *table, "--column", *column, fault=fault)
    text = (PLATFORMS / "canvas.csv").read_text().replace(",20.00,", ",100.00,")
    course.run("export", course.write("c.csv", text), fault="Set them alike")


FORMS = NAMES["forms"]


def exported(course, form, rows):
    """Fill a table of these rows; return the column of grades."""
    table = course.write("table.csv", "\n".join([FORMS[form][2], *rows]))
    assert course.run("export", f"1={table}" if form == "moodle" else table) == 0
    titles, *filled_rows = course.rows(f"filled-{'1-' * (form == 'moodle')}table.csv")
    place = titles.index("Grade") if form == "moodle" else -1
    return [row[place] for row in filled_rows]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("platform", "listed", "rows", "points"),
    [
        (True, False, slice(2), ["2", ""]),
        (True, True, slice(2), ["2", ""]),
        (False, False, slice(2), ["", ""]),  # nothing tells
        (False, False, slice(1), ["2"]),
        (False, True, slice(2), ["2", ""]),
        (False, True, slice(1, 2), [""]),
    ],
)
def test_of_namesakes_one_has_a_grade(form, platform, listed, rows, points, course):
    name, students, _, people = FORMS[form]
    course.hand_in(name if platform else "Ada Lovelace")
    course.grade(*course.students(students) * listed, trust=True)
    assert exported(course, form, people.split("\n")[rows]) == points


def test_no_cell_is_a_formula_and_numbers_stay():
    for text, safe in NAMES["cells"].items():
        assert cell(text) == safe


def test_class_lists_of_many_forms_are_read(tmp_path):
    path = tmp_path / "class.csv"
    for text, name, student in map(dict.values, NAMES["listed"]):
        path.write_text(text, encoding="utf8")
        found, why = read_class_list(path).find(Found(path, "x", name))
        assert [one.student for one in found] == [student] * bool(student)
        assert why == "" if student else "may be any of Ann A, Anna" in why
    twice = "name,login,email\nAda,,\nAda,a,2@x\n"
    logins = "name,username,github\nAda,a,b\n"
    for text in ("", "colour\nred\n", "name\nada\nada\n", twice, logins):
        path.write_text(text)
        with pytest.raises(Refused, match=r"twice: give|names no student|al columns"):
            read_class_list(path)


@pytest.mark.parametrize("form", FORMS)
def test_a_row_whose_name_and_number_are_of_two_people_is_left(form, course):
    course.hand_in("Ada", attention="right")
    course.hand_in("Alan", attention="wrong")
    course.grade(*course.students("name,id,email\nAda,2,2@x.org\nAlan,1,1@x.org\n"))
    row = "Participant {0},{1},{0}@x.org,,20,-"
    if form == "canvas":
        row = "{1},7{0},{0},,A,"
    for names, points in ((["Ada", "Alan"], ["", ""]), (["Alan", "A"], ["2", "4"])):
        rows = [row.format(number, name) for number, name in enumerate(names, 1)]
        assert exported(course, form, rows) == points
        assert ("address of: Ada, Alan" in course.said) == (names[0] == "Ada")


@pytest.mark.parametrize(("ada", "cyd"), [("a@x.org", "c@x.org"), ("", "")])
def test_numbers_of_moodle_that_were_sorted_alone_exchange_no_grade(ada, cyd, course):
    as_moodle(course, "Ada_101", "Cyd_102")
    listed = course.students(f"name,email\nAda,{ada}\nCyd,{cyd}\n")
    rows = [f"Participant 101,Cyd,{cyd},", f"Participant 102,Ada,{ada},"]
    times = course.write("times.csv", HEAD + "-\n".join([*rows, ""]))
    course.grade(*listed, "--times", f"1={times}", fault="101 is 'Cyd', not 'Ada'")
    assert course.grade(*listed, trust=True) == 0
    assert exported(course, "moodle", [f"{row},20,-" for row in rows]) == ["", ""]


def test_a_table_of_another_assignment_is_named(course):
    as_moodle(course, "Ada Lovelace_555")
    course.grade("--times", SHEET, fault="none of the numbers", trust=True)
    course.run("export", SHEET, fault="none of the numbers")
    text = (PLATFORMS / "moodle-en.csv").read_text("utf-8-sig")
    groups = f"1={course.write('w.csv', text.replace(chr(10), ',Group' + chr(10)))}"
    course.grade("--times", groups, trust=True)  # whose files have other numbers
    assert "none of the numbers" not in course.said
    assert course.run("export", groups) == 0
    course.hand_in_each("Grace", "Alan", "Emmy")  # with no numbers: hers is a stray
    course.grade("--times", SHEET)
    assert course.run("export", SHEET) == 0
    assert course.grade(*course.times("name,time\nAda Lovelace,2026-12-01\n")) == 1
    assert "ay of which exercise times.csv is" in course.said


def test_one_student_with_several_numbers_is_not_the_whole_assignment(course):
    as_moodle(course, "Ada_5", "Ada_6", "Ada_7")
    course.hand_in_each("Bob", "Cyd")
    rows = "".join(f"Participant {number},Ada,a@x,2026-12-01\n" for number in "567")
    people = course.students("name,email\nAda,a@x\nBob,b@x\nCyd,c@x\n")
    course.grade(*people, "--times", f"1={course.write('times.csv', HEAD + rows)}")
    assert exported(course, "moodle", ["Participant 1,Bob,b@x,,20,-"]) == ["2"]


def test_who_has_another_address_now_keeps_a_row(course):
    as_moodle(course, "Ada_101")
    for mail in ("old@x", "new@x"):
        row = f"Participant 101,Ada,{mail}"
        times = course.write("times.csv", f"{HEAD}{row},2026-12-01\n")
        people = course.students(f"name,email\nAda,{mail}\nBob,b@x\n")
        course.grade(*people, "--times", f"1={times}")
    assert exported(course, "moodle", [f"{row},,20,-"]) == ["4"]


def test_a_small_assignment_of_an_exercise_is_no_other_one(course):
    head = f"{FORMS['moodle'][2]},Last modified (submission)"
    for numbers in ("123", "7"):
        as_moodle(course, *(f"S{n}_{n}" for n in numbers))
        rows = [f"Participant {n},S{n},,,20,-,2026-12-01" for n in numbers]
        sheet = f"1={course.write(f'{numbers}.csv', chr(10).join([head, *rows]))}"
        course.grade("--times", sheet, trust=True)
        assert "none of the numbers" not in course.said
        assert course.run("export", sheet) == 0
        filled_rows = course.rows(f"filled-1-{numbers}.csv")[1:]
        assert [row[3] for row in filled_rows] == ["4"] * len(numbers)


def test_one_assignment_may_take_two_exercises(course):
    second = "2_attention_patterns.ipynb"
    as_moodle(course, "S1_1")
    for number in "12":
        folder = course.folder / f"in/S{number}_{number}_assignsubmission_file"
        folder.mkdir(exist_ok=True)
        shutil.copy(course.solutions / second, folder)
    rows = [f"Participant {n},S{n},,,20,-" for n in "12"]
    sheet = course.write("w.csv", "\n".join([FORMS["moodle"][2], *rows]))
    times = course.write(
        "times.csv", HEAD + "Participant 1,S1,,-\nParticipant 2,S2,,-\n"
    )
    course.grade("--times", f"1={times}", "--times", f"2={times}", trust=True)
    assert "none of the numbers" not in course.said
    assert course.run("export", f"1={sheet}") == 0


def test_a_name_like_a_hidden_one_takes_no_grade(course):
    as_moodle(course, "Participant_101")
    course.grade()
    (course.folder / "in").rename(course.folder / "old")
    as_moodle(course, "Participant 101_456", "Eve_457")
    course.grade(fault="'Participant 101' is no name but", trust=True)
    assert '"Eve","","","","4"' in course.text("grades.csv")
    course.run("history", "Participant 101")
    assert "456" not in course.printed + course.said


def test_who_takes_a_hidden_name_takes_over_nobody(course):
    as_moodle(course, "Eve_456", "Participant 456_457")
    people = course.students("name,email\nEve,1@x.org\nParticipant 456,2@x.org\n")
    said = "'Participant 456' is not on the class list"
    course.grade(*people, fault=said, trust=True)
    assert course.points() == ["4", ""]
    rows = "Participant 457,Participant 456,2@x.org,2026-12-01\n"
    rows += "Participant 456,Eve,1@x.org,2026-12-01\n"
    sheet = course.write("sheet.csv", HEAD + rows)
    assert course.grade(*people, "--times", f"1={sheet}") == 0
    assert course.points() == ["4", "4"]
    course.hand_in(f"Participant_456_{OF}/x", "later", attention="right")
    course.grade(*people, places=["later"])  # a group, or an older download
    assert [row[0] for row in course.rows()[1:]][:1] == ["Eve"]
    assert course.points()[:2] == ["4", "4"]


@pytest.mark.parametrize("people", ["", "name\nAda Lovelace\n", CANVAS_LIST])
@pytest.mark.parametrize(
    "chosen", ["99_a_66", "99_LATE_66", "66_66", "99_98_LATE_97_66", "667"]
)
def test_numbers_anywhere_in_a_name_in_canvas_are_a_question(chosen, people, course):
    # Mallory (66) has changed her name to "lovelaceada_12_99_a"; 667 is on no list.
    course.hand_in("lovelaceada_12_345_1_attention_from_scratch")
    for number in range(21):
        course.hand_in(f"lovelaceada_12_{chosen}_{900 + number}_x", scores="no")
    people += '"Mallory, M",66,S66,ml,A,\n' * people.startswith("Student")
    listed = course.students(people) * bool(people)
    course.grade(*listed, fault="It is not graded", trust=True)
    assert course.points()[0] == "2"


def test_an_exercise_that_has_another_name_now_fills_no_column(course):
    course.hand_in_each("lovelaceada_12_1_x", "hoppergrace_13_2_x")
    listed = course.students(CANVAS_LIST)
    course.grade(*listed)
    with course.book() as book:
        book.db.execute("UPDATE results SET exercise = '1_old', points = 9, key = ''")
    (course.folder / "in" / "hoppergrace_13_2_x.ipynb").unlink()
    course.grade(*listed)
    assert course.run("export", course.folder / "class.csv") == 0
    assert "No exercise any more, and left out of totals: 1_old" in course.said
    assert "1_old" not in course.text("grades.csv")
    assert [p.stem for p in course.grades.glob("feedback/*")] == ["Ada_Lovelace-1"]
    head, _, *rows = course.rows("filled-class.csv")
    assert head.count("Sheet 1 (99)") == 1
    assert [row[-1] for row in rows] == ["2", ""]


def test_what_undo_takes_away_is_counted_and_named_where_canvas_has_it(course):
    course.hand_in("lovelaceada_12_1_x")
    listed = course.students(CANVAS_LIST)
    course.grade(*listed)
    course.hand_in("hoppergrace_13_2_x", extra="x", place="late")
    course.grade(*listed, places=["late"])
    course.run("export", course.folder / "class.csv")
    again = course.write("again.csv", course.text("filled-class.csv"))
    course.run("undo", 1)
    assert f"gone: 1. Ada Lovelace, {FIRST}.\n" in course.printed
    course.run("export", again)
    assert "that the gradebook does not have; see to it: Ada Lovelace" in course.said
