"""Messages between processes that do not trust each other: a length, then JSON."""

import json
import struct
import time

LONGEST_MESSAGE = 64_000_000  # bytes
HEAD = struct.Struct("!I")


def send(sock, message) -> None:
    """Send one message."""
    body = json.dumps(message).encode("ascii")
    sock.sendall(HEAD.pack(len(body)) + body)


def receive(sock, deadline=None, longest=LONGEST_MESSAGE, most_parts=LONGEST_MESSAGE):
    """Return the next message of a socket.

    Raises `OSError` if the other side has closed, or sent no message, or one of many
    small parts, which would take 20 times its size, or if the deadline came first.
    """
    try:
        (size,) = HEAD.unpack(_take(sock, HEAD.size, deadline))
        if size > longest:
            raise OSError("a message is too long")
        body = _take(sock, size, deadline)
        if sum(map(body.count, b"[{,")) > most_parts:
            raise OSError("a message has too many parts")
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise OSError("no message") from error
    finally:
        sock.settimeout(None)


def _take(sock, size: int, deadline: float | None) -> bytes:
    data = bytearray()
    while len(data) < size:
        if deadline is not None:
            sock.settimeout(max(0.001, deadline - time.monotonic()))
        part = sock.recv(min(1 << 16, size - len(data)))
        if not part:
            raise ConnectionError("closed")
        data += part
    return bytes(data)
