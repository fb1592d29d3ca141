"""What the folders of the grader promise about each other."""

import ast
from pathlib import Path

import pytest

from attncourse import grading

FOLDER = Path(grading.__file__).parent
# Each may import from those after it. "" is the folder itself.
ORDER = ["course", "records", "", "running"]
FOR_ALL = {"safe_text"}


def folder_of(module):
    first = module.split(".")[0]
    return first if first in ORDER else ""


def modules_imported(path):
    for node in ast.walk(ast.parse(path.read_text("utf8"))):
        name = (node.module or "") if isinstance(node, ast.ImportFrom) else ""
        if name == grading.__name__:
            yield from (alias.name for alias in node.names)
        elif name.startswith(f"{grading.__name__}."):
            yield name.removeprefix(f"{grading.__name__}.")


@pytest.mark.parametrize(
    "path", sorted(FOLDER.rglob("*.py")), ids=lambda p: str(p.relative_to(FOLDER))
)
def test_imports_between_folders_run_one_way(path):
    own = ORDER.index(folder_of(".".join(path.relative_to(FOLDER).parts)))
    for module in set(modules_imported(path)) - FOR_ALL:
        there = ORDER.index(folder_of(module))
        assert own <= there, f"{path.name} imports {module}"


@pytest.mark.parametrize("folder", sorted(set(ORDER)))
def test_each_folder_names_all_its_modules(folder):
    said = ast.get_docstring(ast.parse((FOLDER / folder / "__init__.py").read_text()))
    modules = {path.stem for path in (FOLDER / folder).glob("*.py")} - {"__init__"}
    assert [name for name in sorted(modules) if f"`{name}`" not in said] == []
