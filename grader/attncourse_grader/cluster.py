"""Grade on a Dask cluster: each notebook is a task, with the walls of its worker.

Workers get the content of the notebook and of the solutions and need no common disk.
The cluster runs again what a lost worker had. A notebook that ends many is left out.
"""

import contextlib
import functools
import logging
import sys
import tempfile
from concurrent.futures import CancelledError
from importlib.metadata import version
from pathlib import Path

from attncourse_grader.exercises import modules
from attncourse_grader.hand_in.submission import Refused
from attncourse_grader.plan import digest, hash_of, hash_of_checks
from attncourse_grader.safe_text import file_name, one_line, reason
from attncourse_grader.sentences import SAYS
from attncourse_grader.workers import layers_missing, results

CONNECTING = 15  # seconds to reach the scheduler
PATIENCE = 90  # seconds to wait for a worker where there is none
AHEAD = 3  # tasks that wait for each thread of the cluster
FAULTS = (OSError, TimeoutError, RuntimeError, CancelledError, ValueError)


def cluster_results(jobs, address: str, solutions: Path, grade):
    """Yield each job with what came of it; `Refused` if the cluster goes away."""
    try:
        import distributed
    except ImportError:
        raise Refused(SAYS["no_dask"]) from None
    if not jobs:
        return
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        client = distributed.Client(address, timeout=CONNECTING, name="attncourse")
    except FAULTS as error:
        raise Refused(f"no scheduler answers at {address} ({reason(error)}).") from None
    # They travel with each task: what workers share is lost with a worker.
    paths = [solutions / f"{name}.ipynb" for name in modules()]
    contents = {path.name: path.read_bytes() for path in paths if path.is_file()}
    executor = client.get_executor(pure=False)

    def submit(job):
        words = job.path.read_bytes(), file_name(job.path.name), contents
        return executor.submit(grade_content, grade, *words, version_here())

    def room() -> int:
        if client.status != "running":
            raise RuntimeError("its scheduler went away")
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise RuntimeError("it has no worker left") from None
        return AHEAD * max(1, sum(client.nthreads().values()))

    try:
        room()
        found = client.run(version_here, on_error="return")
        if other := sorted(w for w, said in found.items() if said != version_here()):
            facts = len(other), len(found), other[0]
            raise Refused(SAYS["other_workers"].format(*facts))
        said = client.run(layers_missing, on_error="return").values()
        said = {" ".join(one) if isinstance(one, list) else str(one) for one in said}
        for says in sorted(said - {""}):
            print(f"On a worker: {says}", file=sys.stderr)
        yield from results(jobs, submit, room)
    except FAULTS as error:
        raise Refused(SAYS["cluster_lost"].format(address, one_line(error))) from None
    finally:
        with contextlib.suppress(Exception):
            client.close(timeout=5)


def grade_content(grade, content: bytes, name: str, solutions, version: str):
    """Grade what a file holds: the task that a worker runs."""
    if version != version_here():  # it has come later
        return {"failed": SAYS["other_worker"]}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        place, path = Path(folder, "solutions"), Path(folder, name)
        place.mkdir()
        for file, data in solutions.items():
            (place / file).write_bytes(data)
        path.write_bytes(content)
        return grade(path, place)


@functools.cache  # a worker goes on with what it has imported
def version_here() -> str:
    """Return a text that is the same where package, checks, Python and torch are."""
    paths = sorted(Path(__file__).parent.rglob("*.py"))
    grader = digest([hash_of(path) for path in paths])
    versions = f"{sys.version_info[:2]} {version('torch').partition('+')[0]}"
    return f"{grader[:12]} {hash_of_checks(modules().values())[:12]} {versions}"
