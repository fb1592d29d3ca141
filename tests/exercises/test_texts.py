"""The notebooks of the exercises say what their records say, and all that is fixed."""

import ast
import re
from functools import cache

import nbformat
import pytest

from attncourse.exercises.recorded import known
from attncourse.exercises.run import digest, draw
from tests.exercises.answering import EXERCISES, PATHS, TASKS
from tools.record_expected import ROOT

HEADING = re.compile(r"## Task (\d)\.(\d+): (.+)")
FACTS = re.compile(r"\*(\d+) points? · (easy|medium|hard) · (\d+) minutes\*")
WORDS = {5: "Five", 6: "Six", 7: "Seven"}
EVERY = pytest.mark.parametrize("notebook", EXERCISES)


@cache
def cells(notebook):
    return nbformat.read(PATHS[notebook], as_version=4).cells


@cache
def task_texts(notebook):
    """Return (title, points, minutes, text) of each task, in the notebook's order."""
    found = []
    for cell in cells(notebook):
        if cell.cell_type == "markdown" and (head := HEADING.search(cell.source)):
            facts = FACTS.search(cell.source)
            found.append((head[3], int(facts[1]), int(facts[3]), cell.source))
    return found


def marked(notebook, kind):
    marks = (cell.metadata.get("attncourse", {}) for cell in cells(notebook))
    return [mark[kind] for mark in marks if kind in mark]


@EVERY
def test_the_headings_are_those_of_the_tasks(notebook):
    tasks = EXERCISES[notebook].tasks
    found = [(title, points) for title, points, _, _ in task_texts(notebook)]
    assert found == [(task.title, task.points) for task in tasks]
    assert sum(points for _, points in found) == 20


@EVERY
def test_each_task_has_an_answer_a_check_and_three_hints(notebook):
    names = [task.name for task in EXERCISES[notebook].tasks]
    assert marked(notebook, "answer") == names
    assert marked(notebook, "check") == names
    hints = sum(cell.source.count("<summary>Hint") for cell in cells(notebook))
    assert hints == 3 * len(names)


@EVERY
def test_the_introduction_counts_right(notebook):
    intro = cells(notebook)[0].source
    texts = task_texts(notebook)
    assert f"**{WORDS[len(texts)]} tasks, 20 points, about " in intro
    stated = int(re.search(r"about (\d+) minutes", intro)[1])
    assert abs(stated - sum(minutes for _, _, minutes, _ in texts)) <= 5


@EVERY
def test_what_is_forbidden_is_named_in_the_text(notebook):
    exercise, intro = EXERCISES[notebook], cells(notebook)[0].source
    for name in exercise.forbidden:
        assert f"`{name}`" in intro
    for task, (_, _, _, text) in zip(exercise.tasks, task_texts(notebook), strict=True):
        for name in task.forbidden:
            assert f"`{name}`" in text


@EVERY
def test_no_raw_role_or_directive_is_left(notebook):
    for cell in cells(notebook):
        if cell.cell_type == "markdown":
            assert not re.search(r"\{[a-z][a-z:-]*\}`|^\s*(`{3,}|:{3,})\{", cell.source)


@pytest.mark.parametrize(("notebook", "name"), TASKS)
def test_an_answer_defines_what_the_check_takes(notebook, name):
    task = EXERCISES[notebook].task(name)
    for cell in cells(notebook):
        mark = cell.metadata.get("attncourse", {})
        if mark.get("answer") == name:
            defined = {getattr(n, "name", "") for n in ast.parse(cell.source).body}
            assert set(task.answers) <= defined
        if mark.get("check") == name:
            wanted = f'exercise.check("{name}", {", ".join(task.answers)})'
            assert "".join(cell.source.split()) == "".join(wanted.split())


@pytest.mark.parametrize(("notebook", "name"), TASKS)
def test_links_lead_to_headings_of_the_book(notebook, name):
    for probe in EXERCISES[notebook].task(name).probes:
        if not probe.read:
            continue
        page, _, heading = probe.read.partition("#")
        chapter = nbformat.read(ROOT / f"{page}.ipynb", as_version=4)
        found = {
            re.sub(r"[^\w\- ]", "", line.lstrip("# ").lower()).strip().replace(" ", "-")
            for cell in chapter.cells
            for line in cell.source.splitlines()
            if cell.cell_type == "markdown" and line.startswith("#")
        }
        assert not heading or heading in found, probe.read


@pytest.mark.parametrize(("notebook", "name"), TASKS)
def test_expected_values_are_recorded_for_the_inputs_of_today(notebook, name):
    recorded, task = known(notebook), EXERCISES[notebook].task(name)
    for place, probe in enumerate(task.probes):
        for seed in probe.seeds:
            now = digest(draw(probe, seed))
            assert recorded.digest(name, place, seed) == now, "run `make expected`"


@pytest.mark.parametrize(("notebook", "name"), TASKS)
def test_probes_say_something(notebook, name):
    probes = EXERCISES[notebook].task(name).probes
    claims = [probe.claim for probe in probes]
    assert len(set(claims)) == len(claims)
    for probe in probes:
        assert probe.given == "" or probe.given.endswith((".", ".)"))
        assert probe.why == "" or probe.why.endswith((".", ".)"))
        assert (probe.between is None) == (probe.measure is None)
        assert not probe.claim.endswith(".")
