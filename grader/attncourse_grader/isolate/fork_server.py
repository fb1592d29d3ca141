"""The process that has imported everything, and forks; `forking` starts it.

First of all it forks another one, the nursery. That takes the right answers out of its
own copy of the exercises and raises kernels; it never learns what a notebook, a secret
or an expected output is. Whatever is called afterwards is called in a fork that has the
right answers and runs nothing of a student's.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket
import sys
import time
from importlib import import_module
from pathlib import Path

import attncourse
from attncourse_grader.isolate import forking, oracle, remembered
from attncourse_grader.isolate.channel import Reader, sender
from attncourse_grader.isolate.spawn import end_after, end_children, spawn_kernels

# Parts of the package that are imported by name, or that no answer needs.
ELSEWHERE = ("exercises", "grading", "cli", "viz", "widgets")
COMPARING = "attncourse_grader.grade.comparing"
# What forks import as soon as they are asked to grade.
NEEDED = ("course.locally", "grade", "records.likeness", "report")


def main() -> None:
    """Fork whatever the socket with the number of the first argument asks for."""
    gc.disable()  # it would write to pages that forks share
    control = socket.socket(fileno=int(sys.argv[1]))
    prepare()
    gc.freeze()
    asks, asked = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    nursery = os.fork()
    if not nursery:
        end_after(nurse, asked, closing=(control, asks))
    asked.close()
    oracle.all_modules()
    import_module(COMPARING).warm_up()
    for name in NEEDED:
        import_module(f"attncourse_grader.{name}")
    tells, hears = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    gc.freeze()
    while True:
        if hears in select.select([control, hears], [], [])[0]:
            remembered.hear(hears)
            continue
        _, fds, _, _ = socket.recv_fds(control, 1, 1)
        if not fds:
            asks.close()  # the nursery ends by itself, with all that it has raised
            end_children(but=nursery)
            return
        _bury()
        if not os.fork():
            end_after(answer, fds[0], asks, tells, closing=(control, hears))
        os.close(fds[0])


def prepare() -> None:
    """Import what both kinds of forks need; of the exercises nothing."""
    import torch

    from attncourse_grader.isolate.without_compiler import spare_compiler

    spare_compiler()
    torch.set_num_threads(1)
    for kind in (torch.half, torch.bfloat16):  # reads what kind of processor it is
        torch.ones(8, 8, dtype=kind) @ torch.ones(8, 8, dtype=kind)


def _bury() -> None:
    """Let processes that have ended go."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def nurse(asked) -> None:
    """Take the right answers out, then fork what raises kernels, as often as asked."""
    from attncourse_grader.isolate import inside

    import_course()
    kept, modules = oracle.two_copies()
    inside.settle()

    def serve_cells(sock):
        inside.serve(sock, kept, modules)

    gc.collect()
    gc.freeze()
    while True:
        said, fds, _, _ = socket.recv_fds(asked, 1 << 16, 1)
        if not fds:
            end_children()
            return
        _bury()
        request = json.loads(said)
        for name in request["modules"]:
            with contextlib.suppress(Exception):
                import_module(name)
        gc.freeze()
        if not os.fork():
            sock = socket.socket(fileno=fds[0])
            end_after(spawn_kernels, sock, request, serve_cells, closing=(asked,))
        os.close(fds[0])


def import_course() -> None:
    """Import what answers may find in the package, so that it can be ruled out."""
    folder = Path(attncourse.__file__).parent
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        if parts[0] not in ELSEWHERE and parts[-1] != "__init__":
            import_module(".".join(("attncourse", *parts)))


def answer(number, asks, tells) -> None:
    """Call the function that a socket names, and send what it returns."""
    sock = socket.socket(fileno=number)
    deadline = time.monotonic() + forking.GRACE
    request = Reader(sock, longest=forking.LONGEST).read(deadline)
    signal.alarm(int(request["seconds"]) + forking.GRACE)
    forking.here = forking.Here(asks, request["folder"])
    remembered.tells = tells
    try:
        value = forking.called(request["call"], request["arguments"])
        said = {"returned": value}
    except Exception as error:
        said = {"raised": f"{type(error).__name__}: {error}"}
    sender(sock)(said)


if __name__ == "__main__":
    main()
