"""Results that processes forked later can use, too.

A process that was forked ends, and what it has worked out with it. So it sends that to
the process that forks. How much is kept does not grow with the number of submissions.
"""

from __future__ import annotations

import contextlib
import pickle
import socket
from collections import OrderedDict

MOST = 300  # things kept
LONGEST = 1 << 22  # bytes of one that is sent

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
    if sends is not None:
        with contextlib.suppress(OSError):  # too long, or too many: it is done again
            sends.send(pickle.dumps((key, value)), socket.MSG_DONTWAIT)


def receive(sock) -> None:
    """Keep what a fork has sent."""
    put(*pickle.loads(sock.recv(LONGEST)))


def pair() -> tuple[socket.socket, socket.socket]:
    """Return the sockets of a fork and of the process that forks."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
        ours.setsockopt(socket.SOL_SOCKET, option, LONGEST)
    return ours, theirs
