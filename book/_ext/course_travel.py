"""Let pages be found and passed on: descriptions, canonical links, map, a 404 page.

Links must be absolute here: all but descriptions, the 404 page and the list for
language models is left out where the site's address is not known.
"""

import textwrap
from pathlib import Path
from urllib.parse import urlsplit

from docutils import nodes
from markupsafe import Markup

NAME = "Attention, measured"
LOST = Path(__file__).with_name("404.html")


def description_of(doctree):
    """Return the start of a page's first paragraph of some length, as plain text."""
    texts = (text.astext() for text in doctree.findall(nodes.paragraph))
    first = next((" ".join(t.split()) for t in texts if len(t) >= 40), "")
    return textwrap.shorten(first, 157, placeholder=" …")


def title_of(env, page):
    """Return the title of a page with its number, if it has one."""
    numbers = env.toc_secnumbers.get(page, {}).get("", ())
    return "".join(f"{number}. " for number in numbers) + env.titles[page].astext()


def add_tags(app, page, template, context, doctree):
    """Write what search engines and shared links show into the head of a page."""
    title = Markup(context.get("title", "")).striptags()
    if title == NAME:
        context["docstitle"] = ""  # a title is said once
    description = description_of(doctree) if doctree else "A search in all pages."
    # in place of docutils', which say again how wide a telephone is
    tags = [Markup('<meta name="description" content="{}" />').format(description)]
    if base := app.course_repository.pages:
        address = f"{base}{page}.html"
        tags.append(Markup('<link rel="canonical" href="{}" />').format(address))
        tags.append('<meta name="twitter:card" content="summary_large_image" />')
        for key, value in (
            ("type", "article"),
            ("site_name", NAME),
            ("title", title if title == NAME else f"{title} — {NAME}"),
            ("description", description),
            ("url", address),
            ("image", f"{base}_static/page.png"),
        ):
            tag = Markup('<meta property="og:{}" content="{}" />')
            tags.append(tag.format(key, value))
    context["metatags"] = "\n" + "\n".join(tags[0 if description else 1 :]) + "\n"


def write_lists(app, exception):
    """Write the 404 page, the list for language models and the map of the site."""
    if exception or app.builder.format != "html":
        return
    out, base = Path(app.outdir), app.course_repository.pages
    lost = LOST.read_text(encoding="utf8").replace("BASE/", urlsplit(base).path or "/")
    (out / "404.html").write_text(lost, encoding="utf8")
    pages = sorted(app.env.found_docs)
    listed = [f"- [{title_of(app.env, n)}]({base}{n}.html)" for n in pages]
    text = f"# {NAME}\n\n> An executable course on attention.\n\n## Pages\n\n"
    (out / "llms.txt").write_text(text + "\n".join(listed) + "\n", encoding="utf8")
    if base:
        entries = "".join(f"<url><loc>{base}{name}.html</loc></url>" for name in pages)
        (out / "sitemap.xml").write_text(
            '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns='
            f'"http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>\n',
            encoding="utf8",
        )


def setup(app):
    app.connect("html-page-context", add_tags)
    app.connect("build-finished", write_lists)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
