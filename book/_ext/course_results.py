"""Fill the tables of the page of results from the outputs of the chapters.

A code cell that ends in ``report(...)`` and has this in its metadata is a row:

    "attncourse": {"claim": "...", "source": "vaswani2017", "folk": false}

``source`` is a key of book/references.bib, "ours", or "often said". The figures, the
intervals and the verdict are what the cell printed when the chapter ran for this build;
they are read from the same cache that the pages are made from. A main claim that does
not hold, a folk claim that does, and a row without figures are warnings, and so errors
of the build.
"""

import re
from pathlib import Path

import nbformat
from docutils.parsers.rst import directives
from mdit_py_plugins.anchors.index import slugify
from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.matching import Matcher

from attncourse.training.reporting import read_report

LOGGER = logging.getLogger(__name__)
UNCITED = ("ours", "often said")
WIDTHS = "30 38 12 20"
HEAD = ("claim and source", "measured, with interval", "from", "where")
FIELDS = {"claim", "source", "folk"}
POWER = re.compile(r"(?<=\d)e([+-]\d+)")
MINUS = re.compile(r"(?<![\w.])-(?=\d)")
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def claims_of(notebook, outputs):
    """Yield (claim, title of its section, printed text) for each cell of results."""
    title = ""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            lines = [line for line in cell.source.splitlines() if line.startswith("#")]
            title = lines[-1].lstrip("# ") if lines else title
            continue
        printed = "".join(output.get("text", "") for output in next(outputs))
        claim = cell.metadata.get("attncourse", {})
        if "claim" in claim:
            yield dict(claim), title, printed


def outputs_of(notebook, cache):
    """Yield the outputs of each code cell in this build."""
    record = cache.match_cache_notebook(notebook)
    for cell in cache.get_cache_bundle(record.pk).nb.cells:
        if cell.cell_type == "code":  # the cache keeps no others, as of now
            yield cell.outputs


def fault_in(claim):
    """Say what is wrong with a claim's metadata, or nothing."""
    if set(claim) != FIELDS:
        return f"has the fields {sorted(claim)}, not {sorted(FIELDS)}"
    if not isinstance(claim["folk"], bool):
        return "has a field 'folk' that is neither true nor false"
    return None


def with_source(claim):
    source = claim["source"]
    cited = source if source in UNCITED else f"{{cite:t}}`{source}`"
    return f"{claim['claim']} ({cited})"


def numbered(path, title):
    number = path.stem.split("_")[0]
    return f"{int(number)}: {title}" if number.isdigit() else title


def typeset(text):
    """Write the numbers of a report as in a text: powers of ten, true minus signs."""
    text = POWER.sub(lambda found: f"·10{str(int(found[1])).translate(RAISED)}", text)
    return MINUS.sub("−", text)


def lines_of(values):
    """Write one value to a line, within a cell of a table."""
    return " \\\n".join(values)


class ResultsTable(SphinxDirective):
    """The table of main claims, or with ``:folk:`` that of the folk claims."""

    option_spec = {"folk": directives.flag}  # noqa: RUF012

    def run(self):
        folk = "folk" in self.options
        table = [":::{list-table}", ":header-rows: 1", f":widths: {WIDTHS}", ""]
        rows = [HEAD, *self.rows(folk)]
        for row in rows:
            for number, cell in enumerate(row):
                mark = "* - " if number == 0 else "  - "
                table.append(mark + cell.replace("\n", "\n    "))
        table.append(":::")
        if len(rows) == 1:
            self.warn("there are no results to show")
            return []
        return self.parse_text_to_nodes("\n".join(table))

    def rows(self, folk):
        for page, path in self.chapters():
            for claim, title, text in self.claims(path):
                if fault := fault_in(claim):
                    self.warn(f"{path.name}: {claim['claim']!r} {fault}")
                    continue
                if claim["folk"] != folk:
                    continue
                try:
                    found, holds = read_report(text)
                except ValueError as error:
                    self.warn(f"{path.name}: {claim['claim']!r}: {error}")
                    continue
                if holds == folk:
                    verdict = "holds" if holds else "does not hold"
                    self.warn(f"{path.name}: {claim['claim']!r} {verdict}")
                yield (
                    with_source(claim),
                    lines_of(
                        f"{name}: **{typeset(figure)}** ({typeset(i)})"
                        for name, figure, i, _ in found
                    ),
                    lines_of(dict.fromkeys(origin for *_, origin in found)),
                    f"[{numbered(path, title)}](/{page}.ipynb#{slugify(title)})",
                )

    def chapters(self):
        not_run = Matcher(self.config.nb_execution_excludepatterns)
        for page in sorted(self.env.found_docs):
            path = Path(self.env.doc2path(page))
            if path.suffix == ".ipynb" and not not_run(f"{page}.ipynb"):
                self.env.note_dependency(str(path))
                yield page, path

    def claims(self, path):
        from jupyter_cache import get_cache

        notebook = nbformat.read(path, as_version=4)
        cache = get_cache(self.config.nb_execution_cache_path)
        try:
            yield from claims_of(notebook, outputs_of(notebook, cache))
        except KeyError as error:
            raise ExtensionError(
                f"{path.name} has not run: build the site with `make book`."
            ) from error

    def warn(self, text):
        LOGGER.warning(text, location=self.get_location(), type="attncourse")


def setup(app):
    app.add_directive("results-table", ResultsTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
