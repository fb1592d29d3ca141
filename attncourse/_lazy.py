"""Names of a package that are imported from its modules when they are first used."""

import sys
from importlib import import_module


def lazy_names(package, names):
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    Parameters
    ----------
    package : str
        Its own ``__name__``.
    names : dict of str to sequence of str
        For each of its modules, the names that come from there.
    """
    module_of = {name: module for module, own in names.items() for name in own}

    def get(name):
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{module_of[name]}"), name)
        setattr(sys.modules[package], name, value)  # asked once for each name
        return value

    def listed():
        return sorted({*vars(sys.modules[package]), *module_of})

    return get, listed, sorted(module_of)
