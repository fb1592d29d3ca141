"""What the widgets of trained models are given by Python."""

import base64
from copy import deepcopy

import numpy as np
import pytest
import torch
from traitlets import TraitError

from attncourse import (
    Transformer,
    beam_search,
    greedy_search,
    recorded,
    seed_everything,
)
from attncourse.data import parallel_corpus
from attncourse.data.symbols import repeated_sequence_batch
from attncourse.data.text import SPECIALS, tokenise
from attncourse.layers.head_scores import head_scores
from attncourse.training.translation import cross_attention_of, translate
from attncourse.widgets import (
    Alignment,
    Copying,
    ForwardPass,
    Heads,
    InductionHead,
    LanguageModel,
    Reading,
    StepByStep,
    Translator,
)
from attncourse.widgets import alignment as alignment_module
from attncourse.widgets import seq2seq as seq2seq_module
from attncourse.widgets._models import LANGUAGES, weights_file, weights_script
from attncourse.widgets.translator import EXAMPLES
from tests.refusing import refuses


@pytest.fixture(scope="module")
def models():
    names = [f"translation_{name}" for name in (*LANGUAGES, "lstm")]
    loaded = {name: recorded.load_model(name) for name in names}
    return {
        name: (model, tuple(record["vocabularies"].values()))
        for name, (model, record) in loaded.items()
    }


@pytest.fixture(scope="module")
def translator():
    return Translator()


# The translator -----------------------------------------------------------------------


def test_words_have_the_ids_of_the_models(translator, models):
    for language in LANGUAGES:
        source, target = models[f"translation_{language}"][1]
        assert translator.source_words == list(source.tokens)
        assert translator.target_words[language] == list(target.tokens)


def test_completions_are_words_of_the_grammar(translator):
    known = set(translator.source_words) - set(SPECIALS)
    assert set(translator.follow) - {""} <= known
    assert all(set(words) <= known for words in translator.follow.values())
    assert "the" in translator.follow[""]
    assert "." not in translator.follow


def test_examples_are_translated_by_all_three(translator, models):
    for language in LANGUAGES:
        model, words = models[f"translation_{language}"]
        for example in EXAMPLES:
            assert not set(tokenise(example)) - set(translator.source_words)
        written = translate(model, [tokenise(e) for e in EXAMPLES], *words)
        assert all(line[-1] == "." for line in written)


test_widgets_refuse_what_they_do_not_have = refuses(
    (lambda: Translator(language="latin"), TraitError, "language"),
    (lambda: Translator(off=["cross.0.4"]), TraitError, "off|cross"),
    (lambda: Translator(temperature=0.0), TraitError, "temperature"),
    (lambda: Alignment("latin"), TraitError, "latin"),
)


def test_weights_are_sent_when_the_page_asks(translator, monkeypatch):
    sent = []
    monkeypatch.setattr(translator, "send", lambda *message: sent.append(message))
    translator._answer(translator, {"ask": "weights", "language": "german"}, [])
    assert sent == [({"weights": "german"}, [weights_file("german")])]
    translator._answer(translator, {"ask": "weights", "language": "../secret"}, [])
    assert len(sent) == 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_script_holds_the_stored_weights(language):
    script = weights_script(language)
    assert script.startswith("(window.attnWeights ??= {})." + language)
    assert base64.b64decode(script.split('"')[1]) == weights_file(language)


def test_the_page_does_not_carry_the_weights(translator):
    state = sum(len(repr(value)) for value in translator.get_state().values())
    assert state < 200_000


@torch.no_grad()
def without(model, words, sentence, *names):
    """Translate with some heads switched off."""
    cut = deepcopy(model)
    for name in names:
        place, layer, head = name.split(".")
        part = {
            "encoder": lambda i: cut.encoder[i].attention,
            "decoder": lambda i: cut.decoder[i].self_attention,
            "cross": lambda i: cut.decoder[i].cross_attention,
        }[place](int(layer))
        columns = slice(int(head) * part.d_head, (int(head) + 1) * part.d_head)
        part.output_proj.weight[:, columns] = 0
    return " ".join(translate(cut, [tokenise(sentence)], *words)[0])


def all_of(place):
    return [f"{place}.{head}" for head in range(4)]


def test_what_chapter_06_says_of_the_translators_heads(models):
    french, words = models["translation_french"]
    library = "The library is old because it is big."
    whole = "la bibliothèque est vieille parce qu' elle est grande ."
    assert without(french, words, library) == whole
    assert without(french, words, library, *all_of("encoder.0")) == whole
    for place in ("encoder.1", "decoder.0", "cross.0"):
        assert without(french, words, library, *all_of(place)) != whole
    disagreeing = without(french, words, library, "encoder.1.0").split()
    assert disagreeing[:2] == ["les", "bibliothèque"] and "vieux" in disagreeing
    repeated = without(french, words, library, "decoder.0.3").split()
    assert repeated.count("bibliothèque") > 1
    for place in ("encoder.0", "encoder.1", "decoder.0", "cross.0"):
        for name in set(all_of(place)) - {"decoder.0.3"}:
            assert without(french, words, library, name).count("biblioth") == 1
    blind = without(french, words, library, *all_of("cross.0")).split()
    assert len(blind) == 1 and blind[0] not in whole.split()
    machine = "The washing machine is not new, but it is good."
    assert "n' est pas" in without(french, words, machine)
    assert "pas" not in without(french, words, machine, *all_of("encoder.0"))


# Alignment ----------------------------------------------------------------------------


def drawn_pairs(language, module):
    count = max(module.CHOSEN) + 1
    pairs = parallel_corpus(
        count, LANGUAGES, module.SEED, 6, 13, combinations="unseen"
    )[language]
    return [pairs[i] for i in module.CHOSEN]


def test_the_maps_are_those_of_the_models(models):
    for shown in Alignment().models:
        stored, language, _ = alignment_module.MODELS[shown["name"]]
        model, words = models[stored]
        pairs = drawn_pairs(language, alignment_module)
        maps = cross_attention_of(model, pairs, *words)
        for pair, weights, found in zip(pairs, maps, shown["pairs"], strict=True):
            assert found["source"] == list(pair.source)
            assert found["target"] == list(pair.target)
            assert [tuple(link) for link in found["gold"]] == list(pair.alignment)
            difference = np.array(found["weights"]) / 1000 - weights[0]
            assert np.abs(difference).max() < 0.00051


def test_what_chapter_06_says_of_the_alignments(models):
    for name, (stored, language, _) in alignment_module.MODELS.items():
        model, words = models[stored]
        pairs = drawn_pairs(language, alignment_module)
        written = translate(model, [pair.source for pair in pairs], *words)
        assert written == [list(pair.target) for pair in pairs], name


def test_what_opens_chapter_06(models):
    nouns = {"hat": "il", "car": "elle", "book": "il", "table": "elle"}
    sentences = [f"The queen sells the black {n} because it is old." for n in nouns]
    opening = Alignment(sentences=sentences, word=8)
    (shown,) = opening.models
    for pair, pronoun in zip(shown["pairs"], nouns.values(), strict=True):
        weights = np.array(pair["weights"])[:, 8] / 1000  # (heads, source)
        assert pair["target"][8] == pronoun
        assert weights[opening.head, pair["source"].index("it")] > 0.9
        tops = np.argmax(pair["weights"][opening.head], axis=-1)
        assert tops.tolist()[:11] == [0, 1, 2, 3, 5, 4, 6, 7, 7, 8, 9]
    assert all(f">{word}</text>" in opening.still() for word in ("hat", "chapeau"))


def test_each_translator_has_words_that_look_elsewhere():
    for shown in Alignment().models:
        wrong = 0
        for pair in shown["pairs"]:
            links = {tuple(link) for link in pair["gold"]}
            linked = {t for _, t in links}
            tops = np.argmax(pair["weights"][shown["best"]], axis=-1)
            wrong += sum((s, t) not in links for t, s in enumerate(tops) if t in linked)
        assert wrong > 0, shown["name"]
        assert shown["best"] == int(np.argmin(shown["errors"]))


# Sequence to sequence -----------------------------------------------------------------


def test_steps_are_those_of_greedy_search_and_of_the_layer(models):
    model, (source_words, target_words) = models["translation_lstm"]
    for pair, case in zip(
        drawn_pairs("french", seq2seq_module), StepByStep().cases, strict=True
    ):
        source = torch.tensor([source_words.encode(pair.source, eos=True)])
        ids = greedy_search(model, source)
        words = [target_words.tokens[i] for i in ids[0].tolist()]
        assert [step["word"] for step in case["steps"]] == words
        with torch.no_grad():
            logits, maps = model(source, ids, need_weights=True)
        scores = torch.tensor([step["scores"] for step in case["steps"]]) / 1000
        weights = scores.softmax(-1).transpose(0, 1)  # (heads, steps, source)
        assert (weights - maps["cross"][0]).abs().max() < 1e-3
        top = logits[0].softmax(-1).max(-1).values
        likely = torch.tensor([step["likely"][0][1] for step in case["steps"]])
        assert (top - likely).abs().max() < 1e-4


def followed(steps, at, row):
    words = []
    for kept in reversed(steps[: at + 1]):
        row, word, _ = kept[row]
        words = [word, *words] if word else words
    return words


@pytest.mark.parametrize("size", seq2seq_module.BEAMS)
def test_the_kept_beginnings_end_as_beam_search_does(models, size):
    model, (source_words, target_words) = models["translation_lstm"]
    for case in StepByStep().cases:
        source = torch.tensor([source_words.encode(case["source"][:-1], eos=True)])
        ids, score = beam_search(model, source, beam_size=size)
        wanted = [target_words.tokens[i] for i in ids[0].tolist() if i]
        steps = case["beams"][str(size)]
        assert followed(steps, len(steps) - 1, 0) == wanted
        assert steps[-1][0][2] / 1000 / len(wanted) == pytest.approx(
            score.item(), abs=1e-3
        )


def test_what_chapter_06_says_of_the_searches():
    *plain, cold = StepByStep().cases
    for case in plain:
        assert all(step["likely"][0][1] > 0.9 for step in case["steps"])
        greedy = [step["word"] for step in case["steps"]]
        for steps in case["beams"].values():
            assert followed(steps, len(steps) - 1, 0) == greedy
    assert " ".join(cold["source"][:-1]) == "the big owl drinks cold water ."
    words = [step["word"] for step in cold["steps"]]
    doubt = words.index("du") + 1
    assert words[doubt - 2] == "boit"
    assert cold["steps"][doubt]["likely"][0][1] < 0.5
    scores = np.array(cold["steps"][doubt]["scores"])
    assert "water" in {cold["source"][i] for i in scores.argmax(-1)}
    kept = cold["beams"]["4"]
    found = followed(kept, len(kept) - 1, 0)
    assert found not in (words, [*cold["reference"], "<eos>"])
    assert words != [*cold["reference"], "<eos>"]
    greedy = sum(np.log(step["likely"][0][1]) for step in cold["steps"])
    assert kept[-1][0][2] / 1000 > greedy


# Heads --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small_model():
    seed_everything(1)
    return Transformer(27, 16, 4, 2, positions="rotary", feedforward_dim=0).eval()


def test_scores_are_those_of_the_measures(small_model):
    tokens = repeated_sequence_batch(8, 5, 5, 26, seed=3)[0]
    widget = Heads(small_model, tokens)
    with torch.no_grad():
        _, maps = small_model(tokens, need_weights=True)
    for shown, weights in zip(widget.scores, maps, strict=True):
        for name, values in head_scores(weights, tokens).items():
            assert shown[name] == pytest.approx(values.tolist(), abs=1e-4)
    assert widget.baseline["entropy"] > max(widget.scores[0]["entropy"])


test_heads_refuses_models_that_the_page_cannot_run = refuses(
    ({"positions": "learned"}, "not rotary"),
    ({"positions": "rotary", "causal": False}, "not causal"),
    ({"positions": "rotary", "norm_first": False}, "norms come last"),
    run=lambda options: Heads(
        Transformer(27, 16, 4, 1, **options), torch.ones(4, 6, dtype=torch.int64)
    ),
)


# All of them --------------------------------------------------------------------------


def test_every_widget_has_a_still_picture_with_words(small_model, translator):
    tokens = repeated_sequence_batch(4, 4, 4, 26, seed=3)[0]
    pictures = [
        (translator, ">souris</text>"),
        (Alignment(), ">machine</text>"),
        (StepByStep(), ">oiseau</text>"),
        (Heads(small_model, tokens), ">K</text>"),
        (InductionHead(small_model, tokens, text="KMT"), "“KMTKMT”"),
        (LanguageModel("She was"), "after “She was”"),
        (ForwardPass("She was", stage=3), "layer 1 looks"),
        (Copying(), "against the length"),
        (Reading(), "what was ENIAC ?"),
    ]
    for widget, words in pictures:
        still = widget.still()
        assert still.startswith("<svg") and "<title>" in still
        assert words in still
        assert repr(widget) == f"{type(widget).__name__}()"
