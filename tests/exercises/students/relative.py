"""Answers to exercise 4 of people who did it, right and wrong."""

from tests.exercises.answers import Right, Wrong

WRONG = [
    Wrong(
        "alibi",
        "whole exponents",
        (0,),
        "exponents rounded",
        code="""\
def head_slopes(num_heads):
    return 2.0 ** (-8 * torch.arange(1, num_heads + 1) // num_heads)


def alibi(num_heads, queries, keys, offset=0):
    return head_slopes(num_heads)[:, None, None] * relative_distances(
        queries, keys, offset
    )
""",
    ),
    Wrong(
        "alibi",
        "evenly spaced slopes",
        (0, 1),
        "slopes on a straight line",
        code="""\
def head_slopes(num_heads):
    return torch.linspace(1 / 2, 1 / 256, num_heads)


def alibi(num_heads, queries, keys, offset=0):
    return head_slopes(num_heads)[:, None, None] * relative_distances(
        queries, keys, offset
    )
""",
    ),
    Wrong(
        "table",
        "the scale trained too",
        (0, 1),
        "more than the table trained",
        code="""\
class LearnedBias(nn.Module):
    def __init__(self, num_heads, num_buckets, max_distance, scale=10.0):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(num_heads, num_buckets))
        self.scale = nn.Parameter(torch.tensor(scale))
        self.n, self.m = num_buckets, max_distance

    def forward(self, queries, keys, offset=0):
        return (
            self.scale
            * self.table[
                :,
                buckets(relative_distances(queries, keys, offset), self.n, self.m),
            ]
        )
""",
    ),
    Wrong(
        "schemes",
        "own token hidden",
        (0, 1, 2),
        "own token hidden",
        code="""\
def attend(query, key, value, scheme, learned=None):
    h, n, m = query.shape[1], query.shape[2], key.shape[2]
    o = m - n
    mask = relative_distances(n, m, o) < 0
    bias = (
        alibi(h, n, m, o)
        if scheme == "alibi"
        else learned(n, m, o)
        if scheme == "table"
        else None
    )
    if scheme == "rotary":
        query, key = rotate(query, o + torch.arange(n)), rotate(key)
    return biased_attention(query, key, value, bias, mask)[0]
""",
    ),
    Wrong(
        "lengths",
        "texts without their tuple",
        (0, 1),
        "texts without their tuple",
        code="""\
def train_and_test(model, draw, steps, lengths, trained=32):
    train(
        model,
        lambda s: draw(32, trained, s),
        lambda m, t: F.cross_entropy(
            m(t[:, :-1]).flatten(0, 1), t[:, 1:].flatten()
        ),
        steps=steps,
        learning_rate=5e-3,
        progress=False,
    )
    return loss_at_lengths(
        model, {n: draw(64, n, 10**6) for n in lengths}, trained - 1
    )


def holds(losses, margin=0.2):
    return {s for s, l in losses.items() if max(l.values()) > l[min(l)] + margin}
""",
    ),
]

RIGHT = [
    Right(
        "distances",
        "in a student's own style",
        """\
def relative_distances(queries, keys, offset=0):
    q = torch.arange(offset, offset + queries)
    k = torch.arange(keys)
    return k.unsqueeze(0) - q.unsqueeze(1)
""",
    ),
    Right(
        "buckets",
        "in a student's own style",
        """\
def clipped_rows(distances, reach):
    return torch.clamp(distances, -reach, reach) + reach


def buckets(distances, num_buckets, max_distance, causal=True):
    n = num_buckets if causal else num_buckets // 2
    exact = n // 2

    def one(r):
        d = max(0, -r) if causal else abs(r)
        if d < exact:
            b = d
        else:
            share = math.log(d / exact) / math.log(max_distance / exact)
            b = min(n - 1, exact + int((n - exact) * share))
        if not causal and r > 0:
            b += n
        return b

    flat = [one(r) for r in distances.flatten().tolist()]
    return torch.tensor(flat, dtype=torch.long).reshape(distances.shape)
""",
    ),
    Right(
        "bias",
        "in a student's own style",
        """\
def biased_attention(query, key, value, bias=None, mask=None):
    scores = torch.einsum("bhqd,bhkd->bhqk", query, key) / query.shape[-1] ** 0.5
    if bias is not None:
        scores = scores + bias.unsqueeze(0)
    if mask is not None:
        scores = torch.where(
            mask, scores, torch.tensor(-torch.inf, device=scores.device)
        )
    weights = F.softmax(scores, dim=3)
    return weights @ value, weights
""",
    ),
    Right(
        "table",
        "in a student's own style",
        """\
class LearnedBias(nn.Module):
    def __init__(self, num_heads, num_buckets, max_distance, scale=10.0):
        super().__init__()
        self.table = nn.Embedding(num_buckets, num_heads)
        nn.init.zeros_(self.table.weight)
        self.n, self.far, self.scale = num_buckets, max_distance, scale

    def forward(self, queries, keys, offset=0):
        rows = buckets(relative_distances(queries, keys, offset), self.n, self.far)
        found = self.table(rows.to(self.table.weight.device))
        return self.scale * found.movedim(-1, 0)
""",
    ),
    Right(
        "alibi",
        "in a student's own style",
        """\
def head_slopes(num_heads):
    return torch.tensor(
        [2.0 ** (-8 * h / num_heads) for h in range(1, num_heads + 1)]
    )


def alibi(num_heads, queries, keys, offset=0):
    far = relative_distances(queries, keys, offset).abs().float()
    return -torch.einsum("h,qk->hqk", head_slopes(num_heads), far)
""",
    ),
    Right(
        "rotary",
        "in a student's own style",
        """\
def rotate(x, positions=None, base=10000.0):
    tokens, d = x.shape[-2:]
    if positions is None:
        positions = torch.arange(tokens)
    rates = base ** (-torch.arange(0, d, 2, device=x.device).float() / d)
    angles = torch.outer(positions.to(x.device).float(), rates)
    turn = torch.polar(torch.ones_like(angles), angles)
    pairs = torch.view_as_complex(
        x.float().reshape(*x.shape[:-1], d // 2, 2).contiguous()
    )
    return torch.view_as_real(pairs * turn).flatten(-2).to(x.dtype)
""",
    ),
    Right(
        "schemes",
        "in a student's own style",
        """\
def attend(query, key, value, scheme, learned=None):
    heads, n, m = query.shape[1], query.shape[2], key.shape[2]
    before = m - n
    mask = torch.ones(n, m, dtype=torch.bool, device=query.device).tril(before)
    bias = None
    if scheme == "rotary":
        query = rotate(query, torch.arange(before, m))
        key = rotate(key)
    elif scheme == "alibi":
        bias = alibi(heads, n, m, before).to(query.device)
    elif scheme == "table":
        bias = learned(n, m, before).to(query.device)
    return biased_attention(query, key, value, bias, mask)[0]
""",
    ),
    Right(
        "evaluation",
        "in a student's own style",
        """\
@torch.no_grad()
def loss_by_position(model, tokens):
    was = model.training
    model.eval()
    tokens = tokens.to(next(model.parameters()).device)
    logs = model(tokens[:, :-1]).log_softmax(-1)
    model.train(was)
    target = tokens[:, 1:]
    loss = -logs.gather(2, target.unsqueeze(2)).squeeze(2)
    real = target != 0
    return ((loss * real).sum(0) / real.sum(0)).cpu()


def loss_at_lengths(model, tests, last):
    return {
        n: float(loss_by_position(model, t)[-last:].mean())
        for n, t in tests.items()
    }
""",
    ),
    Right(
        "lengths",
        "in a student's own style",
        """\
def train_and_test(model, draw, steps, lengths, trained=32):
    train(
        model,
        lambda step: (draw(32, trained, step),),
        lambda m, t: F.cross_entropy(
            m(t[:, :-1]).flatten(0, 1), t[:, 1:].flatten()
        ),
        steps=steps,
        learning_rate=5e-3,
        progress=False,
    )
    tests = {n: draw(64, n, 10**7 + n) for n in lengths}
    return loss_at_lengths(model, tests, trained - 1)


def holds(losses, margin=0.2):
    good = set()
    for scheme, loss in losses.items():
        first = loss[min(loss)]
        if all(loss[n] - first <= margin for n in loss):
            good.add(scheme)
    return good
""",
    ),
]
