"""Training and measuring."""

from attncourse._lazy import lazy_names

__getattr__, __dir__, _module_of = lazy_names(__name__)
__all__ = [*_module_of]
