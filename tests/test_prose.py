"""What readers see is in the field's words, in British spelling, and plain Markdown.

The chapters are read in Colab and Jupyter too, where roles of MyST are raw text.
"""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("chapters", "solutions", "exercises")
NOTEBOOKS = sorted(p for f in FOLDERS for p in (ROOT / f).glob("[0-9a-z]*.ipynb"))
PAGES = [*NOTEBOOKS, *sorted((ROOT / "book").glob("*.md"))]
RAW_MYST = re.compile(
    r"\{[a-z][\w:-]*\}`|^\s*(?::{3,}|`{3,})\{[^}]*\}|^\([\w-]+\)=$|^\$\$ \([\w-]+\)$",
    re.MULTILINE,
)
NOT_PROSE = re.compile(
    r"```.*?```|\$\$.*?\$\$|\$[^$\n]+\$|`[^`\n]*`|\]\([^)\s]*\)|<[^>\n]*>", re.DOTALL
)
HOMEMADE = {  # the home-made term, and the field's
    r"log-odds": "log-probabilities, logits",
    r"in circulation": "common",
    r"shares? of (?:the )?attention": "attention weights",
    r"switch(?:ed|ing)? (?:\w+ ){0,2}off|switching off": "ablate, ablation",
    r"mend(?:s|ed|ing)?": "fix",
    r"guessing": "chance level",
    r"beginnings": "hypotheses",
    r"(?:least loss|above the least)": "entropy, excess loss",
    r"cliffs?": "phase change",
    r"two-part mechanism": "K-composition",
    r"written out": "naive implementation",
    r"steps that wait": "sequential operations",
    r"tamper(?:s|ed|ing)?": "perturb",
    r"sealed box": "black box",
    r"hand(?:s|ed)? over": "value",
    r"(?:query|key|value|output|input) maps?": "projections",
    r"(?:source|target|padded) places?|places? (?:back|of padding|off)": "positions",
    r"key/value cache": "KV cache",
}
AMERICAN = (
    r"(?:behavior|color|favor|neighbor|flavor|center|gray)\w*",
    r"(?:label|model|cancel|travel)(?:ed|ing)\b(?<!l{2}ed)(?<!l{2}ing)",
    r"analyz\w+",
    r"(?:normal|initial|general|optim|summar|visual|regular|organ|real|recogn|"
    r"emphas|minim|maxim|special|parallel|categor|custom|standard|factor|penal|local)"
    r"iz(?:e[ds]?|ing|ation|ations|er|ers)",
)


def prose_of(path):
    """Return the text of a page without code, formulas, and targets of links."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        marks = ["".join(c["source"]) for c in cells if c["cell_type"] == "markdown"]
        text = "\n\n".join(marks)
    return text


def found_in(text, patterns):
    text = NOT_PROSE.sub(" ", text)
    either = "|".join(patterns)
    return [m[0] for m in re.finditer(rf"\b(?:{either})\b", text, re.IGNORECASE)]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.name)
def test_no_notebook_shows_raw_roles_or_directives(path):
    assert RAW_MYST.findall(prose_of(path)) == []


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.name)
def test_pages_use_the_terms_of_the_field(path):
    assert found_in(prose_of(path), HOMEMADE) == []


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.name)
def test_pages_use_british_spelling(path):
    assert found_in(prose_of(path), AMERICAN) == []


@pytest.mark.parametrize(
    "planted", ["{term}`mask`", ":::{note}\nx\n:::", "$$\nx\n$$ (eq-x)", "(label)="]
)
def test_planted_myst_is_found(planted):
    assert RAW_MYST.search(f"A line.\n\n{planted}\n")


@pytest.mark.parametrize(
    "planted",
    ["in circulation", "switch one head off", "key maps", "normalized", "modeling"],
)
def test_a_planted_word_is_found_in_prose_alone(planted):
    patterns = [*HOMEMADE, *AMERICAN]
    assert len(found_in(f"It is {planted}.", patterns)) == 1
    assert found_in(f"`{planted}` and [x](a/{planted.split()[0]})", patterns) == []
