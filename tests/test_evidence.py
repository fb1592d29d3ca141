"""What a chapter prints says what was compared: numbers, not True or False."""

import re

import nbformat
import pytest

from tests.loading import ROOT

CHAPTERS = sorted(ROOT.glob("chapters/[0-9]*.ipynb"))
BARE = re.compile(r"^(?:.*[:,]\s+)?(?:True|False)$", re.M)


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_no_line_of_output_ends_in_true_or_false(path):
    cells = nbformat.read(path, as_version=4).cells
    outputs = (o for c in cells if c.cell_type == "code" for o in c.outputs)
    texts = (o.get("text") or o.get("data", {}).get("text/plain", "") for o in outputs)
    assert BARE.findall("\n".join(texts)) == []
