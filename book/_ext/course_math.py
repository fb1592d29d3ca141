"""Write formulas as MathML while the site is built: no script runs in the page.

The converter is that of docutils; its MathML is then spaced as LaTeX would space it.
LaTeX that it does not know is a warning, and so an error of the build.
"""

import html
import re
import xml.etree.ElementTree as ET

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.locale import _
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

SPACE = "{http://www.w3.org/1998/Math/MathML}"
SCRIPTS = ("msub", "msup", "munder", "munderover")
APPLY = "\N{FUNCTION APPLICATION}"
logger = logging.getLogger(__name__)
# What the converter lacks, or sets in another way.
REWRITES = [
    (re.compile(r"\\dots\b"), r"\\ldots"),
    (re.compile(r"\\mathrm\{([A-Za-z]{2,})\}"), r"\\text{\1}"),
    (re.compile(r"(?<!\\left)\\\{"), r"\\lbrace "),
    (re.compile(r"(?<!\\right)\\\}"), r"\\rbrace "),
]
MARK = re.compile(r"^[.,;:!?)\]’”]+")


def balanced(latex):
    """Say whether as many braces and environments are closed as are opened."""
    plain = re.sub(r"\\[\\{}]", "", latex)
    pairs = (("{", "}"), (r"\begin", r"\end"))
    return all(plain.count(opens) == plain.count(closes) for opens, closes in pairs)


def tag(element):
    return element.tag.removeprefix(SPACE) if element is not None else "mo"


def base_of(element):
    return element[0] if tag(element) in SCRIPTS else element


def repair(row):
    """Space function names as LaTeX does; correct braces and texts; in place."""
    children = [child for child in row if child.text != APPLY]
    row[:] = children
    for before, child, after in zip(
        [None, *children], children, [*children[1:], None], strict=False
    ):
        repair(child)
        name = base_of(child)
        text = name.text or ""
        if tag(name) == "mtext":
            name.text = re.sub(r"\\([_%&#$ ])", r"\1", text)
        elif tag(name) in ("mi", "mo") and len(text) > 1 and text.isascii():
            name.tag = f"{SPACE}mo"
            tight = [tag(base_of(e)) in ("mo", "mspace") for e in (before, after)]
            opens = tag(after) == "mrow" and len(after) and tag(after[0]) == "mo"
            name.set("form", "prefix")
            name.set("lspace", "0" if tight[0] else "0.167em")
            name.set("rspace", "0" if tight[1] or opens else "0.167em")
        elif tag(child) == "msub" and tag(name) == "munder":  # below a brace
            child.tag = f"{SPACE}munder"
        elif tag(child) == "munderover" and tag(name) == "mi":  # an accent, not limits
            accented = ET.Element(f"{SPACE}mover")
            accented[:] = child[0], child[2]
            child[:] = accented, child[1]
            child.tag = f"{SPACE}msub"
        elif text in ("{", "}") and tag(row) != "mrow":
            name.set("stretchy", "false")


def mathml(latex, display):
    """Convert LaTeX to a MathML string.

    Raises
    ------
    docutils.utils.math.MathError
        If the converter does not know a part of the LaTeX.
    """
    if not balanced(latex):
        raise MathError("a brace or an environment is not closed")
    text = latex
    for pattern, replacement in REWRITES:
        text = pattern.sub(replacement, text)
    try:
        markup = tex2mathml(text, as_block=display)
    except (AttributeError, IndexError, StopIteration) as error:
        raise MathError(f"unknown to the converter: {error}") from error
    markup = re.sub(r"\n *", "", markup).replace("&ApplyFunction;", APPLY)
    root = ET.fromstring(markup)
    repair(root)
    root.set("alttext", " ".join(latex.split()))
    ET.register_namespace("", SPACE[1:-1])
    return ET.tostring(root, encoding="unicode")


def converted(self, node, display):
    """Return a formula's MathML; where there is none, warn and show the LaTeX."""
    latex = node.astext()
    try:
        return mathml(latex, display)
    except MathError as error:
        logger.warning(
            "a formula cannot be written as MathML: %s\n%s",
            error,
            latex,
            location=node,
        )
        return f"<code>{html.escape(latex)}</code>"


def visit_inline(self, node):
    self.body.append(converted(self, node, display=False))
    raise nodes.SkipNode


def visit_block(self, node):
    classes = "math notranslate nohighlight"
    self.body.append(self.starttag(node, "div", CLASS=classes))
    if node["number"]:
        number = get_node_equation_number(self, node)
        self.body.append(f'<span class="eqno">({number})')
        self.add_permalink_ref(node, _("Link to this equation"))
        self.body.append("</span>")
    self.body.append(converted(self, node, display=True))
    self.body.append("</div>\n")
    raise nodes.SkipNode


def keep_marks(app, doctree, docname):
    """Keep a full stop or comma on the line of the formula before it."""
    for formula in list(doctree.findall(nodes.math)):
        index = formula.parent.index(formula)
        rest = formula.parent[index + 1 : index + 2]
        if not rest or not isinstance(rest[0], nodes.Text):
            continue
        mark = MARK.match(rest[0])
        if mark is None:
            continue
        pair = nodes.inline("", "", classes=["math-and-mark"])
        formula.parent[index + 1] = nodes.Text(rest[0][mark.end() :])
        formula.parent[index] = pair
        pair += [formula, nodes.Text(mark[0])]


def setup(app):
    app.add_html_math_renderer(
        "mathml",
        inline_renderers=(visit_inline, None),
        block_renderers=(visit_block, None),
    )
    app.config.html_math_renderer = "mathml"
    app.connect("doctree-resolved", keep_marks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
