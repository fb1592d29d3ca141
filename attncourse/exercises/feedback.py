"""The text that a student reads."""

from __future__ import annotations

import os
import textwrap

import numpy as np

from attncourse.exercises.calls import INPUTS_AFTER
from attncourse.exercises.general import NOT_DONE
from attncourse.exercises.others import ELSEWHERE
from attncourse.exercises.seen import Seen, describe

WIDTH, MARGIN = 78, 11
# Where the book is read. A course that has its own copy sets the variable.
BOOK = os.environ.get("ATTNCOURSE_BOOK", "https://attncourse.github.io/attncourse/")
MOST_ROWS, MOST_COLUMNS = 4, 4  # of a matrix that is shown


def number(points: float) -> str:
    """Return points as text without a needless ``.0``."""
    return f"{points:g}"


def text_of_task(label: str, task, verdicts, under=()) -> str:
    """Return what is said about one task.

    What holds is listed; the first thing that does not is explained; the rest is named.

    Parameters
    ----------
    label : str
        The number of the task.
    task : Task
        What was asked for.
    verdicts : list of Verdict
        One for each check.
    under : list of str
        Numbers of tasks that this one builds on and that do not hold.
    """
    got = sum(v.points for v in verdicts)
    head = f"Task {label}: {task.title}"
    points = f"{number(got)} of {number(task.points)} points"
    lines = [f"{head}{points:>{max(WIDTH - len(head), len(points) + 2)}}"]
    if all(v.mistake == NOT_DONE for v in verdicts):
        return "\n".join([*lines, "  Not done yet."])
    explained = set()
    for verdict in verdicts:
        state = "holds  " if verdict.holds else "not yet"
        lines += _wrapped(f"  {state}  ", verdict.check.claim)
        if not verdict.holds and not explained:
            lines += text_of_fault(verdict)
            explained.add(verdict.mistake)
    if under:
        lines += _wrapped("  note     ", _about_others(under))
    return "\n".join(lines)


def _about_others(labels) -> str:
    one, last = len(labels) == 1, labels[-1]
    which = f"Task {last}" if one else f"Tasks {', '.join(labels[:-1])} and {last}"
    return (
        f"The answer calls that of {which}, which {'does' if one else 'do'} not hold "
        f"yet. Mend {'it' if one else 'them'} first: the fault may lie there. When "
        "this is graded, it is tried with a right answer in the place of yours, too, "
        "and the better result counts."
    )


def text_of_fault(verdict) -> list[str]:
    """Return the lines that explain one fault: the words, the input, where to read."""
    margin = " " * MARGIN
    lines = _wrapped(margin, verdict.says)
    if verdict.case is not None:
        lines += [margin + line if line else "" for line in example(verdict)]
    if verdict.read:
        lines.append(f"{margin}Read: {address(verdict.read)}")
    return lines


def address(read: str) -> str:
    """Return the address in the book of ``chapters/05_masking#heading``."""
    page, _, heading = read.partition("#")
    return f"{BOOK}{page}.html{'#' + heading if heading else ''}"


def example(verdict) -> list[str]:
    """Return the smallest input that shows a fault, and expected beside received."""
    case = verdict.case
    first = next(iter(case.seen.values()))
    if first.kind == "error":
        return [*_error(verdict, first), *_line(first)]
    for name, wanted in case.expected.items():
        seen = case.seen.get(name)
        if seen is None or name == INPUTS_AFTER or _equal(seen, wanted):
            continue
        label = "" if name == "result" else f" {name}"
        lines = _given(case.inputs, shapes=seen.shape != wanted.shape)
        return lines + _side_by_side(f"expected{label}", wanted, "received", seen)
    return _given(case.inputs, shapes=True)


def _error(verdict, seen: Seen) -> list[str]:
    if verdict.mistake in (NOT_DONE, ELSEWHERE, "raises an error"):
        return []  # the words say it
    shapes = _given(verdict.case.inputs, shapes=True)
    return [*shapes, *textwrap.wrap(seen.text, WIDTH - MARGIN)]


def _line(seen: Seen) -> list[str]:
    """Return the line of the notebook that raised an error."""
    undone = seen.text.startswith("NotImplementedError")
    if undone or not seen.where:
        return []
    line = textwrap.shorten(seen.where, 2 * WIDTH, placeholder=" …")
    return textwrap.wrap(f"It stopped in the line `{line}`.", WIDTH - MARGIN)


def _given(inputs: dict, *, shapes: bool) -> list[str]:
    """Return the lines that say what was put in: where that is enough, its shapes."""
    lines = ["For example, with"] if inputs else []
    inputs = {k: v for name, value in inputs.items() for k, v in _parts(name, value)}
    for name, value in inputs.items():
        shape = getattr(value, "shape", ())
        lines += (
            [f"  {name}, shape {tuple(shape)}"]
            if shapes and shape
            else _assignment(name, value)
        )
    return lines


def _parts(name: str, value) -> list[tuple]:
    """Return names and values of the tensors in a dict, or the value as it is."""
    if isinstance(value, dict) and any(hasattr(v, "shape") for v in value.values()):
        return [(f"{name}[{key!r}]", part) for key, part in value.items()]
    return [(name, value)]


def _equal(one: Seen, other: Seen) -> bool:
    if one.kind != other.kind or one.text != other.text or one.shape != other.shape:
        return False
    return np.allclose(one.values, other.values, atol=5e-4, equal_nan=True)


def _assignment(name: str, value) -> list[str]:
    seen = describe(value)
    if seen.kind in ("other", "nothing", "text"):
        return _wrapped(f"  {name} = ", str(value), WIDTH - MARGIN)[:MOST_ROWS]
    rows = _rows(seen)
    if len(rows) == 1:
        return [f"  {name} = {rows[0]}"]
    head = f"  {name}, shape {seen.shape}:"
    return [head, *(f"    {row}" for row in rows)]


def _rows(seen: Seen, at: tuple[int, int, int] = (0, 0, 0)) -> list[str]:
    """Return some rows of an array: of one matrix if it has more axes.

    `at` says which matrix, and with which row and column to begin.
    """
    if seen.kind in ("nothing", "other", "error", "text"):
        return [seen.text or seen.kind]
    if not seen.shape:
        return [_entry(seen.values[0], seen.kind).strip()]
    columns = seen.shape[-1]
    rows = seen.shape[-2] if len(seen.shape) > 1 else 1
    if seen.values.size < int(np.prod(seen.shape)):
        return [f"an array of shape {seen.shape}"]
    if not seen.values.size:
        return [f"an empty array of shape {seen.shape}"]
    matrix, top, left = at
    matrix = seen.values.reshape(-1, rows, columns)[matrix]
    lines = [
        ("... " if left else "")
        + " ".join(_entry(v, seen.kind) for v in row[left : left + MOST_COLUMNS])
        + (" ..." if columns > left + MOST_COLUMNS else "")
        for row in matrix[top : top + MOST_ROWS]
    ]
    return (
        (["..."] if top else []) + lines + (["..."] if rows > top + MOST_ROWS else [])
    )


def _first_difference(one: Seen, other: Seen) -> tuple[int, int, int]:
    """Return where to look to see a difference: matrix, first row, first column."""
    if one.shape != other.shape or not one.values.size or not one.shape:
        return 0, 0, 0
    if one.values.size < int(np.prod(one.shape)):
        return 0, 0, 0
    unlike = ~np.isclose(one.values, other.values, atol=5e-4, equal_nan=True)
    *_, row, column = (0, *np.unravel_index(unlike.argmax(), one.shape))
    matrix = int(unlike.argmax()) // int(np.prod(one.shape[-2:]))
    return matrix, max(0, row - MOST_ROWS + 1), max(0, column - MOST_COLUMNS + 1)


def _entry(value: float, kind: str) -> str:
    if kind == "bool":
        return "True " if value else "False"
    if kind == "int":
        return f"{int(value):3d}"
    return f"{value:7.3f}".replace("-0.000", " 0.000")


def _side_by_side(
    left_name: str, left: Seen, right_name: str, right: Seen
) -> list[str]:
    at = _first_difference(left, right)
    ours, theirs = _rows(left, at), _rows(right, at)
    if at[0]:  # which of the matrices is shown
        part = ", ".join(map(str, np.unravel_index(at[0], left.shape[:-2])))
        left_name, right_name = f"{left_name}[{part}]", f"{right_name}[{part}]"
    if left.shape != right.shape:
        return [
            f"{left_name}: shape {left.shape}",
            f"{right_name}: {_shape(right)}",
        ]
    width = max(len(left_name), *map(len, ours)) + 4
    height = max(len(ours), len(theirs))
    ours += [""] * (height - len(ours))
    theirs += [""] * (height - len(theirs))
    lines = [f"{left_name:<{width}}{right_name}"]
    return lines + [
        f"{a:<{width}}{b}".rstrip() for a, b in zip(ours, theirs, strict=True)
    ]


def _shape(seen: Seen) -> str:
    if seen.kind in ("nothing", "other", "text"):
        return {"nothing": "None", "text": "a text"}.get(seen.kind, seen.text)
    return f"shape {seen.shape}" if seen.shape else "a number"


def _wrapped(lead: str, text: str, width: int = WIDTH) -> list[str]:
    return textwrap.wrap(
        text, width, initial_indent=lead, subsequent_indent=" " * len(lead)
    )


def text_of_report(exercise, results) -> str:
    """Return the points of all tasks, and the first fault of each.

    Parameters
    ----------
    exercise : Exercise
        The exercise.
    results : list of (str, Task, list of Verdict, ...)
        Label, task and verdicts of each task; and, if known, the numbers of the tasks
        that it builds on and that do not hold.
    """
    parts = [f"Exercise {exercise.number}: {exercise.title}", ""]
    for result in results:
        parts += [text_of_task(*result), ""]
    total = sum(v.points for _, _, verdicts, *_ in results for v in verdicts)
    parts.append(f"Together {number(total)} of {number(exercise.points)} points.")
    return "\n".join(parts)
