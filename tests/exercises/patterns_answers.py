"""Answers to exercise 2, right and wrong."""

from textwrap import dedent

from tests.exercises.answers import Wrong

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
        "not a share, all queries",
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
]
RIGHT = []
