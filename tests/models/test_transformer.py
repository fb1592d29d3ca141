import pytest
import torch

from attncourse.layers.masks import create_causal_mask, create_padding_mask
from attncourse.layers.positions import sinusoidal_encoding
from attncourse.models.feedforward import FeedForward, SwiGLU
from attncourse.models.transformer import Transformer, TransformerLayer
from attncourse.models.translation import DecoderLayer
from tests.refusing import refuses

BATCH, TOKENS, VOCAB, HEADS, LAYERS = 2, 7, 13, 3, 2
HIDDEN = HEADS * 5
POSITIONS = ["sinusoidal", "learned", "rotary", None]


def model(**options):
    torch.manual_seed(0)
    options = {"max_len": 11, **options}
    return Transformer(VOCAB, HIDDEN, HEADS, LAYERS, **options).double().eval()


def layer(**options):
    torch.manual_seed(0)
    return TransformerLayer(HIDDEN, HEADS, **options).double().eval()


def example_tokens(rng, batch=BATCH, length=TOKENS):
    return torch.randint(1, VOCAB, (batch, length), generator=rng)


def vectors(rng):
    return torch.randn(BATCH, TOKENS, HIDDEN, generator=rng, dtype=torch.float64)


def all_heads():
    return torch.ones(LAYERS, HEADS, dtype=torch.bool)


@torch.no_grad()
def copy_attention(ours, twin):
    maps = (ours.query_proj, ours.key_proj, ours.value_proj)
    twin.in_proj_weight.copy_(torch.cat([m.weight for m in maps]))
    twin.in_proj_bias.copy_(torch.cat([m.bias for m in maps]))
    copy_parts((ours.output_proj, twin.out_proj))


@torch.no_grad()
def copy_parts(*pairs):
    """Draw each first part anew, norms included, and copy it into the second."""
    for ours, twin in pairs:
        for p in ours.parameters():
            p.uniform_(-1, 1)
        twin.load_state_dict(ours.state_dict())


@pytest.mark.parametrize("norm_first", [True, False])
def test_the_layer_equals_torchs_encoder_layer_with_the_same_weights(rng, norm_first):
    ours = layer(norm_first=norm_first, feedforward_dim=17)
    twin = torch.nn.TransformerEncoderLayer(
        HIDDEN, HEADS, 17, dropout=0.0, batch_first=True, norm_first=norm_first
    ).double()
    copy_attention(ours.attention, twin.self_attn)
    copy_parts(
        (ours.feedforward[0], twin.linear1),
        (ours.feedforward[3], twin.linear2),
        (ours.attention_norm, twin.norm1),
        (ours.feedforward_norm, twin.norm2),
    )
    x = vectors(rng)
    causal = torch.ones(TOKENS, TOKENS, dtype=torch.bool).tril()
    output, weights = ours(x, causal)
    torch.testing.assert_close(output, twin(x, src_mask=~causal))
    assert weights is None


def test_the_decoder_layer_equals_torchs_with_the_same_weights(rng):
    torch.manual_seed(0)
    ours = DecoderLayer(HIDDEN, HEADS, 17).double()
    twin = torch.nn.TransformerDecoderLayer(
        HIDDEN, HEADS, 17, dropout=0.0, batch_first=True, norm_first=True
    ).double()
    copy_attention(ours.self_attention, twin.self_attn)
    copy_attention(ours.cross_attention, twin.multihead_attn)
    copy_parts(
        (ours.feedforward[0], twin.linear1),
        (ours.feedforward[3], twin.linear2),
        *zip(ours.norms, (twin.norm1, twin.norm2, twin.norm3), strict=True),
    )
    x, memory = vectors(rng), vectors(rng)[:, :4]
    causal = torch.ones(TOKENS, TOKENS, dtype=torch.bool).tril()
    seen = torch.tensor([[True, True, True, False], [True] * 4])
    projected = ours.cross_attention.project(memory, memory)
    output, _, _ = ours(x, projected, seen[:, None, None], mask=causal)
    expected = twin(x, memory, tgt_mask=~causal, memory_key_padding_mask=~seen)
    torch.testing.assert_close(output, expected)


def test_an_attention_only_layer_adds_what_attention_read_and_nothing_else(rng):
    ours, x = layer(feedforward_dim=0), vectors(rng)
    normed = ours.attention_norm(x)
    read, expected_weights = ours.attention(normed, normed, normed)
    output, weights = ours(x, need_weights=True)
    torch.testing.assert_close(output, x + read)
    torch.testing.assert_close(weights, expected_weights)
    names = {name.split(".")[0] for name, _ in ours.named_parameters()}
    assert names == {"attention", "attention_norm"}


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("positions", POSITIONS)
def test_the_model_is_its_parts_one_after_the_other(rng, positions, causal):
    ours, tokens = model(positions=positions, causal=causal), example_tokens(rng)
    logits, weights = ours(tokens, need_weights=True)
    assert logits.shape == (BATCH, TOKENS, VOCAB)
    assert [w.shape for w in weights] == [(BATCH, HEADS, TOKENS, TOKENS)] * LAYERS
    x, mask = ours.embedding(tokens), create_causal_mask(TOKENS) if causal else None
    if positions == "sinusoidal":
        x = x + sinusoidal_encoding(TOKENS, HIDDEN)
    elif positions == "learned":
        x = x + ours.add_positions.encoding[:TOKENS]
    for each, given in zip(ours.layers, weights, strict=True):
        assert each.attention.rotary is (positions == "rotary")
        x, expected = each(x, mask, need_weights=True)
        torch.testing.assert_close(given, expected)
    expected = ours.output_proj(ours.final_norm(x))
    torch.testing.assert_close(logits, expected)
    torch.testing.assert_close(ours(tokens), expected)
    logits.square().sum().backward()
    assert not [n for n, p in ours.named_parameters() if p.grad is None]


def test_what_stands_in_the_padding_changes_nothing(rng):
    ours, tokens = model(), example_tokens(rng)
    tokens[0, :3] = 0  # on the left, where the causal mask alone would let it be seen
    tokens[1, -2:] = 0
    real = tokens != 0
    mask = create_padding_mask(tokens)
    changed = torch.where(real, tokens, 5)
    before, after = ours(tokens, mask), ours(changed, mask)
    torch.testing.assert_close(after[real], before[real])
    without = ours(changed)
    assert (without - ours(tokens))[0][real[0]].abs().max() > 1e-3


@pytest.mark.parametrize("positions", ["rotary", None])
def test_padding_on_the_left_is_the_same_as_no_padding(rng, positions):
    ours, tokens = model(positions=positions), example_tokens(rng)
    padded = torch.cat([torch.zeros(BATCH, 3, dtype=torch.int64), tokens], dim=1)
    output = ours(padded, create_padding_mask(padded))[:, 3:]
    torch.testing.assert_close(output, ours(tokens))


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("options", [{}, {"feedforward_dim": 0, "causal": False}])
@pytest.mark.parametrize("off", [[], [5], range(LAYERS * HEADS)])
def test_a_head_that_is_off_is_a_head_whose_values_are_zero(
    rng, options, off, need_weights
):
    ours, tokens, d_head = model(**options), example_tokens(rng), HIDDEN // HEADS
    active = all_heads()
    active.view(-1)[list(off)] = False
    result = ours(tokens, need_weights=need_weights, active_heads=active)
    logits, weights = result if need_weights else (result, None)
    for layer, head in (~active).nonzero().tolist():
        assert not need_weights or not weights[layer][:, head].any()
        columns = slice(head * d_head, (head + 1) * d_head)
        ours.layers[layer].attention.output_proj.weight.data[:, columns] = 0
    torch.testing.assert_close(logits, ours(tokens))


@pytest.mark.parametrize("shape", [(0, TOKENS), (BATCH, 0), (BATCH, 1)])
def test_empty_batches_and_short_sequences_have_a_result(shape):
    logits, weights = model()(torch.ones(shape, dtype=torch.int64), need_weights=True)
    assert logits.shape == (*shape, VOCAB)
    assert len(weights) == LAYERS


def test_dropout_works_in_training_only(rng):
    ours, tokens = model(dropout=0.5), example_tokens(rng)
    torch.testing.assert_close(ours(tokens), ours(tokens))
    ours.train()
    assert (ours(tokens) - ours(tokens)).abs().max() > 1e-3


SIZES = {"vocab_size": VOCAB, "hidden_dim": HIDDEN}
SIZES |= {"num_heads": HEADS, "num_layers": LAYERS}
test_a_model_that_cannot_be_made_says_why = refuses(
    ({"vocab_size": 0}, "vocab_size must be at least 1"),
    ({"hidden_dim": 2.5}, TypeError, "hidden_dim must be a whole number"),
    ({"num_heads": 4}, "not divisible by 4"),
    ({"num_layers": 0}, "num_layers must be at least 1"),
    ({"max_len": 0}, "max_len must be at least 1"),
    ({"positions": "cosine"}, "positions must be one of"),
    ({"feedforward_dim": -1}, "feedforward_dim must be at least 0"),
    ({"dropout": 1.0}, "dropout is a probability"),
    run=lambda options: Transformer(**{**SIZES, **options}),
)

OK = torch.ones(BATCH, TOKENS, dtype=torch.int64)
X = torch.ones(BATCH, TOKENS, HIDDEN, dtype=torch.float64)
MASK = torch.ones(3, 1, 1, TOKENS, dtype=torch.bool)
test_input_that_does_not_fit_is_named = refuses(
    (lambda: model()([[1, 2]]), TypeError, "got list"),
    (lambda: model()(OK[0]), "must have 2 axes"),
    (lambda: model()(OK.repeat(1, 2)), "larger max_len"),
    (lambda: model()(OK * VOCAB), "must hold ids from 0 to 12"),
    (lambda: model()(-OK), "must hold ids from 0 to 12"),
    (lambda: model()(OK, mask=MASK.float()), TypeError, "boolean"),
    (lambda: model()(OK, mask=MASK), "broadcast"),
    (lambda: model()(OK, active_heads=[True]), TypeError, "boolean tensor"),
    (lambda: model()(OK, active_heads=all_heads().T), "one entry for each head"),
    (lambda: layer()(X[..., 1:]), "hidden_dim"),
    (lambda: layer()(X.long()), TypeError, "floating point"),
    (lambda: FeedForward(HIDDEN, 0), "width must be at least 1"),
    (lambda: SwiGLU(HIDDEN, 0), "width must be at least 1"),
)


def test_swiglu_is_the_gate_times_the_other_map(rng):
    ours = SwiGLU(HIDDEN, 17).double()
    x = vectors(rng)
    gate = x @ ours.gate_proj.weight.T
    inner = gate * torch.sigmoid(gate) * (x @ ours.up_proj.weight.T)
    torch.testing.assert_close(ours(x), inner @ ours.down_proj.weight.T)


def test_a_layer_takes_another_norm_and_another_feedforward_network(rng):
    ours = layer(feedforward_dim=17, norm=torch.nn.RMSNorm, feedforward=SwiGLU)
    x = vectors(rng)
    normed = x / (x.square().mean(-1, keepdim=True) + 2.2e-16).sqrt()
    middle = x + ours.attention(normed, normed, normed)[0]
    normed = middle / (middle.square().mean(-1, keepdim=True) + 2.2e-16).sqrt()
    torch.testing.assert_close(ours(x)[0], middle + ours.feedforward(normed))


def test_a_layer_works_without_norms(rng):
    ours = layer(feedforward_dim=0, norm=lambda width: torch.nn.Identity())
    x = vectors(rng)
    torch.testing.assert_close(ours(x)[0], x + ours.attention(x, x, x)[0])
