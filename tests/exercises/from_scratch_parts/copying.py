"""Answers about the model that copies, task 1.7, right and wrong."""

from textwrap import dedent

from tests.exercises.answers import Right, Wrong

LOSS_LINE = (
    "return F.cross_entropy(log_odds.flatten(0, 1), ids.flatten(), ignore_index=0)"
)
QUERY_LINE = "query = self.to_query(places).expand(tokens.shape)"
TOKENS_LINE = "tokens = self.symbols(ids) + places"
VALUE_LINE = "key, value = self.to_key(tokens), self.to_value(tokens)"
MASK_LINE = "mask = padding_mask(ids)[:, 0]  # (batch, 1, tokens): no heads here"
OUT_LINE = "return self.to_log_odds(output), weights"


def _wrong_copy(name, loses, named, before, after):
    return Wrong("copying", name, loses, named, change=(before, after))


WRONG_COPYING = [
    _wrong_copy(
        "padding in the loss",
        (0,),
        "padding in the loss",
        ", ignore_index=0)",
        ")",
    ),
    _wrong_copy(
        "softmax before the cross-entropy",
        (0,),
        "softmax before the cross-entropy",
        "F.cross_entropy(log_odds.flatten",
        "F.cross_entropy(log_odds.softmax(-1).flatten",
    ),
    _wrong_copy(
        "the next symbol",
        (0,),
        "shifted by one",
        LOSS_LINE,
        """odds, target = log_odds[:, :-1], ids[:, 1:]
    return F.cross_entropy(odds.flatten(0, 1), target.flatten(), ignore_index=0)""",
    ),
    _wrong_copy(
        "a sum",
        (0,),
        "sum instead of average",
        "ignore_index=0",
        "ignore_index=0, reduction='sum'",
    ),
    _wrong_copy(
        "axes brought into order by a view",
        (0,),
        "axes exchanged by a reshape",
        LOSS_LINE,
        """odds = log_odds.reshape(len(ids), -1, ids.shape[1])
    return F.cross_entropy(odds, ids, ignore_index=0)""",
    ),
    _wrong_copy(
        "axes as they are",
        (0,),
        "axes of the cross-entropy",
        LOSS_LINE,
        "return F.cross_entropy(log_odds, ids, ignore_index=0)",
    ),
    _wrong_copy(
        "the padding stays in the average",
        (0,),
        "padding divided away",
        LOSS_LINE,
        """each = F.cross_entropy(log_odds.transpose(1, 2), ids, reduction="none")
    return (each * (ids != 0)).mean()""",
    ),
    _wrong_copy(
        "no padding mask",
        (1,),
        "attention to padding",
        "masked_attention(query, key, value, mask)",
        "masked_attention(query, key, value)",
    ),
    _wrong_copy(
        "an axis for heads that is not needed",
        (1, 2, 3),
        "one axis too many or too few",
        MASK_LINE,
        "mask = padding_mask(ids)",
    ),
    _wrong_copy(
        "no class for the padding",
        (1, 2, 3),
        "log-odds of another shape",
        "nn.Linear(d_model, num_symbols + 1)",
        "nn.Linear(d_model, num_symbols)",
    ),
    _wrong_copy(
        "a shortcut from symbol to output",
        (1, 3),
        "no attention on the way",
        OUT_LINE,
        "return self.to_log_odds(self.symbols(ids)), weights",
    ),
    _wrong_copy(
        "the answer is read from the input, and the diagonal is made up",
        (1,),
        "no attention on the way",
        OUT_LINE,
        """odds = 9 * F.one_hot(ids, self.to_log_odds.out_features).float()
        odds = odds + 0 * self.to_log_odds(output)
        return odds, torch.eye(ids.shape[1]).expand(len(ids), -1, -1)""",
    ),
    _wrong_copy(
        "a connection round the attention",
        (1,),
        "a way round the attention",
        OUT_LINE,
        "return self.to_log_odds(output + tokens), weights",
    ),
    _wrong_copy(
        "no positions",
        (1, 2, 3),
        "no positions",
        "places = self.positions(torch.arange(ids.shape[1], device=ids.device))",
        "places = torch.zeros(ids.shape[1], 32)",
    ),
    _wrong_copy(
        "the query knows its symbol",
        (1, 3),
        "the query knows its symbol",
        QUERY_LINE,
        "query = self.to_query(tokens)",
    ),
    _wrong_copy(
        "keys without positions",
        (1, 2, 3),
        "no positions",
        VALUE_LINE,
        "key, value = self.to_key(self.symbols(ids)), self.to_value(tokens)",
    ),
    _wrong_copy(
        "one position vector for all places",
        (1, 2, 3),
        "no positions",
        "places = self.positions(torch.arange(ids.shape[1], device=ids.device))",
        "places = self.positions(torch.zeros(ids.shape[1], dtype=torch.long))",
    ),
    _wrong_copy(
        "values of positions only",
        (2, 3),
        "does not learn to copy",
        VALUE_LINE,
        "key, value = self.to_key(tokens), self.to_value(places).expand(tokens.shape)",
    ),
    _wrong_copy(
        "the mask of a language model, shifted",
        (1, 2, 3),
        "no attention on the way",
        MASK_LINE,
        """n = ids.shape[1]
        mask = padding_mask(ids)[:, 0] & torch.ones(n, n).tril(-1).bool()""",
    ),
    _wrong_copy(
        "PyTorch's layer",
        (0, 1, 2, 3),
        "forbidden function",
        "self.to_query = nn.Linear(d_model, d_model)",
        "self.to_query = nn.Linear(d_model, d_model)\n"
        "        self.layer = nn.MultiheadAttention(d_model, 1, batch_first=True)",
    ),
]


def _copier(init, forward, loss=LOSS_LINE):
    def lines(text):
        rows = dedent(text).strip().splitlines()
        return "".join(f"        {row}\n" for row in rows)

    return (
        "class CopyModel(nn.Module):\n"
        "    def __init__(self, num_symbols, max_len, d_model=32):\n"
        f"        super().__init__()\n{lines(init)}\n"
        f"    def forward(self, ids):\n{lines(forward)}\n\n"
        f"def copy_loss(model, ids):\n    log_odds = model(ids)[0]\n    {loss}\n"
    )


RIGHT_COPYING = [
    Right(
        "copying",
        "values of symbols only, no maps for them; a loss by hand",
        _copier(
            """
            self.tok = nn.Embedding(num_symbols + 1, d_model, padding_idx=0)
            self.pos = nn.Embedding(max_len, d_model)
            self.q, self.k = (nn.Linear(d_model, d_model, bias=False) for _ in "qk")
            self.out = nn.Linear(d_model, num_symbols + 1)
            """,
            """
            pos, tok = self.pos.weight[: ids.size(1)], self.tok(ids)
            q = self.q(pos).unsqueeze(0).repeat(len(ids), 1, 1)
            found, w = masked_attention(q, self.k(pos + tok), tok, (ids != 0)[:, None])
            return self.out(found), w
            """,
            """each = -log_odds.log_softmax(-1).gather(-1, ids[..., None])[..., 0]
    return each[ids != 0].mean()""",
        ),
    ),
    Right(
        "copying",
        "sinusoids",
        _copier(
            """
            self.tok = nn.Embedding(num_symbols + 1, d_model)
            p = torch.arange(max_len)[:, None]
            f = p / 10000 ** (torch.arange(0, d_model, 2) / d_model)
            self.register_buffer("pos", torch.cat([f.sin(), f.cos()], dim=1))
            self.qkv = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(3))
            self.head = nn.Linear(d_model, num_symbols + 1)
            """,
            """
            pos = self.pos[: ids.shape[1]]
            x = self.tok(ids) + pos
            q = self.qkv[0](pos).expand_as(x)
            k, v, mask = self.qkv[1](x), self.qkv[2](x), padding_mask(ids)[:, 0]
            y, w = masked_attention(q, k, v, mask)
            return self.head(y), w
            """,
        ),
    ),
    Right(
        "copying",
        "causal as well, which hides nothing that is needed",
        _copier(
            """
            self.tok = nn.Embedding(num_symbols + 1, d_model)
            self.pos = nn.Parameter(torch.randn(max_len, d_model))
            self.q, self.k, self.v = (nn.Linear(d_model, d_model) for _ in range(3))
            self.out = nn.Linear(d_model, num_symbols + 1)
            """,
            """
            pos = self.pos[: ids.shape[1]]
            x = self.tok(ids) + pos
            y, w = masked_attention(
                self.q(pos), self.k(x), self.v(x), decoder_mask(ids)[:, 0]
            )
            return self.out(y), w
            """,
            "return F.cross_entropy(log_odds.transpose(1, 2), ids, ignore_index=0)",
        ),
    ),
    Right(
        "copying",
        "the query looked up at once; a hidden layer after the attention",
        _copier(
            """
            self.ask = nn.Embedding(max_len, d_model)
            self.pos = nn.Embedding(max_len, d_model)
            self.tok = nn.Embedding(num_symbols + 1, d_model)
            self.k, self.v = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
            self.out = nn.Sequential(
                nn.Linear(d_model, 64), nn.GELU(), nn.Linear(64, num_symbols + 1)
            )
            """,
            """
            where = torch.arange(ids.shape[1], device=ids.device).expand(ids.shape)
            x = self.tok(ids) + self.pos(where)
            out, weights = masked_attention(
                self.ask(where), self.k(x), self.v(x), padding_mask(ids).squeeze(1)
            )
            return self.out(out), weights
            """,
            "return F.cross_entropy(log_odds[ids != 0], ids[ids != 0])",
        ),
    ),
    Right(
        "copying",
        "an axis for one head inside; positions concatenated",
        _copier(
            """
            self.tok = nn.Embedding(num_symbols + 1, d_model)
            self.pos = nn.Embedding(max_len, d_model)
            self.to_q = nn.Linear(d_model, 2 * d_model)
            self.to_kv = nn.Linear(2 * d_model, 4 * d_model)
            self.out = nn.Linear(2 * d_model, num_symbols + 1)
            """,
            """
            pos = self.pos(torch.arange(ids.shape[1])).expand(len(ids), -1, -1)
            x = torch.cat([self.tok(ids), pos], dim=-1)
            k, v = self.to_kv(x).unsqueeze(1).chunk(2, dim=-1)
            q = self.to_q(pos).unsqueeze(1)
            y, w = masked_attention(q, k, v, padding_mask(ids))
            return self.out(y[:, 0]), w[:, 0]
            """,
        ),
    ),
]
