"""Set a student's answers into the instructor's notebook, with checks of its own.

Only the code that defines an answer is taken from a submission. There is one check cell
for each task; the outputs stored in it are what the instructor's solution returns.
"""

import ast
import hashlib
import re
from pathlib import Path

from nbformat.v4 import new_code_cell, new_notebook, new_output

from attncourse.exercises.probe import Exercise, Task
from attncourse_grader import cache
from attncourse_grader.exercises import Refused, modules
from attncourse_grader.grade.by_hand import by_hand_in
from attncourse_grader.hand_in.release import MODEL_ANSWER, fingerprint, solution_of
from attncourse_grader.hand_in.source import (
    Statement,
    needed,
    statements_of,
    without_calls,
)
from attncourse_grader.hand_in.submission import Submission, read_notebook, words_in

WORD, DEFINES = re.compile(r"\w+"), re.compile("(def|class) ")
HIDDEN_INPUTS = 3  # of each probe, beside those of the student's own notebook
CHECKS = "attncourse.exercises"  # of which only what is `PROVIDED` can be imported
PROVIDED = "attncourse.exercises.provided"


class Template:
    """The instructor's notebook of one exercise; `Refused` if it cannot be read."""

    def __init__(self, exercise: Exercise, folder: Path):
        path = folder / f"{exercise.notebook}.ipynb"
        if not path.is_file():
            raise Refused(f"the solution {path} is not there. Give --solutions.")
        self.path, self.exercise = path, exercise
        self.version = hashlib.sha256(path.read_bytes()).hexdigest()
        if (known := cache.get(self.version)) is None:
            known = self._read()
            cache.put(self.version, known)
        self.given, self.solution, self.by_hand, self.handed_out = known

    def _read(self) -> tuple[list[Statement], list[Statement], list[dict], set[str]]:
        path, given, solution, by_hand = self.path, [], [], []
        handed_out = {""}  # texts of cells that are not run, and statements
        for place, cell in enumerate(read_notebook(path).cells, start=1):
            if (part := by_hand_in(cell, self.exercise)) is not None:
                if any(known["name"] == part["name"] for known in by_hand):
                    says = f"the solution's cell {cell.id}: another one is the answer "
                    raise Refused(f"{says}{part['name']!r}, too. Give each a name.")
                by_hand.append(part)
            if cell.cell_type != "code":
                handed_out.add(MODEL_ANSWER.sub("", words_in(cell)).strip())
                continue
            mark = cell.metadata.get("attncourse", {})
            if "answer" in mark:
                solution += _parsed(solution_of(cell.source), place, path)
            elif "%pip install" not in cell.source and "check" not in mark:
                found = _parsed(cell.source, place, path)
                handed_out |= {s.text.strip() for s in found}
                if solution:  # a cell after answers gives definitions only
                    found = [s for s in found if s.text.startswith(("def ", "class "))]
                given += found
        checks = set()
        for statement in given:  # imports of the checks, and what is made with them
            others = {m for m in imports_of([statement]) if not m.startswith(PROVIDED)}
            if statement.uses & checks or any(m.startswith(CHECKS) for m in others):
                checks |= statement.binds
        given = without_calls([s for s in given if not s.binds & checks])
        return given, solution, by_hand, handed_out

    def not_given(self, statements: list[Statement]) -> list[Statement]:
        """Return the statements that are none of the instructor's own."""
        given = {s.text.strip() for s in self.given}
        own = [s for s in statements if s.text.strip() not in given]
        again = set().union(*(s.gives for s in own))  # perhaps to have it back
        again = {s for s in statements if s.kind and s.binds & again}
        return [s for s in statements if s in own or s in again]

    def undisturbed(self, statements: list[Statement]) -> list[Statement]:
        """Leave out values that the notebook gives to a student's own names."""
        statements = without_calls(statements, self.given)
        new = {s for s in statements if s.text.strip() not in self.handed_out}
        own = set().union(*(s.binds - s.uses for s in new))
        return [s for s in statements if s in new or s.kind or not s.binds & own]

    def own_code(self, task: Task, statements, others, *, every=False) -> str:
        """Return the code of an answer, not `others`; with `every` all that may run."""
        theirs = [s for s in statements if DEFINES.match(s.text) and s.binds <= others]
        found = [s for s in self.not_given(statements) if s not in theirs]
        found = needed(task.answers, self.given * every + found, every=every)
        return "\n\n".join(s.text for s in found)

    def environment(self, more=()) -> dict:
        """Return what a process for this exercise imports, and what it must not."""
        forbidden = (*self.exercise.forbidden, *more)
        starts = tuple(name.rstrip("*") for name in forbidden)
        wanted = imports_of(self.given + self.solution) - {CHECKS}
        return {
            "exercise": modules()[self.exercise.notebook],
            "modules": sorted(m for m in wanted if not m.startswith(starts)),
            "forbidden": sorted(forbidden),
        }


def imports_of(statements: list[Statement]) -> set[str]:
    """Return the names of the modules that some statements import."""
    found = set()
    for statement in statements:
        for node in ast.walk(ast.parse(statement.text)):
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


def code_for(
    task: Task, submission: Submission | None, template: Template, *, kept=frozenset()
) -> str:
    """Return the code of the answer to a task: the student's, else the solution's."""
    if submission is None:
        found = needed(task.answers, template.solution + template.given)
        found = [s for s in found if s in template.solution and not s.binds & kept]
    elif task.name in submission.broken:
        return submission.broken[task.name].text
    else:  # with `kept`, what the answer needs of other tasks is the solution's
        names = {n for t in submission.exercise.tasks for n in t.answers if kept} - kept
        own = [s for s in submission.statements if not s.binds <= names]
        found = template.not_given(needed(task.answers, own))
    return "\n\n".join(s.text for s in found)


def answers_in(
    template: Template, submission: Submission | None, *, only: str = ""
) -> dict[str, str]:
    """Return the code of the answer to each task, by its name.

    With `only`, the answers to the tasks before that one are the solution's. Those to
    later tasks never are: an answer that calls one would get points for work undone.
    """
    tasks = template.exercise.tasks
    if not only:
        return {task.name: code_for(task, submission, template) for task in tasks}
    last = [task.name for task in tasks].index(only)
    kept = frozenset(name for task in tasks[last:] for name in task.answers)
    found = {t.name: code_for(t, None, template, kept=kept) for t in tasks[:last]}
    return found | {only: code_for(tasks[last], submission, template, kept=kept)}


def definitions(template: Template, answers: dict[str, str]) -> list:
    """Return the cells that define what is given, as far as needed, and the answers."""
    hidden = template.exercise.forbidden  # modules that are not there
    given = [s for s in template.given if not imports_of([s]).intersection(hidden)]
    given = needed(set(WORD.findall("\n".join(answers.values()))), given)
    cells = [_cell("\n\n".join(s.text for s in given))]
    return cells + [_cell(code, answer=name) for name, code in answers.items()]


def compose(template: Template, answers: dict[str, str], seeds: dict, expected: dict):
    """Return the notebook that is graded; `seeds` has those of each task's probes."""
    cells = definitions(template, answers)
    for name, of_task in seeds.items():
        cell = _cell(f"check({name!r})", task=name, seeds=of_task)
        cell.metadata.tags = []
        places = [(place, seed) for place, own in enumerate(of_task) for seed in own]
        text = "".join(expected[name, place, seed][1] for place, seed in places)
        cell.outputs = [new_output("stream", text=text)]
        cells.append(cell)
    return new_notebook(cells=cells)


def all_seeds(task: Task, secret: str) -> list[list[int]]:
    """Return the seeds that each probe of a task is graded on.

    Those of the notebook come first, then hidden ones: the same for the same secret.
    What is slow, such as training, is graded on one hidden seed only.
    """
    found = []
    for probe in task.probes:
        text = f"{fingerprint(secret)} {task.name} {probe.claim}".encode()
        start = 1000 + int.from_bytes(hashlib.sha256(text).digest()[:4], "big")
        hidden = range(start, start + (1 if probe.slow else HIDDEN_INPUTS))
        found.append([*([] if probe.slow else probe.seeds), *hidden])
    return found


def block_of(place: int, seed: int, text: str) -> str:
    """Return what a check prints for one probe and seed: a head, and indented lines."""
    return "\n  ".join([f"probe {place}, seed {seed}", *text.splitlines()]) + "\n"


def blocks_in(text: str) -> dict[tuple[int, int], str]:
    """Return what `block_of` has written, by place and seed."""
    _, *parts = re.split(r"(?m)^probe (\d+), seed (\d+)\n", text)
    blocks = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    return {(int(place), int(seed)): block for place, seed, block in blocks}


def _cell(source: str, **mark):
    # nbval does not compare the output of a cell that carries this tag.
    metadata = {"attncourse": mark, "tags": ["nbval-ignore-output"]}
    return new_code_cell(source, metadata=metadata, execution_count=1)
