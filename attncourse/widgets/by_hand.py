"""Attention, by hand: six tokens of three numbers, every step on one screen."""

from typing import Any

import numpy as np
import traitlets

from attncourse.by_hand import softmax
from attncourse.widgets._base import CourseWidget, module_text, style_text
from attncourse.widgets._drawing import heat_map, picture

TOKENS = ["Manchester", "United", "hopes", "to", "perform", "better"]
VECTORS = [
    [0.321, -1.024, 0.876],
    [1.234, 0.567, -0.890],
    [-0.456, 0.789, 1.234],
    [1.111, -0.333, 0.222],
    [-0.777, 0.888, -0.999],
    [0.555, -0.666, 0.777],
]
IDENTITY = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


class AttentionByHand(CourseWidget):
    r"""Change a vector, the scale or the temperature, and follow every number.

    .. math::

        A = \operatorname{softmax}\left(\frac{Q K^\top}{s\,T}\right), \quad Y = A V,
        \qquad s = \sqrt{3} \text{ or } 1

    Parameters
    ----------
    vectors : list of list of float
        A vector of three numbers for each of the six tokens.
    query_map, key_map, value_map : list of list of float
        The three matrices, 3 × 3; they do nothing unless given.
    use_maps : bool, default True
        If False, the vectors themselves are compared and added up.
    scaled : bool, default True
        Whether scores are divided by √3.
    temperature : float, default 1.0
        Scores are divided by it too, from 0.1 to 5.
    query, key : int
        The pair whose arithmetic is shown.
    """

    _esm = module_text("by_hand")
    _css = style_text()

    tokens = traitlets.List(traitlets.Unicode(), TOKENS).tag(sync=True)
    vectors = traitlets.List(default_value=VECTORS).tag(sync=True)
    query_map = traitlets.List(default_value=IDENTITY).tag(sync=True)
    key_map = traitlets.List(default_value=IDENTITY).tag(sync=True)
    value_map = traitlets.List(default_value=IDENTITY).tag(sync=True)
    use_maps = traitlets.Bool(True).tag(sync=True)
    scaled = traitlets.Bool(True).tag(sync=True)
    temperature = traitlets.Float(1.0, min=0.1, max=5.0).tag(sync=True)
    query = traitlets.Int(1, min=0).tag(sync=True)
    key = traitlets.Int(2, min=0).tag(sync=True)

    @traitlets.validate("vectors", "query_map", "key_map", "value_map")
    def _three_columns(self, proposal):
        rows = np.asarray(proposal["value"], dtype=float)
        name = proposal["trait"].name
        expected = (len(TOKENS) if name == "vectors" else 3, 3)
        if rows.shape != expected or not np.isfinite(rows).all():
            raise traitlets.TraitError(
                f"{name} must be finite numbers of the shape {expected}, but its shape "
                f"is {rows.shape}."
            )
        return rows.tolist()

    def __init__(self, **traits: object) -> None:
        for name in ("vectors", "query_map", "key_map", "value_map"):
            if name in traits:
                traits[name] = np.asarray(traits[name], dtype=float).tolist()
        super().__init__(**traits)

    def attention(self) -> Any:
        """Return output ``(tokens, 3)`` and weights, computed in Python."""
        maps = (self.query_map, self.key_map, self.value_map)
        maps = maps if self.use_maps else (IDENTITY,) * 3
        query, key, value = (np.array(self.vectors) @ np.array(m) for m in maps)
        divisor = self.temperature * (np.sqrt(3) if self.scaled else 1)
        weights = softmax(query @ key.T / divisor)
        return weights @ value, weights

    def still(self) -> str:
        """Return a picture of the weights."""
        weights = self.attention()[1]
        parts, width, height = heat_map(weights, self.tokens, self.tokens, cell=46)
        title = (
            "Attention weights of six tokens: rows are queries, columns are keys. "
            f"{self.tokens[self.query]} gives {self.tokens[self.key]} the weight "
            f"{weights[self.query, self.key]:.2f}."
        )
        return picture(width, height + 4, parts, title)
