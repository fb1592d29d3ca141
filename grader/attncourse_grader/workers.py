"""Grade one file, and many at a time on this machine."""

from __future__ import annotations

import os
import sys
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path

from attncourse_grader.hand_in.submission import Refused, SolutionBroken
from attncourse_grader.isolate import forking, sandbox
from attncourse_grader.isolate.forking import TOTAL_SECONDS
from attncourse_grader.safe_text import one_line

BESIDE = 1800  # seconds for what is not the submission's: right answers, once
LOOKING = 5  # seconds of a processor that finding out what a file is may take
MEMORY = 2 << 30  # bytes that it may take beside what was there


def grade_one(
    path: Path, solutions: Path, secret: str, student: str, seconds=TOTAL_SECONDS
) -> dict:
    """Grade one notebook."""
    from attncourse_grader.grade import grading
    from attncourse_grader.grade.report import record_of, text_of_grade
    from attncourse_grader.records.similarity import fingerprints

    path, solutions = Path(path), Path(solutions)
    try:
        grade = grading.grade_file(
            path, solutions=solutions, secret=secret, student=student, seconds=seconds
        )
        record, text = record_of(grade), text_of_grade(grade)
    except Refused as refused:
        return {"refused": one_line(refused, 400)}
    except SolutionBroken as broken:
        return {"broken": one_line(broken, 400)}
    except Exception as error:  # a fault of ours must not cost the others their grades
        return failure(error)
    answers, variant = fingerprints(path, grade.exercise)
    return {"record": record, "text": text, "answers": answers, "variant": variant}


def grade_apart(
    path: Path, solutions: Path, secret: str, student: str, seconds=TOTAL_SECONDS
) -> dict:
    """Do what `grade_one` does, in a fork of a process that has imported PyTorch."""
    arguments = (path, solutions, secret, student, seconds)
    return apart(grade_one, *arguments, seconds=seconds + BESIDE)


def failure(error: Exception) -> dict:
    """Return what came of a file on which the grader failed."""
    said = one_line(f"{type(error).__name__}: {error}", 200)
    return {"failed": f"The grader failed on this file ({said}). Report it."}


def look(path: Path) -> dict:
    """Find out, within limits, which exercise a file answers, or why none."""
    try:
        return apart(looked_at, path, seconds=2 * LOOKING)
    except RuntimeError as error:
        if not isinstance(error, forking.Ended) and "MemoryError" not in str(error):
            return failure(error)
    says = f"{one_line(path.name)} takes too much time or memory to be read."
    return {"refused": f"{says} Is it a notebook that was written by hand?"}


def looked_at(path: str) -> dict:
    """Do what `look` does, in the process that is there."""
    import resource

    from attncourse_grader.hand_in.submission import read_submission

    if forking.here is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (LOOKING, LOOKING))
        most = sandbox.address_space() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    try:
        return {"exercise": read_submission(Path(path)).exercise.notebook}
    except Refused as refused:
        return {"refused": one_line(refused, 400)}


def fault_of_solution(solutions: Path, name: str, secret: str) -> str:
    """Return what keeps a solution from grading answers, "" if nothing does."""
    try:
        return apart(solution_tried, solutions, name, secret)
    except RuntimeError as error:
        return one_line(error, 300)


def solution_tried(solutions: str, name: str, secret: str) -> str:
    """Work out what a solution gives, for all who come after; say what is wrong."""
    from attncourse_grader.exercises import exercise_of
    from attncourse_grader.grade.comparing import expected_of
    from attncourse_grader.grade.compose import find_template

    try:
        expected_of(find_template(exercise_of(name), Path(solutions)), secret)
    except (Refused, SolutionBroken) as error:
        return one_line(error, 300).removesuffix(".")
    return ""


def apart(function, *arguments, seconds: float = BESIDE):
    """Call a function of a module in a fork that has PyTorch, where there are forks."""
    name = f"{function.__module__}.{function.__name__}"
    plain = [str(a.absolute()) if isinstance(a, Path) else a for a in arguments]
    return forking.call(name, *plain, seconds=seconds)


def answers_in(path: Path, exercise: str) -> dict:
    """Return the fingerprints of the answers in a notebook."""
    from attncourse_grader.exercises import exercise_of
    from attncourse_grader.records.similarity import fingerprints

    return fingerprints(Path(path), exercise_of(exercise))[0]


def local_results(jobs, at: int, *, solutions, grade):
    """Yield each job with what came of it, `at` at a time, on this machine.

    An interrupt lets what runs come to its end and keeps it; a second does not wait.
    """
    pool = ThreadPoolExecutor(max(1, at))
    stopping = False
    work = {
        pool.submit(grade, job.path, solutions, job.secret, job.student): job
        for job in jobs
    }
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
            for done in finished:
                job, error = work.pop(done), done.exception()
                yield job, failure(error) if error else done.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    if stopping:
        raise KeyboardInterrupt


def layers_missing() -> list[str]:
    """Return a sentence for each layer of isolation that this machine lacks."""
    return [
        f"Answers run without this layer of isolation: {name} ({why})."
        for name, why in forking.layers().items()
        if why
    ]


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not on Windows
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
