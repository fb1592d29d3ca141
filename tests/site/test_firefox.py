"""The site in a browser other than Chromium: the system's Firefox, if there is one."""

import shutil

import pytest

from tests.site import firefox
from tests.site.watching import READY

SETTLED = f"({READY})()"
SHOWN = """({
  width: document.documentElement.scrollWidth,
  window: innerWidth,
  hidden: [...document.querySelectorAll("article math")]
    .filter(formula => !formula.closest("details:not([open])"))
    .filter(formula => formula.getBoundingClientRect().width < 1).length,
  malformed: [...document.querySelectorAll("mfrac, mroot, msub, msup, munder, mover")]
    .filter(part => part.childElementCount !== 2).length
    + [...document.querySelectorAll("msubsup, munderover")]
    .filter(part => part.childElementCount !== 3).length,
})"""
# Firefox also says so of a part that has not arrived as a whole when it is first drawn;
# SHOWN counts the children on the page that has.
PARTLY_THERE = "Invalid markup: Incorrect number of children for <"
ARROW_RIGHT = "\ue014"


@pytest.fixture(scope="module")
def tab():
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    if program is None:
        pytest.skip("no Firefox was found: install it, e.g. 'apt install firefox-esr'")
    with firefox.start(program) as tab:
        yield tab


def faults(tab, base):
    """List what the open page has complained of, and whom else it has asked."""
    for event in tab.events:
        told = event["params"]
        if event["method"] == "log.entryAdded":
            spoken = told["level"] in ("error", "warn")
            if spoken and not told["text"].startswith(PARTLY_THERE):
                yield told["text"]
        elif event["method"] == "network.fetchError":
            # Pages fetched ahead and pictures further down: given up when the tab
            # moves on.
            given_up = told.get("errorText") == "NS_BINDING_ABORTED"
            if not (given_up and told["request"]["url"].endswith((".html", ".svg"))):
                yield f"failed: {told['request']['url']}: {told.get('errorText')}"
        elif not told["request"]["url"].startswith((base, "data:", "blob:")):
            yield f"asked for {told['request']['url']}"


def test_every_file_is_drawn_without_a_complaint(tab, site, names):
    found, sizes, address = [], [(1280, 900), (360, 740)], f"{site.as_uri()}/"
    tab.resize(*sizes[0])
    for name in names:
        tab.open(address + name)
        tab.wait_for(SETTLED)
        for size in sizes:
            tab.resize(*size)
            shown = tab.run(SHOWN)
            wide = shown["width"] > shown["window"]
            if wide or shown["hidden"] or shown["malformed"]:
                found.append((name, shown))
        found += [(name, fault) for fault in faults(tab, address)]
        sizes.reverse()  # the next page is opened at the size that this one has now
    assert found == []


def test_a_widget_follows_the_keyboard(tab, address):
    tab.resize(1280, 900)
    tab.open(address + "chapters/02_attention_types.html")
    tab.wait_for(SETTLED)
    widget = "document.querySelector('.course-widget-live [data-widget=saturation]')"
    report = f"{widget}.querySelector('.attn-report').textContent"
    before = tab.run(report)
    tab.run(f"{widget}.querySelector('input[type=range]').focus()")
    tab.press(ARROW_RIGHT)
    tab.wait_for(f"{report} !== {before!r}")


def test_the_translator_writes_a_sentence(tab, address):
    tab.open(address + "chapters/06_seq2seq.html")
    tab.wait_for(SETTLED)
    widget = "document.querySelector('.course-widget-live [data-widget=translator]')"
    button = f"[...{widget}.querySelectorAll('button')]"
    tab.click(f"{button}.find(b => b.textContent.startsWith('Start'))")
    tab.wait_for(f"{widget}.dataset.state === 'done'")
    assert list(faults(tab, address)) == []
