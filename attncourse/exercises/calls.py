"""Call an answer with the inputs of a check and note down what came back."""

from __future__ import annotations

import contextlib
import copy
import dis
import linecache
import traceback
from dataclasses import replace

import torch

from attncourse.exercises.seen import Seen, describe, same
from attncourse.exercises.task import Check

BY_HAND = dis.opmap["RAISE_VARARGS"]  # a `raise` in the code
UNUSABLE = "CannotBeUsed"  # an error that came up with what an answer had returned
# Seen beside what was returned; the last two only where they are wrong.
INPUTS_AFTER = "the inputs after the call"
AGAIN = "a second call"
NARROW = "precision of the numbers"


def inputs_of(check: Check, seed: int) -> dict:
    """Draw the inputs of a check from a seed."""
    return check.inputs(torch.Generator().manual_seed(seed))


def parts_of(value) -> dict:
    """Return what `ask`, `expected` and `wrong` return as a dict of parts."""
    return value if isinstance(value, dict) else {"result": value}


def described(value, *, tensors: bool = False) -> dict[str, Seen]:
    """Return {name: Seen} for what `ask`, `expected` and `wrong` return."""
    return {k: describe(part, tensors=tensors) for k, part in parts_of(value).items()}


def expected_of(check: Check, seed: int) -> dict[str, Seen]:
    """Return what a right answer gives for the inputs of one seed."""
    expected = described(check.expected(**inputs_of(check, seed)))
    if check.pure:
        expected[INPUTS_AFTER] = Seen("text", text="unchanged")
    return expected


def run_cases(check: Check, answers, seeds) -> list[dict[str, Seen]]:
    """Call the answers with the inputs of each seed and return what was seen.

    When all is done, they are called with the first inputs again, where it matters to
    nobody without recording gradients: what comes back has to be the same.
    """
    found = [_called(check, answers, seed) for seed in seeds]
    if check.once or _ended_in_error(found[0]):
        return found
    recording = contextlib.nullcontext if check.gradients else torch.no_grad
    with recording():
        second = _called(check, answers, seeds[0])
    if not _alike(found[0], second, tolerance=max(check.tolerance, 1e-4)):
        third = _called(check, answers, seeds[0])
        mode = _alike(found[0], third, tolerance=max(check.tolerance, 1e-4))
        said = "other values without gradients" if mode else "other values"
        found[0][AGAIN] = Seen("text", text=said)
    return found


def _ended_in_error(seen: dict[str, Seen]) -> bool:
    return any(part.kind == "error" for part in seen.values())


def _called(check: Check, answers, seed: int) -> dict[str, Seen]:
    inputs = inputs_of(check, seed)
    given = copy.deepcopy(inputs)
    try:
        value = check.ask(*answers, **given)
        seen = described(value, tensors=check.tensors)
    except Exception as error:
        said = describe(error)
        if isinstance(error, NotImplementedError) and not _left_open(error):
            said = replace(said, text=f"RuntimeError: {error}")  # a library's limit
        if not _of_the_answer(error):
            said = replace(said, text=f"{UNUSABLE}: {said.text}")
        return {"result": replace(said, where=_line_of(error))}
    if check.pure:
        changed = [
            k for k in inputs if not _alike(described(inputs[k]), described(given[k]))
        ]
        said = f"changed: {', '.join(changed)}" if changed else "unchanged"
        seen[INPUTS_AFTER] = Seen("text", text=said)
    narrow = _narrow(value) - _narrow(inputs)
    if narrow:
        seen[NARROW] = Seen("text", text=", ".join(sorted(narrow)))
    return seen


def _narrow(value) -> set[str]:
    """Return the types of tensors that hold few digits or only small numbers."""
    found = parts_of(value).values()
    tensors = [part for part in found if isinstance(part, torch.Tensor)]
    return {
        str(t.dtype).removeprefix("torch.")
        for t in tensors
        if t.dtype.itemsize < 4 and t.dtype not in (torch.bool, torch.uint8)
    }


def _left_open(error: Exception) -> bool:
    """Say whether an error was raised by hand: the task is not done yet.

    PyTorch raises the same kind where it has no kernel for a type of number, or a
    module has no `forward`.
    """
    at = error.__traceback__
    while at.tb_next:
        at = at.tb_next
    library = at.tb_frame.f_globals.get("__name__", "").startswith("torch")
    return at.tb_frame.f_code.co_code[at.tb_lasti] == BY_HAND and not library


def _of_the_notebook(frame) -> bool:
    return frame.f_globals.get("__name__") == "__main__"


def _of_the_answer(error: Exception) -> bool:
    """Say whether an error came up in an answer, and not after it had returned."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    if isinstance(error, NotImplementedError):
        return True
    if isinstance(error, TypeError) and "argument" in str(error):
        return True  # the call itself did not fit
    return any(map(_of_the_notebook, frames))


def _line_of(error: Exception) -> str:
    """Return the innermost line of the notebook in which `error` was raised."""
    lines = [
        linecache.getline(frame.f_code.co_filename, number).strip()
        for frame, number in traceback.walk_tb(error.__traceback__)
        if _of_the_notebook(frame)
    ]
    return lines[-1] if lines else ""


def _alike(one: dict[str, Seen], other: dict[str, Seen], *, tolerance=0.0) -> bool:
    return one.keys() == other.keys() and all(
        same(one[name], other[name], tolerance=tolerance) for name in one
    )
