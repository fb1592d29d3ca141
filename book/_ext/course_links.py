"""Enrich plain Markdown: citations, and terms that lead to the glossary.

A link whose address is the ``url`` of an entry of the bibliography leads to that entry,
and a term is linked to the glossary where a chapter first mentions it. In Jupyter and
Colab the same source is an ordinary link to the work, and plain text.
"""

import re
from pathlib import Path

from docutils import nodes
from pybtex.database import parse_file
from pybtex.richtext import Text

BIBLIOGRAPHY, GLOSSARY = "book/bibliography", "book/glossary"
NOT_IN = (
    nodes.reference,
    nodes.title,
    nodes.literal,
    nodes.math,
    nodes.raw,
    nodes.table,
    nodes.Invisible,
)
ENDINGS = "(?:s|es)?"


def authors_of(entry):
    """Return the authors of a work as it is cited: one, two, or the first "et al."."""
    names = [
        str(Text.from_latex(" ".join(person.prelast_names + person.last_names)))
        for person in entry.persons["author"]
    ]
    return f"{names[0]} et al." if len(names) > 2 else " and ".join(names)


def works_in(path):
    """Return {address: (key, title)} of all works, and {how each is cited: its key}."""
    works, labels = {}, {}
    for key, entry in parse_file(path).entries.items():
        title = Text.from_latex(entry.fields["title"])
        works[entry.fields["url"]] = (key, str(title))
        labels.setdefault(f"{authors_of(entry)}, {entry.fields['year']}", key)
    return works, labels


def read_bibliography(app):
    [name] = app.config.bibtex_bibfiles
    app.course_works, app.course_labels = works_in(Path(app.srcdir) / name)


def link_citations(app, doctree, docname):
    """Lead links to a work to its entry in the bibliography."""
    page = app.builder.get_relative_uri(docname, BIBLIOGRAPHY)
    for node in doctree.findall(nodes.reference):
        if docname != BIBLIOGRAPHY and node.get("refuri") in app.course_works:
            key, title = app.course_works[node["refuri"]]
            node.update_basic_atts({"classes": ["course-citation"]})
            node["refuri"], node["internal"] = f"{page}#cite-{key}", True
            node["reftitle"] = title


def terms_of(env):
    """Return each term of the glossary with its target, the longest first."""
    terms = {
        name.lower(): target
        for name, _, kind, _, target, _ in env.domains["std"].get_objects()
        if kind == "term"
    }
    return dict(sorted(terms.items(), key=lambda item: -len(item[0])))


def link_terms(app, doctree, docname):
    """Link the first mention of each term in a chapter to the glossary."""
    if not re.match(r"chapters/\d", docname):
        return
    terms = terms_of(app.env)
    if not terms:
        return
    page = app.builder.get_relative_uri(docname, GLOSSARY)
    pattern = re.compile(
        rf"(?<![\w-])({'|'.join(map(re.escape, terms))}){ENDINGS}(?![\w-])",
        re.IGNORECASE,
    )
    for paragraph in list(doctree.findall(nodes.paragraph)):
        for text in list(paragraph.findall(nodes.Text)):
            if any(isinstance(parent, NOT_IN) for parent in ancestors_of(text)):
                continue
            parts, end = [], 0
            for found in pattern.finditer(text):
                target = terms.get(found[1].lower())
                if target is None:
                    continue
                terms = {t: at for t, at in terms.items() if at != target}
                parts += [nodes.Text(text[end : found.start()])]
                parts += [link_to(f"{page}#{target}", found[0])]
                end = found.end()
            if parts:
                text.parent.replace(text, [*parts, nodes.Text(text[end:])])


def link_to(address, text):
    return nodes.reference(
        "", text, refuri=address, internal=True, classes=["course-term"]
    )


def ancestors_of(node):
    while node.parent is not None:
        node = node.parent
        yield node


def setup(app):
    app.connect("builder-inited", read_bibliography)
    app.connect("doctree-resolved", link_citations)
    app.connect("doctree-resolved", link_terms)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
