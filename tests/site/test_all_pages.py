"""What holds for every page of the site.

Each is visited once, on the screen of a telephone in the dark, then of a desk in light.
"""

import pytest

from tests.site.watching import DESK, PHONE, broken_rules, go, watch

TOUCHED = (
    "button, select, summary, [role=gridcell], input[type=range], label:has(input)"
)
SHOWN = """touched => {
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const widgets = all('.course-widget-live');
  const parts = selector => widgets.flatMap(widget => all(selector, widget));
  const box = element => element.getBoundingClientRect();
  return {
    "formulas that are not drawn": all('article math').filter(formula =>
      !formula.closest('details:not([open])') && box(formula).width < 1).length,
    "broken pictures": [...document.images].filter(image => image.complete
      && !image.naturalWidth && image.getClientRects().length).map(image => image.src),
    "widgets without a live picture":
      all('.course-widget').length - all('.course-widget-live > *').length,
    "still pictures beside live ones": all('.course-widget-still').filter(
      picture => picture.checkVisibility()).length,
    "widgets without a question": parts('.attn-widget').filter(widget =>
      !widget.querySelector('.attn-title').textContent.includes('?')).length,
    "widgets without a table": parts('.attn-widget').filter(widget =>
      !widget.querySelector('details table, table.attn-data')).length,
    "too small to touch": parts(touched)
      .filter(part => part.getClientRects().length)
      .map(part => [part.textContent, box(part).width, box(part).height])
      .filter(([, width, height]) => width < 24 || height < 24),
    "stops of the keyboard without a name": parts('div[tabindex="0"]')
      .filter(part => !part.getAttribute('aria-label')).map(part => part.className),
  };
}"""
SIDEWAYS = "document.documentElement.scrollWidth - innerWidth"
# What depends on colours or on the width is asked twice; all else once, in the light.
IN_THE_DARK = ["color-contrast", "scrollable-region-focusable"]


def visit(tab, address, dark, light):
    """Return what a page shows that it should not, by the name of the fault.

    `dark` and `light` are the looks that were asked on earlier pages.
    """
    tab.emulate_media(color_scheme="dark", reduced_motion="reduce")
    tab.set_viewport_size(PHONE)
    go(tab, address)
    faults = tab.evaluate(SHOWN, TOUCHED)
    faults["scrolls sideways on a phone"] = max(0, tab.evaluate(SIDEWAYS))
    faults["breaks a rule in the dark"] = broken_rules(
        tab, rules=IN_THE_DARK, looks=dark
    )
    tab.evaluate("delete document.documentElement.dataset.marked")
    tab.emulate_media(color_scheme="light", reduced_motion="reduce")
    tab.set_viewport_size(DESK)
    tab.wait_for_function("'marked' in document.documentElement.dataset")
    faults["scrolls sideways on a desk"] = max(0, tab.evaluate(SIDEWAYS))
    faults["breaks a rule in the light"] = broken_rules(tab, looks=light)
    return faults


@pytest.fixture(scope="module")
def found(browser, address, names):
    """Return what tabs complained of, and the faults of each page by their names."""
    complaints, dark, light = [], [], []
    with browser.new_context(has_touch=True) as window:
        tab = window.new_page()
        watch(tab, complaints)
        return complaints, {n: visit(tab, address + n, dark, light) for n in names}


def test_no_page_reports_an_error_or_asks_a_third_party(found):
    complaints, _ = found
    assert complaints == []


@pytest.mark.parametrize(
    "fault",
    [
        "formulas that are not drawn",
        "broken pictures",
        "widgets without a live picture",
        "still pictures beside live ones",
        "widgets without a question",
        "widgets without a table",
        "too small to touch",
        "stops of the keyboard without a name",
        "scrolls sideways on a phone",
        "scrolls sideways on a desk",
        "breaks a rule in the dark",
        "breaks a rule in the light",
    ],
)
def test_no_page_has_a_fault(found, fault):
    _, faults = found
    assert {name: of[fault] for name, of in faults.items() if of[fault]} == {}
