"""The same seed gives the same data in every process and on every machine."""

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


def test_each_process_draws_the_data_that_was_always_drawn():
    printed = python(CODE, env={"PYTHONHASHSEED": "1", "PATH": "/usr/bin:/bin"})
    assert dict(line.split() for line in printed.splitlines()) == EXPECTED
