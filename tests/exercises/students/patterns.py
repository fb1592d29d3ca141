"""Answers to exercise 2 of people who did it, right and wrong."""

from tests.exercises.answers import Right, Wrong

WRONG = [
    Wrong(
        "pictures",
        "one head is no list",
        (2,),
        "one head is no list",
        code="""\
def draw_heads(weights, queries, keys):
    fig, axes = plt.subplots(1, len(weights))
    for i, ax in enumerate(axes):
        ax.imshow(weights[i], vmin=0, vmax=1)
        ax.set_xticks(range(len(keys)), keys)
        ax.set_yticks(range(len(queries)), queries)
        ax.set_title(f"head {i}")
    return axes
""",
    ),
    Wrong(
        "token",
        "only the last copy",
        (0, 1, 2),
        "the last copy only",
        code="""\
def looks_same(weights, tokens):
    out, n = torch.zeros(weights.shape[1]), 0
    for b in range(len(tokens)):
        for i in range(tokens.shape[1]):
            js = [j for j in range(i) if tokens[b, j] == tokens[b, i] != 0]
            if js:
                out += weights[b, :, i, js[-1]]
                n += 1
    return out / n


def looks_after(weights, tokens):
    out, n = torch.zeros(weights.shape[1]), 0
    for b in range(len(tokens)):
        for i in range(tokens.shape[1]):
            js = [j for j in range(i) if tokens[b, j] == tokens[b, i] != 0]
            if js:
                out += weights[b, :, i, js[-1] + 1]
                n += 1
    return out / n
""",
    ),
    Wrong(
        "alignment",
        "a dict keeps the last link",
        (1,),
        "one link of each token",
        code="""\
def alignment_hits(weights, links):
    best = weights.argmax(-1)
    hits, asked = torch.zeros(weights.shape[1]), 0
    for b, pairs in enumerate(links):
        source_of = {t: s for s, t in pairs}
        for t, s in source_of.items():
            asked += 1
            hits += (best[b, :, t] == s).float()
    return hits / asked
""",
    ),
    Wrong(
        "measures",
        "a ratio of sums",
        (1, 2),
        "a ratio of sums",
        code="""\
def reach(weights, tokens):
    q, k = weights.shape[-2:]
    far = (torch.arange(q)[:, None] - torch.arange(k)).abs()
    real = tokens != 0
    return (weights * far).sum(-1).transpose(0, 1)[:, real].mean(-1)


def spread(weights, visible):
    e = torch.special.entr(weights).sum(-1).transpose(0, 1)
    m = visible.sum(-1)
    return e[:, m > 1].sum(-1) / m[m > 1].log().sum()
""",
    ),
    Wrong(
        "languages",
        "a list",
        (0,),
        "cannot be used",
        code="""\
def reach_of_languages(translators, corpus):
    out = []
    for language, (model, v) in translators.items():
        source, target = translation_tensors(
            corpus[language], v["source"], v["target"]
        )
        w = translator_weights(model, source, target, "cross")[-1]
        best = alignment_hits(w, [p.alignment for p in corpus[language]]).argmax()
        out.append(reach(w, target)[best])
    return out
""",
    ),
    Wrong(
        "which",
        "half the way, counted from 0",
        (1,),
        "higher than a head that looks everywhere",
        code="""\
def find_heads(scores, alike):
    found = {}
    for name, table in scores.items():
        best = table.argmax()
        layer, head = best // table.shape[1], best % table.shape[1]
        if table.max() < (1 - alike[name]) / 2:
            found[name] = None
        else:
            found[name] = (layer, head)
    return found
""",
    ),
    Wrong(
        "translator",
        "rows of the source in all three, mode lost",
        (0, 1, 2),
        "padding of the wrong side",
        code="""\
def translator_weights(model, source, target, kind):
    model.eval()
    with torch.no_grad():
        logits, weights = model(source, target, need_weights=True)
    stacked = torch.stack(weights[kind])
    mask = (source != 0)[None, :, None, :, None]
    return stacked * mask
""",
    ),
]

RIGHT = [
    Right(
        "translator",
        "in a student's own style",
        """\
def translator_weights(model, source, target, kind):
    was = model.training
    model.eval()
    try:
        with torch.inference_mode():
            _, found = model(source, target, need_weights=True)
    finally:
        model.train(was)
    rows = source if kind == "encoder" else target
    out = []
    for layer in found[kind]:
        layer = layer.clone()
        for b in range(len(rows)):
            layer[b, :, rows[b] == 0] = 0
        out.append(layer)
    return torch.stack(out)
""",
    ),
    Right(
        "hugging_face",
        "in a student's own style",
        """\
def hugging_face_weights(model, ids, mask):
    training = model.training
    before = model.config._attn_implementation
    model.eval()
    model.set_attn_implementation("eager")
    try:
        with torch.no_grad():
            out = model(input_ids=ids, attention_mask=mask, output_attentions=True)
    finally:
        model.set_attn_implementation(before)
        model.train(training)
    weights = torch.stack(list(out.attentions))
    real = mask.bool()
    keep = real[None, :, None, :, None] & real[None, :, None, None, :]
    return torch.where(keep, weights, torch.zeros(()))
""",
    ),
    Right(
        "pictures",
        "in a student's own style",
        """\
def draw_heads(weights, queries, keys):
    fig = plt.figure(figsize=(3 * len(weights), 3))
    axes = []
    for h, w in enumerate(weights):
        ax = fig.add_subplot(1, len(weights), h + 1)
        ax.matshow(w.detach().cpu().numpy(), vmin=0, vmax=1, cmap="Blues")
        ax.xaxis.set_ticks_position("bottom")
        ax.set_xticks(list(range(len(keys))))
        ax.set_xticklabels(keys, rotation=90)
        ax.set_yticks(list(range(len(queries))))
        ax.set_yticklabels(queries)
        ax.set_title(f"head {h}")
        axes.append(ax)
    fig.tight_layout()
    return axes
""",
    ),
    Right(
        "place",
        "in a student's own style",
        """\
def looks_back(weights, tokens):
    total, count = torch.zeros(weights.shape[1]), 0
    for w, ids in zip(weights, tokens):
        n = int((ids != 0).sum())
        for i in range(1, n):
            total += w[:, i, i - 1]
            count += 1
    return total / count


def looks_first(weights, tokens):
    real = tokens[:, 1:] != 0
    first = weights[:, :, 1:, 0].transpose(0, 1)  # heads, batch, queries
    return first[:, real].mean(-1)
""",
    ),
    Right(
        "token",
        "in a student's own style",
        """\
def share_of(weights, wanted):
    found = torch.einsum("bhij,bij->bhi", weights, wanted.float())
    counted = wanted.any(-1)
    return torch.einsum("bhi,bi->h", found, counted.float()) / counted.sum()


def looks_same(weights, tokens):
    equal = (tokens.unsqueeze(2) == tokens.unsqueeze(1)) & (
        tokens.unsqueeze(2) != 0
    )
    return share_of(weights, equal.tril(-1))


def looks_after(weights, tokens):
    equal = (tokens.unsqueeze(2) == tokens.unsqueeze(1)) & (
        tokens.unsqueeze(2) != 0
    )
    wanted = F.pad(equal.tril(-1), (1, 0))[..., :-1]
    return share_of(weights, wanted)
""",
    ),
    Right(
        "alignment",
        "in a student's own style",
        """\
def alignment_hits(weights, links):
    best = weights.argmax(-1)  # (batch, heads, target)
    hits = [0] * weights.shape[1]
    asked = 0
    for b, pairs in enumerate(links):
        pairs = set(pairs)
        for t in {j for _, j in pairs}:
            asked += 1
            for h in range(len(hits)):
                hits[h] += (int(best[b, h, t]), t) in pairs
    return torch.tensor(hits) / asked
""",
    ),
    Right(
        "which",
        "in a student's own style",
        """\
def find_heads(scores, alike):
    found = {}
    for name in scores:
        table = scores[name]
        layer = int(table.max(dim=1).values.argmax())
        head = int(table[layer].argmax())
        found[name] = (layer, head)
        if table[layer, head] - alike[name] < 0.5 * (1 - alike[name]):
            found[name] = None
    return found
""",
    ),
    Right(
        "ablation",
        "in a student's own style",
        """\
@contextmanager
def ablated(model, layer, head):
    attention = model.layers[layer].attention
    d = attention.d_head

    def cut(module, inputs):
        x = inputs[0].clone()
        x[..., head * d : (head + 1) * d] = 0
        return (x,)

    with_hook = attention.output_proj.register_forward_pre_hook(cut)
    try:
        yield model
    finally:
        with_hook.remove()


def rise(model, tokens, layer, head, loss_of):
    with torch.no_grad():
        with_it = loss_of(model, tokens)
        with ablated(model, layer, head):
            return float(loss_of(model, tokens) - with_it)
""",
    ),
    Right(
        "measures",
        "in a student's own style",
        """\
def reach(weights, tokens):
    q, k = weights.shape[-2:]
    far = (torch.arange(q)[:, None] - torch.arange(k)).abs().to(weights.dtype)
    per_query = (weights * far).sum(-1).permute(1, 0, 2)
    return per_query[:, tokens != 0].mean(dim=1)


def spread(weights, visible):
    logs = torch.log(torch.where(weights > 0, weights, torch.ones_like(weights)))
    entropy = -(weights * logs).sum(-1).transpose(0, 1)
    m = visible.sum(-1)
    many = m > 1
    return (entropy[:, many] / m[many].log()).mean(-1)
""",
    ),
    Right(
        "languages",
        "in a student's own style",
        """\
def reach_of_languages(translators, corpus):
    far = {}
    for language, pairs in corpus.items():
        model, vocabularies = translators[language]
        source, target = translation_tensors(
            pairs, vocabularies["source"], vocabularies["target"]
        )
        weights = translator_weights(model, source, target, "cross")[-1]
        best = int(alignment_hits(weights, [p.alignment for p in pairs]).argmax())
        far[language] = float(reach(weights[:, [best]], target)[0])
    return far
""",
    ),
]
