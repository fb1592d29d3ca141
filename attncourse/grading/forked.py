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
import time
from importlib import import_module
from pathlib import Path

from attncourse.grading.channel import Reader, send
from attncourse.grading.forking import GRACE, arguments
from attncourse.grading.kernel import ForkedKernel, Nursery
from attncourse.grading.raising import end_after, end_children, raise_kernels

IMPORTED = ("torch", "numpy", "pytest", "nbval.plugin", "nbformat", "attncourse.data")
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
            end_after(raise_kernels, given, request, kept, judge, closing=others)
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
    from attncourse.grading.oracle import two_copies

    return two_copies()


def _import(name):
    with contextlib.suppress(Exception):
        import_module(name)


# In the process that compares ------------------------------------------------------


def _compare(number, request, wanted):
    """Read a notebook, let nbval run it, and send what it says of each cell."""
    import nbval.plugin
    import pytest

    from attncourse.grading.recorder import Recorder

    gc.disable()
    signal.alarm(int(request["seconds"]) + GRACE)
    sock = socket.socket(fileno=number)
    text = Reader(sock, longest=1 << 28).read(time.monotonic() + GRACE)["notebook"]
    folder = Path(request["folder"])
    path = folder / "graded.ipynb"
    with os.fdopen(
        os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf8"
    ) as file:
        file.write(text)
    kernel = ForkedKernel(Nursery(wanted))
    nbval.plugin.RunningKernel = lambda *_, **__: kernel
    os.chdir(folder)
    recorder = Recorder(lambda record: send(sock, record), forked=True)
    pytest.main([*arguments(folder), str(path)], plugins=[recorder])
    send(sock, {"walls": kernel.walls})


if __name__ == "__main__":
    main()
