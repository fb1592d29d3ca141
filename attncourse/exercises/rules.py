"""What is known of an answer without calling it: what it is made of."""

from __future__ import annotations

import types

from attncourse.exercises.task import Exercise, Mistake, Task

# With these, a text says what is used.
BY_TEXT = {"getattr", "attrgetter", "__dict__", "vars", "import_module", "__import__"}


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
    if names & BY_TEXT:  # what is asked for by its name in a text is used as well
        names |= _texts_in(thing.__code__)
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


def _texts_in(code: types.CodeType) -> set[str]:
    texts = {constant for constant in code.co_consts if isinstance(constant, str)}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            texts |= _texts_in(constant)
    return texts


def _names_in(code: types.CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names_in(constant)
    return names


def built_on(exercise: Exercise, task: Task, answers, namespace: dict) -> list[Task]:
    """Return the other tasks whose answers these call, directly or by way of others.

    Parameters
    ----------
    exercise : Exercise
        Where the task is.
    task : Task
        The task.
    answers : sequence
        The answers to it.
    namespace : dict
        Where the answers to the other tasks are.
    """
    followed: set[int] = set()
    for answer in answers:
        names_used(answer, followed)
    return [
        other
        for other in exercise.tasks
        if other is not task
        and any(id(namespace.get(name)) in followed for name in other.names)
    ]
