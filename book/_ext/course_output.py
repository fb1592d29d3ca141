"""Make the built pages light: one style sheet, scripts that wait, sized figures.

``book/_templates`` writes the head of a page. The theme's sheets have rules for every
part that a site might use: 440 kB, of which this book needs a fifth. A rule goes if it
asks for a class or an id that no page has and no script names; then a property goes
that nothing reads. This keeps too much rather than too little. What is left is joined
in one sheet, since on a slow connection each file is waited for in turn.
"""

import hashlib
import json
import re
import shutil
import zlib
from pathlib import Path

HOST = "widget-host.js"  # in book/_widgets
STATE = "application/vnd.jupyter.widget-state+json"
OPTIONS = "DOCUMENTATION_OPTIONS."  # for a search box and versions that are not used
# Tabs that are chosen together, and Sphinx's search: no page has them.
UNUSED_SCRIPTS = {"design-tabs.js", "doctools.js", "sphinx_highlight.js"}
UNUSED_FILES = [
    "_static/vendor",
    "_static/locales",
    "_static/scripts/fontawesome.js",
    "_static/scripts/*.map",
    "_static/styles",
    "_static/*.css",
    "_static/*webpack-macros.html",
    "_static/searchtools.js",
    "_static/language_data.js",
    *(f"_static/{name}" for name in UNUSED_SCRIPTS),
    "searchindex.js",
]
# What the theme and the copy buttons run: page.js asks for it once the page is drawn.
THEIRS = (
    "documentation_options|clipboard.min|copybutton|sphinx-book-theme|bootstrap"
    "|pydata-sphinx-theme"
)
LATE = re.compile(rf'<script defer(?:="defer")?(?= src="[^"]*/(?:{THEIRS})\.js)')
SHEET = re.compile(r"(_static/course\.css)[^\"]*")
THEME = ("basic.css", "pydata-sphinx-theme.css")  # the template's other sheets
RULE = re.compile(r"([^{}@;]+)\{([^{}]*)\}")  # those within @media too
NOTICE = re.compile(r"/\*!.*?\*/", re.DOTALL)
DROPPED = re.compile(
    r"/\*.*?\*/|@charset[^;]*;|@import[^;]*;|@font-face\{[^}]*fontawesome[^}]*\}",
    re.DOTALL,
)
COMMA = re.compile(r",(?![^()\[\]]*[)\]])")  # not one within brackets
NOTHING = re.compile(r"@(?:media|supports|layer|container)[^{}]*\{\s*\}")
BRACKETS = re.compile(r"\[[^\]]*\]|\([^()]*\)")
NAME = re.compile(r"[.#]([\w-]+)")
WORD = re.compile(r"[\w-]+")
READ = re.compile(r"var\(\s*(--[\w-]+)")
PROPERTY = re.compile(r"(?<=[{;\s])(--[\w-]+):(?:\"[^\"]*\"|[^;{}\"])*;?")
GIVEN = re.compile(r"\b(?:class|id)=(?:\"([^\"]*)\"|'([^']*)')|" + READ.pattern)
MADE_BY_SCRIPT = ("attn-", "bs-tooltip-")  # put together from parts
# Bootstrap has scripts for 12 parts, of which this book has menus and tooltips. The
# models' weights and what the search looks through name no part of a page.
SILENT = {"bootstrap.js", "search-sections.js"}
OF_BOOTSTRAP = ("fade", "show", "tooltip", "tooltip-arrow", "tooltip-inner")
FIGURE = re.compile(
    r"<img (?![^>]*\bwidth=)([^>]*src=\"([^\"]*_images/[^\"]*\.svg)\"[^>]*?)/?>"
)
# The theme measures all code to see what scrolls, which lays out the whole page.
# page.js does this instead, for code in sight only.
MEASURES = re.compile(
    r"(function \w+\(\)\{)const e=\(\)=>\{document\.querySelectorAll\(\[\"pre\",.*?"
    r",e\(\)\}"
)
WIDE = 750  # pixels; on a telephone such a figure scrolls rather than be too small
SVG_SIZE = re.compile(r"<svg[^>]*?width=\"([\d.]+)pt\" height=\"([\d.]+)pt\"")
# Parts of code in the colour of all text: a third of the elements of a chapter.
PLAIN = re.compile(r'<span class="(?:nn?|p|w)">([^<]*)</span>')
ROLES = {
    'role="doc-biblioentry"': 'role="listitem"',  # deprecated, in a list
    '<summary aria-label="Toggle hidden content">': "<summary>",  # it has a text
    '<summary><span class="toctree-toggle"': (
        '<summary aria-label="Pages below"><span class="toctree-toggle"'
    ),
    '<div id="pst-primary-sidebar" class': (
        '<div id="pst-primary-sidebar" role="complementary" aria-label="The book" class'
    ),
}


def choose_files(app, page, template, context, doctree):
    """Let scripts wait; write the states of a page's widgets into one of their own."""
    sheets = sorted(context["css_files"], key=lambda sheet: sheet.priority)
    app.course_sheets = [Path(sheet.filename).name for sheet in sheets]
    for script in [*context["script_files"]]:
        name = Path(script.filename or "").name
        if script.attributes.get("type") == STATE:
            context["script_files"].remove(script)
            write_states(app, page, json.loads(script.attributes["body"])["state"])
        elif name in UNUSED_SCRIPTS or OPTIONS in script.attributes.get("body", ""):
            context["script_files"].remove(script)
        elif name:
            script.attributes["defer"] = "defer"


def write_states(app, page, states):
    for one in states.values():
        one["state"].pop("_css", None)  # the page has it
    path = Path(app.outdir) / "_static" / "states" / f"{page}.js"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = f"window.courseWidgetStates = {json.dumps(states)};\n"
    path.write_text(text, encoding="utf8")
    where = {"data-states": f"states/{page}.js?v={zlib.crc32(text.encode()):x}"}
    app.add_js_file(HOST, loading_method="defer", **where)


def is_used(selector, words):
    """Say whether all classes and ids that a selector asks for may occur."""
    plain = selector
    while (shorter := BRACKETS.sub("", plain)) != plain:
        plain = shorter
    return all(
        name.startswith(MADE_BY_SCRIPT) or name in words for name in NAME.findall(plain)
    )


def without_unused(text, words):
    """Return a style sheet without the rules for classes and ids that are not words."""

    def used(rule):
        kept = [s.strip() for s in COMMA.split(rule[1]) if is_used(s, words)]
        return f"{','.join(kept)}{{{rule[2]}}}" if kept else ""

    notices = "".join(dict.fromkeys(NOTICE.findall(text)))
    return notices + NOTHING.sub("", RULE.sub(used, DROPPED.sub("", text)))


def words_of(site):
    """Return the classes, ids and properties of pages, and every word of scripts."""
    words = {*OF_BOOTSTRAP}
    for path in site.rglob("*.html"):
        for given in GIVEN.findall(path.read_text(encoding="utf8")):
            words.update(" ".join(given).split())
    for path in site.rglob("*.js"):
        if path.parent.name != "models" and path.name not in SILENT:
            words.update(WORD.findall(path.read_text(encoding="utf8")))
    return words


def joined(sheets, words):
    """Return style sheets as one, without what no page has and nothing reads."""
    text = re.sub(r"\s*\n\s*", " ", without_unused("\n".join(sheets), words))
    read = words.union(READ.findall(text))
    text = PROPERTY.sub(lambda found: found[0] if found[1] in read else "", text)
    return '@charset "UTF-8";' + text


def with_sizes(text, page):
    """Write every drawing's size, in pixels, into a page's text; mark wide ones."""

    def sized(found):
        head = (page.parent / found[2]).read_text(encoding="utf8")[:2000]
        size = SVG_SIZE.search(head)
        if not size:
            return found[0]
        width, height = (round(float(points) * 4 / 3) for points in size.groups())
        size = f'width="{width}" height="{height}" loading="lazy"'
        image = f"<img {found[1].rstrip()} {size} />"
        return f'<div class="course-wide">{image}</div>' if width > WIDE else image

    return FIGURE.sub(sized, text)


def finish(app, exception):
    if exception or app.builder.format != "html":
        return
    site = Path(app.outdir)
    paths = {path.name: path for path in (site / "_static").rglob("*.css")}
    sheets = [paths[n].read_text("utf8") for n in (*THEME, *app.course_sheets)]
    for pattern in UNUSED_FILES:
        for path in site.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    theme = site / "_static" / "scripts" / "pydata-sphinx-theme.js"
    theme.write_text(MEASURES.sub(r"\1}", theme.read_text("utf8")), encoding="utf8")
    style = joined(sheets, words_of(site))
    (site / "_static" / "course.css").write_text(style, encoding="utf8")
    digest = hashlib.sha256(style.encode()).hexdigest()[:8]
    for name in [*app.env.found_docs, "search"]:
        page = site / f"{name}.html"
        text = with_sizes(page.read_text(encoding="utf8"), page)
        for old, new in ROLES.items():
            text = text.replace(old, new)
        text = LATE.sub('<script type="text/late"', PLAIN.sub(r"\1", text))
        text = SHEET.sub(rf"\1?v={digest}", text)
        page.write_text(text, encoding="utf8")


def setup(app):
    # Jupyter Book sets this for the extension sphinx_comments, which is not loaded.
    app.add_config_value("comments_config", {}, "html")
    # after myst-nb, which adds the states
    app.connect("html-page-context", choose_files, priority=900)
    app.connect("build-finished", finish, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
