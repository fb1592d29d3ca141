"""One training loop for every model of the course."""

import math
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn
from tqdm import tqdm

from attncourse import _checks
from attncourse.devices import best_device

WARMUP = 0.05  # share of the steps in which the learning rate rises
CLIP_NORM = 1.0  # gradients with a larger norm are scaled down to it


def train(
    model: nn.Module,
    batch_of: Callable[[int], Sequence[Tensor]],
    loss_of: Callable[..., Tensor],
    *,
    steps: int,
    learning_rate: float | list[dict[str, Any]] = 1e-3,
    device: torch.device | str | None = None,
    validate: Callable[[Any], float] | None = None,
    validate_every: int = 100,
    progress: bool = True,
) -> list[float]:
    """Train `model` with AdamW; return the loss of every step.

    The learning rate rises in a straight line over the first 5% of the steps and then
    falls along half a cosine to zero. Gradients are scaled down to the norm 1.

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
    learning_rate : float or list of dict, default 1e-3
        The largest learning rate of the run; or the parameter groups of a PyTorch
        optimiser, each with "params" and its own "lr", such as `decay_groups` returns.
        There is no weight decay but in groups that ask for it.
    device : torch.device or str, optional
        The best available one unless given.
    validate : callable, optional
        ``validate(model)`` returns a measure, larger is better; it is called every
        `validate_every` steps and after the last, and the best weights are kept.
    validate_every : int, default 100
        Steps between two validations.
    progress : bool, default True
        Whether to show a progress bar.

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
    optimiser = _optimiser(model, learning_rate, device)
    rise = max(1, round(WARMUP * steps))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: _rate(step, steps, rise)
    )
    best, best_weights = -math.inf, None
    # On the device: no waiting at each step. All at once: a small tensor kept from each
    # step would lie between the large ones that are freed, and memory would grow.
    losses = torch.empty(steps, device=device)
    bar = tqdm(total=steps, desc="training", disable=not progress, leave=False)
    for step in range(steps):
        loss = loss_of(model, *(tensor.to(device) for tensor in batch_of(step)))
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP_NORM)
        optimiser.step()
        schedule.step()
        losses[step] = loss.detach()
        bar.update()
        last = step + 1 == steps
        if step % 50 == 0 or last:
            _check_finite(loss, step)
            bar.set_postfix(loss=f"{loss.item():.3f}")
        if validate is not None and (last or (step + 1) % validate_every == 0):
            measure = _validated(model, validate)
            if measure > best:
                best, best_weights = measure, deepcopy(model.state_dict())
    bar.close()
    if best_weights is not None:
        model.load_state_dict(best_weights)
    model.eval()
    return losses.tolist()


def decay_groups(
    model: nn.Module,
    learning_rate: float,
    weight_decay: float,
    betas: tuple[float, float] = (0.9, 0.98),
) -> list[dict[str, Any]]:
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
    groups: list[dict[str, Any]] = [
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


def _validated(model, validate):
    model.eval()
    with torch.no_grad():
        measure = float(validate(model))
    model.train()
    return measure


def _check_finite(loss, step):
    if not math.isfinite(loss.item()):
        raise ValueError(
            f"the loss is {loss.item()} at step {step}. Lower the learning rate, or "
            "look for a row of scores in which everything is hidden."
        )
