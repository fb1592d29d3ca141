"""Relative positions against loops, closed forms and the papers' values."""

import math
from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attncourse.layers.masks import create_causal_mask
from attncourse.layers.relative import (
    T5RelativeBias,
    alibi_bias,
    alibi_slopes,
    relative_positions,
    t5_buckets,
)
from attncourse.layers.rotary import (
    apply_rotary,
    interpolated_frequencies,
    ntk_frequencies,
    rotary_frequencies,
    yarn_frequencies,
)
from attncourse.layers.shaw import ShawAttention
from attncourse.models.transformer import Transformer
from tests.refusing import refuses

DOUBLE = torch.float64


def draw(*shape, seed=0, dtype=DOUBLE):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=dtype)


# Distances


def test_relative_positions_count_keys_to_the_right_of_the_query():
    expected = [[0, 1, 2], [-1, 0, 1]]
    assert relative_positions(2, 3).tolist() == expected
    assert relative_positions(1, 3, query_offset=2).tolist() == [[-2, -1, 0]]
    assert relative_positions(0, 3).shape == (0, 3)


# ALiBi


def slopes_of_the_authors(heads):
    """Return the slopes by the program that the authors published."""
    power = 2 ** int(math.log2(heads))
    slopes = [2.0 ** (-8 * (h + 1) / power) for h in range(power)]
    if power < heads:
        slopes += slopes_of_the_authors(2 * power)[0::2][: heads - power]
    return slopes


@given(heads=st.integers(1, 70))
@settings(deadline=None, max_examples=30)
def test_alibi_slopes_are_those_of_the_authors_program(heads):
    expected = torch.tensor(slopes_of_the_authors(heads))
    torch.testing.assert_close(alibi_slopes(heads), expected)


def test_alibi_bias_equals_a_loop():
    heads, queries, keys = 3, 5, 7
    bias = alibi_bias(heads, queries, keys)
    assert bias.shape == (heads, queries, keys)
    for h in range(heads):
        for i in range(queries):
            for j in range(keys):
                expected = -alibi_slopes(heads)[h].item() * abs(i - j)
                assert bias[h, i, j].item() == pytest.approx(expected)


# T5


def slow_bucket(position, num_buckets, max_distance, bidirectional):
    """Re-derive the bucket in the authors' way: with logarithms, one at a time."""
    bucket = 0
    if bidirectional:
        num_buckets //= 2
        if position > 0:
            bucket = num_buckets
        distance = abs(position)
    else:
        distance = max(0, -position)
    exact = num_buckets // 2
    if distance < exact:
        return bucket + distance
    share = math.log(distance / exact) / math.log(max_distance / exact)
    # The logarithm of a whole power comes out a hair too small at times.
    step = math.floor(share * (num_buckets - exact) + 1e-9)
    return bucket + min(exact + step, num_buckets - 1)


@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize(
    ("num_buckets", "max_distance"),
    [(32, 128), (16, 20), (32, 20), (6, 5), (10, 37), (4, 1000), (64, 128)],
)
def test_t5_buckets_equal_a_slow_rederivation(num_buckets, max_distance, bidirectional):
    reach = 2 * max_distance
    positions = torch.arange(-reach, reach, dtype=torch.int32).view(2, reach, 1)
    buckets = t5_buckets(positions, num_buckets, max_distance, bidirectional)
    expected = [
        slow_bucket(p, num_buckets, max_distance, bidirectional)
        for p in range(-reach, reach)
    ]
    assert buckets.shape == (2, reach, 1)
    assert buckets.flatten().tolist() == expected
    assert buckets.dtype == torch.int64


def test_t5_bias_looks_up_one_number_for_each_head_and_bucket():
    layer = T5RelativeBias(3, num_buckets=10, max_distance=11, scale=7).to(DOUBLE)
    layer.table.data = draw(10, 3)
    bias = layer(5, 7, query_offset=1)
    assert bias.shape == (3, 5, 7)
    for i in range(5):
        for j in range(7):
            row = slow_bucket(j - i - 1, 10, 11, bidirectional=True)
            torch.testing.assert_close(bias[:, i, j], 7 * layer.table[row])


def test_t5_bias_starts_without_positions_and_learns_every_bucket_it_meets():
    layer = T5RelativeBias(2, num_buckets=8, max_distance=19, bidirectional=False)
    assert not layer(4, 4).any()
    layer(20, 20).sum().backward()
    assert (layer.table.grad > 0).all()


test_t5_bias_refuses_numbers_that_do_not_fit = refuses(
    ({"num_buckets": 31}, "num_buckets must be even"),
    ({"num_buckets": 2}, "num_buckets must be at least 4"),
    ({"max_distance": 8}, "max_distance must exceed 8"),
    ({"max_distance": 16, "bidirectional": False}, "max_distance must exceed 16"),
    ({"num_heads": 0}, "num_heads must be at least 1"),
    run=lambda arguments: T5RelativeBias(**{"num_heads": 2, **arguments}),
)


# Rotary


def slow_rotary(vector, position, base):
    """Turn the pairs of one vector, as complex numbers."""
    turned = vector.tolist()
    for i in range(len(turned) // 2):
        theta = base ** (-2 * i / len(turned))
        angle = complex(math.cos(position * theta), math.sin(position * theta))
        pair = complex(*turned[2 * i : 2 * i + 2]) * angle
        turned[2 * i : 2 * i + 2] = pair.real, pair.imag
    return torch.tensor(turned, dtype=vector.dtype)


@pytest.mark.parametrize("width", [1, 2, 5, 8, 11])
def test_rotary_equals_a_product_of_complex_numbers(width):
    x = draw(3, 7, width)
    turned = apply_rotary(x, base=100.0, scale=1.3)
    for b in range(3):
        for p in range(7):
            expected = 1.3 * slow_rotary(x[b, p], p, 100.0)
            torch.testing.assert_close(turned[b, p], expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_rotary_holds_far_positions_in_low_precision(dtype):
    x = draw(1, 6, seed=3).to(dtype)
    turned = apply_rotary(x, torch.tensor([5001]))
    assert turned.dtype == dtype
    expected = slow_rotary(x[0].to(DOUBLE), 5001, 10000.0).to(dtype)
    tolerance = 1e-3 if dtype == torch.float32 else 2e-2
    torch.testing.assert_close(turned[0], expected, atol=tolerance, rtol=tolerance)


def test_rotary_passes_gradcheck_and_takes_empty_sequences():
    x = draw(2, 3, 5).requires_grad_()
    assert torch.autograd.gradcheck(apply_rotary, (x,))
    assert apply_rotary(draw(2, 0, 4)).shape == (2, 0, 4)


def test_rotary_positions_may_differ_within_the_batch():
    x = draw(2, 3, 4)
    positions = torch.tensor([[0, 1, 2], [7, 8, 9]])
    turned = apply_rotary(x, positions)
    torch.testing.assert_close(turned[1], apply_rotary(x[1], positions[1]))


def test_interpolation_rotates_long_texts_as_it_did_short_ones():
    x = draw(1, 1, 12).expand(1, 29, 12)
    stretched = apply_rotary(x, frequencies=interpolated_frequencies(12, 4))
    torch.testing.assert_close(stretched[:, ::4], apply_rotary(x[:, :8]))


def test_ntk_keeps_the_fastest_pair_and_interpolates_the_slowest():
    plain, scaled = rotary_frequencies(14), ntk_frequencies(14, 5)
    torch.testing.assert_close(scaled[0], plain[0])
    torch.testing.assert_close(scaled[-1], plain[-1] / 5)
    ratios = scaled[1:] / scaled[:-1]
    torch.testing.assert_close(ratios, ratios[:1].expand_as(ratios))


def test_yarn_interpolates_slow_pairs_and_keeps_fast_ones():
    plain, length = rotary_frequencies(22, base=500.0), 700
    scaled = yarn_frequencies(22, 3, length, base=500.0, slow=2, fast=11)
    for before, after in zip(plain.tolist(), scaled.tolist(), strict=True):
        turns = length * before / (2 * math.pi)
        kept = min(max((turns - 2) / (11 - 2), 0), 1)
        assert after == pytest.approx(before * (kept + (1 - kept) / 3))
    assert scaled[0] == plain[0]
    assert scaled[-1] == plain[-1] / 3


# Shaw


def slow_shaw(layer, query, key, value, mask):
    """One example without leading axes: loops over queries and keys."""
    clip = layer.max_distance
    outputs = []
    for i, q in enumerate(query):
        rows = [max(-clip, min(clip, j - i)) + clip for j in range(len(key))]
        scores = [
            q @ (k + layer.key_table[r]) / math.sqrt(len(q))
            for k, r in zip(key, rows, strict=True)
        ]
        scores = torch.stack(scores).masked_fill(~mask[i], -math.inf)
        weights = scores.softmax(dim=0)
        total = torch.zeros_like(q)
        for w, v, r in zip(weights, value, rows, strict=True):
            total = total + w * (v + layer.value_table[r])
        outputs.append(total)
    return torch.stack(outputs)


@pytest.mark.parametrize(("queries", "keys"), [(7, 7), (3, 11), (5, 2)])
def test_shaw_equals_a_loop(queries, keys):
    torch.manual_seed(1)
    layer = ShawAttention(5, max_distance=3).to(DOUBLE)
    query = draw(2, 3, queries, 5, seed=1)
    key, value = draw(2, 3, keys, 5, seed=2), draw(2, 3, keys, 5, seed=3)
    mask = draw(queries, keys, seed=4) < 0.7
    mask[:, 0] = True
    output, weights = layer(query, key, value, mask)
    torch.testing.assert_close(
        weights.sum(dim=-1), torch.ones(2, 3, queries, dtype=DOUBLE)
    )
    for b in range(2):
        for h in range(3):
            expected = slow_shaw(layer, query[b, h], key[b, h], value[b, h], mask)
            torch.testing.assert_close(output[b, h], expected)


def test_shaw_passes_gradcheck_and_a_row_that_sees_nothing_is_zero():
    layer = ShawAttention(3, max_distance=1).to(DOUBLE)
    inputs = [draw(2, 4, 3, seed=s).requires_grad_() for s in range(3)]
    mask = torch.ones(4, 4, dtype=torch.bool)
    mask[1] = False
    output, weights = layer(*inputs, mask)
    assert not output[:, 1].any()
    assert not weights[:, 1].any()
    given = (*inputs, *layer.parameters())
    assert torch.autograd.gradcheck(lambda *x: layer(*x[:3], mask)[0], given)


# A whole model with a position bias


@pytest.mark.parametrize("kind", ["alibi", "t5"])
def test_a_position_bias_reaches_every_layer_of_the_transformer(kind):
    bias = partial(alibi_bias, 3)
    if kind == "t5":
        bias = T5RelativeBias(3, num_buckets=4, max_distance=5, bidirectional=False)
        bias.table.data = draw(4, 3, dtype=torch.float32)
    torch.manual_seed(2)
    model = Transformer(11, 12, 3, 2, positions=None, position_bias=bias)
    tokens = torch.tensor([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]])
    x, mask = model.embedding(tokens), create_causal_mask(5)
    for layer in model.layers:
        n = layer.attention_norm(x)
        x = x + layer.attention(n, n, n, mask, bias=bias(5, 5))[0]
        x = x + layer.feedforward(layer.feedforward_norm(x))
    expected = model.output_proj(model.final_norm(x))
    torch.testing.assert_close(model(tokens), expected)
    model(tokens).sum().backward()
    trained = "position_bias.table" in dict(model.named_parameters())
    assert trained is (kind == "t5")


# What is refused


ONES = torch.ones(3, 4)
test_bad_input_is_named = refuses(
    (lambda: relative_positions(-1, 3), "queries must be at least 0"),
    (lambda: relative_positions(2, 3.0), TypeError, "keys must be a whole number"),
    (lambda: alibi_slopes(0), "num_heads must be at least 1"),
    (lambda: t5_buckets(torch.zeros(3)), TypeError, "must be a tensor of integers"),
    (lambda: t5_buckets([1, 2]), TypeError, "but got list"),
    (lambda: apply_rotary(ONES.long()), TypeError, "x must hold floating"),
    (lambda: apply_rotary(ONES[0]), "x must have at least 2 axes"),
    (lambda: apply_rotary(ONES, torch.arange(5)), "positions must be broadc"),
    (lambda: apply_rotary(ONES, base=0.0), "base must be positive"),
    (lambda: apply_rotary(ONES, frequencies=ONES[0, :3]), r"shape \(2,\)"),
    (lambda: interpolated_frequencies(8, 0.5), "factor must be at least 1"),
    (lambda: ntk_frequencies(3, 2), "width must be at least 4"),
    (lambda: yarn_frequencies(8, 2, 32, slow=5, fast=5), "slow must be below fast"),
    (lambda: ShawAttention(4, 0), "max_distance must be at least 1"),
    (lambda: ShawAttention(4, 2)(*[ONES.double()] * 3), TypeError, "same"),
    (lambda: ShawAttention(4, 2)(*[ONES[:, 1:]] * 3), "query must have 4 entries"),
    (lambda: ShawAttention(4, 2)(ONES, ONES[:, 1:], ONES), "key must have 4 entries"),
    (lambda: ShawAttention(4, 2)(ONES, ONES, ONES[:, 1:]), "value must have 4"),
)
