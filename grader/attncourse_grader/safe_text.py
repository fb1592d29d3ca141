"""Text that comes from submissions, made safe to print, to store and to name files.

A name, an error message or an output of a student may hold escapes that move the cursor
of a terminal, marks that turn the direction of writing, or half a character.
"""

import re
import unicodedata

ESCAPES = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # titles and links of the window
    r"|[\x1b\x9b]\[?[0-?]*[ -/]*[@-~]"  # colours, moves of the cursor
)
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # no tab, no line feed
# What nobody sees; after other letters than Latin ones, and in emoji, some is needed.
UNSEEN = re.compile(
    "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    r"|(?<![^\s!-/:-~\xc0-\u02ff])[\u200c\u200d\ufe00-\ufe0f]"
)
LONGEST_NAME = 120


def plain(text) -> str:
    """Return a text without escapes, control characters and halves of characters.

    Letters with accents come out as one character: file names of macOS take them apart.
    """
    found = str(text).replace("\r\n", "\n").replace("\u2028", "\n")
    found = UNSEEN.sub("", CONTROLS.sub("", ESCAPES.sub("", found)))
    found = found.encode("utf8", "backslashreplace").decode("utf8")
    return unicodedata.normalize("NFC", found)


def one_line(text, longest: int = LONGEST_NAME) -> str:
    """Return a text as one plain line of limited length: for names and sentences.

    What nobody sees is written out, so that no two names look alike that are not.
    """
    text = str(text)[: 1000 + 4 * longest]  # to normalise a long row of accents is slow
    text = UNSEEN.sub(lambda sign: ascii(sign[0])[1:-1], text)
    found = " ".join(plain(text).split())
    return found if len(found) <= longest else found[: longest - 3] + "..."


def reason(error: Exception) -> str:
    """Return what an error says, in few words."""
    said = getattr(error, "strerror", None) or error
    return one_line(said, 100).lower() or type(error).__name__


def plain_data(value):
    """Return data for JSON with every text in it made plain."""
    if isinstance(value, dict):
        return {plain(k): plain_data(v) for k, v in value.items()}
    if isinstance(value, list):
        return [plain_data(v) for v in value]
    return plain(value) if isinstance(value, str) else value


def file_name(text: str) -> str:
    """Return a text as a name of a file that every file system takes."""
    name = re.sub(r"[^\w.-]+", "_", plain(text[:1000])).strip("._-")[:80] or "unnamed"
    name = name.encode()[:200].decode(errors="ignore")  # a letter may be four bytes
    reserved = re.fullmatch(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?", name)
    return f"_{name}" if reserved else name


def number(points: float | None) -> str:
    """Return points as text without a needless ``.0``, "" where there are none."""
    return "" if points is None else f"{points:g}"
