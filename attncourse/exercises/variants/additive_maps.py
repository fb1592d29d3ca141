"""Task networks: which map of the additive score meets queries, and which keys."""

from __future__ import annotations

import torch

from attncourse.exercises.task import Mistake
from attncourse.exercises.variants.formulas import BETWEEN, additive, filled

EXCHANGED = "exchanged names"
ONE_WIDTH = "other scores where queries and keys have one width"


def ask_additive(Additive, Concat, query, key, w_query, w_key, v):
    """Return the scores, or what is wrong with the maps where the scores are right."""
    given = {"query": query, "key": key, "w_query": w_query, "w_key": w_key, "v": v}
    scores = _additive(Additive, **given)
    if isinstance(scores, str):
        by_shape = _additive(Additive, **given, named=False)
        return EXCHANGED if _alike(by_shape, additive(**given)) else scores
    if not _alike(scores, additive(**given)):
        return scores
    width = query.shape[-1]
    one_width = given | {"key": key[..., :width], "w_key": w_key[:, :width]}
    found = (_additive(Additive, **one_width, turned=turned) for turned in (1, -1))
    right = additive(**one_width)
    return scores if any(_alike(each, right) for each in found) else ONE_WIDTH


def _additive(Additive, query, key, w_query, w_key, v, named=True, turned=1):
    """Return the scores of `Additive` with maps known by their names, else in turn."""
    sizes = query.shape[-1], key.shape[-1], len(v)
    weights = [*(w_query, w_key)[::turned], v]
    names = {"query_proj": w_query, "key_proj": w_key} if named else {}
    return filled(Additive, sizes, weights, query, key, named=names)


def _alike(scores, right):
    return (
        torch.is_tensor(scores)
        and scores.shape == right.shape
        and torch.allclose(scores.to(right), right, atol=1e-3)
    )


def _says(text):
    return lambda seen, expected, inputs: seen["result"].text == text


MAPS = (
    Mistake(
        "names of the maps exchanged",
        "What is called `query_proj` maps the keys, and `key_proj` the queries. The "
        "constructor is given: who reads W_q off the module takes the wrong matrix.",
        when=_says(EXCHANGED),
        read=BETWEEN,
    ),
    Mistake(
        "maps chosen by the width",
        "The scores are right as long as queries and keys differ in width. Where both "
        "have one width, a query or a key goes through the other's map.",
        when=_says(ONE_WIDTH),
        read=BETWEEN,
    ),
)
