"""What there is to grade: whose each file is, and whether it was graded before."""

from __future__ import annotations

import functools
import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path

from attncourse_grader.exercises import folder, modules
from attncourse_grader.hand_in.class_list import ClassList, Student
from attncourse_grader.hand_in.collect import Found
from attncourse_grader.hand_in.manifest import fingerprint, secret_for
from attncourse_grader.safe_text import one_line


@dataclass(frozen=True)
class Job:
    """Files with the same content, which are graded once."""

    path: Path  # one of the files
    student: str  # whose that one is
    secret: str  # what hidden inputs are drawn from
    content: str  # the hash of the files
    # Student and file of each.
    handins: list[tuple[str, Found]] = field(default_factory=list)


class Keys:
    """What a grade depends on, as one text: the same text, the same grade."""

    def __init__(self, solutions: Path):
        self.solutions = solutions

    @functools.cache  # noqa: B019 - one object a run
    def of_exercise(self, exercise: str) -> str:
        """Return the hash of an exercise: its solution and the code of its checks."""
        solution = hash_of_code(self.solutions / f"{exercise}.ipynb")
        checks = hash_of_checks((modules()[exercise],))
        return hashlib.sha256(f"{solution} {checks}".encode()).hexdigest()

    def key(self, content: str, exercise: str, secret: str) -> str:
        """Return the key of a grade."""
        parts = [content, exercise, self.of_exercise(exercise), fingerprint(secret)]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


ENGINE = ("probe", "run", "compare", "relations", "forbidden", "provided/__init__")


def hash_of_checks(modules) -> str:
    """Return the hash of the code of checks: what they share, and their own modules."""
    engine = [*ENGINE, *modules, *(f"provided/{name}" for name in modules)]
    paths = [folder() / f"{name}.py" for name in engine]
    paths = [path for path in paths if path.is_file()]
    found = hashlib.sha256()
    for path in sorted(paths):
        found.update(path.read_bytes())
    return found.hexdigest()


def hash_of_code(path: Path) -> str:
    """Return the hash of a notebook's code cells: text in it changes no grade."""
    try:
        cells = json.loads(path.read_bytes())["cells"]
        code = [
            (cell["source"], cell["metadata"].get("attncourse"))
            for cell in cells
            if cell["cell_type"] == "code"
        ]
    except (ValueError, KeyError, TypeError, AttributeError):
        return hash_of(path)  # grading will say what is wrong with it
    return hashlib.sha256(json.dumps(code, sort_keys=True).encode()).hexdigest()


def hash_of(path: Path) -> str:
    """Return the hash of a file's content."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while part := file.read(1 << 20):
            found.update(part)
    return found.hexdigest()


def whose(found: Found, students: ClassList | None) -> tuple[Student | None, str]:
    """Return the student of a file, or None and a sentence that says why not."""
    if students is None:
        name = found.names[0]
        return Student(name, name, canvas=found.canvas, moodle=found.moodle), ""
    student, why = students.find(found)
    if student is None:
        return None, f"{found.source}: {why}. It is not graded."
    return student, ""


def plan(files, students, *, book, keys, secret, manifest, again=False):
    """Say what there is to do."""
    jobs: dict[tuple[str, str], Job] = {}
    known, problems = [], []
    for found in files:
        student, why = whose(found, students)
        if student is None:
            problems.append(why)
            continue
        name = student.student
        try:
            content = hash_of(found.path)
        except OSError as error:
            reason = (error.strerror or type(error).__name__).lower()
            problems.append(f"{found.source} cannot be read ({one_line(reason)}).")
            continue
        book.add_student(student)
        own = secret_for(secret, name, manifest)
        exercise = book.exercise_in(content)
        key = keys.key(content, exercise, own) if exercise else ""
        if key and not again and book.has_result(key):
            known.append((name, found, content, key))
            continue
        job = Job(found.path, name, own, content)
        jobs.setdefault((content, own), job).handins.append((name, found))
    return list(jobs.values()), known, problems
