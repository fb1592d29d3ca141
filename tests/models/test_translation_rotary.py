"""`TranslationTransformer` with rotary positions."""

import pytest
import torch

from attncourse.models.decoding import greedy_search
from attncourse.models.translation import TranslationTransformer


def make(**options):
    torch.manual_seed(0)
    model = TranslationTransformer(
        11, 7, 12, 3, 2, 2, 17, positions="rotary", **options
    )
    return model.eval()


def test_cached_steps_give_what_a_whole_pass_gives(rng):
    model = make()
    source = torch.randint(3, 11, (2, 5), generator=rng)
    target = torch.randint(3, 7, (2, 4), generator=rng)
    state, token, steps = model.start(source), torch.tensor([1, 1]), []
    for now in range(4):
        logits, state = model.step(token, state)
        steps.append(logits)
        token = target[:, now]
    torch.testing.assert_close(torch.stack(steps, dim=1), model(source, target))


def test_the_order_of_the_source_counts(rng):
    model = make()
    source = torch.randint(3, 11, (1, 5), generator=rng)
    target = torch.tensor([[3, 4]])
    turned = model(source.flip(1), target)
    assert (model(source, target) - turned).abs().max() > 1e-4


def test_longer_than_max_len_is_named_on_both_sides(rng):
    model = make(max_len=4)
    source = torch.randint(3, 11, (2, 5), generator=rng)
    with pytest.raises(ValueError, match="has 5 tokens, but this model was made"):
        model.encode(source)
    model.eos_idx = 0  # never written: the search runs into the limit
    with pytest.raises(ValueError, match="made for at most 4"):
        greedy_search(model, source[:, :4], max_len=6)


def test_unknown_positions_are_refused():
    with pytest.raises(ValueError, match="positions must be one of sinusoidal"):
        TranslationTransformer(5, 5, 8, 2, positions="learned")
