"""Several small models trained at a time, each in a thread of its own."""

from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from threading import Lock

import torch
from tqdm import tqdm

from attncourse import _checks
from attncourse.devices import best_device
from attncourse.training.loop import train


def train_side_by_side(runs, *, at_once=2, progress=True, description="training"):
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
        Number of models that are in training at a time on a CPU.
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
    ValueError
        If two runs have the same model, or draw from PyTorch's generator on a CPU; and
        whatever `train` raises. All runs are ended then.
    """
    at_once = _checks.positive_int("at_once", at_once)
    if len({id(run["model"]) for run in runs}) < len(runs):
        raise ValueError("each run must have its own model, but two share one.")
    devices = {torch.device(run.get("device") or best_device()).type for run in runs}
    if devices != {"cpu"}:
        at_once = 1
    threads = torch.get_num_threads()
    steps = sum(run["steps"] for run in runs)
    with (
        tqdm(total=steps, desc=description, disable=not progress, leave=False) as bar,
        ThreadPoolExecutor(at_once) as pool,
    ):
        together = _Together(bar, alone=at_once == 1)
        if at_once > 1:
            torch.set_num_threads(1)
        started = [pool.submit(train, **run, progress=together) for run in runs]
        try:
            wait(started, return_when=FIRST_EXCEPTION)
        finally:  # an error, or an interrupt, ends the others at their next step
            together.ended = True
            for run in started:
                run.cancel()
            torch.set_num_threads(threads)
    raised = [run.exception() for run in started if not run.cancelled()]
    for error in raised:
        if error is not None and not isinstance(error, _Ended):
            raise error
    return [run.result() for run in started]


class _Ended(Exception):
    """Another run has failed."""


class _Together:
    """Stands in for the bars of all runs: one bar, and one end."""

    def __init__(self, bar, alone):
        self.bar, self.ended = bar, False
        self._lock, self._alone = Lock(), alone
        self._state = torch.get_rng_state()

    def update(self):
        if self.ended:
            raise _Ended
        if not self._alone and not torch.equal(torch.get_rng_state(), self._state):
            raise ValueError(
                "runs side by side must not draw from PyTorch's generator, which "
                "their threads share, but one has: the numbers would be others each "
                "time. Leave dropout out, give batches a generator of their own, or "
                "train the models one after another."
            )
        with self._lock:
            self.bar.update()

    def set_postfix(self, **shown):
        """Show nothing: there is one loss for each run."""

    def close(self):
        """Leave the bar to the other runs."""
