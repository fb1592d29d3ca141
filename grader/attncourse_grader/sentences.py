"""What is told in more than a line, by the name that it has in the code."""

import tomllib
from pathlib import Path

SAYS = tomllib.loads(Path(__file__).with_name("sentences.toml").read_text("utf8"))
