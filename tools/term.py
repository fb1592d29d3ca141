"""Play a term on a simulated Moodle and a simulated Canvas, and check every grade.

    python -m tools.term FOLDER --students 60

Five exercises are handed in, some late, some again, some damaged; students leave, get
more time and other points; two tasks are marked by hand; a deadline moves, a run is
undone, a solution is broken and repaired. After each step what the
platform lets one download is graded, exported and uploaded. In the end the platform's
own gradebook is compared with grades that are worked out here from what happened,
without the grader.
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
from pathlib import Path

from attncourse_grader.cli import main as attncourse
from attncourse_grader.exercises import exercise_of, modules
from attncourse_grader.records.gradebook import Gradebook
from attncourse_grader.records.marking import MarkingServer
from tools.sample_class import PEOPLE, ROOT, answer_cells, hand_in, right_answers

START = datetime.datetime(2026, 10, 5, 9, 0)
DAY = datetime.timedelta(days=1)
PENALTY = 0.10  # of the points of an exercise, for each day that has begun
VARIANTS = 6  # notebooks that differ, for each exercise
UNDONE, MOVED, EXTENDED, ADJUSTED = "4", "5", "2", ("1", "5")  # where it happens
WORDS, READ, BROKEN = "1", "2", "3"  # a task in words, code that is read, a mistake
LEAVING = 3  # how many leave after the third exercise
NAMES = dict(zip("12345", modules(), strict=False))
WORKSHEET = ["Identifier", "Full name", "Email address", "Status", "Grade"]
WORKSHEET += ["Maximum Grade", "Grade can be changed", "Last modified (submission)"]
WORKSHEET += ["Last modified (grade)"]
MANUAL = {WORDS: 4, READ: 2}  # points that are given by hand
POINTS = {n: exercise_of(m).points + MANUAL.get(n, 0) for n, m in NAMES.items()}


def shown(points):
    return "" if points is None else f"{points:.2f}"


def zipped(path, files, moment=(2026, 10, 5, 9, 0, 0)):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, moment), data)
    return path


class Platform:
    """What Moodle and Canvas have in common: people, hand-ins, and grades."""

    def __init__(self, folder, people, draw):
        self.folder, self.people = folder, people  # {number: (name, email)}
        self.handed_in = {n: {} for n in NAMES}  # {exercise: {number: (time, data)}}
        self.grades = {n: {} for n in NAMES}
        self.due = {n: START + DAY * 14 * int(n) for n in NAMES}
        self.changed = {n: {} for n in NAMES}  # when grades were changed
        # Moodle gives other numbers in each assignment.
        ids = range(100, 100 + 3 * len(people))
        drawn = {n: draw.sample(ids, len(people)) for n in NAMES}
        self.ids = {n: dict(zip(people, drawn[n], strict=True)) for n in NAMES}
        folder.mkdir(parents=True)

    def write(self, name, head, rows):
        path = self.folder / name
        with path.open("w", encoding="utf-8-sig", newline="") as file:
            csv.writer(file).writerows([head, *rows])
        return path

    def class_list(self):
        rows = [(name, mail, k) for k, (name, mail) in self.people.items()]
        return self.write("students.csv", ["name", "email", "canvas id"], rows)

    def download(self, exercise, now):
        """Return the zip file of an exercise; the times in it are the download's."""
        files = {}
        for number, (time, data) in self.handed_in[exercise].items():
            if number in self.people:
                ending = "zip" if data[:2] == b"PK" else "ipynb"
                files[f"{self.entry(exercise, number, time)}.{ending}"] = data
        path = self.folder / f"submissions-{exercise}.zip"
        return zipped(path, files, now.timetuple()[:6])


class Moodle(Platform):
    """An assignment module in English whose import skips as the real one does."""

    def entry(self, exercise, number, time):
        name, own = self.people[number][0], self.ids[exercise][number]
        return f"{name}_{own}_assignsubmission_file/work"

    def told(self, time):
        return f"{time:%A}, {time.day} {time:%B %Y}, {time:%I:%M %p}" if time else "-"

    def times(self, exercise):
        rows = []
        for number, (name, mail) in self.people.items():
            row = [f"Participant {self.ids[exercise][number]}", name, mail, "Submitted"]
            row += [shown(self.grades[exercise].get(number)), shown(POINTS[exercise])]
            row += ["Yes", self.told(self.handed_in[exercise].get(number, [None])[0])]
            rows.append([*row, self.told(self.changed[exercise].get(number))])
        return self.write(f"Grades-{exercise}.csv", WORKSHEET, rows)

    def export(self, exercise):
        return [f"{exercise}={self.times(exercise)}"]

    def upload(self, rows, exercise, said, now):
        """Take in a worksheet, by the rules of importgradeslib.php."""
        tick = "Allow updating records" in said
        grades, changed = self.grades[exercise], self.changed[exercise]
        whose = {f"Participant {i}": k for k, i in self.ids[exercise].items()}
        for row in rows:
            number, text = whose[row["Identifier"]], row["Grade"].replace(" ", "")
            told = self.told(changed.get(number))
            stale = number in changed and row["Last modified (grade)"] != told
            if not text or not 0 < float(text) <= POINTS[exercise]:
                continue
            if float(text) != grades.get(number) and (tick or not stale):
                grades[number], changed[number] = float(text), now
        # What Moodle skips the command has named; it is entered by hand.
        for names in re.findall(r"after the upload: (.*)\.\n", said):
            for number, (name, mail) in self.people.items():
                if {name, f"{name} ({mail})"} & set(names.split(", ")):
                    grades[number] = 0.0


class Canvas(Platform):
    """A gradebook with one column for each exercise."""

    def entry(self, exercise, number, time):
        first, last = self.people[number][0].lower().split(" ", 1)
        late = "LATE_" if time > self.due[exercise] else ""
        return f"{last}{first}_{late}{number}_{self.file(time)}_work"

    def file(self, time):
        return int(time.timestamp()) // 60

    def times(self, exercise):
        listed = [
            {
                "user_id": number,
                "submitted_at": time.astimezone().isoformat(),
                "attachments": [{"id": self.file(time)}],
            }
            for number, (time, _) in self.handed_in[exercise].items()
        ]
        path = self.folder / f"submissions-{exercise}.json"
        path.write_text(json.dumps(listed))
        return path

    def heading(self, exercise):
        return f"Exercise {exercise} ({900 + int(exercise)})"

    def export(self, exercise):
        head = ["Student", "ID", "SIS Login ID", "Section", *map(self.heading, NAMES)]
        points = map(shown, POINTS.values())
        rows = [["    Points Possible", "", "", "", *points, "(read only)"]]
        for number, (name, mail) in self.people.items():
            first, last = name.split(" ", 1)
            texts = [shown(self.grades[n].get(number)) for n in NAMES]
            rows.append([f"{last}, {first}", number, mail, "A", *texts, ""])
        table = self.write("gradebook.csv", [*head, "Final Score"], rows)
        column = f"{exercise}={self.heading(exercise)}"
        return [table, "--column", column]

    def upload(self, rows, exercise, said, now):
        """Take in a gradebook; a heading that is not known would be a new column."""
        known = {self.heading(n): n for n in NAMES}
        for row in filter(lambda row: row["ID"], rows):
            assert not [k for k in row if k.startswith("Exercise") and k not in known]
            for heading, n in known.items():
                if text := row.get(heading, ""):
                    self.grades[n][int(row["ID"])] = float(text)


def variants(exercise, draw):
    """Return (notebook, points of the tasks answered rightly, what is to be read)."""
    name, found = NAMES[exercise], []
    right, tasks = right_answers(name), exercise_of(name).tasks
    for place in range(VARIANTS):
        known = [t for t in tasks if place != 1 and (place == 0 or draw.random() < 0.6)]
        notebook = hand_in(name, {t.name: right[t.name] for t in known})
        notebook["metadata"]["copy"] = place
        worth, read = sum(task.points for task in known), ""
        if exercise == WORDS:
            read = f"The variance grows, as was said on page {place}." * (place != 1)
            notebook["cells"].append(in_words(read))
        if exercise == READ and tasks[0] in known:
            read = "code"
        found.append((json.dumps(notebook).encode(), worth, read))
    return found


def in_words(text, **more):
    mark = {"answer": "why", "kind": "text", **more}
    cell = {"cell_type": "markdown", "id": "why", "source": text}
    return cell | {"metadata": {"attncourse": mark}}


def solutions_with_tasks_to_mark(folder):
    """Copy the solutions, with a task in words and one whose code is read, too."""
    shutil.copytree(ROOT / "solutions", folder)
    for exercise, points in MANUAL.items():
        path = folder / f"{NAMES[exercise]}.ipynb"
        notebook = json.loads(path.read_text("utf8"))
        if exercise == WORDS:
            notebook["cells"].append(in_words("", title="Why?", manual=points))
        else:
            _, cell = next(answer_cells(notebook))
            cell["metadata"]["attncourse"]["manual"] = points
        path.write_text(json.dumps(notebook), "utf8")
    return folder


class Term:
    """One term on one platform, and what every grade has to be."""

    def __init__(self, kind, folder, count, draw):
        first, last = zip(*(p.split() for p in PEOPLE.split(",")), strict=True)
        names = [f"{a} {b}" for a in first for b in last]
        draw.shuffle(names)
        if kind is Moodle:  # two people with one name
            names[1] = names[0]
        people = {1000 + k: (names[k], f"s{k}@uni.example") for k in range(count)}
        self.platform, self.draw = kind(folder / "platform", people, draw), draw
        self.grades = folder / "grades"
        self.solutions = solutions_with_tasks_to_mark(folder / "solutions")
        # {(exercise, number): {data: (time, worth, read)}}, deadlines, points, commands
        self.events, self.until, self.by_hand, self.log = {}, {}, {}, []
        self.marks = {}  # {(exercise, number, what was read): points}

    def command(self, *words):
        """Call a command and return what it said."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            attncourse(list(map(str, words)))
        said = re.sub(r".*notebook/s\]", "", out.getvalue())
        self.log.append(f"$ attncourse {' '.join(map(str, words))}\n{said}")
        return said

    def change(self, command, number, exercise, *words):
        mail = self.platform.people[number][1]
        self.command(command, mail, exercise, *words, "--grades", self.grades)

    def hand_in(self, exercise, number, time, kind, made):
        variant, *facts = self.draw.choice(made)
        data = variant
        if kind == "damaged":
            data = data[: len(data) // 2]
        else:  # the same notebook again is as early as it was
            events = self.events.setdefault((exercise, number), {})
            before = events.pop(variant, (time,))[0]
            events[variant] = min(time, before), *facts
        if kind == "zip":  # whose names are of somebody else
            other = next(k for k in self.platform.people if k != number)
            name = f"{self.platform.entry(exercise, other, time)}.ipynb"
            data = zipped(io.BytesIO(), {name: data}).getvalue()
        self.platform.handed_in[exercise][number] = time, data

    def grade(self, exercise, now, *more):
        """Download, grade, and upload what the command makes of it."""
        platform = self.platform
        said = self.command(
            *("grade", platform.download(exercise, now), "--out", self.grades),
            *("--solutions", self.solutions, "--secret", "term"),
            *("--students", platform.class_list(), "--penalty", f"{PENALTY:.0%}/day"),
            *("--times", f"{exercise}={platform.times(exercise)}"),
            *("--deadline", f"{exercise}={platform.due[exercise].isoformat()}", *more),
        )
        self.export(exercise, now)
        return said

    def export(self, exercise, now):
        words = self.platform.export(exercise)
        said = self.command("export", *words, "--grades", self.grades)
        (path,) = [p for p in said.splitlines() if Path(p).name.startswith("filled-")]
        rows = csv.DictReader(io.StringIO(Path(path).read_text("utf-8-sig")))
        self.platform.upload(rows, exercise, said, now)

    def mark(self):
        """Mark by hand what waits for it."""
        here = {}
        for number, (name, mail) in self.platform.people.items():
            here |= {name: number, f"{name} ({mail})": number}
        path = self.grades / "gradebook.sqlite"
        with MarkingServer(path, anonymous=False) as server, Gradebook(path) as book:
            for shown, grade, mark in server.answers(book):
                if shown["marked"]:
                    continue
                points = self.draw.choice([0, 0.5, mark.of])
                sent = {"points": points, "comment": "Read."}
                sent["shown"] = [shown[key] for key in ("points", "marked", "comment")]
                known = {"id": shown["id"], "hash": shown["hash"]}
                assert server.keep(sent | known) == ""
                exercise = grade.exercise[0]
                read = shown["text"] if exercise == WORDS else "code"
                self.marks[exercise, here[grade.student], read] = points

    def grade_with_broken_solution(self, exercise, now):
        """Grade with a solution that does not run: nobody loses a grade."""
        path, before = self.solutions / f"{NAMES[exercise]}.ipynb", self.standing()
        right = path.read_text("utf8")
        path.write_text(right.replace("return", "return nonsense +"), "utf8")
        assert "nothing is graded of it" in self.grade(exercise, now)
        assert self.standing() == before
        path.write_text(right, "utf8")

    def expected(self, exercise, number):
        """Work out a grade from what happened."""
        place, of = (exercise, number), POINTS[exercise]
        by_hand = self.by_hand.get(place)
        if place not in self.events:
            return by_hand
        time, worth, read = list(self.events[place].values())[-1]
        worth += self.marks.get((exercise, number, read), 0)
        due = self.until.get(place, self.platform.due[exercise])
        if isinstance(self.platform, Moodle):  # it shows minutes, and forgives the rest
            time = time.replace(second=0)
        due += datetime.timedelta(seconds=59)  # to the end of its minute
        days = max(0, -(-(time - due).total_seconds() // 86400))
        graded = max(0.0, worth - min(of, days * PENALTY * of))
        return round(max(0.0, graded + (by_hand or 0.0)), 4)

    def play(self):
        draw, platform = self.draw, self.platform
        for exercise in NAMES:
            made, due = variants(exercise, draw), platform.due[exercise]
            here, now = list(platform.people), due + DAY
            for number in here:
                if draw.random() < 0.85:
                    time = due - DAY * draw.uniform(0.01, 6)
                    kind = "zip" if draw.random() < 0.05 else "plain"
                    self.hand_in(exercise, number, time, kind, made)
            self.grade(exercise, now)
            for number in draw.sample(here, len(here) // 5):  # late, new or again
                time = due + DAY * draw.uniform(0.001, 3)
                kind = "damaged" if draw.random() < 0.2 else "plain"
                self.hand_in(exercise, number, time, kind, made)
            now += DAY * 4
            if exercise == UNDONE:  # the worksheet of another week
                wrong, before = f"{exercise}={platform.times('1')}", self.standing()
                self.grade(exercise, now, "--times", wrong, "--deadline", "2020-01-01")
                runs = self.command("undo", "--grades", self.grades)
                last = re.findall(r"run (\d+)", runs)[-1]
                self.command("undo", last, "--grades", self.grades)
                assert self.standing() == before
            if exercise == BROKEN:
                self.grade_with_broken_solution(exercise, now)
            if exercise == MOVED:
                platform.due[exercise] += DAY * 2
            self.grade(exercise, now)
            self.mark()
            for number in draw.sample(here, 4) if exercise == EXTENDED else ():
                self.until[exercise, number] = until = due + DAY * 2
                self.change("extend", number, exercise, until.isoformat())
            for number in draw.sample(here, min(12, len(here))):
                points, had = draw.choice([-1, 0.5, 1]), self.expected(exercise, number)
                most = POINTS[exercise] - points
                if exercise in ADJUSTED and had is not None and -points <= had <= most:
                    self.by_hand[exercise, number] = points
                    words = f"{points:+g}", "--reason", "read by hand"
                    self.change("adjust", number, exercise, *words)
            self.export(exercise, now + DAY)
            if exercise == "3":
                for number in draw.sample(here, LEAVING):
                    del platform.people[number]
        return self.differences()

    def standing(self):
        self.command("export", "--grades", self.grades)
        return (self.grades / "tasks.csv").read_text()

    def differences(self):
        """Return what the platform's gradebook has and should not have."""
        found = []
        for exercise, have in self.platform.grades.items():
            for number, (name, _) in self.platform.people.items():
                had, want = have.get(number), self.expected(exercise, number)
                both = had is not None and want is not None
                if not (abs(had - want) < 0.006 if both else had is want):
                    found.append(f"{name}, exercise {exercise}: {had}, not {want}")
        return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--students", type=int, default=60)
    options, wrong = parser.parse_args(), []
    for kind in (Moodle, Canvas):
        folder = options.folder.resolve() / kind.__name__.lower()
        shutil.rmtree(folder, ignore_errors=True)
        term = Term(kind, folder, options.students, random.Random(1))
        try:
            found = term.play()
        finally:
            (folder / "commands.txt").write_text("\n".join(term.log))
        counted = sum(map(len, term.platform.grades.values()))
        said = f"{len(term.log)} commands, {counted} grades in the gradebook"
        differ = f"{len(found)} differ from the independent computation."
        print(f"{kind.__name__}: {said}, {differ}", *found)
        wrong += found
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
