import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from attncourse import scaled_dot_product_attention
from attncourse.layers.core import fused_attention
from tests.refusing import generator, refuses

BATCH, HEADS, QUERIES, KEYS, D_K, D_V = 2, 3, 5, 7, 11, 13


def example(rng, dtype=torch.float32, leading=(BATCH, HEADS)):
    shapes = ((QUERIES, D_K), (KEYS, D_K), (KEYS, D_V))
    return [
        torch.randn(*leading, *s, generator=rng, dtype=torch.float64).to(dtype)
        for s in shapes
    ]


def some_mask(rng):
    """Return a random mask in which every query sees something."""
    mask = torch.rand(BATCH, HEADS, QUERIES, KEYS, generator=rng) < 0.5
    mask[..., 0] = True
    return mask


@pytest.mark.parametrize(
    ("dtype", "tolerance"),
    [
        (torch.float64, 1e-12),
        (torch.float32, 1e-6),
        (torch.float16, 4e-3),
        (torch.bfloat16, 3e-2),
    ],
)
@pytest.mark.parametrize("masked", [False, True])
def test_output_equals_that_of_torch(rng, dtype, tolerance, masked):
    query, key, value = example(rng, dtype)
    mask = some_mask(rng) if masked else None
    output, weights = scaled_dot_product_attention(query, key, value, mask)
    expected = F.scaled_dot_product_attention(
        query.double(), key.double(), value.double(), attn_mask=mask
    )
    assert output.dtype == weights.dtype == dtype
    torch.testing.assert_close(output.double(), expected, atol=tolerance, rtol=0)
    each = torch.eye(KEYS).double().expand(BATCH, HEADS, -1, -1)  # reads the weights
    expected = F.scaled_dot_product_attention(
        query.double(), key.double(), each, attn_mask=mask
    )
    torch.testing.assert_close(weights.double(), expected, atol=tolerance, rtol=0)


@given(st.lists(st.integers(0, 3), max_size=3))
@settings(max_examples=20, deadline=None)
def test_any_leading_axes_are_taken(leading):
    rng = torch.Generator().manual_seed(0)
    output, weights = scaled_dot_product_attention(*example(rng, leading=leading))
    assert output.shape == (*leading, QUERIES, D_V)
    assert weights.shape == (*leading, QUERIES, KEYS)


def test_leading_axes_broadcast(rng):
    query, key, value = example(rng)
    output, _ = scaled_dot_product_attention(query, key[:, :1], value[:1])
    expected, _ = scaled_dot_product_attention(
        query, key[:, :1].expand(-1, HEADS, -1, -1), value[:1].expand(BATCH, -1, -1, -1)
    )
    torch.testing.assert_close(output, expected)


def test_rows_sum_to_one_hidden_keys_and_rows_that_see_nothing_are_zero(rng):
    mask = some_mask(rng)
    mask[0, 1, 2] = False
    output, weights = scaled_dot_product_attention(*example(rng), mask)
    torch.testing.assert_close(weights.sum(-1), mask.any(-1).float())
    assert (weights[~mask] == 0).all()
    assert (output[0, 1, 2] == 0).all()


def test_no_keys_at_all_give_zero(rng):
    query, key, value = example(rng)
    output, weights = scaled_dot_product_attention(
        query, key[..., :0, :], value[..., :0, :]
    )
    assert weights.shape[-1] == 0
    assert (output == 0).all()
    assert output.shape == (BATCH, HEADS, QUERIES, D_V)


def test_gradients_are_those_of_finite_differences(rng):
    tensors = [t.requires_grad_() for t in example(rng, torch.float64, leading=(2,))]
    mask = torch.rand(QUERIES, KEYS, generator=rng) < 0.5
    mask[0] = False
    bias = torch.randn(QUERIES, KEYS, generator=rng, dtype=torch.float64)
    bias.requires_grad_()
    assert torch.autograd.gradcheck(
        lambda q, k, v, b: scaled_dot_product_attention(q, k, v, mask, bias=b),
        (*tensors, bias),
    )


def test_large_scores_do_not_overflow_in_half_precision():
    query = torch.full((1, 64), 60.0, dtype=torch.float16)
    key = torch.stack([query[0], -query[0]])
    assert torch.isinf(query @ key.T).any(), "the unscaled scores overflow"
    output, weights = scaled_dot_product_attention(query, key, torch.eye(2).half())
    torch.testing.assert_close(weights, torch.tensor([[1.0, 0.0]]).half())
    assert output.isfinite().all()


def test_the_bias_is_added_to_the_scaled_scores(rng):
    query, key, value = example(rng)
    bias = torch.randn(HEADS, QUERIES, KEYS, generator=rng)
    output, _ = scaled_dot_product_attention(query, key, value, bias=bias)
    expected = F.scaled_dot_product_attention(
        query, key, value, attn_mask=bias.expand(BATCH, -1, -1, -1)
    )
    torch.testing.assert_close(output, expected, atol=1e-6, rtol=0)


def test_dropout_changes_the_output_and_not_the_weights(rng):
    inputs = example(rng)
    torch.manual_seed(0)
    output, weights = scaled_dot_product_attention(*inputs, dropout=0.5)
    plain_output, plain_weights = scaled_dot_product_attention(*inputs)
    torch.testing.assert_close(weights, plain_weights)
    assert (output - plain_output).abs().max() > 0.01


@pytest.mark.parametrize("with_mask", [False, True])
@pytest.mark.parametrize("with_bias", [False, True])
def test_the_fused_path_gives_the_same_output_and_gradient(rng, with_mask, with_bias):
    inputs = example(rng)
    mask = bias = None
    if with_mask:
        mask = some_mask(rng)
        mask[1, :, 3] = False
    if with_bias:
        bias = torch.randn(HEADS, QUERIES, KEYS, generator=rng)
    results = []
    for function in (scaled_dot_product_attention, fused_attention):
        tensors = [t.clone().requires_grad_() for t in inputs]
        result = function(*tensors, mask, bias=bias)
        output = result[0] if isinstance(result, tuple) else result
        output.square().sum().backward()
        results.append([output, *(t.grad for t in tensors)])
    for ours, fused in zip(*results, strict=True):
        torch.testing.assert_close(ours, fused, atol=5e-6, rtol=1e-5)


test_bad_input_is_named = refuses(
    (lambda q, k, v: (q.int(), k, v), TypeError, "embedded first"),
    (lambda q, k, v: (q.double(), k, v), TypeError, "the same dtype"),
    (lambda q, k, v: (q.tolist(), k, v), TypeError, "query must be a torch.Tensor"),
    (lambda q, k, v: (q.to("meta"), k, v), "the same device"),
    (lambda q, k, v: (q[0, 0, 0], k, v), "query must have at least 2"),
    (lambda q, k, v: (q, k[..., :3], v), "key must have 11 entries"),
    (lambda q, k, v: (q[..., :0], k[..., :0], v), "one feature"),
    (lambda q, k, v: (q, k[..., :3, :], v), "one value for each key"),
    (lambda q, k, v: (q, k[:, :2], v[:, :2]), "leading"),
    (lambda q, k, v: (q, k, v, torch.ones(5, 7)), TypeError, "mask == 1"),
    (lambda q, k, v: (q, k, v, [[True]]), TypeError, "got list"),
    (
        lambda q, k, v: (q, k, v, torch.ones(7, 5, dtype=torch.bool)),
        r"broadcastable to \(..., queries, keys\) = \(2, 3, 5, 7\)",
    ),
    (
        lambda q, k, v: (q, k, v, torch.ones(5, 7, dtype=bool, device="meta")),
        "mask is on meta",
    ),
    run=lambda change: scaled_dot_product_attention(*change(*example(generator()))),
)


test_a_bad_bias_is_named = refuses(
    (torch.ones(5, 7, dtype=torch.bool), TypeError, "bias must hold floating"),
    (torch.ones(7, 5), "bias must be broadcastable"),
    run=lambda bias, attend: attend(*example(generator()), bias=bias),
    over=[scaled_dot_product_attention, fused_attention],
)
