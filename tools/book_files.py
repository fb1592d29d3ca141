"""Make a PDF and an EPUB of the whole course from the built site, for reading offline.

    python tools/book_files.py

They are ``_build/attention-measured.pdf``, which Chromium prints, and
``_build/attention-measured.epub``: the articles of the site's pages in the order of
``_toc.yml``. The site gets copies, and links on the page "How to run the course".
"""

import json
import re
import shutil
import sys
import tempfile
import uuid
import zipfile
from collections import defaultdict
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from lxml import etree
from lxml.html import parse

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "book" / "_ext"))
import course_repository as naming  # noqa: E402

NAME, TITLE = "attention-measured", "Attention, measured"
AUTHORS = "The attncourse authors"
LEFT_OUT = ("book/api", "exercises/")
UNWANTED = (
    "self::script or self::style or self::svg[not(node())]"
    " or self::a[@class='headerlink'] or self::p[starts-with(@class, 'expanded')]"
    " or self::p[@class='hero-hint'] or self::div[@class='hero-controls']"
    " or self::div[starts-with(@class, 'toctree-wrapper')]"
    " or self::div[@id='for-reading-offline']"
)
IMAGE = re.compile(r'<img [^>]*src="([^"]+)"')
OFFER = re.compile(r'(<div id="for-reading-offline">).*?(</div>)', re.S)
DRAWINGS = (ROOT / "attncourse/viz/drawings/drawings.css").read_text("utf8")
TEMPLATES = Path(__file__).with_name("book_templates")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
MATH_FONT = "_static/fonts/stix-two-math-subset.woff2"
MEDIA = {
    ".css": "text/css",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
    ".xhtml": "application/xhtml+xml",
}


class Page(NamedTuple):
    """A page of the site as a part of a book."""

    name: str  # of its file, and the beginning of its ids
    title: str
    sections: list[tuple[str, str]]  # ids and titles
    article: str  # as XHTML


def name_of(document):
    return document.replace("/", "-")


def fill(template, **values):
    """Return a template with the values in their places."""
    return (TEMPLATES / template).read_text("utf8").format(**values)


def read_parts(toc):
    """List the parts of the table of contents: captions with names of documents."""
    from sphinx_external_toc.parsing import parse_toc_yaml

    root = parse_toc_yaml(toc).root
    parts = [("", [root.docname])]
    for tree in root.subtrees:
        kept = [str(name) for name in tree.items if not name.startswith(LEFT_OUT)]
        parts += [(tree.caption, kept)] if kept else []
    return parts


def follow(link, document, documents, address):
    """Point a link at the page's place in the book, else at the published site."""
    parts = urlsplit(link.get("href"))
    if parts.scheme or parts.netloc:
        return
    target = normpath(join(dirname(document), unquote(parts.path)))
    linked = target.removesuffix(".html") if parts.path else document
    if linked in documents:
        place = name = name_of(linked)
        if parts.fragment:
            place = f"{name}--{unquote(parts.fragment)}"
        link.set("href", f"{name}.xhtml#{place}")
    elif address:
        link.set("href", address + parts._replace(path=target).geturl())
    else:
        link.drop_tag()


def read_page(site, document, documents, address):
    """Read the article of a page, without what works on a screen only.

    Links lead to the other documents of the book and, where the address of the
    published site is known, to the pages that only the site has.
    """
    name = name_of(document)
    article = parse(site / f"{document}.html").getroot().xpath("//article")[0]
    for element in article.xpath(f".//*[{UNWANTED}]"):
        element.drop_tree()
    for link in article.xpath(".//a[@href]"):
        follow(link, document, documents, address)
    for widget in article.xpath(".//div[@class='course-widget']") if address else ():
        live = etree.SubElement(widget, "p")
        live.text, place = "Live on the site: ", f"{address}{document}.html"
        etree.SubElement(live, "a", href=place).text = place
    for button in article.iter("button"):
        button.tag = "div"
        del button.attrib["type"], button.attrib["aria-pressed"]
    for image in article.iter("img"):
        image.set("src", normpath(join(dirname(document), image.get("src"))))
        image.attrib.pop("loading", None)
    for label in article.xpath(".//summary/p"):
        label.tag, label.text = "span", label.text.removeprefix("Show ").capitalize()
    for place in article.xpath(".//@id | .//@aria-labelledby | .//@aria-describedby"):
        ids = " ".join(f"{name}--{one}" for one in place.split())
        place.getparent().set(place.attrname, ids)
    article.set("id", name)
    headings = article.xpath(".//section/h2")
    sections = [(h.getparent().get("id"), h.text_content().strip()) for h in headings]
    title = article.find(".//h1").text_content().strip()
    text = etree.tostring(article, encoding="unicode", with_tail=False)
    return Page(name, title, sections, text.replace(" viewbox=", " viewBox="))


def contents(parts, numbers=None):
    """Return the table of contents as a list, with numbers of pages if given."""

    def row(place, text, inner=""):
        link = f'<a href="{place.split("--")[0]}.xhtml#{place}">{escape(text)}</a>'
        number = f"<span>{numbers[place]}</span>" if numbers is not None else ""
        return f"<li>{link}{number}{inner}</li>\n"

    def entry(page):
        inner = "".join(row(*section) for section in page.sections)
        return row(page.name, page.title, inner and f"<ol>{inner}</ol>")

    text = ""
    for caption, pages in parts:
        inner = "".join(map(entry, pages))
        part = f"<li><span>{caption}</span><ol>{inner}</ol></li>\n"
        text += part if caption else inner
    return f"<ol>{text}</ol>"


def read_file(path):
    """Return what a file holds; of an SVG, what EPUB allows."""
    if path.suffix != ".svg":
        return path.read_bytes()
    drawing = etree.parse(path).getroot()
    for empty in drawing.xpath("//*[local-name() = 'path'][not(@d)]"):
        empty.set("d", "M0 0")  # Matplotlib's glyph of a space
    return etree.tostring(drawing)  # without the DOCTYPE, which names other files


def write_epub(path, site, parts, front):
    """Write the EPUB: a file for each page, their figures, a style, a font."""
    pages = [page for _, under in parts for page in under]
    nav = f'<nav epub:type="toc"><h1>Contents</h1>{contents(parts)}</nav>'
    texts = {"title.xhtml": (TITLE, front), "nav.xhtml": ("Contents", nav)}
    texts |= {f"{page.name}.xhtml": (page.title, page.article) for page in pages}
    files = {
        name: fill("page.xhtml", title=escape(title), body=body)
        for name, (title, body) in texts.items()
    }
    figures = {name for page in pages for name in IMAGE.findall(page.article)}
    files |= {name: read_file(site / name) for name in [*sorted(figures), MATH_FONT]}
    files["style.css"] = (TEMPLATES / "epub.css").read_text("utf8") + DRAWINGS
    manifest, used = "", {"nav": "<nav", "svg": "<svg", "mathml": "<math"}
    for number, (name, content) in enumerate(files.items()):
        kind = MEDIA[Path(name).suffix]
        has = [word for word, tag in used.items() if name in texts and tag in content]
        properties = f' properties="{" ".join(has)}"' if has else ""
        manifest += f'<item id="i{number}" href="{name}" media-type="{kind}"'
        manifest += f"{properties}/>\n"
    package = fill(
        "content.opf",
        title=TITLE,
        authors=AUTHORS,
        identifier=uuid.uuid5(uuid.NAMESPACE_URL, NAME),
        now=datetime.now(UTC),
        manifest=manifest,
        spine="\n".join(f'<itemref idref="i{n}"/>' for n in range(len(texts))),
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        book.writestr("META-INF/container.xml", fill("container.xml"))
        book.writestr("content.opf", package)
        for name, content in files.items():
            book.writestr(name, content)


def printed(parts, front, numbers):
    """Return the whole book as one page to print, with the contents in front."""
    style = DRAWINGS + (TEMPLATES / "pdf.css").read_text("utf8")
    pages = [page for _, under in parts for page in under]
    for page in pages:
        title = json.dumps(page.title, ensure_ascii=False)
        style += f"#{page.name} {{ page: {page.name}; }}\n"
        style += f"@page {page.name} {{ @top-right {{ content: {title}; }} }}\n"
    text = fill(
        "print.html",
        title=TITLE,
        style=style,
        front=front,
        contents=contents(parts, numbers),
        body="\n".join(page.article for page in pages),
    )
    return re.sub(r'href="[\w-]+\.xhtml#', 'href="#', text)


def chromium():
    """Return the path of the system's Chromium, or None."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def write_pdf(path, site, parts, front, browser):
    """Print the PDF, twice: the contents take their numbers from the first printing."""
    import pikepdf
    from playwright.sync_api import sync_playwright

    numbers = defaultdict(int)
    with (
        sync_playwright() as playwright,
        tempfile.NamedTemporaryFile(dir=site, suffix=".html") as file,
    ):
        page = Path(file.name)
        running = playwright.chromium.launch(
            executable_path=browser, args=["--no-sandbox", "--disable-gpu"]
        )
        tab = running.new_page(java_script_enabled=False)
        for _ in range(2):
            page.write_text(printed(parts, front, numbers), "utf8")
            tab.goto(page.as_uri(), timeout=0)
            tab.pdf(path=path, print_background=True, outline=True, tagged=True)
            with pikepdf.open(path) as pdf:
                count = {page.objgen: n for n, page in enumerate(pdf.pages, start=1)}
                for place, target in pdf.Root.get("/Dests", {}).items():
                    numbers[place[1:]] = count[target[0].objgen]
        running.close()
    with pikepdf.open(path, allow_overwriting_input=True) as pdf:  # half as large
        pdf.docinfo["/Author"] = AUTHORS
        pdf.save(path, object_stream_mode=pikepdf.ObjectStreamMode.generate)


def offer(site, files):
    """Put the files into the site, and links to them on the page that offers them."""
    links = []
    for file in files:
        shutil.copy(file, site)
        kind, size = file.suffix[1:].upper(), file.stat().st_size / 1e6
        links.append(f'<a href="../{file.name}">{kind}</a> ({size:.1f} MB)')
    what = "For reading offline, without the exercises and the API"
    paragraph = f"<p>{what}: {', '.join(links)}.</p>"
    page = site / "book" / "how_to_run.html"
    text = OFFER.sub(rf"\1{paragraph}\2", page.read_text("utf8"))
    page.write_text(text, "utf8")


def main():
    """Make both files from the built site."""
    site = ROOT / "_build" / "html"
    if not (site / "index.html").is_file():
        sys.exit(f"{site} holds no site. Build it first with: make book")
    browser = chromium()
    if browser is None:
        sys.exit("No Chromium was found: install it, e.g. 'sudo apt install chromium'.")
    address = naming.repository(ROOT).pages
    listed = read_parts(ROOT / "_toc.yml")
    documents = {document for _, under in listed for document in under}
    parts = [
        (caption, [read_page(site, name, documents, address) for name in under])
        for caption, under in listed
    ]
    front = fill(
        "title.html",
        title=TITLE,
        authors=AUTHORS,
        day=f"{datetime.now():%-d %B %Y}",
        site=f'<a href="{address}">{address}</a>' if address else "the site",
    )
    pdf, epub = (ROOT / "_build" / f"{NAME}.{kind}" for kind in ("pdf", "epub"))
    write_epub(epub, site, parts, front)
    write_pdf(pdf, site, parts, front, browser)
    offer(site, [pdf, epub])
    for file in (pdf, epub):
        print(f"{file.relative_to(ROOT)}, {file.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
