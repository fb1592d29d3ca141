"""Answers about attention with a mask, task 1.5, right and wrong."""

from textwrap import dedent

from tests.exercises.answers import Right, Wrong

MASKED_TAIL = """empty = ~mask.any(dim=-1, keepdim=True)
    visible = mask | empty  # a softmax needs something to share
    weights = attention_weights(scores.masked_fill(~visible, -math.inf))
    weights = weights.masked_fill(empty, 0.0)"""


def _wrong_masked(name, loses, named, weights, output="weights @ value, weights"):
    """Return an answer in which the weights are made otherwise."""
    code = (
        "def masked_attention(query, key, value, mask=None):\n"
        "    scores = attention_scores(query, key)\n"
        "    if mask is None:\n"
        "        weights = attention_weights(scores)\n"
        "        return weights @ value, weights\n"
        f"    {weights}\n"
        f"    return {output}\n"
    )
    return Wrong("masked", name, loses, named, code=code)


WRONG_MASKED = [
    _wrong_masked(
        "mask ignored",
        (0, 1, 2, 3),
        "mask ignored",
        "weights = attention_weights(scores)",
    ),
    _wrong_masked(
        "inverted",
        (0, 1, 2, 3),
        "inverted mask",
        "weights = attention_weights(scores.masked_fill(mask, -math.inf))",
    ),
    _wrong_masked(
        "inverted, with a large number",
        (0, 1, 2, 3),
        "inverted mask",
        "weights = attention_weights(scores.masked_fill(mask, -1e9))",
    ),
    _wrong_masked(
        "after the softmax",
        (0, 1, 2, 3),
        "mask after the softmax",
        "weights = attention_weights(scores) * mask",
    ),
    _wrong_masked(
        "by multiplication",
        (0, 1, 2, 3),
        "mask by multiplication",
        "weights = attention_weights(scores * mask)",
    ),
    _wrong_masked(
        "a boolean mask is added",
        (0, 1, 2, 3),
        "boolean mask added",
        "weights = attention_weights(scores + mask)",
    ),
    _wrong_masked(
        "the mask turned round",
        (0, 1, 2, 3),
        "mask on the other side",
        "weights = attention_weights(scores.masked_fill(~mask.mT, -math.inf))",
    ),
    _wrong_masked(
        "the output does not see the mask",
        (0, 2, 3),
        "output without the mask",
        MASKED_TAIL,
        "attention_weights(scores) @ value, weights",
    ),
    _wrong_masked(
        "only one result",
        (0, 1, 2, 3),
        "only one result",
        MASKED_TAIL,
        "weights @ value",
    ),
    _wrong_masked(
        "a number that is not low enough",
        (0, 1, 2, 3),
        "hidden scores stay in the game",
        "weights = attention_weights(scores.masked_fill(~mask, -4.0))",
    ),
    _wrong_masked(
        "a hundred below zero",
        (2, 3),
        "hidden keys share the weight",
        "weights = attention_weights(scores.masked_fill(~mask, -100.0))",
    ),
    _wrong_masked(
        "a hundred below zero, and empty rows seen to",
        (3,),
        "low, but not low enough",
        MASKED_TAIL.replace("-math.inf", "-100.0"),
    ),
    _wrong_masked(
        "the mask in place",
        (0, 1, 2),
        "changes its input",
        "mask |= ~mask.any(-1, keepdim=True); mask[..., -1, -1] = mask[..., -1, -1]"
        "\n    scores = scores.masked_fill_(mask.logical_not_(), -math.inf)"
        "\n    weights = attention_weights(scores)",
    ),
    _wrong_masked(
        "an axis squeezed",
        (1,),
        "batch and heads mixed",
        "mask = mask.squeeze(1) if mask.dim() == 4 else mask\n    " + MASKED_TAIL,
    ),
    _wrong_masked(
        "all axes squeezed",
        (1,),
        "batch and queries mixed",
        "mask = mask.squeeze()\n    " + MASKED_TAIL,
    ),
    _wrong_masked(
        "the mask of the first sentence",
        (1,),
        "one sentence's mask for all",
        "mask = mask[:1] if mask.dim() == 4 else mask\n    " + MASKED_TAIL,
    ),
    _wrong_masked(
        "the mask as an index",
        (1, 3),
        "the mask does not broadcast",
        "scores[~mask] = -math.inf\n"
        "    weights = attention_weights(scores).nan_to_num()",
    ),
    Wrong(
        "masked",
        "a mask is needed",
        (1,),
        "a mask is needed",
        change=("if mask is None:", "if False:"),
    ),
    _wrong_masked(
        "NaN for masked rows",
        (2,),
        "NaN for masked rows",
        "weights = attention_weights(scores.masked_fill(~mask, -math.inf))",
    ),
    _wrong_masked(
        "−1e9",
        (2, 3),
        "hidden keys share the weight",
        "weights = attention_weights(scores.masked_fill(~mask, -1e9))",
    ),
    _wrong_masked(
        "−1e9, and empty rows seen to",
        (3,),
        "-1e9 in half precision",
        MASKED_TAIL.replace("-math.inf", "-1e9"),
    ),
    _wrong_masked(
        "the smallest number of the precision",
        (2,),
        "hidden keys share the weight",
        "weights = attention_weights("
        "scores.masked_fill(~mask, torch.finfo(scores.dtype).min))",
    ),
    _wrong_masked(
        "scores*mask - 1e9*(1-mask)",
        (2, 3),
        "hidden keys share the weight",
        "m = mask.float()\n    weights = attention_weights(scores * m - 1e9 * (1 - m))",
    ),
    _wrong_masked(
        "a float mask, and empty rows seen to",
        (3,),
        "precisions mixed",
        "m = mask.float()\n    weights = attention_weights(scores - 1e9 * (1 - m)) * m",
    ),
    _wrong_masked(
        "-inf added, NaN replaced",
        (2,),
        "NaN in the gradient",
        "hide = torch.zeros(mask.shape, dtype=query.dtype)\n"
        "    hide = hide.masked_fill(~mask, -math.inf)\n"
        "    weights = attention_weights(scores + hide).nan_to_num()",
    ),
    _wrong_masked(
        "weights put right after the output was made",
        (2,),
        "zero weights, but an output",
        MASKED_TAIL.replace("weights = weights.masked", "final = weights.masked"),
        "weights @ value, final",
    ),
    _wrong_masked(
        "empty rows unmasked",
        (2,),
        "empty rows without a mask",
        "mask = mask | ~mask.any(-1, keepdim=True)\n"
        "    weights = attention_weights(scores.masked_fill(~mask, -math.inf))",
    ),
    _wrong_masked(
        "renormalised after the softmax",
        (3,),
        "masked after the softmax",
        "weights = attention_weights(scores) * mask\n"
        "    weights = weights / weights.sum(-1, keepdim=True).clamp(min=1e-7)",
    ),
]


def _masked(lines):
    body = "".join(f"    {line}\n" for line in dedent(lines).strip().splitlines())
    return f"def masked_attention(query, key, value, mask=None):\n{body}"


RIGHT_MASKED = [
    Right(
        "masked",
        "exponentials, cleared and shared out",
        _masked(
            """
            s = attention_scores(query, key)
            if mask is None:
                mask = torch.ones_like(s, dtype=torch.bool)
            m = mask.expand(s.shape)
            top = s.masked_fill(~m, -60000.0).amax(dim=-1, keepdim=True)
            e = torch.where(m, (s - top).clamp(max=0).exp(), 0.0)
            total = e.sum(dim=-1, keepdim=True)
            w = e / torch.where(total == 0, 1.0, total)
            return w @ value, w
            """
        ),
    ),
    Right(
        "masked",
        "NaN replaced; masked_fill keeps the gradient clean",
        _masked(
            """
            scores = attention_scores(query, key)
            if mask is not None:
                scores = scores.masked_fill(~mask, float("-inf"))
            weights = torch.softmax(scores, dim=-1).nan_to_num(0.0)
            return torch.matmul(weights, value), weights
            """
        ),
    ),
    Right(
        "masked",
        "torch.where, in single precision",
        _masked(
            """
            s = attention_scores(query.float(), key.float())
            m = torch.tensor(True) if mask is None else mask
            m = m.expand(s.shape)
            some = m.any(-1, keepdim=True)
            w = torch.where(m, s, torch.where(some, -torch.inf, 0.0)).softmax(-1)
            w = (w * some).to(value.dtype)
            return w @ value, w
            """
        ),
    ),
    Right(
        "masked",
        "an additive mask that spares empty rows",
        _masked(
            """
            scores = attention_scores(query, key)
            alive = 1
            if mask is not None:
                alive = mask.any(dim=-1, keepdim=True).to(scores.dtype)
                hide = torch.zeros(mask.shape, dtype=scores.dtype)
                hide[~mask & mask.any(-1, keepdim=True)] = -math.inf
                scores = scores + hide
            weights = attention_weights(scores) * alive
            return weights @ value, weights
            """
        ),
    ),
    Right(
        "masked",
        "a class, with the mask in a helper",
        dedent(
            """
            class Masked:
                def __call__(self, query, key, value, mask=None):
                    scores = attention_scores(query, key)
                    weights = attention_weights(hide(scores, mask))
                    if mask is not None:
                        weights = weights * mask
                    return weights @ value, weights


            masked_attention = Masked()
            """
        ),
        helpers=(
            dedent(
                """
                def hide(scores, mask):
                    if mask is None:
                        return scores
                    useful = mask | ~mask.any(dim=-1, keepdim=True)
                    return torch.where(useful, scores, -math.inf)
                """
            ),
        ),
    ),
    Right(
        "masked",
        "one more key, which is always visible in empty rows",
        _masked(
            """
            scores = attention_scores(query, key)
            if mask is None:
                mask = torch.ones(scores.shape, dtype=torch.bool)
            mask = mask.expand(scores.shape)
            none = ~mask.any(dim=-1, keepdim=True)
            wide = torch.cat([scores.masked_fill(~mask, -math.inf),
                              torch.where(none, 0.0, -math.inf).to(scores.dtype)], -1)
            weights = attention_weights(wide)[..., :-1]
            return weights @ value, weights
            """
        ),
    ),
]
