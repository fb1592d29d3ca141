"""Task 2.10: three languages compared."""

from __future__ import annotations

from functools import lru_cache

import torch

from attncourse.data.batching import translation_tensors
from attncourse.data.translation import parallel_corpus
from attncourse.exercises.patterns.alignment import ALIGN
from attncourse.exercises.patterns.extents import distances, mean_steps
from attncourse.exercises.patterns.hits import hits
from attncourse.exercises.patterns.models import draw
from attncourse.exercises.patterns.shares import PADDING
from attncourse.exercises.task import Check, Mistake, Task
from attncourse.recorded import load_model

NAMES = ("french", "german", "japanese")


@lru_cache(maxsize=4)
def translators(turn=0):
    """Return the recorded translators, {language: (model, vocabularies)}.

    Parameters
    ----------
    turn : int, default 0
        By how many places the heads of the cross-attention are moved on. The models
        compute the same, but no head can be known by its number.
    """
    loaded = {}
    for name in NAMES:
        model, record = load_model(f"translation_{name}")
        _turn_heads(model.decoder[-1].cross_attention, turn)
        model.register_forward_hook(_with_a_lower_layer)
        loaded[name] = model, record["vocabularies"]
    return loaded


def _with_a_lower_layer(model, inputs, output):
    """Put weights of a layer in front that looks at every word alike."""
    if not isinstance(output, tuple):
        return output
    logits, weights = output
    (cross,) = weights["cross"]
    evenly = (cross > 0) / (cross > 0).sum(-1, keepdim=True).clamp(min=1)
    return logits, {**weights, "cross": [evenly.to(cross), cross]}


@torch.no_grad()
def _turn_heads(attention, turn):
    step = turn * attention.d_head
    for part in (attention.query_proj, attention.key_proj, attention.value_proj):
        part.weight.copy_(part.weight.roll(step, 0))
        part.bias.copy_(part.bias.roll(step, 0))
    attention.output_proj.weight.copy_(attention.output_proj.weight.roll(step, 1))


def _corpus(seed):
    return parallel_corpus(12, seed=seed, min_len=6, max_len=14)


@lru_cache(maxsize=64)
def _read(seed):
    found = {}
    for name, pairs in _corpus(seed).items():
        model, words = translators()[name]
        source, target = translation_tensors(pairs, words["source"], words["target"])
        with torch.no_grad():
            weights = model(source, target, need_weights=True)[1]["cross"][-1]
        found[name] = weights, target, [pair.alignment for pair in pairs]
    return found


def _cross(seed, turn):
    """Return weights, target ids and links of each language: what is compared."""
    return {
        name: (weights.roll(turn, 1), target, links)
        for name, (weights, target, links) in _read(seed).items()
    }


def _clear_sentences(generator):
    """Draw sentences for which the best head of each language is beyond doubt."""
    while True:
        seed, turn = draw(generator, 0, 10**6), draw(generator, 0, 3)
        read = _cross(seed, turn)
        best = [hits(w, links).topk(2).values for w, _, links in read.values()]
        clear = all(first - second > 0.005 for first, second in best)
        if clear and _best(*read["french"]) > 0:  # head 0 is no lucky guess
            return {"seed": seed, "turn": turn}


def _languages(head_of):
    def by_language(seed, turn):
        return {
            name: distances(weights, target)[head_of(weights, target, links)]
            for name, (weights, target, links) in _cross(seed, turn).items()
        }

    return by_language


def _best(weights, target, links):
    return hits(weights, links).argmax()


def _french_head(seed, turn):
    weights, _, links = _cross(seed, turn)["french"]
    head = hits(weights, links).argmax()
    return _languages(lambda *_: head)(seed, turn)


def _first_layer(seed, turn):
    """Return what the layer in front gives, which looks at every word alike."""
    return {
        name: distances(
            (weights > 0) / (weights > 0).sum(-1, keepdim=True).clamp(min=1), target
        )[0]
        for name, (weights, target, _) in _cross(seed, turn).items()
    }


def _by_source(seed, turn):
    """Return the reach of the transposed maps, over the words of the source."""
    found = {}
    for name, (weights, target, links) in _cross(seed, turn).items():
        source = (weights.sum(dim=(1, 2)) > 0).long()
        turned = (weights * (target != 0)[:, None, :, None]).transpose(-2, -1)
        found[name] = distances(turned, source)[_best(weights, target, links)]
    return found


def _padding_counted(seed, turn):
    return {
        name: mean_steps(w, t, lambda s: s.abs(), counted="all")[_best(w, t, links)]
        for name, (w, t, links) in _cross(seed, turn).items()
    }


def _zeros_counted(seed, turn):
    return {
        name: number * share
        for (name, number), share in zip(
            _languages(_best)(seed, turn).items(),
            ((ids != 0).float().mean() for _, ids, _ in _cross(seed, turn).values()),
            strict=True,
        )
    }


def _ask_languages(reach_of_languages, seed, turn):
    found = reach_of_languages(translators(turn), _corpus(seed))
    if not isinstance(found, dict):
        raise TypeError(f"a dict was asked for, not a {type(found).__name__}")
    return {name: float(number) for name, number in found.items()}


def _as_floats(function):
    return lambda seed, turn: {
        name: float(x) for name, x in function(seed, turn).items()
    }


LANGUAGES = Task(
    name="languages",
    title="Three languages compared",
    names=("reach_of_languages",),
    needs=("translator", "alignment", "measures"),
    minutes=15,
    checks=(
        Check(
            "for each language, the reach of the cross-attention head that aligns best",
            1,
            inputs=_clear_sentences,
            ask=_ask_languages,
            expected=_as_floats(_languages(_best)),
            tolerance=1e-3,
            mistakes=(
                Mistake(
                    "one head for all languages",
                    "The head that is best for French has been taken for all "
                    "languages. These are three models. The numbers of their heads "
                    "have nothing to do with each other.",
                    wrong=_as_floats(_french_head),
                    read=ALIGN,
                ),
                Mistake(
                    "head 0 for all languages",
                    "Head 0 has been taken for all languages, and not the one that "
                    "aligns best.",
                    wrong=_as_floats(_languages(lambda *_: 0)),
                    read=ALIGN,
                ),
                Mistake(
                    "the head that aligns worst",
                    "The head that aligns *worst* has been taken.",
                    wrong=_as_floats(
                        _languages(lambda w, _, links: int(hits(w, links).argmin()))
                    ),
                    read=ALIGN,
                ),
                Mistake(
                    "another layer",
                    "These are the weights of the *first* layer of the decoder. Asked "
                    "for is the last one.",
                    wrong=_as_floats(_first_layer),
                    read=ALIGN,
                ),
                Mistake(
                    "maps read by their columns",
                    "The maps have been turned round, and the words of the source are "
                    "counted. The rows of cross-attention are target words.",
                    wrong=_as_floats(_by_source),
                    read=ALIGN,
                ),
                Mistake(
                    "ids that do not fit the rows",
                    "The ids that are counted are not as many as the rows of the maps. "
                    "The rows of cross-attention are target words and its columns "
                    "source words; those of the encoder are source words both.",
                    when=lambda seen, expected, inputs: (
                        "size of tensor" in seen["result"].text
                    ),
                    read=ALIGN,
                ),
                Mistake(
                    "heads averaged",
                    "This is the mean over all heads, and not the reach of the one "
                    "that aligns best.",
                    wrong=_as_floats(
                        lambda seed, turn: {
                            name: distances(weights, target).mean()
                            for name, (weights, target, _) in _cross(seed, turn).items()
                        }
                    ),
                    read=ALIGN,
                ),
                Mistake(
                    "the head that reaches farthest",
                    "The head with the largest reach has been taken, and not the one "
                    "that aligns best.",
                    wrong=_as_floats(
                        lambda seed, turn: {
                            name: distances(weights, target).max()
                            for name, (weights, target, _) in _cross(seed, turn).items()
                        }
                    ),
                    read=ALIGN,
                ),
                *(
                    Mistake(
                        "padding counted",
                        "Rows of padding have been counted, with zeros or with what "
                        "the model wrote there.",
                        wrong=_as_floats(counted),
                        read=PADDING,
                    )
                    for counted in (_padding_counted, _zeros_counted)
                ),
            ),
        ),
    ),
)
