import numpy as np
import pytest
import torch

from attncourse import QATransformer, SelfAttentionSummarizer
from attncourse.data import Vocabulary, news_articles, qa_examples
from attncourse.training.applications import (
    answers,
    news_batches,
    news_tensors,
    reading_batches,
    reading_tensors,
    right_answers,
    summary_rouge,
)
from attncourse.training.probing import cut, marks, weight_share
from tests.refusing import refuses


@pytest.fixture(scope="module")
def examples():
    return qa_examples(23, seed=3)


@pytest.fixture(scope="module")
def words(examples):
    return Vocabulary.build([e.context + e.question for e in examples])


@pytest.fixture
def reader(words):
    torch.manual_seed(0)
    return QATransformer(len(words), 12, 3).eval()


def test_answers_point_at_the_words_of_the_answer(examples, words):
    question, context, first, last = reading_tensors(examples, words)
    assert question.shape[0] == context.shape[0] == len(examples)
    for row, e in enumerate(examples):
        if e.answer is None:
            assert first[row] == last[row] == -1
        else:
            span = context[row, first[row] : last[row] + 1]
            assert tuple(words.decode(span)) == e.answer_tokens()


def test_a_batch_depends_on_its_step_alone(examples, words):
    batch_of = reading_batches(examples, words, size=5, seed=1)
    other = reading_batches(examples, words, size=5, seed=1)
    later = batch_of(3)
    batch_of(0)
    for first, second in zip(later, other(3), strict=True):
        assert torch.equal(first, second)
    rows = sum(len(batch_of(step)[0]) for step in range(5))
    assert rows == len(examples)


def test_answers_come_in_the_order_of_the_examples(examples, words, reader):
    together = answers(reader, examples, words, size=4)
    alone = [answers(reader, [e], words)[0] for e in examples]
    assert together == alone
    expected = [a == e.answer for a, e in zip(alone, examples, strict=True)]
    assert right_answers(reader, examples, words).tolist() == expected


def test_news_tensors_hold_the_articles_and_what_is_salient():
    articles = news_articles(5, seed=2)
    words = Vocabulary.build([s for a in articles for s in a.sentences])
    texts, salient = news_tensors(articles, words)
    for row, article in enumerate(articles):
        for place, sentence in enumerate(article.sentences):
            assert tuple(words.decode(texts[row, place])) == sentence
        assert (texts[row, len(article.sentences) :] == 0).all()
        assert tuple(np.flatnonzero(salient[row])) == article.salient
    batch_of = news_batches(articles, words, size=3, seed=1)
    torch.testing.assert_close(batch_of(7), batch_of(7))
    with pytest.raises(ValueError, match="at least one article"):
        news_tensors([], words)


def test_the_salient_sentences_beat_the_others():
    articles = news_articles(20, seed=2)
    salient = summary_rouge(articles, [a.salient for a in articles])
    rest = [[i for i in range(8) if i not in a.salient] for a in articles]
    assert 80 < salient < 100
    assert summary_rouge(articles, rest) < salient - 20


def test_the_share_is_the_mean_over_marked_queries(rng):
    weights = torch.randn(2, 3, 5, 7, generator=rng).softmax(-1)
    queries = marks([[1, 4], [0]], 5)
    keys = marks([[2, 6], [3]], 7)
    expected = (
        weights[0, :, 1, [2, 6]].sum(-1)
        + weights[0, :, 4, [2, 6]].sum(-1)
        + weights[1, :, 0, 3]
    ) / 3
    torch.testing.assert_close(weight_share(weights, queries, keys), expected)


test_bad_input_is_named = refuses(
    (lambda w: weight_share(w, marks([[1]], 4), marks([[1]], 7)), "queries must"),
    (lambda w: weight_share(w, marks([[1]], 5), marks([[1]], 6)), "keys must"),
    (lambda w: weight_share(w, marks([[]], 5), marks([[1]], 7)), "marks none"),
    (lambda w: marks([[7]], 7), "between 0 and 6"),
    (lambda w: cut(None, w).__enter__(), "must be boolean"),
    run=lambda call: call(torch.full((1, 3, 5, 7), 1 / 7)),
)


def test_a_cut_hides_keys_while_the_block_runs(examples, words, reader):
    question, context, *_ = reading_tensors(examples[:2], words)
    hidden = marks([[0, 2], [1]], context.shape[1])
    whole = reader(question, context, need_weights=True)[2]
    with torch.no_grad(), cut(reader.from_context, hidden):
        seen = reader(question, context, need_weights=True)[2]["from_context"]
    assert (seen[0, :, :, [0, 2]] == 0).all()
    assert (seen[1, :, :, 1] == 0).all()
    present = question != 0
    sums = seen.sum(-1).transpose(1, 2)[present]
    torch.testing.assert_close(sums, torch.ones_like(sums))
    after = reader(question, context, need_weights=True)[2]
    torch.testing.assert_close(after["from_context"], whole["from_context"])


def test_a_cut_of_pairs_leaves_the_other_queries_alone():
    torch.manual_seed(0)
    model = SelfAttentionSummarizer(23, 12, 3, 17).eval()
    texts = torch.randint(1, 23, (2, 5, 4))
    pairs = torch.zeros(2, 5, 5, dtype=torch.bool)
    pairs[:, 1, 3] = True
    before = model(texts, need_weights=True)[1]["layers"][0]
    with cut(model.layers[0], pairs):
        seen = model(texts, need_weights=True)[1]["layers"][0]
    assert (seen[:, :, 1, 3] == 0).all()
    others = [0, 2, 3, 4]
    torch.testing.assert_close(seen[:, :, others], before[:, :, others])
