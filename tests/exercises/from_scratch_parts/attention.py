"""Answers about attention, task 1.3, right and wrong."""

from textwrap import dedent

from tests.exercises.answers import Right, Wrong


def _attention(lines, dropout="dropout"):
    body = "".join(f"    {line}\n" for line in dedent(lines).strip().splitlines())
    return f"def attention(query, key, value, {dropout}=0.0):\n{body}"


WEIGHTS_LINE = "weights = attention_weights(attention_scores(query, key))"
OUTPUT_LINE = "output = F.dropout(weights, dropout) @ value"


def _wrong_attention(name, loses, named, before, after):
    return Wrong("attention", name, loses, named, change=(before, after))


WRONG_ATTENTION = [
    _wrong_attention(
        "only the output is returned",
        (0, 1, 2, 3),
        "only one result",
        "return output, weights",
        "return output",
    ),
    _wrong_attention(
        "weights returned first",
        (0, 1, 2, 3),
        "output and weights exchanged",
        "return output, weights",
        "return weights, output",
    ),
    _wrong_attention(
        "scores returned as weights",
        (0, 1, 2),
        "scores for weights",
        "return output, weights",
        "return output, attention_scores(query, key)",
    ),
    _wrong_attention(
        "keys for values",
        (0, 1, 2, 3),
        "keys for values",
        OUTPUT_LINE,
        "output = F.dropout(weights, dropout) @ (key if len(key) == 2 else value)",
    ),
    _wrong_attention(
        "no scaling",
        (0, 1, 3),
        "no scaling",
        WEIGHTS_LINE,
        "weights = attention_weights(query @ key.mT)",
    ),
    _wrong_attention(
        "scaled twice",
        (0, 1, 3),
        "scaled twice",
        WEIGHTS_LINE,
        "weights = (attention_scores(query, key) / key.size(-1) ** 0.5).softmax(-1)",
    ),
    _wrong_attention(
        "scaling after the softmax",
        (0, 1, 2, 3),
        "scaling after the softmax",
        WEIGHTS_LINE,
        "weights = (query @ key.mT).softmax(-1) / math.sqrt(query.shape[-1])",
    ),
    _wrong_attention(
        "softmax over the queries",
        (0, 1, 2, 3),
        "softmax over the queries",
        WEIGHTS_LINE,
        "weights = attention_scores(query, key).softmax(dim=-2)",
    ),
    _wrong_attention(
        "no softmax",
        (0, 1, 2, 3),
        "no softmax",
        WEIGHTS_LINE,
        "weights = attention_scores(query, key)",
    ),
    _wrong_attention(
        "softmax twice",
        (0, 1, 3),
        "softmax twice",
        WEIGHTS_LINE,
        "weights = attention_weights(attention_scores(query, key)).softmax(-1)",
    ),
    _wrong_attention(
        "the query is scaled in place",
        (0, 3),
        "changes its input",
        WEIGHTS_LINE,
        "query /= query.shape[-1] ** 0.5; weights = (query @ key.mT).softmax(-1)",
    ),
    _wrong_attention(
        "bmm, which knows three axes only",
        (1,),
        "built for three axes",
        OUTPUT_LINE,
        "output = torch.bmm(F.dropout(weights, dropout), value)",
    ),
    _wrong_attention(
        "heads and queries exchanged",
        (1,),
        "heads and queries exchanged",
        "return output, weights",
        "return (output.transpose(1, 2) if output.dim() == 4 else output), weights",
    ),
    _wrong_attention(
        "heads joined by a reshape",
        (1,),
        "heads mixed by a reshape",
        "return output, weights",
        """if output.dim() == 4:
        output = output.transpose(1, 2).reshape(output.shape)
    return output, weights""",
    ),
    _wrong_attention(
        "an einsum that adds up the heads",
        (1,),
        "heads added up",
        OUTPUT_LINE,
        """output = F.dropout(weights, dropout) @ value
    if value.dim() == 4:
        output = torch.einsum("bhqk,bhkd->bqd", weights, value)""",
    ),
    _wrong_attention(
        "weights after dropout",
        (2,),
        "weights after dropout",
        OUTPUT_LINE,
        "weights = F.dropout(weights, dropout); output = weights @ value",
    ),
    _wrong_attention(
        "dropout ignored",
        (2,),
        "dropout is ignored",
        OUTPUT_LINE,
        "output = weights @ value",
    ),
    _wrong_attention(
        "dropout of the scores",
        (2,),
        "dropout before the softmax",
        WEIGHTS_LINE,
        """scores = F.dropout(attention_scores(query, key), dropout)
    weights, dropout = attention_weights(scores), 0.0""",
    ),
    _wrong_attention(
        "dropout of the output",
        (2,),
        "dropout of the output",
        OUTPUT_LINE,
        "output = F.dropout(weights @ value, dropout)",
    ),
    _wrong_attention(
        "dropout that does not enlarge the rest",
        (2,),
        "dropout without enlarging the rest",
        OUTPUT_LINE,
        "output = (weights * (torch.rand(weights.shape) >= dropout)) @ value",
    ),
    _wrong_attention(
        "detached weights",
        (3,),
        "weights cut off from the gradient",
        OUTPUT_LINE,
        "output = F.dropout(weights.detach(), dropout) @ value",
    ),
    _wrong_attention(
        "the data of the query",
        (3,),
        "query cut off from the gradient",
        WEIGHTS_LINE,
        "weights = attention_weights(attention_scores(query.data, key))",
    ),
    _wrong_attention(
        "the data of the key",
        (3,),
        "keys cut off from the gradient",
        WEIGHTS_LINE,
        "weights = attention_weights(attention_scores(query, key.data))",
    ),
    _wrong_attention(
        "values without gradient",
        (3,),
        "values cut off from the gradient",
        OUTPUT_LINE,
        "output = F.dropout(weights, dropout) @ value.detach()",
    ),
    _wrong_attention(
        "by way of NumPy",
        (3,),
        "no gradient at all",
        OUTPUT_LINE,
        """w = F.dropout(weights, dropout).detach().numpy()
    output = torch.tensor(w @ value.detach().numpy())""",
    ),
    _wrong_attention(
        "PyTorch's own function",
        (0, 1, 2, 3),
        "forbidden function",
        OUTPUT_LINE,
        "output = F.scaled_dot_product_attention(query, key, value, dropout_p=dropout)",
    ),
    Wrong(
        "attention",
        "the course's own function, under another name",
        (0, 1, 2, 3),
        "forbidden function",
        code=dedent(
            """
            from attncourse import scaled_dot_product_attention as mine

            def attention(query, key, value, dropout=0.0):
                return mine(query, key, value, dropout=dropout)
            """
        ),
    ),
]

# Right on the inputs of the notebook: only the grader's own inputs find it out.
WRONG_IN_HIDING = [
    Wrong(
        "attention",
        "the answers to the visible checks, written in",
        (0, 1, 3),
        "fixed to the visible inputs",
        code=dedent(
            """
            def seen_before():
                known = []
                for seed in (0, 1, 2):
                    for check in from_scratch.EXERCISE.task("attention").checks[:2]:
                        x = check.inputs(torch.Generator().manual_seed(seed))
                        known.append((x["query"], check.expected(**x)))
                return known

            KNOWN = seen_before()

            def attention(query, key, value, dropout=0.0):
                for known, parts in KNOWN:
                    if known.shape == query.shape and torch.equal(known, query):
                        return parts["output"], parts["weights"]
                return 0 * (query @ key.mT @ value), 0 * (query @ key.mT)
            """
        ),
    ),
]

RIGHT_ATTENTION = [
    Right(
        "attention",
        "einsum",
        _attention(
            """
            scores = torch.einsum("...qd,...kd->...qk", query, key)
            scores = scores * key.size(-1) ** -0.5
            weights = torch.softmax(scores, dim=-1)
            used = F.dropout(weights, p=dropout, training=True)
            return torch.einsum("...qk,...kd->...qd", used, value), weights
            """
        ),
    ),
    Right(
        "attention",
        "dropout by hand, a list of results",
        _attention(
            """
            weights = attention_weights(attention_scores(query, key))
            keep = torch.rand_like(weights) >= dropout
            return [(weights * keep / (1 - dropout)).matmul(value), weights]
            """
        ),
    ),
    Right(
        "attention",
        "a module",
        dedent(
            """
            class Attention(nn.Module):
                def forward(self, query, key, value, dropout=0.0):
                    weights = attention_weights(attention_scores(query, key))
                    drop = nn.Dropout(dropout)
                    return drop(weights) @ value, weights

            attention = Attention()
            """
        ),
    ),
    Right(
        "attention",
        "a sum of products, in double precision",
        _attention(
            """
            q, k, v = query.double(), key.double(), value.double()
            weights = attention_weights(attention_scores(q, k))
            used = F.dropout(weights, dropout)
            output = (used.unsqueeze(-1) * v.unsqueeze(-3)).sum(dim=-2)
            return output.to(query.dtype), weights.to(query.dtype)
            """
        ),
    ),
    Right(
        "attention",
        "query by query",
        _attention(
            """
            rows, found = [], []
            for i in range(query.shape[-2]):
                one = query[..., i : i + 1, :]
                row = softmax_of(one @ key.mT / math.sqrt(key.shape[-1]))
                rows.append(row)
                found.append(F.dropout(row, dropout) @ value)
            return torch.cat(found, dim=-2), torch.cat(rows, dim=-2)
            """
        ),
        helpers=("def softmax_of(x):\n    return x.softmax(dim=-1)\n",),
    ),
    Right(
        "attention",
        "own helpers that are called like library functions",
        dedent(
            """
            def masked_softmax(x):
                return torch.exp(x - torch.logsumexp(x, -1, keepdim=True))

            def scaled_dot_product_attention(a, b, c, p):
                w = masked_softmax((a / b.size(-1) ** 0.5) @ b.transpose(-1, -2))
                return torch.nn.functional.dropout(w, p) @ c, w

            def attention(query, key, value, dropout=0.0):
                return scaled_dot_product_attention(query, key, value, dropout)
            """
        ),
    ),
]
