"""Byte-pair encoding loses nothing, and learns what other libraries learn."""

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attncourse.data.bpe import PIECES, BPETokenizer
from attncourse.data.novels import load_novels
from tests.refusing import refuses

TEXT = load_novels()["Persuasion"][:60_000]
TOKENIZER = BPETokenizer.train(TEXT, 300)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
@settings(max_examples=200, deadline=None)
def test_any_text_comes_back(text):
    assert "".join(PIECES.findall(text)) == text
    assert TOKENIZER.decode(TOKENIZER.encode(text)) == text


@given(st.text("ab ", min_size=1, max_size=60), st.integers(0, 12))
@settings(max_examples=50, deadline=None)
def test_merges_are_those_of_counting_again_each_time(text, count):
    words = [
        [ord(c) - 33 if c != " " else 220 for c in w] for w in PIECES.findall(text)
    ]
    merges = []
    while len(merges) < count:
        pairs = [pair for w in words for pair in pairwise(w)]
        if not pairs:
            break
        best = min(set(pairs), key=lambda pair: (-pairs.count(pair), pair))
        for w in words:
            for i in range(len(w) - 1):
                if tuple(w[i : i + 2]) == best:
                    w[i : i + 2] = [256 + len(merges)]
        merges.append(best)
    assert BPETokenizer.train(text, count).merges == merges


def test_merges_and_ids_equal_those_of_the_tokenizers_library():
    tokenizers = pytest.importorskip("tokenizers")
    split, byte_level = (
        tokenizers.pre_tokenizers.Split,
        tokenizers.pre_tokenizers.ByteLevel,
    )
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE())
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(
        [
            split(tokenizers.Regex(PIECES.pattern), "isolated"),
            byte_level(add_prefix_space=False, use_regex=False),
        ]
    )
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=556, initial_alphabet=byte_level.alphabet(), show_progress=False
    )
    theirs.train_from_iterator([TEXT], trainer)
    ids = theirs.get_vocab()
    merges = json.loads(theirs.to_str())["model"]["merges"]
    assert [(ids[a], ids[b]) for a, b in merges] == TOKENIZER.merges
    unseen = load_novels()["Emma"][:5000] + " 1811, naïve £5 🙂"
    assert theirs.encode(unseen).ids == TOKENIZER.encode(unseen)


def test_a_character_that_is_cut_in_two_is_marked():
    ids = BPETokenizer([]).encode("é")
    assert BPETokenizer([]).decode(ids[:1]) == "�"


test_bad_input = refuses(
    (lambda: TOKENIZER.encode(b"bytes"), TypeError, "Decode bytes"),
    (lambda: TOKENIZER.encode("half \ud800"), "surrogate"),
    (lambda: TOKENIZER.decode([3, 556]), r"between 0 and 555.*556"),
    (lambda: BPETokenizer([(0, 256)]), "merge 0 joins tokens 0 and 256"),
)
