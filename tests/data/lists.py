"""What the languages of the grammar are compared with."""

import tomllib
from pathlib import Path


def second_list(language):
    """Return the genders and forms of a language, written down a second time."""
    text = Path(__file__).with_name("second_lists.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)[language]
