"""Answers to exercise 5, right and wrong."""

from textwrap import dedent

from tests.exercises import uncounted, unforeseen
from tests.exercises.answers import Right, Wrong
from tests.exercises.fresh import efficient as fresh
from tests.exercises.students import efficient as students
from tests.exercises.subtle import efficient as subtle


def _code(text):
    return dedent(text).lstrip("\n")


def _mask(causal, two_sided):
    return _code(
        f"""
        def local_mask(tokens, window, causal=False):
            i = torch.arange(tokens)[:, None]
            j = torch.arange(tokens)
            return {causal} if causal else {two_sided}
        """
    )


CAUSAL, TWO_SIDED = "(j <= i) & (j > i - window)", "(i - j).abs() <= window"

WRONG_MASK = [
    Wrong("mask", name, loses, named, code=_mask(causal, two_sided))
    for name, loses, named, causal, two_sided in (
        (
            "w + 1 keys",
            (0,),
            "one key too many",
            "(j <= i) & (j >= i - window)",
            TWO_SIDED,
        ),
        (
            "w − 1 keys",
            (0,),
            "one key too few",
            "(j <= i) & (j > i - window + 1)",
            TWO_SIDED,
        ),
        (
            "own key left out",
            (0,),
            "own key left out",
            "(j < i) & (j >= i - window)",
            TWO_SIDED,
        ),
        (
            "two-sided for causal",
            (0,),
            "two-sided in place of causal",
            "(i - j).abs() < window",
            TWO_SIDED,
        ),
        ("causal without a window", (0,), "no window", "j <= i", TWO_SIDED),
        (
            "True means hidden",
            (0, 1),
            "inverted",
            "(j > i) | (j <= i - window)",
            "(i - j).abs() > window",
        ),
        (
            "queries in the columns",
            (0,),
            "rows and columns exchanged",
            "(i <= j) & (i > j - window)",
            TWO_SIDED,
        ),
        (
            "strictly less than the window",
            (1,),
            "distance too short by one",
            CAUSAL,
            "(i - j).abs() < window",
        ),
        (
            "half a window to each side",
            (1,),
            "window shared by the sides",
            CAUSAL,
            "(i - j).abs() <= window // 2",
        ),
        (
            "one key less ahead than back",
            (1,),
            "sides of different length",
            CAUSAL,
            "(j >= i - window) & (j < i + window)",
        ),
        (
            "causal whatever is asked",
            (1,),
            "sides of different length",
            CAUSAL,
            CAUSAL,
        ),
        (
            "numbers in place of booleans",
            (0, 1),
            "wrong type",
            f"({CAUSAL}).float()",
            f"({TWO_SIDED}).float()",
        ),
    )
]

RIGHT_MASK = [
    Right("mask", name, code=_code(code))
    for name, code in (
        (
            "triangles",
            """
            def local_mask(tokens, window, causal=False):
                ones = torch.ones(tokens, tokens, dtype=torch.bool)
                if causal:
                    return ones.tril() & ones.triu(1 - window)
                return ones.tril(window) & ones.triu(-window)
            """,
        ),
        (
            "two loops",
            """
            def local_mask(tokens, window, causal=False):
                mask = torch.zeros(tokens, tokens).bool()
                for i in range(tokens):
                    for j in range(tokens):
                        if causal:
                            mask[i, j] = j in range(i - window + 1, i + 1)
                        else:
                            mask[i, j] = abs(i - j) <= window
                return mask
            """,
        ),
        (
            "rows filled by slices",
            """
            def local_mask(tokens, window, causal=False):
                mask = torch.full((tokens, tokens), False)
                for query in range(tokens):
                    first = max(0, query - window + causal)
                    last = query if causal else min(tokens - 1, query + window)
                    mask[query, first : last + 1] = True
                return mask
            """,
        ),
        (
            "ranges to both sides",
            """
            def local_mask(tokens, window, causal=False):
                back, ahead = (window - 1, 0) if causal else (window, window)
                n = torch.arange(tokens)
                gap = n.view(1, -1) - n.view(-1, 1)
                return torch.logical_and(gap >= -back, gap <= ahead)
            """,
        ),
        (
            "NumPy",
            """
            def local_mask(tokens, window, causal=False):
                import numpy as np

                i, j = np.indices((tokens, tokens))
                seen = np.abs(i - j) < window if causal else np.abs(i - j) <= window
                return torch.from_numpy(seen & (i >= j) if causal else seen)
            """,
        ),
        (
            "a difference of prefix masks",
            """
            def local_mask(tokens, window, causal=False):
                if not causal:
                    one = local_mask(tokens, window + 1, True)
                    return one | one.T
                full = torch.tril(torch.ones(tokens, tokens)) > 0
                return full & ~full.tril(-window)
            """,
        ),
    )
]


def _local(name, loses, named, *change):
    return Wrong("local", name, loses, named, change=change)


def _local_code(name, loses, named, code):
    return Wrong("local", name, loses, named, code=_code(code))


NEAR = "near = (j <= i) & (j > i - window) if causal else (i - j).abs() <= window"
ATTEND = "output, _ = scaled_dot_product_attention(*parts, mask)"
TO_THE_END = "return output.flatten(-3, -2)[..., :tokens, :]"


def _by_hand(scale):
    """Return lines that compute attention over the blocks with a softmax of one's own.

    Queries that only fill up the last block see everything, so no row is empty.
    """
    return (
        "q, k, v = parts\n"
        f"    scores = q @ k.mT {scale}\n"
        "    shown = mask | (i >= tokens)\n"
        "    scores = scores.masked_fill(~shown, float('-inf'))\n"
        "    output = scores.softmax(-1) @ v"
    )


WRONG_LOCAL = [
    _local(
        "w + 1 keys",
        (0, 1, 3, 4),
        "one key too many",
        "(j > i - window)",
        "(j >= i - window)",
    ),
    _local(
        "w − 1 keys",
        (0, 1, 3, 4),
        "one key too few",
        "(j > i - window)",
        "(j > i - window + 1)",
    ),
    _local(
        "two-sided within the two blocks",
        (0, 1, 3, 4),
        "no mask within the blocks",
        NEAR,
        "near = (i - j).abs() <= (2 * tokens if causal else window)",
    ),
    _local(
        "always two-sided",
        (0, 1, 3, 4),
        "two-sided in place of causal",
        "blocks, after = math.ceil(tokens / size), 0 if causal else 1",
        "causal = False\n    blocks, after = math.ceil(tokens / size), 1",
    ),
    _local(
        "always causal",
        (2,),
        "causal in place of two-sided",
        "blocks, after = math.ceil(tokens / size), 0 if causal else 1",
        "causal = True\n    blocks, after = math.ceil(tokens / size), 0",
    ),
    _local(
        "the whole block before is seen",
        (0, 1, 3, 4),
        "too old keys are seen",
        "(j <= i) & (j > i - window) if",
        "(j <= i) & (j == j) if",
    ),
    _local(
        "zeros in front take part",
        (0, 1, 3, 4),
        "padding is attended to",
        "mask = near & (j >= 0) & (j < tokens)",
        "mask = near & (j < tokens) if causal else near & (j >= 0) & (j < tokens)",
    ),
    _local(
        "zeros around take part, two-sided",
        (2,),
        "padding is attended to",
        "mask = near & (j >= 0) & (j < tokens)",
        "mask = near & (j >= 0) & (j < tokens) if causal else near",
    ),
    _local(
        "no scaling",
        (0, 1, 2, 3, 4),
        "no scaling",
        ATTEND,
        _by_hand(""),
    ),
    _local(
        "divided by d_k",
        (0, 1, 2, 3, 4),
        "wrong scale",
        ATTEND,
        _by_hand("/ q.shape[-1]"),
    ),
    _local(
        "scaled before a function that scales",
        (0, 1, 2, 3, 4),
        "wrong scale",
        "cut(query, 0, 0), with",
        "cut(query, 0, 0) / math.sqrt(query.shape[-1]), with",
    ),
    _local_code(
        "NaN in rows that only fill up",
        (4,),
        "gradient is not a number",
        """
        def window_attention(query, key, value, window, causal=False):
            n, size = query.shape[-2], 8  # longer than the window
            size = max(size, window)
            many = math.ceil(n / size)
            q, k, v = (
                F.pad(x, (0, 0, size, (many + 1) * size - n))
                for x in (query, key, value)
            )
            outputs = []
            for first in range(size, (many + 1) * size, size):
                i = torch.arange(first, first + size)[:, None]
                j = torch.arange(first - size, first + 2 * size)
                near = (i - j).abs() <= window
                near = (j <= i) & (i - j < window) if causal else near
                near = near & (j >= size) & (j < size + n)
                s = q[..., i[:, 0], :] @ k[..., j, :].mT / math.sqrt(q.shape[-1])
                weights = s.masked_fill(~near, -math.inf).softmax(-1)
                outputs.append(weights @ v[..., j, :])
            return torch.cat(outputs, dim=-2)[..., :n, :]
        """,
    ),
    _local(
        "neighbours detached",
        (4,),
        "gradient cut off between blocks",
        "shifted = [x[..., s : s + blocks, :, :] for s in range(2 + after)]",
        "shifted = [x[..., s : s + blocks, :, :] for s in range(2 + after)]\n"
        "        shifted = [y if s == 1 else y.detach() "
        "for s, y in enumerate(shifted)]",
    ),
    _local(
        "without gradients",
        (4,),
        "no gradient at all",
        ATTEND,
        "with torch.no_grad():\n"
        "        output, _ = scaled_dot_product_attention(*parts, mask)",
    ),
    _local(
        "keys detached",
        (4,),
        "gradient cut off",
        "with_neighbours(key)",
        "with_neighbours(key.detach())",
    ),
    _local(
        "the last tokens cut off",
        (1, 2, 4),
        "last tokens lost",
        TO_THE_END,
        "return output.flatten(-3, -2)[..., : tokens // size * size, :]",
    ),
    _local(
        "the last tokens left at zero",
        (1, 2, 4),
        "last tokens lost",
        TO_THE_END,
        "output = output.flatten(-3, -2)[..., : tokens // size * size, :]\n"
        "    return F.pad(output, (0, 0, 0, tokens - output.shape[-2]))",
    ),
    _local(
        "the key scaled in place",
        (0, 3),
        "changes its input",
        "tokens = query.shape[-2]",
        "tokens = query.shape[-2]\n"
        "    if not key.requires_grad:\n"
        "        key /= math.sqrt(2)\n"
        "        query = query * math.sqrt(2)",
    ),
    _local(
        "always four axes",
        (3,),
        "number of axes fixed",
        "tokens = query.shape[-2]",
        "batch, heads, tokens, d_k = query.shape",
    ),
    _local(
        "values as wide as keys",
        (3,),
        "wrong shape",
        TO_THE_END,
        "return output.reshape(*query.shape[:-2], -1, query.shape[-1])"
        "[..., :tokens, :]",
    ),
    _local_code(
        "full attention with a mask",
        (5, 6),
        "n × n numbers are made",
        """
        def window_attention(query, key, value, window, causal=False):
            mask = local_mask(query.shape[-2], window, causal)
            return scaled_dot_product_attention(query, key, value, mask)[0]
        """,
    ),
    _local_code(
        "fused full attention with a mask",
        (5, 6),
        "n × n numbers are made",
        """
        def window_attention(query, key, value, window, causal=False):
            mask = local_mask(query.shape[-2], window, causal)
            shape = value.shape
            parts = (x[None].flatten(0, -3)[None] for x in (query, key, value))
            return F.scaled_dot_product_attention(*parts, mask).reshape(shape)
        """,
    ),
    _local_code(
        "in blocks if causal, else masked",
        (6,),
        "n × n numbers are made",
        """
        def window_attention(query, key, value, window, causal=False):
            n, out = query.shape[-2], []
            if not causal:
                mask = local_mask(n, window)
                return scaled_dot_product_attention(query, key, value, mask)[0]
            for i in range(n):
                seen = slice(max(0, i - window + 1), i + 1)
                parts = query[..., i : i + 1, :], key[..., seen, :], value[..., seen, :]
                out.append(scaled_dot_product_attention(*parts)[0])
            return torch.cat(out, dim=-2)
        """,
    ),
    _local_code(
        "every score, one query at a time",
        (5, 6),
        "all scores are computed, in pieces",
        """
        def window_attention(query, key, value, window, causal=False):
            rows = []
            place = torch.arange(query.shape[-2])
            for i in range(query.shape[-2]):
                if causal:
                    near = (place <= i) & (place > i - window)
                else:
                    near = (place - i).abs() <= window
                scores = key @ query[..., i, :, None] / query.shape[-1] ** 0.5
                scores = scores.masked_fill(~near[:, None], -torch.inf)
                rows.append(scores.softmax(-2).mT @ value)
            return torch.cat(rows, dim=-2)
        """,
    ),
    _local_code(
        "a copy of its keys for each query",
        (5, 6),
        "a copy of the keys for every query",
        """
        def window_attention(query, key, value, window, causal=False):
            n = query.shape[-2]
            span = torch.arange(-window + causal, 1 if causal else window + 1)
            places = torch.arange(n)[:, None] + span  # (n, span)
            inside = (places >= 0) & (places < n)
            places = places.clamp(0, n - 1)
            keys, values = key[..., places, :], value[..., places, :]
            scores = (query[..., None, :] * keys).sum(-1) / query.shape[-1] ** 0.5
            weights = scores.masked_fill(~inside, -torch.inf).softmax(-1)
            return (weights[..., None] * values).sum(-2)
        """,
    ),
    _local_code(
        "unfold and contiguous",
        (5, 6),
        "a copy of the keys for every query",
        """
        def window_attention(query, key, value, window, causal=False):
            n = query.shape[-2]
            back, ahead = (window - 1, 0) if causal else (window, window)

            def windows(x):  # (..., n, d, span)
                x = F.pad(x, (0, 0, back, ahead))
                return x.unfold(-2, back + ahead + 1, 1).contiguous()

            keys, values = windows(key), windows(value)
            i = torch.arange(n)[:, None]
            j = i + torch.arange(-back, ahead + 1)
            scores = (query[..., None] * keys).sum(-2) / query.shape[-1] ** 0.5
            scores = scores.masked_fill((j < 0) | (j >= n), -torch.inf)
            return (scores.softmax(-1)[..., None, :] * values).sum(-1)
        """,
    ),
    _local_code(
        "each block by itself",
        (0, 1, 2, 3, 4),
        "only the own block",
        """
        def window_attention(query, key, value, window, causal=False):
            out = []
            blocks = (x.split(window, dim=-2) for x in (query, key, value))
            for q, k, v in zip(*blocks):
                mask = local_mask(q.shape[-2], window, causal)
                out.append(scaled_dot_product_attention(q, k, v, mask)[0])
            return torch.cat(out, dim=-2)
        """,
    ),
    _local_code(
        "heads laid end to end",
        (3,),
        "sequences run into one another",
        """
        def window_attention(query, key, value, window, causal=False):
            shape = value.shape
            q, k, v = (x.reshape(-1, x.shape[-1]) for x in (query, key, value))
            out = []
            for i in range(len(q)):
                first = max(0, i - window + 1 if causal else i - window)
                end = i + 1 if causal else i + window + 1
                part = q[i : i + 1], k[first:end], v[first:end]
                out.append(scaled_dot_product_attention(*part)[0])
            return torch.cat(out).reshape(shape)
        """,
    ),
    _local_code(
        "nothing but the values",
        (0, 1, 2, 3, 4, 5, 6),
        "no value reaches the output",
        """
        def window_attention(query, key, value, window, causal=False):
            return torch.zeros_like(value)
        """,
    ),
]

RIGHT_LOCAL = [
    Right("local", name, code=_code(code))
    for name, code in (
        (
            "a loop over the queries",
            """
            def window_attention(query, key, value, window, causal=False):
                n, out = query.shape[-2], []
                for i in range(n):
                    a = max(0, i - window + causal)
                    b = i + 1 if causal else min(n, i + window + 1)
                    q, k, v = query[..., i, :], key[..., a:b, :], value[..., a:b, :]
                    scores = torch.einsum("...d,...jd->...j", q, k)
                    weights = (scores / math.sqrt(q.shape[-1])).softmax(-1)
                    out.append(torch.einsum("...j,...jd->...d", weights, v))
                return torch.stack(out, dim=-2)
            """,
        ),
        (
            "a loop over blocks of queries, sliced keys",
            """
            def window_attention(query, key, value, window, causal=False):
                n, parts = query.shape[-2], []
                for start in range(0, n, window):
                    end = min(start + window, n)
                    a = max(0, start - window)
                    b = end if causal else min(n, end + window)
                    i = torch.arange(start, end).unsqueeze(1)
                    j = torch.arange(a, b)
                    if causal:
                        ok = (j <= i) & (i - j < window)
                    else:
                        ok = (i - j).abs() <= window
                    piece = slice(a, b)
                    parts.append(
                        scaled_dot_product_attention(
                            query[..., start:end, :],
                            key[..., piece, :],
                            value[..., piece, :],
                            ok,
                        )[0]
                    )
                return torch.cat(parts, -2)
            """,
        ),
        (
            "diagonal by diagonal",
            """
            def window_attention(query, key, value, window, causal=False):
                n, d = query.shape[-2:]
                offsets = range(window) if causal else range(-window, window + 1)
                offsets = [o for o in offsets if abs(o) < n]

                def shift(x, by):  # row i becomes row i - by; zeros elsewhere
                    moved = torch.zeros_like(x)
                    if by >= 0:
                        moved[..., by:, :] = x[..., : n - by, :]
                    else:
                        moved[..., :by, :] = x[..., -by:, :]
                    return moved

                place = torch.arange(n)
                scores = torch.stack(
                    [
                        (query * shift(key, o)).sum(-1).masked_fill(
                            (place - o < 0) | (place - o >= n), -math.inf
                        )
                        for o in offsets
                    ],
                    dim=-1,
                )
                w = torch.softmax(scores / d**0.5, dim=-1)
                return sum(
                    w[..., [k]] * shift(value, o) for k, o in enumerate(offsets)
                )
            """,
        ),
        (
            "fused kernel on blocks, double precision",
            """
            def window_attention(query, key, value, window, causal=False):
                n, kind = query.shape[-2], query.dtype
                query, key, value = (t.double() for t in (query, key, value))
                b = min(window, n)
                m = -(-n // b)
                right = 0 if causal else b
                lead = query.shape[:-2]
                q = F.pad(query, (0, 0, 0, m * b - n)).reshape(*lead, m, b, -1)

                def spans(t):
                    t = F.pad(t, (0, 0, b, m * b - n + right))
                    return t.unfold(-2, 2 * b + right, b).transpose(-1, -2)

                i = torch.arange(m * b).view(m, b, 1)
                j = torch.arange(m).view(m, 1, 1) * b - b
                j = j + torch.arange(2 * b + right)
                ok = (i - j < window) & (j <= i) if causal else (i - j).abs() <= window
                ok = ok & (j >= 0) & (j < n) | (i >= n)
                out = F.scaled_dot_product_attention(q, spans(key), spans(value), ok)
                out = out.reshape(*lead, m * b, -1)[..., :n, :]
                return out.to(kind)
            """,
        ),
        (
            "a large negative number for hidden scores",
            """
            def window_attention(query, key, value, window, causal=False):
                n = query.shape[-2]
                size = min(window, n)
                many = math.ceil(n / size)
                q, k, v = (
                    F.pad(x, (0, 0, size, many * size - n + size))
                    for x in (query, key, value)
                )
                outputs = []
                for block in range(1, many + 1):
                    i = torch.arange(block * size, (block + 1) * size)
                    j = torch.arange((block - 1) * size, (block + 2) * size)
                    gap = i[:, None] - j[None, :]
                    low = 0 if causal else -window
                    high = window - 1 if causal else window
                    hidden = (gap < low) | (gap > high) | (j < size) | (j >= size + n)
                    s = q[..., i, :] @ k[..., j, :].transpose(-1, -2)
                    s = (s / q.shape[-1] ** 0.5).masked_fill(hidden, -1e9)
                    outputs.append(torch.softmax(s, -1) @ v[..., j, :])
                return torch.cat(outputs, dim=-2)[..., :n, :]
            """,
        ),
        (
            "online softmax over the neighbouring blocks",
            """
            def window_attention(query, key, value, window, causal=False):
                n, size = query.shape[-2], min(window, query.shape[-2])
                many = -(-n // size)
                pad = (0, 0, 0, many * size - n)
                q, k, v = (
                    F.pad(x, pad).unflatten(-2, (many, size))
                    for x in (query, key, value)
                )
                i = torch.arange(many * size).view(many, size, 1)
                top = q.new_full((*q.shape[:-1], 1), -1e30)
                total, out = torch.zeros_like(top), 0.0
                for shift in (0, 1) if causal else (0, 1, -1):
                    keys, values = (x.roll(shift, dims=-3) for x in (k, v))
                    j = (torch.arange(many) - shift).view(many, 1, 1) * size
                    j = j + torch.arange(size)
                    gap = i - j
                    near = (gap >= 0) & (gap < window)
                    near = near if causal else gap.abs() <= window
                    near = near & (j >= 0) & (j < n)
                    s = q @ keys.mT / math.sqrt(q.shape[-1])
                    s = s.masked_fill(~near, -1e30)
                    new = torch.maximum(top, s.amax(-1, keepdim=True))
                    terms = torch.exp(s - new) * near
                    factor = torch.exp(top - new)
                    total = factor * total + terms.sum(-1, keepdim=True)
                    out = factor * out + terms @ values
                    top = new
                out = out / total.clamp_min(1e-30)
                return out.flatten(-3, -2)[..., :n, :]
            """,
        ),
        (
            "a class that can be called",
            """
            class Attend:
                def __call__(self, query, key, value, window, causal=False):
                    n = query.shape[-2]
                    half = max(1, window // 2)
                    pieces = []
                    for first in range(0, n, half):
                        last = min(first + half, n) - 1
                        a = max(0, first - window + (1 if causal else 0))
                        b = last + 1 if causal else min(n, last + 1 + window)
                        i = torch.arange(first, last + 1)[:, None]
                        j = torch.arange(a, b)[None]
                        ok = (i - j).abs() < window + (not causal)
                        if causal:
                            ok &= j <= i
                        bias = torch.zeros(ok.shape).masked_fill(~ok, -math.inf)
                        s = query[..., first : last + 1, :] @ key[..., a:b, :].mT
                        w = (s * key.shape[-1] ** -0.5 + bias).softmax(dim=-1)
                        pieces.append(w @ value[..., a:b, :])
                    return torch.cat(pieces, dim=-2)


            window_attention = Attend()
            """,
        ),
    )
]


def _pattern(name, loses, named, *change):
    return Wrong("pattern", name, loses, named, change=change)


NEAR_BLOCKS = "range(max(block - window, 0), min(block + window + 1, blocks))"
FAR_BLOCKS = "range(block % stride, blocks, stride) if stride else ()"
ALL_BLOCKS = "sorted({*near, *far, *range(min(num_global, blocks))})"
STRETCHED = "mask.repeat_interleave(block_size, 0).repeat_interleave(block_size, 1)"

WRONG_PATTERN = [
    _pattern(
        "the range ends too early",
        (0, 1, 2, 3),
        "window too short on one side",
        NEAR_BLOCKS,
        "range(max(block - window, 0), min(block + max(window, 1), blocks))",
    ),
    _pattern(
        "less than the window",
        (0, 1, 2, 3),
        "window too short by one",
        NEAR_BLOCKS,
        "range(max(block - window + 1, 0), min(block + window, blocks))",
    ),
    _pattern(
        "over the edges",
        (0, 1, 2, 3),
        "runs over the edge",
        NEAR_BLOCKS,
        "range(block - window, block + window + 1)",
    ),
    _pattern(
        "earlier blocks only",
        (0, 1, 2, 3),
        "only earlier blocks",
        NEAR_BLOCKS,
        "range(max(block - window, 0), block + 1)",
    ),
    _pattern(
        "three lists joined",
        (1, 2),
        "a block is listed twice",
        ALL_BLOCKS,
        "[*near, *far, *range(min(num_global, blocks))]",
    ),
    _pattern(
        "stride from block 0",
        (1, 3),
        "stride counted from the beginning",
        FAR_BLOCKS,
        "range(0, blocks, stride) if stride else ()",
    ),
    _pattern(
        "stride too long",
        (1, 3),
        "stride too long by one",
        FAR_BLOCKS,
        "range(block % (stride + 1), blocks, stride + 1) if stride else ()",
    ),
    _pattern(
        "stride back only",
        (1, 3),
        "stride to one side only",
        FAR_BLOCKS,
        "range(block % stride, block + 1, stride) if stride else ()",
    ),
    _pattern(
        "stride beside the window",
        (1, 3),
        "stride counted from the edge of the window",
        FAR_BLOCKS,
        "[j for j in range(blocks) if (abs(j - block) - window) % stride == 0] "
        "if stride else ()",
    ),
    _pattern(
        "one stride to each side",
        (1,),
        "only the first stride",
        FAR_BLOCKS,
        "[j for j in (block - stride, block + stride) if 0 <= j < blocks] "
        "if stride else ()",
    ),
    _pattern(
        "no stride is division by zero",
        (0, 2, 3),
        "divided by zero",
        " if stride else ()",
        "",
    ),
    _pattern(
        "global blocks are only seen",
        (2, 3),
        "global blocks do not see",
        "if block < num_global:",
        "if block < 0:",
    ),
    _pattern(
        "global blocks only see",
        (2, 3),
        "global blocks are not seen",
        ", *range(min(num_global, blocks))})",
        "})",
    ),
    _pattern(
        "one global block too many",
        (0, 1, 2, 3),
        "one global block too many",
        "if block < num_global:",
        "num_global = num_global + 1\n    if block < num_global:",
    ),
    _pattern(
        "whole blocks only",
        (3,),
        "last tokens lost",
        "mask = torch.zeros(blocks",
        "tokens = tokens // block_size * block_size\n"
        "    blocks = tokens // block_size\n"
        "    mask = torch.zeros(blocks",
    ),
    _pattern(
        "not cut",
        (3,),
        "last block not cut",
        "return stretched[:tokens, :tokens]",
        "return stretched",
    ),
    _pattern(
        "repeat in place of repeat_interleave",
        (3,),
        "rows and columns of blocks interleaved",
        STRETCHED,
        "mask.repeat(block_size, block_size)",
    ),
]


def _two(seen, mask):
    return dedent(seen).strip("\n") + "\n\n\n" + dedent(mask).strip("\n") + "\n"


BY_RULE = """
def seen_blocks(block, blocks, window, stride, num_global):
    seen = []
    for other in range(blocks):
        apart = abs(block - other)
        linked = stride > 0 and apart % stride == 0
        if apart <= window or linked or min(block, other) < num_global:
            seen.append(other)
    return seen
"""
BY_TOKEN = """
def pattern_mask(tokens, block_size, window, stride, num_global):
    blocks = (tokens + block_size - 1) // block_size
    mask = torch.zeros(tokens, tokens, dtype=torch.bool)
    for i in range(tokens):
        seen = seen_blocks(i // block_size, blocks, window, stride, num_global)
        for j in range(tokens):
            mask[i, j] = j // block_size in seen
    return mask
"""

RIGHT_PATTERN = [
    Right("pattern", name, code=_two(seen, mask))
    for name, seen, mask in (
        ("the three rules in a loop", BY_RULE, BY_TOKEN),
        (
            "sets, in another order",
            """
            def seen_blocks(block, blocks, window, stride, num_global):
                everyone = set(range(blocks))
                if block < num_global:
                    return everyone
                seen = {b for b in everyone if b < num_global}
                seen |= {b for b in everyone if abs(b - block) <= window}
                if stride:
                    seen |= set(range(block, blocks, stride))
                    seen |= set(range(block, -1, -stride))
                return seen
            """,
            """
            def pattern_mask(tokens, block_size, window, stride, num_global):
                mask = torch.zeros(tokens, tokens).bool()
                blocks = math.ceil(tokens / block_size)
                for a in range(blocks):
                    for b in seen_blocks(a, blocks, window, stride, num_global):
                        rows = slice(a * block_size, (a + 1) * block_size)
                        columns = slice(b * block_size, (b + 1) * block_size)
                        mask[rows, columns] = True
                return mask
            """,
        ),
        (
            "tensors and nonzero",
            """
            def seen_blocks(block, blocks, window, stride, num_global):
                other = torch.arange(blocks)
                apart = (other - block).abs()
                seen = (apart <= window) | (other < num_global)
                if stride != 0:
                    seen = seen | (apart % stride == 0)
                if block < num_global:
                    seen[:] = True
                return seen.nonzero().flatten().tolist()
            """,
            """
            def pattern_mask(tokens, block_size, window, stride, num_global):
                number = torch.arange(tokens) // block_size
                blocks = int(number[-1]) + 1
                rows = torch.zeros(blocks, blocks, dtype=torch.bool)
                for b in range(blocks):
                    rows[b][seen_blocks(b, blocks, window, stride, num_global)] = True
                return rows[number][:, number]
            """,
        ),
        (
            "a tensor of numbers, and kron",
            """
            def seen_blocks(block, blocks, window, stride, num_global):
                keep = [
                    j
                    for j in range(blocks)
                    if abs(j - block) <= window
                    or (stride and (j - block) % stride == 0)
                    or j < num_global
                    or block < num_global
                ]
                return torch.tensor(keep)
            """,
            """
            def pattern_mask(tokens, block_size, window, stride, num_global):
                blocks = math.ceil(tokens / block_size)
                small = torch.zeros(blocks, blocks)
                for i in range(blocks):
                    small[i, seen_blocks(i, blocks, window, stride, num_global)] = 1
                big = torch.kron(small, torch.ones(block_size, block_size))
                return (big > 0)[:tokens, :tokens]
            """,
        ),
        (
            "a generator, rows joined",
            """
            def seen_blocks(block, blocks, window, stride, num_global):
                for j in reversed(range(blocks)):
                    gap = abs(block - j)
                    if block < num_global or j < num_global or gap <= window:
                        yield j
                    elif stride and not gap % stride:
                        yield j
            """,
            """
            def pattern_mask(tokens, block_size, window, stride, num_global):
                total, rows = -(-tokens // block_size), []
                for i in range(tokens):
                    block = i // block_size
                    seen = set(seen_blocks(block, total, window, stride, num_global))
                    rows.append([j // block_size in seen for j in range(tokens)])
                return torch.tensor(rows)
            """,
        ),
    )
]


def _sparse(name, loses, named, *change):
    return Wrong("sparse", name, loses, named, change=change)


def _sparse_code(name, loses, named, code):
    return Wrong("sparse", name, loses, named, code=_code(code))


APPEND = "outputs.append(scaled_dot_product_attention(own, keys, values)[0])"

WRONG_SPARSE = [
    _sparse(
        "no scaling",
        (0, 1, 2),
        "no scaling",
        APPEND,
        "outputs.append((own @ keys.mT).softmax(-1) @ values)",
    ),
    _sparse(
        "divided by d_k",
        (0, 1, 2),
        "wrong scale",
        APPEND,
        "outputs.append((own @ keys.mT / own.shape[-1]).softmax(-1) @ values)",
    ),
    _sparse(
        "a softmax for each block, averaged",
        (0, 1, 2),
        "softmax of each block by itself",
        APPEND,
        "pairs = zip(keys.split(block_size, -2), values.split(block_size, -2))\n"
        "        found = [scaled_dot_product_attention(own, *p)[0] for p in pairs]\n"
        "        outputs.append(sum(found) / len(found))",
    ),
    _sparse(
        "a softmax for each block, added",
        (0, 1, 2),
        "softmax of each block by itself",
        APPEND,
        "pairs = zip(keys.split(block_size, -2), values.split(block_size, -2))\n"
        "        found = [scaled_dot_product_attention(own, *p)[0] for p in pairs]\n"
        "        outputs.append(sum(found))",
    ),
    _sparse(
        "global blocks do not see",
        (0, 1, 2),
        "global blocks do not see",
        "places = torch.tensor(seen, device",
        "if block < num_global:\n"
        "            plain = seen_blocks(block, blocks, window, stride, 0)\n"
        "            seen = sorted({*plain, *range(num_global)})\n"
        "        places = torch.tensor(seen, device",
    ),
    _sparse(
        "global blocks forgotten",
        (0, 1, 2),
        "no global blocks",
        "window, stride, num_global)\n        places",
        "window, stride, 0)\n        places",
    ),
    _sparse(
        "strides forgotten",
        (0, 1, 2),
        "no strides",
        "window, stride, num_global)\n        places",
        "window, 0, num_global)\n        places",
    ),
    _sparse(
        "the last block must be full",
        (1, 2),
        "last block taken for full",
        "places = places[places < tokens]  # the last block may be short",
        "places = places.flatten()",
    ),
    _sparse_code(
        "zeros fill the last block",
        (1, 2),
        "padding is attended to",
        """
        def sparse_attention(query, key, value, block_size, window, stride, num_global):
            n, out = query.shape[-2], []
            blocks = math.ceil(n / block_size)
            pad = (0, 0, 0, blocks * block_size - n)
            q, k, v = (F.pad(x, pad) for x in (query, key, value))
            for b in range(blocks):
                seen = seen_blocks(b, blocks, window, stride, num_global)
                places = torch.tensor(seen)[:, None] * block_size
                places = (places + torch.arange(block_size)).flatten()
                own = q[..., b * block_size : (b + 1) * block_size, :]
                keys, values = k[..., places, :], v[..., places, :]
                out.append(scaled_dot_product_attention(own, keys, values)[0])
            return torch.cat(out, dim=-2)[..., :n, :]
        """,
    ),
    _sparse(
        "tokens of the last block lost",
        (1, 2),
        "last tokens lost",
        "tokens, outputs = query.shape[-2], []",
        "tokens, outputs = query.shape[-2] // block_size * block_size, []",
    ),
    _sparse(
        "keys of the last block lost",
        (1, 2),
        "last keys lost",
        "places = places[places < tokens]",
        "places = places[places < tokens // block_size * block_size]",
    ),
    _sparse(
        "gathered values detached",
        (2,),
        "gradient cut off",
        "key[..., places, :], value[..., places, :]",
        "key[..., places, :], value.detach()[..., places, :]",
    ),
    _sparse(
        "gathered by NumPy",
        (2,),
        "no gradient at all",
        APPEND,
        "parts = (torch.tensor(x.detach().numpy()) for x in (own, keys, values))\n"
        "        outputs.append(scaled_dot_product_attention(*parts)[0])",
    ),
    _sparse(
        "sequences laid end to end",
        (2,),
        "sequences run into one another",
        "    tokens, outputs = query.shape[-2], []",
        "    if query.dim() > 2:\n"
        "        parts = (x.reshape(-1, x.shape[-1]) for x in (query, key, value))\n"
        "        rule = block_size, window, stride, num_global\n"
        "        return sparse_attention(*parts, *rule).reshape(value.shape)\n"
        "    tokens, outputs = query.shape[-2], []",
    ),
    _sparse_code(
        "full attention with the mask",
        (3,),
        "n × n numbers are made",
        """
        def sparse_attention(query, key, value, block_size, window, stride, num_global):
            rule = block_size, window, stride, num_global
            mask = pattern_mask(query.shape[-2], *rule)
            return scaled_dot_product_attention(query, key, value, mask)[0]
        """,
    ),
    _sparse_code(
        "every pair of blocks, most of them hidden",
        (3,),
        "all scores are computed, in pieces",
        """
        def sparse_attention(query, key, value, block_size, window, stride, num_global):
            n, out = query.shape[-2], []
            blocks = math.ceil(n / block_size)
            number = torch.arange(n) // block_size
            for block, own in enumerate(query.split(block_size, dim=-2)):
                seen = seen_blocks(block, blocks, window, stride, num_global)
                shown = torch.isin(number, torch.tensor(seen))
                scores = own @ key.mT / math.sqrt(key.shape[-1])
                scores = scores.masked_fill(~shown, -torch.inf)
                out.append(scores.softmax(-1) @ value)
            return torch.cat(out, dim=-2)
        """,
    ),
    _sparse_code(
        "every row as wide as the global one",
        (3,),
        "n × n numbers are made",
        """
        def sparse_attention(query, key, value, block_size, window, stride, num_global):
            n = query.shape[-2]
            blocks = math.ceil(n / block_size)
            rule = window, stride, num_global
            seen = [list(seen_blocks(b, blocks, *rule)) for b in range(blocks)]
            width = max(map(len, seen))
            chosen = torch.tensor([s + [blocks] * (width - len(s)) for s in seen])
            places = chosen[..., None] * block_size + torch.arange(block_size)
            places = places.flatten(1)  # (blocks, width * block_size)
            ok, places = places < n, places.clamp(max=n - 1)
            pad = (0, 0, 0, blocks * block_size - n)
            own = F.pad(query, pad).unflatten(-2, (blocks, block_size))
            scores = own @ key[..., places, :].mT / math.sqrt(key.shape[-1])
            weights = scores.masked_fill(~ok[:, None], -torch.inf).softmax(-1)
            return (weights @ value[..., places, :]).flatten(-3, -2)[..., :n, :]
        """,
    ),
]

SIGNATURE = "query, key, value, block_size, window, stride, num_global"

RIGHT_SPARSE = [
    Right("sparse", name, code=_code(code).replace("SIGNATURE", SIGNATURE))
    for name, code in (
        (
            "slices joined, softmax by hand",
            """
            def sparse_attention(SIGNATURE):
                blocks = -(-query.shape[-2] // block_size)
                q, k, v = (x.split(block_size, dim=-2) for x in (query, key, value))
                out = []
                for b in range(blocks):
                    seen = list(seen_blocks(b, blocks, window, stride, num_global))
                    keys = torch.cat([k[j] for j in seen], dim=-2)
                    values = torch.cat([v[j] for j in seen], dim=-2)
                    scores = q[b] @ keys.mT / math.sqrt(q[b].shape[-1])
                    out.append(scores.softmax(dim=-1) @ values)
                return torch.cat(out, dim=-2)
            """,
        ),
        (
            "index_select and the fused kernel",
            """
            def sparse_attention(SIGNATURE):
                n = query.shape[-2]
                count = math.ceil(n / block_size)
                pieces = []
                for b in range(count):
                    index = []
                    for j in seen_blocks(b, count, window, stride, num_global):
                        index += range(j * block_size, min((j + 1) * block_size, n))
                    index = torch.tensor(index)
                    rows = torch.arange(b * block_size, min((b + 1) * block_size, n))
                    pieces.append(
                        F.scaled_dot_product_attention(
                            query.index_select(-2, rows),
                            key.index_select(-2, index),
                            value.index_select(-2, index),
                        )
                    )
                return torch.cat(pieces, -2)
            """,
        ),
        (
            "online softmax over the blocks",
            """
            def sparse_attention(SIGNATURE):
                blocks = math.ceil(query.shape[-2] / block_size)
                q, k, v = (x.split(block_size, dim=-2) for x in (query, key, value))
                out = []
                for b in range(blocks):
                    top, total, mixed = None, 0, 0
                    for j in seen_blocks(b, blocks, window, stride, num_global):
                        scores = q[b] @ k[j].mT * key.shape[-1] ** -0.5
                        new = scores.amax(-1, keepdim=True)
                        if top is not None:
                            new = torch.maximum(top, new)
                            total = total * torch.exp(top - new)
                            mixed = mixed * torch.exp(top - new)
                        terms = torch.exp(scores - new)
                        total = total + terms.sum(-1, keepdim=True)
                        mixed, top = mixed + terms @ v[j], new
                    out.append(mixed / total)
                return torch.cat(out, dim=-2)
            """,
        ),
        (
            "written into a result, double precision",
            """
            def sparse_attention(SIGNATURE):
                n, d = query.shape[-2:]
                result = torch.zeros_like(value, dtype=torch.float64)
                number = torch.div(torch.arange(n), block_size, rounding_mode="floor")
                blocks = int(number.max()) + 1
                for b in range(blocks):
                    seen = seen_blocks(b, blocks, window, stride, num_global)
                    rows = (number == b).nonzero()[:, 0]
                    near = torch.isin(number, torch.as_tensor(list(seen)))
                    near = near.nonzero()[:, 0]
                    q, k = query[..., rows, :].double(), key[..., near, :].double()
                    w = torch.einsum("...id,...jd->...ij", q, k).div(d**0.5).softmax(-1)
                    result[..., rows, :] = w @ value[..., near, :].double()
                return result.to(value.dtype)
            """,
        ),
        (
            "the global blocks and the others apart",
            """
            def sparse_attention(SIGNATURE):
                n = query.shape[-2]
                blocks = math.ceil(n / block_size)
                first = min(num_global * block_size, n)
                attend = scaled_dot_product_attention
                out = [attend(query[..., :first, :], key, value)[0]]
                for b in range(num_global, blocks):
                    mine = query[..., b * block_size : (b + 1) * block_size, :]
                    seen = seen_blocks(b, blocks, window, stride, num_global)
                    spans = [slice(j * block_size, (j + 1) * block_size) for j in seen]
                    k = torch.cat([key[..., s, :] for s in spans], -2)
                    v = torch.cat([value[..., s, :] for s in spans], -2)
                    out.append(attend(mine, k, v)[0])
                return torch.cat(out, -2)
            """,
        ),
        (
            "one query at a time",
            """
            def sparse_attention(SIGNATURE):
                n = query.shape[-2]
                blocks, rows = math.ceil(n / block_size), []
                lists = {}
                for i in range(n):
                    b = i // block_size
                    if b not in lists:
                        seen = seen_blocks(b, blocks, window, stride, num_global)
                        lists[b] = [
                            j * block_size + t
                            for j in seen
                            for t in range(block_size)
                            if j * block_size + t < n
                        ]
                    k, v = key[..., lists[b], :], value[..., lists[b], :]
                    s = (k * query[..., i : i + 1, :]).sum(-1) / k.shape[-1] ** 0.5
                    rows.append((s.softmax(-1).unsqueeze(-1) * v).sum(-2))
                return torch.stack(rows, dim=-2)
            """,
        ),
    )
]


def _costs(name, loses, named, *change):
    return Wrong("costs", name, loses, named, change=change)


IN_BLOCKS = "heads * blocks * window * 2 * max(window, width)"

WRONG_COSTS = [
    _costs(
        "scores of one head",
        (0,),
        "heads forgotten",
        "max(heads * tokens**2, output)",
        "tokens**2",
    ),
    _costs(
        "the output forgotten",
        (0,),
        "output forgotten",
        "max(heads * tokens**2, output)",
        "heads * tokens**2",
    ),
    _costs(
        "only what is seen",
        (0,),
        "window counted",
        "max(heads * tokens**2, output)",
        "max(heads * tokens * window, output)",
    ),
    _costs(
        "a mask for each head",
        (1,),
        "a mask for each head",
        "max(tokens**2, output)",
        "max(heads * tokens**2, output)",
    ),
    _costs(
        "the mask is free",
        (1,),
        "mask costs nothing",
        "max(tokens**2, output)",
        "output",
    ),
    _costs(
        "the fused output forgotten",
        (1,),
        "output forgotten",
        "max(tokens**2, output)",
        "tokens**2",
    ),
    _costs(
        "fused keeps the scores",
        (1,),
        "fused attention with n² memory",
        '"fused, causal": output',
        '"fused, causal": max(heads * tokens**2, output)',
    ),
    _costs("the band", (2,), "only the band", IN_BLOCKS, "heads * tokens * window"),
    _costs(
        "own block only",
        (2,),
        "one block of keys",
        IN_BLOCKS,
        "heads * blocks * window * max(window, width)",
    ),
    _costs(
        "three blocks",
        (2,),
        "three blocks of keys",
        IN_BLOCKS,
        "heads * blocks * window * 3 * max(window, width)",
    ),
    _costs(
        "scores only",
        (2,),
        "copied keys forgotten",
        IN_BLOCKS,
        "heads * blocks * window * 2 * window",
    ),
    _costs(
        "keys only",
        (2,),
        "scores forgotten",
        IN_BLOCKS,
        "heads * blocks * window * 2 * width",
    ),
    _costs(
        "no filling up",
        (2,),
        "last block not filled up",
        IN_BLOCKS,
        "heads * tokens * 2 * max(window, width)",
    ),
    _costs(
        "rounded down",
        (2,),
        "last block forgotten",
        "math.ceil(tokens / window)",
        "tokens // window",
    ),
    _costs(
        "blocks of one head",
        (2,),
        "heads forgotten",
        IN_BLOCKS,
        "blocks * window * 2 * max(window, width)",
    ),
    _costs(
        "seconds in place of numbers",
        (0, 1, 2),
        "forbidden function",
        "output = heads * tokens * width",
        "output = heads * tokens * width\n    count_elements(lambda: None)",
    ),
]

RIGHT_COSTS = [
    Right("costs", name, code=_code(code))
    for name, code in (
        (
            "lists of tensors",
            """
            def largest_tensor(heads, tokens, width, window):
                shapes = {
                    "written out": [(heads, tokens, tokens), (heads, tokens, width)],
                    "fused, masked": [(tokens, tokens), (heads, tokens, width)],
                    "fused, causal": [(heads, tokens, width)],
                }
                b = -(-tokens // window)
                shapes["in blocks"] = [
                    (heads, b, window, 2 * window),
                    (heads, b, 2 * window, width),
                    (heads, tokens, width),
                ]
                return {k: max(math.prod(s) for s in v) for k, v in shapes.items()}
            """,
        ),
        (
            "factors taken out",
            """
            def largest_tensor(heads, tokens, width, window):
                padded = window * math.ceil(tokens / window)
                return dict(
                    [
                        ("in blocks", 2 * heads * padded * max(width, window)),
                        ("fused, causal", heads * tokens * width),
                        ("fused, masked", tokens * max(tokens, heads * width)),
                        ("written out", heads * tokens * max(tokens, width)),
                    ]
                )
            """,
        ),
        (
            "one function for each way",
            """
            def _out(h, n, d, w):
                return h * n * d


            def _blocks(h, n, d, w):
                full = n + (-n) % w
                return max(2 * h * full * w, 2 * h * full * d)


            def largest_tensor(heads, tokens, width, window):
                sizes = heads, tokens, width, window
                return {
                    "written out": max(heads * tokens * tokens, _out(*sizes)),
                    "fused, masked": max(tokens * tokens, _out(*sizes)),
                    "fused, causal": _out(*sizes),
                    "in blocks": _blocks(*sizes),
                }
            """,
        ),
        (
            "floats that are whole",
            """
            def largest_tensor(heads, tokens, width, window):
                n, out = float(tokens), float(heads) * tokens * width
                rounds = (tokens - 1) // window + 1.0
                return {
                    "written out": max(heads * n**2, out),
                    "fused, masked": max(n**2, out),
                    "fused, causal": out,
                    "in blocks": heads * rounds * window * 2 * max(window, width),
                }
            """,
        ),
        (
            "if in place of max",
            """
            def largest_tensor(heads, tokens, width, window):
                written = heads * tokens * (tokens if tokens > width else width)
                masked = heads * tokens * width
                if tokens * tokens > masked:
                    masked = tokens * tokens
                blocks, rest = divmod(tokens, window)
                if rest:
                    blocks += 1
                one = 2 * window * (window if window > width else width)
                found = {"written out": written, "fused, masked": masked}
                found["fused, causal"] = heads * tokens * width
                found["in blocks"] = heads * blocks * one
                return found
            """,
        ),
    )
]


def _timing(name, loses, named, *change):
    return Wrong("timing", name, loses, named, change=change)


MEDIAN = "statistics.median(taken)"
IN_TURNS = """\
    for _ in range(repeats):
        for name, job in jobs.items():
            start = clock()
            job()
            seconds[name].append(clock() - start)
"""
ONE_BY_ONE = """\
    for name, job in jobs.items():
        for _ in range(repeats):
            start = clock()
            job()
            seconds[name].append(clock() - start)
"""
FORGET = "        if our >= their:\n            found = None\n        elif found"

WRONG_TIMING = [
    _timing(
        "no warm-up",
        (0,),
        "no warm-up",
        "    for job in jobs.values():\n        job()\n",
        "",
    ),
    _timing(
        "only the first warmed up",
        (0,),
        "only the first job is warmed up",
        "for job in jobs.values():",
        "for job in list(jobs.values())[:1]:",
    ),
    _timing(
        "a clock of its own",
        (0, 1, 2),
        "another clock",
        "seconds = {name: [] for name in jobs}",
        "clock = time.perf_counter\n    seconds = {name: [] for name in jobs}",
    ),
    _timing(
        "readings of the clock",
        (0, 1, 2),
        "time of day",
        "clock() - start",
        "clock()",
    ),
    _timing("milliseconds", (0, 1), "milliseconds", MEDIAN, f"1e3 * {MEDIAN}"),
    _timing(
        "the mean",
        (1,),
        "mean in place of the median",
        MEDIAN,
        "sum(taken) / len(taken)",
    ),
    _timing("the sum", (1,), "the sum of the repeats", MEDIAN, "sum(taken)"),
    _timing(
        "the shortest",
        (1,),
        "the shortest in place of the median",
        MEDIAN,
        "min(taken)",
    ),
    _timing("the last", (1,), "one call only", MEDIAN, "taken[-1]"),
    _timing(
        "one job after the other",
        (2,),
        "one job after the other",
        IN_TURNS,
        ONE_BY_ONE,
    ),
    _timing(
        "first win counts",
        (3,),
        "lengths read in another way",
        FORGET,
        "        if found",
    ),
    _timing(
        "the place in the list",
        (3,),
        "the place in place of the length",
        "    return found",
        "    return None if found is None else lengths.index(found)",
    ),
    _timing(
        "slower is faster",
        (3,),
        "ours and theirs exchanged",
        "if our >= their",
        "if our <= their",
    ),
    _timing(
        "the last length where there is none",
        (3,),
        "no answer where there is no crossover",
        "    return found",
        "    return lengths[-1] if found is None else found",
    ),
]

CROSSOVER = """
def crossover(lengths, ours, theirs):
    answer = None
    for k in range(len(lengths) - 1, -1, -1):
        if not ours[k] < theirs[k]:
            return answer
        answer = lengths[k]
    return answer
"""
CROSSOVER_ALL = """
def crossover(lengths, ours, theirs):
    wins = [a < b for a, b in zip(ours, theirs)]
    good = [n for k, n in enumerate(lengths) if all(wins[k:])]
    return min(good) if good else None
"""
CROSSOVER_LAST_LOSS = """
def crossover(lengths, ours, theirs):
    losses = [i for i in range(len(lengths)) if ours[i] >= theirs[i]]
    after = losses[-1] + 1 if losses else 0
    return lengths[after] if after < len(lengths) else None
"""

RIGHT_TIMING = [
    Right("timing", name, code=_two(stopwatch, crossing))
    for name, stopwatch, crossing in (
        (
            "sorted, the middle one",
            """
            def time_in_turns(jobs, repeats=5, clock=time.process_time):
                names = list(jobs)
                found = {}
                for turn in range(repeats + 1):  # the first turn warms up
                    for name in names:
                        before = clock()
                        jobs[name]()
                        after = clock()
                        if turn:
                            found.setdefault(name, []).append(after - before)
                middle = repeats // 2
                return {name: sorted(found[name])[middle] for name in names}
            """,
            CROSSOVER,
        ),
        (
            "torch.median, a helper",
            """
            def _once(job, clock):
                start = clock()
                job()
                return clock() - start


            def time_in_turns(jobs, repeats=5, clock=time.process_time):
                [job() for job in jobs.values()]
                rounds = [
                    [_once(job, clock) for job in jobs.values()] for _ in range(repeats)
                ]
                medians = torch.tensor(rounds, dtype=torch.float64).median(dim=0).values
                return dict(zip(jobs, medians.tolist()))
            """,
            CROSSOVER_ALL,
        ),
        (
            "order turned round in every other turn",
            """
            def time_in_turns(jobs, repeats=5, clock=time.process_time):
                for name in jobs:
                    jobs[name]()
                lists = {name: [] for name in jobs}
                for turn in range(repeats):
                    names = list(jobs) if turn % 2 else list(jobs)[::-1]
                    for name in names:
                        lists[name].append(-clock())
                        jobs[name]()
                        lists[name][-1] += clock()
                return {n: statistics.median(lists[n]) for n in jobs}
            """,
            CROSSOVER_LAST_LOSS,
        ),
        (
            "warmed up twice, NumPy",
            """
            def time_in_turns(jobs, repeats=5, clock=time.process_time):
                import numpy as np

                for _ in range(2):
                    for job in jobs.values():
                        job()
                table = np.zeros((repeats, len(jobs)))
                for row in table:
                    for column, job in enumerate(jobs.values()):
                        start = clock()
                        job()
                        row[column] = clock() - start
                return dict(zip(jobs, np.median(table, axis=0)))
            """,
            CROSSOVER,
        ),
        (
            "warmed up before each measurement",
            """
            def time_in_turns(jobs, repeats=5, clock=time.process_time):
                taken = {name: [] for name in jobs}
                while min(map(len, taken.values())) < repeats:
                    for name, job in jobs.items():
                        job()
                        start = clock()
                        job()
                        end = clock()
                        taken[name].append(end - start)
                return {name: statistics.median(t) for name, t in taken.items()}
            """,
            CROSSOVER_ALL,
        ),
    )
]


def _quality(name, loses, named, *change):
    return Wrong("quality", name, loses, named, change=change)


REACH = "return layers * (window - 1)"
OPTIONS = "window=self.window, causal=True"
SPLIT = "p.unflatten(-1, (self.heads, -1)).transpose(1, 2) for p in parts"
JOIN = "mixed.transpose(1, 2).flatten(-2)"
BAD_SPLIT = "p.reshape(p.shape[0], self.heads, p.shape[1], -1) for p in parts"

WRONG_QUALITY = [
    _quality(
        "layers times window",
        (0,),
        "own key counted as a step",
        REACH,
        "return layers * window",
    ),
    _quality("one layer's reach", (0,), "one layer only", REACH, "return window - 1"),
    _quality("multiplied", (0,), "reaches multiplied", REACH, "return window**layers"),
    _quality(
        "tokens seen",
        (0,),
        "own place counted",
        REACH,
        "return layers * (window - 1) + 1",
    ),
    _quality(
        "the future is seen",
        (1,),
        "two-sided in place of causal",
        OPTIONS,
        "window=self.window",
    ),
    _quality(
        "a window larger by one",
        (1,),
        "window larger by one",
        OPTIONS,
        "window=self.window + 1, causal=True",
    ),
    _quality(
        "a window smaller by one",
        (1, 2),
        "window smaller by one",
        OPTIONS,
        "window=self.window - 1, causal=True",
    ),
    _quality(
        "no window at all",
        (1, 2),
        "no window",
        OPTIONS,
        "window=x.shape[1], causal=True",
    ),
    _quality(
        "heads cut by reshape",
        (1, 2),
        "heads cut across the tokens",
        SPLIT,
        BAD_SPLIT,
    ),
    _quality(
        "heads joined by reshape",
        (1, 2),
        "heads cut across the tokens",
        JOIN,
        "mixed.reshape(x.shape)",
    ),
    _quality(
        "attention thrown away",
        (1, 2),
        "nothing but the own token",
        f"return x + self.out({JOIN})",
        "return x + self.out(x)",
    ),
    _quality(
        "no gradient reaches the scores",
        (1, 2),
        "no gradient reaches the scores",
        f"return x + self.out({JOIN})",
        "scale = self.out(x) * 0\n"
        f"        return x + {JOIN}.detach() + scale if self.training else "
        f"x + self.out({JOIN})",
    ),
]

_LAYER = """
def reach(layers, window):
    return {reach}


class LocalLayer(nn.Module):
    def __init__(self, width, heads, window):
        super().__init__()
{init}

    def forward(self, x):
{forward}
"""


def _layer(reach, init, forward):
    def indented(text):
        return "\n".join(f"        {line}" for line in dedent(text).strip().split("\n"))

    return _LAYER.format(reach=reach, init=indented(init), forward=indented(forward))


THREE_MAPS = """
self.q, self.k, self.v, self.o = (nn.Linear(width, width) for _ in range(4))
self.norm, self.heads, self.window = nn.LayerNorm(width), heads, window
"""
ONE_MAP = """
self.maps, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
self.norm, self.heads, self.window = nn.LayerNorm(width), heads, window
"""

RIGHT_QUALITY = [
    Right("quality", name, code=_layer(reach, init, forward))
    for name, reach, init, forward in (
        (
            "three maps, view and transpose",
            "layers * window - layers",
            THREE_MAPS,
            """
            b, n, d = x.shape
            z = self.norm(x)
            shape = (b, n, self.heads, d // self.heads)
            q = self.q(z).view(shape).transpose(1, 2)
            k = self.k(z).view(shape).transpose(1, 2)
            v = self.v(z).view(shape).transpose(1, 2)
            y = window_attention(q, k, v, self.window, True)
            return self.o(y.transpose(1, 2).reshape(b, n, d)) + x
            """,
        ),
        (
            "a loop over the heads",
            "sum(window - 1 for _ in range(layers))",
            ONE_MAP,
            """
            width = x.shape[-1]
            query, key, value = self.maps(self.norm(x)).split(width, dim=-1)
            size = width // self.heads
            heads = [
                window_attention(
                    query[..., h : h + size],
                    key[..., h : h + size],
                    value[..., h : h + size],
                    self.window,
                    causal=True,
                )
                for h in range(0, width, size)
            ]
            return x + self.out(torch.cat(heads, dim=-1))
            """,
        ),
        (
            "permute, and the norm after the sum",
            "(window - 1) * layers",
            ONE_MAP,
            """
            batch, tokens, width = x.shape
            three = self.maps(x).view(batch, tokens, 3, self.heads, -1)
            three = three.permute(2, 0, 3, 1, 4)
            mixed = window_attention(*three, self.window, True).permute(0, 2, 1, 3)
            return self.norm(x + self.out(mixed.reshape(batch, tokens, width)))
            """,
        ),
        (
            "full attention with a mask",
            "layers * max(window - 1, 0)",
            ONE_MAP,
            """
            q, k, v = self.maps(self.norm(x)).chunk(3, -1)
            parts = (t.unflatten(-1, (self.heads, -1)) for t in (q, k, v))
            q, k, v = (t.movedim(-2, 1) for t in parts)
            n = x.shape[1]
            ones = torch.ones(n, n, dtype=torch.bool, device=x.device)
            mask = ones.tril() & ones.triu(1 - self.window)
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
            return x + self.out(y.movedim(1, -2).flatten(-2))
            """,
        ),
        (
            "parameters without modules",
            "layers * (window - 1)",
            """
            weights = torch.randn(4, heads, width, width // heads)
            self.w = nn.Parameter(weights / width**0.5)
            self.norm, self.window = nn.LayerNorm(width), window
            """,
            """
            q, k, v = torch.einsum("bnd,chde->cbhne", self.norm(x), self.w[:3])
            mixed = window_attention(q, k, v, window=self.window, causal=True)
            return x + torch.einsum("bhne,hde->bnd", mixed, self.w[3])
            """,
        ),
    )
]

WRONG = [
    *WRONG_MASK,
    *WRONG_LOCAL,
    *WRONG_PATTERN,
    *WRONG_SPARSE,
    *WRONG_COSTS,
    *WRONG_TIMING,
    *WRONG_QUALITY,
    *students.WRONG,
    *subtle.WRONG,
    *fresh.WRONG,
    *unforeseen.EFFICIENT,
    *uncounted.WRONG,
]
RIGHT = [
    *RIGHT_MASK,
    *RIGHT_LOCAL,
    *RIGHT_PATTERN,
    *RIGHT_SPARSE,
    *RIGHT_COSTS,
    *RIGHT_TIMING,
    *RIGHT_QUALITY,
    *students.RIGHT,
    *subtle.RIGHT,
    *fresh.RIGHT,
    *unforeseen.EFFICIENT_RIGHT,
    *uncounted.RIGHT,
]
