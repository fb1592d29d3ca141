"""Questions in the JSON format of SQuAD."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike

from attncourse.data._files import read_text, short
from attncourse.data.passages import KINDS, QAExample
from attncourse.data.text import token_spans, tokenise


@dataclass(frozen=True, slots=True)
class SquadExample:
    """A question from a SQuAD-style file.

    Parameters
    ----------
    id, title, context, question : str
    answers : tuple of (int, str)
        (first character in the context, text) of each reference answer; empty if the
        question has none.
    """

    id: str
    title: str
    context: str
    question: str
    answers: tuple[tuple[int, str], ...]


def read_squad(
    path: str | PathLike[str], *, encoding: str = "utf-8"
) -> list[SquadExample]:
    """Read questions from JSON in the format of SQuAD 1.1 or 2.0.

    Parameters
    ----------
    path : str or path-like
    encoding : str

    Returns
    -------
    list of SquadExample

    Raises
    ------
    FileNotFoundError, IsADirectoryError
        If there is no such file.
    ValueError
        If the file is empty, not in this encoding, not JSON or not in this format, if
        an answer is not at its place in the context, or if two questions have one id.
        The message names the place, such as data[0].paragraphs[2].qas[1].question.

    References
    ----------
    Rajpurkar, Zhang, Lopyrev and Liang (2016); Rajpurkar, Jia and Liang (2018).
    """
    text = read_text(path, encoding)
    try:
        root = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{path}, line {error.lineno}, column {error.colno}: not valid JSON "
            f"({error.msg}); expected a SQuAD-style file, see read_squad"
        ) from None
    file = _Json(path)
    file.check(root, dict, "the top level")
    examples, places = [], {}
    for article, at in file.items(root, "data", ""):
        title = file.get(article, "title", str, at) if "title" in article else ""
        for paragraph, at_paragraph in file.items(article, "paragraphs", at):
            context = file.get(paragraph, "context", str, at_paragraph)
            for qa, at_qa in file.items(paragraph, "qas", at_paragraph):
                example = _squad_example(file, title, context, qa, at_qa)
                if example.id in places:
                    file.fail(
                        f"{at_qa}.id",
                        f"the id {example.id!r} is also that of {places[example.id]}",
                        "give each question an id of its own",
                    )
                places[example.id] = at_qa
                examples.append(example)
    if not examples:
        file.fail("data", "there is no question in the file", "add articles with qas")
    return examples


def _squad_example(file, title, context, qa, at):
    question = file.get(qa, "question", str, at)
    if not question.strip():
        file.fail(f"{at}.question", "the question is empty", "fill it in or delete it")
    name = qa.get("id", at)
    file.check(name, str, f"{at}.id")
    impossible = qa.get("is_impossible", False)
    file.check(impossible, bool, f"{at}.is_impossible")
    answers = []
    for answer, at_answer in file.items(qa, "answers", at):
        text = file.get(answer, "text", str, at_answer)
        start = file.get(answer, "answer_start", int, at_answer)
        _check_answer(file, context, text, start, at_answer)
        answers.append((start, text))
    if impossible and answers:
        file.fail(
            at, "is_impossible is true, but there are answers", "remove one of them"
        )
    if not impossible and not answers:
        file.fail(
            f"{at}.answers",
            "there is no answer",
            'add one, or set "is_impossible": true',
        )
    return SquadExample(name, title, context, question, tuple(answers))


def _check_answer(file, context, text, start, at):
    if not text.strip():
        file.fail(f"{at}.text", "the answer is empty", "fill it in or delete it")
    if start >= 0 and context.startswith(text, start):
        return
    found = context[start : start + len(text)] if 0 <= start < len(context) else ""
    there = context.find(text)
    hint = (
        "the context does not contain this text; correct it"
        if there < 0
        else f"the text is at character {there}; correct answer_start"
    )
    file.fail(
        f"{at}.answer_start",
        f"expected {short(text)} at character {start} of the context, found "
        + (short(found) if found else "the end of the text"),
        hint,
    )


def to_qa_examples(examples: Sequence[SquadExample]) -> list[QAExample]:
    """Cut questions into tokens and turn character places into token spans.

    Parameters
    ----------
    examples : sequence of SquadExample

    Returns
    -------
    list of QAExample
        The answer is the first reference answer, widened to whole tokens. The kind is
        the first question word ("who", "what", "when", "where"), else "other".
    """
    made = []
    for example in examples:
        spans = token_spans(example.context)
        question = tuple(tokenise(example.question))
        asked = (word for word in map(str.lower, question) if word in KINDS)
        kind = next(asked, "other")
        answer = None
        if example.answers:
            start, text = example.answers[0]
            stop = start + len(text)
            inside = [i for i, (_, a, b) in enumerate(spans) if a < stop and b > start]
            answer = (inside[0], inside[-1])
        context = tuple(token for token, _, _ in spans)
        made.append(QAExample(context, question, kind, answer, None))
    return made


class _Json:
    """Gets values out of parsed JSON, with errors that name the place."""

    _NAMES = {  # noqa: RUF012
        dict: "an object",
        list: "a list",
        str: "a string",
        int: "a whole number",
        bool: "true or false",
    }

    def __init__(self, path):
        self.path = path

    def fail(self, at, problem, remedy):
        raise ValueError(f"{self.path}, {at}: {problem}; {remedy}")

    def check(self, value, kind, at):
        right = isinstance(value, kind)
        if isinstance(value, bool):  # True is an int, too
            right = kind is bool
        if not right:
            found = self._NAMES.get(type(value), type(value).__name__)
            problem = f"expected {self._NAMES[kind]}, found {found}"
            self.fail(at, problem, "see the format of SQuAD 2.0")

    def get(self, owner, key, kind, at):
        place = f"{at}.{key}" if at else key
        if key not in owner:
            keys = ", ".join(sorted(owner)) or "nothing"
            self.fail(place, f"missing, found only {keys}", f'add "{key}"')
        self.check(owner[key], kind, place)
        return owner[key]

    def items(self, owner, key, at):
        """Yield the objects of a list and the place of each."""
        place = f"{at}.{key}" if at else key
        for number, item in enumerate(self.get(owner, key, list, at)):
            self.check(item, dict, f"{place}[{number}]")
            yield item, f"{place}[{number}]"
