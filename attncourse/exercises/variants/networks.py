"""Task networks: scores that are small networks."""

from __future__ import annotations

import torch
from torch.utils.flop_counter import FlopCounterMode

from attncourse.exercises.task import Check, Mistake, Task
from attncourse.exercises.variants.additive_maps import MAPS, ask_additive
from attncourse.exercises.variants.formulas import (
    BETWEEN,
    PARAMETERS,
    TANH_ELSEWHERE,
    additive,
    bent_twice,
    common,
    concat,
    filled,
    hidden_of,
    pairs_of,
    with_network,
    with_pairs,
)


def _projections(Additive, Concat):
    """Say whether a forward pass has no more products than the formula needs."""
    batch, queries, keys, query_dim, key_dim, hidden = 2, 7, 11, 3, 5, 4
    module = Additive(query_dim, key_dim, hidden)
    query, key = torch.ones(batch, queries, query_dim), torch.ones(batch, keys, key_dim)
    with FlopCounterMode(display=False) as counter:
        module(query, key)
    once = queries * query_dim + keys * key_dim + queries * keys
    return bool(counter.get_total_flops() <= 2 * batch * hidden * once)


def _minus(asking, asked):
    return asking[:, :, None] - asked[:, None]


def _times(asking, asked):
    return asking[:, :, None] * asked[:, None]


def _other_bends(scores_with):
    """Return the mistakes of another function than tanh in the hidden layer."""
    return tuple(
        Mistake(
            f"{name} for tanh",
            f"The hidden layer has a {name} where the formula has a tanh.",
            wrong=scores_with(bend),
            read=BETWEEN,
        )
        for name, bend in (
            ("relu", torch.relu),
            ("sigmoid", torch.sigmoid),
            ("sine", torch.sin),
            ("softmax", lambda hidden: hidden.softmax(dim=-1)),
            ("gelu", torch.nn.functional.gelu),
            ("hard tanh", torch.nn.functional.hardtanh),
        )
    )


NETWORKS = Task(
    name="networks",
    title="Scores that are small networks",
    names=("Additive", "Concat"),
    difficulty="medium",
    minutes=15,
    checks=(
        Check(
            "`Additive` is a network with one hidden layer, applied to every pair",
            1,
            gradients=True,
            inputs=with_network,
            ask=ask_additive,
            expected=additive,
            pure=True,
            mistakes=(
                *MAPS,
                PARAMETERS,
                *common(additive),
                Mistake(
                    "no tanh",
                    "The scores are a sum of one number for the query and one for the "
                    "key. Such a sum shifts a whole row, which the softmax does not "
                    "see: every query would look at the same keys. What is between the "
                    "sum and v?",
                    wrong=lambda query, key, w_query, w_key, v: (
                        hidden_of(query, key, w_query, w_key) @ v
                    ),
                    read=BETWEEN,
                ),
                Mistake(
                    "two tanh, then the sum",
                    "Query and key go through the tanh apart and are added after it. "
                    "Then the score is again a sum of one number for each, and every "
                    "query looks at the same keys.",
                    wrong=lambda query, key, w_query, w_key, v: (
                        (
                            torch.tanh(query @ w_query.T)[:, :, None]
                            + torch.tanh(key @ w_key.T)[:, None]
                        )
                        @ v
                    ),
                    read=BETWEEN,
                ),
                Mistake(
                    "tanh of the score",
                    "The tanh is taken of the finished score. It belongs to the hidden "
                    "layer, before v.",
                    wrong=lambda query, key, w_query, w_key, v: torch.tanh(
                        hidden_of(query, key, w_query, w_key) @ v
                    ),
                    read=BETWEEN,
                ),
                *_other_bends(
                    lambda bend: (
                        lambda query, key, w_query, w_key, v: (
                            bend(hidden_of(query, key, w_query, w_key)) @ v
                        )
                    )
                ),
                Mistake(
                    "two tanh, one after the other",
                    "Query and key go through a tanh each, and their sum through "
                    "another one. The formula has one tanh: of the sum of the two "
                    "projections.",
                    wrong=lambda query, key, w_query, w_key, v: (
                        bent_twice(query, key, w_query, w_key) @ v
                    ),
                    read=BETWEEN,
                ),
                *(
                    Mistake(
                        "a part round the tanh",
                        "The tanh is taken of one part, the projected query or the "
                        "projected key, or of each by itself, before the two are "
                        "added. The formula has the tanh of their sum.",
                        wrong=lambda query, key, w_query, w_key, v, bends=bends: (
                            (
                                bends[0](query @ w_query.T)[:, :, None]
                                + bends[1](key @ w_key.T)[:, None]
                            )
                            @ v
                        ),
                        read=BETWEEN,
                    )
                    for bends in (
                        (torch.tanh, torch.clone),
                        (torch.clone, torch.tanh),
                        (torch.tanh, torch.tanh),
                    )
                ),
                *(
                    Mistake(
                        "another operation between query and key",
                        "The projected query and the projected key are joined by "
                        "another operation than a sum before the tanh.",
                        wrong=lambda query, key, w_query, w_key, v, join=join: (
                            torch.tanh(join(query @ w_query.T, key @ w_key.T)) @ v
                        ),
                        read=BETWEEN,
                    )
                    for join in (_minus, _times)
                ),
                *(
                    Mistake(
                        "v has no part in it",
                        "The hidden units are averaged or added up, all alike. The "
                        "vector v says how much each of them counts.",
                        wrong=lambda query, key, w_query, w_key, v, join=join: join(
                            torch.tanh(hidden_of(query, key, w_query, w_key)), -1
                        ),
                        read=BETWEEN,
                    )
                    for join in (torch.sum, torch.mean)
                ),
                *(
                    Mistake(
                        "another size inside the tanh",
                        f"What goes into the tanh has been {how}. The formula has the "
                        "plain sum of the two projections.",
                        wrong=lambda query, key, w_query, w_key, v, by=by: (
                            torch.tanh(by * hidden_of(query, key, w_query, w_key)) @ v
                        ),
                        read=BETWEEN,
                    )
                    for how, by in (("halved", 0.5), ("doubled", 2))
                ),
                Mistake(
                    "hidden layer returned",
                    "There is a whole hidden layer for each pair. A score is one "
                    "number: what does v do?",
                    wrong=lambda query, key, w_query, w_key, v: torch.tanh(
                        hidden_of(query, key, w_query, w_key)
                    ),
                    read=BETWEEN,
                ),
                Mistake(
                    "an axis of size 1 too many",
                    "The scores have a last axis of size 1, left over from v.",
                    wrong=lambda **given: additive(**given)[..., None],
                    read=BETWEEN,
                ),
            ),
        ),
        Check(
            "`Additive` projects each query once and each key once",
            1,
            ask=_projections,
            expected=lambda: True,
            mistakes=(
                Mistake(
                    "projected for every pair",
                    "A key is projected again for every query (or a query for every "
                    "key). The projection of a key does not depend on the query, so "
                    "project first, and make pairs afterwards.",
                    when=lambda seen, expected, inputs: seen["result"].kind == "bool",
                    read=BETWEEN,
                ),
            ),
            once=True,
        ),
        Check(
            "`Concat` puts each query in front of each key",
            1,
            gradients=True,
            inputs=with_pairs,
            ask=lambda Additive, Concat, query, key, w, v: filled(
                Concat, (query.shape[-1], key.shape[-1], len(v)), [w, v], query, key
            ),
            expected=concat,
            pure=True,
            mistakes=(
                PARAMETERS,
                *common(concat),
                Mistake(
                    "keys in front of queries",
                    "The columns of W that belong to the query meet the key. The "
                    "formula has the query first: [query; key].",
                    wrong=lambda query, key, w, v: concat(key, query, w, v).transpose(
                        1, 2
                    ),
                    read=BETWEEN,
                ),
                Mistake(
                    "no tanh",
                    "The scores are linear in the query and in the key, so that every "
                    "query looks at the same keys. What is between W and v?",
                    wrong=lambda query, key, w, v: pairs_of(query, key) @ w.T @ v,
                    read=BETWEEN,
                ),
                *_other_bends(
                    lambda bend: (
                        lambda query, key, w, v: bend(pairs_of(query, key) @ w.T) @ v
                    )
                ),
                *TANH_ELSEWHERE,
                Mistake(
                    "pairs mixed up",
                    "There are as many pairs as there should be, but not the right "
                    "ones: rows of the result belong to several queries. `repeat` "
                    "copies the whole list, a b c a b c; which axis should it be?",
                    wrong=lambda query, key, w, v: (
                        torch.tanh(
                            torch.cat(
                                [
                                    query.repeat(1, key.shape[1], 1).view(
                                        len(query), query.shape[1], key.shape[1], -1
                                    ),
                                    pairs_of(query, key)[..., query.shape[-1] :],
                                ],
                                dim=-1,
                            )
                            @ w.T
                        )
                        @ v
                    ),
                    read=BETWEEN,
                ),
                Mistake(
                    "an axis of size 1 too many",
                    "The scores have a last axis of size 1, left over from v.",
                    wrong=lambda **given: concat(**given)[..., None],
                    read=BETWEEN,
                ),
            ),
        ),
    ),
)
