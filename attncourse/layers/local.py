"""Local attention: each token attends to its neighbours only, in O(n · window)."""

import math
import os
from contextlib import contextmanager
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from attncourse import _checks
from attncourse.layers.blockwise import refuse_second_derivative
from attncourse.layers.core import check_attention_inputs, check_same_tokens, in_full

# Scores are made in tiles of about this many numbers (8 MB in float32): enough that
# calling PyTorch costs little beside them, and few beside a long sequence's outputs.
TILE_SCORES = 2**21

# Weights are kept for the backward up to rows this many times as long as a query.
KEPT_ROWS = 4

# Sums of keys that two tiles see are made for this many at a time, a multiple of the
# lengths of blocks.
SHARED_KEYS = 128


def local_attention(
    query: Tensor, key: Tensor, value: Tensor, *, window: int, causal: bool = False
) -> Tensor:
    r"""Let each query attend to the keys near it.

    .. math::

        o_i = \sum_{j \in N(i)} w_{ij} v_j, \qquad
        w_{ij} = \frac{e^{q_i \cdot k_j / \sqrt{d_k}}}
                      {\sum_{l \in N(i)} e^{q_i \cdot k_l / \sqrt{d_k}}}

    with :math:`N(i) = \{i - \text{window} + 1, \dots, i\}` if causal, else
    :math:`\{j : |i - j| \le \text{window}\}`. Scores outside this band are never
    computed, so time and memory grow as n · window, forward and backward.

    On a CPU this is the band written out (``_Band``, with a backward of its own). On a
    GPU, in half precision, it is PyTorch's FlashAttention with a window, where it has
    one; otherwise `local_attention_in_blocks`, which runs on fused kernels, too.

    Parameters
    ----------
    query, key : torch.Tensor
        Floating point, ``(..., tokens, d_k)``, with the same number of tokens.
    value : torch.Tensor
        ``(..., tokens, d_v)``.
    window : int
        In tokens, at least 1. Causal: the number of keys that a query sees, its own
        included. Two-sided: the farthest distance that it sees, so that there are
        ``2 * window + 1`` keys. A window beyond the sequence is full attention.
    causal : bool
        If True, no query sees a later key.

    Returns
    -------
    torch.Tensor
        ``(..., tokens, d_v)``, in the dtype of `query`. In half precision the scores
        and sums are made in float32. Gradients can be taken once, not twice.

    Raises
    ------
    TypeError, ValueError
        If the tensors do not fit together or the window is not a whole number >= 1.

    References
    ----------
    Beltagy, Peters and Cohan (2020), "Longformer: the long-document transformer",
    section 3.1. Where the window is wide, the backward recomputes the weights, as in
    Dao et al. (2022), "FlashAttention", section 3.1.
    """
    query, key, value, before, after = _checked(query, key, value, window, causal)
    if query.device.type != "cpu":
        if _flash_takes(query, value):
            return _by_flash(query, key, value, before, after)
        return local_attention_in_blocks(
            query, key, value, window=window, causal=causal
        )
    tensors = [
        t[None].flatten(0, -3).contiguous()  # (heads of the batch, tokens, d)
        for t in in_full(query.shape[:-2], query, key, value)
    ]
    differentiated = torch.is_grad_enabled() and any(t.requires_grad for t in tensors)
    output = _Band.apply(*tensors, before, after, differentiated)
    return output.view(value.shape).to(query.dtype)


def local_attention_in_blocks(
    query: Tensor, key: Tensor, value: Tensor, *, window: int, causal: bool = False
) -> Tensor:
    r"""Compute `local_attention` the short way: blocks of queries as a batch.

    The sequence is cut into blocks as long as the window. Every key that a query may
    see then lies in its own block or in one next to it, and full attention from each
    block to these two or three blocks, with a mask for what is too far, is exact.

    Used as `local_attention`. It needs a few lines and no backward of its own, but
    copies each key two or three times and computes up to twice the scores of the band.
    """
    query, key, value, before, after = _checked(query, key, value, window, causal)
    tokens = query.shape[-2]
    size = max(before, 1)
    count = max(math.ceil(tokens / size), 1)

    def cut(x, blocks_before, blocks_after):
        # (..., tokens, d) -> (..., blocks, size, d), with blocks of zeros around
        end = (count + blocks_after) * size - tokens
        x = F.pad(x, (0, 0, blocks_before * size, end))
        return x.unflatten(-2, (-1, size))

    def with_neighbours(x):
        shifts = range(3 if after else 2)
        x = cut(x, 1, len(shifts) - 2)
        return torch.cat([x[..., i : i + count, :, :] for i in shifts], dim=-2)

    keys, values = with_neighbours(key), with_neighbours(value)
    span = keys.shape[-2]
    blocks = torch.arange(count, device=query.device)[:, None, None] * size
    i = blocks + torch.arange(size, device=query.device)[:, None]
    j = blocks + torch.arange(span, device=query.device) - size
    mask = (j >= i - before) & (j <= i + after) & (j >= 0) & (j < tokens)
    # Queries that fill up the last block may see anything: no softmax over nothing.
    mask = mask | (i >= tokens)
    # each (batch, blocks, size or span, d)
    q, k, v = (x[None].flatten(0, -4) for x in (cut(query, 0, 0), keys, values))
    output = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    output = output.flatten(-3, -2)[..., :tokens, :]
    return output.reshape(value.shape)


# FlashAttention with a window. The public `varlen_attn` takes longer to call.
FLASH = torch.ops.aten._flash_attention_forward.default
FLASH_HAS_WINDOW = "window_size_left" in str(FLASH._schema)  # from PyTorch 2.5 on


def _flash_takes(query, value):
    """Return whether FlashAttention takes these on their GPU, one of NVIDIA's."""
    d_k, d_v = query.shape[-1], value.shape[-1]
    if not query.is_cuda or query.dtype not in (torch.float16, torch.bfloat16):
        return False
    sizes = d_k == d_v <= 192 and d_k % 8 == 0 and query.numel() > 0
    able = torch.cuda.get_device_capability(query.device) >= (8, 0)
    return sizes and able and FLASH_HAS_WINDOW and not torch.version.hip  # AMD: untried


def _by_flash(query, key, value, before, after):
    n = query.shape[-2]
    heads = (x[None].flatten(0, -3)[:, :, None] for x in (query, key, value))
    window = {"window_size_left": before, "window_size_right": after}
    output = FLASH(*heads, None, None, n, n, 0.0, False, False, **window)[0]
    return output.reshape(value.shape)  # from (heads of the batch, tokens, 1, d)


def _checked(query, key, value, window, causal):
    """Return the tensors with equal leading axes, and the reach to each side."""
    *batch, queries, keys = check_attention_inputs(query, key, value)
    check_same_tokens(queries, keys, "local attention")
    window = _checks.positive_int("window", window)
    before = min(window - 1 if causal else window, max(keys - 1, 0))
    tensors = (t.expand(*batch, *t.shape[-2:]) for t in (query, key, value))
    return *tensors, before, 0 if causal else before


@contextmanager
def _threads_for_free_cores():
    """Compute in one thread while more threads want to run than there are cores.

    Each call of PyTorch ends with the last of its threads, which on a busy machine
    waits for a core.
    """
    threads, load = torch.get_num_threads(), Path("/proc/loadavg")  # only Linux has it
    if threads > 1 and load.exists():
        running = int(load.read_text().split()[3].split("/")[0])
        torch.set_num_threads(1 if running > os.cpu_count() else threads)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


class _Band(torch.autograd.Function):
    """Attention in a band, tile by tile; tensors are contiguous, (heads, tokens, d)."""

    @staticmethod
    @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
    @_threads_for_free_cores()
    def forward(ctx, query, key, value, before, after, differentiated):
        output = query.new_empty(value.shape)
        ctx.tiling = tiling = _Tiling(query, before, after)
        kept = []
        for tile in tiling.tiles(query):
            weights = tile.weights(query, key)
            _write(tile.queries_of(output), weights, tile.keys_of(value))
            if differentiated and tiling.span <= KEPT_ROWS * query.shape[-1]:
                kept.append(weights)
        ctx.save_for_backward(query, key, value, *kept)
        return output

    @staticmethod
    @torch.amp.custom_bwd(device_type="cpu")
    @_threads_for_free_cores()
    def backward(ctx, grad):
        refuse_second_derivative("local_attention")
        query, key, value, *kept = ctx.saved_tensors
        tiling, scale = ctx.tiling, 1 / math.sqrt(query.shape[-1])
        d_query = query.new_empty(query.shape)
        d_key, d_value = tiling.sums_over_queries(key), tiling.sums_over_queries(value)
        inner = tiling.without_edges(grad)
        for number, tile in enumerate(tiling.tiles(query)):
            weights = kept[number] if kept else tile.weights(query, key)
            d_output = tile.queries_of(grad if isinstance(tile, _Edge) else inner)
            tile.add_to_keys(d_value, weights, d_output)
            d_weights = torch.bmm(d_output, tile.keys_of(value).transpose(1, 2))
            # softmax: d_scores = weights * (d_weights - sum(weights * d_weights))
            d_scores = torch._softmax_backward_data(
                d_weights, weights, -1, weights.dtype, grad_input=d_weights
            )
            _write(tile.queries_of(d_query), d_scores, tile.keys_of(key), scale)
            tile.add_to_keys(d_key, d_scores, tile.queries_of(query), scale)
        return d_query, d_key, d_value, None, None, None


def _write(target, a, b, scale=1):
    """Write scale · a b to a view; into rows that lie apart through a copy."""
    if target.is_contiguous():
        target.baddbmm_(a, b, beta=0, alpha=scale)
    else:
        target.copy_(torch.baddbmm(target, a, b, beta=0, alpha=scale))


class _Tiling:
    """How a band is cut into tiles of whole blocks of queries.

    Shorter blocks waste fewer scores, longer ones make larger and so faster products;
    the lengths below were the fastest of those tried.

    All heads are read as one long sequence, since few large products take less time
    than many small ones. What is found for queries whose keys reach into another head
    means nothing: tiles of these queries alone, in all heads at once, write it anew.
    """

    def __init__(self, query, before, after):
        self.heads, self.tokens, _ = query.shape
        self.before, self.after = before, after
        self.rows = 16 if before < 192 else 32
        # whole blocks of keys to each side, so that neighbouring blocks line up
        self.left = self.rows * math.ceil(before / self.rows)
        self.right = self.rows * math.ceil(after / self.rows)
        self.span = self.left + self.rows + self.right
        # from here to there, queries of a head have all their keys in it
        total = self.heads * self.tokens
        rest = (total - self.left - self.right) % self.rows
        self.first = min(self.left, self.tokens)
        self.last = max(self.tokens - self.right - rest, self.first)
        end = total - self.right - rest if self.first < self.last else 0
        length = self.rows * max(1, TILE_SCORES // (self.rows * self.span))
        starts = range(self.left, end, length)
        self.cuts = [slice(start, min(start + length, end)) for start in starts]
        self._shared_keys = {}  # by the length of a cut
        rows = slice(self.left, self.left + self.rows)
        self.bias = self._bias(query, rows, slice(0, self.span))

    def tiles(self, query):
        """Yield tiles that cover the band: all blocks, then the edges of each head."""
        for queries in self.cuts:
            yield _Inside(self, queries)
        length = max(self.rows, TILE_SCORES // (max(self.heads, 1) * self.span))
        for low, high in ((0, self.first), (self.last, self.tokens)):
            for start in range(low, high, length):
                queries = slice(start, min(start + length, high))
                first = max(start - self.left, 0)
                keys = slice(first, min(queries.stop + self.right, self.tokens))
                yield _Edge(queries, keys, self._bias(query, queries, keys))

    def _bias(self, query, queries, keys):
        """Return 0 where one of the queries sees one of the keys, elsewhere −inf."""
        low, high = keys.start - queries.stop + 1, keys.stop - queries.start
        distances = torch.arange(low, high)
        hidden = (distances < -self.before) | (distances > self.after)
        bias = query.new_zeros(hidden.shape).masked_fill(hidden, -math.inf)
        return bias.unfold(0, keys.stop - keys.start, 1).flip(0)

    def sums_over_queries(self, key):
        """Return a tensor like `key` for the tiles to add to.

        Keys that have all their queries in one tile are written by that tile alone:
        they are left empty, and so cost nothing. The rest is zero.
        """
        total = key.new_empty(key.shape)
        rows, written = total.flatten(0, 1), 0
        for queries in self.cuts:
            rows[written : queries.start + self.right] = 0
            written = max(queries.start + self.right, queries.stop - self.left)
        rows[written:] = 0
        return total

    def without_edges(self, grad):
        """Return a copy of `grad` that is zero at the queries of edges."""
        inner = grad.clone(memory_format=torch.contiguous_format)
        inner[:, : self.first] = inner[:, self.last :] = 0
        return inner

    def shared_keys(self, queries):
        """Return keys of a tile that others see too, queries, what is outside blocks.

        Both are slices from the first of the tile; queries see some of the keys.
        """
        if queries not in self._shared_keys:
            wing = self.span - self.rows
            self._shared_keys[queries] = found = []
            for low, high in ((0, wing), (max(wing, queries), wing + queries)):
                for first in range(low, high, SHARED_KEYS):
                    keys = slice(first, min(first + SHARED_KEYS, high))
                    seeing = slice(max(first - wing, 0), min(keys.stop, queries))
                    i = torch.arange(seeing.start, seeing.stop)[:, None]
                    j = torch.arange(keys.start, keys.stop)
                    block = i // self.rows * self.rows
                    found.append((keys, seeing, (j < block) | (j >= block + self.span)))
        return self._shared_keys[queries]


class _Tile:
    """Some blocks of queries and the keys that they may see.

    Queries are viewed as (blocks, rows, d), keys as (blocks, span, d).
    """

    def weights(self, query, key):
        """Return softmax(q kᵀ / √d_k) of the band, (blocks, rows, span)."""
        q, k = self.queries_of(query), self.keys_of(key)
        scale = 1 / math.sqrt(q.shape[-1])
        scores = torch.baddbmm(self.bias, q, k.transpose(1, 2), alpha=scale)
        return torch.softmax(scores, dim=-1, out=scores)


class _Inside(_Tile):
    """Neighbouring blocks of the long sequence of all heads."""

    def __init__(self, tiling, queries):
        self.tiling, self.bias, self.queries = tiling, tiling.bias, queries
        self.keys = slice(queries.start - tiling.left, queries.stop + tiling.right)

    def queries_of(self, x):
        return x.flatten(0, 1)[self.queries].unflatten(0, (-1, self.tiling.rows))

    def keys_of(self, x):
        # a view: the spans of neighbours overlap
        x = x.flatten(0, 1)[self.keys]
        return x.unfold(0, self.tiling.span, self.tiling.rows).transpose(1, 2)

    def add_to_keys(self, total, weights, x, scale=1):
        """Add scale · weightsᵀ x to the rows of `total` that belong to the keys.

        The weights are copied so that that of query i and key j, counted from the
        first of the tile, lies at i · span + j, with `rows` unused numbers between
        blocks. So the weights of *all* queries of a block of keys are a matrix whose
        rows are `span` numbers apart, and take a single product.
        """
        blocks, rows, span = weights.shape
        step = rows * (span + 1)  # from block to block
        skewed = weights.new_empty(blocks * step)
        skewed.as_strided(weights.shape, (step, span, 1)).copy_(weights)
        total, x = total.flatten(0, 1)[self.keys], x.flatten(0, 1)

        wing = span - rows  # the keys before the first that no other tile sees
        whole = (blocks * rows - wing) // rows
        if whole > 0:
            seen = skewed.as_strided((whole, span, rows), (step, span, 1), wing)
            total[wing : wing + whole * rows].unflatten(0, (-1, rows)).baddbmm_(
                seen.transpose(1, 2),
                x.unfold(0, span, rows).transpose(1, 2),
                beta=0,
                alpha=scale,
            )
        for keys, seeing, outside in self.tiling.shared_keys(len(x)):
            at = seeing.start * span + keys.start
            seen = skewed.as_strided(outside.shape, (span, 1), at)
            seen = seen.masked_fill(outside, 0)
            total[keys].addmm_(seen.t(), x[seeing], alpha=scale)


class _Edge(_Tile):
    """Queries near an end of the sequence, in all heads at once."""

    def __init__(self, queries, keys, bias):
        self.queries, self.keys, self.bias = queries, keys, bias

    def queries_of(self, x):
        return x[:, self.queries]

    def keys_of(self, x):
        return x[:, self.keys]

    def add_to_keys(self, total, weights, x, scale=1):
        self.keys_of(total).add_(torch.bmm(weights.transpose(1, 2), x), alpha=scale)
