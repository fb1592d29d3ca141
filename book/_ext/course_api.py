"""Fill the page ``book/api`` with every public module, from the docstrings.

The modules are found, not listed, so that the page cannot fall behind the package.
"""

from importlib.util import find_spec
from pathlib import Path

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
    folder = Path(find_spec(name).origin).parent
    paths = [p.relative_to(folder.parent).with_suffix("") for p in folder.rglob("*.py")]
    names = [".".join(path.parts) for path in paths]
    return sorted((n for n in names if "._" not in n), key=lambda n: (order(n), n))


def order(name):
    """Say where a module's part of the package comes on the page."""
    part = name.split(".")[1]
    return PARTS.index(part) if part in PARTS else len(PARTS)


def add_modules(app, docname, source):
    if docname == PAGE:
        parts = [SECTION.format(name=name) for name in public_modules(PACKAGE)]
        source[0] += "".join(parts)


def read_with_new_modules(app, env, added, changed, removed):
    # A module may have come or gone without a change in the page's own text. What has
    # changed in a module, autodoc sees.
    before = getattr(env, "course_modules", None)
    env.course_modules = public_modules(PACKAGE)
    return [PAGE] if PAGE in env.found_docs and env.course_modules != before else []


def setup(app):
    app.connect("source-read", add_modules)
    app.connect("env-get-outdated", read_with_new_modules)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
