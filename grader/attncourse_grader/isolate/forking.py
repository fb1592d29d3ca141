"""Ask a process that has imported everything for forks in which to work.

It is started once for a batch. For each notebook two processes are forked: one that
grades it, with pytest and nbval in it, and one that forks in turn the isolated
processes in which answers run. When it ends, all of these end too.
"""

import atexit
import contextlib
import functools
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from attncourse_grader.isolate import sandbox
from attncourse_grader.isolate.channel import receive, send
from attncourse_grader.sentences import SAYS

TOTAL_SECONDS = 600  # one submission may take, beside the limits of its cells
BESIDE = 1800  # seconds for what is not the submission's: the solution, once
SERVER = "attncourse_grader.isolate.fork_server"
GRACE = 20  # seconds beside those that a call may take
LONGEST = 1 << 28  # bytes of a call, and of what it returns
PASSED_ON = ("PATH", "LANG", "LC_ALL", "PYTHONPATH", "VIRTUAL_ENV", "HOME", "TMPDIR")
PASSED_ON += (sandbox.UNSAFE, "ATTNCOURSE_BOOK")  # where links of the feedback lead


class Ended(Exception):
    """The process in which something was called has ended before it was done."""


class Here:
    """What a process has that was forked for a call."""

    def __init__(self, asks, folder: str):
        self._asks, self._folder, self._count = asks, folder, 0

    def isolated(self, **request) -> tuple[socket.socket, socket.socket]:
        """Return two sockets of a fresh isolated process: to talk to it, to end it.

        `request` has its ``seconds``, its ``environment`` and what is ``hidden``. When
        the second socket is closed, it ends and all that it has started.
        """
        self._count += 1
        request["folder"] = os.path.join(self._folder, str(self._count))
        (talk, talks), (end, ends) = socket.socketpair(), socket.socketpair()
        with talks, ends:
            text = json.dumps(request).encode()
            socket.send_fds(self._asks, [text], [talks.fileno(), ends.fileno()])
        return talk, end


class Forker:
    """The instructor's side: ask for something to be done in a fork, on Linux only."""

    def __init__(self):
        if not sandbox.linux:
            raise OSError(SAYS["not_linux"])
        here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with there:
            self.process = subprocess.Popen(
                [sys.executable, "-m", SERVER, str(there.fileno())],
                env=_environment(),
                cwd="/",  # matplotlib obeys what lies in the current folder
                pass_fds=[there.fileno()],
                **dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL),
                start_new_session=True,
            )
        self._control, self._lock = here, threading.Lock()

    def call(self, request: dict):
        """Call what a request names in a process that is forked for it."""
        folder, seconds = tempfile.mkdtemp(prefix="attncourse-"), request["seconds"]
        here, there = socket.socketpair()
        try:
            os.chmod(folder, 0o711)
            with there, self._lock:
                socket.send_fds(self._control, [b"f"], [there.fileno()])
            send(here, {**request, "folder": folder})
            said = receive(here, time.monotonic() + seconds + 2 * GRACE, LONGEST)
        except OSError as error:
            why = "it took too long" if isinstance(error, TimeoutError) else error
            raise Ended(f"the process that does the work has ended: {why}") from None
        finally:
            here.close()
            shutil.rmtree(folder, ignore_errors=True)
        if "raised" in said:
            raise RuntimeError(said["raised"])
        return said["returned"]

    def close(self) -> None:
        """End it and all that it has forked."""
        self._control.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        self.process.kill()
        self.process.wait()


_forker: Forker | None = None
_lock = threading.Lock()
here: Here | None = None  # set in a process that was forked for a call


def call(function, *arguments, seconds: float):
    """Call a function of a module in a fork; directly, if this process is one.

    Paths come as texts. Raises `Ended` if the process came to no end, or to none of its
    own, `RuntimeError` if the function raised something.
    """
    plain = [str(a.absolute()) if isinstance(a, Path) else a for a in arguments]
    if here is not None:
        return function(*plain)
    names = {"module": function.__module__, "function": function.__name__}
    asked, request = forker(), {**names, "arguments": plain, "seconds": seconds}
    try:
        return asked.call(request)
    except Ended:
        time.sleep(0.1)
        if asked.process.poll() is None:
            raise
    return forker().call(request)  # somebody has killed it


def forker() -> Forker:
    """Return the one forking process of this program; start it if need be."""
    global _forker
    with _lock:
        if _forker is None or _forker.process.poll() is not None:
            _forker = Forker()
            atexit.register(_forker.close)
        return _forker


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    own = {"MKL_NUM_THREADS": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    own["PYTHONSAFEPATH"] = "1"  # hand-ins may be in the current folder
    return kept | own | sandbox.ENVIRONMENT


@functools.cache
def layers() -> dict[str, str]:
    """Try the layers of isolation; return why each does not work, "" where it does."""
    said = {}
    command = [sys.executable, "-m", "attncourse_grader.isolate.spawn"]
    options = {"env": _environment(), "capture_output": True, "timeout": 60}
    with contextlib.suppress(subprocess.SubprocessError, ValueError, OSError):
        said = json.loads(subprocess.run(command, **options).stdout)
    return {name: said.get(name, sandbox.UNTRIED) for name in sandbox.LAYERS}
