"""Tell whether something that the course relies on was changed while answers ran."""

from __future__ import annotations

import _signal  # that of the standard library makes an enumeration of each
import operator
import sys
import types

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
_all, _map, _zip, _is = all, map, zip, operator.is_


class Watched:
    """The functions and classes that are there when this is made."""

    def __init__(self):
        self._tables = []
        for name, module in list(sys.modules.items()):
            own = name == "attncourse" or name.startswith("attncourse.")
            if isinstance(module, types.ModuleType) and (name in WHOLE or own):
                self._add(name, vars(module), own=name if own else "")
        for place, name in CLASSES:
            found = getattr(sys.modules.get(place), name, None)
            if found is not None:
                self._add(f"{place}.{name}", vars(found))
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
            self._tables.append((label, names, table, take, take(table)))

    @staticmethod
    def _signals():
        return [_signal.getsignal(number) for number in (2, 10, 12, 14, 15, 26, 27)]

    def changed(self) -> str:
        """Return the name of something that was changed, "" if nothing was."""
        for label, names, table, take, things in self._tables:
            try:
                same = _all(_map(_is, take(table), things))
            except KeyError:  # one is gone
                same = False
            if not same:
                for name, thing in _zip(names, things):
                    if table.get(name) is not thing:
                        return f"{label}.{name}"
        if self._signals() != self._handlers:
            return "the handlers of signals"
        if sys.gettrace() or sys.getprofile():
            return "the tracing of calls"
        return ""
