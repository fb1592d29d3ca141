"""Answers to exercise 1, right and wrong."""

from tests.exercises.fresh import from_scratch as fresh
from tests.exercises.from_scratch_parts import (
    attention,
    copying,
    gradient,
    masked,
    masks,
    scores,
)
from tests.exercises.students import from_scratch as students
from tests.exercises.subtle import from_scratch as subtle

WRONG = [
    *scores.WRONG_SCORES,
    *scores.WRONG_WEIGHTS,
    *attention.WRONG_ATTENTION,
    *masks.WRONG_MASKS,
    *masked.WRONG_MASKED,
    *gradient.WRONG_GRADIENT,
    *copying.WRONG_COPYING,
    *students.WRONG,
    *subtle.WRONG,
    *fresh.WRONG,
]
# Right on the inputs of the notebook: only the grader's own inputs find them out.
WRONG_IN_HIDING = attention.WRONG_IN_HIDING
RIGHT = [
    *scores.RIGHT_SCORES,
    *scores.RIGHT_WEIGHTS,
    *attention.RIGHT_ATTENTION,
    *masks.RIGHT_MASKS,
    *masked.RIGHT_MASKED,
    *gradient.RIGHT_GRADIENT,
    *copying.RIGHT_COPYING,
    *students.RIGHT,
    *subtle.RIGHT,
    *fresh.RIGHT,
]
