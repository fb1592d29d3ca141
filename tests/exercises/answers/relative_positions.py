"""Answers to exercise 4 that are unlike each other."""

ATTEND = """
def attend(query, key, value, scheme, learned=None):
    queries, keys = query.shape[2], key.shape[2]
    offset = keys - queries
    distance = torch.arange(keys) - torch.arange(offset, keys)[:, None]
    if scheme == "rotary":
        query, key = rotate(query, torch.arange(offset, keys)), rotate(key)
    scores = torch.einsum("bhid,bhjd->bhij", query, key) / query.shape[-1] ** 0.5
    if scheme == "alibi":
        slopes = head_slopes(query.shape[1]).reshape(1, -1, 1, 1)
        scores = scores {sign} slopes * distance.abs()
    if scheme == "table":
        scores = scores + learned(queries, keys, offset=offset){more}
    grad = scores.masked_fill(distance > 0, {hidden})
    return {result}
"""
PARTS = {
    "sign": "-",
    "more": "",
    "hidden": "float('-inf')",
    "result": "torch.einsum('bhij,bhjd->bhid', grad.softmax(-1), value)",
}


def _attend(**changes):
    text = ATTEND
    for name, part in {**PARTS, **changes}.items():
        text = text.replace(f"{{{name}}}", part)
    return text


EXPERIMENT = """
def next_token_losses(model, tokens):
    logs = model(tokens)[:, :-1].log_softmax(-1)
    return -logs.gather(-1, tokens[:, 1:, None]).squeeze(-1)


def train_and_test(model, draw, steps, lengths, trained=32):
    {before}seeds = iter(range(steps))
    train(
        model,
        lambda step: (draw(32, trained, next(seeds)),),
        lambda model, tokens: next_token_losses(model, tokens){loss},
        steps=steps,
        learning_rate=5e-3,
        device="cpu",
        progress=False,
    )
    {after}return test(model, draw, lengths, trained)


def test(model, draw, lengths, trained):
    found = {}
    for n in lengths:
        losses = next_token_losses(model, draw(64, n, {seed}))
        found[n] = float(losses[:, n - trained :].detach().mean())
    return found
"""


def _experiment(before="", loss=".mean()", after="", seed="10**9"):
    changes = {"{before}": before, "{loss}": loss, "{after}": after, "{seed}": seed}
    text = EXPERIMENT
    for name, part in changes.items():
        text = text.replace(name, part)
    return text


GAINS = """
def gains(losses, length, baseline="sinusoidal"):
    runs = [{s: loss[length] for s, loss in run.items()} for run in losses.values()]
    table = torch.tensor([[r[baseline] - r[s] for s in r] for r in runs])
    pairs = zip(runs[0], table.mean(0).tolist(), {smallest})
    return {s: (mean, least) for s, mean, least in pairs if s != baseline}
"""


DISTANCES = """
def relative_distances(n, m, offset=0):
    return torch.tensor([[j - i - offset for j in range(m)] for i in range(n)])


def bucket(d, n, far):
    e = n // 2
    if d < e:
        return d
    return min(n - 1, e + int((n - e) * math.log(d / e) / math.log(far / e)))


def buckets(distances, num_buckets, max_distance):
    rows = []
    for r in distances.flatten().tolist():
        rows.append(bucket(-r, num_buckets, max_distance) if r <= 0 else {right})
    return torch.tensor(rows).reshape(distances.shape)
"""


def _distances(right="0"):
    return DISTANCES.replace("{right}", right)


TABLE = """
class LearnedBias(nn.Module):
    def __init__(self, heads, n, far, scale=10.0):
        super().__init__()
        self.rows, self.n, self.far, self.scale = nn.Embedding(n, heads), n, far, scale
        nn.init.zeros_(self.rows.weight)

    def forward(self, queries, keys, offset=0):
        found = buckets(relative_distances(queries, keys, offset), self.n, self.far)
        return {result}
"""

WRONG = {
    "distances": {
        "eight bits": (
            _distances().replace("range(n)])", "range(n)]).to(torch.int8)"),
            "not yet relative_distances: the first query stands",
        ),
        "nothing returned": (
            _distances().replace("    return torch.tensor([", "    torch.tensor(["),
            "Is a return missing?",
        ),
        "the near half is rounded up": (
            _distances().replace("e = n // 2", "e = (n + 1) // 2"),
            "For an odd n, buckets rounds n/2 up",
        ),
        "keys to the right in the last bucket": (
            _distances(right="num_buckets - 1"),
            "not yet buckets: near distances have a bucket each",
        ),
    },
    "table": {
        "a bias kept from the first call": (
            TABLE.replace(
                "return {result}",
                "if not hasattr(self, 'kept'):\n"
                "            self.kept = self.scale * self.rows(found)\n"
                "        return self.kept.permute(2, 0, 1)",
            ),
            "not yet each head adds its own number",
        ),
        "scale in the table's first values": (
            TABLE.replace(
                "zeros_(self.rows.weight)", "constant_(self.rows.weight, scale)"
            ).replace("{result}", "self.rows(found).permute(2, 0, 1)"),
            "not yet one parameter: a table of zeros",
        ),
    },
    "alibi": {
        "a list of slopes": (
            "def head_slopes(n):\n"
            "    return [2 ** (-8 * h / n) for h in range(1, n + 1)]\n\n\n"
            "def alibi(n, queries, keys, offset=0):\n"
            "    slopes = torch.tensor(head_slopes(n)).reshape(-1, 1, 1)\n"
            "    return -slopes * relative_distances(queries, keys, offset).abs()",
            "What is returned should be a tensor; it is a list",
        ),
        "distances no farther than eight": (
            "def head_slopes(n):\n"
            "    return 0.5 ** (8 * torch.arange(1, n + 1) / n)\n\n\n"
            "def alibi(n, queries, keys, offset=0):\n"
            "    steps = relative_distances(queries, keys, offset).abs().clamp(max=8)\n"
            "    return -torch.einsum('h,ij->hij', head_slopes(n), steps.float())",
            "not yet alibi: each head subtracts",
        ),
    },
    "rotary": {
        "angles in half precision": (
            "def rotate(x, positions=None, base=10000.0):\n"
            "    p = torch.arange(x.shape[-2]) if positions is None else positions\n"
            "    rate = base ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1])\n"
            "    z = (p[:, None].to(x.dtype) * rate.to(x.dtype)).float()\n"
            "    a, b = x[..., ::2].float(), x[..., 1::2].float()\n"
            "    c, s = z.cos(), z.sin()\n"
            "    y = torch.stack((a * c - b * s, a * s + b * c), -1).flatten(-2)\n"
            "    return y.to(x.dtype)",
            "off by more than the rounding of x",
        ),
        "the course's own": (
            "from attncourse.layers.rotary import apply_rotary\n\n"
            "def rotate(x, positions=None, base=10000.0):\n"
            "    return apply_rotary(x, positions, base=base)",
            "uses attncourse.layers",
        ),
    },
    "attention": {
        "ALiBi is added": (_attend(sign="+"), "far keys are preferred"),
        "a bias without a gradient": (
            _attend(more=".detach()"),
            "No gradient reaches bias",
        ),
        "a tuple for an output": (
            _attend(result="(grad.softmax(-1) @ value, grad.softmax(-1))"),
            "should be a tensor; it is a tuple",
        ),
        "PyTorch's own attention": (
            "def attend(query, key, value, scheme, learned=None):\n"
            "    sdpa = F.scaled_dot_product_attention\n"
            "    return sdpa(query, key, value, is_causal=True)",
            "uses torch.nn.functional.scaled_dot_product_attention",
        ),
    },
    "lengths": {
        "tested before the training": (
            _experiment(
                before="found = test(model, draw, lengths, trained)\n    "
            ).replace("return test(", "return found or test("),
            "not yet train_and_test: the tests come after",
        ),
        "the texts of the training come again in the tests": (
            _experiment(seed="0"),
            "expected seeds that these share",
        ),
        "only the end of each text is learned": (
            _experiment(loss="[:, -4:].mean()"),
            "not yet train_and_test: the tests come after",
        ),
        "the last position is read, too": (
            _experiment().replace("n - trained :]", "n - trained - 1 :]"),
            "last",
        ),
    },
    "comparison": {
        "the smallest from unpaired losses": (
            GAINS.replace("{smallest}", "(table.amin(0) * 0.5).tolist()"),
            "not yet the mean and the smallest gain",
        ),
    },
}

RIGHT = {
    "distances": {
        "in loops": _distances(),
        "32 bits": _distances().replace("range(n)])", "range(n)]).int()"),
    },
    "table": {
        "an embedding": TABLE.replace(
            "{result}", "self.scale * self.rows(found).permute(2, 0, 1)"
        ),
        "einsum": TABLE.replace(
            "{result}", "torch.einsum('ijh->hij', self.rows(found)) * self.scale"
        ),
    },
    "alibi": {
        "the future at minus infinity": (
            "def head_slopes(n):\n"
            "    return torch.tensor([2 ** (-8 * (h + 1) / n) for h in range(n)])\n\n\n"
            "def alibi(n, queries, keys, offset=0):\n"
            "    r = relative_distances(queries, keys, offset)\n"
            "    r = r.float().masked_fill(r > 0, -math.inf)\n"
            "    return torch.stack([m * r for m in head_slopes(n)])"
        ),
    },
    "rotary": {
        "complex numbers": (
            "def rotate(x, positions=None, base=10000.0):\n"
            "    if positions is None:\n"
            "        positions = torch.arange(x.size(-2))\n"
            "    rate = base ** (-torch.arange(0, x.size(-1), 2) / x.size(-1))\n"
            "    angle = torch.outer(positions.float(), rate)\n"
            "    pair = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)))\n"
            "    turned = pair * torch.polar(torch.ones_like(angle), angle)\n"
            "    return torch.view_as_real(turned).flatten(-2).type_as(x)"
        ),
    },
    "attention": {
        "einsum, and a local name grad": _attend(),
        "a large negative number for the hidden": _attend(hidden="-3e38"),
    },
    "lengths": {"seeds from an iterator": _experiment()},
    "comparison": {"in tensors": GAINS.replace("{smallest}", "table.amin(0).tolist()")},
}
