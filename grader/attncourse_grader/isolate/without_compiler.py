"""PyTorch without its compiler, which costs more time and memory than an answer."""

from __future__ import annotations

import sys
import types
from importlib import import_module

NAME = "torch._dynamo"


class Idle(types.ModuleType):
    """Stands for the compiler until somebody asks for more than to be left alone."""

    def __init__(self):
        super().__init__(NAME)
        self.disable, self.graph_break = _disable, _graph_break

    def __getattr__(self, name):
        if name.startswith("__") and name != "__path__":
            raise AttributeError(name)
        import torch

        if sys.modules.get(NAME) is self:
            del sys.modules[NAME]
        found = import_module(NAME)
        vars(self).update(vars(found))
        torch._dynamo = self  # as it was: else it would look like tampering
        return getattr(found, name)


def _disable(function=None, *_, **__):
    """Return a function that is not to be compiled: itself, as none is."""
    return (lambda made: made) if function is None else function


def _graph_break(*_, **__):
    """Do nothing: there is no graph."""


def spare_compiler() -> None:
    """See that optimisers do not import the compiler; `torch.compile` works as ever."""
    import torch

    if NAME in sys.modules:
        return
    sys.modules[NAME] = torch._dynamo = Idle()
    if torch.manual_seed is torch.random.manual_seed:
        # The compiler does so when it is imported; later that would look like it, too.
        torch.manual_seed = torch._disable_dynamo(torch.manual_seed)
