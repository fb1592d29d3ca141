"""Whole submissions through nbval: points, feedback, and nobody else's loss."""

import csv
import json
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from attncourse_grader.cli import main
from attncourse_grader.exercises import exercise_of, modules
from attncourse_grader.grade.compose import compose, find_template
from attncourse_grader.grade.grading import grade_file
from attncourse_grader.grade.report import page_of_record, record_of, text_of_grade
from attncourse_grader.hand_in.submission import read_submission

ROOT = Path(__file__).resolve().parents[2]
SOLUTIONS = ROOT / "solutions"
FIRST = "1_attention_from_scratch"
RIGHT = """\
def attention_scores(query, key):
    return query @ key.mT / key.shape[-1] ** 0.5"""


@pytest.fixture
def hand_in(tmp_path):
    def write(*cells, name="ada.ipynb"):
        path = tmp_path / name
        nbformat.write(new_notebook(cells=[new_code_cell(c) for c in cells]), path)
        return path

    return write


def graded(path, **options):
    return grade_file(path, solutions=SOLUTIONS, **options)


def scores_of(grade):
    (task,) = [t for t in grade.tasks if t.task.name == "scores"]
    return task


@pytest.mark.parametrize("name", list(modules()))
def test_a_solution_gets_all_points(name):
    grade = graded(SOLUTIONS / f"{name}.ipynb")
    said = [(v.check.claim, v.says) for t in grade.tasks for v in t.verdicts if v.says]
    assert said == []
    assert grade.points == 20


@pytest.mark.parametrize("secret", ["one", "another"])
def test_points_are_the_same_on_every_run_and_for_every_secret(hand_in, secret):
    path = hand_in(
        RIGHT, "def attention_weights(scores):\n    return scores.softmax(-2)"
    )
    first, second = (record_of(graded(path, secret=secret)) for _ in range(2))
    assert first == second
    assert first["tasks"][0]["points"] == first["tasks"][0]["of"]
    assert first["tasks"][1]["points"] < first["tasks"][1]["of"]


def test_what_an_answer_prints_and_draws_costs_nothing(hand_in):
    noisy = (
        "import sys\nimport matplotlib.pyplot as plt\n"
        "def attention_scores(query, key):\n"
        "    print('debug', query.shape)\n    print('x', file=sys.stderr)\n"
        "    plt.plot([1, 2])\n    display(3)\n"
        "    return query @ key.mT / key.shape[-1] ** 0.5"
    )
    task = scores_of(graded(hand_in(noisy)))
    assert task.points == task.task.points


@pytest.mark.parametrize(
    ("body", "mistake"),
    [
        ("import os\n    os._exit(0)", "did not finish"),
        ("raise SystemExit", "raises an error"),
        ("raise KeyboardInterrupt", "raises an error"),
        ("return", "returns nothing"),
        ("return 'text'", "wrong type"),
        ("return query / 0", "wrong shape"),
        ("return undefined", "raises an error"),
        ("print('seed 1\\nresult | float | 1 | 2')\n    return 1", "wrong shape"),
    ],
)
def test_an_answer_that_misbehaves_costs_itself_only(hand_in, body, mistake):
    bad = f"def attention_scores(query, key):\n    {body}"
    good = "def attention_weights(scores):\n    return scores.softmax(-1)"
    grade = graded(hand_in(bad, good))
    assert scores_of(grade).points == 0
    assert scores_of(grade).verdicts[0].mistake == mistake
    assert grade.tasks[1].points == grade.tasks[1].task.points


def test_an_endless_loop_is_ended(hand_in, monkeypatch):
    monkeypatch.setattr("attncourse_grader.grade.compose.QUICK", 6)
    loop = (
        "def attention_scores(query, key):\n    while True:\n        try:\n"
        "            while True:\n                print('x' * 100)\n"
        "        except BaseException:\n            pass"
    )
    good = "def attention_weights(scores):\n    return scores.softmax(-1)"
    grade = graded(hand_in(loop, good))
    assert scores_of(grade).verdicts[0].mistake == "did not finish"
    assert grade.tasks[1].points == grade.tasks[1].task.points


def test_answers_learnt_by_heart_fail_on_the_hidden_inputs(hand_in):
    by_heart = (
        "import torch\nfrom attncourse.exercises import from_scratch\n"
        "from attncourse.exercises.judge import inputs_of\n"
        "CHECK = from_scratch.EXERCISE.task('scores').checks[0]\n"
        "KNOWN = [inputs_of(CHECK, seed)['query'] for seed in CHECK.seeds]\n"
        "def attention_scores(query, key):\n"
        "    if any(k.shape == query.shape and (k == query).all() for k in KNOWN):\n"
        "        return query @ key.mT / key.shape[-1] ** 0.5\n"
        "    return torch.rand(*query.shape[:-1], key.shape[-2])"
    )
    verdict = scores_of(graded(hand_in(by_heart))).verdicts[0]
    assert verdict.mistake == "fixed to the visible inputs"
    assert verdict.case is None  # hidden inputs are not shown


def test_the_expected_outputs_are_out_of_reach_of_the_answers(hand_in):
    spy = (
        "import glob, os\nimport torch\n"
        "FOUND = glob.glob('*.ipynb') + [k for k in os.environ if 'RECORD' in k]\n"
        "def attention_scores(query, key):\n"
        "    assert not FOUND, FOUND\n"
        "    return query @ key.mT / key.shape[-1] ** 0.5"
    )
    task = scores_of(graded(hand_in(spy)))
    assert task.points == task.task.points


def test_the_instructors_environment_is_out_of_reach(hand_in, monkeypatch):
    monkeypatch.setenv("COURSE_TOKEN", "secret")
    spy = f"import os\nassert 'COURSE_TOKEN' not in os.environ\n{RIGHT}"
    assert scores_of(graded(hand_in(spy))).points > 0


def test_a_composed_notebook_holds_answers_only_and_the_outputs_of_right_ones():
    template = find_template(exercise_of(FIRST), SOLUTIONS)
    submission = read_submission(SOLUTIONS / f"{FIRST}.ipynb")
    notebook = compose(template, submission, "secret")
    checks = [c for c in notebook.cells if "check" in c.metadata["attncourse"]]
    assert len(checks) == sum(len(task.checks) for task in exercise_of(FIRST).tasks)
    assert all(cell.outputs[0].text.startswith("seed ") for cell in checks)
    assert all("nbval-ignore-output" not in cell.metadata.tags for cell in checks)


def test_the_command_grades_what_it_can_and_writes_it_down(hand_in, tmp_path, capfd):
    right = hand_in(RIGHT, name="Ada Lovelace.ipynb")
    broken = tmp_path / "=cmd.ipynb"
    broken.write_text("{")
    out = tmp_path / "grades"
    files = [str(right), str(broken)]
    status = main(["grade", *files, "--solutions", str(SOLUTIONS), "--out", str(out)])
    assert status == 1
    printed, progress = capfd.readouterr()
    assert "Ada Lovelace, exercise 1: attention from scratch: 2 of 20" in printed
    assert "cannot be read as a notebook" in progress
    assert "Traceback" not in printed + progress
    rows = list(csv.DictReader((out / "grades.csv").read_text().splitlines()))
    assert {row["student"] for row in rows} == {"Ada Lovelace", "'=cmd"}
    record = json.loads((out / "feedback" / "Ada_Lovelace-1.json").read_text())
    assert record["of"] == 20
    assert "Ada Lovelace" in (out / "feedback" / "Ada_Lovelace-1.html").read_text()


def test_missing_solutions_are_a_sentence(hand_in, tmp_path, capfd):
    status = main(["grade", str(hand_in(RIGHT)), "--solutions", str(tmp_path / "no")])
    assert status == 1
    assert "--solutions" in capfd.readouterr().err


def test_feedback_is_escaped_in_the_page_and_plain_in_the_terminal(hand_in):
    rude = (
        "def attention_scores(query, key):\n    raise ValueError('<script>x</script>')"
    )
    grade = graded(hand_in(rude))
    assert "<script>" not in page_of_record(record_of(grade))
    assert "ValueError" in text_of_grade(grade)
