import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from attncourse import multi_head_attention, self_attention, softmax
from tests.layers.attending import masked as in_torch
from tests.refusing import refuses

TOKENS, D_MODEL, D_K, D_V = 5, 7, 3, 11
ONES = np.ones((5, 5))


def example(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(TOKENS, D_MODEL))
    return X, *(rng.normal(size=(D_MODEL, width)) for width in (D_K, D_K, D_V))


@given(
    hnp.arrays(
        float,
        hnp.array_shapes(min_dims=1, max_dims=3, max_side=7),
        elements=st.floats(-1e6, 1e6),
    ),
    st.data(),
)
def test_softmax_equals_that_of_torch(x, data):
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    expected = torch.softmax(torch.as_tensor(x), dim=axis).numpy()
    np.testing.assert_allclose(softmax(x, axis), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("scores", "weights"),
    [
        ([1e4, 1e4], [0.5, 0.5]),
        (np.array([0, 0]), [0.5, 0.5]),
        ([[-np.inf, -np.inf], [0, -np.inf]], [[0.0, 0.0], [1.0, 0.0]]),
        (np.zeros(2, dtype=np.float32), np.float32([0.5, 0.5])),
    ],
)
def test_softmax_of_large_and_infinite_scores_integers_and_float32(scores, weights):
    np.testing.assert_array_equal(softmax(scores), weights)
    assert softmax(scores).dtype == np.asarray(weights).dtype


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("masked", [False, True])
def test_self_attention_equals_that_of_torch(seed, masked):
    X, *maps = example(seed)
    mask = np.random.default_rng(seed).random((TOKENS, TOKENS)) < 0.6
    mask[0] = False
    mask = mask if masked else None
    output, weights = self_attention(X, *maps, mask)
    query, key, value = (torch.as_tensor(X @ W) for W in maps)
    allowed = torch.as_tensor(ONES > 0 if mask is None else mask)
    expected = in_torch(query, key, value, allowed)
    np.testing.assert_allclose(output, expected, atol=1e-12)
    expected = in_torch(query, key, torch.eye(TOKENS).double(), allowed)
    np.testing.assert_allclose(weights, expected, atol=1e-12)


def test_self_attention_takes_batches():
    X, *maps = example()
    batch = np.stack([X, X[::-1]])[:, None]
    output, weights = self_attention(batch, *maps)
    assert output.shape == (2, 1, TOKENS, D_V)
    np.testing.assert_allclose(output[0, 0], self_attention(X, *maps)[0])
    assert weights.shape == (2, 1, TOKENS, TOKENS)


@pytest.mark.parametrize("heads", [1, 2, 7, 14])
def test_multi_head_attention_equals_torch(heads):
    rng = np.random.default_rng(1)
    d_model = 14
    X = rng.normal(size=(TOKENS, d_model))
    maps = rng.normal(size=(4, d_model, d_model))
    mask = np.tril(np.ones((TOKENS, TOKENS), dtype=bool))
    output, weights = multi_head_attention(X, *maps, heads, mask)
    theirs = torch.nn.MultiheadAttention(d_model, heads, bias=False).double()
    projections = np.concatenate([W.T for W in maps[:3]])
    theirs.in_proj_weight.data = torch.as_tensor(projections)
    theirs.out_proj.weight.data = torch.as_tensor(maps[3].T)
    x, hidden = torch.as_tensor(X)[:, None], torch.as_tensor(~mask)
    with torch.no_grad():
        expected, expected_weights = theirs(
            x, x, x, attn_mask=hidden, average_attn_weights=False
        )
    np.testing.assert_allclose(output, expected[:, 0].numpy(), atol=1e-12)
    np.testing.assert_allclose(weights, expected_weights[0].numpy(), atol=1e-12)


test_bad_input_is_named = refuses(
    (lambda X, *W: softmax(3.0), "axis must be one of the 0 axes"),
    (lambda X, *W: softmax(X, axis=2), "axis must be one of the 2"),
    (lambda X, *W: softmax(X[:0], axis=0), "softmax over nothing"),
    (lambda X, *W: softmax(["a"]), TypeError, "must hold real numbers"),
    (lambda X, *W: self_attention(X[0], *W), "at least 2 axes"),
    (lambda X, *W: self_attention(X[:, :2], *W), "must have 2 rows"),
    (lambda X, Q, K, V: self_attention(X, Q, V, V), "the same shape"),
    (lambda X, Q, K, V: self_attention(X, Q, K, V[0]), "2 axes"),
    (lambda X, *W: self_attention(X, *W, ONES), TypeError, "boolean, True = may"),
    (lambda X, *W: self_attention(X, *W, ONES[:, :3] > 0), "broadcastable to"),
    (
        lambda X, *W: multi_head_attention(X, *[np.eye(7)] * 4, 2),
        "7 is not divisible by 2; by 1 it is.",
    ),
    (lambda X, *W: multi_head_attention(X, *[X] * 4, 1.0), TypeError, "a whole number"),
    (lambda X, *W: multi_head_attention(X, *[X[:, :3]] * 4, 7), "W_Q must have 7"),
    run=lambda call: call(*example()),
)
