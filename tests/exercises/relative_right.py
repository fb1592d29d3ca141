"""Right answers to exercise 4, each written differently from the solution."""

from textwrap import dedent

from tests.exercises import unforeseen
from tests.exercises.answers import Right
from tests.exercises.fresh import relative as fresh
from tests.exercises.students import relative as students
from tests.exercises.subtle import relative as subtle


def _right(task, name, code, *helpers):
    cells = tuple(dedent(helper).strip() + "\n" for helper in helpers)
    return Right(task, name, code=dedent(code).strip() + "\n", helpers=cells)


DISTANCES = [
    _right(
        "distances",
        "two loops",
        """
        def relative_distances(queries, keys, offset=0):
            rows = []
            for i in range(queries):
                rows.append([j - i - offset for j in range(keys)])
            return torch.tensor(rows)
        """,
    ),
    _right(
        "distances",
        "ranges that begin elsewhere",
        """
        def relative_distances(queries, keys, offset=0):
            where = torch.arange(offset, offset + queries).unsqueeze(1)
            return torch.arange(keys).unsqueeze(0).sub(where)
        """,
    ),
    _right(
        "distances",
        "meshgrid",
        """
        def relative_distances(n_queries, n_keys, offset=0):
            i, j = torch.meshgrid(
                torch.arange(n_queries), torch.arange(n_keys), indexing="ij"
            )
            return j - i - offset
        """,
    ),
    _right(
        "distances",
        "NumPy and a callable",
        """
        import numpy as np

        class Distances:
            def __call__(self, queries, keys, offset=0):
                i, j = np.indices((queries, keys))
                return torch.from_numpy(j - i - offset)

        relative_distances = Distances()
        """,
    ),
    _right(
        "distances",
        "a helper in a cell of its own, int32",
        """
        def relative_distances(queries, keys, offset=0):
            a, b = places(queries, offset), places(keys, 0)
            return -(a[:, None] - b[None, :])
        """,
        """
        def places(count, first):
            return torch.arange(count, dtype=torch.int32) + first
        """,
    ),
    _right(
        "distances",
        "cumulative sums",
        """
        def relative_distances(queries, keys, offset=0):
            ones = torch.ones(queries, keys, dtype=torch.long)
            return ones.cumsum(1) - ones.cumsum(0) - offset
        """,
    ),
]

BUCKETS = [
    _right(
        "buckets",
        "one number at a time",
        """
        def clipped_rows(distances, reach):
            rows = [min(max(d, -reach), reach) + reach for d in distances.flatten()]
            return torch.tensor([int(r) for r in rows]).reshape(distances.shape)

        def bucket_of(d, n, most):
            e = n // 2
            if d < e:
                return d
            return min(n - 1, e + int((n - e) * math.log(d / e) / math.log(most / e)))

        def buckets(distances, num_buckets, max_distance, causal=True):
            found = []
            for r in distances.flatten().tolist():
                if causal:
                    found.append(bucket_of(max(-r, 0), num_buckets, max_distance))
                else:
                    b = bucket_of(abs(r), num_buckets // 2, max_distance)
                    found.append(b + (num_buckets // 2 if r > 0 else 0))
            return torch.tensor(found).reshape(distances.shape)
        """,
    ),
    _right(
        "buckets",
        "after the code of T5",
        """
        def clipped_rows(distances, reach):
            return torch.clip(distances, min=-reach, max=reach) + reach

        def buckets(distances, num_buckets, max_distance, causal=True):
            result = torch.zeros_like(distances)
            n = -distances
            if not causal:
                num_buckets //= 2
                result += (n < 0).long() * num_buckets
                n = n.abs()
            else:
                n = torch.max(n, torch.zeros_like(n))
            max_exact = num_buckets // 2
            large = max_exact + (
                torch.log(n.float() / max_exact)
                / math.log(max_distance / max_exact)
                * (num_buckets - max_exact)
            ).to(torch.long)
            large = torch.min(large, torch.full_like(large, num_buckets - 1))
            return result + torch.where(n < max_exact, n, large)
        """,
    ),
    _right(
        "buckets",
        "edges, and how many of them are passed",
        """
        def clipped_rows(distances, reach):
            return torch.minimum(
                torch.maximum(distances + reach, torch.tensor(0)),
                torch.tensor(2 * reach),
            )

        def buckets(distances, num_buckets, max_distance, causal=True):
            n = num_buckets if causal else num_buckets // 2
            e = n // 2
            growth = (max_distance / e) ** (1 / (n - e))
            edges = torch.tensor(
                [*range(1, e + 1), *(e * growth**k for k in range(1, n - e))]
            )
            d = (-distances).clamp(min=0) if causal else distances.abs()
            found = (d[..., None] >= edges - 1e-6).sum(dim=-1)
            return found if causal else found + n * (distances > 0)
        """,
    ),
    _right(
        "buckets",
        "double precision, in NumPy",
        """
        import numpy as np

        def clipped_rows(distances, reach):
            return torch.from_numpy(np.clip(distances.numpy(), -reach, reach) + reach)

        def buckets(distances, num_buckets, max_distance, causal=True):
            r = distances.numpy()
            n = num_buckets if causal else num_buckets // 2
            d = np.maximum(-r, 0) if causal else np.abs(r)
            e = n // 2
            log = np.log(np.maximum(d, 1) / e) / np.log(max_distance / e)
            far = np.minimum(n - 1, e + np.floor((n - e) * log))
            found = np.where(d < e, d, far).astype(int)
            return torch.from_numpy(found if causal else found + n * (r > 0))
        """,
    ),
    _right(
        "buckets",
        "one side as a helper, and log2",
        """
        def clipped_rows(distances, reach):
            left = torch.where(distances < -reach, -reach, distances)
            return torch.where(left > reach, reach, left) + reach

        def buckets(distances, num_buckets, max_distance, causal=True):
            if causal:
                return one_side(torch.relu(-distances), num_buckets, max_distance)
            half = num_buckets // 2
            right = one_side(torch.relu(distances), half, max_distance) + half
            left = one_side(torch.relu(-distances), half, max_distance)
            return torch.where(distances > 0, right, left)
        """,
        """
        def one_side(d, n, most):
            e = n // 2
            ratio = torch.log2(d.double().clamp(min=e) / e) / math.log2(most / e)
            far = (e + (n - e) * ratio).floor().long().clamp(max=n - 1)
            return torch.where(d < e, d, far)
        """,
    ),
]

BIAS = [
    _right(
        "bias",
        "einsum and where",
        """
        def biased_attention(q, k, v, bias=None, mask=None):
            scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / q.shape[-1] ** 0.5
            if bias is not None:
                scores = scores + bias.unsqueeze(0)
            if mask is not None:
                scores = torch.where(mask, scores, float("-inf"))
            weights = F.softmax(scores, dim=3)
            return torch.einsum("bhqk,bhkd->bhqd", weights, v), weights
        """,
    ),
    _right(
        "bias",
        "an additive mask",
        """
        def biased_attention(query, key, value, bias=None, mask=None):
            added = torch.zeros(query.shape[-2], key.shape[-2])
            if mask is not None:
                added = added.masked_fill(mask.logical_not(), -torch.inf)
            if bias is not None:
                added = added + bias
            scaled = query * query.shape[-1] ** -0.5
            weights = torch.softmax(torch.matmul(scaled, key.mT) + added, -1)
            return torch.matmul(weights, value), weights
        """,
    ),
    _right(
        "bias",
        "one head at a time",
        """
        def biased_attention(query, key, value, bias=None, mask=None):
            outputs, weights = [], []
            for h in range(query.shape[1]):
                scores = query[:, h] @ key[:, h].transpose(1, 2)
                scores = scores / math.sqrt(query.size(-1))
                if bias is not None:
                    scores = scores + bias[h]
                if mask is not None:
                    scores = scores.masked_fill(mask == 0, -1e9)
                weights.append(torch.softmax(scores, dim=-1))
                outputs.append(weights[-1] @ value[:, h])
            return torch.stack(outputs, dim=1), torch.stack(weights, dim=1)
        """,
    ),
    _right(
        "bias",
        "double precision, softmax by hand",
        """
        def biased_attention(query, key, value, bias=None, mask=None):
            s = query.double() @ key.double().mT / math.sqrt(query.shape[-1])
            s = s if bias is None else s + bias.double()
            e = (s - s.amax(-1, keepdim=True)).exp()
            e = e if mask is None else e * mask
            weights = (e / e.sum(-1, keepdim=True)).to(query.dtype)
            return weights @ value, weights
        """,
    ),
    _right(
        "bias",
        "a callable",
        """
        class Attention:
            def scores(self, query, key, bias):
                s = (query @ key.transpose(-1, -2)).div(math.sqrt(key.shape[-1]))
                return s if bias is None else s.add(bias)

            def __call__(self, query, key, value, bias=None, mask=None):
                scores = self.scores(query, key, bias)
                if mask is not None:
                    scores[:, :, ~mask] = -math.inf
                weights = torch.exp(scores - scores.logsumexp(-1, keepdim=True))
                return weights.matmul(value), weights

        biased_attention = Attention()
        """,
    ),
]

TABLE = [
    _right(
        "table",
        "an embedding set to zero",
        """
        class LearnedBias(nn.Module):
            def __init__(self, num_heads, num_buckets, max_distance, scale=10.0):
                super().__init__()
                self.emb = nn.Embedding(num_buckets, num_heads)
                nn.init.zeros_(self.emb.weight)
                self.n, self.most, self.scale = num_buckets, max_distance, scale

            def forward(self, queries, keys, offset=0):
                r = relative_distances(queries, keys, offset)
                rows = buckets(r, self.n, self.most)
                found = self.emb(rows.to(self.emb.weight.device))
                return found.movedim(-1, 0) * self.scale
        """,
    ),
    _right(
        "table",
        "heads first",
        """
        class LearnedBias(nn.Module):
            def __init__(self, num_heads, num_buckets, max_distance, scale=10.0):
                super().__init__()
                self.weight = nn.Parameter(torch.zeros(num_heads, num_buckets))
                self.bucket_settings = num_buckets, max_distance
                self.scale = scale

            def forward(self, queries, keys, offset=0):
                distances = relative_distances(queries, keys, offset)
                rows = buckets(distances, *self.bucket_settings)
                return self.scale * self.weight[:, rows]
        """,
    ),
    _right(
        "table",
        "one-hot vectors",
        """
        class LearnedBias(nn.Module):
            def __init__(self, num_heads, num_buckets, max_distance, scale=10.0):
                super().__init__()
                self.table = nn.Parameter(torch.zeros(num_buckets, num_heads))
                self.max_distance, self.scale = max_distance, scale

            def forward(self, queries, keys, offset=0):
                r = relative_distances(queries, keys, offset)
                rows = buckets(r, len(self.table), self.max_distance)
                hot = F.one_hot(rows, len(self.table)).to(self.table)
                return torch.einsum("qkn,nh->hqk", hot, self.scale * self.table)
        """,
    ),
    _right(
        "table",
        "index_select and view",
        """
        class LearnedBias(nn.Module):
            def __init__(self, num_heads, num_buckets, max_distance, scale=10.0):
                super().__init__()
                self.register_parameter(
                    "T", nn.Parameter(torch.empty(num_buckets, num_heads).fill_(0))
                )
                self.max_distance = max_distance
                self.scale = scale

            def forward(self, queries, keys, offset=0):
                rows = buckets(
                    relative_distances(queries, keys, offset),
                    self.T.size(0),
                    self.max_distance,
                ).flatten()
                rows = rows.to(self.T.device)
                return (self.scale * self.T.index_select(0, rows)).T.view(
                    -1, queries, keys
                )
        """,
    ),
    _right(
        "table",
        "one head at a time",
        """
        class LearnedBias(Base):
            def forward(self, queries, keys, offset=0):
                rows = buckets(
                    relative_distances(queries, keys, offset), self.n, self.most
                )
                heads = [self.scale * self.table[:, h][rows] for h in range(self.heads)]
                return torch.stack(heads)
        """,
        """
        class Base(nn.Module):
            def __init__(self, num_heads, num_buckets, max_distance, scale=10.0):
                super().__init__()
                self.table = nn.Parameter(torch.zeros((num_buckets, num_heads)))
                self.n, self.most, self.heads = num_buckets, max_distance, num_heads
                self.scale = scale
        """,
    ),
]

ALIBI = [
    _right(
        "alibi",
        "loops",
        """
        def head_slopes(num_heads):
            heads = range(1, num_heads + 1)
            return torch.tensor([2 ** (-8 * h / num_heads) for h in heads])

        def alibi(num_heads, queries, keys, offset=0):
            bias = torch.zeros(num_heads, queries, keys)
            for h, slope in enumerate(head_slopes(num_heads)):
                for i in range(queries):
                    for j in range(keys):
                        bias[h, i, j] = -slope * abs(i + offset - j)
            return bias
        """,
    ),
    _right(
        "alibi",
        "a geometric series, as in the authors' code",
        """
        def head_slopes(n):
            start = 2 ** (-(2 ** -(math.log2(n) - 3)))
            return torch.tensor([start * start**i for i in range(n)])

        def alibi(n, queries, keys, offset=0):
            r = relative_distances(queries, keys, offset)
            return torch.einsum("h,qk->hqk", head_slopes(n), -r.abs().float())
        """,
    ),
    _right(
        "alibi",
        "signed distances, the future at minus infinity",
        """
        def head_slopes(num_heads):
            return torch.exp2(torch.linspace(-8 / num_heads, -8, num_heads))

        def alibi(num_heads, queries, keys, offset=0):
            r = relative_distances(queries, keys, offset).float()
            r = r.masked_fill(r > 0, -math.inf)
            return head_slopes(num_heads).view(-1, 1, 1) * r
        """,
    ),
    _right(
        "alibi",
        "double precision, in NumPy",
        """
        import numpy as np

        def head_slopes(num_heads):
            powers = 8 * np.arange(1, num_heads + 1) / num_heads
            return torch.from_numpy(0.5**powers)

        def alibi(num_heads, queries, keys, offset=0):
            rows = np.arange(queries)[:, None] + offset
            steps = np.abs(rows - np.arange(keys))
            slopes = head_slopes(num_heads).numpy()
            return torch.from_numpy(-slopes[:, None, None] * steps)
        """,
    ),
    _right(
        "alibi",
        "logarithms and a stack",
        """
        def head_slopes(num_heads):
            h = torch.arange(num_heads) + 1.0
            return torch.exp(-math.log(2) * 8 * h / num_heads)

        def alibi(num_heads, queries, keys, offset=0):
            cost = torch.minimum(
                relative_distances(queries, keys, offset),
                -relative_distances(queries, keys, offset),
            )
            return torch.stack([slope * cost for slope in head_slopes(num_heads)])
        """,
    ),
    _right(
        "alibi",
        "a table of powers",
        """
        class Slopes:
            def __call__(self, num_heads):
                return torch.pow(2.0, -torch.arange(1, 17) * 0.5)[
                    16 // num_heads - 1 :: 16 // num_heads
                ]

        head_slopes = Slopes()

        def alibi(num_heads, queries, keys, offset=0):
            r = relative_distances(queries, keys, offset)[None].repeat(num_heads, 1, 1)
            return -r.abs() * head_slopes(num_heads).reshape(num_heads, 1, 1)
        """,
    ),
]

ROTARY = [
    _right(
        "rotary",
        "complex numbers",
        """
        def rotate(x, positions=None, base=10000.0):
            if positions is None:
                positions = torch.arange(x.shape[-2], device=x.device)
            half = torch.arange(x.shape[-1] // 2, device=x.device)
            theta = base ** (-2.0 * half / x.shape[-1])
            angles = torch.outer(positions.to(x.device).float(), theta)
            pairs = x.float().reshape(*x.shape[:-1], -1, 2).contiguous()
            z = torch.view_as_complex(pairs) * torch.polar(
                torch.ones_like(angles), angles
            )
            return torch.view_as_real(z).flatten(-2).to(x.dtype)
        """,
    ),
    _right(
        "rotary",
        "cosines repeated, neighbours exchanged",
        """
        def rotate(x, positions=None, base=10000.0):
            tokens, d = x.shape[-2], x.shape[-1]
            p = torch.arange(tokens) if positions is None else positions
            theta = 1.0 / base ** (torch.arange(0, d, 2).float() / d)
            angles = (p[:, None] * theta).repeat_interleave(2, dim=-1).to(x.device)
            swapped = exchange(x.float())
            return (x.float() * angles.cos() + swapped * angles.sin()).type_as(x)
        """,
        """
        def exchange(x):
            pairs = x.unflatten(-1, (-1, 2))
            return torch.stack((-pairs[..., 1], pairs[..., 0]), dim=-1).flatten(-2)
        """,
    ),
    _right(
        "rotary",
        "one matrix for each position",
        """
        def rotate(x, positions=None, base=10000.0):
            if positions is None:
                positions = range(x.shape[-2])
            d = x.shape[-1]
            turned = []
            for place, p in enumerate(positions):
                matrix = torch.zeros(d, d, dtype=torch.float64)
                for i in range(d // 2):
                    a = float(p) * base ** (-2 * i / d)
                    matrix[2 * i, 2 * i] = math.cos(a)
                    matrix[2 * i, 2 * i + 1] = -math.sin(a)
                    matrix[2 * i + 1, 2 * i] = math.sin(a)
                    matrix[2 * i + 1, 2 * i + 1] = math.cos(a)
                turned.append(x[..., place, :].double().cpu() @ matrix.T)
            return torch.stack(turned, dim=-2).to(x)
        """,
    ),
    _right(
        "rotary",
        "pair by pair, in double precision",
        """
        def rotate(x, positions=None, base=10000.0):
            tokens, d = x.shape[-2:]
            if positions is None:
                positions = torch.arange(tokens)
            y = torch.empty_like(x)
            for i in range(0, d, 2):
                a = positions.double() * base ** (-i / d)
                c, s = a.cos().to(x.device), a.sin().to(x.device)
                y[..., i] = x[..., i] * c - x[..., i + 1] * s
                y[..., i + 1] = x[..., i] * s + x[..., i + 1] * c
            return y
        """,
    ),
    _right(
        "rotary",
        "einsum with a rotation for each token and pair",
        """
        def rotate(x, positions=None, base=10000.0):
            d = x.shape[-1]
            if positions is None:
                positions = torch.arange(x.shape[-2])
            rate = torch.exp(torch.arange(0, d, 2) * (-math.log(base) / d))
            a = torch.einsum("t,i->ti", positions.float().cpu(), rate)
            rows = [
                torch.stack([a.cos(), -a.sin()], -1),
                torch.stack([a.sin(), a.cos()], -1),
            ]
            turn = torch.stack(rows, dim=-2).to(x.device)  # (tokens, pairs, 2, 2)
            pairs = x.float().unflatten(-1, (d // 2, 2))
            turned = torch.einsum("tiab,...tib->...tia", turn, pairs)
            return turned.flatten(-2).to(x.dtype)
        """,
    ),
    _right(
        "rotary",
        "a callable that keeps its rates",
        """
        class Rotary:
            def rates(self, width, base):
                return torch.tensor([base ** (-i / width) for i in range(0, width, 2)])

            def __call__(self, x, positions=None, base=10000.0):
                if positions is None:
                    positions = torch.arange(x.shape[-2])
                angles = positions.reshape(-1, 1) * self.rates(x.shape[-1], base)
                cos, sin = angles.cos().to(x.device), angles.sin().to(x.device)
                even, odd = x.float().unflatten(-1, (-1, 2)).unbind(-1)
                out = x.float().clone()
                out[..., ::2] = even * cos - odd * sin
                out[..., 1::2] = odd * cos + even * sin
                return out.to(x.dtype)

        rotate = Rotary()
        """,
    ),
]

SCHEMES = [
    _right(
        "schemes",
        "tril, and a pair returned",
        """
        def attend(query, key, value, scheme, learned=None):
            n, m = query.size(-2), key.size(-2)
            mask = torch.ones(n, m, dtype=torch.bool).tril(diagonal=m - n)
            bias = None
            if scheme == "rotary":
                query = rotate(query, torch.arange(m - n, m))
                key = rotate(key, torch.arange(m))
            if scheme == "alibi":
                bias = alibi(query.size(1), n, m, m - n).to(query.device)
            if scheme == "table":
                bias = learned(n, m, m - n)
            return biased_attention(query, key, value, bias, mask.to(query.device))
        """,
    ),
    _right(
        "schemes",
        "a dictionary of biases",
        """
        def attend(query, key, value, scheme, learned=None):
            heads, n, m = query.shape[1], query.shape[2], key.shape[2]
            biases = {
                "alibi": lambda: alibi(heads, n, m, m - n).to(query),
                "table": lambda: learned(n, m, m - n),
            }
            bias = biases.get(scheme, lambda: None)()
            if scheme == "rotary":
                query = rotate(query, torch.arange(m)[-n:])
                key = rotate(key)
            mask = (relative_distances(n, m, m - n) < 1).to(query.device)
            output, _ = biased_attention(query, key, value, bias, mask)
            return output
        """,
    ),
    _right(
        "schemes",
        "the mask as part of the bias",
        """
        def attend(query, key, value, scheme, learned=None):
            n, m = query.shape[-2], key.shape[-2]
            distances = relative_distances(n, m, m - n).to(query.device)
            hidden = torch.zeros(distances.shape, device=query.device)
            hidden = hidden.masked_fill(distances > 0, -math.inf)
            bias = hidden.expand(query.shape[1], n, m)
            if scheme == "alibi":
                bias = bias + alibi(query.shape[1], n, m, m - n).to(query)
            elif scheme == "table":
                bias = bias + learned(n, m, m - n)
            elif scheme == "rotary":
                query = rotate(query, m - n + torch.arange(n))
                key = rotate(key)
            return biased_attention(query, key, value, bias)[0]
        """,
    ),
    _right(
        "schemes",
        "all written out",
        """
        def attend(query, key, value, scheme, learned=None):
            n, m = query.shape[-2], key.shape[-2]
            where = torch.arange(m - n, m)
            q = rotate(query, where) if scheme == "rotary" else query
            k = rotate(key, torch.arange(m)) if scheme == "rotary" else key
            scores = torch.einsum("bhid,bhjd->bhij", q, k) / q.shape[-1] ** 0.5
            back = (where[:, None] - torch.arange(m)).to(scores.device)
            if scheme == "alibi":
                slopes = head_slopes(q.shape[1]).to(back.device)
                scores = scores - slopes[:, None, None] * back
            if scheme == "table":
                scores = scores + learned(n, m, m - n)
            scores = torch.where(back >= 0, scores, -math.inf)
            return torch.einsum("bhij,bhjd->bhid", scores.softmax(-1), value)
        """,
    ),
    _right(
        "schemes",
        "a callable with helpers",
        """
        class Attend:
            def __call__(self, query, key, value, scheme, learned=None):
                n, m = query.shape[2], key.shape[2]
                if scheme == "rotary":
                    query, key = rotate(query, torch.arange(n) + m - n), rotate(key)
                bias = bias_of(scheme, learned, query.shape[1], n, m)
                bias = bias if bias is None else bias.to(query.device)
                mask = relative_distances(n, m, m - n).le(0).to(query.device)
                return biased_attention(query, key, value, bias=bias, mask=mask)[0]

        attend = Attend()
        """,
        """
        def bias_of(scheme, learned, heads, n, m):
            if scheme == "alibi":
                return alibi(heads, n, m, offset=m - n)
            return learned(n, m, offset=m - n) if scheme == "table" else None
        """,
    ),
]

EVALUATION = [
    _right(
        "evaluation",
        "log-probabilities gathered",
        """
        @torch.no_grad()
        def loss_by_position(model, tokens):
            model.eval()
            tokens = tokens.to(next(model.parameters()).device)
            log_p = model(tokens)[:, :-1].log_softmax(dim=-1)
            targets = tokens[:, 1:]
            loss = -log_p.gather(-1, targets[..., None])[..., 0]
            real = targets.ne(0)
            return ((loss * real).sum(0) / real.sum(0)).cpu()

        def loss_at_lengths(model, tests, last):
            found = {}
            for n in tests:
                found[n] = float(loss_by_position(model, tests[n])[-last:].mean())
            return found
        """,
    ),
    _right(
        "evaluation",
        "position by position",
        """
        def loss_by_position(model, tokens):
            device = next(model.parameters()).device
            model.train(False)
            with torch.inference_mode():
                logits = model(tokens.to(device)).cpu()
            means = []
            for p in range(tokens.shape[1] - 1):
                real = tokens[:, p + 1] != 0
                means.append(F.cross_entropy(logits[real, p], tokens[real, p + 1]))
            return torch.stack(means)

        def loss_at_lengths(model, tests, last):
            losses = {n: loss_by_position(model, t) for n, t in tests.items()}
            return {n: sum(loss[-last:].tolist()) / last for n, loss in losses.items()}
        """,
    ),
    _right(
        "evaluation",
        "flattened",
        """
        def loss_by_position(model, tokens):
            was_training = model.training
            model.eval()
            x, y = tokens[:, :-1], tokens[:, 1:]
            with torch.no_grad():
                logits = model(x.to(next(model.parameters()).device)).cpu()
            loss = F.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="none")
            loss = loss.view(y.shape).masked_fill(y == 0, float("nan"))
            model.train(was_training)
            return loss.nanmean(dim=0)

        def loss_at_lengths(model, tests, last):
            return {
                n: loss_by_position(model, tokens)[n - 1 - last :].mean()
                for n, tokens in tests.items()
            }
        """,
    ),
    _right(
        "evaluation",
        "text by text, in double precision",
        """
        def loss_by_position(model, tokens):
            model.eval()
            device = next(model.parameters()).device
            total = torch.zeros(tokens.shape[1] - 1, dtype=torch.float64)
            count = torch.zeros_like(total)
            for text in tokens:
                with torch.no_grad():
                    logits = model(text[None].to(device))[0].double().cpu()
                for p, target in enumerate(text[1:].tolist()):
                    if target:
                        total[p] += logits[p].logsumexp(0) - logits[p, target]
                        count[p] += 1
            return total / count

        def loss_at_lengths(model, tests, last):
            return dict(
                (n, loss_by_position(model, t).flip(0)[:last].mean().item())
                for n, t in tests.items()
            )
        """,
    ),
    _right(
        "evaluation",
        "weights for the targets, nll_loss",
        """
        def loss_by_position(model, tokens):
            model.eval()
            with torch.no_grad():
                loss = losses_of(model, tokens.to(next(model.parameters()).device))
            real = (tokens[:, 1:] > 0).float()
            share = real / real.sum(0, keepdim=True)
            return torch.einsum("bp,bp->p", loss.cpu(), share)

        def loss_at_lengths(model, tests, last):
            means = [loss_by_position(model, t)[-last:].mean() for t in tests.values()]
            return dict(zip(tests, torch.stack(means).tolist()))
        """,
        """
        def losses_of(model, tokens):
            log_p = F.log_softmax(model(tokens[:, :-1]), dim=-1).transpose(1, 2)
            return F.nll_loss(log_p, tokens[:, 1:], reduction="none")
        """,
    ),
]

HOLDS = """
        def holds(losses, margin=0.2):
            found = set()
            for scheme, loss in losses.items():
                first = loss[sorted(loss)[0]]
                if all(value <= first + margin for value in loss.values()):
                    found.add(scheme)
            return found
"""

LENGTHS = [
    _right(
        "lengths",
        "an own loop with Adam",
        """
        def train_and_test(model, draw, steps, lengths, trained=32):
            optimiser = torch.optim.Adam(model.parameters(), lr=5e-3)
            model.train()
            for step in range(steps):
                tokens = draw(32, trained, step)
                logits = model(tokens[:, :-1])
                loss = F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:])
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
            tests = {n: draw(64, n, steps + n) for n in lengths}
            return loss_at_lengths(model, tests, trained - 1)
        """
        + HOLDS,
    ),
    _right(
        "lengths",
        "seeds of the training, but texts that no step has taken",
        """
        def train_and_test(model, draw, steps, lengths, trained=32):
            def batch_of(step):
                return (draw(96, trained, step)[:32],)

            def loss_of(model, tokens):
                logits = model(tokens[:, :-1])
                return F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:])

            train(model, batch_of, loss_of, steps=steps, learning_rate=5e-3,
                  progress=False)
            tests = {n: draw(96, n, 0)[32:] for n in lengths}
            return loss_at_lengths(model, tests, trained - 1)
        """
        + HOLDS,
    ),
    _right(
        "lengths",
        "one seed for all tests, the one after the last step",
        """
        def train_and_test(model, draw, steps, lengths, trained=32):
            def batch_of(step):
                return (draw(32, trained, step),)

            def loss_of(model, tokens):
                logits = model(tokens[:, :-1])
                return F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:])

            train(model, batch_of, loss_of, steps=steps, learning_rate=5e-3,
                  progress=False)
            tests = {n: draw(64, n, steps) for n in lengths}
            return loss_at_lengths(model, tests, trained - 1)
        """
        + HOLDS,
    ),
    _right(
        "lengths",
        "all texts drawn at once",
        """
        def train_and_test(model, draw, steps, lengths, trained=32):
            texts = draw(32 * steps, trained, 1).split(32)

            def loss_of(model, tokens):
                logits = model(tokens)[:, :-1]
                return F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())

            train(model, lambda i: (texts[i],), loss_of, steps=steps,
                  learning_rate=5e-3, progress=False)
            tests = {n: draw(64, n, 2) for n in lengths}
            return loss_at_lengths(model, tests, last=trained - 1)
        """
        + HOLDS,
    ),
    _right(
        "lengths",
        "the loss in a cell of its own",
        """
        def train_and_test(model, draw, steps, lengths, trained=32):
            train(model, lambda step: [draw(32, trained, 7 * step)], next_token_loss,
                  steps=steps, learning_rate=5e-3, progress=False)
            result = {}
            for n in lengths:
                test = {n: draw(64, n, 7 * n + 3)}
                result.update(loss_at_lengths(model, test, trained - 1))
            return result

        def holds(losses, margin=0.2):
            rise = {s: max(v.values()) - v[min(v)] for s, v in losses.items()}
            return [s for s in rise if rise[s] <= margin]
        """,
        """
        def next_token_loss(model, tokens):
            log_p = model(tokens[:, :-1]).log_softmax(-1)
            return -log_p.gather(-1, tokens[:, 1:, None]).mean()
        """,
    ),
    _right(
        "lengths",
        "tests drawn first, losses by position",
        """
        def train_and_test(model, draw, steps, lengths, trained=32):
            tests = [draw(64, n, -n - 1) for n in lengths]
            batches = [draw(32, trained, s) for s in range(steps)]

            def loss_of(model, t):
                return F.cross_entropy(model(t[:, :-1]).permute(0, 2, 1), t[:, 1:])

            train(model, lambda s: (batches[s],), loss_of, steps=steps,
                  learning_rate=5e-3, progress=False)
            return {
                n: loss_by_position(model, test)[-(trained - 1):].mean().item()
                for n, test in zip(lengths, tests)
            }

        def holds(losses, margin=0.2):
            return {
                scheme for scheme in losses
                if not any(
                    losses[scheme][n] - losses[scheme][min(losses[scheme])] > margin
                    for n in losses[scheme]
                )
            }
        """,
    ),
    _right(
        "lengths",
        "a callable, and Adam by hand",
        """
        class Experiment:
            def __call__(self, model, draw, steps, lengths, trained=32):
                self.means = {}
                model.train()
                for step in range(1, steps + 1):
                    self.step(model, draw(32, trained, step), step)
                tests = {n: draw(64, n, 10**9 + n) for n in lengths}
                return loss_at_lengths(model, tests, trained - 1)

            def step(self, model, tokens, step):
                model.zero_grad()
                logits = model(tokens)[:, :-1].transpose(1, 2)
                F.cross_entropy(logits, tokens[:, 1:]).backward()
                with torch.no_grad():
                    for p in model.parameters():
                        m, v = self.means.setdefault(p, [0, 0])
                        m, v = 0.9 * m + 0.1 * p.grad, 0.99 * v + 0.01 * p.grad**2
                        self.means[p] = [m, v]
                        root = (v / (1 - 0.99**step)).sqrt() + 1e-8
                        p -= 5e-3 * m / (1 - 0.9**step) / root

        train_and_test = Experiment()
        """
        + HOLDS,
    ),
]

FINDING = [
    _right(
        "finding",
        "torch.manual_seed",
        """
        def new_model(scheme, seed=0):
            torch.manual_seed(seed)
            if scheme != "table":
                return LanguageModel(attend, scheme)
            return LanguageModel(attend, scheme, LearnedBias(4, 12, 16, scale=10.0))
        """,
    ),
    _right(
        "finding",
        "a table for every scheme",
        """
        def new_model(scheme, seed=0):
            seed_everything(100 + seed)
            return LanguageModel(attend, scheme, LearnedBias(4, 16, 20))
        """,
    ),
    _right(
        "finding",
        "a generator's state put back",
        """
        def new_model(scheme, seed=0):
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed)
                tables = {"table": LearnedBias(4, 20, 24)}
                return LanguageModel(attend, scheme, learned=tables.get(scheme))
        """,
    ),
    _right(
        "finding",
        "another attention inside",
        """
        def new_model(scheme, seed=0):
            def own(query, key, value, scheme, learned):
                return attend(query, key, value, scheme, learned)

            seed_everything(seed)
            model = LanguageModel(own, scheme, None)
            if scheme == "table":
                model.learned = LearnedBias(4, 16, 20)
            return model
        """,
    ),
    _right(
        "finding",
        "a callable",
        """
        class NewModel:
            reach = {"num_buckets": 10, "max_distance": 18}

            def __call__(self, scheme, seed=0):
                seed_everything(int(seed))
                made = LearnedBias(num_heads=4, **self.reach)
                made = made if scheme == "table" else None
                return LanguageModel(attend, scheme, made)

        new_model = NewModel()
        """,
    ),
]

RIGHT = [
    *DISTANCES,
    *BUCKETS,
    *BIAS,
    *TABLE,
    *ALIBI,
    *ROTARY,
    *SCHEMES,
    *EVALUATION,
    *LENGTHS,
    *FINDING,
    *students.RIGHT,
    *subtle.RIGHT,
    *fresh.RIGHT,
    *unforeseen.RELATIVE_RIGHT,
]
