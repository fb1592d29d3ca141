"""Task 5.1: the mask of local attention."""

from attncourse.exercises.efficient.oracle import (
    FAULTS,
    WINDOW,
    band,
    size,
    window_mask,
)
from attncourse.exercises.efficient.window_views import view_mistakes
from attncourse.exercises.task import Check, Mistake, Task


def _sizes(generator):
    tokens, beyond = size(generator, 4, 7), size(generator, 0, 2) == 0
    return {"tokens": tokens, "window": tokens if beyond else size(generator, 2, 4)}


def _mask_check(causal, points, claim, mistakes):
    return Check(
        claim,
        points,
        inputs=_sizes,
        ask=lambda mask, **sizes: mask(**sizes, **({"causal": True} if causal else {})),
        expected=lambda tokens, window: window_mask(tokens, window, causal),
        mistakes=(*mistakes, *view_mistakes("result", causal)),
    )


def _reaches_ahead(seen, expected, inputs):
    """Say whether all queries, wherever they stand, see the key after them."""
    mask = seen["result"].values.reshape(expected["result"].shape).astype(bool)
    return mask.diagonal(1).all() and mask.diagonal().all()


def _lopsided(seen, expected):
    mask = seen["result"].values.reshape(expected["result"].shape)
    return seen["result"].kind == "bool" and (mask != mask.T).any()


INVERTED = (
    "The entries are the wrong way round: True stands where a query may not "
    "look. In this course True means 'may attend'."
)

MASK = Task(
    name="mask",
    title="The mask of a window",
    names=("local_mask",),
    difficulty="easy",
    minutes=8,
    checks=(
        _mask_check(
            True,
            1,
            "causal: each query sees the `window` newest keys, its own included",
            (
                Mistake(
                    "one key too many",
                    "Count the True entries of the last row: there is one more than "
                    "the window. The query's own key is one of the window.",
                    wrong=lambda tokens, window: band(tokens, window),
                    read=FAULTS,
                ),
                Mistake(
                    "one key too few",
                    "Count the True entries of the last row: there is one fewer than "
                    "the window.",
                    wrong=lambda tokens, window: band(tokens, window - 2),
                    read=FAULTS,
                ),
                Mistake(
                    "own key left out",
                    "The diagonal is False: no query sees its own key. The own key is "
                    "the newest of the window.",
                    wrong=lambda tokens, window: band(tokens, window, -1),
                    read=WINDOW,
                ),
                Mistake(
                    "own key left out",
                    "The diagonal is False: no query sees its own key, and the window "
                    "is one key short. The own key is the newest of the window.",
                    wrong=lambda tokens, window: band(tokens, window - 1, -1),
                    read=WINDOW,
                ),
                Mistake(
                    "inverted",
                    INVERTED,
                    wrong=lambda tokens, window: ~window_mask(tokens, window, True),
                ),
                Mistake(
                    "rows and columns exchanged",
                    "Each query sees the keys that come after it. Rows are queries and "
                    "columns are keys.",
                    wrong=lambda tokens, window: window_mask(tokens, window, True).T,
                ),
                Mistake(
                    "two-sided in place of causal",
                    "The window reaches to both sides: a query sees keys that come "
                    "after it. Causal means that it must not.",
                    when=_reaches_ahead,
                    read=WINDOW,
                ),
                Mistake(
                    "no window",
                    "The mask is causal, but nothing is too far away: the last row "
                    "sees every key.",
                    wrong=lambda tokens, window: band(tokens, tokens),
                    read=WINDOW,
                ),
            ),
        ),
        _mask_check(
            False,
            1,
            "two-sided: each query sees the keys at most `window` away",
            (
                Mistake(
                    "distance too short by one",
                    "The farthest key that a query sees is window − 1 away. 'At most "
                    "`window` away' includes the distance `window` itself.",
                    wrong=lambda tokens, window: band(tokens, window - 1, window - 1),
                    read=FAULTS,
                ),
                Mistake(
                    "distance too long by one",
                    "The farthest key that a query sees is window + 1 away.",
                    wrong=lambda tokens, window: band(tokens, window + 1, window + 1),
                    read=FAULTS,
                ),
                Mistake(
                    "sides of different length",
                    "A query sees further to one side than to the other. Two-sided, "
                    "distance counts alike in both directions.",
                    when=lambda seen, expected, inputs: _lopsided(seen, expected),
                    read=WINDOW,
                ),
                Mistake(
                    "window shared by the sides",
                    "The window is split between the two sides. Here `window` is the "
                    "distance to *each* side, so that 2 · window + 1 keys are seen.",
                    wrong=lambda tokens, window: band(tokens, window // 2, window // 2),
                    read=WINDOW,
                ),
                Mistake(
                    "inverted",
                    INVERTED,
                    wrong=lambda tokens, window: ~window_mask(tokens, window, False),
                ),
            ),
        ),
    ),
)
