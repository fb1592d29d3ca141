"""Answers about scores and weights, tasks 1.1 and 1.2, right and wrong."""

from textwrap import dedent

from tests.exercises.answers import Right, Wrong


def _scores(line):
    return f"def attention_scores(query, key):\n    return {line}\n"


def _weights(line):
    return f"def attention_weights(scores):\n    return {line}\n"


WRONG_SCORES = [
    Wrong(
        "scores",
        "no scaling",
        (0, 1),
        "no scaling",
        code=_scores("query @ key.transpose(-2, -1)"),
    ),
    Wrong(
        "scores",
        "divided by d_k",
        (0, 1),
        "divided by d_k",
        code=_scores("query @ key.transpose(-2, -1) / query.shape[-1]"),
    ),
    Wrong(
        "scores",
        "multiplied by the root of d_k",
        (0, 1),
        "multiplied by the scale",
        code=_scores("query @ key.transpose(-2, -1) * query.shape[-1] ** 0.5"),
    ),
    Wrong(
        "scores",
        "root of the number of keys",
        (0, 1),
        "scaled by the number of tokens",
        code=_scores("query @ key.mT / math.sqrt(key.shape[-2])"),
    ),
    Wrong(
        "scores",
        "root of axis 1, whatever that is",
        (0, 1),
        "scaled by the number of tokens",
        code=_scores("query @ key.mT / math.sqrt(query.shape[1])"),
    ),
    Wrong(
        "scores",
        "root of d_model for the root of d_k",
        (1,),
        "scaled by the root of d_model",
        code=dedent(
            """
            def attention_scores(query, key):
                heads = query.shape[1] if query.dim() == 4 else 1
                d_model = heads * query.shape[-1]
                return query @ key.transpose(-2, -1) / math.sqrt(d_model)
            """
        ),
    ),
    Wrong(
        "scores",
        "keys as rows",
        (0, 1),
        "queries and keys exchanged",
        code=_scores("key @ query.transpose(-2, -1) / math.sqrt(query.shape[-1])"),
    ),
    Wrong(
        "scores",
        "all axes turned round",
        (0, 1),
        "all axes reversed",
        code=_scores("query @ key.permute(2, 1, 0) / math.sqrt(query.shape[-1])"),
    ),
    Wrong(
        "scores",
        "axes counted from the front",
        (1,),
        "built for three axes",
        code=_scores("query @ key.transpose(1, 2) / math.sqrt(query.shape[2])"),
    ),
    Wrong(
        "scores",
        "an einsum that names three axes",
        (1,),
        "built for three axes",
        code=_scores(
            'torch.einsum("bqd,bkd->bqk", query, key) / math.sqrt(query.shape[-1])'
        ),
    ),
    Wrong(
        "scores",
        "the root of a width that is written in",
        (0, 1),
        "scaled by another number",
        code=_scores("query @ key.transpose(-2, -1) / math.sqrt(64)"),
    ),
    Wrong(
        "scores",
        "the query is scaled in place",
        (0,),
        "changes its input",
        code=dedent(
            """
            def attention_scores(query, key):
                query /= math.sqrt(query.shape[-1])
                return query @ key.transpose(-2, -1)
            """
        ),
    ),
]

RIGHT_SCORES = [
    Right(
        "scores",
        "einsum",
        _scores('torch.einsum("...qd,...kd->...qk", query, key) / query.shape[-1]**.5'),
    ),
    Right(
        "scores",
        "the query is scaled first",
        _scores("(query / math.sqrt(key.size(-1))).matmul(key.mT)"),
    ),
    Right(
        "scores",
        "products summed by hand, in double precision",
        dedent(
            """
            def attention_scores(query, key):
                q, k = query.double(), key.double()
                pairs = q.unsqueeze(-2) * k.unsqueeze(-3)
                return (pairs.sum(-1) * k.size(-1) ** -0.5).to(query.dtype)
            """
        ),
    ),
    Right(
        "scores",
        "loops",
        dedent(
            """
            def attention_scores(query, key):
                columns = []
                for j in range(key.shape[-2]):
                    row = key[..., j : j + 1, :]
                    columns.append((query * row).sum(dim=-1))
                return torch.stack(columns, dim=-1) / query.shape[-1] ** (1 / 2)
            """
        ),
    ),
    Right(
        "scores",
        "a class, with a helper in another cell",
        dedent(
            """
            class Scorer(nn.Module):
                def forward(self, query, key):
                    return similarity(query, key) / math.sqrt(key.shape[-1])

            attention_scores = Scorer()
            """
        ),
        helpers=("def similarity(a, b):\n    return a @ torch.swapaxes(b, -1, -2)\n",),
    ),
    Right(
        "scores",
        "a lambda",
        "attention_scores = lambda q, k: q @ k.transpose(-1, -2) / (q.size(-1)) ** 0.5",
    ),
]

WRONG_WEIGHTS = [
    Wrong(
        "weights",
        "softmax over the queries",
        (0, 1),
        "softmax over the queries",
        code=_weights("torch.softmax(scores, dim=-2)"),
    ),
    Wrong(
        "weights",
        "softmax over axis 1",
        (0,),
        "softmax over the heads",
        code=_weights("scores.softmax(dim=1)"),
    ),
    Wrong(
        "weights",
        "softmax over axis 0",
        (0, 1),
        "softmax over the batch",
        code=_weights("scores.softmax(0)"),
    ),
    Wrong(
        "weights",
        "the sum of the whole tensor",
        (0, 1),
        "softmax over everything",
        code=_weights("scores.exp() / scores.exp().sum()"),
    ),
    Wrong(
        "weights",
        "no exponentials",
        (0, 1),
        "no exponentials",
        code=_weights("scores / scores.sum(dim=-1, keepdim=True)"),
    ),
    Wrong(
        "weights",
        "exponentials only",
        (0, 1),
        "not divided by the sum",
        code=_weights("torch.exp(scores)"),
    ),
    Wrong(
        "weights",
        "shifted exponentials only",
        (0, 1),
        "not divided by the sum",
        code=_weights("torch.exp(scores - scores.max(-1, keepdim=True).values)"),
    ),
    Wrong(
        "weights",
        "log_softmax",
        (0, 1),
        "logarithms of the weights",
        code=_weights("F.log_softmax(scores, dim=-1)"),
    ),
    Wrong(
        "weights",
        "sigmoid",
        (0, 1),
        "sigmoid",
        code=_weights("torch.sigmoid(scores)"),
    ),
    Wrong(
        "weights",
        "keepdim forgotten",
        (0, 1),
        "the axis of the sum is lost",
        code=_weights("scores.exp() / scores.exp().sum(dim=-1)"),
    ),
    Wrong(
        "weights",
        "overflow",
        (1,),
        "exponentials overflow",
        code=_weights("scores.exp() / scores.exp().sum(dim=-1, keepdim=True)"),
    ),
    Wrong(
        "weights",
        "the mean is subtracted",
        (1,),
        "exponentials overflow",
        code=dedent(
            """
            def attention_weights(scores):
                exps = (scores - scores.mean(dim=-1, keepdim=True)).exp()
                return exps / exps.sum(dim=-1, keepdim=True)
            """
        ),
    ),
    Wrong(
        "weights",
        "one maximum for the whole tensor",
        (1,),
        "one maximum for all rows",
        code=dedent(
            """
            def attention_weights(scores):
                exps = (scores - scores.max()).exp()
                return exps / exps.sum(dim=-1, keepdim=True)
            """
        ),
    ),
    Wrong(
        "weights",
        "large scores are cut off",
        (1,),
        "scores are cut off",
        code=dedent(
            """
            def attention_weights(scores):
                exps = scores.clamp(-50, 50).exp()
                return exps / exps.sum(dim=-1, keepdim=True)
            """
        ),
    ),
    Wrong(
        "weights",
        "axis 3",
        (1,),
        "axis counted from the front",
        code=_weights("torch.softmax(scores, dim=3)"),
    ),
    Wrong(
        "weights",
        "exponentials in place",
        (0,),
        "changes its input",
        code=dedent(
            """
            def attention_weights(scores):
                scores -= scores.amax(dim=-1, keepdim=True)
                scores.exp_()
                return scores / scores.sum(dim=-1, keepdim=True)
            """
        ),
    ),
]

RIGHT_WEIGHTS = [
    Right("weights", "torch.softmax", _weights("torch.softmax(scores, dim=-1)")),
    Right("weights", "a method", _weights("scores.softmax(-1)")),
    Right("weights", "nn.Softmax", "attention_weights = nn.Softmax(dim=-1)\n"),
    Right(
        "weights",
        "through logsumexp, in double precision",
        _weights("(scores.double() - scores.double().logsumexp(-1, True)).exp()"),
    ),
    Right(
        "weights",
        "one divided by a sum of differences",
        _weights("1 / (scores.unsqueeze(-2) - scores.unsqueeze(-1)).exp().sum(dim=-1)"),
    ),
    Right(
        "weights",
        "axes moved to the front and back",
        dedent(
            """
            def attention_weights(scores):
                x = scores.movedim(-1, 0)
                e = torch.exp(x - x.max(dim=0).values)
                return (e / e.sum(0)).movedim(0, -1)
            """
        ),
    ),
    Right(
        "weights",
        "row by row",
        dedent(
            """
            def attention_weights(scores):
                rows = scores.reshape(-1, scores.shape[-1])
                done = []
                for row in rows:
                    e = (row - max(row)).exp()
                    done.append(e / sum(e))
                return torch.stack(done).reshape(scores.shape)
            """
        ),
    ),
]
