"""The recurrent encoder-decoder: what it promises, with and without attention."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from attncourse.models.recurrent import RecurrentSeq2Seq
from tests.layers.attending import score_of_pair
from tests.refusing import refuses

# Every size has its own prime, so that swapped axes cannot pass.
BATCH, SOURCE, TARGET, SRC_VOCAB, TGT_VOCAB, HIDDEN = 3, 7, 5, 13, 11, 17
KINDS = [None, "additive", "dot", "general", "concat"]


def make(attention=None, seed=0):
    torch.manual_seed(seed)
    model = RecurrentSeq2Seq(SRC_VOCAB, TGT_VOCAB, HIDDEN, attention=attention)
    return model.double().eval()


def make_source(lengths=(7, 2, 4), seed=1):
    generator = torch.Generator().manual_seed(seed)
    shape = (len(lengths), SOURCE)
    source = torch.randint(1, SRC_VOCAB, shape, generator=generator)
    return source * (torch.arange(SOURCE) < torch.tensor(lengths)[:, None])


def make_target(steps=TARGET, seed=2):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, TGT_VOCAB, (BATCH, steps), generator=generator)


def oracle(model, source, prefix):
    """Score the next id of one sequence, without padding, one GRU cell at a time."""
    encoder, decoder = _cell(model.encoder), _cell(model.decoder)
    state = torch.zeros(1, HIDDEN, dtype=torch.float64)
    states = []
    for token in source.tolist():
        state = encoder(model.source_embedding.weight[token][None], state)
        states.append(state)
    context, weights = state, None
    for token in [TGT_VOCAB, *prefix]:  # the start symbol, then what is known
        state = decoder(model.target_embedding.weight[token][None], state)
    if model.attention is not None:
        scores = torch.stack(
            [score_of_pair(model.attention, state[0], e[0]) for e in states]
        )
        weights = torch.softmax(scores, dim=0)
        context = sum(w * e for w, e in zip(weights, states, strict=True))
    combined = torch.tanh(model.combine(torch.cat([context, state], dim=-1)))
    return model.output(combined)[0], weights


def _cell(gru):
    cell = torch.nn.GRUCell(HIDDEN, HIDDEN).double()
    values = {k.removesuffix("_l0"): v for k, v in gru.state_dict().items()}
    cell.load_state_dict(values)
    return cell


@pytest.mark.parametrize("attention", KINDS)
def test_forward_equals_a_loop_over_single_sequences_and_steps(attention):
    model, source, target = make(attention), make_source(), make_target()
    logits, weights = model(source, target), None
    if attention:
        again, weights = model(source, target, need_weights=True)
        torch.testing.assert_close(again, logits)
        assert weights.shape == (BATCH, TARGET, SOURCE)
        assert not weights.transpose(1, 2)[source == 0].any()
    for row in range(BATCH):
        ids = source[row][source[row] != 0]
        for step in range(TARGET):
            expected, shares = oracle(model, ids, target[row, :step].tolist())
            torch.testing.assert_close(logits[row, step], expected)
            if attention:
                torch.testing.assert_close(weights[row, step, : len(ids)], shares)


@pytest.mark.parametrize("attention", KINDS)
def test_greedy_decoding_takes_the_likeliest_ids_of_teacher_forcing(attention):
    model, source = make(attention), make_source()
    ids = model.greedy_decode(source, TARGET)
    assert ids.shape == (BATCH, TARGET) and ids.dtype == torch.int64
    assert torch.equal(model(source, ids).argmax(-1), ids)
    if attention:
        again, weights = model.greedy_decode(source, TARGET, need_weights=True)
        assert torch.equal(again, ids)
        torch.testing.assert_close(weights, model(source, ids, need_weights=True)[1])


def test_models_with_and_without_attention_start_from_the_same_weights():
    plain, attending = make(None).state_dict(), make("additive").state_dict()
    for name, value in plain.items():
        assert torch.equal(value, attending[name])
    extra = set(attending) - set(plain)
    assert extra and all(name.startswith("attention.") for name in extra)


@pytest.mark.parametrize("attention", KINDS)
def test_every_parameter_gets_a_finite_gradient(attention):
    model = make(attention).train()
    model(make_source(), make_target()).logsumexp(-1).sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.abs().max() > 0, name


@pytest.mark.parametrize("attention", KINDS)
def test_an_empty_batch_gives_empty_results(attention):
    model, source = make(attention), make_source()
    assert model(source[:0], make_target()[:0]).shape == (0, TARGET, TGT_VOCAB)
    assert model.greedy_decode(source[:0], TARGET).shape == (0, TARGET)


def test_ids_may_be_int32():
    model, source, target = make("general"), make_source(), make_target()
    narrow = model(source.int(), target.int())
    assert torch.equal(narrow, model(source, target))
    ids = model.greedy_decode(source, TARGET)
    assert torch.equal(model.greedy_decode(source.int(), TARGET), ids)


@settings(max_examples=25, deadline=None)
@given(
    lengths=st.lists(st.integers(1, SOURCE), min_size=1, max_size=5),
    extra=st.integers(0, 4),
    attention=st.sampled_from(KINDS),
    seed=st.integers(0, 1000),
)
def test_each_row_of_a_batch_is_decoded_as_if_alone(lengths, extra, attention, seed):
    model, source = make(attention), make_source(lengths, seed)
    together = model.greedy_decode(F.pad(source, (0, extra)), 3)
    for row, length in enumerate(lengths):
        alone = model.greedy_decode(source[row : row + 1, :length], 3)
        assert torch.equal(together[row], alone[0])


SIZES = {"src_vocab_size": 13, "tgt_vocab_size": 11, "hidden_dim": 17}
test_wrong_constructor_arguments_are_named = refuses(
    ({"attention": "cosine"}, "attention must be one of None, add"),
    ({"src_vocab_size": 0}, "src_vocab_size must be at least 1"),
    ({"tgt_vocab_size": 2.5}, TypeError, "tgt_vocab_size must be a whole number"),
    ({"hidden_dim": -1}, "hidden_dim must be at least 1"),
    run=lambda arguments: RecurrentSeq2Seq(**SIZES | arguments),
)
test_wrong_sources_are_named = refuses(
    (torch.ones(3, 7), TypeError, "source must be .*float32.*long"),
    (torch.ones(7).long(), r"source must have 2 axes.*\(7,\)"),
    (torch.ones(3, 0).long(), "at least one id"),
    (torch.tensor([[1], [0], [2]]), "row 1 is empty"),
    (torch.full((3, 7), 13), "ids from 0 to 12.*13 to 13"),
    (torch.tensor([[0, 1]]), "padded on the right, but id 0"),
    run=lambda source: make("general")(source, make_target()),
)
test_wrong_targets_are_named = refuses(
    (torch.full((3, 5), 11), "target must hold ids from 0 to 10"),
    (torch.ones(2, 5).long(), r"same batch.*\(3, 7\).*\(2, 5\)"),
    run=lambda target: make("general")(make_source(), target),
)
test_wrong_options_are_named = refuses(
    (lambda m, s: m.greedy_decode(s, 0), "max_len must be at least 1"),
    (lambda m, s: m.greedy_decode(s, 5, need_weights=True), "no weights to return"),
    (lambda m, s: m(s, make_target(), need_weights=True), "no weights to return"),
    run=lambda call: call(make(), make_source()),
)
