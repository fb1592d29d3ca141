"""Tables and pages to hand back: what Moodle and Canvas import, and what is safe."""

import zipfile
from pathlib import Path

import pytest

from attncourse_grader.cli import main
from attncourse_grader.hand_in.class_list import read_class_list
from attncourse_grader.hand_in.collect import Found
from attncourse_grader.hand_in.submission import Refused
from attncourse_grader.hand_in.tables import cell, heading, read_rows

PLATFORMS = Path(__file__).parent / "platforms"


@pytest.fixture
def course(tmp_path, solutions, calls, capsys):
    """Return a function that calls a command, and returns its status and errors."""

    def run(*words):
        where = ["--grades", str(tmp_path / "grades")]
        if words[0] == "grade":
            where = ["--out", str(tmp_path / "grades"), "--solutions", str(solutions)]
            words = ("grade", str(tmp_path / "in"), *words[1:])
        status = main([*map(str, words), *where])
        return status, capsys.readouterr().err

    return run


MOODLE_LIST = (
    "First name,Last name,ID number,Email address,Username\n"
    "Ada,Lovelace,17,ada@uni.example,al\nGrace,Hopper,18,grace@uni.example,gh\n"
)
CANVAS_LIST = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Sheet 1 (99)\n"
    "    Points Possible,,,,,20\n"
    '"Lovelace, Ada",12,S12,al,A,\n"Hopper, Grace",13,S13,gh,B,\n'
)


def test_the_plain_table_has_a_row_for_every_student(tmp_path, notebook, course):
    notebook(tmp_path / "in" / "Ada Lovelace.ipynb")
    (tmp_path / "in" / "=cmd.ipynb").write_text("{")
    (tmp_path / "class.csv").write_text("name\n=cmd\nAda Lovelace\nGrace Hopper\n")
    course("grade", "--students", tmp_path / "class.csv")
    rows = read_rows(tmp_path / "grades" / "grades.csv")
    assert rows[0][:5] == [
        "student",
        "id",
        "email",
        "section",
        "1_attention_from_scratch",
    ]
    assert [row[0] for row in rows[1:]] == ["'=cmd", "Ada Lovelace", "Grace Hopper"]
    assert [row[4] for row in rows[1:]] == ["", "2", ""]
    assert "cannot be read" in rows[1][-1]


def test_the_table_of_tasks_has_their_points(tmp_path, notebook, course):
    notebook(tmp_path / "in" / "ada.ipynb")
    course("grade")
    head, row = read_rows(tmp_path / "grades" / "tasks.csv")
    found = dict(zip(head, row, strict=True))
    assert (found["points"], found["1.1"], found["1.2"]) == ("2", "2", "0")


def filled(tmp_path, name):
    """Return the rows of a table as it came, and filled."""
    texts = [PLATFORMS / f"{name}.csv", tmp_path / "grades" / f"filled-{name}.csv"]
    return [list(read_rows(path)) for path in texts]


def as_moodle(tmp_path, notebook, *names):
    for place, name in enumerate(names):
        folder = tmp_path / "in" / f"{name}_assignsubmission_file"
        notebook(folder / "x.ipynb", attention=f"right{place}", scores="right")


@pytest.mark.parametrize(("name", "box"), [("en", 1), ("de", 1), ("fr", 0)])
def test_moodles_worksheet_tells_times_and_takes_grades(
    name, box, tmp_path, notebook, course
):
    as_moodle(tmp_path, notebook, "Ada Lovelace_101", "Grace Hopper_102")
    times = ["--times", f"1={PLATFORMS / f'moodle-{name}.csv'}"]
    late = ["--deadline", "2026-12-01T23:00", "--penalty", "5%/day"]
    students = tmp_path / "class.csv"
    students.write_text("name,email\nAda Lovelace,ada@uni.example\nGrace Hopper,\n")
    status, said = course("grade", *times, *late, "--students", students)
    assert (status, said.count("is known")) == (0, 0)
    sheet = f"1={PLATFORMS / f'moodle-{name}.csv'}"
    status, said = course("export", sheet)
    assert status == 0
    assert ("Allow updating records" in said) == bool(box)
    before, after = filled(tmp_path, f"moodle-{name}")
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
    with zipfile.ZipFile(tmp_path / "grades" / "moodle-1-feedback.zip") as archive:
        pages = sorted(archive.namelist())
    # What is uploaded and filled again says what holds then.
    again = tmp_path / "again.csv"
    again.write_bytes((tmp_path / "grades" / f"filled-moodle-{name}.csv").read_bytes())
    course("grade", "--deadline", "none")
    course("export", f"1={again}")
    comments = [row[comment].rstrip("\n") for row in before[:3]]
    after = list(read_rows(tmp_path / "grades" / "filled-again.csv"))
    assert [row[comment] for row in after[:3]] == comments
    assert pages == [
        "Ada Lovelace_101_assignfeedback_file_/feedback.html",
        "Grace Hopper_102_assignfeedback_file_/feedback.html",
    ]


def test_who_takes_a_name_in_moodle_takes_no_grade_with_it(tmp_path, notebook, course):
    as_moodle(tmp_path, notebook, "Ada Lovelace_104", "Ada Lovelace_101")
    status, said = course("grade")
    assert status == 1
    assert said.count("two people here have the name 'Ada Lovelace'") == 2
    students = tmp_path / "class.csv"
    students.write_text(
        "name,email\nAda Lovelace,ada@uni.example\nMal,mallory@uni.example\n"
    )
    options = ["--students", students, "--times", f"1={PLATFORMS / 'moodle-en.csv'}"]
    course("grade", *options)
    course("export", f"1={PLATFORMS / 'moodle-en.csv'}")
    _, after = filled(tmp_path, "moodle-en")
    assert [row[4] for row in after[1:]] == ["4", "11.50", "7.00", "4"]
    table = (tmp_path / "grades" / "grades.csv").read_text()
    assert '"Mal","","mallory@uni.example","","4"' in table


def test_hidden_names_go_back_as_they_came(tmp_path, notebook, course):
    as_moodle(tmp_path, notebook, "Participant_101", "Participant_102")
    sheet = f"1={PLATFORMS / 'moodle-blind.csv'}"
    assert course("grade", "--times", sheet)[0] == 0
    course("export", sheet)
    before, after = filled(tmp_path, "moodle-blind")
    assert [row[0] for row in after] == [row[0] for row in before]
    assert [row[2] for row in after[1:]] == ["4", "4"]


def test_a_group_of_moodle_is_all_its_members(tmp_path, notebook, course):
    as_moodle(tmp_path, notebook, "Group A_7", "Default group")
    students = tmp_path / "class.csv"
    students.write_text("name,group\nAda,Group A\nGrace,Group A\nEve,\n")
    options = ["--students", students, "--times", f"1={PLATFORMS / 'moodle-en.csv'}"]
    status, said = course("grade", *options)
    assert (status, "'Default group' is not on the class list" in said) == (1, True)
    rows = (tmp_path / "grades" / "grades.csv").read_text().splitlines()
    assert [row.split(",")[4] for row in rows[1:]] == ['"4"', '""', '"4"']


HEAD = "Identifier,Full name,Email address,Last modified (submission)\n"


@pytest.mark.parametrize(
    ("others", "sheet", "says"),
    [
        ((), None, "may be a group"),
        ((), "Participant 8,Group B,eve@x.org,-", ""),  # which is hers
        ((), "Participant 8,Group B,mal@x.org,-", "may be a group"),
        (("Ada_1",), "Participant 9,Eve,eve@x.org,-", "some handed in alone, too"),
        (("Eve_1",), "Participant 9,Eve,eve@x.org,-", "some handed in alone, too"),
    ],
)
def test_who_takes_the_name_of_a_group_hands_in_for_nobody_else(
    others, sheet, says, tmp_path, notebook, course
):
    students, times = tmp_path / "class.csv", tmp_path / "times.csv"
    rows = "Ada,Group B,ada@x.org\nGrace,Group B,\nEve,,eve@x.org\n"
    students.write_text(f"name,group,email\n{rows}")
    options = ["--students", students]
    if sheet:
        times.write_text(f"{HEAD}{sheet}\n")
        options += ["--times", f"1={times}"]
    as_moodle(tmp_path, notebook, "Group B_8", *others)
    status, said = course("grade", *options)
    assert (status, says in said) == (int(bool(says)), True)
    table = (tmp_path / "grades" / "grades.csv").read_text()
    assert '"Grace","","","Group B","2"' not in table
    assert "1 graded" in said or others == ()


def test_a_name_like_a_hidden_one_takes_no_grade(tmp_path, notebook, course):
    as_moodle(tmp_path, notebook, "Participant_101")
    course("grade")
    (tmp_path / "in").rename(tmp_path / "old")
    for name in ("Participant 101_456", "Eve_457"):
        as_moodle(tmp_path, notebook, name)
    status, said = course("grade")
    assert (status, "'Participant 101' is no name but" in said) == (1, True)
    table = (tmp_path / "grades" / "grades.csv").read_text()
    assert '"Eve","","","","4"' in table
    _, said = course("history", "Participant 101")
    assert "456" not in said


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("20.00", "100.00", "the maximum is 100 there"),
        ("Maximum Grade", "Scale", "graded with a scale"),
        ("Last modified (grade)", "Viimeksi muokattu", "English, German or French"),
    ],
)
def test_a_worksheet_that_moodle_would_misread_is_refused(
    old, new, says, tmp_path, notebook, course
):
    as_moodle(tmp_path, notebook, "Ada Lovelace_101")
    course("grade")
    text = (PLATFORMS / "moodle-en.csv").read_text("utf-8-sig").replace(old, new)
    (tmp_path / "sheet.csv").write_text(text)
    status, said = course("export", f"1={tmp_path / 'sheet.csv'}")
    assert (status, says in said) == (1, True)


def test_points_that_moodle_skips_are_named(tmp_path, notebook, course):
    as_moodle(tmp_path, notebook, "Ada Lovelace_101", "Grace Hopper_102")
    course("grade")
    course("adjust", "Ada Lovelace", "1", "+30", "--reason", "a bonus")
    course("adjust", "Grace Hopper", "1", "-30", "--reason", "copied")
    sheet = f"1={PLATFORMS / 'moodle-en.csv'}"
    _, said = course("export", sheet)
    assert "which Moodle skips, and so left as they were: Ada Lovelace" in said
    assert "do not take a grade of 0. See to these after the upload: Grace" in said


CANVAS = ["lovelaceada_12_345", "hoppergrace_LATE_13_346", "noetheremmy_14_347"]


@pytest.mark.parametrize("name", ["canvas", "canvas-split"])
def test_canvas_gets_grades_in_columns_that_it_knows(name, tmp_path, notebook, course):
    for place, who in enumerate(CANVAS):
        extra, path = f"x = {place}", tmp_path / "in" / f"{who}_1_attention.ipynb"
        notebook(path, attention="right", extra=extra)
    table, times = PLATFORMS / f"{name}.csv", PLATFORMS / "canvas-submissions.json"
    options = ["--deadline", "2026-12-01T23:00Z", "--penalty", "5%/day"]
    options += ["--students", table, "--times", f"1={times}"]
    status, said = course("grade", *options)
    assert status == (name == "canvas-split")  # which has no Emmy
    column = ["--column", "1=Sheet one (901)"] if "split" in name else []
    status, said = course("export", table, *column)
    assert status == 0
    assert "Canvas's late policy takes off again" in said
    before, after = filled(tmp_path, name)
    assert set(after[0]) <= set(before[0])
    assert not any("Score" in title or "Essay" in title for title in after[0])
    grades = {row[after[0].index("ID")]: row[-1] for row in after[1:] if row[1]}
    expected = {"12": "4", "13": "2", "14": "EX", "15": "3.00", "99": ""}
    assert expected | grades == expected
    (possible,) = [row for row in after if row[0] == "    Points Possible"]
    assert possible in [
        [row[k] for k in map(before[0].index, after[0])] for row in before
    ]


def test_a_column_that_canvas_does_not_know_is_a_question(tmp_path, notebook, course):
    notebook(tmp_path / "in" / "lovelaceada_12_345_x.ipynb")
    course("grade", "--students", PLATFORMS / "canvas.csv")
    for heading_ in ("Sheet 1", "Essay", "Final Score (read only)"):
        column = ["--column", f"1={heading_}"]
        status, said = course("export", PLATFORMS / "canvas.csv", *column)
        assert (status, "which column is exercise 1?" in said) == (1, True)
    assert course("export", "--column", "Sheet")[0] == 1
    text = (PLATFORMS / "canvas.csv").read_text().replace(",20.00,", ",100.00,")
    (tmp_path / "c.csv").write_text(text)
    status, said = course("export", tmp_path / "c.csv")
    assert (status, "Set them alike" in said) == (1, True)


def test_a_name_in_canvas_that_looks_like_a_number_is_a_question(
    tmp_path, notebook, course
):
    # Mallory has changed her name to "hoppergrace_13_1".
    notebook(tmp_path / "in" / "hoppergrace_13_1_66_900_x.ipynb")
    notebook(tmp_path / "in" / "mallory_13_901_x.ipynb", scores="no")
    notebook(tmp_path / "in" / "lovelaceada_66_902_x.ipynb", scores="nor")
    status, said = course("grade", "--students", PLATFORMS / "canvas.csv")
    assert (status, said.count("It is not graded")) == (1, 2)
    assert "the number is Grace Hopper's, the name 'mallory'" in said
    status, said = course("grade")
    assert "'hoppergrace' has two numbers" in said


def test_the_number_of_a_file_may_be_that_of_a_student_in_canvas(
    tmp_path, notebook, course
):
    # Grace (13) has changed her name to "lovelaceada_12".
    notebook(tmp_path / "in" / "lovelaceada_12_13_555_x.ipynb")
    notebook(tmp_path / "in" / "hoppergrace_13_900_1_attention_from_scratch.ipynb")
    status, said = course("grade", "--students", PLATFORMS / "canvas.csv")
    assert (status, said.count("It is not graded")) == (1, 1)
    assert "lovelaceada_12_13_555_x.ipynb" in said


FORMS = {  # a hand-in, a class list and two rows of the table to fill
    "moodle": (
        "Ada Lovelace_1_assignsubmission_file/x",
        "name,email\nAda Lovelace,1@x.org\n",
        "Identifier,Full name,Email address,Grade,Maximum Grade,Last modified (grade)",
        "Participant 1,Ada Lovelace,1@x.org,,20,-\n"
        "Participant 2,LOVELACE Ada,2@x.org,,20,-",
    ),
    "canvas": (
        "lovelaceada_1_345_x",
        "name,canvas_id\nAda Lovelace,1\n",
        "Student,ID,SIS User ID,SIS Login ID,Section,Exercise 1 (901)",
        '"Lovelace, Ada",1,,,A,\n"Lovelace, Ada",2,,,A,',
    ),
}


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
def test_of_two_with_one_name_in_a_table_only_who_handed_in_has_a_grade(
    form, platform, listed, rows, points, tmp_path, notebook, course
):
    name, students, head, people = FORMS[form]
    path = f"{name}.ipynb" if platform else "Ada Lovelace.ipynb"
    notebook(tmp_path / "in" / path)
    (tmp_path / "class.csv").write_text(students)
    course("grade", *["--students", tmp_path / "class.csv"] * listed)
    table = tmp_path / "table.csv"
    table.write_text("\n".join([head, *people.split("\n")[rows]]))
    assert course("export", f"1={table}" if form == "moodle" else table)[0] == 0
    titles, *filled_rows = read_rows(tmp_path / "grades" / "filled-table.csv")
    place = titles.index("Grade") if form == "moodle" else -1
    assert [row[place] for row in filled_rows] == points


def test_a_class_list_leaves_hidden_names_their_grades(tmp_path, notebook, course):
    notebook(tmp_path / "in" / "Participant_101_assignsubmission_file" / "x.ipynb")
    (tmp_path / "c.csv").write_text("name,email\nAda Lovelace,ada@x.org\n")
    sheet = f"1={PLATFORMS / 'moodle-blind.csv'}"
    assert course("grade", "--times", sheet, "--students", tmp_path / "c.csv")[0] == 0
    course("export", sheet)
    _, (heads, first, *_) = filled(tmp_path, "moodle-blind")
    assert first[heads.index("Grade")] == "2"


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("=1+1", "'=1+1"),
        ("\uff1d1+1", "'\uff1d1+1"),
        ("-1.5", "-1.5"),
        ("-1+1", "'-1+1"),
        ("+3,5", "+3,5"),
        ("Ada;=cmd()", "Ada;'=cmd()"),
        ("a, @SUM(1)", "a, '@SUM(1)"),
        ("Jean-Luc", "Jean-Luc"),
    ],
)
def test_no_cell_is_a_formula_and_numbers_stay(text, safe):
    assert cell(text) == safe


@pytest.mark.parametrize(
    ("text", "name", "student"),
    [
        ("student\nada\n", "ada", "ada"),
        ("\ufeffName;Email\nAda Lovelace;ada@x.org\n", "ada@x.org", "Ada Lovelace"),
        (MOODLE_LIST, "Ada Lovelace", "Ada Lovelace"),
        (MOODLE_LIST, "al", "Ada Lovelace"),
        (CANVAS_LIST, "lovelaceada", "Ada Lovelace"),
        ("id,first_name,last_name,email\nal1,Ada,Lovelace,\n", "al1", "al1"),
        ("id,first_name,last_name,email\nal1,Ada,Lovelace,\n", "ada_lovelace", "al1"),
        ("identifier,file\nada,ada.ipynb\n", "ada", "ada"),
        ("name,id\nÉmilie du Châtelet,3\n", "emilie_du_chatelet", "Émilie du Châtelet"),
        ("name,id\nAda Byron,1\nAda Byron,2\n", "2", "Ada Byron (2)"),
        ("name,id,group\nAda,1,A\nAda,1,B\n", "Ada", "Ada"),
        ("name,id,group\nAda,1,A\nAda,1,B\n", "b", "Ada"),
        ("name,id\nAda,1\nAda,2\nAda (1),3\n", "3", "Ada (1) (3)"),
    ],
)
def test_class_lists_of_many_forms_are_read(text, name, student, tmp_path):
    (tmp_path / "class.csv").write_text(text, encoding="utf8")
    known = read_class_list(tmp_path / "class.csv")
    (found,), why = known.find(Found(tmp_path, "x", name))
    assert why == ""
    assert found.student == student


def test_an_address_like_the_login_of_another_is_in_nobodys_way(tmp_path):
    rows = "Ada,al1,GH@x.org\nGrace,gh,gh2@x.org\nMo,mo,\nEve,eve,mo@x.org\nMO,m3,"
    (tmp_path / "class.csv").write_text(f"name,username,email\n{rows}\n")
    known = read_class_list(tmp_path / "class.csv")
    found = {n: known.find(Found(tmp_path, "x", n)) for n in ("Gh", "gh", "eve", "mO")}
    names = {n: own[0].student for n, (own, _) in found.items()}
    assert names == {"Gh": "Grace", "gh": "Grace", "eve": "Eve", "mO": "Mo (mo)"}


@pytest.mark.parametrize("section", ["Ada Lovelace", "Group A"])
def test_a_section_that_is_called_like_a_name_gives_nobody_a_grade(
    section, tmp_path, notebook, course
):
    who = section.replace(" ", "").lower()
    for place, name in enumerate(["lovelaceada_12", f"{who}_13", "noetheremmy_14"]):
        notebook(tmp_path / "in" / f"{name}_{place}_x.ipynb", extra=name)
    if section == "Group A":  # Ada has handed in nothing
        (tmp_path / "in" / "lovelaceada_12_0_x.ipynb").unlink()
    rows = "Ada Lovelace,12,{0}\nGrace Hopper,13,{0}\nEmmy Noether,14,\n"
    (tmp_path / "c.csv").write_text("name,canvas_id,section\n" + rows.format(section))
    status, said = course("grade", "--students", tmp_path / "c.csv")
    assert (status, said.count("not graded")) == (1, 1)
    table = (tmp_path / "grades" / "grades.csv").read_text().splitlines()
    points = ['"2"' if section == "Ada Lovelace" else '""', '"2"', '""']
    assert [row.split(",")[4] for row in table[1:]] == points


def test_a_name_of_two_students_is_nobodys(tmp_path):
    (tmp_path / "class.csv").write_text("name,id\nAnna,1\nAnn A,2\n")
    known = read_class_list(tmp_path / "class.csv")
    assert known.find(Found(tmp_path, "x", "Anna"))[0][0].id == "1"
    found, why = known.find(Found(tmp_path, "x", "ANNA"))
    assert found == []
    assert "may be any of Ann A, Anna" in why


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "names no student"),
        ("colour\nred\n", "names no student"),
        ("name\nada\nada\n", "more than once"),
    ],
)
def test_class_lists_that_say_nothing_are_refused(text, said, tmp_path):
    (tmp_path / "class.csv").write_text(text)
    with pytest.raises(Refused, match=said):
        read_class_list(tmp_path / "class.csv")
