"""A training is reused for a model that computes the same, and for no other."""

import torch
from torch import nn

from attncourse.training import train
from tests.exercises.trained_once import TrainedOnce


class Scaled(nn.Module):
    def __init__(self, factor):
        super().__init__()
        torch.manual_seed(0)
        self.map, self.factor = nn.Linear(3, 1), factor

    def forward(self, x):
        return self.factor * self.map(x)


def test_only_models_that_begin_alike_share_a_training():
    once = TrainedOnce(train)
    inputs = torch.randn(5, 3, generator=torch.Generator().manual_seed(1))
    found = []
    for model in (Scaled(1.0), Scaled(1.0), Scaled(2.0)):
        losses = once(
            model,
            lambda step: (inputs,),
            lambda model, x: (model(x) - 1).square().mean(),
            steps=120,
            progress=False,
        )
        found.append((losses, model.map.weight.detach()))
    assert once.reused == 1
    assert found[0][0] == found[1][0]
    assert torch.equal(found[0][1], found[1][1])
    assert not torch.allclose(found[0][1], found[2][1], atol=1e-3)
