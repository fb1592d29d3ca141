"""Answers to exercise 2 that are unlike each other."""

TAKEN = """
def translator_weights(model, source, target, kind):
    was = [module.training for module in model.modules()]
    model.eval()
    with torch.inference_mode():
        layers = model(source, target, need_weights=True)[1][kind]
    for module, mode in zip(model.modules(), was):
        module.training = mode
    rows = {{"encoder": source}}.get(kind, target)
    return torch.stack([w.masked_fill({hidden}, 0) for w in layers]).clone()
"""

ATTENTIONS = """
def hugging_face_weights(model, ids, mask):
    was = model.training
    model.config._attn_implementation = "eager"
    model.eval()
    try:
        with torch.no_grad():
            out = model(ids, attention_mask=mask, output_attentions=True)
    finally:
        model.train(was)
    w = torch.stack(list({what}))
    return torch.where(mask.bool()[None, :, None, :, None], w, 0.0)
"""

GRID = """
def draw_heads(weights, queries, keys):
    columns = 2
    grid = plt.subplots(-(-len(weights) // columns), columns, squeeze=False{more})[1]
    for i, (w, ax) in enumerate(zip(weights, grid.flat)):
        ax.imshow(w, vmin=0, vmax=1, cmap="Greys"{how})
        ax.set_xticks([j + {shift} for j in range(len(keys))], keys)
        ax.set_yticks([j + {shift} for j in range(len(queries))], queries)
        ax.set_title({title}, loc="left")
    return list(grid.flat)[: len(weights)]
"""

FORMATTER = "ax.yaxis.set_major_formatter(lambda y, _: queries[round(y)])"

LOOPS = """
def over_pairs(weights, tokens, wanted):
    total, count = torch.zeros(weights.shape[1]), 0
    for grad, ids in zip(weights, tokens.tolist()):
        for i, t in enumerate(ids):
            keys = [j for j in range(i + 1) if t != 0 and wanted(ids, i, j)]
            if keys:
                total += grad[:, i, {keys}].sum(dim=1)
                count += {count}
    return total / count

def previous_token_score(w, t):
    return over_pairs(w, t, lambda ids, i, j: j == i - 1)

def duplicate_token_score(w, t):
    return over_pairs(w, t, lambda ids, i, j: j < i and ids[j] == ids[i])

def induction_score(w, t):
    return over_pairs(w, t, lambda ids, i, j: j >= 1 and ids[j - 1] == ids[i])
"""

COLUMNS = """
class ablated:
    def __init__(self, model, layer, head):
        self.attention = model.layers[layer].attention
        width = self.attention.d_head
        self.own = slice(head * width, (head + 1) * width)

    def __enter__(self):
        weight = self.attention.output_proj.weight
        self.kept = weight.detach(){copy}
        with torch.no_grad():
            weight[:, self.own] = 0

    def __exit__(self, *error):
        with torch.no_grad():
            self.attention.output_proj.weight.copy_(self.kept)


def loss_increase(model, tokens, layer, head, loss_of):
    with ablated(model, layer, head):
        without = float(loss_of(model, tokens))
    return {increase}
"""

BY_ROWS = """
def attention_distance(weights, tokens):
    positions = torch.arange({longest})
    queries, keys = weights.shape[2:]
    steps = (positions[:queries, None] - positions[:keys]).abs().float()
    far = torch.einsum("bhqk,qk->bqh", weights, steps)
    return far[tokens != 0].mean(dim=0)

def normalised_entropy(weights, visible):
    rows = weights.transpose(1, 2)[visible.sum(-1) > 1]
    keys = visible.sum(-1)[visible.sum(-1) > 1]
    return {ratio}
"""
RATIO = "(-(rows * rows.clamp(min=1e-30).log()).sum(-1) / keys[:, None].log()).mean(0)"

NEXT = """
def my_pattern(tokens):
    batch, n = tokens.shape
    pattern = torch.zeros(batch, n, n)
    for b in range(batch):
        last = int((tokens[b] != 0).sum()) - 1
        for i in range(last + 1):
            pattern[b, i, {key}] = 1
    return pattern

def my_score(weights, tokens):
    wanted = my_pattern(tokens)[:, None]
    {body}
"""
MEAN = "return (weights * wanted).sum(dim=(0, 2, 3)) / wanted.sum()"

WRONG = {
    "translator": {
        "padded keys in place of padded queries": (
            TAKEN.format(
                hidden="((source, target)[kind == 'decoder'] == 0)[:, None, None]"
            ),
            "not yet rows of padded queries are zero",
        ),
        "layers joined along the batch": (
            "def translator_weights(model, source, target, kind):\n"
            "    weights = model(source, target, need_weights=True)[1][kind]\n"
            "    return torch.cat(list(weights), dim=0)",
            "The layers are joined along the batch",
        ),
        "a list of layers": (
            "def translator_weights(model, source, target, kind):\n"
            "    return model(source, target, need_weights=True)[1][kind]",
            "it is a tuple or list of several",
        ),
    },
    "hugging_face": {
        "hidden states": (
            ATTENTIONS.format(what="[out.last_hidden_state[:, None]]"),
            "not yet the weights of any model",
        ),
        "no rows emptied": (
            ATTENTIONS.format(what="out.attentions").replace(
                "torch.where(mask.bool()[None, :, None, :, None], w, 0.0)", "w"
            ),
            "The rows of padding are kept",
        ),
    },
    "pictures": {
        "labels at the edges of the cells": (
            GRID.format(more="", shift=0.5, title='f"head {i}"', how=""),
            "not yet each row and column has its token",
        ),
        "letters for numbers": (
            GRID.format(more="", shift=0, title='"head " + "ABCDE"[i]', how=""),
            "The titles do not say which head it is.",
        ),
    },
    "scores": {
        "the last copy only": (
            LOOPS.format(keys="keys[-1:]", count=1),
            "not yet the weights on several copies",
        ),
        "queries with some weight only": (
            LOOPS.format(keys="keys", count="bool(grad[:, i, keys].sum() > 0)"),
            "not yet `previous_token_score` is",
        ),
    },
    "ablation": {
        "nothing is ablated": (
            COLUMNS.replace("= 0\n", "*= 1\n").format(copy="", increase="0.0"),
            "not yet after the block the model is as it was",
        ),
        "a copy that is a view": (
            COLUMNS.format(copy="", increase="without - float(loss_of(model, tokens))"),
            "not yet after the block the model is as it was",
        ),
        "a tensor, though a number is asked for": (
            COLUMNS.format(
                copy=".clone()", increase="without - loss_of(model, tokens)"
            ),
            "should be a number",
        ),
        "the model is left in evaluation mode": (
            COLUMNS.format(
                copy=".clone()",
                increase="without - float(loss_of(model.eval(), tokens))",
            ),
            "Wrong: modules in training mode afterwards",
        ),
    },
    "measures": {
        "as many keys as queries": (
            BY_ROWS.format(longest="tokens.shape[1]", ratio=RATIO),
            "raises RuntimeError",
        ),
        "a ratio of means": (
            BY_ROWS.format(
                longest="99",
                ratio="torch.special.entr(rows).sum(-1).mean(0) / keys.log().mean()",
            ),
            "not yet each query's entropy is divided",
        ),
    },
    "own_score": {
        "a pattern of task 2.4": (
            NEXT.format(key="max(i - 1, 0)", body=MEAN),
            "of a new pattern",
        ),
        "the largest weight only": (
            NEXT.format(
                key="min(i + 1, last)",
                body="hit = weights.argmax(-1) == wanted.argmax(-1)\n"
                "    real = (tokens != 0)[:, None]\n"
                "    return (hit & real).sum(dim=(0, 2)) / real.sum()",
            ),
            "not yet `my_score`: more of the pattern gets a higher",
        ),
        "the best head gets 1": (
            NEXT.format(key="last", body=MEAN.replace("return", "score ="))
            + "    return score / score.max()",
            "not yet `my_score`: the score of a head depends on its own weights",
        ),
        "not a number where there is nothing of the pattern": (
            NEXT.format(key="last", body=MEAN.replace("return", "score ="))
            + "    return score * score / score",
            "not yet `my_score`: heads without the pattern get 0 to 0.5",
        ),
        "the same for every head": (
            NEXT.format(key="last", body="return torch.full((weights.shape[1],), 0.5)"),
            "not yet `my_score`: ",
        ),
        "how sharp it is, whatever the pattern": (
            NEXT.format(
                key="last",
                body="real = (tokens != 0)[:, None]\n"
                "    return (weights.amax(-1) * real).sum(dim=(0, 2)) / real.sum()",
            ),
            "not yet `my_score`: ",
        ),
    },
}

RIGHT = {
    "translator": {
        "module by module": TAKEN.format(hidden="(rows == 0)[:, None, :, None]")
    },
    "hugging_face": {
        "through the configuration": ATTENTIONS.format(what="out.attentions")
    },
    "pictures": {
        "in a grid": GRID.format(more="", shift=0, title='f"Head {i}"', how=""),
        "labels by a formatter": GRID.format(
            more="", shift=0, title='f"Head {i}"', how=""
        ).replace("(queries))], queries)", "(queries))])\n        " + FORMATTER),
        "shared axes, and a number as the title": GRID.format(
            more=", sharex=True", shift=0, title="str(i)", how=""
        ),
    },
    "scores": {"loops, and a local name `grad`": LOOPS.format(keys="keys", count=1)},
    "ablation": {
        "columns of the projection": COLUMNS.format(
            copy=".clone()", increase="without - float(loss_of(model, tokens))"
        )
    },
    "measures": {"rows that count": BY_ROWS.format(longest="99", ratio=RATIO)},
    "own_score": {
        "the next token": NEXT.format(key="min(i + 1, last)", body=MEAN),
        "the last token": NEXT.format(key="last", body=MEAN),
    },
}
