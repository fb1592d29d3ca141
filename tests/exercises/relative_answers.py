"""Wrong answers to exercise 4; the right ones are in `relative_right`."""

from textwrap import dedent

from tests.exercises import unforeseen
from tests.exercises.answers import Wrong
from tests.exercises.fresh import relative as fresh
from tests.exercises.relative_right import RIGHT
from tests.exercises.students import relative as students
from tests.exercises.subtle import relative as subtle

__all__ = ["RIGHT", "WRONG"]


def _changes(task, *rows):
    """Make wrong answers from (name, loses, named, old text, new text)."""
    return [
        Wrong(task, name, loses, named, change=(old, new))
        for name, loses, named, old, new in rows
    ]


def _whole(task, name, loses, named, code):
    return Wrong(task, name, loses, named, code=dedent(code).strip() + "\n")


KEYS_LESS_QUERIES = "torch.arange(keys) - query_positions[:, None]"
COUNTED_APART = "queries and keys counted from different numbers"

DISTANCES = _changes(
    "distances",
    (
        "query minus key",
        (0, 1),
        "wrong sign",
        KEYS_LESS_QUERIES,
        "query_positions[:, None] - torch.arange(keys)",
    ),
    (
        "absolute distances",
        (0, 1),
        "sign lost",
        KEYS_LESS_QUERIES,
        f"({KEYS_LESS_QUERIES}).abs()",
    ),
    (
        "keys from 1, queries from 0",
        (0, 1),
        COUNTED_APART,
        "torch.arange(keys)",
        "torch.arange(1, keys + 1)",
    ),
    (
        "queries from 1, keys from 0",
        (0, 1),
        COUNTED_APART,
        "torch.arange(queries)",
        "torch.arange(1, queries + 1)",
    ),
    ("offset forgotten", (1,), "offset ignored", "offset + ", ""),
    (
        "offset subtracted",
        (1,),
        "offset with the wrong sign",
        "offset + torch.arange(queries)",
        "torch.arange(queries) - offset",
    ),
    (
        "rows are keys",
        (0, 1),
        "wrong sign",
        KEYS_LESS_QUERIES,
        "torch.arange(keys)[:, None] - query_positions",
    ),
    (
        "future cut off",
        (0, 1),
        "future cut off",
        KEYS_LESS_QUERIES,
        f"({KEYS_LESS_QUERIES}).clamp(max=0)",
    ),
    (
        "in floating point",
        (0, 1),
        "wrong type",
        "torch.arange(keys)",
        "torch.arange(keys, dtype=torch.float32)",
    ),
    (
        "four keys, always",
        (0, 1),
        "wrong shape",
        "torch.arange(keys)",
        "torch.arange(4)",
    ),
)

CLIP = "distances.clamp(-reach, reach) + reach"
NO_LOG = "torch.where(steps < near, steps, far.clamp(max=num_buckets - 1))"
UNIT = "logarithm in the wrong unit"

BUCKETS = _changes(
    "buckets",
    ("clipping lost", (0,), "not clipped", CLIP, "distances + reach"),
    ("no shift", (0,), "rows below zero", CLIP, "distances.clamp(-reach, reach)"),
    (
        "sides share a row",
        (0,),
        "left and right share a row",
        CLIP,
        "distances.abs().clamp(max=reach)",
    ),
    ("rows from 1", (0,), "one row too many", CLIP, f"1 + {CLIP}"),
    (
        "shifted, then clipped",
        (0,),
        "clipped after the shift",
        CLIP,
        "(distances + reach).clamp(0, reach)",
    ),
    (
        "clipped in place",
        (0,),
        "changes its input",
        CLIP,
        "distances.clamp_(-reach, reach) + reach",
    ),
    (
        "distance with the wrong sign",
        (1,),
        "wrong sign",
        "(-distances).clamp(min=0)",
        "distances.clamp(min=0)",
    ),
    (
        "future sorted like the past",
        (1,),
        "sign lost",
        "(-distances).clamp(min=0)",
        "distances.abs()",
    ),
    (
        "off by one",
        (1, 2),
        "buckets counted from 1",
        "return first + torch",
        "return 1 + first + torch",
    ),
    (
        "off by one, clipped",
        (1, 2),
        "buckets counted from 1",
        f"return first + {NO_LOG}",
        f"return (1 + first + {NO_LOG}).clamp(max=num_buckets - 1)",
    ),
    ("no end", (1, 2), "no last bucket", ".clamp(max=num_buckets - 1)", ""),
    (
        "one distance a bucket",
        (1, 2),
        "no logarithm",
        NO_LOG,
        "steps.clamp(max=num_buckets - 1)",
    ),
    ("log not divided", (1, 2), UNIT, " / math.log(max_distance / near)", ""),
    (
        "log of max_distance",
        (1, 2),
        UNIT,
        "math.log(max_distance / near)",
        "math.log(max_distance)",
    ),
    ("rounded", (1, 2), "rounded the wrong way", ".floor()", ".round()"),
    ("rounded up", (1, 2), "rounded the wrong way", ".floor()", ".ceil()"),
    (
        "upper half for the past",
        (2,),
        "halves exchanged",
        "(distances > 0)",
        "(distances < 0)",
    ),
    (
        "own position on the right",
        (2,),
        "own position on the right",
        "(distances > 0)",
        "(distances >= 0)",
    ),
    (
        "buckets not halved",
        (2,),
        "buckets not shared between the sides",
        "        num_buckets = num_buckets // 2\n",
        "",
    ),
    (
        "no upper half",
        (2,),
        "left and right share a bucket",
        "(distances > 0) * num_buckets",
        "0",
    ),
    (
        "argument causal ignored",
        (2,),
        "causal where two sides are asked for",
        "if causal:",
        "if True:",
    ),
)

ADDED = "scores = scores + bias"

BIAS = [
    _whole(
        "bias",
        "bias after the softmax",
        (0, 1),
        "bias after the softmax",
        """
        def biased_attention(query, key, value, bias=None, mask=None):
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            weights = scores.softmax(dim=-1)
            if bias is not None:
                weights = weights + bias
            return weights @ value, weights
        """,
    ),
    _whole(
        "bias",
        "mask after the softmax",
        (1,),
        "mask after the softmax",
        """
        def biased_attention(query, key, value, bias=None, mask=None):
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
            if bias is not None:
                scores = scores + bias
            weights = scores.softmax(dim=-1)
            if mask is not None:
                weights = weights * mask
            return weights @ value, weights
        """,
    ),
    _whole(
        "bias",
        "bias only where there is no mask",
        (1,),
        "bias lost where there is a mask",
        """
        def biased_attention(query, key, value, bias=None, mask=None):
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
            if mask is not None:
                scores = scores.masked_fill(~mask, -math.inf)
            elif bias is not None:
                scores = scores + bias
            weights = scores.softmax(dim=-1)
            return weights @ value, weights
        """,
    ),
    *_changes(
        "bias",
        (
            "bias scaled too",
            (0, 1),
            "bias divided by the root of d_k",
            ADDED,
            "scores = scores + bias / math.sqrt(query.shape[-1])",
        ),
        ("bias unused", (0, 1), "bias ignored", ADDED, "pass"),
        (
            "heads taken for texts",
            (0, 1),
            "texts and heads mixed up",
            ADDED,
            "scores = scores + bias[:, None]",
        ),
        (
            "the first head's bias for all",
            (0, 1),
            "one bias for all heads",
            ADDED,
            "scores = scores + bias[0]",
        ),
        (
            "the mean bias for all heads",
            (0, 1),
            "one bias for all heads",
            ADDED,
            "scores = scores + bias.mean(dim=0)",
        ),
        (
            "bias subtracted",
            (0, 1),
            "bias subtracted",
            ADDED,
            "scores = scores - bias",
        ),
        (
            "bias multiplied",
            (0, 1),
            "bias multiplied",
            ADDED,
            "scores = scores * bias",
        ),
        ("no scaling", (0, 1), "no scaling", " / math.sqrt(query.shape[-1])", ""),
        (
            "softmax over the queries",
            (0, 1),
            "softmax over the queries",
            "softmax(dim=-1)",
            "softmax(dim=-2)",
        ),
        (
            "elif for the mask",
            (1,),
            "mask lost where there is a bias",
            "    if mask is not None",
            "    elif mask is not None",
        ),
        ("mask unused", (1,), "mask ignored", "if mask is not None", "if False"),
        ("mask inverted", (1,), "mask inverted", "~mask", "mask"),
        (
            "mask by multiplication",
            (1,),
            "mask by multiplication",
            "scores.masked_fill(~mask, -math.inf)",
            "scores * mask",
        ),
        (
            "boolean mask added",
            (1,),
            "boolean mask added as a number",
            "scores.masked_fill(~mask, -math.inf)",
            "scores + mask",
        ),
        (
            "None not looked for",
            (1,),
            "a missing bias is an error",
            "if bias is not None",
            "if True",
        ),
        (
            "weights first",
            (0, 1),
            "weights and output exchanged",
            "return weights @ value, weights",
            "return weights, weights @ value",
        ),
    ),
]

MAKE_TABLE = "nn.Parameter(torch.zeros(num_buckets, num_heads))"

TABLE = [
    _whole(
        "table",
        "embedding with its usual start",
        (1,),
        "random start",
        """
        class LearnedBias(nn.Module):
            def __init__(self, num_heads, num_buckets, max_distance, scale=10.0):
                super().__init__()
                self.numbers = nn.Embedding(num_buckets, num_heads)
                self.sizes, self.scale = (num_buckets, max_distance), scale

            def forward(self, queries, keys, offset=0):
                distances = relative_distances(queries, keys, offset)
                found = self.numbers(buckets(distances, *self.sizes))
                return self.scale * found.permute(2, 0, 1)
        """,
    ),
    *_changes(
        "table",
        (
            "one number for all heads",
            (0, 1),
            "one bias for all heads",
            MAKE_TABLE,
            "nn.Parameter(torch.zeros(num_buckets, 1))",
        ),
        (
            "a plain tensor",
            (0, 1),
            "not a parameter",
            MAKE_TABLE,
            "torch.zeros(num_buckets, num_heads)",
        ),
        (
            "wrong sign",
            (0, 1),
            "wrong sign",
            "buckets(distances, self",
            "buckets(-distances, self",
        ),
        (
            "offset not handed on",
            (0, 1),
            "offset ignored",
            "relative_distances(queries, keys, offset)",
            "relative_distances(queries, keys)",
        ),
        ("no scale", (0, 1), "scale forgotten", "self.scale * ", ""),
        (
            "heads last",
            (0, 1),
            "heads on the last axis",
            ".permute(2, 0, 1)",
            "",
        ),
        (
            "reshaped",
            (0, 1),
            "axes reshaped",
            ".permute(2, 0, 1)",
            ".reshape(-1, queries, keys)",
        ),
        (
            "random start",
            (1,),
            "random start",
            "torch.zeros(num_b",
            "torch.randn(num_b",
        ),
        (
            "detached",
            (1,),
            "gradient cut off",
            "self.table[rows]",
            "self.table.data[rows]",
        ),
        (
            "two-sided buckets",
            (0, 1),
            "two-sided buckets in a causal model",
            "self.num_buckets, self.max_distance)\n        return",
            "self.num_buckets, self.max_distance, False)\n        return",
        ),
        (
            "no buckets",
            (0, 1),
            "distances as rows",
            "self.table[rows]",
            "self.table[distances]",
        ),
    ),
]

SLOPES = "2.0 ** (-8 * heads / num_heads)"
SPREAD = "-head_slopes(num_heads)[:, None, None] * steps"

ALIBI = _changes(
    "alibi",
    (
        "heads from 0",
        (0, 1),
        "heads counted from 0",
        "torch.arange(1, num_heads + 1)",
        "torch.arange(num_heads)",
    ),
    (
        "halves, for any number of heads",
        (0, 1),
        "slopes independent of the number of heads",
        SLOPES,
        "2.0 ** (-heads)",
    ),
    (
        "one slope",
        (0, 1),
        "one slope for all heads",
        SLOPES,
        "torch.full((num_heads,), 0.5)",
    ),
    (
        "last head steepest",
        (0, 1),
        "slopes in the opposite order",
        SLOPES,
        f"({SLOPES}).flip(0)",
    ),
    (
        "on a straight line",
        (0, 1),
        "slopes on a straight line",
        SLOPES,
        "heads.flip(0) / num_heads",
    ),
    ("exponent without sign", (0, 1), "slopes growing", "(-8 *", "(8 *"),
    (
        "distance rewarded",
        (1,),
        "distance rewarded",
        SPREAD,
        SPREAD.removeprefix("-"),
    ),
    (
        "signed distance subtracted",
        (1,),
        "distance rewarded",
        "relative_distances(queries, keys, offset).abs()",
        "relative_distances(queries, keys, offset)",
    ),
    (
        "the first slope for all heads",
        (1,),
        "one slope for all heads",
        SPREAD,
        "-head_slopes(num_heads)[0] * steps.expand(num_heads, -1, -1)",
    ),
    (
        "offset not handed on",
        (1,),
        "offset ignored",
        "relative_distances(queries, keys, offset)",
        "relative_distances(queries, keys)",
    ),
    (
        "slopes along the queries",
        (1,),
        "slopes along the wrong axis",
        "[:, None, None]",
        "[None, :, None]",
    ),
)

RATES = "torch.arange(0, width, 2) / width"

ROTARY = [
    _whole(
        "rotary",
        "halves",
        (0,),
        "pairs of halves",
        """
        def rotate(x, positions=None, base=10000.0):
            if positions is None:
                positions = torch.arange(x.shape[-2])
            width = x.shape[-1]
            rates = base ** (-torch.arange(0, width, 2) / width)
            angles = positions[:, None] * rates
            cos, sin = torch.cat([angles, angles], -1).cos(), angles.sin()
            sin = torch.cat([sin, sin], -1)
            first, second = x.float().chunk(2, dim=-1)
            return (x * cos + torch.cat([-second, first], -1) * sin).to(x.dtype)
        """,
    ),
    _whole(
        "rotary",
        "written into the input",
        (0, 1, 2),
        "changes its input",
        """
        def rotate(x, positions=None, base=10000.0):
            if positions is None:
                positions = torch.arange(x.shape[-2])
            width = x.shape[-1]
            rates = base ** (-torch.arange(0, width, 2) / width)
            angles = positions[:, None] * rates
            first, second = x[..., 0::2].clone(), x[..., 1::2].clone()
            x[..., 0::2] = first * angles.cos() - second * angles.sin()
            x[..., 1::2] = first * angles.sin() + second * angles.cos()
            return x
        """,
    ),
    _whole(
        "rotary",
        "half of a pair overwritten",
        (0, 1),
        "half of a pair overwritten",
        """
        def rotate(x, positions=None, base=10000.0):
            if positions is None:
                positions = torch.arange(x.shape[-2])
            width = x.shape[-1]
            rates = base ** (-torch.arange(0, width, 2) / width)
            angles = positions[:, None] * rates
            y = x.clone()
            first, second = y[..., 0::2], y[..., 1::2]
            y[..., 0::2] = first * angles.cos() - second * angles.sin()
            y[..., 1::2] = first * angles.sin() + second * angles.cos()
            return y
        """,
    ),
    _whole(
        "rotary",
        "sinusoids added",
        (0, 1),
        "position added instead of turned",
        """
        def rotate(x, positions=None, base=10000.0):
            if positions is None:
                positions = torch.arange(x.shape[-2])
            width = x.shape[-1]
            rates = base ** (-torch.arange(0, width, 2) / width)
            angles = positions[:, None] * rates
            added = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)
            return (x + added).to(x.dtype)
        """,
    ),
    *_changes(
        "rotary",
        (
            "turned the other way",
            (0,),
            "turned the other way",
            "[first * cos - second * sin, first * sin + second * cos]",
            "[first * cos + second * sin, second * cos - first * sin]",
        ),
        (
            "degrees",
            (0,),
            "angles in degrees",
            "angles.cos(), angles.sin()",
            "angles.deg2rad().cos(), angles.deg2rad().sin()",
        ),
        (
            "positions from 1",
            (0,),
            "positions counted from 1",
            "torch.arange(tokens)",
            "torch.arange(1, tokens + 1)",
        ),
        (
            "i / d for 2i / d",
            (0,),
            "rates fall at the wrong pace",
            RATES,
            "torch.arange(width // 2) / width",
        ),
        (
            "4i / d for 2i / d",
            (0,),
            "rates fall at the wrong pace",
            RATES,
            "2 * torch.arange(0, width, 2) / width",
        ),
        ("rates growing", (0,), "rates growing", "base ** (-torch", "base ** (torch"),
        (
            "one rate",
            (0, 1),
            "all pairs at one rate",
            RATES,
            "torch.zeros(width // 2)",
        ),
        (
            "base of 1000",
            (0,),
            "wrong base",
            "positions=None, base=10000.0",
            "positions=None, base=1000.0",
        ),
        ("base ignored", (1,), "base ignored", "rates = base **", "rates = 1e4 **"),
        (
            "positions ignored",
            (1,),
            "positions ignored",
            "if positions is None:",
            "if True:",
        ),
        (
            "a pair that is no rotation",
            (0, 1),
            "lengths change",
            "first * sin + second * cos",
            "first * sin - second * cos + 2 * second",
        ),
        (
            "pairs torn apart",
            (0,),
            "features of a pair torn apart",
            "turned.flatten(-2)",
            "turned.transpose(-2, -1).flatten(-2)",
        ),
        (
            "angles in half precision",
            (2,),
            "angles in half precision",
            "positions.cpu()[:, None] * rates",
            "positions.cpu()[:, None].to(x.dtype) * rates.to(x.dtype)",
        ),
        (
            "comes out in float32",
            (2,),
            "another precision comes out",
            ".flatten(-2).to(x.dtype)",
            ".flatten(-2)",
        ),
    ),
]

MASKED = "relative_distances(queries, keys, offset) <= 0"
TURNED = "rotate(query, offset + torch.arange(queries)), rotate(key)"
FROM_FIRST = "bias counted from the first key"

SCHEMES = _changes(
    "schemes",
    (
        "mask lost with a bias",
        (0, 2),
        "mask lost where there is a bias",
        "biased_attention(query, key, value, bias, mask.to(query.device))",
        "biased_attention(query, key, value, bias, mask if bias is None else None)",
    ),
    (
        "no mask",
        (0, 1, 2),
        "no causal mask",
        "value, bias, mask.to(query.device))",
        "value, bias)",
    ),
    (
        "future only",
        (0, 1, 2),
        "mask inverted",
        MASKED,
        MASKED.replace("<=", ">="),
    ),
    (
        "own position hidden",
        (0, 1, 2),
        "own token hidden",
        MASKED,
        MASKED.replace("<=", "<"),
    ),
    (
        "values turned",
        (1, 2),
        "values turned too",
        TURNED,
        f"{TURNED}\n        value = rotate(value)",
    ),
    (
        "keys not turned",
        (1, 2),
        "only the queries turned",
        TURNED,
        TURNED.replace("rotate(key)", "key"),
    ),
    (
        "queries not turned",
        (1, 2),
        "only the keys turned",
        TURNED,
        "query, rotate(key)",
    ),
    (
        "keys from 1, queries from 0",
        (1, 2),
        COUNTED_APART,
        TURNED,
        TURNED.replace("rotate(key)", "rotate(key, torch.arange(1, keys + 1))"),
    ),
    (
        "everything from the first key",
        (2,),
        "queries counted from the first key",
        "offset = keys - queries",
        "offset = 0",
    ),
    (
        "mask from the first key",
        (2,),
        "mask counted from the first key",
        MASKED,
        "torch.ones(queries, keys, dtype=torch.bool).tril()",
    ),
    (
        "rotary from the first key",
        (2,),
        "rotary queries counted from the first key",
        TURNED,
        "rotate(query), rotate(key)",
    ),
    (
        "table from the first key",
        (2,),
        FROM_FIRST,
        "learned(queries, keys, offset)",
        "learned(queries, keys)",
    ),
    (
        "ALiBi from the first key",
        (2,),
        FROM_FIRST,
        "alibi(heads, queries, keys, offset).to",
        "alibi(heads, queries, keys).to",
    ),
    (
        "ALiBi misspelt",
        (0, 2),
        "ALiBi not used",
        'scheme == "alibi"',
        'scheme == "ALiBi"',
    ),
    (
        "rotary misspelt",
        (1, 2),
        "rotary not used",
        'scheme == "rotary"',
        'scheme == "rope"',
    ),
)

READ = "logits = model(tokens[:, :-1]).transpose(1, 2)"
DIVIDED = "(loss.sum(dim=0) / (targets != 0).sum(dim=0))"

EVALUATION = _changes(
    "evaluation",
    ("training mode", (0, 1), "model in training mode", "    model.eval()\n", ""),
    (
        "targets not shifted",
        (0, 1),
        "targets not shifted",
        "targets = tokens[:, 1:]",
        "targets = tokens[:, :-1]",
    ),
    (
        "shifted the wrong way",
        (0, 1),
        "targets shifted the wrong way",
        f"{READ}\n    targets = tokens[:, 1:]",
        "logits = model(tokens)[:, 1:].transpose(1, 2)\n    targets = tokens[:, :-1]",
    ),
    (
        "divided by all texts",
        (0,),
        "divided by all texts",
        DIVIDED,
        "loss.mean(dim=0)",
    ),
    (
        "padding as a target",
        (0,),
        "padding counted as a target",
        f'ignore_index=0, reduction="none")\n    return {DIVIDED}',
        'reduction="none")\n    return loss.mean(dim=0)',
    ),
    (
        "softmax twice",
        (0, 1),
        "probabilities instead of logits",
        "model(tokens[:, :-1]).transpose",
        "model(tokens[:, :-1]).softmax(-1).transpose",
    ),
    (
        "reshape for transpose",
        (0, 1),
        "axes mixed up",
        "model(tokens[:, :-1]).transpose(1, 2)",
        "model(tokens[:, :-1])\n"
        "    logits = logits.reshape(len(logits), logits.shape[2], -1)",
    ),
    (
        "mean over positions",
        (0, 1),
        "mean over the positions",
        DIVIDED,
        "(loss.sum(dim=1) / (targets != 0).sum(dim=1))",
    ),
    (
        "one number",
        (0, 1),
        "one number for all positions",
        DIVIDED,
        "(loss.sum() / (targets != 0).sum())",
    ),
    (
        "sign lost",
        (0, 1),
        "sign of the loss lost",
        f"return {DIVIDED}",
        f"return -{DIVIDED}",
    ),
    ("first positions", (1,), "only the first positions", "[-last:]", "[:last]"),
    ("all positions", (1,), "mean over all positions", "[-last:]", ""),
    ("last position", (1,), "one position only", "[-last:]", "[-1:]"),
    ("sum", (1,), "sum instead of mean", "[-last:].mean()", "[-last:].sum()"),
    (
        "texts cut",
        (1,),
        "texts cut before they are read",
        "loss_by_position(model, tokens)[-last:]",
        "loss_by_position(model, tokens[:, -last - 1 :])",
    ),
    (
        "a list",
        (1,),
        "not a dictionary",
        "length: loss_by_position(model, tokens)[-last:].mean().item()\n"
        "        for length, tokens in tests.items()",
        "loss_by_position(model, tokens)[-last:].mean().item()\n"
        "        for tokens in tests.values()",
    ),
)

SHOWN = "draw(32, trained, step)"
TESTED = "return loss_at_lengths(model, tests, trained - 1)"
RULE = "max(loss.values()) - loss[min(loss)] <= margin"

LENGTHS = _changes(
    "lengths",
    (
        "longest length in training",
        (0,),
        "trained on the test length",
        SHOWN,
        "draw(32, max(lengths), step)",
    ),
    (
        "all lengths in training",
        (0,),
        "trained on the test length",
        SHOWN,
        "draw(32, lengths[step % len(lengths)], step)",
    ),
    (
        "length written into the code",
        (0,),
        "trained on the test length",
        SHOWN,
        "draw(32, 32, step)",
    ),
    ("one batch", (0,), "one batch over and over", SHOWN, "draw(32, trained, 0)"),
    (
        "test with the first seeds",
        (0,),
        "tested on texts of the training",
        "10**6 + length",
        "0",
    ),
    (
        "test with a used seed at the longest length only",
        (0,),
        "tested on texts of the training",
        "10**6 + length",
        "max(lengths) - length",
    ),
    (
        "test with a used seed at the longer lengths only",
        (0,),
        "tested on texts of the training",
        "10**6 + length",
        "steps * (length == trained)",
    ),
    (
        "test with a used seed at one length of a long training only",
        (0,),
        "tested on texts of the training",
        "10**6 + length",
        "2 * trained + steps - length",
    ),
    (
        "test seeds that only a long training reaches",
        (0,),
        "tested on texts of the training",
        "10**6 + length",
        "100",
    ),
    (
        "test seeds a hundred behind the length",
        (0,),
        "tested on texts of the training",
        "10**6 + length",
        "100 + length",
    ),
    (
        "test with the seed of the last step but at other lengths",
        (0,),
        "tested on texts of the training",
        "10**6 + length",
        "steps - 1 + (length == trained)",
    ),
    (
        "steps written into the code",
        (0,),
        "another number of steps",
        "steps=steps",
        "steps=10",
    ),
    (
        "no training",
        (0,),
        "nothing learned",
        "train(model, batch_of, loss_of, steps=steps, **settings)",
        "model.train()",
    ),
    (
        "first positions",
        (0,),
        "only the first positions",
        TESTED,
        "parts = {n: loss_by_position(model, t) for n, t in tests.items()}\n"
        "    return {n: p[: trained - 1].mean().item() for n, p in parts.items()}",
    ),
    (
        "all positions",
        (0,),
        "mean over all positions",
        TESTED,
        "return loss_at_lengths(model, tests, 10**6)",
    ),
    (
        "31 predictions, always",
        (0,),
        "another number of predictions",
        TESTED,
        "return loss_at_lengths(model, tests, 31)",
    ),
    (
        "longest only",
        (1,),
        "longest text only",
        "max(loss.values())",
        "loss[max(loss)]",
    ),
    (
        "against the best scheme",
        (1,),
        "compared with the best scheme",
        RULE,
        "max(loss.values())\n"
        "        <= margin + min(other[min(other)] for other in losses.values())",
    ),
    ("the losers", (1,), "those that do not hold", "<= margin", "> margin"),
    (
        "falling is failing",
        (1,),
        "better counts as worse",
        RULE,
        "max(abs(v - loss[min(loss)]) for v in loss.values()) <= margin",
    ),
    (
        "step by step",
        (1,),
        "step by step",
        RULE,
        "all(loss[b] - loss[a] <= margin\n"
        "               for a, b in zip(sorted(loss), sorted(loss)[1:]))",
    ),
)

MADE = "LanguageModel(attend, scheme, learned)"

FINDING = _changes(
    "finding",
    (
        "always ALiBi",
        (0, 1),
        "scheme not handed on",
        MADE,
        'LanguageModel(attend, "alibi", learned)',
    ),
    ("no seed", (0,), "seed not used", "    seed_everything(seed)\n", ""),
    (
        "one seed for all",
        (0,),
        "one seed for all models",
        "seed_everything(seed)",
        "seed_everything(0)",
    ),
    (
        "buckets to 128",
        (0,),
        "buckets that are never trained",
        "LearnedBias(4, 16, 20)",
        "LearnedBias(4, 16, 128)",
    ),
    (
        "table not handed on",
        (0,),
        "no table",
        MADE,
        "LanguageModel(attend, scheme)",
    ),
)

WRONG = [
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
    *students.WRONG,
    *subtle.WRONG,
    *fresh.WRONG,
    *unforeseen.RELATIVE,
]
