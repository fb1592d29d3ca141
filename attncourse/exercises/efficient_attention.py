"""Exercise 5: attention for long sequences, in memory and time that grow with n."""

from dataclasses import replace
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from attncourse.exercises.efficient_attention_common import (
    WIDTH,
    common_probes,
    count,
    draw_long,
    draw_vectors,
)
from attncourse.exercises.probe import Exercise, Probe, Task, numbers, sizes, whole


def _with(**new):
    return lambda **_: new


OTHER_WINDOWS = {
    "`window` is one larger": lambda window, **_: {"window": window + 1},
    "`window` is one smaller": lambda window, **_: {"window": window - 1},
}
NOT_CAUSAL = {"`causal` is False": _with(causal=False)}


# 5.1 ---------------------------------------------------------------------------------


def _window(g, longer=False, **causal):
    tokens = whole(g, 1, 6) if longer else whole(g, 8, 11)
    window = tokens + whole(g, 2, 4) if longer else whole(g, 1, tokens // 2)
    return {"tokens": tokens, "window": window, **causal}


MASK = (
    Probe(
        claim="causal: no query sees a later key",
        given="The window is longer than the sequence.",
        why="The mask is not True exactly where the key is not after its query.",
        draw=lambda g: _window(g, longer=True, causal=True),
        as_ifs=NOT_CAUSAL,
    ),
    Probe(
        claim="causal: each query sees the `window` newest keys, its own included",
        given="The window is shorter than the sequence.",
        why="A row is not True exactly at the `window` newest keys, the query's own "
        "included (near the start there are fewer).",
        draw=lambda g: _window(g, causal=True),
        as_ifs=OTHER_WINDOWS | NOT_CAUSAL,
    ),
    Probe(
        claim="two-sided, also where `causal` is left out: keys at most `window` away",
        given="`causal` is False or left out.",
        why="A row is not True exactly at the keys at most `window` positions before "
        "or after the query.",
        draw=_window,
        call=lambda local_mask, tokens, window: {
            "the mask with causal=False": local_mask(tokens, window, False),
            "the mask with `causal` left out": local_mask(tokens, window),
        },
        as_ifs=OTHER_WINDOWS,
    ),
)


# 5.2 ---------------------------------------------------------------------------------


def _whole_blocks(g, scale=1):
    d_k, window, blocks = sizes(g, 3, 2, 5)
    drawn = draw_vectors(g, 1, tokens=window * blocks, d_k=d_k, d_v=1, scale=scale)
    identity = torch.eye(window * blocks)[None]
    return drawn | {"value": identity, "window": window, "causal": True}


def _equal_scores(g):
    window, d_k, d_v = sizes(g, 3, 3, 7)
    drawn = draw_vectors(g, 1, tokens=27 * window, d_k=d_k, d_v=d_v, scale=0)
    return drawn | {"window": window}


LENGTHS = {"2 · window + 1": (2, 1), "27 · window − 2": (27, -2), "window": (1, 0)}
LENGTHS |= {"window − 1": (1, -1), "1": (0, 1)}  # (a, b): a · window + b


def _over_lengths(*causal):
    def call(answer, query, key, value, window):
        found = {}
        for length, (a, b) in LENGTHS.items():
            inputs = [x[..., : a * window + b, :] for x in (query, key, value)]
            found[f"the output (tokens: {length})"] = answer(*inputs, window, *causal)
        return found

    return call


def _many_axes(g):
    window, d_k, d_v = sizes(g, 3, 2, 5)
    drawn = draw_vectors(g, 2, 2, 2, tokens=2 * window + 1, d_k=d_k, d_v=d_v)
    return drawn | {"window": window}


LOCAL = (
    Probe(
        claim="causal, whole blocks: each query sees the `window` newest keys",
        given="The queries are 0 and the values are the identity matrix, so the output "
        "shows the weights. The window divides the number of tokens.",
        why="The weights are not equal over the `window` newest keys, the own one "
        "included, and 0 for all others.",
        draw=lambda g: _whole_blocks(g, scale=0),
        as_ifs=OTHER_WINDOWS | NOT_CAUSAL,
    ),
    Probe(
        claim="causal, any number of tokens, also fewer than the window",
        given="The queries are 0, so each output is the mean of the values that its "
        "query sees. There are no more tokens than `window`, or no multiple of it.",
        why="An output is not the mean of the `window` newest values (near the start, "
        "of all up to its own).",
        draw=_equal_scores,
        call=_over_lengths(True),
    ),
    Probe(
        claim="two-sided: each query sees the keys at most `window` away",
        given="The queries are 0. `causal` is left out.",
        why="An output is not the mean of the values at most `window` positions before "
        "or after its own.",
        draw=_equal_scores,
        call=_over_lengths(),
        as_ifs=OTHER_WINDOWS,
    ),
    *common_probes(
        _whole_blocks,
        _many_axes,
        [(True,), (False,)],
        draw_long(window=8),
        lambda answer, tokens, seed, window: count(
            answer, tokens, seed, (window, True), (window, False)
        ),
        lambda tokens, window, **_: 6 * 2 * (2 * tokens) * max(window, WIDTH),
        "6 · n · max(w, d) elements a head",
        "neither all scores nor a mask of tokens × tokens",
    ),
)


# 5.3 ---------------------------------------------------------------------------------


def _pattern(**rule):
    """Return a function that draws blocks and a pattern, but for what is given."""

    def draw(g):
        drawn = {"blocks": whole(g, 8, 11), "window": whole(g, 1, 2)}
        drawn |= {"stride": whole(g, 3, 4), "num_global": whole(g, 1, 2)}
        return drawn | rule

    return draw


def _all_seen(answer, blocks, *rule):
    """Return how often each block is listed by each, and numbers that are no blocks."""
    listed, outside = torch.zeros(blocks, blocks, dtype=torch.int64), 0
    for block in range(blocks):
        for other in answer(block, blocks, *rule):
            if 0 <= other < blocks:
                listed[block, int(other)] += 1
            else:
                outside += 1
    return {"how many listed blocks do not exist": outside, "times listed": listed}


def _many_and_few(answer, blocks, **rule):
    return {
        f"{what}{n}": found
        for n, many in (("", blocks), (" (2 blocks)", 2), (" (1 block)", 1))
        for what, found in _all_seen(answer, many, *rule.values()).items()
    }


SEEN = (
    Probe(
        claim="window: the blocks at most `window` away",
        given="There are no strides and no global blocks.",
        why="A block does not list exactly the existing blocks at most `window` away, "
        "each once.",
        draw=_pattern(stride=0, num_global=0),
        call=_many_and_few,
        as_ifs=OTHER_WINDOWS,
    ),
    Probe(
        claim="stride: the blocks at multiples of `stride`, before and after",
        given="The window is 0, and there are no global blocks.",
        why="A block does not list exactly the blocks whose distance is a multiple of "
        "`stride`, 0 included, each once.",
        draw=_pattern(window=0, num_global=0),
        call=_many_and_few,
        as_ifs={"`stride` is one larger": lambda stride, **_: {"stride": stride + 1}},
    ),
    Probe(
        claim="global: the first blocks see all blocks and are seen by all",
        given="The window is 0, and there are no strides.",
        why="The first `num_global` blocks do not list all blocks, or another block "
        "does not list exactly these and itself, each once.",
        draw=_pattern(window=0, stride=0),
        call=_many_and_few,
    ),
    Probe(
        claim="the three rules together, each block once",
        given="All three rules are in use, and some blocks are seen by several.",
        why="Each rule by itself is right, but together the lists are not.",
        draw=_pattern(),
        call=_many_and_few,
    ),
)


# 5.4 ---------------------------------------------------------------------------------


def _blocks(*leading, cut=False, scale=1):
    """Return a function that draws inputs; `cut`: the last block is not full."""

    def draw(g):
        size, d_k, d_v = sizes(g, 3, 2, 4)
        rule = _pattern()(g)
        tokens = size * rule.pop("blocks") - cut * whole(g, 1, size - 1)
        drawn = draw_vectors(g, *leading, tokens=tokens, d_k=d_k, d_v=d_v, scale=scale)
        return drawn | {"block_size": size, **rule}

    return draw


OTHER_LINKS = {"`stride` is 0": _with(stride=0)}
OTHER_LINKS |= {"`num_global` is 0": _with(num_global=0)}
SPARSE = (
    Probe(
        claim="each block of queries sees the blocks of the pattern",
        given="The queries are 0, so each output is the mean of the values that its "
        "query sees. All blocks are full.",
        why="An output is not the mean of the values in the blocks of the pattern.",
        draw=_blocks(1, scale=0),
        as_ifs=OTHER_WINDOWS | OTHER_LINKS,
        weight=2,
    ),
    Probe(
        claim="the last block not full",
        given="The queries are 0. The last block holds fewer than `block_size` tokens.",
        why="An output is not the mean of the values in the blocks of the pattern, "
        "though it is where all blocks are full.",
        draw=_blocks(1, cut=True, scale=0),
    ),
    *common_probes(
        _blocks(1),
        _blocks(2, 2, 2, cut=True),
        [()],
        draw_long(block_size=8, window=1),
        lambda answer, tokens, seed, block_size, window: count(
            answer, tokens, seed, (block_size, window, 0, 1)
        ),
        lambda tokens, window, **_: 3 * 2 * (2 * tokens) * (2 * window + 2) * WIDTH,
        "3 · n · (2 · window + 2) · max(block_size, d) elements",
        "neither all scores, nor a mask of tokens × tokens, nor rows of scores padded "
        "to the length of the global block's row",
    ),
)


# 5.5 ---------------------------------------------------------------------------------


def _lengths(tokens, width, window, whole_windows=False):
    """Return a function that draws sizes within bounds."""

    def draw(g):
        n, d, w = whole(g, *tokens), whole(g, *width), whole(g, *window)
        n = n * w if whole_windows else n
        return {"heads": whole(g, 2, 4), "tokens": n, "width": d, "window": w}

    return draw


def _in_blocks(answer, **drawn):
    return answer(*drawn.values())["in blocks"]


LONG = _lengths((200, 300), (16, 24), (3, 5))
FULL = (
    ("naive", "all scores, or of the output if that is larger"),
    ("fused, masked", "the mask (all heads share one), or of a larger output"),
    ("fused, causal", "the output: the kernel keeps no scores"),
)


def _long_and_short(way):
    def call(answer, heads, tokens, width, window):
        lengths = {"long sequences": (tokens, width), "short ones": (8, 3 * width)}
        return {n: answer(heads, *nd, window)[way] for n, nd in lengths.items()}

    return call


COSTS = (
    *(
        Probe(
            claim=f"{way}, for long and for short sequences",
            given="",
            why=f"It is not the number of elements of {largest}.",
            draw=LONG,
            call=_long_and_short(way),
        )
        for way, largest in FULL
    ),
    Probe(
        claim="in blocks, a window wider than the vectors",
        given="The window is wider than the vectors, and divides the number of tokens.",
        why="It is not the number of scores: each query of a block has one for every "
        "key of two windows.",
        draw=_lengths((3, 9), (5, 7), (16, 19), whole_windows=True),
        call=_in_blocks,
    ),
    Probe(
        claim="in blocks, vectors wider than the window",
        given="The vectors are wider than the window, which divides the number of "
        "tokens.",
        why="Right so far, for wide windows. Here it is not the number of elements of "
        "the copied keys: for each block, two windows of vectors.",
        draw=_lengths((3, 9), (17, 21), (5, 8), whole_windows=True),
        call=_in_blocks,
    ),
    Probe(
        claim="in blocks, the last block filled up",
        given="The window does not divide the number of tokens.",
        why="Right so far, for whole blocks. The last block is filled up to a whole "
        "one, and all of it counts.",
        draw=_lengths((31, 39), (8, 12), (10, 10)),
        call=_in_blocks,
    ),
)


# 5.6 ---------------------------------------------------------------------------------


def _job_seconds(g):
    return {
        "seconds": {n: whole(g, 999, 4001) / 2**11 for n in ("full", "local", "fused")}
    }


FACTORS = (9, 3, 1, 8, 4, 30, 5, 12, 2, 6, 11)


def _time(*factors, repeats=None, slow_after=()):
    """Return a call with a made-up clock.

    The calls of a job take its seconds times the factors, one after the other, and five
    times as long when as many rounds of calls are over as `slow_after` says.
    """

    def call(time_in_turns, crossover, seconds):
        now, calls = [1000.0], dict.fromkeys(seconds, 0)

        def run(name):
            rounds = sum(calls.values()) // len(seconds)
            slow = 5 ** sum(rounds >= after for after in slow_after)
            now[0] += seconds[name] * factors[min(calls[name], len(factors) - 1)] * slow
            calls[name] += 1

        jobs = {name: partial(run, name) for name in seconds}
        if repeats:
            found = time_in_turns(jobs, repeats, lambda: now[0])
        else:
            found = time_in_turns(jobs, clock=lambda: now[0])
        seconds = [found.get(name) for name in seconds]
        return {"the names": sorted(found), "the seconds": seconds}

    return call


def _medians(*answers, seconds):
    calls = {n or "left out": _time(*FACTORS, repeats=n) for n in (3, 4, 5, None)}
    return {
        f"the seconds (repeats: {n})": call(*answers, seconds)["the seconds"]
        for n, call in calls.items()
    }


def _race(*races):
    """Return a function that draws seconds: ours are less (<), equal or more."""

    def draw(g):
        theirs = [whole(g, 40, 60) * 2.0**i for i in range(5)]
        more = {"<": -whole(g, 1, 30), "=": 0, ">": whole(g, 1, 30)}
        ours = {r: [t + more[x] for t, x in zip(theirs, r, strict=True)] for r in races}
        lengths = [64 * 2**i + whole(g, 0, 9) for i in range(5)]
        return {"lengths": lengths, "ours": ours, "theirs": theirs}

    return draw


def _crossovers(time_in_turns, crossover, lengths, ours, theirs):
    return {
        f"the crossover where ours are {race}": crossover(lengths, each, theirs)
        for race, each in ours.items()
    }


TIMING = (
    Probe(
        claim="the seconds of one call of each job, by the given clock",
        given="Every call of a job takes the same time.",
        why="They are not the difference of the clock before and after one call.",
        draw=_job_seconds,
        call=_time(1, repeats=2),
    ),
    Probe(
        claim="a first call of each job warms up and is not measured",
        given="The first call of a job takes 50 times as long; there is one repeat.",
        why="The seconds are right where every call takes the same time, not here.",
        draw=_job_seconds,
        call=_time(50, 1, repeats=1),
    ),
    Probe(
        claim="the median of the repeats, odd or even in number, 5 if left out",
        given="The calls of a job take different times.",
        why="The result is not the median of the calls after the first, as many as "
        "there are repeats; of an even number it is the mean of the two in the middle.",
        draw=_job_seconds,
        call=_medians,
    ),
    Probe(
        claim="the jobs take turns",
        given="There are 5 repeats. The machine becomes five times slower when each "
        "job has been called twice, and again when each has been called four times.",
        why="The jobs are not slowed down alike: a round does not measure each once.",
        draw=_job_seconds,
        call=_time(1, repeats=5, slow_after=(2, 4)),
    ),
    Probe(
        claim="crossover: the length from which on ours is faster",
        given="Once ours is faster (<), it stays faster at all longer lengths.",
        why="It is not the smallest length at which ours is faster, or None if there "
        "is none.",
        draw=_race(">><<<", "<<<<<", ">>>><", ">>>>>"),
        call=_crossovers,
    ),
    Probe(
        claim="crossover: wins before a loss or a draw do not count",
        given="Ours is faster (<) at some lengths, and slower (>) or equal (=) at a "
        "longer one.",
        why="It is not the smallest length from which on ours is faster, there and at "
        "all longer lengths, or None if there is none.",
        draw=_race("<><<<", "><<><", "<<<<>", "<<=<<", ">=<<<", "<<<<="),
        call=_crossovers,
    ),
)


# 5.7 ---------------------------------------------------------------------------------


class _Guesser(nn.Module):
    """A model that names earlier symbols, but for some symbols at some positions.

    Before the first positions it sees the end of the sequence, as `torch.roll` does.
    In training mode it is wrong where it is right otherwise.
    """

    def __init__(self, distances, wrong, logits):
        super().__init__()
        self.distances, self.wrong = distances, wrong
        self.logits = nn.Parameter(logits)

    def forward(self, symbols):
        """Return logits, (batch, tokens, distances, symbols)."""
        named = [symbols.roll(distance, 1) for distance in self.distances]
        wrong = self.wrong[symbols, torch.arange(symbols.shape[1])] != self.training
        named = (torch.stack(named, -1) + wrong) % len(self.wrong)
        return self.logits[symbols][:, :, None] + 4 * F.one_hot(named, len(self.wrong))


def _questions(*distances, extra=(4, 7)):
    """Return a function that draws symbols and the mistakes of a model."""

    def draw(g):
        order = torch.randperm(len(distances), generator=g).tolist()
        tokens, many = max(distances) + whole(g, *extra), whole(g, 3, 6)
        return {
            "symbols": whole(g, 0, many - 1, whole(g, 3, 5), tokens),
            "wrong": whole(g, 0, 2, many, tokens, len(distances)) == 0,
            "logits": numbers(g, many, many, most=1.0),
            "distances": tuple(distances[i] for i in order),
        }

    return draw


def _measured(*modes):
    """Return a call that has a model measured in some modes."""

    def call(reach, accuracy, symbols, wrong, logits, distances):
        found = {}
        for training in modes:
            model = _Guesser(distances, wrong, logits).train(training)
            shares = accuracy(model, symbols, distances)
            where = f" (model.training={training})"
            found |= {f"the share at {d}{where}": x for d, x in shares.items()}
            found[f"`model.training` afterwards{where}"] = model.training
        return found

    return call


LOSSES = (
    Probe(
        claim="the reach of a stack of layers, of one layer, and with a window of 1",
        given="",
        why="The reach is not the distance to the oldest token from which something "
        "can arrive, layer by layer.",
        draw=lambda g: {"layers": whole(g, 2, 6), "window": whole(g, 4, 12)},
        call=lambda reach, accuracy, layers, window: {
            "the reach of one layer": reach(1, window),
            "the reach of the stack": reach(layers, window),
            "the reach with a window of 1": reach(layers, 1),
        },
        as_ifs=OTHER_WINDOWS,
    ),
    Probe(
        claim="the share of right answers at one distance",
        given="There is one distance. The model is in evaluation mode.",
        why="It is not the share of the positions from `distance` on at which the "
        "largest logit is that of the symbol `distance` positions earlier.",
        draw=_questions(3),
        call=_measured(False),
    ),
    Probe(
        claim="several distances in any order, each by itself",
        given="There are three distances; at the largest, one position has an answer.",
        why="Right so far, for one distance. Each distance has its own column of "
        "logits, and its own positions at which an answer exists.",
        draw=_questions(2, 9, 5, extra=(1, 1)),
        call=_measured(False),
    ),
    Probe(
        claim="evaluation mode, and the mode afterwards is the mode before",
        given="The model is handed over in training mode, where it gives other "
        "answers, and in evaluation mode.",
        why="The shares are not those of evaluation mode, or `model.training` is not "
        "the same afterwards.",
        draw=_questions(4, 1),
        call=_measured(True, False),
        weight=2,
    ),
)


UNCOUNTED = ("numpy", ".numpy", "threading", "multiprocessing", "concurrent")
UNCOUNTED += ("torch.sparse*", ".to_sparse")
READ = {  # in the chapter, by the names of the tasks
    "mask": "local-sliding-window-attention",
    "local": "computing-only-the-band",
    "pattern": "sparse-patterns-strides-global-tokens-random-links",
    "sparse": "sparse-patterns-strides-global-tokens-random-links",
    "costs": "a-window-made-by-a-mask-saves-nothing",
    "timing": "the-crossover-with-fused-full-attention",
    "quality": "the-receptive-field-of-stacked-windows",
}


def _task(name, title, points, answers, probes, forbidden=()):
    read = f"chapters/09_efficient_attention#{READ[name]}"
    probes = tuple(replace(probe, read=read) for probe in probes)
    return Task(name, title, answers, points, probes, forbidden)


TIMED, MEASURED = ("time_in_turns", "crossover"), ("reach", "accuracy_by_distance")
EXERCISE = Exercise(
    "5_efficient_attention",
    "Efficient attention",
    (
        _task("mask", "The mask of a window", 2, ("local_mask",), MASK),
        _task("local", "Local attention", 6, ("window_attention",), LOCAL, UNCOUNTED),
        _task("pattern", "A sparse pattern", 1, ("seen_blocks",), SEEN),
        _task(
            "sparse", "Sparse attention", 4, ("sparse_attention",), SPARSE, UNCOUNTED
        ),
        _task("costs", "Memory by formula", 2, ("largest_tensor",), COSTS),
        _task("timing", "A fair benchmark", 2, TIMED, TIMING),
        _task("quality", "What the window does to a model", 3, MEASURED, LOSSES),
    ),
    forbidden=(
        "attncourse.layers.local",
        "attncourse.layers.sparse",
        "attncourse.layers.blockwise",
        "attncourse.layers.flex",
        "attncourse.training.timing",
        "attncourse.training.memory",
        "torch.nn.attention.flex_attention",
        "torch.utils._python_dispatch",
    ),
)
