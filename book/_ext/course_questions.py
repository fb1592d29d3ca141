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

The choices get their classes and their formulas. A question with fewer than two
choices or more than four, with a choice that gives no reason, or with any number of
right answers but one is a warning, and so an error of the build.
"""

import re

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)
HEADING = "Test yourself"
MOST_CHOICES = 4
NUMBER = re.compile(r"(\d+)\.$")
TAG = re.compile(r"<details><summary>(?P<choice>.+?)</summary>|</details>", re.DOTALL)
MATH = re.compile(r"\$([^$]+)\$")
LEAD = re.compile(r"[A-Z][^.]{2,60}\.")
VERDICTS = {"Right.": "course-right", "Wrong.": "course-wrong"}


class Question(nodes.General, nodes.Element):
    """A question with its choices."""


class Choice(nodes.General, nodes.Element):
    """One choice with the reason why it is right or wrong."""


class ChoiceText(nodes.General, nodes.TextElement):
    """What a choice says."""


def bold_start_of(node):
    """Return what is in bold type at the beginning of a paragraph, or nothing."""
    if not isinstance(node, nodes.paragraph):
        return ""
    first = next((part for part in node.children if part.astext()), None)
    return first.astext() if isinstance(first, nodes.strong) else ""


def number_of(node):
    """Return the number that a paragraph begins with, in bold type, or None."""
    found = NUMBER.match(bold_start_of(node))
    return int(found[1]) if found else None


def text_of_choice(source):
    """Return the HTML between the tags of a summary, with its formulas as nodes."""
    parts = ChoiceText()
    for i, part in enumerate(MATH.split(source.strip())):
        if i % 2:
            parts += nodes.math(part, part)
        elif part:
            parts += nodes.raw("", part, format="html")
    return parts


def verdict_of(choice):
    """Return the word in bold type that the reason of a choice begins with."""
    reason = choice.children[1] if len(choice.children) > 1 else None
    verdict = bold_start_of(reason)
    return verdict if verdict and reason.astext().strip() != verdict else ""


def faults_of(question):
    """Yield what is wrong with a question, as sentences."""
    choices = list(question.findall(Choice))
    if not 2 <= len(choices) <= MOST_CHOICES:
        yield f"it has {len(choices)} choices, not 2 to {MOST_CHOICES}"
    verdicts = [verdict_of(choice) for choice in choices]
    if not set(verdicts) <= set(VERDICTS):
        yield "a choice does not say '**Right.**' or '**Wrong.**', and then why"
    if verdicts.count("Right.") != 1:
        yield f"{verdicts.count('Right.')} of its choices are right, not 1"


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
    """Gather each question with its choices."""

    default_priority = 200

    def apply(self, **kwargs):
        for section in list(self.document.findall(nodes.section)):
            title = section.next_node(nodes.title)
            if title is not None and title.astext() == HEADING:
                self.gather(section)

    def gather(self, section):
        kept, questions, choice = [], [], None
        for node in section.children:
            number = number_of(node)
            if number is not None and choice is None:
                name = f"question-{number}"
                node["ids"].append(f"{name}-text")
                questions.append(Question("", node, ids=[name]))
                kept.append(questions[-1])
                if number != len(questions):
                    self.warn(node, number, f"it is the {len(questions)}. of the page")
            elif isinstance(node, nodes.raw) and TAG.search(node.astext()):
                choice = self.read_tags(node, questions, choice)
            elif choice is not None:
                choice += node
            elif questions and not list(questions[-1].findall(Choice)):
                questions[-1] += node
            else:
                kept.append(node)
        section.children = []
        section += kept
        for number, question in enumerate(questions, start=1):
            for fault in faults_of(question):
                self.warn(question.children[0], number, fault)
            for one in question.findall(Choice):
                one["classes"].append(VERDICTS.get(verdict_of(one), ""))
        if not questions:
            LOGGER.warning("no question under %r", HEADING, location=section)

    def read_tags(self, node, questions, choice):
        """Open and close choices; return the one that is open at the end."""
        source = node.astext()
        if TAG.sub("", source).strip() or not questions:
            self.warn(node, len(questions), f"unknown HTML: {source!r}")
        for tag in TAG.finditer(source):
            opens = tag["choice"] is not None
            if opens == (choice is not None):
                self.warn(node, len(questions), "a choice is not closed, or not opened")
            choice = None
            if opens and questions:
                choice = Choice("", text_of_choice(tag["choice"]))
                questions[-1] += choice
        return choice

    def warn(self, node, number, fault):
        LOGGER.warning(
            "question %s: %s", number, fault, location=node, type="attncourse"
        )


def visit_question(self, node):
    name = node["ids"][0]
    self.body.append(
        f'<div class="course-question" id="{name}" role="group" '
        f'aria-labelledby="{name}-text">\n'
    )


def depart_question(self, node):
    self.body.append("</div>\n")


def visit_choice(self, node):
    self.body.append(
        f'<details class="{" ".join(["course-choice", *node["classes"]])}">\n'
    )


def depart_choice(self, node):
    self.body.append("</details>\n")


def visit_text(self, node):
    self.body.append("<summary><span>")


def depart_text(self, node):
    self.body.append("</span></summary>\n")


def setup(app):
    app.add_node(Question, html=(visit_question, depart_question))
    app.add_node(Choice, html=(visit_choice, depart_choice))
    app.add_node(ChoiceText, html=(visit_text, depart_text))
    app.add_transform(Boxes)
    app.add_transform(Questions)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
