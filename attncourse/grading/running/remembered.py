"""What was worked out once, for all processes that are forked later.

A process that was forked ends, and what it has worked out with it. So it tells the one
that forks, and the next fork finds it there. How much is kept does not grow with the
number of submissions.
"""

from __future__ import annotations

import contextlib
import pickle
import socket
from collections import OrderedDict

MOST = 1000  # things kept; the checks of all exercises are a fourth of that
LONGEST = 1 << 20  # bytes of one that is told, more than the system sends at once

tells: socket.socket | None = None  # set in a process that was forked
_known: OrderedDict = OrderedDict()


def recall(key: str):
    """Return what was remembered under a key, None if nothing was."""
    if key in _known:
        _known.move_to_end(key)
    return _known.get(key)


def remember(key: str, value) -> None:
    """Keep something under a key, here and where forks come from."""
    _known[key] = value
    while len(_known) > MOST:
        _known.popitem(last=False)
    if tells is not None:
        with contextlib.suppress(OSError):  # too long, or too many: it is done again
            tells.send(pickle.dumps((key, value)), socket.MSG_DONTWAIT)


def hear(sock) -> None:
    """Keep what a fork has told.

    Parameters
    ----------
    sock : socket.socket
        The other end of `tells`.
    """
    remember(*pickle.loads(sock.recv(LONGEST)))
