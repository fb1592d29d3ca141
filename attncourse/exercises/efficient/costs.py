"""Task 5.5: formulas for the largest tensor of each way to compute attention."""

from attncourse.exercises.efficient.cost_mistakes import (
    COST,
    OTHER_BLOCKS,
    TOO_LARGE,
    blocks_case,
    case,
    fused,
    fused_case,
    largest,
    of_lengths,
    of_windows,
    other_tensors,
    up,
)
from attncourse.exercises.efficient.oracle import BLOCKS, size
from attncourse.exercises.task import Check, Mistake, Task


def _lengths(generator):
    return {
        "heads": size(generator, 2, 4),
        "short": size(generator, 7, 13),
        "long": size(generator, 200, 300),
        "width": size(generator, 16, 24),
        "window": size(generator, 3, 5),
    }


def _windows(generator):
    return {
        "heads": size(generator, 2, 4),
        "tokens": 16 * size(generator, 6, 9) + size(generator, 3, 13),
        "width": size(generator, 8, 12),
        "narrow": size(generator, 4, 6),
        "wide": 16,
    }


COSTS = Task(
    name="costs",
    title="Memory by formula",
    names=("largest_tensor",),
    difficulty="medium",
    minutes=20,
    checks=(
        Check(
            "written out",
            0.5,
            inputs=_lengths,
            ask=of_lengths("written out"),
            expected=lambda **sizes: of_lengths("written out")(largest, **sizes),
            mistakes=(
                Mistake(
                    "heads forgotten",
                    "These are the scores of one head. Every head has its own.",
                    wrong=case(
                        of_lengths("written out"),
                        lambda h, n, d, w: {"written out": max(n * n, n * d)},
                    ),
                    read=COST,
                ),
                Mistake(
                    "heads forgotten",
                    "These are the scores of one head. Every head has its own.",
                    wrong=case(
                        of_lengths("written out"),
                        lambda h, n, d, w: {"written out": n * n},
                    ),
                    read=COST,
                ),
                Mistake(
                    "output forgotten",
                    "Right for long sequences. For short ones the scores are not the "
                    "largest tensor.",
                    wrong=case(
                        of_lengths("written out"),
                        lambda h, n, d, w: {"written out": h * n * n},
                    ),
                    read=COST,
                ),
                Mistake(
                    "window counted",
                    "The window makes no difference here: every score is computed, "
                    "and most are hidden afterwards.",
                    wrong=case(
                        of_lengths("written out"),
                        lambda h, n, d, w: {"written out": max(h * n * w, h * n * d)},
                    ),
                    read=COST,
                ),
                *other_tensors(of_lengths("written out"), "written out"),
                *TOO_LARGE,
            ),
        ),
        Check(
            "fused, with a mask and without",
            0.5,
            inputs=_lengths,
            ask=fused,
            expected=lambda **sizes: fused(largest, **sizes),
            mistakes=(
                Mistake(
                    "a mask for each head",
                    "The mask is counted once for each head. All heads share one.",
                    wrong=fused_case(
                        "fused, masked", lambda h, n, d, w: max(h * n * n, h * n * d)
                    ),
                    read=COST,
                ),
                Mistake(
                    "mask costs nothing",
                    "The fused kernel never keeps the scores, but it turns the boolean "
                    "mask into numbers first. How many?",
                    wrong=fused_case("fused, masked", lambda h, n, d, w: h * n * d),
                    read=COST,
                ),
                Mistake(
                    "output forgotten",
                    "Right for long sequences. For short ones the mask is not the "
                    "largest tensor.",
                    wrong=fused_case("fused, masked", lambda h, n, d, w: n * n),
                    read=COST,
                ),
                *(
                    Mistake(
                        "fused attention with n² memory",
                        "Fused attention without a mask keeps no scores. The largest "
                        "tensor that it makes is the one that it returns.",
                        wrong=fused_case("fused, causal", formula),
                        read=COST,
                    )
                    for formula in (
                        lambda h, n, d, w: h * n * n,
                        lambda h, n, d, w: n * n,
                        lambda h, n, d, w: max(h * n * n, h * n * d),
                        lambda h, n, d, w: max(n * n, h * n * d),
                    )
                ),
                *other_tensors(fused, "fused, masked"),
                *other_tensors(fused, "fused, causal"),
                *TOO_LARGE,
            ),
        ),
        Check(
            "local attention in blocks, causal",
            1,
            inputs=_windows,
            ask=of_windows,
            expected=lambda **sizes: of_windows(largest, **sizes),
            mistakes=(
                Mistake(
                    "only the band",
                    "n · window scores for each head: these are the scores of the "
                    "band. In blocks more is computed, whole rectangles.",
                    wrong=blocks_case(lambda h, n, d, w: h * n * w),
                    read=BLOCKS,
                ),
                Mistake(
                    "one block of keys",
                    "A block of queries meets two blocks of keys: its own and the one "
                    "before.",
                    wrong=blocks_case(lambda h, n, d, w: h * up(n, w) * w * max(w, d)),
                    read=BLOCKS,
                ),
                Mistake(
                    "three blocks of keys",
                    "Three blocks of keys are for a two-sided window. A causal one "
                    "needs fewer.",
                    wrong=blocks_case(
                        lambda h, n, d, w: h * up(n, w) * w * 3 * max(w, d)
                    ),
                    read=BLOCKS,
                ),
                Mistake(
                    "copied keys forgotten",
                    "Right where the window is wide. Where it is narrower than the "
                    "vectors are long, the scores are not the largest tensor: the "
                    "keys beside those of the block before are.",
                    wrong=blocks_case(lambda h, n, d, w: h * up(n, w) * w * 2 * w),
                    read=BLOCKS,
                ),
                Mistake(
                    "scores forgotten",
                    "Right where the window is narrow. Where it is wider than the "
                    "vectors are long, there are more scores than keys.",
                    wrong=blocks_case(lambda h, n, d, w: h * up(n, w) * w * 2 * d),
                    read=BLOCKS,
                ),
                Mistake(
                    "last block not filled up",
                    "Nearly right: the last block is filled up to a whole one, and "
                    "its padding is computed like the rest.",
                    wrong=blocks_case(lambda h, n, d, w: h * n * 2 * max(w, d)),
                    read=BLOCKS,
                ),
                Mistake(
                    "last block forgotten",
                    "The tokens after the last whole block are not counted. They are a "
                    "block as well, filled up.",
                    wrong=blocks_case(
                        lambda h, n, d, w: h * (n // w) * w * 2 * max(w, d)
                    ),
                    read=BLOCKS,
                ),
                Mistake(
                    "heads forgotten",
                    "This is the number for one head.",
                    wrong=blocks_case(lambda h, n, d, w: up(n, w) * w * 2 * max(w, d)),
                ),
                *(
                    Mistake(name, says, wrong=blocks_case(formula), read=BLOCKS)
                    for name, (says, formula) in OTHER_BLOCKS.items()
                ),
                *other_tensors(of_windows, "in blocks"),
                *TOO_LARGE,
            ),
        ),
    ),
)
