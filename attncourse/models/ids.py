"""What all models on token ids check and do with them."""

import torch
import torch.nn.functional as F

from attncourse import _checks
from attncourse.layers.core import check_device


def check_ids(name, ids, vocab_size, device, *, layout="(batch, tokens)", max_len=None):
    """Check that `ids` holds integers from 0 to vocab_size − 1 on the axes of `layout`.

    With `max_len`, there may be no more than that many of them in a row.
    """
    if not isinstance(ids, torch.Tensor) or ids.dtype not in (torch.int64, torch.int32):
        kind = ids.dtype if isinstance(ids, torch.Tensor) else type(ids).__name__
        raise TypeError(
            f"{name} must be a tensor of integer ids (int64 or int32), but got {kind}. "
            "Convert it with torch.as_tensor(ids).long()."
        )
    check_device(name, ids, device)
    _checks.exact_rank(name, ids, 1 + layout.count(","), layout=layout)
    if max_len is not None and ids.shape[1] > max_len:
        raise ValueError(
            f"{name} has {ids.shape[1]} positions, but this model was made for at most "
            f"{max_len}. Cut the sequence, or make the model with a larger max_len."
        )
    if ids.numel() and not 0 <= ids.min() <= ids.max() < vocab_size:
        raise ValueError(
            f"{name} must hold ids from 0 to {vocab_size - 1}, but its ids reach from "
            f"{ids.min().item()} to {ids.max().item()}. Make the model with a larger "
            "vocabulary, or map the ids that it does not know to one that it does."
        )


def check_even_width(d_model):
    """Return the width if half of it can be left to each reading direction."""
    if _checks.positive_int("d_model", d_model) % 2:
        raise ValueError(
            "d_model must be even, half of it for each reading direction, but got "
            f"{d_model}. Use {d_model + 1}."
        )
    return d_model


def check_source(source, vocab_size, pad_idx, device):
    """Check sources that are padded on the right; return their lengths ``(batch,)``."""
    check_ids("source", source, vocab_size, device)
    present = source != pad_idx
    if (present[:, 1:] & ~present[:, :-1]).any():
        raise ValueError(
            f"source must be padded on the right, but id {pad_idx} (pad_idx) stands "
            "before other ids in at least one row. Move the padding to the end."
        )
    lengths = present.sum(dim=1)
    if (lengths == 0).any():
        raise ValueError(
            "source must have at least one id in each row, but row "
            f"{lengths.argmin().item()} is empty. Leave empty sentences out."
        )
    return lengths


def shift_right(target, source, bos_idx):
    """Return the decoder's input: the target shifted right by one place in time."""
    if len(source) != len(target):
        raise ValueError(
            "source and target must have the same batch size, but their shapes are "
            f"{_checks.shape_text(source)} and {_checks.shape_text(target)}."
        )
    return F.pad(target, (1, 0), value=bos_idx)[:, : target.shape[1]]
