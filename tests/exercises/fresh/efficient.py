"""Answers to exercise 5 of a class that was made up for it, right and wrong."""

# ruff: noqa: E501  (students' lines are as long as they are)

from tests.exercises.answers import Right, Wrong

WRONG = [
    Wrong(
        "mask",
        "distance in both directions for causal",
        (0,),
        "two-sided in place of causal",
        code="""\
def local_mask(tokens, window, causal=False):
    i = torch.arange(tokens)
    m = (i[:, None] - i).abs() < window if causal else (i[:, None] - i).abs() <= window
    return m
""",
    ),
    Wrong(
        "mask",
        "causal by default",
        (1,),
        "sides of different length",
        code="""\
def local_mask(tokens, window, causal=True):
    i = torch.arange(tokens)
    b = i[:, None] - i
    return (b >= 0) & (b < window) if causal else b.abs() <= window
""",
    ),
    Wrong(
        "mask",
        "blocks for a window",
        (0, 1),
        "too old keys are seen",
        code="""\
def local_mask(tokens, window, causal=False):
    i = torch.arange(tokens) // window
    same = (i[:, None] - i).abs() <= 1
    return same.tril() if causal else same
""",
    ),
    Wrong(
        "mask",
        "the future window",
        (0,),
        "rows and columns exchanged",
        code="""\
def local_mask(tokens, window, causal=False):
    i = torch.arange(tokens)
    a = i - i[:, None]
    return (a >= 0) & (a < window) if causal else a.abs() <= window
""",
    ),
    Wrong(
        "mask",
        "or for and",
        (0,),
        "two-sided in place of causal",
        code="""\
def local_mask(tokens, window, causal=False):
    i = torch.arange(tokens)
    b = i[:, None] - i
    return (b >= 0) | (b < window) if causal else b.abs() <= window
""",
    ),
    Wrong(
        "mask",
        "window as rows",
        (0,),
        "one key too many",
        code="""\
def local_mask(tokens, window, causal=False):
    m = torch.ones(tokens, tokens, dtype=torch.bool).tril(window).triu(-window)
    return m.tril() if causal else m
""",
    ),
    Wrong(
        "local",
        "causal argument handed to the mask only",
        (2,),
        "causal in place of two-sided",
        change=(
            "mask = near & (j >= 0) & (j < tokens)",
            "mask = (j <= i) & (j > i - window) & (j >= 0) & (j < tokens)",
        ),
    ),
    Wrong(
        "local",
        "ceil forgotten",
        (1, 2, 4),
        "last tokens lost",
        change=(
            "math.ceil(tokens / size)",
            "tokens // size",
        ),
    ),
    Wrong(
        "local",
        "weights and output returned",
        (0, 1, 2, 3, 4, 5, 6),
        "wrong type",
        change=(
            "return output.flatten(-3, -2)[..., :tokens, :]",
            "return output.flatten(-3, -2)[..., :tokens, :], _",
        ),
    ),
    Wrong(
        "local",
        "global mean added to all",
        (0, 1, 2, 3, 4),
        "a number added to each column",
        change=(
            "return output.flatten(-3, -2)[..., :tokens, :]",
            "return output.flatten(-3, -2)[..., :tokens, :] + value.mean(-2, keepdim=True)",
        ),
    ),
    Wrong(
        "local",
        "a loop over queries, window on the left when two-sided",
        (2,),
        "distance too short by one",
        code="""\
def window_attention(query, key, value, window, causal=False):
    out = []
    for i in range(query.shape[-2]):
        lo, hi = max(0, i - window + 1), i + 1 if causal else i + window
        q = query[..., i : i + 1, :]
        out.append(scaled_dot_product_attention(q, key[..., lo:hi, :], value[..., lo:hi, :])[0])
    return torch.cat(out, -2)
""",
    ),
    Wrong(
        "local",
        "lower bound may be negative",
        (0, 1, 2, 3, 4),
        "queries that see no key",
        code="""\
def window_attention(query, key, value, window, causal=False):
    out = []
    for i in range(query.shape[-2]):
        lo = i - window + 1 if causal else i - window
        hi = i + 1 if causal else i + window + 1
        q = query[..., i : i + 1, :]
        out.append(scaled_dot_product_attention(q, key[..., lo:hi, :], value[..., lo:hi, :])[0])
    return torch.cat(out, -2)
""",
    ),
    Wrong(
        "local",
        "stacked, not joined",
        (0, 1, 2, 3, 5, 6),
        "wrong shape",
        code="""\
def window_attention(query, key, value, window, causal=False):
    out = []
    for i in range(query.shape[-2]):
        lo = max(0, i - window + 1 if causal else i - window)
        hi = i + 1 if causal else i + window + 1
        q = query[..., i, :][..., None, :]
        out.append(scaled_dot_product_attention(q, key[..., lo:hi, :], value[..., lo:hi, :])[0])
    return torch.stack(out, -2)
""",
    ),
    Wrong(
        "pattern",
        "and for or",
        (1, 3),
        "links of several rules missing",
        code="""\
def seen_blocks(block, blocks, window, stride, num_global):
    return [j for j in range(blocks) if (abs(block - j) <= window and (not stride or (block - j) % stride == 0)) or block < num_global or j < num_global]
""",
    ),
    Wrong(
        "pattern",
        "a set",
        (3,),
        "a type that the operation does not take",
        code="""\
def seen_blocks(block, blocks, window, stride, num_global):
    return {j for j in range(blocks) if abs(block - j) <= window or (stride and (block - j) % stride == 0) or min(block, j) < num_global}
""",
    ),
    Wrong(
        "pattern",
        "stride of zero links all",
        (0, 2, 3),
        "every block is seen",
        code="""\
def seen_blocks(block, blocks, window, stride, num_global):
    return [j for j in range(blocks) if abs(block - j) <= window or (block - j) % max(stride, 1) == 0 or min(block, j) < num_global]
""",
    ),
    Wrong(
        "pattern",
        "global ones at the end",
        (2, 3),
        "global blocks at the end",
        code="""\
def seen_blocks(block, blocks, window, stride, num_global):
    last = blocks - num_global
    return [j for j in range(blocks) if abs(block - j) <= window or (stride and (block - j) % stride == 0) or max(block, j) >= last]
""",
    ),
    Wrong(
        "pattern",
        "blocks rounded down in the mask",
        (3,),
        "last tokens lost",
        change=(
            "blocks = math.ceil(tokens / block_size)",
            "blocks = tokens // block_size",
        ),
    ),
    Wrong(
        "sparse",
        "outputs stacked",
        (0, 1, 2, 3),
        "wrong shape",
        change=(
            "torch.cat(outputs, dim=-2)",
            "torch.stack(outputs, dim=-2)",
        ),
    ),
    Wrong(
        "sparse",
        "joined along the batch",
        (1, 2, 3),
        "sizes that do not fit",
        change=(
            "torch.cat(outputs, dim=-2)",
            "torch.cat(outputs, dim=0)",
        ),
    ),
    Wrong(
        "costs",
        "window of all",
        (2,),
        "last block not filled up",
        change=(
            "heads * blocks * window * 2 * max(window, width)",
            "heads * tokens * 2 * max(window, width)",
        ),
    ),
    Wrong(
        "costs",
        "three inputs in the output",
        (0, 1),
        "more than the largest tensor",
        change=(
            "output = heads * tokens * width",
            "output = 3 * heads * tokens * width",
        ),
    ),
    Wrong(
        "costs",
        "causal is half",
        (1,),
        "another tensor",
        change=(
            '"fused, causal": output',
            '"fused, causal": output // 2',
        ),
    ),
    Wrong(
        "timing",
        "result of the warm-up called",
        (0, 1, 2),
        "None is used",
        change=(
            "    for job in jobs.values():\n        job()\n    seconds",
            "    jobs = {name: job() for name, job in jobs.items()}\n    seconds",
        ),
    ),
    Wrong(
        "timing",
        "last length before theirs wins",
        (3,),
        "the last loss",
        code="""\
def crossover(lengths, ours, theirs):
    best = None
    for n, a, b in zip(lengths, ours, theirs):
        if a > b:
            best = n
    return best
""",
    ),
    Wrong(
        "timing",
        "on average from there on",
        (3,),
        "sums compared",
        code="""\
def crossover(lengths, ours, theirs):
    for k, n in enumerate(lengths):
        if sum(ours[k:]) < sum(theirs[k:]):
            return n
    return None
""",
    ),
    Wrong(
        "quality",
        "window times layers plus one",
        (0,),
        "own place counted",
        change=(
            "return layers * (window - 1)",
            "return layers * (window - 1) + 1",
        ),
    ),
    Wrong(
        "quality",
        "power",
        (0,),
        "reaches multiplied",
        change=(
            "return layers * (window - 1)",
            "return (window - 1) ** layers",
        ),
    ),
    Wrong(
        "quality",
        "norm forgotten",
        (1,),
        "a layer that is never used",
        change=(
            "self.maps(self.norm(x))",
            "self.maps(x)",
        ),
    ),
    Wrong(
        "quality",
        "out forgotten",
        (1,),
        "a layer that is never used",
        change=(
            "return x + self.out(mixed.transpose(1, 2).flatten(-2))",
            "return x + mixed.transpose(1, 2).flatten(-2)",
        ),
    ),
    Wrong(
        "quality",
        "heads and tokens not exchanged",
        (1, 2),
        "nothing but the own token",
        change=(
            "split = (p.unflatten(-1, (self.heads, -1)).transpose(1, 2) for p in parts)\n        mixed = window_attention(*split, window=self.window, causal=True)\n        return x + self.out(mixed.transpose(1, 2).flatten(-2))",
            "split = (p.unflatten(-1, (self.heads, -1)) for p in parts)\n        mixed = window_attention(*split, window=self.window, causal=True)\n        return x + self.out(mixed.flatten(-2))",
        ),
    ),
    Wrong(
        "quality",
        "two-sided by default",
        (1,),
        "two-sided in place of causal",
        change=(
            "window=self.window, causal=True",
            "window=self.window",
        ),
    ),
    Wrong(
        "mask",
        "window counted in both directions at once",
        (1,),
        "window shared by the sides",
        code="""\
def local_mask(tokens, window, causal=False):
    i = torch.arange(tokens)
    b = i[:, None] - i
    return (b >= 0) & (b < window) if causal else b.abs() * 2 <= window
""",
    ),
    Wrong(
        "mask",
        "modulo of places",
        (0, 1),
        "too late keys are seen",
        code="""\
def local_mask(tokens, window, causal=False):
    i = torch.arange(tokens)
    b = (i[:, None] - i) % tokens
    return b < window if causal else (b <= window) | (b >= tokens - window)
""",
    ),
    Wrong(
        "local",
        "query scaled once more",
        (0, 1, 2, 3, 4),
        "wrong scale",
        change=(
            "parts = cut(query, 0, 0), with",
            "parts = cut(query / query.shape[-1] ** 0.5, 0, 0), with",
        ),
    ),
    Wrong(
        "pattern",
        "pattern causal",
        (3,),
        "causal in place of two-sided",
        change=(
            "    return stretched[:tokens, :tokens]",
            "    return stretched[:tokens, :tokens].tril()",
        ),
    ),
    Wrong(
        "costs",
        "mask counted for each head",
        (1,),
        "a mask for each head",
        change=(
            '"fused, masked": max(tokens**2, output)',
            '"fused, masked": max(heads * tokens**2, output)',
        ),
    ),
]
RIGHT = [
    Right(
        "mask",
        "by triangles",
        code="""\
def local_mask(tokens, window, causal=False):
    ones = torch.ones(tokens, tokens, dtype=torch.bool)
    return ones.tril().triu(1 - window) if causal else ones.tril(window).triu(-window)
""",
    ),
    Right(
        "local",
        "one query at a time",
        code="""\
def window_attention(query, key, value, window, causal=False):
    n = query.shape[-2]
    rows = []
    for i in range(n):
        part = slice(max(0, i - window + causal), i + 1 + (0 if causal else window))
        w = (key[..., part, :] @ query[..., i, :, None] / query.shape[-1] ** 0.5).softmax(-2)
        rows.append((w * value[..., part, :]).sum(-2))
    return torch.stack(rows, -2)
""",
    ),
    Right(
        "pattern",
        "a comprehension",
        code="""\
def seen_blocks(block, blocks, window, stride, num_global):
    return [j for j in range(blocks) if abs(block - j) <= window or (stride > 0 and (block - j) % stride == 0) or min(block, j) < num_global]
""",
    ),
    Right(
        "timing",
        "numpy median, backwards",
        code="""\
def crossover(lengths, ours, theirs):
    found = None
    for n, a, b in reversed(list(zip(lengths, ours, theirs))):
        if a >= b:
            break
        found = n
    return found
""",
    ),
    Right(
        "quality",
        "by view and permute",
        code="""\
class LocalLayer(nn.Module):
    def __init__(self, width, heads, window):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.maps = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.heads, self.window = heads, window
    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.maps(self.norm(x)).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = window_attention(q, k, v, self.window, True)
        return self.out(y.permute(0, 2, 1, 3).reshape(b, n, d)) + x
""",
    ),
]
