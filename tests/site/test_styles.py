"""The theme's style sheets lose what no page has, and nothing else."""

import re
from pathlib import Path

import pydata_sphinx_theme
import pytest

from tests.loading import load

THEME = Path(pydata_sphinx_theme.__file__).parent / "theme" / "pydata_sphinx_theme"


course_output = load("book/_ext/course_output.py")
without_unused = course_output.without_unused


class Everything(set):
    """A set that holds all words."""

    def __contains__(self, word):
        return True


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a{b:c}", "a{b:c}"),
        (".seen{b:c}.gone{b:c}", ".seen{b:c}"),
        (".gone,.seen p,#gone{b:c}", ".seen p{b:c}"),
        (".seen.gone{b:c}", ""),
        (".seen:not(.gone){b:c}", ".seen:not(.gone){b:c}"),
        (":is(.gone, .seen, b) i{b:c}", ":is(.gone, .seen, b) i{b:c}"),
        ("[class*=gone]{b:c}", "[class*=gone]{b:c}"),
        (".bs-tooltip-auto{b:c}", ".bs-tooltip-auto{b:c}"),
        ("@media print{.gone{b:c}}", ""),
        ("@media print{.gone{b:c}.seen{b:c}}", "@media print{.seen{b:c}}"),
        ("@keyframes gone{0%{b:c}to{b:d}}", "@keyframes gone{0%{b:c}to{b:d}}"),
        ("@charset 'utf8';@import 'a.css';.seen{b:c}", ".seen{b:c}"),
        ("/*! a, notice {} */.gone{b:c}i{b:c}", "/*! a, notice {} */i{b:c}"),
        ("/* .seen{} */.gone{b:url(x;y)}i{b:url(x;y)}", "i{b:url(x;y)}"),
    ],
)
def test_rules_for_what_may_occur_are_kept(before, after):
    assert without_unused(before, {"seen"}) == after


def test_names_in_a_page_are_found_in_quotes_of_both_kinds(tmp_path):
    page = """<p class="a b" id='c'><i class='d e' style="color:var(--f)"></i></p>"""
    (tmp_path / "page.html").write_text(page)
    assert {"a", "b", "c", "d", "e", "--f"} <= course_output.words_of(tmp_path)


@pytest.mark.parametrize(
    "path", sorted(THEME.rglob("*.css")), ids=lambda path: path.name
)
def test_a_sheet_of_which_all_is_used_stays_as_it_is(path):
    text = path.read_text(encoding="utf8")
    plain = re.sub(r"\s|;(?=})", "", course_output.DROPPED.sub("", text))
    same = without_unused(text, Everything())
    assert re.sub(r"/\*.*?\*/|\s|;(?=})", "", same, flags=re.DOTALL) == plain


def test_every_class_of_a_page_that_the_theme_styles_is_still_styled(site, trees):
    full = "".join(p.read_text(encoding="utf8") for p in THEME.rglob("*.css"))
    sheets = (site / "_static").rglob("*.css")
    left = "".join(p.read_text(encoding="utf8") for p in sheets)
    styled = {name.replace("\\", "") for name in course_output.NAME.findall(full)}
    kept = {name.replace("\\", "") for name in course_output.NAME.findall(left)}
    seen = set()
    for tree in trees.values():
        for element in tree.find_all(class_=True):
            seen.update(element["class"])
    assert seen & styled
    assert seen & styled <= kept


def test_the_themes_script_does_not_measure_the_whole_page(site):
    script = (site / "_static" / "scripts" / "pydata-sphinx-theme.js").read_text("utf8")
    assert "scrollWidth" not in script


def test_a_page_asks_for_one_sheet_which_is_light(site, trees):
    sheets = list(site.rglob("*.css"))
    assert [path.relative_to(site).as_posix() for path in sheets] == [
        "_static/course.css"
    ]
    full = next(THEME.rglob("pydata-sphinx-theme.css"))
    assert sheets[0].stat().st_size < full.stat().st_size
    for page, tree in trees.items():
        links = tree.find_all("link", rel="stylesheet")
        assert len(links) == (page not in ("index.html", "404.html")), page
