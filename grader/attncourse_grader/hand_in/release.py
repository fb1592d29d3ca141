"""Make the exercises that students get from the solutions that instructors own.

A release is noted beside the solutions in ``release.json``: when, with which secret,
and whether each student has hidden inputs of their own. It holds no secret and no name:
of the secret it has a fingerprint that takes long to guess from.
"""

from __future__ import annotations

import copy
import datetime
import functools
import hashlib
import hmac
import json
import re
from pathlib import Path

from attncourse_grader.exercises import exercise_of
from attncourse_grader.hand_in.submission import (
    Refused,
    is_text,
    read_notebook,
    version_of,
)

DEFAULT_SECRET = "attention"  # an instructor takes another
MANIFEST = "release.json"
ROUNDS = 300_000  # about a tenth of a second for each guess at the secret
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
MODEL_ANSWER = re.compile(
    r"<!-- BEGIN SOLUTION -->.*?<!-- END SOLUTION -->\n?", re.DOTALL
)


def stub_of(source: str, label: str) -> str:
    """Return an answer cell without its solution."""
    lines, inside = [], False
    for line in source.splitlines():
        mark = line.strip()
        if mark == BEGIN:
            if inside:
                raise ValueError(f"task {label}: {BEGIN} comes twice without {END}.")
            inside = True
            indent = line[: len(line) - len(line.lstrip())]
            lines.append(f'{indent}raise NotImplementedError("Task {label}")')
        elif mark == END:
            if not inside:
                raise ValueError(f"task {label}: {END} comes without {BEGIN}.")
            inside = False
        elif not inside:
            lines.append(line)
    if inside:
        raise ValueError(f"task {label}: {END} is missing.")
    return "\n".join(lines)


def solution_of(source: str) -> str:
    """Return an answer cell without the marker lines."""
    return "\n".join(
        line for line in source.splitlines() if line.strip() not in (BEGIN, END)
    )


def exercise_from(solution, name: str, mark: str = ""):
    """Return the exercise notebook of a solution notebook."""
    exercise = exercise_of(name)
    notebook = copy.deepcopy(solution)
    notebook.metadata["attncourse"] = {
        "exercise": name,
        "version": version_of(exercise),
    }
    if mark:
        notebook.metadata["attncourse"]["variant"] = mark
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = MODEL_ANSWER.sub("", cell.source).rstrip()
            continue
        cell.outputs, cell.execution_count = [], None
        if task := cell.metadata.get("attncourse", {}).get("answer"):
            words = is_text(cell)
            label = task if words else exercise.label(exercise.task(task))
            cell.source = stub_of(cell.source, label)
    return notebook


def release(solution: Path, folder: Path, mark: str = "") -> Path:
    """Write the exercise of one solution file into a folder."""
    try:
        notebook = exercise_from(read_notebook(solution), solution.stem, mark)
    except ValueError as error:
        raise Refused(f"{solution.name}: {error}") from None
    path = folder / solution.name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(text_of(notebook), encoding="utf8")
    except OSError as error:
        raise Refused(f"{path} cannot be written ({error.strerror}).") from None
    return path


def text_of(notebook) -> str:
    """Return a notebook as the text of its file, the same on every machine."""
    import nbformat

    plain = json.loads(nbformat.writes(notebook, version=4))
    return json.dumps(plain, indent=1, ensure_ascii=False) + "\n"


@functools.lru_cache(maxsize=64)
def fingerprint(secret: str) -> str:
    """Return a text that tells one secret from another and does not give it away."""
    found = hashlib.pbkdf2_hmac("sha256", secret.encode(), b"attncourse", ROUNDS)
    return found.hex()[:16]


def mark_of(secret: str, student: str) -> str:
    """Return the mark that the notebooks of one student carry."""
    return hmac.new(secret.encode(), student.encode(), "sha256").hexdigest()[:16]


def secret_for(secret: str, student: str, manifest: dict | None) -> str:
    """Return what a student's hidden inputs are drawn from."""
    if manifest and manifest.get("variants"):
        return f"{secret}\n{student}"
    return secret


def read_manifest(solutions: Path) -> dict | None:
    """Return what was noted about the last release, None if nothing was."""
    path = solutions / MANIFEST
    if not path.is_file():
        return None
    try:
        found = json.loads(path.read_text("utf8"))
    except (OSError, ValueError, RecursionError) as error:
        raise Refused(
            f"{path} cannot be read ({type(error).__name__}). Release the exercises "
            "again with the same secret, or put the file back."
        ) from None
    if not isinstance(found, dict):
        raise Refused(f"{path} is no manifest of a release. Release again.")
    return found


def write_manifest(solutions: Path, secret: str, variants: bool) -> Path:
    """Note a release."""
    path = solutions / MANIFEST
    manifest = {
        "released": datetime.date.today().isoformat(),
        "secret": fingerprint(secret),
        "variants": variants,
    }
    path.write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf8")
    return path


def doubts_about(secret: str, manifest: dict | None, last: str) -> list[str]:
    """Return sentences about a secret that is not the one of the release."""
    said = []
    if manifest and manifest.get("secret") != fingerprint(secret):
        which = (
            "another secret than this one" if secret else "a secret, and none is given"
        )
        said.append(
            f"The exercises were released on {manifest.get('released', 'a day')} with "
            f"{which}. Hidden inputs are drawn from the one that is given, so points "
            "may differ. To go back, grade again with --secret and the word of the "
            "release: what was graded with it is kept and counts again."
        )
    elif last and last != fingerprint(secret):
        said.append(
            "The run before used another secret, so every notebook is graded again. "
            "The earlier grades are kept, and count again with the earlier secret."
        )
    return said
