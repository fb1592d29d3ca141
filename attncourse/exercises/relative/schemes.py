"""Exercise 4, seventh part: one attention for all schemes."""

from __future__ import annotations

import torch

from attncourse.exercises.relative.bias_on_scores import attention
from attncourse.exercises.relative.biased_schemes import (
    BIASED_SCHEMES,
    KnownBias,
    ask_schemes,
    draw_heads,
    of_schemes,
    wrong_only,
)
from attncourse.exercises.relative.biases import WRONG_HALF
from attncourse.exercises.relative.distances import DISTANCE, size
from attncourse.exercises.task import Check, Mistake, Task
from attncourse.layers.relative import alibi_bias, relative_positions
from attncourse.layers.rotary import apply_rotary

ROTARY = "chapters/04_positional_encoding#rotary-turn-then-compare"


def _later_queries(generator):
    return draw_heads(generator, later=size(generator, 1, 2))


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
        **of_schemes(*LATER)(**inputs),
        scheme: _scheme_from_first(**inputs)[scheme],
    }


def _apart(query, key, value, learned, by):
    """Turn the keys as if they stood `by` places further on than they do."""
    tokens = query.shape[-2]
    turned = apply_rotary(key, torch.arange(tokens) + by)
    mask = relative_positions(tokens, tokens) <= 0
    return attention(apply_rotary(query), turned, value, 0, mask)["output"]


def _rotary_and_alibi(query, key, value, learned):
    tokens = query.shape[-2]
    bias = alibi_bias(query.shape[1], tokens, tokens)
    turned = apply_rotary(query), apply_rotary(key)
    mask = relative_positions(tokens, tokens) <= 0
    return {"rotary": attention(*turned, value, bias, mask)["output"]}


SCHEMES = Task(
    name="schemes",
    title="One attention, four schemes",
    names=("attend",),
    needs=("distances", "bias", "alibi", "rotary"),
    difficulty="medium",
    minutes=15,
    checks=(
        BIASED_SCHEMES,
        Check(
            "rotary turns queries and keys, and leaves the values alone",
            0.5,
            inputs=draw_heads,
            ask=ask_schemes("rotary"),
            expected=of_schemes("rotary"),
            mistakes=(
                Mistake(
                    "values turned too",
                    "The values are turned as well. A value is compared with nothing: "
                    "turned, it carries its place into the output.",
                    wrong=of_schemes("rotary", turn="qkv"),
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
                    wrong=of_schemes("rotary", turn="k"),
                    read=ROTARY,
                ),
                Mistake(
                    "only the queries turned",
                    "The queries are turned and the keys are not. It is the two turns "
                    "together that leave the distance.",
                    wrong=of_schemes("rotary", turn="q"),
                    read=ROTARY,
                ),
                Mistake(
                    "rotary not used",
                    'With the scheme "rotary" the output is that without positions.',
                    wrong=of_schemes("rotary", turn=""),
                    read=ROTARY,
                ),
                Mistake(
                    "no causal mask",
                    "Queries see keys to their right. A language model must not read "
                    "the tokens that it is to predict.",
                    wrong=of_schemes("rotary", masked=False),
                    read=WRONG_HALF,
                ),
                Mistake(
                    "mask inverted",
                    "Queries see the keys to their right and not those to their left: "
                    "the mask is the wrong way round.",
                    wrong=of_schemes("rotary", masked="future"),
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
            ask=ask_schemes(*LATER),
            expected=of_schemes(*LATER),
            mistakes=(
                Mistake(
                    "queries counted from the first key",
                    "Mask and scheme take the first query to stand at position 0. With "
                    "more keys than queries, the keys before it were read earlier: the "
                    "last query stands where the last key stands.",
                    wrong=of_schemes(*LATER, at=0),
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
                        "rotary": of_schemes("rotary")(**inputs)["rotary"],
                    },
                    read=DISTANCE,
                ),
                *(
                    Mistake(
                        "one scheme wrong with more keys than queries",
                        f'With more keys than queries the scheme "{scheme}" is wrong, '
                        "and the others are right, the mask with them. What does this "
                        "scheme make for as many queries as keys?",
                        when=wrong_only((scheme,)),
                        read=DISTANCE,
                    )
                    for scheme in LATER
                ),
                Mistake(
                    "values turned too",
                    "The values are turned as well. A value is compared with nothing: "
                    "turned, it carries its place into the output.",
                    wrong=of_schemes(*LATER, turn="qkv"),
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
