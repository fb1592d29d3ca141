"""The command as an instructor uses it: words, exit status, sentences, no traceback."""

import shutil
import subprocess
import sys

import nbformat
import pytest

from attncourse_grader.batch import BOOK
from attncourse_grader.cli import main
from attncourse_grader.exercises import exercise_of, modules
from attncourse_grader.hand_in.release import fingerprint
from attncourse_grader.records.gradebook import Gradebook
from attncourse_grader.safe_text import file_name, one_line, plain, plain_data

FIRST = "1_attention_from_scratch"


@pytest.fixture
def own_solutions(tmp_path, solutions):
    """Return a copy of the solutions, in which a release may be noted."""
    return shutil.copytree(solutions, tmp_path / "own")


@pytest.fixture
def grade(tmp_path, own_solutions, calls, capsys):
    def run(*more):
        words = ["grade", str(tmp_path / "in"), "--solutions", str(own_solutions)]
        status = main([*words, "--out", str(tmp_path / "grades"), *more])
        return status, capsys.readouterr().err

    return run


def test_help_loads_nothing_heavy():
    code = (
        "import sys\nfrom attncourse_grader.cli import build_parser\nbuild_parser()\n"
        "print({'torch', 'numpy', 'nbformat', 'IPython'} & set(sys.modules))"
    )
    command = [sys.executable, "-c", code]
    assert subprocess.check_output(command, text=True).strip() == "set()"


@pytest.mark.parametrize(
    "command",
    [
        "grade",
        "release",
        "adjust",
        "extend",
        "mark",
        "undo",
        "export",
        "history",
        "doctor",
    ],
)
def test_every_command_explains_itself(command, capsys):
    with pytest.raises(SystemExit) as stop:
        main([command, "--help"])
    assert stop.value.code == 0
    assert "usage: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--penalty", "lots"], "10%/day"),
        (["--deadline", "soon"], "2026-12-01T23:59"),
        (["--deadline", "7=2026-12-01"], "no exercise '7'"),
        (["--students", "none.csv"], "none.csv cannot be read or written (no such"),
        (["--times", "none.csv"], "none.csv cannot be read or written (no such"),
        (["--times", "/dev/null"], "has no line that says when"),
        (["--solutions", "none"], "--solutions"),
    ],
)
def test_options_that_mean_nothing_are_a_sentence(
    words, said, notebook, tmp_path, grade
):
    notebook(tmp_path / "in" / "ada.ipynb")
    status, error = grade(*words)
    assert status == 1
    assert said in error
    assert "Traceback" not in error


def test_a_folder_that_cannot_be_made_is_a_sentence(
    tmp_path, notebook, solutions, calls, capsys
):
    notebook(tmp_path / "in" / "ada.ipynb")
    (tmp_path / "file").write_text("")
    words = ["grade", str(tmp_path / "in"), "--solutions", str(solutions)]
    assert main([*words, "--out", str(tmp_path / "file" / "grades")]) == 1
    assert "grades cannot be read or written (not a dir" in capsys.readouterr().err


def test_an_unforeseen_fault_is_a_sentence(tmp_path, notebook, grade, monkeypatch):
    notebook(tmp_path / "in" / "ada.ipynb")

    def broken(*arguments, **options):
        raise RuntimeError("bang\x1b[31m")

    monkeypatch.setattr("attncourse_grader.batch.collect", broken)
    status, error = grade()
    assert status == 1
    assert "The command failed (RuntimeError: bang)." in error
    assert "Traceback" not in error


def test_a_fault_of_the_grader_costs_one_file(tmp_path, notebook, grade, monkeypatch):
    for name in ("ada", "grace"):
        notebook(tmp_path / "in" / f"{name}.ipynb", scores=name)
    from attncourse_grader.grade import grading

    works = grading.grade_file

    def sometimes(path, **options):
        if path.stem == "ada":
            raise ZeroDivisionError("never")
        return works(path, **options)

    monkeypatch.setattr(grading, "grade_file", sometimes)
    status, error = grade()
    assert status == 1
    assert (
        "ada.ipynb: not graded. The grader failed on this file (ZeroDivision" in error
    )
    monkeypatch.setattr(grading, "grade_file", works)
    assert grade()[0] == 0  # it was not given up


def test_exercises_are_released_by_number_or_name(tmp_path):
    out = ["--out", str(tmp_path / "out")]
    assert main(["release", "1", "3_attention_variants", *out]) == 0
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == [f"{FIRST}.ipynb", "3_attention_variants.ipynb"]


def test_another_secret_than_before_is_named(tmp_path, notebook, grade):
    notebook(tmp_path / "in" / "ada.ipynb")
    for words, other in (([], 0), ([], 0), (["--secret", "one"], 1), ([], 1)):
        status, error = grade(*words)
        assert (status, "another secret" in error) == (0, bool(other))


def test_the_secret_may_come_from_the_environment(
    tmp_path, notebook, grade, calls, monkeypatch
):
    monkeypatch.setenv("ATTNCOURSE_SECRET", "xyzzy")
    notebook(tmp_path / "in" / "ada.ipynb")
    grade()
    assert calls[0][1]["secret"] == "xyzzy"
    with Gradebook(tmp_path / "grades" / BOOK) as book:
        dump = "\n".join(book.db.iterdump())
    assert "xyzzy" not in dump
    assert fingerprint("xyzzy") in dump


def test_a_release_of_what_is_not_there_is_a_sentence(tmp_path, capsys):
    assert main(["release", "9", "--out", str(tmp_path)]) == 1
    assert "There is no exercise '9'" in capsys.readouterr().err
    assert main(["release", "1", "--solutions", str(tmp_path)]) == 1
    assert "is not a file" in capsys.readouterr().err


def test_all_exercises_are_released_where_none_is_named(tmp_path, own_solutions):
    out = ["--out", str(tmp_path / "out"), "--solutions", str(own_solutions)]
    assert main(["release", *out]) == 0
    assert sorted(p.stem for p in (tmp_path / "out").iterdir()) == list(modules())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\x1b[31mred\x1b[0m", "ared"),
        ("\x1b]0;title\x07x", "x"),
        ("\x9b31mx", "x"),
        ("\u202eabc\u202c", "abc"),
        ("a\r\nb\rc\x00", "a\nbc"),
        ("half \ud800", "half \\ud800"),
        ("Zoë 李 ﷺ", "Zoë 李 ﷺ"),
    ],
)
def test_text_is_made_plain(text, expected):
    assert plain(text) == expected
    assert plain_data({"k": [text, 3, None]}) == {"k": [expected, 3, None]}


def test_names_fit_on_a_line_and_on_a_disk():
    assert one_line("a\nb\t c" + "x" * 200) == "a b c" + "x" * 112 + "..."
    assert file_name("Ada Lovelace") == "Ada_Lovelace"
    assert file_name("../../etc/passwd") == "etc_passwd"
    assert file_name("\x1b[31m?") == "unnamed"
    assert file_name("con") == "_con"
    assert len(file_name("x" * 999)) <= 80


def test_a_reader_that_goes_away_is_no_traceback(tmp_path, notebook, solutions):
    notebook(tmp_path / "in" / "ada.ipynb")
    script = (
        f"{sys.executable} -m attncourse_grader.cli grade --help | head -1; "
        f"{sys.executable} -m attncourse_grader.cli doctor | head -1"
    )
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, timeout=60
    )
    assert "Traceback" not in done.stderr


def test_a_course_from_release_to_export_with_the_real_grader(
    tmp_path, own_solutions, capsys
):
    common = ["--solutions", str(own_solutions)]
    assert main(["release", "1", "--out", str(tmp_path / "out"), *common]) == 0
    handed_out = nbformat.read(tmp_path / "out" / f"{FIRST}.ipynb", 4)
    right = "def attention_scores(query, key):\n    "
    right += "return query @ key.mT / key.shape[-1] ** 0.5"
    marks = [cell.metadata.get("attncourse", {}) for cell in handed_out.cells]
    handed_out.cells = [
        cell
        for cell, mark in zip(handed_out.cells, marks, strict=True)
        if mark.get("answer", "scores") == "scores"
    ]
    (answer,) = [c for c in handed_out.cells if 'Task 1.1")' in c.source]
    answer.source = right
    folder = tmp_path / "in" / "Ada_7_assignsubmission_file_"
    folder.mkdir(parents=True)
    nbformat.write(handed_out, folder / "x.ipynb")
    (tmp_path / "in" / "bob.ipynb").write_text("{")
    out = ["--out", str(tmp_path / "grades")]
    assert main(["grade", str(tmp_path / "in"), *common, *out]) == 1
    grades = ["--grades", str(tmp_path / "grades")]
    assert main(["adjust", "Ada", "1", "+1", "--reason", "asked well", *grades]) == 0
    (tmp_path / "sheet.csv").write_text(
        "Identifier,Full name,Grade,Maximum Grade,Last modified (grade)\n"
        "Participant 7,Ada,,20.00,-\n"
    )
    assert main(["export", f"1={tmp_path / 'sheet.csv'}", *grades]) == 0
    text = (tmp_path / "grades" / "filled-sheet.csv").read_text()
    points = exercise_of(FIRST).task("scores").points
    assert f'"Participant 7","Ada","{points + 1:g}","20.00","-"' in text
    page = (tmp_path / "grades" / "feedback" / "Ada-1.html").read_text()
    assert f"{points:g} of 20" in page
    assert f"In the end: {points + 1:g} of 20." in page
    printed = capsys.readouterr()
    assert "Traceback" not in printed.out + printed.err
    assert "bob.ipynb: not graded." in printed.err


def test_the_command_itself_imports_no_torch(tmp_path, notebook):
    path = notebook(tmp_path / "ada.ipynb")
    words = ["grade", str(path), "--out", str(tmp_path / "grades")]
    code = f"import sys; from attncourse_grader.cli import main; print(main({words}))\n"
    code += "print(sorted({'torch', 'matplotlib', 'nbformat'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines()[-2:] == ["0", "[]"], done.stderr
    assert "Exercise 1" in (tmp_path / "grades" / "class.html").read_text("utf8")


def test_a_limit_that_is_no_time_is_refused(tmp_path, notebook, capsys):
    path = notebook(tmp_path / "ada.ipynb")
    assert main(["grade", str(path), "--limit", "0"]) == 1
    assert "--limit takes seconds" in capsys.readouterr().err


def test_without_the_grader_the_command_says_how_to_install_it(monkeypatch, capsys):
    from attncourse import cli

    monkeypatch.setitem(sys.modules, "attncourse_grader", None)
    assert cli.main(["grade"]) == 1
    assert "pip install ./grader" in capsys.readouterr().err


def test_elsewhere_than_on_linux_the_command_says_what_to_do(
    tmp_path, notebook, grade, monkeypatch
):
    notebook(tmp_path / "in" / "ada.ipynb")
    monkeypatch.setattr("attncourse_grader.batch.sandbox.linux", False)
    status, error = grade()
    assert status == 1
    assert "Grading needs Linux" in error
