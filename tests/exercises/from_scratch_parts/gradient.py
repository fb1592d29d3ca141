"""Answers about gradients by hand, task 1.6, right and wrong."""

from textwrap import dedent

from tests.exercises.answers import Right, Wrong

SOFTMAX_LINE = "return weights * (upstream - average)"
AVERAGE_LINE = "average = (weights * upstream).sum(dim=-1, keepdim=True)"


def _wrong_gradient(name, loses, named, before, after):
    return Wrong("gradient", name, loses, named, change=(before, after))


WRONG_GRADIENT = [
    _wrong_gradient(
        "weights times upstream",
        (0, 1),
        "weights times upstream",
        SOFTMAX_LINE,
        "return weights * upstream",
    ),
    _wrong_gradient(
        "diagonal only",
        (0, 1),
        "diagonal only",
        SOFTMAX_LINE,
        "return weights * (1 - weights) * upstream",
    ),
    _wrong_gradient(
        "diagonal forgotten",
        (0, 1),
        "off-diagonal only",
        SOFTMAX_LINE,
        "return -weights * average",
    ),
    _wrong_gradient(
        "plain sum",
        (0, 1),
        "plain sum",
        AVERAGE_LINE,
        "average = upstream.sum(dim=-1, keepdim=True)",
    ),
    _wrong_gradient(
        "plain mean",
        (0, 1),
        "plain mean",
        AVERAGE_LINE,
        "average = upstream.mean(dim=-1, keepdim=True)",
    ),
    _wrong_gradient(
        "sum over the queries",
        (0, 1),
        "sum over the queries",
        AVERAGE_LINE,
        "average = (weights * upstream).sum(dim=-2, keepdim=True)",
    ),
    _wrong_gradient(
        "sum over everything",
        (0, 1),
        "sum over everything",
        AVERAGE_LINE,
        "average = (weights * upstream).sum()",
    ),
    _wrong_gradient(
        "keepdim forgotten",
        (0, 1),
        "the axis of the sum is lost",
        AVERAGE_LINE,
        "average = (weights * upstream).sum(dim=-1)",
    ),
    _wrong_gradient(
        "last factor forgotten",
        (0, 1),
        "last factor forgotten",
        SOFTMAX_LINE,
        "return upstream - average",
    ),
    _wrong_gradient(
        "wrong sign",
        (0, 1),
        "wrong sign",
        SOFTMAX_LINE,
        "return weights * (average - upstream)",
    ),
    _wrong_gradient(
        "softmax of the weights",
        (0, 1),
        "softmax of the weights",
        AVERAGE_LINE,
        "weights = weights.softmax(-1)\n    " + AVERAGE_LINE,
    ),
    _wrong_gradient(
        "upstream overwritten",
        (0,),
        "changes its input",
        SOFTMAX_LINE,
        "upstream -= average\n    return weights * upstream",
    ),
    _wrong_gradient(
        "no scaling on the way back",
        (1,),
        "no scaling in the gradient",
        "softmax_gradient(weights, of_weights) / math.sqrt(query.shape[-1])",
        "softmax_gradient(weights, of_weights)",
    ),
    _wrong_gradient(
        "scaled twice",
        (1,),
        "scaled twice",
        "softmax_gradient(weights, of_weights) / math.sqrt(query.shape[-1])",
        "softmax_gradient(weights, of_weights) / query.shape[-1]",
    ),
    _wrong_gradient(
        "softmax left out",
        (1,),
        "softmax left out",
        "softmax_gradient(weights, of_weights)",
        "of_weights",
    ),
    _wrong_gradient(
        "the other order",
        (1,),
        "order of the results",
        "return of_query, of_key, of_value",
        "return of_value, of_key, of_query",
    ),
    _wrong_gradient(
        "value first",
        (1,),
        "order of the results",
        "return of_query, of_key, of_value",
        "return of_value, of_query, of_key",
    ),
    _wrong_gradient(
        "weights not turned round",
        (1,),
        "weights not turned round",
        "of_value = weights.transpose(-2, -1) @ upstream",
        "of_value = weights @ upstream",
    ),
    _wrong_gradient(
        "automatic differentiation",
        (0, 1),
        "forbidden function",
        SOFTMAX_LINE,
        """with torch.enable_grad():
        s = weights.log().requires_grad_()
        return torch.autograd.grad(s.softmax(-1), s, upstream)[0]""",
    ),
]


def _gradient(softmax, lines):
    body = "".join(f"    {line}\n" for line in dedent(lines).strip().splitlines())
    return (
        f"def softmax_gradient(weights, upstream):\n    return {softmax}\n\n\n"
        f"def attention_gradients(query, key, value, upstream):\n{body}"
    )


USUAL_GRADIENTS = """
    w = attention_weights(attention_scores(query, key))
    s = softmax_gradient(w, upstream @ value.mT) * query.shape[-1] ** -0.5
    return s @ key, s.mT @ query, w.mT @ upstream
"""
RIGHT_GRADIENT = [
    Right(
        "gradient",
        "the whole Jacobian",
        _gradient(
            "torch.einsum('...k,...kj->...j', upstream, "
            "torch.diag_embed(weights) - weights[..., None] * weights[..., None, :])",
            USUAL_GRADIENTS,
        ),
    ),
    Right(
        "gradient",
        "multiplied out; einsum",
        _gradient(
            "weights * upstream - weights * (weights * upstream).sum(-1, True)",
            """
            w = attention_weights(attention_scores(query, key))
            dw = torch.einsum("...qd,...kd->...qk", upstream, value)
            ds = softmax_gradient(w, dw) / math.sqrt(key.size(-1))
            dq = torch.einsum("...qk,...kd->...qd", ds, key)
            dk = torch.einsum("...qk,...qd->...kd", ds, query)
            dv = torch.einsum("...qk,...qd->...kd", w, upstream)
            return dq, dk, dv
            """,
        ),
    ),
    Right(
        "gradient",
        "the scale on the inputs; the average from the output",
        _gradient(
            "weights * (upstream - torch.linalg.vecdot(weights, upstream)[..., None])",
            """
            root = math.sqrt(query.shape[-1])
            weights, output = (x for x in reversed(attention(query, key, value)))
            average = (output * upstream).sum(dim=-1, keepdim=True)
            scores = weights * (upstream @ value.mT - average)
            scores = scores / root
            return scores @ key, scores.mT @ query, weights.mT @ upstream
            """,
        ),
    ),
    Right(
        "gradient",
        "double precision and a list",
        _gradient(
            "(weights.double() * (upstream.double() - (weights.double() * "
            "upstream.double()).sum(-1, keepdim=True))).to(weights.dtype)",
            """
            w = attention_weights(attention_scores(query, key))
            s = softmax_gradient(w, upstream @ value.mT) / query.shape[-1] ** 0.5
            return [s @ key, (query.mT @ s).mT, (upstream.mT @ w).mT]
            """,
        ),
    ),
    Right(
        "gradient",
        "through a matrix product of rows and columns",
        _gradient(
            "weights * (upstream - (weights.unsqueeze(-2) @ upstream.unsqueeze(-1))"
            ".squeeze(-1))",
            USUAL_GRADIENTS,
        ),
    ),
    Right(
        "gradient",
        "a loop over the keys, with a helper",
        dedent(
            """
            def softmax_gradient(weights, upstream):
                columns = []
                for j in range(weights.shape[-1]):
                    same = torch.zeros(weights.shape[-1], dtype=weights.dtype)
                    same[j] = 1
                    change = weights * (same - weights[..., j : j + 1])
                    columns.append((upstream * change).sum(-1))
                return torch.stack(columns, dim=-1)


            def attention_gradients(query, key, value, upstream):
                w = attention_weights(attention_scores(query, key))
                to_w, to_v = through_product(w, value, upstream)
                to_s = softmax_gradient(w, to_w) / math.sqrt(query.shape[-1])
                to_q, to_k = through_product(query, key.mT, to_s)
                return to_q, to_k.mT, to_v
            """
        ),
        helpers=("def through_product(a, b, g):\n    return g @ b.mT, a.mT @ g\n",),
    ),
]
