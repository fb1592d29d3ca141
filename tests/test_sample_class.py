"""The made-up class: the same every time, and made of what the tests know."""

import ast
import csv
import json
from pathlib import Path

import pytest

from attncourse_grader.exercises import modules
from attncourse_grader.hand_in.source import statements_of
from tools import sample_class

NAME = next(iter(modules()))


def everything_in(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_the_same_words_make_the_same_class(tmp_path):
    def make(name, **other):
        folder = tmp_path / name
        given = {"students": 6, "hostile": 0, "seed": 3, **other}
        sample_class.make_class(folder, NAME, **given)
        return everything_in(folder)

    assert make("a") == make("b")
    assert make("a") != make("c", seed=4)


def test_a_class_has_a_list_and_a_folder_for_each_student(tmp_path):
    made = sample_class.make_class(tmp_path, NAME, students=20, hostile=10, seed=1)
    assert len(made) == 30
    assert all(person.replace(" ", "", 1).isalpha() for person in made)
    assert sorted(filter(None, made.values())) == sorted(sample_class.HOSTILE)
    with (tmp_path / "students.csv").open(encoding="utf8") as handle:
        assert {row["student"] for row in csv.DictReader(handle)} == set(made)
    assert {path.name for path in (tmp_path / "submissions").iterdir()} == set(made)


@pytest.mark.parametrize("name", list(modules()))
def test_every_answer_is_code_that_can_be_read(name, tmp_path):
    made = sample_class.make_class(tmp_path, name, students=15, hostile=10, seed=2)
    some_wrong = set()
    right = sample_class.right_answers(name)
    wrong = sample_class.wrong_answers(name, right)
    for person in made:
        path = tmp_path / "submissions" / person / f"{name}.ipynb"
        notebook = json.loads(path.read_text(encoding="utf8"))
        for task, cell in sample_class.answer_cells(notebook):
            source = "".join(cell["source"])
            assert isinstance(statements_of(source, 1), list), (person, task)
            if source != right[task] and "NotImplementedError" not in source:
                some_wrong.add(task)
    assert len(some_wrong) >= min(3, sum(map(bool, wrong.values())))


@pytest.mark.parametrize("does", list(sample_class.HOSTILE))
def test_what_is_hostile_comes_first_in_the_function(does):
    source = "def scores(query, key):\n    return query @ key.T"
    code = sample_class.HOSTILE[does]
    answer = sample_class.hostile_answer(source, code, home=Path("/x"), port=9)
    (function,) = ast.parse(answer).body
    assert function.name == "scores"
    assert len(function.body) >= 2
    assert isinstance(function.body[-1], ast.Return)
