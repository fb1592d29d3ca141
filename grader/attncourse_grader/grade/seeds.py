"""The seeds that inputs are drawn from: those of the notebook, and hidden ones."""

from __future__ import annotations

import hashlib

HIDDEN_INPUTS = 3  # of each probe, beside those of the student's own notebook


def hidden_seeds(task, place: int, secret: str) -> list[int]:
    """Return the seeds of hidden inputs: the same for the same secret."""
    text = f"{secret} {task.name} {task.probes[place].claim}".encode()
    start = int.from_bytes(hashlib.sha256(text).digest()[:4], "big")
    count = 1 if task.probes[place].slow else HIDDEN_INPUTS
    return [1000 + start + number for number in range(count)]


def seeds_of(task, place: int, secret: str) -> list[int]:
    """Return the seeds that a probe is graded on, those of the notebook first.

    What is slow, such as training, is graded on one hidden seed only.
    """
    probe, hidden = task.probes[place], hidden_seeds(task, place, secret)
    return hidden if probe.slow else [*probe.seeds, *hidden]
