from types import SimpleNamespace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attncourse.layers import local
from attncourse.layers.local import local_attention, local_attention_in_blocks
from tests.layers.attending import assert_same_gradients, draw, masked
from tests.refusing import generator, refuses

VERSIONS = [local_attention, local_attention_in_blocks]


def band(tokens, window, causal):
    place = torch.arange(tokens)
    distance = place[:, None] - place
    if causal:
        return (distance >= 0) & (distance < window)
    return distance.abs() <= window


def in_full(query, key, value, window, causal):
    return masked(query, key, value, band(query.shape[-2], window, causal))


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
    query, key, value = draw(torch.Generator().manual_seed(seed), leading, tokens)
    expected = in_full(query, key, value, window, causal)
    got = attend(query, key, value, window=window, causal=causal)
    assert got.shape == expected.shape
    torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("attend", VERSIONS)
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(
    ("tokens", "window"),
    [(1, 1), (31, 7), (97, 11), (257, 37), (521, 64), (53, 400), (701, 260)],
)
def test_gradients_equal_those_of_masked_full_attention(
    rng, attend, causal, tokens, window
):
    inputs = [t.requires_grad_() for t in draw(rng, (2, 3), tokens)]
    expected = in_full(*inputs, window, causal)
    got = attend(*inputs, window=window, causal=causal)
    assert_same_gradients(got, expected, inputs)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("tokens", "window"), [(521, 64), (1009, 257), (211, 9)])
@pytest.mark.parametrize("scores", [1, 2**13, 2**16])
@pytest.mark.parametrize("kept_rows", [0, 1000])
def test_tiles_and_kept_weights_change_nothing(
    rng, monkeypatch, causal, tokens, window, scores, kept_rows
):
    monkeypatch.setattr(local, "TILE_SCORES", scores)
    monkeypatch.setattr(local, "KEPT_ROWS", kept_rows)
    inputs = [t.requires_grad_() for t in draw(rng, (2,), tokens)]
    got = local_attention(*inputs, window=window, causal=causal)
    expected = local_attention_in_blocks(*inputs, window=window, causal=causal)
    torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-5)
    assert_same_gradients(got, expected, inputs)


@pytest.mark.parametrize("causal", [True, False])
def test_what_flash_attention_is_given_is_the_band(rng, monkeypatch, causal):
    def flash(q, k, v, *rest, window_size_left, window_size_right):
        distance = torch.arange(31)[:, None] - torch.arange(31)
        seen = (distance <= window_size_left) & (distance >= -window_size_right)
        assert rest == (None, None, 31, 31, 0.0, False, False)
        return (masked(*(x.transpose(1, 2) for x in (q, k, v)), seen).transpose(1, 2),)

    monkeypatch.setattr(local, "FLASH", flash)
    inputs = draw(rng, (2, 3), 31)
    *_, before, after = local._checked(*inputs, 5, causal)
    got = local._by_flash(*inputs, before, after)
    torch.testing.assert_close(got, in_full(*inputs, 5, causal), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("changed", "takes"),
    [
        ({}, True),
        ({"dtype": torch.float32}, False),
        ({"is_cuda": False}, False),
        ({"shape": (3, 20)}, False),
        ({"shape": (3, 256)}, False),
        ({"hip": "6.4"}, False),  # its windows were never tried there
        ({"capability": (7, 5)}, False),
    ],
)
def test_flash_attention_is_given_what_it_takes(monkeypatch, changed, takes):
    kind = {"dtype": torch.bfloat16, "is_cuda": True, "shape": (3, 64), "device": 0}
    kind |= {"hip": None, "capability": (8, 0), "numel": lambda: 192} | changed
    given = SimpleNamespace(**kind)
    monkeypatch.setattr(torch.version, "hip", given.hip)
    monkeypatch.setattr(
        torch.cuda, "get_device_capability", lambda device: given.capability
    )
    assert local._flash_takes(given, given) == takes


def test_large_scores_do_not_overflow(rng):
    query, key, value = draw(rng, (), 67)
    output = local_attention(200 * query, 200 * key, value, window=9)
    assert output.isfinite().all()


def test_heads_may_be_split_by_a_transpose(rng):
    x = torch.randn(2, 89, 3, 5, generator=rng)
    heads = x.transpose(1, 2)  # (batch, heads, tokens, d), not contiguous
    expected = in_full(heads, heads, heads, 19, True)
    torch.testing.assert_close(
        local_attention(heads, heads, heads, window=19, causal=True), expected
    )


def test_more_heads_take_no_more_products(rng):
    def products(heads):
        inputs = torch.randn(3, heads, 512, 8, generator=rng).requires_grad_().unbind()
        with torch.profiler.profile() as profile:
            local_attention(*inputs, window=16, causal=True).sum().backward()
        return sum("mm" in event.name for event in profile.events())

    assert 0 < products(1) == products(6)


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


def test_gradients_of_some_inputs_only(rng):
    query, key, value = draw(rng, (), 29)
    value.requires_grad_()
    local_attention(query, key, value, window=4).sum().backward()
    # each weight goes to one value and a query's weights sum to 1
    assert value.grad.sum().item() == pytest.approx(29 * 7, rel=1e-5)


test_a_window_that_is_no_positive_whole_number_is_refused = refuses(
    (0, "window must be at least 1, but got 0"),
    (-3, "window must be at least 1, but got -3"),
    (2.5, TypeError, "window must be a whole number, but got 2.5 of type float"),
    (True, TypeError, "window must be a whole number, but got True of type bool"),
    (None, TypeError, "window must be a whole number, but got None"),
    run=lambda window, attend: attend(*draw(generator(), (), 11), window=window),
    over=VERSIONS,
)


def test_other_devices_take_the_version_in_blocks(rng):
    inputs = [t.to("meta") for t in draw(rng, (2, 3), 97)]
    assert local_attention(*inputs, window=5).shape == (2, 3, 97, 7)


def test_under_autocast_the_band_is_computed_in_full(rng):
    inputs = [t.requires_grad_() for t in draw(rng, (2,), 50)]
    expected = local_attention(*inputs, window=5)
    with torch.autocast("cpu", torch.bfloat16):
        got = local_attention(*inputs, window=5)
    torch.testing.assert_close(got, expected)
    assert_same_gradients(got, expected, inputs)


@pytest.mark.parametrize(("running", "used"), [(1, {3}), (100_000, {1})])
def test_one_thread_while_more_want_to_run_than_there_are_cores(
    rng, tmp_path, monkeypatch, running, used
):
    load = tmp_path / "loadavg"
    load.write_text(f"0.01 0.02 0.03 {running}/100000 4")
    monkeypatch.setattr(local, "Path", lambda name: load)
    seen, write = set(), local._write

    def counting(*args):
        seen.add(torch.get_num_threads())
        write(*args)

    monkeypatch.setattr(local, "_write", counting)
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        query, key, value = (t.requires_grad_() for t in draw(rng, (2,), 50))
        local_attention(query, key, value, window=4).sum().backward()
        assert (seen, torch.get_num_threads()) == (used, 3)
    finally:
        torch.set_num_threads(before)
