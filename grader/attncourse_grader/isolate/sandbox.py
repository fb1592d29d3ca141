"""Layers of isolation around a process that runs code which nobody trusts.

Each layer is one function that raises `OSError` where this machine does not have it.
`spawn` calls them: namespaces and files in a process whose child is then isolated,
limits, rights and Landlock in that child. None of them needs more than Linux and libc.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from pathlib import Path

from attncourse_grader.isolate import landlock

MEMORY = 2 << 30  # bytes that an answer may take beside what was there
# Where an answer may write; /tmp may hold this repository.
SCRATCH = Path("/of-the-answer")
DISK = 128 << 20  # bytes that it may write, all files together
PROCESSES, OPEN_FILES = 64, 256
NEWNS, NEWUTS, NEWIPC = 1 << 17, 1 << 26, 1 << 27
NEWUSER, NEWPID, NEWNET = 1 << 28, 1 << 29, 1 << 30
MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 1 << 12, 1 << 14, 1 << 18
MNT_DETACH, AT_RECURSIVE, AT_FDCWD, ATTR_RDONLY = 2, 0x8000, -100, 1
MOUNT_SETATTR = 442
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
SET_DEATH_SIGNAL, SET_DUMPABLE, DROP_FROM_BOUND = 1, 4, 24
SET_SUBREAPER, NO_NEW_PRIVS = 36, 38
DEVICES = ("null", "zero", "random", "urandom")
SYSTEM = ("/usr", "/lib", "/lib64", "/lib32", "/bin", "/etc/ld.so.cache", "/etc/fonts")
UNPRIVILEGED_UID = 0x30000000  # user numbers that belong to nobody

with contextlib.suppress(ImportError):  # not on Windows
    import resource

linux = sys.platform.startswith("linux")
libc = ctypes.CDLL(None, use_errno=True) if linux else None


def _done(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def die_with_parent() -> None:
    """End this process when the one that forked it ends."""
    _done(libc.prctl(SET_DEATH_SIGNAL, int(signal.SIGKILL), 0, 0, 0))


def adopt_orphans() -> None:
    """Become the parent of all that is left over by those which this one starts."""
    _done(libc.prctl(SET_SUBREAPER, 1, 0, 0, 0))


def own_namespaces() -> None:
    """Leave the system's network, mounts, processes and messages behind.

    The process itself keeps its number: the first child becomes number 1 of the new
    ones, and when that ends the system ends all others.
    """
    user, group = os.geteuid(), os.getegid()
    kinds = NEWNS | NEWUTS | NEWIPC | NEWPID | NEWNET
    if user == 0 and libc.unshare(kinds) == 0:
        return
    _done(libc.unshare(kinds | NEWUSER))
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


def own_files(root: Path, readable: list[Path], hidden: list[Path]) -> None:
    """See only some folders, unchangeable, and an empty one of limited size."""
    machine = os.uname().machine
    if machine not in PIVOT_ROOT:
        raise OSError(f"not known how on {machine}")
    _mount("none", Path("/"), "", MS_REC | MS_PRIVATE)
    _mount("tmpfs", root, "tmpfs", MS_NOSUID | MS_NODEV, "size=64k,mode=755")
    for path in readable:
        place = root / path.relative_to("/")
        if path.is_symlink():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(os.readlink(path))
            continue
        _place_for(path, place)
        _mount(str(path), place, "", MS_BIND | MS_REC)
    for path in hidden:
        place = root / path.relative_to("/")
        if place.is_file():
            _mount("/dev/null", place, "", MS_BIND)
        if place.is_dir():
            _mount("tmpfs", place, "tmpfs", MS_NOSUID | MS_NODEV, "size=4k,mode=755")
    for name in DEVICES:
        device = Path("/dev") / name
        _place_for(device, root / "dev" / name)
        _mount(str(device), root / "dev" / name, "", MS_BIND)
    scratch = root / SCRATCH.name
    scratch.mkdir()
    attributes = (ctypes.c_uint64 * 4)(ATTR_RDONLY, 0, 0, 0)
    _done(
        libc.syscall(
            MOUNT_SETATTR,
            AT_FDCWD,
            str(root).encode(),
            AT_RECURSIVE,
            attributes,
            ctypes.sizeof(attributes),
        )
    )
    options = f"size={DISK},nr_inodes=4096,mode=1777"
    _mount("tmpfs", scratch, "tmpfs", MS_NOSUID | MS_NODEV, options)
    os.chdir(root)
    _done(libc.syscall(PIVOT_ROOT[machine], b".", b"."))
    _done(libc.umount2(b".", MNT_DETACH))
    os.chdir("/")


def _place_for(path: Path, place: Path) -> None:
    if path.is_dir():
        place.mkdir(parents=True, exist_ok=True)
    else:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.touch()


def _mount(source, target, kind, flags, options=""):
    names = (source.encode(), os.fsencode(target), kind.encode())
    _done(libc.mount(*names, ctypes.c_ulong(flags), options.encode()))


def visible() -> tuple[list[Path], list[Path]]:
    """Return what an answer has to see of the disk, and what of that it must not."""
    import attncourse

    package = Path(attncourse.__file__).resolve().parent
    grader = Path(__file__).resolve().parents[1]
    wanted = [Path(p) for p in SYSTEM]
    wanted += [Path(p) for p in dict.fromkeys((sys.prefix, sys.base_prefix))]
    wanted += [Path(p).resolve() for p in dict.fromkeys((sys.prefix, sys.base_prefix))]
    readable = []
    for path in [*wanted, package]:
        known = any(path.is_relative_to(p) for p in readable)
        if path.exists() and not known and path != Path("/"):
            readable.append(path)
    return readable, [package / "exercises", grader]


def address_space() -> int:
    """Return the bytes of address space that this process has."""
    pages = Path("/proc/self/statm").read_text().split()[0]
    return int(pages) * resource.getpagesize()


def limits(seconds: float, there: int) -> None:
    """Bound memory, processes, files, processor time and the size of a file."""
    for name, most in (
        ("RLIMIT_AS", there + MEMORY),
        ("RLIMIT_NPROC", PROCESSES),
        ("RLIMIT_FSIZE", DISK),
        ("RLIMIT_NOFILE", OPEN_FILES),
        ("RLIMIT_CPU", int(seconds) + 1),
        ("RLIMIT_CORE", 0),
        ("RLIMIT_MSGQUEUE", 0),
        ("RLIMIT_MEMLOCK", 0),
    ):
        if hasattr(resource, name):
            kind = getattr(resource, name)
            hard = resource.getrlimit(kind)[1]
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (most, most))


def first_to_go() -> None:
    """Where memory runs out, let the system end this process first."""
    Path("/proc/self/oom_score_adj").write_text("1000")


def open_to_others(path: Path) -> bool:
    """Say whether any user may look into a folder."""
    return all(p.stat().st_mode & 0o001 for p in [path, *path.parents])


def no_rights(number: int, *, keep_user: bool = False) -> None:
    """Become nobody in particular, for good."""
    for capability in range(64):
        if libc.prctl(DROP_FROM_BOUND, capability, 0, 0, 0) < 0:
            break
    if os.geteuid() == 0 and _is_real_root() and not keep_user:
        os.setgroups([])
        try:
            os.setresgid(*[UNPRIVILEGED_UID + number] * 3)
            os.setresuid(*[UNPRIVILEGED_UID + number] * 3)
        except OSError:  # a container that has few users
            os.setresgid(*[65534] * 3)
            os.setresuid(*[65534] * 3)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    _done(libc.capset(header, (ctypes.c_uint32 * 6)()))
    _done(libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0))
    _done(libc.prctl(SET_DUMPABLE, 0, 0, 0, 0))


def _is_real_root() -> bool:
    try:
        return "4294967295" in Path("/proc/self/uid_map").read_text()
    except OSError:
        return True


def only_files(readable: list[Path], hidden: list[Path], writable: Path) -> None:
    """See only some folders, by Landlock: for where mounts are not allowed."""
    beside = {h.parent for h in hidden if any(map(h.is_relative_to, readable))}
    landlock.restrict(landlock.without(readable, hidden), writable, beside)


LAYERS = {
    "namespaces": "own processes, network and messages",
    "files": "own files of limited size",
    "rights": "no rights",
    "limits": "limits to memory, processes and time",
    "landlock": "Landlock",
    "signals": "no signals to other processes",
    "memory": "ended first where memory runs out",
}


def why_not(layer, *arguments, **options) -> str:
    """Put a layer in place; return why that does not work, "" if it does."""
    try:
        layer(*arguments, **options)
    except (OSError, ValueError, AttributeError, TypeError) as error:
        return str(error) or type(error).__name__
    return ""


def signals_stay_inside(layers: dict[str, str], *, own_user: bool) -> None:
    """Raise `OSError` if an answer could end processes that are not its own."""
    works = {name for name, why in layers.items() if not why}
    scoped = "landlock" in works and landlock.version() >= landlock.SCOPED
    if not ("namespaces" in works or scoped or own_user):
        raise OSError("needs namespaces, or Linux 6.12 with Landlock")


def bare_process(keep: int) -> None:
    """Close all that was open, and read nothing from the terminal."""
    os.closerange(3, keep)
    os.closerange(keep + 1, 4096)
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    os.close(null)
    with contextlib.suppress(OSError):
        os.setsid()
