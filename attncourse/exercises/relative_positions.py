"""Exercise 4: relative positions, and what they do beyond the trained length."""

import math
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F

from attncourse.exercises.probe import (
    Exercise,
    Probe,
    Task,
    nth,
    numbers,
    one_of,
    sizes,
    whole,
)
from attncourse.exercises.provided import relative_positions as provided
from attncourse.exercises.run import backward, gradients, leaf
from attncourse.training import train

PAGE = "chapters/04_positional_encoding"
T5 = f"{PAGE}#t5-a-learned-number-for-each-bucket-of-distances"
BEYOND = f"{PAGE}#length-extrapolation-six-schemes-beyond-the-trained-length"


def _with_gradient(result, **leaves):
    is_tensor = isinstance(result, torch.Tensor)
    return {"result": result, **gradients(result, **leaves)} if is_tensor else result


# 4.1
def _counts(g, **more):
    queries, keys = sizes(g, 2, 1, 7)
    return {"queries": queries, "keys": keys, **more}


DISTANCES = (
    Probe(
        "each key's distance from each query, one row for each query",
        "No offset is given.",
        "The element in row i and column j is not j - i.",
        _counts,
    ),
    Probe(
        "the first query may stand at any position",
        "`offset` is the key position of the first query.",
        "Right so far, without an offset. Here it should be j - (i + offset).",
        lambda g: _counts(g, offset=whole(g, 1, 400)),
    ),
)


# 4.2
def _bucketed(g, *, near=True, far=True, sides=1, right=False):
    """Draw distances, none of them on the edge between two buckets."""
    buckets = (2, 3, 5, 8, 9)[whole(g, 0, 4)]  # of one side
    edge = buckets // 2
    most = edge + whole(g, 9, 40)
    inner = torch.arange(edge + 1, most)
    shares = (buckets - edge) * (inner / edge).log() / math.log(most / edge)
    inner = inner[(shares - shares.round()).abs() > 1e-3].tolist()
    pool = 4 * [*range(edge), edge - 1] if near else []
    pool += [edge, edge, *inner, most, most + 1, 3 * most, 100 * most] if far else []
    distances = -torch.tensor(pool)[whole(g, 0, len(pool) - 1, 2, *sizes(g, 2))]
    if right:
        distances *= 2 * whole(g, 0, 1, *distances.shape) - 1
    inputs = {"distances": distances, "num_buckets": sides * buckets}
    return inputs | {"max_distance": most} | ({"causal": False} if sides == 2 else {})


BUCKETS = (
    Probe(
        "clipped_rows: rows from 0 to twice the reach",
        "`clipped_rows` is called with distances of either sign.",
        "The row is not the distance, limited on both sides, plus the reach.",
        lambda g: {"distances": whole(g, -5, 5, 3, 7), "reach": whole(g, 1, 6)},
        nth(0),
        read=f"{PAGE}#shaw-a-learned-vector-for-each-distance",
    ),
    Probe(
        "buckets: near distances into the past have a bucket each",
        "The model is causal; distances are from 0 to e - 1 into the past.",
        "The bucket is not the distance, as a positive number.",
        lambda g: _bucketed(g, far=False),
        nth(1),
        read=T5,
    ),
    Probe(
        "buckets: far distances share, the more the farther, up to the last one",
        "The distances are e and more into the past.",
        "Near distances are right; these are not in the formula's buckets.",
        lambda g: _bucketed(g, near=False),
        nth(1),
    ),
    Probe(
        "buckets: in a causal model, keys to the right are in bucket 0",
        "Some distances are positive: these keys stand to the right.",
        "Right so far, in the past. To the right the bucket should be 0.",
        lambda g: _bucketed(g, right=True),
        nth(1),
    ),
    Probe(
        "buckets: with two sides, keys to the right have the upper half",
        "`causal` is False, and the distances have either sign.",
        "Right so far, if causal. With n = num_buckets / 2, the row should be "
        "bucket(d) to the left, and n + bucket(d) to the right.",
        lambda g: _bucketed(g, sides=2, right=True),
        nth(1),
        as_ifs={"`causal` is True": lambda **_: {"causal": True}},
    ),
)


# 4.3
def _table(g, *scales, near=False):
    """Draw a table, with distances that are all near, or with an offset."""
    heads, buckets = whole(g, 2, 4), whole(g, 5, 9)
    inputs = {"num_heads": heads, "num_buckets": buckets, "max_distance": buckets + 3}
    inputs["scale"] = one_of(g, *scales)
    inputs["table"] = numbers(g, buckets, heads)
    if near:
        return inputs | {"queries": buckets // 2 - 1, "keys": buckets // 2}
    queries, offset = whole(g, 2, 4), whole(g, 12, 16)
    return inputs | {"queries": queries, "keys": queries + offset, "offset": offset}


def _set_table(module, table):
    parameters = list(module.parameters())
    if len(parameters) != 1:
        raise ValueError(f"the module has {len(parameters)} parameters, and not one")
    with torch.no_grad():
        parameters[0].copy_(table)


def _bias(cls, num_heads, num_buckets, max_distance, scale, table, **counts):
    """Return the bias of a module whose table is set, and the table."""
    given = () if scale is None else (scale,)
    module = cls(num_heads, num_buckets, max_distance, *given)
    _set_table(module, table)
    module(1, 1)  # nothing of it should be kept
    return module(*counts.values()), next(module.parameters())


def _table_backward(cls, **inputs):
    bias, table = _bias(cls, **inputs)
    return gradients(bias, table=table)


def _new_table(cls, **inputs):
    parameters = list(cls(*inputs.values(), 20).parameters())
    return {"number of parameters": len(parameters), "table": [*parameters, None][0]}


TABLE = (
    Probe(
        "one parameter: a table of zeros, (num_buckets, num_heads)",
        "A new module is made, and its parameters are looked at.",
        "There should be one parameter, all zeros.",
        lambda g: {"num_heads": whole(g, 2, 4), "num_buckets": whole(g, 5, 9)},
        _new_table,
        weight=0,
        read=T5,
    ),
    Probe(
        "each head adds its own number for a near distance",
        "The distances d into the past are near, the table is set, and `scale` is 1.",
        "The bias of head h should be table[d, h], with d = 0 to the right.",
        lambda g: _table(g, 1.0, near=True),
        lambda cls, **inputs: _bias(cls, **inputs)[0],
    ),
    Probe(
        "the bias is multiplied by scale, by 10 if it is not given",
        "All distances are near. `scale` is not 1, or is not given.",
        "The bias is right with `scale=1`, and not here.",
        lambda g: _table(g, None, 0.5, 4.0, near=True),
        lambda cls, **inputs: _bias(cls, **inputs)[0],
    ),
    Probe(
        "far distances share a number, wherever the first query stands",
        "Many distances are far. There are fewer queries than keys, and an offset.",
        "The bias is right for near distances without an offset, and not here.",
        lambda g: _table(g, 1.5, 4.0),
        lambda cls, **inputs: _bias(cls, **inputs)[0],
    ),
    Probe(
        "every use of a number adds to its gradient",
        "A weighted sum of the bias is differentiated.",
        "The bias is right, but not the gradient of the table.",
        lambda g: _table(g, 1.5, 4.0),
        _table_backward,
    ),
)


# 4.4
def _past_of_alibi(head_slopes, alibi, **counts):
    """Return the bias with zeros for the keys to the right of their query."""
    bias = alibi(*counts.values())
    is_matrix = isinstance(bias, torch.Tensor) and bias.dim() >= 2
    return bias.tril(counts.get("offset", 0)) if is_matrix else bias


def _heads(g, **more):
    counts = dict.fromkeys(("queries", "keys"), whole(g, 9, 14))
    return {"num_heads": 2 ** whole(g, 0, 2), **counts, **more}


ALIBI = (
    Probe(
        "head_slopes: the slopes fall from head to head, down to 1/256",
        "`head_slopes` is called with a power of 2.",
        "The slope of head h, counted from 1, is not 2 to the power -8h/n.",
        lambda g: {"num_heads": 2 ** whole(g, 3, 4)},
        nth(0),
        read=f"{PAGE}#alibi-a-slope-for-each-head",
    ),
    Probe(
        "alibi: each head subtracts its slope times the distance",
        "There are as many queries as keys. Only the past is looked at.",
        "The bias is not minus the slope of the head times the distance.",
        _heads,
        _past_of_alibi,
    ),
    Probe(
        "alibi: the first query may stand at any position",
        "`offset` is the key position of the first query.",
        "The bias is right with as many queries as keys, and not here.",
        lambda g: _heads(g, queries=whole(g, 1, 3), offset=whole(g, 5, 6)),
        _past_of_alibi,
    ),
)


# 4.5
def _pairs(g, pairs, **more):
    tokens = whole(g, 2, 5)
    inputs = {"x": numbers(g, tokens, 2 * pairs), "positions": whole(g, 0, 90, tokens)}
    return inputs | {"base": 3.0 + whole(g, 5, 50)} | more


def _half(g):
    kind = one_of(g, torch.float16, torch.bfloat16)
    return {"x": numbers(g, 2, 5, 4).to(kind), "positions": whole(g, 500, 1000, 5)}


ROTARY = (
    Probe(
        "two features are rotated by as many radians as their position",
        "There is one pair of features, so its angle is the position.",
        "(a, b) at p should become (a cos p - b sin p, a sin p + b cos p).",
        lambda g: _pairs(g, 1),
        read=f"{PAGE}#rope-rotary-position-embedding",
    ),
    Probe(
        "features 0 and 1 are a pair, 2 and 3 the next",
        "`base` is 1, so all pairs are rotated by the same angle.",
        "Right so far, with one pair, and not here.",
        lambda g: _pairs(g, whole(g, 2, 4), base=1.0),
    ),
    Probe(
        "each pair has its own rate",
        "There are several pairs, and `base` is not 1.",
        "Right so far, with equal rates. The rate of pair i should be base^(-2i/d).",
        lambda g: _pairs(g, whole(g, 2, 4)),
    ),
    Probe(
        "by default, positions count from 0 and the base is 10000",
        "There is a batch, or also heads. Neither `positions` nor `base` is given.",
        "Right so far, with both given. Here it, or the gradient of x, is wrong.",
        lambda g: {"x": numbers(g, *sizes(g, whole(g, 2, 3)), 4)},
        lambda rotate, x: _with_gradient(rotate(x := leaf(x)), x=x),
    ),
    Probe(
        "half precision comes out as it came in, with exact angles",
        "`x` is in half precision, and the positions are far.",
        "Right so far, in float32. Here it is off by more than the rounding of `x`.",
        _half,
        tolerance=0.06,
        exact_type=True,
    ),
)


# 4.6
def _attention(g, scheme, *, equal=False, fewer=False, values=False, hidden=0.0):
    """Draw arguments of `attend`, with equal scores or with values if asked for."""
    batch, heads = whole(g, 1, 3), 2 ** whole(g, 0, 2)
    keys, d = whole(g, 4, 8), one_of(g, 2, 6, 10)
    queries = whole(g, 1, keys - 1) if fewer else keys
    identity = torch.eye(keys).repeat(batch, heads, 1, 1)
    inputs = {
        "query": numbers(g, batch, heads, queries, d) * (0 if equal else 1),
        "key": numbers(g, batch, heads, keys, d),
        "value": numbers(g, batch, heads, keys, 3) if values else identity,
        "scheme": scheme,
    }
    if scheme == "table":
        right = torch.ones(keys, keys).triu(1)
        inputs["bias"] = numbers(g, heads, keys, keys) + hidden * right
    return inputs


def _with_bias(attend, query, key, value, scheme, bias):
    return attend(query, key, value, scheme, lambda queries, keys, offset=0: bias)


def _attend_backward(attend, **inputs):
    return backward(partial(_with_bias, attend), **inputs)


def _all_schemes(attend, query, key, value, scheme):
    heads = torch.arange(query.shape[1])[:, None, None]

    def curve(queries, keys, offset=0):
        distances = torch.arange(keys) - (offset + torch.arange(queries))[:, None]
        return 2 * torch.cos(0.9 * distances + heads)

    rest = {"none": None, "table": curve, "alibi": None, "rotary": None}
    return {name: attend(query, key, value, name, x) for name, x in rest.items()}


IDENTITY = "The values are the identity, so the output equals the weights."
NO_SCHEME = {'the scheme is "none"': lambda **_: {"scheme": "none"}}
ATTENTION = (
    Probe(
        "a query attends to the keys up to its own position",
        f'The scheme is "none", and the scores are equal. {IDENTITY}',
        "The weights are not 1/(i + 1) for the keys up to query i, and 0 else.",
        lambda g: _attention(g, "none", equal=True),
    ),
    Probe(
        "the scores are divided by the root of d",
        f'The scheme is "none", and the scores differ. {IDENTITY}',
        "Right so far, for equal scores. Here it is not the softmax of q · k / √d.",
        lambda g: _attention(g, "none"),
    ),
    Probe(
        '"table": the bias of each head is added to its scores',
        'The scheme is "table". Queries, keys, bias and values are drawn.',
        "The output is not softmax(scores + bias), masked, times the values.",
        lambda g: _attention(g, "table", values=True),
        _with_bias,
        as_ifs={"the bias is 0": lambda bias, **_: {"bias": 0 * bias}},
        read=T5,
    ),
    Probe(
        "keys to the right stay hidden, whatever their bias",
        "The bias is 10,000,000,000 larger to the right of each query.",
        "The weights are right with a small bias, and not here.",
        lambda g: _attention(g, "table", hidden=1e10),
        _with_bias,
    ),
    Probe(
        "gradients reach the bias, and query, key and value",
        "A weighted sum of the output is differentiated.",
        "The output is right, but not its gradients.",
        lambda g: _attention(g, "table", values=True),
        _attend_backward,
    ),
    Probe(
        '"alibi" adds the bias of ALiBi',
        f'The scheme is "alibi", and the queries are 0. {IDENTITY}',
        "The weights are not the softmax of ALiBi's bias, up to each query.",
        lambda g: _attention(g, "alibi", equal=True),
        as_ifs=NO_SCHEME,
    ),
    Probe(
        '"rotary" rotates queries and keys, and leaves the values alone',
        f'The scheme is "rotary". {IDENTITY}',
        "The weights are not those of queries and keys that are both rotated.",
        lambda g: _attention(g, "rotary"),
        as_ifs=NO_SCHEME,
    ),
    Probe(
        "fewer queries than keys: the queries are the last tokens",
        'All schemes are tried; "table" gets a curve over the distances.',
        "Right so far, with as many queries as keys, and not here.",
        lambda g: _attention(g, "all", fewer=True),
        _all_schemes,
        read=f"{PAGE}#relative-position-encoding",
    ),
)


# 4.7
def _losses_and_gradient(losses, train_and_test, table, tokens):
    model = provided.Bigrams(table)
    return _with_gradient(losses(model, tokens), table=model.table)


def _experiment(g, gain=100.0, *, steps=(3, 6), default=False):
    inputs = {"slope": whole(g, 2, 9) / 100, "gain": gain, "steps": whole(g, *steps)}
    trained = 32 if default else whole(g, 13, 19)
    inputs["lengths"] = [trained + whole(g, 5, 9), trained, 2 * trained + 5]
    return inputs if default else inputs | {"trained": trained}


def _run(train_and_test, slope, gain, **settings):
    model = provided.ByPosition(slope, gain)
    return model, train_and_test(model, provided.numbered_texts, *settings.values())


def _tested(losses, train_and_test, **inputs):
    found, lengths = _run(train_and_test, **inputs)[1], inputs["lengths"]
    if not isinstance(found, dict) or set(found) != set(lengths):
        return found
    return {f"the loss at lengths[{i}]": found[n] for i, n in enumerate(lengths)}


def _first_gradient(losses, train_and_test, **inputs):
    """Return the gradient of the first step, for the next tokens of two texts."""
    model, _ = _run(train_and_test, **inputs)
    if model.logits is None or model.logits.grad is None:
        return {"the gradient of logits": None}
    targets = model.tokens[:, 1:, None]
    pulled = model.logits.grad[:, :-1].gather(2, targets)[[0, -1], :, 0]
    return {"the gradient of logits": pulled[:, : inputs["trained"] - 2]}


def _what_was_read(losses, train_and_test, **inputs):
    """Count steps, tests and texts; a text may be read without its last token."""
    (steps, tests), short = _run(train_and_test, **inputs)[0].read, inputs["trained"]
    right = [len(ids) == 32 and short - n in (0, 1) for ids, n in steps]
    read = [sum(len(i) for i, n in tests if m - n in (0, 1)) for m in inputs["lengths"]]
    new, tested = (set().union(*(ids for ids, _ in part)) for part in (steps, tests))
    return {
        "steps": len(steps),
        "steps with 32 texts of `trained` tokens": sum(right),
        "tests with 64 texts": read.count(64),
        "different texts in training": len(new),
        "texts in training and in a test": len(new & tested),
    }


LENGTHS = (
    Probe(
        "next_token_losses: each next token, with a gradient for the model",
        "The model's logits are the row of `table` for the token it reads.",
        "The loss at p is not -log softmax(logits at p)[token at p + 1].",
        lambda g: {"table": numbers(g, 6, 6), "tokens": whole(g, 1, 5, 2, 4)},
        _losses_and_gradient,
    ),
    Probe(
        "train_and_test: each length is judged on its last predictions",
        "The model's loss grows with the position; training has no effect.",
        "The loss is not the mean of the last `trained` - 1 predictions.",
        lambda g: _experiment(g, gain=0.0),
        _tested,
        read=BEYOND,
    ),
    Probe(
        "train_and_test: the tests come after a training as asked for",
        "Training has an effect, set by the learning rate. `trained` is not given.",
        "Right so far, if training has no effect and `trained` is given, and not here.",
        lambda g: _experiment(g, default=True),
        _tested,
        as_ifs={"training has no effect": lambda **_: {"gain": 0.0}},
        tolerance=1e-3,
    ),
    Probe(
        "train_and_test: 32 new texts in each step, 64 new ones in each test",
        "The steps, the tests and the texts that the model reads are counted.",
        "At least one count is wrong; the first such count is shown below.",
        lambda g: _experiment(g, steps=(120, 129)),
        _what_was_read,
    ),
    Probe(
        "train_and_test: all predictions of a text are learned from",
        "The gradient of the first step is looked at, for the next tokens.",
        "It is not that of the mean loss of all predictions of 32 texts.",
        _experiment,
        _first_gradient,
    ),
)


# 4.8
def _last_logits(new_model, gains, tokens):
    """Return the logits of models whose parameters are set to the same numbers."""
    found = {}
    for scheme in ("none", "rotary", "alibi", "sinusoidal"):
        model, generator = new_model(scheme), torch.Generator().manual_seed(0)
        for name, parameter in model.named_parameters():
            if not name.startswith("learned"):
                parameter.data = numbers(generator, *parameter.shape, most=0.5)
        found[scheme] = model(tokens)[:, -1]
    return found


def _embeddings(new_model, gains, seed):
    seeds = ([seed] if seed else [], [seed], [seed + 1])
    models = [new_model("none", *given) for given in seeds]
    return {str(i): m.embedding.weight[0] for i, m in enumerate(models, start=1)}


def _difference(values, inputs):
    one, two, other = values.values()
    return abs(one - two).max() + (two == other).all()


def _scales(new_model, gains, scale):
    found = {}
    for name, rest in (("scale given", (0, scale)), ("scale left out", ())):
        learned = new_model("table", *rest).learned
        _set_table(learned, torch.ones(()))
        found[name] = learned(1, 3, 2)
    return found


def _rows(new_model, gains, scale):
    """Return the rows of the table that the distances in training reach."""
    learned = new_model("table", 0, scale).learned
    rows = next(learned.parameters()).shape[0]
    _set_table(learned, torch.arange(rows)[:, None])
    return {"buckets": rows, "bias": learned(1, 31, 30)}


def _useless(values, inputs):
    rows = int(values["buckets"])
    reached = np.unique((values["bias"] / inputs["scale"]).round())
    return rows - len(reached) + max(0, 8 - rows)


def _results(g, seeds):
    schemes, lengths = ("none", "sinusoidal", "alibi", "table"), sizes(g, 3)
    losses = {}
    for seed in range(seeds):
        drawn = numbers(g, len(schemes), 3).tolist()
        rows = [dict(zip(lengths, row, strict=True)) for row in drawn]
        losses[9 - seed] = dict(zip(schemes, rows, strict=True))
    inputs = {"losses": losses, "length": lengths[whole(g, 0, 2)]}
    return inputs | ({"baseline": "alibi"} if seeds > 1 and whole(g, 0, 1) else {})


def _trained(new_model, gains, steps, texts):
    """Return log-probabilities of the last tokens of long texts, by two models."""

    def loss_of(model, tokens):
        return F.cross_entropy(model(tokens[:, :-1]).mT, tokens[:, 1:])

    found, short = {}, provided.draw(32 * steps, 32, seed=0).split(32)
    options = {"learning_rate": 5e-3, "device": "cpu", "progress": False}
    for scheme in ("alibi", "sinusoidal"):
        model = new_model(scheme, 0)
        train(model, lambda step: (short[step],), loss_of, steps=steps, **options)
        with torch.no_grad():
            logits = model(texts[:, :-1])[:, -31:]
        found[scheme] = -F.cross_entropy(logits.mT, texts[:, -31:], reduction="none")
    return found


COMPARISON = (
    Probe(
        "new_model: a LanguageModel with your attend and the scheme",
        "Parameters are set to the same numbers. The last logits are compared.",
        "They are not those of a `LanguageModel` with `attend` and the scheme.",
        lambda g: {"tokens": whole(g, 1, 18, 2, 9)},
        _last_logits,
    ),
    Probe(
        "new_model: the same seed gives the same weights, another one others",
        "Measured is the difference of two models with one seed (0 is left out once), "
        "plus 1 if a third with another seed equals the second.",
        "Weights differ that should be equal, or the reverse.",
        lambda g: {"seed": whole(g, 0, 2)},
        _embeddings,
        measure=_difference,
        between=(0, 0),
    ),
    Probe(
        "new_model: the table has four heads and the scale, or 10",
        "All numbers in the table are set to 1, so the bias is the scale.",
        "It is not the scale that was asked for, or not 10 if none was.",
        lambda g: {"scale": whole(g, 3, 9) / 2},
        _scales,
        weight=0.5,
    ),
    Probe(
        "new_model: every bucket is reached in training",
        "Counted are buckets that no distance up to 30 reaches, and those short of 8.",
        "There are some.",
        lambda g: {"scale": whole(g, 3, 9) / 2},
        _rows,
        measure=_useless,
        between=(0, 0),
        read=f"{PAGE}#buckets-that-were-never-trained",
    ),
    Probe(
        "gains: the baseline's loss minus the scheme's, at one length",
        "There is one seed, so the mean gain is the smallest, too.",
        "The numbers are not the baseline's loss minus that of the scheme.",
        lambda g: _results(g, 1),
        nth(1),
    ),
    Probe(
        "gains: the mean and the smallest gain over the seeds",
        "There are several seeds; the baseline is given, or left out.",
        "Right so far, with one seed. Here it is not the mean and the smallest gain.",
        lambda g: _results(g, whole(g, 2, 4)),
        nth(1),
    ),
    Probe(
        "trained on 32 tokens, ALiBi is better at 256 than sinusoids",
        "Measured is how much lower ALiBi's loss is on the last 31 of 256 tokens.",
        "It is not as much lower as it should be.",
        lambda g: {"steps": 130, "texts": provided.draw(40, 256, seed=90_000)},
        _trained,
        measure=lambda found, _: (found["alibi"] - found["sinusoidal"]).mean(),
        between=(0.15, 1.5),  # the model answer: 0.30 to 0.51 in 10 seeds
        slow=True,
        read=BEYOND,
    ),
)

ROWS = ("clipped_rows", "buckets")
SLOPES = ("head_slopes", "alibi")
TRAINING = ("next_token_losses", "train_and_test")
MODELS = ("new_model", "gains")
MATRIX = ("relative_distances",)
EXERCISE = Exercise(
    "4_relative_positions",
    "Relative positions",
    (
        Task("distances", "The matrix of distances", MATRIX, 1, DISTANCES),
        Task("buckets", "Distances that share a row", ROWS, 2, BUCKETS),
        Task("table", "A learned table of distances", ("LearnedBias",), 2, TABLE),
        Task("alibi", "ALiBi: a slope for each head", SLOPES, 2, ALIBI),
        Task("rotary", "Rotary positions (RoPE)", ("rotate",), 3, ROTARY),
        Task("attention", "A bias on the scores", ("attend",), 4, ATTENTION),
        Task("lengths", "Train short, test long", TRAINING, 3, LENGTHS),
        Task("comparison", "The comparison with sinusoids", MODELS, 3, COMPARISON),
    ),
    forbidden=(
        "attncourse.layers",
        "torch.nn.functional.scaled_dot_product_attention",
        "torch.nn.functional.multi_head_attention_forward",
        "torch.nn.MultiheadAttention",
        "torch.nn.attention",
    ),
)
