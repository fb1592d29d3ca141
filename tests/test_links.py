import math
import sys
from pathlib import Path

import pytest
import torch

from attncourse.data import QAExample, Vocabulary, qa_examples
from attncourse.training.applications import PRONOUNS, misleading, reading_batches

sys.path.insert(0, str(Path(__file__).parents[1] / "experiments"))
from links import counterexamples, link_loss, linked_batches

STORY = "Marco Duval planned a canal . Nora Ito wrote a poem . he built a theatre ."


def example(story, reference, answer=(0, 1)):
    question = ("who", "built", "the", "theatre", "?")
    return QAExample(tuple(story.split()), question, "who", answer, reference)


@pytest.fixture(scope="module")
def found():
    return counterexamples(300, seed=4)


def test_a_question_misleads_if_somebody_is_named_in_between():
    assert misleading(example(STORY, (12, 0)))
    assert not misleading(example(STORY.replace("he", "she"), (12, 6), (6, 7)))
    assert not misleading(example(STORY, None))
    machine = "ENIAC was a machine . Nora Ito wrote a poem . it was completed in 1945 ."
    assert not misleading(example(machine, (11, 0), (0, 0)))  # no "he" or "she"


def test_counterexamples_with_an_answer_mislead(found):
    answered = [e for e in found if e.answer]
    assert len(answered) > 50
    assert all(misleading(e) for e in answered)
    assert {e.kind for e in answered} == {"who", "what"}


def test_batches_are_the_usual_ones_with_links():
    examples = qa_examples(60, seed=3, pronouns=0.9)
    words = Vocabulary.build([e.context + e.question for e in examples])
    plain = reading_batches(examples, words, size=7, seed=2)
    linked = linked_batches(examples, words, size=7, seed=2)
    pronouns = {words.encode([word])[0] for word in PRONOUNS}
    links = 0
    for step in range(9):
        *tensors, names, places = linked(step)
        for ours, theirs in zip(tensors, plain(step), strict=True):
            assert torch.equal(ours, theirs)
        _, context, first, _ = tensors
        for row, (name, place) in enumerate(zip(names, places, strict=True)):
            assert (name < 0) == (place < 0)
            if name >= 0:
                links += 1
                assert name < place and first[row] >= 0
                assert context[row, place].item() in pronouns
    needed = [
        e for e in examples if e.reference and e.context[e.reference[0]] in PRONOUNS
    ]
    assert links == len(needed) > 5


def test_the_loss_counts_both_links_of_those_that_have_one():
    weights = torch.full((3, 2, 4, 4), 0.25)
    weights[0, 0, 1, 3], weights[0, 1, 3, 1] = 0.5, 0.125
    names, pronouns = torch.tensor([1, -1, 0]), torch.tensor([3, -1, 2])
    expected = -(math.log(0.5 * 0.125) + 2 * math.log(0.25)) / 3
    assert link_loss(weights, names, pronouns).item() == pytest.approx(expected, 1e-4)
    nothing = torch.tensor([-1, -1, -1])
    assert link_loss(weights, nothing, nothing).item() == 0
