"""What holds for every page in a browser."""

import pytest

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
    """Open pages; return (faults by page, what each page shows)."""
    faults, shown = [], {}
    with browser.new_context(**context) as window:
        tab = window.new_page()
        current = [""]

        def request(sent):
            if not sent.url.startswith((base, "data:", "blob:")):
                faults.append((current[0], "asked for", sent.url))

        def console(message):
            if message.type in ("error", "warning"):
                faults.append((current[0], message.type, message.text))

        def failed(sent):
            if sent.failure != "net::ERR_ABORTED":  # the next page was opened meanwhile
                faults.append((current[0], "failed", sent.url))

        tab.on("request", request)
        tab.on("console", console)
        tab.on("pageerror", lambda error: faults.append((current[0], str(error))))
        tab.on("requestfailed", failed)
        for name in names:
            current[0] = name
            tab.goto(base + name, wait_until="load")
            tab.wait_for_function(RUN)  # no script is left that has not
            shown[name] = tab.evaluate(SHOWN)
    return faults, shown


@pytest.fixture(scope="session")
def names(pages):
    # The front page only leads on to the welcome page.
    return [name for name in pages if name != "index.html"]


@pytest.fixture(scope="session")
def on_a_phone(browser, address, names):
    size = {"width": 360, "height": 740}
    return visit(browser, address, names, viewport=size, color_scheme="light")


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


def test_the_front_page_leads_to_the_welcome_page(browser, address):
    with browser.new_context() as window:
        tab = window.new_page()
        tab.goto(address + "index.html")
        tab.wait_for_url("**/book/index.html")
        assert tab.locator("h1").count() >= 1


def test_the_search_finds_a_page(browser, address):
    with browser.new_context() as window:
        tab = window.new_page()
        tab.goto(address + "search.html?q=softmax")
        tab.wait_for_selector("#search-results li a", timeout=10_000)
        assert tab.locator("#search-results li a").count() > 0


def test_every_page_reads_without_scripts(browser, address, names):
    with browser.new_context(java_script_enabled=False) as window:
        tab = window.new_page()
        tab.goto(address + "book/notation.html")
        assert tab.locator("article math").first.is_visible()
