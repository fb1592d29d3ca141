"""From tokens to text and back, and vocabularies."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from attncourse._checks import positive_int

PAD, BOS, EOS, UNK = 0, 1, 2, 3
SPECIALS = ("<pad>", "<bos>", "<eos>", "<unk>")

_TOKEN = re.compile(r"aujourd'hui|\w+(?:-\w+)*'?|[^\w\s]", re.IGNORECASE)


def tokenise(text: str) -> list[str]:
    """Cut a sentence into tokens like those of the generated data.

    The first word loses its capital letter, punctuation becomes tokens of its own, and
    an apostrophe ends a token ("l'homme" gives "l'" and "homme").

    Parameters
    ----------
    text : str

    Returns
    -------
    list of str

    Examples
    --------
    >>> tokenise("The dog sleeps.")
    ['the', 'dog', 'sleeps', '.']
    """
    tokens = [token for token, _, _ in token_spans(text)]
    if tokens:
        tokens[0] = tokens[0][0].lower() + tokens[0][1:]
    return tokens


def token_spans(text: str) -> list[tuple[str, int, int]]:
    """Cut a text into tokens, as `tokenise` does, but keep the case and the places.

    Parameters
    ----------
    text : str

    Returns
    -------
    list of (str, int, int)
        Each token, its first character and the character after its last.
    """
    if not isinstance(text, str):
        raise TypeError(f"text must be a str, got {type(text).__name__}")
    plain = text.replace("\u2019", "'")
    return [(m.group(), m.start(), m.end()) for m in _TOKEN.finditer(plain)]


class Vocabulary:
    """Tokens and their ids; 0 to 3 are <pad>, <bos>, <eos> and <unk>.

    Parameters
    ----------
    tokens : sequence of str
        The tokens that get the ids 4, 5, ..., without the special ones.

    Raises
    ------
    TypeError
        If `tokens` is a single str, or holds something that is not a str.
    ValueError
        If a token occurs twice or is a special one.

    Examples
    --------
    >>> vocabulary = Vocabulary.build([["the", "dog"], ["the", "cat"]])
    >>> vocabulary.encode(["the", "cow"], eos=True)
    [4, 3, 2]
    """

    def __init__(self, tokens: Sequence[str]) -> None:
        if isinstance(tokens, str):
            raise TypeError("tokens must be a list of str, got one str; wrap it in [ ]")
        self._tokens = list(SPECIALS)
        self._ids = {token: i for i, token in enumerate(SPECIALS)}
        for token in tokens:
            if not isinstance(token, str):
                raise TypeError(
                    f"tokens must be str, got {token!r} of type {type(token).__name__}"
                )
            if token in self._ids:
                what = "is a special token" if token in SPECIALS else "occurs twice"
                raise ValueError(f"token {token!r} {what}; leave it out")
            self._ids[token] = len(self._tokens)
            self._tokens.append(token)

    @classmethod
    def build(
        cls, token_lists: Iterable[Sequence[str]], max_size: int | None = None
    ) -> "Vocabulary":
        """Collect the tokens of many sentences, the most frequent first.

        Parameters
        ----------
        token_lists : iterable of sequence of str
            Tokenised sentences.
        max_size : int, optional
            Keep at most so many tokens, the four special ones included.

        Returns
        -------
        Vocabulary
            Equally frequent tokens are in alphabetical order.

        Raises
        ------
        TypeError
            If a sentence is a str instead of a list of tokens.
        """
        if max_size is not None:
            positive_int("max_size", max_size, minimum=len(SPECIALS))
        if isinstance(token_lists, str):
            raise TypeError("token_lists must hold lists of tokens, got one str")
        counts = Counter()
        for tokens in token_lists:
            if isinstance(tokens, str):
                raise TypeError(
                    f"each sentence must be a list of tokens, got the str {tokens!r}; "
                    "cut it with tokenise() first"
                )
            counts.update(tokens)
        for special in SPECIALS:
            counts.pop(special, None)
        kept = sorted(counts, key=lambda token: (-counts[token], token))
        if max_size is not None:
            kept = kept[: max_size - len(SPECIALS)]
        return cls(kept)

    def __len__(self) -> int:
        return len(self._tokens)

    def __contains__(self, token: object) -> bool:
        return token in self._ids

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self._tokens == other._tokens

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Vocabulary({len(self)} tokens)"

    @property
    def tokens(self) -> tuple[str, ...]:
        """All tokens in the order of their ids, the special ones first."""
        return tuple(self._tokens)

    def id_of(self, token: str) -> int:
        """Return the id of a token, or raise KeyError if it is unknown."""
        if token not in self._ids:
            raise KeyError(f"{token!r} is not among the {len(self)} tokens")
        return self._ids[token]

    def encode(
        self, tokens: Sequence[str], *, bos: bool = False, eos: bool = False
    ) -> list[int]:
        """Return the ids of the tokens.

        Parameters
        ----------
        tokens : sequence of str
        bos, eos : bool
            Put <bos> before or <eos> after them.

        Returns
        -------
        list of int
            Unknown tokens become <unk>.

        Raises
        ------
        TypeError
            If `tokens` is a str.
        """
        if isinstance(tokens, str):
            raise TypeError(
                f"encode needs a list of tokens, got the str {tokens!r}; "
                "cut it with tokenise() first"
            )
        ids = [self._ids.get(token, UNK) for token in tokens]
        return [BOS] * bos + ids + [EOS] * eos

    def decode(self, ids: Iterable[int]) -> list[str]:
        """Return the tokens of the ids, up to the first <eos>.

        Parameters
        ----------
        ids : iterable of int
            Integers, or a one-dimensional array or tensor of them.

        Returns
        -------
        list of str
            Without <pad>, <bos> and <eos>.

        Raises
        ------
        ValueError
            If an id is not in the vocabulary.
        """
        tokens = []
        for item in ids:
            index = int(item)
            if not 0 <= index < len(self._tokens):
                raise ValueError(
                    f"ids must lie between 0 and {len(self) - 1}, got {index}"
                )
            if index == EOS:
                break
            if index not in (PAD, BOS):
                tokens.append(self._tokens[index])
        return tokens
