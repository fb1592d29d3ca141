"""Symbol tasks: copy, reverse, associative recall, repeats, Markov recall.

Ids: 0 is padding, symbols are counted from 1. All tensors are int64 and on the CPU;
move them to the device of the model. `seed` is an int (the same batch each time) or a
`numpy.random.Generator` (each call draws the next batch).
"""

import numpy as np
import torch
from torch import Tensor

from attncourse._checks import positive_int
from attncourse.data._random import Seed, as_generator, check_range, uniform_integers
from attncourse.data.markov import (  # noqa: F401 - known from here, too
    markov_recall_batch,
    markov_recall_losses,
)

PAD = 0


def _random_source(batch, min_len, max_len, num_symbols, generator):
    """Return padded symbols (batch, max_len) and lengths (batch,), as NumPy arrays."""
    positive_int("batch", batch)
    check_range("min_len", min_len, "max_len", max_len)
    positive_int("num_symbols", num_symbols)
    lengths = uniform_integers(generator, min_len, max_len, batch)
    source = uniform_integers(generator, 1, num_symbols, (batch, max_len))
    source[np.arange(max_len) >= lengths[:, None]] = PAD
    return source, lengths


def copy_batch(
    batch: int, min_len: int, max_len: int, num_symbols: int, seed: Seed = 0
) -> tuple[Tensor, Tensor]:
    """Draw sequences to be copied: the target is the source.

    Parameters
    ----------
    batch, min_len, max_len : int
        Number of sequences; the shortest and the longest in tokens, each length is
        equally likely.
    num_symbols : int
        Symbols are 1 ... num_symbols, so the vocabulary has num_symbols + 1 ids.
    seed : int or numpy.random.Generator
        An int gives the same batch each time, a generator the next one.

    Returns
    -------
    source : torch.Tensor, int64, (batch, max_len)
        Padded with 0 on the right.
    lengths : torch.Tensor, int64, (batch,)
        Tokens before the padding.

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type, a size is below 1 or min_len exceeds
        max_len.

    Examples
    --------
    >>> source, lengths = copy_batch(2, 3, 5, num_symbols=9)
    >>> source.shape, lengths.shape
    (torch.Size([2, 5]), torch.Size([2]))
    """
    source, lengths = _random_source(
        batch, min_len, max_len, num_symbols, as_generator(seed)
    )
    return torch.from_numpy(source), torch.from_numpy(lengths)


def reverse_batch(
    batch: int, min_len: int, max_len: int, num_symbols: int, seed: Seed = 0
) -> tuple[Tensor, Tensor, Tensor]:
    """Draw sequences and the same sequences backwards.

    Parameters
    ----------
    batch, min_len, max_len, num_symbols, seed
        As in `copy_batch`; with the same seed the sources are the same.

    Returns
    -------
    source : torch.Tensor, int64, (batch, max_len)
        Padded with 0 on the right.
    target : torch.Tensor, int64, (batch, max_len)
        target[b, i] = source[b, lengths[b] - 1 - i]; padded with 0 on the right.
    lengths : torch.Tensor, int64, (batch,)

    Raises
    ------
    ValueError, TypeError
        As in `copy_batch`.
    """
    source, lengths = _random_source(
        batch, min_len, max_len, num_symbols, as_generator(seed)
    )
    index = lengths[:, None] - 1 - np.arange(max_len)
    target = np.take_along_axis(source, np.maximum(index, 0), axis=1)
    target[index < 0] = PAD
    return torch.from_numpy(source), torch.from_numpy(target), torch.from_numpy(lengths)


def associative_recall_batch(
    batch: int, num_pairs: int, num_keys: int, num_values: int, seed: Seed = 0
) -> tuple[Tensor, Tensor, Tensor]:
    """Draw key-value pairs followed by one of the keys; the answer is its value.

    A row is k1 v1 k2 v2 ... kn vn q. The keys of a row differ; values may repeat.

    Parameters
    ----------
    batch, num_pairs : int
        Number of sequences, and of pairs in each; at most num_keys.
    num_keys, num_values : int
        Keys are 1 ... num_keys, values num_keys + 1 ... num_keys + num_values, so the
        vocabulary has num_keys + num_values + 1 ids.
    seed : int or numpy.random.Generator

    Returns
    -------
    sequence : torch.Tensor, int64, (batch, 2 * num_pairs + 1)
    answer : torch.Tensor, int64, (batch,)
        The id of the value that belongs to the last key.
    position : torch.Tensor, int64, (batch,)
        Where that value stands in the sequence: where attention should go.

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type, a size is below 1 or num_pairs exceeds
        num_keys.

    References
    ----------
    Ba, Hinton, Mnih, Leibo and Ionescu (2016), "Using Fast Weights to Attend to the
    Recent Past", section 4.1: the task in its classic form.
    """
    positive_int("batch", batch)
    positive_int("num_pairs", num_pairs)
    positive_int("num_keys", num_keys)
    positive_int("num_values", num_values)
    if num_pairs > num_keys:
        raise ValueError(
            f"num_pairs must not exceed num_keys, because the keys of a row differ; "
            f"got num_pairs={num_pairs} and num_keys={num_keys}"
        )
    generator = as_generator(seed)
    order = np.argsort(generator.random((batch, num_keys)), axis=1, kind="stable")
    keys = 1 + order[:, :num_pairs].astype(np.int64)
    values = uniform_integers(
        generator, num_keys + 1, num_keys + num_values, (batch, num_pairs)
    )
    asked = uniform_integers(generator, 0, num_pairs - 1, batch)
    rows = np.arange(batch)
    sequence = np.empty((batch, 2 * num_pairs + 1), dtype=np.int64)
    sequence[:, 0:-1:2] = keys
    sequence[:, 1::2] = values
    sequence[:, -1] = keys[rows, asked]
    answer = values[rows, asked]
    return (
        torch.from_numpy(sequence),
        torch.from_numpy(answer),
        torch.from_numpy(2 * asked + 1),
    )


def repeated_sequence_batch(
    batch: int, min_half: int, max_half: int, num_symbols: int, seed: Seed = 0
) -> tuple[Tensor, int]:
    """Draw random sequences that occur twice in a row, for induction heads.

    Nothing predicts the first half. From the second symbol of the second half on, each
    symbol is the one that followed the same context before.

    Parameters
    ----------
    batch : int
        Number of sequences.
    min_half, max_half : int
        Bounds of the half length in tokens, both included. One half length is drawn
        for the whole batch, so there is no padding.
    num_symbols : int
        Symbols are 1 ... num_symbols, each drawn uniformly and independently.
    seed : int or numpy.random.Generator

    Returns
    -------
    sequence : torch.Tensor, int64, (batch, 2 * half)
    half : int
        sequence[:, i] == sequence[:, i + half] for each i < half.

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type, a size is below 1 or min_half exceeds
        max_half.

    References
    ----------
    Olsson et al. (2022), "In-context Learning and Induction Heads".
    """
    positive_int("batch", batch)
    check_range("min_half", min_half, "max_half", max_half)
    positive_int("num_symbols", num_symbols)
    generator = as_generator(seed)
    half = int(uniform_integers(generator, min_half, max_half, ()))
    first = uniform_integers(generator, 1, num_symbols, (batch, half))
    return torch.from_numpy(np.concatenate([first, first], axis=1)), half
