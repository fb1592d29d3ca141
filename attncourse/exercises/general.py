"""Mistakes that can be made in every task."""

from __future__ import annotations

import numpy as np

from attncourse.exercises.task import Mistake

NOT_DONE = "not done yet"


def general_mistake(check, failing, cases) -> Mistake:
    """Name what is wrong where none of a check's own mistakes explains it.

    Parameters
    ----------
    check : Check
        The check that does not hold.
    failing : list of Case
        The cases in which it does not.
    cases : list of Case
        All cases.
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
    if seen.keys() != expected.keys():
        return Mistake(
            "other parts",
            f"The parts should be {_listed(expected)}, but they are {_listed(seen)}.",
        )
    for name, wanted in expected.items():
        what = "The result" if name == "result" else f"`{name}`"
        if found := _difference(what, seen[name], wanted):
            return found
    return Mistake("other values", "The values are not the ones expected.")


def _listed(parts) -> str:
    return ", ".join(parts)


def _error(text: str) -> Mistake:
    kind, _, message = text.partition(":")
    if kind == "NotImplementedError":
        return Mistake(NOT_DONE, "Not done yet.")
    return Mistake("raises an error", f"The answer raises {kind}:{message}")


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
        wanted_kind = "an array of numbers" if wanted.shape else "a number"
        wanted_kind = "a text" if wanted.kind == "text" else wanted_kind
        kind = seen.text if seen.kind == "other" else seen.kind
        return Mistake(
            "wrong type", f"{what} should be {wanted_kind}, but it is of type {kind}."
        )
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
    return None
