"""Attention mechanisms, written to be read: the package behind the course.

Names are loaded when they are first used, so ``import attncourse`` needs neither
PyTorch nor Matplotlib, and the NumPy part works where PyTorch is not installed.
"""

from attncourse._lazy import lazy_names

__version__ = "0.1.0"

__getattr__, __dir__, MODULE_OF = lazy_names(__name__)
__all__ = ["__version__", *MODULE_OF]
