"""The exercises of the course by the names of their notebooks."""

import functools
import hashlib
import re
from importlib import import_module, util
from pathlib import Path

_NOTEBOOK = re.compile(r"Exercise\(\s*(?:notebook=)?[\"']((\d+)_[^\"'/]+)[\"']")


class Refused(Exception):
    """What cannot be done, or not any longer; the message says why and what to do."""


def folder() -> Path:
    """Return the folder of the modules with probes."""
    return Path(util.find_spec("attncourse").origin).parent / "exercises"


@functools.cache
def modules() -> dict[str, str]:
    """Return the module of each exercise by the name of its notebook, in order."""
    found = {}
    for path in sorted(folder().glob("*.py")):
        if match := _NOTEBOOK.search(path.read_text(encoding="utf8")):
            if other := found.get(int(match[2])):
                says = f"{other[1]}.py and {path.name} are both exercise {match[2]}."
                raise Refused(f"{says} Give one of them another number.")
            found[int(match[2])] = match[1], path.stem
    return dict(found[number] for number in sorted(found))


def exercise_of(notebook: str):
    """Return the exercise of a notebook; `ValueError` if there is no such one."""
    if notebook not in modules():
        raise ValueError(f"there is no exercise {notebook!r}.")
    return import_module(f"attncourse.exercises.{modules()[notebook]}").EXERCISE


def counts(notebook: str) -> bool:
    """Say whether an exercise counts: one for practice, or that is gone, does not."""
    if notebook not in modules():
        return False
    text = (folder() / f"{modules()[notebook]}.py").read_text(encoding="utf8")
    return not re.search(r"(?m)^[^#\n]*\bpractice\s*=\s*True", text)


def version_of(exercise) -> str:
    """Return a short text that changes when the tasks of an exercise change."""
    tasks = exercise.tasks
    parts = [(t.name, t.answers, t.points, [p.claim for p in t.probes]) for t in tasks]
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:8]
