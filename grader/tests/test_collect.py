"""Whose a file is, and archives that mean harm."""

import os
import stat
import struct
import time
import zipfile

import pytest

from attncourse_grader.hand_in import archives
from attncourse_grader.hand_in.collect import collect, without_exercise


def packed(path, members, **options):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, **options) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def names_in(found):
    return sorted(file.names[0] for file in found.files)


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


def test_two_nameless_notebooks_in_a_folder_are_not_made_one_student(
    tmp_path, notebook
):
    for copy in ("", " (1)"):
        notebook(tmp_path / "in" / f"1_attention_from_scratch{copy}.ipynb")
    found = names_in(collect([tmp_path / "in"], tmp_path / "scratch"))
    assert found == ["1_attention_from_scratch", "1_attention_from_scratch (1)"]


def test_numbers_of_moodle_and_canvas_are_kept(tmp_path, notebook):
    notebook(tmp_path / "in" / "Ada_123_assignsubmission_file_" / "x.ipynb")
    notebook(tmp_path / "in" / "lovelaceada_LATE_12_345_x.ipynb")
    moodle, canvas = sorted(
        collect([tmp_path / "in"], tmp_path / "s").files, key=lambda f: f.canvas
    )
    assert (moodle.moodle, moodle.canvas, moodle.marked_late) == ("123", "", False)
    assert (canvas.moodle, canvas.canvas, canvas.marked_late) == ("", "12", True)


def test_zip_files_of_moodle_and_canvas_are_read_with_their_times(tmp_path, notebook):
    text = notebook(tmp_path / "x.ipynb").read_text()
    info = zipfile.ZipInfo(
        "Ada_1_assignsubmission_file_/x.ipynb", (2026, 3, 4, 5, 6, 8)
    )
    path = tmp_path / "moodle.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(info, text)
        archive.writestr("__MACOSX/._x.ipynb", "junk")
    canvas = packed(tmp_path / "canvas.zip", {"hoppergrace_1_2_x.ipynb": text})
    found = collect([path, canvas], tmp_path / "scratch")
    assert names_in(found) == ["Ada", "hoppergrace"]
    assert found.problems == []
    ada = found.files[0]
    assert time.localtime(ada.time)[:5] == (2026, 3, 4, 5, 6)
    assert ada.path.read_text() == text
    assert ada.source == "moodle.zip/Ada_1_assignsubmission_file_/x.ipynb"


def test_a_zip_file_in_a_students_folder_is_the_students(tmp_path, notebook):
    text = notebook(tmp_path / "x.ipynb").read_text()
    (tmp_path / "in" / "ada").mkdir(parents=True)
    packed(
        tmp_path / "in" / "ada" / "all.zip", {"1_attention_from_scratch.ipynb": text}
    )
    packed(tmp_path / "in" / "grace.zip", {"1_attention_from_scratch.ipynb": text})
    found = collect([tmp_path / "in"], tmp_path / "scratch")
    assert names_in(found) == ["ada", "grace"]


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
    members = {"ada/x.ipynb": "0" * 15_000_000, "grace/x.ipynb": text}
    path = packed(tmp_path / "a.zip", members)
    found = collect([path], tmp_path / "scratch")
    assert names_in(found) == ["grace"]
    assert "times its size" in found.problems[0]
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


def test_an_archive_in_an_archive_is_named_not_opened(tmp_path, notebook):
    inner = packed(tmp_path / "i.zip", {"x.ipynb": "{}"}).read_bytes()
    found = collect([packed(tmp_path / "a.zip", {"ada.zip": inner})], tmp_path / "s")
    assert found.files == []
    assert "archive in an archive" in found.problems[0]


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
    assert found.problems[0].startswith("a.zip")


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


def test_a_name_is_the_same_however_its_accents_are_written(tmp_path, notebook):
    notebook(tmp_path / "in" / "Zoe\u0308.ipynb")
    notebook(tmp_path / "more" / "Zo\u00eb\u200b.ipynb")
    found = collect([tmp_path / "in", tmp_path / "more"], tmp_path / "scratch")
    assert names_in(found) == ["Zo\u00eb"] * 2


def test_names_with_escapes_become_plain(tmp_path, notebook):
    notebook(tmp_path / "in" / "\x1b[31mada\x1b[0m\u202e.ipynb")
    found = collect([tmp_path / "in"], tmp_path / "scratch")
    assert names_in(found) == ["ada"]
    assert "\x1b" not in found.files[0].source


@pytest.mark.parametrize("name", ["Ada_final", "student12", "Exner", "Exavier 2nd"])
def test_names_of_people_are_left_whole(name):
    assert without_exercise(name) == name
