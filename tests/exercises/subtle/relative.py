"""Answers to exercise 4 that look right at first sight, and right ones that do not."""

from tests.exercises.answers import Right, Wrong

WRONG = [
    Wrong(
        "distances",
        "numpy",
        (0, 1),
        "wrong type",
        code="""\
import numpy as np


def relative_distances(queries, keys, offset=0):
    return np.arange(keys) - (offset + np.arange(queries))[:, None]
""",
    ),
    Wrong(
        "distances",
        "list of lists",
        (0, 1),
        "wrong type",
        code="""\
def relative_distances(queries, keys, offset=0):
    return [[j - i - offset for j in range(keys)] for i in range(queries)]
""",
    ),
    Wrong(
        "distances",
        "square of the larger",
        (1,),
        "offset ignored",
        code="""\
def relative_distances(queries, keys, offset=0):
    n = max(queries, keys)
    p = torch.arange(n)
    return (p - p[:, None])[:queries, :keys]
""",
    ),
    Wrong(
        "distances",
        "last queries always",
        (1,),
        "offset counted in another way",
        code="""\
def relative_distances(queries, keys, offset=0):
    return torch.arange(keys) - torch.arange(keys - queries, keys)[:, None]
""",
    ),
    Wrong(
        "distances",
        "flattened view",
        (0, 1),
        "wrong shape",
        code="""\
def relative_distances(queries, keys, offset=0):
    return (
        torch.arange(keys).repeat(queries)
        - torch.arange(queries).repeat_interleave(keys)
        - offset
    )
""",
    ),
    Wrong(
        "buckets",
        "mutates its input",
        (0,),
        "changes its input",
        code="""\
def clipped_rows(distances, reach):
    return distances.clamp_(-reach, reach) + reach


def buckets(distances, num_buckets, max_distance, causal=True):
    if causal:
        first, steps = 0, (-distances).clamp(min=0)
    else:
        num_buckets = num_buckets // 2
        first, steps = (distances > 0) * num_buckets, distances.abs()
    near = num_buckets // 2
    share = torch.log(steps.clamp(min=1) / near) / math.log(max_distance / near)
    far = near + (share * (num_buckets - near)).floor().long()
    return first + torch.where(
        steps < near, steps, far.clamp(max=num_buckets - 1)
    )
""",
    ),
    Wrong(
        "buckets",
        "reach from tensor max",
        (0,),
        "",
        code="""\
def clipped_rows(distances, reach):
    reach = min(reach, int(distances.abs().max()))
    return distances.clamp(-reach, reach) + reach


def buckets(distances, num_buckets, max_distance, causal=True):
    if causal:
        first, steps = 0, (-distances).clamp(min=0)
    else:
        num_buckets = num_buckets // 2
        first, steps = (distances > 0) * num_buckets, distances.abs()
    near = num_buckets // 2
    share = torch.log(steps.clamp(min=1) / near) / math.log(max_distance / near)
    far = near + (share * (num_buckets - near)).floor().long()
    return first + torch.where(
        steps < near, steps, far.clamp(max=num_buckets - 1)
    )
""",
    ),
    Wrong(
        "buckets",
        "torch.bucketize log spaced",
        (1, 2),
        "",
        code="""\
def clipped_rows(distances, reach):
    return distances.clamp(-reach, reach) + reach


def buckets(distances, num_buckets, max_distance, causal=True):
    edges = torch.logspace(0, math.log10(max_distance), num_buckets)
    return torch.bucketize(-distances.float(), edges).clamp(max=num_buckets - 1)
""",
    ),
    Wrong(
        "buckets",
        "near is a quarter",
        (1, 2),
        "another number of near buckets",
        code="""\
def clipped_rows(distances, reach):
    return distances.clamp(-reach, reach) + reach


def buckets(distances, num_buckets, max_distance, causal=True):
    if causal:
        first, steps = 0, (-distances).clamp(min=0)
    else:
        num_buckets = num_buckets // 2
        first, steps = (distances > 0) * num_buckets, distances.abs()
    near = num_buckets // 4
    share = torch.log(steps.clamp(min=1) / near) / math.log(max_distance / near)
    far = near + (share * (num_buckets - near)).floor().long()
    return first + torch.where(
        steps < near, steps, far.clamp(max=num_buckets - 1)
    )
""",
    ),
    Wrong(
        "buckets",
        "floats returned",
        (1, 2),
        "wrong type",
        code="""\
def clipped_rows(distances, reach):
    return distances.clamp(-reach, reach) + reach


def buckets(distances, num_buckets, max_distance, causal=True):
    if causal:
        first, steps = 0, (-distances).clamp(min=0)
    else:
        num_buckets = num_buckets // 2
        first, steps = (distances > 0) * num_buckets, distances.abs()
    near = num_buckets // 2
    share = torch.log(steps.clamp(min=1) / near) / math.log(max_distance / near)
    far = near + (share * (num_buckets - near)).floor()
    return first + torch.where(
        steps < near, steps, far.clamp(max=num_buckets - 1)
    )
""",
    ),
    Wrong(
        "buckets",
        "only two dimensional",
        (2,),
        "",
        code="""\
def clipped_rows(distances, reach):
    return distances.clamp(-reach, reach) + reach


def buckets(distances, num_buckets, max_distance, causal=True):
    out = torch.zeros_like(distances)
    n = num_buckets if causal else num_buckets // 2
    e = n // 2
    for i in range(distances.shape[0]):
        for j in range(distances.shape[1]):
            r = int(distances[i, j])
            d = max(-r, 0) if causal else abs(r)
            b = (
                d
                if d < e
                else min(
                    n - 1,
                    e
                    + int(
                        (n - e) * math.log(d / e) / math.log(max_distance / e)
                    ),
                )
            )
            out[i, j] = b + (n if not causal and r > 0 else 0)
    return out
""",
    ),
    Wrong(
        "bias",
        "bias turned round",
        (0, 1),
        "shapes that do not line up",
        code="""\
def biased_attention(query, key, value, bias=None, mask=None):
    s = query @ key.mT / math.sqrt(query.shape[-1])
    if bias is not None:
        s = s + bias.mT
    if mask is not None:
        s = s.masked_fill(~mask, -math.inf)
    w = s.softmax(-1)
    return w @ value, w
""",
    ),
    Wrong(
        "bias",
        "in place on bias",
        (1,),
        "changes its input",
        code="""\
def biased_attention(query, key, value, bias=None, mask=None):
    s = query @ key.mT / math.sqrt(query.shape[-1])
    if bias is not None and mask is not None:
        bias.masked_fill_(~mask, -math.inf)
        s = s + bias
    elif bias is not None:
        s = s + bias
    elif mask is not None:
        s = s.masked_fill(~mask, -math.inf)
    w = s.softmax(-1)
    return w @ value, w
""",
    ),
    Wrong(
        "bias",
        "PyTorch's own function",
        (0, 1),
        "forbidden function",
        code="""\
def biased_attention(query, key, value, bias=None, mask=None):
    m = bias
    if mask is not None:
        m = (
            (torch.zeros(()) if bias is None else bias).masked_fill(
                ~mask, -math.inf
            )
            if bias is not None
            else mask
        )
    s = query @ key.mT / math.sqrt(query.shape[-1])
    s = s if bias is None else s + bias
    w = (s if mask is None else s.masked_fill(~mask, -math.inf)).softmax(-1)
    return F.scaled_dot_product_attention(query, key, value, attn_mask=m), w
""",
    ),
    Wrong(
        "bias",
        "bias of d_v",
        (0, 1),
        "scaled by the width of the values",
        code="""\
def biased_attention(query, key, value, bias=None, mask=None):
    s = query @ key.mT / math.sqrt(value.shape[-1])
    if bias is not None:
        s = s + bias
    if mask is not None:
        s = s.masked_fill(~mask, -math.inf)
    w = s.softmax(-1)
    return w @ value, w
""",
    ),
    Wrong(
        "bias",
        "only output",
        (0, 1),
        "only one result",
        code="""\
def biased_attention(query, key, value, bias=None, mask=None):
    s = query @ key.mT / math.sqrt(query.shape[-1])
    if bias is not None:
        s = s + bias
    if mask is not None:
        s = s.masked_fill(~mask, -math.inf)
    return s.softmax(-1) @ value
""",
    ),
    Wrong(
        "bias",
        "factors after the softmax",
        (0, 1),
        "weights multiplied, not shared out",
        code="""\
def biased_attention(query, key, value, bias=None, mask=None):
    s = query @ key.mT / math.sqrt(query.shape[-1])
    if mask is not None:
        s = s.masked_fill(~mask, -math.inf)
    w = s.softmax(-1)
    if bias is not None:
        w = w * bias.exp()
    return w @ value, w
""",
    ),
    Wrong(
        "table",
        "cached bias",
        (0,),
        "kept from another call",
        code="""\
class LearnedBias(nn.Module):
    def __init__(self, num_heads, num_buckets, max_distance, scale=10.0):
        super().__init__()
        self.n, self.m, self.scale = num_buckets, max_distance, scale
        self.table = nn.Parameter(torch.zeros(num_buckets, num_heads))
        self.kept = None

    def forward(self, queries, keys, offset=0):
        if self.kept is None:
            d = relative_distances(queries, keys, offset)
            self.kept = self.scale * self.table[
                buckets(d, self.n, self.m)
            ].permute(2, 0, 1)
        return self.kept
""",
    ),
    Wrong(
        "table",
        "a parameter for each head",
        (0, 1),
        "several parameters",
        code="""\
class LearnedBias(nn.Module):
    def __init__(self, num_heads, num_buckets, max_distance, scale=10.0):
        super().__init__()
        self.n, self.m, self.scale = num_buckets, max_distance, scale
        self.tables = nn.ParameterList(
            [torch.zeros(num_buckets) for _ in range(num_heads)]
        )

    def forward(self, queries, keys, offset=0):
        rows = buckets(
            relative_distances(queries, keys, offset), self.n, self.m
        )
        return self.scale * torch.stack([t[rows] for t in self.tables])
""",
    ),
    Wrong(
        "table",
        "scale divides",
        (0, 1),
        "divided by the scale",
        code="""\
class LearnedBias(nn.Module):
    def __init__(self, num_heads, num_buckets, max_distance, scale=10.0):
        super().__init__()
        self.n, self.m, self.scale = num_buckets, max_distance, scale
        self.table = nn.Parameter(torch.zeros(num_buckets, num_heads))

    def forward(self, queries, keys, offset=0):
        rows = buckets(
            relative_distances(queries, keys, offset), self.n, self.m
        )
        return self.table[rows].permute(2, 0, 1) / self.scale
""",
    ),
    Wrong(
        "table",
        "scale written in",
        (0, 1),
        "scale written into the code",
        code="""\
class LearnedBias(nn.Module):
    def __init__(self, num_heads, num_buckets, max_distance, scale=10.0):
        super().__init__()
        self.n, self.m = num_buckets, max_distance
        self.table = nn.Parameter(torch.zeros(num_buckets, num_heads))

    def forward(self, queries, keys, offset=0):
        rows = buckets(
            relative_distances(queries, keys, offset), self.n, self.m
        )
        return 10.0 * self.table[rows].permute(2, 0, 1)
""",
    ),
    Wrong(
        "table",
        "buffer",
        (0, 1),
        "not a parameter",
        code="""\
class LearnedBias(nn.Module):
    def __init__(self, num_heads, num_buckets, max_distance, scale=10.0):
        super().__init__()
        self.n, self.m, self.scale = num_buckets, max_distance, scale
        self.register_buffer("table", torch.zeros(num_buckets, num_heads))

    def forward(self, queries, keys, offset=0):
        rows = buckets(
            relative_distances(queries, keys, offset), self.n, self.m
        )
        return self.scale * self.table[rows].permute(2, 0, 1)
""",
    ),
    Wrong(
        "alibi",
        "NumPy slopes",
        (0,),
        "wrong type",
        code="""\
import numpy as np


def head_slopes(num_heads):
    return 2.0 ** (-8 * np.arange(1, num_heads + 1) / num_heads)


def alibi(num_heads, queries, keys, offset=0):
    s = relative_distances(queries, keys, offset).abs()
    return -torch.tensor(head_slopes(num_heads)).float()[:, None, None] * s
""",
    ),
    Wrong(
        "alibi",
        "list slopes",
        (0,),
        "wrong type",
        code="""\
def head_slopes(num_heads):
    return [2.0 ** (-8 * h / num_heads) for h in range(1, num_heads + 1)]


def alibi(num_heads, queries, keys, offset=0):
    s = relative_distances(queries, keys, offset).abs()
    return torch.stack([-m * s for m in head_slopes(num_heads)])
""",
    ),
    Wrong(
        "alibi",
        "slopes negative",
        (0,),
        "slopes negative",
        code="""\
def head_slopes(num_heads):
    return -(2.0 ** (-8 * torch.arange(1, num_heads + 1) / num_heads))


def alibi(num_heads, queries, keys, offset=0):
    return (
        head_slopes(num_heads)[:, None, None]
        * relative_distances(queries, keys, offset).abs()
    )
""",
    ),
    Wrong(
        "alibi",
        "squared distance",
        (1,),
        "not in proportion to the distance",
        code="""\
def head_slopes(num_heads):
    return 2.0 ** (-8 * torch.arange(1, num_heads + 1) / num_heads)


def alibi(num_heads, queries, keys, offset=0):
    return (
        -head_slopes(num_heads)[:, None, None]
        * relative_distances(queries, keys, offset) ** 2
    )
""",
    ),
    Wrong(
        "alibi",
        "log distance",
        (1,),
        "not in proportion to the distance",
        code="""\
def head_slopes(num_heads):
    return 2.0 ** (-8 * torch.arange(1, num_heads + 1) / num_heads)


def alibi(num_heads, queries, keys, offset=0):
    return (
        -head_slopes(num_heads)[:, None, None]
        * relative_distances(queries, keys, offset).abs().add(1).log()
    )
""",
    ),
    Wrong(
        "alibi",
        "heads last",
        (1,),
        "slopes along the wrong axis",
        code="""\
def head_slopes(num_heads):
    return 2.0 ** (-8 * torch.arange(1, num_heads + 1) / num_heads)


def alibi(num_heads, queries, keys, offset=0):
    return (
        -head_slopes(num_heads)
        * relative_distances(queries, keys, offset).abs()[..., None]
    )
""",
    ),
    Wrong(
        "rotary",
        "only three axes",
        (0, 1, 2),
        "built for one number of axes",
        code="""\
def rotate(x, positions=None, base=10000.0):
    b, n, d = x.shape
    positions = torch.arange(n) if positions is None else positions
    a = positions[:, None] * base ** (-torch.arange(0, d, 2) / d)
    f, s = x[..., 0::2], x[..., 1::2]
    return torch.stack(
        [f * a.cos() - s * a.sin(), f * a.sin() + s * a.cos()], -1
    ).flatten(-2)
""",
    ),
    Wrong(
        "rotary",
        "sign of the second wrong",
        (0, 1),
        "lengths change",
        code="""\
def rotate(x, positions=None, base=10000.0):
    tokens, width = x.shape[-2:]
    if positions is None:
        positions = torch.arange(tokens)
    rates = base ** (-torch.arange(0, width, 2) / width)
    angles = positions[:, None] * rates
    f, s = x[..., 0::2], x[..., 1::2]
    y = torch.stack(
        [
            f * angles.cos() + s * angles.sin(),
            f * angles.sin() + s * angles.cos(),
        ],
        -1,
    )
    return y.flatten(-2).to(x.dtype)
""",
    ),
    Wrong(
        "rotary",
        "positions by heads axis",
        (0,),
        "",
        code="""\
def rotate(x, positions=None, base=10000.0):
    d = x.shape[-1]
    positions = torch.arange(x.shape[1]) if positions is None else positions
    a = positions[:, None] * base ** (-torch.arange(0, d, 2) / d)
    f, s = x[..., 0::2], x[..., 1::2]
    return (
        torch.stack([f * a.cos() - s * a.sin(), f * a.sin() + s * a.cos()], -1)
        .flatten(-2)
        .to(x.dtype)
    )
""",
    ),
    Wrong(
        "rotary",
        "cache of angles by length",
        (0, 1),
        "",
        code="""\
_angles = {}


def rotate(x, positions=None, base=10000.0):
    n, d = x.shape[-2:]
    if n not in _angles:
        p = torch.arange(n) if positions is None else positions
        _angles[n] = p[:, None] * base ** (-torch.arange(0, d, 2) / d)
    a = _angles[n]
    f, s = x[..., 0::2], x[..., 1::2]
    return (
        torch.stack([f * a.cos() - s * a.sin(), f * a.sin() + s * a.cos()], -1)
        .flatten(-2)
        .to(x.dtype)
    )
""",
    ),
    Wrong(
        "rotary",
        "last pair left",
        (0, 1),
        "other angles",
        code="""\
def rotate(x, positions=None, base=10000.0):
    tokens, width = x.shape[-2:]
    if positions is None:
        positions = torch.arange(tokens)
    rates = base ** (-torch.arange(0, width, 2) / width)
    angles = positions[:, None] * rates
    f, s = x[..., 0::2], x[..., 1::2]
    y = (
        torch.stack(
            [
                f * angles.cos() - s * angles.sin(),
                f * angles.sin() + s * angles.cos(),
            ],
            -1,
        )
        .flatten(-2)
        .to(x.dtype)
    )
    y[..., -2:] = x[..., -2:]
    return y
""",
    ),
    Wrong(
        "rotary",
        "angles in bfloat16",
        (1,),
        "scores depend on the place",
        code="""\
def rotate(x, positions=None, base=10000.0):
    tokens, width = x.shape[-2:]
    if positions is None:
        positions = torch.arange(tokens)
    rates = base ** (-torch.arange(0, width, 2) / width)
    angles = positions[:, None] * rates
    angles = angles.bfloat16().float()
    f, s = x[..., 0::2], x[..., 1::2]
    return (
        torch.stack(
            [
                f * angles.cos() - s * angles.sin(),
                f * angles.sin() + s * angles.cos(),
            ],
            -1,
        )
        .flatten(-2)
        .to(x.dtype)
    )
""",
    ),
    Wrong(
        "rotary",
        "course's own",
        (0, 1, 2),
        "forbidden function",
        code="""\
import importlib


def rotate(x, positions=None, base=10000.0):
    return importlib.import_module("attncourse.layers.rotary").rotate(
        x, positions, base=base
    )
""",
    ),
    Wrong(
        "schemes",
        "the table wherever there is one",
        (0, 2),
        "table in place of ALiBi",
        code="""\
def attend(query, key, value, scheme, learned=None):
    h, q, k = query.shape[1], query.shape[2], key.shape[2]
    o = k - q
    mask = relative_distances(q, k, o) <= 0
    bias = None
    if scheme == "alibi":
        bias = alibi(h, q, k, o)
    if scheme in ("table", "alibi") and learned is not None:
        bias = learned(q, k, o)
    if scheme == "rotary":
        query, key = rotate(query, o + torch.arange(q)), rotate(key)
    return biased_attention(query, key, value, bias, mask)[0]
""",
    ),
    Wrong(
        "schemes",
        "both alibi and rotary",
        (1, 2),
        "a bias besides rotary",
        code="""\
def attend(query, key, value, scheme, learned=None):
    h, q, k = query.shape[1], query.shape[2], key.shape[2]
    o = k - q
    mask = relative_distances(q, k, o) <= 0
    bias = None
    if scheme in ("alibi", "rotary"):
        bias = alibi(h, q, k, o)
    if scheme == "table":
        bias = learned(q, k, o)
    if scheme == "rotary":
        query, key = rotate(query, o + torch.arange(q)), rotate(key)
    return biased_attention(query, key, value, bias, mask)[0]
""",
    ),
    Wrong(
        "schemes",
        "weights for the output",
        (0, 1, 2),
        "wrong shape",
        code="""\
def attend(query, key, value, scheme, learned=None):
    h, q, k = query.shape[1], query.shape[2], key.shape[2]
    o = k - q
    mask = relative_distances(q, k, o) <= 0
    bias = (
        alibi(h, q, k, o)
        if scheme == "alibi"
        else learned(q, k, o)
        if scheme == "table"
        else None
    )
    if scheme == "rotary":
        query, key = rotate(query, o + torch.arange(q)), rotate(key)
    return biased_attention(query, key, value, bias, mask)[1]
""",
    ),
    Wrong(
        "evaluation",
        "argmax error",
        (0, 1),
        "wrong guesses counted",
        code="""\
def loss_by_position(model, tokens):
    model.eval()
    with torch.no_grad():
        logits = model(tokens[:, :-1])
    t = tokens[:, 1:]
    wrong = (logits.argmax(-1) != t).float() * (t != 0)
    return wrong.sum(0) / (t != 0).sum(0)


def loss_at_lengths(model, tests, last):
    return {
        n: loss_by_position(model, t)[-last:].mean().item()
        for n, t in tests.items()
    }
""",
    ),
    Wrong(
        "evaluation",
        "bits",
        (0, 1),
        "bits for nats",
        code="""\
def loss_by_position(model, tokens):
    model.eval()
    with torch.no_grad():
        logits = model(tokens[:, :-1]).transpose(1, 2)
    t = tokens[:, 1:]
    l = F.cross_entropy(logits, t, ignore_index=0, reduction="none") / math.log(
        2
    )
    return l.sum(0) / (t != 0).sum(0)


def loss_at_lengths(model, tests, last):
    return {
        n: loss_by_position(model, t)[-last:].mean().item()
        for n, t in tests.items()
    }
""",
    ),
    Wrong(
        "evaluation",
        "gradient kept",
        (0,),
        "gradients recorded",
        code="""\
def loss_by_position(model, tokens):
    model.eval()
    logits = model(tokens[:, :-1]).transpose(1, 2)
    t = tokens[:, 1:]
    l = F.cross_entropy(logits, t, ignore_index=0, reduction="none")
    return l.sum(0) / (t != 0).sum(0)


def loss_at_lengths(model, tests, last):
    return {
        n: loss_by_position(model, t)[-last:].mean().item()
        for n, t in tests.items()
    }
""",
    ),
    Wrong(
        "evaluation",
        "divided by all texts, once more",
        (0,),
        "divided by all texts",
        code="""\
def loss_by_position(model, tokens):
    model.eval()
    with torch.no_grad():
        logits = model(tokens[:, :-1]).transpose(1, 2)
    l = F.cross_entropy(logits, tokens[:, 1:], ignore_index=0, reduction="none")
    return l.mean(0)


def loss_at_lengths(model, tests, last):
    return {
        n: loss_by_position(model, t)[-last:].mean().item()
        for n, t in tests.items()
    }
""",
    ),
    Wrong(
        "evaluation",
        "numpy",
        (0,),
        "wrong type",
        code="""\
def loss_by_position(model, tokens):
    model.eval()
    with torch.no_grad():
        logits = model(tokens[:, :-1]).transpose(1, 2)
    t = tokens[:, 1:]
    l = F.cross_entropy(logits, t, ignore_index=0, reduction="none")
    return (l.sum(0) / (t != 0).sum(0)).numpy()


def loss_at_lengths(model, tests, last):
    return {
        n: loss_by_position(model, t)[-last:].mean().item()
        for n, t in tests.items()
    }
""",
    ),
    Wrong(
        "lengths",
        "trains on the tests too",
        (0,),
        "tested on texts of the training",
        code="""\
def train_and_test(model, draw, steps, lengths, trained=32):
    tests = {n: draw(64, n, 10**6 + n) for n in lengths}

    def batch_of(step):
        return (tests[trained][:32] if step % 2 else draw(32, trained, step),)

    def loss_of(model, tokens):
        return F.cross_entropy(
            model(tokens[:, :-1]).transpose(1, 2), tokens[:, 1:]
        )

    train(
        model,
        batch_of,
        loss_of,
        steps=steps,
        learning_rate=5e-3,
        progress=False,
    )
    return loss_at_lengths(model, tests, trained - 1)


def holds(losses, margin=0.2):
    return {
        s for s, l in losses.items() if max(l.values()) - l[min(l)] <= margin
    }
""",
    ),
    Wrong(
        "lengths",
        "only the longest length",
        (1,),
        "longest text only",
        code="""\
def train_and_test(model, draw, steps, lengths, trained=32):
    def loss_of(model, tokens):
        return F.cross_entropy(
            model(tokens[:, :-1]).transpose(1, 2), tokens[:, 1:]
        )

    train(
        model,
        lambda s: (draw(32, trained, s),),
        loss_of,
        steps=steps,
        learning_rate=5e-3,
        progress=False,
    )
    return loss_at_lengths(
        model, {n: draw(64, n, 10**6 + n) for n in lengths}, trained - 1
    )


def holds(losses, margin=0.2):
    return {s for s, l in losses.items() if l[max(l)] - l[min(l)] < margin}
""",
    ),
    Wrong(
        "lengths",
        "ratio for margin",
        (1,),
        "a share for a difference",
        code="""\
def train_and_test(model, draw, steps, lengths, trained=32):
    def loss_of(model, tokens):
        return F.cross_entropy(
            model(tokens[:, :-1]).transpose(1, 2), tokens[:, 1:]
        )

    train(
        model,
        lambda s: (draw(32, trained, s),),
        loss_of,
        steps=steps,
        learning_rate=5e-3,
        progress=False,
    )
    return loss_at_lengths(
        model, {n: draw(64, n, 10**6 + n) for n in lengths}, trained - 1
    )


def holds(losses, margin=0.2):
    return {
        s
        for s, l in losses.items()
        if max(l.values()) <= (1 + margin) * l[min(l)]
    }
""",
    ),
    Wrong(
        "lengths",
        "numbers of texts exchanged",
        (0,),
        "another number of texts",
        code="""\
def train_and_test(model, draw, steps, lengths, trained=32):
    def loss_of(model, tokens):
        return F.cross_entropy(
            model(tokens[:, :-1]).transpose(1, 2), tokens[:, 1:]
        )

    train(
        model,
        lambda s: (draw(64, trained, s),),
        loss_of,
        steps=steps,
        learning_rate=5e-3,
        progress=False,
    )
    return loss_at_lengths(
        model, {n: draw(32, n, 10**6 + n) for n in lengths}, trained - 1
    )


def holds(losses, margin=0.2):
    return {
        s for s, l in losses.items() if max(l.values()) - l[min(l)] <= margin
    }
""",
    ),
]

RIGHT = [
    Right(
        "distances",
        "broadcast_tensors typed",
        """\
def relative_distances(
    queries: int, keys: int, offset: int = 0
) -> torch.Tensor:
    q, k = torch.broadcast_tensors(
        torch.arange(offset, offset + queries).unsqueeze(1),
        torch.arange(keys).unsqueeze(0),
    )
    return k.sub(q)
""",
    ),
    Right(
        "distances",
        "generator",
        """\
def relative_distances(queries, keys, offset=0):
    return torch.stack(
        [torch.arange(-(i + offset), keys - i - offset) for i in range(queries)]
    )
""",
    ),
    Right(
        "buckets",
        "searchsorted thresholds",
        """\
def clipped_rows(distances, reach):
    return distances.clamp(-reach, reach) + reach


def one_side(steps, n, far):
    e = n // 2
    near = steps.clamp(max=e - 1)
    x = (steps.double().clamp(min=e) / e).log() / math.log(far / e) * (n - e)
    return torch.where(
        steps >= e, (e + (x + 1e-9).long()).clamp(max=n - 1), near
    )


def buckets(distances, num_buckets, max_distance, causal=True):
    if causal:
        return one_side(torch.relu(-distances), num_buckets, max_distance)
    half = num_buckets // 2
    return (
        one_side(distances.abs(), half, max_distance)
        + half * (distances > 0).long()
    )
""",
    ),
    Right(
        "bias",
        "logsumexp",
        """\
def biased_attention(query, key, value, bias=None, mask=None):
    s = torch.einsum("bhqd,bhkd->bhqk", query / query.size(-1) ** 0.5, key)
    s = s + (0 if bias is None else bias)
    s = s if mask is None else torch.where(mask, s, -torch.inf)
    w = (s - s.logsumexp(-1, keepdim=True)).exp()
    return torch.einsum("bhqk,bhkv->bhqv", w, value), w
""",
    ),
    Right(
        "table",
        "F.embedding",
        """\
class LearnedBias(nn.Module):
    def __init__(self, num_heads, num_buckets, max_distance, scale=10.0):
        super().__init__()
        self.rows = partial(
            buckets, num_buckets=num_buckets, max_distance=max_distance
        )
        self.weight = nn.Parameter(torch.empty(num_buckets, num_heads))
        self.scale = scale
        nn.init.zeros_(self.weight)

    def forward(self, queries, keys, offset=0):
        looked_up = F.embedding(
            self.rows(relative_distances(queries, keys, offset)), self.weight
        )
        return torch.movedim(looked_up, -1, 0).mul(self.scale)
""",
        helpers=("from functools import partial",),
    ),
    Right(
        "alibi",
        "einsum outer",
        """\
def head_slopes(num_heads):
    return torch.exp2(torch.linspace(-8 / num_heads, -8, num_heads))


def alibi(num_heads, queries, keys, offset=0):
    past = relative_distances(queries, keys, offset).abs().float()
    return torch.einsum("h,qk->hqk", head_slopes(num_heads), past).neg()
""",
    ),
    Right(
        "rotary",
        "matrix of polar",
        """\
def rotate(x, positions=None, base=10000.0):
    n, d = x.shape[-2], x.shape[-1]
    positions = torch.arange(n) if positions is None else positions
    theta = torch.exp(-math.log(base) * torch.arange(0, d, 2).float() / d)
    turn = torch.polar(torch.ones(()), torch.outer(positions.float(), theta))
    z = torch.view_as_complex(
        x.float().reshape(*x.shape[:-1], d // 2, 2).contiguous()
    )
    return torch.view_as_real(z * turn).flatten(-2).type_as(x)
""",
    ),
    Right(
        "schemes",
        "match",
        """\
def attend(query, key, value, scheme, learned=None):
    n, m = query.size(-2), key.size(-2)
    where = torch.arange(m - n, m)
    match scheme:
        case "rotary":
            query, key, bias = (
                rotate(query, where),
                rotate(key, torch.arange(m)),
                None,
            )
        case "alibi":
            bias = alibi(query.size(1), n, m, m - n)
        case "table":
            bias = learned(n, m, m - n)
        case _:
            bias = None
    seen = where[:, None] >= torch.arange(m)
    output, _ = biased_attention(query, key, value, bias=bias, mask=seen)
    return output
""",
    ),
    Right(
        "evaluation",
        "nanmean",
        """\
@torch.inference_mode()
def loss_by_position(model, tokens):
    model.train(False)
    tokens = tokens.to(next(model.parameters()).device)
    lp = model(tokens[:, :-1]).log_softmax(-1)
    t = tokens[:, 1:]
    nll = -lp.gather(2, t.unsqueeze(2)).squeeze(2)
    return nll.masked_fill(t == 0, math.nan).nanmean(0).cpu().clone()


def loss_at_lengths(model, tests, last):
    out = {}
    for n in tests:
        out[n] = float(loss_by_position(model, tests[n])[-last:].mean())
    return out
""",
    ),
]
