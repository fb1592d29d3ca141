"""A plugin of pytest: nbval compares what a run printed that was kept.

    python -m pytest -p tools.from_build --nbval chapters solutions

``make book`` runs each chapter in a kernel of its own, and keeps the outputs under a
key of the chapter's code, the package and the environment. Where all these are the same
as now, a second run would only cost its minutes, so nbval is given the kept outputs in
place of a kernel's. The build keeps runs of the solutions, too; one without a run is
run here. Without this plugin nbval runs all notebooks itself.
"""

from pathlib import Path

import nbformat
import nbval.plugin
import pytest

from tools.build import CACHES, ROOT, environment_key, run_of_solution


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


def run_of_chapter(path: Path):
    """Return the build's run of a chapter."""
    from jupyter_cache import get_cache

    cache = get_cache(CACHES / environment_key())
    notebook = nbformat.read(path, as_version=4)
    try:
        return cache.get_cache_bundle(cache.match_cache_notebook(notebook).pk).nb
    except KeyError:
        pytest.fail(f"{path.name} has changed since it was run. Run `make book`.")


def setup(self):
    """Take the outputs of the notebook that nbval is about to read."""
    path = self.path.resolve()
    of_solution = path.parent == ROOT / "solutions"
    run, failure = run_of_solution(path) if of_solution else (run_of_chapter(path), "")
    if failure:
        pytest.fail(f"{path.name} stopped.\n{failure}")
    self.kernel = Replay(path, [c for c in run.cells if c.cell_type == "code"])
    self.setup_sanitize_files()


nbval.plugin.IPyNbFile.setup = setup
