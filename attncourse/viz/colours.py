"""The colours of the course.

Query, key, value and weights keep one colour each in formulas, drawings, plots and
widgets. The first three are from the palette of Okabe and Ito (2008), which readers
with the common forms of colour blindness can tell apart.
"""

import matplotlib
from matplotlib.colors import LinearSegmentedColormap

QUERY = "#0072B2"  # blue
KEY = "#D55E00"  # vermilion
VALUE = "#009E73"  # bluish green
INK = "#333333"
PLUM = "#8A3478"

WEIGHTS = "attention_weights"  # Matplotlib's colour map for weights, 0 to 1
matplotlib.colormaps.register(
    LinearSegmentedColormap.from_list(WEIGHTS, ["#FFFFFF", PLUM]), force=True
)
