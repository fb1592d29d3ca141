"""Landlock: a process of a recent Linux gives up access to files and the network."""

from __future__ import annotations

import ctypes
import os
import struct
from pathlib import Path

CREATE, ADD, RESTRICT = 444, 445, 446
EXECUTE, WRITE, READ, READ_FOLDER, TRUNCATE, DEVICE = 1, 2, 4, 8, 1 << 14, 1 << 15
OF_FILES = EXECUTE | WRITE | READ | TRUNCATE | DEVICE
FOLDERS_BY_VERSION = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1}
BIND_AND_CONNECT = 3  # of TCP, from version 4
SCOPES, SCOPED = 3, 6  # abstract sockets and signals, from version 6


def _call(number, *arguments) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    result = libc.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        problem = ctypes.get_errno()
        raise OSError(problem, os.strerror(problem))
    return result


def version() -> int:
    """Return the version of Landlock; raise `OSError` where there is none."""
    return _call(CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1))


def without(readable: list[Path], hidden: list[Path]) -> list[Path]:
    """Return folders so that the hidden ones are in none of them."""
    found = []
    for path in readable:
        inside = [h for h in hidden if h.is_relative_to(path)]
        if not inside:
            found.append(path)
        elif path not in inside:
            try:
                found += without(sorted(path.iterdir()), inside)
            except OSError:
                continue
    return found


def restrict(readable: list[Path], writable: Path, listable=()) -> None:
    """Let this process and its children reach only some folders, and no network.

    Raises `OSError` where the system has no Landlock.
    """
    have = version()
    handled = FOLDERS_BY_VERSION[min(have, 3)]
    if have >= 5:
        handled |= DEVICE
    rules = struct.pack(
        "QQQ",
        handled,
        BIND_AND_CONNECT if have >= 4 else 0,
        SCOPES if have >= SCOPED else 0,
    )
    rules = rules[: 24 if have >= SCOPED else 16 if have >= 4 else 8]
    ruleset = _call(CREATE, rules, ctypes.c_size_t(len(rules)), ctypes.c_uint32(0))
    try:
        for path in readable:
            _allow(ruleset, path, handled & (EXECUTE | READ | READ_FOLDER))
        for path in listable:  # what hides a file must not hide those beside it
            _allow(ruleset, path, handled & READ_FOLDER)
        for name in ("null", "zero", "random", "urandom"):
            _allow(ruleset, Path("/dev") / name, handled & (READ | WRITE))
        _allow(ruleset, writable, handled & ~DEVICE)
        _call(RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: Path, rights: int) -> None:
    try:
        number = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there need not be allowed
    try:
        if not path.is_dir():
            rights &= OF_FILES
        rule = struct.pack("=Qi", rights, number)
        _call(ADD, ctypes.c_int(ruleset), ctypes.c_int(1), rule, ctypes.c_uint32(0))
    finally:
        os.close(number)
