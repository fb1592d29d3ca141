"""Grade one file, and many at a time on this machine."""

import os
import sys
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path

from attncourse_grader.hand_in.submission import Refused, SolutionBroken
from attncourse_grader.isolate import forking, sandbox
from attncourse_grader.isolate.forking import BESIDE
from attncourse_grader.safe_text import one_line
from attncourse_grader.sentences import SAYS

LOOK = 2  # seconds between two looks at whether a cluster is still there


def grade_one(path: Path, solutions: Path, secret: str, seconds: float) -> dict:
    """Grade one notebook."""
    from attncourse_grader.grade import compose, grading
    from attncourse_grader.grade.report import record_of
    from attncourse_grader.records.similarity import fingerprints

    path, solutions = Path(path), Path(solutions)
    try:
        options = {"solutions": solutions, "secret": secret, "seconds": seconds}
        grade = grading.grade_file(path, **options)
        template = compose.Template(grade.exercise, solutions)
        answers = fingerprints(grade.submission, template.given + template.solution)
        return {"record": record_of(grade), "answers": answers, "spent": grade.spent}
    except Refused as refused:
        # Of others, too, who may call the same file otherwise.
        says = str(refused).replace(path.name, "The file", 1)
        return {"refused": one_line(says, 400)}
    except SolutionBroken as broken:
        return {"broken": one_line(broken, 400).removesuffix(".")}
    except Exception as error:  # a fault of ours must not cost the others their grades
        return failure(error)


def grade_apart(path: Path, solutions: Path, secret: str, seconds: float) -> dict:
    """Do what `grade_one` does, in a fork of a process that has imported PyTorch."""
    if sandbox.too_open(forking.layers()):  # on a worker of a cluster
        return {"failed": SAYS["too_open"]}
    arguments = path, solutions, secret, seconds
    return forking.call(grade_one, *arguments, seconds=seconds + BESIDE)


def failure(error: Exception) -> dict:
    """Return what came of a file that could not be graded."""
    known = {"Killed": error, "KilledWorker": SAYS["ended_workers"]}
    if says := known.get(type(error).__name__):
        return {"failed": str(says)}
    said = one_line(f"{type(error).__name__}: {error}", 200)
    return {"failed": f"The grader failed on this file ({said}). Report it."}


def local_results(jobs, at: int, solutions: Path, grade):
    """Yield each job with what came of it, `at` at a time, on this machine."""
    at = max(1, at)
    pool = ThreadPoolExecutor(at)
    try:
        yield from results(
            jobs, lambda job: pool.submit(grade, job.path, solutions), lambda: at
        )
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def results(jobs, submit, room):
    """Yield each job with what came of it.

    `submit` gives a job to an executor, `room` says how many it may have at a time. An
    interrupt lets what runs come to its end and keeps it; a second does not wait.
    """
    waiting, running, stopping = list(reversed(jobs)), {}, False
    while waiting or running:
        while len(running) < room() and waiting:
            job = waiting.pop()
            running[submit(job)] = job
        try:
            finished, _ = wait(running, LOOK, FIRST_COMPLETED)
        except KeyboardInterrupt:
            if stopping:
                raise
            stopping, waiting = True, []
            print("\nStopping when what runs now is graded.", file=sys.stderr)
            continue
        for done in finished:
            job = running.pop(done)
            if done.cancelled():  # lost by a cluster
                waiting.append(job)
            else:
                yield job, failure(e) if (e := done.exception()) else done.result()
    if stopping:
        raise KeyboardInterrupt


def layers_missing() -> list[str]:
    """Say which layers of isolation are missing; `Refused` where that is a danger."""
    layers = forking.layers()
    missing = [(sandbox.LAYERS[name], why) for name, why in layers.items() if why]
    said = [SAYS["no_layer"].format(*layer) for layer in missing]
    could = sandbox.possible(sandbox.DANGERS + sandbox.RISKS, layers)
    said += [f"A submission could {does}." for does in could]
    if sandbox.too_open(layers):
        raise Refused(f"{' '.join(said)} {SAYS['unsafe_only']}")
    return said


def cores() -> int:
    """Return how many cores this process may use."""
    linux = hasattr(os, "sched_getaffinity")
    return len(os.sched_getaffinity(0)) if linux else os.cpu_count() or 1
