"""Answers to exercise 2 that look right at first sight, and right ones that do not."""

from tests.exercises.answers import Right, Wrong

WRONG = [
    Wrong(
        "translator",
        "numpy",
        (0, 1, 2),
        "wrong type",
        code="""\
def translator_weights(model, source, target, kind):
    was = model.training
    model.eval()
    with torch.no_grad():
        w = model(source, target, need_weights=True)[1]
    model.train(was)
    real = ((source if kind == "encoder" else target) != 0)[
        None, :, None, :, None
    ]
    return (torch.stack(w[kind]) * real).numpy()
""",
    ),
    Wrong(
        "translator",
        "list of layers",
        (0, 1, 2),
        "wrong type",
        code="""\
def translator_weights(model, source, target, kind):
    was = model.training
    model.eval()
    with torch.no_grad():
        w = model(source, target, need_weights=True)[1]
    model.train(was)
    real = ((source if kind == "encoder" else target) != 0)[:, None, :, None]
    return [x * real for x in w[kind]]
""",
    ),
    Wrong(
        "hugging_face",
        "eager only, numpy",
        (0, 1, 2, 3),
        "wrong type",
        code="""\
def hugging_face_weights(model, ids, mask):
    was = model.training
    model.eval()
    model.set_attn_implementation("eager")
    with torch.no_grad():
        a = model(
            input_ids=ids, attention_mask=mask, output_attentions=True
        ).attentions
    model.train(was)
    return a
""",
    ),
    Wrong(
        "place",
        "lists",
        (0, 1, 2),
        "wrong type",
        code="""\
def looks_back(weights, tokens):
    real = tokens[:, 1:] != 0
    w = weights.diagonal(-1, -2, -1) * real[:, None]
    return (w.sum((0, 2)) / real.sum()).tolist()


def looks_first(weights, tokens):
    real = tokens[:, 1:] != 0
    w = weights[:, :, 1:, 0] * real[:, None]
    return (w.sum((0, 2)) / real.sum()).tolist()
""",
    ),
    Wrong(
        "place",
        "maximum",
        (0, 2),
        "no mean",
        code="""\
def looks_back(weights, tokens):
    real = tokens[:, 1:] != 0
    w = weights.diagonal(-1, -2, -1) * real[:, None]
    return w.amax((0, 2))


def looks_first(weights, tokens):
    real = tokens[:, 1:] != 0
    w = weights[:, :, 1:, 0] * real[:, None]
    return w.sum((0, 2)) / real.sum()
""",
    ),
    Wrong(
        "place",
        "sums",
        (0, 1, 2),
        "no mean",
        code="""\
def looks_back(weights, tokens):
    real = tokens[:, 1:] != 0
    w = weights.diagonal(-1, -2, -1) * real[:, None]
    return w.sum((0, 2))


def looks_first(weights, tokens):
    real = tokens[:, 1:] != 0
    w = weights[:, :, 1:, 0] * real[:, None]
    return w.sum((0, 2))
""",
    ),
    Wrong(
        "place",
        "divided by tokens",
        (0, 2),
        "the first row counted",
        code="""\
def looks_back(weights, tokens):
    real = tokens[:, 1:] != 0
    w = weights.diagonal(-1, -2, -1) * real[:, None]
    return w.sum((0, 2)) / (tokens != 0).sum()


def looks_first(weights, tokens):
    real = tokens[:, 1:] != 0
    w = weights[:, :, 1:, 0] * real[:, None]
    return w.sum((0, 2)) / real.sum()
""",
    ),
    Wrong(
        "place",
        "median",
        (0, 2),
        "no mean",
        code="""\
def looks_back(weights, tokens):
    real = tokens[:, 1:] != 0
    w = weights.diagonal(-1, -2, -1) * real[:, None]
    return w.flatten(2).transpose(0, 1).flatten(1).median(1).values


def looks_first(weights, tokens):
    real = tokens[:, 1:] != 0
    w = weights[:, :, 1:, 0] * real[:, None]
    return w.sum((0, 2)) / real.sum()
""",
    ),
    Wrong(
        "ablation",
        "mean ablation",
        (0, 2),
        "another value in place of nothing",
        code="""\
@contextmanager
def ablated(model, layer, head):
    attention = model.layers[layer].attention
    own = slice(head * attention.d_head, (head + 1) * attention.d_head)

    def cut(module, inputs):
        x = inputs[0].clone()
        x[..., own] = x[..., own].mean((0, 1))
        return (x,)

    handle = attention.output_proj.register_forward_pre_hook(cut)
    try:
        yield
    finally:
        handle.remove()


def rise(model, tokens, layer, head, loss_of):
    before = loss_of(model, tokens).item()
    with ablated(model, layer, head):
        return loss_of(model, tokens).item() - before
""",
    ),
    Wrong(
        "ablation",
        "absolute",
        (2,),
        "always zero",
        code="""\
@contextmanager
def ablated(model, layer, head):
    attention = model.layers[layer].attention
    own = slice(head * attention.d_head, (head + 1) * attention.d_head)

    def cut(module, inputs):
        x = inputs[0].clone()
        x[..., own] = 0
        return (x,)

    handle = attention.output_proj.register_forward_pre_hook(cut)
    try:
        yield
    finally:
        handle.remove()


def rise(model, tokens, layer, head, loss_of):
    before = loss_of(model, tokens).item()
    with ablated(model, layer, head):
        return max(0.0, loss_of(model, tokens).item() - before)
""",
    ),
    Wrong(
        "ablation",
        "halved",
        (0, 2),
        "another value in place of nothing",
        code="""\
@contextmanager
def ablated(model, layer, head):
    attention = model.layers[layer].attention
    own = slice(head * attention.d_head, (head + 1) * attention.d_head)

    def cut(module, inputs):
        x = inputs[0].clone()
        x[..., own] = x[..., own] / 2
        return (x,)

    handle = attention.output_proj.register_forward_pre_hook(cut)
    try:
        yield
    finally:
        handle.remove()


def rise(model, tokens, layer, head, loss_of):
    before = loss_of(model, tokens).item()
    with ablated(model, layer, head):
        return loss_of(model, tokens).item() - before
""",
    ),
    Wrong(
        "measures",
        "bits",
        (1, 2),
        "bits over nats",
        code="""\
import math


def reach(weights, tokens):
    n, m = weights.shape[-2:]
    d = (torch.arange(n)[:, None] - torch.arange(m)).abs()
    real = (tokens != 0)[:, None]
    return ((weights * d).sum(-1) * real).sum((0, 2)) / real.sum()


def spread(weights, visible):
    count = visible.sum(-1)[:, None]
    chosen = count >= 2
    h = (
        torch.special.entr(weights).sum(-1)
        / math.log(2)
        / count.clamp(min=2).log()
    )
    return (h * chosen).sum((0, 2)) / chosen.sum()
""",
    ),
    Wrong(
        "measures",
        "gini",
        (1, 2),
        "no entropy",
        code="""\
def reach(weights, tokens):
    n, m = weights.shape[-2:]
    d = (torch.arange(n)[:, None] - torch.arange(m)).abs()
    real = (tokens != 0)[:, None]
    return ((weights * d).sum(-1) * real).sum((0, 2)) / real.sum()


def spread(weights, visible):
    count = visible.sum(-1)[:, None]
    chosen = count >= 2
    h = 1 - weights.square().sum(-1)
    return (h * chosen).sum((0, 2)) / chosen.sum()
""",
    ),
    Wrong(
        "measures",
        "exp of entropy",
        (1, 2),
        "a number of keys",
        code="""\
def reach(weights, tokens):
    n, m = weights.shape[-2:]
    d = (torch.arange(n)[:, None] - torch.arange(m)).abs()
    real = (tokens != 0)[:, None]
    return ((weights * d).sum(-1) * real).sum((0, 2)) / real.sum()


def spread(weights, visible):
    count = visible.sum(-1)[:, None]
    chosen = count >= 2
    h = torch.special.entr(weights).sum(-1).exp() / count
    return (h * chosen).sum((0, 2)) / chosen.sum()
""",
    ),
    Wrong(
        "measures",
        "one minus",
        (1, 2),
        "narrow for wide",
        code="""\
def reach(weights, tokens):
    n, m = weights.shape[-2:]
    d = (torch.arange(n)[:, None] - torch.arange(m)).abs()
    real = (tokens != 0)[:, None]
    return ((weights * d).sum(-1) * real).sum((0, 2)) / real.sum()


def spread(weights, visible):
    count = visible.sum(-1)[:, None]
    chosen = count >= 2
    h = 1 - torch.special.entr(weights).sum(-1) / count.clamp(min=2).log()
    return (h * chosen).sum((0, 2)) / chosen.sum()
""",
    ),
    Wrong(
        "which",
        "tensors",
        (1,),
        "",
        code="""\
def find_heads(scores, alike):
    found = {}
    for name, t in scores.items():
        i = t.argmax()
        l, h = i // t.shape[1], i % t.shape[1]
        found[name] = (l, h) if t.max() >= (1 + alike[name]) / 2 else (0, 0)
    return found
""",
    ),
    Wrong(
        "which",
        "flat of one tensor",
        (1,),
        "higher than a head that looks everywhere",
        code="""\
def find_heads(scores, alike):
    return {
        n: list(divmod(t.argmax().item(), t.shape[1]))
        if t.max() > alike[n] * 2
        else None
        for n, t in scores.items()
    }
""",
    ),
    Wrong(
        "alignment",
        "ties at threshold",
        (0, 1),
        "wrong type",
        code="""\
def alignment_hits(weights, links):
    best = weights.argmax(-1)
    hits = [
        [
            (int(best[b, h, t]), t) in set(map(tuple, pairs))
            for b, pairs in enumerate(links)
            for t in sorted({t for _, t in pairs})
        ]
        for h in range(weights.shape[1])
    ]
    return [sum(h) / len(h) for h in hits]
""",
    ),
    Wrong(
        "alignment",
        "top two",
        (0, 1),
        "one of the two largest weights",
        code="""\
def alignment_hits(weights, links):
    best = weights.topk(2, -1).indices
    hits = []
    for b, pairs in enumerate(links):
        for t in sorted({t for _, t in pairs}):
            ok = torch.tensor([s for s, u in pairs if u == t])
            hits.append(torch.isin(best[b, :, t], ok).any(-1))
    return torch.stack(hits).float().mean(0)
""",
    ),
]

RIGHT = [
    Right(
        "place",
        "masked mean by select",
        """\
def looks_back(weights, tokens):
    real = tokens[:, 1:] != 0
    w = weights.diagonal(-1, -2, -1) * real[:, None]
    return weights.diagonal(-1, -2, -1).transpose(1, 2)[real].mean(0)


def looks_first(weights, tokens):
    real = tokens[:, 1:] != 0
    w = weights[:, :, 1:, 0] * real[:, None]
    return torch.einsum("bhq->h", w).div(real.sum())
""",
    ),
    Right(
        "measures",
        "shannon by nansum",
        """\
def reach(weights, tokens):
    n, m = weights.shape[-2:]
    d = (torch.arange(n)[:, None] - torch.arange(m)).abs()
    real = (tokens != 0)[:, None]
    return ((weights * d).sum(-1) * real).sum((0, 2)) / real.sum()


def spread(weights, visible):
    count = visible.sum(-1)[:, None]
    chosen = count >= 2
    h = -torch.where(
        weights > 0, weights * weights.clamp(min=1e-30).log(), 0
    ).sum(-1)
    parts = (h / count.double().clamp(min=2).log()).transpose(1, 2)[
        chosen[:, 0]
    ]
    return parts.mean(0).float()
""",
    ),
    Right(
        "ablation",
        "multiply mask hook with kwargs",
        """\
class _Cut:
    def __init__(self, n, own):
        self.keep = torch.ones(n)
        self.keep[own] = 0

    def __call__(self, module, args):
        return args[0] * self.keep.to(args[0].device)


@contextmanager
def ablated(model, layer, head):
    a = model.layers[layer].attention
    n = a.d_head
    h = a.output_proj.register_forward_pre_hook(
        _Cut(a.output_proj.in_features, slice(n * head, n * head + n))
    )
    with __import__("contextlib").closing(
        type("H", (), {"close": staticmethod(h.remove)})
    ):
        yield


def rise(model, tokens, layer, head, loss_of):
    losses = [float(loss_of(model, tokens))]
    with ablated(model, layer, head):
        losses.append(float(loss_of(model, tokens)))
    return losses[1] - losses[0]
""",
    ),
]
