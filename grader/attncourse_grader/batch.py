"""Grade what a course has handed in: one command, whatever is in the folder."""

import contextlib
import functools
import shutil
import sys
import time
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path

from tqdm import tqdm

from attncourse_grader.cluster import cluster_results
from attncourse_grader.exercises import modules
from attncourse_grader.hand_in import class_list
from attncourse_grader.hand_in.class_list import ClassList, Student, number_in
from attncourse_grader.hand_in.collect import Found, collect
from attncourse_grader.hand_in.release import DEFAULT_SECRET, fingerprint
from attncourse_grader.hand_in.submission import Refused
from attncourse_grader.hand_in.times import WHO, read_deadlines, read_times
from attncourse_grader.isolate import sandbox
from attncourse_grader.plan import Job, Keys, plan
from attncourse_grader.records import effective
from attncourse_grader.records.database import back_up, only_run
from attncourse_grader.records.exports import write_outputs
from attncourse_grader.records.gradebook import Gradebook
from attncourse_grader.records.late import penalty_for
from attncourse_grader.safe_text import number, one_line
from attncourse_grader.sentences import SAYS
from attncourse_grader.workers import grade_apart, layers_missing, local_results

SCRATCH = ".unpacked"
BOOK = "gradebook.sqlite"
MOST_SAID = 300  # sentences on what a run leaves out
MOST_LETTERS = 20_000  # of a sentence on all students
SINCE = "WHERE run > IFNULL((SELECT MAX(run) FROM runs WHERE ended), 0)"
GROUPS = "SELECT number FROM groups WHERE student = ? AND exercise = ?"
HARMLESS = SAYS["not_notebook"], "are left out, too."  # is said last
LONG_AGO = 60 * 86_400  # seconds; a course has no break that is longer


def grade_course(course, *, grade=grade_apart) -> int:
    """Grade what was handed in, and keep and write down every grade at once.

    `course` has the options of the command, as `cli.build_parser` reads them. Raises
    `Refused` if nothing can be graded as things are; what was graded is kept.
    """
    if not sandbox.linux:
        raise Refused(SAYS["not_linux"])
    if not any((course.solutions / f"{n}.ipynb").is_file() for n in modules()):
        raise Refused(f"{course.solutions} has no solutions. Give --solutions.")
    out, scratch = course.out, course.out / SCRATCH
    out.mkdir(parents=True, exist_ok=True)
    with only_run(out):
        back_up(out / BOOK)
        with contextlib.suppress(OSError):
            scratch.unlink()  # no folder at all
        # What a run that was killed has left is removed.
        shutil.rmtree(scratch, ignore_errors=True)
        try:
            with Gradebook(out / BOOK) as book:
                return _Run(course, book, grade).through(out, scratch)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


class _Run:
    """One run over what was handed in."""

    def __init__(self, course, book: Gradebook, grade):
        self.course, self.book = course, book
        self.secret = course.secret or DEFAULT_SECRET
        self.grade = functools.partial(grade, secret=self.secret, seconds=course.limit)
        self.keys = Keys(course.solutions, self.secret, course.limit)
        self.left_out, self.broken = 0, set()  # sentences on solutions
        self.spent = set()  # whose cells have used up their time
        self.older = set()  # whose files a worksheet does not know yet
        self.when = {}  # when what has a number and a name in Moodle came
        self.told = {}  # when a student's of an exercise came, by one's own tables
        self.numbers = defaultdict(set)  # in Moodle's worksheets of each exercise

    def through(self, out: Path, scratch: Path) -> int:
        course, book = self.course, self.book
        # A fault in what the instructor gives is said before anything is kept.
        own = [Student(**row) for row in book.setting("listed", [])]
        joined, doubts = {}, []
        if course.students:
            listed = class_list.read_class_list(course.students).students
            known = book.students().values()
            own, joined, doubts = class_list.named_as_before(listed, known)
        students = ClassList(own, trust=course.trust_names) if own else None
        self.students = students
        deadlines = read_deadlines(course.deadline)
        times = [said for text in course.times for said in read_times(text)]
        penalty_for(course.penalty)
        last = book.rows("SELECT * FROM runs WHERE NOT undone ORDER BY run DESC")[:1]
        scratch.mkdir(parents=True)
        found = collect(course.submissions, scratch, students)
        book.rows("BEGIN IMMEDIATE")  # without what was cut off, and said nothing
        book.rows("UPDATE runs SET undone = 1 " + SINCE)
        before = effective.effective_grades(book)
        book.rows("ROLLBACK")
        if last:
            self._check_course(last[0]["started"], students, found, before, doubts)
        own = fingerprint(course.secret)
        book.start_run(own)
        book.set("deadlines", deadlines)
        book.set("alike", course.alike)
        if course.penalty:
            book.set("penalty", course.penalty.removeprefix("none"))
        if course.students:
            with book.together():
                for student in students.students:
                    book.add_student(Student(student.student))
            book.set("listed", [asdict(student) for student in students.students])
            book.set("joined", joined)
        for said in times if students else ():
            students.add_moodle(said.student, said.exercise)
        here = [] if course.scheduler else layers_missing()
        said = {"cut_off": last and last[0]["ended"] is None}
        said |= {"other_secret": last and last[0]["secret"] != own}
        said |= {"trusting": course.trust_names}
        for says in [*(SAYS[kind] for kind, true in said.items() if true), *here]:
            self._say(says)
        with book.together():
            how = {"again": course.again, "trust": course.trust_names}
            jobs, problems = plan(found.files, students, book, self.keys, **how)
            own = self._students_of(times, students)
            self.dated = {(student, one.exercise) for student, one in own}
            files = [pair for job in jobs for pair in job.handins]
            # Who has a file that no platform has numbered, as by mail, beside others.
            self.others = {who for who, f in files if not (f.moodle or f.order)}
            for student, one in sorted(own, key=lambda pair: pair[1].handed_in):
                facts = {"run": book.run, "handed_in": one.handed_in}
                if not one.numbers or student not in self.others:
                    book.keep("times", student, one.exercise, **facts)
                if not one.numbers:
                    self.told[student, one.exercise] = one.handed_in
            said = [SAYS[kind].format(*who) for kind, *who in doubts]
            found.problems.sort(key=lambda says: says.endswith(HARMLESS))
            self._leave_out_all([*said, *problems, *found.problems])
            known = [job for job in jobs if job.result is not None]
            for job in known:
                self._keep(job, {})
        same = sum(len(job.handins) for job in known)
        graded = self._grade([job for job in jobs if job.result is None], same)
        if self.spent:
            self._say(SAYS["spent"].format(course.limit, ", ".join(sorted(self.spent))))
        if self.older:
            self._leave_out(SAYS["older_times"].format(", ".join(sorted(self.older))))
        self._note(found := effective.effective_grades(book))
        self._compare(before, found)
        for exercise, numbers in self.numbers.items():
            if book.of_another(exercise, numbers):
                says = SAYS["other_numbers"].format("Moodle's worksheet", exercise)
                self._leave_out(f"{says} `attncourse undo {book.run}` takes it back.")
        places = {(g.student, g.exercise): g.handin["place"] for g in found if g.handin}
        others = defaultdict(set)
        for student, one in own:
            files = one.student.get("files")
            if files and places.get((student, one.exercise)) not in (0, *files):
                others[one.exercise].add(student)
        for exercise, of in others.items():
            self._leave_out(SAYS["other_files"].format(", ".join(sorted(of)), exercise))
        with book.together():  # who changes something now writes afterwards
            self._leave_out_all(write_outputs(book, out))
        book.end_run()
        self._sum_up(graded, same)
        return 1 if self.left_out else 0

    def _check_course(self, started, students, found, before, doubts) -> None:
        """Raise `Refused` if the gradebook seems to be of another course or year."""
        known = {g.student for g in before if not class_list.is_hidden(g.student)}
        here = {file.name for file in found.files}
        if students:  # in doubt is who is known, too
            here = {s.student for s in students.students} | {d[1] for d in doubts}
        both, least = len(known & here), min(len(known), len(here))
        old = time.time() - started > LONG_AGO
        if 2 * both < least and (old or (self.course.students and not both)):
            raise Refused(SAYS["other_course"].format(self.book.path, len(known), both))

    def _students_of(self, times, students) -> list:
        """Return what tables say about times, with the student of each line."""
        found, known, unknown = [], self.book.people(), []
        names, known.trust = students or known, self.course.trust_names
        for said in times:
            who = said.student
            if "canvas" in who:
                own = names.marked("canvas", who["canvas"])
                self.when |= dict.fromkeys(who["files"], said.handed_in)
                shown = f"number {who['canvas']} of Canvas"
            elif "modified" in who:
                of_moodle = number_in(who["identifier"])
                name = who.get("name", "")
                if "group" not in who:  # where groups hand in, files have other numbers
                    self.numbers[said.exercise].add(of_moodle)
                late = self.when.get(of_moodle) or 0, said.handed_in or 0
                self.when[of_moodle] = max(late) or None
                own = [names.add_moodle(who, said.exercise)]
                shown = name or who["identifier"]
                if own == [None] and not name and said.handed_in is not None:
                    own = [class_list.blind(of_moodle)]
                    self.book.add_student(own[0])
            else:
                shown, *_ = given = [who[k] for k in WHO if who.get(k)]
                meant = [m for t in given if (m := known.find(Found(Path(), "", t))[0])]
                own = [s for s in [*meant, []][0] if all(s in m for m in meant)]
            if said.handed_in is None:
                continue
            if len(own) == 1 and own[0]:
                found.append((own[0].student, said))
            else:
                unknown.append(repr(one_line(shown)))
        if unknown:
            self._leave_out(SAYS["nobody"].format(", ".join(unknown)))
        return found

    def _grade(self, jobs: list[Job], known: int) -> int:
        """Grade jobs here or on a cluster; return how many files were graded."""
        course, graded = self.course, 0
        results_of = cluster_results if course.scheduler else local_results
        where = course.scheduler or course.jobs
        found = results_of(jobs, where, course.solutions, self.grade)
        total = known + sum(len(job.handins) for job in jobs)
        bar = tqdm(total=total, initial=known, unit="notebook")
        with contextlib.closing(found) as results, bar:
            for job, outcome in results:
                graded += self._keep(job, outcome)
                bar.update(len(job.handins))
        return graded

    def _note(self, found) -> None:
        """Say what lateness cost, and what of this run is in doubt."""
        for says in effective.costs(self.book, found):
            self._say(says)
        for (says,) in self.book.rows("SELECT says FROM notes " + SINCE):
            self.book.note_problem(one_line(says, 600))
            self._say(says)

    def _compare(self, before, now) -> None:
        """Say whose points have changed without a new file, or fell with one."""
        old, said = {(g.student, g.exercise): g for g in before}, defaultdict(list)
        counted = {g.handin["content"] for g in before if g.handin}
        for grade in now:
            was = old.get((grade.student, grade.exercise))
            if was and was.handin and grade.handin and was.total != grade.total:
                new = grade.handin["content"] not in counted  # for anybody
                if not new or grade.total < was.total:
                    points = f"{number(was.total)}, now {number(grade.total)}"
                    says = f"{grade.student}, {grade.exercise}: {points}"
                    said["for the worse" if new else "without new content"].append(says)
        for how, those in said.items():
            self._say(f"Changed {how} ({len(those)}): {'; '.join(those)}.")

    def _keep(self, job: Job, outcome: dict) -> int:
        """Keep what came of a job; return how many files were graded."""
        book, result = self.book, job.result
        record = outcome.get("record")
        if record is not None:
            name = record["exercise"]
            version = self.keys.of_exercise(name)[:8]
            found = version, job.content, record, outcome["answers"]
            key = self.keys.key(job.content, name, spent=outcome.get("spent", False))
            result = book.add_result(key, *found)
            self.spent |= {s for s, _ in job.handins if outcome.get("spent")}
            points = f"{number(record['points'])} of {number(record['of'])} points"
        elif (said := outcome.get("broken", "")) not in self.broken | {""}:
            self.broken.add(said)
            self._leave_out(SAYS["broken"].format(said, job.handins[0][1].source))
        exercise = book.exercise_in(job.content)
        came = {f: f.time or self.when.get(f.moodle or f.order) for _, f in job.handins}
        # What came twice counts from when it came first, which is kept last.
        job.handins.sort(key=lambda h: (-(came[h[1]] or 1e18), not h[1].marked_late))
        others = self.others - {w for w, f in job.handins if not (f.moodle or f.order)}
        for student, file in job.handins:
            if file.group and exercise:
                known = {r["number"] for r in book.rows(GROUPS, student, exercise)}
                team = [s.student for s in self.students.group_of(file, exercise)]
                if not team or known - {file.order}:
                    kind = "other_number" if team else "other_group"
                    self._leave_out(SAYS[kind].format(file.source, student))
                    continue
            time = came[file]
            undated = time is None and (student, exercise) not in self.dated
            if undated and file.moodle in self.when:
                self.older.add(student)
            told = self.told.get((student, exercise))
            if told and file.moodle and (time is None or student not in others):
                time = min(time or told, told)  # of other files the student tells
            book.add_handin(student, file, time, job.content, result, outcome)
            if record is not None:
                tqdm.write(f"{student}, {record['title'].lower()}: {points}")
            elif why := outcome.get("refused") or outcome.get("failed"):
                self._leave_out(f"{file.source}: not graded. {why}")
        return len(job.handins) if record is not None else 0

    def _say(self, says: str) -> None:
        tqdm.write(one_line(says, MOST_LETTERS), file=sys.stderr)

    def _leave_out(self, says: str) -> None:
        self.left_out += 1
        self.book.note_problem(one_line(says, 600))
        self._say(says)

    def _leave_out_all(self, found: list[str]) -> None:
        """Say what is left out: of very many sentences the first, and their number."""
        for says in found[:MOST_SAID]:
            self._leave_out(says)
        if more := len(found[MOST_SAID:]):
            self.left_out += more - 1
            self._leave_out(f"{more:,} more are left out or in doubt.")

    def _sum_up(self, graded: int, known: int) -> None:
        said = f"{graded} graded" + (f", {known} as before" if known else "")
        if self.left_out:
            said += f", {self.left_out} left out or in doubt, see above"
        waiting = sum(grade.waiting for grade in effective.grades_of_class(self.book))
        said += f", {waiting} answers to mark: attncourse mark" if waiting else ""
        self._say(f"{said}. The grades are in {self.course.out}.")
