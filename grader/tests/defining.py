"""What tests of whole notebooks share."""

import textwrap
from pathlib import Path

from attncourse_grader.exercises import exercise_of

RIGHT = """\
def attention_scores(query, key):
    return query @ key.mT / key.shape[-1] ** 0.5"""
SOLUTIONS = Path(__file__).resolve().parents[2] / "solutions"


def define(task, body):
    """Return code that defines all names of a task of exercise 1, with one body."""
    lines = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    return "\n".join(
        f"def {name}(*arguments, **options):\n{lines}"
        for name in exercise_of("1_attention_from_scratch").task(task).answers
    )


def attention_with(scores):
    """Return an answer to the second task that takes its scores from an expression."""
    return f"""
import torch
def attention(query, key, value, dropout=0.0):
    weights = torch.softmax({scores}, -1)
    return torch.dropout(weights, dropout, True) @ value, weights
"""


ATTENTION = attention_with("query @ key.mT / query.shape[-1] ** 0.5")
ATTENTION_ON_SCORES = attention_with("attention_scores(query, key)")
