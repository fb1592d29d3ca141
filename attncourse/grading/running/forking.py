"""One process that has imported everything, and forks what grades a notebook.

Started once for a batch. For each notebook it forks two processes before anything of
the notebook is known to it: one in which pytest and nbval run and compare, and one that
forks, behind walls, the processes in which answers run. When the instructor's process
ends, however it ends, all of these end too.
"""

from __future__ import annotations

import atexit
import contextlib
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

from attncourse.grading.running import sandbox
from attncourse.grading.running.channel import Broken, Late, Reader, sender

GRACE = 20  # seconds beside those of the cells
PASSED_ON = ("PATH", "LANG", "LC_ALL", "PYTHONPATH", "VIRTUAL_ENV", "HOME", "TMPDIR")


class Forker:
    """The instructor's side: ask for notebooks to be run.

    Raises
    ------
    OSError
        If this system has no fork.
    """

    def __init__(self):
        if not sandbox.linux:
            raise OSError("kernels are forked on Linux only")
        here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with there:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "attncourse.grading.running.forked",
                    str(there.fileno()),
                ],
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
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        """The number of the forking process."""
        return self._process.pid

    def run(self, text: str, seconds: float, modules=()) -> tuple[list[dict], dict]:
        """Run nbval on a notebook.

        Parameters
        ----------
        text : str
            The notebook.
        seconds : float
            That all cells together may take.
        modules : iterable of str
            Imported before anything is forked, once.

        Returns
        -------
        records : list of dict
            What nbval said of each cell.
        walls : dict of str to str
            The walls that stood, with what is wrong where one does not.
        """
        folder = Path(tempfile.mkdtemp(prefix="attncourse-"))
        here, there = socket.socketpair()
        try:
            folder.chmod(0o711)
            asked = {"folder": str(folder), "seconds": seconds, "modules": [*modules]}
            with there, self._lock:
                socket.send_fds(
                    self._control, [json.dumps(asked).encode()], [there.fileno()]
                )
            sender(here)({"notebook": text})
            return self._listen(Reader(here), time.monotonic() + seconds + 2 * GRACE)
        finally:
            here.close()
            shutil.rmtree(folder, ignore_errors=True)

    def _listen(self, reader, deadline):
        records, walls = [], {}
        with contextlib.suppress(Broken, Late):
            while True:
                message = reader.read(deadline)
                if "walls" in message:
                    walls = message["walls"]
                    break
                records.append(message)
        return records, walls

    def close(self) -> None:
        """End it and all that it has forked."""
        self._control.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(10)
            return
        self._process.kill()
        self._process.wait()


_forker: Forker | None = None
_lock = threading.Lock()


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
    return {
        **kept,
        "MPLBACKEND": "agg",
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "CUDA_VISIBLE_DEVICES": "",
        "PYTHONUTF8": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }


def arguments(folder) -> list[str]:
    """Return the options with which pytest runs nbval."""
    return [
        *("-c", os.devnull, f"--rootdir={folder}"),
        *("-p", "nbval.plugin", "-p", "no:cacheprovider"),
        *("-q", "--no-header", "--tb=no", "--color=no"),
        *("--nbval", "--nbval-current-env"),
    ]


def walls_there() -> dict[str, str]:
    """Return which walls can be put up here, as `sandbox.read_walls` takes it."""
    command = [sys.executable, "-m", "attncourse.grading.running.raising"]
    with contextlib.suppress(subprocess.SubprocessError, ValueError, OSError):
        done = subprocess.run(
            command, env=_environment(), capture_output=True, timeout=60, check=False
        )
        return json.loads(done.stdout)
    return {}
