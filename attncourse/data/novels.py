"""Jane Austen's six novels: text to train a language model on, with two parts held out.

The snapshot is Project Gutenberg's text as in the R package janeaustenr 1.0.0 (Debian:
r-cran-janeaustenr), in the public domain, one paragraph on each line. The command that
made it is ``experiments/novels.py``.
"""

import hashlib
import lzma
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from os import PathLike

from attncourse.data._files import read_text

TITLES = (
    "Sense and Sensibility",
    "Pride and Prejudice",
    "Mansfield Park",
    "Emma",
    "Northanger Abbey",
    "Persuasion",
)
SNAPSHOT = resources.files("attncourse.data") / "novels.txt.xz"
SHA256 = "a7f04656db6def94ec96cee700acbb343fb69576c062add5c797c93a07f7f55a"
BREAK = "\f\n"  # between two novels


@dataclass(frozen=True)
class TextSplit:
    """A text in three parts."""

    train: str  # to learn from
    validation: str  # to choose settings by
    test: str  # to report on, and for nothing else


def load_novels() -> dict[str, str]:
    """Return the text of each novel.

    Returns
    -------
    dict of str to str
        Title to text; 4.0 million characters in all, one paragraph on each line.
    """
    data = lzma.decompress(SNAPSHOT.read_bytes())
    if digest(data) != SHA256:
        raise ValueError(
            f"novels.txt.xz is damaged: its SHA-256 is {digest(data)[:12]}…, but "
            f"{SHA256[:12]}… was expected. Install attncourse again."
        )
    return dict(zip(TITLES, data.decode().split(BREAK), strict=True))


def load_text(path: str | PathLike[str], *, encoding: str = "utf-8") -> dict[str, str]:
    """Return the reader's own text file in the form of `load_novels`.

    Parameters
    ----------
    path : str or path-like
        A plain text file.
    encoding : str, default "utf-8"

    Returns
    -------
    dict of str to str
        The file's path and its text. A file that is missing, empty or not in this
        encoding raises an error that names the line.
    """
    return {str(path): read_text(path, encoding).replace("\r\n", "\n")}


def split_texts(
    texts: Mapping[str, str], *, validation: float = 0.025, test: float = 0.05
) -> TextSplit:
    """Hold out the end of each text, cut between two lines.

    The last `test` of each text is for the final figures, the `validation` before it
    for choosing settings. Held-out text is then as far from the training text as a
    later chapter is from an earlier one.

    Parameters
    ----------
    texts : dict of str to str
        As `load_novels` and `load_text` return them.
    validation, test : float
        Parts of each text, counted in characters.

    Returns
    -------
    TextSplit
        A text too short for three parts raises a ValueError.
    """
    parts = [], [], []
    for text in texts.values():
        text = text.rstrip("\n") + "\n"
        cuts = [0]
        for share in (1 - validation - test, 1 - test):
            line_end = text.find("\n", int(share * len(text)))
            cuts.append(line_end + 1 if line_end >= 0 else len(text))
        for part, begin, end in zip(parts, cuts, [*cuts[1:], len(text)], strict=True):
            part.append(text[begin:end])
    texts_of_parts = ["".join(part) for part in parts]
    if not all(texts_of_parts):
        raise ValueError(
            "texts must have lines enough to hold some out, but the parts came out "
            f"with {[len(text) for text in texts_of_parts]} characters. Give a longer "
            "text, or larger parts."
        )
    return TextSplit(*texts_of_parts)


def digest(data: bytes) -> str:
    """Return the SHA-256 of bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()
