"""Task products: scores that are products."""

from __future__ import annotations

import torch

from attncourse.exercises.seen import near
from attncourse.exercises.task import Check, Mistake, Task
from attncourse.exercises.variants.formulas import (
    BETWEEN,
    DIVIDE,
    NO_GRADIENT,
    PARAMETERS,
    common,
    filled,
    general,
    one_width,
    product,
    with_matrix,
)


def _scaled(query, key):
    return product(query, key) / query.shape[-1] ** 0.5


PRODUCTS = Task(
    name="products",
    title="Scores that are products",
    names=("Dot", "ScaledDot", "General"),
    difficulty="easy",
    minutes=10,
    checks=(
        Check(
            "`Dot` multiplies every query with every key",
            0.5,
            inputs=one_width,
            ask=lambda Dot, ScaledDot, General, query, key: Dot()(query, key),
            expected=product,
            pure=True,
            mistakes=(
                *common(product),
                Mistake(
                    "cosine",
                    "These are cosines: the lengths of the vectors have been divided "
                    "away. In a dot product a long vector counts for more.",
                    wrong=lambda query, key: product(
                        torch.nn.functional.normalize(query, dim=-1),
                        torch.nn.functional.normalize(key, dim=-1),
                    ),
                    read=BETWEEN,
                ),
                Mistake(
                    "distances for products",
                    "These are distances, with a minus. A dot product also grows with "
                    "the lengths of the two vectors.",
                    wrong=lambda query, key: -(torch.cdist(query, key) ** 2),
                    read=BETWEEN,
                ),
                Mistake(
                    "negative scores lost",
                    "Negative products have become 0. A score may be negative.",
                    wrong=lambda query, key: product(query, key).relu(),
                    read=BETWEEN,
                ),
                Mistake(
                    "sentences added up",
                    "The products with the keys of all sentences are added up. Each "
                    "sentence of the batch has its own keys.",
                    wrong=lambda query, key: product(query, key.sum(0).expand_as(key)),
                    read=BETWEEN,
                ),
                Mistake(
                    "dot is scaled",
                    "`Dot` is the plain product. The division belongs to `ScaledDot`.",
                    wrong=_scaled,
                    read=DIVIDE,
                ),
            ),
        ),
        Check(
            "`ScaledDot` keeps the spread of the scores the same for every width",
            0.5,
            inputs=one_width,
            ask=lambda Dot, ScaledDot, General, query, key: ScaledDot()(query, key),
            expected=_scaled,
            mistakes=(
                *common(_scaled),
                Mistake(
                    "no scaling",
                    "These are the plain products. Their spread grows with the width "
                    "of the vectors.",
                    wrong=product,
                    read=DIVIDE,
                ),
                Mistake(
                    "divided by the width",
                    "The products are divided by the width itself. The spread of a sum "
                    "of d products grows with the root of d.",
                    wrong=lambda query, key: product(query, key) / query.shape[-1],
                    read=DIVIDE,
                ),
                Mistake(
                    "multiplied by the root",
                    "The products are multiplied by the root of the width, which makes "
                    "their spread grow faster still.",
                    wrong=lambda query, key: (
                        product(query, key) * query.shape[-1] ** 0.5
                    ),
                    read=DIVIDE,
                ),
                *(
                    Mistake(
                        f"scaled by {what}",
                        f"The products are divided by the root of {what}. Their "
                        "spread depends on how many numbers are added up in one "
                        "product.",
                        wrong=lambda query, key, divisor=divisor: (
                            product(query, key) / divisor(query, key) ** 0.5
                        ),
                        read=DIVIDE,
                    )
                    for what, divisor in (
                        ("the number of keys", lambda query, key: key.shape[1]),
                        ("the number of queries", lambda query, key: query.shape[1]),
                        ("the size of the batch", lambda query, key: len(query)),
                        (
                            "both widths together",
                            lambda query, key: query.shape[-1] + key.shape[-1],
                        ),
                    )
                ),
            ),
        ),
        Check(
            "`General` compares vectors of different widths through one matrix",
            1,
            gradients=True,
            inputs=with_matrix,
            ask=lambda Dot, ScaledDot, General, query, key, weight: filled(
                General, (query.shape[-1], key.shape[-1]), [weight], query, key
            ),
            expected=general,
            pure=True,
            mistakes=(
                PARAMETERS,
                NO_GRADIENT,
                *common(general),
                Mistake(
                    "matrix on the wrong side",
                    "The matrix does not fit what it is multiplied with. `project` "
                    "maps a *key* to the width of a query; the query is left as it is.",
                    when=lambda seen, expected, inputs: any(
                        word in seen["result"].text for word in ("mat1", "batch2")
                    ),
                    read=BETWEEN,
                ),
                Mistake(
                    "general is scaled",
                    "The scores are divided by the root of a width. Luong's general "
                    "score has no such factor: the matrix can learn it.",
                    when=lambda seen, expected, inputs: _is_multiple(seen, expected),
                    read=BETWEEN,
                ),
                Mistake(
                    "sentences added up",
                    "The products with the keys of all sentences are added up. Each "
                    "sentence of the batch has its own keys.",
                    wrong=lambda query, key, weight: general(
                        query, key.sum(0).expand_as(key), weight
                    ),
                    read=BETWEEN,
                ),
                *(
                    Mistake(
                        "another matrix",
                        f"The matrix of the layer is not used as it is: {how}.",
                        wrong=lambda query, key, weight, of=of: general(
                            query, key, of(weight)
                        ),
                        read=BETWEEN,
                    )
                    for how, of in (
                        ("its numbers have lost their sign", torch.abs),
                        ("its numbers have been squared", torch.square),
                        ("it has been through a softmax", lambda w: w.softmax(-1)),
                        ("it has been through a tanh", torch.tanh),
                    )
                ),
                Mistake(
                    "general through a tanh",
                    "The mapped keys go through a tanh. The general score is linear in "
                    "the query and in the key; the tanh belongs to the additive one.",
                    wrong=lambda query, key, weight: product(
                        query, torch.tanh(key @ weight.T)
                    ),
                    read=BETWEEN,
                ),
            ),
        ),
    ),
)


def _is_multiple(seen, expected):
    ours, wanted = seen["result"].values, expected["result"].values
    if ours.shape != wanted.shape:
        return False
    ratio = ours @ wanted / (wanted @ wanted)
    return near(ours, ratio * wanted) and not near(ratio, 0)
