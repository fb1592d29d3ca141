"""What is said where an error comes from outside of an answer."""

from __future__ import annotations

import re
import sys
from dataclasses import replace

from attncourse.exercises.task import Exercise

ELSEWHERE = "builds on a task that is not done"
# Names that modules are mostly imported under.
USUAL = {
    "F": "import torch.nn.functional as F",
    "nn": "from torch import nn",
    "np": "import numpy as np",
    "plt": "import matplotlib.pyplot as plt",
    **{name: f"import {name}" for name in sys.stdlib_module_names},
}


def _about_unknown(name: str, exercise: Exercise) -> str:
    if name in USUAL:
        return (
            f"The answer uses `{name}`, and nothing has this name yet. Put "
            f"`{USUAL[name]}` at the top of the cell, and run it again."
        )
    tasks = [exercise.label(task) for task in exercise.tasks if name in task.names]
    whose = f", which Task {tasks[0]} asks for" if tasks else ""
    return (
        f"The answer uses `{name}`{whose}. There is nothing of this name: has its cell "
        "been run, and is the name spelt in the same way?"
    )


def with_other_tasks(verdict, exercise, task):
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
        return replace(verdict, says=_about_unknown(unknown[1], exercise))
    return verdict
