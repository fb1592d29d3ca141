"""Training batches, translations and alignments for the models that translate."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attncourse import _checks
from attncourse.data.batching import length_batches, pad_sequences, translation_tensors
from attncourse.data.text import Vocabulary
from attncourse.data.translation import SentencePair
from attncourse.models.decoding import beam_search, greedy_search
from attncourse.models.recurrent import RecurrentSeq2Seq
from attncourse.models.seq2seq import AttentionSeq2Seq
from attncourse.models.translation import TranslationTransformer


def translation_batches(
    pairs: Sequence[SentencePair],
    source_vocabulary: Vocabulary,
    target_vocabulary: Vocabulary,
    *,
    size: int,
    seed: int = 0,
) -> Callable[[int], tuple[Tensor, ...]]:
    """Return a function that gives `train` its batches, of pairs of similar length.

    Parameters
    ----------
    pairs : sequence of SentencePair
    source_vocabulary, target_vocabulary : Vocabulary
    size : int
        Pairs in a batch.
    seed : int, default 0
        Draws the order.

    Returns
    -------
    callable
        ``batch_of(step)`` returns source and target ids, as `translation_tensors`
        makes them. It depends on `step` alone and goes through all pairs, in another
        order each time.

    Raises
    ------
    ValueError
        If there are no pairs, or `size` is below 1.
    """
    lengths = [len(pair.source) for pair in pairs]
    per_round = len(length_batches(lengths, size))
    if not per_round:
        raise ValueError("pairs must hold at least one sentence pair, but got none.")
    rounds = {}

    def batch_of(step):
        number, place = divmod(step, per_round)
        if number not in rounds:
            rounds.clear()  # the rounds come one after the other: keep the newest
            order = np.random.default_rng([seed, number])
            rounds[number] = length_batches(lengths, size, order)
        chosen = [pairs[i] for i in rounds[number][place]]
        return translation_tensors(chosen, source_vocabulary, target_vocabulary)

    return batch_of


def translate(
    model: Any,
    sentences: Sequence[Sequence[str]],
    source_vocabulary: Vocabulary,
    target_vocabulary: Vocabulary,
    *,
    beam_size: int = 1,
    length_penalty: float = 1.0,
    max_len: int | None = None,
    batch_size: int = 128,
) -> list[list[str]]:
    """Translate sentences, greedily or with beam search.

    Parameters
    ----------
    model : torch.nn.Module
        With the `start` and `step` that the searches need.
    sentences : sequence of sequence of str
        Source tokens. A word that is not in the vocabulary is read as <unk>.
    source_vocabulary, target_vocabulary : Vocabulary
    beam_size : int, default 1
        1 is greedy search.
    length_penalty : float, default 1.0
        The exponent of the length in `beam_search`.
    max_len : int, optional
        The most tokens that are written for a sentence; unless given, twice as many as
        the longest source of its batch has, and 10 more.
    batch_size : int, default 128
        Sentences that are translated at once.

    Returns
    -------
    list of list of str
        Target tokens, in the order of `sentences`.

    Raises
    ------
    TypeError
        If a sentence is a str instead of a list of tokens.
    ValueError
        If a sentence is empty or too long for the model.
    """
    _checks.positive_int("beam_size", beam_size)
    if not all(map(len, sentences)):
        raise ValueError(
            "each sentence must have at least one token, but one is empty. Leave "
            "empty sentences out."
        )
    ids = [source_vocabulary.encode(sentence, eos=True) for sentence in sentences]
    device = next(model.parameters()).device
    results: list[Any] = [None] * len(ids)
    for rows in length_batches([len(row) for row in ids], batch_size):
        source = pad_sequences([ids[i] for i in rows])[0].to(device)
        limit = 2 * source.shape[1] + 10 if max_len is None else max_len
        if beam_size == 1:
            written = greedy_search(model, source, max_len=limit)
        else:
            written, _ = beam_search(
                model,
                source,
                beam_size=beam_size,
                max_len=limit,
                length_penalty=length_penalty,
            )
        for i, row in zip(rows, written.tolist(), strict=True):
            results[i] = target_vocabulary.decode(row)
    return results


@torch.no_grad()
def cross_attention_of(
    model: "RecurrentSeq2Seq | AttentionSeq2Seq | TranslationTransformer",
    pairs: Sequence[SentencePair],
    source_vocabulary: Vocabulary,
    target_vocabulary: Vocabulary,
    *,
    batch_size: int = 128,
) -> list[np.ndarray]:
    """Return where each head of the decoder looks, for pairs with known translations.

    The decoder reads the reference translation (teacher forcing), so that the rows
    belong to its tokens.

    Parameters
    ----------
    model : AttentionSeq2Seq, TranslationTransformer or RecurrentSeq2Seq
    pairs : sequence of SentencePair
    source_vocabulary, target_vocabulary : Vocabulary
    batch_size : int, default 128
        Pairs that are read at once.

    Returns
    -------
    list of numpy.ndarray
        For each pair ``(layers, heads, target, source)``, without padding and without
        the row and the column of <eos>. Rows may therefore sum to less than 1.

    Raises
    ------
    ValueError
        If there are no pairs.
    """
    model.eval()
    device = next(model.parameters()).device
    results: list[Any] = [None] * len(pairs)
    for rows in length_batches([len(pair.source) for pair in pairs], batch_size):
        chosen = [pairs[i] for i in rows]
        batch = translation_tensors(chosen, source_vocabulary, target_vocabulary)
        _, weights = model(*(ids.to(device) for ids in batch), need_weights=True)
        weights = weights["cross"] if isinstance(weights, dict) else weights[:, None]
        layers = weights if isinstance(weights, list) else [weights]
        maps = torch.stack(layers, dim=1).cpu().numpy()
        for i, one in zip(rows, maps, strict=True):
            pair = pairs[i]
            results[i] = one[..., : len(pair.target), : len(pair.source)]
    return results
