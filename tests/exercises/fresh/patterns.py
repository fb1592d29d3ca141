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
        "divided by another number",
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
        "divided by the number of keys",
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
    Wrong(
        "translator",
        "logits for weights",
        (0, 1, 2),
        "an axis that is not there",
        code="""\
def translator_weights(model, source, target, kind):
    with torch.no_grad():
        weights, _ = model(source, target, need_weights=True)
    return weights[kind]
""",
    ),
    Wrong(
        "translator",
        "need_weights forgotten",
        (0, 1, 2),
        "an axis that is not there",
        change=(", need_weights=True)", ")"),
    ),
    Wrong(
        "hugging_face",
        "mask given as token types",
        (0, 1, 2),
        "the mask given as something else",
        change=(
            "attention_mask=mask, output_attentions=True",
            "token_type_ids=mask, output_attentions=True",
        ),
    ),
    Wrong(
        "pictures",
        "only the figure returned",
        (0, 1, 2),
        "cannot be used",
        change=("    return axes[0]", "    return axes[0][0].figure"),
    ),
    Wrong(
        "place",
        "the token two before",
        (0, 2),
        "the token two before",
        change=(
            "    shares = weights.diagonal(-1, dim1=-2, dim2=-1)  # (batch, heads, tokens - 1)\n    counted = tokens[:, 1:] != 0",
            "    shares = weights.diagonal(-2, dim1=-2, dim2=-1)  # (batch, heads, tokens - 1)\n    counted = tokens[:, 2:] != 0",
        ),
    ),
    Wrong(
        "place",
        "share of queries whose largest weight is there",
        (1, 2),
        "hits instead of weight",
        code="""\
def looks_first(weights, tokens):
    counted = (tokens[:, 1:] != 0)[:, None]
    hits = (weights[:, :, 1:].argmax(-1) == 0) * counted
    return hits.sum((0, 2)) / counted.sum()
""",
    ),
    Wrong(
        "token",
        "what came before the copies in the formula, j + 1",
        (1, 2),
        "the token before the copy",
        change=(
            "wanted[:, :, 1:] = tokens[:, :, None] == tokens[:, None, :-1]",
            "wanted[:, :, :-1] = tokens[:, :, None] == tokens[:, None, 1:]",
        ),
    ),
    Wrong(
        "token",
        "mean over wanted keys, not their sum",
        (0, 1, 2),
        "a mean over the keys",
        change=(
            "shares = (weights * wanted[:, None]).sum(dim=-1)",
            "shares = (weights * wanted[:, None]).sum(dim=-1) / wanted.sum(-1).clamp(min=1)[:, None]",
        ),
    ),
    Wrong(
        "token",
        "the largest of the copies",
        (0, 1, 2),
        "the largest of the keys",
        change=(
            "shares = (weights * wanted[:, None]).sum(dim=-1)",
            "shares = (weights * wanted[:, None]).amax(dim=-1)",
        ),
    ),
    Wrong(
        "token",
        "divided by the number of keys wanted",
        (0, 1, 2),
        "divided by another number",
        change=("/ counted.sum()", "/ wanted.sum()"),
    ),
    Wrong(
        "alignment",
        "only the first sentence",
        (0, 1),
        "the first sentence only",
        change=(
            "zip(looked_up, links, strict=True)",
            "zip(looked_up[:1], links[:1], strict=True)",
        ),
    ),
    Wrong(
        "which",
        "smallest score",
        (0, 1),
        "no head at all",
        change=("table.argmax()", "table.argmin()"),
    ),
    Wrong(
        "which",
        "strictly more than halfway",
        (0,),
        "halfway is not enough",
        change=(">= (alike[name] + 1) / 2", "> (alike[name] + 1) / 2 + 1e-3"),
    ),
    Wrong(
        "which",
        "best head of the first layer",
        (0, 1),
        "one layer only",
        change=(
            "divmod(table.argmax().item(), table.shape[1])",
            "0, table[0].argmax().item()",
        ),
    ),
    Wrong(
        "ablation",
        "the gradient is cut off",
        (0,),
        "gradients cut off",
        change=(
            "side_by_side = inputs[0].clone()",
            "side_by_side = inputs[0].detach().clone()",
        ),
    ),
    Wrong(
        "ablation",
        "head sized by d_model",
        (0, 2),
        "a part of the head left",
        change=(
            "own = slice(head * attention.d_head, (head + 1) * attention.d_head)",
            "own = slice(head * attention.d_head, head * attention.d_head + attention.d_head - 1)",
        ),
    ),
    Wrong(
        "ablation",
        "every head before it too",
        (0,),
        "more than one head switched off",
        change=(
            "own = slice(head * attention.d_head, (head + 1) * attention.d_head)",
            "own = slice(0, (head + 1) * attention.d_head)",
        ),
    ),
    Wrong(
        "ablation",
        "the last batch entry only",
        (0, 2),
        "switched off in some places only",
        change=("side_by_side[..., own] = 0", "side_by_side[-1, :, own] = 0"),
    ),
    Wrong(
        "ablation",
        "relative rise",
        (2,),
        "a share of the loss",
        change=(
            "        return loss_of(model, tokens).item() - with_head",
            "        return (loss_of(model, tokens).item() - with_head) / with_head",
        ),
    ),
    Wrong(
        "measures",
        "keys minus queries from the end",
        (0,),
        "counted from the end",
        change=(
            "(rows - columns.T).abs()",
            "(rows - columns.T + columns.numel() - rows.numel()).abs()",
        ),
    ),
    Wrong(
        "measures",
        "entropy with an epsilon inside",
        (1, 2),
        "a small number inside the logarithm",
        change=(
            "entropy = torch.special.entr(weights).sum(dim=-1)",
            "entropy = -(weights * (weights + 1e-2).log()).sum(dim=-1)",
        ),
    ),
    Wrong(
        "measures",
        "log of m minus 1",
        (1, 2),
        "the logarithm of another number",
        change=("count.clamp(min=2).log()", "(count - 1).clamp(min=2).log()"),
    ),
    Wrong(
        "languages",
        "encoder's weights",
        (0,),
        "ids that do not fit the rows",
        change=('"cross")[-1]', '"encoder")[-1]'),
    ),
    Wrong(
        "languages",
        "first layer",
        (0,),
        "another layer",
        change=('"cross")[-1]', '"cross")[0]'),
    ),
    Wrong(
        "languages",
        "ids of the source as queries",
        (0,),
        "maps read by their columns",
        change=("reach(weights, target)", "reach(weights.transpose(-2, -1), source)"),
    ),
    Wrong(
        "place",
        "weights of the last query",
        (1, 2),
        "the last query only",
        code="""\
def looks_first(weights, tokens):
    return weights[:, :, -1, 0].mean(0)
""",
    ),
    Wrong(
        "place",
        "index of query is key plus two",
        (0, 2),
        "the second query left out",
        code="""\
def looks_back(weights, tokens):
    shares = weights[:, :, 1:, 1:].diagonal(-1, dim1=-2, dim2=-1)
    counted = tokens[:, 2:] != 0
    return (shares * counted[:, None]).sum(dim=(0, 2)) / counted.sum()
""",
    ),
    Wrong(
        "token",
        "compares with the neighbour only",
        (0, 2),
        "the neighbour only",
        code="""\
def looks_same(weights, tokens):
    equal = torch.zeros_like(weights[:, 0], dtype=torch.bool)
    same = tokens[:, 1:] == tokens[:, :-1]
    i = torch.arange(1, tokens.shape[1])
    equal[:, i, i - 1] = same & (tokens[:, 1:] != 0)
    return share_of(weights, equal)
""",
    ),
    Wrong(
        "alignment",
        "target places shifted by one",
        (0, 1),
        "target tokens off by one",
        change=("sentence[:, place]", "sentence[:, place - 1]"),
    ),
    Wrong(
        "which",
        "mean over the layers first",
        (0, 1),
        "no head at all",
        code="""\
def find_heads(scores, alike):
    found = {}
    for name, table in scores.items():
        best = table.mean(0)
        i = int(best.argmax())
        found[name] = (int(table[:, i].argmax()), i) if best[i] >= (1 + alike[name]) / 2 else None
    return found
""",
    ),
    Wrong(
        "ablation",
        "head divided out of the rest",
        (0, 2),
        "the other heads changed too",
        change=(
            "side_by_side[..., own] = 0",
            "side_by_side[..., own] = 0\n        side_by_side = side_by_side * 2",
        ),
    ),
    Wrong(
        "measures",
        "mean distance to all keys",
        (0, 2),
        "the weights play no part",
        change=(
            "distance = (weights * (rows - columns.T).abs()).sum(dim=-1)",
            "distance = (rows - columns.T).abs().float().mean(dim=-1).expand(weights.shape[:-1])",
        ),
    ),
    Wrong(
        "translator",
        "the queries of padding cut from the source for cross",
        (2,),
        "",
        change=(
            '    queries = source if kind == "encoder" else target',
            '    queries = target if kind == "decoder" else source\n    if kind == "cross":\n        queries = source[:, : target.shape[1]]\n        queries = F.pad(queries, (0, target.shape[1] - queries.shape[1]), value=1)',
        ),
    ),
    Wrong(
        "translator",
        "list of layers concatenated on the batch and reshaped",
        (0,),
        "batch and layers mixed",
        code="""\
def translator_weights(model, source, target, kind):
    mode = model.training
    model.eval()
    with torch.no_grad():
        _, all_weights = model(source, target, need_weights=True)
    model.train(mode)
    chosen = all_weights[kind]
    stacked = torch.cat(chosen, dim=1)
    b, h, q, k = chosen[0].shape
    stacked = stacked.reshape(len(chosen), b, h, q, k)
    ids = source if kind == "encoder" else target
    return stacked * (ids != 0)[None, :, None, :, None]
""",
    ),
    Wrong(
        "translator",
        "weights averaged over heads",
        (0, 2),
        "",
        change=(
            "    return torch.stack(weights[kind]) * real",
            "    return torch.stack(weights[kind]).mean(dim=2, keepdim=True) * real",
        ),
    ),
    Wrong(
        "translator",
        "mode only restored if it was training, eval forgotten",
        (1,),
        "dropout is on",
        code="""\
def translator_weights(model, source, target, kind):
    with torch.inference_mode():
        _, weights = model(source, target, need_weights=True)
    queries = source if kind == "encoder" else target
    return torch.stack(weights[kind]) * (queries != 0)[None, :, None, :, None]
""",
    ),
    Wrong(
        "hugging_face",
        "no attention mask given",
        (2,),
        "padding attended to, its rows zeroed",
        change=(
            "    with torch.no_grad():\n        output = model(input_ids=ids, attention_mask=mask, output_attentions=True)",
            "    with torch.no_grad():\n        output = model(input_ids=ids, output_attentions=True)",
        ),
    ),
    Wrong(
        "hugging_face",
        "keys of padding zeroed as well as rows but mask left out of the call",
        (2,),
        "padding attended to, all of it zeroed",
        code="""\
def hugging_face_weights(model, ids, mask):
    training = model.training
    model.eval()
    model.set_attn_implementation("eager")
    with torch.no_grad():
        out = model(ids, output_attentions=True)
    model.train(training)
    w = torch.stack(out.attentions)
    w = w * mask[None, :, None, :, None] * mask[None, :, None, None, :]
    return w
""",
    ),
    Wrong(
        "pictures",
        "the scale's upper end from the largest weight",
        (1,),
        "a scale made from the data",
        change=(
            '        ax.imshow(weights[head], vmin=0, vmax=1, cmap="Blues")',
            '        ax.imshow(weights[head], vmin=0, vmax=weights.max(), cmap="Blues")',
        ),
    ),
    Wrong(
        "pictures",
        "drawn with matshow and the origin below",
        (0, 2),
        "upside down",
        change=(
            '        ax.imshow(weights[head], vmin=0, vmax=1, cmap="Blues")',
            '        ax.matshow(weights[head], vmin=0, vmax=1, origin="lower")',
        ),
    ),
    Wrong(
        "pictures",
        "heads numbered from 1",
        (2,),
        "no number in the title",
        change=(
            '        ax.set_title(f"head {head}")',
            '        ax.set_title(f"head {head + 1}")',
        ),
    ),
    Wrong(
        "place",
        "looks back without the padding of the keys, tokens[:, :-1]",
        (2,),
        "padding found one place late",
        change=(
            "    shares = weights.diagonal(-1, dim1=-2, dim2=-1)  # (batch, heads, tokens - 1)\n    counted = tokens[:, 1:] != 0",
            "    shares = weights.diagonal(-1, dim1=-2, dim2=-1)  # (batch, heads, tokens - 1)\n    counted = tokens[:, :-1] != 0",
        ),
    ),
    Wrong(
        "place",
        "divided by all tokens that are no padding, the first included",
        (0, 1, 2),
        "the first row counted",
        code="""\
def looks_back(weights, tokens):
    shares = weights.diagonal(-1, dim1=-2, dim2=-1)
    counted = tokens[:, 1:] != 0
    return (shares * counted[:, None]).sum(dim=(0, 2)) / (tokens != 0).sum()


def looks_first(weights, tokens):
    counted = tokens[:, 1:] != 0
    shares = weights[:, :, 1:, 0] * counted[:, None]
    return shares.sum(dim=(0, 2)) / (tokens != 0).sum()
""",
    ),
    Wrong(
        "place",
        "first column including the first query",
        (1, 2),
        "the first row counted",
        change=(
            "    counted = tokens[:, 1:] != 0\n    shares = weights[:, :, 1:, 0] * counted[:, None]",
            "    counted = tokens != 0\n    shares = weights[:, :, :, 0] * counted[:, None]",
        ),
    ),
    Wrong(
        "place",
        "the most attended key counted, not the weight",
        (0, 2),
        "hits instead of weight",
        change=(
            "    shares = weights.diagonal(-1, dim1=-2, dim2=-1)  # (batch, heads, tokens - 1)",
            "    best = weights.argmax(dim=-1)\n    before = torch.arange(weights.shape[-1]) - 1\n    shares = (best == before)[:, :, 1:].float()",
        ),
    ),
    Wrong(
        "token",
        "the mean over copies instead of the sum",
        (0, 1, 2),
        "a mean over the keys",
        change=(
            "    shares = (weights * wanted[:, None]).sum(dim=-1)",
            "    shares = (weights * wanted[:, None]).sum(dim=-1) / wanted.sum(dim=-1).clamp(min=1)[:, None]",
        ),
    ),
    Wrong(
        "token",
        "only the nearest copy counts",
        (0, 2),
        "the last copy only",
        change=(
            "    wanted = (equal & (tokens != 0)[:, :, None]).tril(-1)\n    return share_of(weights, wanted)",
            "    wanted = (equal & (tokens != 0)[:, :, None]).tril(-1)\n    places = torch.arange(tokens.shape[1]) * wanted\n    last = places.amax(dim=-1, keepdim=True)\n    wanted = wanted & (torch.arange(tokens.shape[1]) == last)\n    return share_of(weights, wanted)",
        ),
    ),
    Wrong(
        "token",
        "copies later as well as earlier",
        (0, 2),
        "later copies counted",
        change=(
            "    wanted = (equal & (tokens != 0)[:, :, None]).tril(-1)",
            "    wanted = equal & (tokens != 0)[:, :, None]\n    wanted = wanted & ~torch.eye(tokens.shape[1], dtype=torch.bool)",
        ),
    ),
    Wrong(
        "token",
        "what came before the copy",
        (1, 2),
        "the token before the copy",
        change=(
            "    wanted[:, :, 1:] = tokens[:, :, None] == tokens[:, None, :-1]",
            "    wanted[:, :, :-1] = tokens[:, :, None] == tokens[:, None, 1:]",
        ),
    ),
    Wrong(
        "token",
        "counts the sentences' means",
        (0, 1, 2),
        "every sequence weighs the same",
        change=(
            "    return (shares * counted[:, None]).sum(dim=(0, 2)) / counted.sum()",
            "    each = (shares * counted[:, None]).sum(dim=2) / counted.sum(dim=1).clamp(min=1)[:, None]\n    return each.mean(dim=0)",
        ),
    ),
    Wrong(
        "alignment",
        "the heads' weights averaged over the linked sources",
        (0, 1),
        "",
        change=(
            "            hits.append(torch.isin(sentence[:, place], linked))",
            "            hits.append(weights[len(hits) % len(weights), :, place, linked].sum(-1) > 0.5)",
        ),
    ),
    Wrong(
        "alignment",
        "first link only, the others overwritten in a dict",
        (1,),
        "one link of each token",
        code="""\
def alignment_hits(weights, links):
    best = weights.argmax(-1)
    right = torch.zeros(weights.shape[1])
    count = 0
    for b, pairs in enumerate(links):
        source_of = {t: s for s, t in pairs}
        for t, s in source_of.items():
            right += (best[b, :, t] == s)
            count += 1
    return right / count
""",
    ),
    Wrong(
        "alignment",
        "counts links instead of words",
        (1,),
        "every link counted",
        code="""\
def alignment_hits(weights, links):
    best = weights.argmax(-1)
    right, count = torch.zeros(weights.shape[1]), 0
    for b, pairs in enumerate(links):
        for s, t in pairs:
            right += best[b, :, t] == s
            count += 1
    return right / count
""",
    ),
    Wrong(
        "alignment",
        "weight on the links rather than hits",
        (0, 1),
        "weight instead of hits",
        code="""\
def alignment_hits(weights, links):
    total, count = torch.zeros(weights.shape[1]), 0
    for b, pairs in enumerate(links):
        for t in {t for _, t in pairs}:
            sources = [s for s, u in pairs if u == t]
            total += weights[b, :, t, sources].sum(-1)
            count += 1
    return total / count
""",
    ),
    Wrong(
        "which",
        "twice as high as alike",
        (1,),
        "higher than a head that looks everywhere",
        change=(
            "        enough = table[layer, head] >= (alike[name] + 1) / 2",
            "        enough = table[layer, head] >= 2 * alike[name]",
        ),
    ),
    Wrong(
        "which",
        "divmod by the number of layers",
        (0, 1),
        "taken apart by the number of layers",
        change=(
            "        layer, head = divmod(table.argmax().item(), table.shape[1])",
            "        layer, head = divmod(table.argmax().item(), table.shape[0])\n        layer, head = layer % table.shape[0], head % table.shape[1]",
        ),
    ),
    Wrong(
        "ablation",
        "hook on the output of the projection",
        (0, 2),
        "cut after the output projection",
        change=(
            "    handle = attention.output_proj.register_forward_pre_hook(without_head)",
            "    def after(module, inputs, output):\n        output = output.clone()\n        output[..., own] = 0\n        return output\n\n    handle = attention.output_proj.register_forward_hook(after)",
        ),
    ),
    Wrong(
        "ablation",
        "weights of the projection zeroed by rows and set back",
        (0, 2),
        "rows of the output projection",
        code='''\
def _copy(x):
    return x.detach().clone()


@contextmanager
def ablated(model, layer, head):
    """Switch one head off while the block runs."""
    attention = model.layers[layer].attention
    d = attention.d_head
    old = _copy(attention.output_proj.weight)
    with torch.no_grad():
        attention.output_proj.weight[head * d : (head + 1) * d] = 0
    try:
        yield
    finally:
        with torch.no_grad():
            attention.output_proj.weight.copy_(old)


def rise(model, tokens, layer, head, loss_of):
    """Return the loss without the head minus the loss with it."""
    whole = loss_of(model, tokens).item()
    with ablated(model, layer, head):
        return loss_of(model, tokens).item() - whole
''',
    ),
    Wrong(
        "ablation",
        "rise as a share of the loss",
        (2,),
        "a share of the loss",
        change=(
            "        return loss_of(model, tokens).item() - with_head",
            "        return (loss_of(model, tokens).item() - with_head) / with_head",
        ),
    ),
    Wrong(
        "measures",
        "signed distance",
        (0, 2),
        "distances with a sign",
        change=(
            "    distance = (weights * (rows - columns.T).abs()).sum(dim=-1)",
            "    distance = (weights * (rows - columns.T)).sum(dim=-1).abs()",
        ),
    ),
    Wrong(
        "measures",
        "distance to the largest weight",
        (0, 2),
        "only the largest weight counted",
        change=(
            "    distance = (weights * (rows - columns.T).abs()).sum(dim=-1)",
            "    distance = (weights.argmax(dim=-1) - rows[:, 0]).abs().float()",
        ),
    ),
    Wrong(
        "measures",
        "divided by the log of all keys",
        (1, 2),
        "divided by the logarithm of all keys",
        change=(
            "    share = entropy / count.clamp(min=2).log()",
            "    share = entropy / math.log(weights.shape[-1]) if False else entropy / torch.tensor(float(weights.shape[-1])).log()",
        ),
    ),
    Wrong(
        "measures",
        "log base two on top only",
        (1, 2),
        "bits over nats",
        change=(
            "    share = entropy / count.clamp(min=2).log()",
            "    share = -(weights * weights.clamp(min=1e-12).log2()).sum(-1) / count.clamp(min=2).log()",
        ),
    ),
    Wrong(
        "languages",
        "the first layer's cross attention",
        (0,),
        "another layer",
        change=(
            '        weights = translator_weights(model, source, target, "cross")[-1]',
            '        weights = translator_weights(model, source, target, "cross")[0]',
        ),
    ),
    Wrong(
        "languages",
        "the best head of the first language for all",
        (0,),
        "one head for all languages",
        change=(
            "        best = alignment_hits(weights, links).argmax()",
            "        if not found:\n            best = alignment_hits(weights, links).argmax()",
        ),
    ),
    Wrong(
        "languages",
        "the mean over heads of the reach",
        (0,),
        "heads averaged",
        change=(
            "        found[language] = reach(weights, target)[best].item()",
            "        found[language] = reach(weights, target).mean().item()",
        ),
    ),
    Wrong(
        "place",
        "looks back at the key two back counted from the second",
        (0, 2),
        "",
        code="""\
def looks_back(weights, tokens):
    counted = tokens[:, 1:] != 0
    shares = torch.stack([weights[:, :, i, max(i - 2, 0)] for i in range(1, weights.shape[2])], dim=2)
    return (shares * counted[:, None]).sum(dim=(0, 2)) / counted.sum()


def looks_first(weights, tokens):
    counted = tokens[:, 1:] != 0
    shares = weights[:, :, 1:, 0] * counted[:, None]
    return shares.sum(dim=(0, 2)) / counted.sum()
""",
    ),
    Wrong(
        "place",
        "both as the mean over padded length per sequence",
        (2,),
        "padding counted",
        code="""\
def looks_back(weights, tokens):
    return weights.diagonal(-1, dim1=-2, dim2=-1).mean(dim=(0, 2))


def looks_first(weights, tokens):
    return weights[:, :, 1:, 0].mean(dim=(0, 2))
""",
    ),
    Wrong(
        "token",
        "copies of the previous token",
        (0, 2),
        "",
        change=(
            "    equal = tokens[:, :, None] == tokens[:, None, :]  # (batch, queries, keys)",
            "    before = torch.cat([tokens[:, :1] * 0 - 1, tokens[:, :-1]], dim=1)\n    equal = before[:, :, None] == tokens[:, None, :]  # (batch, queries, keys)",
        ),
    ),
    Wrong(
        "token",
        "what followed only the first copy",
        (1, 2),
        "the first copy only",
        change=(
            "    return share_of(weights, (wanted & (tokens != 0)[:, :, None]).tril())",
            "    table = (wanted & (tokens != 0)[:, :, None]).tril()\n    table = table & (table.cumsum(-1) == 1)\n    return share_of(weights, table)",
        ),
    ),
    Wrong(
        "token",
        "squared shares",
        (0, 1, 2),
        "squared weights",
        change=(
            "    shares = (weights * wanted[:, None]).sum(dim=-1)",
            "    shares = (weights ** 2 * wanted[:, None]).sum(dim=-1)",
        ),
    ),
    Wrong(
        "alignment",
        "hit if the target word is any link's source",
        (0, 1),
        "",
        code="""\
def alignment_hits(weights, links):
    best = weights.argmax(-1)
    hits = []
    for b, pairs in enumerate(links):
        sources = torch.tensor([s for s, _ in pairs])
        for t in {t for _, t in pairs}:
            hits.append(torch.isin(best[b, :, t], sources))
    return torch.stack(hits).float().mean(0)
""",
    ),
    Wrong(
        "which",
        "halfway between alike and the best",
        (1,),
        "higher than a head that looks everywhere",
        change=(
            "        enough = table[layer, head] >= (alike[name] + 1) / 2",
            "        enough = table[layer, head] >= (alike[name] + table.max()) / 2",
        ),
    ),
    Wrong(
        "ablation",
        "head counted from the end",
        (0, 2),
        "",
        change=(
            "    own = slice(head * attention.d_head, (head + 1) * attention.d_head)",
            "    n = attention.output_proj.in_features\n    own = slice(n - (head + 1) * attention.d_head, n - head * attention.d_head)",
        ),
    ),
    Wrong(
        "ablation",
        "rise of the exponentials",
        (2,),
        "",
        change=(
            "        return loss_of(model, tokens).item() - with_head",
            "        import math\n        return math.exp(loss_of(model, tokens).item()) - math.exp(with_head)",
        ),
    ),
    Wrong(
        "measures",
        "reach over real queries divided by all",
        (2,),
        "padding counted",
        change=(
            "    return (distance * real).sum(dim=(0, 2)) / real.sum()",
            "    return (distance * real).mean(dim=(0, 2))",
        ),
    ),
    Wrong(
        "measures",
        "spread as one minus the ratio",
        (1, 2),
        "narrow for wide",
        change=(
            "    share = entropy / count.clamp(min=2).log()",
            "    share = 1 - entropy / count.clamp(min=2).log()",
        ),
    ),
    Wrong(
        "languages",
        "reach with the source padding",
        (0,),
        "",
        change=(
            "        best = alignment_hits(weights, links).argmax()",
            "        best = alignment_hits(weights, links).argmax() - 1",
        ),
    ),
    Wrong(
        "translator",
        "real of keys and queries",
        (0,),
        "",
        change=(
            "    return torch.stack(weights[kind]) * real",
            "    return torch.stack(weights[kind]).flip(0) * real",
        ),
    ),
    Wrong(
        "translator",
        "rows of a whole sentence zeroed where any is padding",
        (2,),
        "sentences with padding emptied",
        change=(
            "    real = (queries != 0)[None, :, None, :, None]",
            "    real = (queries != 0).all(dim=1)[None, :, None, None, None]",
        ),
    ),
    Wrong(
        "pictures",
        "names of the ticks without the ticks",
        (2,),
        "tokens not at the ticks",
        change=(
            "        ax.set_xticks(range(len(keys)), keys, rotation=90)\n        ax.set_yticks(range(len(queries)), queries)",
            "        ax.set_xticklabels(keys, rotation=90)\n        ax.set_yticklabels(queries)",
        ),
    ),
    Wrong(
        "pictures",
        "one above the other",
        (0,),
        "one above another",
        code="""\
def draw_heads(weights, queries, keys):
    heads = len(weights)
    _, axes = plt.subplots(heads, 1, figsize=(4, 3 * heads), squeeze=False)
    for head, ax in enumerate(axes[:, 0]):
        ax.imshow(weights[head], vmin=0, vmax=1)
        ax.set_xticks(range(len(keys)), keys, rotation=90)
        ax.set_yticks(range(len(queries)), queries)
        ax.set_title(f"head {head}")
    return axes[:, 0]
""",
    ),
    Wrong(
        "place",
        "the second token for the first",
        (1, 2),
        "the second key",
        change=(
            "weights[:, :, 1:, 0]",
            "weights[:, :, 1:, 1]",
        ),
    ),
    Wrong(
        "token",
        "a later copy makes a query count",
        (0, 1, 2),
        "queries with only a later copy counted",
        code="""\
def looks_same(weights, tokens):
    equal = tokens[:, :, None] == tokens[:, None, :]
    real = (tokens != 0)[:, :, None]
    wanted = (equal & real).tril(-1)
    counted = (equal & real).sum(-1) > 1
    shares = (weights * wanted[:, None]).sum(dim=-1)
    return (shares * counted[:, None]).sum(dim=(0, 2)) / counted.sum()


def looks_after(weights, tokens):
    equal = tokens[:, :, None] == tokens[:, None, :]
    real = (tokens != 0)[:, :, None]
    counted = (equal & real).sum(-1) > 1
    wanted = torch.zeros_like(equal)
    wanted[:, :, 1:] = equal[:, :, :-1]
    wanted = (wanted & real).tril()
    shares = (weights * wanted[:, None]).sum(dim=-1)
    return (shares * counted[:, None]).sum(dim=(0, 2)) / counted.sum()
""",
    ),
    Wrong(
        "token",
        "the query's own copy wanted for what followed",
        (1, 2),
        "the query's own place left out",
        change=(
            "    wanted[:, :, 1:] = tokens[:, :, None] == tokens[:, None, :-1]\n    return share_of(weights, (wanted & (tokens != 0)[:, :, None]).tril())",
            "    wanted[:, :, 1:] = tokens[:, :, None] == tokens[:, None, :-1]\n    return share_of(weights, (wanted & (tokens != 0)[:, :, None]).tril(-1))",
        ),
    ),
    Wrong(
        "alignment",
        "source places counted from 1",
        (0, 1),
        "source tokens off by one",
        change=(
            "    looked_up = weights.argmax(dim=-1)",
            "    looked_up = weights.argmax(dim=-1) + 1",
        ),
    ),
    Wrong(
        "alignment",
        "a hit of any head",
        (0, 1),
        "a hit of any head",
        code="""\
def alignment_hits(weights, links):
    looked_up = weights.argmax(dim=-1)
    hits = []
    for sentence, pairs in zip(looked_up, links):
        for place in {t for _, t in pairs}:
            linked = torch.tensor([s for s, t in pairs if t == place])
            hits.append(torch.isin(sentence[:, place], linked).any())
    return torch.stack(hits).float().mean().expand(weights.shape[1])
""",
    ),
    Wrong(
        "which",
        "a half above everywhere alike",
        (0,),
        "half of the whole scale",
        change=(
            "(alike[name] + 1) / 2",
            "alike[name] + 0.5",
        ),
    ),
    Wrong(
        "which",
        "one and a half times everywhere alike",
        (1,),
        "higher than a head that looks everywhere",
        change=(
            "(alike[name] + 1) / 2",
            "alike[name] * 1.5",
        ),
    ),
    Wrong(
        "ablation",
        "tokens cut in place of features",
        (0, 2),
        "another axis cut",
        change=(
            "side_by_side[..., own] = 0",
            "side_by_side[:, own] = 0",
        ),
    ),
    Wrong(
        "ablation",
        "the loss read inside the block both times",
        (2,),
        "always zero",
        code="""\
def rise(model, tokens, layer, head, loss_of):
    with ablated(model, layer, head):
        before = loss_of(model, tokens).item()
        after = loss_of(model, tokens).item()
    return after - before
""",
    ),
    Wrong(
        "measures",
        "from the mean place",
        (0, 2),
        "distances with a sign",
        code="""\
def reach(weights, tokens):
    q, k = weights.shape[-2:]
    mean_place = weights @ torch.arange(k, dtype=weights.dtype)
    distance = (mean_place - torch.arange(q)).abs()
    real = (tokens != 0)[:, None]
    return (distance * real).sum(dim=(0, 2)) / real.sum()


def spread(weights, visible):
    count = visible.sum(dim=-1)[:, None]
    chosen = count >= 2
    share = torch.special.entr(weights).sum(dim=-1) / count.clamp(min=2).log()
    return (share * chosen).sum(dim=(0, 2)) / chosen.sum()
""",
    ),
    Wrong(
        "measures",
        "divided by the largest entropy found",
        (1, 2),
        "a share of the largest entropy found",
        change=(
            "    share = entropy / count.clamp(min=2).log()",
            "    share = entropy / entropy.max()",
        ),
    ),
    Wrong(
        "measures",
        "keys with some weight counted for those visible",
        (1, 2),
        "",
        change=(
            "    count = visible.sum(dim=-1)[:, None]  # (batch, 1, queries)\n    chosen = count >= 2",
            "    count = (weights > 0.01).sum(dim=-1)\n    chosen = visible.sum(dim=-1)[:, None] >= 2",
        ),
    ),
    Wrong(
        "languages",
        "best head by reach",
        (0,),
        "the head that reaches farthest",
        change=(
            "        best = alignment_hits(weights, links).argmax()\n        found[language] = reach(weights, target)[best].item()",
            "        found[language] = reach(weights, target).max().item()",
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
    Right(
        "ablation",
        "a tensor for a number",
        change=(
            "        return loss_of(model, tokens).item() - with_head",
            "        return loss_of(model, tokens) - with_head",
        ),
    ),
    Right(
        "languages",
        "a tensor for each language",
        change=("[best].item()", "[best]"),
    ),
    Right(
        "token",
        "loops",
        code="""\
def share_of(weights, wanted):
    heads = weights.shape[1]
    total, count = torch.zeros(heads), 0
    for b in range(len(weights)):
        for q in range(wanted.shape[1]):
            keys = wanted[b, q].nonzero().flatten()
            if len(keys):
                total += weights[b, :, q, keys].sum(dim=-1)
                count += 1
    return total / count


def looks_same(weights, tokens):
    n = tokens.shape[1]
    table = torch.zeros(len(tokens), n, n, dtype=torch.bool)
    for b, row in enumerate(tokens.tolist()):
        for i in range(n):
            for j in range(i):
                table[b, i, j] = row[i] == row[j] != 0
    return share_of(weights, table)


def looks_after(weights, tokens):
    n = tokens.shape[1]
    table = torch.zeros(len(tokens), n, n, dtype=torch.bool)
    for b, row in enumerate(tokens.tolist()):
        for i in range(n):
            for j in range(1, i + 1):
                table[b, i, j] = row[j - 1] == row[i] != 0
    return share_of(weights, table)
""",
    ),
    Right(
        "which",
        "with max and where",
        code="""\
def find_heads(scores, alike):
    result = {}
    for name in scores:
        table, base = scores[name], alike[name]
        best = table.max()
        if (best - base) / (1 - base) < 0.5:
            result[name] = None
            continue
        layer, head = (table == best).nonzero()[0].tolist()
        result[name] = (layer, head)
    return result
""",
    ),
    Right(
        "measures",
        "flattened rows",
        code="""\
def reach(weights, tokens):
    q, k = weights.shape[-2:]
    steps = torch.abs(torch.arange(q).view(q, 1) - torch.arange(k).view(1, k)).to(weights.dtype)
    far = torch.einsum("bhqk,qk->hbq", weights, steps)
    return far[:, tokens.ne(0)].mean(dim=1)


def spread(weights, visible):
    m = visible.sum(-1)
    rows = m > 1
    entropy = -torch.xlogy(weights, weights).sum(-1).transpose(0, 1)
    return (entropy[:, rows] / m[rows].log()).mean(1)
""",
    ),
    Right(
        "translator",
        "inference mode and masked_fill",
        code="""\
def translator_weights(model, source, target, kind):
    mode = model.training
    try:
        with torch.inference_mode():
            layers = model.eval()(source, target, need_weights=True)[1][kind]
    finally:
        model.train(mode)
    empty = ((source if kind == "encoder" else target) == 0)[:, None, :, None]
    return torch.stack([w.clone().masked_fill(empty, 0) for w in layers])
""",
    ),
    Right(
        "which",
        "by sorting all heads",
        code="""\
def find_heads(scores, alike):
    def best(name):
        table = scores[name].tolist()
        score, layer, head = max(
            ((s, i, j) for i, row in enumerate(table) for j, s in enumerate(row)),
            key=lambda found: found[0],
        )
        return (layer, head) if 2 * score >= 1 + alike[name] else None

    return {name: best(name) for name in scores}
""",
    ),
]
