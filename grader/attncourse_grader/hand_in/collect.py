"""Find the notebooks that were handed in, and who handed them in.

Who handed a file in is told by the outermost name that is not that of an exercise: the
one that the learning platform or the instructor has given. Names inside a student's own
folder or archive say nothing. What can be read in two ways is left to the instructor.
"""

import contextlib
import os
import re
import stat
import tomllib
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path

from attncourse_grader.exercises import modules
from attncourse_grader.hand_in import archives
from attncourse_grader.hand_in.archives import Entry
from attncourse_grader.hand_in.class_list import mark_of
from attncourse_grader.hand_in.times import claimed_time
from attncourse_grader.safe_text import one_line, reason
from attncourse_grader.sentences import SAYS

FORMS = tomllib.loads(Path(__file__).with_name("forms.toml").read_text("utf8"))
MOODLE, CANVAS, NUMBERS = (
    re.compile(FORMS[n]) for n in ("moodle", "canvas", "numbers")
)
EXCHANGE, COPIES = re.compile(FORMS["exchange"]), re.compile(FORMS["copies"], re.I)
PLAIN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK  # no link; for a pipe nobody waits
LONGEST_PART = 300  # characters of a name that are looked at
LONGEST_COPYING = 300  # seconds from the time in a name until the files are there


@dataclass(frozen=True)
class Found:
    """A notebook that was handed in."""

    path: Path  # where it lies
    source: str  # where it came from, as one reads it: ``moodle.zip/Ada_1.../x.ipynb``
    name: str  # who handed it in, as the platform or the instructor writes it
    time: float | None = None  # when it was handed in, if the platform's name says so
    moodle: str = ""  # the number of the submission in Moodle
    canvas: str = ""  # the number of the student in Canvas
    doubt: bool = False  # whether something else may be the number in Canvas
    order: int = 0  # the number of the file in Canvas, which counts up; of a group
    marked_late: bool = False  # whether Canvas has marked it as late
    of_platform: bool = False  # whether the name is as a platform writes it
    is_login: bool = False  # whether the name is that of an account
    place: str = ""  # which place that was given it comes from
    group: str = ""  # the letters of the name, if it is that of a group in Moodle


@dataclass
class Collected:
    """What was found, and a sentence for each thing that was left out."""

    files: list[Found] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def collect(places, scratch: Path, students=None) -> Collected:
    """Find the notebooks in files, folders and zip files; unpack into `scratch`.

    Without a class list, names in a place that might itself be a student's are not
    believed.
    """
    found = Collected()
    places = list(map(Path, places))
    folders = [p for p in places if p.is_dir() or p.name.lower().endswith(".zip")]
    for number, place in enumerate(places):
        try:
            if not (place.is_dir() or place.is_file()):
                found.problems.append(f"{one_line(place)}: no such file or folder.")
                continue
            if place.is_dir() and (login := _whose_place(place, students)):
                found.problems.append(SAYS["of_others"].format(one_line(place), login))
                continue
            reader = _Place(place, scratch / str(number), students, found)
            reader.read(alone=len(folders) < 2)
        except OSError as error:
            why = reason(error)
            found.problems.append(f"{one_line(place)} cannot be read ({why}).")
    return found


class _Place:
    """A folder, an archive or a file that the instructor has named."""

    def __init__(self, root, scratch, students, found: Collected):
        self.root, self.scratch, self.students = root, scratch, students
        self.files, self.problems, self.count = found.files, found.problems, 0
        self.own, self.left_out = Counter(), archives.LeftOut()  # files by who
        self.sure = {}  # starts of paths that end in a name: of a login, or a clone

    def read(self, *, alone: bool) -> None:
        root = self.root.resolve()
        label = stem_of(one_line(root.name)) if self.root.is_dir() else self.root.name
        if self.root.is_dir():
            entries, place = list(self._walk(self.root)), label
        elif self.root.name.lower().endswith(".zip"):
            place = Path(one_line(label)).stem
            entries = self._unpacked(Entry((), self.root), label, whose=_whose)
        else:
            entries = [Entry((label,), self.root, _identity(self.root.stat()))]
            place, label = one_line(root.parent.name), ""
        whole = without_exercise(place)
        known = self.students is not None and self.students.knows(whole)
        if self.students and not known:
            whole = ""
        owned = [(entry, _named(entry.parts, self.sure)) for entry in entries]
        # "x.ipynb" and "x (1).ipynb" in one folder may be of two students.
        bare = Counter(
            _without_copy(entry)
            for entry, owner in owned
            if owner is None and entry.parts[-1].lower().endswith(archives.NOTEBOOKS)
        )
        # So may be "x/1.ipynb" and "y/1.ipynb" in a folder that names neither of them.
        walked = [entry.parts for entry in entries if entry.seen]
        below = Counter((parts[:1], parts[2:]) for parts in walked if parts[2:])
        inside = defaultdict(set)  # whom platforms name in what has somebody's name
        for owner, part in {(_key(o), p) for e, o in owned for p in e.parts[1:]}:
            lower = _named((part,)), _named((part, ""))  # each once: they may be many
            inside[owner] |= {_key(o) for o in lower if o and o.of_platform}
        download = any(owner and owner.of_platform for _, owner in owned)
        for entry, owner in owned:
            source = "/".join(filter(None, (label, *entry.parts)))
            source = source if label else str(self.root)
            who = _key(owner) or entry.parts[:1]
            if download and self.root.is_file() and not (owner and owner.of_platform):
                self._ask(who, source, "no platform writes names like this")
                continue
            name = owner.name if owner else stem_of(entry.parts[-1])
            is_login = self.students and self.students.marked("user", place)
            login = place if is_login else self._login_in(*entry.parts)
            if login and not known and mark_of(login) != mark_of(name):
                self._ask(login, source, f"{login!r} may be an exercise or a login")
                continue
            sure = not known and (alone or self.students)
            if owner and not sure and (owner.of_platform or owner.name != whole):
                self._ask(who, source, f"it may be of {whole!r} or of {owner.name!r}")
                continue
            if owner and not owner.of_platform and len(inside[_key(owner)]) > 1:
                self._ask(who, source, f"{owner.name!r} may be a download or a student")
                continue
            several = owner is None and bare[_without_copy(entry)] > 1
            above = _named((entry.parts[0], ""))
            if above and not (above.of_platform or entry.parts[:1] in self.sure):
                several |= below[entry.parts[:1], entry.parts[2:]] > 1
            if self.students is None and several:
                self._ask(who, source, "it may be another student's than its namesakes")
                continue
            if known or owner is None:
                owner = _of(whole or stem_of(one_line(entry.parts[-1])))
            self._entry(entry, owner, source, whole=known)
        self.problems += self.left_out.said

    def _login_in(self, *parts) -> str:
        """Return a login that is read as another name, or as none; not below a name."""
        for part in parts if self.students else ():
            owner, whole = _named((stem_of(part), "")), mark_of(part)
            own, like = mark_of(owner.name) if owner else "", (whole, stem_of(whole))
            if owner and (owner.of_platform or own == whole):
                return ""
            logins = (u for u in self.students.logins if u in whole and u != own)
            found = [u for u in logins if u in like or (own and own in u)]
            if found or owner:
                return min(found, default="")
        return ""

    def _ask(self, whose, source: str, why: str) -> None:
        self.left_out.add(whose, one_line(source, 300), SAYS["in_doubt"].format(why))

    def _entry(self, entry: Entry, owner: Found, source: str, *, whole: bool) -> None:
        name = entry.parts[-1].lower()
        named = _named((*entry.parts[:-1], ""), self.sure)
        section = self.students and self.students.team(owner.name)
        whole |= owner.of_platform
        if name.endswith(archives.NOTEBOOKS):
            self._keep(entry, owner, source)
        elif not name.endswith(".zip"):
            self.left_out.add(owner.name, one_line(entry.path), SAYS["not_notebook"])
        elif not (whole or self.root.is_file() or (named and not section)):
            self._zip_beside_others(entry, owner, source)
        elif self._has_room(owner, source):
            self._keep_all(self._unpacked(entry, source, owner), owner, source)

    def _keep_all(self, members: list[Entry], owner: Found, source: str) -> None:
        inside = [o for m in members if (o := _named(m.parts)) and o.of_platform]
        if len(set(map(_key, inside))) > 1 and not owner.of_platform:
            self.own[_key(owner)] += len(members)  # which are unpacked
            return self._ask(source, source, "it may be a download of many")
        for member in members:
            self._keep(member, owner, "/".join((source, *member.parts)))

    def _zip_beside_others(self, entry: Entry, owner: Found, source: str) -> None:
        """Read a student's zip file in a folder, if it can be no download of many."""
        people, name = self.students, owner.name
        above = _named((*entry.parts[:-1], ""), self.sure)
        sure = bool(people and (people.knows(name) or (above and people.team(name))))
        members = self._unpacked(entry, source, owner)
        inside = [own for member in members if (own := _named(member.parts))]
        if any(own.of_platform for own in inside) or (not sure and (people or inside)):
            self._ask(source, source, "it may be one student's, or hold those of many")
        else:
            self._keep_all(members, owner, source)

    def _unpacked(self, entry: Entry, source: str, owner=None, whose=None):
        """Return what is in a zip file, of one owner or of many."""
        label, said = one_line(source, LONGEST_PART), len(self.left_out.said)
        about = label, self._folder(), self.left_out, _key(owner), whose
        try:
            with self._opened(entry) as file:
                entries = archives.unpack(file, *about)
        except OSError as error:
            entries, why = [], f"cannot be read ({reason(error)})."
            self.left_out.add(_key(owner), label, why)
        if not entries and said == len(self.left_out.said):
            self.left_out.add(_key(owner), label, "has no notebook in it.")
        return entries

    def _keep(self, entry: Entry, owner: Found, source: str) -> None:
        source, path = one_line(source, LONGEST_PART), entry.path
        if not self._has_room(owner, source):
            return
        if entry.seen:
            path = self._folder() / path.name
            try:
                with self._opened(entry) as file:
                    archives.copy(file, path)
            except (OSError, ValueError) as error:
                why = f"cannot be read ({reason(error)})."
                return self.left_out.add(_key(owner), source, why)
        place = one_line(self.root)
        self.files.append(replace(owner, path=path, source=source, place=place))

    def _folder(self) -> Path:
        """Return a new place of ours, where nobody else writes."""
        self.count += 1
        return self.scratch / str(self.count)

    @contextlib.contextmanager
    def _opened(self, entry: Entry):
        """Open the file that was seen; by now a link may be in its place."""
        root = self.root if entry.seen else entry.path  # where nobody else writes
        with contextlib.ExitStack() as above:
            here = os.open(root, os.O_RDONLY)
            for part in entry.path.relative_to(root).parts:
                above.callback(os.close, here)
                here = os.open(part, PLAIN, dir_fd=here)
            with open(here, "rb") as file:
                _check_unchanged(file, entry)
                yield file
                _check_unchanged(file, entry)

    def _has_room(self, owner: Found, source: str) -> bool:
        """Count a file of a student; say whether it is one of those that are read."""
        whose = _key(owner)
        self.own[whose] += 1
        if too_many := self.own[whose] > archives.MOST_FILES:
            why = SAYS["too_many_files"].format(archives.MOST_FILES)
            self.left_out.add(whose, one_line(source, LONGEST_PART), why)
        return not too_many

    def _walk(self, root: Path):
        def leave_out(path, why):
            whole = (*Path(path).relative_to(root).parts, "")
            who = _whose(whole)
            with contextlib.suppress(OSError):  # in a shared folder its account tells
                account, _ = self._account(whole)
                who = who if account is None else account
            self.left_out.add(who, one_line(path), why)

        def unreadable(error):
            leave_out(error.filename or root, f"cannot be read ({reason(error)}).")

        hidden, seen = {}, {None}
        for folder, folders, files in os.walk(root, onerror=unreadable):
            here = Path(folder)
            if len(here.parts) - len(root.parts) == archives.DEEPEST and folders:
                leave_out(here, "holds more folders, which are left out.")
                folders.clear()
            with contextlib.suppress(OSError):
                self._look_for_clone(here, folders, files)
            for name in list(folders):
                # Where a path is too long it says no, and the walk says what is wrong.
                if archives.HIDDEN.search(name) or os.path.islink(here / name):
                    folders.remove(name)
                    files.append(name)
            folders.sort(reverse=True)  # in an exchange the newest first
            for name in sorted(files):
                path, whole = here / name, (*here.relative_to(root).parts, name)
                try:
                    found = path.lstat()
                    parts = self._dropped(path, whole, found)
                except OSError as error:
                    leave_out(path, f"cannot be read ({reason(error)}).")
                    continue
                who = _key(_named(parts, self.sure)) if parts else None
                if archives.HIDDEN.search(name):
                    if parts and (parts[0], *parts[2:]) == ("", name):
                        leave_out(path, SAYS["hidden"].format(parts[1]))
                    hidden[who] = path
                    continue
                seen.add(who)
                if not stat.S_ISREG(found.st_mode):
                    leave_out(path, "is no ordinary file (perhaps a link), left out.")
                elif parts:
                    yield Entry(parts, path, _identity(found))
        for owner, path in hidden.items():
            if owner not in seen:
                leave_out(path, SAYS["not_notebook"])

    def _account(self, parts) -> tuple:
        """Return who else wrote into a folder, and what: those who may, or a login."""
        above = self.root
        for place, part in enumerate(parts):
            found, folder = (above / part).lstat(), above.stat()
            owner, others = found.st_uid, folder.st_mode & (stat.S_IWOTH | stat.S_IWGRP)
            ours = {os.geteuid()} | {folder.st_uid} - {65534}  # that may be anybody
            sticky = others and folder.st_mode & stat.S_ISVTX
            if sticky and not stat.S_ISDIR(found.st_mode):
                ours = ()  # others may have moved it there
            # It may have been closed since then, and root may have copied it.
            if (others or owner) and owner not in ours:
                return owner, parts[place:]
            above = above / part
        return None, parts  # put there by the instructor

    def _look_for_clone(self, here: Path, folders: list, files: list) -> None:
        """Note a clone, and leave out what it has of the course's own notebooks."""
        other = MOODLE.fullmatch(here.name) or EXCHANGE.fullmatch(here.name)
        found, owner = {".git", "attncourse"} & {*folders, *files}, here.stat().st_uid
        own = [name for name in found if (here / name).lstat().st_uid == owner]
        if ".git" in own and not other:
            self.sure.setdefault(here.relative_to(self.root).parts, {})
        if "attncourse" in own:
            folders[:] = [name for name in folders if name not in archives.COURSES]

    def _dropped(self, path: Path, parts, found: os.stat_result):
        """Return the parts of a path, of one in a folder that others may write to anew.

        There the login of who wrote it counts, but for the folder's owner. In an
        exchange of nbgrader's the name has to agree, and the time in it with that of
        the file's last change. What belongs to others than its folder has no parts.
        """
        owner, rest = self._account(parts)
        if owner is None:
            return parts
        self.own[owner] += 1
        if found.st_uid != owner or self.own[owner] > archives.MOST_SEEN:
            why = "other_account" if found.st_uid != owner else "too_many_files"
            said = SAYS[why].format(archives.MOST_SEEN)
            self.left_out.add(owner, one_line(path), said)
            return ()
        login = _login_of(owner) or f"user {owner}"
        above = _named((*parts[: -len(rest)], "")) if rest != parts else None
        meant = above and self.students and self.students.named(above.name)
        if meant and meant != self.students.marked("user", login):
            self._ask(owner, path, f"its folder is {above.name!r}, its owner {login!r}")
            return ()
        self.sure["", login] = {"is_login": True}  # no path begins so
        name, changed = one_line(rest[0], LONGEST_PART), found.st_ctime
        # Of a folder alone, and of a name that is read alike wherever it is read.
        match = EXCHANGE.fullmatch(name) if rest[1:] and name == rest[0] else None
        if match and match["name"] == login and not MOODLE.fullmatch(name):
            if abs(changed - (claimed_time(match["time"]) or 0)) < LONGEST_COPYING:
                return rest
            self.left_out.add(login, one_line(path), SAYS["changed_later"])
        return ("", login, *rest)


def _whose_place(place: Path, students) -> str:
    """Return whose a folder is that others may have put there, "" if none have."""
    owner, above = place.stat().st_uid, [*place.absolute().parents]
    modes = (folder.stat().st_mode for folder in [*above, *place.resolve().parents])
    open_to_all = any(m & stat.S_IWOTH and not m & stat.S_ISVTX for m in modes)
    login = _login_of(owner) or f"user {owner}"
    of_student = students is not None and students.marked("user", login)
    doubt = owner not in (0, os.geteuid()) and (open_to_all or of_student)
    return login if doubt else ""


def _login_of(account: int) -> str:
    """Return the login of an account, "" if this machine does not know it."""
    import pwd  # not on Windows

    with contextlib.suppress(KeyError):
        return pwd.getpwuid(account).pw_name
    return ""


def _of(name: str, **facts) -> Found:
    """Return who handed something in, and what the platform says beside the name."""
    return Found(Path(), "", one_line(name), of_platform=bool(facts), **facts)


def _named(parts, sure=()) -> Found | None:
    """Return who handed in what has these parts in its path, None if none says so.

    The last part of what is in `sure` is a name, even if it looks like an exercise's.
    """
    for place, part in enumerate(parts, start=1):
        text = one_line(part, LONGEST_PART)
        if parts[:place] in sure:
            return _of(text, **sure[parts[:place]])
        canvas = CANVAS.fullmatch(part) if place == len(parts) else None
        match = MOODLE.fullmatch(part)
        # What students call themselves is in small letters in Canvas.
        if match and not (canvas and match["name"] == match["name"].lower()):
            return _of(match["name"], moodle=match["id"] or "")
        # Of a folder alone: students name their files, Canvas puts words before that.
        if place < len(parts) and (match := EXCHANGE.fullmatch(text)):
            return _of(match["name"], is_login=True, time=claimed_time(match["time"]))
        if canvas:
            name = canvas["name"]
            return _of(
                f"anon {canvas['id']}" if name in ("", "anon") else name,
                canvas=canvas["id"],
                doubt=bool(match or NUMBERS.search(canvas["rest"])),
                order=int(canvas["file"]),
                marked_late=bool(canvas["late"] or canvas["early"]),
            )
        if place == len(parts):
            text = stem_of(text)
        if archives.HIDDEN.search(text):  # which names nobody, nor does what is in it
            return None
        if text := without_exercise(text):
            return _of(text)
    return None


def _whose(parts):
    return _key(_named(parts))


def _key(owner: Found | None):
    """Return what tells one who handed in from another: names are theirs to choose."""
    return owner and (owner.name, owner.moodle, owner.canvas, owner.doubt)


def stem_of(name: str) -> str:
    """Return the name of a notebook or a zip file without its ending."""
    return re.sub(r"(?i)(\.ipynb(\.txt|\.json)?)?(\.zip)?\Z", "", name)


def _without_copy(entry: Entry) -> tuple[str, Path]:
    return COPIES.sub("", stem_of(entry.parts[-1])), entry.path.parent


def without_exercise(name: str) -> str:
    """Return a part of a path without the name of an exercise, "" if that is all."""
    for notebook in modules():
        if name.lower() == notebook.lower():  # whatever it ends with
            return ""
        number, _, title = notebook.partition("_")
        # One word alone may be a name. A row of signs is seen once: it may be long.
        alone, title = "_" not in title, title.replace("_", "[ _-]*")
        form = r"(?i)(?<![ _-])[ _-]*(?:(?<![^\W_])(?:(exercise|ex)[ _-]*)?{0}[ _-]*"
        form = form.format(number) + (")" if alone else ")?")
        form += rf"(?<![^\W\d_]){title}(?![^\W\d_])({COPIES.pattern})?"
        rest = re.sub(form, "", name, count=1)
        if rest != name:
            return rest.strip(" _-.")
    bare = COPIES.sub("", name)
    return "" if re.fullmatch(FORMS["generic"], bare, re.IGNORECASE) else name


def _identity(found: os.stat_result) -> tuple:
    """Return what tells a file from another one, and from itself after a change."""
    return found.st_dev, found.st_ino, found.st_ctime_ns


def _check_unchanged(file, entry: Entry) -> None:
    if entry.seen and _identity(os.fstat(file.fileno())) != entry.seen:
        raise OSError(0, "it was changed while it was read")
