"""What goes wrong in task 5.5: other numbers than those of the largest tensor."""

from attncourse.exercises.efficient.oracle import BLOCKS, CHAPTER
from attncourse.exercises.task import Mistake

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


def of_lengths(*names):
    """Return the `ask` for some ways, at a short and at a long sequence.

    Parameters
    ----------
    *names : str
        The ways.
    """

    def ask(formulas, heads, short, long, width, window):
        return {
            f"{name}, {n} tokens": _whole(formulas(heads, n, width, window)[name])
            for name in names
            for n in (short, long)
        }

    return ask


def fused(formulas, **sizes):
    """Return what formulas give for both fused ways, at two lengths."""
    return of_lengths("fused, masked", "fused, causal")(formulas, **sizes)


def of_windows(formulas, heads, tokens, width, narrow, wide):
    """Return what formulas give in blocks, for two windows and for full blocks."""
    found = {f"window {w}": formulas(heads, tokens, width, w) for w in (narrow, wide)}
    whole = tokens // wide * wide
    found[f"window {wide}, full blocks"] = formulas(heads, whole, width, wide)
    return {name: _whole(sizes["in blocks"]) for name, sizes in found.items()}


def _whole(number):
    return int(number) if number == int(number) else number


def _instead(change):
    """Return the formulas, some replaced by `change`, which takes the sizes."""
    return lambda *sizes: largest(*sizes) | change(*sizes)


def case(ask, change):
    """Return what `ask` sees of formulas of which `change` replaces some."""
    return lambda **sizes: ask(_instead(change), **sizes)


def fused_case(name, formula):
    """Return what is seen of the fused ways with another formula for one of them."""
    return case(
        fused,
        lambda *sizes: {name: formula(*sizes)},
    )


def blocks_case(formula):
    """Return what is seen of blocks with another formula."""
    return case(of_windows, lambda *sizes: {"in blocks": formula(*sizes)})


# Tensors, and counts of them, that an answer may take for the largest.
OTHER_TENSORS = {
    "the scores of one head": lambda h, n, d, w: n * n,
    "the scores of all heads": lambda h, n, d, w: h * n * n,
    "half of the scores of all heads, which a causal mask leaves. The computed "
    "tensor is square all the same": lambda h, n, d, w: h * n * (n + 1) // 2,
    "half of the scores of all heads, cut in the middle. The computed tensor is "
    "square all the same": lambda h, n, d, w: h * n * n // 2,
    "half of a mask. The tensor is square all the same": lambda h, n, d, w: n * n // 2,
    "the output of one head": lambda h, n, d, w: n * d,
    "the output of all heads": lambda h, n, d, w: h * n * d,
    "half of the output. Causal or not, each query has a whole output": (
        lambda h, n, d, w: h * n * d // 2
    ),
    "the square of the width for each token": lambda h, n, d, w: h * n * d * d,
    "queries, keys and values together": lambda h, n, d, w: 3 * h * n * d,
    "keys and values together": lambda h, n, d, w: 2 * h * n * d,
    "the scores within the window": lambda h, n, d, w: h * n * w,
    "the scores of one head within the window": lambda h, n, d, w: n * w,
    "the scores of a window to both sides": lambda h, n, d, w: h * n * (2 * w + 1),
    "two windows of scores for each query": lambda h, n, d, w: 2 * h * n * w,
    "a copy of the window's keys for each query": lambda h, n, d, w: h * n * w * d,
    "a number for each pair of features": lambda h, n, d, w: h * d * d,
    "one block, and not all blocks": lambda h, n, d, w: h * 2 * w * max(w, d),
    "all blocks against all blocks": lambda h, n, d, w: h * up(n, w) ** 2 * w * w,
}


def other_tensors(ask, way):
    """Return a mistake for each other tensor whose size may be given for a way.

    Each may have been compared with the output, and the larger one taken.

    Parameters
    ----------
    ask : callable
        What the check asks of formulas.
    way : str
        One of the four.
    """

    def when(formula):
        def said(seen, expected, inputs):
            found = [seen[part].values[0] for part in expected]
            return any(
                found == list(ask(changed, **inputs).values())
                for changed in (
                    _instead(lambda *sizes: {way: formula(*sizes)}),
                    _instead(
                        lambda h, n, d, w: {way: max(formula(h, n, d, w), h * n * d)}
                    ),
                )
            )

        return said

    return tuple(
        Mistake(
            "another tensor",
            f'For "{way}" this is the size of another tensor: {what}.',
            when=when(formula),
            read=BLOCKS if way == "in blocks" else COST,
        )
        for what, formula in OTHER_TENSORS.items()
    )


# Blocks and what is beside them, counted in another way.
OTHER_BLOCKS = {
    "blocks counted wrongly": (
        "There is one block too many where the window divides the sequence. "
        "`tokens // window + 1` rounds up only where something is left over.",
        lambda h, n, d, w: h * (n // w + 1) * w * 2 * max(w, d),
    ),
    "one block too few": (
        "There is one block less than there are. The first block meets a block before "
        "it as well: zeros.",
        lambda h, n, d, w: h * (up(n, w) - 1) * w * 2 * max(w, d),
    ),
    "one block too many": (
        "There is one block more than there are. The block of zeros in front is only "
        "beside the first one; it has no queries.",
        lambda h, n, d, w: h * (up(n, w) + 1) * w * 2 * max(w, d),
    ),
    "blocks that overlap": (
        "The keys beside a block are counted as window + 1, or 2 · window − 1, as if "
        "the blocks overlapped. They are whole blocks: two windows.",
        lambda h, n, d, w: h * up(n, w) * w * (2 * w - 1),
    ),
    "keys and values in one": (
        "The keys and the values beside a block are counted together. They are two "
        "tensors, one as large as the other.",
        lambda h, n, d, w: h * up(n, w) * w * 2 * max(w, 2 * d),
    ),
    "scores and keys added": (
        "The scores and the keys are added up. The larger of the two is asked for.",
        lambda h, n, d, w: h * up(n, w) * w * 2 * (w + d),
    ),
    "the smaller of two": (
        "This is the smaller one of scores and keys. The largest tensor is asked for.",
        lambda h, n, d, w: h * up(n, w) * w * 2 * min(w, d),
    ),
    "blocks forgotten for the keys": (
        "The keys are counted once, as they lie in the sequence. Laid side by side, "
        "each block has the keys of two.",
        lambda h, n, d, w: h * up(n, w) * w * max(2 * w, d),
    ),
}


def up(tokens, window):
    """Return the number of blocks, the last one filled up."""
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
    *(
        Mistake(
            "a factor too many or too few",
            f"All numbers are {factor:g} times what they should be. {why}",
            when=_times(factor),
            read=COST,
        )
        for factor, why in (
            (
                2,
                "Are two tensors of one size counted together? The largest *one* is "
                "asked for.",
            ),
            (
                3,
                "Are three tensors of one size counted together? The largest *one* is "
                "asked for.",
            ),
            (0.5, "Is a triangle counted for a square, or one block for two?"),
            (8, "These may be bytes. The number of *numbers* is asked for."),
        )
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
