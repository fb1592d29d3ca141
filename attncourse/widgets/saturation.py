"""Saturation: wider queries and keys, larger scores, a softmax that stops learning."""

from typing import Any

import numpy as np
import traitlets

from attncourse.by_hand import softmax
from attncourse.widgets._base import CourseWidget, module_text, style_text
from attncourse.widgets._drawing import line_chart, picture

WIDTHS = [2**power for power in range(11)]  # 1 to 1024
QUERIES, KEYS = 24, 16


def normal_numbers(seed: int, indices: np.ndarray) -> np.ndarray:
    """Return standard normal numbers, the same here and in JavaScript.

    Number i follows from the seed and from i alone: a hash of 32 bits gives uniform
    numbers, and the formula of Box and Muller (1958) makes normal ones of them. The
    result has the shape of `indices`.
    """
    indices = np.asarray(indices, dtype=np.uint64)
    pair = indices // 2 * 2
    radius = np.sqrt(-2 * np.log(_uniform(seed, pair)))
    angle = 2 * np.pi * _uniform(seed, pair + 1)
    return radius * np.where(indices % 2 == 0, np.cos(angle), np.sin(angle))


def _uniform(seed, indices):
    """Hash places to numbers in (0, 1)."""
    steps = (indices + np.uint64(1)) * np.uint64(0x6D2B79F5)
    a = (steps + np.uint64(seed)).astype(np.uint32)  # modulo 2^32, as Math.imul does
    t = (a ^ (a >> np.uint32(15))) * (a | np.uint32(1))
    t = (t + (t ^ (t >> np.uint32(7))) * (t | np.uint32(61))) ^ t
    return ((t ^ (t >> np.uint32(14))).astype(np.float64) + 0.5) / 2**32


def products(seed: int) -> dict[int, np.ndarray]:
    """Return the dot products of random queries with random keys, at each width.

    For each width from 1 to 1024 they are ``(24 queries, 16 keys)``.
    """
    indices = np.arange(QUERIES * (1 + KEYS) * WIDTHS[-1])
    drawn = normal_numbers(seed, indices).reshape(QUERIES, 1 + KEYS, WIDTHS[-1])
    sums = np.cumsum(drawn[:, :1] * drawn[:, 1:], axis=-1)
    return {width: sums[:, :, width - 1] for width in WIDTHS}


def measures(scores: Any) -> Any:
    """Return what the softmax of scores ``(queries, keys)`` is like.

    The variance of the scores around 0; the mean entropy of the weights, as a share of
    the largest possible; the mean slope of a weight against its own score, w (1 − w).
    """
    weights = softmax(scores)
    logarithms = np.log(weights, where=weights > 0, out=np.zeros_like(weights))
    entropy = -(weights * logarithms).sum(axis=-1) / np.log(scores.shape[-1])
    slope = weights * (1 - weights)
    return float((scores**2).mean()), float(entropy.mean()), float(slope.mean())


class Saturation(CourseWidget):
    r"""Find the power p for which the width of queries and keys does no harm.

    .. math::

        w = \operatorname{softmax}\left(\frac{q \cdot k}{d_k^{\,p}}\right)

    Parameters
    ----------
    width : int, default 64
        d_k, a power of two up to 1024.
    power : float, default 0.25
        p, from 0 (not divided) to 1; the paper has 1/2.
    seed : int, default 0
        Which random queries and keys.
    query : int, default 0
        Which of the 24 queries has its weights shown.
    """

    _esm = module_text("saturation")
    _css = style_text()

    width = traitlets.Enum(WIDTHS, 64).tag(sync=True)
    power = traitlets.Float(0.25, min=0.0, max=1.0).tag(sync=True)
    seed = traitlets.Int(0, min=0, max=9999).tag(sync=True)
    query = traitlets.Int(0, min=0, max=QUERIES - 1).tag(sync=True)

    def measures(self, power: float | None = None) -> Any:
        """Return variance, entropy and slope at every width, computed in Python.

        `power` is that of d_k by which scores are divided; the widget's unless given.
        """
        power = self.power if power is None else power
        drawn = products(self.seed)
        return {width: measures(drawn[width] / width**power) for width in WIDTHS}

    def still(self) -> str:
        """Return a picture of entropy and slope against the width."""
        curves = {"divided by √d_k": 0.5, "not divided": 0.0}
        parts = []
        for place, (index, label, top) in enumerate(
            [(1, "entropy (1 = even)", 1.0), (2, "slope of the softmax", 0.06)]
        ):
            series = {
                name: [(width, m[index]) for width, m in self.measures(power).items()]
                for name, power in curves.items()
            }
            parts += line_chart(
                series,
                place=(0, place * 195),
                y_label=label,
                x_label="width d_k",
                y_range=(0, top),
                x_ticks=(1, 4, 16, 64, 256, 1024),
                log_x=True,
            )
        title = (
            "Entropy of the attention weights and slope of the softmax against the "
            "width. Divided by the root of the width both stay level; not divided, "
            "both fall towards 0."
        )
        return picture(330, 390, parts, title)
