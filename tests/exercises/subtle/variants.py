"""Answers to exercise 3 that look right at first sight, and right ones that do not."""

from tests.exercises.answers import Right, Wrong

WRONG = [
    Wrong(
        "products",
        "project the query",
        (2,),
        "matrix on the wrong side",
        code="""\
class Dot(nn.Module):
    def forward(self, query, key):
        return query @ key.mT


class ScaledDot(nn.Module):
    def forward(self, query, key):
        return query @ key.mT / math.sqrt(query.shape[-1])


class General(nn.Module):
    def __init__(self, query_dim, key_dim):
        super().__init__()
        self.project = nn.Linear(key_dim, query_dim, bias=False)

    def forward(self, query, key):
        return self.project(query) @ key.mT
""",
    ),
    Wrong(
        "products",
        "weight without transposing",
        (2,),
        "matrix on the wrong side",
        code="""\
class Dot(nn.Module):
    def forward(self, query, key):
        return query @ key.mT


class ScaledDot(nn.Module):
    def forward(self, query, key):
        return query @ key.mT / math.sqrt(query.shape[-1])


class General(nn.Module):
    def __init__(self, query_dim, key_dim):
        super().__init__()
        self.project = nn.Linear(key_dim, query_dim, bias=False)

    def forward(self, query, key):
        return query @ (self.project.weight @ key.mT).mT
""",
    ),
    Wrong(
        "products",
        "numpy",
        (0,),
        "wrong type",
        code="""\
class Dot(nn.Module):
    def forward(self, query, key):
        return query.detach().numpy() @ key.detach().numpy().swapaxes(1, 2)


class ScaledDot(nn.Module):
    def forward(self, query, key):
        return query @ key.mT / math.sqrt(query.shape[-1])


class General(nn.Module):
    def __init__(self, query_dim, key_dim):
        super().__init__()
        self.project = nn.Linear(key_dim, query_dim, bias=False)

    def forward(self, query, key):
        return query @ self.project(key).mT
""",
    ),
    Wrong(
        "products",
        "outer difference",
        (0,),
        "distances for products",
        code="""\
class Dot(nn.Module):
    def forward(self, query, key):
        return -(query[:, :, None] - key[:, None]).square().sum(-1)


class ScaledDot(nn.Module):
    def forward(self, query, key):
        return query @ key.mT / math.sqrt(query.shape[-1])


class General(nn.Module):
    def __init__(self, query_dim, key_dim):
        super().__init__()
        self.project = nn.Linear(key_dim, query_dim, bias=False)

    def forward(self, query, key):
        return query @ self.project(key).mT
""",
    ),
    Wrong(
        "products",
        "relu",
        (0,),
        "negative scores lost",
        code="""\
class Dot(nn.Module):
    def forward(self, query, key):
        return torch.relu(query @ key.mT)


class ScaledDot(nn.Module):
    def forward(self, query, key):
        return query @ key.mT / math.sqrt(query.shape[-1])


class General(nn.Module):
    def __init__(self, query_dim, key_dim):
        super().__init__()
        self.project = nn.Linear(key_dim, query_dim, bias=False)

    def forward(self, query, key):
        return query @ self.project(key).mT
""",
    ),
    Wrong(
        "products",
        "batch mixed",
        (0,),
        "sentences added up",
        code="""\
class Dot(nn.Module):
    def forward(self, query, key):
        return torch.einsum("bqd,ckd->bqk", query, key)


class ScaledDot(nn.Module):
    def forward(self, query, key):
        return query @ key.mT / math.sqrt(query.shape[-1])


class General(nn.Module):
    def __init__(self, query_dim, key_dim):
        super().__init__()
        self.project = nn.Linear(key_dim, query_dim, bias=False)

    def forward(self, query, key):
        return query @ self.project(key).mT
""",
    ),
    Wrong(
        "products",
        "detach in general",
        (2,),
        "cut off from the gradient",
        code="""\
class Dot(nn.Module):
    def forward(self, query, key):
        return query @ key.mT


class ScaledDot(nn.Module):
    def forward(self, query, key):
        return query @ key.mT / math.sqrt(query.shape[-1])


class General(nn.Module):
    def __init__(self, query_dim, key_dim):
        super().__init__()
        self.project = nn.Linear(key_dim, query_dim, bias=False)

    def forward(self, query, key):
        return query @ self.project(key).mT.detach()
""",
    ),
    Wrong(
        "attend",
        "mask on queries too, renormalised",
        (0, 1, 2),
        "a multiple",
        code="""\
class Attention(nn.Module):
    def __init__(self, score):
        super().__init__()
        self.score = score

    def forward(self, memory, states, mask):
        scores = self.score(states, memory)
        w = scores.softmax(-1) * mask[:, None]
        w = w / (w.sum(-1, keepdim=True) + 1e-2)
        return w @ memory, w
""",
    ),
    Wrong(
        "attend",
        "one result",
        (0, 1, 2),
        "only one result",
        code="""\
class Attention(nn.Module):
    def __init__(self, score):
        super().__init__()
        self.score = score

    def forward(self, memory, states, mask):
        scores = self.score(states, memory).masked_fill(
            ~mask[:, None], -math.inf
        )
        return scores.softmax(-1) @ memory
""",
    ),
    Wrong(
        "attend",
        "first sentence's mask",
        (1, 2),
        "one sentence's mask for all",
        code="""\
class Attention(nn.Module):
    def __init__(self, score):
        super().__init__()
        self.score = score

    def forward(self, memory, states, mask):
        scores = self.score(states, memory).masked_fill(
            ~mask[:1, None], -math.inf
        )
        w = scores.softmax(-1)
        return w @ memory, w
""",
    ),
    Wrong(
        "attend",
        "states summed",
        (0, 1, 2),
        "the states are summed",
        code="""\
class Attention(nn.Module):
    def __init__(self, score):
        super().__init__()
        self.score = score

    def forward(self, memory, states, mask):
        scores = self.score(states, memory).masked_fill(
            ~mask[:, None], -math.inf
        )
        w = scores.softmax(-1)
        return w.mT @ states, w
""",
    ),
    Wrong(
        "attend",
        "hard attention",
        (0, 1, 2),
        "the winner takes all",
        code="""\
class Attention(nn.Module):
    def __init__(self, score):
        super().__init__()
        self.score = score

    def forward(self, memory, states, mask):
        scores = self.score(states, memory).masked_fill(
            ~mask[:, None], -math.inf
        )
        w = torch.nn.functional.one_hot(
            scores.argmax(-1), scores.shape[-1]
        ).float()
        return w @ memory, w
""",
    ),
    Wrong(
        "attend",
        "dropout left on",
        (0, 1, 2),
        "",
        code="""\
class Attention(nn.Module):
    def __init__(self, score):
        super().__init__()
        self.score = score

    def forward(self, memory, states, mask):
        scores = self.score(states, memory).masked_fill(
            ~mask[:, None], -math.inf
        )
        w = torch.nn.functional.dropout(scores.softmax(-1), 0.1)
        return w @ memory, w
""",
    ),
    Wrong(
        "networks",
        "additive scaled",
        (0, 2),
        "a factor that is a size",
        code="""\
class Additive(nn.Module):
    def __init__(self, query_dim, key_dim, hidden_dim):
        super().__init__()
        self.query_proj = nn.Linear(query_dim, hidden_dim, bias=False)
        self.key_proj = nn.Linear(key_dim, hidden_dim, bias=False)
        self.v = nn.Linear(hidden_dim, 1, bias=False)

    def forward(self, query, key):
        h = self.query_proj(query)[:, :, None] + self.key_proj(key)[:, None]
        return self.v(torch.tanh(h)).squeeze(-1) / math.sqrt(h.shape[-1])


class Concat(nn.Module):
    def __init__(self, query_dim, key_dim, hidden_dim):
        super().__init__()
        self.hidden = nn.Linear(query_dim + key_dim, hidden_dim, bias=False)
        self.v = nn.Linear(hidden_dim, 1, bias=False)

    def forward(self, query, key):
        q = query[:, :, None].expand(-1, -1, key.shape[1], -1)
        k = key[:, None].expand(-1, query.shape[1], -1, -1)
        return self.v(
            torch.sigmoid(self.hidden(torch.cat([q, k], -1)))
        ).squeeze(-1)
""",
    ),
    Wrong(
        "networks",
        "product for sum",
        (0, 2),
        "",
        code="""\
class Additive(nn.Module):
    def __init__(self, query_dim, key_dim, hidden_dim):
        super().__init__()
        self.query_proj = nn.Linear(query_dim, hidden_dim, bias=False)
        self.key_proj = nn.Linear(key_dim, hidden_dim, bias=False)
        self.v = nn.Linear(hidden_dim, 1, bias=False)

    def forward(self, query, key):
        h = self.query_proj(query)[:, :, None] * self.key_proj(key)[:, None]
        return self.v(torch.tanh(h)).squeeze()


class Concat(nn.Module):
    def __init__(self, query_dim, key_dim, hidden_dim):
        super().__init__()
        self.hidden = nn.Linear(query_dim + key_dim, hidden_dim, bias=False)
        self.v = nn.Linear(hidden_dim, 1, bias=False)

    def forward(self, query, key):
        q = query[:, :, None].expand(-1, -1, key.shape[1], -1)
        k = key[:, None].expand(-1, query.shape[1], -1, -1)
        return (
            self.v(torch.tanh(self.hidden(torch.cat([q, k], -1))))
            .sum(-1)
            .softmax(-1)
        )
""",
    ),
    Wrong(
        "conversion",
        "sum of both",
        (0, 1),
        "",
        code="""\
def concat_weight(w_query, w_key):
    return torch.cat([w_query, w_key.flip(1)], dim=1)


def additive_weights(w, query_dim):
    return w[:, -query_dim:], w[:, :-query_dim]
""",
    ),
    Wrong(
        "conversion",
        "numpy arrays",
        (0, 1),
        "weights that are no tensors",
        code="""\
def concat_weight(w_query, w_key):
    return torch.cat([w_query, w_key], dim=1).detach().numpy()


def additive_weights(w, query_dim):
    return w[:, :query_dim].numpy(), w[:, query_dim:].numpy()
""",
    ),
    Wrong(
        "speed",
        "minimum as centre",
        (0, 1, 2),
        "divided by another function",
        code="""\
def compare_speed(steps, rounds, clock):
    for s in steps.values():
        s()
    r = {n: [] for n in steps}
    for _ in range(rounds):
        t = {}
        for n, s in steps.items():
            b = clock()
            s()
            t[n] = clock() - b
        base = min(t.values())
        for n in steps:
            r[n].append(t[n] / base)
    return {n: (statistics.median(v), min(v), max(v)) for n, v in r.items()}
""",
    ),
    Wrong(
        "speed",
        "differences",
        (0, 1, 2),
        "",
        code="""\
def compare_speed(steps, rounds, clock):
    for s in steps.values():
        s()
    r = {n: [] for n in steps}
    for _ in range(rounds):
        t = {}
        for n, s in steps.items():
            b = clock()
            s()
            t[n] = clock() - b
        for n in steps:
            r[n].append(t[n] - next(iter(t.values())))
    return {n: (statistics.median(v), min(v), max(v)) for n, v in r.items()}
""",
    ),
    Wrong(
        "speed",
        "order of result",
        (2,),
        "another order of the three numbers",
        code="""\
def compare_speed(steps, rounds, clock):
    for s in steps.values():
        s()
    r = {n: [] for n in steps}
    for _ in range(rounds):
        t = {}
        for n, s in steps.items():
            b = clock()
            s()
            t[n] = clock() - b
        for n in steps:
            r[n].append(t[n] / next(iter(t.values())))
    return {n: (min(v), statistics.median(v), max(v)) for n, v in r.items()}
""",
    ),
    Wrong(
        "bleu",
        "lowercase",
        (0, 1, 2),
        "small letters for capitals",
        code="""\
def corpus_bleu(written, references, tokens):
    ours = []
    for row in written.tolist():
        end = row.index(EOS) if EOS in row else len(row)
        ours.append(" ".join(tokens[i] for i in row[:end]))
    theirs = [" ".join(w) for w in references]
    return (
        BLEU(tokenize="none", force=True, lowercase=True)
        .corpus_score(ours, [theirs])
        .score
    )
""",
    ),
    Wrong(
        "bleu",
        "smooth none effective order",
        (0, 1, 2),
        "",
        code="""\
def corpus_bleu(written, references, tokens):
    ours = []
    for row in written.tolist():
        end = row.index(EOS) if EOS in row else len(row)
        ours.append(" ".join(tokens[i] for i in row[:end]))
    theirs = [" ".join(w) for w in references]
    return (
        BLEU(tokenize="none", force=True, max_ngram_order=2)
        .corpus_score(ours, [theirs])
        .score
    )
""",
    ),
    Wrong(
        "bleu",
        "score object",
        (0, 1, 2),
        "wrong type",
        code="""\
def corpus_bleu(written, references, tokens):
    ours = []
    for row in written.tolist():
        end = row.index(EOS) if EOS in row else len(row)
        ours.append(" ".join(tokens[i] for i in row[:end]))
    theirs = [" ".join(w) for w in references]
    return BLEU(tokenize="none", force=True).corpus_score(ours, [theirs])
""",
    ),
    Wrong(
        "bleu",
        "empty sentences dropped",
        (2,),
        "empty translations left out",
        code="""\
def corpus_bleu(written, references, tokens):
    ours = []
    for row in written.tolist():
        end = row.index(EOS) if EOS in row else len(row)
        ours.append(" ".join(tokens[i] for i in row[:end]))
    theirs = [" ".join(w) for w in references]
    pairs = [(a, b) for a, b in zip(ours, theirs) if a]
    return (
        BLEU(tokenize="none", force=True)
        .corpus_score([a for a, _ in pairs], [[b for _, b in pairs]])
        .score
    )
""",
    ),
    Wrong(
        "bleu",
        "chrf",
        (0, 1, 2),
        "another measure",
        code="""\
def corpus_bleu(written, references, tokens):
    ours = []
    for row in written.tolist():
        end = row.index(EOS) if EOS in row else len(row)
        ours.append(" ".join(tokens[i] for i in row[:end]))
    theirs = [" ".join(w) for w in references]
    from sacrebleu.metrics import CHRF

    return CHRF().corpus_score(ours, [theirs]).score
""",
    ),
    Wrong(
        "alignment",
        "threshold",
        (0, 1),
        "links above a threshold",
        code="""\
def alignment_error(weights, lengths, gold):
    both = found = wanted = 0
    for m, (t, s), links in zip(weights, lengths, gold):
        own = {(int(b), int(a)) for a, b in (m[:t, :s] > 1 / s).nonzero()}
        both += len(own & set(links))
        found += len(own)
        wanted += len(links)
    return 1 - 2 * both / (found + wanted)
""",
    ),
    Wrong(
        "alignment",
        "argmin",
        (0, 1),
        "the smallest weight",
        code="""\
def alignment_error(weights, lengths, gold):
    both = found = wanted = 0
    for m, (t, s), links in zip(weights, lengths, gold):
        own = {(b, a) for a, b in enumerate(m[:t, :s].argmin(1).tolist())}
        both += len(own & set(links))
        found += len(own)
        wanted += len(links)
    return 1 - 2 * both / (found + wanted)
""",
    ),
    Wrong(
        "alignment",
        "only linked targets",
        (0, 1),
        "only linked words",
        code="""\
def alignment_error(weights, lengths, gold):
    both = found = wanted = 0
    for m, (t, s), links in zip(weights, lengths, gold):
        own = {
            (b, a)
            for a, b in enumerate(m[:t, :s].argmax(1).tolist())
            if a in {j for _, j in links}
        }
        both += len(own & set(links))
        found += len(own)
        wanted += len(links)
    return 1 - 2 * both / (found + wanted)
""",
    ),
    Wrong(
        "alignment",
        "percent",
        (0, 1),
        "a percentage for a share",
        code="""\
def alignment_error(weights, lengths, gold):
    both = found = wanted = 0
    for m, (t, s), links in zip(weights, lengths, gold):
        own = {(b, a) for a, b in enumerate(m[:t, :s].argmax(1).tolist())}
        both += len(own & set(links))
        found += len(own)
        wanted += len(links)
    return 100 - 200 * both / (found + wanted)
""",
    ),
    Wrong(
        "experiment",
        "best seed only",
        (1,),
        "wrong shape",
        code="""\
def experiment(variants, seeds, data, fit, measure):
    out = {}
    for n, make in variants.items():
        out[n] = []
        for s in seeds:
            torch.manual_seed(s)
            m = make()
            fit(m, data.train, s)
            out[n].append(measure(m, data.test))
        out[n] = [max(out[n])]
    return out
""",
    ),
    Wrong(
        "experiment",
        "validation measured",
        (0,),
        "measured on validation data",
        code="""\
def experiment(variants, seeds, data, fit, measure):
    out = {n: [] for n in variants}
    for s in seeds:
        for n, make in variants.items():
            torch.manual_seed(s)
            m = make()
            fit(m, data.train, s)
            out[n].append(measure(m, data.valid))
    return out
""",
    ),
    Wrong(
        "experiment",
        "trained twice",
        (0, 1),
        "number of runs",
        code="""\
def experiment(variants, seeds, data, fit, measure):
    out = {n: [] for n in variants}
    for s in seeds:
        for n, make in variants.items():
            torch.manual_seed(s)
            m = make()
            fit(m, data.train, s)
            fit(m, data.train, s)
            out[n].append(measure(m, data.test))
    return out
""",
    ),
    Wrong(
        "interval",
        "root of n minus one",
        (0,),
        "another root",
        code="""\
def mean_and_interval(values):
    n, m = len(values), statistics.fmean(values)
    r = T975[n - 1] * statistics.stdev(values) / math.sqrt(n - 1)
    return m, m - r, m + r


def verdict(first, second):
    _, low, high = mean_and_interval([a - b for a, b in zip(first, second)])
    return 1 if low > 0 else -1 if high < 0 else 0
""",
    ),
    Wrong(
        "interval",
        "variance",
        (0,),
        "variance for deviation",
        code="""\
def mean_and_interval(values):
    n, m = len(values), statistics.fmean(values)
    r = T975[n - 1] * statistics.variance(values) / math.sqrt(n)
    return m, m - r, m + r


def verdict(first, second):
    _, low, high = mean_and_interval([a - b for a, b in zip(first, second)])
    return 1 if low > 0 else -1 if high < 0 else 0
""",
    ),
    Wrong(
        "interval",
        "high first",
        (0, 1),
        "bounds exchanged",
        code="""\
def mean_and_interval(values):
    n, m = len(values), statistics.fmean(values)
    r = T975[n - 1] * statistics.stdev(values) / math.sqrt(n)
    return m, m + r, m - r


def verdict(first, second):
    _, low, high = mean_and_interval([a - b for a, b in zip(first, second)])
    return 1 if low > 0 else -1 if high < 0 else 0
""",
    ),
    Wrong(
        "interval",
        "welch",
        (1,),
        "intervals that overlap",
        code="""\
def mean_and_interval(values):
    n, m = len(values), statistics.fmean(values)
    r = T975[n - 1] * statistics.stdev(values) / math.sqrt(n)
    return m, m - r, m + r


def verdict(first, second):
    a, b = statistics.fmean(first), statistics.fmean(second)
    r = T975[len(first) - 1] * math.sqrt(
        (statistics.variance(first) + statistics.variance(second)) / len(first)
    )
    return 1 if a - b > r else -1 if b - a > r else 0
""",
    ),
    Wrong(
        "interval",
        "sign counting",
        (1,),
        "wins counted",
        code="""\
def mean_and_interval(values):
    n, m = len(values), statistics.fmean(values)
    r = T975[n - 1] * statistics.stdev(values) / math.sqrt(n)
    return m, m - r, m + r


def verdict(first, second):
    wins = sum(a > b for a, b in zip(first, second))
    return 1 if wins == len(first) else -1 if wins == 0 else 0
""",
    ),
    Wrong(
        "interval",
        "bool",
        (1,),
        "yes or no",
        code="""\
def mean_and_interval(values):
    n, m = len(values), statistics.fmean(values)
    r = T975[n - 1] * statistics.stdev(values) / math.sqrt(n)
    return m, m - r, m + r


def verdict(first, second):
    _, low, high = mean_and_interval([a - b for a, b in zip(first, second)])
    return low > 0 or high < 0
""",
    ),
]

RIGHT = [
    Right(
        "products",
        "linear functional",
        """\
class Dot(nn.Module):
    def forward(self, query, key):
        return torch.baddbmm(query.new_zeros(()), query, key.transpose(-1, -2))


class ScaledDot(nn.Module):
    def forward(self, query, key):
        return Dot()(query, key).mul(query.size(-1) ** -0.5)


class General(nn.Module):
    def __init__(self, query_dim, key_dim):
        super().__init__()
        self.project = nn.Linear(key_dim, query_dim, bias=False)

    def forward(self, query, key):
        return Dot()(nn.functional.linear(query, self.project.weight.T), key)
""",
    ),
    Right(
        "attend",
        "log softmax, where",
        """\
class Attention(nn.Module):
    def __init__(self, score):
        super().__init__()
        self.score = score

    def forward(self, memory, states, mask):
        logits = torch.where(
            mask.unsqueeze(1), self.score(states, memory), -torch.inf
        )
        shares = logits.log_softmax(2).exp()
        return torch.einsum("bts,bsw->btw", shares, memory), shares
""",
    ),
    Right(
        "bleu",
        "statistics of the metric",
        """\
def corpus_bleu(written, references, tokens):
    ours = []
    for row in written.tolist():
        end = row.index(EOS) if EOS in row else len(row)
        ours.append(" ".join(tokens[i] for i in row[:end]))
    theirs = [" ".join(w) for w in references]
    return float(
        BLEU(tokenize="none", force=True)
        .corpus_score(hypotheses=ours, references=[theirs])
        .score
    )
""",
    ),
    Right(
        "alignment",
        "dice",
        """\
def alignment_error(weights, lengths, gold):
    both = found = wanted = 0
    for m, (t, s), links in zip(weights, lengths, gold):
        own = set(
            map(
                tuple,
                torch.stack(
                    [m[:t, :s].max(dim=1).indices, torch.arange(t)], 1
                ).tolist(),
            )
        )
        both += len(own & set(links))
        found += len(own)
        wanted += len(links)
    return 1 - 2 * both / (found + wanted)
""",
    ),
    Right(
        "interval",
        "generator",
        """\
def mean_and_interval(values):
    n, m = len(values), statistics.fmean(values)
    r = T975[n - 1] * (sum((v - m) ** 2 for v in values) / (n - 1) / n) ** 0.5
    return (m, m - r, m + r)


def verdict(first, second):
    _, *ends = mean_and_interval([x - y for x, y in zip(first, second)])
    return (ends[0] > 0) - (ends[1] < 0)
""",
    ),
    Right(
        "conversion",
        "chunks",
        """\
concat_weight = lambda w_query, w_key: torch.hstack((w_query, w_key))
additive_weights = lambda w, query_dim: w.tensor_split([query_dim], dim=-1)
""",
    ),
]
