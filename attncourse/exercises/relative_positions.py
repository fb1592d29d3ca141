"""Exercise 4: relative positions, and what they do beyond the trained length."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from attncourse.exercises.probe import Exercise, Probe, Task, numbers, sizes, whole
from attncourse.exercises.provided.relative_positions import (
    Bigrams,
    ByPosition,
    draw,
    numbered_texts,
)
from attncourse.exercises.run import gradients, leaf
from attncourse.training import train

PAGE = "chapters/04_positional_encoding"
T5 = f"{PAGE}#t5-a-number-for-each-bucket-of-distances"
BEYOND = f"{PAGE}#what-happens-beyond-the-trained-length"


# 4.1 ---------------------------------------------------------------------------------


def _counts(g, **more):
    queries, keys = sizes(g, 2, 1, 7)
    return {"queries": queries, "keys": keys, **more}


DISTANCES = Task(
    name="distances",
    title="The matrix of distances",
    answers=("relative_distances",),
    points=1,
    probes=(
        Probe(
            "as many queries as keys: each key's distance from each query",
            "There are as many queries as keys, and no offset is given.",
            "The element in row i and column j is not j - i.",
            lambda g: dict.fromkeys(("queries", "keys"), whole(g, 3, 7)),
        ),
        Probe(
            "one row for each query, one column for each key",
            "There are more queries than keys, or fewer. No offset is given.",
            "It is right with as many queries as keys, and not here.",
            _counts,
        ),
        Probe(
            "the first query may stand at any position",
            "`offset` is the key position of the first query.",
            "Right without an offset. Here it should be j - (i + offset).",
            lambda g: _counts(g, offset=whole(g, 1, 400)),
        ),
    ),
)


# 4.2 ---------------------------------------------------------------------------------


def _bucketed(g, *kinds, sides=1, signs=(-1,)):
    """Draw distances of the kinds asked for, none on the edge between two buckets."""
    buckets = (2, 3, 5, 8, 9)[whole(g, 0, 4)]  # of one side
    edge = buckets // 2
    most = edge + whole(g, 9, 40)
    ratio = (buckets - edge) / math.log(most / edge)
    shares = {d: ratio * math.log(d / edge) for d in range(edge + 1, most)}
    pools = {
        "near": [0, edge - 1, *range(edge)],
        "far": [
            edge,
            edge,
            *(d for d, x in shares.items() if abs(x - round(x)) > 1e-3),
        ],
        "beyond": [most, most + 1, most + 2, 3 * most, 100 * most],
    }
    pool = torch.tensor([d for kind in kinds for d in pools[kind]])
    picked = pool[whole(g, 0, len(pool) - 1, 2, *sizes(g, 2))]
    picked *= torch.tensor(signs)[whole(g, 0, len(signs) - 1, *picked.shape)]
    inputs = {"distances": picked, "num_buckets": sides * buckets, "max_distance": most}
    return inputs | ({"causal": False} if sides == 2 else {})


def _buckets_of(clipped_rows, buckets, **inputs):
    return buckets(*inputs.values())


ALL = ("near", "far", "beyond")
BUCKETS = Task(
    name="buckets",
    title="Distances that share a row",
    answers=("clipped_rows", "buckets"),
    points=2,
    probes=(
        Probe(
            "clipped_rows: rows from 0 to twice the reach",
            "`clipped_rows` is called with distances of either sign.",
            "The row is not the distance, limited on both sides, plus the reach.",
            lambda g: {
                "distances": whole(g, -5, 5, 3, 7),
                "reach": whole(g, 1, 6),
            },
            call=lambda clipped_rows, buckets, **x: clipped_rows(*x.values()),
            read=f"{PAGE}#shaw-a-vector-for-each-distance",
        ),
        Probe(
            "buckets: near distances into the past have a bucket each",
            "The model is causal; distances are from 0 to e - 1 into the past.",
            "The bucket is not the distance, as a positive number.",
            lambda g: _bucketed(g, "near"),
            call=_buckets_of,
            read=T5,
        ),
        Probe(
            "buckets: far distances share, the more the farther, up to the last one",
            "The distances are e and more into the past.",
            "Near distances are right; these are not in the formula's buckets.",
            lambda g: _bucketed(g, "far", "beyond"),
            call=_buckets_of,
        ),
        Probe(
            "buckets: in a causal model, keys to the right are in bucket 0",
            "Some distances are positive: these keys stand to the right.",
            "Right in the past. To the right the bucket should be 0.",
            lambda g: _bucketed(g, *ALL, signs=(-1, 1)),
            call=_buckets_of,
        ),
        Probe(
            "buckets: with two sides, the past has the lower half",
            "`causal` is False, and no distance is positive.",
            "Right if causal. Here n should be half of `num_buckets` in the rule.",
            lambda g: _bucketed(g, *ALL, sides=2),
            call=_buckets_of,
            as_ifs={"`causal` is True": lambda **_: {"causal": True}},
        ),
        Probe(
            "buckets: with two sides, keys to the right have the upper half",
            "`causal` is False, and the distances have either sign.",
            "Right in the past. To the right it should be row n + bucket(d).",
            lambda g: _bucketed(g, *ALL, sides=2, signs=(-1, 1)),
            call=_buckets_of,
        ),
    ),
)


# 4.3 ---------------------------------------------------------------------------------


def _table(g, *, far=True, **more):
    heads, buckets, keys = whole(g, 2, 4), whole(g, 5, 9), whole(g, 12, 19)
    made = {"num_heads": heads, "num_buckets": buckets, "max_distance": buckets + 3}
    made |= {"scale": whole(g, 3, 9) / 2, "table": numbers(g, buckets, heads)}
    keys, queries = (keys, keys - 3) if far else (buckets // 2, buckets // 2 - 1)
    return made | {"queries": queries, "keys": keys} | more


def _last_queries(g):
    inputs = _table(g, queries=whole(g, 1, 3))
    return inputs | {"offset": inputs["keys"] - inputs["queries"]}


def _set_table(module, table):
    parameters = list(module.parameters())
    if len(parameters) != 1:
        raise ValueError(f"the module has {len(parameters)} parameters, and not one")
    with torch.no_grad():
        parameters[0].copy_(table)


def _module(cls, num_heads, num_buckets, max_distance, scale, table):
    given = () if scale is None else (scale,)
    module = cls(num_heads, num_buckets, max_distance, *given)
    _set_table(module, table)
    return module


def _looked_up(cls, queries, keys, offset=None, **made):
    module = _module(cls, **made)
    module(1, 1)
    return module(queries, keys, *(() if offset is None else (offset,)))


def _new_table(cls, **inputs):
    parameters = list(cls(*inputs.values(), 20).parameters())
    return {"number of parameters": len(parameters), "table": [*parameters, None][0]}


def _table_backward(cls, queries, keys, **made):
    module = _module(cls, **made)
    return gradients(module(queries, keys), table=next(module.parameters()))


TABLE = Task(
    name="table",
    title="A learned table of distances",
    answers=("LearnedBias",),
    points=2,
    probes=(
        Probe(
            "one parameter: a table of zeros, (num_buckets, num_heads)",
            "A new module is made, and its parameters are looked at.",
            "There should be one parameter, all zeros.",
            lambda g: {"num_heads": whole(g, 2, 4), "num_buckets": whole(g, 5, 9)},
            call=_new_table,
            weight=0,
            read=T5,
        ),
        Probe(
            "each head adds its own number for a near distance",
            "All distances are near. The table is set, and `scale` is 1.",
            "In the past, the bias of head h at distance d should be in row d and "
            "column h of the table; to the right, in row 0.",
            lambda g: _table(g, far=False, scale=1.0),
            call=_looked_up,
        ),
        Probe(
            "the bias is multiplied by scale, by 10 if it is not given",
            "All distances are near. `scale` is not 1, or is not given.",
            "The bias is right with `scale=1`, and not here.",
            lambda g: _table(g, far=False, scale=(None, 0.5, 4.0)[whole(g, 0, 2)]),
            call=_looked_up,
        ),
        Probe(
            "far distances share a number, wherever the first query stands",
            "Many distances are far. There are fewer queries than keys, and an offset.",
            "The bias is right for near distances without an offset, and not here.",
            _last_queries,
            call=_looked_up,
        ),
        Probe(
            "every use of a number adds to its gradient",
            "A weighted sum of the bias is differentiated.",
            "The bias is right, but not the gradient of the table.",
            _table,
            call=_table_backward,
        ),
    ),
)


# 4.4 ---------------------------------------------------------------------------------


def _past_of_alibi(head_slopes, alibi, **counts):
    """Return the bias with zeros for the keys to the right of their query."""
    bias = alibi(*counts.values())
    is_matrix = isinstance(bias, torch.Tensor) and bias.dim() >= 2
    return bias.tril(counts.get("offset", 0)) if is_matrix else bias


def _heads(g, **more):
    counts = dict.fromkeys(("queries", "keys"), whole(g, 9, 14))
    return {"num_heads": 2 ** whole(g, 0, 2), **counts, **more}


ALIBI = Task(
    name="alibi",
    title="ALiBi: a slope for each head",
    answers=("head_slopes", "alibi"),
    points=2,
    probes=(
        Probe(
            "head_slopes: the slopes fall from head to head, down to 1/256",
            "`head_slopes` is called with a power of 2.",
            "The slope of head h, counted from 1, is not 2 to the power -8h/n.",
            lambda g: {"num_heads": 2 ** whole(g, 3, 4)},
            call=lambda head_slopes, alibi, num_heads: head_slopes(num_heads),
            read=f"{PAGE}#alibi-a-slope-for-each-head",
        ),
        Probe(
            "alibi: each head subtracts its slope times the distance",
            "There are as many queries as keys. Only the past is looked at.",
            "The bias is not minus the slope of the head times the distance.",
            _heads,
            call=_past_of_alibi,
        ),
        Probe(
            "alibi: the first query may stand at any position",
            "`offset` is the key position of the first query.",
            "The bias is right with as many queries as keys, and not here.",
            lambda g: _heads(g, queries=whole(g, 1, 3), offset=whole(g, 5, 6)),
            call=_past_of_alibi,
        ),
    ),
)


# 4.5 ---------------------------------------------------------------------------------


def _pairs(g, *leading, pairs=3, **more):
    tokens = whole(g, 2, 5)
    inputs = {"x": numbers(g, *leading, tokens, 2 * pairs)}
    inputs |= {"positions": whole(g, 0, 90, tokens), "base": 3.0 + whole(g, 5, 50)}
    return inputs | more


def _half(g):
    kind = (torch.float16, torch.bfloat16)[whole(g, 0, 1)]
    return {"x": numbers(g, 2, 5, 4).to(kind), "positions": whole(g, 500, 1000, 5)}


ROTARY = Task(
    name="rotary",
    title="Rotary positions (RoPE)",
    answers=("rotate",),
    points=3,
    probes=(
        Probe(
            "two features are rotated by as many radians as their position",
            "There is one pair of features, so its angle is the position.",
            "A pair (a, b) at position p should become "
            "(a cos p - b sin p, a sin p + b cos p), with p in radians.",
            lambda g: _pairs(g, pairs=1),
            read=f"{PAGE}#rotary-turn-then-compare",
        ),
        Probe(
            "features 0 and 1 are a pair, 2 and 3 the next",
            "`base` is 1, so all pairs are rotated by the same angle.",
            "It is right with one pair, and not with several.",
            lambda g: _pairs(g, pairs=whole(g, 2, 4), base=1.0),
        ),
        Probe(
            "each pair has its own rate",
            "There are several pairs, and `base` is not 1.",
            "Right with equal rates. The rate of pair i should be base^(-2i/d).",
            lambda g: _pairs(g, pairs=whole(g, 2, 4)),
        ),
        Probe(
            "leading axes, such as batch and heads, are kept apart",
            "There are one or two leading axes.",
            "It is right for one matrix, and not here.",
            lambda g: _pairs(g, *sizes(g, whole(g, 1, 2))),
        ),
        Probe(
            "by default, positions count from 0 and the base is 10000",
            "Neither `positions` nor `base` is given.",
            "It is right if both are given, and not here.",
            lambda g: {"x": numbers(g, *sizes(g, whole(g, 2, 3)), 4)},
        ),
        Probe(
            "half precision comes out as it came in, with exact angles",
            "`x` is in half precision, and the positions are far.",
            "Right in float32. Here it is off by more than the rounding of `x`.",
            _half,
            tolerance=0.06,
            exact_type=True,
        ),
        Probe(
            "gradients flow back to x",
            "A weighted sum of the result is differentiated.",
            "The result is right, but not the gradient of x.",
            _pairs,
            call=lambda rotate, x, positions, base: gradients(
                rotate(x := leaf(x), positions, base), x=x
            ),
            weight=0.5,
        ),
    ),
)


# 4.6 ---------------------------------------------------------------------------------


def _attention(g, scheme, *, equal=False, fewer=False):
    """Draw the arguments of `attend`; the values are the identity."""
    batch, heads = whole(g, 1, 3), 2 ** whole(g, 0, 2)
    keys, d = whole(g, 4, 8), (2, 6, 10)[whole(g, 0, 2)]
    query = numbers(g, batch, heads, whole(g, 1, keys - 1) if fewer else keys, d)
    return {
        "query": torch.zeros_like(query) if equal else query,
        "key": numbers(g, batch, heads, keys, d),
        "value": torch.eye(keys).expand(batch, heads, keys, keys).contiguous(),
        "scheme": scheme,
    }


def _biased(g, *, hidden=0.0, equal=False, values=False):
    inputs = _attention(g, "table", equal=equal)
    batch, heads, keys, _ = inputs["key"].shape
    if values:
        inputs["value"] = numbers(g, batch, heads, keys, 3)
    above = torch.ones(heads, keys, keys).triu(1)
    return inputs | {"bias": numbers(g, heads, keys, keys) + hidden * above}


def _with_bias(attend, query, key, value, scheme, bias):
    return attend(query, key, value, scheme, lambda queries, keys, offset=0: bias)


def _all_schemes(attend, query, key, value, scheme):
    heads = torch.arange(query.shape[1])[:, None, None]

    def curve(queries, keys, offset=0):
        distances = torch.arange(keys) - (offset + torch.arange(queries))[:, None]
        return 2 * torch.cos(0.9 * distances + heads)

    rest = {"none": None, "table": curve, "alibi": None, "rotary": None}
    return {name: attend(query, key, value, name, x) for name, x in rest.items()}


def _attend_backward(attend, scheme, **inputs):
    leaves = {name: leaf(x) for name, x in inputs.items()}
    return gradients(_with_bias(attend, scheme=scheme, **leaves), **leaves)


IDENTITY = "The values are the identity, so the output equals the weights."
ATTENTION = Task(
    name="attention",
    title="A bias on the scores",
    answers=("attend",),
    points=4,
    probes=(
        Probe(
            "a query attends to the keys up to its own position",
            f'The scheme is "none", and the scores are equal. {IDENTITY}',
            "The weights are not 1/(i + 1) for the keys up to query i, and 0 else.",
            lambda g: _attention(g, "none", equal=True),
        ),
        Probe(
            "the scores are divided by the root of d",
            f'The scheme is "none", and the scores differ. {IDENTITY}',
            "Right with equal scores. Here the weights are not the softmax of the "
            "dot products divided by the root of d.",
            lambda g: _attention(g, "none"),
        ),
        Probe(
            "the bias of each head is added to its scores",
            f'The scheme is "table", and the queries are 0. {IDENTITY}',
            "The weights are not the softmax of the bias over the visible keys.",
            lambda g: _biased(g, equal=True),
            call=_with_bias,
            as_ifs={"the bias is 0": lambda bias, **_: {"bias": 0 * bias}},
            read=T5,
        ),
        Probe(
            "scores and bias add up, and the weights sum up the values",
            'The scheme is "table". Queries, bias and values are drawn.',
            "Right with queries or bias 0 and the identity as values; not here.",
            lambda g: _biased(g, values=True),
            call=_with_bias,
        ),
        Probe(
            "keys to the right stay hidden, whatever their bias",
            "The bias is 10,000,000,000 larger to the right of each query.",
            "The weights are right with a small bias, and not here.",
            lambda g: _biased(g, hidden=1e10),
            call=_with_bias,
        ),
        Probe(
            "gradients reach the bias, and query, key and value",
            "A weighted sum of the output is differentiated.",
            "The output is right, but not its gradients.",
            lambda g: _biased(g, values=True),
            call=_attend_backward,
        ),
        Probe(
            '"alibi" adds the bias of ALiBi',
            f'The scheme is "alibi", and the queries are 0. {IDENTITY}',
            "The weights are not the softmax of ALiBi's bias, up to each query.",
            lambda g: _attention(g, "alibi", equal=True),
            as_ifs={'the scheme is "none"': lambda **_: {"scheme": "none"}},
        ),
        Probe(
            '"rotary" rotates queries and keys, and leaves the values alone',
            f'The scheme is "rotary". {IDENTITY}',
            "The weights are not those of queries and keys that are both rotated.",
            lambda g: _attention(g, "rotary"),
            as_ifs={'the scheme is "none"': lambda **_: {"scheme": "none"}},
        ),
        Probe(
            "fewer queries than keys: the queries are the last tokens",
            'All schemes are tried; "table" gets a curve over the distances.',
            "Right with as many queries as keys. Here the queries are the last tokens, "
            "for the mask and for every scheme.",
            lambda g: _attention(g, "all", fewer=True),
            call=_all_schemes,
            read=f"{PAGE}#distances-instead-of-places",
        ),
    ),
)


# 4.7 ---------------------------------------------------------------------------------


def _bigrams(g):
    return {"table": numbers(g, 6, 6), "tokens": whole(g, 1, 5, *sizes(g, 2, 3, 6))}


def _losses_and_gradient(losses, train_and_test, table, tokens):
    model = Bigrams(table)
    found = losses(model, tokens)
    if not isinstance(found, torch.Tensor):
        return found
    return {"losses": found} | gradients(found, table=model.table)


def _experiment(g, gain=100.0, *, default=False):
    inputs = {"slope": whole(g, 2, 9) / 100, "gain": gain, "steps": whole(g, 3, 6)}
    trained = 32 if default else whole(g, 13, 19)
    inputs["lengths"] = [trained + whole(g, 5, 9), trained, 2 * trained + 5]
    return inputs if default else inputs | {"trained": trained}


def _tested(losses, train_and_test, slope, gain, **settings):
    model, lengths = ByPosition(slope, gain), settings["lengths"]
    found = train_and_test(model, numbered_texts, *settings.values())
    if not isinstance(found, dict) or set(found) != set(lengths):
        return found
    return {f"the loss at lengths[{i}]": found[n] for i, n in enumerate(lengths)}


def _read(losses, train_and_test, slope, gain, **settings):
    """Return what the model has read: sizes of batches, and how many texts twice."""
    model = ByPosition(slope, gain)
    train_and_test(model, numbered_texts, *settings.values())
    found, ids = {}, {}
    for kind, seen in (("training", model.seen[True]), ("test", model.seen[False])):
        ids[kind] = torch.cat([i for i, _ in seen] or [torch.zeros(0)])
        found[kind] = torch.tensor([shape for _, shape in seen]).reshape(-1, 2)
    found["read once"] = len(ids["training"].unique())
    found["read again"] = int(torch.isin(ids["test"], ids["training"]).sum())
    return found


def _not_as_asked(values, inputs):
    """Return how many steps and tests read other texts than those asked for."""
    trained, tests = inputs["trained"], values["test"]
    good = [batch == 32 and trained - n in (0, 1) for batch, n in values["training"]]
    read = [tests[np.isin(n - tests[:, 1], (0, 1)), 0].sum() for n in inputs["lengths"]]
    wrong_steps = abs(len(good) - inputs["steps"]) + good.count(False)
    return wrong_steps + sum(texts != 64 for texts in read)


def _first_gradient(losses, train_and_test, slope, gain, **settings):
    """Return the gradient of the first step, for the next tokens of two texts."""
    model = ByPosition(slope, gain)
    train_and_test(model, numbered_texts, *settings.values())
    logits, tokens = [*model.logits, (torch.zeros(()), None)][0]
    if logits.grad is None:
        return {"the gradient of logits": None}
    pulled = logits.grad[:, :-1].gather(2, tokens[:, 1:, None])[..., 0]
    return {"the gradient of logits": pulled[[0, -1], : settings["trained"] - 2]}


LENGTHS = Task(
    name="lengths",
    title="Train short, test long",
    answers=("next_token_losses", "train_and_test"),
    points=3,
    probes=(
        Probe(
            "next_token_losses: each next token, with a gradient for the model",
            "The model's logits are the row of `table` for the token it reads.",
            "The loss is not -log softmax(logits at p)[token at p + 1], for each "
            "text and each position p but the last.",
            _bigrams,
            call=_losses_and_gradient,
        ),
        Probe(
            "train_and_test: each length is judged on its last predictions",
            "The model's loss grows with the position; training has no effect.",
            "The loss is not the mean of the last `trained` - 1 predictions.",
            lambda g: _experiment(g, gain=0.0),
            call=_tested,
            read=BEYOND,
        ),
        Probe(
            "train_and_test: the tests come after a training as asked for",
            "Each step changes the model, as much as the learning rate says. "
            "`trained` is not given.",
            "Right if training has no effect and `trained` is given, and not here.",
            lambda g: _experiment(g, default=True),
            call=_tested,
            as_ifs={"training has no effect": lambda **_: {"gain": 0.0}},
            tolerance=1e-3,
        ),
        Probe(
            "train_and_test: 32 texts in each step, 64 in each test",
            "Counted are the steps that do not read 32 texts of `trained` "
            "tokens, the missing steps, and the tests without 64 texts.",
            "There are some.",
            _experiment,
            call=_read,
            measure=_not_as_asked,
            between=(0, 0),
        ),
        Probe(
            "train_and_test: all predictions of a text are learned from",
            "The gradient of the first step is looked at, for the next tokens.",
            "It is not that of the mean loss of all predictions of 32 texts.",
            _experiment,
            call=_first_gradient,
        ),
        Probe(
            "train_and_test: every text in training and test is new",
            "Counted are the texts missing to 32 new ones in each step, and the "
            "test texts that were read in training, whole or in part.",
            "There are some.",
            lambda g: _experiment(g) | {"steps": 120 + whole(g, 0, 9)},
            call=lambda *args, **inputs: {
                k: v for k, v in _read(*args, **inputs).items() if "read" in k
            },
            measure=lambda values, inputs: (
                abs(32 * inputs["steps"] - values["read once"]) + values["read again"]
            ),
            between=(0, 0),
        ),
    ),
)


# 4.8 ---------------------------------------------------------------------------------


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
    models = [new_model("none", n) for n in (seed, seed, seed + 1, 0)]
    models.append(new_model("none"))
    return {str(i): m.embedding.weight[0] for i, m in enumerate(models, start=1)}


def _difference(values, inputs):
    one, two, other, zero, default = values.values()
    return max(abs(one - two).max(), abs(zero - default).max()) + (two == other).all()


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


def _results(g, seeds, **more):
    names, lengths = ("none", "sinusoidal", "alibi", "table"), sizes(g, 3)
    losses = {
        9 - seed: {
            s: dict(zip(lengths, numbers(g, 3).tolist(), strict=True)) for s in names
        }
        for seed in range(seeds)
    }
    return {"losses": losses, "length": lengths[whole(g, 0, 2)], **more}


def _several_seeds(g):
    inputs = _results(g, whole(g, 2, 4))
    return inputs | ({"baseline": "alibi"} if whole(g, 0, 1) else {})


def _gains(new_model, gains, **inputs):
    return gains(*inputs.values())


def _trained(new_model, gains, steps, texts):
    """Return log-probabilities of the last tokens of long texts, by two models."""

    def loss_of(model, tokens):
        return F.cross_entropy(model(tokens[:, :-1]).transpose(1, 2), tokens[:, 1:])

    found, short = {}, draw(32 * steps, 32, seed=0).split(32)
    options = {"learning_rate": 5e-3, "device": "cpu", "progress": False}
    for scheme in ("alibi", "sinusoidal"):
        model = new_model(scheme, 0)
        train(model, lambda step: (short[step],), loss_of, steps=steps, **options)
        with torch.no_grad():
            logits = model(texts[:, :-1])[:, -31:]
        found[scheme] = -F.cross_entropy(logits.mT, texts[:, -31:], reduction="none")
    return found


COMPARISON = Task(
    name="comparison",
    title="The comparison with sinusoids",
    answers=("new_model", "gains"),
    points=3,
    probes=(
        Probe(
            "new_model: a LanguageModel with your attend and the scheme",
            "Models of four schemes are made, their parameters are set to the "
            "same numbers, and the logits at the last token are compared.",
            "They are not those of a `LanguageModel` with `attend` and the scheme.",
            lambda g: {"tokens": whole(g, 1, 18, 2, 9)},
            call=_last_logits,
        ),
        Probe(
            "new_model: the same seed gives the same weights",
            "Of five models, 1 and 2 have the same seed, and 3 has another; 4 "
            "has seed 0, and 5 none. Measured is the largest difference of the weights "
            "of 1 and 2, and of 4 and 5, and 1 more if those of 2 and 3 are equal.",
            "Weights differ that should be equal, or the reverse.",
            lambda g: {"seed": whole(g, 1, 99)},
            call=_embeddings,
            measure=_difference,
            between=(0, 0),
        ),
        Probe(
            "new_model: the table has four heads and the scale, or 10",
            "All numbers in the table are set to 1, so the bias is the scale.",
            "It is not the scale that was asked for, or not 10 if none was.",
            lambda g: {"scale": whole(g, 3, 9) / 2},
            call=_scales,
            weight=0.5,
        ),
        Probe(
            "new_model: every bucket is reached in training",
            "Counted are the buckets that no distance from 0 to 30 reaches, and "
            "those that are missing if there are fewer than 8.",
            "There are some.",
            lambda g: {"scale": whole(g, 3, 9) / 2},
            call=_rows,
            measure=_useless,
            between=(0, 0),
            read=f"{PAGE}#why-do-the-buckets-have-to-end-early",
        ),
        Probe(
            "gains: the baseline's loss minus the scheme's, at one length",
            "There is one seed, so the mean gain is the smallest, too.",
            "The numbers are not the baseline's loss minus that of the scheme.",
            lambda g: _results(g, 1),
            call=_gains,
        ),
        Probe(
            "gains: the mean and the smallest gain over the seeds",
            "There are several seeds; the baseline is given, or left out.",
            "Right with one seed. Here it is not the mean and the smallest of the "
            "gains in each seed.",
            _several_seeds,
            call=_gains,
        ),
        Probe(
            "trained on 32 tokens, ALiBi is better at 256 than sinusoids",
            "Two models are trained for 130 steps, and their losses compared. "
            "Measured is by how much ALiBi's is lower on the last 31 of 256 tokens.",
            "It is not as much lower as it should be.",
            lambda g: {"steps": 130, "texts": draw(40, 256, seed=90_000)},
            call=_trained,
            measure=lambda found, _: (found["alibi"] - found["sinusoidal"]).mean(),
            between=(0.15, 1.5),  # the model answer: 0.30 to 0.51 in 10 seeds
            slow=True,
            read=BEYOND,
        ),
    ),
)


EXERCISE = Exercise(
    "4_relative_positions",
    "Relative positions",
    (DISTANCES, BUCKETS, TABLE, ALIBI, ROTARY, ATTENTION, LENGTHS, COMPARISON),
    forbidden=(
        "attncourse.layers",
        "torch.nn.functional.scaled_dot_product_attention",
        "torch.nn.functional.multi_head_attention_forward",
        "torch.nn.MultiheadAttention",
        "torch.nn.attention",
    ),
)
