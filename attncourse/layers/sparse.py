"""Block-sparse attention: only chosen blocks of the score matrix are computed."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from attncourse import _checks
from attncourse.layers.core import (
    check_attention_inputs,
    check_boolean,
    check_same_tokens,
    fused_attention,
)


def block_sparse_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    block_mask: Tensor,
    *,
    block_size: int,
    causal: bool = False,
) -> Tensor:
    r"""Attend only within the blocks that `block_mask` allows.

    Queries and keys are cut into blocks of `block_size` tokens. Block i of the queries
    sees block j of the keys where ``block_mask[i, j]`` is True. The other blocks cost
    nothing: time grows with the number of allowed blocks. Memory does not: it is a
    fixed multiple of the inputs and of tokens · block_size.

    Parameters
    ----------
    query, key, value : torch.Tensor
        As for `scaled_dot_product_attention`.
    block_mask : torch.Tensor of bool
        ``(query blocks, key blocks)``, one entry for each pair of blocks, the last
        ones included that are only partly filled; True = may attend. Patterns come
        from `window_blocks`, `strided_blocks` and `global_blocks`, joined by ``|``.
    block_size : int
        In tokens, at least 1. It need not divide the number of queries or keys.
    causal : bool
        If True, no query sees a later key, whatever the blocks allow; needs as many
        queries as keys.

    Returns
    -------
    torch.Tensor
        ``(..., queries, d_v)``. A row with nothing to attend to is zero, with a zero
        gradient.

    Raises
    ------
    TypeError, ValueError
        If the tensors do not fit together, the block mask is not boolean or has
        another number of blocks, or a size is not a whole number.

    References
    ----------
    Child et al. (2019), "Generating long sequences with sparse transformers",
    section 4. Zaheer et al. (2020), "Big Bird: transformers for longer sequences",
    section 2.
    """
    *batch, queries, keys = check_attention_inputs(query, key, value)
    size = _checks.positive_int("block_size", block_size)
    if causal:
        check_same_tokens(queries, keys)
    _check_block_mask(block_mask, queries, keys, size, query.device)
    query, key, value = (
        tensor.expand(*batch, *tensor.shape[-2:]).reshape(
            math.prod(batch), *tensor.shape[-2:]
        )
        for tensor in (query, key, value)
    )
    q, k, v = (_cut(tensor, size) for tensor in (query, key, value))
    # without tokens there is still one block, all of it padding
    missing = (0, k.shape[1] - block_mask.shape[1], 0, q.shape[1] - block_mask.shape[0])
    block_mask = F.pad(block_mask, missing)

    parts, order = [], []
    for rows, columns in _groups(block_mask):
        order.append(rows)
        # Recomputed in backward, or each group would keep its copy of the keys.
        part = checkpoint(
            _attend_to_blocks,
            *(q, k, v, (rows, columns), block_mask, keys, causal),
            use_reentrant=False,
            preserve_rng_state=False,
        )
        parts.append(part)
    output = torch.cat(parts, dim=1).index_select(1, torch.cat(order).argsort())
    output = output.flatten(1, 2)[:, :queries]
    return output.reshape(*batch, queries, value.shape[-1])


def window_blocks(num_blocks: int, window: int) -> Tensor:
    """Return the block mask in which blocks see those at most `window` blocks away.

    Parameters
    ----------
    num_blocks : int
        Blocks in the sequence, ``ceil(tokens / block_size)``.
    window : int
        In blocks; 0 leaves the block itself.

    Returns
    -------
    torch.Tensor of bool
        ``(num_blocks, num_blocks)``; True = may attend.
    """
    window = _checks.positive_int("window", window, minimum=0)
    return _distances(num_blocks).abs() <= window


def strided_blocks(num_blocks: int, stride: int) -> Tensor:
    """Return the block mask in which blocks see every `stride`-th one from their own.

    `stride` is at least 1; the rest is as for `window_blocks`.

    References
    ----------
    Child et al. (2019), section 4.3: together with a window this is strided attention.
    """
    return _distances(num_blocks) % _checks.positive_int("stride", stride) == 0


def global_blocks(num_blocks: int, count: int) -> Tensor:
    """Return the block mask in which the first `count` blocks see all and are seen.

    The rest is as for `window_blocks`.
    """
    count = _checks.positive_int("count", count, minimum=0)
    first = torch.arange(_checks.positive_int("num_blocks", num_blocks)) < count
    return first[:, None] | first


def expand_blocks(
    block_mask: Tensor, block_size: int, queries: int, keys: int
) -> Tensor:
    """Return the mask between tokens that a block mask stands for.

    It has as many entries as the full score matrix: for drawing and for checking.

    Parameters
    ----------
    block_mask : torch.Tensor of bool
        ``(query blocks, key blocks)``.
    block_size : int
        In tokens.
    queries, keys : int
        Tokens; the last blocks are cut to fit.

    Returns
    -------
    torch.Tensor of bool
        ``(queries, keys)``; True = may attend.
    """
    size = _checks.positive_int("block_size", block_size)
    _check_block_mask(block_mask, queries, keys, size, None)
    rows = block_mask.repeat_interleave(size, dim=0)[:queries]
    return rows.repeat_interleave(size, dim=1)[:, :keys]


def _distances(num_blocks):
    """Return query block − key block."""
    block = torch.arange(_checks.positive_int("num_blocks", num_blocks))
    return block[:, None] - block


def _check_block_mask(block_mask, queries, keys, size, device):
    """Check the type and the shape of a block mask."""
    check_boolean("block_mask", block_mask, device)
    expected = (-(-queries // size), -(-keys // size))
    if tuple(block_mask.shape) != expected:
        raise ValueError(
            f"block_mask must have one entry for each pair of blocks, {expected} for "
            f"{queries} queries and {keys} keys in blocks of {size}, but its shape is "
            f"{_checks.shape_text(block_mask)}. A block that is only partly filled "
            "counts; a mask between tokens is for scaled_dot_product_attention."
        )


def _cut(x, size):
    """Cut (batch, tokens, d) into (batch, blocks, size, d), padded, at least one."""
    blocks = max(-(-x.shape[1] // size), 1)
    return F.pad(x, (0, 0, 0, blocks * size - x.shape[1])).unflatten(1, (blocks, size))


def _groups(block_mask):
    """Yield rows of the mask that see about equally many blocks, and these blocks.

    Rows of one group go through attention together, so their numbers of blocks are
    made equal: rounded up to a power of two, filled with blocks that are not allowed.
    """
    counts = block_mask.sum(dim=1).tolist()
    widths = torch.tensor([1 << max(count - 1, 0).bit_length() for count in counts])
    allowed_first = block_mask.int().argsort(dim=1, descending=True, stable=True)
    blocks = block_mask.shape[1]
    for width in widths.unique().tolist():
        rows = (widths == width).nonzero().flatten().to(block_mask.device)
        # No group gathers more than four times the keys that there are.
        for part in rows.split(max(4 * blocks // width, 1)):
            yield part, allowed_first[part, :width]


def _attend_to_blocks(q, k, v, group, block_mask, keys, causal):
    """Attend from the blocks of a group, as `_groups` yields them.

    A group is the numbers of query blocks, (rows,), and of the key blocks that each of
    them is given, (rows, width); `block_mask` is False where one only fills up.
    """
    rows, columns = group
    allowed = block_mask[rows].gather(1, columns)
    size = q.shape[2]
    within = torch.arange(size, device=q.device)
    i = rows[:, None] * size + within  # (rows, size): positions of the queries
    j = (columns[..., None] * size + within).flatten(1)  # (rows, width * size)
    mask = allowed.repeat_interleave(size, dim=1) & (j < keys)
    mask = mask[:, None, :]  # (rows, 1 or, if causal, size, keys)
    if causal:
        mask = mask & (j[:, None, :] <= i[..., None])

    def gather(x):
        picked = x.index_select(1, columns.flatten()).unflatten(1, columns.shape)
        return picked.flatten(2, 3)

    return fused_attention(
        q.index_select(1, rows), gather(k), gather(v), mask
    )  # (batch, rows, size, d_v)
