"""Answers to exercise 5 of people who did it, right and wrong."""

from tests.exercises.answers import Right, Wrong

WRONG = [
    Wrong(
        "mask",
        "window short on both sides, own key left out",
        (0, 1),
        "own key left out",
        code="""\
def local_mask(tokens, window, causal=False):
    i = torch.arange(tokens)
    behind = i[:, None] - i[None, :]
    mask = behind.abs() < window
    if causal:
        mask = mask & (behind > 0)
    return mask
""",
    ),
    Wrong(
        "sparse",
        "the last block taken for full",
        (1, 2),
        "last block taken for full",
        code="""\
def sparse_attention(query, key, value, block_size, window, stride, num_global):
    n = query.shape[-2]
    blocks = -(-n // block_size)
    out = []
    for b in range(blocks):
        q = query[..., b * block_size : (b + 1) * block_size, :]
        p = torch.cat(
            [
                torch.arange(j * block_size, (j + 1) * block_size)
                for j in seen_blocks(b, blocks, window, stride, num_global)
            ]
        )
        out.append(
            scaled_dot_product_attention(q, key[..., p, :], value[..., p, :])[0]
        )
    return torch.cat(out, -2)
""",
    ),
    Wrong(
        "sparse",
        "the last token again and again",
        (1, 2),
        "last token read again",
        code="""\
def sparse_attention(query, key, value, block_size, window, stride, num_global):
    n = query.shape[-2]
    blocks = -(-n // block_size)
    out = []
    for b in range(blocks):
        q = query[..., b * block_size : (b + 1) * block_size, :]
        p = torch.cat(
            [
                torch.arange(j * block_size, (j + 1) * block_size)
                for j in seen_blocks(b, blocks, window, stride, num_global)
            ]
        ).clamp(max=n - 1)
        out.append(
            scaled_dot_product_attention(q, key[..., p, :], value[..., p, :])[0]
        )
    return torch.cat(out, -2)
""",
    ),
    Wrong(
        "sparse",
        "masked after the softmax",
        (0, 1, 2, 3),
        "masked after the softmax",
        code="""\
def sparse_attention(query, key, value, block_size, window, stride, num_global):
    n = query.shape[-2]
    m = pattern_mask(n, block_size, window, stride, num_global)
    w = (query @ key.mT / math.sqrt(query.shape[-1])).softmax(-1) * m
    return w @ value
""",
    ),
    Wrong(
        "costs",
        "sums of tensors",
        (0, 1, 2),
        "more than the largest tensor",
        code="""\
def largest_tensor(heads, tokens, width, window):
    n = tokens
    o = heads * n * width
    return {
        "written out": 2 * heads * n * n + o,
        "fused, masked": n * n + o,
        "fused, causal": o,
        "in blocks": heads * math.ceil(n / window) * window * 2 * (window + width),
    }
""",
    ),
    Wrong(
        "costs",
        "bytes",
        (0, 1, 2),
        "bytes for numbers",
        code="""\
def largest_tensor(heads, tokens, width, window):
    n = tokens
    o = heads * n * width
    return {
        k: 4 * v
        for k, v in {
            "written out": max(o, heads * n * n),
            "fused, masked": max(o, n * n),
            "fused, causal": o,
            "in blocks": heads
            * math.ceil(n / window)
            * window
            * 2
            * max(window, width),
        }.items()
    }
""",
    ),
    Wrong(
        "timing",
        "warm-up among the repeats, and the last win",
        (0, 1, 3),
        "no warm-up",
        code="""\
def time_in_turns(jobs, repeats=5, clock=time.process_time):
    t = {n: [] for n in jobs}
    for _ in range(repeats + 1):
        for n, j in jobs.items():
            s = clock()
            j()
            t[n].append(clock() - s)
    return {n: statistics.median(v) for n, v in t.items()}


def crossover(lengths, ours, theirs):
    found = None
    for n, a, b in zip(lengths, ours, theirs):
        if a < b:
            found = n
    return found
""",
    ),
    Wrong(
        "local",
        "a loop with one key more",
        (0, 1, 3, 4),
        "one key too many",
        code="""\
def window_attention(query, key, value, window, causal=False):
    n, out = query.shape[-2], []
    for i in range(n):
        lo = max(0, i - window)
        hi = i + 1 if causal else i + window + 1
        w = (
            query[..., i : i + 1, :]
            @ key[..., lo:hi, :].mT
            / math.sqrt(query.shape[-1])
        ).softmax(-1)
        out.append(w @ value[..., lo:hi, :])
    return torch.cat(out, -2)
""",
    ),
]

RIGHT = [
    Right(
        "mask",
        "in a student's own style",
        """\
def local_mask(tokens, window, causal=False):
    full = torch.ones(tokens, tokens, dtype=torch.bool)
    if causal:
        return full.tril() & full.triu(-(window - 1))
    return full.tril(window) & full.triu(-window)
""",
    ),
    Right(
        "local",
        "in a student's own style",
        """\
def window_attention(query, key, value, window, causal=False):
    tokens = query.shape[-2]
    size = min(window, tokens)
    parts = []
    for begin in range(0, tokens, size):
        end = min(begin + size, tokens)
        low = max(0, begin - window)
        high = end if causal else min(tokens, end + window)
        i = torch.arange(begin, end, device=query.device)[:, None]
        j = torch.arange(low, high, device=query.device)
        gap = i - j
        see = ((gap >= 0) & (gap < window)) if causal else gap.abs() <= window
        k, v = key[..., low:high, :], value[..., low:high, :]
        scores = (
            query[..., begin:end, :] @ k.transpose(-1, -2) / math.sqrt(k.shape[-1])
        )
        weights = scores.masked_fill(~see, -torch.inf).softmax(-1)
        parts.append(weights @ v)
    return torch.cat(parts, dim=-2)
""",
    ),
    Right(
        "pattern",
        "in a student's own style",
        """\
def seen_blocks(block, blocks, window, stride, num_global):
    if block < num_global:
        return list(range(blocks))
    found = set(range(min(num_global, blocks)))
    found |= set(range(max(0, block - window), min(blocks, block + window + 1)))
    if stride:
        found |= set(range(block % stride, blocks, stride))
    return sorted(found)


def pattern_mask(tokens, block_size, window, stride, num_global):
    b = torch.arange(tokens) // block_size
    gap = (b[:, None] - b).abs()
    mask = gap <= window
    if stride:
        mask |= gap % stride == 0
    return mask | (b < num_global) | (b < num_global)[:, None]
""",
    ),
    Right(
        "sparse",
        "in a student's own style",
        """\
def sparse_attention(query, key, value, block_size, window, stride, num_global):
    tokens = query.shape[-2]
    blocks = -(-tokens // block_size)
    out = []
    for b in range(blocks):
        seen = seen_blocks(b, blocks, window, stride, num_global)
        cut = [slice(j * block_size, (j + 1) * block_size) for j in seen]
        k = torch.cat([key[..., s, :] for s in cut], dim=-2)
        v = torch.cat([value[..., s, :] for s in cut], dim=-2)
        q = query[..., b * block_size : (b + 1) * block_size, :]
        out.append(F.scaled_dot_product_attention(q, k, v))
    return torch.cat(out, dim=-2)
""",
    ),
    Right(
        "costs",
        "in a student's own style",
        """\
def largest_tensor(heads, tokens, width, window):
    n = tokens
    output = heads * n * width
    blocks = math.ceil(n / window)
    return {
        "written out": max(heads * n * n, output),
        "fused, masked": max(n * n, output),
        "fused, causal": output,
        "in blocks": heads * blocks * window * 2 * max(window, width),
    }
""",
    ),
    Right(
        "timing",
        "in a student's own style",
        """\
def time_in_turns(jobs, repeats=5, clock=time.process_time):
    for job in jobs.values():
        job()
    taken = {name: [] for name in jobs}
    for _ in range(repeats):
        for name, job in jobs.items():
            t = clock()
            job()
            taken[name] += [clock() - t]
    return {
        name: sorted(x)[len(x) // 2] if len(x) % 2 else statistics.median(x)
        for name, x in taken.items()
    }


def crossover(lengths, ours, theirs):
    for i, n in enumerate(lengths):
        if all(a < b for a, b in zip(ours[i:], theirs[i:])):
            return n
    return None
""",
    ),
]
