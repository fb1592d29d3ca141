"""The command as an instructor uses it: words, exit status, sentences, no traceback."""

import importlib.metadata
import shutil
import subprocess
import sys
from types import SimpleNamespace
from unittest.mock import Mock

import nbformat
import pytest

from attncourse import cli
from attncourse_grader import doctor
from attncourse_grader.cli import main
from attncourse_grader.exercises import exercise_of, modules
from attncourse_grader.hand_in.release import fingerprint
from attncourse_grader.hand_in.submission import Refused
from attncourse_grader.safe_text import file_name, one_line, plain, plain_data
from attncourse_grader.workers import grade_apart, layers_missing
from grader.tests.conftest import FIRST, NAMES, RIGHT


def test_every_command_explains_itself(capsys):
    commands = "grade release adjust extend mark undo export history doctor gradescope"
    for command in commands.split():
        with pytest.raises(SystemExit) as stop:
            main([command, "--help"])
        assert stop.value.code == 0
        assert "usage: " in capsys.readouterr().out


def test_what_the_command_cannot_do_or_understand_is_a_sentence(course, monkeypatch):
    course.hand_in()
    for option, value, said in NAMES["misunderstood"]:
        course.grade(f"{option}={value}", fault=said)
    broken = Mock(side_effect=RuntimeError("bang\x1b[31m"))
    with monkeypatch.context() as patch:
        patch.setattr("attncourse_grader.batch.collect", broken)
        course.grade(fault="The command failed (RuntimeError: bang).")
        patch.setattr("attncourse_grader.batch.sandbox.linux", False)
        course.grade(fault="Grading needs Linux")
    course.grades = course.write("file", "") / "grades"
    course.grade(fault="grades cannot be read or written (not a dir")


def test_exercises_that_are_there_are_released(tmp_path, solutions, capsys):
    third, own = "3_attention_variants", str(solutions)
    for words, names in ((["1", third], [FIRST, third]), ([], list(modules()))):
        out = tmp_path / f"out of {len(words)}"
        words = ["release", *words, "--out", str(out), "--solutions", own]
        assert main(words) == 0
        released = sorted(path.name for path in out.iterdir())
        assert released == [f"{name}.ipynb" for name in names]
    assert main(["release", "1", "--solutions", str(tmp_path)]) == 1
    assert "is not a file" in capsys.readouterr().err


def test_another_secret_is_named_and_may_come_from_the_environment(course, monkeypatch):
    course.hand_in()
    one = ["--secret", "one"]
    for words, graded, other in (([], 1, 0), ([], 0, 0), (one, 1, 1), ([], 0, 1)):
        assert course.grade(*words) == 0
        assert len(course.graded) == graded  # what was given before is still there
        assert ("another secret" in course.said) == bool(other)
    monkeypatch.setattr("attncourse_grader.plan.hash_of_code", lambda path: "new")
    course.grade()
    assert len(course.graded) == 1  # of another solution
    monkeypatch.setenv("ATTNCOURSE_SECRET", "xyzzy")
    course.grade()
    ((_, options),) = course.graded
    assert options["secret"] == "xyzzy"
    with course.book() as book:
        dump = "\n".join(book.db.iterdump())
    assert "xyzzy" not in dump
    assert fingerprint("xyzzy") in dump


def test_text_is_made_plain_and_names_fit_on_a_line_and_on_a_disk():
    for text, expected in [
        ("a\x1b[31mred\x1b[0m", "ared"),
        ("\x1b]0;title\x07x", "x"),
        ("\x9b31mx", "x"),
        ("\u202eabc\u202c", "abc"),
        ("a\r\nb\rc\x00", "a\nbc"),
        ("half \ud800", "half \\ud800"),
        ("Zoë 李 ﷺ", "Zoë 李 ﷺ"),
    ]:
        assert plain(text) == expected
        assert plain_data({"k": [text, 3, None]}) == {"k": [expected, 3, None]}
    assert one_line("a\nb\t c" + "x" * 200) == "a b c" + "x" * 112 + "..."
    assert file_name("Ada Lovelace") == "Ada_Lovelace"
    assert file_name("../../etc/passwd") == "etc_passwd"
    assert file_name("\x1b[31m?") == "unnamed"
    assert file_name("con") == "_con"
    assert len(file_name("x" * 999)) <= 80


def test_a_reader_that_goes_away_is_no_traceback():
    command = f"{sys.executable} -m attncourse_grader.cli"
    script = f"{command} grade --help | head -1; {command} doctor | head -1"
    words = ["bash", "-c", script]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert "Traceback" not in done.stderr


def test_a_course_from_release_to_export_with_the_real_grader(real_course):
    course, out = real_course, real_course.folder / "out"
    words = ["release", "1", "--out", str(out), "--solutions", str(course.solutions)]
    assert main(words) == 0
    handed_out = nbformat.read(out / f"{FIRST}.ipynb", 4)
    (answer,) = [c for c in handed_out.cells if 'Task 1.1")' in c.source]
    answer.source = RIGHT
    nbformat.write(handed_out, course.hand_in("Ada_7_assignsubmission_file_/x"))
    course.hand_in("bob").write_text("{")
    course.grade(fault="bob.ipynb: not graded.", trust=True)
    assert course.run("adjust", "Ada", 1, "+1", "--reason", "asked well") == 0
    head = "Identifier,Full name,Grade,Maximum Grade,Last modified (grade)\n"
    sheet = course.write("sheet.csv", f"{head}Participant 7,Ada,,20.00,-\n")
    assert course.run("export", f"1={sheet}") == 0
    points = exercise_of(FIRST).task("scores").points
    row = f'"Participant 7","Ada","{points + 1:g}","20.00","-"'
    assert row in course.text("filled-1-sheet.csv")
    page = course.text("feedback/Ada-1.html")
    assert f"{points:g} of 20" in page
    assert f"In the end: {points + 1:g} of 20." in page


def test_help_loads_nothing_heavy_and_the_command_itself_no_torch(tmp_path, notebook):
    words = ["grade", str(notebook(tmp_path / "ada.ipynb")), "--out", str(tmp_path)]
    code = "import sys; from attncourse_grader.cli import build_parser, main\n"
    code += "build_parser(); heavy = {'torch', 'matplotlib', 'nbformat'}\n"
    code += "print(sorted({*heavy, 'numpy', 'IPython'} & set(sys.modules)))\n"
    code += f"print(main({words}), sorted(heavy & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    printed = done.stdout.splitlines()
    assert (printed[0], printed[-1]) == ("[]", "0 []"), done.stderr
    assert "Exercise 1" in (tmp_path / "class.html").read_text("utf8")


def test_without_the_grader_the_command_says_how_to_install_it(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "attncourse_grader", None)
    assert cli.main(["grade"]) == 1
    assert "pip install ./grader" in capsys.readouterr().err


def test_a_missing_package_is_named_with_the_remedy(tmp_path, monkeypatch, capsys):
    found = doctor.examine(tmp_path)
    for name in ("Python", "torch", "nbval", "room for grades"):
        assert found[name][0] == "good", found[name]
    assert main(["doctor", "--grades", str(tmp_path)]) == 0
    assert "Grading cannot begin" not in capsys.readouterr().out
    version = importlib.metadata.version

    def absent(name):
        if name in ("nbval", "distributed"):
            raise importlib.metadata.PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(importlib.metadata, "version", absent)
    assert main(["doctor", "--grades", str(tmp_path)]) == 1
    printed = capsys.readouterr().out
    for says in ("MISSING  nbval", "lacking  distributed", "pip install ./grader"):
        assert says in printed
    assert "Grading cannot begin: 1 missing." in printed


def test_what_a_machine_lacks_is_said(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=1e8))
    for name, size in {"max": 7e8, "current": 2e8}.items():
        (tmp_path / f"memory.{name}").write_text(f"{size:.0f}\n")
    monkeypatch.setattr(doctor, "GROUP", tmp_path)
    found = doctor.examine(tmp_path / "not" / "there")
    assert found["torch"][0] == doctor.MISSING
    assert found["room for grades"][0] == "lacking"
    assert "--jobs 1" in found["memory"][1]
    refusing = Mock(side_effect=PermissionError(13, "Permission denied"))
    monkeypatch.setattr(doctor.tempfile, "TemporaryFile", refusing)
    monkeypatch.setattr(doctor.sandbox, "linux", False)
    found = doctor.examine(tmp_path)
    assert found["room for grades"][0] == found["Linux"][0] == doctor.MISSING
    assert "WSL" in found["Linux"][1]


@pytest.mark.parametrize(("missing", "could", "runs"), NAMES["layers"])
def test_missing_layers_may_stop_a_run(tmp_path, monkeypatch, missing, could, runs):
    layers = dict.fromkeys(doctor.sandbox.LAYERS, "") | missing
    monkeypatch.setattr(doctor.forking, "layers", lambda: layers)
    found = doctor.examine(tmp_path)
    for name, title in doctor.sandbox.LAYERS.items():
        state, said = found[f"isolation: {title}"]
        assert state == ("lacking" if name in missing else "good")
        assert missing.get(name, "works") in said
    assert could in doctor.text_of(found)
    assert (found.get("isolation as a whole", "")[:1] != ("MISSING",)) == runs
    if not runs:
        with pytest.raises(Refused, match=could):
            layers_missing()
        assert "isolation" in grade_apart(tmp_path, tmp_path, "", 9)["failed"]
        monkeypatch.setenv("ATTNCOURSE_UNSAFE", "1")
    said = layers_missing()
    assert len(said) >= len(missing) + bool(could)
    assert could in " ".join(said)
