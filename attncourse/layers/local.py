"""Local attention: each token attends to its neighbours only, in O(n · window)."""

import itertools
import math

import torch
import torch.nn.functional as F

from attncourse import _checks
from attncourse.layers.blockwise import refuse_second_derivative
from attncourse.layers.core import check_attention_inputs

# Scores are made in tiles of about this many numbers, so that a tile (1 MB in
# float32) stays in the cache of the cores between the product and the softmax.
TILE_SCORES = 2**18


def local_attention(query, key, value, *, window, causal=False):
    r"""Let each query attend to the keys near it.

    .. math::

        o_i = \sum_{j \in N(i)} w_{ij} v_j, \qquad
        w_{ij} = \frac{e^{q_i \cdot k_j / \sqrt{d_k}}}
                      {\sum_{l \in N(i)} e^{q_i \cdot k_l / \sqrt{d_k}}}

    with :math:`N(i) = \{i - \text{window} + 1, \dots, i\}` if causal, else
    :math:`\{j : |i - j| \le \text{window}\}`. Scores outside this band are never
    computed, so time and memory grow as n · window, forward and backward.

    On a CPU this is the band written out (``_Band``, with a backward of its own); on
    other devices it is `local_attention_in_blocks`, which runs on their fused kernels.

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
    section 3.1. The backward recomputes the weights, as in Dao et al. (2022).
    """
    query, key, value, before, after = _checked(query, key, value, window, causal)
    if query.device.type != "cpu":
        return local_attention_in_blocks(
            query, key, value, window=window, causal=causal
        )
    half = query.dtype in (torch.float16, torch.bfloat16)
    compute = torch.float32 if half else query.dtype
    output = _Band.apply(
        query.to(compute), key.to(compute), value.to(compute), before, after
    )
    return output.to(query.dtype)


def local_attention_in_blocks(query, key, value, *, window, causal=False):
    r"""Compute `local_attention` the short way: blocks of queries as a batch.

    The sequence is cut into blocks as long as the window. Every key that a query may
    see then lies in its own block or in one next to it, and full attention from each
    block to these two or three blocks, with a mask for what is too far, is exact.

    The arguments, the output and the errors are those of `local_attention`. It needs
    a few lines and no backward of its own, but copies each key two or three times and
    computes up to twice as many scores as the band has.
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
    # Queries that only fill up the last block are cut off below. They may see
    # anything: a softmax over nothing would be NaN.
    mask = mask | (i >= tokens)
    output = F.scaled_dot_product_attention(
        cut(query, 0, 0)[None].flatten(0, -4),  # (batch, blocks, size, d_k)
        keys[None].flatten(0, -4),
        values[None].flatten(0, -4),
        attn_mask=mask,
    )
    output = output.flatten(-3, -2)[..., :tokens, :]
    return output.reshape(value.shape)


def _checked(query, key, value, window, causal):
    """Return the tensors with equal leading axes, and the reach to each side."""
    *batch, queries, keys = check_attention_inputs(query, key, value)
    if queries != keys:
        raise ValueError(
            "local attention needs as many queries as keys, since distance is counted "
            f"between positions, but there are {queries} queries and {keys} keys. Use "
            "scaled_dot_product_attention with a mask for cross-attention."
        )
    window = _checks.positive_int("window", window)
    before = min(window - 1 if causal else window, max(keys - 1, 0))
    tensors = (t.expand(*batch, *t.shape[-2:]) for t in (query, key, value))
    return *tensors, before, 0 if causal else before


class _Band(torch.autograd.Function):
    """Attention in a band, tile by tile, with the weights recomputed in backward."""

    @staticmethod
    def forward(ctx, query, key, value, before, after):
        output = query.new_empty(value.shape)
        ctx.save_for_backward(query, key, value, output)
        ctx.tiling = tiling = _Tiling(query.shape[-2], before, after)
        weights_of = tiling.weights_function(query)
        for q, k, v, o in _matrices(query, key, value, output):
            for tile in tiling.tiles():
                weights = weights_of(tile, q, k)
                torch.bmm(weights, tile.keys_of(v), out=tile.queries_of(o))
        return output

    @staticmethod
    def backward(ctx, grad):
        refuse_second_derivative("local_attention")
        query, key, value, output = ctx.saved_tensors
        scale = 1 / math.sqrt(query.shape[-1])
        weights_of = ctx.tiling.weights_function(query)
        # contiguous, whatever the layout of the inputs, for the products into them
        d_query = query.new_empty(query.shape)
        d_key, d_value = key.new_zeros(key.shape), value.new_zeros(value.shape)
        grads = d_query, d_key, d_value
        tensors = (query, key, value, output, grad, *grads)
        for q, k, v, o, do, dq, dk, dv in _matrices(*tensors):
            for tile in ctx.tiling.tiles():
                weights = weights_of(tile, q, k)
                d_out = tile.queries_of(do)
                tile.add_to_keys(dv, weights, d_out)
                # softmax: d_scores = weights * (d_weights - sum(weights * d_weights)),
                # and that sum is d_out · output
                dot = (d_out * tile.queries_of(o)).sum(-1, keepdim=True)
                d_weights = torch.bmm(d_out, tile.keys_of(v).transpose(1, 2))
                d_scores = d_weights.sub_(dot).mul_(weights).mul_(scale)
                torch.bmm(d_scores, tile.keys_of(k), out=tile.queries_of(dq))
                tile.add_to_keys(dk, d_scores, tile.queries_of(q))
        return *grads, None, None


def _matrices(*tensors):
    """Yield the (tokens, features) matrices of all tensors together, as views."""
    for index in itertools.product(*map(range, tensors[0].shape[:-2])):
        yield [tensor[index] for tensor in tensors]


class _Tiling:
    """How a band is cut into tiles of whole blocks of queries.

    A block of queries half as long as the window needs 3/2 windows of keys, a third
    of them for nothing. Shorter blocks waste fewer scores, longer ones make larger and
    so faster products; the lengths below were the fastest of those tried.
    """

    def __init__(self, tokens, before, after):
        self.tokens, self.before, self.after = tokens, before, after
        self.block = 16 if before < 16 else 32 if before < 256 else 128
        # whole blocks of keys to each side, so that neighbouring blocks line up
        self.left = self.block * math.ceil(before / self.block)
        self.right = self.block * math.ceil(after / self.block)
        self.span = self.left + self.block + self.right
        inside = (tokens - self.left - self.right) // self.block
        at_once = TILE_SCORES // (self.block * self.span)
        self.at_once = max(1, min(at_once, inside))

    def tiles(self):
        """Yield tiles that cover the band, all queries once."""
        block, left, right = self.block, self.left, self.right
        last = max(self.tokens - right, left) // block * block
        edges = [*range(0, left, block), *range(last, self.tokens, block)]
        for start in edges:
            stop = min(start + block, self.tokens)
            if start < stop:
                first, end = max(start - left, 0), min(stop + right, self.tokens)
                yield _Tile(start, stop, first, end, 1, first - (start - left))
        for start in range(left, last, block * self.at_once):
            stop = min(start + block * self.at_once, last)
            blocks = (stop - start) // block
            yield _Tile(start, stop, start - left, stop + right, blocks, 0)

    def weights_function(self, like):
        """Return a function that computes a tile's weights into one reused buffer."""
        i = torch.arange(self.block, device=like.device)[:, None]
        j = torch.arange(self.span, device=like.device) - self.left
        hidden = (j < i - self.before) | (j > i + self.after)
        bias = like.new_zeros(hidden.shape).masked_fill(hidden, -math.inf)
        buffer = like.new_empty(self.at_once * bias.numel())
        scale = 1 / math.sqrt(like.shape[-1])

        def weights_of(tile, query, key):
            q, k = tile.queries_of(query), tile.keys_of(key)
            shape = (tile.blocks, tile.rows, tile.span)
            scores = buffer[: math.prod(shape)].view(shape)
            columns = slice(tile.skip, tile.skip + tile.span)
            hide = bias[: tile.rows, columns].expand(shape)
            torch.baddbmm(hide, q, k.transpose(1, 2), alpha=scale, out=scores)
            return torch.softmax(scores, dim=-1, out=scores)

        return weights_of


class _Tile:
    """Blocks of queries ``start:stop`` and the keys ``first:end`` that they see."""

    def __init__(self, start, stop, first, end, blocks, skip):
        self.queries, self.keys = slice(start, stop), slice(first, end)
        self.blocks, self.skip = blocks, skip  # skip: keys missing at the left edge
        self.rows = (stop - start) // blocks
        self.span = end - first - (blocks - 1) * self.rows

    def queries_of(self, x):
        """View the queries as (blocks, rows, d)."""
        return x[self.queries].unflatten(0, (self.blocks, self.rows))

    def keys_of(self, x):
        """View the keys as (blocks, span, d); the spans of neighbours overlap."""
        return x[self.keys].unfold(0, self.span, self.rows).transpose(1, 2)

    def add_to_keys(self, total, weights, x):
        """Add weightsᵀ x to the rows of `total` that the keys come from.

        The spans overlap, so this goes one block of keys at a time: within such a
        piece of the span no two blocks of queries meet.
        """
        width = self.rows if self.blocks > 1 else self.span
        for first in range(0, self.span, width):
            piece = weights[:, :, first : first + width].transpose(1, 2)
            rows = total[self.keys][first : first + self.blocks * width]
            rows.unflatten(0, (self.blocks, width)).baddbmm_(piece, x)
