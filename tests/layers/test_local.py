import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

from attncourse.layers import local
from attncourse.layers.local import local_attention, local_attention_in_blocks

VERSIONS = [local_attention, local_attention_in_blocks]


def band(tokens, window, causal):
    mask = torch.zeros(tokens, tokens, dtype=torch.bool)
    for i in range(tokens):
        for j in range(tokens):
            mask[i, j] = i - window < j <= i if causal else abs(i - j) <= window
    return mask


def masked(query, key, value, window, causal):
    mask = band(query.shape[-2], window, causal)
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask)


def draw(rng, *shape, d_v=7, dtype=torch.float32):
    sizes = [(*shape, 5), (*shape, 5), (*shape, d_v)]
    return [torch.randn(s, generator=rng, dtype=torch.float64).to(dtype) for s in sizes]


def relative_error(got, expected):
    if expected.numel() == 0:
        return 0.0
    return ((got - expected).abs() / (1 + expected.abs())).max().item()


class LargestTensor(TorchDispatchMode):
    """Notes the size in bytes of the largest tensor that any operation makes."""

    largest = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        for tensor in result if isinstance(result, tuple | list) else [result]:
            if isinstance(tensor, torch.Tensor):
                size = tensor.untyped_storage().nbytes()
                self.largest = max(self.largest, size)
        return result


@pytest.mark.parametrize("attend", VERSIONS)
@settings(deadline=None, max_examples=60)
@given(
    tokens=st.integers(1, 151),
    window=st.integers(1, 170),
    causal=st.booleans(),
    leading=st.lists(st.integers(1, 3), max_size=3),
    seed=st.integers(0, 2**31),
)
def test_equals_masked_full_attention(attend, tokens, window, causal, leading, seed):
    query, key, value = draw(torch.Generator().manual_seed(seed), *leading, tokens)
    expected = masked(query, key, value, window, causal)
    got = attend(query, key, value, window=window, causal=causal)
    assert got.shape == expected.shape
    assert relative_error(got, expected) <= 1e-5


@pytest.mark.parametrize("attend", VERSIONS)
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(
    ("tokens", "window"),
    [(1, 1), (31, 7), (97, 11), (257, 37), (521, 64), (53, 400), (701, 260)],
)
def test_gradients_equal_those_of_masked_full_attention(
    rng, attend, causal, tokens, window
):
    inputs = [t.requires_grad_() for t in draw(rng, 2, 3, tokens)]
    expected = masked(*inputs, window, causal)
    got = attend(*inputs, window=window, causal=causal)
    upstream = torch.randn(expected.shape, generator=rng)
    for g, e in zip(
        torch.autograd.grad(got, inputs, upstream),
        torch.autograd.grad(expected, inputs, upstream),
        strict=True,
    ):
        assert relative_error(g, e) <= 1e-5


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("tokens", "window"), [(521, 64), (1009, 257), (211, 9)])
@pytest.mark.parametrize("scores", [1, 2**13, 2**16])
@pytest.mark.parametrize("kept_rows", [0, 1000])
def test_tiles_and_kept_weights_change_nothing(
    rng, monkeypatch, causal, tokens, window, scores, kept_rows
):
    monkeypatch.setattr(local, "TILE_SCORES", scores)
    monkeypatch.setattr(local, "KEPT_ROWS", kept_rows)
    inputs = [t.requires_grad_() for t in draw(rng, 2, tokens)]
    got = local_attention(*inputs, window=window, causal=causal)
    expected = local_attention_in_blocks(*inputs, window=window, causal=causal)
    torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-5)
    upstream = torch.randn(got.shape, generator=rng)
    for g, e in zip(
        torch.autograd.grad(got, inputs, upstream),
        torch.autograd.grad(expected, inputs, upstream),
        strict=True,
    ):
        assert relative_error(g, e) <= 1e-5


@pytest.mark.parametrize("attend", VERSIONS)
@pytest.mark.parametrize(("tokens", "window"), [(5, 2), (61, 3), (37, 18), (7, 9)])
@pytest.mark.parametrize("causal", [True, False])
def test_gradcheck(rng, attend, tokens, window, causal):
    inputs = [
        t.requires_grad_() for t in draw(rng, 2, tokens, d_v=3, dtype=torch.float64)
    ]
    assert torch.autograd.gradcheck(
        lambda *t: attend(*t, window=window, causal=causal), inputs, fast_mode=True
    )


def test_a_window_of_one_causal_key_returns_the_values(rng):
    query, key, value = draw(rng, 2, 43)
    output = local_attention(query, key, value, window=1, causal=True)
    torch.testing.assert_close(output, value)


@pytest.mark.parametrize("attend", VERSIONS)
def test_a_key_outside_the_window_changes_nothing(rng, attend):
    query, key, value = draw(rng, 101)
    before = attend(query, key, value, window=13, causal=True)
    key[40], value[40] = 7.0, -50.0
    after = attend(query, key, value, window=13, causal=True)
    changed = (before != after).any(-1).nonzero().flatten()
    assert changed.tolist() == list(range(40, 53))


@pytest.mark.parametrize("attend", VERSIONS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("causal", [True, False])
def test_half_precision_is_within_its_rounding(rng, attend, dtype, causal):
    inputs = [(3 * t).to(dtype).requires_grad_() for t in draw(rng, 2, 83)]
    exact = [t.detach().double().requires_grad_() for t in inputs]
    got = attend(*inputs, window=17, causal=causal)
    expected = masked(*exact, 17, causal)
    assert got.dtype == dtype
    eps = torch.finfo(dtype).eps
    assert relative_error(got.double(), expected) <= 2 * eps
    got.sum().backward()
    expected.sum().backward()
    for g, e in zip(inputs, exact, strict=True):
        assert g.grad.dtype == dtype
        assert relative_error(g.grad.double(), e.grad) <= 32 * eps


def test_large_scores_do_not_overflow(rng):
    query, key, value = draw(rng, 67)
    output = local_attention(200 * query, 200 * key, value, window=9)
    assert output.isfinite().all()


@pytest.mark.parametrize("attend", VERSIONS)
@pytest.mark.parametrize("shape", [(0, 13), (2, 0), (0,), (2, 0, 3, 11)])
def test_empty_batches_and_sequences_give_empty_outputs(rng, attend, shape):
    inputs = [t.requires_grad_() for t in draw(rng, *shape)]
    output = attend(*inputs, window=3)
    assert output.shape == (*shape, 7)
    output.sum().backward()
    assert [t.grad.shape for t in inputs] == [t.shape for t in inputs]


@pytest.mark.parametrize("attend", VERSIONS)
def test_leading_axes_broadcast_and_their_gradients_are_summed(rng, attend):
    query, key, value = (
        torch.randn(*lead, 41, 5, generator=rng, requires_grad=True)
        for lead in ((2, 3), (1, 3), (3,))
    )
    whole = [t.detach().expand(2, 3, 41, 5).clone() for t in (query, key, value)]
    whole = [t.requires_grad_() for t in whole]
    output = attend(query, key, value, window=5)
    expected = attend(*whole, window=5)
    torch.testing.assert_close(output, expected)
    output.square().sum().backward()
    expected.square().sum().backward()
    torch.testing.assert_close(key.grad, whole[1].grad.sum(0, keepdim=True))
    torch.testing.assert_close(value.grad, whole[2].grad.sum(0))


def test_heads_split_by_a_transpose_need_no_copy(rng):
    x = torch.randn(2, 89, 3, 5, generator=rng)
    heads = x.transpose(1, 2)  # (batch, heads, tokens, d), not contiguous
    expected = masked(heads, heads, heads, 19, True)
    torch.testing.assert_close(
        local_attention(heads, heads, heads, window=19, causal=True), expected
    )


def test_memory_grows_with_the_window_and_not_with_the_square(rng):
    query, key, value = (
        torch.randn(1, 2, 8192, 16, generator=rng, requires_grad=True) for _ in "qkv"
    )
    with LargestTensor() as memory:
        output = local_attention(query, key, value, window=64, causal=True)
        output.sum().backward()
    inputs = query.untyped_storage().nbytes()
    # the scores of one head, two windows for each query; in full: 256 MB
    assert memory.largest <= 4 * 8192 * 2 * 64
    with LargestTensor() as memory:
        local_attention_in_blocks(query, key, value, window=64, causal=True)
    assert memory.largest <= 8 * inputs


def test_weights_are_kept_for_narrow_windows_only(rng):
    def saved(window):
        numbers = []
        inputs = torch.randn(3, 2, 1024, 16, generator=rng).requires_grad_().unbind()
        with torch.autograd.graph.saved_tensors_hooks(
            lambda t: numbers.append(t.numel()) or t, lambda t: t
        ):
            local_attention(*inputs, window=window, causal=True)
        return sum(numbers) - sum(t.numel() for t in inputs)

    assert 0 < saved(3) <= 2 * 1024 * local.KEPT_ROWS * 16
    assert saved(300) == 0


@pytest.mark.parametrize("attend", VERSIONS)
def test_a_window_beyond_the_sequence_makes_no_large_tensor(rng, attend):
    query, key, value = draw(rng, 31)
    with LargestTensor() as memory:
        output = attend(query, key, value, window=10**9)
    assert memory.largest < 2**17
    expected = F.scaled_dot_product_attention(query, key, value)
    torch.testing.assert_close(output, expected)


def test_a_second_derivative_is_refused(rng):
    inputs = [t.requires_grad_() for t in draw(rng, 23)]
    output = local_attention(*inputs, window=4)
    with pytest.raises(RuntimeError, match="local_attention cannot be differentiated"):
        torch.autograd.grad(output.sum(), inputs, create_graph=True)


def test_gradients_of_some_inputs_only(rng):
    query, key, value = draw(rng, 29)
    value.requires_grad_()
    local_attention(query, key, value, window=4).sum().backward()
    # each weight goes to one value and a query's weights sum to 1
    assert value.grad.sum().item() == pytest.approx(29 * 7, rel=1e-5)


@pytest.mark.parametrize("attend", VERSIONS)
@pytest.mark.parametrize(
    ("window", "error", "message"),
    [
        (0, ValueError, "window must be at least 1, but got 0"),
        (-3, ValueError, "window must be at least 1, but got -3"),
        (2.5, TypeError, "window must be a whole number, but got 2.5 of type float"),
        (True, TypeError, "window must be a whole number, but got True of type bool"),
        (None, TypeError, "window must be a whole number, but got None"),
    ],
)
def test_a_window_that_is_no_positive_whole_number_is_refused(
    rng, attend, window, error, message
):
    with pytest.raises(error, match=message):
        attend(*draw(rng, 11), window=window)


@pytest.mark.parametrize("attend", VERSIONS)
def test_inputs_that_do_not_fit_are_refused(rng, attend):
    query, key, value = draw(rng, 2, 11)
    with pytest.raises(ValueError, match="11 queries and 7 keys"):
        attend(query, key[:, :7], value[:, :7], window=3)
    with pytest.raises(ValueError, match="same number of tokens"):
        attend(query, key, value[:, :7], window=3)
    with pytest.raises(ValueError, match="d_k of the query"):
        attend(query, key[..., :3], value, window=3)
    with pytest.raises(TypeError, match="key has torch"):
        attend(query, key.double(), value, window=3)
    with pytest.raises(ValueError, match="value is on meta"):
        attend(query, key, value.to("meta"), window=3)
    with pytest.raises(TypeError, match="floating point"):
        attend(query.long(), key, value, window=3)
    with pytest.raises(TypeError, match="query must be a"):
        attend(query.numpy(), key, value, window=3)


def test_other_devices_take_the_version_in_blocks(rng):
    inputs = [t.to("meta") for t in draw(rng, 2, 3, 97)]
    assert local_attention(*inputs, window=5).shape == (2, 3, 97, 7)
