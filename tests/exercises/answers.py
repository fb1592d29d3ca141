"""Answers to the exercises, right and wrong, and what has to be said about them."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Wrong:
    """A wrong answer that a student might give.

    `code` is the whole answer cell; or `change` is a pair of texts of which the first
    is replaced by the second in the answer of the solution. `loses` are the places of
    the checks that it must fail, and no others; `named` is the name of the mistake
    that the feedback has to find in the first of them ("" where no name is promised).
    """

    task: str
    name: str
    loses: tuple[int, ...]
    named: str
    change: tuple[str, str] | None = None
    code: str = ""


@dataclass(frozen=True)
class Right:
    """A right answer, written differently from the solution."""

    task: str
    name: str
    code: str = ""
    change: tuple[str, str] | None = None
    helpers: tuple[str, ...] = field(default=())  # further cells, before the answer
