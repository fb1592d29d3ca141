"""The model answers, from which all expected values come, agree with other code.

The other code is PyTorch's, the package's own layers, or a library of statistics.
"""

import math
import statistics

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.testing import assert_close

from attncourse.layers import (
    head_scores,
    local,
    masks,
    relative,
    rotary,
    scores,
    sparse,
)
from attncourse.training.memory import count_elements
from attncourse.training.metrics import bleu
from tests.exercises.answering import solution


@pytest.fixture(scope="module")
def answers():
    """Return all answers of the five solutions, and the mask given in the last."""
    from types import SimpleNamespace

    from tests.exercises.answering import EXERCISES

    everything = {}
    for notebook, exercise in EXERCISES.items():
        space = solution(notebook).namespace()
        for task in exercise.tasks:
            everything |= {name: space[name] for name in task.answers}
    given = solution("5_efficient_attention").namespace()
    everything["local_mask"] = given["local_mask"]
    return SimpleNamespace(**everything)


def randn(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def triple(*leading, queries=5, keys=7):
    return (
        randn(*leading, queries, 4),
        randn(*leading, keys, 4, seed=1),
        randn(*leading, keys, 3, seed=2),
    )


# 1 -----------------------------------------------------------------------------------


def test_attention_is_that_of_pytorch(answers):
    query, key, value = triple(2, 3)
    expected = F.scaled_dot_product_attention(query, key, value)
    assert_close(answers.attention(query, key, value)[0], expected)
    mask = torch.rand(5, 7, generator=torch.Generator().manual_seed(3)) < 0.5
    mask[:, 0] = True
    expected = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    assert_close(answers.masked_attention(query, key, value, mask)[0], expected)


def test_masks_are_those_of_the_package(answers):
    ids = torch.tensor([[4, 0, 5, 5], [5, 5, 5, 5]])
    assert answers.causal_mask(6).equal(masks.create_causal_mask(6))
    padding = masks.create_padding_mask(ids, 5)
    assert answers.padding_mask(ids, 5).equal(padding)
    both = padding & masks.create_causal_mask(4)
    assert answers.decoder_mask(ids, 5).equal(both)


def test_multi_head_attention_is_that_of_pytorch(answers):
    x, matrices = randn(2, 5, 12), [randn(12, 12, seed=i) / 3 for i in range(4)]
    layer = nn.MultiheadAttention(12, 3, bias=False, batch_first=True)
    layer.in_proj_weight.data = torch.cat([w.T for w in matrices[:3]])
    layer.out_proj.weight.data = matrices[3].T
    expected = layer(x, x, x, average_attn_weights=False)
    for ours, theirs in zip(
        answers.multi_head_attention(x, *matrices, 3), expected, strict=True
    ):
        assert_close(ours, theirs)


def test_gradients_by_hand_are_those_of_autograd(answers):
    leaves = [x.requires_grad_() for x in triple(2)]
    upstream = randn(2, 5, 3, seed=9)
    expected = torch.autograd.grad(
        F.scaled_dot_product_attention(*leaves), leaves, upstream
    )
    found = answers.attention_gradients(*(x.detach() for x in leaves), upstream)
    for ours, theirs in zip(found, expected, strict=True):
        assert_close(ours, theirs)


# 2 -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("previous_token_score", lambda w, t: head_scores.previous_token_score(w)),
        ("duplicate_token_score", head_scores.duplicate_token_score),
        ("induction_score", head_scores.induction_score),
    ],
)
def test_scores_of_heads_are_those_of_the_package(answers, ours, theirs):
    tokens = torch.randint(1, 4, (5, 7), generator=torch.Generator().manual_seed(0))
    weights = randn(5, 3, 7, 7).masked_fill(~masks.create_causal_mask(7), -math.inf)
    weights = weights.softmax(-1)
    assert_close(getattr(answers, ours)(weights, tokens), theirs(weights, tokens))


def test_normalised_entropy_is_that_of_the_package(answers):
    weights, visible = randn(2, 3, 5, 7).softmax(-1), torch.ones(2, 5, 7).bool()
    expected = -(weights * weights.log()).sum(-1).mean(dim=(0, 2)) / math.log(7)
    assert_close(answers.normalised_entropy(weights, visible), expected)


# 3 -----------------------------------------------------------------------------------


def test_products_are_those_of_the_package(answers):
    query, key = randn(2, 3, 4), randn(2, 5, 4, seed=1)
    layer = scores.MultiplicativeAttention(4, 4, "dot")
    weights = layer(key, query)[1]
    assert_close(answers.Dot()(query, key).softmax(-1), weights)
    scaled = F.scaled_dot_product_attention(query, key, torch.eye(5).expand(2, 5, 5))
    assert_close(answers.ScaledDot()(query, key).softmax(-1), scaled)


def test_additive_scores_are_those_of_the_package_and_of_concat(answers):
    query, key = randn(2, 3, 4), randn(2, 5, 6, seed=1)
    ours, concat = answers.Additive(4, 6, 7), answers.Concat(4, 6, 7)
    theirs = scores.AdditiveAttention(6, 4, 7)
    pairs = zip(theirs.parameters(), ours.parameters(), strict=False)
    shapes = {tuple(p.shape): p for p in ours.parameters()}
    assert len(shapes) == 3
    with torch.no_grad():
        for parameter, _ in pairs:
            if parameter.dim() == 2:
                parameter.copy_(shapes[tuple(parameter.shape)])
            else:
                parameter.zero_()
        w = torch.cat([ours.query_proj.weight, ours.key_proj.weight], dim=1)
        concat.hidden.weight.copy_(w)
        concat.v.weight.copy_(ours.v.weight)
    assert_close(ours(query, key).softmax(-1), theirs(key, query)[1])
    assert_close(ours(query, key), concat(query, key))


def test_bleu_is_that_of_the_package(answers):
    tokens = ["<pad>", "<bos>", "<eos>", "<unk>", "the", "cat", "sat", "on", "a", "mat"]
    written = torch.tensor([[4, 5, 6, 7, 8, 9, 2], [8, 5, 6, 2, 4, 4, 4]])
    references = [["the", "cat", "sat", "on", "the", "mat"], ["a", "cat", "sat"]]
    ours = [["the", "cat", "sat", "on", "a", "mat"], ["a", "cat", "sat"]]
    found = answers.corpus_bleu(written, references, tokens)
    expected = bleu(ours, references)
    assert found == pytest.approx(expected[0])


def test_intervals_are_those_of_students_t(answers):
    values = [3.1, 2.7, 4.4, 3.9, 3.0]
    mean, low, high = answers.mean_and_interval(values)
    half = 2.776 * statistics.stdev(values) / math.sqrt(5)  # t for 4 degrees: tables
    assert (mean, low, high) == pytest.approx(
        (np.mean(values), np.mean(values) - half, np.mean(values) + half), rel=1e-3
    )


# 4 -----------------------------------------------------------------------------------


def test_distances_and_buckets_are_those_of_the_package(answers):
    distances = answers.relative_distances(5, 9, 4)
    assert distances.equal(relative.relative_positions(5, 9, query_offset=4))
    every = torch.arange(-300, 301)
    for count, most in ((32, 128), (8, 20), (16, 128)):
        theirs = relative.t5_buckets(every, count, most, bidirectional=False)
        assert answers.buckets(every, count, most).equal(theirs)


def test_alibi_and_rotary_are_those_of_the_package(answers):
    bias = relative.alibi_bias(8, 7, 7)[:, 3:]
    past = answers.relative_distances(4, 7, 3) <= 0
    assert_close(answers.alibi(8, 4, 7, 3) * past, bias * past)
    x = randn(2, 3, 6, 8)
    assert_close(answers.rotate(x), rotary.apply_rotary(x))


# 5 -----------------------------------------------------------------------------------


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("tokens", "window"), [(13, 4), (7, 7), (5, 9), (1, 1)])
def test_local_attention_is_that_of_the_package(answers, tokens, window, causal):
    inputs = triple(2, queries=tokens, keys=tokens)
    expected = local.local_attention(*inputs, window=window, causal=causal)
    found = answers.window_attention(*inputs, window, causal)
    assert_close(found, expected)
    mask = answers.local_mask(tokens, window, causal)
    slow = F.scaled_dot_product_attention(*inputs, attn_mask=mask)
    assert_close(slow, expected)


@pytest.mark.parametrize("rule", [(1, 0, 0), (0, 3, 0), (0, 0, 2), (2, 3, 1)])
def test_sparse_attention_is_that_of_the_package(answers, rule):
    window, stride, num_global = rule
    mask = sparse.window_blocks(7, window) | sparse.global_blocks(7, num_global)
    mask = mask | sparse.strided_blocks(7, stride) if stride else mask
    for block, row in enumerate(mask):
        seen = sorted(answers.seen_blocks(block, 7, *rule))
        assert seen == row.nonzero().flatten().tolist()
    inputs = triple(2, queries=19, keys=19)
    tokens = sparse.expand_blocks(mask, 3, 19, 19)
    expected = F.scaled_dot_product_attention(*inputs, attn_mask=tokens)
    assert_close(answers.sparse_attention(*inputs, 3, *rule), expected)


@pytest.mark.parametrize("size", [(2, 90, 16, 3), (3, 210, 16, 5)])
def test_formulas_of_memory_are_what_is_counted(answers, size):
    count, tokens, width, window = size
    query, key, value = torch.ones(3, 1, count, tokens, width)
    causal = {"is_causal": True}
    fused = count_elements(
        lambda: F.scaled_dot_product_attention(query, key, value, **causal)
    )
    formulas = answers.largest_tensor(*size)
    assert formulas["fused, causal"] == fused.largest
    mask = answers.local_mask(tokens, window, True)
    masked = count_elements(
        lambda: F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    )
    assert formulas["fused, masked"] == masked.largest


def test_the_reach_is_what_a_chain_of_masks_sees(answers):
    for layers, window in ((1, 3), (2, 4), (3, 2)):
        mask = answers.local_mask(20, window, True).float()
        seen = torch.linalg.matrix_power(mask, layers)[-1] > 0
        assert answers.reach(layers, window) == 19 - int(seen.int().argmax())
