"""Exercise 2: what heads attend to, in trained models and in any other."""

import re
import warnings
from dataclasses import replace

import numpy as np
import torch

from attncourse.exercises.probe import Exercise, Probe, Task, sizes, whole
from attncourse.exercises.provided.attention_patterns import (
    shown,
    small_hugging_face,
    small_transformer,
    small_translator,
)
from attncourse.exercises.run import gradients

SHAPES = "chapters/03_multi_head#the-same-in-pytorch-shape-by-shape"
MODES = "chapters/03_multi_head#the-layer-you-would-use"
PICTURE = "chapters/03_multi_head#what-do-the-heads-of-a-trained-model-do"
SCORE = "chapters/03_multi_head#a-score-for-each-head"
ABLATE = "chapters/03_multi_head#does-the-model-need-these-heads"
PADDING = "chapters/06_seq2seq#fault-4-padding-that-is-read"
ALIGN = "chapters/06_seq2seq#which-heads-align"


def _reading(page, *probes):
    """Return probes that name a page of the book, where they have none of their own."""
    return tuple(replace(probe, read=probe.read or page) for probe in probes)


def _padded(ids, *lengths):
    """Set ids to the padding id 0 from the lengths on."""
    ids[torch.arange(ids.shape[1]) >= torch.tensor(lengths)[:, None]] = 0
    return ids


def _weights(g, visible, heads):
    """Draw attention weights over what is visible, ``(batch, queries, keys)``."""
    batch, queries, keys = visible.shape
    drawn = whole(g, 1, 40, batch, heads, queries, keys) * visible[:, None]
    return drawn / drawn.sum(dim=-1, keepdim=True).clamp(min=1)


def _self_attention(g, tokens, heads):
    """Draw weights among tokens; those on other tokens may be 0."""
    real = (tokens != 0)[:, :, None] & (tokens != 0)[:, None, :]
    kept = (whole(g, 0, 6, *real.shape) > 0) | torch.eye(real.shape[1]).bool()
    return _weights(g, real & kept, heads)


# 2.1 and 2.2 -------------------------------------------------------------------------

KINDS = ("encoder", "decoder", "cross")


def _sentences(g, *, ones=False, padded=False):
    layers, batch, heads = (2, 3, 1) if padded else sizes(g, 3, 2, 4)
    if ones:
        layers, batch, heads = ((1, 3, 2), (2, 1, 1))[whole(g, 0, 1)]
    length = 5 if padded else 4
    source, target = whole(g, 3, 6, batch, length), whole(g, 3, 6, batch, 5)
    if padded:
        source, target = _padded(source, 2, 5, 3), _padded(target, 5, 3, 1)
    drawn = {"seed": whole(g, 0, 999), "layers": layers, "heads": heads}
    return drawn | {"source": source, "target": target}


def _texts(g, implementation="eager", *, padded=False):
    layers, batch, heads = (2, 3, 1) if padded else sizes(g, 3, 1, 3)
    ids = whole(g, 0, 6, batch, 4)
    mask = torch.ones_like(ids)
    if padded:
        mask[0, 2:], mask[2, 0] = 0, 0
        ids[0, 1], ids[1, 2], ids[2, 0] = 0, 0, 3  # ids do not tell padding
    drawn = {"seed": whole(g, 0, 999), "layers": layers, "heads": heads}
    return drawn | {"implementation": implementation, "ids": ids, "mask": mask}


def _cross(answer, source, target, **how):
    return answer(small_translator(**how), source, target, "cross")


def _kinds(answer, source, target, **how):
    model = small_translator(**how)
    return {kind: answer(model, source, target, kind) for kind in KINDS}


def _bert(answer, ids, mask, **how):
    return answer(small_hugging_face("bert", **how), ids, mask)


def _models(answer, ids, mask, **how):
    models = {name: small_hugging_face(name, **how) for name in ("bert", "gpt2")}
    return {name: answer(model, ids, mask) for name, model in models.items()}


def _of_modes(build, draw):
    """Return the probes of modes and gradients."""

    def in_training(answer, seed, layers, heads, **inputs):
        model = build(seed=seed, layers=layers, heads=heads, dropout=0.4)
        return answer(model.train(), *inputs.values())

    def state(answer, seed, layers, heads, training, **inputs):
        model = build(seed=seed, layers=layers, heads=heads).train(training)
        weights = answer(model, *inputs.values())
        return {
            "weights": weights.detach(),
            "modules in training mode": sum(m.training for m in model.modules()),
            "the weights need gradients": weights.requires_grad,
        }

    return _reading(
        MODES,
        Probe(
            claim="the model runs in evaluation mode",
            given="The model comes in training mode and has dropout.",
            why="These are not the weights that the model gives in evaluation mode.",
            draw=draw,
            call=in_training,
        ),
        Probe(
            claim="it gets back its mode, and the weights need no gradients",
            given="The model comes in training or in evaluation mode, without dropout.",
            why="The weights, the mode of the model after the call, or whether the "
            "weights need gradients are not as asked.",
            draw=lambda g: draw(g) | {"training": bool(whole(g, 0, 1))},
            call=state,
        ),
    )


TRANSLATOR = _reading(
    SHAPES,
    Probe(
        claim="each layer, sentence and head has a matrix, with queries in rows",
        given="Nothing is padded here, and the kind is cross-attention.",
        why="The numbers are not the model's cross-attention weights in the order "
        "(layers, batch, heads, queries, keys).",
        draw=_sentences,
        call=_cross,
    ),
    Probe(
        claim="so it is for every kind, and for a single layer or sentence",
        given="Nothing is padded; there is one layer, or one sentence. The weights of "
        "all three kinds are asked for.",
        why="The weights of one of the kinds are not right.",
        draw=lambda g: _sentences(g, ones=True),
        call=_kinds,
    ),
    Probe(
        claim="rows of padded queries are zero, and all others as they were",
        given="Source and target are padded, in different places.",
        why="With padding, the weights are not right. Rows of padding have to be zero: "
        "of source tokens in the encoder, of target tokens in the other two kinds. No "
        "other row may change.",
        draw=lambda g: _sentences(g, padded=True),
        read=PADDING,
        call=_kinds,
        weight=2,
    ),
    *_of_modes(
        small_translator, lambda g: _sentences(g) | {"kind": KINDS[whole(g, 0, 2)]}
    ),
)

HUGGING_FACE = _reading(
    SHAPES,
    Probe(
        claim="the weights of a BERT come out in the order asked for",
        given="The model was loaded with plain (eager) attention; nothing is padded.",
        why="The numbers are not the weights of the model in the order (layers, batch, "
        "heads, tokens, tokens).",
        draw=_texts,
        call=_bert,
    ),
    Probe(
        claim="so do those of any model that was loaded as the library does by default",
        given="A BERT and a GPT-2 were loaded without choosing how attention is "
        "computed; nothing is padded.",
        why="For a BERT with plain attention the weights are right; here they are not.",
        draw=lambda g: _texts(g, None),
        call=_models,
        weight=2,
    ),
    Probe(
        claim="padding, on either side, gets no weight, and its rows are zero",
        given="By `mask`, a sentence is padded on the right and another on the left; "
        "the id 0 occurs in tokens too.",
        why="With padding the weights are not right.",
        draw=lambda g: _texts(g, padded=True),
        read=PADDING,
        call=_models,
        as_ifs={"the mask is all ones": lambda mask, **_: {"mask": mask | 1}},
        weight=2,
    ),
    *_of_modes(
        lambda **how: small_hugging_face("bert", implementation="eager", **how),
        lambda g: {n: v for n, v in _texts(g).items() if n != "implementation"},
    ),
)


# 2.3 ---------------------------------------------------------------------------------

WORDS = ("the", "cat", "sat", "on", "a", "mat", "and", "dog", "saw", "red", "hat")


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
        f"the {part} of head {number}": shown(axes)[part]
        for number, axes in enumerate(_axes(answer, inputs))
        for part in parts
    }


def _titles(answer, **inputs):
    axes, found = _axes(answer, inputs), []
    for one in axes:
        title = " ".join(one.get_title(where) for where in ("left", "center", "right"))
        number = re.search(r"head\D{0,9}(\d+)", title, re.IGNORECASE)
        number = number or re.search(r"(\d+)", title)
        found.append(int(number[1]) if number else -1)
    sums = torch.stack([shown(one)["data"].sum() for one in axes])
    return {"the numbers in the titles": found, "the sums of the pictures": sums}


PICTURES = _reading(
    PICTURE,
    Probe(
        claim="rows are queries from the top, columns are keys from the left",
        given="There are several heads; queries and keys differ in number.",
        why="The pictures, read from the top left, do not show the weights.",
        draw=_heads,
        call=_shown("data"),
    ),
    Probe(
        claim="a colour means the same weight everywhere, on a scale from 0 to 1",
        given="Compared is where each weight stands on the colour scale, from 0 for "
        "the first colour to 1 for the last.",
        why="A weight does not stand at its own value on the colour scale.",
        draw=_heads,
        call=_shown("colours"),
    ),
    Probe(
        claim="each row and column has its token",
        given="Read are the labels at the rows from the top and at the columns from "
        "the left, with '-' where there is none. Axes may share them.",
        why="The labels are not the tokens.",
        draw=_heads,
        call=_shown("rows", "columns"),
    ),
    Probe(
        claim="the title has the number of the head, counted from 0",
        given="Read is a number in each title, that after the word 'head' if there is "
        "one, and -1 where there is no number.",
        why="The numbers in the titles are not those of the heads.",
        draw=_heads,
        call=_titles,
        weight=0.5,
    ),
    Probe(
        claim="it works for a single head",
        given="There is only one head.",
        why="With several heads the pictures are right, with one they are not.",
        draw=lambda g: _heads(g, 1),
        call=_shown("data"),
        weight=0.5,
    ),
)


# 2.4 ---------------------------------------------------------------------------------

NAMES = ("previous_token_score", "duplicate_token_score", "induction_score")


def _pairs(g):
    """Draw sentences in which some tokens occur twice, never side by side."""
    batch, copies, different = sorted(sizes(g, 3, 1, 6))
    rows = []
    for _ in range(batch):
        first = torch.randperm(different, generator=g) + 1
        again = first[torch.randperm(different - 1, generator=g)[: copies - 1]]
        rows.append(torch.cat([first, again]))
    return _scored(g, torch.stack(rows))


def _several(g):
    """Draw sentences in which tokens occur up to three times, never side by side."""
    order = [torch.randperm(3, generator=g) + 1 for _ in range(2)]
    return _scored(g, torch.stack([row.repeat(3) for row in order])[:, :8])


def _in_a_row(g):
    order = torch.randperm(4, generator=g)[None] + 1
    return _scored(g, order[:, [0, 0, 1, 2, 2, 2, 3, 1, 1]])


def _unequal(g):
    """Draw padded sentences with unequal numbers of copies, one of them with none."""
    tokens = whole(g, 1, 3, 3, 8)
    tokens[1, :3] = torch.randperm(3, generator=g) + 1
    return _scored(g, _padded(tokens, 8, 3, whole(g, 4, 6)))


def _scored(g, tokens):
    heads = whole(g, 1, 2) if len(tokens) == 1 else whole(g, 3, 4)
    weights = _self_attention(g, tokens, heads)
    return {"weights": weights, "tokens": tokens}


def _scores(*which):
    return lambda *answers, **inputs: {
        NAMES[i]: answers[i](*inputs.values()) for i in which
    }


SCORES = _reading(
    SCORE,
    Probe(
        claim="`previous_token_score` is the mean weight on the token just before",
        given="Nothing is padded here.",
        why="It is not the mean of the weights on the token just before, over all "
        "queries but the first of each sentence.",
        draw=_pairs,
        call=_scores(0),
    ),
    Probe(
        claim="`duplicate_token_score` is the mean weight on an earlier copy",
        given="Nothing is padded here, and no token occurs more than twice.",
        why="It is not the mean of the weights on the earlier copy, over the queries "
        "that have one.",
        draw=_pairs,
        call=_scores(1),
    ),
    Probe(
        claim="`induction_score` is the mean weight on what followed the copy",
        given="Nothing is padded here, no token occurs more than twice, and copies "
        "never stand side by side.",
        why="It is not the mean of the weights on the token that followed the earlier "
        "copy, over the queries that have one.",
        draw=_pairs,
        call=_scores(2),
    ),
    Probe(
        claim="several earlier copies count together",
        given="Nothing is padded here; tokens occur up to three times, never side by "
        "side.",
        why="With one earlier copy the score is right, with two it is not. Their "
        "weights are added up, and the query counts once.",
        draw=_several,
        call=_scores(1, 2),
    ),
    Probe(
        claim="what follows a copy may be the query itself",
        given="Nothing is padded here; some tokens occur two or three times in a row.",
        why="Where a token stands beside its copy, the score is not right.",
        draw=_in_a_row,
        call=_scores(1, 2),
    ),
    Probe(
        claim="padding is left out, and all counted queries of the batch count alike",
        given="The sentences have different lengths and are padded; one has no copies.",
        why="Without padding the score is right. With sentences of different lengths "
        "it is not the mean over all counted queries of the batch together.",
        draw=_unequal,
        read=PADDING,
        call=_scores(0, 1, 2),
        weight=2,
    ),
)


# 2.5 ---------------------------------------------------------------------------------


def _linked(g, batch, links_of, words=None):
    target, source = words or (9, 4)
    drawn = whole(g, 0, 10**9, batch, 2 + whole(g, 1, 2), target, source)
    ranks = drawn.argsort(dim=-1).argsort(dim=-1) + 1  # no two in a row are equal
    weights = ranks / ranks.sum(dim=-1, keepdim=True)
    links = []
    for n in range(batch):
        length = target - 3 * n  # the rest is padding
        weights[n, :, length:] = 0
        links.append(links_of(g, n, length, source))
    return {"weights": weights, "links": links}


def _one_each(g, n, target, source):
    return [(whole(g, 0, source - 1), t) for t in range(target)]


def _one_or_two(g, n, target, source):
    pairs = _one_each(g, n, target, source)
    return _in_disorder(g, pairs + [((s + 1) % source, t) for s, t in pairs[::2]])


def _some(g, n, target, source):
    return _in_disorder(g, _one_each(g, n, target, source)[::2])


def _in_disorder(g, pairs):
    return [pairs[i] for i in torch.randperm(len(pairs), generator=g).tolist()]


ALIGNMENT = _reading(
    ALIGN,
    Probe(
        claim="the largest weight of a row has to lie on the linked source word",
        given="There is one sentence, and each target word has one link.",
        why="It is not the proportion of target words whose largest weight lies on "
        "their link.",
        draw=lambda g: _linked(g, 1, _one_each, ((9, 4), (5, 7))[whole(g, 0, 1)]),
    ),
    Probe(
        claim="a word with several links counts once, and one hit is enough",
        given="There is one sentence. Each target word has one link or two, and the "
        "links are in no order.",
        why="With one link for each word the result is right, with several it is not.",
        draw=lambda g: _linked(g, 1, _one_or_two),
    ),
    Probe(
        claim="a word without links does not count",
        given="There is one sentence, and only some target words have a link.",
        why="With links for all target words the result is right; here it is not.",
        draw=lambda g: _linked(g, 1, _some),
    ),
    Probe(
        claim="it counts over all sentences together",
        given="There are three sentences of different lengths, padded in the target.",
        why="For one sentence the result is right; for several it is not the "
        "proportion of all their linked target words.",
        draw=lambda g: _linked(g, 3, _some),
    ),
)


# 2.6 ---------------------------------------------------------------------------------


def _to_ablate(g):
    layers, heads = sizes(g, 2, 2, 3)
    drawn = {"seed": whole(g, 0, 999), "layers": layers, "heads": heads}
    drawn["tokens"] = whole(g, 0, 6, 2, 3)
    head = whole(g, 0, heads - 1)
    layer = layers - 1 if head == 0 else whole(g, 0, layers - 1)
    return drawn | {"layer": layer, "head": head}


def _inside(ablated, _, tokens, layer, head, **how):
    found = {}
    for name, at in {"layer 0, head 0": (0, 0), "another head": (layer, head)}.items():
        model = small_transformer(**how)
        with ablated(model, *at):
            found[name] = model(tokens).detach()
            found[f"{name}, second call"] = model(tokens.flip(0)).detach()
    return found


def _gradient_inside(ablated, _, tokens, layer, head, **how):
    model = small_transformer(**how)
    with ablated(model, layer, head):
        weight = model.layers[layer].attention.value_proj.weight
        found = gradients(model(tokens), **{"the values of the other heads": weight})
    others = torch.arange(len(weight)) // 4 != head
    return {n: x if x is None else x[others] for n, x in found.items()}


class _Interruption(Exception):
    """What ends a block."""


def _afterwards(interrupted):
    def call(ablated, _, tokens, layer, head, training, **how):
        model, error = small_transformer(**how).train(training), "none"
        before = [parameter.detach().clone() for parameter in model.parameters()]
        try:
            with ablated(model, layer, head):
                model(tokens)
                if interrupted:
                    raise _Interruption
        except _Interruption:
            error = "that of the block"
        pairs = zip(before, model.parameters(), strict=True)
        modules = [*model.modules()]
        hooks = (len(m._forward_hooks) + len(m._forward_pre_hooks) for m in modules)
        return {
            "logits": model(tokens).detach(),
            "hooks left": sum(hooks),
            "changed parameters": sum(not torch.equal(a, b) for a, b in pairs),
            "modules in training mode": sum(m.training for m in modules),
            "the error that comes out": error,
        }

    return call


def _increase(_, loss_increase, tokens, layer, head, **how):
    model, ramp = small_transformer(**how), torch.arange(7.0)

    def loss_of(model, tokens):
        return ((model(tokens) * ramp).mean(dim=-1) * (tokens - 2)).mean()

    increase = loss_increase(model, tokens, layer, head, loss_of)
    return {"increase": increase, "loss afterwards": loss_of(model, tokens).item()}


ABLATION = _reading(
    ABLATE,
    Probe(
        claim="inside the block this head adds nothing, and all others work as before",
        given="One block ablates layer 0, head 0, another one another head. In each "
        "the model is called twice.",
        why="The logits inside are not those of the model without this head.",
        draw=_to_ablate,
        call=_inside,
    ),
    Probe(
        claim="gradients flow through the other heads as before",
        given="Gradients are asked for inside the block.",
        why="Inside the block the logits are right, but not their gradients.",
        draw=_to_ablate,
        call=_gradient_inside,
        weight=0.5,
    ),
    Probe(
        claim="after the block the model is as it was",
        given="The model comes in training or in evaluation mode, without dropout.",
        why="After the block the model is not as it was before.",
        draw=lambda g: _to_ablate(g) | {"training": bool(whole(g, 0, 1))},
        call=_afterwards(False),
    ),
    Probe(
        claim="so it is if the block ends in an error, and the error comes out",
        given="The block ends in an error.",
        why="After the error the model is not as it was before, or the error is gone.",
        draw=lambda g: _to_ablate(g) | {"training": bool(whole(g, 0, 1))},
        call=_afterwards(True),
    ),
    Probe(
        claim="`loss_increase` is the loss without the head minus that with it",
        given="The loss depends on logits and tokens, and may be negative.",
        why="`loss_increase` is not the difference of the two losses, or the model is "
        "another one after it.",
        draw=_to_ablate,
        call=_increase,
        weight=2,
    ),
)


# 2.7 ---------------------------------------------------------------------------------


def _distances(g, *lengths, more_keys=0):
    queries = 5 + whole(g, 0, 2)
    tokens = whole(g, 1, 9, 3, queries)
    tokens = _padded(tokens, *lengths) if lengths else tokens
    visible = torch.ones(3, queries, queries + more_keys, dtype=torch.bool)
    return {"weights": _weights(g, visible, 3 + whole(g, 0, 1)), "tokens": tokens}


def _visible(g, kind="all"):
    keys = 4 + whole(g, 0, 3)
    count = torch.full((3, 5), keys)
    if kind != "all":
        count = whole(g, 2, keys, 3, 5)
    if kind == "few":
        count[0, :3], count[2, 1:3] = torch.tensor([1, 0, 0]), 1
    visible = (torch.arange(keys) < count[..., None]).roll(whole(g, 0, 3), dims=-1)
    weights = _weights(g, visible, 3)
    if kind == "zeros":  # all weight on one of the visible keys
        weights[0, 0] = visible[0].int().argmax(-1, True) == torch.arange(keys)
    return {"weights": weights, "visible": visible}


def _distance(attention_distance, _, **inputs):
    return attention_distance(*inputs.values())


def _entropy(_, normalised_entropy, **inputs):
    return normalised_entropy(*inputs.values())


MEASURES = _reading(
    SCORE,
    Probe(
        claim="`attention_distance` is the mean of weights times distances",
        given="Nothing is padded here, and there are as many keys as queries or more.",
        why="It is not the mean over the queries of the weights times the distances.",
        draw=lambda g: _distances(g, more_keys=whole(g, 0, 3)),
        call=_distance,
    ),
    Probe(
        claim="padding is left out, and all queries of the batch count alike",
        given="The sentences have different lengths and are padded.",
        why="Without padding the distance is right. With it, it is not the mean over "
        "all queries of the batch that are tokens.",
        draw=lambda g: _distances(g, 5, 2, 4),
        read=PADDING,
        call=_distance,
    ),
    Probe(
        claim="`normalised_entropy` is entropy over the logarithm of the keys' number",
        given="Each query sees all keys, and none of the weights is 0.",
        why="It is not the mean of the entropies, divided by the logarithm of the "
        "number of keys.",
        draw=_visible,
        call=_entropy,
    ),
    Probe(
        claim="it goes by the visible keys of each query, also where a weight is 0",
        given="The queries see different numbers of keys, two at least, and some of "
        "these keys have the weight 0.",
        why="Where all queries see all keys the result is right; here it is not.",
        draw=lambda g: _visible(g, "zeros"),
        call=_entropy,
    ),
    Probe(
        claim="queries that see one key or none are left out",
        given="Some queries see one key or none, more in one sentence than in others.",
        why="Where all queries see two keys at least the result is right; here it is "
        "not the mean over all queries of the batch that do.",
        draw=lambda g: _visible(g, "few"),
        call=_entropy,
    ),
)


# 2.8 ---------------------------------------------------------------------------------


def _long(g):
    batch, n = whole(g, 2, 3), whole(g, 14, 18)
    lengths = [whole(g, 12, n) for _ in range(batch - 1)]
    return {"tokens": _padded(whole(g, 1, 6, batch, n), n, *lengths)}


def _uniform(tokens):
    both = (tokens != 0)[:, :, None] & (tokens != 0)[:, None, :]
    return both / both.sum(dim=-1, keepdim=True).clamp(min=1)


def _mixed(pattern, tokens, amounts):
    """Return one head for each amount of the pattern; the rest is uniform."""
    amounts = torch.as_tensor(amounts)[:, None, None]
    return amounts * pattern[:, None] + (1 - amounts) * _uniform(tokens)[:, None]


def _any_heads(g):
    """Draw heads that attend at random, to one token only, and uniformly."""
    tokens = _long(g)["tokens"]
    weights, uniform = _self_attention(g, tokens, 3), _uniform(tokens)[:, None]
    one = torch.zeros_like(weights).scatter(-1, weights.argmax(-1, True), 1.0)
    one = one * (tokens != 0)[:, None, :, None]
    return {"weights": torch.cat([weights, one, uniform], dim=1), "tokens": tokens}


def _of_amounts(*amounts):
    def call(my_pattern, my_score, tokens):
        return my_score(_mixed(my_pattern(tokens), tokens, amounts), tokens)

    return call


def _ways(my_pattern, my_score, tokens, amounts):
    """Return the scores of the same heads, in ways that should not matter."""
    heads = _mixed(my_pattern(tokens), tokens, amounts)
    pad = torch.nn.functional.pad
    alone = [my_score(heads[:, [head]], tokens) for head in range(len(amounts))]
    return {
        "together": my_score(heads, tokens),
        "each head alone": torch.cat(alone),
        "sentences reversed": my_score(heads.flip(0), tokens.flip(0)),
        "more padding": my_score(pad(heads, (0, 3, 0, 3)), pad(tokens, (0, 3))),
    }


def _faults(values, inputs):
    """Return by how much rows fail to be attention weights over the tokens."""
    pattern, real = values["result"], inputs["tokens"].numpy() != 0
    hidden = ~(real[:, :, None] & real[:, None, :])
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


def _missed(values, inputs):
    """Return by how much the bound for the pure or for the uniform head is missed."""
    uniform, pure = values["result"]
    return max(uniform - 0.5, 0.99 - pure)


def _difference(values, inputs):
    """Return the largest difference, or NaN if no two heads differ."""
    first, *others = values.values()
    largest = max(abs(first - other).max() for other in others)
    return largest if np.ptp(first) > 0.02 else np.nan


OWN_SCORE = _reading(
    SCORE,
    Probe(
        claim="`my_pattern` returns attention weights, and padding has none",
        given="Measured is the largest fault: of the sum of a row, of a negative "
        "weight, of a weight on padding or in a row of padding.",
        why="The pattern is none of attention weights over the tokens.",
        draw=_long,
        call=lambda my_pattern, _, tokens: my_pattern(tokens),
        measure=_faults,
        between=(-1, 1e-3),
    ),
    Probe(
        claim="the pattern is another one than those of task 2.4",
        given="Measured is the highest score of task 2.4 that the pattern gets.",
        why="The pattern is one of those of task 2.4, or nearly so.",
        draw=_long,
        call=lambda my_pattern, _, tokens: my_pattern(tokens),
        measure=_known,
        between=(0, 0.79999),
        weight=0,
    ),
    Probe(
        claim="the score lies between 0 and 1",
        given="The heads attend at random, to one token only, or uniformly. Measured "
        "is by how much a score lies outside the range.",
        why="A score lies outside the range.",
        draw=_any_heads,
        call=lambda _, my_score, **inputs: my_score(*inputs.values()),
        measure=lambda values, _: np.max(np.abs(values["result"] - 0.5)) - 0.5,
        between=(-1, 1e-4),
        weight=0,
    ),
    Probe(
        claim="the pure pattern gets at least 0.99, uniform attention at most 0.5",
        given="Measured is by how much one of the two bounds is missed.",
        why="One of the two bounds is missed.",
        draw=_long,
        call=_of_amounts(0.0, 1.0),
        measure=_missed,
        between=(-1, 1e-4),
    ),
    Probe(
        claim="more of the pattern gets a higher score",
        given="The heads have 0, 1/4, 1/2, 3/4 and all of the pattern; the rest is "
        "uniform. Measured is the smallest step from one score to the next.",
        why="A head with more of the pattern does not get a clearly higher score.",
        draw=_long,
        call=_of_amounts(0.0, 0.25, 0.5, 0.75, 1.0),
        measure=lambda values, _: np.diff(values["result"]).min(),
        between=(0.0199, 1),
    ),
    Probe(
        claim="a score changes with the head's own weights, and with nothing else",
        given="Heads with different amounts of the pattern are scored together, each "
        "alone, with the sentences in another order, and with more padding.",
        why="Not all of these give a head the same score, or all heads have one score.",
        draw=lambda g: _long(g) | {"amounts": torch.randperm(9, generator=g)[:4] / 8},
        call=_ways,
        measure=_difference,
        between=(0, 1e-3),
    ),
)


ABLATING = ("ablated", "loss_increase")
MEASURED = ("attention_distance", "normalised_entropy")
OWN = ("my_pattern", "my_score")

EXERCISE = Exercise(
    "2_attention_patterns",
    "Attention patterns",
    (
        Task(
            "translator",
            "The weights of a translator",
            ("translator_weights",),
            2,
            TRANSLATOR,
        ),
        Task(
            "hugging_face",
            "The weights of any Hugging Face model",
            ("hugging_face_weights",),
            3,
            HUGGING_FACE,
        ),
        Task("pictures", "A picture of each head", ("draw_heads",), 2, PICTURES),
        Task("scores", "Scores for three patterns", NAMES, 4, SCORES),
        Task("alignment", "Heads that align", ("alignment_accuracy",), 2, ALIGNMENT),
        Task("ablation", "Does the model need this head?", ABLATING, 3, ABLATION),
        Task("measures", "Compare kinds of input", MEASURED, 2, MEASURES),
        Task("own_score", "A score of your own", OWN, 2, OWN_SCORE),
    ),
    forbidden=(
        "attncourse.layers.heads",
        "attncourse.training.probing",
        "attncourse.training.metrics",
        "attncourse.viz",
    ),
)
