"""French: adjectives after the noun, gender and number agreement, ne ... pas."""

from attncourse.data.languages.tree import Pronoun, Words

_DETERMINERS = {  # (determiner, gender), then plural
    ("the", "m"): "le",
    ("the", "f"): "la",
    ("this", "m"): "ce",
    ("this", "f"): "cette",
    ("my", "m"): "mon",
    ("my", "f"): "ma",
    ("a", "m"): "un",
    ("a", "f"): "une",
}
_PLURAL = {
    "the": "les",
    "this": "ces",
    "my": "mes",
    "": "des",
    "two": "deux",
    "three": "trois",
}
_BEFORE_VOWEL = {
    "le": "l'",
    "la": "l'",
    "ne": "n'",
    "de": "d'",
    "que": "qu'",
    "ce": "cet",
    "ma": "mon",
}
_CONTRACTED = {("de", "le"): "du", ("à", "le"): "au", ("à", "les"): "aux"}
_ASPIRATED = frozenset({"hibou", "hiboux"})
_VOWELS = frozenset("aeiouhéèêâîôûœ")


def starts_with_vowel(word):
    """Say whether "le" before this word becomes "l'": a vowel or a mute h."""
    return word[0] in _VOWELS and word not in _ASPIRATED


class French(Words):
    """Puts a sentence into French: `words` and `atoms`, one tuple for each token."""

    def words(self, sentence):
        """Return the tokens and their atoms."""
        self.begin()
        put = self._put
        for number, unit in enumerate(sentence.units):
            if number:
                put(",", (sentence.but_ids[number],))
                put("mais", (sentence.but_ids[number] + 1,))
            if unit.fronted:
                self._conjunction(unit)
                self._clause(unit.subordinate)
                put(",", (sentence.comma_ids[number],))
                self._clause(unit.main)
            else:
                self._clause(unit.main)
                if unit.subordinate is not None:
                    self._conjunction(unit)
                    self._clause(unit.subordinate)
        put(".", (sentence.stop_id,))
        return self._elide()

    def _conjunction(self, unit):
        if unit.conjunction == "because":
            self._put("parce", (unit.id,))
            self._put("que", (unit.id,))
        else:
            self._put("quand", (unit.id,))

    def _elide(self):
        """Join articles with prepositions and elide before vowels."""
        words, atoms = [], []
        last = len(self.out) - 1
        skip = False
        for i, word in enumerate(self.out):
            if skip:
                skip = False
                continue
            own = self.atoms[i]
            if word in ("de", "à") and i < last:
                joined = _CONTRACTED.get((word, self.out[i + 1]))
                elided = word == "de" or self.out[i + 1] == "le"
                if joined and not (elided and starts_with_vowel(self.out[i + 2])):
                    words.append(joined)
                    atoms.append(own + self.atoms[i + 1])
                    skip = True
                    continue
            if word in _BEFORE_VOWEL and starts_with_vowel(self.out[i + 1]):
                word = _BEFORE_VOWEL[word]
            words.append(word)
            atoms.append(own)
        return words, atoms

    def _phrase(self, phrase, without_article=()):
        """Add a noun phrase; `without_article`: atoms of "pas" for "pas de"."""
        if isinstance(phrase, Pronoun):
            antecedent = phrase.antecedent
            female = all(m.noun.french_gender == "f" for m in antecedent.members())
            word = "elle" if female else "il"
            self._put(word + "s" * antecedent.is_plural(), (phrase.id,))
            return
        noun, plural = phrase.noun, phrase.plural
        gender = noun.french_gender
        self._determiner(phrase, gender, without_article)
        before = after = None
        for pair in phrase.adjectives:
            if pair[0].french_before:
                before = pair
            else:
                after = pair
        form = noun.french[plural]
        if before is not None:
            adjective, base = before
            words = adjective.french[gender, plural]
            if (
                adjective.french_vowel
                and gender == "m"
                and not plural
                and starts_with_vowel(form[0][0])
            ):
                words = (adjective.french_vowel,)
            self._adjective(words, base)
        self._form(form, phrase.id)
        if after is not None:
            self._adjective(after[0].french[gender, plural], after[1])
        if phrase.place is not None:
            self._place(phrase.place)
        if phrase.relative is not None:
            relative = phrase.relative
            subject = relative.gap == "subject"
            self._put("qui" if subject else "que", (relative.id,))
            self._clause(relative.clause, relative.gap, phrase.is_plural())
        if phrase.partner is not None:
            self._put("et", (phrase.partner_id,))
            self._phrase(phrase.partner)

    def _determiner(self, phrase, gender, without_article):
        det, plural = phrase.det, phrase.plural
        atoms = (phrase.det_id,) if det else ()
        if without_article is not None and det in ("a", ""):
            self._put("de", atoms)
        elif det == "" and not plural:  # a mass noun
            self._put("de", ())
            self._put(_DETERMINERS["the", gender], ())
        elif det == "" and any(a.french_before for a, _ in phrase.adjectives):
            self._put("de", ())
        elif plural:
            self._put(_PLURAL[det], atoms)
        else:
            self._put(_DETERMINERS[det, gender], atoms)

    def _adjective(self, words, base):
        for word in words:
            self._put(word, (base,))

    def _place(self, place):
        self._form(place.preposition.french, place.id)
        self._phrase(place.phrase, None)

    def _clause(self, clause, gap=None, plural=False):
        subject = clause.subject
        if gap != "subject":
            self._phrase(subject, None)
            plural = subject.is_plural()
        negation = (clause.negation_id,)
        if clause.negated:
            self._put("ne", negation)
        verb = clause.verb
        if verb is None:
            self._put("sont" if plural else "est", (clause.id,))
        else:
            self._form(verb.french[plural], clause.id)
        if clause.negated:
            self._put("pas", negation)
        late = clause.adverb is not None and clause.adverb.kind == "time"
        if clause.adverb is not None and not late:
            self._form(clause.adverb.french, clause.adverb_id)
        if verb is None:
            phrase = subject.antecedent if isinstance(subject, Pronoun) else subject
            female = all(m.noun.french_gender == "f" for m in phrase.members())
            gender = "f" if female else "m"
            words = clause.adjective.french[gender, plural]
            self._adjective(words, clause.adjective_id)
            return
        if clause.object is not None:
            self._phrase(clause.object, () if clause.negated else None)
        if clause.recipient is not None:
            self._put("à", ())
            self._phrase(clause.recipient, None)
        if clause.place is not None:
            self._place(clause.place)
        if late:
            self._form(clause.adverb.french, clause.adverb_id)
        if clause.complement is not None:
            self._put("que", (clause.that_id,))
            self._clause(clause.complement)
