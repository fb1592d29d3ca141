"""One training loop for every model of the course."""

import math
import os
from contextlib import nullcontext
from copy import deepcopy
from functools import partial
from pathlib import Path

import torch
from torch import nn
from tqdm import tqdm

from attncourse import _checks
from attncourse.devices import best_device


def train(
    model,
    batch_of,
    loss_of,
    *,
    steps,
    learning_rate=1e-3,
    warmup=0.05,
    clip_norm=1.0,
    device=None,
    mixed_precision=False,
    validate=None,
    validate_every=100,
    patience=None,
    checkpoint=None,
    checkpoint_every=200,
    progress=True,
    description="training",
):
    """Train `model` with AdamW; return the loss of every step.

    The learning rate rises in a straight line over the first `warmup` share of the
    steps and then falls along half a cosine to zero.

    Parameters
    ----------
    model : torch.nn.Module
        Moved to the device in place and left in evaluation mode.
    batch_of : callable
        ``batch_of(step)`` returns one batch: a tuple of tensors, drawn on the CPU, so
        that a run sees the same data on every device. Where a run is to be resumed, it
        has to depend on `step` alone.
    loss_of : callable
        ``loss_of(model, *batch)`` returns the loss to minimise, a scalar.
    steps : int
        Number of updates.
    learning_rate : float or list of dict, default 1e-3
        The largest learning rate of the run; or the parameter groups of a PyTorch
        optimiser, each with "params" and its own "lr", such as `decay_groups` returns.
        There is no weight decay but in groups that ask for it.
    warmup : float, default 0.05
        Share of the steps in which the learning rate rises.
    clip_norm : float, default 1.0
        Gradients with a larger norm are scaled down to it.
    device : torch.device or str, optional
        The best available one unless given.
    mixed_precision : bool, default False
        Whether to compute in bfloat16 where that is safe. It pays for large models on
        a GPU; models as small as those of the course gain nothing.
    validate : callable, optional
        ``validate(model)`` returns a measure, larger is better; it is called every
        `validate_every` steps and after the last, and the best weights are kept.
    validate_every : int, default 100
        Steps between two validations.
    patience : int, optional
        Stop after this many validations without a better one.
    checkpoint : path-like, optional
        A file in which the state of the run is kept. If it exists, the run goes on from
        there and ends where an unbroken run would have ended; after a finished run the
        file stays, and the same call returns at once.
    checkpoint_every : int, default 200
        Steps between two writings of the file.
    progress : bool or tqdm.tqdm, default True
        Whether to show a progress bar; or the bar that is to be moved.
    description : str, default "training"
        The text beside the bar.

    Returns
    -------
    list of float
        One loss for each step.

    Raises
    ------
    ValueError
        If a number is out of range, the loss stops being finite, or the checkpoint
        belongs to another run.
    """
    steps = _checks.positive_int("steps", steps)
    device = best_device() if device is None else torch.device(device)
    model.to(device).train()
    optimiser = _optimiser(model, learning_rate, device)
    rise = max(1, round(warmup * steps))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: _rate(step, steps, rise)
    )
    run = {"step": 0, "losses": [], "best": -math.inf, "weights": None, "stale": 0}
    parts = {"model": model, "optimiser": optimiser, "schedule": schedule}
    if checkpoint is not None and Path(checkpoint).exists():
        run = _load(checkpoint, parts, device, steps)
    # On the device: no waiting at each step. All at once: a small tensor kept from each
    # step would lie between the large ones that are freed, and memory would grow.
    losses = torch.empty(steps, device=device)
    losses[: run["step"]] = torch.tensor(run["losses"])
    bar = progress
    if not hasattr(progress, "update"):
        bar = tqdm(
            total=steps,
            initial=run["step"],
            desc=description,
            disable=not progress,
            leave=False,
        )
    while run["step"] < steps and not _stale(run, patience):
        step = run["step"]
        with _precision(mixed_precision, device):
            loss = loss_of(model, *(tensor.to(device) for tensor in batch_of(step)))
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), clip_norm)
        optimiser.step()
        schedule.step()
        losses[step] = loss.detach()
        run["step"] = step + 1
        bar.update()
        if step % 50 == 0 or step + 1 == steps:
            _check_finite(loss, step)
            bar.set_postfix(loss=f"{loss.item():.3f}")
        if validate is not None and _due(run["step"], validate_every, steps):
            _validate(model, validate, run)
        if checkpoint is not None and _due(run["step"], checkpoint_every, steps):
            run["losses"] = losses[: run["step"]].tolist()
            _save(checkpoint, run, parts, device, steps)
    bar.close()
    if run["weights"] is not None:
        model.load_state_dict(run["weights"])
    model.eval()
    return losses[: run["step"]].tolist()


def decay_groups(model, learning_rate, weight_decay, betas=(0.9, 0.98)):
    """Return the parameter groups of a model in which only the matrices decay.

    Decay draws a weight towards zero. That limits what a matrix can do; a bias or the
    gain of a norm would merely be pulled off its scale, and the vector of a rare token
    would shrink in each batch that does not hold it.

    Parameters
    ----------
    model : torch.nn.Module
    learning_rate : float
        The largest of the run.
    weight_decay : float
        AdamW's, for the weights of linear maps; embeddings, biases and norms have none.
    betas : tuple of float, default (0.9, 0.98)
        How slowly AdamW's two running means change.

    Returns
    -------
    list of dict
        Two groups, for `train` or for a PyTorch optimiser.

    References
    ----------
    Loshchilov and Hutter (2019), "Decoupled weight decay regularization".
    """
    linear = (part.weight for part in model.modules() if isinstance(part, nn.Linear))
    decaying = {id(weight) for weight in linear}
    decaying -= {id(p.weight) for p in model.modules() if isinstance(p, nn.Embedding)}
    groups = [
        {"params": [], "weight_decay": weight_decay},
        {"params": [], "weight_decay": 0.0},
    ]
    for weight in model.parameters():
        groups[id(weight) not in decaying]["params"].append(weight)
    return [group | {"lr": learning_rate, "betas": betas} for group in groups]


def _optimiser(model, learning_rate, device):
    fused = device.type in ("cpu", "cuda")  # one call for all weights
    groups = learning_rate
    if not isinstance(learning_rate, list):
        groups = [{"params": model.parameters(), "lr": learning_rate}]
    return torch.optim.AdamW(groups, weight_decay=0.0, fused=fused)


def _rate(step, steps, rise):
    """Return the share of the full learning rate that step `step` uses."""
    if step < rise:
        return (step + 1) / rise
    return 0.5 * (1 + math.cos(math.pi * (step - rise) / max(1, steps - rise)))


def _due(step, every, steps):
    return step % every == 0 or step == steps


def _stale(run, patience):
    return patience is not None and run["stale"] >= patience


def _precision(mixed_precision, device):
    if not mixed_precision:
        return nullcontext()
    return torch.autocast(device.type, dtype=torch.bfloat16)


def _validate(model, validate, run):
    model.eval()
    with torch.no_grad():
        measure = float(validate(model))
    model.train()
    if measure > run["best"]:
        weights = deepcopy(model.state_dict())
        run.update(best=measure, weights=weights, stale=0)
    else:
        run["stale"] += 1


def _save(path, run, parts, device, steps):
    state = {name: part.state_dict() for name, part in parts.items()}
    random = {name: read() for name, (read, _) in _generators(device).items()}
    state.update(run=run, steps=steps, random=random)
    temporary = Path(f"{path}.tmp")
    torch.save(state, temporary)
    os.replace(temporary, path)  # a run that is killed here leaves the old file whole


def _load(path, parts, device, steps):
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
        if state["steps"] != steps:
            raise ValueError(f"it was made for {state['steps']} steps, not {steps}")
        for name, part in parts.items():
            part.load_state_dict(state[name])
        for name, (_, write) in _generators(device).items():
            if name in state["random"]:  # the run may have begun on another device
                write(state["random"][name])
    except Exception as error:
        raise ValueError(
            f"the checkpoint {path} does not belong to this run: {error}. Delete it to "
            "start afresh, or give another file."
        ) from error
    return state["run"]


def _generators(device):
    """Return how to read and write the states that numbers are drawn from.

    Dropout draws on the device, where each kind of device has a generator of its own.
    """
    found = {"cpu": (torch.get_rng_state, torch.set_rng_state)}
    if device.type == "cuda":
        found["cuda"] = (
            partial(torch.cuda.get_rng_state, device),
            partial(torch.cuda.set_rng_state, device=device),
        )
    elif device.type == "mps":
        found["mps"] = (torch.mps.get_rng_state, torch.mps.set_rng_state)
    return found


def _check_finite(loss, step):
    if not math.isfinite(loss.item()):
        raise ValueError(
            f"the loss is {loss.item()} at step {step}. Lower the learning rate, or "
            "look for a row of scores in which everything is hidden."
        )
