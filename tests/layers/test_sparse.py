import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attncourse.layers.sparse import (
    block_sparse_attention,
    expand_blocks,
    global_blocks,
    strided_blocks,
    window_blocks,
)
from tests.layers.attending import assert_same_gradients, draw, masked
from tests.refusing import generator, refuses


def token_mask(blocks, size, queries, keys, causal=False):
    i, j = torch.arange(queries)[:, None], torch.arange(keys)
    mask = blocks[i // size, j // size]
    return mask & (j <= i) if causal else mask


@settings(deadline=None, max_examples=100)
@given(
    queries=st.integers(1, 59),
    keys=st.integers(1, 59),
    size=st.integers(1, 70),
    density=st.sampled_from([0.0, 0.2, 0.5, 1.0]),
    causal=st.booleans(),
    leading=st.lists(st.integers(1, 3), max_size=3),
    seed=st.integers(0, 2**31),
)
def test_equals_masked_full_attention(
    queries, keys, size, density, causal, leading, seed
):
    rng = torch.Generator().manual_seed(seed)
    if causal:
        keys = queries
    inputs = draw(rng, leading, queries, keys)
    grid = math.ceil(queries / size), math.ceil(keys / size)
    blocks = torch.rand(grid, generator=rng) < density
    got = block_sparse_attention(*inputs, blocks, block_size=size, causal=causal)
    mask = token_mask(blocks, size, queries, keys, causal)
    torch.testing.assert_close(got, masked(*inputs, mask), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("causal", [True, False])
def test_gradients_equal_those_of_masked_full_attention(rng, causal):
    inputs = [t.requires_grad_() for t in draw(rng, (2, 3), 83, 83)]
    blocks = torch.rand(12, 12, generator=rng) < 0.3
    blocks[5] = False
    got = block_sparse_attention(*inputs, blocks, block_size=7, causal=causal)
    expected = masked(*inputs, token_mask(blocks, 7, 83, 83, causal))
    assert_same_gradients(got, expected, inputs)


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


test_patterns_of_impossible_size_are_refused = refuses(
    (lambda: window_blocks(0, 1), "num_blocks must be at least 1, but got 0"),
    (lambda: window_blocks(3, -1), "window must be at least 0, but got -1"),
    (lambda: strided_blocks(3, 0), "stride must be at least 1, but got 0"),
    (lambda: global_blocks(3, -2), "count must be at least 0, but got -2"),
    (lambda: global_blocks(-3, 1), "num_blocks must be at least 1, but got -3"),
    (
        lambda: expand_blocks(window_blocks(3, 1), 4, 13, 12),
        r"\(4, 3\) for 13 queries and 12 keys in blocks of 4, .* is \(3, 3\)",
    ),
)


OK = torch.ones(3, 4, dtype=torch.bool)
test_arguments_that_do_not_fit_are_refused = refuses(
    ({"block_size": 0}, "block_size must be at least 1, but got 0"),
    ({"block_size": 2.0}, TypeError, "block_size must be a whole number"),
    ({"causal": True}, "11 queries and 13 keys"),
    ({"block_size": 5}, r"\(3, 3\) for 11 queries and 13 keys"),
    ({"block_mask": OK.float()}, TypeError, "torch.float32. Convert a 0/1"),
    ({"block_mask": [[True]]}, TypeError, "boolean tensor, .* but got list"),
    ({"block_mask": OK.expand(2, 3, 4)}, r"its shape is \(2, 3, 4\)"),
    ({"block_mask": OK.to("meta")}, "block_mask is on meta where cpu was expected"),
    run=lambda changes: block_sparse_attention(
        *draw(generator(), (2,), 11, 13),
        **{"block_mask": OK, "block_size": 4, **changes},
    ),
)
