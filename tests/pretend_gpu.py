"""A pretend GPU: PyTorch on the CPU, made to behave as if there were a CUDA device.

It is for finding device faults on machines without a GPU: a tensor made without
``device=``, a mask left on the CPU, ``.numpy()`` without ``.cpu()``. Values flow, since
the CPU computes everything. What is pretended is only *where a tensor lies*:

- Each storage carries a mark if it is "on the GPU", so that views, parameters, copies
  and gradients are right without further work. ``Tensor.device`` and its like read it.
- A `TorchDispatchMode` sees every operation, also those of the backward pass. It marks
  what is made from marked tensors, and raises where devices meet that may not.
- The methods that move tensors, and what is asked of ``torch.cuda``, are replaced.

Draws on the pretend GPU have a stream of their own, other than the CPU's, as on a real
one. Mixed precision follows CUDA's lists of operations as far as the course needs them.

It cannot show what depends on kernels: rounding (TF32, other orders of summation), the
choice and the limits of fused attention, asynchronous work, speed. Nothing is compiled,
FlexAttention does not run, and C++ code that copies between devices by itself is not
seen. A wrapper tensor subclass would hold the device more strictly. But parameters
moved in place, deep copies, saved files and recurrent layers then each need a path of
their own, which proves little about the path that ordinary tensors take.
"""

from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

GPU, CPU = torch.device("cuda", 0), torch.device("cpu")
REAL = torch._C.TensorBase  # the methods of tensors, as they are
INDEXED = {"index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index"}
MIXED = {"copy_", "_pack_padded_sequence"}
NO_SCALARS = {"cat", "stack", "embedding", "index_select", "gather", "scatter"}
# what CUDA's autocast computes in float32, and the CPU's does not
FULL_PRECISION = {
    *("softmax", "log_softmax", "layer_norm", "cross_entropy", "nll_loss", "mse_loss"),
    *("exp", "log", "pow", "__pow__", "__rpow__", "reciprocal", "rsqrt", "softplus"),
    *("sum", "cumsum", "prod", "norm", "logsumexp", "cosine_similarity"),
}


def on_gpu(tensor):
    """Say whether a tensor lies on the pretend GPU."""
    functorch = torch._C._functorch
    while functorch.is_functorch_wrapped_tensor(tensor):
        tensor = functorch.get_unwrapped(tensor)
    try:
        return hasattr(REAL.untyped_storage(tensor), "pretend_gpu")
    except (NotImplementedError, RuntimeError):  # sparse, meta: no storage, no GPU
        return False


def _put(tensor, there=True):
    storage = REAL.untyped_storage(tensor)
    if there:
        storage.pretend_gpu = True
    elif hasattr(storage, "pretend_gpu"):
        del storage.pretend_gpu
    return tensor


def _is_gpu(device):
    return device is not None and torch.device(device).type == "cuda"


class _Move(torch.autograd.Function):
    """Copy to the other device, and gradients back."""

    @staticmethod
    def forward(ctx, tensor, there):
        ctx.back = on_gpu(tensor)
        return _put(tensor.detach().clone(), there)

    @staticmethod
    def backward(ctx, grad):
        return _put(grad.clone(), ctx.back), None


class _Mark(torch.autograd.Function):
    """Pass a tensor on, and mark the gradient that comes back as one of the GPU."""

    @staticmethod
    def forward(ctx, tensor):
        return tensor.view_as(tensor)

    @staticmethod
    def backward(ctx, grad):
        return _put(grad)


def _move(tensor, device):
    if device is None or on_gpu(tensor) == _is_gpu(device):
        return tensor
    return _Move.apply(tensor, _is_gpu(device))


def _tensors(tree):
    """Return the tensors in nested lists, tuples and dicts."""
    if isinstance(tree, torch.Tensor):
        return [tree]
    if isinstance(tree, dict):
        tree = tree.values()
    elif not isinstance(tree, (list, tuple)):
        return []
    return [tensor for part in tree for tensor in _tensors(part)]


def _clash(what="Expected all tensors to be on the same device"):
    raise RuntimeError(f"{what}, but found at least two devices, cuda:0 and cpu!")


def _check_devices(name, args, tensors, mutable):
    """Raise what PyTorch raises where tensors of two devices meet."""
    lie = [on_gpu(x) for x in tensors]
    if name == "_pack_padded_sequence" and lie[1]:
        raise RuntimeError("'lengths' argument should be a 1D CPU int64 tensor")
    if all(lie) or not any(lie) or name in MIXED:
        return
    if name in INDEXED:
        if not on_gpu(args[0]):
            _clash("indices should be either on cpu or on the device of the tensor")
        tensors = [args[0], *args[2:3]]  # indices may lie on the CPU
    elif mutable and isinstance(args[0], torch.Tensor) and not on_gpu(args[0]):
        _clash()
    for x in tensors:
        if not on_gpu(x) and (x.dim() > 0 or name in NO_SCALARS):
            _clash()


class _Dispatch(TorchDispatchMode):
    """Sees each operation: checks devices, computes on the CPU, marks the results."""

    def __init__(self):
        super().__init__()
        self.seed(0)

    @classmethod
    def _should_skip_dynamo(cls):
        return False  # or each operation goes through the compiler's wrapper

    def seed(self, seed):
        # another stream than the CPU's, as a real GPU has
        self.random = torch.Generator().manual_seed(int(seed) ^ 0x9E3779B9)

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        name = operation.overloadpacket.__name__
        tensors = _tensors((args, kwargs))
        _check_devices(name, args, tensors, operation._schema.is_mutable)
        there = any(map(on_gpu, tensors)) or _is_gpu(kwargs.get("device"))
        if _is_gpu(kwargs.get("device")):
            kwargs["device"] = CPU
        if torch.Tag.nondeterministic_seeded in operation.tags:
            result = self._draw(operation, args, kwargs, there)
        else:
            result = operation(*args, **kwargs)
        if there and name != "copy_":  # which may write to the CPU
            made = _tensors(result)
            for x in made[:1] if name == "_pack_padded_sequence" else made:
                _put(x)
        return result

    def _draw(self, operation, args, kwargs, there):
        generator = kwargs.get("generator")
        if there and generator is not None:
            raise RuntimeError(
                "Expected a 'cuda' device type for generator but found 'cpu'"
            )
        if not there:
            return operation(*args, **kwargs)
        kept = torch.default_generator.get_state()
        torch.default_generator.set_state(self.random.get_state())
        try:
            return operation(*args, **kwargs)
        finally:
            self.random.set_state(torch.default_generator.get_state())
            torch.default_generator.set_state(kept)


class _FullPrecision(TorchFunctionMode):
    """Within mixed precision, cast to float32 where CUDA does and the CPU does not."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        name = getattr(function, "__name__", "")
        if name in FULL_PRECISION and torch.is_autocast_enabled("cpu"):
            args, kwargs = tree_map_only(torch.Tensor, _whole, (args, kwargs or {}))
        return function(*args, **(kwargs or {}))


def _whole(tensor):
    half = tensor.dtype in (torch.bfloat16, torch.float16) and on_gpu(tensor)
    return tensor.float() if half else tensor


def _to(tensor, *args, device=None, **kwargs):
    if args and isinstance(args[0], torch.Tensor):
        device, args = args[0].device, (args[0].dtype, *args[1:])
    elif args and (args[0] is None or isinstance(args[0], (str, int, torch.device))):
        device, *args = args
    with torch._C.DisableTorchFunction():  # a mode would call this function again
        tensor = REAL.to(tensor, CPU, *args, **kwargs)
    return _move(tensor, device)


def _numpy(tensor, *, force=False):
    if on_gpu(tensor) and not force:
        raise TypeError(
            "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to "
            "copy the tensor to host memory first."
        )
    return REAL.numpy(tensor, force=force)


def _from_data(function):
    """Let `torch.tensor` and its like make their result on the pretend GPU."""
    return lambda *args, device=None, **kw: _move(function(*args, **kw), device)


def _stand_ins(mode):
    """Return (object, name, stand-in) of all that is replaced."""
    autocast, deepcopy = torch.amp.autocast_mode.autocast, torch.Tensor.__deepcopy__
    begin, enter, leave = autocast.__init__, autocast.__enter__, autocast.__exit__

    def start_autocast(self, device_type, dtype=None, *args, **kwargs):
        self.full = _FullPrecision() if device_type == "cuda" else None
        if self.full is not None:
            device_type, dtype = "cpu", dtype or torch.float16
        begin(self, device_type, dtype, *args, **kwargs)

    def enter_autocast(self):
        if self.full is not None:
            self.full.__enter__()
        return enter(self)

    def leave_autocast(self, *error):
        leave(self, *error)
        if self.full is not None:
            self.full.__exit__(*error)

    def of_device(function):
        return lambda device="cpu": function("cpu" if device == "cuda" else device)

    def recurrent(function):
        """Refuse what cuDNN refuses: a state in pieces, backward in evaluation mode."""

        def run(data, *args):
            # packed data have their batch sizes before the state
            first = args[0]
            packed = isinstance(first, torch.Tensor) and not first.is_floating_point()
            training = args[5 + packed]
            states = args[packed]
            states = [states] if isinstance(states, torch.Tensor) else states
            if on_gpu(data) and not all(x.is_contiguous() for x in states):
                raise RuntimeError("rnn: hx is not contiguous")
            results = function(data, *args)
            if on_gpu(data) and not training and results[0].requires_grad:
                results[0].register_hook(refuse_backward)
            return results

        return run

    def refuse_backward(grad):
        raise RuntimeError("cudnn RNN backward can only be called in training mode")

    pack, pad_packed = torch._VF._pack_padded_sequence, torch._VF._pad_packed_sequence

    # of these two, C++ makes the gradient and the result anew, by `options()`
    def pack_padded_sequence(data, *args):
        return pack(_Mark.apply(data) if on_gpu(data) else data, *args)

    def pad_packed_sequence(data, *args):
        padded, lengths = pad_packed(data, *args)
        return _put(padded, on_gpu(data)), lengths

    tensor = torch.Tensor
    properties = {
        "device": lambda x: GPU if on_gpu(x) else REAL.device.__get__(x),
        "is_cuda": on_gpu,
        "is_cpu": lambda x: REAL.is_cpu.__get__(x) and not on_gpu(x),
    }
    methods = {
        "to": _to,
        "cpu": lambda x, **options: _move(x, CPU),
        "numpy": _numpy,
        "__deepcopy__": lambda x, memo: _put(deepcopy(x, memo), on_gpu(x)),
    }
    of_cuda = {
        "_lazy_init": lambda: None,
        "is_available": lambda: True,
        "manual_seed_all": mode.seed,
        "get_device_capability": lambda device=None: (8, 0),
    }
    yield from ((tensor, name, property(get)) for name, get in properties.items())
    yield from ((tensor, name, method) for name, method in methods.items())
    yield from ((torch.cuda, name, value) for name, value in of_cuda.items())
    for name in ("tensor", "as_tensor"):
        yield torch, name, _from_data(getattr(torch, name))
    for name in ("is_autocast_enabled", "get_autocast_dtype"):
        yield torch, name, of_device(getattr(torch, name))
    yield torch._VF, "gru", recurrent(torch._VF.gru)
    yield torch._VF, "lstm", recurrent(torch._VF.lstm)
    yield torch._VF, "_pack_padded_sequence", pack_padded_sequence
    yield torch._VF, "_pad_packed_sequence", pad_packed_sequence
    yield torch.backends.cudnn, "is_acceptable", lambda x: False
    yield autocast, "__init__", start_autocast
    yield autocast, "__enter__", enter_autocast
    yield autocast, "__exit__", leave_autocast


@contextmanager
def pretend_gpu():
    """Let PyTorch have a GPU, ``cuda:0``, that is the CPU; of this thread only."""
    mode = _Dispatch()
    with ExitStack() as stack:
        for owner, name, value in list(_stand_ins(mode)):
            stack.enter_context(patch.object(owner, name, value))
        stack.enter_context(mode)
        yield mode
