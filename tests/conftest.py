import matplotlib
import pytest
import torch

matplotlib.use("Agg")
torch.set_num_threads(1)


@pytest.fixture
def rng():
    """Return a seeded CPU generator: every test starts from the same numbers."""
    return torch.Generator().manual_seed(20)
