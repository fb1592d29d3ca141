"""Ask a process that has imported everything for forks in which to work.

It is started once for a batch. For each notebook two processes are forked: one that
grades it, with pytest and nbval in it, and one that forks in turn the isolated
processes in which answers run. So the process that asks need not import PyTorch. When
it ends, however it ends, all of these end too.
"""

from __future__ import annotations

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
from importlib import import_module

from attncourse_grader.isolate import sandbox
from attncourse_grader.isolate.channel import receive, send
from attncourse_grader.isolate.student import Spawner

TOTAL_SECONDS = 600  # one submission may take, beside the limits of its cells
SERVER = "attncourse_grader.isolate.fork_server"
GRACE = 20  # seconds beside those that a call may take
LONGEST = 1 << 28  # bytes of a call, and of what it returns
PASSED_ON = ("PATH", "LANG", "LC_ALL", "PYTHONPATH", "VIRTUAL_ENV", "HOME", "TMPDIR")
PASSED_ON += ("ATTNCOURSE_BOOK",)  # where links of the feedback lead
PASSED_ON += (sandbox.UNSAFE,)

NOT_LINUX = (
    "Grading needs Linux: answers run in isolated processes that other systems do not "
    "have. On Windows use WSL, elsewhere the container."
)


class Ended(RuntimeError):
    """The process in which something was called has ended before it was done."""


class Here:
    """What a process has that was forked for a call."""

    def __init__(self, asks, folder: str):
        self._asks, self._folder, self._spawners = asks, folder, {}

    def spawner(self, seconds: float, environment: dict, hidden=()) -> Spawner:
        """Return where processes for one exercise come from."""
        key = json.dumps([environment, list(hidden)])
        if key not in self._spawners:
            wanted, given = socket.socketpair()
            folder = os.path.join(self._folder, str(len(self._spawners)))
            os.mkdir(folder, 0o711)
            asked = {
                "folder": folder,
                "seconds": seconds,
                "environment": environment,
                "hidden": list(hidden),
            }
            with given:
                text = json.dumps(asked).encode()
                socket.send_fds(self._asks, [text], [given.fileno()])
            self._spawners[key] = Spawner(wanted)
        return self._spawners[key]


class Forker:
    """The instructor's side: ask for something to be done in a fork.

    Raises `OSError` if this system is not Linux.
    """

    def __init__(self):
        if not sandbox.linux:
            raise OSError(NOT_LINUX)
        here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with there:
            self.process = subprocess.Popen(
                [sys.executable, "-m", SERVER, str(there.fileno())],
                env=_environment(),
                pass_fds=[there.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._control, self._lock = here, threading.Lock()

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return self.process.poll() is None

    def call(self, name: str, *arguments, seconds: float):
        """Call a function in a process that is forked for it, and return what it says.

        Raises `Ended` if the process came to no end, or to none of its own,
        `RuntimeError` if the function raised something.
        """
        folder = tempfile.mkdtemp(prefix="attncourse-")
        here, there = socket.socketpair()
        request = {"call": name, "arguments": arguments}
        try:
            os.chmod(folder, 0o711)
            with there, self._lock:
                socket.send_fds(self._control, [b"f"], [there.fileno()])
            send(here, {**request, "folder": folder, "seconds": seconds})
            deadline = time.monotonic() + seconds + 2 * GRACE
            said = receive(here, deadline, LONGEST)
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


def call(name: str, *arguments, seconds: float):
    """Call a function in a fork; directly, if this process is one."""
    if here is not None:
        return called(name, arguments)
    asked = forker()
    try:
        return asked.call(name, *arguments, seconds=seconds)
    except Ended:
        time.sleep(0.1)
        if asked.alive:
            raise
    return forker().call(name, *arguments, seconds=seconds)  # somebody has killed it


def called(name: str, arguments):
    """Return what the function of this name returns."""
    module, _, function = name.rpartition(".")
    return getattr(import_module(module), function)(*arguments)


def forker() -> Forker:
    """Return the one forking process of this program; start it if need be."""
    global _forker
    with _lock:
        if _forker is None or not _forker.alive:
            _forker = Forker()
            atexit.register(_forker.close)
        return _forker


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    own = {"MKL_NUM_THREADS": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return kept | own | sandbox.ENVIRONMENT


@functools.cache
def layers() -> dict[str, str]:
    """Try the layers of isolation; return why each does not work, "" where it does."""
    said = {}
    command = [sys.executable, "-m", "attncourse_grader.isolate.spawn"]
    with contextlib.suppress(subprocess.SubprocessError, ValueError, OSError):
        done = subprocess.run(
            command, env=_environment(), capture_output=True, timeout=60, check=False
        )
        said = json.loads(done.stdout)
    return {name: said.get(name, sandbox.UNTRIED) for name in sandbox.LAYERS}
