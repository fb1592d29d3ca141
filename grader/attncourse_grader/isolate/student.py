"""A kernel for nbval that is a fork: the interface of nbval's `RunningKernel`.

Here is the side of the process that compares. It knows the expected outputs and runs
nothing of the student's; `inside` is the other side. Each cell has one deadline; a
process that ended is noticed at once; and where a cell did not come to an end, the next
one finds a fresh process in which all earlier cells that did have run.
"""

from __future__ import annotations

import contextlib
import math
import secrets
import socket
import time

from attncourse_grader.isolate.channel import Broken, Late, Reader, sender

SECONDS_TO_START = 60
MOST_MESSAGES = 10_000  # of one cell
REPLAY_SECONDS = 240  # for the cells before, in a fresh process


class KernelDied(RuntimeError):
    """The answer ended the process that ran it, or did not end in its time."""


class ForkServer:
    """Ask another process, over a socket, for kernels."""

    def __init__(self, sock):
        self.sock = sock

    def new(self) -> socket.socket:
        """Return the socket of a fresh kernel.

        What an earlier kernel has left running is ended first.
        """
        self.sock.settimeout(SECONDS_TO_START)
        self.sock.sendall(b"n")
        _, fds, _, _ = socket.recv_fds(self.sock, 1 << 16, 1)
        if not fds:
            raise KernelDied("no process could be started")
        return socket.socket(fileno=fds[0])

    def end(self) -> None:
        """End the kernel and all that it started."""
        self.sock.settimeout(SECONDS_TO_START)
        self.sock.sendall(b"e")
        self.sock.recv(1)


class ForkedKernel:
    """Run cells in a forked process.

    Parameters
    ----------
    nursery : ForkServer
        Where kernels come from.
    until : float
        The value of ``time.monotonic()`` after which no cell runs.
    """

    def __init__(self, nursery: ForkServer, until: float = math.inf):
        self.nursery, self.until = nursery, until
        self.seconds = SECONDS_TO_START  # the recorder sets it for each cell
        self._sock = self._reader = self._put = None
        self._cells: list[str] = []  # that a fresh process has to run first
        self._count = 0
        self._deadline = 0.0
        self._messages: list[dict] = []

    def give_up(self) -> None:
        """End the process; the next cell gets a fresh one."""
        if self._sock is not None:
            self._sock.close()
            self._sock = self._reader = self._put = None
            self.nursery.end()

    def remember(self, source: str) -> None:
        """Run this cell again whenever a fresh process is needed."""
        self._cells.append(source)

    def execute_cell_input(self, source, allow_stdin=None):
        """Start a cell and return the number of its messages."""
        self._messages = []
        if time.monotonic() >= self.until:
            self._died()
        if self._sock is None:
            self._begin()
        self._deadline = min(time.monotonic() + self.seconds, self.until)
        return self._send(source)

    def _begin(self):
        self._sock = self.nursery.new()
        key = secrets.token_bytes(32)
        self._put = sender(self._sock)
        self._reader = Reader(self._sock, key)
        with contextlib.suppress(OSError):
            self._put(key.hex())
        for cell in self._cells:
            deadline = min(time.monotonic() + REPLAY_SECONDS, self.until)
            self._pump(self._send(cell), deadline)
        self._messages = []

    def _send(self, source: str) -> int:
        self._count += 1
        try:
            self._put({"id": self._count, "code": source})
        except OSError:
            self._died()
        return self._count

    def _died(self):
        self.give_up()
        raise KernelDied("the process that ran the answer has ended")

    def _pump(self, number: int, deadline: float):
        while len(self._messages) <= MOST_MESSAGES:
            try:
                message = self._reader.read(deadline)
            except (Broken, Late):
                break
            kind = message.get("type") if isinstance(message, dict) else None
            if kind == "done" and message.get("id") == number:
                self._add(number, "status", {"execution_state": "idle"})
                return
            if kind == "stream":
                text = str(message.get("text", ""))
                self._add(number, "stream", {"name": "stdout", "text": text})
            elif kind == "error":
                said = {k: str(message.get(k, "")) for k in ("ename", "evalue")}
                self._add(number, "error", {**said, "traceback": []})
        self._died()

    def _add(self, number: int, kind: str, content: dict):
        self._messages.append(
            {"parent_header": {"msg_id": number}, "msg_type": kind, "content": content}
        )

    def await_reply(self, number, timeout=None):
        """Wait until the cell has come to its end."""
        self._pump(number, self._deadline)

    def await_idle(self, number, timeout=None):
        """Do nothing: when the reply is there, all messages are."""

    def get_message(self, stream, timeout=None):
        """Return the next message of the cell."""
        return self._messages.pop(0)

    def is_alive(self) -> bool:
        """Say that cells can be run: a fresh process can be had at any time."""
        return True

    def stop(self) -> None:
        """End the process."""
        self.give_up()

    interrupt = restart = stop
    language = "python"
