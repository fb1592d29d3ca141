"""Every wrong answer loses the points it should and is told why; no right one does."""

import contextlib
import importlib
import io
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

import attncourse.training
from attncourse.exercises import MODULES, exercise_of, judge
from attncourse.exercises.judge import judge_task, lines_of_case
from attncourse.exercises.seen import read_line
from attncourse.grading.compose import Template
from attncourse.grading.source import needed
from tests.exercises.trained_once import TrainedOnce

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent


# The checks that train import `train` here, or when they run.
TRAINS = (
    "attncourse.exercises.from_scratch.copying",
    "attncourse.exercises.variants.translator",
    "attncourse.training",
)


@pytest.fixture(scope="module", autouse=True)
def _trained_once():
    once = TrainedOnce(attncourse.training.train)
    with pytest.MonkeyPatch.context() as patch:
        for module in TRAINS:
            patch.setattr(importlib.import_module(module), "train", once)
        yield once


@cache
def answers_of(notebook):
    """Return the catalogue of an exercise: its module of answers."""
    path = HERE / f"{MODULES[notebook]}_answers.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def template_of(notebook):
    path = ROOT / "solutions" / f"{notebook}.ipynb"
    return Template(path, exercise_of(notebook))


def all_answers(kind):
    return [
        pytest.param(notebook, answer, id=f"{notebook[0]}-{answer.task}-{answer.name}")
        for notebook in MODULES
        for answer in getattr(answers_of(notebook), kind)
    ]


def code_of(notebook, answer):
    """Return the source of an answer, made from the solution where it is a change."""
    if answer.change is None:
        return answer.code
    names = exercise_of(notebook).task(answer.task).names
    reference = template_of(notebook).reference
    code = "\n\n".join(s.text for s in needed(names, reference))
    old, new = answer.change
    assert old in code, f"the solution of {answer.task} does not contain {old!r}"
    return code.replace(old, new)


def verdicts_on(notebook, answer, helpers=()):
    """Judge one answer, with the solution's answers to the other tasks."""
    template = template_of(notebook)
    exercise = exercise_of(notebook)
    task = exercise.task(answer.task)
    namespace = {"__name__": "__main__"}
    others = [s.text for s in template.given + template.reference]
    with contextlib.redirect_stdout(io.StringIO()):
        for code in [*others, *helpers, code_of(notebook, answer)]:
            exec(compile(code, f"<{answer.name}>", "exec"), namespace)
        return judge_task(exercise, task, [namespace.get(n) for n in task.names])


@pytest.fixture
def as_graded(monkeypatch):
    """Collect the verdicts of a grader, who sees printed, rounded numbers."""
    found, judged = [], judge.judge

    def listening(check, cases):
        printed = [
            replace(case, seen=dict(map(read_line, lines[1:])))
            for case in cases
            if (lines := lines_of_case(check, case.seed, case.seen))
        ]
        found.append(judged(check, printed, tolerance=0.51 * 10.0**-check.digits))
        return judged(check, cases)

    monkeypatch.setattr(judge, "judge", listening)
    return found


@pytest.mark.filterwarnings("ignore")  # a student's code may warn
@pytest.mark.parametrize(("notebook", "answer"), all_answers("WRONG"))
def test_a_wrong_answer_loses_its_points_and_is_told_why(notebook, answer, as_graded):
    verdicts = verdicts_on(notebook, answer)
    lost = tuple(place for place, v in enumerate(verdicts) if not v.holds)
    assert lost == tuple(answer.loses)
    first = verdicts[lost[0]]
    assert first.says
    if answer.named:
        assert first.mistake == answer.named
    if as_graded:  # what need not be run to be seen is not printed either
        assert [v.holds for v in as_graded] == [v.holds for v in verdicts]
        assert as_graded[lost[0]].mistake == first.mistake


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("notebook", "answer"), all_answers("RIGHT"))
def test_a_right_answer_keeps_all_points(notebook, answer):
    verdicts = verdicts_on(notebook, answer, answer.helpers)
    assert [v.mistake for v in verdicts if not v.holds] == []


def test_the_catalogue_is_large_and_nearly_all_of_it_is_named():
    wrong = [a for notebook in MODULES for a in answers_of(notebook).WRONG]
    assert len(wrong) >= 80
    assert sum(bool(a.named) for a in wrong) >= 0.9 * len(wrong)
    assert all(a.loses for a in wrong)


@pytest.mark.parametrize("notebook", MODULES)
def test_each_task_has_five_right_answers_and_some_wrong_ones(notebook):
    for task in exercise_of(notebook).tasks:
        right = [a for a in answers_of(notebook).RIGHT if a.task == task.name]
        wrong = [a for a in answers_of(notebook).WRONG if a.task == task.name]
        assert len(right) >= 5, f"{task.name} has {len(right)} right answers"
        assert len(wrong) >= 2, f"{task.name} has {len(wrong)} wrong answers"


@pytest.mark.parametrize("notebook", MODULES)
def test_names_of_answers_are_unique(notebook):
    module = answers_of(notebook)
    names = [(a.task, a.name) for a in (*module.WRONG, *module.RIGHT)]
    assert len(names) == len(set(names))
