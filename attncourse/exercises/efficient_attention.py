"""Exercise 5: attention for long sequences, in memory and time that grow with n."""

import math
from dataclasses import replace
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from attncourse.exercises.probe import Exercise, Probe, Task, numbers, sizes, whole
from attncourse.exercises.run import gradients, leaf
from attncourse.training.memory import count_elements

CHAPTER = "chapters/08_efficient_attention"


def _explained(heading, *probes):
    return tuple(replace(probe, read=f"{CHAPTER}#{heading}") for probe in probes)


def _with(**new):
    return lambda **_: new


OTHER_WINDOWS = {
    "`window` is one larger": lambda window, **_: {"window": window + 1},
    "`window` is one smaller": lambda window, **_: {"window": window - 1},
}
NOT_CAUSAL = {"`causal` is False": _with(causal=False)}


# 5.1 ---------------------------------------------------------------------------------


def _window(g, longer=False):
    tokens = whole(g, 1, 6) if longer else whole(g, 8, 11)
    window = tokens + whole(g, 2, 4) if longer else whole(g, 1, tokens // 2)
    return {"tokens": tokens, "window": window, "causal": True}


MASK = _explained(
    "what-if-a-token-sees-only-its-neighbours",
    Probe(
        claim="causal: no query sees a later key",
        given="The window is longer than the sequence.",
        why="The mask is not True exactly where the key is not after its query.",
        draw=lambda g: _window(g, longer=True),
        as_ifs=NOT_CAUSAL,
    ),
    Probe(
        claim="causal: each query sees the `window` newest keys, its own included",
        given="The window is shorter than the sequence.",
        why="A row is not True exactly at the `window` newest keys, the query's own "
        "included (near the start there are fewer).",
        draw=_window,
        as_ifs=OTHER_WINDOWS | NOT_CAUSAL,
    ),
    Probe(
        claim="two-sided, also where `causal` is left out: keys at most `window` away",
        given="`causal` is False or left out.",
        why="A row is not True exactly at the keys at most `window` positions before "
        "or after the query.",
        draw=_window,
        call=lambda local_mask, tokens, window, causal: {
            "the mask with causal=False": local_mask(tokens, window, False),
            "the mask with `causal` left out": local_mask(tokens, window),
        },
        as_ifs=OTHER_WINDOWS,
    ),
)


# What 5.2 and 5.4 share --------------------------------------------------------------

WIDTH = 8  # of all vectors whose memory is counted
AXES = {"no": (0, 0, 0), "one": (0, 1), "two": (1, slice(None), slice(1)), "three": ()}


def _vectors(g, *leading, tokens, d_k, d_v, scale=1):
    query, key = numbers(g, 2, *leading, tokens, d_k)
    value = numbers(g, *leading, tokens, d_v)
    return {"query": scale * query, "key": key, "value": value}


def _long(**options):
    def draw(g):
        tokens = whole(g, 100, 119)
        return {"tokens": tokens, "at": whole(g, 40, tokens - 40), **options}

    return draw


def _count(attention, tokens, at, *ways):
    """Count what an answer makes of so many tokens and of twice as many, for each way.

    The values are 0 but for those of one token. Returns the elements of all tensors,
    those of the largest, and the rows that the values reach that are not 0.
    """
    query, key, value = numbers(
        torch.Generator().manual_seed(at), 3, 2, 2 * tokens, WIDTH
    )
    value = value * (torch.arange(2 * tokens) == at)[:, None]
    counts, rows = [], []
    for n in (tokens, 2 * tokens):
        inputs = [x[:, :n].contiguous() for x in (query, key, value)]
        for way in ways:
            call = partial(attention, *inputs, *way)
            try:
                counts.append(count_elements(lambda call=call: rows.append(call())))
            except NotImplementedError as error:
                if not error.args:  # the answer is not written yet
                    raise
                raise TypeError("memory is counted for dense tensors only") from None
    rows = torch.cat([(output[0] != 0).any(-1).nonzero() for output in rows])
    made, largest, _ = torch.tensor(counts).T
    return {"made": made, "largest": largest, "rows": rows.flatten()}


def _if_attention(measure):
    """Measure only what lets the value that is not 0 reach the rows that see it."""

    def measured(values, inputs):
        at, window = inputs["at"], inputs["window"]
        seen_by = [*range(at, at + window), *range(at - window, at + window + 1)]
        if size := inputs.get("block_size"):
            first = (at // size - window) * size
            seen_by = [*range(size), *range(first, first + (2 * window + 1) * size)]
        right = values["rows"].tolist() == 2 * seen_by
        return measure(values, inputs) if right else math.inf

    return measured


def _growth(name):
    def measure(values, inputs):
        once, twice = values[name].reshape(2, -1)
        return (twice / once.clip(1)).max()

    return _if_attention(measure)


def _over_axes(*more):
    """Return a call with several numbers of leading axes, the last of two being 1."""

    def call(answer, query, key, value, **options):
        found, rest = {}, (*options.values(), *more)
        for many, at in AXES.items():
            inputs = (x[at] for x in (query, key, value))
            found[f"the output with {many} leading axes"] = answer(*inputs, *rest)
        return found

    return call


def _backward(*ways):
    """Return a call that differentiates the outputs of some ways, added up."""

    def call(answer, query, key, value, **options):
        parts = {"query": query[0, 1], "key": key[0, 1], "value": value[0, 1]}
        leaves = {name: leaf(x) for name, x in parts.items()}
        calls = (answer(*leaves.values(), *options.values(), *way) for way in ways)
        return gradients(sum(calls), **leaves)

    return call


def _common(scores, axes, ways, long, count, limit, limit_in_words, not_needed):
    """Return the probes that do not depend on which keys are seen."""
    shared = {"draw": long, "call": count, "weight": 2}
    return _explained(
        "how-is-only-the-band-computed",
        Probe(
            claim="the weights are one softmax(q · k / √d_k) over the keys that are seen",
            given="The queries are not 0.",
            why="With equal scores the outputs are right. With these they are not those "
            "of one softmax(q · k / √d_k) over the keys that are seen.",
            draw=scores,
        ),
        Probe(
            claim="any leading axes, each sequence by itself; values of another width",
            given="There are no leading axes, or one, two or three.",
            why="An output is not that of its own sequence.",
            draw=axes,
            call=_over_axes(*ways[0]),
        ),
        Probe(
            claim="the gradients are right as well",
            given="The last block is not full.",
            why="A gradient of query, key or value is not the expected one.",
            draw=axes,
            call=_backward(*ways),
        ),
    ) + _explained(
        "a-fault-the-window-that-saves-nothing",
        Probe(
            claim="no tensor grows with n²",
            given="The tokens are doubled, and the largest tensor is compared.",
            why="It grows too much. Nothing here needs a tensor with n² elements: "
            f"{not_needed}.",
            measure=_growth("largest"),
            between=(0.0, 2.5),
            **shared,
        ),
        Probe(
            claim="all tensors added up grow with n",
            given="The tokens are doubled. What all tensors hold together, freed ones "
            "included, is compared.",
            why="It grows too much, though no single tensor does: piece by piece, "
            "elements are made whose number grows with n². These can be scores with "
            "keys that are not seen, masks, or copies: an output that grows in a loop "
            "is copied by each `torch.cat` (collect the pieces and join them once).",
            measure=_growth("made"),
            between=(0.0, 2.5),
            **shared,
        ),
        Probe(
            claim=f"the largest tensor holds at most {limit_in_words}",
            given="The largest tensor is measured in units of the limit.",
            why="It grows with n, as it should, but it is over the limit. Neighbouring "
            "queries see almost the same keys: let many of them share one copy.",
            measure=_if_attention(
                lambda values, inputs: values["largest"].max() / limit(**inputs)
            ),
            between=(0.0, 1.0),
            **shared,
        ),
    )


# 5.2 ---------------------------------------------------------------------------------


def _whole_blocks(g, scale=1):
    d_k, window, blocks = sizes(g, 3, 2, 5)
    drawn = _vectors(g, 1, tokens=window * blocks, d_k=d_k, d_v=1, scale=scale)
    identity = torch.eye(window * blocks)[None]
    return drawn | {"value": identity, "window": window, "causal": True}


def _equal_scores(g):
    window, d_k, d_v = sizes(g, 3, 3, 7)
    drawn = _vectors(g, 1, tokens=9 * window, d_k=d_k, d_v=d_v, scale=0)
    return drawn | {"window": window}


# Numbers of tokens that are no multiple of the window: a · window + b
LENGTHS = {
    "2 · window + 1": (2, 1),
    "9 · window − 2": (9, -2),
    "as many as `window`": (1, 0),
}
LENGTHS |= {"window − 1": (1, -1), "1": (0, 1)}


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
    drawn = _vectors(g, 2, 2, 2, tokens=2 * window + 1, d_k=d_k, d_v=d_v)
    return drawn | {"window": window}


LOCAL = _explained(
    "how-is-only-the-band-computed",
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
        "query sees. There are fewer tokens than `window`, or no multiple of it.",
        why="An output is not the mean of the `window` newest values, though it is "
        "where the window divides the number of tokens.",
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
) + _common(
    _whole_blocks,
    _many_axes,
    [(True,), (False,)],
    _long(window=8),
    lambda answer, tokens, at, window: _count(
        answer, tokens, at, (window, True), (window, False)
    ),
    lambda tokens, window, **_: 6 * 2 * (2 * tokens) * max(window, WIDTH),
    "6 · n · max(w, d) elements a head",
    "neither all scores nor a mask of tokens × tokens",
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
    return {
        "how many listed blocks do not exist": outside,
        "how often each is listed by each": listed,
    }


def _many_and_few(answer, blocks, **rule):
    return {
        f"{what} (blocks in all: {n})": found
        for n, many in (("as above", blocks), ("2", 2), ("1", 1))
        for what, found in _all_seen(answer, many, *rule.values()).items()
    }


SEEN = _explained(
    "can-a-few-long-links-replace-all-of-them",
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
        drawn = _vectors(g, *leading, tokens=tokens, d_k=d_k, d_v=d_v, scale=scale)
        return drawn | {"block_size": size, **rule}

    return draw


NO_LINKS = {
    "`stride` is 0": _with(stride=0),
    "`num_global` is 0": _with(num_global=0),
}
SPARSE = _explained(
    "can-a-few-long-links-replace-all-of-them",
    Probe(
        claim="each block of queries sees the blocks of the pattern",
        given="The queries are 0, so each output is the mean of the values that its "
        "query sees. All blocks are full.",
        why="An output is not the mean of the values in the blocks of the pattern.",
        draw=_blocks(1, scale=0),
        as_ifs=OTHER_WINDOWS | NO_LINKS,
        weight=2,
    ),
    Probe(
        claim="the last block not full",
        given="The queries are 0. The last block holds fewer than `block_size` tokens.",
        why="An output is not the mean of the values in the blocks of the pattern, "
        "though it is where all blocks are full.",
        draw=_blocks(1, cut=True, scale=0),
    ),
) + _common(
    _blocks(1),
    _blocks(2, 2, 2, cut=True),
    [()],
    _long(block_size=8, window=1),
    lambda answer, tokens, at, block_size, window: _count(
        answer, tokens, at, (block_size, window, 0, 1)
    ),
    lambda tokens, window, **_: 3 * 2 * (2 * tokens) * (2 * window + 2) * WIDTH,
    "3 · n · (2 · window + 2) · max(block_size, d) elements",
    "neither all scores, nor a mask of tokens × tokens, nor rows of scores padded to "
    "the length of the global block's row",
)


# 5.5 ---------------------------------------------------------------------------------


def _lengths(tokens, width, window, whole_windows=False):
    """Return a function that draws sizes within bounds."""

    def draw(g):
        n, d, w = whole(g, *tokens), whole(g, *width), whole(g, *window)
        n = n * w if whole_windows else n
        return {"heads": whole(g, 2, 4), "tokens": n, "width": d, "window": w}

    return draw


def _cost(*ways):
    return lambda answer, **drawn: {way: answer(*drawn.values())[way] for way in ways}


LONG, SHORT = _lengths((200, 300), (16, 24), (3, 5)), _lengths((7, 9), (40, 49), (2, 4))
FULL = (
    ("naive", "all scores"),
    ("fused, masked", "the mask, which all heads share"),
    ("fused, causal", "the output: the kernel keeps no scores"),
)
COSTS = _explained(
    "what-does-n2-cost",
    *(
        Probe(
            claim=f"{way}, long sequences",
            given="There are more tokens than features in all heads together.",
            why=f"It is not the number of elements of {largest}.",
            draw=LONG,
            call=_cost(way),
        )
        for way, largest in FULL
    ),
    Probe(
        claim="naive and fused, masked, for short sequences",
        given="There are fewer tokens than features.",
        why="It is right for long sequences. For short ones another tensor is larger "
        "than the scores or the mask.",
        draw=SHORT,
        call=_cost("naive", "fused, masked"),
    ),
) + _explained(
    "how-is-only-the-band-computed",
    Probe(
        claim="in blocks, a window wider than the vectors",
        given="The window is wider than the vectors, and divides the number of tokens.",
        why="It is not the number of scores: each query of a block has one for every "
        "key of two windows.",
        draw=_lengths((3, 9), (5, 7), (16, 19), whole_windows=True),
        call=_cost("in blocks"),
    ),
    Probe(
        claim="in blocks, vectors wider than the window",
        given="The vectors are wider than the window, which divides the number of "
        "tokens.",
        why="It is right for wide windows. Here it is not the number of elements of "
        "the copied keys: for each block, two windows of vectors.",
        draw=_lengths((3, 9), (17, 21), (5, 8), whole_windows=True),
        call=_cost("in blocks"),
    ),
    Probe(
        claim="in blocks, the last block filled up",
        given="The window does not divide the number of tokens.",
        why="It is right for whole blocks. The last block is filled up to a whole one, "
        "and all of it counts.",
        draw=_lengths((31, 39), (8, 12), (10, 10)),
        call=_cost("in blocks"),
    ),
)


# 5.6 ---------------------------------------------------------------------------------


def _job_seconds(g):
    return {
        "seconds": {n: whole(g, 10, 40) / 2**13 for n in ("full", "local", "fused")}
    }


def _time(*factors, slow_after=(), given=True):
    """Return a call with a made-up clock, and one repeat less than factors.

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

        jobs, repeats = {name: partial(run, name) for name in seconds}, len(factors) - 1
        if given:
            return dict(time_in_turns(jobs, repeats, lambda: now[0]))
        return dict(time_in_turns(jobs, clock=lambda: now[0]))

    return call


FACTORS = (9, 3, 1, 8), (9, 3, 1, 8, 4), (9, 2, 7, 1, 3, 30)


def _medians(*answers, seconds):
    calls = {f"repeats={len(factors) - 1}": _time(*factors) for factors in FACTORS}
    calls |= {"`repeats` left out": _time(*FACTORS[-1], given=False)}
    return {
        f"{name} ({what})": median
        for what, call in calls.items()
        for name, median in call(*answers, seconds).items()
    }


def _race(*races):
    """Return a function that draws seconds; ours are less (<), equal (=) or more (>)."""

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


TIMING = _explained(
    "a-fault-the-stopwatch-that-was-pressed-once",
    Probe(
        claim="the seconds of one call of each job, by the given clock",
        given="Every call of a job takes the same time.",
        why="They are not the difference of the clock before and after one call.",
        draw=_job_seconds,
        call=_time(1, 1, 1),
    ),
    Probe(
        claim="a first call of each job warms up and is not measured",
        given="The first call of a job takes 50 times as long; there is one repeat.",
        why="The seconds are right where every call takes the same time, not here.",
        draw=_job_seconds,
        call=_time(50, 1),
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
        call=_time(*[1] * 6, slow_after=(2, 4)),
    ),
) + _explained(
    "from-which-length-does-it-pay",
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
        self.distances, self.wrong, self.logits = distances, wrong, logits

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


LOSSES = _explained(
    "how-far-can-a-stack-of-windows-see",
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
) + _explained(
    "what-does-the-window-do-to-quality",
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
        why="It is right for one distance. Each distance has its own column of logits, "
        "and its own positions at which an answer exists.",
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
TIMED, MEASURED = ("time_in_turns", "crossover"), ("reach", "accuracy_by_distance")
EXERCISE = Exercise(
    "5_efficient_attention",
    "Efficient attention",
    (
        Task("mask", "The mask of a window", ("local_mask",), 2, MASK),
        Task("local", "Local attention", ("window_attention",), 6, LOCAL, UNCOUNTED),
        Task("pattern", "A sparse pattern", ("seen_blocks",), 1, SEEN),
        Task("sparse", "Sparse attention", ("sparse_attention",), 4, SPARSE, UNCOUNTED),
        Task("costs", "Memory by formula", ("largest_tensor",), 2, COSTS),
        Task("timing", "A fair benchmark", TIMED, 2, TIMING),
        Task("quality", "What the window does to a model", MEASURED, 3, LOSSES),
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
