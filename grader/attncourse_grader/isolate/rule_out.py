"""Take what a task forbids out of the process that runs answers to it.

The rule that refuses an answer reads its source. This is for what no source shows:
names put together at run time, other ways into the same function.
"""

from __future__ import annotations

import ctypes
import re
import sys
import types
from importlib import import_module, util
from pathlib import Path

import torch
from torch.autograd import graph

# What compares; nothing of it is there beside a student's code.
OUTSIDE = ("compare", "relations", "recorded", "notebook", "forbidden")
# Operations that do the same, beside the one that has the name.
RELATED = {
    "scaled_dot_product_attention": r"_?scaled_dot_product_|_native_multi_head|"
    r"_transformer_encoder|_triton_",
    "autograd": "_make_dual",
    "MultiheadAttention": r"_native_multi_head|_transformer_encoder|_triton_multi",
}
FUNCTIONS = {"MultiheadAttention": ["torch.nn.functional.multi_head_attention_forward"]}


def _refuse(*_, **__):
    raise RuntimeError("the task rules that out")


def rule_out(names) -> None:
    """Make functions and classes of torch raise, and forget modules of the course."""
    names = _expanded(names)
    forget(f"attncourse.exercises.{name}" for name in OUTSIDE)
    forget(name for name in names if name.startswith("attncourse."))
    if "torch.autograd" in names:
        graph._engine_run_backward.__code__ = _refuse.__code__
        torch.autograd.Variable._execution_engine = None
    for name in names:
        if name.startswith("torch."):
            last = name.rpartition(".")[2]
            for other in (name, *FUNCTIONS.get(last, ())):
                _disable(other)
            _disable_operations(rf"{RELATED.get(last, '$')}|_?{re.escape(last)}(\.|$)")


def _expanded(names) -> list[str]:
    """Return names with those in place of "torch.nn.Transformer*" that begin so."""
    found = []
    for name in names:
        place, _, start = name.removesuffix("*").rpartition(".")
        there = vars(sys.modules.get(place, sys)) if name.endswith("*") else {}
        found += [f"{place}.{n}" for n in there if n.startswith(start)] or [name]
    return found


def forget(names) -> None:
    """Take modules, and all below them, out of `sys.modules` and their packages."""
    for name in names:
        for found in [m for m in sys.modules if f"{m}.".startswith(f"{name}.")]:
            parent, _, last = found.rpartition(".")
            vars(sys.modules.get(parent, sys)).pop(last, None)
            del sys.modules[found]


def _disable(name: str) -> None:
    place, _, last = name.rpartition(".")
    thing = torch
    for part in name.split(".")[1:]:
        thing = getattr(thing, part, None)
    if isinstance(thing, types.ModuleType) or name.startswith("torch.autograd."):
        return  # others of its parts are needed
    if isinstance(thing, type):
        thing.__init__ = thing.forward = _refuse
    elif hasattr(thing, "__code__") and not thing.__code__.co_freevars:
        thing.__code__ = _refuse.__code__
    if place in sys.modules:
        vars(sys.modules[place]).pop(last, None)


def _disable_operations(pattern: str) -> None:
    """Let operations raise, whichever way they are called."""
    library = torch._C._dispatch_library("IMPL", "aten", "")
    for operation in torch._C._dispatch_get_all_op_names():
        space, _, own = operation.partition("::")
        if space == "aten" and re.match(pattern, own):
            for key in ("CompositeImplicitAutograd", "CPU", "Autograd"):
                library.impl(own, key, _refuse)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(library))  # stays, and cannot be found


def places_of(names) -> list[Path]:
    """Return the files and folders of the course that hold what is forbidden."""
    package = Path(util.find_spec("attncourse").origin).parent
    found = [package.joinpath(*n.split(".")[1:]) for n in names if "attncourse." in n]
    files = [p.with_suffix(".py") for p in found if not p.is_dir()]
    files += [c for p in files for c in p.parent.glob(f"__pycache__/{p.stem}.*")]
    return [p for p in (*found, *files) if p.exists()]


def exercise_without(module: str, modules, names):
    """Import an exercise and what its notebook imports, without what is forbidden."""
    for name in modules:
        try:
            import_module(name)
        except Exception:  # the cell that imports it will say so
            continue
    exercise = import_module(f"attncourse.exercises.{module}").EXERCISE
    rule_out(names)
    return exercise
