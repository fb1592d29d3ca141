"""Results that processes forked later can use, too.

A process that was forked ends, and what it has worked out with it. So it sends that to
the process that forks. How much is kept does not grow with the number of submissions.
"""

import contextlib
import os
import pickle
import socket
from collections import OrderedDict

MOST = 300  # things kept
sends: socket.socket | None = None  # set in a process that was forked
_kept: OrderedDict = OrderedDict()


def get(key: str):
    """Return what is kept under a key, None if nothing is."""
    if key in _kept:
        _kept.move_to_end(key)
    return _kept.get(key)


def put(key: str, value) -> None:
    """Keep something under a key, here and where forks come from."""
    _kept[key] = value
    while len(_kept) > MOST:
        _kept.popitem(last=False)
    if sends is None:
        return
    # A file in memory, since a message has a limited size.
    with os.fdopen(os.memfd_create("cache"), "wb") as file:
        pickle.dump((key, value), file)
        file.flush()
        with contextlib.suppress(OSError):  # too many at once: it is done again
            socket.send_fds(sends, [b"c"], [file.fileno()], socket.MSG_DONTWAIT)


def receive(sock) -> None:
    """Keep what a fork has sent; `sock` is the other end of `sends`."""
    _, fds, _, _ = socket.recv_fds(sock, 1, 1)
    with os.fdopen(fds[0], "rb") as file:
        file.seek(0)
        put(*pickle.load(file))
