"""Relative positions as a number added to each score: ALiBi and the T5 bias.

`scaled_dot_product_attention` and `MultiHeadAttention` take the number as ``bias=``.
Rotary embeddings are in `attncourse.layers.rotary`, the embeddings of Shaw et al. in
`attncourse.layers.shaw`.
"""

import math

import torch
from torch import Tensor, nn

from attncourse import _checks


def relative_positions(
    queries: int,
    keys: int,
    *,
    query_offset: int = 0,
    device: torch.device | str | None = None,
) -> Tensor:
    r"""Return how far to the right of each query each key stands.

    .. math::

        r_{ij} = j - (i + \text{offset})

    Parameters
    ----------
    queries, keys : int
        Numbers of tokens.
    query_offset : int, default 0
        Position of the first query, counted in keys. When a decoder has read m tokens
        and asks for one more, that query stands at m.
    device : torch.device, optional
        Where the result lies; the CPU unless given.

    Returns
    -------
    torch.Tensor
        int64, ``(queries, keys)``; negative to the left of the query, in its past.

    Raises
    ------
    TypeError, ValueError
        If a size is not a whole number, or negative.
    """
    queries = _checks.positive_int("queries", queries, minimum=0)
    keys = _checks.positive_int("keys", keys, minimum=0)
    query_offset = _checks.positive_int("query_offset", query_offset, minimum=0)
    rows = torch.arange(queries, device=device)[:, None] + query_offset
    return torch.arange(keys, device=device)[None, :] - rows


def alibi_slopes(num_heads: int) -> Tensor:
    r"""Return the slope of each head of ALiBi.

    .. math::

        m_h = 2^{-8h / n}, \qquad h = 1, \dots, n

    for a number of heads n that is a power of 2. For any other n: the slopes of the
    largest power of 2 below it, then every second slope of twice that power.

    Parameters
    ----------
    num_heads : int
        Number of heads n.

    Returns
    -------
    torch.Tensor
        float32, ``(num_heads,)``, each in (0, 1).

    Raises
    ------
    TypeError, ValueError
        If `num_heads` is not a whole number of at least 1.

    References
    ----------
    Press, Smith and Lewis (2022), "Train short, test long: attention with linear
    biases enables input length extrapolation", section 3; the rule for other numbers
    of heads is that of the authors' code.
    """
    num_heads = _checks.positive_int("num_heads", num_heads)
    power = 1 << (num_heads.bit_length() - 1)  # the largest power of 2 that fits
    slopes = [2.0 ** (-8 * h / power) for h in range(1, power + 1)]
    between = [2.0 ** (-4 * h / power) for h in range(1, 2 * power, 2)]
    return torch.tensor((slopes + between)[:num_heads])


def alibi_bias(num_heads: int, queries: int, keys: int) -> Tensor:
    r"""Return the bias of ALiBi: each head subtracts its slope times the distance.

    .. math::

        B_{hij} = -m_h\, |i - j|

    The paper is about causal models, in which only keys to the left are seen. To the
    right the bias is the same here; combine it with a causal mask where one is due.

    Parameters
    ----------
    num_heads, queries, keys : int
        Numbers of heads and tokens.

    Returns
    -------
    torch.Tensor
        float32, ``(heads, queries, keys)``, zero on the diagonal and negative off it.
        On the CPU; ``.to(query)`` gives it the device and the dtype of a query.

    Raises
    ------
    TypeError, ValueError
        If a size is not a whole number, or too small.

    References
    ----------
    Press, Smith and Lewis (2022), section 3.
    """
    distance = relative_positions(queries, keys).abs()
    return -alibi_slopes(num_heads)[:, None, None] * distance


def t5_buckets(
    positions: Tensor,
    num_buckets: int = 32,
    max_distance: int = 128,
    bidirectional: bool = True,
) -> Tensor:
    r"""Return the bucket into which T5 puts each relative position.

    Of the n buckets of one direction, the first n/2 hold one distance each. The others
    grow in geometric steps up to `max_distance`; the last holds all beyond. With
    e = n/2 (rounded down), a distance d ≥ e goes to

    .. math::

        e + \left\lfloor (n - e)\,
        \frac{\ln(d / e)}{\ln(\text{max\_distance} / e)} \right\rfloor,
        \text{ at most } n - 1

    With `bidirectional`, n is half of `num_buckets`, and keys to the right take the
    upper half. Without, all keys to the right share bucket 0: a causal mask hides them.
    A small `max_distance` crowds the far buckets, and some then hold no distance.

    Parameters
    ----------
    positions : torch.Tensor
        Integers, any shape: key position minus query position.
    num_buckets : int, default 32
        Number of buckets; even if `bidirectional`.
    max_distance : int, default 128
        All distances from here on share one bucket.
    bidirectional : bool, default True
        Whether left and right are told apart.

    Returns
    -------
    torch.Tensor
        int64, the shape of `positions`, from 0 to num_buckets − 1.

    Raises
    ------
    TypeError, ValueError
        If positions are not integers, or the numbers do not fit together.

    References
    ----------
    Raffel et al. (2020), "Exploring the limits of transfer learning with a unified
    text-to-text Transformer", section 2.1, which gives the idea; the rule is that of
    the authors' code.
    """
    if not isinstance(positions, torch.Tensor) or positions.dtype not in (
        torch.int64,
        torch.int32,
    ):
        kind = getattr(positions, "dtype", type(positions).__name__)
        raise TypeError(
            "positions must be a tensor of integers, such as relative_positions "
            f"returns, but got {kind}."
        )
    lengths = t5_edges(num_buckets, max_distance, bidirectional)
    edges = torch.tensor(lengths, device=positions.device, dtype=positions.dtype)
    distance = positions.abs() if bidirectional else (-positions).clamp(min=0)
    bucket = torch.bucketize(distance, edges, right=True)
    if bidirectional:
        bucket = bucket + (positions > 0) * (num_buckets // 2)
    return bucket


def t5_edges(num_buckets: int, max_distance: int, bidirectional: bool) -> list[int]:
    """Return the smallest distance of each bucket but the first, in one direction."""
    smallest = 4 if bidirectional else 2
    num_buckets = _checks.positive_int("num_buckets", num_buckets, minimum=smallest)
    max_distance = _checks.positive_int("max_distance", max_distance)
    if bidirectional and num_buckets % 2:
        raise ValueError(
            "num_buckets must be even when bidirectional, half for each side, but got "
            f"{num_buckets}."
        )
    one_way = num_buckets // 2 if bidirectional else num_buckets
    exact = one_way // 2
    if max_distance <= exact:
        raise ValueError(
            f"max_distance must exceed {exact}, the distances that have a bucket of "
            f"their own among {num_buckets} buckets, but got {max_distance}."
        )
    growth = (max_distance / exact) ** (1 / (one_way - exact))
    # Where an edge is a whole number, rounding must not push it up to the next one.
    far = [math.ceil(exact * growth**k - 1e-9) for k in range(1, one_way - exact)]
    return [*range(1, exact + 1), *far]


class T5RelativeBias(nn.Module):
    r"""A learned number for each head and bucket of distances, added to the scores.

    .. math::

        B_{hij} = \text{scale} \cdot T_{\,\mathrm{bucket}(j - i),\, h}

    The table starts at zero, where the layer knows no positions. It holds few numbers,
    and they have to grow as large as scores are: it wants a learning rate about ten
    times that of the weight matrices, or a `scale` of 10, which comes to the same with
    Adam.

    Parameters
    ----------
    num_heads : int
        Number of heads.
    num_buckets : int, default 32
        Number of buckets; even if `bidirectional`.
    max_distance : int, default 128
        All distances from here on share one bucket. Beyond the longest distance seen
        in training, buckets stay at their start value: choose it well inside.
    bidirectional : bool, default True
        Whether left and right are told apart; False for causal models.
    scale : float, default 1.0
        Multiplies the table.

    References
    ----------
    Raffel et al. (2020), section 2.1.
    """

    def __init__(
        self,
        num_heads: int,
        num_buckets: int = 32,
        max_distance: int = 128,
        bidirectional: bool = True,
        *,
        scale: float = 1.0,
    ) -> None:
        super().__init__()
        num_heads = _checks.positive_int("num_heads", num_heads)
        t5_edges(num_buckets, max_distance, bidirectional)  # checks the numbers
        self.num_buckets = num_buckets
        self.max_distance = max_distance
        self.bidirectional = bidirectional
        self.scale = scale
        self.table = nn.Parameter(torch.zeros(num_buckets, num_heads))

    def forward(self, queries: int, keys: int, *, query_offset: int = 0) -> Tensor:
        """Return the bias for a number of queries and keys.

        Parameters
        ----------
        queries, keys : int
            Numbers of tokens; any, also more than in training.
        query_offset : int, default 0
            Position of the first query, counted in keys.

        Returns
        -------
        torch.Tensor
            The table's dtype and device, ``(heads, queries, keys)``.

        Raises
        ------
        TypeError, ValueError
            If a size is not a whole number, or negative.
        """
        positions = relative_positions(
            queries, keys, query_offset=query_offset, device=self.table.device
        )
        buckets = t5_buckets(
            positions, self.num_buckets, self.max_distance, self.bidirectional
        )
        return self.scale * self.table[buckets].permute(2, 0, 1)
