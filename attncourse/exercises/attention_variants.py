"""Exercise 3: attention variants."""

from functools import partial

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from attncourse.data.text import EOS
from attncourse.exercises.drawing import numbers, one_of, sizes, whole
from attncourse.exercises.forbidden import FUSED
from attncourse.exercises.probe import Exercise, Probe, Task
from attncourse.exercises.run import gradients, leaf

TYPES = "chapters/02_attention_types#additive-and-multiplicative-attention"
SEQ2SEQ = "chapters/06_seq2seq"


# 3.1
# What each module computes, and its layers with the sizes of their weights: of query,
# key, both of them, and hidden units.
MODULES = {
    "Dot": ("the dot product of each query with each key", {}),
    "ScaledDot": ("this product, divided by the root of the width", {}),
    "General": (
        "the dot product of each query with W times each key",
        {"project": "qk"},
    ),
    "Additive": (
        "v · tanh of the sum of projected query and key",
        {"query_proj": "hq", "key_proj": "hk", "v": "1h"},
    ),
    "Concat": (
        "v · tanh of W times query and key, joined",
        {"hidden": "hb", "v": "1h"},
    ),
}
CLASSES = tuple(MODULES)
BY_ELEMENT = {torch.ops.aten.mul: lambda *_, out_shape, **__: 2 * out_shape.numel()}


def _vectors(g, name):
    """Draw queries, keys and the weights of one of the five modules."""
    batch, queries, keys, d_q, d_k, hidden = sizes(g, 6)
    batch, queries = one_of(g, (batch, queries), (1, queries), (batch, 1))
    d_k = d_q if name in ("Dot", "ScaledDot") else d_k
    of = {"q": d_q, "k": d_k, "b": d_q + d_k, "h": hidden, "1": 1}
    inputs = {"query": numbers(g, batch, queries, d_q)}
    inputs["key"] = numbers(g, batch, keys, d_k)
    for layer, (rows, columns) in MODULES[name][1].items():
        inputs[layer] = numbers(g, of[rows], of[columns], most=0.5)
    return inputs


def _filled(name, classes, query, key, **weights):
    widths = [query.shape[-1], key.shape[-1], *(len(w) for w in weights.values())]
    place = CLASSES.index(name)
    module = classes[place](*widths[: (0, 0, 2, 3, 3)[place]])
    for layer, weight in weights.items():
        getattr(module, layer).weight.data.copy_(weight)
    return module


def _score(name, *classes, **inputs):
    module = _filled(name, classes, **inputs)
    query, key = (leaf(inputs[n]) for n in ("query", "key"))
    scores = module(query, key)
    layers = {layer: getattr(module, layer).weight for layer in MODULES[name][1]}
    return {"scores": scores, **gradients(scores, query=query, key=key, **layers)}


def _multiplications(name, *classes, **inputs):
    with FlopCounterMode(display=False, custom_mapping=BY_ELEMENT) as counter:
        scores = _filled(name, classes, **inputs)(inputs["query"], inputs["key"])
    return {"count": counter.get_total_flops() // 2, "scores": scores.detach()}


def _of_additive(values, inputs):
    (batch, queries, d_q), (_, keys, d_k) = (inputs[n].shape for n in ("query", "key"))
    allowed = batch * inputs["v"].numel() * (queries * d_q + keys * (d_k + queries))
    return values["count"] / allowed


def _of_concat(values, inputs):
    pairs = inputs["query"].shape[:2].numel() * inputs["key"].shape[1]
    return values["count"] / (pairs * inputs["hidden"].numel())


SCORES = (
    *(
        Probe(
            f"`{name}`: {formula}",
            "Compared are scores, and gradients of inputs and weights.",
            partial(_vectors, name=name),
            partial(_score, name),
            read=TYPES,
        )
        for name, (formula, _) in MODULES.items()
    ),
    Probe(
        "`Additive` projects each query once and each key once",
        "Its multiplications, of matrices and element by element, are counted and "
        "divided by what the task allows.",
        partial(_vectors, name="Additive"),
        partial(_multiplications, "Additive"),
        measure=_of_additive,
        between=(0.0, 1.0),
        compared=("scores",),
    ),
    Probe(
        "`Concat` applies W to the joined vector of every pair",
        "Its multiplications, of matrices and element by element, are counted and "
        "divided by what W needs for all pairs.",
        partial(_vectors, name="Concat"),
        partial(_multiplications, "Concat"),
        measure=_of_concat,
        between=(1.0, 100.0),
        compared=("scores",),
    ),
)


# 3.2
class _Skewed(nn.Module):
    """A score for which it matters which is the query and which the key."""

    def __init__(self, factor):
        super().__init__()
        self.factor = nn.Parameter(factor)

    def forward(self, query, key):
        return self.factor * (query @ key.roll(1, -1).transpose(1, 2))


def _sequences(g, *, padded=True):
    batch, source, width, several = sizes(g, 4, low=3)
    words = whole(g, 1, source - 1, batch) if padded else torch.full((batch,), source)
    return {
        "memory": numbers(g, batch, source, width, most=1.0),
        "states": numbers(g, batch, one_of(g, several, 1), width, most=1.0),
        "mask": torch.arange(source) < words[:, None],
        "factor": numbers(g, 1),
    }


def _with_scores(g):
    """Draw scores that are all 0, or far lower for words than for padding."""
    inputs = _sequences(g)
    del inputs["factor"]
    shape = len(inputs["mask"]), inputs["states"].shape[1], inputs["mask"].shape[1]
    ranks = torch.rand(shape, generator=g).argsort(-1)  # exact, however it is computed
    low = 32.0 * ranks - 100_000.0 * inputs["mask"][:, None]
    return inputs | {"scores": one_of(g, torch.zeros(shape), low)}


def _attend(Attention, memory, states, mask, factor):
    score, leaves = _Skewed(factor), {"memory": leaf(memory), "states": leaf(states)}
    context, weights = Attention(score)(*leaves.values(), mask)
    leaves["the score's factor"] = score.factor
    found = gradients(torch.cat([context, weights], dim=-1), **leaves)
    return {"context": context, "weights": weights, **found}


ATTEND = (
    Probe(
        "weights by a softmax of each state's scores, and the context that they give",
        "The score does not treat queries, the states, and keys alike. There is one "
        "target word or several, and no padding.",
        lambda g: _sequences(g, padded=False),
        _attend,
        read=TYPES,
    ),
    Probe(
        "padding has the weight 0 whatever its scores, and the words share the rest",
        "The scores are given: all 0, or for words about 100,000 below the padding's.",
        _with_scores,
        lambda Attention, memory, states, mask, scores: Attention(
            lambda query, key: scores.clone()
        )(memory, states, mask),
        ("context", "weights"),
        why="Padding has weight, or the words do not share all of it. Set its "
        "scores to minus infinity before the softmax: a word's may be very low.",
    ),
)


# 3.3
def _times(g, varied=False):
    """Draw the seconds of every call: of the first one, and of that in each round."""
    seconds = whole(g, 8, 60, 3, 1) / 16
    drawn = whole(g, 8, 200, 3, 1 + one_of(g, 3, 4, 5)) / 16
    table = drawn if varied else seconds.expand(drawn.shape).clone()
    table[:, 0] = 9 * seconds[:, 0]
    names = ("general", "dot", "additive")
    return {"seconds": dict(zip(names, table.tolist(), strict=True))}


def _timed(compare_speed, seconds, *, tell_calls=False):
    """Let an answer measure on a clock that each call moves on by its seconds."""
    calls, now = [], [100.0]

    def step(place, taken):
        now[0] += taken[min(calls.count(place), len(taken) - 1)]
        calls.append(place)

    pairs = enumerate(seconds.items())
    steps = {name: partial(step, place, taken) for place, (name, taken) in pairs}
    found = compare_speed(steps, len(seconds["dot"]) - 1, lambda: now[0])
    if list(steps) != list(seconds):
        raise ValueError("the dict of functions is not as it was before the call")
    return {"calls": sorted(calls[:3]) + calls[3:]} if tell_calls else found


SPEED = (
    Probe(
        "each function is called once, and then once in every round, in order",
        "It is written down which function is called when: 0 is the first of the dict.",
        _times,
        partial(_timed, tell_calls=True),
        why="A round calls every function once before the next round begins.",
    ),
    Probe(
        "times become ratios to that of the first function",
        "Every call of a function takes the same time, but for the first one, which "
        "takes nine times as long.",
        _times,
        _timed,
    ),
    Probe(
        "median, lowest and highest of the ratios of each round",
        "Every call takes another time. The number of rounds is odd or even.",
        partial(_times, varied=True),
        _timed,
        why="These are not the median, the lowest and the highest of the ratios to the "
        "first function in the same round.",
    ),
)


# 3.4
WORDS = ["cat", "Cat", "dog.", "Dog.", "(the)", "the", "3.5%", "5%", "cat's", "(a)"]


def _translations(g, count, more=0):
    """Draw references, and translations that differ from them in some words.

    A single one is followed by `more` words. Of several the longest has no `EOS`, and
    the second one is empty.
    """
    tokens = ["<pad>", "<bos>", "<eos>", "<unk>", *WORDS]
    references, rows = [], []
    for number in range(count):
        length = whole(g, 8, 10) + 3 * (number % 2)
        ids = whole(g, 4, len(tokens) - 1, length).tolist()
        references.append([tokens[i] for i in ids])
        for _ in range(1 + number % 2):
            ids[whole(g, 0, length - 1)] ^= 1  # the other word of two neighbours
        kept = 0 if number == 1 else length - 1 - number % 3
        rows.append([*ids[:kept], EOS])
    longest = max(map(len, rows))
    if count == 1:
        rows[0] += [*whole(g, 4, 9, 3).tolist(), EOS, 5] if more else []
    else:
        rows = [[*row[:-1], 4] if len(row) == longest else row for row in rows]
    longest = max(map(len, rows))
    padded = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
    return {"written": padded, "references": references, "tokens": tokens}


CORPUS_BLEU = (
    Probe(
        "one sentence has its BLEU, from 0 to 100",
        "There is one sentence, which ends in `EOS`. Words have punctuation or "
        "capitals and count as they are.",
        lambda g: _translations(g, 1),
        why="What is returned is not the score that sacreBLEU gives for it.",
    ),
    Probe(
        "a sentence ends before its first `EOS`",
        "There is one sentence; words and a second `EOS` come after its `EOS`.",
        lambda g: _translations(g, 1, more=3),
        why="Where nothing comes after `EOS` it is right.",
    ),
    Probe(
        "a test set has one score, from the counts of all its sentences",
        "A sentence without `EOS` counts in full; one that starts with it is empty.",
        lambda g: _translations(g, whole(g, 3, 5)),
    ),
)


# 3.5
def _maps(g, count=1, rest=0.0):
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
            links += [(source, target) for source in some]
        gold.append(links)
    weights /= weights.sum(dim=-1, keepdim=True) + 1e-9
    return {"weights": weights, "lengths": lengths, "gold": gold}


ALIGNMENT = (
    Probe(
        "shared links count twice, over the number of links and gold links",
        "There is one sentence. A target word has no gold link, one or two; `<eos>` "
        "has no weight.",
        _maps,
        why="A target word has one link, (source index, target index), by the largest "
        "weight of its row. In `gold` it may have several, and all of them count.",
        read=f"{SEQ2SEQ}#alignment-the-cross-attention-of-a-trained-translator",
    ),
    Probe(
        "each target word is linked to a source word; all sentences count together",
        "Sentences differ in length; in some rows `<eos>` or padding has the largest "
        "weight. Equal links in two sentences are two links.",
        lambda g: _maps(g, whole(g, 3, 5), rest=0.85),
    ),
)


# 3.6
def _four(g):
    """Draw four variants' runs, 2 to 9 each."""
    runs = numbers(g, 4, whole(g, 2, 9))
    return {"runs": runs - runs.mean(dim=1, keepdim=True) + one_of(g, 0, 3, 9)}


# The means of four differences, and what -1, 0, 0 and 1 about the mean are multiplied
# by. With 1, the interval reaches 1.299 to either side.
KINDS = {
    "far from 0": [(5, 1), (-5, 1)],
    "just beyond 0": [(1.35, 1), (-1.35, 1)],
    "around 0": [(0.1, 1), (1.25, 1), (-1.25, 1), (4, 4), (-4, 4)],
    "without width": [(1, 0), (0, 0), (-1, 0)],
}


def _compared(g):
    """Draw runs of two variants, by where the interval of their differences lies."""
    pairs = {}
    for kind, known in KINDS.items():
        pairs[kind] = []
        for place in torch.randperm(len(known), generator=g).tolist():
            mean, width = known[place]
            spread = torch.tensor([-1, 0, 0, 1])[torch.randperm(4, generator=g)]
            second = 50 + 20 * numbers(g, 4)
            first = second + mean + width * spread
            pairs[kind].append((first.tolist(), second.tolist()))
    return pairs


def _intervals(mean_and_interval, _, runs):
    found = [mean_and_interval(row) for row in runs.tolist()]
    means, lows, highs = zip(*found, strict=True)
    return {"means": means, "lower bounds": lows, "upper bounds": highs}


def _verdicts(_, verdict, **pairs):
    return {
        f"verdicts on intervals {kind}": [verdict(*pair) for pair in own]
        for kind, own in pairs.items()
    }


INTERVAL = (
    Probe(
        "the mean, and the bounds t · s / √n below and above it",
        "Each row has 2 to 9 runs of one variant.",
        _four,
        _intervals,
        tolerance=1e-3,  # of t with more digits, as SciPy has it
        read=f"{SEQ2SEQ}#translation-quality-against-source-length",
    ),
    Probe(
        "the verdict follows the interval of the differences, seed by seed",
        "The seed changes both runs much more than they differ. The interval contains "
        "0 or does not, far from it or by little; some have no width.",
        _compared,
        _verdicts,
    ),
)


INTERVALS = ("mean_and_interval", "verdict")
EXERCISE = Exercise(
    "3_attention_variants",
    "Attention variants",
    (
        Task("scores", "Five scores", CLASSES, 5, SCORES),
        Task("attend", "From scores to a context", ("Attention",), 3, ATTEND),
        Task("speed", "How long does a step take?", ("compare_speed",), 3, SPEED),
        Task("bleu", "BLEU of a whole test set", ("corpus_bleu",), 3, CORPUS_BLEU),
        Task("alignment", "Where did it look?", ("alignment_error",), 3, ALIGNMENT),
        Task("interval", "Intervals and a verdict", INTERVALS, 3, INTERVAL),
    ),
    forbidden=(
        *FUSED,
        "attncourse.layers",
        "attncourse.models",
        "attncourse.by_hand",
        "attncourse.training.metrics",
        "attncourse.training.timing",
    ),
)
