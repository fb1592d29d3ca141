"""Draws abstract sentences of a wished English length, right by construction.

A skeleton of clauses is drawn first. Then optional parts (adjectives, places, adverbs,
negation, relative clauses) are added until the length is reached; each part knows its
cost in English tokens.
"""

from attncourse.data.languages.choices import Choices
from attncourse.data.languages.draft import Draft
from attncourse.data.languages.expansion import expand
from attncourse.data.languages.skeleton import draw_skeleton
from attncourse.data.languages.tree import Sentence

SHORTEST, LONGEST = 4, 40  # English tokens, the full stop included


class Grammar:
    """Draws sentences.

    `combinations` is "all"; or "seen": never one that `held_out` names; or "unseen":
    with at least one of these.
    """

    def __init__(self, dice, combinations="all"):
        self._dice = dice
        self._unseen = combinations == "unseen"
        self._choices = Choices(seen_only=combinations == "seen")

    def sentence(self, length):
        """Draw a sentence of `length` tokens, from 4 to 40; sometimes a few fewer."""
        while True:
            draft = Draft(self._dice, self._choices, self._unseen, length - 1)
            draw_skeleton(draft)
            expand(draft)
            if draft.found_unseen or not self._unseen:
                break
        for phrase, _ in draft.phrases:
            if len(phrase.adjectives) > 1:
                phrase.adjectives.sort(key=_rank)
        return Sentence(draft.units, frozenset(draft.features), draft.new_id)


def _rank(pair):
    return pair[0].rank
