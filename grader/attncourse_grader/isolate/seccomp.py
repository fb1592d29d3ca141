"""A filter of system calls: the kernel refuses what no answer needs.

The list is `system_calls.csv`. The filter is made here, since bindings of libseccomp
need a library that pip does not bring, and cannot refuse all calls newer than a list.
"""

import csv
import ctypes
import errno
import os
import platform
import struct
from pathlib import Path

from attncourse_grader.isolate import sandbox

TABLE = Path(__file__).with_name("system_calls.csv").read_text("utf8")
CALLS = list(csv.DictReader(TABLE.splitlines()))
# Of `clone` the list lets threads through; this lets through all else.
THREADS = [row | {"rule": "not"} for row in CALLS if row["call"] == "clone"]
LOAD, AND, EQUAL, ABOVE, RETURN = 0x20, 0x54, 0x15, 0x25, 0x06  # of classic BPF
ALLOW, REFUSE = 0x7FFF0000, 0x00050000  # the latter with the number of an error
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16  # offsets in what the filter reads
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# The filter cannot read the arguments of `clone3`; without it, libc calls `clone`.
CLONE3, LAST = 435, 462
SET_SECCOMP, FILTER = 22, 2


def refuse_calls(calls=CALLS) -> None:
    """Let the kernel refuse calls from now on; raise `OSError` where it cannot."""
    machine = platform.machine()
    if machine not in ARCHITECTURES:
        raise OSError(f"the system calls of {machine} are not listed")
    code = ctypes.create_string_buffer(program(machine, calls))
    length = (len(code) - 1) // 8  # of the buffer, which ends with a zero
    filter_ = struct.pack("HP", length, ctypes.addressof(code))
    sandbox.done(sandbox.libc.prctl(SET_SECCOMP, FILTER, filter_, 0, 0))


def program(machine: str, calls=CALLS) -> bytes:
    """Return the filter for this process."""
    refused = REFUSE | errno.EPERM
    code = _step(LOAD, ARCHITECTURE)
    code += _step(EQUAL, ARCHITECTURES[machine], yes=1) + _step(RETURN, refused)
    code += _step(LOAD, NUMBER)
    code += _step(EQUAL, CLONE3, yes=1) + _step(ABOVE, LAST, no=1)
    code += _step(RETURN, REFUSE | errno.ENOSYS)
    for row in calls:
        if row[machine]:
            rule = _rule(row)
            code += _step(EQUAL, int(row[machine]), no=len(rule) // 8) + rule
    return code + _step(RETURN, ALLOW)


def _rule(row: dict[str, str]) -> bytes:
    """Return the steps that decide on one call by the value of an argument."""
    code = _step(LOAD, ARGUMENTS + 8 * int(row["argument"] or 0))
    code += _step(AND, int(row["mask"] or "0xffffffff", 16))
    values = row["values"].split()
    for left, value in zip(range(len(values), 0, -1), values, strict=True):
        code += _step(EQUAL, os.getpid() if value == "own" else int(value), yes=left)
    steps = [_step(RETURN, ALLOW), _step(RETURN, REFUSE | errno.EPERM)]
    return code + b"".join(steps if row["rule"] == "not" else steps[::-1])


def _step(code: int, value: int, *, yes: int = 0, no: int = 0) -> bytes:
    """Return one instruction; `yes` and `no` are how many the result lets it skip."""
    return struct.pack("=HBBI", code, yes, no, value)
