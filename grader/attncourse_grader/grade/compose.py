"""Set a student's answers into the instructor's notebook, with checks of its own.

Only the code that defines an answer is taken from a submission. The check cells call it
on inputs drawn from seeds and print what came back; the outputs stored beside them are
those of a right answer, made here, outside the process that runs the student's code.
"""

from __future__ import annotations

import ast
import hashlib
import itertools
import re
import threading
from pathlib import Path

from attncourse.exercises.judge import expected_of, lines_of_case, safe_seeds
from attncourse.exercises.task import Check, Exercise, Task

from attncourse.exercises import MODULES
from attncourse_grader.hand_in.release import solution_of
from attncourse_grader.hand_in.source import Statement, needed, statements_of
from attncourse_grader.hand_in.submission import Refused, Submission, read_notebook
from attncourse_grader.isolate.remembered import recall, remember

# What is imported where an exercise is asked, beside what its notebook imports.
IMPORTED_BY = {"patterns": ("transformers",)}
QUICK, SLOW = 30, 240  # seconds that a cell may take
HIDDEN_INPUTS = 3  # of each check, beside those of the student's own notebook
WORD = re.compile(r"\w+")
# The process that runs the cells takes this line as the sign to begin watching.
START = "from attncourse.exercises import {module} as _exercise"


class Template:
    """The instructor's notebook of one exercise.

    Parameters
    ----------
    path : Path
        The solution notebook.
    exercise : Exercise
        Its exercise.
    """

    def __init__(self, path: Path, exercise: Exercise):
        self.exercise = exercise
        self.given: list[Statement] = []
        self.reference: list[Statement] = []
        state = path.stat()
        key = f"{path.absolute()} {state.st_mtime_ns} {state.st_size}"
        if (known := recall(key)) is not None:
            self.given, self.reference = known
            return
        self._read(path)
        remember(key, (self.given, self.reference))

    def _read(self, path: Path) -> None:
        before_answers = True
        for place, cell in enumerate(read_notebook(path).cells, start=1):
            if cell.cell_type != "code":
                continue
            mark = cell.metadata.get("attncourse", {})
            if "answer" in mark:
                before_answers = False
                self.reference += _parsed(solution_of(cell.source), place, path)
            elif "%pip install" not in cell.source and "check" not in mark:
                found = _parsed(cell.source, place, path)
                if not before_answers:  # a later cell gives definitions only
                    found = [s for s in found if s.text.startswith(("def ", "class "))]
                self.given += [s for s in found if not s.text.startswith("%")]

    def given_to(self, codes) -> list[Statement]:
        """Return the instructor's own statements that some code may need, in order.

        A library that draws, say, takes time and memory, and answers do not draw.

        Parameters
        ----------
        codes : iterable of str
            The code, in which a name may stand in a text, too.
        """
        words = set(WORD.findall("\n".join(codes)))
        kept, before = set(), -1
        while len(kept) > before:
            before = len(kept)
            for place, statement in enumerate(self.given):
                if place not in kept and statement.binds & words:
                    kept.add(place)
                    words.update(WORD.findall(statement.text))
        return [s for place, s in enumerate(self.given) if place in kept]

    def names_given(self) -> frozenset[str]:
        """Return the names that the instructor's own cells define."""
        return frozenset().union(*(s.binds for s in self.given))


def imports_of(statements: list[Statement]) -> set[str]:
    """Return the names of the modules that some statements import."""
    found = set()
    for statement in statements:
        for node in ast.parse(statement.text).body:
            if isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module)
            elif isinstance(node, ast.Import):
                found |= {name.name for name in node.names}
    return found


def _parsed(source: str, place: int, path: Path) -> list[Statement]:
    found = statements_of(source, place)
    if not isinstance(found, list):
        raise Refused(f"{path.name}, cell {place}: {found.error}.")
    return [s for s in found if s.binds]


def find_template(exercise: Exercise, folder: Path) -> Template:
    """Return the instructor's notebook of an exercise.

    Parameters
    ----------
    exercise : Exercise
        The exercise.
    folder : Path
        The folder with the solutions.
    """
    path = folder / f"{exercise.notebook}.ipynb"
    if not path.is_file():
        raise Refused(
            f"the solution {path} is not there. Give the folder of the solutions "
            "with --solutions."
        )
    return Template(path, exercise)


def hidden_seeds(check: Check, task: Task, secret: str) -> list[int]:
    """Draw the seeds of hidden inputs: the same for the same secret."""
    text = f"{secret} {task.name} {check.claim}".encode()
    start = int.from_bytes(hashlib.sha256(text).digest()[:4], "big") >> 2
    count = 1 if check.once else HIDDEN_INPUTS
    seeds = list(itertools.islice(safe_seeds(check, range(start, start + 400)), count))
    if len(seeds) < count:
        raise ValueError(
            f"the check {check.claim!r} has no {count} inputs without a number near "
            f"the edge of rounding to {check.digits} digits. Return fewer numbers."
        )
    return seeds


def seeds_of(check: Check, task: Task, secret: str) -> list[int]:
    """Return all seeds that a check is graded on, those of the notebook first."""
    return list(_known(check, task, secret)[0])


def expected_lines(check: Check, task: Task, secret: str) -> list[str]:
    """Return what a right answer to a check prints."""
    return list(_known(check, task, secret)[1])


_alive: dict = {}  # checks by their identity, which stays theirs while they are here
_one_at_a_time = threading.Lock()  # right answers may draw from the global generator


def _known(check: Check, task: Task, secret: str):
    """Work out seeds and lines once for all submissions."""
    _alive[id(check)] = check
    key = f"{id(check)} {task.name} {secret}"
    with _one_at_a_time:
        if (known := recall(key)) is None:
            seeds = hidden_seeds(check, task, secret)
            if not check.once:
                seeds = [*safe_seeds(check, check.seeds), *seeds]
            lines = []
            for seed in seeds:
                lines += lines_of_case(check, seed, expected_of(check, seed))
            known = (seeds, lines)
            remember(key, known)
        return known


def code_for(
    task: Task, submission: Submission | None, template: Template, *, kept=frozenset()
) -> str:
    """Return the code of the answer to a task: the student's, else the reference.

    Parameters
    ----------
    task : Task
        The task.
    submission : Submission or None
        Where the answer is; None for the reference.
    template : Template
        The instructor's notebook.
    kept : collection of str
        Names that the reference does not define: they are the student's.
    """
    if submission is None:
        found = needed(task.names, template.reference + template.given)
        found = [s for s in found if s in template.reference and not s.binds & kept]
        return "\n\n".join(s.text for s in found)
    if task.name in submission.broken:
        return submission.broken[task.name].text
    given = template.names_given()
    found = submission.answer(task)
    if kept:  # what the answer needs of other tasks is the reference's
        others = {n for t in submission.exercise.tasks for n in t.names} - kept
        own = [
            s for s in submission.statements if s.binds & kept or not s.binds & others
        ]
        found = needed(task.names, own)
    own = [s for s in found if not s.binds <= given]
    return "\n\n".join(s.text for s in own)


def compose(
    template: Template, submission, secret: str, *, only: str = "", checked=None
):
    """Return the notebook that is graded.

    Parameters
    ----------
    template : Template
        The instructor's notebook.
    submission : Submission
        The student's.
    secret : str
        What hidden inputs are drawn from.
    only : str
        The name of a task: only its answer is the student's, and only it is checked.
    checked : collection of str, optional
        The names of the tasks that are checked; all by default.

    Returns
    -------
    nbformat.NotebookNode
        Its check cells carry ``{"attncourse": {"task": ..., "check": place}}``.
    """
    from nbformat.v4 import new_notebook

    exercise = template.exercise
    module = MODULES[exercise.notebook]
    students = frozenset(exercise.task(only).names if only else ())
    answers = {}
    for task in exercise.tasks:
        own = submission if only in ("", task.name) else None
        answers[task.name] = code_for(task, own, template, kept=students)
    given = template.given_to(answers.values())
    cells = [_cell("\n\n".join(s.text for s in given))]
    cells.append(_cell(START.format(module=module)))
    cells += [_cell(code, SLOW, answer=name) for name, code in answers.items()]
    for task in exercise.tasks:
        if only in ("", task.name) and (checked is None or task.name in checked):
            cells += check_cells(task, secret)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    for place, cell in enumerate(cells):
        cell.id = f"cell-{place}"
    modules = {*imports_of(given), *IMPORTED_BY.get(module, ())}
    modules |= {name for name in exercise.forbidden if name.startswith("attncourse.")}
    metadata = {"kernelspec": kernel, "attncourse": {"modules": sorted(modules)}}
    return new_notebook(cells=cells, metadata=metadata)


def check_cells(task: Task, secret: str) -> list:
    """Return one cell for each check of a task, with the output of a right answer."""
    from nbformat.v4 import new_output

    cells = []
    for place, check in enumerate(task.checks):
        seeds = seeds_of(check, task, secret)
        names = ", ".join(task.names)
        cell = _cell(
            f"_exercise.probe({task.name!r}, {place}, {seeds}, {names})",
            SLOW if check.once else QUICK,
            task=task.name,
            check=place,
        )
        lines = expected_lines(check, task, secret)
        cell.metadata.tags = []
        cell.outputs = [new_output("stream", text="\n".join(lines) + "\n")]
        cells.append(cell)
    return cells


def _cell(source: str, seconds: float = SLOW, **mark):
    from nbformat import from_dict

    # nbval does not compare the output of a cell that carries this tag.
    tags = ["nbval-ignore-output"]
    metadata = {"attncourse": {**mark, "seconds": seconds}, "tags": tags}
    cell = {"cell_type": "code", "source": source, "outputs": []}
    return from_dict({**cell, "execution_count": 1, "metadata": metadata})
