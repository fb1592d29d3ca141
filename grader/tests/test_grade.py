"""Whole submissions through nbval: points, feedback, and nobody else's loss."""

from dataclasses import replace

import pytest

from attncourse_grader.exercises import exercise_of, modules
from attncourse_grader.grade import comparing, compose
from attncourse_grader.grade.grading import grade_file
from attncourse_grader.grade.report import record_of
from attncourse_grader.sentences import SAYS
from grader.tests.conftest import (
    ATTENTION,
    ATTENTION_ON_SCORES,
    FIRST,
    NAMES,
    RIGHT,
    SOLUTIONS,
)


def graded(path, **options):
    return grade_file(path, solutions=SOLUTIONS, **options)


def tasks_of(grade):
    return {task.task.name: task for task in grade.tasks}


@pytest.mark.parametrize("name", list(modules()))
def test_a_solution_gets_all_points_and_may_print_a_tensor(name, tmp_path):
    path, text = tmp_path / f"{name}.ipynb", (SOLUTIONS / f"{name}.ipynb").read_text()
    for line in ("    output, _ = scaled_dot", "        start = torch.tensor(seen"):
        first = line[: len(line) - len(line.lstrip())]
        text = text.replace(f'"{line}', f'"{first}print(query)\\n{line}')
    path.write_text(text)
    grade = graded(path)
    verdicts = [verdict for task in grade.tasks for verdict in task.verdicts]
    assert [(v.probe.claim, v.sentences) for v in verdicts if v.sentences] == []
    assert grade.points == 20


def test_points_are_the_same_on_every_run_and_for_every_secret(hand_in):
    path = hand_in(RIGHT, ATTENTION.replace(", -1)", ", -2)"))
    secrets = "one", "one", "another"
    first, second, other = (record_of(graded(path, secret=s)) for s in secrets)
    assert first == second
    points = [[task["points"] for task in r["tasks"]] for r in (first, other)]
    assert points[0] == points[1]
    assert points[0][0] == first["tasks"][0]["of"]
    assert points[0][1] < first["tasks"][1]["of"]


def test_an_answer_may_print_and_sees_no_environment(hand_in, monkeypatch):
    monkeypatch.setenv("COURSE_TOKEN", "secret")
    noisy = (
        "import os\nimport matplotlib.pyplot as plt\n"
        "F = 1\nimport torch.nn.functional as F\n"  # which the notebook imports, too
        "assert 'COURSE_TOKEN' not in os.environ\n"
        "def attention_scores(query, key):\n"
        "    print('debug', F.relu(query))\n    1 if display(4) else 2\n"
        "    plt.plot([1, 2])\n    display(3)\n"
        "    return query @ key.mT / key.shape[-1] ** 0.5"
    )
    task = tasks_of(graded(hand_in(noisy)))["scores"]
    assert task.points == task.task.points


@pytest.mark.parametrize(("body", "kind", "says"), NAMES["misbehaves"])
def test_an_answer_that_misbehaves_costs_itself_only(
    hand_in, no_rule, body, kind, says
):
    bad = f"def attention_scores(query, key):\n    {body}"
    scores, attention, *_ = graded(hand_in(bad, ATTENTION)).tasks
    assert scores.points == 0
    assert scores.verdicts[0].kind == kind
    assert says in " ".join(scores.verdicts[0].sentences)
    assert attention.points == attention.task.points


def test_hidden_inputs_differ_by_secret_and_what_is_slow_has_one(monkeypatch):
    tasks = exercise_of(FIRST).tasks
    first, last = tasks[0], tasks[-1]
    assert compose.all_seeds(first, "a")[0][:3] == [0, 1, 2]
    assert compose.all_seeds(first, "a") == compose.all_seeds(first, "a")
    assert compose.all_seeds(first, "a") != compose.all_seeds(first, "b")
    slow = [n for n, probe in enumerate(last.probes) if probe.slow]
    assert [len(compose.all_seeds(last, "a")[n]) for n in slow] == [1] * len(slow)
    trained = next(last.probes[n] for n in slow if last.probes[n].between)
    assert comparing._is_measured(trained)  # of which nothing else is known
    assert not comparing._is_measured(replace(trained, compared=("the output",)))
    # An answer sees its seeds, so to guess a secret by them has to take long.
    place = "attncourse_grader.grade.compose.fingerprint"
    monkeypatch.setattr(place, lambda secret: "slow to work out")
    assert compose.all_seeds(first, "a") == compose.all_seeds(first, "b")


def test_a_task_is_graded_with_reference_answers_in_place_of_broken_ones(hand_in):
    wrong = "def attention_scores(query, key):\n    return query"
    for broken in (wrong, wrong + " (", "attention_score = 1"):
        tasks = tasks_of(graded(hand_in(broken, ATTENTION_ON_SCORES)))
        assert tasks["scores"].points == 0
        assert tasks["attention"].points == tasks["attention"].task.points
        assert tasks["attention"].notes == [SAYS["others_replaced"].format("1.1")]


def test_no_reference_answer_to_a_later_task_does_the_work_of_an_earlier_one(hand_in):
    calls = (
        "import torch\n"
        "def masked_attention(query, key, value, mask=None): raise ValueError\n"
        "def attention(query, key, value, dropout=0.0):\n"
        "    weights = masked_attention(query, key, value)[1]\n"
        "    return torch.dropout(weights, dropout, True) @ value, weights"
    )
    broken = "def attention_scores(query, key): pass"
    assert graded(hand_in(broken, calls)).points == 0
    own = "def masked_attention(query, key, value, mask=None):\n"
    own += "    return None, torch.softmax(attention_scores(query, key), -1)"
    attention = tasks_of(graded(hand_in(broken, calls, own)))["attention"]
    assert attention.points == attention.task.points


def test_nothing_is_shown_that_came_from_a_process_with_reference_answers(hand_in):
    spy = (
        "import inspect, torch\nTEXT = []\n"
        "def attention(query, key, value, dropout=0.0):\n"
        "    raise ValueError(attention_scores.__doc__)"
    )
    first = "def attention_scores(query, key):\n    'of the student'\n    return key"
    grade = graded(hand_in(first, spy))
    _, attention, *_ = record_of(grade)["tasks"]
    assert "of the student" in str(attention)
    feedback = [check["feedback"] for check in attention["checks"]]
    assert "scaled score" not in str(feedback)


@pytest.mark.parametrize(
    "mistake", ["return oops", "return query", "x = (", "import os; os._exit(1)"]
)
def test_a_solution_not_as_recorded_is_the_instructors(mistake, tmp_path, hand_in):
    path = tmp_path / f"{FIRST}.ipynb"
    text = (SOLUTIONS / path.name).read_text()
    path.write_text(text.replace("### BEGIN SOLUTION", mistake, 1))
    with pytest.raises(RuntimeError, match=r"SolutionBroken: (the solution )?1_att"):
        grade_file(hand_in("def attention_scores(): pass"), solutions=tmp_path)
