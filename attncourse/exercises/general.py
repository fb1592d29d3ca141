"""Mistakes that can be made in every task."""

from __future__ import annotations

import numpy as np

from attncourse.exercises.seen import near, same
from attncourse.exercises.task import Mistake

NOT_DONE = "not done yet"
UNUSABLE = "CannotBeUsed"  # an error that came up with what an answer had returned
KINDS = {"ndarray": "a NumPy array", "list": "a list", "tuple": "a tuple"}


def general_mistake(check, failing, cases, within) -> Mistake:
    """Name what is wrong where none of a check's own mistakes explains it.

    Parameters
    ----------
    check : Check
        The check that does not hold.
    failing : list of Case
        The cases in which it does not.
    cases : list of Case
        All cases.
    within : dict
        How far equal numbers may lie apart, for `same`.
    """
    case = failing[0]
    seen, expected = case.seen, case.expected
    first = next(iter(seen.values()))
    if len(failing) < len(cases) and not any(c.seed in check.seeds for c in failing):
        return Mistake(
            "fixed to the visible inputs",
            "The answer is right for the inputs of the notebook and wrong for others. "
            "Is a size, or an answer, written into the code?",
        )
    if first.kind == "error":
        return _error(first.text)
    if any(same_as_for_others(failed, cases, within) for failed in failing):
        return Mistake(
            "kept from another call",
            "This is the right answer to *other* inputs, those of another call. Is "
            "something kept from one call to the next?",
        )
    if seen.keys() != expected.keys():
        return Mistake(
            "other parts",
            f"The parts should be {_listed(expected)}, but they are {_listed(seen)}.",
        )
    overwritten = any(part.text.startswith("changed: ") for part in seen.values())
    for name, wanted in expected.items():
        what = "The result" if name == "result" else f"`{name}`"
        if same(seen[name], wanted, **within):
            continue
        if overwritten and wanted.kind == "float":
            continue  # that says more than what became of the values
        if found := _difference(what, seen[name], wanted):
            return found
    return Mistake("other values", "The values are not the ones expected.")


def same_as_for_others(case, cases, within) -> bool:
    """Say whether what was seen is what was expected for other inputs."""
    others = [c for c in cases if c is not case]
    return any(
        name in other.expected
        and part.values.size > 1
        and same(part, other.expected[name], **within)
        and not same(part, case.expected[name], **within)
        for other in others
        for name, part in case.seen.items()
        if part.kind == "float" and name in case.expected
    )


def _listed(parts) -> str:
    return ", ".join(parts)


def _error(text: str) -> Mistake:
    kind, _, message = text.partition(":")
    if kind == "NotImplementedError":
        return Mistake(NOT_DONE, "Not done yet.")
    if kind == UNUSABLE and message.strip().startswith("KeyError: "):
        absent = message.split("KeyError: ")[1]
        return Mistake(
            "an entry is missing", f"The dict that is returned has no entry {absent}."
        )
    if kind == UNUSABLE:
        return Mistake(
            "cannot be used",
            "The answer returns something with which the check cannot go on"
            f"{_which(message)}:{message}. Is it a tensor, or as many tensors as are "
            "asked for, of the shapes that are asked for?",
        )
    return Mistake("raises an error", f"The answer raises {kind}:{message}")


def _which(message: str) -> str:
    for kind, what in KINDS.items():
        if f"'{kind}'" in message or f".{kind}'" in message:
            return f" ({what})"
    return ""


def _difference(what, seen, wanted) -> Mistake | None:
    if seen.kind == "nothing":
        return Mistake(
            "returns nothing", f"{what} is None. Is the `return` missing somewhere?"
        )
    if seen.kind == "text" and seen.text.startswith("changed"):
        return Mistake(
            "changes its input",
            f"The call overwrites what it was given ({seen.text}). Operations that end "
            "in an underscore and `x[...] = ` write into the caller's tensor.",
        )
    if seen.kind == "other" or (seen.kind == "text") != (wanted.kind == "text"):
        wanted_kind = "a tensor" if wanted.shape else "a number"
        wanted_kind = "a text" if wanted.kind == "text" else wanted_kind
        kind = seen.text if seen.kind == "other" else seen.kind
        kind = KINDS.get(kind, f"of type {kind}")
        return Mistake(
            "wrong type", f"{what} should be {wanted_kind}, but it is {kind}."
        )
    if wanted.kind == "nothing":
        return Mistake("something for None", f"{what} should be None here.")
    if seen.shape != wanted.shape:
        return Mistake(
            "wrong shape",
            f"{what} should have shape {wanted.shape}, but it has {seen.shape}.",
        )
    if seen.kind != wanted.kind:
        return Mistake(
            "wrong type",
            f"{what} should be of type {wanted.kind}, but it is of type {seen.kind}.",
        )
    if (
        seen.values.size
        and not np.isfinite(seen.values[np.isfinite(wanted.values)]).all()
    ):
        return Mistake(
            "not a number",
            f"{what} has entries that are not finite numbers. Where does the code "
            "divide by zero, or take the softmax of a row that is all minus infinity?",
        )
    if wanted.kind == "float" and (found := _related(what, seen, wanted)):
        return found
    if wanted.kind == "float" and wanted.values.size > 1 and _nearly(seen, wanted):
        return Mistake(
            "not exact",
            f"{what} is nearly right: only the third digit or so differs. Is a part "
            "of it computed in half precision or rounded, or has a small number been "
            "added on the way?",
        )
    return None


def _related(what, seen, wanted) -> Mistake | None:
    """Name what single numbers have in common, or the places where they stand."""
    ours, right = seen.values, wanted.values
    if ours.size < 3 or not np.isfinite(ours).all() or not np.isfinite(right).all():
        return None
    size = right @ right
    if size == 0 or np.ptp(right) < 0.05 * np.abs(right).max():
        return None
    factor = ours @ right / size
    if near(ours, factor * right) and not near(ours, 0) and not near(factor, 1):
        return Mistake(
            "a multiple",
            f"{what} is {factor:.3g} times what was expected, every number of it. A "
            "factor is missing, or is there once too often.",
        )
    if near(1 - ours, right):
        return Mistake(
            "what is missing from 1",
            f"{what} is 1 minus what was expected, for every number.",
        )
    if near(np.sort(ours), np.sort(right)) and not near(ours, right):
        return Mistake(
            "numbers in other places",
            f"{what} has the right numbers, but some of them stand in other places. "
            "Have axes been exchanged, or brought into shape by a reshape?",
        )
    return None


def _nearly(seen, wanted) -> bool:
    finite = np.isfinite(wanted.values)
    size = np.abs(wanted.values[finite]).max(initial=0)
    return np.allclose(seen.values, wanted.values, rtol=0, atol=0.003 * size)
