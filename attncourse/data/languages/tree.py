"""Abstract sentences: what is said, before any language puts it into words.

Each part that can become a word has an `id`. The English tokens of a part carry the
atoms id, id + 1, ...; a token of another language carries the atoms that it renders,
so two tokens are aligned if they share an atom.
"""

from attncourse.data.languages.lexicon import Noun

ATOMS = 4  # ids are multiples of this; no English word here has more tokens

DEFINITE = frozenset({"the", "this", "my"})


class Words:
    """The tokens of a sentence in another language, and the atoms of each."""

    def begin(self):
        """Forget the last sentence."""
        self.out = []
        self.atoms = []

    def _put(self, word, atoms=()):
        self.out.append(word)
        self.atoms.append(atoms)

    def _form(self, form, base):
        for word, parts in form:
            self._put(word, tuple([base + k for k in parts]))


class NounPhrase:
    """A noun with its determiner and modifiers.

    det is "the", "this", "my", "a", "two", "three" or "" (bare plural or mass noun).
    """

    def __init__(self, noun: Noun, plural, det, role, new_id):
        self.noun = noun
        self.plural = plural
        self.det = det
        self.role = role
        self.id = new_id()
        self.det_id = new_id()
        self.adjectives = []  # (Adjective, id)
        self.predicates = ()  # scales of the adjectives said of it elsewhere
        self.place = None
        self.relative = None
        self.partner = None  # the second noun phrase of "A and B"
        self.partner_id = 0

    def is_plural(self):
        """Say whether the verb is plural."""
        return self.plural or self.partner is not None

    def definite(self):
        """Say whether the hearer knows which one is meant."""
        return self.det in DEFINITE

    def members(self):
        """Return the phrases joined by "and"; one, if there is no "and"."""
        return (self,) if self.partner is None else (self, self.partner)

    def pronoun(self):
        """Return the English pronoun, or None where "he" or "she" is not decided."""
        if self.is_plural():
            return "they"
        return None if self.noun.pronoun == "one" else self.noun.pronoun


class Pronoun:
    """A pronoun and the noun phrase that it stands for."""

    def __init__(self, antecedent, new_id):
        self.antecedent = antecedent
        self.id = new_id()

    def is_plural(self):
        """Say whether the verb is plural."""
        return self.antecedent.is_plural()

    def definite(self):
        """Say whether the hearer knows which one is meant: always."""
        return True


class Place:
    """A preposition and a place."""

    def __init__(self, preposition, phrase, new_id):
        self.preposition = preposition
        self.phrase = phrase
        self.id = new_id()


class Relative:
    """A relative clause; `gap` says what its noun is there: subject or object."""

    def __init__(self, gap, clause, new_id):
        self.gap = gap
        self.clause = clause
        self.id = new_id()


class Clause:
    """A subject and what is said of it; without a verb, "is" and an adjective."""

    def __init__(self, new_id):
        self.id = new_id()
        self.negation_id = new_id()
        self.subject = self.verb = self.object = self.recipient = None
        self.adjective = self.adverb = self.place = self.complement = None
        self.adjective_id = self.adverb_id = self.that_id = 0
        self.negated = False
        self.blocked = frozenset()  # pronouns whose antecedent must stay the only one


class Unit:
    """A clause, alone or with a subordinate clause ("because", "when")."""

    def __init__(self, main, new_id):
        self.main = main
        self.subordinate = None
        self.conjunction = ""
        self.fronted = False
        self.id = new_id()


class Sentence:
    """Units joined by "but"."""

    def __init__(self, units, features, new_id):
        self.units = units
        self.features = features
        self.stop_id = new_id()
        self.comma_ids = [new_id() for _ in units]  # inside a unit
        self.but_ids = [new_id() for _ in units]  # "," and "but" before a unit
