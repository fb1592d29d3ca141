"""Take what a task forbids out of the process that runs answers to it.

The rule that refuses an answer reads its source; this is for what no source shows.
"""

import contextlib
import ctypes
import fnmatch
import re
import sys
import types
from importlib import util
from pathlib import Path

import torch

from attncourse_grader.isolate import seccomp

CHECKS, PROVIDED = "attncourse.exercises.", "attncourse.exercises.provided"
# Operations of PyTorch's own attention, fused or not, and what ONNX has of this kind.
ATTENTION = r"_?scaled_dot_product_|_native_multi_head|_transformer_encoder|_triton_"
ATTENTION += r"|Attention\.|RotaryEmbedding\."
FLEX = "torch.nn.attention.flex_attention"
# What leads to an operation: as it is, with gradients, under `torch.vmap`, nested.
KEYS = ("CompositeImplicitAutograd", "CPU", "Autograd", "FuncTorchVmapMode")
KEYS += ("FuncTorchBatched", "NestedTensorCPU")


def _refuse(*_, **__):
    raise RuntimeError("the task rules that out")


def rule_out(names) -> None:
    """Make functions and classes of torch raise, and forget modules of the course."""
    forget(m for m in [*sys.modules] if m.startswith(CHECKS) and PROVIDED not in m)
    forgotten = tuple(f"{name}." for name in names if name.startswith("attncourse."))
    forget(name.rstrip(".") for name in forgotten)
    for module in [m for name, m in sys.modules.items() if name.startswith("attnc")]:
        for name, thing in [*vars(module).items()]:  # imported from what is forgotten
            if f"{getattr(thing, '__module__', '')}.".startswith(forgotten):
                delattr(module, name)
    if "torch.autograd" in names:
        torch.autograd.graph._engine_run_backward.__code__ = _refuse.__code__
        torch.autograd.Variable._execution_engine = None
        _disable_operations("_make_dual|.*backward")
        # Nodes can be called one by one: no operation may keep what they need.
        torch.autograd._push_saved_tensors_default_hooks(_refuse, _refuse)
        for home in (torch._C._autograd, torch.autograd):  # and to take them off
            for name in [n for n in vars(home) if "_hooks" in n]:
                delattr(home, name)
        with contextlib.suppress(OSError):  # another thread has none of them
            seccomp.refuse_calls(seccomp.THREADS)
    if "torch.nn.MultiheadAttention" in names:
        _disable_operations(ATTENTION)
    for place, name in [n.rsplit(".", 1) for n in names if n.startswith("torch.")]:
        for found in fnmatch.filter(vars(sys.modules.get(place, sys)), name) or [name]:
            _disable(place, found)


def forget(names) -> None:
    """Take modules, and all below them, out of `sys.modules` and their packages."""
    for name in names:
        for found in [m for m in sys.modules if f"{m}.".startswith(f"{name}.")]:
            parent, _, last = found.rpartition(".")
            vars(sys.modules.get(parent, sys)).pop(last, None)
            del sys.modules[found]


def _disable(place: str, name: str) -> None:
    _disable_operations(rf"_?{re.escape(name)}(\.|$)")
    home = vars(sys.modules.get(place, sys))
    thing = home.get(name)
    if name in ("attention", "flex_attention"):  # no other part of torch needs it
        forget([FLEX])
        sys.modules[FLEX] = None
    if isinstance(thing, (types.ModuleType, torch.layout)) or place == "torch.autograd":
        return  # others of its parts are needed, and layouts to print a tensor
    if isinstance(thing, type):
        for kind in (thing, *type.__subclasses__(thing)):  # those of torch.ao
            kind.__init__ = kind.forward = kind._forward_impl = _refuse
    elif hasattr(thing, "__code__") and not thing.__code__.co_freevars:
        thing.__code__ = _refuse.__code__
    home.pop(name, None)


def _disable_operations(pattern: str) -> None:
    """Let operations raise, whichever way they are called."""
    libraries = {s: torch._C._dispatch_library("IMPL", s, "") for s in ("aten", "onnx")}
    for operation in torch._C._dispatch_get_all_op_names():
        space, _, own = operation.partition("::")
        if space in libraries and re.match(pattern, own):
            for key in KEYS:
                libraries[space].impl(own, key, _refuse)
    for library in libraries.values():  # it stays, and cannot be found
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(library))


def places_of(names) -> list[Path]:
    """Return the files and folders, of the course or others, with what is forbidden."""
    package = Path(util.find_spec("attncourse").origin).parent
    found = [package.joinpath(*n.split(".")[1:]) for n in names if "attncourse." in n]
    files = [p.with_suffix(".py") for p in found if not p.is_dir()]
    files += [c for p in files for c in p.parent.glob(f"__pycache__/{p.stem}.*")]
    others = [util.find_spec(name) for name in names if "." not in name]
    found += [Path(spec.origin).parent for spec in others if spec]
    return [p for p in (*found, *files) if p.exists()]
