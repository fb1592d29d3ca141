"""What grading a submission costs: CPU seconds and memory, beside nbgrader and nbval.

    python benchmarks/grading.py
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
import itertools
import json
import os
import re
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from contextlib import suppress
from copy import deepcopy
from pathlib import Path

import nbformat
import psutil
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from attncourse_grader.exercises import exercise_of, modules
from attncourse_grader.grade.compose import Template, all_seeds, needed
from attncourse_grader.hand_in.nbgrader_format import export_for_nbgrader
from attncourse_grader.records.gradebook import Gradebook

ROOT = Path(__file__).resolve().parents[1]
SOLUTIONS = ROOT / "solutions"
TASKS = ("scores", "attention", "masks", "masked", "multi_head")
NAME = "1_attention_from_scratch"
NBGRADER = "nbgrader==0.9.6"
AT_A_TIME = 2
MANY, REPEATS = (10, 100), 3  # submissions that we grade; runs of nbval


def main() -> None:
    """Measure, and print what was measured as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--term", type=int, metavar="STUDENTS")
    students = parser.parse_args().term
    os.environ["OMP_NUM_THREADS"] = "1"  # as much for the one as for the other
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = term(folder, students) if students else side_by_side(folder)
    print(json.dumps(found, indent=1))


def side_by_side(folder: Path) -> dict:
    """Return what one submission costs, graded by nbval, by nbgrader and by us."""
    cells = answers()
    stock = baseline(cells, folder)
    peer = nbgrader(folder / "nbgrader", min(MANY))
    ours = {str(n): graded(cells, folder / str(n), n) for n in MANY}
    for found in ours.values():
        found["times_less_than_nbval"] = round(stock / found["cpu_s_each"], 1)
        found["times_less_than_nbgrader"] = round(peer / found["cpu_s_each"], 1)
    return {
        "tasks": len(TASKS),
        "nbval_with_a_stock_kernel_cpu_s_each": round(stock, 2),
        "nbgrader_cpu_s_each": round(peer, 2),
        "ours": ours,
    }


def answers() -> list[str]:
    """Return the cells of a notebook with right answers to the five tasks."""
    exercise = exercise_of(NAME)
    last = {n for t in exercise.tasks if t.name not in TASKS for n in t.answers}
    solution = Template(exercise, SOLUTIONS).solution
    return [s.text for s in solution if not s.binds & last]


def notebook_of(texts: list[str]):
    """Return a notebook of code cells."""
    return new_notebook(cells=[new_code_cell(text) for text in texts])


def hand_in(notebook, paths) -> None:
    """Write a notebook to each path, no two alike: equal ones are graded once."""
    for path in paths:
        copy = deepcopy(notebook)
        copy.cells.append(new_markdown_cell(f"The answers of {path}."))
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(copy, path)


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


def baseline(cells: list[str], folder: Path) -> float:
    """Return the CPU seconds of one nbval with a stock kernel, for the same probes."""
    exercise = exercise_of(NAME)
    words = set(re.findall(r"\w+", "\n".join(cells)))
    given = needed(words, Template(exercise, SOLUTIONS).given)
    code = ["\n".join(s.text for s in given), *cells]
    for task in map(exercise.task, TASKS):
        seeds, names = all_seeds(task, "secret"), ", ".join(task.answers)
        asked = {"module": modules()[NAME], "task": task.name, "seeds": seeds}
        code.append(CHECK.format(**asked, answers=names))
    path = folder / "graded.ipynb"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = notebook_of(code)
    notebook.metadata["kernelspec"] = kernel
    NotebookClient(notebook).execute()  # stores what is expected
    nbformat.write(notebook, path)
    command = [sys.executable, "-m", "pytest", "-q", "--nbval", "--nbval-current-env"]
    command += [f"--rootdir={folder}", "-c", os.devnull, str(path)]
    each = []
    for _ in range(REPEATS):
        start = spent()  # and all cells have to pass:
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        each.append(spent() - start)
    return statistics.median(each)


def nbgrader(folder: Path, count: int) -> float:
    """Return the CPU seconds of nbgrader for each of so many submissions."""
    python = environment(ROOT / ".cache" / "nbgrader")
    made = export_for_nbgrader(SOLUTIONS / f"{NAME}.ipynb", folder / "made")
    notebook = nbformat.read(made, as_version=4)
    marks = [cell.metadata.get("nbgrader", {}) for cell in notebook.cells]
    wanted = [f"test-{task}" for task in TASKS]
    end = 1 + max(i for i, mark in enumerate(marks) if mark.get("grade_id") in wanted)
    del notebook.cells[end:]
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
    points = sum(mark.get("points", 0) for mark in marks[:end])
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
    students = [folder / "in" / f"student-{n}.ipynb" for n in range(count)]
    hand_in(notebook_of(cells), students)
    measured = grade(folder, count)
    for tasks in feedback(folder):
        done = sum(task["points"] == task["of"] for task in tasks)
        assert done >= len(TASKS), "a right answer has lost points"
    return measured


def term(folder: Path, students: int) -> dict:
    """Grade all five exercises of so many students, with one command."""
    sys.path.append(str(ROOT))  # for the tools
    from tools import sample_class

    for name in modules():
        solved = sample_class.hand_in(name, sample_class.right_answers(name))
        folders = [folder / "in" / f"student-{n}" for n in range(students)]
        hand_in(nbformat.from_dict(solved), [f / f"{name}.ipynb" for f in folders])
    count = students * len(modules())
    measured = grade(folder, count, show=True)
    done = itertools.chain(*feedback(folder))
    found = [task["points"] == task["of"] for task in done]
    assert all(found), f"{found.count(False)} right answers have lost points"
    return {"students": students, "notebooks": count, "tasks": len(found), **measured}


def grade(folder: Path, count: int, *, show: bool = False) -> dict:
    """Grade what lies in a folder; return the cost of each of so many notebooks."""
    command = [sys.executable, "-m", "attncourse_grader.cli", "grade", folder / "in"]
    command += ["--out", folder / "grades", "--solutions", SOLUTIONS]
    command += ["--secret", "secret", "--jobs", str(AT_A_TIME)]
    start, begun = spent(), time.monotonic()
    errors = None if show else subprocess.DEVNULL
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors) as process:
        memory = watch(process)
    assert process.returncode == 0, "something was not graded"
    elapsed = time.monotonic() - begun
    third = max(1, len(memory) // 3)
    return {
        "cpu_s_each": round((spent() - start) / count, 3),
        "elapsed_s_each": round(elapsed / count, 3),
        "memory_mb_most": round(max(memory) / 1e6),
        "memory_mb_second_third": round(max(memory[third : 2 * third + 1]) / 1e6),
        "memory_mb_last_third": round(max(memory[-third:]) / 1e6),
    }


def feedback(folder: Path) -> list[list[dict]]:
    """Return the tasks of each notebook that was graded."""
    with Gradebook(folder / "grades" / "gradebook.sqlite") as book:
        rows = book.rows("SELECT record FROM results")
    return [json.loads(row["record"])["tasks"] for row in rows]


def watch(process) -> list[int]:
    """Wait for a process; return its memory in bytes, taken twice a second.

    That of all under it is added, and what several share counts once.
    """
    seen = []
    while process.poll() is None:
        with suppress(psutil.Error, AttributeError):
            under = psutil.Process(process.pid)
            family = [under, *under.children(recursive=True)]
            seen.append(sum(p.memory_full_info().pss for p in family))
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.5)
    return seen or [0]


if __name__ == "__main__":
    sys.exit(main())
