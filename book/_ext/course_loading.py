"""Let a page be drawn before anything comes that is not needed to read it.

On a slow connection each file is waited for in turn, and what comes early delays what
comes after it. A page asks for one style sheet, which all sheets are joined in, and for
the fonts of its first screen. Scripts, and the states of the page's widgets, are asked
for when the page has been drawn once.
"""

import hashlib
import json
import posixpath
import re
from pathlib import Path

STATE = "application/vnd.jupyter.widget-state+json"
STATES = "states"  # a folder in _static
SHEET = "course.css"
LINK = re.compile(
    r"<link (?=[^>]*\brel=\"stylesheet\")"
    r"[^>]*?\bhref=\"([^\"?]*/)?_static/([^\"?]+)[^>]*>\s*"
)
CHARSET = re.compile(r"@charset [^;]*;")
IMPORT = re.compile(r"@import \"([^\"]+)\";")
ADDRESS = re.compile(r"url\(\s*(?![\"']?(?:data:|[#/]))([\"']?)")
OPTIONS = re.compile(
    r"<script [^>]*src=\"[^\"]*documentation_options\.js[^\"]*\"></script>"
)
SCRIPT = re.compile(r"<script (?=[^>]*\bsrc=)([^>]*)></script>")
WHEN = re.compile(r"\b(?:defer|async)(?:=\"\w*\")?\s*")
# What the first drawing needs. The theme's own script comes later: a dark page would be
# light at first. The fonts of the text are shown only if they are there when the page
# is first drawn, so that no line moves; asked for this early, they are. A browser
# refuses that for a page that is opened from a folder; there page.js sees to them.
EARLY = """<script>
  (function (root) {
    if (root.dataset.theme === "auto") {
      var dark = matchMedia("(prefers-color-scheme: dark)").matches;
      root.dataset.theme = dark ? "dark" : "light";
    }
    if (location.protocol !== "file:") [NAMES].forEach(function (name) {
      var link = document.createElement("link");
      link.rel = "preload";
      link.as = "font";
      link.type = "font/woff2";
      link.crossOrigin = "anonymous";
      link.href = root.dataset.content_root + "_static/fonts/" + name + ".woff2";
      document.head.appendChild(link);
    });
  })(document.documentElement);
</script>
"""
# Where a formula stands on the first screen, a font that comes late would move it.
FIRST_SCREEN = 8000  # letters of the article
# In their order, once the page has been drawn: after the next frame. A script that has
# run leaves its tag without an address: to take it out of the body, or to put another
# in, would make the browser work out all styles again.
LATER = """<script>
  requestAnimationFrame(function () {
    setTimeout(function () {
      document.querySelectorAll("script[data-src]").forEach(function (waiting) {
        var script = document.createElement("script");
        script.async = false;
        script.onload = function () { waiting.removeAttribute("data-src"); };
        script.src = waiting.dataset.src;
        document.head.appendChild(script);
      });
    });
  });
</script>
"""


def put_states_aside(app, page, template, context, doctree):
    """Write the states of a page's widgets into a script of their own."""
    for script in context.get("script_files", []):
        attributes = getattr(script, "attributes", {})
        if attributes.get("type") == STATE:
            states = json.loads(attributes["body"])["state"]
            for one in states.values():
                one["state"].pop("_css", None)  # the page has it
            path = Path(app.outdir) / "_static" / STATES / f"{page}.js"
            path.parent.mkdir(parents=True, exist_ok=True)
            text = f"window.courseWidgetStates = {json.dumps(states)};\n"
            path.write_text(text, encoding="utf8")
            context["script_files"].remove(script)
            app.add_js_file(f"{STATES}/{page}.js", loading_method="defer", priority=400)
            return


def joined(names, static):
    """Return style sheets, with those that they import, as one for ``_static``."""

    def text_of(name):
        text = CHARSET.sub("", (static / name).read_text(encoding="utf8"))
        folder = posixpath.dirname(name)
        if folder:
            text = ADDRESS.sub(rf"url(\1{folder}/", text)
        return IMPORT.sub(
            lambda found: text_of(posixpath.normpath(f"{folder}/{found[1]}")), text
        )

    return '@charset "UTF-8";' + "\n".join(map(text_of, names))


def early_tag(text):
    """Return the script that sets the colours and asks for the first screen's fonts."""
    article = text.find("<article")
    names = ["literata-400", "literata-600"]
    if "<math" in text[article : article + FIRST_SCREEN]:
        names.append("stix-two-math-subset")
    if "<em" in text[article : article + FIRST_SCREEN]:
        names.append("literata-400-italic")
    return EARLY.replace("NAMES", ", ".join(f'"{name}"' for name in names))


def waiting(script):
    """Return the tag of a script so that it is not loaded by itself."""
    attributes = WHEN.sub("", script[1]).replace("src=", "data-src=", 1).strip()
    return f'<script type="text/plain" {attributes}></script>'


def reordered(text, sheet, options):
    """Return a page with one style sheet, and with scripts that wait.

    Parameters
    ----------
    text : str
        The page. One of an earlier build has its scripts in order already.
    sheet : str
        The address of the style sheet within ``_static``.
    options : str
        The content of ``documentation_options.js``, which other scripts read at once.
    """
    first = LINK.search(text)
    link = f'<link rel="stylesheet" href="{first[1] or ""}_static/{sheet}" />\n'
    text = text[: first.start()] + link + LINK.sub("", text[first.start() :])
    if LATER in text:
        return text
    text = text.replace(link, early_tag(text) + link, 1)
    text = OPTIONS.sub(lambda found: f"<script>{options}</script>", text)
    return SCRIPT.sub(waiting, text).replace("</body>", f"{LATER}</body>")


def reorder_site(app, exception):
    if exception or app.builder.format != "html":
        return
    out = Path(app.outdir)
    static = out / "_static"
    newest = (out / "search.html").read_text(encoding="utf8")  # written by each build
    names = [link[2] for link in LINK.finditer(newest)]
    style = joined(names, static)
    for path in static.rglob("*.css"):
        path.unlink()
    (static / SHEET).write_text(style, encoding="utf8")
    sheet = f"{SHEET}?v={hashlib.sha256(style.encode()).hexdigest()[:8]}"
    options = (static / "documentation_options.js").read_text(encoding="utf8").strip()
    for name in [*app.env.found_docs, "search"]:
        path = out / f"{name}.html"
        text = path.read_text(encoding="utf8")
        path.write_text(reordered(text, sheet, options), encoding="utf8")


def setup(app):
    # after myst-nb, which adds the states
    app.connect("html-page-context", put_states_aside, priority=900)
    # after course_styles, which makes the sheets lighter
    app.connect("build-finished", reorder_site, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
