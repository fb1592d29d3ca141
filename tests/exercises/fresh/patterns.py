"""Answers to exercise 2 of a class that was made up for it, right and wrong."""

from tests.exercises.answers import Wrong

WRONG = [
    Wrong(
        "ablation",
        "the gradient is cut off",
        (0,),
        "gradients cut off",
        change=(
            "side_by_side = inputs[0].clone()",
            "side_by_side = inputs[0].detach().clone()",
        ),
    ),
    Wrong(
        "which",
        "exactly halfway left out",
        (0,),
        "halfway is not enough",
        change=(">= (alike[name] + 1) / 2", "> (alike[name] + 1) / 2"),
    ),
]
