"""Exercise 2: what heads attend to, in trained models and in any other."""

import warnings
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F

from attncourse.exercises.probe import Exercise, Probe, Task, nth, one_of, sizes, whole
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
KINDS = ("encoder", "decoder", "cross")
EAGER_BERT = partial(provided.small_hugging_face, "bert", implementation="eager")


def _model(g, padded):
    layers, batch, heads = (2, 3, 1) if padded else sizes(g, 3, 1, 3)
    return {"seed": whole(g, 0, 999), "layers": layers, "heads": heads}, batch


def _sentences(g, padded=False):
    how, batch = _model(g, padded)
    source = whole(g, 3, 6, batch, 5 if padded else 4)
    target = whole(g, 3, 6, batch, 5)
    if padded:
        source, target = _padded(source, 2, 5, 3), _padded(target, 5, 3, 1)
    return how | {"source": source, "target": target}


def _texts(g, padded=False):
    how, batch = _model(g, padded)
    ids = whole(g, 1, 6, batch, 4)
    mask = torch.ones_like(ids)
    if padded:
        mask[0, 2:], mask[2, 0] = 0, 0
        ids[0, 1], ids[1, 2], ids[2, 0] = 0, 0, 3  # ids do not tell padding
    return how | {"ids": ids, "mask": mask}


def _kinds(answer, source, target, **how):
    model = provided.small_translator(**how)
    return {kind: answer(model, source, target, kind) for kind in KINDS}


def _defaults(answer, ids, mask, **how):
    return {
        name: answer(provided.small_hugging_face(name, **how), ids, mask)
        for name in ("bert", "gpt2")
    }


def _of_modes(build, draw):
    """Return the probe of modes and gradients."""

    def call(answer, seed, layers, heads, **inputs):
        found = {}
        for mode in ("training", "evaluation"):
            model = build(seed=seed, layers=layers, heads=heads, dropout=0.4)
            weights = answer(model.train(mode == "training"), *inputs.values())
            modules = sum(module.training for module in model.modules())
            found[f"weights of a model in {mode} mode"] = weights.detach()
            found[f"modules in training mode after {mode} mode"] = modules
            found["weights need gradients"] = weights.requires_grad
        return found

    return Probe(
        "the model runs in evaluation mode without gradients, then gets back its mode",
        "It comes in training mode, then in evaluation mode, and has dropout.",
        "The weights are not those of evaluation mode, or they need gradients, or the "
        "model's mode after the call is another than before.",
        draw,
        call,
        weight=2,
        read=f"{IN_HEADS}agreement-with-pytorchs-module",
    )


TRANSLATOR = (
    Probe(
        "for each kind: (layers, batch, heads, queries, keys)",
        "Nothing is padded. All three kinds are asked for.",
        "The numbers are not the model's weights in this order of axes.",
        _sentences,
        _kinds,
        read=f"{IN_HEADS}multi-head-attention-in-pytorch-shape-by-shape",
    ),
    Probe(
        "rows of padded queries are zero, and all others as they were",
        "Source and target are padded, in different places.",
        "Right so far, without padding. With it, rows of source tokens (in the "
        "encoder) or of target tokens (else) should be zero if padded. No other row "
        "may change.",
        lambda g: _sentences(g, padded=True),
        _kinds,
        weight=2,
        read=f"{IN_SEQ2SEQ}fault-4-padding-that-is-read",
    ),
    _of_modes(
        provided.small_translator,
        lambda g: _sentences(g) | {"kind": one_of(g, *KINDS)},
    ),
)

BERTS = (
    Probe(
        "the weights of a BERT: (layers, batch, heads, tokens, tokens)",
        "It was loaded with plain (eager) attention; nothing is padded.",
        "The numbers are not the model's weights in this order of axes.",
        _texts,
        lambda answer, ids, mask, **how: answer(EAGER_BERT(**how), ids, mask),
    ),
    Probe(
        "so those of any model that was loaded as the library does by default",
        "A BERT and a GPT-2 were loaded so; nothing is padded.",
        "Right so far, for a BERT with eager attention, and not here.",
        _texts,
        _defaults,
        weight=2,
    ),
    Probe(
        "padding, on either side, gets no weight, and its rows are zero",
        "One text is padded on the right, one on the left. Tokens may have the id 0.",
        "Right so far, without padding, and not here.",
        lambda g: _texts(g, padded=True),
        _defaults,
        weight=2,
        as_ifs={"the mask is all ones": lambda mask, **_: {"mask": mask | 1}},
    ),
    _of_modes(EAGER_BERT, _texts),
)


# 2.3
WORDS = ["the", "cat", "sat", "on", "a", "mat", "and", "dog", "saw", "red", "hat"]


def _words(g, count):
    """Draw tokens, one of them twice if there are more than two."""
    words = [WORDS[i] for i in torch.randperm(len(WORDS), generator=g)[:count].tolist()]
    return words if count < 3 else [*words[:-1], words[0]]


def _heads(g, heads=None):
    drawn, queries, keys = sizes(g, 3, 2, 5)
    visible = torch.ones(1, queries, keys, dtype=torch.bool)
    words = {"queries": _words(g, queries), "keys": _words(g, keys)}
    return {"weights": _weights(g, visible, heads or drawn)[0], **words}


def _axes(answer, inputs):
    with warnings.catch_warnings():  # of NumPy, where imshow is given a tensor
        warnings.simplefilter("ignore")
        axes = list(np.ravel(np.array(answer(*inputs.values()), dtype=object)))
    count, heads = sum(hasattr(a, "get_images") for a in axes), len(inputs["weights"])
    if not count == len(axes) == heads:
        raise ValueError(f"{heads} axes should be returned; what came has {count}")
    return axes


def _shown(*parts):
    """Return a call that reads parts of what each picture shows."""
    return lambda answer, **inputs: {
        f"the {part} of head {number}": provided.shown(axes)[part]
        for number, axes in enumerate(_axes(answer, inputs))
        for part in parts
    }


PICTURES = (
    Probe(
        "rows are queries from the top, columns are keys from the left",
        "There are several heads, and not as many queries as keys.",
        "Read from the top left, the pictures do not show the weights.",
        _heads,
        _shown("data"),
        read=f"{IN_HEADS}attention-heads-on-words",
    ),
    Probe(
        "a colour means the same weight everywhere, on a scale from 0 to 1",
        "Read is where each weight stands on the scale: 0 is its start, 1 its end.",
        "A weight does not stand at its own value.",
        _heads,
        _shown("colours"),
    ),
    Probe(
        "each row and column has its token",
        "Read are the labels from the top and from the left, '-' where there is none.",
        "The labels are not the tokens.",
        _heads,
        _shown("rows", "columns"),
    ),
    Probe(
        "the title has the number of the head, counted from 0",
        "Read is the number after 'head', or else the first one; -1 if there is none.",
        "The numbers in the titles are not those of the heads.",
        _heads,
        _shown("number in the title"),
        weight=0.5,
    ),
    Probe(
        "it works for a single head",
        "There is only one head.",
        "Right so far, for several heads, and not here.",
        lambda g: _heads(g, 1),
        _shown("data"),
        weight=0.5,
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


def _in_a_row(g):
    """Draw sentences in which tokens occur up to four times, also side by side."""
    order = torch.stack([torch.randperm(4, generator=g) + 1 for _ in range(2)])
    return _scored(g, order[:, [0, 0, 1, 2, 2, 2, 3, 1, 1, 3, 2]])


def _unequal(g):
    """Draw padded sentences with unequal numbers of copies, one of them with none."""
    tokens = whole(g, 1, 3, 3, 8)
    tokens[1, :3] = torch.randperm(3, generator=g) + 1
    return _scored(g, _padded(tokens, 8, 3, whole(g, 4, 6)))


def _named(*which):
    """Return a call of some of the three scores."""
    return lambda *answers, **inputs: {
        NAMES[i]: answers[i](*inputs.values()) for i in which
    }


SCORES = (
    Probe(
        "`previous_token_score` is the mean weight on the token just before",
        "Nothing is padded.",
        "It is not the mean over all queries but the first of each sentence.",
        _pairs,
        _named(0),
    ),
    Probe(
        "`duplicate_token_score` is the mean weight on an earlier copy",
        "Nothing is padded, and no token occurs more than twice.",
        "It is not the mean over the queries that have an earlier copy.",
        _pairs,
        _named(1),
    ),
    Probe(
        "`induction_score` is the mean weight on what followed the copy",
        "Nothing is padded. Tokens occur twice at most, never side by side.",
        "It is not the mean over the queries that have an earlier copy.",
        _pairs,
        _named(2),
        read=f"{IN_HEADS}scores-for-heads",
    ),
    Probe(
        "several copies count together, and what followed may be the query itself",
        "Nothing is padded. Tokens occur up to four times, also side by side.",
        "Right so far, with one copy that stands apart. With several, their weights "
        "are added up, and the query counts once.",
        _in_a_row,
        _named(1, 2),
    ),
    Probe(
        "padding is left out, and all counted queries of the batch count alike",
        "The sentences have different lengths and are padded; one has no copies.",
        "Right so far, without padding. It is not the mean over all counted queries.",
        _unequal,
        _named(0, 1, 2),
        weight=2,
    ),
)


# 2.5
def _linked(g, batch=1, several=False, only_some=False, source=4):
    """Draw weights, and links of all or some target words, one or several a word."""
    target = 9 if source == 4 else 5
    drawn = whole(g, 0, 10**9, batch, 2 + whole(g, 1, 2), target, source)
    ranks = drawn.argsort(dim=-1).argsort(dim=-1) + 1  # no two in a row are equal
    weights, links = ranks / ranks.sum(dim=-1, keepdim=True), []
    for n in range(batch):
        length = target - 3 * n  # the rest is padding
        weights[n, :, length:] = 0
        pairs = [(whole(g, 0, source - 1), t) for t in range(length)]
        pairs = pairs[::2] if only_some else pairs
        pairs += [((s + 1) % source, t) for s, t in pairs[::2] if several]
        order = torch.randperm(len(pairs), generator=g).tolist()
        links.append([pairs[i] for i in order])
    return {"weights": weights, "links": links}


ALIGNMENT = (
    Probe(
        "the largest weight of a row should lie on the linked source word",
        "There is one sentence, and each target word has one link.",
        "It is not the proportion of target words whose largest weight lies there.",
        lambda g: _linked(g, source=one_of(g, 4, 7)),
        read=f"{IN_SEQ2SEQ}alignment-error-of-each-attention-head",
    ),
    Probe(
        "a word with several links counts once, and one hit is enough",
        "There is one sentence. Each target word has one link or two, in no order.",
        "Right so far, with one link for each word, and not here.",
        lambda g: _linked(g, several=True),
    ),
    Probe(
        "words without links do not count, and all sentences count together",
        "Three sentences of different lengths, padded; only some words have links.",
        "Right so far, for one sentence with links for all words, and not here.",
        lambda g: _linked(g, 3, only_some=True),
    ),
)


# 2.6
def _to_ablate(g):
    layers, heads = sizes(g, 2, 2, 3)
    how = {"seed": whole(g, 0, 999), "layers": layers, "heads": heads}
    head = whole(g, 0, heads - 1)
    layer = layers - 1 if head == 0 else whole(g, 0, layers - 1)
    return how | {"tokens": whole(g, 0, 6, 2, 3), "layer": layer, "head": head}


def _inside(ablated, _, tokens, layer, head, **how):
    found = {}
    for name, at in {"layer 0, head 0": (0, 0), "another head": (layer, head)}.items():
        model = provided.small_transformer(**how)
        with ablated(model, *at):
            logits = model(tokens)
            found[name] = logits.detach()
            found[f"{name}, second call"] = model(tokens.flip(0)).detach()
            weight = model.layers[at[0]].attention.value_proj.weight
            slopes = gradients(logits, **{f"the other heads' values ({name})": weight})
        others = torch.arange(len(weight)) // 4 != at[1]
        found |= {n: x if x is None else x[others] for n, x in slopes.items()}
    return found


def _afterwards(ablated, _, tokens, layer, head, training, **how):
    found = {}
    for end in ("a block", "a failing block"):
        model, error = provided.small_transformer(**how).train(training), "none"
        before = [parameter.detach().clone() for parameter in model.parameters()]
        try:
            with ablated(model, layer, head):
                model(tokens)
                if end == "a failing block":
                    raise InterruptedError
        except InterruptedError:
            error = "that of the block"
        modules, pairs = (
            [*model.modules()],
            zip(before, model.parameters(), strict=True),
        )
        hooks = (len(m._forward_hooks) + len(m._forward_pre_hooks) for m in modules)
        found |= {
            f"logits after {end}": model(tokens).detach(),
            f"hooks after {end}": sum(hooks),
            f"parameters changed by {end}": sum(not torch.equal(*p) for p in pairs),
            f"modules in training mode after {end}": sum(m.training for m in modules),
            f"the error that comes out of {end}": error,
        }
    return found


def _increase(_, loss_increase, tokens, layer, head, **how):
    model, ramp = provided.small_transformer(**how), torch.arange(7.0)

    def loss_of(model, tokens):
        return ((model(tokens) * ramp).mean(dim=-1) * (tokens - 2)).mean()

    increase = loss_increase(model, tokens, layer, head, loss_of)
    return {"increase": increase, "loss afterwards": loss_of(model, tokens).item()}


ABLATION = (
    Probe(
        "inside the block this head adds nothing, and all others work as before",
        "One block ablates layer 0, head 0, one another head; each calls twice.",
        "Logits, or gradients of other heads, are not those without this head.",
        _to_ablate,
        _inside,
        weight=2,
        read=f"{IN_HEADS}ablation-of-heads",
    ),
    Probe(
        "after the block the model is as it was, also if it ends in an error",
        "It comes in training or in evaluation mode, without dropout.",
        "After the block the model is not as it was before, or an error is gone.",
        lambda g: _to_ablate(g) | {"training": bool(whole(g, 0, 1))},
        _afterwards,
        weight=2,
    ),
    Probe(
        "`loss_increase` is the loss without the head minus that with it",
        "The loss depends on logits and tokens, and may be negative.",
        "It is not this difference, or the model is another one after it.",
        _to_ablate,
        _increase,
        weight=2,
    ),
)


# 2.7
def _distances(g, *lengths):
    """Draw sentences; without padding there may be more keys than queries."""
    queries = 5 + whole(g, 0, 2)
    keys = queries if lengths else queries + whole(g, 0, 3)
    tokens = whole(g, 1, 9, 3, queries)
    tokens = _padded(tokens, *lengths) if lengths else tokens
    visible = torch.ones(3, queries, keys, dtype=torch.bool)
    return {"weights": _weights(g, visible, 3 + whole(g, 0, 1)), "tokens": tokens}


def _visible(g, all_keys=False):
    """Draw weights; some visible keys have the weight 0, if not all are visible."""
    keys = 4 + whole(g, 0, 3)
    count = torch.full((3, 5), keys) if all_keys else whole(g, 2, keys, 3, 5)
    if not all_keys:
        count[0, :3], count[2, 1:3] = torch.tensor([1, 0, 0]), 1
    visible = (torch.arange(keys) < count[..., None]).roll(whole(g, 0, 3), dims=-1)
    weights = _weights(g, visible, 3)
    if not all_keys:  # all weight on one of the visible keys
        weights[1, 0] = visible[1].int().argmax(-1, True) == torch.arange(keys)
    return {"weights": weights, "visible": visible}


MEASURES = (
    Probe(
        "`attention_distance` is the mean of weights times distances",
        "Nothing is padded, and there are as many keys as queries or more.",
        "It is not the mean over the queries of this sum over the keys.",
        _distances,
        nth(0),
        read=f"{IN_HEADS}scores-for-heads",
    ),
    Probe(
        "padding is left out, and all queries of the batch count alike",
        "The sentences have different lengths and are padded.",
        "Right so far, without padding. It is not the mean over all that are tokens.",
        lambda g: _distances(g, 5, 2, 4),
        nth(0),
    ),
    Probe(
        "`normalised_entropy` is entropy over the logarithm of the keys' number",
        "Each query sees all keys, and none of the weights is 0.",
        "It is not the mean of this ratio over all queries.",
        lambda g: _visible(g, all_keys=True),
        nth(1),
    ),
    Probe(
        "each query's visible keys count, and queries that see one or none do not",
        "Queries see different numbers of keys, some one or none. Some weights are 0.",
        "Right so far, where all queries see all keys. It is not the mean over those "
        "that see two keys or more.",
        _visible,
        nth(1),
        weight=2,
    ),
)


# 2.8
def _long(g):
    batch, n = whole(g, 2, 3), whole(g, 14, 18)
    lengths = [whole(g, 12, n) for _ in range(batch - 1)]
    return {"tokens": _padded(whole(g, 1, 6, batch, n), n, *lengths)}


def _any_heads(g):
    """Draw heads that attend at random, or to one token only."""
    tokens = _long(g)["tokens"]
    weights = _self_attention(g, tokens, 3)
    one = F.one_hot(weights.argmax(-1), tokens.shape[1])
    one = one * (tokens != 0)[:, None, :, None]
    return {"weights": torch.cat([weights, one], dim=1), "tokens": tokens}


def _mixed(pattern, tokens, amounts):
    """Return one head for each amount of the pattern; the rest is uniform."""
    uniform = _both_real(tokens) / (tokens != 0).sum(dim=-1)[:, None, None]
    amounts = amounts[:, None, None]
    return amounts * pattern[:, None] + (1 - amounts) * uniform[:, None]


def _of_amounts(my_pattern, my_score, weights, tokens):
    """Return the scores of 0, 1/4, ... all of the pattern, and of other heads."""
    pattern, real = my_pattern(tokens), tokens != 0
    least = pattern.masked_fill(~real[:, None], 2).argmin(-1)  # where it attends least
    elsewhere = (F.one_hot(least, tokens.shape[1]) * real[..., None]).float()
    heads = {
        "mixed": _mixed(pattern, tokens, torch.arange(5) / 4),
        "elsewhere": elsewhere[:, None],
        "others": weights,
    }
    return {name: my_score(each, tokens) for name, each in heads.items()}


def _ways(my_pattern, my_score, tokens, amounts):
    """Return the scores of the same heads, in ways that should not matter."""
    heads = _mixed(my_pattern(tokens), tokens, amounts)
    alone = [my_score(heads[:, [head]], tokens) for head in range(len(amounts))]
    return {
        "together": my_score(heads, tokens),
        "each head alone": torch.cat(alone),
        "sentences reversed": my_score(heads.flip(0), tokens.flip(0)),
        "more padding": my_score(F.pad(heads, (0, 3, 0, 3)), F.pad(tokens, (0, 3))),
    }


def _faults(values, inputs):
    """Return by how much rows fail to be attention weights over the tokens."""
    pattern, real = values["result"], inputs["tokens"].numpy() != 0
    hidden = ~_both_real(inputs["tokens"]).numpy()
    sums = abs(pattern.sum(axis=-1) - real)
    return max(sums.max(), -pattern.min(), abs(pattern * hidden).max())


def _known(values, inputs):
    """Return the highest score of task 2.4 for the pattern."""
    pattern, tokens = values["result"], inputs["tokens"].numpy()
    real = (tokens != 0)[:, :, None]
    equal = np.tril(tokens[:, :, None] == tokens[:, None, :], -1) & real
    previous = np.eye(tokens.shape[1], k=-1, dtype=bool) & real
    tables = (previous, equal, np.roll(equal, 1, axis=-1))
    return max((pattern * t).sum() / t.any(axis=-1).sum() for t in tables)


def _missed(values, _):
    """Return by how much a bound is missed, at most."""
    uniform, *_, pure = values["mixed"]
    outside = abs(np.concatenate([*values.values()]) - 0.5).max() - 0.5
    elsewhere = values["elsewhere"].max()
    return max(uniform - 0.5, elsewhere - 0.5, 0.99 - pure, outside)


def _difference(values, inputs):
    """Return the largest difference, or NaN if no two heads differ."""
    first, *others = values.values()
    largest = max(abs(first - other).max() for other in others)
    return largest if np.ptp(first) > 0.02 else np.nan


OWN_SCORE = (
    Probe(
        "`my_pattern` returns attention weights, and padding has none",
        "Measured is the largest fault: of a sum, a sign, or a weight of padding.",
        "The pattern is none of attention weights over the tokens.",
        _long,
        nth(0),
        measure=_faults,
        between=(-1, 1e-3),
    ),
    Probe(
        "the pattern is another one than those of task 2.4",
        "Measured is the highest score of task 2.4 that the pattern gets.",
        "The pattern is one of those of task 2.4, or nearly so.",
        _long,
        nth(0),
        weight=0,
        measure=_known,
        between=(0, 0.79999),
    ),
    Probe(
        "scores from 0 to 1: the pattern 0.99, uniform or elsewhere up to 0.5",
        "Measured is by how much a bound is missed, also by other heads.",
        "One of the bounds is missed: 0 and 1 for any head, 0.99 for the pure pattern, "
        "0.5 for uniform attention, and for all weight where the pattern has least.",
        _any_heads,
        _of_amounts,
        measure=_missed,
        between=(-1, 1e-4),
    ),
    Probe(
        "more of the pattern gets a higher score",
        "Heads mix it with uniform attention. Measured is the smallest step in score.",
        "A head with 1/4 more of the pattern does not get a clearly higher score.",
        _any_heads,
        _of_amounts,
        measure=lambda values, _: np.diff(values["mixed"]).min(),
        between=(0.0199, 1),
        read=f"{IN_HEADS}scores-for-heads",
    ),
    Probe(
        "a score changes with the head's own weights, and with nothing else",
        "They come together, each alone, in another batch order, or with more padding.",
        "Not all of these give a head the same score, or all heads have one score.",
        lambda g: _long(g) | {"amounts": torch.randperm(9, generator=g)[:4] / 8},
        _ways,
        measure=_difference,
        between=(0, 1e-3),
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
        Task("alignment", "Heads that align", ("alignment_accuracy",), 2, ALIGNMENT),
        Task("ablation", "Does the model need this head?", ABLATING, 3, ABLATION),
        Task("measures", "Compare kinds of input", MEASURED, 2, MEASURES),
        Task("own_score", "A score of your own", OWN, 2, OWN_SCORE),
    ),
    forbidden=(
        "attncourse.layers.head_scores",
        "attncourse.training.probing",
        "attncourse.training.metrics",
        "attncourse.viz",
    ),
)
