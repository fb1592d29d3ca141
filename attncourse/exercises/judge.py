"""Run the checks of a task and say what holds, and what is wrong where it does not."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from attncourse.exercises.calls import (
    INPUTS_AFTER,
    described,
    expected_of,
    inputs_of,
    run_cases,
)
from attncourse.exercises.general import general_mistake
from attncourse.exercises.others import with_other_tasks
from attncourse.exercises.rules import built_on, forbidden, missing
from attncourse.exercises.seen import Seen, describe, line_of, near_an_edge, same
from attncourse.exercises.task import Check, Exercise, Mistake, Task

EDGE = 2e-5  # two right answers differ by less than this
EXACT = 1e-4  # a check with a larger tolerance allows for lost digits


@dataclass(frozen=True)
class Case:
    """One input of a check: what was put in, expected and seen."""

    seed: int
    inputs: dict
    expected: dict[str, Seen]
    seen: dict[str, Seen]


@dataclass(frozen=True)
class Verdict:
    """What is said about one check.

    Attributes
    ----------
    check : Check
        The check.
    holds : bool
        Whether the claim holds.
    mistake : str
        The name of the mistake, "" if it holds.
    says : str
        What the student reads.
    read : str
        Where the book explains it.
    case : Case or None
        The smallest input of the notebook that shows the fault. Hidden inputs are not
        shown.
    """

    check: Check
    holds: bool
    mistake: str = ""
    says: str = ""
    read: str = ""
    case: Case | None = None

    @property
    def points(self) -> float:
        """The points that the check gives."""
        return self.check.points if self.holds else 0


_remembered: dict = {}


def once(function, *arguments):
    """Call `function` with `arguments`, or return what the same call returned before.

    For checks that look at one trained model from several sides.

    Parameters
    ----------
    function : callable
        The student's function.
    *arguments
        Hashable arguments.
    """
    key = (function, arguments)
    if key not in _remembered:
        _remembered[key] = function(*arguments)
    return _remembered[key]


def lines_of_case(check: Check, seed: int, seen: dict[str, Seen]) -> list[str]:
    """Return what was seen as lines, for the grader."""
    return [f"seed {seed}"] + [
        line_of(k, v, digits=check.digits, mixed=_to_the_digit(check))
        for k, v in seen.items()
    ]


def _to_the_digit(check: Check) -> bool:
    """Say whether a part that was computed in half precision is to be found out."""
    return check.tolerance <= EXACT and not check.once


def safe_seeds(check: Check, seeds: Iterable[int]) -> Iterator[int]:
    """Yield the seeds for which no number lies near an edge of rounding.

    The grader compares rounded numbers. Where a right answer lies on the edge between
    two roundings, another right answer may fall on the other side.
    """
    for seed in seeds:
        values = expected_of(check, seed).values()
        how = {"digits": check.digits, "mixed": _to_the_digit(check)}
        if not any(near_an_edge(value, margin=EDGE, **how) for value in values):
            yield seed


def cases_of(check: Check, answers, seeds) -> list[Case]:
    """Call the answers with the inputs of some seeds, beside what is expected."""
    seen = run_cases(check, answers, seeds)
    return [
        Case(seed, inputs_of(check, seed), expected_of(check, seed), found)
        for seed, found in zip(seeds, seen, strict=True)
    ]


def _matches(one: dict[str, Seen], other: dict[str, Seen], **within) -> bool:
    return one.keys() == other.keys() and all(
        same(one[name], other[name], **within) for name in one
    )


def _printed_alike(check: Check, case: Case) -> bool:
    lines = [lines_of_case(check, case.seed, p) for p in (case.seen, case.expected)]
    return lines[0] == lines[1]


def judge(check: Check, cases: list[Case], *, tolerance: float = 0) -> Verdict:
    """Say whether a check holds on all cases, and if not, which mistake explains it.

    Parameters
    ----------
    check : Check
        What is claimed.
    cases : list of Case
        The inputs, with what was expected and seen.
    tolerance : float
        How far numbers may lie off because they were rounded for printing; 0 for
        what was not printed.

    Returns
    -------
    Verdict
        With the first of the check's mistakes that explains every failing case, else
        with a general one.
    """
    within = {"tolerance": check.tolerance, "rounding": tolerance}
    if tolerance and check.tolerance <= EXACT:  # the printed lines are compared
        failing = [c for c in cases if not _printed_alike(check, c)]
    else:
        failing = [c for c in cases if not _matches(c.seen, c.expected, **within)]
    failing.sort(key=lambda case: (case.seed not in check.seeds, _size(case)))
    if not failing:
        return Verdict(check, True)
    readable = not any(p.kind == "other" for c in failing for p in c.seen.values())
    for mistake in check.mistakes if readable else ():
        if all(_made(mistake, check, case, within) for case in failing):
            break
    else:
        mistake = general_mistake(check, failing, cases, within)
    case = failing[0] if failing[0].seed in check.seeds else None
    return Verdict(check, False, mistake.name, mistake.says, mistake.read, case)


def _made(mistake: Mistake, check: Check, case: Case, within: dict) -> bool:
    if next(iter(case.seen.values())).text.startswith("NotImplementedError"):
        return False  # nothing was made yet
    if mistake.when is not None:
        try:
            return bool(mistake.when(case.seen, case.expected, case.inputs))
        except (KeyError, ValueError, IndexError, TypeError):
            return False  # the values are of another form: another mistake
    inputs = copy.deepcopy(case.inputs)
    try:
        value = described(mistake.wrong(**inputs))
    except Exception as error:
        value = {"result": describe(error)}
    else:
        if check.pure and INPUTS_AFTER in case.seen:
            value[INPUTS_AFTER] = case.expected[INPUTS_AFTER]
            if _matches(case.expected, value, tolerance=check.tolerance):
                return False  # with these inputs the mistake makes no difference
            value[INPUTS_AFTER] = case.seen[INPUTS_AFTER]
    return _matches(case.seen, value, **within)


def _size(case: Case) -> int:
    shapes = (getattr(value, "shape", ()) for value in case.inputs.values())
    return sum(math.prod(shape) for shape in shapes)


def judge_task(exercise: Exercise, task: Task, answers) -> list[Verdict]:
    """Check the answer to one task on the inputs of the notebook.

    Parameters
    ----------
    exercise : Exercise
        Where the task is.
    task : Task
        What was asked for.
    answers : sequence
        The student's objects, in the order of ``task.names``; None for a missing one.

    Returns
    -------
    list of Verdict
        One for each check.
    """
    said = missing(task, answers) or forbidden(exercise, answers)
    if said is not None:
        return [Verdict(c, False, said.name, said.says, said.read) for c in task.checks]
    verdicts = []
    for check in task.checks:
        cases = cases_of(check, answers, check.seeds)
        verdicts.append(with_other_tasks(judge(check, cases), exercise, task))
    return verdicts


def unsound_under(exercise, task, verdicts, answers, namespace, known=None):
    """Return the numbers of tasks that this one builds on and that do not hold.

    Parameters
    ----------
    exercise : Exercise
        Where the task is.
    task : Task
        The task.
    verdicts : list of Verdict
        What was said about it. Where all of it holds, nothing else is looked at.
    answers : sequence
        The answers to it.
    namespace : dict
        Where the answers to the other tasks are.
    known : dict of str to list of Verdict, optional
        What was said about other tasks already, by their names.

    Returns
    -------
    list of str
        Such as ["1.1", "1.2"].
    """
    if all(verdict.holds for verdict in verdicts):
        return []
    known, found = known or {}, []
    for other in built_on(exercise, task, answers, namespace):
        others = known.get(other.name)
        if others is None:
            theirs = [namespace.get(name) for name in other.names]
            others = judge_task(exercise, other, theirs)
        if not all(verdict.holds for verdict in others):
            found.append(exercise.label(other))
    return found
