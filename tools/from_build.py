"""A plugin of pytest: nbval compares what the build's run of the chapters printed.

    python -m pytest -p tools.from_build --nbval chapters

``make book`` runs each chapter in a kernel of its own, and keeps the outputs under a
key of the chapter's code, the package and the environment. Where all these are the same
as now, a second run would only cost its minutes, so nbval is given the kept outputs in
place of a kernel's. Without this plugin nbval runs the chapters itself.
"""

from pathlib import Path

import nbformat
import nbval.plugin
import pytest
from jupyter_cache import get_cache

from tools.build import CACHES, environment_key


class Replay:
    """What nbval takes for a kernel: it sends the outputs of a run that was kept."""

    language = "python"

    def __init__(self, notebook: Path, cells: list):
        self.notebook, self.cells = notebook, iter(cells)
        self.messages: list[tuple[str, dict]] = []

    def execute_cell_input(self, source, allow_stdin=None) -> int:
        """Make ready the messages of the next cell, which must be this one."""
        cell = next(self.cells)
        if cell.source != source:
            raise RuntimeError(f"{self.notebook}: the build ran another cell here.")
        self.messages = [(output.output_type, output) for output in cell.outputs]
        self.messages.append(("status", {"execution_state": "idle"}))
        return 1

    def get_message(self, stream, timeout=None) -> dict:
        kind, content = self.messages.pop(0)
        return {"parent_header": {"msg_id": 1}, "msg_type": kind, "content": content}

    def is_alive(self) -> bool:
        return True

    def do_nothing(self, *arguments, **options):
        """Neither wait for messages, which are there, nor stop a process."""

    await_reply = await_idle = stop = interrupt = restart = do_nothing


def setup(self):
    """Take the outputs of the notebook that nbval is about to read."""
    notebook = nbformat.read(self.path, as_version=4)
    cache = get_cache(CACHES / environment_key())
    try:
        run = cache.get_cache_bundle(cache.match_cache_notebook(notebook).pk).nb
    except KeyError:
        pytest.fail(f"{self.path.name} has changed since it was run. Run `make book`.")
    self.kernel = Replay(self.path, [c for c in run.cells if c.cell_type == "code"])
    self.setup_sanitize_files()


nbval.plugin.IPyNbFile.setup = setup
