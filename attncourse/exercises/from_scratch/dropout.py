"""Task 1.3, the check of dropout."""

from __future__ import annotations

import torch

from attncourse.exercises.from_scratch.common import draw_sizes
from attncourse.exercises.task import Check, Mistake

DROPOUT = "chapters/03_multi_head#the-layer-you-would-use"
RATE = 0.25


def _many_queries(generator):
    keys, d_k = draw_sizes(generator, (4, 6), (2, 3))
    return {
        "query": torch.randn(2, 20, d_k, generator=generator),
        "key": torch.randn(2, keys, d_k, generator=generator),
        "dropout": RATE,
    }


def _dropped(attention, query, key, dropout):
    # With these values, the output shows each weight that was used, and their sum.
    keys = key.shape[1]
    value = torch.cat([torch.eye(keys), torch.ones(keys, 1)], dim=1).repeat(2, 1, 1)
    _, plain = attention(query.clone(), key.clone(), value.clone())
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        output, weights = attention(query, key, value, dropout=dropout)
    used, together = output[..., :-1], output[..., -1]
    gone, kept = used.abs() < 1e-6, (used - plain).abs() < 1e-6
    enlarged = (used - plain / (1 - dropout)).abs() < 1e-5
    return {
        "weights are those without dropout": bool(torch.allclose(weights, plain)),
        "rows sum to 1": bool((weights.sum(-1) - 1).abs().max() < 1e-5),
        "some values are left out": bool(gone.any()),
        "most values stay": bool(gone.float().mean() < 0.5),
        "the others count more": bool((gone | enlarged).all()),
        "the others count as before": bool((gone | kept).all()),
        "a value is left out as a whole": bool(
            (used.sum(-1) - together).abs().max() < 1e-5
        ),
        "each query draws for itself": not (gone[0] == gone[0, :1]).all().item(),
        "each sequence draws for itself": not (gone[0] == gone[1]).all().item(),
        "each key is drawn for itself": not (gone == gone[..., :1]).all().item(),
    }


def _facts(**changed):
    facts = {
        "weights are those without dropout": True,
        "rows sum to 1": True,
        "some values are left out": True,
        "most values stay": True,
        "the others count more": True,
        "the others count as before": False,
        "a value is left out as a whole": True,
        "each query draws for itself": True,
        "each sequence draws for itself": True,
        "each key is drawn for itself": True,
    }
    changed = {name.replace("_", " "): fact for name, fact in changed.items()}
    return lambda query, key, dropout: {**facts, **changed}


def _has(**facts):
    facts = {name.replace("_", " "): fact for name, fact in facts.items()}
    return lambda seen, expected, inputs: all(
        bool(seen[name].values) is fact for name, fact in facts.items()
    )


WITH_DROPOUT = Check(
    "dropout leaves out values at random; the weights returned are those before it",
    0.5,
    inputs=_many_queries,
    ask=_dropped,
    expected=_facts(),
    mistakes=(
        Mistake(
            "dropout before the softmax",
            "The weights change with dropout, and still sum to 1: something was "
            "dropped before the softmax. A score of 0 leaves nothing out, since e⁰ = "
            "1; what is dropped are weights.",
            when=_has(weights_are_those_without_dropout=False, rows_sum_to_1=True),
            read=DROPOUT,
        ),
        Mistake(
            "weights after dropout",
            "The weights that come back have holes, and their rows do not sum to 1: "
            "they are those after dropout. Whoever draws them sees gaps that the model "
            "does not have.",
            when=_has(weights_are_those_without_dropout=False),
            read=DROPOUT,
        ),
        Mistake(
            "dropout is ignored",
            "Nothing is left out: `dropout` has no effect on the output.",
            when=_has(some_values_are_left_out=False),
            read=DROPOUT,
        ),
        Mistake(
            "probability the other way round",
            "Three of four values are left out. `dropout` is the probability with "
            "which a weight *goes*, not the one with which it stays.",
            when=_has(most_values_stay=False),
            read=DROPOUT,
        ),
        Mistake(
            "dropout of the values",
            "Single features of the *values* are dropped, the same ones for every "
            "query. What has to go is a weight: a whole value, for one query.",
            when=_has(
                a_value_is_left_out_as_a_whole=False, each_query_draws_for_itself=False
            ),
            read=DROPOUT,
        ),
        Mistake(
            "dropout of the output",
            "Single features of the output are dropped. What has to go is a whole "
            "value, with all of its features, for one query.",
            when=_has(a_value_is_left_out_as_a_whole=False),
            read=DROPOUT,
        ),
        Mistake(
            "the same keys for all queries",
            "The same keys are left out for every query. Each weight is dropped by "
            "itself: one query may lose what another keeps.",
            when=_has(each_query_draws_for_itself=False),
            read=DROPOUT,
        ),
        Mistake(
            "the same holes in all sequences",
            "The same weights are left out in every sequence of the batch. Each weight "
            "is dropped by itself: the random numbers need all axes of the weights.",
            when=_has(each_sequence_draws_for_itself=False),
            read=DROPOUT,
        ),
        Mistake(
            "whole queries dropped",
            "A query loses all of its values or none. Each weight is dropped by "
            "itself.",
            when=_has(each_key_is_drawn_for_itself=False),
            read=DROPOUT,
        ),
        Mistake(
            "dropout without enlarging the rest",
            "Some values are left out, and the others count as before, so the sum "
            "shrinks. The weights that stay are divided by 1 − dropout, which keeps "
            "the sum the same on average.",
            when=_has(the_others_count_as_before=True),
            read=DROPOUT,
        ),
        Mistake(
            "enlarged by another factor",
            "The weights that stay are made larger, but not by 1 / (1 − dropout).",
            when=_has(the_others_count_more=False),
            read=DROPOUT,
        ),
    ),
)
