"""The trusted side of a process that runs a student's code.

It runs nothing of the student's; `student_process` is the other side. After a request
that did not end the next one finds a new process in which all earlier cells were run.
"""

import contextlib
import json
import math
import os
import socket
import time
from collections.abc import Callable

from attncourse.exercises.run import from_plain
from attncourse_grader.isolate import sandbox
from attncourse_grader.isolate.channel import receive, send

SECONDS_TO_START = 60
LONGEST_REPLY = 1 << 23  # bytes; the grader keeps the replies of all that fails
MOST_PARTS = 1 << 20  # lists and what they hold; numbers of a tensor are one text
REPLAY_SECONDS = 240  # for the cells before, in a fresh process
KILLED = "A process was killed or paused. Did memory run out? Grade it again."
PAUSE = 20  # seconds that no reply is late by unless the machine stood still


class ProcessEnded(RuntimeError):
    """The code ended the process that ran it, or did not end in its time."""


class Killed(RuntimeError):
    """Something other than the grader or the code has ended its process."""


class AnswerError(RuntimeError):
    """The code raised an exception; the message names it."""


class Student:
    """Run cells and probes in processes that `new` gives; a fresh one runs `cells`."""

    def __init__(self, new: Callable, until: float = math.inf, cells=()):
        self.new, self.until, self.cells = new, until, list(cells)
        self._sock, self._end, self._count = None, None, 0

    def run(self, code: str, seconds: float, *, known: bool = True) -> None:
        """Run a cell, `known` to the student, now and in each fresh process.

        Raises `AnswerError` if it raises something, `ProcessEnded` if it does not come
        to an end in time.
        """
        self._ask({"code": code, "known": known}, seconds)
        self.cells.append({"code": code, "known": known})

    def observe(self, task: str, place: int, seeds, seconds: float) -> list:
        """Return what the answer to a task gives for one probe and some seeds."""
        came = self._ask({"task": task, "place": place, "seeds": list(seeds)}, seconds)
        try:
            found = [from_plain(one) for one in came]
        except (ValueError, OverflowError, RecursionError, LookupError) as error:
            raise AnswerError(f"ValueError: {error}") from None
        if len(found) != len(seeds):
            raise AnswerError("ValueError: this is no reply")
        return found

    def _ask(self, request: dict, seconds: float) -> list:
        if time.monotonic() >= self.until:
            self._ended()
        if self._sock is None:
            self._sock, self._end = self.new()
            self._end.settimeout(SECONDS_TO_START)
            if not (said := json.loads(self._end.recv(1 << 14) or "{}")):
                raise Killed(KILLED)
            if sandbox.too_open(said):
                os._exit(1)  # and no grade, rather than lost points
            for cell in self.cells:
                with contextlib.suppress(AnswerError):
                    self._reply(cell, REPLAY_SECONDS)
        return self._reply(request, seconds)

    def _reply(self, request: dict, seconds: float) -> list:
        self._count += 1
        deadline = min(time.monotonic() + seconds, self.until)
        try:
            self._sock.settimeout(max(0.001, deadline - time.monotonic()))
            send(self._sock, {**request, "id": self._count})
            reply = receive(self._sock, deadline, LONGEST_REPLY, MOST_PARTS)
        except (OSError, MemoryError) as error:  # in the midst of a message
            if time.monotonic() > deadline + PAUSE:
                raise Killed(KILLED) from None
            self._ended(closed=isinstance(error, ConnectionError))
        if not isinstance(reply, dict) or reply.get("id") != self._count:
            self._ended()
        if error := reply.get("error"):
            raise AnswerError(str(error)[:2100])
        came = reply.get("came")
        return came if isinstance(came, list) else []

    def _ended(self, *, closed: bool = False):
        if closed:
            self._end.sendall(b"?")
            if self._end.recv(1) != b"!":
                raise Killed(KILLED)
        self.close()
        raise ProcessEnded("the process that ran the answer has ended")

    def close(self) -> None:
        """End the process and all that it started; the next request gets another."""
        if self._sock is not None:
            self._sock.close()
            self._end.shutdown(socket.SHUT_WR)
            self._end.recv(1)  # nothing comes: it is closed when all has ended
            self._end.close()
            self._sock = None
