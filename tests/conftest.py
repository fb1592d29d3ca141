import os

import matplotlib
import pytest
import torch

from tests.loading import load

matplotlib.use("Agg")
torch.set_num_threads(1)


@pytest.fixture
def rng():
    """Return a seeded CPU generator: every test starts from the same numbers."""
    return torch.Generator().manual_seed(20)


@pytest.fixture(scope="session")
def browser():
    """Start the system's Chromium."""
    found = load("tools/book_files.py").chromium()
    if found is None:
        remedy = "no Chromium was found: install it, e.g. 'sudo apt install chromium'"
        if os.environ.get("CI") == "true":
            pytest.fail(remedy)
        pytest.skip(remedy)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=found, args=["--no-sandbox"]
        )
        yield chromium
        chromium.close()
