"""The statements of a notebook: what each defines and what it uses."""

from __future__ import annotations

import ast
import contextlib
import re
import symtable
from dataclasses import dataclass

ANYTHING = "*"  # what `from module import *` binds
LONGEST_CELL = 200_000  # characters; nobody writes more by hand
MAGIC_CELLS = re.compile(r"^%%(time|timeit|capture|prun)\b.*\n")
IMPORTS = ast.Import, ast.ImportFrom
PROMPT = re.compile(r"^[ \t]*In ?\[", re.MULTILINE)  # copied along from a session


@dataclass(frozen=True)
class Statement:
    """One statement at the top level of a cell."""

    text: str  # its source
    binds: frozenset[str]  # names that it gives a value
    uses: frozenset[str]  # global names that it reads, at once or when it is called
    cell: int  # the place of its cell in the notebook
    makes: bool = False  # whether what it binds can be called: functions, imports

    def defines(self, name: str) -> bool:
        """Say whether it makes a name callable, or goes on from what the name is."""
        return self.makes or name in self.uses


@dataclass(frozen=True)
class BadCell:
    """A cell that is no Python."""

    text: str  # its source
    error: str  # what is wrong, and where
    cell: int  # its place in the notebook


def plain_python(source: str) -> str:
    """Return a cell's source with IPython's own syntax turned into Python."""
    source = MAGIC_CELLS.sub("", source)
    # nbval reads commands from comments. In an answer they have no business.
    source = re.sub(r"#(\s*)(NBVAL|PYTEST_VALIDATE)", r"#\1(\2)", source)
    if not PROMPT.search(source):
        with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            ast.parse(source)
            return source  # it is Python already
    from IPython.core.inputtransformer2 import TransformerManager

    return TransformerManager().transform_cell(source)


def statements_of(source: str, cell: int) -> list[Statement] | BadCell:
    """Return the statements of one cell, or what is wrong with it."""
    if len(source) > LONGEST_CELL:
        return BadCell("", f"the cell is longer than {LONGEST_CELL:,} letters", cell)
    try:
        text = plain_python(source)
        lines = re.split(r"\r\n|\r|\n", text)  # as Python does: at nothing else
        return [_statement(node, lines, cell) for node in ast.parse(text).body]
    except SyntaxError as error:
        return BadCell(source, f"line {error.lineno}: {error.msg}", cell)
    except (ValueError, RecursionError, MemoryError) as error:
        return BadCell(source, f"it cannot be read as Python ({error})", cell)


def _statement(node: ast.stmt, lines: list[str], cell: int) -> Statement:
    text = _text_of(node, lines)
    table = symtable.symtable(text, "cell", "exec")
    bound = {s.get_name() for s in table.get_symbols() if s.is_assigned()}
    kinds = ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef
    if not isinstance(node, kinds):  # what these do when they are called is theirs
        bound = bound.union(*map(_imported_or_changed_by, ast.walk(node)))
    makes = isinstance(node, (*kinds, *IMPORTS))
    makes |= isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda)
    uses = frozenset(_read_by(table, top=True))
    return Statement(text, frozenset(bound), uses, cell, makes)


def _read_by(table: symtable.SymbolTable, *, top: bool = False) -> set[str]:
    """Return the global names that are read: no parameters, no local variables."""
    read = [symbol for symbol in table.get_symbols() if symbol.is_referenced()]
    found = {symbol.get_name() for symbol in read if top or symbol.is_global()}
    return found.union(*(_read_by(child) for child in table.get_children()))


def _text_of(node: ast.stmt, lines: list[str]) -> str:
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    block = lines[first - 1 : node.end_lineno]
    if node.col_offset:  # the second of two statements on a line
        return ast.unparse(node)
    # The first of two statements on a line brings the second along: cut it.
    block[-1] = block[-1].encode()[: node.end_col_offset].decode()
    return "\n".join(block)


def _imported_or_changed_by(node: ast.AST) -> set[str]:
    """Return the names that a node imports, or of which it sets a part."""
    if isinstance(node, IMPORTS):
        return {(a.asname or a.name).split(".")[0] for a in node.names}  # or ANYTHING
    if isinstance(getattr(node, "ctx", None), ast.Store):
        root = node
        while isinstance(root, (ast.Attribute, ast.Subscript)):
            root = root.value
        return {root.id} if isinstance(root, ast.Name) and root is not node else set()
    return set()


def changes_libraries(answer: list[Statement], given: list[Statement]) -> bool:
    """Say whether code sets a part of what it, or what is given, imports."""
    nodes = [n for s in answer for n in ast.walk(ast.parse(s.text))]
    imports = [*nodes, *(n for s in given for n in ast.walk(ast.parse(s.text)))]
    imports = [n for n in imports if isinstance(n, IMPORTS)]
    imported = set().union(*map(_imported_or_changed_by, imports))
    parts = [n for n in nodes if not isinstance(n, IMPORTS)]
    return any(_imported_or_changed_by(part) & imported for part in parts)


def needed(names, statements: list[Statement], *, every=False) -> list[Statement]:
    """Return what defines `names` and what that needs; functions only, or `every`."""
    bound = {}
    for place, statement in enumerate(statements):
        for name in statement.binds:
            bound.setdefault(name, []).append(place)
    taken, waiting = set(), [ANYTHING, *names]
    while waiting:
        name = waiting.pop()
        places = bound.pop(name, [])
        defined = [p for p in places if statements[p].defines(name)]
        made = not every and any(statements[p].makes for p in defined)
        for place in set(defined if made else places) - taken:
            taken.add(place)
            waiting += statements[place].uses
    return [statements[place] for place in sorted(taken)]
