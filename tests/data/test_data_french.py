"""French, checked against gender and forms written down a second time."""

import re
from itertools import pairwise

import pytest

from attncourse.data import translation_pairs
from tests.data.lists import read_list

LISTS = read_list("second_lists")["french"]
PLURAL, ADJECTIVES = LISTS["plural"], LISTS["adjectives"]
DETERMINERS, IN_FRONT = LISTS["determiners"], set(LISTS["in_front"].split())
MUTE_H = set(LISTS["mute_h"].split())


def plural_of_adjective(word):
    if word.endswith("eau"):
        return word + "x"
    return word if word[-1] in "sx" else word + "s"


NOUNS, FORMS = {}, {}
for gender in ("masculine", "feminine"):
    for word in LISTS[gender].split():
        NOUNS.setdefault(word, set()).add(gender[0] + "s")
        NOUNS.setdefault(PLURAL.get(word, word + "s"), set()).add(gender[0] + "p")
for base, feminine in ADJECTIVES.items():
    for form, what in (
        (base, "ms"),
        (feminine, "fs"),
        (plural_of_adjective(base), "mp"),
        (plural_of_adjective(feminine), "fp"),
    ):
        FORMS.setdefault(form, {}).setdefault(base, set()).add(what)
for form, base in LISTS["before_vowel"].items():
    FORMS[form] = {base: {"ms"}}


def vowel(word):
    return word in MUTE_H or word[0] in "aeiouéèêâîôûœ"


def noun_places(pair):
    """Return the target indices of nouns; "porte" is also a verb."""
    carry = {j for i, j in pair.alignment if pair.source[i] in ("carry", "carries")}
    return [j for j, w in enumerate(pair.target) if w in NOUNS and j not in carry]


@pytest.fixture(scope="module")
def pairs():
    return translation_pairs(2500, "french", seed=21)


def test_determiner_and_adjectives_agree_with_the_noun(pairs):
    checked = 0
    for pair in pairs:
        words = pair.target
        for i in noun_places(pair):
            word = words[i]
            if words[i - 1] == "d'" and words[i - 2] == "jus":
                continue
            possible = set(NOUNS[word])
            j = i - 1
            while words[j] in FORMS and set(FORMS[words[j]]) & IN_FRONT:
                possible &= set().union(*FORMS[words[j]].values())
                j -= 1
            assert words[j] in DETERMINERS, (words[j], words)
            possible &= set(DETERMINERS[words[j]].split())
            k = i + 1
            if word in ("machine", "machines", "pomme", "pommes", "jus"):
                k += {"à": 2, "de": 2, "d'": 2}.get(words[k], 0)
            if words[k] in FORMS and words[k] != "bon":
                possible &= set().union(*FORMS[words[k]].values())
            assert possible, words
            checked += 1
    assert checked > 8000


def test_only_the_usual_adjectives_stand_before_the_noun(pairs):
    for pair in pairs:
        words = pair.target
        for i in noun_places(pair):
            if words[i - 1] in FORMS:
                assert set(FORMS[words[i - 1]]) & IN_FRONT, words
            if words[i + 1] in FORMS and words[i + 1] != "bon":
                assert not set(FORMS[words[i + 1]]) & IN_FRONT, words


def test_words_elide_before_vowels_and_only_there(pairs):
    full = {"le", "la", "de", "ne", "que", "ma", "ce", "du", "au", "beau", "nouveau"}
    short = {"l'", "d'", "n'", "qu'", "cet", "bel", "nouvel", "vieil"}
    seen = set()
    for pair in pairs:
        for word, after in pairwise(pair.target):
            if word in full and (word, after) not in {("beau", "aujourd'hui")}:
                noun_follows = after in NOUNS
                assert not vowel(after) or (word[-3:] == "eau" and not noun_follows)
            if word in short:
                seen.add(word)
                assert vowel(after), (word, after)
    assert seen == short


def test_prepositions_contract_with_the_article(pairs):
    text = " | ".join(" ".join(p.target) for p in pairs)
    assert not re.search(r"\b(de le|à le|à les|de les) (?!l')", text)
    assert " au " in text
    assert " aux " in text


def test_ne_and_pas_embrace_the_verb_and_nothing_else(pairs):
    for pair in pairs:
        words = pair.target
        places = [i for i, w in enumerate(words) if w in ("ne", "n'")]
        assert [words[i + 2] for i in places] == ["pas"] * len(places)
        assert words.count("pas") == len(places) == pair.source.count("not")


def test_the_articles_after_pas_and_before_an_adjective_in_front(pairs):
    for pair in pairs:
        for word, after in pairwise(pair.target):
            if word == "pas":
                assert after not in ("un", "une", "des", "du")
            if word == "des":  # before an adjective it would be "de"
                assert after in NOUNS, after


def test_the_pronoun_has_the_gender_of_its_antecedent(pairs):
    seen = set()
    for pair in pairs:
        genders = {}
        for pronoun, noun in pair.antecedents:
            words = [pair.target[j] for i, j in pair.alignment if i == noun]
            gender = next(g for w in words for g in NOUNS.get(w, ()))
            genders.setdefault(pronoun, set()).add(gender[0])
        for pronoun, found in genders.items():
            (said,) = [pair.target[j] for i, j in pair.alignment if i == pronoun]
            plural = pair.source[pronoun] == "they"
            right = ("elle" if found == {"f"} else "il") + "s" * plural
            assert said == right
            seen.add(said)
    assert seen == {"il", "elle", "ils", "elles"}


def test_predicates_agree_with_pronouns(pairs):
    gender = {"il": "ms", "elle": "fs", "ils": "mp", "elles": "fp"}
    for pair in pairs:
        words = pair.target
        for i, word in enumerate(words):
            if word in gender and words[i + 1] in ("est", "sont"):
                rest = words[i + 2]
                if rest in FORMS and rest != "bon":
                    assert gender[word] in set().union(*FORMS[rest].values())
