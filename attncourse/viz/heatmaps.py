"""Heat maps: rows are queries, columns are keys, weights lie between 0 and 1."""

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from numpy.typing import ArrayLike

from attncourse.viz.colours import INK, KEY, QUERY, WEIGHTS


def plot_attention(
    weights: ArrayLike,
    *,
    query_labels: Sequence[str] | None = None,
    key_labels: Sequence[str] | None = None,
    ax: Axes | None = None,
    annotate: bool = False,
    title: str | None = None,
    colorbar: bool = False,
) -> Axes:
    """Draw one matrix of attention weights.

    Parameters
    ----------
    weights : array_like or torch.Tensor
        ``(queries, keys)``, each entry between 0 and 1.
    query_labels, key_labels : sequence of str, optional
        One for each row and each column; the key labels stand above the picture.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure unless given.
    annotate : bool, default False
        Write each weight into its cell, to two decimals.
    title : str, optional
        A title.
    colorbar : bool, default False
        Add a scale.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If the weights are not a matrix with entries between 0 and 1, or there are not
        as many labels as rows or columns.
    """
    weights = _as_matrix("weights", weights)
    if weights.size and (np.nanmin(weights) < -1e-6 or np.nanmax(weights) > 1 + 1e-6):
        raise ValueError(
            "weights must lie between 0 and 1, but they reach from "
            f"{np.nanmin(weights):.3g} to {np.nanmax(weights):.3g}. These look like "
            "scores: apply the softmax first."
        )
    ax, image = _draw(ax, weights, WEIGHTS, title, query_labels, key_labels)
    if annotate:
        for row, column in np.ndindex(weights.shape):
            colour = "white" if weights[row, column] > 0.55 else INK
            text = f"{weights[row, column]:.2f}"
            ax.text(
                column, row, text, ha="center", va="center", color=colour, fontsize=8
            )
    if colorbar:
        ax.figure.colorbar(image, ax=ax, label="weight")
    return ax


def plot_heads(
    weights: ArrayLike,
    *,
    query_labels: Sequence[str] | None = None,
    key_labels: Sequence[str] | None = None,
    titles: Sequence[str] | None = None,
    columns: int = 4,
    size: float = 2.4,
) -> np.ndarray:
    """Draw the weights of several heads side by side.

    Parameters
    ----------
    weights : array_like or torch.Tensor
        ``(heads, queries, keys)``.
    query_labels, key_labels : sequence of str, optional
        Labels of rows and columns, the same for each head.
    titles : sequence of str, optional
        One for each head; "head 0", "head 1", … unless given.
    columns : int, default 4
        The most heads in a row.
    size : float, default 2.4
        Width and height of one picture, in inches.

    Returns
    -------
    numpy.ndarray of matplotlib.axes.Axes
        One for each head.

    Raises
    ------
    ValueError
        If the weights do not have three axes, or titles do not match the heads.
    """
    weights = _to_numpy(weights)
    if weights.ndim != 3:
        raise ValueError(
            "weights must be (heads, queries, keys), but their shape is "
            f"{weights.shape}. Take one example out of a batch first: weights[0]."
        )
    heads = len(weights)
    titles = [f"head {i}" for i in range(heads)] if titles is None else list(titles)
    if len(titles) != heads:
        raise ValueError(
            f"titles must name each of the {heads} heads, but there are {len(titles)}."
        )
    columns = min(columns, heads)
    rows = -(-heads // columns)
    figure, grid = plt.subplots(
        rows,
        columns,
        figsize=(size * columns, size * rows + 0.3),
        squeeze=False,
        layout="constrained",
    )
    axes = grid.ravel()
    for i, ax in enumerate(axes[:heads]):
        plot_attention(
            weights[i],
            query_labels=query_labels if i % columns == 0 else None,
            key_labels=key_labels,
            ax=ax,
            title=titles[i],
        )
        if i % columns and query_labels is not None:
            ax.set(yticks=[], ylabel="")  # the labels stand at the first of the row
    for ax in axes[heads:]:
        figure.delaxes(ax)
    return axes[:heads]


def plot_mask(
    mask: ArrayLike,
    *,
    query_labels: Sequence[str] | None = None,
    key_labels: Sequence[str] | None = None,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw a boolean mask: filled cells may be attended to.

    Parameters
    ----------
    mask : array_like or torch.Tensor of bool
        ``(queries, keys)``; True = may attend.
    query_labels, key_labels, ax, title
        As for `plot_attention`, and so is the result.

    Raises
    ------
    TypeError, ValueError
        If the mask is not a boolean matrix.
    """
    mask = _as_matrix("mask", mask)
    if mask.dtype != bool:
        raise TypeError(
            f"mask must be boolean, True = may attend, but its dtype is {mask.dtype}."
        )
    colours = ListedColormap(["#eeeeee", "#B985AE"])
    ax, _ = _draw(ax, mask, colours, title, query_labels, key_labels)
    ax.set_xticks(np.arange(-0.5, mask.shape[1]), minor=True)
    ax.set_yticks(np.arange(-0.5, mask.shape[0]), minor=True)
    ax.grid(which="minor", color="white", linewidth=1)
    ax.tick_params(which="minor", length=0)
    return ax


def _to_numpy(array: Any) -> np.ndarray:
    if hasattr(array, "detach"):
        array = array.detach().cpu()
        array = array.float() if array.is_floating_point() else array
        return array.numpy()
    return np.asarray(array)


def _as_matrix(name: str, array: ArrayLike) -> np.ndarray:
    array = _to_numpy(array)
    if array.ndim != 2:
        raise ValueError(
            f"{name} must be a matrix (queries, keys), but its shape is {array.shape}. "
            "Take one example and one head out first."
        )
    return array


def _draw(ax, matrix, colours, title, query_labels, key_labels):
    if ax is None:
        rows, columns = matrix.shape
        size = (1.5 + 0.45 * min(columns, 24), 1.0 + 0.4 * min(rows, 24))
        ax = plt.subplots(figsize=size, layout="constrained")[1]
    image = ax.imshow(matrix, vmin=0, vmax=1, cmap=colours, aspect="auto")
    _label(ax, matrix.shape, query_labels, key_labels)
    if title is not None:
        ax.set_title(title)
    return ax, image


def _label(ax, shape, query_labels, key_labels):
    for name, labels, count in (
        ("query_labels", query_labels, shape[0]),
        ("key_labels", key_labels, shape[1]),
    ):
        if labels is not None and len(labels) != count:
            raise ValueError(
                f"{name} must have {count} entries, but there are {len(labels)}."
            )
    if key_labels is not None:
        ax.set_xticks(range(shape[1]), key_labels, rotation=45, ha="left")
        ax.xaxis.tick_top()
    if query_labels is not None:
        ax.set_yticks(range(shape[0]), query_labels)
    for labels, axis, colour in (
        (query_labels, ax.yaxis, QUERY),
        (key_labels, ax.xaxis, KEY),
    ):
        axis.label.set_color(colour)
        if labels is None:
            axis.set_major_locator(plt.MaxNLocator(6, integer=True))
    ax.set_xlabel("key")
    ax.set_ylabel("query")
