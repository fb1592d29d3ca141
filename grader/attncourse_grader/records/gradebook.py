"""The gradebook: every grade that was ever given, and what it was worked out from."""

from __future__ import annotations

import difflib
import json
import sqlite3
import time
from dataclasses import fields

from attncourse_grader.hand_in.class_list import Student, key_of
from attncourse_grader.hand_in.submission import Refused
from attncourse_grader.records.database import Database
from attncourse_grader.safe_text import file_name, one_line


class Gradebook(Database):
    """The grades of a course."""

    run = 0  # the number of the run that writes

    # Runs and settings

    def start_run(self, secret: str) -> int:
        """Begin a run and return its number."""
        self.run = self._write(
            "INSERT INTO runs (started, secret) VALUES (?, ?)", time.time(), secret
        )
        return self.run

    def end_run(self) -> None:
        """Note that the run came to its end."""
        self._write("UPDATE runs SET ended = ? WHERE run = ?", time.time(), self.run)

    def note_problem(self, says: str) -> None:
        """Keep a sentence about something that was left out."""
        self._write("INSERT INTO problems VALUES (?, ?)", self.run, says)

    def setting(self, name: str, default=None):
        """Return a setting."""
        found = self.rows("SELECT value FROM settings WHERE name = ?", name)
        return json.loads(found[0]["value"]) if found else default

    def set(self, name: str, value) -> None:
        """Keep a setting."""
        self._write(
            "INSERT INTO settings VALUES (?, ?) "
            "ON CONFLICT DO UPDATE SET value = excluded.value",
            name,
            json.dumps(value),
        )

    # Students

    def add_student(self, student: Student) -> None:
        """Keep a student; what is not empty replaces what was known."""
        known = [field.name for field in fields(Student)]
        values = [one_line(getattr(student, name)) for name in known]
        updates = ", ".join(
            f"{n} = CASE excluded.{n} WHEN '' THEN {n} ELSE excluded.{n} END"
            for n in known[1:]
        )
        marks = ", ".join("?" * (len(known) + 1))
        self._write(
            f"INSERT INTO students ({', '.join(known)}, page) VALUES ({marks}) "
            f"ON CONFLICT (student) DO UPDATE SET {updates}",
            *values,
            self._free_page(student.student),
        )

    def _free_page(self, student: str) -> str:
        """Return a name for the student's pages that nobody else's have."""
        rows = self.rows("SELECT student, page FROM students")
        for row in rows:
            if row["student"] == student:
                return row["page"]
        taken = {row["page"].lower() for row in rows}
        name, count = file_name(student), 1
        while name.lower() in taken:
            count += 1
            name = f"{file_name(student)}_{count}"
        return name

    def students(self) -> dict[str, sqlite3.Row]:
        """Return all students by their names in the gradebook."""
        rows = self.rows("SELECT * FROM students ORDER BY student COLLATE NOCASE")
        return {row["student"]: row for row in rows}

    def student_named(self, text: str) -> str:
        """Return the student that a text names, in whatever spelling."""
        known = self.students()
        if text in known:
            return text
        key = key_of(text)
        match = [
            name
            for name, row in known.items()
            if key in {key_of(row[c]) for c in ("student", "name", "id", "user")}
            or (row["email"] and key == key_of(row["email"]))
        ]
        if len(match) == 1 and key:
            return match[0]
        near = difflib.get_close_matches(text, known, n=3, cutoff=0.5)
        near = near or [name for name in known if key and key in key_of(name)][:3]
        hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
        if len(match) > 1:
            hint = f" It may be {' or '.join(map(repr, match))}."
        raise Refused(f"the gradebook has no one student {one_line(text)!r}.{hint}")

    # Results and hand-ins

    def exercise_in(self, content: str) -> str:
        """Return which exercise a file's content answers: "" if not known yet."""
        rows = self.rows("SELECT exercise FROM contents WHERE content = ?", content)
        return rows[0]["exercise"] if rows else ""

    def has_result(self, key: str) -> bool:
        """Say whether this was graded before."""
        return bool(self.rows("SELECT 1 FROM results WHERE key = ?", key))

    def add_result(self, key: str, content: str, record: dict, answers: dict) -> None:
        """Keep a grade."""
        with self.together():
            self.db.execute(
                "INSERT INTO contents VALUES (?, ?) "
                "ON CONFLICT DO UPDATE SET exercise = excluded.exercise",
                (content, record["exercise"]),
            )
            self.db.execute(
                "INSERT INTO results VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO "
                "UPDATE SET points = excluded.points, of = excluded.of, "
                "record = excluded.record, answers = excluded.answers, "
                "graded = excluded.graded, run = excluded.run",
                (
                    key,
                    content,
                    record["exercise"],
                    record["points"],
                    record["of"],
                    json.dumps(record, ensure_ascii=False),
                    json.dumps(answers),
                    time.time(),
                    self.run,
                ),
            )

    def add_handin(self, student: str, found, content: str, key, outcome) -> None:
        """Keep that a file was handed in, with its result or why it has none.

        Copying files may give them new times. Of one content the earliest counts.
        """
        (known,) = self.rows(
            "SELECT MIN(time) AS first FROM handins WHERE student = ? AND content = ?",
            student,
            content,
        )
        first = found.time if known["first"] is None else known["first"]
        self._write(
            "INSERT INTO handins (student, source, content, time, marked_late, moodle,"
            " variant, key, refused, first_run, last_run)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET time = excluded.time, key = excluded.key,"
            " refused = excluded.refused, last_run = excluded.last_run,"
            " marked_late = excluded.marked_late",
            student,
            found.source,
            content,
            min(found.time, first),
            found.marked_late,
            found.moodle,
            one_line(outcome.get("variant", "")),
            key,
            one_line(outcome.get("refused", ""), 400),
            self.run,
            self.run,
        )

    def adjust(self, student: str, exercise: str, points: float, reason: str) -> None:
        """Keep a change by hand."""
        self._write(
            "INSERT INTO adjustments (student, exercise, points, reason, made)"
            " VALUES (?, ?, ?, ?, ?)",
            student,
            exercise,
            points,
            one_line(reason, 400),
            time.time(),
        )

    def set_late(self, student: str, exercise: str, seconds: float) -> None:
        """Keep how late a student was: with "" as the exercise, in all."""
        if not exercise:  # what is said about all goes before what was said of one
            self._write("DELETE FROM lateness WHERE student = ?", student)
        self._write(
            "INSERT OR REPLACE INTO lateness VALUES (?, ?, ?)",
            student,
            exercise,
            seconds,
        )
