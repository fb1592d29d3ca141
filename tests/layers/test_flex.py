import warnings

import pytest
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from attncourse.layers import flex, local
from attncourse.layers.local import local_attention, local_attention_in_blocks
from tests.pretend_gpu import CPU, GPU, pretend_gpu

LISTS = [
    f"{whole}{side}_{what}"
    for whole in ("", "full_")
    for side in ("kv", "q")
    for what in ("num_blocks", "indices")
]


@pytest.fixture(autouse=True)
def nothing_has_failed(monkeypatch):
    monkeypatch.setattr(flex._Failed, "once", False)


@pytest.fixture
def eager(monkeypatch):
    """Take FlexAttention for everything, as PyTorch runs it without a compiler."""
    monkeypatch.setattr(local, "suits_flex", lambda query, value: not flex._Failed.once)
    monkeypatch.setattr(flex, "_compiled", lambda: flex_attention)


@pytest.mark.parametrize(
    ("tokens", "before", "after"),
    [(1000, 63, 0), (1024, 300, 300), (4096, 511, 0), (257, 512, 512), (130, 0, 0)],
)
def test_the_rule_is_the_one_that_pytorch_finds(tokens, before, after):
    ours = flex.band_rule(tokens, before, after, CPU)
    theirs = create_block_mask(
        ours.mask_mod, None, None, tokens, tokens, device=CPU, BLOCK_SIZE=flex.BLOCK
    )
    assert ours.seq_lengths == theirs.seq_lengths
    for name in LISTS:
        torch.testing.assert_close(getattr(ours, name), getattr(theirs, name))


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("window", [1, 37, 400])
@pytest.mark.parametrize("leading", [(), (3,), (2, 1, 3)])
def test_equals_the_other_ways(rng, eager, leading, window, causal):
    # forward only: PyTorch's FlexAttention has no backward on a CPU
    sizes = [(*leading, 300, width) for width in (16, 16, 32)]
    inputs = [torch.randn(size, generator=rng) for size in sizes]
    options = {"window": window, "causal": causal}
    got = local_attention(*inputs, **options)
    expected = local_attention_in_blocks(*inputs, **options)
    torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-5)
    assert not flex._Failed.once


def test_it_is_for_long_inputs_in_half_precision_on_a_gpu(monkeypatch):
    def suits(*shape, dtype=torch.bfloat16, device=GPU):
        x = torch.zeros(shape, dtype=dtype, device=device)
        return flex.suits_flex(x, x)

    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (8, 0))
    assert not suits(1, 4096, 64, device=CPU)
    with pretend_gpu():
        assert suits(1, 4096, 64)
        assert suits(4096, 128, dtype=torch.float16)
        assert not suits(1, 4095, 64)
        assert not suits(1, 4096, 48)
        assert not suits(0, 4096, 64)
        assert not suits(1, 4096, 64, dtype=torch.float32)


def test_without_a_compiler_it_says_so_once_and_goes_on(rng, monkeypatch, eager):
    calls = []

    def no_compiler(*args, **options):
        calls.append(args)
        raise RuntimeError("no compiler here")

    monkeypatch.setattr(flex, "_compiled", lambda: no_compiler)
    x = torch.randn(2, 50, 16, generator=rng)
    expected = local_attention_in_blocks(x, x, x, window=5)
    with pytest.warns(UserWarning, match="computed in blocks instead"):
        got = local_attention(x, x, x, window=5)
    torch.testing.assert_close(got, expected)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        local_attention(x, x, x, window=5)
    assert len(calls) == 1


def test_too_little_memory_is_not_taken_for_a_fault_of_the_compiler(eager, monkeypatch):
    def too_large(*args, **options):
        raise torch.OutOfMemoryError("too large")

    monkeypatch.setattr(flex, "_compiled", lambda: too_large)
    x = torch.zeros(1, 20, 16)
    with pytest.raises(torch.OutOfMemoryError):
        local_attention(x, x, x, window=5)
    assert not flex._Failed.once
