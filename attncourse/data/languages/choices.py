"""Which words go together, so that sentences make sense."""

from attncourse.data.languages.lexicon import ADJECTIVES, ADVERBS, NOUNS, VERBS

TYPES = frozenset({"person", "animal", "thing", "food", "drink", "place"})
ACTS = frozenset({"person", "animal"})

FREQUENCY = tuple(word for word in ADVERBS if word.kind == "often")
TODAY, EVERY_DAY = (word for word in ADVERBS if word.kind == "time")
PERSONS = tuple(n for n in NOUNS if "person" in n.tags)
SEE = next(v for v in VERBS if v.name == "see")  # one token, any acting subject
PASSING = frozenset({"happy", "busy", "kind"})  # states that can come and go

PLACES = {
    "in": tuple(n for n in NOUNS if "in" in n.tags and "pool" not in n.tags),
    "at": tuple(n for n in NOUNS if "at" in n.tags),
    "pool": tuple(n for n in NOUNS if "pool" in n.tags),
}
BY_FRAME = {
    frame: tuple(v for v in VERBS if v.frame == frame)
    for frame in ("none", "one", "two", "that")
}


def can_do(noun, verb):
    """Say whether the noun can be the subject of the verb."""
    return not noun.tags.isdisjoint(verb.subjects)


def can_suffer(noun, verb):
    """Say whether the noun can be the object of the verb."""
    return not noun.tags.isdisjoint(verb.objects)


def held_out(first, second):
    """Say whether a combination belongs to the compositional split: one in ten.

    The first word is an adjective and the second the noun that it describes, or a verb
    and its object.
    """
    return (7 * first.number + 3 * second.number) % 10 == 0


class Choices:
    """Tables of what fits with what.

    With `seen_only`, the combinations that `held_out` names are left out.
    """

    def __init__(self, seen_only=False):
        def known(first, noun):
            return not (seen_only and held_out(first, noun))

        self.subjects = {v: tuple(n for n in NOUNS if can_do(n, v)) for v in VERBS}
        self.objects = {
            v: tuple(n for n in NOUNS if can_suffer(n, v) and known(v, n))
            for v in VERBS
        }
        self.adjectives = {
            n: tuple(a for a in ADJECTIVES if a.tags & n.tags and known(a, n))
            for n in NOUNS
        }
        short = [v for v in VERBS if v.frame in ("none", "one")]
        self.does = {n: tuple(v for v in short if can_do(n, v)) for n in NOUNS}
        self.suffers = {  # verbs for "the book that the girl reads"
            n: tuple(
                v
                for v in BY_FRAME["one"]
                if can_suffer(n, v) and known(v, n) and v.name != "wait for"
            )
            for n in NOUNS
        }
