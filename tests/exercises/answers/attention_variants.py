"""Answers to exercise 3 that are unlike each other."""

SCORES = """
class Dot(nn.Module):
    def forward(self, query, key):
        return torch.bmm(query, key.permute(0, 2, 1))


class ScaledDot(nn.Module):
    def forward(self, q, k):
        return torch.bmm(q / {scale}, k.permute(0, 2, 1))


class General(nn.Module):
    def __init__(self, query_dim, key_dim):
        super().__init__()
        self.project = nn.Linear(key_dim, query_dim, bias=False)

    def forward(self, query, key):
        return torch.einsum("bqd,de,bke->bqk", query, self.project.weight, key)


class Additive(nn.Module):
    def __init__(self, query_dim, key_dim, hidden_dim):
        super().__init__()
        self.query_proj = nn.Linear(query_dim, hidden_dim, bias=False)
        self.key_proj = nn.Linear(key_dim, hidden_dim, bias=False)
        self.v = nn.Linear(hidden_dim, 1, bias=False)

    def forward(self, query, key):
        keys = self.key_proj(key)
        bend, queries = {bend}, self.query_proj(query)
        rows = [self.v(bend(keys + x[:, None])) for x in queries.unbind(1)]
        return torch.cat(rows, dim=2).transpose(1, 2)


class Concat(nn.Module):
    def __init__(self, query_dim, key_dim, hidden_dim):
        super().__init__()
        self.hidden = nn.Linear(query_dim + key_dim, hidden_dim, bias=False)
        self.v = nn.Linear(hidden_dim, 1, bias=False)

    def forward(self, query, key):
        {concat}
"""
ROOT = "q.shape[-1] ** 0.5"
LOOP = """scores = query.new_zeros(len(query), query.shape[1], key.shape[1])
        for i in range(query.shape[1]):
            for j in range(key.shape[1]):
                pair = torch.cat((query[:, i], key[:, j]), dim=-1)
                scores[:, i, j] = self.v(torch.tanh(self.hidden(pair)))[:, 0]
        return scores"""
SPLIT = """d = query.shape[-1]
        w_q, w_k = self.hidden.weight[:, :d], self.hidden.weight[:, d:]
        hidden = (query @ w_q.T)[:, :, None] + (key @ w_k.T)[:, None]
        return self.v(hidden.tanh()).squeeze(-1)"""


def _scores(scale=ROOT, bend="torch.tanh", concat=LOOP):
    changes = {"{scale}": scale, "{bend}": bend, "{concat}": concat}
    source = SCORES
    for old, new in changes.items():
        source = source.replace(old, new)
    return source


def _attention(body):
    head = "class Attention(nn.Module):\n    def __init__(self, score):\n"
    head += "        super().__init__()\n        self.score = score\n\n"
    lines = [f"        {line}" for line in body.strip().splitlines()]
    return "\n".join([head + "    def forward(self, memory, states, mask):", *lines])


SPEED = """
def compare_speed(steps, rounds, clock):
    for step in steps.values():
        step()
    times = []
    for _ in range(rounds):
        row = []
        for step in steps.values():
            start = clock()
            step()
            row.append(clock() - start)
        times.append(row)
    times = torch.tensor(times, dtype=torch.float64)
    ratios = {ratios}
    return {name: tuple(map(float, ({middle}, column.min(), column.max())))
            for name, column in zip(steps, ratios.T)}
"""


def _speed(ratios="times / times[:, :1]", middle="column.quantile(0.5)"):
    return SPEED.replace("{ratios}", ratios).replace("{middle}", middle)


ALIGNMENT = """
def alignment_error(weights, lengths, gold):
    links, right = set(), set()
    for n, (t, s) in enumerate(lengths):
        for i in range(t):
            grad = weights[n, i, :s]
            links.add((n, {source}, i))
        right |= {(n, *pair) for pair in gold[n]}
    return 1 - 2 * len(links & right) / (len(links) + len(right))
"""
INTERVAL = """
import numpy as np

def mean_and_interval(values):
    values = np.asarray(values)
    margin = T975[len(values) - 1] * values.std(ddof=1) / len(values) ** 0.5
    return values.mean(), values.mean() - margin, values.mean() + margin

def verdict(first, second):
    {test}
    return {result}
"""


def _interval(test, result):
    return INTERVAL.replace("{test}", test).replace("{result}", result)


WRONG = {
    "scores": {
        "the root of the rounded width": (
            _scores(scale="int(q.shape[-1] ** 0.5)"),
            "not yet `ScaledDot`: this product, divided by",
        ),
        "hard tanh": (
            _scores(bend="lambda x: x.clamp(-1, 1)"),
            "not yet `Additive`: v · tanh",
        ),
        "concat by splitting W": (
            _scores(concat=SPLIT),
            "Concat divides W into a part",
        ),
    },
    "attend": {
        "roles exchanged": (
            _attention(
                "s = self.score(memory, states).transpose(1, 2)\n"
                "s = torch.where(mask[:, None], s, -torch.inf)\n"
                "w = torch.softmax(s, -1)\nreturn w @ memory, w"
            ),
            "memory as the queries and states as the keys",
        ),
        "a fill value that is not low enough": (
            _attention(
                "s = self.score(states, memory).masked_fill(~mask[:, None], -100.0)\n"
                "w = torch.softmax(s, -1)\nreturn w @ memory, w"
            ),
            "not yet padding has the weight 0 whatever its scores",
        ),
        "the memory is cleared, nothing is hidden": (
            _attention(
                "w = torch.softmax(self.score(states, memory), -1)\n"
                "return w @ (memory * mask[..., None]), w"
            ),
            "not yet padding has the weight 0",
        ),
    },
    "speed": {
        "the lower one of two medians": (
            _speed(middle="column.median()"),
            "the lower one of the two in the middle",
        ),
        "divided by the first function's median": (
            _speed(ratios="times / times[:, :1].median()"),
            "ratios to the first function in the same round",
        ),
    },
    "bleu": {
        "a sentence ends at the padding": (
            "def corpus_bleu(written, references, tokens):\n"
            "    ours = [' '.join(tokens[i] for i in r if i != 0) for r in written]\n"
            "    ours = [text.split(' <eos>')[-1] for text in ours]\n"
            "    theirs = [' '.join(words) for words in references]\n"
            "    return BLEU(tokenize='none').corpus_score(ours, [theirs]).score",
            "not yet one sentence has its BLEU",
        ),
    },
    "alignment": {
        "tensors in the sets": (
            ALIGNMENT.replace("{source}", "grad.argmax()"),
            "they never count as equal to numbers",
        ),
        "one sentence too few": (
            ALIGNMENT.replace("{source}", "int(grad.argmax())").replace(
                "enumerate(lengths)", "enumerate(lengths[:-1] or lengths)"
            ),
            "not yet each target word is linked",
        ),
    },
    "interval": {
        "the mean against the other interval": (
            _interval(
                "_, low, high = mean_and_interval(second)",
                "int(np.mean(first) > high) - int(np.mean(first) < low)",
            ),
            "not yet the verdict follows",
        ),
        "every seed won": (
            _interval(
                "gaps = np.subtract(first, second)",
                "int((gaps > 0).all()) - int((gaps < 0).all())",
            ),
            "not yet the verdict follows",
        ),
    },
}

RIGHT = {
    "scores": {"loops, other names, a root beforehand": _scores()},
    "attend": {
        "lowest number, einsum": _attention(
            "scores = self.score(states, memory)\n"
            "low = torch.finfo(scores.dtype).min\n"
            "scores = torch.where(mask.unsqueeze(1), scores, low)\n"
            "attn = torch.nn.functional.softmax(scores, dim=2)\n"
            "return torch.einsum('bts,bsd->btd', attn, memory), attn"
        ),
        "exponentials by hand": _attention(
            "s = self.score(query=states, key=memory)\n"
            "s = s + torch.zeros_like(mask, dtype=s.dtype).masked_fill(\n"
            "    mask.logical_not(), -torch.inf)[:, None, :]\n"
            "e = (s - s.amax(dim=2, keepdim=True)).exp()\n"
            "w = e / e.sum(dim=2, keepdim=True)\nreturn torch.bmm(w, memory), w"
        ),
    },
    "speed": {"a table of times": _speed()},
    "bleu": {
        "cut with a loop, another import": "import sacrebleu\n\n"
        "def corpus_bleu(ids, refs, vocabulary):\n"
        "    texts = []\n"
        "    for row in ids:\n"
        "        words = []\n"
        "        for i in row:\n"
        "            if i == EOS:\n                break\n"
        "            words.append(vocabulary[int(i)])\n"
        "        texts.append(' '.join(words))\n"
        "    refs = [list(map(' '.join, refs))]\n"
        "    return sacrebleu.corpus_bleu(texts, refs, tokenize='none').score",
    },
    "alignment": {
        "numbers of sentences in the sets": ALIGNMENT.replace(
            "{source}", "int(grad.argmax())"
        ),
    },
    "interval": {
        "NumPy, and signs": _interval(
            "_, low, high = mean_and_interval(np.subtract(first, second))",
            "int(low > 0) - int(high < 0)",
        ),
    },
}
