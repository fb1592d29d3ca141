"""The references of exercise 2 agree with the package; its checks say what is amiss."""

import re
import sys
from pathlib import Path

import nbformat
import pytest
import torch

from attncourse.exercises import patterns
from attncourse.exercises.judge import judge_task
from attncourse.exercises.patterns.hits import hits
from attncourse.exercises.patterns.languages import translators
from attncourse.exercises.patterns.models import (
    draw_weights,
    hugging_face,
    weights_by_hand,
)
from attncourse.exercises.patterns.places import BACK, FIRST
from attncourse.exercises.patterns.tokens import AFTER, SAME
from attncourse.layers import heads as measures
from attncourse.training.metrics import alignment_error_rate

ROOT = Path(__file__).resolve().parents[2]


def unpadded():
    generator = torch.Generator().manual_seed(0)
    tokens = torch.randint(1, 4, (5, 7), generator=generator)
    return draw_weights(generator, 3, tokens > 0), tokens


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (BACK, lambda w, t: measures.previous_token_score(w)),
        (FIRST, lambda w, t: measures.first_token_score(w)),
        (SAME, measures.same_token_score),
        (AFTER, measures.induction_score),
    ],
)
def test_without_padding_the_scores_are_those_of_the_package(ours, theirs):
    weights, tokens = unpadded()
    torch.testing.assert_close(ours(weights, tokens), theirs(weights, tokens))


def test_with_one_link_for_each_word_hits_and_error_rate_sum_to_one():
    generator = torch.Generator().manual_seed(1)
    weights = torch.rand(3, 2, 5, 7, generator=generator)
    links = [[((3 * t + b) % 7, t) for t in range(5)] for b in range(3)]
    for head, share in enumerate(hits(weights, links)):
        maps = [one[head] for one in weights]
        assert share == pytest.approx(1 - alignment_error_rate(maps, links))


@pytest.mark.parametrize("name", ["bert", "gpt2"])
def test_weights_by_hand_are_those_of_the_library(name):
    pytest.importorskip("transformers")
    model = hugging_face(name, 3, 2, 3, "eager")
    ids, mask = torch.tensor([[3, 4, 5, 6]]), torch.tensor([[1, 1, 1, 0]])
    with torch.no_grad():
        found = model(input_ids=ids, attention_mask=mask, output_attentions=True)
    expected = torch.stack(found.attentions) * mask[None, :, None, :, None]
    torch.testing.assert_close(weights_by_hand(model, ids, mask), expected)


def test_a_translator_with_turned_heads_computes_the_same():
    source, target = torch.tensor([[5, 6, 7, 2]]), torch.tensor([[8, 9, 2]])
    for language, (model, _) in translators(1).items():
        plain, _ = translators(0)[language]
        with torch.no_grad():
            ours, maps = model(source, target, need_weights=True)
            theirs, others = plain(source, target, need_weights=True)
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)
        turned = others["cross"][-1].roll(1, 1)
        torch.testing.assert_close(maps["cross"][-1], turned)


def test_without_transformers_the_check_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    exercise = patterns.EXERCISE
    task = exercise.task("hugging_face")
    verdicts = judge_task(exercise, task, [lambda model, ids, mask: None])
    assert {v.mistake for v in verdicts} == {"transformers is missing"}
    assert "pip install transformers" in verdicts[0].says


def test_the_package_s_own_scores_and_pictures_are_ruled_out():
    task = patterns.EXERCISE.task("place")
    answers = [measures.previous_token_score, measures.first_token_score]

    def looks_back(weights, tokens):
        return measures.previous_token_score(weights)

    for answer in (looks_back, answers[0]):
        verdicts = judge_task(patterns.EXERCISE, task, [answer, answers[1]])
        assert {v.mistake for v in verdicts} == {"forbidden function"}


def anchors_of(page):
    notebook = nbformat.read(ROOT / f"{page}.ipynb", as_version=4)
    heads = [
        line.lstrip("#")
        for cell in notebook.cells
        if cell.cell_type == "markdown"
        for line in cell.source.splitlines()
        if line.startswith("#")
    ]
    words = [re.sub(r"[^a-z0-9]+", "-", head.lower()).strip("-") for head in heads]
    return set(words)


def test_every_place_to_read_is_there():
    for task in patterns.EXERCISE.tasks:
        for check in task.checks:
            for mistake in check.mistakes:
                if mistake.read:
                    page, _, anchor = mistake.read.partition("#")
                    assert anchor in anchors_of(page), mistake.read
