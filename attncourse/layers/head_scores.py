"""What a head does, as a number: scores of attention weights.

Each function takes the weights of a self-attention layer, ``(batch, heads, queries,
keys)`` with as many keys as queries, and returns one number for each head. All but the
entropy lie between 0 and 1: the share of its attention that a head spends on the keys
in question, averaged over the queries for which there is such a key.

A score means something only beside that of a head which looks everywhere alike; give
the functions uniform weights to get it. Sequences must not hold padding.
"""

import torch
from torch import Tensor

from attncourse import _checks
from attncourse.layers.core import check_device, check_floating


def offset_score(weights: Tensor, offset: int) -> Tensor:
    r"""Return the share of attention that goes exactly `offset` tokens back.

    .. math::

        \frac{1}{n - o} \sum_{i=o}^{n-1} w_{i,\,i-o}, \qquad
        \text{averaged over the batch}

    Parameters
    ----------
    weights : torch.Tensor
        Floating point, ``(batch, heads, tokens, tokens)``.
    offset : int
        0 is the token itself, 1 the one before it; a negative number looks ahead.

    Returns
    -------
    torch.Tensor
        ``(heads,)``.

    Raises
    ------
    TypeError, ValueError
        If `weights` has another layout, or no query has a key at this offset.
    """
    n = _check_weights(weights)
    _checks.positive_int("offset", abs(offset), minimum=0)
    if abs(offset) >= n:
        raise ValueError(
            f"offset must be smaller than the sequence, but got {offset} for {n} "
            "tokens: no query has a key there."
        )
    return weights.diagonal(-offset, dim1=-2, dim2=-1).mean(dim=(0, -1))


def previous_token_score(weights: Tensor) -> Tensor:
    """Return the share of attention on the token just before: `offset_score` of 1."""
    return offset_score(weights, 1)


def first_token_score(weights: Tensor) -> Tensor:
    r"""Return the share of attention on the first token.

    .. math::

        \frac{1}{n - 1} \sum_{i=1}^{n-1} w_{i,0}, \qquad
        \text{averaged over the batch}

    The first query is left out: in a causal model it can look nowhere else. `weights`
    and the result are as for `offset_score`, with at least 2 tokens.
    """
    if _check_weights(weights) < 2:
        raise ValueError(
            "weights must cover at least 2 tokens, but their shape is "
            f"{_checks.shape_text(weights)}."
        )
    return weights[:, :, 1:, 0].mean(dim=(0, -1))


def duplicate_token_score(weights: Tensor, tokens: Tensor) -> Tensor:
    r"""Return the share of attention on earlier copies of the query's own token.

    .. math::

        \sum_{j<i,\; t_j = t_i} w_{ij}, \qquad
        \text{averaged over the queries } i \text{ with at least one such } j

    Parameters
    ----------
    weights : torch.Tensor
        Floating point, ``(batch, heads, tokens, tokens)``.
    tokens : torch.Tensor
        The sequences that gave the weights: integers, ``(batch, tokens)``.

    Returns
    -------
    torch.Tensor
        ``(heads,)``.

    Raises
    ------
    TypeError, ValueError
        If shapes do not fit together, or no token occurs twice.
    """
    n = _check_weights(weights)
    _check_tokens(tokens, weights)
    earlier = torch.ones(n, n, dtype=torch.bool, device=weights.device).tril(-1)
    return _share(weights, (tokens[:, :, None] == tokens[:, None, :]) & earlier)


def induction_score(weights: Tensor, tokens: Tensor) -> Tensor:
    r"""Return the share of attention on what followed the query's token before.

    .. math::

        \sum_{1 \le j \le i,\; t_{j-1} = t_i} w_{ij}, \qquad
        \text{averaged over the queries } i \text{ with at least one such } j

    In "A B … A" the second A has such a key: B. A head with a high score finds what to
    copy if the sequence goes on as it did before. Arguments, result and errors are
    those of `duplicate_token_score`.

    References
    ----------
    Olsson et al. (2022), "In-context learning and induction heads".
    """
    n = _check_weights(weights)
    _check_tokens(tokens, weights)
    follows = torch.zeros(len(tokens), n, n, dtype=torch.bool, device=weights.device)
    follows[:, :, 1:] = tokens[:, :, None] == tokens[:, None, :-1]
    return _share(weights, follows.tril())


def attention_entropy(weights: Tensor) -> Tensor:
    r"""Return how widely a head spreads its attention, in nats.

    .. math::

        -\sum_j w_{ij} \ln w_{ij}, \qquad \text{averaged over batch and queries}

    0 means one key at a time; the exponential of the entropy reads as a number of keys.
    It is at most ln(tokens); rows of zeros count as 0. The weights and the shape of the
    result are as for `offset_score`.
    """
    _check_weights(weights)
    return torch.special.entr(weights).sum(dim=-1).mean(dim=(0, -1))


def head_scores(weights: Tensor, tokens: Tensor) -> dict[str, Tensor]:
    """Return every score of this module for every head.

    Arguments and errors are those of `duplicate_token_score`. The result is a dict:
    "own", "previous", "first", "duplicate", "induction", "entropy", each ``(heads,)``.
    """
    return {
        "own": offset_score(weights, 0),
        "previous": previous_token_score(weights),
        "first": first_token_score(weights),
        "duplicate": duplicate_token_score(weights, tokens),
        "induction": induction_score(weights, tokens),
        "entropy": attention_entropy(weights),
    }


def _share(weights, wanted):
    """Average the weight on `wanted` (batch, queries, keys) where there is any."""
    has_any = wanted.any(dim=-1)
    if not has_any.any():
        raise ValueError(
            "tokens must hold at least one token that occurs twice in its sequence, "
            "but none does: the score is not defined. repeated_sequence_batch makes "
            "sequences that repeat themselves."
        )
    share = (weights * wanted[:, None]).sum(dim=-1)  # (batch, heads, queries)
    return share.transpose(0, 1)[:, has_any].mean(dim=-1)


def _check_weights(weights):
    check_floating("weights", weights, weights)
    _checks.exact_rank("weights", weights, 4, layout="(batch, heads, queries, keys)")
    if weights.shape[-1] != weights.shape[-2] or 0 in weights.shape:
        raise ValueError(
            "weights must come from self-attention over at least one token, with as "
            f"many keys as queries, but their shape is {_checks.shape_text(weights)}."
        )
    return weights.shape[-1]


def _check_tokens(tokens, weights):
    if not isinstance(tokens, torch.Tensor) or tokens.is_floating_point():
        kind = tokens.dtype if isinstance(tokens, torch.Tensor) else type(tokens)
        raise TypeError(f"tokens must be a tensor of integers, but got {kind}.")
    check_device("tokens", tokens, weights.device)
    expected = (weights.shape[0], weights.shape[-1])
    if tuple(tokens.shape) != expected:
        raise ValueError(
            f"tokens must be (batch, tokens) = {expected} to fit the weights, but "
            f"their shape is {_checks.shape_text(tokens)}."
        )
