"""Answers to exercise 1 of people who did it, right and wrong."""

from tests.exercises.answers import Right, Wrong

WRONG = [
    Wrong(
        "scores",
        "the softmax already",
        (0, 1),
        "softmax included",
        code="""\
def attention_scores(query, key):
    return torch.softmax(query @ key.mT / key.shape[-1] ** 0.5, -1)
""",
    ),
    Wrong(
        "scores",
        "cosines",
        (0, 1),
        "lengths divided out",
        code="""\
def attention_scores(query, key):
    return F.normalize(query, dim=-1) @ F.normalize(key, dim=-1).mT
""",
    ),
    Wrong(
        "scores",
        "printed, not returned",
        (0, 1),
        "returns nothing",
        code="""\
def attention_scores(query, key):
    print(query @ key.mT / key.shape[-1] ** 0.5)
""",
    ),
    Wrong(
        "weights",
        "one maximum, and an epsilon",
        (1,),
        "one maximum for all rows",
        code="""\
def attention_weights(scores):
    e = torch.exp(scores - scores.max())
    return e / (e.sum(-1, keepdim=True) + 1e-9)
""",
    ),
    Wrong(
        "weights",
        "divided by the largest score",
        (0, 1),
        "divided by the largest score",
        code="""\
def attention_weights(scores):
    e = torch.exp(scores / scores.max())
    return e / e.sum(-1, keepdim=True)
""",
    ),
    Wrong(
        "weights",
        "axis of the sum lost, own words",
        (0, 1),
        "the axis of the sum is lost",
        code="""\
def attention_weights(scores):
    e = torch.exp(scores - scores.max())
    return e / e.sum(dim=-1)
""",
    ),
    Wrong(
        "attention",
        "keeps with the probability of going",
        (2,),
        "probability the other way round",
        code="""\
def attention(query, key, value, dropout=0.0):
    w = attention_weights(attention_scores(query, key))
    d = w
    if dropout:
        d = w * (torch.rand_like(w) < dropout) / dropout
    return d @ value, w
""",
    ),
    Wrong(
        "attention",
        "keeps with the probability of going, right factor",
        (2,),
        "probability the other way round",
        code="""\
def attention(query, key, value, dropout=0.0):
    w = attention_weights(attention_scores(query, key))
    d = w
    if dropout:
        d = w * (torch.rand_like(w) < dropout) / (1 - dropout)
    return d @ value, w
""",
    ),
    Wrong(
        "attention",
        "enlarged by 1 / p",
        (2,),
        "enlarged by another factor",
        code="""\
def attention(query, key, value, dropout=0.0):
    w = attention_weights(attention_scores(query, key))
    d = w
    if dropout:
        d = w * (torch.rand_like(w) >= dropout) / dropout
    return d @ value, w
""",
    ),
    Wrong(
        "attention",
        "a name that is not there",
        (0, 1, 2, 3),
        "raises an error",
        code="""\
def attention(query, key, value, dropout=0.0):
    w = atention_weights(attention_scores(query, key))
    return w @ value, w
""",
    ),
    Wrong(
        "masked",
        "-1e4, and masked again after the softmax",
        (3,),
        "masked after the softmax",
        code="""\
def masked_attention(query, key, value, mask=None):
    s = attention_scores(query, key)
    if mask is None:
        w = s.softmax(-1)
    else:
        w = s.masked_fill(~mask, -1e4).softmax(-1) * mask
    return w @ value, w
""",
    ),
    Wrong(
        "gradient",
        "mean for sum",
        (0, 1),
        "mean for sum",
        code="""\
def softmax_gradient(weights, upstream):
    return weights * (upstream - (weights * upstream).mean(-1, keepdim=True))


def attention_gradients(query, key, value, upstream):
    w = torch.softmax(query @ key.mT / math.sqrt(query.shape[-1]), -1)
    gs = softmax_gradient(w, upstream @ value.mT) / math.sqrt(query.shape[-1])
    return gs @ key, gs.mT @ query, w.mT @ upstream
""",
    ),
]

RIGHT = [
    Right(
        "scores",
        "in a student's own style",
        """\
def attention_scores(query, key):
    width = query.size(-1)
    return torch.einsum("...qd,...kd->...qk", query, key) * width**-0.5
""",
    ),
    Right(
        "weights",
        "in a student's own style",
        """\
def attention_weights(scores):
    top = scores.max(dim=-1, keepdim=True).values
    odds = (scores - top).exp()
    return odds / odds.sum(-1, keepdim=True)
""",
    ),
    Right(
        "attention",
        "in a student's own style",
        """\
def attention(query, key, value, dropout=0.0):
    weights = attention_weights(attention_scores(query, key))
    used = weights
    if dropout > 0:
        keep = torch.rand_like(weights) >= dropout
        used = weights * keep / (1 - dropout)
    return used @ value, weights
""",
    ),
    Right(
        "masks",
        "in a student's own style",
        """\
def causal_mask(tokens):
    place = torch.arange(tokens)
    return place.unsqueeze(1) >= place


def padding_mask(ids, pad=0):
    return ids.ne(pad).unsqueeze(1).unsqueeze(1)


def decoder_mask(ids, pad=0):
    return torch.logical_and(
        padding_mask(ids, pad), causal_mask(ids.shape[-1]).to(ids.device)
    )
""",
    ),
    Right(
        "masked",
        "in a student's own style",
        """\
def masked_attention(query, key, value, mask=None):
    if mask is None:
        return attention(query, key, value)
    scores = attention_scores(query, key)
    scores = torch.where(mask, scores, float("-inf"))
    top = scores.max(dim=-1, keepdim=True).values
    top = torch.where(top == float("-inf"), torch.zeros_like(top), top).detach()
    odds = torch.where(mask, torch.exp(scores - top), 0.0)
    total = odds.sum(-1, keepdim=True)
    weights = odds / torch.where(total == 0, torch.ones_like(total), total)
    return weights @ value, weights
""",
    ),
    Right(
        "gradient",
        "in a student's own style",
        """\
def softmax_gradient(weights, upstream):
    mean = torch.einsum("...k,...k->...", weights, upstream)
    return weights * (upstream - mean[..., None])


def attention_gradients(query, key, value, upstream):
    weights = attention_weights(attention_scores(query, key))
    d_value = weights.mT @ upstream
    d_weights = upstream @ value.mT
    d_scores = softmax_gradient(weights, d_weights) / math.sqrt(query.shape[-1])
    return d_scores @ key, d_scores.mT @ query, d_value
""",
    ),
    Right(
        "copying",
        "in a student's own style",
        """\
class CopyModel(nn.Module):
    def __init__(self, num_symbols, max_len, d_model=32):
        super().__init__()
        self.symbols = nn.Embedding(num_symbols + 1, d_model, padding_idx=0)
        self.place = nn.Parameter(torch.randn(max_len, d_model))
        self.kv = nn.Linear(d_model, 2 * d_model, bias=False)
        self.q = nn.Linear(d_model, d_model, bias=False)
        self.out = nn.Linear(d_model, num_symbols + 1)

    def forward(self, ids):
        batch, tokens = ids.shape
        place = self.place[:tokens]
        query = self.q(place).repeat(batch, 1, 1)
        key, value = self.kv(self.symbols(ids) + place).chunk(2, dim=-1)
        found, weights = masked_attention(
            query, key, value, (ids != 0).unsqueeze(1)
        )
        return self.out(found), weights


def copy_loss(model, ids):
    log_odds, _ = model(ids)
    real = ids != 0
    return F.cross_entropy(log_odds[real], ids[real])
""",
    ),
]
