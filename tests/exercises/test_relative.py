"""The language and the model of exercise 4."""

import pytest
import torch

from attncourse.exercises.relative.language import LanguageModel, draw
from attncourse.layers.core import scaled_dot_product_attention
from attncourse.layers.masks import create_causal_mask


def attend(query, key, value, scheme, learned):
    mask = create_causal_mask(query.shape[-2])
    return scaled_dot_product_attention(query, key, value, mask)


def test_the_same_seed_draws_the_same_texts_and_hands_out_copies():
    first = draw(3, 7, seed=5)
    again = draw(3, 7, seed=5)
    first.zero_()
    assert again.min() >= 1
    assert again.equal(draw(3, 7, seed=5))
    assert not again.equal(draw(3, 7, seed=6))


@pytest.mark.parametrize("scheme", ["none", "sinusoidal"])
def test_later_tokens_change_nothing_before_them(scheme):
    torch.manual_seed(0)
    model = LanguageModel(attend, scheme).double()
    tokens = draw(2, 11, seed=0)
    changed = tokens.clone()
    changed[:, 7:] = 1
    one, two = model(tokens), model(changed)
    torch.testing.assert_close(one[:, :7], two[:, :7])
    assert not torch.allclose(one[:, 7:], two[:, 7:])


def test_sinusoids_are_added_to_the_tokens_and_attention_is_told_none():
    told = []

    def listen(query, key, value, scheme, learned):
        told.append((scheme, learned))
        return value

    tokens = torch.full((1, 5), 3)
    same, different = (
        LanguageModel(listen, scheme)(tokens) for scheme in ("alibi", "sinusoidal")
    )
    assert told == [("alibi", None)] * 2 + [("none", None)] * 2
    torch.testing.assert_close(same[:, :1].expand_as(same), same)
    assert not torch.allclose(different[:, 0], different[:, 1])


def test_cutting_into_heads_mixes_no_tokens():
    """With attention that hands the values over, a token's output is its own."""
    model = LanguageModel(lambda q, k, v, scheme, learned: v, "none")
    tokens = draw(2, 6, seed=1)
    alone = torch.cat([model(tokens[:, i : i + 1]) for i in range(6)], dim=1)
    torch.testing.assert_close(model(tokens), alone)


def test_a_bias_that_is_a_module_is_trained_with_the_model():
    learned = torch.nn.Linear(2, 3)
    names = dict(LanguageModel(attend, "table", learned).named_parameters())
    assert {"learned.weight", "learned.bias"} <= set(names)
