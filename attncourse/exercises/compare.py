"""Say whether what came is right, and what is wrong with it.

Nothing here runs beside a student's code when an exercise is graded.
"""

import math
import re
import textwrap
from dataclasses import dataclass

import numpy as np

from attncourse.exercises.probe import Probe, Task
from attncourse.exercises.recorded import Recorded
from attncourse.exercises.relations import relation, swapped_axes
from attncourse.exercises.run import KINDS, Observation, Value, value_of

MOST_ROWS, MOST_COLUMNS = 4, 5  # of a matrix that is shown
MOST_PARTS = 8  # of what is returned, named in a sentence
MOST_SHOWN = 16  # elements of an input whose numbers are shown
UNDONE = re.compile(r"NotImplementedError(: Task .*)?\Z", re.S)  # of an untouched cell
NOT_DONE = "Not done yet: this answer, or one that it uses."
NOT_RUN = "This takes longer, so it is tried when everything before it holds."
NUMERIC = ("tensor", "array", "number", "list")
HIDDEN = (
    "It holds for the inputs of the notebook's own check, but not for the others with "
    "which it is graded."
)


@dataclass(frozen=True)
class Case:
    """One input of a probe: what was put in, expected and seen."""

    seed: int
    inputs: dict
    expected: Observation
    came: Observation


@dataclass(frozen=True)
class Verdict:
    """What is said about one probe.

    The kind is "" if it holds; else "undone", "error", "form", "in place", "values",
    "not run" (slow, after one that failed) or the reason why the answer was not run.
    """

    probe: Probe
    holds: bool
    kind: str = ""
    sentences: tuple[str, ...] = ()  # what the student reads; code stands in backticks
    example: tuple[str, ...] = ()  # lines that show an input on which it fails


def refused(task: Task, kind: str, sentence: str) -> list[Verdict]:
    """Return verdicts on an answer that was not run."""
    return [Verdict(probe, False, kind, (sentence,)) for probe in task.probes]


def points(task: Task, verdicts: list[Verdict]) -> float:
    """Return the points of a task: the share that holds, rounded down to halves."""
    if all(verdict.holds for verdict in verdicts):
        return task.points
    whole = sum(verdict.probe.weight for verdict in verdicts)
    held = sum(verdict.probe.weight for verdict in verdicts if verdict.holds)
    share = math.floor(2 * task.points * held / whole + 1e-9) / 2
    return max(0.0, min(share, task.points - 0.5))


def holds(probe: Probe, case: Case) -> bool:
    """Say whether what came is what is expected."""
    came, expected = case.came, case.expected
    if came.error or set(came.changed) - set(expected.changed):
        return False
    if came.values.keys() != expected.values.keys():
        return False
    if probe.between is None:
        return not _unlike(probe, case, expected.values)
    pairs = [(came.values[n], v) for n, v in expected.values.items()]
    if any(c.kind != v.kind or c.shape != v.shape for c, v in pairs):
        return False  # nothing of another size is measured
    if _unlike(probe, case, probe.compared):
        return False
    number = measured(probe, case)
    return number is not None and probe.between[0] <= number <= probe.between[1]


def _unlike(probe: Probe, case: Case, names) -> list[str]:
    """Return the names of the values that are not those that are expected."""
    came, expected = case.came.values, case.expected.values
    return [name for name in names if not alike(probe, came[name], expected[name])]


def measured(probe: Probe, case: Case) -> float | None:
    """Return the number that a probe measures, or None if it cannot be measured."""
    values = {name: v.data for name, v in case.came.values.items()}
    try:
        with np.errstate(all="ignore"):
            number = float(probe.measure(values, case.inputs))
    except Exception:  # what came is nothing that can be measured
        return None
    return number if math.isfinite(number) else None


def alike(probe: Probe, came: Value, expected: Value) -> bool:
    """Say whether one value is what is expected."""
    if _form(probe, came, expected):
        return False
    if expected.data is None:
        return came.text == expected.text
    wanted, got = expected.data.astype(float), came.data.astype(float)
    near = {"atol": probe.tolerance, "rtol": probe.tolerance}
    return bool(np.allclose(wanted, got, equal_nan=True, **near))


def _form(probe: Probe, came: Value, wanted: Value) -> str:
    """Say why a value has not the form that is expected, in words after its name."""
    if came.kind != wanted.kind:
        is_one = came.kind == "tensor" and not came.shape
        what = "a tensor with one element" if is_one else KINDS.get(came.kind)
        wants = KINDS.get(wanted.kind, wanted.text)
        return f"should be {wants}; it is {what or came.text}"
    if wanted.kind not in NUMERIC or wanted.data is None:
        same = wanted.kind != "other" or came.type == wanted.type
        return "" if same else f"should be {wanted.text}; it is {came.text}"
    if came.shape != wanted.shape:
        if wanted.kind == "list" and len(wanted.shape) == len(came.shape) == 1:
            return f"should have the length {wanted.shape[0]}; it has {came.shape[0]}"
        return f"should have the shape {wanted.shape}; it has {came.shape}"
    if came.data is None:
        return f"holds something other than numbers: `{came.text[:80]}`"
    if probe.exact_type and came.type != wanted.type:
        return f"should have the type {wanted.type}; it has {came.type}"
    if wanted.kind in ("tensor", "number"):
        want, got = wanted.data.dtype.kind, came.data.dtype.kind
        if want != got and not (want == "f" and got == "i"):
            return f"should have the type {wanted.type}; it has {came.type}"
    return ""


def judge(probe: Probe, cases: list[Case]) -> Verdict:
    """Say whether a probe holds on all cases, and if not, what is wrong.

    Only the probe's own seeds are shown or spoken of.
    """
    failing = [case for case in cases if not holds(probe, case)]
    if not failing:
        return Verdict(probe, True)
    shown = [case for case in failing if case.seed in probe.seeds]
    if not shown:
        return Verdict(probe, False, "values", (probe.given, HIDDEN))
    shown.sort(key=_size)
    if UNDONE.match(shown[0].came.error):
        return Verdict(probe, False, "undone", (NOT_DONE,))
    find_by = {"error": _error, "form": _wrong_form, "in place": _changed}
    for kind, find in find_by.items():
        for case in shown:
            if said := find(probe, case):
                if kind == "form":
                    said += _exchanged(shown)
                said = [probe.given, *said] if kind == "error" else said
                given = _given(case.inputs, shapes=True) if kind != "in place" else ()
                return Verdict(probe, False, kind, tuple(said), tuple(given))
    first = shown[0]
    sentences = [probe.given, probe.why]
    if probe.between is not None:
        if wrong := _unlike(probe, first, probe.compared):
            sentences[1:] = [f"Before anything is measured: `{wrong[0]}` is wrong."]
        else:
            sentences.append(_measurement(probe, first))
        return Verdict(probe, False, "values", tuple(filter(None, sentences)))
    sentences.append(_parts(probe, shown))
    wrong = _unlike(probe, first, first.expected.values) or [*first.expected.values]
    for name in wrong:
        same = [c for c in shown if name in c.expected.values]
        if fact := _not_finite(name, same) or relation(same, name):
            sentences.append(fact)
            break
    else:
        name = wrong[0]
    said, example = tuple(filter(None, sentences)), _example(first, name)
    return Verdict(probe, False, "values", said, example)


def name_slip(task: Task, verdicts: list[Verdict], came, known: Recorded):
    """Put the sentence of a slip in the place of the general one, where it is known.

    `came` has what came for the notebook's own inputs, by probe and seed.
    """
    failing = [i for i, verdict in enumerate(verdicts) if not verdict.holds]
    failing = [i for i in failing if verdicts[i].kind != "not run"]
    if not failing or any(verdicts[i].kind == "undone" for i in failing):
        return verdicts
    says = known.slip(task.name, {i: came.get(i, {}) for i in failing})
    if not says:
        return verdicts
    first = verdicts[failing[0]]
    kept = first.sentences[:1] if first.kind == "values" else ()
    sentences = (*kept, says) if kept else (*first.sentences, says)
    named = Verdict(first.probe, False, first.kind, sentences, first.example)
    return [named if v is first else v for v in verdicts]


def _size(case: Case) -> int:
    shapes = (getattr(value, "shape", ()) for value in case.inputs.values())
    return sum(math.prod(shape) for shape in shapes)


def _error(probe, case) -> list[str]:
    if not case.came.error:
        return []
    where = f" It stopped in the line `{case.came.line}`." if case.came.line else ""
    return [*_changed(probe, case), f"Trying it raises `{case.came.error}`.{where}"]


def _wrong_form(probe, case) -> list[str]:
    wanted, came = case.expected, case.came
    missing = " Is a `return` missing?" if came.form == "None" else ""
    if wanted.values.keys() != came.values.keys():
        for name, value in wanted.values.items():
            if f"{name}[0]" in came.values:
                kind = KINDS.get(value.kind, value.text)
                what = "What is returned" if name == "result" else f"`{name}`"
                return [f"{what} should be {kind}; it is a tuple or list of several."]
        named = came.form.startswith("a dict") and 0 < len(came.values) <= MOST_PARTS
        got = f": {_listed(came.values)}" if named else f" is {came.form}"
        what = _listed(wanted.values)
        return [f"What should be returned: {what}. What came{got}.{missing}"]
    for name, value in wanted.values.items():
        if said := _form(probe, came.values[name], value):
            leaf = name.removeprefix("the gradient of ")
            if leaf != name and said.endswith("it is None"):
                return [f"No gradient reaches `{leaf}`."]
            what = "What is returned" if name == "result" else f"`{name}`"
            return [f"{what} {said}.{missing}"]
    return []


def _exchanged(shown) -> list[str]:
    """Say, of values in wrong shapes, that only two axes are exchanged."""
    for name in shown[0].expected.values:
        there = all(name in s.values for c in shown for s in (c.came, c.expected))
        if there and (said := swapped_axes(shown, name)):
            return [said]
    return []


def _changed(probe, case) -> list[str]:
    changed = [n for n in case.came.changed if n not in case.expected.changed]
    if not changed:
        return []
    said = f"The call changes {_listed(changed)}."
    return [f"{said} An input has to stay as it was."]


def _measurement(probe, case) -> str:
    number, (low, high) = measured(probe, case), probe.between
    if number is None:
        return ""
    bound = f"at least {low:g}" if number < low else f"at most {high:g}"
    return f"What is measured is {number:.4g}; it should be {bound}."


def _not_finite(name, shown) -> str:
    found = set()
    for case in shown:
        came, wanted = case.came.values[name].data, case.expected.values[name].data
        if came is None or came.dtype.kind != "f":
            return ""
        if wanted is None or not np.isfinite(wanted).all():
            return ""
        bad = ~np.isfinite(came)
        if not bad.any():
            return ""
        what = "NaN" if np.isnan(came).any() else "infinite"
        found.add((what, bool(bad.all())))
    what = "What came" if name == "result" else f"`{name}`"
    if len(found) == 1 and (kind := found.pop())[1]:
        return f"{what} is {kind[0]} throughout."
    return f"{what} has elements that are NaN or infinite."


def _parts(probe, shown) -> str:
    """Say which of several values are right, and which are wrong."""
    names = set.intersection(*(set(case.expected.values) for case in shown))
    wrong = {name for case in shown for name in _unlike(probe, case, names)}
    if not wrong or names <= wrong or len(names) > MOST_PARTS:
        return ""
    right = [name for name in shown[0].expected.values if name in names - wrong]
    return f"Right: {_listed(right)}. Wrong: {_listed(sorted(wrong))}."


def _listed(names) -> str:
    *most, last = (f"`{name.replace('`', '')}`" for name in names)
    return f"{', '.join(most)} and {last}" if most else last


def render(observation: Observation, probe: Probe) -> str:
    """Return what came as text with rounded numbers, for nbval to compare."""
    if observation.error:
        return observation.error.split(":")[0]
    parts = [f"changed {', '.join(observation.changed)}"] if observation.changed else []
    for name, value in observation.values.items():
        text = value.text
        if value.data is not None:
            data = np.round(value.data.astype(float), 4) + 0.0
            text = " ".join(f"{x:g}" for x in data.ravel()[:4000])
        type_ = value.type if probe.exact_type else ""
        line = f"{name} {value.kind} {type_} {value.shape} {text}"
        parts.append(" ".join(line.split()))
    return "\n".join(parts)


# What is shown ---------------------------------------------------------------------


def _example(case: Case, name: str) -> tuple[str, ...]:
    wanted, came = case.expected.values[name], case.came.values[name]
    lines = _given(case.inputs)
    label = "" if name == "result" else f" {name}"
    if wanted.data is None:
        lines += [f"expected{label}: {wanted.text}", f"received: {came.text}"]
        return tuple(lines)
    digits, start = _difference(wanted.data, came.data)
    if start[0]:
        place = np.unravel_index(start[0], wanted.shape[:-2])
        label += f"[{', '.join(map(str, place))}]"
    left = [f"expected{label}", *_rows(wanted, start, digits)]
    right = ["received", *_rows(came, start, digits)]
    width = max(map(len, left)) + 4
    for a, b in zip(left, right, strict=True):
        lines.append(f"{a:<{width}}{b}".rstrip())
    return tuple(lines)


def _given(inputs: dict, *, shapes: bool = False) -> list[str]:
    lines = []
    for name, thing in inputs.items():
        value = value_of(thing)
        large = shapes or value.data is None or value.data.size > MOST_SHOWN
        if value.kind in ("tensor", "array") and large and value.shape:
            lines.append(f"  {name}, shape {value.shape}")
        elif value.data is not None and value.shape:
            rows = _rows(value)
            if len(rows) == 1:
                lines.append(f"  {name} = {rows[0].strip()}")
            else:
                head = f"  {name}, shape {value.shape}:"
                lines += [head, *(f"    {row}" for row in rows)]
        elif value.kind in ("number", "text", "nothing", "list"):
            text = repr(thing) if value.kind != "nothing" else "None"
            lines.append(f"  {name} = {textwrap.shorten(text, 60, placeholder=' …')}")
    return ["For example, with", *lines] if lines else []


def _difference(one, other) -> tuple[int, tuple[int, int, int]]:
    """Return decimals that show a difference, and its matrix, row and column."""
    if one.shape != other.shape or not one.size:
        return 3, (0, 0, 0)
    with np.errstate(all="ignore"):
        gap = abs(one.astype(float) - other.astype(float))
    large = ~(gap <= 5e-4)  # or NaN
    at = int((large if large.any() else gap > 0).argmax())
    *_, row, column = map(int, (0, 0, *np.unravel_index(at, one.shape)))
    first = max(0, row - MOST_ROWS + 1), max(0, column - MOST_COLUMNS + 1)
    return 3 if large.any() else 6, (at // math.prod(one.shape[-2:]), *first)


def _rows(value: Value, start=(0, 0, 0), digits=3) -> list[str]:
    """Return some rows of an array: of one matrix if it has more axes."""
    if not value.data.size:
        return [f"nothing, shape {value.shape}"]
    matrix, top, left = start
    data = np.atleast_2d(value.data)
    whole = data.reshape(-1, *data.shape[-2:])[matrix]
    part = whole[top : top + MOST_ROWS, left : left + MOST_COLUMNS]
    part = np.round(part, digits) + 0.0 if part.dtype.kind == "f" else part
    shown = {"precision": digits, "floatmode": "fixed", "suppress": True}
    with np.printoptions(linewidth=200, **shown):
        lines = str(part)[2:-2].split("]\n [")
    after = " …" * (whole.shape[1] > left + MOST_COLUMNS)
    lines = ["… " * bool(left) + line + after for line in lines]
    return ["…"] * bool(top) + lines + ["…"] * (len(whole) > top + MOST_ROWS)
