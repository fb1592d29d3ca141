"""What holds for every page in a browser."""

import pytest

from tests.site.watching import PHONE, watch

SHOWN = """() => {
  const formulas = [...document.querySelectorAll('article math')];
  const seen = e => !e.closest('details:not([open])');
  const empty = e => e.getBoundingClientRect().width < 1;
  return {
    width: document.documentElement.scrollWidth,
    window: window.innerWidth,
    hidden: formulas.filter(f => seen(f) && empty(f)).length,
    broken: [...document.images].filter(i => i.complete && !i.naturalWidth
        && i.getClientRects().length).map(i => i.src),
  }
}"""


RUN = "() => !document.querySelector('script[data-src]')"


def visit(browser, base, names, **context):
    """Open pages; return (faults, what each page shows)."""
    faults, shown = [], {}
    with browser.new_context(**context) as window:
        tab = window.new_page()
        watch(tab, faults)
        for name in names:
            tab.goto(base + name, wait_until="load")
            tab.wait_for_function(RUN)  # no script is left that has not
            shown[name] = tab.evaluate(SHOWN)
    return faults, shown


@pytest.fixture(scope="session")
def names(pages):
    # The front page only leads on to the welcome page; the other is served anywhere.
    return [name for name in pages if name not in ("index.html", "404.html")]


@pytest.fixture(scope="session")
def on_a_phone(browser, address, names):
    return visit(browser, address, names, viewport=PHONE, color_scheme="light")


def test_no_page_reports_an_error_or_asks_a_third_party(on_a_phone):
    faults, _ = on_a_phone
    assert faults == []


def test_no_page_scrolls_sideways_on_a_phone(on_a_phone):
    _, shown = on_a_phone
    wide = {n: s["width"] for n, s in shown.items() if s["width"] > s["window"]}
    assert wide == {}


def test_every_formula_and_picture_is_drawn(on_a_phone):
    _, shown = on_a_phone
    faults = {n: s for n, s in shown.items() if s["hidden"] or s["broken"]}
    assert faults == {}


def test_the_site_works_from_files_in_the_dark(browser, site, names):
    base = site.as_uri() + "/"
    size = {"width": 1280, "height": 900}
    faults, _ = visit(browser, base, names, viewport=size, color_scheme="dark")
    assert faults == []


@pytest.mark.parametrize("from_folder", [False, True])
def test_the_front_page_leads_on_and_the_search_finds_sections(
    open_tab, address, site, from_folder
):
    base = site.as_uri() + "/" if from_folder else address
    tab = open_tab()
    tab.goto(base + "index.html")
    tab.wait_for_url("**/book/index.html")
    tab.goto(base + "search.html?q=sofmax")  # a wrong letter is forgiven
    tab.wait_for_selector("#search-results li a", timeout=10_000)
    assert "softmax" in tab.locator("#search-results li").first.inner_text().lower()


def test_a_page_reads_without_scripts(browser, address):
    with browser.new_context(java_script_enabled=False) as window:
        tab = window.new_page()
        tab.goto(address + "book/notation.html")
        assert tab.locator("article math").first.is_visible()
