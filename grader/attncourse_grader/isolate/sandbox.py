"""Layers of isolation around a process that runs code which nobody trusts.

Each layer is one function that raises `OSError` where this machine does not have it.
`spawn` calls them: namespaces and files in a process whose child is then isolated,
the others in that child. None of them needs more than Linux and libc.
"""

import contextlib
import ctypes
import os
import signal
import struct
import sys
import tomllib
from pathlib import Path

MEMORY = 2 << 30  # bytes that an answer may take beside what was there
SCRATCH = Path("/of-the-answer")  # where it may write; /tmp may hold this repository
DISK = 128 << 20  # bytes that it may write, all files together
THREADS, OPEN_FILES = 16, 256
NO_MORE = "RLIMIT_MSGQUEUE", "RLIMIT_MEMLOCK", "RLIMIT_SIGPENDING"
NEWNS, NEWUTS, NEWIPC = 1 << 17, 1 << 26, 1 << 27
NEWUSER, NEWPID, NEWNET = 1 << 28, 1 << 29, 1 << 30
MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 1 << 12, 1 << 14, 1 << 18
MNT_DETACH, AT_RECURSIVE, AT_FDCWD, ATTR_RDONLY = 2, 0x8000, -100, 1
MOUNT_SETATTR = 442
SET_DEATH_SIGNAL, SET_DUMPABLE, DROP_FROM_BOUND = 1, 4, 24
SET_SUBREAPER, NO_NEW_PRIVS = 36, 38
told = tomllib.loads(Path(__file__).with_name("layers.toml").read_text("utf8"))
DEVICES, SYSTEM = told["devices"], told["system"]  # what is there for answers, too
# What all processes that grade find in their environment.
ENVIRONMENT = {"MPLBACKEND": "agg", "OMP_NUM_THREADS": "1", "PYTHONUTF8": "1"}
ENVIRONMENT["CUDA_VISIBLE_DEVICES"] = ""
UNPRIVILEGED_UID = 0x30000000  # user numbers that belong to nobody

with contextlib.suppress(ImportError):  # not on Windows
    import resource

linux = sys.platform.startswith("linux")
libc = ctypes.CDLL(None, use_errno=True) if linux else None


def done(result: int) -> int:
    """Return what a function of libc returned; raise `OSError` if it failed."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def die_with_parent() -> None:
    """End this process when the one that forked it ends."""
    done(libc.prctl(SET_DEATH_SIGNAL, int(signal.SIGKILL), 0, 0, 0))


def adopt_orphans() -> None:
    """Become the parent of all that is left over by those which this one starts."""
    done(libc.prctl(SET_SUBREAPER, 1, 0, 0, 0))


def own_namespaces() -> None:
    """Leave the system's network, mounts, processes and messages behind.

    The process itself keeps its number: the first child becomes number 1 of the new
    ones, and when that ends the system ends all others.
    """
    user, group = os.geteuid(), os.getegid()
    kinds = NEWNS | NEWUTS | NEWIPC | NEWPID | NEWNET
    if user == 0 and libc.unshare(kinds) == 0:
        return
    done(libc.unshare(kinds | NEWUSER))
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


def own_files(root: Path, readable: list[Path], hidden: list[Path]) -> None:
    """See only some folders, unchangeable, and an empty one of limited size."""
    _mount("none", Path("/"), "", MS_REC | MS_PRIVATE)
    _mount("tmpfs", root, "tmpfs", MS_NOSUID | MS_NODEV, "size=64k,mode=755")
    for path in [*readable, *(Path("/dev") / name for name in DEVICES)]:
        place = root / path.relative_to("/")
        if path.is_symlink():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(os.readlink(path))
            continue
        (place if path.is_dir() else place.parent).mkdir(parents=True, exist_ok=True)
        if not path.is_dir():
            place.touch()
        _mount(str(path), place, "", MS_BIND | MS_REC)
    for path in hidden:
        place = root / path.relative_to("/")
        if place.is_file():
            _mount("/dev/null", place, "", MS_BIND)
        if place.is_dir():
            _mount("tmpfs", place, "tmpfs", MS_NOSUID | MS_NODEV, "size=4k,mode=755")
    scratch = root / SCRATCH.name
    scratch.mkdir()
    attributes = struct.pack("4Q", ATTR_RDONLY, 0, 0, 0)
    where = AT_FDCWD, os.fsencode(root), AT_RECURSIVE
    done(libc.syscall(MOUNT_SETATTR, *where, attributes, len(attributes)))
    options = f"size={DISK},nr_inodes=4096,mode=1777"
    _mount("tmpfs", scratch, "tmpfs", MS_NOSUID | MS_NODEV, options)
    os.chdir(root)
    done(libc.pivot_root(b".", b"."))
    done(libc.umount2(b".", MNT_DETACH))
    os.chdir("/")


def _mount(source, target, kind, flags, options=""):
    names = (source.encode(), os.fsencode(target), kind.encode())
    done(libc.mount(*names, ctypes.c_ulong(flags), options.encode()))


def visible() -> tuple[list[Path], list[Path]]:
    """Return what an answer has to see of the disk, and what of that it must not."""
    import attncourse

    package = Path(attncourse.__file__).resolve().parent
    grader = Path(__file__).resolve().parents[1]
    python = [Path(prefix, "lib") for prefix in (sys.prefix, sys.base_prefix)]
    python += [Path(place) for place in sys.path if place.endswith("-packages")]
    wanted = [*map(Path, SYSTEM), *python, *(path.resolve() for path in python)]
    readable = []
    for path in [*wanted, package]:
        known = any(path.is_relative_to(p) for p in readable)
        if path.exists() and not known and path != Path("/"):
            readable.append(path)
    return readable, [package / "exercises", grader]


def address_space() -> int:
    """Return the bytes of address space that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def limits(seconds: float, there: int, disk: int) -> None:
    """Bound memory, threads, files, processor time and the size of a file."""
    for name, most in (
        ("RLIMIT_AS", there + MEMORY),
        ("RLIMIT_NPROC", THREADS),
        ("RLIMIT_FSIZE", disk),
        ("RLIMIT_NOFILE", OPEN_FILES),
        ("RLIMIT_CPU", int(seconds) + 1),
        *dict.fromkeys(NO_MORE, 0).items(),
    ):
        kind = getattr(resource, name)
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))


def no_rights(number: int, *, keep_user: bool = False) -> None:
    """Become nobody in particular, for good."""
    for capability in range(64):
        if libc.prctl(DROP_FROM_BOUND, capability, 0, 0, 0) < 0:
            break
    real_root = True
    with contextlib.suppress(OSError):
        real_root = "4294967295" in Path("/proc/self/uid_map").read_text()
    if os.geteuid() == 0 and real_root and not keep_user:
        os.setgroups([])
        try:
            os.setresgid(*[UNPRIVILEGED_UID + number] * 3)
            os.setresuid(*[UNPRIVILEGED_UID + number] * 3)
        except OSError:  # a container that has few users
            os.setresgid(*[65534] * 3)
            os.setresuid(*[65534] * 3)
    done(libc.capset((ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()))
    done(libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0))
    done(libc.prctl(SET_DUMPABLE, 0, 0, 0, 0))


LAYERS, DANGERS, RISKS = (told[name] for name in ("layers", "dangers", "risks"))
UNTRIED = "not tried, since an earlier one does not work"
UNSAFE = "ATTNCOURSE_UNSAFE"  # the environment variable by which somebody insists


def possible(which: list, layers: dict[str, str]) -> list[str]:
    """Return what of `which` a submission could do; `layers` are as `why_not` says."""
    missing = {name for name in LAYERS if layers.get(name, UNTRIED)}
    return [each["does"] for each in which if missing.issuperset(each["missing"])]


def too_open(layers: dict[str, str]) -> bool:
    """Say whether nothing may run: others would not be safe, and nobody insists."""
    return bool(possible(DANGERS, layers)) and not os.environ.get(UNSAFE)


def why_not(layer, *arguments, **options) -> str:
    """Put a layer in place; return why that does not work, "" if it does."""
    try:
        layer(*arguments, **options)
    except (OSError, ValueError, AttributeError, TypeError) as error:
        return str(error) or type(error).__name__
    return ""


def bare_process(keep: int) -> None:
    """Close all that was open, and read nothing from the terminal."""
    os.closerange(3, keep)
    os.closerange(keep + 1, 1 << 20)
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    os.close(null)
    with contextlib.suppress(OSError):
        os.setsid()
