"""Find the notebooks that were handed in, and whose they are.

Folders, single files and the zip files of Moodle and Canvas are read. The student is
told by what a learning platform writes into a name, else by the first part of the path
that is not the name of an exercise.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from attncourse_grader.exercises import modules
from attncourse_grader.hand_in.archives import NOTEBOOKS, unpack
from attncourse_grader.safe_text import one_line

# Moodle: "Ada Lovelace_12345_assignsubmission_file_/x.ipynb", or "..._file_x.ipynb".
MOODLE = re.compile(r"^(?P<name>.+?)_(?P<id>\d+)_assignsubmission_[a-z]+_?")
# Canvas: "lovelaceada_LATE_123_456_x.ipynb"; the first number is the student's.
CANVAS = re.compile(
    r"^(?P<name>[^_]+)_(?:(?P<late>LATE)_)?(?P<id>\d+)_\d+_(?P<rest>.+)$"
)
COPIES = re.compile(r"([ _-]*(\(\d+\)|copy\d*|final|v\d+))+$", re.IGNORECASE)
GENERIC = re.compile(r"^(submitted|submissions?|notebooks?|exercises?|ex|abgaben?)?$")


@dataclass(frozen=True)
class Found:
    """A notebook that was handed in."""

    path: Path  # where it lies
    # Where it came from, as one reads it: ``moodle.zip/Ada_123.../x.ipynb``.
    source: str
    names: tuple[str, ...]  # what may name the student, the likeliest first
    time: float  # when it was last changed, seconds since 1970
    # The number of the student's submission in Moodle, of the student in
    # Canvas.
    moodle: str = ""
    # The number of the student's submission in Moodle, of the student in
    # Canvas.
    canvas: str = ""
    marked_late: bool = False  # whether Canvas has marked it as late


@dataclass
class Collected:
    """What was found, and a sentence for each thing that was left out."""

    files: list[Found] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def collect(places, scratch: Path) -> Collected:
    """Find the notebooks in files, folders and zip files."""
    found = Collected()
    for number, place in enumerate(map(Path, places)):
        try:
            if place.is_dir():
                _folder(place, scratch / str(number), found)
            elif place.is_file():
                _file(place, (place.name,), scratch / str(number), found, root=place)
            else:
                found.problems.append(
                    f"{one_line(place)}: there is no such file or folder."
                )
        except OSError as error:
            found.problems.append(_unreadable(place, error))
    found.files = _told_apart(found.files)
    return found


def _told_apart(files: list[Found]) -> list[Found]:
    """Name files by themselves where several would have the name of their folder.

    ``attention_from_scratch.ipynb`` and ``attention_from_scratch (1).ipynb`` in one
    folder may be of two students.
    """
    keys = [(f.names[0], COPIES.sub("", f.names[-1]), f.path.parent) for f in files]
    return [
        replace(file, names=file.names[-1:])
        if keys.count(key) > 1 and not without_exercise(file.names[-1])
        else file
        for file, key in zip(files, keys, strict=True)
    ]


def _folder(root: Path, scratch: Path, found: Collected) -> None:
    def unreadable(error):
        found.problems.append(_unreadable(error.filename or root, error))

    count = 0
    for folder, folders, files in os.walk(root, onerror=unreadable):
        here = Path(folder)
        for name in list(folders):
            hidden = name.startswith(".") or name == "__MACOSX"
            # Where a path is too long it says no, and the walk says what is wrong.
            if hidden or os.path.islink(here / name):
                folders.remove(name)
                if not hidden:
                    found.problems.append(_link(here / name))
        folders.sort()
        for name in sorted(files):
            if name.startswith("."):
                continue
            path = here / name
            parts = path.relative_to(root).parts
            count += 1
            try:
                mode = path.lstat().st_mode
                if stat.S_ISLNK(mode):
                    found.problems.append(_link(path))
                elif not stat.S_ISREG(mode):
                    found.problems.append(
                        f"{one_line(path)} is no ordinary file and is left out."
                    )
                else:
                    _file(path, parts, scratch / str(count), found, root=root)
            except OSError as error:
                found.problems.append(_unreadable(path, error))


def _file(path: Path, parts, scratch: Path, found: Collected, *, root: Path) -> None:
    name = path.name.lower()
    if name.endswith(".zip"):
        scratch.mkdir(parents=True, exist_ok=True)
        members, problems = unpack(path, scratch)
        found.problems += problems
        for member in members:
            inside = PurePosixPath(member.name).parts
            source = f"{path.name}/{member.name}"
            # A zip file that a student handed in tells the student by its own name.
            above = (*parts[:-1], path.stem) if path != root else ()
            last = path.stem if path == root else ""
            found.files.append(
                _named(member.path, source, (*above, *inside), member.time, last)
            )
        if not members and not problems:
            found.problems.append(f"{one_line(path.name)}: there is no notebook in it.")
    elif name.endswith(NOTEBOOKS):
        folder = root.parent if path == root else root
        source = str(Path(folder.name, *parts)) if path != root else str(path)
        with contextlib.suppress(OSError):
            folder = folder.resolve()
        time = path.stat().st_mtime
        found.files.append(_named(path, source, parts, time, folder.name))
    else:
        found.problems.append(f"{one_line(path)} is no notebook and is left out.")


def _named(path: Path, source: str, parts, time: float, folder: str) -> Found:
    """Return a notebook with what its path says about the student."""
    moodle = canvas = ""
    late, names = False, []
    for place, part in enumerate(parts, start=1):
        text = one_line(part)
        if match := MOODLE.match(text):
            moodle, text = match["id"], match["name"]
            return Found(path, one_line(source, 300), (text,), time, moodle)
        if place == len(parts):
            text = stem_of(text)
            if (match := CANVAS.match(text)) and canvas == "":
                canvas, late = match["id"], bool(match["late"])
                names.insert(0, match["name"])
                break
        if text := without_exercise(text):
            names.append(text)
    own = stem_of(one_line(parts[-1]))
    names = names or [one_line(folder) or own, own]
    return Found(path, one_line(source, 300), tuple(names), time, moodle, canvas, late)


def stem_of(name: str) -> str:
    """Return the name of a notebook without its ending."""
    for ending in sorted(NOTEBOOKS, key=len, reverse=True):
        if name.lower().endswith(ending):
            return name[: -len(ending)]
    return name


def without_exercise(name: str) -> str:
    """Return a part of a path without the name of an exercise, "" if that is all."""
    bare = COPIES.sub("", name)
    for notebook in modules():
        number, _, title = notebook.partition("_")
        title = title.replace("_", "[ _-]*")
        form = rf"(?i)[ _-]*(?:(?<![^\W_])(?:exercise|ex)?[ _-]*{number}[ _-]*)?{title}"
        rest = re.sub(form, "", bare)
        if rest != bare:
            return COPIES.sub("", rest).strip(" _-.")
    form = r"(?i)(exercise|assignment|sheet|ps|hw|ex)[ _-]*\d{1,2}"
    if re.fullmatch(form, bare) or GENERIC.match(bare.lower()):
        return ""
    return name


def _link(path) -> str:
    return f"{one_line(path)} is a symbolic link and is not followed."


def _unreadable(path, error) -> str:
    reason = error.strerror or type(error).__name__
    return f"{one_line(path)} cannot be read ({reason.lower()})."
