"""Answers to exercise 2, right and wrong."""

from textwrap import dedent

from tests.exercises.answers import Right, Wrong
from tests.exercises.fresh import patterns as fresh
from tests.exercises.students import patterns as students
from tests.exercises.subtle import patterns as subtle

STACK = "return torch.stack(weights[kind]) * real"


def _code(text):
    return dedent(text).lstrip("\n")


def _returns(name, arguments, body):
    return f"def {name}({arguments}):\n    return {body}\n"


def _translator(name, loses, named, old, new):
    return Wrong("translator", name, loses, named, change=(old, new))


WRONG_TRANSLATOR = [
    _translator(
        "heads and layers swapped",
        (0,),
        "heads and layers swapped",
        STACK,
        "return (torch.stack(weights[kind]) * real).transpose(0, 2)",
    ),
    _translator(
        "stacked along the second axis",
        (0,),
        "batch before layers",
        STACK,
        "return torch.stack(weights[kind], dim=1) * real.transpose(0, 1)",
    ),
    _translator(
        "layers as the third axis",
        (0,),
        "layers stacked behind the batch",
        STACK,
        "return (torch.stack(weights[kind]) * real).permute(1, 2, 0, 3, 4)",
    ),
    _translator(
        "joined and cut up anew",
        (0, 2),
        "batch and layers mixed",
        STACK,
        "joined = torch.stack(weights[kind], dim=1) * real.transpose(0, 1)\n"
        "    return joined.reshape(len(weights[kind]), *weights[kind][0].shape)",
    ),
    _translator(
        "maps transposed",
        (0,),
        "maps transposed",
        STACK,
        "return (torch.stack(weights[kind]) * real).transpose(-2, -1)",
    ),
    _translator(
        "mean over the heads",
        (0, 2),
        "heads averaged away",
        STACK,
        "return (torch.stack(weights[kind]) * real).mean(dim=2)",
    ),
    _translator(
        "the last layer",
        (0, 2),
        "one layer only",
        STACK,
        "return (torch.stack(weights[kind]) * real)[-1]",
    ),
    _translator(
        "the first sentence",
        (0, 2),
        "one sentence only",
        STACK,
        "return (torch.stack(weights[kind]) * real)[:, 0]",
    ),
    _translator(
        "layers joined to the batch",
        (0, 2),
        "layers joined into the batch",
        STACK,
        "return (torch.stack(weights[kind]) * real).flatten(0, 1)",
    ),
    _translator(
        "always the encoder",
        (0, 2),
        "always the same attention",
        "_, weights = model(source, target, need_weights=True)",
        "weights = model(source, target, need_weights=True)[1]\n"
        '        kind = "encoder"',
    ),
    _translator(
        "left in training mode",
        (1,),
        "dropout is on",
        "    model.eval()\n",
        "",
    ),
    _translator(
        "never put back into training mode",
        (1,),
        "mode not put back",
        "    model.train(was_training)\n",
        "",
    ),
    _translator(
        "always put into training mode",
        (1,),
        "mode not put back",
        "model.train(was_training)",
        "model.train()",
    ),
    _translator(
        "gradient left on",
        (1,),
        "gradient attached",
        "    with torch.no_grad():\n        _, weights",
        "    if True:\n        _, weights",
    ),
    _translator(
        "rows of padding kept",
        (2,),
        "rows of padding kept",
        STACK,
        "return torch.stack(weights[kind])",
    ),
    _translator(
        "always the padding of the source",
        (0, 1, 2),
        "padding of the wrong side",
        'queries = source if kind == "encoder" else target',
        "queries = source",
    ),
]

IMPLEMENTATION = (
    '    model.set_attn_implementation("eager")  # fused kernels make no weights\n'
)
ATTENTIONS = "return torch.stack(output.attentions) * mask[None, :, None, :, None]"


def _model(name, loses, named, old, new):
    return Wrong("hugging_face", name, loses, named, change=(old, new))


WRONG_HUGGING_FACE = [
    _model(
        "the fused implementation",
        (1,),
        "an implementation that makes no weights",
        IMPLEMENTATION,
        "",
    ),
    _model(
        "hidden states for attentions",
        (0, 1, 2, 3),
        "another output of the model",
        "output_attentions=True)",
        "output_hidden_states=True)\n        output.attentions = output.hidden_states",
    ),
    _model(
        "the last layer",
        (0, 1, 2),
        "one layer only",
        ATTENTIONS,
        "return output.attentions[-1] * mask[:, None, :, None]",
    ),
    _model(
        "mean over the heads",
        (0, 1, 2),
        "heads averaged away",
        ATTENTIONS,
        "return torch.stack(output.attentions).mean(2) * mask[None, :, :, None]",
    ),
    _model(
        "heads and layers swapped",
        (0, 1),
        "heads and layers swapped",
        ATTENTIONS,
        ATTENTIONS.replace("return ", "found = ")
        + "\n    return found.transpose(0, 2)",
    ),
    _model(
        "batch first",
        (0, 1),
        "batch before layers",
        ATTENTIONS,
        "return torch.stack(output.attentions, 1) * mask[:, None, None, :, None]",
    ),
    _model(
        "maps transposed",
        (0, 1),
        "maps transposed",
        ATTENTIONS,
        ATTENTIONS.replace("return ", "found = ") + "\n    return found.mT",
    ),
    _model(
        "the mask forgotten",
        (2,),
        "padding attended to, its rows zeroed",
        "attention_mask=mask, ",
        "",
    ),
    _model(
        "padding forgotten altogether",
        (2,),
        "padding attended to",
        "output_attentions=True)\n    model.train(was_training)\n    " + ATTENTIONS,
        "output_attentions=True)\n    output = model(input_ids=ids, "
        "output_attentions=True)\n    model.train(was_training)\n"
        "    return torch.stack(output.attentions).detach()",
    ),
    _model(
        "rows of padding kept",
        (2,),
        "rows of padding kept",
        ATTENTIONS,
        "return torch.stack(output.attentions)",
    ),
    _model(
        "weights after dropout",
        (3,),
        "dropout is on",
        "    model.eval()\n",
        "",
    ),
    _model(
        "gradient left on",
        (3,),
        "gradient attached",
        "    with torch.no_grad():\n        output",
        "    if True:\n        output",
    ),
    _model(
        "left in evaluation mode",
        (3,),
        "mode not put back",
        "    model.train(was_training)\n",
        "",
    ),
]


def _picture(name, loses, named, old, new):
    return Wrong("pictures", name, loses, named, change=(old, new))


DRAWN = 'ax.imshow(weights[head], vmin=0, vmax=1, cmap="Blues")'
LABELS = (
    "        ax.set_xticks(range(len(keys)), keys, rotation=90)\n"
    "        ax.set_yticks(range(len(queries)), queries)\n"
)

WRONG_PICTURES = [
    _picture(
        "pictures transposed",
        (0, 2),
        "pictures transposed",
        "imshow(weights[head]",
        "imshow(weights[head].T",
    ),
    _picture(
        "upside down",
        (0, 2),
        "upside down",
        'cmap="Blues")',
        'cmap="Blues", origin="lower")',
    ),
    _picture(
        "one picture of the mean",
        (0, 1, 2),
        "heads averaged away",
        "    heads = len(weights)\n",
        "    weights = weights.mean(dim=0, keepdim=True)\n    heads = len(weights)\n",
    ),
    _picture(
        "the first head in all pictures",
        (0,),
        "one head in all pictures",
        "weights[head]",
        "weights[0]",
    ),
    _picture(
        "each row stretched",
        (0,),
        "each row stretched",
        "imshow(weights[head],",
        "imshow(weights[head] / weights[head].amax(dim=-1, keepdim=True),",
    ),
    _picture(
        "a scale for each picture",
        (1,),
        "a scale for each picture",
        DRAWN,
        'ax.imshow(weights[head], cmap="Blues")',
    ),
    _picture(
        "a scale for all that depends on the data",
        (1,),
        "a scale made from the data",
        "vmax=1",
        "vmax=weights.max().item()",
    ),
    _picture(
        "labels exchanged",
        (2,),
        "labels exchanged",
        LABELS,
        "        ax.set_xticks(range(len(queries)), queries)\n"
        "        ax.set_yticks(range(len(queries)), keys[: len(queries)])\n",
    ),
    _picture(
        "labels at the first picture only",
        (2,),
        "labels at the first picture only",
        LABELS,
        "        if head == 0:\n    " + LABELS.replace("\n        ", "\n            "),
    ),
    _picture(
        "no titles",
        (2,),
        "no number in the title",
        '        ax.set_title(f"head {head}")\n',
        "",
    ),
    _picture(
        "heads counted from 1",
        (2,),
        "no number in the title",
        "head {head}",
        "head {head + 1}",
    ),
    _picture("no labels", (2,), "tokens not at the ticks", LABELS, ""),
    _picture(
        "labels between the cells",
        (2,),
        "tokens not at the ticks",
        "ax.set_yticks(range(len(queries)), queries)",
        "ax.set_yticks([i + 0.5 for i in range(len(queries))], queries)",
    ),
    _picture(
        "the axes not returned",
        (0, 1, 2),
        "the axes are not returned",
        "    return axes[0]",
        "    plt.show()",
    ),
    _picture(
        "a scale stretched in place",
        (0,),
        "changes its input",
        "    heads = len(weights)\n",
        "    weights /= weights.max()\n    heads = len(weights)\n",
    ),
]

BACK = "shares = weights.diagonal(-1, dim1=-2, dim2=-1)  # (batch, heads, tokens - 1)"


def _place(name, loses, named, old, new):
    return Wrong("place", name, loses, named, change=(old, new))


WRONG_PLACE = [
    _place(
        "the token just after",
        (0, 2),
        "rows and columns exchanged",
        BACK,
        "shares = weights.diagonal(1, dim1=-2, dim2=-1)",
    ),
    _place(
        "the token itself",
        (0, 2),
        "the token itself",
        BACK,
        "shares = weights.diagonal(0, dim1=-2, dim2=-1)[..., 1:]\n"
        "    whole = weights.diagonal(0, dim1=-2, dim2=-1)\n"
        "    return (whole * (tokens != 0)[:, None]).sum(dim=(0, 2)) "
        "/ (tokens != 0).sum()",
    ),
    _place(
        "divided by all queries",
        (0, 2),
        "the first row counted",
        "return (shares * counted[:, None]).sum(dim=(0, 2)) / counted.sum()",
        "return (shares * counted[:, None]).sum(dim=(0, 2)) / (tokens != 0).sum()",
    ),
    Wrong(
        "place",
        "index -1 for the first query",
        (0, 2),
        "the last key for the first query",
        code=_code(
            """
            def looks_back(weights, tokens):
                places = torch.arange(tokens.shape[1])
                shares = weights[:, :, places, places - 1]
                counted = tokens != 0
                return (shares * counted[:, None]).sum(dim=(0, 2)) / counted.sum()


            def looks_first(weights, tokens):
                counted = tokens[:, 1:] != 0
                shares = weights[:, :, 1:, 0] * counted[:, None]
                return shares.sum(dim=(0, 2)) / counted.sum()
            """
        ),
    ),
    _place(
        "the first query's row",
        (1, 2),
        "rows and columns exchanged",
        "weights[:, :, 1:, 0]",
        "weights[:, :, 0, 1:]",
    ),
    Wrong(
        "place",
        "the first query counted",
        (1, 2),
        "the first row counted",
        code=_code(
            """
            def looks_back(weights, tokens):
                shares = weights.diagonal(-1, dim1=-2, dim2=-1)
                counted = tokens[:, 1:] != 0
                return (shares * counted[:, None]).sum(dim=(0, 2)) / counted.sum()


            def looks_first(weights, tokens):
                counted = tokens != 0
                shares = weights[:, :, :, 0] * counted[:, None]
                return shares.sum(dim=(0, 2)) / counted.sum()
            """
        ),
    ),
    Wrong(
        "place",
        "padding counted",
        (2,),
        "padding counted",
        code=_code(
            """
            def looks_back(weights, tokens):
                return weights.diagonal(-1, dim1=-2, dim2=-1).mean(dim=(0, 2))


            def looks_first(weights, tokens):
                return weights[:, :, 1:, 0].mean(dim=(0, 2))
            """
        ),
    ),
    Wrong(
        "place",
        "padding counted in one of two",
        (2,),
        "padding counted",
        change=(
            "    counted = tokens[:, 1:] != 0\n    shares = weights[:, :, 1:, 0]",
            "    counted = tokens[:, 1:] >= 0\n    shares = weights[:, :, 1:, 0]",
        ),
    ),
    Wrong(
        "place",
        "the mean of means",
        (2,),
        "every sequence weighs the same",
        code=_code(
            """
            def looks_back(weights, tokens):
                shares = weights.diagonal(-1, dim1=-2, dim2=-1).sum(-1)
                return (shares / ((tokens != 0).sum(1) - 1)[:, None]).mean(0)


            def looks_first(weights, tokens):
                shares = weights[:, :, 1:, 0].sum(-1)
                return (shares / ((tokens != 0).sum(1) - 1)[:, None]).mean(0)
            """
        ),
    ),
    _place(
        "one number for all heads",
        (0, 1, 2),
        "heads averaged away",
        ".sum(dim=(0, 2)) / counted.sum()",
        ".sum(dim=(0, 2)).mean() / counted.sum()",
    ),
    Wrong(
        "place",
        "the axis of the batch kept",
        (0, 1, 2),
        "one number for each sequence",
        code=_code(
            """
            def looks_back(weights, tokens):
                return weights.diagonal(-1, dim1=-2, dim2=-1).mean(-1)


            def looks_first(weights, tokens):
                return weights[:, :, 1:, 0].mean(-1)
            """
        ),
    ),
    Wrong(
        "place",
        "padding cleared in place",
        (0,),
        "changes its input",
        change=(
            "    shares = weights.diagonal",
            "    weights[:, :, 0] = 0\n    shares = weights.diagonal",
        ),
    ),
]

EQUAL = "wanted = (equal & (tokens != 0)[:, :, None]).tril(-1)"
FOLLOWS = "return share_of(weights, (wanted & (tokens != 0)[:, :, None]).tril())"
SHIFTED = "wanted[:, :, 1:] = tokens[:, :, None] == tokens[:, None, :-1]"
SHARE = "return (shares * counted[:, None]).sum(dim=(0, 2)) / counted.sum()"


def _token(name, loses, named, old, new):
    return Wrong("token", name, loses, named, change=(old, new))


WRONG_TOKEN = [
    _token(
        "itself a copy of itself",
        (0, 2),
        "the token itself counted",
        EQUAL,
        EQUAL.replace("tril(-1)", "tril()"),
    ),
    _token(
        "later copies too",
        (0, 2),
        "later copies counted",
        EQUAL,
        "wanted = equal & (tokens != 0)[:, :, None]\n"
        "    wanted = wanted & ~torch.eye(tokens.shape[1], dtype=torch.bool)",
    ),
    _token(
        "all equal tokens",
        (0, 2),
        "all copies counted, itself included",
        EQUAL,
        "wanted = equal & (tokens != 0)[:, :, None]",
    ),
    _token(
        "triu for tril",
        (0, 2),
        "rows and columns exchanged",
        EQUAL,
        EQUAL.replace("tril(-1)", "triu(1)"),
    ),
    Wrong(
        "token",
        "all queries counted",
        (0, 1, 2),
        "queries without a copy counted",
        change=("counted = wanted.any(dim=-1)", "counted = wanted[..., 0] >= 0"),
    ),
    Wrong(
        "token",
        "the batch averaged first",
        (0, 1, 2),
        "batch averaged first",
        change=(
            "shares = (weights * wanted[:, None]).sum(dim=-1)",
            "shares = (weights.mean(dim=0) * wanted[:, None]).sum(dim=-1)",
        ),
    ),
    Wrong(
        "token",
        "one number for all heads",
        (0, 1, 2),
        "heads averaged away",
        change=(SHARE, SHARE.replace("(0, 2))", "(0, 2)).mean()")),
    ),
    _token(
        "induction off by one: the copy itself",
        (1, 2),
        "the copy, not what followed it",
        SHIFTED,
        "wanted[:, :, 1:] = (tokens[:, :, None] == tokens[:, None, :])[:, :, 1:]\n"
        "    wanted[:, :, 0] = tokens == tokens[:, :1]\n"
        "    wanted = wanted.tril(-1)",
    ),
    _token(
        "induction off by one: the token before the copy",
        (1, 2),
        "the token before the copy",
        SHIFTED,
        "equal = (tokens[:, :, None] == tokens[:, None, :]).tril(-1)\n"
        "    wanted[:, :, :-1] = equal[:, :, 1:]",
    ),
    _token(
        "the own place left out",
        (1, 2),
        "the query's own place left out",
        FOLLOWS,
        FOLLOWS.replace("tril()", "tril(-1)"),
    ),
    _token(
        "roll without a causal mask",
        (1, 2),
        "later keys counted",
        FOLLOWS,
        FOLLOWS.replace(".tril()", ""),
    ),
    _token(
        "rolled around the end",
        (1, 2),
        "rolled around the end",
        SHIFTED,
        "wanted = (tokens[:, :, None] == tokens[:, None, :]).roll(1, dims=2)",
    ),
    _token(
        "padding a copy of padding",
        (2,),
        "padding counted",
        " & (tokens != 0)[:, :, None])",
        ")",
    ),
    _token(
        "padding a copy of padding, in one of two",
        (2,),
        "padding counted",
        "(equal & (tokens != 0)[:, :, None])",
        "equal",
    ),
    _token(
        "the mean of means",
        (0, 1, 2),
        "every sequence weighs the same",
        SHARE,
        "each = (shares * counted[:, None]).sum(-1) / counted.sum(-1)[:, None]\n"
        "    return each.mean(0)",
    ),
]

ALIGNED = "looked_up = weights.argmax(dim=-1)  # (batch, heads, target)"


def _alignment(name, loses, named, old, new):
    return Wrong("alignment", name, loses, named, change=(old, new))


def _links(body, counted="for s, t in pairs"):
    return _code(
        f"""
        def alignment_hits(weights, links):
            hits = []
            for sentence, pairs in zip(weights, links):
                {counted}:
                    hits.append({body})
            return torch.stack(hits).float().mean(dim=0)
        """
    )


WRONG_ALIGNMENT = [
    Wrong(
        "alignment",
        "pairs read as target and source",
        (0, 1),
        "pairs read the wrong way round",
        code=_links("sentence[:, s].argmax(-1) == t"),
    ),
    Wrong(
        "alignment",
        "pairs read as target and source, where that fits",
        (0, 1),
        "pairs read the wrong way round",
        code=_links(
            "sentence[:, s].argmax(-1) == t",
            "for s, t in [p for p in pairs if p[0] < sentence.shape[1]]",
        ),
    ),
    Wrong(
        "alignment",
        "the largest of a column",
        (0, 1),
        "the largest weight of a column",
        code=_links("sentence[:, :, s].argmax(-1) == t"),
    ),
    Wrong(
        "alignment",
        "mean weight",
        (0, 1),
        "weight instead of hits",
        code=_links("sentence[:, t, s]"),
    ),
    _alignment(
        "the batch averaged first",
        (0, 1),
        "batch averaged first",
        ALIGNED,
        "looked_up = weights.mean(dim=0).argmax(dim=-1).expand(len(links), -1, -1)",
    ),
    _alignment(
        "heads averaged first",
        (0, 1),
        "heads averaged first",
        ALIGNED,
        "looked_up = weights.mean(dim=1, keepdim=True).argmax(dim=-1)",
    ),
    Wrong(
        "alignment",
        "every link counted",
        (1,),
        "every link counted",
        code=_links("sentence[:, t].argmax(-1) == s"),
    ),
    _alignment(
        "all rows counted",
        (1,),
        "unlinked tokens and padding counted",
        "for place in sorted({t for _, t in pairs}):",
        "for place in range(weights.shape[2]):",
    ),
    Wrong(
        "alignment",
        "unlinked words counted, padding left out",
        (1,),
        "unlinked tokens counted",
        code=_code(
            """
            def alignment_hits(weights, links):
                hits = []
                for maps, pairs in zip(weights, links):
                    for place in range(int((maps[0].sum(-1) > 0).sum())):
                        linked = torch.tensor([s for s, t in pairs if t == place])
                        hits.append(torch.isin(maps[:, place].argmax(-1), linked))
                return torch.stack(hits).float().mean(0)
            """
        ),
    ),
    Wrong(
        "alignment",
        "the mean of sentences",
        (1,),
        "every sentence weighs the same",
        code=_code(
            """
            def alignment_hits(weights, links):
                means = []
                for maps, pairs in zip(weights, links):
                    hits = []
                    for place in {t for _, t in pairs}:
                        linked = torch.tensor([s for s, t in pairs if t == place])
                        hits.append(torch.isin(maps[:, place].argmax(-1), linked))
                    means.append(torch.stack(hits).float().mean(0))
                return torch.stack(means).mean(0)
            """
        ),
    ),
]


def _which(name, loses, named, old, new):
    return Wrong("which", name, loses, named, change=(old, new))


WRONG_WHICH = [
    _which(
        "head before layer",
        (0, 1),
        "head before layer",
        "(layer, head) if enough",
        "(head, layer) if enough",
    ),
    _which(
        "a flat index",
        (0, 1),
        "a flat index",
        "(layer, head) if enough",
        "[table.argmax().item()] if enough",
    ),
    _which(
        "divided by the number of layers",
        (0, 1),
        "taken apart by the number of layers",
        "(layer, head) if enough",
        "divmod(table.argmax().item(), len(table)) if enough",
    ),
    _which("always some head", (1,), "always some head", " if enough else None", ""),
    _which(
        "one half for all",
        (1,),
        "one half for all",
        "(alike[name] + 1) / 2",
        "0.5",
    ),
    _which(
        "any more than everywhere alike",
        (1,),
        "higher than a head that looks everywhere",
        ">= (alike[name] + 1) / 2",
        "> alike[name]",
    ),
]

HOOK = "handle = attention.output_proj.register_forward_pre_hook(without_head)"
OWN = "own = slice(head * attention.d_head, (head + 1) * attention.d_head)"


def _ablation(name, loses, named, old, new):
    return Wrong("ablation", name, loses, named, change=(old, new))


def _parameters(change, restore="projection.weight[:, own] = kept"):
    return _code(
        f"""
        @contextmanager
        def ablated(model, layer, head):
            attention = model.layers[layer].attention
            projection = attention.output_proj
            own = slice(head * attention.d_head, (head + 1) * attention.d_head)
            with torch.no_grad():
                {change}
            try:
                yield
            finally:
                with torch.no_grad():
                    {restore}


        def rise(model, tokens, layer, head, loss_of):
            before = loss_of(model, tokens)
            with ablated(model, layer, head):
                return (loss_of(model, tokens) - before).item()
        """
    )


def _copied(change):
    """Change some parameters, and put all of them back from a copy."""
    copy = "kept = {k: v.clone() for k, v in attention.state_dict().items()}; "
    return _parameters(copy + change, "attention.load_state_dict(kept)")


WRONG_ABLATION = [
    _ablation(
        "the whole layer",
        (0, 2),
        "the whole layer switched off",
        OWN,
        "own = slice(None)",
    ),
    _ablation(
        "layer and head exchanged",
        (0, 2),
        "layer and head exchanged",
        "    attention = model.layers[layer].attention\n",
        "    layer, head = head, layer\n"
        "    attention = model.layers[layer].attention\n",
    ),
    Wrong(
        "ablation",
        "this head in every layer",
        (0, 2),
        "the head switched off in every layer",
        code=_code(
            """
            @contextmanager
            def ablated(model, layer, head):
                handles = []
                for each in model.layers:
                    width = each.attention.d_head

                    def cut(module, inputs, width=width):
                        x = inputs[0].clone()
                        x[..., head * width : (head + 1) * width] = 0
                        return x

                    projection = each.attention.output_proj
                    handles.append(projection.register_forward_pre_hook(cut))
                try:
                    yield
                finally:
                    for handle in handles:
                        handle.remove()


            def rise(model, tokens, layer, head, loss_of):
                before = loss_of(model, tokens)
                with ablated(model, layer, head):
                    return (loss_of(model, tokens) - before).item()
            """
        ),
    ),
    _ablation(
        "all heads but this one",
        (0, 2),
        "all heads but this one",
        "        side_by_side[..., own] = 0\n        return (side_by_side,)",
        "        alone = torch.zeros_like(side_by_side)\n"
        "        alone[..., own] = side_by_side[..., own]\n"
        "        return (alone,)",
    ),
    Wrong(
        "ablation",
        "the output cut after the projection",
        (0, 2),
        "cut after the output projection",
        code=_code(
            """
            @contextmanager
            def ablated(model, layer, head):
                attention = model.layers[layer].attention
                width = attention.d_head

                def cut(module, inputs, output):
                    read, weights = output
                    read = read.clone()
                    read[..., head * width : (head + 1) * width] = 0
                    return read, weights

                handle = attention.register_forward_hook(cut)
                try:
                    yield
                finally:
                    handle.remove()


            def rise(model, tokens, layer, head, loss_of):
                before = loss_of(model, tokens)
                with ablated(model, layer, head):
                    return (loss_of(model, tokens) - before).item()
            """
        ),
    ),
    Wrong(
        "ablation",
        "rows of the output projection",
        (0, 2),
        "rows of the output projection",
        code=_copied("projection.weight[own] = 0"),
    ),
    Wrong(
        "ablation",
        "rows and bias of the output projection",
        (0, 2),
        "cut after the output projection",
        code=_copied("projection.weight[own] = 0; projection.bias[own] = 0"),
    ),
    _ablation(
        "interleaved numbers",
        (0, 2),
        "numbers of every head",
        OWN,
        "own = slice(head, None, attention.num_heads)",
    ),
    Wrong(
        "ablation",
        "the bias of the values left",
        (0, 2),
        "the bias of the values left",
        code=_copied("attention.value_proj.weight[own] = 0"),
    ),
    Wrong(
        "ablation",
        "weights made uniform",
        (0, 2),
        "weights made uniform, output kept",
        code=_copied(
            "attention.query_proj.weight[own] = 0; attention.query_proj.bias[own] = 0"
        ),
    ),
    Wrong(
        "ablation",
        "the matrix of the queries cleared",
        (0, 2),
        "queries cleared, output kept",
        code=_copied("attention.query_proj.weight[own] = 0"),
    ),
    _ablation(
        "a hook that returns nothing",
        (0, 2),
        "nothing happens",
        "        return (side_by_side,)\n",
        "",
    ),
    _ablation(
        "no decorator",
        (0, 1, 2),
        "not a context manager",
        "@contextmanager\n",
        "",
    ),
    _ablation(
        "the hook left behind",
        (1, 2),
        "hook left behind",
        "        handle.remove()",
        "        pass",
    ),
    _ablation(
        "not removed after an error",
        (1,),
        "not undone after an error",
        "    try:\n        yield\n    finally:\n        handle.remove()",
        "    yield\n    handle.remove()",
    ),
    Wrong(
        "ablation",
        "parameters not put back",
        (1,),
        "parameters changed for good",
        code=_parameters("projection.weight[:, own] = 0", "pass"),
    ),
    Wrong(
        "ablation",
        "a copy that is a view",
        (1,),
        "parameters changed for good",
        code=_parameters(
            "kept = projection.weight[:, own]; projection.weight[:, own] = 0"
        ),
    ),
    _ablation(
        "left in evaluation mode",
        (1,),
        "mode not put back",
        "    try:\n        yield",
        "    model.eval()\n    try:\n        yield",
    ),
    Wrong(
        "ablation",
        "the forward method not put back",
        (1,),
        "still ablated afterwards",
        code=_code(
            """
            @contextmanager
            def ablated(model, layer, head):
                active = torch.ones(len(model.layers), model.num_heads) > 0
                active[layer, head] = False
                whole = model.forward
                model.forward = lambda x, **o: whole(x, active_heads=active, **o)
                yield


            def rise(model, tokens, layer, head, loss_of):
                before = loss_of(model, tokens)
                with ablated(model, layer, head):
                    return (loss_of(model, tokens) - before).item()
            """
        ),
    ),
    _ablation(
        "sign reversed",
        (2,),
        "sign reversed",
        "return loss_of(model, tokens).item() - with_head",
        "return with_head - loss_of(model, tokens).item()",
    ),
    _ablation(
        "the loss without the head",
        (2,),
        "the loss, not its rise",
        "return loss_of(model, tokens).item() - with_head",
        "return loss_of(model, tokens).item()",
    ),
    _ablation(
        "a ratio",
        (2,),
        "a ratio",
        "return loss_of(model, tokens).item() - with_head",
        "return loss_of(model, tokens).item() / with_head",
    ),
    _ablation(
        "measured after the block",
        (2,),
        "always zero",
        "        return loss_of(model, tokens).item() - with_head",
        "        pass\n    return loss_of(model, tokens).item() - with_head",
    ),
    _ablation(
        "no sign",
        (2,),
        "a size without a sign",
        "return loss_of(model, tokens).item() - with_head",
        "return abs(loss_of(model, tokens).item() - with_head)",
    ),
]

MEAN = "return (distance * real).sum(dim=(0, 2)) / real.sum()"


def _measure(name, loses, named, old, new):
    return Wrong("measures", name, loses, named, change=(old, new))


WRONG_MEASURES = [
    _measure(
        "distances with a sign",
        (0, 2),
        "distances with a sign",
        "(rows - columns.T).abs()",
        "(rows - columns.T)",
    ),
    _measure(
        "squared distances",
        (0, 2),
        "squared distances",
        "(rows - columns.T).abs()",
        "(rows - columns.T) ** 2",
    ),
    _measure(
        "the largest weight's distance",
        (0, 2),
        "only the largest weight counted",
        "distance = (weights * (rows - columns.T).abs()).sum(dim=-1)",
        "distance = (weights.argmax(dim=-1) - rows[:, 0]).abs()",
    ),
    _measure(
        "as many keys as queries",
        (0,),
        "as many keys as queries taken for granted",
        "(torch.arange(n)[:, None] for n in weights.shape[-2:])",
        "(torch.arange(tokens.shape[1])[:, None] for _ in range(2))",
    ),
    _measure(
        "one number for all heads",
        (0, 2),
        "heads averaged away",
        MEAN,
        MEAN.replace("(0, 2))", "(0, 2)).mean()"),
    ),
    _measure(
        "the entropy in nats",
        (1, 2),
        "not a share",
        "share = entropy / count.clamp(min=2).log()",
        "share = entropy",
    ),
    _measure(
        "the entropy in nats, of all queries",
        (1, 2),
        "not a share",
        "    share = entropy / count.clamp(min=2).log()\n"
        "    return (share * chosen).sum(dim=(0, 2)) / chosen.sum()",
        "    return entropy.mean(dim=(0, 2))",
    ),
    _measure(
        "divided by the logarithm of all keys",
        (1, 2),
        "divided by the logarithm of all keys",
        "count.clamp(min=2).log()",
        "torch.tensor(float(weights.shape[-1])).log()",
    ),
    _measure(
        "queries with one key counted",
        (1, 2),
        "queries that see one key counted",
        "chosen = count >= 2",
        "chosen = count >= 1",
    ),
    _measure(
        "zero times the logarithm of zero",
        (1, 2),
        "zero times the logarithm of zero",
        "torch.special.entr(weights)",
        "(-weights * weights.log())",
    ),
    Wrong(
        "measures",
        "padding counted",
        (2,),
        "padding counted",
        change=("real = (tokens != 0)[:, None]", "real = (tokens >= 0)[:, None]"),
    ),
    _measure(
        "the mean of means",
        (2,),
        "every sequence weighs the same",
        MEAN,
        "return ((distance * real).sum(-1) / real.sum(-1)).mean(0)",
    ),
]


def _languages(name, named, old, new):
    return Wrong("languages", name, (0,), named, change=(old, new))


BEST = "best = alignment_hits(weights, links).argmax()"

WRONG_LANGUAGES = [
    _languages(
        "the head that is best for French",
        "one head for all languages",
        BEST,
        "best = alignment_hits(weights, links).argmax() if not found else best",
    ),
    _languages("head 0", "head 0 for all languages", BEST, "best = 0"),
    _languages(
        "the mean over the heads",
        "heads averaged",
        "reach(weights, target)[best].item()",
        "reach(weights, target).mean().item()",
    ),
    _languages(
        "the head that reaches farthest",
        "the head that reaches farthest",
        "reach(weights, target)[best].item()",
        "reach(weights, target).max().item()",
    ),
    _languages(
        "padding counted",
        "padding counted",
        "reach(weights, target)[best].item()",
        "reach(weights, torch.ones_like(target))[best].item()",
    ),
]

WRONG = [
    *WRONG_TRANSLATOR,
    *WRONG_HUGGING_FACE,
    *WRONG_PICTURES,
    *WRONG_PLACE,
    *WRONG_TOKEN,
    *WRONG_ALIGNMENT,
    *WRONG_WHICH,
    *WRONG_ABLATION,
    *WRONG_MEASURES,
    *WRONG_LANGUAGES,
    *students.WRONG,
    *subtle.WRONG,
    *fresh.WRONG,
]

RIGHT_TRANSLATOR = [
    Right(
        "translator",
        "the solution",
        change=("def translator_weights", "def translator_weights"),
    ),
    Right(
        "translator",
        "a decorator and a mask from the model's padding id",
        code=_code(
            """
            @torch.no_grad()
            def translator_weights(model, source, target, kind):
                mode = model.training
                try:
                    maps = model.eval()(source, target, need_weights=True)[1][kind]
                finally:
                    model.train(mode)
                ids = {"encoder": source, "decoder": target, "cross": target}[kind]
                rows = ids.ne(model.pad_idx).unsqueeze(1).unsqueeze(-1)
                return torch.stack([one * rows for one in maps], dim=0)
            """
        ),
    ),
    Right(
        "translator",
        "einsum and detach",
        code=_code(
            """
            def translator_weights(model, source, target, kind):
                training = model.training
                model.eval()
                logits, maps = model(source, target, need_weights=True)
                if training:
                    model.train()
                asked = source if kind == "encoder" else target
                real = (asked > 0).float()
                found = torch.stack(tuple(maps[kind])).detach()
                return torch.einsum("lbhqk,bq->lbhqk", found, real)
            """
        ),
    ),
    Right(
        "translator",
        "a loop that writes zeros",
        code=_code(
            """
            def translator_weights(model, source, target, kind):
                modes = {m: m.training for m in model.modules()}
                for m in modes:
                    m.training = False
                with torch.inference_mode():
                    maps = model(source, target, need_weights=True)[1][kind]
                    shape = (len(maps), *maps[0].shape)
                    result = torch.empty(shape)
                    for layer, one in enumerate(maps):
                        result[layer] = one
                    ids = source if kind == "encoder" else target
                    for b in range(len(ids)):
                        for i in range(ids.shape[1]):
                            if ids[b, i] == 0:
                                result[:, b, :, i] = 0
                for m, mode in modes.items():
                    m.training = mode
                return result
            """
        ),
    ),
    Right(
        "translator",
        "a class and helpers, in double precision",
        helpers=(
            _code(
                """
                class Evaluation:
                    def __init__(self, model):
                        self.model = model

                    def __enter__(self):
                        self.mode = self.model.training
                        self.model.eval()

                    def __exit__(self, *error):
                        self.model.train(self.mode)
                """
            ),
        ),
        code=_code(
            """
            class Extractor:
                def __call__(self, model, source, target, kind):
                    with Evaluation(model), torch.no_grad():
                        maps = model(source, target, need_weights=True)[1][kind]
                    ids = source if kind == "encoder" else target
                    hidden = (ids == 0)[None, :, None, :, None]
                    return torch.stack(maps).double().masked_fill(hidden, 0.0)


            translator_weights = Extractor()
            """
        ),
    ),
]

RIGHT_HUGGING_FACE = [
    Right(
        "hugging_face",
        "the solution",
        change=("def hugging_face_weights", "def hugging_face_weights"),
    ),
    Right(
        "hugging_face",
        "a decorator, the output as a dict, masked_fill",
        code=_code(
            """
            @torch.no_grad()
            def hugging_face_weights(model, ids, mask):
                mode = model.training
                model.eval().set_attn_implementation("eager")
                options = {"output_attentions": True, "return_dict": True}
                found = model(ids, attention_mask=mask, **options)["attentions"]
                model.train(mode)
                rows = mask.bool()[:, None, :, None]
                return torch.stack([one.masked_fill(~rows, 0) for one in found])
            """
        ),
    ),
    Right(
        "hugging_face",
        "asked through the configuration",
        code=_code(
            """
            def hugging_face_weights(model, ids, mask):
                mode = model.training
                model.eval()
                model.set_attn_implementation("eager")
                model.config.output_attentions = True
                with torch.inference_mode():
                    found = model(input_ids=ids, attention_mask=mask).attentions
                model.config.output_attentions = False
                model.train(mode)
                real = mask.to(torch.get_default_dtype())
                return torch.einsum("lbhqk,bq->lbhqk", torch.stack(found), real)
            """
        ),
    ),
    Right(
        "hugging_face",
        "the implementation put back, columns cleared too",
        code=_code(
            """
            def hugging_face_weights(model, ids, mask):
                mode = model.training
                before = model.config._attn_implementation
                model.set_attn_implementation("eager")
                try:
                    model.eval()
                    with torch.no_grad():
                        output = model(ids, attention_mask=mask, output_attentions=True)
                finally:
                    model.train(mode)
                    model.set_attn_implementation(before)
                real = mask[:, None, :, None] * mask[:, None, None, :]
                return torch.stack(list(output.attentions)) * real
            """
        ),
    ),
    Right(
        "hugging_face",
        "the weights caught by hooks on a copy",
        helpers=("import copy\n",),
        code=_code(
            """
            def hugging_face_weights(model, ids, mask):
                caught = []
                twin = copy.deepcopy(model).eval()
                twin.set_attn_implementation("eager")

                def catch(module, inputs, output):
                    caught.append(output[1].detach())

                for name, module in twin.named_modules():
                    last = name.split(".")[-1]
                    if last == "attn" or name.endswith("attention.self"):
                        module.register_forward_hook(catch)
                with torch.no_grad():
                    twin(input_ids=ids, attention_mask=mask, output_attentions=True)
                return torch.stack(caught) * mask[:, None, :, None]
            """
        ),
    ),
]

RIGHT_PICTURES = [
    Right("pictures", "the solution", change=("def draw_heads", "def draw_heads")),
    Right(
        "pictures",
        "matshow in a loop of add_subplot",
        code=_code(
            """
            def draw_heads(weights, queries, keys):
                figure = plt.figure(figsize=(9, 3))
                found = []
                for i in range(weights.shape[0]):
                    ax = figure.add_subplot(1, weights.shape[0], i + 1)
                    ax.matshow(weights[i].numpy(), vmin=0.0, vmax=1.0)
                    ax.set_xticks(list(range(len(keys))))
                    ax.set_xticklabels(keys, rotation=45)
                    ax.set_yticks(list(range(len(queries))))
                    ax.set_yticklabels(queries)
                    ax.set(title=f"Head {i} of the layer", xlabel="key")
                    found.append(ax)
                return found
            """
        ),
    ),
    Right(
        "pictures",
        "pcolormesh with the axis turned round",
        code=_code(
            """
            def draw_heads(weights, queries, keys):
                figure, axes = plt.subplots(1, len(weights), squeeze=False)
                for i, (head, ax) in enumerate(zip(weights, axes.flat)):
                    mesh = ax.pcolormesh(head, vmin=0, vmax=1, edgecolor="white")
                    ax.invert_yaxis()
                    ax.set_xticks([j + 0.5 for j in range(len(keys))], keys)
                    ax.set_yticks([j + 0.5 for j in range(len(queries))], queries)
                    ax.set_title(str(i))
                figure.colorbar(mesh, ax=list(axes.flat))
                return axes.ravel()
            """
        ),
    ),
    Right(
        "pictures",
        "set_clim, and shared labels on the left",
        code=_code(
            """
            def draw_heads(weights, queries, keys):
                columns = 2
                rows = -(-len(weights) // columns)
                figure, grid = plt.subplots(
                    rows, columns, sharex=True, sharey=True, squeeze=False
                )
                grid[0, 0].set_xticks(range(len(keys)), labels=keys)
                grid[0, 0].set_yticks(range(len(queries)), labels=queries)
                axes = grid.ravel().tolist()
                for ax in axes[len(weights) :]:
                    ax.remove()
                for number, ax in enumerate(axes[: len(weights)]):
                    ax.imshow(weights[number], aspect="auto").set_clim(0, 1)
                    ax.set_title("head %d" % number, loc="left")
                return axes[: len(weights)]
            """
        ),
    ),
    Right(
        "pictures",
        "a norm, and helpers",
        helpers=(
            _code(
                """
                from matplotlib.colors import Normalize


                def one_head(ax, matrix, queries, keys):
                    picture = ax.imshow(matrix, norm=Normalize(0, 1), cmap="magma")
                    ax.set_xticks(ticks=range(matrix.shape[1]), labels=keys)
                    ax.set_yticks(ticks=range(matrix.shape[0]), labels=queries)
                    return picture
                """
            ),
        ),
        code=_code(
            """
            def draw_heads(weights, queries, keys):
                figure = plt.figure(layout="constrained")
                axes = figure.subplots(1, len(weights), squeeze=False)[0]
                for i in range(len(weights)):
                    one_head(axes[i], weights[i].double(), queries, keys)
                    axes[i].set_title(f"attention of head number {i}")
                return tuple(axes)
            """
        ),
    ),
]

RIGHT_PLACE = [
    Right("place", "the solution", change=("def looks_back", "def looks_back")),
    Right(
        "place",
        "loops over the batch",
        code=_code(
            """
            def looks_back(weights, tokens):
                found = []
                for w, t in zip(weights, tokens):
                    for i in range(1, int((t != 0).sum())):
                        found.append(w[:, i, i - 1])
                return torch.stack(found).mean(0)


            def looks_first(weights, tokens):
                found = []
                for w, t in zip(weights, tokens):
                    found += [w[:, i, 0] for i in range(1, int((t != 0).sum()))]
                return sum(found) / len(found)
            """
        ),
    ),
    Right(
        "place",
        "boolean indexing",
        code=_code(
            """
            def looks_back(weights, tokens):
                real = tokens[:, 1:] != 0
                line = torch.diagonal(weights[:, :, 1:, :-1], dim1=2, dim2=3)
                return line.transpose(1, 2)[real].mean(dim=0)


            def looks_first(weights, tokens):
                real = tokens[:, 1:] != 0
                return weights[..., 0].transpose(1, 2)[:, 1:][real].mean(dim=0)
            """
        ),
    ),
    Right(
        "place",
        "einsum with a table, in double precision",
        code=_code(
            """
            def looks_back(weights, tokens):
                n = tokens.shape[1]
                table = torch.diag(torch.ones(n - 1), -1).double()
                real = (tokens != 0).double()
                real[:, 0] = 0
                total = torch.einsum("bhqk,qk,bq->h", weights.double(), table, real)
                return total / real.sum()


            def looks_first(weights, tokens):
                real = (tokens != 0).double()
                real[:, 0] = 0
                first = weights.double()[..., 0]
                return torch.einsum("bhq,bq->h", first, real) / real.sum()
            """
        ),
    ),
    Right(
        "place",
        "a shared helper in another cell, gather",
        helpers=(
            _code(
                """
                def average(shares, tokens):
                    counted = (tokens != 0) & (torch.arange(tokens.shape[1]) > 0)
                    shares = shares.masked_fill(~counted[:, None], 0)
                    return shares.sum((0, 2)).div(counted.sum())
                """
            ),
        ),
        code=_code(
            """
            def looks_back(weights, tokens):
                places = (torch.arange(weights.shape[-1]) - 1).clamp(min=0)
                places = places[:, None].expand(*weights.shape[:3], 1)
                return average(weights.gather(-1, places).squeeze(-1), tokens)


            looks_first = lambda weights, tokens: average(weights[:, :, :, 0], tokens)
            """
        ),
    ),
]

RIGHT_TOKEN = [
    Right("token", "the solution", change=("def looks_same", "def looks_same")),
    Right(
        "token",
        "three loops",
        code=_code(
            """
            def looks_same(weights, tokens):
                found = []
                for w, t in zip(weights, tokens.tolist()):
                    for i in range(len(t)):
                        keys = [j for j in range(i) if t[j] == t[i] != 0]
                        if keys:
                            found.append(w[:, i, keys].sum(-1))
                return torch.stack(found).mean(0)


            def looks_after(weights, tokens):
                found = []
                for w, t in zip(weights, tokens.tolist()):
                    for i in range(len(t)):
                        keys = [j for j in range(1, i + 1) if t[j - 1] == t[i] != 0]
                        if keys:
                            found.append(w[:, i, keys].sum(-1))
                return torch.stack(found).mean(0)
            """
        ),
    ),
    Right(
        "token",
        "einsum, and one table made from the other",
        code=_code(
            """
            def table(tokens):
                real = tokens != 0
                equal = tokens.unsqueeze(2).eq(tokens.unsqueeze(1))
                return torch.tril(equal & real.unsqueeze(2) & real.unsqueeze(1), -1)


            def mean_share(weights, wanted):
                total = torch.einsum("bhqk,bqk->h", weights, wanted.to(weights))
                return total / wanted.any(-1).sum()


            def looks_same(weights, tokens):
                return mean_share(weights, table(tokens))


            def looks_after(weights, tokens):
                return mean_share(weights, F.pad(table(tokens), (1, 0))[:, :, :-1])
            """
        ),
    ),
    Right(
        "token",
        "roll, with the first column cleared",
        code=_code(
            """
            def _score(weights, wanted):
                share = (weights * wanted.unsqueeze(1)).sum(-1).movedim(1, -1)
                return share[wanted.any(-1)].mean(0)


            def looks_same(weights, tokens):
                n = tokens.shape[-1]
                past = torch.arange(n)[:, None] > torch.arange(n)
                equal = tokens[:, :, None] == tokens[:, None]
                return _score(weights, equal & past & tokens.ne(0)[:, :, None])


            def looks_after(weights, tokens):
                n = tokens.shape[-1]
                past = torch.arange(n)[:, None] >= torch.arange(n)
                equal = (tokens[:, :, None] == tokens[:, None]).roll(1, -1)
                equal[..., 0] = False
                return _score(weights, equal & past & tokens.ne(0)[:, :, None])
            """
        ),
    ),
    Right(
        "token",
        "one class for both, in double precision",
        code=_code(
            """
            class Looks:
                def __init__(self, step):
                    self.step = step

                def __call__(self, weights, tokens):
                    n = tokens.shape[1]
                    total, count = torch.zeros(weights.shape[1]).double(), 0
                    for w, t in zip(weights.double(), tokens):
                        for i in range(n):
                            if t[i] == 0:
                                continue
                            copies = (t[:i] == t[i]).nonzero().flatten()
                            if len(copies):
                                total += w[:, i, copies + self.step].sum(1)
                                count += 1
                    return total / count


            looks_same, looks_after = Looks(0), Looks(1)
            """
        ),
    ),
    Right(
        "token",
        "embedding by one-hot vectors and a matrix product",
        code=_code(
            """
            def looks_same(weights, tokens):
                one_hot = F.one_hot(tokens)[..., 1:].float()
                wanted = (one_hot @ one_hot.mT).tril(-1)
                has = (wanted.sum(-1) > 0).float()
                return (weights * wanted[:, None]).sum((0, 2, 3)) / has.sum()


            def looks_after(weights, tokens):
                one_hot = F.one_hot(tokens)[..., 1:].float()
                before = torch.zeros_like(one_hot)
                before[:, 1:] = one_hot[:, :-1]
                wanted = (one_hot @ before.mT).tril()
                has = (wanted.sum(-1) > 0).float()
                return (weights * wanted[:, None]).sum((0, 2, 3)) / has.sum()
            """
        ),
    ),
]

RIGHT_ALIGNMENT = [
    Right(
        "alignment", "the solution", change=("def alignment_hits", "def alignment_hits")
    ),
    Right(
        "alignment",
        "a table of gold links and gather",
        code=_code(
            """
            def alignment_hits(weights, links):
                gold = torch.zeros_like(weights[:, 0])
                for b, pairs in enumerate(links):
                    for s, t in pairs:
                        gold[b, t, s] = 1
                best = weights.argmax(-1, keepdim=True)
                hit = gold[:, None].expand_as(weights).gather(-1, best).squeeze(-1)
                linked = gold.sum(-1).gt(0)
                return (hit * linked[:, None]).sum((0, 2)) / linked.sum()
            """
        ),
    ),
    Right(
        "alignment",
        "plain Python",
        code=_code(
            """
            def alignment_hits(weights, links):
                heads = weights.shape[1]
                right, count = [0] * heads, 0
                for sentence, pairs in zip(weights.tolist(), links):
                    sources = {}
                    for s, t in pairs:
                        sources.setdefault(t, []).append(s)
                    count += len(sources)
                    for t, wanted in sources.items():
                        for head in range(heads):
                            row = sentence[head][t]
                            right[head] += row.index(max(row)) in wanted
                return torch.tensor([r / count for r in right])
            """
        ),
    ),
    Right(
        "alignment",
        "one-hot of the largest, einsum",
        code=_code(
            """
            def alignment_hits(weights, links):
                chosen = F.one_hot(weights.argmax(-1), weights.shape[-1]).double()
                gold = torch.zeros(weights[:, 0].shape, dtype=torch.float64)
                for table, pairs in zip(gold, links):
                    if len(pairs):
                        s, t = zip(*pairs)
                        table[list(t), list(s)] = 1.0
                hits = torch.einsum("bhts,bts->h", chosen, gold)
                return hits / (gold.sum(-1) > 0).sum()
            """
        ),
    ),
    Right(
        "alignment",
        "links as a set, rows first",
        helpers=(
            "def places_of(pairs):\n"
            "    return sorted(set(target for source, target in pairs))\n",
        ),
        code=_code(
            """
            def alignment_hits(weights, links):
                rows = []
                for b in range(len(links)):
                    gold = {(int(s), int(t)) for s, t in links[b]}
                    for t in places_of(gold):
                        best = weights[b, :, t].max(dim=-1).indices.tolist()
                        rows.append([float((s, t) in gold) for s in best])
                return torch.tensor(rows).mean(dim=0)
            """
        ),
    ),
]

RIGHT_WHICH = [
    Right("which", "the solution", change=("def find_heads", "def find_heads")),
    Right(
        "which",
        "unravel_index",
        code=_code(
            """
            def find_heads(scores, alike):
                result = {}
                for name in scores:
                    best = scores[name].max()
                    table = scores[name]
                    place = torch.unravel_index(table.argmax(), table.shape)
                    halfway = alike[name] + 0.5 * (1 - alike[name])
                    result[name] = tuple(map(int, place)) if best >= halfway else None
                return result
            """
        ),
    ),
    Right(
        "which",
        "a comparison of everything with the highest",
        code=_code(
            """
            def find_heads(scores, alike):
                def place(table, baseline):
                    if table.max() < (1 + baseline) / 2:
                        return None
                    return tuple((table == table.max()).nonzero()[0].tolist())

                return {name: place(scores[name], alike[name]) for name in scores}
            """
        ),
    ),
    Right(
        "which",
        "loops that keep the best",
        code=_code(
            """
            def find_heads(scores, alike):
                places = {}
                for name, table in scores.items():
                    places[name] = None
                    best = (1 + alike[name]) / 2
                    for layer, row in enumerate(table.tolist()):
                        for head, score in enumerate(row):
                            if score >= best:
                                best, places[name] = score, (layer, head)
                return places
            """
        ),
    ),
    Right(
        "which",
        "first the layer, then the head, rescaled scores",
        code=_code(
            """
            def find_heads(scores, alike):
                found = dict.fromkeys(scores)
                for name, table in scores.items():
                    above = (table.double() - alike[name]) / (1 - alike[name])
                    layer = above.amax(dim=1).argmax()
                    head = above[layer].argmax()
                    if above[layer, head] >= 0.5:
                        found[name] = (layer, head)
                return found
            """
        ),
    ),
]

RISE = """

def rise(model, tokens, layer, head, loss_of):
    with torch.no_grad():
        before = float(loss_of(model, tokens))
        with ablated(model, layer, head):
            after = float(loss_of(model, tokens))
    return after - before
"""

RIGHT_ABLATION = [
    Right("ablation", "the solution", change=("def ablated", "def ablated")),
    Right(
        "ablation",
        "the model's own switch, put before its forward method",
        code=_code(
            """
            @contextmanager
            def ablated(model, layer, head):
                active = torch.ones(
                    model.num_layers, model.num_heads, dtype=torch.bool
                )
                active[layer, head] = False
                whole = model.forward

                def without(tokens, *arguments, **options):
                    return whole(tokens, *arguments, active_heads=active, **options)

                model.forward = without
                try:
                    yield model
                finally:
                    del model.forward
            """
        )
        + RISE,
    ),
    Right(
        "ablation",
        "columns of the output projection, kept and put back",
        code=_code(
            """
            @contextmanager
            def ablated(model, layer, head):
                attention = model.layers[layer].attention
                columns = torch.arange(attention.d_model) // attention.d_head == head
                matrix = attention.output_proj.weight.data
                kept = matrix[:, columns].clone()
                matrix[:, columns] = 0
                try:
                    yield
                finally:
                    matrix[:, columns] = kept
            """
        )
        + RISE,
    ),
    Right(
        "ablation",
        "values and their bias, in a class",
        code=_code(
            """
            class ablated:
                def __init__(self, model, layer, head):
                    attention = model.layers[layer].attention
                    d = attention.d_head
                    value = attention.value_proj
                    self.parts = [
                        value.weight.data[d * head : d * head + d],
                        value.bias.data[d * head : d * head + d],
                    ]

                def __enter__(self):
                    self.kept = [part.clone() for part in self.parts]
                    for part in self.parts:
                        part.zero_()

                def __exit__(self, *error):
                    for part, kept in zip(self.parts, self.kept):
                        part.copy_(kept)
            """
        )
        + RISE,
    ),
    Right(
        "ablation",
        "the switch as a hook with keyword arguments",
        code=_code(
            """
            def switched_off(head, heads):
                def hook(module, inputs, options):
                    active = torch.arange(heads) != head
                    return inputs, {**options, "active_heads": active}

                return hook


            @contextmanager
            def ablated(model, layer, head):
                place = model.layers[layer]
                handle = place.register_forward_pre_hook(
                    switched_off(head, model.num_heads), with_kwargs=True
                )
                with handle:
                    yield
            """
        )
        + RISE,
    ),
    Right(
        "ablation",
        "a factor for each number, contextlib's ExitStack",
        helpers=("from contextlib import ExitStack\n",),
        code=_code(
            """
            def ablated(model, layer, head):
                attention = model.layers[layer].attention
                factor = torch.ones(attention.num_heads, attention.d_head)
                factor[head] = 0
                stack = ExitStack()
                handle = attention.output_proj.register_forward_pre_hook(
                    lambda module, inputs: inputs[0] * factor.flatten()
                )
                stack.callback(handle.remove)
                return stack
            """
        )
        + RISE,
    ),
]

RIGHT_MEASURES = [
    Right("measures", "the solution", change=("def reach", "def reach")),
    Right(
        "measures",
        "loops",
        code=_code(
            """
            def reach(weights, tokens):
                found = []
                for w, t in zip(weights, tokens):
                    for i in range(len(t)):
                        if t[i] != 0:
                            steps = [abs(i - j) for j in range(w.shape[-1])]
                            found.append(w[:, i] @ torch.tensor(steps).float())
                return torch.stack(found).mean(0)


            def spread(weights, visible):
                found = []
                for w, table in zip(weights, visible):
                    for i in range(table.shape[0]):
                        seen = table[i]
                        if seen.sum() >= 2:
                            p = w[:, i, seen].clamp(min=1e-30)
                            most = torch.log(seen.sum().float())
                            found.append(-(p * p.log()).sum(-1) / most)
                return torch.stack(found).mean(0)
            """
        ),
    ),
    Right(
        "measures",
        "einsum and cdist, bits for nats",
        code=_code(
            """
            def reach(weights, tokens):
                q = torch.arange(weights.shape[2]).float()[:, None]
                k = torch.arange(weights.shape[3]).float()[:, None]
                real = (tokens != 0).float()
                steps = torch.cdist(q, k, p=1)
                return torch.einsum("bhqk,qk,bq->h", weights, steps, real) / real.sum()


            def spread(weights, visible):
                keys = visible.sum(-1)
                bits = torch.where(weights > 0, -weights * weights.log2(), 0.0).sum(-1)
                bits = bits.transpose(1, 2)[keys > 1]
                return (bits / keys[keys > 1].log2()[:, None]).mean(0)
            """
        ),
    ),
    Right(
        "measures",
        "xlogy, boolean indexing, double precision",
        code=_code(
            """
            def reach(weights, tokens):
                rows = torch.arange(weights.size(-2)).view(-1, 1)
                steps = (torch.arange(weights.size(-1)) - rows).abs().double()
                far = (weights.double() * steps).sum(-1)
                return far.permute(0, 2, 1)[tokens.bool()].mean(0)


            def spread(weights, visible):
                choice = visible.sum(-1)
                wide = -torch.special.xlogy(weights, weights).sum(-1).double()
                share = wide / choice.double().log()[:, None]
                return share.permute(0, 2, 1)[choice > 1].mean(0)
            """
        ),
    ),
    Right(
        "measures",
        "a shared helper, the smallest number added",
        helpers=(
            _code(
                """
                def mean_over(values, counted):
                    values = values.masked_fill(~counted[:, None], 0)
                    return values.sum((0, 2)) / counted.sum()
                """
            ),
        ),
        code=_code(
            """
            def reach(weights, tokens):
                q, k = weights.shape[-2:]
                steps = torch.tensor([[abs(i - j) for j in range(k)] for i in range(q)])
                return mean_over((weights * steps).sum(-1), tokens.ne(0))


            def spread(weights, visible):
                tiny = torch.finfo(weights.dtype).tiny
                entropy = -(weights * (weights + tiny).log()).sum(-1)
                keys = visible.sum(-1)
                return mean_over(entropy / keys.log()[:, None], keys > 1)
            """
        ),
    ),
]

RIGHT_LANGUAGES = [
    Right(
        "languages",
        "the solution",
        change=("def reach_of_languages", "def reach_of_languages"),
    ),
    Right(
        "languages",
        "a comprehension and a helper",
        helpers=(
            _code(
                """
                def cross_and_ids(model, words, pairs):
                    ids = translation_tensors(pairs, words["source"], words["target"])
                    return translator_weights(model, *ids, "cross")[-1], ids[1]
                """
            ),
        ),
        code=_code(
            """
            def reach_of_languages(translators, corpus):
                def one(language):
                    pairs = corpus[language]
                    weights, ids = cross_and_ids(*translators[language], pairs)
                    hits = alignment_hits(weights, [p.alignment for p in pairs])
                    return float(reach(weights, ids)[int(hits.argmax())])

                return {language: one(language) for language in translators}
            """
        ),
    ),
    Right(
        "languages",
        "the head taken out first",
        code=_code(
            """
            def reach_of_languages(translators, corpus):
                result = {}
                for name, (model, vocabularies) in translators.items():
                    src, tgt = translation_tensors(
                        corpus[name], vocabularies["source"], vocabularies["target"]
                    )
                    w = translator_weights(model, src, tgt, "cross")[-1]
                    h = alignment_hits(w, [p.alignment for p in corpus[name]])
                    head = h.topk(1).indices
                    result[name] = reach(w[:, head], tgt)[0]
                return result
            """
        ),
    ),
    Right(
        "languages",
        "sentence by sentence, without padding",
        code=_code(
            """
            def reach_of_languages(translators, corpus):
                result = {}
                for name, pairs in corpus.items():
                    model, words = translators[name]
                    steps, rows, right, linked = 0, 0, 0, 0
                    for pair in pairs:
                        ids = translation_tensors([pair], *words.values())
                        w = translator_weights(model, *ids, "cross")[-1]
                        length = ids[1].shape[1]
                        steps = steps + reach(w, ids[1]) * length
                        rows += length
                        targets = len({t for _, t in pair.alignment})
                        right = right + alignment_hits(w, [pair.alignment]) * targets
                        linked += targets
                    result[name] = (steps / rows)[(right / linked).argmax()].item()
                return result
            """
        ),
    ),
    Right(
        "languages",
        "sorted heads, NumPy numbers",
        code=_code(
            """
            def reach_of_languages(translators, corpus):
                result = dict.fromkeys(corpus, 0.0)
                for name in result:
                    model, words = translators[name]
                    links = [pair.alignment for pair in corpus[name]]
                    ids = translation_tensors(
                        corpus[name], words["source"], words["target"]
                    )
                    cross = translator_weights(model, *ids, kind="cross")
                    last = cross[len(cross) - 1]
                    hits = alignment_hits(last, links).tolist()
                    order = sorted(range(last.shape[1]), key=hits.__getitem__)
                    result[name] = reach(last, ids[1]).numpy()[order[-1]]
                return result
            """
        ),
    ),
]

RIGHT = [
    *RIGHT_TRANSLATOR,
    *RIGHT_HUGGING_FACE,
    *RIGHT_PICTURES,
    *RIGHT_PLACE,
    *RIGHT_TOKEN,
    *RIGHT_ALIGNMENT,
    *RIGHT_WHICH,
    *RIGHT_ABLATION,
    *RIGHT_MEASURES,
    *RIGHT_LANGUAGES,
    *students.RIGHT,
    *subtle.RIGHT,
    *fresh.RIGHT,
]
