import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

from attncourse.layers.sparse import (
    block_sparse_attention,
    expand_blocks,
    global_blocks,
    strided_blocks,
    window_blocks,
)


def draw(rng, leading, queries, keys, dtype=torch.float32):
    return [
        torch.randn(*leading, *size, generator=rng, dtype=torch.float64).to(dtype)
        for size in ((queries, 5), (keys, 5), (keys, 7))
    ]


def token_mask(blocks, size, queries, keys, leading=0, causal=False):
    mask = torch.zeros(queries, keys, dtype=torch.bool)
    for i in range(queries):
        for j in range(keys):
            seen = blocks[i // size, j // size] or i < leading or j < leading
            mask[i, j] = bool(seen) and (j <= i or not causal)
    return mask


def masked(query, key, value, mask):
    empty = ~mask.any(-1, keepdim=True)
    output = F.scaled_dot_product_attention(query, key, value, attn_mask=mask | empty)
    return output.masked_fill(empty, 0.0)


class LargestTensor(TorchDispatchMode):
    """Notes the largest number of entries in any tensor that is made."""

    largest = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        for tensor in result if isinstance(result, tuple | list) else [result]:
            if isinstance(tensor, torch.Tensor):
                self.largest = max(self.largest, tensor.numel())
        return result


@settings(deadline=None, max_examples=100)
@given(
    queries=st.integers(1, 59),
    keys=st.integers(1, 59),
    size=st.integers(1, 70),
    density=st.sampled_from([0.0, 0.2, 0.5, 1.0]),
    leading_tokens=st.sampled_from([0, 0, 1, 3, 17, 80]),
    causal=st.booleans(),
    leading=st.lists(st.integers(1, 3), max_size=3),
    seed=st.integers(0, 2**31),
)
def test_equals_masked_full_attention(
    queries, keys, size, density, leading_tokens, causal, leading, seed
):
    rng = torch.Generator().manual_seed(seed)
    if causal:
        keys = queries
    inputs = draw(rng, leading, queries, keys)
    grid = math.ceil(queries / size), math.ceil(keys / size)
    blocks = torch.rand(grid, generator=rng) < density
    got = block_sparse_attention(
        *inputs, blocks, block_size=size, global_tokens=leading_tokens, causal=causal
    )
    mask = token_mask(blocks, size, queries, keys, leading_tokens, causal)
    torch.testing.assert_close(got, masked(*inputs, mask), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("leading", [0, 2, 9])
@pytest.mark.parametrize("causal", [True, False])
def test_gradients_equal_those_of_masked_full_attention(rng, leading, causal):
    inputs = [t.requires_grad_() for t in draw(rng, (2, 3), 83, 83)]
    blocks = torch.rand(12, 12, generator=rng) < 0.3
    blocks[5] = False
    got = block_sparse_attention(
        *inputs, blocks, block_size=7, global_tokens=leading, causal=causal
    )
    expected = masked(*inputs, token_mask(blocks, 7, 83, 83, leading, causal))
    upstream = torch.randn(got.shape, generator=rng)
    for g, e in zip(
        torch.autograd.grad(got, inputs, upstream),
        torch.autograd.grad(expected, inputs, upstream),
        strict=True,
    ):
        torch.testing.assert_close(g, e, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("causal", [True, False])
def test_gradcheck(rng, causal):
    inputs = [t.requires_grad_() for t in draw(rng, (2,), 23, 23, torch.float64)]
    blocks = window_blocks(5, 1) | strided_blocks(5, 3)
    blocks[2] = False
    assert torch.autograd.gradcheck(
        lambda *t: block_sparse_attention(
            *t, blocks, block_size=5, global_tokens=1, causal=causal
        ),
        inputs,
        fast_mode=True,
    )


def test_rows_without_any_key_are_zero_with_a_zero_gradient(rng):
    inputs = [t.requires_grad_() for t in draw(rng, (2,), 31, 31)]
    blocks = torch.ones(5, 5, dtype=torch.bool)
    blocks[1] = False
    output = block_sparse_attention(*inputs, blocks, block_size=7)
    assert (output[:, 7:14] == 0).all()
    assert (output[:, :7] != 0).all()
    assert (output[:, 14:] != 0).all()
    output.square().sum().backward()
    assert (inputs[0].grad[:, 7:14] == 0).all()
    assert all(t.grad.isfinite().all() for t in inputs)


def test_a_mask_without_any_block_gives_zeros_and_zero_gradients(rng):
    inputs = [t.requires_grad_() for t in draw(rng, (2,), 13, 13)]
    output = block_sparse_attention(
        *inputs, torch.zeros(4, 4, dtype=torch.bool), block_size=4
    )
    output.sum().backward()
    assert (output == 0).all()
    assert all((t.grad == 0).all() for t in inputs)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_within_its_rounding(rng, dtype):
    inputs = [(3 * t).to(dtype) for t in draw(rng, (2,), 83, 83)]
    blocks = window_blocks(12, 1) | global_blocks(12, 1)
    got = block_sparse_attention(*inputs, blocks, block_size=7)
    exact = [t.double() for t in inputs]
    expected = masked(*exact, token_mask(blocks, 7, 83, 83))
    assert got.dtype == dtype
    eps = torch.finfo(dtype).eps
    torch.testing.assert_close(got.double(), expected, rtol=4 * eps, atol=4 * eps)


@pytest.mark.parametrize("pattern", ["window", "all"])
def test_memory_does_not_grow_with_the_square(rng, pattern):
    tokens, size = 4096, 32
    inputs = [torch.randn(tokens, 16, generator=rng, requires_grad=True) for _ in "qkv"]
    blocks = window_blocks(tokens // size, 1)
    if pattern == "all":
        blocks = torch.ones_like(blocks)
    with LargestTensor() as memory:
        block_sparse_attention(*inputs, blocks, block_size=size).sum().backward()
    assert memory.largest <= 5 * tokens * max(size, 16)  # in full: tokens²


def test_leading_axes_broadcast(rng):
    query = torch.randn(2, 3, 11, 5, generator=rng)
    key, value = torch.randn(3, 13, 5, generator=rng), torch.randn(13, 7, generator=rng)
    blocks = torch.rand(3, 4, generator=rng) < 0.6
    got = block_sparse_attention(query, key, value, blocks, block_size=4)
    whole = query, key.expand(2, 3, 13, 5), value.expand(2, 3, 13, 7)
    expected = masked(*whole, token_mask(blocks, 4, 11, 13))
    torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("leading_tokens", [0, 2])
@pytest.mark.parametrize(
    ("leading", "queries", "keys"),
    [((0,), 5, 7), ((2,), 0, 7), ((2,), 5, 0), ((), 0, 0)],
)
def test_empty_inputs_give_empty_or_zero_outputs(
    rng, leading, queries, keys, leading_tokens
):
    inputs = [t.requires_grad_() for t in draw(rng, leading, queries, keys)]
    blocks = torch.ones(-(-queries // 4), -(-keys // 4), dtype=torch.bool)
    output = block_sparse_attention(
        *inputs, blocks, block_size=4, global_tokens=leading_tokens
    )
    assert output.shape == (*leading, queries, 7)
    assert (output == 0).all()
    output.sum().backward()
    assert all((t.grad == 0).all() for t in inputs)


def test_window_blocks_see_their_neighbours():
    assert window_blocks(4, 1).int().tolist() == [
        [1, 1, 0, 0],
        [1, 1, 1, 0],
        [0, 1, 1, 1],
        [0, 0, 1, 1],
    ]
    assert torch.equal(window_blocks(5, 0), torch.eye(5, dtype=torch.bool))
    assert window_blocks(5, 9).all()


def test_strided_blocks_see_every_stride_th_block():
    assert strided_blocks(5, 2).int().tolist() == [
        [1, 0, 1, 0, 1],
        [0, 1, 0, 1, 0],
        [1, 0, 1, 0, 1],
        [0, 1, 0, 1, 0],
        [1, 0, 1, 0, 1],
    ]
    assert strided_blocks(5, 1).all()


def test_global_blocks_see_all_and_are_seen_by_all():
    assert global_blocks(3, 1).int().tolist() == [[1, 1, 1], [1, 0, 0], [1, 0, 0]]
    assert not global_blocks(3, 0).any()
    assert global_blocks(3, 7).all()


def test_expanded_blocks_are_cut_to_the_tokens(rng):
    blocks = torch.rand(3, 5, generator=rng) < 0.5
    assert torch.equal(expand_blocks(blocks, 4, 11, 17), token_mask(blocks, 4, 11, 17))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: window_blocks(0, 1), "num_blocks must be at least 1, but got 0"),
        (lambda: window_blocks(3, -1), "window must be at least 0, but got -1"),
        (lambda: strided_blocks(3, 0), "stride must be at least 1, but got 0"),
        (lambda: global_blocks(3, -2), "count must be at least 0, but got -2"),
        (lambda: global_blocks(-3, 1), "num_blocks must be at least 1, but got -3"),
        (
            lambda: expand_blocks(window_blocks(3, 1), 4, 13, 12),
            r"\(4, 3\) for 13 queries and 12 keys in blocks of 4, .* is \(3, 3\)",
        ),
    ],
)
def test_patterns_of_impossible_size_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"block_size": 0}, ValueError, "block_size must be at least 1, but got 0"),
        ({"block_size": 2.0}, TypeError, "block_size must be a whole number"),
        ({"global_tokens": -1}, ValueError, "global_tokens must be at least 0"),
        ({"causal": True}, ValueError, "11 queries and 13 keys"),
        ({"block_size": 5}, ValueError, r"\(3, 3\) for 11 queries and 13 keys"),
        ({"block_mask": torch.ones(3, 4)}, TypeError, "torch.float32. Convert a 0/1"),
        ({"block_mask": [[True]]}, TypeError, "boolean tensor, .* but got list"),
        (
            {"block_mask": torch.ones(2, 3, 4, dtype=torch.bool)},
            ValueError,
            r"its shape is \(2, 3, 4\)",
        ),
        (
            {"block_mask": torch.ones(3, 4, dtype=torch.bool, device="meta")},
            ValueError,
            "block_mask is on meta where cpu was expected",
        ),
    ],
)
def test_arguments_that_do_not_fit_are_refused(rng, changes, error, message):
    arguments = {"block_mask": torch.ones(3, 4, dtype=torch.bool), "block_size": 4}
    with pytest.raises(error, match=message):
        block_sparse_attention(*draw(rng, (2,), 11, 13), **(arguments | changes))


def test_tensors_that_do_not_fit_are_refused(rng):
    query, key, value = draw(rng, (2,), 11, 13)
    blocks = torch.ones(3, 4, dtype=torch.bool)
    with pytest.raises(TypeError, match="key has torch"):
        block_sparse_attention(query, key.double(), value, blocks, block_size=4)
    with pytest.raises(ValueError, match="same number of tokens"):
        block_sparse_attention(query, key, value[:, :3], blocks, block_size=4)
