"""Answers to exercise 3 of a class that was made up for it, right and wrong."""

# ruff: noqa: E501  (students' lines are as long as they are)

from tests.exercises.answers import Right, Wrong

WRONG = [
    Wrong(
        "products",
        "scaled by both widths multiplied",
        (1,),
        "divided by the width",
        code="""\
class ScaledDot(nn.Module):
    def forward(self, query, key):
        return query @ key.transpose(1, 2) / math.sqrt(query.shape[-1] * key.shape[-1])
""",
    ),
    Wrong(
        "products",
        "mean of products in Dot",
        (0,),
        "a factor that is a size",
        code="""\
class Dot(nn.Module):
    def forward(self, query, key):
        return torch.einsum("bqd,bkd->bqk", query, key) / query.shape[-1]
""",
    ),
    Wrong(
        "products",
        "same place only",
        (0,),
        "wrong shape",
        code="""\
class Dot(nn.Module):
    def forward(self, query, key):
        n = min(query.shape[1], key.shape[1])
        return (query[:, :n] * key[:, :n]).sum(-1)
""",
    ),
    Wrong(
        "products",
        "general projects the key twice",
        (2,),
        "a tanh too many",
        code="""\
class General(nn.Module):
    def __init__(self, query_dim, key_dim):
        super().__init__()
        self.project = nn.Linear(key_dim, query_dim, bias=False)
    def forward(self, query, key):
        return torch.tanh(query @ self.project(key).transpose(1, 2))
""",
    ),
    Wrong(
        "products",
        "general with its weight twice",
        (2,),
        "another matrix",
        code="""\
class General(nn.Module):
    def __init__(self, query_dim, key_dim):
        super().__init__()
        self.project = nn.Linear(key_dim, query_dim, bias=False)
    def forward(self, query, key):
        return query @ (self.project.weight.abs() @ key.transpose(1, 2))
""",
    ),
    Wrong(
        "products",
        "scores of the last query",
        (0,),
        "rows that are all alike",
        code="""\
class Dot(nn.Module):
    def forward(self, query, key):
        return (query[:, -1:] @ key.transpose(1, 2)).expand(-1, query.shape[1], -1)
""",
    ),
    Wrong(
        "products",
        "a new matrix at each call",
        (2,),
        "another result when called again",
        code="""\
class General(nn.Module):
    def __init__(self, query_dim, key_dim):
        super().__init__()
        self.project = nn.Linear(key_dim, query_dim, bias=False)
        self.sizes = key_dim, query_dim
    def forward(self, query, key):
        return query @ nn.Linear(*self.sizes, bias=False)(key).transpose(1, 2)
""",
    ),
    Wrong(
        "products",
        "root of the batch",
        (1,),
        "scaled by the size of the batch",
        code="""\
class ScaledDot(nn.Module):
    def forward(self, query, key):
        return query @ key.transpose(1, 2) / math.sqrt(query.shape[0])
""",
    ),
    Wrong(
        "networks",
        "sigmoid",
        (0,),
        "sigmoid for tanh",
        change=(
            "torch.tanh(asking + asked)",
            "torch.sigmoid(asking + asked)",
        ),
    ),
    Wrong(
        "networks",
        "difference",
        (0,),
        "another operation between query and key",
        change=(
            "asking + asked",
            "asking - asked",
        ),
    ),
    Wrong(
        "networks",
        "sum over hidden in place of v",
        (0,),
        "v has no part in it",
        change=(
            "self.v(torch.tanh(asking + asked)).squeeze(-1)",
            "torch.tanh(asking + asked).mean(-1)",
        ),
    ),
    Wrong(
        "networks",
        "softmax at the end",
        (0,),
        "weights instead of scores",
        change=(
            "self.v(torch.tanh(asking + asked)).squeeze(-1)",
            "self.v(torch.tanh(asking + asked)).squeeze(-1).softmax(-1)",
        ),
    ),
    Wrong(
        "networks",
        "squeeze of all axes of size one",
        (2,),
        "wrong shape",
        change=(
            "self.v(torch.tanh(self.hidden(pairs))).squeeze(-1)",
            "self.v(torch.tanh(self.hidden(pairs))).squeeze()",
        ),
    ),
    Wrong(
        "networks",
        "axes added at the wrong places",
        (0,),
        "keys times queries",
        change=(
            "        asking = self.query_proj(query)[:, :, None]  # (batch, queries, 1, hidden)\n        asked = self.key_proj(key)[:, None]  # (batch, 1, keys, hidden)",
            "        asking = self.query_proj(query)[:, None]\n        asked = self.key_proj(key)[:, :, None]",
        ),
    ),
    Wrong(
        "networks",
        "concat along the tokens",
        (2,),
        "sizes that do not fit",
        code="""\
class Concat(nn.Module):
    def __init__(self, query_dim, key_dim, hidden_dim):
        super().__init__()
        self.hidden = nn.Linear(query_dim + key_dim, hidden_dim, bias=False)
        self.v = nn.Linear(hidden_dim, 1, bias=False)
    def forward(self, query, key):
        pairs = torch.cat([query, key], dim=1)
        return self.v(torch.tanh(self.hidden(pairs))).squeeze(-1)
""",
    ),
    Wrong(
        "networks",
        "dropout on the hidden units",
        (0,),
        "another result when called again",
        change=(
            "self.v(torch.tanh(asking + asked))",
            "self.v(nn.functional.dropout(torch.tanh(asking + asked), 0.1))",
        ),
    ),
    Wrong(
        "conversion",
        "half of the sum",
        (0,),
        "every weight multiplied",
        code="""\
def concat_weight(w_query, w_key):
    return torch.cat([w_query, w_key], dim=1) / 2
""",
    ),
    Wrong(
        "conversion",
        "key width for the query's",
        (1,),
        "cut at the wrong place",
        code="""\
def additive_weights(w, query_dim):
    return w[:, :-query_dim], w[:, -query_dim:]
""",
    ),
    Wrong(
        "conversion",
        "one column short",
        (1,),
        "cut at the wrong place",
        code="""\
def additive_weights(w, query_dim):
    return w[:, :query_dim], w[:, query_dim + 1 :]
""",
    ),
    Wrong(
        "conversion",
        "stacked on a new axis",
        (0,),
        "sizes that do not fit",
        code="""\
def concat_weight(w_query, w_key):
    return torch.stack([w_query, w_key], dim=1)
""",
    ),
    Wrong(
        "conversion",
        "only one matrix",
        (1,),
        "wrong type",
        code="""\
def additive_weights(w, query_dim):
    return w[:, :query_dim]
""",
    ),
    Wrong(
        "attend",
        "states for memory",
        (0, 1, 2),
        "shapes that do not line up",
        change=(
            "        scores = self.score(states, memory)  # (batch, target, source)",
            "        scores = self.score(memory, states)",
        ),
    ),
    Wrong(
        "attend",
        "mask widened over the wrong axis",
        (0, 1, 2),
        "shapes that do not line up",
        change=(
            "~mask[:, None]",
            "~mask[:, :, None]",
        ),
    ),
    Wrong(
        "attend",
        "scores for weights",
        (0, 1),
        "rows that do not sum to 1",
        change=(
            "        return weights @ memory, weights",
            "        return weights @ memory, scores",
        ),
    ),
    Wrong(
        "attend",
        "one mask for all: all sentences",
        (1, 2),
        "one sentence's mask for all",
        change=(
            "~mask[:, None]",
            "~mask.all(0)",
        ),
    ),
    Wrong(
        "attend",
        "scaled once more",
        (0, 1, 2),
        "scaled once more",
        change=(
            "        weights = scores.softmax(dim=-1)",
            "        weights = (scores / math.sqrt(memory.shape[-1])).softmax(dim=-1)",
        ),
    ),
    Wrong(
        "attend",
        "context plus state",
        (0, 1, 2),
        "an input added to the result",
        change=(
            "        return weights @ memory, weights",
            "        return weights @ memory + states, weights",
        ),
    ),
    Wrong(
        "attend",
        "tanh of the context",
        (0, 1, 2),
        "a tanh too many",
        change=(
            "        return weights @ memory, weights",
            "        return torch.tanh(weights @ memory), weights",
        ),
    ),
    Wrong(
        "speed",
        "median of times, then divided",
        (1, 2),
        "not divided round by round",
        code="""\
def compare_speed(steps, rounds, clock):
    for step in steps.values():
        step()
    t = {n: [] for n in steps}
    for _ in range(rounds):
        for n, step in steps.items():
            a = clock()
            step()
            t[n].append(clock() - a)
    first = statistics.median(next(iter(t.values())))
    return {n: (statistics.median(x) / first, min(x) / first, max(x) / first) for n, x in t.items()}
""",
    ),
    Wrong(
        "speed",
        "ratio to the fastest of the round",
        (0, 1, 2),
        "divided by another function",
        change=(
            "first = next(iter(seconds.values()))",
            "first = min(seconds.values())",
        ),
    ),
    Wrong(
        "speed",
        "ratio to the last",
        (0, 1, 2),
        "divided by another function",
        change=(
            "first = next(iter(seconds.values()))",
            "first = list(seconds.values())[-1]",
        ),
    ),
    Wrong(
        "speed",
        "one round less",
        (0, 1, 2),
        "a call too few",
        change=(
            "for _ in range(rounds):",
            "for _ in range(rounds - 1):",
        ),
    ),
    Wrong(
        "speed",
        "middle of lowest and highest",
        (2,),
        "another middle",
        change=(
            "statistics.median(r), min(r), max(r)",
            "(min(r) + max(r)) / 2, min(r), max(r)",
        ),
    ),
    Wrong(
        "speed",
        "lists for tuples of ratios, all of them",
        (0, 1, 2),
        "wrong shape",
        change=(
            "    return {n: (statistics.median(r), min(r), max(r)) for n, r in ratios.items()}",
            "    return ratios",
        ),
    ),
    Wrong(
        "bleu",
        "stops at the last eos",
        (1,),
        "padding left in",
        change=(
            "row.index(EOS)",
            "len(row) - 1 - row[::-1].index(EOS)",
        ),
    ),
    Wrong(
        "bleu",
        "eos is part of the sentence",
        (1, 2),
        "<eos> left in",
        change=(
            "end = row.index(EOS) if",
            "end = row.index(EOS) + 1 if",
        ),
    ),
    Wrong(
        "bleu",
        "words without spaces",
        (0, 1, 2),
        "BLEU on token ids",
        change=(
            'ours.append(" ".join(',
            'ours.append("".join(',
        ),
    ),
    Wrong(
        "bleu",
        "first row only",
        (2,),
        "the first sentence only",
        change=(
            "for row in written.tolist():",
            "for row in written[:1].tolist():",
        ),
    ),
    Wrong(
        "bleu",
        "without the last token where there is no eos",
        (0,),
        "the last word cut off",
        change=(
            "else len(row)",
            "else len(row) - 1",
        ),
    ),
    Wrong(
        "bleu",
        "rounded to whole numbers",
        (0, 1, 2),
        "wrong type",
        change=(
            "metric.corpus_score(ours, [theirs]).score",
            "round(metric.corpus_score(ours, [theirs]).score)",
        ),
    ),
    Wrong(
        "bleu",
        "references left as lists",
        (0, 1, 2),
        "raises an error",
        change=(
            'theirs = [" ".join(words) for words in references]',
            "theirs = [words for words in references]",
        ),
    ),
    Wrong(
        "alignment",
        "sources and targets of lengths right, pairs the other way",
        (0, 1),
        "links turned round",
        change=(
            "own = {(source, target)",
            "own = {(target, source)",
        ),
    ),
    Wrong(
        "alignment",
        "product for sum below",
        (0, 1),
        "shared links over all links",
        change=(
            "1 - 2 * both / (found + wanted)",
            "1 - both / (found + wanted - both)",
        ),
    ),
    Wrong(
        "alignment",
        "score for error",
        (0, 1),
        "agreement for error",
        change=(
            "1 - 2 * both / (found + wanted)",
            "2 * both / (found + wanted)",
        ),
    ),
    Wrong(
        "alignment",
        "gold links of words counted twice in a list",
        (0, 1),
        "gold words counted, not gold links",
        change=(
            "wanted += len(links)",
            "wanted += len({t for _, t in links})",
        ),
    ),
    Wrong(
        "alignment",
        "counters inside the loop",
        (1,),
        "the last sentence only",
        change=(
            "    both = found = wanted = 0\n    for matrix, (targets, sources), links in zip(weights, lengths, gold):",
            "    for matrix, (targets, sources), links in zip(weights, lengths, gold):\n        both = found = wanted = 0",
        ),
    ),
    Wrong(
        "experiment",
        "evaluated with the seed, not trained with it",
        (1,),
        "the same order of pairs",
        change=(
            "fit(model, data.train, seed)",
            "fit(model, data.train, 0)",
        ),
    ),
    Wrong(
        "experiment",
        "only the last measure kept",
        (1,),
        "wrong shape",
        change=(
            "results[name].append(measure(model, data.test))",
            "results[name] = [measure(model, data.test)]",
        ),
    ),
    Wrong(
        "experiment",
        "keyed by seed",
        (0, 1),
        "a list, tuple or dict for what is in it",
        change=(
            "    results = {name: [] for name in variants}\n    for seed in seeds:",
            "    results = {name: {} for name in variants}\n    for seed in seeds:",
        ),
    ),
    Wrong(
        "experiment",
        "the class, not a model",
        (0, 1),
        "a function that is not called",
        change=(
            "model = make()",
            "model = make",
        ),
    ),
    Wrong(
        "experiment",
        "trained model returned by fit",
        (0, 1),
        "None is used",
        change=(
            "            fit(model, data.train, seed)",
            "            model = fit(model, data.train, seed)",
        ),
    ),
    Wrong(
        "interval",
        "t at the wrong row",
        (0,),
        "interval of another width",
        change=(
            "T975[n - 1]",
            "T975[n - 2]",
        ),
    ),
    Wrong(
        "interval",
        "half the width",
        (0,),
        "half of the interval",
        change=(
            "    return mean, mean - reach, mean + reach",
            "    return mean, mean - reach / 2, mean + reach / 2",
        ),
    ),
    Wrong(
        "interval",
        "zero is a verdict",
        (1,),
        "sign turned round",
        change=(
            "    if low > 0:\n        return 1\n    return -1 if high < 0 else 0",
            "    if low > 0 and high > 0:\n        return -1\n    return 1 if high < 0 else 0",
        ),
    ),
    Wrong(
        "interval",
        "any difference of the means outside one interval",
        (1,),
        "intervals that overlap",
        code="""\
def verdict(first, second):
    mean, low, high = mean_and_interval(first)
    other = statistics.fmean(second)
    return 1 if other < low else -1 if other > high else 0
""",
    ),
    Wrong(
        "interval",
        "strings for verdicts",
        (1,),
        "wrong type",
        code="""\
def verdict(first, second):
    _, low, high = mean_and_interval([a - b for a, b in zip(first, second)])
    return "1" if low > 0 else "-1" if high < 0 else "0"
""",
    ),
    Wrong(
        "interval",
        "ratios for differences",
        (1,),
        "ratios for differences",
        change=(
            "[a - b for a, b in zip(first, second)]",
            "[a / b - 1 for a, b in zip(first, second)]",
        ),
    ),
    Wrong(
        "products",
        "root of the hidden sum of both widths",
        (1,),
        "scaled by both widths together",
        code="""\
class ScaledDot(nn.Module):
    def forward(self, query, key):
        return query @ key.transpose(1, 2) / math.sqrt(query.shape[-1] + key.shape[-1])
""",
    ),
    Wrong(
        "products",
        "key projected and normalised",
        (2,),
        "each column a multiple",
        code="""\
class General(nn.Module):
    def __init__(self, query_dim, key_dim):
        super().__init__()
        self.project = nn.Linear(key_dim, query_dim, bias=False)
    def forward(self, query, key):
        projected = nn.functional.normalize(self.project(key), dim=-1)
        return query @ projected.transpose(1, 2)
""",
    ),
    Wrong(
        "networks",
        "v before the tanh of the query only",
        (0,),
        "a part round the tanh",
        change=(
            "torch.tanh(asking + asked)",
            "(torch.tanh(asking) + asked)",
        ),
    ),
    Wrong(
        "networks",
        "hidden units scaled",
        (0,),
        "a factor that is a size",
        change=(
            "self.v(torch.tanh(asking + asked)).squeeze(-1)",
            "self.v(torch.tanh(asking + asked)).squeeze(-1) / math.sqrt(self.v.in_features)",
        ),
    ),
    Wrong(
        "networks",
        "keys expanded over the batch axis",
        (1,),
        "sizes that do not fit",
        change=(
            "        asked = self.key_proj(key)[:, None]  # (batch, 1, keys, hidden)",
            "        asked = self.key_proj(key)",
        ),
    ),
    Wrong(
        "conversion",
        "key first when cutting",
        (1,),
        "cut at the wrong place",
        code="""\
def additive_weights(w, query_dim):
    return w[:, query_dim:], w[:, :query_dim]
""",
    ),
    Wrong(
        "conversion",
        "copies of columns overlapping",
        (1,),
        "columns of the wrong place",
        code="""\
def additive_weights(w, query_dim):
    return w[:, :query_dim], w[:, query_dim - 1 : -1]
""",
    ),
    Wrong(
        "attend",
        "memory read in reverse",
        (0, 1, 2),
        "another memory read",
        change=(
            "weights @ memory, weights",
            "weights @ memory.flip(1), weights",
        ),
    ),
    Wrong(
        "attend",
        "mask as a bias of minus one",
        (1, 2),
        "mask added",
        change=(
            "scores = scores.masked_fill(~mask[:, None], -math.inf)",
            "scores = scores - (~mask[:, None]).float()",
        ),
    ),
    Wrong(
        "attend",
        "weights rescaled by length",
        (0, 1, 2),
        "a multiple",
        change=(
            "        return weights @ memory, weights",
            "        return weights @ memory * mask.sum(1)[:, None, None], weights",
        ),
    ),
    Wrong(
        "speed",
        "clock read twice at the end",
        (2,),
        "called too often",
        change=(
            "            begin = clock()\n            step()",
            "            step()\n            begin = clock()\n            step()",
        ),
    ),
    Wrong(
        "speed",
        "quartiles for lowest and highest",
        (2,),
        "other bounds",
        change=(
            "statistics.median(r), min(r), max(r)",
            "statistics.median(r), sorted(r)[1], sorted(r)[-2]",
        ),
    ),
    Wrong(
        "bleu",
        "eos searched as a word",
        (1, 2),
        "<eos> and padding left in",
        change=(
            '        end = row.index(EOS) if EOS in row else len(row)\n        ours.append(" ".join(tokens[i] for i in row[:end]))',
            '        ours.append(" ".join(tokens[i] for i in row).split("EOS")[0])',
        ),
    ),
    Wrong(
        "bleu",
        "duplicates removed",
        (0, 1, 2),
        "repeated words dropped",
        change=(
            '" ".join(tokens[i] for i in row[:end])',
            '" ".join(dict.fromkeys(tokens[i] for i in row[:end]))',
        ),
    ),
    Wrong(
        "alignment",
        "error of each link averaged",
        (0, 1),
        "another denominator",
        change=(
            "1 - 2 * both / (found + wanted)",
            "1 - both / max(found, wanted)",
        ),
    ),
    Wrong(
        "experiment",
        "measured with the seed's pairs only",
        (0,),
        "",
        change=(
            "measure(model, data.test)",
            "measure(model, data.test[:1])",
        ),
    ),
    Wrong(
        "interval",
        "last value left out",
        (0,),
        "the interval round another middle",
        change=(
            "n, mean = len(values), statistics.fmean(values)",
            "n, mean = len(values), statistics.fmean(values[:-1])",
        ),
    ),
    Wrong(
        "interval",
        "only the first is tested",
        (1,),
        "never for the second",
        change=(
            "    return -1 if high < 0 else 0",
            "    return 0",
        ),
    ),
    Wrong(
        "experiment",
        "writes into the records of the check",
        (0, 1),
        "forbidden function",
        code="""\
def experiment(variants, seeds, data, fit, measure):
    stage = fit.__self__
    results = {name: [] for name in variants}
    for seed in seeds:
        for name, make in variants.items():
            torch.manual_seed(seed)
            model = make()
            stage.fits.append((model.start, data.train, seed))
            stage.measured.append((model.start, data.test, 1))
            results[name].append(10 * model.start + 1)
    return results
""",
    ),
    Wrong(
        "products",
        "dot as the sum over broadcast pairs, mean taken",
        (0,),
        "a factor that is a size",
        change=(
            '        """Return the dot product of each query and key."""\n        return query @ key.transpose(1, 2)',
            '        """Return the dot product of each query and key."""\n        return (query[:, :, None] * key[:, None]).mean(dim=-1)',
        ),
    ),
    Wrong(
        "products",
        "scaled by the number of keys",
        (1,),
        "scaled by the number of keys",
        change=(
            "        return query @ key.transpose(1, 2) / math.sqrt(query.shape[-1])",
            "        return query @ key.transpose(1, 2) / math.sqrt(key.shape[1])",
        ),
    ),
    Wrong(
        "products",
        "general with W applied twice",
        (2,),
        "a tanh too many",
        change=(
            "        return query @ self.project(key).transpose(1, 2)",
            "        return torch.tanh(query @ self.project(key).transpose(1, 2))",
        ),
    ),
    Wrong(
        "products",
        "keys flattened over the batch",
        (2,),
        "sentences added up",
        change=(
            "        return query @ self.project(key).transpose(1, 2)",
            '        keys = self.project(key)\n        return torch.einsum("bqd,ckd->bqk", query, keys)',
        ),
    ),
    Wrong(
        "networks",
        "the tanh outside the last map",
        (0,),
        "tanh of the score",
        change=(
            "        return self.v(torch.tanh(asking + asked)).squeeze(-1)",
            "        return torch.tanh(self.v(asking + asked)).squeeze(-1)",
        ),
    ),
    Wrong(
        "networks",
        "the product of the projections",
        (0,),
        "another operation between query and key",
        change=(
            "        return self.v(torch.tanh(asking + asked)).squeeze(-1)",
            "        return self.v(torch.tanh(asking * asked)).squeeze(-1)",
        ),
    ),
    Wrong(
        "networks",
        "sigmoid in concat",
        (2,),
        "sigmoid for tanh",
        change=(
            "        return self.v(torch.tanh(self.hidden(pairs))).squeeze(-1)",
            "        return self.v(torch.sigmoid(self.hidden(pairs))).squeeze(-1)",
        ),
    ),
    Wrong(
        "networks",
        "key before query, only for equal widths",
        (2,),
        "keys in front of queries",
        change=(
            "        pairs = torch.cat([asking, asked], dim=-1)",
            "        pairs = torch.cat([asked, asking], dim=-1)",
        ),
    ),
    Wrong(
        "networks",
        "the query repeated with repeat and reshaped",
        (2,),
        "pairs mixed up",
        change=(
            "        asking = query[:, :, None].expand(-1, -1, keys, -1)",
            "        asking = query.repeat(1, keys, 1).view(query.shape[0], queries, keys, -1)",
        ),
    ),
    Wrong(
        "conversion",
        "stacked by rows",
        (0,),
        "a weight of another shape",
        change=(
            "    return torch.cat([w_query, w_key], dim=1)",
            "    return torch.cat([w_query.T, w_key.T], dim=0)",
        ),
    ),
    Wrong(
        "conversion",
        "the two halves by chunk",
        (1,),
        "cut at the wrong place",
        change=(
            "    return w[:, :query_dim], w[:, query_dim:]",
            "    w_query, w_key = w.chunk(2, dim=1)\n    return w_query, w_key",
        ),
    ),
    Wrong(
        "conversion",
        "split with a list",
        (1,),
        "cannot be used",
        change=(
            "    return w[:, :query_dim], w[:, query_dim:]",
            "    return w.split(query_dim, dim=1)",
        ),
    ),
    Wrong(
        "attend",
        "zero instead of minus infinity",
        (1, 2),
        "zero hides nothing",
        change=(
            "        scores = scores.masked_fill(~mask[:, None], -math.inf)",
            "        scores = scores * mask[:, None]",
        ),
    ),
    Wrong(
        "attend",
        "softmax over the target",
        (0, 1, 2),
        "softmax over the queries",
        change=(
            "        weights = scores.softmax(dim=-1)",
            "        weights = scores.softmax(dim=1)",
        ),
    ),
    Wrong(
        "attend",
        "context of the states",
        (0, 1, 2),
        "an input comes back",
        change=(
            "        return weights @ memory, weights",
            '        context = torch.einsum("bts,btw->btw", weights, states)\n        return context, weights',
        ),
    ),
    Wrong(
        "attend",
        "context plus the state",
        (0, 1, 2),
        "an input added to the result",
        change=(
            "        return weights @ memory, weights",
            "        return weights @ memory + states, weights",
        ),
    ),
    Wrong(
        "attend",
        "the memory's padding zeroed first",
        (1, 2),
        "the memory cleared, nothing hidden",
        change=(
            "        scores = self.score(states, memory)  # (batch, target, source)\n        scores = scores.masked_fill(~mask[:, None], -math.inf)",
            "        memory = memory * mask[:, :, None]\n        scores = self.score(states, memory)  # (batch, target, source)",
        ),
    ),
    Wrong(
        "speed",
        "ratio of medians",
        (1, 2),
        "not divided round by round",
        code="""\
def compare_speed(steps, rounds, clock):
    for step in steps.values():
        step()
    times = {name: [] for name in steps}
    for _ in range(rounds):
        for name, step in steps.items():
            begin = clock()
            step()
            times[name].append(clock() - begin)
    base = statistics.median(next(iter(times.values())))
    return {
        n: (statistics.median(t) / base, min(t) / base, max(t) / base)
        for n, t in times.items()
    }
""",
    ),
    Wrong(
        "speed",
        "the first round thrown away as a warm-up",
        (0, 1, 2),
        "a call too few",
        code="""\
def compare_speed(steps, rounds, clock):
    ratios = {name: [] for name in steps}
    for number in range(rounds):
        seconds = {}
        for name, step in steps.items():
            begin = clock()
            step()
            seconds[name] = clock() - begin
        if number == 0:
            continue
        first = next(iter(seconds.values()))
        for name, taken in seconds.items():
            ratios[name].append(taken / first)
    return {n: (statistics.median(r), min(r), max(r)) for n, r in ratios.items()}
""",
    ),
    Wrong(
        "speed",
        "quartiles for the bounds",
        (2,),
        "other bounds",
        change=(
            "    return {n: (statistics.median(r), min(r), max(r)) for n, r in ratios.items()}",
            "    result = {}\n    for n, r in ratios.items():\n        low, middle, high = statistics.quantiles(r, n=4)\n        result[n] = (middle, low, high)\n    return result",
        ),
    ),
    Wrong(
        "speed",
        "the clock read between functions includes bookkeeping",
        (0, 1, 2),
        "not exact",
        change=(
            "            begin = clock()\n            step()\n            seconds[name] = clock() - begin",
            "            begin = clock()\n            step()\n            end = clock()\n            seconds[name] = end - begin\n            seconds[name] = max(seconds[name], 1e-3) // 1e-3 * 1e-3",
        ),
    ),
    Wrong(
        "bleu",
        "sentence ends after the first EOS",
        (1, 2),
        "<eos> left in",
        change=(
            '        ours.append(" ".join(tokens[i] for i in row[:end]))',
            '        ours.append(" ".join(tokens[i] for i in row[: end + 1]))',
        ),
    ),
    Wrong(
        "bleu",
        "only EOS filtered out",
        (1,),
        "goes on after <eos>",
        change=(
            '        end = row.index(EOS) if EOS in row else len(row)\n        ours.append(" ".join(tokens[i] for i in row[:end]))',
            '        ours.append(" ".join(tokens[i] for i in row if i not in (EOS, 0)))',
        ),
    ),
    Wrong(
        "bleu",
        "one reference set for each sentence",
        (2,),
        "each reference wrapped",
        change=(
            "    return metric.corpus_score(ours, [theirs]).score",
            "    return metric.corpus_score(ours, [[t] for t in theirs]).score",
        ),
    ),
    Wrong(
        "bleu",
        "cut to the length of the reference",
        (2,),
        "cut to the length of the reference",
        change=(
            "    for row in written.tolist():\n        end = row.index(EOS) if EOS in row else len(row)",
            "    for row, reference in zip(written.tolist(), references):\n        end = min(row.index(EOS) if EOS in row else len(row), len(reference))",
        ),
    ),
    Wrong(
        "bleu",
        "no exponential smoothing",
        (0, 1, 2),
        "another smoothing",
        change=(
            '    metric = BLEU(tokenize="none", force=True)',
            '    metric = BLEU(tokenize="none", force=True, smooth_method="add-k", effective_order=True)',
        ),
    ),
    Wrong(
        "alignment",
        "argmax over the whole row, eos included",
        (1,),
        "column of <eos> included",
        change=(
            "        best = matrix[:targets, :sources].argmax(dim=1).tolist()",
            "        best = matrix[:targets].argmax(dim=1).tolist()",
        ),
    ),
    Wrong(
        "alignment",
        "the share that is not found",
        (0, 1),
        "recall only",
        change=(
            "    return 1 - 2 * both / (found + wanted)",
            "    return 1 - both / wanted",
        ),
    ),
    Wrong(
        "alignment",
        "links with several gold sources counted once",
        (0, 1),
        "gold words counted, not gold links",
        change=(
            "        wanted += len(links)",
            "        wanted += len({t for _, t in links})",
        ),
    ),
    Wrong(
        "alignment",
        "threshold of one half",
        (0, 1),
        "links above a threshold",
        change=(
            "        best = matrix[:targets, :sources].argmax(dim=1).tolist()\n        own = {(source, target) for target, source in enumerate(best)}",
            "        part = matrix[:targets, :sources]\n        own = {(s, t) for t, s in (part > 0.5).nonzero().tolist()}",
        ),
    ),
    Wrong(
        "alignment",
        "links only for targets with gold",
        (0, 1),
        "only linked words",
        change=(
            "        own = {(source, target) for target, source in enumerate(best)}",
            "        linked = {t for _, t in links}\n        own = {(s, t) for t, s in enumerate(best) if t in linked}",
        ),
    ),
    Wrong(
        "experiment",
        "seed after the model is made",
        (1,),
        "seeded after the model is made",
        change=(
            "            torch.manual_seed(seed)\n            model = make()",
            "            model = make()\n            torch.manual_seed(seed)",
        ),
    ),
    Wrong(
        "experiment",
        "the mean over seeds",
        (1,),
        "",
        change=(
            "            results[name].append(measure(model, data.test))\n    return results",
            "            results[name].append(measure(model, data.test))\n    return {name: list(zip(*r)) if isinstance(r[0], tuple) else [sum(r) / len(r)] for name, r in results.items()}",
        ),
    ),
    Wrong(
        "experiment",
        "the index of the seed given to fit",
        (1,),
        "the same order of pairs",
        change=(
            "    for seed in seeds:\n        for name, make in variants.items():\n            torch.manual_seed(seed)\n            model = make()\n            fit(model, data.train, seed)",
            "    for number, seed in enumerate(seeds):\n        for name, make in variants.items():\n            torch.manual_seed(seed)\n            model = make()\n            fit(model, data.train, number)",
        ),
    ),
    Wrong(
        "experiment",
        "train and test joined",
        (0,),
        "trained on test data",
        change=(
            "            fit(model, data.train, seed)",
            "            fit(model, data.train + data.test, seed)",
        ),
    ),
    Wrong(
        "interval",
        "normal quantile",
        (0,),
        "normal for Student",
        change=(
            "    reach = T975[n - 1] * statistics.stdev(values) / math.sqrt(n)",
            "    reach = 1.96 * statistics.stdev(values) / math.sqrt(n)",
        ),
    ),
    Wrong(
        "interval",
        "divided by the root of n minus 1",
        (0,),
        "another root",
        change=(
            "    reach = T975[n - 1] * statistics.stdev(values) / math.sqrt(n)",
            "    reach = T975[n - 1] * statistics.stdev(values) / math.sqrt(n - 1)",
        ),
    ),
    Wrong(
        "interval",
        "the verdict by overlap of intervals",
        (1,),
        "intervals that overlap",
        change=(
            "    _, low, high = mean_and_interval([a - b for a, b in zip(first, second)])\n    if low > 0:\n        return 1\n    return -1 if high < 0 else 0",
            "    _, low, high = mean_and_interval(first)\n    _, other_low, other_high = mean_and_interval(second)\n    if low > other_high:\n        return 1\n    return -1 if high < other_low else 0",
        ),
    ),
    Wrong(
        "interval",
        "verdict by most seeds",
        (1,),
        "wins counted",
        change=(
            "    _, low, high = mean_and_interval([a - b for a, b in zip(first, second)])\n    if low > 0:\n        return 1\n    return -1 if high < 0 else 0",
            "    wins = sum(a > b for a, b in zip(first, second))\n    if wins > len(first) / 2:\n        return 1\n    return -1 if wins < len(first) / 2 else 0",
        ),
    ),
    Wrong(
        "interval",
        "the median and the interval round it",
        (0,),
        "the interval round another middle",
        change=(
            "    n, mean = len(values), statistics.fmean(values)",
            "    n, mean = len(values), statistics.median(values)",
        ),
    ),
    Wrong(
        "products",
        "dot with sorted keys",
        (0,),
        "the sign lost",
        change=(
            '        """Return the dot product of each query and key."""\n        return query @ key.transpose(1, 2)',
            '        """Return the dot product of each query and key."""\n        return (query @ key.transpose(1, 2)).abs()',
        ),
    ),
    Wrong(
        "products",
        "general with the query mapped",
        (2,),
        "",
        change=(
            "        return query @ self.project(key).transpose(1, 2)",
            "        return (query / query.norm(dim=-1, keepdim=True)) @ self.project(key).transpose(1, 2)",
        ),
    ),
    Wrong(
        "networks",
        "additive with the mean over hidden",
        (0,),
        "another size inside the tanh",
        change=(
            "        return self.v(torch.tanh(asking + asked)).squeeze(-1)",
            "        return self.v(torch.tanh((asking + asked) / 2)).squeeze(-1)",
        ),
    ),
    Wrong(
        "networks",
        "concat with a maximum for v",
        (2,),
        "a factor that is a size",
        change=(
            "        return self.v(torch.tanh(self.hidden(pairs))).squeeze(-1)",
            "        return self.v(torch.tanh(self.hidden(pairs))).squeeze(-1) / math.sqrt(pairs.shape[-1])",
        ),
    ),
    Wrong(
        "attend",
        "mean of the memory instead of the last",
        (0, 1, 2),
        "",
        change=(
            "        return weights @ memory, weights",
            "        return weights @ (memory * mask[:, :, None]) / mask.sum(1)[:, None, None], weights",
        ),
    ),
    Wrong(
        "attend",
        "mask of the first key forgotten",
        (1, 2),
        "",
        change=(
            "        scores = scores.masked_fill(~mask[:, None], -math.inf)",
            "        shifted = torch.cat([mask[:, :1], mask[:, :-1]], dim=1)\n        scores = scores.masked_fill(~shifted[:, None], -math.inf)",
        ),
    ),
    Wrong(
        "speed",
        "ratio of the sums",
        (2,),
        "another middle",
        change=(
            "    return {n: (statistics.median(r), min(r), max(r)) for n, r in ratios.items()}",
            "    return {n: (statistics.geometric_mean(r), min(r), max(r)) for n, r in ratios.items()}",
        ),
    ),
    Wrong(
        "bleu",
        "references lowered",
        (0, 1, 2),
        "one side in small letters",
        change=(
            '    theirs = [" ".join(words) for words in references]',
            '    theirs = [" ".join(words).lower() for words in references]',
        ),
    ),
    Wrong(
        "bleu",
        "sentences sorted by length",
        (2,),
        "sentences out of step",
        change=(
            "    return metric.corpus_score(ours, [theirs]).score",
            "    return metric.corpus_score(sorted(ours), [sorted(theirs)]).score",
        ),
    ),
    Wrong(
        "alignment",
        "a set of all links without sentences",
        (0, 1),
        "",
        change=(
            "        both += len(own & set(links))",
            "        both += len({s for s, _ in own} & {s for s, _ in links})",
        ),
    ),
    Wrong(
        "experiment",
        "fit without the seed's order",
        (0,),
        "trained on test data",
        change=(
            "            fit(model, data.train, seed)",
            "            fit(model, data.train[: len(data.train) // 2 + 1], seed)",
        ),
    ),
    Wrong(
        "interval",
        "both tails twice",
        (0,),
        "",
        change=(
            "    return mean, mean - reach, mean + reach",
            "    return mean, mean - 2 * reach, mean + 2 * reach",
        ),
    ),
    Wrong(
        "interval",
        "verdict by the mean's sign and low",
        (1,),
        "",
        change=(
            "    if low > 0:\n        return 1\n    return -1 if high < 0 else 0",
            "    if low > 0 or high > 0 and low + high > 1:\n        return 1\n    return -1 if high < 0 or low < 0 and low + high < -1 else 0",
        ),
    ),
    Wrong(
        "speed",
        "bounds leave out the last round",
        (2,),
        "other bounds",
        change=(
            "min(r), max(r)",
            "min(r[:-1]), max(r[:-1])",
        ),
    ),
    Wrong(
        "products",
        "root of the number of queries",
        (1,),
        "scaled by the number of queries",
        change=(
            "math.sqrt(query.shape[-1])",
            "math.sqrt(query.shape[1])",
        ),
    ),
    Wrong(
        "networks",
        "tanh of each projection and of the sum",
        (0,),
        "two tanh, one after the other",
        change=(
            "        return self.v(torch.tanh(asking + asked)).squeeze(-1)",
            "        return self.v(torch.tanh(torch.tanh(asking) + torch.tanh(asked))).squeeze(-1)",
        ),
    ),
    Wrong(
        "networks",
        "tanh of the pair before the map",
        (2,),
        "tanh of the pair",
        change=(
            "self.v(torch.tanh(self.hidden(pairs)))",
            "self.v(self.hidden(torch.tanh(pairs)))",
        ),
    ),
    Wrong(
        "conversion",
        "cut at the hidden width",
        (1,),
        "cut at the wrong place",
        change=(
            "    return w[:, :query_dim], w[:, query_dim:]",
            "    return w[:, : len(w)], w[:, len(w) :]",
        ),
    ),
    Wrong(
        "conversion",
        "columns taken in turns",
        (1,),
        "",
        code="""\
def concat_weight(w_query, w_key):
    return torch.cat([w_query, w_key], dim=1)


def additive_weights(w, query_dim):
    return w[:, ::2], w[:, 1::2]
""",
    ),
    Wrong(
        "attend",
        "softmax of the softmax",
        (0, 1, 2),
        "a softmax too many",
        change=(
            "        weights = scores.softmax(dim=-1)",
            "        weights = scores.softmax(dim=-1).softmax(dim=-1)",
        ),
    ),
    Wrong(
        "attend",
        "the context divided by the number of words",
        (0, 1, 2),
        "another memory read",
        change=(
            "        return weights @ memory, weights",
            "        return weights @ memory / mask.sum(1)[:, None, None], weights",
        ),
    ),
    Wrong(
        "speed",
        "bounds leave out the first round",
        (2,),
        "other bounds",
        change=(
            "min(r), max(r)",
            "min(r[1:]), max(r[1:])",
        ),
    ),
    Wrong(
        "speed",
        "divided by the first function's mean time",
        (1, 2),
        "not divided round by round",
        code="""\
def compare_speed(steps, rounds, clock):
    for step in steps.values():
        step()
    times = {name: [] for name in steps}
    for _ in range(rounds):
        for name, step in steps.items():
            begin = clock()
            step()
            times[name].append(clock() - begin)
    first = statistics.mean(next(iter(times.values())))
    ratios = {n: [x / first for x in t] for n, t in times.items()}
    return {n: (statistics.median(r), min(r), max(r)) for n, r in ratios.items()}
""",
    ),
    Wrong(
        "speed",
        "divided by the function before it",
        (0, 1, 2),
        "divided by the function before it",
        change=(
            "        first = next(iter(seconds.values()))\n        for name, taken in seconds.items():\n            ratios[name].append(taken / first)",
            "        first = next(iter(seconds.values()))\n        for name, taken in seconds.items():\n            ratios[name].append(taken / first)\n            first = taken",
        ),
    ),
    Wrong(
        "bleu",
        "a sentence ends at the padding",
        (1, 2),
        "goes on after <eos>",
        change=(
            "        end = row.index(EOS) if EOS in row else len(row)",
            "        end = row.index(0) if 0 in row else len(row)",
        ),
    ),
    Wrong(
        "bleu",
        "all cut where the longest ends",
        (2,),
        "",
        code="""\
def corpus_bleu(written, references, tokens):
    end = max(row.index(EOS) if EOS in row else len(row) for row in written.tolist())
    ours = [" ".join(tokens[i] for i in row[:end]) for row in written.tolist()]
    theirs = [" ".join(words) for words in references]
    return BLEU(tokenize="none", force=True).corpus_score(ours, [theirs]).score
""",
    ),
    Wrong(
        "alignment",
        "brackets forgotten below",
        (0, 1),
        "brackets forgotten",
        change=(
            "    return 1 - 2 * both / (found + wanted)",
            "    return 1 - 2 * both / found + wanted",
        ),
    ),
    Wrong(
        "alignment",
        "shared links over all links",
        (0, 1),
        "shared links over all links",
        change=(
            "    return 1 - 2 * both / (found + wanted)",
            "    return 1 - both / (found + wanted - both)",
        ),
    ),
    Wrong(
        "experiment",
        "seeded with Python's random",
        (1,),
        "never seeded",
        change=(
            "            torch.manual_seed(seed)",
            '            __import__("random").seed(seed)',
        ),
    ),
    Wrong(
        "experiment",
        "seed shifted by the place of the variant",
        (1,),
        "another seed for each variant",
        change=(
            "        for name, make in variants.items():\n            torch.manual_seed(seed)",
            "        for i, (name, make) in enumerate(variants.items()):\n            torch.manual_seed(seed + i)",
        ),
    ),
    Wrong(
        "interval",
        "absolute differences",
        (1,),
        "the sign of the differences lost",
        change=(
            "[a - b for a, b in zip(first, second)]",
            "[abs(a - b) for a, b in zip(first, second)]",
        ),
    ),
    Wrong(
        "interval",
        "all differences of all pairs",
        (1,),
        "differences of all pairs",
        change=(
            "[a - b for a, b in zip(first, second)]",
            "[a - b for a in first for b in second][: len(T975)]",
        ),
    ),
]
RIGHT = [
    Right(
        "products",
        "by einsum and bmm",
        code="""\
class Dot(nn.Module):
    def forward(self, query, key):
        return torch.bmm(query, key.permute(0, 2, 1))
class ScaledDot(nn.Module):
    def forward(self, query, key):
        return torch.einsum("bqd,bkd->bqk", query, key) * query.size(2) ** -0.5
class General(nn.Module):
    def __init__(self, query_dim, key_dim):
        super().__init__()
        self.project = nn.Linear(key_dim, query_dim, bias=False)
    def forward(self, query, key):
        return torch.einsum("bqd,de,bke->bqk", query, self.project.weight, key)
""",
    ),
    Right(
        "networks",
        "one key at a time",
        code="""\
class Additive(nn.Module):
    def __init__(self, query_dim, key_dim, hidden_dim):
        super().__init__()
        self.query_proj = nn.Linear(query_dim, hidden_dim, bias=False)
        self.key_proj = nn.Linear(key_dim, hidden_dim, bias=False)
        self.v = nn.Linear(hidden_dim, 1, bias=False)
    def forward(self, query, key):
        q, k = self.query_proj(query), self.key_proj(key)
        return torch.cat([self.v((q + k[:, j : j + 1]).tanh()) for j in range(k.shape[1])], -1)
""",
    ),
    Right(
        "attend",
        "bmm and where",
        code="""\
class Attention(nn.Module):
    def __init__(self, score):
        super().__init__()
        self.score = score
    def forward(self, memory, states, mask):
        s = self.score(states, memory)
        s = torch.where(mask.unsqueeze(1), s, torch.tensor(float("-inf"), device=s.device))
        w = nn.functional.softmax(s, 2)
        return torch.einsum("bts,bsd->btd", w, memory), w
""",
    ),
    Right(
        "alignment",
        "with sets of triples",
        code="""\
def alignment_error(weights, lengths, gold):
    a, g = set(), set()
    for b, (t, s) in enumerate(lengths):
        a |= {(b, int(weights[b, i, :s].argmax()), i) for i in range(t)}
        g |= {(b, *map(int, link)) for link in gold[b]}
    return 1 - 2 * len(a & g) / (len(a) + len(g))
""",
    ),
    Right(
        "interval",
        "by torch",
        code="""\
def mean_and_interval(values):
    x = torch.tensor(values, dtype=torch.float64)
    half = T975[len(x) - 1] * (x.std() / len(x) ** 0.5).item()
    m = x.mean().item()
    return (m, m - half, m + half)
""",
    ),
    Right(
        "networks",
        "linear maps by parts of the matrix",
        code='''\
class Additive(nn.Module):
    def __init__(self, query_dim, key_dim, hidden_dim):
        super().__init__()
        self.query_proj = nn.Linear(query_dim, hidden_dim, bias=False)  # W_q
        self.key_proj = nn.Linear(key_dim, hidden_dim, bias=False)  # W_k
        self.v = nn.Linear(hidden_dim, 1, bias=False)

    def forward(self, query, key):
        """Return the additive score of each query and key."""
        q, k = self.query_proj(query), self.key_proj(key)
        pairs = (q.unsqueeze(2) + k.unsqueeze(1)).tanh()
        return (pairs @ self.v.weight[0])


class Concat(nn.Module):
    def __init__(self, query_dim, key_dim, hidden_dim):
        super().__init__()
        self.hidden = nn.Linear(query_dim + key_dim, hidden_dim, bias=False)  # W
        self.v = nn.Linear(hidden_dim, 1, bias=False)

    def forward(self, query, key):
        """Return the concat score of each query and key."""
        b, q, k = query.size(0), query.size(1), key.size(1)
        left = query.repeat_interleave(k, dim=1)
        right = key.repeat(1, q, 1)
        scores = self.v(self.hidden(torch.cat((left, right), -1)).tanh())
        return scores.view(b, q, k)
''',
    ),
    Right(
        "attend",
        "with baddbmm and a where",
        change=(
            "        scores = scores.masked_fill(~mask[:, None], -math.inf)\n        weights = scores.softmax(dim=-1)\n        return weights @ memory, weights",
            "        hidden = mask.logical_not().unsqueeze(1).expand_as(scores)\n        scores = torch.where(hidden, torch.full_like(scores, -1e9), scores)\n        weights = nn.functional.softmax(scores, -1)\n        return torch.bmm(weights, memory), weights",
        ),
    ),
    Right(
        "interval",
        "by hand",
        code="""\
def mean_and_interval(values):
    values = [float(v) for v in values]
    n = len(values)
    mean = sum(values) / n
    variance = sum((v - mean) ** 2 for v in values) / (n - 1)
    error = math.sqrt(variance / n)
    return mean, mean - T975[n - 1] * error, mean + T975[n - 1] * error


def verdict(first, second):
    differences = [first[i] - second[i] for i in range(len(first))]
    mean, low, high = mean_and_interval(differences)
    return int(low > 0) - int(high < 0)
""",
    ),
    Right(
        "speed",
        "the upper one of two in the middle",
        change=(
            "statistics.median(r)",
            "sorted(r)[len(r) // 2]",
        ),
    ),
    Right(
        "speed",
        "two warm-up rounds, bounds by sorting",
        code="""\
def compare_speed(steps, rounds, clock):
    for _ in range(2):
        for step in steps.values():
            step()
    rows = []
    for _ in range(rounds):
        row = []
        for step in steps.values():
            start = clock()
            step()
            row.append(clock() - start)
        rows.append([t / row[0] for t in row])
    ordered = {name: sorted(r[i] for r in rows) for i, name in enumerate(steps)}
    return {n: (statistics.median(r), r[0], r[-1]) for n, r in ordered.items()}
""",
    ),
    Right(
        "alignment",
        "error rate from matrices of booleans",
        code="""\
def alignment_error(weights, lengths, gold):
    both = total = 0
    for matrix, (t, s), links in zip(weights, lengths, gold):
        own = torch.zeros(t, s, dtype=torch.bool)
        own[torch.arange(t), matrix[:t, :s].argmax(-1)] = True
        right = torch.zeros(t, s, dtype=torch.bool)
        for i, j in links:
            right[j, i] = True
        both += (own & right).sum().item()
        total += own.sum().item() + right.sum().item()
    return 1 - 2 * both / total
""",
    ),
]
