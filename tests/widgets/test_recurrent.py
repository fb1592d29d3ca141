"""Copying and reading in the page: what PyTorch computes, from the same weights."""

import base64

import numpy as np
import pytest
import torch

from attncourse import recorded
from attncourse.data import ENIAC_NAMES, qa_examples
from attncourse.data.symbols import copy_batch
from attncourse.training.applications import answers
from attncourse.widgets import Copying, Reading
from attncourse.widgets._models import weights_file

COPY = """({coded, sources}) => {
  const {Copier, readTensors, fromBase64} = window.engine;
  const model = new Copier(readTensors(fromBase64(coded)));
  return sources.map(ids => model.copy(ids).map(({id, logits}) => [id, [...logits]]));
}"""
READ = """({coded, examples}) => {
  const {Reader, bestSpan, readTensors, fromBase64} = window.engine;
  const model = new Reader(readTensors(fromBase64(coded)), 4);
  return examples.map(([question, passage]) => {
    const {start, end, weights} = model.read(question, passage);
    return {start, end, span: bestSpan(start, end),
            passage: [...weights.passage], question: [...weights.question]};
  });
}"""


def coded(name):
    return base64.b64encode(weights_file(name)).decode()


@pytest.mark.parametrize("name", Copying._models)
def test_copies_equal_those_of_pytorch(tab, name):
    model, _ = recorded.load_model(name)
    page = tab(Copying._esm, "Copier", "readTensors", "fromBase64")
    sources = [copy_batch(1, n, n, num_symbols=10, seed=n)[0] for n in (2, 13, 60)]
    given = {"coded": coded(name), "sources": [s[0].tolist() for s in sources]}
    for source, steps in zip(sources, page.evaluate(COPY, given), strict=True):
        ids, logits = ([step[part] for step in steps] for part in (0, 1))
        with torch.no_grad():
            theirs = model(source, torch.tensor([ids]))[0].numpy()
        assert np.abs(np.array(logits) - theirs).max() < 1e-3
        assert ids == model.greedy_decode(source, len(ids))[0].tolist()


@pytest.mark.parametrize("name", Reading._models)
def test_spans_scores_and_weights_equal_those_of_pytorch(tab, name):
    model, record = recorded.load_model(name)
    words = record["vocabularies"]["text"]
    examples = qa_examples(12, 5, extra=ENIAC_NAMES)
    pairs = [(words.encode(e.question), words.encode(e.context)) for e in examples]
    pairs.append(([3, 44], [3, 17, 3]))  # words that it does not know
    page = tab(Reading._esm, "Reader", "bestSpan", "readTensors", "fromBase64")
    spans = [None if s is None else list(s) for s in answers(model, examples, words)]
    assert None in spans
    results = page.evaluate(READ, {"coded": coded(name), "examples": pairs})
    assert [found["span"] for found in results][:-1] == spans
    for (question, passage), found in zip(pairs, results, strict=True):
        ids = torch.tensor([question]), torch.tensor([passage])
        with torch.no_grad():
            start, end, weights = model(*ids, need_weights=True)
        assert np.abs(found["start"] - start[0].numpy()).max() < 1e-3
        assert np.abs(found["end"] - end[0].numpy()).max() < 1e-3
        for side, part in (("passage", "from_question"), ("question", "from_context")):
            theirs = weights[part][0].numpy()
            ours = np.reshape(found[side], theirs.shape)
            assert np.abs(ours - theirs).max() < 1e-4


DONE = "[data-state=done]"


def test_the_reader_answers_what_is_typed_and_names_unknown_words(shown):
    page = shown(Reading())
    page.wait_for_selector(DONE)
    report = page.locator(".attn-report").first
    page.get_by_label("Question", exact=True).fill("when was ENIAC unveiled?")
    assert report.inner_text().startswith("The model’s answer: “February 1946”")
    marked = page.locator(".attn-known").all_inner_texts()
    assert marked == ["February\n100 · 0", "1946\n0 · 100"]
    assert "same answer" not in report.inner_text()
    page.get_by_label("Question", exact=True).fill("when was the ENIAC unveiled ?")
    assert "%). The same answer as before. " in report.inner_text()
    page.get_by_label("Question", exact=True).fill("when was Zuse sold ?")
    assert "not in its vocabulary: Zuse." in report.inner_text()
    passage = page.get_by_label("Passage", exact=True)
    passage.fill("Ada Rossi moved to Rome. There she built the theatre.")
    page.get_by_role("button", name="Swap “he” and “she”").click()
    swapped = "Ada Rossi moved to Rome. There he built the theatre."
    assert passage.input_value() == swapped
    passage.fill(" ")
    assert "Write a passage" in report.inner_text()


def test_the_reader_shows_the_weights_that_are_asked_for(shown):
    widget = Reading()
    page = shown(widget)
    page.wait_for_selector(DONE)
    model, record = recorded.load_model("reader_0")
    words = record["vocabularies"]["text"]
    texts = [widget.question.split(), widget.passage.split()]
    with torch.no_grad():
        ids = [torch.tensor([words.encode(text)]) for text in texts]
        weights = model(*ids, need_weights=True)[2]
    page.get_by_label("seed 0").check()
    page.get_by_role("group", name="Head").get_by_label("2").check()
    page.get_by_role("group", name="Word of the question").get_by_label("ENIAC").check()
    page.locator("summary").click()

    def in_table():
        rows = page.locator("tbody tr").all()[1:]
        return [float(row.locator("td").last.inner_text()) for row in rows]

    back = 100 * weights["from_question"][0, 2, :, 2].numpy()
    assert np.abs(in_table() - back).max() < 0.51
    page.get_by_label("from that word to the passage").check()
    forth = 100 * weights["from_context"][0, 2, 2].numpy()
    assert np.abs(in_table() - forth).max() < 0.51


def test_copies_are_counted_and_the_length_follows(shown):
    page = shown(Copying(text="AB" * 20))
    page.wait_for_selector(DONE)
    source = torch.tensor([20 * [1, 2]])
    report = page.locator(".attn-report").first
    models = [recorded.load_model(name)[0] for name in Copying._models]
    right = [(m.greedy_decode(source, 40) == source).sum().item() for m in models]
    said = "With attention {} of 40 symbols are right, and without attention {}. "
    assert report.inner_text().startswith(said.format(*right))
    page.locator("input[type=range]").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("input[type=text]").input_value().startswith("AB" * 20)
    assert "of 41 symbols" in report.inner_text()
    page.locator("input[type=text]").fill("ABX")
    assert "does not know “X”" in report.inner_text()
