"""Symbol tasks: what the batches promise."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attncourse.data import (
    associative_recall_batch,
    copy_batch,
    markov_recall_batch,
    markov_recall_floor,
    markov_recall_losses,
    markov_successors,
    repeated_sequence_batch,
    reverse_batch,
)
from attncourse.data.markov import LOCAL, MARKED, OTHER, RECALL
from tests.refusing import refuses


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 9), st.integers(1, 7), st.integers(0, 6), st.integers(1, 11))
def test_copy_pads_after_the_length_and_nowhere_else(batch, low, extra, symbols):
    source, lengths = copy_batch(batch, low, low + extra, symbols, seed=3)
    assert source.shape == (batch, low + extra)
    assert source.dtype == lengths.dtype == torch.int64
    assert int(lengths.min()) >= low
    assert int(lengths.max()) <= low + extra
    assert torch.equal((source != 0).sum(1), lengths)
    for row, length in zip(source, lengths, strict=True):
        assert bool((row[:length] >= 1).all())
    assert int(source.max()) <= symbols


def test_copy_draws_every_symbol_and_every_length():
    source, lengths = copy_batch(2000, 2, 6, 5)
    assert set(source.flatten().tolist()) == {0, 1, 2, 3, 4, 5}
    assert set(lengths.tolist()) == {2, 3, 4, 5, 6}


def test_reverse_is_the_sequence_backwards():
    source, target, lengths = reverse_batch(31, 2, 7, 9, seed=5)
    for row, mirrored, length in zip(source, target, lengths.tolist(), strict=True):
        assert mirrored[:length].tolist() == row[:length].tolist()[::-1]
        assert not mirrored[length:].any()


def test_associative_recall_asks_for_a_key_of_the_row():
    sequence, answer, position = associative_recall_batch(53, 5, 7, 11, seed=2)
    assert sequence.shape == (53, 11)
    for row, value, place in zip(sequence.tolist(), answer, position, strict=True):
        keys, values, query = row[0:-1:2], row[1::2], row[-1]
        assert len(set(keys)) == 5
        assert all(1 <= key <= 7 for key in keys)
        assert all(8 <= v <= 18 for v in values)
        assert values[keys.index(query)] == value
        assert row[place] == value


def test_the_second_half_repeats_the_first():
    sequence, half = repeated_sequence_batch(5, 3, 7, 13, seed=1)
    assert sequence.shape == (5, 2 * half)
    assert torch.equal(sequence[:, :half], sequence[:, half:])
    halves = {repeated_sequence_batch(1, 3, 7, 13, seed=s)[1] for s in range(60)}
    assert halves == {3, 4, 5, 6, 7}


def test_markov_successors_form_one_circle():
    successor = markov_successors(7).tolist()
    seen, symbol = [], 1
    while symbol not in seen:
        seen.append(symbol)
        symbol = successor[symbol]
    assert sorted(seen) == list(range(1, 8))


def test_markov_recall_follows_its_rules_token_by_token():
    tokens, kind = markov_recall_batch(17, 83, num_symbols=5, noise=0.0, seed=4)
    successor = markov_successors(5).tolist()
    mark, ask = 6, 7
    for row, kinds in zip(tokens.tolist(), kind.tolist(), strict=True):
        waiting = None
        assert kinds[0] == OTHER
        for t in range(1, 83):
            before, now = row[t - 1], row[t]
            if before == mark:
                assert kinds[t] == MARKED
                waiting = now
            elif before == ask:
                assert kinds[t] == RECALL
                assert now == waiting
                waiting = None
            elif now in (mark, ask):
                assert kinds[t] == OTHER
                assert (now == ask) == (waiting is not None)
            else:
                assert kinds[t] == LOCAL
                assert now == successor[before]


def test_the_floor_is_the_loss_of_the_model_that_knows_the_rules():
    symbols, noise, rate = 7, 0.2, 0.25
    tokens, kind = markov_recall_batch(400, 400, symbols, noise, rate, seed=9)
    floor = markov_recall_floor(symbols, noise, rate)
    losses = markov_recall_losses(tokens, kind, symbols, noise, rate)
    assert losses[:, 1:].mean().item() == pytest.approx(floor["per_token"], abs=0.02)
    local = losses[:, 1:][kind[:, 1:] == LOCAL].mean().item()
    assert local == pytest.approx(floor["local"], abs=0.01)
    assert losses[kind == MARKED].unique().item() == pytest.approx(math.log(symbols))
    assert (losses[kind == RECALL] == 0).all()


def test_one_seed_gives_one_batch_and_a_generator_goes_on():
    first, _ = copy_batch(4, 3, 5, 9, seed=7)
    assert torch.equal(first, copy_batch(4, 3, 5, 9, seed=7)[0])
    assert not torch.equal(first, copy_batch(4, 3, 5, 9, seed=8)[0])
    generator = np.random.default_rng(7)
    one, two = (copy_batch(4, 3, 5, 9, seed=generator)[0] for _ in range(2))
    assert not torch.equal(one, two)


test_bad_sizes_are_named = refuses(
    (lambda: copy_batch(0, 1, 2, 3), "batch must be at least 1"),
    (lambda: copy_batch(1, 4, 2, 3), "min_len must not exceed max_len"),
    (lambda: copy_batch(1, 1, 2, 3.0), TypeError, "num_symbols"),
    (lambda: copy_batch(1, 1, 2, 3, seed="x"), TypeError, "seed must be an int"),
    (lambda: copy_batch(1, 1, 2, 3, seed=-1), "seed must be 0 or more"),
    (lambda: copy_batch(1, 1, 2, 3, seed=True), TypeError, "seed must be an int"),
    (lambda: associative_recall_batch(1, 5, 3, 3), "num_pairs=5 and num_keys=3"),
    (lambda: markov_recall_batch(1, 5, noise=1.5), "noise must lie"),
    (lambda: markov_recall_batch(1, 5, noise="x"), TypeError, "noise must be a"),
    (lambda: markov_recall_batch(1, 5, 1), "num_symbols"),
)
