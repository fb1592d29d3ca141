"""News-like texts with known salient sentences, and reference summaries.

Each article is about one topic and mentions another one in passing, with news of the
same form. What is salient is the news about the topic that the article talks about
most, so no sentence can be judged alone, and its place in the text says little.
"""

from dataclasses import dataclass
from typing import Any

from attncourse._checks import positive_int
from attncourse.data._files import read_table
from attncourse.data._random import Dice, Seed, check_range, check_share

_WORDS = read_table("headlines")
_TOPICS = [
    f"the {place} {thing}" for place in _WORDS["places"] for thing in _WORDS["things"]
]


@dataclass(frozen=True, slots=True)
class NewsArticle:
    """An article, its salient sentences and a summary.

    Parameters
    ----------
    sentences : tuple of tuple of str
        The tokens of each sentence, with its full stop.
    salient : tuple of int
        Indices of the salient sentences, ascending.
    summary : tuple of tuple of str
        A shorter wording of each salient sentence, in the same order.
    topic : str
        What the article is about.
    roles : tuple of str
        For each sentence "news" (salient), "other news" (of the same form, about the
        other topic), "background", "other background" or "aside".
    """

    sentences: tuple[tuple[str, ...], ...]
    salient: tuple[int, ...]
    summary: tuple[tuple[str, ...], ...]
    topic: str
    roles: tuple[str, ...]

    def tokens(self) -> tuple[str, ...]:
        """Return the tokens of the whole article."""
        return tuple(token for sentence in self.sentences for token in sentence)

    def summary_tokens(self) -> tuple[str, ...]:
        """Return the tokens of the whole summary."""
        return tuple(token for sentence in self.summary for token in sentence)


def news_articles(
    n: int,
    seed: Seed = 0,
    *,
    min_sentences: int = 9,
    max_sentences: int = 16,
    top: float = 0.1,
) -> list[NewsArticle]:
    """Draw articles.

    Parameters
    ----------
    n : int
        Number of articles.
    seed : int or numpy.random.Generator
    min_sentences, max_sentences : int
        Bounds of the number of sentences, at least 8. Three of them are salient.
    top : float
        Probability that the article opens with a salient sentence on purpose, as
        newspapers do; otherwise the order is random.

    Returns
    -------
    list of NewsArticle

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type or is out of range.
    """
    n = positive_int("n", n, minimum=0)
    check_range("min_sentences", min_sentences, "max_sentences", max_sentences, 8)
    check_share("top", top)
    if max_sentences > 30:
        raise ValueError(f"max_sentences must be 30 or less, got {max_sentences}")
    dice = Dice(seed)
    return [
        _article(dice, dice.between(min_sentences, max_sentences), dice.chance(top))
        for _ in range(n)
    ]


def _article(dice, size, on_top):
    topic, other = _topics(dice)
    parts: list[Any] = [(text, "news") for text in _news(dice, topic)]
    parts += [(text, "other news") for text in _news(dice, other)]
    # The topic always has at least one mention more than the other.
    free = size - len(parts)
    mentions = max(2, free - 1 - dice.below(2))
    background = _WORDS["background"]
    about = dice.sample(background, min(mentions, len(background)))
    parts += [((text, None), "background", topic) for text in about]
    rest = size - len(parts)
    if rest > 0 and len(about) > 2 and dice.chance(0.5):
        text = dice.choice([t for t in background if t not in about] or about)
        parts.append(((text, None), "other background", other))
        rest -= 1
    for _ in range(rest):
        parts.append(((dice.choice(_WORDS["asides"]), None), "aside", ""))
    filled = []
    for text, role, *subject in parts:
        filled.append((*_fill(dice, text, *subject), role))
    order = dice.shuffled(range(len(filled)))
    if on_top:
        first = dice.below(3)
        order.remove(first)
        order.insert(0, first)
    filled = [filled[i] for i in order]
    salient = tuple(i for i, part in enumerate(filled) if part[2] == "news")
    return NewsArticle(
        sentences=tuple(sentence for sentence, _, _ in filled),
        salient=salient,
        summary=tuple(filled[i][1] for i in salient),
        topic=topic,
        roles=tuple(role for _, _, role in filled),
    )


def _topics(dice):
    """Draw two topics that share no word but "the"."""
    topic = dice.choice(_TOPICS)
    words = set(topic.split()) - {"the"}
    others = [t for t in _TOPICS if words.isdisjoint(t.split())]
    return topic, dice.choice(others)


def _news(dice, topic):
    """Choose one news item of each kind, as (sentence, summary) with the topic set."""
    return [
        tuple(text.replace("{topic}", topic) for text in dice.choice(group))
        for group in _WORDS["events"]
    ]


def _fill(dice, texts, topic=""):
    """Fill the gaps of a sentence, and the same gaps of its summary."""
    words = {
        "topic": topic,
        "town": dice.choice(_WORDS["towns"]),
        "office": dice.choice(_WORDS["offices"]),
        "person": dice.choice(_WORDS["people"]),
        "day": dice.choice(_WORDS["days"]),
        "month": dice.choice(_WORDS["months"]),
        "number": str(dice.between(2, 60)),
    }
    return [
        None if text is None else (*text.format(**words).split(), ".") for text in texts
    ]
