"""What an answer may not use: one rule, in the notebook and in the grader.

The rule looks for uses of a library's own object, by the names under which the source
imports it. A local variable called `grad` is no offence.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable

from attncourse import MODULE_OF

# Ways to reach a name without writing it down; ruled out wherever anything is.
BUILT_IN = ("eval", "exec", "compile", "globals", "locals")
BUILT_IN += ("__import__", "__builtins__")
HIDING = ("importlib", "ctypes", "builtins", "gc", "inspect", "pickle", "marshal")
HIDING += ("operator.attrgetter", "operator.methodcaller")
HIDING += ("torch._*", "torch.ao", "torch.ops", "torch.library", "torch.onnx")
HIDING += ("torch.nn.modules", "attncourse.exercises", "sys.modules", "sys._*")
HIDING += ("sys.path", "sys.meta_path", "sys.settrace", "sys.setprofile")
# Of Python's own modules the others are ruled out: many run what stands in a text.
USUAL = ("__future__", "abc", "bisect", "cmath", "collections", "contextlib", "copy")
USUAL += ("dataclasses", "decimal", "enum", "fractions", "functools", "heapq", "json")
USUAL += ("itertools", "math", "numbers", "operator", "random", "re", "statistics")
USUAL += ("sys", "time", "types", "typing", "warnings")
OTHERS = sys.stdlib_module_names - {*USUAL, *(f"_{name}" for name in USUAL)}
ROOTS = frozenset(name.split(".")[0] for name in HIDING)
WAYS = ("__dict__", "__globals__", "__getattribute__", "__subclasses__", "__code__")
WAYS += ("__builtins__", "__closure__", "__loader__", "__self__", "__spec__")
WAYS += ("f_back", "f_globals", "f_locals", "f_builtins", "tb_frame", "gi_frame")
# What only a module has as an attribute, of what it has imported.
WAYS += ("torch", "_C", "_VF", "sys", "builtins", "bltns", "importlib", "attncourse")
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
    known, followed = _imported(nodes, dotted)
    modules = OTHERS & {path.split(".")[0] for path in known.values()}
    found: dict[str, None] = {}
    for node in nodes:
        for used in filter(None, _used(node, known)):
            if hit := _hit(used, dotted) or _hidden(used, dotted):
                found[hit] = None
            elif isinstance(node, ast.Name) and used.split(".")[0] in modules:
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
            word, of = node.func.id, _path(node.args[0], known) if node.args else "all"
            if word == "getattr" or of:  # vars(self) is of the answer's own
                found[f"{word}{' with a computed name' * bool(node.args)}"] = None
    kept = (n for n in found if not any(n.startswith(f"{other}.") for other in found))
    return [f"The answer uses `{name}`, which this task rules out." for name in kept]


def _write_down(node) -> None:
    """Make of getattr(x, "name") what it means: x.name."""
    if isinstance(node, ast.Call) and _looks_up(node.func) and len(node.args) > 1:
        name = getattr(node.args[1], "value", None)
        if isinstance(name, str):
            node.__class__, value = ast.Attribute, node.args[0]
            vars(node).update(value=value, attr=name, ctx=ast.Load())


def _leads_on(node, used: str, names) -> bool:
    """Say whether something ruled out is in a module that stands as a value."""
    value = isinstance(getattr(node, "ctx", None), ast.Load)
    return value and any(n.startswith(f"{used}.") for n in (*names, *HIDING))


def _imported(nodes, names) -> tuple[dict[str, str], set[int]]:
    """Return the dotted names behind names, and from which nodes these are followed."""
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
                known[name] = alias.name if alias.asname else name
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                known[alias.asname or alias.name] = f"{node.module}.{alias.name}"
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
    return {**dict.fromkeys(bound, ""), **known}, followed


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
    elif isinstance(node, ast.ImportFrom) and node.module:
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
    if used in BUILT_IN:
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
