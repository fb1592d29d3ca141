"""What grading a submission costs: CPU seconds and memory, beside nbgrader and nbval.

    python benchmarks/grading.py [--many 10 100] [--baseline 3]
    python benchmarks/grading.py --term 200

The same five tasks of exercise 1, answered rightly, are graded by ``attncourse grade``,
two at a time, by nbgrader, from our export to its format, and by one ``pytest --nbval``
with a stock kernel for each file. All are measured in the same run, with all their
processes and with what starting costs. nbgrader is installed in an environment of its
own, in .cache/nbgrader, the first time.

With ``--term`` so many students hand in all five exercises, answered rightly and in
full, and one command grades them. With 200 students that takes half an hour or
more on two cores.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from copy import deepcopy
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

ROOT = Path(__file__).resolve().parents[1]
SOLUTIONS = ROOT / "solutions"
TASKS = ("scores", "attention", "masks", "masked", "multi_head")
NAME = "1_attention_from_scratch"
NBGRADER = "nbgrader==0.9.6"
AT_A_TIME = 2


def main() -> None:
    """Measure, and print what was measured as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--many", type=int, nargs="+", default=[10, 100])
    parser.add_argument("--baseline", type=int, default=3)
    parser.add_argument("--term", type=int, metavar="STUDENTS")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"  # as much for the one as for the other
    if options.term:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(term(Path(folder), options.term), indent=1))
        return
    with tempfile.TemporaryDirectory() as folder:
        cells = answers()
        stock = baseline(cells, Path(folder), options.baseline)
        peer = nbgrader(Path(folder) / "nbgrader", min(options.many))
        ours = {str(n): graded(cells, Path(folder) / str(n), n) for n in options.many}
    for found in ours.values():
        found["times_less_than_nbval"] = round(stock / found["cpu_s_each"], 1)
        found["times_less_than_nbgrader"] = round(peer / found["cpu_s_each"], 1)
    result = {
        "tasks": len(TASKS),
        "nbval_with_a_stock_kernel_cpu_s_each": round(stock, 2),
        "nbgrader_cpu_s_each": round(peer, 2),
        "ours": ours,
    }
    print(json.dumps(result, indent=1))


def answers() -> list[str]:
    """Return the cells of a notebook with right answers to the five tasks."""
    from attncourse_grader.exercises import exercise_of
    from attncourse_grader.grade.compose import Template

    exercise = exercise_of(NAME)
    template = Template(exercise, SOLUTIONS)
    last = {n for t in exercise.tasks if t.name not in TASKS for n in t.answers}
    return [s.text for s in template.solution if not s.binds & last]


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


CHECK = """\
from attncourse.exercises.{module} import EXERCISE as _exercise
from attncourse.exercises.compare import render
from attncourse.exercises.run import observe
_task = _exercise.task({task!r})
for _place, _probe in enumerate(_task.probes):
    for _seed in {seeds}[_place]:
        print(render(observe(_probe, [{answers}], _seed), _probe))"""


def baseline(cells: list[str], folder: Path, count: int) -> float:
    """Return the CPU seconds of one nbval with a stock kernel, for the same probes."""
    from attncourse_grader.exercises import exercise_of, modules
    from attncourse_grader.grade.compose import Template, all_seeds

    exercise = exercise_of(NAME)
    given = Template(exercise, SOLUTIONS).given_to(cells)
    code = ["\n".join(s.text for s in given), *cells]
    for task in map(exercise.task, TASKS):
        seeds, names = all_seeds(task, "secret"), ", ".join(task.answers)
        module = modules()[NAME]
        code.append(
            CHECK.format(module=module, task=task.name, seeds=seeds, answers=names)
        )
    path = folder / "graded.ipynb"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = new_notebook(cells=[new_code_cell(text) for text in code])
    notebook.metadata["kernelspec"] = kernel
    NotebookClient(notebook).execute()  # stores what is expected
    nbformat.write(notebook, path)
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


def nbgrader(folder: Path, count: int) -> float:
    """Return the CPU seconds of nbgrader for each of so many submissions."""
    from attncourse_grader.hand_in.nbgrader_format import export_for_nbgrader

    python = environment(ROOT / ".cache" / "nbgrader")
    made = export_for_nbgrader(SOLUTIONS / f"{NAME}.ipynb", folder / "made")
    notebook = nbformat.read(made, as_version=4)
    ids = [c.metadata.get("nbgrader", {}).get("grade_id", "") for c in notebook.cells]
    wanted = [f"test-{task}" for task in TASKS]
    last = max(place for place, name in enumerate(ids) if name in wanted)
    del notebook.cells[last + 1 :]
    path = folder / "source" / NAME / f"{NAME}.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)
    run_nbgrader(python, folder, "generate_assignment", NAME, "--create")
    for n in range(count):  # the source holds the right answers
        handed_in = folder / "submitted" / f"student-{n}" / NAME / path.name
        handed_in.parent.mkdir(parents=True)
        shutil.copy(path, handed_in)
    start = spent()
    run_nbgrader(python, folder, "autograde", NAME)
    seconds = spent() - start
    points = sum(
        c.metadata.get("nbgrader", {}).get("points", 0) for c in notebook.cells
    )
    with sqlite3.connect(folder / "gradebook.db") as book:
        given = book.execute("select sum(auto_score) from grade").fetchone()[0]
    assert given == points * count, "nbgrader takes points from a right answer"
    return seconds / count


def environment(folder: Path) -> Path:
    """Return the Python of an environment that has nbgrader and all that ours has."""
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        print(f"Installing {NBGRADER} in {folder}.", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        where = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
        run = subprocess.run(where, check=True, capture_output=True, text=True)
        ours = f"{sysconfig.get_path('purelib')}\n{ROOT}\n{ROOT / 'grader'}\n"
        Path(run.stdout.strip(), "course.pth").write_text(ours, encoding="utf8")
        subprocess.run([python, "-m", "pip", "install", "-q", NBGRADER], check=True)
        (folder / "ready").touch()
    return python


def run_nbgrader(python: Path, folder: Path, *words: str) -> None:
    """Run a command of nbgrader in the folder of a course."""
    path = os.pathsep.join([str(python.parent), os.environ["PATH"]])  # it calls alembic
    subprocess.run(
        [python, "-m", "nbgrader", *words],
        cwd=folder,
        env=os.environ | {"PATH": path},
        check=True,
        capture_output=True,
    )


def graded(cells: list[str], folder: Path, count: int) -> dict:
    """Grade what so many students have handed in, with one command."""
    for n in range(count):
        write_submission(cells, folder / "in" / f"student-{n}.ipynb")
    measured = grade(folder, count)
    for tasks in feedback(folder):
        done = sum(task["points"] == task["of"] for task in tasks)
        assert done >= len(TASKS), "a right answer has lost points"
    return measured


def term(folder: Path, students: int) -> dict:
    """Grade all five exercises of so many students, with one command."""
    sys.path.append(str(ROOT))  # for the tools
    from attncourse_grader.exercises import modules
    from tools.sample_class import hand_in, right_answers

    for name in modules():
        notebook = nbformat.from_dict(hand_in(name, right_answers(name)))
        for n in range(students):  # no two alike: equal ones are graded once
            copy = deepcopy(notebook)
            copy.cells.append(new_markdown_cell(f"The answers of student {n}."))
            path = folder / "in" / f"student-{n}" / f"{name}.ipynb"
            path.parent.mkdir(parents=True, exist_ok=True)
            nbformat.write(copy, path)
    count = students * len(modules())
    measured = grade(folder, count, show=True)
    found = [
        task["points"] == task["of"] for tasks in feedback(folder) for task in tasks
    ]
    assert all(found), f"{found.count(False)} right answers have lost points"
    return {"students": students, "notebooks": count, "tasks": len(found), **measured}


def grade(folder: Path, count: int, *, show: bool = False) -> dict:
    """Grade what lies in a folder; return the cost of each of so many notebooks."""
    command = [
        sys.executable,
        "-m",
        "attncourse_grader.cli",
        "grade",
        str(folder / "in"),
    ]
    command += ["--out", str(folder / "grades"), "--solutions", str(SOLUTIONS)]
    start, begun = spent(), time.monotonic()
    with (
        subprocess.Popen(
            [*command, "--secret", "secret", "--jobs", str(AT_A_TIME)],
            stdout=subprocess.DEVNULL,
            stderr=None if show else subprocess.DEVNULL,
        ) as process,
        Memory(process.pid) as memory,
    ):
        assert process.wait() == 0, "something was not graded"
    elapsed = time.monotonic() - begun
    third = max(1, len(memory.seen) // 3)
    return {
        "cpu_s_each": round((spent() - start) / count, 3),
        "elapsed_s_each": round(elapsed / count, 3),
        "memory_mb_most": round(max(memory.seen) / 1e6),
        "memory_mb_second_third": round(max(memory.seen[third : 2 * third + 1]) / 1e6),
        "memory_mb_last_third": round(max(memory.seen[-third:]) / 1e6),
    }


def feedback(folder: Path) -> list[list[dict]]:
    """Return the tasks of each notebook that was graded."""
    from attncourse_grader.records.gradebook import Gradebook

    with Gradebook(folder / "grades" / "gradebook.sqlite") as book:
        rows = book.rows("SELECT record FROM results")
    return [json.loads(row["record"])["tasks"] for row in rows]


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
