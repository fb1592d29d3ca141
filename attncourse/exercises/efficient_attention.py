"""Exercise 5: attention for long sequences, in memory and time that grow with n."""

from dataclasses import replace
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from attncourse.exercises.drawing import numbers, one_of, sizes, whole
from attncourse.exercises.probe import VISIBLE_SEEDS, Exercise, Probe, Task
from attncourse.exercises.run import backward
from attncourse.training.memory import count_elements

# 5.1 and 5.2: what every efficient attention has to pass
WIDTH = 8  # of all vectors whose memory is counted
# Tokens: not even in float16 the scores of one head fit in the 2 GiB of the grader.
LONG = 36_000
AXES = {"no leading axes": (0, 0, 0), "one leading axis": (0, 1)}
AXES |= {"two leading axes": (1, slice(None), slice(1)), "three leading axes": ()}


def _vectors(g, *leading, tokens, d_k, d_v, scale=1):
    """Draw query, key and value; the query is multiplied by `scale`."""
    query, key = numbers(g, 2, *leading, tokens, d_k)
    value = numbers(g, *leading, tokens, d_v)
    return {"query": scale * query, "key": key, "value": value}


def _lengths_to_count(g):
    """Draw a number of tokens and a seed; for hidden inputs a long sequence, too."""
    tokens, seed = whole(g, 160, 179), whole(g, 0, 999)
    long = 0 if g.initial_seed() in VISIBLE_SEEDS else LONG
    return {"tokens": tokens, "seed": seed, "long": long}


def _count(*ways):
    """Return a call that counts what an answer makes, each way.

    It counts for so many tokens and for twice as many: the elements that are computed,
    and those of the largest tensor. It also returns some rows of every output, by which
    it is seen that attention was computed. What is made for a long sequence has to fit
    into the memory and the time that there are; a weighted sum of its rows shows that
    all were computed, so what deceives the counter still takes n² steps.
    """

    def call(answer, *_, tokens, seed, long):
        generator = torch.Generator().manual_seed(seed)
        drawn = numbers(generator, 3, 2, max(long, 2 * tokens), WIDTH)
        counts, rows = [], []

        def run(n, inputs, way):
            output = answer(*inputs, *way)
            if type(output) is not torch.Tensor:  # another class may compute it later
                raise TypeError(f"the output is a {type(output).__name__}, no tensor")
            rows.append(output[:, seed % 9 :: n // 16])
            return output

        for n in (tokens, 2 * tokens):
            inputs = [x[:, :n].contiguous() for x in drawn]
            for way in ways:
                counts.append(count_elements(partial(run, n, inputs, way), inputs))
        if long:
            output = run(long, drawn, ways[seed % len(ways)])
            wave = torch.arange(long).double().cos() / long**0.5
            rows.append((wave @ output.double()).float()[:, None])
        _, largest, _, computed = torch.tensor(counts).T
        found = {"computed": computed, "largest": largest}
        return found | {"the output": torch.cat(rows, dim=1)}

    return call


def _growth(values, inputs):
    once, twice = values["computed"].reshape(2, -1)
    return (twice / once).max()


def _over_axes(*ways):
    """Return a call with several numbers of leading axes, the last of two being 1.

    It differentiates, too: the outputs of all ways, added up. The outputs with other
    axes are those of the first way.
    """

    def call(answer, *_, query, key, value, **options):
        found, rest = {}, options.values()
        for many, at in AXES.items():
            inputs = (x[at] for x in (query, key, value))
            found[f"the output with {many}"] = answer(*inputs, *rest, *ways[0])

        def added_up(*inputs):
            return sum(answer(*inputs, *rest, *way) for way in ways)

        alone = {"query": query[0, 1], "key": key[0, 1], "value": value[0, 1]}
        return found | backward(added_up, ("the output alone",), **alone)

    return call


def _common(scores, axes, ways, counted, limit, limit_in_words, not_needed):
    """Return the probes that do not depend on which keys are seen.

    `scores` and `axes` draw inputs for the former and the latter; `ways` and `counted`
    are arguments after these, and after vectors alone. `limit` is the number of
    elements that a tensor may have for each of so many tokens.
    """
    memory = {
        "draw": _lengths_to_count,
        "call": _count(*counted),
        "weight": 3,
        "compared": ("the output",),
    }
    return (
        Probe(
            "the weights are softmax(q · k / √d_k) over all keys that are seen",
            "The queries are not 0.",
            scores,
        ),
        Probe(
            "any leading axes, each sequence by itself; other widths of values; "
            "gradients",
            "There are none to three leading axes, and the last block is not full."
            + " Gradients are of a causal and a two-sided output." * (len(ways) - 1),
            axes,
            _over_axes(*ways),
            weight=2,
        ),
        Probe(
            f"the largest tensor holds at most {limit_in_words}",
            "The largest tensor is measured in units of the limit. Buffers kept "
            f"outside the function count, too. The grader also tries {LONG} tokens.",
            why=f"Nothing here needs a tensor with n² elements: {not_needed}. If it is "
            "a little over: neighbouring queries see almost the same keys, so let many "
            "of them share one copy.",
            measure=lambda values, inputs: (
                values["largest"].max() / (2 * 2 * inputs["tokens"] * limit)
            ),
            between=(0.0, 1.0),
            **memory,
        ),
        Probe(
            "all tensors added up grow with n",
            "The number of tokens is doubled. Measured is the growth of all tensors "
            "added up: also freed ones, results in place and scores in a fused kernel. "
            f"The grader also tries {LONG} tokens.",
            why="No tensor is too large, but piece by piece elements are made whose "
            "number grows with n²: scores with keys that are not seen, masks, or "
            "copies. An output that grows in a loop is copied by each `torch.cat`.",
            measure=_growth,
            between=(0.0, 2.5),
            **memory,
        ),
    )


# 5.1
def _whole_blocks(g, scale=1):
    d_k, window, blocks = sizes(g, 3, 2, 5)
    drawn = _vectors(g, 1, tokens=window * blocks, d_k=d_k, d_v=1, scale=scale)
    identity = torch.eye(window * blocks)[None]
    return drawn | {"value": identity, "window": window, "causal": True}


def _equal_scores(g):
    window, d_k, d_v = sizes(g, 3, 3, 7)
    drawn = _vectors(g, 1, tokens=27 * window, d_k=d_k, d_v=d_v, scale=0)
    return drawn | {"window": window}


LENGTHS = {"2 · window + 1": (2, 1), "27 · window − 2": (27, -2), "window": (1, 0)}
LENGTHS |= {"window − 1": (1, -1), "1": (0, 1)}  # (a, b): a · window + b


def _over_lengths(*causal):
    def call(answer, query, key, value, window):
        found = {}
        for length, (a, b) in LENGTHS.items():
            inputs = [x[..., : a * window + b, :] for x in (query, key, value)]
            name = f"the output of the first tokens ({length})"
            found[name] = answer(*inputs, window, *causal)
        return found

    return call


def _many_axes(g):
    window, d_k, d_v = sizes(g, 3, 2, 5)
    drawn = _vectors(g, 2, 2, 2, tokens=2 * window + 1, d_k=d_k, d_v=d_v)
    return drawn | {"window": window}


EQUAL = (
    "The queries are 0, so each output is the mean of the values that its query sees."
)
LOCAL = (
    Probe(
        "causal, whole blocks: each query sees the `window` newest keys",
        "The queries are 0 and the values are the identity matrix, so the output shows "
        "the weights. The window divides the number of tokens.",
        lambda g: _whole_blocks(g, scale=0),
        why="A query that sees n keys gives each of them the weight 1 / n. Zeros that "
        "pad the blocks are no keys.",
    ),
    Probe(
        "causal, any number of tokens, also fewer than the window",
        f"{EQUAL} There are no more tokens than `window`, or no multiple of it.",
        _equal_scores,
        _over_lengths(True),
    ),
    Probe(
        "two-sided: each query sees the keys at most `window` away",
        f"{EQUAL} `causal` is left out.",
        _equal_scores,
        _over_lengths(),
    ),
    *_common(
        _whole_blocks,
        _many_axes,
        [(True,), (False,)],
        [(8, True), (8, False)],
        6 * max(8, WIDTH),
        "6 · n · max(w, d) elements a head",
        "neither all scores nor a mask of tokens × tokens",
    ),
)


# 5.2
def _pattern(g, **rule):
    """Draw a pattern, but for what is given."""
    drawn = {"window": whole(g, 1, 2), "stride": whole(g, 3, 5)}
    return drawn | {"num_global": one_of(g, 1, 2)} | rule


def _seen(sparse_attention, seen_blocks, **rule):
    """Return which blocks each block lists, of many and of few."""
    return {
        f"the blocks that block {block} of {many} sees": sorted(
            int(other) for other in seen_blocks(block, many, *rule.values())
        )
        for many in (9, 2, 1)
        for block in range(many)
    }


RULES = {
    "window: the blocks at most `window` away": {"stride": 0, "num_global": 0},
    "stride: the blocks at multiples of `stride`, 0 included, before and after": {
        "window": 0,
        "num_global": 0,
    },
    "global: the first `num_global` blocks see all blocks and are seen by all": {
        "window": 0,
        "stride": 0,
    },
}


def _blocks(g, *leading, cut=False, scale=1):
    """Draw inputs; `cut`: the last block is not full."""
    size, d_k, d_v = sizes(g, 3, 2, 4)
    rule = _pattern(g)
    tokens = size * whole(g, 8, 11) - cut * whole(g, 1, size - 1)
    drawn = _vectors(g, *leading, tokens=tokens, d_k=d_k, d_v=d_v, scale=scale)
    return drawn | {"block_size": size, **rule}


SPARSE = (
    *(
        Probe(
            claim,
            "`seen_blocks` is called; the other two rules are off.",
            partial(_pattern, **off),
            _seen,
            why="A list is not that of these blocks, 0 to `blocks` - 1, each once.",
        )
        for claim, off in RULES.items()
    ),
    Probe(
        "each block of queries sees the blocks of the pattern",
        f"{EQUAL} All three rules are in use, and all blocks are full.",
        lambda g: _blocks(g, 1, scale=0),
        weight=2,
    ),
    Probe(
        "the last block not full",
        f"{EQUAL} The last block holds fewer than `block_size` tokens.",
        lambda g: _blocks(g, 1, cut=True, scale=0),
    ),
    *_common(
        lambda g: _blocks(g, 1),
        lambda g: _blocks(g, 2, 2, 2, cut=True),
        [()],
        [(8, 1, 0, 1)],
        3 * (2 * 1 + 2) * WIDTH,
        "3 · n · (2 · window + 2) · max(block_size, d) elements",
        "neither all scores, nor a mask of tokens × tokens, nor rows of scores padded "
        "to the length of the global block's row",
    ),
)


# 5.3
def _sizes(g):
    """Draw sizes; the width is less than the window, or for one seed greater."""
    width, window = one_of(g, (5, 8), (9, 4), (3, 7))
    heads, blocks = whole(g, 2, 3), whole(g, 20, 30)
    return {"heads": heads, "tokens": blocks * window, "width": width, "window": window}


COSTS = tuple(
    Probe(
        way,
        "",
        _sizes,
        lambda answer, way=way, **sizes: answer(*sizes.values())[way],
        why=f"What came is not the number of elements of {largest}.",
    )
    for way, largest in {
        "naive": "all scores, those of each head",
        "fused, masked": "the mask, which all heads share",
        "fused, causal": "the output: the kernel keeps no scores",
        "in blocks": "the scores of each query with two windows of keys, or of the "
        "copied keys, two windows for each block, if these are more",
    }.items()
)


# 5.4
RACES = (">><<<", "<<<<<", ">>>><", ">>>>>", "<><<<", "<<><>", "<<<<>", "<<=<<")
RACES += (">=<<<", "<<<<=")


def _race(g):
    """Draw seconds: ours are less (<), equal or more."""
    theirs = [whole(g, 40, 60) * 2.0**i for i in range(5)]
    more = {"<": -whole(g, 1, 30), "=": 0, ">": whole(g, 1, 30)}
    ours = {r: [t + more[x] for t, x in zip(theirs, r, strict=True)] for r in RACES}
    lengths = [64 * 2**i + whole(g, 0, 9) for i in range(5)]
    return {"lengths": lengths, "ours": ours, "theirs": theirs}


def _crossovers(crossover, lengths, ours, theirs):
    return {
        f"the crossover where ours are {race}": crossover(lengths, each, theirs)
        for race, each in ours.items()
    }


CROSSOVER = (
    Probe(
        "the length from which on ours is faster, there and at all longer ones",
        "Ours is faster (<), slower (>) or equal (=) at five lengths.",
        _race,
        _crossovers,
        why="It is not the smallest length of this kind, or None if there is none.",
    ),
)


# 5.5
class _Guesser(nn.Module):
    """A model that names earlier symbols, but for some positions and distances.

    Before the first positions it sees the end of the sequence, as `torch.roll` does.
    In training mode it is wrong where it is right otherwise.
    """

    def __init__(self, distances, wrong):
        super().__init__()
        self.distances, self.wrong = distances, wrong

    def forward(self, symbols):
        """Return logits, (batch, tokens, distances, symbols)."""
        named = torch.stack([symbols.roll(d, 1) for d in self.distances], dim=-1)
        return F.one_hot((named + (self.wrong != self.training)) % 5, 5).float()


def _questions(g, *distances, more=(4, 7)):
    """Draw symbols and the mistakes of a model."""
    distances = tuple(distances[i] for i in torch.randperm(len(distances), generator=g))
    tokens = max(distances) + whole(g, *more)
    symbols = whole(g, 0, 4, whole(g, 3, 5), tokens)
    wrong = whole(g, 0, 2, tokens, len(distances)) == 0
    return {"symbols": symbols, "wrong": wrong, "distances": distances}


def _measured(*modes):
    """Return a call that has a model measured in some modes."""

    def call(reach, accuracy, symbols, wrong, distances):
        found = {}
        for training in modes:
            model = _Guesser(distances, wrong).train(training)
            shares = accuracy(model, symbols, distances)
            where = f" (model.training={training})"
            found |= {f"the share at {d}{where}": x for d, x in shares.items()}
            found[f"`model.training` afterwards{where}"] = model.training
        return found

    return call


QUALITY = (
    Probe(
        "the reach of a stack of layers, of one layer, and with a window of 1",
        "It is the distance to the oldest token from which something can arrive.",
        lambda g: {
            "layers": one_of(g, whole(g, 2, 6), 1, 3),
            "window": one_of(g, whole(g, 4, 12), whole(g, 4, 12), 1),
        },
    ),
    Probe(
        "one distance: the share of right answers where there is an answer",
        "There is one distance. The model is in evaluation mode.",
        lambda g: _questions(g, whole(g, 2, 6)),
        _measured(False),
        why="The positions that have an answer are those from `distance` on, and the "
        "right symbol stood `distance` positions earlier.",
    ),
    Probe(
        "several distances, in any order",
        "There are three distances; at the largest, one position has an answer.",
        lambda g: _questions(g, 2, 9, 5, more=(1, 1)),
        _measured(False),
        why="For one distance it is right. Each has its own column of logits, in the "
        "order of `distances`, and its own first position.",
    ),
    Probe(
        "evaluation mode, and the mode afterwards is the mode before",
        "The model is handed over in training mode, where it gives other answers, and "
        "in evaluation mode.",
        lambda g: _questions(g, 4, 1),
        _measured(True, False),
    ),
)


UNCOUNTED = ("numpy", ".numpy", "threading", "multiprocessing", "concurrent")
UNCOUNTED += ("torch.sparse*", ".to_sparse", ".tolist", ".__array__")
READ = {  # in the chapter, by the names of the tasks
    "local": "computing-only-the-band",
    "sparse": "sparse-patterns-strides-global-tokens-random-links",
    "costs": "a-window-made-by-a-mask-saves-nothing",
    "crossover": "the-crossover-with-fused-full-attention",
    "quality": "the-receptive-field-of-stacked-windows",
}


def _task(name, title, points, answers, probes, forbidden=()):
    read = f"chapters/09_efficient_attention#{READ[name]}"
    probes = tuple(replace(probe, read=read) for probe in probes)
    return Task(name, title, answers, points, probes, forbidden)


MEASURED = ("reach", "accuracy_by_distance")
BY_BLOCKS = ("sparse_attention", "seen_blocks")
EXERCISE = Exercise(
    "5_efficient_attention",
    "Efficient attention",
    (
        _task("local", "Local attention", 7, ("window_attention",), LOCAL, UNCOUNTED),
        _task("sparse", "Sparse attention", 6, BY_BLOCKS, SPARSE, UNCOUNTED),
        _task("costs", "Memory by formula", 3, ("largest_tensor",), COSTS),
        _task("crossover", "Where is it faster?", 1, ("crossover",), CROSSOVER),
        _task("quality", "What the window does to a model", 3, MEASURED, QUALITY),
    ),
    forbidden=(
        "attncourse.layers.local",
        "attncourse.layers.sparse",
        "attncourse.layers.blockwise",
        "attncourse.training.timing",
        "attncourse.training.memory",
        "attncourse.widgets",
        "torch.nn.attention.flex_attention",
        "torch.utils._python_dispatch",
    ),
)
