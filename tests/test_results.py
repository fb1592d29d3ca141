"""The rows of the page of results: each has a source, a report and a fitting verdict.

The page itself is filled while it is built, by book/_ext/course_results.py, from what
the chapters print then. Here the same is asked of what is stored in them.
"""

import importlib.util
import json
import re
from pathlib import Path

import nbformat
import pytest

from attncourse.training.reporting import read_report

ROOT = Path(__file__).parent.parent
CHAPTERS = sorted(ROOT.glob("chapters/0*.ipynb"))
KEYS = set(
    re.findall(r"^@\w+\{([^,]+),", (ROOT / "book/references.bib").read_text(), re.M)
)


def extension():
    path = ROOT / "book" / "_ext" / "course_results.py"
    spec = importlib.util.spec_from_file_location("course_results", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


results = extension()


def claims_in(path):
    notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
    outputs = (c.outputs for c in notebook.cells if c.cell_type == "code")
    return list(results.claims_of(notebook, outputs))


ROWS = [(path.stem, *row) for path in CHAPTERS for row in claims_in(path)]


def test_every_entry_of_the_bibliography_is_cited():
    folders = ("book/*.md", "chapters/*.ipynb", "exercises/*.ipynb")
    pages = [path for pattern in folders for path in ROOT.glob(pattern)]
    text = " ".join(page.read_text(encoding="utf-8") for page in pages)
    cited = ",".join(re.findall(r"\{cite:[pt]\}`([^`]+)`", text)).split(",")
    assert KEYS - {key.strip() for key in cited} == set()


def test_every_chapter_has_results():
    assert {name for name, *_ in ROWS} == {path.stem for path in CHAPTERS}
    assert {claim["folk"] for _, claim, *_ in ROWS} == {True, False}


@pytest.mark.parametrize("name, claim, title, text", ROWS)
def test_a_row_is_complete_and_its_verdict_fits(name, claim, title, text):
    assert results.fault_in(claim) is None
    assert claim["source"] in {*KEYS, *results.UNCITED}
    assert title
    rows, holds = read_report(text)
    assert rows
    assert holds != claim["folk"], f"{claim['claim']!r} in {name} has turned round"


@pytest.mark.parametrize(
    "heard", ["Sinusoids", "is alignment", "More heads", "Attention is explanation"]
)
def test_claims_that_everybody_knows_are_tested(heard):
    assert any(claim["folk"] and heard in claim["claim"] for _, claim, *_ in ROWS)


def test_a_claim_belongs_to_the_section_above_it_and_to_its_own_output():
    report = "a   1   exact   no seed\nthe claim holds: True"
    cells = [
        {
            "cell_type": "markdown",
            "metadata": {},
            "source": "## First\n\n### Part\n\nx",
        },
        {"cell_type": "code", "metadata": {}, "source": "1", "outputs": []},
        {"cell_type": "markdown", "metadata": {}, "source": "no title"},
        {
            "cell_type": "code",
            "metadata": {"attncourse": {"claim": "c", "source": "ours", "folk": False}},
            "source": "report(...)",
        },
    ]
    notebook = nbformat.reads(
        json.dumps(
            {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
        ),
        as_version=4,
    )
    outputs = iter([[], [{"text": report}]])
    ((claim, title, text),) = results.claims_of(notebook, outputs)
    assert (claim["claim"], title, text) == ("c", "Part", report)


@pytest.mark.parametrize(
    "claim", [{"claim": "c"}, {"claim": "c", "source": "ours", "folk": "no"}]
)
def test_a_claim_without_all_its_fields_is_named(claim):
    assert results.fault_in(claim)
