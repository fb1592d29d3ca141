"""Exercise 6, which does not count: the parts of a GPT."""

from functools import partial

import torch

from attncourse.exercises.drawing import numbers, one_of, sizes, whole
from attncourse.exercises.probe import Exercise, Probe, Task, nth
from attncourse.exercises.run import backward, gradients, leaf

BLOCK = "chapters/07_transformer#a-layer-in-five-steps"


# 6.1
def _block(g, silent=()):
    """Draw the arguments of a block; the matrices in `silent` are 0."""
    heads = one_of(g, 2, 3, 1)
    width, tokens = 2 * heads, whole(g, 3, 5)
    shapes = dict.fromkeys(("query", "key", "value", "out"), (width, width))
    shapes |= {"gate": (7, width), "up": (7, width), "down": (width, 7)}
    shapes |= dict.fromkeys(("attention_gain", "feedforward_gain"), (width,))
    weights = {name: numbers(g, *shape, most=1) for name, shape in shapes.items()}
    weights |= {name: torch.zeros_like(weights[name]) for name in silent}
    mask = torch.ones(tokens, tokens, dtype=torch.bool)
    x = numbers(g, 2, tokens, width)
    return {"x": x, "weights": weights, "num_heads": heads, "mask": mask}


def _causal_block(g):
    inputs = _block(g)
    return inputs | {"mask": inputs["mask"].tril()}


def _block_and_gradients(*answers, x, weights, num_heads, mask):
    x = leaf(x)
    weights = {name: leaf(weight) for name, weight in weights.items()}
    output = answers[2](x, weights, num_heads, mask)
    return {"output": output, **gradients(output, x=x, **weights)}


def _swiglu(g):
    width, inner = sizes(g, 2)
    matrices = {name: numbers(g, inner, width) for name in ("gate", "up")}
    x = numbers(g, whole(g, 1, 3), 4, width)
    return {"x": x, **matrices, "down": numbers(g, width, inner)}


_of_block = partial(Probe, read=BLOCK)
BLOCK_PROBES = (
    Probe(
        "`rms_norm` divides each vector by the root of its mean square, times the gain",
        "There are one or two axes before the features. Gradients are compared, too.",
        lambda g: {
            "x": numbers(g, *sizes(g, whole(g, 1, 2)), 5),
            "gain": numbers(g, 5),
        },
        lambda rms_norm, *_, **inputs: backward(rms_norm, **inputs),
    ),
    Probe(
        "`rms_norm` adds 1e-6 to the mean square",
        "The vectors are as small as the root of 1e-6.",
        lambda g: {"x": 1e-3 * numbers(g, 3, 4), "gain": numbers(g, 4)},
    ),
    Probe(
        "`swiglu`: the down-projection of silu(gate) · up",
        "The two widths differ.",
        _swiglu,
        lambda _, swiglu, *__, **inputs: backward(swiglu, **inputs),
        read="chapters/07_transformer#parts-of-todays-models",
    ),
    _of_block(
        "`block` adds what each part returns to its input",
        "The last matrices of both parts, `out` and `down`, are 0.",
        partial(_block, silent=("out", "down")),
        nth(2),
    ),
    _of_block(
        "`block`: attention reads the normalised input, with several heads",
        "`down` is 0, so that attention alone adds something. The mask hides nothing.",
        partial(_block, silent=("down",)),
        nth(2),
    ),
    _of_block(
        "`block`: the feed-forward network reads the normalised input",
        "`out` is 0, so that the feed-forward network alone adds something.",
        partial(_block, silent=("out",)),
        nth(2),
    ),
    _of_block(
        "`block`: attention first, with the mask, then the feed-forward network",
        "Both parts add something, and the mask is causal. The gradients of the input "
        "and of all weights are compared as well.",
        _causal_block,
        _block_and_gradients,
        why="Each part alone is right.",
    ),
)


# 6.2
def _ids(g, size, kinds=3):
    return (whole(g, 0, kinds - 1, size) + 10).tolist()


def _tied(g):
    """Draw a text in which two pairs are equally frequent, the larger one first."""
    low = whole(g, 1, 5)
    ids = [low + 29, low + 28, 40, low, low + 1]
    return {"ids": ids, "num_merges": 1, "first": 50}


BPE_PROBES = (
    Probe(
        "`merge` replaces each pair by the new token",
        "No two occurrences of the pair overlap.",
        lambda g: {"ids": _ids(g, 24), "pair": (10, one_of(g, 11, 12)), "new": 99},
    ),
    Probe(
        "`merge` goes from left to right: three equal tokens make one pair",
        "The pair is a token twice, and the token stands in runs of several lengths.",
        lambda g: {
            "ids": [t for n in sizes(g, 4, low=1) for t in [7] * n + [8]],
            "pair": (7, 7),
            "new": 99,
        },
    ),
    Probe(
        "`learn_merges` begins with the most frequent pair",
        "One merge is asked for.",
        lambda g: {"ids": _ids(g, 60), "num_merges": 1, "first": 50},
        nth(1),
    ),
    Probe(
        "of equally frequent pairs the smaller one is merged",
        "All pairs occur once, and the smallest is not the first in the text.",
        _tied,
        nth(1),
    ),
    Probe(
        "later merges count pairs with the new tokens",
        "Several merges are asked for.",
        lambda g: {"ids": _ids(g, 90), "num_merges": whole(g, 4, 8), "first": 50},
        nth(1),
        read="chapters/10_gpt#byte-pair-encoding",
    ),
    Probe(
        "`learn_merges` stops when no pair is left",
        "More merges are asked for than a text of a few tokens has.",
        lambda g: {"ids": _ids(g, whole(g, 1, 6)), "num_merges": 20, "first": 50},
        nth(1),
    ),
    Probe(
        "`encode` applies the merges in the order in which they were learned",
        "A later merge would fit earlier in the text.",
        lambda g: {
            "ids": _ids(g, 40),
            "merges": [(11, 12), (10, 11), (10, 50), (51, 12), (52, 52)],
            "first": 50,
        },
        nth(2),
    ),
)


# 6.3
def _new_tokens(g, *, past, new):
    batch, heads, width = sizes(g, 3)
    query, key, value = (numbers(g, batch, heads, new, width) for _ in range(3))
    kept = [numbers(g, batch, heads, past, width) for _ in range(2)]
    cache = tuple(kept) if past else None
    return {"query": query, "key": key, "value": value, "cache": cache}


_cached = partial(Probe, names=("output", "cache"), read="chapters/10_gpt#the-kv-cache")
CACHE_PROBES = (
    _cached(
        "without a cache it is causal attention, and the cache holds keys and values",
        "`cache` is None, and there are several tokens.",
        lambda g: _new_tokens(g, past=0, new=whole(g, 2, 5)),
    ),
    _cached(
        "one new token attends to all tokens before it and to itself",
        "There is one new token, and a cache of several.",
        lambda g: _new_tokens(g, past=whole(g, 2, 5), new=1),
        why="Without a cache it is right, with one it is not.",
    ),
    _cached(
        "several new tokens attend to the cache, and causally to each other",
        "There is a cache, and there are several new tokens.",
        lambda g: _new_tokens(g, past=whole(g, 2, 5), new=whole(g, 2, 5)),
        why="Right so far with one new token, and not with several.",
    ),
)

EXERCISE = Exercise(
    "6_build_it",
    "Build a GPT",
    (
        Task("block", "A block", ("rms_norm", "swiglu", "block"), 7, BLOCK_PROBES),
        Task("bpe", "A tokenizer", ("merge", "learn_merges", "encode"), 7, BPE_PROBES),
        Task("cache", "A KV cache", ("attend_with_cache",), 6, CACHE_PROBES),
    ),
    forbidden=("attncourse.layers", "attncourse.models", "attncourse.data.bpe"),
    practice=True,
)
