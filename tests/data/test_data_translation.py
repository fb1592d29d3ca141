"""Pairs, alignments, lengths and splits."""

from collections import Counter

import pytest

from attncourse.data import (
    LANGUAGES,
    Vocabulary,
    parallel_corpus,
    splits,
    translation_pairs,
)
from attncourse.data.languages.choices import held_out
from attncourse.data.languages.lexicon import ADJECTIVES, NOUNS, VERBS
from tests.refusing import refuses

FUNCTION_TEXT = """
the a an this these my two three is are does do not and but because when that who
in front of behind he she it they , .
"""
FUNCTION_WORDS = set(FUNCTION_TEXT.split())


@pytest.fixture(scope="module")
def corpus():
    return parallel_corpus(1500, seed=11)


@pytest.fixture(scope="module")
def parts():
    return splits("french", train=3000, valid=200, test=200, compositional=300, seed=5)


def test_sentences_are_different_and_the_same_in_each_language(corpus):
    sources = [[p.source for p in corpus[language]] for language in LANGUAGES]
    assert sources[0] == sources[1] == sources[2]
    assert len(set(sources[0])) == 1500


def test_all_lengths_from_4_to_40_occur_about_equally_often(corpus):
    counts = Counter(len(p.source) for p in corpus["french"])
    assert set(counts) == set(range(4, 41))
    assert min(counts.values()) > 15
    assert max(counts.values()) < 90


@pytest.mark.parametrize(("low", "high"), [(4, 4), (4, 12), (7, 7), (23, 23), (40, 40)])
def test_asked_lengths_are_kept(low, high):
    pairs = translation_pairs(60, "german", seed=2, min_len=low, max_len=high)
    assert all(low <= len(p.source) <= high for p in pairs)


@pytest.mark.parametrize("language", LANGUAGES)
def test_alignments_are_sorted_and_leave_no_content_word_out(corpus, language):
    for pair in corpus[language]:
        last = len(pair.source) - 1, len(pair.target) - 1
        assert list(pair.alignment) == sorted(set(pair.alignment))
        assert all(0 <= i <= last[0] and 0 <= j <= last[1] for i, j in pair.alignment)
        assert pair.source[-1] == pair.target[-1] == "."
        assert last in pair.alignment
        linked = {pair.source[i] for i, _ in pair.alignment}
        assert set(pair.source) - linked <= FUNCTION_WORDS


DICTIONARY = {
    "french": {
        "dog": {"chien"},
        "sleeps": {"dort"},
        "because": {"parce", "que", "qu'"},
    },
    "german": {"dog": {"Hund"}, "sleeps": {"schläft"}, "because": {"weil"}},
    "japanese": {
        "dog": {"inu"},
        "sleeps": {"nemurimasu", "nemuru"},
        "because": {"node"},
    },
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_links_agree_with_a_dictionary(corpus, language):
    seen = set()
    for pair in corpus[language]:
        for i, j in pair.alignment:
            meanings = DICTIONARY[language].get(pair.source[i])
            if meanings:
                seen.add(pair.source[i])
                assert pair.target[j] in meanings
    assert seen == {"dog", "sleeps", "because"}


@pytest.mark.parametrize(
    ("language", "source", "target"),
    [
        ("french", ["potatoes"], ["pommes", "de", "terre"]),
        ("french", ["looks", "for"], ["cherche"]),
        ("german", ["apple", "tree"], ["Apfelbaum"]),
        ("german", ["looks", "at"], ["sieht", "an"]),
        ("japanese", ["girl"], ["onna", "no", "ko"]),
    ],
)
def test_one_to_many_words_are_linked(corpus, language, source, target):
    found = 0
    for pair in corpus[language]:
        for i in range(len(pair.source)):
            if list(pair.source[i : i + len(source)]) != source:
                continue
            linked = {j for k, j in pair.alignment if i <= k < i + len(source)}
            words = [pair.target[j] for j in sorted(linked)]
            found += words == target
            assert len(words) >= min(len(source), len(target)) or language == "german"
    assert found > 3


def test_pronouns_point_back_to_a_noun_that_fits(corpus):
    singular = {form[0][-1][0]: noun for noun in NOUNS for form in [noun.english]}
    seen = Counter()
    for pair in corpus["french"]:
        for pronoun, noun in pair.antecedents:
            assert noun < pronoun
            word = pair.source[pronoun]
            seen[word] += 1
            if word in ("he", "she", "it"):
                assert singular[pair.source[noun]].pronoun == word
    assert set(seen) == {"he", "she", "it", "they"}


def test_features_say_what_the_sentence_contains(corpus):
    for pair in corpus["german"]:
        assert ("because" in pair.features) == ("because" in pair.source)
        assert ("when" in pair.features) == ("when" in pair.source)
        assert ("but" in pair.features) == ("but" in pair.source)
        assert ("negation" in pair.features) == ("not" in pair.source)
        assert ("pronoun" in pair.features) == bool(pair.antecedents)


def test_no_sentence_is_in_two_splits(parts):
    lists = (parts.train, parts.valid, parts.test, parts.compositional)
    sources = [{p.source for p in pairs} for pairs in lists]
    assert [len(s) for s in sources] == [3000, 200, 200, 300]
    for i, one in enumerate(sources):
        for other in sources[i + 1 :]:
            assert one.isdisjoint(other)


def attributes_and_objects(pair):
    """Find adjective-noun pairs and direct verb-object pairs by the English words."""
    nouns = {
        f[-1][0]: n for n in NOUNS for f in n.english if len(f) == 1 and f[0][0] != "-"
    }
    adjectives = {a.name: a for a in ADJECTIVES}
    verbs = {f[0][0]: v for v in VERBS for f in v.english if len(f) == 1}
    verbs = {word: v for word, v in verbs.items() if v.frame == "one"}
    text = " ".join(pair.source)
    for compound in ("apple tree", "cherry tree", "orange juice"):
        text = text.replace(compound, compound.replace(" ", "_"))
    words = text.replace("trees", "_").split()
    for i, word in enumerate(words[:-2]):
        if word in adjectives and words[i + 1] in nouns:
            yield adjectives[word], nouns[words[i + 1]]
        if word in verbs and words[i + 1] in ("the", "this", "these", "my", "a", "an"):
            rest = [w for w in words[i + 2 : i + 5] if w not in adjectives]
            if rest and rest[0] in nouns:
                yield verbs[word], nouns[rest[0]]


def test_the_compositional_split_has_combinations_that_training_lacks(parts):
    for pair in (*parts.train, *parts.valid, *parts.test):
        assert not any(held_out(*both) for both in attributes_and_objects(pair))
    new = sum(
        any(held_out(*both) for both in attributes_and_objects(pair))
        for pair in parts.compositional
    )
    assert new > 150  # this finder sees neither predicates nor relative clauses


def test_the_compositional_split_has_no_new_words(parts):
    for side in ("source", "target"):
        known = Vocabulary.build(getattr(p, side) for p in parts.train)
        new = {w for p in parts.compositional for w in getattr(p, side)} - {
            *known.tokens
        }
        assert len(new) <= 3 * (side == "target")  # rare forms of known words


test_what_cannot_be_drawn_is_refused = refuses(
    (lambda: translation_pairs(1, "latin"), "one of french, german"),
    (lambda: translation_pairs(-1), "n must be at least 0"),
    (lambda: translation_pairs(1, min_len=3), "between 4 and 40"),
    (lambda: translation_pairs(1, max_len=41), "between 4 and 40"),
    (lambda: translation_pairs(1, min_len=9, max_len=8), "not exceed"),
    (lambda: translation_pairs(1.5), TypeError, "n must be a whole number"),
    (
        lambda: translation_pairs(9000, min_len=4, max_len=4),
        "found only .* different ones; ask for fewer",
    ),
    (lambda: parallel_corpus(1, max_len=5, combinations="unseen"), "between 6 and 40"),
    (lambda: parallel_corpus(1, combinations="x"), "one of all, seen, unseen"),
    (lambda: splits("latin"), "language must be one of"),
    (lambda: splits(train=-1), "train must be at least 0"),
)


def test_a_partner_that_does_not_fit_is_left_out():
    # Here "and the ..." once had only nouns of two words to choose from.
    few = {"train": 10, "valid": 10, "test": 10}
    assert len(splits("french", max_len=16, **few).compositional) == 1000
