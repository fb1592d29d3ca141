"""Record what the solutions give on the inputs of the checks.

    python tools/record_expected.py        # all exercises
    python tools/record_expected.py 1 4    # these; the others stay as they are

For each probe and each seed of the notebook: a hash of the inputs, what the solution
returns. For each slip of solutions/slips, an edit of the model answer: which probes
catch it, and fingerprints of what comes out. Fails if a slip is not caught, if the
solution passes a probe only now and then, or if what a probe compares is the same for
all inputs.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib
import io
import linecache
import sys
import time
import tomllib
from dataclasses import replace
from pathlib import Path

import nbformat
import numpy as np
import torch

from attncourse.exercises import recorded
from attncourse.exercises.compare import Case, holds
from attncourse.exercises.run import digest, draw, observe, same_values

ROOT = Path(__file__).parents[1]
SOLUTIONS = ROOT / "solutions"
GIVEN = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)


class Solution:
    """The model answers of one exercise, from its solution notebook."""

    def __init__(self, path: Path):
        self.cells: list[tuple[str, str]] = []  # (name of the task or "", source)
        for cell in nbformat.read(path, as_version=4).cells:
            mark = cell.metadata.get("attncourse", {})
            if cell.cell_type == "code" and "check" not in mark:
                task = mark.get("answer", "")
                self.cells.append((task, cell.source if task else _given(cell.source)))

    def edited(self, task: str, old: str, new: str) -> str:
        """Return the answer to a task with one text in it exchanged."""
        source = dict(self.cells)[task]
        if source.count(old) != 1:
            raise ValueError(f"{old!r} stands {source.count(old)} times in {task!r}")
        return source.replace(old, new)

    def namespace(self, answers: dict[str, str] | None = None) -> dict:
        """Return what the notebook defines, with other answers to some tasks."""
        space = {"__name__": "__main__"}
        for place, (task, source) in enumerate(self.cells):
            source = (answers or {}).get(task, source)
            name = f"<cell {place} of {hash(source)}>"  # where checks find the source
            linecache.cache[name] = (len(source), None, source.splitlines(True), name)
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(source, name, "exec"), space)
        return space


def _given(source: str) -> str:
    """Return the imports, definitions and constants of a cell that is no answer."""
    lines = [ln for ln in source.splitlines() if not ln.lstrip().startswith(("%", "!"))]
    with contextlib.suppress(SyntaxError):
        tree = ast.parse("\n".join(lines))
        kept = [n for n in tree.body if isinstance(n, GIVEN) or _is_constant(n)]
        return "\n".join(map(ast.unparse, kept))
    return ""


def _is_constant(node) -> bool:
    if not isinstance(node, ast.Assign):
        return False
    with contextlib.suppress(ValueError):
        ast.literal_eval(node.value)
        return True
    return False


def exercises() -> list[Path]:
    """Return the solution notebooks that have a module of probes, in their order."""
    found = sorted(SOLUTIONS.glob("[0-9]*_*.ipynb"))
    folder = Path(recorded.__file__).parent
    return [p for p in found if (folder / f"{p.stem.split('_', 1)[1]}.py").exists()]


def exercise_of(path: Path):
    """Return the exercise that a notebook belongs to."""
    name = path.stem.split("_", 1)[1]
    return importlib.import_module(f"attncourse.exercises.{name}").EXERCISE


class Recording:
    """The record of one exercise in the making, from its solution notebook."""

    def __init__(self, path: Path):
        self.exercise, self.solution = exercise_of(path), Solution(path)
        slips = SOLUTIONS / "slips" / f"{path.stem}.toml"
        self.slips = tomllib.loads(slips.read_text("utf8")) if slips.exists() else {}
        self.faults: list[str] = []
        self.arrays: list[np.ndarray] = []
        self.length = 0

    def run(self) -> dict:
        """Return the record of every task."""
        names = {task.name for task in self.exercise.tasks}
        for name in self.slips.keys() - names:
            self.faults.append(f"slips for {name!r}, which is no task")
        space = self.solution.namespace()
        return {task.name: self._task(task, space) for task in self.exercise.tasks}

    def numbers(self) -> np.ndarray:
        """Return all numbers that were recorded, one after the other."""
        return np.concatenate([*self.arrays, np.zeros(0, np.float32)])

    def _task(self, task, space) -> dict:
        start, label = time.perf_counter(), self.exercise.label(task)
        answers = [space[name] for name in task.answers]
        self.expected: dict = {}
        probes = [self._probe(task, i, answers) for i in range(len(task.probes))]
        seconds = f"{time.perf_counter() - start:5.2f} s"
        slips = [self._slip(task, *slip) for slip in self.slips.get(task.name, [])]
        print(f"{label} {task.name:14} {len(probes):2} probes in {seconds}")
        return {"probes": probes, "slips": [slip for slip in slips if slip]}

    def _probe(self, task, place, answers) -> dict:
        probe, found, seen = task.probes[place], {}, []
        what = f"{self.exercise.label(task)} {task.name}, probe {place}"
        for seed in probe.seeds:
            inputs = draw(probe, seed)
            came = observe(probe, answers, seed)
            again = observe(probe, answers, seed)
            case = self.expected[place, seed] = Case(seed, inputs, came, again)
            if came.error:
                self.faults.append(f"{what}: the solution raises {came.error}")
            elif not holds(probe, case) or digest(inputs) != digest(draw(probe, seed)):
                self.faults.append(f"{what}: the solution itself fails")
            if any(v.kind == "other" for v in came.values.values()):
                self.faults.append(f"{what}: returns what cannot be compared: {came}")
            found[seed] = self._record(inputs, came)
            seen.append(came)
        fixed = len(seen) > 1 and all(same_values(seen[0], other) for other in seen[1:])
        if fixed and probe.weight:
            self.faults.append(f"{what}: what it compares is the same for every seed")
        return found

    def _record(self, inputs, came) -> dict:
        values = {}
        for name, v in came.values.items():
            start = None
            if v.data is not None:
                start, self.length = self.length, self.length + v.data.size
                self.arrays.append(v.data.astype(np.float32).ravel())
            dtype = None if v.data is None else v.data.dtype.str
            values[name] = [v.kind, v.type, list(v.shape), start, dtype, v.text]
        return {
            "inputs": digest(inputs),
            "values": values,
            "form": came.form,
            "error": "",
            "changed": came.changed,
        }

    def _slip(self, task, old, new, says) -> dict | None:
        what = f"{self.exercise.label(task)} {task.name}: the slip {old!r} -> {new!r}"
        try:
            source = self.solution.edited(task.name, old, new)
            space = self.solution.namespace({task.name: source})
        except Exception as error:
            self.faults.append(f"{what} cannot be made: {error}")
            return None
        answers = [space[name] for name in task.answers]
        fails, prints = [], {}  # prints of the first probe that fails
        for place, probe in enumerate(task.probes):
            if probe.slow and fails:
                continue
            own = {seed: observe(probe, answers, seed) for seed in probe.seeds}
            cases = (replace(self.expected[place, s], came=c) for s, c in own.items())
            if all(holds(probe, case) for case in cases):
                continue
            fails.append(place)
            prints = prints or {s: recorded.fingerprint(c) for s, c in own.items()}
        if not fails:
            self.faults.append(f"{what} is not caught")
            return None
        return {"says": says, "fails": fails, "prints": prints}


def main() -> int:
    """Record the exercises that are named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("numbers", nargs="*", type=int, help="of exercises")
    wanted = parser.parse_args().numbers
    torch.set_num_threads(1)
    faults = []
    for path in exercises():
        if wanted and int(path.stem.split("_")[0]) not in wanted:
            continue
        making = Recording(path)
        tasks = making.run()
        faults += making.faults
        if not making.faults:
            file = recorded.write(path.stem, tasks, making.numbers())
            print(f"{file.name}: {file.stat().st_size / 1000:.0f} kB")
    print(*faults, sep="\n", end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
