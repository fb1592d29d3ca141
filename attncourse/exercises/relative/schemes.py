"""Exercise 4, seventh part: one attention for all schemes."""

from __future__ import annotations

import numpy as np
import torch

from attncourse.exercises.relative.biases import WRONG_HALF, attention
from attncourse.exercises.relative.distances import DISTANCE, size
from attncourse.exercises.seen import near
from attncourse.exercises.task import Check, Mistake, Task
from attncourse.layers.relative import alibi_bias, relative_positions
from attncourse.layers.rotary import apply_rotary

ALIBI = "chapters/04_positional_encoding#alibi-a-slope-for-each-head"
ROTARY = "chapters/04_positional_encoding#rotary-turn-then-compare"
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


def _heads(generator, later=0):
    queries, heads = size(generator, 2, 3), 2
    keys = queries + later
    return {
        "query": torch.randn(1, heads, queries, 4, generator=generator),
        "key": 1.5 * torch.randn(1, heads, keys, 4, generator=generator),
        "value": 3 * torch.randn(1, heads, keys, 4, generator=generator),
        "learned": 2 * torch.randn(heads, 4, generator=generator),
    }


def _later_queries(generator):
    return _heads(generator, later=size(generator, 1, 2))


def _ask(*schemes):
    def ask(attend, query, key, value, learned):
        table = KnownBias(learned)
        return {
            scheme: _output(attend(query, key, value, scheme, table))
            for scheme in schemes
        }

    return ask


def _output(result):
    return result[0] if isinstance(result, tuple) else result


def _reference(
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


def _all(*schemes, **changes):
    """Return what `_ask` would see for an answer with these changes."""

    def expected(**inputs):
        return {s: _reference(**inputs, scheme=s, **changes) for s in schemes}

    return expected


def _mask_lost(**inputs):
    return {
        scheme: _reference(**inputs, scheme=scheme, masked=scheme == "none")
        for scheme in BIASED
    }


def _bias_lost(which):
    def wrong(**inputs):
        return {s: _reference(**inputs, scheme=s, bias=s not in which) for s in BIASED}

    return wrong


LATER = ("alibi", "table", "rotary")


def _mask_from_first(query, key, value, learned):
    """Put the queries where they are, but count the mask from the first key."""
    return _later(query, key, value, learned, places=None, mask_at=0)


def _scheme_from_first(query, key, value, learned):
    """Mask rightly, but count the queries of the schemes from the first key."""
    return _later(query, key, value, learned, places=0, mask_at=None)


def _later(query, key, value, learned, places, mask_at):
    queries, keys = query.shape[-2], key.shape[-2]
    places = keys - queries if places is None else places
    mask_at = keys - queries if mask_at is None else mask_at
    mask = relative_positions(queries, keys, query_offset=mask_at) <= 0
    alibi = alibi_bias(query.shape[1], queries, keys, query_offset=places)
    table = KnownBias(learned)(queries, keys, places)
    turned = apply_rotary(query, places + torch.arange(queries))
    return {
        "alibi": attention(query, key, value, alibi, mask)["output"],
        "table": attention(query, key, value, table, mask)["output"],
        "rotary": attention(turned, apply_rotary(key), value, 0, mask)["output"],
    }


def _only(scheme):
    """Return an answer in which one scheme counts from the first key."""
    return lambda **inputs: {
        **_all(*LATER)(**inputs),
        scheme: _scheme_from_first(**inputs)[scheme],
    }


def _with_alibi(query, key, value, learned, scheme):
    """Add the bias of ALiBi, and the scheme's own."""
    tokens = query.shape[-2]
    bias = alibi_bias(query.shape[1], tokens, tokens)
    if scheme == "table":
        bias = bias + KnownBias(learned)(tokens, tokens)
    mask = relative_positions(tokens, tokens) <= 0
    return attention(query, key, value, bias, mask)["output"]


def _apart(query, key, value, learned, by):
    """Turn the keys as if they stood `by` places further on than they do."""
    tokens = query.shape[-2]
    turned = apply_rotary(key, torch.arange(tokens) + by)
    mask = relative_positions(tokens, tokens) <= 0
    return attention(apply_rotary(query), turned, value, 0, mask)["output"]


def _wrong_only(schemes):
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


def _rotary_and_alibi(query, key, value, learned):
    tokens = query.shape[-2]
    bias = alibi_bias(query.shape[1], tokens, tokens)
    turned = apply_rotary(query), apply_rotary(key)
    mask = relative_positions(tokens, tokens) <= 0
    return {"rotary": attention(*turned, value, bias, mask)["output"]}


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

SCHEMES = Task(
    name="schemes",
    title="One attention, four schemes",
    names=("attend",),
    needs=("distances", "bias", "alibi", "rotary"),
    difficulty="medium",
    minutes=15,
    checks=(
        Check(
            "causal attention with no positions, with ALiBi and with a learned table",
            0.5,
            inputs=_heads,
            ask=_ask(*BIASED),
            expected=_all(*BIASED),
            mistakes=(
                MASK_LOST,
                Mistake(
                    "no causal mask",
                    "Queries see keys to their right. A language model must not read "
                    "the tokens that it is to predict.",
                    wrong=_all(*BIASED, masked=False),
                    read=WRONG_HALF,
                ),
                Mistake(
                    "own token hidden",
                    "The first query sees nothing, and its softmax is not a number. A "
                    "token may read itself: which keys have distance 0?",
                    when=lambda seen, expected, inputs: (
                        not any(
                            np.isfinite(part.values[:4]).any() for part in seen.values()
                        )
                    ),
                    read=WRONG_HALF,
                ),
                Mistake(
                    "mask inverted",
                    "Queries see the keys to their right and not those to their left: "
                    "the mask is the wrong way round.",
                    wrong=_all(*BIASED, masked="future"),
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
                    wrong=lambda **inputs: {
                        s: _with_alibi(**inputs, scheme=s) for s in BIASED
                    },
                    read=ALIBI,
                ),
                *(
                    Mistake(
                        name,
                        says,
                        wrong=lambda change=change, **inputs: _changed(
                            **inputs, **change
                        ),
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
                        when=_wrong_only((scheme,)),
                        read=DISTANCE,
                    )
                    for scheme in BIASED[1:]
                ),
            ),
        ),
        Check(
            "rotary turns queries and keys, and leaves the values alone",
            0.5,
            inputs=_heads,
            ask=_ask("rotary"),
            expected=_all("rotary"),
            mistakes=(
                Mistake(
                    "values turned too",
                    "The values are turned as well. A value is compared with nothing: "
                    "turned, it carries its place into the output.",
                    wrong=_all("rotary", turn="qkv"),
                    read=ROTARY,
                ),
                Mistake(
                    "a bias besides rotary",
                    "The bias of ALiBi is added as well. Rotary turns queries and "
                    "keys, and adds nothing.",
                    wrong=_rotary_and_alibi,
                    read=ROTARY,
                ),
                Mistake(
                    "only the keys turned",
                    "The keys are turned and the queries are not. It is the two turns "
                    "together that leave the distance.",
                    wrong=_all("rotary", turn="k"),
                    read=ROTARY,
                ),
                Mistake(
                    "only the queries turned",
                    "The queries are turned and the keys are not. It is the two turns "
                    "together that leave the distance.",
                    wrong=_all("rotary", turn="q"),
                    read=ROTARY,
                ),
                Mistake(
                    "rotary not used",
                    'With the scheme "rotary" the output is that without positions.',
                    wrong=_all("rotary", turn=""),
                    read=ROTARY,
                ),
                Mistake(
                    "no causal mask",
                    "Queries see keys to their right. A language model must not read "
                    "the tokens that it is to predict.",
                    wrong=_all("rotary", masked=False),
                    read=WRONG_HALF,
                ),
                Mistake(
                    "mask inverted",
                    "Queries see the keys to their right and not those to their left: "
                    "the mask is the wrong way round.",
                    wrong=_all("rotary", masked="future"),
                    read=WRONG_HALF,
                ),
                Mistake(
                    "queries and keys counted from different numbers",
                    "Queries and keys are counted from different numbers: a token has "
                    "a distance of 1 to itself.",
                    wrong=lambda **inputs: {
                        "rotary": _apart(**inputs, by=1),
                    },
                    read=ROTARY,
                ),
                Mistake(
                    "queries and keys counted from different numbers",
                    "Queries and keys are counted from different numbers: a token has "
                    "a distance of 1 to itself.",
                    wrong=lambda **inputs: {
                        "rotary": _apart(**inputs, by=-1),
                    },
                    read=ROTARY,
                ),
            ),
        ),
        Check(
            "fewer queries than keys: the queries are the last of the tokens",
            1,
            inputs=_later_queries,
            ask=_ask(*LATER),
            expected=_all(*LATER),
            mistakes=(
                Mistake(
                    "queries counted from the first key",
                    "Mask and scheme take the first query to stand at position 0. With "
                    "more keys than queries, the keys before it were read earlier: the "
                    "last query stands where the last key stands.",
                    wrong=_all(*LATER, at=0),
                    read=DISTANCE,
                ),
                Mistake(
                    "mask counted from the first key",
                    "The distances are right, but the mask is that of a square matrix: "
                    "the first query sees the first key only. The last query should "
                    "see all keys.",
                    wrong=_mask_from_first,
                    read=DISTANCE,
                ),
                Mistake(
                    "scheme counted from the first key",
                    "The mask is right, but the schemes take the first query to stand "
                    "at position 0.",
                    wrong=_scheme_from_first,
                    read=DISTANCE,
                ),
                Mistake(
                    "rotary queries counted from the first key",
                    "The biases are right. In rotary, the first query is turned as "
                    "if it stood at the place of the first key. Only the difference of "
                    "the turns counts: either queries are turned too little, or keys "
                    "too far.",
                    wrong=_only("rotary"),
                    read=ROTARY,
                ),
                *(
                    Mistake(
                        "bias counted from the first key",
                        f'The bias of the scheme "{scheme}" takes the first query to '
                        "stand at position 0; mask and the other schemes do not.",
                        wrong=_only(scheme),
                        read=DISTANCE,
                    )
                    for scheme in ("alibi", "table")
                ),
                Mistake(
                    "biases counted from the first key",
                    "Both biases take the first query to stand at position 0; the mask "
                    "and rotary do not. Of a larger matrix the *last* rows are wanted.",
                    wrong=lambda **inputs: {
                        **_scheme_from_first(**inputs),
                        "rotary": _all("rotary")(**inputs)["rotary"],
                    },
                    read=DISTANCE,
                ),
                *(
                    Mistake(
                        "one scheme wrong with more keys than queries",
                        f'With more keys than queries the scheme "{scheme}" is wrong, '
                        "and the others are right, the mask with them. What does this "
                        "scheme make for as many queries as keys?",
                        when=_wrong_only((scheme,)),
                        read=DISTANCE,
                    )
                    for scheme in LATER
                ),
                Mistake(
                    "values turned too",
                    "The values are turned as well. A value is compared with nothing: "
                    "turned, it carries its place into the output.",
                    wrong=_all(*LATER, turn="qkv"),
                    read=ROTARY,
                ),
                Mistake(
                    "sizes do not fit",
                    "The call fails with more keys than queries: something is made for "
                    "as many queries as keys.",
                    when=lambda seen, expected, inputs: (
                        seen["result"].kind == "error"
                        and "NotImplementedError" not in seen["result"].text
                    ),
                    read=DISTANCE,
                ),
            ),
        ),
    ),
)
