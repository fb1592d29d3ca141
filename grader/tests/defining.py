"""What tests of whole notebooks share."""

import textwrap
from pathlib import Path

from attncourse_grader.exercises import exercise_of

RIGHT = """\
def attention_scores(query, key):
    return query @ key.mT / key.shape[-1] ** 0.5"""
ATTENTION = """
import torch
def attention(query, key, value, dropout=0.0):
    weights = torch.softmax(query @ key.mT / query.shape[-1] ** 0.5, -1)
    return torch.dropout(weights, dropout, True) @ value, weights
"""
SOLUTIONS = Path(__file__).resolve().parents[2] / "solutions"


def define(task, body):
    """Return code that defines all names of a task of exercise 1, with one body."""
    lines = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    return "\n".join(
        f"def {name}(*arguments, **options):\n{lines}"
        for name in exercise_of("1_attention_from_scratch").task(task).answers
    )
