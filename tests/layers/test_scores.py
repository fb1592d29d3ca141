import pytest
import torch

from attncourse import (
    AdditiveAttention,
    MultiplicativeAttention,
    create_padding_mask,
)
from tests.layers.attending import score_of_pair
from tests.refusing import generator, refuses

BATCH, TARGET, SOURCE, ENCODER, DECODER, HIDDEN = 2, 3, 5, 7, 11, 13


def make(kind, decoder_dim=DECODER):
    torch.manual_seed(0)
    if kind == "additive":
        return AdditiveAttention(ENCODER, decoder_dim, HIDDEN).double()
    return MultiplicativeAttention(ENCODER, decoder_dim, kind).double()


def states(rng, decoder_dim=DECODER):
    encoder = torch.randn(BATCH, SOURCE, ENCODER, generator=rng, dtype=torch.float64)
    decoder = torch.randn(
        BATCH, TARGET, decoder_dim, generator=rng, dtype=torch.float64
    )
    return encoder, decoder


KINDS = [("additive", DECODER), ("dot", ENCODER), ("general", DECODER), ("concat", 11)]


@pytest.mark.parametrize(("kind", "decoder_dim"), KINDS)
def test_scores_follow_the_formula_of_the_paper(rng, kind, decoder_dim):
    layer = make(kind, decoder_dim)
    encoder, decoder = states(rng, decoder_dim)
    context, weights = layer(encoder, decoder)
    for b in range(BATCH):
        for t in range(TARGET):
            scores = [score_of_pair(layer, decoder[b, t], e) for e in encoder[b]]
            row = torch.stack(scores).softmax(0)
            torch.testing.assert_close(weights[b, t], row)
            torch.testing.assert_close(context[b, t], row @ encoder[b])


@pytest.mark.parametrize(("kind", "decoder_dim"), KINDS)
def test_one_state_gives_what_it_gives_among_others(rng, kind, decoder_dim):
    layer = make(kind, decoder_dim)
    encoder, decoder = states(rng, decoder_dim)
    context, weights = layer(encoder, decoder)
    one_context, one_weights = layer(encoder, decoder[:, 1])
    assert one_context.shape == (BATCH, ENCODER)
    assert one_weights.shape == (BATCH, SOURCE)
    torch.testing.assert_close(one_context, context[:, 1])
    torch.testing.assert_close(one_weights, weights[:, 1])


@pytest.mark.parametrize(("kind", "decoder_dim"), KINDS)
def test_padding_gets_no_weight_and_has_no_influence(rng, kind, decoder_dim):
    layer = make(kind, decoder_dim)
    encoder, decoder = states(rng, decoder_dim)
    ids = torch.tensor([[4, 4, 4, 0, 0], [4, 4, 4, 4, 4]])
    mask = create_padding_mask(ids)
    context, weights = layer(encoder, decoder, mask)
    changed = encoder.clone()
    changed[0, 3:] = 1e3
    changed_context, _ = layer(changed, decoder, mask)
    assert (weights[0, :, 3:] == 0).all()
    torch.testing.assert_close(context, changed_context)
    for same in (mask[:, 0, 0], mask[:, 0].expand(-1, TARGET, -1)):
        torch.testing.assert_close(layer(encoder, decoder, same)[1], weights)


@pytest.mark.parametrize(("kind", "decoder_dim"), KINDS)
def test_gradients_are_finite_differences_and_a_source_of_padding_gives_zeros(
    rng, kind, decoder_dim
):
    layer = make(kind, decoder_dim)
    inputs = [t.requires_grad_() for t in states(rng, decoder_dim)]
    mask = torch.ones(BATCH, SOURCE, dtype=torch.bool)
    mask[0] = False
    context, weights = layer(*inputs, mask)
    assert not context[0].any()
    assert not weights[0].any()
    assert torch.autograd.gradcheck(layer, (*inputs, mask))


test_a_layer_that_cannot_work_is_not_made = refuses(
    (lambda: MultiplicativeAttention(3, 5, "dot"), "Use method 'general'"),
    (lambda: MultiplicativeAttention(3, 5, "cosine"), "one of dot, general, concat"),
    (lambda: AdditiveAttention(0, 3, 5), "encoder_dim must be at least 1"),
    (lambda: MultiplicativeAttention(3, -1), "decoder_dim must be at least 1"),
)


test_bad_input_is_named = refuses(
    (lambda e, d: (e.float(), d), TypeError, "the same dtype"),
    (lambda e, d: (e[0], d), "encoder_outputs must have 3 axes"),
    (lambda e, d: (e, d[None]), r"state\[-1\]"),
    (lambda e, d: (e[..., :3], d), "7 entries on its last axis"),
    (lambda e, d: (e, d[..., :3]), "11 entries on its last axis"),
    (lambda e, d: (e[:1], d), "the same batch size"),
    (lambda e, d: (e, d, torch.ones(2, 3).bool()), "create_padding"),
    (lambda e, d: (e, d, torch.ones(2, 5)), TypeError, "boolean"),
    run=lambda change, kind: make(kind)(*change(*states(generator()))),
    over=["additive", "general"],
)
