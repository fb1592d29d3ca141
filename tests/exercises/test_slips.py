"""The mistakes that the solutions' slips describe are caught and named."""

import tomllib

import pytest

from tests.exercises.answering import SLIPS, TASKS, solution, verdicts


def _slips():
    for notebook, task in TASKS:
        path = SLIPS / f"{notebook}.toml"
        slips = tomllib.loads(path.read_text("utf8")) if path.exists() else {}
        if slips.get(task):
            name = f"{notebook[0]}-{task}"
            yield pytest.param(notebook, task, slips[task], id=name)


@pytest.mark.parametrize(("notebook", "task", "slips"), list(_slips()))
def test_every_slip_is_caught_and_most_are_named(notebook, task, slips):
    named = 0
    for old, new, says in slips:
        source = solution(notebook).edited(task, old, new)
        found = [v for v in verdicts(notebook, task, source) if not v.holds]
        assert found, f"{old!r} -> {new!r} is not caught"
        others = {other for _, _, other in slips} - {says}
        assert not others & set(found[0].sentences), f"{old!r} is taken for another"
        named += says in found[0].sentences
    assert named >= 0.75 * len(slips)


@pytest.mark.parametrize("notebook", sorted({notebook for notebook, _ in TASKS}))
def test_slips_belong_to_tasks(notebook):
    slips = tomllib.loads((SLIPS / f"{notebook}.toml").read_text("utf8"))
    assert set(slips) <= {task for name, task in TASKS if name == notebook}
