"""Probes that every efficient attention has to pass: tasks 5.2 and 5.4."""

import math
from collections import Counter
from functools import partial

import torch

from attncourse.exercises.probe import Probe, numbers, whole
from attncourse.exercises.run import gradients, leaf
from attncourse.training.memory import count_elements

WIDTH = 8  # of all vectors whose memory is counted
AXES = {"no leading axes": (0, 0, 0), "one leading axis": (0, 1)}
AXES |= {"two leading axes": (1, slice(None), slice(1)), "three leading axes": ()}


def draw_vectors(g, *leading, tokens, d_k, d_v, scale=1):
    """Draw query, key and value; the query is multiplied by `scale`."""
    query, key = numbers(g, 2, *leading, tokens, d_k)
    value = numbers(g, *leading, tokens, d_v)
    return {"query": scale * query, "key": key, "value": value}


def draw_long(**options):
    """Return a function that draws a number of tokens, and one that has a value."""

    def draw(g):
        tokens = whole(g, 100, 119)
        return {"tokens": tokens, "at": whole(g, 40, tokens - 40), **options}

    return draw


def count(attention, tokens, at, *ways):
    """Count what an answer makes of so many tokens and of twice as many, for each way.

    The values are 0 but for those of one token. Returns the elements of all tensors,
    those of the largest, and the rows that the values reach that are not 0.
    """
    query, key, value = numbers(
        torch.Generator().manual_seed(at), 3, 2, 2 * tokens, WIDTH
    )
    value = value * (torch.arange(2 * tokens) == at)[:, None]
    counts, rows = [], []
    for n in (tokens, 2 * tokens):
        inputs = [x[:, :n].contiguous() for x in (query, key, value)]
        for way in ways:
            call = partial(attention, *inputs, *way)
            counts.append(count_elements(lambda call=call: rows.append(call())))
    rows = torch.cat([(output[0] != 0).any(-1).nonzero() for output in rows])
    made, largest, _ = torch.tensor(counts).T
    return {"made": made, "largest": largest, "rows": rows.flatten()}


def _if_attention(measure):
    """Measure only what lets the values reach roughly the rows that see them."""

    def measured(values, inputs):
        at, window = inputs["at"], inputs["window"]
        seen_by = [*range(at, at + window), *range(at - window, at + window + 1)]
        if size := inputs.get("block_size"):
            first = (at // size - window) * size
            seen_by = [*range(size), *range(first, first + (2 * window + 1) * size)]
        found, right = Counter(values["rows"].tolist()), Counter(2 * seen_by)
        share = (found & right).total() / right.total()
        rough = share > 0.25 and found.total() < 3 * right.total()
        return measure(values, inputs) if rough else math.inf

    return measured


def _growth(name):
    def measure(values, inputs):
        once, twice = values[name].reshape(2, -1)
        return (twice / once.clip(1)).max()

    return _if_attention(measure)


def _over_axes(*more):
    """Return a call with several numbers of leading axes, the last of two being 1."""

    def call(answer, query, key, value, **options):
        found, rest = {}, (*options.values(), *more)
        for many, at in AXES.items():
            inputs = (x[at] for x in (query, key, value))
            found[f"the output with {many}"] = answer(*inputs, *rest)
        return found

    return call


def _backward(*ways):
    """Return a call that differentiates the outputs of some ways, added up."""

    def call(answer, query, key, value, **options):
        parts = {"query": query[0, 1], "key": key[0, 1], "value": value[0, 1]}
        leaves = {name: leaf(x) for name, x in parts.items()}
        calls = (answer(*leaves.values(), *options.values(), *way) for way in ways)
        return gradients(sum(calls), **leaves)

    return call


def common_probes(scores, axes, ways, long, count, limit, limit_in_words, not_needed):
    """Return the probes that do not depend on which keys are seen."""
    shared = {"draw": long, "call": count, "weight": 2}
    return (
        Probe(
            claim="the weights are softmax(q · k / √d_k) over all keys that are seen",
            given="The queries are not 0.",
            why="With equal scores the outputs are right. With these they are not "
            "those of one softmax(q · k / √d_k) over the keys that are seen.",
            draw=scores,
        ),
        Probe(
            claim="any leading axes, each sequence by itself; values of another width",
            given="There are no leading axes, or one, two or three.",
            why="An output is not that of its own sequence.",
            draw=axes,
            call=_over_axes(*ways[0]),
        ),
        Probe(
            claim="the gradients are right as well",
            given="The last block is not full. Only the part [0, 1] of the tensors is "
            "used." + " A causal and a two-sided output are added." * (len(ways) - 1),
            why="A gradient of query, key or value is not the expected one.",
            draw=axes,
            call=_backward(*ways),
        ),
        Probe(
            claim="no tensor grows with n²",
            given="The number of tokens is doubled.",
            why="The largest tensor grows more than 2.5 times. Nothing here needs a "
            f"tensor with n² elements: {not_needed}.",
            measure=_growth("largest"),
            between=(0.0, 2.5),
            **shared,
        ),
        Probe(
            claim="all tensors added up grow with n",
            given="The number of tokens is doubled.",
            why="All tensors added up, freed ones included, grow more than 2.5 times, "
            "though the largest one does not: piece by piece, elements are made whose "
            "number grows with n². These can be scores with keys that are not seen, "
            "masks, or copies: an output that grows in a loop is copied by each "
            "`torch.cat` (collect the pieces and join them once).",
            measure=_growth("made"),
            between=(0.0, 2.5),
            **shared,
        ),
        Probe(
            claim=f"the largest tensor holds at most {limit_in_words}",
            given="The largest tensor is measured in units of the limit.",
            why="It grows with n, as it should, but it is over the limit. Neighbouring "
            "queries see almost the same keys: let many of them share one copy.",
            measure=_if_attention(
                lambda values, inputs: values["largest"].max() / limit(**inputs)
            ),
            between=(0.0, 1.0),
            **shared,
        ),
    )
