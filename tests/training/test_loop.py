from itertools import pairwise

import pytest
import torch
from torch import nn

from attncourse import Transformer
from attncourse.training import decay_groups, train


def make():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 7), nn.Dropout(0.2), nn.Linear(7, 2))


def batch_of(step):
    rng = torch.Generator().manual_seed(step)
    x = torch.randn(11, 3, generator=rng)
    return x, (x[:, 0] > 0).long()


def loss_of(model, x, y):
    return nn.functional.cross_entropy(model(x), y)


def run(model, batch_of=batch_of, loss_of=loss_of, **options):
    settings = {"steps": 30, "device": "cpu", "progress": False, **options}
    return train(model, batch_of, loss_of, **settings)


def zeros(step):
    return (torch.zeros(1),)


def test_the_loss_falls_at_each_step_and_the_model_is_left_in_evaluation_mode():
    model = make()
    losses = run(model, steps=150, learning_rate=1e-2)
    assert len(losses) == 150
    assert not model.training
    assert sum(losses[-10:]) < 0.5 * sum(losses[:10])


def test_the_same_seed_gives_the_same_losses():
    assert run(make()) == run(make())


def test_the_rate_rises_and_falls_to_zero():
    model = nn.Linear(1, 1, bias=False)
    seen = []

    def loss(model, x):
        seen.append(model.weight.item())
        return model.weight.sum()

    run(model, zeros, loss, steps=200, learning_rate=1.0)
    moves = [a - b for a, b in pairwise(seen)]
    # Adam moves by the rate when every gradient is the same.
    assert moves[0] == pytest.approx(0.1, rel=1e-3)
    assert moves[9] == pytest.approx(1.0, rel=1e-3)
    assert moves[-1] < 0.1


def test_the_best_weights_are_kept():
    model, seen = make(), []

    def validate(model):
        seen.append({k: v.clone() for k, v in model.state_dict().items()})
        return [0.1, 0.9, 0.5][len(seen) - 1]

    run(model, validate=validate, validate_every=10)
    assert len(seen) == 3
    for name, value in model.state_dict().items():
        assert torch.equal(value, seen[1][name])


def test_parameter_groups_have_their_own_rates():
    model = nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 2))
    frozen = model[1].weight.clone()
    groups = [
        {"params": model[0].parameters(), "lr": 1e-2},
        {"params": model[1].parameters(), "lr": 0.0},
    ]
    run(model, learning_rate=groups)
    assert torch.equal(model[1].weight, frozen)


def test_a_loss_that_is_not_finite_is_said():
    with pytest.raises(ValueError, match="the loss is nan at step 0"):
        run(make(), loss_of=lambda model, x, y: model(x).sum() * torch.nan)


@pytest.mark.parametrize("progress", [None, 0, False])
def test_no_bar_is_shown_where_none_is_wanted(capsys, progress):
    run(make(), steps=2, progress=progress)
    assert capsys.readouterr().err == ""


def test_only_the_matrices_of_linear_maps_decay():
    model = Transformer(13, 8, 2, 1, positions="learned")
    decaying, others = decay_groups(model, 1e-3, 0.1)
    names = {id(p): name for name, p in model.named_parameters()}
    assert (decaying["weight_decay"], others["weight_decay"]) == (0.1, 0.0)
    assert {names[id(p)].split(".")[-2] for p in decaying["params"]} == {
        "query_proj",
        "key_proj",
        "value_proj",
        "output_proj",
        "0",
        "3",
    }
    assert all(p.dim() == 2 for p in decaying["params"])
    assert len(decaying["params"]) + len(others["params"]) == len(names)


def test_a_matrix_tied_to_the_embedding_does_not_decay():
    model = Transformer(13, 8, 2, 1)
    model.output_proj.weight = model.embedding.weight
    decaying, others = decay_groups(model, 1e-3, 0.1)
    assert not any(p is model.embedding.weight for p in decaying["params"])
    assert sum(p is model.embedding.weight for p in others["params"]) == 1


def test_decay_shrinks_a_weight_that_has_no_gradient():
    model = nn.Linear(3, 2)
    before = model.weight.detach().clone()
    groups = decay_groups(model, 1e-2, 0.5)

    def loss(model, x):
        return (model.weight * x).sum() + model.bias.sum()

    run(model, zeros, loss, steps=1, learning_rate=groups)
    torch.testing.assert_close(model.weight, before * (1 - 1e-2 * 0.5))
