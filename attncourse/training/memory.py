"""How much a computation keeps in memory, counted in elements, exactly."""

import re
import weakref
from collections.abc import Callable, Iterable
from typing import NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode

FUSED = r"aten::_scaled_dot_product_(?!.*backward)"


class Elements(NamedTuple):
    """Elements of what a function made: together, in one tensor, and at one time."""

    made: int
    largest: int
    peak: int
    computed: int


def count_elements(
    function: Callable[[], object], inputs: Iterable[torch.Tensor] | None = None
) -> Elements:
    """Count the elements of the tensors that a function makes.

    A tensor counts where PyTorch allocates it. Views, such as transposed, expanded or
    sliced tensors, share the memory of another one and count as nothing; so do results
    that are written in place or into ``out=``, but for `computed`. The counts depend on
    the computation alone, not on the machine.

    What is *not* seen: buffers that a kernel allocates and frees inside, such as the
    tiles of PyTorch's fused attention, and everything that happens outside PyTorch.

    Parameters
    ----------
    function : callable
        Called once, without arguments; the backward pass counts if it is inside.
    inputs : iterable of torch.Tensor, optional
        If given, only these exist already. Other memory from outside, such as a buffer
        that is kept between calls, then counts where it is first used.

    Returns
    -------
    made, largest, peak : int
        Elements of all tensors that were allocated, whether kept or not, and of the
        largest; the most elements that existed at one time.
    computed : int
        Elements of all results: of new tensors, of what is written in place, every
        time, and of the scores inside PyTorch's fused attention.

    Raises
    ------
    TypeError
        If `function` cannot be called.

    Examples
    --------
    >>> x = torch.ones(3, 5)
    >>> count_elements(lambda: ((x + 1) * 2).sum())
    Elements(made=31, largest=15, peak=30, computed=31)
    """
    if not callable(function):
        raise TypeError(
            "function must be a function without arguments, but got "
            f"{type(function).__name__}. Wrap the call: lambda: layer(x)."
        )
    with _Counter(inputs) as counter:
        function()
    return Elements(counter.made, counter.largest, counter.peak, counter.computed)


class _Counter(TorchDispatchMode):
    """Watches each operation, and each new piece of memory until it is freed."""

    def __init__(self, inputs):
        super().__init__()
        self.made = self.largest = self.now = self.peak = self.computed = 0
        self.known = {}
        self.outside_counts = inputs is not None
        for tensor in inputs or ():
            self._know(tensor, new=False)

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        for tensor in _tensors((*args, *kwargs.values())):
            self._know(tensor, new=self.outside_counts)
        result, before = operation(*args, **kwargs), self.made
        for tensor in _tensors(result):
            self._know(tensor, new=True)
        written = _overwritten(operation, args, kwargs)
        self.computed += self.made - before + sum(x.numel() for x in written)
        if re.match(FUSED, operation._schema.name):
            query, key = args[:2]
            self.computed += query.shape[:-1].numel() * key.shape[-2]
        return result

    def _know(self, tensor, new):
        storage = tensor.untyped_storage()
        address = storage._cdata
        if address in self.known:
            return
        size = storage.nbytes() // tensor.element_size() if new else 0
        # The address may be used again once this storage is freed, so forget it then.
        freed = weakref.finalize(storage, self._forget, address, size)
        freed.atexit = False
        self.known[address] = freed
        self.made += size
        self.largest = max(self.largest, size)
        self.now += size
        self.peak = max(self.peak, self.now)

    def _forget(self, address, size):
        self.known.pop(address, None)
        self.now -= size


def _tensors(found):
    """Return the tensors in what an operation takes or gives: alone or in lists."""
    if isinstance(found, (list, tuple)):
        return [tensor for part in found for tensor in _tensors(part)]
    return [found] if isinstance(found, torch.Tensor) else []


def _overwritten(operation, args, kwargs):
    """Return the tensors that an operation has written to in place."""
    expected = operation._schema.arguments if operation._schema.is_mutable else ()
    given = {a.name: x for a, x in zip(expected, args, strict=False)} | kwargs
    return _tensors(
        [given.get(a.name) for a in expected if a.alias_info and a.alias_info.is_write]
    )
