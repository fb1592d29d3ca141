"""Exercise 4, fourth part: what a learned table gives."""

from __future__ import annotations

import torch

from attncourse.exercises.relative.distances import DISTANCE, T5, size
from attncourse.exercises.task import Check, Mistake
from attncourse.layers.relative import relative_positions, t5_buckets

SIX_MODELS = "chapters/04_positional_encoding#six-models-three-seeds"


def draw_table(generator):
    """Draw a table, and sizes at which it is read."""
    heads, offset = size(generator, 2, 3), size(generator, 9, 12)
    return {
        "queries": 2,
        "keys": 2 + offset,  # long enough for every bucket
        "offset": offset,
        "max_distance": size(generator, 7, 9),
        "scale": 10.0 if heads == 2 else float(size(generator, 2, 5)),
        "table": torch.randn(6, heads, generator=generator),
    }


def _filled(LearnedBias, table, max_distance, scale):
    """Make the student's module and set its numbers, whichever way they lie."""
    given = {} if scale == 10 else {"scale": scale}  # 10 is what it should be unasked
    module = LearnedBias(table.shape[1], table.shape[0], max_distance, **given)
    start = list(module.parameters())
    if len(start) == 1:
        fits = start[0].shape == table.shape
        with torch.no_grad():
            if start[0].shape in (table.shape, table.T.shape):
                start[0].copy_(table if fits else table.T)
    return module, sum(parameter.numel() for parameter in start)


def _ask_table(LearnedBias, queries, keys, offset, max_distance, scale, table):
    module, count = _filled(LearnedBias, table, max_distance, scale)
    module(queries + 1, keys + 2, offset)  # another call changes nothing
    return {"trained numbers": count, "bias": module(queries, keys, offset)}


def learned_bias(
    queries, keys, offset, max_distance, scale, table, turn=1, causal=True
):
    """Return what is seen of a right module, or of one with changes."""
    distances = turn * relative_positions(queries, keys, query_offset=offset)
    rows = t5_buckets(distances, len(table), max_distance, bidirectional=not causal)
    bias = scale * table[rows].permute(2, 0, 1)
    return {"trained numbers": table.numel(), "bias": bias}


def _other(**changes):
    """Return what the module gives if some of its arguments were other ones."""
    return lambda **inputs: learned_bias(**{**inputs, **changes})


def _one_for_all(table, **inputs):
    return learned_bias(table=table[:, :1].expand_as(table), **inputs)


def _of_rows(rows, table, scale):
    return {
        "trained numbers": table.numel(),
        "bias": scale * table[rows].permute(2, 0, 1),
    }


def _clipped_rows(queries, keys, offset, max_distance, scale, table):
    past = -relative_positions(queries, keys, query_offset=offset)
    return _of_rows(past.clamp(0, len(table) - 1), table, scale)


def _far_only(seen, expected, inputs):
    """Say whether only keys are wrong that have no bucket of their own."""
    shape = expected["bias"].shape
    ours, right = (part["bias"].values.reshape(shape) for part in (seen, expected))
    wrong = abs(ours - right).max(axis=0) > 0.01
    past = -relative_positions(*shape[1:], query_offset=inputs["offset"]).numpy()
    return wrong.any() and not wrong[past < len(inputs["table"]) // 2].any()


NOT_TRAINED = Mistake(
    "not a parameter",
    "The module has no parameters: an optimiser would not find the table. A plain "
    "tensor is not enough.",
    when=lambda seen, expected, inputs: seen["trained numbers"].values[0] == 0,
    read=T5,
)


LOOK_UP = Check(
    "each head adds its own number for the bucket of each distance",
    1,
    inputs=draw_table,
    ask=_ask_table,
    expected=learned_bias,
    mistakes=(
        NOT_TRAINED,
        Mistake(
            "kept from another call",
            "This is the bias of an earlier call, for other numbers of queries "
            "and keys. It has to be made anew: sizes change from call to call, "
            "and the table with every step of training.",
            when=lambda seen, expected, inputs: (
                seen["bias"].shape[1:] == (inputs["queries"] + 1, inputs["keys"] + 2)
            ),
            read=T5,
        ),
        Mistake(
            "several parameters",
            "The table is spread over several parameters. One is asked for, "
            "(num_buckets, num_heads), so that a look-up gives all heads.",
            when=lambda seen, expected, inputs: (
                seen["trained numbers"].values[0] == inputs["table"].numel()
                and not seen["bias"].values.any()
            ),
            read=T5,
        ),
        Mistake(
            "divided by the scale",
            "The numbers of the table are divided by `scale`. It should let "
            "them grow faster.",
            wrong=lambda scale, **inputs: learned_bias(scale=1 / scale, **inputs),
            read=T5,
        ),
        Mistake(
            "scale written into the code",
            "The factor is 10 always, whatever `scale` is.",
            wrong=_other(scale=10.0),
            read=T5,
        ),
        Mistake(
            "one bias for all heads",
            "There is one number for each bucket, and all heads share it. Each "
            "head has its own, so that one can look near and another far.",
            when=lambda seen, expected, inputs: (
                seen["trained numbers"].values[0] == len(inputs["table"])
            ),
            read=T5,
        ),
        Mistake(
            "more than the table trained",
            "The optimiser finds more numbers than those of the table. Only "
            "the table is learned; `scale` stays what it is.",
            when=lambda seen, expected, inputs: (
                seen["trained numbers"].values[0]
                > expected["trained numbers"].values[0]
            ),
            read=T5,
        ),
        Mistake(
            "one bias for all heads",
            "All heads get the numbers of the first.",
            wrong=_one_for_all,
            read=T5,
        ),
        Mistake(
            "scale forgotten",
            "The numbers of the table come out as they are: `scale` does not "
            "multiply them.",
            wrong=_other(scale=1.0),
            read=SIX_MODELS,
        ),
        Mistake(
            "offset ignored",
            "The first query is taken to stand at position 0, whatever the offset is.",
            wrong=_other(offset=0),
            read=DISTANCE,
        ),
        Mistake(
            "wrong sign",
            "The buckets are those of the distances with the opposite sign: "
            "keys in the past share one number.",
            wrong=_other(turn=-1),
            read=DISTANCE,
        ),
        Mistake(
            "two-sided buckets in a causal model",
            "Half of the table is kept for keys to the right, which a causal "
            "model never sees.",
            wrong=_other(causal=False),
            read=T5,
        ),
        Mistake(
            "distances as rows",
            "A distance is used as the row of the table, without a bucket. "
            "Negative distances then count from the end of the table.",
            wrong=lambda queries, keys, offset, max_distance, scale, table: {
                "trained numbers": table.numel(),
                "bias": scale
                * table[
                    relative_positions(queries, keys, query_offset=offset) % len(table)
                ].permute(2, 0, 1),
            },
            read=T5,
        ),
        Mistake(
            "distances as rows",
            "A row is asked for that the table does not have. Is a distance "
            "used as the row, without a bucket, or have `num_buckets` and "
            "`max_distance` changed places?",
            when=lambda seen, expected, inputs: seen["result"].text.startswith(
                "IndexError"
            ),
            read=T5,
        ),
        Mistake(
            "number of buckets as the reach",
            "`max_distance` has no effect: far distances are in the buckets of "
            "another reach, that of the number of buckets.",
            wrong=lambda max_distance, table, **inputs: learned_bias(
                max_distance=len(table), table=table, **inputs
            ),
            read=T5,
        ),
        Mistake(
            "distances clipped, not sorted into buckets",
            "Each distance has a row of its own until the table ends. Far "
            "distances share rows, the more the further away: that is what "
            "`buckets` is for.",
            wrong=_clipped_rows,
            read=T5,
        ),
        Mistake(
            "far distances wrong",
            "The biases of near keys are right, those of far keys are not. Are "
            "distances cut off before they are sorted into buckets, and is "
            "`max_distance` handed on?",
            when=_far_only,
            read=T5,
        ),
        Mistake(
            "axes reshaped",
            "The shape is right, but the numbers of heads, queries and keys "
            "are mixed up: `reshape` keeps their order in memory, where axes "
            "should change places.",
            wrong=lambda queries, keys, table, **inputs: {
                "trained numbers": table.numel(),
                "bias": learned_bias(queries, keys, table=table, **inputs)["bias"]
                .permute(1, 2, 0)
                .reshape(-1, queries, keys),
            },
            read=T5,
        ),
        Mistake(
            "heads on the last axis",
            "The bias has its heads last. Scores have them before queries and "
            "keys, and the two are added.",
            when=lambda seen, expected, inputs: (
                seen["bias"].shape
                == expected["bias"].shape[1:] + expected["bias"].shape[:1]
            ),
            read=T5,
        ),
    ),
)
