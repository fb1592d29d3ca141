"""What the attentions without a full matrix of scores promise alike."""

from functools import partial
from itertools import product

import pytest
import torch

from attncourse.layers.blockwise import blockwise_attention
from attncourse.layers.linear import linear_attention
from attncourse.layers.local import local_attention, local_attention_in_blocks
from attncourse.layers.sparse import block_sparse_attention, window_blocks
from attncourse.training.memory import count_elements
from tests.layers.attending import assert_same_gradients, draw
from tests.refusing import generator, refuses


def in_all_blocks(query, key, value, **options):
    count = (-(-query.shape[-2] // 4), -(-key.shape[-2] // 4))
    blocks = torch.ones(count, dtype=torch.bool)
    return block_sparse_attention(query, key, value, blocks, block_size=4, **options)


LOCAL = {
    "local": partial(local_attention, window=3),
    "local in blocks": partial(local_attention_in_blocks, window=3),
    "causal linear": partial(linear_attention, causal=True),
}
CROSS = {
    "blockwise": partial(blockwise_attention, block_size=4),
    "block-sparse": in_all_blocks,
    "linear": linear_attention,
}
ALL = LOCAL | CROSS


EMPTY = [((0,), 13, 13), ((2,), 0, 0), ((), 0, 0), ((2, 0, 3), 11, 11)]
OTHER_KEYS = [((0,), 5, 7), ((2,), 0, 7), ((2,), 5, 0)]


@pytest.mark.parametrize(
    ("name", "size"),
    [*product(ALL, EMPTY), *product(CROSS, OTHER_KEYS)],
)
def test_without_batch_queries_or_keys_there_is_nothing(rng, name, size):
    leading, queries, keys = size
    inputs = [x.requires_grad_() for x in draw(rng, leading, queries, keys)]
    output = ALL[name](*inputs)
    assert output.shape == (*leading, queries, 7)
    assert (output == 0).all()
    output.sum().backward()
    assert all((x.grad == 0).all() for x in inputs)


@pytest.mark.parametrize("name", ALL)
def test_leading_axes_broadcast_and_their_gradients_are_summed(rng, name):
    shapes = (2, 3, 41, 5), (1, 3, 41, 5), (41, 7)
    inputs = [torch.randn(s, generator=rng).requires_grad_() for s in shapes]
    got = ALL[name](*inputs)
    expected = ALL[name](*(x.expand(2, 3, 41, -1) for x in inputs))
    torch.testing.assert_close(got, expected)
    assert_same_gradients(got, expected, inputs)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_within_its_rounding(rng, name, dtype):
    inputs = [(3 * x).to(dtype).requires_grad_() for x in draw(rng, (2,), 83)]
    exact = [x.detach().double().requires_grad_() for x in inputs]
    got, expected = ALL[name](*inputs), ALL[name](*exact)
    assert got.dtype == dtype
    eps = torch.finfo(dtype).eps
    torch.testing.assert_close(got.double(), expected, rtol=4 * eps, atol=4 * eps)
    got.sum().backward()
    expected.sum().backward()
    for ours, theirs in zip(inputs, exact, strict=True):
        assert ours.grad.dtype == dtype
        difference = (ours.grad.double() - theirs.grad).abs() / (1 + theirs.grad.abs())
        assert difference.max() <= 32 * eps


def sparse(blocks, *inputs):
    return block_sparse_attention(*inputs, blocks, block_size=32)


ALL_BLOCKS = torch.ones(128, 128, dtype=torch.bool)


@pytest.mark.parametrize(
    ("attend", "most"),
    [
        # the scores of two windows for each query, and of a block
        (partial(local_attention, window=64, causal=True), 2 * 64),
        (partial(local_attention_in_blocks, window=64, causal=True), 2 * 64),
        (partial(sparse, window_blocks(128, 1)), 4 * 32),
        (partial(sparse, ALL_BLOCKS), 4 * 32),
        (partial(blockwise_attention, block_size=32), 32),
        (linear_attention, 2 * 16),
        (partial(linear_attention, causal=True), 64),
    ],
)
def test_memory_does_not_grow_with_the_square(rng, attend, most):
    inputs = [torch.randn(4096, 16, generator=rng).requires_grad_() for _ in "qkv"]
    made = count_elements(lambda: attend(*inputs).sum().backward())
    assert made.largest <= 4096 * most  # in full: 4096²


@pytest.mark.parametrize("name", ["local", "local in blocks"])
def test_a_window_beyond_the_sequence_makes_no_large_tensor(rng, name):
    inputs = draw(rng, (), 31)
    attend = partial(ALL[name], *inputs, window=10**9)
    assert count_elements(attend).largest < 2**15
    full = torch.nn.functional.scaled_dot_product_attention(*inputs)
    torch.testing.assert_close(attend(), full)


@pytest.mark.parametrize("name", ["local", "blockwise"])
def test_a_second_derivative_is_refused(rng, name):
    inputs = [x.requires_grad_() for x in draw(rng, (), 23)]
    output = ALL[name](*inputs).sum()
    with pytest.raises(RuntimeError, match=f"{name}_attention cannot be diff"):
        torch.autograd.grad(output, inputs, create_graph=True)


test_inputs_that_do_not_fit_are_refused = refuses(
    (lambda q, k, v: (q, k, v[:, :7]), "same number of tokens"),
    (lambda q, k, v: (q, k[..., :3], v), "d_k of the query"),
    (lambda q, k, v: (q, k.double(), v), TypeError, "key has torch"),
    (lambda q, k, v: (q, k, v.to("meta")), "value is on meta"),
    (lambda q, k, v: (q.long(), k, v), TypeError, "floating point"),
    (lambda q, k, v: (q.numpy(), k, v), TypeError, "query must be a"),
    run=lambda change, name: ALL[name](*change(*draw(generator(), (2,), 11))),
    over=ALL,
)


@pytest.mark.parametrize("name", LOCAL)
def test_as_many_keys_as_queries_are_needed_for_distances(rng, name):
    with pytest.raises(ValueError, match="11 queries and 7 keys"):
        LOCAL[name](*draw(rng, (2,), 11, 7))
