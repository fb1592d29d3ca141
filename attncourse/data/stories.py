"""Writes the passages of `passages`, sentence by sentence, with their questions."""

from dataclasses import dataclass

from attncourse.data import facts


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a passage.

    Parameters
    ----------
    tokens : tuple of str
    kind : str
        "who", "what", "when" or "where".
    answer : tuple of (int, int), or None
        First and last token of the answer in the passage, both included; None if the
        passage does not say.
    reference : tuple of (int, int), or None
        (index of a word such as "she", "it" or "the machine" in the sentence with the
        answer, index of the first token of the name that it stands for), where the
        answer cannot be found without knowing whom that word means.
    """

    tokens: tuple
    kind: str
    answer: tuple | None
    reference: tuple | None


@dataclass(frozen=True, slots=True)
class Passage:
    """A text and questions about it.

    Parameters
    ----------
    tokens : tuple of str
    sentences : tuple of (int, int)
        First token of each sentence and the token after its last.
    questions : tuple of Question
    """

    tokens: tuple
    sentences: tuple
    questions: tuple


class Writer:
    """Collects tokens, sentences and questions."""

    def __init__(self):
        self.tokens = []
        self.sentences = []
        self.questions = []

    def add(self, *parts):
        """Add a sentence of words and token tuples; return the span of each tuple."""
        spans, start = [], len(self.tokens)
        for part in parts:
            if isinstance(part, str):
                self.tokens += part.split()
            else:
                spans.append((len(self.tokens), len(self.tokens) + len(part) - 1))
                self.tokens += part
        self.tokens.append(".")
        self.sentences.append((start, len(self.tokens)))
        return spans

    def ask(self, text, kind, answer, reference=None):
        """Add a question."""
        tokens = (*text.split(), "?")
        reference = reference if answer is not None else None
        self.questions.append(Question(tokens, kind, answer, reference))

    def passage(self):
        """Return the passage written so far."""
        return Passage(tuple(self.tokens), tuple(self.sentences), tuple(self.questions))


class Author:
    """Writes one passage after another."""

    def __init__(self, dice, pronouns, missing, extra):
        self.dice = dice
        self.pronouns = pronouns
        self.missing = missing
        extra = extra or {}
        self.people = tuple(extra.get("people", ()))
        self.machines = (*facts.MACHINES, *extra.get("machines", ()))
        self.places = (*facts.TOWNS, *extra.get("places", ()))

    def passage(self, blocks):
        """Write `blocks` facts, about one machine at most."""
        self.out = Writer()
        self.used_names, self.used_works, self.done = set(), set(), set()
        self.last = {}  # pronoun -> (name, where its first token stands)
        self.first_year = self.dice.between(
            facts.FIRST_YEAR, facts.LAST_YEAR - facts.SPAN
        )
        machine = blocks > 2 and self.dice.chance(0.4)
        people = blocks - 3 if machine else blocks
        first = self.dice.below(people + 1) if machine else -1
        for number in range(people + 1):
            if number == first:
                self._machine()
            if number < people:
                self._deed()
                if self.dice.chance(0.15):
                    self.out.add(self.dice.choice(facts.FILLERS))
        self._ask_in_vain()
        return self.out.passage()

    def _name(self):
        while True:
            if self.people and self.dice.chance(0.3):
                *name, pronoun = self.dice.choice(self.people)
                name = tuple(name)
            else:
                pronoun = self.dice.choice(("he", "she"))
                first = self.dice.choice(facts.MEN if pronoun == "he" else facts.WOMEN)
                name = (first, self.dice.choice(facts.SURNAMES))
            if name not in self.used_names and name[-1] not in self.used_names:
                self.used_names |= {name, name[-1]}
                return name, pronoun

    def _date(self, after=0):
        """Draw a date of this passage, later than `after` years from its start."""
        self.year = self.dice.between(after, facts.SPAN)
        year = str(self.first_year + self.year)
        draw = self.dice.uniform()
        month = self.dice.choice(facts.MONTHS)
        if draw < 0.4:
            return "in", (year,)
        if draw < 0.7:
            return "in", (month, year)
        return "on", (str(self.dice.between(1, 28)), month, year)

    def _place(self):
        place = self.dice.choice(self.places)
        return ("at" if place[0] == "the" else "in"), place

    def _work(self):
        while True:
            action = self.dice.choice(facts.ACTIONS)
            work = (self.dice.choice(facts.QUALITIES), self.dice.choice(action[3]))
            if work not in self.used_works:
                self.used_works.add(work)
                return action, work

    def _when_where(self):
        """Draw where and when, each of which may be missing, and their order."""
        where = None if self.dice.chance(self.missing) else self._place()
        when = None if self.dice.chance(self.missing) else self._date()
        early = when is not None and self.dice.chance(0.3)
        return where, when, early

    def _sentence(self, parts, where, when, early):
        """Add a sentence; return the spans of its parts, of the place and the date."""
        pieces = list(parts)
        if where:
            pieces += where
        if when and not early:
            pieces += when
        if early:
            pieces = [*when, ",", *pieces]
        spans = self.out.add(*pieces)
        when_span = None
        if early:
            when_span, *spans = spans
        elif when:
            *spans, when_span = spans
        where_span = spans.pop() if where else None
        return spans, where_span, when_span

    def _deed(self):
        dice, out = self.dice, self.out
        (past, base, participle, _), work = self._work()
        reference = None
        free = [
            p for p, (name, _) in self.last.items() if (name, base) not in self.done
        ]
        if free and dice.chance(self.pronouns):
            pronoun = dice.choice(free)
            name, where_named = self.last[pronoun]
            subject = (pronoun,)
        else:
            name, pronoun = self._name()
            subject, where_named = name, None
        self.done.add((name, base))
        where, when, early = self._when_where()
        article = "an" if work[0][0] in "aeiou" else "a"
        parts = (subject, past, (article, *work))
        spans, place, date = self._sentence(parts, where, when, early)
        start = spans[0][0]
        if where_named is None:
            self.last[pronoun] = (name, start)
            who = spans[0]
        else:
            reference = (start, where_named)
            who = (where_named, where_named + len(name) - 1)
        full, thing = " ".join(name), " ".join(work)
        by_work = dice.chance(0.5)
        passive = f"was the {thing} {participle}"
        active = f"did {full} {base} the {thing}"
        out.ask(f"who {past} the {thing}", "who", who, reference)
        out.ask(f"what did {full} {base}", "what", spans[1], reference)
        needed = None if by_work else reference
        out.ask(f"when {passive if by_work else active}", "when", date, needed)
        out.ask(f"where {passive if by_work else active}", "where", place, needed)

    def _machine(self):
        """Write about a machine in three sentences: what it was, its makers, when."""
        dice, out = self.dice, self.out
        name = (dice.choice(self.machines),)
        kind = dice.choice(facts.MACHINE_KINDS)
        (named, what) = out.add(name, "was", kind)
        text = name[0]
        out.ask(f"what was {text}", "what", what)
        first, second = self._name()[0], self._name()[0]
        makers = (*first, "and", *second) if dice.chance(0.5) else first
        self.year = 0
        tasks = [self._completed, self._unveiled]
        if dice.chance(0.5):
            tasks[dice.below(2)] = None
        for task in tasks:
            if task is not None:
                task(text, named[0])
        spans = out.add(makers, "designed", ("the", "machine"))
        self.last = {}  # the makers are no antecedents: there may be two of them
        reference = (spans[1][0], named[0])
        out.ask(f"who designed {text}", "who", spans[0], reference)
        for task, verb in zip(tasks, ("completed", "unveiled"), strict=True):
            if task is None:
                out.ask(f"when was {text} {verb}", "when", None)

    def _completed(self, text, named):
        where, when, _ = self._when_where()
        spans, place, date = self._sentence(
            (("it",), "was completed"), where, when, False
        )
        reference = (spans[0][0], named)
        self.out.ask(f"when was {text} completed", "when", date, reference)
        self.out.ask(f"where was {text} completed", "where", place, reference)

    def _unveiled(self, text, named):
        when = self._date(after=min(self.year + 1, facts.SPAN))
        parts = (("it",), "was unveiled to the public")
        spans, _, date = self._sentence(parts, None, when, False)
        reference = (spans[0][0], named)
        self.out.ask(f"when was {text} unveiled", "when", date, reference)

    def _ask_in_vain(self):
        """Ask about a work that does not occur, and about a deed of nobody here."""
        (past, base, participle, _), work = self._work()
        thing = " ".join(work)
        self.out.ask(f"who {past} the {thing}", "who", None)
        word = self.dice.choice(("when", "where"))
        self.out.ask(f"{word} was the {thing} {participle}", word, None)
        names = sorted({name for name, _ in self.done})
        if names:
            name = self.dice.choice(names)
            bases = [a[1] for a in facts.ACTIONS if (name, a[1]) not in self.done]
            base = self.dice.choice(bases)
            self.out.ask(f"what did {' '.join(name)} {base}", "what", None)
