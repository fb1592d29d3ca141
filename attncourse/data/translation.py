"""Sentence pairs in three word orders, with gold word alignments."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from attncourse._checks import one_of, positive_int
from attncourse.data._random import Dice, Seed, as_generator, check_range
from attncourse.data.languages.english import English
from attncourse.data.languages.french import French
from attncourse.data.languages.german import German
from attncourse.data.languages.grammar import LONGEST, SHORTEST, Grammar
from attncourse.data.languages.japanese import Japanese

LANGUAGES = ("french", "german", "japanese")

_WRITERS = {"french": French, "german": German, "japanese": Japanese}
_PATIENCE = 5000  # repeats in a row before we say that there are no more sentences
_SHORTEST_UNSEEN = 6  # shorter sentences have hardly any combination of words


@dataclass(frozen=True, slots=True)
class SentencePair:
    """An English sentence and its translation.

    Parameters
    ----------
    source : tuple of str
        English tokens, in lower case, with the final full stop.
    target : tuple of str
        Tokens of the translation.
    alignment : tuple of (int, int)
        All pairs (source index, target index) of tokens that render each other, sorted.
        Tokens without a counterpart ("does", the particle "wa", some articles and
        commas) are in no pair.
    language : str
        The language of the target.
    antecedents : tuple of (int, int)
        Pairs (index of a pronoun, index of the noun that it stands for) in the source;
        two pairs for a pronoun that stands for "A and B".
    features : frozenset of str
        What the sentence contains, out of "and", "because", "but", "negation",
        "pronoun", "relative", "that", "when".
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    alignment: tuple[tuple[int, int], ...]
    language: str
    antecedents: tuple[tuple[int, int], ...]
    features: frozenset[str]


@dataclass(frozen=True, slots=True)
class Splits:
    """Lists of `SentencePair`; no source sentence is in two of them.

    Parameters
    ----------
    train, valid, test : list of SentencePair
        Drawn alike. None has one of the held-out combinations.
    compositional : list of SentencePair
        Each has at least one combination (adjective and noun, or verb and object) that
        occurs nowhere in the other lists, though both words do.
    """

    train: list[SentencePair] = field(repr=False)
    valid: list[SentencePair] = field(repr=False)
    test: list[SentencePair] = field(repr=False)
    compositional: list[SentencePair] = field(repr=False)


def parallel_corpus(
    n: int,
    languages: Sequence[str] = LANGUAGES,
    seed: Seed = 0,
    min_len: int = SHORTEST,
    max_len: int = LONGEST,
    combinations: str = "all",
) -> dict[str, list[SentencePair]]:
    """Draw `n` different English sentences and translate each into several languages.

    Parameters
    ----------
    n : int
        Number of sentences.
    languages : sequence of str
        Out of "french", "german", "japanese".
    seed : int or numpy.random.Generator
    min_len, max_len : int
        Bounds of the English length in tokens, the full stop included, from 4 to 40;
        all lengths are about equally frequent.
    combinations : str
        "all"; "seen": without the held-out combinations of words; "unseen": each
        sentence has one of them (then `min_len` counts as at least 6).

    Returns
    -------
    dict of str to list of SentencePair
        For each language a list of `n` pairs, in the same order of sentences.

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type, a language or a length is not offered,
        or there are fewer than `n` sentences of these lengths.
    """
    n = positive_int("n", n, minimum=0)
    languages = (languages,) if isinstance(languages, str) else tuple(languages)
    for language in languages:
        one_of("language", language, LANGUAGES)
    check_range("min_len", min_len, "max_len", max_len)
    low = min_len if combinations != "unseen" else max(min_len, _SHORTEST_UNSEEN)
    if min_len < SHORTEST or max_len > LONGEST or low > max_len:
        raise ValueError(
            f"lengths must lie between {max(SHORTEST, low)} and {LONGEST} tokens, "
            f"got min_len={min_len} and max_len={max_len}"
        )
    one_of("combinations", combinations, ("all", "seen", "unseen"))
    dice = Dice(seed)
    grammar = Grammar(dice, combinations)
    english = English()
    writers: list[tuple[str, Any]] = [
        (language, _WRITERS[language]()) for language in languages
    ]
    corpus = {language: [] for language in languages}
    seen = set()
    repeats = 0
    while len(seen) < n:
        sentence = grammar.sentence(dice.between(low, max_len))
        source = tuple(english.words(sentence))
        if source in seen or len(source) < low:
            repeats += 1
            if repeats == _PATIENCE:
                raise ValueError(
                    f"asked for {n} sentences of {min_len} to {max_len} tokens, found "
                    f"only {len(seen)} different ones; ask for fewer or allow longer "
                    "sentences"
                )
            continue
        repeats = 0
        seen.add(source)
        antecedents = _antecedents(english)
        for language, writer in writers:
            target, atoms = writer.words(sentence)
            corpus[language].append(
                SentencePair(
                    source,
                    tuple(target),
                    _alignment(english.where, atoms),
                    language,
                    antecedents,
                    sentence.features,
                )
            )
    return corpus


def translation_pairs(
    n: int,
    language: str = "french",
    seed: Seed = 0,
    min_len: int = SHORTEST,
    max_len: int = LONGEST,
) -> list[SentencePair]:
    """Draw `n` different English sentences with translations and word alignments.

    Parameters
    ----------
    n : int
        Number of pairs.
    language : str
        "french", "german" or "japanese" (in rōmaji). The same seed gives the same
        English sentences for each language.
    seed : int or numpy.random.Generator
    min_len, max_len : int
        Bounds of the English length in tokens, the full stop included, from 4 to 40.

    Returns
    -------
    list of SentencePair

    Raises
    ------
    ValueError, TypeError
        As in `parallel_corpus`.

    Examples
    --------
    >>> pair = translation_pairs(1, "german", seed=1, min_len=5, max_len=5)[0]
    >>> len(pair.source)
    5
    """
    one_of("language", language, LANGUAGES)
    return parallel_corpus(n, (language,), seed, min_len, max_len)[language]


def splits(
    language: str = "french",
    *,
    train: int = 20_000,
    valid: int = 1_000,
    test: int = 1_000,
    compositional: int = 1_000,
    seed: Seed = 0,
    min_len: int = SHORTEST,
    max_len: int = LONGEST,
) -> Splits:
    """Draw training, validation and test pairs, and a compositional test set.

    Parameters
    ----------
    language : str
        "french", "german" or "japanese".
    train, valid, test, compositional : int
        Number of pairs in each list.
    seed : int or numpy.random.Generator
    min_len, max_len : int
        Bounds of the English length in tokens. Compositional sentences have at least 6.

    Returns
    -------
    Splits

    Raises
    ------
    ValueError, TypeError
        As in `parallel_corpus`.
    """
    one_of("language", language, LANGUAGES)
    sizes = {"train": train, "valid": valid, "test": test}
    for name, size in (*sizes.items(), ("compositional", compositional)):
        positive_int(name, size, minimum=0)
    generator = as_generator(seed)
    bounds = (generator, min_len, max_len)
    pairs = parallel_corpus(sum(sizes.values()), (language,), *bounds, "seen")[language]
    new = []
    if compositional:
        new = parallel_corpus(compositional, (language,), *bounds, "unseen")[language]
    return Splits(
        train=pairs[:train],
        valid=pairs[train : train + valid],
        test=pairs[train + valid :],
        compositional=new,
    )


def _alignment(where, atoms):
    links = ((where[a], j) for j, own in enumerate(atoms) for a in own if a in where)
    return tuple(sorted(links))


def _antecedents(english):
    where, pairs = english.where, []
    for index, phrase in english.pronouns:
        for member in phrase.members():
            last = len(member.noun.english[member.plural]) - 1
            pairs.append((index, where[member.id + last]))
    return tuple(pairs)
