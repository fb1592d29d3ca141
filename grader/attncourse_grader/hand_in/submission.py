"""Read a notebook that was handed in, whatever state it is in."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from attncourse_grader.exercises import Refused, exercise_of, modules, version_of
from attncourse_grader.hand_in.source import BadCell, Statement, needed, statements_of
from attncourse_grader.sentences import SAYS

if TYPE_CHECKING:
    from attncourse.exercises.probe import Exercise, Task

LARGEST_FILE = 20_000_000  # bytes; a notebook with many figures has a tenth
MOST_CELLS, MOST_LINES = 1000, 20_000  # of code; an exercise has 50 and 800
FORMAT, MINOR = 4, 5  # of notebooks
RUN = re.compile(r"with attempt\(\)(?!.*\b(?:def|class) )", re.DOTALL)
PICTURE = re.compile(r"data:image/[^\s)\"'>]+")  # as Colab writes it into the text
KINDS_OF_CELLS = ("code", "markdown", "raw")
# How files begin that are often handed in under the name of a notebook.
OTHER_FILES = {b"PK": "a zip file", b"<": "a web page", b"%PDF": "a PDF"}


class SolutionBroken(Exception):
    """The instructor's own notebook does not run; nothing can be said of answers."""


class Unreadable(ValueError):
    """The content of a file is not that of a notebook; the message says why."""


@dataclass(frozen=True)
class Submission:
    """What was found in a notebook."""

    path: Path  # the file
    exercise: Exercise  # the exercise that it answers
    statements: list[Statement]  # the code of all cells that can be read
    # Cells that cannot be read, by the task they belong to.
    broken: dict[str, BadCell]
    # For a task without its names: what the task's own cell defines instead.
    renamed: dict[str, str]
    # What the student should know: an older version, an unreadable cell.
    notes: list[str] = field(default_factory=list)
    # What is written in words: the task that the cell names, the cell's id, the text.
    texts: list[tuple] = field(default_factory=list)

    def answer(self, task: Task) -> list[Statement]:
        """Return the statements that make up the answer to a task."""
        return needed(task.answers, self.statements)

    def missing(self, task: Task) -> list[str]:
        """Return the names that the task asks for and nothing defines."""
        bound = set().union(*(s.binds for s in self.statements), set())
        return [name for name in task.answers if name not in bound]


def read_notebook(path: Path):
    """Return the notebook in a file, without outputs; `Refused` if it is none."""
    import nbformat

    if not path.is_file():
        raise Refused(f"{path.name} is not a file. Give the path of a notebook.")
    size = path.stat().st_size
    if size == 0:
        raise Refused(f"{path.name} is empty. Save the notebook and hand it in again.")
    if size > LARGEST_FILE:
        sizes = size / 1e6, LARGEST_FILE / 1e6
        raise Refused(SAYS["too_large"].format(path.name, *sizes))
    try:
        notebook = nbformat.from_dict(_content_of(path.read_bytes()))
    except Exception as error:
        reason = str(error) if isinstance(error, Unreadable) else "it is damaged"
        raise Refused(SAYS["no_notebook"].format(path.name, reason)) from None
    if not any(c.cell_type == "code" and c.source.strip() for c in notebook.cells):
        raise Refused(f"{path.name} has no code in it. Is it the right file?")
    return notebook


def _content_of(data: bytes) -> dict:
    """Return what the file of a notebook holds, without outputs, in its proper form."""
    try:
        content = json.loads(data)  # UTF-8, or the kind of UTF that it begins with
    except RecursionError:
        raise Unreadable("it is nested too deeply") from None
    except ValueError:
        start = data.lstrip()
        kinds = (what for sign, what in OTHER_FILES.items() if start.startswith(sign))
        what = next(kinds, "cut off, or no text in JSON")
        raise Unreadable(f"it is {what}") from None
    if not isinstance(content, dict) or not content.keys() & {"cells", "worksheets"}:
        raise Unreadable("it is JSON, but has no cells")
    version = content.setdefault("nbformat", FORMAT)
    if version != FORMAT:
        raise Unreadable(f"its format is {str(version)[:20]}; {FORMAT} is known")
    cells = [cell for cell in content["cells"] if isinstance(cell, dict)]
    cells = [cell for cell in cells if cell.get("cell_type") in KINDS_OF_CELLS]
    for place, cell in enumerate(cells):
        if not isinstance(cell.get("id"), str):  # which older versions have not
            cell["id"] = f"{place}"
        lines = cell.get("source")
        lines = lines if isinstance(lines, list) else [lines]
        cell["source"] = "".join(line for line in lines if isinstance(line, str))
        if cell["cell_type"] == "code":  # what it printed may be anything
            cell["outputs"], cell["execution_count"] = [], None
    code = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
    lines = sum(source.count("\n") + 1 for source in code)
    if len(cells) > MOST_CELLS or lines > MOST_LINES:
        counts = len(cells), lines, MOST_CELLS, MOST_LINES
        raise Unreadable(SAYS["too_many_cells"].format(*counts))
    content |= {"cells": cells, "nbformat_minor": MINOR}
    for part in (content, *cells):
        if not isinstance(part.get("metadata"), dict):
            part["metadata"] = {}
        if not isinstance(part["metadata"].get("attncourse"), dict):
            part["metadata"].pop("attncourse", None)
    content["metadata"].pop("widgets", None)  # which may hold what was printed
    return content


def read_submission(path: Path) -> Submission:
    """Find the answers in a notebook.

    Answers are found by the names they define, so cells may be moved, split, copied or
    stripped of their metadata. Raises `Refused` if it is no notebook of an exercise.
    """
    notebook = read_notebook(path)
    statements, broken_cells, marks, texts = [], [], {}, []
    for place, cell in enumerate(notebook.cells, start=1):
        if cell.cell_type != "code" or is_text(cell):
            name = cell.metadata["attncourse"].get("answer") if is_text(cell) else ""
            texts.append((name, cell.id, words_in(cell)))
            continue
        marks[place] = cell.metadata.get("attncourse", {}).get("answer")
        found = statements_of(cell.source, place)
        if isinstance(found, BadCell):
            broken_cells.append(found)
        else:
            statements += found
    said = notebook.metadata.get("attncourse", {})
    found = _exercise_in(said, statements, broken_cells, marks, path)
    # What the notebook runs with an answer is no part of one.
    statements = [s for s in statements if not RUN.match(s.text)]
    broken, notes = {}, []
    for cell in broken_cells:
        task = _task_of(cell, marks, found)
        if task is None:
            notes.append(f"Cell {cell.cell} is left out: {cell.error}.")
        else:
            broken.setdefault(task, cell)
    if said.get("version", version_of(found)) != version_of(found):
        notes.append(SAYS["older_exercise"])
    renamed = _renamed(found, statements, marks)
    return Submission(path, found, statements, broken, renamed, notes, texts)


def words_in(cell) -> str:
    """Return the text of a cell, with a hash in the place of pictures in it."""
    text = PICTURE.sub(lambda found: _picture(found[0]), cell.source)
    pasted = cell.get("attachments")
    return (
        f"{text}\n\n{_picture(json.dumps(pasted, sort_keys=True))}" if pasted else text
    )


def _picture(data: str) -> str:
    digest = hashlib.sha256(data.encode("utf8", "replace")).hexdigest()
    return SAYS["picture"].format(digest[:6])


def is_text(cell) -> bool:
    """Say whether a cell is marked as an answer in words, which is not run."""
    return cell.metadata.get("attncourse", {}).get("kind") == "text"


def _exercise_in(said, statements, broken, marks, path) -> Exercise:
    bound = set().union(*(s.binds for s in statements), set())
    bound |= _defined("\n".join(cell.text for cell in broken))

    def known(exercise) -> int:
        names = [name for task in exercise.tasks for name in task.answers]
        marked = sum(task.name in marks.values() for task in exercise.tasks)
        return len(bound.intersection(names)) + marked

    *others, best = sorted(map(exercise_of, modules()), key=known)
    if said.get("exercise") in list(modules()):
        named = exercise_of(said["exercise"])
        if known(named) or not (named.tasks and known(best)):  # whatever it is
            return named
        says = SAYS["other_exercise"]
        raise Refused(says.format(path.name, named.notebook, best.notebook))
    if not known(best):
        raise Refused(SAYS["no_exercise"].format(path.name))
    if others and known(others[-1]) == known(best):
        raise Refused(SAYS["two_exercises"].format(path.name, best.notebook))
    elsewhere = isinstance(other := said.get("exercise"), str)
    if elsewhere and not any(task.name in marks.values() for task in best.tasks):
        raise Refused(SAYS["exercise_gone"].format(path.name, other[:60]))
    return best


def _defined(text: str) -> set[str]:
    return set(re.findall(r"^\s*(?:def|class)\s+(\w+)", text, re.MULTILINE))


def _task_of(cell: BadCell, marks, exercise: Exercise) -> str | None:
    for task in exercise.tasks:
        if _defined(cell.text).intersection(task.answers):
            return task.name
    names = [task.name for task in exercise.tasks]
    return marks[cell.cell] if marks[cell.cell] in names else None


def _renamed(exercise: Exercise, statements, marks) -> dict[str, str]:
    found = {}
    for task in exercise.tasks:
        own = [s for s in statements if marks[s.cell] == task.name]
        bound = [n for s in own if s.kind != "import" for n in sorted(s.binds)]
        if bound and not set(bound) & set(task.answers):
            found[task.name] = bound[0]
    return found
