"""Byte-level byte-pair encoding: text to token ids and back, learned from text."""

import heapq
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise

from attncourse import _checks

# Merges stay inside a piece. A piece is letters, up to three digits, or other signs,
# each with the space before it; or white space. Every character is in just one piece.
PIECES = re.compile(r" ?[^\W\d_]+| ?\d{1,3}| ?(?:[^\w\s]|_)+|\s+(?!\S)|\s+")

# The order of the bytes is that of GPT-2: printable ones first. It settles ties alone.
_PRINTABLE = [*range(33, 127), *range(161, 173), *range(174, 256)]
BYTES = [*_PRINTABLE, *(b for b in range(256) if b not in set(_PRINTABLE))]
_ID_OF_BYTE = {byte: index for index, byte in enumerate(BYTES)}


class BPETokenizer:
    """Turn text into token ids by merging neighbouring tokens, most frequent first.

    The first 256 tokens are the bytes, so any text can be written; token 256 + k is the
    pair that was merged k-th.

    Parameters
    ----------
    merges : sequence of (int, int)
        The pairs of ids to be merged, in the order in which they were learned.

    References
    ----------
    Sennrich et al. (2016), "Neural machine translation of rare words with subword
    units", section 3.2. Radford et al. (2019), "Language models are unsupervised
    multitask learners", section 2.2, for merging bytes.
    """

    def __init__(self, merges: Sequence[tuple[int, int]]) -> None:
        self.merges = [tuple(pair) for pair in merges]
        self.tokens = [bytes([byte]) for byte in BYTES]  # the bytes of each token
        for left, right in self.merges:
            if not (0 <= left < len(self.tokens) and 0 <= right < len(self.tokens)):
                raise ValueError(
                    f"merge {len(self.tokens) - 256} joins tokens {left} and {right}, "
                    f"but only 0 to {len(self.tokens) - 1} exist before it. Give the "
                    "merges in the order in which they were learned."
                )
            self.tokens.append(self.tokens[left] + self.tokens[right])
        self._rank = {pair: 256 + k for k, pair in enumerate(self.merges)}
        self._cache = {}

    def __len__(self) -> int:
        return len(self.tokens)

    @classmethod
    def train(cls, text: str, num_merges: int) -> "BPETokenizer":
        """Learn merges from a text.

        Each step merges the pair of neighbours that is most frequent in the text; of
        several equally frequent pairs, the one with the smaller ids.

        Parameters
        ----------
        text : str
        num_merges : int
            Fewer are learned if no pair is left.

        Returns
        -------
        BPETokenizer
        """
        num_merges = _checks.positive_int("num_merges", num_merges, minimum=0)
        counts = Counter(PIECES.findall(text))
        words = [[_ID_OF_BYTE[b] for b in piece.encode()] for piece in counts]
        times = list(counts.values())
        frequency, found_in = Counter(), defaultdict(set)
        for index, word in enumerate(words):
            for pair in pairwise(word):
                frequency[pair] += times[index]
                found_in[pair].add(index)
        queue = [(-count, pair) for pair, count in frequency.items()]
        heapq.heapify(queue)
        merges = []
        while queue and len(merges) < num_merges:
            count, pair = heapq.heappop(queue)
            if -count != frequency[pair]:  # an outdated entry: put the true one back
                if frequency[pair] > 0:
                    heapq.heappush(queue, (-frequency[pair], pair))
                continue
            new, changed = 256 + len(merges), set()
            merges.append(pair)
            for index in found_in.pop(pair):
                old, word = words[index], _merge(words[index], pair, new)
                for before in pairwise(old):
                    frequency[before] -= times[index]
                for after in pairwise(word):
                    frequency[after] += times[index]
                    found_in[after].add(index)
                    if new in after:
                        changed.add(after)
                words[index] = word
            for neighbours in changed:
                heapq.heappush(queue, (-frequency[neighbours], neighbours))
        return cls(merges)

    def encode(self, text: str) -> list[int]:
        """Return the token ids of a text.

        The text may be anything that UTF-8 can write; half of a surrogate pair raises a
        ValueError.
        """
        if not isinstance(text, str):
            raise TypeError(
                f"text must be a str, but got {type(text).__name__}. Decode bytes "
                'first: data.decode("utf-8").'
            )
        ids = []
        for piece in PIECES.findall(text):
            if piece not in self._cache:
                self._cache[piece] = self._encode_piece(piece)
            ids += self._cache[piece]
        return ids

    def decode(self, ids: list[int]) -> str:
        """Return the text of token ids.

        Bytes that are no UTF-8, as when a character is cut in two, become "�". An id
        that is out of range raises a ValueError.
        """
        ids = [int(i) for i in ids]
        if ids and not 0 <= min(ids) <= max(ids) < len(self):
            raise ValueError(
                f"ids must lie between 0 and {len(self) - 1}, but they reach from "
                f"{min(ids)} to {max(ids)}: they come from another tokenizer."
            )
        return b"".join(self.tokens[i] for i in ids).decode(errors="replace")

    def _encode_piece(self, piece):
        try:
            word = [_ID_OF_BYTE[byte] for byte in piece.encode()]
        except UnicodeEncodeError as error:
            raise ValueError(
                f"text holds {piece[error.start]!r}, half of a surrogate pair, which "
                "UTF-8 cannot write. Read the file with its own encoding."
            ) from None
        while len(word) > 1:
            pair = min(pairwise(word), key=lambda pair: self._rank.get(pair, len(self)))
            if pair not in self._rank:
                break
            word = _merge(word, pair, self._rank[pair])
        return word


def _merge(word, pair, new):
    """Return a list of ids in which each `pair`, from the left, is the id `new`."""
    merged, index = [], 0
    while index < len(word):
        if tuple(word[index : index + 2]) == pair:
            merged.append(new)
            index += 2
        else:
            merged.append(word[index])
            index += 1
    return merged
