"""What a reader meets who has no mouse, a telephone, or a printer."""

import pytest

from tests.site.watching import MARKED, PHONE, go

TOUCHED = (
    "button, select, summary, [role=gridcell], input[type=range], label:has(input)"
)
SMALL = """(touched) => [...document.querySelectorAll('.course-widget-live')]
  .flatMap(w => [...w.querySelectorAll(touched)])
  .filter(e => e.getClientRects().length)
  .map(e => [e.getBoundingClientRect(), e.textContent])
  .filter(([box]) => box.width < 24 || box.height < 24)
  .map(([box, text]) => [text, box.width, box.height])"""
NAMELESS = """() => [...document.querySelectorAll('.course-widget-live [tabindex="0"]')]
  .filter(e => e.tagName === 'DIV' && !e.getAttribute('aria-label'))
  .map(e => e.className)"""


@pytest.fixture(scope="module")
def on_a_phone(browser, address, with_widgets):
    """Return what two questions found on every page with a widget."""
    found = {}
    with browser.new_context(viewport=PHONE) as window:
        tab = window.new_page()
        for name in with_widgets:
            go(tab, address + name)
            found[name] = (tab.evaluate(SMALL, TOUCHED), tab.evaluate(NAMELESS))
    return found


def test_what_is_touched_in_a_widget_is_large_enough(on_a_phone):
    assert {name: small for name, (small, _) in on_a_phone.items() if small} == {}


def test_every_stop_of_the_keyboard_has_a_name(on_a_phone):
    assert {name: bare for name, (_, bare) in on_a_phone.items() if bare} == {}


def test_a_dark_page_is_printed_light(browser, address):
    with browser.new_context(color_scheme="dark") as window:
        tab = window.new_page()
        tab.goto(address + "book/notation.html", wait_until="load")
        tab.wait_for_function(MARKED)
        theme = "document.documentElement.dataset.theme"
        assert tab.evaluate(theme) == "dark"
        tab.evaluate(
            f"() => addEventListener('beforeprint', () => window.printed = {theme})"
        )
        tab.pdf()
        assert tab.evaluate("window.printed") == "light"
        assert tab.evaluate(theme) == "dark"


def test_wide_figures_keep_a_size_that_reads_on_a_phone(browser, address, pages):
    name = "chapters/04_positional_encoding.html"
    assert pages[name].count('class="course-wide"') >= 3
    with browser.new_context(viewport=PHONE) as window:
        tab = window.new_page()
        tab.goto(address + name, wait_until="load")
        tab.wait_for_function(MARKED)
        figures = tab.locator(".course-wide")
        for i in range(figures.count()):
            assert figures.nth(i).locator("img").bounding_box()["width"] > 500
            assert figures.nth(i).get_attribute("tabindex") == "0"


def test_links_into_a_long_page_lead_to_their_places(browser, address):
    """One after the other, as from the contents at the side."""
    page = address + "chapters/06_seq2seq.html"
    with browser.new_context(viewport=PHONE) as window:
        tab = window.new_page()
        tab.goto(page, wait_until="load")
        tab.wait_for_function(MARKED)
        sections = ".bd-article > section > section"
        names = tab.eval_on_selector_all(sections, "found => found.map(s => s.id)")
        *others, last = names
        for name in [*others[::4], *others[::-4]]:
            tab.goto(f"{page}#{name}")
            tab.wait_for_timeout(300)
            assert 0 <= tab.locator(f"#{name}").bounding_box()["y"] < 100, name
        tab.goto(f"{page}#{last}")
        tab.wait_for_timeout(300)
        assert -1 < tab.locator(f"#{last}").bounding_box()["y"] < 740
