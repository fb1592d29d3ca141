"""What the tests in Chromium share: tabs that are watched for faults, waiting, axe."""

from pathlib import Path

OWN = ("http://127.0.0.1:", "file:", "data:", "blob:")
PHONE = {"width": 360, "height": 740}
DESK = {"width": 1280, "height": 900}
# Widgets run, page.js and the theme are done. A widget starts when it comes near.
READY = """() => {
  const next = document.querySelector('.course-widget:not(.course-widget-runs)');
  next?.scrollIntoView({ behavior: 'instant' });
  const done = document.documentElement.dataset;
  return !next && 'marked' in done && 'whole' in done;
}"""

# A section far down is laid out when it comes near; here all are, as if they were.
NEAR = (
    ".bd-article :is(section, .cell_input) { content-visibility: visible !important; }"
)
AXE = Path(__file__).parent / "vendor" / "axe.min.js"
# axe takes its time for each element, so a page is made smaller for it. Pages of the
# API have many sections of one template: six stay. Contrast depends on colour, size,
# weight and what lies behind: one text of each such look, and of each kind of a part of
# code, is asked, unless it was on an earlier page. Other parts of code are dissolved.
MADE_SMALLER = """asked => {
  if (location.pathname.includes("/api/")) document.querySelectorAll(
    "section > section:nth-of-type(n+7)").forEach(section => section.remove());
  const behind = new Map([[null, ""]]);
  const ground = element => {
    if (!behind.has(element)) {
      const {backgroundColor, backgroundImage, opacity, filter} =
        getComputedStyle(element);
      const own = [backgroundColor, backgroundImage, opacity, filter].join();
      const clear = own === "rgba(0, 0, 0, 0),none,1,none";
      behind.set(element, (clear ? "" : own) + ground(element.parentElement));
    }
    return behind.get(element);
  };
  const looks = new Set(asked);
  document.querySelectorAll("[data-look]").forEach(
    element => element.removeAttribute("data-look"));
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || !element.checkVisibility()) continue;
    const {color, fontSize, fontWeight} = getComputedStyle(element);
    const kind = element.closest("pre") && element.className;
    const look = [color, fontSize, fontWeight, kind, ground(element)].join();
    if (!looks.has(look)) element.setAttribute("data-look", "");
    looks.add(look);
  }
  document.querySelectorAll("pre span:not([data-look])").forEach(
    span => span.replaceWith(...span.childNodes));
  document.querySelectorAll("pre").forEach(code => code.normalize());
  axe.configure({rules: [{id: "color-contrast", selector: "[data-look]"}]});
  return [...looks];
}"""
BROKEN = """async ({part, rules}) => {
  const options = {resultTypes: ["violations"], preload: false};
  if (rules) options.runOnly = {type: "rule", values: rules};
  const {violations} = await axe.run(part, options);
  return violations.map(v => [v.id, v.nodes.length, v.nodes[0].html.slice(0, 120)]);
}"""


def watch(tab, faults):
    """Add to a list what a tab complains of, and whom else than the site it asks."""

    def note(kind, text):
        faults.append((tab.url, kind, text))

    def request(sent):
        if not sent.url.startswith(OWN):
            note("asked for", sent.url)

    def failed(sent):
        if sent.failure != "net::ERR_ABORTED":  # the next page was opened meanwhile
            note("failed", sent.url)

    def console(message):
        if message.type in ("error", "warning"):
            note(message.type, message.text)

    tab.on("request", request)
    tab.on("requestfailed", failed)
    tab.on("console", console)
    tab.on("pageerror", lambda error: note("error", str(error)))


def go(tab, address):
    """Open a page, and wait until its scripts have done their work."""
    tab.goto(address, wait_until="load")
    tab.wait_for_function(READY, timeout=20_000)
    tab.add_style_tag(content=NEAR)
    tab.evaluate("() => new Promise(requestAnimationFrame)")  # the style holds after it
    tab.evaluate("() => new Promise(requestAnimationFrame)")
    tab.evaluate("dispatchEvent(new Event('resize'))")


def broken_rules(tab, part="html", rules=None, looks=None):
    """Return the rules of axe-core that a part of a page breaks: all, or some asked.

    `looks` is a list of the looks that were asked on earlier pages; new ones are added.
    """
    looks = [] if looks is None else looks
    if not tab.evaluate("'axe' in window"):
        tab.add_script_tag(path=AXE)
    looks[:] = tab.evaluate(MADE_SMALLER, looks)
    return tab.evaluate(BROKEN, {"part": part, "rules": rules})
