"""Multi-head latent attention: a cache of one short vector per token for all heads."""

import math
from functools import partial

import torch
from torch import Tensor, nn

from attncourse import _checks
from attncourse.layers.core import (
    check_floating,
    join_heads,
    scaled_dot_product_attention,
    split_heads,
)
from attncourse.layers.rotary import apply_rotary


class LatentAttention(nn.Module):
    r"""Attend to keys and values that are made from one latent vector per token.

    .. math::

        c_j = \operatorname{norm}(W^D x_j), \quad k_{jh} = [U_h c_j;\, r_j], \quad
        v_{jh} = V_h c_j, \quad r_j = R_j W^R x_j

    Only the latent :math:`c_j` and one key :math:`r_j` that is rotated by its position
    and shared by all heads have to be kept. Since

    .. math::

        q^\top (U_h c_j) = (U_h^\top q)^\top c_j, \qquad
        \sum_j w_j (V_h c_j) = V_h \sum_j w_j c_j ,

    the cache need not be unpacked: with `absorbed`, queries are taken into the latent
    space, all heads attend to the cache itself, and what they read is taken out of it.
    A rotation between :math:`q` and :math:`U_h` would prevent that, which is why the
    positions have features of their own.

    Parameters
    ----------
    d_model : int
        Width of the token vectors.
    num_heads : int
        Number of heads; has to divide `d_model`.
    latent_dim : int
        Width of the latent vector.
    rotary_dim : int
        Width of the rotated key, and of the part of each query that meets it; even.

    Raises
    ------
    TypeError, ValueError
        If a size is no whole number, too small or odd, or the heads do not divide.

    References
    ----------
    DeepSeek-AI (2024), "DeepSeek-V2: a strong, economical, and efficient
    mixture-of-experts language model", section 2.1. Their low-rank queries, which save
    memory in training and none in the cache, are left out.
    """

    def __init__(
        self, d_model: int, num_heads: int, latent_dim: int, rotary_dim: int
    ) -> None:
        super().__init__()
        self.d_model = _checks.positive_int("d_model", d_model)
        self.num_heads = _checks.positive_int("num_heads", num_heads)
        self.d_head = _checks.divisible_heads(d_model, num_heads)
        self.latent_dim = _checks.positive_int("latent_dim", latent_dim)
        self.rotary_dim = _checks.positive_int("rotary_dim", rotary_dim)
        if rotary_dim % 2:
            raise ValueError(f"rotary_dim must be even, but got {rotary_dim}.")
        project = partial(nn.Linear, bias=False)
        self.query_proj = project(d_model, num_heads * (self.d_head + rotary_dim))
        self.latent_proj = project(d_model, latent_dim)
        self.rotary_proj = project(d_model, rotary_dim)
        self.norm = nn.RMSNorm(latent_dim)
        self.key_up = project(latent_dim, d_model)
        self.value_up = project(latent_dim, d_model)
        self.output_proj = project(d_model, d_model)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return what each token read, and where each head looked.

        Parameters
        ----------
        x : torch.Tensor
            Floating point, ``(batch, tokens, d_model)``.
        mask : torch.Tensor of bool, optional
            Broadcastable to ``(batch, heads, tokens, tokens)``; True = may attend.

        Returns
        -------
        output : torch.Tensor
            ``(batch, tokens, d_model)``.
        weights : torch.Tensor
            ``(batch, heads, tokens, tokens)``.

        Raises
        ------
        TypeError, ValueError
            If dtype, device or shapes do not fit, or the mask is not boolean.
        """
        return self.attend(x, self.project(x), mask)

    def project(self, x: Tensor, *, start: int = 0) -> Tensor:
        """Return what a cache keeps: ``(batch, tokens, latent_dim + rotary_dim)``.

        `x` is as for the whole layer; `start` is the position of its first token.
        """
        check_floating("x", x, self.query_proj.weight)
        _checks.exact_rank("x", x, 3, layout="(batch, tokens, d_model)")
        _checks.last_size("x", x, self.d_model, meaning="d_model")
        rotated = self._rotate(self.rotary_proj(x), start)
        return torch.cat([self.norm(self.latent_proj(x)), rotated], dim=-1)

    def attend(
        self,
        x: Tensor,
        cache: Tensor,
        mask: Tensor | None = None,
        *,
        start: int = 0,
        absorbed: bool = False,
    ) -> tuple[Tensor, Tensor]:
        """Attend to a cache that `project` has made.

        Parameters
        ----------
        x : torch.Tensor
            Floating point, ``(batch, queries, d_model)``.
        cache : torch.Tensor
            ``(batch, keys, latent_dim + rotary_dim)``.
        mask : torch.Tensor of bool, optional
            Broadcastable to ``(batch, heads, queries, keys)``; True = may attend.
        start : int, default 0
            The position of the first query.
        absorbed : bool, default False
            Attend to the latent vectors themselves, without unpacking the cache.

        Returns
        -------
        output, weights : torch.Tensor
            As from the whole layer, whether `absorbed` or not.
        """
        query = split_heads(self.query_proj(x), self.num_heads)
        query, query_r = query.split([self.d_head, self.rotary_dim], dim=-1)
        query_r = self._rotate(query_r, start)
        latent, key_r = cache[:, None].split([self.latent_dim, self.rotary_dim], -1)
        if absorbed:  # one head of keys and values, which all heads of queries share
            key_up, value_up = (
                up.weight.unflatten(0, (self.num_heads, -1))
                for up in (self.key_up, self.value_up)
            )  # (heads, d_head, latent_dim)
            query, key, value = query @ key_up, latent, latent
        else:
            key, value = (
                split_heads(up(latent[:, 0]), self.num_heads)
                for up in (self.key_up, self.value_up)
            )
            key_r = key_r.expand(-1, self.num_heads, -1, -1)
        key = torch.cat([key, key_r], dim=-1)
        query = torch.cat([query, query_r], dim=-1)
        # Scores are divided by the root of their own width, whichever form is used.
        wanted = math.sqrt(key.shape[-1] / (self.d_head + self.rotary_dim))
        heads, weights = scaled_dot_product_attention(query * wanted, key, value, mask)
        if absorbed:
            heads = heads @ value_up.transpose(-2, -1)
        return self.output_proj(join_heads(heads)), weights

    @staticmethod
    def _rotate(x, start):
        positions = torch.arange(start, start + x.shape[-2], device=x.device)
        return apply_rotary(x, positions)
