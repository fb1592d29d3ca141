import math

import numpy as np
import pytest

from attncourse.training.metrics import alignment_error_rate, bleu, rouge
from tests.refusing import refuses


def test_a_perfect_translation_scores_one_hundred():
    sentences = [["the", "cat", "sat", "down"], ["it", "is", "a", "dog", "."]]
    score, signature = bleu(sentences, sentences)
    assert score == pytest.approx(100)
    assert "tok:none" in signature


def test_bleu_follows_its_definition():
    # 5 of 6 words, 3 of 5 pairs, 2 of 4 triples, 1 of 3 fours; the same length.
    hypothesis = ["a", "b", "c", "d", "x", "f"]
    reference = ["a", "b", "c", "d", "e", "f"]
    precisions = [5 / 6, 3 / 5, 2 / 4, 1 / 3]
    expected = 100 * math.exp(sum(map(math.log, precisions)) / 4)
    assert bleu([hypothesis], [reference])[0] == pytest.approx(expected)


def test_rouge_one_is_the_mean_f_score_of_shared_words():
    texts = [["red", "cat", "sat"], ["dog"]]
    scores = rouge(texts, [["cat", "sat", "down", "there"], ["sun"]])
    precision, recall = 2 / 3, 2 / 4
    expected = 100 * precision * recall / (precision + recall)  # a half of the F score
    assert scores["rouge1"] == pytest.approx(expected)
    assert set(scores) == {"rouge1", "rouge2", "rougeL"}


def test_alignment_error_counts_links_as_och_and_ney_do():
    weights = np.array([[0.9, 0.1, 0.0], [0.2, 0.3, 0.5]])  # links (0, 0) and (2, 1)
    assert alignment_error_rate([weights], [[(0, 0), (2, 1)]]) == 0
    assert alignment_error_rate([weights], [[(1, 0), (0, 1)]]) == 1
    one_right = alignment_error_rate([weights], [[(0, 0), (1, 1), (0, 1)]])
    assert one_right == pytest.approx(1 - 2 * 1 / (2 + 3))


def test_alignment_errors_are_pooled_over_sentences():
    right, wrong = np.eye(3), np.eye(3)[::-1]
    gold = [(i, i) for i in range(3)]
    # The middle word of the reversed matrix is right by accident.
    assert alignment_error_rate([right, wrong], [gold, gold]) == pytest.approx(2 / 6)


test_bad_input_is_named = refuses(
    (lambda: bleu([], []), "at least one"),
    (lambda: bleu([["a"]], []), "as many as the references"),
    (lambda: bleu([[3, 4]], [[3, 4]]), TypeError, "Decode ids to words"),
    (lambda: rouge(["a b"], [["a"]]), TypeError, "a list of words"),
    (lambda: alignment_error_rate([np.eye(2)], [[(0, 2)]]), "source 0, target 2"),
    (lambda: alignment_error_rate([np.ones(3)], [[]]), "2 axes"),
    (lambda: alignment_error_rate([np.ones((0, 3))], [[]]), "but got none"),
)
