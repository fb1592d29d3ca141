"""What there is to grade: whose each file is, and whether it was graded before."""

import functools
import hashlib
import json
from collections import defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path

from attncourse_grader.exercises import folder, modules
from attncourse_grader.hand_in.class_list import NAME_ALONE, ClassList, Student, whose
from attncourse_grader.hand_in.collect import Found
from attncourse_grader.hand_in.release import fingerprint
from attncourse_grader.sentences import SAYS


@dataclass(frozen=True)
class Job:
    """Files with the same content, which have one grade."""

    path: Path  # one of the files
    content: str  # the hash of the files
    result: int | None  # what the content was given before, None if it is to be graded
    # Student and file of each.
    handins: list[tuple[str, Found]] = field(default_factory=list)


class Keys:
    """What a grade depends on, as one text: the same text, the same grade."""

    def __init__(self, solutions: Path, secret: str, limit: int):
        self.solutions, self.secret = solutions, fingerprint(secret)
        self.limit = limit  # seconds
        list(map(self.of_exercise, modules()))  # before a change during the run

    @functools.cache  # noqa: B019 - one object a run
    def of_exercise(self, exercise: str) -> str:
        """Return the hash of an exercise: its solution and all of its checks."""
        path = self.solutions / f"{exercise}.ipynb"
        solution = hash_of_code(path) if path.is_file() else ""
        return digest(solution, hash_of_checks((modules()[exercise],)))

    def key(self, content: str, exercise: str, *, spent: bool) -> str:
        """Return the key of a grade; where the time was spent, of this limit's."""
        depends = self.of_exercise(exercise), self.secret, self.limit if spent else 0
        return digest(content, exercise, *depends)[:32]


def hash_of_checks(own) -> str:
    """Return the hash of checks: what they share, their modules, what is expected."""
    others = {n for pair in modules().items() if pair[1] not in own for n in pair}
    paths = [p for form in ("py", "toml", "xz") for p in folder().rglob(f"*.{form}")]
    paths = [p for p in paths if not p.parent.name.startswith(".")]  # Jupyter's copies
    mine = sorted(p for p in paths if p.name.partition(".")[0] not in others)
    return hashlib.sha256(b"".join(path.read_bytes() for path in mine)).hexdigest()


def hash_of_code(path: Path) -> str:
    """Return the hash of a notebook's code and answers: other text changes no grade."""
    try:
        code = [
            (cell["source"], cell["metadata"].get("attncourse"))
            for cell in json.loads(path.read_bytes())["cells"]
            if cell["cell_type"] == "code" or "attncourse" in cell["metadata"]
        ]
    except (ValueError, KeyError, TypeError, AttributeError):
        return hash_of(path)  # grading will say what is wrong with it
    return digest(code)


def digest(*parts) -> str:
    """Return the hash of plain data."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def hash_of(path: Path) -> str:
    """Return the hash of a file's content."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def owners(files, students: ClassList | None, book, trust=False) -> tuple:
    """Return the students of each file, and sentences on those whose are not known.

    Where nothing but a name tells, a student has one number in one place, and in Canvas
    one for ever. Who goes by somebody else's name is left to the instructor.
    """
    found, problems, names, numbers = [], [], defaultdict(list), defaultdict(set)
    known = {n: s["canvas"] for n, s in book.students().items() if not s["gone"]}
    for file in files:
        own, why = whose(file, students, trust)
        number = file.moodle or file.canvas
        if students and file.moodle and students.group_of(file):
            file = replace(file, moodle="", group=file.name, order=int(number[-15:]))
        if why == NAME_ALONE:
            names[file.place].append(file.name)
        elif not own:
            problems.append(f"{file.source}: {why}. It is not graded.")
        else:
            key = file.group or file.place, *(s.student for s in own)
            found.append((file, own, key))
            before = known.get(own[0].student, number) if file.canvas else number
            numbers[key] |= {number, before} - {"" if students else None}
    kept = []
    for file, own, key in found:
        sure = students and students.by_number(file) == own
        sure = sure or file.canvas == known.get(own[0].student) != ""
        if not sure and len(numbers[key]) > 1:
            problems.append(SAYS["one_name"].format(file.source, file.name))
        else:
            kept.append((file, own))
    says = SAYS["name_alone"]  # once for each download
    alone = [says.format(place, min(own), len(own)) for place, own in names.items()]
    return kept, alone + problems


def plan(files, students, book, keys, *, again=False, trust=False):
    """Return jobs, and a sentence for each file that is left out."""
    jobs: dict[str, Job] = {}
    kept, problems = owners(files, students, book, trust)
    for found, own in kept:
        content = hash_of(found.path)
        if content not in jobs:
            exercise, result = book.exercise_in(content), None
            if exercise in modules() and not again:
                known = (keys.key(content, exercise, spent=s) for s in (False, True))
                result = next(filter(None, map(book.result_of, known)), None)
            jobs[content] = Job(found.path, content, result)
        for student in own:
            # What a class list says is kept with its run, what a file says is not.
            number = found.canvas if len(own) == 1 else ""
            new = Student(student.student, canvas=number) if students else student
            book.add_student(new)
            jobs[content].handins.append((student.student, found))
    return list(jobs.values()), problems
