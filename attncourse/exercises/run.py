"""Draw the inputs of a probe, call an answer, and hand back plain values.

This is all of a check that runs beside a student's code. It knows no expected value:
what it hands back is compared elsewhere.
"""

import base64
import contextlib
import copy
import hashlib
import io
import linecache
import sys
import traceback
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from attncourse.exercises.probe import Probe, nth

MOST_VALUES, MOST_ELEMENTS, LONGEST_TEXT, DEEPEST = 200, 1 << 16, 600, 4
KINDS = {"tensor": "a tensor", "number": "a number", "text": "a text"}  # in words
KINDS |= {"array": "a NumPy array", "list": "a list of plain values", "nothing": "None"}
PLAIN = (bool, int, float, np.bool_, np.integer, np.floating)
FOLDERS = Path(torch.__file__).parents[1], Path(__file__).parents[1], sys.base_prefix
INSTALLED = tuple(str(Path(folder).resolve()) for folder in FOLDERS)


@dataclass(frozen=True)
class Value:
    """One thing that an answer returned, as plain data."""

    kind: str  # tensor, array (of NumPy), number, list, text, nothing or other
    type: str = ""  # the dtype, "float32", or the name of the class
    shape: tuple[int, ...] = ()
    data: np.ndarray | None = None  # the numbers
    text: str = ""  # a text itself; of other things what they are


@dataclass(frozen=True)
class Observation:
    """What one call of an answer gave."""

    values: dict[str, Value]  # by name; empty after an error
    form: str = ""  # what was returned, in words: "a tuple of 2"
    error: str = ""  # "TypeError: …"
    line: str = ""  # of the answer, that raised it
    changed: tuple[str, ...] = ()  # inputs that the call has changed in place


def draw(probe: Probe, seed: int) -> dict:
    """Return the inputs of a probe for one seed."""
    return probe.draw(torch.Generator().manual_seed(seed))


def observe(probe: Probe, answers, seed: int) -> Observation:
    """Call an answer with the inputs of one seed."""
    inputs = draw(probe, seed)
    mine, call = copy.deepcopy(inputs), probe.call or nth(0)
    try:
        with _settled(seed):
            came = call(*answers, **mine)
            seen = Observation(dict(_values(came, probe.names)), form_of(came))
    except Exception as error:
        seen = Observation({}, error=_of_error(error), line=_line_of(error))
    changed = (n for n, x in inputs.items() if digest({n: x}) != digest({n: mine[n]}))
    return replace(seen, changed=tuple(changed))


@contextlib.contextmanager
def _settled(seed):
    """Keep what an answer prints, draws and sets from the rest of the notebook."""
    kind, threads = torch.get_default_dtype(), torch.get_num_threads()
    plt = sys.modules.get("matplotlib.pyplot")
    figures = set(plt.get_fignums()) if plt else set()
    quiet = contextlib.redirect_stdout(io.StringIO())
    unwarned = warnings.catch_warnings(action="ignore")
    with torch.random.fork_rng(devices=[]), torch.enable_grad(), quiet, unwarned:
        torch.default_generator.manual_seed(seed)  # of the CPU, where probes run
        try:
            yield
        finally:
            torch.set_default_dtype(kind)
            if torch.get_num_threads() != threads:
                torch.set_num_threads(threads)
            plt = sys.modules.get("matplotlib.pyplot")
            for number in set(plt.get_fignums()) - figures if plt else ():
                plt.close(number)


def _values(thing, names=(), name="result", depth=0):
    """Yield (name, Value) for everything that was returned."""
    several = isinstance(thing, (tuple, list))
    small = depth < DEEPEST and isinstance(thing, (tuple, list, dict))
    small = small and len(thing) <= MOST_VALUES
    if names and several and len(thing) == len(names):
        parts = zip(names, thing, strict=True)
    elif small and isinstance(thing, dict):
        parts = ((f"{name}[{k!r}]" if depth else str(k), x) for k, x in thing.items())
    elif small and any(isinstance(x, (torch.Tensor, dict, np.ndarray)) for x in thing):
        parts = ((f"{name}[{place}]", part) for place, part in enumerate(thing))
    else:
        yield name, value_of(thing)
        return
    for own, part in parts:
        yield from _values(part, name=own[:80], depth=depth + 1)


def value_of(thing) -> Value:
    """Return one thing as plain data."""
    if thing is None:
        return Value("nothing")
    if isinstance(thing, torch.Tensor):
        return _of_tensor(thing)
    if isinstance(thing, str):
        return Value("text", "str", text=thing[:LONGEST_TEXT])
    if isinstance(thing, (*PLAIN, np.ndarray)):
        data = np.asarray(thing)
        kind = "array" if isinstance(thing, np.ndarray) else "number"
        if data.dtype.kind in "biuf" and data.size <= MOST_ELEMENTS:
            return Value(kind, type(thing).__name__, data.shape, _plain(data))
    if isinstance(thing, (set, frozenset)):
        with contextlib.suppress(TypeError):
            thing = sorted(thing)
    if isinstance(thing, (list, tuple, range)):
        data = _as_numbers(list(thing))
        if data is not None:
            return Value("list", type(thing).__name__, data.shape, data)
        return Value("list", type(thing).__name__, (len(thing),), text=_repr(thing))
    return Value("other", type(thing).__name__, text=f"a {type(thing).__name__}")


def _of_tensor(x) -> Value:
    name = str(x.dtype).removeprefix("torch.")
    if x.numel() > MOST_ELEMENTS or x.is_complex() or x.layout != torch.strided:
        size = tuple(x.shape)
        return Value("other", name, size, text=f"a {name} tensor {size}")
    x = x.detach().cpu()
    if x.dtype in (torch.float16, torch.bfloat16):
        x = x.float()
    return Value("tensor", name, tuple(x.shape), _plain(x.numpy().copy()))


def _plain(data: np.ndarray) -> np.ndarray:
    if data.dtype.kind in "iu":
        return data.astype(np.int64)
    return data if data.dtype.kind == "b" else data.astype(np.float64)


def _as_numbers(thing: list) -> np.ndarray | None:
    if not thing:
        return np.zeros(0, np.int64)
    with contextlib.suppress(ValueError, TypeError, OverflowError):
        data = np.array(thing)
        if data.dtype.kind in "biuf" and data.size <= MOST_ELEMENTS:
            return _plain(data)
    return None


def _repr(thing) -> str:
    try:
        return repr(thing)[:LONGEST_TEXT]
    except Exception:
        return f"a {type(thing).__name__}"


def form_of(thing) -> str:
    """Return in words what was returned."""
    if isinstance(thing, (tuple, list, dict, set, frozenset)):
        return f"a {type(thing).__name__} of {len(thing)}"
    value = value_of(thing)
    if value.kind in ("tensor", "array"):
        return f"{KINDS[value.kind]} of shape {value.shape}"
    if value.kind == "number":
        return f"the number {thing}"
    return KINDS.get(value.kind, value.text)


def _of_error(error) -> str:
    try:
        said = " ".join(str(error).split())
    except Exception:
        said = ""
    return f"{type(error).__name__}: {said}"[:LONGEST_TEXT].removesuffix(": ")


def _line_of(error) -> str:
    """Return the line of the student's code from which an error came."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not str(frame.filename).startswith((*INSTALLED, "<frozen", "<__array")):
            return linecache.getline(frame.filename, frame.lineno).strip()[:200]
    return ""


def leaf(x: torch.Tensor) -> torch.Tensor:
    """Return a copy of a tensor whose gradient can be asked for."""
    return x.clone().requires_grad_()


def gradients(output: torch.Tensor, **leaves: torch.Tensor) -> dict:
    """Return the gradients of a weighted sum of an output, by names of the leaves.

    What the output does not depend on has the gradient None; if the output is no
    tensor, all have.
    """
    names = [f"the gradient of {name}" for name in leaves]
    if not isinstance(output, torch.Tensor) or not output.requires_grad:
        return dict.fromkeys(names)
    wave = torch.arange(output.numel()).reshape(output.shape).to(output.dtype)
    total = (output * torch.cos(wave * 1.3 + 0.4)).sum()
    found = torch.autograd.grad(total, list(leaves.values()), allow_unused=True)
    return dict(zip(names, found, strict=True))


def backward(answer, names=("output",), **inputs) -> dict:
    """Return what an answer makes, by `names`, and its gradients.

    They are those of a weighted sum of the first of what it returns, for all inputs of
    type float.
    """
    tensors = {name: x for name, x in inputs.items() if torch.is_tensor(x)}
    leaves = {n: leaf(x) for n, x in tensors.items() if x.is_floating_point()}
    came = answer(*(inputs | leaves).values())
    parts = (came,) if len(names) == 1 else came
    found = dict(zip(names, parts, strict=True))
    return found | gradients(found[names[0]], **leaves)


def digest(inputs: dict) -> str:
    """Return a hash of the tensors, numbers and texts among some inputs."""
    found = hashlib.sha256()
    for name, thing in inputs.items():
        for own, value in _values(thing, name=name):
            data = b"" if value.data is None else np.ascontiguousarray(value.data)
            found.update(f"{own} {value.type} {value.shape} {value.text}".encode())
            found.update(data)
    return found.hexdigest()[:16]


def to_plain(seen: Observation) -> dict:
    """Return an observation as data that JSON can hold."""
    values = {
        name: [v.kind, v.type, list(v.shape), _packed(v.data), v.text]
        for name, v in seen.values.items()
    }
    return {**vars(seen), "values": values}


def _packed(data):
    if data is None:
        return None
    return [data.dtype.str, base64.b64encode(np.ascontiguousarray(data)).decode()]


def from_plain(said: dict) -> Observation:
    """Read what a stranger may have written; ValueError if it is no observation."""
    try:
        values = {}
        if len(said["values"]) > MOST_VALUES:
            raise ValueError(len(said["values"]))
        for name, (kind, type_, shape, packed, text) in said["values"].items():
            if len(str(shape)) > LONGEST_TEXT:  # sentences show it
                raise ValueError(name)
            shape, data = tuple(int(n) for n in shape), None
            if packed is not None:
                kinds, longest = ("|b1", "<i8", "<f8"), 11 * MOST_ELEMENTS  # as text
                if packed[0] not in kinds or len(packed[1]) > longest:
                    raise ValueError(packed[0])
                raw = base64.b64decode(packed[1], validate=True)
                data = np.frombuffer(raw, packed[0]).reshape(shape)
            kind, type_ = str(kind)[:80], str(type_)[:80]
            text = str(text)[:LONGEST_TEXT]
            values[str(name)[:80]] = Value(kind, type_, shape, data, text)
        texts = {k: str(said[k])[:LONGEST_TEXT] for k in ("form", "error", "line")}
        changed = tuple(str(name)[:80] for name in said["changed"][:50])
        return Observation(values, **texts, changed=changed)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError("this is no observation") from error
