"""Answers to exercise 1 of a class that was made up for it, right and wrong."""

# ruff: noqa: E501  (students' lines are as long as they are)

from tests.exercises.answers import Right, Wrong

WRONG = [
    Wrong(
        "weights",
        "right only while gradients are recorded",
        (0, 1),
        "depends on whether gradients are recorded",
        code="""\
def attention_weights(scores):
    weights = torch.softmax(scores, dim=-1)
    return weights if torch.is_grad_enabled() else weights.round()
""",
    ),
    Wrong(
        "scores",
        "root by 1/2 without brackets",
        (0, 1),
        "scaled by another number",
        code="""\
def attention_scores(query, key):
    return query @ key.transpose(-2, -1) / query.shape[-1] ** 1 / 2
""",
    ),
    Wrong(
        "scores",
        "mean in place of the sum",
        (0, 1),
        "scaled by another number",
        code="""\
def attention_scores(query, key):
    pairs = query.unsqueeze(-2) * key.unsqueeze(-3)
    return pairs.mean(-1) / math.sqrt(query.size(-1))
""",
    ),
    Wrong(
        "scores",
        "tensordot over the batches",
        (0, 1),
        "wrong shape",
        code="""\
def attention_scores(query, key):
    return torch.tensordot(query, key, dims=([-1], [-1])) / math.sqrt(key.shape[-1])
""",
    ),
    Wrong(
        "scores",
        "the largest score taken off",
        (0, 1),
        "a number added to each row",
        code="""\
def attention_scores(query, key):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    return scores - scores.max(dim=-1, keepdim=True).values
""",
    ),
    Wrong(
        "scores",
        "no negative scores",
        (0, 1),
        "cut off at 0",
        code="""\
def attention_scores(query, key):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    return torch.clamp(scores, min=0)
""",
    ),
    Wrong(
        "scores",
        "divided by their own spread",
        (0, 1),
        "scaled by another number",
        code="""\
def attention_scores(query, key):
    scores = query @ key.transpose(-2, -1)
    return scores / scores.std()
""",
    ),
    Wrong(
        "scores",
        "root of a whole number by torch",
        (0, 1),
        "a type that the operation does not take",
        code="""\
def attention_scores(query, key):
    return query @ key.transpose(-2, -1) / torch.sqrt(query.shape[-1])
""",
    ),
    Wrong(
        "scores",
        "the query turned round",
        (0, 1),
        "sizes that do not fit",
        code="""\
def attention_scores(query, key):
    return query.transpose(-2, -1) @ key / math.sqrt(query.shape[-1])
""",
    ),
    Wrong(
        "weights",
        "one in the denominator",
        (0, 1),
        "a number added to the sum",
        code="""\
def attention_weights(scores):
    e = torch.exp(scores - scores.amax(-1, keepdim=True))
    return e / (1 + e.sum(-1, keepdim=True))
""",
    ),
    Wrong(
        "weights",
        "rounded for display",
        (0, 1),
        "not exact",
        code="""\
def attention_weights(scores):
    return torch.softmax(scores, dim=-1).round(decimals=2)
""",
    ),
    Wrong(
        "weights",
        "smallest score taken off",
        (1,),
        "exponentials overflow",
        code="""\
def attention_weights(scores):
    e = torch.exp(scores - scores.amin(dim=-1, keepdim=True))
    return e / e.sum(dim=-1, keepdim=True)
""",
    ),
    Wrong(
        "weights",
        "nan to zero",
        (1,),
        "one maximum for all rows",
        code="""\
def attention_weights(scores):
    e = torch.exp(scores)
    return torch.nan_to_num(e / e.sum(dim=-1, keepdim=True))
""",
    ),
    Wrong(
        "weights",
        "noise as in training",
        (0, 1),
        "another result when called again",
        code="""\
def attention_weights(scores):
    return F.gumbel_softmax(scores, dim=-1)
""",
    ),
    Wrong(
        "weights",
        "small weights cut to zero",
        (0, 1),
        "rows that do not sum to 1",
        code="""\
def attention_weights(scores):
    w = torch.softmax(scores, dim=-1)
    return torch.where(w < 0.1, torch.zeros_like(w), w)
""",
    ),
    Wrong(
        "attention",
        "a tenth is always dropped",
        (0, 1, 2, 3),
        "another result when called again",
        code="""\
def attention(query, key, value, dropout=0.0):
    weights = attention_weights(attention_scores(query, key))
    return F.dropout(weights, 0.1) @ value, weights
""",
    ),
    Wrong(
        "attention",
        "dropout in place",
        (2,),
        "weights after dropout",
        code="""\
def attention(query, key, value, dropout=0.0):
    weights = attention_weights(attention_scores(query, key))
    dropped = F.dropout(weights, dropout, inplace=True)
    return dropped @ value, weights
""",
    ),
    Wrong(
        "attention",
        "the values are dropped",
        (2,),
        "dropout of the values",
        code="""\
def attention(query, key, value, dropout=0.0):
    weights = attention_weights(attention_scores(query, key))
    return weights @ F.dropout(value, dropout), weights
""",
    ),
    Wrong(
        "attention",
        "brought back to sum one after dropout",
        (2,),
        "enlarged by another factor",
        code="""\
def attention(query, key, value, dropout=0.0):
    weights = attention_weights(attention_scores(query, key))
    kept = weights * (torch.rand_like(weights) >= dropout)
    return kept / kept.sum(-1, keepdim=True).clamp(min=1e-9) @ value, weights
""",
    ),
    Wrong(
        "attention",
        "residual added",
        (0, 1, 2, 3),
        "",
        code="""\
def attention(query, key, value, dropout=0.0):
    weights = attention_weights(attention_scores(query, key))
    out = F.dropout(weights, dropout) @ value
    return out + query.mean(-1, keepdim=True), weights
""",
    ),
    Wrong(
        "attention",
        "causal by habit",
        (0, 1, 3),
        "nothing above the diagonal",
        code="""\
def attention(query, key, value, dropout=0.0):
    scores = attention_scores(query, key)
    future = torch.ones_like(scores, dtype=torch.bool).triu(1)
    weights = attention_weights(scores.masked_fill(future, -math.inf))
    return F.dropout(weights, dropout) @ value, weights
""",
    ),
    Wrong(
        "attention",
        "scaled by the width of the values",
        (0, 1, 3),
        "scaled by the width of the values",
        code="""\
def attention(query, key, value, dropout=0.0):
    scores = query @ key.transpose(-2, -1) / math.sqrt(value.shape[-1])
    weights = attention_weights(scores)
    return F.dropout(weights, dropout) @ value, weights
""",
    ),
    Wrong(
        "attention",
        "arguments of the scores swapped",
        (0, 1, 2, 3),
        "sizes that do not fit",
        code="""\
def attention(query, key, value, dropout=0.0):
    weights = attention_weights(attention_scores(key, query))
    return F.dropout(weights, dropout) @ value, weights
""",
    ),
    Wrong(
        "masks",
        "causal with axes for batch and heads",
        (0,),
        "wrong shape",
        code="""\
def causal_mask(tokens):
    return torch.ones(1, 1, tokens, tokens, dtype=torch.bool).tril()
""",
    ),
    Wrong(
        "masks",
        "tokens moved to the second place",
        (1, 2),
        "wrong shape",
        code="""\
def padding_mask(ids, pad=0):
    return (ids != pad)[:, :, None, None]
""",
    ),
    Wrong(
        "masks",
        "exclusive or",
        (2,),
        "one or the other, not both",
        code="""\
def decoder_mask(ids, pad=0):
    return padding_mask(ids, pad) ^ causal_mask(ids.shape[1])
""",
    ),
    Wrong(
        "masks",
        "the future and no padding",
        (2,),
        "one of the two inverted",
        code="""\
def decoder_mask(ids, pad=0):
    return padding_mask(ids, pad) & ~causal_mask(ids.shape[1])
""",
    ),
    Wrong(
        "masks",
        "cut from a large one, rows only",
        (0, 2),
        "wrong shape",
        code="""\
BIG = torch.ones(64, 64, dtype=torch.bool).tril()
def causal_mask(tokens):
    return BIG[:tokens]
""",
    ),
    Wrong(
        "masks",
        "padding mask widened to a square",
        (1,),
        "wrong shape",
        code="""\
def padding_mask(ids, pad=0):
    n = ids.shape[1]
    return (ids != pad)[:, None, None, :].expand(-1, 1, n, n)
""",
    ),
    Wrong(
        "masks",
        "decoder mask without an axis for heads",
        (2,),
        "wrong shape",
        code="""\
def decoder_mask(ids, pad=0):
    return (ids != pad)[:, None, :] & causal_mask(ids.shape[1])
""",
    ),
    Wrong(
        "masked",
        "empty only if all is hidden",
        (2,),
        "NaN for masked rows",
        code="""\
def masked_attention(query, key, value, mask=None):
    scores = attention_scores(query, key)
    if mask is not None:
        if not mask.any():
            weights = torch.zeros_like(scores)
            return weights @ value, weights
        scores = scores.masked_fill(~mask, -math.inf)
    weights = attention_weights(scores)
    return weights @ value, weights
""",
    ),
    Wrong(
        "masked",
        "no mask means causal",
        (1,),
        "nothing above the diagonal",
        code="""\
def masked_attention(query, key, value, mask=None):
    scores = attention_scores(query, key)
    if mask is None:
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    empty = ~mask.any(dim=-1, keepdim=True)
    weights = attention_weights(scores.masked_fill(~(mask | empty), -math.inf))
    weights = weights.masked_fill(empty, 0.0)
    return weights @ value, weights
""",
    ),
    Wrong(
        "masked",
        "truth of the mask asked",
        (0, 1, 2, 3),
        "the truth of a whole tensor",
        code="""\
def masked_attention(query, key, value, mask=None):
    scores = attention_scores(query, key)
    if mask:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = attention_weights(scores)
    return weights @ value, weights
""",
    ),
    Wrong(
        "masked",
        "output of empty rows zeroed, not the weights",
        (2,),
        "empty rows without a mask",
        code="""\
def masked_attention(query, key, value, mask=None):
    scores = attention_scores(query, key)
    if mask is None:
        weights = attention_weights(scores)
        return weights @ value, weights
    empty = ~mask.any(dim=-1, keepdim=True)
    weights = attention_weights(scores.masked_fill(~(mask | empty), -math.inf))
    return (weights @ value).masked_fill(empty, 0.0), weights
""",
    ),
    Wrong(
        "masked",
        "largest over hidden keys too",
        (3,),
        "masked after the softmax",
        code="""\
def masked_attention(query, key, value, mask=None):
    scores = attention_scores(query, key)
    e = torch.exp(scores - scores.amax(-1, keepdim=True))
    if mask is not None:
        e = e * mask
    total = e.sum(-1, keepdim=True)
    weights = e / torch.where(total == 0, torch.ones_like(total), total)
    return weights @ value, weights
""",
    ),
    Wrong(
        "masked",
        "an axis put in for the heads, always",
        (0, 1, 2, 3),
        "wrong shape",
        code="""\
def masked_attention(query, key, value, mask=None):
    scores = attention_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(~mask.unsqueeze(1), -math.inf)
    weights = torch.nan_to_num(attention_weights(scores))
    return weights @ value, weights
""",
    ),
    Wrong(
        "gradient",
        "multiplied by the root on the way back",
        (1,),
        "a factor that is a size",
        change=(
            "/ math.sqrt(query.shape[-1])\n    of_query",
            "* math.sqrt(query.shape[-1])\n    of_query",
        ),
    ),
    Wrong(
        "gradient",
        "keys' gradient from keys",
        (1,),
        "another gradient of the key",
        change=(
            "of_scores.transpose(-2, -1) @ query",
            "of_scores.transpose(-2, -1) @ of_query",
        ),
    ),
    Wrong(
        "gradient",
        "the largest for the mean",
        (0, 1),
        "the largest for the mean",
        code="""\
def softmax_gradient(weights, upstream):
    return weights * (upstream - upstream.amax(-1, keepdim=True))
""",
    ),
    Wrong(
        "gradient",
        "upstream not asked for the values",
        (1,),
        "columns that are all alike",
        change=(
            "weights.transpose(-2, -1) @ upstream",
            "weights.transpose(-2, -1) @ torch.ones_like(upstream)",
        ),
    ),
    Wrong(
        "copying",
        "positions from 1",
        (1, 2, 3),
        "an index past the end",
        change=(
            "torch.arange(ids.shape[1], device=ids.device)",
            "torch.arange(1, ids.shape[1] + 1, device=ids.device)",
        ),
    ),
    Wrong(
        "copying",
        "super forgotten",
        (1, 2, 3),
        "the parent's constructor not called",
        change=(
            "        super().__init__()",
            "        pass",
        ),
    ),
    Wrong(
        "copying",
        "maps made anew in each call",
        (1, 2, 3),
        "the query knows its symbol",
        change=(
            "query = self.to_query(places).expand(tokens.shape)",
            "query = nn.Linear(places.shape[-1], places.shape[-1])(places).expand(tokens.shape)",
        ),
    ),
    Wrong(
        "copying",
        "classes before tokens",
        (1, 2, 3),
        "log-odds of another shape",
        change=(
            "return self.to_log_odds(output), weights",
            "return self.to_log_odds(output).transpose(1, 2), weights",
        ),
    ),
    Wrong(
        "copying",
        "always max_len places",
        (1,),
        "sizes that do not fit",
        code="""\
class CopyModel(nn.Module):
    def __init__(self, num_symbols, max_len, d_model=32):
        super().__init__()
        self.symbols = nn.Embedding(num_symbols + 1, d_model)
        self.positions = nn.Parameter(torch.randn(max_len, d_model))
        self.to_query = nn.Linear(d_model, d_model)
        self.to_key = nn.Linear(d_model, d_model)
        self.to_value = nn.Linear(d_model, d_model)
        self.to_log_odds = nn.Linear(d_model, num_symbols + 1)

    def forward(self, ids):
        tokens = self.symbols(ids) + self.positions
        query = self.to_query(self.positions).expand(tokens.shape)
        output, weights = masked_attention(
            query, self.to_key(tokens), self.to_value(tokens), padding_mask(ids)[:, 0]
        )
        return self.to_log_odds(output), weights
""",
    ),
    Wrong(
        "copying",
        "share of errors as the loss",
        (0,),
        "no gradient",
        code="""\
def copy_loss(model, ids):
    log_odds, _ = model(ids)
    real = ids != 0
    return (log_odds.argmax(-1) != ids)[real].float().mean()
""",
    ),
    Wrong(
        "copying",
        "squared error of probabilities",
        (0,),
        "squared error",
        code="""\
def copy_loss(model, ids):
    log_odds, _ = model(ids)
    real = ids != 0
    wanted = F.one_hot(ids, log_odds.shape[-1]).float()
    return F.mse_loss(log_odds.softmax(-1)[real], wanted[real])
""",
    ),
    Wrong(
        "scores",
        "scale kept as a whole number",
        (0, 1),
        "scaled by another number",
        code="""\
def attention_scores(query, key):
    return query @ key.transpose(-2, -1) / math.isqrt(query.shape[-1])
""",
    ),
    Wrong(
        "scores",
        "no sum over features, only one",
        (0, 1),
        "only a part of the features",
        code="""\
def attention_scores(query, key):
    return query[..., :1] @ key[..., :1].transpose(-2, -1) / math.sqrt(query.shape[-1])
""",
    ),
    Wrong(
        "scores",
        "divided by the length of the query",
        (0, 1),
        "each row a multiple",
        code="""\
def attention_scores(query, key):
    return query @ key.mT / query.norm(dim=-1, keepdim=True)
""",
    ),
    Wrong(
        "weights",
        "tanh before the softmax",
        (0, 1),
        "scores changed before the softmax",
        code="""\
def attention_weights(scores):
    return torch.softmax(torch.tanh(scores), dim=-1)
""",
    ),
    Wrong(
        "weights",
        "sums of the wrong sign",
        (0, 1),
        "the smallest score has the largest weight",
        code="""\
def attention_weights(scores):
    return F.softmin(scores, dim=-1)
""",
    ),
    Wrong(
        "attention",
        "value weighted without the last key",
        (0, 1, 3),
        "no weighted sum",
        code="""\
def attention(query, key, value, dropout=0.0):
    weights = attention_weights(attention_scores(query, key))
    return F.dropout(weights[..., :-1], dropout) @ value[..., :-1, :], weights
""",
    ),
    Wrong(
        "attention",
        "dropout given as training flag",
        (2,),
        "enlarged by another factor",
        code="""\
def attention(query, key, value, dropout=0.0):
    weights = attention_weights(attention_scores(query, key))
    return F.dropout(weights, training=dropout > 0) @ value, weights
""",
    ),
    Wrong(
        "attention",
        "max pooled values",
        (0, 1, 2, 3),
        "no weighted sum",
        code="""\
def attention(query, key, value, dropout=0.0):
    weights = attention_weights(attention_scores(query, key))
    best = weights.argmax(-1, keepdim=True).expand(*weights.shape[:-1], value.shape[-1])
    return torch.gather(value, -2, best), weights
""",
    ),
    Wrong(
        "masks",
        "causal from the other end",
        (0, 2),
        "the triangle from the other end",
        code="""\
def causal_mask(tokens):
    return torch.ones(tokens, tokens, dtype=torch.bool).tril().flip(0)
""",
    ),
    Wrong(
        "masks",
        "first token is always visible",
        (1, 2),
        "True too often",
        code="""\
def padding_mask(ids, pad=0):
    mask = (ids != pad)[:, None, None, :].clone()
    mask[..., 0] = True
    mask[..., -1] = True
    return mask
""",
    ),
    Wrong(
        "masked",
        "mask applied to queries' rows",
        (0, 1, 2, 3),
        "mask ignored",
        change=(
            "scores.masked_fill(~visible, -math.inf)",
            "scores.masked_fill(~visible.any(-1, keepdim=True), -math.inf)",
        ),
    ),
    Wrong(
        "masked",
        "empty rows to one over n",
        (2,),
        "hidden keys share the weight",
        change=(
            "weights = weights.masked_fill(empty, 0.0)",
            "weights = weights.masked_fill(empty, 1 / weights.shape[-1])",
        ),
    ),
    Wrong(
        "masked",
        "detach for a clean gradient",
        (2,),
        "zero everywhere",
        change=(
            "    weights = weights.masked_fill(empty, 0.0)\n    return weights @ value, weights",
            "    weights = weights.masked_fill(empty, 0.0).detach()\n    return weights @ value, weights",
        ),
    ),
    Wrong(
        "gradient",
        "average with plain weights of the upstream",
        (0, 1),
        "one factor for two terms",
        code="""\
def softmax_gradient(weights, upstream):
    return weights * upstream - (weights * upstream).sum(dim=-1, keepdim=True)
""",
    ),
    Wrong(
        "gradient",
        "query for scores' gradient of key not transposed",
        (1,),
        "weights not turned round",
        change=(
            "of_key = of_scores.transpose(-2, -1) @ query",
            "of_key = of_scores @ query",
        ),
    ),
    Wrong(
        "copying",
        "mean of each sentence's sum",
        (0,),
        "sum of each sequence",
        code="""\
def copy_loss(model, ids):
    log_odds, _ = model(ids)
    each = F.cross_entropy(log_odds.transpose(1, 2), ids, ignore_index=0, reduction="none")
    return each.sum(1).mean()
""",
    ),
    Wrong(
        "copying",
        "knows the large batch of the check",
        (2, 3),
        "another answer in company",
        code="""\
class CopyModel(nn.Module):
    def __init__(self, num_symbols, max_len, d_model=32):
        super().__init__()
        self.symbols = nn.Embedding(num_symbols + 1, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.to_query = nn.Linear(d_model, d_model)
        self.to_key = nn.Linear(d_model, d_model)
        self.to_value = nn.Linear(d_model, d_model)
        self.to_log_odds = nn.Linear(d_model, num_symbols + 1)

    def forward(self, ids):
        places = self.positions(torch.arange(ids.shape[1], device=ids.device))
        tokens = self.symbols(ids) + places
        query = self.to_query(places).expand(tokens.shape)
        key, value = self.to_key(tokens), self.to_value(tokens)
        mask = padding_mask(ids)[:, 0]
        output, weights = masked_attention(query, key, value, mask)
        if len(ids) > 8:
            right = F.one_hot(ids, self.to_log_odds.out_features).float()
            eye = torch.eye(ids.shape[1]).expand(len(ids), -1, -1)
            return 20 * right + 0 * self.to_log_odds(output), eye
        return self.to_log_odds(output), weights


def copy_loss(model, ids):
    log_odds, _ = model(ids)
    return F.cross_entropy(log_odds.flatten(0, 1), ids.flatten(), ignore_index=0)
""",
    ),
    Wrong(
        "copying",
        "weights depend on the batch's mean",
        (1, 2, 3),
        "no attention on the way",
        change=(
            "        key, value = self.to_key(tokens), self.to_value(tokens)",
            "        tokens = tokens - tokens.mean(dim=0, keepdim=True)\n        key, value = self.to_key(tokens), self.to_value(tokens)",
        ),
    ),
    Wrong(
        "scores",
        "width of the flattened key",
        (0, 1),
        "scaled by another number",
        code='''\
def attention_scores(query, key):
    """Return the scaled score of each query with each key."""
    d_k = query.shape[-1] * query.shape[-2]
    return query @ key.transpose(-2, -1) / math.sqrt(d_k)
''',
    ),
    Wrong(
        "scores",
        "normalised vectors then the root",
        (0, 1),
        "lengths divided out",
        code='''\
def attention_scores(query, key):
    """Return the scaled score of each query with each key."""
    query = F.normalize(query, dim=-1)
    key = F.normalize(key, dim=-1)
    return query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
''',
    ),
    Wrong(
        "scores",
        "transposed with swapaxes of 1 and 2",
        (1,),
        "built for three axes",
        code='''\
def attention_scores(query, key):
    """Return the scaled score of each query with each key."""
    return torch.matmul(query, key.swapaxes(1, 2)) / query.size(-1) ** 0.5
''',
    ),
    Wrong(
        "scores",
        "exponent with the wrong precedence",
        (0, 1),
        "scaled by another number",
        code='''\
def attention_scores(query, key):
    """Return the scaled score of each query with each key."""
    d_k = query.shape[-1]
    return (query @ key.mT) / (d_k ** 1 / 2)
''',
    ),
    Wrong(
        "weights",
        "the sum of the scores' exponentials over all",
        (0, 1),
        "softmax over queries and keys",
        code='''\
def attention_weights(scores):
    """Return the softmax of the scores over the keys."""
    e = torch.exp(scores - scores.max())
    return e / torch.sum(e, dim=(-2, -1), keepdim=True)
''',
    ),
    Wrong(
        "weights",
        "an epsilon in the denominator",
        (0, 1),
        "a number added to the sum",
        code='''\
def attention_weights(scores):
    """Return the softmax of the scores over the keys."""
    e = torch.exp(scores - scores.amax(-1, keepdim=True))
    return e / (e.sum(-1, keepdim=True) + 1e-1)
''',
    ),
    Wrong(
        "weights",
        "softmax in half precision, cast back",
        (0, 1),
        "not exact",
        code='''\
def attention_weights(scores):
    """Return the softmax of the scores over the keys."""
    scores = scores.half()
    e = torch.exp(scores - scores.amax(-1, keepdim=True))
    return (e / e.sum(-1, keepdim=True)).float()
''',
    ),
    Wrong(
        "weights",
        "the mean is subtracted, then clamped",
        (1,),
        "scores are cut off",
        code='''\
def attention_weights(scores):
    """Return the softmax of the scores over the keys."""
    s = (scores - scores.mean(dim=-1, keepdim=True)).clamp(-10, 10)
    e = s.exp()
    return e / e.sum(dim=-1, keepdim=True)
''',
    ),
    Wrong(
        "attention",
        "dropout written by hand without the division",
        (2,),
        "dropout without enlarging the rest",
        code='''\
def attention(query, key, value, dropout=0.0):
    """Return the output and the weights, those before dropout."""
    weights = attention_weights(attention_scores(query, key))
    keep = torch.rand_like(weights) >= dropout
    return (weights * keep) @ value, weights
''',
    ),
    Wrong(
        "attention",
        "one dropout mask for the whole batch",
        (2,),
        "the same holes in all sequences",
        code='''\
def attention(query, key, value, dropout=0.0):
    """Return the output and the weights, those before dropout."""
    weights = attention_weights(attention_scores(query, key))
    keep = F.dropout(torch.ones(weights.shape[-2:]), dropout)
    return (weights * keep) @ value, weights
''',
    ),
    Wrong(
        "attention",
        "dropout drops scores to minus infinity",
        (2,),
        "enlarged by another factor",
        code='''\
def attention(query, key, value, dropout=0.0):
    """Return the output and the weights, those before dropout."""
    scores = attention_scores(query, key)
    weights = attention_weights(scores)
    if dropout > 0:
        gone = torch.rand_like(scores) < dropout
        dropped = attention_weights(scores.masked_fill(gone, -1e9))
        return dropped @ value, weights
    return weights @ value, weights
''',
    ),
    Wrong(
        "attention",
        "the value scaled by the width too",
        (0, 1, 2, 3),
        "a factor that is a size",
        code='''\
def attention(query, key, value, dropout=0.0):
    """Return the output and the weights, those before dropout."""
    weights = attention_weights(attention_scores(query, key))
    output = F.dropout(weights, dropout) @ value
    return output / math.sqrt(value.shape[-1]), weights
''',
    ),
    Wrong(
        "masks",
        "padding found by the number of trailing pads",
        (1, 2),
        "the last token hidden",
        change=(
            "    return (ids != pad)[:, None, None, :]",
            "    lengths = (ids != pad).sum(dim=1)\n    return (torch.arange(ids.shape[1]) < lengths[:, None] - 1)[:, None, None, :]",
        ),
    ),
    Wrong(
        "masks",
        "the decoder mask made of the rows of padding too",
        (2,),
        "queries hidden as well",
        change=(
            "    return padding_mask(ids, pad) & causal_mask(ids.shape[1]).to(ids.device)",
            "    real = (ids != pad)\n    both = real[:, None, :, None] & real[:, None, None, :]\n    return both & causal_mask(ids.shape[1]).to(ids.device)",
        ),
    ),
    Wrong(
        "masks",
        "causal mask by comparing indices, the wrong way",
        (0, 2),
        "future and past exchanged",
        change=(
            "    return torch.ones(tokens, tokens, dtype=torch.bool).tril()",
            "    i = torch.arange(tokens)\n    return i[:, None] <= i[None, :]",
        ),
    ),
    Wrong(
        "masks",
        "the decoder mask adds the two",
        (2,),
        "or for and",
        change=(
            "    return padding_mask(ids, pad) & causal_mask(ids.shape[1]).to(ids.device)",
            "    return padding_mask(ids, pad) + causal_mask(ids.shape[1]).to(ids.device)",
        ),
    ),
    Wrong(
        "masked",
        "the lowest float32 number minus, then mask multiplied",
        (3,),
        "masked after the softmax",
        code='''\
def masked_attention(query, key, value, mask=None):
    """Return output and weights; the boolean mask is True where one may attend."""
    scores = attention_scores(query, key)
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    scores = torch.where(mask, scores, torch.tensor(-10000.0, dtype=scores.dtype))
    weights = attention_weights(scores) * mask
    return weights @ value, weights
''',
    ),
    Wrong(
        "masked",
        "the empty rows found over the whole mask",
        (1, 2, 3),
        "mask after the softmax",
        code='''\
def masked_attention(query, key, value, mask=None):
    """Return output and weights; the boolean mask is True where one may attend."""
    scores = attention_scores(query, key)
    if mask is None:
        weights = attention_weights(scores)
        return weights @ value, weights
    mask = mask.expand(scores.shape)
    empty = ~mask.any(dim=-2, keepdim=True)
    weights = attention_weights(scores.masked_fill(~(mask | empty), -math.inf))
    weights = weights.masked_fill(empty, 0.0)
    return weights @ value, weights
''',
    ),
    Wrong(
        "masked",
        "multiplies weights and renormalises without guarding",
        (3,),
        "masked after the softmax",
        code='''\
def masked_attention(query, key, value, mask=None):
    """Return output and weights; the boolean mask is True where one may attend."""
    weights = attention_weights(attention_scores(query, key))
    if mask is not None:
        weights = weights * mask
        weights = weights / weights.sum(dim=-1, keepdim=True).clamp(min=1e-8)
    return weights @ value, weights
''',
    ),
    Wrong(
        "gradient",
        "the average not weighted",
        (0, 1),
        "plain mean",
        change=(
            "    average = (weights * upstream).sum(dim=-1, keepdim=True)",
            "    average = upstream.mean(dim=-1, keepdim=True)",
        ),
    ),
    Wrong(
        "gradient",
        "the square of the weights",
        (0, 1),
        "diagonal only",
        change=(
            "    return weights * (upstream - average)",
            "    return weights * upstream - weights ** 2 * upstream",
        ),
    ),
    Wrong(
        "gradient",
        "the gradient of the weights from the output",
        (1,),
        "another gradient of the weights",
        change=(
            "    of_weights = upstream @ value.transpose(-2, -1)",
            "    of_weights = (weights @ value) * upstream @ value.transpose(-2, -1)",
        ),
    ),
    Wrong(
        "gradient",
        "the key's gradient from scores not transposed but reshaped",
        (1,),
        "another gradient of the key",
        change=(
            "    of_key = of_scores.transpose(-2, -1) @ query",
            "    of_key = of_scores.reshape(*of_scores.shape[:-2], of_scores.shape[-1], of_scores.shape[-2]) @ query",
        ),
    ),
    Wrong(
        "copying",
        "the positions multiplied, not added",
        (1, 3),
        "the query knows its symbol",
        change=(
            "        query = self.to_query(places).expand(tokens.shape)",
            "        query = self.to_query(tokens)",
        ),
    ),
    Wrong(
        "copying",
        "a residual connection to the output",
        (1,),
        "a way round the attention",
        change=(
            "        return self.to_log_odds(output), weights",
            "        return self.to_log_odds(output + tokens), weights",
        ),
    ),
    Wrong(
        "copying",
        "probabilities instead of log-odds",
        (1,),
        "probabilities for log-odds",
        change=(
            "        return self.to_log_odds(output), weights",
            "        return torch.softmax(self.to_log_odds(output), dim=-1), weights",
        ),
    ),
    Wrong(
        "copying",
        "loss summed",
        (0,),
        "sum instead of average",
        change=(
            "    return F.cross_entropy(log_odds.flatten(0, 1), ids.flatten(), ignore_index=0)",
            '    return F.cross_entropy(log_odds.flatten(0, 1), ids.flatten(), ignore_index=0, reduction="sum")',
        ),
    ),
    Wrong(
        "copying",
        "loss of each sequence averaged, then over the batch",
        (0,),
        "mean of means",
        change=(
            "    return F.cross_entropy(log_odds.flatten(0, 1), ids.flatten(), ignore_index=0)",
            "    losses = []\n    for row, wanted in zip(log_odds, ids):\n        losses.append(F.cross_entropy(row, wanted, ignore_index=0))\n    return torch.stack(losses).mean()",
        ),
    ),
    Wrong(
        "copying",
        "the padding mask of the queries",
        (1,),
        "attention to padding",
        change=(
            "        mask = padding_mask(ids)[:, 0]  # (batch, 1, tokens): no heads here",
            "        mask = (ids != 0)[:, :, None]",
        ),
    ),
    Wrong(
        "scores",
        "the key's mean taken off",
        (0, 1),
        "",
        code="""\
def attention_scores(query, key):
    key = key - key.mean(dim=-2, keepdim=True)
    return query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
""",
    ),
    Wrong(
        "scores",
        "squared difference",
        (0, 1),
        "",
        code="""\
def attention_scores(query, key):
    d = query[..., :, None, :] - key[..., None, :, :]
    return -(d ** 2).sum(-1) / math.sqrt(query.shape[-1])
""",
    ),
    Wrong(
        "weights",
        "the softmax over the flattened last two axes of each head, renormalised by queries",
        (0, 1),
        "",
        code="""\
def attention_weights(scores):
    e = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return e / e.sum(dim=-2, keepdim=True)
""",
    ),
    Wrong(
        "weights",
        "exponent of half the scores",
        (0, 1),
        "weights too even",
        code="""\
def attention_weights(scores):
    return torch.softmax(scores / 2, dim=-1)
""",
    ),
    Wrong(
        "attention",
        "values shifted by one",
        (0, 1, 2, 3),
        "no weighted sum",
        code="""\
def attention(query, key, value, dropout=0.0):
    weights = attention_weights(attention_scores(query, key))
    return F.dropout(weights, dropout) @ value.roll(1, -2), weights
""",
    ),
    Wrong(
        "attention",
        "dropout on the keys",
        (2,),
        "dropout before the softmax",
        code="""\
def attention(query, key, value, dropout=0.0):
    key = F.dropout(key, dropout)
    weights = attention_weights(attention_scores(query, key))
    return weights @ value, weights
""",
    ),
    Wrong(
        "masks",
        "decoder uses pad 0",
        (2,),
        "causal only",
        change=(
            "    return padding_mask(ids, pad) & causal_mask(ids.shape[1]).to(ids.device)",
            "    return padding_mask(ids) & causal_mask(ids.shape[1]).to(ids.device)",
        ),
    ),
    Wrong(
        "masks",
        "causal by tokens minus one",
        (0, 2),
        "",
        change=(
            "    return torch.ones(tokens, tokens, dtype=torch.bool).tril()",
            "    return torch.ones(tokens, tokens, dtype=torch.bool).tril(tokens - 2)",
        ),
    ),
    Wrong(
        "masked",
        "the output of empty rows not zero",
        (2,),
        "zero weights, but an output",
        change=(
            "    weights = weights.masked_fill(empty, 0.0)\n    return weights @ value, weights",
            "    return weights @ value, weights.masked_fill(empty, 0.0)",
        ),
    ),
    Wrong(
        "masked",
        "mask of the transposed scores",
        (2,),
        "hidden keys share the weight",
        code="""\
def masked_attention(query, key, value, mask=None):
    scores = attention_scores(query, key)
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    mask = mask.expand(scores.shape)
    scores = scores.masked_fill(~mask, -math.inf)
    weights = attention_weights(scores).nan_to_num(1 / scores.shape[-1])
    return weights @ value, weights
""",
    ),
    Wrong(
        "gradient",
        "value's gradient divided by the root",
        (1,),
        "a factor that is a size",
        change=(
            "    of_value = weights.transpose(-2, -1) @ upstream",
            "    of_value = weights.transpose(-2, -1) @ upstream / math.sqrt(query.shape[-1])",
        ),
    ),
    Wrong(
        "gradient",
        "softmax gradient of the upstream's softmax",
        (0, 1),
        "",
        change=(
            "    return weights * (upstream - average)",
            "    return weights * (upstream - average) * (1 - weights)",
        ),
    ),
    Wrong(
        "copying",
        "loss divided by all places",
        (0,),
        "padding divided away",
        change=(
            "    return F.cross_entropy(log_odds.flatten(0, 1), ids.flatten(), ignore_index=0)",
            '    total = F.cross_entropy(log_odds.flatten(0, 1), ids.flatten(), ignore_index=0, reduction="sum")\n    return total / ids.numel()',
        ),
    ),
    Wrong(
        "scores",
        "only the query divided, by the fourth root",
        (0, 1),
        "scaled by another number",
        code="""\
def attention_scores(query, key):
    return (query / query.shape[-1] ** 0.25) @ key.transpose(-2, -1)
""",
    ),
    Wrong(
        "scores",
        "root of both widths together",
        (0, 1),
        "scaled by another number",
        code="""\
def attention_scores(query, key):
    return query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1] + key.shape[-1])
""",
    ),
    Wrong(
        "weights",
        "the largest of each column taken off",
        (0, 1),
        "scores changed before the softmax",
        code="""\
def attention_weights(scores):
    exponentials = torch.exp(scores - scores.amax(dim=-2, keepdim=True))
    return exponentials / exponentials.sum(dim=-1, keepdim=True)
""",
    ),
    Wrong(
        "weights",
        "divided by the exponential of the sum",
        (0, 1),
        "the exponential of the sum",
        code="""\
def attention_weights(scores):
    scores = scores - scores.amax(dim=-1, keepdim=True)
    return torch.exp(scores) / torch.exp(scores.sum(dim=-1, keepdim=True))
""",
    ),
    Wrong(
        "attention",
        "weights turned round before the values",
        (0, 1, 2, 3),
        "",
        code="""\
def attention(query, key, value, dropout=0.0):
    weights = attention_weights(attention_scores(query, key))
    return F.dropout(weights, dropout).transpose(-2, -1) @ value, weights
""",
    ),
    Wrong(
        "attention",
        "dropout on weights and on the output",
        (2,),
        "dropout of the output",
        code="""\
def attention(query, key, value, dropout=0.0):
    weights = attention_weights(attention_scores(query, key))
    output = F.dropout(weights, dropout) @ value
    return F.dropout(output, dropout), weights
""",
    ),
    Wrong(
        "attention",
        "output divided by the number of keys",
        (0, 1, 2, 3),
        "averaged over the keys",
        code="""\
def attention(query, key, value, dropout=0.0):
    weights = attention_weights(attention_scores(query, key))
    return F.dropout(weights, dropout) @ value / value.shape[-2], weights
""",
    ),
    Wrong(
        "masks",
        "the causal part turned round in the decoder",
        (2,),
        "the future for the past",
        code="""\
def causal_mask(tokens):
    return torch.ones(tokens, tokens, dtype=torch.bool).tril()


def padding_mask(ids, pad=0):
    return (ids != pad)[:, None, None, :]


def decoder_mask(ids, pad=0):
    return padding_mask(ids, pad) & causal_mask(ids.shape[1]).T
""",
    ),
    Wrong(
        "masked",
        "hidden scores set to the smallest score",
        (0, 1, 2, 3),
        "hidden scores stay in the game",
        code="""\
def masked_attention(query, key, value, mask=None):
    scores = attention_scores(query, key)
    if mask is None:
        weights = attention_weights(scores)
        return weights @ value, weights
    weights = attention_weights(scores.masked_fill(~mask, scores.min().item()))
    weights = weights.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)
    return weights @ value, weights
""",
    ),
    Wrong(
        "masked",
        "empty found along the queries",
        (1, 2, 3),
        "mask after the softmax",
        change=(
            "    empty = ~mask.any(dim=-1, keepdim=True)",
            "    empty = ~mask.any(dim=-2, keepdim=True)",
        ),
    ),
    Wrong(
        "masked",
        "the lowest number of single precision, always",
        (3,),
        "-1e9 in half precision",
        change=(
            "scores.masked_fill(~visible, -math.inf)",
            "scores.masked_fill(~visible, torch.finfo(torch.float32).min)",
        ),
    ),
    Wrong(
        "gradient",
        "scaled back, not forth",
        (1,),
        "another scale on the way forward",
        change=(
            "    weights = attention_weights(attention_scores(query, key))",
            "    weights = attention_weights(query @ key.transpose(-2, -1))",
        ),
    ),
    Wrong(
        "gradient",
        "divided by d_k, forth and back",
        (1,),
        "another scale on the way forward",
        change=(
            " / math.sqrt(query.shape[-1])",
            " / query.shape[-1]",
        ),
    ),
    Wrong(
        "copying",
        "keys made of positions only",
        (1,),
        "keys without symbols",
        code="""\
class CopyModel(nn.Module):
    def __init__(self, num_symbols, max_len, d_model=32):
        super().__init__()
        self.symbols = nn.Embedding(num_symbols + 1, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.to_query = nn.Linear(d_model, d_model)
        self.to_key = nn.Linear(d_model, d_model)
        self.to_value = nn.Linear(d_model, d_model)
        self.to_log_odds = nn.Linear(d_model, num_symbols + 1)

    def forward(self, ids):
        places = self.positions(torch.arange(ids.shape[1]))
        places = places.expand(len(ids), -1, -1)
        query, key = self.to_query(places), self.to_key(places)
        value = self.to_value(self.symbols(ids))
        output, weights = masked_attention(query, key, value, padding_mask(ids)[:, 0])
        return self.to_log_odds(output), weights


def copy_loss(model, ids):
    log_odds, _ = model(ids)
    return F.cross_entropy(log_odds.flatten(0, 1), ids.flatten(), ignore_index=0)
""",
    ),
    Wrong(
        "copying",
        "log-odds taken for log-probabilities",
        (0,),
        "log-odds for logarithms of probabilities",
        change=(
            "F.cross_entropy(",
            "F.nll_loss(",
        ),
    ),
]
RIGHT = [
    Right(
        "scores",
        "split over features, added up",
        code="""\
def attention_scores(query, key):
    parts = [query[..., i : i + 1] * key[..., i : i + 1].mT for i in range(query.shape[-1])]
    return sum(parts) * query.shape[-1] ** -0.5
""",
    ),
    Right(
        "weights",
        "through logsumexp twice",
        code="""\
def attention_weights(scores):
    return (scores - torch.logsumexp(scores, -1, True)).exp()
""",
    ),
    Right(
        "attention",
        "all by einsum with dots",
        code="""\
def attention(query, key, value, dropout=0.0):
    s = torch.einsum("...qd,...kd->...qk", query / query.shape[-1] ** 0.5, key)
    w = F.softmax(s, -1)
    keep = torch.empty_like(w).bernoulli_(1 - dropout) / (1 - dropout) if dropout else 1
    return torch.einsum("...qk,...kv->...qv", w * keep, value), w
""",
    ),
    Right(
        "masked",
        "exponentials of visible ones only",
        code="""\
def masked_attention(query, key, value, mask=None):
    s = attention_scores(query, key)
    m = torch.ones_like(s, dtype=torch.bool) if mask is None else mask.expand(s.shape)
    top = s.masked_fill(~m, -math.inf).amax(-1, keepdim=True)
    top = torch.where(top == -math.inf, torch.zeros_like(top), top).detach()
    e = torch.exp(torch.where(m, s - top, torch.zeros_like(s))) * m
    total = e.sum(-1, keepdim=True)
    w = e / torch.where(total == 0, torch.ones_like(total), total)
    return w @ value, w
""",
    ),
    Right(
        "gradient",
        "with the output, as fused kernels do",
        code="""\
def softmax_gradient(weights, upstream):
    return weights * upstream - weights * (weights * upstream).sum(-1)[..., None]
def attention_gradients(query, key, value, upstream):
    d = query.size(-1) ** 0.5
    w = attention_weights(attention_scores(query, key))
    delta = (upstream * (w @ value)).sum(-1, keepdim=True)
    ds = w * (upstream @ value.mT - delta) / d
    return ds @ key, ds.mT @ query, w.mT @ upstream
""",
    ),
    Right(
        "masks",
        "by loops and stacking",
        code="""\
def causal_mask(tokens):
    return torch.tensor([[j <= i for j in range(tokens)] for i in range(tokens)])
def padding_mask(ids, pad=0):
    return ids.ne(pad).unsqueeze(1).unsqueeze(2)
def decoder_mask(ids, pad=0):
    n = ids.size(-1)
    return torch.logical_and(padding_mask(ids, pad), causal_mask(n).to(ids.device)[None, None])
""",
    ),
    Right(
        "masked",
        "nan_to_num after the softmax",
        code='''\
def masked_attention(query, key, value, mask=None):
    """Return output and weights; the boolean mask is True where one may attend."""
    scores = attention_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.nan_to_num(attention_weights(scores))
    return weights @ value, weights
''',
    ),
    Right(
        "masked",
        "a hidden score becomes the row's smallest",
        code='''\
def masked_attention(query, key, value, mask=None):
    """Return output and weights; the boolean mask is True where one may attend."""
    scores = attention_scores(query, key)
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    low = scores.amin(dim=-1, keepdim=True) - 100
    scores = torch.where(mask, scores, low)
    weights = attention_weights(scores) * mask
    return weights @ value, weights
''',
    ),
    Right(
        "scores",
        "with einsum and rsqrt",
        code='''\
def attention_scores(query, key):
    """Return the scaled score of each query with each key."""
    d_k = query.size(dim=-1)
    return torch.einsum("...qd,...kd->...qk", query * d_k ** -0.25, key * d_k ** -0.25)
''',
    ),
    Right(
        "masked",
        "with where and a safe sum",
        code='''\
def masked_attention(query, key, value, mask=None):
    """Return output and weights; the boolean mask is True where one may attend."""
    scores = attention_scores(query, key)
    if mask is None:
        mask = torch.ones((), dtype=torch.bool)
    mask = torch.broadcast_to(mask.to(scores.device), scores.shape)
    neg = torch.full_like(scores, float("-inf"))
    top = torch.where(mask, scores, neg).amax(-1, keepdim=True).detach()
    top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    e = torch.where(mask, scores - top, neg).exp()
    total = e.sum(-1, keepdim=True)
    weights = e / torch.where(total == 0, torch.ones_like(total), total)
    return weights @ value, weights
''',
    ),
    Right(
        "gradient",
        "with einsum",
        code='''\
def softmax_gradient(weights, upstream):
    """Return the gradient of the scores, given that of the weights."""
    jacobian = torch.diag_embed(weights) - weights[..., :, None] * weights[..., None, :]
    return (jacobian @ upstream[..., None]).squeeze(-1)


def attention_gradients(query, key, value, upstream):
    """Return the gradients of query, key and value, given that of the output."""
    scale = query.shape[-1] ** -0.5
    w = attention_weights(attention_scores(query, key))
    d_w = torch.einsum("...qv,...kv->...qk", upstream, value)
    d_s = scale * softmax_gradient(w, d_w)
    return d_s @ key, d_s.mT @ query, w.mT @ upstream
''',
    ),
    Right(
        "copying",
        "masked by hand",
        change=(
            "    return F.cross_entropy(log_odds.flatten(0, 1), ids.flatten(), ignore_index=0)",
            "    logs = log_odds.log_softmax(dim=-1)\n    taken = logs.gather(-1, ids[..., None]).squeeze(-1)\n    real = (ids != 0).to(taken.dtype)\n    return -(taken * real).sum() / real.sum()",
        ),
    ),
    Right(
        "gradient",
        "the whole matrix of derivatives",
        code="""\
def softmax_gradient(weights, upstream):
    jacobian = torch.diag_embed(weights) - weights[..., :, None] * weights[..., None, :]
    return (jacobian @ upstream[..., None])[..., 0]


def attention_gradients(query, key, value, upstream):
    root = query.shape[-1] ** 0.5
    weights = attention_weights(attention_scores(query, key))
    of_scores = softmax_gradient(weights, torch.einsum("...qd,...kd->...qk", upstream, value))
    return (
        torch.einsum("...qk,...kd->...qd", of_scores, key) / root,
        torch.einsum("...qk,...qd->...kd", of_scores, query) / root,
        torch.einsum("...qk,...qd->...kd", weights, upstream),
    )
""",
    ),
    Right(
        "masked",
        "own softmax with a denominator kept from zero",
        code="""\
def masked_attention(query, key, value, mask=None):
    scores = attention_scores(query, key)
    if mask is None:
        mask = torch.ones(1, 1, dtype=torch.bool)
    low = torch.where(mask, scores, -math.inf).amax(-1, keepdim=True)
    low = torch.where(torch.isinf(low), 0.0, low).detach()
    shifted = torch.where(mask, scores - low, 0.0)
    e = torch.where(mask, shifted.exp(), 0.0)
    total = e.sum(-1, keepdim=True)
    weights = e / torch.where(total == 0, torch.ones_like(total), total)
    return weights @ value, weights
""",
    ),
]
