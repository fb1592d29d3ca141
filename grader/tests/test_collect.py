"""Whose a file is, and archives that mean harm."""

import os
import stat
import struct
import subprocess
import time
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from attncourse_grader.hand_in import archives
from attncourse_grader.hand_in.class_list import ClassList, Student
from attncourse_grader.hand_in.collect import Found, collect, without_exercise
from attncourse_grader.hand_in.submission import Refused
from attncourse_grader.hand_in.tables import read_rows
from attncourse_grader.plan import owners
from attncourse_grader.safe_text import one_line


def packed(path, members, **options):
    path.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, **options) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def names_in(found):
    return sorted(file.name for file in found.files)


@pytest.mark.parametrize(
    ("path", "student"),
    [
        ("ada.ipynb", "ada"),
        ("Ada Lovelace/1_attention_from_scratch.ipynb", "Ada Lovelace"),
        ("Ada Lovelace/final/attention.ipynb", "Ada Lovelace"),
        ("submitted/ada/ps1/1_attention_from_scratch.ipynb", "ada"),
        ("exercise 1/ada.ipynb", "ada"),
        ("1_attention_from_scratch/ada.ipynb", "ada"),
        ("ada-1_attention_from_scratch (2).ipynb", "ada"),
        ("1_attention_from_scratch_ada.ipynb", "ada"),
        ("7/1_attention_from_scratch.ipynb", "7"),
        ("Ada_123_assignsubmission_file_/x.ipynb", "Ada"),
        ("Ada_123_assignsubmission_file/x.ipynb", "Ada"),
        ("Ada King_123_assignsubmission_file_x.ipynb", "Ada King"),
        ("lovelaceada_12_345_1_attention_from_scratch.ipynb", "lovelaceada"),
        ("lovelaceada_LATE_12_345_x-2.ipynb", "lovelaceada"),
        ("ada.ipynb.txt", "ada"),
        ("Ada _123_assignsubmission_file/x.ipynb", "Ada"),
        ("A" * 150 + "_123_assignsubmission_file/x.ipynb", "A" * 117 + "..."),
    ],
)
def test_folders_and_file_names_give_the_student(path, student, tmp_path, notebook):
    notebook(tmp_path / "in" / path)
    found = collect([tmp_path / "in"], tmp_path / "scratch")
    assert names_in(found) == [student]
    assert found.problems == []


def test_a_notebook_with_no_other_name_has_that_of_its_folder(tmp_path, notebook):
    path = notebook(tmp_path / "ada" / "1_attention_from_scratch.ipynb")
    for place in (path, path.parent):
        assert names_in(collect([place], tmp_path / "scratch")) == ["ada"]


def test_two_nameless_notebooks_in_a_folder_are_a_question(tmp_path, notebook):
    for copy in ("", " (1)"):
        notebook(tmp_path / "in" / f"1_attention_from_scratch{copy}.ipynb")
    found = collect([tmp_path / "in"], tmp_path / "scratch")
    assert found.files == []
    assert all("another student's" in says for says in found.problems)


def test_numbers_of_moodle_and_canvas_are_kept(tmp_path, notebook):
    notebook(tmp_path / "in" / "Ada_123_assignsubmission_file_" / "x.ipynb")
    notebook(tmp_path / "in" / "lovelaceada_LATE_12_345_x.ipynb")
    moodle, canvas = sorted(
        collect([tmp_path / "in"], tmp_path / "s").files, key=lambda f: f.canvas
    )
    assert (moodle.moodle, moodle.canvas, moodle.marked_late) == ("123", "", False)
    assert (canvas.moodle, canvas.canvas, canvas.marked_late) == ("", "12", True)


def test_zip_files_of_moodle_and_canvas_are_read(tmp_path, notebook):
    text = notebook(tmp_path / "x.ipynb").read_text()
    name = "Ada_1_assignsubmission_file_/x.ipynb"
    moodle = packed(tmp_path / "moodle.zip", {name: text, "__MACOSX/._x.ipynb": "junk"})
    canvas = packed(tmp_path / "canvas.zip", {"hoppergrace_1_2_x.ipynb": text})
    found = collect([canvas], tmp_path / "scratch")
    assert (names_in(found), found.problems) == (["hoppergrace"], [])
    found = collect([moodle], tmp_path / "scratch2")
    assert (names_in(found), found.problems) == (["Ada"], [])
    ada = found.files[0]
    assert ada.time is None  # that of the entry is of the download
    assert ada.path.read_text() == text
    assert ada.source == "moodle.zip/Ada_1_assignsubmission_file_/x.ipynb"


def test_a_zip_file_in_a_students_folder_is_the_students(tmp_path, notebook):
    text = notebook(tmp_path / "x.ipynb").read_text()
    (tmp_path / "in").mkdir()
    packed(
        tmp_path / "in" / "ada" / "all.zip", {"1_attention_from_scratch.ipynb": text}
    )
    packed(tmp_path / "in" / "grace.zip", {"1_attention_from_scratch.ipynb": text})
    inner = (tmp_path / "in" / "grace.zip").read_bytes()
    packed(
        tmp_path / "in" / "moodle.zip", {"Jo_5_assignsubmission_file/work.zip": inner}
    )
    found = collect([tmp_path / "in"], tmp_path / "scratch", CLASS)
    assert names_in(found) == ["Jo", "ada", "grace"]


CLASS = ClassList([Student(name) for name in ("ada", "grace", "mallory", "Jo")])
VICTIMS = [
    "ada_1234_5678_x.ipynb",
    "ada_77_assignsubmission_file_/x.ipynb",
    "ada/1_attention_from_scratch.ipynb",
    "ada.ipynb",
    "submitted/ada/x.ipynb",
    "ada+ps1+2020-01-01 00:00:00 UTC/x.ipynb",
]
OUTER = [
    "mallory_66_77_{}",
    "Mallory_66_assignsubmission_file_/{}",
    "Mallory_66_assignsubmission_file_{}",
    "mallory/{}",
    "exercise 1/mallory/{}",
]


@pytest.mark.parametrize("place", ["in", "in/exercise 1"])
@pytest.mark.parametrize("members", [VICTIMS[:1], VICTIMS[1:2], VICTIMS[:3]])
def test_a_download_that_is_called_like_a_student_is_a_question(
    members, place, tmp_path, notebook
):
    text = notebook(tmp_path / place / "mallory.ipynb").read_text()
    packed(tmp_path / place / "grace.zip", dict.fromkeys(members, text))
    found = collect([tmp_path / "in"], tmp_path / "scratch", CLASS)
    assert names_in(found) == ["mallory"]
    assert "grace.zip is not graded, since it may be one student's" in found.problems[0]


@pytest.mark.parametrize("victim", VICTIMS)
@pytest.mark.parametrize("outer", OUTER)
@pytest.mark.parametrize("form", ["folder", "zip", "own zip"])
@pytest.mark.parametrize("students", [None, CLASS], ids=["no list", "class list"])
def test_nothing_inside_a_hand_in_names_somebody_else(
    victim, outer, form, students, tmp_path, notebook
):
    if outer.endswith("_{}"):
        victim = victim.replace("/", "_")
    text = notebook(tmp_path / "x.ipynb").read_text()
    if form == "folder":
        notebook(tmp_path / "in" / outer.format(victim))
    elif form == "zip":
        packed(tmp_path / "in.zip", {outer.format(victim): text})
    else:
        own = packed(tmp_path / "own.zip", {victim: text}).read_bytes()
        packed(tmp_path / "in.zip", {outer.format("work.zip"): own})
    place = tmp_path / ("in" if form == "folder" else "in.zip")
    found = collect([place], tmp_path / "scratch", students)
    assert {file.name.lower() for file in found.files} == {"mallory"}


@pytest.fixture
def shared(monkeypatch):
    """Return a function that makes a folder of one account for files of another."""

    def make(folder, mode, login):
        real, account = Path.stat, SimpleNamespace(pw_name=login)

        def stat(path, **options):
            found = real(path, **options)
            facts = {"st_mode": found.st_mode, "st_uid": 1234}
            return SimpleNamespace(**facts) if path == folder and not options else found

        monkeypatch.setattr(Path, "stat", stat)
        monkeypatch.setattr("os.geteuid", lambda: 4321)
        monkeypatch.setattr("pwd.getpwuid", lambda number: account)
        folder.chmod(mode)

    return make


@pytest.mark.parametrize("minutes", [0, 10])
@pytest.mark.parametrize("mode", [0o1733, 0o3770, 0o777])
def test_in_a_shared_folder_the_login_tells_who_wrote(
    mode, minutes, tmp_path, notebook, shared
):
    claimed = datetime.now(UTC) - timedelta(minutes=minutes)
    exchanged = f"grace+ps1+{claimed:%Y-%m-%d %H:%M:%S.%f} UTC+x"
    for name in ("grace.ipynb", "ada/x.ipynb", exchanged + "A/1_x.ipynb"):
        notebook(tmp_path / "in" / name)
    for name in ("mallory.ipynb", exchanged.replace("grace", "mallory") + "/x.ipynb"):
        notebook(tmp_path / "in" / name)
    notebook(tmp_path / "in" / "x" / "y.ipynb")
    (tmp_path / "in" / "x" / ".git").mkdir()
    (tmp_path / "in").chmod(mode)
    found = collect([tmp_path / "in"], tmp_path / "own")  # put there by ourselves
    assert set(names_in(found)) == {"ada", "grace", "mallory", "x"}
    (tmp_path / "in" / ".git").mkdir()  # by a student, to give all to "in"
    shared(tmp_path / "in", mode, "mallory")
    found = collect([tmp_path / "in"], tmp_path / "s")
    assert set(names_in(found)) == {"mallory"}
    assert sum(file.time is not None for file in found.files) == (not minutes)
    assert bool(minutes) == ("which is not believed" in "".join(found.problems))


@pytest.mark.parametrize("login", ["ps1", "exercise-1", "submitted"])
@pytest.mark.parametrize("place", ["in", "in/exercise 1"])
def test_a_login_like_the_name_of_an_exercise_is_a_login(
    login, place, tmp_path, notebook, shared
):
    notebook(tmp_path / place / "ada" / "x.ipynb")
    shared(tmp_path / place, 0o1733, login)
    assert names_in(collect([tmp_path / "in"], tmp_path / "s")) == [login]


def test_a_file_of_another_account_than_its_folder_is_left_out(tmp_path, notebook):
    path = notebook(tmp_path / "in" / "eve" / "x.ipynb")  # where a hard link may be
    (tmp_path / "in").chmod(0o1733)
    try:
        os.chown(path.parent, 12345, -1)
    except PermissionError:
        pytest.skip("only root gives a folder to somebody else")
    found = collect([tmp_path / "in"], tmp_path / "s")
    assert found.files == []
    assert "another account" in found.problems[0]


CLONES = {
    "exercise-1/.git/config": "",
    "exercise-1/ada/x.ipynb": "exercise-1",
    "exercise-2/grace/.git": "",  # as a worktree has it
    "exercise-2/grace/ada/x.ipynb": "grace",
    "exercise-2/ada.ipynb": "ada",
    "jo/.git/config": "",
    "jo/exercises/1.ipynb": "jo",
    "jo/chapters/1.ipynb": "",
    "jo/solutions/1.ipynb": "",
    "mo/solutions/1.ipynb": "mo",  # which is no copy of the course
    "solutions/x.ipynb": "solutions",
    "chapters/x.ipynb": "chapters",
}


def test_a_clone_is_of_whoever_its_folder_is_called_after(tmp_path, notebook):
    for name in CLONES:
        notebook(tmp_path / "in" / name)
    found = collect([tmp_path / "in"], tmp_path / "scratch")
    assert names_in(found) == sorted(filter(None, CLONES.values()))


@pytest.mark.parametrize("own", [True, False])
def test_a_copy_of_the_course_in_a_zip_file_counts_for_nobody(own, tmp_path, notebook):
    text = notebook(tmp_path / "x.ipynb").read_text()
    names = [f"course-main/{n}/1.ipynb" for n in ("chapters", "exercises", "solutions")]
    path = packed(tmp_path / "in" / "ada.zip", dict.fromkeys(names[1 - own :], text))
    found = collect([path], tmp_path / "scratch")
    assert len(found.files) == (1 if own else 2)


@pytest.mark.parametrize(
    "name", ["ada+ps1+2026-99-99 1:1 UTC+x/y", "ada_1_2_a+b+2026-01-01 1:11 UTC+x"]
)
def test_times_that_students_make_up_stop_nothing(name, tmp_path, notebook):
    notebook(tmp_path / "in" / f"{name}.ipynb")
    (found,) = collect([tmp_path / "in"], tmp_path / "scratch").files
    assert (found.name, found.time) == ("ada", None)


@pytest.mark.parametrize("victim", VICTIMS)
@pytest.mark.parametrize("students", [None, CLASS], ids=["no list", "class list"])
def test_a_students_folder_or_zip_among_others_names_nobody_else(
    victim, students, tmp_path, notebook
):
    text = notebook(tmp_path / "grace" / "1_attention_from_scratch.ipynb").read_text()
    notebook(tmp_path / "mallory" / victim)
    packed(tmp_path / "Jo.zip", {victim: text})
    places = [tmp_path / name for name in ("grace", "mallory", "Jo.zip")]
    found = collect(places, tmp_path / "scratch", students)
    assert "ada" not in {file.name.lower() for file in found.files}
    (tmp_path / "all").mkdir()
    packed(tmp_path / "all" / "Jo.zip", {victim: text})
    found = collect([tmp_path / "all"], tmp_path / "scratch2", students)
    assert {file.name.lower() for file in found.files} <= {"jo"}


@pytest.mark.parametrize(
    "name", ["../evil.ipynb", "/etc/evil.ipynb", "a/../../evil.ipynb", "C:/evil.ipynb"]
)
def test_names_that_lead_outside_are_refused(name, tmp_path, notebook):
    text = notebook(tmp_path / "x.ipynb").read_text()
    path = packed(tmp_path / "a.zip", {name: text, "ada/x.ipynb": text})
    before = {p for p in tmp_path.rglob("*") if "scratch" not in p.parts}
    found = collect([path], tmp_path / "scratch")
    assert names_in(found) == ["ada"]
    (said,) = found.problems
    assert "outside the archive" in said
    assert {p for p in tmp_path.rglob("*") if "scratch" not in p.parts} == before


def test_links_in_archives_are_refused(tmp_path, notebook):
    text = notebook(tmp_path / "x.ipynb").read_text()
    link = zipfile.ZipInfo("ada/link.ipynb")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(link, "/etc/passwd")
        archive.writestr("grace/x.ipynb", text)
    found = collect([path], tmp_path / "scratch")
    assert names_in(found) == ["grace"]
    assert "is a link" in found.problems[0]


def test_a_bomb_does_not_go_off(tmp_path, notebook):
    text = notebook(tmp_path / "x.ipynb").read_text()
    members = {"ada/x.ipynb": "0" * 25_000_000, "grace/x.ipynb": text}
    path = packed(tmp_path / "a.zip", members)
    found = collect([path], tmp_path / "scratch")
    assert names_in(found) == ["grace"]
    assert "is larger than 20 MB" in found.problems[0]
    unpacked = sum(p.stat().st_size for p in (tmp_path / "scratch").rglob("*.ipynb"))
    assert unpacked < 1e6


def test_sizes_are_counted_not_believed(tmp_path):
    path = packed(tmp_path / "a.zip", {"ada/x.ipynb": os.urandom(1000) * 100})
    data = bytearray(path.read_bytes())
    for sign, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        place = data.index(sign) + offset
        data[place : place + 4] = struct.pack("<I", 10)  # a lie about its size
    path.write_bytes(data)
    found = collect([path], tmp_path / "scratch")
    assert found.files == []
    assert len(found.problems) == 1


def test_what_is_too_large_in_all_is_left_out(tmp_path, notebook, monkeypatch):
    text = notebook(tmp_path / "x.ipynb").read_text()
    monkeypatch.setattr(archives, "MOST_BYTES", len(text) + 1)
    path = packed(tmp_path / "a.zip", {"a/x.ipynb": text, "b/x.ipynb": text})
    found = collect([path], tmp_path / "scratch")
    assert len(found.files) == 1
    assert "what follows" in found.problems[0]


@pytest.mark.parametrize("inside", [True, False])
def test_whoever_hands_in_thousands_of_files_costs_nobody_else_anything(
    inside, tmp_path, notebook
):
    text = notebook(tmp_path / "x.ipynb").read_text()
    files = {f"{k}.ipynb": "{}" for k in range(2000)}
    files |= {f"{k}.txt": "" for k in range(2000)}
    flood = {f"Ada_8_assignsubmission_file/{name}": d for name, d in files.items()}
    if inside:
        data = packed(tmp_path / "in.zip", files).read_bytes()
        flood = {"Ada_8_assignsubmission_file/x.zip": data}
    # Of two who have one name in Moodle one is Mallory.
    members = flood | {"Ada_7_assignsubmission_file/x.ipynb": text}
    scratch = tmp_path / "scratch"
    found = collect([packed(tmp_path / "a.zip", members)], scratch)
    assert [f.moodle for f in found.files].count("7") == 1
    assert len(found.files) == (20 if inside else 21)  # the zip file is one, too
    assert len(found.problems) < 20
    assert len(list(scratch.rglob("*.ipynb"))) < 50
    folder = tmp_path / "in" / "ada"
    folder.mkdir(parents=True)
    for place in range(100):
        packed(folder / f"{place}.zip", {"x.ipynb": text})
        (folder / f"link {place}").symlink_to(scratch)
    found = collect([folder.parent], tmp_path / "more")
    assert len(list((tmp_path / "more").rglob("*.ipynb"))) == len(found.files) <= 20
    assert len(found.problems) < 30


def test_what_takes_long_to_read_costs_nobody_else_anything(
    tmp_path, notebook, grade, calls
):
    notebook(tmp_path / "in" / "ada.ipynb")
    with (tmp_path / "in" / "huge.ipynb").open("wb") as file:
        file.truncate(1 << 42)  # which takes no room
    # To put a row of accents in order takes time as the square of its length.
    accents = {str(k) + "\u0301\u0323" * 15_000: "" for k in range(40)}
    (tmp_path / "in" / "eve").mkdir()
    packed(tmp_path / "in" / "eve" / "x.zip", accents)
    text = "x" * 200_000
    head = "Identifier,Full name,Last modified (submission),Online text"
    (tmp_path / "times.csv").write_text(f"{head}\nParticipant 7,ada,-,{text}\n")
    start = time.monotonic()
    grade("--times", f"1={tmp_path / 'times.csv'}")
    assert time.monotonic() - start < 15
    assert len(calls) == 1


def test_of_thousands_of_sentences_a_run_says_the_first(tmp_path, grade, capsys):
    path = packed(tmp_path / "all.zip", {f"{k}.txt": "" for k in range(2000)})
    assert grade(places=[path]) == 1
    said = capsys.readouterr().err
    assert said.count("is no notebook") == 300
    assert "\n1,700 more are left out or in doubt.\n" in said
    assert "2000 left out or in doubt, see above" in said


def test_an_archive_in_an_archive_is_named_not_opened(tmp_path, notebook):
    inner = packed(tmp_path / "i.zip", {"x.ipynb": "{}"}).read_bytes()
    inner = packed(tmp_path / "j.zip", {"x.zip": inner, "y.rar": b"Rar"}).read_bytes()
    found = collect([packed(tmp_path / "a.zip", {"ada.zip": inner})], tmp_path / "s")
    assert found.files == []
    assert "archive in an archive" in found.problems[0]
    assert len(found.problems) == 2


def test_a_member_with_a_long_name_or_packed_otherwise_costs_itself_alone(
    tmp_path, notebook
):
    text = notebook(tmp_path / "x.ipynb").read_text()
    path = packed(tmp_path / "a.zip", {f"Eve/{chr(0x20000) * 80}.ipynb": text})
    with zipfile.ZipFile(path, "a", zipfile.ZIP_LZMA) as archive:
        archive.writestr("Mal/x.ipynb", text)
    data = path.read_bytes().replace(b"x.ipynb\x09\x04\x05", b"x.ipynb\x09\x04\xff")
    path.write_bytes(data)  # a setting that LZMA does not know
    found = collect([path], tmp_path / "scratch")
    assert names_in(found) == ["Eve"]
    assert "packed in a way that is not read" in found.problems[0]


@pytest.mark.parametrize("place", ["in", "a.zip"])
def test_a_full_disk_is_not_put_down_to_the_archive(
    place, tmp_path, notebook, monkeypatch
):
    text = notebook(tmp_path / "in" / "ada.ipynb").read_text()
    packed(tmp_path / "a.zip", {"ada.ipynb": text})
    real = Path.open

    def full(path, mode="r", **options):
        if "w" in mode:
            raise OSError(28, "No space left on device")
        return real(path, mode, **options)

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(Refused, match="Make room"):
        collect([tmp_path / place], tmp_path / "s")


@pytest.mark.parametrize("damage", ["cut", "noise", "empty", "inside"])
def test_a_damaged_archive_is_a_sentence_and_the_rest_is_read(
    damage, tmp_path, notebook
):
    text = notebook(tmp_path / "in" / "grace.ipynb").read_text()
    path = packed(tmp_path / "in" / "a.zip", {"ada/x.ipynb": text * 50})
    data = bytearray(path.read_bytes())
    if damage == "inside":
        data[60:90] = bytes(30)
    else:
        data = {"cut": data[: len(data) // 2], "noise": os.urandom(99), "empty": b""}[
            damage
        ]
    path.write_bytes(bytes(data))
    found = collect([tmp_path / "in"], tmp_path / "scratch")
    assert names_in(found) == ["grace"]
    assert len(found.problems) == 1
    assert found.problems[0].startswith("in/a.zip")


def test_links_and_other_things_in_folders_are_left_out(tmp_path, notebook):
    notebook(tmp_path / "in" / "ada.ipynb")
    secret = notebook(tmp_path / "elsewhere" / "secret.ipynb")
    (tmp_path / "in" / "link.ipynb").symlink_to(secret)
    (tmp_path / "in" / "folder").symlink_to(secret.parent)
    (tmp_path / "in" / "essay.pdf").write_bytes(b"%PDF")
    os.mkfifo(tmp_path / "in" / "pipe.ipynb")
    found = collect([tmp_path / "in"], tmp_path / "scratch")
    assert names_in(found) == ["ada"]
    said = "\n".join(found.problems)
    assert said.count("symbolic link") == 2
    assert "essay.pdf is no notebook" in said
    assert "pipe.ipynb is no ordinary file" in said


def linked(path, victim):
    path.unlink()
    path.symlink_to(victim)


def folder_linked(path, victim):
    path.parent.rename(path.parent.with_name("gone"))
    path.parent.symlink_to(victim.parent)


def piped(path, victim):
    path.unlink()
    os.mkfifo(path)


CHANGES = {
    "a link": linked,
    "a link above it": folder_linked,
    "a pipe": piped,
    "another file": lambda path, victim: os.replace(victim, path),
    "other content": lambda path, victim: path.write_bytes(victim.read_bytes()),
    "nothing": lambda path, victim: path.unlink(),
}


@pytest.mark.parametrize("name", ["x.ipynb", "x.zip"])
@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_is_exchanged_while_it_is_read_is_not_read(
    change, moment, name, tmp_path, notebook, monkeypatch
):
    text = notebook(tmp_path / "in" / "grace" / "y.ipynb").read_text()
    path, victim = tmp_path / "in" / "eve" / name, tmp_path / "ada" / name
    for place, content in ((path, "mine"), (victim, "hers")):
        own = notebook(place.with_suffix(".ipynb"), extra=content).read_text()
        if name == "x.zip":
            place.with_suffix(".ipynb").unlink()
            packed(place, {"x.ipynb": own})
    walk = os.walk

    def exchanging(*words, **options):
        yield from walk(*words, **options)
        CHANGES[change](path, victim)

    if moment == "before":  # when it was found, and not opened yet
        monkeypatch.setattr(os, "walk", exchanging)
    found = collect([tmp_path / "in"], tmp_path / "scratch")
    if moment == "after":
        CHANGES[change](path, victim)
    texts = {file.name: file.path.read_text() for file in found.files}
    assert texts.pop("grace") == text
    assert len(found.problems) == (moment == "before")
    assert ["mine" in own for own in texts.values()] == [True] * (moment == "after")


def test_an_unreadable_folder_is_a_sentence_and_the_rest_is_read(
    tmp_path, notebook, monkeypatch
):
    notebook(tmp_path / "in" / "ada.ipynb")
    notebook(tmp_path / "in" / "closed" / "grace.ipynb")
    scandir = os.scandir

    def refusing(path):
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    found = collect([tmp_path / "in", tmp_path / "none"], tmp_path / "scratch")
    assert names_in(found) == ["ada"]
    assert "permission denied" in found.problems[0]
    assert "no such file or folder" in found.problems[1]


def test_a_path_that_is_too_long_is_a_sentence_and_the_rest_is_read(tmp_path, notebook):
    notebook(tmp_path / "in" / "ada.ipynb")
    notebook(tmp_path / "in" / "zoe" / "1.ipynb")
    folder = os.open(tmp_path / "in", os.O_RDONLY)
    for _ in range(40):  # 40 names of 200 letters
        os.mkdir("deep" * 50, dir_fd=folder)
        above, folder = folder, os.open("deep" * 50, os.O_RDONLY, dir_fd=folder)
        os.close(above)
    os.close(folder)
    found = collect([tmp_path / "in"], tmp_path / "scratch")
    assert names_in(found) == ["ada", "zoe"]
    assert "name too long" in found.problems[0]


def test_folders_that_lie_very_deep_are_a_sentence_and_the_rest_is_read(
    tmp_path, notebook
):
    notebook(tmp_path / "in" / "ada.ipynb")
    folder = os.open(tmp_path / "in", os.O_RDONLY)
    for _ in range(1200):  # more than Python calls in one another
        os.mkdir("a", dir_fd=folder)
        above, folder = folder, os.open("a", os.O_RDONLY, dir_fd=folder)
        os.close(above)
    os.close(folder)
    try:
        found = collect([tmp_path / "in"], tmp_path / "scratch")
    finally:  # pytest would call itself in each folder
        subprocess.run(["rm", "-r", tmp_path / "in"], check=True)
    assert names_in(found) == ["ada"]
    assert "are left out" in found.problems[0]


@pytest.mark.parametrize(
    ("place", "inside"),
    [
        ("ML-Exercise 1-5678", "Ada Lovelace_101_assignsubmission_file/x.ipynb"),
        ("hand-in", "Ada Lovelace/x.ipynb"),
        ("Group A", "Ada Lovelace_101_assignsubmission_file/x.ipynb"),
    ],
)
def test_a_student_or_group_called_like_the_place_does_not_own_it(
    place, inside, tmp_path, notebook
):
    notebook(tmp_path / place / inside)
    listed = [Student("Ada Lovelace", "Ada Lovelace", section="Group A")]
    listed.append(Student(place, place))
    found = collect([tmp_path / place], tmp_path / "scratch", ClassList(listed))
    assert found.files == []
    assert f"it may be of {place!r} or of 'Ada Lovelace'" in found.problems[0]


@pytest.mark.parametrize(
    "folder",
    ["ada+ps1+2026-11-23 10:00:00 UTC+X1", "ada_101_assignsubmission_file"],
)
def test_a_clone_in_a_platforms_folder_is_of_whom_the_platform_says(
    folder, tmp_path, notebook
):
    path = notebook(tmp_path / "in" / folder / "1_attention_from_scratch.ipynb")
    (path.parent / ".git").mkdir()
    assert names_in(collect([tmp_path / "in"], tmp_path / "scratch")) == ["ada"]


def test_a_name_is_the_same_however_its_accents_are_written(tmp_path, notebook):
    notebook(tmp_path / "in" / "Zoe\u0308.ipynb")
    notebook(tmp_path / "more" / "Zo\u00eb.ipynb")
    students = ClassList([Student("Zo\u00eb")])
    places = [tmp_path / "in", tmp_path / "more"]
    found = collect(places, tmp_path / "scratch", students)
    assert names_in(found) == ["Zo\u00eb"] * 2


@pytest.mark.parametrize("sign", ["\xad", "\u200b", "\u200d", "\u202e", "\u3164"])
def test_a_name_with_a_sign_that_nobody_sees_is_another_name(sign, tmp_path, notebook):
    path = notebook(
        tmp_path / "in" / f"a{sign}da_123_assignsubmission_file" / "x.ipynb"
    )
    (found,) = collect([path.parents[1]], tmp_path / "scratch").files
    shown = f"a{ascii(sign)[1:-1]}da"
    assert (found.name, shown in found.source) == (shown, True)
    assert CLASS.find(found) == ([], f"{shown!r} is not on the class list")
    assert ClassList([Student(one_line(f"a{sign}da"))]).find(found)[0]  # who has it
    assert one_line("\u0645\u06cc\u200c\u062e\u0648 \u2764\ufe0f").count("\\") == 0


def test_names_with_escapes_become_plain(tmp_path, notebook):
    notebook(tmp_path / "in" / "\x1b[31mada\x1b[0m.ipynb")
    found = collect([tmp_path / "in"], tmp_path / "scratch")
    assert names_in(found) == ["ada"]
    assert "\x1b" not in found.files[0].source


@pytest.mark.parametrize("name", ["Ada_final", "student12", "Exner", "Exavier 2nd"])
def test_names_of_people_are_left_whole(name):
    assert without_exercise(name) == name


@pytest.mark.parametrize("name", ["M" * 90 + "," + "S" * 90, "Ma\u0308\u200c,llory"])
def test_a_name_that_reads_otherwise_when_cleaned_again_stops_no_run(
    name, tmp_path, notebook, grade
):
    notebook(tmp_path / "in" / "Ada Lovelace" / "x.ipynb")
    people = tmp_path / "people.csv"
    people.write_text(f"First name,Last name\nAda,Lovelace\n{name}\n", "utf8")
    assert grade("--students", str(people)) == 0


LISTED = "Ada Lovelace,ada,ada.l;Lovelace Ada,,adal;ada,,m1;A. D. A.,,m2;grace,,m3;"
LISTED += "Grace Hopper,,grace;User 51001,,m4"
LISTED = [row.split(",") for row in LISTED.split(";")]
LISTED = [Student(n, n, user=u, email=f"{a}@x.org") for n, u, a in LISTED]


@pytest.mark.parametrize(
    ("name", "facts", "student"),
    [
        ("Ada", {}, "Ada Lovelace"),  # her login, of which nobody else can make a name
        ("ada", {"moodle": "5"}, "ada"),
        ("Ada Lovelace", {}, "Ada Lovelace"),
        ("lovelaceada", {"canvas": "5"}, ""),  # the same words in another order
        ("ADA.L@x.org", {}, "Ada Lovelace"),
        ("grace", {}, ""),
        ("grace", {"is_login": True}, "Grace Hopper"),
        ("user 51001", {"is_login": True}, ""),
    ],
)
def test_a_login_is_no_name_and_who_has_the_same_words_is_a_question(
    name, facts, student
):
    own, why = ClassList(LISTED).find(Found(Path(), "", name, **facts))
    assert ([s.student for s in own], bool(why)) == ([student] * bool(student), not own)
    assert ClassList(LISTED).marked("email", " Ada.L@x.org ") == LISTED[:1]


def test_who_takes_the_name_of_a_section_does_not_hand_in_for_it():
    rows = ("Ada", "77", "CS1"), ("Grace", "78", "CS1"), ("Mal", "66", "CS1")
    people = [Student(n, n, canvas=number, section=s) for n, number, s in rows]
    canvas, moodle = ClassList(people), ClassList(people)
    for name, number, _ in rows:
        moodle.add_moodle({"identifier": f"Participant {number}", "name": name})
    assert "number is Mal's" in canvas.find(Found(Path(), "", "cs1", canvas="66"))[1]
    assert "may be a group" in moodle.find(Found(Path(), "", "CS1", moodle="66"))[1]
    assert len(moodle.find(Found(Path(), "", "CS1", moodle="9"))[0]) == 3  # a group


def test_of_a_damaged_zip_file_it_is_said_whose_it_is(tmp_path):
    name = "Ada_77_assignsubmission_file/hw.zip"
    place = packed(tmp_path / "m.zip", {name: b"PKnope"})
    (says,) = collect([place], tmp_path / "scratch").problems
    assert says.startswith(f"m.zip/{name}: the archive is damaged")


def test_somebody_without_a_first_name_is_no_hidden_file(tmp_path):
    of = "_assignsubmission_file"
    names = [f". Suharto_1{of}/x.ipynb", f"Eve_2{of}/.ipynb", f"Mo_3{of}/.git/x.ipynb"]
    place = packed(tmp_path / "m.zip", dict.fromkeys(names, "{}"))
    found = collect([place], tmp_path / "scratch")
    assert names_in(found) == [". Suharto", "Eve"]


def test_names_with_vowel_signs_are_read_in_canvas_as_others_are(tmp_path, notebook):
    path = notebook(tmp_path / "in" / "\u0915\u093f\u0930\u0923_LATE_66_302_x.ipynb")
    (found,) = collect([path.parent], tmp_path / "scratch").files
    assert (found.canvas, found.marked_late) == ("66", True)


def test_a_worksheet_with_a_very_long_answer_in_words_is_read(tmp_path):
    (tmp_path / "w.csv").write_text("Identifier,Online text\n7," + "x" * 20_000_001)
    assert read_rows(tmp_path / "w.csv")[1][0] == "7"


def test_names_of_thousands_of_folders_or_letters_cost_no_time(tmp_path, notebook):
    text = notebook(tmp_path / "x.ipynb").read_text()
    names = [f"{'ex/' * 20_000}{k}.ipynb" for k in range(5)]
    names += ["1_attention_from_scratch" + " " * 16_000 + "x.ipynb", "ada/x.ipynb"]
    start = time.monotonic()
    place = packed(tmp_path / "a.zip", dict.fromkeys(names, text))
    found = collect([place], tmp_path / "scratch")
    assert (names_in(found), len(found.problems)) == (["ada"], 1)
    assert time.monotonic() - start < 5


def test_downloads_beside_others_count_by_themselves_file_by_file(tmp_path, notebook):
    text, of = notebook(tmp_path / "x.ipynb").read_text(), "_assignsubmission_file"
    for week in "12":
        names = f"ada_{week}{of}/x.ipynb", f" _9{of}/x.ipynb"
        packed(tmp_path / "in" / f"{week}.zip", dict.fromkeys(names, text))
    found = collect([tmp_path / "in"], tmp_path / "scratch", CLASS)
    kept, _ = owners(found.files, CLASS, SimpleNamespace(students=dict))
    assert [own for _, own in kept] == [CLASS.named("ada")] * 2
    signs = one_line("a\udce4 a\udcf6 -\u200d \ufff9 \U0001d173")
    assert len(set(signs.split())) == signs.count("\\") == 5
