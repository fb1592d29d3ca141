"""A plugin of pytest that watches nbval and writes down what it found, cell by cell.

    pytest --nbval notebook.ipynb -p attncourse_grader.grade.recorder

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
from nbval.plugin import NbCellError

from attncourse_grader.isolate.guard import BREACHES
from attncourse_grader.isolate.kernel import KernelDied
from attncourse_grader.safe_text import plain

SECONDS = 60  # for a cell whose metadata says nothing
MOST_STRETCH = 2.0
STEP = 0.25  # seconds between two looks at the kernel
MOST_PRINTED = 1_000_000  # characters that a cell may print
LONGEST_KEPT = 60_000  # characters of a cell's output that are kept


class Recorder:
    """Give cells their deadlines and hand on what nbval says about each.

    Parameters
    ----------
    write : callable
        Takes the record of a cell, a dict.
    forked : bool
        Whether the kernel is a `ForkedKernel`, which can begin anew.
    """

    def __init__(self, write, *, forked: bool = False):
        self.write, self.forked = write, forked
        self.given_up: set[str] = set()  # tasks of which no more cells are run
        self.spoilt = ""  # the task that has spoilt the process

    def pytest_collection_finish(self, session):
        """Remove the notebook, which holds the expected outputs, from the disk."""
        for path in {item.path for item in session.items}:
            path.unlink()
        for item in session.items:
            # Nobody reads nbval's own picture of the differences.
            item.format_output_compare = lambda *_: None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item):
        """Give the cell its deadline."""
        mark = mark_of(item)
        if task_of(mark) in self.given_up:
            pytest.skip("the task has ended the process before")
        seconds = mark.get("seconds", SECONDS) * stretch()
        kernel = item.parent.kernel
        if not self.forked:
            _watch(kernel, seconds)
            return
        if self.spoilt and self.spoilt != task_of(mark):
            kernel.give_up()
            self.spoilt = ""
        kernel.seconds = seconds

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        """Write down the outcome of a cell; end the run if the cell did not end."""
        outcome = yield
        report = outcome.get_result()
        if report.when != "call" or report.skipped:
            return
        record = record_of(item, call, report)
        self.write(record)
        breach = record["error"].split(":")[0] in BREACHES
        if self.forked:
            self._go_on(item, record, breach)
        elif record["unfinished"]:
            item.session.shouldstop = "a cell did not come to an end"

    def _go_on(self, item, record, breach):
        """Keep the process for the next cell, or see that it gets a fresh one."""
        kernel, mark = item.parent.kernel, record["mark"]
        item.parent.timed_out = False
        if record["unfinished"] or (breach and "answer" in mark):
            kernel.give_up()
            self.given_up.add(task_of(mark))
        elif breach:
            self.spoilt = task_of(mark)
        elif "check" not in mark:
            kernel.remember(item.cell.source)
        if "answer" not in mark and "check" not in mark and not record["passed"]:
            item.session.shouldstop = "a cell of the instructor's does not run"


def stretch() -> float:
    """Return by how much a deadline is put off where others use the processors."""
    if not hasattr(os, "getloadavg"):
        return 1.0
    return min(MOST_STRETCH, max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)))


def mark_of(item) -> dict:
    """Return the mark of a cell."""
    return item.cell.metadata.get("attncourse", {})


def task_of(mark: dict) -> str:
    """Return the name of the task that a cell belongs to, "" if none."""
    return mark.get("answer") or mark.get("task") or ""


def record_of(item, call, report) -> dict:
    """Return what nbval found out about one cell, without control characters."""
    outputs = item.test_outputs or []
    text = "".join(o.get("text", "") for o in outputs if o.get("name") == "stdout")
    errors = [o for o in outputs if o.get("output_type") == "error"]
    said = str(call.excinfo.value) if call.excinfo else ""
    died = call.excinfo is not None and call.excinfo.errisinstance(RuntimeError)
    unfinished = died or said.startswith("Timeout") or item.parent.timed_out
    error = ""
    if call.excinfo and not call.excinfo.errisinstance((NbCellError, RuntimeError)):
        error = f"{call.excinfo.typename}: {said}"  # a fault of the grader
    if errors:
        error = f"{errors[0].get('ename')}: {errors[0].get('evalue')}"
    return {
        "mark": mark_of(item),
        "passed": report.passed and not hasattr(report, "wasxfail"),
        "printed": plain(text[:LONGEST_KEPT]),
        "error": plain(error[:LONGEST_KEPT]),
        "unfinished": unfinished,
    }


def pytest_configure(config):
    """Take the path of the record out of the environment before a kernel starts."""
    path = os.environ.pop("ATTNCOURSE_RECORD", None)
    if path is not None:
        config.pluginmanager.register(Recorder(_writer(Path(path))), "recorder")


def _writer(path: Path):
    def write(record):
        with path.open("a", encoding="utf8") as file:
            file.write(json.dumps(record) + "\n")

    return write


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
                    raise KernelDied("the kernel has ended") from None
                continue
            printed += len(str(message["content"].get("text", "")))
            return message

    kernel.get_message = get_message_in_time
