"""German: verb second, verb last in subordinate clauses, cases, nicht and kein."""

from attncourse.data.languages.tree import Pronoun, Words

_CASES = ("nom", "acc", "dat")
_KINDS = ("m", "f", "n", "pl")


def _table(rows):
    return {
        (case, kind): word
        for case, row in zip(_CASES, rows, strict=True)
        for kind, word in zip(_KINDS, row.split(), strict=True)
    }


_ARTICLE = _table(("der die das die", "den die das die", "dem der dem den"))
_RELATIVE = _table(("der die das die", "den die das die", "dem der dem denen"))
_THIS = _table(
    (
        "dieser diese dieses diese",
        "diesen diese dieses diese",
        "diesem dieser diesem diesen",
    )
)
_EIN = _table(("- e - e", "en e - e", "em er em en"))  # ein, kein, mein
_WEAK = _table(("e e e en", "en e e en", "en en en en"))
_MIXED = _table(("er e es en", "en e es en", "en en en en"))
_STRONG = _table(("er e es e", "en e es e", "em er em en"))
_EIN_STEM = {"a": "ein", "my": "mein"}
_NUMBERS = {"two": "zwei", "three": "drei"}
_PRONOUNS = {"m": "er", "f": "sie", "n": "es", "pl": "sie"}
_CONJUNCTIONS = {"because": "weil", "when": "wenn"}
_EATS = {"isst": "frisst", "essen": "fressen"}


def _kind(phrase):
    return "pl" if phrase.plural else phrase.noun.german_gender


def _ein(stem, case, kind):
    ending = _EIN[case, kind]
    return stem if ending == "-" else stem + ending


class German(Words):
    """Puts a sentence into German: tokens, and one tuple of atoms for each."""

    def words(self, sentence):
        """Return the tokens and their atoms."""
        self.begin()
        self.comma_due = ()  # atoms of a comma that comes unless the sentence ends
        self.comma_waits = False
        for number, unit in enumerate(sentence.units):
            if number:
                self._comma((sentence.but_ids[number],))
                self._put("aber", (sentence.but_ids[number] + 1,))
            if unit.fronted:
                self._put(_CONJUNCTIONS[unit.conjunction], (unit.id,))
                self._clause(unit.subordinate, "final")
                self._comma((sentence.comma_ids[number],))
                self._clause(unit.main, "inverted")
            else:
                self._clause(unit.main, "second")
                if unit.subordinate is not None:
                    self._comma(())
                    self._put(_CONJUNCTIONS[unit.conjunction], (unit.id,))
                    self._clause(unit.subordinate, "final")
        self.comma_waits = False
        self._put(".", (sentence.stop_id,))
        return self.out, self.atoms

    def _comma(self, atoms):
        """Ask for a comma before the next word; two commas in a row become one."""
        self.comma_due = (self.comma_due if self.comma_waits else ()) + atoms
        self.comma_waits = True

    def _put(self, word, atoms=()):
        if self.comma_waits:
            self.comma_waits = False
            super()._put(",", self.comma_due)
        super()._put(word, atoms)

    def _phrase(self, phrase, case, negation=(), skip_article=False):
        """Add a noun phrase; `negation`: the atoms of "not" that "kein" carries."""
        if isinstance(phrase, Pronoun):
            antecedent = phrase.antecedent
            kind = "pl" if antecedent.is_plural() else _kind(antecedent)
            self._put(_PRONOUNS[kind], (phrase.id,))
            return
        kind = _kind(phrase)
        endings = self._determiner(phrase, case, kind, negation, skip_article)
        for adjective, base in phrase.adjectives:
            self._put(adjective.german_stem + endings[case, kind], (base,))
        self._form(phrase.noun.german[case, phrase.plural], phrase.id)
        if phrase.place is not None:
            self._place(phrase.place)
        if phrase.relative is not None:
            self._relative(phrase, kind)
        if phrase.partner is not None:
            self._put("und", (phrase.partner_id,))
            self._phrase(phrase.partner, case)

    def _determiner(self, phrase, case, kind, negation, skip_article):
        """Add the determiner; return the adjective endings that it calls for."""
        det = phrase.det
        if negation and det in ("a", ""):
            atoms = negation + ((phrase.det_id,) if det else ())
            self._put(_ein("kein", case, kind), atoms)
            return _MIXED
        if det in _EIN_STEM:
            self._put(_ein(_EIN_STEM[det], case, kind), (phrase.det_id,))
            return _MIXED
        if det in _NUMBERS:
            self._put(_NUMBERS[det], (phrase.det_id,))
            return _STRONG
        if det == "":
            return _STRONG
        if not skip_article:
            table = _THIS if det == "this" else _ARTICLE
            self._put(table[case, kind], (phrase.det_id,))
        return _WEAK

    def _relative(self, phrase, kind):
        relative = phrase.relative
        clause = relative.clause
        if relative.gap == "subject":
            case = "nom"
        else:
            case = "dat" if "dative" in clause.verb.flags else "acc"
        self._comma(())
        self._put(_RELATIVE[case, kind], (relative.id,))
        self._clause(clause, "final", relative.gap, phrase)
        self._comma(())

    def _place(self, place):
        phrase = place.phrase
        form = place.preposition.german
        joined = (
            form[0][0] == "in" and phrase.det == "the" and _kind(phrase) in ("m", "n")
        )
        if joined:
            self._put("im", (place.id, phrase.det_id))
        else:
            self._form(form, place.id)
        self._phrase(phrase, "dat", skip_article=joined)

    def _verb(self, clause, plural, subject):
        """Return the finite verb and its prefix as lists of (word, atoms)."""
        verb = clause.verb
        base = clause.id
        if verb is None:
            return [("sind" if plural else "ist", (base,))], []
        finite = [
            (word, tuple([base + k for k in parts]))
            for word, parts in verb.german[plural]
        ]
        if verb.name == "eat" and "animal" in subject.noun.tags:
            finite = [(_EATS[word], atoms) for word, atoms in finite]
        prefix = [
            (word, tuple([base + k for k in parts]))
            for word, parts in verb.german_prefix
        ]
        return finite, prefix

    def _clause(self, clause, order, gap=None, head=None):
        subject = head if gap == "subject" else clause.subject
        plural = subject.is_plural()
        noun_phrase = subject.antecedent if isinstance(subject, Pronoun) else subject
        finite, prefix = self._verb(clause, plural, noun_phrase)
        preposition = finite[1:]  # "auf" of "wartet auf"
        if order == "inverted":
            self._put(*finite[0])
        if gap != "subject":
            self._phrase(subject, "nom")
        if order == "second":
            self._put(*finite[0])
        self._middle(clause, preposition)
        if order == "final":
            word, atoms = finite[0]
            for part, part_atoms in reversed(prefix):
                word, atoms = part + word, part_atoms + atoms
            self._put(word, atoms)
        else:
            for part in prefix:
                self._put(*part)
        if clause.complement is not None:
            self._comma(())
            self._put("dass", (clause.that_id,))
            self._clause(clause.complement, "final")

    def _middle(self, clause, preposition):
        """Add what stands between the finite verb and the end of the clause."""
        thing = clause.object
        negation = (clause.negation_id,) if clause.negated else ()
        kein = bool(negation) and thing is not None and thing.det in ("a", "")
        if clause.adverb is not None:
            self._form(clause.adverb.german, clause.adverb_id)
        if clause.recipient is not None:
            self._phrase(clause.recipient, "dat")
        if thing is not None and not preposition:
            case = "dat" if "dative" in clause.verb.flags else "acc"
            self._phrase(thing, case, negation)
        if negation and not kein:
            self._put("nicht", negation)
        if preposition:
            self._put(*preposition[0])
            self._phrase(thing, "acc")
        if clause.place is not None:
            self._place(clause.place)
        if clause.adjective is not None:
            self._put(clause.adjective.german, (clause.adjective_id,))
