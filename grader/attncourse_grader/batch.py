"""Grade what a course has handed in: one command, whatever is in the folder."""

from __future__ import annotations

import contextlib
import functools
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from attncourse_grader.exercises import modules
from attncourse_grader.hand_in.class_list import read_class_list
from attncourse_grader.hand_in.collect import collect
from attncourse_grader.hand_in.manifest import (
    doubts_about,
    fingerprint,
    mark_of,
    read_manifest,
)
from attncourse_grader.hand_in.release import DEFAULT_SECRET
from attncourse_grader.hand_in.submission import Refused
from attncourse_grader.isolate import forking, sandbox
from attncourse_grader.isolate.forking import TOTAL_SECONDS
from attncourse_grader.plan import Job, Keys, plan
from attncourse_grader.records.database import Stopped, is_there, only_run
from attncourse_grader.records.effective import LATEST
from attncourse_grader.records.gradebook import Gradebook
from attncourse_grader.records.late import read_deadlines, read_late, read_penalty
from attncourse_grader.records.outputs import write_outputs
from attncourse_grader.safe_text import number, one_line
from attncourse_grader.workers import (
    answers_in,
    apart,
    grade_apart,
    layers_missing,
    local_results,
)

SCRATCH = ".unpacked"
BOOK = "gradebook.sqlite"


@dataclass(frozen=True)
class Course:
    """How a course is graded: what the options of the command say."""

    solutions: Path  # the folder of the instructor's notebooks
    # The folder of the gradebook and of all that is written; without it, the
    # grades are printed and forgotten.
    out: Path | None = None
    secret: str = ""  # what hidden inputs are drawn from
    jobs: int = 1  # notebooks that are graded at a time
    students: Path | None = None  # the class list
    # ``2026-12-01T23:59``, or ``1=2026-12-01T23:59`` for one exercise.
    deadlines: tuple[str, ...] = ()
    penalty: str = ""  # ``10%/day``
    late: Path | None = None  # a table of who was how late
    scheduler: str = ""  # the address of a Dask scheduler
    again: bool = False  # whether to grade what was graded before
    seconds: float = TOTAL_SECONDS  # that all cells of one submission together may take


def grade_course(places, course: Course, *, grade=grade_apart) -> int:
    """Grade what was handed in, and keep and write down every grade at once.

    Raises `Refused` if nothing can be graded as things are, `Stopped` if the gradebook
    can be used no longer; what was graded is in it.
    """
    if not (sandbox.linux or course.scheduler):
        raise Refused(forking.NOT_LINUX)
    if not any((course.solutions / f"{name}.ipynb").is_file() for name in modules()):
        raise Refused(
            f"there are no solutions in {course.solutions}. Give the folder of the "
            "instructor's notebooks with --solutions."
        )
    with contextlib.ExitStack() as stack:
        if course.out is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            scratch = Path(folder) / SCRATCH
            book = stack.enter_context(Gradebook(":memory:"))
        else:
            try:
                course.out.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise Refused(f"{course.out} cannot be made ({error}).") from None
            stack.enter_context(only_run(course.out))
            scratch = course.out / SCRATCH
            there = is_there(course.out / BOOK)
            book = stack.enter_context(Gradebook(course.out / BOOK))
            if there:
                book.back_up()
        # What a run that was killed has left.
        with contextlib.suppress(OSError):
            scratch.unlink()  # no folder at all
        shutil.rmtree(scratch, ignore_errors=True)
        stack.callback(shutil.rmtree, scratch, ignore_errors=True)
        return _Run(course, book, grade).through(places, scratch)


class _Run:
    """One run over what was handed in."""

    def __init__(self, course: Course, book: Gradebook, grade):
        self.course, self.book, self.grade = course, book, grade
        if course.seconds != TOTAL_SECONDS:
            self.grade = functools.partial(grade, seconds=course.seconds)
        self.secret = course.secret or DEFAULT_SECRET
        self.keys = Keys(course.solutions)
        self.left_out = 0

    def through(self, places, scratch: Path) -> int:
        course, book = self.course, self.book
        students = read_class_list(course.students) if course.students else None
        manifest = read_manifest(course.solutions)
        last = book.rows("SELECT secret FROM runs ORDER BY run DESC LIMIT 1")
        doubts = doubts_about(
            course.secret, manifest, last[0]["secret"] if last else ""
        )
        if students is not None:
            with book.together():
                for student in students.students:
                    book.add_student(student)
        self._settle_lateness()
        book.start_run(fingerprint(self.secret if course.secret else ""))
        for says in doubts:
            self._say(says)
        for says in layers_missing():
            self._say(says)
        try:
            scratch.mkdir(parents=True)
            found = collect(places, scratch)
        except OSError as error:
            raise Stopped(
                f"{scratch} cannot be written ({error.strerror}). Make room, or "
                "remove what is there; nothing is lost, and the same command goes on."
            ) from None
        with book.together():
            jobs, known, problems = plan(
                found.files,
                students,
                book=book,
                keys=self.keys,
                secret=self.secret,
                manifest=manifest,
                again=course.again,
            )
            for says in [*found.problems, *problems]:
                self._leave_out(says)
            for name, file, content, key in known:
                book.add_handin(name, file, content, key, {})
            if manifest and manifest.get("variants"):
                for name in book.students():
                    book.set(f"mark {mark_of(self.secret, name)}", name)
        graded = self._grade(jobs, len(known))
        self._note_late()
        self._note_several()
        self._keep_references()
        problems = write_outputs(book, course.out) if course.out else []
        for says in problems:
            self._leave_out(says)
        book.end_run()
        self._sum_up(graded, len(known))
        return 1 if self.left_out else 0

    def _settle_lateness(self) -> None:
        course, book = self.course, self.book
        if course.deadlines:
            known = book.setting("deadlines", {})
            book.set("deadlines", {**known, **read_deadlines(course.deadlines)})
        if course.penalty:
            read_penalty(course.penalty)
            book.set("penalty", course.penalty)
        if course.late:
            read_late(course.late)  # a fault in it is said before grading begins

    def _grade(self, jobs: list[Job], known: int) -> int:
        from tqdm import tqdm

        graded = 0
        total = known + sum(len(job.handins) for job in jobs)
        results = self._results(jobs)
        with (
            contextlib.closing(results),
            tqdm(total=total, initial=known, unit="notebook", file=sys.stderr) as bar,
        ):
            self.write = bar.write
            try:
                for job, outcome in results:
                    graded += self._keep(job, outcome)
                    bar.update(len(job.handins))
            except BaseException:
                bar.close()
                raise
            finally:
                self.write = _print
        return graded

    def _note_late(self) -> None:
        if not self.course.late:
            return
        for student, exercise, seconds in read_late(self.course.late):
            try:
                name = self.book.student_named(student)
            except Refused as refused:
                self._leave_out(f"{self.course.late.name}: {refused}")
            else:
                self.book.set_late(name, exercise, seconds)

    def _note_several(self) -> None:
        """Say which file counts where a student handed in more than one."""
        several: dict = {}
        for row in self.book.rows(LATEST):
            if row["last_run"] == self.book.run:
                several.setdefault((row["student"], row["exercise"]), []).append(row)
        for (student, exercise), rows in several.items():
            if len(rows) > 1:
                says = (
                    f"{student}, {exercise}: {len(rows)} files. The one that was "
                    f"changed last counts, {rows[-1]['source']}."
                )
                self.book.note_problem(one_line(says, 600))
                self._say(says)

    def _results(self, jobs):
        if self.course.scheduler:
            from attncourse_grader.cluster import cluster_results

            return cluster_results(
                jobs,
                self.course.scheduler,
                solutions=self.course.solutions,
                grade=self.grade,
                say=self._say,
            )
        return local_results(
            jobs, solutions=self.course.solutions, grade=self.grade, at=self.course.jobs
        )

    def _keep(self, job: Job, outcome: dict) -> int:
        """Keep what came of a job; return how many files were graded."""
        book = self.book
        if "broken" in outcome:
            raise Stopped(f"{outcome['broken']}. Earlier grades stay as they are.")
        if "record" not in outcome:
            said = outcome.get("refused") or outcome.get("failed", "no grade came.")
            for student, found in job.handins:
                if "refused" in outcome:
                    book.add_handin(student, found, job.content, None, outcome)
                self._leave_out(f"{found.source}: not graded. {said}")
            return 0
        record = outcome["record"]
        key = self.keys.key(job.content, record["exercise"], job.secret)
        book.add_result(key, job.content, record, outcome["answers"])
        points = f"{number(record['points'])} of {number(record['of'])} points"
        for student, found in job.handins:
            book.add_handin(student, found, job.content, key, outcome)
            line = f"{student}, {record['title'].lower()}: {points}"
            if self.course.out is None:
                line = f"{found.source}\n{outcome['text']}\n"
            self.write(line, file=sys.stdout)
        return len(job.handins)

    write = staticmethod(lambda text, file: _print(text, file=file))

    def _say(self, says: str) -> None:
        self.write(one_line(says, 600), file=sys.stderr)

    def _leave_out(self, says: str) -> None:
        self.left_out += 1
        self.book.note_problem(one_line(says, 600))
        self._say(says)

    def _keep_references(self) -> None:
        """Keep what the solutions look like, for comparing answers."""
        for row in self.book.rows("SELECT DISTINCT exercise FROM results"):
            name = row["exercise"]
            path = self.course.solutions / f"{name}.ipynb"
            state = self.keys.of_exercise(name) if path.is_file() else ""
            if state and self.book.setting(f"reference of {name}") != state:
                self.book.set(f"reference {name}", apart(answers_in, path, name))
                self.book.set(f"reference of {name}", state)

    def _sum_up(self, graded: int, known: int) -> None:
        parts = [f"{graded} graded"]
        if known:
            parts.append(f"{known} as before")
        if self.left_out:
            parts.append(f"{self.left_out} left out or in doubt, named above")
        where = f" The grades are in {self.course.out}." if self.course.out else ""
        self._say(f"{', '.join(parts)}.{where}")


def _print(text, file) -> None:
    print(text, file=file, flush=True)
