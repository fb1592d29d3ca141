"""Relative positions as embeddings, the first form of them (Shaw et al.)."""

import math

import torch
from torch import Tensor, nn

from attncourse import _checks
from attncourse.layers.core import (
    check_attention_inputs,
    check_floating,
    scaled_dot_product_attention,
)
from attncourse.layers.relative import relative_positions


class ShawAttention(nn.Module):
    r"""Attention in which each distance has a learned key vector and value vector.

    .. math::

        s_{ij} = \frac{q_i^\top (k_j + a_{r(i,j)})}{\sqrt{d_k}}, \qquad
        z_i = \sum_j w_{ij}\, (v_j + b_{r(i,j)}), \qquad
        r(i, j) = \operatorname{clip}(j - i, -c, c)

    Parameters
    ----------
    d_head : int
        Width of queries and keys; of values too.
    max_distance : int
        The clipping distance c: all keys further away share one vector on each side.

    References
    ----------
    Shaw, Uszkoreit and Vaswani (2018), "Self-attention with relative position
    representations", equations 3 to 5. The vectors are shared by all heads, as there.
    """

    def __init__(self, d_head: int, max_distance: int) -> None:
        super().__init__()
        self.d_head = _checks.positive_int("d_head", d_head)
        self.max_distance = _checks.positive_int("max_distance", max_distance)
        size = (2 * max_distance + 1, d_head)
        self.key_table = nn.Parameter(torch.empty(size))
        nn.init.normal_(self.key_table, std=d_head**-0.5)
        self.value_table = nn.Parameter(torch.empty(size))
        nn.init.normal_(self.value_table, std=d_head**-0.5)

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return what each query read, and where it looked.

        Parameters
        ----------
        query : torch.Tensor
            Floating point, ``(..., queries, d_head)``.
        key, value : torch.Tensor
            ``(..., keys, d_head)``.
        mask : torch.Tensor of bool, optional
            Broadcastable to ``(..., queries, keys)``; True = may attend.

        Returns
        -------
        output : torch.Tensor
            ``(..., queries, d_head)``.
        weights : torch.Tensor
            ``(..., queries, keys)``; each row sums to 1.

        Raises
        ------
        TypeError, ValueError
            If dtypes, devices or shapes do not fit, or the mask is not boolean.
        """
        shape = check_attention_inputs(query, key, value)
        for name, tensor in (("query", query), ("value", value)):
            check_floating(name, tensor, self.key_table)
            _checks.last_size(name, tensor, self.d_head, meaning="d_head")
        distance = relative_positions(*shape[-2:], device=query.device)
        clipped = distance.clamp(-self.max_distance, self.max_distance)
        index = (clipped + self.max_distance).expand(shape)
        # One product with the table serves all keys: each picks its distance's row.
        by_distance = query @ self.key_table.T / math.sqrt(self.d_head)
        by_distance = by_distance.expand(*shape[:-1], -1)
        bias = by_distance.gather(-1, index)
        output, weights = scaled_dot_product_attention(
            query, key, value, mask, bias=bias
        )
        # The weights of all keys at one distance are added before they meet b.
        per_distance = torch.zeros_like(by_distance).scatter_add(-1, index, weights)
        return output + per_distance @ self.value_table, weights
