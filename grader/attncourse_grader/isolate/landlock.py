"""Landlock: a process of a recent Linux gives up access to files."""

import contextlib
import ctypes
import os
import struct
from pathlib import Path

from attncourse_grader.isolate import sandbox

CREATE, ADD, RESTRICT = 444, 445, 446
EXECUTE, WRITE, READ, READ_FOLDER, TRUNCATE, DEVICE = 1, 2, 4, 8, 1 << 14, 1 << 15
OF_FILES = EXECUTE | WRITE | READ | TRUNCATE | DEVICE


def _call(number, *arguments) -> int:
    return sandbox.done(sandbox.libc.syscall(ctypes.c_long(number), *arguments))


def without(readable: list[Path], hidden: list[Path]) -> list[Path]:
    """Return folders so that the hidden ones are in none of them."""
    found = []
    for path in readable:
        inside = [h for h in hidden if h.is_relative_to(path)]
        if not inside:
            found.append(path)
        elif path not in inside:
            with contextlib.suppress(OSError):
                found += without(sorted(path.iterdir()), inside)
    return found


def restrict(readable: list[Path], hidden: list[Path], writable: Path | None) -> None:
    """Let this process and its children reach only some folders."""
    have = _call(CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1))  # its version
    handled = (1 << 12 + min(have, 3)) - 1 | (DEVICE if have >= 5 else 0)
    rules = struct.pack("Q", handled)
    ruleset = _call(CREATE, rules, ctypes.c_size_t(len(rules)), ctypes.c_uint32(0))
    try:
        for path in without(readable, hidden):
            _allow(ruleset, path, handled & (EXECUTE | READ | READ_FOLDER))
        for path in hidden:  # what hides a file must not hide those beside it
            if any(map(path.is_relative_to, readable)):
                _allow(ruleset, path.parent, handled & READ_FOLDER)
        for name in sandbox.DEVICES:
            _allow(ruleset, Path("/dev") / name, handled & (READ | WRITE))
        if writable is not None:
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
