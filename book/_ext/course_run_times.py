"""Show the table of ``nb-exec-table`` with titles, seconds and the machine.

myst-nb's own table has file names, and a column for failures, which this build does not
let through.
"""

import os
import platform
from importlib.metadata import version

from docutils import nodes
from myst_nb.ext.execution_tables import ExecutionStatsNode
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform

PACKAGES = ("torch", "numpy", "matplotlib")


def row(*cells):
    entries = [nodes.entry("", nodes.paragraph("", "", cell)) for cell in cells]
    return nodes.row("", *entries)


def run_times(env):
    """List (page, seconds) of every notebook, in the order of the pages."""
    data = NbMetadataCollector.get_doc_data(env)
    found = {page: data[page].get("exec_data") for page in data}
    return [(p, d["runtime"]) for p, d in sorted(found.items()) if d and d["runtime"]]


def link(env, page):
    title = env.titles[page].astext()
    number = env.toc_secnumbers.get(page, {}).get("", ())
    text = ". ".join([*map(str, number), title])
    reference = addnodes.pending_xref(
        refdoc=env.docname,
        refdomain="std",
        reftype="doc",
        reftarget=f"/{page}",
        refexplicit=True,
        refwarn=True,
    )
    reference += nodes.inline(text=text)
    return reference


def machine():
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return (
        f"{platform.system()} on {platform.machine()}, {os.cpu_count()} cores; "
        f"Python {platform.python_version()}, {versions}."
    )


class RunTimes(SphinxPostTransform):
    """Put our table in the place that myst-nb would fill next."""

    default_priority = 7

    def run(self, **kwargs):
        for place in list(self.document.findall(ExecutionStatsNode)):
            times = run_times(self.env)
            body = [
                row(link(self.env, page), nodes.Text(f"{seconds:.0f}"))
                for page, seconds in times
            ]
            total = sum(seconds for _, seconds in times)
            body.append(row(nodes.strong(text="all"), nodes.Text(f"{total:.0f}")))
            head = row(nodes.Text("chapter"), nodes.Text("seconds"))
            group = nodes.tgroup("", cols=2)
            group += [nodes.colspec(colwidth=80), nodes.colspec(colwidth=20)]
            group += [nodes.thead("", head), nodes.tbody("", *body)]
            table = nodes.table("", group, classes=["colwidths-auto"])
            place.replace_self([table, nodes.paragraph(text=machine())])


def setup(app):
    app.add_post_transform(RunTimes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
