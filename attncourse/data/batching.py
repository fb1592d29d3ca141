"""From lists of ids to padded tensors, and batches of similar lengths."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from attncourse._checks import positive_int
from attncourse.data._random import Seed, as_generator
from attncourse.data.text import Vocabulary
from attncourse.data.translation import SentencePair


def pad_sequences(
    sequences: Sequence[Sequence[int]], pad_idx: int = 0
) -> tuple[Tensor, Tensor]:
    """Write lists of ids into one tensor, padded on the right.

    Parameters
    ----------
    sequences : sequence of sequence of int
    pad_idx : int

    Returns
    -------
    ids : torch.Tensor, int64, (batch, longest)
        On the CPU.
    lengths : torch.Tensor, int64, (batch,)

    Raises
    ------
    ValueError
        If there is no sequence, or one is empty.
    """
    lengths = [len(sequence) for sequence in sequences]
    if not lengths:
        raise ValueError("pad_sequences needs at least one sequence, got none")
    if min(lengths) == 0:
        raise ValueError(
            f"sequence {lengths.index(0)} is empty; leave empty sequences out, "
            "or end each with <eos>"
        )
    ids = np.full((len(lengths), max(lengths)), pad_idx, dtype=np.int64)
    for row, sequence in zip(ids, sequences, strict=True):
        row[: len(sequence)] = sequence
    return torch.from_numpy(ids), torch.tensor(lengths, dtype=torch.int64)


def length_batches(
    lengths: Sequence[int], batch_size: int, seed: Seed | None = None
) -> list[list[int]]:
    """Group items of similar length, so that little padding is needed.

    Parameters
    ----------
    lengths : sequence of int
        The length of each item, in tokens.
    batch_size : int
        Items in a batch; the batch of the longest items may be smaller.
    seed : int or numpy.random.Generator, optional
        Draws the order of items of equal length and the order of the batches. Without
        it, the batches go from short to long.

    Returns
    -------
    list of list of int
        The indices of the items in each batch; each item is in exactly one.

    Raises
    ------
    ValueError
        If `batch_size` is below 1.
    """
    positive_int("batch_size", batch_size)
    sizes = np.asarray(lengths, dtype=np.int64)
    if seed is None:
        order = np.argsort(sizes, kind="stable")
        starts = np.arange(0, len(order), batch_size)
    else:
        generator = as_generator(seed)
        order = np.lexsort((generator.random(len(sizes)), sizes))
        starts = np.arange(0, len(order), batch_size)
        starts = starts[np.argsort(generator.random(len(starts)), kind="stable")]
    return [order[i : i + batch_size].tolist() for i in starts]


def translation_tensors(
    pairs: Sequence[SentencePair],
    source_vocabulary: Vocabulary,
    target_vocabulary: Vocabulary,
) -> tuple[Tensor, Tensor]:
    """Write sentence pairs into padded tensors.

    Parameters
    ----------
    pairs : sequence of SentencePair
    source_vocabulary, target_vocabulary : Vocabulary

    Returns
    -------
    source : torch.Tensor, int64, (batch, source length)
        Ends with <eos>, padded with 0.
    target : torch.Tensor, int64, (batch, target length)
        Ends with <eos>, padded with 0. The models put <bos> in front when they shift
        it to the right, so that there is one place for that step and not many.

    Raises
    ------
    ValueError
        If `pairs` is empty.
    """
    source, _ = pad_sequences(
        [source_vocabulary.encode(p.source, eos=True) for p in pairs]
    )
    target, _ = pad_sequences(
        [target_vocabulary.encode(p.target, eos=True) for p in pairs]
    )
    return source, target
