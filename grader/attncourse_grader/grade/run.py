"""Let nbval run a composed notebook, in a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from attncourse_grader.isolate import forking

TOTAL_SECONDS = 600  # one submission may take, beside the limits of its cells
# What a run needs of the environment; the rest may hold secrets of the instructor.
PASSED_ON = ("PATH", "LANG", "LC_ALL", "PYTHONPATH", "VIRTUAL_ENV", "SYSTEMROOT", "TMP")
RUNNERS = ("fork", "kernel")


@dataclass(frozen=True)
class CellRun:
    """What nbval said about one cell.

    Attributes
    ----------
    mark : dict
        The cell's mark: ``{"answer": task}`` or ``{"task": task, "check": place}``.
    passed : bool
        Whether it ran and printed what is stored.
    printed : str
        What it printed.
    error : str
        The exception that it raised, "" if none.
    unfinished : bool
        Whether it took longer than it may, or ended the process.
    """

    mark: dict
    passed: bool
    printed: str
    error: str
    unfinished: bool


def default_runner() -> str:
    """Return the way of running that is the fastest on this system."""
    asked = os.environ.get("ATTNCOURSE_RUNNER", "")
    if asked in RUNNERS:
        return asked
    return "fork" if sys.platform.startswith("linux") else "kernel"


def run_nbval(
    notebook, *, total_seconds: float = TOTAL_SECONDS, runner: str | None = None
) -> list[CellRun]:
    """Run nbval on a notebook in a fresh folder and return what it said.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
        The composed notebook.
    total_seconds : float
        Seconds that all cells together may take.
    runner : {"fork", "kernel"}, optional
        "fork" runs the answers in a fork of a process that has imported PyTorch, behind
        walls; "kernel" in a kernel of Jupyter, on every system. By default the first
        where the system has it.

    Returns
    -------
    list of CellRun
        Of the cells up to the last, or to the first that did not come to an end. A
        forked run goes on with the other tasks.
    """
    import nbformat

    runner = runner or default_runner()
    if runner not in RUNNERS:
        raise ValueError(f"runner is one of {', '.join(RUNNERS)}; {runner!r} came.")
    text = nbformat.writes(notebook)
    if runner == "fork":
        found = forking.call(
            "attncourse_grader.grade.comparing.compare",
            text,
            total_seconds,
            notebook.metadata.get("attncourse", {}).get("modules", []),
            seconds=total_seconds + forking.GRACE,
        )
    else:
        found = _with_a_kernel(text, total_seconds)
    if not found:
        raise RuntimeError("nbval has run no cell at all")
    return [CellRun(**record) for record in found]


def _with_a_kernel(text: str, total_seconds) -> list[dict]:
    # The record lies outside the folder in which the answers run.
    with (
        tempfile.TemporaryDirectory() as outside,
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
    ):
        record = Path(outside) / "record.jsonl"
        record.touch()
        path = Path(folder) / "graded.ipynb"  # removed before anything runs
        path.write_text(text, encoding="utf8")
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "attncourse_grader.grade.recorder",
        ]
        process = subprocess.Popen(
            [*command, *forking.arguments(folder), str(path)],
            cwd=folder,
            env=_environment(folder, record),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(total_seconds)
        finally:
            _end(process)
        return [json.loads(line) for line in _lines(record)]


def _environment(folder: str, record: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return {
        **kept,
        "HOME": folder,
        "IPYTHONDIR": str(Path(folder) / ".ipython"),
        "JUPYTER_RUNTIME_DIR": str(record.parent),
        "MPLCONFIGDIR": str(Path(folder) / ".matplotlib"),
        "MPLBACKEND": "agg",
        "OMP_NUM_THREADS": "1",
        "CUDA_VISIBLE_DEVICES": "",  # what is expected was computed on a CPU
        "PYTHONUTF8": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "ATTNCOURSE_RECORD": str(record),
    }


def _end(process) -> None:
    """End the process and all that it started: kernels have groups of their own."""
    import psutil

    with contextlib.suppress(psutil.NoSuchProcess):
        for child in psutil.Process(process.pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    process.wait()


def _lines(record: Path) -> list[str]:
    lines = record.read_text(encoding="utf8").splitlines()
    return [line for line in lines if line.startswith("{") and line.endswith("}")]
