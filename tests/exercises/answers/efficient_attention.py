"""Answers to exercise 5 that are unlike each other."""

ONE_QUERY_AT_A_TIME = """
def window_attention(q, k, v, window, causal=False):
    n, {start}
    for i in range(n):
        low = max(0, i - window + (1 if causal else 0))
        high = i + 1 if causal else min(n, i + window + 1)
        local_attention = q[..., i : i + 1, :] @ k[..., low:high, :].mT
        weights = (local_attention / math.sqrt(q.shape[-1])).softmax(-1)
        {collect}
    return {result}
"""
BLOCKS = """
def seen_blocks(i, n, w, s, g):
    near = {{j for j in range(n) if abs(i - j) <= w}}
    far = {{j for j in range(n) if s and (i - j) % s == 0}}
    return near | far | set(range(n) if i < g else range(min(g, n)))


def sparse_attention(q, k, v, block_size, window, stride, num_global):
    n, out = q.shape[-2], []
    for start in range(0, n, block_size):
        count = -(-n // block_size)
        seen = seen_blocks(start // block_size, count, window, stride, num_global)
        parts = [(b * block_size, min(n, (b + 1) * block_size)) for b in seen]
        keys = torch.cat([k[..., a:b, :] for a, b in parts], -2)
        values = torch.cat([v[..., a:b, :] for a, b in parts], -2)
        {more}
        scores = q[..., start : start + block_size, :] @ keys.mT / q.shape[-1] ** 0.5
        out.append({weights} @ values)
    return torch.cat(out, -2)
"""
PADDED = """pad = (0, 0, 0, n - keys.shape[-2])
        hidden = torch.arange(n) >= keys.shape[-2]
        keys, values = F.pad(keys, pad), F.pad(values, pad)"""
CROSSOVER = """
def crossover(lengths, ours, theirs):
    report = None
    for n, a, b in zip(reversed(lengths), reversed(ours), reversed(theirs)):
        if a >= b:
            return report
        report = n
    return report
"""
SHARES = """
def reach(layers, window):
    return layers * window - layers


def accuracy_by_distance(model, symbols, distances):
    was = model.training
    {before}
    counts = {{d: [0, 0] for d in distances}}
    for row in symbols:
        guesses = model(row[None])[0].argmax(-1).tolist()
        for k, d in enumerate(distances):
            for t in range({first}, len(row)):
                counts[d][0] += guesses[t][k] == row[t - d].item()
                counts[d][1] += 1
    {after}
    return {{d: right / asked for d, (right, asked) in counts.items()}}
"""

COSTS = """
def largest_tensor(h, n, d, w):
    return dict([
        ("naive", h * n * max(n, d)), ("fused, masked", n * max(n, h * d)),
        ("fused, causal", h * n * d), ("in blocks", h * {blocks} * w * 2 * max(w, d)),
    ])
"""

WRONG = {
    "local": {
        "the output grows in the loop": (
            ONE_QUERY_AT_A_TIME.format(
                start="out = q.shape[-2], v[..., :0, :]",
                collect="out = torch.cat([out, weights @ v[..., low:high, :]], -2)",
                result="out",
            ),
            "is copied by each torch.cat",
        ),
        "NumPy": (
            "import numpy as np\n"
            "def window_attention(query, key, value, window, causal=False):\n"
            "    mask = torch.from_numpy(np.tri(query.shape[-2], dtype=bool))\n"
            "    return scaled_dot_product_attention(query, key, value, mask)[0]",
            "uses numpy, which this task rules out",
        ),
        "a copy of its keys for every query": (
            "def window_attention(q, k, v, window, causal=False):\n"
            "    n = q.shape[-2]\n"
            "    near = torch.arange(1 - window if causal else -window, 1 + window)\n"
            "    near = near[near <= 0] if causal else near\n"
            "    j = torch.arange(n)[:, None] + near\n"
            "    keys, values = (x[..., j.clamp(0, n - 1), :] for x in (k, v))\n"
            "    q = q / q.shape[-1] ** 0.5\n"
            "    s = torch.einsum('...id,...ijd->...ij', q, keys)\n"
            "    w = s.masked_fill((j < 0) | (j >= n), -math.inf).softmax(-1)\n"
            "    return torch.einsum('...ij,...ijd->...id', w, values)",
            "neighbouring queries see almost the same keys",
        ),
    },
    "sparse": {
        "the stride counted from the edge of the window": (
            BLOCKS.format(more="", weights="scores.softmax(-1)").replace(
                "(i - j) % s", "(abs(i - j) - w) % s"
            ),
            "not yet each block of queries sees the blocks of the pattern",
        ),
        "all rows padded to the length of the global block's": (
            BLOCKS.format(
                more=PADDED, weights="scores.masked_fill(hidden, -math.inf).softmax(-1)"
            ),
            "made whose number grows with n²",
        ),
        "the weights are not normalised": (
            BLOCKS.format(more="", weights="(scores - scores.amax()).exp()"),
            "not yet each block of queries sees the blocks of the pattern",
        ),
        "an output that grows in the loop": (
            BLOCKS.format(more="", weights="scores.softmax(-1)")
            .replace("out = q.shape[-2], []", "out = q.shape[-2], v[..., :0, :]")
            .replace("out.append(", "out = torch.cat([out, ")
            .replace("@ values)", "@ values], -2)")
            .replace("return torch.cat(out, -2)", "return out"),
            "not yet all tensors added up grow with n",
        ),
    },
    "costs": {
        "one window of keys": (
            "def largest_tensor(heads, tokens, width, window):\n"
            "    output, scores = heads * tokens * width, heads * tokens * tokens\n"
            "    copied = heads * tokens * width\n"
            "    return {'naive': max(output, scores), 'fused, causal': output,\n"
            "            'fused, masked': max(output, tokens * tokens), 'in blocks':\n"
            "            max(copied, 2 * heads * tokens * window)}",
            "not yet in blocks",
        ),
        "a float": (
            COSTS.format(blocks="(n / w)"),
            "should have the type int; it has float",
        ),
    },
    "crossover": {
        "equal times are faster": (
            CROSSOVER.replace("a >= b", "a > b"),
            "Equal times count as faster",
        ),
    },
    "quality": {
        "dropout left on": (
            SHARES.format(before="pass", first="d", after="pass"),
            "in the mode in which it comes",
        ),
        "the first positions dropped for all": (
            SHARES.format(
                before="model.eval()",
                first="max(distances)",
                after="model.train(was)",
            ),
            "at which every distance has an answer",
        ),
    },
}

RIGHT = {
    "local": {
        "one query at a time, a local name like the package's": (
            ONE_QUERY_AT_A_TIME.format(
                start="out = q.shape[-2], []",
                collect="out.append(weights @ v[..., low:high, :])",
                result="torch.cat(out, -2)",
            )
        ),
    },
    "sparse": {
        "slices joined, softmax by hand": BLOCKS.format(
            more="", weights="scores.softmax(-1)"
        ),
    },
    "costs": {
        "blocks rounded up": COSTS.format(blocks="-(-n // w)"),
    },
    "crossover": {"from the longest, a local name `report`": CROSSOVER},
    "quality": {
        "one sequence and one position at a time": SHARES.format(
            before="model.eval()", first="d", after="model.train(was)"
        ),
    },
}
