"""Answers to the exercises, put in the place of the model answers and checked."""

import functools
from pathlib import Path

from attncourse.exercises.compare import Case, holds
from attncourse.exercises.notebook import text_of_task, verdicts_on
from attncourse.exercises.recorded import known
from attncourse.exercises.run import draw, observe
from attncourse_grader.exercises import exercise_of
from tools.record_expected import SOLUTIONS, Solution, solutions

ANSWERS = Path(__file__).with_name("answers")
# The exercises of the course; others may stand beside them.
PATHS = {
    path.stem: path
    for path in solutions()
    if (ANSWERS / f"{path.stem.partition('_')[2]}.py").is_file()
}
EXERCISES = {name: exercise_of(name) for name in PATHS}
TASKS = [(name, task.name) for name, e in EXERCISES.items() for task in e.tasks]
SLIPS = SOLUTIONS / "slips"


@functools.cache
def solution(notebook):
    return Solution(PATHS[notebook])


def verdicts(notebook, name, source):
    """Return what is said about an answer to a task."""
    exercise = EXERCISES[notebook]
    task, space = exercise.task(name), solution(notebook).namespace({name: source})
    answers = [space.get(answer) for answer in task.answers]
    return verdicts_on(exercise, task, answers, space)


def passes(notebook, name, source):
    """Say whether an answer passes all probes; stop at the first that it does not."""
    task, recorded = EXERCISES[notebook].task(name), known(notebook)
    space = solution(notebook).namespace({name: source})
    answers = [space.get(answer) for answer in task.answers]
    for place, probe in enumerate(task.probes):
        for seed in probe.seeds:
            expected = recorded.expected(name, place, seed)
            came = observe(probe, answers, seed)
            if not holds(probe, Case(seed, draw(probe, seed), expected, came)):
                return False
    return True


def right_and_text(notebook, name, source):
    """Say whether an answer is right, and what the student reads, on one line."""
    task, found = EXERCISES[notebook].task(name), verdicts(notebook, name, source)
    said = " ".join(text_of_task("", task, found).split())
    return all(verdict.holds for verdict in found), said
