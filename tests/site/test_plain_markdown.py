"""Plain Markdown of notebooks becomes boxes, citations and links to the glossary."""

from collections import Counter
from urllib.parse import urljoin

import pytest
from docutils import nodes
from docutils.core import publish_doctree
from myst_parser.docutils_ import Parser

from tests.loading import ROOT, load
from tests.site.watching import DESK

CHAPTERS = sorted(path.stem for path in (ROOT / "chapters").glob("[0-9]*.ipynb"))


def boxes_of(text):
    document = publish_doctree(text, parser=Parser())
    load("book/_ext/course_questions.py").Boxes(document).apply()
    return list(document.findall(nodes.admonition))


def test_a_quote_with_a_bold_lead_becomes_a_box_with_that_title():
    [box] = boxes_of("Before.\n\n> **Predict.** How large is x?\n>\n> And y?")
    assert box["classes"] == ["prediction"]
    assert [part.astext().strip() for part in box.children] == [
        "Predict",
        "How large is x?",
        "And y?",
    ]
    assert boxes_of("> **Limits of it.** None.")[0]["classes"] == ["limits-of-it"]


@pytest.mark.parametrize("quote", ["> To be, or not.", "> **bold** words"])
def test_other_quotes_stay_quotes(quote):
    assert boxes_of(quote) == []


ANSWER = "<details><summary>Answer</summary>\n\nTwo.\n\n</details>"


@pytest.mark.parametrize(
    "answer", [ANSWER, "> " + ANSWER.replace("\n", "\n> ")], ids=["after", "inside"]
)
def test_a_covered_answer_is_part_of_its_box(answer):
    gap = "\n>\n" if answer.startswith(">") else "\n\n"
    [box] = boxes_of(f"> **Predict.** How many?{gap}{answer}\n\nAfter.")
    assert "Two." in box.astext()
    assert "After." not in box.astext()


def test_each_part_of_a_drawing_leads_to_the_section_about_it(trees):
    parts = load("book/_ext/course_links.py").PARTS
    found = set()
    for page in ("chapters/07_transformer.html", "chapters/10_gpt.html"):
        for link in trees[page].select(".attn-drawing a"):
            target, section = urljoin(page, link["href"]).split("#")
            assert trees[target].find(id=section) is not None
            assert link.find_parent("svg")["role"] == "group"
            found.add(link.title.text.split(":")[0])
    assert found == set(parts)


def test_a_part_of_a_drawing_is_followed_by_keyboard(open_tab, address):
    tab = open_tab(viewport=DESK)
    tab.goto(address + "chapters/07_transformer.html", wait_until="load")
    part = tab.locator(".attn-drawing svg.wide a").first
    box = part.locator(".box").first
    width = "box => getComputedStyle(box).strokeWidth"
    before = box.evaluate(width)
    part.focus()
    tab.keyboard.press("Tab")
    tab.keyboard.press("Shift+Tab")
    assert box.evaluate(width) != before
    tab.keyboard.press("Enter")
    tab.wait_for_url("**#step-1")


@pytest.fixture(params=CHAPTERS)
def article(trees, request):
    return trees[f"chapters/{request.param}.html"].article


def test_citations_lead_to_entries_of_the_bibliography(article, trees):
    links = article.select("a.course-citation")
    assert links
    for link in links:
        page, entry = link["href"].split("#")
        assert page == "../book/bibliography.html"
        assert trees["book/bibliography.html"].find(id=entry) is not None
        assert link["title"]


def test_a_term_leads_to_the_glossary_at_its_first_mention_only(article, trees):
    glossary = trees["book/glossary.html"]
    targets = Counter(
        link["href"].split("#")[1] for link in article.select(".course-term")
    )
    assert targets
    assert set(targets.values()) == {1}
    assert all(glossary.find(id=target) for target in targets)


def test_rows_of_evidence_are_tables_with_their_code_folded(article):
    for table in article.select("table.course-evidence"):
        verdict = table.select_one(".held, .did-not-hold, .not-settled")
        assert verdict is not None
        assert table.find_next_sibling("details").summary.text == "Code"
    assert not [p for p in article.select("pre") if p.text.startswith("claim  ")]
