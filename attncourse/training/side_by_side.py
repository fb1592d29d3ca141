"""Several small models trained at a time, each in a thread of its own."""

import os
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from threading import Lock
from typing import Any

import torch
from tqdm import tqdm

from attncourse import _checks
from attncourse.devices import best_device
from attncourse.training.loop import train

NEEDED = ("model", "batch_of", "loss_of", "steps")


def train_side_by_side(
    runs: list[dict[str, Any]],
    *,
    at_once: int = 2,
    progress: bool = True,
    description: str = "training",
) -> list[list[float]]:
    """Train several models, `at_once` at a time; return the losses of each.

    A small model cannot keep two cores busy, for its products are too small to be
    divided. Two models can. Each comes out as it would from `train` on one thread. On a
    GPU the runs follow one another.

    Parameters
    ----------
    runs : list of dict
        For each model the arguments of `train`, by name. What is drawn at random has
        to come from a generator of the run's own, as the batches of the course do;
        PyTorch's is shared by all threads. So there can be no dropout, and the models
        have to be made before.
    at_once : int, default 2
        Number of models that are in training at a time on a CPU, and no more than
        the environment variable ``OMP_NUM_THREADS`` allows, where it is set.
    progress : bool, default True
        Whether to show a progress bar, one for all.
    description : str, default "training"
        The text beside the bar.

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
    runs, at_once = list(runs), _checks.positive_int("at_once", at_once)
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
    with tqdm(total=steps, desc=description, disable=not progress, leave=False) as bar:
        if at_once == 1 or devices != {"cpu"}:
            return [train(**run, progress=_Share(bar)) for run in runs]
        return _in_threads(runs, at_once, bar)


def _in_threads(runs, at_once, bar):
    threads = torch.get_num_threads()
    allowed = os.environ.get("OMP_NUM_THREADS", "")
    if allowed.isdigit():
        at_once = max(1, min(at_once, int(allowed)))
    share = _ShareOfThread(bar)
    with ThreadPoolExecutor(at_once) as pool:
        torch.set_num_threads(1)
        started = [pool.submit(train, **run, progress=share) for run in runs]
        try:
            wait(started, return_when=FIRST_EXCEPTION)
        finally:  # an error, or an interrupt, ends the others at their next step
            share.ended = True
            for run in started:
                run.cancel()
            torch.set_num_threads(threads)
    for run in started:
        error = None if run.cancelled() else run.exception()
        if error is not None and not isinstance(error, _Ended):
            raise error
    return [run.result() for run in started]


class _Share:
    """What one run has of the bar of all."""

    def __init__(self, bar):
        self.bar = bar

    def update(self):
        self.bar.update()

    def set_postfix(self, **shown):
        """Show nothing: each run has another loss."""

    def close(self):
        """Leave the bar to the other runs."""


class _Ended(Exception):
    """Another run has failed."""


class _ShareOfThread(_Share):
    """The same, where runs move the bar at the same time, and end together."""

    def __init__(self, bar):
        super().__init__(bar)
        self.ended, self._lock = False, Lock()
        self._state = torch.get_rng_state()

    def update(self):
        if self.ended:
            raise _Ended
        if not torch.equal(torch.get_rng_state(), self._state):
            raise ValueError(
                "runs side by side must not draw from PyTorch's generator, which "
                "their threads share, but one has: the numbers would be others each "
                "time. Leave dropout out, give batches a generator of their own, or "
                "train the models one after another."
            )
        with self._lock:
            super().update()
