"""Exercise 4, seventh part: the schemes that add a bias."""

from __future__ import annotations

import numpy as np
import torch

from attncourse.exercises.relative.bias_on_scores import attention
from attncourse.exercises.relative.biases import WRONG_HALF
from attncourse.exercises.relative.distances import DISTANCE, size
from attncourse.exercises.seen import near
from attncourse.exercises.task import Check, Mistake
from attncourse.layers.relative import alibi_bias, relative_positions
from attncourse.layers.rotary import apply_rotary

ALIBI = "chapters/04_positional_encoding#alibi-a-slope-for-each-head"


BIASED = ("none", "alibi", "table")


class KnownBias:
    """Stands for a `LearnedBias`: it has one number for each head and distance.

    Parameters
    ----------
    numbers : torch.Tensor
        ``(heads, distances)``; entry d is for a distance of d into the past.
    """

    def __init__(self, numbers):
        self.numbers = numbers

    def __call__(self, queries, keys, offset=0):
        """Return the bias, ``(heads, queries, keys)``."""
        past = -relative_positions(queries, keys, query_offset=offset)
        return self.numbers[:, past.clamp(0, self.numbers.shape[1] - 1)]


def draw_heads(generator, later=0):
    """Draw queries, keys and values, with `later` more keys than queries."""
    queries, heads = size(generator, 2, 3), 2
    keys = queries + later
    return {
        "query": torch.randn(1, heads, queries, 4, generator=generator),
        "key": 1.5 * torch.randn(1, heads, keys, 4, generator=generator),
        "value": 3 * torch.randn(1, heads, keys, 4, generator=generator),
        "learned": 2 * torch.randn(heads, 4, generator=generator),
    }


def ask_schemes(*schemes):
    """Return the `ask` for some schemes."""

    def ask(attend, query, key, value, learned):
        table = KnownBias(learned)
        return {
            scheme: _output(attend(query, key, value, scheme, table))
            for scheme in schemes
        }

    return ask


def _output(result):
    return result[0] if isinstance(result, tuple) else result


def reference(
    query, key, value, learned, scheme, *, at=None, masked=True, bias=True, turn="qk"
):
    """Return the output of causal attention with a scheme, or with a fault in it."""
    queries, keys = query.shape[-2], key.shape[-2]
    at = keys - queries if at is None else at
    distances = relative_positions(queries, keys, query_offset=at)
    added = 0
    if scheme == "alibi" and bias:
        added = alibi_bias(query.shape[1], queries, keys, query_offset=at)
    if scheme == "table" and bias:
        added = KnownBias(learned)(queries, keys, at)
    if scheme == "rotary":
        query = (
            apply_rotary(query, at + torch.arange(queries)) if "q" in turn else query
        )
        key = apply_rotary(key) if "k" in turn else key
        value = apply_rotary(value) if "v" in turn else value
    mask = {True: distances <= 0, False: None, "future": distances >= 0}[masked]
    return attention(query, key, value, added, mask)["output"]


def of_schemes(*schemes, **changes):
    """Return what `ask_schemes` would see for an answer with these changes."""

    def expected(**inputs):
        return {s: reference(**inputs, scheme=s, **changes) for s in schemes}

    return expected


def _mask_lost(**inputs):
    return {
        scheme: reference(**inputs, scheme=scheme, masked=scheme == "none")
        for scheme in BIASED
    }


def _masked_by_schemes(**inputs):
    return {
        scheme: reference(**inputs, scheme=scheme, masked=scheme != "none")
        for scheme in BIASED
    }


def _bias_lost(which):
    def wrong(**inputs):
        return {s: reference(**inputs, scheme=s, bias=s not in which) for s in BIASED}

    return wrong


def _with_alibi(query, key, value, learned, scheme):
    """Add the bias of ALiBi, and the scheme's own."""
    tokens = query.shape[-2]
    bias = alibi_bias(query.shape[1], tokens, tokens)
    if scheme == "table":
        bias = bias + KnownBias(learned)(tokens, tokens)
    mask = relative_positions(tokens, tokens) <= 0
    return attention(query, key, value, bias, mask)["output"]


def wrong_only(schemes):
    """Return a `when`: these schemes are wrong, and no others."""

    def when(seen, expected, inputs):
        wrong = {k for k in expected if not near(seen[k].values, expected[k].values)}
        return wrong == set(schemes)

    return when


def _changed(query, key, value, learned, mask=None, turned=False, bias="own"):
    """Return what is seen of all biased schemes with something added to each."""
    tokens = query.shape[-2]
    distances = relative_positions(tokens, tokens)
    if turned:
        query, key = apply_rotary(query), apply_rotary(key)
    biases = {
        "none": 0,
        "alibi": alibi_bias(query.shape[1], tokens, tokens),
        "table": KnownBias(learned)(tokens, tokens),
    }
    if bias != "own":
        biases = bias(biases)
    mask = distances <= 0 if mask is None else mask(distances)
    return {s: attention(query, key, value, biases[s], mask)["output"] for s in BIASED}


CHANGED = (
    (
        "rotary whatever the scheme",
        "Queries and keys are turned in every scheme. Only rotary turns them.",
        {"turned": True},
    ),
    (
        "mask one key too far",
        "Each query sees the key after its own: the mask allows a distance of 1. The "
        "token that is to be predicted is seen.",
        {"mask": lambda distances: distances <= 1},
    ),
    (
        "ALiBi without a scheme",
        'With "none" the bias of ALiBi is added: a condition is true for more schemes '
        'than one. `scheme == "a" or "b"` is always true.',
        {"bias": lambda b: {**b, "none": b["alibi"]}},
    ),
    (
        "biases exchanged",
        "The schemes have each other's biases.",
        {"bias": lambda b: {**b, "alibi": b["table"], "table": b["alibi"]}},
    ),
    (
        "table for all schemes",
        "The learned bias is added in other schemes too.",
        {
            "bias": lambda b: {
                "none": 0,
                "alibi": b["alibi"] + b["table"],
                "table": b["table"],
            }
        },
    ),
    (
        "table in place of ALiBi",
        'With the scheme "alibi" the learned bias is added. Which one is chosen is for '
        "the scheme to say, and not for what happens to be given.",
        {"bias": lambda b: {**b, "alibi": b["table"]}},
    ),
    (
        "sign of the biases",
        "The biases are subtracted: far keys are made attractive.",
        {"bias": lambda b: {k: -x for k, x in b.items()}},
    ),
)


MASK_LOST = Mistake(
    "mask lost where there is a bias",
    "Without a scheme the mask hides the future. With a bias, the future is seen: a "
    "language model that reads its answer will learn nothing else.",
    wrong=_mask_lost,
    read=WRONG_HALF,
)


BIASED_SCHEMES = Check(
    "causal attention with no positions, with ALiBi and with a learned table",
    0.5,
    inputs=draw_heads,
    ask=ask_schemes(*BIASED),
    expected=of_schemes(*BIASED),
    mistakes=(
        MASK_LOST,
        Mistake(
            "mask lost where there is no scheme",
            'With a bias the future is hidden, and with "none" it is seen. This scheme '
            "adds nothing to the scores, but it is causal like the others.",
            wrong=_masked_by_schemes,
            read=WRONG_HALF,
        ),
        Mistake(
            "no causal mask",
            "Queries see keys to their right. A language model must not read "
            "the tokens that it is to predict.",
            wrong=of_schemes(*BIASED, masked=False),
            read=WRONG_HALF,
        ),
        Mistake(
            "own token hidden",
            "The first query sees nothing, and its softmax is not a number. A "
            "token may read itself: which keys have distance 0?",
            when=lambda seen, expected, inputs: (
                not any(np.isfinite(part.values[:4]).any() for part in seen.values())
            ),
            read=WRONG_HALF,
        ),
        Mistake(
            "mask inverted",
            "Queries see the keys to their right and not those to their left: "
            "the mask is the wrong way round.",
            wrong=of_schemes(*BIASED, masked="future"),
            read=WRONG_HALF,
        ),
        Mistake(
            "learned table not used",
            'With the scheme "table" the output is that without positions.',
            wrong=_bias_lost(("table",)),
            read=DISTANCE,
        ),
        Mistake(
            "ALiBi not used",
            'With the scheme "alibi" the output is that without positions.',
            wrong=_bias_lost(("alibi",)),
            read=ALIBI,
        ),
        Mistake(
            "no bias at all",
            'With the schemes "alibi" and "table" the output is that without '
            "positions.",
            wrong=_bias_lost(("alibi", "table")),
            read=DISTANCE,
        ),
        Mistake(
            "ALiBi added whatever the scheme",
            "The bias of ALiBi is added in other schemes too.",
            wrong=lambda **inputs: {s: _with_alibi(**inputs, scheme=s) for s in BIASED},
            read=ALIBI,
        ),
        *(
            Mistake(
                name,
                says,
                wrong=lambda change=change, **inputs: _changed(**inputs, **change),
                read=DISTANCE,
            )
            for name, says, change in CHANGED
        ),
        *(
            Mistake(
                "one scheme wrong",
                f'The scheme "{scheme}" is wrong, and the others are right, '
                "the mask with them. Has its bias as many matrices as there "
                "are heads, the second axis of the query, and its own sizes?",
                when=wrong_only((scheme,)),
                read=DISTANCE,
            )
            for scheme in BIASED[1:]
        ),
    ),
)
