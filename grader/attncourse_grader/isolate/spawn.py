"""Fork isolated processes, and end what they leave running."""

import contextlib
import json
import os
import signal
import socket
import sys
import tempfile
import time
from pathlib import Path

from attncourse_grader.isolate import landlock, sandbox, seccomp
from attncourse_grader.isolate.sandbox import why_not


def end_after(function, *arguments, closing=()) -> None:
    """Call a function in a process that was forked just now, and end that."""
    try:
        sandbox.die_with_parent()
        for thing in closing:
            os.close(thing) if isinstance(thing, int) else thing.close()
        function(*arguments)
    finally:
        os._exit(0)


def spawn(talk: int, end: int, request: dict, then) -> None:
    """Fork an isolated process; end it when the other side closes its `end`."""
    sandbox.adopt_orphans()
    with socket.socket(fileno=end) as control:
        with socket.socket(fileno=talk) as sock:
            said = fork_isolated(request, sock, then, closing=(control,))
        control.sendall(json.dumps(said).encode())
        if control.recv(1):  # the process has closed its socket
            control.sendall(b"killed" if _killed() else b"!")
            control.recv(1)
        end_children()


def _killed() -> bool:
    """Say whether the process was killed; one that is left in a moment was not."""
    for _ in range(40):
        number, status = os.waitpid(-1, os.WNOHANG)
        if number:
            return status != 0
        time.sleep(0.05)
    return False


def fork_isolated(request: dict, sock, then, *, closing=()) -> dict:
    """Call a function in an isolated forked process; say which layers work."""
    read, write = os.pipe()
    if not os.fork():
        end_after(_isolated, sock, write, request, then, closing=(*closing, read))
    os.close(write)
    with os.fdopen(read, "rb") as file:
        said = file.read(1 << 14)
    return json.loads(said) if said else {}


def end_children(but: int = 0) -> None:
    """Kill all that descends from this process until nothing is left."""
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


def _isolated(sock, write, request, then) -> None:
    """Put the outer layers in place, then fork the process that the answers run in."""
    place = Path(request["folder"])
    place.mkdir()
    there, number = sandbox.address_space(), os.getpid() % 50_000
    readable, hidden = sandbox.visible()
    hidden += [Path(path) for path in request.get("hidden", ())]
    # Where memory runs out, the system is to end this process first.
    layers = {"memory": why_not(Path("/proc/self/oom_score_adj").write_text, "1000")}
    layers["namespaces"] = why_not(sandbox.own_namespaces)
    if not layers["namespaces"]:
        layers["files"] = why_not(sandbox.own_files, place, readable, hidden)
    own_files = layers.get("files") == ""
    child = os.fork()
    if child:
        sock.close()
        os.close(write)
        _, status, used = os.wait4(child, 0)
        in_time = used.ru_utime + used.ru_stime < int(request["seconds"])
        # By the system, if memory runs out, or by somebody: not for its time.
        os._exit(os.WTERMSIG(status) == signal.SIGKILL and in_time)
    sandbox.die_with_parent()
    # On the disk nothing limits what all files take together: there it may write none.
    writable = sandbox.SCRATCH if own_files else None
    scratch = writable or place.absolute()
    os.chdir(scratch)
    # A Python that only root may look at can be run by nobody else.
    prefix = Path(sys.base_prefix).resolve()
    to_others = all(p.stat().st_mode & 0o001 for p in [prefix, *prefix.parents])
    keep = not own_files and not to_others
    disk = sandbox.DISK if own_files else 0
    layers["limits"] = why_not(sandbox.limits, request["seconds"], there, disk)
    layers["rights"] = why_not(sandbox.no_rights, number, keep_user=keep)
    layers["landlock"] = why_not(landlock.restrict, readable, hidden, writable)
    with contextlib.suppress(OSError):
        sandbox.die_with_parent()  # a change of user has undone that
    layers["calls"] = why_not(seccomp.refuse_calls)
    os.write(write, json.dumps(layers).encode()[: 1 << 14])
    sock = socket.socket(fileno=os.dup(sock.fileno()))
    sandbox.bare_process(sock.fileno())
    # Nothing is left of the instructor's environment.
    os.environ.clear()
    names = "HOME", "TMPDIR", "MPLCONFIGDIR", "IPYTHONDIR"
    places = dict.fromkeys(names, str(scratch))
    os.environ |= {"PATH": "/usr/bin:/bin", **places, **sandbox.ENVIRONMENT}
    tempfile.tempdir = str(scratch)
    if then is not None:
        then(sock)
    os._exit(0)


def main() -> None:
    """Print which layers of isolation work here."""
    sandbox.adopt_orphans()
    ours, theirs = socket.socketpair()
    with tempfile.TemporaryDirectory() as folder, ours, theirs:
        Path(folder).chmod(0o711)
        request = {"folder": f"{folder}/tried", "seconds": 9}
        said = fork_isolated(request, theirs, None, closing=(ours,))
        end_children()
    json.dump(said, sys.stdout)


if __name__ == "__main__":
    main()
