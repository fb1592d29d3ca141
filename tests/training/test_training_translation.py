"""Batches, translations and alignments of the models that translate."""

from unittest.mock import Mock

import numpy as np
import pytest
import torch

from attncourse import AttentionSeq2Seq, RecurrentSeq2Seq, TranslationTransformer
from attncourse.data import Vocabulary, translation_pairs
from attncourse.training.translation import (
    cross_attention_of,
    translate,
    translation_batches,
)


@pytest.fixture(scope="module")
def pairs():
    return translation_pairs(23, "french", seed=0, min_len=4, max_len=12)


@pytest.fixture(scope="module")
def words(pairs):
    source = Vocabulary.build(p.source for p in pairs)
    return source, Vocabulary.build(p.target for p in pairs)


def models(words):
    torch.manual_seed(0)
    sizes = len(words[0]), len(words[1])
    yield AttentionSeq2Seq(*sizes, 12, 3)
    yield TranslationTransformer(*sizes, 12, 3, 1, 2, 16)
    yield RecurrentSeq2Seq(*sizes, 12, attention="dot")


def test_one_round_of_batches_holds_each_pair_once(pairs, words):
    batch_of = translation_batches(pairs, *words, size=5, seed=1)
    rounds = [
        [batch_of(5 * number + step)[0] for step in range(5)] for number in (0, 1)
    ]
    wanted = sorted(tuple(words[0].encode(p.source, eos=True)) for p in pairs)
    for batches in rounds:
        rows = [tuple(i for i in row if i) for b in batches for row in b.tolist()]
        assert sorted(rows) == wanted
    shapes = [[tuple(b.shape) for b in batches] for batches in rounds]
    assert shapes[0] != shapes[1]  # another order


def test_a_batch_depends_on_the_step_alone(pairs, words):
    batch_of = translation_batches(pairs, *words, size=5, seed=1)
    first = batch_of(2)
    batch_of(9)
    for before, after in zip(first, batch_of(2), strict=True):
        assert torch.equal(before, after)


def test_batches_need_pairs(words):
    with pytest.raises(ValueError, match="at least one sentence pair"):
        translation_batches([], *words, size=5)


def test_translations_come_in_the_order_of_the_sentences(pairs, words):
    sentences = [p.source for p in pairs[:7]]
    for model in models(words):
        together = translate(model, sentences, *words, batch_size=3)
        alone = [translate(model, [s], *words, max_len=40)[0] for s in sentences]
        for ours, single in zip(together, alone, strict=True):
            assert ours == single[: len(ours)]


def test_every_model_stops_when_all_sentences_have_ended(words, monkeypatch):
    for model in models(words):
        step = Mock(wraps=model.step)
        monkeypatch.setattr(model, "step", step)
        model.output.bias.data[model.eos_idx] += 1000
        for beam_size in (1, 3):
            found = translate(model, [["the"], ["a"]], *words, beam_size=beam_size)
            assert found == [[], []]
        assert step.call_count == 1 + 2


def test_what_cannot_be_translated_is_refused(words):
    first, *_ = models(words)
    with pytest.raises(ValueError, match="at least one token"):
        translate(first, [["the"], []], *words)
    with pytest.raises(TypeError, match="tokenise"):
        translate(first, ["the cat"], *words)


def test_maps_have_the_sizes_of_their_pairs(pairs, words):
    shapes = [(1, 3), (2, 3), (1, 1)]
    for model, (layers, heads) in zip(models(words), shapes, strict=True):
        maps = cross_attention_of(model, pairs, *words, batch_size=6)
        for matrix, pair in zip(maps, pairs, strict=True):
            assert matrix.shape == (layers, heads, len(pair.target), len(pair.source))
            assert (matrix.sum(-1) <= 1 + 1e-5).all()
        alone = cross_attention_of(model, pairs[-1:], *words)[0]
        np.testing.assert_allclose(maps[-1], alone, atol=1e-5)
