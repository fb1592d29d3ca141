"""The rows of evidence: each has a source, a range, and the verdict that its text has.

The tables are filled while the site is built, by book/_ext/course_results.py.
"""

import re

import nbformat
import pytest

from attncourse.training.reporting import Evidence, read_evidence
from tests.loading import ROOT, load

CHAPTERS = sorted(ROOT.glob("chapters/[0-9]*.ipynb"))
BIB = (ROOT / "book/references.bib").read_text(encoding="utf-8")
KEYS = set(re.findall(r"^@\w+\{([^,]+),", BIB, re.M))


results = load("book/_ext/course_results.py")
links = load("book/_ext/course_links.py")
_, LABELS = links.works_in(ROOT / "book/references.bib")


def evidence_in(path):
    notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
    printed = (
        "".join(output.get("text", "") for output in cell.outputs)
        for cell in notebook.cells
        if cell.cell_type == "code"
    )
    return [read_evidence(text) for text in printed if text.startswith("claim  ")]


ROWS = [(path.stem, row) for path in CHAPTERS for row in evidence_in(path)]


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


@pytest.mark.parametrize("name, found", ROWS)
def test_a_row_is_measured_has_a_source_and_holds_if_it_is_ours(name, found):
    assert found.measured
    assert set(results.sources_of(found)) <= set(LABELS)
    assert (found.source, found.verdict) != ("ours", "did not hold")


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


def test_a_notebook_is_asked_for_the_verdicts_that_it_stores(tmp_path):
    new, path = nbformat.v4, tmp_path / "one.ipynb"
    printed = new.new_output("stream", text=PRINTED)
    cells = [new.new_markdown_cell("x"), new.new_code_cell("1", outputs=[printed])]
    nbformat.write(new.new_notebook(cells=cells), path)
    assert results.stored_verdicts(path) == ["held"]
    assert read_evidence(PRINTED) == FOUND


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
