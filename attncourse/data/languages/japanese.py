"""Japanese in rōmaji: verb last, particles, relative clauses before the noun."""

from attncourse.data.languages.tree import Pronoun, Words

_COUNTS = {"two": 0, "three": 1}


class Japanese(Words):
    """Puts a sentence into Japanese: tokens, and one tuple of atoms for each.

    Main clauses are polite (-masu), subordinate ones plain. A subordinate clause comes
    first. If its subject is that of the main clause, the subject is said once, before
    both. If its subject is the object of the main clause, the noun is said in the
    subordinate clause and the pronoun in the main clause.
    """

    def words(self, sentence):
        """Return the tokens and their atoms."""
        self.begin()
        for number, unit in enumerate(sentence.units):
            if number:
                self._put("ga", (sentence.but_ids[number] + 1,))
                self._put(",", (sentence.but_ids[number],))
            self._unit(unit, sentence.comma_ids[number])
        self._put(".", (sentence.stop_id,))
        return self.out, self.atoms

    def _unit(self, unit, comma_id):
        main, sub = unit.main, unit.subordinate
        if sub is None:
            self._clause(main, "polite", _topic_marker(main))
            return
        style = "node" if unit.conjunction == "because" else "toki"
        first, second = (sub, main) if unit.fronted else (main, sub)
        pronoun = second.subject if isinstance(second.subject, Pronoun) else None
        meant = pronoun.antecedent if pronoun else None
        subject = first.subject
        if meant is not None and meant is getattr(subject, "antecedent", subject):
            self._phrase(subject)
            self._put("wa")
            self._clause(sub, style, None)
            self._put(style, (unit.id,))
            self._clause(main, "polite", None)
            return
        swap = None
        if meant is not None and meant is main.object:
            swap = pronoun
        self._clause(sub, style, "ga", subject=meant if swap else None)
        self._put(style, (unit.id,))
        self._put(",", (comma_id,) if unit.fronted else ())
        self._clause(main, "polite", _topic_marker(main), thing=swap)

    def _phrase(self, phrase):
        if isinstance(phrase, Pronoun):
            self._pronoun(phrase)
            return
        noun = phrase.noun
        if phrase.relative is not None:
            self._clause(phrase.relative.clause, "plain", "ga", phrase.relative.gap)
        if phrase.place is not None:
            self._attribute_place(phrase.place)
        det = phrase.det
        counted = det in _COUNTS
        if counted:
            self._put(noun.japanese_counts[_COUNTS[det]], (phrase.det_id,))
            self._put("no")
        elif det == "this":
            self._put("kono", (phrase.det_id,))
        elif det == "my":
            self._put("watashi", (phrase.det_id,))
            self._put("no", (phrase.det_id,))
        for adjective, base in phrase.adjectives:
            self._put(adjective.japanese, (base,))
            if adjective.japanese_class == "na":
                self._put("na", (base,))
        many = phrase.plural and not counted
        self._form(noun.japanese_plural if many else noun.japanese, phrase.id)
        if phrase.partner is not None:
            self._put("to", (phrase.partner_id,))
            self._phrase(phrase.partner)

    def _pronoun(self, pronoun):
        phrase = pronoun.antecedent
        own = (pronoun.id,)
        if "person" not in phrase.noun.tags:
            self._put("sono", own)
            for word, _ in phrase.noun.japanese:
                self._put(word, own)
        elif phrase.is_plural():
            female = all(m.noun.pronoun == "she" for m in phrase.members())
            self._put("kanojotachi" if female else "karera", own)
        else:
            self._put("kanojo" if phrase.noun.pronoun == "she" else "kare", own)

    def _attribute_place(self, place):
        """Add "niwa no" (in the garden), "ie no ushiro no" (behind the house)."""
        self._phrase(place.phrase)
        for word, parts in place.preposition.japanese:
            word = "no" if word == "de" else word
            self._put(word, tuple([place.id + k for k in parts]))

    def _clause(self, clause, style, marker, gap=None, subject=None, thing=None):
        """Add a clause; `marker` is None where the subject goes without saying."""
        if marker is not None and gap != "subject":
            self._phrase(subject or clause.subject)
            self._put(marker)
        if clause.adverb is not None:
            self._form(clause.adverb.japanese, clause.adverb_id)
        if clause.place is not None:
            self._phrase(clause.place.phrase)
            self._form(clause.place.preposition.japanese, clause.place.id)
        if clause.recipient is not None:
            self._phrase(clause.recipient)
            self._put("ni")
        if clause.object is not None and gap != "object":
            self._phrase(thing or clause.object)
            self._put("o")
        if clause.complement is not None:
            self._complement(clause)
        if clause.verb is None:
            self._state(clause, style)
        else:
            self._verb(clause, style)

    def _complement(self, clause):
        inner = clause.complement
        style = "koto" if "koto" in clause.verb.flags else "to"
        if isinstance(inner.subject, Pronoun):
            word = "jibuntachi" if inner.subject.is_plural() else "jibun"
            self._put(word, (inner.subject.id,))
            self._put("ga")
            self._clause(inner, style, None)
        else:
            self._clause(inner, style, "ga")
        self._put(style, (clause.that_id,))
        if style == "koto":
            self._put("o")

    def _verb(self, clause, style):
        if style == "polite":
            key = "masen" if clause.negated else "masu"
        else:
            key = "negative" if clause.negated else "plain"
        self._form(clause.verb.japanese[key], clause.id)
        if clause.negated:
            self.atoms[-1] += (clause.negation_id,)

    def _state(self, clause, style):
        adjective, own = clause.adjective, (clause.adjective_id,)
        word, polite = adjective.japanese, style == "polite"
        copula, negation = (clause.id,), (clause.negation_id,)
        if adjective.japanese_class == "i":
            if clause.negated:
                stem = "yo" if word == "ii" else word[:-1]
                self._put(stem + "kunai", own + negation)
            else:
                self._put(word, own)
            if polite:
                self._put("desu", copula)
            return
        self._put(word, own)
        if clause.negated:
            self._put("dewa")
            self._put("arimasen" if polite else "nai", copula + negation)
        elif polite:
            self._put("desu", copula)
        else:
            self._put("da" if style == "to" else "na", copula)


def _topic_marker(clause):
    return "wa" if clause.subject.definite() else "ga"
