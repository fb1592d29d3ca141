"""Put a lock on functions that an exercise rules out, for its answers only."""

from __future__ import annotations

import sys
import types

import torch

PLACES = (
    "torch",
    "torch.Tensor",
    "torch.nn",
    "torch.nn.functional",
    "torch._C._nn",
    "torch.ops.aten",
    "torch.autograd",
    "torch.autograd.functional",
    "torch.func",
    "torch.nn.modules.activation",
    "torch.nn.modules.transformer",
    "torch._functorch.eager_transforms",
)
ALIASES = {
    "scaled_dot_product_attention": (
        "_scaled_dot_product_attention_math",
        "_scaled_dot_product_flash_attention_for_cpu",
        "_native_multi_head_attention",
    ),
    "backward": ("_softmax_backward_data",),
}


# What hands out functions of PyTorch by their names, not even a copy of them.
BY_NAME = ("_jit_get_operation", "_get_operation_overload")
BY_NAME_SAYS = "The answer looks up a function of PyTorch where no answer has to look."
KINDS = (types.FunctionType, types.BuiltinFunctionType, type)
LOCKS: set[int] = set()  # what locks are known by


def rule_out(forbidden: dict[str, str]) -> dict:
    """Put locks on what is ruled out.

    Parameters
    ----------
    forbidden : dict of str to str
        Names, and what is said to an answer that uses them.

    Returns
    -------
    dict
        Number of the lock to (what is locked, the lock, what is said, how far above it
        an answer must not be: a number of frames, and the libraries between).
    """
    originals: dict = {}
    names = dict(forbidden)
    for name, others in ALIASES.items():
        if name in names:
            names |= dict.fromkeys(others, names[name])
    spaces = [space for place in PLACES if (space := _found(place)) is not None]
    course = [m for n, m in list(sys.modules.items()) if n.startswith("attncourse.")]
    places = _index(course)
    spaces += course
    known: dict[int, object] = {}
    for name, says in names.items():
        module = sys.modules.get(name)
        if module is not None and name.startswith("attncourse.") and "." in name:
            for thing in list(vars(module).values()):
                if getattr(thing, "__module__", None) == name:
                    for space, key in places.get(id(thing), ()):
                        _lock(space, key, thing, says, originals, known)
        for space in spaces:
            thing = getattr(space, name, None) if _may_ask(space, name) else None
            if callable(thing) and not isinstance(thing, types.ModuleType):
                if isinstance(thing, property):
                    continue
                _lock(space, name, thing, says, originals, known)
    for name in BY_NAME if names else ():
        thing = getattr(torch._C, name)
        lock = _made(thing, BY_NAME_SAYS, originals, reach=(1,))
        setattr(torch._C, name, lock)
    locks = {
        name: vars(torch)[name] for name in names if id(vars(torch).get(name)) in LOCKS
    }
    torch._C._VariableFunctions = torch._VF.vf = Screen(
        torch._C._VariableFunctions, locks
    )
    return originals


class Screen:
    """Stands before functions that cannot be replaced, with locks in place of some.

    Parameters
    ----------
    behind : object
        Has the functions as attributes.
    locks : dict of str to callable
        What is found in place of some.
    """

    def __init__(self, behind, locks: dict):
        self.__dict__.update(locks)
        self.__behind = behind

    def __getattr__(self, name):
        return getattr(self.__behind, name)


def _may_ask(space, name) -> bool:
    # Asking a package of the course for a name would import it.
    return name in vars(space) or "OpNamespace" in type(space).__name__


def _found(place: str):
    parts = place.split(".")
    thing = sys.modules.get(parts[0])
    for part in parts[1:]:
        thing = getattr(thing, part, None)
    return thing


def _index(spaces) -> dict[int, list]:
    """Return {id of a thing: where it is found}."""
    found: dict[int, list] = {}
    for space in spaces:
        for key, value in vars(space).items():
            if isinstance(value, KINDS) and not key.startswith("__"):
                found.setdefault(id(value), []).append((space, key))
    return found


def _lock(space, key, thing, says, originals, known):
    if id(thing) in LOCKS:
        return
    if isinstance(thing, type):
        if id(thing) in known or "__init__" not in vars(thing):
            return
        known[id(thing)] = thing
        lock = _made(thing.__init__, says, originals)
        thing.__init__ = lock
        return
    if not isinstance(thing, KINDS) and "OpOverload" not in type(thing).__name__:
        return
    lock = known.get(id(thing)) or _made(thing, says, originals)
    known[id(thing)] = lock
    setattr(space, key, lock)


def _made(thing, says, originals, reach=(40, ("/torch/",))):
    number, audit = len(originals), sys.audit

    def locked(*arguments, **options):
        box = []
        audit("attncourse.call", number, box)
        return box[0](*arguments, **options)

    for name in ("__name__", "__qualname__", "__doc__", "__module__"):
        setattr(locked, name, getattr(thing, name, None) or "")
    originals[number] = (thing, locked, says, reach)
    LOCKS.add(id(locked))
    return locked
