"""Task 2.3: a picture of each head."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch

from attncourse.exercises.patterns.drawings import drawn, one_column
from attncourse.exercises.patterns.models import draw
from attncourse.exercises.task import Check, Mistake, Task

ROWS = "chapters/02_attention_types#one-token-asks-the-others"
TRAINED = "chapters/03_multi_head#a-score-for-each-head"
COLUMN = "the pictures stand one above another"
WORDS = ("the", "old", "cat", "sees", "a", "dog")


def _inputs(generator, fewest=2):
    heads, queries = draw(generator, fewest, 3), draw(generator, 2, 3)
    scores = 2 * torch.randn(heads, queries, queries + 1, generator=generator)
    places = torch.randint(len(WORDS), (2 * queries + 1,), generator=generator)
    words = [WORDS[i] for i in places.tolist()]
    return {
        "weights": 0.9 * scores.softmax(-1) + 0.03,
        "queries": words[:queries],
        "keys": words[queries:],
    }


def _pictures(draw_heads, weights, queries, keys, beside=False):
    import matplotlib.pyplot as plt

    before = set(plt.get_fignums())
    try:
        axes = draw_heads(weights, queries, keys)
        if axes is None:
            raise ValueError("the answer returns None and not the axes")
        axes = np.ravel(axes)
        for figure in {one.figure for one in axes}:
            figure.canvas.draw()  # this puts the ticks in their places
        if beside and one_column(axes):
            raise ValueError(COLUMN)
        return [drawn(one) for one in axes]
    finally:
        for number in set(plt.get_fignums()) - before:
            plt.close(number)


def _data(draw_heads, **inputs):
    pictures = _pictures(draw_heads, **inputs, beside=True)
    if len({picture["data"].shape for picture in pictures}) > 1:
        raise ValueError("the pictures do not all have the same size")
    return np.stack([picture["data"] for picture in pictures])


def _scale(draw_heads, **inputs):
    return np.stack([picture["scale"] for picture in _pictures(draw_heads, **inputs)])


def _texts(draw_heads, **inputs):
    pictures = _pictures(draw_heads, **inputs)
    numbers = [
        [i for i in range(len(pictures)) if str(i) in picture["title"]]
        for picture in pictures
    ]
    return {
        **{
            f"{what} of head {i}": picture[what]
            for i, picture in enumerate(pictures)
            for what in ("rows", "columns")
        },
        "numbers in the titles": " ".join(str(n[0]) if n else "-" for n in numbers),
    }


def _right_texts(weights, queries, keys):
    texts = {}
    for i in range(len(weights)):
        texts[f"rows of head {i}"] = " ".join(queries)
        texts[f"columns of head {i}"] = " ".join(keys)
    return {
        **texts,
        "numbers in the titles": " ".join(map(str, range(len(weights)))),
    }


def _other(change):
    return lambda weights, queries, keys: change(weights)


def _texts_differ(*kinds):
    """Say whether texts are wrong in the places whose names hold one of the words."""

    def when(seen, expected, inputs):
        wrong = {k for k in expected if seen[k].text != expected[k].text}
        return bool(wrong) and all(any(kind in k for kind in kinds) for k in wrong)

    return when


PICTURES = Task(
    name="pictures",
    title="A picture of each head",
    names=("draw_heads",),
    difficulty="easy",
    minutes=10,
    checks=(
        Check(
            "there is one picture for each head: queries in rows from the top, keys "
            "in columns",
            1,
            inputs=_inputs,
            tensors=False,
            ask=_data,
            expected=lambda weights, queries, keys: weights.double(),
            pure=True,
            mistakes=(
                Mistake(
                    "pictures transposed",
                    "Rows and columns are exchanged: what stands in a row of the "
                    "picture is a column of the weights. A row should show where one "
                    "query looks.",
                    wrong=_other(lambda w: w.double().transpose(1, 2)),
                    read=ROWS,
                ),
                Mistake(
                    "upside down",
                    "The first query is at the bottom of the picture. Read from the "
                    "top, as text is, the rows stand in the wrong order.",
                    wrong=_other(lambda w: w.double().flip(1)),
                    read=ROWS,
                ),
                Mistake(
                    "heads averaged away",
                    "There is a single picture: the mean of the heads. It shows the "
                    "map of none of them.",
                    wrong=_other(lambda w: w.double().mean(0, keepdim=True)),
                    read="chapters/03_multi_head#why-is-one-head-not-enough",
                ),
                Mistake(
                    "one head in all pictures",
                    "All pictures show the same head.",
                    when=lambda seen, expected, inputs: (
                        seen["result"].shape == expected["result"].shape
                        and (
                            lambda maps: (
                                np.allclose(maps, maps[:1])
                                and not np.allclose(
                                    maps, expected["result"].values.reshape(maps.shape)
                                )
                            )
                        )(seen["result"].values.reshape(seen["result"].shape[0], -1))
                    ),
                    read=TRAINED,
                ),
                Mistake(
                    "each row stretched",
                    "Each row has been divided by its largest weight. A query that "
                    "looks everywhere alike is then drawn as dark as one that looks "
                    "at a single key.",
                    wrong=_other(lambda w: (w / w.amax(-1, keepdim=True)).double()),
                    read=TRAINED,
                ),
                Mistake(
                    "one above another",
                    "The pictures stand one above another. Side by side, the rows of "
                    "all heads are at one height, and can be compared.",
                    when=lambda seen, expected, inputs: COLUMN in seen["result"].text,
                    read=TRAINED,
                ),
                Mistake(
                    "the axes are not returned",
                    "The answer returns nothing, so nobody can look at the pictures "
                    "or add to them. It should return the axes, one for each head.",
                    when=lambda seen, expected, inputs: (
                        "returns None" in seen["result"].text
                    ),
                ),
            ),
        ),
        Check(
            "all pictures have the scale 0 to 1, so that a colour means one weight",
            0.5,
            inputs=_inputs,
            tensors=False,
            ask=_scale,
            expected=lambda weights, queries, keys: np.array(
                [[0.0, 1.0]] * len(weights)
            ),
            mistakes=(
                Mistake(
                    "a scale for each picture",
                    "The colours run from the smallest to the largest weight of each "
                    "picture. The darkest cell of a head that looks everywhere alike "
                    "is then as dark as that of a head which looks at one key only. "
                    "Here are the two ends of the scale for each head.",
                    wrong=_other(
                        lambda w: (
                            torch.stack([w.amin((1, 2)), w.amax((1, 2))], 1)
                            .double()
                            .numpy()
                        )
                    ),
                    read=TRAINED,
                ),
                Mistake(
                    "a scale made from the data",
                    "The scale depends on the weights that are drawn. Two such "
                    "pictures, made one after the other, cannot be compared. Here are "
                    "the two ends of the scale for each head.",
                    when=lambda seen, expected, inputs: (
                        seen["result"].shape == expected["result"].shape
                    ),
                    read=TRAINED,
                ),
            ),
        ),
        Check(
            "each picture has its tokens at rows and columns, and its head's number "
            "in the title",
            0.5,
            inputs=partial(_inputs, fewest=1),
            tensors=False,
            ask=_texts,
            expected=_right_texts,
            mistakes=(
                Mistake(
                    "one head is no list",
                    "With one head the answer raises an error. For a single picture "
                    "`plt.subplots` returns the axes themselves and no array of them, "
                    "unless it is told to keep the array.",
                    when=lambda seen, expected, inputs: (
                        len(inputs["weights"]) == 1
                        and seen["result"].kind == "error"
                        and "Axes" in seen["result"].text
                    ),
                ),
                Mistake(
                    "labels exchanged",
                    "The keys' tokens stand at the rows and the queries' tokens at "
                    "the columns.",
                    when=lambda seen, expected, inputs: (
                        seen["rows of head 0"].text.split()
                        == inputs["keys"][: len(inputs["queries"])]
                    ),
                    read=ROWS,
                ),
                Mistake(
                    "labels at the first picture only",
                    "The first picture has all its tokens, and others lack them.",
                    when=lambda seen, expected, inputs: (
                        all(
                            seen[f"{w} of head 0"].text
                            == expected[f"{w} of head 0"].text
                            for w in ("rows", "columns")
                        )
                        and _texts_differ("of head")(seen, expected, inputs)
                    ),
                    read=ROWS,
                ),
                Mistake(
                    "no number in the title",
                    "The tokens are there, but the titles do not say which head is "
                    "drawn. Heads are counted from 0.",
                    when=_texts_differ("numbers"),
                    read=TRAINED,
                ),
                Mistake(
                    "tokens not at the ticks",
                    "Some row or column is without its token, or has that of another: "
                    "a dash stands where there is none. There should be one tick for "
                    "each token.",
                    when=_texts_differ("rows", "columns", "numbers"),
                    read=ROWS,
                ),
            ),
        ),
    ),
)
