"""Task 5.5: formulas for the largest tensor of each way to compute attention."""

from attncourse.exercises.efficient.oracle import BLOCKS, CHAPTER, size
from attncourse.exercises.task import Check, Mistake, Task

COST = f"{CHAPTER}#what-does-n2-cost"


def largest(heads, tokens, width, window):
    """Return the numbers in the largest tensor of each way, as a dict."""
    output = heads * tokens * width
    blocks = -(-tokens // window)
    return {
        "written out": max(heads * tokens**2, output),
        "fused, masked": max(tokens**2, output),
        "fused, causal": output,
        "in blocks": heads * blocks * window * 2 * max(window, width),
    }


def _lengths(generator):
    return {
        "heads": size(generator, 2, 4),
        "short": size(generator, 7, 13),
        "long": size(generator, 200, 300),
        "width": size(generator, 16, 24),
        "window": size(generator, 3, 5),
    }


def _of_lengths(*names):
    """Return the `ask` for some ways, at a short and at a long sequence."""

    def ask(formulas, heads, short, long, width, window):
        return {
            f"{name}, {n} tokens": _whole(formulas(heads, n, width, window)[name])
            for name in names
            for n in (short, long)
        }

    return ask


def _windows(generator):
    return {
        "heads": size(generator, 2, 4),
        "tokens": 16 * size(generator, 6, 9) + size(generator, 3, 13),
        "width": size(generator, 8, 12),
        "narrow": size(generator, 4, 6),
        "wide": 16,
    }


def _of_windows(formulas, heads, tokens, width, narrow, wide):
    return {
        f"window {w}": _whole(formulas(heads, tokens, width, w)["in blocks"])
        for w in (narrow, wide)
    }


def _whole(number):
    return int(number) if number == int(number) else number


def _instead(change):
    """Return the formulas, some replaced by `change`, which takes the sizes."""
    return lambda *sizes: largest(*sizes) | change(*sizes)


def _case(ask, change):
    return lambda **sizes: ask(_instead(change), **sizes)


def _fused_case(name, formula):
    return _case(
        _of_lengths("fused, masked", "fused, causal"),
        lambda *sizes: {name: formula(*sizes)},
    )


def _blocks_case(formula):
    return _case(_of_windows, lambda *sizes: {"in blocks": formula(*sizes)})


def _up(tokens, window):
    return -(-tokens // window)


def _times(factor):
    """Say whether all numbers are `factor` times too large."""

    def when(seen, expected, inputs):
        pairs = [(seen[k].values[0], expected[k].values[0]) for k in expected]
        return all(found == factor * wanted for found, wanted in pairs)

    return when


TOO_LARGE = (
    Mistake(
        "bytes for numbers",
        "The result is four times too large: these are bytes. A float32 has four of "
        "them; the number of *numbers* is asked for.",
        when=_times(4),
        read=COST,
    ),
    Mistake(
        "more than the largest tensor",
        "The result is never too small, and often too large. The largest single tensor "
        "is asked for, and not the sum of several.",
        when=lambda seen, expected, inputs: all(
            seen[name].values[0] >= expected[name].values[0] for name in expected
        ),
        read=COST,
    ),
)

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
            ask=_of_lengths("written out"),
            expected=lambda **sizes: _of_lengths("written out")(largest, **sizes),
            mistakes=(
                Mistake(
                    "heads forgotten",
                    "These are the scores of one head. Every head has its own.",
                    wrong=_case(
                        _of_lengths("written out"),
                        lambda h, n, d, w: {"written out": max(n * n, n * d)},
                    ),
                    read=COST,
                ),
                Mistake(
                    "heads forgotten",
                    "These are the scores of one head. Every head has its own.",
                    wrong=_case(
                        _of_lengths("written out"),
                        lambda h, n, d, w: {"written out": n * n},
                    ),
                    read=COST,
                ),
                Mistake(
                    "output forgotten",
                    "Right for long sequences. For short ones the scores are not the "
                    "largest tensor.",
                    wrong=_case(
                        _of_lengths("written out"),
                        lambda h, n, d, w: {"written out": h * n * n},
                    ),
                    read=COST,
                ),
                Mistake(
                    "window counted",
                    "The window makes no difference here: every score is computed, "
                    "and most are hidden afterwards.",
                    wrong=_case(
                        _of_lengths("written out"),
                        lambda h, n, d, w: {"written out": max(h * n * w, h * n * d)},
                    ),
                    read=COST,
                ),
                *TOO_LARGE,
            ),
        ),
        Check(
            "fused, with a mask and without",
            0.5,
            inputs=_lengths,
            ask=_of_lengths("fused, masked", "fused, causal"),
            expected=lambda **sizes: _of_lengths("fused, masked", "fused, causal")(
                largest, **sizes
            ),
            mistakes=(
                Mistake(
                    "a mask for each head",
                    "The mask is counted once for each head. All heads share one.",
                    wrong=_fused_case(
                        "fused, masked", lambda h, n, d, w: max(h * n * n, h * n * d)
                    ),
                    read=COST,
                ),
                Mistake(
                    "mask costs nothing",
                    "The fused kernel never keeps the scores, but it turns the boolean "
                    "mask into numbers first. How many?",
                    wrong=_fused_case("fused, masked", lambda h, n, d, w: h * n * d),
                    read=COST,
                ),
                Mistake(
                    "output forgotten",
                    "Right for long sequences. For short ones the mask is not the "
                    "largest tensor.",
                    wrong=_fused_case("fused, masked", lambda h, n, d, w: n * n),
                    read=COST,
                ),
                Mistake(
                    "fused attention with n² memory",
                    "Fused attention without a mask keeps no scores. The largest "
                    "tensor that it makes is the one that it returns.",
                    when=lambda seen, expected, inputs: all(
                        seen[name].values[0] > expected[name].values[0]
                        for name in list(expected)[3:]
                    ),
                    read=COST,
                ),
                *TOO_LARGE,
            ),
        ),
        Check(
            "local attention in blocks, causal",
            1,
            inputs=_windows,
            ask=_of_windows,
            expected=lambda **sizes: _of_windows(largest, **sizes),
            mistakes=(
                Mistake(
                    "only the band",
                    "n · window scores for each head: these are the scores of the "
                    "band. In blocks more is computed, whole rectangles.",
                    wrong=_blocks_case(lambda h, n, d, w: h * n * w),
                    read=BLOCKS,
                ),
                Mistake(
                    "one block of keys",
                    "A block of queries meets two blocks of keys: its own and the one "
                    "before.",
                    wrong=_blocks_case(
                        lambda h, n, d, w: h * _up(n, w) * w * max(w, d)
                    ),
                    read=BLOCKS,
                ),
                Mistake(
                    "three blocks of keys",
                    "Three blocks of keys are for a two-sided window. A causal one "
                    "needs fewer.",
                    wrong=_blocks_case(
                        lambda h, n, d, w: h * _up(n, w) * w * 3 * max(w, d)
                    ),
                    read=BLOCKS,
                ),
                Mistake(
                    "copied keys forgotten",
                    "Right where the window is wide. Where it is narrower than the "
                    "vectors are long, the scores are not the largest tensor: the "
                    "keys beside those of the block before are.",
                    wrong=_blocks_case(lambda h, n, d, w: h * _up(n, w) * w * 2 * w),
                    read=BLOCKS,
                ),
                Mistake(
                    "scores forgotten",
                    "Right where the window is narrow. Where it is wider than the "
                    "vectors are long, there are more scores than keys.",
                    wrong=_blocks_case(lambda h, n, d, w: h * _up(n, w) * w * 2 * d),
                    read=BLOCKS,
                ),
                Mistake(
                    "last block not filled up",
                    "Nearly right: the last block is filled up to a whole one, and "
                    "its padding is computed like the rest.",
                    wrong=_blocks_case(lambda h, n, d, w: h * n * 2 * max(w, d)),
                    read=BLOCKS,
                ),
                Mistake(
                    "last block forgotten",
                    "The tokens after the last whole block are not counted. They are a "
                    "block as well, filled up.",
                    wrong=_blocks_case(
                        lambda h, n, d, w: h * (n // w) * w * 2 * max(w, d)
                    ),
                    read=BLOCKS,
                ),
                Mistake(
                    "heads forgotten",
                    "This is the number for one head.",
                    wrong=_blocks_case(
                        lambda h, n, d, w: _up(n, w) * w * 2 * max(w, d)
                    ),
                ),
                *TOO_LARGE,
            ),
        ),
    ),
)
