"""English sentences with grammatical links, and pairs of paraphrases."""

from attncourse.data._files import read_table

_TEXTS = read_table("english")

RELATIONS = _TEXTS["relations"]
PARAPHRASES = tuple(map(tuple, _TEXTS["paraphrases"]))


def annotated_sentences() -> list[tuple[list[str], dict[str, list[tuple[int, ...]]]]]:
    """Return twenty sentences with their grammatical links.

    Returns
    -------
    list of tuple
        Each sentence as a list of words, and a dict from the keys of `RELATIONS` to
        lists of links ``(query, key)``, places counted from 0.
    """
    lines = _TEXTS["annotated"].strip().splitlines()
    sentences = []
    for words, below in zip(lines[::2], lines[1::2], strict=True):
        links = {}
        for part in below.split("|"):
            relation, *pairs = part.split()
            links[relation] = [tuple(map(int, pair.split("-"))) for pair in pairs]
        sentences.append((words.split(), links))
    return sentences
