"""A sentence in the making: what is left to spend, and how noun phrases are drawn."""

from attncourse.data.languages.choices import PERSONS, PLACES, TYPES, held_out
from attncourse.data.languages.lexicon import PREPOSITIONS
from attncourse.data.languages.tree import ATOMS, NounPhrase, Place, Pronoun


class Draft:
    """The state of one sentence while it is drawn.

    There are `left` English tokens to spend; with `seek_unseen`, combinations that
    `held_out` names are preferred.
    """

    def __init__(self, dice, choices, seek_unseen, left):
        self.dice = dice
        self.choices = choices
        self.seek_unseen = seek_unseen
        self.left = left
        self.found_unseen = False
        self.units = []
        self.clauses = []  # (clause, "main", "when" or "relative")
        self.phrases = []  # (noun phrase, its clause)
        self.features = set()
        self.used_nouns = set()
        self.used_verbs = set()
        self._last_id = -ATOMS

    def new_id(self):
        """Return the id of the next part."""
        self._last_id += ATOMS
        return self._last_id

    def note(self, first, noun):
        """Remember whether an unseen combination has been used."""
        if held_out(first, noun):
            self.found_unseen = True

    def unused_verb(self, verbs):
        """Choose a verb, if possible one that the sentence does not have yet."""
        verb = self.dice.choice(verbs)
        if verb in self.used_verbs:
            unused = [v for v in verbs if v not in self.used_verbs]
            verb = self.dice.choice(unused or verbs)
        self.used_verbs.add(verb)
        return verb

    def phrase(self, nouns, role, room, clause):
        """Draw a noun phrase of at most `room` tokens and pay for it."""
        dice = self.dice
        noun = dice.choice(nouns)
        blocked, used = clause.blocked, self.used_nouns
        if blocked or noun in used or (room < 3 and len(noun.english[0]) > 1):
            fitting = [
                n
                for n in nouns
                if len(n.english[0]) < room and not is_blocked(n, blocked)
            ]
            noun = dice.choice([n for n in fitting if n not in used] or fitting)
        used.add(noun)
        many = 0.1 if role == "place" else 0.3
        plural = not noun.mass and "they" not in blocked and dice.chance(many)
        det = self._determiner(noun, role, plural)
        if det == "my" and "single" in noun.tags:
            plural = False
        phrase = NounPhrase(noun, plural, det, role, self.new_id)
        self.left -= len(noun.english[plural]) + (det != "")
        self.phrases.append((phrase, clause))
        return phrase

    def _determiner(self, noun, role, plural):
        draw = self.dice.uniform()
        if role == "partner":
            return "the"
        if draw < 0.13 and "my" in noun.tags:
            return "my"
        if draw < 0.2:
            return "this"
        if role in ("subject", "object"):
            if draw < 0.26 and plural and noun.japanese_counts:
                return "two" if draw < 0.23 else "three"
            if draw < 0.35 and not plural and not noun.mass:
                return "a"
        if draw < 0.55 and role in ("object", "inner object"):
            return "" if plural or noun.mass else "a"
        return "the"

    def subject(self, clause, referent, nouns, spare, definite=False):
        """Set the subject; return the tokens spent beyond the plan of one or two."""
        if referent is not None:
            clause.subject = Pronoun(referent, self.new_id)
            self.left -= 1
            self.features.add("pronoun")
            return 0
        before = self.left
        role = "topic" if definite else "subject"
        clause.subject = self.phrase(nouns, role, 2 + max(0, spare), clause)
        if not definite and self._may_join(clause.subject, spare, 0.12):
            self._join(clause.subject, nouns, clause)
        return before - self.left - 2

    def object(self, clause, spare):
        """Set the object; it may take `spare` tokens more than two."""
        verb = clause.verb
        nouns = self.choices.objects[verb]
        if self.seek_unseen and self.dice.chance(0.5):
            fitting = (n for n in nouns if len(n.english[0]) < 2 + spare)
            nouns = tuple(n for n in fitting if held_out(verb, n)) or nouns
        role = "object" if "bare" in verb.flags or verb.frame == "two" else "definite"
        clause.object = thing = self.phrase(nouns, role, 2 + spare, clause)
        self.note(verb, thing.noun)
        if self._may_join(thing, spare, 0.08):
            self._join(thing, nouns, clause)

    def recipient(self, clause):
        """Set the person to whom something is given."""
        clause.recipient = self.phrase(PERSONS, "recipient", 2, clause)

    def _may_join(self, phrase, spare, probability):
        return spare >= 4 and phrase.det == "the" and self.dice.chance(probability)

    def _join(self, phrase, nouns, clause):
        """Add "and the ..." with a noun of the same type."""
        types = phrase.noun.tags & TYPES
        options = [n for n in nouns if n.tags & types and n is not phrase.noun]
        blocked = clause.blocked
        if any(len(n.english[0]) < 2 and not is_blocked(n, blocked) for n in options):
            phrase.partner = self.phrase(options, "partner", 2, clause)
            phrase.partner_id = self.new_id()
            self.left -= 1
            self.features.add("and")
            if clause.verb is not None and phrase is clause.object:
                self.note(clause.verb, phrase.partner.noun)

    def place(self, clause, pool=False):
        """Draw a preposition and a place, or return None if there is no room."""
        if "it" in clause.blocked:
            return None
        preposition = PREPOSITIONS[0] if pool else self.dice.choice(PREPOSITIONS)
        room = self.left - len(preposition.english)
        if room < (3 if pool else 2):
            return None
        self.left -= len(preposition.english)
        nouns = PLACES["pool" if pool else preposition.kind]
        phrase = self.phrase(nouns, "place", room, clause)
        return Place(preposition, phrase, self.new_id)

    def attributes_for(self, phrase):
        """Return the adjectives that can still be put to the noun."""
        used = phrase.predicates
        sides = [a.french_before for a, _ in phrase.adjectives]
        return [
            a
            for a in self.choices.adjectives[phrase.noun]
            if a.scale not in used and a.french_before not in sides
        ]

    def predicates_for(self, phrase):
        """Return the adjectives that can be said of the noun with "is"."""
        used = phrase.predicates + tuple(a.scale for a, _ in phrase.adjectives)
        return [
            a
            for a in self.choices.adjectives[phrase.noun]
            if a.scale not in used and a.name != "new"
        ]

    def adjective(self, options, noun):
        """Choose one of the adjectives for the noun."""
        if self.seek_unseen and self.dice.chance(0.5):
            options = [a for a in options if held_out(a, noun)] or options
        adjective = self.dice.choice(options)
        self.note(adjective, noun)
        return adjective


def is_blocked(noun, blocked):
    """Say whether a noun could be mistaken for the antecedent of a pronoun."""
    if noun.pronoun == "one":
        return "he" in blocked or "she" in blocked
    return noun.pronoun in blocked
