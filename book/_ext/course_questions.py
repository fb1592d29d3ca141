"""Give predictions, notes and the questions under "Test yourself" their look.

A quote with a bold lead, ``> **Predict.** …``, becomes a box with that title; an answer
in ``<details>`` within it or right after it is part of the box. Jupyter and Colab show
the same source as a quote.

A question is plain Markdown with one ``<details>`` for each choice, so that it answers
at once wherever the notebook is read: on the site, in Jupyter, in Colab, in an editor,
with scripts and without.

    **1.** What is one and one?

    <details><summary>Two.</summary>

    **Right.** Count on your fingers.

    </details>

    <details><summary>Eleven.</summary>

    **Wrong.** That is how they are *written* side by side.

    </details>

A choice gets its class from the verdict that its reason begins with. The tests check
that each question has one right choice, and that each choice gives a reason.
"""

import re

from docutils import nodes
from sphinx.transforms import SphinxTransform

HEADING = "Test yourself"
NUMBER = re.compile(r"(\d+)\.$")
TAG = re.compile(r"<details><summary>(?P<choice>.+?)</summary>|</details>", re.DOTALL)
MATH = re.compile(r"\$([^$]+)\$")
LEAD = re.compile(r"[A-Z][^.]{2,60}\.")
CHOICE = '<details class="course-choice course-{}">\n<summary><span>'
AIMS = (
    '<details class="admonition">'
    '<summary class="admonition-title">Aims, prerequisites and times</summary>'
)
QUESTION = (
    '<div class="course-question" id="{0}" role="group" aria-labelledby="{0}-text">\n'
)


def bold_start_of(node):
    """Return what is in bold type at the beginning of a paragraph, or nothing."""
    if not isinstance(node, nodes.paragraph):
        return ""
    first = next((part for part in node.children if part.astext()), None)
    return first.astext() if isinstance(first, nodes.strong) else ""


def html(text):
    return nodes.raw("", text, format="html")


def text_of_choice(source):
    """Yield what stands between the tags of a summary, with its formulas as nodes."""
    for i, part in enumerate(MATH.split(source.strip())):
        yield nodes.math(part, part) if i % 2 else html(part)


class Boxes(SphinxTransform):
    """Make a box of each quote that has a bold lead."""

    default_priority = 199

    def apply(self, **kwargs):
        for quote in list(self.document.findall(nodes.block_quote)):
            lead = bold_start_of(quote.next_node())
            if not LEAD.fullmatch(lead):
                continue
            text = quote.children[0]
            text.remove(text.next_node(nodes.strong))
            kind = {"Predict.": "prediction"}.get(lead, lead[:-1].lower())
            if kind == "aims":
                quote.replace_self([html(AIMS), *quote.children, html("</details>")])
                continue
            box = nodes.admonition("", nodes.title("", lead[:-1]), *quote.children)
            box["classes"] = [nodes.make_id(kind)]
            after = answer_after(quote)
            quote.replace_self(box)
            for node in after:
                node.parent.remove(node)
                box += node


def answer_after(quote):
    """Return the nodes of a ``<details>`` that follows a quote, tags included."""
    found = []
    for node in quote.parent.children[quote.parent.index(quote) + 1 :]:
        raw = node.astext() if isinstance(node, nodes.raw) else ""
        if not found and not raw.startswith("<details"):
            break
        found.append(node)
        if "</details>" in raw:
            return found
    return []


class Questions(SphinxTransform):
    """Mark each question, and its choices as right and wrong."""

    default_priority = 200

    def apply(self, **kwargs):
        for section in list(self.document.findall(nodes.section)):
            title = section.next_node(nodes.title)
            if title is not None and title.astext() == HEADING:
                children, section.children = section.children, []
                section += list(self.marked(children))

    def marked(self, children):
        """Yield the nodes of a section, with the tags of questions and choices."""
        within = ""  # the tag that ends the open question
        for i, node in enumerate(children):
            if found := NUMBER.match(bold_start_of(node)):
                yield html(within + QUESTION.format(f"question-{found[1]}"))
                node["ids"].append(f"question-{found[1]}-text")
                within = "</div>\n"
            if not isinstance(node, nodes.raw):
                yield node
                continue
            for tag in TAG.finditer(node.astext()):
                if tag["choice"]:
                    verdict = bold_start_of(children[i + 1])[:-1].lower()
                    yield html(CHOICE.format(verdict))
                    yield from text_of_choice(tag["choice"])
                yield html("</span></summary>\n" if tag["choice"] else "</details>\n")
        yield html(within)


def setup(app):
    app.add_transform(Boxes)
    app.add_transform(Questions)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
