"""The checks as a student meets them: run the probes, print what holds and what not."""

import ast
import functools
import importlib
import linecache
import os
import sys
import textwrap
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from attncourse.exercises.compare import (
    NOT_DONE,
    NOT_RUN,
    Case,
    Verdict,
    judge,
    name_slip,
    points,
    refused,
)
from attncourse.exercises.forbidden import forbidden_uses
from attncourse.exercises.probe import Exercise, Task
from attncourse.exercises.recorded import known
from attncourse.exercises.run import INSTALLED, digest, draw, observe

WIDTH, MARGIN = 78, 11
# Where the book is read. A course that has its own copy sets the variable.
BOOK = os.environ.get("ATTNCOURSE_BOOK", "https://attncourse.github.io/attncourse/")
# Modules that no import names: there functions are defined that others show.
INNER = ("torch._C", "torch.autograd.grad_mode", "IPython.core", "builtins", "__main__")
OTHER_INPUTS = (
    "No values are recorded for these inputs, so the check cannot judge the answer. "
    "This version of PyTorch draws others, or `make expected` is due after a change."
)


@contextmanager
def attempt() -> Iterator[None]:
    """Run a block that uses an answer; say so quietly where it is not done yet."""
    try:
        yield
    except NotImplementedError as error:
        print(f"Not done yet: {error}" if str(error) else NOT_DONE)


def open_exercise(name: str) -> "Checks":
    """Return the checks of an exercise, by its module: "attention_from_scratch".

    Raises ValueError if there is no such exercise.
    """
    full = f"attncourse.exercises.{name}"
    try:
        return Checks(importlib.import_module(full).EXERCISE)
    except (ModuleNotFoundError, AttributeError) as error:
        if isinstance(error, ModuleNotFoundError) and error.name != full:
            raise  # another package is missing, and the error names it
        raise ValueError(
            f"there is no exercise {name!r}: no module attncourse/exercises/{name}.py "
            "with an EXERCISE."
        ) from None


class Checks:
    """The checks of one exercise, to be called in its notebook."""

    def __init__(self, exercise: Exercise):
        self.exercise = exercise

    def check(self, name: str, *answers: Callable) -> None:
        """Check the answer to one task and print what was found.

        `answers` are the functions or classes that the task asks for, in its order.
        """
        task = self.exercise.task(name)
        verdicts = verdicts_on(self.exercise, task, answers)
        unsound = self._unsound(task, answers) if not _all_hold(verdicts) else []
        print(text_of_task(self.exercise.label(task), task, verdicts, unsound))

    def report(self) -> None:
        """Check every task with what the notebook defines, and print the points."""
        parts, total = [f"Exercise {self.exercise.number}: {self.exercise.title}\n"], 0
        for task in self.exercise.tasks:
            answers = [vars(sys.modules["__main__"]).get(n) for n in task.answers]
            verdicts = verdicts_on(self.exercise, task, answers)
            parts.append(text_of_task(self.exercise.label(task), task, verdicts) + "\n")
            total += points(task, verdicts)
        parts.append(f"Together {total:g} of {self.exercise.points:g} points.")
        print(*parts, sep="\n")

    def _unsound(self, task: Task, answers) -> list[str]:
        """Return the labels of tasks that an answer builds on and that do not hold."""
        space, found = vars(sys.modules["__main__"]), []
        words = _words(ast.parse(source_of(answers, space)))
        for other in self.exercise.tasks:
            if other is task or not words & set(other.answers):
                continue
            theirs = [space.get(name) for name in other.answers]
            if not _all_hold(verdicts_on(self.exercise, other, theirs)):
                found.append(self.exercise.label(other))
        return found


def _all_hold(verdicts) -> bool:
    return all(verdict.holds for verdict in verdicts)


def verdicts_on(exercise: Exercise, task: Task, answers, space=None) -> list[Verdict]:
    """Return a verdict for each probe, on the inputs of the notebook.

    `answers` are the student's objects in the task's order, None for a missing one, and
    `space` is where they were defined: by default the notebook's own names.
    """
    space = vars(sys.modules["__main__"]) if space is None else space
    for name, answer in zip(task.answers, answers, strict=False):
        if not callable(answer):
            says = f"`{name}` is not defined as the task asks."
            return refused(task, "missing", says)
    if len(answers) != len(task.answers):
        names = ", ".join(f"`{name}`" for name in task.answers)
        return refused(task, "missing", f"The check takes {names}, in this order.")
    names, others = exercise.rule_of(task)
    if uses := forbidden_uses(source_of(answers, space, names, others), names):
        return refused(task, "forbidden", uses[0])
    recorded, verdicts, came = known(exercise.notebook), [], {}
    for place, probe in enumerate(task.probes):
        if probe.slow and not _all_hold(verdicts):
            verdicts.append(Verdict(probe, False, "not run", (NOT_RUN,)))
            continue
        cases = []
        for seed in probe.seeds:
            inputs = draw(probe, seed)
            if digest(inputs) != recorded.digest(task.name, place, seed):
                return refused(task, "other inputs", OTHER_INPUTS)
            expected = recorded.expected(task.name, place, seed)
            cases.append(Case(seed, inputs, expected, observe(probe, answers, seed)))
        came[place] = {case.seed: case.came for case in cases}
        verdicts.append(judge(probe, cases))
    return name_slip(task, verdicts, came, recorded)


def _words(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def source_of(answers, space: dict, names=(), others=()) -> str:
    """Return the statements that define some answers, with what these use.

    `space` has what the notebook defines. Objects with the dotted `names` are known
    wherever they were imported; `others`, the answers to other tasks, are left out.
    """
    parts, done, todo = [], set(), []
    for answer in answers:
        thing = getattr(answer, "func", answer)  # of functools.partial
        thing = thing if hasattr(thing, "__name__") else type(thing)
        if thing.__module__ == "__main__":
            todo.append((thing.__name__, _cell_of(thing)))
        else:
            parts.append(_import_of(thing.__name__, thing, names))
    while todo:
        word, cell = todo.pop()
        if (word, cell) in done or word in others:
            continue
        done.add((word, cell))
        found = [part for part in _statements(cell) if word in part[1]]
        parts += (text for text, _, _ in found if text not in parts)
        todo += ((used, cell) for _, _, words in found for used in words)
        thing = space.get(word)
        if not found and getattr(thing, "__module__", None) == "__main__":
            todo.append((getattr(thing, "__name__", word), _cell_of(thing)))
        elif not found and (line := _import_of(word, thing, names)):
            parts.insert(0, line)
    return "\n".join(parts)


@functools.lru_cache(100)
def _statements(cell: str) -> list[tuple[str, set[str], set[str]]]:
    with suppress(SyntaxError):
        nodes = ast.parse(cell).body
        return [(ast.unparse(node), _bound(node), _words(node)) for node in nodes]
    return []


def _bound(node: ast.stmt) -> set[str]:
    """Return the names that a statement at the top of a cell defines."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    names = (n for n in ast.walk(node) if isinstance(n, ast.Name))
    return {n.id for n in names if isinstance(n.ctx, ast.Store)}


def _import_of(word, thing, names) -> str:
    """Return the line that would import a thing of a library under its name here."""
    if isinstance(thing, types.ModuleType):
        return f"import {thing.__name__} as {word}"
    for name in names:
        if thing is not None and thing is _named(name):
            module, _, last = name.rpartition(".")
            return f"from {module} import {last} as {word}"
    module, own = getattr(thing, "__module__", None), getattr(thing, "__name__", None)
    named = isinstance(module, str) and isinstance(own, str) and own.isidentifier()
    if named and not module.startswith(INNER):
        module = "torch.nn" if module.startswith("torch.nn.modules") else module
        return f"from {module} import {own} as {word}"
    return ""


def _named(name: str):
    module, _, last = name.rpartition(".")
    return getattr(sys.modules.get(module), last, None) if module else None


def _cell_of(thing) -> str:
    """Return the source of the cell in which a function or class was defined."""
    parts = [thing, *(vars(thing).values() if isinstance(thing, type) else ())]
    for part in parts:
        part = getattr(part, "__wrapped__", getattr(part, "__func__", part))
        code = getattr(part, "__code__", None)
        if code is None or code.co_filename.startswith(INSTALLED):
            continue
        if lines := linecache.getlines(code.co_filename):
            return "".join(x for x in lines if not x.lstrip().startswith(("%", "!")))
    return ""


# Text ------------------------------------------------------------------------------


def text_of_task(label: str, task: Task, verdicts, unsound=()) -> str:
    """Return what is said about one task, by its number.

    What holds is listed; the first thing that does not is explained; the rest is named.
    `unsound` are the numbers of tasks that this one builds on and that do not hold.
    """
    head = f"Task {label}: {task.title}"
    got = f"{points(task, verdicts):g} of {task.points:g} points"
    lines = [f"{head}{got:>{max(WIDTH - len(head), len(got) + 2)}}"]
    if not unsound and all(verdict.kind == "undone" for verdict in verdicts):
        return "\n".join([*lines, f"  {NOT_DONE}"])
    first = next((verdict for verdict in verdicts if not verdict.holds), None)
    for verdict in verdicts:
        state = "passed " if verdict.holds else "not yet"
        lines += _wrapped(f"  {state}  ", verdict.probe.claim)
        lines += _explained(verdict) if verdict is first else []
    if unsound:
        s, do = ("", "does") if len(unsound) == 1 else ("s", "do")
        says = f"The answer uses that of Task{s} {', '.join(unsound)}, which {do} not "
        lines += _wrapped("  note     ", says + "hold yet.")
    return "\n".join(lines)


def _explained(verdict: Verdict) -> list[str]:
    margin, lines = " " * MARGIN, []
    for sentence in verdict.sentences:
        lines += _wrapped(margin, sentence.replace("`", ""))
    lines += [f"{margin}{line}".rstrip() for line in verdict.example]
    if verdict.probe.read and verdict.kind == "values":
        lines.append(f"{margin}Read: {address(verdict.probe.read)}")
    return lines


def address(read: str) -> str:
    """Return the address in the book of ``chapters/05_masking#heading``."""
    page, _, heading = read.partition("#")
    return f"{BOOK}{page}.html{'#' + heading if heading else ''}"


def _wrapped(lead: str, text: str) -> list[str]:
    return textwrap.wrap(lead + text, WIDTH, subsequent_indent=" " * len(lead))
