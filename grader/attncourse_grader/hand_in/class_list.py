"""The class list: who is in the course, and whose a name in a path is.

Read as CSV in the forms of nbgrader, Otter, Moodle (participants, grading worksheet)
and Canvas (gradebook), or with a column ``student`` or ``name`` of one's own.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from dataclasses import dataclass, replace
from pathlib import Path

from attncourse_grader.hand_in.submission import Refused
from attncourse_grader.safe_text import one_line

# What the columns are called, in lower case; the first that is there is taken.
COLUMNS = {
    "name": ("name", "full name", "fullname", "student", "student name"),
    "first": ("first_name", "first name", "firstname", "given name"),
    "last": ("last_name", "last name", "lastname", "surname", "family name"),
    "id": ("student_id", "student id", "sid", "id number", "idnumber", "sis user id"),
    "user": ("username", "user name", "sis login id", "login", "login id"),
    "email": ("email", "email address", "e-mail", "mail"),
    "moodle": ("identifier",),
    "canvas": ("canvas_id", "canvas id", "lms_user_id"),
    "section": ("section", "group"),
}
WORKSHEET = re.compile(r"(?:participant|teilnehmer/in|teilnehmer\*in)? ?(\d+)", re.I)


@dataclass(frozen=True)
class Student:
    """A person in the course."""

    student: str  # the name that the gradebook uses
    name: str = ""  # the full name, as far as it is known
    id: str = ""  # number at the university, login, address; "" where not known
    user: str = ""  # number at the university, login, address; "" where not known
    email: str = ""  # number at the university, login, address; "" where not known
    # Number of the submission in a Moodle worksheet, of the person in Canvas.
    moodle: str = ""
    # Number of the submission in a Moodle worksheet, of the person in Canvas.
    canvas: str = ""
    section: str = ""  # the section of the course


class ClassList:
    """The students of a course, found by what files are called."""

    def __init__(self, students: list[Student]):
        self.students = students
        self._by_key: dict[str, set[Student]] = {}
        for student in students:
            for key in _keys(student):
                self._by_key.setdefault(key, set()).add(student)

    def find(self, found) -> tuple[Student | None, str]:
        """Return whose a file is, or None and why that cannot be said."""
        numbers = [(s.moodle, s.canvas, s) for s in self.students]
        for moodle, canvas, student in numbers:
            if (moodle and moodle == found.moodle) or (
                canvas and canvas == found.canvas
            ):
                return student, ""
        for name in found.names:
            matches = self._exactly(name) or self._by_key.get(key_of(name), set())
            if len(matches) == 1:
                return next(iter(matches)), ""
            if matches:
                several = ", ".join(sorted(s.student for s in matches))
                return None, f"{name!r} may be any of {several}"
        return None, f"{found.names[0]!r} is not on the class list"

    def _exactly(self, name: str) -> set[Student]:
        return {s for s in self.students if name in (s.student, s.name, s.id, s.user)}


def key_of(text: str) -> str:
    """Return a name without case, accents, spaces and signs, for comparing."""
    found = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in found if c.isalnum())


def _keys(student: Student) -> set[str]:
    words = student.name.replace(",", " ").split()
    names = [student.student, student.name, student.id, student.user, student.email]
    names += [student.email.partition("@")[0], student.canvas]
    if len(words) > 1:  # "Ada King Lovelace" is "lovelaceadaking" in Canvas
        names += ["".join(words[k:] + words[:k]) for k in range(1, len(words))]
    return {key_of(name) for name in names if name} - {""}


def read_class_list(path: Path) -> ClassList:
    """Read a class list.

    Raises `Refused` if it cannot be read, or no column tells who is in the course.
    """
    students = [s for s in map(_student_of, read_table(path)) if s is not None]
    keys = [student.student.casefold() for student in students]
    students = [
        _told_apart(student, path) if keys.count(key) > 1 else student
        for student, key in zip(students, keys, strict=True)
    ]
    if not students:
        raise Refused(
            f"{path.name} names no student. It needs a line of headings with one of: "
            "student, name, first_name and last_name, id, email."
        )
    return ClassList(students)


def _told_apart(student: Student, path: Path) -> Student:
    own = student.id or student.user or student.email or student.canvas
    if not own or own == student.student:
        raise Refused(
            f"{path.name} lists {student.student!r} more than once. Give each student "
            "an id of their own."
        )
    return replace(student, student=f"{student.student} ({own})")


def read_table(path: Path) -> list[dict[str, str]]:
    """Read a CSV file into rows by its headings, in lower case."""
    try:
        data = path.read_bytes()
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise Refused(f"{path} cannot be read ({reason}).") from None
    for encoding in ("utf-8-sig", "utf-16", "cp1252"):
        if encoding == "utf-16" and data[:2] not in (b"\xff\xfe", b"\xfe\xff"):
            continue
        try:
            text = data.decode(encoding)
            break
        except UnicodeDecodeError:
            continue
    else:
        raise Refused(f"{path.name} is no text. Save it as CSV in UTF-8.")
    head = text.split("\n", 1)[0]
    separator = max(",;\t", key=head.count)
    try:
        reader = csv.DictReader(io.StringIO(text), delimiter=separator)
        return [
            {
                one_line(k).lower(): one_line(v or "")
                for k, v in row.items()
                if isinstance(k, str) and not isinstance(v, list)
            }
            for row in reader
        ]
    except csv.Error as error:
        raise Refused(f"{path.name} cannot be read as CSV ({error}).") from None


def _student_of(row: dict[str, str]) -> Student | None:
    def value(kind):
        for column in COLUMNS[kind]:
            if row.get(column):
                return row[column]
        return ""

    if "points possible" in value("name").lower():  # the second line of Canvas
        return None
    name = value("name")
    if not name and (value("first") or value("last")):
        name = f"{value('first')} {value('last')}".strip()
    if "," in name:  # "Lovelace, Ada" of Canvas
        last, _, first = name.partition(",")
        name = f"{first.strip()} {last.strip()}"
    canvas = value("canvas")
    number, user, email = value("id"), value("user"), value("email")
    moodle, plain_id = value("moodle"), row.get("id", "")
    if {"sis login id", "sis user id"} & row.keys():
        canvas = canvas or plain_id  # the ID of Canvas's gradebook is its own
    elif plain_id:
        number = number or plain_id  # nbgrader's is what folders are called
    if moodle and "maximum grade" not in row and "full name" not in row:
        number, moodle = number or moodle, ""  # Otter's identifier
    match = WORKSHEET.fullmatch(moodle)
    moodle = match[1] if match else ""
    student = row.get("student_id") or row.get("id") if "first_name" in row else ""
    student = student or name or number or user or email
    if not student:
        return None
    return Student(student, name, number, user, email, moodle, canvas, value("section"))
