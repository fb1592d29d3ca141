"""Automatic mutants of a model answer: one small change each, by its syntax tree."""

import ast
import copy

SWAPS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}
SYMMETRIC = ("transpose", "max", "min", "maximum", "minimum", "zip")


def mutants(source):
    """Yield (what was changed, source) for every small change of some code."""
    tree = ast.parse(source)
    for place, node in enumerate(ast.walk(tree)):
        for change in _changes(node):
            mutant = copy.deepcopy(tree)
            twin = next(n for i, n in enumerate(ast.walk(mutant)) if i == place)
            change(twin)
            ast.fix_missing_locations(mutant)
            text = ast.unparse(mutant)
            if text != ast.unparse(tree):
                yield f"line {getattr(node, 'lineno', 0)}: {ast.unparse(twin)}", text


def _changes(node):
    if isinstance(node, ast.BinOp) and type(node.op) in SWAPS:
        yield lambda n: setattr(n, "op", SWAPS[type(n.op)]())
        if isinstance(node.op, (ast.Sub, ast.Div, ast.MatMult)):
            yield _exchange_sides
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        yield lambda n: setattr(n, "ops", [SWAPS[type(n.ops[0])]()])
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Invert, ast.USub)):
        yield _drop_sign
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield lambda n: setattr(n, "value", n.value + 1)
        if node.value:
            yield lambda n: setattr(n, "value", n.value - 1)
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield lambda n: setattr(n, "value", not n.value)
    called = getattr(node, "func", None)
    name = getattr(called, "attr", getattr(called, "id", ""))
    if isinstance(node, ast.Call) and len(node.args) > 1 and name not in SYMMETRIC:
        yield lambda n: n.args.insert(0, n.args.pop(1))
    if isinstance(node, (ast.FunctionDef, ast.For, ast.If, ast.With)):
        for i, part in enumerate(node.body):
            plain = isinstance(part, (ast.Assign, ast.AugAssign, ast.Expr))
            if plain and not _is_docstring(part) and len(node.body) > 1:
                yield lambda n, i=i: n.body.pop(i)


def _is_docstring(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _exchange_sides(node):
    node.left, node.right = node.right, node.left


def _drop_sign(node):
    twin = node.operand
    node.__class__, fields = twin.__class__, vars(twin)
    vars(node).clear()
    vars(node).update(fields)
