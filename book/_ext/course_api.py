"""Fill the pages ``book/api/PART`` with every public module, from the docstrings.

The modules are found, not listed, so that no page can fall behind the package.
"""

from importlib.util import find_spec
from pathlib import Path

FOLDER = "book/api/"
PACKAGE = "attncourse"

SECTION = """
## {name}

```{{eval-rst}}
.. automodule:: {name}
   :members:
```
"""


def public_modules(part):
    """List the modules of a part of the package that have no leading underscore."""
    folder = Path(find_spec(PACKAGE).origin).parent
    paths = [*folder.glob(f"{part}.py"), *(folder / part).rglob("*.py")]
    names = [
        ".".join(p.relative_to(folder.parent).with_suffix("").parts) for p in paths
    ]
    return sorted(name for name in names if "._" not in name)


def add_modules(app, docname, source):
    if docname.startswith(FOLDER):
        names = public_modules(docname.removeprefix(FOLDER))
        source[0] += "".join(SECTION.format(name=name) for name in names)


def setup(app):
    app.connect("source-read", add_modules)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
