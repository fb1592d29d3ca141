"""Grade on this machine, several notebooks at a time."""

from __future__ import annotations

import contextlib
import os
import sys
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

from attncourse.grading.safe_text import one_line


def local_results(jobs, *, solutions, grade, at: int):
    """Yield each job with what came of it, `at` at a time, on this machine.

    An interrupt lets what runs come to its end and keeps it; a second does not wait.

    Parameters
    ----------
    jobs : list of Job
        What has to be graded.
    solutions : Path
        The folder of the instructor's notebooks.
    grade : callable
        What grades one file.
    at : int
        How many at a time.
    """
    pool = ThreadPoolExecutor(max(1, at))
    work = {
        pool.submit(grade, job.path, solutions, job.secret, job.student): job
        for job in jobs
    }
    stopping = False
    try:
        while work:
            try:
                finished, _ = wait(work, return_when=FIRST_COMPLETED)
            except KeyboardInterrupt:
                if stopping:
                    raise
                stopping = True
                print("\nStopping when what runs now is graded.", file=sys.stderr)
                work = {f: job for f, job in work.items() if not f.cancel()}
                continue
            for done in [future for future in work if future in finished]:
                yield work.pop(done), outcome_of(done)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    if stopping:
        raise KeyboardInterrupt


def outcome_of(done) -> dict:
    """Return what a grader returned, or what it raised as a sentence."""
    try:
        return done.result()
    except Exception as error:
        said = one_line(f"{type(error).__name__}: {error}", 200)
        return {"failed": f"The grader failed on this file ({said}). Report it."}


def walls_missing() -> list[str]:
    """Return a sentence for each wall that this machine does not offer."""
    try:
        from attncourse.grading.sandbox import walls
    except ImportError:
        return []
    return [
        f"Answers run without this wall: {wall.name} ({wall.why_not})."
        for wall in walls()
        if not wall.stands
    ]


def cores() -> int:
    """Return how many cores this process may use."""
    with contextlib.suppress(AttributeError, OSError):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
