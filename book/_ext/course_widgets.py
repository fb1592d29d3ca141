"""Let widgets run in the built pages, with a still picture where they cannot.

myst-nb writes the state of all widgets into a page, and a mark for each view. Jupyter's
own scripts would come from two other hosts and weigh 3.6 MB; `widget-host.js` does what
the course's widgets need. It is loaded on the pages that have a widget.

A page may not fetch a file when it is opened from a folder, but it may load a script.
So the weights of the models are scripts, which a page loads when they are needed.
"""

import os
from pathlib import Path

from docutils import nodes
from sphinx.transforms import SphinxTransform

VIEW = "application/vnd.jupyter.widget-view+json"
STYLE = "widgets.css"
FRAME = (
    '<div class="course-widget"><div class="course-widget-still attn-widget">{still}'
    "</div>{view}</div>"
)


class WidgetWithPicture(SphinxTransform):
    """Put the picture that a widget brings along beside the mark of its view."""

    default_priority = 10  # before Sphinx collects the images of the page

    def apply(self, **kwargs):
        for bundle in list(self.document.findall(nodes.container)):
            if bundle.get("nb_element") != "mime_bundle":
                continue
            parts = {child["mime_type"]: child for child in bundle.children}
            if VIEW not in parts or "image/svg+xml" not in parts:
                continue
            image = next(parts["image/svg+xml"].findall(nodes.image))
            still = self.file_of(image["uri"]).read_text(encoding="utf8")
            view = next(parts[VIEW].findall(nodes.raw)).astext()
            html = FRAME.format(still=still, view=view)
            bundle.replace_self(nodes.raw("", html, format="html"))

    def file_of(self, uri):
        """Return the file of an image that myst-nb has written."""
        return Path(self.env.srcdir) / self.env.relfn2path(uri)[0]


def set_paths(app, config):
    config.nb_ipywidgets_js = {}
    folder = Path(app.confdir) / "book" / "_widgets"
    config.html_static_path = [*config.html_static_path, str(folder)]
    # Where tools/build.py keeps the results of the notebooks. The path names the
    # package's content; where it changes, Sphinx, to which it is a setting, reads all.
    if cache := os.environ.get("ATTNCOURSE_NOTEBOOK_CACHE"):
        config.nb_execution_cache_path = cache
    else:
        config.nb_execution_mode = "off"  # the outputs that the notebooks store


def copy_style(app):
    # in the page's own sheet from the start; Jupyter takes it from each widget's state
    import attncourse

    folder = Path(attncourse.__file__).parent / "widgets"
    # "widgets" and "tiles", which others build on, come first
    sheets = sorted(folder.glob("*.css"), reverse=True)
    if app.builder.format == "html":
        static = Path(app.outdir) / "_static"
        static.mkdir(parents=True, exist_ok=True)
        style = "\n".join(sheet.read_text(encoding="utf8") for sheet in sheets)
        (static / STYLE).write_text(style, encoding="utf8")


def write_weights(app, exception):
    if exception or app.builder.format != "html":
        return
    from attncourse.widgets._models import FILES, weights_script

    folder = Path(app.outdir) / "_static" / "models"
    folder.mkdir(parents=True, exist_ok=True)
    for name, file in FILES.items():
        script = weights_script(name)
        (folder / f"{file}.js").write_text(script, encoding="utf8")


def setup(app):
    app.add_transform(WidgetWithPicture)
    app.add_css_file(STYLE, priority=900)  # after the sheets of the book
    app.connect("config-inited", set_paths, priority=100)
    app.connect("builder-inited", copy_style)
    app.connect("build-finished", write_weights)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
