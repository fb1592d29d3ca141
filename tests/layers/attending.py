"""Inputs of attention, and comparisons that the tests of the efficient forms share."""

import torch
import torch.nn.functional as F

from attncourse.layers.scores import AdditiveAttention


def draw(rng, leading, queries, keys=None, dtype=torch.float32, d_v=7):
    """Return query and key of width 5, and value; as many keys unless given."""
    keys = queries if keys is None else keys
    return [
        torch.randn(*leading, *size, generator=rng, dtype=torch.float64).to(dtype)
        for size in ((queries, 5), (keys, 5), (keys, d_v))
    ]


def masked(query, key, value, mask):
    """Return full attention with a mask; a row that sees nothing is zero."""
    empty = ~mask.any(-1, keepdim=True)
    output = F.scaled_dot_product_attention(query, key, value, attn_mask=mask | empty)
    return output.masked_fill(empty, 0.0)


def assert_same_gradients(got, expected, inputs, *, tolerance=1e-5):
    """Compare the gradients of two results for the same random one of the output."""
    upstream = torch.randn(got.shape, generator=torch.Generator().manual_seed(3))
    ours, theirs = (torch.autograd.grad(x, inputs, upstream) for x in (got, expected))
    for g, e in zip(ours, theirs, strict=True):
        torch.testing.assert_close(g, e, rtol=tolerance, atol=tolerance)


def score_of_pair(layer, d, e):
    """Return the score of one decoder state and one encoder state."""
    if isinstance(layer, AdditiveAttention):
        hidden = layer.decoder_proj.weight @ d + layer.encoder_proj.weight @ e
        return layer.score.weight[0] @ hidden.tanh()
    if layer.method == "dot":
        return d @ e
    if layer.method == "general":
        return d @ layer.weight.weight @ e
    hidden = layer.hidden.weight @ torch.cat([d, e])
    return layer.score.weight[0] @ hidden.tanh()
