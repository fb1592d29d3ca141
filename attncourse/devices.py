"""The one place where a device is chosen and random numbers are seeded."""

import random

import torch


def best_device() -> torch.device:
    """Return the fastest device that this machine has.

    Returns
    -------
    torch.device
        ``cuda`` where there is an NVIDIA or AMD GPU, else ``mps`` on Apple silicon,
        else ``cpu``.
    """
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


def seed_everything(seed: int) -> None:
    """Seed Python, NumPy's global generator and PyTorch on every device.

    Initial weights come from PyTorch's CPU generator as long as a module is built on
    the CPU and moved afterwards, so a run starts from the same numbers everywhere.

    Parameters
    ----------
    seed : int
        Any whole number from 0 to 2**32 − 1.
    """
    import numpy as np

    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - for libraries that use the global generator
    torch.manual_seed(seed)
