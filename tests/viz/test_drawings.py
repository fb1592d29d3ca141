"""The drawings: in step with what makes them, described, and legible on a phone."""

import re
import runpy
import sys
from pathlib import Path
from xml.etree import ElementTree

import nbformat
import pytest

from attncourse.viz import drawing
from attncourse.viz.drawings import HERE

ROOT = Path(__file__).resolve().parents[2]
NAMES = sorted(path.stem for path in HERE.glob("*.svg") if "." not in path.stem)
SVG = "{http://www.w3.org/2000/svg}"


def test_the_files_are_what_the_scenes_give(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    made = runpy.run_path(str(ROOT / "book/_drawings/__main__.py"))["files"]()
    kept = {path.name: path.read_text(encoding="utf8") for path in HERE.glob("*.svg")}
    assert kept == made


@pytest.mark.parametrize("name", NAMES)
def test_a_drawing_is_described_and_fits_a_phone(name):
    for suffix, room in (("", 708), (".narrow", 352)):
        root = ElementTree.parse(HERE / f"{name}{suffix}.svg").getroot()
        chosen = root.findall(".//*[@tabindex]")  # parts that can be reached by Tab
        assert root.get("role") == ("group" if chosen else "img")
        assert all(part.find(f"{SVG}title").text for part in chosen)
        assert float(root.get("width")) <= room
        assert root.find(f"{SVG}title").text
        assert len(root.find(f"{SVG}desc").text) > 60


@pytest.mark.parametrize(
    ("name", "chapter"),
    [
        ("word_order", "04_positional_encoding"),
        ("which_leaks", "05_masking"),
        ("attention_sink", "11_attention_today"),
    ],
)
def test_a_chapter_prints_the_numbers_of_its_first_drawing(name, chapter):
    svg = (HERE / f"{name}.svg").read_text("utf8")
    drawn = re.findall(r'class="(?:mid )?(?:number|letter|step)[^>]*>(\d[.\d]*)', svg)
    cells = nbformat.read(ROOT / f"chapters/{chapter}.ipynb", as_version=4).cells
    texts = [o.get("text", "") for c in cells for o in c.get("outputs", [])]
    assert len(drawn) > 1
    assert any(set(drawn) <= set(re.findall(r"\d[.\d]*", text)) for text in texts)


def test_no_text_is_smaller_than_12_pixels():
    style = (HERE / "drawings.css").read_text(encoding="utf8")
    sizes = re.findall(r"font(?:-size)?: (?:\d+ )?([\d.]+)px", style)
    assert min(map(float, sizes)) >= 12


def test_a_notebook_gets_both_forms_and_a_name():
    shown = drawing("scaled_dot_product_attention")
    assert shown._repr_html_().count("<svg") == 2
    assert repr(shown) == "drawing('scaled_dot_product_attention')"


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"must be one of .*scaled_dot_product"):
        drawing("no_such")
