"""What the instructor's solutions give on the inputs of the notebooks' checks.

``make expected`` writes it. Beside the expected values there are fingerprints, a few
numbers each, of what well-known slips give: enough to recognise them, too little to
copy an answer from.
"""

import functools
import json
import lzma
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from attncourse.exercises.run import Observation, from_plain

FOLDER = Path(__file__).with_name("expected")
NEAR = {"atol": 2e-4, "rtol": 2e-4}


@dataclass(frozen=True)
class Recorded:
    """What is known about one exercise."""

    tasks: dict  # by name: {"probes": [{seed: record}], "slips": […]}

    def _of(self, task: str, place: int, seed: int) -> dict:
        probes = self.tasks.get(task, {}).get("probes", [])
        return probes[place].get(str(seed), {}) if place < len(probes) else {}

    def digest(self, task: str, place: int, seed: int) -> str:
        """Return the hash of the inputs that a value was recorded with, or ""."""
        return self._of(task, place, seed).get("inputs", "")

    def expected(self, task: str, place: int, seed: int) -> Observation:
        """Return what the solution gave for one probe of a task and one seed."""
        return from_plain(self._of(task, place, seed))

    def slip(self, task: str, came: dict[int, dict[int, Observation]]) -> str:
        """Return the sentence of the only slip that gives what came, or "".

        `came` has what came for the failing probes, by probe and seed. A slip has to
        fail the same probe first and give the same there. Of several, those that fail
        the same probes are preferred.
        """
        first, near = min(came), []
        seen = [v for each in came[first].values() for v in each.values.values()]
        if not any(value.data is not None for value in seen):
            return ""  # an error alone says too little
        for slip in self.tasks.get(task, {}).get("slips", []):
            prints = slip["prints"].items()
            if slip["fails"][0] == first and all(
                matches(known, came[first][int(seed)]) for seed, known in prints
            ):
                near.append(slip)
        alike = [slip for slip in near if set(slip["fails"]) == set(came)]
        says = {slip["says"] for slip in alike or near}
        return says.pop() if len(says) == 1 else ""


def fingerprint(seen: Observation):
    """Return [name, shape, four numbers] for each value, or the kind of the error."""
    if seen.error:
        return seen.error.split(":")[0]
    found = []
    for name, value in seen.values.items():
        if value.data is None:
            found.append([name, [value.kind, value.text[:40]], []])
            continue
        data = value.data.astype(float).ravel()
        finite = np.nan_to_num(data, nan=0.0, posinf=0.0, neginf=0.0)
        wave = np.arange(data.size)
        root = max(1.0, float(np.sqrt(data.size)))
        four = [
            float(finite @ np.cos(1.3 * wave + 0.4)) / root,
            float(finite @ np.cos(0.7 * wave + 2.0)) / root,
            float(np.sqrt(np.square(finite).mean())) if data.size else 0.0,
            float((~np.isfinite(data)).sum()),
        ]
        found.append([name, list(value.shape), [float(f"{x:.7g}") for x in four]])
    return found


def matches(known, seen: Observation) -> bool:
    """Say whether a fingerprint is that of what a call gave."""
    mine = fingerprint(seen)
    if isinstance(known, str) or isinstance(mine, str) or len(known) != len(mine):
        return known == mine
    return all(
        a[:2] == b[:2] and np.allclose(a[2], b[2], **NEAR)
        for a, b in zip(known, mine, strict=True)
    )


def known(notebook: str) -> Recorded:
    """Return what was recorded for a notebook, such as "1_attention_from_scratch"."""
    path = path_of(notebook)
    return _read(path, path.stat().st_mtime_ns) if path.exists() else Recorded({})


@functools.cache
def _read(path: Path, changed: int) -> Recorded:
    return Recorded(json.loads(lzma.decompress(path.read_bytes())))


def path_of(notebook: str) -> Path:
    """Return where what was recorded for a notebook is kept."""
    return FOLDER / f"{notebook}.json.xz"


def write(notebook: str, tasks: dict) -> Path:
    """Write what was recorded for an exercise, and return where."""
    path = path_of(notebook)
    path.write_bytes(lzma.compress(json.dumps(tasks).encode()))
    return path
