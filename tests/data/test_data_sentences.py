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


CASES = {
    "gender, number and the place of adjectives": (
        lambda: say(phrase("a", "old", "hotel"), adjective="quiet"),
        "An old hotel is quiet.",
        "Un vieil hôtel est calme.",
        "Ein altes Hotel ist ruhig.",
        "Furui hoteru ga shizuka desu.",
    ),
    "no article after a negation": (
        lambda: say(the("man"), "buy", phrase("a", "red", "hat"), negated=True),
        "The man does not buy a red hat.",
        "L'homme n'achète pas de chapeau rouge.",
        "Der Mann kauft keinen roten Hut.",
        "Otoko no hito wa akai bōshi o kaimasen.",
    ),
    "two objects": (
        lambda: say(
            the("woman"), "give", phrase("a", "apple"), to=the("child", plural=True)
        ),
        "The woman gives the children an apple.",
        "La femme donne une pomme aux enfants.",
        "Die Frau gibt den Kindern einen Apfel.",
        "Onna no hito wa kodomo tachi ni ringo o agemasu.",
    ),
    "a mass noun and an animal that eats": (
        lambda: say(the("mouse"), "eat", phrase("", "cheese")),
        "The mouse eats cheese.",
        "La souris mange du fromage.",
        "Die Maus frisst Käse.",
        "Nezumi wa chīzu o tabemasu.",
    ),
    "elision of the partitive": (
        lambda: say(the("king"), "drink", phrase("", "water")),
        "The king drinks water.",
        "Le roi boit de l'eau.",
        "Der König trinkt Wasser.",
        "Ōsama wa mizu o nomimasu.",
    ),
    "an aspirated h": (
        lambda: say(the("beautiful", "owl"), "sleep"),
        "The beautiful owl sleeps.",
        "Le beau hibou dort.",
        "Die schöne Eule schläft.",
        "Utsukushii fukurō wa nemurimasu.",
    ),
    "a dative verb in a relative clause, weak nouns": (
        lambda: say(
            relative(the("boy"), "object", clause(the("student"), "help")),
            *("see", the("lion")),
            negated=True,
        ),
        "The boy that the student helps does not see the lion.",
        "Le garçon que l'étudiant aide ne voit pas le lion.",
        "Der Junge, dem der Student hilft, sieht den Löwen nicht.",
        "Gakusei ga tasukeru otoko no ko wa raion o mimasen.",
    ),
    "a prefix that parts, time before place": (
        lambda: say(
            phrase("my", "friend"), "look at", the("garden"), adverb=choices.EVERY_DAY
        ),
        "My friend looks at the garden every day.",
        "Mon ami regarde le jardin tous les jours.",
        "Mein Freund sieht jeden Tag den Garten an.",
        "Watashi no tomodachi wa mainichi niwa o nagamemasu.",
    ),
    "place": (
        lambda: say(
            phrase("two", "cat", plural=True),
            "play",
            place=("in front of", the("cherry tree")),
        ),
        "Two cats play in front of the cherry tree.",
        "Deux chats jouent devant le cerisier.",
        "Zwei Katzen spielen vor dem Kirschbaum.",
        "Nihiki no neko ga sakura no ki no mae de asobimasu.",
    ),
    "an object as antecedent": (
        because_it_is_tall,
        "The girl draws the apple trees because they are beautiful.",
        "La fille dessine les pommiers parce qu'ils sont beaux.",
        "Das Mädchen zeichnet die Apfelbäume, weil sie schön sind.",
        "Ringo no ki ga utsukushii node, onna no ko wa sono ringo no ki o egakimasu.",
    ),
    "a fronted clause whose subject goes on": (
        when_it_waits,
        "When this dog waits for the bear, it sleeps.",
        "Quand ce chien attend l'ours, il dort.",
        "Wenn dieser Hund auf den Bären wartet, schläft er.",
        "Kono inu wa kuma o matsu toki nemurimasu.",
    ),
    "a complement about the subject": (
        knows_that,
        "The queen knows that she is busy.",
        "La reine sait qu'elle est occupée.",
        "Die Königin weiß, dass sie beschäftigt ist.",
        "Joō wa jibun ga isogashii koto o shitte imasu.",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_sentences_are_those_of_a_teacher(name):
    make, english, french, german, japanese = CASES[name]
    sentence = Sentence([make()], frozenset(), new_id)
    assert English().words(sentence) == tokenise(english)
    assert French().words(sentence)[0] == tokenise(french)
    assert German().words(sentence)[0] == tokenise(german)
    assert Japanese().words(sentence)[0] == tokenise(japanese)
