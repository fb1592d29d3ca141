"""What grading a submission costs: CPU seconds and memory, beside a plain nbval.

    python benchmarks/grading.py [--many 10 100] [--baseline 3]

The same five tasks of exercise 1, answered rightly, are graded by `grade_file`, and by
one pytest with nbval and a stock kernel for each file, which is what one has without a
grader. Both are measured in the same run, with all their processes.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

ROOT = Path(__file__).resolve().parents[1]
SOLUTIONS = ROOT / "solutions"
TASKS = ("scores", "weights", "attention", "masks", "masked")


def main() -> None:
    """Measure, and print what was measured as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--many", type=int, nargs="+", default=[10, 100])
    parser.add_argument("--baseline", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        submission = write_submission(Path(folder))
        stock = baseline(submission, options.baseline)
        ours = {str(n): graded(submission, n) for n in options.many}
    for found in ours.values():
        found["times_less_than_nbval"] = round(stock / found["cpu_s_each"], 1)
    result = {
        "tasks": len(TASKS),
        "nbval_with_a_stock_kernel_cpu_s_each": round(stock, 2),
        "ours": ours,
    }
    print(json.dumps(result, indent=1))


def write_submission(folder: Path) -> Path:
    """Write a notebook with right answers to the five tasks."""
    from attncourse.exercises import exercise_of
    from attncourse.grading.compose import find_template

    exercise = exercise_of("1_attention_from_scratch")
    template = find_template(exercise, SOLUTIONS)
    last = {n for t in exercise.tasks if t.name not in TASKS for n in t.names}
    cells = [new_code_cell(s.text) for s in template.reference if not s.binds & last]
    path = folder / "ada.ipynb"
    nbformat.write(new_notebook(cells=cells), path)
    return path


def spent() -> float:
    """Return the CPU seconds of this process and of all that have ended under it."""
    both = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, both))


def baseline(path: Path, count: int) -> float:
    """Return the CPU seconds of one nbval with a stock kernel."""
    from attncourse.exercises import exercise_of
    from attncourse.grading.compose import compose, find_template
    from attncourse.grading.running.run import run_nbval
    from attncourse.grading.submission import read_submission

    exercise = exercise_of("1_attention_from_scratch")
    found = read_submission(path)
    template = find_template(exercise, SOLUTIONS)
    notebook = compose(template, found, "secret", checked=TASKS)
    each = []
    for _ in range(count):
        start = spent()
        runs = run_nbval(notebook, runner="kernel")
        each.append(spent() - start)
        assert all(run.passed for run in runs), "the baseline does not pass"
    return statistics.median(each)


def graded(path: Path, count: int) -> dict:
    """Grade copies of one file; count what starting costs, too."""
    from attncourse.grading.grade import grade_file
    from attncourse.grading.running import forking

    copies = [path.with_name(f"student-{n}.ipynb") for n in range(count)]
    for copy in copies:
        shutil.copy(path, copy)
    start, begun = spent(), time.monotonic()
    forker = forking.forker()
    with Memory(forker.pid) as memory:
        for copy in copies:
            found = grade_file(copy, solutions=SOLUTIONS, secret="secret")
            done = [t.points == t.task.points for t in found.tasks]
            assert sum(done) >= len(TASKS), "a right answer has lost points"
    elapsed = time.monotonic() - begun
    forker.close()
    tenth = max(1, len(memory.seen) // 10)
    return {
        "cpu_s_each": round((spent() - start) / count, 3),
        "elapsed_s_each": round(elapsed / count, 3),
        "memory_mb_most": round(max(memory.seen) / 1e6),
        "memory_mb_first_tenth": round(max(memory.seen[:tenth]) / 1e6),
        "memory_mb_last_tenth": round(max(memory.seen[-tenth:]) / 1e6),
    }


class Memory:
    """Watch the memory of this process and of all under another, shared parts once.

    Parameters
    ----------
    pid : int
        The other process.
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
                all_of_them = [psutil.Process(), under, *under.children(recursive=True)]
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
