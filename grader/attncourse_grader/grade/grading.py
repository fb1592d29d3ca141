"""From a submission to points and feedback, task by task."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path

from attncourse.exercises.judge import Case, Verdict, expected_of, inputs_of, judge
from attncourse.exercises.seen import read_line
from attncourse.exercises.task import Exercise, Mistake, Task

from attncourse_grader.grade.compose import compose, find_template, seeds_of
from attncourse_grader.grade.run import TOTAL_SECONDS, CellRun, run_nbval
from attncourse_grader.hand_in.release import DEFAULT_SECRET
from attncourse_grader.hand_in.submission import Submission, read_submission
from attncourse_grader.isolate.guard import BREACHES

OTHERS_REPLACED = (
    "Graded with reference answers in place of the other tasks, since one of those "
    "does not work."
)
OUT_OF_TIME = (
    "All cells together may take {} seconds. They were used up, so what came after "
    "that was not run."
)


@dataclass(frozen=True)
class TaskGrade:
    """The points of one task and what is said about it.

    Attributes
    ----------
    label : str
        The number of the task, "1.2".
    task : Task
        The task.
    verdicts : list of Verdict
        One for each check.
    notes : list of str
        What else the student should know.
    """

    label: str
    task: Task
    verdicts: list[Verdict]
    notes: list[str] = field(default_factory=list)

    @property
    def points(self) -> float:
        """The points that the checks give."""
        return sum(verdict.points for verdict in self.verdicts)


@dataclass(frozen=True)
class Grade:
    """The points of one submission.

    Attributes
    ----------
    student : str
        Who handed it in.
    exercise : Exercise
        The exercise.
    tasks : list of TaskGrade
        Its tasks.
    notes : list of str
        About the whole.
    """

    student: str
    exercise: Exercise
    tasks: list[TaskGrade]
    notes: list[str]

    @property
    def points(self) -> float:
        """The points of all tasks."""
        return sum(task.points for task in self.tasks)


class _Runs:
    """The runs of one submission, which share its time.

    Parameters
    ----------
    seconds : float
        That all cells of all runs may take together.
    """

    def __init__(self, seconds: float):
        self.left = seconds

    def of(self, notebook) -> dict:
        """Return what nbval says of a notebook's cells, by their marks."""
        start = time.monotonic()
        try:
            return grouped(run_nbval(notebook, total_seconds=self.left))
        finally:
            self.left -= time.monotonic() - start


def grade_file(
    path: Path,
    *,
    solutions: Path,
    secret: str = DEFAULT_SECRET,
    student: str = "",
    seconds: float = TOTAL_SECONDS,
) -> Grade:
    """Grade one notebook.

    Parameters
    ----------
    path : Path
        The notebook that was handed in.
    solutions : Path
        The folder of the instructor's notebooks.
    secret : str
        What hidden inputs are drawn from. The same secret gives the same inputs.
    student : str
        Who handed it in; by default the name of the file.
    seconds : float
        That all its cells together may take.

    Raises
    ------
    Refused
        If the file is no notebook of an exercise.
    """
    submission = read_submission(path)
    exercise = submission.exercise
    template = find_template(exercise, solutions)
    known = {task.name: known_before(task, submission) for task in exercise.tasks}
    runs, timed = {}, _Runs(seconds)
    if not all(known.values()):
        unseen = {name for name, mistake in known.items() if mistake is None}
        notebook = compose(template, submission, secret, checked=unseen)
        runs = timed.of(notebook)
    failing = {task.name for task in exercise.tasks if not all_pass(task, runs)}
    grades = []
    for task in exercise.tasks:
        notes = []
        if (mistake := known[task.name]) is not None:
            verdicts = [refusal(check, mistake) for check in task.checks]
        else:
            verdicts = verdicts_of(task, runs, secret)
            under = tasks_under(task, submission)
            deserves = deserves_another_run(task, failing, runs, under)
            if task.name in failing and deserves and timed.left > 0:
                alone = compose(template, submission, secret, only=task.name)
                again = verdicts_of(task, timed.of(alone), secret)
                if total(again) >= total(verdicts):  # named without the others
                    verdicts, notes = again, [OTHERS_REPLACED]
        grades.append(TaskGrade(exercise.label(task), task, verdicts, notes))
    notes = list(submission.notes)
    if timed.left <= 0:
        notes.append(OUT_OF_TIME.format(round(seconds)))
    return Grade(student or path.stem, exercise, grades, notes)


def total(verdicts: list[Verdict]) -> float:
    """Return the points of some verdicts."""
    return sum(verdict.points for verdict in verdicts)


def known_before(task: Task, submission: Submission) -> Mistake | None:
    """Say what is wrong with an answer that need not be run to be seen."""
    if task.name in submission.broken:
        cell = submission.broken[task.name]
        return Mistake(
            "syntax error",
            f"Cell {cell.cell} is not valid Python: {cell.error}. Until it is mended "
            "nothing in it can run.",
        )
    if absent := submission.missing(task):
        other = submission.renamed.get(task.name)
        hint = f" The cell of the task defines `{other}`." if other else ""
        return Mistake(
            "missing",
            f"No cell defines `{absent[0]}`, which the task asks for.{hint} Give it "
            "that name.",
        )
    rules = submission.exercise.forbidden
    used = set().union(*(s.mentions for s in submission.answer(task)))
    for name in sorted(used & rules.keys()):
        return Mistake("forbidden function", rules[name])
    return None


def refusal(check, mistake: Mistake) -> Verdict:
    """Return the verdict on a check that was not run."""
    return Verdict(check, False, mistake.name, mistake.says, mistake.read)


def grouped(cells: list[CellRun]) -> dict:
    """Return what nbval said by the cell's mark: a task's name, or (task, check).

    Raises
    ------
    RuntimeError
        If a cell of ours failed: the run says nothing about the answers.
    """
    found = {}
    for cell in cells:
        if "answer" in cell.mark:
            found[cell.mark["answer"]] = cell
        elif "task" in cell.mark:
            found[cell.mark["task"], cell.mark["check"]] = cell
        elif not cell.passed:
            raise RuntimeError(
                "the instructor's own cells do not run: "
                f"{cell.error or 'they came to no end'}"
            )
    return found


def all_pass(task: Task, runs: dict) -> bool:
    """Say whether every check of a task passed."""
    places = range(len(task.checks))
    return all((task.name, p) in runs and runs[task.name, p].passed for p in places)


def deserves_another_run(
    task: Task, failing: set[str], runs: dict, builds_on: set[str]
) -> bool:
    """Say whether a task may have failed for what is wrong in another one.

    Parameters
    ----------
    task : Task
        The task.
    failing : set of str
        All tasks that failed.
    runs : dict
        What nbval said of each cell.
    builds_on : set of str
        The tasks whose answers this one's may call.
    """
    own = cells_of(task.name, runs)
    if any(is_breach(cell) for cell in own):
        return True  # what another answer has changed may be put down to this one
    others = failing - {task.name}
    if any(cell.unfinished for cell in own):  # its own fault it would repeat
        stuck = {n for n in others if any(c.unfinished for c in cells_of(n, runs))}
        return bool(stuck & builds_on)
    incomplete = task.name not in runs or len(own) <= len(task.checks)
    return bool(others) and (incomplete or bool(others & builds_on))


def cells_of(name: str, runs: dict) -> list[CellRun]:
    """Return the cells of a task that were run: its answer and its checks."""
    return [cell for key, cell in runs.items() if name in (key, key[0])]


def tasks_under(task: Task, submission: Submission) -> set[str]:
    """Return the tasks whose answers this one's may call."""
    used = set().union(*(s.binds for s in submission.answer(task)))
    tasks = submission.exercise.tasks
    found = {t.name for t in tasks if used & set(t.names)}
    return (found | set(task.needs)) - {task.name}


def verdicts_of(task: Task, runs: dict, secret: str) -> list[Verdict]:
    """Return the verdict on each check of a task from what nbval said.

    nbval alone decides whether a check holds. What the cell printed only serves to
    find out which mistake it was.
    """
    return [
        verdict_of(
            task, place, runs.get(task.name), runs.get((task.name, place)), secret
        )
        for place in range(len(task.checks))
    ]


def verdict_of(task: Task, place: int, answer, cell, secret: str) -> Verdict:
    """Return the verdict on one check."""
    check = task.checks[place]
    if cell is not None and cell.passed:
        return Verdict(check, True)
    if answer is not None and answer.error:
        return refusal(check, _error(answer.error))
    if cell is None or cell.unfinished:
        return refusal(
            check,
            Mistake(
                "did not finish",
                "The answer did not come to an end in the time that it has, or it "
                "ended the process. Is there a loop that does not stop?",
            ),
        )
    if cell.error:
        return refusal(check, _error(cell.error))
    cases = cases_in(cell.printed, check, seeds_of(check, task, secret))
    if not cases:
        return refusal(check, Mistake("other output", "The output cannot be read."))
    verdict = judge(check, cases, tolerance=0.51 * 10.0**-check.digits)
    if verdict.holds:  # nbval compares every digit that was printed
        return refusal(check, Mistake("other values", "The values differ a little."))
    return verdict


def is_breach(cell: CellRun) -> bool:
    """Say whether an answer was seen to do what no answer may."""
    return cell.error.split(":")[0] in BREACHES


def _error(text: str) -> Mistake:
    kind, _, said = text.partition(": ")
    if kind in BREACHES:
        return Mistake(BREACHES[kind], said)
    if kind == "NotImplementedError":
        return Mistake("not done yet", "Not done yet.")
    return Mistake("raises an error", f"The cell raises {' '.join(text.split())[:200]}")


def cases_in(printed: str, check, seeds: list[int]) -> list[Case]:
    """Read the lines of `probe` back into cases. Other lines are left out."""
    found: dict[int, dict] = {}
    current = None
    for line in printed.splitlines():
        if line.startswith("seed ") and line[5:].isdigit():
            current = found.setdefault(int(line[5:]), {})
        elif current is not None and (pair := read_line(line)):
            current[pair[0]] = pair[1]
    return [
        Case(seed, inputs_of(check, seed), expected_of(check, seed), found[seed])
        for seed in seeds
        if found.get(seed)
    ]
