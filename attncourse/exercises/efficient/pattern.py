"""Task 5.3: a sparse pattern, as a rule and as a mask."""

import torch

from attncourse.exercises.efficient.block_faults import block_mistakes
from attncourse.exercises.efficient.block_views import (
    SPARSE_SECTION,
    pattern,
)
from attncourse.exercises.efficient.oracle import distance, size
from attncourse.exercises.efficient.pattern_mask import MASK_CHECK
from attncourse.exercises.task import Check, Mistake, Task


def _rules(window, stride, num_global):
    """Return a function that draws the arguments of `seen_blocks`."""

    def draw(generator):
        return {
            "blocks": size(generator, 5, 7),
            "window": size(generator, *window),
            "stride": size(generator, *stride) if stride else 0,
            "num_global": size(generator, *num_global) if num_global else 0,
        }

    return draw


TIMES, OUTSIDE = "times that a block is listed", "blocks that do not exist"


def _listed(seen_blocks, blocks, window, stride, num_global):
    """Return how often each block lists each other one, and what is out of range."""
    times = torch.zeros(blocks, blocks, dtype=torch.int64)
    outside = 0
    for block in range(blocks):
        for other in seen_blocks(block, blocks, window, stride, num_global):
            if 0 <= int(other) < blocks:
                times[block, int(other)] += 1
            else:
                outside += 1
    return {TIMES: times, OUTSIDE: outside}


def _expected(mask_of=pattern):
    def expected(**rule):
        times = mask_of(**rule).long()
        return {TIMES: times, OUTSIDE: 0}

    return expected


def _with(mask_of):
    """Return a wrong answer: the pattern with another mask of the stride or so."""
    return _expected(lambda **rule: mask_of(distance(rule["blocks"]), **rule))


EDGES = Mistake(
    "runs over the edge",
    "Numbers below 0 or beyond the last block are listed. The first and the last "
    "blocks have fewer neighbours.",
    when=lambda seen, expected, inputs: bool(seen[OUTSIDE].values[0]),
)
TWICE = Mistake(
    "a block is listed twice",
    "A block that two of the rules allow is listed twice. Its keys would enter the "
    "softmax twice and weigh double.",
    when=lambda seen, expected, inputs: seen[TIMES].values.max() > 1,
    read=SPARSE_SECTION,
)


def _near_or(other):
    return lambda d, window, **rule: (d.abs() <= window) | other(d, **rule)


def _check(claim, points, inputs, *mistakes):
    return Check(
        claim,
        points,
        inputs=inputs,
        ask=lambda seen_blocks, mask, **rule: _listed(seen_blocks, **rule),
        expected=_expected(),
        mistakes=(EDGES, TWICE, *mistakes, *block_mistakes(TIMES)),
    )


PATTERN = Task(
    name="pattern",
    title="A sparse pattern",
    names=("seen_blocks", "pattern_mask"),
    difficulty="medium",
    minutes=20,
    checks=(
        _check(
            "a window: the blocks at most `window` blocks away",
            0.5,
            _rules((1, 2), None, None),
            Mistake(
                "window too short by one",
                "The farthest block that is seen is window − 1 away. In blocks, a "
                "window of 1 means the own block and one to each side.",
                wrong=_with(lambda d, window, **rule: d.abs() < window),
                read=SPARSE_SECTION,
            ),
            Mistake(
                "window too short on one side",
                "Blocks are seen further back than ahead. Does the range end one block "
                "too early? `range` leaves its end out.",
                wrong=_with(lambda d, window, **rule: (d <= window) & (d > -window)),
                read=SPARSE_SECTION,
            ),
            Mistake(
                "only earlier blocks",
                "No block sees a later one. This pattern looks to both sides.",
                wrong=_with(lambda d, window, **rule: (d >= 0) & (d <= window)),
                read=SPARSE_SECTION,
            ),
        ),
        _check(
            "strides: every `stride`-th block, counted from the own one, both ways",
            0.5,
            _rules((0, 1), (2, 4), None),
            Mistake(
                "stride counted from the beginning",
                "The blocks of the stride are the same for every block: those whose "
                "number is a multiple of the stride. They should be counted from the "
                "block that looks.",
                wrong=_with(
                    lambda d, window, stride, **rule: (
                        (d.abs() <= window) | (torch.arange(len(d)) % stride == 0)
                    )
                ),
                read=SPARSE_SECTION,
            ),
            Mistake(
                "stride too long by one",
                "Between two blocks of the stride there are `stride` blocks. Every "
                "`stride`-th block means stride − 1 in between.",
                wrong=_with(_near_or(lambda d, stride, **rule: d % (stride + 1) == 0)),
                read=SPARSE_SECTION,
            ),
            Mistake(
                "stride to one side only",
                "The strides go one way only. They should go back and ahead.",
                wrong=_with(
                    _near_or(lambda d, stride, **rule: (d >= 0) & (d % stride == 0))
                ),
                read=SPARSE_SECTION,
            ),
            Mistake(
                "stride counted from the edge of the window",
                "The strides start beside the window. They should be counted from the "
                "own block.",
                wrong=_with(
                    lambda d, window, stride, **rule: (
                        (d.abs() <= window) | ((d.abs() - window) % stride == 0)
                    )
                ),
                read=SPARSE_SECTION,
            ),
            Mistake(
                "only the first stride",
                "Only one block to each side is added. Every `stride`-th one, to the "
                "end of the sequence, belongs to the pattern.",
                wrong=_with(_near_or(lambda d, stride, **rule: d.abs() == stride)),
                read=SPARSE_SECTION,
            ),
        ),
        _check(
            "global blocks see every block and are seen by every block",
            0.5,
            _rules((0, 1), None, (1, 2)),
            Mistake(
                "global blocks do not see",
                "Every block sees the global ones, but the global ones see only their "
                "own window. News reaches nobody through a hub that does not listen.",
                wrong=_with(
                    _near_or(
                        lambda d, num_global, **rule: (
                            torch.arange(len(d)) < num_global
                        ).expand_as(d)
                    )
                ),
                read=SPARSE_SECTION,
            ),
            Mistake(
                "global blocks are not seen",
                "The global blocks see everything, but nobody sees them. A hub that "
                "nobody reads passes nothing on.",
                wrong=_with(
                    _near_or(
                        lambda d, num_global, **rule: (
                            torch.arange(len(d)) < num_global
                        )[:, None].expand_as(d)
                    )
                ),
                read=SPARSE_SECTION,
            ),
            Mistake(
                "global blocks among themselves",
                "A global block is linked only with other global ones. One of the two "
                "is enough: `or`, where there is an `and`.",
                wrong=_with(
                    _near_or(
                        lambda d, num_global, **rule: (
                            (torch.arange(len(d)) < num_global)[:, None]
                            & (torch.arange(len(d)) < num_global)
                        )
                    )
                ),
                read=SPARSE_SECTION,
            ),
            Mistake(
                "the block after the global ones",
                "The block after the global ones sees everything too. Blocks count "
                "from 0: the first `num_global` have numbers less than `num_global`.",
                wrong=_with(
                    lambda d, blocks, window, stride, num_global: (
                        pattern(blocks, window, stride, num_global)
                        | (torch.arange(blocks) == num_global)[:, None]
                    )
                ),
                read=SPARSE_SECTION,
            ),
            Mistake(
                "one global block too many",
                "There is one global block more than asked for. Blocks count from 0.",
                wrong=_with(
                    lambda d, blocks, window, stride, num_global: pattern(
                        blocks, window, stride, num_global + 1
                    )
                ),
            ),
        ),
        MASK_CHECK,
    ),
)
