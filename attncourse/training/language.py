"""Training a language model on a long text, and its score in bits per byte.

Bits per byte can be compared between models with different tokens, and with programs
that compress files: an arithmetic coder that used the model's probabilities would need
that many bits for each byte of the text.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from attncourse import _checks
from attncourse.data.bpe import BPETokenizer
from attncourse.models.gpt import GPT


def text_windows(
    ids: Sequence[int] | Tensor, batch: int, length: int, seed: int = 0
) -> Callable[[int], tuple[Tensor]]:
    """Return a function that draws batches of windows of a text.

    Parameters
    ----------
    ids : sequence of int or torch.Tensor
        ``(tokens,)``.
    batch : int
        Windows in a batch.
    length : int
        Tokens that the model reads; a window has one more, to be predicted.
    seed : int, default 0

    Returns
    -------
    callable
        ``batch_of(step)`` returns a tuple of one int64 tensor, ``(batch, length + 1)``,
        for `train`. A text shorter than a window raises a ValueError.
    """
    ids = torch.as_tensor(ids)
    batch = _checks.positive_int("batch", batch)
    length = _checks.positive_int("length", length)
    if len(ids) <= length:
        raise ValueError(
            f"ids must hold more than {length} tokens, one window, but got {len(ids)}. "
            "Give a longer text, or a smaller length."
        )

    def batch_of(step):
        begins = np.random.default_rng([seed, step]).integers(
            len(ids) - length, size=batch
        )
        return (torch.stack([ids[b : b + length + 1] for b in begins]),)

    return batch_of


def next_token_loss(model: GPT, windows: Tensor) -> Tensor:
    """Return the mean loss of the next tokens in windows ``(batch, length + 1)``."""
    logits = model(windows[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), windows[:, 1:].flatten())


@torch.no_grad()
def token_losses(
    model: Any,
    ids: Sequence[int] | Tensor,
    *,
    overlap: int | None = None,
    batch: int = 16,
    **how: Any,
) -> Tensor:
    """Return the loss of each token of a long text but the first, in nats.

    The text is read in windows of the model's context. Each window but the first begins
    `overlap` tokens early, and only what follows these is counted, so that no token is
    predicted from fewer.

    Parameters
    ----------
    model : torch.nn.Module
        ``model(tokens, **how)`` returns logits; ``model.context`` is the longest input.
    ids : sequence of int or torch.Tensor
        The token ids of the text, ``(tokens,)``.
    overlap : int, optional
        Tokens, fewer than the context; half of it unless given.
    batch : int, default 16
        Windows that are run at once.
    **how
        Further arguments of the model, such as `active_heads`.

    Returns
    -------
    torch.Tensor
        float32, ``(tokens - 1,)``, on the CPU.
    """
    ids, context = torch.as_tensor(ids), model.context
    overlap = context // 2 if overlap is None else overlap
    if not 0 <= overlap < context:
        raise ValueError(
            f"overlap must be from 0 to {context - 1}, less than the context, but got "
            f"{overlap}."
        )
    if len(ids) < 2:
        raise ValueError(f"ids must hold at least 2 tokens, but got {len(ids)}.")
    model.eval()
    device = next(model.parameters()).device
    losses = torch.empty(len(ids) - 1)
    begins = range(0, max(len(ids) - 1 - overlap, 1), context - overlap)
    # The last window may be shorter, and goes alone.
    *whole, last = begins
    groups = [whole[i : i + batch] for i in range(0, len(whole), batch)]
    for group in [*groups, [last]]:
        windows = torch.stack([ids[b : b + context + 1] for b in group]).to(device)
        logits = model(windows[:, :-1], **how)
        found = F.cross_entropy(
            logits.transpose(1, 2), windows[:, 1:], reduction="none"
        )
        for begin, row in zip(group, found.cpu(), strict=True):
            skip = overlap if begin else 0
            losses[begin + skip : begin + len(row)] = row[skip:]
    return losses


def bits_per_byte(model: GPT, tokenizer: BPETokenizer, text: str, **how: Any) -> float:
    r"""Return the model's score on a text, in bits per byte; lower is better.

    .. math::

        -\frac{1}{\text{bytes}} \sum_i \log_2 p(t_i \mid t_{<i})

    The first token, which nothing predicts, counts as one of equally likely tokens.

    The arguments are those of `token_losses`, with a text and its `BPETokenizer`.
    """
    losses = token_losses(model, tokenizer.encode(text), **how)
    nats = losses.double().sum().item() + math.log(len(tokenizer))
    return nats / math.log(2) / len(text.encode())
