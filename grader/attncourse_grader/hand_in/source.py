"""The statements of a notebook: what each defines and what it uses."""

import ast
import contextlib
import itertools
import re
import symtable
from dataclasses import dataclass, replace

ANYTHING = "*"  # what `from module import *` binds
LONGEST_CELL = 200_000  # characters; nobody writes more by hand
MAGIC_CELLS = re.compile(r"\A([ \t]*\n)*(%%(time|timeit|capture|prun)\b.*\n)+")
IMPORTS = ast.Import, ast.ImportFrom
FUNCTIONS = ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef
COMMENT = re.compile(r"[ \t]+#|[ \t]*$")
PROMPT = re.compile(r"^[ \t]*In ?\[", re.MULTILINE)  # copied along from a session


@dataclass(frozen=True)
class Statement:
    """One statement at the top level of a cell."""

    text: str  # its source
    binds: frozenset[str]  # names that it gives a value
    uses: frozenset[str]  # global names that it reads, at once or when it is called
    cell: int  # the place of its cell in the notebook
    kind: str = ""  # "function" or "import" if what it binds can be called
    passes: frozenset[str] = frozenset()  # names that it gives another name, or wraps
    changes: frozenset[str] = frozenset()  # names it only calls a method of
    gives: frozenset[str] = frozenset()  # names that it gives a value, no part of one


@dataclass(frozen=True)
class BadCell:
    """A cell that is no Python."""

    text: str  # its source
    error: str  # what is wrong, and where
    cell: int  # its place in the notebook


def plain_python(source: str) -> str:
    """Return a cell's source with IPython's own syntax turned into Python."""
    source = re.sub(r"(?m)^%time[ \t]+", "", MAGIC_CELLS.sub("", source))
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
    symbols = [s for s in table.get_symbols() if s.is_assigned() or s.is_imported()]
    gives = frozenset(s.get_name() for s in symbols)
    # What a function does when it is called is its own.
    nodes = [node] if isinstance(node, FUNCTIONS) else list(ast.walk(node))
    bound = gives.union(*map(_imported_or_changed_by, nodes))
    changes = frozenset().union(*map(_called_on, nodes)) - bound
    values = [n.value for n in nodes if isinstance(n, (ast.Assign, ast.AnnAssign))]
    made = [v for v in values if isinstance(v, ast.Lambda)]
    made += [n for n in nodes if isinstance(n, FUNCTIONS)]
    kind = "import" if isinstance(node, IMPORTS) else "function" * bool(made)
    calls = [n for v in values for n in ast.walk(v) if isinstance(n, ast.Call)]
    passed = itertools.chain(values, *(call.args for call in calls))
    passes = frozenset(map(_root, passed)) - {""}
    loops = [n for n in nodes if isinstance(n, ast.For)]  # which set what they count by
    counted = {_root(n) for loop in loops for n in ast.walk(loop.target)}
    counted -= {_root(n) for loop in loops for n in ast.walk(loop.iter)}
    binds, uses = bound | changes, frozenset(_read_by(table, top=True) - counted)
    return Statement(text, binds, uses, cell, kind, passes, changes, gives)


def _read_by(table: symtable.SymbolTable, *, top: bool = False) -> set[str]:
    """Return the global names that are read: no parameters, no local variables."""
    top = top or table.get_type() == "class"  # which may read what it then sets
    symbols = [s for s in table.get_symbols() if top or s.is_global()]
    read = (s for s in symbols if s.is_referenced() or s.is_declared_global())
    found = {symbol.get_name() for symbol in read}
    return found.union(*(_read_by(child) for child in table.get_children()))


def _text_of(node: ast.stmt, lines: list[str]) -> str:
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    last, line = node.end_lineno, lines[node.end_lineno - 1].encode()
    if node.col_offset or line[node.end_col_offset :].lstrip().startswith(b";"):
        return ast.unparse(node)  # one of two statements on a line
    while last < len(lines) and COMMENT.match(lines[last]):  # at a function's end
        last += 1
    return "\n".join(lines[first - 1 : last]).rstrip()


def _imported_or_changed_by(node: ast.AST) -> set[str]:
    """Return the names that a node imports, or of which it sets a part."""
    if isinstance(node, IMPORTS):
        return {(a.asname or a.name).split(".")[0] for a in node.names}  # or ANYTHING
    parts = isinstance(node, (ast.Attribute, ast.Subscript))
    return {_root(node)} - {""} if parts and isinstance(node.ctx, ast.Store) else set()


def _called_on(node: ast.AST) -> set[str]:
    """Return the names of which a node calls a method for what it does."""
    called = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    calls = [node.value.func] if called else getattr(node, "decorator_list", [])
    given = [a for c in calls for a in getattr(c, "args", ())]  # to a decorator
    given += [f for c in calls if isinstance(f := getattr(c, "func", c), ast.Attribute)]
    return {_root(c) for c in given} - {""}


def _root(node: ast.AST | None) -> str:
    """Return the name that an expression begins with, "" if with none."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def changes_libraries(answer: list[Statement], given: list[Statement]) -> bool:
    """Say whether code sets a part of what it, or what is given, imports."""
    nodes = [n for s in answer for n in ast.walk(ast.parse(s.text))]
    imports = [*nodes, *(n for s in given for n in ast.walk(ast.parse(s.text)))]
    imports = [n for n in imports if isinstance(n, IMPORTS)]
    imported = set().union(*map(_imported_or_changed_by, imports))
    parts = [n for n in nodes if not isinstance(n, IMPORTS)]
    return any(_imported_or_changed_by(part) & imported for part in parts)


def without_calls(statements, more=()) -> list[Statement]:
    """Take it that `plt.show()` changes nothing: `plt` is imported."""
    imported = {n for s in (*statements, *more) if s.kind == "import" for n in s.binds}
    return [replace(s, binds=s.binds - (s.changes & imported)) for s in statements]


def needed(names, statements: list[Statement], *, every=False) -> list[Statement]:
    """Return what defines `names` and what that needs; functions only, or `every`."""
    bound = {}
    for place, statement in enumerate(statements):
        for name in statement.binds:
            bound.setdefault(name, []).append(place)
    made = {name for s in statements if s.kind for name in s.gives}
    makes = {p for p, s in enumerate(statements) if s.kind or s.passes & made}
    taken, waiting = set(), [ANYTHING, *names]
    while waiting:
        name = waiting.pop()
        places = bound.pop(name, [])
        gave = [p for p in places if name in statements[p].gives]
        if not every and any(statements[p].kind == "function" for p in gave):
            # Not what a later cell calls so.
            places = [p for p in places if p in makes or p not in gave]
        for place in set(places) - taken:
            taken.add(place)
            waiting += statements[place].uses
    return [statements[place] for place in sorted(taken)]
