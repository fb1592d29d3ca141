import math

import pytest
import torch

from attncourse.layers.head_scores import (
    attention_entropy,
    duplicate_token_score,
    first_token_score,
    head_scores,
    induction_score,
    offset_score,
)
from tests.refusing import generator, refuses

BATCH, HEADS, TOKENS = 3, 5, 7


def random_weights(rng, causal=True):
    scores = torch.randn(
        BATCH, HEADS, TOKENS, TOKENS, generator=rng, dtype=torch.float64
    )
    if causal:
        scores = scores.masked_fill(
            ~torch.ones(TOKENS, TOKENS).tril().bool(), -math.inf
        )
    return scores.softmax(dim=-1)


def random_tokens(rng, symbols=3):
    return torch.randint(symbols, (BATCH, TOKENS), generator=rng)


def loop_score(weights, tokens, wanted):
    """Average over queries with a wanted key, one head and one sequence at a time."""
    scores = []
    for head in range(weights.shape[1]):
        shares = []
        for b in range(weights.shape[0]):
            t = tokens[b].tolist()
            for i in range(len(t)):
                keys = [j for j in range(len(t)) if wanted(t, i, j)]
                if keys:
                    shares.append(sum(weights[b, head, i, j].item() for j in keys))
        scores.append(sum(shares) / len(shares))
    return torch.tensor(scores, dtype=torch.float64)


@pytest.mark.parametrize("offset", [-2, 0, 1, 4])
def test_offset_score_equals_a_loop(rng, offset):
    weights = random_weights(rng, causal=False)
    expected = loop_score(weights, random_tokens(rng), lambda t, i, j: j == i - offset)
    torch.testing.assert_close(offset_score(weights, offset), expected)


@pytest.mark.parametrize("causal", [True, False])
def test_token_scores_equal_a_loop(rng, causal):
    weights, tokens = random_weights(rng, causal), random_tokens(rng)
    torch.testing.assert_close(
        duplicate_token_score(weights, tokens),
        loop_score(weights, tokens, lambda t, i, j: j < i and t[j] == t[i]),
    )
    torch.testing.assert_close(
        induction_score(weights, tokens),
        loop_score(weights, tokens, lambda t, i, j: 1 <= j <= i and t[j - 1] == t[i]),
    )


def test_first_token_score_leaves_out_the_first_query():
    weights = torch.eye(TOKENS)[None, None]
    assert first_token_score(weights).item() == 0
    weights = torch.zeros(1, 1, TOKENS, TOKENS)
    weights[..., 0] = 1
    assert first_token_score(weights).item() == 1


def test_entropy_of_uniform_attention_is_the_mean_logarithm_of_the_keys():
    expected = sum(math.log(i + 1) for i in range(TOKENS)) / TOKENS
    past = torch.ones(TOKENS, TOKENS, dtype=torch.float64).tril()
    weights = (past / past.sum(dim=-1, keepdim=True))[None, None]
    assert attention_entropy(weights).item() == pytest.approx(expected)


def test_entropy_is_zero_for_one_key_and_for_a_head_that_is_switched_off():
    assert attention_entropy(torch.eye(TOKENS)[None, None]).item() == 0
    assert attention_entropy(torch.zeros(1, 1, TOKENS, TOKENS)).item() == 0


def test_all_scores_come_as_one_number_for_each_head(rng):
    weights, tokens = random_weights(rng), random_tokens(rng)
    scores = head_scores(weights, tokens)
    assert set(scores) == {
        "own",
        "previous",
        "first",
        "duplicate",
        "induction",
        "entropy",
    }
    assert all(score.shape == (HEADS,) for score in scores.values())
    torch.testing.assert_close(scores["own"], offset_score(weights, 0))
    torch.testing.assert_close(scores["previous"], offset_score(weights, 1))
    shares = [score for name, score in scores.items() if name != "entropy"]
    assert all(((share >= 0) & (share <= 1)).all() for share in shares)


test_bad_input_is_named = refuses(
    (lambda w, t: offset_score(w, TOKENS), "smaller than the sequence"),
    (lambda w, t: offset_score(w, 1.0), TypeError, "whole number"),
    (lambda w, t: offset_score(w[0], 1), "4 axes"),
    (lambda w, t: offset_score(w.tolist(), 1), TypeError, "torch.Tensor"),
    (lambda w, t: offset_score(w.long(), 1), TypeError, "floating point"),
    (lambda w, t: offset_score(w[..., :-1], 1), "as many keys"),
    (lambda w, t: offset_score(w[:0], 1), "at least one token"),
    (lambda w, t: first_token_score(w[:, :, :1, :1]), "at least 2"),
    (lambda w, t: induction_score(w, t[:, 1:]), "to fit the weights"),
    (lambda w, t: induction_score(w, t.float()), TypeError, "integers"),
    (lambda w, t: induction_score(w, t.tolist()), TypeError, "integers"),
    (
        lambda w, t: duplicate_token_score(w, torch.arange(TOKENS).repeat(BATCH, 1)),
        "occurs twice",
    ),
    run=lambda call: call(random_weights(generator()), random_tokens(generator())),
)
