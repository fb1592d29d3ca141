"""What holds for every page, in the site as it is served and in its files.

Each page is opened twice: from a server in the light, and from its file in the dark.
One visit answers all questions, on the screen of a telephone and then of a desk.
"""

from functools import partial

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


def visit(tab, address, rules, looks):
    """Return what a page shows that it should not, by the name of the fault."""
    breaks = partial(broken_rules, tab, rules=rules, looks=looks)
    tab.set_viewport_size(PHONE)
    go(tab, address)
    faults = tab.evaluate(SHOWN, TOUCHED)
    faults["scrolls sideways on a phone"] = max(0, tab.evaluate(SIDEWAYS))
    faults["breaks a rule in the dark"] = rules and breaks()
    tab.evaluate("delete document.documentElement.dataset.marked")
    tab.set_viewport_size(DESK)
    tab.wait_for_function("'marked' in document.documentElement.dataset")
    faults["scrolls sideways on a desk"] = max(0, tab.evaluate(SIDEWAYS))
    faults["breaks a rule in the light"] = not rules and breaks()
    return faults


@pytest.fixture(scope="module", params=["served", "files"])
def found(request, browser, address, site, names):
    """Return what tabs complained of, and the faults of each page by their names."""
    served = request.param == "served"
    base = address if served else site.as_uri() + "/"
    scheme, rules = ("light", None) if served else ("dark", IN_THE_DARK)
    complaints, looks = [], []
    with browser.new_context(
        color_scheme=scheme, reduced_motion="reduce", has_touch=not served
    ) as window:
        tab = window.new_page()
        watch(tab, complaints)
        faults = {name: visit(tab, base + name, rules, looks) for name in names}
        return complaints, faults


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
