"""Exercise 1 beyond its catalogue: what only the grader's own inputs find out."""

import torch

from attncourse.exercises import from_scratch
from attncourse.exercises.from_scratch.copying import COPYING
from attncourse.exercises.judge import cases_of, judge
from tests.exercises.from_scratch_answers import WRONG_IN_HIDING

HIDDEN = (101, 102, 103)


def test_the_points_of_the_tasks_sum_to_twenty():
    assert from_scratch.EXERCISE.points == 20


def test_answers_that_are_written_in_fail_on_other_inputs_and_are_named():
    (written_in,) = WRONG_IN_HIDING
    namespace = {"torch": torch, "from_scratch": from_scratch, "F": torch.nn.functional}
    exec(written_in.code, namespace)
    task = from_scratch.EXERCISE.task(written_in.task)
    check = task.checks[0]
    seeds = (*check.seeds, *HIDDEN)
    cases = cases_of(check, [namespace["attention"]], seeds)
    visible = cases[: len(check.seeds)]
    assert judge(check, visible).holds
    verdict = judge(check, cases)
    assert not verdict.holds
    assert verdict.mistake == written_in.named


def test_what_is_not_done_is_told_so_and_nothing_else():
    class CopyModel(torch.nn.Module):
        def __init__(self, num_symbols, max_len):
            raise NotImplementedError("Task 1.7")

    def copy_loss(model, ids):
        raise NotImplementedError("Task 1.7")

    for check in COPYING.checks:
        cases = cases_of(check, [CopyModel, copy_loss], [0])
        assert judge(check, cases).mistake == "not done yet"
