"""Let pages be found and passed on: titles, canonical links, map, a 404 page.

Links must be absolute here: all but titles, the 404 page and the list for language
models is left out where the site's address is not known; see course_repository.
"""

import html
import re
from pathlib import Path
from urllib.parse import urlsplit

from course_cards import FOLDER

NAME = "Attention, measured"
TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
DESCRIPTION = re.compile(r"<meta[^>]*name=\"description\"[^>]*>")
CONTENT = re.compile(r"content=\"([^\"]*)\"")
PICTURE = "_static/page.png"  # what a link to a page without a card is shown with
LOST = Path(__file__).with_name("404.html")


def short_title(text):
    """Return a page's title without its second half where this says the same."""
    parts = [part.strip() for part in text.split("—")]
    return " — ".join(dict.fromkeys(parts))


def with_head(text, page, base, picture):
    """Return a page with a title said once, and with what a shared link shows."""
    title = short_title(html.unescape(TITLE.search(text)[1].strip()))
    text = TITLE.sub(lambda _: f"<title>{html.escape(title)}</title>", text, count=1)
    if not base or 'rel="canonical"' in text:
        return title, text
    found = DESCRIPTION.search(text)
    description = CONTENT.search(found[0])[1] if found else ""
    tags = f'<link rel="canonical" href="{base}{page}" />\n'
    for key, value in (
        ("og:type", "article"),
        ("og:site_name", NAME),
        ("og:title", html.escape(title)),
        ("og:description", description),
        ("og:url", f"{base}{page}"),
        ("og:image", f"{base}{picture}"),
    ):
        tags += f'<meta property="{key}" content="{value}" />\n'
    tags += '<meta name="twitter:card" content="summary_large_image" />\n'
    return title, text.replace("</title>\n", f"</title>\n{tags}", 1)


def write_all(app, exception):
    if exception or app.builder.format != "html":
        return
    out, base = Path(app.outdir), app.course_repository.pages
    pages, titles = sorted(app.env.found_docs), {}
    for name in [*pages, "search"]:
        path = out / f"{name}.html"
        text = path.read_text(encoding="utf8")
        card = f"{FOLDER}/{name.rpartition('/')[2]}.png"
        picture = card if (out / card).is_file() else PICTURE
        titles[name], text = with_head(text, f"{name}.html", base, picture)
        path.write_text(text, encoding="utf8")
    root = urlsplit(base).path or "/"
    lost = LOST.read_text(encoding="utf8").replace("BASE/", root)
    (out / "404.html").write_text(lost, encoding="utf8")
    listed = [
        f"- [{titles[name].split(' — ')[0]}]({base}{name}.html)" for name in pages
    ]
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
    app.connect("build-finished", write_all, priority=700)  # after course_local
    return {"parallel_read_safe": True, "parallel_write_safe": True}
