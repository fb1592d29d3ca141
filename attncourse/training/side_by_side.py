"""Several small models trained at a time, each in a thread of its own."""

import os
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from threading import Event, Lock
from typing import Any

import torch
from tqdm import tqdm

from attncourse import _checks
from attncourse.devices import best_device
from attncourse.training.loop import train

AT_ONCE = 2  # models in training at a time, on a CPU
NEEDED = ("model", "batch_of", "loss_of", "steps")


def train_side_by_side(
    runs: list[dict[str, Any]], *, progress: bool = True
) -> list[list[float]]:
    """Train several models, two at a time; return the losses of each.

    A small model cannot keep two cores busy, for its products are too small to be
    divided. Two models can, unless the environment variable ``OMP_NUM_THREADS`` allows
    one thread only. Each comes out as it would from `train` on one thread. On a GPU the
    runs follow one another.

    Parameters
    ----------
    runs : list of dict
        For each model the arguments of `train`, by name. What is drawn at random has
        to come from a generator of the run's own, as the batches of the course do;
        PyTorch's is shared by all threads. So there can be no dropout, and the models
        have to be made before.
    progress : bool, default True
        Whether to show a progress bar, one for all.

    Returns
    -------
    list of list of float
        What `train` returned, in the order of `runs`.

    Raises
    ------
    TypeError, ValueError
        If a run is no dict or lacks one of model, batch_of, loss_of and steps, two
        have the same model, or one draws from PyTorch's generator on a CPU; and
        whatever `train` raises. All runs are ended then.
    """
    runs = list(runs)
    for place, run in enumerate(runs):
        if not isinstance(run, dict):
            raise TypeError(
                f"runs[{place}] must be a dict of the arguments of `train`, but got "
                f"{type(run).__name__}."
            )
        lacking = [name for name in NEEDED if name not in run]
        if lacking:
            raise TypeError(
                f"runs[{place}] must hold {', '.join(NEEDED)}, as `train` needs them, "
                f"but lacks {', '.join(lacking)}."
            )
    if len({id(run["model"]) for run in runs}) < len(runs):
        raise ValueError("each run must have its own model, but two share one.")
    devices = {torch.device(run.get("device") or best_device()).type for run in runs}
    steps = sum(_checks.positive_int("steps", run["steps"]) for run in runs)
    with tqdm(total=steps, desc="training", disable=not progress, leave=False) as bar:
        if devices != {"cpu"}:
            return [train(**_counted(run, bar.update), progress=False) for run in runs]
        return _in_threads(runs, bar)


def _counted(run, update):
    """Return a run that calls `update` before each of its batches."""

    def batch_of(step):
        update()
        return run["batch_of"](step)

    return {**run, "batch_of": batch_of}


def _in_threads(runs, bar):
    threads = torch.get_num_threads()
    allowed = os.environ.get("OMP_NUM_THREADS", "")
    at_once = min(AT_ONCE, int(allowed)) if allowed.isdigit() else AT_ONCE
    ended, lock, state = Event(), Lock(), torch.get_rng_state()

    def update():
        if ended.is_set():
            raise _Ended
        if not torch.equal(torch.get_rng_state(), state):
            raise ValueError(
                "runs side by side must not draw from PyTorch's generator, which "
                "their threads share, but one has: the numbers would be others each "
                "time. Leave dropout out, give batches a generator of their own, or "
                "train the models one after another."
            )
        with lock:
            bar.update()

    with ThreadPoolExecutor(max(at_once, 1)) as pool:
        torch.set_num_threads(1)
        started = [
            pool.submit(train, **_counted(run, update), progress=False) for run in runs
        ]
        try:
            wait(started, return_when=FIRST_EXCEPTION)
        finally:  # an error, or an interrupt, ends the others at their next step
            ended.set()
            for run in started:
                run.cancel()
            torch.set_num_threads(threads)
    for run in started:
        error = None if run.cancelled() else run.exception()
        if error is not None and not isinstance(error, _Ended):
            raise error
    return [run.result() for run in started]


class _Ended(Exception):
    """Another run has failed."""
