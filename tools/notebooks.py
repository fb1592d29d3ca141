"""Run notebooks in place and keep their files in one normal form.

    python tools/notebooks.py run chapters/03_multi_head.ipynb …
    python tools/notebooks.py check chapters/*.ipynb

The normal form: cell ids that follow from the place of the cell, execution counts from
1 upwards, no metadata but tags and figure texts, no images, no widgets and no progress
bars in stored outputs, and no HTML, which says what the plain text beside it says.
"""

import argparse
import sys
from pathlib import Path

import nbformat
from build import ROOT, run_notebook

from attncourse_grader.hand_in.release import text_of

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
KEPT_METADATA = ("tags", "mystnb", "attncourse")
WIDGET = "application/vnd.jupyter.widget-view+json"  # names a model that is gone
INSTALL_CELL = (ROOT / "tools" / "install_cell.txt").read_text().rstrip("\n")


def normalise(notebook):
    """Bring a notebook into the normal form, in place, and return it."""
    notebook.metadata = nbformat.from_dict(
        {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    )
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    count = 0
    for place, cell in enumerate(notebook.cells, start=1):
        cell.id = f"cell-{place:02d}"
        cell.metadata = nbformat.from_dict(
            {k: v for k, v in cell.metadata.items() if k in KEPT_METADATA}
        )
        if cell.cell_type != "code":
            continue
        count += 1
        cell.execution_count = count
        ignored = "nbval-ignore-output" in cell.metadata.get("tags", [])
        cell.outputs = [
            _text_only(output, count)
            for output in cell.outputs
            if not (ignored and output.get("name") == "stderr")  # progress bars
        ]
    return notebook


def _text_only(output, count):
    output = nbformat.from_dict(dict(output))
    if "data" in output:
        output.data = {
            mime: data
            for mime, data in output.data.items()
            if not mime.startswith("image/") and mime not in (WIDGET, "text/html")
        }
        output.metadata = {}
    if output.output_type == "execute_result":
        output.execution_count = count
    return output


def run(path):
    """Execute a notebook from top to bottom and write it back in the normal form."""
    print(f"running {path} …", flush=True)
    notebook, seconds, failure = run_notebook(path)
    if failure:
        sys.exit(failure)
    path.write_text(text_of(normalise(notebook)), encoding="utf-8")
    print(f"  {seconds:.0f} s")


def problems(path):
    """Return what keeps a notebook from the normal form, as sentences."""
    text = path.read_text(encoding="utf-8")
    notebook = nbformat.reads(text, as_version=4)
    found = []
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    counts = [cell.execution_count for cell in code]
    if counts != list(range(1, len(code) + 1)):
        found.append("its cells are not numbered 1 to n; run it with `make notebooks`")
    elif text != text_of(normalise(notebook)):
        found.append("it is not in the normal form; run it with `make notebooks`")
    if not any(cell.source == INSTALL_CELL for cell in code[:1]):
        found.append("its first code cell is not that of tools/install_cell.txt")
    for cell in code:
        tags = cell.metadata.get("tags", [])
        failed = any(output.output_type == "error" for output in cell.outputs)
        if failed and "raises-exception" not in tags:
            found.append(f"{cell.id} ended in an error")
        hidden = "hide-cell" in tags or "answer" in cell.metadata.get("attncourse", {})
        if len(cell.source.splitlines()) > 15 and not hidden:
            found.append(f"{cell.id} has more than 15 lines")
        figure = any("<Figure" in str(o.get("data", "")) for o in cell.outputs)
        if figure and not cell.metadata.get("mystnb", {}).get("image", {}).get("alt"):
            found.append(f"{cell.id} draws a figure without alt text")
    return found


def main():
    """Run or check the notebooks named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("action", choices=["run", "check"])
    parser.add_argument("paths", nargs="+", type=Path)
    options = parser.parse_args()
    failed = False
    for path in options.paths:
        if options.action == "run":
            run(path)
        for problem in problems(path):
            print(f"{path}: {problem}")
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
