"""The file of the gradebook: an SQLite database that is never half written.

Each change is one short transaction, on disk before the next begins. The journal is
SQLite's plain one, which works on network folders too.
"""

import contextlib
import os
import re
import sqlite3
from pathlib import Path

from attncourse_grader.exercises import Refused, modules
from attncourse_grader.sentences import SAYS

SCHEMA_VERSION = 5
SCHEMA = Path(__file__).with_name("schema.sql").read_text("utf8")
VIEWS = Path(__file__).with_name("views.sql").read_text("utf8")


class Database(contextlib.AbstractContextManager):
    """An open gradebook file."""

    def __init__(self, path, *, must_exist: bool = False):
        self.path = path
        if must_exist and not (Path(path).is_file() and Path(path).stat().st_size):
            raise Refused(f"there is no gradebook {path}. `attncourse grade` makes it.")
        with self._care():
            # Autocommit: each statement outside `together` is a transaction.
            self.db = sqlite3.connect(path, timeout=30, isolation_level=None)
            self.db.row_factory = sqlite3.Row
            version = self.db.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, SCHEMA_VERSION):
            raise Refused(SAYS["other_version"].format(path))
        if version == 0:
            with self.together():  # unless another command has just made them
                if not self.db.execute("PRAGMA user_version").fetchone()[0]:
                    for statement in SCHEMA.split(";\n"):
                        self.db.execute(statement)
                    self.db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        with self._care():
            self.db.create_function("is_exercise", 1, modules().__contains__)
            self.db.executescript(VIEWS)

    def __exit__(self, *error):
        self.db.close()

    @contextlib.contextmanager
    def _care(self):
        """Turn the faults of SQLite into sentences."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise Refused(_sentence(self.path, error)) from error

    @contextlib.contextmanager
    def together(self):
        """Do what is inside as a whole or not at all."""
        with self._care(), self.db:  # which commits, or rolls back
            self.db.execute("BEGIN IMMEDIATE")
            yield

    def _write(self, statement: str, *values) -> int:
        with self._care():
            return self.db.execute(statement, values).lastrowid

    def _insert(self, table: str, **row) -> int:
        names, marks = ", ".join(row), ", ".join("?" * len(row))
        statement = f"INSERT OR REPLACE INTO main.{table} ({names}) VALUES ({marks})"
        return self._write(statement, *row.values())

    def rows(self, statement: str, *values) -> list[sqlite3.Row]:
        """Return the rows that a query gives."""
        with self._care():
            return self.db.execute(statement, values).fetchall()


@contextlib.contextmanager
def in_place_of(path: Path):
    """Give the path of a file to write; it takes the other's place as a whole."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.unlink(missing_ok=True)  # of a command that was killed
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def back_up(path: Path) -> None:
    """Copy a gradebook, if there is one; raise `Refused` if only the copy is left."""
    copy = path.with_suffix(".backup.sqlite")
    if path.is_file() and path.stat().st_size:
        with Database(path) as book:
            # A damaged page must not take the place of its copy.
            if book.rows("PRAGMA quick_check(1)")[0][0] != "ok":
                raise Refused(_sentence(path, "database disk image is malformed"))
            with (
                book._care(),
                in_place_of(copy) as part,
                contextlib.closing(sqlite3.connect(part)) as opened,
            ):
                book.db.backup(opened)
    elif copy.is_file():
        path.with_name(f"{path.name}-journal").unlink(missing_ok=True)  # not the copy's
        raise Refused(SAYS["gone"].format(path, copy.name))


def _sentence(path, error) -> str:
    known = SAYS["database"].items()
    said = [t for words, t in known if re.search(words, str(error), re.I)]
    return " ".join([f"{path} cannot be used ({error}).", *said[:1]])


@contextlib.contextmanager
def only_run(folder: Path):
    """Hold the lock of a folder, which no process outlives, or raise `Refused`."""
    with contextlib.ExitStack() as held:
        try:
            lock = sqlite3.connect(folder / "run.lock", timeout=0, isolation_level=None)
            held.callback(lock.close)
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            says = f"{folder} cannot be written ({error})."
            if "locked" in str(error):
                says = f"another run is grading into {folder}. Wait until it has ended."
            raise Refused(says) from None
        yield
