"""What the text of a check says beside the mistakes that it knows."""

import linecache

from attncourse.exercises import from_scratch
from attncourse.exercises.feedback import text_of_task
from attncourse.exercises.judge import judge_task, unsound_under

EXERCISE = from_scratch.EXERCISE
IMPORTS = "import torch\nimport torch.nn.functional as F\n"


def said(task, code):
    """Return the text of a check for answers that stand in a cell of a notebook."""
    name = "<cell>"
    source = IMPORTS + code
    linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
    namespace = {"__name__": "__main__"}
    exec(compile(source, name, "exec"), namespace)
    task = EXERCISE.task(task)
    answers = [namespace.get(name) for name in task.names]
    verdicts = judge_task(EXERCISE, task, answers)
    under = unsound_under(EXERCISE, task, verdicts, answers, namespace)
    return " ".join(text_of_task(EXERCISE.label(task), task, verdicts, under).split())


def test_an_error_is_shown_with_the_line_that_raised_it():
    text = said(
        "attention",
        "def attention(query, key, value, dropout=0.0):\n"
        "    weights = (query @ key.mT).softmax(-1)\n"
        "    return weights @ value.mT, weights\n",
    )
    assert "A matrix product does not fit" in text
    assert "RuntimeError: " in text
    assert "It stopped in the line `return weights @ value.mT, weights`." in text


def test_a_task_that_is_not_done_is_named_where_another_calls_it():
    text = said(
        "attention",
        "def attention_scores(query, key):\n"
        '    raise NotImplementedError("Task 1.1")\n'
        "def attention(query, key, value, dropout=0.0):\n"
        "    return attention_scores(query, key) @ value, None\n",
    )
    assert "The answer calls that of Task 1.1, which is not done yet." in text


def test_a_task_that_is_not_done_itself_says_no_more_than_that():
    text = said(
        "scores",
        "def attention_scores(query, key):\n"
        '    raise NotImplementedError("Task 1.1")\n',
    )
    assert text.endswith("0 of 2 points Not done yet.")


def test_a_name_that_is_missing_leads_to_the_task_that_asks_for_it():
    text = said(
        "attention",
        "def attention(query, key, value, dropout=0.0):\n"
        "    return attention_weights(query @ key.mT) @ value, None\n",
    )
    assert "uses `attention_weights`, which Task 1.2 asks for" in text


def test_a_module_that_is_not_imported_is_said_to_be_that():
    text = said(
        "scores",
        "def attention_scores(query, key):\n"
        "    return query @ key.mT / np.sqrt(key.shape[-1])\n",
    )
    assert "Put `import numpy as np` at the top of the cell" in text


def test_nothing_is_shown_as_none_beside_a_shape():
    text = said("scores", "def attention_scores(query, key):\n    query @ key.mT\n")
    assert "Is the `return` missing somewhere?" in text
    assert text.count("received: None") == 1


SCORES = """\
def attention_scores(query, key):
    return query @ key.mT / {scale}
def attention_weights(scores):
    return scores.softmax(-1)
def own_weights(query, key):
    return attention_weights(attention_scores(query, key))
def attention(query, key, value, dropout=0.0):
    weights = own_weights(query, key)
    return F.dropout(weights, dropout) @ value, weights
"""


def test_a_fault_that_another_task_may_have_handed_on_is_said_to_be_one():
    text = said("attention", SCORES.format(scale=2))
    assert "The answer calls that of Task 1.1, which does not hold yet." in text
    assert "the better result counts" in text


def test_tasks_that_hold_are_not_blamed_nor_those_that_are_not_called():
    text = said("attention", SCORES.format(scale="key.shape[-1] ** 0.5"))
    assert "note" not in text
    alone = "def attention_scores(query, key):\n    return query\n"
    alone += "def attention(query, key, value, dropout=0.0):\n    return query, key\n"
    assert "The answer calls" not in said("attention", alone)
