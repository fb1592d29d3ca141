"""`AttentionSeq2Seq` and `TranslationTransformer` make the same promises."""

import itertools

import pytest
import torch

from attncourse.models.decoding import beam_search, greedy_search
from attncourse.models.seq2seq import AttentionSeq2Seq, sequence_loss
from attncourse.models.translation import TranslationTransformer
from tests.refusing import generator, refuses

SOURCE_IDS, TARGET_IDS, HEADS, D_MODEL = 11, 7, 3, 12
BATCH, SOURCE, TARGET = 2, 5, 4
MODELS = ["recurrent", "transformer", "transformer, rotary"]


def make(kind, **options):
    torch.manual_seed(0)
    sizes = SOURCE_IDS, TARGET_IDS, D_MODEL, HEADS, 2
    if kind == "recurrent":
        return AttentionSeq2Seq(*sizes, **options).eval()
    if "rotary" in kind:
        options["positions"] = "rotary"
    return TranslationTransformer(*sizes, 3, 17, **options).eval()


def example(rng):
    source = torch.randint(3, SOURCE_IDS, (BATCH, SOURCE), generator=rng)
    source[0, 3:] = 0
    return source, torch.randint(2, TARGET_IDS, (BATCH, TARGET), generator=rng)


@pytest.mark.parametrize("kind", MODELS)
def test_logits_depend_on_earlier_target_ids_only(rng, kind):
    model = make(kind)
    source, target = example(rng)
    before = model(source, target)
    for now in range(TARGET):
        changed = target.clone()
        changed[:, now] = (changed[:, now] + 1) % TARGET_IDS
        after = model(source, changed)
        torch.testing.assert_close(after[:, : now + 1], before[:, : now + 1])
        if now + 1 < TARGET:
            assert (after[:, now + 1] - before[:, now + 1]).abs().max() > 1e-5


@pytest.mark.parametrize("kind", MODELS)
def test_padding_of_the_source_changes_nothing(rng, kind):
    model = make(kind)
    source, target = example(rng)
    wider = torch.cat([source, torch.zeros(BATCH, 3, dtype=torch.int64)], dim=1)
    expected = model(source, target)
    torch.testing.assert_close(model(wider, target), expected, atol=1e-6, rtol=1e-5)
    alone = model(source[:1, :3], target[:1])
    torch.testing.assert_close(alone, expected[:1], atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("kind", MODELS)
def test_every_id_of_the_source_matters(rng, kind):
    model = make(kind)
    source, target = example(rng)
    before = model(source, target)
    for place in range(SOURCE):
        changed = source.clone()
        changed[1, place] = 3 + (changed[1, place] - 2) % (SOURCE_IDS - 3)
        assert (model(changed, target) - before)[1].abs().max() > 1e-6


@pytest.mark.parametrize("kind", MODELS)
def test_all_weights_are_returned_on_request_and_sum_to_one(rng, kind):
    source, target = example(rng)
    logits, weights = make(kind)(source, target, need_weights=True)
    torch.testing.assert_close(logits, make(kind)(source, target), atol=1e-5, rtol=1e-4)
    sizes = {"encoder": (SOURCE, SOURCE), "decoder": (TARGET, TARGET)}
    for name, maps in weights.items():
        shape = (BATCH, HEADS, *sizes.get(name, (TARGET, SOURCE)))
        for layer in [maps] if isinstance(maps, torch.Tensor) else maps:
            assert layer.shape == shape
            torch.testing.assert_close(layer.sum(-1), torch.ones(shape[:-1]))
            if name != "decoder":
                assert (layer[0, ..., 3:] == 0).all()


@pytest.mark.parametrize("kind", MODELS)
def test_steps_give_what_teacher_forcing_gives(rng, kind):
    model = make(kind)
    source, target = example(rng)
    expected = model(source, target)
    state, tokens = model.start(source), torch.full((BATCH,), model.bos_idx)
    for place in range(TARGET):
        logits, state = model.step(tokens, state)
        torch.testing.assert_close(logits, expected[:, place], atol=1e-5, rtol=1e-4)
        tokens = target[:, place]


def score(model, source, ids):
    """Return the log-probability of a sentence, which ends where it first says so."""
    log_p = model(source, ids).log_softmax(-1).gather(2, ids[..., None])[..., 0]
    return log_p.sum(1)


@pytest.mark.parametrize("kind", MODELS)
def test_greedy_search_takes_the_likeliest_id_each_time(rng, kind):
    model = make(kind)
    source, _ = example(rng)
    written = greedy_search(model, source, max_len=6)
    for row, ids in zip(source, written, strict=True):
        prefix = torch.zeros(1, 0, dtype=torch.int64)
        for token in ids:
            padded = torch.cat([prefix, torch.zeros(1, 1, dtype=torch.int64)], dim=1)
            logits = model(row[None], padded)[0, -1]
            logits[0] = -torch.inf
            assert logits.argmax() == token
            prefix = torch.cat([prefix, token[None, None]], dim=1)
            if token == model.eos_idx:
                break


@pytest.mark.parametrize("kind", MODELS)
def test_a_beam_of_one_is_greedy_search(rng, kind):
    model = make(kind)
    source, _ = example(rng)
    ids, _ = beam_search(model, source, beam_size=1, max_len=6)
    assert torch.equal(ids, greedy_search(model, source, max_len=6))


@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("kind", MODELS)
def test_a_beam_that_keeps_everything_finds_the_best_sentence(rng, kind, alpha):
    model = make(kind)
    source, _ = example(rng)
    longest = 3
    found, scores = beam_search(
        model, source, beam_size=200, max_len=longest, length_penalty=alpha
    )
    words = [i for i in range(1, TARGET_IDS) if i != model.eos_idx]
    for row in range(BATCH):
        best = -torch.inf
        for length in range(1, longest + 1):
            bodies = itertools.product(words, repeat=length - 1)
            ends = [model.eos_idx, *(words if length == longest else [])]
            ids = torch.tensor([[*body, end] for body in bodies for end in ends])
            values = score(model, source[row].expand(len(ids), -1), ids)
            best = max(best, values.max().item() / length**alpha)
        assert scores[row].item() == pytest.approx(best, abs=1e-4)
        own = found[row][found[row] != 0][None]
        value = score(model, source[row : row + 1], own) / own.shape[1] ** alpha
        assert value.item() == pytest.approx(best, abs=1e-4)


@pytest.mark.parametrize("kind", MODELS)
def test_nothing_but_padding_follows_the_end(rng, kind):
    model = make(kind)
    with torch.no_grad():
        model.output.bias[model.eos_idx] += 1.5
    source = torch.randint(3, SOURCE_IDS, (20, SOURCE), generator=rng)
    for ids in (greedy_search(model, source, max_len=9), beam_search(model, source)[0]):
        for row in ids.tolist():
            if model.eos_idx in row:
                assert not any(row[row.index(model.eos_idx) + 1 :])
            assert 0 not in row[: row.index(model.eos_idx) if 2 in row else None]


@pytest.mark.parametrize("kind", MODELS)
def test_padding_of_the_target_does_not_count_in_the_loss(rng, kind):
    model = make(kind)
    source, target = example(rng)
    target[0, 2:] = 0
    loss = sequence_loss(model(source, target), target)
    wide = torch.cat([target, torch.zeros(BATCH, 3, dtype=torch.int64)], dim=1)
    torch.testing.assert_close(sequence_loss(model(source, wide), wide), loss)


def test_the_decoder_starts_from_what_the_encoder_read(rng):
    model = make("recurrent")
    source, _ = example(rng)
    *_, (hidden, _cell), _ = model.encode(source)
    assert hidden.shape == (2, BATCH, D_MODEL)
    assert (hidden[:, 0] - hidden[:, 1]).abs().max() > 1e-3


test_bad_input_is_named = refuses(
    (lambda s, t: (s + 20, t), "source must hold ids from 0 to 10"),
    (lambda s, t: (s, t + 20), "target must hold ids from 0 to 6"),
    (lambda s, t: (s.flip(1), t), "padded on the right"),
    (lambda s, t: (s * 0, t), "row 0 is empty"),
    (lambda s, t: (s, t[:1]), "the same batch size"),
    run=lambda change, kind: make(kind)(*change(*example(generator()))),
    over=MODELS,
)


@pytest.mark.parametrize("kind", MODELS[1:])
def test_more_than_max_len_is_named_on_both_sides(rng, kind):
    model = make(kind, max_len=4)
    source, _ = example(rng)
    with pytest.raises(ValueError, match="has 5 tokens"):
        model.encode(source)
    model.eos_idx = 0  # never written: the search runs into the limit
    with pytest.raises(ValueError, match=r"4 positions at most|at most 4"):
        greedy_search(model, source[1:, :4], max_len=6)


@pytest.mark.parametrize("kind", MODELS)
def test_the_order_of_the_source_counts(rng, kind):
    model = make(kind)
    source, target = (ids[1:] for ids in example(rng))
    turned = model(source.flip(1), target)
    assert (model(source, target) - turned).abs().max() > 1e-5


test_a_model_that_cannot_work_is_not_made = refuses(
    (lambda: AttentionSeq2Seq(5, 5, 7, 1), "d_model must be even"),
    (lambda: AttentionSeq2Seq(5, 5, 8, 3), "divisible by"),
    (lambda: TranslationTransformer(5, 5, 8, 3), "divisible by"),
    (
        lambda: TranslationTransformer(5, 5, 8, 2, positions="learned"),
        "positions must be one of sinusoidal",
    ),
    (lambda: TranslationTransformer(5, 0), "tgt_vocab_size must be at least 1"),
    (lambda: AttentionSeq2Seq(5, 5, dropout=1.0), "probability"),
)
