"""What holds for every page, in the site as it is served and in its files.

Each page is opened twice, on the screen of a telephone and then of a desk: from a
server, where axe is asked in the light and in the dark, and from its file, in the dark.
"""

import pytest

from tests.site.watching import PHONE, broken_rules, go, watch, widen

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


def visit(tab, address, looks):
    """Return what a page shows that it should not, by the name of the fault."""
    tab.set_viewport_size(PHONE)
    go(tab, address)
    faults = tab.evaluate(SHOWN, TOUCHED)
    faults["scrolls sideways on a phone"] = max(0, tab.evaluate(SIDEWAYS))
    if looks is None:
        widen(tab)
    else:
        for scheme, broken in broken_rules(tab, looks=looks, narrow=False).items():
            faults[f"breaks a rule in the {scheme}"] = broken
    faults["scrolls sideways on a desk"] = max(0, tab.evaluate(SIDEWAYS))
    return faults


@pytest.fixture(scope="module", params=["served", "files"])
def found(request, browser, address, site, names):
    """Return what tabs complained of, and the faults of each page by their names."""
    served = request.param == "served"
    base = address if served else site.as_uri() + "/"
    scheme, looks = ("light", {"light": [], "dark": []}) if served else ("dark", None)
    complaints = []
    with browser.new_context(
        color_scheme=scheme, reduced_motion="reduce", has_touch=not served
    ) as window:
        tab = window.new_page()
        watch(tab, complaints)
        faults = {name: visit(tab, base + name, looks) for name in names}
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
    ],
)
def test_no_page_has_a_fault(found, fault):
    _, faults = found
    assert {name: of[fault] for name, of in faults.items() if of[fault]} == {}


@pytest.mark.parametrize("found", ["served"], indirect=True)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_breaks_a_rule_of_accessibility(found, scheme):
    _, faults = found
    broken = f"breaks a rule in the {scheme}"
    assert {name: of[broken] for name, of in faults.items() if of[broken]} == {}
