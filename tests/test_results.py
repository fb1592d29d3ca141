"""The rows of evidence: each has a source, a range, and the verdict that its text has.

The tables are filled while the site is built, by book/_ext/course_results.py, from what
the chapters print then. Here the same is asked of what is stored in them.
"""

import re

import nbformat
import pytest

from attncourse.training.reporting import Evidence
from tests.loading import ROOT, load

CHAPTERS = sorted(ROOT.glob("chapters/[0-9]*.ipynb"))
BIB = (ROOT / "book/references.bib").read_text(encoding="utf-8")
KEYS = set(re.findall(r"^@\w+\{([^,]+),", BIB, re.M))


results = load("book/_ext/course_results.py")
links = load("book/_ext/course_links.py")
_, LABELS = links.works_in(ROOT / "book/references.bib")


def evidence_in(path):
    notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
    outputs = (c.outputs for c in notebook.cells if c.cell_type == "code")
    return list(results.evidence_in(notebook, outputs))


ROWS = [(path.stem, *row) for path in CHAPTERS for row in evidence_in(path)]


def test_every_entry_of_the_bibliography_is_cited():
    folders = ("book/*.md", "chapters/*.ipynb", "exercises/*.ipynb")
    pages = [path for pattern in folders for path in ROOT.glob(pattern)]
    text = " ".join(page.read_text(encoding="utf-8") for page in pages)
    urls = re.findall(r"^  url = \{(.+?)\}", BIB, re.M)
    assert len(set(urls)) == len(KEYS)
    assert [url for url in urls if f"]({url})" not in text] == []


def test_every_chapter_has_results():
    assert {name for name, *_ in ROWS} == {path.stem for path in CHAPTERS}
    assert {found.verdict for *_, found in ROWS} >= {"held", "did not hold"}


@pytest.mark.parametrize("name, title, found", ROWS)
def test_a_row_has_a_source_and_a_section(name, title, found):
    assert list(results.faults_in(found, found, LABELS)) == []
    assert title
    assert found.measured


@pytest.mark.parametrize(
    "heard", ["sinusoids", "is alignment", "more heads", "most attended word"]
)
def test_claims_that_everybody_knows_are_tested(heard):
    said = [f.claim for *_, f in ROWS if f.source == "often said"]
    assert any(heard in claim.lower() for claim in said)


PRINTED = """\
claim     c (ours)
measured  a   1.0   (0.9 to 1.2, 3 seeds)
baseline  b   2e-09   (exact)
claimed   at least 0.5
verdict   held
"""
FOUND = Evidence(
    "c",
    "ours",
    [("a", "1.0", "0.9 to 1.2", "3 seeds")],
    [("b", "2e-09", None, "exact")],
    "at least 0.5",
    "held",
)


def test_evidence_belongs_to_the_section_above_it_and_to_its_own_output():
    new = nbformat.v4
    cells = [
        new.new_markdown_cell("## First\n\n### Part\n\nx"),
        new.new_code_cell("1"),
        new.new_markdown_cell("no title"),
        new.new_code_cell("evidence(...)"),
    ]
    outputs = iter([[], [{"text": PRINTED}]])
    found = list(results.evidence_in(new.new_notebook(cells=cells), outputs))
    assert found == [("Part", FOUND)]


@pytest.mark.parametrize(
    "change, fault",
    [
        ({"verdict": "not settled"}, "written to 'held'"),
        ({"verdict": "did not hold"}, "ours did not hold"),
        ({"source": "Nobody, 1999"}, "'Nobody, 1999' is not in the bibliography"),
    ],
)
def test_a_faulty_row_is_named(change, fault):
    faults = results.faults_in(FOUND._replace(**change), FOUND, LABELS)
    assert any(fault in found for found in faults)


def test_a_row_is_written_with_its_numbers_and_drawn_to_scale():
    row = results.row_of(FOUND._replace(baseline=[("b", "0", None, "exact")]), str)
    assert "<strong>1.0</strong> (0.9 to 1.2) a" in row
    assert "<p class='held'>Held</p><p>Claimed: at least 0.5.</p>" in row
    low, high, margin = 0.0, 1.2, 0.12
    left = 100 * (0.5 - (low - margin)) / (high - low + 2 * margin)
    assert f'class="range" style="left:{left:.1f}%' in row


def test_values_of_many_magnitudes_are_drawn_on_a_logarithmic_axis():
    at = results.axis_of([1e-9, 1e-3, 1])
    assert at(1e-3) == pytest.approx((at(1e-9) * 3 + at(1) * 6) / 9, abs=0.1)
    assert results.typeset("-2e-09 to 3") == "−2·10⁻⁹ to 3"


def test_works_are_cited_as_their_authors_are_many():
    assert LABELS["Vaswani et al., 2017"] == "vaswani2017"
    assert LABELS["Jain and Wallace, 2019"] == "jain2019"
    assert LABELS["Post, 2018"] == "post2018"
