"""The made-up class: the same every time, and made of what the tests know."""

import csv
import json

import pytest

from attncourse_grader.hand_in.source import statements_of
from tools import sample_class
from tools.record_expected import solutions

NAME, *_ = NOTEBOOKS = [path.stem for path in solutions()]


def everything_in(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_the_same_words_make_the_same_class(tmp_path):
    for name in "ab":
        sample_class.make_class(tmp_path / name, NAME, 6)
    assert everything_in(tmp_path / "a") == everything_in(tmp_path / "b")


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_class_has_a_list_and_answers_that_can_be_read(name, tmp_path):
    made = sample_class.make_class(tmp_path, name, 15)
    with (tmp_path / "students.csv").open(encoding="utf8") as handle:
        assert [row["student"] for row in csv.DictReader(handle)] == made
    assert sorted(p.name for p in (tmp_path / "submissions").iterdir()) == made
    some_wrong, right = set(), sample_class.right_answers(name)
    for person in made:
        path = tmp_path / "submissions" / person / f"{name}.ipynb"
        notebook = json.loads(path.read_text(encoding="utf8"))
        for task, cell in sample_class.answer_cells(notebook):
            source = "".join(cell["source"])
            assert isinstance(statements_of(source, 1), list), (person, task)
            if source != right[task] and "NotImplementedError" not in source:
                some_wrong.add(task)
    assert len(some_wrong) >= min(3, len(sample_class.wrong_answers(name)))
