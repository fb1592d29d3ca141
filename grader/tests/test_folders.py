"""What the folders of the grader promise about each other."""

import ast
from pathlib import Path

import attncourse
import attncourse_grader

FOLDER = Path(attncourse_grader.__file__).parent
# Each may import from those before it, and from itself; "" is what lies beside them.
ORDER = ["isolate", "hand_in", "grade", "records", ""]
FOR_ALL = {"safe_text", "exercises", "cache"}


def modules_imported(path):
    for node in ast.walk(ast.parse(path.read_text("utf8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            name = node.module
            if name in ("attncourse_grader", "attncourse_grader.isolate"):
                yield from (f"{name}.{alias.name}" for alias in node.names)
            else:
                yield name
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_imports_between_folders_run_one_way():
    paths = {path: path.relative_to(FOLDER).parts[0] for path in FOLDER.rglob("*.py")}
    for path, name in ((p, name) for p in paths for name in modules_imported(p)):
        own = ORDER.index(paths[path] if paths[path] in ORDER else "")
        first, _, rest = name.partition(".")
        place = rest.split(".")[0]
        if first == "attncourse_grader" and place not in FOR_ALL:
            there = ORDER.index(place if place in ORDER else "")
            assert there <= own, f"{path.name} imports {name}"


def test_the_package_that_readers_import_has_nothing_of_the_grader():
    package = Path(attncourse.__file__).parent
    for path in package.rglob("*.py"):
        if path != package / "cli.py":
            assert "attncourse_grader" not in path.read_text("utf8"), path


def test_the_process_that_compares_is_not_imported_beside_students_code():
    known = set(modules_imported(FOLDER / "isolate" / "student_process.py"))
    known |= set(modules_imported(FOLDER / "isolate" / "fork_server.py"))
    assert not {name for name in known if ".compare" in name or ".recorded" in name}
