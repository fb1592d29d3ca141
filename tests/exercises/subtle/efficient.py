"""Answers to exercise 5 that look right at first sight, and right ones that do not."""

from tests.exercises.answers import Right, Wrong

WRONG = [
    Wrong(
        "mask",
        "numpy",
        (0, 1),
        "wrong type",
        code="""\
import numpy as np


def local_mask(tokens, window, causal=False):
    d = np.arange(tokens)[:, None] - np.arange(tokens)
    return (d >= 0) & (d < window) if causal else np.abs(d) <= window
""",
    ),
    Wrong(
        "mask",
        "a window as long as the text cut by one",
        (0,),
        "one key too few",
        code="""\
def local_mask(tokens, window, causal=False):
    window = min(window, tokens - 1)
    d = torch.arange(tokens)[:, None] - torch.arange(tokens)
    return (d >= 0) & (d < window) if causal else d.abs() <= window
""",
    ),
    Wrong(
        "local",
        "list returned",
        (0, 1, 2, 3, 4, 5, 6),
        "wrong type",
        code="""\
def window_attention(query, key, value, window, causal=False):
    n, out = query.shape[-2], []
    for i in range(n):
        lo, hi = (
            max(0, i - window + (1 if causal else 0)),
            (i + 1 if causal else min(n, i + window + 1)),
        )
        w = (
            query[..., i : i + 1, :]
            @ key[..., lo:hi, :].mT
            / math.sqrt(query.shape[-1])
        ).softmax(-1)
        out.append(w @ value[..., lo:hi, :])
    return out
""",
    ),
    Wrong(
        "local",
        "numpy returned",
        (0, 1, 2, 3, 4, 5, 6),
        "wrong type",
        code="""\
def window_attention(query, key, value, window, causal=False):
    n, out = query.shape[-2], []
    for i in range(n):
        lo, hi = (
            max(0, i - window + (1 if causal else 0)),
            (i + 1 if causal else min(n, i + window + 1)),
        )
        w = (
            query[..., i : i + 1, :]
            @ key[..., lo:hi, :].mT
            / math.sqrt(query.shape[-1])
        ).softmax(-1)
        out.append(w @ value[..., lo:hi, :])
    return torch.cat(out, -2).detach().numpy()
""",
    ),
    Wrong(
        "local",
        "in place on query",
        (0, 3, 4),
        "changes its input",
        code="""\
def window_attention(query, key, value, window, causal=False):
    n, out = query.shape[-2], []
    query /= math.sqrt(query.shape[-1])
    for i in range(n):
        lo, hi = (
            max(0, i - window + (1 if causal else 0)),
            (i + 1 if causal else min(n, i + window + 1)),
        )
        out.append(
            (query[..., i : i + 1, :] @ key[..., lo:hi, :].mT).softmax(-1)
            @ value[..., lo:hi, :]
        )
    return torch.cat(out, -2)
""",
    ),
    Wrong(
        "local",
        "the package, by importlib",
        (0, 1, 2, 3, 4, 5, 6),
        "forbidden function",
        code="""\
import importlib


def window_attention(query, key, value, window, causal=False):
    m = importlib.import_module("attncourse.layers.local")
    return m.local_attention(query, key, value, window=window, causal=causal)
""",
    ),
    Wrong(
        "local",
        "odd tokens wrong",
        (2,),
        "keys of the window missing",
        code="""\
def window_attention(query, key, value, window, causal=False):
    n, out = query.shape[-2], []
    if n % 2:
        n -= 1
    for i in range(query.shape[-2]):
        hi = min(i + 1 if causal else i + window + 1, max(n, i + 1))
        lo = max(0, i - window + (1 if causal else 0))
        w = (
            query[..., i : i + 1, :]
            @ key[..., lo:hi, :].mT
            / math.sqrt(query.shape[-1])
        ).softmax(-1)
        out.append(w @ value[..., lo:hi, :])
    return torch.cat(out, -2)
""",
    ),
    Wrong(
        "local",
        "window larger than sequence clipped to it minus one",
        (1, 4),
        "window too short",
        code="""\
def window_attention(query, key, value, window, causal=False):
    n, out = query.shape[-2], []
    window = min(window, max(1, n - 1))
    for i in range(n):
        lo, hi = (
            max(0, i - window + (1 if causal else 0)),
            (i + 1 if causal else min(n, i + window + 1)),
        )
        w = (
            query[..., i : i + 1, :]
            @ key[..., lo:hi, :].mT
            / math.sqrt(query.shape[-1])
        ).softmax(-1)
        out.append(w @ value[..., lo:hi, :])
    return torch.cat(out, -2)
""",
    ),
    Wrong(
        "local",
        "softmax over all sequences",
        (0, 1, 2, 3, 4, 6),
        "weights that sum to more than 1",
        code="""\
def window_attention(query, key, value, window, causal=False):
    n, out = query.shape[-2], []
    for i in range(n):
        lo, hi = (
            max(0, i - window + (1 if causal else 0)),
            (i + 1 if causal else min(n, i + window + 1)),
        )
        w = (
            query[..., i : i + 1, :]
            @ key[..., lo:hi, :].mT
            / math.sqrt(query.shape[-1])
        ).softmax(0)
        out.append(w @ value[..., lo:hi, :])
    return torch.cat(out, -2)
""",
    ),
    Wrong(
        "pattern",
        "the first block after the global ones sees all",
        (2, 3),
        "the block after the global ones",
        code="""\
def seen_blocks(block, blocks, window, stride, num_global):
    if block <= num_global and num_global:
        return list(range(blocks))
    return [
        j
        for j in range(blocks)
        if abs(block - j) <= window
        or (stride and (block - j) % stride == 0)
        or j < num_global
    ]


def pattern_mask(tokens, block_size, window, stride, num_global):
    n = math.ceil(tokens / block_size)
    m = torch.tensor(
        [
            [
                j in seen_blocks(i, n, window, stride, num_global)
                for j in range(n)
            ]
            for i in range(n)
        ]
    )
    return m.repeat_interleave(block_size, 0).repeat_interleave(block_size, 1)[
        :tokens, :tokens
    ]
""",
    ),
    Wrong(
        "pattern",
        "mask as numbers",
        (3,),
        "wrong type",
        code="""\
def seen_blocks(block, blocks, window, stride, num_global):
    return [
        j
        for j in range(blocks)
        if abs(block - j) <= window
        or (stride and (block - j) % stride == 0)
        or min(j, block) < num_global
    ]


def pattern_mask(tokens, block_size, window, stride, num_global):
    n = math.ceil(tokens / block_size)
    m = torch.tensor(
        [
            [
                float(j in seen_blocks(i, n, window, stride, num_global))
                for j in range(n)
            ]
            for i in range(n)
        ]
    )
    return torch.kron(m, torch.ones(block_size, block_size))[:tokens, :tokens]
""",
    ),
    Wrong(
        "pattern",
        "global tokens do not see",
        (3,),
        "global blocks do not see",
        code="""\
def seen_blocks(block, blocks, window, stride, num_global):
    return [
        j
        for j in range(blocks)
        if abs(block - j) <= window
        or (stride and (block - j) % stride == 0)
        or min(j, block) < num_global
    ]


def pattern_mask(tokens, block_size, window, stride, num_global):
    b = torch.arange(tokens) // block_size
    g = (b[:, None] - b).abs()
    m = (g <= window) | (b < num_global)
    return m | (g % stride == 0) if stride else m
""",
    ),
    Wrong(
        "sparse",
        "numpy",
        (0, 1, 2, 3),
        "wrong type",
        code="""\
def sparse_attention(query, key, value, block_size, window, stride, num_global):
    n, outs = query.shape[-2], []
    blocks = math.ceil(n / block_size)
    for b in range(blocks):
        seen = seen_blocks(b, blocks, window, stride, num_global)
        p = torch.cat(
            [
                torch.arange(j * block_size, min(n, (j + 1) * block_size))
                for j in seen
            ]
        )
        q = query[..., b * block_size : (b + 1) * block_size, :]
        w = (q @ key[..., p, :].mT / math.sqrt(q.shape[-1])).softmax(-1)
        outs.append(w @ value[..., p, :])
    return torch.cat(outs, -2).detach().numpy()
""",
    ),
    Wrong(
        "sparse",
        "keys for values",
        (0, 1, 2, 3),
        "queries, keys and values exchanged",
        code="""\
def sparse_attention(query, key, value, block_size, window, stride, num_global):
    n, outs = query.shape[-2], []
    blocks = math.ceil(n / block_size)
    for b in range(blocks):
        seen = seen_blocks(b, blocks, window, stride, num_global)
        p = torch.cat(
            [
                torch.arange(j * block_size, min(n, (j + 1) * block_size))
                for j in seen
            ]
        )
        q = query[..., b * block_size : (b + 1) * block_size, :]
        w = (q @ key[..., p, :].mT / math.sqrt(q.shape[-1])).softmax(-1)
        outs.append(w @ key[..., p, :])
    return torch.cat(outs, -2)
""",
    ),
    Wrong(
        "sparse",
        "block softmax causal",
        (0, 1, 2, 3),
        "causal in place of two-sided",
        code="""\
def sparse_attention(query, key, value, block_size, window, stride, num_global):
    n, outs = query.shape[-2], []
    blocks = math.ceil(n / block_size)
    for b in range(blocks):
        seen = seen_blocks(b, blocks, window, stride, num_global)
        p = torch.cat(
            [
                torch.arange(j * block_size, min(n, (j + 1) * block_size))
                for j in seen
            ]
        )
        q = query[..., b * block_size : (b + 1) * block_size, :]
        outs.append(
            F.scaled_dot_product_attention(
                q, key[..., p, :], value[..., p, :], is_causal=True
            )
        )
    return torch.cat(outs, -2)
""",
    ),
    Wrong(
        "sparse",
        "scale by block",
        (0, 1, 2),
        "scaled by the number of keys",
        code="""\
def sparse_attention(query, key, value, block_size, window, stride, num_global):
    n, outs = query.shape[-2], []
    blocks = math.ceil(n / block_size)
    for b in range(blocks):
        seen = seen_blocks(b, blocks, window, stride, num_global)
        p = torch.cat(
            [
                torch.arange(j * block_size, min(n, (j + 1) * block_size))
                for j in seen
            ]
        )
        q = query[..., b * block_size : (b + 1) * block_size, :]
        w = (q @ key[..., p, :].mT / math.sqrt(len(p))).softmax(-1)
        outs.append(w @ value[..., p, :])
    return torch.cat(outs, -2)
""",
    ),
    Wrong(
        "costs",
        "strings",
        (0, 1, 2),
        "wrong type",
        code="""\
def largest_tensor(heads, tokens, width, window):
    o = heads * tokens * width
    b = math.ceil(tokens / window)
    return {
        "written out": str(max(heads * tokens**2, o)),
        "fused, masked": str(max(tokens**2, o)),
        "fused, causal": str(o),
        "in blocks": str(heads * b * window * 2 * max(window, width)),
    }
""",
    ),
    Wrong(
        "costs",
        "batch of q k v",
        (0, 1),
        "more than the largest tensor",
        code="""\
def largest_tensor(heads, tokens, width, window):
    o = 3 * heads * tokens * width
    b = math.ceil(tokens / window)
    return {
        "written out": max(heads * tokens**2, o),
        "fused, masked": max(tokens**2, o),
        "fused, causal": o,
        "in blocks": heads * b * window * 2 * max(window, width),
    }
""",
    ),
    Wrong(
        "costs",
        "float division of blocks",
        (2,),
        "last block not filled up",
        code="""\
def largest_tensor(heads, tokens, width, window):
    o = heads * tokens * width
    b = tokens / window
    return {
        "written out": max(heads * tokens**2, o),
        "fused, masked": max(tokens**2, o),
        "fused, causal": o,
        "in blocks": int(heads * b * window * 2 * max(window, width)),
    }
""",
    ),
    Wrong(
        "costs",
        "one way forgotten",
        (2,),
        "an entry is missing",
        code="""\
def largest_tensor(heads, tokens, width, window):
    o = heads * tokens * width
    return {
        "written out": max(heads * tokens**2, o),
        "fused, masked": max(tokens**2, o),
        "fused, causal": o,
    }
""",
    ),
    Wrong(
        "timing",
        "the total, divided",
        (1,),
        "mean in place of the median",
        code="""\
def time_in_turns(jobs, repeats=5, clock=time.process_time):
    for j in jobs.values():
        j()
    t = dict.fromkeys(jobs, 0)
    for _ in range(repeats):
        for n, j in jobs.items():
            s = clock()
            j()
            t[n] += clock() - s
    return {n: v / repeats for n, v in t.items()}


def crossover(lengths, ours, theirs):
    for i, n in enumerate(lengths):
        if all(a < b for a, b in zip(ours[i:], theirs[i:])):
            return n
""",
    ),
    Wrong(
        "timing",
        "the clock started once a round",
        (0, 1, 2),
        "clock read once for a round",
        code="""\
def time_in_turns(jobs, repeats=5, clock=time.process_time):
    for j in jobs.values():
        j()
    t = {n: [] for n in jobs}
    for _ in range(repeats):
        s = clock()
        for n, j in jobs.items():
            j()
            t[n].append(clock() - s)
    return {n: statistics.median(v) for n, v in t.items()}


def crossover(lengths, ours, theirs):
    for i, n in enumerate(lengths):
        if all(a < b for a, b in zip(ours[i:], theirs[i:])):
            return n
""",
    ),
    Wrong(
        "timing",
        "crossover where last only",
        (3,),
        "the last win",
        code="""\
def time_in_turns(jobs, repeats=5, clock=time.process_time):
    for j in jobs.values():
        j()
    t = {n: [] for n in jobs}
    for _ in range(repeats):
        for n, j in jobs.items():
            s = clock()
            j()
            t[n].append(clock() - s)
    return {n: statistics.median(v) for n, v in t.items()}


def crossover(lengths, ours, theirs):
    won = [n for n, a, b in zip(lengths, ours, theirs) if a < b]
    return won[-1] if won else None
""",
    ),
    Wrong(
        "timing",
        "ties are ahead",
        (3,),
        "equal counts as faster",
        code="""\
def time_in_turns(jobs, repeats=5, clock=time.process_time):
    for j in jobs.values():
        j()
    t = {n: [] for n in jobs}
    for _ in range(repeats):
        for n, j in jobs.items():
            s = clock()
            j()
            t[n].append(clock() - s)
    return {n: statistics.median(v) for n, v in t.items()}


def crossover(lengths, ours, theirs):
    for i, n in enumerate(lengths):
        if all(a <= b for a, b in zip(ours[i:], theirs[i:])):
            return n
""",
    ),
    Wrong(
        "quality",
        "no residual",
        (1,),
        "no residual connection",
        code="""\
def reach(layers, window):
    return layers * (window - 1)


class LocalLayer(nn.Module):
    def __init__(self, width, heads, window):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.maps = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.heads, self.window = heads, window

    def forward(self, x):
        q, k, v = (
            p.unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for p in self.maps(self.norm(x)).chunk(3, -1)
        )
        o = window_attention(q, k, v, self.window, causal=True)
        return self.out(o.transpose(1, 2).flatten(-2))
""",
    ),
    Wrong(
        "quality",
        "x in place",
        (1, 2),
        "written in place",
        code="""\
def reach(layers, window):
    return layers * (window - 1)


class LocalLayer(nn.Module):
    def __init__(self, width, heads, window):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.maps = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.heads, self.window = heads, window

    def forward(self, x):
        q, k, v = (
            p.unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for p in self.maps(self.norm(x)).chunk(3, -1)
        )
        o = window_attention(q, k, v, self.window, causal=True)
        x += self.out(o.transpose(1, 2).flatten(-2))
        return x
""",
    ),
    Wrong(
        "quality",
        "one head",
        (1, 2),
        "another number of heads",
        code="""\
def reach(layers, window):
    return layers * (window - 1)


class LocalLayer(nn.Module):
    def __init__(self, width, heads, window):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.maps = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.heads, self.window = heads, window

    def forward(self, x):
        q, k, v = self.maps(self.norm(x)).chunk(3, -1)
        return x + self.out(window_attention(q, k, v, self.window, causal=True))
""",
    ),
]

RIGHT = [
    Right(
        "mask",
        "torch.where",
        """\
def local_mask(tokens: int, window: int, causal: bool = False) -> torch.Tensor:
    ones = torch.ones((tokens, tokens)).bool()
    upper = 0 if causal else window
    lower = window - 1 if causal else window
    return torch.logical_and(torch.tril(ones, upper), torch.triu(ones, -lower))
""",
    ),
    Right(
        "local",
        "partial of loop",
        """\
def window_attention(query, key, value, window, causal=False):
    n, out = query.shape[-2], []
    for i in range(n):
        lo, hi = (
            max(0, i - window + (1 if causal else 0)),
            (i + 1 if causal else min(n, i + window + 1)),
        )
        w = (
            query[..., i : i + 1, :]
            @ key[..., lo:hi, :].mT
            / math.sqrt(query.shape[-1])
        ).softmax(-1)
        out.append(w @ value[..., lo:hi, :])
    return torch.cat(out, dim=-2)
""",
    ),
    Right(
        "local",
        "online chunks of 8 in double",
        """\
def window_attention(query, key, value, window, causal=False):
    n, dtype = query.shape[-2], query.dtype
    q, k, v = (t.double() for t in (query, key, value))
    out = []
    for s in range(0, n, 8):
        e = min(s + 8, n)
        lo, hi = max(0, s - window), e if causal else min(n, e + window)
        d = torch.arange(s, e)[:, None] - torch.arange(lo, hi)
        see = (d >= 0) & (d < window) if causal else d.abs() <= window
        a = (
            torch.einsum("...qd,...kd->...qk", q[..., s:e, :], k[..., lo:hi, :])
            / k.shape[-1] ** 0.5
        )
        out.append(
            a.masked_fill(~see, -math.inf).log_softmax(-1).exp()
            @ v[..., lo:hi, :]
        )
    return torch.cat(out, -2).to(dtype)
""",
    ),
    Right(
        "pattern",
        "any of generator",
        """\
def _linked(i, j, window, stride, num_global):
    gap = abs(i - j)
    return any(
        (
            gap <= window,
            stride > 0 and gap % max(stride, 1) == 0,
            min(i, j) < num_global,
        )
    )


def seen_blocks(block, blocks, window, stride, num_global):
    return [
        j
        for j in reversed(range(blocks))
        if _linked(block, j, window, stride, num_global)
    ]


def pattern_mask(tokens, block_size, window, stride, num_global):
    return torch.tensor(
        [
            [
                _linked(
                    i // block_size, j // block_size, window, stride, num_global
                )
                for j in range(tokens)
            ]
            for i in range(tokens)
        ]
    )
""",
    ),
    Right(
        "sparse",
        "logsumexp",
        """\
def sparse_attention(query, key, value, block_size, window, stride, num_global):
    n, outs = query.shape[-2], []
    blocks = math.ceil(n / block_size)
    for b in range(blocks):
        seen = seen_blocks(b, blocks, window, stride, num_global)
        p = torch.cat(
            [
                torch.arange(j * block_size, min(n, (j + 1) * block_size))
                for j in seen
            ]
        )
        q = query[..., b * block_size : (b + 1) * block_size, :]
        s = (
            torch.einsum("...qd,...kd->...qk", q, key.index_select(-2, p))
            * q.shape[-1] ** -0.5
        )
        outs.append(
            (s - s.logsumexp(-1, True)).exp() @ value.index_select(-2, p)
        )
    return torch.cat(outs, -2)
""",
    ),
    Right(
        "costs",
        "tensors numel",
        """\
def largest_tensor(heads, tokens, width, window):
    meta = lambda *s: torch.empty(*s, device="meta").numel()
    o, b = meta(heads, tokens, width), -(-tokens // window)
    return {
        "fused, causal": o,
        "written out": max(o, meta(heads, tokens, tokens)),
        "fused, masked": max(o, meta(tokens, tokens)),
        "in blocks": max(
            meta(heads, b, window, 2 * window),
            meta(heads, b, 2 * window, width),
        ),
    }
""",
    ),
    Right(
        "timing",
        "backwards",
        """\
def time_in_turns(jobs, repeats=5, clock=time.process_time):
    def once(job):
        start = clock()
        job()
        return clock() - start

    [job() for job in jobs.values()]
    rounds = [[once(job) for job in jobs.values()] for _ in range(repeats)]
    return dict(zip(jobs, map(statistics.median, zip(*rounds))))


def crossover(lengths, ours, theirs):
    found = None
    for n, a, b in list(zip(lengths, ours, theirs))[::-1]:
        if not a < b:
            break
        found = n
    return found
""",
    ),
    Right(
        "quality",
        "einops-like views",
        """\
def reach(layers, window):
    return layers * (window - 1)


class LocalLayer(nn.Module):
    def __init__(self, width, heads, window):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.maps = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.heads, self.window = heads, window

    def forward(self, x):
        b, n, w = x.shape
        q, k, v = (
            self.maps(self.norm(x))
            .view(b, n, 3, self.heads, w // self.heads)
            .permute(2, 0, 3, 1, 4)
        )
        o = window_attention(q, k, v, self.window, True)
        return self.out(o.permute(0, 2, 1, 3).reshape(b, n, w)).add(x)
""",
    ),
]
