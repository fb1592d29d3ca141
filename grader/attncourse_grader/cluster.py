"""Grade on a Dask cluster: each notebook is a task, with the walls of its worker.

Workers get the content of the notebook and of the solutions and need no common disk;
what they return goes into the gradebook here. The cluster runs again what a lost worker
had. A notebook that ends workers until the cluster gives it up is graded here, in a
process of its own.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import tempfile
import time
import zlib
from concurrent.futures import CancelledError, ProcessPoolExecutor
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


def cluster_results(jobs, address: str, *, solutions: Path, grade, say):
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
        yield from _Tasks(client, address, solutions, grade, say).results(jobs)
    finally:
        with contextlib.suppress(Exception):
            client.close(timeout=5)


class _Tasks:
    """The tasks of one run on a cluster."""

    def __init__(self, client, address, solutions, grade, say):
        self.client, self.address, self.grade, self.say = client, address, grade, say
        # They travel with each task: what workers share is lost with a worker.
        self.solutions = {
            f"{name}.ipynb": zlib.compress((solutions / f"{name}.ipynb").read_bytes())
            for name in modules()
            if (solutions / f"{name}.ipynb").is_file()
        }
        self.seen = time.monotonic()

    def results(self, jobs):
        import distributed

        waiting, running, alone = list(reversed(jobs)), {}, []
        try:
            while waiting or running:
                most = AHEAD * max(1, self._threads())
                while waiting and len(running) < most:
                    job = waiting.pop()
                    running[self._submit(job)] = job
                with contextlib.suppress(TimeoutError):
                    distributed.wait(
                        list(running), timeout=LOOK, return_when="FIRST_COMPLETED"
                    )
                for future in [f for f in running if f.done()]:
                    job = running.pop(future)
                    what, outcome = _end_of(future)
                    if what == "given up":
                        alone.append(job)
                    elif what == "lost":
                        waiting.append(job)
                    else:
                        yield job, outcome
                self._look()
        finally:
            with contextlib.suppress(Exception):
                self.client.cancel(list(running))
        for job in alone:
            self.say(
                f"{job.handins[0][1].source}: it has ended workers of the cluster or "
                "was on them when they ended. It is graded here, by itself."
            )
            yield job, self._here(job)

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

    def _look(self) -> None:
        """Stop if the cluster has gone."""
        if self.client.status != "running":
            raise Stopped(
                f"the scheduler at {self.address} went away. What was graded is kept; "
                "the same command goes on, without --scheduler on this machine."
            )
        if self._threads():
            self.seen = time.monotonic()
        elif time.monotonic() - self.seen > PATIENCE:
            raise Stopped(
                f"the cluster at {self.address} has no worker left. What was graded is "
                "kept; the same command goes on, without --scheduler on this machine."
            )

    def _here(self, job) -> dict:
        import cloudpickle

        work = (self.grade, _content(job.path), file_name(job.path.name))
        work += (self.solutions, job.secret, job.student)
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            return outcome_of(pool.submit(_call, cloudpickle.dumps(work)))


def _content(path: Path) -> bytes:
    """Return what a file holds; of one that is too large, enough to be refused."""
    with path.open("rb") as file:
        return file.read(LARGEST_FILE + 1)


def _end_of(future) -> tuple[str, dict]:
    """Return whether a task was done, lost or given up, and what came of it."""
    from distributed.scheduler import KilledWorker

    try:
        return "done", future.result(timeout=CONNECTING)
    except KilledWorker:
        return "given up", {}
    except (OSError, TimeoutError, CancelledError):
        return "lost", {}
    except Exception:
        return "done", outcome_of(future)


def _call(pickled: bytes) -> dict:
    import cloudpickle

    return grade_content(*cloudpickle.loads(pickled))


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
