"""Answers to exercise 3 of people who did it, right and wrong."""

from tests.exercises.answers import Right, Wrong

WRONG = [
    Wrong(
        "speed",
        "one after the other, by the first median",
        (1, 2),
        "one after the other",
        code="""\
def compare_speed(steps, rounds, clock):
    times = {}
    for name, step in steps.items():
        step()
        times[name] = []
        for _ in range(rounds):
            t = clock()
            step()
            times[name].append(clock() - t)
    base = statistics.median(times[next(iter(times))])
    return {
        n: (statistics.median(t) / base, min(t) / base, max(t) / base)
        for n, t in times.items()
    }
""",
    ),
    Wrong(
        "speed",
        "in turns, by the first median",
        (1, 2),
        "not divided round by round",
        code="""\
def compare_speed(steps, rounds, clock):
    for s in steps.values():
        s()
    out = {n: [] for n in steps}
    for _ in range(rounds):
        for n, s in steps.items():
            t = clock()
            s()
            out[n].append(clock() - t)
    base = statistics.median(out[list(out)[0]])
    return {
        n: (statistics.median(v) / base, min(v) / base, max(v) / base)
        for n, v in out.items()
    }
""",
    ),
    Wrong(
        "speed",
        "another clock",
        (0, 1, 2),
        "another clock",
        code="""\
def compare_speed(steps, rounds, clock):
    for s in steps.values():
        s()
    out = {n: [] for n in steps}
    for _ in range(rounds):
        row = {}
        for n, s in steps.items():
            t = time.perf_counter()
            s()
            row[n] = time.perf_counter() - t
        first = row[list(row)[0]]
        for n in row:
            out[n].append(row[n] / first)
    return {n: (statistics.median(v), min(v), max(v)) for n, v in out.items()}
""",
    ),
    Wrong(
        "speed",
        "warmed up in each round",
        (2,),
        "called too often",
        code="""\
def compare_speed(steps, rounds, clock):
    out = {n: [] for n in steps}
    for _ in range(rounds):
        row = {}
        for n, s in steps.items():
            s()
            t = clock()
            s()
            row[n] = clock() - t
        first = row[list(row)[0]]
        for n in row:
            out[n].append(row[n] / first)
    return {n: (statistics.median(v), min(v), max(v)) for n, v in out.items()}
""",
    ),
    Wrong(
        "conversion",
        "parts left transposed",
        (1,),
        "transposed",
        code="""\
def concat_weight(w_query, w_key):
    return torch.cat([w_query.T, w_key.T]).T


def additive_weights(w, query_dim):
    return w.T[:query_dim], w.T[query_dim:]
""",
    ),
    Wrong(
        "alignment",
        "lengths turned round",
        (1,),
        "lengths turned round",
        code="""\
def alignment_error(weights, lengths, gold):
    both = own = true = 0
    for w, (s, t), g in zip(weights, lengths, gold):
        a = {(j, i) for i, j in enumerate(w[:t, :s].argmax(-1).tolist())}
        both += len(a & set(g))
        own += len(a)
        true += len(g)
    return 1 - 2 * both / (own + true)
""",
    ),
    Wrong(
        "alignment",
        "no factor of two",
        (0, 1),
        "shared links counted once",
        code="""\
def alignment_error(weights, lengths, gold):
    both = own = true = 0
    for w, (t, s), g in zip(weights, lengths, gold):
        a = {(j, i) for i, j in enumerate(w[:t, :s].argmax(-1).tolist())}
        both += len(a & set(g))
        own += len(a)
        true += len(g)
    return 1 - both / (own + true)
""",
    ),
    Wrong(
        "experiment",
        "seeded after the model is made, variant by variant",
        (1,),
        "seeded after the model is made",
        code="""\
def experiment(variants, seeds, data, fit, measure):
    out = {n: [] for n in variants}
    for n, make in variants.items():
        for seed in seeds:
            m = make()
            torch.manual_seed(seed)
            fit(m, data.train, seed)
            out[n].append(measure(m, data.test))
    return out
""",
    ),
    Wrong(
        "experiment",
        "counted seeds",
        (1,),
        "seeds counted",
        code="""\
def experiment(variants, seeds, data, fit, measure):
    out = {n: [] for n in variants}
    for n, make in variants.items():
        for seed in range(len(seeds)):
            torch.manual_seed(seed)
            m = make()
            fit(m, data.train, seed)
            out[n].append(measure(m, data.test))
    return out
""",
    ),
    Wrong(
        "experiment",
        "means in place of lists",
        (1,),
        "no list of measures",
        code="""\
def experiment(variants, seeds, data, fit, measure):
    out = {n: [] for n in variants}
    for n, make in variants.items():
        for seed in seeds:
            torch.manual_seed(seed)
            m = make()
            fit(m, data.train, seed)
            out[n].append(measure(m, data.test))
    return {n: sum(v) / len(v) for n, v in out.items()}
""",
    ),
    Wrong(
        "interval",
        "divided by n",
        (0, 1),
        "another root",
        code="""\
def mean_and_interval(values):
    n = len(values)
    m = statistics.mean(values)
    h = T975[n - 1] * statistics.stdev(values) / n
    return m, m - h, m + h


def verdict(first, second):
    m, low, high = mean_and_interval([a - b for a, b in zip(first, second)])
    return 1 if low > 0 else -1 if high < 0 else 0
""",
    ),
    Wrong(
        "interval",
        "1.96 population deviations",
        (0,),
        "interval of another width",
        code="""\
def mean_and_interval(values):
    n = len(values)
    m = statistics.mean(values)
    h = 1.96 * statistics.pstdev(values) / math.sqrt(n)
    return m, m - h, m + h


def verdict(first, second):
    m, low, high = mean_and_interval([a - b for a, b in zip(first, second)])
    return 1 if low > 0 else -1 if high < 0 else 0
""",
    ),
    Wrong(
        "interval",
        "mean and reach",
        (0,),
        "not three numbers",
        code="""\
def mean_and_interval(values):
    n = len(values)
    m = statistics.mean(values)
    h = T975[n - 1] * statistics.stdev(values) / math.sqrt(n)
    return m, h


def verdict(first, second):
    m, h = mean_and_interval([a - b for a, b in zip(first, second)])
    return 1 if m > h else -1 if m < -h else 0
""",
    ),
    Wrong(
        "interval",
        "sorted before subtracting",
        (1,),
        "runs sorted",
        code="""\
def mean_and_interval(values):
    n = len(values)
    m = statistics.mean(values)
    h = T975[n - 1] * statistics.stdev(values) / math.sqrt(n)
    return m, m - h, m + h


def verdict(first, second):
    m, low, high = mean_and_interval(
        [a - b for a, b in zip(sorted(first), sorted(second))]
    )
    return 1 if low > 0 else -1 if high < 0 else 0
""",
    ),
]

RIGHT = [
    Right(
        "products",
        "in a student's own style",
        """\
def pairs(a, b):
    return torch.einsum("bqd,bkd->bqk", a, b)


class Dot(nn.Module):
    def forward(self, query, key):
        return pairs(query, key)


class ScaledDot(nn.Module):
    def forward(self, query, key):
        return pairs(query, key) / query.size(2) ** 0.5


class General(nn.Module):
    def __init__(self, query_dim, key_dim):
        super().__init__()
        self.project = nn.Linear(key_dim, query_dim, bias=False)  # W

    def forward(self, query, key):
        return pairs(query @ self.project.weight, key)
""",
    ),
    Right(
        "networks",
        "in a student's own style",
        """\
class Additive(nn.Module):
    def __init__(self, query_dim, key_dim, hidden_dim):
        super().__init__()
        self.query_proj = nn.Linear(query_dim, hidden_dim, bias=False)  # W_q
        self.key_proj = nn.Linear(key_dim, hidden_dim, bias=False)  # W_k
        self.v = nn.Linear(hidden_dim, 1, bias=False)

    def forward(self, query, key):
        q = self.query_proj(query).unsqueeze(2)
        k = self.key_proj(key).unsqueeze(1)
        return torch.tanh(q + k).matmul(self.v.weight[0])


class Concat(nn.Module):
    def __init__(self, query_dim, key_dim, hidden_dim):
        super().__init__()
        self.hidden = nn.Linear(query_dim + key_dim, hidden_dim, bias=False)  # W
        self.v = nn.Linear(hidden_dim, 1, bias=False)

    def forward(self, query, key):
        n, m = query.shape[1], key.shape[1]
        d = query.unsqueeze(2).repeat(1, 1, m, 1)
        e = key.unsqueeze(1).repeat(1, n, 1, 1)
        joined = torch.cat([d, e], -1)
        return self.v(self.hidden(joined).tanh())[..., 0]
""",
    ),
    Right(
        "conversion",
        "in a student's own style",
        """\
def concat_weight(w_query, w_key):
    return torch.hstack([w_query, w_key])


def additive_weights(w, query_dim):
    return torch.split(w, [query_dim, w.shape[1] - query_dim], dim=1)
""",
    ),
    Right(
        "speed",
        "in a student's own style",
        """\
def compare_speed(steps, rounds, clock):
    names = list(steps)
    for name in names:
        steps[name]()
    table = []
    for _ in range(rounds):
        row = []
        for name in names:
            start = clock()
            steps[name]()
            row.append(clock() - start)
        table.append([t / row[0] for t in row])
    out = {}
    for i, name in enumerate(names):
        ratios = sorted(row[i] for row in table)
        out[name] = (statistics.median(ratios), ratios[0], ratios[-1])
    return out
""",
    ),
    Right(
        "bleu",
        "in a student's own style",
        """\
def corpus_bleu(written, references, tokens):
    texts = []
    for row in written.tolist():
        words = []
        for i in row:
            if i == EOS:
                break
            words.append(tokens[i])
        texts.append(" ".join(words))
    metric = BLEU(tokenize="none", force=True)
    return metric.corpus_score(texts, [[" ".join(r) for r in references]]).score
""",
    ),
    Right(
        "alignment",
        "in a student's own style",
        """\
def alignment_error(weights, lengths, gold):
    ours, theirs = set(), set()
    for n, (w, (rows, columns), links) in enumerate(zip(weights, lengths, gold)):
        best = w[:rows, :columns].max(dim=1).indices.tolist()
        ours |= {(n, s, t) for t, s in enumerate(best)}
        theirs |= {(n, s, t) for s, t in links}
    return 1 - 2 * len(ours & theirs) / (len(ours) + len(theirs))
""",
    ),
    Right(
        "experiment",
        "in a student's own style",
        """\
def experiment(variants, seeds, data, fit, measure):
    results = {name: [] for name in variants}
    for name, make in variants.items():
        for seed in seeds:
            torch.manual_seed(seed)
            model = make()
            fit(model, data.train, seed)
            results[name].append(measure(model, data.test))
    return results
""",
    ),
    Right(
        "interval",
        "in a student's own style",
        """\
def mean_and_interval(values):
    x = torch.tensor(values, dtype=torch.float64)
    half = T975[len(x) - 1] * x.std().item() / math.sqrt(len(x))
    mean = x.mean().item()
    return mean, mean - half, mean + half


def verdict(first, second):
    _, low, high = mean_and_interval([a - b for a, b in zip(first, second)])
    if low > 0:
        return 1
    return -1 if high < 0 else 0
""",
    ),
]
