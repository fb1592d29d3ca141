"""Fill grades into the tables that Moodle and Canvas write and read again.

A table is downloaded, filled and uploaded. What is not filled stays as it came:
headings, numbers by which the platform finds a row, grades and comments of others.
"""

import contextlib
import html
import itertools
import re
import zipfile
from collections import Counter, defaultdict
from pathlib import Path

from attncourse_grader.exercises import Refused, counts, exercise_of
from attncourse_grader.grade.report import page
from attncourse_grader.hand_in.class_list import Student, blind, mark_of, number_in
from attncourse_grader.hand_in.tables import HEADINGS, cell, heading, read_rows
from attncourse_grader.hand_in.times import read_time
from attncourse_grader.records.database import in_place_of
from attncourse_grader.records.effective import EffectiveGrade, exercises_in, record_for
from attncourse_grader.safe_text import number, one_line
from attncourse_grader.sentences import SAYS

KEPT = ("identifier", "grade", "most", "modified", "graded", "comments")  # as they came
NAMES = ("name", "Student", "LastName", "FirstName")
MARKS = {"ID": "canvas", "SIS User ID": "id", "SIS Login ID": "user"}
ASSIGNMENT = re.compile(r".+ \(\d+\)")
# What was filled in earlier begins so, and may no longer be true.
FILLED = r"(?m)(^|(?<=>))(<[^>]+>)*(Handed in( \d[\w ]+)? after the deadline[:.]|"
FILLED += r"Changed by hand:|Answers that are not marked yet:|[^<\n]+: Marked by hand)"
FILLED += r"[^<\n]*(</\w+>|<br[^>]*>)*\n?"
AMOUNT = re.compile(r"[-+]?\d+([.,]\d*)?")


def _amount(text: str) -> float | None:
    """Return a number, whichever sign it has before its decimals; None if none."""
    found = AMOUNT.fullmatch(text.strip())
    return float(found[0].replace(",", ".")) if found else None


class Table:
    """A table of a platform, as it was downloaded."""

    def __init__(self, path: Path, book):
        self.name, self.people = path.name, book.people()
        self.head, *self.rows = read_rows(path) or [[]]
        self.rows = [row + [""] * (len(self.head) - len(row)) for row in self.rows]

    def of(self, row: list[str], column: str) -> str:
        """Return a cell of a row, "" where the table has no such column."""
        return row[self.at[column]] if column in self.at else ""

    def name_in(self, row: list[str]) -> str:
        """Return the name in a row."""
        return " ".join(self.of(row, title) for title in NAMES if title in self.at)

    def whose(self) -> list[str]:
        """Return whose each row is, "" where that is not sure.

        What tells best is asked first. A student has one row: where two would be the
        same one's, the next has to tell. Another's name makes nothing sure.
        """
        found: dict[int, Student] = {}
        for way in zip(*map(self.ways, self.rows), strict=True):
            meant = [(k, s) for k, own in enumerate(way) for s in own]
            taken = {*found, *found.values()}
            meant = [pair for pair in meant if taken.isdisjoint(pair)]
            count = Counter(itertools.chain(*meant))
            found |= {k: s for k, s in meant if count[k] == count[s] == 1}
        for k, student in list(found.items()):
            named = self.people.called(self.name_in(self.rows[k]))
            if named and student not in named:
                del found[k]
        return [found[k].student if k in found else "" for k in range(len(self.rows))]

    def make_safe(self, columns, kept) -> None:
        """Keep some columns, and formulas only in those that are `kept`."""

        def safe(k: int, text: str) -> str:
            text = re.sub(r'\\(?="|$)', r"\\ ", text)  # or Moodle reads on
            quoted = cell(text)
            return text if k in kept or quoted == text.strip() else quoted

        self.head = [self.head[k] for k in columns]
        self.rows = [[safe(k, row[k]) for k in columns] for row in self.rows]

    def check_most(self, what: str, text: str, of: list[float]) -> None:
        """Raise `Refused` if the platform has another maximum than the exercise."""
        most = _amount(text)
        if of and most not in (None, of[0]):
            raise Refused(SAYS["maximum"].format(what, number(most), number(of[0])))

    def named(self, said: dict[str, list[str]]) -> list[str]:
        """Return a sentence for each reason that names those whom it concerns."""
        names = {why: ", ".join(sorted({*own} - {""})) for why, own in said.items()}
        own = {SAYS["rows"][why]: each for why, each in names.items() if each}
        return [f"{self.name}: {why}: {each}." for why, each in own.items()]


class Worksheet(Table):
    """Moodle's grading worksheet of one assignment."""

    def __init__(self, path: Path, book, exercise: str):
        super().__init__(path, book)
        query = "SELECT * FROM numbers WHERE exercise = ? AND student NOT IN withdrawn"
        rows = book.rows(query, exercise)
        self.by_number = {(row["moodle"], row["student"]) for row in rows}
        times = book.rows("SELECT * FROM latest WHERE exercise = ?", exercise)
        self.latest = {row["student"]: row["time"] for row in times}
        self.at = {heading(title): k for k, title in reversed([*enumerate(self.head)])}
        # What was found for a row, by name and number of the participant.
        self.filled: dict[tuple[str, str], EffectiveGrade] = {}
        if not {"identifier", "grade", "graded"} <= self.at.keys():
            raise Refused(SAYS["no_worksheet"].format(self.name))
        here = {number_in(self.of(row, "identifier")) for row in self.rows}
        if "group" not in self.at and book.of_another(exercise, here):
            raise Refused(SAYS["other_numbers"].format(self.name, exercise))
        if "scale" in self.at or "most" not in self.at:
            raise Refused(SAYS["scale"].format(self.name))

    def ways(self, row: list[str]) -> list[list[Student]]:
        """Return who is meant by an address, by a hand-in of this exercise, by a name.

        A name alone is not that of somebody who has another address or number.
        """
        number, name = number_in(self.of(row, "identifier")), self.name_in(row)
        # Moodle goes by the number: whose files had it, nobody else is meant.
        if here := {student for known, student in self.by_number if known == number}:
            return [[s for s in self.people.students if s.student in here], []]
        email, known = mark_of(self.of(row, "email")), {s for _, s in self.by_number}
        named = self.people.called(name or blind(number).student)
        rest = [s for s in named if not email or mark_of(s.email) in ("", email)]
        rest = [s for s in rest if not number or s.student not in known]
        return [self.people.marked("email", email), rest]

    def fill(self, grades: dict[str, EffectiveGrade]) -> list[str]:
        """Fill in grades and comments; return what the instructor should know."""
        said, sentences, again = defaultdict(list), [], 0
        for row, student in zip(self.rows, self.whose(), strict=True):
            effective, came = grades.get(student), self.of(row, "modified").strip(" -")
            if came and (effective is None or effective.handin is None):
                name = student or self.name_in(row) or self.of(row, "identifier")
                said["unseen"].append(name)
            with contextlib.suppress(Refused):  # no time, or in another form
                if read_time(came) > self.latest.get(student, float("inf")):
                    said["newer"].append(student)
            if effective is None or effective.total is None:
                said["undone"] += [student] * bool(_amount(self.of(row, "grade")))
                continue
            number_there = number_in(self.of(row, "identifier"))
            self.filled[self.of(row, "name"), number_there] = effective
            self.check_most(self.name, self.of(row, "most"), [effective.of])
            if effective.total > effective.of:
                said["too_many"].append(student)
                continue
            before = _amount(self.of(row, "grade"))
            if before is None or abs(before - effective.total) > 0.005:
                row[self.at["grade"]] = number(effective.total)
                again += before is not None or self.of(row, "graded") not in ("", "-")
                said["nought"] += [student] * (effective.total == 0)
            comment = html.escape(" ".join(effective.remarks()), quote=False)
            if "comments" in self.at:
                others = re.sub(FILLED, "", self.of(row, "comments")).rstrip("\n")
                row[self.at["comments"]] = "\n".join(filter(None, [others, comment]))
        # Names are the students' own to write; Moodle does not read them back.
        kept = {self.at[kind] for kind in KEPT if kind in self.at}
        self.make_safe(range(len(self.head)), kept)
        if again:
            sentences.append(SAYS["again"].format(self.name, again))
        said["no_row"] = grades.keys() - {e.student for e in self.filled.values()}
        return sentences + self.named(said)


def moodle_feedback(book, rows: dict[tuple, EffectiveGrade], path: Path) -> None:
    """Write the zip file of feedback pages for the filled rows of a worksheet."""
    how = "w", zipfile.ZIP_DEFLATED
    with in_place_of(path) as part, zipfile.ZipFile(part, *how) as archive:
        for (name, participant), effective in rows.items():
            record = record_for(book, effective)
            if record is None:
                continue
            name = "".join(" " if c in '_/\\:*?"<>|' else c for c in one_line(name))
            name = name.strip(" .~") or "Participant"
            place = f"{name}_{participant}_assignfeedback_file_/feedback.html"
            text = page("feedback.html", record=record, standing=effective.sentences())
            archive.writestr(place, text)


class CanvasTable(Table):
    """The gradebook of Canvas."""

    def __init__(self, path: Path, book, _):
        super().__init__(path, book)
        self.at = {title.strip(): k for k, title in enumerate(self.head)}
        if "ID" not in self.at or not {"Student", "LastName"} & self.at.keys():
            raise Refused(f"{self.name} is no gradebook as Canvas exports it.")

    def column_of(self, exercise: str, named: str) -> int:
        """Return the place of an exercise's column; only one that is there is filled.

        A heading that Canvas does not know would make a new assignment.
        """
        place, title = exercise.partition("_")[0], exercise_of(exercise).title
        start = re.compile(rf"(exercise|assignment|sheet)\s*{place}\b", re.I)

        def fits(heading: str) -> bool:
            if named:
                return heading.strip() == named.strip()
            return title.lower() in heading.lower() or bool(start.match(heading))

        titles = [t for t in self.head if ASSIGNMENT.fullmatch(t.strip()) and fits(t)]
        if len(titles) != 1:
            raise Refused(SAYS["which_column"].format(self.name, place))
        return self.head.index(titles[0])

    def ways(self, row: list[str]) -> list[list[Student]]:
        """Return who is meant by each number or login, and by the name.

        Nobody is who has another number in Canvas.
        """
        ways = [self.people.marked(k, self.of(row, c)) for c, k in MARKS.items()]
        ways.append(self.people.called(self.name_in(row)))
        own = "", mark_of(self.of(row, "ID"))
        return [[s for s in way if mark_of(s.canvas) in own] for way in ways]

    def fill(self, grades: list[EffectiveGrade], named: dict[str, str]) -> list[str]:
        """Fill in grades; return what the instructor should know."""
        columns, met, said, sentences = {}, set(), defaultdict(list), []
        for exercise in [e for e in exercises_in(grades) if e in named or counts(e)]:
            try:
                columns[exercise] = self.column_of(exercise, named.get(exercise, ""))
            except Refused as question:
                if exercise in named or not named:
                    raise
                sentences.append(f"{question}. It is left out.")
        if idle := ", ".join(named.keys() - columns.keys()):
            raise Refused(f"--column: there are no grades of {idle}. Leave it out.")
        if len({*columns.values()}) < len(columns):
            raise Refused(SAYS["one_column"].format(self.name))
        for exercise, place in columns.items():
            says = SAYS["fills"].format(self.name, self.head[place].strip(), exercise)
            sentences += [says] * (exercise not in named)
        table = {(g.student, g.exercise): g for g in grades}
        for row, student in zip(self.rows, self.whose(), strict=True):
            if not row[self.at["ID"]].strip():  # what assignments have, of all
                for exercise, place in columns.items():
                    of = [g.of for g in grades if g.exercise == exercise]
                    self.check_most(self.head[place], row[place], of)
                continue
            met |= {student}
            for exercise, place in columns.items():
                effective = table.get((student, exercise))
                total = effective.total if effective else None
                before = _amount(row[place])
                said["undone"] += [student] * bool(total is None and before)
                excused = row[place].strip().upper() in ("EX", "N/A")
                # An empty cell where a score was would be a change.
                if total is not None and not excused and total != before:
                    said["replaced"] += [student] * bool(row[place].strip())
                    row[place] = number(total)
        own = [self.at[t] for t in HEADINGS["canvas"]["own"] if t in self.at]
        # What Canvas finds a row by stays, unless a spreadsheet would obey it.
        self.make_safe([*own, *columns.values()], columns.values())
        said["no_row"] = {g.student for g in grades} - met
        said["more"] = {g.student for g in grades if (g.total or 0) > g.of} & met
        said["late"] = {grade.student for grade in grades if grade.penalty}
        return sentences + self.named(said)
