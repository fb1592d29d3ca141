"""Greedy and beam search, for every model with `start` and `step`.

A model offers ``start(source)``, which returns a state, and ``step(tokens, state)``,
which returns logits and the next state. The state is a tensor, None, or a tuple, list
or dict of states; the batch is the first axis of each tensor, so that a search can
choose and repeat its rows.
"""

from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_map_only

from attncourse import _checks


@torch.no_grad()
def greedy_search(model: Any, source: Tensor, *, max_len: int = 100) -> Tensor:
    """Write the likeliest next id until each sentence has ended.

    Parameters
    ----------
    model : torch.nn.Module
        With `start`, `step`, `bos_idx`, `eos_idx` and `pad_idx`.
    source : torch.Tensor
        Integer ids, ``(batch, source)``.
    max_len : int, default 100
        The most ids that are written for a sentence.

    Returns
    -------
    torch.Tensor
        int64, ``(batch, written)``: each row ends with `eos_idx`, unless it was cut at
        `max_len`, and is filled up with `pad_idx`.
    """
    max_len = _checks.positive_int("max_len", max_len)
    model.eval()
    state = model.start(source)
    tokens = torch.full((len(source),), model.bos_idx, device=source.device)
    ended = torch.zeros_like(tokens, dtype=torch.bool)
    written = []
    for _ in range(max_len):
        logits, state = model.step(tokens, state)
        logits[:, model.pad_idx] = -torch.inf  # padding is no word
        tokens = logits.argmax(dim=-1).masked_fill(ended, model.pad_idx)
        written.append(tokens)
        ended = ended | (tokens == model.eos_idx)
        if ended.all():
            break
    return torch.stack(written, dim=1)


@torch.no_grad()
def beam_search(
    model: Any,
    source: Tensor,
    *,
    beam_size: int = 4,
    max_len: int = 100,
    length_penalty: float = 1.0,
    kept: list[tuple[Tensor, Tensor, Tensor]] | None = None,
) -> tuple[Tensor, Tensor]:
    r"""Keep the best `beam_size` beginnings of each sentence, and return the best end.

    Finished sentences are compared by their mean log-probability,

    .. math:: \frac{1}{|y|^{\alpha}} \sum_i \log p(y_i \mid y_{<i}, x)

    because a plain sum prefers short sentences.

    Parameters
    ----------
    model, source, max_len
        As for `greedy_search`.
    beam_size : int, default 4
        Beginnings that are kept; 1 is greedy search.
    length_penalty : float, default 1.0
        The exponent α; 0 compares plain sums.
    kept : list, optional
        Each step adds what it keeps, best first: the beams that it continues, the new
        ids and the log-probabilities, all ``(batch, beam_size)``.

    Returns
    -------
    ids : torch.Tensor
        int64, ``(batch, written)``, in the form of `greedy_search`.
    scores : torch.Tensor
        ``(batch,)``, the normalised log-probability of each.

    References
    ----------
    Wu et al. (2016), "Google's neural machine translation system", section 7, discuss
    the normalisation by length; theirs has the form ``((5 + |y|) / 6)^α``.
    """
    beam_size = _checks.positive_int("beam_size", beam_size)
    max_len = _checks.positive_int("max_len", max_len)
    model.eval()
    batch, device = len(source), source.device
    state = choose(
        model.start(source),
        torch.arange(batch, device=device).repeat_interleave(beam_size),
    )
    # One row for each beam. At first all beams are the same: only one may count.
    totals = torch.full((batch, beam_size), -torch.inf, device=device)
    totals[:, 0] = 0.0
    ids = torch.full((batch, beam_size, 1), model.bos_idx, device=device)
    ended = torch.zeros(batch, beam_size, dtype=torch.bool, device=device)
    lengths = torch.zeros(batch, beam_size, device=device)
    for _ in range(max_len):
        logits, state = model.step(ids[:, :, -1].flatten(), state)
        gains = logits.float().log_softmax(dim=-1).view(batch, beam_size, -1)
        # An ended sentence goes on with padding only, which costs nothing.
        gains = gains.masked_fill(ended[..., None], -torch.inf)
        gains[..., model.pad_idx] = torch.where(ended, 0.0, -torch.inf)
        vocab = gains.shape[-1]
        new_lengths = lengths + ~ended
        candidates = totals[..., None] + gains  # (batch, beam, vocab)
        ranks = candidates / new_lengths.clamp(min=1)[..., None] ** length_penalty
        scores, best = ranks.flatten(1).topk(beam_size, dim=1)  # (batch, beam)
        beam, token = best // vocab, best % vocab
        totals = candidates.flatten(1).gather(1, best)
        lengths = new_lengths.gather(1, beam)
        ended = ended.gather(1, beam) | (token == model.eos_idx)
        ids = ids.gather(1, beam[..., None].expand(-1, -1, ids.shape[-1]))
        ids = torch.cat([ids, token[..., None]], dim=-1)
        rows = torch.arange(batch, device=device)[:, None] * beam_size + beam
        state = choose(state, rows.flatten())
        if kept is not None:
            kept.append((beam, token, totals))
        if ended.all():
            break
    return ids[:, 0, 1:], scores[:, 0]


def choose(state: Any, rows: Tensor) -> Any:
    """Take `rows` of every tensor of a nested state."""
    return tree_map_only(torch.Tensor, lambda x: x.index_select(0, rows), state)
