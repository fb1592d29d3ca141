"""Play a term on a simulated Moodle and a simulated Canvas, and check every grade.

    python -m tools.term FOLDER --students 60

Five exercises are handed in, some late, some again, some damaged; students leave, get
more time and are graded by hand; a deadline moves, a solution is broken and mended, a
run is undone. After each step what the platform lets one download is graded, exported
and uploaded. In the end the platform's own gradebook is compared with grades that are
worked out here from what happened, without the grader.
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
from tools.sample_class import PEOPLE, ROOT, hand_in, right_answers

START = datetime.datetime(2026, 10, 5, 9, 0)
DAY = datetime.timedelta(days=1)
PENALTY = 0.10  # of the points of an exercise, for each day that has begun
VARIANTS = 6  # notebooks that differ, for each exercise
MANUAL = ("1", "5")  # exercises with a task that is marked by hand
BROKEN, UNDONE, MOVED, EXTENDED = "3", "4", "5", "2"  # in which exercise it happens
LEAVING = 3  # students who leave, after the third exercise


class Platform:
    """What Moodle and Canvas have in common: people, hand-ins, and grades."""

    def __init__(self, folder, people, draw):
        self.folder, self.draw = folder, draw
        self.people = people  # {number: (name, email)}
        self.handed_in = {n: {} for n in "12345"}  # {exercise: {number: (time, data)}}
        self.grades = {n: {} for n in "12345"}
        self.due = {n: START + DAY * 14 * int(n) for n in "12345"}
        folder.mkdir(parents=True)

    def write_class_list(self):
        rows = [["name", "email", "canvas id"]]
        rows += [[name, mail, str(k)] for k, (name, mail) in self.people.items()]
        return self.write("students.csv", rows)

    def write(self, name, rows):
        path = self.folder / name
        with path.open("w", encoding="utf-8-sig", newline="") as file:
            csv.writer(file).writerows(rows)
        return path

    def zipped(self, exercise, now):
        path = self.folder / f"submissions-{exercise}.zip"
        moment = now.timetuple()[:6]  # the download's, for every entry
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for number, (time, data) in self.handed_in[exercise].items():
                if number in self.people:
                    name = self.entry(exercise, number, time, data)
                    archive.writestr(zipfile.ZipInfo(name, moment), data)
        return path


class Moodle(Platform):
    """An assignment module in English whose import skips as the real one does."""

    form = "moodle"

    def __init__(self, *arguments):
        super().__init__(*arguments)
        ids = list(range(100, 100 + 3 * len(self.people)))
        self.ids = {}
        for exercise in "12345":  # other numbers in each assignment
            self.draw.shuffle(ids)
            self.ids[exercise] = dict(zip(self.people, ids, strict=False))
        self.changed = {n: {} for n in "12345"}
        self.comments = {n: {} for n in "12345"}

    def entry(self, exercise, number, time, data):
        name, _ = self.people[number]
        ending = "zip" if data[:2] == b"PK" else "ipynb"
        own = self.ids[exercise][number]
        return f"{name}_{own}_assignsubmission_file/work.{ending}"

    def told(self, time):
        return f"{time:%A}, {time.day} {time:%B %Y}, {time:%I:%M %p}" if time else "-"

    def times(self, exercise, now):
        return self.table(exercise)

    def table(self, exercise):
        head = ["Identifier", "Full name", "Email address", "Status", "Grade"]
        head += ["Maximum Grade", "Grade can be changed", "Last modified (submission)"]
        rows = [[*head, "Last modified (grade)", "Feedback comments"]]
        for number, (name, mail) in self.people.items():
            grade = self.grades[exercise].get(number)
            rows.append(
                [
                    f"Participant {self.ids[exercise][number]}",
                    name,
                    mail,
                    "Submitted for grading",
                    "" if grade is None else f"{grade:.2f}",
                    f"{points_of(exercise):.2f}",
                    "Yes",
                    self.told(self.handed_in[exercise].get(number, (None,))[0]),
                    self.told(self.changed[exercise].get(number)),
                    self.comments[exercise].get(number, ""),
                ]
            )
        return self.write(f"Grades-{exercise}.csv", rows)

    def upload(self, path, exercise, said, now):
        """Take in a worksheet, by the rules of importgradeslib.php."""
        tick = "Allow updating records" in said
        whose = {f"Participant {i}": k for k, i in self.ids[exercise].items()}
        for row in csv.DictReader(io.StringIO(path.read_text("utf-8-sig"))):
            number = whose[row["Identifier"]]
            if row["Feedback comments"] != self.comments[exercise].get(number, ""):
                self.comments[exercise][number] = row["Feedback comments"]
            changed = self.changed[exercise].get(number)
            stale = changed and row["Last modified (grade)"] != self.told(changed)
            text = row["Grade"].replace(" ", "")
            grade = float(text) if text else None
            before = self.grades[exercise].get(number)
            if grade is None or grade <= 0 or grade > points_of(exercise):
                continue
            if grade == before or (stale and not tick):
                continue
            self.grades[exercise][number] = grade
            self.changed[exercise][number] = now
        # What Moodle skips the command has named; it is entered by hand.
        for names in re.findall(r"after the upload: (.*)\.\n", said):
            for number, (name, mail) in self.people.items():
                if {name, f"{name} ({mail})"} & set(names.split(", ")):
                    self.grades[exercise][number] = 0.0


class Canvas(Platform):
    """A gradebook with one column for each exercise."""

    form = "canvas"

    def entry(self, exercise, number, time, data):
        name, _ = self.people[number]
        first, last = name.split(" ", 1)
        late = "_LATE" if time > self.due[exercise] else ""
        ending = "zip" if data[:2] == b"PK" else "ipynb"
        file = int(time.timestamp()) // 60
        return f"{last}{first}{late}_{number}_{file}_work.{ending}".lower().replace(
            "_late_", "_LATE_"
        )

    def times(self, exercise, now):
        listed = [
            {"user_id": k, "submitted_at": f"{time.astimezone().isoformat()}"}
            for k, (time, _) in self.handed_in[exercise].items()
        ]
        path = self.folder / f"submissions-{exercise}.json"
        path.write_text(json.dumps(listed))
        return path

    def heading(self, exercise):
        return f"Exercise {exercise} ({900 + int(exercise)})"

    def table(self, exercise):
        head = ["Student", "ID", "SIS Login ID", "Section"]
        rows = [[*head, *map(self.heading, "12345"), "Final Score"]]
        points = [f"{points_of(n):.2f}" for n in "12345"]
        rows.append(["    Points Possible", "", "", "", *points, "(read only)"])
        for number, (name, mail) in self.people.items():
            first, last = name.split(" ", 1)
            scores = [self.grades[n].get(number) for n in "12345"]
            texts = ["" if s is None else f"{s:.2f}" for s in scores]
            rows.append([f"{last}, {first}", number, mail, "A", *texts, ""])
        return self.write("gradebook.csv", rows)

    def upload(self, path, exercise, said, now):
        """Take in a gradebook; a heading that is not known would be a new column."""
        for row in csv.DictReader(io.StringIO(path.read_text("utf-8-sig"))):
            if not row["ID"]:
                continue
            for n in "12345":
                if text := row.get(self.heading(n), ""):
                    self.grades[n][int(row["ID"])] = float(text)
            known = {self.heading(n) for n in "12345"}
            assert not [k for k in row if k.startswith("Exercise") and k not in known]


def points_of(exercise):
    return exercise_of(list(modules())[int(exercise) - 1]).points


def variants(exercise, draw):
    """Return notebooks with the points that each is worth: what is answered rightly."""
    name = list(modules())[int(exercise) - 1]
    right, tasks = right_answers(name), exercise_of(name).tasks
    found = []
    for place in range(VARIANTS):
        known = [t for t in tasks if place == 0 or draw.random() < 0.6]
        if place == 1:
            known = []
        chosen = {t.name: right[t.name] for t in known}
        notebook = hand_in(name, chosen)
        notebook["metadata"]["copy"] = place
        worth = sum(t.points for t in known)
        found.append((json.dumps(notebook).encode(), worth))
    return found


class Term:
    """One term on one platform, and what every grade has to be."""

    def __init__(self, kind, folder, count, draw):
        names = [" ".join(p.split()) for p in PEOPLE.split(",")]
        first, last = zip(*(name.split() for name in names), strict=True)
        pairs = [f"{a} {b}" for a in first for b in last]
        draw.shuffle(pairs)
        if kind is Moodle:  # two people with one name
            pairs[1] = pairs[0]
        people = {
            1000 + k: (name, f"s{k}@uni.example")
            for k, name in enumerate(pairs[:count])
        }
        self.platform = kind(folder / "platform", people, draw)
        self.folder, self.draw, self.grades = folder, draw, folder / "grades"
        self.solutions = shutil.copytree(ROOT / "solutions", folder / "solutions")
        self.events = {
            n: {} for n in "12345"
        }  # {exercise: {number: {data: (time, worth)}}}
        self.until, self.by_hand, self.log = {}, {}, []

    def command(self, *words):
        """Call a command and return what it said."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            status = attncourse(list(map(str, words)))
        said = re.sub(r".*notebook/s\]", "", out.getvalue())
        self.log.append((words, status, said))
        return said

    def called(self, number):
        """Return how the gradebook calls a person."""
        name, mail = self.platform.people[number]
        same = [n for n, _ in self.platform.people.values()].count(name) > 1
        return mail if same else name

    def hand_in(self, exercise, number, time, variant, kind="plain"):
        data, worth = variant
        if kind == "damaged":
            data, worth = data[: len(data) // 2], None
        if kind == "zip":  # whose names are of somebody else
            other = next(k for k in self.platform.people if k != number)
            name = self.platform.entry(exercise, other, time, b"")
            packed = io.BytesIO()
            with zipfile.ZipFile(packed, "w") as archive:
                archive.writestr(name, data)
            data = packed.getvalue()
        self.platform.handed_in[exercise][number] = (time, data)
        if worth is not None:
            events = self.events[exercise].setdefault(number, {})
            # The same notebook again is as early as it was.
            events[variant[0]] = min(time, events.pop(variant[0], (time,))[0]), worth

    def grade(self, exercise, now, *more):
        """Download, grade, and upload what the command makes of it."""
        platform, path = self.platform, self.platform.zipped(exercise, now)
        said = self.command(
            *("grade", path, "--out", self.grades, "--solutions", self.solutions),
            *("--students", platform.write_class_list(), "--secret", "term"),
            *("--times", f"{exercise}={platform.times(exercise, now)}"),
            *("--deadline", f"{exercise}={platform.due[exercise].isoformat()}"),
            *("--penalty", f"{PENALTY:.0%}/day", *more),
        )
        self.export(exercise, now)
        return said

    def export(self, exercise, now):
        into = self.platform.table(exercise)
        columns = [] if self.platform.form == "moodle" else ["--column"]
        columns += [f"{exercise}={Canvas.heading(None, exercise)}"] * bool(columns)
        into = f"{exercise}={into}" if self.platform.form == "moodle" else into
        words = ["--form", self.platform.form, "--into", into, *columns]
        said = self.command("export", *words, "--grades", self.grades)
        (path,) = [p for p in said.splitlines() if Path(p).name.startswith("filled-")]
        self.platform.upload(Path(path), exercise, said, now)

    def expected(self, exercise, number):
        """Work out a grade from what happened."""
        events = self.events[exercise].get(number)
        by_hand = self.by_hand.get((exercise, number), 0.0)
        if not events:
            return by_hand if (exercise, number) in self.by_hand else None
        time, worth = list(events.values())[-1]
        due = self.until.get((exercise, number), self.platform.due[exercise])
        of, less = points_of(exercise), 0.0
        # Moodle shows minutes, and forgives the rest of one.
        time = time.replace(second=0) if self.platform.form == "moodle" else time
        if time > due:
            days = -(-(time - due).total_seconds() // 86400)
            less = min(of, days * PENALTY * of)
        return round(max(0.0, max(0.0, worth - less) + by_hand), 4)

    def play(self):
        draw, platform = self.draw, self.platform
        for exercise in "12345":
            made, due = variants(exercise, draw), platform.due[exercise]
            here = list(platform.people)
            for number in here:
                if draw.random() < 0.85:
                    time = due - DAY * draw.uniform(0.01, 6)
                    kind = "zip" if draw.random() < 0.05 else "plain"
                    self.hand_in(exercise, number, time, draw.choice(made), kind)
            now = due + DAY
            if exercise == BROKEN:
                self.break_solution(exercise, now)
            self.grade(exercise, now)
            for number in draw.sample(here, len(here) // 5):  # late, new or again
                time = due + DAY * draw.uniform(0.001, 3)
                kind = "damaged" if draw.random() < 0.2 else "plain"
                self.hand_in(exercise, number, time, draw.choice(made), kind)
            now += DAY * 4
            if exercise == UNDONE:  # the worksheet of another week
                wrong = [f"{exercise}={platform.times('1', now)}"]
                before = self.standing()
                self.grade(exercise, now, "--times", *wrong, "--deadline", "2020-01-01")
                runs = self.command("undo", "--grades", self.grades)
                last = re.findall(r"run (\d+)", runs)[-1]
                self.command("undo", last, "--grades", self.grades)
                assert self.standing() == before
            if exercise == MOVED:
                platform.due[exercise] += DAY * 2
            self.grade(exercise, now)
            if exercise == EXTENDED:
                for number in draw.sample(here, min(4, len(here))):
                    until = due + DAY * 2
                    self.until[exercise, number] = until
                    words = (self.called(number), exercise, until.isoformat())
                    self.command("extend", *words, "--grades", self.grades)
            if exercise in MANUAL:
                for number in draw.sample(here, min(12, len(here))):
                    points = draw.choice([-1, 0.5, 1])
                    had = self.expected(exercise, number)
                    if had is None or not 0 <= had + points <= points_of(exercise):
                        continue
                    self.by_hand[exercise, number] = points
                    words = (self.called(number), exercise, f"{points:+g}")
                    more = ("--reason", "read by hand", "--grades", self.grades)
                    self.command("adjust", *words, *more)
            self.export(exercise, now + DAY)
            if exercise == "3":
                for number in draw.sample(list(platform.people), LEAVING):
                    del platform.people[number]
        return self.differences()

    def standing(self):
        path = self.grades / "tasks.csv"
        self.command("export", "--form", "tasks", "--grades", self.grades)
        return path.read_text()

    def break_solution(self, exercise, now):
        """Grade with a solution that does not run: nothing may change."""
        path = self.solutions / f"{list(modules())[int(exercise) - 1]}.ipynb"
        whole, before = path.read_text(), self.standing()
        path.write_text(whole.replace("### BEGIN SOLUTION", "return oops", 1))
        platform = self.platform
        said = self.command(
            *("grade", platform.zipped("2", now), platform.zipped(exercise, now)),
            *("--out", self.grades, "--solutions", self.solutions, "--secret", "term"),
            *("--students", platform.write_class_list()),
        )
        assert "This is the instructor's notebook" in said, said
        assert self.standing() == before
        path.write_text(whole)

    def differences(self):
        """Return what the platform's gradebook has and should not have."""
        found = []
        for exercise in "12345":
            for number, (name, _) in self.platform.people.items():
                have = self.platform.grades[exercise].get(number)
                want = self.expected(exercise, number)
                if want is None:
                    same = have is None
                else:
                    same = have is not None and abs(have - want) < 0.006
                if not same:
                    found.append(f"{name}, exercise {exercise}: {have}, not {want}")
        return found


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--students", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=("moodle", "canvas"))
    options = parser.parse_args(argv)
    status = 0
    for kind in (Moodle, Canvas):
        if options.only not in (None, kind.form):
            continue
        shutil.rmtree(options.folder / kind.form, ignore_errors=True)
        draw = random.Random(options.seed)
        folder = options.folder.resolve() / kind.form
        term = Term(kind, folder, options.students, draw)
        try:
            wrong = term.play()
        finally:
            lines = [
                f"$ attncourse {' '.join(map(str, words))}\n{said}"
                for words, _, said in term.log
            ]
            (folder / "commands.txt").write_text("\n".join(lines))
        counted = sum(len(g) for g in term.platform.grades.values())
        print(
            f"{kind.__name__}: {len(term.log)} commands, {counted} grades in the "
            f"gradebook, {len(wrong)} other than worked out by hand."
        )
        for line in wrong:
            print(f"  {line}")
        status |= bool(wrong)
    return status


if __name__ == "__main__":
    sys.exit(main())
