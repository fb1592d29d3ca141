"""Exercise 2: what heads attend to, in trained models and in any other."""

import warnings
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F

from attncourse.exercises.drawing import one_of, sizes, whole
from attncourse.exercises.probe import Exercise, Probe, Task, nth
from attncourse.exercises.provided import attention_patterns as provided
from attncourse.exercises.run import gradients

IN_HEADS, IN_SEQ2SEQ = "chapters/03_multi_head#", "chapters/06_seq2seq#"


def _padded(ids, *lengths):
    """Set ids to the padding id 0 from the lengths on."""
    ids[torch.arange(ids.shape[1]) >= torch.tensor(lengths)[:, None]] = 0
    return ids


def _weights(g, visible, heads):
    """Draw attention weights over what is visible, ``(batch, queries, keys)``."""
    batch, queries, keys = visible.shape
    drawn = whole(g, 1, 40, batch, heads, queries, keys) * visible[:, None]
    return drawn / drawn.sum(dim=-1, keepdim=True).clamp(min=1)


def _both_real(tokens):
    """Return where query and key are no padding, ``(batch, queries, keys)``."""
    return (tokens != 0)[:, :, None] & (tokens != 0)[:, None, :]


def _self_attention(g, tokens, heads):
    """Draw weights among tokens; those on other tokens may be 0."""
    real = _both_real(tokens)
    kept = (whole(g, 0, 6, *real.shape) > 0) | torch.eye(real.shape[1]).bool()
    return _weights(g, real & kept, heads)


# 2.1 and 2.2
KINDS, LIBRARY = ("encoder", "decoder", "cross"), ("bert", "gpt2")


def _model(g, least=1):
    """Draw what a small model is made of."""
    layers, heads = one_of(g, (least, least + 1), (least + 1, least))
    return {"seed": whole(g, 0, 999), "layers": layers, "heads": heads}


def _sentences(g, padded=False):
    source, target = whole(g, 1, 6, 3, 5 if padded else 4), whole(g, 1, 6, 3, 5)
    if padded:
        source, target = _padded(source, 2, 5, 3), _padded(target, 5, 3, 1)
    return _model(g) | {"source": source, "target": target}


def _texts(g, padded=False):
    ids, mask = whole(g, 1, 6, 3, 4), torch.ones(3, 4, dtype=torch.int64)
    if padded:
        mask[0, 2:], mask[2, 0] = 0, 0
        ids[0, 1], ids[1, 2], ids[2, 0] = 0, 0, 3  # ids do not tell padding
    return _model(g) | {"ids": ids, "mask": mask}


def _kinds(answer, source, target, **how):
    model = provided.small_translator(**how)
    return {kind: answer(model, source, target, kind) for kind in KINDS}


def _library(answer, ids, mask, **how):
    models = {name: provided.small_hugging_face(name, **how) for name in LIBRARY}
    return {name: answer(model, ids, mask) for name, model in models.items()}


def _training(model):
    return sum(module.training for module in model.modules())


def _in_both_modes(build, answer, seed, layers, heads, **inputs):
    found = {}
    for mode in ("training", "evaluation"):
        model = build(seed=seed, layers=layers, heads=heads, dropout=0.4)
        weights = answer(model.train(mode == "training"), *inputs.values())
        found[f"weights of a model in {mode} mode"] = weights.detach()
        found[f"modules in training mode after {mode} mode"] = _training(model)
        found["weights need gradients"] = weights.requires_grad
    return found


_of_modes = partial(
    Probe,
    "the model runs in evaluation mode without gradients, then gets back its mode",
    "It comes in training mode, then in evaluation mode, and has dropout.",
    read=f"{IN_HEADS}agreement-with-pytorchs-module",
)
TRANSLATOR = (
    Probe(
        "for each kind: (layers, batch, heads, queries, keys)",
        "Nothing is padded. All three kinds are asked for.",
        _sentences,
        _kinds,
        read=f"{IN_HEADS}multi-head-attention-in-pytorch-shape-by-shape",
    ),
    Probe(
        "rows of padded queries are zero, and all others as they were",
        "Source and target are padded, in different places. The queries are source "
        "tokens in the encoder, and else target tokens.",
        partial(_sentences, padded=True),
        _kinds,
        why="Without padding it is right.",
        read=f"{IN_SEQ2SEQ}fault-4-padding-that-is-read",
    ),
    _of_modes(
        draw=lambda g: _sentences(g) | {"kind": one_of(g, *KINDS)},
        call=partial(_in_both_modes, provided.small_translator),
    ),
)
BERTS = (
    Probe(
        "the weights of any model, loaded by default: (layers, batch, heads, ...)",
        "A BERT and a GPT-2 were loaded as the library does by default, with fused "
        "attention; nothing is padded.",
        _texts,
        _library,
    ),
    Probe(
        "padding, on either side, gets no weight, and its rows are zero",
        "One text is padded on the right, one on the left. Tokens may have the id 0.",
        partial(_texts, padded=True),
        _library,
        why="Without padding it is right. Rows and columns of padding should be 0, the "
        "others those that the model makes of `ids` and `mask`, no position ids.",
    ),
    _of_modes(
        draw=_texts,
        call=partial(_in_both_modes, partial(provided.small_hugging_face, "bert")),
    ),
)


# 2.3
WORDS = ["the", "cat", "sat", "on", "a", "mat", "and", "dog", "saw", "red", "hat"]


def _words(g, count):
    """Draw tokens, one of them twice if there are more than two."""
    words = [WORDS[i] for i in torch.randperm(len(WORDS), generator=g)[:count].tolist()]
    return words if count < 3 else [*words[:-1], words[0]]


def _heads(g):
    """Draw weights of several heads, or for one of the seeds of a single head."""
    drawn, queries, keys = sizes(g, 3, 2, 5)
    visible = torch.ones(1, queries, keys, dtype=torch.bool)
    words = {"queries": _words(g, queries), "keys": _words(g, keys)}
    return {"weights": _weights(g, visible, one_of(g, drawn, drawn, 1))[0], **words}


def _shown(*parts, shown=provided.shown):  # the answer can exchange that of the module
    """Return a call that reads parts of what each picture shows."""

    def call(answer, **inputs):
        with warnings.catch_warnings():  # of NumPy, where imshow is given a tensor
            warnings.simplefilter("ignore")
            axes = list(np.ravel(np.array(answer(*inputs.values()), dtype=object)))
        heads = len(inputs["weights"])
        count = sum(hasattr(a, "get_images") for a in axes)
        if not count == len(axes) == heads:
            raise ValueError(f"heads: {heads}; axes returned: {count}")
        return {
            f"the {part} of head {number}": shown(each)[part]
            for number, each in enumerate(axes)
            for part in parts
        }

    return call


PICTURES = (
    Probe(
        "rows are queries from the top, columns are keys from the left",
        "Read from the top left corner. There are several heads, or only one.",
        _heads,
        _shown("data"),
        read=f"{IN_HEADS}attention-heads-on-words",
    ),
    Probe(
        "a colour means the same weight everywhere, on a scale from 0 to 1",
        "Each weight's place on the colour scale is read, from 0 to 1.",
        _heads,
        _shown("colours"),
    ),
    Probe(
        "each row and column has its token",
        "The labels are read from the top and from the left, '-' if there is none.",
        _heads,
        _shown("rows", "columns"),
    ),
    Probe(
        "the title has the number of the head, counted from 0",
        "The number after 'head' is read, or else the first one; -1 if there is none.",
        _heads,
        _shown("number in the title"),
    ),
)


# 2.4
NAMES = ("previous_token_score", "duplicate_token_score", "induction_score")


def _scored(g, tokens):
    return {"weights": _self_attention(g, tokens, whole(g, 1, 4)), "tokens": tokens}


def _pairs(g):
    """Draw sentences in which some tokens occur twice, never side by side."""
    batch, copies, different = sorted(sizes(g, 3, 1, 6))
    rows = []
    for _ in range(batch):
        first = torch.randperm(different, generator=g) + 1
        again = first[torch.randperm(different - 1, generator=g)[: copies - 1]]
        rows.append(torch.cat([first, again]))
    return _scored(g, torch.stack(rows))


def _unequal(g, *lengths):
    """Draw sentences with unequal numbers of copies, one of them with none in three."""
    tokens = whole(g, 1, 3, 3, 8)
    tokens[1, :3] = torch.randperm(3, generator=g) + 1
    return _scored(g, _padded(tokens, *lengths) if lengths else tokens)


def _named(*which):
    """Return a call of some of the three scores."""
    return lambda *all_, **inputs: {NAMES[i]: nth(i)(*all_, **inputs) for i in which}


SCORES = (
    Probe(
        "`previous_token_score` is the mean weight on the token just before",
        "Nothing is padded. The first query of each sentence does not count.",
        _pairs,
        _named(0),
    ),
    Probe(
        "`duplicate_token_score` is the mean weight on an earlier copy",
        "Nothing is padded, and no token occurs more than twice. Only queries that "
        "have an earlier copy count.",
        _pairs,
        _named(1),
    ),
    Probe(
        "`induction_score` is the mean weight on what followed the copy",
        "Nothing is padded. Tokens occur twice at most, never side by side. Only "
        "queries that have an earlier copy count.",
        _pairs,
        _named(2),
        read=f"{IN_HEADS}scores-for-heads",
    ),
    Probe(
        "the weights on several copies are added up, also where they are neighbours",
        "There is one sentence. Tokens occur often, also side by side: then what "
        "followed a copy may be the query itself.",
        lambda g: _scored(g, whole(g, 1, 3, 1, 8)),
        _named(0, 1, 2),
    ),
    Probe(
        "all queries that count do so alike, whatever sentence they are in",
        "Some sentences have more queries that count than others. Nothing is padded.",
        _unequal,
        _named(0, 1, 2),
        why="For one sentence it is right. The mean runs over the whole batch.",
    ),
    Probe(
        "padding is neither a query that counts nor a copy of other padding",
        "The sentences have different lengths and are padded.",
        lambda g: _unequal(g, 8, 3, whole(g, 4, 6)),
        _named(0, 1, 2),
        why="Without padding it is right.",
    ),
)


# 2.5
def _to_ablate(g):
    layer, head = one_of(g, (0, 0), (1, 0), (0, 1))
    inputs = _model(g, 2) | {"tokens": whole(g, 0, 6, 2, 3)}
    training = one_of(g, True, False, True)
    return inputs | {"layer": layer, "head": head, "training": training}


def _inside(ablated, _, tokens, layer, head, training, **how):
    model = provided.small_transformer(**how).train(training)
    weight = model.layers[layer].attention.value_proj.weight
    with ablated(model, layer, head):
        logits, again = model(tokens), model(tokens.flip(0))
        slopes = gradients(logits, **{"the other heads' values": weight})
    others = torch.arange(len(weight)) // 4 != head
    found = {"logits": logits.detach(), "logits of a second call": again.detach()}
    return found | {n: x if x is None else x[others] for n, x in slopes.items()}


def _afterwards(ablated, _, tokens, layer, head, training, **how):
    found = {}
    for end in ("a block", "a failing block"):
        model, error = provided.small_transformer(**how).train(training), "none"
        projection = model.layers[layer].attention.output_proj
        projection.register_forward_pre_hook(lambda _, inputs: (2 * inputs[0],))
        weight, before = projection.weight, model(tokens)
        try:
            with ablated(model, layer, head):
                if model(tokens).equal(before):
                    raise ValueError("inside the block the logits are as before")
                if end == "a failing block":
                    raise InterruptedError
        except InterruptedError:
            error = "that of the block"
        found |= {
            f"modules in training mode after {end}": _training(model),
            f"logits after {end}": model(tokens).detach(),
            f"the same parameter after {end}": projection.weight is weight,
            f"the error that comes out of {end}": error,
        }
    return found


def _increase(_, loss_increase, tokens, layer, head, training, **how):
    model, ramp = provided.small_transformer(**how).train(training), torch.arange(7.0)

    def loss_of(model, tokens):
        return ((model(tokens) * ramp).mean(dim=-1) * (tokens - 2)).mean()

    increase = loss_increase(model, tokens, layer, head, loss_of)
    return {
        "increase": increase,
        "modules in training mode afterwards": _training(model),
        "parameters with gradients": sum(p.requires_grad for p in model.parameters()),
        "loss afterwards": loss_of(model, tokens).item(),
    }


ABLATION = (
    Probe(
        "inside the block this head adds nothing, and all others work as before",
        "Compared are logits, of two calls, and gradients of other heads.",
        _to_ablate,
        _inside,
        read=f"{IN_HEADS}ablation-of-heads",
    ),
    Probe(
        "after the block the model is as it was, even if it ends in an error",
        "It comes in training or evaluation mode, without dropout, and has a hook of "
        "its own that doubles what goes into `output_proj`.",
        _to_ablate,
        _afterwards,
    ),
    Probe(
        "`loss_increase` is the loss without the head minus that with it, and leaves "
        "the model as it was",
        "The loss depends on logits and tokens, and may be negative. It is computed "
        "once more after the call. The model comes in training or evaluation mode.",
        _to_ablate,
        _increase,
    ),
)


# 2.6
def _distances(g, *lengths):
    """Draw sentences; without padding there may be more keys than queries."""
    queries = 5 + whole(g, 0, 2)
    keys = queries if lengths else queries + whole(g, 0, 3)
    tokens = whole(g, 1, 9, 3, queries)
    tokens = _padded(tokens, *lengths) if lengths else tokens
    visible = torch.ones(3, queries, keys, dtype=torch.bool)
    return {"weights": _weights(g, visible, 3 + whole(g, 0, 1)), "tokens": tokens}


def _all_visible(g):
    visible = torch.ones(3, 5, 4 + whole(g, 0, 3), dtype=torch.bool)
    return {"weights": _weights(g, visible, 3), "visible": visible}


def _visible(g):
    """Draw weights; queries see different numbers of keys, with 0 for some of these."""
    keys = 4 + whole(g, 0, 3)
    count = whole(g, 2, keys, 3, 5)
    count[0, :3], count[2, 1:3] = torch.tensor([1, 0, 0]), 1
    visible = (torch.arange(keys) < count[..., None]).roll(whole(g, 0, 3), dims=-1)
    weights = _weights(g, visible, 3)  # and all weight on one of the visible keys:
    weights[1, 0] = visible[1].int().argmax(-1, True) == torch.arange(keys)
    return {"weights": weights, "visible": visible}


MEASURES = (
    Probe(
        "`attention_distance` is the mean of weights times distances",
        "Nothing is padded, and there are as many keys as queries or more.",
        _distances,
        read=f"{IN_HEADS}scores-for-heads",
    ),
    Probe(
        "padding is left out, and all queries of the batch count alike",
        "The sentences have different lengths and are padded.",
        lambda g: _distances(g, 5, 2, 4),
    ),
    Probe(
        "`normalised_entropy` is entropy over the logarithm of the number of keys",
        "All queries see all keys, and no weight is 0.",
        _all_visible,
        nth(1),
    ),
    Probe(
        "each query's entropy is divided by ln m of its own m keys, from m = 2 on",
        "Queries see different numbers of keys, some one or none, which do not count. "
        "Some weights are 0.",
        _visible,
        nth(1),
        why="It is right where all queries see all keys, with weights above 0.",
    ),
)


# 2.7
def _long(g):
    batch, n = whole(g, 2, 3), whole(g, 14, 18)
    lengths = [whole(g, 12, n) for _ in range(batch - 1)]
    return {"tokens": _padded(whole(g, 1, 6, batch, n), n, *lengths)}


def _given(pattern, tokens) -> bool:
    """Say whether a score of task 2.4 is 0.9 or more."""
    same = (tokens[:, :, None] == tokens[:, None]) & _both_real(tokens)
    before = _both_real(tokens).tril(-1).triu(-1)
    wanted = (before, same.tril(-1), F.pad(same[:, :, :-1], (1, 0)).tril())
    return any((pattern * w).sum() >= 0.9 * w.any(-1).sum() for w in wanted)


def _scores_of_heads(my_pattern, my_score, tokens):
    """Return scores of uniform heads with 0, 1/4, ... all of the pattern in the rest.

    They are scored together, and each alone in ways that should not matter.
    """
    pattern, real = my_pattern(tokens), (tokens != 0)[:, :, None]
    if _given(pattern, tokens):
        raise ValueError("this is a pattern of task 2.4")
    uniform = _both_real(tokens) / real.sum(dim=1, keepdim=True)
    heads = torch.stack([uniform.lerp(pattern, i / 4) for i in range(5)], dim=1)
    least = pattern.masked_fill(~real.mT, 2).argmin(-1)  # where it attends least
    elsewhere = F.one_hot(least, tokens.shape[1]) * real.float()
    others, ids = F.pad(heads, (0, 3, 0, 3)).flip(0), F.pad(tokens, (0, 3)).flip(0)
    return {
        "together": my_score(heads, tokens),
        "alone": torch.cat([my_score(others[:, [i]], ids) for i in range(5)]),
        "elsewhere": my_score(elsewhere[:, None], tokens),
    }


def _faults(values, inputs):
    """Return by how much rows fail to be attention weights over the tokens."""
    pattern, real = values["result"], inputs["tokens"].numpy() != 0
    hidden = ~_both_real(inputs["tokens"]).numpy()
    sums = abs(pattern.sum(axis=-1) - real)
    given = _given(torch.tensor(pattern), inputs["tokens"])
    return max(sums.max(), -pattern.min(), abs(pattern * hidden).max(), given)


_of_score = partial(Probe, draw=_long, call=_scores_of_heads)
OWN_SCORE = (
    Probe(
        "`my_pattern` returns attention weights, none of padding, of a new pattern",
        "Measured is the largest fault: how far the sum of a token's row is from 1, or "
        "of another row from 0; a negative weight; a weight of padding; 1 if a score "
        "of task 2.4 is 0.9 or more.",
        _long,
        measure=_faults,
        between=(-1, 1e-3),
    ),
    _of_score(
        "`my_score`: the score of a head depends on its own weights alone",
        "Several heads are scored together; then each alone, with the sentences in "
        "another order and with more padding. Measured is the largest change.",
        measure=lambda values, _: abs(values["together"] - values["alone"]).max(),
        between=(0, 1e-3),
    ),
    _of_score(
        "`my_score`: the pure pattern gets at least 0.99",
        "Measured is the score of `my_pattern(tokens)`.",
        measure=lambda values, _: values["together"][-1],
        between=(0.99, 1.0001),
    ),
    _of_score(
        "`my_score`: heads without the pattern get 0 to 0.5",
        "One head is uniform, one has all weight where the pattern has least. Measured "
        "is that of their scores which is farther from 0.25.",
        measure=lambda values, _: (
            x := np.r_[values["together"][0], values["elsewhere"]]
        )[abs(x - 0.25).argmax()],  # which is NaN if one is
        between=(-1e-4, 0.5001),
    ),
    _of_score(
        "`my_score`: more of the pattern gets a higher score",
        "Heads mix it with uniform attention. Measured is the smallest step in score "
        "for 1/4 more of the pattern.",
        why="Some of these heads get about the same score. A score that asks only "
        "where the largest weight lies does not tell them apart.",
        measure=lambda values, _: np.diff(values["together"]).min(),
        between=(0.0199, 1),
        read=f"{IN_HEADS}scores-for-heads",
    ),
)


OF_TRANSLATOR, OF_ANY = ("translator_weights",), ("hugging_face_weights",)
ABLATING, OWN = ("ablated", "loss_increase"), ("my_pattern", "my_score")
MEASURED = ("attention_distance", "normalised_entropy")
EXERCISE = Exercise(
    "2_attention_patterns",
    "Attention patterns",
    (
        Task("translator", "The weights of a translator", OF_TRANSLATOR, 2, TRANSLATOR),
        Task("hugging_face", "The weights of any Hugging Face model", OF_ANY, 3, BERTS),
        Task("pictures", "A picture of each head", ("draw_heads",), 2, PICTURES),
        Task("scores", "Scores for three patterns", NAMES, 4, SCORES),
        Task("ablation", "Does the model need this head?", ABLATING, 4, ABLATION),
        Task("measures", "Compare kinds of input", MEASURED, 2, MEASURES),
        Task("own_score", "A score of your own", OWN, 3, OWN_SCORE),
    ),
    forbidden=(
        "attncourse.layers.head_scores",
        "attncourse.training.probing",
        "attncourse.training.metrics",
        "attncourse.viz",
    ),
)
