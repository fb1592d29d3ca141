"""Answers to exercise 2 of a class that was made up for it, right and wrong."""

# ruff: noqa: E501  (students' lines are as long as they are)

from tests.exercises.answers import Right, Wrong

WRONG = [
    Wrong(
        "which",
        "exactly halfway left out",
        (0,),
        "halfway is not enough",
        change=(">= (alike[name] + 1) / 2", "> (alike[name] + 1) / 2"),
    ),
    Wrong(
        "translator",
        "the mode set by train() without the old one, kind read as an attribute",
        (1,),
        "mode not put back",
        code="""\
def translator_weights(model, source, target, kind):
    with torch.no_grad():
        _, weights = model.eval()(source, target, need_weights=True)
    model.train()
    real = ((source if kind == "encoder" else target) != 0)[None, :, None, :, None]
    return torch.stack(weights[kind]) * real
""",
    ),
    Wrong(
        "translator",
        "columns of padding zeroed, not rows",
        (0, 1, 2),
        "padding of the wrong side",
        change=(
            "[None, :, None, :, None]\n    return torch.stack(weights[kind])",
            "[None, :, None, None, :]\n    return torch.stack(weights[kind])",
        ),
    ),
    Wrong(
        "translator",
        "source and target exchanged",
        (0, 1, 2),
        "padding of the wrong side",
        change=(
            "_, weights = model(source, target, need_weights=True)",
            "_, weights = model(target, source, need_weights=True)",
        ),
    ),
    Wrong(
        "translator",
        "decoder rows by the source",
        (0, 1, 2),
        "padding of the wrong side",
        change=(
            'queries = source if kind == "encoder" else target',
            'queries = target if kind == "decoder" else source',
        ),
    ),
    Wrong(
        "translator",
        "rows rescaled after zeroing",
        (2,),
        "not a number",
        change=(
            "    return torch.stack(weights[kind]) * real",
            "    found = torch.stack(weights[kind]) * real\n    return found / found.sum(dim=-1, keepdim=True)",
        ),
    ),
    Wrong(
        "hugging_face",
        "first layer's weights only, under a list axis",
        (0, 1, 2),
        "wrong shape",
        change=(
            "torch.stack(output.attentions)",
            "output.attentions[0][None]",
        ),
    ),
    Wrong(
        "hugging_face",
        "mask inverted",
        (0, 1, 2),
        "zero everywhere",
        change=(
            "mask[None, :, None, :, None]",
            "(1 - mask)[None, :, None, :, None]",
        ),
    ),
    Wrong(
        "hugging_face",
        "mask of keys only once more",
        (2,),
        "rows of padding kept",
        change=(
            "mask[None, :, None, :, None]",
            "mask[None, :, None, None, :]",
        ),
    ),
    Wrong(
        "hugging_face",
        "causal mask for all",
        (0, 2),
        "rows that do not sum to 1",
        change=(
            "    return torch.stack(output.attentions) * mask[None, :, None, :, None]",
            "    return (torch.stack(output.attentions) * mask[None, :, None, :, None]).tril()",
        ),
    ),
    Wrong(
        "pictures",
        "magma with a colour bar as another axes",
        (0, 1, 2),
        "cannot be used",
        change=(
            "    return axes[0]",
            "    plt.colorbar(ax.images[0], ax=list(axes[0]))\n    return plt.gcf().axes",
        ),
    ),
    Wrong(
        "pictures",
        "scale from 0 to the largest of all",
        (1,),
        "a scale made from the data",
        change=(
            "vmin=0, vmax=1",
            "vmin=0, vmax=float(weights.max())",
        ),
    ),
    Wrong(
        "pictures",
        "logarithm of the weights",
        (0,),
        "a logarithm too many",
        change=(
            "ax.imshow(weights[head], vmin=0, vmax=1",
            "ax.imshow((weights[head] + 1e-9).log(), vmin=0, vmax=1",
        ),
    ),
    Wrong(
        "pictures",
        "pcolormesh",
        (0, 2),
        "upside down",
        change=(
            'ax.imshow(weights[head], vmin=0, vmax=1, cmap="Blues")',
            'ax.pcolormesh(weights[head], vmin=0, vmax=1, cmap="Blues")',
        ),
    ),
    Wrong(
        "place",
        "first column as a query",
        (1, 2),
        "rows and columns exchanged",
        change=(
            "weights[:, :, 1:, 0] * counted",
            "weights[:, :, 0, 1:] * counted",
        ),
    ),
    Wrong(
        "place",
        "divided by queries of all heads",
        (1, 2),
        "a factor that is a size",
        code="""\
def looks_first(weights, tokens):
    counted = (tokens[:, 1:] != 0)[:, None].expand(-1, weights.shape[1], -1)
    return (weights[:, :, 1:, 0] * counted).sum(dim=(0, 2)) / counted.sum()
""",
    ),
    Wrong(
        "place",
        "python floats in a list per head",
        (0, 2),
        "wrong type",
        code="""\
def looks_back(weights, tokens):
    out = []
    for h in range(weights.shape[1]):
        total, n = 0.0, 0
        for b in range(len(tokens)):
            for i in range(1, tokens.shape[1]):
                if tokens[b, i] != 0:
                    total += weights[b, h, i, i - 1].item()
                    n += 1
        out.append(total / n)
    return out
""",
    ),
    Wrong(
        "place",
        "ids of padding taken as -1",
        (2,),
        "padding counted",
        change=(
            "counted = tokens[:, 1:] != 0\n    return",
            "counted = tokens[:, 1:] != -1\n    return",
        ),
    ),
    Wrong(
        "token",
        "copies anywhere but the own place",
        (0, 2),
        "later copies counted",
        change=(
            "[:, :, None]).tril(-1)",
            "[:, :, None]) & ~torch.eye(tokens.shape[1], dtype=torch.bool)",
        ),
    ),
    Wrong(
        "alignment",
        "smallest weight",
        (0, 1),
        "the smallest weight looked up",
        change=(
            "weights.argmax(dim=-1)",
            "weights.argmin(dim=-1)",
        ),
    ),
    Wrong(
        "alignment",
        "divided by all sentences",
        (0, 1),
        "a multiple",
        change=(
            "torch.stack(hits).float().mean(dim=0)",
            "torch.stack(hits).float().sum(dim=0) / len(links)",
        ),
    ),
    Wrong(
        "alignment",
        "weight on the links above one half counts",
        (0, 1),
        "half of the weight for a hit",
        code="""\
def alignment_hits(weights, links):
    hits = []
    for b, pairs in enumerate(links):
        for t in {t for _, t in pairs}:
            s = [a for a, c in pairs if c == t]
            hits.append(weights[b, :, t, s].sum(-1) > 0.5)
    return torch.stack(hits).float().mean(0)
""",
    ),
    Wrong(
        "alignment",
        "whole numbers, divided down",
        (0, 1),
        "wrong type",
        change=(
            "torch.stack(hits).float().mean(dim=0)",
            "torch.stack(hits).sum(dim=0) // len(hits)",
        ),
    ),
    Wrong(
        "which",
        "only the names that stand out",
        (1,),
        "other parts",
        code="""\
def find_heads(scores, alike):
    found = {}
    for name, table in scores.items():
        i = int(table.argmax())
        place = (i // table.shape[1], i % table.shape[1])
        if table.max() >= (1 + alike[name]) / 2:
            found[name] = place
    return found
""",
    ),
    Wrong(
        "which",
        "twice as much as everywhere alike",
        (1,),
        "higher than a head that looks everywhere",
        change=(
            ">= (alike[name] + 1) / 2",
            ">= 2 * alike[name]",
        ),
    ),
    Wrong(
        "ablation",
        "zeroed without restoring the output weight",
        (1,),
        "parameters changed for good",
        code="""\
@contextmanager
def ablated(model, layer, head):
    attention = model.layers[layer].attention
    own = slice(head * attention.d_head, (head + 1) * attention.d_head)
    with torch.no_grad():
        attention.output_proj.weight[:, own] = 0
    yield
""",
    ),
    Wrong(
        "measures",
        "divided by the number of tokens",
        (0, 2),
        "a multiple",
        change=(
            "distance = (weights * (rows - columns.T).abs()).sum(dim=-1)",
            "distance = (weights * (rows - columns.T).abs()).sum(dim=-1) / len(columns)",
        ),
    ),
    Wrong(
        "measures",
        "entropy without the minus",
        (1, 2),
        "sign turned round",
        change=(
            "torch.special.entr(weights).sum(dim=-1)",
            "-torch.special.entr(weights).sum(dim=-1)",
        ),
    ),
    Wrong(
        "measures",
        "mean over the keys",
        (1, 2),
        "a factor that is a size",
        change=(
            "torch.special.entr(weights).sum(dim=-1)",
            "torch.special.entr(weights).mean(dim=-1)",
        ),
    ),
    Wrong(
        "languages",
        "worst head",
        (0,),
        "the head that aligns worst",
        change=(
            "alignment_hits(weights, links).argmax()",
            "alignment_hits(weights, links).argmin()",
        ),
    ),
    Wrong(
        "translator",
        "list summed",
        (0,),
        "wrong shape",
        change=(
            "    return torch.stack(weights[kind]) * real",
            "    return sum(weights[kind])[None] * real",
        ),
    ),
    Wrong(
        "hugging_face",
        "training mode forced after",
        (3,),
        "mode not put back",
        change=(
            "    model.train(was_training)",
            "    model.train()",
        ),
    ),
    Wrong(
        "pictures",
        "title of head as a number only from 1 with tokens below",
        (2,),
        "no number in the title",
        change=(
            'ax.set_title(f"head {head}")',
            'ax.set_title("head")',
        ),
    ),
    Wrong(
        "pictures",
        "aspect by rows, weights rounded",
        (0,),
        "rounded",
        change=(
            "ax.imshow(weights[head], vmin=0, vmax=1",
            "ax.imshow(weights[head].round(), vmin=0, vmax=1",
        ),
    ),
    Wrong(
        "place",
        "mean over heads and back",
        (0, 2),
        "wrong shape",
        code="""\
def looks_back(weights, tokens):
    shares = weights.diagonal(-1, dim1=-2, dim2=-1)
    counted = tokens[:, 1:] != 0
    return (shares * counted[:, None]).sum(dim=(0, 1, 2)) / counted.sum()
""",
    ),
    Wrong(
        "ablation",
        "rise as a percentage",
        (2,),
        "a multiple",
        change=(
            "        return loss_of(model, tokens).item() - with_head",
            "        return 100 * (loss_of(model, tokens).item() - with_head)",
        ),
    ),
    Wrong(
        "measures",
        "queries that see one key count as zero",
        (1, 2),
        "queries that see one key counted",
        change=(
            "    chosen = count >= 2",
            "    chosen = count >= 1",
        ),
    ),
    Wrong(
        "languages",
        "mean over words first",
        (0,),
        "heads averaged",
        change=(
            "[best].item()",
            ".mean().item()",
        ),
    ),
    Wrong(
        "hugging_face",
        "rows of padding found by ids that are not 0",
        (2,),
        "padding told by the ids",
        change=(
            "    return torch.stack(output.attentions) * mask[None, :, None, :, None]",
            "    return torch.stack(output.attentions) * (ids != 0)[None, :, None, :, None]",
        ),
    ),
    Wrong(
        "translator",
        "squeezed where one layer",
        (0,),
        "no axis for a single layer",
        change=(
            "    return torch.stack(weights[kind]) * real",
            "    return (torch.stack(weights[kind]) * real).squeeze(0)",
        ),
    ),
    Wrong(
        "translator",
        "every axis of size 1 dropped",
        (0,),
        "no axis for a single layer",
        change=(
            "    return torch.stack(weights[kind]) * real",
            "    return (torch.stack(weights[kind]) * real).squeeze()",
        ),
    ),
]
RIGHT = [
    Right(
        "place",
        "by gathering",
        code="""\
def looks_back(weights, tokens):
    n = tokens.shape[1]
    i = torch.arange(1, n)
    real = (tokens != 0).float()[:, 1:]
    return torch.einsum("bhi,bi->h", weights[:, :, i, i - 1], real) / real.sum()
def looks_first(weights, tokens):
    keep = tokens[:, 1:].bool().flatten()
    return weights[..., 1:, 0].transpose(0, 1).flatten(1)[:, keep].mean(1)
""",
    ),
    Right(
        "token",
        "by loops",
        code="""\
def looks_same(weights, tokens):
    total, n = torch.zeros(weights.shape[1]), 0
    for b, row in enumerate(tokens.tolist()):
        for i, t in enumerate(row):
            js = [j for j in range(i) if row[j] == t and t != 0]
            if js:
                total, n = total + weights[b, :, i, js].sum(-1), n + 1
    return total / n
""",
    ),
    Right(
        "ablation",
        "scaling the input by a mask",
        code="""\
@contextmanager
def ablated(model, layer, head):
    a = model.layers[layer].attention
    def hook(module, args):
        x = args[0]
        keep = torch.ones(x.shape[-1], device=x.device, dtype=x.dtype)
        keep[head * a.d_head : (head + 1) * a.d_head] = 0
        return (x * keep,) + args[1:]
    h = a.output_proj.register_forward_pre_hook(hook)
    try:
        yield model
    finally:
        h.remove()
""",
    ),
    Right(
        "measures",
        "xlogy",
        code="""\
def spread(weights, visible):
    m = visible.sum(-1)
    h = -torch.xlogy(weights, weights).sum(-1)
    keep = m > 1
    ratio = torch.stack([(h[:, k] / m.log())[keep].mean() for k in range(h.shape[1])])
    return ratio
""",
    ),
    Right(
        "which",
        "with unravel_index",
        code="""\
def find_heads(scores, alike):
    out = {}
    for k in scores:
        best = scores[k].max()
        where = (scores[k] == best).nonzero()[0]
        out[k] = tuple(where.tolist()) if best.item() - alike[k] >= 0.5 * (1 - alike[k]) else None
    return out
""",
    ),
]
