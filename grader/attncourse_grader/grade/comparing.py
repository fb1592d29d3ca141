"""Where nbval runs and compares: in a process that was forked, beside its kernel."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import nbval.plugin
import pytest

from attncourse_grader.grade.recorder import Recorder
from attncourse_grader.isolate import forking
from attncourse_grader.isolate.kernel import ForkedKernel


def compare(text: str, seconds: float, modules) -> list[dict]:
    """Let nbval run a notebook behind walls, and return what it says of each cell.

    Parameters
    ----------
    text : str
        The notebook.
    seconds : float
        That all its cells together may take.
    modules : list of str
        Imported before kernels are forked, once for all notebooks.
    """
    nursery = forking.here.nursery(seconds, modules)
    kernel = ForkedKernel(nursery, until=time.monotonic() + seconds)
    records: list[dict] = []
    _compared(text, kernel, records.append)
    kernel.stop()
    return records


def _compared(text: str, kernel, write) -> None:
    with tempfile.TemporaryDirectory(prefix="attncourse-") as folder:
        path = Path(folder) / "graded.ipynb"  # removed before anything runs
        path.write_text(text, encoding="utf8")
        nbval.plugin.RunningKernel = lambda *_, **__: kernel
        recorder = Recorder(write, forked=True)
        pytest.main([*forking.arguments(folder), str(path)], plugins=[recorder])


def warm_up() -> None:
    """Let pytest and nbval import once, for all, what they import as they run."""
    from nbformat.v4 import new_code_cell, new_notebook, writes

    cells = [new_code_cell("1", execution_count=1)]
    _compared(writes(new_notebook(cells=cells)), NoKernel(), lambda record: None)


class NoKernel:
    """A kernel that runs nothing."""

    seconds = 0

    def execute_cell_input(self, source, allow_stdin=None):
        """Do nothing."""
        return 1

    def await_reply(self, number, timeout=None):
        """Do nothing."""

    def get_message(self, stream, timeout=None):
        """Say that the cell is done."""
        idle = {"execution_state": "idle"}
        return {"parent_header": {"msg_id": 1}, "msg_type": "status", "content": idle}

    def is_alive(self):
        """Say that cells can be run."""
        return True

    def remember(self, source):
        """Do nothing."""

    def stop(self):
        """Do nothing."""

    give_up = stop
