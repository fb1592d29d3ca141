"""Exercise 4, fifth part: ALiBi."""

from __future__ import annotations

import torch

from attncourse.exercises.relative.distances import DISTANCE, size
from attncourse.exercises.relative.slopes import READ, SLOPES, right_slopes
from attncourse.exercises.seen import near
from attncourse.exercises.task import Check, Mistake, Task
from attncourse.layers.relative import alibi_bias


def _grid(generator):
    queries = size(generator, 2, 3)
    before = size(generator, 1, 2)
    far = 30 * (size(generator, 0, 2) == 0)  # now and then the keys are far behind
    return {
        "num_heads": 2 ** size(generator, 1, 2),
        "queries": queries,
        "keys": queries + before,
        "offset": before + far,
    }


def _past(bias, offset):
    """Return 256 times a bias where the key is not to the right of the query."""
    return {"256 × bias, keys up to the query": (256 * bias).tril(offset)}


def _ask_alibi(_, alibi, num_heads, queries, keys, offset):
    return _past(alibi(num_heads, queries, keys, offset), offset)


def _of_steps(change):
    def wrong(num_heads, queries, keys, offset):
        steps = (offset + torch.arange(queries))[:, None] - torch.arange(keys)
        slopes = right_slopes(num_heads)["256 × slopes"][:, None, None] / 256
        return _past(-slopes * change(steps.abs().float()), offset)

    return wrong


def _alibi(num_heads, queries, keys, offset, at=None, sign=1):
    at = offset if at is None else at
    return _past(sign * alibi_bias(num_heads, queries, keys, query_offset=at), offset)


def _shared(head):
    """Return what ALiBi gives if all heads have the slope of one of them."""
    return lambda num_heads, queries, keys, offset: _past(
        alibi_bias(num_heads, queries, keys, query_offset=offset)[head].expand(
            num_heads, -1, -1
        ),
        offset,
    )


def _axes_mixed(seen, expected, inputs):
    if "result" in seen:
        return "size of tensor" in seen["result"].text
    shapes = [next(iter(parts.values())).shape for parts in (seen, expected)]
    return shapes[0] != shapes[1]


def _heads_of(seen, expected):
    part = "256 × bias, keys up to the query"
    return [p[part].values.reshape(p[part].shape) for p in (seen, expected)]


def _other_slopes(seen, expected, inputs):
    """Say whether each head's bias is the right one, times a factor of its own."""
    ours, right = _heads_of(seen, expected)
    factors = (ours * right).sum((1, 2)) / (right * right).sum((1, 2))
    return ours.any() and near(ours, factors[:, None, None] * right)


def _other_distances(seen, expected, inputs):
    """Say whether the heads differ by their slopes and by nothing else."""
    ours, right = _heads_of(seen, expected)
    ratio = (right * right[:1]).sum((1, 2)) / (right[:1] ** 2).sum()
    return near(ours, ratio[:, None, None] * ours[:1], digits=1) and ours.any()


ALIBI = Task(
    name="alibi",
    title="ALiBi: a slope for each head",
    names=("head_slopes", "alibi"),
    needs=("distances",),
    difficulty="medium",
    minutes=10,
    checks=(
        SLOPES,
        Check(
            "each head loses its slope times the distance",
            1,
            inputs=_grid,
            ask=_ask_alibi,
            expected=_alibi,
            mistakes=(
                *(
                    Mistake(
                        "not in proportion to the distance",
                        f"The bias follows the {of} of the distance. Twice as far "
                        "should cost twice as much.",
                        wrong=_of_steps(change),
                        read=READ,
                    )
                    for of, change in (
                        ("square", torch.square),
                        ("logarithm", torch.log1p),
                        ("root", torch.sqrt),
                    )
                ),
                Mistake(
                    "distance rewarded",
                    "The further away a key is, the larger its bias: far keys are made "
                    "attractive. Distance has to cost.",
                    wrong=lambda **inputs: _alibi(sign=-1, **inputs),
                    read=READ,
                ),
                *(
                    Mistake(
                        "one slope for all heads",
                        "All heads have the same slope, and see equally far. With "
                        "slopes of their own, one head can look near, another far.",
                        wrong=_shared(head),
                        read=READ,
                    )
                    for head in (0, -1)
                ),
                Mistake(
                    "slopes of the wrong order",
                    "The right numbers in the wrong heads: the first head should be "
                    "the steepest.",
                    wrong=lambda num_heads, queries, keys, offset: _past(
                        alibi_bias(num_heads, queries, keys, query_offset=offset).flip(
                            0
                        ),
                        offset,
                    ),
                    read=READ,
                ),
                Mistake(
                    "offset ignored",
                    "The first query is taken to stand at position 0, whatever the "
                    "offset is. It then pays for keys beside it, and the keys at its "
                    "own place cost something.",
                    wrong=lambda **inputs: _alibi(at=0, **inputs),
                    read=DISTANCE,
                ),
                Mistake(
                    "neighbours cost nothing",
                    "The distance is counted from the neighbour on, so the key just "
                    "before the query costs as little as its own. Only distance 0 is "
                    "free.",
                    wrong=_of_steps(lambda steps: (steps - 1).clamp(min=0)),
                    read=READ,
                ),
                Mistake(
                    "own key costs something",
                    "All distances are too large by 1: a query pays for its own key.",
                    wrong=_of_steps(lambda steps: steps + 1),
                    read=READ,
                ),
                Mistake(
                    "distance as a share of the text",
                    "The distance is divided by the number of keys. What a step costs "
                    "would then change with the length of the text.",
                    wrong=lambda keys, **inputs: {
                        k: part / keys
                        for k, part in _alibi(keys=keys, **inputs).items()
                    },
                    read=READ,
                ),
                Mistake(
                    "right distances, other slopes",
                    "Each head's bias is in proportion to the distance, but by another "
                    "slope than its own. Are they the slopes of `head_slopes`, each "
                    "for its head, once?",
                    when=_other_slopes,
                    read=READ,
                ),
                Mistake(
                    "right slopes, other distances",
                    "The heads differ by their slopes, as they should. What the slopes "
                    "are multiplied by is not the distance of query and key.",
                    when=_other_distances,
                    read=DISTANCE,
                ),
                Mistake(
                    "slopes along the wrong axis",
                    "The slopes do not vary from head to head but along queries or "
                    "keys. Put the two shapes side by side, aligned on the right.",
                    when=_axes_mixed,
                    read=READ,
                ),
            ),
        ),
    ),
)
