"""Exercise 4: relative positions, and what they do beyond the trained length."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from attncourse.exercises.drawing import numbers, one_of, sizes, whole
from attncourse.exercises.forbidden import FUSED
from attncourse.exercises.probe import Exercise, Probe, Task, nth
from attncourse.exercises.run import backward, gradients, leaf

PAGE = "chapters/04_positional_encoding"
T5 = f"{PAGE}#t5-a-learned-number-for-each-bucket-of-distances"
BEYOND = f"{PAGE}#length-extrapolation-six-schemes-beyond-the-trained-length"


# 4.1
def _counts(g, **offset):
    queries, keys = sizes(g, 2, 1, 7)
    return {"queries": queries, "keys": keys, **offset}


def _bucketed(g, far=True):
    """Draw distances, none of them on the edge between two buckets."""
    buckets = (2, 3, 5, 8, 9)[whole(g, 0, 4)]
    edge = buckets // 2
    most = edge + whole(g, 9, 40)
    inner = torch.arange(edge + 1, most)
    shares = (buckets - edge) * (inner / edge).log() / math.log(most / edge)
    inner = inner[(shares - shares.round()).abs() > 1e-3].tolist()
    pool = 4 * [*range(edge), edge - 1]
    pool += [edge, edge, *inner, most, most + 1, 3 * most, 100 * most] * far
    distances = torch.tensor(pool)[whole(g, 0, len(pool) - 1, 2, *sizes(g, 2))]
    distances *= 2 * whole(g, 0, 1, *distances.shape) - 1
    return {"distances": distances, "num_buckets": buckets, "max_distance": most}


DISTANCES = (
    Probe(
        "relative_distances: each key's distance from each query, a row for each query",
        "`offset` is left out.",
        _counts,
        why="The element in row i and column j is not j - i.",
    ),
    Probe(
        "relative_distances: the first query stands at the key position `offset`",
        "`offset` is given.",
        lambda g: _counts(g, offset=whole(g, 200, 400)),
        why="Without an offset it is right. Query i stands at i + offset.",
    ),
    Probe(
        "buckets: near distances have a bucket each, keys to the right have bucket 0",
        "Distances d into the past are less than e.",
        lambda g: _bucketed(g, far=False),
        nth(1),
        why="The bucket is not d, or not 0 at positive distances.",
        read=T5,
    ),
    Probe(
        "buckets: far distances share buckets, up to the last one",
        "Some distances are e and more, some beyond max_distance.",
        _bucketed,
        nth(1),
        why="Where all d are less than e it is right.",
        read=T5,
    ),
)


# 4.2
def _table(g, near=False):
    """Draw a table, with distances that are all near, or with an offset."""
    heads, buckets = whole(g, 2, 4), whole(g, 5, 9)
    inputs = {"num_heads": heads, "num_buckets": buckets, "max_distance": buckets + 3}
    inputs["scale"] = 1.0 if near else one_of(g, None, 0.5, 4.0)
    inputs["table"] = numbers(g, buckets, heads)
    if near:
        return inputs | {"queries": buckets // 2 - 1, "keys": buckets // 2}
    queries, offset = whole(g, 2, 4), whole(g, 12, 16)
    return inputs | {"queries": queries, "keys": queries + offset, "offset": offset}


def _bias(cls, num_heads, num_buckets, max_distance, scale, table, **counts):
    """Return the bias of a module whose table is set, and the gradient of the table."""
    given = () if scale is None else (scale,)
    module = cls(num_heads, num_buckets, max_distance, *given)
    [parameter] = module.parameters()
    for sizes_of in ([*counts.values()][:2], counts.values(), (1, 1)):
        module(*sizes_of)  # nothing of it should be kept
    parameter.data.copy_(table)
    bias = module(*counts.values())
    return {"bias": bias, **gradients(bias, table=parameter)}


def _new_table(cls, **inputs):
    parameters = list(cls(*inputs.values(), 20).parameters())
    return {
        "number of parameters": len(parameters),
        "first parameter": [*parameters, None][0],
    }


TABLE = (
    Probe(
        "one parameter: a table of zeros, (num_buckets, num_heads)",
        "A new module is made, and its parameters are looked at.",
        lambda g: {"num_heads": whole(g, 2, 4), "num_buckets": whole(g, 5, 9)},
        _new_table,
        weight=0,
        read=T5,
    ),
    Probe(
        "each head adds its own number for a near distance",
        "The distances d into the past are near, the table is set, and `scale` is 1. "
        "Compared are the bias and the gradient of the table.",
        lambda g: _table(g, near=True),
        _bias,
        why="The bias of head h should be table[d, h], with d = 0 to the right.",
    ),
    Probe(
        "the bias is multiplied by scale, 10 by default, wherever the queries stand",
        "`scale` is not 1, or is not given. There are fewer queries than keys, many "
        "far distances, and an offset. The module was called without one before.",
        _table,
        _bias,
    ),
)


# 4.3
def _past_of_alibi(head_slopes, alibi, **counts):
    """Return the bias with zeros for the keys to the right of their query."""
    bias = alibi(*counts.values())
    is_matrix = isinstance(bias, torch.Tensor) and bias.dim() >= 2
    return bias.tril(counts.get("offset", 0)) if is_matrix else bias


def _heads(g):
    """Draw as many queries as keys, or fewer and an offset."""
    counts = {"num_heads": 2 ** whole(g, 0, 2), "queries": whole(g, 9, 14)}
    fewer = {"queries": whole(g, 1, 3), "keys": whole(g, 9, 14), "offset": 6}
    return counts | one_of(g, {"keys": counts["queries"]}, fewer)


ALIBI = (
    Probe(
        "head_slopes: the slopes fall from head to head, down to 1/256",
        "`head_slopes` is called with a power of 2.",
        lambda g: {"num_heads": 2 ** whole(g, 3, 4)},
        why="The slope of head h, counted from 1, is not 2 to the power -8h/n.",
        read=f"{PAGE}#alibi-a-slope-for-each-head",
    ),
    Probe(
        "alibi: each head subtracts its slope times the distance",
        "Only the past is looked at. `offset`, the key position of the first query, is "
        "given or left out.",
        _heads,
        _past_of_alibi,
        why="The bias is not minus the slope times how far back the key lies.",
    ),
)


# 4.4
def _pairs(g, pairs):
    tokens = whole(g, 2, 5)
    inputs = {"x": numbers(g, tokens, 2 * pairs), "positions": whole(g, 0, 90, tokens)}
    return inputs | {"base": 3.0 + whole(g, 5, 50)}


def _half(g):
    kind = one_of(g, torch.float16, torch.bfloat16)
    return {"x": numbers(g, 2, 5, 4).to(kind), "positions": whole(g, 500, 1000, 5)}


ROTARY = (
    Probe(
        "two features are rotated by as many radians as their position",
        "There is one pair of features, so its angle is the position.",
        lambda g: _pairs(g, 1),
        why="(a, b) at p should become (a cos p - b sin p, a sin p + b cos p).",
        read=f"{PAGE}#rope-rotary-position-embedding",
    ),
    Probe(
        "features 0 and 1 are a pair, 2 and 3 the next, each with its own rate",
        "There are several pairs, and `base` is not 1.",
        lambda g: _pairs(g, whole(g, 2, 4)),
        why="The pairs are not these, or the rate of pair i is not base^(-2i/d).",
    ),
    Probe(
        "by default, positions count from 0 and the base is 10000",
        "There is a batch, or also heads. Neither `positions` nor `base` is given. "
        "Compared are the result and the gradient of x.",
        lambda g: {"x": numbers(g, *sizes(g, whole(g, 2, 3)), 4)},
        backward,
    ),
    Probe(
        "half precision comes out as it came in, with exact angles",
        "`x` is in half precision, and the positions are far.",
        _half,
        why="It is off by more than the rounding of `x`: in half precision, angles at "
        "far positions are too coarse.",
        tolerance=0.06,
        exact_type=True,
    ),
)


# 4.5
def _attention(g, scheme, *, equal=False, fewer=False, hidden=0.0):
    """Draw arguments of `attend`: with identity values if all are queries, too."""
    batch, heads = whole(g, 1, 3), 2 ** whole(g, 0, 2)
    keys, d = whole(g, 4, 8), one_of(g, 2, 6, 10)
    queries = whole(g, 1, keys - 1) if fewer else keys
    identity = torch.eye(keys).repeat(batch, heads, 1, 1)
    inputs = {
        "query": numbers(g, batch, heads, queries, d) * (0 if equal else 1),
        "key": numbers(g, batch, heads, keys, d),
        "value": numbers(g, batch, heads, keys, 3) if fewer else identity,
        "scheme": scheme,
    }
    if scheme == "table":
        right = torch.ones(keys, keys).triu(1)
        inputs["bias"] = numbers(g, heads, keys, keys) + hidden * right
    return inputs


def _with_bias(attend, scheme, **inputs):
    """Return the output, and the gradients of the inputs."""
    leaves = {name: leaf(x) for name, x in inputs.items()}
    query, key, value, bias = leaves.values()
    output = attend(query, key, value, scheme, lambda queries, keys, offset=0: bias)
    return {"output": output, **gradients(output, **leaves)}


def _all_schemes(attend, query, key, value, scheme):
    heads = torch.arange(query.shape[1])[:, None, None]

    def curve(queries, keys, offset=0):
        distances = torch.arange(keys) - (offset + torch.arange(queries))[:, None]
        return 2 * torch.cos(0.9 * distances + heads)

    rest = {"none": None, "table": curve, "alibi": None, "rotary": None}
    return {name: attend(query, key, value, name, x) for name, x in rest.items()}


IDENTITY = "The values are the identity, so the output equals the weights."
ATTENTION = (
    Probe(
        "the weights are a softmax over the keys up to each query's position",
        f'The scheme is "none". {IDENTITY}',
        lambda g: _attention(g, "none"),
        why="The weights are not softmax(q · k / √d) over these keys.",
    ),
    Probe(
        '"table": the bias of each head is added to its scores',
        f'The scheme is "table", and the queries are 0. {IDENTITY}',
        lambda g: _attention(g, "table", equal=True),
        _with_bias,
        why="The weights are not the softmax of the bias, or a gradient is wrong.",
        read=T5,
    ),
    Probe(
        "keys to the right stay hidden, whatever their bias",
        "The bias is 10,000,000,000 larger to the right of each query.",
        lambda g: _attention(g, "table", hidden=1e10),
        _with_bias,
    ),
    Probe(
        '"alibi" adds the bias of ALiBi',
        f'The scheme is "alibi", and the queries are 0. {IDENTITY}',
        lambda g: _attention(g, "alibi", equal=True),
    ),
    Probe(
        '"rotary" rotates queries and keys, and leaves the values alone',
        f'The scheme is "rotary". {IDENTITY}',
        lambda g: _attention(g, "rotary"),
    ),
    Probe(
        "fewer queries than keys: the queries are the last tokens",
        'All schemes are tried; "table" gets a curve over the distances.',
        lambda g: _attention(g, "all", fewer=True),
        _all_schemes,
        read=f"{PAGE}#relative-position-encoding",
    ),
)


# 4.6
class ByPosition(nn.Module):
    """A model whose loss follows from the position alone.

    Symbol 0, which never occurs, has the logit slope * position + gain * level, all
    others 0. Training lowers the levels, the only parameter, one for each position.
    """

    def __init__(self, slope, gain):
        super().__init__()
        self.slope, self.gain = slope, gain
        self.levels = nn.Parameter(torch.zeros(80))

    def forward(self, tokens):
        """Return the logits, (batch, tokens, 19)."""
        positions = torch.arange(tokens.shape[1])
        logit = self.slope * positions + self.gain * self.levels[positions]
        return F.pad(logit[:, None], (0, 18)).repeat(len(tokens), 1, 1)


def _losses_and_gradient(losses, train_and_test, table, tokens):
    model = nn.Embedding.from_pretrained(table, freeze=False)
    found = losses(model, tokens)
    return {"losses": found, **gradients(found, table=model.weight)}


def _experiment(g, gain=100.0, *, steps=(3, 6), default=False):
    inputs = {"slope": whole(g, 2, 9) / 100, "gain": gain, "steps": whole(g, *steps)}
    trained = 32 if default else whole(g, 13, 19)
    inputs["lengths"] = [trained + whole(g, 5, 9), trained, 2 * trained + 5]
    return inputs if default else inputs | {"trained": trained}


def _run(train_and_test, slope, gain, **settings):
    """Return what comes back, and with what the texts were drawn."""
    drawn = []

    def draw(batch, length, seed):
        drawn.append((batch, length, seed))
        return 1 + (torch.arange(batch * length) + seed).reshape(batch, length) % 18

    return train_and_test(ByPosition(slope, gain), draw, *settings.values()), drawn


def _tested(losses, train_and_test, **inputs):
    found, lengths = _run(train_and_test, **inputs)[0], inputs["lengths"]
    if not isinstance(found, dict) or set(found) != set(lengths):
        return found
    return {f"the loss at lengths[{i}]": found[n] for i, n in enumerate(lengths)}


def _what_was_drawn(losses, train_and_test, **inputs):
    _, drawn = _run(train_and_test, **inputs)
    steps = [seed for *shape, seed in drawn if shape == [32, inputs["trained"]]]
    tests = [(length, seed) for batch, length, seed in drawn if batch == 64]
    return {
        "batches of 32 texts of `trained` tokens": len(steps),
        "different seeds of these": len(set(steps)),
        "lengths of which 64 texts were drawn": sorted(length for length, _ in tests),
        "seeds that these share with the others": len(
            {seed for _, seed in tests} & set(steps)
        ),
    }


LENGTHS = (
    Probe(
        "next_token_losses: each next token, with a gradient for the model",
        "The model's logits are the row of `table` for the token it reads.",
        lambda g: {"table": numbers(g, 6, 6), "tokens": whole(g, 0, 5, 2, 4)},
        _losses_and_gradient,
        why="The loss at p is not -log softmax(logits at p)[token at p + 1]: the "
        "logits at p predict the next token.",
    ),
    Probe(
        "train_and_test: each length is judged on its last `trained` - 1 predictions",
        "The model's loss grows with the position; training has no effect.",
        lambda g: _experiment(g, gain=0.0),
        _tested,
        read=BEYOND,
    ),
    Probe(
        "train_and_test: the tests come after a training on all predictions",
        "Training has an effect, set by the learning rate, at each position that is "
        "learned from. `trained` is not given.",
        lambda g: _experiment(g, default=True),
        _tested,
        tolerance=1e-3,
    ),
    Probe(
        "train_and_test: 32 new texts in each step, 64 new ones in each test",
        "The calls of `draw` are counted.",
        lambda g: _experiment(g, steps=(120, 129)),
        _what_was_drawn,
    ),
)


# 4.7
def _results(g, seeds):
    schemes, lengths = ("none", "sinusoidal", "alibi", "table"), sizes(g, 3)
    losses = {}
    for seed in range(seeds):
        drawn = numbers(g, len(schemes), 3).tolist()
        rows = [dict(zip(lengths, row, strict=True)) for row in drawn]
        losses[9 - seed] = dict(zip(schemes, rows, strict=True))
    inputs = {"losses": losses, "length": lengths[whole(g, 0, 2)]}
    return inputs | ({"baseline": "alibi"} if seeds > 1 and whole(g, 0, 1) else {})


COMPARISON = (
    Probe(
        "the baseline's loss minus that of each scheme, at one length",
        "There is one seed. The baseline is left out.",
        lambda g: _results(g, 1),
    ),
    Probe(
        "the mean and the smallest gain over the seeds",
        "There are several seeds; the baseline is given, or left out.",
        lambda g: _results(g, one_of(g, 2, 4, 3)),
        why="For one seed it is right. Each seed has a gain of its own.",
        read=BEYOND,
    ),
)

BUCKETS = ("relative_distances", "buckets")
SLOPES = ("head_slopes", "alibi")
TRAINING = ("next_token_losses", "train_and_test")
EXERCISE = Exercise(
    "4_relative_positions",
    "Relative positions",
    (
        Task("distances", "Distances that share a bucket", BUCKETS, 3, DISTANCES),
        Task("table", "A learned table of distances", ("LearnedBias",), 2, TABLE),
        Task("alibi", "ALiBi: a slope for each head", SLOPES, 2, ALIBI),
        Task("rotary", "Rotary positions (RoPE)", ("rotate",), 3, ROTARY),
        Task("attention", "A bias on the scores", ("attend",), 4, ATTENTION),
        Task("lengths", "Train short, test long", TRAINING, 4, LENGTHS),
        Task("comparison", "The comparison with sinusoids", ("gains",), 2, COMPARISON),
    ),
    forbidden=("attncourse.layers", *FUSED),
)
