"""Probes that every efficient attention has to pass: tasks 5.2 and 5.4."""

from functools import partial

import torch

from attncourse.exercises.probe import Probe, numbers, whole
from attncourse.exercises.run import backward
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
    """Return a function that draws a number of tokens, and a seed for their vectors."""
    return lambda g: {"tokens": whole(g, 160, 179), "seed": whole(g, 0, 999), **options}


def count(attention, tokens, seed, *ways):
    """Count what an answer makes of so many tokens and of twice as many, for each way.

    Returns the elements of all tensors, those of the largest, and some rows of every
    output, by which it is seen that attention was computed.
    """
    generator = torch.Generator().manual_seed(seed)
    drawn = numbers(generator, 3, 2, 2 * tokens, WIDTH)
    counts, outputs = [], []
    for n in (tokens, 2 * tokens):
        inputs = [x[:, :n].contiguous() for x in drawn]
        for way in ways:
            call = partial(attention, *inputs, *way)
            counts.append(count_elements(lambda call=call: outputs.append(call())))
    rows = torch.cat([output[:, seed % 9 :: 23] for output in outputs], dim=1)
    made, largest, _ = torch.tensor(counts).T
    return {"made": made, "largest": largest, "the output": rows}


def _growth(name):
    def measure(values, inputs):
        once, twice = values[name].reshape(2, -1)
        return (twice / once).max()

    return measure


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
        def added_up(*inputs):
            return sum(answer(*inputs, *options.values(), *way) for way in ways)

        return backward(added_up, query=query[0, 1], key=key[0, 1], value=value[0, 1])

    return call


def common_probes(scores, axes, ways, long, count, limit, limit_in_words, not_needed):
    """Return the probes that do not depend on which keys are seen."""
    shared = {"draw": long, "call": count, "weight": 2, "compared": ("the output",)}
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
            measure=lambda values, inputs: values["largest"].max() / limit(**inputs),
            between=(0.0, 1.0),
            **shared,
        ),
    )
