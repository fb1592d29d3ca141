"""The autograder for Gradescope: what is in the zip file, and what it reports.

The metadata has the form that gradescope/autograder_samples documents.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from attncourse_grader import gradescope
from attncourse_grader.cli import main
from attncourse_grader.workers import grade_one

PLATFORMS = Path(__file__).parent / "platforms"
METADATA = json.loads((PLATFORMS / "gradescope.json").read_text())


@pytest.fixture
def unpacked(tmp_path, solutions, calls, monkeypatch, capsys):
    """Return what Gradescope would make of our zip file, with stand-ins for grading."""
    words = ["gradescope", "1", "--out", str(tmp_path), "--solutions", str(solutions)]
    assert main([*words, "--secret", "w", "--penalty", "10%/day"]) == 0
    place = tmp_path / "autograder"
    with zipfile.ZipFile(capsys.readouterr().out.strip()) as archive:
        archive.extractall(place / "source")
        modes = {i.filename: i.external_attr >> 16 for i in archive.infolist()}
    assert modes["run_autograder"] & 0o111
    (place / "submission").mkdir()
    (place / "submission_metadata.json").write_text(json.dumps(METADATA))
    monkeypatch.setattr(gradescope, "grade_apart", grade_one)
    monkeypatch.setattr(gradescope.forking, "call", lambda f, *a, seconds: f(*a))
    monkeypatch.setattr(gradescope, "layers_missing", lambda: [])
    return place


def test_the_zip_holds_what_grading_needs_and_no_other_solution(unpacked):
    names = [p.relative_to(unpacked) for p in unpacked.rglob("*")]
    (solution,) = [p for p in names if p.match("solutions/*.ipynb")]
    assert solution.name == "1_attention_from_scratch.ipynb"
    for name in ("attncourse/cli.py", "grader/attncourse_grader/gradescope.py"):
        assert (unpacked / "source" / name).is_file()
    assert not any("__pycache__" in p.parts for p in names)
    size = sum(p.stat().st_size for p in unpacked.rglob("*") if p.is_file())
    assert size < 30e6
    assert os.access(unpacked / "source" / "setup.sh", os.R_OK)


def results(unpacked):
    gradescope.main(str(unpacked))
    return json.loads((unpacked / "results" / "results.json").read_text())


def test_tasks_are_tests_and_the_time_is_that_of_handing_in(unpacked, notebook):
    found = results(unpacked)
    assert (found["score"], "no notebook" in found["output"]) == (0, True)
    notebook(unpacked / "submission" / "a" / "x.ipynb", attention="right")
    found = results(unpacked)
    scores = {test["number"]: test["score"] for test in found["tests"]}
    assert (scores["1.1"], scores["1.2"], scores["1.3"]) == (2, 2, 0)
    assert found["score"] == 2  # 4 points, of which a day costs 2 of 20
    assert "2 hours after the deadline: 2 points less" in found["output"]
    assert "Task 1.1: Scores" in found["tests"][0]["output"]
    assert found["stdout_visibility"] == "hidden"
    own = {"users": [{"assignment": {"due_date": "2026-12-03T00:00:00-08:00"}}]}
    assert gradescope.lateness({**METADATA, **own}) == 0
    assert gradescope.lateness({**METADATA, "assignment": {"due_date": None}}) == 0
    minute = {"created_at": "2026-12-01T23:00:59-08:00"}  # to whose end it lasts
    assert gradescope.lateness(METADATA | minute) == 0
    (unpacked / "submission" / "c.ipynb").symlink_to(unpacked / "submission/a/x.ipynb")
    assert results(unpacked)["score"] == 2  # a link may lead to the solution
    notebook(unpacked / "submission" / "b.ipynb")
    found = results(unpacked)
    assert (found["score"], "2 notebooks" in found["output"]) == (0, True)


def test_the_script_in_the_zip_grades(unpacked, solutions):
    (unpacked / "submission" / "json.py").write_text("raise SystemExit(1)")
    shutil.copy(solutions / "1_attention_from_scratch.ipynb", unpacked / "submission")
    script = (unpacked / "source" / "run_autograder").read_text()
    script = script.replace("/autograder/venv/bin/python", shlex.quote(sys.executable))
    command = ["bash", "-c", script.replace("/autograder", str(unpacked))]
    subprocess.run(command, cwd=unpacked / "submission", check=True)
    found = json.loads((unpacked / "results" / "results.json").read_text())
    assert found["score"] == 18  # two points less, as it is late


@pytest.mark.parametrize("given", ["", "https://a.example/", "--bare"])
def test_links_lead_to_the_instructors_book(given, tmp_path, solutions, monkeypatch):
    bare, given = given == "--bare", given.removeprefix("--bare")
    subprocess.run(["git", "init", "-q", *["--bare"] * bare, tmp_path], check=True)
    remote = ["remote", "add", "origin", "git@github.com:Ada/Course.git"]
    subprocess.run(["git", "-C", tmp_path, *remote], check=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ATTNCOURSE_BOOK", given)
    if not given:
        monkeypatch.delenv("ATTNCOURSE_BOOK")
    assert main(["gradescope", "1", "--solutions", str(solutions)]) == 0
    (made,) = tmp_path.glob("*.zip")
    zipfile.ZipFile(made).extractall(tmp_path / "source")
    (tmp_path / "submission_metadata.json").write_text("{}")
    seen = []
    noting = lambda *_: seen.append(os.environ["ATTNCOURSE_BOOK"]) or {}
    monkeypatch.setattr(gradescope, "results", noting)
    monkeypatch.setenv("ATTNCOURSE_BOOK", "")
    gradescope.main(tmp_path)
    # Loose files may make a bare repository of any folder in which others write.
    assert seen == [given or "https://ada.github.io/Course/" * (not bare)]
