"""Task 5.7: what a window does to a model whose task needs a certain reach."""

from attncourse.exercises.efficient.layer import REACH, STACK
from attncourse.exercises.efficient.oracle import (
    CHAPTER,
    size,
)
from attncourse.exercises.efficient.reader import DISTANCES, train_reader
from attncourse.exercises.task import Check, Mistake, Task

__all__ = ["DISTANCES", "train_reader"]

QUALITY_SECTION = f"{CHAPTER}#what-does-the-window-do-to-quality"


OTHER_REACHES = (
    (
        "own place counted",
        "This counts the tokens that are seen, the own one included. The reach is the "
        "distance to the farthest of them.",
        lambda layers, window: layers * (window - 1) + 1,
    ),
    (
        "own place counted",
        "Each layer reaches window − 1 tokens back: its own token is one of its window "
        "in *every* layer, and not only in one.",
        lambda layers, window: layers * window - 1,
    ),
    (
        "one layer forgotten",
        "One layer is not counted. The first layer reads tokens, and each after it "
        "reads what the one before has written: all of them reach further back.",
        lambda layers, window: (layers - 1) * (window - 1),
    ),
    (
        "one layer forgotten",
        "One layer is not counted, and the own key is counted as a step.",
        lambda layers, window: (layers - 1) * window,
    ),
    (
        "one layer too many",
        "One layer more is counted than there are.",
        lambda layers, window: (layers + 1) * (window - 1),
    ),
    (
        "one step too few",
        "One token less than the reach. The oldest key of the last window is reached "
        "as well.",
        lambda layers, window: layers * (window - 1) - 1,
    ),
    (
        "both sides counted",
        "Twice the reach: the layers are causal and look back only.",
        lambda layers, window: 2 * layers * (window - 1),
    ),
    (
        "both sides counted",
        "The width of a two-sided window is used. The layers are causal: a window "
        "reaches window − 1 tokens back.",
        lambda layers, window: 2 * layers * window,
    ),
    (
        "half of the window counted",
        "Only half of the window is counted for each layer. It does not lie around the "
        "token; it reaches back from it.",
        lambda layers, window: layers * (window // 2),
    ),
    (
        "layers and window added",
        "Layers and window are added up. Each layer reaches back as far again as the "
        "one before.",
        lambda layers, window: layers + window,
    ),
    (
        "layers and window added",
        "Layers and window are added up. Each layer reaches back as far again as the "
        "one before.",
        lambda layers, window: layers + window - 1,
    ),
    (
        "window one longer",
        "Each layer is said to reach window + 1 tokens back. The own key is one of the "
        "window, so it is window − 1.",
        lambda layers, window: layers * (window + 1),
    ),
    (
        "reach doubled by each layer",
        "The reach is said to double with each layer. It grows by the same number each "
        "time.",
        lambda layers, window: (window - 1) * 2 ** (layers - 1),
    ),
)


def _answers(reach, layer):
    found = train_reader(layer, window=7, layers=1, steps=220)
    return {f"right at distance {d}": share > 0.5 for d, share in found.items()}


QUALITY = Task(
    name="quality",
    title="What the window does to a model",
    names=("reach", "LocalLayer"),
    difficulty="medium",
    minutes=20,
    needs=("local",),
    checks=(
        Check(
            "the reach of a stack of layers",
            0.5,
            inputs=lambda generator: {
                "layers": size(generator, 2, 6),
                "window": size(generator, 3, 9),
            },
            ask=lambda reach, layer, layers, window: reach(layers, window),
            expected=lambda layers, window: layers * (window - 1),
            mistakes=(
                Mistake(
                    "own key counted as a step",
                    "A window of w, the own key included, reaches w − 1 back, and each "
                    "layer starts from where the one before has ended.",
                    wrong=lambda layers, window: layers * window,
                    read=REACH,
                ),
                Mistake(
                    "one layer only",
                    "This is the reach of one layer. The next layer reads vectors that "
                    "have already read.",
                    when=lambda seen, expected, inputs: (
                        seen["result"].values[0]
                        in (inputs["window"], inputs["window"] - 1)
                    ),
                    read=REACH,
                ),
                Mistake(
                    "reaches multiplied",
                    "The reaches of the layers are multiplied. They add up.",
                    when=lambda seen, expected, inputs: (
                        seen["result"].values[0]
                        in (
                            inputs["window"] ** inputs["layers"],
                            (inputs["window"] - 1) ** inputs["layers"],
                        )
                    ),
                    read=REACH,
                ),
                *(
                    Mistake(
                        name,
                        says,
                        wrong=lambda layers, window, far=far: far(layers, window),
                        read=REACH,
                    )
                    for name, says, far in OTHER_REACHES
                ),
            ),
        ),
        STACK,
        Check(
            "one layer of window 7 learns the distances 2 and 6, and cannot learn 12",
            1,
            ask=_answers,
            expected=lambda: {f"right at distance {d}": d <= 6 for d in DISTANCES},
            mistakes=(
                Mistake(
                    "nothing is learned",
                    "The model guesses at every distance. Does what attention returns "
                    "reach the output, and does the gradient reach the weights?",
                    when=lambda seen, expected, inputs: all(
                        part.kind == "bool" and not part.values.any()
                        for part in seen.values()
                    ),
                    read=QUALITY_SECTION,
                ),
                Mistake(
                    "sees beyond its window",
                    "The model answers at distance 12, which one layer of window 7 "
                    "cannot see.",
                    when=lambda seen, expected, inputs: bool(
                        seen["right at distance 12"].values[0]
                    ),
                    read=QUALITY_SECTION,
                ),
                Mistake(
                    "does not see its whole window",
                    "The model answers near questions only. Distance 6 is the oldest "
                    "key of a window of 7.",
                    when=lambda seen, expected, inputs: bool(
                        seen["right at distance 2"].values[0]
                    ),
                    read=QUALITY_SECTION,
                ),
            ),
            once=True,
        ),
    ),
)
