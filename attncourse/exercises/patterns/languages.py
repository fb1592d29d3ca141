"""Task 2.10: three languages compared."""

from __future__ import annotations

from functools import lru_cache

import torch

from attncourse.data.batching import translation_tensors
from attncourse.data.translation import parallel_corpus
from attncourse.exercises.patterns.alignment import ALIGN, hits
from attncourse.exercises.patterns.measures import distances, mean_steps
from attncourse.exercises.patterns.models import draw
from attncourse.exercises.patterns.shares import PADDING
from attncourse.exercises.task import Check, Mistake, Task
from attncourse.recorded import load_model

NAMES = ("french", "german", "japanese")


@lru_cache(maxsize=1)
def translators():
    """Return the recorded translators, {language: (model, vocabularies)}."""
    loaded = {name: load_model(f"translation_{name}") for name in NAMES}
    return {n: (model, record["vocabularies"]) for n, (model, record) in loaded.items()}


@lru_cache(maxsize=8)
def _cross(seed):
    """Return weights, target ids and links of each language: what is compared."""
    found = {}
    for name, pairs in parallel_corpus(12, seed=seed, min_len=6, max_len=14).items():
        model, words = translators()[name]
        source, target = translation_tensors(pairs, words["source"], words["target"])
        with torch.no_grad():
            weights = model(source, target, need_weights=True)[1]["cross"][-1]
        found[name] = weights, target, [pair.alignment for pair in pairs]
    return found


def _clear_sentences(generator):
    """Draw sentences for which the best head of each language is beyond doubt."""
    while True:
        seed = draw(generator, 0, 10**6)
        best = [hits(w, links).topk(2).values for w, _, links in _cross(seed).values()]
        if all(first - second > 0.01 for first, second in best):
            return {"seed": seed}


def _languages(head_of):
    def by_language(seed):
        return {
            name: distances(weights, target)[head_of(weights, target, links)]
            for name, (weights, target, links) in _cross(seed).items()
        }

    return by_language


def _best(weights, target, links):
    return hits(weights, links).argmax()


def _french_head(seed):
    weights, _, links = _cross(seed)["french"]
    head = hits(weights, links).argmax()
    return _languages(lambda *_: head)(seed)


def _padding_counted(seed):
    return {
        name: mean_steps(w, t, lambda s: s.abs(), counted="all")[_best(w, t, links)]
        for name, (w, t, links) in _cross(seed).items()
    }


def _ask_languages(reach_of_languages, seed):
    corpus = parallel_corpus(12, seed=seed, min_len=6, max_len=14)
    found = reach_of_languages(translators(), corpus)
    return {name: float(number) for name, number in found.items()}


def _as_floats(function):
    return lambda seed: {name: float(x) for name, x in function(seed).items()}


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
                    "heads averaged",
                    "This is the mean over all heads, and not the reach of the one "
                    "that aligns best.",
                    wrong=_as_floats(
                        lambda seed: {
                            name: distances(weights, target).mean()
                            for name, (weights, target, _) in _cross(seed).items()
                        }
                    ),
                    read=ALIGN,
                ),
                Mistake(
                    "the head that reaches farthest",
                    "The head with the largest reach has been taken, and not the one "
                    "that aligns best.",
                    wrong=_as_floats(
                        lambda seed: {
                            name: distances(weights, target).max()
                            for name, (weights, target, _) in _cross(seed).items()
                        }
                    ),
                    read=ALIGN,
                ),
                Mistake(
                    "padding counted",
                    "Rows of padding have been counted, with zeros or with what the "
                    "model wrote there.",
                    wrong=_as_floats(_padding_counted),
                    read=PADDING,
                ),
            ),
        ),
    ),
)
