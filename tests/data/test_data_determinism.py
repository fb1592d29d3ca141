"""The same seed gives the same data in every process and on every machine."""

import hashlib

import numpy as np
import pytest

from attncourse.data import _random
from tests.loading import python

# Made once; a change of the grammar or of the word lists changes them on purpose.
EXPECTED = {
    "symbols": "f15362c69a057b5f",
    "translation": "ce876ecc036b83c2",
    "splits": "42b2e5514bb2a725",
    "passages": "2dbe3d82ef6406f9",
    "news": "cfe48a4a6fb61a85",
}

CODE = """
import hashlib
from attncourse.data import *

def digest(thing):
    return hashlib.sha256(repr(thing).encode()).hexdigest()[:16]

def plain(pair):
    return pair.source, pair.target, pair.alignment, sorted(pair.features)

corpus = parallel_corpus(300)
print("translation", digest([plain(p) for row in corpus.values() for p in row]))
parts = splits("german", train=50, valid=20, test=20, compositional=20, seed=3)
rows = (parts.train, parts.valid, parts.test, parts.compositional)
print("splits", digest([plain(p) for row in rows for p in row]))
print("passages", digest(qa_examples(200)))
print("news", digest(news_articles(100)))
symbols = (
    copy_batch(7, 3, 9, 11)[0],
    associative_recall_batch(7, 3, 5, 7)[0],
    repeated_sequence_batch(7, 3, 9, 11)[0],
    markov_recall_batch(7, 50)[0],
)
print("symbols", digest([t.tolist() for t in symbols]))
"""


@pytest.mark.parametrize("hash_seed", "12")
def test_each_process_draws_the_data_that_was_always_drawn(hash_seed):
    printed = python(CODE, env={"PYTHONHASHSEED": hash_seed, "PATH": "/usr/bin:/bin"})
    assert dict(line.split() for line in printed.splitlines()) == EXPECTED


def test_the_raw_stream_is_that_of_pcg64():
    generator = _random.as_generator(0)
    assert isinstance(generator.bit_generator, np.random.PCG64)
    bits = hashlib.sha256(generator.random(100).tobytes()).hexdigest()[:16]
    assert bits == "9fea72e1d3e79688"


def test_dice_are_fair_and_stay_in_range():
    dice = _random.Dice(1)
    draws = [dice.between(2, 4) for _ in range(3000)]
    assert set(draws) == {2, 3, 4}
    assert min(draws.count(k) for k in (2, 3, 4)) > 900
    assert sorted(dice.shuffled(range(7))) == list(range(7))
    assert len(set(dice.sample("abcdefg", 3))) == 3
