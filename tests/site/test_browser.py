"""The front page, the search, and a page without scripts, in a browser."""

import pytest


@pytest.mark.parametrize("from_folder, typed", [(False, "sofmax"), (True, "sotfmax")])
def test_the_front_page_leads_on_and_the_search_forgives_mistakes(
    open_tab, address, site, from_folder, typed
):
    base = site.as_uri() + "/" if from_folder else address
    tab = open_tab()
    tab.goto(base + "index.html")
    tab.wait_for_url("**/book/index.html")
    tab.goto(base + f"search.html?q={typed}")
    tab.wait_for_selector("#search-results li a", timeout=10_000)
    assert "softmax" in tab.locator("#search-results li").first.inner_text().lower()


def test_a_page_reads_without_scripts(browser, address):
    with browser.new_context(java_script_enabled=False) as window:
        tab = window.new_page()
        tab.goto(address + "book/notation.html")
        assert tab.locator("article math").first.is_visible()
