"""Answers that no check knew when they were written, right and wrong."""

# ruff: noqa: E501  (students' lines are as long as they are)

from tests.exercises.answers import Right, Wrong

VARIANTS = [
    Wrong(
        "products",
        "root rounded down",
        (1,),
        "each row a multiple",
        change=(
            "/ math.sqrt(query.shape[-1])",
            "/ int(math.sqrt(query.shape[-1]))",
        ),
    ),
    Wrong(
        "networks",
        "hard tanh",
        (0,),
        "hard tanh for tanh",
        change=(
            "torch.tanh(asking + asked)",
            "(asking + asked).clamp(-1, 1)",
        ),
    ),
    Wrong(
        "networks",
        "additive squeezed everywhere",
        (0,),
        "wrong shape",
        change=(
            "self.v(torch.tanh(asking + asked)).squeeze(-1)",
            "self.v(torch.tanh(asking + asked)).squeeze()",
        ),
    ),
    Wrong(
        "networks",
        "concat scaled by root of hidden",
        (2,),
        "a factor that is a size",
        change=(
            "self.v(torch.tanh(self.hidden(pairs))).squeeze(-1)",
            "self.v(torch.tanh(self.hidden(pairs))).squeeze(-1) / self.v.in_features ** 0.5",
        ),
    ),
    Wrong(
        "attend",
        "infinity times zero",
        (0, 1, 2),
        "everything hidden",
        change=(
            "scores = scores.masked_fill(~mask[:, None], -math.inf)",
            "scores = scores + -math.inf * ~mask[:, None]",
        ),
    ),
    Wrong(
        "attend",
        "the three best words only",
        (0, 1, 2),
        "",
        change=(
            "weights = scores.softmax(dim=-1)",
            "best = scores.topk(min(2, scores.shape[-1]), -1)\n        weights = torch.full_like(scores, -math.inf).scatter(-1, best.indices, best.values).softmax(dim=-1)",
        ),
    ),
    Wrong(
        "attend",
        "context without gradient to memory",
        (2,),
        "memory or states cut off",
        change=(
            "weights @ memory, weights",
            "weights @ memory.detach(), weights",
        ),
    ),
    Wrong(
        "speed",
        "highest before lowest",
        (2,),
        "another order of the three numbers",
        change=(
            "min(r), max(r)",
            "max(r), min(r)",
        ),
    ),
    Wrong(
        "speed",
        "timed twice in a round, the second counts",
        (2,),
        "called too often",
        change=(
            "            begin = clock()\n",
            "            step()\n            begin = clock()\n",
        ),
    ),
    Wrong(
        "bleu",
        "bigrams only",
        (0, 1, 2),
        "runs of another length",
        change=(
            "force=True)",
            "force=True, max_ngram_order=2)",
        ),
    ),
    Wrong(
        "bleu",
        "no brevity penalty",
        (0, 1, 2),
        "no penalty for short texts",
        change=(
            "metric.corpus_score(ours, [theirs]).score",
            "(lambda s: s.score / s.bp)(metric.corpus_score(ours, [theirs]))",
        ),
    ),
    Wrong(
        "alignment",
        "eos row counted as a link",
        (0, 1),
        "a link too many counted",
        change=(
            "found += len(own)",
            "found += len(own) + 1",
        ),
    ),
    Wrong(
        "alignment",
        "links of likely words only",
        (1,),
        "",
        change=(
            "own = {(source, target) for target, source in enumerate(best)}",
            "sure = matrix[:targets, :sources].amax(1) > 1 / sources\n        own = {(source, target) for target, source in enumerate(best) if sure[target]}",
        ),
    ),
    Wrong(
        "experiment",
        "copies of one untrained model",
        (1,),
        "one model for all seeds",
        change=(
            "    for seed in seeds:",
            "    import copy\n    made = {n: m() for n, m in variants.items()}\n    variants = {n: (lambda n=n: copy.deepcopy(made[n])) for n in made}\n    for seed in seeds:",
        ),
    ),
    Wrong(
        "interval",
        "percentiles of the values",
        (0, 1),
        "lowest and highest",
        change=(
            "return mean, mean - reach, mean + reach",
            "o = sorted(values)\n    return mean, o[int(0.025 * n)], o[int(0.975 * n)]",
        ),
    ),
    Wrong(
        "interval",
        "margin on both sides of first only",
        (1,),
        "never for the first",
        change=(
            "    if low > 0:",
            "    if low > 0 and min(first) > max(second):",
        ),
    ),
    Wrong(
        "attend",
        "states without gradient",
        (2,),
        "memory or states cut off",
        change=(
            "self.score(states, memory)",
            "self.score(states.detach(), memory)",
        ),
    ),
]

RELATIVE = [
    Wrong(
        "buckets",
        "root for logarithm",
        (1,),
        "root in place of the logarithm",
        change=(
            "torch.log(steps.clamp(min=1) / near) / math.log(max_distance / near)",
            "((steps - near).clamp(min=0) / (max_distance - near)).sqrt()",
        ),
    ),
    Wrong(
        "bias",
        "bias never positive",
        (0, 1),
        "bias cut off at 0",
        change=(
            "scores = scores + bias",
            "scores = scores + bias.clamp(max=0)",
        ),
    ),
    Wrong(
        "table",
        "tanh of the table",
        (0,),
        "",
        change=(
            "self.scale * self.table[rows]",
            "self.scale * self.table[rows].tanh()",
        ),
    ),
    Wrong(
        "table",
        "clipped to the distance first",
        (0, 1),
        "far distances wrong",
        change=(
            "rows = buckets(distances, self.num_buckets, self.max_distance)",
            "rows = buckets(distances.clamp(min=-self.max_distance // 2), self.num_buckets, self.max_distance)",
        ),
    ),
    Wrong(
        "alibi",
        "no farther than eight tokens",
        (1,),
        "right slopes, other distances",
        change=(
            "steps = relative_distances(queries, keys, offset).abs()",
            "steps = relative_distances(queries, keys, offset).abs().clamp(max=8)",
        ),
    ),
    Wrong(
        "rotary",
        "rates down to the base itself",
        (0,),
        "rates fall at the wrong pace",
        change=(
            "base ** (-torch.arange(0, width, 2) / width)",
            "base ** -torch.linspace(0, 1, width // 2)",
        ),
    ),
    Wrong(
        "rotary",
        "every position twice as far",
        (0,),
        "other angles",
        change=(
            "positions.cpu()[:, None] * rates",
            "2 * positions.cpu()[:, None] * rates",
        ),
    ),
    Wrong(
        "schemes",
        "alibi is halved",
        (0, 2),
        "one scheme wrong",
        change=(
            "bias = alibi(heads, queries, keys, offset).to(query)",
            "bias = alibi(heads, queries, keys, offset).to(query) / math.sqrt(query.shape[-1])",
        ),
    ),
    Wrong(
        "schemes",
        "keys counted from the queries",
        (1, 2),
        "queries and keys counted from different numbers",
        change=(
            "query, key = rotate(query, offset + torch.arange(queries)), rotate(key)",
            "query, key = rotate(query), rotate(key, torch.arange(keys) - offset + 1)",
        ),
    ),
    Wrong(
        "evaluation",
        "first padding ends the batch",
        (0,),
        "",
        change=(
            "return (loss.sum(dim=0) / (targets != 0).sum(dim=0)).cpu()",
            "whole = (targets != 0).all(dim=0)\n    return torch.where(whole, loss.mean(dim=0), 0).cpu()",
        ),
    ),
    Wrong(
        "lengths",
        "learns to repeat the token just read",
        (0,),
        "another token learned",
        change=(
            "tokens[:, 1:])",
            "tokens[:, :-1])",
        ),
    ),
    Wrong(
        "lengths",
        "learns from the last prediction only",
        (0,),
        "a part of the predictions learned from",
        change=(
            "F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:])",
            "F.cross_entropy(logits[:, -1], tokens[:, -1])",
        ),
    ),
    Wrong(
        "lengths",
        "learns from the second half only",
        (0,),
        "a part of the predictions learned from",
        change=(
            "F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:])",
            "F.cross_entropy(logits[:, trained // 2 :].transpose(1, 2), tokens[:, trained // 2 + 1 :])",
        ),
    ),
    Wrong(
        "lengths",
        "learns from the first text only",
        (0,),
        "a part of the predictions learned from",
        change=(
            "F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:])",
            "F.cross_entropy(logits[0], tokens[0, 1:])",
        ),
    ),
    Wrong(
        "lengths",
        "probabilities in training",
        (0,),
        "another loss in training",
        change=(
            "F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:])",
            "F.cross_entropy(logits.softmax(-1).transpose(1, 2), tokens[:, 1:])",
        ),
    ),
    Wrong(
        "lengths",
        "holds at one length at least",
        (1,),
        "so, and should not be",
        change=(
            "if max(loss.values()) - loss[min(loss)] <= margin",
            "if any(v - loss[min(loss)] <= margin for n, v in loss.items() if n != min(loss))",
        ),
    ),
    Wrong(
        "lengths",
        "against the mean of all lengths",
        (1,),
        "so, and should not be",
        change=(
            "loss[min(loss)]",
            "sum(loss.values()) / len(loss)",
        ),
    ),
    Wrong(
        "finding",
        "another width",
        (0, 1),
        "a model of another size",
        change=(
            "return LanguageModel(attend, scheme, learned)",
            "return LanguageModel(attend, scheme, learned, d_model=16)",
        ),
    ),
    Wrong(
        "finding",
        "one layer",
        (0,),
        "a model of another size",
        change=(
            "return LanguageModel(attend, scheme, learned)",
            "return LanguageModel(attend, scheme, learned, num_layers=1)",
        ),
    ),
    Wrong(
        "lengths",
        "losses added up in training",
        (0,),
        "another loss in training",
        change=(
            "F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:])",
            'F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:], reduction="sum")',
        ),
    ),
    Wrong(
        "lengths",
        "smoothed targets",
        (0,),
        "another loss in training",
        change=(
            "F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:])",
            "F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:], label_smoothing=0.1)",
        ),
    ),
    Wrong(
        "lengths",
        "the token before is learned",
        (0,),
        "another token learned",
        change=(
            "logits = model(tokens[:, :-1])\n        return F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:])",
            "logits = model(tokens)[:, 1:]\n        return F.cross_entropy(logits.transpose(1, 2), tokens[:, :-1])",
        ),
    ),
    Wrong(
        "finding",
        "eight heads",
        (0,),
        "a model of another size",
        change=(
            'LearnedBias(4, 16, 20) if scheme == "table" else None\n    return LanguageModel(attend, scheme, learned)',
            'LearnedBias(8, 16, 20) if scheme == "table" else None\n    return LanguageModel(attend, scheme, learned, num_heads=8)',
        ),
    ),
    Wrong(
        "finding",
        "three layers",
        (0,),
        "a model of another size",
        change=(
            "return LanguageModel(attend, scheme, learned)",
            "return LanguageModel(attend, scheme, learned, num_layers=3)",
        ),
    ),
]

EFFICIENT = [
    Wrong(
        "pattern",
        "global blocks at the end too",
        (2, 3),
        "too many blocks are seen",
        change=(
            "*range(min(num_global, blocks))",
            "*range(min(num_global, blocks)), *range(blocks - num_global, blocks)",
        ),
    ),
    Wrong(
        "costs",
        "blocks and one more",
        (2,),
        "blocks counted wrongly",
        change=(
            "math.ceil(tokens / window)",
            "tokens // window + 1",
        ),
    ),
    Wrong(
        "costs",
        "window and width added",
        (2,),
        "",
        change=(
            "2 * max(window, width)",
            "(window + width)",
        ),
    ),
    Wrong(
        "timing",
        "five repeats whatever is asked",
        (1,),
        "another number of repeats",
        change=(
            "range(repeats)",
            "range(5)",
        ),
    ),
    Wrong(
        "timing",
        "crossover one too late",
        (3,),
        "too late a length",
        change=(
            "            found = n",
            "            found = lengths[min(lengths.index(n) + 1, len(lengths) - 1)]",
        ),
    ),
    Wrong(
        "quality",
        "window counted per head",
        (1, 2),
        "True too seldom",
        change=(
            "window=self.window,",
            "window=self.window // self.heads or 1,",
        ),
    ),
    Wrong(
        "sparse",
        "keys of earlier blocks twice",
        (0, 1, 2),
        "keys that count more than once",
        change=(
            "places = places[places < tokens]",
            "places = places[places < tokens]\n        places = torch.cat([places[places // block_size < block], places])",
        ),
    ),
    Wrong(
        "sparse",
        "the last block with its own queries only",
        (1, 2),
        "links of several rules missing",
        change=(
            "places = places[places < tokens]",
            "places = places[places < tokens] if (block + 1) * block_size <= tokens else places[(places // block_size == block) & (places < tokens)]",
        ),
    ),
]

VARIANTS_RIGHT = [
    Right(
        "attend",
        "one sentence at a time, cut to its words",
        code="""\
class Attention(nn.Module):
    def __init__(self, score):
        super().__init__()
        self.score = score

    def forward(self, memory, states, mask):
        contexts, weights = [], []
        scores = self.score(states, memory)
        for own, words, seen in zip(scores, memory, mask):
            shares = torch.zeros_like(own)
            shares[:, seen] = own[:, seen].softmax(dim=-1)
            weights.append(shares)
            contexts.append(shares @ words)
        return torch.stack(contexts), torch.stack(weights)
""",
    ),
    Right(
        "alignment",
        "by arrays and a counter",
        code="""\
from collections import Counter


def alignment_error(weights, lengths, gold):
    count = Counter()
    for sentence, (targets, sources) in enumerate(lengths):
        words = weights[sentence, :targets, :sources]
        links = {(int(words[t].argmax()), t) for t in range(targets)}
        right = set(map(tuple, gold[sentence]))
        count.update(shared=len(links & right), all=len(links) + len(right))
    return (count["all"] - 2 * count["shared"]) / count["all"]
""",
    ),
]

RELATIVE_RIGHT = [
    Right(
        "lengths",
        "an own loop, a loss for each text, seeds far apart",
        code="""\
def train_and_test(model, draw, steps, lengths, trained=32):
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    model.train()
    for step in range(steps):
        texts = draw(32, trained, 10_000 + step)
        optimizer.zero_grad()
        chances = model(texts)[:, :-1].log_softmax(-1)
        of_texts = -chances.gather(-1, texts[:, 1:, None]).squeeze(-1).mean(dim=1)
        of_texts.mean().backward()
        optimizer.step()
    return loss_at_lengths(model, {n: draw(64, n, n) for n in lengths}, trained - 1)


def holds(losses, margin=0.2):
    found = set(losses)
    for scheme, loss in losses.items():
        short = sorted(loss.items())[0][1]
        if any(value - short > margin for value in loss.values()):
            found.discard(scheme)
    return found
""",
    ),
    Right(
        "lengths",
        "the loss in sums, divided by the number of predictions",
        code="""\
def train_and_test(model, draw, steps, lengths, trained=32):
    def batch_of(step):
        return (draw(32, trained, 2 * step),)

    def loss_of(model, texts):
        logits = model(texts)[:, :-1].flatten(0, 1)
        total = F.cross_entropy(logits, texts[:, 1:].flatten(), reduction="sum")
        return total / (len(texts) * (trained - 1))

    train(model, batch_of, loss_of, steps=steps, learning_rate=5e-3, progress=False)
    tests = {n: draw(64, n, 2 * n + 1) for n in lengths}
    return loss_at_lengths(model, tests, trained - 1)


def holds(losses, margin=0.2):
    return {
        scheme
        for scheme, loss in losses.items()
        if all(value <= loss[min(loss)] + margin for value in loss.values())
    }
""",
    ),
    # No scheme but one looks at it, so the models compute the same.
    Right(
        "finding",
        "a table that is handed to every model",
        change=(
            'LearnedBias(4, 16, 20) if scheme == "table" else None',
            "LearnedBias(4, 16, 20)",
        ),
    ),
]

EFFICIENT_RIGHT = [
    # The maps are learned: which rows of the matrix make what is a matter of names.
    Right(
        "quality",
        "maps in the order values, keys, queries",
        change=(
            "window_attention(*split,",
            "window_attention(*list(split)[::-1],",
        ),
    ),
    Right(
        "local",
        "the band as a view of one line, keys in reverse",
        code="""\
def window_attention(query, key, value, window, causal=False):
    n = query.shape[-2]
    behind = torch.arange(2 * n - 1) - (n - 1)
    near = (behind >= 0) & (behind < window) if causal else behind.abs() <= window
    line = torch.where(near, 0.0, -math.inf)
    bias = line.unfold(0, n, 1)
    given = [x.reshape(1, -1, *x.shape[-2:]) for x in (query, key.flip(-2), value.flip(-2))]
    return F.scaled_dot_product_attention(*given, attn_mask=bias).reshape(value.shape)
""",
    ),
    Right(
        "sparse",
        "runs of blocks, sums of exponentials by the way",
        code="""\
def sparse_attention(query, key, value, block_size, window, stride, num_global):
    n = query.shape[-2]
    cut = lambda x: x.split(block_size, dim=-2)
    keys, values, rows = cut(key), cut(value), []
    for b, own in enumerate(cut(query / query.shape[-1] ** 0.5)):
        seen = seen_blocks(b, len(keys), window, stride, num_global)
        scores = [own @ keys[j].mT for j in seen]
        top = torch.stack([s.amax(-1) for s in scores]).amax(0)[..., None]
        shares = [(s - top).exp() for s in scores]
        total = sum(s.sum(-1, keepdim=True) for s in shares)
        rows.append(sum(s @ values[j] for s, j in zip(shares, seen)) / total)
    return torch.cat(rows, dim=-2)
""",
    ),
]
