"""What tests share: answers, a stand-in for the grader that takes no time, a course."""

import textwrap
import tomllib
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from attncourse.exercises.compare import Verdict
from attncourse_grader.batch import BOOK
from attncourse_grader.cli import main
from attncourse_grader.exercises import exercise_of
from attncourse_grader.grade import grading
from attncourse_grader.grade.by_hand import answers_by_hand
from attncourse_grader.grade.compose import Template
from attncourse_grader.grade.grading import Grade, TaskGrade
from attncourse_grader.hand_in.submission import read_submission
from attncourse_grader.hand_in.tables import read_rows
from attncourse_grader.isolate import forking
from attncourse_grader.records.effective import effective_grades
from attncourse_grader.records.gradebook import Gradebook
from attncourse_grader.workers import grade_one, local_results

FIRST = "1_attention_from_scratch"
SOLUTIONS = Path(__file__).resolve().parents[2] / "solutions"
NAMES = tomllib.loads(Path(__file__).with_name("names.toml").read_text("utf8"))
RIGHT = """\
def attention_scores(query, key):
    return query @ key.mT / key.shape[-1] ** 0.5"""


def define(task, body):
    """Return code that defines all names of a task of exercise 1, with one body."""
    lines = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    return "\n".join(
        f"def {name}(*arguments, **options):\n{lines}"
        for name in exercise_of(FIRST).task(task).answers
    )


def attention_with(scores):
    """Return an answer to the second task that takes its scores from an expression."""
    return f"""
import torch
def attention(query, key, value, dropout=0.0):
    weights = torch.softmax({scores}, -1)
    return torch.dropout(weights, dropout, True) @ value, weights
"""


ATTENTION = attention_with("query @ key.mT / query.shape[-1] ** 0.5")
ATTENTION_ON_SCORES = attention_with("attention_scores(query, key)")


def stand_in(path, *, solutions, secret="", seconds=0):
    """Give points for each task whose answer holds the word ``right``."""
    found = read_submission(path)
    tasks = []
    for task in found.exercise.tasks:
        text = "\n".join(statement.text for statement in found.answer(task))
        kind = "" if "right" in text else "values"
        says = (f"The grader saw {text[:60]!r}.",) if kind else ()
        verdicts = [Verdict(p, not kind, kind, says) for p in task.probes]
        tasks.append(TaskGrade(found.exercise.label(task), task, verdicts))
    by_hand = answers_by_hand(Template(found.exercise, solutions), found)
    return Grade(found.exercise, tasks, found.notes, by_hand, found)


@pytest.fixture
def calls(monkeypatch):
    """Grade with the stand-in; return the list of what it was called with."""
    made = []

    def grade_file(path, **options):
        made.append((Path(path), options))
        return stand_in(path, **options)

    monkeypatch.setattr("attncourse_grader.grade.grading.grade_file", grade_file)
    batch = "attncourse_grader.batch"
    monkeypatch.setattr(f"{batch}.layers_missing", lambda: [])

    def one_at_a_time(jobs, at, *more):
        # In Python 3.11.7 ast.parse in two threads may fail; the grader itself forks.
        return local_results(jobs, 1, *more)

    monkeypatch.setattr(f"{batch}.local_results", one_at_a_time)
    # In this process, where the stand-in is.
    monkeypatch.setattr(f"{batch}.grade_course.__kwdefaults__", {"grade": grade_one})
    return made


ANSWERS = (
    "def attention_scores(query, key):\n    return '{scores}'",
    "def attention(query, key, value):\n    return '{attention}'",
)


@pytest.fixture
def notebook():
    """Return a function that writes a notebook of exercise 1 with given answers."""

    def write(path, scores="right", attention="wrong", extra=""):
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        texts = [a.format(scores=scores, attention=attention) for a in ANSWERS]
        texts += [extra] if extra else []
        # With these names of cells, the same notebook is the same file.
        cells = [new_code_cell(text, id=f"cell-{k}") for k, text in enumerate(texts)]
        nbformat.write(new_notebook(cells=cells), path)
        return path

    return write


@pytest.fixture
def solutions():
    return SOLUTIONS


@pytest.fixture
def hand_in(tmp_path):
    """Return a function that writes a notebook of some cells, of code where texts."""

    def write(*cells, metadata=None, name="ada.ipynb"):
        cells = [new_code_cell(c) if isinstance(c, str) else c for c in cells]
        path = tmp_path / name
        nbformat.write(new_notebook(cells=cells, metadata=metadata or {}), path)
        return path

    return write


class Course:
    """A folder of what is handed in and of its grades, and the commands on it."""

    def __init__(self, folder, solutions, notebook, capsys):
        self.folder, self.grades = folder, folder / "grades"
        self.solutions, self.notebook, self.capsys = solutions, notebook, capsys
        self.graded = []  # what the stand-in was called with in the last run
        self.printed = self.said = ""  # by the last command

    def hand_in(self, name="ada", place="in", **answers):
        """Write a notebook, by default with the right scores and nothing else."""
        return self.notebook(self.folder / place / f"{name}.ipynb", **answers)

    def hand_in_each(self, *names, **answers):
        """Write for each name a notebook that is like no other."""
        for name in names:
            self.hand_in(name, extra=f"# {name}", **answers)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf8")
        return path

    def students(self, text):
        """Write a class list; return the option that gives it to the command."""
        return ["--students", self.write("class.csv", text)]

    def times(self, text):
        """Write when, or how late, students handed in; return the option, too."""
        return ["--times", self.write("times.csv", text)]

    def run(self, *words, fault=""):
        """Call a command and keep what it prints; check the fault, if one is given."""
        place = "--out" if words[0] == "grade" else "--grades"
        status = main([*map(str, words), place, str(self.grades)])
        self.printed, self.said = self.capsys.readouterr()
        assert "Traceback" not in self.printed + self.said
        if fault:
            assert status == 1
            assert fault in self.said
        return status

    def grade(self, *options, places=("in",), fault="", trust=False):
        self.graded.clear()
        places = [self.folder / place for place in places]
        words = ["grade", *places, "--solutions", self.solutions, *options]
        words += ["--trust-names"] * trust
        return self.run(*words, fault=fault)

    def book(self):
        return Gradebook(self.grades / BOOK, must_exist=True)

    def standing(self, student="ada"):
        """Return what counts for a student who has to do with one exercise only."""
        with self.book() as book:
            (found,) = [s for s in effective_grades(book) if s.student == student]
        return found

    def text(self, name):
        return (self.grades / name).read_text()

    def rows(self, name="grades.csv"):
        return list(read_rows(self.grades / name))

    def points(self):
        """Return the column of exercise 1 in the table of grades."""
        return [row[4] for row in self.rows()[1:]]


@pytest.fixture
def real_course(tmp_path, solutions, notebook, capsys):
    """Return a course whose notebooks the grader itself grades."""
    return Course(tmp_path, solutions, notebook, capsys)


@pytest.fixture
def course(real_course, calls):
    """Return a course whose notebooks the stand-in grades."""
    real_course.graded = calls
    return real_course


@pytest.fixture
def graded(course):
    """Return a course of which one run has graded the notebook of ada."""
    course.hand_in()
    assert course.grade() == 0
    return course


@pytest.fixture(scope="session")
def forker():
    """Take the forking process down with the tests, with all that it forked."""
    yield
    forking.forker().close()


@pytest.fixture
def no_rule(monkeypatch):
    """Let isolation alone decide, without the rule that reads the source."""
    monkeypatch.setattr(grading, "forbidden_uses", lambda source, names: [])
