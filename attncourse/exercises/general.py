"""Mistakes that can be made in every task."""

from __future__ import annotations

import numpy as np

from attncourse.exercises.calls import AGAIN, NARROW, UNUSABLE
from attncourse.exercises.errors import meaning_of
from attncourse.exercises.places import of_booleans
from attncourse.exercises.relations import relation_of
from attncourse.exercises.seen import same
from attncourse.exercises.shapes import about_shapes
from attncourse.exercises.task import Mistake

NOT_DONE = "not done yet"
KINDS = {
    "ndarray": "a NumPy array",
    "list": "a list",
    "tuple": "a tuple",
    "Figure": "a figure, not its axes",
}
NOT_EXACT = (
    "{} nearly right: only the third digit or so differs. Is a part of it computed in "
    "half precision or rounded, or has a small number been added on the way?"
)


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
    for part, about in ((AGAIN, _another_result), (NARROW, _narrow)):
        said = next((c.seen[part].text for c in failing if part in c.seen), None)
        if said is not None:
            return about(said)
    if any(same_as_for_others(failed, cases, within) for failed in failing):
        return Mistake(
            "kept from another call",
            "This is the right answer to *other* inputs, those of another call. Is "
            "something kept from one call to the next?",
        )
    if seen.keys() != expected.keys():
        return _other_parts(seen, expected)
    overwritten = any(part.text.startswith("changed: ") for part in seen.values())
    wrong = [k for k in expected if not same(seen[k], expected[k], **within)]
    if not wrong:
        return Mistake("not exact", NOT_EXACT.format("The numbers are"))
    if found := _exchanged(wrong, failing, within):
        return found
    for name in wrong:
        wanted = expected[name]
        what = "The result" if name == "result" else f"`{name}`"
        if overwritten and wanted.kind == "float":
            continue  # that says more than what became of the values
        if found := _difference(what, seen[name], wanted):
            return found
        if found := _related(name, what, failing, within):
            return found
    right = [k for k in expected if k not in wrong and expected[k].kind != "text"]
    if right and wrong:
        return Mistake(
            "other values in one part",
            f"{_listed(wrong)} {_is(wrong)} wrong, and {_listed(right)} {_is(right)} "
            f"right: look at what only {_listed(wrong)} {_is(wrong)} made from.",
        )
    return Mistake("other values", "The values are not the ones expected.")


def _another_result(said: str) -> Mistake:
    if "without gradients" in said:
        return Mistake(
            "depends on whether gradients are recorded",
            "Under `torch.no_grad()` the answer returns something else. What it "
            "computes must not depend on whether gradients are recorded.",
        )
    return Mistake(
        "another result when called again",
        "Called a second time with the same input, the answer returns something else. "
        "Does it draw random numbers, or keep something from the call before?",
    )


def _narrow(said: str) -> Mistake:
    if "float" in said:
        holds = "A number in half precision has two or three digits only."
    else:
        holds = "Numbers that are too large for it wrap round and change their sign."
    return Mistake(
        "too narrow a type",
        f"What is returned has the type {said}, although no input has it. {holds}",
    )


def _other_parts(seen, expected) -> Mistake:
    absent = [k for k in expected if k not in seen]
    extra = [k for k in seen if k not in expected]
    said = [f"{_listed(absent)} {_is(absent)} missing"] if absent else []
    said += [f"{_listed(extra)} {_is(extra)} too many"] if extra else []
    return Mistake(
        "other parts",
        f"The parts should be {_listed(expected)}, but {' and '.join(said)}.",
    )


def _exchanged(wrong, failing, within) -> Mistake | None:
    """Name two parts of which each is what the other should be."""
    for one in wrong:
        for other in wrong:
            if one < other and all(
                same(c.seen[one], c.expected[other], **within)
                and same(c.seen[other], c.expected[one], **within)
                for c in failing
            ):
                return Mistake(
                    "two parts exchanged",
                    f"{_listed([one, other])} have changed places.",
                )
    return None


def _related(name, what, failing, within) -> Mistake | None:
    """Say how the numbers of one part relate to the right ones, in all the cases."""
    cases = [c for c in failing if name in c.seen]
    cases = [c for c in cases if not same(c.seen[name], c.expected[name], **within)]
    if any(
        c.seen[name].kind != c.expected[name].kind
        or c.seen[name].shape != c.expected[name].shape
        or c.seen[name].values.size != c.expected[name].values.size
        or not c.seen[name].values.size
        for c in cases
    ):
        return None
    pairs = [(_array(c.seen[name]), _array(c.expected[name])) for c in cases]
    if cases[0].expected[name].kind == "bool":
        found = of_booleans(what, pairs) if pairs[0][0].size > 1 else None
    else:
        found = relation_of(what, pairs, [c.inputs for c in cases])
    if found:
        return Mistake(*found)
    seen, wanted = cases[0].seen[name], cases[0].expected[name]
    if wanted.kind == "float" and wanted.values.size > 1 and _nearly(seen, wanted):
        return Mistake("not exact", NOT_EXACT.format(f"{what} is"))
    return None


def _array(seen):
    whole = seen.values.size == np.prod(seen.shape)
    return seen.values.reshape(seen.shape if whole and seen.shape else -1)


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
    *most, last = (f"`{part}`" for part in parts)
    return f"{', '.join(most)} and {last}" if most else last


def _is(parts) -> str:
    return "is" if len(parts) == 1 else "are"


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
    if found := meaning_of(text):
        return found
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
            f"{what} should have shape {wanted.shape}, but it has {seen.shape}"
            f"{about_shapes(seen.shape, wanted.shape)}.",
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
    if wanted.kind == "text" and seen.text != wanted.text and len(wanted.text) < 40:
        return Mistake(
            "another text", f"{what} should be '{wanted.text}', but is '{seen.text}'."
        )
    if wanted.kind == "bool" and not wanted.shape:
        return Mistake(
            "not so" if wanted.values[0] else "so, and should not be",
            f"{what} should be {'true' if wanted.values[0] else 'false'}, and is not.",
        )
    return None


def _nearly(seen, wanted) -> bool:
    finite = np.isfinite(wanted.values)
    size = np.abs(wanted.values[finite]).max(initial=0)
    return np.allclose(seen.values, wanted.values, rtol=0, atol=max(0.003 * size, 6e-3))
