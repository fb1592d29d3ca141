"""Passages with questions: spans, references, and what has no answer."""

from collections import Counter

import pytest

from attncourse.data import ENIAC_NAMES, eniac_passage, qa_examples, reading_passages
from attncourse.data.facts import ACTIONS, MEN, MONTHS, TOWNS, WOMEN
from tests.refusing import refuses

BASES = {base: past for past, base, _, _ in ACTIONS}


@pytest.fixture(scope="module")
def texts():
    return reading_passages(400, seed=3)


@pytest.fixture(scope="module")
def examples():
    return qa_examples(2000, seed=4)


def answer(passage, question):
    start, stop = question.answer
    return passage.tokens[start : stop + 1]


def test_sentences_tile_the_passage_and_end_with_a_full_stop(texts):
    for passage in texts:
        stops = [stop for _, stop in passage.sentences]
        assert [start for start, _ in passage.sentences] == [0, *stops[:-1]]
        assert stops[-1] == len(passage.tokens)
        assert all(passage.tokens[stop - 1] == "." for stop in stops)


def test_dates_answer_when_and_places_answer_where(texts):
    seen = Counter()
    for passage in texts:
        for question in passage.questions:
            if question.answer is None:
                continue
            words = answer(passage, question)
            seen[question.kind] += 1
            if question.kind == "when":
                assert words[-1].isdigit()
                assert len(words[-1]) == 4
                assert all(w.isdigit() or w in MONTHS for w in words)
            if question.kind == "where":
                assert words in TOWNS
            if question.kind == "who":
                assert words[0] in {*MEN, *WOMEN}
    assert set(seen) == {"who", "what", "when", "where"}


def read_facts(passage):
    """Read the deeds of people with a plain reader, resolving pronouns by name."""
    last, deeds = {}, {}
    for start, stop in passage.sentences:
        words = passage.tokens[start:stop]
        for i, word in enumerate(words):
            if word not in BASES.values() or words[i + 1] not in ("a", "an"):
                continue
            subject = words[i - 1 : i]
            if subject[0] in ("he", "she"):
                name = last[subject[0]]
            else:
                name = words[i - 2 : i]
                last["he" if name[0] in MEN else "she"] = name
            deeds[words[i + 2 : i + 4]] = (name, word, words)
    return deeds


def test_answers_agree_with_an_independent_reader(texts):
    checked = 0
    for passage in texts:
        if "machine" in passage.tokens:
            continue
        deeds = read_facts(passage)
        for question in passage.questions:
            words = question.tokens
            if question.kind == "who":
                deed = deeds.get(words[-3:-1])
                if question.answer is None:
                    assert deed is None
                else:
                    assert answer(passage, question) == deed[0]
                    checked += 1
            if question.kind == "what" and words[1] == "did":
                name, past = words[2:4], BASES[words[4]]
                found = [w for w, d in deeds.items() if d[:2] == (name, past)]
                if question.answer is None:
                    assert not found
                else:
                    assert [answer(passage, question)[1:]] == found
                    checked += 1
    assert checked > 800


def test_a_question_without_an_answer_has_none_in_its_sentence(texts):
    for passage in texts:
        deeds = read_facts(passage)
        for question in passage.questions:
            for work, (_, _, words) in deeds.items():
                if " ".join(work) not in " ".join(question.tokens):
                    continue
                if question.kind == "when":
                    dated = any(w.isdigit() and len(w) == 4 for w in words)
                    assert dated == (question.answer is not None)
                if question.kind == "where":
                    text = " ".join(words)
                    placed = any(f"in {' '.join(t)}" in text for t in TOWNS)
                    assert placed == (question.answer is not None)


def test_references_lead_from_a_pronoun_to_the_name(texts):
    seen = Counter()
    for passage in texts:
        for question in passage.questions:
            if question.reference is None:
                continue
            word, name = question.reference
            assert name < word
            seen[passage.tokens[word]] += 1
            person = passage.tokens[name]
            if passage.tokens[word] == "she":
                assert person in WOMEN
            if passage.tokens[word] == "he":
                assert person in MEN
    assert {"he", "she", "it", "the"} == set(seen)


def test_a_machine_is_unveiled_after_it_is_completed(texts):
    checked = 0
    for passage in texts:
        years = {}
        for question in passage.questions:
            if question.kind != "when" or question.answer is None:
                continue
            if question.tokens[-2] in ("completed", "unveiled"):
                years[question.tokens[-2]] = int(answer(passage, question)[-1])
        if len(years) == 2:
            assert years["completed"] <= years["unveiled"]
            checked += 1
    assert checked > 10


def test_articles_fit_the_next_word(texts):
    for passage in texts:
        for word, after in zip(passage.tokens, passage.tokens[1:], strict=False):
            if word in ("a", "an"):
                assert (word == "an") == (after[0] in "aeiou")


def test_kinds_are_balanced_and_the_share_without_answer_is_as_asked(examples):
    kinds = Counter(e.kind for e in examples)
    assert min(kinds.values()) > 400
    share = sum(e.answer is None for e in examples) / len(examples)
    assert share == pytest.approx(0.2, abs=0.03)
    assert all((e.answer_tokens() == ()) == (e.answer is None) for e in examples)
    assert all(e.answer for e in qa_examples(50, unanswerable=0.0))
    assert not any(e.answer for e in qa_examples(50, unanswerable=1.0))


def test_contexts_grow_with_the_number_of_facts():
    short = qa_examples(60, seed=1, min_facts=2, max_facts=2)
    long = qa_examples(60, seed=1, min_facts=12, max_facts=12)
    assert min(len(e.context) for e in long) > max(len(e.context) for e in short)


def test_extra_names_are_used():
    words = {w for e in qa_examples(400, extra=ENIAC_NAMES) for w in e.context}
    assert {"ENIAC", "Mauchly", "Presper", "Eckert", "Pennsylvania"} <= words


def test_eniac_is_described_truly():
    passage = eniac_passage()
    answers = {
        " ".join(q.tokens): q.answer and " ".join(answer(passage, q))
        for q in passage.questions
    }
    assert answers == {
        "what was ENIAC ?": "a general-purpose computer",
        "when was ENIAC completed ?": "1945",
        "where was ENIAC completed ?": "the University of Pennsylvania",
        "when was ENIAC unveiled ?": "February 1946",
        "who designed ENIAC ?": "John Mauchly and J. Presper Eckert",
        "when was ENIAC sold ?": None,
    }


test_numbers_out_of_range_are_refused = refuses(
    ({"min_facts": 0}, "min_facts must be at least 1"),
    ({"min_facts": 5, "max_facts": 4}, "must not exceed"),
    ({"max_facts": 41}, "max_facts must be 40 or less"),
    ({"pronouns": 2}, "pronouns must lie between 0 and 1"),
    ({"missing": "x"}, TypeError, "missing must be a number"),
    ({"unanswerable": -1}, "unanswerable must lie"),
    run=lambda options: qa_examples(1, **options),
)
