"""Answers to exercise 3, right and wrong."""

from textwrap import dedent, indent

from tests.exercises import unforeseen
from tests.exercises.answers import Right, Wrong
from tests.exercises.fresh import variants as fresh
from tests.exercises.students import variants as students
from tests.exercises.subtle import variants as subtle


def _forward(name, body, start=""):
    """Return a score class whose forward has the given lines."""
    head = f"class {name}(nn.Module):\n" + indent(dedent(start).strip("\n"), "    ")
    body = indent(dedent(body).strip("\n"), "        ")
    return f"{head}\n\n    def forward(self, query, key):\n{body}\n"


def _function(head, body):
    return f"def {head}:\n" + indent(dedent(body).strip("\n"), "    ") + "\n"


GENERAL_INIT = """
    def __init__(self, query_dim, key_dim):
        super().__init__()
        self.project = nn.Linear(key_dim, query_dim, bias=False)
"""
ADDITIVE_INIT = """
    def __init__(self, query_dim, key_dim, hidden_dim):
        super().__init__()
        self.query_proj = nn.Linear(query_dim, hidden_dim, bias=False)
        self.key_proj = nn.Linear(key_dim, hidden_dim, bias=False)
        self.v = nn.Linear(hidden_dim, 1, bias=False)
"""
CONCAT_INIT = """
    def __init__(self, query_dim, key_dim, hidden_dim):
        super().__init__()
        self.hidden = nn.Linear(query_dim + key_dim, hidden_dim, bias=False)
        self.v = nn.Linear(hidden_dim, 1, bias=False)
"""
DOT = "query @ key.transpose(1, 2)"
SCALED = "query @ key.transpose(1, 2) / query.shape[-1] ** 0.5"
GENERAL = "query @ self.project(key).transpose(1, 2)"


def _products(dot=DOT, scaled=SCALED, general=GENERAL, start=GENERAL_INIT):
    return "\n\n".join(
        (
            _forward("Dot", f"return {dot}"),
            _forward("ScaledDot", f"return {scaled}"),
            _forward("General", f"return {general}", start),
        )
    )


PRODUCTS_WRONG = [
    Wrong(
        "products",
        "no scaling",
        (1,),
        "no scaling",
        code=_products(scaled=DOT),
    ),
    Wrong(
        "products",
        "divided by the width",
        (1,),
        "divided by the width",
        code=_products(scaled=f"{DOT} / query.shape[-1]"),
    ),
    Wrong(
        "products",
        "multiplied by the root",
        (1,),
        "multiplied by the root",
        code=_products(scaled=f"{DOT} * math.sqrt(query.shape[-1])"),
    ),
    Wrong(
        "products",
        "root of the number of keys",
        (1,),
        "scaled by the number of keys",
        code=_products(scaled=f"{DOT} / math.sqrt(key.shape[1])"),
    ),
    Wrong(
        "products",
        "softmax in each score",
        (0, 1, 2),
        "weights instead of scores",
        code=_products(
            f"torch.softmax({DOT}, dim=-1)",
            f"torch.softmax({SCALED}, dim=-1)",
            f"torch.softmax({GENERAL}, dim=-1)",
        ),
    ),
    Wrong(
        "products",
        "keys times queries",
        (0, 1),
        "keys times queries",
        code=_products(
            "key @ query.transpose(1, 2)",
            "key @ query.transpose(1, 2) / query.shape[-1] ** 0.5",
        ),
    ),
    Wrong(
        "products",
        "cosine",
        (0,),
        "cosine",
        code=_products(
            dot="torch.cosine_similarity(query[:, :, None], key[:, None], dim=-1)"
        ),
    ),
    Wrong(
        "products",
        "general with a bias",
        (2,),
        "other parameters",
        code=_products(start=GENERAL_INIT.replace(", bias=False", "")),
    ),
    Wrong(
        "products",
        "general scaled",
        (2,),
        "general is scaled",
        code=_products(general=f"{GENERAL} / query.shape[-1] ** 0.5"),
    ),
    Wrong(
        "products",
        "a layer of this course",
        (0, 1, 2),
        "forbidden function",
        code="from attncourse import MultiplicativeAttention\n\n"
        + _products(dot="MultiplicativeAttention(4, 4, 'dot')(key, query)[1]"),
    ),
]
PRODUCTS_RIGHT = [
    Right(
        "products",
        "einsum",
        code=_products(
            "torch.einsum('bqd,bkd->bqk', query, key)",
            "torch.einsum('bqd,bkd->bqk', query, key) / query.shape[-1] ** 0.5",
            "torch.einsum('bqd,dk,bmk->bqm', query, self.project.weight, key)",
        ),
    ),
    Right(
        "products",
        "sums of products",
        code=_products(
            "(query[:, :, None] * key[:, None]).sum(-1)",
            "(query[:, :, None] * key[:, None]).sum(-1) / math.sqrt(key.shape[2])",
            "(query[:, :, None] * self.project(key)[:, None]).sum(-1)",
        ),
    ),
    Right(
        "products",
        "bmm, scaled before",
        code=_products(
            "torch.bmm(query, key.mT)",
            "torch.bmm(query / math.sqrt(query.size(-1)), key.mT)",
            "torch.bmm(query, self.project(key).mT)",
        ),
    ),
    Right(
        "products",
        "double precision",
        code=_products(
            "(query.double() @ key.double().mT).float()",
            "(query.double() @ key.double().mT / query.shape[-1] ** 0.5).to(query)",
        ),
    ),
    Right(
        "products",
        "an own matrix, applied to the query",
        code=_products(
            general="(query @ self.matrix) @ key.mT",
            start="""
            def __init__(self, query_dim, key_dim):
                super().__init__()
                self.matrix = nn.Parameter(torch.randn(query_dim, key_dim))
            """,
        ),
    ),
    Right(
        "products",
        "with a helper",
        code=_products("pairwise(query, key)", "pairwise(query, key, query.shape[-1])"),
        helpers=(
            _function(
                "pairwise(a, b, width=1)",
                """
                rows = [(b @ a[:, i, :, None]).squeeze(-1) for i in range(a.shape[1])]
                return torch.stack(rows, dim=1) / width**0.5
                """,
            ),
        ),
    ),
]

ADDITIVE = """
asking = self.query_proj(query).unsqueeze(2)
asked = self.key_proj(key).unsqueeze(1)
return self.v(torch.tanh(asking + asked)).squeeze(-1)
"""
CONCAT = """
queries, keys = query.shape[1], key.shape[1]
asking = query.unsqueeze(2).expand(-1, -1, keys, -1)
asked = key.unsqueeze(1).expand(-1, queries, -1, -1)
pairs = torch.cat([asking, asked], dim=-1)
return self.v(torch.tanh(self.hidden(pairs))).squeeze(-1)
"""


def _networks(
    additive=ADDITIVE, concat=CONCAT, first=ADDITIVE_INIT, second=CONCAT_INIT
):
    additive = _forward("Additive", additive, first)
    return f"{additive}\n\n{_forward('Concat', concat, second)}"


def _network(name, loses, named, additive=ADDITIVE, concat=CONCAT, **starts):
    code = _networks(additive, concat, **starts)
    return Wrong("networks", name, loses, named, code=code)


EXCHANGED_INIT = """
    def __init__(self, query_dim, key_dim, hidden_dim):
        super().__init__()
        self.query_proj = nn.Linear(key_dim, hidden_dim, bias=False)
        self.key_proj = nn.Linear(query_dim, hidden_dim, bias=False)
        self.v = nn.Linear(hidden_dim, 1, bias=False)
"""
ASKED_FIRST_INIT = """
    def __init__(self, query_dim, key_dim, hidden_dim):
        super().__init__()
        self.asked = nn.Linear(key_dim, hidden_dim, bias=False)
        self.asking = nn.Linear(query_dim, hidden_dim, bias=False)
        self.v = nn.Linear(hidden_dim, 1, bias=False)
"""
ONE_MAP_INIT = """
    def __init__(self, query_dim, key_dim, hidden_dim):
        super().__init__()
        self.query_proj = nn.Linear(query_dim, hidden_dim, bias=False)
        self.key_proj = self.query_proj
        if key_dim != query_dim:
            self.key_proj = nn.Linear(key_dim, hidden_dim, bias=False)
        self.v = nn.Linear(hidden_dim, 1, bias=False)
"""
EXCHANGED = """
both = self.key_proj(query)[:, :, None] + self.query_proj(key)[:, None]
return self.v(torch.tanh(both)).squeeze(-1)
"""

NETWORKS_WRONG = [
    _network("maps exchanged", (0, 1), "sizes that do not fit", EXCHANGED),
    _network(
        "maps exchanged, and their names",
        (0,),
        "names of the maps exchanged",
        EXCHANGED,
        first=EXCHANGED_INIT,
    ),
    _network(
        "maps exchanged where the widths do not tell",
        (0,),
        "maps chosen by the width",
        f"""
        if query.shape[-1] == key.shape[-1]:
            both = self.key_proj(query)[:, :, None] + self.query_proj(key)[:, None]
            return self.v(torch.tanh(both)).squeeze(-1)
        {indent(ADDITIVE.strip(), " " * 8).strip()}
        """,
    ),
    _network(
        "the map found by the width",
        (0,),
        "maps chosen by the width",
        """
        maps = {m.in_features: m for m in (self.query_proj, self.key_proj)}
        asking, asked = (maps[x.shape[-1]](x) for x in (query, key))
        return self.v((asking[:, :, None] + asked[:, None]).tanh()).squeeze(-1)
        """,
    ),
    _network(
        "one map for both where they are as wide",
        (0,),
        "maps chosen by the width",
        first=ONE_MAP_INIT,
    ),
    _network(
        "no tanh",
        (0,),
        "no tanh",
        "return self.v(self.query_proj(query)[:, :, None] + "
        "self.key_proj(key)[:, None]).squeeze(-1)",
    ),
    _network(
        "two tanh, then the sum",
        (0,),
        "two tanh, then the sum",
        """
        asking = torch.tanh(self.query_proj(query))[:, :, None]
        asked = torch.tanh(self.key_proj(key))[:, None]
        return self.v(asking + asked).squeeze(-1)
        """,
    ),
    _network(
        "tanh of the score",
        (0,),
        "tanh of the score",
        """
        both = self.query_proj(query)[:, :, None] + self.key_proj(key)[:, None]
        return torch.tanh(self.v(both).squeeze(-1))
        """,
    ),
    _network(
        "relu",
        (0,),
        "relu for tanh",
        ADDITIVE.replace("tanh", "relu"),
    ),
    _network(
        "v forgotten",
        (0,),
        "hidden layer returned",
        ADDITIVE.replace(
            "self.v(torch.tanh(asking + asked)).squeeze(-1)",
            "torch.tanh(asking + asked)",
        ),
    ),
    _network(
        "axis of size 1 left",
        (0, 2),
        "an axis of size 1 too many",
        ADDITIVE.replace(".squeeze(-1)", ""),
        CONCAT.replace(".squeeze(-1)", ""),
    ),
    _network(
        "axes exchanged",
        (0,),
        "keys times queries",
        ADDITIVE.replace("unsqueeze(2)", "unsqueeze(9)")
        .replace("unsqueeze(1)", "unsqueeze(2)")
        .replace("unsqueeze(9)", "unsqueeze(1)"),
    ),
    _network(
        "biases",
        (0, 2),
        "other parameters",
        first=ADDITIVE_INIT.replace(", bias=False", ""),
        second=CONCAT_INIT.replace(", bias=False", ""),
    ),
    _network(
        "pairs first, projections after",
        (1,),
        "projected for every pair",
        """
        queries, keys = query.shape[1], key.shape[1]
        asking = self.query_proj(query[:, :, None].expand(-1, -1, keys, -1))
        asked = self.key_proj(key[:, None].expand(-1, queries, -1, -1))
        return self.v(torch.tanh(asking + asked)).squeeze(-1)
        """,
    ),
    _network(
        "keys projected again for each query",
        (1,),
        "projected for every pair",
        """
        rows = []
        for i in range(query.shape[1]):
            hidden = self.query_proj(query[:, i : i + 1]) + self.key_proj(key)
            rows.append(self.v(torch.tanh(hidden)).squeeze(-1))
        return torch.stack(rows, dim=1)
        """,
    ),
    _network(
        "concat with the key first",
        (2,),
        "keys in front of queries",
        concat=CONCAT.replace("[asking, asked]", "[asked, asking]"),
    ),
    _network(
        "concat without tanh",
        (2,),
        "no tanh",
        concat=CONCAT.replace("torch.tanh(self.hidden(pairs))", "self.hidden(pairs)"),
    ),
    _network(
        "repeat for repeat_interleave",
        (2,),
        "pairs mixed up",
        concat="""
        b, m, n = len(query), query.shape[1], key.shape[1]
        pairs = torch.cat([query.repeat(1, n, 1), key.repeat(1, m, 1)], dim=-1)
        return self.v(torch.tanh(self.hidden(pairs))).view(b, m, n)
        """,
    ),
]
NETWORKS_RIGHT = [
    Right(
        "networks",
        "einsum",
        code=_networks(
            """
            asking = torch.einsum("bqd,hd->bqh", query, self.query_proj.weight)
            asked = torch.einsum("bkd,hd->bkh", key, self.key_proj.weight)
            hidden = (asking[:, :, None] + asked[:, None]).tanh()
            return torch.einsum("bqkh,h->bqk", hidden, self.v.weight[0])
            """
        ),
    ),
    Right(
        "networks",
        "a loop over the queries, projected before",
        code=_networks(
            """
            asking, asked = self.query_proj(query), self.key_proj(key)
            rows = [
                self.v(torch.tanh(asking[:, i : i + 1] + asked)).squeeze(-1)
                for i in range(query.shape[1])
            ]
            return torch.stack(rows, dim=1)
            """
        ),
    ),
    Right(
        "networks",
        "concat computed the additive way",
        code=_networks(
            concat="""
            w = self.hidden.weight
            width = query.shape[-1]
            asking = (query @ w[:, :width].T)[:, :, None]
            asked = (key @ w[:, width:].T)[:, None]
            return (torch.tanh(asking + asked) * self.v.weight[0]).sum(-1)
            """
        ),
    ),
    Right(
        "networks",
        "the map of the keys first, with other names",
        code=_networks(
            """
            both = self.asking(query)[:, :, None] + self.asked(key)[:, None]
            return self.v(torch.tanh(both)).squeeze(-1)
            """,
            first=ASKED_FIRST_INIT,
        ),
    ),
    Right(
        "networks",
        "own parameters with other names and layouts",
        code=_networks(
            """
            both = (query @ self.a)[:, :, None] + (key @ self.b)[:, None]
            return both.tanh() @ self.c
            """,
            first="""
            def __init__(self, query_dim, key_dim, hidden_dim):
                super().__init__()
                self.a = nn.Parameter(torch.randn(query_dim, hidden_dim))
                self.b = nn.Parameter(torch.randn(key_dim, hidden_dim))
                self.c = nn.Parameter(torch.randn(hidden_dim))
            """,
        ),
    ),
    Right(
        "networks",
        "repeat_interleave",
        code=_networks(
            concat="""
            b, m, n = len(query), query.shape[1], key.shape[1]
            asking = query.repeat_interleave(n, dim=1)
            asked = key.repeat(1, m, 1)
            scores = self.v(torch.tanh(self.hidden(torch.cat([asking, asked], 2))))
            return scores.view(b, m, n)
            """
        ),
    ),
    Right(
        "networks",
        "sequential, and broadcast_tensors",
        code=_networks(
            concat="""
            pairs = torch.cat(
                torch.broadcast_tensors(query[:, :, None, :0], key[:, None, :, :0]), -1
            )
            shape = (*pairs.shape[:3], -1)
            both = torch.cat(
                [query[:, :, None].expand(shape), key[:, None].expand(shape)], -1
            )
            return self.network(both)[..., 0]
            """,
            second="""
            def __init__(self, query_dim, key_dim, hidden_dim):
                super().__init__()
                self.network = nn.Sequential(
                    nn.Linear(query_dim + key_dim, hidden_dim, bias=False),
                    nn.Tanh(),
                    nn.Linear(hidden_dim, 1, bias=False),
                )
            """,
        ),
    ),
]

JOIN = "return torch.cat([w_query, w_key], dim=1)"
DIVIDE = "return w[:, :query_dim], w[:, query_dim:]"


def _conversion(join=JOIN, divide=DIVIDE):
    first = _function("concat_weight(w_query, w_key)", join)
    return f"{first}\n\n{_function('additive_weights(w, query_dim)', divide)}"


CONVERSION_WRONG = [
    Wrong(
        "conversion",
        "joined along the rows",
        (0,),
        "joined along the wrong axis",
        code=_conversion("return torch.cat([w_query, w_key])"),
    ),
    Wrong(
        "conversion",
        "key part first",
        (0,),
        "key part first",
        code=_conversion("return torch.cat([w_key, w_query], dim=1)"),
    ),
    Wrong(
        "conversion",
        "transposed",
        (0,),
        "a weight of another shape",
        code=_conversion("return torch.cat([w_query.T, w_key.T])"),
    ),
    Wrong(
        "conversion",
        "cut in the middle",
        (1,),
        "cut at the wrong place",
        code=_conversion(divide="return w.chunk(2, dim=1)"),
    ),
    Wrong(
        "conversion",
        "cut along the rows",
        (1,),
        "cut at the wrong place",
        code=_conversion(divide="return w[:query_dim], w[query_dim:]"),
    ),
    Wrong(
        "conversion",
        "parts exchanged",
        (1,),
        "cut at the wrong place",
        code=_conversion(divide="return w[:, query_dim:], w[:, :query_dim]"),
    ),
]
CONVERSION_RIGHT = [
    Right(
        "conversion",
        "hstack",
        code=_conversion("return torch.hstack([w_query, w_key])"),
    ),
    Right(
        "conversion",
        "split",
        code=_conversion(
            divide="return w.split([query_dim, w.shape[1] - query_dim], dim=1)"
        ),
    ),
    Right(
        "conversion",
        "written into zeros",
        code=_conversion(
            """
            hidden, width = w_query.shape
            w = torch.zeros(hidden, width + w_key.shape[1], dtype=w_query.dtype)
            w[:, :width], w[:, width:] = w_query, w_key
            return w
            """
        ),
    ),
    Right(
        "conversion",
        "copies, through the transpose",
        code=_conversion(
            "return torch.cat([w_query.T, w_key.T]).T.contiguous()",
            "return w.T[:query_dim].T.clone(), w.T[query_dim:].T.clone()",
        ),
    ),
    Right(
        "conversion",
        "row by row",
        code=_conversion(
            "return torch.stack([torch.cat(rows) for rows in zip(w_query, w_key)])",
            """
            columns = torch.arange(w.shape[1])
            return w[:, columns < query_dim], w[:, columns >= query_dim]
            """,
        ),
    ),
]

ATTENTION = """
scores = self.score(states, memory)
scores = scores.masked_fill(~mask[:, None], -math.inf)
weights = scores.softmax(dim=-1)
return weights @ memory, weights
"""


def _attention(body=ATTENTION):
    head = (
        "class Attention(nn.Module):\n"
        "    def __init__(self, score):\n"
        "        super().__init__()\n"
        "        self.score = score\n\n"
        "    def forward(self, memory, states, mask):\n"
    )
    return head + indent(dedent(body).strip("\n"), "        ") + "\n"


def _misread(name, loses, named, old, new):
    assert old in ATTENTION
    return Wrong(
        "attend", name, loses, named, code=_attention(ATTENTION.replace(old, new))
    )


MASKING = "scores = scores.masked_fill(~mask[:, None], -math.inf)"
ATTEND_WRONG = [
    _misread("no mask", (1, 2), "no mask", MASKING, ""),
    _misread(
        "softmax over the queries",
        (0, 1, 2),
        "softmax over the queries",
        "softmax(dim=-1)",
        "softmax(dim=1)",
    ),
    _misread(
        "softmax over the batch",
        (0, 1, 2),
        "softmax over the batch",
        f"{MASKING}\nweights = scores.softmax(dim=-1)",
        "weights = scores.softmax(dim=0)",
    ),
    _misread(
        "inverted mask",
        (0, 1, 2),
        "everything hidden",
        "~mask[:, None]",
        "mask[:, None]",
    ),
    _misread(
        "mask after softmax",
        (1, 2),
        "mask after softmax",
        f"{MASKING}\nweights = scores.softmax(dim=-1)",
        "weights = scores.softmax(dim=-1) * mask[:, None]",
    ),
    _misread(
        "scores times mask",
        (1, 2),
        "zero hides nothing",
        MASKING,
        "scores = scores * mask[:, None]",
    ),
    _misread(
        "a tiny number for a large negative one",
        (1, 2),
        "zero hides nothing",
        "-math.inf",
        "1e-9",
    ),
    _misread(
        "mask added", (1, 2), "mask added", MASKING, "scores = scores + mask[:, None]"
    ),
    _misread(
        "weights first",
        (0, 1, 2),
        "weights and context exchanged",
        "weights @ memory, weights",
        "weights, weights @ memory",
    ),
    _misread(
        "no softmax",
        (0, 1, 2),
        "no softmax",
        f"{MASKING}\nweights = scores.softmax(dim=-1)",
        "weights = scores",
    ),
    _misread(
        "weights without the mask",
        (1,),
        "only the context is masked",
        "return weights @ memory, weights",
        "shown = self.score(states, memory).softmax(dim=-1)\n"
        "return weights @ memory, shown",
    ),
    _misread(
        "detached weights",
        (2,),
        "no gradient",
        "weights @ memory, weights",
        "weights.detach() @ memory, weights.detach()",
    ),
    Wrong(
        "attend",
        "no_grad around the score",
        (2,),
        "no gradient",
        code=_attention(
            ATTENTION.replace(
                "scores = self.score(states, memory)",
                "with torch.no_grad():\n    scores = self.score(states, memory)",
            )
        ),
    ),
    Wrong(
        "attend",
        "the mean of the memory",
        (0, 1, 2),
        "sum for mean",
        code=_attention(
            ATTENTION.replace(
                "weights @ memory", "memory.mean(1, keepdim=True).expand_as(states)"
            )
        ),
    ),
]
ATTEND_RIGHT = [
    Right(
        "attend",
        "a large negative number",
        code=_attention(ATTENTION.replace("-math.inf", "-1e9")),
    ),
    Right(
        "attend",
        "torch.where",
        code=_attention(
            ATTENTION.replace(
                MASKING,
                "scores = torch.where(mask[:, None], scores, float('-inf'))",
            )
        ),
    ),
    Right(
        "attend",
        "an additive mask of zeros and minus infinity",
        code=_attention(
            ATTENTION.replace(
                MASKING,
                "hidden = torch.zeros_like(mask, dtype=scores.dtype)\n"
                "scores = scores + hidden.masked_fill(~mask, -math.inf)[:, None]",
            )
        ),
    ),
    Right(
        "attend",
        "masked after the softmax, and shared out again",
        code=_attention(
            """
            weights = torch.softmax(self.score(states, memory), dim=2)
            weights = weights * mask.unsqueeze(1)
            weights = weights / weights.sum(dim=2, keepdim=True)
            return torch.einsum("bts,bsw->btw", weights, memory), weights
            """
        ),
    ),
    Right(
        "attend",
        "exponentials by hand",
        code=_attention(
            """
            scores = self.score(states, memory)
            scores = scores - scores.amax(dim=-1, keepdim=True)
            shares = torch.exp(scores) * mask[:, None]
            weights = shares / shares.sum(dim=-1, keepdim=True)
            return torch.bmm(weights, memory), weights
            """
        ),
    ),
]

SPEED = """
for step in steps.values():
    step()
ratios = {name: [] for name in steps}
for _ in range(rounds):
    seconds = {}
    for name, step in steps.items():
        begin = clock()
        step()
        seconds[name] = clock() - begin
    first = next(iter(seconds.values()))
    for name, taken in seconds.items():
        ratios[name].append(taken / first)
return {n: (statistics.median(r), min(r), max(r)) for n, r in ratios.items()}
"""


def _speed(body=SPEED):
    return _function("compare_speed(steps, rounds, clock)", body)


def _mistimed(name, loses, named, old, new):
    assert old in SPEED
    return Wrong("speed", name, loses, named, code=_speed(SPEED.replace(old, new)))


SPEED_WRONG = [
    _mistimed(
        "no warm-up",
        (0, 1, 2),
        "first call counted",
        "for step in steps.values():\n    step()\n",
        "",
    ),
    _mistimed(
        "mean", (2,), "mean for median", "statistics.median(r)", "statistics.mean(r)"
    ),
    _mistimed(
        "ratio turned round",
        (0, 1, 2),
        "ratio turned round",
        "taken / first",
        "first / taken",
    ),
    _mistimed("seconds", (0, 1, 2), "seconds, not ratios", "taken / first", "taken"),
    Wrong(
        "speed",
        "clock not restarted",
        (0, 1, 2),
        "clock not restarted",
        code=_speed(
            SPEED.replace("        begin = clock()\n", "").replace(
                "ratios = {", "begin = clock()\nratios = {"
            )
        ),
    ),
    Wrong(
        "speed",
        "one after the other",
        (1,),
        "one after the other",
        code=_speed(
            """
            seconds = {}
            for name, step in steps.items():
                step()
            for name, step in steps.items():
                seconds[name] = []
                for _ in range(rounds):
                    begin = clock()
                    step()
                    seconds[name].append(clock() - begin)
            first = seconds[next(iter(steps))]
            found = {}
            for name, taken in seconds.items():
                r = [a / b for a, b in zip(taken, first)]
                found[name] = (statistics.median(r), min(r), max(r))
            return found
            """
        ),
    ),
]
SPEED_RIGHT = [
    Right(
        "speed",
        "two calls to warm up, and torch's median of an odd number",
        code=_speed(
            SPEED.replace(
                "for step in steps.values():\n    step()\n",
                "for step in [*steps.values()] * 2:\n    step()\n",
            )
        ),
    ),
    Right(
        "speed",
        "a table of tensors",
        code=_speed(
            """
            def seconds(step):
                begin = clock()
                step()
                return clock() - begin

            [step() for step in steps.values()]
            rows = [[seconds(s) for s in steps.values()] for _ in range(rounds)]
            table = torch.tensor(rows, dtype=torch.float64)
            table = table / table[:, :1]
            columns = zip(steps, table.T)
            return {
                n: (c.quantile(0.5).item(), c.min().item(), c.max().item())
                for n, c in columns
            }
            """
        ),
    ),
    Right(
        "speed",
        "sorted by hand",
        code=_speed(
            SPEED.replace(
                "return {n: (statistics.median(r), min(r), max(r)) "
                "for n, r in ratios.items()}",
                """found = {}
for name, r in ratios.items():
    r = sorted(r)
    half = len(r) // 2
    middle = r[half] if len(r) % 2 else (r[half - 1] + r[half]) / 2
    found[name] = [middle, r[0], r[-1]]
return found""",
            )
        ),
    ),
    Right(
        "speed",
        "a class that can be called",
        code="""
class Race:
    def __call__(self, steps, rounds, clock):
        names = list(steps)
        for name in names:
            steps[name]()
        table = [self.round(steps, clock) for _ in range(rounds)]
        return {name: self.three([row[name] for row in table]) for name in names}

    def round(self, steps, clock):
        taken = {}
        for name in steps:
            begin = clock()
            steps[name]()
            taken[name] = clock() - begin
        base = taken[next(iter(steps))]
        return {name: seconds / base for name, seconds in taken.items()}

    def three(self, r):
        return statistics.median(r), min(r), max(r)


compare_speed = Race()
""",
    ),
    Right(
        "speed",
        "ratios at the end",
        code=_speed(
            """
            taken = {name: [] for name in steps}
            for number in range(rounds + 1):
                for name in steps:
                    begin = clock()
                    steps[name]()
                    end = clock()
                    if number > 0:
                        taken[name] += [end - begin]
            base = list(taken.values())[0]
            result = {}
            for name in steps:
                r = [x / y for x, y in zip(taken[name], base)]
                result[name] = (statistics.median(r), min(r), max(r))
            return result
            """
        ),
    ),
]

CORPUS = """
ours = []
for row in written.tolist():
    end = row.index(EOS) if EOS in row else len(row)
    ours.append(" ".join(tokens[i] for i in row[:end]))
theirs = [" ".join(words) for words in references]
metric = BLEU(tokenize="none", force=True)
return metric.corpus_score(ours, [theirs]).score
"""
LAST = "return metric.corpus_score(ours, [theirs]).score"


def _bleu(body=CORPUS):
    return _function("corpus_bleu(written, references, tokens)", body)


def _miscounted(name, loses, named, old, new):
    assert old in CORPUS
    return Wrong("bleu", name, loses, named, code=_bleu(CORPUS.replace(old, new)))


BLEU_WRONG = [
    _miscounted(
        "token ids",
        (0, 1, 2),
        "BLEU on token ids",
        "tokens[i] for i in",
        "str(i) for i in",
    ),
    Wrong(
        "bleu",
        "ids on both sides",
        (2,),
        "references as ids",
        code=_bleu(
            """
            ids = {token: str(i) for i, token in enumerate(tokens)}
            ours = []
            for row in written.tolist():
                end = row.index(EOS) if EOS in row else len(row)
                ours.append(" ".join(str(i) for i in row[:end]))
            theirs = [" ".join(ids.get(w, "3") for w in r) for r in references]
            metric = BLEU(tokenize="none", force=True)
            return metric.corpus_score(ours, [theirs]).score
            """
        ),
    ),
    _miscounted(
        "mean of sentences",
        (2,),
        "mean of sentences",
        LAST,
        "metric = BLEU(tokenize='none', force=True, effective_order=True)\n"
        "scores = [metric.sentence_score(a, [b]).score for a, b in zip(ours, theirs)]\n"
        "return sum(scores) / len(scores)",
    ),
    _miscounted(
        "mean of corpora of one",
        (2,),
        "mean of sentences",
        LAST,
        "pairs = zip(ours, theirs)\n"
        "scores = [metric.corpus_score([a], [[b]]).score for a, b in pairs]\n"
        "return sum(scores) / len(scores)",
    ),
    _miscounted(
        "references not wrapped",
        (0, 1, 2),
        "references not wrapped",
        "[theirs]",
        "theirs",
    ),
    _miscounted(
        "each reference wrapped",
        (2,),
        "each reference wrapped",
        "[theirs]",
        "[[text] for text in theirs]",
    ),
    _miscounted(
        "eos and padding left in",
        (1, 2),
        "<eos> and padding left in",
        "row[:end]",
        "row",
    ),
    _miscounted(
        "padding left in",
        (1, 2),
        "padding left in",
        "row[:end]",
        "row if i != EOS",
    ),
    _miscounted("eos left in", (1, 2), "<eos> left in", "row[:end]", "row[: end + 1]"),
    _miscounted(
        "what follows eos",
        (1,),
        "goes on after <eos>",
        "row[:end]",
        "row if i not in (0, EOS)",
    ),
    _miscounted(
        "a share", (0, 1, 2), "a share for a percentage", ".score", ".score / 100"
    ),
    _miscounted(
        "exchanged",
        (0, 1, 2),
        "exchanged",
        "corpus_score(ours, [theirs])",
        "corpus_score(theirs, [ours])",
    ),
    _miscounted(
        "characters",
        (0, 1, 2),
        "characters for words",
        'tokenize="none"',
        'tokenize="char"',
    ),
    Wrong(
        "bleu",
        "the measure of this course",
        (0, 1, 2),
        "forbidden function",
        code=_bleu(
            """
            from attncourse.training.metrics import bleu

            ours = []
            for row in written.tolist():
                end = row.index(EOS) if EOS in row else len(row)
                ours.append([tokens[i] for i in row[:end]])
            return bleu(ours, references)[0]
            """
        ),
    ),
    _miscounted(
        "the usual tokeniser",
        (2,),
        "another tokeniser",
        'tokenize="none", ',
        "",
    ),
    _miscounted(
        "one long text",
        (2,),
        "one long text",
        "corpus_score(ours, [theirs])",
        "corpus_score([' '.join(ours)], [[' '.join(theirs)]])",
    ),
]
BLEU_RIGHT = [
    Right(
        "bleu",
        "the function of sacreBLEU",
        code="import sacrebleu\n\n"
        + _bleu(
            CORPUS.replace('metric = BLEU(tokenize="none", force=True)\n', "").replace(
                LAST,
                "score = sacrebleu.corpus_bleu(ours, [theirs], tokenize='none')\n"
                "return score.score",
            )
        ),
    ),
    Right(
        "bleu",
        "a metric that is called bleu",
        code='bleu = BLEU(tokenize="none", force=True)\n\n'
        + _bleu(CORPUS.replace("metric.", "bleu.").replace("metric = ", "_ = ")),
    ),
    Right(
        "bleu",
        "takewhile",
        code="from itertools import takewhile\n\n"
        + _bleu(
            """
            rows = (takewhile(lambda i: i != EOS, row) for row in written.tolist())
            texts = [" ".join(map(tokens.__getitem__, row)) for row in rows]
            right = [" ".join(reference) for reference in references]
            return BLEU(tokenize="none", force=True).corpus_score(texts, [right]).score
            """
        ),
    ),
    Right(
        "bleu",
        "split at the word <eos>",
        code=_bleu(
            """
            texts = []
            for row in written:
                text = " ".join([tokens[int(i)] for i in row])
                texts.append(text.split("<eos>")[0].strip())
            theirs = [[" ".join(words) for words in references]]
            return BLEU(tokenize="none", force=True).corpus_score(texts, theirs).score
            """
        ),
    ),
    Right(
        "bleu",
        "a helper for a sentence",
        code=_bleu(
            """
            ours = [sentence(row, tokens) for row in written]
            theirs = [" ".join(words) for words in references]
            return BLEU(tokenize="none").corpus_score(ours, [theirs]).score
            """
        ),
        helpers=(
            _function(
                "sentence(row, tokens)",
                """
                words = []
                for number in row.tolist():
                    if number == EOS:
                        break
                    words.append(tokens[number])
                return " ".join(words)
                """,
            ),
        ),
    ),
    Right(
        "bleu",
        "counted by hand",
        code="from collections import Counter\n\n"
        + _bleu(
            """
            def runs(words, n):
                starts = range(len(words) - n + 1)
                return Counter(tuple(words[i : i + n]) for i in starts)

            hits, totals, ours_long, theirs_long = [0] * 4, [0] * 4, 0, 0
            for row, right in zip(written.tolist(), references):
                row = row[: row.index(EOS)] if EOS in row else row
                words = [tokens[i] for i in row]
                ours_long += len(words)
                theirs_long += len(right)
                for n in range(1, 5):
                    own, gold = runs(words, n), runs(list(right), n)
                    hits[n - 1] += sum((own & gold).values())
                    totals[n - 1] += sum(own.values())
            logs = [math.log(h / t) for h, t in zip(hits, totals)]
            short = min(0.0, 1 - theirs_long / ours_long)
            return 100 * math.exp(short + sum(logs) / 4)
            """
        ),
    ),
]

ERROR = """
both = found = wanted = 0
for matrix, (targets, sources), links in zip(weights, lengths, gold):
    best = matrix[:targets, :sources].argmax(dim=1).tolist()
    own = {(source, target) for target, source in enumerate(best)}
    both += len(own & set(links))
    found += len(own)
    wanted += len(links)
return 1 - 2 * both / (found + wanted)
"""


def _alignment(body=ERROR):
    return _function("alignment_error(weights, lengths, gold)", body)


def _misaligned(name, loses, named, old, new):
    assert old in ERROR
    return Wrong(
        "alignment", name, loses, named, code=_alignment(ERROR.replace(old, new))
    )


FORMULA = "return 1 - 2 * both / (found + wanted)"
ALIGNMENT_WRONG = [
    _misaligned(
        "precision only", (0, 1), "precision only", FORMULA, "return 1 - both / found"
    ),
    _misaligned(
        "recall only", (0, 1), "recall only", FORMULA, "return 1 - both / wanted"
    ),
    _misaligned(
        "agreement",
        (0, 1),
        "agreement for error",
        FORMULA,
        "return 2 * both / (found + wanted)",
    ),
    _misaligned(
        "links turned round",
        (0, 1),
        "links turned round",
        "(source, target) for",
        "(target, source) for",
    ),
    _misaligned(
        "row shifted down",
        (0, 1),
        "row shifted down by one",
        "enumerate(best)",
        "enumerate(best, start=1)",
    ),
    _misaligned(
        "row shifted up",
        (0, 1),
        "row shifted up by one",
        "enumerate(best)",
        "enumerate(best, start=-1)",
    ),
    _misaligned(
        "links of the source words",
        (0, 1),
        "links of the source words",
        ".argmax(dim=1).tolist()\n    own = {(source, target) for target, source",
        ".argmax(dim=0).tolist()\n    own = {(source, target) for source, target",
    ),
    _misaligned(
        "padding included",
        (1,),
        "padding and <eos> included",
        "matrix[:targets, :sources]",
        "matrix",
    ),
    _misaligned(
        "rows of padding included",
        (1,),
        "padding included",
        "matrix[:targets, :sources]",
        "matrix[:, :sources]",
    ),
    _misaligned(
        "columns not cut",
        (1,),
        "column of <eos> included",
        "matrix[:targets, :sources]",
        "matrix[:targets]",
    ),
    _misaligned(
        "eos included",
        (1,),
        "<eos> included",
        "matrix[:targets, :sources]",
        "matrix[: targets + 1, : sources + 1]",
    ),
    Wrong(
        "alignment",
        "mean of sentences",
        (1,),
        "mean of sentences",
        code=_alignment(
            """
            errors = []
            for matrix, (targets, sources), links in zip(weights, lengths, gold):
                best = matrix[:targets, :sources].argmax(dim=1).tolist()
                own = {(source, target) for target, source in enumerate(best)}
                both = len(own & set(links))
                errors.append(1 - 2 * both / (len(own) + len(links)))
            return statistics.mean(errors)
            """
        ),
    ),
]
ALIGNMENT_RIGHT = [
    Right(
        "alignment",
        "numpy",
        code="import numpy as np\n\n"
        + _alignment(
            """
            both = found = wanted = 0
            for matrix, size, links in zip(weights.numpy(), lengths, gold):
                best = np.argmax(matrix[: size[0], : size[1]], axis=1)
                both += sum((int(s), t) in set(links) for t, s in enumerate(best))
                found += size[0]
                wanted += len(links)
            return 1 - 2 * both / (found + wanted)
            """
        ),
    ),
    Right(
        "alignment",
        "gold as a matrix",
        code=_alignment(
            """
            shared, counted = 0.0, 0.0
            for matrix, (t, s), links in zip(weights, lengths, gold):
                right = torch.zeros(t, s)
                for source, target in links:
                    right[target, source] = 1
                own = torch.nn.functional.one_hot(matrix[:t, :s].argmax(1), s)
                shared += (own * right).sum().item()
                counted += own.sum().item() + right.sum().item()
            return 1 - 2 * shared / counted
            """
        ),
    ),
    Right(
        "alignment",
        "links of all sentences in one set",
        code=_alignment(
            """
            own, right = set(), set()
            for i, (targets, sources) in enumerate(lengths):
                for t in range(targets):
                    row = weights[i, t, :sources].tolist()
                    own.add((i, row.index(max(row)), t))
                right |= {(i, *link) for link in gold[i]}
            return 1 - 2 * len(own & right) / (len(own) + len(right))
            """
        ),
    ),
    Right(
        "alignment",
        "columns hidden instead of cut",
        code=_alignment(
            """
            both, total = 0, 0
            for i, (targets, sources) in enumerate(lengths):
                matrix = weights[i].clone()
                matrix[:, sources:] = -1
                best = matrix.max(dim=-1).indices[:targets]
                both += len({(int(s), t) for t, s in enumerate(best)} & {*gold[i]})
                total += targets + len(gold[i])
            return (total - 2 * both) / total
            """
        ),
    ),
    Right(
        "alignment",
        "a harmonic mean of precision and recall",
        code=_alignment(
            """
            own = [links_of(m, *size) for m, size in zip(weights, lengths)]
            hits = sum(len(a & set(map(tuple, b))) for a, b in zip(own, gold))
            precision = hits / sum(map(len, own))
            recall = hits / sum(map(len, gold))
            return 1 - 2 * precision * recall / (precision + recall)
            """
        ),
        helpers=(
            _function(
                "links_of(matrix, targets, sources)",
                "rows = matrix[:targets, :sources]\n"
                "return {(row.argmax().item(), t) for t, row in enumerate(rows)}",
            ),
        ),
    ),
]

TRAINING = "fit(model, data.train, seed)"
MEASURING = "results[name].append(measure(model, data.test))"
EXPERIMENT = """
results = {name: [] for name in variants}
for seed in seeds:
    for name, make in variants.items():
        torch.manual_seed(seed)
        model = make()
        fit(model, data.train, seed)
        results[name].append(measure(model, data.test))
return results
"""


def _experiment(body=EXPERIMENT):
    return _function("experiment(variants, seeds, data, fit, measure)", body)


def _unfair(name, loses, named, old, new):
    assert old in EXPERIMENT
    code = _experiment(EXPERIMENT.replace(old, new))
    return Wrong("experiment", name, loses, named, code=code)


EXPERIMENT_WRONG = [
    _unfair(
        "measured on training data",
        (0,),
        "measured on training data",
        "measure(model, data.test)",
        "measure(model, data.train)",
    ),
    _unfair(
        "trained on test data",
        (0,),
        "trained on test data",
        "fit(model, data.train, seed)",
        "fit(model, data.test, seed)",
    ),
    _unfair(
        "trained on everything",
        (0,),
        "trained on test data",
        "fit(model, data.train, seed)",
        "fit(model, data.train + data.test, seed)",
    ),
    _unfair(
        "measured before training",
        (0, 1),
        "measured before training",
        f"{TRAINING}\n        {MEASURING}",
        f"{MEASURING}\n        {TRAINING}",
    ),
    _unfair("never seeded", (1,), "never seeded", "torch.manual_seed(seed)", "pass"),
    Wrong(
        "experiment",
        "seeded once",
        (1,),
        "seeded once",
        code=_experiment(
            """
            torch.manual_seed(seeds[0])
            results = {}
            for name, make in variants.items():
                results[name] = []
                for seed in seeds:
                    model = make()
                    fit(model, data.train, seed)
                    results[name].append(measure(model, data.test))
            return results
            """
        ),
    ),
    Wrong(
        "experiment",
        "seeded for each seed, not for each variant",
        (1,),
        "seeded once",
        code=_experiment(
            EXPERIMENT.replace("        torch.manual_seed(seed)\n", "").replace(
                "for seed in seeds:\n",
                "for seed in seeds:\n    torch.manual_seed(seed)\n",
            )
        ),
    ),
    Wrong(
        "experiment",
        "one model for all seeds",
        (1,),
        "one model for all seeds",
        code=_experiment(
            """
            results = {}
            for name, make in variants.items():
                torch.manual_seed(seeds[0])
                model, results[name] = make(), []
                for seed in seeds:
                    torch.manual_seed(seed)
                    fit(model, data.train, seed)
                    results[name].append(measure(model, data.test))
            return results
            """
        ),
    ),
    _unfair(
        "one order of pairs",
        (1,),
        "the same order of pairs",
        "fit(model, data.train, seed)",
        "fit(model, data.train, 0)",
    ),
]
EXPERIMENT_RIGHT = [
    Right(
        "experiment",
        "variants outside",
        code=_experiment(
            """
            results = {}
            for name in variants:
                results[name] = []
                for seed in seeds:
                    torch.manual_seed(seed)
                    model = variants[name]()
                    fit(model, data.train, seed)
                    results[name] += [measure(model, data.test)]
            return results
            """
        ),
    ),
    Right(
        "experiment",
        "a helper for one run",
        code=_experiment(
            """
            def run(make, seed):
                torch.manual_seed(seed)
                model = make()
                fit(model, data.train, seed)
                return measure(model, data.test)

            return {n: [run(make, s) for s in seeds] for n, make in variants.items()}
            """
        ),
    ),
    Right(
        "experiment",
        "defaultdict, and all models trained first",
        code="from collections import defaultdict\n\n"
        + _experiment(
            """
            trained = []
            for seed in seeds:
                for name in variants:
                    torch.manual_seed(seed)
                    trained.append((name, variants[name]()))
                    fit(trained[-1][1], data.train, seed)
            results = defaultdict(list)
            for name, model in trained:
                results[name].append(measure(model, data.test))
            return results
            """
        ),
    ),
    Right(
        "experiment",
        "arguments by name",
        code=_experiment(
            EXPERIMENT.replace(
                "fit(model, data.train, seed)",
                "fit(model=model, pairs=data.train, seed=seed)",
            ).replace(
                "measure(model, data.test)", "measure(model=model, pairs=data.test)"
            )
        ),
    ),
    Right(
        "experiment",
        "itertools.product, seeded on all devices",
        code="import itertools\n\nfrom attncourse import seed_everything\n\n"
        + _experiment(
            """
            results = {}
            for (name, make), seed in itertools.product(variants.items(), seeds):
                seed_everything(seed)
                model = make()
                fit(model, list(data.train), seed)
                results.setdefault(name, []).append(measure(model, list(data.test)))
            return results
            """
        ),
    ),
]

MEAN = """
n, mean = len(values), statistics.fmean(values)
reach = T975[n - 1] * statistics.stdev(values) / math.sqrt(n)
return mean, mean - reach, mean + reach
"""
VERDICT = """
_, low, high = mean_and_interval([a - b for a, b in zip(first, second)])
if low > 0:
    return 1
return -1 if high < 0 else 0
"""


def _interval(mean=MEAN, verdict=VERDICT):
    first = _function("mean_and_interval(values)", mean)
    return f"{first}\n\n{_function('verdict(first, second)', verdict)}"


# It does not call the other function, so that one fault costs one check.
ALONE = """
differences = [a - b for a, b in zip(first, second)]
n, mean = len(differences), statistics.fmean(differences)
reach = T975[n - 1] * statistics.stdev(differences) / math.sqrt(n)
return int(mean > reach) - int(mean < -reach)
"""


def _misjudged(name, named, old, new):
    assert old in MEAN
    code = _interval(MEAN.replace(old, new), ALONE)
    return Wrong("interval", name, (0,), named, code=code)


def _hasty(name, named, verdict):
    return Wrong("interval", name, (1,), named, code=_interval(verdict=verdict))


INTERVAL_WRONG = [
    _misjudged("population deviation", "population deviation", "stdev", "pstdev"),
    _misjudged(
        "no root of n",
        "standard deviation for standard error",
        " / math.sqrt(n)",
        "",
    ),
    _misjudged("normal", "normal for Student", "T975[n - 1]", "1.96"),
    _misjudged("two", "two for Student", "T975[n - 1]", "2"),
    _misjudged("one standard error", "no factor", "T975[n - 1] * ", ""),
    _misjudged("degrees of freedom", "degrees of freedom", "n - 1]", "n]"),
    _misjudged(
        "lowest and highest",
        "lowest and highest",
        "mean - reach, mean + reach",
        "min(values), max(values)",
    ),
    _misjudged(
        "reach for bounds",
        "reach for bounds",
        "mean, mean - reach, mean + reach",
        "mean, -reach, reach",
    ),
    _misjudged(
        "median",
        "median for mean",
        "return mean,",
        "return statistics.median(values),",
    ),
    _hasty(
        "the larger mean wins",
        "the larger mean wins",
        "return 1 if statistics.fmean(first) > statistics.fmean(second) else -1",
    ),
    _hasty(
        "intervals that overlap",
        "intervals that overlap",
        """
        _, low, high = mean_and_interval(first)
        _, other_low, other_high = mean_and_interval(second)
        return int(low > other_high) - int(high < other_low)
        """,
    ),
    _hasty(
        "sign turned round",
        "sign turned round",
        VERDICT.replace("a - b", "b - a"),
    ),
]
INTERVAL_RIGHT = [
    Right(
        "interval",
        "numpy",
        code="import numpy as np\n\n"
        + _interval(
            """
            values = np.array(values)
            error = values.std(ddof=1) / np.sqrt(len(values))
            reach = T975[len(values) - 1] * error
            return values.mean(), values.mean() - reach, values.mean() + reach
            """,
            """
            low, high = mean_and_interval(np.array(first) - np.array(second))[1:]
            return int(np.sign(low)) if low * high > 0 else 0
            """,
        ),
    ),
    Right(
        "interval",
        "torch in double precision",
        code=_interval(
            """
            x = torch.tensor(values, dtype=torch.float64)
            reach = T975[len(x) - 1] * x.std() / len(x) ** 0.5
            return x.mean().item(), (x.mean() - reach).item(), (x.mean() + reach).item()
            """
        ),
    ),
    Right(
        "interval",
        "sums by hand",
        code=_interval(
            """
            n = len(values)
            mean = sum(values) / n
            variance = sum((v - mean) ** 2 for v in values) / (n - 1)
            reach = T975[n - 1] * (variance / n) ** 0.5
            return [mean, mean - reach, mean + reach]
            """
        ),
    ),
    Right("interval", "a verdict of its own", code=_interval(verdict=ALONE)),
    Right(
        "interval",
        "statistics of the other module",
        code="from statistics import mean, variance\n\n"
        + _interval(
            """
            middle = mean(values)
            reach = T975[len(values) - 1] * math.sqrt(variance(values) / len(values))
            return middle, middle - reach, middle + reach
            """,
            """
            differences = list(map(float.__sub__, first, second))
            bounds = mean_and_interval(differences)[1:]
            if all(bound > 0 for bound in bounds):
                return 1
            if all(bound < 0 for bound in bounds):
                return -1
            return 0
            """,
        ),
    ),
]

WRONG = [
    *PRODUCTS_WRONG,
    *NETWORKS_WRONG,
    *CONVERSION_WRONG,
    *ATTEND_WRONG,
    *SPEED_WRONG,
    *BLEU_WRONG,
    *ALIGNMENT_WRONG,
    *EXPERIMENT_WRONG,
    *INTERVAL_WRONG,
    *students.WRONG,
    *subtle.WRONG,
    *fresh.WRONG,
    *unforeseen.VARIANTS,
]
RIGHT = [
    *PRODUCTS_RIGHT,
    *NETWORKS_RIGHT,
    *CONVERSION_RIGHT,
    *ATTEND_RIGHT,
    *SPEED_RIGHT,
    *BLEU_RIGHT,
    *ALIGNMENT_RIGHT,
    *EXPERIMENT_RIGHT,
    *INTERVAL_RIGHT,
    *students.RIGHT,
    *subtle.RIGHT,
    *fresh.RIGHT,
    *unforeseen.VARIANTS_RIGHT,
]
