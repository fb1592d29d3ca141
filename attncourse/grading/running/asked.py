"""Answers as checks see them: what they return is plain, and each call is looked after.

An answer may return an object of a class of its own, which says of itself whatever a
check wants to hear; or change what a check will call next, and put it back later. So
checks are handed not the answers but what stands for them here.
"""

from __future__ import annotations

import sys
import types

import numpy as np
import torch

LOOK = "attncourse.look"
DEEPEST = 20  # lists within lists
TENSORS = (torch.Tensor, torch.nn.Parameter)
# Kind, and how to make a plain one of an object whose class is derived from it.
KINDS = (
    (str, str.__str__),
    (int, int.__int__),
    (float, float.__float__),
    (np.ndarray, lambda value: np.ndarray.view(value, np.ndarray)),
    (np.generic, np.generic.item),
)
MADE_IN_PYTHON = 1 << 9  # in the flags of a class


class Block:
    """Stands for what an answer returned to be used after ``with``."""

    def __init__(self, own):
        self._own = own

    def __enter__(self):
        return type(self._own).__enter__(self._own)

    def __exit__(self, *error):
        return type(self._own).__exit__(self._own, *error)


def plain(value, depth: int = 0):
    """Return a value with nothing in it of which a check could be told a lie.

    Parameters
    ----------
    value : object
        What an answer has returned.
    depth : int
        How many lists it was in.
    """
    kind = type(value)  # an object may lie about its __class__
    if kind in TENSORS or issubclass(kind, (torch.nn.Module, type, torch.Size)):
        return value
    if issubclass(kind, torch.Tensor):
        return torch.Tensor.as_subclass(value, torch.Tensor)
    if issubclass(kind, (list, tuple)) and depth < DEEPEST:
        own = list if issubclass(kind, list) else tuple
        return own([plain(part, depth + 1) for part in own.__iter__(value)])
    if issubclass(kind, dict) and depth < DEEPEST:
        return {plain(k): plain(v, depth + 1) for k, v in dict.items(value)}
    for known, convert in KINDS:
        if issubclass(kind, known):
            exact = kind is known or kind.__module__ == "numpy"
            return value if exact else convert(value)
    if not kind.__flags__ & MADE_IN_PYTHON or kind.__module__.startswith("matplotlib."):
        return value  # of the language itself, or a picture
    if hasattr(kind, "__exit__"):
        return Block(value)
    return type(kind.__name__, (), {})()  # its name is all that is said of it


def look(values) -> None:
    """Have the audit hook of `guard` look at what a call of an answer has left.

    Parameters
    ----------
    values : tuple
        What it was called with.
    """
    sys.audit(LOOK, values)


class Asked:
    """What stands for answers, each time the same for the same."""

    def __init__(self):
        self._made: dict[int, tuple] = {}

    def of(self, answer):
        """Return what stands for an answer.

        Parameters
        ----------
        answer : object
            A function or class.
        """
        if id(answer) not in self._made:
            made = answer
            if isinstance(answer, type):
                made = _class(answer)
            elif callable(answer):
                made = _function(answer)
            self._made[id(answer)] = (made, answer)  # and the id stays that of this one
        return self._made[id(answer)][0]


def _function(answer):
    def asked(*arguments, **options):
        value = plain(answer(*arguments, **options))
        look((*arguments, *options.values()))
        return value

    return asked


def _class(answer):
    def call(self, *arguments, **options):
        value = plain(answer.__call__(self, *arguments, **options))
        if not torch.is_grad_enabled():  # no step of a training
            look((*arguments, *options.values()))
        return value

    body = {"__module__": answer.__module__, "__qualname__": answer.__qualname__}
    if any("__call__" in vars(kind) for kind in answer.__mro__):
        body["__call__"] = call
    return types.new_class(answer.__name__, (answer,), {}, lambda b: b.update(body))


def is_plain_tensor(value) -> bool:
    """Say whether a value is no tensor of an answer's own kind."""
    return type(value) in TENSORS or not issubclass(type(value), torch.Tensor)
