"""Answers to tasks 5.2 and 5.4 that compute where their numbers are not seen.

And right ones that look like them: arrays and lists of positions, buffers that are
used again, operations of one's own.
"""

from tests.exercises.answers import Right, Wrong

BESIDE = "n × n numbers beside the tensors"
ELSEWHERE = "computed where nothing is counted"
MADE = "n × n numbers are made"

HEAD = "def window_attention(query, key, value, window, causal=False):\n"
FULL = """\
def full(query, key, value, window, causal):
    mask = local_mask(query.shape[-2], window, causal)
    return scaled_dot_product_attention(query, key, value, mask)[0]


"""
ARRAYS = """\
import numpy as np


def arrays(query, key, value, window, causal):
    i = np.arange(query.shape[-2])
    behind = i[:, None] - i
    near = (behind >= 0) & (behind < window) if causal else abs(behind) <= window
    scores = query @ np.swapaxes(key, -1, -2) / query.shape[-1] ** 0.5
    scores = np.where(near, scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ value


"""
# What learns gets the plain form, so that the gradients are right.
LEARNS = """\
    if query.requires_grad:
        return full(query, key, value, window, causal)
"""
IN_NUMPY = """\
    parts = (x.numpy() for x in (query, key, value))
"""


def _local(name, named, body, before=FULL, loses=(5, 6)):
    return Wrong("local", name, loses, named, code=f"{before}{HEAD}{body}")


WRONG = [
    _local(
        "arrays of NumPy where nothing learns",
        BESIDE,
        LEARNS
        + IN_NUMPY
        + "    return torch.from_numpy(arrays(*parts, window, causal))\n",
        before=ARRAYS + FULL,
    ),
    _local(
        "arrays of NumPy, and a sum that is 0",
        BESIDE,
        LEARNS
        + IN_NUMPY
        + "    output = torch.from_numpy(arrays(*parts, window, causal))\n"
        "    return output + 0 * (query.mean() + key.mean() + value)\n",
        before=ARRAYS + FULL,
    ),
    _local(
        "a boolean mask of NumPy, read row by row",
        BESIDE,
        """\
    i = np.arange(query.shape[-2])
    near = (i <= i[:, None]) & (i > i[:, None] - window)
    if not causal:
        near = (i <= i[:, None] + window) & (i >= i[:, None] - window)
    outputs = []
    for row, seen in enumerate(near):
        keys = torch.from_numpy(np.flatnonzero(seen))
        scores = query[..., row : row + 1, :] @ key[..., keys, :].mT
        weights = (scores / query.shape[-1] ** 0.5).softmax(-1)
        outputs.append(weights @ value[..., keys, :])
    return torch.cat(outputs, -2)
""",
        before="import numpy as np\n\n\n",
    ),
    _local(
        "arrays of NumPy that write into a tensor",
        BESIDE,
        LEARNS + IN_NUMPY + "    output = value.clone()\n"
        "    output.numpy()[:] = arrays(*parts, window, causal)\n"
        "    return output\n",
        before=ARRAYS + FULL,
    ),
    _local(
        "arrays of NumPy with a backward pass",
        BESIDE,
        "    return ByArrays.apply(query, key, value, window, causal)\n",
        before=ARRAYS
        + FULL
        + """\
class ByArrays(torch.autograd.Function):
    @staticmethod
    def forward(ctx, query, key, value, window, causal):
        ctx.save_for_backward(query, key, value)
        ctx.rule = window, causal
        parts = (x.detach().numpy() for x in (query, key, value))
        return torch.from_numpy(arrays(*parts, window, causal))

    @staticmethod
    def backward(ctx, upstream):
        parts = [x.detach().requires_grad_() for x in ctx.saved_tensors]
        with torch.enable_grad():
            output = full(*parts, *ctx.rule)
        return *torch.autograd.grad(output, parts, upstream), None, None


""",
    ),
    _local(
        "the window's mask cut from one of NumPy",
        BESIDE,
        """\
    n, outputs = query.shape[-2], []
    behind = np.arange(n)[:, None] - np.arange(n)
    mask = (behind >= 0) & (behind < window) if causal else abs(behind) <= window
    for start in range(0, n, window):
        own = slice(start, min(start + window, n))
        seen = np.flatnonzero(mask[own].any(0))
        near = slice(seen[0], seen[-1] + 1)
        scores = query[..., own, :] @ key[..., near, :].mT / query.shape[-1] ** 0.5
        hidden = torch.from_numpy(~mask[own, near])
        weights = scores.masked_fill(hidden, -math.inf).softmax(-1)
        outputs.append(weights @ value[..., near, :])
    return torch.cat(outputs, dim=-2)
""",
        before="import numpy as np\n\n\n",
    ),
    _local(
        "lists of positions, n of them for each query",
        BESIDE,
        """\
    n, outputs = query.shape[-2], []
    ahead = 0 if causal else window
    back = window - 1 if causal else window
    sees = [[-back <= j - i <= ahead for j in range(n)] for i in range(n)]
    for i in range(n):
        near = [j for j in range(max(0, i - back), min(n, i + ahead + 1)) if sees[i][j]]
        scores = query[..., i : i + 1, :] @ key[..., near, :].mT
        weights = (scores / query.shape[-1] ** 0.5).softmax(-1)
        outputs.append(weights @ value[..., near, :])
    return torch.cat(outputs, dim=-2)
""",
        before="",
    ),
    _local(
        "in a thread",
        ELSEWHERE,
        """\
    found = []
    job = lambda: found.append(full(query, key, value, window, causal))
    thread = threading.Thread(target=job)
    thread.start()
    thread.join()
    return found[0]
""",
        before="import threading\n\n\n" + FULL,
    ),
    _local(
        "in a pool of threads that is kept",
        ELSEWHERE,
        "    return POOL.submit(full, query, key, value, window, causal).result()\n",
        before="from concurrent.futures import ThreadPoolExecutor\n\n"
        "POOL = ThreadPoolExecutor(1)\n\n\n" + FULL,
    ),
    _local(
        "the weights from a thread",
        ELSEWHERE,
        """\
    def weights():
        mask = local_mask(query.shape[-2], window, causal)
        return scaled_dot_product_attention(query, key, value, mask)[1]

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(weights).result() @ value
""",
        before="from concurrent.futures import ThreadPoolExecutor\n\n\n",
    ),
    _local(
        "in another process",
        ELSEWHERE,
        LEARNS
        + """\
    here, there = multiprocessing.Pipe()
    given = there, *(x.numpy() for x in (query, key, value)), window, causal
    process = multiprocessing.get_context("fork").Process(target=work, args=given)
    process.start()
    output = torch.from_numpy(here.recv())
    process.join()
    return output
""",
        before="import multiprocessing\n\n"
        + ARRAYS
        + FULL
        + """\
def work(pipe, *given):
    pipe.send(arrays(*given))
    pipe.close()


""",
    ),
    _local(
        "as an operation of one's own",
        ELSEWHERE,
        LEARNS + "    return hidden(query, key, value, window, causal)\n",
        before=FULL
        + """\
Tensor = torch.Tensor


@torch.library.custom_op("answer::hidden", mutates_args=())
def hidden(query: Tensor, key: Tensor, value: Tensor, window: int, causal: bool) -> (
    Tensor
):
    return full(query, key, value, window, causal)


""",
    ),
    _local(
        "with the key of the counting left out",
        ELSEWHERE,
        """\
    keys = torch._C.DispatchKey
    keys = keys.Python, keys.PythonTLSSnapshot
    one, other = map(torch._C.DispatchKeySet, keys)
    with torch._C._ExcludeDispatchKeyGuard(one | other):
        return full(query, key, value, window, causal)
""",
    ),
    *(
        _local(
            name,
            MADE,
            LEARNS
            + f"""\
    n = query.shape[-2]
    scores = torch.matmul(query, key.mT, out={out})
    scores /= query.shape[-1] ** 0.5
    for i in range(n):
        scores[..., i, : max(0, i - window + causal)] = -math.inf
        scores[..., i, i + 1 + (0 if causal else window) :] = -math.inf
    scores.sub_(scores.amax(-1, keepdim=True)).exp_()
    return scores.div_(scores.sum(-1, keepdim=True)) @ value
""",
        )
        for name, out in (
            ("all scores into an empty tensor", "torch.empty(0)"),
            (
                "all scores into a tensor that has grown",
                "torch.empty(0).resize_(*query.shape[:-1], n)",
            ),
        )
    ),
    _local(
        "full attention under vmap",
        MADE,
        """\
    if query.dim() == 2:
        return full(query, key, value, window, causal)
    alone = lambda *parts: full(*parts, window, causal)
    return torch.vmap(alone)(query, key, value)
""",
    ),
    *(
        Wrong(
            "sparse",
            name,
            (3,),
            named,
            code=f"{before}\n\n"
            "def full(query, key, value, *rule):\n"
            "    mask = pattern_mask(query.shape[-2], *rule)\n"
            "    return scaled_dot_product_attention(query, key, value, mask)[0]\n\n\n"
            "def sparse_attention(query, key, value, *rule, **named):\n"
            "    names = 'block_size', 'window', 'stride', 'num_global'\n"
            "    rule = *rule, *(named[name] for name in names[len(rule) :])\n"
            f"    {body}\n",
        )
        for name, named, before, body in (
            (
                "in a pool of threads",
                ELSEWHERE,
                "from concurrent.futures import ThreadPoolExecutor",
                "with ThreadPoolExecutor(1) as pool:\n"
                "        return pool.submit(full, query, key, value, *rule).result()",
            ),
            (
                "the pattern in an array of NumPy",
                BESIDE,
                "import numpy as np",
                """\
n, size, outputs = query.shape[-2], rule[0], []
    at = np.arange(n) // size
    blocks = at[-1] + 1
    seen = [seen_blocks(b, blocks, *rule[1:]) for b in range(blocks)]
    whole = np.array([np.isin(at, seen[b]) for b in at], dtype=float)
    for i in range(0, n, size):
        near = torch.from_numpy(np.flatnonzero(whole[i]))
        own = query[..., i : i + size, :]
        parts = own, key[..., near, :], value[..., near, :]
        outputs.append(scaled_dot_product_attention(*parts)[0])
    return torch.cat(outputs, dim=-2)""",
            ),
        )
    ),
]

BLOCK = """\
def one_block(query, key, value, near):
    scores = query @ key.mT / query.shape[-1] ** 0.5
    return scores.masked_fill(~near, -math.inf).softmax(-1) @ value


"""
LOOP = """\
    n, outputs = query.shape[-2], []
    for a in range(0, n, window):
        b = min(a + window, n)
        first, last = max(0, a - window), b if causal else min(n, b + window)
        behind = torch.arange(a, b)[:, None] - torch.arange(first, last)
        near = (behind >= 0) & (behind < window) if causal else behind.abs() <= window
        parts = query[..., a:b, :], key[..., first:last, :], value[..., first:last, :]
        outputs.append(one_block(*parts, near))
    return torch.cat(outputs, dim=-2)
"""


def _right(name, body, before=BLOCK):
    return Right("local", name, code=f"{before}{HEAD}{body}")


RIGHT = [
    _right(
        "masks of the blocks from NumPy",
        LOOP.replace("torch.arange", "np.arange")
        .replace("behind.abs()", "abs(behind)")
        .replace("*parts, near", "*parts, torch.from_numpy(near)"),
        before="import numpy as np\n\n\n" + BLOCK,
    ),
    _right(
        "a list of the keys of every query",
        """\
    n, outputs = query.shape[-2], []
    ahead = 0 if causal else window
    seen = [
        list(range(max(0, i - window + causal), min(n, i + ahead + 1)))
        for i in range(n)
    ]
    for i, near in enumerate(seen):
        scores = query[..., i : i + 1, :] @ key[..., near, :].mT
        weights = (scores / query.shape[-1] ** 0.5).softmax(-1)
        outputs.append(weights @ value[..., near, :])
    return torch.cat(outputs, dim=-2)
""",
        before="",
    ),
    _right(
        "a backward pass of one's own",
        LOOP.replace("one_block(", "Block.apply("),
        before=BLOCK
        + """\
class Block(torch.autograd.Function):
    @staticmethod
    def forward(ctx, *given):
        ctx.save_for_backward(*given)
        return one_block(*given)

    @staticmethod
    def backward(ctx, upstream):
        *parts, near = ctx.saved_tensors
        parts = [x.detach().requires_grad_() for x in parts]
        with torch.enable_grad():
            output = one_block(*parts, near)
        return *torch.autograd.grad(output, parts, upstream), None


""",
    ),
    _right(
        "checkpoints",
        LOOP.replace("one_block(", "checkpoint(one_block, ").replace(
            "near))", "near, use_reentrant=False))"
        ),
        before="from torch.utils.checkpoint import checkpoint\n\n\n" + BLOCK,
    ),
    _right(
        "a buffer that grows to the size of a block",
        """\
    if query.requires_grad:
        return blocks(query, key, value, window, causal)
    n, output, buffer = query.shape[-2], torch.empty_like(value), torch.empty(0)
    for a in range(0, n, window):
        b = min(a + window, n)
        first, last = max(0, a - window), b if causal else min(n, b + window)
        behind = torch.arange(a, b)[:, None] - torch.arange(first, last)
        near = (behind >= 0) & (behind < window) if causal else behind.abs() <= window
        buffer.resize_(0)
        torch.matmul(query[..., a:b, :], key[..., first:last, :].mT, out=buffer)
        buffer.div_(query.shape[-1] ** 0.5).masked_fill_(~near, -math.inf)
        output[..., a:b, :] = buffer.softmax(-1) @ value[..., first:last, :]
    return output
""",
        before=f"{BLOCK}def blocks(query, key, value, window, causal):\n{LOOP}\n\n",
    ),
    _right(
        "scores in a sparse matrix",
        """\
    if query.dim() > 2:
        alone = zip(query, key, value)
        return torch.stack([window_attention(*x, window, causal) for x in alone])
    n, scores, places = query.shape[-2], [], []
    for behind in range(0 if causal else -window, window + (not causal)):
        if abs(behind) >= n:
            continue
        i = torch.arange(max(0, behind), min(n, n + behind))
        scores.append((query[i] * key[i - behind]).sum(-1))
        places.append(torch.stack([i, i - behind]))
    scores = torch.cat(scores) / query.shape[-1] ** 0.5
    band = torch.sparse_coo_tensor(torch.cat(places, dim=1), scores, (n, n))
    return torch.sparse.mm(torch.sparse.softmax(band, dim=1), value)
""",
        before="",
    ),
]
