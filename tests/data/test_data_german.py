"""German, checked against case endings and genders written down a second time."""

from itertools import pairwise

import pytest

from attncourse.data import translation_pairs
from attncourse.data.languages.lexicon import NOUNS, VERBS
from tests.data.lists import read_list

LISTS = read_list("second_lists")["german"]
GENDER = {word: gender for gender in "mfn" for word in LISTS[gender].split()}
WEAK, SAME_PLURAL = set(LISTS["weak"].split()), set(LISTS["same_plural"].split())
DIES = LISTS["dies"]
SUBORDINATORS = {"weil", "wenn", "dass"}
RELATIVES = {"der", "die", "das", "den", "dem", "denen"}


@pytest.fixture(scope="module")
def pairs():
    return translation_pairs(2500, "german", seed=22)


def verbs(pair):
    """Return the target indices of words that render an English verb or "is"."""
    english = {w for v in VERBS for f in v.english for w, _ in f} | {"is", "are"}
    english -= {"for", "at"}
    return {j for i, j in pair.alignment if pair.source[i] in english}


def test_no_noun_of_the_grammar_is_missing_from_the_second_list():
    assert {n.german["nom", False][0][0] for n in NOUNS} == set(GENDER)
    for noun in NOUNS:
        assert noun.german_gender == GENDER[noun.german["nom", False][0][0]]


def test_articles_and_adjective_endings_agree_with_the_noun(pairs):
    checked = 0
    for pair in pairs:
        words = pair.target
        for i, word in enumerate(words):
            article = DIES.get(word, word)
            ein = next((s for s in ("kein", "mein", "ein") if word.startswith(s)), None)
            if article not in RELATIVES - {"denen"} and ein is None:
                continue
            if i and words[i - 1] == "," and article == word and ein is None:
                continue  # may be a relative pronoun
            j = i + 1
            while words[j][0].islower() and j < len(words) - 1:
                j += 1
            adjectives, noun = words[i + 1 : j], words[j]
            if any(a in ("und", "aber", "nicht") for a in adjectives):
                continue
            kinds = {GENDER[noun]} if noun in GENDER else {"p"}
            if noun in SAME_PLURAL:
                kinds.add("p")
            if noun in WEAK:
                kinds |= {"m", "p"}
            table = LISTS["after_der" if ein is None else "after_ein"]
            key = article if ein is None else word.removeprefix(ein)
            allowed = [table[f"{key} {k}"] for k in kinds if f"{key} {k}" in table]
            assert allowed, (word, adjectives, noun)
            for adjective in adjectives:
                assert any(adjective.endswith(tuple(e.split())) for e in allowed), words
            checked += 1
    assert checked > 5000


def test_the_verb_ends_subordinate_clauses(pairs):
    checked = 0
    for pair in pairs:
        if "relative" in pair.features:
            continue
        words, places = pair.target, verbs(pair)
        for i, word in enumerate(words):
            if word in SUBORDINATORS:
                end = next(k for k in range(i, len(words)) if words[k] in ",.")
                assert end - 1 in places, words
                assert not places & set(range(i, end - 1))
                checked += 1
    assert checked > 400


def test_the_verb_ends_relative_clauses_between_commas(pairs):
    checked = 0
    for pair in pairs:
        words, places = pair.target, verbs(pair)
        relatives = {j for i, j in pair.alignment if pair.source[i] in ("that", "who")}
        for j in relatives:
            if words[j] == "dass":
                continue
            assert words[j] in RELATIVES
            assert words[j - 1] == ","
            end = next(k for k in range(j, len(words)) if words[k] in ",.")
            assert end - 1 in places, words
            checked += 1
    assert checked > 1000


def test_the_verb_comes_first_after_a_fronted_clause(pairs):
    checked = 0
    for pair in pairs:
        if pair.target[0] == "wenn" and not pair.features & {"relative"}:
            comma = pair.target.index(",")
            assert comma + 1 in verbs(pair)
            checked += 1
    assert checked > 50


def test_commas_never_double_nor_precede_the_full_stop_and_im_is_in_dem(pairs):
    following = [pairwise(pair.target) for pair in pairs]
    seen = set().union(*following)
    assert not {(",", ","), (",", "."), ("in", "dem")} & seen
    assert "im" in {word for word, _ in seen}


def test_kein_negates_indefinite_objects_and_nicht_the_rest(pairs):
    for pair in pairs:
        forms = [w for w in pair.target if w.startswith("kein")]
        negations = len(forms) + pair.target.count("nicht")
        assert negations == pair.source.count("not")
        text = " ".join(pair.target)
        assert "nicht ein " not in text
        assert "nicht einen " not in text


def test_prefixes_part_in_main_clauses_only(pairs):
    joined = parted = 0
    for pair in pairs:
        joined += "ansieht" in pair.target or "ansehen" in pair.target
        if "an" in pair.target:
            assert {"sieht", "sehen"} & set(pair.target)
            parted += 1
    assert joined > 20
    assert parted > 20


def test_dative_plurals_end_in_n(pairs):
    found = 0
    for pair in pairs:
        words = pair.target
        for i, word in enumerate(words[:-1]):
            if word == "denen":
                continue
            if word in ("in", "hinter", "vor") and words[i + 1] in ("den", "diesen"):
                noun = next(w for w in words[i + 2 :] if w[0].isupper())
                assert noun[-1] in "ns", noun
                found += 1
    assert found > 30


def test_animals_fressen_and_people_essen(pairs):
    animals = {"Hund", "Katze", "Vogel", "Pferd", "Maus", "Kaninchen", "Bär", "Eule"}
    animals |= {"Kuh", "Elefant", "Frosch", "Schildkröte", "Löwe"}
    for pair in pairs:
        if pair.features:
            continue
        words = pair.target
        subject = next((w for w in words if w in GENDER), None)
        if "frisst" in words:
            assert subject in animals
        if "isst" in words:
            assert subject not in animals
