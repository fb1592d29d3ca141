"""The gradebook: every grade that was ever given, and what it was worked out from."""

import difflib
import itertools
import json
import time
from collections import Counter
from dataclasses import fields

from attncourse_grader.hand_in.class_list import ClassList, Student, key_of
from attncourse_grader.hand_in.submission import Refused
from attncourse_grader.records.database import Database
from attncourse_grader.safe_text import file_name, one_line

FIELDS = [field.name for field in fields(Student)]


class Gradebook(Database):
    """The grades of a course."""

    run = 0  # the number of the run that writes

    def start_run(self, secret: str) -> None:
        """Begin a run."""
        self.run = self._insert("runs", started=time.time(), secret=secret)

    def end_run(self) -> None:
        """Note that the run came to its end."""
        self._write("UPDATE runs SET ended = ? WHERE run = ?", time.time(), self.run)

    def undo(self, run: int, *, undone: bool = True) -> None:
        """Let nothing count that a run has found, or let it count again."""
        if not self.rows("SELECT 1 FROM runs WHERE run = ?", run):
            raise Refused(f"there is no run {run}. `attncourse undo` lists them.")
        self._write("UPDATE runs SET undone = ? WHERE run = ?", undone, run)

    def note_problem(self, says: str) -> None:
        """Keep a sentence about something that was left out."""
        self._insert("problems", run=self.run, says=says)

    def setting(self, name: str, default=None):
        """Return a setting, as the last run that counts has left it."""
        return [default, *self.settings(name)][-1]

    def settings(self, name: str) -> list:
        """Return what the runs that count have set, each thing once, the last last."""
        query = "SELECT value FROM all_settings WHERE name = ?"
        return [json.loads(row["value"]) for row in self.rows(query, name)]

    def set(self, name: str, value) -> None:
        """Keep a setting, the same too: the run that had it before may be undone."""
        self._insert("settings", run=self.run, name=name, value=json.dumps(value))

    def add_student(self, student: Student) -> None:
        """Keep a student; what is not empty replaces what was known."""
        values = [getattr(student, name) for name in FIELDS]
        new = [f"{n} = COALESCE(NULLIF(excluded.{n}, ''), {n})" for n in FIELDS[1:]]
        marks = ", ".join("?" * (len(FIELDS) + 1))
        insert = f"INSERT INTO students ({', '.join(FIELDS)}, page) VALUES ({marks})"
        insert += f" ON CONFLICT (student) DO UPDATE SET {', '.join(new)}"
        self._write(insert, *values, self._free_page(student.student))

    def _free_page(self, student: str) -> str:
        """Return a name for the student's pages that nobody else's have."""
        if known := self.rows("SELECT page FROM students WHERE student = ?", student):
            return known[0]["page"]
        own = file_name(student)
        names = itertools.chain([own], (f"{own}_{k}" for k in itertools.count(2)))
        taken = "SELECT 1 FROM students WHERE page = ?"
        return next(name for name in names if not self.rows(taken, name))

    def students(self) -> dict[str, dict[str, str]]:
        """Return all students by their names, with what files and lists say of them."""
        everybody = self.rows("SELECT * FROM everybody")
        found = {row["student"]: dict(row) for row in everybody}
        for listed in itertools.chain(*self.settings("listed")):
            found[listed["student"]] |= {k: v for k, v in listed.items() if v}
        return found

    def people(self) -> ClassList:
        """Return all students, to be found by what they are called."""
        rows = [row for row in self.students().values() if row["joined"] is None]
        return ClassList([Student(*(row[name] for name in FIELDS)) for row in rows])

    def student_named(self, text: str) -> str:
        """Return the student that a text names, in whatever spelling."""
        people, key = self.people(), key_of(text)
        if len(own := people.marked("email", text)) == 1:  # others may be called so
            return own[0].student
        known = [student.student for student in people.students]
        found = {student.student for student in people.named(text)}
        # Who is called like others is meant if nothing else tells, or who has left.
        own = self.students()[text] if text in found else None
        if own and (own["gone"] or not (own["id"] + own["user"] + own["email"])):
            return text
        if len(found := sorted(found | {text} & {*known})) == 1:
            return found[0]
        near = found or difflib.get_close_matches(text, known, n=3, cutoff=0.5)
        near = near or [name for name in known if key and key in key_of(name)][:3]
        hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
        hint += " Give a number, login or address." * (text in found)
        raise Refused(f"the gradebook has no one student {one_line(text)!r}.{hint}")

    def of_another(self, exercise: str, numbers) -> bool:
        """Say whether Moodle's numbers are, as far as known, of another exercise."""
        rows = self.rows("SELECT exercise, moodle, student FROM numbers")
        count = Counter(row["exercise"] for row in rows if row["moodle"] in numbers)
        own = {row["student"] for row in rows if row["exercise"] == exercise}
        query = "SELECT COUNT(*) FROM standing WHERE exercise = ?"
        ((handed_in,),) = self.rows(query, exercise)
        if own and 2 * len(own) > handed_in:  # no stray file's
            here = {row["moodle"] for row in rows if row["moodle"] in numbers}
            return 2 * count[exercise] < max(1, min(len(own), len(here)))
        return count[exercise] < max(count.values(), default=0)

    def exercise_in(self, content: str) -> str:
        """Return which exercise a file's content answers: "" if not known yet."""
        query = "SELECT exercise FROM results WHERE content = ? ORDER BY result DESC"
        return next((row["exercise"] for row in self.rows(query, content)), "")

    def result_of(self, key: str) -> int | None:
        """Return the number of what this was given before, None if nothing counts."""
        query = "SELECT MAX(result) FROM results JOIN runs USING (run) "
        ((result,),) = self.rows(f"{query} WHERE key = ? AND NOT undone", key)
        return result

    def add_result(self, key, version, content, record, answers) -> int:
        """Keep a grade and return its number."""
        tasks = [task for task in record["tasks"] if "manual" in task]
        by_hand = {task["name"]: [task["manual"], task["hash"]] for task in tasks}
        texts = {"answers": json.dumps(answers), "by_hand": json.dumps(by_hand)}
        texts["record"] = json.dumps(record, ensure_ascii=False)
        facts = {name: record[name] for name in ("exercise", "points", "of")}
        facts |= {"key": key, "content": content, "version": version}
        facts |= {"graded": time.time(), "run": self.run}
        return self._insert("results", **facts, **texts)

    def add_handin(self, student, found, time, content, result, said) -> None:
        """Keep that this run has seen a file, with its result or why it has none."""
        place = {"run": self.run, "student": student, "content": content}
        file = {"source": found.source, "moodle": found.moodle, "place": found.order}
        when = {"time": time, "marked_late": found.marked_late}
        refused = one_line(said.get("refused", ""), 400)
        self._insert("seen", **place, **file, **when, result=result, refused=refused)

    def keep(self, table: str, student: str, exercise: str, **facts) -> None:
        """Keep what somebody, or a table, has said of a student and an exercise."""
        texts = {k: one_line(v, 400) for k, v in facts.items() if isinstance(v, str)}
        self._insert(table, student=student, exercise=exercise, **facts | texts)
