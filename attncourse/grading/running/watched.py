"""Tell whether something that the course relies on was changed while answers ran."""

from __future__ import annotations

import _signal  # that of the standard library makes an enumeration of each
import builtins
import operator
import sys
import types

import torch

WHOLE = (
    "builtins",
    "json",
    "math",
    "random",
    "numpy",
    "torch",
    "torch.nn",
    "torch.nn.functional",
    "torch.nn.modules.module",
    "torch.autograd",
    "torch.linalg",
    "torch.random",
    "torch.optim",
    "torch.testing",
)
CLASSES = (
    ("torch", "Tensor"),
    ("torch._C", "TensorBase"),
    ("torch", "Generator"),
    ("torch.nn", "Module"),
    ("torch.nn", "Parameter"),
    ("torch.nn", "Linear"),
    ("torch.nn", "Embedding"),
)
KINDS = (
    type,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
)
KINDS += (types.GetSetDescriptorType, types.WrapperDescriptorType, property)
KINDS += (types.ModuleType, staticmethod, classmethod)
# Kept here, since an answer may change what the names of builtins mean.
_all, _len, _map, _zip, _is = all, len, map, zip, operator.is_
# What a new name would hide from a module or a class.
HIDEABLE = {*dir(builtins), *dir(torch.Tensor), *dir(torch.nn.Module)}


class Table:
    """The names of a module or class, and what they stood for when this was made.

    Parameters
    ----------
    label : str
        Of which module or class.
    names : list of str
        That are watched.
    table : mapping
        Where they stand.
    take : callable
        Takes what they stand for out of the table.
    """

    def __init__(self, label: str, names: list[str], table, take):
        self.label = label
        self._names, self._table, self._take = names, table, take
        self._things, self._known = take(table), set(table)

    def changed(self) -> str:
        """Return the first name that stands for another thing, "" if none does."""
        try:
            same = _all(_map(_is, self._take(self._table), self._things))
        except KeyError:  # one is gone
            same = False
        if not same:
            for name, thing in _zip(self._names, self._things):
                if self._table.get(name) is not thing:
                    return name
        if _len(self._table) != _len(self._known):
            for name in self._table.keys() - self._known:
                if name in HIDEABLE:
                    return name
        return ""


class Watched:
    """The functions and classes that are there when this is made.

    Parameters
    ----------
    kept : dict of str to module
        Modules that no import finds.
    """

    def __init__(self, kept):
        self._tables: list[Table] = []
        for name, module in kept.items():
            self._add(name, vars(module), own=name)
            checks = [v for v in vars(module).values() if type(v).__name__ == "Check"]
            for check in checks:
                self._add(f"{name}.{check.claim}", vars(check), names=list(vars(check)))
        for name in WHOLE:
            if isinstance(module := sys.modules.get(name), types.ModuleType):
                self._add(name, vars(module))
        for place, name in CLASSES:
            found = getattr(sys.modules.get(place), name, None)
            if found is not None:
                self._add(f"{place}.{name}", vars(found))
        self._after_call = list(self._tables)
        for name, module in list(sys.modules.items()):
            if name == "attncourse" or name.startswith("attncourse."):
                self._add(name, vars(module), own=name)
        self._add("sys.modules", sys.modules, names=[*WHOLE, "sys", "os", "gc"])
        self._handlers = self._signals()

    def _add(self, label, table, *, own="", names=None):
        if names is None:
            names = [k for k, v in table.items() if isinstance(v, KINDS)]
            classes = [table[k] for k in names if isinstance(table[k], type)]
            for found in classes:
                if own and found.__module__ == own:
                    self._add(f"{label}.{found.__name__}", vars(found))
        names = [name for name in names if name in table and name != "_"]
        if names:
            names += names[:1]  # of one name alone, an itemgetter makes no tuple
            take = operator.itemgetter(*names)
            self._tables.append(Table(label, names, table, take))

    @staticmethod
    def _signals():
        return [_signal.getsignal(number) for number in (2, 10, 12, 14, 15, 26, 27)]

    def changed(self, *, after_call: bool = False) -> str:
        """Return the name of something that was changed, "" if nothing was.

        Parameters
        ----------
        after_call : bool
            Whether to look only at what a check may use between two calls of an answer.
        """
        for table in self._after_call if after_call else self._tables:
            if name := table.changed():
                return f"{table.label}.{name}"
        if self._signals() != self._handlers:
            return "the handlers of signals"
        if sys.gettrace() or sys.getprofile():
            return "the tracing of calls"
        return ""
