"""Find tensors that are left on the CPU beside a GPU, on machines without a GPU.

All tensors that were made before count as lying on the GPU, and say so. Within
`pretend_gpu`, what is made without ``device=`` lies on the CPU: it is a `Host`. Where
the two meet, the call fails as PyTorch does. All is computed on the CPU.

It cannot show what depends on kernels; models have to be built before.
"""

from contextlib import contextmanager
from functools import partial
from unittest.mock import patch

import torch
from torch.overrides import TorchFunctionMode, get_ignored_functions
from torch.utils._pytree import tree_leaves, tree_map_only  # not public under any name

from attncourse.layers import sparse

GPU, CPU = torch.device("cuda", 0), torch.device("cpu")
# All that make tensors of none are among them.
FACTORIES = {f for f in get_ignored_functions() if not isinstance(f, type)}
NO_SCALARS = {"cat", "stack", "embedding", "index_select", "gather", "scatter"}
PACKING = {"_pack_padded_sequence", "_pad_packed_sequence"}
MIXED = {"copy_", "__setitem__", *PACKING}


class Host(torch.Tensor):
    """A tensor on the CPU; all others count as lying on the GPU."""


def place_of(tensor):
    """Return the device on which a tensor would lie."""
    return CPU if isinstance(tensor, Host) else GPU


def _check(name, tensors):
    """Raise what PyTorch raises where the devices of arguments do not fit."""
    if name in ("gru", "lstm"):  # the sizes of packed batches lie on the CPU
        tensors = [x for x in tensors if x.is_floating_point()]
    host = [isinstance(x, Host) for x in tensors]
    if name == "_pack_padded_sequence" and not host[1]:
        raise RuntimeError("'lengths' argument should be a 1D CPU int64 tensor")
    if name in ("numpy", "__array__") and not host[0]:
        raise TypeError("can't convert cuda:0 device type tensor to numpy")
    if name in MIXED or all(host) or not any(host):
        return
    if name == "__getitem__" and not host[0]:
        return  # indices may lie on the CPU
    changed = name.endswith("_") and host[0]
    axes = [x.dim() for x, there in zip(tensors, host, strict=True) if there]
    if changed or any(axes) or name in NO_SCALARS:
        raise RuntimeError("Expected all tensors to be on the same device")


def _wanted(function, args, kwargs, tensors):
    """Return the device of a result."""
    name = function.__name__
    device = kwargs.get("device")
    if name == "cpu":
        return CPU
    if name == "to":
        for asked in (*args[1:], *kwargs.values()):
            if isinstance(asked, torch.Tensor):
                return place_of(asked)
            if isinstance(asked, str | torch.device):
                device = asked
    if device is not None:
        return GPU if torch.device(device).type == "cuda" else CPU
    if function is torch.tensor or all(isinstance(x, Host) for x in tensors):
        return CPU
    return GPU


def _put(tensor, device):
    if place_of(tensor) == device:
        return tensor  # itself: a parameter, or what was changed in place
    return tensor.as_subclass(Host if device == CPU else torch.Tensor)


class _Watch(TorchFunctionMode):
    """Checks the devices of each call, and says on which its results lie."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if function == torch.Tensor.device.__get__:
            return place_of(args[0])
        if function == torch.Tensor.is_cuda.__get__:
            return place_of(args[0]) == GPU
        name = function.__name__
        tensors = [x for x in tree_leaves((args, kwargs)) if torch.is_tensor(x)]
        if not tensors and function not in FACTORIES:
            return function(*args, **kwargs)
        wanted = _wanted(function, args, kwargs, tensors)
        args, kwargs = tree_map_only(torch.device, lambda d: CPU, (args, kwargs))
        if wanted == GPU and kwargs.get("generator") is not None:
            raise RuntimeError("Expected a 'cuda' device type for generator")
        with torch.DisableTorchFunctionSubclass():
            if name != "to" and function not in FACTORIES:
                _check(name, tensors)
            result = function(*args, **kwargs)
            if name in ("copy_", "__setitem__"):
                return result
            if name in PACKING:
                return _put(result[0], wanted), _put(result[1], CPU)
            return tree_map_only(torch.Tensor, lambda x: _put(x, wanted), result)


@contextmanager
def pretend_gpu():
    """Let what was made before lie on a GPU, ``cuda:0``."""
    # Modes are off while a call is handled. Of backward, only its last part can be
    # watched, which has no public name.
    watch, run_backward = _Watch(), torch.autograd._engine_run_backward

    def watched_backward(*args, **kwargs):
        with watch:
            return run_backward(*args, **kwargs)

    # What is computed again need not say that it lies on the same device.
    unchecked = partial(sparse.checkpoint, determinism_check="none")
    with (
        patch.object(torch.autograd, "_engine_run_backward", watched_backward),
        patch.object(sparse, "checkpoint", unchecked),
        torch.backends.cudnn.flags(enabled=False),
        watch,
    ):
        yield GPU
