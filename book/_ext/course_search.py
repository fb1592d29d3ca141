"""Write what the search looks through: each section of each page, as plain text.

Sphinx's own search ranks the API above the chapters and forgives no wrong letter. The
page of the search runs MiniSearch instead; what it reads is a script, which also loads
where the site is opened from a folder. ``search.js`` ranks and shows.
"""

import json
import re
from pathlib import Path

from bs4 import BeautifulSoup

INDEX = "search-sections.js"
# Taken out before a page is parsed, which takes half as long without them.
NOT_PARSED = re.compile(r"<(script|style|math|pre)\b.*?</\1>", re.S)
NOT_TEXT = (
    "svg, summary, .headerlink, .course-widget, .cell_input, "
    ".section-number, .field-list, .course-evidence :is(th, td + td), .course-choice"
)
KINDS = (("chapters/", "chapter"), ("book/api", "api"), ("exercises/", "exercise"))
# What readers type for what the course says; the glossary has the terms.
SYNONYMS = {
    "rotary": "rope",
    "rope": "rotary",
    "nope": "no positions",
    "gqa": "grouped-query",
    "mqa": "multi-query",
    "mha": "multi-head",
    "flash": "flashattention",
    "bahdanau": "additive",
    "luong": "multiplicative",
    "copying": "induction",
    "decoder-only": "causal",
    "lookahead": "causal",
    "mt": "translation",
    "qa": "question answering",
    "relative": "shaw",
}


def kind_of(page):
    return next((kind for start, kind in KINDS if page.startswith(start)), "page")


def plain(element):
    return re.sub(r"\s+", " ", element.get_text(" ")).strip()


def sections_of(page, text):
    """Return the sections of a built page and the objects of the API, inner first.

    What is short repeats little: a page with its kind has a list of (place, title,
    text), and the place of an object is its title.
    """
    text = NOT_PARSED.sub("", text)
    article = BeautifulSoup(text, "lxml").select_one("article.bd-article")
    for element in article.select(NOT_TEXT):
        element.extract()
    name, sections = plain(article.h1), []
    for part in reversed(article.select("section[id], dl.py")):
        title = part.find(["h1", "h2", "h3", "h4", "dt"])
        if title is None:
            continue
        place = "" if title.name == "h1" else part.get("id") or title.get("id", "")
        words = title.get("id") if title.name == "dt" else plain(title)
        title.extract()
        sections.append((place, "" if words == place else words, plain(part)))
        part.extract()
    return {"url": page, "title": name, "kind": kind_of(page), "sections": sections}


def write_index(app, exception):
    if exception or app.builder.format != "html":
        return
    out = Path(app.outdir)
    names = [f"{name}.html" for name in sorted(app.env.found_docs)]
    pages = [sections_of(n, (out / n).read_text(encoding="utf8")) for n in names]
    data = {"pages": pages, "synonyms": SYNONYMS}
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    script = f"window.courseSections = {text};\n"
    (out / "_static" / INDEX).write_text(script, encoding="utf8")


def forget_old_index(app):
    """Keep Sphinx from asking for its own index, which course_output removes."""
    app.builder.load_indexer = lambda docnames: None


def setup(app):
    app.connect("builder-inited", forget_old_index)
    app.connect("build-finished", write_index)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
