"""Run the checks of a task and say what holds, and what is wrong where it does not."""

from __future__ import annotations

import copy
import linecache
import math
import re
import traceback
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from attncourse.exercises.seen import Seen, describe, line_of, near_an_edge, same
from attncourse.exercises.task import Check, Exercise, Mistake, Task

ELSEWHERE = "builds on a task that is not done"
INPUTS_AFTER = "the inputs after the call"
EDGE = 2e-5  # two right answers differ by less than this


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


def inputs_of(check: Check, seed: int) -> dict:
    """Draw the inputs of a check from a seed."""
    import torch

    return check.inputs(torch.Generator().manual_seed(seed))


def described(value) -> dict[str, Seen]:
    """Return {name: Seen} for what `ask`, `expected` and `wrong` return."""
    if isinstance(value, dict):
        return {name: describe(part) for name, part in value.items()}
    return {"result": describe(value)}


def run_case(check: Check, answers, seed: int) -> dict[str, Seen]:
    """Call the answers with the inputs of one seed and return what was seen."""
    inputs = inputs_of(check, seed)
    given = copy.deepcopy(inputs)
    try:
        seen = described(check.ask(*answers, **given))
    except Exception as error:
        return {"result": replace(describe(error), where=_line_of(error))}
    if check.pure:
        changed = [k for k in inputs if not _equal(described(inputs[k]), given[k])]
        said = f"changed: {', '.join(changed)}" if changed else "unchanged"
        seen[INPUTS_AFTER] = Seen("text", text=said)
    return seen


def _line_of(error: Exception) -> str:
    """Return the innermost line of the notebook in which `error` was raised."""
    lines = [
        linecache.getline(frame.f_code.co_filename, number).strip()
        for frame, number in traceback.walk_tb(error.__traceback__)
        if frame.f_globals.get("__name__") == "__main__"
    ]
    return lines[-1] if lines else ""


def _equal(before: dict[str, Seen], after) -> bool:
    after = described(after)
    return before.keys() == after.keys() and all(
        same(before[name], after[name], tolerance=0) for name in before
    )


def expected_of(check: Check, seed: int) -> dict[str, Seen]:
    """Return what a right answer gives for the inputs of one seed."""
    expected = described(check.expected(**inputs_of(check, seed)))
    if check.pure:
        expected[INPUTS_AFTER] = Seen("text", text="unchanged")
    return expected


def lines_of_case(check: Check, seed: int, seen: dict[str, Seen]) -> list[str]:
    """Return what was seen as lines, for the grader."""
    head = f"seed {seed}"
    return [head] + [line_of(k, v, digits=check.digits) for k, v in seen.items()]


def safe_seeds(check: Check, seeds: Iterable[int]) -> Iterator[int]:
    """Yield the seeds for which no number lies near an edge of rounding.

    The grader compares rounded numbers. Where a right answer lies on the edge between
    two roundings, another right answer may fall on the other side.
    """
    for seed in seeds:
        values = expected_of(check, seed).values()
        if not any(near_an_edge(v, digits=check.digits, margin=EDGE) for v in values):
            yield seed


def _matches(one: dict[str, Seen], other: dict[str, Seen], tolerance: float) -> bool:
    return one.keys() == other.keys() and all(
        same(one[name], other[name], tolerance=tolerance) for name in one
    )


def judge(check: Check, cases: list[Case], *, tolerance=None) -> Verdict:
    """Say whether a check holds on all cases, and if not, which mistake explains it.

    Parameters
    ----------
    check : Check
        What is claimed.
    cases : list of Case
        The inputs, with what was expected and seen.
    tolerance : float, optional
        For numbers; the check's own by default. What was printed is less exact.

    Returns
    -------
    Verdict
        With the first of the check's mistakes that explains every failing case, else
        with a general one.
    """
    from attncourse.exercises.general import general_mistake

    tolerance = tolerance or check.tolerance
    failing = [c for c in cases if not _matches(c.seen, c.expected, tolerance)]
    failing.sort(key=lambda case: (case.seed not in check.seeds, _size(case)))
    if not failing:
        return Verdict(check, True)
    for mistake in check.mistakes:
        if all(_made(mistake, check, case, tolerance) for case in failing):
            break
    else:
        mistake = general_mistake(check, failing, cases)
    case = failing[0] if failing[0].seed in check.seeds else None
    return Verdict(check, False, mistake.name, mistake.says, mistake.read, case)


def _made(mistake: Mistake, check: Check, case: Case, tolerance: float) -> bool:
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
            if _matches(case.expected, value, tolerance):
                return False  # with these inputs the mistake makes no difference
            value[INPUTS_AFTER] = case.seen[INPUTS_AFTER]
    return _matches(case.seen, value, tolerance)


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
        cases = [
            Case(
                seed,
                inputs_of(check, seed),
                expected_of(check, seed),
                run_case(check, answers, seed),
            )
            for seed in check.seeds
        ]
        verdicts.append(_with_other_tasks(judge(check, cases), exercise, task))
    return verdicts


def _with_other_tasks(verdict, exercise, task):
    """Say so where an error comes from another task that this one builds on."""
    if verdict.case is None:
        return verdict
    said = next(iter(verdict.case.seen.values())).text
    undone = re.fullmatch(r"NotImplementedError: Task ([\d.]+)", said)
    if undone and undone[1] != exercise.label(task):
        return replace(
            verdict,
            mistake=ELSEWHERE,
            says=f"The answer calls that of Task {undone[1]}, which is not done yet.",
        )
    unknown = re.fullmatch(r"NameError: name '(\w+)' is not defined.*", said)
    if unknown and verdict.mistake == "raises an error":
        tasks = [exercise.label(t) for t in exercise.tasks if unknown[1] in t.names]
        whose = f", which Task {tasks[0]} asks for" if tasks else ""
        return replace(
            verdict,
            says=f"The answer uses `{unknown[1]}`{whose}. There is nothing of this "
            "name: has its cell been run, and is the name spelt in the same way?",
        )
    return verdict


def missing(task: Task, answers) -> Mistake | None:
    """Say which of the names that a task asks for is missing."""
    absent = [n for n, a in zip(task.names, answers, strict=True) if a is None]
    if not absent:
        return None
    return Mistake(
        "missing", f"{absent[0]} is not defined. Run the cell that defines it first."
    )


def forbidden(exercise: Exercise, answers) -> Mistake | None:
    """Say which name an answer uses that the exercise does not allow."""
    for name in sorted(set().union(*map(names_used, answers))):
        if name in exercise.forbidden:
            return Mistake("forbidden function", exercise.forbidden[name])
    return None


def names_used(thing, seen=None) -> set[str]:
    """Return the names that a function or class uses, and those of what it calls.

    Functions and classes of the same notebook are followed, and their own names do not
    count; libraries are not followed, and theirs do.
    """
    seen = set() if seen is None else seen
    if id(thing) in seen or thing is None:
        return set()
    seen.add(id(thing))
    thing = getattr(thing, "func", thing)  # of functools.partial
    thing = getattr(thing, "__func__", thing)
    if not isinstance(thing, types.FunctionType | types.BuiltinFunctionType | type):
        return names_used(type(thing), seen)  # an object that can be called
    if _of_a_library(thing):
        return {thing.__name__, thing.__module__ or ""}
    if isinstance(thing, type):
        parts = [v for k, v in vars(thing).items() if not k.startswith("__dict")]
        found = [names_used(p, seen) for p in parts if callable(p)]
        own = [b for b in thing.__mro__[1:] if b.__module__ == thing.__module__]
        return set().union(*found, *(names_used(b, seen) for b in own), set())
    names = _names_in(thing.__code__)
    for name in list(names):
        used = thing.__globals__.get(name)
        if getattr(used, "__module__", None) == thing.__module__:
            names.discard(name)  # the student's own function may have any name
            names |= names_used(used, seen)
            continue
        # `from torch... import x as y` hides x from the code; its own name tells.
        names.add(getattr(used, "__name__", "").split(".")[-1])
        # Where it comes from tells too: "attncourse.layers.heads".
        module = used if isinstance(used, types.ModuleType) else None
        names.add(module.__name__ if module else getattr(used, "__module__", "") or "")
    return names


def _of_a_library(thing) -> bool:
    if isinstance(thing, types.BuiltinFunctionType):
        return True
    top = (thing.__module__ or "").split(".")[0]
    return top in ("attncourse", "builtins", "numpy", "torch", "transformers")


def _names_in(code: types.CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names_in(constant)
    return names
