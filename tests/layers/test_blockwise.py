import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from attncourse.layers.blockwise import blockwise_attention
from tests.layers.attending import draw
from tests.refusing import generator, refuses


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


def test_scores_that_rise_from_block_to_block_neither_overflow_nor_vanish():
    query = torch.full((1, 1), 100.0)
    key = torch.arange(40.0)[:, None]
    value = torch.arange(40.0)[:, None]
    for order in (slice(None), torch.arange(39, -1, -1)):
        output = blockwise_attention(query, key[order], value[order], block_size=3)
        torch.testing.assert_close(output, torch.full((1, 1), 39.0))


MASK = torch.ones(5, 7, dtype=torch.bool)
test_what_does_not_fit_is_refused = refuses(
    ({"block_size": 0}, "block_size must be at least 1, but got 0"),
    ({"block_size": -8}, "block_size must be at least 1, but got -8"),
    ({"block_size": 1.5}, TypeError, "must be a whole number, but got 1.5"),
    ({"block_size": "8"}, TypeError, "must be a whole number, but got '8'"),
    ({"mask": MASK.float()}, TypeError, "mask must be a boolean tensor"),
    ({"mask": MASK.T}, "mask must be broadcastable"),
    run=lambda options: blockwise_attention(*draw(generator(), (2,), 5, 7), **options),
)
