"""Whose a file is, and archives that mean harm."""

import os
import pwd
import stat
import struct
import subprocess
import time
import zipfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from attncourse_grader.hand_in import archives
from attncourse_grader.hand_in import collect as collecting
from attncourse_grader.hand_in.class_list import ClassList, Student, read_class_list
from attncourse_grader.hand_in.collect import Found, collect, without_exercise
from attncourse_grader.hand_in.submission import Refused
from attncourse_grader.hand_in.tables import read_rows
from attncourse_grader.plan import owners
from attncourse_grader.safe_text import one_line
from grader.tests.conftest import FIRST, NAMES


def packed(path, members):
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def names_in(found):
    return sorted(file.name for file in found.files)


class Inbox:
    """What was handed in, in the folder `in` or beside it."""

    def __init__(self, beside, notebook):
        self.beside, self.folder = beside, beside / "in"
        self.scratch, self.notebook = beside / "scratch", notebook
        self.text = notebook(beside / "x.ipynb").read_text()  # of some notebook

    def put(self, name, place="in", **answers):
        return self.notebook(self.beside / place / name, **answers)

    def pack(self, name, members):
        return packed(self.beside / name, members)

    def collect(self, *places, students=None):
        places = [self.beside / place for place in places or ["in"]]
        return collect(places, self.scratch, students)


@pytest.fixture
def inbox(tmp_path, notebook):
    return Inbox(tmp_path, notebook)


@pytest.mark.parametrize(
    ("path", "student"),
    [
        *NAMES["places"].items(),
        ("A" * 150 + "_123_assignsubmission_file/x.ipynb", "A" * 117 + "..."),
    ],
)
def test_folders_and_file_names_give_the_student(path, student, inbox):
    inbox.put(path)
    found = inbox.collect()
    assert names_in(found) == [student]
    assert found.problems == []
    assert found.files[0].time is None
    assert "\x1b" not in found.files[0].source


def test_a_name_is_the_same_however_its_accents_are_written(inbox):
    for place, name in enumerate(("Zoe\u0308", "Zo\u00eb")):
        inbox.put(f"{name}.ipynb", place=f"in/{place}")
    found = inbox.collect("in/0", "in/1", students=ClassList([Student("Zo\u00eb")]))
    assert names_in(found) == ["Zo\u00eb"] * 2


def test_a_nameless_notebook_has_the_name_of_its_folder_and_two_are_a_question(inbox):
    path = inbox.put("1_attention_from_scratch.ipynb", place="ada")
    for place in (path, path.parent):
        assert names_in(inbox.collect(place)) == ["ada"]
    inbox.put("1_attention_from_scratch (1).ipynb", place="ada")
    found = inbox.collect("ada")
    assert found.files == []
    assert len(found.problems) == 2
    assert all("another student's" in says for says in found.problems)
    for name in ("group/ada/1.ipynb", "group/bob/1.ipynb"):
        inbox.put(name, place="all")
    assert names_in(inbox.collect("all")) == []  # without a class list


def test_names_of_people_are_left_whole_and_numbers_of_platforms_are_kept(
    inbox, monkeypatch
):
    for name in ("Ada_final", "student12", "Exner", "Exavier 2nd"):
        assert without_exercise(name) == name
    monkeypatch.setattr(collecting, "modules", ["7_mine", "8_final"].copy)
    assert [without_exercise(name) for name in ("8_final", "mine")] == ["", "mine"]
    for name in ("ivanov1", "Abefinal", "Jasmine Lee", "Mine Yilmaz"):
        assert without_exercise(f"{name}_7_mine-copy2 (1)") == name
    inbox.put("Ada_123_assignsubmission_file_/x.ipynb")
    inbox.put("lovelaceada_LATE_12_345_x.ipynb")
    inbox.put("\u0915\u093f\u0930\u0923_LATE_66_302_x.ipynb")  # with vowel signs
    # In the form in which names are compared, these signs are three and two each.
    inbox.put("1001" + "\U0001d160" * 30 + "_5_assignsubmission_file_/x.ipynb")
    long = inbox.pack("a.zip", {"ada" + "\u0344" * 148 + "_13_3_x.ipynb": inbox.text})
    files = inbox.collect("in", long, students=CLASS).files
    numbers = {(f.moodle, f.canvas, f.marked_late) for f in files}
    late = {("", "12", True), ("", "66", True)}
    assert numbers == {("123", "", False), *late, ("5", "", False), ("", "13", False)}


def test_zip_files_of_moodle_and_canvas_are_read(inbox):
    of = "_assignsubmission_file"
    members = {f"Ada_1{of}_/x.ipynb": inbox.text, "__MACOSX/._x.ipynb": "junk"}
    names = [f". Suharto_2{of}/x.ipynb", f"Eve_3{of}/.ipynb", f"Mo_4{of}/.git/x.ipynb"]
    inbox.pack("moodle.zip", members | dict.fromkeys(names, "{}"))
    inbox.pack("canvas.zip", {"hoppergrace_1_2_x.ipynb": inbox.text})
    found = inbox.collect("canvas.zip")
    assert (names_in(found), found.problems) == (["hoppergrace"], [])
    found = inbox.collect("moodle.zip")
    # Who has no first name is no hidden file.
    assert names_in(found) == [". Suharto", "Ada", "Eve"]
    says = f"moodle.zip: Mo_4{of}/.git/x.ipynb is no notebook and is left out."
    assert found.problems == [says]  # he has handed in nothing else
    (ada,) = [file for file in found.files if file.name == "Ada"]
    assert ada.time is None  # that of the entry is of the download
    assert ada.path.read_text() == inbox.text
    assert ada.source == "moodle.zip/Ada_1_assignsubmission_file_/x.ipynb"


def test_a_zip_file_in_a_students_folder_is_the_students(inbox):
    for name in ("ada/all", "grace"):
        members = {"1_attention_from_scratch.ipynb": inbox.text}
        inner = inbox.pack(f"in/{name}.zip", members).read_bytes()
    damaged = "Ada_77_assignsubmission_file/hw.zip"
    members = {"Jo_5_assignsubmission_file/work.zip": inner, damaged: b"PKnope"}
    inbox.pack("moodle.zip", members)
    found = inbox.collect("in", "moodle.zip", students=CLASS)
    assert names_in(found) == ["Jo", "ada", "grace"]
    (says,) = found.problems
    assert says.startswith(f"moodle.zip/{damaged} is damaged or no zip file")
    inner = inbox.pack("j.zip", {"x.zip": inner, "y.rar": b"Rar"}).read_bytes()
    found = inbox.collect(inbox.pack("a.zip", {"ada.zip": inner}))
    assert (found.files, len(found.problems)) == ([], 2)
    assert "archive in an archive" in found.problems[0]


CLASS = ClassList([Student(name) for name in ("ada", "grace", "mallory", "Jo")])
VICTIMS = NAMES["victims"]
OUTER = NAMES["outer"]


@pytest.mark.parametrize("place", ["in/S1/x.zip", "S1.zip", "in/team-1/x.zip"])
@pytest.mark.parametrize("name", ["S1", "", "Ada"])
def test_a_download_called_like_a_section_is_no_hand_in_of_it(name, place, inbox):
    members = [f"{who}_5_assignsubmission_file_/x.ipynb" for who in (name, "Bea")]
    path = inbox.pack(place, dict.fromkeys(members, inbox.text))
    place = "in" if place.startswith("in") else path
    listed = [Student(who, who, section="S1,team-1") for who in ("Ada", "Bea")]
    found = inbox.collect(place, students=ClassList(listed))
    assert (found.files, len(found.problems) > 0) == ([], True)


@pytest.mark.parametrize("name", ["grace", "grace (2)", "grace, late", "hw1"])
@pytest.mark.parametrize("place", ["in", "in/exercise 1"])
@pytest.mark.parametrize("members", [VICTIMS[:1], VICTIMS[1:2], VICTIMS[:3]])
def test_a_download_in_a_folder_is_a_question(members, place, name, inbox):
    inbox.put("mallory.ipynb", place)
    inbox.pack(f"{place}/{name}.zip", dict.fromkeys(members, inbox.text))
    found = inbox.collect(students=CLASS)
    assert names_in(found) == ["mallory"]
    says = f"{name}.zip is not graded, since it may be one student's"
    assert says in found.problems[0]


@pytest.mark.parametrize("students", [None, CLASS], ids=["no list", "class list"])
def test_a_download_in_a_students_folder_is_a_question(students, inbox):
    members = [f"{who}_5_assignsubmission_file_/x.ipynb" for who in ("Ada", "Bea")]
    inbox.pack("in/grace/x.zip", dict.fromkeys(members, inbox.text))
    found = inbox.collect("in", students=students)
    assert found.files == [] and "a download of many" in found.problems[0]
    name = f"{FIRST}.ipynb" if students else "ada/x.ipynb"
    inbox.pack("more/zoe.zip", {name: inbox.text})  # who is on no list
    found = inbox.collect("more", students=students)
    assert "or hold those of many" in found.problems[0]


@pytest.mark.parametrize("victim", VICTIMS)
@pytest.mark.parametrize("outer", OUTER)
@pytest.mark.parametrize("form", ["folder", "zip", "own zip"])
@pytest.mark.parametrize("students", [None, CLASS], ids=["no list", "class list"])
def test_nothing_in_a_hand_in_names_another(victim, outer, form, students, inbox):
    if outer.endswith("_{}"):
        victim = victim.replace("/", "_")
    if form == "folder":
        inbox.put(outer.format(victim))
    elif form == "zip":
        inbox.pack("in.zip", {outer.format(victim): inbox.text})
    else:
        own = inbox.pack("own.zip", {victim: inbox.text}).read_bytes()
        inbox.pack("in.zip", {outer.format("work.zip"): own})
    place = "in" if form == "folder" else "in.zip"
    found = inbox.collect(place, students=students)
    assert {file.name.lower() for file in found.files} == {"mallory"}


def test_who_handed_in_only_what_is_hidden_is_named(inbox):
    names = ["ada/x.ipynb", "ada/b/.c/y.ipynb", "ps1/.c/z.ipynb", ".git/jo/x.ipynb"]
    for name in [*names, "grace/.ipynb_checkpoints/x.ipynb", "grace/work/.x.ipynb"]:
        inbox.put(name)
    found = inbox.collect()
    assert names_in(found) == ["ada"]
    (says,) = found.problems
    assert says.startswith(f"{inbox.folder}/grace/")
    assert says.endswith("is no notebook and is left out.")
    inbox.put("ada/.1.ipynb.icloud", place="mac")  # what has not been downloaded yet
    inbox.put("ada/2.ipynb", place="mac")
    assert "/ada/.1.ipynb.icloud is no" in inbox.collect("mac").problems[0]


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
def test_in_a_shared_folder_the_login_tells_who_wrote(mode, minutes, inbox, shared):
    claimed = datetime.now(UTC) - timedelta(minutes=minutes)
    exchanged = f"grace+ps1+{claimed:%Y-%m-%d %H:%M:%S.%f} UTC+x"
    own = exchanged.replace("grace", "mallory") + "/x.ipynb"
    names = ["grace.ipynb", "ada/x.ipynb", "mallory.ipynb", "solutions/y.ipynb", own]
    never = "1970-01-01", "2026-99-99", "2999-01-01"
    names += [f"mallory+ps1+{day} 10:00:00 UTC+x/x.ipynb" for day in never]
    names += [
        own.replace("+x/", "+x\x07+1970-01-01 1:1 UTC+x/").replace("ps1", "x\x1b]")
    ]
    names.append(own.replace("ps1", "ps1_41_assignsubmission_file_"))
    inbox.pack(f"in/{own.split('/')[0]}.zip", {"ada_13_999_x.ipynb": inbox.text})
    for name in [*names, exchanged + "A/1_x.ipynb"]:
        inbox.put(name)
    (inbox.folder / "solutions" / ".git").mkdir()
    inbox.folder.chmod(mode)
    found = inbox.collect()  # put there by ourselves
    me = pwd.getpwuid(os.geteuid()).pw_name  # whose files others may have moved
    own = {"mallory+ps1", *[me] * bool(mode & stat.S_ISVTX)}
    assert set(names_in(found)) == {"ada", "grace", "mallory", "solutions"} | own
    for name in (".git", "attncourse"):  # by a student, to give all to "in" or lose it
        (inbox.folder / name).mkdir()
    shared(inbox.folder, mode, "mallory")
    found = inbox.collect()
    assert names_in(found) == ["mallory"] * 12
    assert sum(file.time is not None for file in found.files) == (not minutes)
    assert str(found.problems).count("which is not believed") == 3 + bool(minutes)
    assert str(found.problems).count("is left out. It is of mallory.") == 1


@pytest.mark.parametrize("login", ["ps1", "exercise-1", "submitted"])
@pytest.mark.parametrize("place", ["in", "in/exercise 1"])
def test_a_login_like_the_name_of_an_exercise_is_a_login(login, place, inbox, shared):
    inbox.put("ada/x.ipynb", place)
    shared(inbox.beside / place, 0o1733, login)
    assert names_in(inbox.collect()) == [login]


@pytest.mark.parametrize(
    ("place", "asked", "kind"),
    [("in", 3, "user"), ("in/PS1", 2, "user"), ("in", 3, "id")],
)
def test_a_folder_like_an_exercise_and_a_login_is_a_question(place, asked, kind, inbox):
    names = ["PS1/1_attention_from_scratch", "PS1/ada", "jo/ps1/x", "grace", "ps1"]
    for name in [*names, "exercise 1/ps1/mallory/x"]:
        inbox.put(f"{name}.ipynb")
    students = ClassList([*CLASS.students, Student("Pia Sol", **{kind: "ps1"})])
    found = inbox.collect(place, students=students)
    assert str(found.problems).count("be an exercise or a login") == asked
    assert names_in(found) == ["grace", "jo", "ps1"] * (place == "in")
    inbox.put(".git/config", "in/PS1")  # now it is a clone
    assert len(inbox.collect(students=students).problems) == 1


@pytest.mark.parametrize("name", ["ada-build-it", "ada-build-it (2)"])
@pytest.mark.parametrize("kind", ["user", "id"])
def test_a_login_with_anothers_in_it_brings_that_one_no_file(kind, name, inbox):
    login = name.removesuffix(" (2)")
    inbox.put(f"{name}/ps1/1_attention_from_scratch.ipynb")
    students = ClassList([*CLASS.students, Student("Mal", **{kind: login})])
    (says,) = inbox.collect(students=students).problems
    assert f"{login!r} may be an exercise or a login" in says


@pytest.mark.parametrize(("most", "names"), [(31, ["eve"]), (5, [])])
def test_what_one_account_leaves_fills_no_list(most, names, inbox, shared, monkeypatch):
    monkeypatch.setattr(archives, "MOST_SEEN", most)
    inbox.put("x/x.ipynb")
    shared(inbox.folder, 0o1733, "eve")
    for number in range(30):
        (inbox.folder / f"{number}.ipynb").symlink_to("x")
    found = inbox.collect()
    assert (names_in(found), len(found.problems)) == (names, archives.MOST_SAID + 1)
    assert ("at most 5 files" in str(found.problems)) == (most == 5)


def test_a_file_of_another_account_than_its_folder_is_left_out(inbox, monkeypatch):
    path = inbox.put("eve/x.ipynb")  # where a hard link may be
    inbox.folder.chmod(0o1733)
    try:
        os.chown(path.parent, 12345, -1)
    except PermissionError:
        pytest.skip("only root gives a folder to somebody else")
    found = inbox.collect()
    assert found.files == []
    assert "another account" in found.problems[0]
    os.chown(path, 12345, -1)
    inbox.folder.chmod(0o700)  # closed since then
    monkeypatch.setattr(archives, "MOST_SEEN", 1)
    os.chown(inbox.folder, 65534, -1)  # as all is where accounts are not known
    for name, account in (("eve/y", 12345), ("jo", 12346), ("sam", 65534)):
        os.chown(inbox.put(f"{name}.ipynb"), account, -1)
    assert names_in(inbox.collect()) == ["nobody", "user 12345", "user 12346"]
    with monkeypatch.context() as patch:
        patch.setattr("os.geteuid", lambda: 65534)  # this is the grader's own then
        assert names_in(inbox.collect()) == ["sam", "user 12345", "user 12346"]
    os.chown(inbox.folder, 12346, -1)
    assert "jo" in names_in(inbox.collect())
    for mode, jo in ((0o755, "user 12346"), (0o777, "jo")):
        inbox.beside.chmod(mode)  # then anybody may have put another folder there
        found = inbox.collect(students=ClassList([Student("Jo", user=jo)]))
        assert "in is not graded: it belongs to user 12346" in found.problems[0]
    os.chown(inbox.folder, 0, -1)
    os.chown(path.parent, 0, -1)  # named by root, who has unpacked a tar in it
    for login in ("", "user 12345"):
        found = inbox.collect(students=ClassList([Student("eve", user=login)]))
        asked = "its folder is 'eve', its owner 'user 12345'" in found.problems[0]
        assert (asked, "user 12345" in names_in(found)) == (not login, bool(login))
    monkeypatch.setattr("pwd.getpwuid", lambda number: SimpleNamespace(pw_name="ex1"))
    inbox.put("ex1/ada.ipynb")  # the instructor's folder, which the login is called as
    assert names_in(inbox.collect()) == ["ada", "ex1", "ex1", "ex1"]


def test_a_clone_is_of_whoever_its_folder_or_the_platform_says(inbox):
    for name in NAMES["clones"]:
        inbox.put(name)
    assert names_in(inbox.collect()) == sorted(filter(None, NAMES["clones"].values()))
    names = [f"course-main/{n}/1.ipynb" for n in ("exercises", *archives.COURSES)]
    course = [*names, "course-main/attncourse/.x"]
    for inside, count in ((course, 1), (names, 4)):  # a copy of the course, or none
        path = inbox.pack("zip/ada.zip", dict.fromkeys(inside, inbox.text))
        assert len(inbox.collect(path).files) == count


@pytest.mark.parametrize("victim", VICTIMS)
@pytest.mark.parametrize("students", [None, CLASS], ids=["no list", "class list"])
def test_a_folder_or_zip_among_others_names_nobody_else(victim, students, inbox):
    inbox.put("1_attention_from_scratch.ipynb", place="grace")
    inbox.put(victim, place="mallory")
    for name in ("Jo.zip", "all/Jo.zip"):
        inbox.pack(name, {victim: inbox.text})
    found = inbox.collect("grace", "mallory", "Jo.zip", students=students)
    assert "ada" not in {file.name.lower() for file in found.files}
    found = inbox.collect("all", students=students)
    assert {file.name.lower() for file in found.files} <= {"jo"}


LINK = zipfile.ZipInfo("eve/link.ipynb")
LINK.external_attr = (stat.S_IFLNK | 0o777) << 16


@pytest.mark.parametrize(
    ("name", "times", "says"), [*NAMES["harm"], (LINK, 1, "is a link")]
)
def test_a_member_that_means_harm_is_left_out(name, times, says, inbox):
    inbox.pack("a.zip", {name: "/etc/passwd" * times, "ada/x.ipynb": inbox.text})
    before = {p for p in inbox.beside.rglob("*") if "scratch" not in p.parts}
    found = inbox.collect("a.zip")
    assert names_in(found) == ["ada"]
    (said,) = found.problems
    assert says in said
    assert {p for p in inbox.beside.rglob("*") if "scratch" not in p.parts} == before
    unpacked = sum(p.stat().st_size for p in inbox.scratch.rglob("*.ipynb"))
    assert unpacked < 1e6


def test_sizes_are_counted_and_what_is_too_much_is_left_out(inbox, monkeypatch):
    path = inbox.pack("a.zip", {"ada/x.ipynb": os.urandom(1000) * 100})
    data = bytearray(path.read_bytes())
    for sign, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        place = data.index(sign) + offset
        data[place : place + 4] = struct.pack("<I", 10)  # a lie about its size
    path.write_bytes(data)
    found = inbox.collect(path)
    assert found.files == []
    assert len(found.problems) == 1
    for number in range(30):  # numbers in their names bring no more of them
        inbox.put(f"lovelaceada_12_345_x_{number}_6_y.ipynb")
    assert len(inbox.collect().files) == 20
    for day in range(10, 31):  # in an exchange these are the newest
        inbox.put(f"ada+1+2026-11-{day} 10:00:00 UTC+x/x.ipynb", "exchange")
    assert "2026-11-10" in inbox.collect("exchange").problems[0]
    monkeypatch.setattr(archives, "MOST_BYTES", len(inbox.text) + 1)
    members = dict.fromkeys(["a/x.ipynb", "b/x.ipynb"], inbox.text)
    found = inbox.collect(inbox.pack("a.zip", members))
    assert len(found.files) == 1
    assert "what follows" in found.problems[0]


@pytest.mark.parametrize("inside", [True, False])
def test_whoever_hands_in_thousands_of_files_costs_nobody_else_anything(inside, inbox):
    files = {f"{k}.ipynb": "{}" for k in range(2000)}
    files |= {f"{k}.txt": "" for k in range(2000)}
    flood = {f"Ada_8_assignsubmission_file/{name}": d for name, d in files.items()}
    if inside:
        data = inbox.pack("in.zip", files).read_bytes()
        flood = {"Ada_8_assignsubmission_file/x.zip": data}
    # Of two who have one name in Moodle one is Mallory.
    members = flood | {"Ada_7_assignsubmission_file/x.ipynb": inbox.text}
    found = inbox.collect(inbox.pack("a.zip", members))
    assert [f.moodle for f in found.files].count("7") == 1
    assert len(found.files) == (20 if inside else 21)  # the zip file is one, too
    assert len(found.problems) < 20
    assert len(list(inbox.scratch.rglob("*.ipynb"))) < 50
    names = ["x.ipynb"] if inside else ["a_1_2_x.ipynb", "b_3_4_x.ipynb"]  # of many
    for place in range(100):
        path = inbox.pack(f"in/ada/{place}.zip", dict.fromkeys(names, inbox.text))
        path.with_name(f"link {place}").symlink_to(inbox.scratch)
    inbox.scratch = inbox.beside / "more"
    found = inbox.collect()
    unpacked = len(list(inbox.scratch.rglob("*.ipynb")))
    assert (len(found.files), unpacked) == ((10, 10) if inside else (0, 14))
    assert len(found.problems) < 30


def test_what_takes_long_to_read_costs_nobody_else_anything(course):
    course.hand_in("ada")
    with course.hand_in("huge").open("wb") as file:
        file.truncate(1 << 42)  # which takes no room
    # To put a row of accents in order takes time as the square of its length.
    accents = {str(k) + "\u0301\u0323" * 15_000: "" for k in range(40)}
    packed(course.folder / "in" / "eve" / "x.zip", accents)
    head = "Identifier,Full name,Last modified (submission),Online text"
    row = f"Participant 7,ada,-,{'x' * 200_000}"
    times = course.write("times.csv", f"{head}\n{row}\n")
    start = time.monotonic()
    course.grade("--times", f"1={times}")
    assert time.monotonic() - start < 15
    assert len(course.graded) == 1
    table = course.write("w.csv", "Identifier,Online text\n7," + "x" * 20_000_001)
    assert read_rows(table)[1][0] == "7"


def test_thousands_of_sentences_hide_no_question_about_somebody_else(course):
    for k in range(60):
        place = course.folder / "in/Bob_5_assignsubmission_file_"
        packed(place / f"{k}.zip", {f"{j}.txt": "" for j in range(15)})
    course.write("in/Zoe_7_assignsubmission_file_x.zip", "damaged")
    names = [f"n{k}/x.ipynb" for k in range(350)] + ["Ada_5_assignsubmission_file/x"]
    packed(course.folder / "in/A.zip", dict.fromkeys(names, ""))  # of nobody
    course.grade(*course.students("name\nAda\n"))
    assert "Zoe_7_assignsubmission_file_x.zip is damaged" in course.said
    assert course.said.count("Bob_5") < 15
    path = packed(course.folder / "all.zip", {f"{k}.txt": "" for k in range(2000)})
    assert course.grade(places=[path]) == 1
    assert course.said.count("is no notebook") == 300
    assert "\n1,700 more are left out or in doubt.\n" in course.said
    assert "2000 left out or in doubt, see above" in course.said
    course.hand_in("Ada L_12_assignsubmission_file_/x")
    people = course.students("name\nAda\n")
    course.grade(*people, places=[path, "in"], fault="'Ada L' is not on the class list")
    assert "Zoe_7_assignsubmission_file_x.zip is damaged" in course.said


def test_very_many_members_or_one_with_a_long_name_cost_nobody_else_anything(inbox):
    inbox.pack("in/ada.zip", {f"{place}{'x' * 900}": "" for place in range(5000)})
    inbox.put("grace.ipynb")
    found = inbox.collect(students=CLASS)
    assert names_in(found) == ["grace"]
    assert "(it has too many members). Download it again." in found.problems[0]
    path = inbox.pack("a.zip", {f"Eve/{chr(0x20000) * 80}.ipynb": inbox.text})
    with zipfile.ZipFile(path, "a", zipfile.ZIP_LZMA) as archive:
        archive.writestr("Mal/x.ipynb", inbox.text)
    data = path.read_bytes().replace(b"x.ipynb\x09\x04\x05", b"x.ipynb\x09\x04\xff")
    path.write_bytes(data)  # a setting that LZMA does not know
    found = inbox.collect(path)
    assert names_in(found) == ["Eve"]
    assert "packed in a way that is not read" in found.problems[0]


@pytest.mark.parametrize("place", ["in", "a.zip"])
def test_a_full_disk_is_not_put_down_to_the_archive(place, inbox, monkeypatch):
    inbox.put("ada.ipynb")
    inbox.pack("a.zip", {"ada.ipynb": inbox.text})
    real = Path.open

    def full(path, mode="r", **options):
        if "w" in mode:
            raise OSError(28, "No space left on device")
        return real(path, mode, **options)

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(Refused, match="Make room"):
        inbox.collect(place)


@pytest.mark.parametrize("damage", ["cut", "noise", "empty", "inside"])
def test_a_damaged_archive_is_a_sentence_and_the_rest_is_read(damage, inbox):
    inbox.put("grace.ipynb")
    path = inbox.pack("in/a.zip", {"ada/x.ipynb": inbox.text * 50})
    data = path.read_bytes()
    damaged = {
        "cut": data[: len(data) // 2],
        "noise": os.urandom(99),
        "empty": b"",
        "inside": data[:60] + bytes(30) + data[90:],
    }
    path.write_bytes(damaged[damage])
    found = inbox.collect()
    assert names_in(found) == ["grace"]
    assert len(found.problems) == 1
    assert found.problems[0].startswith("in/a.zip")


def test_links_and_what_cannot_be_read_are_left_out(inbox, monkeypatch):
    inbox.put("ada.ipynb")
    inbox.put("closed/grace.ipynb")
    secret = inbox.put("secret.ipynb", place="elsewhere")
    (inbox.folder / "link.ipynb").symlink_to(secret)
    (inbox.folder / "folder").symlink_to(secret.parent)
    (inbox.folder / "essay.pdf").write_bytes(b"%PDF")
    os.mkfifo(inbox.folder / "pipe.ipynb")
    scandir = os.scandir

    def refusing(path):
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    found = inbox.collect("in", "none")
    assert names_in(found) == ["ada"]
    said = "\n".join(found.problems)
    assert said.count("is no ordinary file") == 3
    assert "essay.pdf is no notebook" in said
    assert "pipe.ipynb is no ordinary file" in said
    assert "permission denied" in said
    assert "no such file or folder" in found.problems[-1]


CHANGES = ["a link", "a link above it", "a pipe", "another file", "other content"]


def exchange(path, victim, change):
    if change == "other content":
        path.write_bytes(victim.read_bytes())
        return
    if change == "a link above it":
        path, victim = path.parent, victim.parent
    path.rename(path.with_name("gone"))
    if "link" in change:
        path.symlink_to(victim)
    if change == "a pipe":
        os.mkfifo(path)
    if change == "another file":
        victim.rename(path)


@pytest.mark.parametrize("name", ["x.ipynb", "x.zip"])
@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("change", [*CHANGES, "nothing"])
def test_an_exchanged_file_is_not_read(change, moment, name, inbox, monkeypatch):
    inbox.put("grace/y.ipynb")
    path, victim = inbox.folder / "eve" / name, inbox.beside / "ada" / name
    for place, content in ((path, "mine"), (victim, "hers")):
        own = inbox.notebook(place.with_suffix(".ipynb"), extra=content)
        if name == "x.zip":
            packed(place, {"x.ipynb": own.read_text()})
            own.unlink()
    walk = os.walk

    def exchanging(*words, **options):
        yield from walk(*words, **options)
        exchange(path, victim, change)

    if moment == "before":  # when it was found, and not opened yet
        monkeypatch.setattr(os, "walk", exchanging)
    found = inbox.collect()
    if moment == "after":
        exchange(path, victim, change)
    texts = {file.name: file.path.read_text() for file in found.files}
    assert texts.pop("grace") == inbox.text
    assert len(found.problems) == (moment == "before")
    assert ["mine" in own for own in texts.values()] == [True] * (moment == "after")


@pytest.mark.parametrize(
    ("name", "depth", "says"),
    [
        ("deep" * 50, 40, "name too long"),
        ("a", 1200, "are left out"),  # more than Python calls in one another
    ],
)
def test_what_lies_deep_costs_nobody_anything(name, depth, says, inbox, monkeypatch):
    looked = []
    own = "without_exercise", lambda name: looked.append(name) or without_exercise(name)
    monkeypatch.setattr(collecting, *own)
    inbox.put("ada.ipynb")
    inbox.put(f"zoe/{'ex1/' * 30}1.ipynb")
    folder = os.open(inbox.folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir(name, dir_fd=folder)
        above, folder = folder, os.open(name, os.O_RDONLY, dir_fd=folder)
        os.close(above)
    os.close(folder)
    try:
        found = inbox.collect()
    finally:  # pytest would call itself in each folder
        subprocess.run(["rm", "-r", inbox.folder], check=True)
    assert names_in(found) == ["ada", "zoe"]
    assert len(looked) < 200  # of its folders each a few times
    assert says in found.problems[0]


@pytest.mark.parametrize(("place", "inside", "who"), NAMES["called_alike"])
def test_who_is_called_like_the_place_does_not_own_it(place, inside, who, inbox):
    inbox.put(inside, place)
    listed = [Student("Ada Lovelace", "Ada Lovelace", section="Group A")]
    listed.append(Student(place, place))
    found = inbox.collect(place, students=ClassList(listed))
    assert found.files == []
    assert f"it may be of {place!r} or of {who!r}" in found.problems[0]


@pytest.mark.parametrize("sign", ["\xad", "\u200b", "\u200d", "\u202e", "\u3164"])
def test_a_name_with_a_sign_that_nobody_sees_is_another_name(sign, inbox):
    inbox.put(f"a{sign}da_123_assignsubmission_file/x.ipynb")
    (found,) = inbox.collect().files
    shown = f"a{ascii(sign)[1:-1]}da"
    assert (found.name, shown in found.source) == (shown, True)
    assert CLASS.find(found) == ([], f"{shown!r} is not on the class list, or is twice")
    people = ClassList([Student(one_line(f"a{sign}da"))], trust=True)
    assert people.find(found)[0]  # who has it
    assert one_line("\u0645\u06cc\u200c\u062e\u0648 \u2764\ufe0f").count("\\") == 0


@pytest.mark.parametrize("name", ["M" * 90 + "," + "S" * 90, "Ma\u0308\u200c,llory"])
def test_a_name_that_reads_otherwise_when_cleaned_again_stops_no_run(name, course):
    course.hand_in("Ada Lovelace/x")
    people = course.students(f"First name,Last name\nAda,Lovelace\n{name}\n")
    assert course.grade(*people) == 0


def test_a_login_is_no_name_and_namesakes_are_a_question(tmp_path):
    path = tmp_path / "class.csv"
    for text, files in map(dict.values, NAMES["found"]):
        path.write_text(text, encoding="utf8")
        people = read_class_list(path)
        trusting = ClassList(people.students, trust=True)
        for name, of, student in files:
            facts = {"is_login": True} if of == "login" else {of: "5"} if of else {}
            found = Found(Path(), "", name, of_platform=bool(facts), **facts)
            own, why = trusting.find(found)
            assert [s.student for s in own] == [student] * bool(student), name
            assert bool(why) == (not own)
            assert not (own and found.moodle) or people.find(found)[0] == []
    assert ClassList([Student("Ada", email="a@x")]).marked("email", " A@x ")


def test_names_of_thousands_of_folders_or_letters_cost_no_time(inbox):
    names = [f"{'ex/' * 20_000}{k}.ipynb" for k in range(5)]
    names += ["1_attention_from_scratch" + " " * 16_000 + "x.ipynb", "ada/x.ipynb"]
    start = time.monotonic()
    found = inbox.collect(inbox.pack("a.zip", dict.fromkeys(names, inbox.text)))
    assert (names_in(found), len(found.problems)) == (["ada"], 1)
    for k in range(1000):
        assert without_exercise(f"{'- ' * 140}{k}").endswith(str(k))
    assert time.monotonic() - start < 5


def test_downloads_count_by_themselves_file_by_file(inbox):
    for week in "12":
        folders = f"ada_{week}_assignsubmission_file", " _9_assignsubmission_file"
        members = {f"{folder}/x.ipynb": inbox.text for folder in folders}
        inbox.pack(f"in/{week}.zip", members)
    found = inbox.collect("in/1.zip", "in/2.zip", students=CLASS)
    book = SimpleNamespace(students=dict)
    trusted = ClassList(CLASS.students, trust=True)
    kept, _ = owners(found.files, trusted, book)
    assert [own for _, own in kept] == [CLASS.named("ada")] * 2
    kept, said = owners(found.files, CLASS, book)
    assert (kept, len(said)) == ([], 4)  # of two who are on no list, and two downloads
    assert "/in/2.zip: only a name, such as 'ada', tells" in said[1]
    signs = one_line("a\udce4 a\udcf6 -\u200d \ufff9 \U0001d173")
    assert len(set(signs.split())) == signs.count("\\") == 5


@pytest.mark.parametrize(
    "place", ["ML-Exercise 1-5", "hand-in", "week 3", "submissions"]
)
@pytest.mark.parametrize("form", ["folder", "zip"])
def test_who_takes_the_name_of_a_download_makes_nobody_wait(place, form, inbox):
    names = [f"{name}_101_assignsubmission_file/x.ipynb" for name in ("ada", "grace")]
    names += ["1_attention_from_scratch.ipynb"] * (form == "folder")  # of nobody
    group = place.replace("-", " ")
    people = [Student(n, n, n, section=group) for n in ("ada", "grace", place)]
    if form == "folder":
        for name in names:
            inbox.put(name, place)
    else:
        place = f"in/{place}.zip"
        inbox.pack(place, dict.fromkeys(names, inbox.text))
    found = inbox.collect(place, students=ClassList(people))
    known = [ClassList(people, trust=True).find(file)[0] for file in found.files]
    assert sorted(own[0].student for own in known if own) == ["ada", "grace"]


def test_a_folder_that_is_called_like_somebody_may_be_a_download(inbox):
    for name in ("ada", "grace"):
        inbox.put(f"{name}_101_assignsubmission_file/x.ipynb", "in/sheet")
    found = inbox.collect("in", students=ClassList([Student("sheet", "sheet")]))
    assert (found.files, len(found.problems)) == ([], 2)


def test_a_group_is_the_one_that_is_called_so():
    groups = {"Ada": "Group 1", "Bob": "Group 1", "Mal": "Group-1"}
    groups |= {"Nell": "Salt & Co_2", "Zed": "Group 3", "Group 3": ""}
    groups |= {"Eve": "Team 9", "Dee": "Team: 9"}  # Moodle calls the files of both so
    groups |= {"Ann": "Team 8", "Ben": "Team 8"}  # two groups that are shown alike
    groups |= {"Tom": "Team 7", "Guest": "Team 7", "Sam": "Team 6"}
    people = [Student(n, n, email=f"{n}@x", section="Tutorial") for n in groups]
    people = ClassList([s for s in people if s.name != "Guest"])
    for row, (who, group) in enumerate(groups.items(), 1):
        told = {"name": who, "email": f"{who}@x", "group": group}
        told["modified"] = {"Ben": "10:01", "Sam": "-"}.get(who, "10:00")
        people.add_moodle({"identifier": f"Participant {row}", **told}, "1")
    for name, number, members in NAMES["groups"]:
        found = Found(Path(), "", name, moodle=number, of_platform=True)
        own, why = people.find(found)
        assert ([s.student for s in own], bool(why)) == (members, not members)
    found = replace(found, name="Tutorial")
    trusting = ClassList(people.students, trust=True)
    assert trusting.find(found)[0] == people.team("Tutorial")  # without a worksheet
