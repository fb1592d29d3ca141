"""Say what this machine has and what is missing for grading and for building."""

import contextlib
import importlib.metadata
import platform
import shutil
import tempfile
from pathlib import Path

import psutil

from attncourse_grader.exercises import modules
from attncourse_grader.isolate import forking, sandbox
from attncourse_grader.sentences import SAYS
from attncourse_grader.workers import cores

GOOD, MISSING, LACKING = "good", "MISSING", "lacking"  # MISSING: needed to grade
NEEDED = ("nbval", "pytest", "ipykernel", "nbformat", "tqdm", "psutil", "matplotlib")
GROUP = Path("/sys/fs/cgroup")
LEAST_DISK, LEAST_MEMORY = 2e9, 1.5e9  # bytes; a grading process takes half of that


def examine(folder: Path = Path()) -> dict[str, tuple[str, str]]:
    """Return for each thing its state and what is to be said."""
    there = [name for name in modules() if Path("solutions", f"{name}.ipynb").is_file()]
    said = f"{len(there)} of {len(modules())}" + SAYS["not_here"] * (not there)
    found = {
        "Python": (GOOD, platform.python_version()),
        "torch": _torch(),
        **{name: _package(name, MISSING, SAYS["not_installed"]) for name in NEEDED},
        "distributed": _package("distributed", LACKING, SAYS["no_distributed"]),
        "room for grades": _disk(folder),
        "room for temporary files": _disk(Path(tempfile.gettempdir())),
        "memory": _memory(),
        "cores": (GOOD, f"{cores()}; that many notebooks are graded at a time"),
        "solutions": (GOOD if there else LACKING, said),
    }
    if not sandbox.linux:
        return found | {"Linux": (MISSING, SAYS["not_linux"])}
    layers = forking.layers()
    for name, title in sandbox.LAYERS.items():
        why = layers.get(name)
        said = (LACKING, f"does not work ({why}).") if why else (GOOD, "works")
        found[f"isolation: {title}"] = said
    if could := sandbox.possible(sandbox.DANGERS, layers):
        said = f"a submission could {'; '.join(could)}. {SAYS['unsafe_only']}"
        found["isolation as a whole"] = (MISSING, said)
    if could := sandbox.possible(sandbox.RISKS, layers):
        found["what is left"] = (LACKING, f"a submission could {'; '.join(could)}.")
    return found


def _torch() -> tuple[str, str]:
    try:
        import torch

        torch.ones(2) @ torch.ones(2)
    except Exception as error:
        said = " ".join(str(error).split())[:100]
        return MISSING, f"cannot be used ({said}); pip install ./grader"
    return GOOD, torch.__version__


def _package(name: str, otherwise: str, remedy: str) -> tuple[str, str]:
    try:
        return GOOD, importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return otherwise, remedy


def _disk(folder: Path) -> tuple[str, str]:
    here = folder.absolute()
    there = next(p for p in (here, *here.parents) if p.exists())
    try:
        free = shutil.disk_usage(there).free
        with tempfile.TemporaryFile(dir=there) as file:
            file.write(b"x")
    except OSError as error:
        return MISSING, f"{there} cannot be written ({error.strerror})."
    said = f"{free / 1e9:.0f} GB free at {there}"
    return GOOD if free > LEAST_DISK else LACKING, said


def _memory() -> tuple[str, str]:
    free = psutil.virtual_memory().available
    with contextlib.suppress(OSError, ValueError):  # the limit of a container
        most = int((GROUP / "memory.max").read_text())
        free = min(free, most - int((GROUP / "memory.current").read_text()))
    said = f"{free / 1e9:.1f} GB free"
    return (GOOD, said) if free > LEAST_MEMORY else (LACKING, f"{said}: give --jobs 1.")


def text_of(found: dict[str, tuple[str, str]]) -> str:
    """Return what was found as lines."""
    width = max(map(len, found))
    lines = [f"{state:<7}  {name:<{width}}  {v}" for name, (state, v) in found.items()]
    states = [state for state, _ in found.values()]
    missing, lacking = states.count(MISSING), states.count(LACKING)
    said = f"Grading works. {lacking} lacking." if lacking else "Nothing is missing."
    said = f"Grading cannot begin: {missing} missing." if missing else said
    return "\n".join([*lines, said])
