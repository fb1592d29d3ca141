"""English: the source of every pair."""

from attncourse.data.languages.tree import Pronoun

_VOWELS = tuple("aeiou")


class English:
    """Puts a sentence into English.

    After `words(sentence)`, `where` maps each atom to its token index and `pronouns`
    lists (token index of the pronoun, antecedent noun phrase).
    """

    def words(self, sentence):
        """Return the tokens."""
        self.out = []
        self.where = {}
        self.pronouns = []
        for number, unit in enumerate(sentence.units):
            if number:
                self._put(",", sentence.but_ids[number])
                self._put("but", sentence.but_ids[number] + 1)
            if unit.fronted:
                self._put("when", unit.id)
                self._clause(unit.subordinate)
                self._put(",", sentence.comma_ids[number])
                self._clause(unit.main)
            else:
                self._clause(unit.main)
                if unit.subordinate is not None:
                    self._put(unit.conjunction, unit.id)
                    self._clause(unit.subordinate)
        self._put(".", sentence.stop_id)
        return self.out

    def _put(self, word, atom):
        self.where[atom] = len(self.out)
        self.out.append(word)

    def _form(self, form, base):
        for word, parts in form:
            self._put(word, base + parts[0])

    def _phrase(self, phrase):
        if isinstance(phrase, Pronoun):
            self.pronouns.append((len(self.out), phrase.antecedent))
            self._put(phrase.antecedent.pronoun(), phrase.id)
            return
        det = phrase.det
        if det == "this" and phrase.plural:
            det = "these"
        slot = len(self.out)
        if det:
            self._put(det, phrase.det_id)
        for adjective, base in phrase.adjectives:
            self._put(adjective.name, base)
        self._form(phrase.noun.english[phrase.plural], phrase.id)
        if det == "a" and self.out[slot + 1].startswith(_VOWELS):
            self.out[slot] = "an"
        if phrase.place is not None:
            self._place(phrase.place)
        if phrase.relative is not None:
            self._relative(phrase)
        if phrase.partner is not None:
            self._put("and", phrase.partner_id)
            self._phrase(phrase.partner)

    def _place(self, place):
        self._form(place.preposition.english, place.id)
        self._phrase(place.phrase)

    def _relative(self, phrase):
        relative = phrase.relative
        who = relative.gap == "subject" and "person" in phrase.noun.tags
        self._put("who" if who else "that", relative.id)
        self._clause(relative.clause, relative.gap, phrase.is_plural())

    def _clause(self, clause, gap=None, plural=False):
        if gap != "subject":
            self._phrase(clause.subject)
            plural = clause.subject.is_plural()
        verb = clause.verb
        if verb is None:
            self._put("are" if plural else "is", clause.id)
            if clause.negated:
                self._put("not", clause.negation_id)
            if clause.adverb is not None:
                self._form(clause.adverb.english, clause.adverb_id)
            self._put(clause.adjective.name, clause.adjective_id)
            return
        if clause.negated:
            self.out.append("do" if plural else "does")
            self._put("not", clause.negation_id)
        late = clause.adverb is not None and clause.adverb.kind == "time"
        if clause.adverb is not None and not late:
            self._form(clause.adverb.english, clause.adverb_id)
        self._form(verb.english[plural or clause.negated], clause.id)
        if clause.recipient is not None:
            self._phrase(clause.recipient)
        if clause.object is not None:
            self._phrase(clause.object)
        if clause.place is not None:
            self._place(clause.place)
        if late:
            self._form(clause.adverb.english, clause.adverb_id)
        if clause.complement is not None:
            self._put("that", clause.that_id)
            self._clause(clause.complement)
