"""What the languages of the grammar are compared with."""

import tomllib
from pathlib import Path


def read_list(name):
    """Return a TOML file of this folder."""
    path = Path(__file__).with_name(f"{name}.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))
