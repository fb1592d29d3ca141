"""Tables and pages to hand back: what Moodle and Canvas import, and what is safe."""

import csv
import io
import zipfile

import pytest

from attncourse_grader.cli import main
from attncourse_grader.hand_in.class_list import read_class_list
from attncourse_grader.hand_in.collect import Found
from attncourse_grader.hand_in.submission import Refused


@pytest.fixture
def grades(tmp_path, solutions, calls, capsys):
    """Grade tmp_path/in, export, and return the rows of a table."""
    out = tmp_path / "grades"

    def run(form, *more, table, options=()):
        words = [str(tmp_path / "in"), "--solutions", str(solutions)]
        main(["grade", *words, "--out", str(out), *options])
        capsys.readouterr()
        main(["export", "--form", form, "--grades", str(out), *more])
        return list(csv.reader(io.StringIO((out / table).read_text())))

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


def test_the_plain_table_has_a_row_for_every_student(tmp_path, notebook, grades):
    notebook(tmp_path / "in" / "Ada Lovelace.ipynb")
    (tmp_path / "in" / "=cmd.ipynb").write_text("{")
    (tmp_path / "class.csv").write_text("name\n=cmd\nAda Lovelace\nGrace Hopper\n")
    rows = grades(
        "plain", table="grades.csv", options=["--students", str(tmp_path / "class.csv")]
    )
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


def test_the_table_of_tasks_has_their_points(tmp_path, notebook, grades):
    notebook(tmp_path / "in" / "ada.ipynb")
    head, row = grades("tasks", table="tasks.csv")
    found = dict(zip(head, row, strict=True))
    assert (found["points"], found["1.2"], found["1.3"]) == ("2", "2", "0")


def test_moodle_gets_its_worksheet_its_gradebook_and_the_pages(
    tmp_path, notebook, grades
):
    folder = tmp_path / "in" / "Ada Lovelace_4711_assignsubmission_file_"
    notebook(folder / "x.ipynb")
    notebook(tmp_path / "in" / "Grace Hopper.ipynb", weights="right too")
    (tmp_path / "class.csv").write_text(MOODLE_LIST)
    rows = grades(
        "moodle",
        table="moodle-1.csv",
        options=["--students", str(tmp_path / "class.csv")],
    )
    found = dict(zip(rows[0], rows[1], strict=True))
    assert len(rows) == 2  # nobody knows Grace's number
    assert found["Identifier"] == "Participant 4711"
    assert found["Full name"] == "Ada Lovelace"
    assert (found["Grade"], found["Maximum Grade"]) == ("2", "20")
    assert "Last modified (grade)" in found  # without it Moodle takes no table
    text = (tmp_path / "grades" / "moodle-gradebook.csv").read_text()
    book = list(csv.DictReader(io.StringIO(text)))
    assert [row["Email address"] for row in book] == [
        "ada@uni.example",
        "grace@uni.example",
    ]
    with zipfile.ZipFile(tmp_path / "grades" / "moodle-1-feedback.zip") as archive:
        (name,) = archive.namelist()
        page = archive.read(name).decode()
    assert name == "Ada Lovelace_4711_assignfeedback_file_/feedback.html"
    assert "2 of 20" in page


def test_canvas_gets_its_columns_in_its_order(tmp_path, notebook, grades):
    notebook(tmp_path / "in" / "lovelaceada_12_345_x.ipynb")
    notebook(tmp_path / "in" / "Grace Hopper.ipynb", weights="right too")
    (tmp_path / "class.csv").write_text(CANVAS_LIST)
    rows = grades(
        "canvas",
        "--column",
        "1=Sheet 1 (99)",
        table="canvas.csv",
        options=["--students", str(tmp_path / "class.csv")],
    )
    assert rows[0] == [
        "Student",
        "ID",
        "SIS User ID",
        "SIS Login ID",
        "Section",
        "Sheet 1 (99)",
    ]
    assert rows[1][0].strip() == "Points Possible"
    assert rows[1][-1] == "20"
    assert rows[2:] == [
        ["Ada Lovelace", "12", "S12", "al", "A", "2"],
        ["Grace Hopper", "13", "S13", "gh", "B", "2"],
    ]


def test_who_has_no_number_in_canvas_is_named(
    tmp_path, notebook, solutions, calls, capsys
):
    notebook(tmp_path / "in" / "ada.ipynb")
    out = ["--grades", str(tmp_path / "grades")]
    words = [str(tmp_path / "in"), "--solutions", str(solutions)]
    main(["grade", *words, "--out", str(tmp_path / "grades")])
    assert main(["export", "--form", "canvas", *out]) == 0
    assert "Canvas needs an ID: ada" in capsys.readouterr().err
    assert main(["export", "--column", "Sheet", *out]) == 1
    assert main(["export", "--grades", str(tmp_path / "none")]) == 1
    assert "no gradebook" in capsys.readouterr().err


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
    ],
)
def test_class_lists_of_many_forms_are_read(text, name, student, tmp_path):
    (tmp_path / "class.csv").write_text(text, encoding="utf8")
    known = read_class_list(tmp_path / "class.csv")
    found, why = known.find(Found(tmp_path, "x", (name,), 0.0))
    assert why == ""
    assert found.student == student


def test_numbers_go_before_names(tmp_path):
    (tmp_path / "class.csv").write_text(CANVAS_LIST)
    known = read_class_list(tmp_path / "class.csv")
    found, _ = known.find(Found(tmp_path, "x", ("someone",), 0.0, canvas="13"))
    assert found.student == "Grace Hopper"


def test_a_name_of_two_students_is_nobodys(tmp_path):
    (tmp_path / "class.csv").write_text("name,id\nAnna,1\nAnn A,2\n")
    known = read_class_list(tmp_path / "class.csv")
    assert known.find(Found(tmp_path, "x", ("Anna",), 0.0))[0].id == "1"
    found, why = known.find(Found(tmp_path, "x", ("ANNA",), 0.0))
    assert found is None
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
    with pytest.raises(Refused, match="cannot be read"):
        read_class_list(tmp_path / "none.csv")
