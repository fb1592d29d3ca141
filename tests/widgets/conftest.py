"""A browser for the JavaScript of the widgets."""

import os
import shutil

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def chromium():
    """Start the system's Chromium."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        remedy = "no Chromium was found: install it, e.g. 'sudo apt install chromium'"
        if os.environ.get("CI") == "true":
            pytest.fail(remedy)
        pytest.skip(remedy)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found, args=["--no-sandbox"]
        )
        yield browser
        browser.close()
