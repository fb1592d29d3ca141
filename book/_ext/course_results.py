"""Show evidence as rows of a table: in chapters, and together on the page of results.

A code cell that prints what `evidence` prints is a row. Its claim, figures, range and
verdict are read from the text that the cell printed when the chapter ran for this
build; the chapter shows the row in place of the text, with the code folded below it.
It is a warning, and so an error of the build, if a verdict differs from the one stored
in the notebook, to which the prose was written.
"""

import html
import math
import re
from pathlib import Path

import nbformat
from docutils import nodes
from docutils.utils.smartquotes import smartyPants
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from attncourse.training.reporting import read_evidence

LOGGER = logging.getLogger(__name__)
UNCITED = ("ours", "often said")
HEAD = ("Claim", "Measured here", "Verdict")
POWER = re.compile(r"(?<=\d)e([+-]\d+)")
MINUS = re.compile(r"(?<![\w.])-(?=\d)")
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
OPEN = {"at most": (True, False), "at least": (False, True)}  # below, above
DECADES = 30  # largest through smallest value from which on the axis is logarithmic
PAGE = "book/results"


class ResultsTable(nodes.General, nodes.Element):
    """Where rows of evidence stand; they are written when links can be resolved."""


# Reading --------------------------------------------------------------------------


def evidence_cells(doctree):
    """Yield (cell, Evidence) for each code cell of a page that printed one."""
    for cell in list(doctree.findall(nodes.container)):
        if "cell" in cell["classes"]:
            texts = [text.astext() for text in cell.findall(nodes.literal_block)][1:]
            if len(texts) == 1 and texts[0].startswith("claim  "):
                yield cell, read_evidence(texts[0])


def stored_verdicts(path):
    """List the verdicts in the outputs that are stored in a notebook."""
    outputs = (
        "".join(output.get("text", "") for output in cell.outputs)
        for cell in nbformat.read(path, as_version=4).cells
        if cell.cell_type == "code"
    )
    return [read_evidence(o).verdict for o in outputs if o.startswith("claim  ")]


def collect_rows(app, doctree):
    """Keep the rows of a page for the page of results."""
    rows = app.env.metadata[app.env.docname]["course_evidence"] = []
    for cell, found in evidence_cells(doctree):
        section = cell.parent
        rows.append((section["ids"][0], section.next_node(nodes.title).astext(), found))
    path = Path(app.env.doc2path(app.env.docname))
    verdicts = [found.verdict for *_, found in rows]
    if rows and verdicts != (stored := stored_verdicts(path)):
        LOGGER.warning("verdicts %s, but the text was written to %s", verdicts, stored)


def sources_of(found):
    return [] if found.source in UNCITED else found.source.split("; ")


# Writing --------------------------------------------------------------------------


def typeset(text):
    """Write numbers as in a text: powers of ten, true minus signs; safe in HTML."""
    text = POWER.sub(lambda found: f"·10{str(int(found[1])).translate(RAISED)}", text)
    return html.escape(smartyPants(MINUS.sub("−", text), "q").replace("d_k", "dₖ"))


def numbers_in(text):
    """Return the numbers of a value or an interval, such as 95 and 97 in 95% to 97%."""
    return [
        float(NUMBER.search(part)[0].replace(",", ""))
        for part in text.split(" to ")
        if NUMBER.search(part)
    ]


def axis_of(values):
    """Return the function that places a value between 0 and 100 on a common axis."""
    low, high = min(values), max(values)
    logarithmic = low > 0 and high / low > DECADES
    scale = math.log if logarithmic else float
    low, high = scale(low), scale(high)
    margin = 0.1 * (high - low) or 1
    low, high = low - margin, high + margin
    return lambda value: round(100 * (scale(value) - low) / (high - low), 1)


def drawing_of(found):
    """Draw intervals, baselines and the claimed range on one axis, as HTML."""
    bounds = numbers_in(found.claimed)
    rows = [
        (kind, numbers_in(value)[0], numbers_in(interval or value))
        for kind, lines in (("measured", found.measured), ("baseline", found.baseline))
        for _, value, interval, _ in lines
    ]
    at = axis_of([*bounds, *(n for _, v, i in rows for n in (v, *i))])
    below, above = OPEN.get(found.claimed[:8].strip(), (False, False))
    left = 0 if below else at(bounds[0])
    right = 100 if above else at(bounds[-1])
    parts = [f'<i class="range" style="left:{left}%;width:{right - left:.1f}%"></i>']
    for kind, value, interval in rows:
        low, high = at(interval[0]), at(interval[-1])
        parts.append(
            f'<i class="{kind}"><i style="left:{low}%;width:{high - low:.1f}%"></i>'
            f'<b style="left:{at(value)}%"></b></i>'
        )
    return f'<div class="course-interval" aria-hidden="true">{"".join(parts)}</div>'


def lines_of(rows):
    for name, value, interval, origin in rows:
        spread = f" ({typeset(interval)})" if interval else ""
        yield f"<strong>{typeset(value)}</strong>{spread} {typeset(name)}", origin


def row_of(found, link, where=""):
    """Write one row of evidence as HTML; link makes the links of its sources."""
    measured = [line for line, _ in lines_of(found.measured)]
    baseline = [line for line, _ in lines_of(found.baseline)]
    origin = ", ".join(dict.fromkeys(o for *_, o in found.measured if o != "exact"))
    source = "; ".join(map(link, sources_of(found))) or found.source
    claim = found.claim[0].upper() + found.claim[1:]
    cells = [
        f"<p>{typeset(claim)}.</p><p class='source'>{source}{where}</p>",
        "".join(f"<p>{line}</p>" for line in measured)
        + drawing_of(found)
        + "".join(f"<p class='baseline'>{line}</p>" for line in baseline),
        f"<p class='{found.verdict.replace(' ', '-')}'>{found.verdict.capitalize()}</p>"
        + f"<p>Claimed: {typeset(found.claimed)}.</p>"
        + f"<p>{html.escape(origin or 'exact')}</p>",
    ]
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def table_of(rows):
    head = "".join(f'<th scope="col">{name}</th>' for name in HEAD)
    body = "\n".join(rows)
    return (
        f'<table class="course-evidence"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


# Sphinx ---------------------------------------------------------------------------


class Results(SphinxDirective):
    """All rows of one verdict."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self):
        return [ResultsTable(verdict=self.arguments[0])]


def rows_of(app, verdict, link):
    """Yield the rows of a verdict from all pages, each with a link to its section."""
    for page, kept in sorted(app.env.metadata.items()):
        number = Path(page).name.split("_")[0]
        prefix = f"{int(number)}: " if number.isdigit() else ""
        for place, title, found in kept.get("course_evidence", []):
            if found.verdict == verdict:
                address = f"{app.builder.get_relative_uri(PAGE, page)}#{place}"
                where = f" · <a href='{address}'>{prefix}{html.escape(title)}</a>"
                yield row_of(found, link, where)


def write_rows(app, doctree, docname):
    """Put rows where the page of results wants them, and in place of printed ones."""

    def link(source):
        page = app.builder.get_relative_uri(docname, "book/bibliography")
        return f'<a href="{page}#cite-{app.course_labels.get(source)}">{source}</a>'

    for place in list(doctree.findall(ResultsTable)):
        rows = list(rows_of(app, place["verdict"], link))
        table = nodes.raw("", table_of(rows), format="html")
        place.replace_self(table if rows else nodes.paragraph(text="None."))
    for cell, found in evidence_cells(doctree):
        fold = '<details class="course-code"><summary>Code</summary>'
        table = table_of([row_of(found, link)])
        cell.children[-1:] = [nodes.raw("", "</details>", format="html")]
        cell.insert(0, nodes.raw("", table + fold, format="html"))


def setup(app):
    app.add_node(ResultsTable)
    app.add_directive("results-table", Results)
    app.connect("doctree-read", collect_rows)
    # it shows what other pages print
    app.connect("env-updated", lambda app, env: {PAGE} & env.found_docs)
    app.connect("doctree-resolved", write_rows)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
