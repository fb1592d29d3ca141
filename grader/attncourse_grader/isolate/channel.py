"""Messages between processes that do not trust each other: length, proof and JSON.

An answer can write to every file that its process has open, and so to the socket on
which results are sent. So each message carries a proof made with a key that was sent
before the answer was there.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import select
import struct
import time

LONGEST_MESSAGE = 4_000_000  # bytes
HEAD = struct.Struct("!I")


class Broken(Exception):
    """The other side is gone, or sends what is no message."""


class Late(Exception):
    """No whole message came in time."""


def sender(sock, key: bytes = b""):
    """Return a function that sends messages.

    Parameters
    ----------
    sock : socket.socket
        A stream socket.
    key : bytes
        What proves that a message comes from here.
    """
    count = 0
    dumps, pack, put, proof = json.dumps, HEAD.pack, sock.sendall, _proof

    def send(message) -> None:
        nonlocal count
        body = dumps(message).encode("ascii")
        put(pack(len(body)) + proof(key, count, body) + body)
        count += 1

    return send


def _proof(key: bytes, count: int, body: bytes) -> bytes:
    start = count.to_bytes(8, "big")
    return hashlib.blake2b(start + body, key=key, digest_size=PROOF).digest()


PROOF = 16  # bytes


class Reader:
    """Read messages from a socket, with a deadline and a limit to their size.

    Parameters
    ----------
    sock : socket.socket
        A stream socket.
    key : bytes
        What messages are proved with.
    longest : int
        Bytes that a message may have.
    """

    def __init__(self, sock, key: bytes = b"", longest: int = LONGEST_MESSAGE):
        self.sock, self.key, self.longest = sock, key, longest
        self._count = 0
        self._held = b""

    def read(self, deadline: float | None = None):
        """Return the next message.

        Parameters
        ----------
        deadline : float, optional
            The value of ``time.monotonic()`` at which to give up.

        Raises
        ------
        Broken
            If the other side has closed, or sent no message.
        Late
            If the deadline came first.
        """
        (size,) = HEAD.unpack(self._take(HEAD.size, deadline))
        if size > self.longest:
            raise Broken("a message is too long")
        whole = self._take(PROOF + size, deadline)
        proof, body = whole[:PROOF], whole[PROOF:]
        if not hmac.compare_digest(proof, _proof(self.key, self._count, body)):
            raise Broken("a message that is not from the process itself")
        self._count += 1
        try:
            return json.loads(body)
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
