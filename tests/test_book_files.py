"""The PDF and the EPUB, made from a site of two pages."""

import zipfile
from concurrent.futures import ThreadPoolExecutor
from posixpath import dirname, join, normpath

import pytest
from lxml import etree

from tests.loading import load

book_files = load("tools/book_files.py")
ADDRESS = "https://ada.github.io/course/"
TOC = """format: jb-book
root: book/index
parts:
- caption: Chapters
  chapters: [{file: chapters/one}]
- caption: Reference
  chapters: [{file: book/api}]
"""
INDEX = """<h1>Welcome<a class="headerlink" href="#welcome">#</a></h1>
<p><a href="../chapters/one.html#masks">Masks</a>, the <a href="api.html">API</a>, the
<a href="https://example.org/">web</a>.</p><script>let x = 1 < 2</script>"""
CHAPTER = """<h1>1. One &amp; all</h1>
<section id="masks"><h2>Masks</h2>
<details class="hide"><summary><p class="collapsed">Show set-up code</p>
<p class="expanded">Hide set-up code</p></summary><pre>print(1)</pre></details>
<p><math xmlns="http://www.w3.org/1998/Math/MathML" alttext="x"><mi>x</mi></math></p>
<img src="../_images/plot.svg" alt="A plot of two lines" loading="lazy">
<div class="course-widget"><div class="course-widget-still">
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 2"><path d="M0 0"/></svg>
</div></div>
</section>"""
PLOT = """<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN"
  "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<svg xmlns="http://www.w3.org/2000/svg"><path id="space"/></svg>"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    articles = {"book/index": INDEX, "chapters/one": CHAPTER}
    files = {
        f"{document}.html": f"<body><article class='bd-article'>{text}</article></body>"
        for document, text in articles.items()
    }
    files |= {"_images/plot.svg": PLOT, "_static/course.css": "", "_toc.yml": TOC}
    files |= {book_files.MATH_FONT: ""}
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"<!DOCTYPE html>{text}" if "html" in name else text)
    return folder


@pytest.fixture(scope="module")
def parts(site):
    listed = book_files.read_parts(site / "_toc.yml")
    assert listed == [("", ["book/index"]), ("Chapters", ["chapters/one"])]
    documents = {document for _, under in listed for document in under}
    return [
        (caption, [book_files.read_page(site, d, documents, ADDRESS) for d in under])
        for caption, under in listed
    ]


@pytest.fixture(scope="module")
def epub(site, parts, tmp_path_factory):
    path = tmp_path_factory.mktemp("epub") / "book.epub"
    book_files.write_epub(path, site, parts, "<h1>Title</h1>")
    with zipfile.ZipFile(path) as book:
        assert book.infolist()[0].filename == "mimetype"
        assert book.infolist()[0].compress_type == zipfile.ZIP_STORED
        return {name: book.read(name) for name in book.namelist()}


def trees(epub):
    kinds = (".xhtml", ".svg", ".opf", ".xml")
    return {name: etree.fromstring(epub[name]) for name in epub if name.endswith(kinds)}


def test_every_reference_leads_to_a_file_and_an_id_of_the_epub(epub):
    found = trees(epub)
    ids = {name: set(tree.xpath("//@id")) for name, tree in found.items()}
    for name, tree in found.items():
        for target in tree.xpath("//@href | //@src"):
            if not target.startswith("https://"):
                file, _, fragment = target.partition("#")
                file = normpath(join(dirname(name), file))
                assert file in epub
                assert not fragment or fragment in ids[file]


def test_the_manifest_has_every_file_and_the_spine_the_pages_in_order(epub):
    package = trees(epub)["content.opf"]
    items = {i.get("id"): i for i in package.xpath("//*[local-name() = 'item']")}
    hidden = {"mimetype", "META-INF/container.xml", "content.opf"}
    assert {item.get("href") for item in items.values()} == set(epub) - hidden
    spine = [items[i].get("href") for i in package.xpath("//@idref")]
    pages = ["book-index.xhtml", "chapters-one.xhtml"]
    assert spine == ["title.xhtml", "nav.xhtml", *pages]
    having = {i.get("href"): i.get("properties") for i in items.values()}
    assert having["nav.xhtml"] == "nav"
    assert having["chapters-one.xhtml"] == "svg mathml"


def test_the_contents_list_parts_pages_and_sections(epub):
    nav = " ".join(trees(epub)["nav.xhtml"].itertext()).split()
    assert " ".join(nav[-7:]) == "Welcome Chapters 1. One & all Masks"


def test_what_works_on_a_screen_only_is_left_out(epub):
    index, chapter = (
        epub[f"{n}.xhtml"].decode() for n in ("book-index", "chapters-one")
    )
    for word in ("headerlink", "<script", "loading=", "Hide", "Show"):
        assert word not in index + chapter
    assert "Set-up code" in chapter and "viewBox" in chapter
    assert f'Live on the site: <a href="{ADDRESS}chapters/one.html">' in chapter
    assert f'href="{ADDRESS}book/api.html"' in index


def test_without_an_address_a_link_out_of_the_book_is_its_text(site):
    page = book_files.read_page(site, "book/index", {"book/index"}, "")
    assert "API" in page.article and page.article.count("href=") == 1


def test_a_drawing_keeps_what_epub_allows(epub):
    assert b"DOCTYPE" not in epub["_images/plot.svg"]
    assert trees(epub)["_images/plot.svg"][0].get("d")


def test_the_files_are_offered_once(site, tmp_path):
    page = tmp_path / "book" / "how_to_run.html"
    page.parent.mkdir()
    page.write_text('<div id="for-reading-offline"></div>')
    files = [tmp_path / "here" / name for name in ("a.pdf", "a.epub")]
    files[0].parent.mkdir()
    for file in files:
        file.write_bytes(b"")
    for _ in range(2):
        book_files.offer(tmp_path, files)
    assert page.read_text().count("<a href=") == 2
    assert (tmp_path / "a.pdf").is_file() and (tmp_path / "a.epub").is_file()


def test_the_pdf_has_numbered_contents_and_bookmarks(site, parts, tmp_path):
    pikepdf = pytest.importorskip("pikepdf")
    browser = book_files.chromium()
    if browser is None:
        pytest.skip("no Chromium was found")
    path, before = tmp_path / "book.pdf", set(site.iterdir())
    with ThreadPoolExecutor(1) as alone:  # other tests of this process have a browser
        alone.submit(
            book_files.write_pdf, path, site, parts, "<h1>Title</h1>", browser
        ).result()
    assert set(site.iterdir()) == before
    with pikepdf.open(path) as pdf, pdf.open_outline() as outline:
        titles = [item.title for item in outline.root]
        order = [page.objgen for page in pdf.pages]
        (first, second) = (
            order.index(pdf.Root.Dests[f"/{name}"][0].objgen)
            for name in ("book-index", "chapters-one")
        )
    assert titles == ["Title", "Contents", "Welcome", "1. One & all"]
    assert 0 < first < second < len(order)
