"""Take out of the exercises what tells the right answers.

A check holds what a right answer gives (`expected`), and mistakes hold what wrong ones
give. A process in which answers run needs neither: it calls the answers on inputs and
says what came back. So the functions that only these need are removed, and the module
that the answers can import is another copy than the one that asks them.
"""

from __future__ import annotations

import gc
import pkgutil
import sys
import types
from importlib import import_module

import attncourse.exercises as exercises

NAME = "attncourse.exercises"


def two_copies():
    """Import the exercises twice, both without their right answers.

    Returns
    -------
    kept : dict of str to Exercise
        By the names of their modules: a copy that no import finds.
    first : dict of str to module
        The modules of that copy.
    """
    first = all_modules()
    kept = {
        name: first[f"{NAME}.{name}"].EXERCISE for name in exercises.MODULES.values()
    }
    strip(first)
    for name in first:
        del sys.modules[name]
    strip(all_modules())
    gc.collect()
    return kept, first


def all_modules() -> dict[str, types.ModuleType]:
    """Import all modules of the exercises and return them by name."""
    package = import_module(NAME)
    for found in pkgutil.walk_packages(package.__path__, f"{NAME}."):
        import_module(found.name)
    return {
        name: module
        for name, module in sys.modules.items()
        if name == NAME or name.startswith(f"{NAME}.")
    }


def strip(modules: dict[str, types.ModuleType]) -> None:
    """Remove all that tells right answers from modules of the exercises.

    Parameters
    ----------
    modules : dict of str to module
        All of them.
    """
    check_type = modules[f"{NAME}.task"].Check
    asked = []
    for module in modules.values():
        for thing in list(vars(module).values()):
            if isinstance(thing, check_type):
                object.__setattr__(thing, "expected", None)
                object.__setattr__(thing, "mistakes", ())
    for name in exercises.MODULES.values():
        for task in modules[f"{NAME}.{name}"].EXERCISE.tasks:
            for check in task.checks:
                object.__setattr__(check, "expected", None)
                object.__setattr__(check, "mistakes", ())
                asked += [check.ask, check.inputs]
    offered = {  # what notebooks may import
        (name, key)
        for name, module in modules.items()
        for key in getattr(module, "__all__", ())
    }
    asked += [vars(modules[name])[key] for name, key in sorted(offered)]
    needed = offered | reached(asked, modules)
    for name, module in modules.items():
        if not is_of_an_exercise(name):  # it says only what checks and verdicts are
            continue
        for key in list(vars(module)):
            special = key.startswith("__") or key in ("EXERCISE", "probe")
            value = vars(module)[key]
            if special or isinstance(value, types.ModuleType) or (name, key) in needed:
                continue
            del vars(module)[key]


def is_of_an_exercise(name: str) -> bool:
    """Say whether a module is, or belongs to, one of the exercises.

    Parameters
    ----------
    name : str
        Such as ``attncourse.exercises.relative.alibi``.
    """
    return name.removeprefix(f"{NAME}.").split(".")[0] in exercises.MODULES.values()


def reached(functions, modules) -> set[tuple[str, str]]:
    """Return (module, name) for all global names that some functions may use."""
    by_globals = {id(vars(module)): name for name, module in modules.items()}
    found, seen, waiting = set(), set(), list(functions)
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        if isinstance(thing, types.FunctionType):
            waiting += _inside(thing)
            where = by_globals.get(id(thing.__globals__))
            if where is None:
                continue
            for name in names_of(thing.__code__):
                if name in thing.__globals__:
                    found.add((where, name))
                    waiting.append(thing.__globals__[name])
        elif isinstance(thing, type):
            if thing.__module__ in modules:
                waiting += vars(thing).values()
                waiting += thing.__mro__
                # What is said in the body of a class, such as defaults, was done.
        elif isinstance(thing, types.ModuleType):
            if thing.__name__ in modules:
                found |= {(thing.__name__, key) for key in vars(thing)}
                waiting += vars(thing).values()
        elif isinstance(thing, (tuple, list, set, frozenset)):
            waiting += thing
        elif isinstance(thing, dict):
            waiting += thing.values()
        else:
            waiting += _parts(thing)
    return found


def _inside(function):
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()
    yield from vars(function).values()
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            continue


def _parts(thing):
    """Yield what may be called in partial functions, methods and plain records."""
    for name in ("func", "args", "keywords", "__func__", "fget", "__wrapped__"):
        if (part := getattr(thing, name, None)) is not None:
            yield part
    if type(thing).__module__.startswith(NAME):
        yield type(thing)
        yield from getattr(thing, "__dict__", {}).values()


def names_of(code: types.CodeType) -> set[str]:
    """Return the names that code uses, that of functions in it included."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= names_of(constant)
    return names
