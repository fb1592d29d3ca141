"""Keep what the pages load to what they need, all of it from the site itself.

It also tells browsers the size of each figure, so that nothing moves when it arrives,
gives the sidebar a role, and takes away two that are wrong and a tag said twice.

The theme draws its icons with a script of 1.5 MB and ships fonts, source maps and logos
that no page of this book shows. ``icons.css`` draws the icons instead. This removes
the rest from the built site, and a script that lets tabs be chosen together.
"""

import re
import shutil
from pathlib import Path

SCRIPT = re.compile(
    r"[ \t]*<(?:script|link)[^>]*(?:fontawesome|locales|design-tabs|doctools"
    r"|sphinx_highlight|searchtools|language_data|searchindex|as=\"script\")[^>]*>"
    r"(?:</script>)?\n?"
)
ROLES = {
    '<meta name="viewport" content="width=device-width, initial-scale=1.0" />': "",
    'role="doc-biblioentry"': 'role="listitem"',  # deprecated, in a list
    '<summary aria-label="Toggle hidden content">': "<summary>",  # it has a text
    'search-button-field search-button__button pst-js-only" title="Search" aria-label='
    '"Search"': 'search-button-field search-button__button pst-js-only"',
    '<summary><span class="toctree-toggle"': (
        '<summary aria-label="Pages below"><span class="toctree-toggle"'
    ),
    'data-theme="auto"': 'data-theme="light"',  # until a script says otherwise
    '<div id="pst-primary-sidebar" class': (
        '<div id="pst-primary-sidebar" role="complementary" aria-label="The book" class'
    ),
}
FIGURE = re.compile(
    r"<img (?![^>]*\bwidth=)([^>]*src=\"([^\"]*_images/[^\"]*\.svg)\"[^>]*?)/?>"
)
WIDE = 750  # pixels; on a telephone such a figure scrolls rather than be too small
SVG_SIZE = re.compile(r"<svg[^>]*?width=\"([\d.]+)pt\" height=\"([\d.]+)pt\"")
FONT_FACE = re.compile(r"@font-face\{[^}]*vendor/fontawesome[^}]*\}")
GLYPH = re.compile(r"(?:\.fa-[\w-]+::?before,?)+\{content:\"[^}]*\}")
SOURCE_MAP = re.compile(r"\n?(?://|/\*)# sourceMappingURL=\S+?(?:\s*\*/)?\s*$")

UNUSED = [
    "_static/vendor",
    "_static/locales",
    "_static/scripts/fontawesome.js",
    "_static/scripts/*.map",
    "_static/scripts/*.LICENSE.txt",
    "_static/styles/*.map",
    "_static/images/logo_[bdj]*",
    "_static/*webpack-macros.html",
    "_static/design-tabs.js",
    "_static/doctools.js",
    "_static/sphinx_highlight.js",
    "_static/*.txt.license",
    "_static/searchtools.js",
    "_static/language_data.js",
    "searchindex.js",
]


def lighten_page(text):
    """Return a page without what the theme adds and the book does not use."""
    text = SCRIPT.sub("", text)
    for old, new in ROLES.items():
        text = text.replace(old, new)
    return text


def size_figures(text, page):
    """Write every drawing's size, in pixels, into a page's text; mark wide ones."""

    def with_size(found):
        head = (page.parent / found[2]).read_text(encoding="utf8")[:2000]
        size = SVG_SIZE.search(head)
        if not size:
            return found[0]
        width, height = (round(float(points) * 4 / 3) for points in size.groups())
        size = f'width="{width}" height="{height}" loading="lazy"'
        image = f"<img {found[1].rstrip()} {size} />"
        return f'<div class="course-wide">{image}</div>' if width > WIDE else image

    return FIGURE.sub(with_size, text)


def lighten_style(text):
    """Return a style sheet without the icon fonts and without source maps."""
    return SOURCE_MAP.sub("", GLYPH.sub("", FONT_FACE.sub("", text)))


def rewrite(path, change):
    before = path.read_text(encoding="utf8")
    after = change(before)
    if after != before:
        path.write_text(after, encoding="utf8")


def lighten_site(app, exception):
    if exception or app.builder.format != "html":
        return
    out = Path(app.outdir)
    wanted = {f"{name}.html" for name in app.env.found_docs}
    for page in out.rglob("*.html"):
        name = page.relative_to(out).as_posix()
        if name not in wanted | {"search.html", "index.html", "404.html"}:
            page.unlink()  # left by an earlier build
            continue
        rewrite(page, lighten_page)
        rewrite(page, lambda text, p=page: size_figures(text, p))
    for style in (out / "_static").rglob("*.css"):
        rewrite(style, lighten_style)
    for script in (out / "_static").rglob("*.js"):
        rewrite(script, lambda text: SOURCE_MAP.sub("\n", text))
    for pattern in UNUSED:
        for path in out.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def setup(app):
    # Jupyter Book sets this for the extension sphinx_comments, which is not loaded.
    app.add_config_value("comments_config", {}, "html")
    app.connect("build-finished", lighten_site, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
