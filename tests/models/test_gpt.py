"""The GPT: its parts, its cache, and how it writes."""

import math

import pytest
import torch
import torch.nn.functional as F

from attncourse import GPT
from attncourse.models.generating import generate, next_token_probabilities
from tests.refusing import refuses


def small(**options):
    torch.manual_seed(0)
    model = GPT(53, 24, 4, 2, context=17, **options).eval()
    for weight in model.parameters():  # some start at zero, where nothing shows
        torch.nn.init.normal_(weight, std=0.3)
    return model


TOKENS = torch.randint(53, (3, 13), generator=torch.Generator().manual_seed(1))


def by_hand(model, tokens):
    """Compute the logits of one sequence with loops over blocks, heads and queries."""

    def norm(x, layer):
        return x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt() * layer.weight

    def rotate(x):  # (tokens, d_head): pairs as complex numbers
        angle = torch.arange(len(x))[:, None] * 10000 ** (-torch.arange(0, 6, 2) / 6)
        pairs = torch.view_as_complex(x.reshape(len(x), 3, 2).contiguous())
        turned = pairs * torch.exp(1j * angle)
        return torch.view_as_real(turned).reshape(len(x), 6)

    x = model.embedding.weight[tokens]
    for block in model.blocks:
        a, f = block.attention, block.feedforward
        normed = norm(x, block.attention_norm)
        q, k, v = (p(normed) for p in (a.query_proj, a.key_proj, a.value_proj))
        group = a.num_heads // a.num_kv_heads
        heads = []
        for head in range(4):
            own = slice(6 * head, 6 * head + 6)
            shared = slice(6 * (head // group), 6 * (head // group) + 6)
            scores = rotate(q[:, own]) @ rotate(k[:, shared]).T / math.sqrt(6)
            rows = [
                scores[i, : i + 1].softmax(0) @ v[: i + 1, shared]
                for i in range(len(tokens))
            ]
            heads.append(torch.stack(rows))
        x = x + a.output_proj(torch.cat(heads, 1))
        normed = norm(x, block.feedforward_norm)
        x = x + f.down_proj(F.silu(f.gate_proj(normed)) * f.up_proj(normed))
    return norm(x, model.final_norm) @ model.embedding.weight.T


@pytest.mark.parametrize("kv_heads", [4, 2, 1])
def test_logits_equal_those_by_hand(kv_heads):
    model = small(num_kv_heads=kv_heads)
    for row, logits in zip(TOKENS, model(TOKENS), strict=True):
        torch.testing.assert_close(logits, by_hand(model, row), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("kv_heads", [4, 2])
def test_the_cache_changes_nothing(kv_heads):
    model, cache = small(num_kv_heads=kv_heads), []
    pieces = [model(part, cache) for part in TOKENS.split([5, 1, 3, 4], dim=1)]
    torch.testing.assert_close(
        torch.cat(pieces, 1), model(TOKENS), atol=1e-5, rtol=1e-5
    )
    assert cache[0][0].shape == (3, kv_heads, 13, 6)


def test_padding_on_the_left_changes_nothing_if_it_is_hidden():
    model = small()
    padded = F.pad(TOKENS, (4, 0), value=7)
    present = F.pad(torch.ones_like(TOKENS), (4, 0)).bool()
    logits = model(padded, present=present)[:, 4:]
    torch.testing.assert_close(logits, model(TOKENS), atol=1e-5, rtol=1e-5)
    assert not torch.allclose(model(padded)[:, 4:], model(TOKENS), atol=0.01)


def test_an_inactive_head_writes_nothing():
    model = small()
    active = torch.ones(2, 4, dtype=torch.bool)
    active[1, 2] = False
    logits, weights = model(TOKENS, active_heads=active, need_weights=True)
    assert not weights[1][:, 2].any()
    with torch.no_grad():
        model.blocks[1].attention.output_proj.weight[:, 12:18] = 0
    torch.testing.assert_close(logits, model(TOKENS), atol=1e-5, rtol=1e-5)


def test_each_block_begins_by_adding_nothing():
    model = GPT(53, 24, 4, 2)
    x = model.embedding(TOKENS)
    expected = F.linear(model.final_norm(x), model.embedding.weight)
    torch.testing.assert_close(model(TOKENS), expected)


# Drawing the next token ------------------------------------------------------------

LOGITS = torch.tensor([[0.5, 0.2, 0.05, 0.25]]).log()


@pytest.mark.parametrize(
    "how, expected",
    [
        ({}, [0.5, 0.2, 0.05, 0.25]),
        ({"temperature": 0}, [1, 0, 0, 0]),
        ({"top_k": 2}, [2 / 3, 0, 0, 1 / 3]),
        ({"top_k": 9}, [0.5, 0.2, 0.05, 0.25]),
        ({"top_p": 0.5}, [1, 0, 0, 0]),
        ({"top_p": 0.6}, [2 / 3, 0, 0, 1 / 3]),
        ({"top_p": 1.0}, [0.5, 0.2, 0.05, 0.25]),
        ({"temperature": 0.5}, [0.25, 0.04, 0.0025, 0.0625]),
        ({"top_k": 3, "top_p": 0.7}, [2 / 3, 0, 0, 1 / 3]),
    ],
)
def test_the_distribution(how, expected):
    expected = torch.tensor([expected], dtype=torch.float)
    found = next_token_probabilities(LOGITS, **how)
    torch.testing.assert_close(found, expected / expected.sum())


def test_the_penalty_lowers_what_has_been_seen_whatever_its_sign():
    logits = torch.tensor([[2.0, -1.0, 2.0, -1.0]])
    seen = torch.tensor([[0, 1, 1]])
    found = next_token_probabilities(logits, repetition_penalty=2.0, seen=seen)
    expected = torch.tensor([[1.0, -2.0, 2.0, -1.0]]).softmax(-1)
    torch.testing.assert_close(found, expected)


def test_the_text_depends_neither_on_the_cache_nor_on_the_batch():
    model = small()
    prompts = [TOKENS[0, :5].tolist(), TOKENS[1, :3].tolist()]
    for how in ({"temperature": 0}, {"temperature": 0, "repetition_penalty": 1.5}):
        both = generate(model, prompts, 9, **how)
        assert both == generate(model, prompts, 9, use_cache=False, **how)
        assert both == [generate(model, [p], 9, **how)[0] for p in prompts]
    drawn = [generate(model, prompts, 9, seed=s, top_p=0.9) for s in (3, 3, 4)]
    assert drawn[0] == drawn[1] != drawn[2]


def probabilities(**how):
    return next_token_probabilities(LOGITS, **how)


test_bad_input = refuses(
    (lambda: small()(TOKENS[:1].repeat(1, 2)[:, :18]), r"18 tokens.*context is 17"),
    (lambda: small()(TOKENS + 50), "ids from 0 to 52"),
    (lambda: generate(small(), TOKENS.tolist(), 5), r"13 tokens and 5 new.*17 tokens"),
    (lambda: generate(small(), [[1], []], 5), "one is empty"),
    (lambda: probabilities(temperature=-1), "temperature must be"),
    (lambda: probabilities(top_p=0), "top_p must be"),
    (lambda: probabilities(top_k=0), "top_k must be"),
    (lambda: probabilities(repetition_penalty=0.5, seen=TOKENS[:1]), "1 or more"),
)
