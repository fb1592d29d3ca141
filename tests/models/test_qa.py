import pytest
import torch

from attncourse.models.qa import QATransformer, best_spans, span_loss
from tests.refusing import generator, refuses

IDS, D_MODEL, HEADS, LAYERS = 23, 12, 3, 2
BATCH, QUESTION, CONTEXT = 2, 5, 7


def make():
    torch.manual_seed(0)
    return QATransformer(IDS, D_MODEL, HEADS, LAYERS).eval()


def example(rng):
    question = torch.randint(1, IDS, (BATCH, QUESTION), generator=rng)
    context = torch.randint(1, IDS, (BATCH, CONTEXT), generator=rng)
    question[0, 3:] = 0
    context[1, 4:] = 0
    return question, context


def test_scores_point_into_the_context(rng):
    start, end = make()(*example(rng))
    assert start.shape == end.shape == (BATCH, 1 + CONTEXT)
    assert start[0].isfinite().all()
    assert (start[1, 5:] == -torch.inf).all()
    assert (end[1, 5:] == -torch.inf).all()


def test_padding_changes_nothing(rng):
    model = make()
    question, context = example(rng)
    start, _ = model(question, context)
    wider = [torch.nn.functional.pad(ids, (0, 3)) for ids in (question, context)]
    torch.testing.assert_close(model(*wider)[0][:, : 1 + CONTEXT], start)
    alone, _ = model(question[:1, :3], context[:1])
    torch.testing.assert_close(alone, start[:1])


def test_every_word_of_question_and_context_matters(rng):
    model = make()
    question, context = example(rng)
    before, _ = model(question, context)
    for ids, row in ((question, 1), (context, 0)):
        for place in range(ids.shape[1]):
            old = ids[row, place].item()
            ids[row, place] = old % (IDS - 1) + 1
            after, _ = model(question, context)
            ids[row, place] = old
            assert (after.softmax(-1) - before.softmax(-1))[row].abs().max() > 1e-6


def test_all_weights_are_returned_on_request(rng):
    question, context = example(rng)
    start, end, weights = make()(question, context, need_weights=True)
    torch.testing.assert_close((start, end), make()(question, context))
    shapes = {
        "from_question": (CONTEXT, QUESTION),
        "from_context": (QUESTION, CONTEXT),
        "back_to_context": (CONTEXT, QUESTION),
    }
    for name, shape in shapes.items():
        assert weights[name].shape == (BATCH, HEADS, *shape)
        torch.testing.assert_close(
            weights[name].sum(-1), torch.ones(BATCH, HEADS, shape[0])
        )
    assert [w.shape for w in weights["layers"]] == [
        (BATCH, HEADS, CONTEXT, CONTEXT)
    ] * LAYERS


def test_without_attention_only_the_mean_of_the_question_is_read(rng):
    torch.manual_seed(0)
    model = QATransformer(IDS, D_MODEL, HEADS, 0, attention=False).eval()
    question, context = example(rng)
    start, _, weights = model(question, context, need_weights=True)
    assert weights == {"layers": []}
    assert not any("from_" in name for name, _ in model.named_parameters())
    alone = model(question[:1, :3], context[:1])[0]
    torch.testing.assert_close(alone, start[:1])


def test_before_training_a_word_looks_for_its_like():
    torch.manual_seed(0)
    model = QATransformer(IDS, 48, HEADS).eval()
    words = torch.arange(1, 1 + CONTEXT)[None]
    *_, weights = model(words, words.flip(1), need_weights=True)
    for name in ("from_question", "from_context"):
        looks = weights[name][0].mean(0).argmax(-1)
        assert torch.equal(looks, torch.arange(CONTEXT).flip(0))


@pytest.mark.parametrize("max_answer", [1, 3, 7])
def test_the_joint_search_finds_the_best_span(rng, max_answer):
    start, end = torch.randn(2, 50, CONTEXT, generator=rng)
    spans, scores = best_spans(start, end, max_answer)
    for row in range(50):
        options = {
            (i, j): (start[row, i] + end[row, j]).item()
            for i in range(CONTEXT)
            for j in range(i, min(CONTEXT, i + max_answer))
        }
        best = max(options, key=options.get)
        assert tuple(spans[row].tolist()) == best
        assert scores[row].item() == pytest.approx(options[best])


def test_an_answer_is_a_span_or_nothing(rng):
    model = make()
    question, context = example(rng)
    start, end = model(question, context)
    model.nothing.bias.data.fill_(1e6)
    assert model.predict_answer(question, context) == [None, None]
    model.nothing.bias.data.fill_(-1e6)
    spans = model.predict_answer(question, context)
    expected, _ = best_spans(start[:, 1:], end[:, 1:], 10)
    assert spans == [tuple(s) for s in expected.tolist()]
    assert all(0 <= i <= j for i, j in spans)
    assert spans[1][1] < 4


def test_the_loss_is_that_of_the_gold_span_or_of_nothing(rng):
    model = make()
    start, end = model(*example(rng))
    first, last = torch.tensor([2, -1]), torch.tensor([4, -1])
    log_start, log_end = start.log_softmax(-1), end.log_softmax(-1)
    expected = -(log_start[0, 3] + log_start[1, 0] + log_end[0, 5] + log_end[1, 0]) / 4
    loss = span_loss(start, end, first, last)
    torch.testing.assert_close(loss, expected)
    loss.backward()
    assert all(p.grad.isfinite().all() for p in model.parameters())


test_bad_input_is_named = refuses(
    (lambda q, c: (q, c + 30), "ids from 0 to 22"),
    (lambda q, c: (q[:1], c), "the same batch size"),
    (lambda q, c: (q, c.flip(1)), "padded on the right"),
    (lambda q, c: (q * 0, c), "row 0 is empty"),
    run=lambda change: make()(*change(*example(generator()))),
)


test_a_model_that_cannot_work_is_not_made = refuses(
    (lambda: QATransformer(IDS, 7, 1), "d_model must be even"),
    (lambda: QATransformer(IDS, 8, 3), "divisible by"),
)
