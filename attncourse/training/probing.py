"""Ask a trained model where it looks, and whether it needs to."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from attncourse import _checks


def marks(places: Sequence[Iterable[int]], width: int) -> Tensor:
    """Return a boolean table with True at the given places.

    Parameters
    ----------
    places : sequence of iterable of int
        For each row, the places to mark.
    width : int
        The number of columns.

    Returns
    -------
    torch.Tensor
        bool, ``(batch, width)``.

    Raises
    ------
    ValueError
        If a place lies outside the row.
    """
    table = torch.zeros(len(places), width, dtype=torch.bool)
    for row, columns in zip(table, places, strict=True):
        columns = list(columns)
        if columns and not 0 <= min(columns) <= max(columns) < width:
            raise ValueError(
                f"places must lie between 0 and {width - 1}, but one row has "
                f"{columns}. Give the width of the padded batch."
            )
        row[columns] = True
    return table


def weight_share(weights: Tensor, queries: Tensor, keys: Tensor) -> Tensor:
    """Return how much of their weight the marked queries put on the marked keys.

    Parameters
    ----------
    weights : torch.Tensor
        ``(batch, heads, queries, keys)``.
    queries : torch.Tensor of bool
        ``(batch, queries)``: True for the queries to average over.
    keys : torch.Tensor of bool
        ``(batch, keys)``: True for the keys whose weights are summed.

    Returns
    -------
    torch.Tensor
        ``(heads,)``, between 0 and 1.

    Raises
    ------
    ValueError
        If the shapes do not fit, or no query is marked.
    """
    _checks.exact_rank("weights", weights, 4, layout="(batch, heads, queries, keys)")
    batch, _, rows, columns = weights.shape
    for name, table, size in (("queries", queries, rows), ("keys", keys, columns)):
        if tuple(table.shape) != (batch, size):
            raise ValueError(
                f"{name} must have the shape {(batch, size)} for weights of shape "
                f"{tuple(weights.shape)}, but its shape is {tuple(table.shape)}."
            )
    if not queries.any():
        raise ValueError("queries must mark at least one place, but marks none.")
    queries, keys = queries.to(weights.device), keys.to(weights.device)
    on_keys = (weights * keys[:, None, None]).sum(dim=-1)  # (batch, heads, queries)
    return (on_keys * queries[:, None]).sum(dim=(0, 2)) / queries.sum()


@contextmanager
def cut(attention: nn.Module, hidden: Tensor) -> Iterator[None]:
    """Hide some keys from one attention while the block runs.

    Parameters
    ----------
    attention : torch.nn.Module
        A module whose last positional argument is a boolean mask, True = may attend:
        a `MultiHeadAttention` or a `TransformerLayer` inside a model.
    hidden : torch.Tensor of bool
        True = may *not* attend, in addition to what the mask hides already;
        ``(batch, queries, keys)``, or ``(batch, keys)`` for all queries.

    Examples
    --------
    >>> with cut(model.layers[0], hidden):  # doctest: +SKIP
    ...     model(question, context)
    """
    if hidden.dtype != torch.bool or hidden.dim() not in (2, 3):
        raise ValueError(
            "hidden must be boolean with the shape (batch, keys) or (batch, queries, "
            f"keys), but is {hidden.dtype} of shape {tuple(hidden.shape)}."
        )
    allowed = ~(hidden[:, None, None] if hidden.dim() == 2 else hidden[:, None])

    def narrow(_, inputs):
        mask = inputs[-1]
        return (*inputs[:-1], mask & allowed.to(mask.device))

    handle = attention.register_forward_pre_hook(narrow)
    try:
        yield
    finally:
        handle.remove()
