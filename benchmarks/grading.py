"""What grading a submission costs: CPU seconds and memory, beside a plain nbval.

    python benchmarks/grading.py [--many 10 100] [--baseline 3]

The same five tasks of exercise 1, answered rightly, are graded by ``attncourse grade``,
two at a time, and by one ``pytest --nbval`` with a stock kernel for each file, which is
what one has without a grader. Both are measured in the same run, with all their
processes and with what starting costs. nbgrader was measured beside the same nbval at
3.0 CPU seconds against 2.2; that ratio gives the line about nbgrader.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

ROOT = Path(__file__).resolve().parents[1]
SOLUTIONS = ROOT / "solutions"
TASKS = ("scores", "weights", "attention", "masks", "masked")
NBGRADER_TO_NBVAL = 3.0 / 2.2  # CPU seconds of both, measured side by side
AT_A_TIME = 2


def main() -> None:
    """Measure, and print what was measured as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--many", type=int, nargs="+", default=[10, 100])
    parser.add_argument("--baseline", type=int, default=3)
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"  # as much for the one as for the other
    with tempfile.TemporaryDirectory() as folder:
        cells = answers()
        stock = baseline(cells, Path(folder), options.baseline)
        ours = {str(n): graded(cells, Path(folder) / str(n), n) for n in options.many}
    for found in ours.values():
        times = stock / found["cpu_s_each"]
        found["times_less_than_nbval"] = round(times, 1)
        found["times_less_than_nbgrader"] = round(times * NBGRADER_TO_NBVAL, 1)
    result = {
        "tasks": len(TASKS),
        "nbval_with_a_stock_kernel_cpu_s_each": round(stock, 2),
        "nbgrader_to_nbval_as_measured_before": round(NBGRADER_TO_NBVAL, 2),
        "ours": ours,
    }
    print(json.dumps(result, indent=1))


def answers() -> list[str]:
    """Return the cells of a notebook with right answers to the five tasks."""
    from attncourse.exercises import exercise_of
    from attncourse.grading.compose import find_template

    exercise = exercise_of("1_attention_from_scratch")
    template = find_template(exercise, SOLUTIONS)
    last = {n for t in exercise.tasks if t.name not in TASKS for n in t.names}
    return [s.text for s in template.reference if not s.binds & last]


def write_submission(cells: list[str], path: Path) -> Path:
    """Write a notebook that is like no other: equal ones are graded once."""
    notebook = new_notebook(cells=[new_code_cell(text) for text in cells])
    notebook.cells.append(new_markdown_cell(f"The answers of {path.stem}."))
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)
    return path


def spent() -> float:
    """Return the CPU seconds of all that has ended under this process."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def baseline(cells: list[str], folder: Path, count: int) -> float:
    """Return the CPU seconds of one nbval with a stock kernel."""
    from attncourse.exercises import exercise_of
    from attncourse.grading.compose import compose, find_template
    from attncourse.grading.submission import read_submission

    exercise = exercise_of("1_attention_from_scratch")
    found = read_submission(write_submission(cells, folder / "ada.ipynb"))
    template = find_template(exercise, SOLUTIONS)
    path = folder / "graded.ipynb"
    nbformat.write(compose(template, found, "secret", checked=TASKS), path)
    command = [sys.executable, "-m", "pytest", "-q", "--nbval", "--nbval-current-env"]
    each = []
    for _ in range(count):
        start = spent()
        subprocess.run(
            [*command, f"--rootdir={folder}", "-c", os.devnull, str(path)],
            stdout=subprocess.DEVNULL,
            check=True,  # that all cells pass
        )
        each.append(spent() - start)
    return statistics.median(each)


def graded(cells: list[str], folder: Path, count: int) -> dict:
    """Grade what so many students have handed in, with one command."""
    for n in range(count):
        write_submission(cells, folder / "in" / f"student-{n}.ipynb")
    command = [sys.executable, "-m", "attncourse.cli", "grade", str(folder / "in")]
    command += ["--out", str(folder / "grades"), "--solutions", str(SOLUTIONS)]
    start, begun = spent(), time.monotonic()
    with (
        subprocess.Popen(
            [*command, "--secret", "secret", "--jobs", str(AT_A_TIME)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process,
        Memory(process.pid) as memory,
    ):
        assert process.wait() == 0, "something was not graded"
    elapsed = time.monotonic() - begun
    for path in (folder / "grades" / "feedback").rglob("*.json"):
        done = [
            task["points"] == task["of"]
            for task in json.loads(path.read_text())["tasks"]
        ]
        assert sum(done) >= len(TASKS), "a right answer has lost points"
    third = max(1, len(memory.seen) // 3)
    return {
        "cpu_s_each": round((spent() - start) / count, 3),
        "elapsed_s_each": round(elapsed / count, 3),
        "memory_mb_most": round(max(memory.seen) / 1e6),
        "memory_mb_second_third": round(max(memory.seen[third : 2 * third + 1]) / 1e6),
        "memory_mb_last_third": round(max(memory.seen[-third:]) / 1e6),
    }


class Memory:
    """Watch the memory of a process and of all under it, with shared parts once.

    Parameters
    ----------
    pid : int
        The process.
    """

    def __init__(self, pid: int):
        self.pid, self.seen = pid, []
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        self._thread.join()
        self.seen = self.seen or [0]

    def _watch(self):
        import psutil

        while not self._end.wait(0.5):
            try:
                under = psutil.Process(self.pid)
                all_of_them = [under, *under.children(recursive=True)]
            except psutil.Error:
                continue
            self.seen.append(sum(_share(p) for p in all_of_them))


def _share(process) -> int:
    import psutil

    try:
        return process.memory_full_info().pss
    except (psutil.Error, AttributeError):
        return 0


if __name__ == "__main__":
    sys.exit(main())
