"""Raise kernels: fork processes behind walls, and end what they leave running."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sys
import tempfile
from pathlib import Path

from attncourse_grader.isolate import sandbox
from attncourse_grader.isolate.sandbox import try_wall


def end_after(function, *arguments, closing=()) -> None:
    """Call a function in a process that was forked just now, and end that.

    Parameters
    ----------
    function : callable
        What to do.
    *arguments
        What it is called with.
    closing : iterable
        Sockets, and numbers of files, that are closed before.
    """
    try:
        sandbox.die_with_parent()
        for thing in closing:
            os.close(thing) if isinstance(thing, int) else thing.close()
        function(*arguments)
    finally:
        os._exit(0)


def spawn_kernels(sock, request: dict, then) -> None:
    """Fork a kernel whenever asked to; before, end what the last one has left.

    Parameters
    ----------
    sock : socket.socket
        Where "n" asks for a new kernel and "e" for the end of the last.
    request : dict
        The folder for this notebook, and the seconds that it may take.
    then : callable
        What a kernel does with its socket.
    """
    sandbox.adopt_orphans()
    folder, count = Path(request["folder"]), 0
    while True:
        asked = sock.recv(1)
        end_children()
        if not asked:
            return
        if asked == b"e":
            sock.sendall(b"e")
            continue
        count += 1
        ours, theirs = socket.socketpair()
        place = folder / f"kernel-{count}"
        said = fork_behind_walls(
            place, request["seconds"], theirs, then, closing=(sock, ours)
        )
        theirs.close()
        socket.send_fds(sock, [json.dumps(said).encode()], [ours.fileno()])
        ours.close()


def fork_behind_walls(place: Path, seconds, sock, then, *, closing=()) -> dict:
    """Call a function in a forked process behind walls; say which walls stand.

    Parameters
    ----------
    place : Path
        Where a folder can be made for it.
    seconds : float
        Processor seconds that it may take.
    sock : socket.socket
        What stays open in it.
    then : callable
        What it does.
    closing : iterable of socket.socket
        Closed in it.
    """
    read, write = os.pipe()
    if not os.fork():
        end_after(
            _behind_walls, sock, write, place, seconds, then, closing=(*closing, read)
        )
    os.close(write)
    with os.fdopen(read, "rb") as file:
        said = file.read(1 << 14)
    return json.loads(said) if said else {}


def end_children(but: int = 0) -> None:
    """Kill all that descends from this process until nothing is left.

    Parameters
    ----------
    but : int
        A child that ends by itself, and is waited for.
    """
    while True:
        for number in set(_children()) - {but}:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(number, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _children() -> list[int]:
    mine = os.getpid()
    try:
        text = Path(f"/proc/self/task/{mine}/children").read_text()
        return [int(number) for number in text.split()]
    except OSError:
        import psutil

        return [child.pid for child in psutil.Process(mine).children()]


def _behind_walls(sock, write, place, seconds, then) -> None:
    """Put up the outer walls, then fork the process that the answers run in."""
    place.mkdir()
    there, number = sandbox.address_space(), os.getpid() % 50_000
    readable, hidden = sandbox.visible()
    walls = [
        try_wall("memory", sandbox.first_to_go),
        try_wall("namespaces", sandbox.own_namespaces),
    ]
    own_files = False
    if walls[-1].stands:
        walls.append(try_wall("files", sandbox.own_files, place, readable, hidden))
        own_files = walls[-1].stands
    child = os.fork()
    if child:
        sock.close()
        os.close(write)
        os.waitpid(child, 0)
        return
    sandbox.die_with_parent()
    scratch = sandbox.SCRATCH if own_files else place
    os.chdir(scratch)
    # A Python that only root may look at can be run by nobody else.
    prefix = Path(sys.base_prefix).resolve()
    keep = not own_files and not sandbox.open_to_others(prefix)
    if not own_files:
        scratch = Path(".").absolute()
        with contextlib.suppress(OSError):
            keep or os.chown(scratch, *[sandbox.UNPRIVILEGED_UID + number] * 2)
    walls.append(try_wall("limits", sandbox.limits, seconds, there))
    walls.append(try_wall("rights", sandbox.no_rights, number, keep_user=keep))
    walls.append(try_wall("landlock", sandbox.only_files, readable, hidden, scratch))
    with contextlib.suppress(OSError):
        sandbox.die_with_parent()  # a change of user has undone that
    os.write(write, json.dumps({w.name: w.why_not for w in walls}).encode()[: 1 << 14])
    sock = socket.socket(fileno=os.dup(sock.fileno()))
    sandbox.bare_process(sock.fileno())
    _forget(scratch)
    if then is not None:
        then(sock)
    os._exit(0)


def _forget(scratch: Path) -> None:
    """Leave nothing of the instructor's environment."""
    os.environ.clear()
    os.environ |= {
        "PATH": "/usr/bin:/bin",
        "HOME": str(scratch),
        "TMPDIR": str(scratch),
        "MPLCONFIGDIR": str(scratch),
        "MPLBACKEND": "agg",
        "IPYTHONDIR": str(scratch),
        "OMP_NUM_THREADS": "1",
        "CUDA_VISIBLE_DEVICES": "",
        "PYTHONUTF8": "1",
    }
    tempfile.tempdir = str(scratch)


def main() -> None:
    """Print which walls can be put up here."""
    sandbox.adopt_orphans()
    ours, theirs = socket.socketpair()
    with tempfile.TemporaryDirectory() as folder, ours, theirs:
        Path(folder).chmod(0o711)
        place = Path(folder) / "tried"
        said = fork_behind_walls(place, 9, theirs, None, closing=(ours,))
        end_children()
    json.dump(said, sys.stdout)


if __name__ == "__main__":
    main()
