"""The class list: who is in the course, and whose a name in a path is.

Read as CSV in the forms of nbgrader, Otter, Moodle (participants, grading worksheet)
and Canvas (gradebook), or with a column ``student`` or ``name`` of one's own.
"""

import itertools
import re
import unicodedata
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from pathlib import Path

from attncourse_grader.hand_in.submission import Refused
from attncourse_grader.hand_in.tables import HEADINGS, heading, read_table
from attncourse_grader.safe_text import one_line
from attncourse_grader.sentences import SAYS

MARKS = ("id", "user", "email", "canvas")  # what one person alone has
# What Moodle writes for a name it hides, before a number: letters of it.
HIDDEN = ("participant", "teilnehmerin", "teilnehmer")
# What a place with all hand-ins is called: nobody's name, but perhaps a login.
OF_ALL = r"(?i).*-\d+|(hand[ _-]?in|submission|download|moodle|canvas|week)s?[ _-]?\d*"
DROPPED = re.compile(r"[&<>\"`|':\\/]|\.\.+")  # by Moodle, in names of files
NAME_ALONE = "nothing but a name tells whose it is"


@dataclass(frozen=True)
class Student:
    """A person in the course."""

    student: str  # the name that the gradebook uses
    name: str = ""  # the full name, as far as it is known
    id: str = ""  # number at the university; "" where not known, as what follows
    user: str = ""  # login
    email: str = ""
    canvas: str = ""  # number of the person in Canvas
    section: str = ""  # the section of the course, or the group


class ClassList:
    """The students of a course; with `trust`, names in Moodle and Canvas count."""

    def __init__(self, students: list[Student], *, trust: bool = False):
        self.students, self.trust = students, trust
        self._by_key, self._groups = defaultdict(set), defaultdict(dict)
        # What rows of Moodle's worksheets say of each number, and of whom, if known.
        self.rows: dict[str, set[tuple[Student, Student | None]]] = {}
        # By exercise, of each number: group and time, what its files are called, whose.
        self.teams: dict[str, dict[str, tuple]] = defaultdict(dict)
        self.numbers = {s.canvas for s in students if s.canvas}
        self.logins = set().union(*map(_logins_of, students)) - {""}
        for student in students:
            marks = map(key_of, [*_marks(student), _local(student)])
            for key in _names_of(student) | {*marks} - {""}:
                self._by_key[key].add(student)
            for group in filter(key_of, map(one_line, student.section.split(","))):
                self._groups[key_of(group)].setdefault(group, set()).add(student)

    def knows(self, name: str) -> bool:
        """Say whether a place may be called after a student, or is after a group."""
        of_all = re.fullmatch(OF_ALL, name) and not self.marked("user", name)
        return not of_all and bool(self.named(name) or self._groups.get(key_of(name)))

    def add_moodle(self, row: dict[str, str], exercise: str) -> Student | None:
        """Learn a number from a row of an exercise's worksheet, and return whose."""
        # The address tells, and no ID number, which people may choose.
        told = replace(_student_of(row) or Student(""), name=row.get("name", ""))
        own = set(self.marked("email", told.email))
        student = next(iter(own)) if len(own) == 1 else None
        if number := number_in(row.get("identifier", "")):
            self.rows.setdefault(number, set()).add((told, student))
            told_of = (told.section, row.get("modified", "-")), _in_moodle(told.section)
            self.teams[exercise][number] = *told_of, student
        return student or (None if own else self._trusted(told.name, [told]))

    def _trusted(self, name: str, rows) -> Student | None:
        """Return who alone has a name, if that tells and no row has another address."""
        own, words = self.called(name) if self.trust else [], words_of(name)
        if " " in name:  # by words: "Anna Lee" is not "Ann Alee"
            own = [s for s in own if words in map(words_of, (s.student, s.name))]
        own = [s for s in own if not any(_differ(vars(row), s) for row in rows)]
        return own[0] if len(own) == 1 else None

    def by_number(self, found) -> list[Student]:
        """Return whose a file is by a number that a platform has given."""
        if found.canvas:
            return [s for s in self.students if s.canvas == found.canvas]
        return list({s for _, s in self.rows.get(found.moodle, ())} - {None})

    def group_of(self, found, exercise: str = "") -> list[Student]:
        """Return who is in a group of Moodle's, for an exercise or for any.

        Its rows have one time, when it handed in: where groups are shown alike, or
        people are in none, there are several.
        """
        if found.moodle in self.rows:  # the number of a participant
            return []
        groups, of_sheets = set(), self._rows(found.name, exercise)
        for own in of_sheets:
            people = frozenset(row[2] for row in own)
            if len({row[0] for row in own}) == 1 and not {"", "-"} & {*own[0][0]}:
                groups |= {people} if None not in people else set()
        known = any(row[2] for own in of_sheets for row in own)
        if self.trust and not (known or self.called(found.name)):
            return self.team(found.name)
        members = groups.pop() if len(groups) == 1 else ()  # of several, who knows
        return sorted(members, key=lambda s: s.student)

    def _rows(self, group: str, exercise: str = "") -> list[list[tuple]]:
        """Return the rows of a group in each worksheet."""
        sheets = [self.teams[exercise]] if exercise else self.teams.values()
        return [[r for r in sheet.values() if group in r[1]] for sheet in sheets]

    def find(self, found) -> tuple[list[Student], str]:
        """Return whose a file is, several if a group's; or nobody, and why."""
        if not found.of_platform or found.is_login:
            return self._named(found)
        named, team = self.called(found.name), self.team(found.name)
        own, rows = self.by_number(found), self.rows.get(found.moodle, ())
        names = [row.name for row, _ in rows]
        # "Red-Ada King" is Ada King of the group "Red" up to Moodle 4.0.
        names = [name for name in names if not found.name.endswith(f"-{name}")]
        if other := [n for n in names if key_of(n) not in ("", key_of(found.name))]:
            return [], SAYS["other_name"].format(found.moodle, other[0], found.name)
        if len(own) == 1:
            sheets = [s for s in self.teams.values() if found.moodle in s]
            groups = (row[1] for sheet in sheets for row in sheet.values())
            other = own[0] not in (like := self._like(found.name)) and (like or team)
            if other or any(found.name in group for group in groups):
                return [], SAYS["two_people"].format(own[0].student, found.name)
            return own, ""
        if found.canvas and self.numbers:
            return [], f"{found.name!r} has no number that is on the class list"
        if found.moodle and (members := self.group_of(found)):
            return members, ""
        if not (named or team or any(self._rows(found.name))):
            return [], f"{found.name!r} is not on the class list, or is twice"
        if not self.trust:
            return [], NAME_ALONE
        if not team and (one := self._trusted(found.name, [row for row, _ in rows])):
            return [one], ""
        several = " or ".join([*(s.student for s in named), *["a group"] * bool(team)])
        return [], f"{found.name!r} may be {several} or somebody else"

    def called(self, name: str) -> list[Student]:
        """Return whose full name, which people choose, has these letters."""
        return [s for s in self._like(name) if key_of(name) in _names_of(s)]

    def named(self, name: str) -> list[Student]:
        """Return who is meant by a name: several people if nothing tells which."""
        return self._sure(name) or self._like(name)

    def _sure(self, name: str) -> list[Student]:
        """Return whom a name fits by what tells best, and who may be called so, too."""
        mark, words, like = mark_of(name), words_of(name), self._like(name)
        ways = (
            lambda s: mark in map(mark_of, (s.id, s.user, s.email)),
            lambda s: mark in map(mark_of, (s.student, s.name, s.user or _local(s))),
            lambda s: words in map(words_of, (s.student, s.name)),
        )
        sure = next(filter(None, (list(filter(way, like)) for way in ways)), [])
        chosen = any(mark_of(s.id) == mark for s in sure)
        more = self.called(name) if chosen or len(words) > 1 else []
        more += [s for s in like if not s.user and mark == mark_of(_local(s))]
        return sure + [s for s in more if sure and s not in sure]

    def _like(self, text: str) -> list[Student]:
        return sorted(self._by_key.get(key_of(text), ()), key=lambda s: s.student)

    def marked(self, kind: str, text: str) -> list[Student]:
        """Return who has a number, a login or an address, one of `MARKS`."""
        mark = mark_of(text)
        return [s for s in self._like(text) if mark_of(getattr(s, kind)) == mark]

    def _named(self, found) -> tuple[list[Student], str]:
        name, like, sure = found.name, self._like(found.name), self._sure(found.name)
        team = [] if found.is_login else self.team(name)
        if found.is_login:
            sure = [s for s in like if mark_of(name) in _logins_of(s)]
        if len(sure) == 1 and not team:
            return sure, ""
        if several := ", ".join(s.student for s in sure or like):
            several += " or a group" * bool(team)
            return [], f"{name!r} may be any of {several} (name, login or address)"
        return team, "" if team else f"{name!r} is not on the class list, or is twice"

    def team(self, name: str) -> list[Student]:
        """Return who is in a group: of some with the same letters, in that very one."""
        groups, words = self._groups.get(key_of(name), {}), words_of(name)
        own = [g for g in groups if len(groups) == 1 or words_of(g) == words]
        return sorted(groups[own[0]], key=lambda s: s.student) if len(own) == 1 else []


def named_as_before(students: list[Student], known) -> tuple:
    """Return students by the names that a gradebook has for them.

    A namesake who comes or leaves changes what a list calls somebody; a number, a login
    or an address tells that it is the same person, and where there is none the name
    under which files came: a full one where a platform gave it. Also returns whose
    other names were, and which sentences say what else, of whom.
    """
    people, names, problems = ClassList(students), defaultdict(list), []
    letters = defaultdict(set)  # of platforms' names
    rows = {key_of(row["student"]) for row in known if any(row[k] for k in MARKS)}
    for row in known:
        marked = {m[0] for k in MARKS if len(m := people.marked(k, row[k])) == 1}
        full = row["moodle"] or row["canvas"] or marked
        find = people.called if full else people._sure
        named = set(find(row["student"]) or find(row["name"]))
        if row["student"] in (row["id"], row["user"]):  # a login: words tell nothing
            named = {s for s in students if mark_of(row["student"]) in _logins_of(s)}
        elif people.team(row["student"]):
            named = set()  # it may be a group's
        if any(row[k] and f"({row[k]})" in row["student"] for k in MARKS):
            # A name made for this mark tells nothing else.
            named = {s for s in named if s in marked or not _differ(row, s)}
        same = marked or named
        others = {s for s in marked - named if s.student != row["student"]}
        shown = row["student"], ", ".join(sorted(s.student for s in others))
        # Whoever is found by a mark alone has to agree in all else that is known.
        doubt = any(key_of(s.student) in rows or _differ(row, s) for s in others)
        if others and (named or doubt):
            problems.append(("somebody_elses", *shown))
            same = marked & named
        elif others and not people.named(row["student"]):
            problems.append(("taken", *reversed(shown)))
        elif not marked and any(_differ(row, s) for s in same):
            same = set()  # a namesake
        if len(same) == 1:
            names[own := next(iter(same))].append(row["student"])
            had = full or any(row[k] for k in MARKS)
            if had and not marked:
                letters[own].add(row["student"])
    for own, those in letters.items():  # which fit by letters: one of them at most
        if len(names[own]) > 1:
            problems.append(("several", ", ".join(names[own]), own.student))
            names[own] = [name for name in names[own] if name not in those]
    new = {s: names[s][0] if len(names[s]) == 1 else s.student for s in students}
    used = Counter(map(str.casefold, new.values()))
    for s in students:
        name = new[s]  # a new one is nobody else's, here or in the gradebook
        while name not in names[s] and _marks(s):
            if key_of(name) not in rows and used[name.casefold()] < 2:
                break
            name += f" ({_marks(s)[0]})"
            used[name.casefold()] += 1
        problems += [("taken", new[s], name)] * (name != new[s])
        new[s] = name
    joined = {old: n for s, n in new.items() for old in {*names[s]} - {*new.values()}}
    return [replace(s, student=n) for s, n in new.items()], joined, problems


def _differ(row, student: Student) -> bool:
    pairs = ((mark_of(row[k]), mark_of(getattr(student, k))) for k in MARKS)
    return any(one and other and one != other for one, other in pairs)


def whose(found, students: ClassList | None, trust: bool) -> tuple[list, str]:
    """Return whose a file is, several if a group's; or nobody, and why."""
    if found.moodle and key_of(found.name) in HIDDEN:
        rows = students.rows.get(found.moodle, ()) if students else ()
        if not any(row.name for row, _ in rows):
            return [blind(found.moodle)], ""
    if found.doubt:
        return [], f"{found.name!r} has two numbers: put it in its student's folder"
    if students is not None:
        return students.find(found)
    if found.of_platform and not (found.canvas or found.is_login or trust):
        return [], NAME_ALONE
    if found.moodle and is_hidden(found.name):
        return [], f"{found.name!r} is no name but what Moodle writes for a hidden one"
    login = found.name if found.is_login else ""
    return [Student(found.name, found.name, user=login, canvas=found.canvas)], ""


def blind(number: str) -> Student:
    """Return the student whose name Moodle hides behind a number."""
    return Student(f"Participant {number}")


def is_hidden(name: str) -> bool:
    """Say whether a name is as that of somebody whose name Moodle hides."""
    return bool(re.fullmatch(rf"({'|'.join(HIDDEN)})\d+", key_of(name)))


def number_in(identifier: str) -> str:
    """Return the number in Moodle's identifier, "" if there is none."""
    return "".join(re.findall(r"\A\D*(\d+)\Z", identifier.strip()))


def key_of(text: str) -> str:
    """Return a name without case, accents, spaces and signs, for comparing."""
    # What makes a name longer has to change it.
    found = unicodedata.normalize("NFKD", one_line(text, 3000).casefold())
    return "".join(c for c in found if c.isalnum())


def mark_of(text: str) -> str:
    """Return a number, a login or an address for comparing: signs tell these apart."""
    return one_line(text).casefold()


def _names_of(student: Student) -> set[str]:
    words = student.name.replace(",", " ").split()
    # "Ada King Lovelace" is "lovelaceadaking" in Canvas.
    turned = ("".join(words[k:] + words[:k]) for k in range(1, len(words)))
    turned = itertools.filterfalse(is_hidden, turned)  # "11 Participant" is somebody
    return set(map(key_of, [student.student, student.name, *turned])) - {""}


def _logins_of(student: Student) -> set[str]:
    """Return the login of somebody or, where it is not known, what else may be it."""
    marks = student.id, student.email, _local(student)
    names = student.student, student.name
    own = [student.user] if student.user else marks if any(marks) else names
    return set(map(mark_of, own))


def _local(student: Student) -> str:
    return student.email.partition("@")[0]


def words_of(text: str) -> list[str]:
    """Return the words of a name, sorted: by their letters alone "A L" is "al", too."""
    found = unicodedata.normalize("NFKD", mark_of(text))
    plain = "".join(c for c in found if not unicodedata.combining(c))
    return sorted(filter(None, re.split(r"[\s,_]+", DROPPED.sub("", plain))))


def _in_moodle(group: str) -> frozenset[str]:
    """Return what files of a group may be called in Moodle."""
    texts = group, group.replace("&", "&amp;")
    return frozenset(one_line(DROPPED.sub("", t.replace("_", " "))) for t in texts)


def read_class_list(path: Path) -> ClassList:
    """Read a class list; `Refused` if no column tells who is in the course."""
    people: dict[tuple, Student] = {}
    rows = read_table(path)
    logins = [k for k in HEADINGS["people"]["user"] if k in [*rows, {}][0]]
    if len(logins) > 1:
        raise Refused(SAYS["two_logins"].format(path.name, " and ".join(logins)))
    for student in filter(None, map(_student_of, rows)):
        # Who is in two groups has two rows.
        marks = [mark_of(getattr(student, kind)) for kind in MARKS]
        key = student.student.casefold(), *(marks if any(marks) else [len(people)])
        own = dict.fromkeys((people.get(key, student).section, student.section))
        people[key] = replace(student, section=",".join(filter(None, own)))
    ids = Counter(mark_of(s.id) for s in people.values())  # one of two is nobody's
    students = [replace(s, id=s.id * (ids[mark_of(s.id)] < 2)) for s in people.values()]
    # Somebody may have chosen a name that tells others apart, who keep theirs.
    while len(count := Counter(s.student.casefold() for s in students)) < len(students):
        again = {s for s in students if count[s.student.casefold()] > 1}
        again = {s for s in again if s.student == s.name} or again
        before, students = students, [_told_apart(s, again) for s in students]
        if students == before or not all(map(_marks, again)):
            raise Refused(SAYS["twice"].format(path.name, again.pop().student))
    if not students:
        raise Refused(SAYS["no_student"].format(path.name))
    return ClassList(students)


def _marks(student: Student) -> list[str]:
    return [mark for kind in MARKS if (mark := getattr(student, kind))]


def _told_apart(student: Student, again) -> Student:
    added = student.student.removeprefix(student.name)
    more = [f" ({m})" for m in _marks(student) if f"({m})" not in added]
    return replace(student, student=student.student + "".join(more[: student in again]))


def _student_of(row: dict[str, str]) -> Student | None:
    # Fields of profiles, which people fill in, come after a platform's own columns.
    meant = {heading(k): v for k, v in reversed(row.items())}

    def value(kind):
        own = meant.get(kind, "") if kind in ("name", "email") else ""
        return own or next((row[c] for c in HEADINGS["people"][kind] if row.get(c)), "")

    name = value("name") or f"{value('first')} {value('last')}".strip()
    if "," in name:  # "Lovelace, Ada" of Canvas
        last, _, first = name.partition(",")
        name = f"{first.strip()} {last.strip()}"
    if is_hidden(name):  # chosen: what Moodle writes so is somebody else
        name += " (listed)"
    number, user, email, canvas = map(value, MARKS)
    plain_id = row.get("id", "")
    if {"sis login id", "sis user id"} & row.keys():
        canvas = canvas or plain_id  # the ID of Canvas's gradebook is its own
    elif not meant.keys() & {"modified", "most"}:  # Moodle's are of one assignment
        # Otter's, or nbgrader's, which is what folders are called.
        number = number or row.get("identifier", "") or plain_id
    student = row.get("student_id") or row.get("id") if "first_name" in row else ""
    student = student or name or number or user or email
    points = name.lower() == "points possible"  # the second line of Canvas
    if not student or (points and not (number or user or email or canvas)):
        return None
    return Student(student, name, number, user, email, canvas, value("section"))
