"""Random draws that come out the same on every machine and NumPy version.

Only the raw doubles of PCG64 are used. NumPy promises the stream of the bit
generator, but may change how `integers`, `choice` or `permutation` consume it.
"""

import numpy as np

from attncourse._checks import positive_int

Seed = int | np.random.Generator  # where a stream begins, or where it stands

_BLOCK = 4096


def as_generator(seed: Seed) -> np.random.Generator:
    """Return a NumPy generator for `seed`.

    An integer always gives the same stream; a generator is used as it is, so successive
    calls go on in its stream.
    """
    if isinstance(seed, np.random.Generator):
        return seed
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
        raise TypeError(
            "seed must be an int or a numpy.random.Generator, "
            f"got {type(seed).__name__}; for example seed=0"
        )
    if seed < 0:
        raise ValueError(f"seed must be 0 or more, got {seed}")
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(int(seed))))


def uniform_integers(generator, low, high, shape):
    """Draw an array of integers from `low` to `high`, both included, as int64."""
    draws = generator.random(shape)
    return low + np.floor(draws * (high - low + 1)).astype(np.int64)


def check_range(low_name, low, high_name, high, minimum=1):
    """Raise unless `minimum` <= `low` <= `high`, all integers."""
    positive_int(low_name, low, minimum=minimum)
    positive_int(high_name, high, minimum=minimum)
    if low > high:
        raise ValueError(
            f"{low_name} must not exceed {high_name}, "
            f"got {low_name}={low} and {high_name}={high}"
        )


def check_share(name, value):
    """Raise unless `value` is a number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.floating)):
        raise TypeError(f"{name} must be a number, got {type(value).__name__}")
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must lie between 0 and 1, got {value}")


class Dice:
    """Single draws in plain Python, fed from blocks of doubles."""

    def __init__(self, seed):
        self._generator = as_generator(seed)
        self._block = iter(())

    def uniform(self):
        """Return a float in [0, 1)."""
        for draw in self._block:
            return draw
        self._block = iter(self._generator.random(_BLOCK).tolist())
        return next(self._block)

    def below(self, n):
        """Return an integer from 0 to `n` - 1."""
        return int(self.uniform() * n)

    def between(self, low, high):
        """Return an integer from `low` to `high`, both included."""
        return low + int(self.uniform() * (high - low + 1))

    def chance(self, probability):
        """Return True with the given probability."""
        return self.uniform() < probability

    def choice(self, items):
        """Return one item of a sequence."""
        return items[int(self.uniform() * len(items))]

    def sample(self, items, k):
        """Return `k` different items, in random order."""
        pool = list(items)
        for i in range(k):
            j = i + int(self.uniform() * (len(pool) - i))
            pool[i], pool[j] = pool[j], pool[i]
        return pool[:k]

    def shuffled(self, items):
        """Return all items in random order."""
        return self.sample(items, len(items))
