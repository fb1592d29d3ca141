"""The colours of the course.

Query, key and value keep one colour each in formulas, plots and widgets. The three are
from the palette of Okabe and Ito (2008), which readers with the common forms of colour
blindness can tell apart.
"""

QUERY = "#0072B2"  # blue
KEY = "#D55E00"  # vermilion
VALUE = "#009E73"  # bluish green
INK = "#333333"

WEIGHTS = "Blues"  # Matplotlib's colour map for attention weights, 0 to 1
