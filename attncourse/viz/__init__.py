"""Pictures of attention, in the one colour language of the course."""

from attncourse.viz.colours import INK, KEY, QUERY, VALUE, WEIGHTS
from attncourse.viz.drawings import drawing
from attncourse.viz.heatmaps import plot_attention, plot_heads, plot_mask

__all__ = [
    "INK",
    "KEY",
    "QUERY",
    "VALUE",
    "WEIGHTS",
    "drawing",
    "plot_attention",
    "plot_heads",
    "plot_mask",
]
