"""Reads text files, with errors that name the file and the line."""

import codecs
import tomllib
from importlib import resources
from pathlib import Path

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_text(path, encoding):
    """Return the text of a file, without a byte-order mark."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(
            f"{path}: there is no such file; the current folder is {Path.cwd()}"
        )
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the name of a file in it")
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise ValueError(
            f'unknown encoding {encoding!r}; use for example "utf-8" or "latin-1"'
        ) from None
    data = path.read_bytes()
    if data.startswith(_UTF16) and "16" not in encoding:
        raise ValueError(
            f"{path}: the file starts with a UTF-16 mark, but is read as {encoding}; "
            'pass encoding="utf-16"'
        )
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ValueError(
            f"{path}, line {line}: byte 0x{data[error.start]:02x} is not valid "
            f'{encoding}; pass the encoding of the file, for example encoding="latin-1"'
        ) from None
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise ValueError(f"{path}: the file is empty; expected text in {encoding}")
    if "\x00" in text:
        raise ValueError(
            f"{path}: the file contains zero bytes, so it is not {encoding} text; "
            'try encoding="utf-16", or check that this is the right file'
        )
    return text


def short(text, size=40):
    """Return the text in quotes, cut to `size` characters."""
    return repr(text if len(text) <= size else text[: size - 3] + "...")


def read_table(name, package="attncourse.data"):
    """Return a TOML file of a package, called by its name without ending."""
    path = resources.files(package) / f"{name}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))
