import torch
from hypothesis import given
from hypothesis import strategies as st

from attncourse import create_causal_mask, create_padding_mask
from tests.refusing import refuses


@given(st.integers(0, 17))
def test_a_position_sees_itself_and_the_past(length):
    mask = create_causal_mask(length)
    expected = [[j <= i for j in range(length)] for i in range(length)]
    assert mask.dtype == torch.bool
    assert mask.shape == (length, length)
    assert mask.tolist() == expected


def test_padding_is_hidden_and_nothing_else():
    mask = create_padding_mask(torch.tensor([[5, 2, 0], [7, 0, 0], [1, 1, 1]]))
    assert mask.shape == (3, 1, 1, 3)
    assert mask[:, 0, 0].tolist() == [
        [True, True, False],
        [True, False, False],
        [True, True, True],
    ]


def test_another_id_can_stand_for_padding():
    mask = create_padding_mask(torch.tensor([[9, 0]]), pad_idx=9)
    assert mask.flatten().tolist() == [False, True]


test_bad_input_is_named = refuses(
    (lambda: create_causal_mask(-1), "at least 0, but got -1"),
    (lambda: create_causal_mask(2.0), TypeError, "seq_len must be a whole number"),
    (lambda: create_causal_mask(True), TypeError, "whole number"),
    (lambda: create_padding_mask(torch.ones(2, 3)), TypeError, "integer token ids"),
    (
        lambda: create_padding_mask(torch.ones(2, 3, dtype=torch.bool)),
        TypeError,
        "integer token ids",
    ),
    (lambda: create_padding_mask(torch.tensor([1])), "2 axes"),
)
