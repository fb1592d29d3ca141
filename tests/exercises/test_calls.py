"""How an answer is called, and what is noted of an error that it raises."""

import pytest
import torch
from torch import nn

from attncourse.exercises.calls import run_cases
from attncourse.exercises.general import NOT_DONE
from attncourse.exercises.judge import cases_of, judge
from attncourse.exercises.task import Check

CHECK = Check("", 1, ask=lambda answer: answer(), expected=lambda: True, tensors=False)


class WithoutForward(nn.Module):
    pass


def left_open():
    raise NotImplementedError("Task 1.1")


def without_a_kernel():
    return torch.ones(3, dtype=torch.int).softmax(-1)


def test_a_task_left_open_is_not_done_yet():
    assert judge(CHECK, cases_of(CHECK, [left_open], [0])).mistake == NOT_DONE


@pytest.mark.parametrize("answer", [without_a_kernel, lambda: WithoutForward()(1)])
def test_what_pytorch_has_not_implemented_is_an_error_of_the_answer(answer):
    (seen,) = run_cases(CHECK, [answer], [0])
    assert "RuntimeError" in seen["result"].text
    assert judge(CHECK, cases_of(CHECK, [answer], [0])).mistake != NOT_DONE
