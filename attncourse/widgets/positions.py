"""Positions: what five schemes say about two places, against their distance."""

import math
from typing import TYPE_CHECKING

import numpy as np
import traitlets
from numpy.typing import ArrayLike

from attncourse.widgets._base import CourseWidget, module_text, style_text
from attncourse.widgets._drawing import line_chart, picture
from attncourse.widgets.saturation import normal_numbers

if TYPE_CHECKING:
    from attncourse.layers.relative import T5RelativeBias

SCHEMES = ["sinusoidal", "learned", "T5 bias", "ALiBi", "rotary"]
REACH = 64  # distances from −64 to 64
ALIBI_HEADS = 8


class Positions(CourseWidget):
    """Compare what schemes of position say about a query and a key.

    For vectors that are added, sinusoidal and learned, it is the cosine of the two
    vectors; for rotary the cosine of query and key after they are turned; for ALiBi and
    the T5 bias the number that is added to the score.

    Parameters
    ----------
    scheme : str, default "sinusoidal"
        "sinusoidal", "learned", "T5 bias", "ALiBi" or "rotary".
    position : int, default 20
        Position of the query.
    distance : int, default −5
        Position of the key minus that of the query, from −64 to 64.
    width : int, default 64
        Features, for sinusoidal and rotary; a power of two from 4 to 256.
    base_power : float, default 4.0
        Logarithm (base 10) of the base of their wavelengths.
    content : int, default 0
        For rotary: 0 compares a vector with itself, 1 to 9 are random pairs.
    head : int, default 0
        For ALiBi and T5, counted from 0.
    learned : array_like or torch.Tensor, optional
        A table of position vectors, ``(positions, d_model)``, of which the first 96
        are kept; random, as at the start of training, unless given.
    trained_rows : int, default 0
        How many rows of the table training has reached.
    t5_bias : T5RelativeBias, optional
        A trained bias; all zero, as at the start of training, unless given.
    """

    _esm = module_text("positions")
    _css = style_text()

    scheme = traitlets.Enum(SCHEMES, "sinusoidal").tag(sync=True)
    position = traitlets.Int(20, min=0, max=REACH).tag(sync=True)
    distance = traitlets.Int(-5, min=-REACH, max=REACH).tag(sync=True)
    width = traitlets.Enum([4, 8, 16, 32, 64, 128, 256], 64).tag(sync=True)
    base_power = traitlets.Float(4.0, min=0.5, max=6.0).tag(sync=True)
    content = traitlets.Int(0, min=0, max=9).tag(sync=True)
    head = traitlets.Int(0, min=0).tag(sync=True)
    trained_rows = traitlets.Int(0, min=0).tag(sync=True)
    _table = traitlets.List().tag(sync=True)
    _t5 = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        *,
        learned: ArrayLike | None = None,
        t5_bias: "T5RelativeBias | None" = None,
        **traits: object,
    ) -> None:
        super().__init__(**traits)
        if learned is None:
            learned = np.random.default_rng(0).normal(scale=0.02, size=(REACH, 16))
        table = _numbers(learned)
        if table.ndim != 2 or not table.size:
            raise ValueError(
                f"learned must be (positions, d_model), but its shape is {table.shape}."
            )
        self._table = (table[:96] / abs(table).max()).round(3).tolist()
        if t5_bias is None:
            rows, edges, both = np.zeros((16, 4)), [], False
        else:
            from attncourse.layers.relative import t5_edges

            rows = _numbers(t5_bias.table) * t5_bias.scale
            both = t5_bias.bidirectional
            edges = t5_edges(len(rows), t5_bias.max_distance, both)
        self._t5 = {
            "rows": rows.round(4).tolist(),
            "edges": edges,
            "bidirectional": bool(both),
            "trained": t5_bias is not None,
        }

    def value(self, position: int, distance: int, scheme: str | None = None) -> float:
        """Return what the scheme says about a query and a key, computed in Python.

        `distance` is the position of the key minus `position`, that of the query; the
        scheme is the widget's own unless given. NaN where the key has no position.
        """
        scheme = self.scheme if scheme is None else scheme
        key = position + distance
        if key < 0:
            return math.nan
        features = np.arange(0, self.width, 2)
        turns = np.exp(1j * distance * 10 ** (-self.base_power * features / self.width))
        if scheme == "sinusoidal":
            return float(turns.real.mean())
        if scheme == "rotary":
            query, key = self._pair()
            lengths = np.linalg.norm(query) * np.linalg.norm(key)
            return float((np.conj(query) * key * turns).real.sum() / lengths)
        if scheme == "ALiBi":
            head = min(self.head, ALIBI_HEADS - 1)
            return -(2.0 ** (-8 * (head + 1) / ALIBI_HEADS)) * abs(distance)
        if scheme == "T5 bias":
            rows, both = self._t5["rows"], self._t5["bidirectional"]
            away = abs(distance) if both else max(-distance, 0)
            bucket = sum(edge <= away for edge in self._t5["edges"])
            bucket += len(rows) // 2 if both and distance > 0 else 0
            return rows[bucket][min(self.head, len(rows[0]) - 1)]
        table = np.array(self._table)
        if max(position, key) >= len(table):
            return math.nan
        lengths = np.linalg.norm(table[position]) * np.linalg.norm(table[key])
        return float(table[position] @ table[key] / lengths) if lengths else math.nan

    def _pair(self):
        """Return the query and the key of "rotary", each pair of features a number."""
        if self.content == 0:
            return np.ones((2, self.width // 2))
        drawn = normal_numbers(self.content, np.arange(2 * self.width))
        return drawn[0::2].reshape(2, -1) + 1j * drawn[1::2].reshape(2, -1)

    def still(self) -> str:
        """Return a picture of all five schemes."""
        parts = []
        for place, scheme in enumerate(SCHEMES):
            steps = range(-min(self.position, REACH), REACH + 1)
            points = [(r, self.value(self.position, r, scheme)) for r in steps]
            points = [point for point in points if not math.isnan(point[1])]
            values = [0.0, *(value for _, value in points)]
            parts += line_chart(
                {scheme: points or [(0, 0.0), (1, 0.0)]},
                place=(place % 2 * 205, place // 2 * 172),
                size=(205, 170),
                x_label="key − query",
                x_ticks=[r for r in (0, 32, 64) if points and r <= points[-1][0]],
                y_range=(min(values), max(values)) if any(values) else (-1, 1),
            )
        title = (
            "What five schemes say about a query and a key, against their distance: "
            "sinusoidal and rotary oscillate, ALiBi falls in a straight line, the T5 "
            "bias in steps, and the learned table has no shape of its own."
        )
        return picture(412, 520, parts, title)


def _numbers(table):
    if hasattr(table, "detach"):
        table = table.detach().cpu().double().numpy()
    return np.asarray(table, dtype=float)
