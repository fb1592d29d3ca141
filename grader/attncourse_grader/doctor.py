"""Say what this machine has and what is missing for grading and for building."""

from __future__ import annotations

import contextlib
import importlib.metadata
import shutil
import sqlite3
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from attncourse_grader.exercises import modules
from attncourse_grader.isolate import forking, sandbox

GRADING = "pip install ./grader"
LEAST_DISK, LEAST_MEMORY = 2e9, 1.5e9  # bytes; a grading process takes half of that
PYTHON = (3, 11)


@dataclass(frozen=True)
class Finding:
    """What was found out about one thing."""

    name: str  # the thing
    # "good"; "missing", if grading needs it; "lacking", if it goes on without.
    state: str
    says: str  # what is there, or what is missing and what to do


def examine(folder: Path = Path()) -> list[Finding]:
    """Look at everything."""
    from attncourse_grader.workers import cores

    python = ".".join(map(str, sys.version_info[:3]))
    many = f"{cores()}; so many notebooks are graded at a time"
    return [
        _at_least("Python", python, sys.version_info[:2] >= PYTHON, "3.11"),
        _torch(),
        *(_package(*what) for what in PACKAGES),
        _at_least(
            "SQLite",
            sqlite3.sqlite_version,
            sqlite3.sqlite_version_info >= (3, 24),
            "3.24",
        ),
        _disk("room for grades", folder),
        _disk("room for temporary files", Path(tempfile.gettempdir())),
        _memory(),
        Finding("cores", "good", many),
        _solutions(),
        *_layers(),
    ]


# Name, whether grading needs it, what it is for, how to get it.
PACKAGES = (
    ("nbval", True, "compares what answers print", GRADING),
    ("pytest", True, "runs nbval", GRADING),
    ("ipykernel", True, "runs notebooks", GRADING),
    ("nbformat", True, "reads notebooks", GRADING),
    ("tqdm", True, "shows the progress", GRADING),
    ("psutil", True, "ends what a submission has started", "pip install psutil"),
    ("matplotlib", True, "for answers that draw", "pip install matplotlib"),
    ("distributed", False, "--scheduler", "pip install './grader[cluster]'"),
)


def _at_least(name: str, version: str, enough: bool, least: str) -> Finding:
    if enough:
        return Finding(name, "good", version)
    return Finding(name, "missing", f"{version}; {least} or later is needed.")


def _torch() -> Finding:
    try:
        import torch

        torch.ones(2) @ torch.ones(2)
    except Exception as error:
        said = " ".join(str(error).split())[:100]
        return Finding(
            "torch", "missing", f"cannot be used ({said}). Install it: {GRADING}"
        )
    return Finding("torch", "good", torch.__version__)


def _package(name: str, needed: bool, purpose: str, remedy: str) -> Finding:
    try:
        return Finding(name, "good", importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        state = "missing" if needed else "lacking"
        return Finding(name, state, f"not installed ({purpose}). {remedy}")


def _disk(name: str, folder: Path) -> Finding:
    there = folder.absolute()
    while not there.exists() and there != there.parent:
        there = there.parent
    try:
        free = shutil.disk_usage(there).free
        with tempfile.TemporaryFile(dir=there) as file:
            file.write(b"x")
    except OSError as error:
        return Finding(
            name, "missing", f"{there} cannot be written ({error.strerror})."
        )
    says = f"{free / 1e9:.0f} GB free at {there}"
    if free < LEAST_DISK:
        return Finding(
            name, "lacking", f"{says}: make room, {LEAST_DISK / 1e9:.0f} GB."
        )
    return Finding(name, "good", says)


def _memory() -> Finding:
    free = memory_free()
    if free is None:
        return Finding("memory", "lacking", "cannot be measured without psutil.")
    says = f"{free / 1e9:.1f} GB free"
    if free < LEAST_MEMORY:
        return Finding("memory", "lacking", f"{says}: grade with --jobs 1.")
    return Finding("memory", "good", says)


def memory_free() -> float | None:
    """Return the bytes of memory that are free, within the limit of a container."""
    free = []
    with contextlib.suppress(ImportError):
        import psutil

        free.append(float(psutil.virtual_memory().available))
    with contextlib.suppress(OSError, ValueError):
        group = Path("/sys/fs/cgroup")
        most = int((group / "memory.max").read_text())
        free.append(float(most - int((group / "memory.current").read_text())))
    return min(free) if free else None


def _solutions() -> Finding:
    there = [name for name in modules() if Path("solutions", f"{name}.ipynb").is_file()]
    if not there:
        return Finding(
            "solutions",
            "lacking",
            "no folder solutions here. Call the commands in the folder of the course, "
            "or give --solutions.",
        )
    return Finding("solutions", "good", f"{len(there)} of {len(modules())}")


def _layers() -> list[Finding]:
    if not sandbox.linux:
        return [Finding("Linux", "missing", forking.NOT_LINUX)]
    return [
        Finding(f"isolation: {layer.name}", "good", "works")
        if layer.works
        else Finding(
            f"isolation: {layer.name}",
            "lacking",
            f"does not work ({layer.why_not}). Grade in a container, or on a machine "
            "that has it.",
        )
        for layer in forking.layers()
    ]


def text_of(found: list[Finding]) -> str:
    """Return what was found as lines."""
    words = {"good": "good   ", "missing": "MISSING", "lacking": "lacking"}
    width = max(len(f.name) for f in found)
    lines = [f"{words[f.state]}  {f.name:<{width}}  {f.says}" for f in found]
    missing = sum(f.state == "missing" for f in found)
    lacking = sum(f.state == "lacking" for f in found)
    if missing:
        lines.append(f"Grading cannot begin: {missing} missing.")
    elif lacking:
        lines.append(f"Grading works. {lacking} lacking, with what follows named.")
    else:
        lines.append("All is there.")
    return "\n".join(lines)
