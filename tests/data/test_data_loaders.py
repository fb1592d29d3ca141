"""Loaders: what they read, and what each error says."""

import json
import re

import pytest

from attncourse.data import read_parallel_text, read_squad, to_qa_examples


@pytest.fixture
def write(tmp_path):
    def write(content, name="data.tsv"):
        path = tmp_path / name
        if isinstance(content, str):
            content = content.encode("utf-8")
        path.write_bytes(content)
        return path

    return write


def test_pairs_are_read_line_by_line(write):
    path = write("The dog.\tLe chien.\n\n  \nThe cat. \t Le chat.\n")
    assert read_parallel_text(path) == [
        ("The dog.", "Le chien."),
        ("The cat.", "Le chat."),
    ]
    assert read_parallel_text(str(path), source=1, target=0)[0][0] == "Le chien."


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        ("\ufeffa\té\r\nb\tc\r\n".encode(), "utf-8"),
        ("a\té\nb\tc".encode("latin-1"), "latin-1"),
        ("a\té\nb\tc\n".encode("utf-16"), "utf-16"),
        ("a\té\nb\tc\n".encode("utf-8-sig"), "utf-8-sig"),
    ],
)
def test_marks_line_ends_and_encodings_are_understood(write, data, encoding):
    assert read_parallel_text(write(data), encoding=encoding) == [
        ("a", "é"),
        ("b", "c"),
    ]


def test_more_columns_can_be_asked_for(write):
    path = write("1\ta\tb\n2\tc\td\n")
    assert read_parallel_text(path, source=1, target=2, columns=3)[1] == ("c", "d")
    assert read_parallel_text(path, source=1, target=2)[1] == ("c", "d")


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("", {}, "data.tsv: the file is empty; expected text in utf-8"),
        ("\ufeff", {}, "data.tsv: the file is empty"),
        ("a\tb\nc\n", {}, "line 2: expected 2 columns .* (as on line 1), found 1"),
        ("a\tb\nc\td\te\n", {}, "line 2: .* found 3 .*remove the extra tabs"),
        ("a;b\n", {}, "line 1: expected 2 .* found 1 in 'a;b'; it may use another"),
        ("a\tb\n", {"columns": 3}, "line 1: expected 3 .* (as asked), found 2"),
        ("a\tb\n\t\nc\t \n", {}, "line 3: the target sentence (column 1) is empty"),
        (b"a\tb\nc\t\xe9\n", {}, 'line 2: byte 0xe9 is not valid .*encoding="latin-1"'),
        ("a\tb\n".encode("utf-16"), {}, 'starts with a UTF-16 mark.*encoding="utf-16"'),
        ("a\tb\n".encode("utf-16-le"), {}, "contains zero bytes"),
        ("a\tb\n", {"encoding": "nope"}, "unknown encoding 'nope'"),
        ("a\tb\n", {"source": 1}, "source and target must be different columns"),
        ("a\tb\n", {"columns": 1}, "columns is 1, but column 1 was asked for"),
        ("a\tb\n", {"source": -1}, "source must be at least 0"),
    ],
)
def test_errors_name_the_line_and_the_remedy(write, content, options, message):
    pattern = message.replace("(", r"\(").replace(")", r"\)")
    with pytest.raises(ValueError, match=pattern):
        read_parallel_text(write(content), **options)


@pytest.mark.parametrize("read", [read_parallel_text, read_squad])
def test_a_missing_file_and_a_folder_are_told_apart(read, tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no such file; the current"):
        read(tmp_path / "nothing")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        read(tmp_path)


CONTEXT = "ENIAC was completed in 1945. It was unveiled in February 1946."


def squad(**changes):
    qa = {
        "id": "q1",
        "question": "When was ENIAC completed?",
        "answers": [{"text": "1945", "answer_start": 23}],
    }
    qa.update(changes)
    qa = {key: value for key, value in qa.items() if value is not ...}
    return {"data": [{"title": "T", "paragraphs": [{"context": CONTEXT, "qas": [qa]}]}]}


def answered(text, start):
    return squad(answers=[{"text": text, "answer_start": start}])


def test_questions_are_read_with_their_answers(write):
    (example,) = read_squad(write(json.dumps(squad()), "qa.json"))
    assert (example.id, example.title) == ("q1", "T")
    start, text = example.answers[0]
    assert example.context[start : start + len(text)] == text == "1945"


def test_questions_without_answer_are_read(write):
    data = squad(answers=[], is_impossible=True)
    (example,) = read_squad(write("\ufeff" + json.dumps(data), "qa.json"))
    assert example.answers == ()
    assert to_qa_examples([example])[0].answer is None


def test_character_places_become_token_spans(write):
    example = read_squad(write(json.dumps(answered("February 1946", 48)), "qa.json"))
    (made,) = to_qa_examples(example)
    assert made.answer_tokens() == ("February", "1946")
    assert made.kind == "when"
    assert made.question == ("when", "was", "ENIAC", "completed", "?")


def test_an_answer_inside_a_token_is_widened_to_it(write):
    example = read_squad(write(json.dumps(answered("94", 24)), "qa.json"))
    assert to_qa_examples(example)[0].answer_tokens() == ("1945",)


QA = "data[0].paragraphs[0].qas[0]"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "the top level: expected an object, found a list"),
        ({}, 'data: missing, found only nothing; add "data"'),
        ({"data": []}, "data: there is no question in the file"),
        ({"data": ["x"]}, "data[0]: expected an object, found a string"),
        ({"data": [{"title": "T"}]}, "data[0].paragraphs: missing, found only title"),
        (
            {"data": [{"paragraphs": [{"qas": []}]}]},
            "data[0].paragraphs[0].context: missing, found only qas",
        ),
        (squad(question=...), f"{QA}.question: missing, found only answers, id"),
        (squad(question=" "), f"{QA}.question: the question is empty"),
        (squad(question=3), f"{QA}.question: expected a string, found a whole number"),
        (squad(answers=...), f"{QA}.answers: missing"),
        (squad(answers=[]), f"{QA}.answers: there is no answer; add one"),
        (squad(is_impossible=True), f"{QA}: is_impossible is true, but"),
        (squad(is_impossible=1), f"{QA}.is_impossible: expected true or false"),
        (
            answered("1945", 22),
            f"{QA}.answers[0].answer_start: expected '1945' at character 22 of the "
            "context, found ' 194'; the text is at character 23; correct answer_start",
        ),
        (answered("1945", 999), "found the end of the text; the text is at"),
        (answered("1950", 23), "the context does not contain this text"),
        (answered("1945", "23"), "answer_start: expected a whole number"),
        (answered("", 0), "answers[0].text: the answer is empty"),
        (
            {"data": squad()["data"] * 2},
            "data[1].paragraphs[0].qas[0].id: the id 'q1' is also that of data[0]",
        ),
    ],
)
def test_errors_name_the_place_in_the_json(write, data, message):
    path = write(json.dumps(data), "qa.json")
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        read_squad(path)
    assert str(path) in str(caught.value)


def test_what_is_not_json_is_located_by_line_and_column(write):
    with pytest.raises(ValueError, match="line 2, column 1: not valid JSON"):
        read_squad(write('{"data":\n', "qa.json"))
