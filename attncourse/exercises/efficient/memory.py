"""Memory by exact counts: the check that tasks 5.2 and 5.4 share."""

import tracemalloc

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from attncourse.exercises.efficient.oracle import BLOCKS, NO_SAVING
from attncourse.exercises.task import Mistake

LARGEST = "largest tensor, in units of the limit, rounded up"
GROWTH = "growth of all numbers made when the tokens double"
ABOUT = "output is about right"
FOLLOWS = "output is computed from query, key and value where it is counted"
BESIDE = "memory beside the tensors, in units of 2 n² bytes, rounded down"


class _Watch(TorchDispatchMode):
    """Counts the numbers that a job makes, and follows its inputs through the job.

    Counted are the tensors that operations allocate, memory that grows under a tensor
    that is there, and tensors that were neither given to the job nor made in it, such
    as a mask kept from an earlier call. Of each tensor it is known from which of the
    inputs it was computed; what NumPy or another thread has computed comes from none.
    """

    def __init__(self, inputs):
        super().__init__()
        self.made = self.largest = 0
        self.known = {}  # the storages are kept, so that no address is used again
        self.origins = {}
        tensors = {k: v for k, v in inputs.items() if torch.is_tensor(v)}
        self.given = {k: v.untyped_storage() for k, v in tensors.items()}
        self.follows = False

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        taken = args, kwargs or {}
        self.meet(taken)
        origins = self.origins_of(taken) if _hands_on(operation) else set()
        before = {s._cdata: s.nbytes() for s, _ in _memory_of(taken)}
        result = operation(*args, **(kwargs or {}))
        for storage, size in _memory_of(result):
            if storage._cdata in before:
                self.count((storage.nbytes() - before[storage._cdata]) // size)
                self.known[storage.data_ptr()] = storage
        self.meet(result, origins)
        return result

    def take(self, output):
        """Take the output of a job, and note whether all inputs have a part in it."""
        self.meet(output)
        self.follows = self.origins_of(output) >= self.given.keys()

    def meet(self, tree, origins=()):
        """Count the tensors of `tree` that are new, and note from what they come."""
        for storage, size in _memory_of(tree):
            address = storage.data_ptr()
            if address not in self.known and not self.parts_of(address):
                self.count(storage.nbytes() // size)
            self.known[address] = storage
            self.origins.setdefault(address, set()).update(origins)

    def count(self, numbers):
        """Count numbers that were made in one piece."""
        self.made, self.largest = self.made + numbers, max(self.largest, numbers)

    def origins_of(self, tree):
        """Return the names of the inputs from which the tensors of `tree` come."""
        addresses = [storage.data_ptr() for storage, _ in _memory_of(tree)]
        return (
            set()
            .union(*(self.origins.get(a, ()) for a in addresses))
            .union(*map(self.parts_of, addresses))
        )

    def parts_of(self, address):
        """Return the names of the inputs in whose memory an address lies."""
        return {
            name
            for name, storage in self.given.items()
            if 0 <= address - storage.data_ptr() < storage.nbytes()
        }


def _hands_on(operation):
    """Say whether the result of an operation is computed from the numbers it is given.

    `zeros_like` and the like take the shape alone. What an operation of the answer's
    own computes inside is not counted.
    """
    name = operation.__name__
    of_shape = "_like." in name or name.startswith("new_")
    return operation.namespace in ("aten", "prims") and not of_shape


def _memory_of(tree):
    """Return the storage of each tensor of `tree`, and the bytes of one number."""
    tensors = [leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)]
    parts = [part for tensor in tensors for part in _parts(tensor)]
    return [(part.untyped_storage(), part.element_size()) for part in parts]


def _parts(tensor):
    """Return the dense tensors of which a tensor is made."""
    if tensor.layout == torch.sparse_coo:
        return tensor._indices(), tensor._values()
    if tensor.layout == torch.sparse_csr:
        return tensor.crow_indices(), tensor.col_indices(), tensor.values()
    return (tensor,)


def _count(job):
    """Return the numbers that a job makes or takes from elsewhere, and the largest.

    And whether its output was computed from its inputs where it was counted.
    """
    with _Watch(job.keywords) as watch:
        watch.take(job())
    return watch.made, watch.largest, watch.follows


def _beside(job):
    """Return the most bytes that a job holds in NumPy, in lists and the like."""
    job()  # what is imported or compiled at the first call does not count
    traced = tracemalloc.is_tracing()
    if not traced:
        tracemalloc.start()
    tracemalloc.reset_peak()
    before, _ = tracemalloc.get_traced_memory()
    try:
        job()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        if not traced:
            tracemalloc.stop()


def counted(short, long, limit, expected):
    """Return what a memory check compares, from calls at a length and at its double.

    Parameters
    ----------
    short, long : functools.partial
        Without arguments; return the output. Their keywords are the inputs.
    limit : int
        Numbers that the largest tensor of the long call may hold.
    expected : torch.Tensor
        The right output of the short call.

    Returns
    -------
    dict
        The largest tensor in units of `limit`, rounded up; the growth of all that is
        made, rounded; whether the output is roughly right; whether it was computed
        from the inputs where it was counted; the memory of NumPy, of lists and the
        like, in units of 2 n² bytes: a boolean mask needs as many while it is made.
    """
    output = short()
    (once, _, _), (twice, largest, follows) = _count(short), _count(long)
    tokens = long.keywords["query"].shape[-2]
    return {
        LARGEST: -(-largest // limit),
        GROWTH: round(twice / max(once, 1)),
        ABOUT: _resembles(output, expected),
        FOLLOWS: follows,
        BESIDE: _beside(long) // (2 * tokens**2),
    }


def within():
    """Return what `counted` returns for an answer that keeps within the limit."""
    return {LARGEST: 1, GROWTH: 2, ABOUT: True, FOLLOWS: True, BESIDE: 0}


def _resembles(output, expected):
    """Say whether an output is roughly the one expected: not zeros, not noise."""
    if not torch.is_tensor(output) or output.shape != expected.shape:
        return False
    pair = torch.stack([output.detach().flatten(), expected.flatten()])
    return bool(torch.corrcoef(pair.double())[0, 1] > 0.5)


def _when(test):
    """Return a `when` that tests (largest, growth, about right)."""

    def when(seen, expected, inputs):
        return test(*(seen[what].values[0] for what in (LARGEST, GROWTH, ABOUT)))

    return when


def _number(seen, what):
    return seen[what].values[0]


MEMORY_MISTAKES = (
    Mistake(
        "not local attention",
        "What this check counts is not local attention: the output has nothing to do "
        "with it. Memory is counted once the output is roughly right.",
        when=_when(lambda largest, growth, about: not about),
    ),
    Mistake(
        "n × n numbers beside the tensors",
        "n × n numbers are held outside of PyTorch: in an array of NumPy, or in a list "
        "of lists. When the tokens double they grow four times, as they would in a "
        "tensor.",
        when=lambda seen, expected, inputs: _number(seen, BESIDE) > 0,
        read=NO_SAVING,
    ),
    Mistake(
        "computed where nothing is counted",
        "The output does not come from query, key and value by way of PyTorch's own "
        "operations: NumPy, plain numbers, another thread or the like have computed "
        "it. What they hold is not counted. Compute with tensors alone.",
        when=lambda seen, expected, inputs: not _number(seen, FOLLOWS),
    ),
    Mistake(
        "n × n numbers are made",
        "A tensor of n × n numbers is made: scores, weights or a mask. When the tokens "
        "double, the numbers grow four times, whatever the window. The result is "
        "right, and nothing is saved.",
        when=_when(lambda largest, growth, about: growth > 2 and largest > 1),
        read=NO_SAVING,
    ),
    Mistake(
        "all scores are computed, in pieces",
        "No single tensor is too large, but together they hold n × n numbers: each "
        "piece compares its queries with all keys and then hides most of them.",
        when=_when(lambda largest, growth, about: growth > 2),
        read=NO_SAVING,
    ),
    Mistake(
        "a copy of the keys for every query",
        "The numbers grow with n, but a tensor of n · window · d_k numbers is made: "
        "every query gets its own copy of its keys. Neighbouring queries see almost "
        "the same keys. Let many of them share one copy.",
        when=_when(lambda largest, growth, about: largest > 1),
        read=BLOCKS,
    ),
)
