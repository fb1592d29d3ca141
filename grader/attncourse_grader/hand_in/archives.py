"""Take the notebooks out of a zip file that may be damaged or hostile.

Nothing is unpacked where the archive says: each notebook goes to a numbered folder
of ours, so no name can lead anywhere. Names that try to are refused all the same, and
sizes are counted while unpacking, not believed.
"""

from __future__ import annotations

import contextlib
import datetime
import stat
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from attncourse_grader.hand_in.submission import LARGEST_FILE
from attncourse_grader.safe_text import file_name, one_line

MOST_MEMBERS = 50_000
MOST_BYTES = 4_000_000_000  # of all notebooks in one archive
LARGEST_RATIO = 200  # unpacked to packed, for what is larger than a megabyte
CHUNK = 1 << 18
NOTEBOOKS = (".ipynb", ".ipynb.txt", ".ipynb.json")  # as browsers save them
PACKED = (".zip", ".tar", ".gz", ".tgz", ".7z", ".rar", ".bz2", ".xz")
FAULTS = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError)
FAULTS += (NotImplementedError, ValueError, IndexError, KeyError, OverflowError)


@dataclass(frozen=True)
class Member:
    """A notebook that was taken out of an archive."""

    name: str  # its name in the archive, with ``/`` between folders
    path: Path  # where it lies now
    time: float  # when it was last changed, seconds since 1970


def unpack(archive: Path, folder: Path) -> tuple[list[Member], list[str]]:
    """Take the notebooks out of a zip file."""
    label = one_line(archive.name)
    try:
        with zipfile.ZipFile(archive) as opened:
            members = opened.infolist()
            if len(members) > MOST_MEMBERS:
                return [], [
                    f"{label}: it lists {len(members):,} files; at most "
                    f"{MOST_MEMBERS:,} are read."
                ]
            return _take(opened, members, folder, label)
    except FAULTS as error:
        reason = one_line(error, 100) or type(error).__name__
        return [], [
            f"{label}: the archive is damaged or no zip file ({reason}). Download it "
            "again."
        ]


def _take(opened, members, folder: Path, label: str):
    found, problems, total = [], [], 0
    for place, member in enumerate(members):
        name = member.filename.replace("\\", "/")
        if member.is_dir() or _of_no_interest(name):
            continue
        shown = f"{label}: {one_line(name)}"
        if why := _refusal(member, name):
            problems.append(f"{shown} {why}")
            continue
        if not name.lower().endswith(NOTEBOOKS):
            problems.append(f"{shown} is no notebook and is left out.")
            continue
        if total + member.file_size > MOST_BYTES:
            problems.append(
                f"{shown} and what follows are left out: the archive holds more than "
                f"{MOST_BYTES / 1e9:.0f} GB."
            )
            break
        # The name of the file shows up in messages; its folder is ours alone.
        path = folder / str(place) / file_name(PurePosixPath(name).name)
        path.parent.mkdir(parents=True)
        try:
            total += _write(opened, member, path)
        except FAULTS as error:
            with contextlib.suppress(OSError):
                path.unlink()
            if isinstance(error, OSError) and error.errno is not None:
                raise  # of our own disk, not of the archive
            reason = one_line(error, 100) or type(error).__name__
            problems.append(f"{shown} cannot be unpacked ({reason}).")
            continue
        found.append(Member(name, path, _time_of(member)))
    return found, problems


def _of_no_interest(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return any(
        part in ("__MACOSX", ".ipynb_checkpoints", "Thumbs.db")
        or (part.startswith(".") and part not in (".", ".."))
        for part in parts
    )


def _refusal(member: zipfile.ZipInfo, name: str) -> str:
    parts = PurePosixPath(name).parts
    if name.startswith("/") or ".." in parts or name[1:2] == ":":
        return "names a place outside the archive and is refused."
    mode = member.external_attr >> 16
    if mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return "is a link or a device, not a file, and is refused."
    if member.flag_bits & 1:
        return "is encrypted and cannot be read."
    if name.lower().endswith(PACKED):
        return (
            "is an archive in an archive and is not opened. Unpack it into a folder "
            "with the name of the student."
        )
    if member.file_size > LARGEST_FILE and name.lower().endswith(NOTEBOOKS):
        return f"is larger than {LARGEST_FILE / 1e6:.0f} MB and is left out."
    return ""


def _write(opened, member, path: Path) -> int:
    """Unpack one member and return its size, counted."""
    size = 0
    with opened.open(member) as source, path.open("wb") as target:
        while part := source.read(CHUNK):
            size += len(part)
            if size > LARGEST_FILE:
                raise ValueError(f"it is larger than {LARGEST_FILE / 1e6:.0f} MB")
            if size > 1e6 and size > LARGEST_RATIO * max(1, member.compress_size):
                raise ValueError(f"it unpacks to {LARGEST_RATIO} times its size")
            target.write(part)
    return size


def _time_of(member) -> float:
    try:
        return datetime.datetime(*member.date_time).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0
