"""Grade on a Dask cluster: each notebook is a task, with the walls of its worker.

Workers get the content of the notebook and of the solutions and need no common disk;
what they return goes into the gradebook here. The cluster runs again what a lost worker
had. A notebook that ends workers until the cluster gives it up is left out.
"""

from __future__ import annotations

import contextlib
import logging
import tempfile
import time
from concurrent.futures import CancelledError
from pathlib import Path

import attncourse
from attncourse_grader.exercises import modules
from attncourse_grader.hand_in.submission import LARGEST_FILE, Refused
from attncourse_grader.plan import hash_of_checks
from attncourse_grader.records.database import Stopped
from attncourse_grader.safe_text import file_name, one_line
from attncourse_grader.workers import failure

CONNECTING = 15  # seconds to reach the scheduler
PATIENCE = 90  # seconds to wait for a worker where there is none
LOOK = 2  # seconds between two looks at the workers
AHEAD = 3  # tasks that wait for each thread of the cluster


def cluster_results(jobs, address: str, *, solutions: Path, grade):
    """Yield each job with what came of it, graded on a cluster.

    Raises `Refused` if the cluster cannot be used, `Stopped` if it goes away; what was
    graded is kept.
    """
    try:
        import distributed
    except ImportError:
        raise Refused(
            "--scheduler needs Dask. Install it: pip install './grader[cluster]'"
        ) from None
    if not jobs:
        return
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        client = distributed.Client(address, timeout=CONNECTING, name="attncourse")
    except (OSError, TimeoutError, ValueError, RuntimeError) as error:
        said = one_line(error, 100) or type(error).__name__
        raise Refused(f"no scheduler answers at {address} ({said}).") from None
    # They travel with each task: what workers share is lost with a worker.
    paths = [solutions / f"{name}.ipynb" for name in modules()]
    contents = {path.name: path.read_bytes() for path in paths if path.is_file()}
    try:
        _wait_for_workers(client, address)
        _compare_versions(client)
        yield from _results(client, jobs, contents, grade)
    except (OSError, TimeoutError, RuntimeError, CancelledError) as error:
        raise Stopped(
            f"the cluster at {address} cannot be used any longer ({one_line(error)}). "
            "What was graded is kept; the same command goes on, without --scheduler on "
            "this machine."
        ) from None
    finally:
        with contextlib.suppress(Exception):
            client.close(timeout=5)


def _results(client, jobs, solutions, grade):
    """Yield each job with its outcome; a task that was lost is given again."""
    import distributed

    waiting, running, seen = list(reversed(jobs)), {}, time.monotonic()
    while waiting or running:
        threads = sum(client.nthreads().values())
        seen = time.monotonic() if threads else seen
        if time.monotonic() - seen > PATIENCE:
            raise RuntimeError("it has no worker left")
        if client.status != "running":
            raise RuntimeError("its scheduler went away")
        while waiting and len(running) < AHEAD * max(1, threads):
            job = waiting.pop()
            name = file_name(job.path.name)
            content = _content(job.path)
            words = grade, content, name, solutions, job.secret, job.student
            running[client.submit(grade_content, *words, pure=False)] = job
        with contextlib.suppress(TimeoutError):
            distributed.wait([*running], timeout=LOOK, return_when="FIRST_COMPLETED")
        for future in [future for future in running if future.done()]:
            job = running.pop(future)
            if (outcome := _end_of(future)) is None:
                waiting.append(job)
            else:
                yield job, outcome


def _content(path: Path) -> bytes:
    """Return what a file holds; of one that is too large, enough to be refused."""
    with path.open("rb") as file:
        return file.read(LARGEST_FILE + 1)


def _end_of(future) -> dict | None:
    """Return what came of a task, None if it was lost with a worker."""
    from distributed.scheduler import KilledWorker

    try:
        return future.result(timeout=CONNECTING)
    except KilledWorker:
        said = "it has ended workers of the cluster, or was on them when they ended."
        return {"failed": f"{said} Grade it without --scheduler."}
    except (OSError, TimeoutError, CancelledError):
        return None
    except Exception as error:
        return failure(error)


def grade_content(grade, content: bytes, name: str, solutions, secret, student):
    """Grade what a file holds: the task that a worker runs."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        place = Path(folder)
        (place / "solutions").mkdir()
        for file, data in solutions.items():
            (place / "solutions" / file).write_bytes(data)
        (place / "handed_in").mkdir()
        path = place / "handed_in" / name
        path.write_bytes(content)
        return grade(path, place / "solutions", secret, student)


def version_here() -> str:
    """Return a text that is the same where the same package and checks are."""
    return f"{attncourse.__version__} {hash_of_checks(modules().values())[:12]}"


def _wait_for_workers(client, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        raise Refused(f"the cluster at {address} has no worker.") from None


def _compare_versions(client) -> None:
    found = client.run(version_here, on_error="return")
    other = sorted(worker for worker, said in found.items() if said != version_here())
    if other:
        lacking = any(isinstance(found[worker], Exception) for worker in other)
        what = "cannot load this package" if lacking else "have another version of it"
        raise Refused(
            f"{len(other)} of {len(found)} workers {what}, such as {other[0]}. Install "
            "the same version of the package and of its grader on all."
        )
