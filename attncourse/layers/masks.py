"""Masks: boolean, True = may attend, combined with ``&``.

This is the convention of ``torch.nn.functional.scaled_dot_product_attention``.
``torch.nn.MultiheadAttention`` has the opposite one (True = hidden).
"""

import torch
from torch import Tensor

from attncourse import _checks


def create_causal_mask(
    seq_len: int, device: torch.device | str | None = None
) -> Tensor:
    """Return the mask that lets each position attend to itself and to the past.

    Parameters
    ----------
    seq_len : int
        Number of positions; 0 gives an empty mask.
    device : torch.device or str, optional
        Where to make the mask.

    Returns
    -------
    torch.Tensor
        bool, ``(seq_len, seq_len)``; entry (i, j) is True where j <= i.

    Raises
    ------
    TypeError, ValueError
        If `seq_len` is not a whole number, or negative.
    """
    seq_len = _checks.positive_int("seq_len", seq_len, minimum=0)
    return torch.ones(seq_len, seq_len, dtype=torch.bool, device=device).tril()


def create_padding_mask(seq: Tensor, pad_idx: int = 0) -> Tensor:
    """Return the mask that hides the padding of each sequence of a batch.

    Parameters
    ----------
    seq : torch.Tensor
        Token ids, integers, ``(batch, seq_len)``.
    pad_idx : int, default 0
        The id that stands for padding.

    Returns
    -------
    torch.Tensor
        bool, ``(batch, 1, 1, seq_len)``; True where there is a token. It combines
        with a causal mask to ``(batch, 1, seq_len, seq_len)`` by ``&``.

    Raises
    ------
    TypeError, ValueError
        If `seq` does not hold integers or is not two-dimensional.
    """
    if seq.is_floating_point() or seq.is_complex() or seq.dtype == torch.bool:
        raise TypeError(
            f"seq must hold integer token ids, but its dtype is {seq.dtype}. Make the "
            "padding mask from the ids, before they are embedded."
        )
    _checks.exact_rank("seq", seq, 2, layout="(batch, seq_len)")
    return (seq != pad_idx)[:, None, None, :]
