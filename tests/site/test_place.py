"""The browser remembers where one was, leads back there, and forgets it at a click."""

import re

import pytest

from tests.site.watching import DESK, go

CHAPTER, WELCOME = "chapters/02_attention_types.html", "book/index.html"


def read_a_section(tab, base):
    """Answer a question of a chapter, and go to a section of it."""
    go(tab, base + CHAPTER)
    tab.locator("#question-2 .course-wrong summary").first.click()
    tab.locator("#question-2 .course-right summary").click()
    tab.evaluate("document.getElementById('softmax').scrollIntoView()")
    tab.wait_for_timeout(500)  # Chromium may forget what a page left at once has stored


@pytest.mark.parametrize("from_folder", [False, True])
def test_a_reader_is_led_back_until_it_is_forgotten(
    open_tab, address, site, from_folder
):
    base = site.as_uri() + "/" if from_folder else address
    tab = open_tab(viewport=DESK)
    go(tab, base + WELCOME)
    begin = tab.locator("#continue").inner_text()
    assert begin.startswith("Begin")
    read_a_section(tab, base)
    tab.wait_for_function("JSON.stringify(localStorage).includes('Softmax')")
    go(tab, base + WELCOME)
    contents = tab.locator("nav.bd-links")
    assert "1 of 6 questions answered" in contents.inner_text()
    assert contents.get_by_role("link", name="Continue: ").count() == 1
    assert "sent nowhere" in tab.locator("#continue").inner_text()
    forget = tab.locator("#continue").get_by_role("button", name="Forget it")
    tab.locator("#continue a", has_text=re.compile("^Continue: .*Softmax$")).click()
    tab.wait_for_url("**#softmax")
    tab.wait_for_timeout(500)
    go(tab, base + WELCOME)
    forget.focus()
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.textContent") == "Forgotten."
    assert "attention-measured" not in tab.evaluate("JSON.stringify(localStorage)")
    go(tab, base + WELCOME)
    assert tab.locator("#continue").inner_text() == begin
    assert tab.locator(".course-place").count() == 0


def test_a_window_without_storage_reads_as_before(browser, address):
    errors = []
    with browser.new_context() as window:
        tab = window.new_page()
        tab.on("pageerror", lambda error: errors.append(error.stack or ""))
        tab.add_init_script(
            "Object.defineProperty(window, 'localStorage',"
            " {get() { throw new DOMException('', 'SecurityError'); }})"
        )
        read_a_section(tab, address)
        go(tab, address + WELCOME)
        assert tab.locator("#continue").inner_text().startswith("Begin")
    # the theme's own scripts do complain
    assert [error for error in errors if "place.js" in error] == []
