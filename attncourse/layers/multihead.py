"""Self-attention and multi-head attention as modules with learned projections."""

import torch
from torch import Tensor, nn

from attncourse import _checks
from attncourse.layers.core import (
    check_floating,
    check_mask,
    fused_attention,
    join_heads,
    scaled_dot_product_attention,
    split_heads,
)
from attncourse.layers.masks import create_causal_mask
from attncourse.layers.rotary import apply_rotary


class SelfAttention(nn.Module):
    r"""Attend from a sequence to itself, with one head.

    .. math::

        Y = \operatorname{attention}(X W_Q,\, X W_K,\, X W_V)

    Parameters
    ----------
    d_model : int
        Width of the token vectors; queries, keys and values have it too.

    References
    ----------
    Vaswani et al. (2017), "Attention is all you need", section 3.2.
    """

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.d_model = _checks.positive_int("d_model", d_model)
        self.query_proj = nn.Linear(d_model, d_model, bias=False)
        self.key_proj = nn.Linear(d_model, d_model, bias=False)
        self.value_proj = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return what each token read, and where it looked.

        Parameters
        ----------
        x : torch.Tensor
            Floating point, ``(..., tokens, d_model)``.
        mask : torch.Tensor of bool, optional
            Broadcastable to ``(..., tokens, tokens)``; True = may attend. The mask of
            `create_padding_mask` has an axis for heads: index it away with ``[:, 0]``.

        Returns
        -------
        output : torch.Tensor
            ``(..., tokens, d_model)``.
        weights : torch.Tensor
            ``(..., tokens, tokens)``.

        Raises
        ------
        TypeError, ValueError
            If dtype, device or shapes do not fit, or the mask is not boolean.
        """
        check_floating("x", x, self.query_proj.weight)
        _checks.min_rank("x", x, 2, layout="(..., tokens, d_model)")
        _checks.last_size("x", x, self.d_model, meaning="d_model")
        return scaled_dot_product_attention(
            self.query_proj(x), self.key_proj(x), self.value_proj(x), mask
        )


class MultiHeadAttention(nn.Module):
    r"""Attend with several heads at once, and mix what they found.

    .. math::

        \mathrm{head}_i = \operatorname{attention}(Q W_i^Q, K W_i^K, V W_i^V), \qquad
        Y = [\,\mathrm{head}_1; \dots; \mathrm{head}_h\,]\, W^O

    Each head reads the whole input through its own projection to d_model / num_heads
    features. The projections of all heads lie side by side in one matrix.

    Parameters
    ----------
    d_model : int
        Width of the token vectors.
    num_heads : int
        Number of heads; has to divide `d_model`.
    dropout : float, default 0.0
        Probability with which a weight is dropped in training.
    bias : bool, default True
        Whether the four projections have a bias.
    rotary : bool, default False
        Whether queries and keys are rotated by their positions, counted from 0, as
        `apply_rotary` does; scores then depend on distances.
    num_kv_heads : int, optional
        Number of heads of keys and values, by default `num_heads`; has to divide it.
        With fewer, groups of query heads share keys and values (grouped-query
        attention; with one, multi-query attention), and a cache is that much smaller.

    Raises
    ------
    ValueError
        If `num_heads` does not divide `d_model`, or `num_kv_heads` does not divide
        `num_heads`, or `dropout` is not in [0, 1).

    References
    ----------
    Vaswani et al. (2017), "Attention is all you need", section 3.2.2.
    Ainslie et al. (2023), "GQA: training generalized multi-query transformer models
    from multi-head checkpoints", section 2.2.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        dropout: float = 0.0,
        *,
        bias: bool = True,
        rotary: bool = False,
        num_kv_heads: int | None = None,
    ) -> None:
        super().__init__()
        self.d_model = _checks.positive_int("d_model", d_model)
        self.num_heads = _checks.positive_int("num_heads", num_heads)
        self.d_head = _checks.divisible_heads(d_model, num_heads)
        self.dropout = _checks.probability("dropout", dropout)
        self.rotary = rotary
        kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        self.num_kv_heads = _checks.positive_int("num_kv_heads", kv_heads)
        self.queries_per_kv_head = _checks.divisible_heads(
            num_heads, kv_heads, model="num_heads", heads="num_kv_heads"
        )
        self.query_proj = nn.Linear(d_model, d_model, bias=bias)
        self.key_proj = nn.Linear(d_model, kv_heads * self.d_head, bias=bias)
        self.value_proj = nn.Linear(d_model, kv_heads * self.d_head, bias=bias)
        self.output_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None = None,
        *,
        need_weights: bool = True,
        bias: Tensor | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """Return what each query read, and where each head looked.

        Parameters
        ----------
        query : torch.Tensor
            Floating point, ``(batch, queries, d_model)``.
        key, value : torch.Tensor
            ``(batch, keys, d_model)``.
        mask : torch.Tensor of bool, optional
            True = may attend; ``(queries, keys)``, or four axes that broadcast to
            ``(batch, heads, queries, keys)``.
        need_weights : bool, default True
            If False, PyTorch's fused kernels do the work and no weights are made.
        bias : torch.Tensor, optional
            Added to the scaled scores; floating point, broadcastable to
            ``(batch, heads, queries, keys)``.

        Returns
        -------
        output : torch.Tensor
            ``(batch, queries, d_model)``. Where a query may attend to nothing, its
            heads are zero and the output is the bias of the output projection.
        weights : torch.Tensor or None
            ``(batch, heads, queries, keys)``, before dropout, so that rows sum to 1
            in training too; None if `need_weights` is False.

        Raises
        ------
        TypeError, ValueError
            If dtypes, devices or shapes do not fit, or the mask is not boolean.
        """
        self._check(query, key, value, mask)
        return self.attend(
            query, self.project(key, value), mask, need_weights=need_weights, bias=bias
        )

    def project(
        self, key: Tensor, value: Tensor, *, start: int = 0
    ) -> tuple[Tensor, Tensor]:
        """Return the keys and values of all heads: what a cache keeps when decoding.

        Parameters
        ----------
        key, value : torch.Tensor
            Floating point, ``(batch, keys, d_model)``.
        start : int, default 0
            The position of the first key; it matters with rotary positions only.

        Returns
        -------
        tuple of torch.Tensor
            Keys and values, each ``(batch, num_kv_heads, keys, d_head)``.
        """
        key = split_heads(self.key_proj(key), self.num_kv_heads)
        value = split_heads(self.value_proj(value), self.num_kv_heads)
        return self._rotate(key, start) if self.rotary else key, value

    def attend(
        self,
        query: Tensor,
        projected: tuple[Tensor, Tensor],
        mask: Tensor | None = None,
        *,
        start: int = 0,
        need_weights: bool = True,
        bias: Tensor | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """Attend to keys and values that `project` has made.

        Parameters
        ----------
        query : torch.Tensor
            Floating point, ``(batch, queries, d_model)``.
        projected : tuple of torch.Tensor
            Keys and values, each ``(batch, num_kv_heads, keys, d_head)``.
        start : int, default 0
            The position of the first query; it matters with rotary positions only.
        mask, need_weights, bias
            As for the whole layer, and so are the results.

        Returns
        -------
        output, weights : torch.Tensor
        """
        query = split_heads(self.query_proj(query), self.num_heads)
        key, value = projected
        if self.rotary:
            query = self._rotate(query, start)
        shared_by = self.queries_per_kv_head
        if shared_by > 1:  # each head of keys and values serves a group of queries
            key, value = (x.repeat_interleave(shared_by, dim=1) for x in (key, value))
        rate = self.dropout if self.training else 0.0
        if need_weights:
            heads, weights = scaled_dot_product_attention(
                query, key, value, mask, bias=bias, dropout=rate
            )
        else:
            heads = fused_attention(query, key, value, mask, bias=bias, dropout=rate)
            weights = None
        return self.output_proj(join_heads(heads)), weights

    def _rotate(self, x, start):
        positions = torch.arange(start, start + x.shape[-2], device=x.device)
        return apply_rotary(x, positions)

    def _check(self, query, key, value, mask):
        for name, x in (("query", query), ("key", key), ("value", value)):
            check_floating(name, x, self.query_proj.weight)
            _checks.exact_rank(name, x, 3, layout="(batch, tokens, d_model)")
            _checks.last_size(name, x, self.d_model, meaning="d_model")
        if query.shape[0] != key.shape[0] or key.shape[:2] != value.shape[:2]:
            shapes = ", ".join(map(_checks.shape_text, (query, key, value)))
            raise ValueError(
                "query, key and value must have the same batch size, and key and value "
                f"the same number of tokens, but their shapes are {shapes}."
            )
        if isinstance(mask, torch.Tensor) and mask.dim() not in (2, 4):
            raise ValueError(
                "mask must have 2 axes (queries, keys) or 4 axes (batch, heads, "
                f"queries, keys), but its shape is {_checks.shape_text(mask)}. A mask "
                "(batch, queries, keys) needs an axis for the heads: mask[:, None]."
            )


class CausalSelfAttention(nn.Module):
    """Multi-head self-attention in which no position sees a later one.

    Parameters
    ----------
    d_model : int
        Width of the token vectors.
    num_heads : int
        Number of heads; has to divide `d_model`.
    max_len : int
        The longest sequence that is accepted, in tokens.

    References
    ----------
    Vaswani et al. (2017), "Attention is all you need", section 3.2.3.
    """

    causal: Tensor

    def __init__(self, d_model: int, num_heads: int, max_len: int) -> None:
        super().__init__()
        self.max_len = _checks.positive_int("max_len", max_len)
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.register_buffer("causal", create_causal_mask(max_len), persistent=False)

    def forward(
        self, x: Tensor, mask: Tensor | None = None, *, need_weights: bool = True
    ) -> tuple[Tensor, Tensor | None]:
        """Return what each token read from itself and its past, and where.

        Parameters
        ----------
        x : torch.Tensor
            Floating point, ``(batch, tokens, d_model)``.
        mask : torch.Tensor of bool, optional
            A further mask, True = may attend, such as `create_padding_mask` returns;
            it is combined with the causal one.
        need_weights : bool, default True
            As for `MultiHeadAttention`, and so is the result; the weights are zero
            above the diagonal.

        Raises
        ------
        TypeError, ValueError
            As for `MultiHeadAttention`; also if `x` is longer than `max_len`.
        """
        _checks.exact_rank("x", x, 3, layout="(batch, tokens, d_model)")
        seq_len = x.shape[1]
        if seq_len > self.max_len:
            raise ValueError(
                f"x has {seq_len} tokens, but this layer was made for at most "
                f"{self.max_len}. Cut the sequence, or make the layer with a larger "
                "max_len."
            )
        causal = self.causal[:seq_len, :seq_len]
        if mask is not None:
            shape = (x.shape[0], self.attention.num_heads, seq_len, seq_len)
            check_mask(mask, shape, x.device)
            causal = causal & mask
        return self.attention(x, x, x, causal, need_weights=need_weights)
