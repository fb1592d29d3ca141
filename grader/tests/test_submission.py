"""Notebooks in every state: graded for what is there, or refused with a remedy."""

import json
import os
import re
from dataclasses import replace
from itertools import repeat

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from attncourse_grader.exercises import exercise_of
from attncourse_grader.grade import grading
from attncourse_grader.gradescope import exercise_in
from attncourse_grader.hand_in import submission
from attncourse_grader.hand_in.submission import Refused, read_submission
from attncourse_grader.isolate import forking

FIRST = exercise_of("1_attention_from_scratch")
SCORES = "def attention_scores(query, key):\n    return query @ key.mT"


def source_of(submission, name="scores"):
    task = submission.exercise.task(name)
    return "\n".join(s.text for s in submission.answer(task))


def test_a_folder_a_missing_file_and_a_huge_one_are_refused_unread(tmp_path):
    for path in (tmp_path, tmp_path / "absent.ipynb"):
        with pytest.raises(Refused, match="is not a file"):
            read_submission(path)
    path.touch()
    os.truncate(path, 30_000_000)
    with pytest.raises(Refused, match="30 MB; at most 20 MB"):
        read_submission(path)


def test_what_takes_long_to_read_is_ended(hand_in):
    magics = "\n".join("%prun x = 1?" for _ in range(15_000))
    with pytest.raises(RuntimeError, match="takes too much time or memory to be read"):
        forking.call(exercise_in, hand_in(magics, SCORES), seconds=600)
    found = forking.call(exercise_in, hand_in(SCORES), seconds=600)
    assert found == FIRST.notebook


def test_what_takes_long_to_judge_is_ended(hand_in, solutions, monkeypatch):
    monkeypatch.setattr(forking, "here", True)  # a fork, as far as the limits know
    monkeypatch.setattr(grading, "try_solution", lambda *words: None)
    endless = lambda *words: all(n for n in repeat(1))
    monkeypatch.setattr(grading, "forbidden_uses", endless)
    monkeypatch.setattr(grading, "LOOKING", 0.5)
    with pytest.raises(Refused, match="takes too much time or memory to be read"):
        grading.grade_file(hand_in(SCORES), solutions=solutions)


def test_what_the_notebook_runs_with_an_answer_is_no_part_of_it(hand_in):
    helper = "def timed(x):\n    return x"
    answer = f"{helper}\n\n\n{SCORES.replace('query @', 'timed(query) @')}"
    run = "with attempt():\n    timed = attention_scores(1, 2)\n    print(timed)"
    found = source_of(read_submission(hand_in(answer, run)))
    assert found == answer.replace("\n\n\n", "\n")
    inside = "with attempt():\n    " + SCORES.replace("\n", "\n    ")
    assert source_of(read_submission(hand_in(inside))) == inside


def test_cells_that_are_too_many_or_no_answers_are_refused(hand_in):
    for cells, says in [
        ([SCORES, *["x = 1"] * 1000], "1,001 cells"),
        ([SCORES, "\n" * 60_000 + "In [1"], "60,003 lines"),
        ([new_markdown_cell("text")], "has no code"),
        (["x = 1"], "none of the functions"),
    ]:
        with pytest.raises(Refused, match=says):
            read_submission(hand_in(*cells))


def test_an_exercise_that_is_not_here_is_no_other_one_unless_its_name_alone_is(
    hand_in, monkeypatch
):
    metadata = {"attncourse": {"exercise": "7_mine"}}
    for task in ("mine", None, "scores"):
        mark = {"attncourse": {"answer": task}} if task else {}
        path = hand_in(new_code_cell(SCORES, metadata=mark), metadata=metadata)
        if task == "scores":
            assert read_submission(path).exercise is FIRST
        else:
            with pytest.raises(Refused, match="'7_mine', which is not in this clone"):
                read_submission(path)
    metadata = {"attncourse": {"exercise": "2_attention_patterns"}}
    with pytest.raises(Refused, match=f"2_.* with answers to {FIRST.notebook} alone"):
        read_submission(hand_in(SCORES, metadata=metadata))
    wordy = lambda name: replace(
        exercise_of(name),
        tasks=exercise_of(name).tasks * (name != "2_attention_patterns"),
    )
    monkeypatch.setattr(submission, "exercise_of", wordy)
    found = read_submission(hand_in(SCORES, metadata=metadata)).exercise
    assert (found.notebook, found.tasks) == ("2_attention_patterns", ())


def test_another_picture_is_another_answer(hand_in):
    texts = set()
    for data in "ab":
        for source in (
            "![](attachment:x.png)",
            f"![](data:image/png;base64,{data}) Why",
        ):
            pictures = {"x.png": {"image/png": data}} if "x.png" in source else {}
            cell = new_markdown_cell(source, attachments=pictures)
            ((*_, text),) = read_submission(hand_in(SCORES, cell)).texts
            assert "see the notebook)" in text and "base64" not in text
            texts.add(text)
    assert len(texts) == 4


def test_a_syntax_error_is_put_down_to_the_task_that_the_cell_defines_or_said(hand_in):
    broken = "def attention_scores(query, key)\n    return query"
    submission = read_submission(hand_in(broken, "def causal_mask(n): return n"))
    assert set(submission.broken) == {"scores"}
    assert "line 1" in submission.broken["scores"].error
    assert source_of(submission, "masks")
    submission = read_submission(hand_in("x = = 1", SCORES))
    assert submission.broken == {}
    assert submission.notes == ["Cell 1 is left out: line 1: invalid syntax."]


def test_a_renamed_answer_is_recognised_and_an_older_version_is_said_to_be_one(hand_in):
    cell = new_code_cell("import math\ndef my_scores(q, k): return q")
    cell.metadata["attncourse"] = {"answer": "scores"}
    submission = read_submission(hand_in(cell, "def causal_mask(n): return n"))
    assert submission.missing(FIRST.task("scores")) == ["attention_scores"]
    assert submission.renamed == {"scores": "my_scores"}
    mark = {"attncourse": {"exercise": FIRST.notebook, "version": "old"}}
    submission = read_submission(hand_in(SCORES, metadata=mark))
    assert any("another version" in note for note in submission.notes)


ANSWER = {"cell_type": "code", "source": SCORES, "metadata": {}}


def whole(**changes):
    return {"cells": [ANSWER], "metadata": {}, "nbformat": 4, **changes}


def of_cell(**changes):
    return whole(cells=[ANSWER | changes])


BARE = {key: value for key, value in ANSWER.items() if key != "metadata"}
DEEP = json.loads("[" * 500 + "]" * 500)
ODD = {
    "no metadata": whole(metadata=None, cells=[BARE]),
    "metadata of another kind": of_cell(metadata=5) | {"metadata": [1]},
    "an exercise that is no name": whole(metadata={"attncourse": {"exercise": [1]}}),
    "no version": {"cells": [ANSWER]},
    "a later minor version": whole(nbformat_minor=99),
    "numbers that are none": whole(metadata={"a": float("nan"), "b": float("inf")}),
    "cells that are none": whole(cells=[None, 3, [], "x", {}, ANSWER]),
    "lines of other kinds": of_cell(source=["def attention_scores(): pass", None, 3]),
    "outputs of another kind": of_cell(outputs=5, id=5),
    "deep outputs": of_cell(outputs=[{"output_type": "stream", "text": DEEP}]),
    "lines of Windows": of_cell(source=ANSWER["source"].replace("\n", "\r\n")),
}
for mark in ("text", 3, None, ["a"], {"answer": 7}):
    metadata = {"attncourse": mark, "kernelspec": {"name": "ir", "language": "R"}}
    ODD[f"a mark {mark}"] = of_cell(metadata=metadata) | {"metadata": metadata}
CONTENTS = {kind: json.dumps(odd).encode() for kind, odd in ODD.items()}
for encoding in ("utf-8-sig", "utf-16", "utf-16-be", "utf-32"):
    CONTENTS[encoding] = json.dumps(whole()).encode(encoding)


@pytest.mark.parametrize("kind", CONTENTS)
def test_a_notebook_that_is_merely_odd_is_read(tmp_path, kind):
    path = tmp_path / "work.ipynb"
    path.write_bytes(CONTENTS[kind])
    assert "attention_scores" in source_of(read_submission(path))


def test_it_is_said_what_a_file_is_instead(tmp_path):
    path = tmp_path / "work.ipynb"
    for content, said in [
        (b"", "is empty"),
        (b'"text"', "cannot be read as a notebook"),
        (b"\xff\xfe\x00", "cannot be read as a notebook"),
        (json.dumps({"cells": 3, "nbformat": 4}).encode(), "cannot be read"),
        (b"<!DOCTYPE html><title>Sign in</title>", "it is a web page"),
        (b"PK\x03\x04", "it is a zip file"),
        (b"def attention_scores(q, k): return q", "cut off, or no text in JSON"),
        (json.dumps(whole(nbformat=5)).encode(), "its format is 5; 4 is known"),
        (json.dumps({"worksheets": [], "nbformat": 3}).encode(), "its format is 3"),
        (b"[]", "it is JSON, but has no cells"),
        (b"[" * 100_000, "it is nested too deeply"),
    ]:
        path.write_bytes(content)
        with pytest.raises(Refused, match=re.escape(said)):
            read_submission(path)
