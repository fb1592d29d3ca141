"""Tables as CSV: read in any of the usual forms, written so that no cell is obeyed."""

import contextlib
import csv
import io
import re
import tomllib
from pathlib import Path

from attncourse_grader.hand_in.submission import Refused
from attncourse_grader.safe_text import one_line

HEADINGS = tomllib.loads(Path(__file__).with_name("headings.toml").read_text("utf8"))
# A sign with which a cell begins a formula, at its start or where another spreadsheet
# would begin a cell; full-width forms too. Not before a plain number.
FORMULA = re.compile(r"(^|[;,\t\r\n])([\s\"]*)(?=[=+\-@\0\uff1d\uff0b\uff0d\uff20])")
csv.field_size_limit(2**31 - 1)  # Moodle writes answers in words there, of any length
NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?")


def heading(text: str) -> str:
    """Return what Moodle's heading means, itself where it is none of those."""
    bare = text.strip().lower()
    return next((k for k, words in HEADINGS["moodle"].items() if bare in words), bare)


def read_rows(path: Path) -> list[list[str]]:
    """Return the rows of a CSV file as they are, the headings first."""
    data = path.read_bytes()
    utf16 = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    for encoding in ("utf-16",) if utf16 else ("utf-8-sig", "cp1252"):
        with contextlib.suppress(UnicodeDecodeError):
            text = data.decode(encoding)
            break
    else:
        raise Refused(f"{path.name} is no text. Save it as CSV in UTF-8.")
    separator = max(",;\t", key=text.split("\n", 1)[0].count)
    try:
        return [r for r in csv.reader(io.StringIO(text), delimiter=separator) if r]
    except csv.Error as error:
        raise Refused(f"{path.name} cannot be read as CSV ({error}).") from None


def read_table(path: Path) -> list[dict[str, str]]:
    """Read a CSV file into rows by its headings, in lower case."""
    head, *rows = read_rows(path) or [[]]
    head = [one_line(name).lower() for name in head]
    rows = ([one_line(t, 300) for t in row] for row in rows if any(row))  # as names
    return [dict(zip(head, row, strict=False)) for row in rows]


def cell(text) -> str:
    """Return a text for a table that no spreadsheet reads as a formula."""
    text = one_line(text, 1000)
    return text if NUMBER.fullmatch(text) else FORMULA.sub(r"\1\2'", text)


def csv_text(rows) -> str:
    """Return rows as CSV, every cell in quotes."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(rows)
    return out.getvalue()
