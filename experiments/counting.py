"""Counting models of text: Kneser-Ney n-grams of any order, on arrays of ids."""

import numpy as np


def kneser_ney(train, test, order, vocab_size):
    """Return the log-probability of each test id, in bits, for every order up to one.

    Interpolated Kneser-Ney with the three discounts of Chen and Goodman (1999), "An
    empirical study of smoothing techniques for language modeling", section 2.7: the
    longest n-grams are counted, shorter ones by how many different ids precede them.
    Order 0 is a uniform guess; order 1 has plain counts.

    Parameters
    ----------
    train, test : array of int
    order : int
        The longest n-grams.
    vocab_size : int

    Returns
    -------
    list of array of float
        ``(test,)`` for each order from 0 to `order`.
    """
    train, test = np.asarray(train), np.asarray(test)
    lower = np.full(len(test), 1 / vocab_size)
    results = [np.log2(lower)]
    grams = _Grams(train, test)
    for n in range(1, order + 1):
        results.append(np.log2(grams.interpolate(lower, raw=True)))
        if n < order:
            lower = grams.interpolate(lower, raw=False)
            grams.lengthen()
    return results


class _Grams:
    """The n-grams that end at each position of two texts, as ids; -1 if not seen."""

    def __init__(self, train, test):
        self.texts = train, test
        self.n = 1
        kinds, self.train, counts = np.unique(
            train, return_inverse=True, return_counts=True
        )
        self.counts = counts
        self.test = _find(kinds, test)
        self.contexts = None  # of a 1-gram: nothing
        self.previous = np.zeros(len(train), int), np.zeros(len(test), int)

    def lengthen(self):
        """Go from n-grams to n + 1."""
        self.n += 1
        self.previous = self.train, self.test
        keys = [
            _longer(text, ids, self.n)
            for text, ids in zip(self.texts, (self.train, self.test), strict=True)
        ]
        kinds = np.unique(keys[0][keys[0] >= 0])
        self.train, self.test = (_find(kinds, key) for key in keys)
        self.counts = np.bincount(self.train[self.train >= 0])

    def interpolate(self, lower, *, raw):
        """Mix this order into the probabilities of the order below."""
        seen = self.train >= 0
        first = np.unique(self.train[seen], return_index=True)[1]
        ends = np.flatnonzero(seen)[first]  # one place where each n-gram ends
        context = np.zeros(len(ends), int)
        if self.n > 1:
            context = self.previous[0][ends - 1]
        counts = self.counts if raw else self._preceding(len(ends))
        ones, twos, threes, fours = (max((counts == k).sum(), 1) for k in (1, 2, 3, 4))
        y = ones / (ones + 2 * twos)
        discount = np.array(
            [
                0,
                1 - 2 * y * twos / ones,
                2 - 3 * y * threes / twos,
                3 - 4 * y * fours / threes,
            ]
        ).clip(0, None)
        taken = np.minimum(discount[np.minimum(counts, 3)], counts)
        size = context.max() + 1
        total = np.bincount(context, counts, size)
        freed = np.bincount(context, taken, size)
        asked = np.zeros(len(self.test), int)
        if self.n > 1:
            asked = np.concatenate([[-1], self.previous[1][:-1]])
        known = (asked >= 0) & (asked < size)
        known[known] = total[asked[known]] > 0
        found = known & (self.test >= 0)
        result = lower.copy()
        result[known] *= (freed / np.maximum(total, 1e-9))[asked[known]]
        share = (counts - taken)[self.test[found]] / total[asked[found]]
        result[found] += share
        return result

    def _preceding(self, size):
        """Count the different ids before each n-gram."""
        key = _longer(self.texts[0], self.train, self.n + 1)
        at = np.unique(key[key >= 0], return_index=True)[1]
        grams = self.train[np.flatnonzero(key >= 0)[at]]
        return np.maximum(np.bincount(grams, minlength=size), 1)


def _longer(text, ids, n):
    """Return a number for each n-gram: its first id and the n-1-gram that follows."""
    keys = np.full(len(ids), -1)
    keys[n - 1 :] = text[: len(text) - n + 1] * (1 << 32) + ids[n - 1 :]
    keys[ids < 0] = -1
    return keys


def _find(kinds, keys):
    at = np.minimum(np.searchsorted(kinds, keys), len(kinds) - 1)
    return np.where(kinds[at] == keys, at, -1)
