"""Passages with questions (who, what, when, where) and answers as token spans.

The passages are fiction: names, works and dates are combined at random. Only
`eniac_passage` states facts.
"""

from dataclasses import dataclass
from typing import Any

from attncourse._checks import positive_int
from attncourse.data._random import Dice, Seed, check_range, check_share
from attncourse.data.stories import Author, Passage, Writer

KINDS = ("who", "what", "when", "where")


@dataclass(frozen=True, slots=True)
class QAExample:
    """One passage with one question.

    Parameters
    ----------
    context, question : tuple of str
        Their tokens.
    kind, answer, reference
        As in `Question`.
    """

    context: tuple[str, ...]
    question: tuple[str, ...]
    kind: str
    answer: tuple[int, int] | None
    reference: tuple[int, int] | None

    def answer_tokens(self) -> tuple[str, ...]:
        """Return the tokens of the answer; an empty tuple if there is none."""
        if self.answer is None:
            return ()
        return self.context[self.answer[0] : self.answer[1] + 1]


def reading_passages(
    n: int,
    seed: Seed = 0,
    *,
    min_facts: int = 2,
    max_facts: int = 6,
    pronouns: float = 0.5,
    missing: float = 0.2,
    extra: dict[str, Any] | None = None,
) -> list[Passage]:
    """Draw passages, each with all its questions.

    Parameters
    ----------
    n : int
        Number of passages.
    seed : int or numpy.random.Generator
    min_facts, max_facts : int
        Bounds of the number of facts, some 9 tokens each.
    pronouns : float
        Probability that a fact about a person who was named before says "he" or "she".
        A pronoun always means the last person named with it.
    missing : float
        Probability that the place is not said, and the same for the date; the
        questions about it then have no answer.
    extra : dict, optional
        More names, so that a model knows them: "people", tuples such as
        ("John", "Mauchly", "he"); "machines", words; "places", tuples of words. See
        `ENIAC_NAMES`.

    Returns
    -------
    list of Passage

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type or is out of range.
    """
    n = positive_int("n", n, minimum=0)
    check_range("min_facts", min_facts, "max_facts", max_facts)
    check_share("pronouns", pronouns)
    check_share("missing", missing)
    if max_facts > 40:
        raise ValueError(f"max_facts must be 40 or less, got {max_facts}")
    dice = Dice(seed)
    author = Author(dice, pronouns, missing, extra)
    return [author.passage(dice.between(min_facts, max_facts)) for _ in range(n)]


def qa_examples(
    n: int, seed: Seed = 0, *, unanswerable: float = 0.2, **options: Any
) -> list[QAExample]:
    """Draw `n` passages with one question each.

    Parameters
    ----------
    n : int
    seed : int or numpy.random.Generator
    unanswerable : float
        Share of the questions that have no answer in their passage.
    **options
        As in `reading_passages`.

    Returns
    -------
    list of QAExample
        The kinds of question that a passage offers are equally likely.

    Raises
    ------
    ValueError, TypeError
        As in `reading_passages`.
    """
    check_share("unanswerable", unanswerable)
    dice = Dice(seed)
    # One stream for the texts, one for the choice of questions.
    texts = reading_passages(n, dice.below(2**31), **options)
    examples = []
    for passage in texts:
        hidden = dice.chance(unanswerable)
        pool = [q for q in passage.questions if (q.answer is None) == hidden]
        kind = dice.choice([k for k in KINDS if any(q.kind == k for q in pool)])
        q = dice.choice([q for q in pool if q.kind == kind])
        examples.append(
            QAExample(passage.tokens, q.tokens, q.kind, q.answer, q.reference)
        )
    return examples


ENIAC_NAMES = {
    "people": (("John", "Mauchly", "he"), ("J.", "Presper", "Eckert", "he")),
    "machines": ("ENIAC",),
    "places": (("the", "University", "of", "Pennsylvania"),),
}


def eniac_passage() -> Passage:
    """Return a true passage about the computer ENIAC, with questions.

    Returns
    -------
    Passage
    """
    out = Writer()
    name, what = out.add(("ENIAC",), "was", ("a", "general-purpose", "computer"))
    it, place, date = out.add(
        ("it",),
        "was completed at",
        ("the", "University", "of", "Pennsylvania"),
        "in",
        ("1945",),
    )
    again, later = out.add(
        ("it",), "was unveiled to the public in", ("February", "1946")
    )
    makers, machine = out.add(
        ("John", "Mauchly", "and", "J.", "Presper", "Eckert"),
        "designed",
        ("the", "machine"),
    )
    named = name[0]
    out.ask("what was ENIAC", "what", what)
    out.ask("when was ENIAC completed", "when", date, (it[0], named))
    out.ask("where was ENIAC completed", "where", place, (it[0], named))
    out.ask("when was ENIAC unveiled", "when", later, (again[0], named))
    out.ask("who designed ENIAC", "who", makers, (machine[0], named))
    out.ask("when was ENIAC sold", "when", None)
    return out.passage()
