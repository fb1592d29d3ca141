"""Optional parts of a sentence: each function adds one if it can, and says so."""

from attncourse.data.languages.choices import (
    ACTS,
    EVERY_DAY,
    FREQUENCY,
    PASSING,
    TODAY,
    can_suffer,
)
from attncourse.data.languages.draft import is_blocked
from attncourse.data.languages.skeleton import draw_clause
from attncourse.data.languages.tree import Clause, Pronoun, Relative, Unit

_MISSES = 40


def expand(draft):
    """Add parts until no token is left."""
    dice, misses = draft.dice, 0
    while draft.left > 0 and misses < _MISSES:
        add, of_clause = dice.choice(_STEPS)
        part, context = dice.choice(draft.clauses if of_clause else draft.phrases)
        misses = 0 if add(draft, part, context) else misses + 1
    if draft.left > 0:
        _fill(draft)


def _fill(draft):
    """Spend what is left wherever something still fits; at last add a clause."""
    for add, of_clause in (*_STEPS, *_STEPS):
        for part, context in list(draft.clauses if of_clause else draft.phrases):
            if draft.left > 0:
                add(draft, part, context)
    if draft.left >= 5:
        draft.left -= 2
        draft.features.add("but")
        draft.units.append(Unit(draw_clause(draft, draft.left), draft.new_id))
        expand(draft)


def add_adjective(draft, phrase, _):
    """Describe the noun; two adjectives at most, one on each side in French."""
    if len(phrase.adjectives) > 1:
        return False
    if phrase.adjectives and draft.dice.chance(0.6):
        return False
    options = draft.attributes_for(phrase)
    if not options:
        return False
    adjective = draft.adjective(options, phrase.noun)
    phrase.adjectives.append((adjective, draft.new_id()))
    draft.left -= 1
    return True


def add_adverb(draft, clause, place):
    """Add often, always, today or every day."""
    if clause.adverb is not None:
        return False
    options = []
    verb, subject = clause.verb, clause.subject
    if not clause.negated and not getattr(subject, "relative", None):
        options += FREQUENCY
    if verb is None:
        phrase = subject.antecedent if isinstance(subject, Pronoun) else subject
        if "person" not in phrase.noun.tags or clause.adjective.name not in PASSING:
            return False
    elif "state" in verb.flags:
        return False
    elif place == "main" and not (clause.object is not None and clause.object.relative):
        options.append(TODAY)
        if not clause.negated and draft.left > 1:
            options += (EVERY_DAY, EVERY_DAY)
    if not options:
        return False
    clause.adverb, clause.adverb_id = draft.dice.choice(options), draft.new_id()
    draft.left -= len(clause.adverb.english)
    return True


def add_negation(draft, clause, place):
    """Negate the clause, where all four languages agree on what is negated."""
    if clause.negated or (place == "relative" and draft.dice.chance(0.6)):
        return False
    cost = 1 if clause.verb is None else 2
    subject, adverb, thing = clause.subject, clause.adverb, clause.object
    if (
        draft.left < cost
        or (subject is not None and not subject.definite())
        or (adverb is not None and adverb is not TODAY)
        or clause.complement is not None
    ):
        return False
    if thing is not None and (
        thing.det in ("two", "three")
        or thing.partner
        or thing.relative
        or (clause.blocked and not thing.definite())  # "no apple, because it is red"
    ):
        return False
    clause.negated = True
    draft.left -= cost
    draft.features.add("negation")
    return True


def add_place(draft, clause, place):
    """Say where it happens."""
    verb, thing = clause.verb, clause.object
    if (
        verb is None
        or clause.place is not None
        or place == "relative"
        or verb.flags.isdisjoint(("at", "pool"))
        or (thing is not None and (thing.relative or "place" in thing.noun.tags))
    ):
        return False
    clause.place = draft.place(clause, "pool" in verb.flags)
    return clause.place is not None


def add_noun_place(draft, phrase, clause):
    """Say where the subject is: "the dog in the garden"."""
    if (
        phrase.role not in ("subject", "topic")
        or phrase.det != "the"
        or phrase.partner
        or phrase.place
        or phrase.relative
        or phrase.noun.tags.isdisjoint(ACTS)
    ):
        return False
    phrase.place = draft.place(clause)
    return phrase.place is not None


def add_relative(draft, phrase, clause):
    """Add a relative clause, where nothing after it could be taken as part of it."""
    if (
        draft.left < 2
        or phrase.role not in ("subject", "topic", "object", "definite")
        or phrase.relative
        or phrase.place
        or phrase.partner
        or phrase.det == "my"
    ):
        return False
    adverb = clause.adverb
    if clause.object is phrase:
        if (
            clause.place is not None
            or clause.negated
            or clause.verb.frame == "two"
            or clause.verb.german_prefix
            or (adverb is not None and adverb.kind == "time")
        ):
            return False
    elif adverb is not None and adverb.kind == "often":
        return False
    acts = not phrase.noun.tags.isdisjoint(ACTS)
    if draft.left >= 4 and (not acts or draft.dice.chance(0.5)):
        return _object_relative(draft, phrase, clause.blocked)
    return acts and _subject_relative(draft, phrase, clause.blocked)


def _relative(draft, phrase, gap, verb, blocked):
    clause = Clause(draft.new_id)
    clause.verb, clause.blocked = verb, blocked
    draft.left -= 1 + len(verb.english[0])
    phrase.relative = Relative(gap, clause, draft.new_id)
    draft.clauses.append((clause, "relative"))
    draft.features.add("relative")
    return clause


def _subject_relative(draft, phrase, blocked):
    """Add "that sleeps" or "that sees the cat"."""
    room = draft.left - 1
    verbs = [
        v
        for v in draft.choices.does[phrase.noun]
        if v.frame == "none" or (len(v.english[0]) + 2 <= room and not blocked)
    ]
    verb = draft.unused_verb(verbs)
    clause = _relative(draft, phrase, "subject", verb, blocked)
    if verb.frame == "one":
        nouns = [n for n in draft.choices.objects[verb] if n is not phrase.noun]
        role = "inner object" if "bare" in verb.flags else "inner"
        clause.object = draft.phrase(nouns, role, draft.left, clause)
        draft.note(verb, clause.object.noun)
    return True


def _object_relative(draft, phrase, blocked):
    """Add "that the girl reads"."""
    noun = phrase.noun
    verbs = [
        v for v in draft.choices.suffers[noun] if len(v.english[0]) + 3 <= draft.left
    ]
    if not verbs:
        return False
    verb = draft.unused_verb(verbs)
    doers = [
        n
        for n in draft.choices.subjects[verb]
        if n is not noun and not is_blocked(n, blocked)
    ]
    if not doers or not can_suffer(noun, verb):
        return False
    clause = _relative(draft, phrase, "object", verb, blocked)
    clause.subject = draft.phrase(doers, "inner", draft.left, clause)
    draft.note(verb, noun)
    return True


_STEPS = (  # (what to add, does it belong to a clause); repeated: more often
    (add_adjective, False),
    (add_adjective, False),
    (add_adjective, False),
    (add_adverb, True),
    (add_negation, True),
    (add_negation, True),
    (add_place, True),
    (add_place, True),
    (add_relative, False),
    (add_relative, False),
    (add_relative, False),
    (add_noun_place, False),
)
