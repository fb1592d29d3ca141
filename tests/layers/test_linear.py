import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from attncourse.layers.linear import elu_features, linear_attention
from tests.layers.attending import draw


def by_weights(query, key, value, causal):
    """Make the full matrix of weights, as in equation 4 of the paper."""
    weights = (F.elu(query) + 1) @ (F.elu(key) + 1).transpose(-2, -1)
    if causal:
        for i in range(weights.shape[-2]):
            weights[..., i, i + 1 :] = 0.0
    return weights @ value / weights.sum(-1, keepdim=True)


@settings(deadline=None, max_examples=60)
@given(
    tokens=st.integers(1, 211),
    more_keys=st.integers(0, 20),
    causal=st.booleans(),
    leading=st.lists(st.integers(1, 3), max_size=3),
    seed=st.integers(0, 2**31),
)
def test_equals_the_weighted_mean(tokens, more_keys, causal, leading, seed):
    keys = tokens if causal else tokens + more_keys
    inputs = draw(torch.Generator().manual_seed(seed), leading, tokens, keys)
    torch.testing.assert_close(
        linear_attention(*inputs, causal=causal),
        by_weights(*inputs, causal),
        rtol=1e-5,
        atol=1e-5,
    )


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("tokens", [1, 64, 71])
def test_gradcheck(rng, causal, tokens):
    inputs = draw(rng, (2,), tokens, tokens, torch.float64)
    inputs = [t.requires_grad_() for t in inputs]
    assert torch.autograd.gradcheck(
        lambda *t: linear_attention(*t, causal=causal), inputs, fast_mode=True
    )


def test_features_are_positive_where_elu_plus_one_rounds_to_zero():
    x = torch.tensor([-80.0, -17.5, 0.0, 3.0])
    expected = [math.exp(-80), math.exp(-17.5), 1.0, 4.0]
    torch.testing.assert_close(elu_features(x), torch.tensor(expected))


def test_features_have_a_slope_of_one_at_zero():
    x = torch.tensor([-1e-3, 0.0, 1e-3], dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(elu_features(x).sum(), x)
    assert slope.tolist() == pytest.approx([math.exp(-1e-3), 1.0, 1.0])


@pytest.mark.parametrize("causal", [True, False])
def test_very_negative_queries_give_zero_and_finite_gradients(rng, causal):
    query, key, value = draw(rng, (), 11, 11)
    query = (query - 500).requires_grad_()
    output = linear_attention(query, key, value, causal=causal)
    assert (output == 0).all()
    output.sum().backward()
    assert query.grad.isfinite().all()
