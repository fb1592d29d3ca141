"""Make the exercises that students get from the solutions that instructors own."""

import hashlib
import re
from pathlib import Path

from attncourse_grader import cache
from attncourse_grader.exercises import exercise_of, version_of
from attncourse_grader.hand_in.submission import Refused, read_notebook

DEFAULT_SECRET = "attention"  # an instructor takes another
ROUNDS = 300_000  # about a tenth of a second for each guess at the secret
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
SOLUTION = re.compile(rf"(?ms)^([ \t]*){BEGIN}[ \t]*$.*?^[ \t]*{END}[ \t]*$")
MODEL_ANSWER = re.compile(r"(?s)<!-- BEGIN SOLUTION -->.*?<!-- END SOLUTION -->\n?")
LEFT = re.compile(r"(?i)\b(begin|end)\w*[ _-]*solution")


def stub_of(source: str, label: str) -> str:
    """Return an answer cell without its solution, whose marks have to be in pairs."""
    stub = rf'\1raise NotImplementedError("Task {label}")'
    found, count = SOLUTION.subn(stub, source)
    if not source.count(BEGIN) == source.count(END) == count:
        raise ValueError(f"task {label}: {BEGIN} and {END} do not come in pairs.")
    return found.rstrip("\n")


def solution_of(source: str) -> str:
    """Return an answer cell without the marker lines."""
    return "\n".join(s for s in source.splitlines() if s.strip() not in (BEGIN, END))


def exercise_from(notebook, name: str):
    """Make the notebook of a solution that of its exercise, and return it."""
    exercise = exercise_of(name)
    facts = {"exercise": name, "version": version_of(exercise)}
    notebook.metadata["attncourse"] = facts
    for cell in notebook.cells:
        task, made = cell.metadata.get("attncourse", {}).get("answer"), cell.source
        if cell.cell_type == "markdown":
            made = MODEL_ANSWER.sub("", made).rstrip()
        elif task:
            made = stub_of(made, exercise.label(exercise.task(task)))
        pictures = cell.get("attachments", ())
        if any(f"attachment:{name}" not in made for name in pictures):
            says = "has a picture in its model answer: it would be handed out"
            raise ValueError(f"cell {cell.id} {says}. Describe it in words.")
        if (left := LEFT.search(made)) or (task and made == cell.source.rstrip()):
            says = f"has {left[0]!r} left" if left else "has no solution to take out"
            raise ValueError(f"cell {cell.id} {says}. See to the marks around it.")
        cell.source = made
    return notebook


def release(solution: Path, folder: Path, make=exercise_from) -> Path:
    """Write what is made from one solution file into a folder."""
    try:
        notebook = make(read_notebook(solution), solution.stem)
    except ValueError as error:
        raise Refused(f"{solution.name}: {error}") from None
    path = folder / solution.name
    if path.resolve() == solution.resolve():
        raise Refused(f"{path} is the solution itself. Give another folder with --out.")
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(text_of(notebook), encoding="utf8")
    return path


def text_of(notebook) -> str:
    """Return a notebook as the text of its file, the same on every machine."""
    import nbformat

    return nbformat.writes(notebook, version=4) + "\n"


def fingerprint(secret: str) -> str:
    """Return a text that tells one secret from another and does not give it away."""
    if (kept := cache.get(key := f"fingerprint {secret}")) is None:
        kept = hashlib.pbkdf2_hmac("sha256", secret.encode(), b"attncourse", ROUNDS)
        cache.put(key, kept)
    return kept.hex()[:16]
