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
import io
import linecache
import sys
import time
import tomllib
from collections import Counter
from dataclasses import replace
from pathlib import Path

import nbformat
import torch

from attncourse.exercises import recorded
from attncourse.exercises.compare import Case, holds
from attncourse.exercises.run import LONGEST_TEXT, digest, draw, observe, to_plain
from attncourse_grader.exercises import exercise_of, modules

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


def solutions() -> list[Path]:
    """Return the solution notebooks of the exercises, in their order."""
    paths = [SOLUTIONS / f"{name}.ipynb" for name in modules()]
    return [path for path in paths if path.exists()]


class Recording:
    """The record of one exercise in the making, from its solution notebook."""

    def __init__(self, path: Path):
        self.exercise, self.solution = exercise_of(path.stem), Solution(path)
        slips = SOLUTIONS / "slips" / f"{path.stem}.toml"
        self.slips = tomllib.loads(slips.read_text("utf8")) if slips.exists() else {}
        self.faults: list[str] = []

    def run(self) -> dict:
        """Return the record of every task."""
        names = {task.name for task in self.exercise.tasks}
        for name in self.slips.keys() - names:
            self.faults.append(f"slips for {name!r}, which is no task")
        tasks = self.exercise.tasks
        asked = Counter(n for task in tasks for n in {task.name, *task.answers})
        for name in [name for name, count in asked.items() if count > 1]:
            self.faults.append(f"two tasks ask for {name!r}")
        if any(isinstance(o.forbidden, str) for o in (self.exercise, *tasks)):
            self.faults.append('`forbidden` takes a tuple: ("numpy",)')
        space = self.solution.namespace()
        return {task.name: self._task(task, space) for task in self.exercise.tasks}

    def _task(self, task, space) -> dict:
        start, label = time.perf_counter(), self.exercise.label(task)
        if task.points and not task.probes:
            self.faults.append(f"{label} has points, but no probes")
        answers = [space[name] for name in task.answers]
        cases = [self._cases(task, i, answers) for i in range(len(task.probes))]
        seconds = f"{time.perf_counter() - start:5.2f} s"
        known = self.slips.get(task.name, [])
        slips = [self._slip(task, cases, *slip) for slip in known]
        print(f"{label} {task.name:14} {len(cases):2} probes in {seconds}")
        records = [
            {c.seed: {"inputs": digest(c.inputs), **to_plain(c.expected)} for c in own}
            for own in cases
        ]
        return {"probes": records, "slips": [slip for slip in slips if slip]}

    def _cases(self, task, place, answers) -> list[Case]:
        """Return what the solution gives for one probe, and look for faults in it."""
        probe, cases = task.probes[place], []
        what = f"{self.exercise.label(task)} {task.name}, probe {place}"
        for seed in probe.seeds:
            inputs = draw(probe, seed)
            came, again = (observe(probe, answers, seed) for _ in range(2))
            cases.append(Case(seed, inputs, came, again))
            drawn_again = draw(probe, seed)
            if came.error:
                self.faults.append(f"{what}: the solution raises {came.error}")
            elif not holds(probe, cases[-1]) or digest(inputs) != digest(drawn_again):
                self.faults.append(f"{what}: the solution itself fails")
            values = came.values.values()  # of a long text the beginning is kept
            if any(v.kind == "other" or len(v.text) >= LONGEST_TEXT for v in values):
                self.faults.append(f"{what}: returns what cannot be compared: {came}")
        compared = replace(probe, between=None)
        others = [replace(c, came=cases[0].expected) for c in cases[1:]]
        if others and probe.weight and all(holds(compared, c) for c in others):
            self.faults.append(f"{what}: what it compares is the same for every seed")
        return cases

    def _slip(self, task, cases, old, new, says) -> dict | None:
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
            came = (observe(probe, answers, case.seed) for case in cases[place])
            own = [replace(c, came=x) for c, x in zip(cases[place], came, strict=True)]
            if not all(holds(probe, case) for case in own):
                fails.append(place)
                prints = prints or {c.seed: recorded.fingerprint(c.came) for c in own}
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
    for path in solutions():
        if wanted and int(path.stem.split("_")[0]) not in wanted:
            continue
        making = Recording(path)
        tasks = making.run()
        faults += making.faults
        if not making.faults:
            file = recorded.write(path.stem, tasks)
            print(f"{file.name}: {file.stat().st_size / 1000:.0f} kB")
    print(*faults, sep="\n", end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
