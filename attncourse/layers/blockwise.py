"""Exact attention in little memory: the softmax is made while the keys pass by."""

import math

import torch
from torch import Tensor

from attncourse import _checks
from attncourse.layers.core import check_attention_inputs, check_mask, in_full


def blockwise_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    *,
    block_size: int = 128,
) -> Tensor:
    r"""Compute full attention from one block of keys after another.

    The weights of a row cannot be known before its last score. Three running numbers
    per row make up for that: the largest score so far :math:`m`, the sum
    :math:`l = \sum_j e^{s_j - m}` and the output :math:`o = \sum_j e^{s_j - m} v_j`.
    When a block of scores :math:`s'` raises the maximum to :math:`m'`, what was summed
    before is scaled to the new maximum:

    .. math::

        l' = e^{m - m'} l + \sum_j e^{s'_j - m'}, \qquad
        o' = e^{m - m'} o + \sum_j e^{s'_j - m'} v_j

    At the end :math:`o / l` is the output of `scaled_dot_product_attention`. No more
    than queries · block_size scores exist at any time, in backward too, where each
    block of weights is computed again.

    Parameters
    ----------
    query, key, value, mask
        As for `scaled_dot_product_attention`.
    block_size : int
        Keys in a block, at least 1. It need not divide the number of keys.

    Returns
    -------
    torch.Tensor
        ``(..., queries, d_v)``, in the dtype of `query`. A row with nothing to attend
        to is zero, with a zero gradient. In half precision the running numbers are
        kept in float32. Gradients can be taken once, not twice.

    Raises
    ------
    TypeError, ValueError
        If the tensors do not fit together, the mask is not boolean, or the block size
        is not a whole number >= 1.

    References
    ----------
    Milakov and Gimelshein (2018), "Online normalizer calculation for softmax",
    algorithm 3. Rabe and Staats (2021), "Self-attention does not need O(n²) memory".
    Dao et al. (2022), "FlashAttention", algorithms 1 and 4.
    """
    shape = check_attention_inputs(query, key, value)
    block_size = _checks.positive_int("block_size", block_size)
    if mask is not None:
        check_mask(mask, shape, query.device)
        mask = mask.expand(shape)
    tensors = in_full(shape[:-2], query, key, value)
    output = _Blockwise.apply(*tensors, mask, block_size)
    return output.to(query.dtype)


class _Blockwise(torch.autograd.Function):
    """The loop over blocks of keys, and the same loop for the gradients."""

    @staticmethod
    def forward(ctx, query, key, value, mask, block_size):
        rows = (*query.shape[:-1], 1)
        largest = query.new_full(rows, -math.inf)
        total = query.new_zeros(rows)
        output = query.new_zeros(*query.shape[:-1], value.shape[-1])
        for block in _blocks(key.shape[-2], block_size):
            scores = _scores(query, key, mask, block)
            new_largest = torch.maximum(largest, scores.amax(-1, keepdim=True))
            # A row that has seen no key yet has the maximum −inf, and −inf − −inf is
            # NaN: 0 in its place makes the exponentials of −inf what they should be.
            shift = new_largest.masked_fill(new_largest == -math.inf, 0.0)
            weights = torch.exp(scores - shift)
            rescale = torch.exp(largest - shift)
            total = rescale * total + weights.sum(-1, keepdim=True)
            output = rescale * output + weights @ value[..., block, :]
            largest = new_largest
        empty = total == 0
        output = output / total.masked_fill(empty, 1.0)
        # weights = exp(scores − log Σ exp(scores)): all that backward needs of them.
        # In a row without keys +inf gives weights of zero.
        log_sum = (largest + total.log()).masked_fill(empty, math.inf)
        ctx.save_for_backward(query, key, value, mask, output, log_sum)
        ctx.block_size = block_size
        return output

    @staticmethod
    def backward(ctx, d_output):
        refuse_second_derivative("blockwise_attention")
        query, key, value, mask, output, log_sum = ctx.saved_tensors
        d_query = torch.zeros_like(query)
        d_key, d_value = (t.new_empty(t.shape) for t in (key, value))
        # The softmax's own gradient needs Σ_j weights_ij · d_weights_ij of each row.
        # It equals d_output · output, so it is known before the first block.
        row_dot = (d_output * output).sum(-1, keepdim=True)
        for block in _blocks(key.shape[-2], ctx.block_size):
            weights = torch.exp(_scores(query, key, mask, block) - log_sum)
            d_weights = d_output @ value[..., block, :].transpose(-2, -1)
            d_scores = weights * (d_weights - row_dot) / math.sqrt(query.shape[-1])
            d_query += d_scores @ key[..., block, :]
            d_key[..., block, :] = d_scores.transpose(-2, -1) @ query
            d_value[..., block, :] = weights.transpose(-2, -1) @ d_output
        return d_query, d_key, d_value, None, None


def refuse_second_derivative(name: str) -> None:
    """Raise in a hand-written backward if its gradient is to be differentiated.

    PyTorch's ``once_differentiable`` asks only whether the incoming gradient needs a
    gradient. Where it does not, the second derivative would silently be incomplete.
    """
    if torch.is_grad_enabled():  # that is, with create_graph=True
        raise RuntimeError(
            f"the gradient of {name} cannot be differentiated again, but it was asked "
            "for with create_graph=True. Use scaled_dot_product_attention, with a "
            "mask, for second derivatives."
        )


def _blocks(keys, size):
    """Return slices that cover the keys."""
    return [slice(first, first + size) for first in range(0, keys, size)]


def _scores(query, key, mask, block):
    """Return the scaled scores of one block of keys, −inf where hidden."""
    query = query / math.sqrt(query.shape[-1])
    scores = query @ key[..., block, :].transpose(-2, -1)
    if mask is None:
        return scores
    return scores.masked_fill(~mask[..., block], -math.inf)
