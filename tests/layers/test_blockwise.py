import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

from attncourse.layers.blockwise import blockwise_attention


def draw(rng, leading, queries, keys, dtype=torch.float32):
    return [
        torch.randn(*leading, *size, generator=rng, dtype=torch.float64).to(dtype)
        for size in ((queries, 5), (keys, 5), (keys, 7))
    ]


def rounded(dtype, factor):
    return {"rtol": factor * torch.finfo(dtype).eps, "atol": factor * 1e-3}


class LargestTensor(TorchDispatchMode):
    """Notes the largest number of entries in any tensor that is made."""

    largest = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        for tensor in result if isinstance(result, tuple | list) else [result]:
            if isinstance(tensor, torch.Tensor):
                self.largest = max(self.largest, tensor.numel())
        return result


@settings(deadline=None, max_examples=60)
@given(
    queries=st.integers(1, 40),
    keys=st.integers(1, 97),
    block_size=st.integers(1, 110),
    leading=st.lists(st.integers(1, 3), max_size=3),
    masked=st.booleans(),
    seed=st.integers(0, 2**31),
)
def test_equals_full_attention(queries, keys, block_size, leading, masked, seed):
    rng = torch.Generator().manual_seed(seed)
    inputs = [3 * t for t in draw(rng, leading, queries, keys)]
    mask = torch.rand(queries, keys, generator=rng) < 0.4 if masked else None
    expected = F.scaled_dot_product_attention(*inputs, attn_mask=mask)
    if masked:
        expected = expected.masked_fill(~mask.any(-1, keepdim=True), 0.0)
    got = blockwise_attention(*inputs, mask, block_size=block_size)
    torch.testing.assert_close(got, expected, rtol=1e-4, atol=3e-5)


@pytest.mark.parametrize("block_size", [1, 7, 13, 31, 50])
@pytest.mark.parametrize("masked", [True, False])
def test_gradcheck(rng, block_size, masked):
    inputs = draw(rng, (2,), 11, 31, torch.float64)
    inputs = [t.requires_grad_() for t in inputs]
    mask = torch.rand(2, 11, 31, generator=rng) < 0.4 if masked else None
    if masked:
        mask[0, 3] = False
        mask[1, 5, :20] = False
    assert torch.autograd.gradcheck(
        lambda *t: blockwise_attention(*t, mask, block_size=block_size),
        inputs,
        fast_mode=True,
    )


@pytest.mark.parametrize("shape", [(13,), (11, 1), (1, 13), (3, 1, 1, 13), (1,)])
def test_masks_broadcast(rng, shape):
    inputs = draw(rng, (3, 2), 11, 13)
    mask = torch.rand(shape, generator=rng) < 0.7
    mask[..., 0] = True
    whole = mask.expand(3, 2, 11, 13)
    torch.testing.assert_close(
        blockwise_attention(*inputs, mask, block_size=4),
        F.scaled_dot_product_attention(*inputs, attn_mask=whole),
        rtol=1e-5,
        atol=1e-5,
    )


def test_a_row_without_keys_is_zero_with_a_zero_gradient(rng):
    inputs = [t.requires_grad_() for t in draw(rng, (2,), 11, 13)]
    mask = torch.ones(11, 13, dtype=torch.bool)
    mask[4] = False
    output = blockwise_attention(*inputs, mask, block_size=5)
    assert (output[:, 4] == 0).all()
    assert (output[:, 3] != 0).all()
    output.square().sum().backward()
    assert (inputs[0].grad[:, 4] == 0).all()
    assert all(t.grad.isfinite().all() for t in inputs)


def test_scores_that_rise_from_block_to_block_neither_overflow_nor_vanish():
    query = torch.full((1, 1), 100.0)
    key = torch.arange(40.0)[:, None]
    value = torch.arange(40.0)[:, None]
    for order in (slice(None), torch.arange(39, -1, -1)):
        output = blockwise_attention(query, key[order], value[order], block_size=3)
        torch.testing.assert_close(output, torch.full((1, 1), 39.0))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_within_its_rounding(rng, dtype):
    inputs = [(3 * t).requires_grad_() for t in draw(rng, (2,), 37, 83, dtype)]
    inputs = [t.detach().requires_grad_() for t in inputs]
    exact = [t.detach().double().requires_grad_() for t in inputs]
    got = blockwise_attention(*inputs, block_size=16)
    expected = F.scaled_dot_product_attention(*exact)
    assert got.dtype == dtype
    torch.testing.assert_close(got.double(), expected, **rounded(dtype, 2))
    got.sum().backward()
    expected.sum().backward()
    for g, e in zip(inputs, exact, strict=True):
        assert g.grad.dtype == dtype
        torch.testing.assert_close(g.grad.double(), e.grad, **rounded(dtype, 16))


def test_memory_is_queries_times_the_block_forward_and_backward(rng):
    inputs = [t.requires_grad_() for t in draw(rng, (2,), 1021, 2039)]
    with LargestTensor() as memory:
        blockwise_attention(*inputs, block_size=32).sum().backward()
    assert memory.largest <= 2 * 1021 * 32  # in full: 2 * 1021 * 2039


def test_leading_axes_broadcast(rng):
    query = torch.randn(2, 3, 11, 5, generator=rng, requires_grad=True)
    key = torch.randn(3, 13, 5, generator=rng, requires_grad=True)
    value = torch.randn(13, 7, generator=rng, requires_grad=True)
    got = blockwise_attention(query, key, value, block_size=4)
    expected = F.scaled_dot_product_attention(
        query, key.expand(2, 3, 13, 5), value.expand(2, 3, 13, 7)
    )
    torch.testing.assert_close(got, expected, rtol=1e-4, atol=3e-5)
    got.square().sum().backward()
    own = [t.grad.clone() for t in (query, key, value)]
    for t in (query, key, value):
        t.grad = None
    expected.square().sum().backward()
    for g, t in zip(own, (query, key, value), strict=True):
        torch.testing.assert_close(g, t.grad, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("leading", "queries", "keys"),
    [((0,), 5, 7), ((2,), 0, 7), ((2,), 5, 0), ((), 0, 0)],
)
def test_empty_inputs_give_empty_or_zero_outputs(rng, leading, queries, keys):
    inputs = [t.requires_grad_() for t in draw(rng, leading, queries, keys)]
    output = blockwise_attention(*inputs, block_size=4)
    assert output.shape == (*leading, queries, 7)
    assert (output == 0).all()
    output.sum().backward()
    assert all((t.grad == 0).all() for t in inputs)


def test_a_second_derivative_is_refused(rng):
    inputs = [t.requires_grad_() for t in draw(rng, (), 5, 7)]
    output = blockwise_attention(*inputs)
    with pytest.raises(RuntimeError, match="blockwise_attention cannot be diff"):
        torch.autograd.grad(output.sum(), inputs, create_graph=True)


@pytest.mark.parametrize(
    ("size", "error", "message"),
    [
        (0, ValueError, "block_size must be at least 1, but got 0"),
        (-8, ValueError, "block_size must be at least 1, but got -8"),
        (1.5, TypeError, "block_size must be a whole number, but got 1.5"),
        ("8", TypeError, "block_size must be a whole number, but got '8'"),
    ],
)
def test_a_block_size_that_is_no_positive_whole_number_is_refused(
    rng, size, error, message
):
    with pytest.raises(error, match=message):
        blockwise_attention(*draw(rng, (), 5, 7), block_size=size)


def test_inputs_and_masks_that_do_not_fit_are_refused(rng):
    query, key, value = draw(rng, (2,), 5, 7)
    with pytest.raises(ValueError, match="same number of tokens"):
        blockwise_attention(query, key, value[:, :3])
    with pytest.raises(TypeError, match="key has torch"):
        blockwise_attention(query, key.double(), value)
    with pytest.raises(TypeError, match="mask must be a boolean tensor"):
        blockwise_attention(query, key, value, torch.ones(5, 7))
    with pytest.raises(ValueError, match="mask must be broadcastable"):
        blockwise_attention(query, key, value, torch.ones(7, 5, dtype=torch.bool))
