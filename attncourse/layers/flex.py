"""Local attention by FlexAttention: fast on a GPU, where sequences are long."""

import warnings
from functools import cache, lru_cache
from typing import Any

import torch
from torch import Tensor

HALF = (torch.float16, torch.bfloat16)
WIDTHS = (16, 32, 64, 128, 256)  # of heads for which it makes kernels everywhere
LEAST_TOKENS = 4096  # below, compiling a kernel costs more than it can save
BLOCK = 128  # FlexAttention's own


def suits_flex(query: Tensor, value: Tensor) -> bool:
    """Say whether FlexAttention is the way to go for local attention.

    It is for half precision and long sequences on NVIDIA GPUs of the Ampere generation
    or later: there the band runs at nearly the speed of the fused kernels. Its first
    call for a shape compiles, which takes some seconds.

    Parameters
    ----------
    query, value : torch.Tensor
        ``(..., tokens, d_k)`` and ``(..., tokens, d_v)``.

    Returns
    -------
    bool
    """
    return (
        not _Failed.once
        and query.device.type == "cuda"
        and torch.version.hip is None
        and query.dtype in HALF
        and query.dtype == value.dtype
        and query.shape[-2] >= LEAST_TOKENS
        and query.shape[-1] in WIDTHS
        and value.shape[-1] in WIDTHS
        and query.numel() > 0
        and torch.cuda.get_device_capability(query.device) >= (8, 0)
    )


def flex_local_attention(
    query: Tensor, key: Tensor, value: Tensor, before: int, after: int
) -> Tensor | None:
    """Compute local attention with FlexAttention.

    Parameters
    ----------
    query, key : torch.Tensor
        ``(..., tokens, d_k)``, with equal leading axes.
    value : torch.Tensor
        ``(..., tokens, d_v)``, likewise.
    before, after : int
        How many keys a query sees to its left and to its right, at most.

    Returns
    -------
    torch.Tensor or None
        ``(..., tokens, d_v)``; None if no kernel could be made. That is said in a
        warning, once, and `suits_flex` is False from then on.

    References
    ----------
    Dong et al. (2024), "Flex Attention: a programming model for generating optimized
    attention kernels": the rule is given in Python, whole blocks of keys are skipped.
    """
    # (heads of all texts, 1, tokens, d): one rule for all of them
    tensors = (x[None].flatten(0, -3)[:, None] for x in (query, key, value))
    rule = band_rule(query.shape[-2], before, after, query.device)
    try:
        output = _compiled()(*tensors, block_mask=rule)
    except torch.OutOfMemoryError:
        raise
    except Exception as error:  # of a compiler: there is no list of them
        _Failed.once = True
        warnings.warn(
            f"FlexAttention cannot be compiled here ({type(error).__name__}: {error}). "
            "Local attention is computed in blocks instead: as exact, but slower.",
            stacklevel=3,
        )
        return None
    return output.reshape(value.shape)


@lru_cache(maxsize=16)
def band_rule(tokens: int, before: int, after: int, device: torch.device) -> Any:
    """Return the band as a rule for FlexAttention.

    PyTorch's `create_block_mask` finds the blocks by asking the rule for every pair of
    tokens. In a band they follow from its edges.

    Parameters
    ----------
    tokens, before, after : int
        Length of the sequence, and the reach to each side.
    device : torch.device
        Where the lists of blocks are to lie.

    Returns
    -------
    torch.nn.attention.flex_attention.BlockMask
    """
    from torch.nn.attention.flex_attention import BlockMask

    first = torch.arange(0, tokens, BLOCK, device=device)
    last = first + BLOCK - 1
    i0, i1, j0, j1 = first[:, None], last[:, None], first, last
    seen = (j1 >= i0 - before) & (j0 <= i1 + after)
    whole = (j0 >= i1 - before) & (j1 <= i0 + after) & (i1 < tokens) & (j1 < tokens)

    def near(batch, head, i, j):
        return (j >= i - before) & (j <= i + after)

    return BlockMask.from_kv_blocks(  # type: ignore[misc]
        *_listed(seen & ~whole),
        *_listed(whole),
        BLOCK_SIZE=BLOCK,
        mask_mod=near,
        seq_lengths=(tokens, tokens),
    )


def _listed(blocks):
    """Return how many blocks each row has, and which: those first, then the others."""
    counts = blocks.sum(-1, dtype=torch.int32)
    order = blocks.int().argsort(dim=-1, descending=True, stable=True).int()
    return counts[None, None], order[None, None]


@cache
def _compiled():
    from torch.nn.attention.flex_attention import flex_attention

    # not compiled in full, it would make all the scores that it is there to avoid
    return torch.compile(flex_attention, fullgraph=True)


class _Failed:
    once = False
