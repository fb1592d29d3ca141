"""When something was handed in: from tables of learning platforms, and one's own."""

import contextlib
import datetime
import json
import re
from dataclasses import dataclass
from pathlib import Path

from attncourse_grader.exercises import modules
from attncourse_grader.hand_in.class_list import number_in
from attncourse_grader.hand_in.submission import Refused
from attncourse_grader.hand_in.tables import HEADINGS, read_table
from attncourse_grader.sentences import SAYS

WHO, WHEN, MONTHS = (HEADINGS["times"][what] for what in ("who", "when", "months"))
LONG_DATE = re.compile(
    r"\w+,? +(\d{1,2})\.? +([^\W\d]+)\.? +(\d{4}),? +(\d{1,2}):(\d\d) ?([AP]M)?", re.I
)


@dataclass(frozen=True)
class Said:
    """What a table says about one hand-in."""

    student: dict  # name, number in Moodle or Canvas, id, numbers of files: what it has
    exercise: str
    handed_in: float | None = None  # seconds since 1970
    numbers: frozenset = frozenset()  # of the hand-in in Moodle, or of files in Canvas


def exercise_named(text: str) -> str:
    """Return the notebook of an exercise given by number, name or file."""
    bare = Path(text.strip()).name.removesuffix(".ipynb").lower()
    for notebook, module in modules().items():
        number, _, title = notebook.partition("_")
        if bare in (number, notebook, title, module):
            return notebook
    raise Refused(SAYS["no_such_exercise"].format(text, ", ".join(modules())))


def numbered(text: str) -> tuple[str, str]:
    """Return the exercise and the rest of ``1=something``, "" without an exercise."""
    which, sign, rest = str(text).partition("=")
    alone = sign and Path(which).name == which  # and no path with "=" in it
    return (exercise_named(which), rest) if alone else ("", str(text))


def read_time(text: str) -> float:
    """Return a time in seconds since 1970.

    It is written as ``2026-12-01T23:59``, or as Moodle writes it in English, German or
    French. Without a zone it is of this machine's.
    """
    text = re.sub(r"^(\w+, )([^\W\d]+) (\d+), ", r"\1\3 \2 ", text.strip())  # of the US
    try:
        if match := LONG_DATE.fullmatch(text):
            day, month, year, hour, minute, half = match.groups()
            starts = [bool(re.match(m, month, re.I)) for m in MONTHS]
            clock = int(hour) % 12 + 12 * (half.lower() == "pm") if half else int(hour)
            parts = int(year), starts.index(True) + 1, int(day), clock, int(minute)
            return datetime.datetime(*parts).timestamp()
        if re.fullmatch(r"[\dW-]+", text):  # a day, to its end
            text += "T23:59:59"
        return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
    except (ValueError, OverflowError, OSError):
        raise Refused(SAYS["which_time"].format(text)) from None


def read_deadline(text: str) -> float | None:
    """Return a deadline, to the end of its minute; None if it is ``none``."""
    if text.strip().lower() == "none":
        return None
    time = read_time(text)
    return time + 59 * (time % 60 == 0)


def claimed_time(text: str) -> float | None:
    """Return the time in the name of a folder of nbgrader's, None if it is none."""
    with contextlib.suppress(Refused):
        return read_time(text.replace(" ", "T") + "+00:00")
    return None


def read_deadlines(texts) -> dict[str, float | None]:
    """Return the deadline of each exercise, None for one that is taken back."""
    found = {}
    for text in texts:
        name, when = numbered(text)
        time = read_deadline(when)
        for each in [name] if name else modules():
            if name or each not in found:
                found[each] = time
    return found


def read_times(text: str) -> list[Said]:
    """Read when things were handed in, of exercise N alone where ``N=`` comes first.

    Moodle's grading worksheet, Canvas's submissions as JSON, or a CSV of one's own.
    """
    name, rest = numbered(text)
    path = Path(rest)
    canvas = path.suffix.lower() == ".json"
    found = _from_canvas(path, name) if canvas else []
    for place, row in enumerate([] if canvas else read_table(path), start=2):
        where = f"{path.name}, line {place}"
        known = {}
        for key, text in row.items():  # Moodle's own is the first; of groups, the last
            kind = next((k for k, w in HEADINGS["moodle"].items() if key in w), "")
            if kind == "group" or kind not in known:
                known[kind] = text
        if "identifier" in known and "modified" in known:
            if not (number := number_in(known["identifier"])):
                continue  # an instructor's own row
            when = known["modified"].strip()
            time = read_time(when) if when not in ("", "-") else None
            found.append(Said(known, name, time, frozenset([number])))
            continue
        if not any(row.get(k) for k in WHO):
            raise Refused(f"{where}: no column says which student.")
        which = row.get("exercise") or row.get("assignment") or ""
        own = exercise_named(which) if which else name
        when = next((row[column] for column in WHEN if row.get(column)), "")
        if not {*WHEN} & {*row}:
            raise Refused(f"{where}: no column says when. Name it handed_in.")
        found.append(Said(row, own, read_time(when) if when.strip("-") else None))
    if not (found or canvas):
        raise Refused(f"{path.name} has no line that says when anything came.")
    if not all(said.exercise for said in found):
        raise Refused(SAYS["of_which"].format(path.name))
    return found


def _from_canvas(path: Path, name: str) -> list[Said]:
    """Read .../assignments/ID/submissions of Canvas's API, as a browser shows it."""
    try:
        listed = json.loads(path.read_bytes().removeprefix(b"while(1);"))
        files = [frozenset(f["id"] for f in o.get("attachments") or ()) for o in listed]
        return [
            Said(
                {"canvas": str(one["user_id"]), "files": own},
                name,
                read_time(when),
                own,
            )
            for one, own in zip(listed, files, strict=True)
            if (when := one.get("submitted_at"))
        ]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise Refused(f"{path.name} is no list of Canvas's submissions.") from None
