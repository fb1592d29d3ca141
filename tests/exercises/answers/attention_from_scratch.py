"""Answers to exercise 1 that are unlike each other."""

COPY_MODEL = """
class CopyModel(nn.Module):
    def __init__(self, num_symbols, max_len, d_model=32):
        super().__init__()
        self.emb = nn.Embedding(num_symbols + 1, d_model)
        self.pos = nn.Parameter({start})
        self.q, self.k, self.v = (nn.Linear(d_model, d_model) for _ in range(3))
        self.out = nn.Linear(d_model, num_symbols + 1)

    def forward(self, ids):
        p = self.pos[: ids.shape[1]]
        x = self.emb(ids) + p
        mask = padding_mask(ids)[:, 0]
        o, w = masked_attention(self.q(p), self.k(x), self.v(x), mask)
        return {result}


def copy_loss(model, ids):
    logits = model(ids)[0]
    real = ids != 0
    return F.cross_entropy(logits[real], ids[real])
"""
HEADS = """
def multi_head_attention(x, a, b, c, d, n, mask=None):
    width, outputs, all_weights = x.shape[-1] // n, [], []
    for h in range(n):
        s = slice(h * width, (h + 1) * width)
        m = None if mask is None else {mask}
        o, w = masked_attention(x @ a[:, s], x @ b[:, s], x @ c[:, s], m)
        outputs.append(o)
        all_weights.append(w)
    return torch.cat(outputs, -1) @ d, torch.stack(all_weights, 1)
"""
DRAWN, PLAIN = "torch.randn(max_len, d_model)", "self.out(o), w"

WRONG = {
    "scores": {
        "the root of the rounded width": (
            "def attention_scores(q, k):\n"
            "    return q @ k.mT / int(math.sqrt(q.shape[-1]))",
            "not yet wider vectors: their dot product, divided by the root of",
        ),
        "a matrix for one batch only": (
            "def attention_scores(q, k):\n"
            "    return torch.einsum('...id,...jd->ij', q, k) / q.shape[-1] ** 0.5",
            "should have the shape",
        ),
    },
    "attention": {
        "PyTorch's own function under another name": (
            "sdpa = F.scaled_dot_product_attention\n"
            "def attention(q, k, v, dropout=0.0):\n"
            "    return sdpa(q, k, v), attention_scores(q, k).softmax(-1)",
            "uses torch.nn.functional.scaled_dot_product_attention",
        ),
        "dropout with the probability of keeping": (
            "def attention(q, k, v, dropout=0.0):\n"
            "    w = attention_scores(q, k).softmax(-1)\n"
            "    return F.dropout(w, 1 - dropout if dropout else 0.0) @ v, w",
            "not yet dropout sets single weights to 0",
        ),
        "the axis counted from the front": (
            "def attention(q, k, v, dropout=0.0):\n"
            "    w = attention_scores(q, k).softmax(1)\n"
            "    return F.dropout(w, dropout) @ v, w",
            "The softmax runs along the axis 1",
        ),
        "the mean subtracted": (
            "def attention(q, k, v, dropout=0.0):\n"
            "    s = attention_scores(q, k)\n"
            "    e = (s - s.mean(-1, keepdim=True)).exp()\n"
            "    w = e / e.sum(-1, keepdim=True)\n"
            "    return F.dropout(w, dropout) @ v, w",
            "not yet large scores",
        ),
    },
    "masks": {
        "larger than the padding id": (
            "def causal_mask(n):\n    return torch.ones(n, n).tril().bool()\n"
            "def padding_mask(ids, pad=0):\n    return (ids > pad)[:, None, None]\n"
            "def decoder_mask(ids, pad=0):\n"
            "    return padding_mask(ids, pad) & causal_mask(ids.shape[1])",
            "takes every id above the padding id for a word",
        ),
        "everything to the first padding": (
            "def causal_mask(n):\n    return torch.ones(n, n).tril().bool()\n"
            "def padding_mask(ids, pad=0):\n"
            "    return ((ids == pad).cumsum(1) == 0)[:, None, None]\n"
            "def decoder_mask(ids, pad=0):\n"
            "    return padding_mask(ids, pad) & causal_mask(ids.shape[1])",
            "Padding may stand anywhere.",
        ),
    },
    "masked": {
        "weights changed in place": (
            "def masked_attention(q, k, v, mask=None):\n"
            "    s = attention_scores(q, k)\n"
            "    if mask is None:\n        mask = torch.ones_like(s).bool()\n"
            "    hidden = ~mask & mask.any(-1, keepdim=True)\n"
            "    w = torch.softmax(s.masked_fill(hidden, -math.inf), -1)\n"
            "    w[~mask.expand_as(w)] = 0\n    return w @ v, w",
            "modified by an inplace operation",
        ),
        "whole numbers for weights": (
            "def masked_attention(q, k, v, mask=None):\n"
            "    w = attention_scores(q, k).softmax(-1)\n"
            "    if mask is not None:\n"
            "        w = torch.where(mask.expand(w.shape), 2, -1)\n"
            "    return w.float() @ v, w",
            "does not sum to 1 along the last axis",
        ),
        "minus infinity times zero": (
            "def masked_attention(q, k, v, mask=None):\n"
            "    s = attention_scores(q, k)\n"
            "    if mask is not None:\n        s = s + (1 - mask.float()) * -math.inf\n"
            "    w = torch.softmax(s, -1)\n    return w @ v, w",
            "Infinity times 0 is NaN",
        ),
    },
    "multi_head": {
        "viewed with the heads first": (
            "def multi_head_attention(x, wq, wk, wv, wo, n, mask=None):\n"
            "    b, t, d = x.shape\n"
            "    q, k, v = ((x @ w).reshape(b, n, t, d // n) for w in (wq, wk, wv))\n"
            "    o, w = masked_attention(q, k, v, mask)\n"
            "    return o.transpose(1, 2).reshape(b, t, d) @ wo, w",
            "not yet each head has its own weights",
        ),
        "the mask of the first head for all": (
            HEADS.format(mask="mask if mask.dim() < 3 else mask[..., 0, :, :]"),
            "not yet a mask with fewer axes serves all heads",
        ),
    },
    "gradient": {
        "automatic differentiation": (
            "def softmax_gradient(weights, upstream):\n"
            "    s = weights.log().requires_grad_()\n"
            "    return torch.autograd.grad(s.softmax(-1), s, upstream)[0]\n"
            "def attention_gradients(query, key, value, upstream):\n"
            "    return query, key, value",
            "uses torch.autograd",
        ),
    },
    "copying": {
        "the position goes round the attention": (
            COPY_MODEL.format(start=DRAWN, result="self.out(o + p), w"),
            "not yet CopyModel: the output is made from what attention returns alone",
        ),
        "probabilities": (
            COPY_MODEL.format(start=DRAWN, result="self.out(o).softmax(-1), w"),
            "They sum to 1 at every position, as probabilities do.",
        ),
        "no attention": (
            COPY_MODEL.format(
                start=DRAWN, result="9 * F.one_hot(ids, 10) + 0 * o.sum(), w"
            ),
            "no position's logits depend on another position's symbol",
        ),
    },
}

RIGHT = {
    "scores": {
        "loops over the features": (
            "def attention_scores(q, k):\n"
            "    total = 0\n    for i in range(q.shape[-1]):\n"
            "        total = total + q[..., :, None, i] * k[..., None, :, i]\n"
            "    return total * q.shape[-1] ** -0.5"
        ),
    },
    "attention": {
        "log-sum-exp, einsum, and a local variable called grad": (
            "def attention(a, b, c, rate=0.0):\n"
            "    s = attention_scores(a, b)\n"
            "    grad = (s - s.logsumexp(-1, keepdim=True)).exp()\n"
            "    keep = (torch.rand_like(grad) >= rate) / (1 - rate)\n"
            "    return torch.einsum('...ij,...jd->...id', grad * keep, c), grad"
        ),
    },
    "masks": {
        "own helpers, names of the package": (
            "def create_causal_mask(n):\n"
            "    i = torch.arange(n)\n    return i <= i[:, None]\n"
            "def causal_mask(tokens):\n    return create_causal_mask(tokens)\n"
            "def padding_mask(ids, pad=0):\n"
            "    return ids.ne(pad).view(len(ids), 1, 1, -1)\n"
            "def decoder_mask(ids, pad=0):\n"
            "    return torch.logical_and(padding_mask(ids, pad),\n"
            "                             causal_mask(ids.shape[-1]))"
        ),
    },
    "masked": {
        "a helper called masked_softmax": (
            "def masked_softmax(s, m):\n"
            "    return s.masked_fill(~m, -math.inf).softmax(-1).nan_to_num()\n"
            "def masked_attention(query, key, value, mask=None):\n"
            "    s = attention_scores(query, key)\n"
            "    w = s.softmax(-1) if mask is None else masked_softmax(s, mask)\n"
            "    return w @ value, w"
        ),
    },
    "multi_head": {
        "a loop over the heads": (
            HEADS.format(mask="mask.expand(len(x), n, *mask.shape[-2:])[:, h]")
        ),
    },
    "gradient": {
        "the Jacobian, row by row": (
            "def softmax_gradient(w, u):\n"
            "    jacobian = torch.diag_embed(w) - w[..., :, None] * w[..., None, :]\n"
            "    return (jacobian @ u[..., None])[..., 0]\n"
            "def attention_gradients(q, k, v, u):\n"
            "    w = attention_scores(q, k).softmax(-1)\n"
            "    s = softmax_gradient(w, u @ v.mT) * q.shape[-1] ** -0.5\n"
            "    return s @ k, s.mT @ q, w.mT @ u"
        ),
    },
    "copying": {
        "positions that start at zero": COPY_MODEL.format(
            start="torch.zeros(max_len, d_model)", result=PLAIN
        ),
    },
}
