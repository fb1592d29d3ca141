"""Batches and measures for reading comprehension and for summaries."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attncourse.data.batching import length_batches, pad_sequences
from attncourse.data.facts import MEN, WOMEN
from attncourse.data.news import NewsArticle
from attncourse.data.passages import ENIAC_NAMES, QAExample
from attncourse.data.text import Vocabulary
from attncourse.models.qa import QATransformer
from attncourse.training.metrics import rouge

PRONOUNS = ("he", "she")
LONG_NAMES = {name[0]: len(name) - 1 for name in ENIAC_NAMES["people"]}
FIRST_NAMES = frozenset((*MEN, *WOMEN, *LONG_NAMES))


def reading_tensors(
    examples: Sequence[QAExample], vocabulary: Vocabulary
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Write questions, contexts and answers into tensors.

    Parameters
    ----------
    examples : sequence of QAExample
    vocabulary : Vocabulary

    Returns
    -------
    question, context : torch.Tensor
        int64, ``(batch, words)``, padded on the right with 0.
    first, last : torch.Tensor
        int64, ``(batch,)``: the answer's first and last word in the context, both
        included; −1 where there is no answer.

    Raises
    ------
    ValueError
        If there are no examples, or a question or context is empty.
    """
    question, _ = pad_sequences([vocabulary.encode(e.question) for e in examples])
    context, _ = pad_sequences([vocabulary.encode(e.context) for e in examples])
    first, last = torch.tensor([e.answer or (-1, -1) for e in examples]).unbind(1)
    return question, context, first, last


def reading_batches(
    examples: Sequence[QAExample],
    vocabulary: Vocabulary,
    *,
    size: int = 32,
    seed: int = 0,
) -> Callable[[int], tuple[Tensor, ...]]:
    """Return ``batch_of(step)`` for `train`, with contexts of similar lengths.

    Parameters
    ----------
    examples : sequence of QAExample
    vocabulary : Vocabulary
    size : int, default 32
        Examples in a batch.
    seed : int, default 0
        Draws the order.

    Returns
    -------
    callable
        What it returns depends on the step alone; after all batches it starts again.
    """
    batches = length_batches([len(e.context) for e in examples], size, seed)

    def batch_of(step):
        chosen = batches[step % len(batches)]
        return reading_tensors([examples[i] for i in chosen], vocabulary)

    return batch_of


def answers(
    model: QATransformer,
    examples: Sequence[QAExample],
    vocabulary: Vocabulary,
    *,
    size: int = 100,
    **options: Any,
) -> list[tuple[int, int] | None]:
    """Return the span that a `QATransformer` finds for each example, or None.

    Parameters
    ----------
    model : QATransformer
    examples : sequence of QAExample
    vocabulary : Vocabulary
    size : int, default 100
        Examples in a batch.
    **options
        As for `QATransformer.predict_answer`.

    Returns
    -------
    list of tuple or None
        In the order of the examples.
    """
    device = next(model.parameters()).device
    found: list[Any] = [None] * len(examples)
    for chosen in length_batches([len(e.context) for e in examples], size):
        tensors = reading_tensors([examples[i] for i in chosen], vocabulary)
        question, context = (ids.to(device) for ids in tensors[:2])
        spans = model.predict_answer(question, context, **options)
        for i, span in zip(chosen, spans, strict=True):
            found[i] = span
    return found


def right_answers(
    model: QATransformer,
    examples: Sequence[QAExample],
    vocabulary: Vocabulary,
    **options: Any,
) -> np.ndarray:
    """Return which examples a model answers exactly, "no answer" included.

    Parameters
    ----------
    model, examples, vocabulary, **options
        As for `answers`.

    Returns
    -------
    numpy.ndarray
        bool, ``(examples,)``; its mean is the share of exact matches.
    """
    found = answers(model, examples, vocabulary, **options)
    pairs = zip(found, examples, strict=True)
    return np.array([span == example.answer for span, example in pairs])


def news_tensors(
    articles: Sequence[NewsArticle], vocabulary: Vocabulary
) -> tuple[Tensor, Tensor]:
    """Write articles into tensors.

    Parameters
    ----------
    articles : sequence of NewsArticle
    vocabulary : Vocabulary

    Returns
    -------
    texts : torch.Tensor
        int64, ``(batch, sentences, words)``, padded with 0.
    salient : torch.Tensor
        bool, ``(batch, sentences)``.

    Raises
    ------
    ValueError
        If there are no articles.
    """
    if not articles:
        raise ValueError("news_tensors needs at least one article, got none")
    rows = max(len(a.sentences) for a in articles)
    words = max(len(s) for a in articles for s in a.sentences)
    texts = np.zeros((len(articles), rows, words), dtype=np.int64)
    salient = np.zeros((len(articles), rows), dtype=bool)
    for i, article in enumerate(articles):
        for j, sentence in enumerate(article.sentences):
            texts[i, j, : len(sentence)] = vocabulary.encode(sentence)
        salient[i, list(article.salient)] = True
    return torch.from_numpy(texts), torch.from_numpy(salient)


def news_batches(
    articles: list[NewsArticle],
    vocabulary: Vocabulary,
    *,
    size: int = 32,
    seed: int = 0,
) -> Callable[[int], tuple[Tensor, ...]]:
    """Return ``batch_of(step)`` for `train`: texts and their salient sentences.

    Parameters
    ----------
    articles, vocabulary, size, seed
        As for `reading_batches`, with articles.

    Returns
    -------
    callable
        What it returns depends on the step alone.
    """
    texts, salient = news_tensors(articles, vocabulary)

    def batch_of(step):
        generator = np.random.default_rng([seed, step])
        chosen = torch.from_numpy(generator.choice(len(texts), size))
        return texts[chosen], salient[chosen]

    return batch_of


def summary_rouge(
    articles: Sequence[NewsArticle], chosen: Sequence[Sequence[int]]
) -> float:
    """Return the ROUGE-1 of chosen sentences against the written summaries.

    Parameters
    ----------
    articles : sequence of NewsArticle
    chosen : sequence of sequence of int
        For each article, the indices of the sentences that make the summary.

    Returns
    -------
    float
        The mean F-score, 0 to 100.

    Raises
    ------
    ValueError
        If there are not as many choices as articles.
    """
    written = [
        [word for i in indices for word in article.sentences[i]]
        for article, indices in zip(articles, chosen, strict=True)
    ]
    references = [article.summary_tokens() for article in articles]
    return rouge(written, references, kinds=("rouge1",))["rouge1"]


def misleading(example: QAExample) -> bool:
    """Return whether another person is named between a pronoun and its name.

    False also where the answer needs no "he" or "she".
    """
    return named_last(example) is not None


def named_last(example: QAExample) -> tuple[str, ...] | None:
    """Return who is named between the pronoun of an example and its name, or None.

    They are the words of the name that stands nearest before the pronoun.
    """
    if not example.reference or example.context[example.reference[0]] not in PRONOUNS:
        return None
    pronoun, name = example.reference
    for i in range(pronoun - 1, name, -1):
        if example.context[i] in FIRST_NAMES:
            return example.context[i : i + LONG_NAMES.get(example.context[i], 2)]
    return None
