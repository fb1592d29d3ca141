"""Names of a package that are imported from its modules when they are first used."""

import sys
from collections.abc import Callable
from importlib import import_module
from itertools import pairwise
from pathlib import Path


def lazy_names(
    package: str,
) -> tuple[Callable[[str], object], Callable[[], list[str]], dict[str, str]]:
    """Return ``__getattr__``, ``__dir__`` and the module of each name of a package.

    The names stand once, in the package's ``__init__.pyi``, where type checkers and
    editors read them too, as ``from .module import name as name``.

    Parameters
    ----------
    package : str
        Its own ``__name__``.
    """
    stub = Path(str(sys.modules[package].__file__)).with_suffix(".pyi")
    module_of = {}
    for before, word in pairwise(stub.read_text(encoding="utf-8").split()):
        if before == "from":
            module = word.removeprefix(".")
        elif before == "as":
            module_of[word.rstrip(",")] = module

    def get(name):
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{module_of[name]}"), name)
        setattr(sys.modules[package], name, value)  # asked once for each name
        return value

    def listed():
        return sorted({*vars(sys.modules[package]), *module_of})

    return get, listed, module_of
