import math

import pytest
import torch

from attncourse import (
    LearnedPositionalEncoding,
    SinusoidalPositionalEncoding,
    sinusoidal_encoding,
)
from tests.refusing import refuses

BATCH, TOKENS = 3, 5


@pytest.mark.parametrize("d_model", [1, 2, 7, 16])
def test_sinusoids_follow_the_formula_of_the_paper(d_model):
    encoding = sinusoidal_encoding(TOKENS, d_model)
    assert encoding.dtype == torch.float32
    for p in range(TOKENS):
        for c in range(d_model):
            angle = p / 10000 ** ((c - c % 2) / d_model)
            expected = math.cos(angle) if c % 2 else math.sin(angle)
            assert encoding[p, c].item() == pytest.approx(expected, abs=1e-6)


def test_far_positions_are_exact_to_float32():
    encoding = sinusoidal_encoding(100_000, 4)
    assert encoding[-1, 0].item() == pytest.approx(math.sin(99_999), abs=1e-6)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("d_model", [6, 7])
def test_position_vectors_are_added(rng, dtype, d_model):
    x = torch.randn(BATCH, TOKENS, d_model, generator=rng).to(dtype)
    learned = LearnedPositionalEncoding(d_model, 11)
    for layer, table in (
        (SinusoidalPositionalEncoding(d_model, 11), sinusoidal_encoding(11, d_model)),
        (learned, learned.encoding.detach()),
    ):
        result = layer(x)
        assert result.dtype == dtype
        torch.testing.assert_close(result, x + table[:TOKENS].to(dtype))


def test_only_the_learned_table_has_parameters():
    assert not list(SinusoidalPositionalEncoding(6).parameters())
    (table,) = LearnedPositionalEncoding(6, 11).parameters()
    assert table.shape == (11, 6)
    assert SinusoidalPositionalEncoding(6).state_dict() == {}


def test_dropout_acts_in_training_only():
    layer = SinusoidalPositionalEncoding(6, dropout=0.5)
    x = torch.ones(BATCH, TOKENS, 6)
    assert (layer.train()(x) == 0).any()
    torch.testing.assert_close(layer.eval()(x), x + layer.encoding[:TOKENS])


def test_a_sequence_in_two_pieces_gets_the_same_vectors(rng):
    x = torch.randn(BATCH, TOKENS, 6, generator=rng)
    for layer in (SinusoidalPositionalEncoding(6, 5), LearnedPositionalEncoding(6, 5)):
        pieces = [layer(x[:, :2]), layer(x[:, 2:], start=2)]
        torch.testing.assert_close(torch.cat(pieces, dim=1), layer(x))
        with pytest.raises(ValueError, match="from position 1 on"):
            layer(x, start=1)


test_bad_input_is_named = refuses(
    (
        torch.zeros(2, 12, 6),
        "x has 12 tokens from position 0 on, .* 11 positions at most",
    ),
    (torch.zeros(2, 5, 4), "6 entries on its last axis"),
    (torch.zeros(5, 6), "x must have 3 axes"),
    (torch.zeros(2, 5, 6).long(), TypeError, "embedded first"),
    (torch.zeros(2, 5, 6, device="meta"), "x is on meta"),
    run=lambda x, make: make(6, 11)(x),
    over=[SinusoidalPositionalEncoding, LearnedPositionalEncoding],
)


test_a_layer_that_cannot_work_is_not_made = refuses(
    (lambda: sinusoidal_encoding(-1, 4), "seq_len must be at least 0"),
    (lambda: sinusoidal_encoding(3, 0), "d_model must be at least 1"),
    (lambda: SinusoidalPositionalEncoding(4.0), TypeError, "d_model must be"),
    (lambda: LearnedPositionalEncoding(4, 0), "max_len must be"),
    (lambda: LearnedPositionalEncoding(4, 5, -0.1), "dropout"),
)
