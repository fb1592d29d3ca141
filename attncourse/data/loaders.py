"""A loader for the reader's own parallel text; that for questions is in `squad`.

Every error names the file and the line, what was expected, what was found and what to
do.
"""

from os import PathLike

from attncourse._checks import positive_int
from attncourse.data._files import read_text, short


def read_parallel_text(
    path: str | PathLike[str],
    *,
    source: int = 0,
    target: int = 1,
    columns: int | None = None,
    encoding: str = "utf-8",
) -> list[tuple[str, str]]:
    """Read sentence pairs from tab-separated text, one pair on each line.

    Empty lines are skipped. A byte-order mark and Windows line ends are understood.

    Parameters
    ----------
    path : str or path-like
    source, target : int
        Columns of the source and of the target sentence, counted from 0.
    columns : int, optional
        How many columns each line must have. Without it, as many as the first line,
        and at least as many as `source` and `target` need.
    encoding : str

    Returns
    -------
    list of (str, str)
        Source and target sentences, without white space around them.

    Raises
    ------
    FileNotFoundError, IsADirectoryError
        If there is no such file.
    ValueError
        If the file is empty or not in this encoding, or if a line has another number of
        columns or an empty sentence.
    """
    positive_int("source", source, minimum=0)
    positive_int("target", target, minimum=0)
    if source == target:
        raise ValueError(
            f"source and target must be different columns, both are {source}"
        )
    needed = max(source, target) + 1
    if columns is not None and positive_int("columns", columns) < needed:
        raise ValueError(
            f"columns is {columns}, but column {needed - 1} was asked for; columns are "
            f"counted from 0, so there must be {needed} or more"
        )
    expected, because = columns, "as asked"
    pairs = []
    for number, line in enumerate(read_text(path, encoding).split("\n"), start=1):
        line = line.removesuffix("\r")
        if not line.strip():
            continue
        cells = line.split("\t")
        if expected is None:
            expected, because = max(len(cells), needed), f"as on line {number}"
            if len(cells) < needed:
                because = f"to have columns {source} and {target}"
        if len(cells) != expected:
            raise ValueError(
                f"{path}, line {number}: expected {expected} columns separated by tabs "
                f"({because}), found {len(cells)} in {short(line)}; "
                + _column_advice(line, len(cells), expected)
            )
        pair = (cells[source].strip(), cells[target].strip())
        for name, cell, column in zip(
            ("source", "target"), pair, (source, target), strict=True
        ):
            if not cell:
                raise ValueError(
                    f"{path}, line {number}: the {name} sentence (column {column}) is "
                    "empty; fill it in or delete the line"
                )
        pairs.append(pair)
    return pairs


def _column_advice(line, found, expected):
    if found == 1 and any(mark in line for mark in (";", ",", "|")):
        return "it may use another separator; replace it by tabs"
    if found > expected:
        return "remove the extra tabs, or pass columns= if all lines should have more"
    return "add the missing tab and text, or delete the line"
