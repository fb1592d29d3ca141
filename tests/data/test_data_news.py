"""News: what is salient, where it stands, and how far lead-3 gets."""

from collections import Counter

import pytest

from attncourse.data import news_articles
from tests.refusing import refuses


@pytest.fixture(scope="module")
def articles():
    return news_articles(1500, seed=8)


def rouge_1(found, wanted):
    """Return the F1 of single words, written down from its definition."""
    found, wanted = Counter(found), Counter(wanted)
    same = sum((found & wanted).values())
    return 2 * same / (sum(found.values()) + sum(wanted.values()))


def score(articles, choose):
    total = 0
    for article in articles:
        words = [w for i in choose(article) for w in article.sentences[i]]
        total += rouge_1(words, article.summary_tokens())
    return total / len(articles)


def test_three_sentences_are_salient_and_summarised_in_order(articles):
    for article in articles:
        assert len(article.salient) == len(article.summary) == 3
        assert list(article.salient) == sorted(set(article.salient))
        assert 9 <= len(article.sentences) <= 16
        for i, short in zip(article.salient, article.summary, strict=True):
            assert article.roles[i] == "news"
            assert set(short) <= set(article.sentences[i])
            assert len(short) < len(article.sentences[i])
            assert article.topic in " ".join(short)


def test_the_topic_is_what_the_article_mentions_most(articles):
    for article in articles:
        counts = Counter(article.roles)
        assert counts["news"] == counts["other news"] == 3
        assert counts["background"] > counts["other background"]
        for sentence, role in zip(article.sentences, article.roles, strict=True):
            about = article.topic in " ".join(sentence)
            assert about == (role in ("news", "background"))


def test_salient_sentences_stand_anywhere(articles):
    places = Counter(i for a in articles for i in a.salient)
    assert places[0] / len(articles) < 0.45
    assert all(places[i] > 100 for i in range(9))


def test_lead_3_is_a_real_baseline_that_can_be_beaten(articles):
    lead = score(articles, lambda a: (0, 1, 2))
    oracle = score(articles, lambda a: a.salient)
    assert 0.4 < lead < 0.6
    assert oracle > 0.88


def test_news_about_the_other_topic_is_no_help(articles):
    other = score(
        articles, lambda a: [i for i, r in enumerate(a.roles) if r == "other news"]
    )
    assert other < 0.6


def test_articles_can_open_with_the_news_on_purpose():
    for article in news_articles(50, top=1.0):
        assert article.salient[0] == 0


def test_tokens_are_those_of_all_sentences(articles):
    article = articles[0]
    assert len(article.tokens()) == sum(map(len, article.sentences))
    assert all(s[-1] == "." and "{" not in "".join(s) for s in article.sentences)


test_numbers_out_of_range_are_refused = refuses(
    ({"min_sentences": 7}, "min_sentences must be at least 8"),
    ({"max_sentences": 31}, "max_sentences must be 30 or less"),
    ({"min_sentences": 12, "max_sentences": 10}, "must not exceed"),
    ({"top": 1.5}, "top must lie between 0 and 1"),
    run=lambda options: news_articles(1, **options),
)
