"""Automatic mutants of the model answers fail, but for those that change nothing."""

import pytest

from tests.exercises.answering import TASKS, passes, solution
from tests.exercises.mutants import mutants

# Mutants that were looked at and are right answers, too: (default sizes that the text
# leaves open, operations that are symmetric where they stand, and the like).
EQUIVALENT = {
    "masks": 1,
    "copying": 4,
    "pictures": 8,
    "measures": 1,
    "own_score": 4,
    "4-distances": 3,
    "rotary": 2,
    "4-attention": 1,
    "lengths": 6,
    "speed": 1,
    "bleu": 1,
    "local": 3,
}
# One more, which is not run: it takes long for blocks that are empty.
EMPTY_BLOCKS = "tokens * block_size"


@pytest.mark.parametrize(("notebook", "task"), TASKS)
def test_mutants_fail(notebook, task):
    source = dict(solution(notebook).cells)[task]
    alive = [
        what
        for what, mutant in mutants(source)
        if EMPTY_BLOCKS not in what and passes(notebook, task, mutant)
    ]
    known = EQUIVALENT.get(f"{notebook[0]}-{task}", EQUIVALENT.get(task, 0))
    assert len(alive) <= known, alive
