"""Messages between processes that do not trust each other: a length, then JSON."""

from __future__ import annotations

import json
import select
import struct
import time

LONGEST_MESSAGE = 64_000_000  # bytes
HEAD = struct.Struct("!I")


class Broken(Exception):
    """The other side is gone, or sends what is no message."""


class Late(Exception):
    """No whole message came in time."""


def send(sock, message) -> None:
    """Send one message."""
    body = json.dumps(message).encode("ascii")
    sock.sendall(HEAD.pack(len(body)) + body)


class Reader:
    """Read messages from a socket, with a deadline and a limit to their size."""

    def __init__(self, sock, longest: int = LONGEST_MESSAGE):
        self.sock, self.longest, self._held = sock, longest, b""

    def read(self, deadline: float | None = None):
        """Return the next message.

        Raises `Broken` if the other side has closed, or sent no message, `Late` if the
        deadline came first.
        """
        (size,) = HEAD.unpack(self._take(HEAD.size, deadline))
        if size > self.longest:
            raise Broken("a message is too long")
        try:
            return json.loads(self._take(size, deadline))
        except (ValueError, RecursionError) as error:
            raise Broken("no message") from error

    def _take(self, size: int, deadline: float | None) -> bytes:
        parts, there = [self._held], len(self._held)
        while there < size:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not select.select([self.sock], [], [], left)[0]:
                self._held = b"".join(parts)
                raise Late
            try:
                part = self.sock.recv(1 << 16)
            except OSError as error:
                raise Broken(str(error)) from error
            if not part:
                raise Broken("closed")
            parts.append(part)
            there += len(part)
        data = b"".join(parts)
        self._held = data[size:]
        return data[:size]
