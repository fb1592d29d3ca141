import pytest
import torch

from attncourse.models.summary import SelfAttentionSummarizer, salience_loss
from tests.refusing import generator, refuses

IDS, WIDTH, HEADS, HIDDEN = 23, 12, 3, 17
BATCH, SENTENCES, WORDS = 2, 5, 7


class Words:
    """A vocabulary of the words w1, w2, …"""

    def encode(self, words):
        return [int(word[1:]) for word in words]


def make(**options):
    torch.manual_seed(0)
    return SelfAttentionSummarizer(
        IDS, WIDTH, HEADS, HIDDEN, max_length=11, **options
    ).eval()


def example(rng):
    texts = torch.randint(1, IDS, (BATCH, SENTENCES, WORDS), generator=rng)
    texts[0, 2, 4:] = 0
    texts[1, 3:] = 0
    return texts


def test_there_is_one_score_for_each_sentence(rng):
    scores = make()(example(rng))
    assert scores.shape == (BATCH, SENTENCES)
    assert scores[0].isfinite().all()
    assert (scores[1, 3:] == -torch.inf).all()


def test_padding_changes_nothing(rng):
    model, texts = make(), example(rng)
    expected = model(texts)
    wider = torch.nn.functional.pad(texts, (0, 2, 0, 3))
    torch.testing.assert_close(model(wider)[:, :SENTENCES], expected)
    torch.testing.assert_close(model(texts[1:, :3]), expected[1:, :3])


@pytest.mark.parametrize("layers", [0, 1])
def test_sentences_are_judged_by_the_others_if_there_is_attention(rng, layers):
    model, texts = make(num_layers=layers), example(rng)
    before = model(texts)[0]
    texts[0, 4] = texts[0, 4] % (IDS - 1) + 1
    after = model(texts)[0]
    changed = (after - before).abs() > 1e-7
    assert changed[4]
    assert changed[:4].all() if layers else not changed[:4].any()


def test_weights_are_returned_on_request(rng):
    texts = example(rng)
    scores, weights = make()(texts, need_weights=True)
    torch.testing.assert_close(scores, make()(texts))
    assert (weights["words"][texts == 0] == 0).all()
    torch.testing.assert_close(weights["words"][0].sum(-1), torch.ones(SENTENCES))
    (layer,) = weights["layers"]
    assert layer.shape == (BATCH, HEADS, SENTENCES, SENTENCES)


def test_a_summary_has_the_best_sentences_in_order_or_the_whole_of_a_short_text(rng):
    model, texts = make(), example(rng)
    best = model(texts)[0].argsort(descending=True)[:2]
    assert model.generate_summary(texts, num_sentences=2)[0] == sorted(best.tolist())
    whole = model.generate_summary(texts, num_sentences=9)
    assert whole == [[0, 1, 2, 3, 4], [0, 1, 2]]


def test_a_text_of_words_is_summarised(rng):
    model = make()
    sentences = [["w1", "w2"], ["w3"], ["w4", "w5", "w6"]]
    ids = torch.tensor([[[1, 2, 0], [3, 0, 0], [4, 5, 6]]])
    (chosen,) = model.generate_summary(ids, num_sentences=1)
    summary = model.summarize_text(sentences, Words(), num_sentences=1)
    assert summary == [sentences[i] for i in chosen]


def test_the_loss_leaves_padding_out(rng):
    scores = make()(example(rng))
    salient = torch.zeros(BATCH, SENTENCES, dtype=torch.bool)
    salient[:, 1] = True
    p = scores.sigmoid()
    terms = [
        p[b, s] if salient[b, s] else 1 - p[b, s] for b in (0, 1) for s in range(3)
    ]
    terms += [1 - p[0, 3], 1 - p[0, 4]]
    torch.testing.assert_close(
        salience_loss(scores, salient), -torch.stack(terms).log().mean()
    )


test_bad_input_is_named = refuses(
    (lambda m, t: m(t[0]), r"\(batch, sentences, words\)"),
    (lambda m, t: m(t + 30), "ids from 0 to 22"),
    (lambda m, t: m(t.repeat(1, 3, 1)), "x has 15 tokens"),
    (lambda m, t: m.generate_summary(t, num_sentences=0), "at least 1"),
    (lambda m, t: m.summarize_text([], Words()), "needs at least one"),
    (lambda m, t: m.summarize_text([["w1"], []], Words()), "sequence 1 is empty"),
    run=lambda call: call(make(), example(generator())),
)
