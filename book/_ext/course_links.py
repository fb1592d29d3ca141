"""Enrich plain Markdown and drawings: citations, terms, parts that lead to sections.

A link whose address is the ``url`` of an entry of the bibliography leads to that entry,
and a term is linked to the glossary where a chapter first mentions it. In Jupyter and
Colab the same source is an ordinary link to the work, and plain text. The parts of a
drawing become links to where they are explained.
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
STEP = re.compile(r"Step (\d+):")
PART = re.compile(r'<a data-part="([^"]+)">')
PARTS = {  # of the drawings, and where each is explained
    "Attention": "07_transformer#step-1",
    "Residual sum": "07_transformer#step-3",
    "Norm": "07_transformer#step-4",
    "Feed-forward network": "07_transformer#step-5",
    "Self-attention": "02_attention_types#query-key-and-value-projections",
    "Causal mask": "05_masking#what-a-mask-does-to-the-softmax",
    "Cross-attention": "01_bottleneck#cross-attention-and-self-attention",
    "Positional encoding": "04_positional_encoding#sinusoidal-positional-encoding",
    "Linear map and softmax": "07_transformer#stacking-layers-a-language-model",
}
SAYS_SO = "<figcaption>Each part is a link to where it is explained.</figcaption>"


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
            beside = text.parent[max(0, text.parent.index(text) - 1)].astext()
            lights = 'class="lights"' in beside  # it is pressed to light up a drawing
            if lights or any(isinstance(p, NOT_IN) for p in ancestors_of(text)):
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


def link_parts(app, doctree, docname):
    """Lead the parts of a drawing to their sections; name the steps in a chapter."""

    def link(found):
        page, section = PARTS[found[1]].split("#")
        uri = app.builder.get_relative_uri(docname, f"chapters/{page}")
        away = docname != f"chapters/{page}"
        place = f"see chapter {int(page[:2])}" if away else "explained in this chapter"
        title = f"<title>{found[1]}: {place}</title>"
        return f'<a href="{uri}#{section}">{title}'

    for paragraph in doctree.findall(nodes.paragraph):
        if step := STEP.match(paragraph.astext()):
            paragraph["ids"].append(f"step-{step[1]}")
    for drawing in list(doctree.findall(nodes.raw)):
        text, links = PART.subn(link, drawing.astext())
        if links:  # what is in an image is hidden from screen readers
            text = text.replace('role="img"', 'role="group"')
            text = text.replace("</figure>", f"{SAYS_SO}</figure>")
            drawing.replace_self(nodes.raw("", text, format="html"))


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
    app.connect("doctree-resolved", link_parts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
