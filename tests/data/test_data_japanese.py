"""Japanese: verb last, particles, relative clauses before the noun."""

import pytest

from attncourse.data import translation_pairs
from attncourse.data.languages.lexicon import VERBS

POLITE = ("masu", "masen", "desu")
VERB_WORDS = {w for v in VERBS for f in v.english for w, _ in f} - {"for", "at"}


@pytest.fixture(scope="module")
def pairs():
    return translation_pairs(2500, "japanese", seed=23)


def test_main_clauses_are_polite_and_subordinate_ones_plain(pairs):
    for pair in pairs:
        words = pair.target
        buts = pair.source.count("but")
        polite = [i for i, w in enumerate(words) if w.endswith(POLITE)]
        assert len(polite) == buts + 1, words
        assert polite[-1] == len(words) - 2  # before the full stop
        for i, word in enumerate(words):
            if word in ("node", "toki"):
                assert not words[i - 1].endswith(POLITE)


def test_the_verb_follows_its_object_and_precedes_it_in_english(pairs):
    checked = 0
    for pair in pairs:
        if pair.features:
            continue
        source = [i for i, w in enumerate(pair.source) if w in VERB_WORDS]
        if not source:
            continue
        target = max(j for i, j in pair.alignment if i in source)
        assert target == len(pair.target) - 2
        checked += 1
    assert checked > 50


def test_relative_clauses_come_before_their_noun(pairs):
    checked = 0
    for pair in pairs:
        words = pair.source
        for i, word in enumerate(words[:-2]):
            if word == "who" and words[i + 1] in VERB_WORDS:
                noun = [j for k, j in pair.alignment if k == i - 1]
                verb = [j for k, j in pair.alignment if k == i + 1]
                if noun and verb:
                    assert max(verb) < min(noun), pair
                    checked += 1
    assert checked > 300


def test_a_subordinate_clause_comes_before_the_verb_of_its_main_clause(pairs):
    for pair in pairs:
        for i, word in enumerate(pair.source):
            if word in ("because", "when"):
                (place,) = [j for k, j in pair.alignment if k == i]
                assert pair.target[place] == {"because": "node", "when": "toki"}[word]
                assert any(w.endswith(POLITE) for w in pair.target[place:])


def test_pronouns_of_the_same_subject_are_left_out(pairs):
    dropped = said = 0
    for pair in pairs:
        linked = {i for i, _ in pair.alignment}
        for pronoun in {p for p, _ in pair.antecedents}:
            if pronoun in linked:
                said += 1
            else:
                dropped += 1
                assert pair.features & {"because", "when"}
    assert dropped > 100
    assert said > 100


def test_negation_is_part_of_the_last_word_of_the_verb(pairs):
    for pair in pairs:
        for i, word in enumerate(pair.source):
            if word == "not":
                (place,) = [j for k, j in pair.alignment if k == i]
                assert pair.target[place].endswith(("masen", "nai"))


def test_only_roman_letters_with_macrons_are_used(pairs):
    letters = set("abcdefghijklmnopqrstuvwxyzāīūēō.,")
    assert {c for p in pairs for w in p.target for c in w} <= letters
