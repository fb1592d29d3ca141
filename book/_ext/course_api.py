"""Fill the page ``book/api`` with every public module, from the docstrings.

The modules are found, not listed, so that the page cannot fall behind the package.
"""

import importlib
import pkgutil

PAGE = "book/api"
PACKAGE = "attncourse"
PARTS = [
    "by_hand",
    "layers",
    "models",
    "training",
    "recorded",
    "viz",
    "devices",
    "data",
]

SECTION = """
## {name}

```{{eval-rst}}
.. automodule:: {name}
   :members:
```
"""


def public_modules(name):
    """List the modules below a package that have no leading underscore."""
    package = importlib.import_module(name)
    modules = pkgutil.walk_packages(package.__path__, f"{name}.")
    names = [m.name for m in modules if not m.ispkg and "._" not in m.name]
    return sorted(names, key=lambda n: (order(n), n))


def order(name):
    """Say where a module's part of the package comes on the page."""
    part = name.split(".")[1]
    return PARTS.index(part) if part in PARTS else len(PARTS)


def add_modules(app, docname, source):
    if docname == PAGE:
        parts = [SECTION.format(name=name) for name in public_modules(PACKAGE)]
        source[0] += "".join(parts)


def always_read(app, env, added, changed, removed):
    # A module may have come or gone without a change in the page's own text.
    return [PAGE] if PAGE in env.found_docs else []


def setup(app):
    app.connect("source-read", add_modules)
    app.connect("env-get-outdated", always_read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
