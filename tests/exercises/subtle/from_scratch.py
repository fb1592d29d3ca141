"""Answers to exercise 1 that look right at first sight, and right ones that do not."""

from tests.exercises.answers import Right, Wrong

WRONG = [
    Wrong(
        "scores",
        "numpy array",
        (0, 1),
        "wrong type",
        code="""\
def attention_scores(query, key):
    return (query.numpy() @ key.numpy().swapaxes(-1, -2)) / math.sqrt(
        query.shape[-1]
    )
""",
    ),
    Wrong(
        "scores",
        "nested list",
        (0, 1),
        "wrong type",
        code="""\
def attention_scores(query, key):
    return (query @ key.mT / math.sqrt(query.shape[-1])).tolist()
""",
    ),
    Wrong(
        "scores",
        "half precision",
        (0, 1),
        "not exact",
        code="""\
def attention_scores(query, key):
    return (query.half() @ key.half().mT / math.sqrt(query.shape[-1])).float()
""",
    ),
    Wrong(
        "scores",
        "int division",
        (0, 1),
        "scaled by another number",
        code="""\
def attention_scores(query, key):
    return query @ key.mT / int(math.sqrt(query.shape[-1]))
""",
    ),
    Wrong(
        "scores",
        "cached by shape",
        (1,),
        "kept from another call",
        code="""\
_cache = {}


def attention_scores(query, key):
    k = (query.shape, key.shape)
    if k not in _cache:
        _cache[k] = query @ key.mT / math.sqrt(query.shape[-1])
    return _cache[k]
""",
    ),
    Wrong(
        "scores",
        "reshape for transpose",
        (0, 1),
        "reshape for transpose",
        code="""\
def attention_scores(query, key):
    return (
        query
        @ key.reshape(*key.shape[:-2], key.shape[-1], key.shape[-2])
        / math.sqrt(query.shape[-1])
    )
""",
    ),
    Wrong(
        "scores",
        "distances",
        (0, 1),
        "distances for products",
        code="""\
def attention_scores(query, key):
    return -torch.cdist(query, key) / math.sqrt(query.shape[-1])
""",
    ),
    Wrong(
        "scores",
        "duck-typed object",
        (0, 1),
        "wrong type",
        code="""\
class Fake:
    def __init__(self, t):
        self.t = t
        self.shape = t.shape
        self.dtype = t.dtype

    def __array__(self, *a, **k):
        return self.t.numpy()


def attention_scores(query, key):
    return Fake(query @ key.mT / math.sqrt(query.shape[-1]))
""",
    ),
    Wrong(
        "scores",
        "only with three axes",
        (1,),
        "",
        code="""\
def attention_scores(query, key):
    if query.ndim == 3:
        return query @ key.mT / math.sqrt(query.shape[-1])
    return torch.zeros(*query.shape[:-1], key.shape[-2])
""",
    ),
    Wrong(
        "weights",
        "scaled by the number of keys",
        (0, 1),
        "scaled again",
        code="""\
def attention_weights(scores):
    return torch.softmax(scores / math.sqrt(scores.shape[-1]), dim=-1)
""",
    ),
    Wrong(
        "weights",
        "argmax",
        (0, 1),
        "the winner takes all",
        code="""\
def attention_weights(scores):
    return F.one_hot(scores.argmax(-1), scores.shape[-1]).float()
""",
    ),
    Wrong(
        "weights",
        "softmax numpy",
        (0, 1),
        "wrong type",
        code="""\
import numpy as np


def attention_weights(scores):
    x = scores.detach().numpy()
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)
""",
    ),
    Wrong(
        "weights",
        "base 2",
        (0, 1),
        "another base",
        code="""\
def attention_weights(scores):
    p = 2.0 ** (scores - scores.amax(-1, keepdim=True))
    return p / p.sum(-1, keepdim=True)
""",
    ),
    Wrong(
        "weights",
        "random",
        (0, 1),
        "",
        code="""\
def attention_weights(scores):
    return F.gumbel_softmax(scores, dim=-1)
""",
    ),
    Wrong(
        "weights",
        "squares",
        (0, 1),
        "squares for exponentials",
        code="""\
def attention_weights(scores):
    p = scores**2
    return p / p.sum(-1, keepdim=True)
""",
    ),
    Wrong(
        "weights",
        "unit length",
        (0, 1),
        "divided by the length",
        code="""\
def attention_weights(scores):
    return F.normalize(scores.exp(), dim=-1)
""",
    ),
    Wrong(
        "attention",
        "relu attention",
        (0, 1, 2, 3),
        "relu for the exponential",
        code="""\
def attention(query, key, value, dropout=0.0):
    s = torch.relu(attention_scores(query, key))
    w = s / (s.sum(-1, keepdim=True) + 1e-9)
    return F.dropout(w, dropout) @ value, w
""",
    ),
    Wrong(
        "attention",
        "mean over keys",
        (0, 1, 2, 3),
        "averaged over the keys",
        code="""\
def attention(query, key, value, dropout=0.0):
    w = attention_weights(attention_scores(query, key))
    return F.dropout(w, dropout) @ value / key.shape[-2], w
""",
    ),
    Wrong(
        "attention",
        "value width as query",
        (0, 1, 2, 3),
        "output of the queries' width",
        code="""\
def attention(query, key, value, dropout=0.0):
    w = attention_weights(attention_scores(query, key))
    out = torch.zeros_like(query)
    out[:] = F.dropout(w, dropout) @ value
    return out, w
""",
    ),
    Wrong(
        "attention",
        "PyTorch's own function, by getattr",
        (0, 1, 2, 3),
        "forbidden function",
        code="""\
def attention(query, key, value, dropout=0.0):
    f = getattr(F, "scaled_dot_" + "product_attention")
    w = attention_weights(attention_scores(query, key))
    return f(query, key, value, dropout_p=dropout), w
""",
    ),
    Wrong(
        "attention",
        "the course's own, by importlib",
        (0, 1, 2, 3),
        "forbidden function",
        code="""\
import importlib


def attention(query, key, value, dropout=0.0):
    core = importlib.import_module("attn" + "course.layers.core")
    out, w = getattr(core, "scaled_dot_" + "product_attention")(
        query, key, value
    )
    return F.dropout(w, dropout) @ value, w
""",
    ),
    Wrong(
        "attention",
        "PyTorch's own operator",
        (0, 1, 2, 3),
        "forbidden function",
        code="""\
def attention(query, key, value, dropout=0.0):
    w = attention_weights(attention_scores(query, key))
    return torch.ops.aten.scaled_dot_product_attention(
        query, key, value, None, dropout
    ), w
""",
    ),
    Wrong(
        "attention",
        "PyTorch's own function, from a dict",
        (0, 1, 2, 3),
        "forbidden function",
        code="""\
def attention(query, key, value, dropout=0.0):
    w = attention_weights(attention_scores(query, key))
    return F.__dict__["scaled_dot_product" + "_attention"](
        query, key, value, dropout_p=dropout
    ), w
""",
    ),
    Wrong(
        "attention",
        "three results",
        (0, 1, 2, 3),
        "not two results",
        code="""\
def attention(query, key, value, dropout=0.0):
    s = attention_scores(query, key)
    w = attention_weights(s)
    return F.dropout(w, dropout) @ value, w, s
""",
    ),
    Wrong(
        "attention",
        "dict returned",
        (0, 1, 2, 3),
        "not two results",
        code="""\
def attention(query, key, value, dropout=0.0):
    w = attention_weights(attention_scores(query, key))
    return {"output": F.dropout(w, dropout) @ value, "weights": w}
""",
    ),
    Wrong(
        "attention",
        "grad off",
        (3,),
        "no gradient at all",
        code="""\
@torch.no_grad()
def attention(query, key, value, dropout=0.0):
    w = attention_weights(attention_scores(query, key))
    return F.dropout(w, dropout) @ value, w
""",
    ),
    Wrong(
        "attention",
        "dropout switched off",
        (2,),
        "dropout is ignored",
        code="""\
def attention(query, key, value, dropout=0.0):
    w = attention_weights(attention_scores(query, key))
    return F.dropout(w, dropout, training=False) @ value, w
""",
    ),
    Wrong(
        "attention",
        "numpy outputs",
        (0, 1, 2, 3),
        "wrong type",
        code="""\
def attention(query, key, value, dropout=0.0):
    w = attention_weights(attention_scores(query, key))
    return (F.dropout(w, dropout) @ value).detach().numpy(), w.detach().numpy()
""",
    ),
    Wrong(
        "attention",
        "dropout on whole queries",
        (2,),
        "whole queries dropped",
        code="""\
def attention(query, key, value, dropout=0.0):
    w = attention_weights(attention_scores(query, key))
    keep = (torch.rand(w.shape[:-1]) >= dropout)[..., None]
    return (w * keep / (1 - dropout)) @ value, w
""",
    ),
    Wrong(
        "masks",
        "nothing hidden, anywhere",
        (0, 1, 2),
        "nothing hidden",
        code="""\
def causal_mask(tokens):
    return torch.ones(tokens, tokens) > 0


def padding_mask(ids, pad=0):
    return torch.ones(len(ids), 1, 1, ids.shape[1]) > 0


def decoder_mask(ids, pad=0):
    return padding_mask(ids) & causal_mask(ids.shape[1])
""",
    ),
    Wrong(
        "masks",
        "numpy bool",
        (0,),
        "wrong type",
        code="""\
import numpy as np


def causal_mask(tokens):
    return np.tril(np.ones((tokens, tokens), dtype=bool))


def padding_mask(ids, pad=0):
    return (ids != pad)[:, None, None, :]


def decoder_mask(ids, pad=0):
    return padding_mask(ids, pad) & torch.from_numpy(causal_mask(ids.shape[1]))
""",
    ),
    Wrong(
        "masks",
        "list of lists",
        (0,),
        "wrong type",
        code="""\
def causal_mask(tokens):
    return [[j <= i for j in range(tokens)] for i in range(tokens)]


def padding_mask(ids, pad=0):
    return (ids != pad)[:, None, None, :]


def decoder_mask(ids, pad=0):
    return padding_mask(ids, pad) & torch.tensor(causal_mask(ids.shape[1]))
""",
    ),
    Wrong(
        "masks",
        "uint8",
        (0, 1, 2),
        "zeros and ones",
        code="""\
def causal_mask(tokens):
    return torch.ones(tokens, tokens, dtype=torch.uint8).tril()


def padding_mask(ids, pad=0):
    return (ids != pad)[:, None, None, :].byte()


def decoder_mask(ids, pad=0):
    return padding_mask(ids, pad) & causal_mask(ids.shape[1])
""",
    ),
    Wrong(
        "masks",
        "ids greater than pad",
        (2,),
        "causal only",
        code="""\
def causal_mask(tokens):
    return torch.ones(tokens, tokens, dtype=torch.bool).tril()


def padding_mask(ids, pad=0):
    return (ids > pad)[:, None, None, :]


def decoder_mask(ids, pad=0):
    return (ids > 0)[:, None, None, :] & causal_mask(ids.shape[1])
""",
    ),
    Wrong(
        "masks",
        "decoder batch 1",
        (2,),
        "the padding of one sentence for all",
        code="""\
def causal_mask(tokens):
    return torch.ones(tokens, tokens, dtype=torch.bool).tril()


def padding_mask(ids, pad=0):
    return (ids != pad)[:, None, None, :]


def decoder_mask(ids, pad=0):
    return padding_mask(ids[:1], pad) & causal_mask(ids.shape[1])
""",
    ),
    Wrong(
        "masks",
        "causal with tokens of batch",
        (2,),
        "sizes that do not line up",
        code="""\
def causal_mask(tokens):
    return torch.ones(tokens, tokens, dtype=torch.bool).tril()


def padding_mask(ids, pad=0):
    return (ids != pad)[:, None, None, :]


def decoder_mask(ids, pad=0):
    return padding_mask(ids, pad) & causal_mask(len(ids))
""",
    ),
    Wrong(
        "masked",
        "empty if any row",
        (2,),
        "one empty row empties all",
        code="""\
def masked_attention(query, key, value, mask=None):
    s = attention_scores(query, key)
    if mask is None:
        w = attention_weights(s)
        return w @ value, w
    if not mask.any(-1).all():
        w = torch.zeros_like(s)
        return w @ value, w
    w = attention_weights(s.masked_fill(~mask, float("-inf")))
    return w @ value, w
""",
    ),
    Wrong(
        "masked",
        "float32 returned",
        (3,),
        "precisions mixed",
        code="""\
def masked_attention(query, key, value, mask=None):
    s = attention_scores(query.float(), key.float())
    if mask is None:
        w = attention_weights(s)
        return w @ value, w
    empty = ~mask.any(-1, keepdim=True)
    w = attention_weights(
        s.masked_fill(~(mask | empty), -math.inf)
    ).masked_fill(empty, 0)
    return w @ value.float(), w
""",
    ),
    Wrong(
        "masked",
        "output empties by mean",
        (2,),
        "empty rows without a mask",
        code="""\
def masked_attention(query, key, value, mask=None):
    s = attention_scores(query, key)
    if mask is None:
        w = attention_weights(s)
        return w @ value, w
    empty = ~mask.any(-1, keepdim=True)
    w = attention_weights(s.masked_fill(~(mask | empty), -math.inf))
    return (w @ value).masked_fill(empty, 0.0), w
""",
    ),
    Wrong(
        "masked",
        "-inf times mask",
        (0, 1, 2, 3),
        "not a number",
        code="""\
def masked_attention(query, key, value, mask=None):
    s = attention_scores(query, key)
    if mask is not None:
        s = s + (1 - mask.float()) * -math.inf
    w = attention_weights(s)
    return w @ value, w
""",
    ),
    Wrong(
        "masked",
        "log mask",
        (2,),
        "NaN for masked rows",
        code="""\
def masked_attention(query, key, value, mask=None):
    s = attention_scores(query, key)
    if mask is not None:
        s = s + mask.to(s.dtype).log()
    w = attention_weights(s)
    return w @ value, w
""",
    ),
    Wrong(
        "masked",
        "the mask is written into",
        (2,),
        "changes its input",
        code="""\
def masked_attention(query, key, value, mask=None):
    s = attention_scores(query, key)
    if mask is None:
        w = attention_weights(s)
        return w @ value, w
    empty = ~mask.any(-1, keepdim=True)
    mask |= empty
    w = attention_weights(s.masked_fill(~mask, -math.inf)).masked_fill(empty, 0)
    return w @ value, w
""",
    ),
    Wrong(
        "gradient",
        "numeric differences",
        (0, 1),
        "a multiple",
        code="""\
def softmax_gradient(weights, upstream):
    s = weights.double().log()
    out = torch.zeros_like(s)
    h = 1e-4
    for i in range(s.shape[-1]):
        d = torch.zeros_like(s)
        d[..., i] = h
        out[..., i] = (
            ((s + d).softmax(-1) - (s - d).softmax(-1)) / (2 * h) * upstream
        ).sum(-1)
    return out.to(weights.dtype) * 2


def attention_gradients(query, key, value, upstream):
    w = attention_weights(attention_scores(query, key))
    ds = softmax_gradient(w, upstream @ value.mT) / math.sqrt(query.shape[-1])
    return ds @ key, ds.mT @ query, w.mT @ upstream
""",
    ),
    Wrong(
        "gradient",
        "scale twice on key only",
        (1,),
        "scaled on one side only",
        code="""\
def softmax_gradient(weights, upstream):
    return weights * (upstream - (weights * upstream).sum(-1, keepdim=True))


def attention_gradients(query, key, value, upstream):
    w = attention_weights(attention_scores(query, key))
    ds = softmax_gradient(w, upstream @ value.mT)
    r = math.sqrt(query.shape[-1])
    return ds @ key / r, ds.mT @ query, w.mT @ upstream
""",
    ),
    Wrong(
        "gradient",
        "scores for weights",
        (1,),
        "scores for weights",
        code="""\
def softmax_gradient(weights, upstream):
    return weights * (upstream - (weights * upstream).sum(-1, keepdim=True))


def attention_gradients(query, key, value, upstream):
    w = attention_scores(query, key)
    ds = softmax_gradient(w, upstream @ value.mT) / math.sqrt(query.shape[-1])
    return ds @ key, ds.mT @ query, w.mT @ upstream
""",
    ),
    Wrong(
        "gradient",
        "einsum transposed",
        (1,),
        "wrong shape",
        code="""\
def softmax_gradient(weights, upstream):
    return weights * (upstream - (weights * upstream).sum(-1, keepdim=True))


def attention_gradients(query, key, value, upstream):
    w = attention_weights(attention_scores(query, key))
    ds = softmax_gradient(w, upstream @ value.mT) / math.sqrt(query.shape[-1])
    return ds @ key, (key.mT @ ds.mT).mT, w.mT @ upstream
""",
    ),
    Wrong(
        "gradient",
        "automatic differentiation, by getattr",
        (0, 1),
        "forbidden function",
        code="""\
def softmax_gradient(weights, upstream):
    f = getattr(torch.func, "v" + "jp")(lambda s: s.softmax(-1), weights.log())[
        1
    ]
    return f(upstream)[0]


def attention_gradients(query, key, value, upstream):
    w = attention_weights(attention_scores(query, key))
    ds = softmax_gradient(w, upstream @ value.mT) / math.sqrt(query.shape[-1])
    return ds @ key, ds.mT @ query, w.mT @ upstream
""",
    ),
    Wrong(
        "copying",
        "loss on probabilities nll",
        (0,),
        "no logarithm",
        code="""\
class CopyModel(nn.Module):
    def __init__(self, num_symbols, max_len, d_model=32):
        super().__init__()
        self.symbols = nn.Embedding(num_symbols + 1, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.q, self.k, self.v = (nn.Linear(d_model, d_model) for _ in range(3))
        self.out = nn.Linear(d_model, num_symbols + 1)

    def forward(self, ids):
        p = self.positions(torch.arange(ids.shape[1], device=ids.device))
        x = self.symbols(ids) + p
        o, w = masked_attention(
            self.q(p).expand(x.shape),
            self.k(x),
            self.v(x),
            padding_mask(ids)[:, 0],
        )
        return self.out(o), w


def copy_loss(model, ids):
    p = model(ids)[0].softmax(-1)
    return -p.gather(-1, ids[..., None])[..., 0][ids != 0].mean()
""",
    ),
    Wrong(
        "copying",
        "loss detached",
        (0,),
        "no gradient",
        code="""\
class CopyModel(nn.Module):
    def __init__(self, num_symbols, max_len, d_model=32):
        super().__init__()
        self.symbols = nn.Embedding(num_symbols + 1, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.q, self.k, self.v = (nn.Linear(d_model, d_model) for _ in range(3))
        self.out = nn.Linear(d_model, num_symbols + 1)

    def forward(self, ids):
        p = self.positions(torch.arange(ids.shape[1], device=ids.device))
        x = self.symbols(ids) + p
        o, w = masked_attention(
            self.q(p).expand(x.shape),
            self.k(x),
            self.v(x),
            padding_mask(ids)[:, 0],
        )
        return self.out(o), w


def copy_loss(model, ids):
    log_odds, _ = model(ids)
    return torch.tensor(
        F.cross_entropy(
            log_odds.flatten(0, 1), ids.flatten(), ignore_index=0
        ).item()
    )
""",
    ),
    Wrong(
        "copying",
        "returns only log odds",
        (0, 1, 2, 3),
        "axes of the cross-entropy",
        code="""\
class CopyModel(nn.Module):
    def __init__(self, num_symbols, max_len, d_model=32):
        super().__init__()
        self.symbols = nn.Embedding(num_symbols + 1, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.q, self.k, self.v = (nn.Linear(d_model, d_model) for _ in range(3))
        self.out = nn.Linear(d_model, num_symbols + 1)

    def forward(self, ids):
        p = self.positions(torch.arange(ids.shape[1], device=ids.device))
        x = self.symbols(ids) + p
        o, w = masked_attention(
            self.q(p).expand(x.shape),
            self.k(x),
            self.v(x),
            padding_mask(ids)[:, 0],
        )
        return self.out(o)


def copy_loss(model, ids):
    return F.cross_entropy(
        model(ids).flatten(0, 1), ids.flatten(), ignore_index=0
    )
""",
    ),
    Wrong(
        "copying",
        "softmax outputs",
        (1,),
        "probabilities for log-odds",
        code="""\
class CopyModel(nn.Module):
    def __init__(self, num_symbols, max_len, d_model=32):
        super().__init__()
        self.symbols = nn.Embedding(num_symbols + 1, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.q, self.k, self.v = (nn.Linear(d_model, d_model) for _ in range(3))
        self.out = nn.Linear(d_model, num_symbols + 1)

    def forward(self, ids):
        p = self.positions(torch.arange(ids.shape[1], device=ids.device))
        x = self.symbols(ids) + p
        o, w = masked_attention(
            self.q(p).expand(x.shape),
            self.k(x),
            self.v(x),
            padding_mask(ids)[:, 0],
        )
        return self.out(o).softmax(-1), w


def copy_loss(model, ids):
    log_odds, _ = model(ids)
    return F.cross_entropy(
        log_odds.flatten(0, 1), ids.flatten(), ignore_index=0
    )
""",
    ),
    Wrong(
        "copying",
        "one-hot of ids as log odds",
        (1, 3),
        "no attention on the way",
        code="""\
class CopyModel(nn.Module):
    def __init__(self, num_symbols, max_len, d_model=32):
        super().__init__()
        self.symbols = nn.Embedding(num_symbols + 1, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.q, self.k, self.v = (nn.Linear(d_model, d_model) for _ in range(3))
        self.out = nn.Linear(d_model, num_symbols + 1)

    def forward(self, ids):
        p = self.positions(torch.arange(ids.shape[1], device=ids.device))
        x = self.symbols(ids) + p
        o, w = masked_attention(
            self.q(p).expand(x.shape),
            self.k(x),
            self.v(x),
            padding_mask(ids)[:, 0],
        )
        return 20 * F.one_hot(
            ids, self.out.out_features
        ).float() + 0 * self.out(o), w


def copy_loss(model, ids):
    log_odds, _ = model(ids)
    return F.cross_entropy(
        log_odds.flatten(0, 1), ids.flatten(), ignore_index=0
    )
""",
    ),
    Wrong(
        "copying",
        "identity attention",
        (1,),
        "no attention on the way",
        code="""\
class CopyModel(nn.Module):
    def __init__(self, num_symbols, max_len, d_model=32):
        super().__init__()
        self.symbols = nn.Embedding(num_symbols + 1, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.q, self.k, self.v = (nn.Linear(d_model, d_model) for _ in range(3))
        self.out = nn.Linear(d_model, num_symbols + 1)

    def forward(self, ids):
        p = self.positions(torch.arange(ids.shape[1], device=ids.device))
        x = self.symbols(ids) + p
        w = torch.eye(ids.shape[1]).expand(len(ids), -1, -1)
        return self.out(w @ self.v(x)), w


def copy_loss(model, ids):
    log_odds, _ = model(ids)
    return F.cross_entropy(
        log_odds.flatten(0, 1), ids.flatten(), ignore_index=0
    )
""",
    ),
    Wrong(
        "copying",
        "argmax weights returned",
        (1,),
        "no attention on the way",
        code="""\
class CopyModel(nn.Module):
    def __init__(self, num_symbols, max_len, d_model=32):
        super().__init__()
        self.symbols = nn.Embedding(num_symbols + 1, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.q, self.k, self.v = (nn.Linear(d_model, d_model) for _ in range(3))
        self.out = nn.Linear(d_model, num_symbols + 1)

    def forward(self, ids):
        p = self.positions(torch.arange(ids.shape[1], device=ids.device))
        x = self.symbols(ids) + p
        o, w = masked_attention(
            self.q(p).expand(x.shape),
            self.k(x),
            self.v(x),
            padding_mask(ids)[:, 0],
        )
        return self.out(o), F.one_hot(w.argmax(-1), w.shape[-1]).float()


def copy_loss(model, ids):
    log_odds, _ = model(ids)
    return F.cross_entropy(
        log_odds.flatten(0, 1), ids.flatten(), ignore_index=0
    )
""",
    ),
    Wrong(
        "copying",
        "an encoder layer of PyTorch",
        (0, 1, 2, 3),
        "forbidden function",
        code="""\
class CopyModel(nn.Module):
    def __init__(self, num_symbols, max_len, d_model=32):
        super().__init__()
        self.symbols = nn.Embedding(num_symbols + 1, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.q, self.k, self.v = (nn.Linear(d_model, d_model) for _ in range(3))
        self.out = nn.Linear(d_model, num_symbols + 1)

    def forward(self, ids):
        p = self.positions(torch.arange(ids.shape[1], device=ids.device))
        x = self.symbols(ids) + p
        self.enc = self.__dict__.get("enc") or getattr(
            nn, "Transformer" + "EncoderLayer"
        )(x.shape[-1], 1, batch_first=True)
        o, w = masked_attention(
            self.q(p).expand(x.shape),
            self.k(x),
            self.v(x),
            padding_mask(ids)[:, 0],
        )
        return self.out(self.enc(x)), w


def copy_loss(model, ids):
    log_odds, _ = model(ids)
    return F.cross_entropy(
        log_odds.flatten(0, 1), ids.flatten(), ignore_index=0
    )
""",
    ),
    Wrong(
        "copying",
        "part of the symbol goes round the attention",
        (1,),
        "a way round the attention",
        code="""\
class CopyModel(nn.Module):
    def __init__(self, num_symbols, max_len, d_model=32):
        super().__init__()
        self.symbols = nn.Embedding(num_symbols + 1, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.q, self.k, self.v = (nn.Linear(d_model, d_model) for _ in range(3))
        self.out = nn.Linear(d_model, num_symbols + 1)

    def forward(self, ids):
        p = self.positions(torch.arange(ids.shape[1], device=ids.device))
        x = self.symbols(ids) + p
        o, w = masked_attention(
            self.q(p).expand(x.shape),
            self.k(x),
            self.v(x),
            padding_mask(ids)[:, 0],
        )
        return self.out(o + 0.3 * self.symbols(ids)), w


def copy_loss(model, ids):
    log_odds, _ = model(ids)
    return F.cross_entropy(
        log_odds.flatten(0, 1), ids.flatten(), ignore_index=0
    )
""",
    ),
    Wrong(
        "copying",
        "mean over tokens of each sentence",
        (0,),
        "mean of means",
        code="""\
class CopyModel(nn.Module):
    def __init__(self, num_symbols, max_len, d_model=32):
        super().__init__()
        self.symbols = nn.Embedding(num_symbols + 1, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.q, self.k, self.v = (nn.Linear(d_model, d_model) for _ in range(3))
        self.out = nn.Linear(d_model, num_symbols + 1)

    def forward(self, ids):
        p = self.positions(torch.arange(ids.shape[1], device=ids.device))
        x = self.symbols(ids) + p
        o, w = masked_attention(
            self.q(p).expand(x.shape),
            self.k(x),
            self.v(x),
            padding_mask(ids)[:, 0],
        )
        return self.out(o), w


def copy_loss(model, ids):
    log_odds, _ = model(ids)
    losses = F.cross_entropy(
        log_odds.transpose(1, 2), ids, ignore_index=0, reduction="none"
    )
    return (losses.sum(1) / (ids != 0).sum(1)).mean()
""",
    ),
]

RIGHT = [
    Right(
        "scores",
        "tensordot via matmul out",
        """\
def attention_scores(query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
    scale: float = key.size(-1) ** -0.5
    return torch.matmul(
        query * scale**0.5, (key * scale**0.5).transpose(-1, -2)
    )
""",
    ),
    Right(
        "scores",
        "partial einsum",
        """\
attention_scores = partial(
    lambda eq, query, key: torch.einsum(eq, query, key).div_(
        query.size(-1) ** 0.5
    ),
    "...qd,...kd->...qk",
)
""",
    ),
    Right(
        "scores",
        "broadcast sum chunks",
        """\
def attention_scores(query, key):
    rows = [
        (query[..., i : i + 1, :] * key).sum(-1) for i in range(query.shape[-2])
    ]
    return torch.stack(rows, dim=-2).div(math.sqrt(query.shape[-1]))
""",
    ),
    Right(
        "scores",
        "from distances",
        """\
def attention_scores(query, key):
    q2, k2 = (
        query.square().sum(-1)[..., :, None],
        key.square().sum(-1)[..., None, :],
    )
    d2 = (query[..., :, None, :] - key[..., None, :, :]).square().sum(-1)
    return (q2 + k2 - d2) / 2 / math.sqrt(query.shape[-1])
""",
    ),
    Right(
        "weights",
        "log softmax exp",
        """\
def attention_weights(scores):
    return scores.log_softmax(-1).exp()
""",
    ),
    Right(
        "weights",
        "pairwise sigmoid-like",
        """\
def attention_weights(scores):
    return 1 / (scores[..., None, :] - scores[..., :, None]).exp().sum(-1)
""",
    ),
    Right(
        "weights",
        "in place on own",
        """\
def attention_weights(scores):
    own = scores.clone()
    own -= own.max(dim=-1, keepdim=True).values
    own.exp_()
    own /= own.sum(-1, keepdim=True)
    return own
""",
    ),
    Right(
        "weights",
        "double inside",
        """\
def attention_weights(scores):
    return torch.softmax(scores, dim=-1, dtype=torch.float64).to(scores.dtype)
""",
    ),
    Right(
        "attention",
        "bernoulli",
        """\
def attention(query, key, value, dropout=0.0):
    w = attention_weights(attention_scores(query, key))
    if dropout == 0:
        return torch.matmul(w, value), w
    kept = torch.empty_like(w).bernoulli_(1 - dropout)
    return torch.einsum(
        "...qk,...kv->...qv", w * kept / (1 - dropout), value
    ), w
""",
    ),
    Right(
        "attention",
        "nn.Dropout module, namedtuple",
        """\
from typing import NamedTuple


class Result(NamedTuple):
    output: torch.Tensor
    weights: torch.Tensor


def attention(query, key, value, dropout=0.0):
    w = attention_weights(attention_scores(query, key))
    return Result(nn.Dropout(dropout)(w) @ value, w)
""",
    ),
    Right(
        "attention",
        "chunked online",
        """\
def attention(query, key, value, dropout=0.0):
    s = attention_scores(query, key)
    w = (s - s.logsumexp(-1, keepdim=True)).exp()
    d = F.dropout(w, dropout)
    out = sum(
        d[..., i : i + 1] * value[..., i : i + 1, :]
        for i in range(value.shape[-2])
    )
    return out, w
""",
    ),
    Right(
        "masks",
        "meshgrid etc",
        """\
def causal_mask(tokens):
    q, k = torch.meshgrid(
        torch.arange(tokens), torch.arange(tokens), indexing="ij"
    )
    return q.ge(k)


def padding_mask(ids, pad=0):
    return torch.ne(ids, pad).reshape(ids.shape[0], 1, 1, -1)


def decoder_mask(ids, pad=0):
    return torch.logical_and(
        causal_mask(ids.size(1))[None, None], padding_mask(ids, pad)
    )
""",
    ),
    Right(
        "masks",
        "expanded numpy inside",
        """\
import numpy as np


def causal_mask(tokens):
    return torch.from_numpy(np.tri(tokens, dtype=bool))


def padding_mask(ids, pad=0):
    return ~(ids == pad).view(len(ids), 1, 1, ids.shape[1])


def decoder_mask(ids, pad=0):
    return torch.stack(
        [p & causal_mask(ids.shape[1]) for p in padding_mask(ids, pad)]
    )
""",
    ),
    Right(
        "masked",
        "where clamp max finite",
        """\
def masked_attention(query, key, value, mask=None):
    s = attention_scores(query, key)
    if mask is None:
        mask = torch.ones((), dtype=torch.bool)
    mask = mask.expand_as(s)
    top = (
        s.masked_fill(~mask, -math.inf)
        .amax(-1, keepdim=True)
        .clamp(min=torch.finfo(s.dtype).min)
        .detach()
    )
    e = torch.where(mask, s - top, -math.inf).exp()
    total = e.sum(-1, keepdim=True)
    w = e / total.masked_fill(total == 0, 1)
    return w @ value, w
""",
    ),
    Right(
        "masked",
        "row loop index",
        """\
def masked_attention(query, key, value, mask=None):
    s = attention_scores(query, key)
    if mask is None:
        w = attention_weights(s)
        return w @ value, w
    m = mask.expand(s.shape).reshape(-1, s.shape[-1])
    rows = []
    for row, see in zip(s.reshape(-1, s.shape[-1]), m):
        out = torch.zeros_like(row)
        if see.any():
            out = out.index_put((see.nonzero()[:, 0],), row[see].softmax(-1))
        rows.append(out)
    w = torch.stack(rows).view(s.shape)
    return w @ value, w
""",
    ),
    Right(
        "gradient",
        "vmap of jacobian",
        """\
def softmax_gradient(weights, upstream):
    return (
        torch.einsum("...j,...j->...j", weights, upstream)
        - weights * torch.einsum("...k,...k->...", weights, upstream)[..., None]
    )


def attention_gradients(query, key, value, upstream):
    s = query.shape[-1] ** 0.5
    p = (query @ key.mT / s).softmax(-1)
    dv = torch.einsum("...qk,...qv->...kv", p, upstream)
    dp = torch.einsum("...qv,...kv->...qk", upstream, value)
    ds = softmax_gradient(p, dp)
    return (
        torch.einsum("...qk,...kd->...qd", ds, key) / s,
        torch.einsum("...qk,...qd->...kd", ds, query) / s,
        dv,
    )
""",
    ),
    Right(
        "copying",
        "functional params",
        """\
class CopyModel(nn.Module):
    def __init__(self, num_symbols, max_len, d_model=32):
        super().__init__()
        self.e = nn.Parameter(torch.randn(num_symbols + 1, d_model) * 0.5)
        self.p = nn.Parameter(torch.randn(max_len, d_model) * 0.5)
        self.w = nn.ParameterList(
            [torch.randn(d_model, d_model) / d_model**0.5 for _ in range(3)]
        )
        self.o = nn.Parameter(
            torch.randn(d_model, num_symbols + 1) / d_model**0.5
        )

    def forward(self, ids):
        p = self.p[: ids.shape[1]]
        x = self.e[ids] + p
        q, k, v = (p @ self.w[0]), x @ self.w[1], x @ self.w[2]
        out, w = masked_attention(
            q.repeat(len(ids), 1, 1), k, v, (ids != 0)[:, None]
        )
        return out @ self.o, w


def copy_loss(model, ids):
    scores = model(ids)[0].log_softmax(-1)
    real = ids != 0
    return -scores[real].gather(1, ids[real][:, None]).mean()
""",
    ),
]
