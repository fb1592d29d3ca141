"""One training loop for every model of the course."""

import math

import torch
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
    progress=True,
    description="training",
):
    """Train `model` with Adam; return the loss of every step.

    The learning rate rises in a straight line over the first `warmup` share of the
    steps and then falls along half a cosine to zero.

    Parameters
    ----------
    model : torch.nn.Module
        Moved to the device in place and left in evaluation mode.
    batch_of : callable
        ``batch_of(step)`` returns one batch: a tuple of tensors, drawn on the CPU, so
        that a run sees the same data on every device.
    loss_of : callable
        ``loss_of(model, *batch)`` returns the loss to minimise, a scalar.
    steps : int
        Number of updates.
    learning_rate : float, default 1e-3
        The largest learning rate of the run.
    warmup : float, default 0.05
        Share of the steps in which the learning rate rises.
    clip_norm : float, default 1.0
        Gradients with a larger norm are scaled down to it.
    device : torch.device or str, optional
        The best available one unless given.
    progress : bool, default True
        Whether to show a progress bar.
    description : str, default "training"
        The text beside the bar.

    Returns
    -------
    list of float
        One loss for each step.

    Raises
    ------
    ValueError
        If a number is out of range, or the loss stops being finite.
    """
    steps = _checks.positive_int("steps", steps)
    device = best_device() if device is None else torch.device(device)
    model.to(device).train()
    optimiser = torch.optim.Adam(model.parameters(), lr=learning_rate)
    rise = max(1, round(warmup * steps))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: _rate(step, steps, rise)
    )
    losses = []
    bar = tqdm(range(steps), desc=description, disable=not progress, leave=False)
    for step in bar:
        batch = (tensor.to(device) for tensor in batch_of(step))
        loss = loss_of(model, *batch)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), clip_norm)
        optimiser.step()
        schedule.step()
        losses.append(loss.detach())
        if step % 50 == 0:
            _check_finite(loss, step)
            bar.set_postfix(loss=f"{loss.item():.3f}")
    _check_finite(loss, steps - 1)
    model.eval()
    return torch.stack(losses).tolist()


def _rate(step, steps, rise):
    """Return the share of the full learning rate that step `step` uses."""
    if step < rise:
        return (step + 1) / rise
    return 0.5 * (1 + math.cos(math.pi * (step - rise) / max(1, steps - rise)))


def _check_finite(loss, step):
    if not math.isfinite(loss.item()):
        raise ValueError(
            f"the loss is {loss.item()} at step {step}. Lower the learning rate, or "
            "look for a row of scores in which everything is hidden."
        )
