"""What the notebooks give to students: models, a language, a corpus."""

import pytest
import torch
from torch import nn

from attncourse import AdditiveAttention, MultiplicativeAttention
from attncourse.data import translation_tensors
from attncourse.exercises.provided import attention_patterns
from attncourse.layers.core import scaled_dot_product_attention
from attncourse.layers.masks import create_causal_mask
from attncourse.recorded import load
from tests.exercises.answering import passes, solution

GIVEN = solution("3_attention_variants").namespace()
GIVEN |= solution("4_relative_positions").namespace()
Translator, Corpus, LanguageModel = map(
    GIVEN.get, ("Translator", "Corpus", "LanguageModel")
)
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
    written = GIVEN["translate"](model, source, 6)
    best = model(source, written).argmax(dim=-1)
    for row, liked in zip(written.tolist(), best.tolist(), strict=True):
        end = row.index(2) + 1 if 2 in row else len(row)
        assert row[:end] == liked[:end]
        assert not any(row[end:])


def test_the_corpus_has_few_words_and_strangers_to_test_on():
    corpus = Corpus(words=40, max_len=8)
    assert len(corpus.source) <= 44
    train = {pair.source for pair in corpus.train}
    assert train.isdisjoint(pair.source for pair in corpus.test)
    assert min(map(len, train)) >= 4
    assert max(map(len, train)) <= 8
    _, target = translation_tensors(corpus.train[:50], corpus.source, corpus.target)
    assert (target != 3).all()  # no word of the training pairs is unknown


def attend(query, key, value, scheme, learned):
    mask = create_causal_mask(query.shape[-2])
    return scaled_dot_product_attention(query, key, value, mask)[0]


@pytest.mark.parametrize("scheme", ["none", "sinusoidal"])
def test_later_tokens_change_nothing_before_them(scheme):
    torch.manual_seed(0)
    model = LanguageModel(attend, scheme).double()
    tokens = torch.randint(1, 19, (2, 11))
    changed = tokens.clone()
    changed[:, 7:] = 1
    one, two = model(tokens), model(changed)
    torch.testing.assert_close(one[:, :7], two[:, :7])
    assert not torch.allclose(one[:, 7:], two[:, 7:])


def test_sinusoids_are_added_to_the_tokens_and_attention_is_told_none():
    told = []

    def listen(query, key, value, scheme, learned):
        told.append((scheme, learned))
        return value

    tokens = torch.full((1, 5), 3)
    same, different = (
        LanguageModel(listen, scheme)(tokens) for scheme in ("alibi", "sinusoidal")
    )
    assert told == [("alibi", None)] * 2 + [("none", None)] * 2
    torch.testing.assert_close(same[:, :1].expand_as(same), same)
    assert not torch.allclose(different[:, 0], different[:, 1])


def test_cutting_into_heads_mixes_no_tokens():
    """With attention that hands the values over, a token's output is its own."""
    model = LanguageModel(lambda q, k, v, scheme, learned: v, "none")
    tokens = torch.randint(1, 19, (2, 6))
    alone = torch.cat([model(tokens[:, i : i + 1]) for i in range(6)], dim=1)
    torch.testing.assert_close(model(tokens), alone)


def test_a_bias_that_is_a_module_is_trained_with_the_model():
    learned = torch.nn.Linear(2, 3)
    names = dict(LanguageModel(attend, "table", learned).named_parameters())
    assert {"learned.weight", "learned.bias"} <= set(names)


def test_the_recorded_runs_have_each_score_with_each_seed():
    recorded = load("variants")
    seeds = set(recorded["made"]["seeds"])
    assert len(seeds) >= 3
    for name in ("dot", "scaled dot", "general", "additive", "concat"):
        runs = [run for run in recorded["runs"] if run["name"] == name]
        assert {run["seed"] for run in runs} == seeds
        assert min(run["bleu"] for run in runs) >= 90


def test_what_reads_a_picture_is_not_looked_up_when_an_answer_has_run(monkeypatch):
    notebook = "2_attention_patterns"
    monkeypatch.setattr(attention_patterns, "shown", None)
    source = dict(solution(notebook).cells)["pictures"]
    assert passes(notebook, "pictures", source)
