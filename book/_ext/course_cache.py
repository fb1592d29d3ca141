"""Tell myst-nb where tools/build.py keeps the results of the notebooks.

The path names the package's content, so a change in the package changes the path, and
Sphinx, to which it is a changed setting, reads every notebook again.
"""

import os


def set_cache_path(app, config):
    path = os.environ.get("ATTNCOURSE_NOTEBOOK_CACHE")
    if path:
        config.nb_execution_cache_path = path


def setup(app):
    app.connect("config-inited", set_cache_path, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
