"""From a submission to points and feedback, task by task."""

import contextlib
import resource
import signal
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from attncourse.exercises import compare as judging
from attncourse.exercises.compare import NOT_DONE, NOT_RUN, Case, Verdict, refused
from attncourse.exercises.forbidden import forbidden_uses
from attncourse.exercises.probe import Exercise, Task
from attncourse.exercises.recorded import known
from attncourse.exercises.run import draw, from_plain
from attncourse_grader.grade.by_hand import answers_by_hand
from attncourse_grader.grade.comparing import compare, try_solution
from attncourse_grader.grade.compose import Template, answers_in
from attncourse_grader.hand_in.release import DEFAULT_SECRET
from attncourse_grader.hand_in.source import changes_libraries
from attncourse_grader.hand_in.submission import Refused, Submission, read_submission
from attncourse_grader.isolate import forking, sandbox
from attncourse_grader.isolate.forking import BESIDE, TOTAL_SECONDS
from attncourse_grader.sentences import SAYS

LOOKING = 5  # seconds of a processor that reading a file, or judging it, may take
MEMORY = 2 << 30  # bytes that it may take beside what was there
LIMITS = 30, 240  # seconds that a probe may take; one that is slow, or a definition
NOT_AS_EXPECTED = "What came is not what is expected."


@dataclass(frozen=True)
class TaskGrade:
    """The points of one task and what is said about it."""

    label: str  # the number of the task, "1.2"
    task: Task  # the task
    verdicts: list[Verdict]  # one for each probe
    notes: list[str] = field(default_factory=list)  # what else the student should know

    @property
    def points(self) -> float:
        """The points of the task."""
        return judging.points(self.task, self.verdicts)


@dataclass(frozen=True)
class Grade:
    """The points of one submission."""

    exercise: Exercise  # the exercise
    tasks: list[TaskGrade]  # its tasks
    notes: list[str]  # about the whole
    # What is marked by hand: name, title, ``manual`` points, answer and its hash.
    by_hand: list[dict] = field(default_factory=list)
    submission: Submission | None = None
    spent: bool = False  # whether the time for all cells was

    @property
    def points(self) -> float:
        """The points of all tasks."""
        return sum(task.points for task in self.tasks)


def grade_file(
    path: Path, *, solutions: Path, secret=DEFAULT_SECRET, seconds=TOTAL_SECONDS
) -> Grade:
    """Grade one notebook, whose cells may take so many seconds together.

    The same secret gives the same hidden inputs. Raises `Refused` if the file is no
    notebook of an exercise, `SolutionBroken` if the solution does not run.
    """
    with within_limits(path):
        submission = read_submission(path)
    exercise, tasks = submission.exercise, submission.exercise.tasks
    forking.call(try_solution, solutions, exercise.notebook, secret, seconds=BESIDE)
    template = Template(exercise, solutions)
    with within_limits(path):
        code = template.undisturbed(submission.statements)
        submission = replace(submission, statements=code)
        unseen = {t.name: refusal(t, submission, template) for t in tasks}
    to_run = [task for task in tasks if not unseen[task.name]]
    # What is refused does not run, nor as a part of an answer that calls it.
    names = {name for task in tasks if unseen[task.name] for name in task.answers}
    allowed = [s for s in submission.statements if not s.binds <= names]
    to_call, left = replace(submission, statements=allowed), seconds

    def run(some: list[Task], only: str = "") -> dict[str, dict]:
        """Return what `compare` says of some tasks, in the time that is left."""
        nonlocal left
        start = time.monotonic()
        try:
            answers = answers_in(template, to_call, only=only)
            if not only:
                answers |= dict.fromkeys((n for n, v in unseen.items() if v), "")
            names = [task.name for task in some]
            words = solutions, exercise.notebook, answers, names, secret, left, LIMITS
            return forking.call(compare, *words, seconds=left + BESIDE)
        finally:
            left -= time.monotonic() - start

    runs = run(to_run) if to_run else {}
    failed = [t for t in tasks if not runs.get(t.name, {}).get("passed")]
    failing, given, code = {t.name for t in failed}, template.given, submission.answer
    spoiling = {t.name for t in failed if changes_libraries(code(t), given)}
    grades = []
    for task in tasks:
        verdicts, notes = unseen[task.name], []
        if not verdicts:
            verdicts = verdicts_of(exercise, task, runs[task.name])
            under = tasks_under(task, submission)
            deserves = deserves_another_run(task, failing, runs, under, spoiling)
            if task.name in failing and deserves and left > 0:
                again = run([task], only=task.name)[task.name]
                others = verdicts_of(exercise, task, again, secretive=True)
                if judging.points(task, others) > judging.points(task, verdicts):
                    rest = failing - {task.name}
                    wrong = rest & (under | spoiling) or rest
                    labels = [exercise.label(t) for t in tasks if t.name in wrong]
                    notes = [SAYS["others_replaced"].format(" or ".join(labels))]
                    verdicts = others
        grades.append(TaskGrade(exercise.label(task), task, verdicts, notes))
    notes = list(submission.notes)
    if left <= 0:
        notes.append(SAYS["time_is_up"].format(round(seconds)))
    by_hand = answers_by_hand(template, submission)
    return Grade(exercise, grades, notes, by_hand, submission, left <= 0)


@contextlib.contextmanager
def within_limits(path: Path):
    """Refuse, in a fork, a notebook that takes long or much memory to look at."""
    if forking.here is None:
        yield
        return

    def stop(*_):
        raise Refused(SAYS["too_long_to_read"].format(path.name))

    most, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = sandbox.address_space() + MEMORY
    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, LOOKING)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    try:
        yield
    except MemoryError:
        stop()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def refusal(task: Task, submission: Submission, template) -> list[Verdict]:
    """Return verdicts on an answer that need not be run to be judged, else nothing."""
    if task.name in submission.broken:
        cell = submission.broken[task.name]
        says = SAYS["not_python"].format(cell.cell, cell.error, python=sys.version_info)
        return refused(task, "syntax error", says)
    if absent := submission.missing(task):
        other = submission.renamed.get(task.name)
        hint = f" The cell of the task defines `{other}`." if other else ""
        return refused(task, "missing", SAYS["absent"].format(absent[0], hint))
    names, others = submission.exercise.rule_of(task)
    try:
        source = template.own_code(task, submission.statements, others, every=True)
        uses = forbidden_uses(source, names)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        uses = ["The answer cannot be read as Python."]
    return refused(task, "forbidden", uses[0]) if uses else []


def deserves_another_run(
    task: Task, failing: set[str], runs: dict, builds_on: set[str], spoiling: set[str]
) -> bool:
    """Say whether a task may have failed for what is wrong in another one."""
    others, own = failing - {task.name}, runs[task.name]
    if others & spoiling:
        return True
    if own["ended"]:  # its own fault it would repeat
        return any(runs.get(n, {}).get("ended") for n in others & builds_on)
    return bool(others & builds_on) or bool(others and own["error"])


def tasks_under(task: Task, submission: Submission) -> set[str]:
    """Return the earlier tasks whose answers this one's may call."""
    used = set().union(*(s.uses for s in submission.answer(task)))
    tasks = submission.exercise.tasks
    return {t.name for t in tasks[: tasks.index(task)] if used & set(t.answers)}


def verdicts_of(
    exercise: Exercise, task: Task, run: dict, *, secretive: bool = False
) -> list[Verdict]:
    """Return nbval's verdict on each probe of a task; what came tells what is wrong."""
    if run["error"] and not run["passed"]:
        if judging.UNDONE.match(run["error"]):
            return refused(task, "undone", NOT_DONE)
        what = "an error" if secretive else f"`{run['error'][:300]}`"
        return refused(task, "error", f"The cell raises {what}.")
    failing = range(len(task.probes)) if run["ended"] else run["failing"]
    recorded, found, came = known(exercise.notebook), [], {}
    cases_of = {int(place): cases for place, cases in run["cases"].items()}
    for place, probe in enumerate(task.probes):
        if place not in failing:
            found.append(Verdict(probe, True))
            continue
        if place not in cases_of:
            kind, says = "did not finish", SAYS["no_end"]
            if probe.slow and not all(verdict.holds for verdict in found):
                kind, says = "not run", NOT_RUN
            found.append(Verdict(probe, False, kind, (says,)))
            continue
        verdict = Verdict(probe, False, "values", (NOT_AS_EXPECTED,))
        with contextlib.suppress(MemoryError):
            cases = [
                Case(seed, draw(probe, seed), from_plain(expected), from_plain(seen))
                for seed, expected, seen in cases_of[place]
            ]
            came[place] = {c.seed: c.came for c in cases if c.seed in probe.seeds}
            judged = judging.judge(probe, cases)
            # nbval compares what this tolerates.
            verdict = verdict if judged.holds else judged
        found.append(verdict)
    with contextlib.suppress(MemoryError):
        found = judging.name_slip(task, found, came, recorded)
    return [_without_values(v) for v in found] if secretive else found


def _without_values(verdict: Verdict) -> Verdict:
    """Return a verdict that shows nothing of what came."""
    if verdict.holds or verdict.kind in ("undone", "did not finish"):
        return verdict
    probe = verdict.probe
    given = (probe.given, probe.why) if verdict.kind == "values" else (NOT_AS_EXPECTED,)
    return Verdict(probe, False, verdict.kind, tuple(filter(None, given)))
