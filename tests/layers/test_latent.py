"""Latent attention against a loop, and its two forms against each other."""

import math

import pytest
import torch

from attncourse.layers.latent import LatentAttention
from attncourse.layers.masks import create_causal_mask
from attncourse.layers.rotary import apply_rotary
from tests.refusing import refuses

DOUBLE = torch.float64


def layer_and_tokens(batch=2, tokens=7):
    torch.manual_seed(0)
    layer = LatentAttention(15, 3, latent_dim=11, rotary_dim=4).to(DOUBLE)
    return layer, torch.randn(batch, tokens, 15, dtype=DOUBLE)


def by_loop(layer, x, head):
    """Return the scores and the output of one head for one sequence, query by query."""
    c = layer.norm(layer.latent_proj(x))
    key = layer.key_up(c)[:, 5 * head : 5 * head + 5]
    value = layer.value_up(c)[:, 5 * head : 5 * head + 5]
    query = layer.query_proj(x)[:, 9 * head : 9 * head + 9]
    key_r, query_r = apply_rotary(layer.rotary_proj(x)), apply_rotary(query[:, 5:])
    scores = torch.zeros(len(x), len(x), dtype=DOUBLE)
    for i in range(len(x)):
        for j in range(len(x)):
            score = query[i, :5] @ key[j] + query_r[i] @ key_r[j]
            scores[i, j] = score / math.sqrt(9)
    return scores.softmax(-1), scores.softmax(-1) @ value


def test_latent_attention_equals_a_loop_over_pairs():
    layer, x = layer_and_tokens()
    output, weights = layer(x)
    for b in range(2):
        by_head = [by_loop(layer, x[b], head) for head in range(3)]
        torch.testing.assert_close(weights[b], torch.stack([w for w, _ in by_head]))
        heads = torch.cat([read for _, read in by_head], dim=-1)
        torch.testing.assert_close(output[b], layer.output_proj(heads))


@pytest.mark.parametrize("dtype", [torch.float32, DOUBLE])
def test_the_absorbed_form_gives_the_same_numbers_and_gradients(dtype):
    layer, x = layer_and_tokens()
    layer, x = layer.to(dtype), x.to(dtype)
    mask, found = create_causal_mask(7), []
    for absorbed in (False, True):
        layer.zero_grad()
        output, weights = layer.attend(x, layer.project(x), mask, absorbed=absorbed)
        (output**2).sum().backward()
        grads = [p.grad.clone() for p in layer.parameters()]
        found.append([output, weights, *grads])
    for unpacked, absorbed in zip(*found, strict=True):
        torch.testing.assert_close(unpacked, absorbed)


def test_decoding_token_by_token_from_a_cache_equals_the_whole_sequence():
    layer, x = layer_and_tokens()
    whole, _ = layer(x, create_causal_mask(7))
    cache = x.new_zeros(2, 0, 15)
    for t in range(7):
        cache = torch.cat([cache, layer.project(x[:, t : t + 1], start=t)], dim=1)
        step, _ = layer.attend(x[:, t : t + 1], cache, start=t, absorbed=True)
        torch.testing.assert_close(step[:, 0], whole[:, t])
    assert cache.shape == (2, 7, 11 + 4)


def test_scores_depend_on_distances_only():
    layer, x = layer_and_tokens()
    near, _ = layer.attend(x, layer.project(x))
    far, _ = layer.attend(x, layer.project(x, start=900), start=900)
    torch.testing.assert_close(near, far)


test_latent_attention_refuses_bad_input = refuses(
    (lambda: LatentAttention(15, 4, 8, 4), "divi"),
    (lambda: LatentAttention(16, 4, 8, 3), "rotary_dim must be even"),
    (lambda: LatentAttention(16, 4, 0, 2), "latent_dim must be at"),
    (lambda: layer_and_tokens()[0](torch.ones(2, 3, 15)), TypeError, "same dtype"),
    (lambda: layer_and_tokens()[0](torch.ones(2, 3, 14, dtype=DOUBLE)), "d_model"),
)
