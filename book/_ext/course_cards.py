"""Draw what a link to a chapter is shown with: its title and its first picture.

Chromium draws it from the built page. Where there is none, or where the site's address
is not known, which such a link needs, all pages share one picture.
"""

import re
import shutil
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FOLDER = "_static/cards"
OTHERS = "_static/page.png"  # what a link to a page without a card is shown with
SIZE = {"width": 1200, "height": 630}
STYLE = """
  body { display: grid; grid-template-rows: auto 1fr; margin: 0; height: 630px;
    padding: 44px 56px 36px; background: #fdfcfa; }
  h1 { font: 600 52px/1.15 var(--course-serif); margin: 0 0 28px; padding-bottom: 22px;
    border-bottom: 4px solid #0072b2; text-wrap: balance; }
  .picture { min-height: 0; }
  .picture.picture > * { width: 100%; height: 100%; object-fit: contain; }
"""
# Widgets and drawings have their colours from what they stand in.
CARD = """async (style) => {
  const first = document.querySelector(
    ".attn-drawing > svg.wide, .course-widget-still > svg, .cell_output img");
  const title = document.querySelector("h1");
  title.querySelectorAll(".headerlink, .section-number").forEach(part => part.remove());
  const place = document.createElement("div");
  place.className = first.parentNode.className + " picture";
  place.style.cssText = "border: 0; margin: 0; max-width: none; padding: 0";
  const sheets = [...document.querySelectorAll(".attn-drawing > style")].slice(0, 1);
  place.append(first);
  first.loading = "eager";
  document.body.className = "";
  document.body.replaceChildren(title, place, ...sheets);
  document.head.append(Object.assign(
    document.createElement("style"), {textContent: style}));
  document.documentElement.dataset.theme = "light";
  if (first.decode) await first.decode();
  await document.fonts.ready;
}"""


def chromium():
    """Return the path of the system's Chromium, or None."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def card_of(page):
    """Return the address of what a link to a page is shown with, within the site."""
    drawn = re.match(r"chapters/\d", page) and chromium()
    return f"{FOLDER}/{page.split('/')[1]}.png" if drawn else OTHERS


def draw(pages, folder, program):
    """Draw a card for each page of {name: path} into a folder, as PNG."""
    from playwright.sync_api import sync_playwright

    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox"]
        )
        tab = browser.new_page(viewport=SIZE)
        tab.set_default_timeout(120_000)
        tab.route("**/*.js", lambda route: route.abort())  # the page as it is written
        for name, path in pages.items():
            tab.goto(path.as_uri(), wait_until="load")
            tab.evaluate(CARD, STYLE)
            tab.screenshot(path=folder / f"{name}.png")
        browser.close()


def draw_all(app, exception):
    if exception or app.builder.format != "html" or not app.course_repository.pages:
        return
    if program := chromium():
        out = Path(app.outdir)
        names = [n for n in app.env.found_docs if re.match(r"chapters/\d", n)]
        pages = {name.split("/")[1]: out / f"{name}.html" for name in sorted(names)}
        draw(pages, out / FOLDER, program)


def setup(app):
    # after course_local, which gives figures their sizes
    app.connect("build-finished", draw_all, priority=650)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
