"""Chapter 02: what its cells define agrees with the package and with PyTorch."""

from pathlib import Path

import nbformat
import numpy as np
import pytest

import attncourse

CHAPTER = Path(__file__).parents[2] / "chapters" / "02_attention_types.ipynb"


@pytest.fixture(scope="module")
def chapter():
    """Return the names which the NumPy definitions of the chapter bind."""
    names = {"np": np}
    for cell in nbformat.read(CHAPTER, as_version=4).cells:
        wanted = ("def softmax(", "def self_attention(")
        if cell.cell_type == "code" and cell.source.startswith(wanted):
            definition = cell.source.split("\n\n\n")[0]
            exec(definition, names)
    return names


@pytest.fixture
def numbers():
    rng = np.random.default_rng(5)
    maps = [rng.normal(size=(3, width)) for width in (2, 2, 5)]
    return rng.normal(size=(7, 3)), maps


@pytest.mark.parametrize("masked", [False, True])
def test_self_attention_is_that_of_the_package(chapter, numbers, masked):
    X, maps = numbers
    mask = np.tril(np.ones((7, 7), dtype=bool)) if masked else None
    output, weights = chapter["self_attention"](X, *maps, mask)
    expected = attncourse.self_attention(X, *maps, mask)
    np.testing.assert_allclose(output, expected[0])
    np.testing.assert_allclose(weights, expected[1])
    assert output.shape == (7, 5)  # d_v, not d_model


def test_the_counts_of_operations_are_those_that_pytorch_counts():
    torch = pytest.importorskip("torch")
    from torch.utils.flop_counter import FlopCounterMode

    def multiplications(layer, *inputs):
        with FlopCounterMode(display=False) as counter, torch.no_grad():
            layer(*inputs)
        return counter.get_total_flops() // 2

    n, d = 7, 12
    x = torch.randn(1, n, d)
    heads = attncourse.MultiHeadAttention(d, num_heads=3)
    assert multiplications(heads, x, x, x) == 4 * n * d * d + 2 * n * n * d
    single = attncourse.SelfAttention(d)
    assert multiplications(single, x) == 3 * n * d * d + 2 * n * n * d
    assert multiplications(torch.nn.RNN(d, d), x[0]) == 2 * n * d * d
    assert multiplications(torch.nn.GRU(d, d), x[0]) == 6 * n * d * d
