import pytest
import torch

from attncourse import (
    CausalSelfAttention,
    MultiHeadAttention,
    SelfAttention,
    create_causal_mask,
    create_padding_mask,
    self_attention,
)
from tests.refusing import generator, refuses

BATCH, HEADS, QUERIES, KEYS, D_HEAD = 2, 3, 5, 7, 11
D_MODEL = HEADS * D_HEAD


def layer(**options):
    torch.manual_seed(0)
    return MultiHeadAttention(D_MODEL, HEADS, **options).eval()


def example(rng, dtype=torch.float32):
    return [
        torch.randn(BATCH, n, D_MODEL, generator=rng, dtype=torch.float64).to(dtype)
        for n in (QUERIES, KEYS, KEYS)
    ]


def torch_twin(ours):
    """Return PyTorch's own module with the same weights."""
    twin = torch.nn.MultiheadAttention(D_MODEL, HEADS, batch_first=True)
    twin = twin.to(ours.output_proj.weight.dtype).eval()
    projections = (ours.query_proj, ours.key_proj, ours.value_proj)
    with torch.no_grad():
        twin.in_proj_weight.copy_(torch.cat([p.weight for p in projections]))
        twin.in_proj_bias.copy_(torch.cat([p.bias for p in projections]))
        twin.out_proj.load_state_dict(ours.output_proj.state_dict())
    return twin


@pytest.mark.parametrize(
    ("dtype", "tolerance"),
    [
        (torch.float64, 1e-12),
        (torch.float32, 1e-6),
        (torch.float16, 4e-3),
        (torch.bfloat16, 3e-2),
    ],
)
@pytest.mark.parametrize("need_weights", [True, False])
def test_output_and_weights_equal_those_of_torch(rng, dtype, tolerance, need_weights):
    inputs = example(rng, dtype)
    mask = torch.rand(QUERIES, KEYS, generator=rng) < 0.5
    mask[:, 0] = True
    ours = layer().to(dtype)
    output, weights = ours(*inputs, mask, need_weights=need_weights)
    expected, expected_weights = torch_twin(ours.double())(
        *(t.double() for t in inputs), attn_mask=~mask, average_attn_weights=False
    )
    assert output.dtype == dtype
    torch.testing.assert_close(output.double(), expected, atol=tolerance, rtol=0)
    if need_weights:
        assert weights.shape == (BATCH, HEADS, QUERIES, KEYS)
        torch.testing.assert_close(
            weights.double(), expected_weights, atol=tolerance, rtol=0
        )
    else:
        assert weights is None


def test_dropout_acts_on_the_output_and_in_training_only(rng):
    inputs = example(rng)
    ours = layer(dropout=0.5)
    quiet = ours(*inputs)[0]
    torch.testing.assert_close(quiet, layer()(*inputs)[0])
    for need_weights in (True, False):
        noisy, weights = ours.train()(*inputs, need_weights=need_weights)
        assert (noisy - quiet).abs().max() > 0.01
        if need_weights:
            sums = weights.sum(-1)
            torch.testing.assert_close(sums, torch.ones(BATCH, HEADS, QUERIES))


def test_a_query_with_nothing_to_attend_to_gets_the_output_bias(rng):
    ours = layer()
    with torch.no_grad():
        ours.output_proj.bias.normal_(generator=rng)
    mask = torch.ones(QUERIES, KEYS, dtype=torch.bool)
    mask[2] = False
    for need_weights in (True, False):
        output, _ = ours(*example(rng), mask, need_weights=need_weights)
        bias = ours.output_proj.bias.expand(BATCH, -1)
        torch.testing.assert_close(output[:, 2], bias)
        output.sum().backward()
        assert all(p.grad.isfinite().all() for p in ours.parameters())


def test_gradients_are_those_of_finite_differences(rng):
    ours = MultiHeadAttention(6, 3).double()
    inputs = [
        torch.randn(2, n, 6, generator=rng, dtype=torch.float64, requires_grad=True)
        for n in (2, 3, 3)
    ]
    assert torch.autograd.gradcheck(lambda *x: ours(*x)[0], inputs)


def test_a_causal_layer_takes_shorter_sequences_and_padding(rng):
    causal = CausalSelfAttention(D_MODEL, HEADS, max_len=KEYS)
    x = torch.randn(BATCH, QUERIES, D_MODEL, generator=rng)
    ids = torch.tensor([[3, 3, 3, 0, 0], [3, 3, 3, 3, 3]])
    output, weights = causal(x, create_padding_mask(ids))
    assert output.shape == x.shape
    assert (weights[0, ..., 3:] == 0).all()
    assert (weights.triu(1) == 0).all()
    alone, _ = causal(x[:1, :3])
    torch.testing.assert_close(output[:1, :3], alone)


@pytest.mark.parametrize("need_weights", [True, False])
def test_a_causal_mask_given_by_hand_does_the_same(rng, need_weights):
    causal = CausalSelfAttention(D_MODEL, HEADS, max_len=KEYS)
    x = torch.randn(BATCH, KEYS, D_MODEL, generator=rng)
    mask, options = create_causal_mask(KEYS), {"need_weights": need_weights}
    expected = causal.attention(x, x, x, mask, **options)
    torch.testing.assert_close(causal(x, **options), expected)


def test_self_attention_equals_the_numpy_version(rng):
    torch.manual_seed(0)
    single = SelfAttention(D_HEAD).double()
    x = torch.randn(QUERIES, D_HEAD, generator=rng, dtype=torch.float64)
    mask = create_causal_mask(QUERIES)
    maps = (single.query_proj, single.key_proj, single.value_proj)
    expected = self_attention(
        x.numpy(), *(m.weight.detach().numpy().T for m in maps), mask.numpy()
    )
    for ours, numpy in zip(single(x, mask), expected, strict=True):
        torch.testing.assert_close(ours.detach(), torch.as_tensor(numpy))


def test_an_empty_batch_gives_an_empty_result(rng):
    output, weights = layer()(*(t[:0] for t in example(rng)))
    assert output.shape == (0, QUERIES, D_MODEL)
    assert weights.shape == (0, HEADS, QUERIES, KEYS)


test_a_layer_that_cannot_work_is_not_made = refuses(
    (lambda: MultiHeadAttention(10, 3), "by 2 it is"),
    (lambda: MultiHeadAttention(10, 0), "num_heads must be at least 1"),
    (lambda: MultiHeadAttention(8, 2, dropout=1.5), "probability"),
    (lambda: MultiHeadAttention(8.0, 2), TypeError, "d_model must be a whole"),
    (lambda: MultiHeadAttention(12, 6, num_kv_heads=4), "divisible by num_kv_heads"),
    (lambda: SelfAttention(0), "d_model must be at least 1"),
    (lambda: CausalSelfAttention(8, 2, 0), "max_len must be at least"),
)


test_bad_input_is_named = refuses(
    (lambda q, k, v: (q.long(), k, v), TypeError, "floating point"),
    (lambda q, k, v: (q, k.double(), v), TypeError, "the same dtype"),
    (lambda q, k, v: (q[0], k, v), "query must have 3 axes"),
    (lambda q, k, v: (q, k[..., :3], v), "key must have 33 entries"),
    (lambda q, k, v: (q, k, v[:, :3]), "the same number of tokens"),
    (lambda q, k, v: (q[:1], k, v), "the same batch size"),
    (lambda q, k, v: (q, k, v, torch.ones(5, 7)), TypeError, "boolean"),
    (
        lambda q, k, v: (q, k, v, torch.ones(2, 5, 7, dtype=torch.bool)),
        r"mask\[:, None\]",
    ),
    (lambda q, k, v: (q, k, v, torch.ones(2, 7, dtype=torch.bool)), "broadcastable"),
    run=lambda change, need_weights: layer()(
        *change(*example(generator())), need_weights=need_weights
    ),
    over=[True, False],
)


PAST = CausalSelfAttention(D_MODEL, HEADS, max_len=KEYS)
test_bad_input_to_self_attention_is_named = refuses(
    (lambda: PAST(torch.zeros(2, 8, 33)), "x has 8 tokens, .* at most 7"),
    (lambda: PAST(torch.zeros(8, 33)), "x must have 3 axes"),
    (lambda: PAST(torch.zeros(2, 5, 32)), "33 entries"),
    (lambda: SelfAttention(D_HEAD)(torch.zeros(5)), "at least 2 axes"),
    (lambda: SelfAttention(D_HEAD)(torch.zeros(5, 3)), "11 entries"),
)


def test_grouped_queries_equal_full_heads_with_repeated_keys_and_values(rng):
    grouped = MultiHeadAttention(12, 6, num_kv_heads=2)
    full = MultiHeadAttention(12, 6)
    full.query_proj.load_state_dict(grouped.query_proj.state_dict())
    full.output_proj.load_state_dict(grouped.output_proj.state_dict())
    for name in ("key_proj", "value_proj"):
        small, large = getattr(grouped, name), getattr(full, name)
        for part in ("weight", "bias"):
            blocks = getattr(small, part).detach().unflatten(0, (2, 2))
            repeated = blocks.repeat_interleave(3, dim=0).flatten(0, 1)
            getattr(large, part).data.copy_(repeated)
    x = torch.randn(3, 5, 12, generator=rng)
    for need_weights in (True, False):
        ours, own = grouped(x, x, x, need_weights=need_weights)
        theirs, their_own = full(x, x, x, need_weights=need_weights)
        torch.testing.assert_close(ours, theirs)
        if need_weights:
            torch.testing.assert_close(own, their_own)
