"""Whole sentences, built by hand and compared with what a teacher would write."""

from functools import partial
from itertools import count

import pytest

from attncourse.data.languages import choices, lexicon
from attncourse.data.languages.english import English
from attncourse.data.languages.french import French
from attncourse.data.languages.german import German
from attncourse.data.languages.japanese import Japanese
from attncourse.data.languages.tree import (
    Clause,
    NounPhrase,
    Place,
    Pronoun,
    Relative,
    Sentence,
    Unit,
)
from attncourse.data.text import tokenise
from tests.data.lists import read_list

SENTENCES = read_list("sentences")  # what a teacher would write
NOUNS = {n.name: n for n in lexicon.NOUNS}
VERBS = {v.name: v for v in lexicon.VERBS}
ADJECTIVES = {a.name: a for a in lexicon.ADJECTIVES}
IDS = count(0, 4)


def new_id():
    return next(IDS)


def phrase(det, *words, plural=False):
    *adjectives, noun = words
    made = NounPhrase(NOUNS[noun], plural, det, "", new_id)
    made.adjectives = [(ADJECTIVES[a], new_id()) for a in adjectives]
    return made


the = partial(phrase, "the")


def clause(subject, verb=None, thing=None, *, to=None, negated=False, **more):
    """Make a clause; `more`: an adjective, an adverb, (preposition, place)."""
    made = Clause(new_id)
    made.subject, made.object, made.recipient = subject, thing, to
    made.verb = VERBS[verb] if verb else None
    made.negated = negated
    if "adjective" in more:
        made.adjective, made.adjective_id = ADJECTIVES[more["adjective"]], new_id()
    if "adverb" in more:
        made.adverb, made.adverb_id = more["adverb"], new_id()
    if "place" in more:
        preposition, place = more["place"]
        word = next(p for p in lexicon.PREPOSITIONS if p.name == preposition)
        made.place = Place(word, place, new_id)
    return made


def say(*parts, **more):
    return Unit(clause(*parts, **more), new_id)


def relative(noun_phrase, gap, inner):
    noun_phrase.relative = Relative(gap, inner, new_id)
    return noun_phrase


def because_it_is_tall():
    trees = the("apple tree", plural=True)
    made = say(the("girl"), "draw", trees)
    made.conjunction = "because"
    made.subordinate = clause(Pronoun(trees, new_id), adjective="beautiful")
    return made


def when_it_waits():
    dog = phrase("this", "dog")
    first = clause(dog, "wait for", the("bear"))
    made = say(Pronoun(dog, new_id), "sleep")
    made.conjunction, made.subordinate, made.fronted = "when", first, True
    return made


def knows_that():
    queen = the("queen")
    made = say(queen, "know")
    made.main.complement = clause(Pronoun(queen, new_id), adjective="busy")
    made.main.that_id = new_id()
    return made


MADE = {
    "gender, number and the place of adjectives": lambda: say(
        phrase("a", "old", "hotel"), adjective="quiet"
    ),
    "no article after a negation": lambda: say(
        the("man"), "buy", phrase("a", "red", "hat"), negated=True
    ),
    "two objects": lambda: say(
        the("woman"), "give", phrase("a", "apple"), to=the("child", plural=True)
    ),
    "a mass noun and an animal that eats": lambda: say(
        the("mouse"), "eat", phrase("", "cheese")
    ),
    "elision of the partitive": lambda: say(the("king"), "drink", phrase("", "water")),
    "an aspirated h": lambda: say(the("beautiful", "owl"), "sleep"),
    "a dative verb in a relative clause, weak nouns": lambda: say(
        relative(the("boy"), "object", clause(the("student"), "help")),
        *("see", the("lion")),
        negated=True,
    ),
    "a prefix that parts, time before place": lambda: say(
        phrase("my", "friend"), "look at", the("garden"), adverb=choices.EVERY_DAY
    ),
    "place": lambda: say(
        phrase("two", "cat", plural=True),
        "play",
        place=("in front of", the("cherry tree")),
    ),
    "an object as antecedent": because_it_is_tall,
    "a fronted clause whose subject goes on": when_it_waits,
    "a complement about the subject": knows_that,
}


@pytest.mark.parametrize("name", SENTENCES)
def test_sentences_are_those_of_a_teacher(name):
    sentence = Sentence([MADE[name]()], frozenset(), new_id)
    wanted = {language: tokenise(text) for language, text in SENTENCES[name].items()}
    assert English().words(sentence) == wanted["english"]
    assert French().words(sentence)[0] == wanted["french"]
    assert German().words(sentence)[0] == wanted["german"]
    assert Japanese().words(sentence)[0] == wanted["japanese"]
