"""Queries, keys and values in one another's places: for tasks 5.2 and 5.4."""

from dataclasses import replace

from attncourse.exercises.task import Mistake

THREE_MAPS = "chapters/02_attention_types#three-maps-ask-be-found-hand-over"
ROLES = ("queries", "keys", "values")


def in_other_roles(right):
    """Return a mistake for each way in which queries, keys and values change places.

    Parameters
    ----------
    right : callable
        ``right(query, key, value, *rest, **rule)`` returns the right output.
    """
    return tuple(
        Mistake(
            "queries, keys and values exchanged",
            f"The scores compare {ROLES[one]} with {ROLES[other]}, and what is summed "
            f"are {ROLES[summed]}. A query is compared with keys, and the values are "
            "summed.",
            wrong=_exchanged(right, one, other, summed),
            read=THREE_MAPS,
        )
        for one in range(3)
        for other in range(3)
        for summed in range(3)
        if (one, other, summed) != (0, 1, 2)
    )


def _exchanged(right, *order):
    def answer(query, key, value, *rest, **rule):
        parts = query, key, value
        return right(*(parts[place] for place in order), *rest, **rule)

    return answer


def as_shown(mistakes, shown):
    """Return mistakes whose wrong answers are looked at as a check looks at answers.

    Parameters
    ----------
    mistakes : iterable of Mistake
        Those with `wrong` have an answer there.
    shown : callable
        From an answer to what a check sees of it, a function of the inputs.
    """
    return tuple(replace(m, wrong=m.wrong and shown(m.wrong)) for m in mistakes)
