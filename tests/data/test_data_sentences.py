"""Whole sentences, built by hand and compared with what a teacher would write."""

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


def clause(subject, verb=None, thing=None, *, to=None, adjective=None, negated=False):
    made = Clause(new_id)
    made.subject, made.object, made.recipient = subject, thing, to
    made.verb = VERBS[verb] if verb else None
    made.negated = negated
    if adjective:
        made.adjective, made.adjective_id = ADJECTIVES[adjective], new_id()
    return made


def unit(main, conjunction="", subordinate=None, fronted=False):
    made = Unit(main, new_id)
    made.conjunction, made.subordinate, made.fronted = conjunction, subordinate, fronted
    return made


def relative(noun_phrase, gap, inner):
    noun_phrase.relative = Relative(gap, inner, new_id)
    return noun_phrase


def at(made, preposition, place):
    word = next(p for p in lexicon.PREPOSITIONS if p.name == preposition)
    made.place = Place(word, place, new_id)
    return made


def adverb(made, word):
    made.adverb, made.adverb_id = word, new_id()
    return made


def because_it_is_tall():
    trees = phrase("the", "apple tree", plural=True)
    main = clause(phrase("the", "girl"), "draw", trees)
    return unit(main, "because", clause(Pronoun(trees, new_id), adjective="beautiful"))


def when_it_waits():
    dog = phrase("this", "dog")
    first = clause(dog, "wait for", phrase("the", "bear"))
    return unit(clause(Pronoun(dog, new_id), "sleep"), "when", first, fronted=True)


def knows_that():
    queen = phrase("the", "queen")
    made = clause(queen, "know")
    made.complement = clause(Pronoun(queen, new_id), adjective="busy")
    made.that_id = new_id()
    return unit(made)


CASES = {
    "gender, number and the place of adjectives": (
        lambda: [unit(clause(phrase("a", "old", "hotel"), adjective="quiet"))],
        "An old hotel is quiet.",
        "Un vieil hôtel est calme.",
        "Ein altes Hotel ist ruhig.",
        "Furui hoteru ga shizuka desu.",
    ),
    "no article after a negation": (
        lambda: [
            unit(
                clause(
                    phrase("the", "man"), "buy", phrase("a", "red", "hat"), negated=True
                )
            )
        ],
        "The man does not buy a red hat.",
        "L'homme n'achète pas de chapeau rouge.",
        "Der Mann kauft keinen roten Hut.",
        "Otoko no hito wa akai bōshi o kaimasen.",
    ),
    "two objects": (
        lambda: [
            unit(
                clause(
                    phrase("the", "woman"),
                    "give",
                    phrase("a", "apple"),
                    to=phrase("the", "child", plural=True),
                )
            )
        ],
        "The woman gives the children an apple.",
        "La femme donne une pomme aux enfants.",
        "Die Frau gibt den Kindern einen Apfel.",
        "Onna no hito wa kodomo tachi ni ringo o agemasu.",
    ),
    "a mass noun and an animal that eats": (
        lambda: [unit(clause(phrase("the", "mouse"), "eat", phrase("", "cheese")))],
        "The mouse eats cheese.",
        "La souris mange du fromage.",
        "Die Maus frisst Käse.",
        "Nezumi wa chīzu o tabemasu.",
    ),
    "elision of the partitive": (
        lambda: [unit(clause(phrase("the", "king"), "drink", phrase("", "water")))],
        "The king drinks water.",
        "Le roi boit de l'eau.",
        "Der König trinkt Wasser.",
        "Ōsama wa mizu o nomimasu.",
    ),
    "a dative verb in a relative clause, weak nouns": (
        lambda: [
            unit(
                clause(
                    relative(
                        phrase("the", "boy"),
                        "object",
                        clause(phrase("the", "student"), "help"),
                    ),
                    "see",
                    phrase("the", "lion"),
                    negated=True,
                )
            )
        ],
        "The boy that the student helps does not see the lion.",
        "Le garçon que l'étudiant aide ne voit pas le lion.",
        "Der Junge, dem der Student hilft, sieht den Löwen nicht.",
        "Gakusei ga tasukeru otoko no ko wa raion o mimasen.",
    ),
    "a prefix that parts, time before place": (
        lambda: [
            unit(
                adverb(
                    clause(phrase("my", "friend"), "look at", phrase("the", "garden")),
                    choices.EVERY_DAY,
                )
            )
        ],
        "My friend looks at the garden every day.",
        "Mon ami regarde le jardin tous les jours.",
        "Mein Freund sieht jeden Tag den Garten an.",
        "Watashi no tomodachi wa mainichi niwa o nagamemasu.",
    ),
    "place": (
        lambda: [
            unit(
                at(
                    clause(phrase("two", "cat", plural=True), "play"),
                    "in front of",
                    phrase("the", "cherry tree"),
                )
            )
        ],
        "Two cats play in front of the cherry tree.",
        "Deux chats jouent devant le cerisier.",
        "Zwei Katzen spielen vor dem Kirschbaum.",
        "Nihiki no neko ga sakura no ki no mae de asobimasu.",
    ),
    "an object as antecedent": (
        lambda: [because_it_is_tall()],
        "The girl draws the apple trees because they are beautiful.",
        "La fille dessine les pommiers parce qu'ils sont beaux.",
        "Das Mädchen zeichnet die Apfelbäume, weil sie schön sind.",
        "Ringo no ki ga utsukushii node, onna no ko wa sono ringo no ki o egakimasu.",
    ),
    "a fronted clause whose subject goes on": (
        lambda: [when_it_waits()],
        "When this dog waits for the bear, it sleeps.",
        "Quand ce chien attend l'ours, il dort.",
        "Wenn dieser Hund auf den Bären wartet, schläft er.",
        "Kono inu wa kuma o matsu toki nemurimasu.",
    ),
    "a complement about the subject": (
        lambda: [knows_that()],
        "The queen knows that she is busy.",
        "La reine sait qu'elle est occupée.",
        "Die Königin weiß, dass sie beschäftigt ist.",
        "Joō wa jibun ga isogashii koto o shitte imasu.",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_sentences_are_those_of_a_teacher(name):
    make, english, french, german, japanese = CASES[name]
    sentence = Sentence(make(), frozenset(), new_id)
    assert English().words(sentence) == tokenise(english)
    assert French().words(sentence)[0] == tokenise(french)
    assert German().words(sentence)[0] == tokenise(german)
    assert Japanese().words(sentence)[0] == tokenise(japanese)


def test_french_counts_the_owl_among_words_with_an_aspirated_h():
    sentence = Sentence(
        [unit(clause(phrase("the", "beautiful", "owl"), "sleep"))], frozenset(), new_id
    )
    assert French().words(sentence)[0] == tokenise("Le beau hibou dort.")
