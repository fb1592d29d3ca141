"""Play a term on a simulated Moodle and a simulated Canvas, and check every grade.

    python -m tools.term FOLDER --students 60

Five exercises are handed in, some late, some again; students leave, get more time and
other points; two tasks are marked by hand; a deadline moves, a run is undone, a
solution is broken and repaired. After each step what the platform lets one download is
graded, exported and uploaded. In the end the platform's own gradebook is compared with
grades that are worked out here from what happened, without the grader.
"""

import argparse
import contextlib
import csv
import datetime
import io
import json
import random
import re
import shutil
import sys
import zipfile
from itertools import product
from pathlib import Path

from attncourse_grader.cli import main as attncourse
from attncourse_grader.exercises import exercise_of, modules
from attncourse_grader.records.gradebook import Gradebook
from attncourse_grader.records.marking import MarkingServer
from tools.sample_class import (
    PEOPLE,
    ROOT,
    answer_cells,
    hand_in,
    mail,
    right_answers,
)

START, DAY = datetime.datetime(2026, 10, 5, 9, 0), datetime.timedelta(days=1)
PENALTY = 0.10  # of the points of an exercise, for each day that has begun
VARIANTS = 6  # notebooks that differ, for each exercise
ADJUSTED, EXTENDED, BROKEN, UNDONE, MOVED = "12345"  # the exercises where it happens
NAMES = dict(zip("12345", modules(), strict=False))
MANUAL = {"1": 4, "2": 2}  # points that are given by hand
POINTS = {n: exercise_of(m).points + MANUAL.get(n, 0) for n, m in NAMES.items()}


class Platform:
    """What Moodle and Canvas have in common: people, hand-ins, and grades."""

    def __init__(self, folder, people):
        self.folder, self.people = folder, people  # {name: number}
        self.handed_in = {n: {} for n in NAMES}  # {exercise: {name: (time, data)}}
        self.grades = {n: {} for n in NAMES}
        self.due = {n: START + DAY * 14 * int(n) for n in NAMES}
        folder.mkdir(parents=True)

    def write(self, name, head, rows):
        path = self.folder / name
        with path.open("w", encoding="utf-8-sig", newline="") as file:
            csv.writer(file).writerows([head, *rows])
        return path

    def class_list(self):
        rows = [(name, mail(name), own) for name, own in self.people.items()]
        return self.write("students.csv", ["name", "email", "canvas id"], rows)

    def download(self, exercise):
        """Return the zip file of an exercise."""
        path = self.folder / f"submissions-{exercise}.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, (time, data) in self.handed_in[exercise].items():
                if name in self.people:
                    archive.writestr(self.entry(exercise, name, time), data)
        return path

    def scores(self, name):
        """Return the grades of a student as texts, empty where there is none."""
        found = (self.grades[n].get(name, "") for n in NAMES)
        return [score and f"{score:.2f}" for score in found]


class Moodle(Platform):
    """An assignment module in English whose import skips as the real one does."""

    def own(self, exercise, name):
        """Return the number of a student, which differs from exercise to exercise."""
        return self.people[name] + 7 * int(exercise)

    def entry(self, exercise, name, time):
        return f"{name}_{self.own(exercise, name)}_assignsubmission_file/work.ipynb"

    def times(self, exercise):
        rows = []
        for name in self.people:
            time, _ = self.handed_in[exercise].get(name, (None, None))
            told = f"{time:%A, {time.day} %B %Y, %I:%M %p}" if time else "-"
            score = self.scores(name)[int(exercise) - 1]
            row = [f"Participant {self.own(exercise, name)}", name, mail(name), score]
            rows.append([*row, f"{POINTS[exercise]:.2f}", told, "-"])
        head = ["Identifier", "Full name", "Email address", "Grade", "Maximum Grade"]
        head += ["Last modified (submission)", "Last modified (grade)"]
        return self.write(f"Grades-{exercise}.csv", head, rows)

    def export(self, exercise):
        return [f"{exercise}={self.times(exercise)}"]

    def upload(self, rows, exercise, said):
        """Take in a worksheet, by the rules of importgradeslib.php."""
        whose = {f"Participant {self.own(exercise, k)}": k for k in self.people}
        for row in rows:
            name, text = whose[row["Identifier"]], row["Grade"].replace(" ", "")
            if text and 0 < float(text) <= POINTS[exercise]:
                self.grades[exercise][name] = float(text)
        # What Moodle skips the command has named; it is entered by hand.
        for names in re.findall(r"after the upload: (.*)\.\n", said):
            self.grades[exercise] |= dict.fromkeys(names.split(", "), 0.0)


class Canvas(Platform):
    """A gradebook with one column for each exercise."""

    def entry(self, exercise, name, time):
        first, last = name.lower().split()
        late = "LATE_" if time > self.due[exercise] else ""
        file = int(time.timestamp()) // 60
        return f"{last}{first}_{late}{self.people[name]}_{file}_work.ipynb"

    def times(self, exercise):
        handed_in = self.handed_in[exercise].items()
        when = {name: time.astimezone().isoformat() for name, (time, _) in handed_in}
        here = [(own, when.get(name)) for name, own in self.people.items()]
        listed = [{"user_id": own, "submitted_at": time} for own, time in here if time]
        path = self.folder / f"submissions-{exercise}.json"
        path.write_text(json.dumps(listed))
        return path

    def heading(self, exercise):
        return f"Exercise {exercise} ({900 + int(exercise)})"

    def export(self, exercise):
        head = ["Student", "ID", "SIS Login ID", "Section", *map(self.heading, NAMES)]
        points = [f"{points:.2f}" for points in POINTS.values()]
        rows = [["    Points Possible", "", "", "", *points, "(read only)"]]
        for name, own in self.people.items():
            shown = ", ".join(reversed(name.split()))
            rows.append([shown, own, mail(name), "A", *self.scores(name), ""])
        table = self.write("gradebook.csv", [*head, "Final Score"], rows)
        return [table, "--column", f"{exercise}={self.heading(exercise)}"]

    def upload(self, rows, exercise, said):
        """Take in a gradebook; a heading that is not known would be a new column."""
        known = {self.heading(n): n for n in NAMES}
        whose = {str(own): name for name, own in self.people.items()}
        for row in filter(lambda row: row["ID"], rows):
            assert {k for k in row if k.startswith("Exercise")} <= set(known)
            for heading, n in known.items():
                if text := row.get(heading, ""):
                    self.grades[n][whose[row["ID"]]] = float(text)


def variants(exercise, draw):
    """Return (notebook, points of what is answered rightly, is there code to read)."""
    name, found = NAMES[exercise], []
    right, tasks = right_answers(name), exercise_of(name).tasks
    for place in range(VARIANTS):
        known = [t for t in tasks if place != 1 and (place == 0 or draw.random() < 0.6)]
        notebook = hand_in(name, {t.name: right[t.name] for t in known})
        notebook["metadata"]["copy"] = place
        worth = sum(task.points for task in known)
        found.append((json.dumps(notebook).encode(), worth, tasks[0] in known))
    return found


def solutions_with_tasks_to_mark(folder):
    """Copy the solutions; of some exercises the first answer is marked by hand, too."""
    shutil.copytree(ROOT / "solutions", folder)
    for exercise, points in MANUAL.items():
        path = folder / f"{NAMES[exercise]}.ipynb"
        notebook = json.loads(path.read_text("utf8"))
        _, cell = next(answer_cells(notebook))
        cell["metadata"]["attncourse"]["manual"] = points
        path.write_text(json.dumps(notebook), "utf8")
    return folder


class Term:
    """One term on one platform, and what every grade has to be."""

    def __init__(self, kind, folder, count):
        self.draw = random.Random(1)
        first, last = zip(*(p.split() for p in PEOPLE.split(",")), strict=True)
        names = [f"{a} {b}" for a in first for b in last]
        self.draw.shuffle(names)
        people = {name: 1000 + k for k, name in enumerate(names[:count])}
        self.platform = kind(folder / "platform", people)
        self.grades = folder / "grades"
        self.solutions = solutions_with_tasks_to_mark(folder / "solutions")
        # {(exercise, name): {data: (time, worth, read)}}, deadlines, points, commands
        self.events, self.until, self.by_hand, self.log = {}, {}, {}, []
        self.marks = {}  # {(exercise, name): points}

    def command(self, *words):
        """Call a command on the folder of grades and return what it said."""
        words, out = [*map(str, words)], io.StringIO()
        words += ["--out" if words[0] == "grade" else "--grades", str(self.grades)]
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            attncourse(words)
        said = re.sub(r".*notebook/s\]", "", out.getvalue())
        self.log.append(f"$ attncourse {' '.join(words)}\n{said}")
        return said

    def hand_in(self, exercise, name, time, made):
        data, *facts = self.draw.choice(made)
        events = self.events.setdefault((exercise, name), {})
        before, *_ = events.pop(data, [time])  # the same again is as early as it was
        events[data] = min(time, before), *facts
        self.platform.handed_in[exercise][name] = time, data

    def grade(self, exercise, *more):
        """Download, grade, and upload what the command makes of it."""
        platform = self.platform
        said = self.command(
            *("grade", platform.download(exercise), "--solutions", self.solutions),
            *("--secret", "term", "--students", platform.class_list()),
            *("--penalty", f"{PENALTY:.0%}/day"),
            *("--times", f"{exercise}={platform.times(exercise)}"),
            *("--deadline", f"{exercise}={platform.due[exercise].isoformat()}", *more),
        )
        self.export(exercise)
        return said

    def export(self, exercise):
        said = self.command("export", *self.platform.export(exercise))
        (path,) = [p for p in said.splitlines() if Path(p).name.startswith("filled-")]
        rows = csv.DictReader(io.StringIO(Path(path).read_text("utf-8-sig")))
        self.platform.upload(rows, exercise, said)

    def mark(self):
        """Mark by hand what waits for it."""
        path = self.grades / "gradebook.sqlite"
        with MarkingServer(path, anonymous=False) as server, Gradebook(path) as book:
            for shown, grade, mark in server.answers(book):
                if shown["marked"]:
                    continue
                points = self.draw.choice([0, 0.5, mark.of])
                sent = {"id": shown["id"], "hash": shown["hash"], "comment": "Read."}
                assert server.keep(sent | {"points": points}) == ""
                self.marks[grade.exercise[0], grade.student] = points

    def expected(self, exercise, name):
        """Work out a grade from what happened."""
        place, of = (exercise, name), POINTS[exercise]
        by_hand = self.by_hand.get(place)
        if place not in self.events:
            return by_hand
        time, worth, read = list(self.events[place].values())[-1]
        worth += read and self.marks.get(place, 0)
        due = self.until.get(place, self.platform.due[exercise])
        if isinstance(self.platform, Moodle):  # it shows minutes, and forgives the rest
            time = time.replace(second=0)
        days = max(0, -(-(time - due).total_seconds() // 86400))
        graded = max(0.0, worth - min(of, days * PENALTY * of))
        return round(max(0.0, graded + (by_hand or 0.0)), 2)

    def play(self, exercise):
        """Play two weeks: an exercise is handed in, graded twice and marked."""
        draw, platform = self.draw, self.platform
        made, due = variants(exercise, draw), platform.due[exercise]
        here = list(platform.people)
        for name in draw.sample(here, round(len(here) * 0.85)):
            self.hand_in(exercise, name, due - DAY * draw.uniform(0.01, 6), made)
        self.grade(exercise)
        for name in draw.sample(here, len(here) // 5):  # late, new or again
            self.hand_in(exercise, name, due + DAY * draw.uniform(0.001, 3), made)
        if exercise == UNDONE:
            self.undo_a_mistake(exercise)
        if exercise == BROKEN:
            self.grade_with_broken_solution(exercise)
        if exercise == MOVED:
            platform.due[exercise] += DAY * 2
        self.grade(exercise)
        self.mark()
        for name in draw.sample(here, 4) if exercise == EXTENDED else ():
            self.until[exercise, name] = until = due + DAY * 2
            self.command("extend", mail(name), exercise, until.isoformat())
        for name in draw.sample(here, 8) if exercise == ADJUSTED else ():
            points, had = draw.choice([-1, 0.5, 1]), self.expected(exercise, name)
            if had is not None and 0 <= had + points <= POINTS[exercise]:
                self.by_hand[exercise, name] = points
                words = f"{points:+g}", "--reason", "read by hand"
                self.command("adjust", mail(name), exercise, *words)
        self.export(exercise)
        if exercise == "3":
            for name in draw.sample(here, 3):
                del platform.people[name]

    def undo_a_mistake(self, exercise):
        """Grade with the worksheet of another week, and undo it."""
        wrong, before = f"{exercise}={self.platform.times('1')}", self.standing()
        self.grade(exercise, "--times", wrong, "--deadline", "2020-01-01")
        self.command("undo", re.findall(r"run (\d+)", self.command("undo"))[-1])
        assert self.standing() == before

    def grade_with_broken_solution(self, exercise):
        """Grade with a solution that does not run: nobody loses a grade."""
        path, before = self.solutions / f"{NAMES[exercise]}.ipynb", self.standing()
        right = path.read_text("utf8")
        path.write_text(right.replace("return", "return nonsense +"), "utf8")
        assert "nothing is graded of it" in self.grade(exercise)
        assert self.standing() == before
        path.write_text(right, "utf8")

    def standing(self):
        self.command("export")
        return (self.grades / "tasks.csv").read_text()

    def differences(self):
        """Return what the platform's gradebook has and should not have."""
        found = []
        for exercise, name in product(NAMES, self.platform.people):
            had = self.platform.grades[exercise].get(name)
            want = self.expected(exercise, name)
            if had != want:
                found.append(f"{name}, exercise {exercise}: {had}, not {want}")
        return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--students", type=int, default=60, help="8 or more")
    options, wrong = parser.parse_args(), []
    for kind in (Moodle, Canvas):
        folder = options.folder.resolve() / kind.__name__.lower()
        shutil.rmtree(folder, ignore_errors=True)
        term = Term(kind, folder, options.students)
        try:
            for exercise in NAMES:
                term.play(exercise)
        finally:
            (folder / "commands.txt").write_text("\n".join(term.log))
        found, counted = (
            term.differences(),
            sum(map(len, term.platform.grades.values())),
        )
        said = f"{kind.__name__}: {len(term.log)} commands, {counted} grades in the "
        said += f"gradebook, {len(found)} differ from the independent computation."
        print(said, *found, sep="\n")
        wrong += found
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
