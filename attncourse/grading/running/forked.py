"""The process that has imported everything, and forks; `forking` starts it.

It never learns what a notebook holds: the process that it forks to compare reads that.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import socket
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

from attncourse.grading.running import inside
from attncourse.grading.running.channel import Reader, sender
from attncourse.grading.running.forking import GRACE, arguments
from attncourse.grading.running.kernel import ForkedKernel, Nursery
from attncourse.grading.running.raising import end_after, end_children, raise_kernels

IMPORTED = ("torch", "torch._dynamo", "numpy", "pytest", "nbval.plugin", "nbformat")
IMPORTED += ("attncourse.data",)
IF_THERE = (
    "matplotlib.pyplot",
    "matplotlib.font_manager",
    "tqdm.auto",
    "attncourse.training",
)


def main() -> None:
    """Fork whatever the socket with the number of the first argument asks for."""
    control = socket.socket(fileno=int(sys.argv[1]))
    kept, judge = prepare()
    warm_up()

    def serve_cells(sock):
        inside.serve(sock, kept, judge)

    gc.collect()
    gc.freeze()
    while True:
        said, fds, _, _ = socket.recv_fds(control, 1 << 16, 1)
        if not fds:
            end_children()
            return
        _bury()
        request = json.loads(said)
        for name in request["modules"]:
            _import(name)
        wanted, given = socket.socketpair()
        theirs = fds[0]
        if not os.fork():
            others = (control, wanted, theirs)
            end_after(raise_kernels, given, request, serve_cells, closing=others)
        if not os.fork():
            end_after(_compare, theirs, request, wanted, closing=(control, given))
        for sock in (wanted, given):
            sock.close()
        os.close(theirs)


def _bury() -> None:
    """Let processes that have ended go."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def prepare():
    """Import everything; return the exercises and their judge, out of reach."""
    for name in IMPORTED:
        import_module(name)
    for name in IF_THERE:
        _import(name)
    import torch

    torch.set_num_threads(1)
    for kind in (torch.half, torch.bfloat16):  # reads what kind of processor it is
        torch.ones(8, 8, dtype=kind) @ torch.ones(8, 8, dtype=kind)
    from attncourse.grading.running.oracle import two_copies

    return two_copies()


def warm_up() -> None:
    """Let pytest and nbval import once, for all, what they import as they run."""
    from nbformat.v4 import new_code_cell, new_notebook, writes

    inside.settle()
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


def _import(name):
    with contextlib.suppress(Exception):
        import_module(name)


# In the process that compares ------------------------------------------------------


def _compare(number, request, wanted):
    """Read a notebook, let nbval run it, and send what it says of each cell."""
    gc.disable()
    signal.alarm(int(request["seconds"]) + GRACE)
    sock = socket.socket(fileno=number)
    text = Reader(sock, longest=1 << 28).read(time.monotonic() + GRACE)["notebook"]
    kernel = ForkedKernel(Nursery(wanted))
    send = sender(sock)
    _compared(text, kernel, send)
    send({"walls": kernel.walls})


def _compared(text: str, kernel, write) -> None:
    """Let nbval run a notebook with a kernel."""
    import nbval.plugin
    import pytest

    from attncourse.grading.running.recorder import Recorder

    with tempfile.TemporaryDirectory(prefix="attncourse-") as folder:
        path = Path(folder) / "graded.ipynb"  # removed before anything runs
        path.write_text(text, encoding="utf8")
        nbval.plugin.RunningKernel = lambda *_, **__: kernel
        recorder = Recorder(write, forked=True)
        pytest.main([*arguments(folder), str(path)], plugins=[recorder])


if __name__ == "__main__":
    main()
