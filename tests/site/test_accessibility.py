"""No page breaks a rule of axe-core, in light and in dark."""

from pathlib import Path

import pytest

from tests.site.watching import MARKED, go

AXE = Path(__file__).parent / "vendor" / "axe.min.js"

# What depends on colours or on the width is asked twice; all else once. Pages of the
# API have many sections of one template, and axe is slow: six are looked at.
LEFT_OUT = [["section > section:nth-of-type(n+7)"]]
RUN = """async ({rules, exclude}) => {
  const context = {include: [["html"]], exclude};
  const options = {resultTypes: ["violations"]};
  if (rules) options.runOnly = {type: "rule", values: rules};
  const {violations} = await axe.run(context, options);
  return violations.map(v => [v.id, v.nodes.length, v.nodes[0].html.slice(0, 120)]);
}"""


@pytest.mark.parametrize(
    ("scheme", "width", "rules"),
    [
        ("light", 1280, None),
        ("dark", 360, ["color-contrast", "scrollable-region-focusable"]),
    ],
)
def test_no_page_breaks_a_rule_of_accessibility(
    browser, address, pages, scheme, width, rules
):
    faults = {}
    size = {"width": width, "height": 900}
    with browser.new_context(
        viewport=size, color_scheme=scheme, reduced_motion="reduce"
    ) as window:
        tab = window.new_page()
        for name in pages:
            if name in ("index.html", "404.html"):
                continue  # the first leads on at once
            go(tab, address + name)
            tab.wait_for_function(MARKED)
            tab.add_script_tag(path=AXE)
            given = {"rules": rules, "exclude": LEFT_OUT if "/api/" in name else []}
            if found := tab.evaluate(RUN, given):
                faults[name] = found
    assert faults == {}
