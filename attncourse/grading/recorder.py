"""A plugin of pytest that watches nbval and writes down what it found, cell by cell.

    pytest --nbval notebook.ipynb -p attncourse.grading.recorder

The file named by the environment variable ``ATTNCOURSE_RECORD`` gets one JSON line for
each cell as soon as it is done, so that a run that is cut off leaves what it had. nbval
waits anew with each message that a cell sends and does not notice a kernel that died;
here each cell has one deadline, given by its metadata, and a limit to what it prints.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from queue import Empty

import pytest

SECONDS = 60  # for a cell whose metadata says nothing
STEP = 0.25  # seconds between two looks at the kernel
MOST_PRINTED = 1_000_000  # characters that a cell may print
LONGEST_KEPT = 60_000  # characters of a cell's output that are kept

_record: Path | None = None


class KernelDied(Exception):
    """The answer ended the process that ran it."""


def pytest_configure(config):
    """Take the path of the record out of the environment before a kernel starts."""
    global _record
    _record = Path(os.environ.pop("ATTNCOURSE_RECORD"))


def pytest_collection_finish(session):
    """Remove the notebook, which holds the expected outputs, from the disk."""
    for path in {item.path for item in session.items}:
        path.unlink()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item):
    """Give the cell its deadline."""
    if hasattr(item, "cell"):
        seconds = item.cell.metadata.get("attncourse", {}).get("seconds", SECONDS)
        _watch(item.parent.kernel, seconds)


def _watch(kernel, seconds):
    """Let the messages of one cell end at a deadline, or when the kernel is dead."""
    deadline = time.monotonic() + seconds
    printed = 0
    get_message = type(kernel).get_message

    def get_message_in_time(stream, timeout=None):
        nonlocal printed
        until = deadline if stream == "shell" else deadline + 2
        while True:
            if time.monotonic() > until or printed > MOST_PRINTED:
                raise Empty
            try:
                message = get_message(kernel, stream, timeout=STEP)
            except Empty:
                if not kernel.is_alive():
                    raise KernelDied from None
                continue
            printed += len(str(message["content"].get("text", "")))
            return message

    kernel.get_message = get_message_in_time


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Write down the outcome of a cell; end the run if the cell did not end."""
    outcome = yield
    report = outcome.get_result()
    if report.when != "call" or not hasattr(item, "cell"):
        return
    outputs = item.test_outputs or []
    text = "".join(o.get("text", "") for o in outputs if o.get("name") == "stdout")
    errors = [o for o in outputs if o.get("output_type") == "error"]
    said = str(call.excinfo.value) if call.excinfo else ""
    died = call.excinfo is not None and call.excinfo.type in (KernelDied, RuntimeError)
    record = {
        "mark": item.cell.metadata.get("attncourse", {}),
        "passed": report.passed and not hasattr(report, "wasxfail"),
        "printed": text[:LONGEST_KEPT],
        "error": _error(errors),
        "unfinished": died or said.startswith("Timeout") or item.parent.timed_out,
    }
    with _record.open("a", encoding="utf8") as file:
        file.write(json.dumps(record) + "\n")
    if record["unfinished"]:
        item.session.shouldstop = "a cell did not come to an end"


def _error(errors) -> str:
    if not errors:
        return ""
    return f"{errors[0].get('ename')}: {errors[0].get('evalue')}"
