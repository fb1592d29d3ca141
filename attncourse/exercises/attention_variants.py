"""Exercise 3: attention variants."""

import statistics
from functools import partial
from types import SimpleNamespace

import numpy as np
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from attncourse.data.text import EOS
from attncourse.exercises.probe import Exercise, Probe, Task, numbers, sizes, whole
from attncourse.exercises.provided.attention_variants import T975
from attncourse.exercises.run import gradients, leaf

TYPES = "chapters/02_attention_types"
SEQ2SEQ = "chapters/06_seq2seq"


# 3.1 ---------------------------------------------------------------------------------
# The layers of each module, with the sizes of their weights: of query, key, both of
# them, and hidden units.
LAYERS = {
    "Dot": {},
    "ScaledDot": {},
    "General": {"project": "qk"},
    "Additive": {"query_proj": "hq", "key_proj": "hk", "v": "1h"},
    "Concat": {"hidden": "hb", "v": "1h"},
}
CLASSES = tuple(LAYERS)
CONVERSIONS = ("concat_weight", "additive_weights")
INTERVALS = ("mean_and_interval", "verdict")


def _vectors(g, name, *, single=False):
    """Draw queries, keys and the weights of one of the five modules."""
    batch, queries, keys, d_q, d_k, hidden = sizes(g, 6)
    batch, queries = (1, 1) if single else (batch, queries)
    d_k = d_q if single or name in ("Dot", "ScaledDot") else d_k
    of = {"q": d_q, "k": d_k, "b": d_q + d_k, "h": hidden, "1": 1}
    inputs = {"query": numbers(g, batch, queries, d_q)}
    inputs["key"] = numbers(g, batch, keys, d_k)
    for layer, (rows, columns) in LAYERS[name].items():
        inputs[layer] = numbers(g, of[rows], of[columns], most=0.5)
    return inputs


def _filled(name, classes, inputs):
    place, (query, key, *weights) = CLASSES.index(name), inputs.values()
    widths = [x.shape[-1] for x in (query, key, *weights[-1:])]
    module = classes[place](*widths[: (0, 0, 2, 3, 3)[place]])
    for layer, weight in zip(LAYERS[name], weights, strict=True):
        getattr(module, layer).weight.data.copy_(weight)
    return module


def _score(name, *classes, **inputs):
    return _filled(name, classes, inputs)(inputs["query"], inputs["key"])


def _backward(*classes, **inputs):
    found = {}
    for name, own in inputs.items():
        module = _filled(name, classes, own)
        leaves = {n: leaf(own[n]) for n in ("query", "key")}
        scores = found[f"scores of {name}"] = module(*leaves.values())
        leaves |= {layer: getattr(module, layer).weight for layer in LAYERS[name]}
        found |= gradients(scores, **{f"{n} in {name}": x for n, x in leaves.items()})
    return found


def _multiplications(name, *classes, **inputs):
    with FlopCounterMode(display=False) as counter:
        _score(name, *classes, **inputs)
    return counter.get_total_flops() // 2


def _of_additive(values, inputs):
    (batch, queries, d_q), (_, keys, d_k) = (inputs[n].shape for n in ("query", "key"))
    allowed = batch * inputs["v"].numel() * (queries * d_q + keys * (d_k + queries))
    return values["result"] / allowed


def _of_concat(values, inputs):
    pairs = inputs["query"].shape[:2].numel() * inputs["key"].shape[1]
    return values["result"] / (pairs * inputs["hidden"].numel())


def _scored(claim, given, why, name, read=""):
    draw, call = partial(_vectors, name=name), partial(_score, name)
    return Probe(claim, given, why, draw, call, read=read)


SCORES = (
    _scored(
        "`Dot` gives the dot product of each query with each key",
        "`Dot` gets queries and keys of one width.",
        "A score is not the dot product of its query and its key.",
        "Dot",
        read=f"{TYPES}#additive-and-multiplicative-attention",
    ),
    _scored(
        "`ScaledDot` divides it by the root of the width",
        "`ScaledDot` gets queries and keys of one width.",
        "A score is not the dot product, divided by the root of the width.",
        "ScaledDot",
    ),
    _scored(
        "`General` multiplies each query with W and each key",
        "`General` gets queries and keys of different widths. W is `project.weight`.",
        "A score is not the dot product of its query with W times its key.",
        "General",
    ),
    _scored(
        "`Additive`: v · tanh of the sum of projected query and key",
        "`Additive` gets queries and keys of different widths.",
        "The scores are not v · tanh(W_q q + W_k k).",
        "Additive",
    ),
    _scored(
        "`Concat`: v · tanh of W times query and key, joined",
        "`Concat` gets queries and keys of different widths.",
        "The scores are not v · tanh(W [q; k]).",
        "Concat",
    ),
    Probe(
        claim="`Additive` projects each query once and each key once",
        given="Its multiplications in matrix products are counted, and divided by what "
        "the task allows.",
        why="There are more than it takes to project each query and each key once.",
        draw=partial(_vectors, name="Additive"),
        call=partial(_multiplications, "Additive"),
        weight=0.5,
        measure=_of_additive,
        between=(0.0, 1.0),
    ),
    Probe(
        claim="`Concat` applies W to the joined vector of every pair",
        given="Its multiplications in matrix products are counted, and divided by what "
        "W needs for all pairs.",
        why="There are fewer.",
        draw=partial(_vectors, name="Concat"),
        call=partial(_multiplications, "Concat"),
        weight=0.5,
        measure=_of_concat,
        between=(1.0, 100.0),
    ),
    Probe(
        claim="one query is enough, and gradients reach inputs and weights",
        given="There is one sentence with one query, as wide as the keys.",
        why="With several queries scores are right; here scores or gradients are not.",
        draw=lambda g: {name: _vectors(g, name, single=True) for name in CLASSES},
        call=_backward,
        weight=0.5,
    ),
)


# 3.2 ---------------------------------------------------------------------------------
def _two_weights(g):
    hidden, d_q, d_k = sizes(g, 3, low=1)
    d_k = d_q if whole(g, 0, 1) else d_k
    return {"w_query": numbers(g, hidden, d_q), "w_key": numbers(g, hidden, d_k)}


def _one_weight(g):
    d_q, d_k = sizes(g, 2, low=1)
    return {"w": numbers(g, whole(g, 2, 7), d_q + d_k), "query_dim": d_q}


CONVERSION = (
    Probe(
        claim="`concat_weight` gives the W of the same scores",
        given="Query and key have the same width, or different ones.",
        why="Concat with this W does not give the scores that additive gives.",
        draw=_two_weights,
        call=lambda concat_weight, _, w_query, w_key: concat_weight(w_query, w_key),
    ),
    Probe(
        claim="`additive_weights` gives the W_q and W_k of the same scores",
        given="The widths of query and key differ.",
        why="Additive with these two matrices does not give the scores of concat.",
        draw=_one_weight,
        call=lambda _, additive_weights, w, query_dim: additive_weights(w, query_dim),
        names=("w_query", "w_key"),
    ),
)


# 3.3 ---------------------------------------------------------------------------------
class _Skewed(nn.Module):
    """A score for which it matters which is the query and which the key."""

    def __init__(self, factor):
        super().__init__()
        self.factor = nn.Parameter(factor)

    def forward(self, query, key):
        return self.factor * (query @ key.roll(1, -1).transpose(1, 2))


def _sequences(g, *, padded=True, target=0):
    batch, source, width, several = sizes(g, 4, low=3)
    words = whole(g, 1, source - 1, batch) if padded else torch.full((batch,), source)
    return {
        "memory": numbers(g, batch, source, width, most=1.0),
        "states": numbers(g, batch, target or several, width, most=1.0),
        "mask": torch.arange(source) < words[:, None],
    }


def _with_scores(g, *, most, low=0.0, **options):
    inputs = _sequences(g, **options)
    shape = len(inputs["mask"]), inputs["states"].shape[1], inputs["mask"].shape[1]
    scores = numbers(g, *shape).mul(most / 2).round(decimals=2)
    return inputs | {"scores": scores - low * inputs["mask"][:, None]}


def _attend(Attention, memory, states, mask, scores):
    return Attention(lambda query, key: scores.clone())(memory, states, mask)


def _attend_backward(Attention, memory, states, mask, factor):
    score, leaves = _Skewed(factor), {"memory": leaf(memory), "states": leaf(states)}
    context, weights = Attention(score)(*leaves.values(), mask)
    leaves["the score's factor"] = score.factor
    found = gradients(torch.cat([context, weights], dim=-1), **leaves)
    return {"context": context, "weights": weights, **found}


BOTH = ("context", "weights")
ATTEND = (
    Probe(
        claim="the weights are the softmax of the scores over the source words",
        given="The scores are given, and there is no padding.",
        why="The weights are not this softmax, or the context is not the mean of the "
        "memory with these weights.",
        draw=partial(_with_scores, most=3.0, padded=False),
        call=_attend,
        names=BOTH,
        read=f"{TYPES}#additive-and-multiplicative-attention",
    ),
    Probe(
        claim="states are the queries of the score, and memory has the keys",
        given="The score does not treat queries and keys alike. There is no padding.",
        why="Weights or context are not those of this `score(states, memory)`.",
        draw=lambda g: _sequences(g, padded=False) | {"factor": numbers(g, 1)},
        call=lambda Attention, memory, states, mask, factor: Attention(_Skewed(factor))(
            memory, states, mask
        ),
        names=BOTH,
    ),
    Probe(
        claim="padding has the weight 0, and the words share the rest",
        given="All scores are 0, and sentences end in padding.",
        why="Without padding all is right. Here the weights are not 0 for padding and "
        "equal for words, or the context does not follow from them.",
        draw=partial(_with_scores, most=0.0),
        call=_attend,
        names=BOTH,
        as_ifs={"the mask is inverted": lambda mask, **_: {"mask": ~mask}},
    ),
    Probe(
        claim="so it is where the padding has far higher scores than the words",
        given="The scores of all words are about 100,000 below those of the padding.",
        why="With scores of 0 all is right, and here it is not.",
        draw=partial(_with_scores, most=3.0, low=100_000.0),
        call=_attend,
        names=BOTH,
    ),
    Probe(
        claim="one target word is enough, and gradients reach memory, states and score",
        given="There is one target word, and some padding.",
        why="With several target words context and weights are right; here not all is.",
        draw=lambda g: _sequences(g, target=1) | {"factor": numbers(g, 1)},
        call=_attend_backward,
    ),
)


# 3.4 ---------------------------------------------------------------------------------
def _times(g, *, slow_start=False, varied=False):
    """Draw the seconds of every call: of the first one, and of that in each round."""
    names, rounds = ["general", "dot", "additive"], whole(g, 2, 5)
    seconds = whole(g, 8, 60, 3) / 16
    table = whole(g, 8, 200, rounds, 3) / 16 if varied else seconds.expand(rounds, 3)
    first = seconds * (whole(g, 3, 9, 3) if slow_start else 1)
    return {"names": names, "first_calls": first.tolist(), "seconds": table.tolist()}


def _timed(compare_speed, names, first_calls, seconds, *, tell_calls=False):
    """Let an answer measure on a clock that each call moves on by its seconds."""
    taken, calls, now = [first_calls, *seconds], [], [100.0]

    def step(place):
        now[0] += taken[min(calls.count(place), len(seconds))][place]
        calls.append(place)

    steps = {name: partial(step, place) for place, name in enumerate(names)}
    found = compare_speed(steps, len(seconds), lambda: now[0])
    start, rest = sorted(calls[: len(names)]), calls[len(names) :]
    order = [" ".join(names[i] for i in part) for part in (start, rest)]
    return f"first {order[0]}, then {order[1]}" if tell_calls else found


SPEED = (
    Probe(
        claim="each function is called once, and then once in every round",
        given="It is written down which function is called when.",
        why="The functions are not called once each and then in order, in each round.",
        draw=_times,
        call=partial(_timed, tell_calls=True),
    ),
    Probe(
        claim="times become ratios to that of the first function",
        given="Every call of a function takes the same time.",
        why="A number is not the time of its function, divided by that of the first.",
        draw=_times,
        call=_timed,
    ),
    Probe(
        claim="first calls are not measured",
        given="The first call of each function takes several times as long.",
        why="The ratios were right without slow first calls, and are not with them.",
        draw=partial(_times, slow_start=True),
        call=_timed,
    ),
    Probe(
        claim="median, lowest and highest of the ratios of each round",
        given="Every call takes another time. The number of rounds is odd or even.",
        why="These are not the median, the lowest and the highest of the ratios to the "
        "first function in the same round.",
        draw=partial(_times, varied=True),
        call=_timed,
        weight=2,
    ),
)


# 3.5 ---------------------------------------------------------------------------------
PLAIN = list("abcdefghijklmn")
MARKED = ["cat", "Cat", "dog.", "Dog.", "(the)", "the", "3.5%", "5%", "cat's", "(a)"]


def _translations(g, count, *, words=PLAIN, ended=True, junk=False, empty=False):
    """Draw references, and translations that differ from them in some words."""
    tokens = ["<pad>", "<bos>", "<eos>", "<unk>", *words]
    references, rows = [], []
    for number in range(count):
        length = whole(g, 8, 10) + 3 * (number % 2)
        ids = whole(g, 4, len(tokens) - 1, length).tolist()
        references.append([tokens[i] for i in ids])
        for _ in range(1 + number % 2):
            ids[whole(g, 0, length - 1)] ^= 1  # the other word of two neighbours
        kept = 0 if empty and number == 1 else length - number % 3
        rows.append(ids[:kept] + [EOS] * ended)
        rows[-1] += [*whole(g, 4, 9, 3).tolist(), EOS, 5] if junk else []
    longest = max(map(len, rows))
    if count > 1:  # the longest was stopped before its <eos>
        rows = [[*row[:-1], 4] if len(row) == longest else row for row in rows]
    padded = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
    return {"written": padded, "references": references, "tokens": tokens}


CORPUS_BLEU = (
    Probe(
        claim="one sentence has its BLEU, from 0 to 100",
        given="There is one sentence, without `EOS`.",
        why="What is returned is not the score that sacreBLEU gives for it.",
        draw=lambda g: _translations(g, 1, ended=False),
    ),
    Probe(
        claim="a translation ends before its first `EOS`",
        given="There is one sentence; words and a second `EOS` come after its `EOS`.",
        why="One sentence without `EOS` has the right score, and this one has not.",
        draw=lambda g: _translations(g, 1, junk=True),
    ),
    Probe(
        claim="a test set has one score, from the counts of all its sentences",
        given="There are several sentences. The longest has no `EOS`.",
        why="Single sentences have the right score, several together have not.",
        draw=lambda g: _translations(g, whole(g, 3, 5)),
    ),
    Probe(
        claim="words are counted as they are, and empty translations too",
        given="Words have punctuation or capitals; one translation starts with `EOS`.",
        why="Without such words and translations the score is right. Here it is not.",
        draw=lambda g: _translations(g, 4, words=MARKED, empty=True),
    ),
)


# 3.6 ---------------------------------------------------------------------------------
def _maps(g, count, *, one_each=False, rest=0.0):
    """Draw weights, and gold links that agree with some of the largest of them."""
    lengths = [tuple(sizes(g, 2, low=3, high=8)) for _ in range(count)]
    rows, columns = (max(n) + 1 for n in zip(*lengths, strict=True))
    weights, gold = torch.full((count, rows, columns), rest), []
    for number, (targets, sources) in enumerate(lengths):
        order = torch.randperm(targets * sources, generator=g).reshape(targets, sources)
        weights[number, :targets, :sources] = (order + 1.0) / order.numel()
        links = []
        for target in range(targets):
            best = int(order[target].argmax())
            other = (best + whole(g, 1, sources - 1)) % sources
            kind = target if target < 3 else whole(g, 0, 3)
            some = [[best], [], [best, other], [other]][kind]
            one = [best] if kind % 2 == 0 else [other]
            links += [(source, target) for source in (one if one_each else some)]
        gold.append(links)
    weights /= weights.sum(dim=-1, keepdim=True) + 1e-9
    return {"weights": weights, "lengths": lengths, "gold": gold}


ALIGNMENT = (
    Probe(
        claim="the model's links are compared with the gold links",
        given="There is one sentence. Every target word has one gold link, and `<eos>` "
        "has no weight.",
        why="The rate is not 1 minus the share of the target words whose link is gold.",
        draw=lambda g: _maps(g, 1, one_each=True),
        read=f"{SEQ2SEQ}#alignment-the-cross-attention-of-a-trained-translator",
    ),
    Probe(
        claim="both numbers of links are below the line",
        given="There is one sentence. Some words have no gold link, others two.",
        why="With one gold link for every word the rate is right. Here it is not.",
        draw=lambda g: _maps(g, 1),
    ),
    Probe(
        claim="`<eos>` and padding make no links",
        given="There is one sentence; in some rows `<eos>` has the largest weight.",
        why="The rate is right if `<eos>` has no weight. Here it is not.",
        draw=lambda g: _maps(g, 1, rest=0.85),
    ),
    Probe(
        claim="the links of all sentences are counted together",
        given="There are several sentences of different lengths.",
        why="The rate is right for one sentence, and not for several.",
        draw=lambda g: _maps(g, whole(g, 3, 5), rest=0.85),
    ),
)


# 3.7 ---------------------------------------------------------------------------------
def _extremes(g):
    """Draw weights on one word, and uniform ones, in some order."""
    kinds, found = torch.randperm(4, generator=g).tolist(), {}
    for number, sources in enumerate((2, 3, whole(g, 4, 7), whole(g, 8, 15))):
        one = torch.eye(sources)[whole(g, 0, sources - 1, 2)]
        even = torch.full((2, sources), 1 / sources)
        found[f"weights_{number + 1}"] = one if kinds[number] < 2 else even
    return found


def _some_rows(g):
    weights = whole(g, 1, 60, whole(g, 3, 5), whole(g, 3, 7)).float()
    weights[:, :2] = 60 + 40 * torch.arange(len(weights))[:, None]  # two are largest
    weights /= weights.sum(dim=1, keepdim=True)
    orders = [torch.randperm(weights.shape[1], generator=g) for _ in weights]
    return {"weights": weights, "orders": torch.stack(orders)}


def _each(sharpness, several):
    found = map(sharpness, several)
    return [x.item() if isinstance(x, torch.Tensor) else x for x in found]


def _variants(sharpness, weights, orders):
    flatter = [weights + a * (1 / weights.shape[1] - weights) for a in (0.3, 0.8, 1)]
    moved = weights.gather(1, orders).flip(0)
    parts = [weights, *flatter, moved, *weights.split(1)]
    return {str(i): found for i, found in enumerate(_each(sharpness, parts))}


def _measured(values):
    """Return the measure of weights, of three that are flatter, and of all others."""
    found = [float(value) for value in values.values()]
    return found[:4], found[4], found[5:]


def _least_fall(values, inputs):
    return -np.diff(_measured(values)[0]).max()


def _by_order(values, inputs):
    (first, flatter, *_), moved, _ = _measured(values)
    return abs(first - moved) / abs(first - flatter)


def _off_mean(values, inputs):
    (first, *_), _, rows = _measured(values)
    return abs(first - statistics.fmean(rows)) / np.ptp(rows)


SHARPNESS = (
    Probe(
        claim="all weight on one word gives 1, uniform rows give 0",
        given="Each row of some sentences has all its weight on one word; each row of "
        "the others is uniform.",
        why="The former do not give 1, or the latter not 0.",
        draw=_extremes,
        call=lambda sharpness, **several: _each(sharpness, several.values()),
    ),
    Probe(
        claim="the closer to uniform, the less sharp",
        given="The weights are mixed with uniform ones, more and more. The smallest "
        "fall from one mixture to the next is measured.",
        why="The sharpness does not fall each time.",
        draw=_some_rows,
        call=_variants,
        measure=_least_fall,
        between=(1e-6, 1.0),
    ),
    Probe(
        claim="the order of the words does not matter",
        given="The weights of every row are put into another order. The change of the "
        "sharpness is measured, divided by the change that flatter weights make.",
        why="The sharpness depends on the order.",
        draw=_some_rows,
        call=_variants,
        measure=_by_order,
        between=(0.0, 1e-3),
    ),
    Probe(
        claim="every target word counts the same",
        given="A sentence is measured, and each of its rows alone. The distance of the "
        "first from the mean of the others is divided by their range.",
        why="The sharpness of the sentence is not the mean of that of its rows.",
        draw=_some_rows,
        call=_variants,
        measure=_off_mean,
        between=(0.0, 1e-3),
    ),
)


# 3.8 ---------------------------------------------------------------------------------
def _plan(g, variants, seeds):
    return {
        "names": ["general", "dot", "additive"][:variants],
        "seeds": (torch.randperm(50, generator=g)[:seeds] + 1).tolist(),
        "train": whole(g, 1, 99, 5).tolist(),
        "test": whole(g, 100, 999, 3).tolist(),
    }


def _trial(tell, experiment, names, seeds, train, test):
    """Run the experiment with models that record how they are made and trained."""

    def make(place):
        start = int(torch.randint(10_000, ()))
        return SimpleNamespace(place=place, start=start, pairs=[], seeds=[])

    def fit(model, pairs, seed):
        torch.rand(1 + model.place)
        model.pairs += pairs
        model.seeds.append(seed)

    def measure(model, pairs):
        torch.rand(2)
        return tell(model, pairs)

    variants = {name: partial(make, place) for place, name in enumerate(names)}
    data = SimpleNamespace(train=train, test=test)
    return experiment(variants, seeds, data, fit, measure)


EXPERIMENT = (
    Probe(
        claim="a model is trained on `data.train`, then measured on `data.test`",
        given="There is one variant and one seed, and numbers stand for pairs. The "
        "measure tells the sums of those for training and for measuring.",
        why="The model was not trained on `data.train`, once, and then measured on "
        "`data.test`.",
        draw=lambda g: _plan(g, 1, 1),
        call=partial(_trial, lambda model, pairs: (sum(model.pairs), sum(pairs))),
    ),
    Probe(
        claim="each variant has a list, with the measures of a new model for each seed",
        given="The measure tells the variant, and the sum of the seeds that `fit` got.",
        why="A list does not have, for each seed in order, the measures of a model of "
        "its variant that was trained with this seed alone.",
        draw=lambda g: _plan(g, 3, whole(g, 2, 4)),
        call=partial(_trial, lambda model, pairs: (model.place, sum(model.seeds))),
    ),
    Probe(
        claim="the seed is set directly before each model is made",
        given="Models, training and measure draw random numbers. The measure tells the "
        "one that was drawn when the model was made.",
        why="It is not the one that comes directly after `torch.manual_seed(seed)`.",
        draw=lambda g: _plan(g, 3, 3),
        call=partial(_trial, lambda model, pairs: model.start),
    ),
)


# 3.9 ---------------------------------------------------------------------------------
def _four(g, count, mean):
    runs = numbers(g, 4, count)
    return {"runs": runs - runs.mean(dim=1, keepdim=True) + mean}


def _compared(g, kinds, *, of_seed=0):
    """Draw runs of two variants, for each mean and margin of their differences."""
    count, first, second = whole(g, 3, 6), [], []
    for place in torch.randperm(len(kinds), generator=g).tolist():
        mean, margin = kinds[place]
        noise, base = numbers(g, 2, count).tolist()
        by = margin * count**0.5 / T975[count - 1] / statistics.stdev(noise)
        gaps = [mean + by * (x - statistics.fmean(noise)) for x in noise]
        base = [50 + of_seed * x for x in base]
        first.append([b + gap / 2 for b, gap in zip(base, gaps, strict=True)])
        second.append([b - gap / 2 for b, gap in zip(base, gaps, strict=True)])
    return {"first": first, "second": second}


def _intervals(mean_and_interval, _, runs):
    return [mean_and_interval(row) for row in runs.tolist()]


def _verdicts(_, verdict, first, second):
    return [verdict(a, b) for a, b in zip(first, second, strict=True)]


CLEAR = [(9, 0.5), (-9, 0.5), (7, 0.5), (-7, 0.5), (8, 0.5)]
OPEN = [(0.2, 3), (4, 12), (-4, 12), (4, 4.2), (-4, 4.2), (4, 3.8), (-4, 3.8)]
SAME = [(1, 0), (0, 0), (-1, 0)]
INTERVAL = (
    Probe(
        claim="the bounds are t · s / √n below and above the mean",
        given="Each row has 5 runs of one variant, with the mean 0. So 0, -t · s / √n "
        "and t · s / √n should be returned.",
        why="What is returned is not these three.",
        draw=partial(_four, count=5, mean=0),
        call=_intervals,
        read=f"{SEQ2SEQ}#translation-quality-against-source-length",
    ),
    Probe(
        claim="so it is for 2 to 9 runs, and for any mean",
        given="Each row has 2 to 9 runs of one variant, with a mean far from 0.",
        why="For 5 runs with the mean 0 what is returned is right. Here it is not.",
        draw=lambda g: _four(g, whole(g, 2, 9), whole(g, 3, 9)),
        call=_intervals,
    ),
    Probe(
        claim="differences are taken seed by seed",
        given="The seed changes both runs much more than they differ. The differences "
        "of a pair are nearly alike.",
        why="A verdict is not 1 or -1 as the differences are above or below 0.",
        draw=partial(_compared, kinds=CLEAR, of_seed=20),
        call=_verdicts,
    ),
    Probe(
        claim="0 where the interval of the differences contains 0",
        given="This interval contains 0 or does not, far from it or by little. In some "
        "pairs all differences are 1, 0 or -1.",
        why="A verdict does not follow the interval.",
        draw=partial(_compared, kinds=[*OPEN, *SAME]),
        call=_verdicts,
    ),
)


EXERCISE = Exercise(
    "3_attention_variants",
    "Attention variants",
    (
        Task("scores", "Five scores", CLASSES, 4, SCORES),
        Task("conversion", "One function, two forms", CONVERSIONS, 1, CONVERSION),
        Task("attend", "From scores to a context", ("Attention",), 3, ATTEND),
        Task("speed", "How long does a step take?", ("compare_speed",), 2, SPEED),
        Task("bleu", "BLEU of a whole test set", ("corpus_bleu",), 2, CORPUS_BLEU),
        Task("alignment", "Where did it look?", ("alignment_error",), 2, ALIGNMENT),
        Task("sharpness", "A measure of your own", ("sharpness",), 2, SHARPNESS),
        Task("experiment", "A fair comparison", ("experiment",), 2, EXPERIMENT),
        Task("interval", "Intervals and a verdict", INTERVALS, 2, INTERVAL),
    ),
    forbidden=(
        "torch.nn.functional.scaled_dot_product_attention",
        "torch.nn.functional.multi_head_attention_forward",
        "torch.nn.MultiheadAttention",
        "torch.nn.attention",
        "attncourse.layers",
        "attncourse.by_hand",
        "attncourse.training.metrics",
        "attncourse.training.timing",
    ),
)
