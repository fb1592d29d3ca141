"""Every item that the course promises has a place in the book that exists."""

import json
import re
from pathlib import Path

import pytest
from mdit_py_plugins.anchors.index import slugify

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "book" / "corrected.md"
ITEMS = {
    f"{document}{number}"
    for document, last in {"A": 11, "B": 2, "C": 18, "X": 5, "D": 5, "E": 4}.items()
    for number in range(1, last + 1)
}
ROW = re.compile(r"^\| ([A-EX]\d+) \|(.*)\|(.*)\|(.*)\|$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)#]+)#([^)]+)\)")
ROWS = {row[0]: row[3] for row in ROW.findall(PAGE.read_text(encoding="utf-8"))}


def headings(path):
    """Return the anchors of a page's headings."""
    if path.suffix == ".ipynb":
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        texts = ["".join(c["source"]) for c in cells if c["cell_type"] == "markdown"]
    else:
        texts = [path.read_text(encoding="utf-8")]
    lines = re.sub(r"```.*?```", "", "\n".join(texts), flags=re.DOTALL).splitlines()
    return {slugify(line.lstrip("# ")) for line in lines if re.match("#+ ", line)}


def test_every_item_has_a_row():
    assert set(ROWS) == ITEMS


@pytest.mark.parametrize("item", sorted(ITEMS))
def test_every_row_points_to_a_section_with_code(item):
    links = LINK.findall(ROWS[item])
    assert links, f"{item} points nowhere"
    for page, anchor in links:
        path = (PAGE.parent / page).resolve()
        assert path.exists(), f"{item} points to {page}, which does not exist"
        assert anchor in headings(path), f"{page} has no section #{anchor}"
        assert path.suffix == ".ipynb" or path.name == "take_aways.md"
