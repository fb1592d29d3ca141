"""Answers that are unlike each other: wrong ones are told why, right ones pass."""

import importlib

import pytest

from tests.exercises.answering import EXERCISES, right_and_text


def _answers(kind):
    for notebook in EXERCISES:
        name = notebook.split("_", 1)[1]
        module = importlib.import_module(f"tests.exercises.answers.{name}")
        for task, answers in getattr(module, kind).items():
            for what, answer in answers.items():
                yield pytest.param(
                    notebook, task, answer, id=f"{notebook[0]}-{task}-{what}"
                )


@pytest.mark.parametrize(("notebook", "task", "answer"), list(_answers("WRONG")))
def test_a_wrong_answer_is_told_why(notebook, task, answer):
    source, words = answer
    right, said = right_and_text(notebook, task, source)
    assert not right
    assert words in said


@pytest.mark.parametrize(("notebook", "task", "source"), list(_answers("RIGHT")))
def test_a_right_answer_in_another_style_passes(notebook, task, source):
    right, said = right_and_text(notebook, task, source)
    assert right, said
