"""What holds for the text of every page, read from the built files."""

import json
import re
from urllib.parse import unquote, urlsplit

import pytest
from lxml import etree, html

from tests.loading import ROOT, load

OUTSIDE = re.compile(r"^\s*(?:[a-z][a-z0-9+.-]*:)?//|^\s*(?:https?|ftp):", re.I)
CSS_ADDRESS = re.compile(r"(?:url\(|@import)\s*[\"']?([^\"')\s;]+)")
SCRIPT_IMPORT = re.compile(r"import\s*\(?\s*[\"'](https?:)?//|from\s*[\"'](https?:)?//")
RAW_LATEX = re.compile(r"\$\$|\\(?:frac|begin|end|text|sum|sqrt|operatorname|mathbf)\b")
RAW_ROLE = re.compile(r"\{(?:term|cite|cite:[tp]|eq|numref|doc|ref)\}")
RAW_TABLE = re.compile(r"\|(?:---|—)")
FILE_NAME = re.compile(r"\.(?:png|svg|jpe?g|gif|webp)$", re.I)


@pytest.fixture(scope="session")
def articles(trees):
    """Return the part of each page that was written, without frame and front page."""
    found = {
        name: tree.select_one("article.bd-article") for name, tree in trees.items()
    }
    return {name: article for name, article in found.items() if article is not None}


def chapters(articles):
    return {n: a for n, a in articles.items() if n.startswith("chapters/")}


def test_no_style_or_script_names_a_third_party(site):
    faults = []
    for path in site.rglob("*.css"):
        text = path.read_text(encoding="utf8")
        faults += [
            (path.name, a) for a in CSS_ADDRESS.findall(text) if OUTSIDE.search(a)
        ]
    for path in site.rglob("*.js"):
        if SCRIPT_IMPORT.search(path.read_text(encoding="utf8")):
            faults.append(path.name)
    assert faults == []


def test_every_file_that_a_style_names_is_there(site):
    faults = []
    for path in (site / "_static").rglob("*.css"):
        for target in CSS_ADDRESS.findall(path.read_text(encoding="utf8")):
            if target.startswith(("data:", "#")):
                continue
            if not (path.parent / unquote(urlsplit(target).path)).exists():
                faults.append((path.name, target))
    assert faults == []


def test_no_page_loads_what_the_book_has_dropped(pages):
    dropped = re.compile(r"(?:src|href)=\"[^\"#]*(?:mathjax|require|thebe|fontawesome)")
    assert [page for page, text in pages.items() if dropped.search(text.lower())] == []
    index = re.compile(r"src=\"[^\"]*(?:minisearch|search-sections)\.js")
    assert [page for page, text in pages.items() if index.search(text)] == [
        "search.html"
    ]


def test_every_figure_says_in_words_what_it_shows(articles, trees):
    faults = []
    for page, article in articles.items():
        for image in article.find_all("img"):
            alt = image.get("alt", "").strip()
            if len(alt) < 10 or FILE_NAME.search(alt):
                faults.append((page, image["src"], alt))
    for page, tree in trees.items():
        missing = [i["src"] for i in tree.find_all("img") if not i.has_attr("alt")]
        faults += [(page, source) for source in missing]
    assert faults == []


def test_every_link_inside_the_site_leads_somewhere(site, trees):
    ids = {
        page: {e["id"] for e in tree.find_all(id=True)}
        | {e["name"] for e in tree.find_all("a", attrs={"name": True})}
        for page, tree in trees.items()
    }
    faults = []
    for page, tree in trees.items():
        targets = [(e, "href") for e in tree.find_all(["a", "link"], href=True)]
        targets += [(e, "src") for e in tree.find_all(src=True)]
        for element, attribute in targets:
            parts = urlsplit(element[attribute])
            if parts.scheme or parts.netloc or page == "404.html":  # served anywhere
                continue
            path = (site / page).parent / unquote(parts.path) if parts.path else None
            target = path.resolve() if path else site / page
            if not target.is_file():
                faults.append((page, element[attribute]))
                continue
            name = target.relative_to(site.resolve()).as_posix() if path else page
            fragment = unquote(parts.fragment)
            if fragment and name in ids and fragment not in ids[name]:
                faults.append((page, element[attribute]))
    assert faults == []


def test_every_page_has_a_title_and_one_main_heading(trees):
    faults = []
    for page, tree in trees.items():
        title = tree.title.get_text(strip=True) if tree.title else ""
        print_copy = "#jb-print-docs-body"
        headings = [
            h for h in tree.find_all("h1") if not h.find_parent(id=print_copy[1:])
        ]
        if not title or len(headings) != 1:
            faults.append((page, title, len(headings)))
    assert faults == []


def test_formulas_are_mathml_and_nothing_is_left_as_latex(articles):
    faults, formulas = [], 0
    for page, article in articles.items():
        formulas += len(article.find_all("math"))
        faults += [(page, str(e)[:80]) for e in article.find_all("merror")]
        read = html.fromstring(str(article))
        etree.strip_elements(read, "code", "pre", "script", "math", with_tail=False)
        text = read.text_content()
        for pattern in (RAW_LATEX, RAW_ROLE, RAW_TABLE):
            if match := pattern.search(text):
                around = text[max(0, match.start() - 30) : match.end() + 30]
                faults.append((page, around))
    assert faults == []
    assert formulas > 20


def test_every_formula_has_its_latex_as_an_alternative(pages):
    for text in pages.values():
        for formula in re.findall(r"<math\b[^>]*>", text):
            assert "alttext=" in formula


def test_every_chapter_was_run(articles):
    assert chapters(articles)
    silent = [p for p, a in chapters(articles).items() if not a.select(".cell_output")]
    assert silent == []


def test_every_chapter_can_be_opened_in_colab_and_downloaded(pages, site):
    in_colab = load("book/_ext/course_repository.py").repository(ROOT).in_colab
    for page, text in pages.items():
        if not page.startswith("chapters/"):
            continue
        notebook = page.removesuffix(".html") + ".ipynb"
        button = rf"colab\.research\.google\.com/github/[^\"]*{notebook}"
        assert bool(re.search(button, text)) == in_colab
        assert (ROOT / notebook).is_file()
        json.loads((site / "_sources" / notebook).read_text(encoding="utf8"))


def test_the_search_knows_every_page_and_ranks_by_kind(site, pages):
    text = (site / "_static" / "search-sections.js").read_text(encoding="utf8")
    listed = json.loads(text[text.index("{") : text.rindex("}") + 1])["pages"]
    assert {p for p in pages if p.startswith(("book/", "chapters/"))} <= {
        page["url"] for page in listed
    }
    assert {page["kind"] for page in listed} == {"chapter", "page", "exercise", "api"}
    titles = [title for page in listed for _, title, _ in page["sections"]]
    assert not any(re.search(r"\.(?:ipynb|md)\b.{0,3}$", title) for title in titles)


def test_the_api_pages_have_every_public_module(pages):
    package = ROOT / "attncourse"
    api = "".join(text for page, text in pages.items() if "/api/" in page)
    for path in package.rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if any(part.startswith("_") for part in parts) or parts[-1] == "cli":
            continue
        assert f'id="module-{".".join(parts)}"' in api


def test_titles_are_said_once(trees):
    titles = [tree.title.get_text() for page, tree in trees.items() if "book" in page]
    assert len(set(titles)) == len(titles)
    for page, tree in trees.items():
        parts = tree.title.get_text().split(" — ")
        assert len(set(parts)) == len(parts), page


def test_a_lost_reader_is_led_back(site):
    text = (site / "404.html").read_text(encoding="utf8")
    assert "search.html" in text
    assert "book/index.html" in text
