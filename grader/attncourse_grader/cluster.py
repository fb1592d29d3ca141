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
import zlib
from concurrent.futures import CancelledError
from pathlib import Path

import attncourse
from attncourse_grader.exercises import modules
from attncourse_grader.hand_in.submission import LARGEST_FILE, Refused
from attncourse_grader.plan import hash_of_checks
from attncourse_grader.records.database import Stopped
from attncourse_grader.safe_text import file_name, one_line
from attncourse_grader.workers import outcome_of

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
    try:
        _wait_for_workers(client, address)
        _compare_versions(client)
        yield from _Tasks(client, address, solutions, grade).results(jobs)
    finally:
        with contextlib.suppress(Exception):
            client.close(timeout=5)


class _Tasks:
    """The tasks of one run on a cluster."""

    def __init__(self, client, address, solutions, grade):
        self.client, self.address, self.grade = client, address, grade
        # They travel with each task: what workers share is lost with a worker.
        self.solutions = {
            f"{name}.ipynb": zlib.compress((solutions / f"{name}.ipynb").read_bytes())
            for name in modules()
            if (solutions / f"{name}.ipynb").is_file()
        }
        self.seen = time.monotonic()

    def results(self, jobs):
        waiting, running = list(reversed(jobs)), {}
        try:
            while waiting or running:
                with self._care():
                    most = AHEAD * max(1, self._threads())
                    while waiting and len(running) < most:
                        job = waiting.pop()
                        running[self._submit(job)] = job
                    done = self._done(running)
                for future in done:
                    job = running.pop(future)
                    if (outcome := _end_of(future)) is None:
                        waiting.append(job)
                    else:
                        yield job, outcome
        finally:
            with contextlib.suppress(Exception):
                self.client.cancel(list(running))

    @contextlib.contextmanager
    def _care(self):
        """Turn the loss of the cluster into a sentence."""
        why = ""
        try:
            yield
            if self._threads():
                self.seen = time.monotonic()
            elif time.monotonic() - self.seen > PATIENCE:
                why = f"the cluster at {self.address} has no worker left"
        except (OSError, TimeoutError, RuntimeError, CancelledError):
            why = f"the scheduler at {self.address} does not answer"
        if why or self.client.status != "running":
            raise Stopped(
                f"{why or f'the scheduler at {self.address} went away'}. What was "
                "graded is kept; the same command goes on, without --scheduler on this "
                "machine."
            )

    def _done(self, running) -> list:
        import distributed

        with contextlib.suppress(TimeoutError):
            distributed.wait(list(running), timeout=LOOK, return_when="FIRST_COMPLETED")
        return [future for future in running if future.done()]

    def _submit(self, job):
        return self.client.submit(
            grade_content,
            self.grade,
            _content(job.path),
            file_name(job.path.name),
            self.solutions,
            job.secret,
            job.student,
            pure=False,
        )

    def _threads(self) -> int:
        return sum(self.client.nthreads().values())


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
    except Exception:
        return outcome_of(future)


def grade_content(grade, content: bytes, name: str, solutions, secret, student):
    """Grade what a file holds: the task that a worker runs."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        place = Path(folder)
        (place / "solutions").mkdir()
        for file, data in solutions.items():
            (place / "solutions" / file).write_bytes(zlib.decompress(data))
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
