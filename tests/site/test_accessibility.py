"""No page breaks a rule of axe-core, in light and in dark."""

from pathlib import Path

import pytest

axe_core_python = pytest.importorskip("axe_core_python")
AXE = Path(axe_core_python.__file__).parent / "axe.min.js"

# What depends on the colours is asked twice; all else once.
RUN = """async (rules) => {
  const options = {resultTypes: ["violations"]};
  if (rules) options.runOnly = {type: "rule", values: rules};
  const {violations} = await axe.run(document, options);
  return violations.map(v => [v.id, v.nodes.length, v.nodes[0].html.slice(0, 120)]);
}"""


@pytest.mark.parametrize(
    ("scheme", "rules"), [("light", None), ("dark", ["color-contrast"])]
)
def test_no_page_breaks_a_rule_of_accessibility(browser, address, pages, scheme, rules):
    faults = {}
    size = {"width": 1280, "height": 900}
    with browser.new_context(
        viewport=size, color_scheme=scheme, reduced_motion="reduce"
    ) as window:
        tab = window.new_page()
        for name in pages:
            if name == "index.html":
                continue  # leads on at once
            tab.goto(address + name, wait_until="load")
            tab.wait_for_function(
                "[...document.querySelectorAll('.course-widget')]"
                ".every(w => w.classList.contains('course-widget-runs'))"
            )
            tab.add_script_tag(path=AXE)
            if found := tab.evaluate(RUN, rules):
                faults[name] = found
    assert faults == {}
