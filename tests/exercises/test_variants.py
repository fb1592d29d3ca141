"""The translator of exercise 3, its corpus, and the clock that its checks bring."""

import pytest
import torch
from torch import nn

from attncourse import AdditiveAttention, MultiplicativeAttention
from attncourse.data import translation_tensors
from attncourse.exercises.variants import Translator, small_corpus
from attncourse.exercises.variants.formulas import additive, fill
from attncourse.exercises.variants.machine import CALLS, Machine, compare
from attncourse.recorded import load

SIZES, WIDTH = (13, 17), 8


def translator(seed=0, make=lambda: AdditiveAttention(WIDTH, WIDTH, 5)):
    torch.manual_seed(seed)
    return Translator(*SIZES, WIDTH, make).eval()


@pytest.fixture
def source():
    return torch.tensor([[4, 5, 6, 7, 2], [8, 9, 2, 0, 0]])


def test_translators_of_one_seed_start_alike_whatever_their_attention():
    one = translator().state_dict()
    other = translator(make=lambda: MultiplicativeAttention(WIDTH, WIDTH, "dot"))
    shared = other.state_dict()
    assert shared
    assert all(torch.equal(one[name], value) for name, value in shared.items())


def test_padding_changes_nothing(source):
    model, target = translator(), torch.tensor([[5, 6, 2]])
    alone = model(source[1:, :3], target)
    padded, weights = model(source[1:], target, need_weights=True)
    torch.testing.assert_close(alone, padded)
    assert (weights[..., 3:] == 0).all()


def test_the_source_reaches_the_decoder_through_attention_alone(source):
    class Blind(nn.Module):
        def forward(self, memory, states, mask):
            return torch.zeros_like(states), None

    model, target = translator(make=Blind), torch.tensor([[5, 6, 2], [5, 6, 2]])
    logits = model(source, target)
    assert torch.equal(logits[0], logits[1])


def test_greedy_decoding_writes_what_forward_likes_best(source):
    model = translator()
    written = model.greedy_decode(source, 6, end_idx=2)
    best = model(source, written).argmax(dim=-1)
    for row, liked in zip(written.tolist(), best.tolist(), strict=True):
        end = row.index(2) + 1 if 2 in row else len(row)
        assert row[:end] == liked[:end]
        assert not any(row[end:])


def test_the_corpus_has_few_words_and_strangers_to_test_on():
    corpus = small_corpus(words=40, max_len=8)
    assert len(corpus.source) <= 44
    train = {pair.source for pair in corpus.train}
    assert train.isdisjoint(pair.source for pair in corpus.test)
    assert min(map(len, train)) >= 4
    assert max(map(len, train)) <= 8
    _, target = translation_tensors(corpus.train[:50], corpus.source, corpus.target)
    assert (target != 3).all()  # no word of the training pairs is unknown


def test_weights_find_the_parameters_of_their_shape_turned_or_not():
    class Own(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Parameter(torch.zeros(3, 2))
            self.b = nn.Linear(5, 2, bias=False)
            self.c = nn.Linear(2, 1, bias=False)

        def forward(self, query, key):
            hidden = (query @ self.a)[:, :, None] + self.b(key)[:, None]
            return self.c(hidden.tanh()).squeeze(-1)

    weights = [torch.randn(2, 3), torch.randn(2, 5), torch.randn(2)]
    query, key = torch.randn(1, 2, 3), torch.randn(1, 4, 5)
    module = Own()
    assert fill(module, weights) == ""
    torch.testing.assert_close(module(query, key), additive(query, key, *weights))
    assert "none of shape (7,)" in fill(Own(), [*weights, torch.randn(7)])
    assert "one of shape (1, 2)" in fill(Own(), weights[:2])


def test_on_a_quiet_machine_the_ratios_are_those_of_the_costs():
    machine = Machine({"a": 2.0, "b": 3.0}, busy=[1.0])
    found = compare(machine, rounds=3)
    assert found.pop(CALLS)
    assert found == {"a": [1.0] * 3, "b": [1.5] * 3}


def test_the_recorded_runs_have_each_score_with_each_seed():
    recorded = load("variants")
    seeds = set(recorded["made"]["seeds"])
    assert len(seeds) >= 3
    for name in ("dot", "scaled dot", "general", "additive", "concat"):
        runs = [run for run in recorded["runs"] if run["name"] == name]
        assert {run["seed"] for run in runs} == seeds
        assert min(run["bleu"] for run in runs) >= 90
