"""Tokens, vocabularies and padded batches."""

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attncourse.data import (
    Vocabulary,
    length_batches,
    pad_sequences,
    token_spans,
    tokenise,
    translation_pairs,
    translation_tensors,
)
from tests.refusing import refuses

WORDS = st.lists(st.text("abcdeé", min_size=1, max_size=4), max_size=9)


def test_tokenise_parts_punctuation_and_elided_words():
    assert tokenise("L\u2019homme n'est pas l\u00e0 !") == [
        *("l'", "homme", "n'", "est", "pas", "l\u00e0", "!")
    ]
    assert tokenise("Aujourd'hui, well-known.") == [
        "aujourd'hui",
        ",",
        "well-known",
        ".",
    ]
    assert tokenise("") == []


@given(st.text(max_size=40))
def test_token_spans_point_at_their_tokens(text):
    for token, start, stop in token_spans(text):
        assert text[start:stop].replace("\u2019", "'") == token


@settings(deadline=None)
@given(st.lists(WORDS, max_size=5))
def test_decoding_undoes_encoding(sentences):
    vocabulary = Vocabulary.build(sentences)
    for tokens in sentences:
        assert vocabulary.decode(vocabulary.encode(tokens)) == tokens
        ids = vocabulary.encode(tokens, bos=True, eos=True)
        assert (ids[0], ids[-1]) == (1, 2)
        assert vocabulary.decode([*ids, 0, 0, 5]) == tokens


def test_specials_come_first_then_the_most_frequent_words():
    vocabulary = Vocabulary.build([["b", "a", "c"], ["c", "a"]])
    assert vocabulary.tokens == ("<pad>", "<bos>", "<eos>", "<unk>", "a", "c", "b")
    assert len(vocabulary) == 7
    assert "b" in vocabulary
    assert vocabulary.id_of("c") == 5
    assert len(Vocabulary.build([["b", "a"], ["a"]], max_size=5)) == 5
    assert Vocabulary(vocabulary.tokens[4:]) == vocabulary


def test_unknown_words_become_unk():
    assert Vocabulary(["dog"]).encode(["dog", "yeti"]) == [4, 3]


test_misuse_is_explained = refuses(
    (lambda: Vocabulary("dog"), TypeError, "list of str, got one str"),
    (lambda: Vocabulary(["a", "a"]), "'a' occurs twice"),
    (lambda: Vocabulary(["<pad>"]), "is a special token"),
    (lambda: Vocabulary([3]), TypeError, "tokens must be str, got 3"),
    (lambda: Vocabulary.build("a b"), TypeError, "lists of tokens, got one str"),
    (lambda: Vocabulary.build(["a b"]), TypeError, r"tokenise\(\) first"),
    (lambda: Vocabulary.build([], max_size=3), "max_size"),
    (lambda: Vocabulary(["a"]).encode("a"), TypeError, r"tokenise\(\) first"),
    (lambda: Vocabulary(["a"]).decode([5]), "between 0 and 4, got 5"),
    (lambda: Vocabulary(["a"]).id_of("b"), KeyError, "'b' is not among the 5"),
    (lambda: tokenise(3), TypeError, "text must be a str, got int"),
    (lambda: token_spans(3), TypeError, "text must be a str, got int"),
    (lambda: pad_sequences([]), "at least one sequence"),
    (lambda: pad_sequences([[1], []]), "sequence 1 is empty"),
    (lambda: length_batches([1], 0), "batch_size"),
)


def test_padding_is_on_the_right_and_int64():
    ids, lengths = pad_sequences([[5], [6, 7, 8]], pad_idx=0)
    assert ids.dtype == lengths.dtype == torch.int64
    assert ids.tolist() == [[5, 0, 0], [6, 7, 8]]
    assert lengths.tolist() == [1, 3]


@given(st.lists(st.integers(1, 30), min_size=1, max_size=50), st.integers(1, 7))
def test_each_item_is_in_one_batch_of_similar_lengths(lengths, size):
    for seed in (None, 3):
        batches = length_batches(lengths, size, seed)
        assert sorted(i for batch in batches for i in batch) == list(
            range(len(lengths))
        )
        assert max(len(batch) for batch in batches) <= size
    ordered = [lengths[i] for batch in length_batches(lengths, size) for i in batch]
    assert ordered == sorted(lengths)


def test_the_order_of_batches_depends_on_the_seed_only():
    lengths = np.arange(40) % 11
    assert length_batches(lengths, 4, 1) == length_batches(lengths, 4, 1)
    assert length_batches(lengths, 4, 1) != length_batches(lengths, 4, 2)


def test_translation_tensors_end_with_eos_and_leave_bos_to_the_models():
    pairs = translation_pairs(7, "french", seed=1, max_len=9)
    source_words = Vocabulary.build(p.source for p in pairs)
    target_words = Vocabulary.build(p.target for p in pairs)
    source, target = translation_tensors(pairs, source_words, target_words)
    assert source.shape == (7, max(len(p.source) for p in pairs) + 1)
    assert target.shape == (7, max(len(p.target) for p in pairs) + 1)
    assert not bool((target == 1).any())
    for row, pair in zip(target, pairs, strict=True):
        assert target_words.decode(row) == list(pair.target)
        assert row[len(pair.target)] == 2
    for row, pair in zip(source, pairs, strict=True):
        assert source_words.decode(row) == list(pair.source)
