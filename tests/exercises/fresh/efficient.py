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
        "mask turned round",
        (0, 1, 3, 4, 5),
        "other keys than those of the window",
        change=(
            "near = (j <= i) & (j > i - window) if causal else (i - j).abs() <= window",
            "near = (j >= i) & (j < i + window) if causal else (i - j).abs() <= window",
        ),
    ),
    Wrong(
        "local",
        "values of the block for neighbours'",
        (0, 1, 2, 3, 4, 5, 6),
        "queries, keys and values exchanged",
        change=(
            "parts = cut(query, 0, 0), with_neighbours(key), with_neighbours(value)",
            "parts = cut(query, 0, 0), with_neighbours(key), with_neighbours(key)",
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
        "local",
        "half precision to save memory",
        (0, 1, 2, 3, 4),
        "not exact",
        change=(
            "output, _ = scaled_dot_product_attention(*parts, mask)",
            "output, _ = scaled_dot_product_attention(*(p.bfloat16() for p in parts), mask)\n    output = output.to(value.dtype)",
        ),
    ),
    Wrong(
        "pattern",
        "stride counted over near blocks",
        (1, 3),
        "stride to one side only",
        change=(
            "range(block % stride, blocks, stride)",
            "range(block % stride, block, stride)",
        ),
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
        "pattern",
        "mask by tokens, window in tokens",
        (3,),
        "rule of blocks asked of tokens",
        code="""\
def pattern_mask(tokens, block_size, window, stride, num_global):
    i = torch.arange(tokens)
    d = (i[:, None] - i).abs()
    m = d <= window
    if stride:
        m = m | (d % stride == 0)
    g = i < num_global
    return m | g | g[:, None]
""",
    ),
    Wrong(
        "sparse",
        "the first block of the list only",
        (0, 1, 2),
        "only the first block of the list",
        change=(
            "        places = places[places < tokens]  # the last block may be short",
            "        places = places[0][places[0] < tokens]",
        ),
    ),
    Wrong(
        "sparse",
        "values from the beginning",
        (0, 1, 2, 3),
        "",
        change=(
            "key[..., places, :], value[..., places, :]",
            "key[..., places, :], value[..., : len(places), :]",
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
        "sparse",
        "window and stride exchanged",
        (0, 1, 2, 3),
        "too many blocks are seen",
        change=(
            "seen = seen_blocks(block, blocks, window, stride, num_global)",
            "seen = seen_blocks(block, blocks, stride, window, num_global)",
        ),
    ),
    Wrong(
        "sparse",
        "causal inside the block",
        (0, 1, 2),
        "causal in place of two-sided",
        change=(
            "        outputs.append(scaled_dot_product_attention(own, keys, values)[0])",
            "        rows = block * block_size + torch.arange(own.shape[-2])\n        outputs.append(scaled_dot_product_attention(own, keys, values, places <= rows[:, None])[0])",
        ),
    ),
    Wrong(
        "costs",
        "tokens and width exchanged",
        (1,),
        "",
        change=(
            '"fused, masked": max(tokens**2, output)',
            '"fused, masked": max(width**2, output)',
        ),
    ),
    Wrong(
        "costs",
        "padded output forgotten the factor two",
        (2,),
        "blocks forgotten for the keys",
        change=(
            "heads * blocks * window * 2 * max(window, width)",
            "heads * blocks * window * max(2 * window, width)",
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
        "stops the clock before the job",
        (0, 1, 2),
        "another clock",
        change=(
            "            start = clock()\n            job()\n            seconds[name].append(clock() - start)",
            "            start = clock()\n            seconds[name].append(clock() - start)\n            job()",
        ),
    ),
    Wrong(
        "timing",
        "one repeat more",
        (1,),
        "another number of repeats",
        change=(
            "for _ in range(repeats):",
            "for _ in range(repeats + 1):",
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
        "rounded to milliseconds",
        (0,),
        "rounded",
        change=(
            "statistics.median(taken)",
            "round(statistics.median(taken), 3)",
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
        "timing",
        "minus one for none",
        (3,),
        "no length of the race",
        change=(
            "    found = None\n    for n, our",
            "    found = -1\n    for n, our",
        ),
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
        "residual of the normed",
        (1,),
        "the normed input added",
        change=(
            "return x + self.out(",
            "return self.norm(x) + self.out(",
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
        "output normalised",
        (0, 1, 2, 3, 4),
        "not a mean of values",
        change=(
            "return output.flatten(-3, -2)[..., :tokens, :]",
            "return F.layer_norm(output.flatten(-3, -2)[..., :tokens, :], value.shape[-1:])",
        ),
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
        "local",
        "values not shifted along with keys",
        (0, 1, 2, 3, 4, 5, 6),
        "other keys than those of the window",
        change=(
            "with_neighbours(key), with_neighbours(value)",
            "with_neighbours(key), with_neighbours(value.roll(1, -2))",
        ),
    ),
    Wrong(
        "pattern",
        "global list replaces the rest",
        (2, 3),
        "no window",
        change=(
            "    near = range(max",
            "    if num_global:\n        return list(range(num_global))\n    near = range(max",
        ),
    ),
    Wrong(
        "pattern",
        "window of tokens rounded up",
        (0, 1, 2, 3),
        "window too long by one",
        change=(
            "near = range(max(block - window, 0), min(block + window + 1, blocks))",
            "near = range(max(block - window - 1, 0), min(block + window + 2, blocks))",
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
        "sparse",
        "scores divided by the number of blocks",
        (0, 1, 2),
        "scaled by the number of blocks",
        change=(
            "outputs.append(scaled_dot_product_attention(own, keys, values)[0])",
            "outputs.append(scaled_dot_product_attention(own / len(seen), keys, values)[0])",
        ),
    ),
    Wrong(
        "sparse",
        "mean of the values of the blocks",
        (0, 1, 2, 3),
        "scores make no difference",
        change=(
            "outputs.append(scaled_dot_product_attention(own, keys, values)[0])",
            "outputs.append(values.mean(-2, keepdim=True).expand(*own.shape[:-1], -1))",
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
    Wrong(
        "costs",
        "blocks overlap by one",
        (2,),
        "blocks counted wrongly",
        change=(
            "blocks = math.ceil(tokens / window)",
            "blocks = tokens // window + 1",
        ),
    ),
    Wrong(
        "timing",
        "clock read once for all jobs of a round",
        (0, 1, 2),
        "clock read once for a round",
        change=(
            "        for name, job in jobs.items():\n            start = clock()\n            job()\n            seconds",
            "        start = clock()\n        for name, job in jobs.items():\n            job()\n            seconds",
        ),
    ),
    Wrong(
        "timing",
        "middle by position, unsorted",
        (1,),
        "the middle call, not the middle time",
        change=(
            "statistics.median(taken)",
            "taken[len(taken) // 2]",
        ),
    ),
    Wrong(
        "timing",
        "crossover of the sums so far",
        (3,),
        "sums compared",
        code="""\
def crossover(lengths, ours, theirs):
    found, a, b = None, 0, 0
    for n, x, y in zip(lengths, ours, theirs):
        a, b = a + x, b + y
        found = (found or n) if a < b else None
    return found
""",
    ),
    Wrong(
        "quality",
        "residual twice",
        (1,),
        "the input added with a factor",
        change=(
            "return x + self.out(",
            "return x + x + self.out(",
        ),
    ),
    Wrong(
        "quality",
        "reach without the layer below",
        (0,),
        "one layer forgotten",
        change=(
            "return layers * (window - 1)",
            "return (layers - 1) * (window - 1)",
        ),
    ),
    Wrong(
        "local",
        "counting switched off around the scores",
        (0, 1, 2, 3, 4, 5, 6),
        "forbidden function",
        code="""\
def window_attention(query, key, value, window, causal=False):
    from torch.utils._python_dispatch import _disable_current_modes
    n = query.shape[-2]
    with _disable_current_modes():
        i = torch.arange(n)
        b = i[:, None] - i
        mask = (b >= 0) & (b < window) if causal else b.abs() <= window
        scores = (query @ key.mT / query.shape[-1] ** 0.5).masked_fill(~mask, -math.inf)
        return scores.softmax(-1) @ value
""",
    ),
    Wrong(
        "local",
        "counting switched off through the module",
        (0, 1, 2, 3, 4, 5, 6),
        "forbidden function",
        code="""\
import torch.utils._python_dispatch as quiet


def window_attention(query, key, value, window, causal=False):
    n = query.shape[-2]
    with quiet._disable_current_modes():
        mask = local_mask(n, window, causal)
        scores = (query @ key.mT / query.shape[-1] ** 0.5).masked_fill(~mask, -math.inf)
        return scores.softmax(-1) @ value
""",
    ),
    Wrong(
        "local",
        "a mask kept from an earlier call",
        (5, 6),
        "n × n numbers are made",
        code="""\
KEPT = {}


def window_attention(query, key, value, window, causal=False):
    n = query.shape[-2]
    at = n, window, causal
    if at not in KEPT:
        KEPT[at] = local_mask(n, window, causal)
    return F.scaled_dot_product_attention(query, key, value, attn_mask=KEPT[at])
""",
    ),
    Wrong(
        "sparse",
        "counting switched off",
        (0, 1, 2, 3),
        "forbidden function",
        code="""\
from torch.utils._python_dispatch import _disable_current_modes as quietly


def sparse_attention(query, key, value, block_size, window, stride, num_global):
    with quietly():
        mask = pattern_mask(query.shape[-2], block_size, window, stride, num_global)
        return scaled_dot_product_attention(query, key, value, mask)[0]
""",
    ),
    Wrong(
        "mask",
        "window rounded up to an odd number",
        (1,),
        "window too short, or moved",
        code="""\
def local_mask(tokens, window, causal=False):
    i = torch.arange(tokens)
    d = i[:, None] - i[None]
    if causal:
        return (d >= 0) & (d < window)
    return d.abs() <= (window - 1) // 2
""",
    ),
    Wrong(
        "mask",
        "causal window beside the own key",
        (0,),
        "one key too many",
        code="""\
def local_mask(tokens, window, causal=False):
    i = torch.arange(tokens)
    d = i[:, None] - i[None]
    return (d >= 0) & (d <= window) if causal else d.abs() <= window
""",
    ),
    Wrong(
        "mask",
        "own key hidden",
        (0,),
        "own key left out",
        code="""\
def local_mask(tokens, window, causal=False):
    i = torch.arange(tokens)
    d = i[:, None] - i[None]
    return (d > 0) & (d <= window) if causal else d.abs() <= window
""",
    ),
    Wrong(
        "mask",
        "window beyond the sequence",
        (0,),
        "one key too few",
        code="""\
def local_mask(tokens, window, causal=False):
    window = min(window, tokens - 1)
    i = torch.arange(tokens)
    d = i[:, None] - i[None]
    return (d >= 0) & (d < window) if causal else d.abs() <= window
""",
    ),
    Wrong(
        "mask",
        "first rows filled up",
        (0,),
        "too late keys are seen",
        code="""\
def local_mask(tokens, window, causal=False):
    mask = torch.zeros(tokens, tokens, dtype=torch.bool)
    for i in range(tokens):
        if causal:
            start = max(0, i - window + 1)
            mask[i, start:start + window] = True
        else:
            mask[i, max(0, i - window):i + window + 1] = True
    return mask
""",
    ),
    Wrong(
        "local",
        "each block by itself, in a loop",
        (0, 1, 2, 3, 4),
        "only the own block",
        code="""\
def window_attention(query, key, value, window, causal=False):
    n = query.shape[-2]
    outs = []
    for s in range(0, n, window):
        q, k, v = (x[..., s:s + window, :] for x in (query, key, value))
        m = local_mask(q.shape[-2], window, causal)
        outs.append(scaled_dot_product_attention(q, k, v, m)[0])
    return torch.cat(outs, -2)
""",
    ),
    Wrong(
        "local",
        "neighbour without the band",
        (0, 1, 2, 3, 4),
        "too old keys are seen",
        code="""\
def window_attention(query, key, value, window, causal=False):
    n = query.shape[-2]
    outs = []
    for s in range(0, n, window):
        lo, hi = max(0, s - window), min(n, s + window + (0 if causal else window))
        i = torch.arange(s, min(n, s + window))[:, None]
        j = torch.arange(lo, hi)
        m = j <= i if causal else torch.ones(len(i), len(j), dtype=torch.bool)
        outs.append(scaled_dot_product_attention(query[..., s:s + window, :], key[..., lo:hi, :], value[..., lo:hi, :], m)[0])
    return torch.cat(outs, -2)
""",
    ),
    Wrong(
        "local",
        "two-sided window halved",
        (2,),
        "window too short, or moved",
        code="""\
def window_attention(query, key, value, window, causal=False):
    n = query.shape[-2]
    outs = []
    for i in range(n):
        lo = max(0, i - window + 1) if causal else max(0, i - window // 2)
        hi = i + 1 if causal else min(n, i + window // 2 + 1)
        outs.append(scaled_dot_product_attention(query[..., i:i + 1, :], key[..., lo:hi, :], value[..., lo:hi, :])[0])
    return torch.cat(outs, -2)
""",
    ),
    Wrong(
        "local",
        "padded keys seen",
        (2,),
        "weight that goes to no key",
        code="""\
def window_attention(query, key, value, window, causal=False):
    n = query.shape[-2]
    fill = -n % window
    q, k, v = (F.pad(x, (0, 0, 0, fill)) for x in (query, key, value))
    outs = []
    for s in range(0, n + fill, window):
        lo, hi = max(0, s - window), min(n + fill, s + window + (0 if causal else window))
        d = torch.arange(s, s + window)[:, None] - torch.arange(lo, hi)
        m = (d >= 0) & (d < window) if causal else d.abs() <= window
        outs.append(scaled_dot_product_attention(q[..., s:s + window, :], k[..., lo:hi, :], v[..., lo:hi, :], m)[0])
    return torch.cat(outs, -2)[..., :n, :]
""",
    ),
    Wrong(
        "local",
        "values of the block only",
        (0, 1, 2, 3, 4, 5, 6),
        "other keys than those of the window",
        code="""\
def window_attention(query, key, value, window, causal=False):
    n = query.shape[-2]
    outs = []
    for i in range(n):
        lo = max(0, i - window + 1) if causal else max(0, i - window)
        hi = i + 1 if causal else min(n, i + window + 1)
        w = (query[..., i:i + 1, :] @ key[..., lo:hi, :].transpose(-1, -2) / math.sqrt(query.shape[-1])).softmax(-1)
        outs.append(w @ value[..., 0:hi - lo, :])
    return torch.cat(outs, -2)
""",
    ),
    Wrong(
        "local",
        "width of the values in the scale",
        (3,),
        "scaled by the width of the values",
        code="""\
def window_attention(query, key, value, window, causal=False):
    n = query.shape[-2]
    outs = []
    for i in range(n):
        lo = max(0, i - window + 1) if causal else max(0, i - window)
        hi = i + 1 if causal else min(n, i + window + 1)
        w = (query[..., i:i + 1, :] @ key[..., lo:hi, :].transpose(-1, -2) / math.sqrt(value.shape[-1])).softmax(-1)
        outs.append(w @ value[..., lo:hi, :])
    return torch.cat(outs, -2)
""",
    ),
    Wrong(
        "local",
        "a band from the full scores",
        (5, 6),
        "n × n numbers are made",
        code="""\
def window_attention(query, key, value, window, causal=False):
    n = query.shape[-2]
    s = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])
    s = s.masked_fill(~local_mask(n, window, causal), -math.inf)
    return s.softmax(-1) @ value
""",
    ),
    Wrong(
        "pattern",
        "stride counted from the start",
        (1, 3),
        "stride counted from the beginning",
        code="""\
def seen_blocks(block, blocks, window, stride, num_global):
    return [j for j in range(blocks) if abs(block - j) <= window or (stride and j % stride == 0) or j < num_global or block < num_global]


def pattern_mask(tokens, block_size, window, stride, num_global):
    blocks = math.ceil(tokens / block_size)
    m = torch.zeros(blocks, blocks, dtype=torch.bool)
    for i in range(blocks):
        m[i, seen_blocks(i, blocks, window, stride, num_global)] = True
    return m.repeat_interleave(block_size, 0).repeat_interleave(block_size, 1)[:tokens, :tokens]
""",
    ),
    Wrong(
        "pattern",
        "window strict",
        (0, 1, 2, 3),
        "window too short by one",
        code="""\
def seen_blocks(block, blocks, window, stride, num_global):
    return [j for j in range(blocks) if abs(block - j) < window or (stride and abs(block - j) % stride == 0) or j < num_global or block < num_global]


def pattern_mask(tokens, block_size, window, stride, num_global):
    blocks = math.ceil(tokens / block_size)
    m = torch.zeros(blocks, blocks, dtype=torch.bool)
    for i in range(blocks):
        m[i, seen_blocks(i, blocks, window, stride, num_global)] = True
    return m.repeat_interleave(block_size, 0).repeat_interleave(block_size, 1)[:tokens, :tokens]
""",
    ),
    Wrong(
        "pattern",
        "one stride only",
        (1,),
        "only the first stride",
        code="""\
def seen_blocks(block, blocks, window, stride, num_global):
    return [j for j in range(blocks) if abs(block - j) <= window or (stride and abs(block - j) == stride) or j < num_global or block < num_global]


def pattern_mask(tokens, block_size, window, stride, num_global):
    blocks = math.ceil(tokens / block_size)
    m = torch.zeros(blocks, blocks, dtype=torch.bool)
    for i in range(blocks):
        m[i, seen_blocks(i, blocks, window, stride, num_global)] = True
    return m.repeat_interleave(block_size, 0).repeat_interleave(block_size, 1)[:tokens, :tokens]
""",
    ),
    Wrong(
        "pattern",
        "tokens in place of blocks in the mask",
        (3,),
        "rule of blocks asked of tokens",
        code="""\
def seen_blocks(block, blocks, window, stride, num_global):
    return [j for j in range(blocks) if abs(block - j) <= window or (stride and (block - j) % stride == 0) or j < num_global or block < num_global]


def pattern_mask(tokens, block_size, window, stride, num_global):
    m = torch.zeros(tokens, tokens, dtype=torch.bool)
    for i in range(tokens):
        m[i, seen_blocks(i, tokens, window * block_size, stride * block_size, num_global * block_size)] = True
    return m
""",
    ),
    Wrong(
        "pattern",
        "columns tiled",
        (3,),
        "rows and columns of blocks interleaved",
        code="""\
def seen_blocks(block, blocks, window, stride, num_global):
    return [j for j in range(blocks) if abs(block - j) <= window or (stride and (block - j) % stride == 0) or j < num_global or block < num_global]


def pattern_mask(tokens, block_size, window, stride, num_global):
    blocks = math.ceil(tokens / block_size)
    m = torch.zeros(blocks, blocks, dtype=torch.bool)
    for i in range(blocks):
        m[i, seen_blocks(i, blocks, window, stride, num_global)] = True
    return m.repeat_interleave(block_size, 0).repeat(1, block_size)[:tokens, :tokens]
""",
    ),
    Wrong(
        "sparse",
        "softmax for each block of keys",
        (0, 1, 2),
        "softmax of each block by itself",
        code="""\
def sparse_attention(query, key, value, block_size, window, stride, num_global):
    n = query.shape[-2]
    blocks = math.ceil(n / block_size)
    outs = []
    for b in range(blocks):
        q = query[..., b * block_size:(b + 1) * block_size, :]
        seen = seen_blocks(b, blocks, window, stride, num_global)
        parts = [scaled_dot_product_attention(q, key[..., j * block_size:(j + 1) * block_size, :], value[..., j * block_size:(j + 1) * block_size, :])[0] for j in seen]
        outs.append(sum(parts) / len(parts))
    return torch.cat(outs, -2)
""",
    ),
    Wrong(
        "sparse",
        "block numbers as positions",
        (0, 1, 2, 3),
        "numbers of blocks as positions",
        code="""\
def sparse_attention(query, key, value, block_size, window, stride, num_global):
    n = query.shape[-2]
    blocks = math.ceil(n / block_size)
    outs = []
    for b in range(blocks):
        q = query[..., b * block_size:(b + 1) * block_size, :]
        seen = seen_blocks(b, blocks, window, stride, num_global)
        outs.append(scaled_dot_product_attention(q, key[..., seen, :], value[..., seen, :])[0])
    return torch.cat(outs, -2)
""",
    ),
    Wrong(
        "sparse",
        "last tokens dropped",
        (1, 2),
        "last tokens lost",
        code="""\
def sparse_attention(query, key, value, block_size, window, stride, num_global):
    n = query.shape[-2]
    blocks = n // block_size
    outs = []
    for b in range(blocks):
        q = query[..., b * block_size:(b + 1) * block_size, :]
        seen = seen_blocks(b, blocks, window, stride, num_global)
        places = [p for j in seen for p in range(j * block_size, (j + 1) * block_size)]
        outs.append(scaled_dot_product_attention(q, key[..., places, :], value[..., places, :])[0])
    return torch.cat(outs, -2)
""",
    ),
    Wrong(
        "sparse",
        "last place repeated",
        (1, 2),
        "last token read again",
        code="""\
def sparse_attention(query, key, value, block_size, window, stride, num_global):
    n = query.shape[-2]
    blocks = math.ceil(n / block_size)
    outs = []
    for b in range(blocks):
        q = query[..., b * block_size:(b + 1) * block_size, :]
        seen = seen_blocks(b, blocks, window, stride, num_global)
        places = [min(p, n - 1) for j in seen for p in range(j * block_size, (j + 1) * block_size)]
        outs.append(scaled_dot_product_attention(q, key[..., places, :], value[..., places, :])[0])
    return torch.cat(outs, -2)
""",
    ),
    Wrong(
        "costs",
        "blocks rounded the wrong way",
        (2,),
        "blocks counted wrongly",
        code="""\
def largest_tensor(heads, tokens, width, window):
    out = heads * tokens * width
    blocks = tokens // window + 1
    return {
        "written out": max(heads * tokens**2, out),
        "fused, masked": max(tokens**2, out),
        "fused, causal": out,
        "in blocks": heads * blocks * window * 2 * max(window, width),
    }
""",
    ),
    Wrong(
        "costs",
        "squared width",
        (0,),
        "another tensor",
        code="""\
def largest_tensor(heads, tokens, width, window):
    out = heads * tokens * width
    blocks = math.ceil(tokens / window)
    return {
        "written out": max(heads * tokens**2, heads * tokens * width**2),
        "fused, masked": max(tokens**2, out),
        "fused, causal": out,
        "in blocks": heads * blocks * window * 2 * max(window, width),
    }
""",
    ),
    Wrong(
        "costs",
        "half the scores for causal",
        (0,),
        "another tensor",
        code="""\
def largest_tensor(heads, tokens, width, window):
    out = heads * tokens * width
    blocks = math.ceil(tokens / window)
    return {
        "written out": max(heads * tokens * (tokens + 1) // 2, out),
        "fused, masked": max(tokens**2, out),
        "fused, causal": out,
        "in blocks": heads * blocks * window * 2 * max(window, width),
    }
""",
    ),
    Wrong(
        "costs",
        "keys and values beside each other",
        (2,),
        "keys and values in one",
        code="""\
def largest_tensor(heads, tokens, width, window):
    out = heads * tokens * width
    blocks = math.ceil(tokens / window)
    return {
        "written out": max(heads * tokens**2, out),
        "fused, masked": max(tokens**2, out),
        "fused, causal": out,
        "in blocks": heads * blocks * window * 2 * max(window, 2 * width),
    }
""",
    ),
    Wrong(
        "costs",
        "mask with the heads of one side",
        (1,),
        "",
        code="""\
def largest_tensor(heads, tokens, width, window):
    out = heads * tokens * width
    blocks = math.ceil(tokens / window)
    return {
        "written out": max(heads * tokens**2, out),
        "fused, masked": max(tokens * window, out),
        "fused, causal": out,
        "in blocks": heads * blocks * window * 2 * max(window, width),
    }
""",
    ),
    Wrong(
        "timing",
        "the whole round for each job",
        (0, 1, 2),
        "clock read once for a round",
        code="""\
def time_in_turns(jobs, repeats=5, clock=time.process_time):
    for job in jobs.values():
        job()
    taken = {name: [] for name in jobs}
    for _ in range(repeats):
        start = clock()
        for name, job in jobs.items():
            job()
            taken[name].append(clock() - start)
    return {name: statistics.median(t) for name, t in taken.items()}


def crossover(lengths, ours, theirs):
    found = None
    for n, a, b in zip(lengths, ours, theirs):
        if a >= b:
            found = None
        elif found is None:
            found = n
    return found
""",
    ),
    Wrong(
        "timing",
        "equal counts as faster",
        (3,),
        "equal counts as faster",
        code="""\
def time_in_turns(jobs, repeats=5, clock=time.process_time):
    for job in jobs.values():
        job()
    taken = {name: [] for name in jobs}
    for _ in range(repeats):
        for name, job in jobs.items():
            start = clock()
            job()
            taken[name].append(clock() - start)
    return {name: statistics.median(t) for name, t in taken.items()}


def crossover(lengths, ours, theirs):
    found = None
    for n, a, b in zip(lengths, ours, theirs):
        if a > b:
            found = None
        elif found is None:
            found = n
    return found
""",
    ),
    Wrong(
        "timing",
        "divided by the repeats",
        (1,),
        "divided by the repeats",
        code="""\
def time_in_turns(jobs, repeats=5, clock=time.process_time):
    for job in jobs.values():
        job()
    taken = {name: [] for name in jobs}
    for _ in range(repeats):
        for name, job in jobs.items():
            start = clock()
            job()
            taken[name].append((clock() - start) / repeats)
    return {name: statistics.median(t) for name, t in taken.items()}


def crossover(lengths, ours, theirs):
    found = None
    for n, a, b in zip(lengths, ours, theirs):
        if a >= b:
            found = None
        elif found is None:
            found = n
    return found
""",
    ),
    Wrong(
        "timing",
        "last win returned",
        (3,),
        "the last win",
        code="""\
def time_in_turns(jobs, repeats=5, clock=time.process_time):
    for job in jobs.values():
        job()
    taken = {name: [] for name in jobs}
    for _ in range(repeats):
        for name, job in jobs.items():
            start = clock()
            job()
            taken[name].append(clock() - start)
    return {name: statistics.median(t) for name, t in taken.items()}


def crossover(lengths, ours, theirs):
    found = [n for n, a, b in zip(lengths, ours, theirs) if a < b]
    return found[-1] if found else None
""",
    ),
    Wrong(
        "quality",
        "reach with the own place",
        (0,),
        "own key counted as a step",
        code="""\
def reach(layers, window):
    return layers * window


class LocalLayer(nn.Module):
    def __init__(self, width, heads, window):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.maps = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.heads, self.window = heads, window

    def forward(self, x):
        q, k, v = (p.unflatten(-1, (self.heads, -1)).transpose(1, 2) for p in self.maps(self.norm(x)).chunk(3, -1))
        y = window_attention(q, k, v, self.window, True)
        return x + self.out(y.transpose(1, 2).flatten(-2))
""",
    ),
    Wrong(
        "quality",
        "heads joined without going back",
        (1, 2),
        "heads cut across the tokens",
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
        q, k, v = (p.unflatten(-1, (self.heads, -1)).transpose(1, 2) for p in self.maps(self.norm(x)).chunk(3, -1))
        y = window_attention(q, k, v, self.window, True)
        return x + self.out(y.reshape(x.shape))
""",
    ),
    Wrong(
        "quality",
        "residual through the output map",
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
        q, k, v = (p.unflatten(-1, (self.heads, -1)).transpose(1, 2) for p in self.maps(self.norm(x)).chunk(3, -1))
        y = window_attention(q, k, v, self.window, True)
        return self.out(x + y.transpose(1, 2).flatten(-2))
""",
    ),
    Wrong(
        "quality",
        "heads and features exchanged in the cut",
        (1,),
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
        q, k, v = (p.unflatten(-1, (-1, self.heads)).transpose(1, 2) for p in self.maps(self.norm(x)).chunk(3, -1))
        y = window_attention(q, k, v, self.window, True)
        return x + self.out(y.transpose(1, 2).flatten(-2))
""",
    ),
    Wrong(
        "mask",
        "the last row's window for all",
        (0,),
        "",
        code="""\
def local_mask(tokens, window, causal=False):
    place = torch.arange(tokens)
    behind = place[:, None] - place
    if causal:
        return (behind >= 0) & (place >= tokens - window)
    return behind.abs() <= window
""",
    ),
    Wrong(
        "mask",
        "blocks cut, then two-sided one longer",
        (1,),
        "sides of different length",
        code="""\
def local_mask(tokens, window, causal=False):
    place = torch.arange(tokens)
    behind = place[:, None] - place
    if causal:
        return (behind >= 0) & (behind < window)
    return (behind < window) & (behind > -window - 1)
""",
    ),
    Wrong(
        "local",
        "places counted inside the slice",
        (0, 1, 2, 3, 4),
        "queries that see no key",
        code="""\
def window_attention(query, key, value, window, causal=False):
    n, outputs = query.shape[-2], []
    for start in range(0, n, window):
        stop = min(start + window, n)
        low, high = max(start - window, 0), min(stop + (0 if causal else window), n)
        i = torch.arange(stop - start)[:, None] + window
        j = torch.arange(high - low)
        seen = (j <= i) & (j > i - window) if causal else (i - j).abs() <= window
        part = query[..., start:stop, :], key[..., low:high, :], value[..., low:high, :]
        outputs.append(scaled_dot_product_attention(*part, seen)[0])
    return torch.cat(outputs, dim=-2)
""",
    ),
    Wrong(
        "local",
        "the block after the last is the first",
        (0, 1, 2, 3, 4),
        "first queries see too much",
        code="""\
def window_attention(query, key, value, window, causal=False):
    n = query.shape[-2]
    size = min(window, n)
    blocks = math.ceil(n / size)
    q, k, v = (
        F.pad(x, (0, 0, 0, blocks * size - n)).unflatten(-2, (blocks, size))
        for x in (query, key, value)
    )
    shifts = (1, 0) if causal else (1, 0, -1)
    k, v = (torch.cat([x.roll(s, dims=-3) for s in shifts], dim=-2) for x in (k, v))
    i = torch.arange(size)[:, None] + size
    j = torch.arange(len(shifts) * size)
    seen = (j <= i) & (j > i - window) if causal else (i - j).abs() <= window
    output = scaled_dot_product_attention(q, k, v, seen)[0]
    return output.flatten(-3, -2)[..., :n, :]
""",
    ),
    Wrong(
        "local",
        "the mask as ones and zeros added to the scores",
        (0, 1, 2, 3, 4),
        "whole blocks in place of a window",
        code="""\
def window_attention(query, key, value, window, causal=False):
    n, outputs = query.shape[-2], []
    for start in range(0, n, window):
        stop = min(start + window, n)
        low, high = max(start - window, 0), min(stop + (0 if causal else window), n)
        i, j = torch.arange(start, stop)[:, None], torch.arange(low, high)
        seen = (j <= i) & (j > i - window) if causal else (i - j).abs() <= window
        scores = query[..., start:stop, :] @ key[..., low:high, :].mT
        scores = scores / math.sqrt(query.shape[-1]) + seen
        outputs.append(scores.softmax(-1) @ value[..., low:high, :])
    return torch.cat(outputs, dim=-2)
""",
    ),
    Wrong(
        "local",
        "hidden weights set to zero after the softmax",
        (0, 1, 2, 3, 4),
        "weight that goes to no key",
        code="""\
def window_attention(query, key, value, window, causal=False):
    n, outputs = query.shape[-2], []
    for start in range(0, n, window):
        stop = min(start + window, n)
        low, high = max(start - window, 0), min(stop + (0 if causal else window), n)
        i, j = torch.arange(start, stop)[:, None], torch.arange(low, high)
        seen = (j <= i) & (j > i - window) if causal else (i - j).abs() <= window
        scores = query[..., start:stop, :] @ key[..., low:high, :].mT
        weights = (scores / math.sqrt(query.shape[-1])).softmax(-1) * seen
        outputs.append(weights @ value[..., low:high, :])
    return torch.cat(outputs, dim=-2)
""",
    ),
    Wrong(
        "pattern",
        "global only where both are",
        (2, 3),
        "global blocks among themselves",
        code="""\
def seen_blocks(block, blocks, window, stride, num_global):
    return [
        j
        for j in range(blocks)
        if abs(block - j) <= window
        or (stride and (block - j) % stride == 0)
        or (block < num_global and j < num_global)
    ]


def pattern_mask(tokens, block_size, window, stride, num_global):
    blocks = math.ceil(tokens / block_size)
    mask = torch.zeros(blocks, blocks, dtype=torch.bool)
    for block in range(blocks):
        mask[block, seen_blocks(block, blocks, window, stride, num_global)] = True
    stretched = mask.repeat_interleave(block_size, 0).repeat_interleave(block_size, 1)
    return stretched[:tokens, :tokens]
""",
    ),
    Wrong(
        "sparse",
        "blocks met twice",
        (0, 1, 2),
        "keys that count more than once",
        change=(
            "        seen = seen_blocks(block, blocks, window, stride, num_global)",
            "        seen = [b for b in range(block - window, block + window + 1) if 0 <= b < blocks]\n        seen += list(range(block % stride, blocks, stride)) if stride else []\n        seen += list(range(num_global))\n        if block < num_global:\n            seen = list(range(blocks))",
        ),
    ),
    Wrong(
        "sparse",
        "own block left out of the keys",
        (0, 1, 2),
        "own block left out",
        change=(
            "        seen = seen_blocks(block, blocks, window, stride, num_global)",
            "        seen = [b for b in seen_blocks(block, blocks, window, stride, num_global) if b != block or blocks == 1]",
        ),
    ),
    Wrong(
        "costs",
        "scores and weights together",
        (0,),
        "more than the largest tensor",
        change=(
            "max(heads * tokens**2, output)",
            "max(2 * heads * tokens**2, output)",
        ),
    ),
    Wrong(
        "costs",
        "the smaller of window and width",
        (2,),
        "the smaller of two",
        change=(
            "2 * max(window, width)",
            "2 * min(window, width)",
        ),
    ),
    Wrong(
        "costs",
        "the causal way makes a mask",
        (1,),
        "fused attention with n² memory",
        change=(
            '        "fused, causal": output,',
            '        "fused, causal": max(tokens**2, output),',
        ),
    ),
    Wrong(
        "timing",
        "the longest run of wins",
        (3,),
        "the longest run of wins",
        code="""\
def crossover(lengths, ours, theirs):
    best, start, longest = None, None, 0
    count = 0
    for n, a, b in zip(lengths, ours, theirs):
        if a < b:
            start = n if count == 0 else start
            count += 1
            if count > longest:
                best, longest = start, count
        else:
            count = 0
    return best
""",
    ),
    Wrong(
        "quality",
        "layers times window less one",
        (0,),
        "own place counted",
        change=(
            "    return layers * (window - 1)",
            "    return layers * window - 1",
        ),
    ),
    Wrong(
        "quality",
        "normed after the residual",
        (1,),
        "a layer that is never used",
        change=(
            "        parts = self.maps(self.norm(x)).chunk(3, dim=-1)",
            "        parts = self.maps(x).chunk(3, dim=-1)",
        ),
    ),
]
RIGHT = [
    Right(
        "timing",
        "upper median",
        change=(
            "statistics.median(taken)",
            "sorted(taken)[len(taken) // 2]",
        ),
    ),
    Right(
        "quality",
        "value, key, query order",
        change=(
            "mixed = window_attention(*split, window",
            "mixed = window_attention(*reversed(list(split)), window",
        ),
    ),
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
    Right(
        "quality",
        "all heads share the features",
        change=(
            "p.unflatten(-1, (self.heads, -1)).transpose(1, 2)",
            "p.unflatten(-1, (-1, self.heads)).transpose(1, 3).transpose(2, 3)",
        ),
    ),
    Right(
        "timing",
        "a warm-up in each round",
        code="""\
def time_in_turns(jobs, repeats=5, clock=time.process_time):
    taken = {name: [] for name in jobs}
    for _ in range(repeats):
        for name, job in jobs.items():
            job()
            start = clock()
            job()
            taken[name].append(clock() - start)
    return {name: statistics.median(t) for name, t in taken.items()}


def crossover(lengths, ours, theirs):
    found = None
    for n, a, b in zip(lengths, ours, theirs):
        if a >= b:
            found = None
        elif found is None:
            found = n
    return found
""",
    ),
    Right(
        "quality",
        "norm at the end",
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
        q, k, v = (p.unflatten(-1, (self.heads, -1)).transpose(1, 2) for p in self.maps(x).chunk(3, -1))
        y = window_attention(q, k, v, self.window, True)
        return self.norm(x + self.out(y.transpose(1, 2).flatten(-2)))
""",
    ),
    Right(
        "mask",
        "row by row",
        code="""\
def local_mask(tokens, window, causal=False):
    mask = torch.zeros(tokens, tokens, dtype=torch.bool)
    for i in range(tokens):
        first = i - window + 1 if causal else i - window
        mask[i, max(0, first) : i + 1 if causal else i + window + 1] = True
    return mask
""",
    ),
    Right(
        "local",
        "blocks of 16, each with what it needs",
        code="""\
def window_attention(query, key, value, window, causal=False):
    n, step = query.shape[-2], 16
    outs = []
    for s in range(0, n, step):
        e = min(n, s + step)
        lo = max(0, s - window + 1) if causal else max(0, s - window)
        hi = e if causal else min(n, e + window)
        d = torch.arange(s, e)[:, None] - torch.arange(lo, hi)
        m = (d >= 0) & (d < window) if causal else d.abs() <= window
        outs.append(F.scaled_dot_product_attention(query[..., s:e, :], key[..., lo:hi, :], value[..., lo:hi, :], attn_mask=m))
    return torch.cat(outs, -2)
""",
    ),
    Right(
        "sparse",
        "by slices",
        code="""\
def sparse_attention(query, key, value, block_size, window, stride, num_global):
    n = query.shape[-2]
    cut = lambda x: x.split(block_size, dim=-2)
    keys, values = cut(key), cut(value)
    outs = []
    for b, q in enumerate(cut(query)):
        seen = sorted(seen_blocks(b, len(keys), window, stride, num_global))
        k, v = (torch.cat([x[j] for j in seen], -2) for x in (keys, values))
        outs.append(scaled_dot_product_attention(q, k, v)[0])
    return torch.cat(outs, -2)
""",
    ),
    Right(
        "costs",
        "by negative division",
        code="""\
def largest_tensor(heads, tokens, width, window):
    result = heads * tokens * width
    filled = tokens + -tokens % window
    return {
        "written out": max(heads * tokens * tokens, result),
        "fused, masked": max(tokens * tokens, result),
        "fused, causal": result,
        "in blocks": max(2 * heads * filled * window, 2 * heads * filled * width),
    }
""",
    ),
    Right(
        "timing",
        "backwards with a while",
        code="""\
def time_in_turns(jobs, repeats=5, clock=time.process_time):
    taken = {name: [] for name in jobs}
    for turn in range(repeats + 1):
        for name, job in jobs.items():
            start = clock()
            job()
            if turn:
                taken[name].append(clock() - start)
    return {name: sorted(t)[len(t) // 2] if len(t) % 2 else statistics.median(t) for name, t in taken.items()}


def crossover(lengths, ours, theirs):
    k = len(lengths)
    while k > 0 and ours[k - 1] < theirs[k - 1]:
        k -= 1
    return lengths[k] if k < len(lengths) else None
""",
    ),
    Right(
        "quality",
        "queries and keys exchanged",
        change=(
            "        split = (p.unflatten(-1, (self.heads, -1)).transpose(1, 2) for p in parts)",
            "        split = [p.unflatten(-1, (self.heads, -1)).transpose(1, 2) for p in parts]\n        split = split[1], split[0], split[2]",
        ),
    ),
    Right(
        "quality",
        "normed at the end as well",
        change=(
            "        return x + self.out(mixed.transpose(1, 2).flatten(-2))",
            "        return self.norm(x + self.out(mixed.transpose(1, 2).flatten(-2)))",
        ),
    ),
    Right(
        "timing",
        "each second round in the other order",
        code="""\
def time_in_turns(jobs, repeats=5, clock=time.process_time):
    for job in jobs.values():
        job()
    seconds = {name: [] for name in jobs}
    names = list(jobs)
    for turn in range(repeats):
        for name in names if turn % 2 == 0 else reversed(names):
            start = clock()
            jobs[name]()
            seconds[name].append(clock() - start)
    return {name: statistics.median(s) for name, s in seconds.items()}


def crossover(lengths, ours, theirs):
    behind = [i for i in range(len(lengths)) if ours[i] >= theirs[i]]
    start = behind[-1] + 1 if behind else 0
    return lengths[start] if start < len(lengths) else None
""",
    ),
    Right(
        "sparse",
        "a list of slices joined",
        code="""\
def sparse_attention(query, key, value, block_size, window, stride, num_global):
    blocks = -(-query.shape[-2] // block_size)
    cut = [x.split(block_size, dim=-2) for x in (query, key, value)]
    rows = []
    for b in range(blocks):
        seen = seen_blocks(b, blocks, window, stride, num_global)
        k, v = (torch.cat([x[j] for j in seen], dim=-2) for x in cut[1:])
        rows.append(scaled_dot_product_attention(cut[0][b], k, v)[0])
    return torch.cat(rows, dim=-2)
""",
    ),
]
