"""Write formulas as MathML while the site is built: no script runs in the page.

``latex2mathml`` converts the LaTeX. Browsers follow MathML Core, which knows less than
full MathML, so the result is then repaired: limits, function names, alphabets. LaTeX
that the converter does not know is a warning, and so an error of the build, where the
converter alone would let it through as text.
"""

import html
import re
import xml.etree.ElementTree as ET

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.locale import _
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

SPACE = "http://www.w3.org/1998/Math/MathML"
logger = logging.getLogger(__name__)
THIN = "\N{THIN SPACE}"
LIMITS = {"max", "min", "arg max", "arg min", "lim", "sup", "inf"}
# Operators to the converter, letters to LaTeX: no space around them.
SYMBOLS = set("∞∂∇∅⊤⊥ℓ")
BIG = set("∑∏⋃⋂⨁⨂")

# (pattern, replacement) applied to the LaTeX, for what the converter lacks.
REWRITES = [
    (re.compile(r"\\(begin|end)\{aligned\}"), r"\\\1{split}"),
    (re.compile(r"\\(begin|end)\{(?:align|equation|gather)\}"), r"\\\1{align*}"),
    (re.compile(r"\\(begin|end)\{equation\*\}"), r"\\\1{align*}"),
    (re.compile(r"\\operatorname\*"), r"\\operatorname"),
    (re.compile(r"\\arg\s*\\?,?\s*\\?(max|min)\b"), r"\\operatorname{arg \1}"),
    (re.compile(r"\\(?:bm|boldsymbol)\b"), r"\\mathbf"),
    (re.compile(r"\\[lr]floor\b"), lambda m: "⌊" if m[0][1] == "l" else "⌋"),
    (re.compile(r"\\[lr]ceil\b"), lambda m: "⌈" if m[0][1] == "l" else "⌉"),
    (re.compile(r"\\!"), r"\\mkern-3mu"),
    (re.compile(r"\\label\{[^}]*\}"), ""),
]
# Bare ampersands are left by the converter where it has not understood a table.
BARE_AMPERSAND = re.compile(r"&(?!#|amp;|lt;|gt;)")
OPERATOR = re.compile(r"\\operatorname\s*\{([^{}]*)\}")
NAMED = re.compile(r"\\(?:mathrm|textrm|mathit)\{([A-Za-z]{2,})\}")


class MathError(Exception):
    """LaTeX that cannot be shown."""


def balanced(latex):
    """Say whether braces and environments close in order."""
    stack = []
    tokens = re.finditer(r"\\begin\{(.+?)\}|\\end\{(.+?)\}|\\.|[{}]", latex, re.S)
    for token in tokens:
        opened, closed = token[1], token[2]
        if opened or token[0] == "{":
            stack.append(opened or "{")
        elif (closed or token[0] == "}") and (
            not stack or stack.pop() != (closed or "{")
        ):
            return False
    return not stack


def prepare(latex):
    """Rewrite what the converter does not know into what it does."""
    for pattern, replacement in REWRITES:
        latex = pattern.sub(replacement, latex)
    # A name with a space or a hyphen in it: one operator, not single letters.
    latex = OPERATOR.sub(
        lambda m: m[0].replace(r"\,", THIN).replace(" ", THIN).replace("-", "‑"),
        latex,
    )
    return NAMED.sub(r"\\text{\1}", latex)


def tag(element):
    return element.tag.rpartition("}")[2]


def name(kind):
    return f"{{{SPACE}}}{kind}"


def is_word(element):
    """Say whether an element is a function name such as softmax or log."""
    text = (element.text or "").replace(THIN, "").replace("‑", "")
    return tag(element) in ("mo", "mi") and len(text) > 1 and text.isalpha()


def base_of(element):
    """Follow sub- and superscripts down to what carries them."""
    while tag(element) in ("msub", "msup", "msubsup", "munder", "mover", "munderover"):
        element = element[0]
    return element


ALPHABETS = {"bold": 0x1D400, "bold-italic": 0x1D468, "double-struck": 0x1D538}
DIGITS = {"bold": 0x1D7CE, "bold-italic": 0x1D7CE, "double-struck": 0x1D7D8}
GREEK = {"bold": 0x1D6A8, "bold-italic": 0x1D71C}


def styled(text, variant):
    """Return text in the mathematical alphabet, as MathML Core wants it."""
    result = ""
    for char in text:
        point = ord(char)
        if "A" <= char <= "Z" and variant in ALPHABETS:
            point += ALPHABETS[variant] - ord("A")
        elif "a" <= char <= "z" and variant in ALPHABETS:
            point += ALPHABETS[variant] + 26 - ord("a")
        elif "0" <= char <= "9" and variant in DIGITS:
            point += DIGITS[variant] - ord("0")
        elif "α" <= char <= "ω" and variant in GREEK:
            point += GREEK[variant] + 26 - ord("α")
        else:
            raise MathError(f"{char!r} has no {variant} form that this book can show")
        result += chr(point)
    return result


def repair(element):
    """Turn MathML into the part of it that browsers draw, in place."""
    for child in list(element):
        repair(child)
    kind, text = tag(element), element.text or ""
    if kind == "mtext":
        text = element.text = re.sub(r"\\([_%&#$ ])", r"\1", text)
    if "\\" in text or (kind != "mtext" and ("&" in text or "$" in text)):
        raise MathError(f"{text.strip()!r} is unknown to the converter")
    variant = element.get("mathvariant")
    if variant and variant != "normal":
        element.text = styled(text, variant)
        del element.attrib["mathvariant"]
        if kind == "mi" and len(text) == 1:
            element.set("mathvariant", "normal")
    if kind == "mo" and text in SYMBOLS:
        element.tag = name("mi")
        element.set("mathvariant", "normal")
    if kind == "mspace":
        width = element.get("width", "")
        element.set("width", re.sub(r"negativethinmathspace", "-0.167em", width))
        if width.endswith("mu"):
            element.set("width", f"{float(width[:-2]) / 18:.3f}em")
    if kind == "mover" and len(element) == 2 and tag(element[1]) == "mo":
        element.set("accent", "true")
        element[1].set("stretchy", "true" if (element[1].text in "¯―→") else "false")
        element[1].text = (element[1].text or "").replace("―", "¯")
    if kind in ("msub", "msup", "msubsup"):
        base = (element[0].text or "").replace(THIN, " ").strip()
        if base in LIMITS or base in BIG:
            under = {"msub": "munder", "msup": "mover", "msubsup": "munderover"}
            element.tag = name(under[kind])
            element[0].tag = name("mo")
            element[0].set("movablelimits", "true")
    if kind == "mtd" and (align := element.attrib.pop("columnalign", "")):
        element.set("class", f"math-{align}")
    if kind == "mtable":
        for attribute in ("rowspacing", "columnspacing"):
            element.attrib.pop(attribute, None)
        if element.get("displaystyle"):
            element.set("class", "math-lines")
    space_words(element)


def space_words(row):
    """Give function names the thin space that LaTeX sets around them."""
    children = list(row)
    for index, child in enumerate(children):
        word = base_of(child)
        if not is_word(word) or tag(row) not in ("mrow", "mtd", "math", "mstyle"):
            continue
        word.tag = name("mo")
        word.set("form", "prefix")
        after = children[index + 1] if index + 1 < len(children) else None
        opens = after is None or tag(base_of(after)) == "mspace" or fenced(after)
        before = children[index - 1] if index else None
        tight = before is None or tag(base_of(before)) in ("mo", "mspace")
        word.set("lspace", "0" if tight else "0.167em")
        word.set("rspace", "0" if opens else "0.167em")


def fenced(element):
    """Say whether an element begins with an opening bracket."""
    while tag(element) == "mrow" and len(element):
        element = element[0]
    return tag(element) == "mo" and (element.text or "") in ("(", "[", "{", "", ",")


def mathml(latex, display):
    """Convert LaTeX to a MathML string.

    Raises
    ------
    MathError
        If the converter does not know a part of the LaTeX.
    """
    if not balanced(latex):
        raise MathError("a brace or an environment is not closed")
    try:
        markup = convert(prepare(latex), display="block" if display else "inline")
        root = ET.fromstring(BARE_AMPERSAND.sub("&amp;", markup))
    except Exception as error:  # the converter raises many kinds, some without text
        reason = str(error) or type(error).__name__
        raise MathError(f"the converter stopped: {reason}") from error
    repair(root)
    root.set("alttext", " ".join(latex.split()))
    ET.register_namespace("", SPACE)
    return ET.tostring(root, encoding="unicode")


def converted(self, node, display):
    """Return a formula's MathML; where there is none, warn and show the LaTeX."""
    latex = node.astext()
    try:
        return mathml(latex, display)
    except MathError as error:
        logger.warning(
            "a formula cannot be written as MathML: %s. Write it with commands that "
            "book/_ext/course_math.py knows:\n%s",
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


MARK = re.compile(r"^[.,;:!?)\]’”]+")


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
