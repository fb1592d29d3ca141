"""Scaled dot-product attention, and the masked softmax that every layer shares."""

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from attncourse import _checks


def masked_softmax(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    r"""Return the softmax of `scores` over the keys that the mask allows.

    .. math::

        w_{ij} = \frac{m_{ij}\, e^{s_{ij}}}{\sum_k m_{ik}\, e^{s_{ik}}},
        \qquad w_{ij} = 0 \text{ if no key of row } i \text{ is allowed}

    Parameters
    ----------
    scores : torch.Tensor
        Floating point, ``(..., queries, keys)``.
    mask : torch.Tensor of bool, optional
        Broadcastable to `scores`; True = may attend.

    Returns
    -------
    torch.Tensor
        The same shape and dtype as `scores`. Rows sum to 1; a row in which nothing
        may be attended to is zero, and so is its gradient.

    Raises
    ------
    TypeError, ValueError
        If the mask is not boolean, has another shape or is on another device.
    """
    if mask is None:
        return torch.softmax(scores, dim=-1)
    check_mask(mask, scores.shape, scores.device)
    hidden = ~mask
    empty = hidden.all(dim=-1, keepdim=True)
    scores = scores.masked_fill(hidden, -math.inf)
    # A softmax over nothing but −inf is NaN, in its gradient too: such rows are made
    # harmless before the softmax and set to zero after it.
    weights = torch.softmax(scores.masked_fill(empty, 0.0), dim=-1)
    return weights.masked_fill(empty, 0.0)


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    *,
    bias: Tensor | None = None,
    dropout: float = 0.0,
) -> tuple[Tensor, Tensor]:
    r"""Look up `value` by comparing `query` with `key`.

    .. math::

        \operatorname{attention}(Q, K, V) =
        \operatorname{softmax}\left(\frac{Q K^\top}{\sqrt{d_k}} + B\right) V

    Parameters
    ----------
    query : torch.Tensor
        Floating point, ``(..., queries, d_k)``.
    key : torch.Tensor
        ``(..., keys, d_k)``.
    value : torch.Tensor
        ``(..., keys, d_v)``.
    mask : torch.Tensor of bool, optional
        Broadcastable to ``(..., queries, keys)``; True = may attend.
    bias : torch.Tensor, optional
        Floating point, broadcastable to ``(..., queries, keys)``; added to the scaled
        scores. Position biases such as ALiBi go here; hiding is what the mask is for.
    dropout : float, default 0.0
        Probability with which a weight is dropped on its way to the values.

    Returns
    -------
    output : torch.Tensor
        ``(..., queries, d_v)``.
    weights : torch.Tensor
        ``(..., queries, keys)``, before dropout; each row sums to 1. A row with
        nothing to attend to (hidden by the mask, or no keys at all) has zero weights,
        zero output and a zero gradient.

    Raises
    ------
    TypeError, ValueError
        If tensors are not floating point, differ in dtype or device, have shapes that
        do not fit together, or the mask is not boolean.

    References
    ----------
    Vaswani et al. (2017), "Attention is all you need", equation 1.
    """
    shape = check_attention_inputs(query, key, value)
    # Scaling the query, not the scores, keeps the product in range in half precision.
    scores = (query / math.sqrt(query.shape[-1])) @ key.transpose(-2, -1)
    if bias is not None:
        check_bias(bias, shape, query)
        scores = scores + bias
    weights = masked_softmax(scores, mask)
    return F.dropout(weights, dropout) @ value, weights


def fused_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    *,
    bias: Tensor | None = None,
    dropout: float = 0.0,
) -> Tensor:
    """Return the output of attention from PyTorch's fused kernels, without weights.

    Rows with nothing to attend to have zero output and zero gradient here as well.
    The arguments `query`, `key`, `value`, `mask`, `bias` and `dropout`, and the errors,
    are those of `scaled_dot_product_attention`; the result is its first one.
    """
    if mask is None and bias is None:
        return _in_four_axes(query, key, value, None, dropout)
    shape = (*query.shape[:-1], key.shape[-2])
    empty = None
    if mask is not None:
        check_mask(mask, shape, query.device)
        empty = ~mask.any(dim=-1, keepdim=True)
        # Which kernel runs decides what it makes of an empty row; so it never gets one.
        mask = mask | empty
    if bias is not None:
        check_bias(bias, shape, query)
        mask = bias if mask is None else bias.masked_fill(~mask, -math.inf)
    output = _in_four_axes(query, key, value, mask, dropout)
    return output if empty is None else output.masked_fill(empty, 0.0)


def _in_four_axes(query, key, value, mask, dropout):
    """Call PyTorch's fused kernels, which on a CPU take four axes and no fewer."""
    axes = max(x.ndim for x in (query, key, value))
    added = (None,) * max(4 - axes, 0)
    query, key, value = (x[added] for x in (query, key, value))
    output = F.scaled_dot_product_attention(query, key, value, mask, dropout)
    return output[(0,) * len(added)]


def check_attention_inputs(
    query: Tensor, key: Tensor, value: Tensor
) -> tuple[int, ...]:
    """Check that three tensors can attend; return the shape of their scores."""
    tensors = {"query": query, "key": key, "value": value}
    for name, tensor in tensors.items():
        check_floating(name, tensor, query)
        _checks.min_rank(name, tensor, 2, layout="(..., tokens, features)")
    if query.shape[-1] == 0:
        raise ValueError(
            "query and key must have at least one feature (d_k), but the query's "
            f"shape is {_checks.shape_text(query)}."
        )
    _checks.last_size("key", key, query.shape[-1], meaning="d_k of the query")
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(
            "key and value must have the same number of tokens, one value for each "
            f"key, but their shapes are {_checks.shape_text(key)} and "
            f"{_checks.shape_text(value)}."
        )
    leading = [tuple(tensor.shape[:-2]) for tensor in tensors.values()]
    try:
        batch = torch.broadcast_shapes(*leading)
    except RuntimeError:
        raise ValueError(
            "query, key and value must have the same leading (batch, head) axes, or "
            "ones that broadcast, but their shapes are "
            + ", ".join(_checks.shape_text(t) for t in tensors.values())
            + "."
        ) from None
    return (*batch, query.shape[-2], key.shape[-2])


def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """(batch, tokens, heads * width) -> (batch, heads, tokens, width)."""
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


def join_heads(x: Tensor) -> Tensor:
    """(batch, heads, tokens, width) -> (batch, tokens, heads * width)."""
    return x.transpose(1, 2).flatten(2)


def in_full(batch: Sequence[int], *tensors: Tensor) -> list[Tensor]:
    """Return tensors with the leading axes `batch`; half precision becomes float32."""
    half = tensors[0].dtype in (torch.float16, torch.bfloat16)
    dtype = torch.float32 if half else tensors[0].dtype
    return [tensor.expand(*batch, *tensor.shape[-2:]).to(dtype) for tensor in tensors]


def check_same_tokens(queries: int, keys: int, what: str = "causal attention") -> None:
    """Check that there are as many queries as keys, which `what` needs."""
    if queries != keys:
        raise ValueError(
            f"{what} needs as many queries as keys, since their positions are "
            f"compared, but there are {queries} queries and {keys} keys. For "
            "cross-attention, use scaled_dot_product_attention with a mask."
        )


def check_floating(name: str, tensor: Tensor, like: Tensor) -> None:
    """Check that `tensor` is floating point, with the dtype and device of `like`."""
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(
            f"{name} must be a torch.Tensor, but got {type(tensor).__name__}. Convert "
            "arrays and lists with torch.as_tensor; the NumPy functions are "
            "self_attention and multi_head_attention."
        )
    if not tensor.is_floating_point():
        raise TypeError(
            f"{name} must hold floating point numbers, but its dtype is "
            f"{tensor.dtype}. Token ids have to be embedded first; other integers "
            "can be converted with .float()."
        )
    check_device(name, tensor, like.device)
    if tensor.dtype == like.dtype:
        return
    if not torch.is_autocast_enabled(tensor.device.type):
        raise TypeError(
            f"all inputs must have the same dtype, but {name} has {tensor.dtype} "
            f"where {like.dtype} was expected. Convert one of them with .to(dtype)."
        )


def check_device(name: str, tensor: Tensor, device: torch.device) -> None:
    """Check that `tensor` is on `device`."""
    if tensor.device != device:
        raise ValueError(
            f"all inputs must be on the same device, but {name} is on "
            f"{tensor.device} where {device} was expected. Move it with .to(device)."
        )


def check_mask(mask: Tensor, shape: tuple[int, ...], device: torch.device) -> None:
    """Check that `mask` is boolean, on `device`, and broadcasts to `shape`."""
    check_boolean("mask", mask, device)
    _checks.broadcasts_to("mask", mask, shape, layout="(..., queries, keys)")


def check_boolean(name: str, mask: Tensor, device: torch.device | None = None) -> None:
    """Check that `mask` is boolean, and on `device` if one is given."""
    if not isinstance(mask, torch.Tensor) or mask.dtype != torch.bool:
        kind = mask.dtype if isinstance(mask, torch.Tensor) else type(mask).__name__
        raise TypeError(
            f"{name} must be a boolean tensor, True = may attend, but got {kind}. "
            "Convert a 0/1 mask with mask == 1, an additive 0/-inf mask with "
            "mask == 0, and a mask in which True means hidden with ~mask."
        )
    if device is not None:
        check_device(name, mask, device)


def check_bias(bias: Tensor, shape: tuple[int, ...], like: Tensor) -> None:
    """Check that `bias` is floating point and broadcasts to `shape`."""
    check_floating("bias", bias, like)
    _checks.broadcasts_to("bias", bias, shape, layout="(..., queries, keys)")
