"""The copies of the exercises that answers can reach hold no right answers."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from attncourse.exercises import MODULES
from attncourse.grading.grade import grouped
from attncourse.grading.running.run import CellRun

ROOT = Path(__file__).resolve().parents[2]
IMPORT = re.compile(r"^from attncourse\.exercises\S* import .+$", re.MULTILINE)


@pytest.fixture(scope="module")
def stripped():
    """Run code in a fresh Python in which the exercises are stripped."""

    def run(code):
        start = "from attncourse.grading.running.oracle import two_copies\n"
        start += "kept, modules = two_copies()\n"
        done = subprocess.run(
            [sys.executable, "-c", start + code], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    return run


def test_what_the_notebooks_import_is_there(stripped):
    imports = []
    for name in MODULES:
        path = ROOT / "solutions" / f"{name}.ipynb"
        cells = json.loads(path.read_text(encoding="utf8"))["cells"]
        text = "\n".join(
            "".join(c["source"]) for c in cells if c["cell_type"] == "code"
        )
        imports += IMPORT.findall(text)
    assert len(imports) >= len(MODULES)
    stripped("\n".join(imports))


def test_no_check_knows_what_is_expected(stripped):
    said = stripped(
        "from attncourse.exercises import MODULES, exercise_of\n"
        "for name in MODULES:\n"
        "    for copy in (exercise_of(name), kept[MODULES[name]]):\n"
        "        for task in copy.tasks:\n"
        "            for check in task.checks:\n"
        "                print(check.expected, check.mistakes)\n"
    )
    assert set(said.splitlines()) == {"None ()"}


def test_a_fault_in_our_own_cells_is_no_fault_of_the_student():
    cell = CellRun({"seconds": 240}, False, "", "ImportError: no such name", False)
    with pytest.raises(RuntimeError, match="own cells do not run: ImportError"):
        grouped([cell])
