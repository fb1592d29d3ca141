"""The skeleton of a sentence: its clauses, with subjects, verbs and objects."""

from attncourse.data.languages.choices import BY_FRAME, PERSONS, SEE, can_do
from attncourse.data.languages.lexicon import NOUNS
from attncourse.data.languages.tree import Clause, Pronoun, Unit

_NEEDS = {"none": 0, "one": 2, "two": 4}  # tokens of the shortest objects


def draw_skeleton(draft):
    """Draw the units of a sentence of at most `draft.left` tokens."""
    dice, left = draft.dice, draft.left
    if left < 8:
        count = 1
    elif left < 12:
        count = 1 + dice.chance(0.6)
    elif left < 28:
        count = 2 + (left > 16 and dice.chance(0.5))
    else:
        count = 3 + dice.chance(0.6)
    if count == 1 or (count == 2 and dice.chance(0.8)):
        draft.units.append(draw_unit(draft, count, left))
        return
    draft.left -= 2  # ", but"
    first = 1 if count == 2 else 1 + (count == 4 or dice.chance(0.5))
    share = (left - 2) * first // count
    draft.units.append(draw_unit(draft, first, share))
    after = draft.units[0].main if first == 1 else None
    draft.units.append(draw_unit(draft, count - first, left - 2 - share, after))
    draft.features.add("but")


def draw_unit(draft, clauses, room, after=None):
    """Draw a unit of at most `room` tokens; `after` is the clause before "but"."""
    if clauses == 1:
        return Unit(draw_clause(draft, room, referent(draft, after, 0.5)), draft.new_id)
    kind = draft.dice.choice(("because", "because", "when", "fronted", "that"))
    if kind == "that":
        return Unit(_that_clause(draft, room, after), draft.new_id)
    connector = 2 if kind == "fronted" else 1
    draft.left -= connector
    first_room = (room - connector + 1) // 2
    place = "when" if kind == "fronted" else "main"
    first = draw_clause(draft, first_room, referent(draft, after, 0.4), place)
    again = referent(draft, first, 0.75 if kind == "because" else 0.5)
    place = "when" if kind == "when" else "main"
    second = draw_clause(draft, room - connector - first_room, again, place, 0.5)
    unit = Unit(first, draft.new_id)
    unit.subordinate = second
    unit.conjunction = "because" if kind == "because" else "when"
    if kind == "fronted":
        unit.main, unit.subordinate, unit.fronted = second, first, True
    draft.features.add(unit.conjunction)
    return unit


def referent(draft, clause, probability):
    """Choose whom a pronoun after `clause` can mean beyond doubt, or None.

    The subject, if no object answers to the same pronoun; or the object, if nothing
    else does, and then nothing that would is added to the clause later.
    """
    if clause is None or not draft.dice.chance(probability):
        return None
    subject, thing = clause.subject, clause.object
    phrase = subject.antecedent if isinstance(subject, Pronoun) else subject
    others = [p for p in (thing, clause.recipient) if p is not None]
    if any(p.partner is not None for p in others) or clause.complement:
        return None
    own = _pronouns(phrase)
    words = [_pronouns(p) for p in others]
    choices = []
    if (
        phrase.pronoun()
        and subject.definite()
        and all(own.isdisjoint(w) for w in words)
        and (phrase.partner is None or "person" in phrase.noun.tags)
    ):
        choices.append(phrase)
    only = len(others) == 1 and thing is not None and own.isdisjoint(words[0])
    if only and thing.pronoun() and thing.det:
        choices.append(thing)
    choices = [p for p in choices if draft.predicates_for(p)]
    if not choices:
        return None
    chosen = draft.dice.choice(choices)
    if chosen is thing:
        clause.blocked = words[0]
    return chosen


def _pronouns(phrase):
    """Return the pronouns that a noun phrase could answer to."""
    word = phrase.pronoun()
    return frozenset({word} if word else {"he", "she"})


def _that_clause(draft, room, after):
    dice = draft.dice
    clause = Clause(draft.new_id)
    clause.verb = dice.choice(BY_FRAME["that"])
    known = referent(draft, after, 0.4)
    if known is not None and "person" not in known.noun.tags:
        known = None
    draft.subject(clause, known, PERSONS, 2)
    draft.left -= 2  # the verb and "that"
    draft.clauses.append((clause, "main"))
    subject = clause.subject
    phrase = subject.antecedent if isinstance(subject, Pronoun) else subject
    same = phrase.pronoun() and subject.definite() and dice.chance(0.4)
    clause.complement = draw_clause(draft, room - 4, phrase if same else None)
    clause.that_id = draft.new_id()
    draft.features.add("that")
    return clause


def draw_clause(draft, room, known=None, place="main", state=0.2):
    """Draw a clause of at most `room` tokens; its subject is `known`, if given.

    `place` is "main" or "when"; `state` the probability of "is" with an adjective.
    """
    dice = draft.dice
    own = 1 if known is not None else 2
    thing = known is not None and known.noun.tags.isdisjoint(("person", "animal"))
    fits = own + 2 <= room and (known is None or draft.predicates_for(known))
    if thing or (fits and dice.chance(state)):
        return _state(draft, room, known, place)
    clause = Clause(draft.new_id)
    frames = ["none"]
    if room >= own + 3:
        frames += ["one"] * (4 if room >= own + 4 else 2)
    if room >= own + 5:
        frames += ["two"] * 2
    clause.verb = verb = _verb(draft, dice.choice(frames), known, room - own)
    cost = len(verb.english[0])
    draft.left -= cost
    spare = room - cost - _NEEDS[verb.frame] - own
    spare -= draft.subject(clause, known, draft.choices.subjects[verb], spare)
    if verb.frame == "two":
        draft.recipient(clause)
    if verb.frame != "none":
        draft.object(clause, spare)
    draft.clauses.append((clause, place))
    return clause


def _verb(draft, frame, known, room):
    verbs = BY_FRAME[frame]
    if known is not None:
        verbs = [v for v in verbs if can_do(known.noun, v)]
        if not verbs:
            verbs = [v for v in BY_FRAME["none"] if can_do(known.noun, v)]
    verb = draft.unused_verb(verbs)
    return SEE if len(verb.english[0]) > 1 and room < 4 else verb


def _state(draft, room, known, place):
    """Draw a clause with "is" and an adjective."""
    clause = Clause(draft.new_id)
    draft.subject(clause, known, NOUNS, room - 4, definite=True)
    phrase = clause.subject if known is None else known
    adjective = draft.adjective(draft.predicates_for(phrase), phrase.noun)
    phrase.predicates += (adjective.scale,)
    clause.adjective, clause.adjective_id = adjective, draft.new_id()
    draft.left -= 2
    draft.clauses.append((clause, place))
    return clause
