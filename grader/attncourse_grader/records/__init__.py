"""What is kept of a course, and the tables and pages that are made from it."""

import tomllib
from pathlib import Path

SAYS = tomllib.loads(Path(__file__).with_name("sentences.toml").read_text("utf8"))
