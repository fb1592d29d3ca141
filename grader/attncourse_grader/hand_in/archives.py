"""Take notebooks out of a zip file that may be damaged or hostile.

Nothing is unpacked where the archive says: each file goes to a numbered folder of ours,
so no name can lead anywhere. Sizes are counted while unpacking, not believed.
"""

import contextlib
import errno
import io
import re
import stat
import zipfile
import zlib
from collections import Counter
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from attncourse_grader.hand_in.submission import LARGEST_FILE, Refused
from attncourse_grader.safe_text import file_name, one_line, reason
from attncourse_grader.sentences import SAYS

MOST_BYTES = 4_000_000_000  # unpacked, of all files in one archive
MOST_OF_ONE = 100_000_000  # bytes, of the files of one student
LONGEST_LIST = 1_000_000  # bytes, of what a student's archive says of its members
MOST_FILES = 20  # notebooks and zip files of one student in one place
MOST_SEEN = 10_000  # files of any kind that an account has left in a shared folder
MOST_SAID = 10  # sentences about what is left out of one student's files
LONGEST = 1000  # characters of a name in an archive
DEEPEST = 40  # folders in one another that are looked into
CHUNK = 1 << 18
COURSES = ("chapters", "solutions", "tools")  # in a copy of the course
NOTEBOOKS = (".ipynb", ".ipynb.txt", ".ipynb.json")  # as browsers save them
PACKED = (".zip", ".tar", ".gz", ".tgz", ".7z", ".rar", ".bz2", ".xz")
# What systems and editors make; ". Suharto" is a name, ".x.ipynb.icloud" not here yet.
HIDDEN = re.compile(r"(^|/)(\.(?!ipynb$|.+ipynb\.\w{6}$)\w|__MACOSX(/|$)|Thumbs\.db$)")
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # LZMA may take all memory
FAULTS = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError)
FAULTS += (NotImplementedError, ValueError, IndexError, KeyError, OverflowError)


class Entry(NamedTuple):
    """A file in a folder or an archive."""

    parts: tuple[str, ...]  # its name there, by folders
    path: Path  # where it lies now
    seen: tuple = ()  # what tells that a file to which others may write is still it


class LeftOut:
    """Sentences about files that are left out: of one student's many, the first."""

    def __init__(self):
        self.said, self._count = [], Counter()

    def add(self, owner, shown: str, why: str) -> None:
        """Say that a file is left out."""
        self._count[owner] += 1
        if self._count[owner] <= MOST_SAID:
            self.said.append(f"{shown} {why}")
        elif self._count[owner] == MOST_SAID + 1:
            self.said.append(f"{shown} and others beside it are left out, too.")


class _Limited(io.BufferedReader):
    """A student's archive: a list of very many members takes long to read."""

    def read(self, size=-1, /):
        if size and size > LONGEST_LIST:
            raise ValueError("it has too many members")
        return super().read(size)


def unpack(archive, label, folder: Path, left_out, owner=None, whose=None):
    """Take notebooks out of an open zip file, which is called `label`, into a folder.

    `whose` says of the parts of a name whose the file is; zip files in it are taken,
    too. Without it the archive is of one student, and archives in it are refused.
    """
    try:
        if not whose:
            archive = _Limited(io.FileIO(archive.fileno(), closefd=False))
        with zipfile.ZipFile(archive) as opened:
            return _take(opened, label, folder, left_out, owner, whose)
    except FAULTS as error:
        left_out.add(owner, label, SAYS["damaged_zip"].format(reason(error)))
        return []


def _take(opened, label: str, folder: Path, left_out, of, whose):
    found, total = [], 0
    own, taken, seen = Counter(), Counter(), {None}  # bytes, files, who handed them in
    members = [(m, m.filename.replace("\\", "/")) for m in opened.infolist()]
    usable = [(m, n) for m, n in members if len(n) < LONGEST and n.count("/") < DEEPEST]
    if len(usable) < len(members):  # to look at them may take very long
        left_out.add(of, label, SAYS["long_names"].format(LONGEST, DEEPEST))
    folders = {PurePosixPath(name).parts[:-1] for _, name in usable}
    usable.sort(key=lambda one: bool(HIDDEN.search(one[1])))
    for place, (member, name) in enumerate(usable):
        parts = PurePosixPath(name).parts
        owner = whose(parts) if whose else of
        needless = HIDDEN.search(name) and owner in seen
        # The course's own, in a copy of it that was handed in.
        *above, last = parts[:-1] or [""]
        courses = last in COURSES and (*above, "attncourse") in folders
        if member.is_dir() or needless or courses:
            continue
        seen.add(owner)
        shown = f"{label}: {one_line(name)}"
        why = _refusal(member, name, whose)
        if not why and taken[owner] >= MOST_FILES:
            why = SAYS["too_many_files"].format(MOST_FILES)
        if not why and own[owner] + member.file_size > MOST_OF_ONE:
            why = f"is left out: with those before it, over {MOST_OF_ONE / 1e6:.0f} MB."
        if why:
            left_out.add(owner, shown, why)
            continue
        if total + member.file_size > MOST_BYTES:
            left_out.add(None, shown, SAYS["more_than"].format(MOST_BYTES / 1e9))
            break
        # The name of the file shows up in messages; its folder is ours alone.
        path = folder / str(place) / file_name(parts[-1])
        try:
            with opened.open(member) as source:
                size = copy(source, path)
        except FAULTS as error:
            left_out.add(owner, shown, f"cannot be unpacked ({reason(error)}).")
            continue
        finally:
            taken[owner] += 1
        total, own[owner] = total + size, own[owner] + size
        found.append(Entry(parts, path))
    return found


def _refusal(member: zipfile.ZipInfo, name: str, whose) -> str:
    if name.startswith("/") or ".." in PurePosixPath(name).parts or name[1:2] == ":":
        return "names a place outside the archive and is refused."
    mode = member.external_attr >> 16
    if mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return "is a link or a device, not a file, and is refused."
    if member.flag_bits & 1:
        return "is encrypted and cannot be read."
    if member.compress_type not in METHODS:
        return "is packed in a way that is not read. Zip it in the usual way."
    packed = name.lower().endswith(PACKED)
    if packed and not (whose and name.lower().endswith(".zip")):
        return "is an archive in an archive and is not opened."
    if HIDDEN.search(name) or not (packed or name.lower().endswith(NOTEBOOKS)):
        return SAYS["not_notebook"]
    if member.file_size > LARGEST_FILE:
        return f"is larger than {LARGEST_FILE / 1e6:.0f} MB and is left out."
    return ""


def copy(source, path: Path) -> int:
    """Write an open file into a new folder, or raise `Refused`; return its size."""
    size = 0
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as target:
            while part := source.read(CHUNK):
                size += len(part)
                if size > LARGEST_FILE:
                    raise ValueError(f"it is larger than {LARGEST_FILE / 1e6:.0f} MB")
                target.write(part)
    except FAULTS as error:
        with contextlib.suppress(OSError):
            path.unlink()
        if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT):
            raise Refused(SAYS["no_room"].format(path.parent, reason(error))) from None
        raise
    return size
