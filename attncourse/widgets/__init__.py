"""Things to move: one class for each widget, the same in Jupyter and on the site.

The classes are loaded when they are first used. They need the extra ``widgets``, and
neither PyTorch nor Matplotlib.
"""

from attncourse._lazy import lazy_names

__getattr__, __dir__, _module_of = lazy_names(__name__)
__all__ = [*_module_of]
