"""Task conversion: two scores that are one."""

from __future__ import annotations

from functools import partial

import torch

from attncourse.exercises.task import Check, Mistake, Task
from attncourse.exercises.variants.formulas import (
    BETWEEN,
    additive,
    concat,
    with_network,
    with_pairs,
)


def _scores_of_joined(join, divide, query, key, w_query, w_key, v):
    w = join(w_query, w_key)
    if not torch.is_tensor(w):
        return f"weight of type {type(w).__name__}"
    if tuple(w.shape) != (len(v), query.shape[-1] + key.shape[-1]):
        return f"weight of shape {tuple(w.shape)}"
    return concat(query, key, w, v)


def _scores_of_divided(join, divide, query, key, w, v):
    w_query, w_key = divide(w, query.shape[-1])
    for part, states in ((w_query, query), (w_key, key)):
        if not torch.is_tensor(part):
            return f"weights of type {type(part).__name__}"
        if tuple(part.shape) != (len(v), states.shape[-1]):
            return f"weights of shape {tuple(w_query.shape)} and {tuple(w_key.shape)}"
    return additive(query, key, w_query, w_key, v)


def _wrong_shape(seen, expected, inputs):
    return seen["result"].text.startswith(("weight of shape", "weights of shape"))


NO_TENSORS = Mistake(
    "weights that are no tensors",
    "What is returned are no tensors. NumPy arrays and lists cannot be trained, and "
    "stay where they are if a model is moved to a GPU.",
    when=lambda seen, expected, inputs: " of type " in seen["result"].text,
)


def _transposed(seen, expected, inputs):
    hidden = len(inputs["v"])
    widths = [inputs[part].shape[-1] for part in ("query", "key")]
    turned = " and ".join(str((width, hidden)) for width in widths)
    return seen["result"].text == f"weights of shape {turned}"


def _cannot_stack(seen, expected, inputs):
    return seen["result"].kind == "error" and "izes of tensors" in seen["result"].text


def _moved_columns(query, key, w, v, by):
    """Return the scores with parts that begin some columns beside the right ones."""
    first, second = query.shape[-1], key.shape[-1]
    if by == "keys first":
        return additive(query, key, w[:, second:], w[:, :second], v)
    w_query = w.roll(-by[0], 1)[:, :first]
    return additive(query, key, w_query, w.roll(-by[1], 1)[:, first:], v)


COLUMNS = (
    "W has a row for each hidden unit; its columns meet the numbers of the query, and "
    "then those of the key."
)

CONVERSION = Task(
    name="conversion",
    title="One function, two forms",
    names=("concat_weight", "additive_weights"),
    difficulty="medium",
    minutes=10,
    checks=(
        Check(
            "concat with the joined matrix gives the scores of additive",
            1,
            inputs=with_network,
            ask=_scores_of_joined,
            expected=additive,
            pure=True,
            mistakes=(
                NO_TENSORS,
                Mistake(
                    "joined along the wrong axis",
                    f"The two matrices cannot be joined along this axis. {COLUMNS}",
                    when=_cannot_stack,
                    read=BETWEEN,
                ),
                Mistake(
                    "a weight of another shape",
                    f"The joined weight does not fit the pair [query; key]. {COLUMNS}",
                    when=_wrong_shape,
                    read=BETWEEN,
                ),
                *(
                    Mistake(
                        "every weight multiplied",
                        f"The columns stand in the right places, but each weight has "
                        f"been {how}. Nothing has to be computed: the two matrices "
                        "stand side by side.",
                        wrong=lambda query, key, w_query, w_key, v, factor=factor: (
                            concat(
                                query,
                                key,
                                factor * torch.cat([w_query, w_key], dim=1),
                                v,
                            )
                        ),
                        read=BETWEEN,
                    )
                    for how, factor in (
                        ("halved", 0.5),
                        ("doubled", 2),
                        ("divided by the root of 2", 0.5**0.5),
                        ("given the other sign", -1),
                    )
                ),
                Mistake(
                    "key part first",
                    "The matrix of the keys stands where the query's should. It meets "
                    "the wrong numbers without an error, since the sum of the widths "
                    f"is the same. {COLUMNS}",
                    wrong=lambda query, key, w_query, w_key, v: concat(
                        query, key, torch.cat([w_key, w_query], dim=1), v
                    ),
                    read=BETWEEN,
                ),
            ),
        ),
        Check(
            "additive with the divided matrix gives the scores of concat",
            1,
            inputs=with_pairs,
            ask=_scores_of_divided,
            expected=concat,
            pure=True,
            mistakes=(
                NO_TENSORS,
                Mistake(
                    "transposed",
                    "The two parts are turned on their side. The weight of an "
                    f"`nn.Linear` is (outputs, inputs). {COLUMNS}",
                    when=_transposed,
                    read=BETWEEN,
                ),
                *(
                    Mistake(
                        "columns of the wrong place",
                        "The two parts have the right widths, but some columns of a "
                        "part are those of its neighbour: a slice begins at the wrong "
                        f"place. {COLUMNS}",
                        wrong=partial(_moved_columns, by=by),
                        read=BETWEEN,
                    )
                    for by in ((0, -1), (1, 0), (1, -1), "keys first")
                ),
                Mistake(
                    "cut at the wrong place",
                    "The two parts do not fit the widths of query and key. They need "
                    f"not be equally wide. {COLUMNS}",
                    when=_wrong_shape,
                    read=BETWEEN,
                ),
            ),
        ),
    ),
)
