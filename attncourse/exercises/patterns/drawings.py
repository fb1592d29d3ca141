"""What a picture of weights shows, read as one sees it."""

from __future__ import annotations

import numpy as np


def drawn(axes):
    """Return what was drawn in some axes, read as one sees it.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        With a picture made by ``imshow``, ``matshow``, ``pcolormesh`` or ``pcolor``.

    Returns
    -------
    dict
        "data": the matrix, from the top row to the bottom one; "scale": the values of
        the first and last colour; "rows", "columns", "title": texts, in this order.

    Raises
    ------
    ValueError
        If there is no such picture.
    """
    if axes.images:
        picture = axes.images[0]
        data = np.asarray(picture.get_array(), dtype=float)
        left, right, bottom, top = picture.get_extent()
        if picture.origin == "upper":
            bottom, top = top, bottom
        x = _centres(np.linspace(left, right, data.shape[1] + 1))
        y = _centres(np.linspace(bottom, top, data.shape[0] + 1))
    elif axes.collections and hasattr(axes.collections[0], "get_coordinates"):
        picture = axes.collections[0]
        corners = picture.get_coordinates()
        x, y = _centres(corners[0, :, 0]), _centres(corners[:, 0, 1])
        data = np.asarray(picture.get_array(), dtype=float).reshape(len(y), len(x))
    else:
        raise ValueError("no picture in the axes; imshow and pcolormesh make one")
    across = axes.transData.transform([(place, y[0]) for place in x])[:, 0]
    down = -axes.transData.transform([(x[0], place) for place in y])[:, 1]
    rows, columns = np.argsort(down), np.argsort(across)
    return {
        "data": data[rows][:, columns],
        "scale": np.array(picture.get_clim(), dtype=float),
        "rows": _labels(axes.yaxis, y[rows]),
        "columns": _labels(axes.xaxis, x[columns]),
        "title": axes.get_title() or axes.get_title("left"),
    }


def _centres(edges):
    return (edges[:-1] + edges[1:]) / 2


def _labels(axis, places):
    """Return the texts at the given places, from the first place to the last."""
    found = dict.fromkeys(range(len(places)), "-")
    for tick in axis.get_major_ticks():
        near = np.abs(places - tick.get_loc())
        text = tick.label1.get_text() or tick.label2.get_text()
        if near.min() < 0.3 and text:
            found[int(near.argmin())] = text
    return " ".join(found.values())


def one_column(axes):
    """Say whether the pictures of one figure all stand one above another."""
    places = {(one.figure.number, round(one.get_position().x0, 2)) for one in axes}
    return len(axes) > 1 and len(places) == 1
