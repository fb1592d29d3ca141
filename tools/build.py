"""Run the chapters and build the site.

    python tools/build.py

While Sphinx makes the pages on one core, the solutions run on another, so that
``make test`` finds their outputs as it finds those of the chapters.

A chapter's outputs depend on its code, on the package, on the pinned environment and
on the version of Python. Jupyter's own cache looks at code cells only, so the other
three name the folder that it lies in: ``.cache/notebooks/<key>``. A change in one of
them starts a new folder, and the old ones are removed. Chapters run side by side, one
process to a core; Sphinx then finds every result in the cache and runs nothing.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, as_completed, wait
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "book" / "_ext"))
import course_repository as naming  # noqa: E402

CACHES = ROOT / ".cache" / "notebooks"
SOLUTIONS = ROOT / ".cache" / "solutions"
BUILD = ROOT / "_build"
STAMP = BUILD / "built-from"
CELL_SECONDS = 900  # on a busy machine a training cell takes long
NOT_FOR_CHAPTERS = ("exercises", "cli.py")  # parts of the package
KEEP_CACHES = 2
say = partial(print, flush=True)


def digest(paths, *words: str) -> str:
    """Return a short hash of the names and contents of files, and of some words."""
    state = hashlib.sha256()
    for path in sorted(paths):
        content = path.read_bytes()
        state.update(f"{path.relative_to(ROOT).as_posix()} {len(content)}\0".encode())
        state.update(content)
    for word in words:
        state.update(f"\0{word}".encode())
    return state.hexdigest()[:16]


def files_under(*names: str) -> list[Path]:
    """List the files below some folders, without what Python leaves there."""
    left = {"__pycache__", ".ipynb_checkpoints"}
    found = (path for name in names for path in (ROOT / name).rglob("*"))
    return [path for path in found if path.is_file() and not left & {*path.parts}]


def environment_key(left_out=NOT_FOR_CHAPTERS) -> str:
    """Name everything but a notebook's own code that its outputs depend on."""
    package = ROOT / "attncourse"
    used = [
        path
        for path in files_under("attncourse")
        if path.relative_to(package).parts[0] not in left_out
    ]
    versions = platform.python_version(), platform.machine()
    return digest([*used, ROOT / "requirements.txt"], *versions)


def site_key() -> str:
    """Name everything that the site is made from."""
    sources = files_under("attncourse", "book", "chapters", "exercises")
    tops = [ROOT / n for n in ("_config.yml", "_toc.yml", "requirements.txt")]
    words = [platform.python_version(), Path(__file__).read_text(encoding="utf8")]
    words += naming.repository(ROOT)  # the pages name it
    return digest([*sources, *tops], *words)


def sphinx_key() -> str:
    """Name what makes pages out of texts; where it changes, all are made again."""
    makers = files_under("book/_ext", "book/_templates")
    tops = [ROOT / "_config.yml", ROOT / "_toc.yml"]
    modules = sorted(map(str, files_under("attncourse")))  # the API pages find them
    return digest([*makers, *tops], *modules)


def chapters_in_toc() -> list[Path]:
    """List the notebooks of the table of contents that are run, in its order.

    The exercises are shown as students get them, without having been run.
    """
    from sphinx_external_toc.parsing import parse_toc_yaml

    found = [ROOT / f"{name}.ipynb" for name in parse_toc_yaml(ROOT / "_toc.yml")]
    return [p for p in found if p.exists() and p.parent.name != "exercises"]


def run_notebook(path: Path) -> tuple[object, float, str]:
    """Run a notebook; return it, the seconds taken, and the traceback if it failed."""
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellControlSignal

    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        record_timing=False,  # it would be stored in the cells and change their hash
        resources={"metadata": {"path": str(path.parent)}},
        coalesce_streams=True,  # one block of output, and of a progress bar its end
        extra_arguments=["--log-level=ERROR"],
    )
    start, failure = time.perf_counter(), ""
    try:
        client.execute()
    except (CellControlSignal, RuntimeError) as error:  # an error, a death, too slow
        failure = str(error)
    for (
        cell
    ) in notebook.cells:  # a progress bar that clears itself leaves blanks behind
        if outputs := cell.get("outputs"):
            cell.outputs = [o for o in outputs if str(o.get("text", "-")).strip()]
    return notebook, time.perf_counter() - start, failure


def run_of_solution(path: Path) -> tuple[object, str]:
    """Return a run of a solution, kept or new, and the traceback if it failed."""
    import nbformat

    kept, key = SOLUTIONS / path.name, digest([path], environment_key(left_out=()))
    if kept.exists():
        run = nbformat.read(kept, as_version=4)
        if run.metadata.get("run_with") == key:
            return run, ""
    run, _, failure = run_notebook(path)
    if not failure:
        run.metadata["run_with"] = key
        SOLUTIONS.mkdir(parents=True, exist_ok=True)
        written = kept.with_suffix(".part")
        nbformat.write(run, written)
        written.replace(kept)
    return run, failure


def is_cached(cache, path: Path) -> bool:
    """Say whether the cache has the notebook's outputs."""
    import nbformat

    with contextlib.suppress(KeyError):
        return bool(cache.match_cache_notebook(nbformat.read(path, as_version=4)))
    return False


def remove_old_caches(current: Path) -> None:
    """Keep the newest caches, so that changing branch and back runs nothing twice."""
    caches = sorted(CACHES.iterdir(), key=lambda p: p.stat().st_mtime, reverse=True)
    for path in [p for p in caches if p != current][KEEP_CACHES - 1 :]:
        shutil.rmtree(path)


def run_chapters(cache_path: Path, pool: ProcessPoolExecutor) -> int:
    """Bring the cache up to date; return how many chapters failed."""
    from jupyter_cache import get_cache
    from jupyter_cache.base import CacheBundleIn

    cache_path.mkdir(parents=True, exist_ok=True)
    os.utime(cache_path)
    remove_old_caches(cache_path)
    cache = get_cache(cache_path)
    chapters = chapters_in_toc()
    due = [path for path in chapters if not is_cached(cache, path)]
    say(f"Chapters: {len(chapters)}, of which {len(due)} have to run.")
    failed = 0
    jobs = {pool.submit(run_notebook, path): path for path in due}
    for done, job in enumerate(as_completed(jobs), start=1):
        path, (notebook, seconds, failure) = jobs[job], job.result()
        where = f"  {done}/{len(due)}  {path.relative_to(ROOT).as_posix()}"
        if failure:
            failed += 1
            say(f"{where}  FAILED after {seconds:.1f} s\n{failure}")
            continue
        data = {"execution_seconds": seconds}
        bundle = CacheBundleIn(notebook, str(path), data=data)
        cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
        say(f"{where}  {seconds:.1f} s")
    return failed


def run_sphinx(cache_path: Path, every_page: bool) -> int:
    """Build the pages that are due, or all; every warning is an error."""
    say("Building the pages.")
    if every_page:
        shutil.rmtree(ROOT / "_build" / "html", ignore_errors=True)
    start_jupyter_book = "from jupyter_book.cli.main import main; main()"
    command = [sys.executable, "-c", start_jupyter_book, "build", "."]
    command += ["-q", "-W", "-n", "--keep-going", *["--all"] * every_page]
    environment = {**os.environ, "ATTNCOURSE_NOTEBOOK_CACHE": str(cache_path)}
    return subprocess.run(command, cwd=ROOT, env=environment).returncode


@contextlib.contextmanager
def one_build_at_a_time():
    """Let a second build wait for the first, and then find its work done."""
    lock = ROOT / ".cache" / "build.lock"
    lock.parent.mkdir(exist_ok=True)
    with lock.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def build() -> int:
    """Build the site from what has changed; return the exit status."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("IPYTHONDIR", str(ROOT / ".cache" / "ipython"))
    with (
        one_build_at_a_time(),
        tempfile.TemporaryDirectory() as runtime,
        ProcessPoolExecutor() as pool,
    ):
        os.environ["JUPYTER_RUNTIME_DIR"] = runtime
        start = time.perf_counter()
        cache_path = CACHES / environment_key()
        index = BUILD / "html" / "index.html"
        keys = [site_key(), sphinx_key()]
        before = STAMP.read_text(encoding="utf8").split() if STAMP.exists() else []
        if before == keys and index.exists():
            say("The site is up to date: _build/html/index.html")
            return 0
        if failed := run_chapters(cache_path, pool):
            say(f"{failed} of the chapters failed; the tracebacks are above.")
            return 1
        # One that fails is run again, and reported, by `make test`.
        solutions = sorted((ROOT / "solutions").glob("*.ipynb"))
        runs = [pool.submit(run_of_solution, path) for path in solutions]
        STAMP.unlink(missing_ok=True)
        if run_sphinx(cache_path, every_page=before[1:] != keys[1:]):
            # Sphinx would skip the pages with warnings next time, and so pass.
            shutil.rmtree(BUILD / ".doctrees", ignore_errors=True)
            say("The pages were not built: see the warnings above, each is an error.")
            return 1
        wait(runs)
        # in place of Jupyter Book's redirect: a page with a title and a link
        shutil.copy(ROOT / "book" / "_ext" / "front.html", index)
        STAMP.write_text(" ".join(keys), encoding="utf8")
        seconds = time.perf_counter() - start
        say(f"Built in {seconds:.0f} s: _build/html/index.html")
        return 0


if __name__ == "__main__":
    sys.exit(build())
