"""Answers to exercise 4 of a class that was made up for it, right and wrong."""

# ruff: noqa: E501  (students' lines are as long as they are)

from tests.exercises.answers import Right, Wrong

WRONG = [
    Wrong(
        "lengths",
        "another learning rate",
        (0,),
        "another learning rate",
        change=('"learning_rate": 5e-3', '"learning_rate": 1e-3'),
    ),
    Wrong(
        "lengths",
        "learning rate left out",
        (0,),
        "another learning rate",
        change=(
            '{"learning_rate": 5e-3, "progress": False}',
            '{"progress": False}',
        ),
    ),
    Wrong(
        "distances",
        "eight bits",
        (0, 1),
        "too narrow a type",
        code="""\
def relative_distances(queries, keys, offset=0):
    i = torch.arange(queries, dtype=torch.int8)
    j = torch.arange(keys, dtype=torch.int8)
    return j[None] - i[:, None] - offset
""",
    ),
    Wrong(
        "distances",
        "cast to eight bits at the end",
        (0, 1),
        "too narrow a type",
        code="""\
def relative_distances(queries, keys, offset=0):
    return (torch.arange(keys) - torch.arange(queries)[:, None] - offset).to(torch.int8)
""",
    ),
    Wrong(
        "distances",
        "offset on the keys",
        (1,),
        "offset with the wrong sign",
        code="""\
def relative_distances(queries, keys, offset=0):
    return (offset + torch.arange(keys)) - torch.arange(queries)[:, None]
""",
    ),
    Wrong(
        "distances",
        "offset multiplied",
        (1,),
        "offset multiplied",
        code="""\
def relative_distances(queries, keys, offset=1):
    return torch.arange(keys) - offset * torch.arange(queries)[:, None]
""",
    ),
    Wrong(
        "distances",
        "counted from the end",
        (0, 1),
        "wrong sign",
        code="""\
def relative_distances(queries, keys, offset=0):
    return torch.arange(keys).flip(0) - torch.arange(queries).flip(0)[:, None] - offset
""",
    ),
    Wrong(
        "buckets",
        "natural log of one more",
        (1, 2),
        "logarithm of one more",
        change=(
            "share = torch.log(steps.clamp(min=1) / near) / math.log(max_distance / near)",
            "share = torch.log1p(steps / near) / math.log1p(max_distance / near)",
        ),
    ),
    Wrong(
        "buckets",
        "reach on one side only",
        (0,),
        "clipped on one side only",
        code="""\
def clipped_rows(distances, reach):
    return distances.clamp(max=reach) + reach
""",
    ),
    Wrong(
        "buckets",
        "rows of a table of 2 reach",
        (0,),
        "clipped after the shift",
        code="""\
def clipped_rows(distances, reach):
    return distances.clamp(-reach, reach - 1) + reach
""",
    ),
    Wrong(
        "buckets",
        "modulo in place of the end",
        (0,),
        "counted round the end",
        code="""\
def clipped_rows(distances, reach):
    return (distances + reach) % (2 * reach + 1)
""",
    ),
    Wrong(
        "buckets",
        "near and far joined by a smaller sign",
        (1, 2),
        "near and far exchanged",
        change=(
            "torch.where(steps < near",
            "torch.where(steps > near",
        ),
    ),
    Wrong(
        "buckets",
        "max_distance not divided",
        (1, 2),
        "logarithm of a difference",
        change=(
            "math.log(max_distance / near)",
            "math.log(max_distance - near)",
        ),
    ),
    Wrong(
        "buckets",
        "the end one too far",
        (1, 2),
        "no last bucket",
        change=(
            "far.clamp(max=num_buckets - 1)",
            "far.clamp(max=num_buckets)",
        ),
    ),
    Wrong(
        "bias",
        "the mask as numbers times the bias",
        (1,),
        "hidden keys are seen",
        code="""\
def biased_attention(query, key, value, bias=None, mask=None):
    s = query @ key.mT / math.sqrt(query.shape[-1])
    if bias is not None:
        s = s + (bias if mask is None else bias * mask)
    w = s.softmax(-1)
    return w @ value, w
""",
    ),
    Wrong(
        "bias",
        "bias added before the mask hides, then removed",
        (1,),
        "hidden keys are seen",
        code="""\
def biased_attention(query, key, value, bias=None, mask=None):
    s = query @ key.mT / math.sqrt(query.shape[-1])
    if mask is not None:
        s = s.masked_fill(~mask, 0.0)
    if bias is not None:
        s = s + bias
    w = s.softmax(-1)
    return w @ value, w
""",
    ),
    Wrong(
        "bias",
        "bias on the output",
        (0, 1),
        "bias ignored",
        code="""\
def biased_attention(query, key, value, bias=None, mask=None):
    s = query @ key.mT / math.sqrt(query.shape[-1])
    if bias is not None:
        s = s + bias.sum(-1, keepdim=True)
    if mask is not None:
        s = s.masked_fill(~mask, -math.inf)
    w = s.softmax(-1)
    return w @ value, w
""",
    ),
    Wrong(
        "bias",
        "twice",
        (0, 1),
        "bias added twice",
        change=(
            "scores = scores + bias",
            "scores = scores + bias + bias",
        ),
    ),
    Wrong(
        "bias",
        "minus one for infinity",
        (1,),
        "low, but not hidden",
        change=(
            "~mask, -math.inf",
            "~mask, -10.0",
        ),
    ),
    Wrong(
        "table",
        "scale of one",
        (0,),
        "scale forgotten",
        change=(
            "max_distance, scale=10.0",
            "max_distance, scale=1.0",
        ),
    ),
    Wrong(
        "table",
        "buckets and reach exchanged",
        (0, 1),
        "distances as rows",
        change=(
            "buckets(distances, self.num_buckets, self.max_distance)",
            "buckets(distances, self.max_distance, self.num_buckets)",
        ),
    ),
    Wrong(
        "table",
        "keys and queries exchanged",
        (0, 1),
        "wrong shape",
        change=(
            "relative_distances(queries, keys, offset)\n        rows",
            "relative_distances(keys, queries, offset)\n        rows",
        ),
    ),
    Wrong(
        "table",
        "one row more than buckets",
        (0, 1),
        "more than the table trained",
        change=(
            "torch.zeros(num_buckets, num_heads)",
            "torch.zeros(num_buckets + 1, num_heads)",
        ),
    ),
    Wrong(
        "table",
        "table of ones",
        (1,),
        "random start",
        change=(
            "torch.zeros(num_buckets, num_heads)",
            "torch.ones(num_buckets, num_heads)",
        ),
    ),
    Wrong(
        "alibi",
        "base of e",
        (0, 1),
        "powers of another number",
        change=(
            "2.0 ** (-8 * heads / num_heads)",
            "torch.exp(-8 * heads / num_heads)",
        ),
    ),
    Wrong(
        "alibi",
        "eight heads for ever",
        (0, 1),
        "slopes independent of the number of heads",
        change=(
            "2.0 ** (-8 * heads / num_heads)",
            "2.0 ** (-heads.float())",
        ),
    ),
    Wrong(
        "alibi",
        "slopes of n plus one",
        (0, 1),
        "divided by another number of heads",
        change=(
            "2.0 ** (-8 * heads / num_heads)",
            "2.0 ** (-8 * heads / (num_heads + 1))",
        ),
    ),
    Wrong(
        "alibi",
        "distance from the end",
        (1,),
        "right slopes, other distances",
        change=(
            "steps = relative_distances(queries, keys, offset).abs()",
            "steps = (keys - 1 - torch.arange(keys)).expand(queries, keys)",
        ),
    ),
    Wrong(
        "alibi",
        "bias on a relative scale",
        (1,),
        "distance as a share of the text",
        change=(
            "return -head_slopes(num_heads)[:, None, None] * steps",
            "return -head_slopes(num_heads)[:, None, None] * steps / keys",
        ),
    ),
    Wrong(
        "rotary",
        "cos and sin exchanged",
        (0,),
        "cosine and sine exchanged",
        change=(
            "cos, sin = angles.cos(), angles.sin()",
            "sin, cos = angles.cos(), angles.sin()",
        ),
    ),
    Wrong(
        "rotary",
        "pairs put behind each other",
        (0,),
        "features of a pair torn apart",
        change=(
            "    turned = torch.stack(\n        [first * cos - second * sin, first * sin + second * cos], dim=-1\n    )\n    return turned.flatten(-2)",
            "    turned = torch.cat(\n        [first * cos - second * sin, first * sin + second * cos], dim=-1\n    )\n    return turned",
        ),
    ),
    Wrong(
        "rotary",
        "whole division of the exponent",
        (0, 1),
        "all pairs at one rate",
        change=(
            "torch.arange(0, width, 2) / width",
            "(torch.arange(0, width, 2) // width)",
        ),
    ),
    Wrong(
        "rotary",
        "two pi in the angle",
        (0,),
        "angles in whole turns",
        change=(
            "positions.cpu()[:, None] * rates)",
            "positions.cpu()[:, None] * rates * 2 * math.pi)",
        ),
    ),
    Wrong(
        "rotary",
        "number of positions from the first axis",
        (0,),
        "nothing is turned",
        change=(
            "positions = torch.arange(tokens)",
            "positions = torch.arange(x.shape[0])",
        ),
    ),
    Wrong(
        "rotary",
        "only the first pair turns",
        (0, 1),
        "rates fall at the wrong pace",
        change=(
            "rates = base ** (-torch.arange(0, width, 2) / width)",
            "rates = base ** (-torch.arange(0, width, 2) / width) * (torch.arange(width // 2) == 0)",
        ),
    ),
    Wrong(
        "schemes",
        "rotary on top of everything",
        (0, 1, 2),
        "rotary whatever the scheme",
        change=(
            '    if scheme == "alibi":',
            '    query, key = rotate(query, offset + torch.arange(queries)), rotate(key)\n    if scheme == "alibi":',
        ),
    ),
    Wrong(
        "schemes",
        "table called with keys first",
        (2,),
        "sizes do not fit",
        change=(
            "learned(queries, keys, offset)",
            "learned(keys, queries, offset)",
        ),
    ),
    Wrong(
        "schemes",
        "offset the wrong way",
        (2,),
        "sizes do not fit",
        change=(
            "offset = keys - queries",
            "offset = queries - keys",
        ),
    ),
    Wrong(
        "schemes",
        "rotary key with the query's places",
        (2,),
        "rotary queries counted from the first key",
        change=(
            "rotate(query, offset + torch.arange(queries)), rotate(key)",
            "rotate(query, offset + torch.arange(queries)), rotate(key, offset + torch.arange(keys))",
        ),
    ),
    Wrong(
        "schemes",
        "heads from the wrong axis",
        (0, 2),
        "one scheme wrong",
        change=(
            "bias = alibi(heads, queries, keys, offset).to(query)",
            "bias = alibi(query.shape[-1], queries, keys, offset)[:heads].to(query)",
        ),
    ),
    Wrong(
        "evaluation",
        "mean before the padding is left out",
        (0,),
        "divided by all texts",
        change=(
            "(loss.sum(dim=0) / (targets != 0).sum(dim=0)).cpu()",
            "loss.mean(dim=0).cpu()",
        ),
    ),
    Wrong(
        "evaluation",
        "perplexity",
        (0, 1),
        "an exponential too many",
        change=(
            "(loss.sum(dim=0) / (targets != 0).sum(dim=0)).cpu()",
            "(loss.sum(dim=0) / (targets != 0).sum(dim=0)).exp().cpu()",
        ),
    ),
    Wrong(
        "evaluation",
        "the last one missing",
        (1,),
        "the last prediction left out",
        change=(
            "[-last:].mean()",
            "[-last:-1].mean()",
        ),
    ),
    Wrong(
        "evaluation",
        "running mean",
        (0, 1),
        "running means",
        change=(
            "    return (loss.sum(dim=0) / (targets != 0).sum(dim=0)).cpu()",
            "    mean = (loss.sum(dim=0) / (targets != 0).sum(dim=0)).cpu()\n    return mean.cumsum(0) / torch.arange(1, len(mean) + 1)",
        ),
    ),
    Wrong(
        "evaluation",
        "median of the batch",
        (0, 1),
        "another summary of the texts",
        change=(
            "    return (loss.sum(dim=0) / (targets != 0).sum(dim=0)).cpu()",
            "    return loss.median(dim=0).values.cpu()",
        ),
    ),
    Wrong(
        "lengths",
        "tests of 32 texts",
        (0,),
        "another number of texts",
        change=(
            "draw(64, length, 10**6 + length)",
            "draw(32, length, 10**6 + length)",
        ),
    ),
    Wrong(
        "lengths",
        "losses of each length against the longest",
        (1,),
        "compared with the longest, or with the first",
        change=(
            "loss[min(loss)] <= margin",
            "loss[max(loss)] <= margin",
        ),
    ),
    Wrong(
        "lengths",
        "absolute loss below the margin",
        (1,),
        "the loss for its rise",
        change=(
            "max(loss.values()) - loss[min(loss)] <= margin",
            "max(loss.values()) <= margin",
        ),
    ),
    Wrong(
        "lengths",
        "first key for the shortest",
        (1,),
        "compared with the longest, or with the first",
        change=(
            "loss[min(loss)]",
            "loss[next(iter(loss))]",
        ),
    ),
    Wrong(
        "finding",
        "seed after the model",
        (0,),
        "",
        change=(
            '    seed_everything(seed)\n    learned = LearnedBias(4, 16, 20) if scheme == "table" else None\n    return LanguageModel(attend, scheme, learned)',
            '    learned = LearnedBias(4, 16, 20) if scheme == "table" else None\n    model = LanguageModel(attend, scheme, learned)\n    seed_everything(seed)\n    return model',
        ),
    ),
    Wrong(
        "finding",
        "a table for one head",
        (0,),
        "table for another number of heads",
        change=(
            "LearnedBias(4, 16, 20)",
            "LearnedBias(1, 16, 20)",
        ),
    ),
    Wrong(
        "finding",
        "one bucket",
        (0,),
        "buckets that are never trained",
        change=(
            "LearnedBias(4, 16, 20)",
            "LearnedBias(4, 64, 128)",
        ),
    ),
    Wrong(
        "finding",
        "the same model again",
        (0,),
        "the same model again",
        code="""\
CACHE = {}
def new_model(scheme, seed=0):
    if (scheme, seed) not in CACHE:
        seed_everything(seed)
        learned = LearnedBias(4, 16, 20) if scheme == "table" else None
        CACHE[scheme, seed] = LanguageModel(attend, scheme, learned)
    return CACHE[scheme, seed]
""",
    ),
    Wrong(
        "distances",
        "offset added twice",
        (1,),
        "offset counted in another way",
        code="""\
def relative_distances(queries, keys, offset=0):
    return torch.arange(keys) - (torch.arange(queries) + 2 * offset)[:, None]
""",
    ),
    Wrong(
        "distances",
        "last query stands at the end",
        (1,),
        "offset counted in another way",
        code="""\
def relative_distances(queries, keys, offset=0):
    return torch.arange(keys) - (torch.arange(queries)[:, None] + keys - queries)
""",
    ),
    Wrong(
        "buckets",
        "exact part too small by one",
        (1, 2),
        "another number of near buckets",
        change=(
            "near = num_buckets // 2",
            "near = num_buckets // 2 - 1",
        ),
    ),
    Wrong(
        "buckets",
        "future gets the last bucket",
        (1,),
        "keys to the right wrong",
        change=(
            "first, steps = 0, (-distances).clamp(min=0)",
            "first, steps = 0, torch.where(distances > 0, max_distance, -distances)",
        ),
    ),
    Wrong(
        "buckets",
        "base two logarithm on one side",
        (1, 2),
        "rounded the wrong way",
        change=(
            "share = torch.log(steps.clamp(min=1) / near)",
            "share = torch.log2(steps.clamp(min=1) / near)",
        ),
    ),
    Wrong(
        "bias",
        "bias of the first query for all",
        (0, 1),
        "one row of the bias for all queries",
        change=(
            "scores = scores + bias",
            "scores = scores + bias[:, :1]",
        ),
    ),
    Wrong(
        "bias",
        "exponential of the bias on the scores",
        (0, 1),
        "exponential of the bias",
        change=(
            "scores = scores + bias",
            "scores = scores + bias.exp()",
        ),
    ),
    Wrong(
        "bias",
        "mask of the columns only",
        (1,),
        "one row of the mask for all queries",
        change=(
            "scores.masked_fill(~mask, -math.inf)",
            "scores.masked_fill(~mask.any(0), -math.inf)",
        ),
    ),
    Wrong(
        "table",
        "transposed bias",
        (0, 1),
        "wrong shape",
        change=(
            "permute(2, 0, 1)",
            "permute(2, 1, 0)",
        ),
    ),
    Wrong(
        "alibi",
        "exponent halves",
        (0, 1),
        "slopes falling at another pace",
        change=(
            "-8 * heads / num_heads",
            "-4 * heads / num_heads",
        ),
    ),
    Wrong(
        "alibi",
        "bias of the future only",
        (1,),
        "zero everywhere",
        change=(
            "steps = relative_distances(queries, keys, offset).abs()",
            "steps = relative_distances(queries, keys, offset).clamp(min=0)",
        ),
    ),
    Wrong(
        "rotary",
        "minus forgotten in both",
        (0, 1),
        "lengths change",
        change=(
            "first * cos - second * sin",
            "first * cos + second * sin",
        ),
    ),
    Wrong(
        "rotary",
        "odd and even exchanged",
        (0,),
        "features of a pair exchanged",
        change=(
            "first, second = x[..., 0::2], x[..., 1::2]",
            "second, first = x[..., 0::2], x[..., 1::2]",
        ),
    ),
    Wrong(
        "schemes",
        "alibi without the mask of the future for one query",
        (0, 1, 2),
        "mask one key too far",
        change=(
            "mask = relative_distances(queries, keys, offset) <= 0",
            "mask = relative_distances(queries, keys, offset) <= 1",
        ),
    ),
    Wrong(
        "evaluation",
        "weighted by number of texts at the end",
        (1,),
        "divided by another number",
        change=(
            "[-last:].mean()",
            "[-last:].sum().div(len(tokens))",
        ),
    ),
    Wrong(
        "evaluation",
        "model reads the last token too",
        (0, 1),
        "logits of the next place",
        change=(
            "logits = model(tokens[:, :-1]).transpose(1, 2)",
            "logits = model(tokens)[:, 1:].transpose(1, 2)",
        ),
    ),
    Wrong(
        "lengths",
        "margin doubled",
        (1,),
        "another margin",
        change=(
            "<= margin",
            "<= 2 * margin",
        ),
    ),
    Wrong(
        "lengths",
        "tests drawn with the length as the seed",
        (0,),
        "tested on texts of the training",
        change=(
            "10**6 + length",
            "length",
        ),
    ),
    Wrong(
        "table",
        "table indexed by clipped distance",
        (0, 1),
        "number of buckets as the reach",
        change=(
            "rows = buckets(distances, self.num_buckets, self.max_distance)",
            "rows = (-distances).clamp(0, self.num_buckets - 1)",
        ),
    ),
    Wrong(
        "distances",
        "offset moved to the keys",
        (1,),
        "offset with the wrong sign",
        code="""\
def relative_distances(queries, keys, offset=0):
    i = torch.arange(queries)[:, None]
    j = torch.arange(keys)[None, :] + offset
    return j - i
""",
    ),
    Wrong(
        "distances",
        "offset worked out from the sizes",
        (1,),
        "offset counted in another way",
        code="""\
def relative_distances(queries, keys, offset=0):
    offset = keys - queries
    return torch.arange(keys) - (torch.arange(queries)[:, None] + offset)
""",
    ),
    Wrong(
        "distances",
        "future set to zero",
        (0, 1),
        "future cut off",
        code="""\
def relative_distances(queries, keys, offset=0):
    r = torch.arange(keys) - (torch.arange(queries)[:, None] + offset)
    return r.clamp(max=0)
""",
    ),
    Wrong(
        "buckets",
        "one row too many at the right",
        (0,),
        "right end at another row",
        code="""\
def clipped_rows(distances, reach):
    return (distances + reach).clamp(0, 2 * reach + 1)


def buckets(distances, num_buckets, max_distance, causal=True):
    n, extra = num_buckets, 0
    if causal:
        d = (-distances).clamp(min=0)
    else:
        n = n // 2
        extra = (distances > 0) * n
        d = distances.abs()
    e = n // 2
    far = e + ((n - e) * torch.log(d.clamp(min=1) / e) / math.log(max_distance / e)).long()
    return extra + torch.where(d < e, d, far.clamp(max=n - 1))
""",
    ),
    Wrong(
        "buckets",
        "rounded to the nearest",
        (1, 2),
        "rounded the wrong way",
        code="""\
def clipped_rows(distances, reach):
    return distances.clamp(-reach, reach) + reach


def buckets(distances, num_buckets, max_distance, causal=True):
    n, extra = num_buckets, 0
    if causal:
        d = (-distances).clamp(min=0)
    else:
        n = n // 2
        extra = (distances > 0) * n
        d = distances.abs()
    e = n // 2
    far = e + ((n - e) * torch.log(d.clamp(min=1) / e) / math.log(max_distance / e)).round().long()
    return extra + torch.where(d < e, d, far.clamp(max=n - 1))
""",
    ),
    Wrong(
        "buckets",
        "logarithm of the whole distance",
        (1, 2),
        "logarithm in the wrong unit",
        code="""\
def clipped_rows(distances, reach):
    return distances.clamp(-reach, reach) + reach


def buckets(distances, num_buckets, max_distance, causal=True):
    n, extra = num_buckets, 0
    if causal:
        d = (-distances).clamp(min=0)
    else:
        n = n // 2
        extra = (distances > 0) * n
        d = distances.abs()
    e = n // 2
    far = e + ((n - e) * torch.log(d.clamp(min=1)) / math.log(max_distance)).long()
    return extra + torch.where(d < e, d, far.clamp(max=n - 1))
""",
    ),
    Wrong(
        "buckets",
        "e not halved again for two sides",
        (2,),
        "far buckets wrong",
        code="""\
def clipped_rows(distances, reach):
    return distances.clamp(-reach, reach) + reach


def buckets(distances, num_buckets, max_distance, causal=True):
    n, extra = num_buckets, 0
    e = n // 2
    if causal:
        d = (-distances).clamp(min=0)
    else:
        n = n // 2
        extra = (distances > 0) * n
        d = distances.abs()
        e = n - 1
    far = e + ((n - e) * torch.log(d.clamp(min=1) / e) / math.log(max_distance / e)).long()
    return extra + torch.where(d < e, d, far.clamp(max=n - 1))
""",
    ),
    Wrong(
        "buckets",
        "far buckets evenly wide",
        (1, 2),
        "far buckets of equal width",
        code="""\
def clipped_rows(distances, reach):
    return distances.clamp(-reach, reach) + reach


def buckets(distances, num_buckets, max_distance, causal=True):
    n, extra = num_buckets, 0
    if causal:
        d = (-distances).clamp(min=0)
    else:
        n = n // 2
        extra = (distances > 0) * n
        d = distances.abs()
    e = n // 2
    far = e + (n - e) * (d - e) // (max_distance - e)
    return extra + torch.where(d < e, d, far.clamp(max=n - 1))
""",
    ),
    Wrong(
        "bias",
        "hidden scores set to minus ten",
        (1,),
        "low, but not hidden",
        code="""\
def biased_attention(query, key, value, bias=None, mask=None):
    scores = query @ key.transpose(-1, -2) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -10)
    if bias is not None:
        scores = scores + bias
    weights = scores.softmax(-1)
    return weights @ value, weights
""",
    ),
    Wrong(
        "bias",
        "scaled by the number of keys",
        (0, 1),
        "wrong scale",
        code="""\
def biased_attention(query, key, value, bias=None, mask=None):
    scores = query @ key.transpose(-1, -2) / math.sqrt(key.size(-2))
    if bias is not None:
        scores = scores + bias
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = scores.softmax(-1)
    return weights @ value, weights
""",
    ),
    Wrong(
        "bias",
        "bias of the first head for all",
        (0, 1),
        "one bias for all heads",
        code="""\
def biased_attention(query, key, value, bias=None, mask=None):
    scores = query @ key.transpose(-1, -2) / math.sqrt(query.size(-1))
    if bias is not None:
        scores = scores + bias[0]
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = scores.softmax(-1)
    return weights @ value, weights
""",
    ),
    Wrong(
        "bias",
        "mask only where there is a bias",
        (1,),
        "mask lost where there is no bias",
        code="""\
def biased_attention(query, key, value, bias=None, mask=None):
    scores = query @ key.transpose(-1, -2) / math.sqrt(query.size(-1))
    if bias is not None:
        scores = scores + bias
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
    weights = scores.softmax(-1)
    return weights @ value, weights
""",
    ),
    Wrong(
        "table",
        "number of buckets as the reach",
        (0, 1),
        "number of buckets as the reach",
        code="""\
class LearnedBias(nn.Module):
    def __init__(self, num_heads, num_buckets, max_distance, scale=10.0):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(num_buckets, num_heads))
        self.num_buckets, self.scale = num_buckets, scale

    def forward(self, queries, keys, offset=0):
        rows = buckets(relative_distances(queries, keys, offset), self.num_buckets, self.num_buckets)
        return self.scale * self.table[rows].permute(2, 0, 1)
""",
    ),
    Wrong(
        "table",
        "queries and keys exchanged",
        (0, 1),
        "wrong shape",
        code="""\
class LearnedBias(nn.Module):
    def __init__(self, num_heads, num_buckets, max_distance, scale=10.0):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(num_buckets, num_heads))
        self.num_buckets, self.max_distance, self.scale = num_buckets, max_distance, scale

    def forward(self, queries, keys, offset=0):
        rows = buckets(relative_distances(queries, keys, offset), self.num_buckets, self.max_distance)
        return self.scale * self.table[rows].permute(2, 1, 0)
""",
    ),
    Wrong(
        "alibi",
        "exponent upside down",
        (0, 1),
        "slopes falling at another pace",
        code="""\
def head_slopes(num_heads):
    h = torch.arange(1, num_heads + 1)
    return 2.0 ** (-h * num_heads / 8)


def alibi(num_heads, queries, keys, offset=0):
    return -head_slopes(num_heads)[:, None, None] * relative_distances(queries, keys, offset).abs()
""",
    ),
    Wrong(
        "alibi",
        "neighbours free",
        (1,),
        "neighbours cost nothing",
        code="""\
def head_slopes(num_heads):
    h = torch.arange(1, num_heads + 1)
    return 2.0 ** (-8 * h / num_heads)


def alibi(num_heads, queries, keys, offset=0):
    d = (relative_distances(queries, keys, offset).abs() - 1).clamp(min=0)
    return -head_slopes(num_heads)[:, None, None] * d
""",
    ),
    Wrong(
        "alibi",
        "distance as a share of the text",
        (1,),
        "distance as a share of the text",
        code="""\
def head_slopes(num_heads):
    h = torch.arange(1, num_heads + 1)
    return 2.0 ** (-8 * h / num_heads)


def alibi(num_heads, queries, keys, offset=0):
    d = relative_distances(queries, keys, offset).abs() / keys
    return -head_slopes(num_heads)[:, None, None] * d
""",
    ),
    Wrong(
        "rotary",
        "second feature from the turned first",
        (0, 1),
        "half of a pair overwritten",
        code="""\
def rotate(x, positions=None, base=10000.0):
    n, d = x.shape[-2:]
    if positions is None:
        positions = torch.arange(n)
    theta = base ** (-torch.arange(0, d, 2).float() / d)
    a = positions[:, None] * theta
    y = x.float().clone()
    y[..., 0::2] = y[..., 0::2] * a.cos() - y[..., 1::2] * a.sin()
    y[..., 1::2] = y[..., 0::2] * a.sin() + y[..., 1::2] * a.cos()
    return y.to(x.dtype)
""",
    ),
    Wrong(
        "rotary",
        "first and second halves joined",
        (0,),
        "features of a pair torn apart",
        code="""\
def rotate(x, positions=None, base=10000.0):
    n, d = x.shape[-2:]
    if positions is None:
        positions = torch.arange(n)
    theta = base ** (-torch.arange(0, d, 2).float() / d)
    a = positions[:, None] * theta
    u, v = x.float()[..., 0::2], x.float()[..., 1::2]
    return torch.cat([u * a.cos() - v * a.sin(), u * a.sin() + v * a.cos()], -1).to(x.dtype)
""",
    ),
    Wrong(
        "rotary",
        "rates divided by the number of pairs",
        (0,),
        "rates fall at the wrong pace",
        code="""\
def rotate(x, positions=None, base=10000.0):
    n, d = x.shape[-2:]
    if positions is None:
        positions = torch.arange(n)
    theta = base ** (-torch.arange(0, d, 2).float() / (d // 2))
    a = positions[:, None] * theta
    u, v = x.float()[..., 0::2], x.float()[..., 1::2]
    return torch.stack([u * a.cos() - v * a.sin(), u * a.sin() + v * a.cos()], -1).flatten(-2).to(x.dtype)
""",
    ),
    Wrong(
        "rotary",
        "positions of the first only",
        (1,),
        "positions counted on from the first",
        code="""\
def rotate(x, positions=None, base=10000.0):
    n, d = x.shape[-2:]
    start = 0 if positions is None else positions[0]
    p = start + torch.arange(n)
    theta = base ** (-torch.arange(0, d, 2).float() / d)
    a = p[:, None] * theta
    u, v = x.float()[..., 0::2], x.float()[..., 1::2]
    return torch.stack([u * a.cos() - v * a.sin(), u * a.sin() + v * a.cos()], -1).flatten(-2).to(x.dtype)
""",
    ),
    Wrong(
        "schemes",
        "alibi or rotary",
        (0, 1, 2),
        "ALiBi without a scheme",
        code="""\
def attend(query, key, value, scheme, learned=None):
    q, k = query.shape[-2], key.shape[-2]
    offset = k - q
    bias = None
    if scheme == "alibi" or "table":
        bias = alibi(query.shape[1], q, k, offset)
    if scheme == "table":
        bias = learned(q, k, offset)
    if scheme == "rotary":
        query = rotate(query, offset + torch.arange(q))
        key = rotate(key)
    mask = relative_distances(q, k, offset) <= 0
    return biased_attention(query, key, value, bias, mask)[0]
""",
    ),
    Wrong(
        "schemes",
        "table only when it is square",
        (2,),
        "biases counted from the first key",
        code="""\
def attend(query, key, value, scheme, learned=None):
    q, k = query.shape[-2], key.shape[-2]
    offset = k - q
    bias = None
    if scheme == "alibi":
        bias = alibi(query.shape[1], k, k)[:, :q]
    if scheme == "table":
        bias = learned(k, k)[:, :q]
    if scheme == "rotary":
        query, key = rotate(query, torch.arange(offset, k)), rotate(key)
    mask = relative_distances(q, k, offset) <= 0
    return biased_attention(query, key, value, bias, mask)[0]
""",
    ),
    Wrong(
        "schemes",
        "rotary on keys with the offset too",
        (2,),
        "rotary queries counted from the first key",
        code="""\
def attend(query, key, value, scheme, learned=None):
    q, k = query.shape[-2], key.shape[-2]
    offset = k - q
    bias = None
    if scheme == "alibi":
        bias = alibi(query.shape[1], q, k, offset)
    if scheme == "table":
        bias = learned(q, k, offset)
    if scheme == "rotary":
        query = rotate(query, offset + torch.arange(q))
        key = rotate(key, offset + torch.arange(k))
    mask = relative_distances(q, k, offset) <= 0
    return biased_attention(query, key, value, bias, mask)[0]
""",
    ),
    Wrong(
        "evaluation",
        "a mean over texts with padding in it",
        (0,),
        "divided by all texts",
        code="""\
def loss_by_position(model, tokens):
    device = next(model.parameters()).device
    tokens = tokens.to(device)
    was = model.training
    model.eval()
    with torch.no_grad():
        logits = model(tokens[:, :-1])
        losses = F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:], reduction="none", ignore_index=0)
    model.train(was)
    return losses.mean(0).cpu()


def loss_at_lengths(model, tests, last):
    return {n: loss_by_position(model, t)[-last:].mean().item() for n, t in tests.items()}
""",
    ),
    Wrong(
        "evaluation",
        "padding hidden as an input",
        (0,),
        "padding judged by the input",
        code="""\
def loss_by_position(model, tokens):
    device = next(model.parameters()).device
    tokens = tokens.to(device)
    was = model.training
    model.eval()
    with torch.no_grad():
        logits = model(tokens[:, :-1])
        losses = F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:], reduction="none")
    model.train(was)
    there = (tokens[:, :-1] != 0).float()
    return ((losses * there).sum(0) / there.sum(0)).cpu()


def loss_at_lengths(model, tests, last):
    return {n: loss_by_position(model, t)[-last:].mean().item() for n, t in tests.items()}
""",
    ),
    Wrong(
        "evaluation",
        "tests cut to the shortest",
        (1,),
        "texts cut before they are read",
        code="""\
def loss_by_position(model, tokens):
    device = next(model.parameters()).device
    tokens = tokens.to(device)
    was = model.training
    model.eval()
    with torch.no_grad():
        logits = model(tokens[:, :-1])
        losses = F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:], reduction="none", ignore_index=0)
    model.train(was)
    return (losses.sum(0) / (tokens[:, 1:] != 0).sum(0)).cpu()


def loss_at_lengths(model, tests, last):
    return {n: loss_by_position(model, t[:, -last - 1:]).mean().item() for n, t in tests.items()}
""",
    ),
    Wrong(
        "evaluation",
        "perplexity by length",
        (1,),
        "perplexity in place of the loss",
        code="""\
def loss_by_position(model, tokens):
    device = next(model.parameters()).device
    tokens = tokens.to(device)
    was = model.training
    model.eval()
    with torch.no_grad():
        logits = model(tokens[:, :-1])
        losses = F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:], reduction="none", ignore_index=0)
    model.train(was)
    return (losses.sum(0) / (tokens[:, 1:] != 0).sum(0)).cpu()


def loss_at_lengths(model, tests, last):
    return {n: loss_by_position(model, t)[-last:].mean().exp().item() for n, t in tests.items()}
""",
    ),
    Wrong(
        "lengths",
        "one test text for all lengths",
        (0,),
        "tested on texts of the training",
        code="""\
def train_and_test(model, draw, steps, lengths, trained=32):
    def batch_of(step):
        return (draw(32, trained, step),)

    def loss_of(model, tokens):
        logits = model(tokens[:, :-1])
        return F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())

    train(model, batch_of, loss_of, steps=steps, learning_rate=5e-3, progress=False)
    tests = {n: draw(64, n, steps - 1) for n in lengths}
    return loss_at_lengths(model, tests, trained - 1)


def holds(losses, margin=0.2):
    return {name for name, loss in losses.items() if max(loss.values()) <= loss[min(loss)] + margin}
""",
    ),
    Wrong(
        "lengths",
        "trained on one text more",
        (0,),
        "texts of another length drawn",
        code="""\
def train_and_test(model, draw, steps, lengths, trained=32):
    def batch_of(step):
        return (draw(32, trained + 1, step),)

    def loss_of(model, tokens):
        logits = model(tokens[:, :-1])
        return F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())

    train(model, batch_of, loss_of, steps=steps, learning_rate=5e-3, progress=False)
    tests = {n: draw(64, n, 10**6) for n in lengths}
    return loss_at_lengths(model, tests, trained - 1)


def holds(losses, margin=0.2):
    return {name for name, loss in losses.items() if max(loss.values()) <= loss[min(loss)] + margin}
""",
    ),
    Wrong(
        "lengths",
        "holds by the longest length",
        (1,),
        "longest text only",
        code="""\
def train_and_test(model, draw, steps, lengths, trained=32):
    def batch_of(step):
        return (draw(32, trained, step),)

    def loss_of(model, tokens):
        logits = model(tokens[:, :-1])
        return F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())

    train(model, batch_of, loss_of, steps=steps, learning_rate=5e-3, progress=False)
    tests = {n: draw(64, n, 10**6) for n in lengths}
    return loss_at_lengths(model, tests, trained - 1)


def holds(losses, margin=0.2):
    return {name for name, loss in losses.items() if loss[max(loss)] - loss[min(loss)] <= margin}
""",
    ),
    Wrong(
        "lengths",
        "margin as a share",
        (1,),
        "a share for a difference",
        code="""\
def train_and_test(model, draw, steps, lengths, trained=32):
    def batch_of(step):
        return (draw(32, trained, step),)

    def loss_of(model, tokens):
        logits = model(tokens[:, :-1])
        return F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())

    train(model, batch_of, loss_of, steps=steps, learning_rate=5e-3, progress=False)
    tests = {n: draw(64, n, 10**6) for n in lengths}
    return loss_at_lengths(model, tests, trained - 1)


def holds(losses, margin=0.2):
    return {name for name, loss in losses.items() if max(loss.values()) <= loss[min(loss)] * (1 + margin)}
""",
    ),
    Wrong(
        "finding",
        "table for eight heads",
        (0,),
        "table for another number of heads",
        code="""\
def new_model(scheme, seed=0):
    seed_everything(seed)
    learned = LearnedBias(2, 16, 32) if scheme == "table" else None
    return LanguageModel(attend, scheme, learned)
""",
    ),
    Wrong(
        "finding",
        "seed of the model fixed",
        (0,),
        "one seed for all models",
        code="""\
def new_model(scheme, seed=0):
    seed_everything(0)
    learned = LearnedBias(4, 16, 32) if scheme == "table" else None
    return LanguageModel(attend, scheme, learned)
""",
    ),
    Wrong(
        "finding",
        "scheme always none",
        (0, 1),
        "scheme not handed on",
        code="""\
def new_model(scheme, seed=0):
    seed_everything(seed)
    learned = LearnedBias(4, 16, 32) if scheme == "table" else None
    return LanguageModel(attend, "none", learned)
""",
    ),
    Wrong(
        "buckets",
        "halved for one side too",
        (1,),
        "half of the buckets unused",
        change=(
            "    if causal:\n        first, steps = 0, (-distances).clamp(min=0)\n    else:\n        num_buckets = num_buckets // 2",
            "    num_buckets = num_buckets // 2\n    if causal:\n        first, steps = 0, (-distances).clamp(min=0)\n    else:",
        ),
    ),
    Wrong(
        "buckets",
        "exact part to the end",
        (1, 2),
        "no logarithm",
        change=(
            "    near = num_buckets // 2",
            "    near = num_buckets - 1",
        ),
    ),
    Wrong(
        "bias",
        "hidden scores set to zero",
        (1,),
        "mask by multiplication",
        change=(
            "masked_fill(~mask, -math.inf)",
            "masked_fill(~mask, 0.0)",
        ),
    ),
    Wrong(
        "bias",
        "mask before the bias, by a number that a bias can beat",
        (1,),
        "low, but not hidden",
        code="""\
def biased_attention(query, key, value, bias=None, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -100.0)
    if bias is not None:
        scores = scores + bias
    weights = scores.softmax(dim=-1)
    return weights @ value, weights
""",
    ),
    Wrong(
        "alibi",
        "the eight forgotten",
        (0, 1),
        "slopes falling at another pace",
        change=(
            "-8 * heads / num_heads",
            "-heads / num_heads",
        ),
    ),
    Wrong(
        "alibi",
        "places of the keys for distances",
        (1,),
        "right slopes, other distances",
        code="""\
def head_slopes(num_heads):
    return 2.0 ** (-8 * torch.arange(1, num_heads + 1) / num_heads)


def alibi(num_heads, queries, keys, offset=0):
    steps = torch.arange(keys).expand(queries, keys)
    return -head_slopes(num_heads)[:, None, None] * steps
""",
    ),
    Wrong(
        "rotary",
        "rates end to end for pairs side by side",
        (0, 1),
        "lengths change",
        code="""\
def rotate(x, positions=None, base=10000.0):
    n, d = x.shape[-2:]
    if positions is None:
        positions = torch.arange(n)
    angles = positions[:, None] * base ** (-torch.arange(0, d, 2) / d)
    angles = torch.cat([angles, angles], dim=-1)
    partner = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
    return (x * angles.cos() + partner * angles.sin()).to(x.dtype)
""",
    ),
    Wrong(
        "schemes",
        "mask only where there is a scheme",
        (0,),
        "mask lost where there is no scheme",
        change=(
            "    mask = relative_distances(queries, keys, offset) <= 0",
            '    mask = relative_distances(queries, keys, offset) <= 0\n    if scheme == "none":\n        mask = torch.ones_like(mask)',
        ),
    ),
    Wrong(
        "evaluation",
        "one prediction too many at the end",
        (1,),
        "another number of predictions",
        change=(
            "[-last:]",
            "[-last - 1 :]",
        ),
    ),
    Wrong(
        "evaluation",
        "the last one left out of the last",
        (1,),
        "the last prediction left out",
        change=(
            "[-last:]",
            "[-last - 1 : -1]",
        ),
    ),
    Wrong(
        "evaluation",
        "divided by the tokens of the position, not by targets",
        (0,),
        "divided by the number of inputs",
        change=(
            "(targets != 0).sum(dim=0)",
            "(tokens[:, :-1] != 0).sum(dim=0)",
        ),
    ),
    Wrong(
        "lengths",
        "tests drawn with the last step's seed",
        (0,),
        "tested on texts of the training",
        change=(
            "10**6 + length",
            "steps - 1",
        ),
    ),
    Wrong(
        "lengths",
        "ten batches over and over",
        (0,),
        "batches that come again",
        change=(
            "draw(32, trained, step)",
            "draw(32, trained, step % 10)",
        ),
    ),
    Wrong(
        "lengths",
        "exactly the margin is too much",
        (1,),
        "exactly the margin is too much",
        change=(
            "<= margin",
            "< margin",
        ),
    ),
    Wrong(
        "lengths",
        "the loss at 32 written in",
        (1,),
        "a length written in",
        change=(
            "loss[min(loss)]",
            "loss[32]",
        ),
    ),
    Wrong(
        "lengths",
        "as many predictions as tokens",
        (0,),
        "another number of predictions",
        change=(
            "    return loss_at_lengths(model, tests, trained - 1)",
            "    return loss_at_lengths(model, tests, trained)",
        ),
    ),
    Wrong(
        "finding",
        "Python's random seeded",
        (0,),
        "seed not used",
        change=(
            "    seed_everything(seed)",
            '    __import__("random").seed(seed)',
        ),
    ),
]
RIGHT = [
    Right(
        "distances",
        "by loops",
        code="""\
def relative_distances(queries, keys, offset=0):
    return torch.tensor([[j - i - offset for j in range(keys)] for i in range(queries)])
""",
    ),
    Right(
        "buckets",
        "in loops",
        code="""\
def buckets(distances, num_buckets, max_distance, causal=True):
    def one(r):
        n, up = (num_buckets, 0) if causal else (num_buckets // 2, (num_buckets // 2) * (r > 0))
        d = max(-r, 0) if causal else abs(r)
        e = n // 2
        if d < e:
            return up + d
        return up + min(n - 1, e + math.floor((n - e) * math.log(d / e) / math.log(max_distance / e)))
    return torch.tensor([one(r) for r in distances.flatten().tolist()]).view_as(distances)
""",
    ),
    Right(
        "rotary",
        "by complex numbers",
        code="""\
def rotate(x, positions=None, base=10000.0):
    n, d = x.shape[-2:]
    p = torch.arange(n, device=x.device) if positions is None else positions.to(x.device)
    theta = base ** (-torch.arange(0, d, 2, device=x.device).float() / d)
    turn = torch.polar(torch.ones(n, d // 2, device=x.device), p.float()[:, None] * theta)
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2).contiguous())
    return torch.view_as_real(pairs * turn).flatten(-2).to(x.dtype)
""",
    ),
    Right(
        "alibi",
        "by the repeated root",
        code="""\
def head_slopes(num_heads):
    ratio = 2 ** (-8 / num_heads)
    return torch.tensor([ratio ** (h + 1) for h in range(num_heads)])
""",
    ),
    Right(
        "evaluation",
        "by log_softmax and gather",
        code="""\
def loss_by_position(model, tokens):
    model.eval()
    x = tokens.to(next(model.parameters()).device)
    with torch.inference_mode():
        lp = model(x[:, :-1]).log_softmax(-1)
    t = x[:, 1:]
    nll = -lp.gather(-1, t[..., None])[..., 0]
    keep = t.ne(0).to(nll.dtype)
    return ((nll * keep).sum(0) / keep.sum(0)).cpu()
""",
    ),
    Right(
        "lengths",
        "a list of schemes",
        change=(
            "    return {\n        scheme\n        for scheme, loss in losses.items()\n        if max(loss.values()) - loss[min(loss)] <= margin\n    }",
            "    return [s for s, x in losses.items() if max(x.values()) - x[min(x)] <= margin]",
        ),
    ),
    Right(
        "finding",
        "the table always",
        change=(
            ' if scheme == "table" else None',
            "",
        ),
    ),
    Right(
        "distances",
        "outer subtraction by meshgrid",
        code="""\
def relative_distances(queries, keys, offset=0):
    i, j = torch.meshgrid(torch.arange(queries), torch.arange(keys), indexing="ij")
    return j - i - offset
""",
    ),
    Right(
        "buckets",
        "base 2 and lists of thresholds",
        code="""\
def clipped_rows(distances, reach):
    return reach + torch.minimum(torch.maximum(distances, torch.tensor(-reach)), torch.tensor(reach))


def buckets(distances, num_buckets, max_distance, causal=True):
    if not causal:
        half = num_buckets // 2
        return buckets(-distances.abs(), half, max_distance) + half * (distances > 0)
    d = -distances.clamp(max=0)
    exact = num_buckets // 2
    growth = (d.clamp(min=exact).double() / exact).log2() / math.log2(max_distance / exact)
    far = (exact + (growth * (num_buckets - exact)).floor()).long().clamp(max=num_buckets - 1)
    return torch.where(d < exact, d, far)
""",
    ),
    Right(
        "bias",
        "einsum and torch.where",
        code="""\
def biased_attention(query, key, value, bias=None, mask=None):
    scores = torch.einsum("bhqd,bhkd->bhqk", query, key) * query.shape[-1] ** -0.5
    if bias is not None:
        scores = scores + bias[None]
    if mask is not None:
        scores = torch.where(mask, scores, torch.tensor(float("-inf")))
    e = (scores - scores.amax(-1, keepdim=True)).exp()
    weights = e / e.sum(-1, keepdim=True)
    return torch.einsum("bhqk,bhkd->bhqd", weights, value), weights
""",
    ),
    Right(
        "table",
        "an embedding of zeros",
        code="""\
class LearnedBias(nn.Module):
    def __init__(self, num_heads, num_buckets, max_distance, scale=10.0):
        super().__init__()
        self.table = nn.Embedding(num_buckets, num_heads)
        nn.init.zeros_(self.table.weight)
        self.rule, self.scale = (num_buckets, max_distance), scale

    def forward(self, queries, keys, offset=0):
        rows = buckets(relative_distances(queries, keys, offset), *self.rule)
        return self.table(rows).movedim(-1, 0) * self.scale
""",
    ),
    Right(
        "rotary",
        "complex numbers, by polar",
        code="""\
def rotate(x, positions=None, base=10000.0):
    d = x.shape[-1]
    positions = torch.arange(x.shape[-2]) if positions is None else positions
    theta = base ** (-torch.arange(0, d, 2).float() / d)
    turn = torch.polar(torch.ones(()), positions[:, None].float() * theta)
    pairs = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * turn).flatten(-2).to(x.dtype)
""",
    ),
    Right(
        "table",
        "kept with heads in front",
        code="""\
class LearnedBias(nn.Module):
    def __init__(self, num_heads, num_buckets, max_distance, scale=10.0):
        super().__init__()
        self.num_buckets, self.max_distance = num_buckets, max_distance
        self.scale = scale
        self.table = nn.Parameter(torch.zeros(num_heads, num_buckets))

    def forward(self, queries, keys, offset=0):
        distances = relative_distances(queries, keys, offset)
        rows = buckets(distances, self.num_buckets, self.max_distance)
        return self.scale * self.table[:, rows]
""",
    ),
    Right(
        "rotary",
        "by complex numbers, in float32",
        code="""\
def rotate(x, positions=None, base=10000.0):
    n, d = x.shape[-2:]
    p = torch.arange(n) if positions is None else positions
    rates = base ** (-2.0 * torch.arange(d // 2) / d)
    turn = torch.polar(torch.ones(len(p), d // 2), p.float()[:, None] * rates)
    pairs = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * turn).flatten(-2).to(x.dtype)
""",
    ),
    Right(
        "lengths",
        "tests drawn first, seeds below zero's reach",
        code="""\
def train_and_test(model, draw, steps, lengths, trained=32):
    tests = {}
    for i, n in enumerate(lengths):
        tests[n] = draw(64, n, seed=steps + 1000 + i)

    def loss_of(model, texts):
        guess = model(texts[:, :-1]).flatten(0, 1)
        return F.cross_entropy(guess, texts[:, 1:].flatten())

    train(model, lambda s: (draw(32, trained, s),), loss_of, steps=steps, learning_rate=5e-3, progress=False)
    return loss_at_lengths(model, tests, trained - 1)


def holds(losses, margin=0.2):
    kept = set()
    for name, loss in losses.items():
        start = loss[sorted(loss)[0]]
        if all(x - start <= margin for x in loss.values()):
            kept.add(name)
    return kept
""",
    ),
]
