"""What an answer may not use: one rule, in the notebook and in the grader.

The rule looks for uses of a library's own object, by the names under which the source
imports it. A local variable called `grad` is no offence.
"""

import ast
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

from attncourse import MODULE_OF

RULE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf8"))
BUILT_IN, HIDING, WAYS = (tuple(RULE[n]) for n in ("built_in", "hiding", "ways"))
USUAL, FUSED = (tuple(RULE[n]) for n in ("usual", "fused"))
OTHERS = sys.stdlib_module_names - {*USUAL, *(f"_{name}" for name in USUAL)}
ROOTS = frozenset(name.split(".")[0] for name in HIDING)
# Of a dotted name that somebody writes; longer ones would take time, and are not read.
DEEPEST, LONGEST = 8, 200  # names, characters
OPEN = {"attempt", "open_exercise", "provided"}  # in `attncourse.exercises`


def forbidden_uses(source: str, names: Iterable[str]) -> list[str]:
    """Return a sentence for each forbidden name that some code uses.

    The source has all imports and helpers that it needs. Names are dotted
    ("attncourse.layers" stands for all that is in it), or of methods (".backward").
    Raises SyntaxError if the source is not valid Python.
    """
    names = tuple(names)
    if not names:
        return []
    nodes = ast.walk(ast.parse(source))  # no module has as long a name
    nodes = [n for n in nodes if len(getattr(n, "module", None) or "") < LONGEST]
    for node in nodes:
        _write_down(node)
    dotted = tuple(n for n in names if not n.startswith("."))
    methods = {*WAYS, *(n[1:] for n in names if n.startswith("."))}
    known, followed, inside = _imported(nodes, dotted)
    modules = OTHERS & {path.split(".")[0] for path in known.values()}
    found: dict[str, None] = {}
    for node in nodes:
        aliases = getattr(node, "names", ())
        renames = any(getattr(alias, "asname", "") for alias in aliases)
        if isinstance(node, ast.Import) and id(node) not in inside and not renames:
            continue  # what takes something of it is looked at
        for used in filter(None, _used(node, known)):
            if hit := _hit(used, dotted) or _hidden(used, dotted):
                found[hit] = None
            elif used.split(".")[0] in modules and (
                isinstance(node, ast.Name) or id(node) in inside or used.endswith(".*")
            ):
                found[used] = None
            elif id(node) not in followed and _leads_on(node, used, dotted):
                found[f"{used} as a value"] = None
        if _looks_up(node) and id(node) not in followed and node.id not in known:
            found[node.id] = None  # to be called elsewhere
        taken = {getattr(node, "attr", ""), *getattr(node, "kwd_attrs", ())}
        if isinstance(node, ast.ImportFrom):
            taken |= {alias.name for alias in node.names}
        found.update(dict.fromkeys(f".{name}" for name in taken & methods))
        if isinstance(node, ast.Call) and _looks_up(node.func):
            word = node.func.id  # what vars gives of a type holds all of `WAYS`
            found[f"{word}{' with a computed name' * (word == 'getattr')}"] = None
    kept = (n for n in found if not any(n.startswith(f"{other}.") for other in found))
    return [f"The answer uses `{name}`, which this task rules out." for name in kept]


def _write_down(node) -> None:
    """Make of getattr(x, "name") what it means, x.name, and __name of _Class__name."""
    for field in {"id", "asname"} & vars(node).keys():
        name = vars(node)[field] or ""
        if name.startswith("_") and "__" in name and not name.endswith("__"):
            vars(node)[field] = f"__{name.rpartition('__')[2]}"
    if isinstance(node, ast.Call) and _looks_up(node.func) and len(node.args) > 1:
        name = getattr(node.args[1], "value", None)
        if isinstance(name, str):
            node.__class__, value = ast.Attribute, node.args[0]
            vars(node).update(value=value, attr=name, ctx=ast.Load())


def _leads_on(node, used: str, names) -> bool:
    """Say whether something ruled out is in a module that stands as a value."""
    return isinstance(getattr(node, "ctx", None), ast.Load) and _above(used, names)


def _above(path, names) -> bool:
    ruled_out = any(n.startswith(f"{path}.") for n in (*names, *HIDING))
    return ruled_out or path.split(".")[0] in OTHERS


def _imported(nodes, names) -> tuple[dict[str, str], set[int], set[int]]:
    """Return what is behind names, and the nodes that follow it or are in classes."""
    known, bound, followed, inside = {}, set(), set(), set()
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            inside |= {id(part) for part in ast.walk(node)}
        if isinstance(node, ast.Attribute):
            followed.add(id(node.value))
        if called := getattr(node, "func", None):
            followed |= {id(called), *map(id, node.args[: _looks_up(called)])}
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.asname or alias.name.split(".")[0]
                _name(name, alias.name if alias.asname else name, known, names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                path = f"{node.module}.{alias.name}"
                _name(alias.asname or alias.name, path, known, names)
                if alias.name == "*":  # what it may bring along
                    rest = (n.partition(f"{node.module}.") for n in (*names, *HIDING))
                    parts = {r.split(".")[0] for first, _, r in rest if not first}
                    known |= {part: f"{node.module}.{part}" for part in parts - {""}}
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            bound.add(node.name)
    for node in nodes:  # sdpa = F.scaled_dot_product_attention
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            path, name = _path(node.value, known), node.targets[0].id
            if path and known.setdefault(name, path) == path and id(node) not in inside:
                followed |= {id(node.value)} if len(node.targets) == 1 else set()
                bound.discard(name)
    for name in (*BUILT_IN, "getattr"):  # bound in one scope, it is not in all
        bound.discard(name)
        known.pop(name, None)
    for node in nodes:  # F, also bound to something else, such as a size
        if isinstance(node, ast.Name) and node.id in bound - {known.get(node.id)}:
            followed.add(id(node))
    return {**dict.fromkeys(bound, ""), **known}, followed, inside


def _name(name: str, path: str, known: dict, names) -> None:
    """Note what a name imports; of two modules, the one that leads further."""
    before = known.get(name, path)
    if before != path and _above(before, names):
        path = "one name for two modules" if _above(path, names) else before
    known[name] = path


def _path(node, known) -> str:
    parts = []
    while isinstance(node, ast.Attribute) and len(parts) < DEEPEST:
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    named = parts or node.id in (*BUILT_IN, *HIDING)
    root = known.get(node.id, node.id if named else "")
    path = ".".join([root, *reversed(parts)]) if root else ""
    return path if len(path) < LONGEST else ""


def _used(node, known):
    if isinstance(node, (ast.Attribute, ast.Name)):
        yield _path(node, known)
    elif isinstance(node, ast.ImportFrom) and node.level:
        yield "a relative import"  # of a package that somebody has set
    elif isinstance(node, ast.ImportFrom):
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)


def _looks_up(node) -> bool:
    return isinstance(node, ast.Name) and node.id in ("getattr", "vars")


def _hidden(used: str, names) -> str:
    """Return the way to hide a name that a path takes, by whatever module it begins."""
    parts = used.split(".")[-DEEPEST:]  # what is before has a node, too
    if parts[:2] == ["attncourse", "exercises"] and OPEN & {*parts}:
        return ""
    inner = parts[1:] if parts[0] in USUAL and parts[0] != "sys" else []
    private = any(part[:1] == "_" and "__" not in part for part in inner)
    if used in BUILT_IN or private or OTHERS & {*inner}:
        return used
    starts = (start for start, part in enumerate(parts) if part in ROOTS)
    hits = (_hit(".".join(parts[start:]), (*names, *HIDING)) for start in starts)
    return next(filter(None, hits), "")


def _hit(used: str, names) -> str:
    root, _, rest = used.partition(".")
    if root == "attncourse" and rest in MODULE_OF:  # names that it has for short
        used = f"attncourse.{MODULE_OF[rest]}.{rest}"
    for name in names:
        whole, begins = f"{used}.".startswith(f"{name}."), name.endswith("*")
        if whole or (begins and used.startswith(name[:-1]) and "__" not in used):
            return name
    return ""
